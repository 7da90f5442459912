/* The trilinear map in monomials,
 *   x(xi) = c0 + c1 r + c2 s + c3 t + c4 r s + c5 s t + c6 t r + c7 r s t,   xi = (r, s, t),
 * costs seven products an axis, and its derivatives come from the same terms. Newton's method
 * solves x(xi) = x; a parallelepiped has c4 .. c7 = 0 and takes one update.
 *
 * Elements are looked up in a grid of cells over the mesh, each with the elements whose boxes reach
 * into it, in ascending order. */
#include "problems/mesh/embedding.h"

#include <float.h>
#include <string.h>

#include "problems/base/memory.h"

enum { MONOMIALS = 8 };

static const double TOLERANCE = 1e-10; /* of an edge */
/* What natural coordinates of points in an element may be beyond it: several times the tolerance.
 */
static const double BEYOND = 1e-9;

static const double hexahedron_corner[EB_HEXAHEDRON][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1},
                                                           {-1, 1, -1},  {-1, -1, 1}, {1, -1, 1},
                                                           {1, 1, 1},    {-1, 1, 1}};

/* ---- the inverse map ------------------------------------------------------------------------- */

/* d := inv([a b c]) r by Cramer's rule. */
EB_INLINE void solve_columns(eb_v4 (*column)[3], const eb_v4 r[3], eb_v4 d[3]) {
  eb_v4 cross[3][3];
  for (int k = 0; k < 3; k++) eb_v4_cross3(column[(k + 1) % 3], column[(k + 2) % 3], cross[k]);
  eb_v4 inverse = 1 / eb_v4_dot3(column[0], cross[0]);
  for (int k = 0; k < 3; k++) d[k] = eb_v4_dot3(cross[k], r) * inverse;
}

static void set_monomials(const eb_v4 (*corner)[3], eb_v4 c[MONOMIALS][3]) {
  for (int i = 0; i < 3; i++) {
    for (int m = 0; m < MONOMIALS; m++) c[m][i] = eb_v4_set(0);
    for (int a = 0; a < EB_HEXAHEDRON; a++) {
      double r = hexahedron_corner[a][0], s = hexahedron_corner[a][1], t = hexahedron_corner[a][2];
      const double sign[MONOMIALS] = {1, r, s, t, r * s, s * t, t * r, r * s * t};
      for (int m = 0; m < MONOMIALS; m++) c[m][i] += 0.125 * sign[m] * corner[a][i];
    }
  }
}

/* rest := x - x(xi), column: its derivatives. */
EB_INLINE void map_hexahedra(const eb_v4 c[MONOMIALS][3], const eb_v4 offset[3], const eb_v4 xi[3],
                             eb_v4 rest[3], eb_v4 column[3][3]) {
  eb_v4 r = xi[0], s = xi[1], t = xi[2];
  for (int i = 0; i < 3; i++) {
    eb_v4 along_t = c[3][i] + s * c[5][i] + r * (c[6][i] + s * c[7][i]);
    eb_v4 along_s = c[2][i] + r * c[4][i];
    rest[i] = offset[i] - (r * c[1][i] + s * along_s + t * along_t);
    column[0][i] = c[1][i] + s * c[4][i] + t * (c[6][i] + s * c[7][i]);
    column[1][i] = along_s + t * (c[5][i] + r * c[7][i]);
    column[2][i] = along_t;
  }
}

/* Lanes that have arrived stay as they are. */
static eb_v4 embed_hexahedra(const eb_v4 (*corner)[3], const eb_v4 x[3], eb_v4 xi[3]) {
  eb_v4 c[MONOMIALS][3], offset[3], rest[3], column[3][3], d[3], updates = {0}, size2 = {0};
  set_monomials(corner, c);
  for (int k = 1; k <= 3; k++) size2 += eb_v4_dot3(c[k], c[k]);
  eb_v4 enough = TOLERANCE * TOLERANCE * 4 / 3 * size2; /* of the edge of a cube */
  for (int i = 0; i < 3; i++) {
    offset[i] = x[i] - c[0][i];
    xi[i] = eb_v4_set(0);
  }
  for (int k = 0;; k++) {
    map_hexahedra((const eb_v4(*)[3])c, offset, xi, rest, column);
    eb_m4 arrived = eb_v4_dot3(rest, rest) <= enough;
    if (eb_m4_all(arrived)) return updates;
    if (k == EB_EMBEDDING_UPDATES) {
      for (int i = 0; i < 3; i++) xi[i] = eb_v4_select(arrived, xi[i], eb_v4_set(NAN));
      return eb_v4_select(arrived, updates, updates + 1);
    }
    solve_columns(column, rest, d);
    for (int i = 0; i < 3; i++) xi[i] = eb_v4_select(arrived, xi[i], xi[i] + d[i]);
    updates = eb_v4_select(arrived, updates, updates + 1);
  }
}

eb_v4 eb_embed4(int nodes, const eb_v4 (*corner)[3], const eb_v4 x[3], eb_v4 xi[3]) {
  if (nodes == EB_HEXAHEDRON) return embed_hexahedra(corner, x, xi);
  eb_v4 edge[3][3], offset[3];
  for (int i = 0; i < 3; i++) {
    for (int a = 0; a < 3; a++) edge[a][i] = corner[a + 1][i] - corner[0][i];
    offset[i] = x[i] - corner[0][i];
  }
  solve_columns(edge, offset, xi);
  return eb_v4_set(1);
}

void eb_embedding_shapes(int nodes, const double xi[3], double *N) {
  if (nodes == EB_TETRAHEDRON) {
    N[0] = 1 - xi[0] - xi[1] - xi[2];
    for (int a = 1; a < EB_TETRAHEDRON; a++) N[a] = xi[a - 1];
    return;
  }
  for (int a = 0; a < EB_HEXAHEDRON; a++) {
    N[a] = 0.125;
    for (int i = 0; i < 3; i++) N[a] *= 1 + hexahedron_corner[a][i] * xi[i];
  }
}

/* ---- the grid -------------------------------------------------------------------------------- */

typedef struct grid {
  double low[3], cell[3]; /* m; a cell has this size */
  int32_t size[3];
  int32_t *start, *element; /* cells + 1; of each */
} grid;

static void find_box(const eb_mesh *mesh, int32_t e, double lo[3], double hi[3]) {
  for (int d = 0; d < 3; d++) {
    lo[d] = DBL_MAX;
    hi[d] = -DBL_MAX;
    for (size_t a = 0; a < mesh->type; a++) {
      double at = mesh->X[3 * (size_t)mesh->elements[(size_t)e * mesh->type + a] + (size_t)d];
      lo[d] = at < lo[d] ? at : lo[d];
      hi[d] = at > hi[d] ? at : hi[d];
    }
    double margin = BEYOND * (hi[d] - lo[d]);
    lo[d] -= margin;
    hi[d] += margin;
  }
}

/* The cell along axis d; those beyond the grid count to its rim. */
static int32_t cell_of(const grid *g, double at, int d) {
  double cell = (at - g->low[d]) / g->cell[d];
  return cell < 0 ? 0 : cell >= g->size[d] ? g->size[d] - 1 : (int32_t)cell;
}

static int32_t cell_count(const grid *g) {
  return g->size[0] * g->size[1] * g->size[2];
}

/* Some two elements a cell. */
static void set_cells(const eb_mesh *mesh, grid *g) {
  double high[3], volume = 1;
  eb_mesh_bounds(mesh->X, mesh->node_count, g->low, high);
  for (int d = 0; d < 3; d++) volume *= high[d] - g->low[d];
  double edge = cbrt(2 * volume / (mesh->element_count > 0 ? mesh->element_count : 1));
  for (int d = 0; d < 3; d++) {
    double cells = edge > 0 ? floor((high[d] - g->low[d]) / edge) : 1;
    g->size[d] = cells < 1 ? 1 : cells > 1000 ? 1000 : (int32_t)cells;
    g->cell[d] = (high[d] - g->low[d]) / g->size[d];
  }
}

/* Counts the elements of every cell into start[cell + 1] or, with `element`, puts them to
 * start[cell]
 * .., which then is where the next cell starts. */
static void visit_cells(const eb_mesh *mesh, grid *g, bool fill) {
  for (int32_t e = 0; e < mesh->element_count; e++) {
    double lo[3], hi[3];
    int32_t first[3], last[3];
    find_box(mesh, e, lo, hi);
    for (int d = 0; d < 3; d++) {
      first[d] = cell_of(g, lo[d], d);
      last[d] = cell_of(g, hi[d], d);
    }
    for (int32_t z = first[2]; z <= last[2]; z++)
      for (int32_t y = first[1]; y <= last[1]; y++)
        for (int32_t x = first[0]; x <= last[0]; x++) {
          int32_t cell = x + g->size[0] * (y + g->size[1] * z);
          if (fill)
            g->element[g->start[cell]++] = e;
          else
            g->start[cell + 1]++;
        }
  }
}

static eb_error fill_grid(const eb_mesh *mesh, grid *g) {
  set_cells(mesh, g);
  int32_t cells = cell_count(g);
  EB_TRY(EB_NEW(g->start, (size_t)cells + 1));
  visit_cells(mesh, g, false);
  for (int32_t c = 0; c < cells; c++) g->start[c + 1] += g->start[c];
  EB_TRY(EB_NEW(g->element, g->start[cells]));
  visit_cells(mesh, g, true);
  memmove(g->start + 1, g->start, (size_t)cells * sizeof *g->start);
  g->start[0] = 0;
  return EB_OK;
}

/* ---- points ---------------------------------------------------------------------------------- */

struct eb_embedding {
  int nodes;
  int32_t count;
  int32_t *element; /* count */
  int32_t *node;    /* count x A */
  double *weight;   /* count x A */
};

static bool is_inside(int nodes, const double xi[3]) {
  if (nodes == EB_TETRAHEDRON)
    return xi[0] >= -BEYOND && xi[1] >= -BEYOND && xi[2] >= -BEYOND &&
           xi[0] + xi[1] + xi[2] <= 1 + BEYOND;
  return fabs(xi[0]) <= 1 + BEYOND && fabs(xi[1]) <= 1 + BEYOND && fabs(xi[2]) <= 1 + BEYOND;
}

/* The first element of the cell that holds the point, four at a time; -1 for none. */
static int32_t find_element(const eb_mesh *mesh, const grid *g, const double point[3],
                            double xi[3]) {
  const int A = (int)mesh->type;
  int32_t cell = cell_of(g, point[0], 0) +
                 g->size[0] * (cell_of(g, point[1], 1) + g->size[1] * cell_of(g, point[2], 2));
  for (int32_t k = g->start[cell]; k < g->start[cell + 1]; k += EB_LANES) {
    eb_v4 corner[EB_HEXAHEDRON][3], at[3], found[3];
    int32_t count = g->start[cell + 1] - k < EB_LANES ? g->start[cell + 1] - k : EB_LANES;
    for (int l = 0; l < EB_LANES; l++) {
      const int32_t *node = mesh->elements + (int64_t)g->element[k + (l < count ? l : 0)] * A;
      for (int a = 0; a < A; a++)
        for (int i = 0; i < 3; i++) corner[a][i][l] = mesh->X[3 * (int64_t)node[a] + i];
    }
    for (int i = 0; i < 3; i++) at[i] = eb_v4_set(point[i]);
    eb_embed4(A, (const eb_v4(*)[3])corner, at, found);
    for (int l = 0; l < count; l++) {
      for (int i = 0; i < 3; i++) xi[i] = found[i][l];
      if (is_inside(A, xi)) return g->element[k + l];
    }
  }
  return -1;
}

static void place_points(const eb_mesh *mesh, const grid *g, const double *points,
                         eb_embedding *out) {
#pragma omp parallel for schedule(static)
  for (int32_t p = 0; p < out->count; p++) {
    double xi[3];
    const size_t at = (size_t)p * (size_t)out->nodes;
    int32_t e = out->element[p] = find_element(mesh, g, points + 3 * (int64_t)p, xi);
    if (e < 0) continue;
    eb_embedding_shapes(out->nodes, xi, out->weight + at);
    memcpy(out->node + at, mesh->elements + (size_t)e * mesh->type, mesh->type * sizeof *out->node);
  }
}

static eb_error build(const eb_mesh *mesh, int32_t count, const double *points, grid *g,
                      eb_embedding *out) {
  out->nodes = (int)mesh->type;
  out->count = count;
  EB_TRY(EB_NEW(out->element, count));
  EB_TRY(EB_NEW(out->node, (int64_t)count * out->nodes));
  EB_TRY(EB_NEW(out->weight, (int64_t)count * out->nodes));
  EB_TRY(fill_grid(mesh, g));
  place_points(mesh, g, points, out);
  return EB_OK;
}

eb_error eb_embedding_create(const eb_mesh *mesh, int32_t count, const double *points,
                             eb_embedding **out) {
  eb_embedding *embedding;
  grid g = {.start = NULL};
  *out = NULL;
  if (mesh->type != EB_TETRAHEDRON && mesh->type != EB_HEXAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "points are embedded in tetrahedra and hexahedra; the mesh has elements of %d "
                    "nodes",
                    (int)mesh->type);
  EB_TRY(EB_NEW(embedding, 1));
  eb_error error = build(mesh, count, points, &g, embedding);
  free(g.start);
  free(g.element);
  if (error) {
    eb_embedding_destroy(embedding);
    return error;
  }
  *out = embedding;
  return EB_OK;
}

void eb_embedding_destroy(eb_embedding *embedding) {
  if (!embedding) return;
  free(embedding->element);
  free(embedding->node);
  free(embedding->weight);
  free(embedding);
}

const int32_t *eb_embedding_elements(const eb_embedding *embedding) {
  return embedding->element;
}

void eb_embedding_move(const eb_embedding *e, const double *x, double *out) {
#pragma omp parallel for schedule(static)
  for (int32_t p = 0; p < e->count; p++) {
    if (e->element[p] < 0) continue;
    for (int i = 0; i < 3; i++) {
      double sum = 0;
      for (int a = 0; a < e->nodes; a++) {
        const int64_t at = (int64_t)p * e->nodes + a;
        sum += e->weight[at] * x[3 * (int64_t)e->node[at] + i];
      }
      out[3 * (int64_t)p + i] = sum;
    }
  }
}
