/* Schedules of updates; see schedule.h.
 *
 * One pass from the worst to the least bad is enough for the budget: a supernode that was refused
 * stays refused. Marking another one for a total cost c lowers what is left by c, and lowers the
 * total cost of the refused one by the part of c that was spent on their common ancestors, which is
 * not more. */
#include "solvers/warp_cholesky/schedule.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* What it costs to choose s: the part of its path to the root that is not marked. */
static double path_cost(const eb_update_tree *tree, const uint8_t *marked, int32_t s) {
  double cost = 0;
  for (; s >= 0 && !marked[s]; s = tree->parent[s]) cost += tree->cost[s];
  return cost;
}

static double choose(const eb_update_tree *tree, uint8_t *marked, int32_t s) {
  double cost = path_cost(tree, marked, s);
  for (int32_t a = s; a >= 0 && !marked[a]; a = tree->parent[a]) marked[a] = EB_UPDATE_ANCESTOR;
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

static double key(const eb_update_tree *tree, int32_t s) {
  return isnan(tree->badness[s]) ? INFINITY : tree->badness[s];
}

static bool worse(const eb_update_tree *tree, int32_t a, int32_t b) {
  double x = key(tree, a), y = key(tree, b);
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

static int32_t make_heap(const eb_update_tree *tree, double tau, int32_t *heap) {
  int32_t size = 0;
  for (int32_t s = 0; s < tree->count; s++)
    if (!(tree->badness[s] < tau)) heap[size++] = s;
  for (int32_t at = size / 2 - 1; at >= 0; at--) sift_down(tree, heap, size, at);
  return size;
}

static double choose_within(const eb_update_tree *tree, double tau, double budget, int32_t *heap,
                            uint8_t *marked) {
  double spent = 0;
  for (int32_t size = make_heap(tree, tau, heap); size > 0;) {
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
