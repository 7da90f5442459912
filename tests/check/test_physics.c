/* Verification in small: the checks that `elastobench check` runs, and its printing. */
#include "harness/check/check.h"
#include "tests/tap.h"

#include <math.h>

static void report(void *context, const eb_check_figure *figure) {
  (void)context;
  tap_ok(figure->passed, "%s", figure->name);
  if (!figure->passed)
    printf("#   %g, wanted %s %g: %s\n", figure->measured,
           figure->at_least ? ">=" : "<=", figure->bound, figure->reason);
}

static void every_group_passes(void) {
  eb_check check = {.quick = true, .emit = report};
  int before = tap.run;
  eb_check_groups(&check);
  tap_ok(tap.run - before >= 100, "the groups without a solver emit their figures");
  for (const eb_solver_ops *const *at = eb_solvers(); *at; at++) {
    if (eb_solver_wants_options(*at)) continue;
    check.solver = *at;
    before = tap.run;
    eb_check_groups(&check);
    tap_ok(tap.run - before >= 5, "%s: every group emits its figures", (*at)->name);
  }
}

/* ---- a wrong solver must not pass ---- */

/* Explicit Euler with a force on one node that nothing balances. */
static eb_error create_nothing(eb_solver *solver, const eb_scene *scene) {
  (void)solver, (void)scene;
  return EB_OK;
}

static eb_error step_wrongly(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                             eb_reason *reason) {
  (void)solver, (void)log;
  for (int64_t k = 0; k < 3 * (int64_t)state->node_count; k++) state->x[k] += dt * state->v[k];
  state->v[0] += 1;
  state->time += dt;
  *reason = EB_CONVERGED_ITS;
  return EB_OK;
}

static void destroy_nothing(eb_solver *solver) {
  (void)solver;
}

static void count_failures(void *context, const eb_check_figure *figure) {
  int *failed = context;
  *failed += !figure->passed;
}

/* ---- declared accuracies ---- */

enum { MOST_FIGURES = 16 };

typedef struct bounds {
  int count;
  double bound[MOST_FIGURES];
} bounds;

static void note_bound(void *context, const eb_check_figure *figure) {
  bounds *seen = context;
  if (seen->count < MOST_FIGURES) seen->bound[seen->count++] = fabs(figure->bound);
}

static bounds bounds_at(double accuracy) {
  eb_solver_ops ops = *eb_solver_find("contact-al");
  bounds seen = {0};
  eb_check check = {.solver = &ops, .quick = true, .emit = note_bound, .context = &seen};
  ops.accuracy = accuracy;
  tap_succeeds(eb_check_group_find("contact")->run(&check), "contact is checked");
  return seen;
}

/* Whatever a solver declares, every figure of contact is measured; a coarser accuracy loosens each
 * bound, at most in proportion, and none more than EB_COARSEST_ACCURACY does. */
static void accuracies_scale_bounds(void) {
  static const double coarser = 10;
  bounds fine = bounds_at(EB_ACCURACY), coarse = bounds_at(coarser * EB_ACCURACY);
  bounds coarsest = bounds_at(EB_COARSEST_ACCURACY), beyond = bounds_at(1);
  tap_ok(fine.count == 7 && coarse.count == 7 && coarsest.count == 7 && beyond.count == 7,
         "no figure is left out for a coarse solver");
  for (int i = 0; i < fine.count; i++) {
    tap_ok(coarse.bound[i] > fine.bound[i] &&
               coarse.bound[i] <= coarser * fine.bound[i] * (1 + 1e-12),
           "figure %d: a coarser accuracy loosens its bound, at most in proportion", i);
    tap_ok(beyond.bound[i] == coarsest.bound[i], "figure %d: and no more than is granted", i);
  }
}

static void wrong_solver_fails(void) {
  const eb_solver_ops wrong = {.name = "wrong",
                               .summary = "",
                               .citation = "",
                               .capabilities = ~0u,
                               .create = create_nothing,
                               .step = step_wrongly,
                               .destroy = destroy_nothing};
  int failed = 0;
  eb_check check = {.solver = &wrong, .quick = true, .emit = count_failures, .context = &failed};
  static const char *const groups[] = {"momentum", "script", "time-order"};
  for (int i = 0; i < 3; i++) eb_error_free(eb_check_group_find(groups[i])->run(&check));
  tap_ok(failed >= 3, "a wrong solver fails momentum, script and order (%d figures)", failed);
}

/* ---- printing ---- */

static eb_error print_to(char **text, size_t *bytes, const char *solver, eb_check_format format,
                         int *failed) {
  FILE *out = open_memstream(text, bytes);
  if (!out) return EB_ERROR(EB_ERR_MEMORY, "open_memstream");
  eb_error error = eb_check_run(NULL, solver, 1, format, out, failed);
  fclose(out);
  return error;
}

static int count_of(const char *text, const char *what) {
  int count = 0;
  for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) count++;
  return count;
}

static void runs_of_one_solver_are_printed(void) {
  char *text = NULL;
  size_t bytes = 0;
  int failed = -1;
  tap_succeeds(print_to(&text, &bytes, "corotational", EB_CHECK_TEXT, &failed), "check one solver");
  tap_ok(failed == 0 && count_of(text, "\nok ") >= 5 && !strstr(text, "FAILED"),
         "one line a figure");
  tap_ok(!strstr(text, "newton/") && !strstr(text, "materials/"), "only of that solver");
  tap_ok(strstr(text, "0 out of bounds") != NULL, "and a summary");
  free(text);
  tap_succeeds(print_to(&text, &bytes, "corotational", EB_CHECK_JSON, &failed), "the same as JSON");
  tap_ok(text[0] == '{' && count_of(text, "\"passed\": true") >= 5 &&
             count_of(text, "{") == count_of(text, "}") && strstr(text, "\"failed\": 0"),
         "objects with name, measured, bound, passed");
  free(text);
  tap_succeeds(print_to(&text, &bytes, "corotational", EB_CHECK_JUNIT, &failed), "and as JUnit");
  tap_ok(count_of(text, "<testcase classname=\"corotational/") >= 5 && !strstr(text, "<failure") &&
             strstr(text, "failures=\"0\""),
         "a test a figure");
  free(text);
  tap_fails(print_to(&text, &bytes, "newtno", EB_CHECK_TEXT, &failed), EB_ERR_USAGE, "'newton'",
            "an unknown solver names the nearest");
  free(text);
}

int main(void) {
  every_group_passes();
  wrong_solver_fails();
  accuracies_scale_bounds();
  runs_of_one_solver_are_printed();
  return tap_done();
}
