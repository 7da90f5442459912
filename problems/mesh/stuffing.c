/* Isosurface stuffing (Labelle and Shewchuk 2007), uniform. A body-centred cubic lattice is cut by
 * the surface, every tetrahedron of the lattice is filled by its stencil (stencil.c),
 * and small loose pieces are dropped. Linear in the number of lattice points. */
#include "problems/mesh/stuffing.h"

#include <math.h>
#include <stddef.h>

#include "problems/base/memory.h"
#include "problems/mesh/disjoint.h"
#include "problems/mesh/faces.h"
#include "problems/mesh/sdf.h"
#include "problems/mesh/stencil.h"

/* ---- the lattice ----------------------------------------------------------------------------- */

/* The body-centred cubic lattice of isosurface stuffing: signs, cut points, warped points. */

/* Lattices up to this many points are not worth a team of threads. */
enum { EB_LATTICE_SERIAL = 30000 };

/* Cell (i, j, k) has the index c = i + size[0] (j + size[1] k) and owns two points: 2 c at its
 * corner origin + spacing (i, j, k), and 2 c + 1 in its middle. Every point has 6 neighbours of its
 * own kind (long edges, one spacing) and 8 of the other (short edges, sqrt(3)/2 spacings). */
typedef struct eb_lattice {
  double origin[3], spacing;
  int32_t size[3];
  int32_t stride[3]; /* cells from one cell to the next along an axis */
  int32_t points;    /* 2 size[0] size[1] size[2] */
  double *value;     /* signed distance; far from the surface only its sign is right */
  int8_t *sign;      /* +1 inside, 0 on the surface, -1 outside */
  uint16_t *mask;    /* the point's own edges that the surface cuts, a bit each */
  int32_t *first;    /* the number of the first of their cut points */
  int32_t *snap;     /* the cut point that a point was warped to, or -1 */
  int32_t cuts;
  int32_t *owner; /* cuts: the point that owns the edge */
  double *along;  /* cuts: position on the edge, 0 at the owner, 1 at the other end */
  double *X;      /* cuts x 3, m */
} eb_lattice;

/* Own edges of a point, by their bit in `mask`: 0 to 2 the long edges along +x, +y, +z; for corners
 * also 3 to 10, the short edges to the middles of the cells at -(b & 1, b >> 1 & 1, b >> 2), b =
 * bit - 3. `near` marks every point at which a cut edge ends. */
enum { LONG_EDGES = 3, SHORT_EDGES = 8, OWN_EDGES = LONG_EDGES + SHORT_EDGES };
static const uint16_t near_surface = 1u << 15;

/* Free cells between the box and the rim of the lattice: every neighbour of a point in the box
 * exists. */
enum { MARGIN = 2 };
/* Signed distances change by no more than this times the way (sdf.h). */
static const double LIPSCHITZ = 1.2;
static const double MAX_POINTS = 2e8;

static int middle(int32_t point) {
  return point & 1;
}

/* From a point to the other end of its own edge, in points. */
static int32_t edge_offset(const eb_lattice *l, int edge) {
  if (edge < LONG_EDGES) return 2 * l->stride[edge];
  int b = edge - LONG_EDGES;
  return 1 - 2 * ((b & 1) * l->stride[0] + (b >> 1 & 1) * l->stride[1] + (b >> 2) * l->stride[2]);
}

static void cell_of(const eb_lattice *l, int32_t point, int32_t at[3]) {
  int32_t cell = point / 2;
  at[0] = cell % l->size[0];
  at[1] = cell / l->stride[1] % l->size[1];
  at[2] = cell / l->stride[2];
}

static void rest_place(const eb_lattice *l, int32_t point, double out[3]) {
  int32_t at[3];
  cell_of(l, point, at);
  for (int d = 0; d < 3; d++)
    out[d] = l->origin[d] + l->spacing * (at[d] + (middle(point) ? 0.5 : 0));
}

/* ---- evaluation: blocks that the surface cannot reach are settled by one evaluation ---------- */

typedef struct block {
  int32_t lo[3], hi[3]; /* cells lo <= i < hi */
} block;

static double distance_at(const eb_solid *solid, const double p[3]) {
  return solid->distance(solid->context, p);
}

/* Signed distances at the points of a block. One evaluation in its middle settles all of them when
 * neither they nor their neighbours can lie on the other side of the surface; else the block is
 * halved along its longest side, down to two cells. */
static void evaluate_block(eb_lattice *l, const eb_solid *solid, const block *b) {
  double center[3], square = 0;
  int axis = 0;
  for (int d = 0; d < 3; d++) {
    double half = 0.5 * (b->hi[d] - b->lo[d] - 0.5);
    center[d] = l->origin[d] + l->spacing * (b->lo[d] + half);
    square += half * half;
    if (b->hi[d] - b->lo[d] > b->hi[axis] - b->lo[axis]) axis = d;
  }
  double value = distance_at(solid, center);
  bool settled = fabs(value) > LIPSCHITZ * l->spacing * (sqrt(square) + 1);
  if (!settled && b->hi[axis] - b->lo[axis] > 2) {
    block half[2] = {*b, *b};
    half[0].hi[axis] = half[1].lo[axis] = (b->lo[axis] + b->hi[axis]) / 2;
    evaluate_block(l, solid, &half[0]);
    evaluate_block(l, solid, &half[1]);
    return;
  }
  for (int32_t k = b->lo[2]; k < b->hi[2]; k++)
    for (int32_t j = b->lo[1]; j < b->hi[1]; j++)
      for (int32_t i = b->lo[0]; i < b->hi[0]; i++) {
        int32_t corner = 2 * (i + l->stride[1] * j + l->stride[2] * k);
        for (int32_t point = corner; point < corner + 2; point++) {
          double p[3];
          rest_place(l, point, p);
          l->value[point] = settled ? value : distance_at(solid, p);
        }
      }
}

static void evaluate(eb_lattice *l, const eb_solid *solid) {
  enum { EDGE = 16 };
  int32_t blocks[3], total = 1;
  for (int d = 0; d < 3; d++) total *= blocks[d] = (l->size[d] + EDGE - 1) / EDGE;
#pragma omp parallel for schedule(dynamic) if (l->points > EB_LATTICE_SERIAL)
  for (int32_t n = 0; n < total; n++) {
    int32_t at[3] = {n % blocks[0], n / blocks[0] % blocks[1], n / blocks[0] / blocks[1]};
    block b;
    for (int d = 0; d < 3; d++) {
      b.lo[d] = at[d] * EDGE;
      b.hi[d] = b.lo[d] + EDGE < l->size[d] ? b.lo[d] + EDGE : l->size[d];
    }
    evaluate_block(l, solid, &b);
  }
}

/* Whether the point lies in one of the `width` outermost layers of cells. */
static bool on_rim(const eb_lattice *l, int32_t point, int32_t width) {
  int32_t at[3];
  cell_of(l, point, at);
  for (int d = 0; d < 3; d++)
    if (at[d] < width || at[d] >= l->size[d] - width) return true;
  return false;
}

static eb_error assign_signs(eb_lattice *l) {
  for (int32_t point = 0; point < l->points; point++) {
    double value = l->value[point], p[3];
    l->sign[point] = value < 0 ? 1 : value > 0 ? -1 : 0;
    l->snap[point] = -1;
    if (isfinite(value) && (value > 0 || !on_rim(l, point, MARGIN))) continue;
    rest_place(l, point, p);
    if (!isfinite(value))
      return EB_ERROR(EB_ERR_INVALID, "the signed distance at (%g, %g, %g) is %g", p[0], p[1], p[2],
                      value);
    return EB_ERROR(EB_ERR_INVALID,
                    "the solid reaches (%g, %g, %g), beyond its box; make the box larger", p[0],
                    p[1], p[2]);
  }
  return EB_OK;
}

/* ---- cut points ------------------------------------------------------------------------------ */

/* Marks the cut edges; numbers their cut points by owner, then by bit. */
static void number_cuts(eb_lattice *l) {
  for (int32_t point = 0; point < l->points; point++) {
    l->first[point] = l->cuts;
    if (l->sign[point] == 0 || on_rim(l, point, 1)) continue;
    for (int edge = 0; edge < (middle(point) ? LONG_EDGES : OWN_EDGES); edge++) {
      int32_t end = point + edge_offset(l, edge);
      if (l->sign[point] * l->sign[end] >= 0) continue;
      l->mask[point] |= (uint16_t)(1u << edge | near_surface);
      l->mask[end] |= near_surface;
      l->cuts++;
    }
  }
}

/* The root of the distance on the segment p-q, as a fraction, by the Illinois variant of regula
 * falsi (Dowell and Jarratt 1971): the value kept at one end twice in a row is halved. */
static double find_root(const eb_solid *solid, const double p[3], const double q[3], double at_p,
                        double at_q, double tolerance) {
  enum { MOST_STEPS = 40 };
  double lo = 0, hi = 1, t = 0.5;
  int kept = 0;
  for (int step = 0; step < MOST_STEPS && hi - lo > 1e-9; step++) {
    double x[3];
    t = lo + (hi - lo) * at_p / (at_p - at_q);
    for (int d = 0; d < 3; d++) x[d] = p[d] + t * (q[d] - p[d]);
    double value = distance_at(solid, x);
    if (fabs(value) <= tolerance) break;
    if ((value < 0) == (at_p < 0)) {
      lo = t;
      at_p = value;
      if (kept == 1) at_q *= 0.5;
      kept = 1;
    } else {
      hi = t;
      at_q = value;
      if (kept == -1) at_p *= 0.5;
      kept = -1;
    }
  }
  return t;
}

/* Fails where the distance is not finite on the way. */
static eb_error place_cuts(eb_lattice *l, const eb_solid *solid) {
#pragma omp parallel for schedule(dynamic, 4096) if (l->points > EB_LATTICE_SERIAL)
  for (int32_t point = 0; point < l->points; point++) {
    int32_t cut = l->first[point];
    for (int edge = 0; edge < OWN_EDGES && l->mask[point]; edge++) {
      if (!(l->mask[point] >> edge & 1)) continue;
      int32_t end = point + edge_offset(l, edge);
      double p[3], q[3];
      rest_place(l, point, p);
      rest_place(l, end, q);
      double t = find_root(solid, p, q, l->value[point], l->value[end], 1e-6 * l->spacing);
      l->owner[cut] = point;
      l->along[cut] = t;
      for (int d = 0; d < 3; d++) l->X[3 * (size_t)cut + (size_t)d] = p[d] + t * (q[d] - p[d]);
      cut++;
    }
  }
  for (int32_t cut = 0; cut < l->cuts; cut++) {
    double p[3];
    if (isfinite(l->along[cut])) continue;
    rest_place(l, l->owner[cut], p);
    return EB_ERROR(EB_ERR_INVALID, "the signed distance is not finite near (%g, %g, %g)", p[0],
                    p[1], p[2]);
  }
  return EB_OK;
}

static int32_t own_cut(const eb_lattice *l, int32_t owner, int edge) {
  unsigned below = l->mask[owner] & ((1u << edge) - 1);
  return l->first[owner] + __builtin_popcount(below);
}

/* The number of the cut point between two neighbours of opposite sign. */
static int32_t lattice_cut(const eb_lattice *l, int32_t a, int32_t b) {
  int32_t owner = middle(a) == middle(b) ? (a < b ? a : b) : middle(a) ? b : a;
  int32_t offset = a + b - 2 * owner;
  int edge = 0;
  while (edge_offset(l, edge) != offset) edge++;
  return own_cut(l, owner, edge);
}

/* ---- warping --------------------------------------------------------------------------------- */

/* The nearest cut point that violates the point, or -1. Distances in spacings. */
static int32_t nearest_violating(const eb_lattice *l, int32_t point) {
  static const double threshold[2] = {EB_STENCIL_WARP_LONG, EB_STENCIL_WARP_SHORT};
  static const double length[2] = {1, 0.86602540378443865};
  double nearest = 2;
  int32_t best = -1;
  for (int n = 0; n < 2 * LONG_EDGES + SHORT_EDGES; n++) {
    bool is_short = n >= 2 * LONG_EDGES, owned = is_short ? !middle(point) : n < LONG_EDGES;
    int edge = is_short ? n - LONG_EDGES : n % LONG_EDGES;
    int32_t end = point + (owned ? 1 : -1) * edge_offset(l, edge);
    if (l->sign[point] * l->sign[end] >= 0) continue;
    int32_t cut = own_cut(l, owned ? point : end, edge);
    double t = owned ? l->along[cut] : 1 - l->along[cut];
    if (t >= threshold[is_short] || t * length[is_short] >= nearest) continue;
    nearest = t * length[is_short];
    best = cut;
  }
  return best;
}

/* In the order of the points: a warped point takes the sign 0, which discards the cut points on its
 * other edges before its later neighbours look. */
static void warp(eb_lattice *l) {
  for (int32_t point = 0; point < l->points; point++) {
    if (!(l->mask[point] & near_surface)) continue;
    l->snap[point] = nearest_violating(l, point);
    if (l->snap[point] >= 0) l->sign[point] = 0;
  }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static eb_error check_box(const eb_solid *solid) {
  for (int d = 0; d < 3; d++)
    if (!(solid->hi[d] > solid->lo[d]) || !isfinite(solid->hi[d] - solid->lo[d]))
      return EB_ERROR(EB_ERR_INVALID, "the box of the solid reaches from %g to %g m along %c",
                      solid->lo[d], solid->hi[d], "xyz"[d]);
  return EB_OK;
}

static eb_error set_extent(const eb_solid *solid, double spacing, const double shift[3],
                           eb_lattice *l) {
  if (!(spacing > 0) || !isfinite(spacing))
    return EB_ERROR(EB_ERR_USAGE, "the lattice spacing must be positive, not %g m", spacing);
  EB_TRY(check_box(solid));
  double points = 2;
  for (int d = 0; d < 3; d++) {
    double width = solid->hi[d] - solid->lo[d];
    double side = ceil(0.5 * width / spacing + fabs(shift[d])) + MARGIN;
    points *= 2 * side + 1;
    if (!(points < MAX_POINTS))
      return EB_ERROR(EB_ERR_LIMIT,
                      "a spacing of %g m fills the solid's box with too many lattice points; use a "
                      "larger one",
                      spacing);
    l->size[d] = 2 * (int32_t)side + 1;
    l->origin[d] = 0.5 * (solid->lo[d] + solid->hi[d]) + spacing * (shift[d] - side);
  }
  l->spacing = spacing;
  l->stride[0] = 1;
  l->stride[1] = l->size[0];
  l->stride[2] = l->size[0] * l->size[1];
  l->points = 2 * l->stride[2] * l->size[2];
  return EB_OK;
}

static eb_error build(const eb_solid *solid, double spacing, const double shift[3], eb_lattice *l) {
  EB_TRY(set_extent(solid, spacing, shift, l));
  EB_TRY(EB_NEW(l->value, l->points));
  EB_TRY(EB_NEW(l->sign, l->points));
  EB_TRY(EB_NEW(l->mask, l->points));
  EB_TRY(EB_NEW(l->first, l->points));
  EB_TRY(EB_NEW(l->snap, l->points));
  evaluate(l, solid);
  EB_TRY(assign_signs(l));
  number_cuts(l);
  EB_TRY(EB_NEW(l->owner, l->cuts));
  EB_TRY(EB_NEW(l->along, l->cuts));
  EB_TRY(EB_NEW(l->X, 3 * (size_t)l->cuts));
  EB_TRY(place_cuts(l, solid));
  warp(l);
  return EB_OK;
}

static void lattice_clear(eb_lattice *l) {
  free(l->value);
  free(l->sign);
  free(l->mask);
  free(l->first);
  free(l->snap);
  free(l->owner);
  free(l->along);
  free(l->X);
  *l = (eb_lattice){.points = 0};
}

/* Covers the solid's box with a lattice whose points include the centre of the box plus `shift`
 * spacings, evaluates the signed distance, finds the cut points and warps the lattice. EB_ERR_USAGE
 * for a spacing that is not positive, EB_ERR_LIMIT for one too small, EB_ERR_INVALID for an empty
 * or infinite box, a distance that is not finite, or a solid that leaves its box. */
static eb_error lattice_create(const eb_solid *solid, double spacing, const double shift[3],
                               eb_lattice *out) {
  *out = (eb_lattice){.points = 0};
  eb_error error = build(solid, spacing, shift, out);
  if (error) lattice_clear(out);
  return error;
}

/* ---- filling --------------------------------------------------------------------------------- */

/* Around a long edge p-q from corner to corner along axis d stand four middles; two successive ones
 * and p, q make a lattice tetrahedron, positive in this order. The parity rule wants the vector
 * from p to the third corner to have an even number of negative components: for odd k the middles
 * change places, and the tetrahedron is negative. */
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
        node[EB_STENCIL_CUT[i][j]] = l->points + lattice_cut(l, corner[i], corner[j]);
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

/* Fills one layer of cells; returns the number of tetrahedra, which go to `out` unless it is NULL.
 * The outermost layers hold no inside point. */
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

/* ---- compaction ------------------------------------------------------------------------------ */

/* Numbers the used entries of `number` (non-zero) in their order, by replacing them with 1 +
 * number. */
static int32_t enumerate(int32_t *number, int32_t count) {
  int32_t used = 0;
  for (int32_t i = 0; i < count; i++)
    if (number[i]) number[i] = ++used;
  return used;
}

/* Fills the lattice and keeps the nodes that its tetrahedra use: points where they stand, warped or
 * not, and cut points. */
static eb_error fill_and_compact(const eb_lattice *l, eb_mesh **out) {
  int64_t *first;
  int32_t *tets = NULL, *number = NULL, nodes = l->points + l->cuts;
  EB_TRY(EB_NEW(first, (size_t)l->size[2] + 1));
  eb_error error = fill(l, first, &tets);
  int32_t count = error ? 0 : (int32_t)first[l->size[2]];
  size_t entries = 4 * (size_t)count;
  if (!error) error = EB_NEW(number, nodes);
  for (size_t i = 0; !error && i < entries; i++) number[tets[i]] = 1;
  if (!error && count) error = eb_mesh_create(EB_TETRAHEDRON, enumerate(number, nodes), count, out);
  for (int32_t i = 0; *out && i < nodes; i++) {
    if (!number[i]) continue;
    double *X = (*out)->X + 3 * (size_t)(number[i] - 1);
    int32_t cut = i < l->points ? l->snap[i] : i - l->points;
    if (cut < 0)
      rest_place(l, i, X);
    else
      for (int d = 0; d < 3; d++) X[d] = l->X[3 * (size_t)cut + (size_t)d];
  }
  for (size_t i = 0; *out && i < entries; i++) (*out)->elements[i] = number[tets[i]] - 1;
  free(number);
  free(tets);
  free(first);
  return error;
}

/* ---- components ------------------------------------------------------------------------------ */

/* `parent` is the lowest element of an element's component, `size` its number of elements. */
typedef struct components {
  int32_t *mate, *parent, *size, *number;
} components;

/* Copies the elements of components that are large enough; *out stays NULL when all are. */
static eb_error split(const eb_mesh *mesh, components *c, eb_mesh **out) {
  int32_t crowded;
  EB_TRY(eb_mesh_face_mates(mesh, &c->mate, &crowded));
  EB_TRY(EB_NEW(c->parent, mesh->element_count));
  EB_TRY(EB_NEW(c->size, mesh->element_count));
  EB_TRY(EB_NEW(c->number, mesh->node_count));
  for (int32_t e = 0; e < mesh->element_count; e++) c->parent[e] = e;
  for (int32_t face = 0; face < 4 * mesh->element_count; face++)
    if (c->mate[face] >= face) eb_disjoint_join(c->parent, face / 4, c->mate[face] / 4);
  for (int32_t e = 0; e < mesh->element_count; e++) {
    c->parent[e] = eb_disjoint_root(c->parent, e);
    c->size[c->parent[e]]++;
  }
  int32_t largest = 0, kept = 0;
  for (int32_t e = 0; e < mesh->element_count; e++)
    if (c->size[e] > largest) largest = c->size[e];
  double enough = EB_STUFFING_KEEP_FRACTION * largest;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    if (c->size[c->parent[e]] < enough) continue;
    for (size_t i = 0; i < 4; i++) c->number[mesh->elements[4 * (size_t)e + i]] = 1;
    kept++;
  }
  if (kept == mesh->element_count) return EB_OK;
  EB_TRY(eb_mesh_create(EB_TETRAHEDRON, enumerate(c->number, mesh->node_count), kept, out));
  int32_t *element = (*out)->elements;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (size_t i = 0; i < 4 && c->size[c->parent[e]] >= enough; i++)
      *element++ = c->number[mesh->elements[4 * (size_t)e + i]] - 1;
  for (int32_t i = 0; i < mesh->node_count; i++)
    for (int d = 0; d < 3 && c->number[i]; d++)
      (*out)->X[3 * (size_t)(c->number[i] - 1) + (size_t)d] = mesh->X[3 * (size_t)i + (size_t)d];
  return EB_OK;
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

/* ---- regions --------------------------------------------------------------------------------- */

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

/* ---- the whole ------------------------------------------------------------------------------- */

/* The lattice is moved by `shift` spacings against the centre of the solid's box. *out is NULL when
 * no point is inside. */
static eb_error stuff_shifted(const eb_solid *solid, double spacing, const double shift[3],
                              eb_mesh **out) {
  eb_lattice lattice;
  *out = NULL;
  EB_TRY(lattice_create(solid, spacing, shift, &lattice));
  eb_error error = fill_and_compact(&lattice, out);
  lattice_clear(&lattice);
  if (!error && *out) error = drop_small_pieces(out);
  if (!error && *out) error = assign_regions(solid, *out);
  if (error) {
    eb_mesh_destroy(*out);
    *out = NULL;
  }
  return error;
}

eb_error eb_stuff(const eb_solid *solid, double spacing, eb_mesh **out) {
  EB_TRY(stuff_shifted(solid, spacing, (const double[3]){0}, out));
  if (*out) return EB_OK;
  return EB_ERROR(EB_ERR_INVALID,
                  "nothing is inside the solid at a lattice spacing of %g m; use a smaller one",
                  spacing);
}

/* ---- towards a count ------------------------------------------------------------------------- */

/* Stuffing towards an element count. Volume and surface make the count of a spacing h about
 *     N(h) = (a + b h) / h^3,
 * a from the volume (12 lattice tetrahedra in h^3), b from the surface: h^3 N(h) is nearly linear,
 * and the search is the secant method on it. It starts on a coarse lattice and at most halves the
 * spacing from one try to the next, so that only the last tries cost as much as the result. */

/* After STRAIGHT_TRIES near the target, or LONGEST_WAY tries in all, the count jumps too much for
 * the spacing alone: every further try also moves the lattice. A solid without a point inside on
 * MOST_EMPTY lattices is empty. */
enum { STRAIGHT_TRIES = 6, LONGEST_WAY = 14, NEAR_TRIES = 24, MOST_TRIES = 40, MOST_EMPTY = 6 };
/* Nearer to the target than this, another try is not worth its time. */
static const double GOOD_ENOUGH = 0.002;
static const double NEAR = 1.6;

typedef struct search {
  const eb_solid *solid;
  int32_t target;
  double h, density, slope; /* the last spacing, h^3 N(h) there, its slope */
  double empty;             /* the smallest spacing that left the first position empty */
  int tries, near_tries;    /* near: within a factor of NEAR of the target */
  eb_mesh *best;
} search;

static double miss(const search *s, int32_t count) {
  return fabs((double)count - s->target) / s->target;
}

/* The number of the lattice's position: 0 until the count turns out to jump. */
static int position(const search *s) {
  int moves = s->near_tries - STRAIGHT_TRIES + 1, late = s->tries - LONGEST_WAY;
  if (late > moves) moves = late;
  return moves > 0 ? moves : 0;
}

/* On moved lattices the count scatters, so the density is averaged with what it was; slopes are
 * only learnt from the lattice in its first position, at spacings that differ enough, and kept to
 * counts between h^-2 and h^-5. */
static void learn(search *s, double h, int32_t count) {
  int moves = position(s);
  s->tries++;
  s->near_tries += count < NEAR * s->target && NEAR * count > s->target;
  if (count == 0) {
    if (moves == 0) s->empty = fmin(s->empty, h);
    return;
  }
  double density = count * h * h * h, expected = s->density + s->slope * (h - s->h);
  if (moves == 0 && s->density > 0 && fabs(h - s->h) > 0.2 * h)
    s->slope = (density - s->density) / (h - s->h);
  s->slope = fmin(fmax(s->slope, -2 * density / h), density / h);
  s->h = h;
  s->density = moves > 0 && expected > 0 ? (density + expected) / 2 : density;
}

/* Where the model has the target count, by bisection between half and twice the last spacing, and
 * below the spacings that are too coarse. Rounded to single precision, so that the last bit of cbrt
 * and the like does not reach the mesh. */
static double predict(const search *s) {
  if (s->density == 0) return s->empty / 2;
  double lo = s->h / 2, hi = 2 * s->h;
  for (int i = 0; i < 50; i++) {
    double middle = (lo + hi) / 2;
    if (s->density + s->slope * (middle - s->h) - s->target * middle * middle * middle > 0)
      lo = middle;
    else
      hi = middle;
  }
  if (!(hi < s->empty)) hi = (fmin(s->h, s->empty) + s->empty) / 2;
  return (float)hi;
}

static eb_error find(search *s, double tolerance) {
  /* Irrational steps, so that no shift repeats another (Roberts' sequence in three dimensions). */
  static const double step[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
  const eb_solid *solid = s->solid;
  double h = cbrt((solid->hi[0] - solid->lo[0]) * (solid->hi[1] - solid->lo[1]) *
                  (solid->hi[2] - solid->lo[2])) /
             4;
  while (s->tries < (s->best ? MOST_TRIES : MOST_EMPTY) && s->near_tries < NEAR_TRIES) {
    double shift[3] = {0};
    int moves = position(s);
    for (int d = 0; d < 3 && moves > 0; d++)
      shift[d] = moves * step[d] - floor(moves * step[d]) - 0.5;
    eb_mesh *mesh;
    EB_TRY(stuff_shifted(solid, h, shift, &mesh));
    int32_t count = mesh ? mesh->element_count : 0;
    if (mesh && (!s->best || miss(s, count) < miss(s, s->best->element_count))) {
      eb_mesh_destroy(s->best);
      s->best = mesh;
    } else {
      eb_mesh_destroy(mesh);
    }
    learn(s, h, count);
    double best = s->best ? miss(s, s->best->element_count) : INFINITY;
    if (best <= GOOD_ENOUGH || (best <= tolerance && s->near_tries >= STRAIGHT_TRIES)) return EB_OK;
    h = predict(s);
  }
  return EB_OK;
}

eb_error eb_stuff_to_count(const eb_solid *solid, int32_t target, double tolerance, eb_mesh **out) {
  search s = {.solid = solid, .target = target, .empty = INFINITY};
  *out = NULL;
  if (target < 1)
    return EB_ERROR(EB_ERR_USAGE, "the element count to aim at must be positive, not %d", target);
  if (!(tolerance >= 0))
    return EB_ERROR(EB_ERR_USAGE, "the tolerance of the element count must not be negative, not %g",
                    tolerance);
  EB_TRY(check_box(solid));
  eb_error error = find(&s, tolerance);
  if (!error && !s.best)
    error = EB_ERROR(EB_ERR_INVALID,
                     "nothing is inside the solid, down to a lattice spacing of %g m", s.empty);
  else if (!error && miss(&s, s.best->element_count) > tolerance)
    error = EB_ERROR(EB_ERR_INVALID,
                     "no lattice gives %d elements within %g %%; the nearest found has %d", target,
                     100 * tolerance, s.best->element_count);
  if (error) {
    eb_mesh_destroy(s.best);
    return error;
  }
  *out = s.best;
  return EB_OK;
}
