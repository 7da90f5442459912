/* Finer surfaces: splits of tetrahedra along surface edges, and stuffing to given counts of both
 * elements and nodes. A uniform lattice ties the node count to the shape; meshes made from
 * scanned surfaces have more nodes for as many elements, because their surface is finer than
 * their inside. */
#ifndef EB_MESH_REFINE_H
#define EB_MESH_REFINE_H

#include "problems/mesh/sdf.h"

/* Splits `splits` surface edges in half, longest first, with every tetrahedron around them. New
 * nodes stand behind the old ones; regions and fibres pass to both halves; node sets stay as they
 * are. The result is conforming and no new dihedral angle at an unsplit edge is larger than before.
 * Ties are broken by node numbers: deterministic. EB_ERR_UNSUPPORTED for other elements than
 * tetrahedra, EB_ERR_LIMIT when the counts leave 32 bits. The caller destroys *out. */
EB_MUST eb_error eb_mesh_split_surface(const eb_mesh *mesh, int32_t splits, eb_mesh **out);

/* Like eb_stuff_to_count, for both counts: when stuffing alone gives fewer nodes, a coarser lattice
 * is stuffed and surface edges are split until both counts are within `tolerance` (relative).
 * EB_ERR_INVALID when stuffing alone gives more nodes, or when both counts cannot be met. */
EB_MUST eb_error eb_stuff_to_counts(const eb_solid *solid, int32_t elements, int32_t nodes,
                                    double tolerance, eb_mesh **out);

#endif
