/* Newton and semi-implicit steps on parts of a scene: trajectories of 1 to 4 ranks are that of one
 * process with a direct solver, and what goes wrong goes wrong on all ranks alike. */
#include <unistd.h>

#include "problems/base/memory.h"
#include "problems/mesh/io.h"
#include "problems/ranks/subdomain.h"
#include "problems/scenes/common.h"
#include "solvers/solver.h"
#include "tests/support/under_mpiexec.h"

enum { MOST_RANKS = 4 };

/* The beam, 288 tetrahedra, of soft rubber: it sags by a third of its length within ten steps. */
#define BEAM "resolution=0.3,E=2e5"

/* One problem that parts and a whole are stepped through. */
typedef struct problem {
  const char *name, *scene, *mesh_file;
  const eb_scene_ops *ops;
  const char *solver, *options; /* of both */
  const char *by_parts;         /* of the parts alone */
  int64_t steps;
} problem;

typedef struct run {
  eb_scene *scene;
  eb_state *state;
  eb_solver *solver;
  eb_step_log *log;
  eb_reason reason;
} run;

static void close_run(run *r) {
  eb_solver_destroy(r->solver);
  eb_step_log_destroy(r->log);
  eb_state_destroy(r->state);
  eb_scene_destroy(r->scene);
}

/* `ranks` NULL: the whole scene, by Cholesky factors. */
static eb_error open_run(const problem *p, const eb_ranks *ranks, run *r) {
  int count = eb_ranks_count(ranks);
  char options[512];
  snprintf(options, sizeof options, "%s,ranks=%d%s%s", p->options, count,
           !ranks       ? ",linear=cholesky"
           : count == 1 ? ",linear=petsc"
                        : "",
           ranks ? p->by_parts : "");
  *r = (run){.reason = EB_RUNNING};
  rank_require(ranks ? eb_scene_create_part(p->ops, p->scene, p->mesh_file, "", ranks, &r->scene)
                     : eb_scene_create(p->ops, p->scene, p->mesh_file, "", &r->scene),
               p->name);
  rank_require(eb_state_create(r->scene, &r->state), p->name);
  rank_require(eb_step_log_create(1000, &r->log), p->name);
  return eb_solver_create(eb_solver_find(p->solver), options, r->scene, 1, 0, &r->solver);
}

static eb_error step_run(const problem *p, run *r) {
  for (int64_t k = 0; k < p->steps && r->reason >= 0; k++) {
    eb_step_log_reset(r->log);
    EB_TRY(r->solver->ops->step(r->solver, r->state, r->scene->dt, r->log, &r->reason));
  }
  return EB_OK;
}

static double *all_of(const run *r, const double *values) {
  double *all = eb_calloc(3 * (size_t)eb_scene_all_nodes(r->scene), sizeof *all);
  rank_require(all ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "no memory"), "values of all nodes");
  rank_require(eb_subdomain_gather(r->scene->part, 3, values, all), "gather");
  return all;
}

/* Largest difference of any value; on rank 0, 0 elsewhere. */
static double off_whole(const run *part, const double *values, const run *whole,
                        const double *wanted) {
  double *all = all_of(part, values), off = 0;
  for (int64_t k = 0; eb_ranks_self(part->scene->part->ranks) == 0 &&
                      k < 3 * (int64_t)whole->scene->mesh->node_count;
       k++)
    off = fmax(off, fabs(all[k] - wanted[k]));
  free(all);
  return off;
}

/* What ranks decide by has the same bits on all. */
static bool same_everywhere(const eb_ranks *ranks, double value) {
  double least = value, most = value;
  eb_ranks_min(ranks, 1, &least);
  eb_ranks_max(ranks, 1, &most);
  return least == most;
}

static void same_course(const eb_ranks *ranks, const run *part, const char *name) {
  bool same = same_everywhere(ranks, part->reason) &&
              same_everywhere(ranks, (double)part->log->iterations) &&
              same_everywhere(ranks, (double)part->log->residual_count);
  for (int64_t k = 0; same && k < part->log->residual_count; k++)
    same = same_everywhere(ranks, part->log->residuals[k]);
  rank_ok(ranks, same, "%s: all ranks take the same course (%s)", name,
          eb_reason_name(part->reason));
}

static bool ghosts_are_current(const run *part) {
  const size_t bytes = 3 * (size_t)part->scene->mesh->node_count * sizeof(double);
  double *x = eb_calloc(1, bytes);
  if (!x) return false;
  memcpy(x, part->state->x, bytes);
  eb_subdomain_update(part->scene->part, 3, x);
  bool same = memcmp(x, part->state->x, bytes) == 0;
  free(x);
  return same;
}

/* Both are solved to tolerances of 1e-12 and less, in metres that are the size of the body: the
 * condition numbers of the steps (below 1e3) leave 1e-10. Two numbers of ranks differ by as much at
 * most. Velocities are differences of positions over dt. */
static void compare(const eb_ranks *ranks, const problem *p) {
  run part, whole;
  char name[128];
  rank_require(open_run(p, ranks, &part), p->name);
  rank_require(open_run(p, NULL, &whole), p->name);
  rank_require(step_run(p, &part), p->name);
  rank_require(step_run(p, &whole), p->name);
  rank_ok(ranks, part.reason > 0 && whole.reason > 0, "%s: converges (%s)", p->name,
          eb_reason_name(part.reason));
  same_course(ranks, &part, p->name);
  rank_ok(ranks, ghosts_are_current(&part), "%s: ghosts are where their owners are", p->name);
  snprintf(name, sizeof name, "%s: positions are those of one process", p->name);
  rank_below(ranks, off_whole(&part, part.state->x, &whole, whole.state->x), 0.5e-10, name);
  snprintf(name, sizeof name, "%s: velocities, too", p->name);
  rank_below(ranks, off_whole(&part, part.state->v, &whole, whole.state->v),
             0.5e-10 / part.scene->dt, name);
  double moved = 0;
  for (int64_t k = 0; k < 3 * (int64_t)whole.scene->mesh->node_count; k++)
    moved = fmax(moved, fabs(whole.state->x[k] - whole.scene->x0[k]));
  rank_ok(ranks, moved > 1e-3, "%s: and the body has moved, by %.2g m", p->name, moved);
  close_run(&part);
  close_run(&whole);
}

/* ---- problems -------------------------------------------------------------------------------- */

#define NEWTON_TIGHT "rtol=1e-13,linear_rtol=1e-8"
#define MUMPS        ",petsc=-ksp_type preonly -pc_type cholesky -pc_factor_mat_solver_type mumps"

/* The free end is pushed along, then let go. */
static void push(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  const double free_end = 1 - 1e-9, until = 0.03;
  eb_grips_hold(scene, t, fixed, target);
  for (int32_t i = 0; i < scene->mesh->node_count && t < until; i++)
    if (scene->mesh->X[3 * (int64_t)i] > free_end) {
      fixed[i] = 1;
      target[3 * (int64_t)i] = scene->mesh->X[3 * (int64_t)i] - 3 * t;
    }
}

static eb_scene_ops pushed_beam(void) {
  eb_scene_ops ops = *eb_scene_find("bench/beam");
  ops.needs |= EB_CAP_SCRIPTED;
  ops.boundary = push;
  return ops;
}

static void test_trajectories(const eb_ranks *ranks) {
  const eb_scene_ops *beam = eb_scene_find("bench/beam");
  const eb_scene_ops pushed = pushed_beam();
  const problem problems[] = {
      {"newton", BEAM, NULL, beam, "newton", NEWTON_TIGHT, "", 3},
      {"newton, MUMPS", BEAM, NULL, beam, "newton", NEWTON_TIGHT, MUMPS, 2},
      {"newton, baij", BEAM, NULL, beam, "newton", NEWTON_TIGHT,
       ",petsc=-mat_type baij -pc_type bjacobi", 1},
      {"newton, sbaij", BEAM, NULL, beam, "newton", NEWTON_TIGHT,
       ",petsc=-mat_type sbaij -pc_type jacobi", 1},
      {"statics", BEAM, NULL, beam, "newton", NEWTON_TIGHT ",static=true", MUMPS, 1},
      {"semi-implicit", BEAM, NULL, beam, "semi-implicit", "linear_rtol=1e-13", "", 3},
      {"newton, scripted", BEAM, NULL, &pushed, "newton", NEWTON_TIGHT, "", 3},
      {"semi-implicit, scripted", BEAM, NULL, &pushed, "semi-implicit", "linear_rtol=1e-13", MUMPS,
       3}};
  for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) compare(ranks, &problems[k]);
}

/* A hundredfold weight from rest, in statics: full steps turn elements over, and are cut. */
static void test_line_search(const eb_ranks *ranks) {
  const problem p = {
      "line search", "resolution=0.3,E=2e5,gravity=60", NULL,  eb_scene_find("bench/beam"),
      "newton",      NEWTON_TIGHT ",static=true",       MUMPS, 1};
  run part;
  rank_require(open_run(&p, ranks, &part), p.name);
  rank_require(step_run(&p, &part), p.name);
  double searches = part.log->counters[EB_COUNT_LINE_SEARCHES];
  rank_ok(ranks, searches > (double)part.log->iterations,
          "the line search cuts steps: %g values of W in %d iterations", searches,
          (int)part.log->iterations);
  close_run(&part);
  compare(ranks, &p);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

/* Squeezed to half its length, unprojected and without much mass, the Hessian is indefinite. */
static void squeeze(const run *r) {
  for (int32_t i = 0; i < r->scene->mesh->node_count; i++) r->state->x[3 * (int64_t)i] *= 0.5;
}

static void test_indefinite(const eb_ranks *ranks) {
  const eb_scene_ops *beam = eb_scene_find("bench/beam");
  const problem problems[] = {
      {"indefinite, cg", BEAM ",dt=1", NULL, beam, "semi-implicit", "project=false", "", 1},
      {"indefinite, MUMPS", BEAM ",dt=1", NULL, beam, "semi-implicit", "project=false", MUMPS, 1},
      {"never projected", BEAM, NULL, beam, "newton", "project=never,static=true,max_iterations=3",
       "", 1}};
  for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
    run part;
    rank_require(open_run(&problems[k], ranks, &part), problems[k].name);
    squeeze(&part);
    rank_require(step_run(&problems[k], &part), problems[k].name);
    same_course(ranks, &part, problems[k].name);
    rank_ok(ranks, part.reason < 0, "%s: is an outcome", problems[k].name);
    close_run(&part);
  }
}

/* A value that one rank alone sees. */
static void test_nan(const eb_ranks *ranks) {
  const problem p = {"NaN", BEAM, NULL, eb_scene_find("bench/beam"), "newton", "rtol=1e-8", "", 1};
  run part;
  rank_require(open_run(&p, ranks, &part), p.name);
  if (eb_ranks_self(ranks) == eb_ranks_count(ranks) - 1) part.state->v[1] = NAN;
  rank_require(step_run(&p, &part), p.name);
  rank_ok(ranks, part.reason == EB_DIVERGED_NAN && part.state->step == 0,
          "a NaN on one rank ends the step on all");
  close_run(&part);
}

static void fails(const eb_ranks *ranks, const char *solver, const char *options,
                  eb_error_code code, const char *fragment, const char *name) {
  const problem p = {name, BEAM, NULL, eb_scene_find("bench/beam"), solver, "", options, 1};
  run part = {.reason = EB_RUNNING};
  char all[256];
  snprintf(all, sizeof all, "%s", options);
  rank_require(eb_scene_create_part(p.ops, p.scene, NULL, "", ranks, &part.scene), name);
  rank_require(eb_state_create(part.scene, &part.state), name);
  rank_require(eb_step_log_create(10, &part.log), name);
  eb_error error = eb_solver_create(eb_solver_find(solver), all, part.scene, 1, 0, &part.solver);
  if (!error) error = step_run(&p, &part);
  rank_fails(ranks, error, code, fragment, name);
  close_run(&part);
}

/* Ranks agree once more on what they have agreed upon, which has words in front by then. */
static void test_named_once(const eb_ranks *ranks) {
  int last = eb_ranks_count(ranks) - 1;
  char wanted[64];
  eb_error mine = EB_OK;
  snprintf(wanted, sizeof wanted, "solver: rank %d: no", last);
  if (eb_ranks_self(ranks) == last) mine = EB_ERROR(EB_ERR_USAGE, "%s", wanted);
  eb_error error = eb_ranks_agree(ranks, mine);
  rank_ok(ranks, error && strcmp(eb_error_message(error), wanted) == 0,
          "an error names its rank once");
  eb_error_free(error);
}

static void test_errors(const eb_ranks *ranks) {
  test_named_once(ranks);
  fails(ranks, "newton", "ranks=2,petsc=-ksp_type cg -pc_tpye gamg", EB_ERR_USAGE, "-pc_tpye",
        "an option that no part of PETSc reads");
  fails(ranks, "newton", "ranks=2,petsc=-pc_type magic", EB_ERR_USAGE, "magic",
        "a preconditioner that there is not");
  fails(ranks, "newton", "linear=cholesky", EB_ERR_UNSUPPORTED, "linear=petsc",
        "a factor of our own");
  fails(ranks, "semi-implicit", "ranks=2,linear=cg", EB_ERR_UNSUPPORTED, "linear=petsc",
        "conjugate gradients of our own");
  fails(ranks, "vbd", "", EB_ERR_UNSUPPORTED, "ranks", "a solver without ranks");
}

static void test_all(const eb_ranks *ranks) {
  test_trajectories(ranks);
  test_line_search(ranks);
  test_indefinite(ranks);
  test_nan(ranks);
  test_errors(ranks);
}

int main(int argc, char **argv) {
  return under_mpiexec(argc, argv, MOST_RANKS, test_all);
}
