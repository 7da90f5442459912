/* What the solvers `warp-cholesky` and `damped-warp` share: corotational elasticity whose matrix is
 * out of date where that does little harm. Internal to solvers/warp_cholesky/.
 *
 *   R_n A R_n^T v1 = M v0 + h (f_ext - g(x0)),   x1 = x0 + h v1
 *   A = (1 + h a) M + (h^2 + h b) sum_e Q_e K_e Q_e^T,   Q_e = diag(R_i^T R_e) as last refreshed
 *
 * R_n = diag(R_i) and the right-hand side are exact at every step (Hecht, Lee, Shewchuk and O'Brien
 * 2012, Equations 4 and 5). Only A and its factor lag behind. With w = R_n^T v1 the system is A w =
 * R_n^T b; scripted nodes have w_f = R_f^T v_f, their rows and columns are the identity in the
 * factored matrix, and A_free,fixed w_f goes to the right-hand side.
 *
 * In the frame of a rigid motion u (moving_frame.h; the paper has u = 0) the same system is solved
 * for v1 - u, with the exact matrix on the right: with r = 1 + h a and s = h^2 + h b,
 *   M v0 + h (f - g(x0)) - (r M + s K) u = M (v0 - r u) + h (f - g(x0 + (s / h) u)),
 * for with the rotations of x0 g is linear, and its derivative is K. */
#ifndef EB_WARP_H
#define EB_WARP_H

#include "problems/elasticity/corotation.h"
#include "solvers/common/linearly_implicit.h"
#include "solvers/linalg/multifrontal.h"
#include "solvers/warp_cholesky/correction.h"
#include "solvers/warp_cholesky/damping.h"
#include "solvers/warp_cholesky/moving_frame.h"
#include "solvers/warp_cholesky/schedule.h"
#include "solvers/warp_cholesky/updown.h"

/* How the factor follows a change of A. */
typedef enum eb_warp_follow {
  EB_FOLLOW_PARTS, /* fronts of the marked supernodes and of their ancestors */
  EB_FOLLOW_WHOLE, /* a whole factorization whenever anything has changed */
  EB_FOLLOW_RANKS  /* rank updates and downdates of CHOLMOD's factor, element by element */
} eb_warp_follow;

typedef enum eb_warp_nodes { EB_NODES_AUTO, EB_NODES_HORN, EB_NODES_IDENTITY } eb_warp_nodes;

typedef struct eb_warp_settings {
  eb_update_rule
      rule;      /* budget as a fraction of all supernodes' cost; from 1 on there is no limit */
  int32_t count; /* so many of the worst elements instead of what the rule says; 0: the rule */
  bool measured_costs;    /* costs are seconds, averaged over factorizations; else flops */
  double averaging;       /* share of the newest measurement */
  double whole_from;      /* share of the factor's work from which on everything is renewed */
  bool refresh_ancestors; /* elements of refactored ancestors are refreshed too */
  eb_warp_follow follow;
  eb_keep_updates keep_updates; /* EB_FOLLOW_PARTS only, where it is not EB_KEEP_NONE */
  bool single_precision;
  eb_frame_kind frame;
  eb_warp_nodes nodes; /* AUTO: the identity for sheets */
  double correct;      /* kg m/s: conjugate gradients go on to this residual; 0: they do not */
  double damping, damp_above;
  double mass_damping, stiffness_damping; /* a, b */
} eb_warp_settings;

typedef struct eb_warp {
  eb_implicit implicit; /* implicit.matrix is A, without constraints */
  eb_warp_settings settings;
  bool turns_nodes; /* else R_i = identity */
  eb_corotation *corotation;
  eb_block_matrix *constrained; /* what is factored; A itself where nothing is ever scripted */
  eb_multifrontal *factor;
  eb_updown *updown; /* EB_FOLLOW_RANKS only */
  eb_damping damping;
  eb_element_map elements;
  eb_moving_frame frame;    /* EB_FRAME_WORLD: empty */
  eb_correction correction; /* settings.correct > 0 only */

  double *error;    /* elements: as estimated in the present step, kg m/s */
  uint8_t *refresh; /* elements: whether they are refreshed in the present step */
  uint8_t *only;    /* elements: zero between uses */
  uint8_t *touched; /* nodes: workspace */
  double *badness;  /* supernodes */
  double *cost;     /* supernodes: averaged seconds, or flops */
  double *work;     /* supernodes: flops with those that assembly is worth */
  int32_t *heap;    /* supernodes or elements, whichever are more: workspace */
  uint8_t *marked;  /* supernodes */

  bool current;                       /* A and factor belong to what follows */
  double mass_scale, stiffness_scale; /* of A */
  uint8_t *fixed;                     /* nodes: scripted in the factored matrix */
} eb_warp;

/* The options that both solvers have; `rotations` and `strength` are defaults, as text. */
#define EB_WARP_OPTIONS(rotations, strength)                                                       \
  {.name = "node_rotations",                                                                       \
   .type = EB_OPTION_CHOICE,                                                                       \
   .fallback = (rotations),                                                                        \
   .choices = "auto|horn|identity",                                                                \
   .unit = "",                                                                                     \
   .doc = "of the nodes; auto: the identity where half of the elements are flat (sheets)"},        \
      {.name = "frame",                                                                            \
       .type = EB_OPTION_CHOICE,                                                                   \
       .fallback = "world",                                                                        \
       .choices = "world|translation|body",                                                        \
       .unit = "",                                                                                 \
       .doc = "solve for velocities (the paper), or for those beside each body's rigid motion"},   \
      {.name = "damping",                                                                          \
       .type = EB_OPTION_REAL,                                                                     \
       .fallback = (strength),                                                                     \
       .min = 0,                                                                                   \
       .max = 1,                                                                                   \
       .unit = "",                                                                                 \
       .doc = "how far elements above damp_above that are not updated go to a rigid motion"},      \
  {                                                                                                \
    .name = "damp_above", .type = EB_OPTION_REAL, .fallback = "5e-1", .min = 0, .max = 1e300,      \
    .unit = "kg m/s",                                                                              \
    .doc = "error of an element from which on it is damped; the paper's, a momentum, as tau"       \
  }
/* Settings with the values of these and of EB_RAYLEIGH_OPTIONS, zeros for the rest. */
eb_warp_settings eb_warp_common_settings(const eb_values *options);

/* The create of a solver: solver->data is its eb_warp. */
EB_MUST eb_error eb_warp_create(eb_solver *solver, const eb_warp_settings *settings);
/* The other functions of the solver. */
void eb_warp_destroy(eb_solver *solver);
EB_MUST eb_error eb_warp_step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                              eb_reason *reason);

/* ---- inside solvers/warp_cholesky/ ----------------------------------------------------------- */

/* With the rotations of the present taken: everything anew where scripted nodes, step length or
 * damping have changed, or where nearly everything would be; else errors are estimated for the
 * velocities v (nodes x 3), supernodes are chosen, and A and its factor follow them. On return
 * warp->refresh says which elements are of the present and, where the others matter, warp->error
 * how wrong they are. A negative reason is that of a whole factorization: there is no factor then.
 */
EB_MUST eb_error eb_warp_relinearize(eb_warp *warp, const double *v, double mass_scale,
                                     double stiffness_scale, eb_step_log *log, eb_reason *reason);

/* Sheets, for which node rotations do harm: rotations of neighbouring nodes differ by much near
 * wrinkles and creases, and an element between them feels forces that balance nothing (Hecht et al.
 * 2012, Section 4.1). Whether at least half of the tetrahedra are flat: their smallest height is
 * below a twentieth of their longest edge. True for sheets of one layer of flat cubes; false for
 * stuffed bodies and for bars with cubes that are up to ten times as long as wide. */
bool eb_mesh_is_thin(const eb_mesh *mesh);

#endif
