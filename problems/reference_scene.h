/* A scene to be looked at beside the one that a solver steps: it is that scene in all that
 * eb_scene_difference compares, and answers what is asked of nodes, forces and scripts. Energy,
 * gradient and Hessian may not be asked of it: it holds nothing that elements are swept with. */
#ifndef EB_REFERENCE_SCENE_H
#define EB_REFERENCE_SCENE_H

#include "problems/ranks/subdomain.h"

/* As eb_scene_create_part; the mesh may be cut (eb_scene_advance), and no solver be made for it. */
EB_MUST eb_error eb_scene_create_reference(const eb_scene_ops *ops, const char *assignments,
                                           const char *mesh_file, const char *cache_dir,
                                           const eb_ranks *ranks, eb_scene **out);

#endif
