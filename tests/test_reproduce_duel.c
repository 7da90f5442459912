/* The probe `duel` on a block of few elements, what measures make of its figures, and figures of several runs: spread, sum, late. */
#include "harness/reproduce/probe.h"
#include "tests/reproduce_fixture.h"

/* ---- the probe ---------------------------------------------------------------------------------- */

/* A block of 192 tetrahedra lands on an incline within 10 steps and slides. */
#define BLOCK "verschoor2019/incline:mu=0.3"
#define PAPER                                                                                      \
  "[probe duel]\nkind = duel\n"                                                                    \
  "setup = one " BLOCK " 20 3 4\n"                                                                 \
  "setup = two " BLOCK " 1000 30 40 " BLOCK ",E=1e6 4 1 3\n"                                       \
  "solver = full contact-cr\n"                                                                     \
  "solver = diag contact-cr:preconditioner=diag one\n"                                             \
  "solver = hasty contact-cr:max_iterations=1 one\n"                                               \
  "series = one\n"

static json_t *duel(const char *ini, bool quick) {
  eb_paper *paper;
  json_t *result;
  write_paper("duel", "paper.ini", ini);
  tap_require(eb_paper_load("duel", folder, quick, &paper), "a paper");
  tap_require(eb_probes_check(paper), "its probes");
  tap_require(eb_probe_execute(paper, "duel", in_folder("duel-duel.json")), "the probe");
  tap_require(eb_probe_load(paper, folder, "duel", &result), "its result");
  eb_paper_destroy(paper);
  return result;
}

static const json_t *row_of(const json_t *result, const char *key) {
  return json_object_get(json_object_get(result, "rows"), key);
}

static double field_of(const json_t *result, const char *key, const char *field) {
  const json_t *value = json_object_get(row_of(result, key), field);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static void check_counts(const json_t *result) {
  tap_near(field_of(result, "one-full", "objects"), 1, 0, "bodies");
  tap_near(field_of(result, "one-full", "elements"), 4 * 4 * 2 * 6, 0, "tetrahedra");
  tap_near(field_of(result, "one-full", "faces"), 2 * 2 * (16 + 8 + 8), 0, "faces of its surface");
  tap_near(field_of(result, "one-full", "dt"), 1e-3, 0, "the step");
  tap_near(field_of(result, "one-full", "young"), 1e8, 0, "Young's modulus");
  tap_near(field_of(result, "one-full", "steps"), 20 + 3 * 4, 0, "settled, then a stride a sample");
}

static void check_times(const json_t *result, const char *key) {
  double resolution = field_of(result, key, "resolution_mean"),
         collision = field_of(result, key, "collision_mean"),
         total = field_of(result, key, "total_mean"), build = field_of(result, key, "build_share"),
         apply = field_of(result, key, "apply_share");
  tap_near(field_of(result, key, "samples"), 3, 0, "every sample is given to all");
  tap_near(field_of(result, key, "failures"), 0, 0, "and converges");
  tap_ok(resolution > 0 && collision > 0 && resolution + collision <= total,
         "%s: contacts and collisions take parts of the time", key);
  tap_ok(build > 0 && apply > 0 && build + apply < 1, "%s: so does the preconditioner", key);
  tap_ok(field_of(result, key, "iterations_most") >= field_of(result, key, "iterations_median") &&
             field_of(result, key, "iterations_median") > 0,
         "%s: iterations", key);
  tap_ok(field_of(result, key, "constraints_mean") >= 3, "%s: a block rests on three contacts",
         key);
}

/* Twice as many solves as problems, or fewer samples, would show. */
static void check_series(const json_t *result, const char *key) {
  char ends[40];
  snprintf(ends, sizeof ends, "%s-ends", key);
  const json_t *series = json_object_get(result, "series"),
               *y = json_object_get(json_object_get(series, key), "y"),
               *last = json_object_get(json_object_get(series, ends), "y");
  size_t count = json_array_size(y), marks = json_array_size(last);
  tap_ok(count > 1 && marks >= 1 && marks < count, "%s: residuals and their marks", key);
  if (!count || !marks) return;
  tap_near(json_number_value(json_array_get(y, count - 1)),
           json_number_value(json_array_get(last, marks - 1)), 0, "  the last is marked");
  tap_ok(json_number_value(json_array_get(last, marks - 1)) <= 5e-5, "  it meets eps1");
}

static void test_duel(void) {
  json_t *result = duel(PAPER, true);
  check_counts(result);
  check_times(result, "one-full");
  check_times(result, "one-diag");
  check_series(result, "one-full");
  check_series(result, "one-diag");
  tap_near(field_of(result, "one-hasty", "failures"), 3, 0, "a solver that is cut off fails");
  tap_ok(isnan(field_of(result, "one-hasty", "resolution_mean")), "and has no time");
  const char *reason = json_string_value(json_object_get(row_of(result, "one-hasty"), "reason"));
  tap_ok(reason && strcmp(reason, "EB_DIVERGED_MAX_IT") == 0, "but a reason");
  tap_ok(!row_of(result, "two-diag"), "a solver is given only the setups that it names");
  tap_near(field_of(result, "two-full", "young"), 1e6, 0, "a quick run has a scene of its own");
  tap_near(field_of(result, "two-full", "steps"), 4 + 3, 0, "and settles less");
  json_decref(result);
}

static void refuse_duel(const char *lines, const char *says) {
  char ini[400];
  snprintf(ini, sizeof ini, "[probe duel]\nkind = duel\n%s", lines);
  json_t *result = duel(ini, false);
  const char *error = json_string_value(json_object_get(result, "error"));
  tap_ok(error && strstr(error, says), "%s", says);
  json_decref(result);
}

static void test_mistakes(void) {
  refuse_duel("setup = a " BLOCK " 1 1\nsolver = x contact-cr\n", "it is not 'SETUP SCENE");
  refuse_duel("setup = a " BLOCK " 1 1 1\nsolver = x\n", "'x' is not 'KEY SOLVER");
  refuse_duel("setup = a " BLOCK " 1 1 1\nsolver = x contact-cr b\n", "no solver for setup 'a'");
  refuse_duel("setup = a " BLOCK " 1 0 1\nsolver = x contact-cr\n", "samples");
  refuse_duel("setup = a no/scene 1 1 1\nsolver = x contact-cr\n", "there is no scene 'no/scene'");
}

/* ---- smaller scenes ----------------------------------------------------------------------------- */

#define RUNS                                                                                       \
  "[solvers]\na = newton:rtol=1e-3\nb = newton:rtol=1e-4\nc = newton:rtol=1e-5\n"                  \
  "d = newton:rtol=1e-6\n[cases all]\nframes = 4\nquick-scene = nu=0.3\n"                          \
  "a = bench/beam:resolution=0.25 a\nb = bench/beam:resolution=0.25 b\n"                           \
  "c = bench/beam:resolution=0.25 c\nd = bench/beam:resolution=0.25 d\nplain = bench/beam b\n"
static void test_quick_scene(void) {
  eb_paper *paper;
  write_paper("reduced", "paper.ini", RUNS);
  tap_require(eb_paper_load("reduced", folder, true, &paper), "a quick paper");
  tap_ok(strcmp(paper->cases[0].scene, "bench/beam:resolution=0.25,nu=0.3") == 0,
         "more parameters");
  tap_ok(strcmp(paper->cases[4].scene, "bench/beam:nu=0.3") == 0, "or the first ones");
  tap_ok(paper->cases[0].frames == paper->cases[0].all_frames, "and all frames");
  eb_paper_destroy(paper);
  tap_require(eb_paper_load("reduced", folder, false, &paper), "a full one");
  tap_ok(strcmp(paper->cases[0].scene, "bench/beam:resolution=0.25") == 0, "has its own");
  eb_paper_destroy(paper);
}

int main(void) {
  eb_h5_quiet();
  scratch_open();
  test_duel();
  test_mistakes();
  test_quick_scene();
  return scratch_close();
}
