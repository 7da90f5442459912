/* References: the motion of a scene's mesh in time, from runs at halved steps extrapolated to step
 * 0, refined in tolerance once; and controls of locking, on a mesh refined once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/precision/study.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "solvers/registry.h"
#include "solvers/symplectic_euler/stability.h"

enum { FIRST_LEVELS = 3 /* the fewest with an observed order */ };
static const double looser = 100;     /* the tolerance that the error of the tight one is told by */
static const double rounding = 1e-12; /* of lengths and speeds */
static const double negligible = 1e-6; /* of a displacement: a mean or a spread that is none */
static const double refinement = 2; /* of the control's mesh, along every edge where it has any */

/* What a scene's reference waits for. */
typedef enum stage { LEVELS, TOLERANCE, DONE } stage;

typedef struct progress {
  stage stage;
  /* the solver with its tolerance, and with one that is looser; loose NULL: it has none to tell */
  char *tight, *loose;
  int wanted, read; /* levels */
  eb_trajectory level[EB_MOST_LEVELS];
  double lost[EB_MOST_LEVELS]; /* J: numerical dissipation over the run */
} progress;

typedef struct referring {
  eb_study *study;
  progress *of; /* scenes */
} referring;

typedef struct label {
  char text[40];
} label;

static label name_case(int scene, const char *what, int number) {
  label name;
  snprintf(name.text, sizeof name.text, "%d.%s%d", scene, what, number);
  return name;
}

/* ---- the solver ------------------------------------------------------------------------------ */

static eb_error set_tolerance(const char *name, const char *options, double rtol, char **out) {
  char number[40], *assignments = NULL;
  snprintf(number, sizeof number, "%.3g", rtol);
  eb_error error = options ? eb_string_format(&assignments, "%s", options) : EB_OK;
  if (!error) error = eb_assign(&assignments, "rtol", number);
  if (!error) error = eb_string_format(out, "%s:%s", name, assignments);
  free(assignments);
  return error;
}

/* Parts that a step is cut into, so that each is half of what is stable at the start: bodies
 * stiffen on the way. */
static eb_error count_parts(const eb_scene *scene, double *out) {
  const double safety = 2;
  double stable;
  EB_TRY(eb_stable_step_at_start(scene, &stable));
  *out = fmax(1, ceil(safety * scene->dt / stable));
  return EB_OK;
}

/* Where a step of the scene is not too many explicit ones, and nothing collides: those damp
 * nothing, and what they are off follows from the steps alone. Else implicit ones. */
static eb_error choose(const eb_study *study, const eb_study_scene *s, char **out) {
  static const double most_parts = 1000;
  const eb_solver_ops *solver = &eb_solver_symplectic_euler;
  double parts = INFINITY;
  if (study->request->reference) return eb_string_format(out, "%s", study->request->reference);
  if (!study->request->same_step && !eb_solver_lacks(solver, s->scene) &&
      !(eb_scene_needs(s->scene) & EB_CAP_COLLIDERS))
    EB_TRY(count_parts(s->scene, &parts));
  return parts <= most_parts ? eb_string_format(out, "%s:substeps=%.0f", solver->name, parts)
                             : eb_string_format(out, "newton:rtol=1e-10");
}

/* Explicit steps, which a solver cuts into parts, have no error of algebra. */
static eb_error read_solver(const eb_study *study, const char *name, const char *options,
                            progress *p, const eb_solver_ops **solver) {
  eb_values *values;
  EB_TRY(eb_solver_lookup(study->request->plugins, name, solver, NULL));
  EB_TRY(eb_values_create(name, (*solver)->options, options, &values));
  bool declares = eb_values_declares(values, "rtol");
  bool in_parts = eb_solver_update(*solver, values) == EB_UPDATE_SUBSTEPS;
  double rtol = declares ? eb_values_real(values, "rtol") : 0;
  eb_values_destroy(values);
  if (rtol > 0) {
    EB_TRY(set_tolerance(name, options, rtol, &p->tight));
    return set_tolerance(name, options, looser * rtol, &p->loose);
  }
  if (in_parts && !study->request->same_step)
    return eb_string_format(&p->tight, "%s%s%s", name, options ? ":" : "", options ? options : "");
  return EB_ERROR(EB_ERR_USAGE,
                  "%s has no tolerance rtol > 0, by which its own error could be told; take newton "
                  "or mfem, or against time one that steps explicitly in parts",
                  name);
}

static eb_error choose_solver(referring *r, int scene, const eb_solver_ops **solver) {
  eb_study_scene *s = &r->study->scenes[scene];
  char *name, *options;
  EB_TRY(choose(r->study, s, &s->reference.solver));
  EB_TRY(eb_split_spec(s->reference.solver, &name, &options));
  eb_error error =
      eb_error_prefix(read_solver(r->study, name, options, &r->of[scene], solver), "--reference");
  free(name);
  free(options);
  return error;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static eb_error add_case(referring *r, int scene, label name, const char *solver, int64_t stride,
                         const char *resolution) {
  const eb_study_scene *s = &r->study->scenes[scene];
  double dt = eb_study_dt(r->study, s, stride);
  char number[40], *parameters = NULL, *spec = NULL;
  snprintf(number, sizeof number, "%.17g", dt);
  eb_error error = s->parameters ? eb_string_format(&parameters, "%s", s->parameters) : EB_OK;
  if (!error) error = eb_assign(&parameters, "dt", number);
  if (!error && resolution) error = eb_assign(&parameters, "resolution", resolution);
  if (!error) error = eb_string_format(&spec, "%s:%s", s->name, parameters);
  const eb_batch_case one = {.label = name.text,
                             .scene = spec,
                             .solver = solver,
                             .stride = stride,
                             .times = r->study->request->times,
                             .seed = r->study->request->seed};
  if (!error) error = eb_batch_add(&r->study->reference_runs, &one);
  free(parameters);
  free(spec);
  return error;
}

/* Of the scene's own step halved `level` times. */
static eb_error add_level(referring *r, int scene, label name, const char *solver, int level) {
  int64_t stride = r->study->scenes[scene].stride << level;
  return add_case(r, scene, name, solver, stride, NULL);
}

static eb_error add_levels(referring *r, int scene, int wanted) {
  for (progress *p = &r->of[scene]; p->wanted < wanted; p->wanted++)
    EB_TRY(add_level(r, scene, name_case(scene, "level", p->wanted), p->tight, p->wanted));
  return EB_OK;
}

/* The same scene and step on a finer mesh. */
static eb_error add_control(referring *r, int scene) {
  const eb_study_scene *s = &r->study->scenes[scene];
  eb_control *control = &r->study->scenes[scene].control;
  char number[40];
  control->difference = NAN;
  if (!control->wanted) return EB_OK;
  if (strcmp(s->scene->mesh_source, "generated") != 0)
    return eb_string_format(&control->detail, "the mesh is a file's, and cannot be refined");
  if (!eb_values_declares(s->scene->parameters, "resolution"))
    return eb_string_format(&control->detail, "the scene has no finer mesh");
  control->resolution = refinement * eb_values_real(s->scene->parameters, "resolution");
  snprintf(number, sizeof number, "%.9g", control->resolution);
  return add_case(r, scene, name_case(scene, "control", 0), r->of[scene].tight, s->stride, number);
}

static eb_error begin(referring *r, int scene) {
  eb_study_scene *s = &r->study->scenes[scene];
  const eb_solver_ops *solver;
  EB_TRY(choose_solver(r, scene, &solver));
  s->reference.state = EB_REFERENCE_MISSING;
  s->reference.unit = NAN;
  if (eb_solver_lacks(solver, s->scene)) {
    r->of[scene].stage = DONE;
    s->reference.state = EB_REFERENCE_FAILED;
    return eb_string_format(&s->reference.detail, "%s does not serve this scene", solver->name);
  }
  EB_TRY(add_levels(r, scene, r->study->request->same_step ? 1 : FIRST_LEVELS));
  return add_control(r, scene);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads a case's motion. *there is false when the case does not stand: then the reference is done,
 * and says why. */
static eb_error read_case(referring *r, int scene, label name, int64_t stride, eb_trajectory *out,
                          const eb_run **run, bool *there) {
  const eb_batch *batch = &r->study->reference_runs;
  eb_study_scene *s = &r->study->scenes[scene];
  char *why = NULL;
  int at = eb_batch_find(batch, name.text);
  *there = false;
  if (at < 0) return EB_OK; /* interrupted */
  *run = eb_results_run(batch->results, at);
  EB_TRY(eb_run_is_valid(*run, there, &why));
  if (*there)
    return eb_trajectory_read(batch->results, at, s->scene, stride, s->measure.times, out);
  s->reference.state = EB_REFERENCE_FAILED;
  r->of[scene].stage = DONE;
  eb_error error = eb_string_format(&s->reference.detail, "%s at dt = %.3g: %s", (*run)->solver,
                                    eb_study_dt(r->study, s, stride), why);
  free(why);
  return error;
}

/* What a run loses of its energy, the work of forces and scripts being counted. */
static eb_error read_loss(const eb_results *results, int run, double *out) {
  double *excess;
  size_t count;
  EB_TRY(eb_results_steps(results, run, EB_COL_ENERGY_EXCESS, &excess, &count));
  *out = 0;
  for (size_t i = 0; i < count; i++) *out -= excess[i];
  free(excess);
  return EB_OK;
}

static eb_error read_levels(referring *r, int scene, bool *there) {
  progress *p = &r->of[scene];
  eb_study_scene *s = &r->study->scenes[scene];
  const eb_batch *batch = &r->study->reference_runs;
  const eb_run *run;
  for (*there = true; p->read < p->wanted && *there; p->read += *there) {
    label name = name_case(scene, "level", p->read);
    EB_TRY(read_case(r, scene, name, s->stride << p->read, &p->level[p->read], &run, there));
    if (!*there) return EB_OK;
    EB_TRY(read_loss(batch->results, eb_batch_find(batch, name.text), &p->lost[p->read]));
    if (p->read == 0) s->reference.unit = run->timed_cpu_seconds / (double)run->steps_done;
  }
  return EB_OK;
}

/* ---- estimates ------------------------------------------------------------------------------- */

static double largest_rms(const eb_measure *m, const double *a, const double *b) {
  eb_measure one = *m;
  double most = 0;
  one.times = 1;
  for (int k = 0; k < m->times; k++)
    most = fmax(most, eb_motion_distance(&one, a + 3 * (size_t)m->nodes * (size_t)k, b));
  return most;
}

static double distance_of_numbers(const void *context, const double *a, const double *b) {
  (void)context;
  return fabs(*a - *b);
}

/* What modes may move that every level damps: by the dissipation that does not vanish with the
 * step, or all of it where nobody can tell. */
static eb_error estimate_damped(const progress *p, eb_study_scene *s) {
  eb_reference *f = &s->reference;
  eb_extrapolation found;
  const double *lost[EB_MOST_LEVELS];
  double limit, mass = 0, last = p->lost[p->read - 1];
  for (int j = 0; j < p->read; j++) lost[j] = &p->lost[j];
  for (int32_t i = 0; i < s->measure.nodes; i++) mass += s->measure.mass[i];
  EB_TRY(eb_extrapolate(lost, p->read, 1, distance_of_numbers, NULL, rounding * fabs(last), &limit,
                        &found));
  double left = found.converges ? fmin(fabs(limit) + found.error, fabs(last)) : fabs(last);
  f->damped_x = eb_damped_motion(left, mass, s->seconds / (double)f->finest, s->seconds);
  f->damped_v = sqrt(2 * left / mass);
  return EB_OK;
}

/* How far the reference goes and how fast it is: what errors are relative to. */
static eb_error measure_motion(eb_study_scene *s) {
  eb_reference *f = &s->reference;
  double *still;
  EB_TRY(EB_NEW(still, 3 * (size_t)s->measure.nodes));
  f->moved = largest_rms(&s->measure, f->motion.x, s->scene->x0);
  f->speed = largest_rms(&s->measure, f->motion.v, still);
  free(still);
  return EB_OK;
}

/* Of x and v as the levels have them so far. */
static eb_error estimate(referring *r, int scene) {
  const progress *p = &r->of[scene];
  eb_study_scene *s = &r->study->scenes[scene];
  eb_reference *f = &s->reference;
  const double *x[EB_MOST_LEVELS], *v[EB_MOST_LEVELS];
  size_t size = 3 * (size_t)s->measure.nodes * (size_t)s->measure.times;
  if (!f->motion.x) {
    f->motion = (eb_trajectory){.times = s->measure.times, .nodes = s->measure.nodes};
    EB_TRY(EB_NEW(f->motion.x, size));
    EB_TRY(EB_NEW(f->motion.v, size));
  }
  for (int j = 0; j < p->read; j++) {
    x[j] = p->level[j].x;
    v[j] = p->level[j].v;
  }
  f->levels = p->read;
  f->finest = (int64_t)s->measure.times * (s->stride << (p->read - 1));
  if (r->study->request->same_step) { /* one level: what is left is its tolerance */
    memcpy(f->motion.x, x[0], size * sizeof *f->motion.x);
    memcpy(f->motion.v, v[0], size * sizeof *f->motion.v);
    f->x.converges = f->v.converges = true;
    return measure_motion(s);
  }
  EB_TRY(eb_extrapolate(x, p->read, size, eb_motion_distance, &s->measure, rounding * s->diagonal,
                        f->motion.x, &f->x));
  EB_TRY(eb_extrapolate(v, p->read, size, eb_motion_distance, &s->measure,
                        rounding * s->diagonal / s->seconds, f->motion.v, &f->v));
  EB_TRY(measure_motion(s));
  return estimate_damped(p, s);
}

static eb_error refuse(eb_reference *f, eb_reference_state state, const char *why) {
  f->state = state;
  return eb_string_format(&f->detail, "%s", why);
}

/* Sums up what is known of the error. */
static void finish(referring *r, int scene) {
  eb_reference *f = &r->study->scenes[scene].reference;
  f->error = (f->x.error + f->damped_x + f->tolerance_x) / f->moved;
  f->speed_error = (f->v.error + f->damped_v + f->tolerance_v) / f->speed;
  f->state = EB_REFERENCE_VALID;
  r->of[scene].stage = DONE;
}

/* Asks for another level while the error is too large, then for the finest one at a looser
 * tolerance. */
static eb_error look_at_levels(referring *r, int scene) {
  progress *p = &r->of[scene];
  eb_reference *f = &r->study->scenes[scene].reference;
  const eb_study_request *q = r->study->request;
  bool there;
  EB_TRY(read_levels(r, scene, &there));
  if (!there) return EB_OK;
  EB_TRY(estimate(r, scene));
  p->stage = DONE;
  if (!(f->moved > 0)) return refuse(f, EB_REFERENCE_FAILED, "nothing moves");
  bool enough = f->x.error + f->damped_x <= q->reference_error * f->moved;
  if (!q->same_step && !enough && p->wanted < q->levels) {
    p->stage = LEVELS;
    return add_levels(r, scene, p->wanted + 1);
  }
  if (!f->x.converges)
    return refuse(f, EB_REFERENCE_DIVERGES,
                  "motions at halved steps do not approach each other: the scene is chaotic, or "
                  "its steps are too coarse");
  if (!p->loose) {
    finish(r, scene);
    return EB_OK;
  }
  p->stage = TOLERANCE;
  return add_level(r, scene, name_case(scene, "loose", 0), p->loose, p->read - 1);
}

static eb_error look_at_tolerance(referring *r, int scene) {
  progress *p = &r->of[scene];
  eb_study_scene *s = &r->study->scenes[scene];
  const eb_trajectory *finest = &p->level[p->read - 1];
  EB_OWNED(eb_trajectory_clear) eb_trajectory loose = {0};
  const eb_run *run;
  bool there;
  EB_TRY(read_case(r, scene, name_case(scene, "loose", 0), s->stride << (p->read - 1), &loose, &run,
                   &there));
  if (there) {
    /* Where both tolerances end at the same iterate, rounding is left. */
    s->reference.tolerance_x =
        fmax(rounding * s->diagonal, eb_motion_distance(&s->measure, loose.x, finest->x));
    s->reference.tolerance_v =
        fmax(rounding * s->reference.speed, eb_motion_distance(&s->measure, loose.v, finest->v));
    finish(r, scene);
  }
  return EB_OK;
}

/* ---- controls -------------------------------------------------------------------------------- */

/* Mean displacement of the mass, and the root mean square of what is left of it. */
static double displacement(const eb_scene *scene, const double *x, double mean[3]) {
  const double *mass = eb_scene_mass(scene), *x0 = scene->x0;
  double total = 0, square = 0;
  mean[0] = mean[1] = mean[2] = 0;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    total += mass[i];
    for (int d = 0; d < 3; d++) {
      double u = x[3 * i + d] - x0[3 * i + d];
      mean[d] += mass[i] * u;
      square += mass[i] * u * u;
    }
  }
  for (int d = 0; d < 3; d++) mean[d] /= total;
  return sqrt(fmax(0, square / total - mean[0] * mean[0] - mean[1] * mean[1] - mean[2] * mean[2]));
}

/* The larger of the differences of mean and spread over the times, of what they are on the finer
 * mesh; a falling body has a large mean and a small spread, whose difference is then what tells. */
static double compare_meshes(const eb_scene *coarse, const eb_trajectory *a, const eb_scene *fine,
                             const eb_trajectory *b) {
  double mean = 0, spread = 0, mean_off = 0, spread_off = 0;
  for (int k = 0; k < a->times; k++) {
    double m[2][3], s[2];
    s[0] = displacement(coarse, a->x + 3 * (size_t)a->nodes * (size_t)k, m[0]);
    s[1] = displacement(fine, b->x + 3 * (size_t)b->nodes * (size_t)k, m[1]);
    double off[3] = {m[0][0] - m[1][0], m[0][1] - m[1][1], m[0][2] - m[1][2]};
    mean = fmax(mean, sqrt(m[1][0] * m[1][0] + m[1][1] * m[1][1] + m[1][2] * m[1][2]));
    mean_off = fmax(mean_off, sqrt(off[0] * off[0] + off[1] * off[1] + off[2] * off[2]));
    spread = fmax(spread, s[1]);
    spread_off = fmax(spread_off, fabs(s[0] - s[1]));
  }
  double least = negligible * (mean + spread);
  return fmax(mean > least ? mean_off / mean : 0, spread > least ? spread_off / spread : 0);
}

static eb_error finish_control(referring *r, int scene, const eb_scene *fine) {
  eb_study_scene *s = &r->study->scenes[scene];
  const eb_batch *batch = &r->study->reference_runs;
  eb_trajectory motion;
  bool stands;
  int at = eb_batch_find(batch, name_case(scene, "control", 0).text);
  if (at < 0 || r->of[scene].read == 0)
    return eb_string_format(&s->control.detail, "the control was not run");
  EB_TRY(eb_run_is_valid(eb_results_run(batch->results, at), &stands, &s->control.detail));
  if (!stands) return EB_OK;
  eb_error error =
      eb_trajectory_read(batch->results, at, fine, s->stride, s->measure.times, &motion);
  if (!error)
    s->control.difference = compare_meshes(s->scene, &r->of[scene].level[0], fine, &motion);
  eb_trajectory_clear(&motion);
  return error;
}

static eb_error look_at_control(referring *r, int scene) {
  eb_study_scene *s = &r->study->scenes[scene];
  char number[40], *parameters = NULL;
  eb_scene *fine = NULL;
  if (!s->control.wanted || s->control.detail) return EB_OK;
  snprintf(number, sizeof number, "%.9g", s->control.resolution);
  eb_error error = s->parameters ? eb_string_format(&parameters, "%s", s->parameters) : EB_OK;
  if (!error) error = eb_assign(&parameters, "resolution", number);
  if (!error) error = eb_scene_create(s->scene->ops, parameters, NULL, NULL, &fine);
  if (!error) error = finish_control(r, scene, fine);
  eb_scene_destroy(fine);
  free(parameters);
  return error;
}

/* ---- all scenes ------------------------------------------------------------------------------ */

/* Rounds of runs, each of what all scenes wait for. */
static eb_error refer(referring *r, const eb_batch_setting *setting) {
  eb_study *study = r->study;
  eb_existing existing = study->request->existing;
  for (int i = 0; i < study->scene_count; i++) EB_TRY(begin(r, i));
  for (bool waiting = true; waiting && !study->interrupted;) {
    waiting = false;
    if (study->reference_runs.suite.count == 0) break;
    EB_TRY(eb_batch_run(&study->reference_runs, setting, existing, &study->interrupted));
    existing = EB_EXISTING_RESUME;
    for (int i = 0; i < study->scene_count; i++) {
      stage *at = &r->of[i].stage;
      if (*at == LEVELS)
        EB_TRY(look_at_levels(r, i));
      else if (*at == TOLERANCE)
        EB_TRY(look_at_tolerance(r, i));
      waiting |= *at != DONE;
    }
  }
  for (int i = 0; i < study->scene_count; i++) EB_TRY(look_at_control(r, i));
  return EB_OK;
}

eb_error eb_study_refer(eb_study *study) {
  const eb_study_request *q = study->request;
  referring r = {.study = study};
  char *target = NULL;
  EB_TRY(EB_NEW(r.of, study->scene_count));
  eb_error error = eb_string_format(&target, "%s/reference.h5", q->folder);
  const eb_batch_setting setting = eb_study_batch(study, target);
  if (!error) error = refer(&r, &setting);
  for (int i = 0; i < study->scene_count; i++) {
    for (int j = 0; j < EB_MOST_LEVELS; j++) eb_trajectory_clear(&r.of[i].level[j]);
    free(r.of[i].tight);
    free(r.of[i].loose);
  }
  free(r.of);
  free(target);
  return error;
}
