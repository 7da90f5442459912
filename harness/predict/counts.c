/* Counts of a scene: by formula where it is a bar of cubes, else on its mesh. */
#include "harness/predict/counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/scenes/scene_mesh.h"

/* ---- by formula ------------------------------------------------------------------------------ */

/* Edges of a cube of Kuhn's: those of the lattice, one diagonal of every face, one through every
 * cube. Two nodes of an edge couple in two blocks of the matrix. */
eb_counts eb_counts_of_grid(const int32_t cubes[3]) {
  int64_t edges = 0, nodes = 1, all = 1;
  for (int d = 0; d < 3; d++) {
    const int64_t n = cubes[d], a = cubes[(d + 1) % 3], b = cubes[(d + 2) % 3];
    edges += n * (a + 1) * (b + 1) + (n + 1) * a * b;
    nodes *= n + 1;
    all *= n;
  }
  edges += all;
  return (eb_counts){.by = EB_COUNTED_GRID,
                     .arity = EB_TETRAHEDRON,
                     .nodes = nodes,
                     .elements = 6 * all,
                     .blocks = nodes + 2 * edges,
                     .cubes = {cubes[0], cubes[1], cubes[2]}};
}

/* Tetrahedra: V - E + F - T = 1 for a ball, with 2 F = 4 T + S for S triangles on the surface,
 * gives E = V + T + S/2 - 1. A compact body of N nodes has about 12 N^(2/3) of them. A node of a
 * lattice of hexahedra meets 26 others, one of a lattice of triangles 6. */
int64_t eb_counts_blocks(int arity, int64_t nodes, int64_t elements) {
  if (arity == EB_HEXAHEDRON) return 27 * nodes;
  if (arity == EB_TRIANGLE) return 7 * nodes;
  double surface = 12 * cbrt((double)nodes * (double)nodes);
  return nodes + 2 * (nodes + elements + (int64_t)(surface / 2) - 1);
}

/* Of all factorizations the one with the least a + b + c is the most cubic. A box has 2 (1 - 1/a)
 * shared faces along an axis that is cut into a, in the mean. */
double eb_counts_faces(int ranks) {
  double least = INFINITY, faces = 0;
  for (int a = 1; (long long)a * a * a <= ranks; a++) {
    for (int b = a; (long long)a * b * b <= ranks; b++) {
      if (ranks % (a * b)) continue;
      int c = ranks / (a * b);
      if (a + b + c >= least) continue;
      least = a + b + c;
      faces = 2 * (3 - 1. / a - 1. / b - 1. / c);
    }
  }
  return faces;
}

/* ---- on the mesh ----------------------------------------------------------------------------- */

/* Different nodes that share an element with each node, itself among them: by lists of the elements
 * around every node. */
static eb_error count_blocks(const eb_mesh *mesh, int64_t *out) {
  const int arity = (int)mesh->type;
  const int64_t entries = (int64_t)mesh->element_count * arity;
  int64_t *start;
  int32_t *around = NULL, *seen = NULL;
  *out = 0;
  EB_TRY(EB_NEW(start, (size_t)mesh->node_count + 1));
  eb_error error = EB_NEW(around, entries);
  if (!error) error = EB_NEW(seen, mesh->node_count);
  for (int64_t k = 0; k < entries && !error; k++) start[mesh->elements[k]]++;
  for (int32_t i = 0; i < mesh->node_count && !error; i++) start[i + 1] += start[i];
  for (int64_t k = entries - 1; k >= 0 && !error; k--)
    around[--start[mesh->elements[k]]] = (int32_t)(k / arity);
  for (int32_t i = 0; i < mesh->node_count && !error; i++)
    for (int64_t k = start[i]; k < start[i + 1]; k++)
      for (int a = 0; a < arity; a++) {
        int32_t *mark = &seen[mesh->elements[(int64_t)around[k] * arity + a]];
        *out += *mark != i + 1;
        *mark = i + 1;
      }
  free(start);
  free(around);
  free(seen);
  return error;
}

static eb_error count_mesh(const eb_mesh *mesh, eb_counts *out) {
  *out = (eb_counts){.by = EB_COUNTED_MESH,
                     .arity = (int)mesh->type,
                     .nodes = mesh->node_count,
                     .elements = mesh->element_count};
  return count_blocks(mesh, &out->blocks);
}

/* ---- of a case ------------------------------------------------------------------------------- */

static eb_error parameters_of(const eb_case *work, eb_values **out) {
  return eb_values_create(work->scene->name, work->scene->parameters, work->parameters, out);
}

eb_error eb_counts_mesh(const eb_case *work, eb_mesh **out) {
  eb_values *values = NULL;
  *out = NULL;
  EB_TRY(parameters_of(work, &values));
  eb_error error = eb_scene_make_mesh(work->scene, values, work->mesh_file, NULL, out);
  eb_values_destroy(values);
  if (!error) return EB_OK;
  eb_mesh_destroy(*out);
  *out = NULL;
  return error;
}

/* Whether the mesh is the scene's own bar of cubes. */
static eb_error find_grid(const eb_case *work, bool *is_grid, int32_t cubes[3]) {
  eb_values *values = NULL;
  eb_grid grid;
  EB_TRY(parameters_of(work, &values));
  *is_grid = eb_scene_grid(work->scene, values, work->mesh_file, &grid);
  if (*is_grid) memcpy(cubes, grid.cubes, sizeof grid.cubes);
  eb_values_destroy(values);
  return EB_OK;
}

/* Stuffing half a million tetrahedra to count them takes longer than many a run; a few thousand are
 * counted sooner than their number is known well. What prepares a mesh may copy it. */
static eb_error count_by_table(const eb_case *work, bool *done, eb_counts *out) {
  static const double few = 5000;
  const eb_scene_ops *ops = work->scene;
  eb_values *values = NULL;
  *done = false;
  if (work->mesh_file || ops->model.elements == 0 || ops->target_vertices <= 0 ||
      ops->target_elements <= 0 || (ops->prepare && work->parameters))
    return EB_OK;
  EB_TRY(parameters_of(work, &values));
  double resolution = eb_values_real(values, "resolution");
  eb_values_destroy(values);
  *done = resolution * ops->model.elements >= few;
  if (!*done) return EB_OK;
  *out = (eb_counts){.by = EB_COUNTED_TABLE,
                     .arity = EB_TETRAHEDRON,
                     .nodes = (int64_t)(resolution * ops->target_vertices),
                     .elements = (int64_t)(resolution * ops->target_elements)};
  out->blocks = eb_counts_blocks(out->arity, out->nodes, out->elements);
  return EB_OK;
}

void eb_counts_find(const eb_case *work, eb_counts *out, eb_mesh **mesh) {
  int32_t cubes[3];
  bool is_grid, by_table = false;
  *out = (eb_counts){0};
  *mesh = NULL;
  eb_error error = find_grid(work, &is_grid, cubes);
  if (!error && is_grid) *out = eb_counts_of_grid(cubes);
  if (!error && !is_grid) error = count_by_table(work, &by_table, out);
  if (!error && !is_grid && !by_table) error = eb_counts_mesh(work, mesh);
  if (!error && *mesh) error = count_mesh(*mesh, out);
  if (!error) return;
  eb_mesh_destroy(*mesh);
  *mesh = NULL;
  *out = (eb_counts){0};
  eb_error_free(error);
}
