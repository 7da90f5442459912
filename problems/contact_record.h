/* What a contact step leaves of its contacts for others to judge and to draw: the linearized
 * constraints that its last solve met, with their forces. Nothing in it depends on the method. */
#ifndef EB_CONTACT_RECORD_H
#define EB_CONTACT_RECORD_H

#include "problems/collision/collisions.h"

/* Every array has `count` entries of the size given; a constraint of the step that carries no force
 * is listed too.
 *
 * Contact k: with g = sum_i weight[i] x_i (from the second feature to the first, continuous.h) and
 * frame (n, t1, t2), its velocity is u = frame (sum_i weight[i] (x1_i - x0_i)) - c up to second
 * order in the turn of free bodies, and r is the force of the second feature on the first, in the
 * frame. */
typedef struct eb_contact_record {
  int32_t count;
  double step;   /* h, s */
  double gap;    /* the distance that constraints ask for in the end, m */
  double eps2;   /* tolerance of the step on active constraints, m */
  double eps1;   /* on the 2-norm of b - A v + H^T r, kg m/s, absolute whatever the options say */
  double cone;   /* on friction beyond Coulomb's cone, of the largest r_n */
  double angle;  /* between friction and sliding, degrees */
  int32_t nodes; /* of the scene's mesh */
  const eb_pair
      *pair; /* vertices below `nodes` are nodes of the scene's mesh; nodes + j is vertex j of
                          the obstacles, counted through all of them in their order in the scene */
  const double *weight; /* 4, signed, sum 0, in the order of the pair's vertices */
  const double *frame;  /* 9, row-major: n, t1, t2, orthonormal, right-handed */
  const double *c;      /* 3, m */
  const double *mu;     /* 1 */
  const double *r;      /* 3, N */
  const double *u;      /* 3, m */
  /* What the method solved last, with its velocities (3 problem->A->rows, m/s) and forces r. */
  const struct eb_contact_problem *problem;
  const double *v;
} eb_contact_record;

#endif
