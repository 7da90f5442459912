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
 * Threads: each has some of the rows, in whole pieces of the sums, and some of the contacts. In a
 * product contacts leave their forces, and rows gather them; the sweep goes by levels
 * (al_system.c). Whatever their number, each sum is one sum in one order.
 *
 * Needs: a system that is linearized.
 * Workspace: eleven vectors.
 * Fails: ends with fewer iterations on a breakdown. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/contact/al_system.h"

/* With fewer blocks of A an iteration is over before a team is awake; with fewer contacts a level,
 * on average, one thread sweeps alone. */
enum { PARALLEL_BLOCKS = 10000, WIDE = 16 };

typedef enum reduction { SQUARE, CURVATURE, ZKZ } reduction;

/* One thread's part in a solve. */
typedef struct member {
  eb_spin_member team;
  eb_al_system *system;
  eb_al_solve *cr;
  int first, last;           /* its pieces are first .. last-1, */
  int64_t from, to;          /* their entries from .. to-1, */
  int64_t contact, contacts; /* its contacts contact .. contacts-1 */
  bool leads;                /* logs */
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
  cr->pieces = eb_pieces_of(n);
  return EB_OK;
}

/* ---- shares and sums ------------------------------------------------------------------------- */

static int64_t piece_begin(const eb_al_solve *cr, int piece) {
  int64_t begin = piece * cr->pieces.length;
  return begin < cr->n ? begin : cr->n;
}

static member join(eb_al_solve *cr, eb_al_system *system) {
  member own = {.team = eb_spin_team_join(system->team), .system = system, .cr = cr};
  int64_t first, last;
  eb_spin_team_share(&own.team, 0, cr->pieces.count, &first, &last);
  own.first = (int)first;
  own.last = (int)last;
  own.from = piece_begin(cr, own.first);
  own.to = piece_begin(cr, own.last);
  eb_spin_team_share(&own.team, 0, system->problem->count, &own.contact, &own.contacts);
  own.leads = own.team.thread == 0;
  return own;
}

static void sum_piece(eb_al_solve *cr, reduction which, int piece, const double *x,
                      const double *y) {
  int64_t from = piece_begin(cr, piece);
  cr->sums[which][piece] = eb_dot_piece(piece_begin(cr, piece + 1) - from, x + from, y + from);
}

static double total(const eb_al_solve *cr, reduction which) {
  return eb_pieces_sum(cr->pieces, cr->sums[which]);
}

/* x.y, once all have come. */
static double dot(member *own, reduction which, const double *x, const double *y) {
  for (int piece = own->first; piece < own->last; piece++) sum_piece(own->cr, which, piece, x, y);
  eb_spin_team_wait(&own->team);
  return total(own->cr, which);
}

/* |r| from the sums of its pieces. What the rare second look reads must not change under it. */
static double norm_of_residual(member *own) {
  const double square = total(own->cr, SQUARE), norm = eb_norm_from(square, own->cr->n, own->cr->r);
  if (norm != sqrt(square)) eb_spin_team_wait(&own->team);
  return norm;
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
static void leave_forces(const member *own, const double *Hx) {
  for (int64_t k = own->contact; k < own->contacts; k++)
    times3(own->system->D + 9 * k, Hx + 3 * k, own->system->f + 3 * k);
}

/* y += sign H^T f in the rows of the entries from .. to-1. */
static void gather_forces(const eb_al_system *system, int64_t from, int64_t to, double sign,
                          double *y) {
  for (int32_t at = system->row_start[from / 3]; at < system->row_start[to / 3]; at++) {
    int32_t e = system->row_entry[at];
    const double *H = system->problem->H + 9 * (int64_t)e,
                 *f = system->f + 3 * (int64_t)system->row_contact[at];
    double *sum = y + 3 * (int64_t)system->problem->block[e];
    for (int d = 0; d < 3; d++) sum[d] += sign * (H[d] * f[0] + H[3 + d] * f[1] + H[6 + d] * f[2]);
  }
}

/* Kz = K z, Hz = H z, z.K z; all have come to z. */
static double multiply(member *own) {
  eb_al_solve *cr = own->cr;
  eb_al_system *system = own->system;
  for (int64_t k = own->contact; k < own->contacts; k++)
    contact_times(system->problem, (int32_t)k, cr->z, cr->Hz + 3 * k);
  leave_forces(own, cr->Hz);
  if (own->leads) {
    eb_log_count(system->log, EB_COUNT_MATVECS, 1);
    eb_log_count(system->log, EB_COUNT_CONTACT_VISITS, system->problem->count);
  }
  eb_spin_team_wait(&own->team);
  for (int piece = own->first; piece < own->last; piece++) {
    int64_t from = piece_begin(cr, piece), to = piece_begin(cr, piece + 1);
    eb_block_multiply_rows(system->problem->A, (int32_t)(from / 3), (int32_t)(to / 3), cr->z,
                           cr->Kz);
    gather_forces(system, from, to, 1, cr->Kz);
    sum_piece(cr, ZKZ, piece, cr->z, cr->Kz);
  }
  eb_spin_team_wait(&own->team);
  return total(cr, ZKZ);
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
  for (int32_t k = 0; k < system->problem->count; k++) relax_first(system, k, z);
  for (int32_t k = system->problem->count - 1; k >= 0; k--) relax_again(system, k, z);
}

/* Contacts that share a row are in different levels, the later one in the higher: going down the
 * levels is going back. */
static void sweep_level(member *own, int32_t level, bool first, double *z) {
  const eb_al_system *system = own->system;
  int64_t from, to;
  eb_spin_team_share(&own->team, system->level[level], system->level[level + 1], &from, &to);
  for (int64_t at = from; at < to && first; at++) relax_first(system, system->order[at], z);
  for (int64_t at = from; at < to && !first; at++) relax_again(system, system->order[at], z);
  eb_spin_team_wait(&own->team);
}

static void sweep(member *own, double *z) {
  const eb_al_system *system = own->system;
  bool alone = own->team.size == 1 || eb_spin_team_crowded(&own->team) ||
               system->problem->count < WIDE * (int64_t)system->levels;
  if (alone) {
    if (own->leads) sweep_alone(system, z);
    eb_spin_team_wait(&own->team);
    return;
  }
  for (int32_t l = 0; l < system->levels; l++) sweep_level(own, l, true, z);
  for (int32_t l = system->levels - 1; l >= 0; l--) sweep_level(own, l, false, z);
}

/* z = C^-1 r; needs no more of r than the own rows, and ends when all have come. */
static void precondition(member *own, const double *r, double *z) {
  eb_al_system *system = own->system;
  if (own->leads) eb_log_begin(system->log, EB_PHASE_PRECONDITION);
  for (int64_t i = own->from; i < own->to; i += 3) times3(system->diagonal + 3 * i, r + i, z + i);
  eb_spin_team_wait(&own->team);
  if (system->full) {
    sweep(own, z);
    if (own->leads)
      eb_log_count(system->log, EB_COUNT_CONTACT_VISITS, 2 * (double)system->problem->count);
  }
  if (own->leads) eb_log_end(system->log, EB_PHASE_PRECONDITION);
}

/* ---- iterations ------------------------------------------------------------------------------ */

static bool start(member *own, const double *g) {
  eb_al_solve *cr = own->cr;
  size_t bytes = (size_t)(own->to - own->from) * sizeof(double),
         of_contacts = 3 * (size_t)(own->contacts - own->contact) * sizeof(double);
  memcpy(cr->r + own->from, g + own->from, bytes);
  memset(cr->x + own->from, 0, bytes);
  if (of_contacts) memset(cr->Hx + 3 * own->contact, 0, of_contacts);
  precondition(own, cr->r, cr->z);
  for (int piece = own->first; piece < own->last; piece++)
    sum_piece(cr, SQUARE, piece, cr->r, cr->r);
  if (!(dot(own, CURVATURE, cr->r, cr->z) > 0)) return false;
  own->norm = norm_of_residual(own);
  own->zKz = multiply(own);
  memcpy(cr->p + own->from, cr->z + own->from, bytes);
  memcpy(cr->Kp + own->from, cr->Kz + own->from, bytes);
  if (of_contacts) memcpy(cr->Hp + 3 * own->contact, cr->Hz + 3 * own->contact, of_contacts);
  return true;
}

/* A step along p; ends when all have come. False: breakdown, x is that before. */
static bool advance(member *own) {
  eb_al_solve *cr = own->cr;
  precondition(own, cr->Kp, cr->CKp);
  double curvature = dot(own, CURVATURE, cr->Kp, cr->CKp), alpha = own->zKz / curvature;
  if (!(curvature > 0) || !(own->zKz > 0) || !isfinite(alpha)) return false;
  for (int piece = own->first; piece < own->last; piece++) {
    int64_t end = piece_begin(cr, piece + 1);
    for (int64_t i = piece_begin(cr, piece); i < end; i++) {
      cr->x[i] += alpha * cr->p[i];
      cr->r[i] -= alpha * cr->Kp[i];
      cr->z[i] -= alpha * cr->CKp[i];
    }
    sum_piece(cr, SQUARE, piece, cr->r, cr->r);
  }
  for (int64_t i = 3 * own->contact; i < 3 * own->contacts; i++) cr->Hx[i] += alpha * cr->Hp[i];
  eb_spin_team_wait(&own->team);
  own->norm = norm_of_residual(own);
  return true;
}

/* p = z + beta p, and with it K p and H p. */
static void renew(member *own) {
  eb_al_solve *cr = own->cr;
  double next = multiply(own), beta = next / own->zKz;
  own->zKz = next;
  for (int64_t i = own->from; i < own->to; i++) {
    cr->p[i] = cr->z[i] + beta * cr->p[i];
    cr->Kp[i] = cr->Kz[i] + beta * cr->Kp[i];
  }
  for (int64_t i = 3 * own->contact; i < 3 * own->contacts; i++)
    cr->Hp[i] = cr->Hz[i] + beta * cr->Hp[i];
}

/* A x of the x found, K x being g - r. */
static void finish(member *own, const double *g) {
  eb_al_solve *cr = own->cr;
  leave_forces(own, cr->Hx);
  eb_spin_team_wait(&own->team);
  for (int64_t i = own->from; i < own->to; i++) cr->Ax[i] = g[i] - cr->r[i];
  gather_forces(own->system, own->from, own->to, -1, cr->Ax);
}

static int64_t iterate(member *own, const double *g, double target, int64_t most) {
  int64_t iterations = 0;
  bool good = start(own, g);
  while (good && own->norm > target && iterations < most) {
    if (iterations > 0) renew(own);
    good = advance(own);
    iterations += good;
    if (own->leads && good) eb_log_residual(own->system->log, own->norm);
  }
  finish(own, g);
  return iterations;
}

int64_t eb_al_solve_run(eb_al_solve *cr, eb_al_system *system, const double *g, double target,
                        int64_t most) {
  const eb_block_matrix *A = system->problem->A;
  int64_t iterations = 0;
  eb_spin_team_begin(system->team);
#pragma omp parallel num_threads(system->threads) if (A->start[A->rows] >= PARALLEL_BLOCKS)
  {
    member own = join(cr, system);
    int64_t done = iterate(&own, g, target, most);
    if (own.leads) {
      iterations = done;
      cr->norm = own.norm;
    }
  }
  return iterations;
}
