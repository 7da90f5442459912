/* Results of the benchmarks as a table and as JSON. */
#include <jansson.h>
#include <math.h>

#include "harness/bench/runner.h"

enum { FIGURE_BYTES = 40 };

/* A value with an SI prefix, "6.21 M". */
static void with_prefix(double value, char out[FIGURE_BYTES]) {
  static const char prefixes[] = "num kMGT";
  int step = 3;
  double shown = value;
  while (shown != 0 && fabs(shown) < 1 && step > 0) shown *= 1e3, step--;
  while (fabs(shown) >= 1e3 && step < 7) shown /= 1e3, step++;
  snprintf(out, FIGURE_BYTES, "%.3g %.*s", shown, step == 3 ? 0 : 1, prefixes + step);
}

static void print_figure(const eb_bench_case *of, double value, char out[2 * FIGURE_BYTES]) {
  char number[FIGURE_BYTES];
  with_prefix(value, number);
  const char *unit = of->measure == EB_BENCH_BANDWIDTH ? "B"
                     : of->measure == EB_BENCH_FLOPS   ? "flop"
                                                       : of->unit;
  if (of->measure == EB_BENCH_SHARE)
    snprintf(out, 2 * FIGURE_BYTES, "%ss", number);
  else if (of->measure == EB_BENCH_TIME)
    snprintf(out, 2 * FIGURE_BYTES, "%ss/%s", number, unit);
  else
    snprintf(out, 2 * FIGURE_BYTES, "%s%s/s", number, unit);
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
