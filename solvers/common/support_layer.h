/* The elements between scripted and free nodes, and the force they transmit.
 *
 * Where a held body is in equilibrium all nodal forces on free nodes cancel, and only the elements
 * at the supports still show how large the forces are. Elements with scripted nodes alone do not
 * count: what they resist concerns no free node. A part has those that its rank owns. */
#ifndef EB_COMMON_SUPPORT_LAYER_H
#define EB_COMMON_SUPPORT_LAYER_H

#include "problems/scene_impl.h"

typedef struct eb_support_layer {
  const eb_scene *scene;
  int32_t *elements; /* room for every element */
  int32_t count;
} eb_support_layer;

/* Room for the elements; none is found yet. The scene outlives it. The caller clears *out, also
 * after failure. */
EB_MUST eb_error eb_support_layer_create(const eb_scene *scene, eb_support_layer *out);
void eb_support_layer_clear(eb_support_layer *layer);
/* Finds the elements that have both scripted (fixed[i] != 0) and free nodes. */
void eb_support_layer_update(eb_support_layer *layer, const uint8_t *fixed);
/* Norm, N, of the single elements' forces on free nodes at x, before they are summed at nodes; from
 * the stress at the elements' centres. Of all ranks' elements: collective. */
double eb_support_layer_force(const eb_support_layer *layer, const uint8_t *fixed, const double *x);

#endif
