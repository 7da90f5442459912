/* `list` and `info` of a result file. */
#ifndef EB_CLI_SHOWN_FILE_H
#define EB_CLI_SHOWN_FILE_H

#include "harness/cli/command.h"

/* Whether a word of the command line means a result file, there or missing: what ends in .h5, and
 * any file of HDF5. */
bool eb_is_result_file(const char *word);
/* Its runs, a line each. */
EB_MUST eb_error eb_list_result_file(const eb_arguments *arguments, const char *path, bool json);
/* The file, or with --run one run of it. */
EB_MUST eb_error eb_show_result_file(const eb_arguments *arguments, const char *path, bool json);

#endif
