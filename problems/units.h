/* Whether the figures of a scene go together: a length in millimetres beside a modulus in pascals
 * is no error, but a body a thousand times too soft. */
#ifndef EB_UNITS_H
#define EB_UNITS_H

#include <stddef.h>

#include "problems/scene.h"

/* Writes a sentence on what is unusual, and returns true; false when nothing is.
 *
 * - rho g L / E, the strain that its own weight gives to a column as long as the mesh, of the
 * softest region: above 10 no solid stands, and below 1e-11 is a millimetre of diamond (3e-11).
 * - sqrt(E / rho) dt / h, the edges that a wave passes in a step: below 1e-3 a thousand steps pass
 *   before a node's neighbours move, and above 1e6 a wave runs through every mesh in one.
 *
 * The catalogue has 2e-7 to 0.4 of the one, and 0.3 to 4e4 of the other. A scene whose stiffness is
 * that of clusters, and one in parts, is not looked at. */
bool eb_scene_units(const eb_scene *scene, char *out, size_t bytes);

#endif
