/* Clusters: nodes that want the shape back that they have at rest.
 *
 *   U(x) = sum_c k_c/2 min_R sum_a |x_a - xm - R q_a|^2,   q_a = X_a - Xm
 *   dU/dx_a = k (x_a - xm - R q_a)
 *
 * over the nodes a of each cluster c, with xm and Xm the means of where they are and of where they
 * are at rest, and R a rotation, det R = 1 (Mueller, Heidelberger, Teschner and Gross 2005,
 * "Meshless deformations based on shape matching"; as constraints of projective dynamics: Bouaziz
 * et al. 2014). A cluster of two nodes is a spring between them, U = k/4 (|x_i - x_j| - L)^2.
 *
 * U is part of the elastic energy of whoever serves clusters; a scene says which nodes and how
 * stiff (eb_scene_add_cluster, eb_scene_add_link in scene_impl.h). What follows is how solvers
 * take them; sums run in the order of the clusters: the same bits for any number of threads. */
#ifndef EB_CLUSTERS_H
#define EB_CLUSTERS_H

#include "problems/elasticity/block_matrix.h"
#include "problems/scene_impl.h"

/* The clusters of a scene and room to work. One serves one call at a time. */
typedef struct eb_clusters {
  const eb_cluster_set *set;
  int32_t links;  /* clusters of two nodes */
  int32_t *order; /* set->count: the links, then the others */
  double *force;  /* as set->rest: dU/dx of each cluster by itself, N */
  double *energy; /* set->count, J */
} eb_clusters;

/* Borrows the scene's clusters. The caller clears *out, also after failure. */
EB_MUST eb_error eb_clusters_create(const eb_scene *scene, eb_clusters *out);
void eb_clusters_clear(eb_clusters *clusters);

/* U at x (nodes x 3), J. Allocates nothing, as all below; uses the threads that omp_set_num_threads
 * has set. */
double eb_clusters_energy(const eb_clusters *clusters, const double *x);
/* Adds dU/dx (N) to g (nodes x 3) and returns U. */
double eb_clusters_gradient(const eb_clusters *clusters, const double *x, double *g);
/* Adds scale d2U/dx2 at x to A, which has the pattern of the scene's elasticity. With `project`,
 * each cluster's part is the positive semi-definite one nearest to it. */
void eb_clusters_matrix(const eb_clusters *clusters, const double *x, double scale, bool project,
                        eb_block_matrix *A);
/* Adds the matrix of U with rotations that stay as they are, k (delta_ab - 1/n), which bounds the
 * Hessian from above: one entry a block of the pattern, the same for all three components. */
void eb_clusters_bound(const eb_clusters *clusters, const eb_block_matrix *pattern, double *value);

/* Sum of k/2 |q|^2, J: U is a difference of terms of that size, however small it is itself. */
double eb_clusters_scale(const eb_clusters *clusters);
/* Norm of the single clusters' forces on free nodes, N, of those that have both scripted
 * (fixed[i] != 0) and free ones, at x. */
double eb_clusters_held_force(const eb_clusters *clusters, const uint8_t *fixed, const double *x);

/* What building a scene asks: whether its clusters can be served, and their part of its hash. */
EB_MUST eb_error eb_clusters_check(const eb_scene *scene);
uint64_t eb_clusters_hash(const eb_cluster_set *set, uint64_t hash);
void eb_cluster_set_clear(eb_cluster_set *set);

#endif
