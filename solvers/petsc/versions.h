/* PETSc 3.15 to 3.25 by the names of 3.18. Internal to solvers/. */
#ifndef EB_PETSC_VERSIONS_H
#define EB_PETSC_VERSIONS_H

#include <petscksp.h>

/* Since 3.17. */
#ifndef PetscCall
#define PetscCall(...)                                                                             \
  do {                                                                                             \
    PetscErrorCode code_of_call = (__VA_ARGS__);                                                   \
    CHKERRQ(code_of_call);                                                                         \
  } while (0)
#define PetscCheck(condition, comm, code, ...)                                                     \
  do {                                                                                             \
    if (!(condition))                                                                              \
      return PetscError(comm, __LINE__, PETSC_FUNCTION_NAME, __FILE__, code, PETSC_ERROR_INITIAL,  \
                        __VA_ARGS__);                                                              \
  } while (0)
#define PetscCallMPI(...) PetscCall((__VA_ARGS__) ? PETSC_ERR_MPI : 0)
#endif

/* Other names since 3.24, which cast functions to another type. */
#if PETSC_VERSION_GE(3, 24, 0)
#define EB_KSP_CONVERGED_RTOL_NORMAL KSP_CONVERGED_RTOL_NORMAL_EQUATIONS
#define EB_KSP_CONVERGED_ATOL_NORMAL KSP_CONVERGED_ATOL_NORMAL_EQUATIONS
typedef PetscErrorCodeFn eb_petsc_operation;
#else
#define EB_KSP_CONVERGED_RTOL_NORMAL KSP_CONVERGED_RTOL_NORMAL
#define EB_KSP_CONVERGED_ATOL_NORMAL KSP_CONVERGED_ATOL_NORMAL
typedef void eb_petsc_operation(void);
#endif

#endif
