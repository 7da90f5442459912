/* Iterative Constraint Anticipation: the contacts of an iteration; see ica.c. */
#include <math.h>
#include <string.h>

#include "problems/base/vector3.h"
#include "solvers/contact/delassus.h"
#include "solvers/contact/ica_data.h"

static const double raise =
    1e-12; /* of the diagonal of W over its largest entry: rows may be parallel */
static const double inner_reduction = 0.1; /* of the change of the first sweep over the contacts */
static const double inner_floor = 0.1;     /* of eps2: changes below it need no further sweep */

typedef enum contact_state { APART, STICKS, SLIDES } contact_state;

/* ---- set-up ---- */

static void find_touched(eb_ica *s, const eb_contact_problem *p) {
  memset(s->is_touched, 0, (size_t)s->rows * sizeof *s->is_touched);
  for (int32_t e = 0; e < p->start[p->count]; e++) s->is_touched[p->block[e]] = 1;
  s->touched_count = 0;
  for (int32_t i = 0; i < s->rows; i++)
    if (s->is_touched[i]) s->touched[s->touched_count++] = i;
}

/* D^-1 H^T of every entry, and W = H D^-1 H^T of every contact alone. */
static void respond(eb_ica *s, const eb_contact_problem *p) {
  for (int32_t k = 0; k < p->count; k++) {
    double *W = s->W + 9 * (int64_t)k;
    memset(W, 0, 9 * sizeof *W);
    for (int32_t e = p->start[k]; e < p->start[k + 1]; e++) {
      const double *H = p->H + 9 * (int64_t)e;
      const double *inverse = s->D_inverse + 9 * (int64_t)p->block[e];
      double *response = s->response + 9 * (int64_t)e;
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) response[3 * i + j] = eb_dot3(inverse + 3 * i, H + 3 * j);
      for (int i = 0; i < 9; i++)
        for (int d = 0; d < 3; d++) W[i] += H[3 * (i / 3) + d] * response[3 * d + i % 3];
    }
    double largest = fmax(W[0], fmax(W[4], W[8]));
    for (int i = 0; i < 9; i += 4) W[i] += raise * largest;
  }
}

/* Brings the states up to date; true when one has changed. */
static bool read_states(eb_ica *s, const eb_ica_run *run) {
  const double inside = 1 - 1e-6; /* as in eb_contact_measure */
  bool changed = false;
  for (int32_t k = 0; k < run->problem->count; k++) {
    const double *r = run->r + 3 * (int64_t)k;
    bool sticks = hypot(r[1], r[2]) < inside * run->problem->mu[k] * r[0];
    uint8_t now = !(r[0] > 0) ? APART : sticks ? STICKS : SLIDES;
    changed |= now != s->state[k];
    s->state[k] = now;
  }
  return changed;
}

void eb_ica_begin_contacts(eb_ica *s, const eb_ica_run *run) {
  find_touched(s, run->problem);
  respond(s, run->problem);
  read_states(s, run);
}

/* ---- an iteration ---- */

/* Solves a contact that has r and moves by u; with the raised W, q follows from them so that the solution is that of the W that is meant. */
static void solve_contact(const double W[9], const double u[3], double mu, double r[3],
                          double change[3]) {
  double q[3], next[3] = {0};
  eb_turn3(W, r, q);
  for (int i = 0; i < 3; i++) q[i] = u[i] - q[i];
  if (W[0] > 0) eb_contact_solve_local(W, q, mu, next);
  for (int i = 0; i < 3; i++) change[i] = next[i] - r[i];
  memcpy(r, next, sizeof next);
}

/* Solves contact k for the others as they are; returns how far that moves it, m. */
static double visit(eb_ica *s, const eb_ica_run *run, int32_t k) {
  const eb_contact_problem *p = run->problem;
  double u[3], change[3], moved[3];
  for (int i = 0; i < 3; i++) u[i] = -p->c[3 * (int64_t)k + i];
  for (int32_t e = p->start[k]; e < p->start[k + 1]; e++) {
    const double *H = p->H + 9 * (int64_t)e, *w = s->w + 3 * (int64_t)p->block[e];
    for (int i = 0; i < 3; i++) u[i] += eb_dot3(H + 3 * i, w);
  }
  solve_contact(s->W + 9 * (int64_t)k, u, p->mu[k], run->r + 3 * (int64_t)k, change);
  if (change[0] == 0 && change[1] == 0 && change[2] == 0) return 0;
  for (int32_t e = p->start[k]; e < p->start[k + 1]; e++) {
    const double *response = s->response + 9 * (int64_t)e;
    double *w = s->w + 3 * (int64_t)p->block[e];
    for (int i = 0; i < 3; i++) w[i] += eb_dot3(response + 3 * i, change);
  }
  eb_turn3(s->W + 9 * (int64_t)k, change, moved);
  return sqrt(eb_dot3(moved, moved));
}

/* Sweeps over the contacts until they hardly move. */
static void solve_contacts(eb_ica *s, const eb_ica_run *run) {
  double enough = inner_floor * run->tolerance->eps2;
  for (int64_t sweep = 0; sweep < s->inner_sweeps; sweep++) {
    double largest = 0;
    for (int32_t k = 0; k < run->problem->count; k++) largest = fmax(largest, visit(s, run, k));
    if (!sweep) enough = fmax(enough, inner_reduction * largest);
    if (!(largest > enough)) break;
  }
}

/* y += share (x - y). */
static void blend(double share, int64_t n, const double *x, double *y) {
  for (int64_t k = 0; k < n; k++) y[k] = share < 1 ? y[k] + share * (x[k] - y[k]) : x[k];
}

void eb_ica_anticipate(eb_ica *s, const eb_ica_run *run) {
  const eb_contact_problem *p = run->problem;
  const eb_block_matrix *A = p->A;
  size_t m = 3 * (size_t)p->count;
  if (!p->count) return;
  for (int32_t t = 0; t < s->touched_count; t++) {
    int64_t i = s->touched[t];
    eb_turn3(s->D_inverse + 9 * i, s->R + 3 * i, s->w + 3 * i);
    eb_add3(1, run->v + 3 * i, s->w + 3 * i);
  }
  memcpy(s->before, run->r, m * sizeof *run->r);
  solve_contacts(s, run);
  blend(s->share, (int64_t)m, run->r, s->before);
  memcpy(run->r, s->before, m * sizeof *run->r);
  run->outcome->state_changes += read_states(s, run);
  for (int32_t t = 0; t < s->touched_count; t++) {
    int64_t i = s->touched[t];
    double dv[3], R[3];
    for (int d = 0; d < 3; d++) dv[d] = s->w[3 * i + d] - run->v[3 * i + d];
    eb_turn3(A->values + 9 * (int64_t)A->diagonal[i], dv, R);
    blend(s->share, 3, R, s->R + 3 * i);
  }
}
