/* Pictures of triangle surfaces: a small software renderer that writes PNG files.
 *
 * Perspective projection, a z-buffer of 3 x 3 samples a pixel, Lambert shading with a key light, a
 * fill light and a sky, drawn in linear colour and encoded as sRGB. Optional: translucent surfaces,
 * mesh edges, and a ground plane with a grid and the soft shadow of everything drawn. The order of
 * drawing does not matter but for the ground, and the same calls give the same bytes. Up is z. */
#ifndef EB_REPORT_RENDER_H
#define EB_REPORT_RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "problems/base/error.h"

/* A colour as a screen names it (sRGB), components in [0, 1]. */
typedef struct eb_rgb {
  float r, g, b;
} eb_rgb;

/* One surface to draw; the arrays stay the caller's.
 *
 * Of a translucent one, the nearest face that is turned to the viewer has the opacity `front`, the
 * nearest one that is turned away has `back` (0 to 1; of 0 there is only the shadow); what is
 * behind shows through. Farther faces of the same surface do not count, so that a body with many
 * layers does not turn opaque. Where it is in front of something opaque by less than a picture can
 * show, it is left out: a body that rests on it is not torn by how deep it presses in. */
typedef struct eb_render_mesh {
  int32_t vertex_count, triangle_count;
  const double *X; /* vertex_count x 3, m; vertices that are not finite drop their triangles */
  const int32_t *triangles;     /* triangle_count x 3, counterclockwise from in front */
  const eb_rgb *triangle_color; /* triangle_count, or NULL: all of it has `color` */
  eb_rgb color;
  bool smooth; /* normals averaged at vertices; flat triangles otherwise */
  bool edges;  /* thin lines along the triangles' edges */
  bool translucent;
  float front, back;
} eb_render_mesh;

typedef struct eb_render eb_render;

/* A blank picture of width x height pixels, which looks along `direction` (of any length but 0,
 * from the viewer into the picture) from where the box lo, hi just fills it. The caller destroys
 * *out. EB_ERR_INVALID when the box is not finite, empty or inside out. */
EB_MUST eb_error eb_render_create(int32_t width, int32_t height, const double lo[3],
                                  const double hi[3], const double direction[3], eb_render **out);
void eb_render_destroy(eb_render *render);

/* Draws a surface. EB_ERR_INVALID when a triangle names a vertex that is not there. */
EB_MUST eb_error eb_render_surface(eb_render *render, const eb_render_mesh *mesh);

/* Draws the plane z = height with a grid of about eight squares across the camera's box and the
 * shadow of the surfaces drawn before; what is below shows through. Call it once, last. */
EB_MUST eb_error eb_render_ground(eb_render *render, double height);

/* The picture as width x height x 3 bytes, row by row from the top: RGB, sRGB encoded. */
void eb_render_pixels(const eb_render *render, uint8_t *rgb);
/* Writes the picture. EB_ERR_IO names the path and the reason. */
EB_MUST eb_error eb_render_write_png(const eb_render *render, const char *path);

#endif
