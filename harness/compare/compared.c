#include "harness/compare/compared.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/results/record.h"
#include "problems/base/strings.h"

const char *eb_compare_verdict_name(eb_compare_verdict verdict) {
  static const char *const names[] = {"failed",     "nondeterministic", "regressed", "inconclusive",
                                      "equivalent", "improved",         "skipped"};
  return names[verdict];
}

static double instructions_cost(const eb_instructions *counted) {
  return counted->executed + 10 * counted->first_misses + 100 * counted->last_misses;
}

eb_error eb_compared_note(eb_compared *compared, const char *format, ...) {
  char line[700];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  const char *before = compared->reasons;
  return eb_string_format(&compared->reasons, "%s%s%s", before ? before : "", before ? "\n" : "",
                          line);
}

eb_error eb_compared_trouble(eb_error error, eb_compared *out) {
  if (!error || eb_error_kind(error) != EB_ERR_INVALID) return error;
  eb_error problem = eb_string_set(&out->trouble, eb_error_message(error));
  eb_error_free(error);
  return problem;
}

/* ---- counters -------------------------------------------------------------------------------- */

/* The counter of that name in "a=1,b=2", or NaN. */
static double counter_of(const char *counts, const char *name) {
  const char *value;
  return eb_assigned_value(counts, name, strlen(name), &value) > 0 ? strtod(value, NULL) : NAN;
}

static bool is_same(const char *left, const char *right, const char *name) {
  const char *a, *b;
  size_t length = eb_assigned_value(left, name, strlen(name), &a);
  return length == eb_assigned_value(right, name, strlen(name), &b) && strncmp(a, b, length) == 0;
}

/* Says which counters are not the same, and whether one of those that stand for work (the
 * currencies that methods share) rose by more than the margin. A counter that only one build knows
 * is left alone. */
static eb_error compare_counters(double margin, eb_compared *c, bool *rose) {
  static const char *const work[] = {"iterations",        "factorizations", "solves", "matvecs",
                                     "linear_iterations", "contact_visits", "flops"};
  const char *base = c->counts[EB_BASE], *head = c->counts[EB_HEAD];
  for (size_t k = 0; k < sizeof work / sizeof *work; k++) {
    double before = counter_of(base, work[k]), after = counter_of(head, work[k]);
    if (isnan(before) || isnan(after) || before == after) continue;
    EB_TRY(eb_compared_note(c, "%s: %.10g before, %.10g now", work[k], before, after));
    *rose = *rose || after > (1 + margin) * before;
  }
  if (!is_same(base, head, "residuals") || !is_same(base, head, "state"))
    EB_TRY(eb_compared_note(c,
                            "the results differ: after %lld steps states are not the same to the "
                            "last bit, and times may be those of other work",
                            (long long)c->counted_steps));
  return EB_OK;
}

static eb_error note_nondeterminism(eb_compared *c) {
  static const char *const sides[EB_SIDES] = {"BASE", "HEAD"};
  for (int side = 0; side < EB_SIDES; side++)
    if (c->counts_again[side])
      EB_TRY(eb_compared_note(
          c,
          "%s does not do the same twice: iterations %.10g and %.10g, "
          "residuals %s, states %s",
          sides[side], counter_of(c->counts[side], "iterations"),
          counter_of(c->counts_again[side], "iterations"),
          is_same(c->counts[side], c->counts_again[side], "residuals") ? "alike" : "differ",
          is_same(c->counts[side], c->counts_again[side], "state") ? "alike" : "differ"));
  return EB_OK;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static eb_error compare_instructions(eb_compared *c, bool *rose) {
  const eb_instructions *base = &c->instructions[EB_BASE], *head = &c->instructions[EB_HEAD];
  if (c->instructed_steps == 0) return EB_OK;
  double more = head->executed / base->executed - 1;
  double cost = instructions_cost(base);
  double missed = (instructions_cost(head) - head->executed - cost + base->executed) / cost;
  *rose = *rose || more > EB_INSTRUCTION_MARGIN || missed > EB_INSTRUCTION_MARGIN;
  if (more > EB_INSTRUCTION_MARGIN)
    EB_TRY(eb_compared_note(c, "%.2f %% more instructions", 100 * more));
  if (missed > EB_INSTRUCTION_MARGIN)
    EB_TRY(eb_compared_note(c, "cache misses cost %.2f %% more", 100 * missed));
  return EB_OK;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static bool is_changed(const eb_series *s) {
  return s->change == EB_CHANGE_REGRESSED || s->change == EB_CHANGE_IMPROVED;
}

/* What the rounds come to, given the controls. */
static eb_error judge_time(const eb_comparison *all, eb_compared *c, eb_compare_verdict *out) {
  eb_change change = c->cpu[EB_COMPARED_HEAD].change;
  bool found = all->injected == 0 || c->cpu[EB_COMPARED_DELAYED].change == EB_CHANGE_REGRESSED;
  *out = EB_COMPARE_INCONCLUSIVE;
  if (all->alarms > 0)
    return eb_compared_note(c, "times are not believed: BASE beside itself raised an alarm");
  if (all->machines)
    return eb_compared_note(c, "times are not believed: they are of two machines: %s",
                            all->machines);
  if (change == EB_CHANGE_EQUIVALENT && !found)
    return eb_compared_note(c, "a delay of %.0f %% was not found: nothing is said to be equivalent",
                            100 * all->injected);
  if (change == EB_CHANGE_INCONCLUSIVE && c->cpu[EB_COMPARED_HEAD].count < all->least)
    EB_TRY(eb_compared_note(c,
                            "%d rounds are too few to show a change of any size in %d cases: it "
                            "takes %d (of result files, repetitions)",
                            c->cpu[EB_COMPARED_HEAD].count, all->count, all->least));
  if (change != EB_CHANGE_INCONCLUSIVE)
    *out = change == EB_CHANGE_REGRESSED  ? EB_COMPARE_REGRESSED
           : change == EB_CHANGE_IMPROVED ? EB_COMPARE_IMPROVED
                                          : EB_COMPARE_EQUIVALENT;
  if (c->wall.change == EB_CHANGE_REGRESSED && change != EB_CHANGE_REGRESSED)
    return eb_compared_note(c,
                            "wall time rose by %.1f %%, CPU time did not: waiting, or threads "
                            "that have less to do at once",
                            100 * expm1(c->wall.centre));
  return EB_OK;
}

static eb_error judge(double margin, const eb_comparison *all, eb_compared *c) {
  bool rose = false;
  c->verdict = c->unserved ? EB_COMPARE_SKIPPED : EB_COMPARE_FAILED;
  if (c->trouble) return EB_OK;
  c->verdict = EB_COMPARE_NONDETERMINISTIC;
  if (c->counts_again[EB_BASE] || c->counts_again[EB_HEAD]) return note_nondeterminism(c);
  if (c->counts[EB_BASE] && c->counts[EB_HEAD]) EB_TRY(compare_counters(margin, c, &rose));
  EB_TRY(compare_instructions(c, &rose));
  EB_TRY(judge_time(all, c, &c->verdict));
  if (rose && c->verdict != EB_COMPARE_IMPROVED) c->verdict = EB_COMPARE_REGRESSED;
  return EB_OK;
}

eb_error eb_comparison_judge(double margin, eb_comparison *comparison) {
  comparison->raced = comparison->alarms = comparison->found = 0;
  for (int k = 0; k < comparison->count; k++) {
    const eb_series *cpu = comparison->cases[k].cpu;
    comparison->raced += cpu[EB_COMPARED_HEAD].count > 0;
    comparison->alarms += is_changed(&cpu[EB_COMPARED_AGAIN]);
    comparison->found += cpu[EB_COMPARED_DELAYED].change == EB_CHANGE_REGRESSED;
  }
  comparison->verdict = EB_COMPARE_SKIPPED;
  for (int k = 0; k < comparison->count; k++) {
    eb_compared *c = &comparison->cases[k];
    EB_TRY(judge(margin, comparison, c));
    if (c->verdict < comparison->verdict) comparison->verdict = c->verdict;
  }
  return EB_OK;
}

static void clear_case(eb_compared *c) {
  for (int side = 0; side < EB_SIDES; side++) {
    free(c->counts[side]);
    free(c->counts_again[side]);
  }
  for (int process = 0; process < EB_COMPARED_PROCESSES; process++)
    eb_series_clear(&c->cpu[process]);
  eb_series_clear(&c->wall);
  free(c->name);
  free(c->trouble);
  free(c->reasons);
}

void eb_comparison_clear(eb_comparison *comparison) {
  for (int k = 0; k < comparison->count; k++) clear_case(&comparison->cases[k]);
  free(comparison->cases);
  free(comparison->uninstructed);
  free(comparison->machines);
  *comparison = (eb_comparison){0};
}
