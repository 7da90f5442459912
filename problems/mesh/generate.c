#include "problems/mesh/generate.h"

#include <math.h>
#include <stdlib.h>

#include "problems/base/memory.h"
#include "problems/base/random.h"
#include "problems/base/vector3.h"

static const double pi = 3.14159265358979323846;

/* Corner c of a cube is its node at offset (c & 1, c >> 1 & 1, c >> 2 & 1).
 *
 * Kuhn: one tetrahedron for each monotone edge path from corner 0 to corner 7. Opposite faces get
 * parallel diagonals, so the pattern conforms when it is repeated; odd permutations of the axes
 * have their middle nodes exchanged to be positive. */
static const int32_t kuhn[6][4] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7},
                                   {0, 5, 1, 7}, {0, 3, 2, 7}, {0, 6, 4, 7}};
/* One tetrahedron on alternate corners and four cut-off corners. Opposite faces get crossing
 * diagonals, so odd cubes take the mirror image: corners exchanged along x, orientation
 * restored. */
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

static void place_node(const eb_grid *grid, const int32_t n[3], const int32_t at[3], double *X) {
  for (int d = 0; d < 3; d++)
    if (n[d]) X[d] = grid->origin[d] + grid->size[d] * ((double)at[d] / n[d]);
}

/* The set of all nodes whose coordinate `axis` is `at`; `number` as in eb_piece, or NULL. */
static eb_error add_face_set(eb_mesh *mesh, const int32_t n[3], const int32_t *number, int axis,
                             int32_t at, const char *name) {
  int32_t *nodes, count = 0;
  EB_TRY(EB_NEW(nodes, mesh->node_count));
  for (int32_t v = 0; v < mesh->node_count; v++) {
    int32_t node = number ? number[v] : v, rest = node / (n[0] + 1);
    int32_t index[3] = {node % (n[0] + 1), rest % (n[1] + 1), rest / (n[1] + 1)};
    if (index[axis] == at) nodes[count++] = v;
  }
  eb_error error = eb_mesh_add_set(mesh, name, nodes, count);
  free(nodes);
  return error;
}

static eb_error add_face_sets(eb_mesh *mesh, const int32_t n[3], const int32_t *number) {
  static const char *const names[3][2] = {{"x0", "x1"}, {"y0", "y1"}, {"z0", "z1"}};
  for (int axis = 0; axis < 3 && n[axis]; axis++) {
    EB_TRY(add_face_set(mesh, n, number, axis, 0, names[axis][0]));
    EB_TRY(add_face_set(mesh, n, number, axis, n[axis], names[axis][1]));
  }
  return EB_OK;
}

static eb_error fill_grid(const eb_grid *grid, const int32_t n[3], const pattern *p,
                          eb_mesh *mesh) {
  double *X = mesh->X;
  for (int32_t k = 0; k <= n[2]; k++)
    for (int32_t j = 0; j <= n[1]; j++)
      for (int32_t i = 0; i <= n[0]; i++, X += 3)
        place_node(grid, n, (const int32_t[3]){i, j, k}, X);
  int32_t row = n[0] + 1, layer = row * (n[1] + 1), layers = n[2] ? n[2] : 1;
  int32_t *node = mesh->elements, entries = p->per_cell * (int32_t)p->type;
  for (int32_t k = 0; k < layers; k++)
    for (int32_t j = 0; j < n[1]; j++)
      for (int32_t i = 0; i < n[0]; i++) {
        int32_t base = i + row * j + layer * k;
        const int32_t *corner = p->corners + (p->mirrored ? (i + j + k) % 2 * entries : 0);
        for (int32_t c = 0; c < entries; c++)
          *node++ = base + (corner[c] & 1) + row * (corner[c] >> 1 & 1) + layer * (corner[c] >> 2);
      }
  return add_face_sets(mesh, n, NULL);
}

static eb_error generate(const eb_grid *grid, const pattern *p, eb_mesh **out) {
  *out = NULL;
  bool planar = p->type == EB_TRIANGLE;
  EB_TRY(check_grid(grid, planar ? 2 : 3, p->per_cell));
  int32_t n[3] = {grid->cubes[0], grid->cubes[1], planar ? 0 : grid->cubes[2]};
  EB_TRY(eb_mesh_create(p->type, (n[0] + 1) * (n[1] + 1) * (n[2] + 1),
                        p->per_cell * n[0] * n[1] * (planar ? 1 : n[2]), out));
  eb_error error = fill_grid(grid, n, p, *out);
  if (error) {
    eb_mesh_destroy(*out);
    *out = NULL;
  }
  return error;
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

/* ---- a piece of a grid ----------------------------------------------------------------------- */

/* The lattice of nodes around the box of a piece: one layer more on every side where there is one.
 */
typedef struct window {
  const int32_t *n, *lo, *hi;    /* cubes of the grid; the box */
  int32_t first[3], count[3];    /* of the lattice */
  int32_t *local;                /* of its nodes: which of the piece, or -1 */
  int32_t corner[EB_HEXAHEDRON]; /* of a cube, from its lowest corner on in the lattice */
  const pattern *pattern;
} window;

static void open_window(window *w) {
  for (int d = 0; d < 3; d++) {
    int32_t first = w->lo[d] > 0 ? w->lo[d] - 1 : 0,
            end = w->hi[d] <= w->n[d] ? w->hi[d] + 1 : w->hi[d];
    w->first[d] = first;
    w->count[d] = end - first;
  }
  for (int32_t c = 0; c < EB_HEXAHEDRON; c++)
    w->corner[c] = (c & 1) + w->count[0] * ((c >> 1 & 1) + w->count[1] * (c >> 2));
}

/* Calls `visit` for every element that has a node in the box: its number in the grid, and its
 * lattice nodes. */
typedef void visit_element(void *context, const window *w, int32_t number, const int32_t *node);

static void visit_elements(const window *w, visit_element *visit, void *context) {
  const pattern *p = w->pattern;
  int32_t node[EB_HEXAHEDRON], type = (int32_t)p->type;
  for (int32_t k = 0; k + 1 < w->count[2]; k++)
    for (int32_t j = 0; j + 1 < w->count[1]; j++)
      for (int32_t i = 0; i + 1 < w->count[0]; i++) {
        const int32_t at[3] = {w->first[0] + i, w->first[1] + j, w->first[2] + k};
        int32_t base = i + w->count[0] * (j + w->count[1] * k);
        int32_t cell = at[0] + w->n[0] * (at[1] + w->n[1] * at[2]);
        for (int32_t e = 0; e < p->per_cell; e++) {
          bool inside = false;
          for (int32_t a = 0; a < type; a++) {
            int32_t c = p->corners[e * type + a];
            bool in = true;
            for (int d = 0; d < 3; d++) {
              int32_t index = at[d] + (c >> d & 1);
              in = in && index >= w->lo[d] && index < w->hi[d];
            }
            inside = inside || in;
            node[a] = base + w->corner[c];
          }
          if (inside) visit(context, w, p->per_cell * cell + e, node);
        }
      }
}

static void count_element(void *context, const window *w, int32_t number, const int32_t *node) {
  (void)number;
  for (int32_t a = 0; a < (int32_t)w->pattern->type; a++) w->local[node[a]] = 0;
  ++*(int32_t *)context;
}

static void fill_element(void *context, const window *w, int32_t number, const int32_t *node) {
  eb_piece *piece = context;
  eb_mesh *mesh = piece->mesh;
  int32_t type = (int32_t)mesh->type, e = mesh->element_count++;
  for (int32_t a = 0; a < type; a++)
    mesh->elements[(size_t)e * (size_t)type + (size_t)a] = w->local[node[a]];
  piece->element[e] = number;
}

/* Numbers the nodes that are in use, in the order of the grid; returns how many. */
static int32_t number_nodes(const window *w) {
  int32_t count = 0;
  for (int32_t v = 0; v < w->count[0] * w->count[1] * w->count[2]; v++)
    if (w->local[v] >= 0) w->local[v] = count++;
  return count;
}

static void place_nodes(const eb_grid *grid, const window *w, eb_piece *piece) {
  const int32_t *local = w->local, *n = w->n;
  for (int32_t k = 0; k < w->count[2]; k++)
    for (int32_t j = 0; j < w->count[1]; j++)
      for (int32_t i = 0; i < w->count[0]; i++, local++) {
        const int32_t at[3] = {w->first[0] + i, w->first[1] + j, w->first[2] + k};
        if (*local < 0) continue;
        piece->node[*local] = at[0] + (n[0] + 1) * (at[1] + (n[1] + 1) * at[2]);
        place_node(grid, n, at, piece->mesh->X + 3 * (size_t)*local);
      }
}

static eb_error fill_piece(const eb_grid *grid, window *w, eb_piece *out) {
  int64_t lattice = 1;
  int32_t elements = 0;
  for (int d = 0; d < 3; d++) lattice *= w->count[d];
  EB_TRY(EB_NEW(w->local, lattice));
  for (int64_t v = 0; v < lattice; v++) w->local[v] = -1;
  visit_elements(w, count_element, &elements);
  EB_TRY(eb_mesh_create(w->pattern->type, number_nodes(w), elements, &out->mesh));
  EB_TRY(EB_NEW(out->node, out->mesh->node_count));
  EB_TRY(EB_NEW(out->element, elements));
  place_nodes(grid, w, out);
  out->mesh->element_count = 0;
  visit_elements(w, fill_element, out);
  return add_face_sets(out->mesh, w->n, out->node);
}

eb_error eb_generate_tets6_piece(const eb_grid *grid, const int32_t lo[3], const int32_t hi[3],
                                 eb_piece *out) {
  const pattern tets6 = {EB_TETRAHEDRON, 6, false, kuhn[0]};
  *out = (eb_piece){0};
  EB_TRY(check_grid(grid, 3, tets6.per_cell));
  window w = {.n = grid->cubes, .lo = lo, .hi = hi, .pattern = &tets6};
  open_window(&w);
  eb_error error = fill_piece(grid, &w, out);
  free(w.local);
  if (error) eb_piece_clear(out);
  return error;
}

void eb_piece_clear(eb_piece *piece) {
  eb_mesh_destroy(piece->mesh);
  free(piece->node);
  free(piece->element);
  *piece = (eb_piece){0};
}

/* Cross-section s has the nodes 4 s + c with c = (upper, outer) bits: axes (z, radius, angle) are
 * right-handed in this order. A cell is convex with planar faces, so Kuhn's tetrahedra are
 * positive. */
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
  const double turn = 2 * pi;
  for (int32_t s = 0; s < around; s++) {
    double angle = turn * s / around;
    for (int32_t c = 0; c < 4; c++) {
      double *X = (*out)->X + 3 * (4 * (size_t)s + (size_t)c);
      double r = radius + (c >> 1 ? 0.5 : -0.5) * section;
      X[0] = r * cos(angle);
      X[1] = r * sin(angle);
      X[2] = (c & 1 ? 0.5 : -0.5) * section;
    }
    for (int32_t i = 0; i < 24; i++) {
      int32_t corner = kuhn[i / 4][i % 4];
      (*out)->elements[24 * (size_t)s + (size_t)i] =
          4 * ((s + (corner >> 2)) % around) + (corner & 3);
    }
  }
  return EB_OK;
}

/* ---- surfaces -------------------------------------------------------------------------------- */

static eb_error check_size(const char *what, double size) {
  if (size > 0 && isfinite(size)) return EB_OK;
  return EB_ERROR(EB_ERR_USAGE, "the %s of a surface is %g m; it must be positive and finite", what,
                  size);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Corner c of a box has the bits of c as its place along x, y and z. Outward; the top last. */
static const int32_t box_faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};

static int32_t *add_quad(int32_t *triangle, int32_t a, int32_t b, int32_t c, int32_t d) {
  const int32_t corner[6] = {a, b, c, a, c, d};
  for (int i = 0; i < 6; i++) *triangle++ = corner[i];
  return triangle;
}

static void place_corners(const double lo[3], const double hi[3], double *X) {
  for (int c = 0; c < 8; c++)
    for (int d = 0; d < 3; d++) X[3 * c + d] = c >> d & 1 ? hi[d] : lo[d];
}

eb_error eb_surface_box(const double half[3], eb_surface **out) {
  *out = NULL;
  for (int d = 0; d < 3; d++) EB_TRY(check_size("half size", half[d]));
  EB_TRY(eb_surface_create(8, 12, out));
  place_corners((const double[3]){-half[0], -half[1], -half[2]}, half, (*out)->X);
  int32_t *triangle = (*out)->triangles;
  for (int f = 0; f < 6; f++) {
    const int32_t *q = box_faces[f];
    triangle = add_quad(triangle, q[0], q[1], q[2], q[3]);
  }
  return EB_OK;
}

eb_error eb_surface_cup(const double half[2], double height, double wall, eb_surface **out) {
  *out = NULL;
  for (int d = 0; d < 2; d++) EB_TRY(check_size("half size", half[d]));
  EB_TRY(check_size("height", height));
  EB_TRY(check_size("wall", wall));
  EB_TRY(eb_surface_create(16, 28, out));
  const double outer[3] = {half[0] + wall, half[1] + wall, height};
  const double inner[3] = {half[0], half[1], height};
  place_corners((const double[3]){-outer[0], -outer[1], -wall}, outer, (*out)->X);
  place_corners((const double[3]){-inner[0], -inner[1], 0}, inner, (*out)->X + 24);
  int32_t *triangle = (*out)->triangles;
  for (int f = 0; f < 5; f++) { /* the hollow's faces look into it */
    const int32_t *q = box_faces[f];
    triangle = add_quad(triangle, q[0], q[1], q[2], q[3]);
    triangle = add_quad(triangle, 8 + q[3], 8 + q[2], 8 + q[1], 8 + q[0]);
  }
  for (int k = 0; k < 4; k++) { /* the rim */
    int32_t a = box_faces[5][k], b = box_faces[5][(k + 1) % 4];
    triangle = add_quad(triangle, a, b, b + 8, a + 8);
  }
  return EB_OK;
}

/* ---- surfaces of revolution ------------------------------------------------------------------ */

/* Point k of the profile makes one vertex on the axis and `around` elsewhere. */
typedef struct sweep {
  const double (*profile)[2];
  int32_t count, around;
  bool poles;
} sweep;

static bool is_pole(const sweep *s, int32_t k) {
  return s->poles && (k == 0 || k == s->count - 1);
}

static int32_t vertex_of(const sweep *s, int32_t k, int32_t j) {
  if (!s->poles) return k % s->count * s->around + j % s->around;
  if (k == 0) return 0;
  return 1 + (k - 1) * s->around + (is_pole(s, k) ? 0 : j % s->around);
}

eb_error eb_surface_revolve(const double (*profile)[2], int32_t count, int32_t around,
                            eb_surface **out) {
  *out = NULL;
  sweep s = {profile, count, around, false};
  if (count < 3 || around < 3 || (int64_t)count * around > INT32_MAX / 6)
    return EB_ERROR(
        EB_ERR_USAGE,
        "a section of %d points swept in %d steps is no surface; both must be 3 or more", count,
        around);
  s.poles = profile[0][0] == 0 && profile[count - 1][0] == 0;
  for (int32_t k = 0; k < count; k++)
    if (!(is_pole(&s, k) || profile[k][0] > 0) || !isfinite(profile[k][0]) ||
        !isfinite(profile[k][1]))
      return EB_ERROR(EB_ERR_USAGE,
                      "point %d of a swept section is (%g, %g) m; it must be finite and off the "
                      "axis, unless both ends are on it",
                      k, profile[k][0], profile[k][1]);
  int32_t vertices = s.poles ? (count - 2) * around + 2 : count * around;
  EB_TRY(eb_surface_create(vertices, 2 * around * (s.poles ? count - 2 : count), out));
  double *X = (*out)->X;
  for (int32_t k = 0; k < count; k++)
    for (int32_t j = 0; j < (is_pole(&s, k) ? 1 : around); j++, X += 3) {
      double angle = 2 * pi * j / around;
      X[0] = profile[k][0] * cos(angle);
      X[1] = profile[k][0] * sin(angle);
      X[2] = profile[k][1];
    }
  int32_t *triangle = (*out)->triangles;
  for (int32_t k = 0; k + (s.poles ? 1 : 0) < count; k++)
    for (int32_t j = 0; j < around; j++) {
      int32_t a = vertex_of(&s, k, j), b = vertex_of(&s, k, j + 1);
      int32_t c = vertex_of(&s, k + 1, j + 1), d = vertex_of(&s, k + 1, j);
      const int32_t lower[3] = {a, b, c}, upper[3] = {a, c, d};
      for (int i = 0; a != b && i < 3; i++) *triangle++ = lower[i];
      for (int i = 0; c != d && i < 3; i++) *triangle++ = upper[i];
    }
  return EB_OK;
}

eb_error eb_surface_cylinder(double radius, double half_length, int32_t around, eb_surface **out) {
  *out = NULL;
  EB_TRY(check_size("radius", radius));
  EB_TRY(check_size("half length", half_length));
  const double profile[4][2] = {
      {0, -half_length}, {radius, -half_length}, {radius, half_length}, {0, half_length}};
  return eb_surface_revolve(profile, 4, around, out);
}

eb_error eb_surface_sphere(double radius, int32_t rows, int32_t around, eb_surface **out) {
  double(*profile)[2];
  *out = NULL;
  EB_TRY(check_size("radius", radius));
  if (rows < 2 || rows > 10000)
    return EB_ERROR(EB_ERR_USAGE, "a sphere needs 2 to 10000 rows of faces, not %d", rows);
  EB_TRY(EB_NEW(profile, rows + 1));
  for (int32_t k = 0; k <= rows; k++) {
    double angle = -pi / 2 + pi * k / rows;
    profile[k][0] = k == 0 || k == rows ? 0 : radius * cos(angle);
    profile[k][1] = radius * sin(angle);
  }
  eb_error error = eb_surface_revolve((const double(*)[2])profile, rows + 1, around, out);
  free(profile);
  return error;
}

void eb_surface_move(eb_surface *surface, const double rotation[9], const double shift[3]) {
  for (size_t v = 0; v < (size_t)surface->vertex_count; v++) {
    double *X = surface->X + 3 * v;
    const double from[3] = {X[0], X[1], X[2]};
    if (rotation) eb_turn3(rotation, from, X);
    eb_add3(1, shift, X);
  }
}

void eb_generate_jitter(const eb_grid *grid, double share, eb_mesh *mesh) {
  uint64_t random = 1;
  for (int64_t k = 0; k < 3 * (int64_t)mesh->node_count; k++) {
    int d = (int)(k % 3);
    double edge = grid->size[d] / grid->cubes[d], at = (mesh->X[k] - grid->origin[d]) / edge;
    double shift = eb_random_uniform(&random, -share, share);
    if (at > 0.5 && at < grid->cubes[d] - 0.5) mesh->X[k] += shift * edge;
  }
}
