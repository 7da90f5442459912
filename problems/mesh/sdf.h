/* Solids as signed distance: negative inside, positive outside, metres.
 *
 * The value need not be an exact distance, but its zero set is the surface, its gradient has a
 * length near 1 there (between 0.3 and 1.2), and it is Lipschitz with constant 1.2. */
#ifndef EB_MESH_SDF_H
#define EB_MESH_SDF_H

#include <stdint.h>

#include "problems/mesh/mesh.h"

typedef struct eb_solid {
  double (*distance)(const void *context, const double p[3]);
  /* Region index at an inside point, or NULL when there is one region. */
  int32_t (*region)(const void *context, const double p[3]);
  /* Region names, NULL-terminated, or NULL for one region "body". */
  const char *const *region_names;
  const void *context;
  double lo[3], hi[3]; /* a box that holds the surface */
} eb_solid;

/* A stand-in model: a smooth union of primitives that a person recognizes. */
typedef struct eb_model {
  const char *name, *summary;
  eb_solid solid;
} eb_model;

/* All models, ended by a NULL name. */
const eb_model *eb_models(void);
/* NULL when there is none of that name. */
const eb_model *eb_model_find(const char *name);

/* The signed distance of a closed surface (exact distance to the nearest triangle through a
 * bounding-volume tree, sign by generalized winding number). The triangles are copied;
 * solid->context is released by eb_solid_clear. Self-intersections, triangles without area and a
 * surface that points inwards all over are fine. EB_ERR_INVALID when the surface is not closed (the
 * message names an open edge), is not consistently oriented or encloses no volume. Queries are
 * thread-safe. */
EB_MUST eb_error eb_solid_from_surface(const eb_surface *surface, eb_solid *out);
/* Signed distance of such a solid, and its gradient, a unit vector: the way from the nearest point
 * or, nearer to the surface than rounding tells, the normal of the nearest triangle. */
double eb_solid_distance(const eb_solid *solid, const double p[3], double normal[3]);
/* Releases what eb_solid_from_surface made; only resets any other solid. */
void eb_solid_clear(eb_solid *solid);

/* The squared distance from p to the triangle a b c. */
double eb_triangle_distance(const double a[3], const double b[3], const double c[3],
                            const double p[3]);

#endif
