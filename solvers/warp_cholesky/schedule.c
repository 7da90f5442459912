/* Schedules of updates; see schedule.h for the rules.
 *
 * One pass from the worst to the least bad is enough for the budget: a supernode that was refused
 * stays refused. Marking another one for a total cost c lowers what is left by c, and lowers the
 * total cost of the refused one by the part of c that was spent on their common ancestors, which is
 * not more. Going by badness is greedy: it does not find the set that leaves the least badness for
 * a budget, which is a knapsack problem on a tree; nor does the paper. */
#include "solvers/warp_cholesky/schedule.h"

#include "problems/base/assert.h"
#include "problems/base/memory.h"

#include <math.h>
#include <string.h>

static int32_t parent_of(const eb_update_tree *tree, int32_t s) {
  return tree->parent ? tree->parent[s] : -1;
}

/* What it costs to choose s: the part of its path to the root that is not marked. Marked
 * supernodes have marked ancestors, so the walk ends at the first one. */
static double path_cost(const eb_update_tree *tree, const uint8_t *marked, int32_t s) {
  double cost = 0;
  for (; s >= 0 && !marked[s]; s = parent_of(tree, s)) cost += tree->cost ? tree->cost[s] : 1;
  return cost;
}

static double choose(const eb_update_tree *tree, uint8_t *marked, int32_t s) {
  double cost = path_cost(tree, marked, s);
  for (int32_t a = s; a >= 0 && !marked[a]; a = parent_of(tree, a)) marked[a] = EB_UPDATE_ANCESTOR;
  marked[s] = EB_UPDATE_CHOSEN;
  return cost;
}

static double choose_from(const eb_update_tree *tree, double tau, uint8_t *marked) {
  double cost = 0;
  for (int32_t s = 0; s < tree->count; s++)
    if (!(tree->badness[s] < tau)) cost += choose(tree, marked, s);
  return cost;
}

/* ---- the worst first: a binary heap of supernodes ---- */

/* An error that is NaN is worst of all: what made it has to be looked at, and the step will say
 * so. Equal ones go by their number, so that the order is one and the same wherever the heap has
 * put them. */
static bool worse(const eb_update_tree *tree, int32_t a, int32_t b) {
  double x = isnan(tree->badness[a]) ? INFINITY : tree->badness[a];
  double y = isnan(tree->badness[b]) ? INFINITY : tree->badness[b];
  return x > y || (x == y && a < b);
}

static void sift_down(const eb_update_tree *tree, int32_t *heap, int32_t size, int32_t at) {
  int32_t moving = heap[at];
  for (int32_t child; (child = 2 * at + 1) < size; at = child) {
    if (child + 1 < size && worse(tree, heap[child + 1], heap[child])) child++;
    if (!worse(tree, heap[child], moving)) break;
    heap[at] = heap[child];
  }
  heap[at] = moving;
}

/* A heap instead of sorting: budgets are spent long before the last supernode is looked at. */
static double choose_within(const eb_update_tree *tree, double tau, double budget, int32_t *heap,
                            uint8_t *marked) {
  int32_t size = 0;
  double spent = 0;
  for (int32_t s = 0; s < tree->count; s++)
    if (!(tree->badness[s] < tau)) heap[size++] = s;
  for (int32_t at = size / 2 - 1; at >= 0; at--) sift_down(tree, heap, size, at);
  while (size > 0) {
    int32_t s = heap[0];
    heap[0] = heap[--size];
    if (size > 0) sift_down(tree, heap, size, 0);
    if (marked[s] || path_cost(tree, marked, s) < budget - spent) spent += choose(tree, marked, s);
  }
  return spent;
}

double eb_update_schedule(const eb_update_rule *rule, const eb_update_tree *tree, int32_t *work,
                          uint8_t *marked) {
  memset(marked, EB_UPDATE_NONE, (size_t)tree->count);
  if (rule->goal == EB_UPDATE_QUALITY) return choose_from(tree, rule->tau, marked);
  double spent = 0;
  if (rule->goal == EB_UPDATE_HYBRID)
    spent = choose_from(tree, fmax(rule->tau, rule->hard_tau), marked);
  return spent + choose_within(tree, rule->tau, rule->budget - spent, work, marked);
}

/* A forest of single elements that cost 1 each. A budget takes what stays below it: the half keeps
 * rounding out of the last one. */
int32_t eb_update_largest(int32_t elements, const double *error, int32_t count, int32_t *work,
                          uint8_t *chosen) {
  EB_ASSERT(count >= 0);
  const eb_update_rule rule = {.goal = EB_UPDATE_TIME, .budget = count + 0.5};
  const eb_update_tree forest = {.count = elements, .badness = error};
  return (int32_t)eb_update_schedule(&rule, &forest, work, chosen);
}

/* ---- elements of supernodes ------------------------------------------------------------------ */

/* The corners of an element are neighbours of one another in the graph of A. Of two neighbours
 * the later one lies on the path from the earlier one to the root of the elimination tree: all
 * corners are on the path of the first, and every entry of the element's matrix is in a front of
 * that path. Refactoring the supernode of the first corner and its ancestors takes the whole
 * change in. */
static int32_t owner_of(const eb_mesh *mesh, const eb_supernodes *tree, int32_t e) {
  const int32_t *node = mesh->elements + (int64_t)mesh->type * e;
  int32_t first = node[0];
  for (int a = 1; a < (int)mesh->type; a++)
    if (tree->position[node[a]] < tree->position[first]) first = node[a];
  return tree->of_node[first];
}

eb_error eb_element_map_create(const eb_mesh *mesh, const eb_supernodes *tree,
                               eb_element_map *out) {
  *out = (eb_element_map){.supernodes = tree->count, .elements = mesh->element_count};
  eb_error error = EB_NEW(out->start, (size_t)tree->count + 1);
  if (!error) error = EB_NEW(out->element, mesh->element_count);
  if (error) {
    eb_element_map_clear(out);
    return error;
  }
  for (int32_t e = 0; e < mesh->element_count; e++) out->start[owner_of(mesh, tree, e)]++;
  for (int32_t s = 0; s < tree->count; s++) out->start[s + 1] += out->start[s];
  /* Filled from the back: the elements of a supernode come out in ascending order, which is that
   * of memory. */
  for (int32_t e = mesh->element_count - 1; e >= 0; e--)
    out->element[--out->start[owner_of(mesh, tree, e)]] = e;
  return EB_OK;
}

void eb_element_map_clear(eb_element_map *map) {
  free(map->start);
  free(map->element);
  *map = (eb_element_map){0};
}

void eb_element_map_badness(const eb_element_map *map, const double *error, double *badness) {
  const int32_t *start = map->start, *element = map->element;
#pragma omp parallel for schedule(static)
  for (int32_t s = 0; s < map->supernodes; s++) {
    double worst = -1;
    for (int32_t k = start[s]; k < start[s + 1]; k++) {
      double found = error[element[k]];
      if (!(found <= worst)) worst = isnan(worst) ? worst : found;
    }
    badness[s] = worst;
  }
}

void eb_element_map_want(const eb_element_map *map, const uint8_t *chosen, double *badness) {
  const int32_t *start = map->start, *element = map->element;
  for (int32_t s = 0; s < map->supernodes; s++) {
    badness[s] = -1;
    for (int32_t k = start[s]; k < start[s + 1]; k++)
      if (chosen[element[k]]) badness[s] = 1;
  }
}

int32_t eb_element_map_choose(const eb_element_map *map, const uint8_t *marked, int least,
                              uint8_t *chosen) {
  const int32_t *start = map->start, *element = map->element;
  int32_t count = 0;
#pragma omp parallel for schedule(static) reduction(+ : count)
  for (int32_t s = 0; s < map->supernodes; s++) {
    bool on = marked[s] >= least;
    for (int32_t k = start[s]; k < start[s + 1]; k++) chosen[element[k]] = on;
    if (on) count += start[s + 1] - start[s];
  }
  return count;
}
