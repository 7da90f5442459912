/* How the time of an implicit step scales over ranks: a model whose constants are measured one by
 * one, and nothing fitted to what it predicts.
 *
 * A system is solved by conjugate gradients with a multigrid cycle, on boxes of a block of
 * tetrahedra, one a rank (problems/ranks/part.h). With n nodes a rank, f of a box's six faces
 * shared with others and h = f n^(2/3) nodes on them, an iteration of Newton's takes
 *
 *   compute     (assembly + set-up) r (n + h/2) + k c n     elements at faces are evaluated twice
 *   halo        k sum over levels of e_l (f latency + 8 d_l f (n / q^l)^(2/3) / bandwidth)
 *   reductions  k 3 log2(P) reduction                       two products and a norm
 *   coarse grid k (2 log2(P) latency + the coarse matrix / triad)
 *
 * for r elements a node, k iterations of c seconds a node, d = 3 unknowns of a node on the finest
 * grid and 6 (rigid motions) on coarser ones, which have q times fewer nodes each; e exchanges a
 * level: two smoothing steps on either side of the correction, one residual, one product more on
 * the finest. Ranks beyond the cores of a node wait for each other, and cores of a node share its
 * memory: c, which is bound by it, grows by as much as triad shows. */
#ifndef EB_PREDICT_SCALING_H
#define EB_PREDICT_SCALING_H

#include <stdbool.h>

typedef struct eb_network {
  double latency;   /* s of a short message, one way */
  double bandwidth; /* byte/s of a long one */
  double reduction; /* s a doubling of ranks of an allreduce of one double */
} eb_network;

typedef struct eb_scaling_machine {
  eb_network network;
  int cores;               /* of a node */
  double triad, triad_all; /* byte/s, of one core and of all of a node; 0: not known, then cores do
                              not slow each other down */
} eb_scaling_machine;

/* Of one rank that is alone on its node. */
typedef struct eb_scaling_work {
  double assemble, setup;   /* s an element: matrix and gradient; preconditioner */
  double iteration;         /* s a node: c */
  double iterations;        /* k, taken to be the same at any size */
  double elements_per_node; /* r */
} eb_scaling_work;

typedef struct eb_scaling_time {
  double compute, halo, reductions, coarse; /* s of an iteration of Newton's */
  double total;                             /* their sum */
  bool oversubscribed; /* more ranks on a node than it has cores: times are those of taking turns */
} eb_scaling_time;

/* P = `ranks`, `per_node` of them on a node (at least 1). */
eb_scaling_time eb_scaling_predict(const eb_scaling_machine *machine, const eb_scaling_work *work,
                                   double elements, int ranks, int per_node);

/* Mean number of faces that a box shares with others, when `ranks` are a grid of boxes as cubic as
 * its factors allow: 0 of one, 1 of two, 2 of four, 3 of eight, nearly 6 of many. */
double eb_scaling_faces(int ranks);

#endif
