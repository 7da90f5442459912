/* Closed surfaces of simple solids, outward: floors, containers, rollers and races for bodies to meet.
 *
 * Lengths are metres; sizes that are not positive and finite are EB_ERR_USAGE. Flat faces are cut into as few triangles as they need. Round ones are
 * inscribed: their vertices lie on the round shape. The caller destroys *out, which is NULL on failure. */
#ifndef EB_MESH_SURFACE_SHAPES_H
#define EB_MESH_SURFACE_SHAPES_H

#include "problems/mesh/mesh.h"

/* A box about the origin: 8 vertices, 12 triangles. */
EB_MUST eb_error eb_surface_box(const double half[3], eb_surface **out);
/* A box open at the top, with solid walls and floor of thickness `wall`. Its hollow is |x| < half[0], |y| < half[1], 0 < z < height: 16 vertices, 28
 * triangles. */
EB_MUST eb_error eb_surface_cup(const double half[2], double height, double wall, eb_surface **out);
/* The solid swept by turning a section around the z axis in `around` >= 3 steps. profile[k] = (r, z), `count` >= 3 points with the solid to their
 * left (counter-clockwise in the (r, z) plane). Either all have r > 0, and the section is the closed polygon: a ring; or the first and the last have
 * r = 0, and only they, and the axis closes it: a body with two poles. */
EB_MUST eb_error eb_surface_revolve(const double (*profile)[2], int32_t count, int32_t around,
                                    eb_surface **out);
/* About the origin, its axis z. */
EB_MUST eb_error eb_surface_cylinder(double radius, double half_length, int32_t around,
                                     eb_surface **out);
/* About the origin, `rows` >= 2 of faces from pole to pole along z. */
EB_MUST eb_error eb_surface_sphere(double radius, int32_t rows, int32_t around, eb_surface **out);
/* About the origin in the plane z = 0: `ring` reaches to the middle of the tube, which has `sides` >= 3. */
EB_MUST eb_error eb_surface_torus(double ring, double tube, int32_t sides, int32_t around,
                                  eb_surface **out);

/* x = rotation X + shift for every vertex (rotation row-major, or NULL). */
void eb_surface_move(eb_surface *surface, const double rotation[9], const double shift[3]);

#endif
