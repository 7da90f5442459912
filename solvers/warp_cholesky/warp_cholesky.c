/* Warp-cancelling corotation on an incrementally updated sparse Cholesky factor.
 *
 *   R_n A R_n^T v1 = M v0 + h (f_ext - g(x0)),   x1 = x0 + h v1
 *   A = (1 + h a) M + (h^2 + h b) sum_e Q_e K_e Q_e^T,   Q_e = diag(R_i^T R_e) as last refreshed
 *
 * Reference: Hecht, Lee, Shewchuk and O'Brien 2012, "Updated Sparse Cholesky Factors for
 * Corotational Elastodynamics". The matrix of `corotational` is followed element by element: where
 * the present rotation R_n of the nodes makes a bad substitute for those of the elements, A is
 * refreshed and the fronts of its factor that hold the change are factored again. The error of an
 * element is what its matrix misses of the force on its nodes at their velocities v0, times h.
 *
 * schedule=count is not the paper's way to choose: it refreshes a prescribed number of elements,
 * the worst first and no others, so that the ways of `update` can be set against each other on the
 * same change (its Section 5.2). Ancestors of their supernodes are refactored, not refreshed.
 *
 * With tau = 0 every element is refreshed in every step, which is the corotational method, at once
 * or, with whole_from above 1, front by front; in the first step it is too. Where the paper is not
 * explicit: the elements of refactored ancestors are refreshed too (it marks ancestors "for
 * update", and they cost next to nothing), and when nearly all of the factor would be computed, all
 * of it is. Schedules that have a budget measure costs in seconds, as the paper does, so that their
 * runs differ in the last digits from run to run; costs=flops makes them reproducible.
 *
 * keep_updates=upper is ours: the same numbers from half of the paper's memory for update matrices,
 * or less. Those inside of small subtrees are dropped and, where an update touches such a subtree,
 * formed again from its part of the factor. Costs in seconds leave that out: a budget may be
 * overrun by the share that is formed again.
 *
 * Needs: tetrahedra, every material of kind EB_COROTATIONAL. Workspace: A, once more where nodes
 * are scripted; factor and update matrices; eb_corotation; six vectors. Fails: EB_DIVERGED_NAN when
 * state, forces or solution are not finite; EB_NOT_POSITIVE_DEFINITE when a whole factorization
 * fails. When a partial one does, a whole one is tried first. */
#include "solvers/registry.h"
#include "solvers/warp_cholesky/warp.h"

#include <string.h>

static const eb_option options[] = {
    {.name = "tau",
     .type = EB_OPTION_REAL,
     .fallback = "5e-3",
     .min = 0,
     .max = 1e300,
     .unit = "kg m/s",
     .doc = "supernodes are updated from this error of their worst element on; 0: always all. The "
            "paper's, a momentum: other units, sizes or steps ask for another"},
    {.name = "schedule",
     .type = EB_OPTION_CHOICE,
     .fallback = "quality",
     .choices = "quality|time|hybrid|count",
     .unit = "",
     .doc =
         "all of these supernodes; the worst within the budget; those above hard_tau and then the "
         "worst within the budget; or so many elements"},
    {.name = "count",
     .type = EB_OPTION_INT,
     .fallback = "0",
     .min = 0,
     .max = 2147483647,
     .unit = "1",
     .doc = "schedule=count: how many elements are refreshed, the worst first, whatever tau"},
    {.name = "budget",
     .type = EB_OPTION_REAL,
     .fallback = "1",
     .min = 0,
     .max = 1,
     .unit = "",
     .doc = "schedule=time, hybrid: cost of an update over that of a whole factorization; 1: no "
            "limit"},
    {.name = "hard_tau",
     .type = EB_OPTION_REAL,
     .fallback = "5e-1",
     .min = 0,
     .max = 1e300,
     .unit = "kg m/s",
     .doc = "schedule=hybrid: from this error on supernodes are updated over any budget; a "
            "momentum, as damp_above"},
    {.name = "costs",
     .type = EB_OPTION_CHOICE,
     .fallback = "seconds",
     .choices = "seconds|flops",
     .unit = "",
     .doc = "of supernodes: as measured, or as counted, which is the same in every run"},
    {.name = "averaging",
     .type = EB_OPTION_REAL,
     .fallback = "0.25",
     .min = 0,
     .max = 1,
     .unit = "",
     .doc = "costs=seconds: share of the newest measurement in a supernode's moving average"},
    {.name = "update",
     .type = EB_OPTION_CHOICE,
     .fallback = "incremental",
     .choices = "incremental|refactor|updown",
     .unit = "",
     .doc = "the factor follows by fronts, as a whole, or by CHOLMOD's rank updates"},
    {.name = "keep_updates",
     .type = EB_OPTION_CHOICE,
     .fallback = "all",
     .choices = "all|upper",
     .unit = "",
     .doc =
         "update=incremental: update matrices of all fronts (the paper), or of the upper ones in "
         "half the memory; others are formed again"},
    {.name = "refresh",
     .type = EB_OPTION_CHOICE,
     .fallback = "ancestors",
     .choices = "ancestors|chosen",
     .unit = "",
     .doc =
         "elements refreshed: those of chosen supernodes and of their ancestors, or without these"},
    {.name = "whole_from",
     .type = EB_OPTION_REAL,
     .fallback = "0.9",
     .min = 0,
     .max = 2,
     .unit = "",
     .doc = "no limit: everything is renewed when fronts with this share of the work would be; 2: "
            "never"},
    {.name = "single",
     .type = EB_OPTION_BOOL,
     .fallback = "false",
     .unit = "",
     .doc = "factor in single precision, solutions refined to double accuracy"},
    {.name = "correct_atol",
     .type = EB_OPTION_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e300,
     .unit = "kg m/s",
     .doc =
         "go on by conjugate gradients on the exact matrix, preconditioned by the factor, to this "
         "residual; 0: do not"},
    EB_WARP_OPTIONS("auto", "0"),
    EB_RAYLEIGH_OPTIONS,
    {0}};

static bool chosen(const eb_values *options_given, const char *name, const char *value) {
  return !strcmp(eb_values_text(options_given, name), value);
}

static eb_warp_settings settings_of(const eb_values *given) {
  eb_warp_settings settings = eb_warp_common_settings(given);
  settings.rule = (eb_update_rule){.goal = chosen(given, "schedule", "hybrid") ? EB_UPDATE_HYBRID
                                           : chosen(given, "schedule", "time") ? EB_UPDATE_TIME
                                                                               : EB_UPDATE_QUALITY,
                                   .tau = eb_values_real(given, "tau"),
                                   .hard_tau = eb_values_real(given, "hard_tau"),
                                   .budget = eb_values_real(given, "budget")};
  settings.count = (int32_t)eb_values_int(given, "count");
  settings.correct = eb_values_real(given, "correct_atol");
  settings.measured_costs = chosen(given, "costs", "seconds");
  settings.averaging = eb_values_real(given, "averaging");
  settings.whole_from = eb_values_real(given, "whole_from");
  settings.refresh_ancestors = chosen(given, "refresh", "ancestors");
  settings.follow = chosen(given, "update", "incremental") ? EB_FOLLOW_PARTS
                    : chosen(given, "update", "refactor")  ? EB_FOLLOW_WHOLE
                                                           : EB_FOLLOW_RANKS;
  settings.keep_updates = settings.follow != EB_FOLLOW_PARTS       ? EB_KEEP_NONE
                          : chosen(given, "keep_updates", "upper") ? EB_KEEP_UPPER
                                                                   : EB_KEEP_ALL;
  settings.single_precision = eb_values_bool(given, "single");
  return settings;
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  (void)scene;
  /* Options that contradict each other are refused, not resolved: what a run's record says must be
   * what it did. */
  const char *schedule = eb_values_text(solver->options, "schedule");
  bool counted = chosen(solver->options, "schedule", "count");
  if ((counted || chosen(solver->options, "schedule", "quality")) &&
      eb_values_real(solver->options, "budget") < 1)
    return EB_ERROR(EB_ERR_USAGE,
                    "warp-cholesky: schedule=%s has no budget; use schedule=time or "
                    "schedule=hybrid with budget=%g",
                    schedule, eb_values_real(solver->options, "budget"));
  if (counted != (eb_values_int(solver->options, "count") > 0))
    return EB_ERROR(EB_ERR_USAGE,
                    "warp-cholesky: schedule=count and count=NUMBER go together; "
                    "here are schedule=%s and count=%lld",
                    schedule, (long long)eb_values_int(solver->options, "count"));
  if (chosen(solver->options, "update", "updown") && eb_values_bool(solver->options, "single"))
    return EB_ERROR(EB_ERR_USAGE, "warp-cholesky: update=updown is in double precision; leave out "
                                  "single, or use update=incremental");
  if (chosen(solver->options, "keep_updates", "upper") &&
      !chosen(solver->options, "update", "incremental"))
    return EB_ERROR(EB_ERR_USAGE, "warp-cholesky: keep_updates=upper goes with update=incremental; "
                                  "the other ways keep no update matrices");
  eb_warp_settings settings = settings_of(solver->options);
  if (settings.correct > 0 &&
      (settings.follow == EB_FOLLOW_RANKS || settings.frame != EB_FRAME_WORLD))
    return EB_ERROR(EB_ERR_USAGE, "warp-cholesky: correct_atol goes with frame=world and not with "
                                  "update=updown");
  return eb_warp_create(solver, &settings);
}

const eb_solver_ops eb_solver_warp_cholesky = {
    .name = "warp-cholesky",
    .summary = "corotational elasticity on a Cholesky factor that is updated where it is worst",
    .citation = "Hecht, Lee, Shewchuk and O'Brien 2012",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_COROTATIONAL | EB_CAP_SCRIPTED | EB_CAP_COLLIDERS,
    .options = options,
    .exact = "tau=0",
    .accuracy_options = "tau=1e-5..1e-1",
    .memory = &(const eb_memory_model){.block = 265, .factor = 2.99, .margin = 0.2},
    .create = create,
    .step = eb_warp_step,
    .destroy = eb_warp_destroy};
