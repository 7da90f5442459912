/* Fill: by the symbolic analysis of the multifrontal factor where the mesh is moderate; beyond, by
 * the laws of nested dissection (George 1973, "Nested dissection of a regular finite element mesh",
 * SIAM J. Numer. Anal. 10(2); Lipton, Rose and Tarjan 1979). */
#include "harness/predict/fill.h"

#include <math.h>

#include "problems/mesh/generate.h"

/* ---- laws ------------------------------------------------------------------------------------ */

static const double fill_power = 4. / 3, flops_power = 2;

/* L = 19 (M/N)^2 N^(4/3) byte, of N nodes and M tetrahedra: few elements a node mean that most
 * nodes are on a surface, where separators are small. Work goes with the 3/2nd power of the
 * entries. On 30 meshes with 1000 to 200 000 nodes L was between 0.74 and 1.3 times that; bars that
 * are twenty times as long as wide are at the lower end. A hexahedron couples as six tetrahedra do.
 */
eb_fill eb_fill_law(const eb_counts *c) {
  static const double fill = 19, stack = 0.15, index = 1500, work = 0.13, entry = 8;
  double nodes = (double)c->nodes, density = (double)c->elements / nodes;
  if (c->arity == EB_HEXAHEDRON) density *= 6;
  if (c->nodes <= 0 || c->arity == EB_TRIANGLE) return (eb_fill){0};
  double factor = fill * density * density * pow(nodes, fill_power);
  return (eb_fill){.by = EB_FILLED_LAW,
                   .factor = factor,
                   .updates = stack * factor,
                   .workspace = index * nodes,
                   .flops = work * pow(factor / entry, 1.5)};
}

eb_fill eb_fill_scaled(const eb_fill *from, double few, double many) {
  double ratio = many / few, fill = pow(ratio, fill_power);
  return (eb_fill){.by = EB_FILLED_SCALED,
                   .factor = from->factor * fill,
                   .updates = from->updates * fill,
                   .workspace = from->workspace * ratio,
                   .flops = from->flops * pow(ratio, flops_power)};
}

/* ---- analysis -------------------------------------------------------------------------------- */

static eb_error analyze(const eb_mesh *mesh, eb_fill *out) {
  static const eb_multifrontal_settings settings = {.keep_updates = EB_KEEP_NONE, .threads = 1};
  eb_block_matrix *pattern;
  eb_multifrontal_memory memory = {0};
  double flops = 0;
  EB_TRY(eb_block_matrix_create(mesh->node_count, mesh->elements, mesh->element_count,
                                (int)mesh->type, &pattern));
  eb_error error = eb_multifrontal_predict(&settings, pattern, &memory, &flops);
  eb_block_matrix_destroy(pattern);
  EB_TRY(error);
  *out = (eb_fill){.by = EB_FILLED_ANALYZED,
                   .factor = (double)memory.factor,
                   .updates = (double)memory.updates,
                   .workspace = (double)memory.workspace,
                   .flops = flops};
  return EB_OK;
}

/* A bar of the same shape with at most EB_FILL_NODES nodes. */
static eb_error analyze_smaller(const eb_counts *counts, eb_fill *out) {
  eb_grid grid = {.size = {1, 1, 1}};
  eb_mesh *mesh;
  double shrink = cbrt(EB_FILL_NODES / (double)counts->nodes);
  for (int d = 0; d < 3; d++) grid.cubes[d] = (int32_t)fmax(1, floor(shrink * counts->cubes[d]));
  EB_TRY(eb_generate_tets6(&grid, &mesh));
  eb_fill small = {0};
  eb_error error = analyze(mesh, &small);
  if (!error) *out = eb_fill_scaled(&small, mesh->node_count, (double)counts->nodes);
  eb_mesh_destroy(mesh);
  return error;
}

static eb_error find(const eb_case *work, const eb_counts *counts, const eb_mesh *mesh,
                     eb_fill *out) {
  eb_mesh *made = NULL;
  bool moderate = counts->nodes <= EB_FILL_NODES;
  if (counts->by == EB_COUNTED_GRID && !moderate) return analyze_smaller(counts, out);
  if (moderate && counts->by != EB_COUNTED_TABLE && !mesh) EB_TRY(eb_counts_mesh(work, &made));
  if (made) mesh = made;
  eb_error error = mesh && moderate ? analyze(mesh, out) : EB_OK;
  eb_mesh_destroy(made);
  return error;
}

eb_fill eb_fill_find(const eb_case *work, const eb_counts *counts, const eb_mesh *mesh) {
  eb_fill fill = {0};
  eb_error_free(find(work, counts, mesh, &fill));
  return fill.by == EB_FILLED_NOT ? eb_fill_law(counts) : fill;
}
