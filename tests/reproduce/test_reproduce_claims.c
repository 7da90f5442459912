/* Claims on made-up runs: what holds, what does not, and what is missing, failed, cut short,
 * contradicted or too noisy. */
#include "harness/reproduce/evaluate.h"
#include "tests/support/reproduce_fixture.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))
#define YES         EB_REPRODUCED
#define NO          EB_NOT_REPRODUCED
#define OPEN        EB_NOT_COMPARABLE

/* Cases a, b, .. on one scene, which differ in an option that changes nothing here; `other` on
 * another one, `missing` not run. Frames have two steps of 0.1 s. */
#define CASES                                                                                      \
  "[solvers]\na = newton:rtol=1e-3\nb = newton:rtol=1e-4\nc = newton:rtol=1e-5\n"                  \
  "d = newton:rtol=1e-6\ne = newton:rtol=1e-7\nf = newton:rtol=1e-8\n"                             \
  "[cases all]\nframes = 4\nquick = 3\n"                                                           \
  "a = bench/beam:resolution=0.25 a\nb = bench/beam:resolution=0.25 b\n"                           \
  "c = bench/beam:resolution=0.25 c\nd = bench/beam:resolution=0.25 d\n"                           \
  "e = bench/beam:resolution=0.25 e\nf = bench/beam:resolution=0.25 f\n"                           \
  "other = bench/beam:resolution=0.3 a\nmissing = bench/beam:resolution=0.25,E=2e6 a\n"

#define WHOLE .outcome = EB_OUTCOME_COMPLETED, .steps = 8, .wall = 1, .first = 1

/* ---- figures of steps ------------------------------------------------------------------------ */

static void test_figures(void) {
  static const fake runs[] = {{.name = "a",
                               WHOLE,
                               .kinetic = 8,
                               .fade = 0.5,
                               .unknowns = 24,
                               .factor_bytes = 1e6,
                               .inverted = 3,
                               .force = 2,
                               .force_fade = 3}};
  static const verdict v[] = {
      {"last(a.kinetic) / max(a.kinetic) <= 0.008", YES, "0.0625 / 8 = 0.007812 <= 0.008"},
      {"last(a.kinetic) / max(a.kinetic) <= 0.007", NO, "not as claimed"},
      {"sum(a.kinetic) = 15.9375", YES, "15.94 = 15.94"},
      {"max(a.kinetic[50%..]) = 0.5", YES, "0.5 = 0.5"},
      {"max(a.kinetic[0.3s..0.5s]) = 2", YES, "2 = 2"},
      {"mean(a.kinetic[1..2]) = 6", YES, "6 = 6"},
      {"last(a.kinetic) - last(a.kinetic[..50%]) = -0.9375", YES, "= -0.9375"},
      {"integral(a.kinetic[0.75s..]) = 0.00625", YES, "0.00625"},
      /* zeros between steps: at 0.2 + 0.1 * 0.0175 / 0.03 s and as far before 0.6 s */
      {"abs(period((a.time - 0.25) * (0.55 - a.time)) - 0.17 / 0.3) < 1e-12", YES, "< 1e-12"},
      {"period(a.time - 0.25) > 0", OPEN, "- > 0"},
      {"last(a.counters/reduced_unknowns) = 24", YES, "24 = 24"},
      {"max(a.inverted) = 3 and count(a.inverted) = 8", YES, "2 of 2"},
      {"a.memory/factor = 1e6", YES, "1000000"},
      {"a.memory/updates < 1", OPEN, "- < 1"},
      {"a.nodes > 10 and a.elements != 10", YES, "2 of 2"},
      {"a.parameters/resolution = 0.25 and a.parameters/nu < 0.5", YES, "2 of 2"},
      {"a.parameters/material < 1", OPEN, "bench/beam has no number as parameter 'material'"},
      {"a.material = \"stable-neo-hookean\"", YES, "1 of 1"},
      {"a.joints = 0 and a.carried = 0 and a.dimensions = 3", YES, "3 of 3"},
      {"a.dynamic = 8", YES, "8 = 8"}, /* 24 unknowns in three dimensions */
      {"missing.material = \"stvk\" or missing.dynamic > 0", OPEN, "missing: not run"},
      {"a.solver = \"newton\"", YES, "\"newton\" = \"newton\""},
      {"a.solver != \"newton\"", NO, "not as claimed"},
      {"max(a.residuals/first[75%..]) >= 10 * max(a.residuals/first[..25%])", YES,
       "4374 >= 10 * 6"},
      {"last(a.residuals/count) = 1", YES, "1 = 1"},
      {"floor(5 / 2) = 2 and floor(0 - 2.5) = -3 and last(floor(a.kinetic + 1.5)) >= 1", YES,
       "3 of 3"},
      {"sqrt(sum((a.kinetic - 2*a.kinetic)^2) / sum(a.kinetic^2)) = 1", YES, "1 = 1"},
      {"log(a.nodes) > 1 and abs(-1) = 1", YES, "2 of 2"},
      {"fit_r2(n, n^2 for n in 1 2 3) < 0.99", YES, "< 0.99"},
      {"fit_slope(n, 2*n + 1 for n in 1 2 3) = 2", YES, "2 = 2"},
      {"fit_r2(n, n for n in 1 2) = 1", OPEN, "- = 1"},
      {"not a.nodes < 10 or a.nodes < 10", YES, "1 of 1"},
      {"machine.dgemm_all_flop_per_second / machine.dgemm_flop_per_second >= 2.4", YES, "2.5"},
      {"machine.wheels > 3", OPEN, "says nothing of 'wheels'"}};
  expect_all(CASES, false, runs, COUNT(runs), v, COUNT(v));
}

/* Where residuals rise: at a new beginning, or elsewhere. */
static void test_rising_residuals(void) {
  static const fake runs[] = {{.name = "a", WHOLE, .force = 5, .force_fade = 1, .anew = 2},
                              {.name = "b", WHOLE, .force = 5, .force_fade = 1, .anew = 0.5},
                              {.name = "c", WHOLE, .force = 5, .force_fade = 1.5}};
  static const verdict v[] = {
      {"mean(a.residuals/jump) > mean(a.residuals/rise)", YES, "2 > 1"},
      {"mean(b.residuals/jump) > mean(b.residuals/rise)", NO, "0.5 > 1"},
      {"sum(a.residuals/rounds) = 8 and mean(a.residuals/count) = 6", YES, "2 of 2"},
      {"max(c.residuals/jump) = 0 and max(c.residuals/rise) = 0", YES, "2 of 2"}};
  expect_all(CASES, false, runs, COUNT(runs), v, COUNT(v));
}

/* What residuals tell of convergence; rounding at their end tells nothing. */
static void test_rates(void) {
  static const fake runs[] = {{.name = "a", WHOLE, .force = 5, .force_fade = 1, .order = 2},
                              {.name = "b", WHOLE, .force = 5, .force_fade = 1, .order = 1},
                              {.name = "c", WHOLE, .force = 5, .force_fade = 1}};
  static const verdict v[] = {
      {"abs(convergence_order(a) - 2) < 1e-9", YES, "< 1e-09"},
      {"abs(convergence_order(b) - 1) < 1e-9 and abs(convergence_factor(b) - 0.1) < 1e-9", YES,
       "2 of 2"},
      {"convergence_order(c) = 1", OPEN, "- = 1"}};
  expect_all(CASES, false, runs, COUNT(runs), v, COUNT(v));
}

/* Files that do not tell what their scenes are made of are read, and say so. */
static void test_untold_scene(void) {
  static const fake runs[] = {{.name = "a", WHOLE, .unknowns = 24}};
  made_up m;
  hid_t file;
  char path[100];
  make_up(CASES "[claim material]\nholds = a.material = \"stable-neo-hookean\"\n"
                "[claim dynamic]\nholds = a.dynamic = 8\n"
                "[claim nodes]\nholds = a.nodes > 8\n",
          false, runs, COUNT(runs), 2, &m);
  snprintf(path, sizeof path, "scenes/%s/materials", eb_results_run(m.results, 0)->scene_hash);
  eb_results_close(m.results);
  tap_require(eb_h5_open_file(in_folder("all.h5"), true, &file), "the results");
  H5Ldelete(file, path, H5P_DEFAULT);
  tap_require(eb_h5_close_file(file, "all.h5"), "the results");
  tap_require(eb_results_open(in_folder("all.h5"), &m.results), "the results");
  m.evidence.results = m.results;
  expect(&m, "material", OPEN, "does not tell what bench/beam is made of: material");
  expect(&m, "dynamic", OPEN, "does not tell what bench/beam is made of: dynamic");
  expect(&m, "nodes", YES, "1 of 1");
  forget(&m);
}

/* ---- evidence -------------------------------------------------------------------------------- */

static void test_evidence(void) {
  static const fake runs[] = {
      {.name = "a", WHOLE, .kinetic = 1},
      {.name = "b", .outcome = EB_OUTCOME_DIVERGED, .steps = 3, .kinetic = 1, .iterations = 10},
      {.name = "c", WHOLE, .kinetic = 1, .lie = "bodies meet"},
      {.name = "d", .outcome = EB_OUTCOME_TIMED_OUT, .steps = 5, .kinetic = 1, .fade = 2},
      {.name = "e", .outcome = EB_OUTCOME_OUT_OF_MEMORY}};
  static const verdict v[] = {
      {"max(missing.kinetic) >= 0", OPEN, "missing: not run"},
      {"max(b.kinetic) >= 0", NO, "b: diverged"},
      {"max(c.kinetic) >= 0", OPEN, "c: audit failed, bodies meet"},
      {"max(e.kinetic) >= 0", OPEN, "e: out-of-memory"},
      {"max(a.kinetic) > 1 and max(missing.kinetic) >= 0", NO, "1 > 1"},
      {"max(a.kinetic) > 1 or max(missing.kinetic) >= 0", OPEN, "missing: not run"},
      {"max(a.kinetic) = 1 or max(missing.kinetic) >= 0", YES, "1 of 1"},
      {"all(max(x.kinetic) >= 0 for x in a missing)", OPEN, "1 of 2"},
      {"any(max(x.kinetic) >= 0 for x in missing a)", YES, "1 of 1"},
      {"any(max(x.kinetic) >= 0 for x in missing b)", NO, "b: diverged"},
      {"failed(b) and not failed(a)", YES, "2 of 2"},
      {"failed(a)", NO, "does not hold"},
      {"failed(d)", OPEN, "d: timed-out"},
      {"failed(missing)", OPEN, "not run"},
      {"failed(b) or max(b.kinetic) > 5", YES, "1 of 1"},
      {"all(completed(x) for x in a)", YES, "1 of 1"},
      {"all(completed(x) for x in a d)", OPEN, "d: timed-out"},
      {"completed(b)", NO, "b: diverged"},
      {"completed(c)", OPEN, "c: audit failed"},
      {"steps(a) > steps(b)", YES, "8 > 3"},
      {"steps(missing) > 1", OPEN, "missing: not run"},
      {"solved(a) = 8 and solved(b) = 2", YES, "2 of 2"},
      {"solved(missing) > 1", OPEN, "missing: not run"},
      /* A run cut short: what is reached stays reached. */
      {"max(d.kinetic) >= 15", YES, "16 >= 15"},
      {"max(d.kinetic) <= 15", NO, "16 <= 15"},
      {"max(d.kinetic) <= 17", OPEN, "stops before the end"},
      {"last(d.kinetic) >= 15", OPEN, "stops before the end"},
      {"max(d.kinetic[..5]) <= 16", YES, "16 <= 16"},
      {"max(d.kinetic[..0.8s]) <= 16", OPEN, "stops before the end"}};
  expect_all(CASES, false, runs, COUNT(runs), v, COUNT(v));
}

/* Fewer frames than the whole run show nothing about its end. */
static void test_shortened(void) {
  static const fake runs[] = {
      {.name = "a", .outcome = EB_OUTCOME_COMPLETED, .steps = 6, .wall = 1, .kinetic = 1}};
  static const verdict v[] = {{"completed(a)", OPEN, "a was asked for 3 of 4 frames"},
                              {"last(a.kinetic) = 1", OPEN, "stops before the end"},
                              {"mean(a.kinetic) = 1", YES, "1 = 1"},
                              {"max(a.kinetic) <= 1", OPEN, "stops before the end"}};
  expect_all(CASES, true, runs, COUNT(runs), v, COUNT(v));
}

/* `given` turns what is refuted into what cannot be said; ours and paper are expressions. */
static void test_given(void) {
  static const fake runs[] = {{.name = "a", WHOLE, .kinetic = 2}};
  made_up m;
  make_up(CASES "[claim lacking]\nholds = max(a.kinetic) > 3\ngiven = max(a.kinetic) > 2.5\n"
                "[claim granted]\nholds = max(a.kinetic) > 3\ngiven = max(a.kinetic) > 1\n"
                "[claim needless]\nholds = max(a.kinetic) > 1\ngiven = max(a.kinetic) > 2.5\n"
                "ours = 3 * max(a.kinetic)\npaper = 2 + 3\n",
          false, runs, COUNT(runs), 2, &m);
  expect(&m, "lacking", OPEN, "this is not given here: max(a.kinetic) > 2.5: 2 > 2.5");
  expect(&m, "granted", NO, "2 > 3");
  tap_near(expect(&m, "needless", YES, "2 > 1"), 6, 0, "ours as the claim says");
  forget(&m);
}

/* A range never decides; where it comes out otherwise the verdict says so. */
static void test_range(void) {
  static const fake runs[] = {{.name = "a", WHOLE, .kinetic = 2}};
  made_up m;
  make_up(CASES "[claim depends]\nholds = {w} * max(a.kinetic) > {h} for h w in 1 1 3 2\n"
                "range = h = {h} s: max(a.kinetic) > {h} for h in 1 2 3\n"
                "range = E = 1: max(missing.kinetic) > 1\n"
                "[claim alike]\nholds = max(a.kinetic) > 3\nrange = h = 4 s: max(a.kinetic) > 4\n",
          false, runs, COUNT(runs), 2, &m);
  expect(&m, "depends", YES, "; the same at h = 1 s; otherwise at h = 2 s, h = 3 s; open at E = 1");
  expect(&m, "alike", NO, "; the same at h = 4 s");
  forget(&m);
}

/* Energy from nowhere or momentum, where a paper reports it, and nothing else is forgiven. */
static void test_gains(void) {
  static const fake runs[] = {
      {.name = "a", WHOLE, .kinetic = 2, .lie = "3 J", .broken = "energy"},
      {.name = "b", WHOLE, .kinetic = 2, .lie = "3 J", .broken = "momentum,energy"},
      {.name = "c", WHOLE, .kinetic = 2, .lie = "3 N", .broken = "residual"}};
  static const char conditions[] = "[claim ca]\nholds = max(a.kinetic) > 1\n"
                                   "[claim cb]\nholds = max(b.kinetic) > 1\n"
                                   "[claim cc]\nholds = max(c.kinetic) > 1\n";
  made_up m;
  char ini[4000];
  static const char *const settings[] = {"", "may-gain = yes\n", "may-break = momentum energy\n"};
  for (int may = 0; may < 3; may++) {
    snprintf(ini, sizeof ini, "%s%s%s", CASES, settings[may], conditions);
    make_up(ini, false, runs, COUNT(runs), 2, &m);
    expect(&m, "ca", may ? YES : OPEN, may ? "2 > 1" : "a: audit failed, 3 J");
    expect(&m, "cb", may == 2 ? YES : OPEN, may == 2 ? "2 > 1" : "b: audit failed");
    expect(&m, "cc", OPEN, "c: audit failed, 3 N");
    forget(&m);
  }
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Each case three times; a step of a takes 1 s, of b 2 s, of c 8 s, in the three repetitions so
 * many times that. */
#define REPEATED "repeat = 3\n"
static void repeat(const char *name, double wall, const double *times, int steps, fake *out) {
  for (int r = 0; r < 3; r++)
    out[r] = (fake){.name = name,
                    .outcome = steps < 8 ? EB_OUTCOME_TIMED_OUT : EB_OUTCOME_COMPLETED,
                    .steps = steps,
                    .repetition = r,
                    .first = 50 * wall * times[r],
                    .wall = wall * times[r]};
}

static void test_times(void) {
  static const double alike[3] = {1, 1.02, 0.98}, noisy[3] = {1, 1.6, 0.7}, drift[3] = {1, 2, 4};
  static const verdict v[] = {
      {"mean(frame(b.wall)) / mean(frame(a.wall)) >= 1.5", YES, "2 [1.809, 2.211] >= 1.5"},
      {"mean(frame(b.wall)) / mean(frame(a.wall)) >= 2.5", NO, "95 % of 3 repetitions"},
      {"mean(frame(b.wall)) / mean(frame(a.wall)) >= 2.1", OPEN, "too noisy to say"},
      {"mean(frame(d.wall)) / mean(frame(a.wall)) >= 1.1", OPEN, "too noisy to say"},
      {"mean(frame(e.wall)) / mean(frame(c.wall)) = 1", YES, "3 repetitions"},
      {"mean(frame(a.wall)) < mean(frame(b.wall)) < 0.5*mean(frame(c.wall))", YES, "2 of 2"},
      {"rising(median(x.wall) for x in a b c)", YES, "2 of 2"},
      {"falling(median(x.wall) for x in a b c, 5%)", NO, "0 of 2"},
      {"falling(median(x.wall) for x in b a, 5%)", YES, "<= 1.05 * median(b.wall)"},
      {"rising(median(b.wall), median(a.wall), 60%)", YES, ">= 0.4 * median(b.wall)"},
      {"rising(median(x.wall) for x in a a)", NO, "> median(a.wall)"},
      {"falling(median(x.wall) for x in a a)", NO, "< median(a.wall)"},
      {"rising(median(x.wall) for x in a a, 1%)", YES, ">= 0.99 * median(a.wall)"},
      {"not rising(median(x.wall) for x in a b c)", NO, "not as claimed"},
      {"median(a.wall) < max(a.kinetic) or median(b.wall) > median(a.wall)", YES, "1 of 1"},
      {"mean(frame(a.wall)) / mean(frame(missing.wall)) > 0", OPEN, "missing: not run"}};
  fake runs[15];
  repeat("a", 1, alike, 8, runs);
  repeat("b", 2, (const double[]){1, 0.98, 1.02}, 8, runs + 3);
  repeat("c", 8, drift, 8, runs + 6);
  repeat("d", 2, noisy, 8, runs + 9);
  repeat("e", 8, drift, 8, runs + 12);
  expect_all(CASES REPEATED, false, runs, COUNT(runs), v, 5);
  /* The last of these asks for c and e alike. */
  repeat("c", 8, alike, 8, runs + 6);
  expect_all(CASES REPEATED, false, runs, COUNT(runs), v + 5, COUNT(v) - 5);
}

/* A machine that goes a third slower for a while, in another part of each of five repetitions. The
 * mean of a repetition varies by 11 % for it; what a step takes undisturbed does not. */
static void test_pace(void) {
  static const verdict v[] = {{"mean(a.wall) / mean(b.wall) >= 0.97", YES, "1 [0.99"},
                              {"mean(a.wall) / mean(b.wall) >= 1.03", NO, "95 % of 5 repetitions"},
                              {"spent(a) / spent(b) >= 0.97", YES, "1 [0.99"}};
  static const int slow[10] = {0, 0, 2, 0, 5, 0, 0, 4, 0, 6},
                   quick[10] = {0, 5, 8, 0, 8, 4, 0, 8, 0, 8};
  fake runs[10];
  for (int r = 0; r < 10; r++)
    runs[r] = (fake){
        .name = r % 2 ? "a" : "b", WHOLE, .repetition = r / 2, .slow = slow[r], .quick = quick[r]};
  for (int r = 0; r < 10; r++) runs[r].first = runs[r].wall = 1 + 0.002 * (r % 3);
  expect_all(CASES "repeat = 5\n", false, runs, COUNT(runs), v, COUNT(v));
}

static void test_one_repetition(void) {
  static const fake runs[] = {{.name = "a", WHOLE}, {.name = "b", WHOLE}};
  static const verdict v[] = {{"mean(a.wall) / mean(b.wall) > 0.1", OPEN, "3 are wanted"},
                              {"mean(a.iterations) = mean(b.iterations)", YES, "0 = 0"}};
  expect_all(CASES, false, runs, COUNT(runs), v, COUNT(v));
}

/* What ran once is judged by how much the others vary: here by 2 % with four degrees of freedom, t
 * = 2.776, two times on the two sides. The solve's share of half a run varies by 1 %, for which the
 * solve varies by 2 %, and so does that of a run that ran once: what a whole run varies by is not
 * in it. A frame varies by itself. */
static void test_pooled(void) {
  static const double alike[3] = {1, 1.02, 1 / 1.02}, shares[3] = {0.5, 0.505, 0.5 / 1.01};
  static const verdict v[] = {
      {"mean(frame(d.wall)) / mean(frame(e.wall)) >= 1.8", YES, "2 [1.8"},
      {"mean(frame(d.wall)) / mean(frame(e.wall)) >= 2.3", NO, "(4 degrees of freedom)"},
      {"mean(frame(d.wall)) / mean(frame(e.wall)) >= 1.95", OPEN, "too noisy to say"},
      {"mean(d.phases/factor) / mean(d.wall) > 1e-6", NO, "0 [0, 0] > 1e-06"},
      {"mean(d.phases/solve) / mean(d.wall) >= 0.48", YES, "0.5 [0.4864, 0.514]"},
      {"mean(d.phases/solve) / mean(d.wall) >= 0.49", OPEN, "a stage beside them by 2 %"},
      {"mean(d.phases/solve) / mean(e.wall) >= 0.97", OPEN, "1 [0.90"},
      {"max(frame(d.wall)) / min(frame(d.wall)) <= 1.05", OPEN, "too noisy to say"},
      {"max(frame(d.wall)) / min(frame(d.wall)) <= 1.1", YES, "1 [0.92"}};
  fake runs[8];
  repeat("a", 1, alike, 8, runs);
  repeat("b", 2, alike, 8, runs + 3);
  for (int r = 0; r < 6; r++) runs[r].solve = shares[r % 3] * runs[r].wall;
  runs[6] = (fake){.name = "d", WHOLE, .solve = 1};
  runs[7] = (fake){.name = "e", WHOLE};
  runs[6].wall = 2;
  expect_all(CASES REPEATED, false, runs, COUNT(runs), v, COUNT(v));
}

/* A step that the time limit has cut off has taken so long at least: b's first one, and c's
 * sixth. */
static void test_cut_steps(void) {
  static const double alike[3] = {1, 1.02, 1 / 1.02};
  static const verdict v[] = {
      {"spent(b) / spent(a) > 2", YES, "12.5 ["}, /* 100 s over 8 s */
      {"spent(b) / spent(a) > 20", OPEN, "its time is a lower bound"},
      {"spent(b) / spent(a) < 2", NO, "not as claimed"},
      {"spent(a) / spent(b) < 0.5", YES, "0.08 ["},
      {"spent(a) / spent(b) > 0.01", OPEN, "its time is a lower bound"},
      {"all(spent(x) / spent(a) > 2 for x in b c)", YES, "3.125 ["}, /* 5 s and 20 s over 8 s */
      {"spent(c) / spent(a) > 4", OPEN, "its time is a lower bound"},
      {"max(spent(a), spent(b)) / spent(a) > 20", OPEN, "its time is a lower bound"},
      {"mean(b.wall) > 0", OPEN, "b: timed-out"},
      {"spent(d) > 0", OPEN, "d: timed-out"},
      {"spent(missing) > 0", OPEN, "missing: not run"}};
  fake runs[10] = {{.name = "a", WHOLE},
                   {.name = "b", .outcome = EB_OUTCOME_TIMED_OUT, .cut_step = 100},
                   {.name = "c",
                    .outcome = EB_OUTCOME_TIMED_OUT,
                    .steps = 5,
                    .wall = 1,
                    .first = 1,
                    .cut_step = 20},
                   {.name = "d", .outcome = EB_OUTCOME_TIMED_OUT}};
  repeat("e", 1, alike, 8, runs + 4);
  repeat("other", 1, alike, 8, runs + 7);
  expect_all(CASES REPEATED, false, runs, COUNT(runs), v, COUNT(v));
}

/* Competitors of which one was cut are compared over what all of them did. */
static void test_competitors(void) {
  static const double alike[3] = {1, 1.01, 0.99};
  static const fake slower[] = {{.name = "a", WHOLE, .kinetic = 1, .fade = 2},
                                {.name = "b",
                                 .outcome = EB_OUTCOME_TIMED_OUT,
                                 .steps = 5,
                                 .wall = 1,
                                 .kinetic = 1,
                                 .fade = 2}};
  static const verdict v[] = {{"mean(a.kinetic) / mean(b.kinetic) = 1", YES, ": 1 = 1"},
                              {"mean(a.kinetic) > 30", YES, "31.88"}};
  static const verdict timed[] = {
      {"mean(frame(a.wall)) / mean(frame(b.wall)) <= 1.1", YES, "3 repetitions"}};
  fake runs[6];
  expect_all(CASES, false, slower, COUNT(slower), v, COUNT(v));
  repeat("a", 1, alike, 8, runs);
  repeat("b", 1, (const double[]){1, 0.99, 1.01}, 5, runs + 3);
  for (int r = 0; r < 6; r++) runs[r].growth = 1;
  expect_all(CASES REPEATED, false, runs, COUNT(runs), timed, COUNT(timed));
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void test_motion(void) {
  static const fake runs[] = {{.name = "a", WHOLE},
                              {.name = "b", WHOLE, .drift = 0.01, .inverted = 3},
                              {.name = "c", WHOLE, .touches = 1, .leaves = 4, .again = 6},
                              {.name = "f", WHOLE, .touches = 1, .leaves = 4},
                              {.name = "d", WHOLE, .drift = NAN},
                              {.name = "e", .outcome = EB_OUTCOME_TIMED_OUT, .steps = 6},
                              {.name = "other", WHOLE}};
  static const verdict v[] = {
      {"max(distance(b, a)) <= 0.08", YES, "0.07698"}, /* 0.08 m of 1.039 m */
      {"max(distance(b, a)) <= 0.07", NO, "0.07698"},
      {"max(distance(b, c)[..bounce_end(c)]) <= 0.04", YES, "0.03849"},
      {"max(distance(b, c)[..second_touch(c)]) <= 0.06", YES, "0.05774"},
      {"max(distance(b, f)[..bounce_end(f)]) <= 0.04", YES, "0.03849"},
      {"max(distance(b, f)[..second_touch(f)]) <= 1", OPEN, "stops before the end"},
      {"max(distance(b, a)[..bounce_end(a)]) <= 1", OPEN, "stops before the end"},
      {"max(distance(d, a)) <= 1", OPEN, "- <= 1"},
      {"max(distance(a, missing)) <= 1", OPEN, "missing: not run"},
      {"final_distance(b, a) <= 8e-2 and final_distance(a, a) = 0", YES, "2 of 2"},
      {"final_distance(b, a) <= 7e-2", NO, "not as claimed"},
      {"final_distance(e, a) <= 1", OPEN, "stops before the end"},
      {"shape_error(b) <= 1e-6", YES, "1 of 1"},
      {"shape_error(b, a) <= 1e-6", YES, "1 of 1"},
      {"size(a, x) = 1 and abs(size(a, z) - 0.2) < 1e-9", YES, "2 of 2"},
      {"abs(diagonal(a)^2 - 1.08) < 1e-9", YES, "1 of 1"},
      {"abs(max(extent(b, x)) - 1) < 1e-6", YES, "1 of 1"},
      {"max(joint(a, 0)) > 0", OPEN, "- > 0"},
      {"roughness(b) < 1e-6", YES, "1 of 1"}};
  expect_all(CASES, false, runs, COUNT(runs), v, COUNT(v));
}

/* A stretch by 1e-12 m at most, far below the 6e-8 that single precision tells apart at 1 m, is
 * seen where both runs keep the state in doubles. The body has then gone 0.08 m, and its end is at
 * 1.08 m; the diagonal is 1.039 m. */
static void test_doubles(void) {
#define KEPT WHOLE, .drift = 0.01, .kept = true
  static const fake runs[] = {{.name = "a", KEPT},
                              {.name = "b", KEPT, .stretch = 1e-12},
                              {.name = "c", WHOLE, .drift = 0.01, .stretch = 1e-12},
                              {.name = "d", WHOLE, .kept = true, .drift = NAN}};
  static const verdict v[] = {
      {"1.038e-12 < final_distance(b, a) < 1.041e-12", YES, "2 of 2"},
      {"final_distance(c, a) = 0 and final_distance(b, c) = 0", YES, "2 of 2"},
      {"1e-13 < max(distance(b, a)) < 1.04e-12", YES, "2 of 2"},
      {"max(distance(b, a)[..0.6s]) = 0", YES, "0 = 0"},
      {"max(distance(c, a)) = 0", YES, "0 = 0"},
      {"1e-13 < shape_error(b, a) < 1.04e-12 and shape_error(c, a) < 1e-6", YES, "3 of 3"},
      {"1e-12 < error(b, a) < 1.4e-11 and error(c, a) = 0", YES, "3 of 3"},
      {"final_distance(d, a) < 1", OPEN, "- < 1"}};
  expect_all(CASES, false, runs, COUNT(runs), v, COUNT(v));
}

static void test_turning(void) {
  static const fake runs[] = {{.name = "a", WHOLE, .turn = 0.5, .stretch = 0.2},
                              {.name = "b", WHOLE, .turn = -0.02},
                              {.name = "c", WHOLE, .drift = 0.1},
                              {.name = "d", WHOLE, .stretch = 0.01}};
  static const verdict v[] = {
      {"abs(turn(a, x, upper)) > 24 * max(abs(turn(y, x, upper)) for y in b c)", YES, "28.65 > 24"},
      {"abs(turn(a, x, upper)) > 26 * max(abs(turn(y, x, upper)) for y in b c)", NO, "28.65 > 26"},
      {"abs(turn(a, x, lower)) < 1e-4", YES, "1 of 1"},
      {"unrest(c) <= 1e-6", YES, "1 of 1"},
      {"unrest(d) <= 1e-3", NO, "unrest(d)"},
      {"roughness(d) < roughness(a)", YES, "1 of 1"}};
  expect_all(CASES, false, runs, COUNT(runs), v, COUNT(v));
}

/* The beam is 1 x 0.2 x 0.2 m, the saw 2 mm. A cube whose far face is turned by 0.5 rad has the
 * cross-section 1 - 2 t (1 - t) (1 - cos) at t, and so the volume (2 + cos 0.5) / 3. Frames are
 * floats. */
static void test_shapes(void) {
  static const fake runs[] = {{.name = "a", WHOLE, .stretch = 0.1},
                              {.name = "b", WHOLE, .saw = 2e-3},
                              {.name = "c", WHOLE, .arc = 1},
                              {.name = "d", WHOLE, .arc = 1, .saw = 2e-3}};
  static const fake cube[] = {{.name = "cube", WHOLE, .turn = 0.5}};
  static const verdict v[] = {
      {"abs(last(volume(a)) - 1.1) < 1e-6 and abs(first(volume(a)) - 1) < 1e-6", YES, "2 of 2"},
      {"abs(stretch(a) - 0.1) < 1e-5", YES, "1 of 1"},
      {"zigzag(a, x, z) < 1e-5", YES, "1 of 1"},
      {"abs(zigzag(b, x, z) / (2e-3 / 0.2) - 1) < 1e-4", YES, "1 of 1"},
      {"zigzag(c, x, z) < 1e-5", YES, "1 of 1"},
      {"abs(zigzag(d, x, z) / zigzag(b, x, z) - 1) < 2e-2", YES, "1 of 1"}};
  static const verdict turned[] = {
      {"abs(last(volume(cube)) - (2 + 0.8775825619) / 3) < 1e-6", YES, "1 of 1"},
      {"stretch(cube) > 0.01", YES, "1 of 1"}};
  expect_all(CASES, false, runs, COUNT(runs), v, COUNT(v));
  expect_all("[solvers]\na = newton\n[cases all]\nframes = 8\n"
             "cube = lewin2016/pbfe-scale:cubes=1 a\n",
             false, cube, COUNT(cube), turned, COUNT(turned));
}

static void test_bounces(void) {
  static const fake runs[] = {
      {.name = "a", WHOLE, .kinetic = 1},
      {.name = "b",
       WHOLE,
       .touches = 2,
       .leaves = 5,
       .momentum = 2,
       .rebound = 0.25,
       .depth = 3e-3},
      {.name = "c", WHOLE, .touches = 2, .leaves = 8, .momentum = 2, .rebound = 0.25}};
  static const verdict v[] = {{"restitution(b) = 0.25 and flight(b) >= 1", YES, "3 >= 1"},
                              {"flight(c) >= 1", NO, "0 >= 1"},
                              {"restitution(a) >= 0", OPEN, "- >= 0"},
                              {"max(b.max_penetration) / size(b, z) <= 0.016", YES, "= 0.015"},
                              {"max(b.max_penetration) / size(b, z) <= 0.014", NO, "= 0.015"}};
  expect_all(CASES, false, runs, COUNT(runs), v, COUNT(v));
}

/* a goes 0.08 m; b is 0.001 m a step off, d 0.01 m. */
static void test_errors(void) {
  static const fake runs[] = {{.name = "a", WHOLE, .drift = 0.01},
                              {.name = "b", WHOLE, .drift = 0.011},
                              {.name = "c", .outcome = EB_OUTCOME_DIVERGED, .steps = 3},
                              {.name = "d", WHOLE, .drift = 0.02}};
  static const verdict v[] = {{"any(failed(y) or error(y, a) > 50% for y in b d)", YES, "1 of 1"},
                              {"any(failed(y) or error(y, a) > 1.5 for y in b d)", NO, "0 of 1"},
                              {"failed(c) or error(c, a) > error(b, a)", YES, "1 of 1"},
                              {"abs(error(b, a) - 0.1) < 1e-5", YES, "1 of 1"}};
  expect_all(CASES, false, runs, COUNT(runs), v, COUNT(v));
}

/* Runs of two scenes, or meshes of other sizes, are a mistake of the paper's file. */
static void test_mismatch(void) {
  static const fake runs[] = {{.name = "a", WHOLE}, {.name = "other", WHOLE}};
  static const char *const wrong[][2] = {{"max(distance(a, other)) <= 1", "one scene"},
                                         {"final_distance(a, other) <= 1", "same nodes"}};
  for (int w = 0; w < 2; w++) {
    char ini[2000];
    made_up m;
    eb_claim_result result;
    snprintf(ini, sizeof ini, "%s[claim x]\nholds = %s\n", CASES, wrong[w][0]);
    make_up(ini, false, runs, COUNT(runs), 2, &m);
    eb_evaluation e = {.paper = m.paper, .evidence = &m.evidence, .left_out = -1};
    tap_fails(eb_claim_judge(&e, &m.paper->claims[0], &result), EB_ERR_INVALID, wrong[w][1],
              wrong[w][0]);
    eb_claim_result_clear(&result);
    forget(&m);
  }
}

/* A shape that is turned, moved and stretched: only the stretch remains. */
static void test_rigid(void) {
  enum { POINTS = 5 };
  static const double x[3 * POINTS] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 1, 1, 1};
  double y[3 * POINTS];
  eb_distance distance;
  for (int i = 0; i < POINTS; i++) { /* a third of a turn about (1, 1, 1), and a shift */
    y[3 * i] = x[3 * i + 2] + 5;
    y[3 * i + 1] = x[3 * i] - 7;
    y[3 * i + 2] = x[3 * i + 1] + 0.5;
  }
  eb_rigid_distance(x, y, POINTS, 1, &distance);
  /* Rounding of a rotation from sums of squares of about ten. */
  tap_below(distance.max, 1e-14, "a rigid motion leaves nothing");
  y[0] += 0.1;
  eb_rigid_distance(x, y, POINTS, 2, &distance);
  tap_ok(distance.max > 0.02 && distance.max <= 0.05, "a moved corner does, over the length");
  tap_below(distance.rms, distance.max, "the mean is below the most");
  y[0] = NAN;
  eb_rigid_distance(x, y, POINTS, 1, &distance);
  tap_ok(isnan(distance.max) && isnan(distance.rms), "what is not a number stays so");
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void test_tables(void) {
  static const fake runs[] = {{.name = "a", WHOLE, .kinetic = 2},
                              {.name = "b", WHOLE, .kinetic = 4}};
  static const verdict v[] = {{"min(ratios(t)) >= 0.5 and max(ratios(t)) <= 2", YES, "2 of 2"},
                              {"max(ratios(t)) <= 1.9", NO, "2 <= 1.9"},
                              {"mean(ratios(t, b, x)) = 0.5", YES, "0.5 = 0.5"},
                              {"max(a.kinetic) = 2 * paper(t, a, x)", YES, "2 = 2 * 1 = 2"},
                              {"max(ratios(more)) <= 9", OPEN, "missing: not run"}};
  write_paper("made-up", "t.tsv", "row\tx\na\t1\nb\t8\n");
  write_paper("made-up", "more.tsv", "row\tx\na\t1\nmissing\t8\n");
  expect_all(CASES "[table t]\ndata = t.tsv\ncolumn = x | x | max({row}.kinetic)\n"
                   "[table more]\ndata = more.tsv\ncolumn = x | x | max({row}.kinetic)\n",
             false, runs, COUNT(runs), v, COUNT(v));
}

/* What is not finite decides nothing, either way. */
static void test_infinite(void) {
  static const fake runs[] = {{.name = "a", WHOLE, .kinetic = 2, .fade = 0.5},
                              {.name = "b", WHOLE, .kinetic = 4}};
  static const verdict v[] = {{"max(a.kinetic / 0) > 0", OPEN, "- > 0"},
                              {"max(a.kinetic / 0) <= 1", OPEN, "- <= 1"},
                              {"min(a.kinetic / (a.kinetic - 1)) < 9", OPEN, "- < 9"},
                              {"1 / 0 > 0", OPEN, "- > 0"},
                              {"0 / 0 != 1", OPEN, "- != 1"},
                              {"-1 / 0 < 0", OPEN, "- < 0"},
                              {"log(0) < 0", OPEN, "- < 0"},
                              {"min(log(a.kinetic - 1)) < 0", OPEN, "- < 0"},
                              {"10^400 > 1", OPEN, "- > 1"},
                              {"max(a.kinetic * 10^300 * 10^300) > 1", OPEN, "- > 1"},
                              {"1 / (1 / 0) = 0", OPEN, "- = 0"},
                              {"max(ratios(t)) > 1", OPEN, "- > 1"},
                              {"min(ratios(t)) > 1", OPEN, "- > 1"},
                              {"1 / 0 > 0 or max(a.kinetic) = 2", YES, "2 = 2"},
                              {"count(a.kinetic / 0) = 8", YES, "8 = 8"}};
  write_paper("made-up", "t.tsv", "row\tx\na\t0\nb\t8\n");
  expect_all(CASES "[table t]\ndata = t.tsv\ncolumn = x | x | max({row}.kinetic)\n", false, runs,
             COUNT(runs), v, COUNT(v));
}

int main(void) {
  eb_h5_quiet();
  scratch_open();
  test_figures();
  test_rising_residuals();
  test_rates();
  test_untold_scene();
  test_evidence();
  test_shortened();
  test_given();
  test_range();
  test_gains();
  test_times();
  test_pace();
  test_one_repetition();
  test_pooled();
  test_competitors();
  test_motion();
  test_doubles();
  test_turning();
  test_shapes();
  test_bounces();
  test_errors();
  test_mismatch();
  test_rigid();
  test_tables();
  test_infinite();
  test_cut_steps();
  return scratch_close();
}
