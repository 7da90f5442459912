/* The active set of a contact step (Verschoor and Jalba 2019, Sections 3.3 and 5.2).
 *
 *   n . sum_i w_i x_i(t + h) >= target gap,   w and n constants of one linearization
 *
 * A motion is accepted when nothing collides along it, no pair ends up closer than a part of its
 * target gap, and every force acts between features that are where it was linearized. A constraint
 * is linearized at the time of the hit when its features collide; at the end of the motion when
 * they come too close, or when the contact has slid off them so that its force acts at a distance.
 * One that has been relinearized MAX_LEAPS times is turned by no more than 15 degrees at once,
 * since a normal that is taken anew may bring about the motion that asks for the one before; after
 * MAX_RELINEARIZATIONS it stays as it is. Where its features have no such normal anywhere along the
 * motion it is linearized anew whatever its number, from MAX_TURNS on at the start of the step,
 * where all motions begin. Further hits of its pair add constraints: so outer iterations end. When
 * nothing hits and the step iterates on anyway, vertices that are close to a face get their
 * constraint at once, which saves outer iterations.
 *
 * A constraint says of the end of the step alone, to first order, that a pair stays on its side: it
 * knows nothing of the path, and its normal is right only where it was taken. Hence both tests,
 * hits along the path and distances at its end, after every solve (lines 23 to 27 of Algorithm 1).
 * What differs from the paper: target gaps that a pair can meet from where it starts, so that the
 * constraints of a step cannot contradict each other by more than what is lacking, and sides that
 * are remembered from x0.
 *
 * Needs: x0 without intersections, surface and system moved to the trial.
 * Workspace: an array of constraints in order of appearance; an open hash table from pairs to their
 * first constraint, at most half full; nine integers a constraint, a number a vertex.
 * Fails when memory or the list of candidates does. */
#include "solvers/contact/active_set.h"

#include <math.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"

/* Forces at a distance are dropped in the first outer iterations: they may bring about others like
 * them, without end. */
enum { MAX_RELINEARIZATIONS = 10, MAX_LEAPS = 5, MAX_TURNS = 2, LAST_DROP = 6, FIRST_ROOM = 64 };
/* Closer than this part of its target gap a pair is too close. */
static const double too_close = 0.25;
/* A force at a pair that is farther apart than it has to be by so many gaps acts at a distance. */
static const double detached = 1;
/* Pairs within so many gaps keep their constraint while they carry a force, and without one. */
static const double close_loaded = 2, close_unloaded = 1.2;
/* Of the gap: the least target gap that a relaxed constraint keeps. */
static const double least_target = 0.02;
/* Hits at so nearly the same time, as a part of the step, are one. */
static const double same_time = 1e-6;

/* ---- the set ---- */

static eb_error reserve(eb_constraints *set, int32_t room) {
  int32_t slots = 16, before = set->room;
  while (slots < 2 * (int64_t)room) slots *= 2;
  EB_TRY(EB_CONTACT_GROW(set->slot, 1, set->slots, slots));
  set->slots = slots;
  EB_TRY(EB_CONTACT_GROW(set->of_node, 4, before, room));
  EB_TRY(EB_CONTACT_GROW(set->visited, 1, before, room));
  EB_TRY(EB_CONTACT_GROW(set->bodies, 3, before, room));
  EB_TRY(EB_CONTACT_GROW(set->all, 1, before, room));
  set->room = room;
  return EB_OK;
}

static void clear_set(eb_constraints *set) {
  free(set->all);
  free(set->slot);
  free(set->start);
  free(set->of_node);
  free(set->visited);
  free(set->bodies);
  *set = (eb_constraints){0};
}

/* Multiplicative: pairs are looked up some ten times a constraint and step, which the bytewise hash
 * of files takes as long for as a closest point. */
static uint64_t hash_of(const eb_pair *pair) {
  uint64_t half[2];
  memcpy(half, pair->vertex, sizeof half);
  half[1] += (uint64_t)pair->kind;
  uint64_t hash = half[0] * UINT64_C(0x9e3779b97f4a7c15) + half[1] * UINT64_C(0xc2b2ae3d27d4eb4f);
  return hash ^ hash >> 32;
}

/* The slot that holds the pair, or the free one where it would go. */
static int32_t slot_of(const eb_constraints *set, const eb_pair *pair) {
  uint64_t mask = (uint64_t)set->slots - 1, at = hash_of(pair) & mask;
  for (; set->slot[at]; at = (at + 1) & mask) {
    const eb_pair *other = &set->all[set->slot[at] - 1].pair;
    if (other->kind == pair->kind && !memcmp(other->vertex, pair->vertex, sizeof pair->vertex))
      break;
  }
  return (int32_t)at;
}

/* The first constraint of a pair, or -1. */
static int32_t find(const eb_constraints *set, const eb_pair *pair) {
  return set->slot[slot_of(set, pair)] - 1;
}

static void enter_slot(eb_constraints *set, int32_t k) {
  int32_t at = slot_of(set, &set->all[k].pair);
  if (!set->slot[at]) set->slot[at] = k + 1;
}

/* Keeps those with keep[k] != 0, in their order, and of each pair the first alone. */
static void filter(eb_constraints *set, const uint8_t *keep) {
  int32_t before = set->count;
  memset(set->slot, 0, (size_t)set->slots * sizeof *set->slot);
  set->count = 0;
  for (int32_t k = 0; k < before; k++) {
    if (!keep[k]) continue;
    int32_t *slot = &set->slot[slot_of(set, &set->all[k].pair)];
    if (*slot) continue;
    set->all[set->count++] = set->all[k];
    *slot = set->count;
  }
}

void eb_constraints_reset(eb_constraints *set) {
  memset(set->slot, 0, (size_t)set->slots * sizeof *set->slot);
  set->count = 0;
}

/* ---- linearization ----
 *
 * Between the insides of the two features the normal is that of the face, or the cross product of
 * the edges: it does not depend on how close they are. On the boundary of a feature, and for edges
 * that are nearly parallel, it is the direction between the closest points: at x when the features
 * are apart there, a little before a hit, or at x0, where their distance is never 0. That direction
 * separates the features, which are convex, at the time it is taken. */

/* A closest point so near the boundary, in barycentric coordinates, counts as on it. */
static const double boundary = 1e-6;
/* Edges whose directions have a smaller sine count as parallel. */
static const double parallel_sine = 0.05;
/* Of the gap: how much of it a pair may lack without being moved; of what it lacks beyond, the part
 * that one step recovers. What a step takes back stays in the velocities: bodies at rest that were
 * lifted to the whole gap would fall back and be lifted again. */
static const double slack = 0.5, recovery = 0.25;

double eb_constraint_target_gap(double distance, double gap) {
  EB_ASSERT(gap > 0);
  if (distance >= gap) return gap;
  return distance + recovery * fmax((1 - slack) * gap - distance, 0);
}

static void weighted_sum(const double weight[4], const double x[4][3], double sum[3]) {
  memset(sum, 0, 3 * sizeof *sum);
  for (int i = 0; i < 4; i++) eb_add3(weight[i], x[i], sum);
}

static bool normalize(double a[3]) {
  double length = sqrt(eb_dot3(a, a));
  for (int d = 0; d < 3; d++) a[d] /= length;
  return length > 0 && isfinite(length);
}

static bool on_boundary(int32_t kind, const double weight[4]) {
  for (int i = kind == EB_VERTEX_FACE; i < 4; i++)
    if (fabs(weight[i]) < boundary) return true;
  return false;
}

static bool is_inside(const eb_pair *pair, const double x[4][3]) {
  double weight[4];
  eb_closest_points((eb_pair_kind)pair->kind, x, weight);
  return !on_boundary(pair->kind, weight);
}

/* The normal of the plane that the features span; false where there is none. */
static bool plane_normal(int32_t kind, const double x[4][3], double n[3]) {
  int from = kind == EB_VERTEX_FACE ? 1 : 0;
  double a[3], b[3];
  for (int d = 0; d < 3; d++) {
    a[d] = from ? x[2][d] - x[1][d] : x[1][d] - x[0][d];
    b[d] = from ? x[3][d] - x[1][d] : x[3][d] - x[2][d];
  }
  eb_cross3(a, b, n);
  double sine = kind == EB_VERTEX_FACE ? 0 : parallel_sine;
  return eb_dot3(n, n) > sine * sine * eb_dot3(a, a) * eb_dot3(b, b) && normalize(n);
}

/* Turns n towards `side`; false when it is not `least` of it along n. */
static bool orient(const double side[3], double least, double n[3]) {
  double along = eb_dot3(n, side);
  if (along < 0)
    for (int d = 0; d < 3; d++) n[d] = -n[d];
  return fabs(along) > least * sqrt(eb_dot3(side, side));
}

static void separation(int32_t kind, const double x[4][3], double n[3]) {
  double weight[4];
  eb_closest_points((eb_pair_kind)kind, x, weight);
  weighted_sum(weight, x, n);
}

/* Edges that come at each other within one plane, as those around two faces side by side do, have a
 * cross product at right angles to that plane, which is no normal of their contact: just before
 * they hit, an end of one is what is closest. near: then; NULL when they are apart. */
static bool has_plane(int32_t kind, const double weight[4], eb_points near) {
  const eb_pair pair = {.kind = kind};
  return !on_boundary(kind, weight) && (kind == EB_VERTEX_FACE || !near || is_inside(&pair, near));
}

/* `weight`: of the closest points at x. */
static void find_normal(int32_t kind, const double weight[4], const double x0[4][3],
                        const double x[4][3], bool touching, double n[3]) {
  static const double along = 1e-3; /* least part of the separation along a plane's normal */
  /* A sixteenth of the way from x0 to the hit before it: there the features are still apart. */
  static const double back = 1. / 16;
  double side[3], near[4][3];
  for (int i = 0; i < 4 && touching; i++)
    for (int d = 0; d < 3; d++) near[i][d] = x[i][d] + back * (x0[i][d] - x[i][d]);
  weighted_sum(weight, touching ? x0 : x, side);
  if (has_plane(kind, weight, touching ? (eb_points)near : NULL) && plane_normal(kind, x, n) &&
      orient(side, along, n))
    return;
  if (touching)
    separation(kind, (eb_points)near, n);
  else
    memcpy(n, side, sizeof side);
  if (!normalize(n)) {
    separation(kind, x0, n);
    normalize(n);
  }
}

void eb_constraint_linearize(eb_constraint *constraint, const double x0[4][3], const double x[4][3],
                             bool touching) {
  double n[3], force[3] = {0};
  for (int k = 0; k < 3; k++) eb_add3(constraint->r[k], constraint->frame + 3 * k, force);
  constraint->distance =
      eb_closest_points((eb_pair_kind)constraint->pair.kind, x, constraint->weight);
  find_normal(constraint->pair.kind, constraint->weight, x0, x, touching, n);
  /* A contact keeps its frame from step to step, and with it the meaning of its two friction
   * forces, as long as n does not cross a plane where two of its entries are equal; the force is
   * turned with it where it does. */
  eb_contact_frame(n, constraint->frame);
  bool still_pushes = eb_dot3(n, force) > 0;
  for (int k = 0; k < 3; k++)
    constraint->r[k] = still_pushes ? eb_dot3(constraint->frame + 3 * k, force) : 0;
}

/* ---- set-up ---- */

eb_error eb_active_set_create(const eb_contact_surface *surface, const eb_contact_system *system,
                              double gap, eb_active_set *out) {
  EB_ASSERT(gap > 0);
  *out = (eb_active_set){.surface = surface, .system = system, .gap = gap, .room = FIRST_ROOM};
  eb_error error = EB_NEW(out->constraints.start, (size_t)system->nodes + 1);
  if (!error) error = reserve(&out->constraints, FIRST_ROOM);
  if (!error) error = EB_NEW(out->changed, FIRST_ROOM);
  if (!error) error = EB_NEW(out->distant, FIRST_ROOM);
  if (!error) error = EB_NEW(out->first_hit, surface->mesh->vertex_count);
  if (error) eb_active_set_clear(out);
  return error;
}

void eb_active_set_clear(eb_active_set *active) {
  clear_set(&active->constraints);
  free(active->changed);
  free(active->distant);
  free(active->first_hit);
  *active = (eb_active_set){0};
}

/* ---- single constraints ---- */

/* The four points of a pair in x (3 vertices). */
static void pair_points(const eb_pair *pair, const double *x, double points[4][3]) {
  for (int i = 0; i < 4; i++) memcpy(points[i], x + 3 * (int64_t)pair->vertex[i], 3 * sizeof *x);
}

/* Whether a force on the pair can change any motion at all. */
static bool is_dynamic(const eb_active_set *active, const eb_pair *pair) {
  for (int i = 0; i < 4; i++)
    if (eb_contact_surface_is_dynamic(active->surface, active->system, pair->vertex[i]))
      return true;
  return false;
}

static double distance_of(const eb_pair *pair, const double x[4][3]) {
  double weight[4];
  return eb_closest_points((eb_pair_kind)pair->kind, x, weight);
}

/* Linearizes a constraint at a time between the start (0) and the end (1) of the motion. Returns
 * how far apart the pair is at the start along the normal, m. Where that is positive, standing
 * still satisfies the constraint but for what its target gap asks beyond the present distance: a
 * set of such constraints cannot contradict itself by more, and so the target gap follows from that
 * distance. */
static double linearize_at(const eb_active_set *active, eb_constraint *constraint,
                           const double x[4][3], bool touching) {
  double x0[4][3], apart = 0;
  pair_points(&constraint->pair, active->surface->x0, x0);
  eb_constraint_linearize(constraint, (eb_points)x0, x, touching);
  memcpy(constraint->at, x, sizeof constraint->at);
  for (int i = 0; i < 4; i++) apart += constraint->weight[i] * eb_dot3(constraint->frame, x0[i]);
  constraint->target_gap = eb_constraint_target_gap(apart, active->gap);
  return apart;
}

static double linearize(const eb_active_set *active, eb_constraint *constraint, double time,
                        bool touching) {
  double x[4][3], end[4][3];
  pair_points(&constraint->pair, active->surface->x0, x);
  pair_points(&constraint->pair, active->surface->x, end);
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) x[i][d] += time * (end[i][d] - x[i][d]);
  return linearize_at(active, constraint, (eb_points)x, touching);
}

/* Whether the normal of a constraint leads out of its second body and into its first. Where a
 * motion has gone through a body, the places where it leaves it again are found too, with the
 * opposite normal; no motion satisfies both. Surfaces seen from their back (open ones have no
 * inside) pass. */
static bool points_outward(const eb_active_set *active, const eb_constraint *constraint) {
  static const double inside = -0.5; /* 2: straight out of one into the other; -2: the reverse */
  const double *n = constraint->frame;
  int first = constraint->pair.kind == EB_VERTEX_FACE ? 1 : 2;
  double outward = 0;
  for (int i = 0; i < 4; i++) {
    double normal[3];
    eb_contact_surface_normal(active->surface, constraint->pair.vertex[i], normal);
    outward += (i < first ? -1 : 1) * fabs(constraint->weight[i]) * eb_dot3(n, normal);
  }
  return outward > inside;
}

/* Whether the constraint that the pair would get at that time leaves it on the side where it is at
 * the start: another trial motion may pass on the other side. */
static bool keeps_side(const eb_active_set *active, const eb_pair *pair, double time,
                       bool touching) {
  eb_constraint constraint = {.pair = *pair};
  return linearize(active, &constraint, time, touching) > 0 && points_outward(active, &constraint);
}

static eb_error activate(eb_active_set *active, const eb_pair *pair, double time, bool touching) {
  eb_constraint constraint = {.pair = *pair};
  linearize(active, &constraint, time, touching);
  if (active->constraints.count == active->constraints.room) {
    EB_TRY(reserve(&active->constraints, 2 * active->constraints.room));
    memset(active->constraints.slot, 0,
           (size_t)active->constraints.slots * sizeof *active->constraints.slot);
    for (int32_t k = 0; k < active->constraints.count; k++) enter_slot(&active->constraints, k);
  }
  active->constraints.all[active->constraints.count++] = constraint;
  enter_slot(&active->constraints, active->constraints.count - 1);
  int32_t count = active->constraints.count;
  if (count > active->room) {
    EB_TRY(EB_CONTACT_GROW(active->changed, 1, active->room, 2 * active->room));
    EB_TRY(EB_CONTACT_GROW(active->distant, 1, active->room, 2 * active->room));
    active->room *= 2;
  }
  active->changed[count - 1] = 1;
  return EB_OK;
}

static void relinearize(eb_active_set *active, int32_t k, double time, bool touching,
                        eb_step_log *log) {
  linearize(active, active->constraints.all + k, time, touching);
  active->constraints.all[k].relinearizations++;
  active->changed[k] = 1;
  eb_log_count(log, EB_COUNT_RELINEARIZATIONS, 1);
}

static eb_error activate_or_relinearize(eb_active_set *active, const eb_pair *pair, double time,
                                        bool touching, eb_step_log *log) {
  const eb_constraints *set = &active->constraints;
  int32_t k = find(set, pair);
  if (k < 0 || (touching && set->all[k].relinearizations >= MAX_RELINEARIZATIONS))
    return activate(active, pair, time, touching);
  if (!active->changed[k] && set->all[k].relinearizations < MAX_RELINEARIZATIONS)
    relinearize(active, k, time, touching, log);
  return EB_OK;
}

/* ---- the start of a step ---- */

/* Of edges only those that are too close get a constraint, so that most of what rests on each other
 * need not be measured. */
static eb_error detect_near(const eb_active_set *active, const double *x, const eb_near **near,
                            int32_t *count) {
  const double distance[] = {
      [EB_VERTEX_FACE] = close_unloaded * active->gap, [EB_EDGE_EDGE] = too_close * active->gap};
  return eb_collisions_near(active->surface->collisions, x, distance, near, count);
}

/* Activates those of the pairs near at x, where the motion is at `time`, whose vertex is above the
 * inside of a face. At the boundary of a face the direction between the closest points is no normal
 * to slide on: it would stop what slides over the next face. */
static eb_error activate_near(eb_active_set *active, const eb_near *near, int32_t count,
                              const double *x, double time) {
  for (int32_t i = 0; i < count; i++) {
    const eb_pair *pair = &near[i].pair;
    double points[4][3];
    if (pair->kind != EB_VERTEX_FACE || find(&active->constraints, pair) >= 0) continue;
    pair_points(pair, x, points);
    if (is_inside(pair, (eb_points)points) && is_dynamic(active, pair) &&
        keeps_side(active, pair, time, false))
      EB_TRY(activate(active, pair, time, false));
  }
  return EB_OK;
}

eb_error eb_active_set_warm_start(eb_active_set *active) {
  eb_constraints *set = &active->constraints;
  const eb_near *near;
  int32_t count;
  for (int32_t k = 0; k < set->count; k++) {
    eb_constraint *constraint = set->all + k;
    double gaps = constraint->r[0] > 0 ? close_loaded : close_unloaded;
    linearize(active, constraint, 0, false);
    constraint->relinearizations = 0;
    active->changed[k] = constraint->distance > 0 && constraint->distance < gaps * active->gap &&
                         is_dynamic(active, &constraint->pair);
  }
  filter(set, active->changed);
  EB_TRY(detect_near(active, active->surface->x0, &near, &count));
  return activate_near(active, near, count, active->surface->x0, 0);
}

/* ---- after a solve: hits ---- */

/* A vertex that has passed a face hits others from inside: these are no contacts. Edges are
 * deferred while a vertex of theirs hits a face: where faces meet, the vertices carry it all, and
 * the many edges that cross would only repeat it. What still hits once the first hits are prevented
 * is found in the next outer iteration. */
static bool is_deferred(const eb_active_set *active, const eb_hit *hit) {
  const double *first = active->first_hit;
  const int32_t *vertex = hit->pair.vertex;
  if (hit->pair.kind == EB_VERTEX_FACE) return hit->time > first[vertex[0]] + same_time;
  return fmin(fmin(first[vertex[0]], first[vertex[1]]), fmin(first[vertex[2]], first[vertex[3]])) <=
         1;
}

/* Hits whose constraint would keep the side count first; only where there are none, all do. */
static eb_error activate_hits(eb_active_set *active, eb_step_log *log) {
  const eb_hit *hits;
  int32_t count, activated = 0;
  EB_TRY(eb_collisions_find(active->surface->collisions, active->surface->x, &hits, &count));
  double *first = active->first_hit;
  for (int32_t i = 0; i < active->surface->mesh->vertex_count; i++) first[i] = 2;
  for (const eb_hit *hit = hits; hit < hits + count; hit++)
    if (hit->pair.kind == EB_VERTEX_FACE && is_dynamic(active, &hit->pair))
      first[hit->pair.vertex[0]] = fmin(first[hit->pair.vertex[0]], hit->time);
  for (int any_side = 0; any_side < 2 && activated == 0; any_side++)
    for (const eb_hit *hit = hits; hit < hits + count; hit++) {
      if (!is_dynamic(active, &hit->pair) || is_deferred(active, hit)) continue;
      if (!any_side && !keeps_side(active, &hit->pair, hit->time, true)) continue;
      EB_TRY(activate_or_relinearize(active, &hit->pair, hit->time, true, log));
      activated++;
    }
  return EB_OK;
}

/* ---- after a solve: distances and forces ---- */

/* A pair without a constraint is too close at a part of the gap; one with a constraint at that part
 * of its target gap, which is less where the pair has started closer. */
static bool is_too_close(const eb_active_set *active, const eb_near *near) {
  double x0[4][3];
  if (!(near->distance < too_close * active->gap)) return false;
  if (find(&active->constraints, &near->pair) < 0) return true;
  pair_points(&near->pair, active->surface->x0, x0);
  double target = eb_constraint_target_gap(distance_of(&near->pair, (eb_points)x0), active->gap);
  return near->distance < too_close * target;
}

/* How far the features slide along each other in the motion, m. */
static double sliding_distance(const eb_active_set *active, const eb_constraint *constraint) {
  double displacement[3] = {0};
  for (int i = 0; i < 4; i++) {
    int64_t at = 3 * (int64_t)constraint->pair.vertex[i];
    for (int d = 0; d < 3; d++)
      displacement[d] +=
          constraint->weight[i] * (active->surface->x[at + d] - active->surface->x0[at + d]);
  }
  return hypot(eb_dot3(constraint->frame + 3, displacement),
               eb_dot3(constraint->frame + 6, displacement));
}

/* Equation 7 holds at u_n = 0 where the features are; it goes on holding where one has slid off the
 * other, on the plane that the normal spans.
 *
 * Whether the features of a contact have moved farther apart than a linearization anywhere along
 * the motion may leave them: then its force acts at a distance. The points that were closest when
 * it was linearized are of the features still, so that these are no farther apart than they. */
static bool acts_at_distance(const eb_active_set *active, const eb_constraint *constraint) {
  double x[4][3], between[3];
  if (!(constraint->r[0] > 0)) return false;
  pair_points(&constraint->pair, active->surface->x, x);
  weighted_sum(constraint->weight, (eb_points)x, between);
  double most = constraint->target_gap + detached * active->gap;
  if (eb_dot3(between, between) <= most * most) return false;
  return distance_of(&constraint->pair, (eb_points)x) > most + sliding_distance(active, constraint);
}

/* Whether the normal of a contact is one that its features have nowhere along this motion: then it
 * was linearized along another trial. All motions of the step begin at x0. */
static bool has_foreign_normal(const eb_active_set *active, const eb_constraint *constraint) {
  static const double alike = 0.99; /* cosine: 8 degrees */
  enum { PLACES = 4 };
  double x0[4][3];
  if (!(constraint->r[0] > 0)) return false;
  pair_points(&constraint->pair, active->surface->x0, x0);
  if (!memcmp(constraint->at, x0, sizeof x0)) return false;
  for (int p = 0; p <= PLACES; p++)
    for (int touching = 0; touching < 2; touching++) {
      eb_constraint there = {.pair = constraint->pair};
      linearize(active, &there, (double)p / PLACES, touching);
      if (fabs(eb_dot3(there.frame, constraint->frame)) > alike) return false;
    }
  return true;
}

/* ---- after a solve: Equation 21 ---- */

/* Whether a contact that pushes is not where it has to be: its true gap, less what is asked for,
 * which is C(x). The paper ends at 0 < C(x) < eps2; C of a solution is within eps2 of 0 on either
 * side, as its rows are solved to that. Left to the other tests are contacts that have slid over a
 * boundary, and edges at their ends, whose normals jump from one linearization to the next. */
static bool is_off_gap(const eb_active_set *active, const eb_constraint *constraint) {
  double x[4][3];
  if (!(active->end_test > 0) || !(constraint->r[0] > 0)) return false;
  pair_points(&constraint->pair, active->surface->x, x);
  bool inside = is_inside(&constraint->pair, (eb_points)x);
  if (inside != is_inside(&constraint->pair, (eb_points)constraint->at)) return false;
  if (!inside && constraint->pair.kind == EB_EDGE_EDGE) return false;
  double C = distance_of(&constraint->pair, (eb_points)x) - constraint->target_gap;
  return fabs(C) > active->end_test;
}

/* Equation 21: linearizes at the configuration w x + (1 - w) x_l between that of the last
 * linearization, x_l, and the end of the motion, w = 1 or halved until the normal turns by less
 * than 15 degrees. */
static void relinearize_towards(eb_active_set *active, int32_t k, eb_step_log *log) {
  static const double cosine = 0.9659258262890683, least = 1. / 64;
  eb_constraint *constraint = active->constraints.all + k, next;
  double end[4][3], x[4][3];
  pair_points(&constraint->pair, active->surface->x, end);
  for (double w = 1;; w *= 0.5) {
    for (int i = 0; i < 4; i++)
      for (int d = 0; d < 3; d++)
        x[i][d] = constraint->at[i][d] + w * (end[i][d] - constraint->at[i][d]);
    next = *constraint;
    linearize_at(active, &next, (eb_points)x, false);
    if (eb_dot3(next.frame, constraint->frame) > cosine || w <= least) break;
  }
  *constraint = next;
  constraint->relinearizations++;
  active->changed[k] = 1;
  eb_log_count(log, EB_COUNT_RELINEARIZATIONS, 1);
}

/* ---- after a solve: all of it ---- */

static bool is_unchanged(const eb_active_set *active, int32_t count) {
  bool same = active->constraints.count == count;
  for (int32_t k = 0; k < count; k++) same &= !active->changed[k];
  return same;
}

/* Where something has passed through something else, the end of the motion says nothing about
 * sides: then hits alone count. */
eb_error eb_active_set_update(eb_active_set *active, eb_step_log *log, bool *accepted) {
  const eb_near *near;
  int32_t count = active->constraints.count, near_count;
  for (int32_t k = 0; k < count; k++) active->changed[k] = 0;
  *accepted = false;
  EB_TRY(activate_hits(active, log));
  if (!is_unchanged(active, count)) return EB_OK;
  EB_TRY(detect_near(active, active->surface->x, &near, &near_count));
  for (int32_t i = 0; i < near_count; i++) {
    const eb_pair *pair = &near[i].pair;
    if (!is_too_close(active, &near[i]) || !is_dynamic(active, pair)) continue;
    /* Where it has come round to another side, the direction it started from keeps it off. */
    double time = keeps_side(active, pair, 1, false) ? 1 : 0;
    if (time > 0 || keeps_side(active, pair, 0, false))
      EB_TRY(activate_or_relinearize(active, pair, time, false, log));
  }
  for (int32_t k = 0; k < count; k++) {
    const eb_constraint *constraint = active->constraints.all + k;
    if (active->changed[k]) continue;
    active->distant[k] = acts_at_distance(active, constraint);
    bool again = constraint->relinearizations < MAX_RELINEARIZATIONS;
    bool foreign_normal = has_foreign_normal(active, constraint);
    /* Linearized at the ends of trials it would go on turning: edges that are nearly parallel have
     * another normal after every solve. */
    if (foreign_normal && constraint->relinearizations >= MAX_TURNS) {
      if (keeps_side(active, &constraint->pair, 0, false)) relinearize(active, k, 0, false, log);
      continue;
    }
    bool foreign = (again && active->distant[k]) || foreign_normal;
    if (!foreign && !(again && is_off_gap(active, constraint))) continue;
    if (!keeps_side(active, &constraint->pair, 1, false)) continue;
    if (foreign && constraint->relinearizations < MAX_LEAPS)
      relinearize(active, k, 1, false, log);
    else
      relinearize_towards(active, k, log);
  }
  *accepted = is_unchanged(active, count);
  /* Constraints whose force acts at a distance and for which there is no better linearization are
   * dropped: a vertex has slid over the boundary of its face. Where something hits, the contact
   * comes back as another one. Late outer iterations keep what they have, so that they end. */
  if (*accepted) {
    for (int32_t k = 0; k < count; k++)
      active->changed[k] = active->iteration > LAST_DROP || !active->distant[k];
    filter(&active->constraints, active->changed);
    *accepted = active->constraints.count == count;
    return EB_OK;
  }
  return activate_near(active, near, near_count, active->surface->x, 1);
}

bool eb_active_set_relax(eb_active_set *active, const double *u, double eps2) {
  EB_ASSERT(eps2 >= 0);
  eb_constraints *set = &active->constraints;
  int32_t relaxed = 0;
  for (int32_t k = 0; k < set->count; k++) {
    double lack = -u[3 * (int64_t)k];
    active->changed[k] = 1;
    if (!(lack > eps2)) continue;
    set->all[k].target_gap -= lack;
    active->changed[k] = set->all[k].target_gap > least_target * active->gap;
    relaxed++;
  }
  filter(set, active->changed);
  return relaxed > 0;
}
