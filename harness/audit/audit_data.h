/* What audit.c measures of a step and its neighbours go on from: equation.c (the residual of the
 * declared equation), motion.c (updates, held nodes), energy.c, momentum_balance.c (momentum).
 * Internal to harness/audit. */
#ifndef EB_AUDIT_DATA_H
#define EB_AUDIT_DATA_H

#include <math.h>

#include "harness/audit/audit.h"
#include "harness/audit/four.h"
#include "problems/base/arena.h"
#include "problems/contact/implicit_penalty.h"
#include "problems/ranks/subdomain.h"

enum {
  EB_AUDIT_PART_SUMS = 16,
  EB_AUDIT_LANES = 4,
  EB_AUDIT_HOURGLASS = 4, /* patterns of a hexahedron */
  EB_AUDIT_MOTIONS = 2    /* velocities that tangents are applied to in one sweep, at most */
};
enum { EB_AUDIT_SCRIPTED = 1, EB_AUDIT_CARRIED = 2 }; /* eb_audit.fixed; 0: free */

typedef struct eb_mass_points eb_mass_points; /* of the free bodies: energy.c */

/* Elastic forces and energy of elements and clusters at positions x, with what they were computed
 * for. */
typedef struct eb_audit_elastic {
  double *x, *g;    /* nodes x 3: m, N */
  double energy;    /* J */
  double scale2;    /* N^2: sum of the squares of the single forces on free nodes, one by one */
  double rounding2; /* N^2: of what 64-bit positions leave unknown of them, times 1e8 (audit.h) */
  double hourglass; /* m^3: sum of V^(1/3) |c_k|^2 (hourglass.c) */
  double activation, min_volume_ratio;
  int32_t inverted;
  bool current; /* filled, for the present fixed nodes */
} eb_audit_elastic;

/* Of the springs of the scene at one time. */
typedef struct eb_audit_springs {
  double *place, *stiffness; /* springs x 3, m; springs, N/m; NULL without springs */
} eb_audit_springs;

/* Up to four points of quadrature in a row, of elements of one region: a lane of four.h each. Lanes
 * beyond them repeat the last. */
typedef struct eb_audit_batch {
  int64_t first; /* point; element e has e points .. (e + 1) points - 1 */
  int32_t count;
  bool owned;       /* the elements count in sums: all of a batch or none */
  eb_four weight;   /* rest volume of the point, m^3 */
  eb_four fibre[3]; /* unit rest direction, where the mesh has any */
} eb_audit_batch;

/* A node of the elements of such points. */
typedef struct eb_audit_corner {
  eb_four g[3], slope; /* dN_a/dX, and its length */
} eb_audit_corner;

/* Of a hexahedron (hourglass.c): E = sum_k stiffness_k |sum_a gamma_ka x_a|^2. */
typedef struct eb_audit_hourglass {
  double gamma[EB_AUDIT_HOURGLASS][8], stiffness[EB_AUDIT_HOURGLASS]; /* 1, N/m */
  double size;                                                        /* V^(1/3), m */
} eb_audit_hourglass;

/* A part of the elements, of any number of which one thread each may sweep over. */
typedef struct eb_audit_lane {
  int32_t first, last;            /* elements first <= e < last */
  size_t low, high;               /* their nodes are of low <= i < high */
  double *g[EB_AUDIT_MOTIONS];    /* (high - low) x 3 each: forces on them */
  size_t first_batch, last_batch; /* first <= b < last */
} eb_audit_lane;

struct eb_audit {
  const eb_scene *scene;
  size_t nodes; /* of the mesh when the audit was made */
  /* Of a part of a scene, figures are sums over the nodes and elements that its rank owns, which
   * come first, summed over the ranks: the same on all of them. Nodes behind have no forces that
   * mean anything. Of a whole scene ranks is NULL, and all are owned. */
  const eb_ranks *ranks;
  size_t own_nodes;
  int32_t own_elements;
  eb_material materials[EB_MAX_REGIONS]; /* with the activation of the step */
  double activation;
  eb_team *team; /* or NULL */
  eb_audit_lane lanes[EB_AUDIT_LANES];
  int points; /* quadrature points of an element */
  size_t batch_count;
  eb_audit_batch *batches;
  eb_audit_corner *corners;      /* batches x nodes of an element */
  eb_audit_hourglass *hourglass; /* elements, or NULL */
  double volume;                 /* m^3, where these are */
  double shear;                  /* J: sum of w mu over the points of owned elements */
  bool controlled;               /* any of them is stiff */
  double *mass;                  /* nodes */
  eb_mass_points *bodies;        /* or NULL */
  int32_t parts, *part;          /* connected components, and that of every node */
  double *force;                 /* nodes x 3: f_ext */
  double *residual;              /* nodes x 3: grad W */
  double *target;                /* nodes x 3 */
  double *distance;              /* nodes: from the origin; workspace of elements.c, m */
  uint8_t *fixed;                /* nodes */
  const double *push;            /* nodes x 3: contact forces of the step, or NULL */
  eb_audit_elastic start, end;
  double *own, *stretch, *trial, *stopped; /* nodes x 3: workspace of equation.c and motion.c */
  const double *declared; /* nodes x 3: residual of the declared equation, own or residual */
  int32_t touch_room;     /* of touches */
  eb_touch *touches;      /* or NULL */
  double *part_sums;      /* parts x EB_AUDIT_PART_SUMS: workspace */
  size_t spring_count;
  const int32_t *spring_node;
  eb_audit_springs springs[2]; /* at the start and at the end of the step */
  double *pull;                /* nodes x 3: their force at the end of the step, N, or NULL */
  /* Batches with their corners and what sweeps and equations work in, which come and go
   * (eb_audit_drop_caches); all else. */
  eb_arena shapes, owned;
};

/* *most = value when that is larger, or no number: fmax would forget it. */
static inline void eb_audit_raise(double value, double *most) {
  if (!(value <= *most)) *most = value;
}

static inline eb_spot eb_audit_node(size_t i) {
  return (eb_spot){EB_SPOT_NODE, (int32_t)i, -1};
}

/* The same of what must hold. */
static inline void eb_audit_raise_at(double error, eb_spot spot, eb_audit_bound *most) {
  if (error <= most->error) return;
  most->error = error;
  most->spot = spot;
}

/* What a sum over all ranks begins with: it is to be in it once. */
static inline double eb_audit_once(const eb_audit *audit, double value) {
  return eb_ranks_self(audit->ranks) == 0 ? value : 0;
}

static inline double eb_audit_sum(const eb_audit *audit, double value) {
  eb_ranks_sum(audit->ranks, 1, &value);
  return value;
}

/* The largest of all ranks; of one that is no number, none. */
static inline double eb_audit_most(const eb_audit *audit, double value) {
  double both[2] = {isnan(value) ? INFINITY : value, isnan(value)};
  if (!audit->ranks) return value;
  eb_ranks_max(audit->ranks, 2, both);
  return both[1] > 0 ? NAN : both[0];
}

/* The same, and whose it is: other ranks have a node of another rank in *spot. */
static inline double eb_audit_most_at(const eb_audit *audit, double own, eb_spot *spot) {
  double most = eb_audit_most(audit, own);
  if (!(own == most || isnan(own))) *spot = (eb_spot){EB_SPOT_NODE, -1, -1};
  return most;
}

static inline double eb_audit_squared(const double a[3]) {
  return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

/* Shares the elements out among audit->lanes, cuts them into batches, and fills these, and masses,
 * from the scene's mesh. */
EB_MUST eb_error eb_audit_rest_shapes(eb_audit *audit);
/* Frees what eb_audit_restore_caches makes: batches with their corners, and workspace. */
void eb_audit_drop_shapes(eb_audit *audit);
/* Makes of components of a rank's nodes those of the whole mesh: component[i] of every local node,
 * below *count or -1 where it is of none (components.c). Ranks call it together; without a part
 * nothing changes. */
EB_MUST eb_error eb_audit_join_components(const eb_subdomain *part, int32_t nodes,
                                          int32_t *component, int32_t *count);

/* Fills `out` (but for its `current`) at positions x, with the materials of the step; clusters
 * included. */
void eb_audit_elements(const eb_audit *audit, const double *x, eb_audit_elastic *out);
/* out[m] = K(x) v[m], nodes x 3, N s/m m/s, m < motions <= EB_AUDIT_MOTIONS; scale2[m]: the sum of
 * the squares of the single contributions to free nodes; clusters included. */
void eb_audit_tangent(const eb_audit *audit, const double *x, eb_tangent tangent, int motions,
                      const double *const v[], double *const out[], double scale2[]);

/* Clusters of nodes (clusters.c). Adds to g, energy, scale2 and rounding2 at positions x. */
void eb_audit_clusters(const eb_audit *audit, const double *x, eb_audit_elastic *out);
/* Adds K(x) v to `out` (nodes x 3), and the squares of what free nodes get to *scale2. */
void eb_audit_clusters_tangent(const eb_audit *audit, const double *x, eb_tangent tangent,
                               const double *v, double *out, double *scale2);

/* Hexahedra as a whole and their hourglass modes (hourglass.c): means of dN_a/dX (8 x 3, 1/m) and
 * N_a (8) over a hexahedron, and its volume. */
void eb_audit_mean_point(const eb_mesh *mesh, int32_t element, double *gradients, double shares[8],
                         double *volume);
/* Fills audit->hourglass and volume. */
EB_MUST eb_error eb_audit_hourglass_create(eb_audit *audit);
/* Adds K y of the lane's elements to `to` (of the lane's nodes, N); returns the sum of the squares
 * of what single elements give to free nodes. */
double eb_audit_hourglass_push(const eb_audit *audit, const eb_audit_lane *lane, const double *y,
                               double *to);
/* Adds to energy, rounding2 and hourglass at positions x, whose audit->distance is filled. */
void eb_audit_hourglass_sums(const eb_audit *audit, const eb_audit_lane *lane, const double *x,
                             eb_audit_elastic *sum);

/* Fills audit->bodies. */
EB_MUST eb_error eb_audit_mass_points(eb_audit *audit);
/* Kinetic and gravitational energy and momenta of all nodes and free bodies, and those of the
 * joints' rigid bodies: added to `totals`, which has none. */
void eb_audit_energies(const eb_audit *audit, const eb_state *state, eb_audit_totals *totals);

/* Takes what of `from` is tangential to the unit normal, at most `bound` of it, out of `out`. */
void eb_audit_take_tangential(double bound, const double normal[3], const double from[3],
                              double out[3]);
/* Takes friction out of the force r (N) that a node lacks without any. Coulomb's law, |f| <= mu
 * r_n, and f = -mu r_n u / |u| where the node slips by u along the collider, is
 *   f = P(f - rate u)
 * for any rate > 0, P the projection onto |f| <= mu r_n. What is left, r - P(r - rate u), is 0
 * where the law holds, what is missing of mu r_n where a node slips without, and rate |u| where
 * one creeps that should stick. With rate = m / h + h k that is how inertia and the collider
 * answer such a slip in a step: a way h u along the surface counts like a depth of h u. */
void eb_audit_take_friction(double bound, double rate, const double normal[3], const double slip[3],
                            double r[3]);

/* Takes the penalty of implicit colliders with nodes at x out of `residual` (nodes x 3, N), and,
 * unless `from` is NULL, their friction on nodes that have come from there within dt; returns the
 * squared size of the penalty on free nodes. */
double eb_audit_add_penalty(const eb_audit *audit, double time, const double *x, const double *from,
                            double dt, double *residual);
/* Whether an implicit collider, or one of `every` kind, reaches node i: a force on it that is not
 * known from the start of the step. */
bool eb_audit_meets(const eb_scene *scene, const eb_state *before, const eb_state *after, double dt,
                    bool every, size_t i);
/* Energy of implicit colliders' penalty, J. */
double eb_audit_penalty_energy(const eb_audit *audit, double time, const double *x);
/* The same of the nodes that a step from `start` takes contact of: where it declares that these are
 * the ones inside at its start, the others meet the penalty without its equation knowing. J. */
double eb_audit_taken_penalty_energy(const eb_audit *audit, const eb_declaration *declared,
                                     const eb_state *start, double time, const double *x);

/* Springs (springs.c). The scene's room for them. */
EB_MUST eb_error eb_audit_springs_create(eb_audit *audit);
/* Asks the scene where they are before and after the step; returns whether they are as stiff. */
bool eb_audit_springs_prepare(eb_audit *audit, double before, double after);
/* With nodes at x and springs as at the end of the step: takes their force out of `residual` (nodes
 * x 3, N) and returns its squared size on free nodes; the squares of what rounding of x may leave
 * of it, times 1e8; their energy, J. */
double eb_audit_add_springs(const eb_audit *audit, const double *x, double *residual);
double eb_audit_springs_rounding2(const eb_audit *audit, const double *x);
double eb_audit_springs_energy(const eb_audit *audit, const double *x);
/* Their energy as they are at the start, J. */
double eb_audit_springs_before(const eb_audit *audit, const double *x);
/* What is put in by places that move and stiffness that changes, J. */
double eb_audit_springs_work(const eb_audit *audit, const double *x0, const double *x1);

/* A step in a subspace against its equation (subspace.c). */
typedef struct eb_audit_subspace_row {
  double residual2, scale2; /* N^2 */
  double unit;              /* N a N / kg^1/2: what its solver's norm is multiplied by */
  double work;              /* J: of the residual on the way of the step, in the subspace */
  double nothing;           /* N: the least residual of doing nothing, where it is compared */
  double outside, outside_allowed; /* m: off the span; what rounding may leave */
} eb_audit_subspace_row;
/* dN_a/dX of a tetrahedron, 1/m. */
void eb_audit_tetrahedron(const eb_mesh *mesh, int32_t element, double gradient[4][3]);
/* The reduced residual of a step that ends at x, 3 size, N / kg^1/2. */
EB_MUST eb_error eb_audit_subspace_residual(eb_audit *audit, const eb_state *before,
                                            const double *x, double dt, bool statics,
                                            const eb_subspace_record *subspace, double *out);
/* Whether what the solver says of it can be. */
bool eb_audit_subspace_sound(const eb_audit *audit, const eb_subspace_record *subspace);
EB_MUST eb_error eb_audit_subspace(eb_audit *audit, const eb_state *before, const eb_state *after,
                                   double dt, bool statics, bool compared,
                                   const eb_subspace_record *subspace, eb_audit_subspace_row *out);

/* log R, of length pi at most (parts.c). */
void eb_audit_rotation_vector(const double R[9], double out[3]);

/* The parts of eb_audit_declared. The script's is for steps in parts, and comes first. */
void eb_audit_script(eb_audit *audit, const eb_state *before, double dt, eb_audit_row *row);
EB_MUST eb_error eb_audit_equation(eb_audit *audit, const eb_state *before, const eb_state *after,
                                   double dt, const eb_declaration *declared, eb_audit_row *row);
void eb_audit_motion(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                     const eb_declaration *declared, eb_audit_row *row);
void eb_audit_work(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                   const eb_declaration *declared, eb_audit_row *row);

#endif
