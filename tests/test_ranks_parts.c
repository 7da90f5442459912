/* Parts of a scene: what all ranks hold together is the whole scene. */
#include <unistd.h>

#include "problems/base/memory.h"
#include "problems/ranks/part.h"
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
  const eb_part *part = scene->part;
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
  const eb_part *part = scene->part;
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
  const eb_part *part = scene->part;
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
  const eb_part *part = scene->part;
  int32_t local = scene->mesh->node_count;
  for (int width = 1; width <= 9; width += 4) {
    double *values = reals((size_t)(local * width));
    for (int32_t i = 0; i < part->nodes * width; i++)
      values[i] = value_of(part->original_node[i / width], i % width);
    eb_part_update(part, width, values);
    bool same = true;
    for (int32_t i = 0; i < local * width; i++)
      same = same && values[i] == value_of(part->original_node[i / width], i % width);
    rank_ok(part->ranks, same, "%s: ghosts have their owners' %d values", scene->ops->name, width);
    free(values);
  }
}

static void check_gather(const eb_scene *scene) {
  const eb_part *part = scene->part;
  enum { WIDTH = 3 };
  size_t local = WIDTH * (size_t)scene->mesh->node_count, all = WIDTH * (size_t)part->all_nodes;
  double *values = reals(local), *gathered = reals(all), *back = reals(local);
  for (size_t i = 0; i < local; i++)
    values[i] = value_of(part->original_node[i / WIDTH], (int)(i % WIDTH));
  bool first = eb_ranks_self(part->ranks) == 0, same = true;
  rank_require(eb_part_gather(part, WIDTH, values, first ? gathered : NULL), "gather");
  for (size_t i = 0; first && i < all; i++)
    same = same && gathered[i] == value_of((int32_t)(i / WIDTH), (int)(i % WIDTH));
  rank_ok(part->ranks, same, "%s: rank 0 has all in the original order", scene->ops->name);
  rank_require(eb_part_scatter(part, WIDTH, first ? gathered : NULL, back), "scatter");
  rank_ok(part->ranks, memcmp(values, back, local * sizeof *values) == 0,
          "%s: what is scattered is what was gathered, ghosts included", scene->ops->name);
  free(back);
  free(gathered);
  free(values);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void check_mesh(const eb_scene *scene, const eb_scene *whole) {
  eb_mesh *mesh;
  rank_require(eb_part_gather_mesh(scene, &mesh), "gather_mesh");
  bool first = eb_ranks_self(scene->part->ranks) == 0;
  rank_ok(scene->part->ranks, first == (mesh != NULL), "%s: rank 0 alone has the whole mesh",
          scene->ops->name);
  rank_ok(scene->part->ranks, !mesh || eb_mesh_hash(mesh) == eb_mesh_hash(whole->mesh),
          "%s: the gathered mesh is that of one process to the bit", scene->ops->name);
  eb_mesh_destroy(mesh);
}

static void check_scene(const eb_scene *scene, const eb_scene *whole) {
  const eb_ranks *ranks = scene->part->ranks;
  const char *name = scene->ops->name;
  rank_ok(ranks, scene->hash == whole->hash, "%s: the hash is that of the whole scene", name);
  rank_ok(ranks, scene->penetration_bound == whole->penetration_bound,
          "%s: the penetration bound, too", name);
  rank_ok(ranks,
          scene->stands_still == whole->stands_still &&
              memcmp(scene->gravity, whole->gravity, sizeof scene->gravity) == 0 &&
              eb_scene_needs(scene) == eb_scene_needs(whole),
          "%s: stillness, gravity and needs, too", name);
}

static void check_part(const eb_ranks *ranks, const char *name, const char *assignments) {
  eb_scene *scene, *whole;
  const eb_scene_ops *ops = eb_scene_find(name);
  rank_require(eb_scene_create(ops, assignments, NULL, "", &whole), name);
  rank_require(eb_scene_create_part(ops, assignments, NULL, "", ranks, &scene), name);
  check_numbers(scene, whole);
  check_update(scene);
  check_gather(scene);
  check_mesh(scene, whole);
  check_scene(scene, whole);
  eb_scene_destroy(scene);
  eb_scene_destroy(whole);
}

static void check_all(const eb_ranks *ranks) {
  check_part(ranks, "bench/beam", "resolution=0.5");
}

int main(int argc, char **argv) {
  return under_mpiexec(argc, argv, MOST_RANKS, check_all);
}
