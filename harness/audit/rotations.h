/* The rotations of elements that a solver says it has worked with (log->rotations), beside the
 * harness's own: of each element P = U V^T of its mean deformation gradient, the volume's average
 * over its points of quadrature, with det P = 1 (reference.h). Angles between orthogonal matrices
 * are those of the chord, 2 asin(|A - B|_F / sqrt(8)), at most 180 degrees: between a rotation and
 * a reflection 90 at least.
 *
 * A tracked rotation goes a part of the way. Its gain is
 *   (log(R1 R0^T) . n) / |n|^2,   n = log(P R0^T),
 * R0 the rotation of the last step and R1 this one's: 1 arrives, more than 2 ends further off. */
#ifndef EB_ROTATIONS_H
#define EB_ROTATIONS_H

#include "harness/audit/audit.h"

typedef struct eb_rotation_row {
  double det_min;     /* least determinant */
  double turn_max;    /* deg: largest angle from the last step's; 0 where there is none */
  double off_svd;     /* deg: largest angle from P */
  double reflections; /* elements of negative determinant */
  double gain;        /* median over the elements with |n| from 0.01 to 20 deg; NaN: none */
} eb_rotation_row;

typedef struct eb_rotations eb_rotations;

/* On the audit's mesh; keeps nothing of it. Before the first step all are the identity, where
 * estimates start. */
EB_MUST eb_error eb_rotations_create(const eb_audit *audit, eb_rotations **out);
void eb_rotations_destroy(eb_rotations *rotations);
/* The step that comes does not begin where the last one ended: no turn, and no gain, reaches
 * across. */
void eb_rotations_reset(eb_rotations *rotations);
/* Of the step's rotations R (elements x 9), estimated of finite positions x (nodes x 3). */
void eb_rotations_step(eb_rotations *rotations, const eb_audit *audit, const double *R,
                       const double *x, eb_rotation_row *row);

#endif
