#include "harness/suite/plan.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/environment.h"
#include "harness/names.h"
#include "problems/base/memory.h"

/* ---- names ------------------------------------------------------------------------------------ */

static eb_error unknown_scene(const char *name, bool or_suite) {
  eb_strings names = {0};
  eb_error error = eb_scene_names(&names);
  if (!error && or_suite) error = eb_suite_names(&names);
  if (!error) error = eb_unknown_name(or_suite ? "scene or suite" : "scene", name, &names);
  eb_strings_clear(&names);
  return error;
}

/* The mesh that --mesh puts in a scene's place, or NULL. */
static const char *mesh_for(const eb_request *request, const char *scene) {
  size_t length = strlen(scene);
  for (int i = 0; i < request->meshes.count; i++) {
    const char *item = request->meshes.items[i];
    if (strncmp(item, scene, length) == 0 && item[length] == '=') return item + length + 1;
  }
  return NULL;
}

static eb_error check_mesh_file(const char *path) {
  struct stat info;
  if (access(path, R_OK) || stat(path, &info))
    return EB_ERROR(EB_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
  if (!S_ISREG(info.st_mode)) return EB_ERROR(EB_ERR_IO, "'%s' is not a regular file", path);
  return EB_OK;
}

static eb_error check_meshes(const eb_request *request) {
  for (int i = 0; i < request->meshes.count; i++) {
    const char *item = request->meshes.items[i], *equals = strchr(item, '=');
    if (!equals || equals == item || !equals[1])
      return EB_ERROR(EB_ERR_USAGE, "--mesh wants SCENE=FILE, not '%s'", item);
    char *scene = strndup(item, (size_t)(equals - item));
    if (!scene) return EB_ERROR(EB_ERR_MEMORY, "cannot read --mesh");
    eb_error error = eb_scene_find(scene) ? EB_OK : unknown_scene(scene, false);
    free(scene);
    EB_TRY(eb_error_prefix(error, "--mesh"));
    EB_TRY(eb_error_prefix(check_mesh_file(equals + 1), "--mesh"));
  }
  return EB_OK;
}

/* ---- expansion -------------------------------------------------------------------------------- */

/* What the loops over one scene share. */
typedef struct scene_loop {
  const eb_request *request;
  eb_plan *plan;
  const eb_scene_ops *scene;
  const char *parameters;
  const eb_strings *solvers;
  eb_settings settings;
} scene_loop;

static bool is_in_plan(const eb_plan *plan, const char *identity) {
  for (int i = 0; i < plan->count; i++)
    if (strcmp(plan->cases[i].identity, identity) == 0) return true;
  return false;
}

/* Takes the case, or clears it when it is there already. */
static eb_error keep(eb_plan *plan, eb_case *work) {
  if (is_in_plan(plan, work->identity)) {
    eb_case_clear(work);
    return EB_OK;
  }
  if (plan->count == plan->capacity) {
    int capacity = plan->capacity ? 2 * plan->capacity : 16;
    eb_case *grown = eb_recalloc(plan->cases, (size_t)plan->count, (size_t)capacity, sizeof *grown);
    if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot plan %d cases", capacity);
    plan->cases = grown;
    plan->capacity = capacity;
  }
  work->order = plan->count;
  plan->cases[plan->count++] = *work;
  *work = (eb_case){0};
  return EB_OK;
}

static double default_memory(void) {
  static const double share = 0.9;
  return share * eb_machine_memory();
}

static eb_error fill_case(const scene_loop *loop, const char *solver_spec, eb_case *work) {
  static const double default_timeout = 3600; /* s */
  const eb_plugin *plugin;
  char *name;
  const eb_settings *s = &loop->settings;
  work->scene = loop->scene;
  work->steps = s->steps ? s->steps : loop->scene->steps;
  work->seed = s->seed;
  work->contact_problem = s->contact_problem;
  work->frames = s->frames;
  work->timeout = s->timeout > 0 ? s->timeout : default_timeout;
  work->memory = s->memory > 0 ? s->memory * 1e6 : default_memory();
  if (loop->parameters) EB_TRY(eb_run_set(&work->parameters, loop->parameters));
  const char *mesh = mesh_for(loop->request, loop->scene->name);
  if (mesh) EB_TRY(eb_run_set(&work->mesh_file, mesh));
  EB_TRY(eb_split_spec(solver_spec, &name, &work->options));
  eb_error error = eb_solver_lookup(loop->request->plugins, name, &work->solver, &plugin);
  free(name);
  EB_TRY(error);
  return eb_case_resolve(work, plugin);
}

static eb_error add_case(const scene_loop *loop, const char *solver_spec, int threads,
                         int repetition, int group) {
  eb_case work = {.threads = threads, .repetition = repetition, .group = group};
  eb_error error = fill_case(loop, solver_spec, &work);
  if (!error) error = keep(loop->plan, &work);
  eb_case_clear(&work);
  return error;
}

static int next_group(const eb_plan *plan) {
  return plan->count ? plan->cases[plan->count - 1].group + 1 : 0;
}

static eb_error add_scene(const scene_loop *loop) {
  const eb_settings *s = &loop->settings;
  int64_t repeat = s->repeat ? s->repeat : 1;
  if (loop->solvers->count == 0)
    return EB_ERROR(EB_ERR_USAGE,
                    "no solver for '%s': name some with -s; 'elastobench list "
                    "solvers' shows them",
                    loop->scene->name);
  for (int t = 0; t < (s->thread_count ? s->thread_count : 1); t++) {
    int group = next_group(loop->plan), threads = s->thread_count ? s->threads[t] : 1;
    for (int64_t r = 0; r < repeat; r++)
      for (int i = 0; i < loop->solvers->count; i++)
        EB_TRY(add_case(loop, loop->solvers->items[i], threads, (int)r, group));
  }
  return EB_OK;
}

static eb_error add_matching(scene_loop *loop, const char *pattern, bool or_suite) {
  bool any = false;
  for (const eb_scene_ops *const *ops = eb_scenes(); *ops; ops++) {
    if (fnmatch(pattern, (*ops)->name, 0) != 0) continue;
    any = true;
    loop->scene = *ops;
    EB_TRY(add_scene(loop));
  }
  return any ? EB_OK : unknown_scene(pattern, or_suite);
}

/* One scene or a pattern of scenes, with parameters. */
static eb_error add_scene_spec(scene_loop *loop, const char *spec, bool or_suite) {
  char *name, *parameters;
  EB_TRY(eb_split_spec(spec, &name, &parameters));
  loop->parameters = parameters;
  eb_error error = add_matching(loop, name, or_suite);
  free(name);
  free(parameters);
  return error;
}

static eb_error add_section(const eb_request *request, const eb_suite_section *section,
                            eb_plan *plan) {
  scene_loop loop = {.request = request,
                     .plan = plan,
                     .solvers = request->solvers.count ? &request->solvers : &section->solvers,
                     .settings = eb_settings_over(section->settings, request->settings)};
  for (int i = 0; i < section->scenes.count; i++)
    EB_TRY(eb_error_prefix(add_scene_spec(&loop, section->scenes.items[i], false), "[%s]",
                           section->label));
  return EB_OK;
}

static eb_error add_suite(const eb_request *request, const char *name, eb_plan *plan) {
  eb_suite *suite;
  EB_TRY(eb_suite_load(name, &suite));
  eb_error error = EB_OK;
  for (int i = 0; i < suite->count && !error; i++)
    error = eb_error_prefix(add_section(request, &suite->sections[i], plan), "suite %s", name);
  eb_suite_destroy(suite);
  return error;
}

static eb_error add_name(const eb_request *request, const char *name, eb_plan *plan) {
  bool suite;
  EB_TRY(eb_suite_is(name, &suite));
  if (suite) return add_suite(request, name, plan);
  scene_loop loop = {.request = request,
                     .plan = plan,
                     .solvers = &request->solvers,
                     .settings = request->settings};
  return add_scene_spec(&loop, name, true);
}

/* A mesh that no case uses is a slip: the stand-in would be measured in its place. */
static eb_error check_meshes_used(const eb_request *request, const eb_plan *plan) {
  for (int m = 0; m < request->meshes.count; m++) {
    const char *item = request->meshes.items[m];
    size_t length = strcspn(item, "=");
    bool used = false;
    for (int i = 0; i < plan->count && !used; i++) {
      const char *scene = plan->cases[i].scene->name;
      used = strlen(scene) == length && strncmp(scene, item, length) == 0;
    }
    if (!used)
      return EB_ERROR(EB_ERR_USAGE, "--mesh: '%.*s' is none of the scenes to run", (int)length,
                      item);
  }
  return EB_OK;
}

/* Order and group keep their numbers from the whole plan. */
static void take_shard(eb_plan *plan, int shard, int shards) {
  int kept = 0;
  for (int i = 0; i < plan->count; i++) {
    if (plan->cases[i].group % shards == shard - 1)
      plan->cases[kept++] = plan->cases[i];
    else
      eb_case_clear(&plan->cases[i]);
  }
  plan->count = kept;
}

eb_error eb_plan_create(const eb_request *request, eb_plan *out) {
  *out = (eb_plan){0};
  eb_error error = check_meshes(request);
  for (int i = 0; i < request->names.count && !error; i++)
    error = add_name(request, request->names.items[i], out);
  if (!error) error = check_meshes_used(request, out);
  if (error) {
    eb_plan_clear(out);
    return error;
  }
  if (request->shards > 0) take_shard(out, request->shard, request->shards);
  return EB_OK;
}

void eb_plan_clear(eb_plan *plan) {
  for (int i = 0; i < plan->count; i++) eb_case_clear(&plan->cases[i]);
  free(plan->cases);
  *plan = (eb_plan){0};
}
