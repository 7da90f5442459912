/* What a step with contact as constraints (EB_CAP_CONTACT) leaves of its contacts for others to
 * judge and to draw: pairs of features, each with the distance that is asked for and the force. */
#ifndef EB_CONTACT_RECORD_H
#define EB_CONTACT_RECORD_H

#include "problems/collision/pair.h"

/* Every array has `count` entries of the size given; a pair that is near and carries no force is
 * listed too. A step points to its record from eb_step_log.contacts; it belongs to the solver and
 * is good until its next step.
 *
 * Contact k: with g = sum_i weight[i] x_i, from the point of the second feature to that of the
 * first, and frame (n, t1, t2), n . (g(x1) - g(x0)) >= c_n asks for the distance
 * d = c_n + n . g(x0) > 0 along n at the end of the step, and r is the force of the second feature
 * on the first, in the frame: weight[i] (r_n n + r_t1 t1 + r_t2 t2) acts on vertex i. A force
 * pushes where the features are at the distance d alone, by r_n > 0, and is the mean over the step:
 * the audit holds the momentum of bodies to step times the sum of forces. */
typedef struct eb_contact_record {
  int32_t count;
  double step; /* h, s */
  /* What the solver has asked for and stores beside the contacts; 0: it says nothing. */
  double gap;    /* the distance that constraints ask for in the end, m */
  double eps2;   /* tolerance of the step on active constraints, m */
  double eps1;   /* on the 2-norm of b - A v + H^T r, kg m/s, absolute whatever the options say */
  double cone;   /* on friction beyond Coulomb's cone, of the largest r_n */
  double angle;  /* between friction and sliding, degrees */
  int32_t nodes; /* of the scene's mesh */
  const eb_pair
      *pair; /* vertices below `nodes` are nodes of the scene's mesh; nodes + j is vertex j of
                          the obstacles, counted through all of them in their order in the scene */
  const double *weight; /* 4, signed, in the order of the pair's vertices: those of the first
                           feature sum to 1, those of the second to -1 */
  const double *frame;  /* 9, row-major: n, t1, t2, orthonormal, right-handed */
  const double *c;      /* 3, m */
  const double *mu;     /* 1; read by nobody: may be NULL, as u */
  const double *r;      /* 3, N */
  const double *u; /* 3, m: frame (sum_i weight[i] (x1_i - x0_i)) - c, to second order in the turn
                      of free bodies */
  /* What a built-in method solved last, with its velocities (3 problem->A->rows, m/s) and the
   * forces r: what `run --contact-problem` stores. NULL: it stores none. */
  const struct eb_contact_problem *problem;
  const double *v;
} eb_contact_record;

#endif
