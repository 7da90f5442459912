/* Results of the benchmarks as a table and as JSON. */
#include <jansson.h>
#include <math.h>

#include "harness/bench/runner.h"
#include "harness/environment.h"
#include "harness/print.h"
#include "harness/results/benchmark.h"

enum { FIGURE_BYTES = 40 };

eb_bench_unit eb_bench_figure_unit(const eb_bench_case *of) {
  eb_bench_unit out;
  const char *unit = of->measure == EB_BENCH_BANDWIDTH ? "B"
                     : of->measure == EB_BENCH_FLOPS   ? "flop"
                                                       : of->unit;
  if (of->measure == EB_BENCH_SHARE)
    snprintf(out.text, sizeof out.text, "s");
  else if (of->measure == EB_BENCH_TIME)
    snprintf(out.text, sizeof out.text, "s/%s", unit);
  else
    snprintf(out.text, sizeof out.text, "%s/s", unit);
  return out;
}

bool eb_bench_more_is_better(const eb_bench_case *of) {
  return of->measure != EB_BENCH_TIME && of->measure != EB_BENCH_SHARE;
}

static void print_figure(const eb_bench_case *of, double value, char out[2 * FIGURE_BYTES]) {
  snprintf(out, 2 * FIGURE_BYTES, "%s%s", eb_prefixed_value(value).text,
           eb_bench_figure_unit(of).text);
}

static void print_target(const eb_bench_case *of, char out[2 * FIGURE_BYTES]) {
  if (!(of->target > 0))
    snprintf(out, 2 * FIGURE_BYTES, "-");
  else if (of->measure == EB_BENCH_TIME || of->measure == EB_BENCH_RATE)
    print_figure(of, of->target, out);
  else
    snprintf(out, 2 * FIGURE_BYTES, "%.2f", of->target);
}

void eb_bench_print_head(FILE *to, int name_width) {
  fprintf(to,
          "Best and median of runs interleaved with the machine's DGEMM and triad (their best,\n"
          "Gflop/s and GB/s), on one thread, or on two where the name ends in -two.\n"
          "fraction: of the triad (bytes) or DGEMM (flops) just before; for a share of a peer's\n"
          "work, seconds over that share of its seconds; median of the rounds.\n"
          "two threads: speed-up of the case, of the machine's kernel in the same rounds (range),\n"
          "and their ratio, which should reach %.2f.\n"
          "Below a case: how many times its seconds others take in the same rounds (range).\n\n"
          "%-*s  %-18s %-18s %8s  %-18s %-6s %6s %6s  %s\n",
          EB_BENCH_SCALING_TARGET, name_width, "case", "best", "median", "fraction", "target", "",
          "dgemm", "triad", "two threads");
}

static void print_peers(FILE *to, const eb_bench_result *r) {
  if (r->of->measure == EB_BENCH_SHARE)
    fprintf(to, "    %.3g %% of the work of a whole run, %.3g %% of its time\n", 100 * r->work,
            100 / r->peers[0].median);
  for (int p = 0; r->of->peers && r->of->peers[p].name; p++) {
    const eb_bench_peer *peer = &r->of->peers[p];
    const eb_bench_ratio *ratio = &r->peers[p];
    fprintf(to, "    %.3g x (%.3g-%.3g) %s", ratio->median, ratio->minimum, ratio->maximum,
            peer->name);
    if (peer->target > 0)
      fprintf(to, ", target %.2f %s", peer->target, ratio->ok ? "ok" : "MISSED");
    fputc('\n', to);
  }
}

void eb_bench_print(FILE *to, int name_width, const eb_bench_result *r) {
  char best[2 * FIGURE_BYTES], median[2 * FIGURE_BYTES], target[2 * FIGURE_BYTES];
  char fraction[FIGURE_BYTES] = "-";
  print_figure(r->of, r->best, best);
  print_figure(r->of, r->median, median);
  print_target(r->of, target);
  if (r->fraction > 0) snprintf(fraction, sizeof fraction, "%.2f", r->fraction);
  fprintf(to, "%-*s  %-18s %-18s %8s  %-18s %-6s %6.1f %6.1f", name_width, r->of->name, best,
          median, fraction, target,
          !(r->of->target > 0) ? ""
          : r->ok              ? "ok"
                               : "MISSED",
          1e-9 * r->dgemm, 1e-9 * r->triad);
  const eb_bench_scaling *s = &r->scaling;
  if (s->rounds)
    fprintf(to, "  %.2f, %s %.2f (%.2f-%.2f), %.2f %s", s->speedup, r->of->scales_with,
            s->machine_speedup, s->machine_minimum, s->machine_maximum, s->fraction,
            s->ok ? "ok" : "MISSED");
  fputc('\n', to);
  print_peers(to, r);
  if (*r->description) fprintf(to, "    %s\n", r->description);
  if (r->of->note) fprintf(to, "    %s\n", r->of->note);
  fflush(to);
}

static json_t *scaling_json(const eb_bench_result *r) {
  const eb_bench_scaling *s = &r->scaling;
  if (!s->rounds) return json_null();
  return json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:b}", "with", r->of->scales_with,
                   "rounds", (json_int_t)s->rounds, "speedup", s->speedup, "machine_speedup",
                   s->machine_speedup, "machine_minimum", s->machine_minimum, "machine_maximum",
                   s->machine_maximum, "fraction", s->fraction, "target", EB_BENCH_SCALING_TARGET,
                   "ok", s->ok);
}

/* NULL when out of memory. */
static json_t *peers_json(const eb_bench_result *r) {
  json_t *all = json_array();
  int failed = !all;
  for (int p = 0; r->of->peers && r->of->peers[p].name && !failed; p++) {
    const eb_bench_ratio *ratio = &r->peers[p];
    json_t *peer = json_pack("{s:s, s:f, s:f, s:f, s:f, s:b}", "name", r->of->peers[p].name,
                             "ratio", ratio->median, "minimum", ratio->minimum, "maximum",
                             ratio->maximum, "target", r->of->peers[p].target, "ok", ratio->ok);
    failed = json_array_append_new(all, peer) != 0;
  }
  if (!failed) return all;
  json_decref(all);
  return NULL;
}

static json_t *result_json(const eb_bench_result *r) {
  static const char *const measures[] = {"rate", "time", "bandwidth", "flops", "share"};
  return json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:I, s:o, s:o}", "name",
                   r->of->name, "unit", r->of->unit, "measure", measures[r->of->measure], "work",
                   r->work, "best", r->best, "median", r->median, "dgemm_flops", r->dgemm,
                   "triad_bytes", r->triad, "fraction", r->fraction, "target", r->of->target, "ok",
                   r->ok, "rounds", (json_int_t)r->rounds, "two_threads", scaling_json(r), "peers",
                   peers_json(r));
}

eb_error eb_bench_print_json(FILE *to, const eb_bench_result *results, size_t count) {
  json_t *cases = json_array();
  json_t *root = json_pack("{s:o}", "cases", cases);
  int failed = !root;
  for (size_t k = 0; k < count && !failed; k++)
    failed = json_array_append_new(cases, result_json(&results[k])) != 0;
  if (!failed) failed = json_dumpf(root, to, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) != 0;
  json_decref(root);
  if (failed) return EB_ERROR(EB_ERR_IO, "cannot write the results as JSON");
  fputc('\n', to);
  return EB_OK;
}

/* ---- google-benchmark ------------------------------------------------------------------------ */

/* A case's rounds in columns. */
typedef struct columns {
  double real[EB_BENCH_ROUNDS], cpu[EB_BENCH_ROUNDS], rate[EB_BENCH_ROUNDS];
  double dgemm[EB_BENCH_ROUNDS], triad[EB_BENCH_ROUNDS];
  int64_t batch[EB_BENCH_ROUNDS];
} columns;

static eb_error append_benchmark(json_t *benchmarks, const eb_bench_result *r) {
  columns all;
  const char *rate = r->of->measure == EB_BENCH_BANDWIDTH ? "bytes_per_second"
                     : r->of->measure == EB_BENCH_FLOPS   ? "flops_per_second"
                                                          : "items_per_second";
  const eb_benchmark_counter counters[] = {
      {rate, all.rate}, {"dgemm_flops", all.dgemm}, {"triad_bytes", all.triad}};
  for (int64_t k = 0; k < r->rounds; k++) {
    const eb_bench_round *round = &r->round[k];
    all.real[k] = round->seconds;
    all.cpu[k] = round->cpu;
    all.rate[k] = r->work / round->seconds;
    all.dgemm[k] = round->dgemm;
    all.triad[k] = round->triad;
    all.batch[k] = r->batch;
  }
  const eb_benchmark b = {.name = r->of->name,
                          .threads = r->of->threads > 0 ? r->of->threads : 1,
                          .repetitions = (int)r->rounds,
                          .real = all.real,
                          .cpu = all.cpu,
                          .iterations = all.batch,
                          .counters = counters,
                          .counter_count = sizeof counters / sizeof *counters};
  return eb_benchmark_append(benchmarks, &b);
}

eb_error eb_bench_print_benchmark(FILE *to, const eb_bench_result *results, size_t count) {
  char now[32];
  eb_host host;
  json_t *benchmarks = json_array();
  eb_error error = EB_OK;
  for (size_t k = 0; k < count && !error; k++) error = append_benchmark(benchmarks, &results[k]);
  if (error) {
    json_decref(benchmarks);
    return error;
  }
  eb_time_text(now);
  eb_host_describe(&host);
  json_t *context =
      json_pack("{s:s, s:s, s:s, s:i, s:s, s:s, s:s, s:s}", "date", now, "host_name", host.name,
                "executable", "bench", "num_cpus", host.cores, "cpu", host.cpu, "compiler",
                host.compiler, "flags", host.flags, "commit", host.commit);
  return eb_benchmark_print(context, benchmarks, to);
}
