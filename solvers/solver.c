/* Life of a solver: options, capability check, create, destroy.
 *
 * A scene is refused by what it needs and the
 * solver lacks, as bits, before anything is allocated; bits without a name are newer than this
 * build and are lacking too. */
#include "problems/base/memory.h"
#include "problems/base/text.h"
#include "problems/scene_impl.h"
#include "solvers/solver.h"

#include <omp.h>
#include <string.h>

/* ---- capabilities ---- */

static const struct {
  eb_capability bit;
  const char *what;
} capability_names[] = {{EB_CAP_TETRAHEDRA, "tetrahedra"},
                        {EB_CAP_HEXAHEDRA, "hexahedra of Gauss points"},
                        {EB_CAP_ONE_POINT, "hexahedra of one point"},
                        {EB_CAP_TRIANGLES, "triangles"},
                        {EB_CAP_IMPLICIT_PENALTY, "implicit penalty contact"},
                        {EB_CAP_ARTICULATION, "nodes on articulated rigid bodies"},
                        {EB_CAP_COROTATIONAL, "material 'corotational'"},
                        {EB_CAP_HYPERELASTIC, "materials other than 'corotational'"},
                        {EB_CAP_FIBRES, "fibres"},
                        {EB_CAP_SCRIPTED, "scripted nodes"},
                        {EB_CAP_COLLIDERS, "colliders"},
                        {EB_CAP_CONTACT, "contact constraints"},
                        {EB_CAP_FREE_BODIES, "free rigid bodies"},
                        {EB_CAP_CUTTING, "cutting"},
                        {EB_CAP_SPRINGS, "springs"},
                        {EB_CAP_CLUSTERS, "clusters of nodes"},
                        {EB_CAP_STATICS, "statics"},
                        {EB_CAP_PROJECTIVE, "materials of projective dynamics"}};

enum { CAPABILITIES = sizeof capability_names / sizeof *capability_names };

const char *eb_capability_name(uint32_t bit) {
  for (size_t i = 0; i < CAPABILITIES; i++)
    if ((uint32_t)capability_names[i].bit == bit) return capability_names[i].what;
  return NULL;
}

void eb_capability_names(uint32_t bits, char *out, size_t bytes) {
  const char *words[CAPABILITIES + 1];
  size_t count = 0;
  for (size_t i = 0; i < CAPABILITIES; i++) {
    if (bits & capability_names[i].bit) words[count++] = capability_names[i].what;
    bits &= ~(uint32_t)capability_names[i].bit;
  }
  if (bits) words[count++] = "a capability newer than this build";
  eb_text_join(out, bytes, words, count, ", ");
}

uint32_t eb_capabilities_lacking(uint32_t serves, uint32_t needs) {
  if (serves & EB_CAP_HYPERELASTIC) serves |= EB_CAP_PROJECTIVE;
  return needs & ~serves;
}

uint32_t eb_solver_lacks(const eb_solver_ops *ops, const eb_scene *scene) {
  return eb_capabilities_lacking(ops->capabilities, eb_scene_needs(scene));
}

eb_error eb_solver_require(const char *name, uint32_t serves, const eb_scene *scene) {
  uint32_t missing = eb_capabilities_lacking(serves, eb_scene_needs(scene));
  if (!missing) return EB_OK;
  char list[512];
  eb_capability_names(missing, list, sizeof list);
  return EB_ERROR(EB_ERR_UNSUPPORTED, "solver '%s' cannot serve scene '%s': it lacks %s", name,
                  scene->ops->name, list);
}

bool eb_solver_wants_options(const eb_solver_ops *ops) {
  for (const eb_option *option = ops->options; option && option->name; option++)
    if (!option->fallback) return true;
  return false;
}

/* ---- options ---- */

const char *eb_solver_defaults(const eb_solver_ops *ops, const eb_scene_ops *scene) {
  const eb_scene_default *own = eb_scene_default_of(scene, ops->name);
  return own ? own->options : NULL;
}

eb_error eb_solver_options(const eb_solver_ops *ops, const eb_scene_ops *scene, const char *options,
                           eb_values **out) {
  return eb_values_create_over(ops->name, ops->options, eb_solver_defaults(ops, scene), options,
                               out);
}

/* ---- life ---- */

eb_update eb_solver_update(const eb_solver_ops *ops, const eb_values *options) {
  return ops->update_of ? ops->update_of(options) : ops->update;
}

static eb_error call_create(eb_solver *solver) {
  omp_set_num_threads(solver->threads);
  solver->update = eb_solver_update(solver->ops, solver->options);
  EB_TRY(solver->ops->create(solver, solver->scene));
  solver->created = true;
  return EB_OK;
}

static void call_destroy(eb_solver *solver) {
  if (solver->created && solver->ops->destroy) solver->ops->destroy(solver);
  solver->created = false;
  solver->data = NULL;
}

static eb_error solver_start(eb_solver *solver, const char *options) {
  eb_values *values = NULL;
  EB_TRY(eb_solver_options(solver->ops, solver->scene->ops, options, &values));
  solver->options = values;
  EB_TRY(eb_solver_require(solver->ops->name, solver->ops->capabilities, solver->scene));
  if (solver->scene->part && !eb_values_declares(values, "ranks"))
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "solver '%s' cannot share a scene between ranks; those with an option `ranks` "
                    "can",
                    solver->ops->name);
  if (!solver->scene->part && eb_values_declares(values, "ranks") &&
      eb_values_int(values, "ranks") > 1)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "solver '%s' has a whole scene for itself here; ranks is 1 then, and more are "
                    "for `elastobench run`",
                    solver->ops->name);
  EB_TRY(eb_step_log_create(0, &solver->setup_log));
  return call_create(solver);
}

static void solver_release(eb_solver *solver) {
  eb_step_log_destroy(solver->setup_log);
  eb_values_destroy((eb_values *)solver->options);
  free(solver);
}

eb_error eb_solver_create(const eb_solver_ops *ops, const char *options, const eb_scene *scene,
                          int threads, uint64_t seed, eb_solver **out) {
  *out = NULL;
  if (threads < 1)
    return EB_ERROR(EB_ERR_USAGE, "solver '%s' cannot run on %d threads; use 1 or more", ops->name,
                    threads);
  eb_solver *solver = NULL;
  EB_TRY(EB_NEW(solver, 1));
  solver->ops = ops;
  solver->scene = scene;
  solver->threads = threads;
  solver->seed = seed;
  eb_error error = solver_start(solver, options);
  if (error) {
    solver_release(solver);
    return error;
  }
  *out = solver;
  return EB_OK;
}

void eb_solver_destroy(eb_solver *solver) {
  if (!solver) return;
  call_destroy(solver);
  solver_release(solver);
}

/* What a solver without a `rebuild` of its own gets after a cut: destroy and create on the mesh as
 * it is now, whose cost belongs to the step that asked for it. The set-up's log starts again, so
 * that memory and tree are those of what there is now. */
static eb_error create_again(eb_solver *solver, eb_step_log *log) {
  eb_step_log *setup = solver->setup_log;
  call_destroy(solver);
  eb_step_log_reset(setup);
  EB_TRY(call_create(solver));
  if (!log) return EB_OK;
  for (int i = 0; i < EB_PHASE_COUNT; i++) log->phase_seconds[i] += setup->phase_seconds[i];
  for (int i = 0; i < EB_COUNTERS; i++) log->counters[i] += setup->counters[i];
  return EB_OK;
}

eb_error eb_solver_rebuild(eb_solver *solver, const eb_state *state, eb_step_log *log) {
  eb_log_count(log, EB_COUNT_REBUILDS, 1);
  omp_set_num_threads(solver->threads);
  if (solver->ops->rebuild) return solver->ops->rebuild(solver, state, log);
  return create_again(solver, log);
}
