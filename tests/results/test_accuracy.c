/* Classes of accuracy: which runs are ranked, and against whom. */
#include "harness/results/accuracy.h"
#include "tests/tap.h"

/* A run of three steps that ended well; its texts are literals. */
static eb_run good_run(const char *equation, double error) {
  return (eb_run){.scene = (char *)"bench/beam",
                  .parameters = (char *)"dt=0.01",
                  .mesh_source = (char *)"generated",
                  .solver = (char *)"newton",
                  .outcome = (char *)"completed",
                  .audit = (char *)"passed",
                  .equation = (char *)equation,
                  .error = error,
                  .steps_wanted = 3,
                  .steps_done = 3};
}

static void test_bands(void) {
  static const struct {
    double error;
    eb_band band;
  } cases[] = {
      {0, EB_BAND_BELOW_1E8},    {1e-300, EB_BAND_BELOW_1E8}, {1e-8, EB_BAND_1E8},
      {1e-6, EB_BAND_1E6},       {1e-4, EB_BAND_1E4},         {1e-2, EB_BAND_1E2},
      {1e-1, EB_BAND_ORDER_ONE}, {1, EB_BAND_ORDER_ONE},      {INFINITY, EB_BAND_ORDER_ONE},
      {NAN, EB_BAND_UNKNOWN},    {-1e-9, EB_BAND_UNKNOWN}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    tap_ok(eb_band_of(cases[i].error) == cases[i].band, "the band of an error of %g",
           cases[i].error);
  static const double edges[] = {1e-8, 1e-6, 1e-4, 1e-2, 1e-1};
  for (int i = 0; i < 5; i++)
    tap_ok((int)eb_band_of(nextafter(edges[i], 0)) == i, "just under %g is the band before",
           edges[i]);
}

static void words_are(const char *equation, double error, const char *wanted) {
  eb_run run = good_run(equation, error);
  eb_class_name name = eb_class_describe(eb_class_of(&run));
  if (!tap_ok(strcmp(name.text, wanted) == 0, "in words: %s", wanted)) printf("# %s\n", name.text);
}

static void test_words(void) {
  words_are("implicit Euler", 3e-12, "implicit Euler, below 1e-8");
  words_are("static", 1e-7, "static, 1e-8 to 1e-6");
  words_are("linearized, stiffness x 3", 1e-2, "linearized, stiffness x 3, 1e-2 to 1e-1");
  words_are("position-based", 0.4, "position-based, of order one");
  words_are("reduced", NAN, "class unknown");
  words_are("", 0, "class unknown");
  char longer[300];
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  eb_run run = good_run(longer, 1e-3);
  tap_ok(strlen(eb_class_describe(eb_class_of(&run)).text) < sizeof(eb_class_name),
         "the name of an equation that is too long is cut");
}

static void test_order(void) {
  eb_run sorted[] = {good_run("implicit Euler", 1e-9), good_run("implicit Euler", 1e-3),
                     good_run("implicit Euler", 0.5),  good_run("linearized", 1e-12),
                     good_run("static", 1e-12),        good_run("", 0)};
  enum { COUNT = sizeof sorted / sizeof *sorted };
  bool good = true;
  for (int i = 0; i < COUNT; i++)
    for (int j = 0; j < COUNT; j++) {
      int order = eb_class_compare(eb_class_of(&sorted[i]), eb_class_of(&sorted[j]));
      good = good && (order > 0) - (order < 0) == (i > j) - (i < j);
    }
  tap_ok(good, "classes go by equation, then from tight to loose, the unknown one last");
  eb_run nameless = good_run("reduced", NAN);
  tap_ok(eb_class_compare(eb_class_of(&nameless), eb_class_of(&sorted[COUNT - 1])) == 0,
         "there is one unknown class");
}

static void test_ranked(void) {
  eb_run run = good_run("implicit Euler", 0.0999);
  tap_ok(eb_run_ranked(&run), "a coarse run is ranked in its class");
  run.error = 0.1;
  tap_ok(!eb_run_ranked(&run), "one whose steps explain too little is not");
  run = good_run("implicit Euler", 1e-9);
  run.audit = (char *)"failed";
  tap_ok(!eb_run_ranked(&run), "nor one that the audit contradicts,");
  run.audit = (char *)"none";
  tap_ok(!eb_run_ranked(&run), "nor one that no audit has seen,");
  run = good_run("implicit Euler", 1e-9);
  run.outcome = (char *)"timed-out";
  tap_ok(!eb_run_ranked(&run), "nor one that did not come to its end,");
  run = good_run("", 0);
  tap_ok(!eb_run_ranked(&run), "nor one that names no equation,");
  run = good_run("implicit Euler", NAN);
  tap_ok(!eb_run_ranked(&run), "nor one whose error is no number,");
  run = good_run("implicit Euler", 0);
  run.steps_done = 0;
  tap_ok(!eb_run_ranked(&run), "nor one without steps,");
  run = (eb_run){.outcome = (char *)"skipped", .audit = (char *)"none"};
  tap_ok(!eb_run_ranked(&run) && eb_class_of(&run).band == EB_BAND_UNKNOWN,
         "nor one that names no equation at all");
}

static void test_comparable(void) {
  eb_run one = good_run("implicit Euler", 1e-9), other = good_run("implicit Euler", 1e-11);
  tap_ok(eb_run_comparable(&one, &other), "two runs of one class are comparable");
  other.error = 1e-8;
  tap_ok(!eb_run_comparable(&one, &other), "not with another band,");
  other = good_run("linearized", 1e-9);
  tap_ok(!eb_run_comparable(&one, &other), "nor another equation,");
  other = good_run("static", 1e-9);
  tap_ok(!eb_run_comparable(&one, &other), "nor a static run with a dynamic one,");
  other = good_run("implicit Euler", 1e-9);
  other.parameters = (char *)"dt=0.02";
  tap_ok(!eb_run_comparable(&one, &other), "nor with other parameters of the scene,");
  other = good_run("implicit Euler", 1e-9);
  other.mesh_source = (char *)"scan.obj";
  tap_ok(!eb_run_comparable(&one, &other), "nor on another mesh,");
  other = good_run("implicit Euler", 1e-9);
  other.steps_wanted = other.steps_done = 4;
  tap_ok(!eb_run_comparable(&one, &other), "nor over more steps,");
  eb_run coarse = good_run("implicit Euler", 0.5);
  tap_ok(!eb_run_comparable(&coarse, &coarse), "nor any of order one, not even with itself");
}

static void test_standing(void) {
  eb_run runs[] = {good_run("implicit Euler", 1e-9), good_run("implicit Euler", 1e-10),
                   good_run("implicit Euler", 1e-9), good_run("linearized", 1e-9),
                   good_run("implicit Euler", 1e-9), good_run("implicit Euler", 1e-9)};
  enum { COUNT = sizeof runs / sizeof *runs };
  const eb_run *all[COUNT];
  double costs[COUNT] = {3, 2, 0.5, 0.1, NAN, 0};
  for (int r = 0; r < COUNT; r++) all[r] = &runs[r];
  runs[2].audit = (char *)"failed";
  runs[1].options = (char *)"rtol=1e-10";
  eb_rank first = eb_run_rank(all, costs, COUNT, 1), second = eb_run_rank(all, costs, COUNT, 0);
  tap_ok(first.place == 1 && first.of == 2 && first.over == 1, "the cheapest of its class");
  tap_ok(second.place == 2 && second.of == 2 && second.over == 1.5, "and the one behind it");
  eb_rank alone = eb_run_rank(all, costs, COUNT, 3);
  tap_ok(alone.place == 1 && alone.of == 1 && alone.over == 1,
         "a cheaper class competes with none");
  for (int r = 2; r < COUNT; r += r == 2 ? 2 : 1) {
    eb_rank none = eb_run_rank(all, costs, COUNT, r);
    tap_ok(none.place == 0 && none.of == 0 && isnan(none.over), "%s has no place",
           r == 2 ? "a run that failed its audit" : "one whose cost is not known");
  }
}

static void test_repetitions(void) {
  eb_run runs[] = {good_run("implicit Euler", 1e-9), good_run("implicit Euler", 1e-9),
                   good_run("implicit Euler", 1e-9), good_run("implicit Euler", 1e-9),
                   good_run("implicit Euler", 1e-9)};
  enum { COUNT = sizeof runs / sizeof *runs };
  const eb_run *all[COUNT];
  const double costs[COUNT] = {2, 3, 2.5, 4, 2};
  static const int places[COUNT] = {1, 2, 2, 3, 1};
  for (int r = 0; r < COUNT; r++) all[r] = &runs[r];
  runs[1].options = runs[2].options = (char *)"rtol=1e-10";
  runs[3].threads = 2;
  bool good = true;
  for (int r = 0; r < COUNT; r++) {
    eb_rank rank = eb_run_rank(all, costs, COUNT, r);
    good = good && rank.place == places[r] && rank.of == 3 && rank.over == costs[r] / 2;
  }
  tap_ok(good, "repetitions of a solver share its place");
}

int main(void) {
  test_bands();
  test_words();
  test_order();
  test_ranked();
  test_comparable();
  test_standing();
  test_repetitions();
  return tap_done();
}
