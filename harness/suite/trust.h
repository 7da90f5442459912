/* What solvers may do that are named by data: a suite or paper that is a file of anyone's. They
 * compute; they start no programs, and write and load no files. */
#ifndef EB_SUITE_TRUST_H
#define EB_SUITE_TRUST_H

#include "harness/case/case.h"
#include "harness/suite/dependencies.h"

/* EB_ERR_USAGE for a solver that is a command for the shell (external:), for options of PETSc
 * beyond those that set methods, tolerances and counts, and for a sweep over either; it names what
 * is refused, and --allow-external. `ties` may be NULL. */
EB_MUST eb_error eb_trust_check(const eb_case *work, const eb_dependencies *dependencies);

#endif
