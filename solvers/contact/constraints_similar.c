/* How many constraints say nearly the same as each one (Verschoor and Jalba 2019, Section 3.4.1), for the scaling of preconditioners.
 *
 * Two constraints on deformable bodies are alike by the product over the nodes they share of 1 - |w_a n_a - w_b n_b|, not less than 0: one for a duplicate,
 * also when it sees the pair from the other side, nothing without a common node. Between two bodies that are both rigid, or one rigid and one that is
 * known, all constraints are alike: they act on the same unknowns. Sums run in the order of the constraints. */
#include "solvers/contact/constraints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The node of a vertex when it is one of a deformable body, else -1. */
static int32_t deformable(const eb_contact_surface *surface, const eb_contact_system *system,
                          int32_t vertex) {
  int32_t node = eb_contact_surface_node(surface, vertex);
  return node >= 0 && !system->known[node] ? node : -1;
}

static int32_t body_of(const eb_contact_surface *surface, const eb_contact_system *system,
                       int32_t vertex) {
  int32_t node = eb_contact_surface_node(surface, vertex);
  return node < 0 ? -1 : eb_contact_system_body(system, node);
}

/* The two bodies of a pair, in order; of no body: -1. */
static void bodies_of(const eb_constraint *constraint, const eb_contact_surface *surface,
                      const eb_contact_system *system, int32_t side[2]) {
  int32_t a = body_of(surface, system, constraint->pair.vertex[0]);
  int32_t b = body_of(surface, system, constraint->pair.vertex[3]);
  side[0] = a < b ? a : b;
  side[1] = a < b ? b : a;
}

/* ---- deformable bodies ---- */

static double alike(const eb_constraint *a, const eb_constraint *b) {
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

/* set->start, set->of: the constraints around each node. */
static void list(eb_constraints *set, const eb_contact_surface *surface,
                 const eb_contact_system *system) {
  memset(set->start, 0, ((size_t)system->nodes + 1) * sizeof *set->start);
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t k = 0; k < set->count; k++)
      for (int i = 0; i < 4; i++) {
        int32_t node = deformable(surface, system, set->all[k].pair.vertex[i]);
        if (node >= 0 && pass == 0) set->start[node + 1]++;
        if (node >= 0 && pass == 1) set->of[set->start[node]++] = k;
      }
    for (int32_t i = 0; i < system->nodes && pass == 0; i++) set->start[i + 1] += set->start[i];
  }
  /* Filling moved each start to the next: shift back. */
  memmove(set->start + 1, set->start, (size_t)system->nodes * sizeof *set->start);
  set->start[0] = 0;
}

static double sum_alike(eb_constraints *set, const eb_contact_surface *surface,
                        const eb_contact_system *system, int32_t k) {
  double sum = 1;
  set->mark[k] = k + 1;
  for (int i = 0; i < 4; i++) {
    int32_t node = deformable(surface, system, set->all[k].pair.vertex[i]);
    if (node < 0) continue;
    for (int32_t at = set->start[node]; at < set->start[node + 1]; at++) {
      int32_t other = set->of[at];
      if (set->mark[other] == k + 1) continue;
      set->mark[other] = k + 1;
      sum += alike(set->all + k, set->all + other);
    }
  }
  return sum;
}

/* ---- rigid bodies ---- */

static int compare_sides(const void *a, const void *b) {
  const int32_t *x = a, *y = b;
  for (int d = 0; d < 3; d++)
    if (x[d] != y[d]) return (x[d] > y[d]) - (x[d] < y[d]);
  return 0;
}

static void count_between_bodies(eb_constraints *set, const eb_contact_surface *surface,
                                 const eb_contact_system *system, double *similar) {
  int32_t count = 0, *side = set->side;
  for (int32_t k = 0; k < set->count; k++) {
    bool rigid = true;
    for (int i = 0; i < 4; i++)
      rigid &= deformable(surface, system, set->all[k].pair.vertex[i]) < 0;
    if (!rigid) continue;
    bodies_of(set->all + k, surface, system, side + 3 * (int64_t)count);
    side[3 * (int64_t)count++ + 2] = k;
  }
  qsort(side, (size_t)count, 3 * sizeof *side, compare_sides);
  for (int64_t first = 0, end; first < count; first = end) {
    for (end = first; end < count && !memcmp(side + 3 * first, side + 3 * end, 2 * sizeof *side);)
      end++;
    for (int64_t k = first; k < end; k++) similar[side[3 * k + 2]] = (double)(end - first);
  }
}

void eb_constraints_similar(eb_constraints *set, const eb_contact_surface *surface,
                            const eb_contact_system *system, double *similar) {
  list(set, surface, system);
  memset(set->mark, 0, (size_t)set->count * sizeof *set->mark);
  for (int32_t k = 0; k < set->count; k++) similar[k] = sum_alike(set, surface, system, k);
  if (system->bodies) count_between_bodies(set, surface, system, similar);
}
