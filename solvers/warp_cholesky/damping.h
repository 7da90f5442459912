/* Selective damping: elements whose matrix is too far out of date are drawn towards a rigid motion.
 *
 * Hecht, Lee, Shewchuk and O'Brien 2012, Section 4.4; shape matching: Mueller, Heidelberger,
 * Teschner and Gross 2005. Of all rigid motions that take the corners x_a of an element away from
 * where they are, shape matching finds the one nearest to where the step takes them, x_a + h v_a:
 * with the centres c of x and d of x + h v,
 *   R = polar(sum_a (x_a + h v_a - d) (x_a - c)^T),   h u_a = R (x_a - c) + d - x_a.
 * An element of error e above `above` is damped by s = strength (1 - above / e), and
 *   v_i += sum_e m_ei / m_i s_e (u_ei - v_i),   m_ei: the element's share of the node's mass m_i.
 * Elements keep their momentum and with it the body; as v_i stays a mean of what its elements want,
 * and u is what is nearest to v, the kinetic energy does not grow but for the second order of the
 * rotation in a step. */
#ifndef EB_WARP_DAMPING_H
#define EB_WARP_DAMPING_H

#include "problems/scene_impl.h"

typedef struct eb_damping {
  const eb_mesh *mesh;
  const double *mass; /* nodes, kg */
  double *share;      /* elements: the mass an element gives to each of its nodes, kg */
  int32_t *damped;    /* elements: those of the present step */
  double *pull;       /* elements x 12: u_ei - v_i times s_e m_ei, kg m/s, of those */
} eb_damping;

/* Of tetrahedra; the scene outlives it. On failure nothing stays allocated. */
EB_MUST eb_error eb_damping_create(const eb_scene *scene, eb_damping *out);
void eb_damping_clear(eb_damping *damping);

/* Changes v (nodes x 3, m/s) of the nodes that are not fixed. `fresh` elements are left alone
 * whatever their error. Returns how many elements were damped. The same bits for any number of
 * threads. */
int32_t eb_damping_apply(eb_damping *damping, double strength, double above, const double *error,
                         const uint8_t *fresh, const uint8_t *fixed, const double *x, double dt,
                         double *v);

#endif
