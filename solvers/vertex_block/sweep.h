/* One sweep of vertex block descent over all colours: every free node once, by Newton's step on
 * what the incremental potential is of it alone.
 *
 * W as a function of x_i, its neighbours held, is m/h^2 |x - xt|^2 / 2 + sum over the elements
 * around i of their energies + springs and colliders. With F = F' + x_i g_i^T in such an element,
 *
 *   H dx = r,
 *   r = diagonal (target - x_i) - sum w P g_i + contact,
 *   H = diagonal I + sum w d(P g_i)/dx_i + contact,
 *
 * with K_ii x_i - K_ib x_b where hourglass modes are controlled, and where inertia, f_ext and
 * springs are one spring of stiffness `diagonal` to a `target`. Nodes of a colour do not see each
 * other: their order, and the number of threads, change no bit. */
#ifndef EB_VERTEX_SWEEP_H
#define EB_VERTEX_SWEEP_H

#include "problems/elasticity/law.h"
#include "problems/scene_impl.h"

/* Vectors are kept as rows of four, aligned: x, y, z and one more number. */
enum { EB_ROW = 4 };

typedef struct eb_vertex_blocks {
  int nodes, points; /* of an element */
  int32_t node_count, element_count, colour_count, group_count, round_count;
  int32_t *colour_start; /* colour_count + 1, into groups */
  int32_t *node;         /* group_count x 4; a lane without a node repeats its group's first */
  uint8_t *lanes;        /* group_count: how many have one */
  int32_t *round_start;  /* group_count + 1, into rounds */
  int32_t *law;          /* round_count: of the four elements */
  int32_t *visit;        /* round_count x 4: element x nodes + the node's place in it */
  /* Of every element, and behind them of one that has no volume, for lanes with nothing to visit:
   */
  int32_t *corner; /* x nodes */
  eb_v4 *rest;     /* x points x nodes: gradients of the shape functions, and the point's volume */
  /* x nodes x nodes: K_ab of the control of hourglass modes (problems/elasticity/elements.h); NULL:
   * there is none */
  double *control;
  eb_v4 *fibre; /* or NULL */
  const eb_law *laws;
} eb_vertex_blocks;

typedef struct eb_vertex_step {
  const eb_vertex_blocks *blocks;
  const uint8_t *fixed;  /* nodes: these stay where they are */
  const eb_v4 *pull;     /* nodes: target, diagonal */
  const eb_v4 *start;    /* nodes: x0, for damping */
  double damping;        /* k_D / h */
  bool searches;         /* steps are shortened until they lower W */
  const eb_scene *scene; /* whose implicit colliders push; NULL: none do */
  double end;            /* time of the end of the step, s */
  eb_v4 *x;              /* nodes: the iterate; the fourth number is the largest entry of H */
  uint8_t *touches;      /* nodes: whether a collider has pushed it in the last sweep */
} eb_vertex_step;

/* Moves step->x; on the threads that omp_set_num_threads has set. Allocates nothing. */
void eb_vertex_sweep(const eb_vertex_step *step);

#endif
