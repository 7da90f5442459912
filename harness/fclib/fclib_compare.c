#include "harness/fclib/fclib_compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/fclib/fclib.h"
#include "harness/fclib/siconos.h"
#include "harness/names.h"
#include "harness/print.h"
#include "harness/results/json.h"
#include "harness/results/profile.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "solvers/linalg/block_ops.h"

static const char *const every_solver[] = {"contact-delassus:delassus_solver=newton",
                                           "contact-delassus:delassus_solver=pgs",
                                           "contact-al",
                                           "contact-cr:polish=true",
                                           "contact-ica",
                                           "contact-sp",
                                           "siconos-nsgs",
                                           "siconos-nsn",
                                           "siconos-admm"};
enum { MAX_ITERATIONS = 200000, MOST_REPEATS = 99 };
/* Tolerances fall to this part of the merit, by a tenth at a time. */
static const double tightest = 1e-7;

/* ---- one solve ---- */

/* What a child writes into its pipe. */
typedef struct measured {
  bool converged; /* as the solver says */
  double seconds, merit;
  int64_t iterations;
} measured;

static eb_error solve_ours(const eb_fclib *p, const char *spec, double tolerance,
                           eb_fclib_result *out) {
  const eb_fclib_method *method;
  eb_values *options;
  EB_TRY(eb_fclib_solver(spec, &method, &options));
  const eb_solver solver = {.options = options, .threads = 1};
  double f = p->global ? eb_norm(p->size, p->f) : 0;
  double w = eb_norm(3 * (int64_t)p->contacts, p->w);
  const eb_contact_tolerance asked = {.eps1 = tolerance * (1 + f),
                                      .eps2 = tolerance * (1 + w),
                                      .cone = tolerance,
                                      .angle = 60 * tolerance,
                                      .max_iterations = MAX_ITERATIONS};
  eb_error error = eb_fclib_solve(p, method->method, &solver, &asked, out);
  eb_values_destroy(options);
  return error;
}

static eb_error solve_file(const char *path, const char *spec, double tolerance, measured *out) {
  EB_OWNED(eb_fclib_clear) eb_fclib p = {0};
  EB_OWNED(eb_fclib_result_clear) eb_fclib_result result = {0};
  EB_TRY(eb_fclib_read(path, &p));
  EB_TRY(eb_siconos_is(spec) ? eb_siconos_solve(&p, spec, tolerance, MAX_ITERATIONS, &result)
                             : solve_ours(&p, spec, tolerance, &result));
  *out = (measured){result.outcome.reason > 0, result.seconds, result.merit,
                    result.outcome.iterations};
  return EB_OK;
}

/* In the child: what libraries print on the way does not belong into the table. */
static void solve_and_tell(const char *path, const char *spec, double tolerance, unsigned timeout,
                           int to) {
  const struct rlimit no_core = {0, 0};
  measured result;
  setrlimit(RLIMIT_CORE, &no_core);
  alarm(timeout);
  if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
  eb_error error = solve_file(path, spec, tolerance, &result);
  bool told = !error && write(to, &result, sizeof result) == sizeof result;
  _exit(told ? 0 : 1);
}

/* *tried: the child came back with a result. */
static eb_error solve_apart(const char *path, const char *spec, double tolerance, double timeout,
                            measured *out, bool *tried) {
  int ends[2], status;
  if (pipe(ends)) return EB_ERROR(EB_ERR_IO, "cannot make a pipe: %s", strerror(errno));
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    solve_and_tell(path, spec, tolerance, (unsigned)ceil(timeout), ends[1]);
  }
  close(ends[1]);
  *tried = child > 0 && read(ends[0], out, sizeof *out) == sizeof *out;
  close(ends[0]);
  if (child < 0) return EB_ERROR(EB_ERR_IO, "cannot start a process: %s", strerror(errno));
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  *tried = *tried && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return EB_OK;
}

/* ---- one problem and solver ---- */

typedef struct entry {
  double seconds, merit, tolerance; /* seconds: NaN when it has failed */
  int64_t iterations;
} entry;

static eb_error time_again(const eb_fclib_race *race, const char *path, const char *spec,
                           entry *out) {
  double seconds[MOST_REPEATS] = {out->seconds};
  int count = 1;
  for (; count < race->repeats && count < MOST_REPEATS; count++) {
    measured again;
    bool tried;
    EB_TRY(solve_apart(path, spec, out->tolerance, race->timeout, &again, &tried));
    if (!tried || !(again.merit <= race->merit)) break;
    seconds[count] = again.seconds;
  }
  out->seconds = eb_sample_median(seconds, (size_t)count);
  return EB_OK;
}

/* A solver that has not converged at a tolerance, or whose result is worse than asked for at the
 * tightest, has failed. */
static eb_error run_entry(const eb_fclib_race *race, const char *path, const char *spec,
                          entry *out) {
  *out = (entry){NAN, NAN, NAN, 0};
  for (double part = 1; part >= tightest; part *= 0.1) {
    measured result = {0};
    bool tried;
    double tolerance = part * race->merit;
    EB_TRY(solve_apart(path, spec, tolerance, race->timeout, &result, &tried));
    if (!tried) return EB_OK;
    out->merit = result.merit;
    if (result.merit <= race->merit) {
      *out = (entry){result.seconds, result.merit, tolerance, result.iterations};
      return time_again(race, path, spec, out);
    }
    if (!result.converged) return EB_OK;
  }
  return EB_OK;
}

/* ---- tables ---- */

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void print_head(const eb_fclib_race *race, const eb_strings *solvers) {
  eb_print(stdout,
           "Seconds to a merit of %g, median of %d runs (iterations); **best**; -: failed\n\n"
           "| problem |",
           race->merit, race->repeats);
  for (int s = 0; s < solvers->count; s++) eb_print(stdout, " %s |", solvers->items[s]);
  eb_print(stdout, "\n|---|");
  for (int s = 0; s < solvers->count; s++) eb_print(stdout, "---|");
  eb_print(stdout, "\n");
}

static void print_row(const char *path, int solvers, const entry *row, double best) {
  eb_print(stdout, "| %s |", base_name(path));
  for (int s = 0; s < solvers; s++) {
    const char *mark = row[s].seconds == best ? "**" : "";
    if (isnan(row[s].seconds))
      eb_print(stdout, " - |");
    else
      eb_print(stdout, " %s%.4g%s (%lld) |", mark, row[s].seconds, mark,
               (long long)row[s].iterations);
  }
  eb_print(stdout, "\n");
  fflush(stdout);
}

/* Shares are of all problems, those that nobody solves among them. */
static void print_profile(const eb_costs *costs, const eb_strings *solvers) {
  static const double factors[] = {1, 1.5, 2, 5, 10, 100, INFINITY};
  enum { FACTORS = sizeof factors / sizeof *factors };
  eb_print(stdout,
           "\nShare of the problems solved within so many times the best time\n\n| solver |");
  for (int k = 0; k < FACTORS - 1; k++) eb_print(stdout, " %g |", factors[k]);
  eb_print(stdout, " ever |\n|---|");
  for (int k = 0; k < FACTORS; k++) eb_print(stdout, "---|");
  for (int s = 0; s < costs->solvers; s++) {
    eb_print(stdout, "\n| %s |", solvers->items[s]);
    for (int k = 0; k < FACTORS; k++)
      eb_print(stdout, " %.2f |",
               (double)eb_profile_within(costs, s, factors[k]) / costs->problems);
  }
  eb_print(stdout, "\n");
}

static eb_error print_line(const char *path, const char *spec, const entry *e) {
  json_t *line = eb_json_pack("{s:s, s:s, s:f}", "file", base_name(path), "solver", spec, "seconds",
                              e->seconds);
  if (line && !isnan(e->seconds)) {
    json_object_set_new(line, "tolerance", eb_json_real(e->tolerance));
    json_object_set_new(line, "iterations", json_integer(e->iterations));
  }
  if (line) json_object_set_new(line, "merit", eb_json_real(e->merit));
  return eb_json_line(line, stdout);
}

/* ---- the race ---- */

static eb_error choose_solvers(const eb_strings *asked, eb_strings *out) {
  const eb_fclib_method *method;
  for (int s = 0; s < asked->count; s++) {
    eb_values *options = NULL;
    EB_TRY(eb_strings_add(out, asked->items[s]));
    if (eb_siconos_is(asked->items[s])) continue;
    EB_TRY(eb_fclib_solver(asked->items[s], &method, &options));
    eb_values_destroy(options);
  }
  for (size_t s = 0; asked->count == 0 && s < sizeof every_solver / sizeof *every_solver; s++)
    if (!eb_siconos_is(every_solver[s]) || eb_siconos_is_there())
      EB_TRY(eb_strings_add(out, every_solver[s]));
  return EB_OK;
}

static eb_error run_all(const eb_fclib_race *race, const eb_strings *solvers, bool json, entry *row,
                        double *seconds) {
  if (!json) print_head(race, solvers);
  const eb_costs costs = {race->files->count, solvers->count, seconds};
  for (int f = 0; f < costs.problems; f++) {
    const char *path = race->files->items[f];
    for (int s = 0; s < costs.solvers; s++) {
      EB_TRY(run_entry(race, path, solvers->items[s], row + s));
      if (json) EB_TRY(print_line(path, solvers->items[s], row + s));
      seconds[f * costs.solvers + s] = row[s].seconds;
    }
    if (!json) print_row(path, costs.solvers, row, eb_costs_best(&costs, f));
  }
  if (!json) print_profile(&costs, solvers);
  return EB_OK;
}

/* Whether every file is one, before hours go into the others. */
static eb_error check_files(const eb_strings *files) {
  for (int f = 0; f < files->count; f++) {
    eb_fclib p = {0};
    eb_error error = eb_fclib_read(files->items[f], &p);
    eb_fclib_clear(&p);
    EB_TRY(error);
  }
  return EB_OK;
}

eb_error eb_fclib_compare(const eb_fclib_race *race, bool json) {
  eb_strings solvers = {0};
  entry *row = NULL;      /* of one file */
  double *seconds = NULL; /* files x solvers */
  eb_error error = check_files(race->files);
  if (!error) error = choose_solvers(race->solvers, &solvers);
  if (!error) error = EB_NEW(row, solvers.count);
  if (!error) error = EB_NEW(seconds, (size_t)race->files->count * (size_t)solvers.count);
  if (!error) error = run_all(race, &solvers, json, row, seconds);
  free(row);
  free(seconds);
  eb_strings_clear(&solvers);
  return error;
}
