/* The regularized contact law and the system of a Newton step on it: see al_system.h for the
 * formulas, al_solve.c for what is solved with it.
 *
 * Needs: diagonal blocks of A positive definite.
 * Workspace: nine numbers a row, some thirty and eleven an entry a contact.
 * Fails: begin says which block is not positive definite. */
#include "solvers/contact/al_system.h"

#include <math.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"

/* ---- the law --------------------------------------------------------------------------------- */

/* r^_t - u_t / E, and its length. */
static double tangential(const eb_al_law *law, int32_t k, const double u[3], double z[2]) {
  const double *anchor = law->anchor + 3 * (int64_t)k;
  for (int i = 0; i < 2; i++) z[i] = anchor[1 + i] - u[1 + i] / law->compliance[k];
  return sqrt(z[0] * z[0] + z[1] * z[1]);
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

static void transpose3(const double A[9], double out[9]) {
  for (int i = 0; i < 9; i++) out[i] = A[3 * (i % 3) + i / 3];
}

/* ---- memory ---------------------------------------------------------------------------------- */

eb_error eb_al_system_create(const eb_block_matrix *pattern, bool full, int threads,
                             eb_al_system *out) {
  EB_ASSERT(threads > 0);
  const int32_t rows = pattern->rows;
  *out = (eb_al_system){.n = 3 * (int64_t)rows, .full = full, .threads = threads};
  EB_TRY(eb_contact_product_create(pattern, &out->product));
  EB_TRY(EB_NEW(out->diagonal, 9 * (int64_t)rows));
  EB_TRY(EB_NEW(out->row_start, (int64_t)rows + 1));
  EB_TRY(EB_NEW(out->row_colours, rows));
  EB_TRY(eb_al_direct_create(rows, &out->factor));
  return eb_spin_team_create(threads, &out->team);
}

static void clear_contacts(eb_al_system *system) {
  void *all[] = {system->schur,     system->D,          system->inner, system->s,
                 system->f,         system->G,          system->order, system->stale,
                 system->row_entry, system->row_contact};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  system->schur = system->D = system->inner = system->s = system->f = system->G = NULL;
  system->order = system->row_entry = system->row_contact = NULL;
  system->stale = NULL;
  free(system->colour_of);
  system->colour_of = NULL;
}

void eb_al_system_clear(eb_al_system *system) {
  clear_contacts(system);
  eb_contact_product_clear(&system->product);
  free(system->diagonal);
  free(system->row_start);
  free(system->row_colours);
  eb_al_direct_clear(&system->factor);
  eb_spin_team_destroy(system->team);
  *system = (eb_al_system){0};
}

static eb_error reserve(eb_al_system *system, int64_t count) {
  if (system->colour_of && count <= system->room) return EB_OK;
  clear_contacts(system);
  int64_t room = count + count / 2 + 16;
  EB_TRY(EB_NEW(system->schur, 9 * room));
  EB_TRY(EB_NEW(system->D, 9 * room));
  EB_TRY(EB_NEW(system->stale, room));
  EB_TRY(EB_NEW(system->inner, 9 * room));
  EB_TRY(EB_NEW(system->s, 3 * room));
  EB_TRY(EB_NEW(system->f, 3 * room));
  EB_TRY(EB_NEW(system->G, 9 * EB_CONTACT_ENTRIES * room));
  EB_TRY(EB_NEW(system->row_entry, EB_CONTACT_ENTRIES * room));
  EB_TRY(EB_NEW(system->row_contact, EB_CONTACT_ENTRIES * room));
  EB_TRY(EB_NEW(system->order, room));
  EB_TRY(EB_NEW(system->colour_of, room));
  system->room = room;
  return EB_OK;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

/* Diagonal blocks are far from each other: so many rows ahead they are fetched. */
enum { AHEAD = 8 };

/* The blocks of diag do not outlive a linearization: those of K take their place. */
static eb_error invert_diagonal(eb_al_system *system, const eb_contact_problem *problem) {
  const eb_block_matrix *A = problem->A;
  if (system->full && problem->matrix && problem->matrix == system->matrix) return EB_OK;
  system->matrix = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    const double *ahead = A->values + 9 * (int64_t)A->diagonal[i + AHEAD < A->rows ? i + AHEAD : i];
    __builtin_prefetch(ahead);
    __builtin_prefetch(ahead + 8);
    if (!(invert3(A->values + 9 * (int64_t)A->diagonal[i], system->diagonal + 9 * (int64_t)i) > 0))
      return EB_ERROR(
          EB_ERR_INVALID,
          "the diagonal block of row %d of the contact problem's matrix is not positive definite",
          i);
  }
  system->matrix = problem->matrix;
  return EB_OK;
}

/* The entries of each row in the order of their contacts, which is the order of sums there. */
static void sort_entries_by_row(eb_al_system *system) {
  const eb_contact_problem *problem = system->problem;
  int32_t *start = system->row_start, rows = problem->A->rows;
  memset(start, 0, ((size_t)rows + 1) * sizeof *start);
  for (int32_t e = 0; e < problem->start[problem->count]; e++) start[problem->block[e]]++;
  for (int32_t i = 0; i < rows; i++) start[i + 1] += start[i];
  for (int32_t k = problem->count - 1; k >= 0; k--)
    for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++) {
      int32_t at = --start[problem->block[e]];
      system->row_entry[at] = e;
      system->row_contact[at] = k;
    }
}

/* With fewer contacts a colour, on average, a sweep is made in the order of the contacts, by one
 * thread: colours of few come of bodies that many contacts act on, as in a stack, through which a
 * sweep in that order carries forces farther. */
enum { WIDE = 16 };

/* Each contact in turn gets the lowest colour that none of those before it has that share a row
 * with it; within a colour they keep their order. */
static void sort_by_colour(eb_al_system *system) {
  const eb_contact_problem *problem = system->problem;
  int32_t *start = system->colour, next[EB_AL_COLOURS];
  memset(system->row_colours, 0, (size_t)problem->A->rows * sizeof *system->row_colours);
  memset(start, 0, sizeof system->colour);
  system->colours = 0;
  for (int32_t k = 0; k < problem->count; k++) {
    uint64_t taken = 0;
    int colour = 0;
    for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++)
      taken |= system->row_colours[problem->block[e]];
    if (taken == UINT64_MAX) {
      system->colours = 0;
      return;
    }
    while (taken >> colour & 1) colour++;
    for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++)
      system->row_colours[problem->block[e]] |= UINT64_C(1) << colour;
    system->colour_of[k] = (uint8_t)colour;
    start[colour + 1]++;
    if (colour + 1 > system->colours) system->colours = colour + 1;
  }
  for (int c = 0; c < EB_AL_COLOURS; c++) start[c + 1] += start[c];
  memcpy(next, start, sizeof next);
  for (int32_t k = 0; k < problem->count; k++) system->order[next[system->colour_of[k]]++] = k;
  if (problem->count < WIDE * (int64_t)system->colours) system->colours = 0;
}

static bool has_diagonal_blocks_alone(const eb_block_matrix *A) {
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t at = A->start[i]; at < A->start[i + 1]; at++)
      for (int d = 0; d < 9 && at != A->diagonal[i]; d++)
        if (A->values[9 * (int64_t)at + d] != 0) return false;
  return true;
}

eb_error eb_al_system_begin(eb_al_system *system, const eb_contact_problem *problem) {
  EB_ASSERT(system->n == 3 * (int64_t)problem->A->rows);
  system->problem = problem;
  system->m = 3 * (int64_t)problem->count;
  system->contact_pieces = eb_pieces_of(system->m);
  EB_TRY(reserve(system, problem->count));
  EB_TRY(invert_diagonal(system, problem));
  eb_contact_product_set(&system->product, problem);
  sort_entries_by_row(system);
  system->rigid = has_diagonal_blocks_alone(problem->A);
  system->direct = false;
  if (system->rigid && system->full)
    EB_TRY(eb_al_direct_begin(&system->factor, problem, &system->direct));
  if (system->full && !system->direct) sort_by_colour(system);
  return EB_OK;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* With fewer blocks of A an iteration is over before a team is awake. */
enum { PARALLEL_BLOCKS = 10000 };

int eb_al_team(eb_al_system *system) {
  const eb_block_matrix *A = system->problem->A;
  if (system->threads < 2 || A->start[A->rows] < PARALLEL_BLOCKS) return 1;
  eb_spin_team_begin(system->team);
  return system->threads;
}

static eb_al_share share_of(const eb_symmetric *half, const eb_spin_member *team, eb_pieces pieces,
                            int64_t n) {
  eb_al_share share;
  eb_symmetric_share(half, team, pieces, &share.first, &share.last);
  share.from = eb_al_piece(pieces, n, share.first);
  share.to = eb_al_piece(pieces, n, share.last);
  return share;
}

eb_al_member eb_al_join(eb_al_system *system) {
  eb_al_member own = {.team = eb_spin_team_join(system->team), .system = system};
  own.rows = share_of(system->product.half, &own.team, system->product.pieces, system->n);
  own.contacts = share_of(NULL, &own.team, system->contact_pieces, system->m);
  own.contacts.from /= 3;
  own.contacts.to /= 3;
  own.leads = own.team.thread == 0;
  return own;
}

void eb_al_dot(const eb_al_member *own, const double *x, const double *y, double *sums) {
  const eb_al_system *system = own->system;
  for (int piece = own->rows.first; piece < own->rows.last; piece++) {
    int64_t from = eb_al_piece(system->product.pieces, system->n, piece),
            to = eb_al_piece(system->product.pieces, system->n, piece + 1);
    sums[piece] = eb_dot_piece(to - from, x + from, y + from);
  }
}

/* What the rare second look reads must not change under it. */
double eb_al_root(eb_al_member *own, double square, const double *x) {
  const double norm = eb_norm_from(square, own->system->n, x);
  if (norm != sqrt(square)) eb_spin_team_wait(&own->team);
  return norm;
}

/* Rows have their entries in the order of their contacts. */
void eb_al_gather(const eb_al_system *system, const double *f, int64_t from, int64_t to,
                  double sign, double *y) {
  EB_ASSERT(from % 3 == 0 && to % 3 == 0 && to <= system->n);
  for (int32_t at = system->row_start[from / 3]; at < system->row_start[to / 3]; at++) {
    int32_t e = system->row_entry[at];
    const double *H = system->problem->H + 9 * (int64_t)e,
                 *force = f + 3 * (int64_t)system->row_contact[at];
    double *sum = y + 3 * (int64_t)system->problem->block[e];
    for (int d = 0; d < 3; d++)
      sum[d] += sign * (H[d] * force[0] + H[3 + d] * force[1] + H[6 + d] * force[2]);
  }
}

/* ---- linearization --------------------------------------------------------------------------- */

/* G_e = A_d^-1 H_e^T, S_k = sum of H_e G_e. */
void eb_al_system_prepare(eb_al_member *own) {
  eb_al_system *system = own->system;
  const eb_contact_problem *problem = system->problem;
  for (int64_t k = own->contacts.from; k < own->contacts.to; k++) {
    double *S = system->schur + 9 * k;
    memset(S, 0, 9 * sizeof *S);
    for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++) {
      const double *H = problem->H + 9 * (int64_t)e;
      double *G = system->G + 9 * (int64_t)e, transposed[9], product[9];
      transpose3(H, transposed);
      eb_multiply3(system->diagonal + 9 * (int64_t)problem->block[e], transposed, G);
      eb_multiply3(H, G, product);
      for (int i = 0; i < 9; i++) S[i] += product[i];
    }
    for (int i = 0; i < 9; i++) system->D[9 * k + i] = NAN; /* differs from any */
  }
}

/* The block that a sweep of the preconditioner solves for one contact, without D^-1, which an open
 * contact or a sliding one does not have: (D^-1 + S_kk)^-1 = D (1 + S_kk D)^-1. The matrix in
 * brackets is regular, as S D has no negative eigenvalues. */
static void invert_contact(eb_al_system *system, int32_t k) {
  const double *D = system->D + 9 * (int64_t)k;
  double SD[9], inverse[9];
  if (!eb_al_resists(system, k)) return;
  eb_multiply3(system->schur + 9 * (int64_t)k, D, SD);
  for (int i = 0; i < 9; i++) SD[i] += i % 4 == 0;
  invert3(SD, inverse);
  eb_multiply3(D, inverse, system->inner + 9 * (int64_t)k);
}

/* Preconditioner diag: the diagonal blocks of K = A + H^T D H, inverted. The paper's Diag (Section
 * 3.4) has diag(A) and the diagonal of S beside each other; with the multipliers eliminated their
 * place is in K, and blocks keep the coupling of a node's three directions, which a contact at an
 * angle has. */
static void invert_row(eb_al_system *system, int32_t i) {
  const eb_contact_problem *problem = system->problem;
  double K[9];
  memcpy(K, problem->A->values + 9 * (int64_t)problem->A->diagonal[i], sizeof K);
  for (int32_t at = system->row_start[i]; at < system->row_start[i + 1]; at++) {
    const double *H = problem->H + 9 * (int64_t)system->row_entry[at];
    double DH[9], transposed[9], product[9];
    eb_multiply3(system->D + 9 * (int64_t)system->row_contact[at], H, DH);
    transpose3(H, transposed);
    eb_multiply3(transposed, DH, product);
    for (int d = 0; d < 9; d++) K[d] += product[d];
  }
  invert3(K, system->diagonal + 9 * (int64_t)i);
}

/* From one Newton step to the next most contacts stay as they are, those that stick and those that
 * are open: what the preconditioner has of them stays too. */
void eb_al_system_linearize(eb_al_member *own, const eb_al_law *law, const double *u) {
  eb_al_system *system = own->system;
  for (int64_t k = own->contacts.from; k < own->contacts.to; k++) {
    double before[9], *D = system->D + 9 * k;
    memcpy(before, D, sizeof before);
    if (law)
      eb_al_stiffness(law, (int32_t)k, u + 3 * k, D);
    else
      memset(D, 0, sizeof before);
    system->stale[k] = memcmp(before, D, sizeof before) != 0;
  }
  if (own->leads) eb_log_begin(system->log, EB_PHASE_FACTOR);
  for (int64_t k = own->contacts.from; k < own->contacts.to && system->full; k++)
    if (system->stale[k]) invert_contact(system, (int32_t)k);
  if (!system->full) {
    eb_spin_team_wait(&own->team);
    for (int64_t i = own->rows.from; i < own->rows.to; i += 3) invert_row(system, (int32_t)(i / 3));
  }
  if (own->leads) eb_log_end(system->log, EB_PHASE_FACTOR);
}
