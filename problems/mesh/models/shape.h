/* Shapes: tables of primitives joined smoothly into one signed distance. Internal to the models.
 *
 * A shape is constant data. Its distance is the fold, in table order, of the polynomial smooth
 * minimum (join) and maximum (cut) over its parts; both are convex combinations of their arguments'
 * gradients, so the result is Lipschitz with constant 1 because every primitive is an exact
 * distance. */
#ifndef EB_MESH_MODELS_SHAPE_H
#define EB_MESH_MODELS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problems/mesh/sdf.h"

typedef enum eb_primitive_kind {
  EB_PART_BALL, /* centre a, radius ra */
  EB_PART_CONE, /* hull of balls (a, ra), (b, rb), neither within the other; capsule if ra = rb */
  EB_PART_ELLIPSOID, /* centre a, radii b, x axis along `axis`, y axis level */
  EB_PART_BOX,       /* centre a, half sizes b, edges rounded by ra */
  EB_PART_CYLINDER,  /* from a to b (rounding included), radius ra, edges rounded by rb */
  EB_PART_TORUS      /* centre a, ring radius ra, tube radius rb, `axis` normal to the ring */
} eb_primitive_kind;

typedef struct eb_primitive {
  eb_primitive_kind kind;
  bool mirrored; /* measured at (x, |y|, z): a left and a right copy */
  bool cut;      /* taken away instead of joined */
  bool owns;     /* every point inside it has its region, whatever else is there */
  int32_t region;
  double lo[3], hi[3]; /* a box around the part (the left copy): the macros below fill it */
  double a[3], b[3], ra, rb;
  double blend;   /* radius of the smooth joint with the parts before it */
  double axis[3]; /* direction of the part's frame; all 0: not turned */
} eb_primitive;

typedef struct eb_shape {
  const eb_primitive *parts;
  int32_t count;
  double scale; /* metres per unit of the table */
} eb_shape;

/* Distance of one primitive in the units of the table, mirroring included. */
double eb_primitive_distance(const eb_primitive *part, const double p[3]);

/* eb_solid's `distance` and `region`, with an eb_shape as context. The region is that of the last
 * owning part around the point, or else of the nearest joined part. */
double eb_shape_distance(const void *shape, const double p[3]);
int32_t eb_shape_region(const void *shape, const double p[3]);

/* Parts as table entries: geometry, then at least one more field (.blend, .mirrored, .region,
 * ...). */
#define EB_BALL(x, y, z, r, ...)                                                                   \
  { .kind = EB_PART_BALL, .a = {x, y, z}, .ra = r, EB_AROUND(x, y, z, r, r, r), __VA_ARGS__ }
#define EB_CONE(x0, y0, z0, r0, x1, y1, z1, r1, ...)                                               \
  {                                                                                                \
    .kind = EB_PART_CONE, .a = {x0, y0, z0}, .b = {x1, y1, z1}, .ra = r0, .rb = r1,                \
    .lo = {EB_LESS((x0) - (r0), (x1) - (r1)), EB_LESS((y0) - (r0), (y1) - (r1)),                   \
           EB_LESS((z0) - (r0), (z1) - (r1))},                                                     \
    .hi = {EB_MORE((x0) + (r0), (x1) + (r1)), EB_MORE((y0) + (r0), (y1) + (r1)),                   \
           EB_MORE((z0) + (r0), (z1) + (r1))},                                                     \
    __VA_ARGS__                                                                                    \
  }
#define EB_ELLIPSOID(x, y, z, rx, ry, rz, ...)                                                     \
  {                                                                                                \
    .kind = EB_PART_ELLIPSOID, .a = {x, y, z}, .b = {rx, ry, rz}, EB_AROUND(x, y, z, rx, ry, rz),  \
    __VA_ARGS__                                                                                    \
  }
/* The ellipsoid's x axis along (ux, uy, uz). */
#define EB_TURNED_ELLIPSOID(x, y, z, rx, ry, rz, ux, uy, uz, ...)                                  \
  {                                                                                                \
    .kind = EB_PART_ELLIPSOID, .a = {x, y, z}, .b = {rx, ry, rz}, .axis = {ux, uy, uz},            \
    EB_AROUND(x, y, z, EB_MORE(rx, EB_MORE(ry, rz)), EB_MORE(rx, EB_MORE(ry, rz)),                 \
              EB_MORE(rx, EB_MORE(ry, rz))),                                                       \
    __VA_ARGS__                                                                                    \
  }
/* A box of half sizes hx, hy, hz whose edges are rounded inwards by `round`. */
#define EB_BOX(x, y, z, hx, hy, hz, round, ...)                                                    \
  {                                                                                                \
    .kind = EB_PART_BOX, .a = {x, y, z}, .b = {hx, hy, hz}, .ra = round,                           \
    EB_AROUND(x, y, z, hx, hy, hz), __VA_ARGS__                                                    \
  }
/* A cylinder of radius r from end to end, its rims rounded inwards by `round`. */
#define EB_CYLINDER(x0, y0, z0, x1, y1, z1, r, round, ...)                                         \
  {                                                                                                \
    .kind = EB_PART_CYLINDER, .a = {x0, y0, z0}, .b = {x1, y1, z1}, .ra = r, .rb = round,          \
    .lo = {EB_LESS(x0, x1) - (r), EB_LESS(y0, y1) - (r), EB_LESS(z0, z1) - (r)},                   \
    .hi = {EB_MORE(x0, x1) + (r), EB_MORE(y0, y1) + (r), EB_MORE(z0, z1) + (r)}, __VA_ARGS__       \
  }
/* A ring in the plane normal to (ux, uy, uz). */
#define EB_TORUS(x, y, z, ring, tube, ux, uy, uz, ...)                                             \
  {                                                                                                \
    .kind = EB_PART_TORUS, .a = {x, y, z}, .ra = ring, .rb = tube, .axis = {ux, uy, uz},           \
    EB_AROUND(x, y, z, (ring) + (tube), (ring) + (tube), (ring) + (tube)), __VA_ARGS__             \
  }

#define EB_LESS(a, b) ((a) < (b) ? (a) : (b))
#define EB_MORE(a, b) ((a) > (b) ? (a) : (b))
#define EB_AROUND(x, y, z, rx, ry, rz)                                                             \
  .lo = {(x) - (rx), (y) - (ry), (z) - (rz)}, .hi = {(x) + (rx), (y) + (ry), (z) + (rz)}

#define EB_SHAPE_PARTS(table) .parts = (table), .count = (int32_t)(sizeof(table) / sizeof(table)[0])

#endif
