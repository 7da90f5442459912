/* Whether the figures of a scene go together: a length in millimetres beside a modulus in pascals
 * is no error, but a body a thousand times too soft. */
#ifndef EB_UNITS_H
#define EB_UNITS_H

#include <stddef.h>

#include "problems/elasticity/material.h"
#include "problems/scene.h"

/* The figures of a scene beside each other. */
typedef struct eb_proportions {
  const eb_material *soft, *stiff; /* of the regions that are not rigid */
  double gravity, length, edge;    /* m/s^2; the largest extent of the mesh and its mean edge, m */
  double weight;                   /* rho g L / E of the softest; 0 without gravity */
  double slow, fast;               /* edges that a wave passes in a step, of soft and stiff */
} eb_proportions;

#define EB_WEIGHT_LEAST 1e-11
#define EB_WEIGHT_MOST  10.
#define EB_EDGES_LEAST  1e-3 /* of the stiffest */
#define EB_EDGES_MOST   1e6  /* of the softest */

/* False where there are none: the stiffness is that of clusters, the scene is in parts, or all is
 * rigid. */
bool eb_scene_proportions(const eb_scene *scene, eb_proportions *out);

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
