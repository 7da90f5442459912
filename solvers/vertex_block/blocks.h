/* The nodes of a mesh in the order of vertex block descent: colours, no two nodes of which share an
 * element; in a colour groups of four nodes, one a lane; for every group rounds, which visit one
 * element of each lane's node. */
#ifndef EB_VERTEX_BLOCKS_H
#define EB_VERTEX_BLOCKS_H

#include "problems/scene_impl.h"
#include "solvers/vertex_block/sweep.h"

/* Of a scene's tetrahedra or hexahedra. On failure nothing stays allocated. */
EB_MUST eb_error eb_vertex_blocks_create(const eb_scene *scene, eb_vertex_blocks *out);
void eb_vertex_blocks_clear(eb_vertex_blocks *blocks);
/* Bytes that it holds. */
int64_t eb_vertex_blocks_bytes(const eb_vertex_blocks *blocks);

#endif
