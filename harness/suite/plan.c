#include "harness/suite/plan.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/case/sandbox.h"
#include "harness/environment.h"
#include "harness/names.h"
#include "problems/base/strings.h"
#include "harness/suite/source_runs.h"
#include "harness/suite/trust.h"
#include "problems/notation/words.h"
#include "problems/notation/untrusted.h"
#include "problems/base/hash.h"
#include "problems/base/memory.h"

/* ---- names ----------------------------------------------------------------------------------- */

static eb_error unknown_scene(const char *name, bool or_suite) {
  eb_strings names = {0};
  eb_error error = eb_scene_names(&names);
  if (!error && or_suite) error = eb_suite_names(&names);
  if (!error) error = eb_unknown_name(or_suite ? "scene or suite" : "scene", name, &names);
  eb_strings_clear(&names);
  return error;
}

/* Whether "SCENE=FILE" is of the scene, by its name or as it was given. */
static bool is_mesh_of(const char *item, const eb_scene_ops *scene) {
  const char *const names[] = {scene->name, eb_scene_given(scene)};
  for (int i = 0; i < 2; i++) {
    size_t length = strlen(names[i]);
    if (strncmp(item, names[i], length) == 0 && item[length] == '=') return true;
  }
  return false;
}

static eb_error check_meshes(const eb_request *request) {
  for (int i = 0; i < request->meshes.count; i++) {
    const char *item = request->meshes.items[i], *equals = strchr(item, '=');
    const char *path = equals ? equals + 1 : "";
    int file;
    if (!equals || equals == item || !*path)
      return EB_ERROR(EB_ERR_USAGE, "--mesh wants SCENE=FILE, not '%s'", item);
    char *scene = strndup(item, (size_t)(equals - item));
    if (!scene) return EB_ERROR(EB_ERR_MEMORY, "cannot read --mesh");
    bool known = eb_scene_find(scene) || eb_scene_file_named(scene);
    eb_error error = known ? EB_OK : unknown_scene(scene, false);
    free(scene);
    EB_TRY(eb_error_prefix(error, "--mesh"));
    EB_TRY(eb_error_prefix(eb_file_open(path, &file), "--mesh"));
    close(file);
  }
  return EB_OK;
}

/* ---- expansion ------------------------------------------------------------------------------- */

/* What the loops over one scene share. */
typedef struct scene_loop {
  const eb_request *request;
  eb_plan *plan;
  const eb_scene_ops *scene;
  const char *parameters;
  const eb_strings *solvers;
  eb_settings settings;
  const char *label;                   /* of the section, or what stands for one */
  const eb_dependencies *dependencies; /* or NULL */
  const eb_section_cases *source_runs; /* of the section that `from` names; NULL: of none */
  int group;               /* that all cases go to; -1: each scene and thread count its own */
  eb_section_cases *cases; /* of the section; NULL outside of suites */
  bool foreign;            /* solvers are named by a file of anyone's */
} scene_loop;

/* Takes the case, or what it asks to be kept when it is there already; *at is its place. Cases are
 * one that are the same work, of which the same is kept; what is asked to be kept for others comes
 * together. */
static eb_error keep(eb_plan *plan, eb_case *work, int *at) {
  for (*at = 0; *at < plan->count; ++*at) {
    eb_case *there = &plan->cases[*at];
    if ((there->frames == EB_FRAMES_ALL) == (work->frames == EB_FRAMES_ALL) &&
        strcmp(there->task, work->task) == 0) {
      there->examine = there->examine || work->examine;
      if (work->embed > there->embed) there->embed = work->embed;
      return eb_ranges_add_all(&there->checkpoints, &work->checkpoints);
    }
  }
  EB_TRY(EB_APPEND(plan->cases, plan->count));
  plan->cases[plan->count - 1] = *work;
  *work = (eb_case){0};
  return EB_OK;
}

static eb_error fill_case(const scene_loop *loop, const char *solver_spec, eb_case *work,
                          const eb_plugin **plugin) {
  static const double default_timeout = 3600 /* s */, share = 0.9;
  char *name;
  const eb_settings *s = &loop->settings;
  work->scene = eb_scene_keep(loop->scene);
  work->steps = s->steps ? s->steps : loop->scene->steps;
  work->seed = s->seed;
  work->contact_problem = s->contact_problem;
  work->frames = s->frames;
  work->examine = s->examine == EB_SETTING_YES;
  work->embed = s->embed;
  work->timeout = s->timeout > 0 ? s->timeout : default_timeout;
  work->memory = s->memory > 0 ? s->memory * 1e6 : share * eb_machine_memory();
  if (loop->parameters) EB_TRY(eb_string_set(&work->parameters, loop->parameters));
  /* The first mesh that --mesh puts in the scene's place. */
  const eb_strings *meshes = &loop->request->meshes;
  for (int i = 0; i < meshes->count && !work->mesh_file; i++)
    if (is_mesh_of(meshes->items[i], loop->scene))
      EB_TRY(eb_string_set(&work->mesh_file, strchr(meshes->items[i], '=') + 1));
  EB_TRY(eb_split_spec(solver_spec, &name, &work->options));
  eb_error error = eb_solver_lookup(loop->request->plugins, name, &work->solver, plugin);
  free(name);
  EB_TRY(error);
  if (loop->foreign) EB_TRY(eb_trust_check(work, loop->dependencies));
  EB_TRY(eb_case_resolve(work, *plugin));
  return loop->dependencies ? eb_dependencies_apply(loop->plan, loop->dependencies,
                                                    loop->source_runs, *plugin, work)
                            : EB_OK;
}

/* What a case is called in its section; `first`: of its repetitions. */
static eb_error add_label(const scene_loop *loop, int at, bool first) {
  eb_plan *plan = loop->plan;
  EB_TRY(EB_APPEND(plan->labels, plan->label_count));
  eb_plan_label *label = &plan->labels[plan->label_count - 1];
  label->at = at;
  EB_TRY(eb_string_set(&label->label, loop->label));
  if (first) *loop->cases = (eb_section_cases){loop->cases->count + 1, at};
  return EB_OK;
}

/* Of a section, also what the case is called there. */
static eb_error add_case(const scene_loop *loop, const char *solver_spec, int threads,
                         int repetition, int group) {
  const eb_plugin *plugin;
  int at = 0;
  eb_case work = {.threads = threads, .repetition = repetition, .group = group};
  eb_error error = fill_case(loop, solver_spec, &work, &plugin);
  if (!error) error = keep(loop->plan, &work, &at);
  eb_case_clear(&work);
  return error || !loop->cases ? error : add_label(loop, at, repetition == 0);
}

static int next_group(const eb_plan *plan) {
  int next = 0;
  for (int i = 0; i < plan->count; i++)
    if (plan->cases[i].group >= next) next = plan->cases[i].group + 1;
  for (int i = 0; i < plan->sweep_count; i++)
    if (plan->sweeps[i].trial.group >= next) next = plan->sweeps[i].trial.group + 1;
  for (int i = 0; i < plan->grid_count; i++) {
    const eb_product *grid = &plan->grids[i];
    if (grid->group + grid->groups > next) next = grid->group + (int)grid->groups;
  }
  return next;
}

static eb_error add_competitors(const scene_loop *loop) {
  const eb_settings *s = &loop->settings;
  int64_t repeat = s->repeat ? s->repeat : 1;
  int counts = s->thread_count ? s->thread_count : 1;
  EB_TRY(
      eb_ask(&loop->plan->asked, (double)counts * (double)repeat * loop->solvers->count, "cases"));
  for (int t = 0; t < counts; t++) {
    int group = loop->group >= 0 ? loop->group : next_group(loop->plan);
    int threads = s->thread_count ? s->threads[t] : 1;
    for (int64_t r = 0; r < repeat; r++)
      for (int i = 0; i < loop->solvers->count; i++)
        EB_TRY(add_case(loop, loop->solvers->items[i], threads, (int)r, group));
  }
  return EB_OK;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static eb_error fill_sweep(const scene_loop *loop, eb_sweep *sweep) {
  const eb_plan *plan = loop->plan;
  const eb_dependencies *dependencies = loop->dependencies;
  const eb_settings *s = &loop->settings;
  sweep->trial.group = loop->group >= 0 ? loop->group : next_group(plan);
  sweep->trial.threads = s->thread_count ? s->threads[0] : 1;
  EB_TRY(fill_case(loop, loop->solvers->items[0], &sweep->trial, &sweep->plugin));
  /* A name that a group of a result file can have, and that no other sweep has. */
  EB_TRY(eb_string_set(&sweep->name, loop->label));
  for (char *at = sweep->name; *at; at++)
    if (*at == '/' || (*at == '.' && at == sweep->name)) *at = '-';
  for (int i = 0; i < plan->sweep_count; i++)
    if (strcmp(plan->sweeps[i].name, sweep->name) == 0)
      return EB_ERROR(EB_ERR_USAGE, "there are two sweeps named '%s'; give one another label",
                      sweep->name);
  sweep->source_run = sweep->trial.source_run;
  sweep->scan = dependencies->scan;
  EB_TRY(eb_axis_copy(&dependencies->search, &sweep->axis));
  if (sweep->scan && sweep->axis.count > EB_SWEEP_TRIALS)
    return EB_ERROR(EB_ERR_USAGE, "sweep: a scan tries at most %d values, not %lld",
                    EB_SWEEP_TRIALS, (long long)sweep->axis.count);
  /* Both ends are tried out, so that what the option does not take is said before anything runs. */
  for (int end = 0; end < 2; end++) {
    eb_case trial;
    EB_TRY(eb_error_prefix(eb_sweep_case(sweep, end ? sweep->axis.count - 1 : 0, &trial), "sweep"));
    eb_case_clear(&trial);
  }
  return EB_OK;
}

static eb_error add_sweep(const scene_loop *loop) {
  eb_plan *plan = loop->plan;
  const eb_settings *s = &loop->settings;
  if (loop->solvers->count != 1 || s->thread_count > 1 || s->repeat > 1)
    return EB_ERROR(EB_ERR_USAGE, "a sweep is of one scene and one solver, with one thread count "
                                  "and no repetitions; make a section for each");
  eb_sweep sweep = {0};
  eb_error error = fill_sweep(loop, &sweep);
  if (!error) error = EB_APPEND(plan->sweeps, plan->sweep_count);
  if (error)
    eb_sweep_clear(&sweep);
  else
    plan->sweeps[plan->sweep_count - 1] = sweep;
  return error;
}

/* ---- grids ----------------------------------------------------------------------------------- */

static eb_error fill_grid(const scene_loop *loop, eb_product *grid) {
  const eb_settings *s = &loop->settings;
  const eb_dependencies *dependencies = loop->dependencies;
  if ((dependencies->tied && !dependencies->file) || dependencies->group)
    return EB_ERROR(EB_ERR_USAGE,
                    "sweep: cases of a grid are spread over shards, and %s would keep all of them "
                    "in one; %s",
                    dependencies->group ? "'group'" : "a donor in the suite",
                    dependencies->group ? "leave it out"
                                        : "run the donor first, and name its file");
  EB_TRY(eb_string_set(&grid->label, loop->label));
  grid->group = next_group(loop->plan);
  grid->repeat = s->repeat ? (int)s->repeat : 1;
  grid->thread_counts = s->thread_count ? s->thread_count : 1;
  grid->threads[0] = 1;
  for (int t = 0; t < s->thread_count; t++) grid->threads[t] = s->threads[t];
  EB_TRY(EB_NEW(grid->solvers, loop->solvers->count));
  EB_TRY(EB_NEW(grid->plugins, loop->solvers->count));
  for (int i = 0; i < loop->solvers->count; i++) {
    grid->solver_count++;
    grid->solvers[i].threads = grid->threads[0];
    EB_TRY(fill_case(loop, loop->solvers->items[i], &grid->solvers[i], &grid->plugins[i]));
  }
  return eb_product_open(grid, dependencies->axes, dependencies->axis_count);
}

/* The cases of a small grid among the others. */
static eb_error add_points(const scene_loop *loop, const eb_product *grid) {
  if (grid->count > EB_GRID_CASES)
    return EB_ERROR(EB_ERR_USAGE, "sweep: this command takes at most %d cases of a grid, not %lld",
                    EB_GRID_CASES, (long long)grid->count);
  for (int64_t i = 0; i < grid->count; i++) {
    eb_case work;
    int at;
    EB_TRY(eb_product_case(grid, i, &work));
    eb_error error = keep(loop->plan, &work, &at);
    eb_case_clear(&work);
    if (!error && loop->cases)
      error = add_label(loop, at,
                        i % ((int64_t)grid->repeat * grid->solver_count) < grid->solver_count);
    EB_TRY(error);
  }
  return EB_OK;
}

static eb_error add_grid(const scene_loop *loop) {
  eb_plan *plan = loop->plan;
  eb_product grid = {0};
  eb_error error = fill_grid(loop, &grid);
  bool whole = loop->request->grids;
  if (!error) error = whole ? EB_APPEND(plan->grids, plan->grid_count) : add_points(loop, &grid);
  if (error || !whole) {
    eb_product_clear(&grid);
    return error;
  }
  plan->grids[plan->grid_count - 1] = grid;
  if (loop->cases) loop->cases->count = grid.count < INT_MAX ? (int)grid.count : INT_MAX;
  return EB_OK;
}

/* ---- scenes ---------------------------------------------------------------------------------- */

static eb_error add_scene(scene_loop *loop, const eb_scene_ops *scene) {
  loop->scene = scene;
  if (loop->solvers->count == 0)
    return EB_ERROR(EB_ERR_USAGE,
                    "no solver for '%s': name some with -s; 'elastobench list "
                    "solvers' shows them",
                    eb_scene_given(scene));
  return loop->dependencies && loop->dependencies->search.option    ? add_sweep(loop)
         : loop->dependencies && loop->dependencies->axis_count > 0 ? add_grid(loop)
                                                                    : add_competitors(loop);
}

/* One by its name, with the materials of the plug-ins. */
static eb_error add_named(scene_loop *loop, const char *name) {
  const eb_scene_ops *scene;
  EB_TRY(eb_open_scene(name, loop->request->plugins, &scene));
  eb_error error = add_scene(loop, scene);
  eb_scene_close(scene);
  return error;
}

static eb_error add_matching(scene_loop *loop, const char *pattern, bool or_suite) {
  bool any = false;
  if (eb_scene_find(pattern)) return add_named(loop, pattern);
  for (const eb_scene_ops *const *ops = eb_scenes(); *ops; ops++) {
    if (fnmatch(pattern, (*ops)->name, 0) != 0) continue;
    any = true;
    EB_TRY(add_named(loop, (*ops)->name));
  }
  return any ? EB_OK : unknown_scene(pattern, or_suite);
}

/* One scene, of the catalogue or a file, or a pattern of scenes, with parameters. */
static eb_error add_scene_spec(scene_loop *loop, const char *spec, bool or_suite) {
  char *name, *parameters;
  EB_TRY(eb_split_scene(spec, &name, &parameters));
  loop->parameters = parameters;
  eb_error error =
      eb_scene_file_named(name) ? add_named(loop, name) : add_matching(loop, name, or_suite);
  free(name);
  free(parameters);
  return error;
}

/* ---- suites ---------------------------------------------------------------------------------- */

/* What has become of a section of a suite. */
typedef struct progress {
  bool done;
  int group;      /* of its cases when it names one; -1 otherwise */
  int source_run; /* the section that its cases start from; -1: none of the suite's */
  eb_section_cases cases;
} progress;

/* The section that each names as its source run. */
static eb_error find_source_runs(const eb_suite *suite, progress *sections) {
  for (int i = 0; i < suite->count; i++) {
    const eb_suite_section *section = &suite->sections[i];
    sections[i] = (progress){.group = -1, .source_run = -1};
    if (!section->dependencies.tied || section->dependencies.file) continue;
    const char *source_run = section->dependencies.source_run;
    sections[i].source_run = eb_find(suite->sections, suite->count, sizeof *suite->sections,
                                     source_run, strlen(source_run));
    if (sections[i].source_run < 0)
      return eb_error_prefix(eb_unknown_entry("section", source_run, suite->sections, suite->count,
                                              sizeof *suite->sections),
                             "[%s]: from", section->label);
  }
  return EB_OK;
}

/* From a section that waits, as many source runs back as there are sections: that one is in a
 * circle. Never EB_OK. */
static eb_error name_circle(const eb_suite *suite, const progress *sections) {
  eb_text text = {0};
  int at = 0;
  while (sections[at].done) at++;
  for (int i = 0; i < suite->count; i++) at = sections[at].source_run;
  eb_error error = eb_text_printf(&text, "[%s]", suite->sections[at].label);
  for (int i = sections[at].source_run; i != at && !error; i = sections[i].source_run)
    error = eb_text_printf(&text, " from [%s]", suite->sections[i].label);
  if (!error)
    error = EB_ERROR(EB_ERR_USAGE, "cases start from each other in a circle: %s from [%s]",
                     text.data, suite->sections[at].label);
  eb_text_clear(&text);
  return error;
}

static eb_error add_section(const eb_request *request, const eb_suite *suite, progress *sections,
                            int at, eb_plan *plan) {
  const eb_suite_section *section = &suite->sections[at];
  const char *group = section->dependencies.group;
  progress *own = &sections[at];
  /* The group of an earlier section with the same `group`. */
  for (int i = 0; i < suite->count && group && own->group < 0; i++) {
    const char *other = suite->sections[i].dependencies.group;
    if (other && strcmp(other, group) == 0) own->group = sections[i].group;
  }
  if (group && own->group < 0) own->group = next_group(plan);
  scene_loop loop = {.request = request,
                     .plan = plan,
                     .solvers = request->solvers.count ? &request->solvers : &section->solvers,
                     .settings = eb_settings_over(section->settings, request->settings),
                     .label = section->label,
                     .dependencies = &section->dependencies,
                     .source_runs = own->source_run >= 0 ? &sections[own->source_run].cases : NULL,
                     .group = own->group,
                     .cases = &own->cases,
                     .foreign =
                         suite->foreign && !request->allow_external && request->solvers.count == 0};
  if (section->dependencies.file)
    EB_TRY(eb_error_prefix(eb_sandbox_verify("results", section->dependencies.file, NULL),
                           "[%s]: from", section->label));
  if (section->dependencies.search.option && section->scenes.count > 1)
    return EB_ERROR(EB_ERR_USAGE, "[%s]: a sweep is of one scene", section->label);
  for (int i = 0; i < section->scenes.count; i++)
    EB_TRY(eb_error_prefix(add_scene_spec(&loop, section->scenes.items[i], false), "[%s]",
                           section->label));
  own->done = true;
  return EB_OK;
}

/* Sections that others start from come first. */
static eb_error add_sections(const eb_request *request, const eb_suite *suite, progress *sections,
                             eb_plan *plan) {
  EB_TRY(find_source_runs(suite, sections));
  for (int done = 0; done < suite->count; done++) {
    int next = 0;
    while (next < suite->count &&
           (sections[next].done ||
            (sections[next].source_run >= 0 && !sections[sections[next].source_run].done)))
      next++;
    EB_TRY(next < suite->count ? add_section(request, suite, sections, next, plan)
                               : name_circle(suite, sections));
  }
  return EB_OK;
}

static eb_error add_all_sections(const eb_request *request, const eb_suite *suite, eb_plan *plan) {
  progress *sections;
  EB_TRY(EB_NEW(sections, suite->count));
  eb_error error = add_sections(request, suite, sections, plan);
  free(sections);
  return eb_error_prefix(error, "suite %s", suite->name);
}

/* A suite, or a scene or pattern. */
static eb_error add_name(const eb_request *request, const char *name, eb_plan *plan) {
  bool is_suite;
  eb_suite *suite;
  EB_TRY(eb_suite_is(name, &is_suite));
  if (!is_suite) {
    scene_loop loop = {.request = request,
                       .plan = plan,
                       .solvers = &request->solvers,
                       .settings = request->settings,
                       .label = name,
                       .dependencies = request->dependencies,
                       .group = -1};
    return add_scene_spec(&loop, name, true);
  }
  if (request->dependencies &&
      (request->dependencies->tied || request->dependencies->search.option ||
       request->dependencies->axis_count > 0))
    return EB_ERROR(EB_ERR_USAGE,
                    "--from and --sweep are of scenes; suite '%s' says itself what its cases start "
                    "from",
                    name);
  EB_TRY(eb_suite_load(name, &suite));
  eb_error error = add_all_sections(request, suite, plan);
  eb_suite_destroy(suite);
  return error;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* place[1 + i]: 1 + the new place of case i, plus `more`; 0: it is gone, and its labels with it. */
static void move_labels(eb_plan *plan, const int *place, int more) {
  int kept = 0;
  for (int i = 0; i < plan->label_count; i++) {
    eb_plan_label label = plan->labels[i];
    label.at = place[label.at + 1] - 1 - more;
    if (label.at >= 0)
      plan->labels[kept++] = label;
    else
      free(label.label);
  }
  plan->label_count = kept;
}

/* Whether case a is to come before b, as their numbers are now: groups as they begin, in them
 * repetitions, in these the cases. */
static bool precedes(const eb_plan *plan, const int *first, int a, int b) {
  const eb_case *left = &plan->cases[a], *right = &plan->cases[b];
  int begins = first[left->group], other = first[right->group];
  if (begins != other) return begins < other;
  if (left->repetition != right->repetition) return left->repetition < right->repetition;
  return a < b;
}

/* Puts cases in the order of their groups, in these of their repetitions, and none before the case
 * that it starts from; numbers them. first: the first case of every group; place: 1 + the new place
 * of every case, from 1 on. */
static void order_cases(eb_plan *plan, eb_case *ordered, int *first, int *place) {
  for (int i = plan->count - 1; i >= 0; i--) first[plan->cases[i].group] = i;
  place[0] = 1;
  for (int at = 0; at < plan->count; at++) {
    /* The next case whose source run has its place already; place[0] stands for having none. */
    int next = -1;
    for (int i = 0; i < plan->count; i++)
      if (!place[i + 1] && place[plan->cases[i].source_run] &&
          (next < 0 || precedes(plan, first, i, next)))
        next = i;
    place[next + 1] = at + 2;
    ordered[at] = plan->cases[next];
    ordered[at].order = at;
    ordered[at].source_run = place[plan->cases[next].source_run] - 1;
  }
  if (plan->count > 0) memcpy(plan->cases, ordered, (size_t)plan->count * sizeof *ordered);
  move_labels(plan, place, 1);
  for (int i = 0; i < plan->sweep_count; i++) {
    eb_case *trial = &plan->sweeps[i].trial;
    trial->order = plan->count + i;
    trial->source_run = plan->sweeps[i].source_run = place[trial->source_run] - 1;
  }
}

static eb_error order_plan(eb_plan *plan) {
  eb_case *ordered = NULL;
  int *first = NULL, *place = NULL, groups = 0;
  for (int i = 0; i < plan->count; i++)
    if (plan->cases[i].group >= groups) groups = plan->cases[i].group + 1;
  eb_error error = EB_NEW(ordered, plan->count);
  if (!error) error = EB_NEW(first, groups);
  if (!error) error = EB_NEW(place, (size_t)plan->count + 1);
  if (!error) order_cases(plan, ordered, first, place);
  free(place);
  free(first);
  free(ordered);
  return error;
}

/* ---- parts ----------------------------------------------------------------------------------- */

int64_t eb_plan_size(const eb_plan *plan) {
  int64_t size = (int64_t)plan->count + plan->sweep_count;
  for (int i = 0; i < plan->grid_count; i++) size += eb_product_count(&plan->grids[i]);
  return size;
}

/* What is planned, as long as nothing is taken away. */
static eb_error hash_plan(eb_plan *plan) {
  plan->hash = EB_HASH_SEED;
  plan->wanted = eb_plan_size(plan);
  plan->shard = plan->shards = 1;
  for (int i = 0; i < plan->count; i++) {
    const char *identity = plan->cases[i].identity;
    plan->hash = eb_hash(plan->hash, identity, strlen(identity) + 1);
  }
  for (int i = 0; i < plan->sweep_count; i++) {
    char *identity;
    EB_TRY(eb_sweep_identity(&plan->sweeps[i], &identity));
    plan->hash = eb_hash(plan->hash, identity, strlen(identity) + 1);
    free(identity);
  }
  eb_text grids = {0};
  eb_error error = EB_OK;
  for (int i = 0; i < plan->grid_count && !error; i++)
    error = eb_product_identity(&plan->grids[i], &grids);
  if (!error && plan->grid_count > 0) plan->hash = eb_hash(plan->hash, grids.data, grids.length);
  eb_text_clear(&grids);
  return error;
}

eb_error eb_plan_keep(eb_plan *plan, bool *cases, const bool *sweeps) {
  int *place, kept = 0;
  EB_TRY(
      EB_NEW(place, (size_t)plan->count + 1)); /* 1 + the new one; 0: gone, and of no source run */
  /* Donors come before those that start from them. */
  for (int i = 0; i < plan->sweep_count; i++)
    if (sweeps[i] && plan->sweeps[i].source_run > 0) cases[plan->sweeps[i].source_run - 1] = true;
  for (int i = plan->count - 1; i >= 0; i--)
    if (cases[i] && plan->cases[i].source_run > 0) cases[plan->cases[i].source_run - 1] = true;
  for (int i = 0; i < plan->count; i++)
    if (cases[i]) place[i + 1] = ++kept;
  for (int i = 0; i < plan->count; i++) {
    eb_case *work = &plan->cases[i];
    work->source_run = place[work->source_run];
    if (!place[i + 1])
      eb_case_clear(work);
    else
      plan->cases[place[i + 1] - 1] = *work;
  }
  plan->count = kept;
  kept = 0;
  for (int i = 0; i < plan->sweep_count; i++) {
    eb_sweep *sweep = &plan->sweeps[i];
    sweep->source_run = sweep->trial.source_run = place[sweep->source_run];
    if (sweeps[i])
      plan->sweeps[kept++] = *sweep;
    else
      eb_sweep_clear(sweep);
  }
  plan->sweep_count = kept;
  move_labels(plan, place, 0);
  free(place);
  return hash_plan(plan);
}

/* The group of the case that a chain of source runs begins with: all of them are in its shard. */
static int root_group(const eb_plan *plan, const eb_case *work) {
  while (work->source_run > 0) work = &plan->cases[work->source_run - 1];
  return work->group;
}

eb_error eb_plan_take_shard(eb_plan *plan, int shard, int shards) {
  bool *cases, *sweeps = NULL;
  EB_TRY(EB_NEW(cases, plan->count));
  eb_error error = EB_NEW(sweeps, plan->sweep_count);
  for (int i = 0; i < plan->count && !error; i++)
    cases[i] = root_group(plan, &plan->cases[i]) % shards == shard - 1;
  for (int i = 0; i < plan->sweep_count && !error; i++)
    sweeps[i] = root_group(plan, &plan->sweeps[i].trial) % shards == shard - 1;
  const eb_plan whole = *plan;
  if (!error) error = eb_plan_keep(plan, cases, sweeps);
  for (int i = 0; i < plan->grid_count; i++) {
    plan->grids[i].shard = shard;
    plan->grids[i].shards = shards;
  }
  plan->hash = whole.hash;
  plan->wanted = whole.wanted;
  plan->shard = shard;
  plan->shards = shards;
  free(sweeps);
  free(cases);
  return error;
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* A mesh that no case uses is a slip: the stand-in would be measured in its place. */
static eb_error check_meshes_used(const eb_request *request, const eb_plan *plan) {
  for (int m = 0; m < request->meshes.count; m++) {
    const char *item = request->meshes.items[m];
    bool used = false;
    for (int i = 0; i < plan->count; i++) used |= is_mesh_of(item, plan->cases[i].scene);
    for (int i = 0; i < plan->sweep_count; i++)
      used |= is_mesh_of(item, plan->sweeps[i].trial.scene);
    for (int i = 0; i < plan->grid_count; i++)
      used |= is_mesh_of(item, plan->grids[i].solvers[0].scene);
    if (!used)
      return EB_ERROR(EB_ERR_USAGE, "--mesh: '%.*s' is none of the scenes to run",
                      (int)strcspn(item, "="), item);
  }
  return EB_OK;
}

/* Scenes of files, each once. */
typedef struct scene_files {
  const eb_scene_ops **items;
  int count;
} scene_files;

/* Results name a scene by its file's name without folder: those of two would be taken for one. */
static eb_error add_file(scene_files *files, const eb_scene_ops *scene) {
  if (!eb_scene_path(scene)) return EB_OK;
  for (int i = 0; i < files->count; i++) {
    const eb_scene_ops *other = files->items[i];
    if (eb_same_scene(other, scene)) return EB_OK;
    if (strcmp(other->name, scene->name) == 0)
      return EB_ERROR(EB_ERR_USAGE,
                      "'%s' and '%s' are two scenes named '%s'; give one file another name",
                      other->source->path, scene->source->path, scene->name);
  }
  EB_TRY(EB_APPEND(files->items, files->count));
  files->items[files->count - 1] = scene;
  return EB_OK;
}

static eb_error check_files(const eb_plan *plan) {
  scene_files files = {0};
  eb_error error = EB_OK;
  for (int i = 0; i < plan->count && !error; i++) error = add_file(&files, plan->cases[i].scene);
  for (int i = 0; i < plan->sweep_count && !error; i++)
    error = add_file(&files, plan->sweeps[i].trial.scene);
  for (int i = 0; i < plan->grid_count && !error; i++)
    error = add_file(&files, plan->grids[i].solvers[0].scene);
  free(files.items);
  return error;
}

/* Now that everybody has said what is to be kept, cases have their names. */
static eb_error name_cases(eb_plan *plan) {
  for (int i = 0; i < plan->count; i++) {
    EB_TRY(eb_case_identify(&plan->cases[i]));
    if (plan->cases[i].source_run > 0)
      EB_TRY(
          eb_string_set(&plan->cases[i].from.run, plan->cases[plan->cases[i].source_run - 1].id));
  }
  for (int i = 0; i < plan->sweep_count; i++)
    if (plan->sweeps[i].source_run > 0)
      EB_TRY(eb_string_set(&plan->sweeps[i].trial.from.run,
                           plan->cases[plan->sweeps[i].source_run - 1].id));
  return EB_OK;
}

static void number_grids(eb_plan *plan) {
  int64_t next = (int64_t)plan->count + plan->sweep_count;
  for (int i = 0; i < plan->grid_count; i++) {
    plan->grids[i].order = next;
    next += plan->grids[i].count;
  }
}

eb_error eb_plan_create(const eb_request *request, eb_plan *out) {
  *out = (eb_plan){0};
  eb_error error = check_meshes(request);
  if (!error && request->suite) error = add_all_sections(request, request->suite, out);
  for (int i = 0; i < request->names.count && !error; i++)
    error = add_name(request, request->names.items[i], out);
  if (!error) error = check_meshes_used(request, out);
  if (!error) error = check_files(out);
  if (!error) error = order_plan(out);
  if (!error) error = name_cases(out);
  if (!error) number_grids(out);
  if (!error) error = hash_plan(out);
  if (!error && request->shards > 0)
    error = eb_plan_take_shard(out, request->shard, request->shards);
  if (error) eb_plan_clear(out);
  return error;
}

void eb_plan_clear(eb_plan *plan) {
  for (int i = 0; i < plan->count; i++) eb_case_clear(&plan->cases[i]);
  for (int i = 0; i < plan->sweep_count; i++) eb_sweep_clear(&plan->sweeps[i]);
  for (int i = 0; i < plan->grid_count; i++) eb_product_clear(&plan->grids[i]);
  free(plan->grids);
  free(plan->cases);
  for (int i = 0; i < plan->label_count; i++) free(plan->labels[i].label);
  free(plan->labels);
  free(plan->sweeps);
  *plan = (eb_plan){0};
}
