/* PETSc as a guest: started when first needed, its errors turned into eb_error. Internal
 * to solvers/. */
#ifndef EB_PETSC_SESSION_H
#define EB_PETSC_SESSION_H

#include "problems/base/error.h"
#include "solvers/petsc/versions.h"

/* Initializes PETSc (and MPI) on the first call of the process, without command line, ~/.petscrc or
 * signal handlers; they are finalized when the process exits, because MPI cannot be started twice.
 */
EB_MUST eb_error eb_petsc_start(void);

/* Calls function(context) with PETSc's error handler replaced by one that keeps the message,
 * OpenBLAS on one thread and no nested teams. A PETSc error becomes an eb_error that begins with
 * `what`. */
EB_MUST eb_error eb_petsc_call(PetscErrorCode (*function)(void *), void *context, const char *what);

#endif
