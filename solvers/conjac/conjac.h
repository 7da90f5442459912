/* The condensation that the files of the solver `conjac` share; not a public interface.
 *
 * With the classes of partition.h, nodes that are not quasistatic move with B y + c. The linearized forces on the
 * quasistatic nodes stay as they are when their velocities follow:
 *
 *   H_qq v_q = -H_qn (B y + c),   n: all nodes that are not q
 *   v = J y + c,   J = [B; X],   X = -inv(H_qq) H_qn B,   c = [v_s; 0; -inv(H_qq) H_qs v_s]
 *
 * Scripted nodes are boundary as dynamic ones are, so their velocities go to the others in full. (The alternative, to leave H_qs v_s
 * to the force in b, Eq. 12 of the paper, would let gamma scale it: a body carried along by its script would lag behind
 * by a share of its way, and its inertia would not be in the equation of motion.) In Eq. 11 c goes to the right, which
 * is where "their velocities enter f":
 *
 *   J^T (M + beta h^2 H) J y = J^T (M (v0 - c) + h f - beta h^2 H c),   f = f_ext - g(x0)
 *
 * Rows q of H J and of H c vanish by construction. Hence J^T H J = B^T (H J)_n, J^T H c = B^T (H c)_n: only the rows of H that
 * belong to the few moving nodes are ever multiplied. J^T M J is the one dense product. Joints of rigid bodies add their own
 * equation, with limits and damping taken at the end of the step (K, D >= 0 diagonal):
 *
 *   (M_r + h D + h^2 K) u = M_r u0 + h tau(q0, u0) + h D u0
 *
 * Implicit colliders (contact.c) are in H, f and c.
 *
 * Positions (Eq. 13): x_q += h v_q + gamma p with p = inv(H_qq) f_q, a scaled Newton correction; others as their class says. */
#ifndef EB_CONJAC_H
#define EB_CONJAC_H

#include "solvers/common/implicit.h"
#include "solvers/common/incremental_potential.h"
#include "solvers/conjac/partition.h"
#include "solvers/linalg/multifrontal.h"

typedef struct eb_relief eb_relief;

typedef struct eb_conjac_settings {
  double beta, gamma;
  bool search;             /* gamma by a line search */
  int64_t newton_steps;    /* corrections of the quasistatic nodes after the step */
  int64_t keep_factor;     /* steps that a factor serves */
  int64_t friction_passes; /* of the filter and the projection */
  bool relief;             /* inertia relief */
} eb_conjac_settings;

/* Friction of one touch in a step. */
typedef struct eb_friction {
  double bound;      /* mu times the normal impulse, N s */
  double impulse[3]; /* so far */
} eb_friction;

enum { EB_PACKED_ROWS = 192 };

/* The small system of a step. Matrices are unknowns x unknowns, column-major, lower triangles. */
typedef struct eb_reduced {
  double *inertia;   /* J^T M J */
  double *stiffness; /* J^T H J, both triangles */
  double *factor;    /* Cholesky factor of the system */
  double *floor;     /* unknowns: least pivots */
  double *rhs, *y;   /* unknowns */
  double *rows;      /* rows of H J of the moving nodes: 3 x unknowns, row-major, a node */
  double *packed;    /* EB_PACKED_ROWS rows of M^1/2 J */
  double joint_mass[EB_MAX_JOINTS * EB_MAX_JOINTS];
  double joint_stiffness[EB_MAX_JOINTS], joint_damping[EB_MAX_JOINTS], joint_force[EB_MAX_JOINTS];
} eb_reduced;

typedef struct eb_conjac {
  eb_implicit
      work; /* matrix: H, then H_qq and the identity; rhs: f, then M (v0 - c) + h f; unknown: v */
  eb_conjac_settings settings;
  eb_node_list chosen; /* dynamic, or would be if they were not scripted */
  eb_partition part;
  eb_multifrontal *factor;
  eb_block_matrix
      *rows;          /* H's rows of the nodes that are not quasistatic; the others' are not kept */
  double *correction; /* 3 nodes: p */
  double *constant;   /* 3 nodes, next to p: c */
  /* By rows, the entries of a row next to each other: 3 nodes x stride. The right-hand sides, 0 but beside moving nodes and for the two
   * last, f_q and -H_qs v_s; and the solutions, J and then p and c. */
  int64_t stride;
  double *pushes, *jacobian;
  double *
      relieved; /* 3 nodes: f_ext, in bodies that nothing holds without what accelerates them as a whole */
  eb_relief *relief; /* NULL without the option */
  double *root_mass; /* nodes: M^1/2 */
  double *trial;     /* 3 nodes: workspace of the line search */
  uint8_t *held; /* nodes: boundary without the dynamic ones when eb_conjac_hold was last asked */
  eb_reduced reduced;
  eb_potential potential; /* of the quasistatic nodes, for the line search */
  double diagonal;        /* of the rest box, m */
  bool settle;            /* the static solve at the start is still to come */
  bool inhomogeneous;     /* c is not 0 in this step */
  bool touched;           /* there were touches in the last step */
  eb_friction *friction;  /* work.touch_room */
  bool current;           /* factor and J can serve */
  bool stale;             /* pushes are those of another partition */
  int64_t age;            /* steps that they have served */
} eb_conjac;

/* ---- create.c: life, and following the mesh and the script ---- */

EB_MUST eb_error eb_conjac_create(eb_solver *solver, const eb_scene *scene);
void eb_conjac_destroy(eb_solver *solver);
/* Dynamic nodes stay, with all copies that a cut has made of them; everything else is made anew. */
EB_MUST eb_error eb_conjac_rebuild(eb_solver *solver, const eb_state *state, eb_step_log *log);
/* Sorts the nodes of a step into classes. Where the script has let go of nodes, further nodes may have to become dynamic: the
 * only case in which a step allocates. */
EB_MUST eb_error eb_conjac_classify(eb_conjac *c, const eb_state *state, eb_step_log *log);

/* ---- hold.c: no body may move rigidly ---- */

/* What depends on the number of dynamic nodes. */
EB_MUST eb_error eb_conjac_allocate_columns(eb_conjac *c);
void eb_conjac_release_columns(eb_conjac *c);
/* Sorts the nodes, given work.fixed and the angles of the joints; no allocation. */
void eb_conjac_partition(eb_conjac *c, const double *angles);
/* Further dynamic nodes where `boundary`, the scripted and carried nodes, and the chosen ones leave H_qq singular at x. */
EB_MUST eb_error eb_conjac_make_definite(eb_conjac *c, const uint8_t *boundary, const double *x,
                                         const double *angles, eb_step_log *log);

/* ---- condense.c: factor and columns ---- */

/* work.rhs = f on every node at x, given the elastic gradient and the touches; relieved. Returns false when it is not finite. */
bool eb_conjac_net_force(eb_conjac *c, const double *x);
/* f_q . p, J. */
double eb_conjac_work_of_correction(const eb_conjac *c);
/* Writes f_q, with 0 on other nodes, to c->correction, where the solves below expect it. Returns |f_q|_2, N. */
double eb_conjac_residual(const eb_conjac *c);
/* Adds the springs of the touches to H, keeps its rows, factors H_qq. */
EB_MUST eb_error eb_conjac_factor(eb_conjac *c, bool keep_rows, eb_step_log *log,
                                  eb_reason *reason);
/* p, c and, when `fresh`, J. */
EB_MUST eb_error eb_conjac_condense(eb_conjac *c, bool fresh, eb_step_log *log, eb_reason *reason);
/* p alone. */
EB_MUST eb_error eb_conjac_correct(eb_conjac *c, eb_step_log *log, eb_reason *reason);

/* ---- reduced.c: the equation of motion ---- */

/* Solves for y; work.unknown = J y + c, friction included. Products of J are renewed when `fresh`. */
void eb_conjac_reduce(eb_conjac *c, const eb_state *state, double dt, bool fresh, eb_step_log *log,
                      eb_reason *reason);

/* y = inv(system) y, the system that was solved last. */
void eb_conjac_back_substitute(const eb_conjac *c, double *y);

/* ---- contact.c: implicit penalty contact ---- */

/* The touches of a step; c is not 0 when something moves. Returns whether a factor that is kept does not know them: there are some, or were. */
bool eb_conjac_find_contact(eb_conjac *c, const eb_state *state, double dt, eb_step_log *log);
/* The nodes that are inside colliders at x. */
void eb_conjac_find_contact_at(eb_conjac *c, double time, const double *x);
/* k P w on every node, overwriting `to` (3 nodes). */
void eb_conjac_carry(const eb_conjac *c, double *to);
/* Friction on y. */
void eb_conjac_friction(eb_conjac *c, double dt, double scale, eb_step_log *log);

/* ---- relief.c: inertia relief ---- */

EB_MUST eb_error eb_relief_create(const eb_mesh *mesh, eb_relief **out);
void eb_relief_destroy(eb_relief *relief);
/* Forgets which bodies are held; then holds that of a node, beside those with scripted and carried nodes. */
void eb_relief_begin(eb_relief *relief);
void eb_relief_hold(eb_relief *relief, int32_t node);
/* After these, in bodies that are not held: pull -= M (rigid acceleration by f), everything of all nodes. */
void eb_relief_apply(eb_relief *relief, const eb_partition *part, const double *mass,
                     const double *x, const double *f, double *pull);

/* ---- settle.c: towards equilibrium of the quasistatic nodes ---- */

/* The share of p to be added to x: gamma, or that of the line search from there, given f_q . p. */
double eb_conjac_share(eb_conjac *c, const eb_state *state, double work_of_p, eb_step_log *log);
/* x_q += share p */
void eb_conjac_add_correction(const eb_conjac *c, double share, double *x);
/* Statics of the quasistatic nodes with the others where they are. */
EB_MUST eb_error eb_conjac_settle(eb_conjac *c, eb_state *state, eb_step_log *log,
                                  eb_reason *reason);
/* The corrections after a step. */
EB_MUST eb_error eb_conjac_newton_steps(eb_conjac *c, eb_state *state, eb_step_log *log,
                                        eb_reason *reason);

/* ---- step.c ---- */

EB_MUST eb_error eb_conjac_step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                                eb_reason *reason);

#endif
