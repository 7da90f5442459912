/* The judge: what the harness says of a step, computed by its own code from positions and velocities.
 *
 * Nothing here calls a solver or the batched kernels the solvers assemble with: energies and stresses are evaluated
 * element by element from the published formulas (audit/reference.h), so that an error in the fast path shows up as a residual. */
#ifndef EB_AUDIT_H
#define EB_AUDIT_H

#include "problems/scene.h"
#include "solvers/solver.h"

typedef struct eb_audit eb_audit;

/* One step judged. SI units. */
typedef struct eb_audit_row {
  double residual; /* |grad W(x1)|_2 over free nodes, N; for EB_EQUATION_STATIC |g - f_ext| */
  double residual_relative; /* the residual over the force scale: see eb_audit_step */
  double joint_residual; /* |r|_2 of the joints' equation (audit/joints.c), N m; 0 without joints */
  double joint_residual_relative;         /* over the norm of its terms */
  double kinetic, elastic, gravitational; /* of mesh and free bodies, J, in the end */
  double joint_kinetic, joint_potential;  /* of the rigid bodies (gravity and joint limits), J */
  double momentum[3];                     /* of all: kg m/s */
  double angular_momentum[3];             /* kg m^2/s about the origin */
  double activation;                      /* of the fibres, by the scene's script; 0 without one */
  double min_volume_ratio;                /* least det F (of Gauss points in hexahedra) */
  double max_penetration;     /* deepest node below any collider at the end of the step, m */
  int32_t inverted, contacts; /* elements with det F <= 0; nodes inside a collider */
  bool finite;                /* all positions and velocities are finite numbers */
} eb_audit_row;

/* Precomputes rest shapes from the scene's mesh; allocates everything a step needs. */
EB_MUST eb_error eb_audit_create(const eb_scene *scene, eb_audit **out);

/* Judges the step that led from `before` to `after`. W is the incremental potential of implicit Euler with f_ext taken at `before`
 * and the penalty f_c of implicit colliders at `after` (problems/scene.h). The force scale of the relative residual is
 *   sqrt(sum over free nodes of |M (x1 - xt) / h^2|^2 + |g_e|^2 + |f_c|^2 + |f_ext|^2),
 * where g_e are the single element contributions before they cancel in the sum (and the inertia term is left out in statics): it
 * does not vanish when forces balance. Nodes that ride on rigid bodies are not free; what acts on them enters the
 * joints' residual, and no residual where the bodies are free. Fibres have the activation of the scene's script at `after`. EB_ERR_INVALID when the mesh has been cut since the audit was made. */
EB_MUST eb_error eb_audit_step(eb_audit *audit, const eb_state *before, const eb_state *after,
                               double dt, eb_equation equation, eb_audit_row *row);
void eb_audit_destroy(eb_audit *audit);

/* Of the step judged last, node_count entries each: grad W at all nodes (x 3, N), f_ext (x 3, N), which nodes are not free (1 scripted, others carried by
 * rigid bodies); and the mass of the nodes, kg. */
typedef struct eb_audit_nodes {
  const double *gradient, *force, *mass;
  const uint8_t *fixed;
} eb_audit_nodes;
eb_audit_nodes eb_audit_last(const eb_audit *audit);

#endif
