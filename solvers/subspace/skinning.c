/* The lowest eigenpairs of H_w w = gamma M_w w.
 *
 * With y = M_w^1/2 w the problem is a standard one, and its lowest eigenvalues belong to the
 * largest theta = 1 / (gamma + shift) of
 *
 *   C = M_w^1/2 (H_w + shift M_w)^-1 M_w^1/2,
 *
 * which SLEPc sees as a shell: two scalings and one solve. A Krylov space of C separates the lowest
 * modes in a few dozen solves, whatever the size of the mesh.
 *
 * The factor is the project's, for matrices of 3 x 3 blocks: every block here is a multiple of the
 * identity, and of the three equal systems that it holds one is used.
 *
 * The shift makes the matrix definite where nothing is pinned. A hundredth of the slowest mode that
 * the softest stiffness could have over the body's length keeps theta of the constant mode within a
 * few digits of the next ones. Where elements are slivers that estimate may be far too low, and
 * theta of the wanted modes rounding beside the first: then a tenth of the highest mode that was
 * found is taken instead.
 *
 * Of a mesh with few nodes LAPACK takes the matrix itself, all of it: there the highest modes may
 * be asked for, which an inverse knows only to rounding of the lowest.
 *
 * Needs: H at rest. Workspace: the factor (nine times that of a scalar matrix), 2 modes + 10
 * vectors of SLEPc's. Fails: eigenpairs that do not converge. */
#include "solvers/subspace/skinning.h"

#include "problems/base/memory.h"
#include "solvers/linalg/multifrontal.h"
#include "solvers/linalg/one_thread.h"
#include "solvers/linalg/petsc_session.h"

#include <float.h>
#include <math.h>
#include <slepceps.h>
#include <string.h>

static const double RESIDUAL = 1e-8;
enum { FEW_NODES = 300 };

void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info, size_t, size_t);

typedef struct eigenproblem {
  const eb_elasticity *elasticity;
  const double *X;
  const uint8_t *pinned;
  int32_t nodes, modes;
  int threads;
  double shift;
  eb_block_matrix *laplacian; /* H_w + shift M_w, each entry times the identity */
  eb_multifrontal *factor;
  double *root;   /* nodes: M_w^1/2, 0 where pinned */
  double *b;      /* 3 nodes: right-hand side and solution */
  eb_error error; /* of a solve inside SLEPc */
  eb_skinning *out;
  Mat shell;
  EPS eps;
} eigenproblem;

/* ---- the matrix ---- */

/* Traces of H's blocks at rest. Pinned nodes are cut off, with the identity on their diagonal. */
static eb_error make_laplacian(eigenproblem *p, eb_step_log *log) {
  const double *mass = eb_elasticity_mass(p->elasticity);
  EB_TRY(eb_block_matrix_like(eb_elasticity_pattern(p->elasticity), &p->laplacian));
  eb_block_matrix *A = p->laplacian;
  eb_elasticity_matrix(p->elasticity, p->X, 0, 1, false, A, NULL);
  double lo[3], hi[3], length2 = 0, slowest = INFINITY;
  eb_mesh_bounds(p->X, p->nodes, lo, hi);
  for (int d = 0; d < 3; d++) length2 += (hi[d] - lo[d]) * (hi[d] - lo[d]);
  for (int32_t i = 0; i < A->rows; i++) {
    double nearest = 0; /* sum over neighbours of their stiffness times their distance^2 */
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      double *block = A->values + 9 * (int64_t)b, trace = block[0] + block[4] + block[8], apart = 0;
      int32_t j = A->column[b];
      for (int d = 0; d < 3; d++) {
        double off = p->X[3 * i + d] - p->X[3 * j + d];
        apart += off * off;
      }
      nearest -= trace * apart;
      if (p->pinned && (p->pinned[i] || p->pinned[j])) trace = i == j ? mass[i] : 0;
      memset(block, 0, 9 * sizeof *block);
      block[0] = block[4] = block[8] = trace;
    }
    /* E / rho at this node, about: the Laplacian of |X|^2 / 2. */
    if (nearest > 0) slowest = fmin(slowest, nearest / mass[i]);
  }
  if (p->shift == 0) p->shift = 1e-2 * (isfinite(slowest) ? slowest : 1) / length2;
  for (int32_t i = 0; i < A->rows; i++)
    for (int k = 0; k < 3; k++)
      A->values[9 * (int64_t)A->diagonal[i] + 4 * k] += p->shift * mass[i];
  const eb_multifrontal_settings settings = {.threads = p->threads};
  eb_reason reason;
  EB_TRY(eb_multifrontal_create(&settings, A, log, &p->factor));
  EB_TRY(eb_multifrontal_factor(p->factor, A, log, &reason));
  if (reason < 0)
    return EB_ERROR(EB_ERR_INVALID,
                    "skinning modes: the Laplacian of the stiffness is not positive "
                    "definite (%s): is an element flat?",
                    eb_reason_name(reason));
  return EB_OK;
}

/* ---- SLEPc ---- */

/* y = C x. */
static PetscErrorCode apply(Mat shell, Vec x, Vec y) {
  eigenproblem *p;
  const double *in;
  double *out;
  eb_reason reason = EB_RUNNING;
  PetscCall(MatShellGetContext(shell, &p));
  PetscCall(VecGetArrayRead(x, &in));
  for (int32_t i = 0; i < p->nodes; i++) {
    p->b[3 * (int64_t)i] = p->root[i] * in[i];
    p->b[3 * (int64_t)i + 1] = p->b[3 * (int64_t)i + 2] = 0;
  }
  PetscCall(VecRestoreArrayRead(x, &in));
  p->error = eb_multifrontal_solve(p->factor, 1, p->b, p->b, NULL, &reason);
  PetscCheck(!p->error && reason > 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "a solve failed");
  PetscCall(VecGetArrayWrite(y, &out));
  for (int32_t i = 0; i < p->nodes; i++) out[i] = p->root[i] * p->b[3 * (int64_t)i];
  PetscCall(VecRestoreArrayWrite(y, &out));
  return 0;
}

/* Weights w = M_w^-1/2 y of one eigenvector, the entry of largest size positive. */
static void keep_mode(eigenproblem *p, int32_t mode, const double *y) {
  double *w = p->out->weight + (int64_t)mode * p->nodes, largest = 0;
  for (int32_t i = 0; i < p->nodes; i++) {
    w[i] = p->root[i] > 0 ? y[i] / p->root[i] : 0;
    if (fabs(w[i]) > fabs(largest) * (1 + 1e-9)) largest = w[i];
  }
  for (int32_t i = 0; i < p->nodes && largest < 0; i++) w[i] = -w[i];
}

static PetscErrorCode solve(void *context) {
  eigenproblem *p = context;
  PetscInt converged;
  Vec y, first;
  PetscBool running;
  PetscCall(SlepcInitialized(&running));
  if (!running) PetscCall(SlepcInitializeNoArguments()); /* on top of PETSc, which runs */
  PetscCall(MatCreateShell(PETSC_COMM_SELF, p->nodes, p->nodes, p->nodes, p->nodes, p, &p->shell));
  PetscCall(MatShellSetOperation(p->shell, MATOP_MULT, (void (*)(void))apply));
  PetscCall(MatSetOption(p->shell, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(EPSCreate(PETSC_COMM_SELF, &p->eps));
  PetscCall(EPSSetOperators(p->eps, p->shell, NULL));
  PetscCall(EPSSetProblemType(p->eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(p->eps, EPS_LARGEST_REAL));
  PetscCall(EPSSetType(p->eps, EPSKRYLOVSCHUR));
  PetscCall(EPSSetTolerances(p->eps, 1e-12, 300));
  PetscCall(EPSSetDimensions(p->eps, p->modes, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(MatCreateVecs(p->shell, &y, &first));
  /* Its own start, the same in every process; SLEPc's is random. */
  double *entries;
  PetscCall(VecGetArrayWrite(first, &entries));
  for (int32_t i = 0; i < p->nodes; i++) entries[i] = p->root[i] * (1 + 0.5 * sin(1.0 + i));
  PetscCall(VecRestoreArrayWrite(first, &entries));
  PetscCall(EPSSetInitialSpace(p->eps, 1, &first));
  PetscCall(EPSSolve(p->eps));
  PetscCall(EPSGetConverged(p->eps, &converged));
  for (int32_t k = 0; k < p->modes && k < converged; k++) {
    double theta;
    const double *values;
    PetscCall(EPSGetEigenpair(p->eps, k, &theta, NULL, y, NULL));
    /* Rounding has left something of every mode in y, which H_w would raise by its eigenvalue: once
     * more through C it is as small as that of the mode itself. */
    PetscCall(MatMult(p->shell, y, first));
    PetscCall(VecNormalize(first, NULL));
    PetscCall(VecGetArrayRead(first, &values));
    p->out->eigenvalue[k] = 1 / theta - p->shift;
    keep_mode(p, k, values);
    PetscCall(VecRestoreArrayRead(first, &values));
  }
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&first));
  PetscCheck(converged >= p->modes, PETSC_COMM_SELF, PETSC_ERR_CONV_FAILED,
             "%d of %d modes converged", (int)converged, (int)p->modes);
  return 0;
}

/* All modes of M_w^-1/2 H_w M_w^-1/2 over the free nodes. */
static eb_error solve_dense(eigenproblem *p, int32_t free_nodes) {
  const eb_block_matrix *A = p->laplacian;
  int n = free_nodes, room = 34 * n, info = -1;
  int32_t *place;
  double *dense = NULL, *y;
  EB_TRY(EB_NEW(place, p->nodes));
  eb_error error = EB_NEW(dense, (size_t)n * (size_t)n + (size_t)(n + room + p->nodes));
  double *value = dense + (size_t)n * (size_t)n, *work = value + n;
  for (int32_t i = 0, next = 0; i < p->nodes; i++) place[i] = p->root[i] > 0 ? next++ : -1;
  for (int32_t i = 0; !error && i < p->nodes; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      int32_t j = A->column[b];
      if (place[i] >= 0 && place[j] >= 0)
        dense[(size_t)place[i] * (size_t)n + (size_t)place[j]] =
            A->values[9 * (int64_t)b] / (p->root[i] * p->root[j]);
    }
  eb_one_thread before = eb_one_thread_begin();
  if (!error) dsyev_("V", "U", &n, dense, &n, value, work, &room, &info, 1, 1);
  eb_one_thread_end(before);
  if (!error && info != 0)
    error = EB_ERROR(EB_ERR_LIBRARY, "skinning modes: LAPACK's dsyev returned %d", info);
  y = work + room;
  for (int32_t k = 0; !error && k < p->modes; k++) {
    p->out->eigenvalue[k] = value[k] - p->shift;
    for (int32_t i = 0; i < p->nodes; i++)
      y[i] = place[i] >= 0 ? dense[(size_t)k * (size_t)n + (size_t)place[i]] : 0;
    keep_mode(p, k, y);
  }
  free(place);
  free(dense);
  return error;
}

static PetscErrorCode release_slepc(void *context) {
  eigenproblem *p = context;
  PetscCall(EPSDestroy(&p->eps));
  PetscCall(MatDestroy(&p->shell));
  return 0;
}

/* ---- the modes ---- */

/* |H_w w - gamma M_w w| / (gamma + shift) in the norm of inv(M_w), for w of norm 1: by how much the
 * eigenvalue can be off, of itself. Less what rounding of the products alone makes of it, 64 eps of
 * their terms: a thin sheet's highest eigenvalue is 1e9 times its lowest. */
static double residual_of(const eigenproblem *p, int32_t mode) {
  const eb_block_matrix *A = p->laplacian;
  const double *w = p->out->weight + (int64_t)mode * p->nodes;
  double gamma = p->out->eigenvalue[mode], square = 0, rounding = 0;
  for (int32_t i = 0; i < p->nodes; i++) {
    if (p->root[i] == 0) continue;
    double mass = p->root[i] * p->root[i], sum = -(gamma + p->shift) * mass * w[i];
    double terms = fabs(sum);
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      double term = A->values[9 * (int64_t)b] * w[A->column[b]];
      sum += term;
      terms += fabs(term);
    }
    square += sum * sum / mass;
    rounding += terms * terms / mass;
  }
  return fmax(0, sqrt(square) - 64 * DBL_EPSILON * sqrt(rounding)) / (gamma + p->shift);
}

/* All that a shift decides; `dense`: how many free nodes there are for LAPACK, or 0. */
static eb_error pass_with_shift(eigenproblem *p, int32_t dense, eb_step_log *log) {
  eb_multifrontal_destroy(p->factor);
  eb_block_matrix_destroy(p->laplacian);
  p->factor = NULL;
  p->laplacian = NULL;
  EB_TRY(make_laplacian(p, log));
  if (dense > 0) return solve_dense(p, dense);
  eb_error error = eb_petsc_call(solve, p, "skinning modes: SLEPc");
  if (p->error) {
    eb_error_free(error);
    error = p->error;
    p->error = EB_OK;
  }
  eb_error freed = eb_petsc_call(release_slepc, p, "skinning modes: SLEPc");
  if (!error) return freed;
  eb_error_free(freed);
  return error;
}

static eb_error find_modes(eigenproblem *p, eb_step_log *log) {
  int32_t free_nodes = 0;
  const double *mass = eb_elasticity_mass(p->elasticity);
  EB_TRY(EB_NEW(p->root, p->nodes));
  EB_TRY(EB_NEW(p->b, 3 * (size_t)p->nodes));
  EB_TRY(EB_NEW(p->out->weight, (size_t)p->modes * (size_t)p->nodes));
  EB_TRY(EB_NEW(p->out->eigenvalue, p->modes));
  for (int32_t i = 0; i < p->nodes; i++)
    if (!p->pinned || !p->pinned[i]) {
      p->root[i] = sqrt(mass[i]);
      free_nodes++;
    }
  if (p->modes < 1 || p->modes > free_nodes)
    return EB_ERROR(EB_ERR_USAGE, "%d skinning modes of a body with %d free nodes", (int)p->modes,
                    (int)free_nodes);
  enum { PASSES = 3 };
  bool few = free_nodes <= FEW_NODES;
  if (!few) EB_TRY(eb_petsc_start());
  for (int pass = 0; pass < PASSES; pass++) {
    if (pass > 0) p->shift = 0.1 * p->out->eigenvalue[p->modes - 1];
    EB_TRY(pass_with_shift(p, few ? free_nodes : 0, log));
    p->out->residual = 0;
    for (int32_t k = 0; k < p->modes; k++)
      p->out->residual = fmax(p->out->residual, residual_of(p, k));
    if (p->out->residual <= RESIDUAL) return EB_OK;
  }
  return EB_ERROR(EB_ERR_LIBRARY, "skinning modes: an eigenpair is off by %.1e, not %.0e",
                  p->out->residual, RESIDUAL);
}

eb_error eb_skinning_eigenmodes(const eb_elasticity *elasticity, const double *X,
                                const uint8_t *pinned, int32_t modes, int threads, eb_step_log *log,
                                eb_skinning *out) {
  *out = (eb_skinning){.nodes = eb_elasticity_pattern(elasticity)->rows, .modes = modes};
  eigenproblem p = {.elasticity = elasticity,
                    .X = X,
                    .pinned = pinned,
                    .nodes = out->nodes,
                    .modes = modes,
                    .threads = threads,
                    .out = out};
  eb_error error = find_modes(&p, log);
  eb_multifrontal_destroy(p.factor);
  eb_block_matrix_destroy(p.laplacian);
  free(p.root);
  free(p.b);
  if (error) eb_skinning_clear(out);
  return error;
}

void eb_skinning_clear(eb_skinning *skinning) {
  free(skinning->weight);
  free(skinning->eigenvalue);
  *skinning = (eb_skinning){0};
}
