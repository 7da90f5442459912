/* The part of a scene that one rank holds.
 *
 * Every node and every element has one owner. A rank's mesh has the nodes that it owns, then its
 * ghosts: the other nodes of the elements that touch one of its own; and all those elements, the
 * ones that it owns first. An element's owner is the lowest rank that owns one of its nodes. So
 * gradient and rows of the Hessian at owned nodes are complete without any exchange, for some
 * elements are evaluated by several ranks; sums over nodes run over the first `nodes`, sums over
 * elements over the first `elements`, and are then summed over the ranks. At ghosts, masses, areas,
 * gradients and rows are incomplete and mean nothing. The surface is the triangles of the whole
 * one that have an owned node: ranks share some, and where a part ends inside the body is none.
 *
 * Nodes have three numbers: the local one; a global one, from `first` on at owned nodes, the order
 * of distributed matrices and vectors; and the original one, that of the mesh as one process has
 * it, the order of files. */
#ifndef EB_RANKS_SUBDOMAIN_H
#define EB_RANKS_SUBDOMAIN_H

#include "problems/ranks/ranks.h"
#include "problems/scene_impl.h"

typedef struct eb_subdomain {
  const eb_ranks *ranks;           /* outlive the part */
  int64_t all_nodes, all_elements; /* of the whole mesh */
  int32_t nodes, elements;         /* owned; local ones are in scene->mesh */
  int64_t first;                   /* global number of the first owned node */
  int64_t *global;                 /* local nodes */
  int32_t *original_node;          /* local nodes; ascending among the owned ones */
  int32_t *original_element;       /* local elements; ascending among the owned ones */
  struct eb_halo *halo;            /* what is sent to whom */
} eb_subdomain;

/* Builds a rank's part of the scene (as eb_scene_create, which it is with `ranks` NULL;
 * collective). Bars and blocks of cubes are generated in parts; meshes of files and models are read
 * or made by rank 0, partitioned by METIS and sent. *out has `part` set; eb_scene_destroy ends it.
 * EB_ERR_UNSUPPORTED: the scene cannot be cut into parts (contact, colliders, rigid bodies, cuts,
 * springs, clusters, or a setup that looks at its mesh otherwise than through what is collective);
 * EB_ERR_USAGE: fewer nodes than ranks. */
EB_MUST eb_error eb_scene_create_part(const eb_scene_ops *ops, const char *assignments,
                                      const char *mesh_file, const char *cache_dir,
                                      const eb_ranks *ranks, eb_scene **out);
void eb_subdomain_destroy(eb_subdomain *part);

/* ---- the same words for a part and for a whole scene: part NULL -------------------------------
 */

/* How many nodes and elements of scene->mesh count in sums: those owned, or all. Not collective. */
int32_t eb_scene_own_nodes(const eb_scene *scene);
int32_t eb_scene_own_elements(const eb_scene *scene);
/* How many there are in the whole mesh. Not collective. */
int64_t eb_scene_all_nodes(const eb_scene *scene);
int64_t eb_scene_all_elements(const eb_scene *scene);
/* NULL for a whole scene. Not collective. */
const eb_ranks *eb_scene_ranks(const eb_scene *scene);

/* The box around the points x (local nodes x 3) of all nodes. Collective. */
void eb_scene_bounds(const eb_scene *scene, const double *x, double lo[3], double hi[3]);
/* Rank 0 receives the whole mesh as one process has it, with regions, fibres and node sets, for
 * files and for hashes; NULL for the others. The caller destroys *out. Collective. */
EB_MUST eb_error eb_subdomain_gather_mesh(const eb_scene *scene, eb_mesh **out);

/* Values of ghosts from their owners: `values` has `width` (1 to 9) doubles a local node. Nothing
 * to do for NULL. Collective. */
void eb_subdomain_update(const eb_subdomain *part, int width, double *values);

/* ---- parts only, collective ------------------------------------------------------------------ */

/* Rank 0 receives the values of all nodes in the original order, all_nodes x width; `all` is read
 * by no other. `values` are those of local nodes. */
EB_MUST eb_error eb_subdomain_gather(const eb_subdomain *part, int width, const double *values,
                                     double *all);

#endif
