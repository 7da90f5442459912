/* Which constraints a step has: carried over from the last one, found by collisions, renewed where the bodies have moved on.
 *
 * Verschoor and Jalba 2019, Sections 3.3 and 5.2. A motion is accepted when nothing collides on its way, no pair ends up closer than a part of what it has to keep,
 * and every force acts between features that are where it was linearized. A constraint is linearized
 *   - at the time of the hit when its features collide,
 *   - at the end of the motion when they come too close, or when the contact has slid off them and a force acts across the air.
 * A constraint that has been renewed often enough stays as it is, and further hits of its pair add constraints: so rounds end. When
 * nothing hits and a round goes on anyway, vertices that are close to a face get their constraint at once. */
#include <math.h>

#include "problems/base/vector3.h"
#include "solvers/contact/step_data.h"

/* Forces across the air are let go in the first rounds, normals of other trials renewed in more: both may bring about others like them. */
enum { MOST_CHANGES = 10, ROUNDS_OF_LETTING_GO = 6, ROUNDS_OF_TURNING = 20 };
/* Closer than this part of what a pair has to keep is too close. */
static const double too_close = 0.25;
/* A force at a pair that is so many gaps farther apart than it has to be acts across the air. */
static const double air = 1;
/* Pairs within so many gaps are worth a constraint while they carry a force, and without one. */
static const double close_loaded = 2, close_empty = 1.2;

static double distance_of(const eb_pair *pair, const double x[4][3]) {
  double weight[4];
  return eb_closest_points((eb_pair_kind)pair->kind, x, weight);
}

/* ---- single constraints ---- */

/* Between the start (0) and the end (1) of the motion. */
static void points_at(const eb_contact_step *step, const eb_pair *pair, double time,
                      double x[4][3]) {
  double end[4][3];
  eb_pair_points(pair, step->surface.x0, x);
  eb_pair_points(pair, step->surface.x, end);
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) x[i][d] += time * (end[i][d] - x[i][d]);
}

/* Returns how far apart the pair is at the start along the normal, m. Where that is positive, standing still keeps the constraint: a set of such constraints never
 * contradicts itself by more than what is asked beyond it, so what is asked follows from it. */
static double linearize(const eb_contact_step *step, eb_constraint *constraint, double time,
                        bool touching) {
  double x0[4][3], x[4][3], apart = 0;
  eb_pair_points(&constraint->pair, step->surface.x0, x0);
  points_at(step, &constraint->pair, time, x);
  eb_constraint_linearize(constraint, (eb_points)x0, (eb_points)x, touching);
  for (int i = 0; i < 4; i++) apart += constraint->weight[i] * eb_dot3(constraint->frame, x0[i]);
  constraint->demand = eb_constraint_demand(apart, step->gap);
  return apart;
}

/* Whether the normal of a constraint leads out of its second body and into its first. Where a motion has gone through a body, also the places where it leaves it are
 * found, with the opposite normal: no constraint that both can keep. Surfaces seen from their back (open ones have no inside) pass. */
static bool leads_outward(const eb_contact_step *step, const eb_constraint *constraint) {
  static const double inside =
      -0.5; /* 2: straight out of one and into the other; -2: the reverse */
  const double *n = constraint->frame;
  int first = constraint->pair.kind == EB_VERTEX_FACE ? 1 : 2;
  double outward = 0;
  for (int i = 0; i < 4; i++) {
    const double *normal = step->surface.normal + 3 * (int64_t)constraint->pair.vertex[i];
    outward += (i < first ? -1 : 1) * fabs(constraint->weight[i]) * eb_dot3(n, normal);
  }
  return outward > inside;
}

/* Whether the constraint that the pair would have at that time does, and leaves the pair on the side where it is at the start: another motion may pass on the other side. */
static bool would_hold(const eb_contact_step *step, const eb_pair *pair, double time,
                       bool touching) {
  eb_constraint constraint = {.pair = *pair};
  return linearize(step, &constraint, time, touching) > 0 && leads_outward(step, &constraint);
}

static eb_error add(eb_contact_step *step, const eb_pair *pair, double time, bool touching) {
  eb_constraint constraint = {.pair = *pair};
  linearize(step, &constraint, time, touching);
  EB_TRY(eb_constraints_append(&step->constraints, &constraint));
  EB_TRY(eb_contact_step_reserve(step, step->constraints.count));
  step->mark[step->constraints.count - 1] = 1;
  return EB_OK;
}

static void renew(eb_contact_step *step, int32_t k, double time, bool touching, eb_step_log *log) {
  linearize(step, step->constraints.all + k, time, touching);
  step->constraints.all[k].changes++;
  step->mark[k] = 1;
  eb_log_count(log, EB_COUNT_RELINEARIZATIONS, 1);
}

/* ---- the start of a step ---- */

static bool worth_carrying(const eb_contact_step *step, const eb_constraint *constraint) {
  double x0[4][3];
  eb_pair_points(&constraint->pair, step->surface.x0, x0);
  double distance = distance_of(&constraint->pair, (eb_points)x0);
  double reach = constraint->r[0] > 0 ? close_loaded : close_empty;
  return distance > 0 && distance < reach * step->gap &&
         eb_constraint_acts(&constraint->pair, &step->surface, &step->system);
}

/* Only above the inside of a face: at a rim the direction between the closest points is no normal to slide on, and would stop what slides over the next face. */
static bool worth_adding(const eb_contact_step *step, const eb_pair *pair, const double *at) {
  double x[4][3];
  eb_pair_points(pair, at, x);
  return pair->kind == EB_VERTEX_FACE && eb_pair_inside(pair, (eb_points)x) &&
         eb_constraints_find(&step->constraints, pair) < 0 &&
         eb_constraint_acts(pair, &step->surface, &step->system);
}

static eb_error find_close(eb_contact_step *step, const double *x, const eb_near **near,
                           int32_t *count) {
  return eb_collisions_near(step->surface.collisions, x, close_empty * step->gap, near, count);
}

/* near: the pairs that are close at x, at that time. */
static eb_error add_close(eb_contact_step *step, const eb_near *near, int32_t count,
                          const double *x, double time) {
  for (int32_t i = 0; i < count; i++)
    if (worth_adding(step, &near[i].pair, x) && would_hold(step, &near[i].pair, time, false))
      EB_TRY(add(step, &near[i].pair, time, false));
  return EB_OK;
}

eb_error eb_contact_step_carry(eb_contact_step *step) {
  eb_constraints *set = &step->constraints;
  const eb_near *near;
  int32_t count;
  for (int32_t k = 0; k < set->count; k++) step->mark[k] = worth_carrying(step, set->all + k);
  eb_constraints_filter(set, step->mark);
  for (int32_t k = 0; k < set->count; k++) {
    linearize(step, set->all + k, 0, false);
    set->all[k].changes = 0;
  }
  EB_TRY(find_close(step, step->surface.x0, &near, &count));
  return add_close(step, near, count, step->surface.x0, 0);
}

/* ---- after a solve ---- */

static eb_error meet(eb_contact_step *step, const eb_pair *pair, double time, bool touching,
                     eb_step_log *log) {
  int32_t k = eb_constraints_find(&step->constraints, pair);
  if (k < 0 || (touching && step->constraints.all[k].changes >= MOST_CHANGES))
    return add(step, pair, time, touching);
  if (!step->mark[k] && step->constraints.all[k].changes < MOST_CHANGES)
    renew(step, k, time, touching, log);
  return EB_OK;
}

/* Hits at so nearly the same time, as a part of the step, are one. */
static const double same_time = 1e-6;

/* surface.hit: when each vertex hits its first face, beyond 1 when it hits none. */
static void find_first(const eb_contact_step *step, const eb_hit *hits, int32_t count) {
  double *first = step->surface.hit;
  for (int32_t i = 0; i < step->surface.mesh->vertex_count; i++) first[i] = 2;
  for (int32_t i = 0; i < count; i++) {
    const eb_pair *pair = &hits[i].pair;
    if (pair->kind == EB_VERTEX_FACE && eb_constraint_acts(pair, &step->surface, &step->system))
      first[pair->vertex[0]] = fmin(first[pair->vertex[0]], hits[i].time);
  }
}

/* A vertex that has passed a face hits others from inside: these are no contacts. Edges wait while a vertex of theirs hits a face: where faces meet, the vertices carry it
 * all, and the many edges that cross would only say the same once more. What still hits when the first hits are prevented is found in the next round. */
static bool waits(const eb_contact_step *step, const eb_hit *hit) {
  const double *first = step->surface.hit;
  const int32_t *vertex = hit->pair.vertex;
  if (hit->pair.kind == EB_VERTEX_FACE) return hit->time > first[vertex[0]] + same_time;
  return fmin(fmin(first[vertex[0]], first[vertex[1]]), fmin(first[vertex[2]], first[vertex[3]])) <=
         1;
}

static bool counts(const eb_contact_step *step, const eb_hit *hit) {
  return eb_constraint_acts(&hit->pair, &step->surface, &step->system) && !waits(step, hit);
}

static eb_error look_at_hits(eb_contact_step *step, eb_step_log *log) {
  const eb_hit *hits;
  int32_t count;
  EB_TRY(eb_collisions_find(step->surface.collisions, step->surface.x, &hits, &count));
  find_first(step, hits, count);
  int32_t met = 0;
  for (int32_t i = 0; i < count; i++)
    if (counts(step, hits + i) && would_hold(step, &hits[i].pair, hits[i].time, true)) {
      EB_TRY(meet(step, &hits[i].pair, hits[i].time, true, log));
      met++;
    }
  for (int32_t i = 0; i < count && met == 0; i++)
    if (counts(step, hits + i)) EB_TRY(meet(step, &hits[i].pair, hits[i].time, true, log));
  return EB_OK;
}

/* A pair without a constraint is too close at a part of the gap, one with a constraint at that part of what it asks for, which is less where the pair has started closer. */
static bool is_too_close(const eb_contact_step *step, const eb_near *near) {
  double x0[4][3];
  if (eb_constraints_find(&step->constraints, &near->pair) < 0)
    return near->distance < too_close * step->gap;
  eb_pair_points(&near->pair, step->surface.x0, x0);
  double demand = eb_constraint_demand(distance_of(&near->pair, (eb_points)x0), step->gap);
  return near->distance < too_close * demand;
}

static eb_error look_at_close(eb_contact_step *step, const eb_near *near, int32_t count,
                              eb_step_log *log) {
  for (int32_t i = 0; i < count; i++) {
    const eb_pair *pair = &near[i].pair;
    if (!is_too_close(step, &near[i]) || !eb_constraint_acts(pair, &step->surface, &step->system))
      continue;
    /* Where it has come round to another side, what keeps it off is the direction it started from. */
    double time = would_hold(step, pair, 1, false) ? 1 : 0;
    if (time > 0 || would_hold(step, pair, 0, false)) EB_TRY(meet(step, pair, time, false, log));
  }
  return EB_OK;
}

/* How far the features have slid along each other on their way, m. */
static double slide_of(const eb_contact_step *step, const eb_constraint *constraint) {
  double way[3] = {0};
  for (int i = 0; i < 4; i++) {
    int64_t at = 3 * (int64_t)constraint->pair.vertex[i];
    for (int d = 0; d < 3; d++)
      way[d] += constraint->weight[i] * (step->surface.x[at + d] - step->surface.x0[at + d]);
  }
  return hypot(eb_dot3(constraint->frame + 3, way), eb_dot3(constraint->frame + 6, way));
}

/* Whether a contact's features have moved farther from each other than a linearization on their way may leave them: then its force acts across the air. */
static bool acts_across_air(const eb_contact_step *step, const eb_constraint *constraint) {
  double x[4][3];
  if (!(constraint->r[0] > 0)) return false;
  eb_pair_points(&constraint->pair, step->surface.x, x);
  return distance_of(&constraint->pair, (eb_points)x) >
         constraint->demand + air * step->gap + slide_of(step, constraint);
}

/* Whether the normal of a contact is one that its features have nowhere on this way: it was taken on that of another trial. */
static bool is_turned_away(const eb_contact_step *step, const eb_constraint *constraint) {
  static const double alike = 0.99; /* cosine: 8 degrees */
  enum { PLACES = 4 };
  if (!(constraint->r[0] > 0) || step->rounds > ROUNDS_OF_TURNING) return false;
  for (int p = 0; p <= PLACES; p++)
    for (int touching = 0; touching < 2; touching++) {
      eb_constraint there = {.pair = constraint->pair};
      linearize(step, &there, (double)p / PLACES, touching);
      if (fabs(eb_dot3(there.frame, constraint->frame)) > alike) return false;
    }
  return true;
}

static bool is_worn(const eb_contact_step *step, const eb_constraint *constraint) {
  return acts_across_air(step, constraint) || is_turned_away(step, constraint);
}

static void look_at_forces(eb_contact_step *step, int32_t count, eb_step_log *log) {
  for (int32_t k = 0; k < count; k++) {
    const eb_constraint *constraint = step->constraints.all + k;
    if (step->mark[k] || constraint->changes >= MOST_CHANGES || !is_worn(step, constraint))
      continue;
    if (would_hold(step, &constraint->pair, 1, false)) renew(step, k, 1, false, log);
  }
}

/* A force across the air for which there is no better linearization - a vertex has slid over the rim of its face - is none: its contact is let go, and comes back as another one where
 * something hits. Late rounds keep what they have, so that rounds end. Returns whether there were such. */
static bool let_go(eb_contact_step *step) {
  eb_constraints *set = &step->constraints;
  int32_t before = set->count;
  for (int32_t k = 0; k < before; k++)
    step->mark[k] = step->rounds > ROUNDS_OF_LETTING_GO || !acts_across_air(step, set->all + k);
  eb_constraints_filter(set, step->mark);
  return set->count < before;
}

static bool unchanged(const eb_contact_step *step, int32_t count) {
  bool same = step->constraints.count == count;
  for (int32_t k = 0; k < count; k++) same &= !step->mark[k];
  return same;
}

/* Where something has passed through something else, the end of the motion says nothing about sides: then hits alone count. */
eb_error eb_contact_step_look(eb_contact_step *step, eb_step_log *log, bool *settled) {
  const eb_near *near;
  int32_t count = step->constraints.count, near_count;
  for (int32_t k = 0; k < count; k++) step->mark[k] = 0;
  *settled = false;
  EB_TRY(look_at_hits(step, log));
  if (!unchanged(step, count)) return EB_OK;
  EB_TRY(find_close(step, step->surface.x, &near, &near_count));
  EB_TRY(look_at_close(step, near, near_count, log));
  look_at_forces(step, count, log);
  *settled = unchanged(step, count) && !let_go(step);
  if (step->constraints.count < count) return EB_OK;
  return *settled ? EB_OK : add_close(step, near, near_count, step->surface.x, 1);
}
