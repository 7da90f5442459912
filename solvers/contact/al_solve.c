/* Conjugate residuals on K x = g, K = A + H^T D H, by a team of threads in step; see al_system.h.
 *
 *   alpha = z.K z / K p.C^-1 K p,   x += alpha p,   r -= alpha K p,   z -= alpha C^-1 K p,
 *   beta = z+.K z+ / z.K z,   p = z + beta p,   K p = K z + beta K p.
 *
 * One product and one application of the preconditioner an iteration. H x develops beside x by the
 * same recurrences, and A x = g - r - H^T D H x at the end, so that energies and contact velocities
 * along x cost no product (the split residual of Section 3.5).
 *
 * Reference: Verschoor and Jalba 2019, Algorithm 1, lines 7 to 17, and Section 3.4. Their full
 * preconditioner takes the diagonal of S = H A_d^-1 H^T, which has to be scaled by the number of
 * near duplicates to stay positive definite, and is not safe even so. Here (D^-1 + S)^-1 is applied
 * by one symmetric Gauss-Seidel sweep over the contacts. Its matrix M is at least D^-1 + S, so that
 *   A_d^-1 - A_d^-1 H^T M^-1 H A_d^-1
 * is positive definite whatever the constraints, also where they repeat each other.
 *
 * Where A consists of its diagonal blocks K is factored instead (al_direct.c), which counts as one
 * iteration.
 *
 * Threads: each has some of the rows, in whole pieces of the sums, and some of the contacts. In a
 * product contacts leave their forces, and rows gather them; the sweep goes by colours
 * (al_system.c). Whatever their number, each sum is one sum in one order.
 *
 * Needs: a system that is linearized.
 * Workspace: eleven vectors.
 * Fails: ends with fewer iterations on a breakdown. */
#include <math.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "solvers/contact/al_system.h"

typedef enum reduction { SQUARE, CURVATURE, ZKZ } reduction;

/* One thread's part in a solve. */
typedef struct member {
  eb_al_member *own;
  eb_al_system *system;
  eb_al_solve *cr;
  double zKz, norm;
} member;

/* ---- memory ---------------------------------------------------------------------------------- */

enum { MAIN_VECTORS = 8, CONTACT_VECTORS = 3 };

void eb_al_solve_clear(eb_al_solve *cr) {
  double *all[] = {cr->x,  cr->Ax,  cr->r,  cr->z,  cr->p, cr->Kp,
                   cr->Kz, cr->CKp, cr->Hx, cr->Hp, cr->Hz};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  *cr = (eb_al_solve){0};
}

eb_error eb_al_solve_reserve(eb_al_solve *cr, int64_t n, int64_t m) {
  EB_ASSERT(n >= 0 && m >= 0);
  if (cr->Hz && cr->n == n && m <= cr->room) return EB_OK;
  eb_al_solve_clear(cr);
  double **main_vector[MAIN_VECTORS] = {&cr->x, &cr->Ax, &cr->r,  &cr->z,
                                        &cr->p, &cr->Kp, &cr->Kz, &cr->CKp};
  double **of_contacts[CONTACT_VECTORS] = {&cr->Hx, &cr->Hp, &cr->Hz};
  int64_t room = m + m / 2 + 16;
  for (int i = 0; i < MAIN_VECTORS; i++) EB_TRY(EB_NEW(*main_vector[i], n));
  for (int i = 0; i < CONTACT_VECTORS; i++) EB_TRY(EB_NEW(*of_contacts[i], room));
  cr->n = n;
  cr->room = room;
  return EB_OK;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Where a piece of the rows begins. */
static int64_t piece_begin(const member *at, int piece) {
  return eb_al_piece(at->system->product.pieces, at->system->n, piece);
}

static void sum_piece(member *at, reduction which, int piece, const double *x, const double *y) {
  int64_t from = piece_begin(at, piece);
  at->cr->sums[which][piece] = eb_dot_piece(piece_begin(at, piece + 1) - from, x + from, y + from);
}

static double total(const member *at, reduction which) {
  return eb_pieces_sum(at->system->product.pieces, at->cr->sums[which]);
}

static void meet(member *at) {
  eb_spin_team_wait(&at->own->team);
}

/* ---- products -------------------------------------------------------------------------------- */

static inline void times3(const double M[9], const double x[3], double y[3]) {
  for (int i = 0; i < 3; i++) y[i] = M[3 * i] * x[0] + M[3 * i + 1] * x[1] + M[3 * i + 2] * x[2];
}

/* (H_k x)_k. */
static inline void contact_times(const eb_contact_problem *problem, int32_t k, const double *x,
                                 double u[3]) {
  u[0] = u[1] = u[2] = 0;
  for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++) {
    double part[3];
    times3(problem->H + 9 * (int64_t)e, x + 3 * (int64_t)problem->block[e], part);
    for (int i = 0; i < 3; i++) u[i] += part[i];
  }
}

/* f = D Hx of the own contacts. */
static void leave_forces(const member *at, const double *Hx) {
  for (int64_t k = at->own->contacts.from; k < at->own->contacts.to; k++)
    times3(at->system->D + 9 * k, Hx + 3 * k, at->system->f + 3 * k);
}

/* Kz = K z, Hz = H z, z.K z; all have come to z. */
static double multiply(member *at) {
  eb_al_solve *cr = at->cr;
  eb_al_system *system = at->system;
  for (int64_t k = at->own->contacts.from; k < at->own->contacts.to; k++)
    contact_times(system->problem, (int32_t)k, cr->z, cr->Hz + 3 * k);
  leave_forces(at, cr->Hz);
  if (at->own->leads) {
    eb_log_count(system->log, EB_COUNT_MATVECS, 1);
    eb_log_count(system->log, EB_COUNT_CONTACT_VISITS, system->problem->count);
  }
  meet(at);
  for (int piece = at->own->rows.first; piece < at->own->rows.last; piece++) {
    int64_t from = piece_begin(at, piece), to = piece_begin(at, piece + 1);
    eb_contact_product_piece(&system->product, piece, cr->z, cr->Kz);
    eb_al_gather(system, system->f, from, to, 1, cr->Kz);
    sum_piece(at, ZKZ, piece, cr->z, cr->Kz);
  }
  meet(at);
  return total(at, ZKZ);
}

/* ---- preconditioners ------------------------------------------------------------------------- */

/* One contact of a sweep on (D^-1 + H A_d^-1 H^T) s = H A_d^-1 r: its force anew from the
 * velocities z that all others leave it, s_k = (D^-1 + S_k)^-1 (H_k z + S_k s_k), and z follows at
 * once, z -= A_d^-1 H_k^T ds. Forward and back make a symmetric sweep, which a preconditioner of
 * conjugate residuals has to be. */
static inline void relax(const eb_al_system *system, int32_t k, bool first, double *z) {
  const eb_contact_problem *problem = system->problem;
  double u[3], own[3], next[3], change[3], *s = system->s + 3 * (int64_t)k;
  if (!eb_al_resists(system, k)) return;
  contact_times(problem, k, z, u);
  if (!first) {
    times3(system->schur + 9 * (int64_t)k, s, own);
    for (int i = 0; i < 3; i++) u[i] += own[i];
  }
  times3(system->inner + 9 * (int64_t)k, u, next);
  for (int i = 0; i < 3; i++) {
    change[i] = next[i] - (first ? 0 : s[i]);
    s[i] = next[i];
  }
  for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++) {
    double back[3], *at = z + 3 * (int64_t)problem->block[e];
    times3(system->G + 9 * (int64_t)e, change, back);
    for (int d = 0; d < 3; d++) at[d] -= back[d];
  }
}

/* Functions of their own in the binary too: multiply-adds are contracted alike whoever calls. */
__attribute__((noinline)) static void relax_first(const eb_al_system *system, int32_t k,
                                                  double *z) {
  relax(system, k, true, z);
}

__attribute__((noinline)) static void relax_again(const eb_al_system *system, int32_t k,
                                                  double *z) {
  relax(system, k, false, z);
}

static void sweep_alone(const eb_al_system *system, double *z) {
  const int32_t count = system->problem->count, *order = system->colours ? system->order : NULL;
  for (int32_t i = 0; i < count; i++) relax_first(system, order ? order[i] : i, z);
  for (int32_t i = count - 1; i >= 0; i--) relax_again(system, order ? order[i] : i, z);
}

/* Within a colour no contact sees another: neither order nor thread matters. */
static void sweep_colour(member *at, int32_t colour, bool first, double *z) {
  const eb_al_system *system = at->system;
  int64_t from, to;
  eb_spin_team_share(&at->own->team, system->colour[colour], system->colour[colour + 1], &from,
                     &to);
  for (int64_t i = from; i < to && first; i++) relax_first(system, system->order[i], z);
  for (int64_t i = from; i < to && !first; i++) relax_again(system, system->order[i], z);
  meet(at);
}

static void sweep(member *at, double *z) {
  const eb_al_system *system = at->system;
  if (at->own->team.size == 1 || eb_spin_team_crowded(&at->own->team) || system->colours == 0) {
    if (at->own->leads) sweep_alone(system, z);
    meet(at);
    return;
  }
  for (int32_t c = 0; c < system->colours; c++) sweep_colour(at, c, true, z);
  for (int32_t c = system->colours - 1; c >= 0; c--) sweep_colour(at, c, false, z);
}

/* z = C^-1 r; needs no more of r than the own rows, and ends when all have come. */
static void precondition(member *at, const double *r, double *z) {
  eb_al_system *system = at->system;
  const bool leads = at->own->leads;
  if (leads) eb_log_begin(system->log, EB_PHASE_PRECONDITION);
  for (int64_t i = at->own->rows.from; i < at->own->rows.to; i += 3)
    times3(system->diagonal + 3 * i, r + i, z + i);
  meet(at);
  if (system->full) {
    sweep(at, z);
    if (leads)
      eb_log_count(system->log, EB_COUNT_CONTACT_VISITS, 2 * (double)system->problem->count);
  }
  if (leads) eb_log_end(system->log, EB_PHASE_PRECONDITION);
}

/* ---- iterations ------------------------------------------------------------------------------ */

/* Copies, or clears where `from` is NULL, the own entries of contacts. */
static void set_contacts(const member *at, const double *from, double *to) {
  const eb_al_share *own = &at->own->contacts;
  for (int64_t i = 3 * own->from; i < 3 * own->to; i++) to[i] = from ? from[i] : 0;
}

static void set_rows(const member *at, const double *from, double *to) {
  const eb_al_share *own = &at->own->rows;
  for (int64_t i = own->from; i < own->to; i++) to[i] = from ? from[i] : 0;
}

static bool start(member *at, const double *g) {
  eb_al_solve *cr = at->cr;
  set_rows(at, g, cr->r);
  set_rows(at, NULL, cr->x);
  set_contacts(at, NULL, cr->Hx);
  precondition(at, cr->r, cr->z);
  eb_al_dot(at->own, cr->r, cr->r, cr->sums[SQUARE]);
  eb_al_dot(at->own, cr->r, cr->z, cr->sums[CURVATURE]);
  meet(at);
  if (!(total(at, CURVATURE) > 0)) return false;
  at->norm = eb_al_root(at->own, total(at, SQUARE), cr->r);
  at->zKz = multiply(at);
  set_rows(at, cr->z, cr->p);
  set_rows(at, cr->Kz, cr->Kp);
  set_contacts(at, cr->Hz, cr->Hp);
  return true;
}

/* A step along p; ends when all have come. False: breakdown, x is that before. */
static bool advance(member *at) {
  eb_al_solve *cr = at->cr;
  precondition(at, cr->Kp, cr->CKp);
  eb_al_dot(at->own, cr->Kp, cr->CKp, cr->sums[CURVATURE]);
  meet(at);
  double curvature = total(at, CURVATURE), alpha = at->zKz / curvature;
  if (!(curvature > 0) || !(at->zKz > 0) || !isfinite(alpha)) return false;
  for (int piece = at->own->rows.first; piece < at->own->rows.last; piece++) {
    int64_t end = piece_begin(at, piece + 1);
    for (int64_t i = piece_begin(at, piece); i < end; i++) {
      cr->x[i] += alpha * cr->p[i];
      cr->r[i] -= alpha * cr->Kp[i];
      cr->z[i] -= alpha * cr->CKp[i];
    }
    sum_piece(at, SQUARE, piece, cr->r, cr->r);
  }
  for (int64_t i = 3 * at->own->contacts.from; i < 3 * at->own->contacts.to; i++)
    cr->Hx[i] += alpha * cr->Hp[i];
  meet(at);
  at->norm = eb_al_root(at->own, total(at, SQUARE), cr->r);
  return true;
}

/* p = z + beta p, and with it K p and H p. */
static void renew(member *at) {
  eb_al_solve *cr = at->cr;
  double next = multiply(at), beta = next / at->zKz;
  at->zKz = next;
  for (int64_t i = at->own->rows.from; i < at->own->rows.to; i++) {
    cr->p[i] = cr->z[i] + beta * cr->p[i];
    cr->Kp[i] = cr->Kz[i] + beta * cr->Kp[i];
  }
  for (int64_t i = 3 * at->own->contacts.from; i < 3 * at->own->contacts.to; i++)
    cr->Hp[i] = cr->Hz[i] + beta * cr->Hp[i];
}

/* A x of the x found, K x being g - r. */
static void finish(member *at, const double *g) {
  const eb_al_share *rows = &at->own->rows;
  eb_al_solve *cr = at->cr;
  leave_forces(at, cr->Hx);
  meet(at);
  for (int64_t i = rows->from; i < rows->to; i++) cr->Ax[i] = g[i] - cr->r[i];
  eb_al_gather(at->system, at->system->f, rows->from, rows->to, -1, cr->Ax);
}

/* One iteration, of which the leader does the factorization; false where that fails. */
static bool solve_directly(member *at, const double *g) {
  const eb_al_share *rows = &at->own->rows;
  eb_al_solve *cr = at->cr;
  eb_al_system *system = at->system;
  const eb_block_matrix *A = system->problem->A;
  meet(at);
  if (at->own->leads) {
    eb_log_begin(system->log, EB_PHASE_FACTOR);
    cr->good =
        eb_al_direct_solve(&system->factor, system->problem, system->D, system->diagonal, g, cr->x);
    eb_log_end(system->log, EB_PHASE_FACTOR);
    eb_log_count(system->log, EB_COUNT_FACTORIZATIONS, 1);
    eb_log_count(system->log, EB_COUNT_CONTACT_VISITS, 2 * (double)system->problem->count);
  }
  meet(at);
  for (int64_t k = at->own->contacts.from; k < at->own->contacts.to; k++)
    contact_times(system->problem, (int32_t)k, cr->x, cr->Hx + 3 * k);
  leave_forces(at, cr->Hx);
  meet(at);
  for (int64_t i = rows->from; i < rows->to; i += 3)
    times3(A->values + 9 * (int64_t)A->diagonal[i / 3], cr->x + i, cr->Ax + i);
  for (int64_t i = rows->from; i < rows->to; i++) cr->r[i] = g[i] - cr->Ax[i];
  eb_al_gather(system, system->f, rows->from, rows->to, -1, cr->r);
  eb_al_dot(at->own, cr->r, cr->r, cr->sums[SQUARE]);
  meet(at);
  at->norm = eb_al_root(at->own, total(at, SQUARE), cr->r);
  if (at->own->leads) eb_log_residual(system->log, at->norm);
  return cr->good;
}

int64_t eb_al_solve_run(eb_al_member *own, eb_al_solve *cr, const double *g, double target,
                        int64_t most) {
  EB_ASSERT(target >= 0 && most >= 0);
  member at = {.own = own, .system = own->system, .cr = cr};
  const bool direct = own->system->direct;
  int64_t iterations = direct && solve_directly(&at, g);
  bool good = !direct && start(&at, g);
  while (good && at.norm > target && iterations < most) {
    if (iterations > 0) renew(&at);
    good = advance(&at);
    iterations += good;
    if (own->leads && good) eb_log_residual(at.system->log, at.norm);
  }
  if (!direct) finish(&at, g);
  if (own->leads) cr->norm = at.norm;
  return iterations;
}
