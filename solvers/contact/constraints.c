/* The contact problem that the constraints of a step make, and how many of them repeat each other.
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
 * Needs: weights of pairs that sum to 0, surface and system moved to v.
 * Workspace: that of the set, which active_set.c keeps: eight integers a constraint.
 * Fails when memory does. */
#include "problems/base/assert.h"
#include "solvers/contact/constraints.h"

#include "problems/base/vector3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void eb_constraints_count_similar(eb_constraints *set, const eb_contact_surface *surface,
                                  const eb_contact_system *system, eb_contact_problem *problem) {
  /* set->start, set->of_node: the constraints around each node. */
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
  memset(set->visited, 0, (size_t)set->count * sizeof *set->visited);
  for (int32_t k = 0; k < set->count; k++)
    problem->similar[k] = count_similar(set, surface, system, k);
  if (system->bodies) count_between_bodies(set, surface, system, problem->similar);
}

/* ---- the contact problem ----
 *
 * A free node of weight w has the block h w R, R the frame. A node at arm r from the centre of a
 * free body has h w R at the body's velocity, and at its angular velocity the rows h w (r x R_k),
 * as R_k . (W x r) = W . (r x R_k). What is known goes into c: the motion of scripted nodes and
 * obstacles, and by how much a body's rotation at the present v moves its nodes beyond h (V + W x
 * r), which makes a further solve a Newton step. The tangential displacement that friction opposes
 * is that of the whole step, and of contacts that stuck before what they have slipped meanwhile:
 * c_t holds prescribed motion and that drift alone. */

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

static double friction_of(const eb_contact_surface *surface, const eb_pair *pair) {
  const eb_friction_law *law = &surface->scene->contacts.friction;
  if (law->pair_count == 0) return law->common;
  eb_pair named = eb_contact_surface_pair(surface, pair);
  return eb_friction_of(law, &named);
}

eb_error eb_constraints_problem(const eb_constraints *set, const eb_contact_surface *surface,
                                const eb_contact_system *system, const double *v,
                                eb_contact_problem *problem) {
  problem->A = system->implicit.matrix;
  problem->b = system->b;
  problem->count = 0;
  EB_TRY(eb_contact_problem_reserve(problem, set->count));
  for (int32_t k = 0; k < set->count; k++) {
    const eb_constraint *constraint = set->all + k;
    contact_row row = {.c = {constraint->target_gap,
                             -eb_dot3(constraint->frame + 3, constraint->drift),
                             -eb_dot3(constraint->frame + 6, constraint->drift)}};
    for (int i = 0; i < 4; i++) {
      int32_t vertex = constraint->pair.vertex[i], node = eb_contact_surface_node(surface, vertex);
      const double *x0 = surface->x0 + 3 * (int64_t)vertex, *x = surface->x + 3 * (int64_t)vertex;
      double displacement[3] = {x[0] - x0[0], x[1] - x0[1], x[2] - x0[2]};
      row.c[0] -= constraint->weight[i] * eb_dot3(constraint->frame, x0);
      if (!eb_contact_surface_is_dynamic(surface, system, vertex))
        add_known(constraint, constraint->weight[i], displacement, &row);
      else if (eb_contact_system_body(system, node) >= 0)
        add_body_vertex(constraint, system, i, eb_contact_system_body(system, node), x0, x, v,
                        &row);
      else
        add_scaled(system->dt * constraint->weight[i], constraint->frame, new_entry(&row, node));
    }
    eb_contact_problem_add(problem, row.entries, row.block, row.H, row.c,
                           friction_of(surface, &constraint->pair));
  }
  return EB_OK;
}
