/* The condensation that the files of the solver `conjac` share. Internal.
 *
 * With the classes of partition.h, nodes that are not quasistatic move with B y + c. The linearized
 * forces on the quasistatic nodes stay as they are when their velocities follow:
 *
 *   H_qq v_q = -H_qn (B y + c),   n: all nodes that are not q
 *   v = J y + c,   J = [B; X],   X = -inv(H_qq) H_qn B,   c = [v_s; 0; -inv(H_qq) H_qs v_s]
 *
 * Scripted nodes are boundary as dynamic ones are, so their velocities go to the others in full.
 * (The alternative, to leave H_qs v_s to the force in b, Eq. 12 of the paper, would let gamma scale
 * it: a body carried along by its script would lag behind by a part of its displacement, and its
 * inertia would not be in the equation of motion.) In Eq. 11 c goes to the right, which is where
 * "their velocities enter f":
 *
 *   J^T (M + beta h^2 H) J y = J^T (M (v0 - c) + h f - beta h^2 H c),   f = f_ext - g(x0)
 *
 * Rows q of H J and of H c vanish by construction. Hence J^T H J = B^T (H J)_n, J^T H c = B^T (H
 * c)_n: only the rows of H that belong to the few moving nodes are ever multiplied. J^T M J is the
 * one dense product. Joints of rigid bodies add their own equation, with limits and damping taken
 * at the end of the step (K, D >= 0 diagonal):
 *
 *   (M_r + h D + h^2 K) u = M_r u0 + h tau(q0, u0) + h D u0
 *
 * Implicit colliders are in H, f and c (motion.c):
 *
 *   H_qq c_q = b_q - H_qs v_s,   b = k P w,   the right of Eq. 11 gets - beta h^2 B^T (H c - b)_n
 *
 * Positions (Eq. 13): x_q += h v_q + gamma p with p = inv(H_qq) f_q, a scaled Newton correction;
 * others as their class says. */
#ifndef EB_CONJAC_H
#define EB_CONJAC_H

#include "solvers/common/implicit.h"
#include "solvers/common/incremental_potential.h"
#include "solvers/conjac/partition.h"
#include "solvers/linalg/multifrontal.h"

typedef struct eb_relief eb_relief;

/* Whether elements of H are made positive semi-definite. */
typedef enum eb_conjac_projection {
  EB_CONJAC_PROJECT_AUTO, /* in steps whose system is indefinite without */
  EB_CONJAC_PROJECT_ALWAYS,
  EB_CONJAC_PROJECT_NEVER
} eb_conjac_projection;

typedef struct eb_conjac_settings {
  double beta, gamma;
  eb_conjac_projection project;
  bool search;             /* the step length of corrections by a line search, not gamma */
  int64_t newton_steps;    /* corrections of the quasistatic nodes after the step */
  int64_t keep_factor;     /* steps that a factor serves */
  int64_t friction_passes; /* of the filter and the projection */
  /* Ours, and not the paper's: */
  bool relief;  /* inertia relief */
  bool predict; /* nodes that are about to arrive at a collider are in contact */
  bool add;     /* nodes that have to be dynamic for H_qq to be definite become so */
} eb_conjac_settings;

/* Friction of one contact with a collider in a step. */
typedef struct eb_friction {
  double bound;      /* mu times the normal impulse, N s */
  double impulse[3]; /* so far */
} eb_friction;

enum { EB_PACKED_ROWS = 192 };

/* The system of the unknowns in a step. Matrices are unknowns x unknowns, column-major, lower
 * triangles. */
typedef struct eb_reduced_system {
  double *inertia;   /* J^T M J */
  double *stiffness; /* J^T H J, both triangles */
  double *factor;    /* Cholesky factor of the system */
  double *floor;     /* unknowns: least pivots */
  double *rhs, *y;   /* unknowns */
  double *rows;      /* rows of H J of the moving nodes: 3 x unknowns, row-major, a node */
  double *packed;    /* EB_PACKED_ROWS rows of M^1/2 J */
  double joint_mass[EB_MAX_JOINTS * EB_MAX_JOINTS];
  double joint_stiffness[EB_MAX_JOINTS], joint_damping[EB_MAX_JOINTS], joint_force[EB_MAX_JOINTS];
} eb_reduced_system;

typedef struct eb_conjac {
  /* matrix: H, then H_qq and the identity; rhs: f, then M (v0 - c) + h f; unknown: v */
  eb_implicit work;
  eb_conjac_settings settings;
  eb_node_list chosen; /* dynamic, or would be if they were not scripted */
  eb_partition part;
  eb_multifrontal *factor;
  eb_block_matrix
      *rows;          /* H's rows of the nodes that are not quasistatic; the others' are not kept */
  double *correction; /* 3 nodes: p */
  double *constant;   /* 3 nodes, next to p: c */
  /* Row-major, 3 nodes x stride. The right-hand sides -H_qn B, 0 but next to moving nodes, then f_q
   * and b_q - H_qs v_s; and the solutions, J and then p and c. */
  int64_t stride;
  double *rhs, *jacobian;
  /* 3 nodes: f_ext; in unsupported bodies without what accelerates them as a whole */
  double *relieved;
  eb_relief *relief; /* NULL without the option */
  double *root_mass; /* nodes: M^1/2 */
  double *trial;     /* 3 nodes: workspace of the line search */
  uint8_t *boundary; /* nodes: scripted and attached ones when rigid modes were last constrained */
  eb_reduced_system reduced;
  eb_potential potential; /* of the quasistatic nodes, for the line search */
  double diagonal;        /* of the rest box, m */
  bool equilibrate_first; /* the static solve at the start is still to come */
  bool inhomogeneous;     /* c is not 0 in this step */
  bool had_contact;       /* with implicit colliders, in the last step */
  eb_friction *friction;  /* work.touch_room */
  bool factor_valid;      /* factor and J can serve */
  bool projected;         /* the elements of the H that they are made of */
  bool rhs_stale;         /* rhs has the pattern of another partition */
  int64_t age;            /* steps that they have served */
} eb_conjac;

/* ---- rigid_modes.c: no body may move rigidly ---- */

/* Static equilibrium of the quasistatic nodes needs every connected component constrained against
 * rigid motion: by three nodes, scripted, dynamic or attached, that are not on one line (in the
 * plane: two that are not on one point). Adds to `list`, farthest first and inside the body where
 * that does, the nodes that are lacking in components that have a dynamic node but too few, and in
 * components without any, at positions x; boundary[i] != 0 marks scripted and attached nodes.
 * *added: how many. Allocates; for create and rebuild, and when nodes are freed. */
EB_MUST eb_error eb_conjac_constrain_bodies(const eb_scene *scene, const uint8_t *boundary,
                                            const double *x, eb_node_list *list, int32_t *added);
/* EB_ERR_USAGE when whole bodies at x can move rigidly between the nodes of c->boundary and the
 * chosen ones. */
EB_MUST eb_error eb_conjac_require_held_bodies(const eb_conjac *c, const double *x);
/* With settings.add makes further nodes dynamic where `boundary`, the scripted and attached nodes,
 * and the chosen ones leave H_qq singular at x; then partitions. */
EB_MUST eb_error eb_conjac_constrain_rigid_modes(eb_conjac *c, const uint8_t *boundary,
                                                 const double *x, const double *angles,
                                                 eb_step_log *log);

/* ---- condense.c: factor and columns ---- */

/* What depends on the number of dynamic nodes. */
EB_MUST eb_error eb_conjac_allocate_columns(eb_conjac *c);
void eb_conjac_release_columns(eb_conjac *c);
/* Sorts the nodes, given work.fixed and the angles of the joints; no allocation. */
void eb_conjac_partition(eb_conjac *c, const double *angles);
/* k P w on every node, overwriting `to` (3 nodes): what moving colliders bring. */
void eb_conjac_collider_force(const eb_conjac *c, double *to);
/* Adds the springs of the contacts to H, with `keep_rows` keeps its rows, factors H_qq. */
EB_MUST eb_error eb_conjac_factor(eb_conjac *c, bool keep_rows, eb_step_log *log,
                                  eb_reason *reason);
/* p, c and, when `fresh`, J. */
EB_MUST eb_error eb_conjac_condense(eb_conjac *c, bool fresh, eb_step_log *log, eb_reason *reason);
/* p alone. */
EB_MUST eb_error eb_conjac_correct(eb_conjac *c, eb_step_log *log, eb_reason *reason);

/* ---- motion.c: the equation of motion ---- */

/* Solves for y; work.unknown = J y + c, friction included. Products of J are made anew when
 * `fresh`. */
void eb_conjac_reduce(eb_conjac *c, const eb_state *state, double dt, bool fresh, eb_step_log *log,
                      eb_reason *reason);

/* ---- relief.c: inertia relief ---- */

/* Of the bodies of the mesh, which is not kept. *out is NULL on failure. */
EB_MUST eb_error eb_relief_create(const eb_mesh *mesh, eb_relief **out);
void eb_relief_destroy(eb_relief *relief);
/* load -= M (rigid acceleration by f) in bodies without scripted and attached nodes that nothing
 * touches; everything of all nodes. */
void eb_relief_apply(eb_relief *relief, const eb_partition *part, const eb_touch *touches,
                     int32_t touch_count, const double *mass, const double *x, const double *f,
                     double *load);

#endif
