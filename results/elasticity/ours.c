/* The same block by this program's own parts and solvers, to be measured beside its peer.
 *
 *   mpiexec -n RANKS build/elasticity-ours CUBES [SOLVER [OPTIONS]]
 *
 * bench/block of CUBES^3 cubes, held at its foot, under its weight. Without a solver, the first
 * linear system of Newton's method in statics, whose matrix is the peer's, to |b - A x| <=
 * 1e-8 |b|; with one, a step of it. Prints one line of what the step took, on rank 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "problems/base/clock.h"
#include "problems/ranks/subdomain.h"
#include "solvers/solver.h"

static const char usual_solver[] = "newton";
static const char usual_options[] = "static=true,max_iterations=1,linear_rtol=1e-8";

typedef struct work {
  eb_ranks *ranks;
  eb_scene *scene;
  eb_state *state;
  eb_solver *solver;
  eb_step_log *log;
  eb_reason reason;
  double scene_seconds, solver_seconds, step_seconds;
} work;

static double memory_of(const eb_ranks *ranks) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double bytes = 1024. * (double)usage.ru_maxrss;
  eb_ranks_sum(ranks, 1, &bytes);
  return bytes;
}

static void report(const work *w) {
  double bytes = memory_of(w->ranks);
  const eb_step_log *log = w->log;
  if (eb_ranks_self(w->ranks) != 0) return;
  printf("%d ranks, %lld nodes, %lld tetrahedra: scene %.2f s, solver %.2f s, step %.2f s of "
         "assembly %.2f s, set-up %.2f s, solve %.2f s; %lld iterations, %.0f of linear systems "
         "(%s), %.2f GiB\n",
         eb_ranks_count(w->ranks), (long long)eb_scene_all_nodes(w->scene),
         (long long)eb_scene_all_elements(w->scene), w->scene_seconds, w->solver_seconds,
         w->step_seconds, log->phase_seconds[EB_PHASE_ASSEMBLE],
         log->phase_seconds[EB_PHASE_FACTOR], log->phase_seconds[EB_PHASE_SOLVE],
         (long long)log->iterations, log->counters[EB_COUNT_LINEAR_ITERATIONS],
         eb_reason_name(w->reason), bytes / 1073741824);
}

static eb_error run(work *w, const char *cubes, const char *solver, const char *given) {
  char parameters[64], options[1024];
  int count = eb_ranks_count(w->ranks);
  const eb_solver_ops *ops = eb_solver_find(solver);
  if (!ops) return EB_ERROR(EB_ERR_USAGE, "there is no solver '%s'", solver);
  snprintf(parameters, sizeof parameters, "cubes=%s", cubes);
  /* One rank has the whole scene to itself, and the same linear solver as many. */
  snprintf(options, sizeof options, "%s%s%s", given, *given ? "," : "",
           count > 1                  ? "ranks="
           : strstr(given, "linear=") ? "ranks=1"
                                      : "linear=petsc");
  if (count > 1) snprintf(options + strlen(options), sizeof options - strlen(options), "%d", count);
  double began = eb_wall_seconds();
  EB_TRY(eb_scene_create_part(eb_scene_find("bench/block"), parameters, NULL, "",
                              count > 1 ? w->ranks : NULL, &w->scene));
  EB_TRY(eb_state_create(w->scene, &w->state));
  EB_TRY(eb_step_log_create(0, &w->log));
  double made = eb_wall_seconds();
  EB_TRY(eb_solver_create(ops, options, w->scene, 1, 0, &w->solver));
  double ready = eb_wall_seconds();
  EB_TRY(ops->step(w->solver, w->state, w->scene->dt, w->log, &w->reason));
  w->scene_seconds = made - began;
  w->solver_seconds = ready - made;
  w->step_seconds = eb_wall_seconds() - ready;
  report(w);
  return EB_OK;
}

static void clear(work *w) {
  eb_solver_destroy(w->solver);
  eb_step_log_destroy(w->log);
  eb_state_destroy(w->state);
  eb_scene_destroy(w->scene);
  eb_ranks_destroy(w->ranks);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: elasticity-ours CUBES [SOLVER [OPTIONS]]\n");
    return 2;
  }
  work w = {.reason = EB_RUNNING};
  eb_error error = eb_ranks_create(&w.ranks);
  if (!error)
    error = run(&w, argv[1], argc > 2 ? argv[2] : usual_solver,
                argc > 3   ? argv[3]
                : argc > 2 ? ""
                           : usual_options);
  int status = error ? 2 : 0;
  if (error && eb_ranks_self(w.ranks) == 0)
    fprintf(stderr, "elasticity-ours: %s\n", eb_error_message(error));
  eb_error_free(error);
  clear(&w);
  return status;
}
