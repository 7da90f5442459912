#include "problems/mesh/generate.h"

#include <math.h>

#include "problems/base/memory.h"

/* Corner c of a cube is its node at offset (c & 1, c >> 1 & 1, c >> 2 & 1).
 *
 * Kuhn: one tetrahedron for each monotone edge path from corner 0 to corner 7. Opposite faces get
 * parallel diagonals, so the pattern conforms when it is repeated; odd permutations of the axes have
 * their middle nodes exchanged to be positive. */
static const int32_t kuhn[6][4] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7},
                                   {0, 5, 1, 7}, {0, 3, 2, 7}, {0, 6, 4, 7}};
/* One tetrahedron on alternate corners and four cut-off corners. Opposite faces get crossing
 * diagonals, so odd cubes take the mirror image: corners exchanged along x, orientation restored. */
static const int32_t five[2][5][4] = {
    {{0, 5, 3, 6}, {1, 3, 0, 5}, {2, 0, 3, 6}, {4, 5, 0, 6}, {7, 3, 5, 6}},
    {{1, 4, 7, 2}, {0, 2, 4, 1}, {3, 1, 7, 2}, {5, 4, 7, 1}, {6, 2, 7, 4}}};
static const int32_t cube[1][8] = {{0, 1, 3, 2, 4, 5, 7, 6}};
static const int32_t square[2][3] = {{0, 1, 3}, {0, 3, 2}};

/* How one cell is divided: `per_cell` elements of `type` nodes; with `mirrored`, cells of odd
 * i + j + k take the second half of the table. */
typedef struct pattern {
  eb_element_type type;
  int32_t per_cell;
  bool mirrored;
  const int32_t *corners;
} pattern;

static eb_error check_grid(const eb_grid *grid, int dimensions, int32_t per_cell) {
  double cells = per_cell, nodes = 1;
  for (int d = 0; d < dimensions; d++) {
    if (grid->cubes[d] < 1)
      return EB_ERROR(EB_ERR_USAGE, "a grid needs at least one cube along %c, not %d", "xyz"[d],
                      grid -> cubes[d]);
    if (!(grid->size[d] > 0) || !isfinite(grid->size[d]))
      return EB_ERROR(EB_ERR_USAGE, "the size of a grid along %c must be positive, not %g m",
                      "xyz"[d], grid -> size[d]);
    if (!isfinite(grid->origin[d]))
      return EB_ERROR(EB_ERR_USAGE, "the origin of a grid along %c is %g", "xyz"[d],
                      grid -> origin[d]);
    cells *= grid->cubes[d];
    nodes *= grid->cubes[d] + 1.0;
  }
  if (cells > INT32_MAX || nodes > INT32_MAX)
    return EB_ERROR(EB_ERR_LIMIT,
                    "a grid of %g elements and %g nodes is too large; use fewer cubes", cells,
                    nodes);
  return EB_OK;
}

static void place_nodes(const eb_grid *grid, const int32_t n[3], double *X) {
  for (int32_t k = 0; k <= n[2]; k++)
    for (int32_t j = 0; j <= n[1]; j++)
      for (int32_t i = 0; i <= n[0]; i++, X += 3) {
        int32_t at[3] = {i, j, k};
        for (int d = 0; d < 3; d++)
          if (n[d]) X[d] = grid->origin[d] + grid->size[d] * ((double)at[d] / n[d]);
      }
}

static void place_elements(const int32_t n[3], const pattern *p, int32_t *elements) {
  int32_t row = n[0] + 1, layer = row * (n[1] + 1), layers = n[2] ? n[2] : 1;
  for (int32_t k = 0; k < layers; k++)
    for (int32_t j = 0; j < n[1]; j++)
      for (int32_t i = 0; i < n[0]; i++) {
        int32_t base = i + row * j + layer * k, entries = p->per_cell * (int32_t)p->type;
        const int32_t *corner = p->corners + (p->mirrored ? (i + j + k) % 2 * entries : 0);
        for (int32_t c = 0; c < entries; c++)
          *elements++ =
              base + (corner[c] & 1) + row * (corner[c] >> 1 & 1) + layer * (corner[c] >> 2);
      }
}

/* The set of all nodes whose coordinate `axis` is `at`. */
static eb_error add_face_set(eb_mesh *mesh, const int32_t n[3], int axis, int32_t at,
                             const char *name) {
  int32_t *nodes, count = 0;
  EB_TRY(EB_NEW(nodes, mesh->node_count));
  for (int32_t v = 0; v < mesh->node_count; v++) {
    int32_t rest = v / (n[0] + 1);
    int32_t index[3] = {v % (n[0] + 1), rest % (n[1] + 1), rest / (n[1] + 1)};
    if (index[axis] == at) nodes[count++] = v;
  }
  eb_error error = eb_mesh_add_set(mesh, name, nodes, count);
  free(nodes);
  return error;
}

static eb_error fill_grid(const eb_grid *grid, const int32_t n[3], const pattern *p,
                          eb_mesh *mesh) {
  static const char *const names[3][2] = {{"x0", "x1"}, {"y0", "y1"}, {"z0", "z1"}};
  place_nodes(grid, n, mesh->X);
  place_elements(n, p, mesh->elements);
  for (int axis = 0; axis < 3 && n[axis]; axis++) {
    EB_TRY(add_face_set(mesh, n, axis, 0, names[axis][0]));
    EB_TRY(add_face_set(mesh, n, axis, n[axis], names[axis][1]));
  }
  return EB_OK;
}

/* Returns the mesh only when it was filled without error. */
static eb_error finish(eb_error error, eb_mesh **out) {
  if (!error) return EB_OK;
  eb_mesh_destroy(*out);
  *out = NULL;
  return error;
}

static eb_error generate(const eb_grid *grid, const pattern *p, eb_mesh **out) {
  *out = NULL;
  bool planar = p->type == EB_TRIANGLE;
  EB_TRY(check_grid(grid, planar ? 2 : 3, p->per_cell));
  int32_t n[3] = {grid->cubes[0], grid->cubes[1], planar ? 0 : grid->cubes[2]};
  EB_TRY(eb_mesh_create(p->type, (n[0] + 1) * (n[1] + 1) * (n[2] + 1),
                        p->per_cell * n[0] * n[1] * (planar ? 1 : n[2]), out));
  return finish(fill_grid(grid, n, p, *out), out);
}

eb_error eb_generate_tets6(const eb_grid *grid, eb_mesh **out) {
  return generate(grid, &(pattern){EB_TETRAHEDRON, 6, false, kuhn[0]}, out);
}

eb_error eb_generate_tets5(const eb_grid *grid, eb_mesh **out) {
  return generate(grid, &(pattern){EB_TETRAHEDRON, 5, true, five[0][0]}, out);
}

eb_error eb_generate_hexahedra(const eb_grid *grid, eb_mesh **out) {
  return generate(grid, &(pattern){EB_HEXAHEDRON, 1, false, cube[0]}, out);
}

eb_error eb_generate_triangles(const eb_grid *grid, eb_mesh **out) {
  return generate(grid, &(pattern){EB_TRIANGLE, 2, false, square[0]}, out);
}

/* Cross-section s has the nodes 4 s + c with c = (upper, outer) bits: axes (z, radius, angle) are
 * right-handed in this order. A cell is convex with planar faces, so Kuhn's tetrahedra are positive. */
static void fill_ring(int32_t around, double radius, double section, eb_mesh *mesh) {
  const double turn = 2 * 3.14159265358979323846;
  for (int32_t s = 0; s < around; s++) {
    double angle = turn * s / around;
    for (int32_t c = 0; c < 4; c++) {
      double *X = mesh->X + 3 * (4 * (size_t)s + (size_t)c);
      double r = radius + (c >> 1 ? 0.5 : -0.5) * section;
      X[0] = r * cos(angle);
      X[1] = r * sin(angle);
      X[2] = (c & 1 ? 0.5 : -0.5) * section;
    }
    for (int32_t i = 0; i < 24; i++) {
      int32_t corner = kuhn[i / 4][i % 4];
      mesh->elements[24 * (size_t)s + (size_t)i] =
          4 * ((s + (corner >> 2)) % around) + (corner & 3);
    }
  }
}

eb_error eb_generate_ring(int32_t around, double radius, double section, eb_mesh **out) {
  *out = NULL;
  if (around < 3 || around > INT32_MAX / 24)
    return EB_ERROR(EB_ERR_USAGE, "a ring needs 3 to %d cubes, not %d", INT32_MAX / 24, around);
  if (!(section > 0) || !(radius > section / 2) || !isfinite(radius))
    return EB_ERROR(EB_ERR_USAGE,
                    "a ring of radius %g m and section %g m has no hole; the section must be "
                    "positive and less than twice the radius",
                    radius, section);
  EB_TRY(eb_mesh_create(EB_TETRAHEDRON, 4 * around, 6 * around, out));
  fill_ring(around, radius, section, *out);
  return EB_OK;
}
