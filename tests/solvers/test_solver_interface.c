/* The interface of solvers: names, registry, step log, options, capabilities, failure of create. */
#include "harness/check/block.h"
#include "problems/base/clock.h"
#include "problems/scene_impl.h"
#include "tests/support/owned.h"
#include "tests/tap.h"

/* ---- names ---- */

static void names_are_distinct(void) {
  bool distinct = true;
  for (int a = EB_DIVERGED_LIBRARY; a <= EB_CONVERGED_STAGNATED; a++)
    for (int b = EB_DIVERGED_LIBRARY; b < a; b++)
      distinct &= strcmp(eb_reason_name((eb_reason)a), eb_reason_name((eb_reason)b)) != 0;
  tap_ok(distinct, "every reason has a name of its own");
  tap_ok(!strcmp(eb_reason_name(EB_CONVERGED_RTOL), "EB_CONVERGED_RTOL"),
         "a reason's name is its identifier");
  distinct = true;
  for (int a = 0; a < EB_PHASE_COUNT; a++)
    for (int b = 0; b < a; b++)
      distinct &= strcmp(eb_phase_name((eb_phase)a), eb_phase_name((eb_phase)b)) != 0;
  tap_ok(distinct, "every phase has a name of its own");
  distinct = true;
  for (int a = 0; a < EB_COUNTERS; a++)
    for (int b = 0; b < a; b++)
      distinct &= strcmp(eb_counter_name((eb_counter)a), eb_counter_name((eb_counter)b)) != 0;
  tap_ok(distinct, "every counter has a name of its own");
  tap_ok(strstr(eb_reason_name((eb_reason)99), "unknown") &&
             strstr(eb_phase_name((eb_phase)99), "unknown") &&
             strstr(eb_counter_name((eb_counter)99), "unknown"),
         "values out of range are named as unknown");
}

static void registry_finds_what_it_lists(void) {
  int count = 0;
  bool found = true, described = true;
  for (const eb_solver_ops *const *at = eb_solvers(); *at; at++, count++) {
    found &= eb_solver_find((*at)->name) == *at;
    described &= *(*at)->summary && *(*at)->citation && (*at)->capabilities != 0;
  }
  tap_ok(count >= 3 && found, "every solver of the list is found by its name");
  tap_ok(described, "every solver has summary, citation and capabilities");
  tap_ok(!eb_solver_find("newto") && !eb_solver_find(""), "an unknown name finds nothing");
}

static void options_are_documented(void) {
  bool documented = true, resolves = true;
  for (const eb_solver_ops *const *at = eb_solvers(); *at; at++) {
    eb_values *values = NULL;
    eb_error error = eb_values_create((*at)->name, (*at)->options, NULL, &values);
    resolves &= !error || eb_solver_wants_options(*at);
    eb_error_free(error);
    eb_values_destroy(values);
    for (const eb_option *option = (*at)->options; option && option->name; option++)
      documented &= option->doc && *option->doc && option->unit;
  }
  tap_ok(documented, "every option has a unit and a line of documentation");
  tap_ok(resolves, "every default lies within its own range");
}

/* ---- the log ---- */

static void spend(double seconds) {
  double until = eb_wall_seconds() + seconds;
  while (eb_wall_seconds() < until) continue;
}

static void log_times_and_counts(void) {
  owned(eb_step_log) *log = new_log(2);
  for (int i = 0; i < 2; i++) {
    eb_log_begin(log, EB_PHASE_FACTOR);
    spend(2e-3);
    eb_log_end(log, EB_PHASE_FACTOR);
  }
  tap_ok(log->phase_seconds[EB_PHASE_FACTOR] >= 4e-3, "a phase adds up over its intervals");
  tap_near(log->phase_seconds[EB_PHASE_SOLVE], 0, 0, "other phases stay at zero");
  eb_log_count(log, EB_COUNT_SOLVES, 2);
  eb_log_count(log, EB_COUNT_SOLVES, 3);
  tap_near(log->counters[EB_COUNT_SOLVES], 5, 0, "counters add up");
  for (int i = 0; i < 5; i++) eb_log_residual(log, i + 1);
  tap_ok(log->residual_count == 5 && log->residuals[0] == 1 && log->residuals[1] == 2,
         "residuals past the capacity are counted, not kept");
  tap_ok(log->residual_seconds[1] >= log->residual_seconds[0] && log->residual_seconds[0] > 0,
         "residuals carry the time since the step began");
  log->iterations = 7;
  eb_step_log_reset(log);
  tap_ok(log->residual_count == 0 && log->residual_capacity == 2 && log->iterations == 0 &&
             log->counters[EB_COUNT_SOLVES] == 0 && log->phase_seconds[EB_PHASE_FACTOR] == 0 &&
             log->residuals != NULL,
         "a reset keeps the room and clears the rest");
}

static void log_names_norms(void) {
  eb_step_log log = {.residual_norm = EB_NORM_LINEARIZED};
  int found = 0;
  for (int n = EB_NORM_OWN + 1; n < EB_RESIDUAL_NORMS; n++) {
    const char *text = eb_log_norm(&(eb_step_log){.residual_norm = (eb_residual_norm)n});
    tap_ok(*text != '\0', "norm %d has words: %s", n, text);
    found += (int)eb_residual_norm_find(text) == n;
  }
  tap_ok(found == EB_NORM_QUASISTATIC - EB_NORM_OWN, "those with a formula are found by it");
  tap_ok(eb_residual_norm_find("|b - A v|_2 in my unit") == EB_NORM_LINEARIZED,
         "whatever stands behind it");
  tap_ok(eb_residual_norm_find("|b - A v") == EB_NORM_OWN &&
             eb_residual_norm_find("") == EB_NORM_OWN,
         "others are the solver's own");
  log.own_norm = "mine";
  tap_ok(strcmp(eb_log_norm(&log), "mine") == 0, "its words come before those of the table");
  log = (eb_step_log){.residual_norm = EB_RESIDUAL_NORMS};
  tap_ok(*eb_log_norm(&log) == '\0', "a norm that there is not has none");
}

/* 2 ms in a phase, 4 ms in one inside it, of which 1 ms in the outer one again; then as deep as
 * phases go and deeper. */
static void log_nests_phases(void) {
  owned(eb_step_log) *log = new_log(0);
  double began = eb_wall_seconds(), *seconds = log->phase_seconds;
  eb_log_begin(log, EB_PHASE_RESOLVE);
  spend(2e-3);
  eb_log_begin(log, EB_PHASE_FACTOR);
  spend(3e-3);
  eb_log_begin(log, EB_PHASE_RESOLVE);
  spend(1e-3);
  eb_log_end(log, EB_PHASE_RESOLVE);
  eb_log_end(log, EB_PHASE_FACTOR);
  eb_log_end(log, EB_PHASE_RESOLVE);
  double wall = eb_wall_seconds() - began;
  tap_ok(seconds[EB_PHASE_RESOLVE] >= 3e-3 && seconds[EB_PHASE_FACTOR] >= 3e-3 &&
             seconds[EB_PHASE_RESOLVE] + seconds[EB_PHASE_FACTOR] <= wall,
         "the time of a phase inside another is counted once");
  eb_log_end(log, EB_PHASE_SOLVE);
  tap_ok(log->open_count == 0 && seconds[EB_PHASE_SOLVE] == 0,
         "a phase that has not begun does not end");
  for (int i = 0; i < 2 * EB_OPEN_PHASES; i++) eb_log_begin(log, EB_PHASE_LOCAL);
  spend(1e-3);
  for (int i = 0; i < 2 * EB_OPEN_PHASES; i++) eb_log_end(log, EB_PHASE_LOCAL);
  tap_ok(log->open_count == 0 && seconds[EB_PHASE_LOCAL] >= 1e-3 &&
             seconds[EB_PHASE_LOCAL] <= eb_wall_seconds() - began,
         "as many as there may be inside each other, and more");
  eb_log_begin(log, EB_PHASE_RHS);
  eb_log_begin(log, EB_PHASE_SOLVE);
  eb_log_end(log, EB_PHASE_RHS);
  tap_ok(log->open_count == 0, "the end of a phase ends those inside it");
}

static void log_refuses_what_is_out_of_range(void) {
  static const int wild[] = {-1, 1000, INT32_MAX, INT32_MIN};
  enum { WILD = sizeof wild / sizeof *wild };
  owned(eb_step_log) *log = new_log(4);
  eb_step_log before = *log;
  for (int i = 0; i < WILD; i++) {
    eb_log_begin(log, (eb_phase)wild[i]);
    eb_log_end(log, (eb_phase)wild[i]);
    eb_log_count(log, (eb_counter)wild[i], 1);
    eb_log_memory(log, (eb_memory_kind)wild[i], 1);
  }
  eb_log_begin(log, EB_PHASE_COUNT);
  eb_log_count(log, EB_COUNTERS, 1);
  eb_log_memory(log, EB_MEMORY_KINDS, 1);
  tap_ok(log->invalid == 4 * WILD + 3, "what is out of range is counted");
  log->invalid = 0;
  tap_ok(memcmp(&before, log, sizeof before) == 0, "and changes nothing else");
  tap_fails(eb_log_tree(log, -1, NULL, NULL, NULL, NULL), EB_ERR_INVALID, "-1",
            "a tree of a negative size is refused");
  log->invalid = 3;
  eb_step_log_reset(log);
  tap_ok(log->invalid == 0, "a reset forgets");
}

static void log_may_be_absent(void) {
  eb_log_begin(NULL, EB_PHASE_IO);
  eb_log_end(NULL, EB_PHASE_IO);
  eb_log_residual(NULL, 1);
  eb_log_count(NULL, EB_COUNT_SOLVES, 1);
  eb_step_log_destroy(NULL);
  eb_step_log *log = NULL;
  tap_fails(eb_step_log_create(-1, &log), EB_ERR_USAGE, "-1", "a negative capacity is refused");
  tap_ok(log == NULL, "and leaves no log");
}

/* ---- create ---- */

static eb_scene *block(const char *parameters) {
  eb_scene *scene = NULL;
  tap_require(eb_block_create(&scene, "%s", parameters), parameters);
  return scene;
}

static void refuses(const eb_solver_ops *ops, const char *options, const eb_scene *scene,
                    int threads, eb_error_code code, const char *fragment, const char *name) {
  eb_solver *solver = (eb_solver *)scene; /* anything that is not NULL */
  tap_fails(eb_solver_create(ops, options, scene, threads, 0, &solver), code, fragment, name);
  tap_ok(solver == NULL, "%s: no solver is left", name);
}

static void bad_options_are_refused(void) {
  owned(eb_scene) *scene = block("nx=1,ny=1,nz=1");
  const eb_solver_ops *newton = eb_solver_find("newton");
  refuses(newton, "rtoll=1", scene, 1, EB_ERR_USAGE, "rtol", "an unknown option");
  refuses(newton, "rtol=-1", scene, 1, EB_ERR_USAGE, "rtol", "a value below its range");
  refuses(newton, "rtol=abc", scene, 1, EB_ERR_USAGE, "rtol", "a malformed number");
  refuses(newton, "rtol=nan", scene, 1, EB_ERR_USAGE, "rtol", "a number that is none");
  refuses(newton, "max_iterations=0", scene, 1, EB_ERR_USAGE, "max_iterations", "no iterations");
  refuses(newton, "linear=lu", scene, 1, EB_ERR_USAGE, "cholesky", "an unknown linear solver");
  refuses(newton, "project=maybe", scene, 1, EB_ERR_USAGE, "auto", "an unknown projection");
  refuses(newton, "static=perhaps", scene, 1, EB_ERR_USAGE, "static", "a malformed boolean");
  refuses(newton, "rtol", scene, 1, EB_ERR_USAGE, "name=value", "an option without a value");
  refuses(eb_solver_find("semi-implicit"), "beta=-0.1", scene, 1, EB_ERR_USAGE, "beta",
          "a negative beta");
  refuses(newton, "", scene, 0, EB_ERR_USAGE, "threads", "no threads");
}

static void capabilities_are_checked(void) {
  owned(eb_scene) *scene = block("nx=1,ny=1,nz=1,material=stvk");
  refuses(eb_solver_find("corotational"), "", scene, 1, EB_ERR_UNSUPPORTED,
          "materials other than 'corotational'", "corotational on a hyperelastic scene");
}

/* A solver that can do nothing: the message lists all that is missing. */
static eb_error never_create(eb_solver *solver, const eb_scene *scene) {
  (void)solver, (void)scene;
  return EB_ERROR(EB_ERR_LIBRARY, "create was called");
}

static void missing_capabilities_are_all_named(void) {
  const eb_solver_ops nothing = {.name = "nothing", .create = never_create};
  owned(eb_scene) *scene = block("nx=1,ny=1,nz=1,material=stvk,fibre=astvk");
  refuses(&nothing, "", scene, 1, EB_ERR_UNSUPPORTED, "tetrahedra", "a missing element");
  refuses(&nothing, "", scene, 1, EB_ERR_UNSUPPORTED, "fibres", "a missing material");
  refuses(&nothing, "", scene, 1, EB_ERR_UNSUPPORTED, "nothing", "the solver's name");
  refuses(&nothing, "", scene, 1, EB_ERR_UNSUPPORTED, "check/block", "the scene's name");
  const eb_solver_ops everything = {
      .name = "everything", .capabilities = ~0u, .create = never_create};
  refuses(&everything, "", scene, 1, EB_ERR_LIBRARY, "create was called",
          "a failing create passes its error on");
}

static void setup_is_timed(void) {
  owned(eb_scene) *scene = block("nx=8,ny=8,nz=8");
  owned(eb_solver) *solver = NULL;
  tap_require(eb_solver_create(eb_solver_find("newton"), "", scene, 1, 3, &solver), "create");
  tap_ok(solver->setup_log->phase_seconds[EB_PHASE_ANALYZE] > 0,
         "the set-up log holds the time of the analysis");
  tap_ok(solver->seed == 3 && solver->threads == 1 && solver->scene == scene,
         "scene, threads and seed are kept");
  eb_solver_destroy(NULL);
}

/* The check grants no coarser accuracy than EB_COARSEST_ACCURACY: a table that declares one would
 * be held to another than it says. */
static void declared_accuracies_can_be_asked_for(void) {
  for (const eb_solver_ops *const *ops = eb_solvers(); *ops; ops++) {
    eb_values *values = NULL;
    /* That of a program is the program's. */
    if (((*ops)->capabilities & EB_CAP_CONTACT) && !eb_solver_wants_options(*ops))
      tap_ok((*ops)->tightest && (*ops)->accuracy > 0, "%s declares its accuracy", (*ops)->name);
    tap_ok((*ops)->accuracy >= 0 && (*ops)->accuracy <= EB_COARSEST_ACCURACY,
           "%s: one that is granted", (*ops)->name);
    const char *const asked[] = {(*ops)->tightest, (*ops)->exact};
    for (int i = 0; i < 2; i++) {
      if (!asked[i]) continue;
      tap_succeeds(eb_values_create((*ops)->name, (*ops)->options, asked[i], &values),
                   (*ops)->name);
      eb_values_destroy(values);
    }
  }
}

/* A default of a scene that no solver takes would end every run of the pair. */
static void defaults_of_scenes_are_options(void) {
  int count = 0, named = 0, found = 0;
  for (const eb_scene_ops *const *scene = eb_scenes(); *scene; scene++) {
    for (const eb_scene_default *at = (*scene)->solver_defaults; at && at->solver; at++) {
      tap_ok(at->source && *at->source, "%s: %s has a source", (*scene)->name, at->solver);
      named++;
      for (const char *bar = at->solver; (bar = strchr(bar, '|')); bar++) named++;
    }
    for (const eb_solver_ops *const *solver = eb_solvers(); *solver; solver++) {
      owned(eb_values) *values = NULL;
      found += eb_scene_default_of(*scene, (*solver)->name) != NULL;
      if (!eb_solver_defaults(*solver, *scene)) continue;
      tap_succeeds(eb_solver_options(*solver, *scene, NULL, &values), (*scene)->name);
      count++;
    }
  }
  tap_ok(found == named, "each is of a solver that there is");
  tap_ok(count > 0, "scenes have defaults for solvers");
  const eb_solver_ops *conjac = eb_solver_find("conjac");
  owned(eb_values) *own = NULL, *given = NULL, *elsewhere = NULL;
  const eb_scene_ops *bunny = eb_scene_find("conjac2020/bunny");
  tap_require(eb_solver_options(conjac, bunny, NULL, &own), "the scene's");
  tap_require(eb_solver_options(conjac, bunny, "dynamic=3", &given), "the user's");
  tap_require(eb_solver_options(conjac, eb_scene_find("bench/beam"), NULL, &elsewhere), "its own");
  tap_ok(eb_values_int(own, "dynamic") == 8 && !eb_values_given(own, "dynamic"),
         "where nothing is given the scene's default stands");
  tap_ok(eb_values_int(given, "dynamic") == 3, "the user's value goes over it");
  tap_ok(eb_values_int(elsewhere, "dynamic") == 4, "elsewhere the solver's own stands");
}

int main(void) {
  defaults_of_scenes_are_options();
  declared_accuracies_can_be_asked_for();
  names_are_distinct();
  registry_finds_what_it_lists();
  options_are_documented();
  log_times_and_counts();
  log_names_norms();
  log_nests_phases();
  log_refuses_what_is_out_of_range();
  log_may_be_absent();
  bad_options_are_refused();
  capabilities_are_checked();
  missing_capabilities_are_all_named();
  setup_is_timed();
  return tap_done();
}
