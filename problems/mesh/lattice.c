#include "problems/mesh/lattice.h"

#include <math.h>

#include "problems/base/memory.h"
#include "problems/mesh/stencil.h"

/* Own edges of a point, by their bit in `mask`: 0 to 2 the long edges along +x, +y, +z; for corners
 * also 3 to 10, the short edges to the middles of the cells at -(b & 1, b >> 1 & 1, b >> 2), b = bit - 3.
 * `near` marks every point at which a cut edge ends. */
enum { LONG_EDGES = 3, SHORT_EDGES = 8, OWN_EDGES = LONG_EDGES + SHORT_EDGES };
static const uint16_t near_surface = 1u << 15;

/* Free cells between the box and the rim of the lattice: every neighbour of a point in the box exists. */
enum { MARGIN = 2 };
/* Signed distances change by no more than this times the way (sdf.h). */
static const double LIPSCHITZ = 1.2;
static const double MAX_POINTS = 2e8;

static int middle(int32_t point) {
  return point & 1;
}

/* From a corner to the middle at the end of short edge b, in points. */
static int32_t short_offset(const eb_lattice *l, int b) {
  int32_t cells = (b & 1) * l->stride[0] + (b >> 1 & 1) * l->stride[1] + (b >> 2) * l->stride[2];
  return 1 - 2 * cells;
}

static int32_t edge_offset(const eb_lattice *l, int edge) {
  return edge < LONG_EDGES ? 2 * l->stride[edge] : short_offset(l, edge - LONG_EDGES);
}

static int own_edges(int32_t point) {
  return middle(point) ? LONG_EDGES : OWN_EDGES;
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

void eb_lattice_place(const eb_lattice *l, int32_t point, double out[3]) {
  if (l->snap[point] < 0) {
    rest_place(l, point, out);
    return;
  }
  for (int d = 0; d < 3; d++) out[d] = l->X[3 * (size_t)l->snap[point] + (size_t)d];
}

/* ---- evaluation: blocks that the surface cannot reach are settled by one evaluation ------------- */

typedef struct block {
  int32_t lo[3], hi[3]; /* cells lo <= i < hi */
} block;

static double distance_at(const eb_solid *solid, const double p[3]) {
  return solid->distance(solid->context, p);
}

/* The value at the middle of the block when neither its points nor their neighbours can lie on the other
 * side of the surface, else 0. */
static double settled(const eb_lattice *l, const eb_solid *solid, const block *b) {
  double center[3], square = 0;
  for (int d = 0; d < 3; d++) {
    double half = 0.5 * (b->hi[d] - b->lo[d] - 0.5);
    center[d] = l->origin[d] + l->spacing * (b->lo[d] + half);
    square += half * half;
  }
  double value = distance_at(solid, center);
  return fabs(value) > LIPSCHITZ * l->spacing * (sqrt(square) + 1) ? value : 0;
}

static void fill_block(eb_lattice *l, const eb_solid *solid, const block *b, double constant) {
  for (int32_t k = b->lo[2]; k < b->hi[2]; k++)
    for (int32_t j = b->lo[1]; j < b->hi[1]; j++)
      for (int32_t i = b->lo[0]; i < b->hi[0]; i++) {
        int32_t corner = 2 * (i + l->stride[1] * j + l->stride[2] * k);
        for (int32_t point = corner; point < corner + 2; point++) {
          double p[3];
          rest_place(l, point, p);
          l->value[point] = constant != 0 ? constant : distance_at(solid, p);
        }
      }
}

static void evaluate_block(eb_lattice *l, const eb_solid *solid, const block *b) {
  double constant = settled(l, solid, b);
  int axis = 0;
  for (int d = 1; d < 3; d++)
    if (b->hi[d] - b->lo[d] > b->hi[axis] - b->lo[axis]) axis = d;
  if (constant != 0 || b->hi[axis] - b->lo[axis] <= 2) {
    fill_block(l, solid, b, constant);
    return;
  }
  block half[2] = {*b, *b};
  half[0].hi[axis] = half[1].lo[axis] = (b->lo[axis] + b->hi[axis]) / 2;
  evaluate_block(l, solid, &half[0]);
  evaluate_block(l, solid, &half[1]);
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

/* ---- cut points --------------------------------------------------------------------------------- */

/* Marks the cut edges; numbers their cut points by owner, then by bit. */
static void number_cuts(eb_lattice *l) {
  for (int32_t point = 0; point < l->points; point++) {
    l->first[point] = l->cuts;
    if (l->sign[point] == 0 || on_rim(l, point, 1)) continue;
    for (int edge = 0; edge < own_edges(point); edge++) {
      int32_t end = point + edge_offset(l, edge);
      if (l->sign[point] * l->sign[end] >= 0) continue;
      l->mask[point] |= (uint16_t)(1u << edge | near_surface);
      l->mask[end] |= near_surface;
      l->cuts++;
    }
  }
}

/* The root of the distance on the segment p-q, as a fraction, by the Illinois variant of regula falsi
 * (Dowell and Jarratt 1971): the value kept at one end twice in a row is halved. */
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

static void place_cut(eb_lattice *l, const eb_solid *solid, int32_t cut, int edge) {
  int32_t point = l->owner[cut], end = point + edge_offset(l, edge);
  double p[3], q[3];
  rest_place(l, point, p);
  rest_place(l, end, q);
  double t = find_root(solid, p, q, l->value[point], l->value[end], 1e-6 * l->spacing);
  l->along[cut] = t;
  for (int d = 0; d < 3; d++) l->X[3 * (size_t)cut + (size_t)d] = p[d] + t * (q[d] - p[d]);
}

static void place_cuts(eb_lattice *l, const eb_solid *solid) {
#pragma omp parallel for schedule(dynamic, 4096) if (l->points > EB_LATTICE_SERIAL)
  for (int32_t point = 0; point < l->points; point++) {
    int32_t cut = l->first[point];
    for (int edge = 0; edge < OWN_EDGES && l->mask[point]; edge++)
      if (l->mask[point] >> edge & 1) {
        l->owner[cut] = point;
        place_cut(l, solid, cut++, edge);
      }
  }
}

static eb_error check_cuts(const eb_lattice *l) {
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

int32_t eb_lattice_cut(const eb_lattice *l, int32_t a, int32_t b) {
  int32_t owner = middle(a) == middle(b) ? (a < b ? a : b) : middle(a) ? b : a;
  int32_t offset = a + b - 2 * owner;
  int edge = 0;
  while (edge_offset(l, edge) != offset) edge++;
  return own_cut(l, owner, edge);
}

/* ---- warping ------------------------------------------------------------------------------------- */

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

/* ---- the whole ------------------------------------------------------------------------------------ */

static eb_error set_extent(const eb_solid *solid, double spacing, const double shift[3],
                           eb_lattice *l) {
  if (!(spacing > 0) || !isfinite(spacing))
    return EB_ERROR(EB_ERR_USAGE, "the lattice spacing must be positive, not %g m", spacing);
  double points = 2;
  for (int d = 0; d < 3; d++) {
    double width = solid->hi[d] - solid->lo[d];
    if (!(width > 0) || !isfinite(width))
      return EB_ERROR(EB_ERR_INVALID, "the box of the solid reaches from %g to %g m along %c",
                      solid->lo[d], solid->hi[d], "xyz"[d]);
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
  place_cuts(l, solid);
  EB_TRY(check_cuts(l));
  warp(l);
  return EB_OK;
}

eb_error eb_lattice_create(const eb_solid *solid, double spacing, const double shift[3],
                           eb_lattice *out) {
  *out = (eb_lattice){.points = 0};
  eb_error error = build(solid, spacing, shift, out);
  if (error) eb_lattice_clear(out);
  return error;
}

void eb_lattice_clear(eb_lattice *l) {
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
