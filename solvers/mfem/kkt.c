/* Entries of the upper triangle, element by element, into a symmetric matrix of PETSc.
 *
 * Unknowns: p, then dS and lambda of element after element, six each in Mandel's order (00 11 22
 * and sqrt 2 times 12 02 01), in which the products A : B are dot products and the system is
 * symmetric as it is. The 12 x 12 block of an element, [H -I; -I 0] times w, is invertible whatever
 * H; the whole is where K + H_x is. Pivots of 2 x 2 are needed: Cholesky's or an LDL^T with a
 * diagonal D would break down at the zeros.
 *
 * Workspace: 120 entries an element and MUMPS' factor of them, many times the condensed one's. */
#include "solvers/mfem/kkt.h"

#include "problems/base/memory.h"
#include "problems/elasticity/svd3.h"
#include "problems/scene_impl.h"
#include "solvers/common/implicit.h"
#include "solvers/petsc/session.h"

#include <math.h>
#include <string.h>

enum { CORNERS = 4, SIX = 6, OWN = 2 * SIX };

static const double root2 = 1.41421356237309504880;
/* As the condensed form keeps it: s_i + s_j, where the rotation is not unique. */
static const double smallest_pair = 1e-3;
static const int row_of[SIX] = {0, 1, 2, 1, 0, 0}, column_of[SIX] = {0, 1, 2, 2, 2, 1};

struct eb_kkt {
  const eb_mesh *mesh;
  const eb_material *materials;
  const double *mass;
  PetscInt size;
  Mat matrix;
  KSP ksp;
  Vec b, x;
};

/* What a guarded function works on. */
typedef struct kkt_work {
  eb_kkt *kkt;
  const eb_kkt_iteration *of;
  eb_reason *reason;
  bool available; /* MUMPS is there */
} kkt_work;

/* ---- one element ----------------------------------------------------------------------------- */

typedef struct element_terms {
  double volume;
  double J[SIX][3 * CORNERS];
  double H[SIX][SIX], stress[SIX], gap[SIX];
} element_terms;

static void to_mandel(const double A[9], double out[SIX]) {
  for (int m = 0; m < SIX; m++) out[m] = (m < 3 ? 1 : root2) * A[3 * row_of[m] + column_of[m]];
}

/* Gradients of the corners' functions, 1/m, by the columns of the inverse of the edges. */
static void corner_gradients(const eb_mesh *mesh, const int32_t *node, double g[CORNERS][3]) {
  double edge[3][3], det = 0;
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < 3; i++)
      edge[a][i] = mesh->X[3 * (int64_t)node[a + 1] + i] - mesh->X[3 * (int64_t)node[0] + i];
  memset(g, 0, CORNERS * sizeof *g);
  for (int a = 0; a < 3; a++) {
    const double *b = edge[(a + 1) % 3], *c = edge[(a + 2) % 3];
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      g[a + 1][i] = b[j] * c[k] - b[k] * c[j];
      if (a == 0) det += edge[0][i] * g[1][i];
    }
  }
  for (int a = 1; a < CORNERS; a++)
    for (int i = 0; i < 3; i++) {
      g[a][i] /= det;
      g[0][i] -= g[a][i];
    }
}

typedef struct frame {
  double U[9], V[9], s[3];
} frame;

static frame decompose(const double F[9]) {
  frame f;
  eb_v4 A[1][9], U[1][9], s[1][3], V[1][9];
  for (int i = 0; i < 9; i++) A[0][i] = eb_v4_set(F[i]);
  eb_svd3(1, (const eb_v4(*)[9])A, U, s, V);
  for (int i = 0; i < 9; i++) {
    f.U[i] = U[0][i][0];
    f.V[i] = V[0][i][0];
  }
  for (int k = 0; k < 3; k++) f.s[k] = s[0][k][0];
  return f;
}

/* V D V^T */
static void to_world(const frame *f, const double D[9], double out[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out[3 * i + j] = 0;
      for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
          out[3 * i + j] += f->V[3 * i + p] * D[3 * p + q] * f->V[3 * j + q];
    }
}

/* dSbar of dF: from Sbar^2 = F^T F, with X = U^T dF V, in the frame V
 *   dSbar_ij = (s_i X_ij + s_j X_ji) / (s_i + s_j). */
static void stretch_change(const frame *f, const double dF[9], double dS[9]) {
  double X[9] = {0}, D[9];
  for (int p = 0; p < 3; p++)
    for (int q = 0; q < 3; q++)
      for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
          X[3 * p + q] += f->U[3 * i + p] * dF[3 * i + k] * f->V[3 * k + q];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      D[3 * i + j] = i == j ? X[4 * i]
                            : (f->s[i] * X[3 * i + j] + f->s[j] * X[3 * j + i]) /
                                  fmax(f->s[i] + f->s[j], smallest_pair);
  to_world(f, D, dS);
}

/* dpsi/dS and its derivative at S: those of the material at F = S, for symmetric changes. With the
 * tangent made positive semi-definite H is, too: an isotropic tangent at a symmetric F takes
 * symmetric changes to symmetric ones, and skew ones to skew ones. */
static void stretch_terms(const eb_material *material, const double S6[SIX], double S[9],
                          element_terms *t) {
  double P[9], tangent[81];
  for (int m = 0; m < SIX; m++)
    S[3 * row_of[m] + column_of[m]] = S[3 * column_of[m] + row_of[m]] = S6[m];
  eb_material_stress(material, S, NULL, P);
  to_mandel(P, t->stress);
  eb_material_tangent(material, S, NULL, true, tangent);
  for (int m = 0; m < SIX; m++) {
    double pushed[9];
    for (int r = 0; r < 9; r++)
      pushed[r] = m < 3 ? tangent[9 * r + 4 * m]
                        : (tangent[9 * r + 3 * row_of[m] + column_of[m]] +
                           tangent[9 * r + 3 * column_of[m] + row_of[m]]) /
                              root2;
    for (int k = 0; k < SIX; k++) {
      int rc = 3 * row_of[k] + column_of[k], cr = 3 * column_of[k] + row_of[k];
      t->H[k][m] = k < 3 ? pushed[rc] : (pushed[rc] + pushed[cr]) / root2;
    }
  }
}

static void terms_of(const eb_kkt *kkt, const eb_kkt_iteration *of, int32_t e, element_terms *t) {
  const eb_mesh *mesh = kkt->mesh;
  const int32_t *node = mesh->elements + CORNERS * (int64_t)e;
  double g[CORNERS][3], F[9] = {0}, S[9], Sbar[9], D[9] = {0}, own[SIX];
  t->volume = eb_mesh_element_volume(mesh, mesh->X, e);
  corner_gradients(mesh, node, g);
  for (int a = 0; a < CORNERS; a++)
    for (int i = 0; i < 9; i++) F[i] += of->x[3 * (int64_t)node[a] + i / 3] * g[a][i % 3];
  frame f = decompose(F);
  for (int k = 0; k < 3; k++) D[4 * k] = f.s[k];
  to_world(&f, D, Sbar);
  stretch_terms(&kkt->materials[mesh->region[e]], of->S + SIX * (int64_t)e, S, t);
  to_mandel(Sbar, t->gap);
  to_mandel(S, own);
  for (int m = 0; m < SIX; m++) t->gap[m] -= own[m];
  for (int c = 0; c < 3 * CORNERS; c++) {
    double dF[9] = {0}, dS[9], column[SIX];
    for (int k = 0; k < 3; k++) dF[3 * (c % 3) + k] = g[c / 3][k];
    stretch_change(&f, dF, dS);
    to_mandel(dS, column);
    for (int m = 0; m < SIX; m++) t->J[m][c] = column[m];
  }
}

/* ---- the system ------------------------------------------------------------------------------ */

/* First of the twelve unknowns of an element. */
static PetscInt own_of(const eb_kkt *kkt, int32_t e) {
  return 3 * kkt->mesh->node_count + OWN * e;
}

static PetscErrorCode add_element(const eb_kkt *kkt, const eb_kkt_iteration *of, int32_t e,
                                  double *b) {
  const int32_t *node = kkt->mesh->elements + CORNERS * (int64_t)e;
  const PetscInt own = own_of(kkt, e);
  PetscInt rows[3 * CORNERS], stretch[SIX], multiplier[SIX];
  double coupled[3 * CORNERS * SIX], block[SIX * OWN] = {0};
  element_terms t;
  terms_of(kkt, of, e, &t);
  for (int m = 0; m < SIX; m++) {
    stretch[m] = own + m;
    multiplier[m] = own + SIX + m;
    b[own + m] = -t.volume * t.stress[m];
    b[own + SIX + m] = -t.volume * t.gap[m];
    for (int k = 0; k < SIX; k++) block[OWN * m + k] = t.volume * t.H[m][k];
    block[OWN * m + SIX + m] = -t.volume;
  }
  PetscInt columns[OWN];
  memcpy(columns, stretch, sizeof stretch);
  memcpy(columns + SIX, multiplier, sizeof multiplier);
  PetscCall(MatSetValues(kkt->matrix, SIX, stretch, OWN, columns, block, ADD_VALUES));
  for (int c = 0; c < 3 * CORNERS; c++) {
    bool free_node = !of->fixed || !of->fixed[node[c / 3]];
    rows[c] = 3 * node[c / 3] + c % 3;
    for (int m = 0; m < SIX; m++) coupled[SIX * c + m] = free_node ? t.volume * t.J[m][c] : 0;
  }
  return MatSetValues(kkt->matrix, 3 * CORNERS, rows, SIX, multiplier, coupled, ADD_VALUES);
}

/* Rows of scripted nodes are p = 0, with an inertia's 1 on the diagonal. Multipliers have a zero
 * there, which the format wants to be stored. */
static PetscErrorCode assemble(void *context) {
  kkt_work *work = context;
  const eb_kkt *kkt = work->kkt;
  const eb_kkt_iteration *of = work->of;
  double *b;
  PetscCall(MatZeroEntries(kkt->matrix));
  PetscCall(VecZeroEntries(kkt->b));
  PetscCall(VecGetArray(kkt->b, &b));
  for (PetscInt i = 0; i < kkt->size; i++) {
    bool node = i < 3 * kkt->mesh->node_count;
    bool held = node && of->fixed && of->fixed[i / 3];
    double diagonal = held ? 1 : node ? of->inertia * kkt->mass[i / 3] : 0;
    if (node && !held) b[i] = of->rhs[i];
    PetscCall(MatSetValues(kkt->matrix, 1, &i, 1, &i, &diagonal, ADD_VALUES));
  }
  for (int32_t s = 0; of->springs && s < of->springs->count; s++)
    for (PetscInt i = 3 * of->springs->node[s]; i < 3 * of->springs->node[s] + 3; i++)
      PetscCall(MatSetValues(kkt->matrix, 1, &i, 1, &i, &of->springs->stiffness[s], ADD_VALUES));
  for (int32_t e = 0; e < kkt->mesh->element_count; e++) PetscCall(add_element(kkt, of, e, b));
  PetscCall(VecRestoreArray(kkt->b, &b));
  PetscCall(MatAssemblyBegin(kkt->matrix, MAT_FINAL_ASSEMBLY));
  return MatAssemblyEnd(kkt->matrix, MAT_FINAL_ASSEMBLY);
}

static PetscErrorCode factor(void *context) {
  kkt_work *work = context;
  PC pc;
  PCFailedReason failed;
  PetscCall(KSPSetOperators(work->kkt->ksp, work->kkt->matrix, work->kkt->matrix));
  PetscCall(KSPSetUp(work->kkt->ksp));
  PetscCall(KSPGetPC(work->kkt->ksp, &pc));
  PetscCall(PCGetFailedReason(pc, &failed));
  *work->reason = failed ? EB_DIVERGED_BREAKDOWN : EB_CONVERGED_DIRECT;
  return 0;
}

static PetscErrorCode solve(void *context) {
  kkt_work *work = context;
  const eb_kkt *kkt = work->kkt;
  const eb_kkt_iteration *of = work->of;
  const double *x;
  KSPConvergedReason reason;
  PetscCall(KSPSolve(kkt->ksp, kkt->b, kkt->x));
  PetscCall(KSPGetConvergedReason(kkt->ksp, &reason));
  if (reason < 0) {
    *work->reason = EB_DIVERGED_BREAKDOWN;
    return 0;
  }
  PetscCall(VecGetArrayRead(kkt->x, &x));
  memcpy(of->p, x, 3 * (size_t)kkt->mesh->node_count * sizeof *x);
  for (int32_t e = 0; e < kkt->mesh->element_count; e++)
    for (int m = 0; m < SIX; m++) {
      const double *own = x + own_of(kkt, e);
      of->dS[SIX * (int64_t)e + m] = own[m] / (m < 3 ? 1 : root2);
      of->lambda[SIX * (int64_t)e + m] = own[SIX + m] / (m < 3 ? 1 : root2);
    }
  return VecRestoreArrayRead(kkt->x, &x);
}

eb_error eb_kkt_solve(eb_kkt *kkt, const eb_kkt_iteration *iteration, eb_step_log *log,
                      eb_reason *reason) {
  kkt_work work = {.kkt = kkt, .of = iteration, .reason = reason};
  *reason = EB_DIVERGED_NAN;
  if (!eb_all_finite(3 * (int64_t)kkt->mesh->node_count, iteration->x) ||
      !eb_all_finite(SIX * (int64_t)kkt->mesh->element_count, iteration->S))
    return EB_OK;
  eb_log_begin(log, EB_PHASE_ASSEMBLE);
  eb_error error = eb_petsc_call(assemble, &work, "assembling the mixed system");
  eb_log_end(log, EB_PHASE_ASSEMBLE);
  if (error) return error;
  eb_log_begin(log, EB_PHASE_FACTOR);
  error = eb_petsc_call(factor, &work, "factoring the mixed system");
  eb_log_end(log, EB_PHASE_FACTOR);
  if (error || *reason < 0) return error;
  eb_log_count(log, EB_COUNT_FACTORIZATIONS, 1);
  eb_log_begin(log, EB_PHASE_SOLVE);
  error = eb_petsc_call(solve, &work, "solving the mixed system");
  eb_log_end(log, EB_PHASE_SOLVE);
  eb_log_count(log, EB_COUNT_SOLVES, 1);
  return error;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Entries of each row's upper triangle: of a node's, itself and six multipliers an element. */
static PetscErrorCode count_entries(const eb_kkt *kkt, PetscInt *entries) {
  const eb_mesh *mesh = kkt->mesh;
  for (PetscInt i = 0; i < 3 * mesh->node_count; i++) entries[i] = 1;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    for (int c = 0; c < 3 * CORNERS; c++)
      entries[3 * mesh->elements[CORNERS * (int64_t)e + c / 3] + c % 3] += SIX;
    for (int m = 0; m < SIX; m++) {
      entries[own_of(kkt, e) + m] = OWN - m;
      entries[own_of(kkt, e) + SIX + m] = 1;
    }
  }
  return 0;
}

static PetscErrorCode create_all(void *context) {
  kkt_work *work = context;
  eb_kkt *kkt = work->kkt;
  PetscInt *entries;
  PetscBool available = PETSC_FALSE;
  PC pc;
  Mat factored;
  PetscCall(PetscMalloc1((size_t)kkt->size, &entries));
  PetscCall(count_entries(kkt, entries));
  PetscErrorCode code =
      MatCreateSeqSBAIJ(PETSC_COMM_SELF, 1, kkt->size, kkt->size, 0, entries, &kkt->matrix);
  PetscCall(PetscFree(entries));
  PetscCall(code);
  PetscCall(MatSetOption(kkt->matrix, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  PetscCall(MatGetFactorAvailable(kkt->matrix, MATSOLVERMUMPS, MAT_FACTOR_CHOLESKY, &available));
  work->available = available;
  if (!available) return 0;
  PetscCall(MatCreateVecs(kkt->matrix, &kkt->x, &kkt->b));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &kkt->ksp));
  PetscCall(KSPSetOperators(kkt->ksp, kkt->matrix, kkt->matrix));
  PetscCall(KSPSetType(kkt->ksp, KSPPREONLY));
  PetscCall(KSPGetPC(kkt->ksp, &pc));
  PetscCall(PCSetType(pc, PCCHOLESKY)); /* of an indefinite matrix MUMPS makes L D L^T */
  PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
  PetscCall(PCFactorSetUpMatSolverType(pc));
  PetscCall(PCFactorGetMatrix(pc, &factored));
  /* Two steps of refinement; room for the pivots that the zeros delay, percent. */
  PetscCall(MatMumpsSetIcntl(factored, 10, -2));
  PetscCall(MatMumpsSetIcntl(factored, 14, 100));
  return 0;
}

static PetscErrorCode destroy_all(void *context) {
  eb_kkt *kkt = ((kkt_work *)context)->kkt;
  PetscCall(KSPDestroy(&kkt->ksp));
  PetscCall(MatDestroy(&kkt->matrix));
  PetscCall(VecDestroy(&kkt->b));
  return VecDestroy(&kkt->x);
}

static eb_error prepare(eb_kkt *kkt) {
  kkt_work work = {.kkt = kkt};
  EB_TRY(eb_petsc_start());
  EB_TRY(eb_petsc_call(create_all, &work, "setting up the mixed system"));
  if (!work.available)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "system=kkt needs a PETSc with MUMPS, and this one has none: install Debian's "
                    "libpetsc-real-dev, or configure PETSc with --download-mumps");
  return EB_OK;
}

eb_error eb_kkt_create(const eb_scene *scene, eb_kkt **out) {
  eb_kkt *kkt;
  *out = NULL;
  if (scene->mesh->type != EB_TETRAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "system=kkt serves tetrahedra; take system=condensed");
  EB_TRY(EB_NEW(kkt, 1));
  kkt->mesh = scene->mesh;
  kkt->materials = scene->materials;
  kkt->mass = eb_elasticity_mass(scene->elasticity);
  int64_t size = 3 * (int64_t)kkt->mesh->node_count + OWN * (int64_t)kkt->mesh->element_count;
  kkt->size = (PetscInt)size;
  eb_error error = size > PETSC_MAX_INT ? EB_ERROR(EB_ERR_UNSUPPORTED,
                                                   "system=kkt: %lld unknowns are more than "
                                                   "PETSc's integers hold",
                                                   (long long)size)
                                        : prepare(kkt);
  if (error)
    eb_kkt_destroy(kkt);
  else
    *out = kkt;
  return error;
}

void eb_kkt_destroy(eb_kkt *kkt) {
  if (!kkt) return;
  PetscBool done = PETSC_FALSE;
  if (!PetscFinalized(&done) && !done) {
    kkt_work work = {.kkt = kkt};
    eb_error_free(eb_petsc_call(destroy_all, &work, "destroying")); /* nobody left to tell */
  }
  free(kkt);
}
