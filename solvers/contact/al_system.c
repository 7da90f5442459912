/* The regularized contact law, the system of a Newton step on it with its preconditioners, and
 * conjugate residuals; see al_system.h for the formulas.
 *
 * Reference: Verschoor and Jalba 2019, Algorithm 1, lines 7 to 17, and Section 3.4. Their full
 * preconditioner takes the diagonal of S = H A_d^-1 H^T, which has to be scaled by the number of
 * near duplicates to stay positive definite, and is not safe even so. Here (D^-1 + S)^-1 is applied
 * by one symmetric Gauss-Seidel sweep over the contacts. Its matrix M is at least D^-1 + S, so that
 *   A_d^-1 - A_d^-1 H^T M^-1 H A_d^-1
 * is positive definite whatever the constraints, also where they repeat each other.
 *
 * Needs: diagonal blocks of A positive definite.
 * Workspace: thirteen vectors, nine numbers a row, some thirty and nine an entry a contact.
 * Fails: begin says which block is not positive definite; start and iterate return false on a
 * breakdown. */
#include "solvers/contact/al_system.h"

#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"

/* ---- the law --------------------------------------------------------------------------------- */

/* r^_t - u_t / E, and its length. */
static double tangential(const eb_al_law *law, int32_t k, const double u[3], double z[2]) {
  const double *anchor = law->anchor + 3 * (int64_t)k;
  for (int i = 0; i < 2; i++) z[i] = anchor[1 + i] - u[1 + i] / law->compliance[k];
  return hypot(z[0], z[1]);
}

/* r^_n - u_n / E: the normal force before it is cut off at 0. */
static double normal(const eb_al_law *law, int32_t k, const double u[3]) {
  return law->anchor[3 * (int64_t)k] - u[0] / law->compliance[k];
}

/* The law in its proximal form: minus the gradient of E/2 dist^2(r^ - u/E, .) to the half line of
 * normal forces and the disc of friction, of which it is the nearest point. */
eb_al_state eb_al_force(const eb_al_law *law, int32_t k, const double u[3], double r[3]) {
  double z[2], length = tangential(law, k, u, z), n = normal(law, k, u), bound = law->bound[k];
  double shrink = length > bound ? bound / length : 1;
  r[0] = n > 0 ? n : 0;
  r[1] = shrink * z[0];
  r[2] = shrink * z[1];
  if (n <= 0) return bound > 0 ? EB_AL_OPEN_WITH_FRICTION : EB_AL_OPEN;
  return length > bound ? EB_AL_SLIDES : EB_AL_STICKS;
}

/* Of the projection on a disc: the identity inside, s/|z| (1 - z z^T/|z|^2) outside.
 *
 * With z = r^_t - u_t / E, dz/du_t = -1 / E: D_t = (1 / E) d(projection)/dz. The eigenvalues are
 * 1 / E twice inside of the disc, 0 along z and s / (E |z|) < 1 / E across outside: a contact
 * that slides resists being turned, not being dragged on. */
void eb_al_stiffness(const eb_al_law *law, int32_t k, const double u[3], double D[9]) {
  double z[2], length = tangential(law, k, u, z), stiffness = 1 / law->compliance[k],
               bound = law->bound[k];
  memset(D, 0, 9 * sizeof *D);
  if (normal(law, k, u) > 0) D[0] = stiffness;
  if (bound <= 0) return;
  bool slides = length > bound;
  double across = slides ? stiffness * bound / length : stiffness;
  double along = slides ? across / (length * length) : 0;
  D[4] = across - along * z[0] * z[0];
  D[5] = D[7] = -along * z[0] * z[1];
  D[8] = across - along * z[1] * z[1];
}

/* ---- 3x3 ------------------------------------------------------------------------------------- */

static void multiply3(const double A[9], const double B[9], double out[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/* Returns the determinant; out is not usable when it is 0.
 *
 * By the adjugate, whose first column doubles as the expansion of the determinant. */
static double invert3(const double A[9], double out[9]) {
  double c0 = A[4] * A[8] - A[5] * A[7], c1 = A[5] * A[6] - A[3] * A[8],
         c2 = A[3] * A[7] - A[4] * A[6];
  double det = A[0] * c0 + A[1] * c1 + A[2] * c2, s = 1 / det;
  out[0] = s * c0;
  out[1] = s * (A[2] * A[7] - A[1] * A[8]);
  out[2] = s * (A[1] * A[5] - A[2] * A[4]);
  out[3] = s * c1;
  out[4] = s * (A[0] * A[8] - A[2] * A[6]);
  out[5] = s * (A[2] * A[3] - A[0] * A[5]);
  out[6] = s * c2;
  out[7] = s * (A[1] * A[6] - A[0] * A[7]);
  out[8] = s * (A[0] * A[4] - A[1] * A[3]);
  return det;
}

/* out += H^T D H (or H D H^T with the other order of indices). */
static void add_congruent(const double H[9], const double D[9], bool transposed, double out[9]) {
  double left[9], DH[9];
  double other[9];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      left[3 * i + j] = transposed ? H[3 * j + i] : H[3 * i + j];
      other[3 * i + j] = transposed ? H[3 * i + j] : H[3 * j + i];
    }
  multiply3(D, other, DH);
  double product[9];
  multiply3(left, DH, product);
  for (int i = 0; i < 9; i++) out[i] += product[i];
}

/* ---- memory ---------------------------------------------------------------------------------- */

eb_error eb_al_system_create(int32_t rows, bool full, eb_al_system *out) {
  *out = (eb_al_system){.n = 3 * (int64_t)rows, .full = full};
  return EB_NEW(out->diagonal, 9 * (int64_t)rows);
}

static void clear_contacts(eb_al_system *system) {
  double **all[] = {&system->schur, &system->D, &system->inner, &system->w, &system->G};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    free(*all[i]);
    *all[i] = NULL;
  }
}

void eb_al_system_clear(eb_al_system *system) {
  clear_contacts(system);
  free(system->diagonal);
  *system = (eb_al_system){0};
}

static eb_error reserve(eb_al_system *system, int64_t count) {
  if (system->w && count <= system->room) return EB_OK;
  clear_contacts(system);
  int64_t room = count + count / 2 + 16;
  EB_TRY(EB_NEW(system->schur, 9 * room));
  EB_TRY(EB_NEW(system->D, 9 * room));
  EB_TRY(EB_NEW(system->inner, 9 * room));
  EB_TRY(EB_NEW(system->w, 3 * room));
  EB_TRY(EB_NEW(system->G, 9 * EB_CONTACT_ENTRIES * room));
  system->room = room;
  return EB_OK;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

eb_error eb_al_system_begin(eb_al_system *system, const eb_contact_problem *problem) {
  const eb_block_matrix *A = problem->A;
  system->problem = problem;
  system->m = 3 * (int64_t)problem->count;
  EB_TRY(reserve(system, problem->count));
  for (int32_t i = 0; i < A->rows; i++)
    if (!(invert3(A->values + 9 * (int64_t)A->diagonal[i], system->diagonal + 9 * (int64_t)i) > 0))
      return EB_ERROR(
          EB_ERR_INVALID,
          "the diagonal block of row %d of the contact problem's matrix is not positive definite",
          i);
  /* S_k = sum over the blocks of H A_d^-1 H^T; G_e = A_d^-1 H_e^T. */
  memset(system->schur, 0, 9 * (size_t)problem->count * sizeof *system->schur);
  for (int32_t k = 0; k < problem->count; k++)
    for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++) {
      const double *H = problem->H + 9 * (int64_t)e;
      const double *inverse = system->diagonal + 9 * (int64_t)problem->block[e];
      add_congruent(H, inverse, false, system->schur + 9 * (int64_t)k);
      if (!system->full) continue;
      double transposed[9];
      for (int i = 0; i < 9; i++) transposed[i] = H[3 * (i % 3) + i / 3];
      multiply3(inverse, transposed, system->G + 9 * (int64_t)e);
    }
  return EB_OK;
}

void eb_al_system_linearize(eb_al_system *system, const eb_al_law *law, const double *u) {
  for (int32_t k = 0; k < system->problem->count; k++)
    eb_al_stiffness(law, k, u + 3 * (int64_t)k, system->D + 9 * (int64_t)k);
  eb_log_begin(system->log, EB_PHASE_FACTOR);
  /* The block that a sweep of the preconditioner solves for one contact, without D^-1, which an
   * open contact or a sliding one does not have: (D^-1 + S_kk)^-1 = D (1 + S_kk D)^-1. The matrix
   * in brackets is regular, as S D has no negative eigenvalues. */
  for (int32_t k = 0; k < system->problem->count && system->full; k++) {
    const double *D = system->D + 9 * (int64_t)k;
    double SD[9], inverse[9];
    multiply3(system->schur + 9 * (int64_t)k, D, SD);
    for (int i = 0; i < 9; i++) SD[i] += i % 4 == 0;
    invert3(SD, inverse);
    multiply3(D, inverse, system->inner + 9 * (int64_t)k);
  }
  /* Preconditioner diag: the diagonal blocks of K = A + H^T D H, inverted. The paper's Diag
   * (Section 3.4) has diag(A) and the diagonal of S beside each other; with the multipliers
   * eliminated their place is in K, and blocks keep the coupling of a node's three directions,
   * which a contact at an angle has. */
  if (!system->full) {
    const eb_contact_problem *problem = system->problem;
    const eb_block_matrix *A = problem->A;
    for (int32_t i = 0; i < A->rows; i++)
      memcpy(system->diagonal + 9 * (int64_t)i, A->values + 9 * (int64_t)A->diagonal[i],
             9 * sizeof *system->diagonal);
    for (int32_t k = 0; k < problem->count; k++)
      for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++)
        add_congruent(problem->H + 9 * (int64_t)e, system->D + 9 * (int64_t)k, true,
                      system->diagonal + 9 * (int64_t)problem->block[e]);
    for (int32_t i = 0; i < A->rows; i++) {
      double *block = system->diagonal + 9 * (int64_t)i, K[9];
      memcpy(K, block, sizeof K);
      invert3(K, block);
    }
  }
  eb_log_end(system->log, EB_PHASE_FACTOR);
}

/* ---- products -------------------------------------------------------------------------------- */

static void times3(const double M[9], const double x[3], double y[3]) {
  for (int i = 0; i < 3; i++) y[i] = M[3 * i] * x[0] + M[3 * i + 1] * x[1] + M[3 * i + 2] * x[2];
}

/* (H_k x)_k. */
static void contact_times(const eb_contact_problem *problem, int32_t k, const double *x,
                          double u[3]) {
  u[0] = u[1] = u[2] = 0;
  for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++) {
    double part[3];
    times3(problem->H + 9 * (int64_t)e, x + 3 * (int64_t)problem->block[e], part);
    for (int i = 0; i < 3; i++) u[i] += part[i];
  }
}

/* Whether the contact resists at all: those that do not are skipped. */
static bool resists(const eb_al_system *system, int32_t k) {
  const double *D = system->D + 9 * (int64_t)k;
  return D[0] > 0 || D[4] > 0 || D[8] > 0;
}

void eb_al_multiply(eb_al_system *system, const double *x, double *Ax, double *Hx, double *Kx) {
  const eb_contact_problem *problem = system->problem;
  eb_block_multiply(problem->A, x, Ax);
  eb_log_count(system->log, EB_COUNT_MATVECS, 1);
  eb_log_count(system->log, EB_COUNT_CONTACT_VISITS, problem->count);
  memcpy(Kx, Ax, (size_t)system->n * sizeof *Kx);
  for (int32_t k = 0; k < problem->count; k++) {
    double *u = Hx + 3 * (int64_t)k, r[3];
    contact_times(problem, k, x, u);
    if (!resists(system, k)) continue;
    times3(system->D + 9 * (int64_t)k, u, r);
    for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++) {
      const double *H = problem->H + 9 * (int64_t)e;
      double *to = Kx + 3 * (int64_t)problem->block[e];
      for (int d = 0; d < 3; d++) to[d] += H[d] * r[0] + H[3 + d] * r[1] + H[6 + d] * r[2];
    }
  }
}

/* One contact of a sweep on (D^-1 + H A_d^-1 H^T) s = H A_d^-1 r: its force anew from the
 * velocities z that all others leave it, s_k = (D^-1 + S_k)^-1 (H_k z + S_k s_k), and z follows at
 * once, z -= A_d^-1 H_k^T ds. Forward and back make a symmetric sweep, which a preconditioner of
 * conjugate residuals has to be. */
static void relax(eb_al_system *system, int32_t k, bool first, double *z) {
  double u[3], own[3], next[3], *s = system->w + 3 * (int64_t)k;
  contact_times(system->problem, k, z, u);
  if (!first) {
    times3(system->schur + 9 * (int64_t)k, s, own);
    for (int i = 0; i < 3; i++) u[i] += own[i];
  }
  times3(system->inner + 9 * (int64_t)k, u, next);
  double change[3];
  for (int i = 0; i < 3; i++) {
    change[i] = next[i] - (first ? 0 : s[i]);
    s[i] = next[i];
  }
  for (int32_t e = system->problem->start[k]; e < system->problem->start[k + 1]; e++) {
    double back[3];
    times3(system->G + 9 * (int64_t)e, change, back);
    for (int d = 0; d < 3; d++) z[3 * (int64_t)system->problem->block[e] + d] -= back[d];
  }
}

/* z = C^-1 r: see relax for the sweep of the full one. */
static void precondition(eb_al_system *system, const double *r, double *z) {
  eb_log_begin(system->log, EB_PHASE_PRECONDITION);
  for (int64_t i = 0; i < system->n / 3; i++)
    times3(system->diagonal + 9 * i, r + 3 * i, z + 3 * i);
  int64_t visits = 0;
  for (int32_t k = 0; system->full && k < system->problem->count; k++) {
    if (!resists(system, k)) continue;
    relax(system, k, true, z);
    visits += 2;
  }
  for (int32_t k = system->problem->count - 1; system->full && k >= 0; k--)
    if (resists(system, k)) relax(system, k, false, z);
  eb_log_count(system->log, EB_COUNT_CONTACT_VISITS, (double)visits);
  eb_log_end(system->log, EB_PHASE_PRECONDITION);
}

/* ---- conjugate residuals ----
 *
 *   alpha = z.K z / K p.C^-1 K p,   x += alpha p,   r -= alpha K p,   z -= alpha C^-1 K p,
 *   beta = z+.K z+ / z.K z,   p = z + beta p,   K p = K z + beta K p.
 *
 * One product and one application of the preconditioner an iteration. A x and H x develop beside x
 * by the same recurrences, so that energies and contact velocities along x cost no product (the
 * split residual of Section 3.5). */

enum { MAIN_VECTORS = 10, CONTACT_VECTORS = 3 };

static void main_vectors(eb_al_solve *cr, double **all[MAIN_VECTORS]) {
  double **list[MAIN_VECTORS] = {&cr->x,  &cr->Ax, &cr->r,  &cr->z,  &cr->p,
                                 &cr->Ap, &cr->Kp, &cr->Az, &cr->Kz, &cr->CKp};
  memcpy(all, list, sizeof list);
}

void eb_al_solve_clear(eb_al_solve *cr) {
  double **all[MAIN_VECTORS];
  main_vectors(cr, all);
  for (int i = 0; i < MAIN_VECTORS; i++) free(*all[i]);
  free(cr->Hx);
  free(cr->Hp);
  free(cr->Hz);
  *cr = (eb_al_solve){0};
}

eb_error eb_al_solve_reserve(eb_al_solve *cr, int64_t n, int64_t m) {
  if (cr->Hz && cr->n == n && m <= cr->room) return EB_OK;
  eb_al_solve_clear(cr);
  double **all[MAIN_VECTORS];
  main_vectors(cr, all);
  for (int i = 0; i < MAIN_VECTORS; i++) EB_TRY(EB_NEW(*all[i], n));
  int64_t room = m + m / 2 + 16;
  EB_TRY(EB_NEW(cr->Hx, room));
  EB_TRY(EB_NEW(cr->Hp, room));
  EB_TRY(EB_NEW(cr->Hz, room));
  cr->n = n;
  cr->room = room;
  return EB_OK;
}

bool eb_al_solve_start(eb_al_solve *cr, eb_al_system *system, const double *g) {
  size_t n = (size_t)system->n * sizeof(double), m = (size_t)system->m * sizeof(double);
  memcpy(cr->r, g, n);
  memset(cr->x, 0, n);
  memset(cr->Ax, 0, n);
  memset(cr->Hx, 0, m);
  precondition(system, cr->r, cr->z);
  cr->norm = eb_norm(system->n, cr->r);
  if (!(eb_dot(system->n, cr->r, cr->z) > 0)) return false;
  eb_al_multiply(system, cr->z, cr->Az, cr->Hz, cr->Kz);
  cr->zKz = eb_dot(system->n, cr->z, cr->Kz);
  memcpy(cr->p, cr->z, n);
  memcpy(cr->Ap, cr->Az, n);
  memcpy(cr->Kp, cr->Kz, n);
  memcpy(cr->Hp, cr->Hz, m);
  return true;
}

static void add_scaled(int64_t n, double scale, const double *x, double *y) {
  for (int64_t i = 0; i < n; i++) y[i] += scale * x[i];
}

/* p = z + beta p. */
static void update_direction(int64_t n, double beta, const double *z, double *p) {
  for (int64_t i = 0; i < n; i++) p[i] = z[i] + beta * p[i];
}

bool eb_al_solve_iterate(eb_al_solve *cr, eb_al_system *system) {
  int64_t n = system->n, m = system->m;
  precondition(system, cr->Kp, cr->CKp);
  double curvature = eb_dot(n, cr->Kp, cr->CKp), alpha = cr->zKz / curvature;
  if (!(curvature > 0) || !(cr->zKz > 0) || !isfinite(alpha)) return false;
  add_scaled(n, alpha, cr->p, cr->x);
  add_scaled(n, alpha, cr->Ap, cr->Ax);
  add_scaled(m, alpha, cr->Hp, cr->Hx);
  add_scaled(n, -alpha, cr->Kp, cr->r);
  add_scaled(n, -alpha, cr->CKp, cr->z);
  cr->norm = eb_norm(n, cr->r);
  eb_al_multiply(system, cr->z, cr->Az, cr->Hz, cr->Kz);
  double next = eb_dot(n, cr->z, cr->Kz), beta = next / cr->zKz;
  cr->zKz = next;
  update_direction(n, beta, cr->z, cr->p);
  update_direction(n, beta, cr->Az, cr->Ap);
  update_direction(n, beta, cr->Kz, cr->Kp);
  update_direction(m, beta, cr->Hz, cr->Hp);
  return true;
}
