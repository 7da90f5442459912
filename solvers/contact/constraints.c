/* The constraints of a contact step: the set, their linearization, and the contact problem they
 * make.
 *
 *   n . sum_i w_i x_i(t + h) >= target gap   becomes   u_n = (H v - c)_n >= 0
 *
 * With x(t + h) = x0 + h v this is J v >= c of Equation 8: rows h w_i n of the nodes and c = target
 * gap
 * - n . sum_i w_i x_i(t), in m (h stands in H, so that forces are N and not N s). w and n are
 * constants of one linearization (Equation 21 renews them as the trial moves on). The tangents'
 * rows, Equation 14, are the same with t1, t2 for n and no gap.
 *
 * Reference: Verschoor and Jalba 2019, Equations 6 to 8 and 14, Sections 3.3 and 3.4.1.
 *
 * Needs: weights of pairs that sum to 0, x0 without intersections.
 * Workspace: an array in order of appearance; an open hash table from pairs to their first
 * constraint, at most half full; eight integers a constraint.
 * Fails when memory does. */
#include "solvers/contact/constraints.h"

#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

eb_error eb_constraints_create(int32_t nodes, int32_t room, eb_constraints *out) {
  *out = (eb_constraints){0};
  eb_error error = EB_NEW(out->start, (size_t)nodes + 1);
  if (!error) error = reserve(out, room);
  if (error) eb_constraints_clear(out);
  return error;
}

void eb_constraints_clear(eb_constraints *set) {
  free(set->all);
  free(set->slot);
  free(set->start);
  free(set->of_node);
  free(set->visited);
  free(set->bodies);
  *set = (eb_constraints){0};
}

/* The slot that holds the pair, or the free one where it would go. */
static int32_t slot_of(const eb_constraints *set, const eb_pair *pair) {
  uint64_t hash = eb_hash(EB_HASH_SEED, &pair->kind, sizeof pair->kind);
  hash = eb_hash(hash, pair->vertex, sizeof pair->vertex);
  uint64_t mask = (uint64_t)set->slots - 1, at = hash & mask;
  for (; set->slot[at]; at = (at + 1) & mask) {
    const eb_pair *other = &set->all[set->slot[at] - 1].pair;
    if (other->kind == pair->kind && !memcmp(other->vertex, pair->vertex, sizeof pair->vertex))
      break;
  }
  return (int32_t)at;
}

int32_t eb_constraints_find(const eb_constraints *set, const eb_pair *pair) {
  return set->slot[slot_of(set, pair)] - 1;
}

static void enter_slot(eb_constraints *set, int32_t k) {
  int32_t at = slot_of(set, &set->all[k].pair);
  if (!set->slot[at]) set->slot[at] = k + 1;
}

eb_error eb_constraints_append(eb_constraints *set, const eb_constraint *constraint) {
  if (set->count == set->room) {
    EB_TRY(reserve(set, 2 * set->room));
    memset(set->slot, 0, (size_t)set->slots * sizeof *set->slot);
    for (int32_t k = 0; k < set->count; k++) enter_slot(set, k);
  }
  set->all[set->count++] = *constraint;
  enter_slot(set, set->count - 1);
  return EB_OK;
}

void eb_constraints_filter(eb_constraints *set, const uint8_t *keep) {
  int32_t before = set->count;
  memset(set->slot, 0, (size_t)set->slots * sizeof *set->slot);
  set->count = 0;
  for (int32_t k = 0; k < before; k++) {
    if (!keep[k] || eb_constraints_find(set, &set->all[k].pair) >= 0) continue;
    set->all[set->count++] = set->all[k];
    enter_slot(set, set->count - 1);
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
/* Part of what is missing to the gap that one step recovers. */
static const double recovery = 0.25;

double eb_constraint_target_gap(double distance, double gap) {
  return distance < gap ? distance + recovery * (gap - distance) : gap;
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

bool eb_pair_inside(const eb_pair *pair, const double x[4][3]) {
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
 * they hit, an end of one is what is closest. */
static bool has_plane(int32_t kind, const double weight[4], const double near[4][3]) {
  const eb_pair pair = {.kind = kind};
  return !on_boundary(kind, weight) && (kind == EB_VERTEX_FACE || eb_pair_inside(&pair, near));
}

static void find_normal(int32_t kind, const double weight[4], const double x0[4][3],
                        const double x[4][3], bool touching, double n[3]) {
  static const double along = 1e-3; /* least part of the separation along a plane's normal */
  double side[3], near[4][3];
  /* A sixteenth of the way from x0 to the hit before it: there the features are still apart. */
  const double back = touching ? 1. / 16 : 0;
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) near[i][d] = x[i][d] + back * (x0[i][d] - x[i][d]);
  weighted_sum(weight, touching ? x0 : x, side);
  if (has_plane(kind, weight, (eb_points)near) && plane_normal(kind, x, n) &&
      orient(side, along, n))
    return;
  separation(kind, (eb_points)near, n);
  if (!normalize(n)) {
    separation(kind, x0, n);
    normalize(n);
  }
}

/* Tangents that follow from the normal alone: across the axis that it is least along. A contact
 * keeps its frame from step to step, and with it the meaning of its two friction forces, as long as
 * n does not cross a plane where two of its entries are equal; the force is turned with it where it
 * does. */
static void set_frame(const double n[3], double frame[9]) {
  int least = 0;
  for (int d = 1; d < 3; d++)
    if (fabs(n[d]) < fabs(n[least])) least = d;
  double axis[3] = {0};
  axis[least] = 1;
  memcpy(frame, n, 3 * sizeof *frame);
  eb_cross3(n, axis, frame + 3);
  normalize(frame + 3);
  eb_cross3(n, frame + 3, frame + 6);
}

void eb_constraint_linearize(eb_constraint *constraint, const double x0[4][3], const double x[4][3],
                             bool touching) {
  double n[3], force[3] = {0};
  for (int k = 0; k < 3; k++) eb_add3(constraint->r[k], constraint->frame + 3 * k, force);
  eb_closest_points((eb_pair_kind)constraint->pair.kind, x, constraint->weight);
  find_normal(constraint->pair.kind, constraint->weight, x0, x, touching, n);
  set_frame(n, constraint->frame);
  bool still_pushes = eb_dot3(n, force) > 0;
  for (int k = 0; k < 3; k++)
    constraint->r[k] = still_pushes ? eb_dot3(constraint->frame + 3 * k, force) : 0;
}

/* ---- similar constraints ----
 *
 * How many constraints nearly repeat each one, itself included (Section 3.4.1), for the scaling of
 * preconditioners. Two constraints on deformable bodies are similar by the product, over the nodes
 * that they share, of 1 - |w_a n_a - w_b n_b|, not less than 0: one for a duplicate, also when it
 * sees the pair from the other side; nothing without a common node. Between two bodies that are
 * both rigid, or one rigid and one prescribed, all constraints are similar: they act on the same
 * unknowns. Sums run in the order of the constraints. */

/* The node of a vertex when it is one of a deformable body, else -1. */
static int32_t deformable_node(const eb_contact_surface *surface, const eb_contact_system *system,
                               int32_t vertex) {
  int32_t node = eb_contact_surface_node(surface, vertex);
  return node >= 0 && !system->known[node] ? node : -1;
}

static double similarity(const eb_constraint *a, const eb_constraint *b) {
  double product = 1;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      if (a->pair.vertex[i] != b->pair.vertex[j]) continue;
      double square = 0;
      for (int d = 0; d < 3; d++) {
        double off = a->weight[i] * a->frame[d] - b->weight[j] * b->frame[d];
        square += off * off;
      }
      product *= fmax(0, 1 - sqrt(square));
    }
  return product;
}

/* set->start, set->of_node: the constraints around each node. */
static void sort_by_node(eb_constraints *set, const eb_contact_surface *surface,
                         const eb_contact_system *system) {
  memset(set->start, 0, ((size_t)system->nodes + 1) * sizeof *set->start);
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t k = 0; k < set->count; k++)
      for (int i = 0; i < 4; i++) {
        int32_t node = deformable_node(surface, system, set->all[k].pair.vertex[i]);
        if (node >= 0 && pass == 0) set->start[node + 1]++;
        if (node >= 0 && pass == 1) set->of_node[set->start[node]++] = k;
      }
    for (int32_t i = 0; i < system->nodes && pass == 0; i++) set->start[i + 1] += set->start[i];
  }
  /* Filling moved each start to the next: shift back. */
  memmove(set->start + 1, set->start, (size_t)system->nodes * sizeof *set->start);
  set->start[0] = 0;
}

static double count_similar(eb_constraints *set, const eb_contact_surface *surface,
                            const eb_contact_system *system, int32_t k) {
  double sum = 1;
  set->visited[k] = k + 1;
  for (int i = 0; i < 4; i++) {
    int32_t node = deformable_node(surface, system, set->all[k].pair.vertex[i]);
    if (node < 0) continue;
    for (int32_t at = set->start[node]; at < set->start[node + 1]; at++) {
      int32_t other = set->of_node[at];
      if (set->visited[other] == k + 1) continue;
      set->visited[other] = k + 1;
      sum += similarity(set->all + k, set->all + other);
    }
  }
  return sum;
}

/* By the two bodies of a pair. */
static int compare_bodies(const void *a, const void *b) {
  const int32_t *x = a, *y = b;
  for (int d = 0; d < 3; d++)
    if (x[d] != y[d]) return (x[d] > y[d]) - (x[d] < y[d]);
  return 0;
}

static int32_t body_of(const eb_contact_surface *surface, const eb_contact_system *system,
                       int32_t vertex) {
  int32_t node = eb_contact_surface_node(surface, vertex);
  return node < 0 ? -1 : eb_contact_system_body(system, node);
}

/* Sorted triples: the two bodies of a constraint between rigid bodies (-1: of none), its number. */
static void count_between_bodies(eb_constraints *set, const eb_contact_surface *surface,
                                 const eb_contact_system *system, double *similar) {
  int32_t count = 0, *triple = set->bodies;
  for (int32_t k = 0; k < set->count; k++) {
    bool rigid = true;
    for (int i = 0; i < 4; i++)
      rigid &= deformable_node(surface, system, set->all[k].pair.vertex[i]) < 0;
    if (!rigid) continue;
    int32_t a = body_of(surface, system, set->all[k].pair.vertex[0]);
    int32_t b = body_of(surface, system, set->all[k].pair.vertex[3]);
    int32_t *to = triple + 3 * (int64_t)count++;
    to[0] = a < b ? a : b;
    to[1] = a < b ? b : a;
    to[2] = k;
  }
  qsort(triple, (size_t)count, 3 * sizeof *triple, compare_bodies);
  for (int64_t first = 0, end; first < count; first = end) {
    for (end = first;
         end < count && !memcmp(triple + 3 * first, triple + 3 * end, 2 * sizeof *triple);)
      end++;
    for (int64_t k = first; k < end; k++) similar[triple[3 * k + 2]] = (double)(end - first);
  }
}

/* ---- the contact problem ----
 *
 * A free node of weight w has the block h w R, R the frame. A node at arm r from the centre of a
 * free body has h w R at the body's velocity, and at its angular velocity the rows h w (r x R_k),
 * as R_k . (W x r) = W . (r x R_k). What is known goes into c: the motion of scripted nodes and
 * obstacles, and by how much a body's rotation at the present v moves its nodes beyond h (V + W x
 * r), which makes a further solve a Newton step. The tangential displacement that friction opposes
 * is that of the whole step: c_t holds prescribed motion alone. */

typedef struct contact_row {
  int32_t entries, block[EB_CONTACT_ENTRIES];
  double H[9 * EB_CONTACT_ENTRIES], c[3];
} contact_row;

/* A further entry, zero; those of one row are summed when the contact is added. */
static double *new_entry(contact_row *row, int32_t block) {
  row->block[row->entries] = block;
  return memset(row->H + 9 * row->entries++, 0, 9 * sizeof *row->H);
}

static void add_scaled(double scale, const double frame[9], double *H) {
  for (int k = 0; k < 9; k++) H[k] += scale * frame[k];
}

/* Takes the known displacement (m) of a vertex out of the unknown. */
static void add_known(const eb_constraint *constraint, double weight, const double displacement[3],
                      contact_row *row) {
  for (int k = 0; k < 3; k++)
    row->c[k] -= weight * eb_dot3(constraint->frame + 3 * k, displacement);
}

static void add_body_vertex(const eb_constraint *constraint, const eb_contact_system *system, int i,
                            int32_t body, const double x0[3], const double x[3], const double *v,
                            contact_row *row) {
  int32_t block = system->nodes + 2 * body;
  const double *centre = system->state->pose + 7 * (int64_t)body, *twist = v + 3 * (int64_t)block;
  double scale = system->dt * constraint->weight[i], arm[3], rotation[3], beyond[3];
  for (int k = 0; k < 3; k++) arm[k] = x0[k] - centre[k];
  add_scaled(scale, constraint->frame, new_entry(row, block));
  double *angular = new_entry(row, block + 1);
  for (int k = 0; k < 3; k++) {
    double moment[3];
    eb_cross3(arm, constraint->frame + 3 * k, moment);
    eb_add3(scale, moment, angular + 3 * k);
  }
  eb_cross3(twist + 3, arm, rotation);
  for (int k = 0; k < 3; k++) beyond[k] = x[k] - x0[k] - system->dt * (twist[k] + rotation[k]);
  add_known(constraint, constraint->weight[i], beyond, row);
}

static void add_vertex(const eb_constraint *constraint, const eb_contact_surface *surface,
                       const eb_contact_system *system, int i, const double *v, contact_row *row) {
  int32_t vertex = constraint->pair.vertex[i], node = eb_contact_surface_node(surface, vertex);
  const double *x0 = surface->x0 + 3 * (int64_t)vertex, *x = surface->x + 3 * (int64_t)vertex;
  double displacement[3] = {x[0] - x0[0], x[1] - x0[1], x[2] - x0[2]};
  row->c[0] -= constraint->weight[i] * eb_dot3(constraint->frame, x0);
  if (!eb_contact_surface_is_dynamic(surface, system, vertex))
    add_known(constraint, constraint->weight[i], displacement, row);
  else if (eb_contact_system_body(system, node) >= 0)
    add_body_vertex(constraint, system, i, eb_contact_system_body(system, node), x0, x, v, row);
  else
    add_scaled(system->dt * constraint->weight[i], constraint->frame, new_entry(row, node));
}

eb_error eb_constraints_problem(eb_constraints *set, const eb_contact_surface *surface,
                                const eb_contact_system *system, const double *v, double mu,
                                eb_contact_problem *problem) {
  problem->A = system->implicit.matrix;
  problem->b = system->b;
  problem->count = 0;
  EB_TRY(eb_contact_problem_reserve(problem, set->count));
  for (int32_t k = 0; k < set->count; k++) {
    contact_row row = {.c = {set->all[k].target_gap}};
    for (int i = 0; i < 4; i++) add_vertex(set->all + k, surface, system, i, v, &row);
    eb_contact_problem_add(problem, row.entries, row.block, row.H, row.c, mu);
  }
  sort_by_node(set, surface, system);
  memset(set->visited, 0, (size_t)set->count * sizeof *set->visited);
  for (int32_t k = 0; k < set->count; k++)
    problem->similar[k] = count_similar(set, surface, system, k);
  if (system->bodies) count_between_bodies(set, surface, system, problem->similar);
  return EB_OK;
}
