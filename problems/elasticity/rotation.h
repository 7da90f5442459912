/* The rotation of an element by any of several estimators, four elements at a time (one a lane).
 *
 * All answer the same question, which R takes the element from its rest shape nearest to where its
 * nodes are, and differ in cost, in whether R is a rotation when the element is inverted, and in
 * whether they go on from the last answer. Lewin 2016 ("Constraint based simulation of soft and
 * rigid bodies", chapter 3) compares them; rotation.c has their equations.
 *
 * Fixed operations for every input: no failure, no allocation; the bits of a lane do not depend on
 * the other lanes. A lane with NaN leaves its q alone. Internal to problems/ and solvers/. */
#ifndef EB_ROTATION_H
#define EB_ROTATION_H

#include "problems/base/error.h"
#include "problems/elasticity/quaternion.h"
#include "problems/mesh/mesh.h"

typedef enum eb_rotation_method {
  EB_ROTATION_SVD,
  EB_ROTATION_DIAGONALIZATION,
  EB_ROTATION_SPIN,
  EB_ROTATION_SPIN_FULL,
  EB_ROTATION_EDGES,
  EB_ROTATION_METHODS
} eb_rotation_method;

#define EB_ROTATION_CHOICES "svd|diagonalization|spin|spin-full|edges"

/* What an estimate is a function of: the places of the nodes, their moments with those at rest, or
 * the deformation gradient. */
typedef enum eb_rotation_input {
  EB_ROTATION_OF_POSITIONS,
  EB_ROTATION_OF_MOMENTS,
  EB_ROTATION_OF_GRADIENT
} eb_rotation_input;

typedef struct eb_rotation_info {
  const char *name;
  eb_rotation_input input;
  bool proper; /* det R = 1 whatever F is */
  /* An element that has been pressed through itself, its inverted stretch smaller than the others,
   * keeps its rotation: it is pulled back to its own shape, not to the mirror image or another. */
  bool survives_inversion;
  bool tracks; /* goes on from q */
} eb_rotation_info;

extern const eb_rotation_info eb_rotations[EB_ROTATION_METHODS];
/* Of one of EB_ROTATION_CHOICES. */
eb_rotation_method eb_rotation_find(const char *name);

/* What is kept of four elements of A nodes at rest. */
typedef struct eb_rotation_rest {
  const eb_v4 *p0; /* A x 3: rest positions off their mean, m */
  const eb_v4
      *inverse_inertia;  /* 6: inv J0, 1/m^2, J0 = sum |p0|^2 I - p0 p0^T; 00 11 22 12 02 01 */
  const eb_v4 *gradient; /* (A - 1) x 3: mean rest gradients of nodes 1 .. A-1, 1/m */
} eb_rotation_rest;

/* One estimate from node positions x (A = 4 or 8). q is a unit quaternion w x y z, of
 * DIAGONALIZATION the frame of the eigenvectors; methods that track read and update it, others
 * leave it alone. R, row-major, receives the estimate; of DIAGONALIZATION it is a reflection where
 * the element is inverted. */
void eb_rotate4(eb_rotation_method method, int nodes, const eb_rotation_rest *rest,
                const eb_v4 (*x)[3], eb_v4 q[4], eb_v4 R[9]);

/* The same for those that know what the method is a function of: the moments M = sum p0 x^T of the
 * element, in m^2, and its inverse inertia; or F, and no inertia (NULL). Not for EDGES. Where the
 * second moments at rest are m in all directions M = m F^T, and inv(2 I) / m the inverse inertia.
 */
void eb_rotate_of4(eb_rotation_method method, const eb_v4 M_or_F[9], const eb_v4 inverse_inertia[6],
                   eb_v4 q[4], eb_v4 R[9]);

/* The rest of all batches of a mesh. */
typedef struct eb_rotation_rests {
  int nodes; /* of an element */
  int32_t batches;
  eb_v4 *spin;     /* batches x (3 A + 6): p0, inv J0 */
  eb_v4 *gradient; /* batches x 3 (A - 1) */
  int32_t *node;   /* batches x A x 4: the mesh's, in the order of its elements */
} eb_rotation_rests;

/* Tetrahedra or hexahedra, EB_ERR_UNSUPPORTED for others. Batch b has the elements element[4 b] ..
 * element[4 b + 3]; -1 repeats the first of its batch. NULL: those of the mesh in their order, and
 * as many batches as that takes. The caller clears *out. */
EB_MUST eb_error eb_rotation_rests_create(const eb_mesh *mesh, int32_t batches,
                                          const int32_t *element, eb_rotation_rests *out);
void eb_rotation_rests_clear(eb_rotation_rests *rests);

/* Where the nodes of a batch are, of positions in the order of the mesh. */
EB_INLINE void eb_rotation_gather(const eb_rotation_rests *rests, int32_t batch, const double *x,
                                  eb_v4 (*out)[3]) {
  const int32_t *node = rests->node + (int64_t)batch * rests->nodes * EB_LANES;
  for (int a = 0; a < rests->nodes; a++, node += EB_LANES)
    for (int i = 0; i < 3; i++)
      out[a][i] = (eb_v4){x[3 * (int64_t)node[0] + i], x[3 * (int64_t)node[1] + i],
                          x[3 * (int64_t)node[2] + i], x[3 * (int64_t)node[3] + i]};
}

EB_INLINE eb_rotation_rest eb_rotation_rest_of(const eb_rotation_rests *rests, int32_t batch) {
  const eb_v4 *p0 = rests->spin + (int64_t)batch * (3 * rests->nodes + 6);
  return (eb_rotation_rest){p0, p0 + 3 * rests->nodes,
                            rests->gradient + (int64_t)batch * 3 * (rests->nodes - 1)};
}

#endif
