/* What layers and controls of a comparison come to. */
#include "harness/compare/compared.h"
#include "tests/tap.h"

static void set_text(char **out, const char *text) {
  *out = strdup(text);
}

/* A suite of two cases that nothing is wrong with. */
static eb_comparison sound(void) {
  eb_comparison all = {.count = 2, .injected = 0.05};
  all.cases = calloc(2, sizeof *all.cases);
  for (int k = 0; k < 2; k++) {
    eb_compared *c = &all.cases[k];
    set_text(&c->name, "a case");
    set_text(&c->counts[EB_BASE], "iterations=100,solves=7,residuals=a,state=b");
    set_text(&c->counts[EB_HEAD], "iterations=100,solves=7,residuals=a,state=b");
    c->cpu[EB_COMPARED_HEAD].change = EB_CHANGE_EQUIVALENT;
    c->cpu[EB_COMPARED_AGAIN].change = EB_CHANGE_EQUIVALENT;
    c->cpu[EB_COMPARED_DELAYED].change = EB_CHANGE_REGRESSED;
    c->wall.change = EB_CHANGE_EQUIVALENT;
  }
  return all;
}

/* Judges, and compares verdicts of the first case and of the suite. */
static void test_judged(eb_comparison all, eb_compare_verdict one, eb_compare_verdict suite,
                        const char *words, const char *name) {
  tap_require(eb_comparison_judge(0.02, &all), "judge");
  const eb_compared *c = &all.cases[0];
  bool told = words ? c->reasons && strstr(c->reasons, words) : !c->reasons;
  if (!tap_ok(c->verdict == one && all.verdict == suite && told, "%s", name))
    printf("#   %s, suite %s: %s\n", eb_compare_verdict_name(c->verdict),
           eb_compare_verdict_name(all.verdict), c->reasons ? c->reasons : "");
  eb_comparison_clear(&all);
}

static void test_time(void) {
  eb_comparison all = sound();
  test_judged(all, EB_COMPARE_EQUIVALENT, EB_COMPARE_EQUIVALENT, NULL, "nothing is wrong");
  all = sound();
  all.cases[0].cpu[EB_COMPARED_HEAD].change = EB_CHANGE_REGRESSED;
  test_judged(all, EB_COMPARE_REGRESSED, EB_COMPARE_REGRESSED, NULL, "one case is slower");
  all = sound();
  all.cases[0].cpu[EB_COMPARED_HEAD].change = EB_CHANGE_IMPROVED;
  test_judged(all, EB_COMPARE_IMPROVED, EB_COMPARE_EQUIVALENT, NULL, "one case is faster");
  all = sound();
  all.cases[0].cpu[EB_COMPARED_HEAD].change = EB_CHANGE_INCONCLUSIVE;
  test_judged(all, EB_COMPARE_INCONCLUSIVE, EB_COMPARE_INCONCLUSIVE, NULL, "one case is uncertain");
  all = sound();
  all.least = 8;
  all.cases[0].cpu[EB_COMPARED_HEAD].count = 7;
  all.cases[0].cpu[EB_COMPARED_HEAD].change = EB_CHANGE_INCONCLUSIVE;
  test_judged(all, EB_COMPARE_INCONCLUSIVE, EB_COMPARE_INCONCLUSIVE,
              "7 rounds are too few to show a change of any size in 2 cases: it takes 8",
              "rounds that cannot show anything");
  all = sound();
  all.least = 8;
  all.cases[0].cpu[EB_COMPARED_HEAD].count = 8;
  all.cases[0].cpu[EB_COMPARED_HEAD].change = EB_CHANGE_INCONCLUSIVE;
  test_judged(all, EB_COMPARE_INCONCLUSIVE, EB_COMPARE_INCONCLUSIVE, NULL,
              "rounds that could have shown something");
  all = sound();
  all.cases[0].wall.change = EB_CHANGE_REGRESSED;
  all.cases[0].wall.centre = log(1.3);
  test_judged(all, EB_COMPARE_EQUIVALENT, EB_COMPARE_EQUIVALENT, "wall time rose by 30.0 %",
              "wall time alone is told");
}

static void test_controls(void) {
  eb_comparison all = sound();
  all.cases[1].cpu[EB_COMPARED_AGAIN].change = EB_CHANGE_IMPROVED;
  test_judged(all, EB_COMPARE_INCONCLUSIVE, EB_COMPARE_INCONCLUSIVE, "times are not believed",
              "an alarm in one case takes the belief in all");
  all = sound();
  all.cases[1].cpu[EB_COMPARED_AGAIN].change = EB_CHANGE_REGRESSED;
  all.cases[0].cpu[EB_COMPARED_HEAD].change = EB_CHANGE_REGRESSED;
  test_judged(all, EB_COMPARE_INCONCLUSIVE, EB_COMPARE_INCONCLUSIVE, "times are not believed",
              "in regressions as well");
  all = sound();
  all.cases[0].cpu[EB_COMPARED_DELAYED].change = EB_CHANGE_INCONCLUSIVE;
  test_judged(all, EB_COMPARE_INCONCLUSIVE, EB_COMPARE_INCONCLUSIVE, "a delay of 5 % was not found",
              "nothing is equivalent where a delay is not found");
  all = sound();
  all.injected = 0;
  all.cases[0].cpu[EB_COMPARED_DELAYED].change = EB_CHANGE_INCONCLUSIVE;
  test_judged(all, EB_COMPARE_EQUIVALENT, EB_COMPARE_EQUIVALENT, NULL,
              "result files have no delay to find");
  all = sound();
  all.cases[0].cpu[EB_COMPARED_HEAD].change = EB_CHANGE_IMPROVED;
  set_text(&all.machines, "cpu is 'a' and 'b'");
  test_judged(all, EB_COMPARE_INCONCLUSIVE, EB_COMPARE_INCONCLUSIVE, "cpu is 'a' and 'b'",
              "files of two machines have no times to compare");
}

static eb_comparison with_counts(const char *head) {
  eb_comparison all = sound();
  free(all.cases[0].counts[EB_HEAD]);
  set_text(&all.cases[0].counts[EB_HEAD], head);
  return all;
}

static void test_counts(void) {
  test_judged(with_counts("iterations=103,solves=7,residuals=a,state=b"), EB_COMPARE_REGRESSED,
              EB_COMPARE_REGRESSED, "iterations: 100 before, 103 now", "more iterations");
  test_judged(with_counts("iterations=101,solves=7,residuals=a,state=b"), EB_COMPARE_EQUIVALENT,
              EB_COMPARE_EQUIVALENT, "iterations: 100 before, 101 now", "no more than the margin");
  test_judged(with_counts("iterations=90,solves=7,residuals=a,state=b"), EB_COMPARE_EQUIVALENT,
              EB_COMPARE_EQUIVALENT, "iterations: 100 before, 90 now", "fewer");
  test_judged(with_counts("iterations=100,solves=7,residuals=a,state=c"), EB_COMPARE_EQUIVALENT,
              EB_COMPARE_EQUIVALENT, "the results differ", "another state");
  test_judged(with_counts("iterations=100,solves=7,matvecs=900,residuals=a,state=b"),
              EB_COMPARE_EQUIVALENT, EB_COMPARE_EQUIVALENT, NULL, "a counter that BASE has not");
  eb_comparison all = with_counts("iterations=103,solves=7,residuals=a,state=b");
  all.cases[0].cpu[EB_COMPARED_HEAD].change = EB_CHANGE_IMPROVED;
  test_judged(all, EB_COMPARE_IMPROVED, EB_COMPARE_EQUIVALENT, "103 now",
              "more iterations in less time");
  all = sound();
  set_text(&all.cases[0].counts_again[EB_HEAD], "iterations=99,solves=7,residuals=a,state=c");
  test_judged(all, EB_COMPARE_NONDETERMINISTIC, EB_COMPARE_NONDETERMINISTIC,
              "HEAD does not do the same twice: iterations 100 and 99, residuals alike, states "
              "differ",
              "a build that does not count alike twice");
  all = sound();
  set_text(&all.cases[0].trouble, "it crashed");
  all.cases[1].cpu[EB_COMPARED_HEAD].change = EB_CHANGE_REGRESSED;
  test_judged(all, EB_COMPARE_FAILED, EB_COMPARE_FAILED, NULL, "a worker that failed");
}

static eb_comparison with_instructions(double executed, double first, double last) {
  eb_comparison all = sound();
  all.cases[0].instructed_steps = 3;
  all.cases[0].instructions[EB_BASE] = (eb_instructions){1e9, 1e6, 1e5};
  all.cases[0].instructions[EB_HEAD] = (eb_instructions){executed, first, last};
  return all;
}

/* BASE costs 1e9 + 10 1e6 + 100 1e5 = 1.02e9. */
static void test_instructions(void) {
  test_judged(with_instructions(1.009e9, 1.5e6, 1e5), EB_COMPARE_EQUIVALENT, EB_COMPARE_EQUIVALENT,
              NULL, "0.9 % more instructions, 0.5 % of misses");
  test_judged(with_instructions(1.012e9, 1e6, 1e5), EB_COMPARE_REGRESSED, EB_COMPARE_REGRESSED,
              "1.20 % more instructions", "1.2 % more instructions");
  test_judged(with_instructions(1e9, 1e6, 3e5), EB_COMPARE_REGRESSED, EB_COMPARE_REGRESSED,
              "cache misses cost 1.96 % more", "misses that cost as much");
  eb_comparison all = with_instructions(1.5e9, 1e6, 1e5);
  all.cases[0].cpu[EB_COMPARED_HEAD].change = EB_CHANGE_IMPROVED;
  test_judged(all, EB_COMPARE_IMPROVED, EB_COMPARE_EQUIVALENT, "50.00 % more instructions",
              "more instructions in less time");
}

int main(void) {
  test_time();
  test_controls();
  test_counts();
  test_instructions();
  return tap_done();
}
