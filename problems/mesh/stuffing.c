/* Isosurface stuffing (Labelle and Shewchuk 2007), uniform. A body-centred cubic lattice is cut by the
 * surface (lattice.c), every tetrahedron of the lattice is filled by its stencil (stencil.c), and small
 * loose pieces are dropped. Linear in the number of lattice points. */
#include "problems/mesh/stuffing.h"

#include "problems/base/memory.h"
#include "problems/mesh/disjoint.h"
#include "problems/mesh/faces.h"
#include "problems/mesh/lattice.h"
#include "problems/mesh/stencil.h"
#include "problems/mesh/stuff_shifted.h"

/* ---- filling ------------------------------------------------------------------------------------- */

/* Around a long edge p-q from corner to corner along axis d stand four middles; two successive ones
 * and p, q make a lattice tetrahedron, positive in this order. The parity rule wants the vector from p to
 * the third corner to have an even number of negative components: for odd k the middles change places,
 * and the tetrahedron is negative. */
static void lattice_tetrahedron(const eb_lattice *l, int32_t p, int d, int k, int32_t corner[4]) {
  static const int back[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  int32_t u = l->stride[(d + 1) % 3], v = l->stride[(d + 2) % 3];
  corner[0] = p;
  corner[1] = p + 2 * l->stride[d];
  for (int i = 0; i < 2; i++) {
    const int *b = back[(k + i) % 4];
    corner[2 + (i ^ (k & 1))] = p + 1 - 2 * (b[0] * u + b[1] * v);
  }
}

/* Writes up to three tetrahedra; nodes are lattice points and, from l->points on, cut points. */
static int fill_tetrahedron(const eb_lattice *l, int32_t p, int d, int k, int32_t out[3][4]) {
  int32_t corner[4];
  int8_t sign[4], local[3][4];
  lattice_tetrahedron(l, p, d, k, corner);
  for (int i = 0; i < 4; i++) sign[i] = l->sign[corner[i]];
  int count = eb_stencil(sign, local);
  int32_t node[10] = {corner[0], corner[1], corner[2], corner[3]};
  for (int i = 0; i < 4 && count; i++)
    for (int j = i + 1; j < 4; j++)
      if (sign[i] * sign[j] < 0)
        node[EB_STENCIL_CUT[i][j]] = l->points + eb_lattice_cut(l, corner[i], corner[j]);
  for (int t = 0; t < count; t++)
    for (int i = 0; i < 4; i++) out[t][i ^ (i > 1 && (k & 1))] = node[local[t][i]];
  return count;
}

/* Whether a corner of the tetrahedra around the three long edges at p is inside. */
static bool any_inside(const eb_lattice *l, int32_t p) {
  const int8_t *sign = l->sign + p;
  int32_t x = 2 * l->stride[0], y = 2 * l->stride[1], z = 2 * l->stride[2];
  return sign[0] > 0 || sign[x] > 0 || sign[y] > 0 || sign[z] > 0 || sign[1] > 0 ||
         sign[1 - x] > 0 || sign[1 - y] > 0 || sign[1 - z] > 0 || sign[1 - x - y] > 0 ||
         sign[1 - y - z] > 0 || sign[1 - z - x] > 0;
}

/* Fills one layer of cells; returns the number of tetrahedra, which go to `out` unless it is NULL. The
 * outermost layers hold no inside point. */
static int64_t fill_layer(const eb_lattice *l, int32_t layer, int32_t *out) {
  int64_t total = 0;
  for (int32_t j = 1; j < l->size[1] - 1; j++)
    for (int32_t i = 1; i < l->size[0] - 1; i++) {
      int32_t p = 2 * (i + l->stride[1] * j + l->stride[2] * layer), tets[3][4];
      for (int edge = 0; edge < 12 && any_inside(l, p); edge++) {
        int count = fill_tetrahedron(l, p, edge / 4, edge % 4, tets);
        for (int n = 0; out && n < 4 * count; n++) *out++ = tets[n / 4][n % 4];
        total += count;
      }
    }
  return total;
}

/* Counts and then fills all layers: first[layer] is where its tetrahedra start. */
static eb_error fill(const eb_lattice *l, int64_t *first, int32_t **tets) {
  int32_t layers = l->size[2];
#pragma omp parallel for schedule(dynamic) if (l->points > EB_LATTICE_SERIAL)
  for (int32_t layer = 1; layer < layers - 1; layer++)
    first[layer + 1] = fill_layer(l, layer, NULL);
  for (int32_t layer = 0; layer < layers; layer++) first[layer + 1] += first[layer];
  if (first[layers] > INT32_MAX / 12)
    return EB_ERROR(EB_ERR_LIMIT, "a spacing of %g m gives %lld tetrahedra; use a larger one",
                    l->spacing, (long long)first[layers]);
  EB_TRY(EB_NEW(*tets, 4 * (size_t)first[layers]));
#pragma omp parallel for schedule(dynamic) if (l->points > EB_LATTICE_SERIAL)
  for (int32_t layer = 1; layer < layers - 1; layer++)
    fill_layer(l, layer, *tets + 4 * first[layer]);
  return EB_OK;
}

/* ---- compaction ----------------------------------------------------------------------------------- */

static void place_node(const eb_lattice *l, int32_t node, double X[3]) {
  if (node < l->points)
    eb_lattice_place(l, node, X);
  else
    for (int d = 0; d < 3; d++) X[d] = l->X[3 * (size_t)(node - l->points) + (size_t)d];
}

/* Numbers the used entries of `number` (non-zero) in their order, by replacing them with 1 + number. */
static int32_t enumerate(int32_t *number, int32_t count) {
  int32_t used = 0;
  for (int32_t i = 0; i < count; i++)
    if (number[i]) number[i] = ++used;
  return used;
}

static eb_error compact(const eb_lattice *l, const int32_t *tets, int32_t count, int32_t *number,
                        eb_mesh **out) {
  int32_t nodes = l->points + l->cuts;
  for (size_t i = 0; i < 4 * (size_t)count; i++) number[tets[i]] = 1;
  EB_TRY(eb_mesh_create(EB_TETRAHEDRON, enumerate(number, nodes), count, out));
  for (int32_t i = 0; i < nodes; i++)
    if (number[i]) place_node(l, i, (*out)->X + 3 * (size_t)(number[i] - 1));
  for (size_t i = 0; i < 4 * (size_t)count; i++) (*out)->elements[i] = number[tets[i]] - 1;
  return EB_OK;
}

static eb_error fill_and_compact(const eb_lattice *l, eb_mesh **out) {
  int64_t *first;
  int32_t *tets = NULL, *number = NULL;
  EB_TRY(EB_NEW(first, (size_t)l->size[2] + 1));
  eb_error error = fill(l, first, &tets);
  int32_t count = error ? 0 : (int32_t)first[l->size[2]];
  if (!error) error = EB_NEW(number, (size_t)l->points + (size_t)l->cuts);
  if (!error && count) error = compact(l, tets, count, number, out);
  free(number);
  free(tets);
  free(first);
  return error;
}

/* ---- components ------------------------------------------------------------------------------------ */

/* parent becomes the lowest element of the component, size the number of elements at that element. */
static void join_neighbours(const int32_t *mate, int32_t elements, int32_t *parent, int32_t *size) {
  for (int32_t e = 0; e < elements; e++) parent[e] = e;
  for (int32_t face = 0; face < 4 * elements; face++) {
    if (mate[face] >= face) eb_disjoint_join(parent, face / 4, mate[face] / 4);
  }
  for (int32_t e = 0; e < elements; e++) {
    parent[e] = eb_disjoint_root(parent, e);
    size[parent[e]]++;
  }
}

/* Copies the elements whose component is large enough; *out stays NULL when all are. */
static eb_error copy_large(const eb_mesh *mesh, const int32_t *parent, const int32_t *size,
                           int32_t *number, eb_mesh **out) {
  int32_t largest = 0, kept = 0;
  for (int32_t e = 0; e < mesh->element_count; e++)
    if (size[e] > largest) largest = size[e];
  double enough = EB_STUFFING_KEEP_FRACTION * largest;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    if (size[parent[e]] < enough) continue;
    for (size_t i = 0; i < 4; i++) number[mesh->elements[4 * (size_t)e + i]] = 1;
    kept++;
  }
  if (kept == mesh->element_count) return EB_OK;
  EB_TRY(eb_mesh_create(EB_TETRAHEDRON, enumerate(number, mesh->node_count), kept, out));
  int32_t *element = (*out)->elements;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (size_t i = 0; i < 4 && size[parent[e]] >= enough; i++)
      *element++ = number[mesh->elements[4 * (size_t)e + i]] - 1;
  for (int32_t i = 0; i < mesh->node_count; i++)
    for (int d = 0; d < 3 && number[i]; d++)
      (*out)->X[3 * (size_t)(number[i] - 1) + (size_t)d] = mesh->X[3 * (size_t)i + (size_t)d];
  return EB_OK;
}

typedef struct components {
  int32_t *mate, *parent, *size, *number;
} components;

static eb_error split(const eb_mesh *mesh, components *c, eb_mesh **out) {
  int32_t crowded;
  EB_TRY(eb_mesh_face_mates(mesh, &c->mate, &crowded));
  EB_TRY(EB_NEW(c->parent, mesh->element_count));
  EB_TRY(EB_NEW(c->size, mesh->element_count));
  EB_TRY(EB_NEW(c->number, mesh->node_count));
  join_neighbours(c->mate, mesh->element_count, c->parent, c->size);
  return copy_large(mesh, c->parent, c->size, c->number, out);
}

static eb_error drop_small_pieces(eb_mesh **mesh) {
  components c = {.mate = NULL};
  eb_mesh *large = NULL;
  eb_error error = split(*mesh, &c, &large);
  free(c.mate);
  free(c.parent);
  free(c.size);
  free(c.number);
  if (error || !large) return error;
  eb_mesh_destroy(*mesh);
  *mesh = large;
  return EB_OK;
}

/* ---- regions --------------------------------------------------------------------------------------- */

static eb_error assign_regions(const eb_solid *solid, eb_mesh *mesh) {
  if (!solid->region_names) return EB_OK;
  int32_t count = 0;
  while (solid->region_names[count]) count++;
  for (int32_t e = 0; solid->region && e < mesh->element_count; e++) {
    double center[3] = {0};
    for (int i = 0; i < 12; i++)
      center[i % 3] +=
          mesh->X[3 * (size_t)mesh->elements[4 * (size_t)e + (size_t)(i / 3)] + (size_t)(i % 3)] /
          4;
    mesh->region[e] = solid->region(solid->context, center);
  }
  return eb_mesh_name_regions(mesh, count, solid->region_names);
}

/* ---- the whole ------------------------------------------------------------------------------------- */

static eb_error finish(const eb_solid *solid, eb_mesh **mesh) {
  EB_TRY(drop_small_pieces(mesh));
  return assign_regions(solid, *mesh);
}

eb_error eb_stuff_shifted(const eb_solid *solid, double spacing, const double shift[3],
                          eb_mesh **out) {
  eb_lattice lattice;
  *out = NULL;
  EB_TRY(eb_lattice_create(solid, spacing, shift, &lattice));
  eb_error error = fill_and_compact(&lattice, out);
  eb_lattice_clear(&lattice);
  if (!error && *out) error = finish(solid, out);
  if (error) {
    eb_mesh_destroy(*out);
    *out = NULL;
  }
  return error;
}

eb_error eb_stuff(const eb_solid *solid, double spacing, eb_mesh **out) {
  EB_TRY(eb_stuff_shifted(solid, spacing, (const double[3]){0}, out));
  if (*out) return EB_OK;
  return EB_ERROR(EB_ERR_INVALID,
                  "nothing is inside the solid at a lattice spacing of %g m; use a smaller one",
                  spacing);
}
