/* The audit: what the harness says of a step, computed by its own code from positions and
 * velocities.
 *
 * Nothing here calls a solver or the batched kernels the solvers assemble with: energies and
 * stresses are evaluated element by element from the published formulas (audit/reference.h), so
 * that an error in the fast path shows up as a residual. */
#ifndef EB_AUDIT_H
#define EB_AUDIT_H

#include "harness/audit/spot.h"
#include "harness/audit/team.h"
#include "problems/scene_impl.h"
#include "problems/step.h"
#include "problems/subspace_record.h"

/* Of a part of a scene (problems/ranks/subdomain.h) all functions are collective, and figures and
 * errors of the whole are on every rank; a row then counts nothing twice. */
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

/* A residual in its 2-norm over free nodes, the size of its terms, both N, and one over the other.
 */
typedef struct eb_audit_residual {
  double norm, scale, relative;
} eb_audit_residual;

/* How far something that must hold is off, m, and what rounding may leave of that; where it is most
 * off. */
typedef struct eb_audit_bound {
  double error, allowed;
  eb_spot spot;
} eb_audit_bound;

/* Of a state: of the mesh and free bodies and, where it says so, of the jointed rigid ones. */
typedef struct eb_audit_totals {
  double kinetic, elastic, gravitational;
  double springs;                        /* energy of the scene's springs, J */
  double joint_kinetic, joint_potential; /* of the rigid bodies (gravity and joint limits), J */
  double momentum[3];                    /* of all: kg m/s */
  double angular_momentum[3];            /* kg m^2/s about the origin */
} eb_audit_totals;

/* One step audited. SI units. */
typedef struct eb_audit_row {
  bool finite; /* the state and all figures of the audit are finite numbers */
  /* |grad W(x1)|_2, for EB_EQUATION_STATIC |g - f_ext|, and the force scale of eb_audit_step */
  eb_audit_residual implicit_euler;
  eb_audit_residual joints;   /* of their equation (audit.c), N m; 0 without joints */
  eb_audit_totals totals;     /* in the end */
  double activation;          /* of the fibres, by the scene's script; 0 without one */
  double min_volume_ratio;    /* least det F (of Gauss points in hexahedra) */
  double hourglass;           /* size of the hourglass modes of hexahedra (hourglass.c); others 0 */
  double max_penetration;     /* deepest node below any collider at the end of the step, m */
  eb_spot deepest;            /* that node */
  int32_t inverted, contacts; /* elements with det F <= 0; nodes inside a collider */
  /* From here on by eb_audit_declared. */
  eb_audit_residual declared; /* of the declared equation (equation.c) */
  /* `declared` is the residual of all free nodes, because the equation's own cannot be told from
   * outside (equation.c) */
  bool stands_in;
  /* N: the same, but of all free nodes where the equation asks for less (reduced,
   * position-based) */
  double step_residual;
  /* N: of all free nodes, in the equation that doing nothing is compared in, the declared one or
   * implicit Euler where steps are corrected: of the step, and the least when nothing is done, as
   * bodies stop, or go on as they are; NAN in steps where it was not computed */
  double compared, idle;
  double progress; /* J: how much lower the potential is than when nothing is done; NAN likewise */
  eb_audit_bound update; /* off the declared update of positions (motion.c) */
  eb_audit_bound held;   /* off the places of scripted and carried nodes */
  /* h times what velocities are off those that friction leaves of the unfiltered ones
   * (equation.c) */
  eb_audit_bound filter;
  struct {              /* what the step gains of energy, J (energy.c) */
    double excess;      /* that came from nowhere; negative: what was dissipated */
    double scale;       /* size of its terms */
    double raised;      /* by how much corrections of positions raise the potential (motion.c) */
    double rounding;    /* that rounding may leave of a gain (energy.c) */
    double of_residual; /* done by the residual of the declared equation (equation.c) */
    eb_spot spot;       /* the node on which that does most, where it is told of nodes */
    /* elastic energy and that of the penalty at the start, by how much it rises, and the scale
     * without it */
    double stored, stored_gain, kinetic_scale;
  } work;
  struct {          /* of steps in parts (script.c) */
    double root;    /* of the energy that a script can put in, J^(1/2) */
    bool even;      /* nodes go evenly by it */
    double unknown; /* J: how far its work may be off what counts as such (energy.c) */
  } script;
  double displacement; /* m: how far nodes go in the step, root mean square by mass */
  /* Of a declared subspace: how far a node is off it, N a N / kg^1/2, and whether what the solver
   * says of it cannot be (subspace.c) */
  eb_audit_bound subspace;
  double subspace_unit;
  bool subspace_unsound;
  double rounding; /* N: forces that belong to some roundings of the positions */
} eb_audit_row;

/* Precomputes rest shapes from the scene's mesh; allocates everything a step needs. */
EB_MUST eb_error eb_audit_create(const eb_scene *scene, eb_audit **out);

/* From here on the team, which must outlive the audit, has a share in its work. NULL: none. Figures
 * are the same with any team. */
void eb_audit_share(eb_audit *audit, eb_team *team);

/* Between steps: gives back rest shapes and workspace of a large mesh, 200 bytes a tetrahedron,
 * which its solver may want; before the audit is used again they are made anew. Figures are the
 * same. */
void eb_audit_drop_caches(eb_audit *audit);
EB_MUST eb_error eb_audit_restore_caches(eb_audit *audit);

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

/* Looks up a spot of the step audited last, which led to `after`; with EB_SPOT_NONE in *out where
 * it is of something that is not there. Not of what contacts know (contact_audit.h). */
void eb_audit_place(const eb_audit *audit, const eb_state *before, const eb_state *after,
                    eb_spot spot, eb_place *out);
/* The name of the body that vertex `v` of a place is of: of its region and, where several bodies
 * have that, its number as well; "obstacle 1" of an obstacle; "" of none. */
void eb_audit_body_name(const eb_audit *audit, int32_t v, char *out, size_t bytes);

/* Of the step audited last, node_count entries each: grad W at all nodes (x 3, N), f_ext (x 3, N),
 * which nodes are not free (1 scripted, others carried by rigid bodies); and the mass of the nodes,
 * kg. */
typedef struct eb_audit_nodes {
  const double *gradient, *force, *mass;
  const uint8_t *fixed;
} eb_audit_nodes;
eb_audit_nodes eb_audit_last(const eb_audit *audit);

#endif
