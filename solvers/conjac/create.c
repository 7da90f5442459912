/* Life of the solver `conjac`, and how it follows the script and cuts. */
#include "solvers/conjac/conjac.h"

#include "problems/base/memory.h"

#include <math.h>
#include <string.h>

/* ---- the dynamic nodes ---- */

static eb_selection selection_named(const char *name) {
  static const char *const names[] = {"scene", "random", "farthest", "list", "all"};
  for (int k = 0; k < EB_SELECT_ALL; k++)
    if (!strcmp(name, names[k])) return (eb_selection)k;
  return EB_SELECT_ALL;
}

static eb_error check_choice(const eb_values *values, eb_selection selection) {
  bool listed = eb_values_given(values, "nodes");
  if (listed && selection != EB_SELECT_LIST && eb_values_given(values, "selection"))
    return EB_ERROR(EB_ERR_USAGE, "conjac: nodes are listed, but selection=%s; use selection=list",
                    eb_values_text(values, "selection"));
  if (selection == EB_SELECT_LIST && !listed)
    return EB_ERROR(EB_ERR_USAGE, "conjac: selection=list lacks the list; add nodes=12+40+99, or "
                                  "take dynamic=0 for none");
  bool counted = selection == EB_SELECT_LIST || selection == EB_SELECT_ALL;
  if (counted && eb_values_given(values, "dynamic"))
    return EB_ERROR(EB_ERR_USAGE, "conjac: selection=%s has its own number; leave out dynamic=%lld",
                    selection == EB_SELECT_ALL ? "all" : "list",
                    (long long)eb_values_int(values, "dynamic"));
  return EB_OK;
}

/* With no number asked for, as many as fit up to the default. */
static eb_error choose(const eb_solver *solver, eb_node_list *out) {
  const eb_values *values = solver->options;
  eb_node_choice choice = {.selection = selection_named(eb_values_text(values, "selection")),
                           .count = (int32_t)eb_values_int(values, "dynamic"),
                           .list = eb_values_text(values, "nodes"),
                           .spacing = eb_values_real(values, "spacing"),
                           .seed = solver->seed};
  if (eb_values_given(values, "nodes") && !eb_values_given(values, "selection"))
    choice.selection = EB_SELECT_LIST;
  EB_TRY(check_choice(values, choice.selection));
  eb_error error = eb_conjac_choose(solver->scene, &choice, out);
  bool fewer = choice.selection != EB_SELECT_LIST && choice.selection != EB_SELECT_ALL &&
               !eb_values_given(values, "dynamic");
  while (fewer && error && eb_error_kind(error) == EB_ERR_USAGE && choice.count > 0) {
    eb_error_free(error);
    choice.count--;
    error = eb_conjac_choose(solver->scene, &choice, out);
  }
  return error;
}

/* ---- life ---- */

static void log_memory(const eb_conjac *c, eb_step_log *log) {
  const eb_block_matrix *A = c->work.matrix;
  double blocks = A->start[A->rows], values = 9 * sizeof *A->values * blocks;
  double pattern = sizeof *A->column * blocks + 2 * sizeof *A->start * (double)A->rows;
  double columns = 2 * ((double)c->stride + 1);
  eb_log_memory(log, EB_MEMORY_MATRIX, pattern + 2 * values);
  eb_log_memory(log, EB_MEMORY_ELEMENTS, columns * (double)c->work.size * sizeof *c->jacobian);
}

/* The scripted and carried nodes, in the workspace of the partition. */
static const uint8_t *boundary_of(eb_conjac *c) {
  for (int32_t i = 0; i < c->work.nodes; i++)
    c->part.next[i] = c->work.fixed[i] || c->part.rides[i];
  return c->part.next;
}

eb_error eb_conjac_classify(eb_conjac *c, const eb_state *state, eb_step_log *log) {
  const uint8_t *boundary = boundary_of(c);
  bool freed = false;
  for (int32_t i = 0; i < c->work.nodes; i++) freed |= c->held[i] && !boundary[i];
  if (freed) return eb_conjac_make_definite(c, boundary, state->x, state->q, log);
  eb_conjac_partition(c, state->q);
  return EB_OK;
}

static void release_mesh(eb_conjac *c) {
  eb_conjac_release_columns(c);
  eb_multifrontal_destroy(c->factor);
  eb_block_matrix_destroy(c->rows);
  eb_implicit_clear(&c->work);
  free(c->root_mass);
  free(c->trial);
  free(c->relieved);
  eb_relief_destroy(c->relief);
  free(c->friction);
  free(c->correction);
  free(c->held);
  c->factor = NULL;
  c->rows = NULL;
  c->root_mass = c->trial = c->relieved = c->correction = NULL;
  c->relief = NULL;
  c->friction = NULL;
  c->held = NULL;
}

static eb_error create_factor(eb_conjac *c, const eb_solver *solver, eb_step_log *log) {
  eb_multifrontal_settings settings = {.threads = solver->threads};
  return eb_multifrontal_create(&settings, c->work.matrix, log, &c->factor);
}

static void measure(eb_conjac *c) {
  const eb_scene *scene = c->work.scene;
  const double *mass = eb_elasticity_mass(scene->elasticity);
  double lo[3], hi[3], square = 0;
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  for (int d = 0; d < 3; d++) square += (hi[d] - lo[d]) * (hi[d] - lo[d]);
  c->diagonal = sqrt(square);
  for (int32_t i = 0; i < c->work.nodes; i++) c->root_mass[i] = sqrt(mass[i]);
  c->potential =
      (eb_potential){.elasticity = scene->elasticity,
                     .nodes = c->work.nodes,
                     .elastic_scale = eb_potential_elastic_scale(scene->mesh, scene->materials),
                     .force = c->relieved};
}

/* Everything that follows from the mesh, for the step that begins at `time` with positions x. */
static eb_error build(eb_conjac *c, const eb_solver *solver, double time, const double *x,
                      const double *angles, eb_step_log *log) {
  const eb_scene *scene = solver->scene;
  EB_TRY(eb_implicit_create(solver, &c->work));
  EB_TRY(eb_block_matrix_like(c->work.matrix, &c->rows));
  EB_TRY(EB_NEW(c->root_mass, c->work.nodes));
  EB_TRY(EB_NEW(c->trial, c->work.size));
  EB_TRY(EB_NEW(c->relieved, c->work.size));
  if (c->settings.relief) EB_TRY(eb_relief_create(scene->mesh, &c->relief));
  EB_TRY(EB_NEW(c->friction, c->work.touch_room));
  EB_TRY(EB_NEW(c->correction, 2 * c->work.size));
  c->constant = c->correction + c->work.size;
  EB_TRY(EB_NEW(c->held, c->work.nodes));
  EB_TRY(eb_conjac_allocate_columns(c));
  EB_TRY(create_factor(c, solver, log));
  measure(c);
  eb_scene_boundary(scene, time + scene->dt, c->work.fixed, c->work.target);
  EB_TRY(eb_conjac_make_definite(c, boundary_of(c), x, angles, log));
  log_memory(c, log);
  return EB_OK;
}

static void release(eb_conjac *c) {
  release_mesh(c);
  eb_node_list_clear(&c->chosen);
  free(c);
}

static void configure(eb_conjac *c, const eb_values *values) {
  const char *gamma = eb_values_text(values, "gamma");
  c->settings = (eb_conjac_settings){.beta = eb_values_real(values, "beta"),
                                     .search = !strcmp(gamma, "linesearch"),
                                     .gamma = strtod(gamma, NULL),
                                     .newton_steps = eb_values_int(values, "newton_steps"),
                                     .keep_factor = eb_values_int(values, "keep_factor"),
                                     .friction_passes = eb_values_int(values, "friction_passes"),
                                     .relief = eb_values_bool(values, "inertia_relief")};
  c->settle = !strcmp(eb_values_text(values, "initial"), "static");
}

static eb_error check_gamma(const char *text) {
  char *end;
  double gamma = strtod(text, &end);
  bool number = end != text && !*end && gamma >= 0 && gamma <= 2;
  if (number || !strcmp(text, "linesearch")) return EB_OK;
  return EB_ERROR(EB_ERR_USAGE,
                  "conjac: gamma is '%s'; give a number from 0 to 2 or gamma=linesearch", text);
}

eb_error eb_conjac_create(eb_solver *solver, const eb_scene *scene) {
  eb_conjac *c;
  EB_TRY(check_gamma(eb_values_text(solver->options, "gamma")));
  EB_TRY(EB_NEW(c, 1));
  configure(c, solver->options);
  eb_error error = choose(solver, &c->chosen);
  if (!error) error = build(c, solver, 0, scene->x0, NULL, solver->setup_log);
  if (error)
    release(c);
  else
    solver->data = c;
  return error;
}

void eb_conjac_destroy(eb_solver *solver) {
  release(solver->data);
}

/* ---- cuts ---- */

static bool copies_dynamic(const eb_conjac *c, int32_t node) {
  const int32_t *origin = c->work.scene->node_origin;
  for (int32_t k = 0; k < c->chosen.count; k++)
    if (origin[c->chosen.nodes[k]] == origin[node]) return true;
  return false;
}

/* Of a dynamic node that a cut has parted all copies are dynamic: each keeps its share of the inertia, and which of them the choice
 * meant there is no telling. */
static eb_error follow_copies(eb_conjac *c, int32_t old_nodes) {
  int32_t nodes = c->work.scene->mesh->node_count, count = c->chosen.count, *grown;
  EB_TRY(EB_NEW(grown, count + nodes - old_nodes));
  memcpy(grown, c->chosen.nodes, (size_t)count * sizeof *grown);
  for (int32_t i = old_nodes; i < nodes; i++)
    if (copies_dynamic(c, i)) grown[count++] = i;
  free(c->chosen.nodes);
  c->chosen = (eb_node_list){.count = count, .nodes = grown};
  return EB_OK;
}

eb_error eb_conjac_rebuild(eb_solver *solver, const eb_state *state, eb_step_log *log) {
  eb_conjac *c = solver->data;
  int32_t old_nodes = c->work.nodes;
  c->work.scene = solver->scene;
  EB_TRY(follow_copies(c, old_nodes));
  release_mesh(c);
  return build(c, solver, state->time, state->x, state->q, log);
}
