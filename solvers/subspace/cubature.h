/* Cubature: few elements that stand for all (trusty2023, Section 5.2, Equation 11).
 *
 * Elements are clustered by k-means on the skinning weights at their centres, each weight divided
 * by the square of its eigenvalue, so that slow modes count most; weights without eigenvalues are
 * taken as they are, and of displacements all three components. A cluster's point is the element
 * nearest to its mean, and its weight the volume of the cluster. Modes of eigenvalue 0 (constant
 * weights, motions without strain) are left out: they say nothing of where a body deforms. The
 * paper takes the clusters' masses: energies are per volume, and at one density the two differ by a
 * factor. */
#ifndef EB_SUBSPACE_CUBATURE_H
#define EB_SUBSPACE_CUBATURE_H

#include "problems/mesh/mesh.h"
#include "solvers/subspace/skinning.h"

typedef struct eb_cubature {
  int32_t count;
  int32_t *element; /* count, ascending */
  double *weight;   /* count, m^3 */
} eb_cubature;

typedef struct eb_clustering_choice {
  int32_t count; /* of points, cut to the number of elements */
  bool all;      /* every element with its own volume instead */
  /* The point of a cluster is the element nearest to its geometric median, not to its mean. A stiff
   * piece is one value with many elements, and the soft ones around it spread their cluster's mean
   * off that value: the element nearest to the mean is then a soft one, and the piece has no point
   * that resists its strain. The median of a cluster is where most of it is. */
  bool medians;
  uint64_t seed;
  int iterations;
} eb_clustering_choice;

/* k-means++ with the seed, then Lloyd's iterations until no element changes its cluster or
 * `iterations` are done; an empty cluster takes the element farthest from its own mean. The same
 * result for any number of threads, and the same points however the mesh is numbered, where no two
 * eigenvalues are equal. The caller clears *out. */
EB_MUST eb_error eb_cubature_create(const eb_mesh *mesh, const eb_skinning *skinning,
                                    const eb_clustering_choice *choice, eb_cubature *out);
void eb_cubature_clear(eb_cubature *cubature);

#endif
