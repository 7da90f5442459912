/* Scaling studies on runs whose times are the model's own, so that constants, errors and
 * efficiencies are known; and on runs that nothing can be told of. */
#include "harness/predict/scaling_study.h"
#include "harness/predict/scaling_words.h"

#include <string.h>

#include "tests/tap.h"

static const eb_scaling_machine machine = {
    .network = {2e-6, 8e9, 3e-6}, .cores = 2, .triad = 1e10, .triad_all = 1.5e10};
static const eb_scaling_work work = {
    .assemble = 1e-6, .setup = 4e-6, .iteration = 2e-6, .iterations = 9, .elements_per_node = 5.5};
static const double exact = 1e-12; /* roundings of some ten operations */

/* A run that takes exactly what the model says. */
static eb_scaling_sample sample(const char *scene, double elements, int ranks,
                                const eb_scaling_work *of) {
  enum { ITERATIONS = 4 };
  const double total = eb_scaling_predict(&machine, of, elements, ranks, ranks).total;
  const double nodes = elements / of->elements_per_node;
  return (eb_scaling_sample){.problem = "bench/block",
                             .solver = "newton:linear=petsc/steps:3",
                             .machine = "here",
                             .scene = scene,
                             .trouble = "",
                             .elements = elements,
                             .nodes = nodes,
                             .ranks = ranks,
                             .seconds = ITERATIONS * total,
                             .setup = ITERATIONS * of->setup * elements,
                             .solve = ITERATIONS * of->iterations * of->iteration * nodes,
                             .iterations = ITERATIONS,
                             .linear_iterations = ITERATIONS * of->iterations,
                             .at = machine};
}

static void add(eb_scaling_samples *samples, eb_scaling_sample s) {
  tap_require(eb_scaling_add(samples, &s), "a run");
}

static const eb_scaling_row *find(const eb_scaling_series *series, const char *scene, int ranks) {
  for (int r = 0; r < series->row_count; r++)
    if (series->rows[r].sample->ranks == ranks && strcmp(series->rows[r].sample->scene, scene) == 0)
      return &series->rows[r];
  tap_ok(false, "there is a row of %s on %d ranks", scene, ranks);
  return &series->rows[0];
}

static eb_scaling_study study_of(const eb_scaling_samples *samples,
                                 const eb_scaling_request *request) {
  const eb_scaling_request usual = eb_scaling_usual();
  eb_scaling_study study;
  tap_require(eb_scaling_study_create(samples, request ? request : &usual, &study), "a study");
  return study;
}

static void clear(eb_scaling_samples *samples, eb_scaling_study *study) {
  eb_scaling_study_clear(study);
  eb_scaling_samples_clear(samples);
}

/* Sizes n, 2 n and 4 n on 1, 2 and 4 ranks. */
static void add_table(eb_scaling_samples *samples, const eb_scaling_work *of) {
  static const char *const scenes[] = {"n", "2n", "4n"};
  for (int size = 0; size < 3; size++)
    for (int ranks = 1; ranks <= 4; ranks *= 2)
      add(samples, sample(scenes[size], 4e4 * (1 << size), ranks, of));
}

/* ---- what is measured is what is told -------------------------------------------------------- */

static void test_constants(void) {
  eb_scaling_samples samples = {0};
  add_table(&samples, &work);
  eb_scaling_study study = study_of(&samples, NULL);
  tap_ok(study.count == 1 && study.series[0].row_count == 9, "one series of nine rows");
  const eb_scaling_series *series = &study.series[0];
  const eb_scaling_work got = eb_scaling_given(find(series, "2n", 1));
  tap_near(got.assemble / work.assemble, 1, 1e3 * exact, "matrix and gradient are recovered");
  tap_near(got.setup / work.setup, 1, exact, "so is the set-up");
  tap_near(got.iteration / work.iteration, 1, exact, "an iteration of the linear solver");
  tap_near(got.iterations, work.iterations, exact, "how many there are");
  tap_near(got.elements_per_node, work.elements_per_node, exact, "and elements a node");
  double worst = 0;
  for (int r = 0; r < series->row_count; r++) worst = fmax(worst, fabs(series->rows[r].error));
  tap_ok(worst < 1e3 * exact, "every row is told as it is, one rank by the other sizes: %g", worst);
  tap_ok(series->errors[EB_SCALING_ALONE].count == 3 &&
             series->errors[EB_SCALING_SHARED].count == 3 &&
             series->errors[EB_SCALING_CROWDED].count == 3,
         "rows with more ranks than cores are judged apart");
  tap_ok(eb_scaling_judged(&study) && !series->missing.data, "and nothing is missing");
  const eb_scaling_row *two = find(series, "2n", 2), *one = find(series, "n", 1);
  tap_near(two->weak, one->seconds / two->seconds, exact, "weak: n on one rank over 2n on two");
  tap_near(two->strong, find(series, "2n", 1)->seconds / (2 * two->seconds), exact,
           "strong: the same scene on one rank over two times two");
  tap_ok(isnan(find(series, "n", 2)->weak), "no weak efficiency without half of n on one rank");
  tap_ok(find(series, "4n", 4)->told.halo > 0, "the model's parts are there");
  clear(&samples, &study);
}

static void test_predictions(void) {
  eb_scaling_samples samples = {0};
  add_table(&samples, &work);
  eb_scaling_study study = study_of(&samples, NULL);
  const eb_scaling_prediction *p = study.series[0].predictions;
  tap_ok(study.series[0].prediction_count == 1 && p->point.ranks == 1000, "10^9 on 1000 ranks");
  tap_near(p->told.total / eb_scaling_predict(&machine, &work, 1e9, 1000, 2).total, 1, 1e3 * exact,
           "two ranks a node of two cores, network as measured");
  tap_near(p->beyond, 2e6 / 1.6e5, exact, "which hold more than any that was measured");
  eb_scaling_study_clear(&study);
  eb_scaling_request other = {.network = {.latency = 1e-5},
                              .cores = 8,
                              .per_node = 4,
                              .point_count = 1,
                              .points = {{2e7, 64}}};
  study = study_of(&samples, &other);
  eb_scaling_machine asked = machine;
  asked.network.latency = 1e-5;
  asked.cores = 8;
  tap_near(study.series[0].predictions->told.total /
               eb_scaling_predict(&asked, &work, 2e7, 64, 4).total,
           1, 1e3 * exact, "what is asked takes the place of what was measured, part by part");
  tap_near(find(&study.series[0], "2n", 2)->told.halo /
               eb_scaling_predict(&machine, &work, 8e4, 2, 2).halo,
           1, exact, "but not of rows whose runs have measured their network");
  clear(&samples, &study);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void test_errors(void) {
  eb_scaling_samples samples = {0};
  add_table(&samples, &work);
  for (int i = 0; i < samples.count; i++) {
    eb_scaling_sample *s = &samples.items[i];
    if (s->ranks == 2) s->seconds *= strcmp(s->scene, "n") == 0 ? 1.25 : 2;
    if (s->ranks == 4) s->seconds *= 0.8;
  }
  eb_scaling_study study = study_of(&samples, NULL);
  const eb_scaling_series *series = &study.series[0];
  tap_near(find(series, "n", 2)->error, -0.2, 1e3 * exact, "1.25 times as slow: 20 % too little");
  tap_near(find(series, "n", 4)->error, 0.25, 1e3 * exact, "0.8 times: 25 % too much");
  tap_near(series->errors[EB_SCALING_SHARED].median, 0.5, 1e3 * exact, "the median of three");
  tap_near(series->errors[EB_SCALING_SHARED].worst, 0.5, 1e3 * exact, "and the worst");
  tap_near(series->errors[EB_SCALING_CROWDED].worst, 0.25, 1e3 * exact, "apart from more ranks");
  clear(&samples, &study);
}

/* Twice the size, an iteration takes half as long again a node: caches. */
static void test_sizes(void) {
  eb_scaling_samples samples = {0};
  eb_scaling_work slow = work;
  slow.iteration *= 1.5;
  slow.iterations = 12;
  add(&samples, sample("n", 4e4, 1, &work));
  add(&samples, sample("4n", 16e4, 1, &slow));
  add(&samples, sample("4n", 16e4, 2, &slow));
  eb_scaling_study study = study_of(&samples, NULL);
  tap_near(find(&study.series[0], "4n", 2)->told.total /
               eb_scaling_predict(&machine, &slow, 16e4, 2, 2).total,
           1, 1e3 * exact, "two ranks on one node work as one does at the size of both");
  eb_scaling_study_clear(&study);
  eb_scaling_request apart = eb_scaling_usual();
  apart.per_node = 1;
  study = study_of(&samples, &apart);
  eb_scaling_work mean = slow;
  mean.iteration = 1.25 * work.iteration;
  tap_near(find(&study.series[0], "4n", 2)->told.total /
               eb_scaling_predict(&machine, &mean, 16e4, 2, 1).total,
           1, 1e3 * exact,
           "on two nodes as at half of it, between sizes that were measured, with the iterations "
           "of the whole");
  tap_near(find(&study.series[0], "4n", 1)->told.total,
           eb_scaling_predict(&machine, &work, 16e4, 1, 1).total, 1e-9,
           "one rank is told by the other size, not by itself");
  clear(&samples, &study);
}

/* ---- which runs belong together -------------------------------------------------------------- */

static void test_groups(void) {
  eb_scaling_samples samples = {0};
  eb_scaling_sample s = sample("n", 4e4, 2, &work);
  add(&samples, sample("n", 4e4, 1, &work));
  add(&samples, s);
  s.seconds *= 3;
  add(&samples, s); /* a repetition */
  s.machine = "there";
  add(&samples, s);
  s = sample("n", 4e4, 1, &work);
  s.solver = "semi-implicit:linear=petsc/steps:3";
  add(&samples, s);
  s.ranks = 4;
  add(&samples, s);
  s.problem = "bench/beam";
  add(&samples, s);
  eb_scaling_study study = study_of(&samples, NULL);
  tap_ok(study.count == 2, "runs of other machines, solvers and scenes are other series");
  tap_ok(study.series[0].row_count == 2 && study.series[1].row_count == 2,
         "repetitions are one row");
  tap_near(find(&study.series[0], "n", 2)->error, 0, 1e3 * exact, "the fastest of them");
  clear(&samples, &study);
  study = study_of(&samples, NULL);
  tap_ok(study.count == 0 && !eb_scaling_judged(&study), "of no runs there is no series");
  clear(&samples, &study);
}

/* ---- what must not count, and what is missing ------------------------------------------------ */

static void test_failed(void) {
  eb_scaling_samples samples = {0};
  eb_scaling_table table;
  add_table(&samples, &work);
  for (int i = 0; i < samples.count; i++) {
    eb_scaling_sample *s = &samples.items[i];
    bool two = s->ranks == 2 && strcmp(s->scene, "4n") == 0;
    if (!two && (s->ranks > 1 || strcmp(s->scene, "2n") != 0)) continue;
    s->trouble = "audit failed: update";
    s->seconds /= 100;
  }
  eb_scaling_study study = study_of(&samples, NULL);
  const eb_scaling_series *series = &study.series[0];
  const eb_scaling_row *failed = find(series, "4n", 2);
  tap_ok(isnan(failed->seconds) && isnan(failed->error) && isnan(failed->strong),
         "a run that failed its audit has no times");
  tap_ok(series->errors[EB_SCALING_SHARED].count == 2, "and judges nothing");
  tap_near(find(series, "4n", 4)->error, 0, 1e3 * exact, "its constants are not used");
  tap_ok(isnan(find(series, "2n", 2)->strong) && isnan(find(series, "4n", 2)->weak),
         "nor is it what others are measured by");
  tap_require(eb_scaling_rows(series, &table), "the table");
  tap_ok(strcmp(eb_scaling_cell(&table, (int)(failed - series->rows), table.columns - 1),
                "audit failed: update") == 0,
         "the table shows it failed, by which rule");
  eb_strings_clear(&table.cells);
  clear(&samples, &study);
}

/* A study of these runs says what is missing, and judges nothing. */
static void check_missing(eb_scaling_samples *samples, const char *words, const char *what) {
  eb_scaling_study study = study_of(samples, NULL);
  const char *missing = study.count == 1 ? study.series[0].missing.data : NULL;
  tap_ok(missing && strstr(missing, words), "%s: \"%s\"", what, missing ? missing : "");
  tap_ok(!eb_scaling_judged(&study), "  nothing is judged");
  tap_ok(isnan(study.series[0].predictions->told.total), "  nor predicted");
  clear(samples, &study);
}

static void test_missing(void) {
  eb_scaling_samples samples = {0};
  add(&samples, sample("bench/block:cubes=24", 4e4, 2, &work));
  add(&samples, sample("bench/block:cubes=24", 4e4, 4, &work));
  check_missing(&samples,
                "'elastobench run bench/block:cubes=24 -s newton:linear=petsc --steps 3 -o one.h5'",
                "without one rank it says what to run");
  eb_scaling_sample s = sample("n", 4e4, 1, &work);
  s.linear_iterations = 0;
  add(&samples, s);
  add(&samples, sample("n", 4e4, 2, &work));
  check_missing(&samples, "linear=petsc", "without iterations there is no model");
  s = sample("n", 4e4, 2, &work);
  s.at.network = (eb_network){0};
  add(&samples, sample("n", 4e4, 1, &work));
  add(&samples, s);
  check_missing(&samples, "--latency", "without a network it says how to give one");
  add(&samples, sample("n", 4e4, 1, &work));
  add(&samples, s);
  eb_scaling_request given = {.network = machine.network};
  eb_scaling_study study = study_of(&samples, &given);
  tap_near(find(&study.series[0], "n", 2)->error, 0, 1e3 * exact, "which then serves the rows");
  clear(&samples, &study);
}

int main(void) {
  test_constants();
  test_predictions();
  test_errors();
  test_sizes();
  test_groups();
  test_failed();
  test_missing();
  return tap_done();
}
