/* The audit: what the harness says of a step, computed by its own code from positions and
 * velocities.
 *
 * Nothing here calls a solver or the batched kernels the solvers assemble with: energies and
 * stresses are evaluated element by element from the published formulas (audit/reference.h), so
 * that an error in the fast path shows up as a residual. */
#ifndef EB_AUDIT_H
#define EB_AUDIT_H

#include "harness/audit/team.h"
#include "problems/scene_impl.h"
#include "problems/step.h"
#include "problems/subspace_record.h"

/* Of a part of a scene (problems/ranks/part.h) all functions are collective, and figures and errors
 * of the whole are on every rank; a row then counts nothing twice. */
typedef struct eb_audit eb_audit;

/* What a solver declares of its steps: in its table, and in the log of the step. */
typedef struct eb_declaration {
  eb_equation equation;
  eb_linearization linearization;
  eb_update update;
  const eb_subspace_record *subspace; /* in which the equation is solved, or NULL */
  eb_touching touching;               /* of linearized equations */
  eb_friction_model friction;
  const double *unfiltered; /* nodes x 3, m/s: of EB_FRICTION_FILTERED */
} eb_declaration;

/* One step audited. SI units. */
typedef struct eb_audit_row {
  double residual; /* |grad W(x1)|_2 over free nodes, N; for EB_EQUATION_STATIC |g - f_ext| */
  double residual_relative; /* the residual over the force scale: see eb_audit_step */
  double scale;             /* that scale, N */
  double joint_residual;    /* |r|_2 of the joints' equation (audit.c), N m; 0 without joints */
  double joint_residual_relative;         /* over the norm of its terms */
  double kinetic, elastic, gravitational; /* of mesh and free bodies, J, in the end */
  double springs;                         /* energy of the scene's springs in the end, J */
  double joint_kinetic, joint_potential;  /* of the rigid bodies (gravity and joint limits), J */
  double momentum[3];                     /* of all: kg m/s */
  double angular_momentum[3];             /* kg m^2/s about the origin */
  double activation;                      /* of the fibres, by the scene's script; 0 without one */
  double min_volume_ratio;                /* least det F (of Gauss points in hexahedra) */
  double hourglass;           /* size of the hourglass modes of hexahedra (hourglass.c); others 0 */
  double max_penetration;     /* deepest node below any collider at the end of the step, m */
  int32_t inverted, contacts; /* elements with det F <= 0; nodes inside a collider */
  bool finite;                /* the state and all figures of the audit are finite numbers */
  /* From here on by eb_audit_declared. */
  double equation_residual;          /* of the declared equation, N (equation.c) */
  double equation_residual_relative; /* over its force scale */
  double equation_scale;             /* that scale, N */
  /* this is the residual of all free nodes, because the equation's own cannot be told from
   * outside (equation.c) */
  bool equation_stands_in;
  /* N: the same, but of all free nodes where the equation asks for less (reduced,
   * position-based) */
  double step_residual;
  /* N: of all free nodes, in the equation that doing nothing is compared in: the declared one,
   * or implicit Euler where steps are corrected */
  double compared_residual;
  /* N: the least that this is when nothing is done: bodies stop, or go on as they are; NAN in
   * steps where it was not computed */
  double null_residual;
  /* J: how much lower the potential of the step is than when nothing is done; NAN likewise */
  double progress;
  double update_error,
      update_allowed; /* m: off the declared update; what rounding may leave (motion.c) */
  double held_error, held_allowed; /* m: off the places of scripted and carried nodes; likewise */
  /* m: h times what velocities are off those that friction leaves of the unfiltered ones, and what
   * rounding may leave of it (equation.c) */
  double filter_error, filter_allowed;
  /* J: energy that came from nowhere; negative: what was dissipated (energy.c) */
  double energy_excess;
  /* Of steps in parts: the root of the energy that a script can put in, J^(1/2); whether nodes go
   * evenly by it (script.c); and how far its work may be off what counts as such, J (energy.c) */
  double script_root;
  bool script_even;
  double work_unknown;
  double energy_scale;  /* J: size of its terms */
  double raised;        /* J: by how much corrections of positions raise the potential (motion.c) */
  double residual_work; /* J: done by the residual of the declared equation (equation.c) */
  /* J: elastic energy and that of the penalty at the start, by how much it rises, and the energy
   * scale without it */
  double stored, stored_gain, kinetic_scale;
  double way; /* m: how far nodes go in the step, root mean square by mass */
  /* Of a declared subspace: N a N / kg^1/2, and how far a node is off it, m; likewise */
  double subspace_unit, subspace_error, subspace_allowed;
  bool subspace_unsound; /* what the solver says of it cannot be */
  double unknown;        /* N: forces that belong to some roundings of the positions */
} eb_audit_row;

/* Precomputes rest shapes from the scene's mesh; allocates everything a step needs. */
EB_MUST eb_error eb_audit_create(const eb_scene *scene, eb_audit **out);

/* From here on the team, which must outlive the audit, has a share in its work. NULL: none. Figures
 * are the same with any team. */
void eb_audit_share(eb_audit *audit, eb_team *team);

/* Between steps: gives back rest shapes and workspace of a large mesh, 200 bytes a tetrahedron,
 * which its solver may want; before the audit is used again they are made anew. Figures are the
 * same. */
void eb_audit_sleep(eb_audit *audit);
EB_MUST eb_error eb_audit_wake(eb_audit *audit);

/* Connected components of the whole mesh, whatever part of it the scene has: part[i] of every node,
 * from 0 on; *count is how many (components.c). */
EB_MUST eb_error eb_audit_components(const eb_scene *scene, int32_t *part, int32_t *count);

/* Audits the step that led from `before` to `after`. W is the incremental potential of implicit
 * Euler with f_ext taken at `before` and the penalty f_c of implicit colliders and the springs'
 * pull f_s at `after` (problems/scene.h). The force scale of the relative residual is sqrt(sum over
 * free nodes of |M (x1 - xt) / h^2|^2 + |g_e|^2 + |f_c|^2 + |f_s|^2 + |f_ext|^2 + u^2), where g_e
 * are the single contributions of elements and clusters before they cancel in the sum (and the
 * inertia term is left out in statics): it does not vanish when forces balance. u is a floor, the
 * forces that belong to a change of 1e-8 in the positions x, as far as they are from the origin:
 * 1e-8 m |x| / h^2, 1e-8 k |x| of every spring, 1e-8 k (|x_a| + the mean |x_b|) of every node of a
 * cluster, and 1e-8 w |dN_a/dX| (lambda + 2 mu) sum_b |x_b| |dN_b/dX| of every element: where all
 * forces vanish, rounding alone does not read as an error. Nodes that ride on rigid bodies are not
 * free; what acts on them enters the joints' residual, and no residual where the bodies are free.
 * Fibres have the activation of the scene's script at `after`. EB_ERR_INVALID when the mesh has
 * been cut since the audit was made. */
EB_MUST eb_error eb_audit_step(eb_audit *audit, const eb_state *before, const eb_state *after,
                               double dt, eb_equation equation, eb_audit_row *row);
/* The contact forces (nodes x 3, N) of the steps audited from here on: kept, not copied. NULL:
 * none. */
void eb_audit_contact_forces(eb_audit *audit, const double *push);
/* What must hold of the step that eb_audit_step has seen last, given what its solver declares:
 * fills the rest of `row`. */
EB_MUST eb_error eb_audit_declared(eb_audit *audit, const eb_state *before, const eb_state *after,
                                   double dt, const eb_declaration *declared, eb_audit_row *row);
/* A force (N) that the step has and no law gives, found elsewhere: part of its declared equation's
 * residual. Where that has no scale, since rigid bodies alone move, `scale` (N) is it. */
void eb_audit_add_force(eb_audit_row *row, double force, double scale);
void eb_audit_destroy(eb_audit *audit);

/* Of the step audited last, node_count entries each: grad W at all nodes (x 3, N), f_ext (x 3, N),
 * which nodes are not free (1 scripted, others carried by rigid bodies); and the mass of the nodes,
 * kg. */
typedef struct eb_audit_nodes {
  const double *gradient, *force, *mass;
  const uint8_t *fixed;
} eb_audit_nodes;
eb_audit_nodes eb_audit_last(const eb_audit *audit);

#endif
