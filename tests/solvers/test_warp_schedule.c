/* Schedules of updates against an oracle that does literally what the paper says: after each
 * marking it recomputes every supernode's total cost and looks again for the worst one that
 * fits. */
#include "solvers/warp_cholesky/schedule.h"
#include "tests/support/random.h"
#include "tests/tap.h"

enum { MOST = 40, TRIALS = 3000 };

typedef struct forest {
  int32_t count, parent[MOST];
  double badness[MOST], cost[MOST];
} forest;

/* Costs and budgets are small integers, so that sums are exact and comparisons mean the same in any
 * order. */
static forest random_forest(random_state *random) {
  forest f = {.count = 1 + (int32_t)(random_word(random) % MOST)};
  bool dependencies = random_word(random) % 2;
  for (int32_t s = 0; s < f.count; s++) {
    int32_t above = f.count - 1 - s;
    bool root = above == 0 || random_word(random) % 8 == 0;
    f.parent[s] = root ? -1 : s + 1 + (int32_t)(random_word(random) % (uint64_t)above);
    f.cost[s] = (double)(random_word(random) % 10);
    f.badness[s] = dependencies ? (double)(random_word(random) % 4) : random_uniform(random, 0, 4);
    if (random_word(random) % 40 == 0) f.badness[s] = NAN;
    if (random_word(random) % 40 == 0) f.badness[s] = INFINITY;
  }
  return f;
}

static eb_update_tree tree_of(const forest *f) {
  return (eb_update_tree){f->count, f->parent, f->badness, f->cost};
}

/* ---- the oracle ---- */

static double total_cost(const forest *f, const uint8_t *marked, int32_t s) {
  double cost = 0;
  for (int32_t a = s; a >= 0; a = f->parent[a]) cost += marked[a] ? 0 : f->cost[a];
  return cost;
}

static void mark_path(const forest *f, uint8_t *marked, int32_t s) {
  marked[s] = EB_UPDATE_CHOSEN;
  for (int32_t a = f->parent[s]; a >= 0; a = f->parent[a])
    if (!marked[a]) marked[a] = EB_UPDATE_ANCESTOR;
}

static double badness_of(const forest *f, int32_t s) {
  return isnan(f->badness[s]) ? INFINITY : f->badness[s];
}

static void oracle_quality(const forest *f, double tau, uint8_t *marked) {
  for (int32_t s = 0; s < f->count; s++)
    if (badness_of(f, s) >= tau) mark_path(f, marked, s);
}

static void oracle_time(const forest *f, double tau, double left, uint8_t *marked) {
  for (;;) {
    int32_t best = -1;
    for (int32_t s = 0; s < f->count; s++) {
      if (marked[s] == EB_UPDATE_CHOSEN || badness_of(f, s) < tau) continue;
      if (marked[s] == EB_UPDATE_NONE && !(total_cost(f, marked, s) < left)) continue;
      if (best < 0 || badness_of(f, s) > badness_of(f, best)) best = s;
    }
    if (best < 0) return;
    left -= total_cost(f, marked, best);
    mark_path(f, marked, best);
  }
}

static void oracle(const eb_update_rule *rule, const forest *f, uint8_t *marked) {
  memset(marked, 0, MOST);
  if (rule->goal == EB_UPDATE_QUALITY) {
    oracle_quality(f, rule->tau, marked);
    return;
  }
  double left = rule->budget;
  if (rule->goal == EB_UPDATE_HYBRID) {
    oracle_quality(f, fmax(rule->tau, rule->hard_tau), marked);
    for (int32_t s = 0; s < f->count; s++) left -= marked[s] ? f->cost[s] : 0;
  }
  oracle_time(f, rule->tau, left, marked);
}

static double marked_cost(const forest *f, const uint8_t *marked) {
  double cost = 0;
  for (int32_t s = 0; s < f->count; s++) cost += marked[s] ? f->cost[s] : 0;
  return cost;
}

/* ---- cases ---- */

static void agrees_with_the_oracle(eb_update_goal goal, const char *name) {
  random_state random = random_seed(7 + (uint64_t)goal);
  int differ = 0, overspent = 0, cost_off = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    forest f = random_forest(&random);
    eb_update_tree tree = tree_of(&f);
    eb_update_rule rule = {goal, (double)(random_word(&random) % 4),
                           (double)(random_word(&random) % 5), (double)(random_word(&random) % 60)};
    if (random_word(&random) % 10 == 0) rule.budget = INFINITY;
    int32_t work[MOST];
    uint8_t marked[MOST], want[MOST];
    double cost = eb_update_schedule(&rule, &tree, work, marked);
    oracle(&rule, &f, want);
    differ += memcmp(marked, want, (size_t)f.count) != 0;
    cost_off += cost != marked_cost(&f, marked);
    overspent += goal == EB_UPDATE_TIME && cost > rule.budget;
  }
  tap_near(differ, 0, 0, name);
  tap_near(cost_off, 0, 0, "the returned cost is that of the marked supernodes");
  tap_near(overspent, 0, 0, "a budget is never overspent");
}

/* 0 and 1 under 2, 3 alone. */
static const int32_t parents[] = {2, 2, -1, -1};
static const double costs[] = {1, 4, 2, 1};

static bool marks(const eb_update_rule *rule, const double *badness, const uint8_t *want) {
  eb_update_tree tree = {4, parents, badness, costs};
  int32_t work[4];
  uint8_t marked[4];
  eb_update_schedule(rule, &tree, work, marked);
  return memcmp(marked, want, 4) == 0;
}

static void rules_by_hand(void) {
  enum { N = EB_UPDATE_NONE, A = EB_UPDATE_ANCESTOR, C = EB_UPDATE_CHOSEN };
  const double badness[] = {5, 9, 0, 7};
  eb_update_rule quality = {EB_UPDATE_QUALITY, 5, 0, 0};
  tap_ok(marks(&quality, badness, (const uint8_t[4]){C, C, A, C}),
         "quality takes what is at the threshold, and ancestors");
  quality.tau = 0;
  tap_ok(marks(&quality, (const double[4]){0}, (const uint8_t[4]){C, C, C, C}),
         "a threshold of zero takes everything, errors of zero too");
  eb_update_rule time = {EB_UPDATE_TIME, 1, 0, 6};
  tap_ok(marks(&time, badness, (const uint8_t[4]){C, N, A, C}),
         "time skips the worst when it does not fit and shares what is paid");
  time.budget = 0;
  tap_ok(marks(&time, badness, (const uint8_t[4]){N, N, N, N}), "no budget, no update");
  tap_ok(marks(&time, (const double[4]){9, 9, 9, 9}, (const uint8_t[4]){N, N, N, N}),
         "not even of the worst");
  time.budget = INFINITY;
  tap_ok(marks(&time, badness, (const uint8_t[4]){C, C, A, C}), "no limit is target quality");
  eb_update_rule hybrid = {EB_UPDATE_HYBRID, 1, 8, 7.5};
  tap_ok(marks(&hybrid, badness, (const uint8_t[4]){N, C, A, C}),
         "hybrid pays for the worst first, then spends what is left");
  hybrid.budget = 1;
  tap_ok(marks(&hybrid, badness, (const uint8_t[4]){N, C, A, N}),
         "what must be updated is, over any budget");
}

/* An element is chosen when fewer than `count` come before it: by a larger error, or by a lower
 * index with the same. */
static void the_largest_errors_are_chosen(void) {
  random_state random = random_seed(11);
  int wrong = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    forest f = random_forest(&random);
    int32_t count = 1 + (int32_t)(random_word(&random) % (MOST + 5)), want = 0;
    int32_t work[MOST];
    uint8_t chosen[MOST];
    int32_t got = eb_update_largest(f.count, f.badness, count, work, chosen);
    for (int32_t e = 0; e < f.count; e++) {
      int32_t before = 0;
      for (int32_t o = 0; o < f.count; o++)
        before += badness_of(&f, o) > badness_of(&f, e) ||
                  (badness_of(&f, o) == badness_of(&f, e) && o < e);
      want += before < count;
      wrong += (chosen[e] != 0) != (before < count);
    }
    wrong += got != want;
  }
  tap_near(wrong, 0, 0, "so many of the worst elements are chosen, and no others");
}

int main(void) {
  the_largest_errors_are_chosen();
  rules_by_hand();
  agrees_with_the_oracle(EB_UPDATE_QUALITY, "target quality agrees with the oracle");
  agrees_with_the_oracle(EB_UPDATE_TIME, "target time agrees with the oracle");
  agrees_with_the_oracle(EB_UPDATE_HYBRID, "hybrid agrees with the oracle");
  return tap_done();
}
