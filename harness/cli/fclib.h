/* elastobench run fclib:FILE.hdf5: contact problems of FCLib in the place of scenes. */
#ifndef EB_CLI_FCLIB_H
#define EB_CLI_FCLIB_H

#include "harness/cli/command.h"

/* Whether what is to be run are files of FCLib; EB_ERR_USAGE when they are mixed with scenes. */
EB_MUST eb_error eb_fclib_wanted(const eb_arguments *arguments, bool *wanted);
/* Solves every file with every solver in this process and prints a line, or an object, each. With
 * --output, which wants one of each, the problem is written with its solution. *code:
 * EB_EXIT_SOLVER_FAILED when a solve has not converged. */
EB_MUST eb_error eb_fclib_run(const eb_arguments *arguments, int *code);

#endif
