/* Weights and cubature, made or read.
 *
 * Two files: the weights, found by mesh, materials, pins and the options that they depend on; the
 * points, found by these and their own options. So runs with other numbers of points share the
 * weights. The basis is made anew from the weights, which costs less than reading it. A kept file
 * is what a miss would make, bit by bit: neither depends on the number of threads. */
#include "solvers/subspace/precompute.h"

#include "problems/base/kept.h"
#include "problems/base/memory.h"
#include "problems/elasticity/plugged.h"
#include "problems/scene_impl.h"
#include "problems/scenes/mesh_cache.h"
#include "solvers/subspace/biharmonic.h"
#include "solvers/subspace/derivatives.h"

#include <string.h>

enum { LLOYD = 50 };

typedef struct choice {
  int32_t modes, points, axes; /* axes: 3 of linear modes, 1 of weights */
  bool biharmonic, uniform, derivatives, unweighted, medians, all;
  uint64_t seed;
} choice;

static choice choose(const eb_solver *solver, const uint8_t *pinned) {
  const eb_values *values = solver->options;
  const char *basis = eb_values_text(values, "basis");
  int32_t axes = strcmp(basis, "skinning") ? 3 : 1;
  int64_t free_nodes = 0;
  for (int32_t i = 0; i < solver->scene->mesh->node_count; i++) free_nodes += !pinned[i];
  int64_t modes = eb_values_int(values, "modes"), points = eb_values_int(values, "points");
  return (choice){.modes = (int32_t)(modes > axes * free_nodes ? axes * free_nodes : modes),
                  .axes = axes,
                  .derivatives = !strcmp(basis, "derivatives"),
                  .points = (int32_t)(points > 0 ? points : 20 * modes),
                  .biharmonic =
                      axes == 1 && !strcmp(eb_values_text(values, "weights"), "biharmonic"),
                  .uniform = axes == 1 && !strcmp(eb_values_text(values, "stiffness"), "uniform"),
                  .unweighted = !strcmp(eb_values_text(values, "features"), "unweighted"),
                  .medians = !strcmp(eb_values_text(values, "representative"), "median"),
                  .all = eb_values_bool(values, "full_integration"),
                  .seed = solver->seed};
}

/* ---- keys ---- */

/* Field by field: between the fields of a struct there may be anything. */
static eb_digest add_material(eb_digest key, const eb_material *m) {
  const double reals[] = {m->young,           m->poisson,        m->density,
                          m->fibre_stiffness, m->fibre_exponent, m->activation};
  const int32_t kinds[] = {(int32_t)m->kind, (int32_t)m->fibre};
  key = eb_digest_add(eb_digest_add(key, reals, sizeof reals), kinds, sizeof kinds);
  if (m->kind != EB_PLUGGED) return key;
  key = eb_digest_add(key, &m->plugged->digest, sizeof m->plugged->digest);
  return eb_digest_add(key, m->own, sizeof m->own);
}

static eb_digest weights_key(const eb_scene *scene, const uint8_t *pinned, const choice *c) {
  const eb_mesh *mesh = scene->mesh;
  size_t nodes = (size_t)mesh->node_count, elements = (size_t)mesh->element_count;
  const int32_t words[] = {EB_PRECOMPUTE_VERSION, c->modes,   c->axes,
                           c->biharmonic,         c->uniform, (int32_t)mesh->type};
  eb_digest key = eb_digest_add((eb_digest){0}, words, sizeof words);
  key = eb_digest_add(key, mesh->X, 3 * nodes * sizeof *mesh->X);
  key = eb_digest_add(key, mesh->elements, elements * (size_t)mesh->type * sizeof(int32_t));
  key = eb_digest_add(key, mesh->region, elements * sizeof *mesh->region);
  key = eb_digest_add(key, eb_elasticity_mass(scene->elasticity), nodes * sizeof(double));
  key = eb_digest_add(key, pinned, nodes);
  for (int32_t r = 0; r < mesh->region_count; r++) key = add_material(key, &scene->materials[r]);
  return key;
}

static eb_digest points_key(eb_digest weights, const choice *c) {
  const int32_t words[] = {c->points, c->unweighted, c->medians, LLOYD};
  weights = eb_digest_add(weights, words, sizeof words);
  return eb_digest_add(weights, &c->seed, sizeof c->seed);
}

/* ---- weights ---- */

static eb_error make_weights(const eb_solver *solver, const uint8_t *pinned, const choice *c,
                             eb_skinning *out) {
  const eb_scene *scene = solver->scene;
  if (c->axes == 3)
    return eb_skinning_linear(scene->elasticity, scene->mesh->X, pinned, c->modes, solver->threads,
                              solver->setup_log, out);
  if (c->biharmonic)
    return eb_skinning_biharmonic(scene->mesh, pinned, c->modes, solver->threads, solver->setup_log,
                                  out);
  if (c->uniform)
    return eb_skinning_uniform(scene->mesh, eb_elasticity_mass(scene->elasticity), pinned, c->modes,
                               solver->threads, solver->setup_log, out);
  return eb_skinning_eigenmodes(scene->elasticity, scene->mesh->X, pinned, c->modes,
                                solver->threads, solver->setup_log, out);
}

/* Weights, then eigenvalues where there are such. */
static eb_error read_weights(const char *directory, eb_digest key, const choice *c, int32_t nodes,
                             eb_skinning *out, bool *found) {
  void *data;
  size_t bytes, count = (size_t)c->modes * (size_t)c->axes * (size_t)nodes;
  size_t values = c->biharmonic ? 0 : (size_t)c->modes;
  *found = false;
  EB_TRY(eb_kept_load(directory, "weights", "ebbasis", EB_PRECOMPUTE_VERSION, key, &data, &bytes));
  eb_error error = EB_OK;
  if (data && bytes == (count + values) * sizeof(double)) {
    *out = (eb_skinning){.nodes = nodes, .modes = c->modes, .axes = c->axes};
    error = EB_NEW(out->weight, count);
    if (!error) memcpy(out->weight, data, count * sizeof(double));
    if (!error && values) error = EB_NEW(out->eigenvalue, values);
    if (!error && values)
      memcpy(out->eigenvalue, (const double *)data + count, values * sizeof(double));
    *found = !error;
  }
  free(data);
  return error;
}

static void keep_weights(const char *directory, eb_digest key, const eb_skinning *s) {
  size_t count = (size_t)s->modes * (size_t)s->axes * (size_t)s->nodes;
  size_t values = s->eigenvalue ? (size_t)s->modes : 0;
  double *data = eb_calloc(count + values, sizeof *data);
  if (!data) return;
  memcpy(data, s->weight, count * sizeof *data);
  if (values) memcpy(data + count, s->eigenvalue, values * sizeof *data);
  (void)eb_kept_store(directory, "weights", "ebbasis", EB_PRECOMPUTE_VERSION, key, data,
                      (count + values) * sizeof *data);
  free(data);
}

/* ---- points ---- */

/* Volumes, then elements. */
static eb_error read_points(const char *directory, eb_digest key, eb_cubature *out, bool *found) {
  void *data;
  size_t bytes, each = sizeof(double) + sizeof(int32_t);
  *found = false;
  EB_TRY(eb_kept_load(directory, "points", "ebbasis", EB_PRECOMPUTE_VERSION, key, &data, &bytes));
  eb_error error = EB_OK;
  if (data && bytes > 0 && bytes % each == 0 && bytes / each <= INT32_MAX) {
    size_t count = bytes / each;
    *out = (eb_cubature){.count = (int32_t)count};
    error = EB_NEW(out->weight, count);
    if (!error) error = EB_NEW(out->element, count);
    if (!error) {
      memcpy(out->weight, data, count * sizeof(double));
      memcpy(out->element, (const double *)data + count, count * sizeof(int32_t));
    }
    *found = !error;
  }
  free(data);
  return error;
}

static void keep_points(const char *directory, eb_digest key, const eb_cubature *c) {
  size_t count = (size_t)c->count, bytes = count * (sizeof(double) + sizeof(int32_t));
  double *data = eb_calloc(bytes, 1);
  if (!data) return;
  memcpy(data, c->weight, count * sizeof(double));
  memcpy(data + count, c->element, count * sizeof(int32_t));
  (void)eb_kept_store(directory, "points", "ebbasis", EB_PRECOMPUTE_VERSION, key, data, bytes);
  free(data);
}

/* ---- both ---- */

/* What is not kept is made, and kept. directory: NULL without a cache. */
static eb_error obtain(const eb_solver *solver, const uint8_t *pinned, const choice *c,
                       const char *directory, eb_skinning *skinning, eb_cubature *cubature) {
  const eb_scene *scene = solver->scene;
  eb_step_log *log = solver->setup_log;
  bool have_weights = false, have_points = false;
  eb_digest key = {0}, key_of_points = {0};
  eb_log_begin(log, EB_PHASE_IO);
  eb_error error = EB_OK;
  if (directory) {
    key = weights_key(scene, pinned, c);
    key_of_points = points_key(key, c);
    error = read_weights(directory, key, c, scene->mesh->node_count, skinning, &have_weights);
    if (!error && !c->all) error = read_points(directory, key_of_points, cubature, &have_points);
  }
  eb_log_end(log, EB_PHASE_IO);
  if (!error && !have_weights) error = make_weights(solver, pinned, c, skinning);
  if (!error && !have_points) {
    eb_skinning features = *skinning;
    if (c->unweighted) features.eigenvalue = NULL;
    const eb_clustering_choice clustering = {.count = c->points,
                                             .all = c->all,
                                             .medians = c->medians,
                                             .seed = c->seed,
                                             .iterations = LLOYD};
    error = eb_cubature_create(scene->mesh, &features, &clustering, cubature);
  }
  eb_log_begin(log, EB_PHASE_IO);
  if (!error && directory && !have_weights) keep_weights(directory, key, skinning);
  if (!error && directory && !have_points && !c->all)
    keep_points(directory, key_of_points, cubature);
  eb_log_end(log, EB_PHASE_IO);
  return error;
}

/* Linear modes, and behind them their derivatives. */
static eb_error join_derivatives(const eb_solver *solver, const uint8_t *pinned,
                                 eb_skinning *linear) {
  const eb_scene *scene = solver->scene;
  int32_t count;
  double *derivative;
  EB_TRY(eb_modal_derivatives(scene->elasticity, scene->mesh->X, pinned, linear, solver->threads,
                              solver->setup_log, &count, &derivative));
  size_t length = 3 * (size_t)linear->nodes, had = (size_t)linear->modes * length;
  double *both = eb_recalloc(linear->weight, had, had + (size_t)count * length, sizeof *both);
  if (both) {
    memcpy(both + had, derivative, (size_t)count * length * sizeof *both);
    linear->weight = both;
    linear->modes += count;
  }
  free(derivative);
  return both ? EB_OK
              : EB_ERROR(EB_ERR_MEMORY, "cannot allocate %d modal derivatives; ask for fewer modes",
                         (int)count);
}

static eb_error make_basis(const eb_solver *solver, const uint8_t *pinned, const choice *c,
                           eb_skinning *skinning, eb_basis *out) {
  const eb_mesh *mesh = solver->scene->mesh;
  const double *mass = eb_elasticity_mass(solver->scene->elasticity);
  if (c->axes == 1)
    return eb_basis_skinning(mesh->node_count, mesh->X, mass, c->modes, skinning->weight, out);
  if (c->derivatives) EB_TRY(join_derivatives(solver, pinned, skinning));
  return eb_basis_displacements(mesh->node_count, mesh->X, mass, skinning->modes, skinning->weight,
                                out);
}

eb_error eb_precompute(const eb_solver *solver, const uint8_t *pinned, eb_skinning *skinning,
                       eb_basis *basis, eb_cubature *cubature) {
  const eb_scene *scene = solver->scene;
  const eb_mesh *mesh = scene->mesh;
  *skinning = (eb_skinning){0};
  if (mesh->type != EB_TETRAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "a subspace is one of tetrahedra");
  choice c = choose(solver, pinned);
  char path[EB_CACHE_PATH_BYTES];
  bool kept = eb_values_bool(solver->options, "cache") && eb_mesh_cache_directory(NULL, path);
  eb_error error = obtain(solver, pinned, &c, kept ? path : NULL, skinning, cubature);
  if (!error) error = make_basis(solver, pinned, &c, skinning, basis);
  return error;
}
