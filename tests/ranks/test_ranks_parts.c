/* Parts of a scene: what all ranks hold together is the whole scene. */
#include <unistd.h>

#include "problems/base/memory.h"
#include "problems/base/file.h"
#include "problems/base/text.h"
#include "problems/mesh/faces.h"
#include "problems/mesh/io.h"
#include "problems/ranks/pieces.h"
#include "problems/scenes/common.h"
#include "tests/support/under_mpiexec.h"

enum { MOST_RANKS = 4 };

static void require_new(void *pointer) {
  if (pointer) return;
  puts("not ok - memory");
  exit(1);
}

static double *reals(size_t count) {
  double *values = eb_calloc(count, sizeof *values);
  require_new(values);
  return values;
}

/* A value of a node that tells it from all others. */
static double value_of(int32_t original, int component) {
  return 1 + original + 0.1 * component;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static bool ascending(const int32_t *numbers, int32_t count) {
  bool good = true;
  for (int32_t i = 1; i < count; i++) good = good && numbers[i - 1] < numbers[i];
  return good;
}

/* Ones at the owned entries, summed over the ranks. */
static bool covered_once(const eb_ranks *ranks, const int32_t *original, int32_t own, int64_t all) {
  double *times = reals((size_t)all);
  for (int32_t i = 0; i < own; i++) times[original[i]] += 1;
  eb_ranks_sum(ranks, (int)all, times);
  bool once = true;
  for (int64_t i = 0; i < all; i++) once = once && times[i] == 1;
  free(times);
  return once;
}

/* Global numbers are those of the owners: rank after rank, in the original order. */
static bool numbered(const eb_scene *scene) {
  const eb_subdomain *part = scene->part;
  double *global = reals((size_t)part->all_nodes);
  for (int32_t i = 0; i < part->nodes; i++) global[part->original_node[i]] = part->first + i;
  eb_ranks_sum(part->ranks, (int)part->all_nodes, global);
  bool good = true;
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    good = good && part->global[i] == (int64_t)global[part->original_node[i]];
  free(global);
  return good;
}

/* All elements that touch an owned node are there: as many meet there as in the whole mesh. */
static bool complete_around_owned(const eb_scene *scene, const eb_scene *whole) {
  const eb_subdomain *part = scene->part;
  const eb_mesh *mesh = scene->mesh, *all = whole->mesh;
  int32_t *meet = eb_calloc((size_t)all->node_count, sizeof *meet);
  require_new(meet);
  for (size_t i = 0; i < (size_t)all->element_count * all->type; i++) meet[all->elements[i]]++;
  for (size_t i = 0; i < (size_t)mesh->element_count * mesh->type; i++)
    meet[part->original_node[mesh->elements[i]]]--;
  bool good = true;
  for (int32_t i = 0; i < part->nodes; i++) good = good && meet[part->original_node[i]] == 0;
  free(meet);
  return good;
}

static void check_numbers(const eb_scene *scene, const eb_scene *whole) {
  const eb_subdomain *part = scene->part;
  const eb_ranks *ranks = part->ranks;
  rank_ok(ranks,
          part->all_nodes == whole->mesh->node_count &&
              part->all_elements == whole->mesh->element_count,
          "%s: counts of the whole mesh", scene->ops->name);
  rank_ok(ranks, covered_once(ranks, part->original_node, part->nodes, part->all_nodes),
          "%s: every node has one owner", scene->ops->name);
  rank_ok(ranks, covered_once(ranks, part->original_element, part->elements, part->all_elements),
          "%s: every element has one owner", scene->ops->name);
  rank_ok(ranks,
          ascending(part->original_node, part->nodes) &&
              ascending(part->original_element, part->elements),
          "%s: owned nodes and elements ascend", scene->ops->name);
  rank_ok(ranks, numbered(scene), "%s: global numbers are rank after rank", scene->ops->name);
  rank_ok(ranks, complete_around_owned(scene, whole),
          "%s: all elements around owned nodes are there", scene->ops->name);
}

/* ---- exchanges ------------------------------------------------------------------------------- */

static void check_update(const eb_scene *scene) {
  const eb_subdomain *part = scene->part;
  int32_t local = scene->mesh->node_count;
  for (int width = 1; width <= 9; width += 4) {
    double *values = reals((size_t)(local * width));
    for (int32_t i = 0; i < part->nodes * width; i++)
      values[i] = value_of(part->original_node[i / width], i % width);
    eb_subdomain_update(part, width, values);
    bool same = true;
    for (int32_t i = 0; i < local * width; i++)
      same = same && values[i] == value_of(part->original_node[i / width], i % width);
    rank_ok(part->ranks, same, "%s: ghosts have their owners' %d values", scene->ops->name, width);
    free(values);
  }
}

static void check_gather(const eb_scene *scene) {
  const eb_subdomain *part = scene->part;
  enum { WIDTH = 3 };
  size_t local = WIDTH * (size_t)scene->mesh->node_count, all = WIDTH * (size_t)part->all_nodes;
  double *values = reals(local), *gathered = reals(all);
  for (size_t i = 0; i < local; i++)
    values[i] = value_of(part->original_node[i / WIDTH], (int)(i % WIDTH));
  bool first = eb_ranks_self(part->ranks) == 0, same = true;
  rank_require(eb_subdomain_gather(part, WIDTH, values, first ? gathered : NULL), "gather");
  for (size_t i = 0; first && i < all; i++)
    same = same && gathered[i] == value_of((int32_t)(i / WIDTH), (int)(i % WIDTH));
  rank_ok(part->ranks, same, "%s: rank 0 has all in the original order", scene->ops->name);
  free(gathered);
  free(values);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void check_mesh(const eb_scene *scene, const eb_scene *whole) {
  eb_mesh *mesh;
  rank_require(eb_subdomain_gather_mesh(scene, &mesh), "gather_mesh");
  bool first = eb_ranks_self(scene->part->ranks) == 0;
  rank_ok(scene->part->ranks, first == (mesh != NULL), "%s: rank 0 alone has the whole mesh",
          scene->ops->name);
  rank_ok(scene->part->ranks, !mesh || eb_mesh_hash(mesh) == eb_mesh_hash(whole->mesh),
          "%s: the gathered mesh is that of one process to the bit", scene->ops->name);
  eb_mesh_destroy(mesh);
}

static bool same_vectors(const eb_scene *scene, const double *values, const double *all) {
  bool same = true;
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    same = same && memcmp(values + 3 * (size_t)i, all + 3 * (size_t)scene->part->original_node[i],
                          3 * sizeof *values) == 0;
  return same;
}

/* Every group has the same nodes, centre and name. */
static bool same_grips(const eb_scene *scene, const eb_scene *whole) {
  bool same = scene->script.grip_count == whole->script.grip_count;
  uint8_t *in = eb_calloc((size_t)whole->mesh->node_count, 1);
  require_new(in);
  for (int g = 0; same && g < whole->script.grip_count; g++) {
    const eb_grip *mine = &scene->script.grips[g], *all = &whole->script.grips[g];
    int32_t found = 0;
    memset(in, 0, (size_t)whole->mesh->node_count);
    for (int32_t k = 0; k < all->count; k++) in[all->nodes[k]] = 1;
    for (int32_t i = 0; i < scene->mesh->node_count; i++)
      found += in[scene->part->original_node[i]];
    for (int32_t k = 0; k < mine->count; k++)
      same = same && in[scene->part->original_node[mine->nodes[k]]];
    same = same && found == mine->count && strcmp(mine->name, all->name) == 0 &&
           memcmp(mine->centre, all->centre, sizeof mine->centre) == 0;
  }
  free(in);
  return same;
}

/* At a time at which scripts are under way. */
static bool same_script(const eb_scene *scene, const eb_scene *whole) {
  const double time = 0.3;
  int32_t local = scene->mesh->node_count, all = whole->mesh->node_count;
  uint8_t *fixed = eb_calloc((size_t)local, 1), *all_fixed = eb_calloc((size_t)all, 1);
  double *target = reals(3 * (size_t)local), *all_target = reals(3 * (size_t)all);
  require_new(fixed);
  require_new(all_fixed);
  eb_scene_boundary(scene, time, fixed, target);
  eb_scene_boundary(whole, time, all_fixed, all_target);
  bool same = same_vectors(scene, target, all_target);
  for (int32_t i = 0; i < local; i++)
    same = same && fixed[i] == all_fixed[scene->part->original_node[i]];
  free(all_target);
  free(target);
  free(all_fixed);
  free(fixed);
  return same;
}

static void check_setup(const eb_scene *scene, const eb_scene *whole) {
  const eb_ranks *ranks = scene->part->ranks;
  const char *name = scene->ops->name;
  rank_ok(ranks, scene->hash == whole->hash, "%s: the hash is that of the whole scene", name);
  rank_ok(ranks, scene->contacts.penetration_bound == whole->contacts.penetration_bound,
          "%s: so is the bound of penetration, of bodies that lie across ranks", name);
  rank_ok(ranks,
          scene->script.stands_still == whole->script.stands_still &&
              eb_scene_needs(scene) == eb_scene_needs(whole) &&
              memcmp(scene->gravity, whole->gravity, sizeof scene->gravity) == 0,
          "%s: so are stillness, needs and gravity", name);
  rank_ok(ranks,
          scene->material_count == whole->material_count &&
              memcmp(scene->materials, whole->materials, sizeof scene->materials) == 0,
          "%s: so are the materials", name);
  rank_ok(ranks,
          same_vectors(scene, scene->x0, whole->x0) && same_vectors(scene, scene->v0, whole->v0),
          "%s: so is the initial state", name);
  rank_ok(ranks, same_grips(scene, whole), "%s: so are the groups of nodes", name);
  rank_ok(ranks, same_script(scene, whole), "%s: so is the script", name);
  bool same = scene->script.load_count == whole->script.load_count;
  for (int32_t k = 0; same && k < whole->script.load_count; k++)
    same = same_vectors(scene, scene->script.load[k], whole->script.load[k]);
  rank_ok(ranks, same, "%s: so are the loads", name);
}

/* ---- mechanics ------------------------------------------------------------------------------- */

/* A state that strains every element. */
static double *deformed(const eb_mesh *mesh) {
  double lo[3], hi[3], *x = reals(3 * (size_t)mesh->node_count);
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  double size = hi[0] - lo[0];
  for (int32_t i = 0; i < mesh->node_count; i++) {
    const double *X = mesh->X + 3 * (size_t)i;
    x[3 * i] = X[0] + 0.02 * size * sin(3 * X[1] / size + 1);
    x[3 * i + 1] = X[1] + 0.03 * size * sin(2 * X[0] / size);
    x[3 * i + 2] = 1.02 * X[2] + 0.01 * X[0] * X[0] / size;
  }
  return x;
}

static double largest(const double *values, size_t count) {
  double most = 0;
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs(values[i]));
  return most;
}

static double vectors_off(const eb_scene *scene, int width, const double *values,
                          const double *all) {
  double off = 0;
  for (size_t i = 0; i < (size_t)scene->part->nodes; i++)
    for (size_t d = 0; d < (size_t)width; d++)
      off = fmax(off, fabs(values[(size_t)width * i + d] -
                           all[(size_t)width * (size_t)scene->part->original_node[i] + d]));
  return off;
}

/* Rows of owned nodes, block by block; INFINITY when a row has other columns. */
static double rows_off(const eb_scene *scene, const eb_scene *whole, const double *values,
                       const double *all) {
  const int32_t *original = scene->part->original_node, *start, *column, *all_start;
  const eb_block_matrix *pattern = eb_elasticity_pattern(whole->elasticity);
  double off = 0;
  eb_scene_pattern(scene, &start, &column);
  all_start = pattern->start;
  for (int32_t i = 0; i < scene->part->nodes; i++) {
    int32_t row = original[i];
    if (start[i + 1] - start[i] != all_start[row + 1] - all_start[row]) return INFINITY;
    for (int32_t b = start[i]; b < start[i + 1]; b++) {
      int32_t at = eb_block_matrix_find(pattern, row, original[column[b]]);
      if (at < 0) return INFINITY;
      for (int k = 0; k < 9; k++)
        off = fmax(off, fabs(values[9 * (size_t)b + k] - all[9 * (size_t)at + k]));
    }
  }
  return off;
}

static void sorted_corners(const eb_surface *surface, const int32_t *number, int32_t t,
                           int32_t corner[3]) {
  for (int k = 0; k < 3; k++) {
    int32_t node = surface->node[surface->triangles[3 * (size_t)t + (size_t)k]];
    corner[k] = number ? number[node] : node;
  }
  eb_tuple_sort(corner, 3);
}

static int compare_corners(const void *a, const void *b) {
  return eb_tuple_compare(a, b, 3);
}

/* The surface's triangles are those of the whole one that have an owned node, each once. */
static bool same_surface(const eb_scene *scene, const eb_scene *whole) {
  const eb_subdomain *part = scene->part;
  const eb_surface *mine = scene->surface, *all = whole->surface;
  int32_t(*corners)[3] = eb_calloc((size_t)all->triangle_count, sizeof *corners), count = 0;
  uint8_t *own = eb_calloc((size_t)part->all_nodes, 1);
  require_new(corners);
  require_new(own);
  for (int32_t i = 0; i < part->nodes; i++) own[part->original_node[i]] = 1;
  for (int32_t t = 0; t < all->triangle_count; t++) {
    int32_t *corner = corners[count];
    sorted_corners(all, NULL, t, corner);
    count += own[corner[0]] || own[corner[1]] || own[corner[2]];
  }
  qsort(corners, (size_t)count, sizeof *corners, compare_corners);
  bool same = mine->triangle_count == count;
  for (int32_t t = 0; same && t < count; t++) {
    int32_t corner[3];
    sorted_corners(mine, part->original_node, t, corner);
    same = bsearch(corner, corners, (size_t)count, sizeof *corners, compare_corners) != NULL;
  }
  free(own);
  free(corners);
  return same;
}

/* Sums come in another order than in the whole mesh: rounding of some ten terms each. */
static void check_mechanics(const eb_scene *scene, const eb_scene *whole) {
  const eb_ranks *ranks = scene->part->ranks;
  const double rounding = 1e-13;
  size_t local = (size_t)scene->mesh->node_count, nodes = (size_t)whole->mesh->node_count;
  const int32_t *start, *column, *all_start, *all_column;
  double *x = reals(3 * local), *all_x = deformed(whole->mesh);
  double *g = reals(3 * local), *all_g = reals(3 * nodes), mass[2] = {0, 0};
  for (size_t i = 0; i < local; i++)
    memcpy(x + 3 * i, all_x + 3 * (size_t)scene->part->original_node[i], 3 * sizeof *x);
  double energy = eb_scene_energy(scene, x), all_energy = eb_scene_energy(whole, all_x);
  eb_ranks_sum(ranks, 1, &energy);
  rank_below(ranks, fabs(energy / all_energy - 1), 1e-12,
             "energies of owned elements sum to that of the whole");
  const double *masses = eb_scene_mass(scene), *all_masses = eb_scene_mass(whole);
  rank_below(ranks, vectors_off(scene, 1, masses, all_masses),
             rounding * largest(all_masses, nodes), "masses at owned nodes");
  for (int32_t i = 0; i < scene->part->nodes; i++) mass[0] += masses[i];
  for (size_t i = 0; i < nodes; i++) mass[1] += all_masses[i];
  eb_ranks_sum(ranks, 1, mass);
  rank_below(ranks, fabs(mass[0] / mass[1] - 1), 1e-12, "and their sum");
  rank_below(ranks, vectors_off(scene, 1, scene->node_area, whole->node_area),
             rounding * largest(whole->node_area, nodes), "areas at owned nodes");
  rank_ok(ranks, same_surface(scene, whole), "the surface: cuts are none");
  eb_scene_gradient(scene, x, g);
  eb_scene_gradient(whole, all_x, all_g);
  rank_below(ranks, vectors_off(scene, 3, g, all_g), rounding * largest(all_g, 3 * nodes),
             "the gradient at owned nodes");
  eb_scene_pattern(scene, &start, &column);
  eb_scene_pattern(whole, &all_start, &all_column);
  size_t entries = 9 * (size_t)start[local], all_entries = 9 * (size_t)all_start[nodes];
  double *values = reals(entries), *all_values = reals(all_entries);
  eb_scene_hessian(scene, x, 2, 0.5, false, values, NULL);
  eb_scene_hessian(whole, all_x, 2, 0.5, false, all_values, NULL);
  rank_below(ranks, rows_off(scene, whole, values, all_values),
             rounding * largest(all_values, all_entries), "rows of the Hessian at owned nodes");
  free(all_values);
  free(values);
  free(all_g);
  free(g);
  free(all_x);
  free(x);
}

/* ---- scenes ---------------------------------------------------------------------------------- */

static bool same_parts(const eb_scene *a, const eb_scene *b) {
  return a->mesh->node_count == b->mesh->node_count && a->part->nodes == b->part->nodes &&
         memcmp(a->part->original_node, b->part->original_node,
                (size_t)a->mesh->node_count * sizeof *a->part->original_node) == 0;
}

/* What the last rank alone sees is told by all. */
static void check_difference(const eb_scene *scene, const eb_scene *again) {
  const eb_ranks *ranks = scene->part->ranks;
  const char *what;
  rank_require(eb_scene_difference(scene, again, &what), "difference");
  rank_ok(ranks, what == NULL, "%s: twice the same", scene->ops->name);
  if (eb_ranks_self(ranks) == eb_ranks_count(ranks) - 1) again->v0[0] += 1;
  rank_require(eb_scene_difference(scene, again, &what), "difference");
  rank_ok(ranks, what && strcmp(what, "initial state") == 0, "%s: a forged start is seen by all",
          scene->ops->name);
}

/* A folder of this run, which rank 0 makes and removes. */
static char folder[64];

static void open_folder(const eb_ranks *ranks) {
  int64_t process = eb_ranks_self(ranks) == 0 ? getpid() : 0;
  eb_ranks_sum_whole(ranks, 1, &process);
  snprintf(folder, sizeof folder, P_tmpdir "/elastobench-ranks-%lld", (long long)process);
  eb_error made = eb_ranks_self(ranks) == 0 ? eb_folder_make(folder) : EB_OK;
  rank_require(eb_ranks_agree(ranks, made), folder);
}

static void close_folder(const eb_ranks *ranks) {
  char command[96];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  bool removed = eb_ranks_self(ranks) != 0 || system(command) == 0;
  rank_ok(ranks, removed, "the folder of the run is removed");
}

/* Rank 0 fills the cache, which the others then find filled. */
static eb_scene *make_whole(const eb_ranks *ranks, const char *name, const char *assignments,
                            const char *file) {
  eb_scene *whole = NULL;
  const eb_scene_ops *ops = eb_scene_find(name);
  for (int turn = 0; turn < 2; turn++) {
    eb_error error = EB_OK;
    if ((eb_ranks_self(ranks) > 0) == turn)
      error = eb_scene_create(ops, assignments, file, folder, &whole);
    rank_require(eb_ranks_agree(ranks, error), name);
  }
  return whole;
}

static void check_part(const eb_ranks *ranks, const char *name, const char *assignments,
                       const char *file) {
  eb_scene *scene, *again, *whole = make_whole(ranks, name, assignments, file);
  const eb_scene_ops *ops = whole->ops;
  rank_require(eb_scene_create_part(ops, assignments, file, folder, ranks, &scene), name);
  rank_require(eb_scene_create_part(ops, assignments, file, folder, ranks, &again), name);
  check_numbers(scene, whole);
  check_update(scene);
  check_gather(scene);
  check_mesh(scene, whole);
  check_setup(scene, whole);
  check_mechanics(scene, whole);
  rank_ok(ranks, same_parts(scene, again), "%s: is cut alike every time", name);
  check_difference(scene, again);
  eb_scene_destroy(again);
  eb_scene_destroy(scene);
  eb_scene_destroy(whole);
}

/* The scene's own mesh comes from a file, which rank 0 alone reads. */
static void check_file(const eb_ranks *ranks) {
  char path[96];
  eb_scene *whole = make_whole(ranks, "bench/beam", "resolution=0.25", NULL);
  snprintf(path, sizeof path, "%s/beam.msh", folder);
  eb_error written = EB_OK;
  if (eb_ranks_self(ranks) == 0) written = eb_mesh_write(path, whole->mesh);
  rank_require(eb_ranks_agree(ranks, written), path);
  eb_scene_destroy(whole);
  check_part(ranks, "bench/beam", "resolution=0.25,clamp=0.2", path);
}

/* More nodes and elements than are gathered at a time. */
static void check_long(const eb_ranks *ranks) {
  eb_scene_ops ops = *eb_scene_find("bench/beam");
  ops.grid = (eb_grid){.cubes = {16500, 1, 1}, .size = {165, 0.01, 0.01}};
  eb_scene *scene, *whole = NULL;
  rank_require(eb_scene_create_part(&ops, NULL, NULL, "", ranks, &scene), "a long bar");
  bool first = eb_ranks_self(ranks) == 0;
  if (first) rank_require(eb_scene_create(&ops, NULL, NULL, "", &whole), "a long bar");
  check_gather(scene);
  rank_ok(ranks, !first || scene->hash == whole->hash, "the hash of a long bar");
  eb_scene_destroy(whole);
  eb_scene_destroy(scene);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static eb_error one_triangle(const eb_values *parameters, eb_mesh **out) {
  (void)parameters;
  EB_TRY(eb_mesh_create(EB_TRIANGLE, 3, 1, out));
  (*out)->X[3] = (*out)->X[7] = 1;
  for (int k = 0; k < 3; k++) (*out)->elements[k] = k;
  return EB_OK;
}

static eb_error no_mesh(const eb_values *parameters, eb_mesh **out) {
  (void)parameters;
  *out = NULL;
  return EB_ERROR(EB_ERR_FORMAT, "this mesh is not to be had");
}

static eb_error set_up(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  return EB_OK;
}

/* The last rank alone fails, after some have been asked for bounds. */
static eb_error fail_on_last(eb_scene *scene) {
  const eb_ranks *ranks = eb_scene_ranks(scene);
  double lo[3], hi[3];
  eb_scene_set_mechanics(scene);
  eb_scene_bounds(scene, scene->mesh->X, lo, hi);
  if (eb_ranks_self(ranks) == eb_ranks_count(ranks) - 1)
    return EB_ERROR(EB_ERR_LIMIT, "this rank has had enough");
  return EB_OK;
}

static eb_error add_floor(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  eb_scene_add_floor(scene, 0);
  return EB_OK;
}

static eb_error make(const eb_ranks *ranks, const eb_scene_ops *ops, const char *assignments) {
  eb_scene *scene;
  eb_error error = eb_scene_create_part(ops, assignments, NULL, "", ranks, &scene);
  eb_scene_destroy(scene);
  return error;
}

static void check_refusals(const eb_ranks *ranks) {
  static const eb_option parameters[] = {
      EB_SCENE_PARAMETERS("1e6", "0.3", "1000", "0.01", "stable-neo-hookean", "9.8"),
      EB_CUBES_PARAMETER, EB_LAST_PARAMETER};
  eb_scene_ops ops = *eb_scene_find("bench/beam");
  rank_fails(ranks, make(ranks, eb_scene_find("verschoor2019/stack"), NULL), EB_ERR_UNSUPPORTED,
             "verschoor2019/stack cannot be cut into parts", "contact is refused");
  rank_fails(ranks, make(ranks, &ops, "resolution=fine"), EB_ERR_USAGE, "resolution",
             "so is a parameter that is no number");
  ops.setup = fail_on_last;
  rank_fails(ranks, make(ranks, &ops, "resolution=0.1"), EB_ERR_LIMIT, "had enough",
             "what one rank cannot do, all give up");
  ops.setup = add_floor;
  rank_fails(ranks, make(ranks, &ops, "resolution=0.1"), EB_ERR_UNSUPPORTED, "colliders",
             "a collider is refused");
  ops = (eb_scene_ops){.name = "test/triangle",
                       .geometry = "one triangle",
                       .parameters = parameters,
                       .steps = 1,
                       .mesh = one_triangle,
                       .setup = set_up,
                       .by_parts = true};
  if (eb_ranks_count(ranks) > 3)
    rank_fails(ranks, make(ranks, &ops, NULL), EB_ERR_USAGE, "4 ranks for 3 nodes",
               "three nodes are too few for four ranks");
  else
    rank_ok(ranks, make(ranks, &ops, NULL) == EB_OK, "a rank may have a single node");
  ops.mesh = no_mesh;
  rank_fails(ranks, make(ranks, &ops, NULL), EB_ERR_FORMAT, "not to be had",
             "a mesh that rank 0 cannot make is nobody's");
}

/* ---- boxes of a grid ------------------------------------------------------------------------- */

/* For as many ranks as nodes at most: boxes hold every node once, and owners are found. */
static void test_boxes(void) {
  static const int32_t cubes[][3] = {{1, 1, 1}, {2, 2, 2}, {7, 1, 2}, {1, 11, 1}, {3, 4, 5}};
  bool once = true, found = true, filled = true;
  for (size_t k = 0; k < sizeof cubes / sizeof *cubes; k++) {
    eb_grid grid = {.size = {1, 1, 1}};
    memcpy(grid.cubes, cubes[k], sizeof grid.cubes);
    int nodes = (cubes[k][0] + 1) * (cubes[k][1] + 1) * (cubes[k][2] + 1);
    for (int ranks = 1; ranks <= nodes; ranks++) {
      int seen = 0;
      for (int r = 0; r < ranks; r++) {
        eb_box box = eb_grid_box(&grid, ranks, r);
        int32_t at[3], before = seen;
        for (at[0] = box.lo[0]; at[0] < box.hi[0]; at[0]++)
          for (at[1] = box.lo[1]; at[1] < box.hi[1]; at[1]++)
            for (at[2] = box.lo[2]; at[2] < box.hi[2]; at[2]++, seen++)
              found = found && eb_grid_owner(&grid, ranks, at) == r;
        filled = filled && seen > before;
      }
      once = once && seen == nodes;
    }
  }
  tap_ok(once, "boxes: hold every node of a grid once, for any number of ranks");
  tap_ok(filled, "boxes: every rank has a node");
  tap_ok(found, "boxes: a node's owner is found without a table");
  eb_grid block = {.cubes = {118, 118, 118}, .size = {1, 1, 1}};
  double most = 0;
  for (int r = 0; r < 1000; r++) {
    eb_box box = eb_grid_box(&block, 1000, r);
    double nodes = 1;
    for (int d = 0; d < 3; d++) nodes *= box.hi[d] - box.lo[d];
    most = fmax(most, nodes * 1000 / (119.0 * 119 * 119));
  }
  tap_below(most, 1.35,
            "boxes: of 1 000 ranks on 10^7 elements none has a third more than its share");
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void check_all(const eb_ranks *ranks) {
  open_folder(ranks);
  check_part(ranks, "bench/beam", "resolution=0.34", NULL);
  check_part(ranks, "conjac2020/twist", "resolution=0.34", NULL); /* one end moves */
  check_file(ranks);
  check_part(ranks, "conjac2020/aniso", "resolution=0.17", NULL);      /* fibres */
  check_part(ranks, "conjac2020/dragon", "resolution=0.02", NULL);     /* four groups move */
  check_part(ranks, "trusty2023/mammoth", "resolution=0.003", NULL);   /* regions, loads */
  check_part(ranks, "lewin2016/free-spin", NULL, NULL);                /* velocities */
  check_part(ranks, "lewin2016/hourglass-modes", "amplitude=0", NULL); /* four hexahedra */
  if (eb_ranks_count(ranks) == 3) check_long(ranks);
  check_refusals(ranks);
  close_folder(ranks);
}

int main(int argc, char **argv) {
  if (argc < 2) test_boxes();
  return under_mpiexec(argc, argv, MOST_RANKS, check_all);
}
