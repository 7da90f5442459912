/* The rigid bodies of a scene in its group: those that are free, and those of an articulation.
 * Internal to writing; record.h has the layout. */
#ifndef EB_RESULTS_WRITE_RIGID_H
#define EB_RESULTS_WRITE_RIGID_H

#include "harness/results/h5.h"
#include "problems/scene_impl.h"

/* Writes the groups `free_bodies` and `articulation`, each when the scene has any. */
EB_MUST eb_error eb_rigid_write(hid_t scene_group, const eb_scene *scene);

#endif
