#include "solvers/petsc/session.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/text.h"
#include "solvers/linalg/one_thread.h"

enum { MESSAGE_BYTES = 400 };

typedef struct failure {
  PetscErrorCode code;
  char message[MESSAGE_BYTES];
} failure;

/* A PETSc function that fails calls the handler on top of a stack, then returns its code up through
 * callers that call it again. The default one prints to stderr and goes on; this one keeps the
 * first line of the innermost message. Handlers are pushed and popped around every call, so that a
 * program that uses PETSc itself keeps its own. */
static PetscErrorCode keep_message(MPI_Comm comm, int line, const char *function, const char *file,
                                   PetscErrorCode code, PetscErrorType type, const char *message,
                                   void *context) {
  failure *f = context;
  (void)comm;
  (void)line;
  (void)file;
  if (type != PETSC_ERROR_INITIAL) return code;
  f->code = code;
  snprintf(f->message, sizeof f->message, "%s (in %s)", message ? message : "no message",
           function ? function : "?");
  for (char *c = f->message; *c; c++)
    if (*c == '\n') *c = ' ';
  return code;
}

/* Ranks may have ended MPI before (eb_ranks_destroy): then nothing of PETSc is left to be ended. */
static void finalize_at_exit(void) {
  PetscBool running = PETSC_FALSE, done = PETSC_FALSE;
  int over = 0;
  if (MPI_Finalized(&over) || over) return;
  if (PetscInitialized(&running) || PetscFinalized(&done)) return;
  if (running && !done) (void)!PetscFinalize();
}

eb_error eb_petsc_start(void) {
  PetscBool running = PETSC_FALSE;
  if (!PetscInitialized(&running) && running) return EB_OK;
  /* MPI would print its own stack on a crash; whoever runs this process reports that. */
  /* And it would start a daemon beside this process, for others that it might spawn. */
  if (setenv("OMPI_MCA_opal_signal", "", 0) || setenv("OMPI_MCA_ess_singleton_isolated", "true", 0))
    return EB_ERROR(EB_ERR_MEMORY, "cannot set an environment variable for MPI");
  PetscErrorCode code = PetscOptionsSetValue(NULL, "-no_signal_handler", "true");
  if (!code) code = PetscOptionsSetValue(NULL, "-skip_petscrc", "true");
  if (!code) code = PetscInitializeNoArguments();
  if (code)
    return EB_ERROR(EB_ERR_LIBRARY,
                    "PETSc could not be initialized (error %d); does MPI work here?", (int)code);
  if (atexit(finalize_at_exit))
    return EB_ERROR(EB_ERR_LIBRARY, "cannot register PETSc's finalization at exit");
  return EB_OK;
}

static eb_error_code kind_of(PetscErrorCode code) {
  switch (code) {
  case PETSC_ERR_MEM:
    return EB_ERR_MEMORY;
  case PETSC_ERR_ARG_UNKNOWN_TYPE:
  case PETSC_ERR_USER_INPUT:
  case PETSC_ERR_ARG_OUTOFRANGE:
  case PETSC_ERR_ARG_WRONG:
    return EB_ERR_USAGE;
  case PETSC_ERR_SUP:
  case PETSC_ERR_MISSING_FACTOR:
    return EB_ERR_UNSUPPORTED;
  default:
    return EB_ERR_LIBRARY;
  }
}

eb_error eb_petsc_call(PetscErrorCode (*function)(void *), void *context, const char *what) {
  failure f = {.message = "no message"};
  if (PetscPushErrorHandler(keep_message, &f))
    return EB_ERROR(EB_ERR_LIBRARY, "%s: PETSc accepts no error handler", what);
  eb_one_thread before = eb_one_thread_begin();
  PetscErrorCode code = function(context);
  eb_one_thread_end(before);
  PetscErrorCode popped = PetscPopErrorHandler();
  if (!code && !popped) return EB_OK;
  return EB_ERROR(kind_of(f.code ? f.code : code), "%s: PETSc error %d: %s", what,
                  (int)(f.code ? f.code : code), f.message);
}
