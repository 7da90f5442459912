#include "harness/fclib/siconos.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "problems/base/clock.h"
#include "problems/base/memory.h"

static const char *const names[] = {"siconos-nsgs", "siconos-nsn", "siconos-admm"};
enum { SOLVERS = sizeof names / sizeof *names };

static int index_of(const char *name) {
  for (int k = 0; k < SOLVERS; k++)
    if (strcmp(names[k], name) == 0) return k;
  return -1;
}

bool eb_siconos_is(const char *name) {
  return index_of(name) >= 0;
}

#ifdef EB_HAVE_SICONOS

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <GlobalFrictionContactProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>

/* What is taken from the library. */
typedef struct siconos {
  __typeof__(fc3d_driver) *solve_local;
  __typeof__(gfc3d_driver) *solve_global;
  __typeof__(solver_options_create) *create_options;
  __typeof__(NM_create) *create_matrix;
  __typeof__(NM_triplet_alloc) *allocate_triplets;
  __typeof__(NM_entry) *add_entry;
} siconos;

/* Debian's Siconos brings a sequential stand-in for MPI with the names of the real one, which
 * HDF5 and PETSc have linked: in a scope of its own each finds its own. */
static bool load(siconos *out) {
  void *library = dlopen("libsiconos_numerics.so.7", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!library) return false;
  struct {
    const char *name;
    void *to;
  } wanted[] = {{"fc3d_driver", &out->solve_local},
                {"gfc3d_driver", &out->solve_global},
                {"solver_options_create", &out->create_options},
                {"NM_create", &out->create_matrix},
                {"NM_triplet_alloc", &out->allocate_triplets},
                {"NM_entry", &out->add_entry}};
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
    void *found = dlsym(library, wanted[k].name);
    if (!found) return false;
    memcpy(wanted[k].to, &found, sizeof found);
  }
  return true;
}

bool eb_siconos_is_there(void) {
  siconos library;
  return load(&library);
}

static NumericsMatrix *sparse(const siconos *library, const eb_fclib_matrix *from) {
  NumericsMatrix *matrix = library->create_matrix(NM_SPARSE, from->rows, from->columns);
  library->allocate_triplets(matrix, from->count);
  matrix->matrix2->origin = NSM_TRIPLET;
  for (int32_t k = 0; k < from->count; k++)
    library->add_entry(matrix, from->row[k], from->column[k], from->value[k]);
  return matrix;
}

/* Column-major. */
static NumericsMatrix *dense(const siconos *library, const eb_fclib_matrix *from) {
  NumericsMatrix *matrix = library->create_matrix(NM_DENSE, from->rows, from->columns);
  memset(matrix->matrix0, 0, (size_t)from->rows * (size_t)from->columns * sizeof(double));
  for (int32_t k = 0; k < from->count; k++)
    matrix->matrix0[from->row[k] + (int64_t)from->column[k] * from->rows] += from->value[k];
  return matrix;
}

/* What the problems hold lives as long as the process, which ends after the solve. */
eb_error eb_siconos_solve(const eb_fclib *p, const char *name, double tolerance, int max_iterations,
                          eb_fclib_result *out) {
  static const int local[SOLVERS] = {SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_NSN_AC,
                                     SICONOS_FRICTION_3D_ADMM};
  static const int global[SOLVERS] = {SICONOS_GLOBAL_FRICTION_3D_NSGS_WR,
                                      SICONOS_GLOBAL_FRICTION_3D_NSN_AC_WR,
                                      SICONOS_GLOBAL_FRICTION_3D_ADMM};
  siconos library;
  *out = (eb_fclib_result){.stored_merit = NAN};
  if (!load(&library) || index_of(name) < 0)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "%s: Siconos 4.4's numerics cannot be loaded", name);
  EB_TRY(EB_NEW(out->found.v, (size_t)p->size + 2));
  EB_TRY(EB_NEW(out->found.u, 3 * (size_t)p->contacts));
  EB_TRY(EB_NEW(out->found.r, 3 * (size_t)p->contacts));
  SolverOptions *options = library.create_options((p->global ? global : local)[index_of(name)]);
  options->dparam[SICONOS_DPARAM_TOL] = tolerance;
  options->iparam[SICONOS_IPARAM_MAX_ITER] = max_iterations;
  int info;
  double began;
  if (p->global) {
    GlobalFrictionContactProblem problem = {.dimension = 3,
                                            .numberOfContacts = p->contacts,
                                            .M = sparse(&library, &p->M),
                                            .H = sparse(&library, &p->H),
                                            .q = p->f,
                                            .b = p->w,
                                            .mu = p->mu};
    began = eb_wall_seconds();
    info = library.solve_global(&problem, out->found.r, out->found.u, out->found.v, options);
  } else {
    FrictionContactProblem problem = {.dimension = 3,
                                      .numberOfContacts = p->contacts,
                                      .M = dense(&library, &p->M),
                                      .q = p->w,
                                      .mu = p->mu};
    began = eb_wall_seconds();
    info = library.solve_local(&problem, out->found.r, out->found.u, options);
  }
  out->seconds = eb_wall_seconds() - began;
  out->outcome.iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
  out->outcome.reason = info == 0 ? EB_CONVERGED_ATOL : EB_DIVERGED_MAX_IT;
  return eb_fclib_merit(p, out->found.v, out->found.r, &out->merit);
}

#else

bool eb_siconos_is_there(void) {
  return false;
}

eb_error eb_siconos_solve(const eb_fclib *p, const char *name, double tolerance, int max_iterations,
                          eb_fclib_result *out) {
  (void)p, (void)tolerance, (void)max_iterations;
  *out = (eb_fclib_result){.stored_merit = NAN};
  return EB_ERROR(EB_ERR_UNSUPPORTED,
                  "%s: built without Siconos; install libsiconos-numerics-dev and build anew",
                  name);
}

#endif
