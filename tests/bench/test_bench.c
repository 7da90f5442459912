/* The benchmark runner, on cases whose duration is known. */
#include <jansson.h>
#include <omp.h>
#include <time.h>

#include "harness/bench/kernel_record.h"
#include "harness/bench/runner.h"
#include "harness/history/history_record.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

static int setups, clears;

typedef struct wait_context {
  int prepared;
} wait_context;

static void wait_for(double seconds) {
  struct timespec pause = {0, (long)(1e9 * seconds)};
  nanosleep(&pause, NULL);
}

/* `of` is the work of a run, 4 where there is none. */
static eb_error setup_waiting(void *context, const void *of, double *work) {
  wait_context *w = context;
  setups += w->prepared == 0 && *work == 1;
  w->prepared = 1;
  *work = of ? *(const double *)of : 4;
  return EB_OK;
}

static void wait_ms(void *context, int milliseconds) {
  (void)context;
  wait_for(1e-3 * milliseconds);
}

/* Waiting shares no core, so two threads halve it on any machine. */
static void wait_8ms_shared(void *context, int which) {
  (void)context;
  (void)which;
  wait_for(8e-3 / omp_get_max_threads());
}

static void clear_waiting(void *context) {
  clears += ((wait_context *)context)->prepared;
}

static void describe_waiting(void *context, char *text, size_t bytes) {
  snprintf(text, bytes, ((wait_context *)context)->prepared ? "it waited" : "no context");
}

static eb_error setup_failing(void *context, const void *of, double *work) {
  (void)of;
  (void)work;
  ((wait_context *)context)->prepared = 1;
  return EB_ERROR(EB_ERR_INVALID, "no such mesh");
}

static eb_bench_case waiting(eb_bench_measure measure, double target) {
  return (eb_bench_case){.name = "waiting",
                         .unit = "waits",
                         .measure = measure,
                         .target = target,
                         .bytes = sizeof(wait_context),
                         .setup = setup_waiting,
                         .run = wait_ms,
                         .which = 4,
                         .clear = clear_waiting};
}

/* A wait lasts at least as asked; ten times as long only on a machine that does nothing else. */
static void test_figures(eb_machine *machine) {
  eb_bench_result r;
  eb_bench_case slow = waiting(EB_BENCH_TIME, 1e-4), fast = waiting(EB_BENCH_RATE, 100);
  eb_bench_case bytes = waiting(EB_BENCH_BANDWIDTH, 0.5);
  tap_require(eb_bench_run(&slow, machine, 0.05, &r), "run");
  tap_ok(r.best >= 1e-3 && r.best < 1e-2 && r.median >= r.best, "seconds for one of 4 units: %g",
         r.best);
  tap_ok(!r.ok && r.fraction == 0, "a time above its target is a miss");
  tap_ok(r.rounds >= 3 && r.dgemm > 0 && r.triad > 0 && r.scaling.rounds == 0,
         "rounds and the machine's figures are there");
  tap_require(eb_bench_run(&fast, machine, 0.05, &r), "run");
  tap_ok(r.best <= 1000 && r.best > 100 && r.median <= r.best && r.ok, "units a second: %g",
         r.best);
  tap_require(eb_bench_run(&bytes, machine, 0.05, &r), "run");
  tap_ok(r.fraction > 0 && r.fraction < 1e-3 && !r.ok,
         "a thousand bytes a second are nothing beside the triad: %g", r.fraction);
  tap_ok(setups == 3 && clears == 3, "every set-up is cleared");
}

static void test_scaling(eb_machine *machine) {
  eb_bench_result r;
  eb_bench_case shared = waiting(EB_BENCH_TIME, 0);
  shared.run = wait_8ms_shared;
  shared.scales_with = "dgemm";
  int threads = omp_get_max_threads();
  tap_require(eb_bench_run(&shared, machine, 0.2, &r), "run");
  tap_ok(r.scaling.rounds >= 3 && r.scaling.speedup > 1.2 && r.scaling.speedup < 3.5,
         "waiting for half as long with two threads is a speed-up of %g", r.scaling.speedup);
  tap_ok(r.scaling.machine_minimum <= r.scaling.machine_speedup &&
             r.scaling.machine_speedup <= r.scaling.machine_maximum,
         "the machine's own speed-up lies in its range");
  tap_ok(r.scaling.ok == (r.scaling.fraction >= EB_BENCH_SCALING_TARGET), "and decides");
  tap_ok(r.ok, "no target, no miss");
  tap_ok(omp_get_max_threads() == threads, "the caller's threads are restored");
}

/* Waits overshoot by some milliseconds beside other work: a factor of 3 stays above 1.5. */
static void test_peers(eb_machine *machine) {
  eb_bench_result r;
  eb_bench_case between = waiting(EB_BENCH_TIME, 0);
  const eb_bench_peer peers[] = {{"slower", 1.5, wait_ms, 60},
                                 {"faster", 1, wait_ms, 4},
                                 {"faster, no matter", 0, wait_ms, 4},
                                 {"itself", 0, NULL, 0},
                                 {0}};
  between.which = 20;
  between.peers = peers;
  tap_require(eb_bench_run(&between, machine, 0.2, &r), "run");
  tap_ok(r.peers[0].median > 1.5 && r.peers[0].median < 6 && r.peers[0].ok,
         "a peer that takes three times as long: %g", r.peers[0].median);
  tap_ok(r.peers[1].median < 0.7 && r.peers[1].median > 0.05 && !r.peers[1].ok,
         "one that takes a fifth is a miss: %g", r.peers[1].median);
  tap_ok(r.peers[2].ok, "but not without a target");
  tap_ok(r.peers[3].median < 0.7, "what names no function runs the case's for its place, 4 ms: %g",
         r.peers[3].median);
  tap_ok(r.peers[0].minimum <= r.peers[0].median && r.peers[0].median <= r.peers[0].maximum,
         "the median lies in its range");
}

/* 60 ms for a quarter of the work of 20 ms: twelve times its price. */
static void test_share(eb_machine *machine) {
  eb_bench_result r;
  eb_bench_case dear = waiting(EB_BENCH_SHARE, 4), cheap = waiting(EB_BENCH_SHARE, 40);
  const eb_bench_peer peers[] = {{"whole", 0, wait_ms, 20}, {0}};
  static const double quarter = 0.25;
  dear.which = cheap.which = 60;
  dear.of = cheap.of = &quarter;
  dear.peers = cheap.peers = peers;
  dear.threads = 2;
  tap_require(eb_bench_run(&dear, machine, 0.2, &r), "run");
  tap_ok(r.fraction > 4 && r.fraction < 40 && !r.ok, "a share at twelve times its price: %g",
         r.fraction);
  tap_ok(r.best >= 60e-3, "its figure is seconds: %g", r.best);
  tap_require(eb_bench_run(&cheap, machine, 0.2, &r), "run");
  tap_ok(r.ok, "is good enough for a bound of 40");
}

static double charge_a_second(void *context) {
  return ((wait_context *)context)->prepared;
}

static void test_charged(eb_machine *machine) {
  eb_bench_result r;
  const eb_bench_peer peers[] = {{"other", 0, wait_ms, 20}, {0}};
  eb_bench_case charging = waiting(EB_BENCH_TIME, 0);
  charging.charged = charge_a_second;
  charging.peers = peers;
  tap_require(eb_bench_run(&charging, machine, 0.02, &r), "run");
  tap_ok(r.best == 0.25 && r.median == 0.25 && r.peers[0].median == 1,
         "what a case charges takes the place of the clock, for its peers too");
}

static void test_failure(eb_machine *machine) {
  eb_bench_result r;
  eb_bench_case failing = waiting(EB_BENCH_TIME, 1);
  int before = clears;
  failing.setup = setup_failing;
  tap_fails(eb_bench_run(&failing, machine, 0.05, &r), EB_ERR_INVALID,
            "benchmark 'waiting': no such mesh", "a failing set-up names its case");
  tap_ok(clears == before + 1, "and is cleared");
}

/* In google-benchmark's shape a round is a repetition; as a record a case is a figure. */
static void test_other_shapes(const eb_bench_result *r, size_t count) {
  char *text = NULL, *path = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  tap_succeeds(eb_bench_print_benchmark(to, r, count), "google-benchmark's shape is written");
  fclose(to);
  json_t *root = json_loads(text, 0, NULL), *all = json_object_get(root, "benchmarks");
  json_t *first = json_array_get(all, 0);
  tap_ok(json_array_size(all) == (size_t)(r[0].rounds + r[1].rounds) + 2 * 4,
         "with an entry a round, and four of all");
  tap_near(json_number_value(json_object_get(first, "real_time")), 1e9 * r[0].round[0].seconds,
           1e-6 * 1e9 * r[0].round[0].seconds, "times are of a run, in ns");
  tap_ok(json_number_value(json_object_get(first, "cpu_time")) <
             json_number_value(json_object_get(first, "real_time")),
         "waiting takes no processor");
  json_decref(root);
  free(text);

  eb_host host;
  eb_history_record record = {0};
  eb_host_describe(&host);
  host.commit = "0123456789ab";
  host.commit_date = "2026-01-02T03:04:05Z";
  host.dirty = false;
  tap_require(eb_bench_record(folder, &host, r, count, &path), "a record");
  tap_succeeds(eb_history_record_read(path, &record), "results are recorded");
  const eb_history_figure *slow = &record.figures[0], *fast = &record.figures[1];
  tap_ok(strstr(path, "/20260102T030405Z-0123456789ab-") && record.count == (int)count,
         "by commit and machine, all of them");
  tap_ok(!slow->more && fast->more && strcmp(slow->unit, "s/waits") == 0 &&
             strcmp(fast->unit, "waits/s") == 0 && slow->samples == r[0].rounds,
         "with units and what is better");
  tap_near(slow->value, r[0].median, 1e-5 * r[0].median, "values are medians, to six digits");
  tap_near(slow->relative, r[0].relative, 1e-5 * r[0].relative, "beside the machine's limit");
  tap_ok(r[0].relative > 0.3 * r[0].median * r[0].dgemm &&
             r[0].relative < 1.01 * r[0].median * r[0].dgemm,
         "which a time is multiplied by: %g", r[0].relative);
  tap_ok(slow->spread >= 0 && slow->spread < 1, "and have a spread: %g", slow->spread);
  eb_history_record_clear(&record);
  free(path);
  host.commit = "unknown";
  tap_fails(eb_bench_record(folder, &host, r, count, &path), EB_ERR_USAGE, "knows none",
            "a build without a commit has no place in the history");
}

static void test_output(eb_machine *machine) {
  eb_bench_result r[2];
  eb_bench_case plain = waiting(EB_BENCH_TIME, 1e-4), scaled = waiting(EB_BENCH_RATE, 1);
  const eb_bench_peer peers[] = {{"tortoise", 1000, wait_ms, 60}, {0}};
  scaled.name = "waiting, too"; /* two figures of one name would be one */
  scaled.scales_with = "triad";
  scaled.peers = peers;
  scaled.note = "measured elsewhere";
  scaled.describe = describe_waiting;
  tap_require(eb_bench_run(&plain, machine, 0.02, &r[0]), "run");
  tap_require(eb_bench_run(&scaled, machine, 0.02, &r[1]), "run");

  char *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  eb_bench_print_head(to, 10);
  eb_bench_print(to, 10, &r[0]);
  eb_bench_print(to, 10, &r[1]);
  fclose(to);
  tap_ok(strstr(text, "ms/waits") && strstr(text, "MISSED") && strstr(text, "ok"),
         "the table names figures, units and verdicts");
  tap_ok(strstr(text, "tortoise, target 1000.00 MISSED") && strstr(text, "measured elsewhere") &&
             strstr(text, "it waited"),
         "and peers, notes and what the runs did");
  free(text);

  to = open_memstream(&text, &bytes);
  tap_succeeds(eb_bench_print_json(to, r, 2), "JSON is written");
  fclose(to);
  json_t *root = json_loads(text, 0, NULL), *cases = json_object_get(root, "cases");
  json_t *first = json_array_get(cases, 0), *second = json_array_get(cases, 1);
  tap_ok(json_array_size(cases) == 2 && json_is_false(json_object_get(first, "ok")) &&
             json_is_null(json_object_get(first, "two_threads")),
         "JSON can be read and holds both cases");
  tap_near(json_real_value(json_object_get(second, "best")), r[1].best, 1e-4 * r[1].best,
           "its figures are those measured, to six digits");
  tap_ok(json_is_object(json_object_get(second, "two_threads")), "scaling is an object");
  json_t *peer = json_array_get(json_object_get(second, "peers"), 0);
  tap_near(json_real_value(json_object_get(peer, "ratio")), r[1].peers[0].median,
           1e-4 * r[1].peers[0].median, "peers are an array");
  json_decref(root);
  free(text);
  test_other_shapes(r, 2);
}

int main(void) {
  scratch_open();
  eb_machine *machine = NULL;
  tap_require(eb_machine_create(2, &machine), "machine");
  test_figures(machine);
  test_scaling(machine);
  test_peers(machine);
  test_share(machine);
  test_charged(machine);
  test_failure(machine);
  test_output(machine);
  eb_machine_destroy(machine);
  return scratch_close();
}
