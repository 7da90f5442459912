/* What a corotation holds, and how its kernels read it. Internal to problems/elasticity/.
 *
 * Elements lie in the batches of an elasticity of its own (elements.h), whose nodes, scatter map, chunks and
 * schedule serve here too. Rotations are unit quaternions: a third of the memory of matrices, cheap to multiply,
 * and those of a node are one vector. */
#ifndef EB_COROTATION_DATA_H
#define EB_COROTATION_DATA_H

#include "problems/elasticity/corotation.h"
#include "problems/elasticity/element_kernels.h"
#include "problems/elasticity/quaternion.h"

enum { EB_CORNERS = 4, EB_PAIRS = 10, EB_TET_GEOMETRY = 10 };

struct eb_corotation {
  eb_elasticity *elasticity;
  eb_v4 *rest;            /* node_count: X, Y, Z, 0 in the lanes */
  eb_v4 *node_quaternion; /* node_count: R_i as w, x, y, z in the lanes */
  double *node_rotation;  /* node_count x 9: the same */
  eb_v4 *rotation;        /* batch_count x 4: R_e */
  eb_v4 *stale;           /* batch_count x 4 nodes x 4: Q_e as last refreshed */
};

EB_INLINE const eb_v4 *tet_geometry(const eb_corotation *c, int32_t batch) {
  return geometry_of(c->elasticity, EB_CORNERS, 1, batch);
}

EB_INLINE const int32_t *tet_nodes(const eb_corotation *c, int32_t batch) {
  return c->elasticity->node + (int64_t)batch * EB_CORNERS * EB_LANES;
}

EB_INLINE const eb_law *tet_law(const eb_corotation *c, int32_t batch) {
  return &c->elasticity->laws[c->elasticity->batch_law[batch]];
}

/* The quaternions of R_i at one node of each element. */
EB_INLINE void gather_rotation(const eb_corotation *c, const int32_t node[EB_LANES], eb_v4 q[4]) {
  const eb_v4 lanes[EB_LANES] = {c->node_quaternion[node[0]], c->node_quaternion[node[1]],
                                 c->node_quaternion[node[2]], c->node_quaternion[node[3]]};
  eb_v4_transpose(lanes, q);
}

EB_INLINE void unit_matrix(const eb_v4 q[4], eb_v4 R[9]) {
  eb_quaternion_matrix(q, eb_v4_set(2), R);
}

/* out = R v and R^T v. */
EB_INLINE void turn(const eb_v4 R[9], const eb_v4 v[3], eb_v4 out[3]) {
  for (int i = 0; i < 3; i++) out[i] = eb_v4_dot3(R + 3 * i, v);
}

EB_INLINE void turn_back(const eb_v4 R[9], const eb_v4 v[3], eb_v4 out[3]) {
  for (int i = 0; i < 3; i++) out[i] = R[i] * v[0] + R[3 + i] * v[1] + R[6 + i] * v[2];
}

#endif
