/* A scene's group in a result file: everything that a run of it can be judged by (record.h has the
 * layout). */
#ifndef EB_RESULTS_SCENE_H
#define EB_RESULTS_SCENE_H

#include "harness/results/record.h"
#include "problems/scene_impl.h"

/* Writes scenes/<run->scene_hash> with this mesh and its surface; `scenes` is the open group.
 * `parent`: as eb_scene_final_mesh has it, or NULL without cuts. */
EB_MUST eb_error eb_scene_write(hid_t scenes, const eb_run *run, const eb_scene *scene,
                                const eb_mesh *mesh, const eb_surface *surface,
                                const int32_t *parent);

/* The name of the dataset that has elements of that type: "tetrahedra". */
const char *eb_element_set(eb_element_type type);

#endif
