/* Scenes: what is solved. One of the two headers a plug-in author reads (the other:
 * solvers/solver.h).
 *
 * A scene is a mesh with materials, scripted nodes, gravity, colliders and an initial state. The
 * motion that every dynamic solver approximates is implicit Euler,
 *   M (v1 - v0) / h = -g(x1) + f_ext(t0, x0, v0),   x1 = x0 + h v1   over the free nodes,
 * where f_ext (gravity, explicit penalty contact, scripted pulls) is taken at the start of the step
 * and scripted nodes are where eb_scene_boundary says at the end of the step. Implicit colliders
 * are not in f_ext: their penalty is a force of the end of the step, as -g is, and their friction a
 * change of velocity (problems/contact/implicit_penalty.h). Nor are springs, which pull nodes to
 * places with forces of the end of the step (eb_scene_springs). */
#ifndef EB_SCENE_H
#define EB_SCENE_H

#include "problems/base/option.h"
#include "problems/elasticity/material.h"
#include "problems/mesh/mesh.h"

#pragma GCC visibility push(default) /* exported */

/* What a scene asks of a solver; a solver declares what it can serve. */
typedef enum eb_capability {
  EB_CAP_TETRAHEDRA = 1 << 0,
  EB_CAP_HEXAHEDRA = 1 << 1, /* of Gauss points */
  EB_CAP_TRIANGLES = 1 << 2,
  EB_CAP_COROTATIONAL = 1 << 3, /* materials of kind EB_COROTATIONAL */
  EB_CAP_HYPERELASTIC = 1 << 4, /* every other material */
  EB_CAP_FIBRES = 1 << 5,
  EB_CAP_SCRIPTED = 1 << 6,  /* nodes that move by script, or are freed during the run; not those
                                that are held where they rest, which every solver holds */
  EB_CAP_COLLIDERS = 1 << 7, /* explicit penalty forces in f_ext */
  EB_CAP_CONTACT = 1 << 8,   /* contact as constraints */
  EB_CAP_CUTTING = 1 << 9,
  EB_CAP_STATICS = 1 << 10,          /* solves for equilibrium */
  EB_CAP_IMPLICIT_PENALTY = 1 << 11, /* colliders whose penalty is taken at the end of the step */
  EB_CAP_ARTICULATION = 1 << 12,     /* nodes that ride on jointed rigid bodies */
  EB_CAP_FREE_BODIES = 1 << 13,      /* nodes that ride on free rigid bodies */
  EB_CAP_SPRINGS = 1 << 14,          /* nodes that springs pull to places */
  EB_CAP_PROJECTIVE = 1 << 15,       /* materials that are squared distances of F to sets of
                                        matrices (eb_material_is_projective); EB_CAP_HYPERELASTIC
                                        serves them as well, and is not asked for by them */
  EB_CAP_ONE_POINT = 1 << 16,        /* hexahedra of one point, with control of hourglass modes */
  EB_CAP_CLUSTERS = 1 << 17          /* groups of nodes that want their shape back: links and shape
                                        matching, which plug-ins are not told of */
} eb_capability;

typedef struct eb_state {
  int32_t node_count;
  int64_t step;
  double time;         /* s */
  double *x;           /* node_count x 3, m */
  double *v;           /* node_count x 3, m/s */
  int32_t joint_count; /* 0 without an articulation */
  double *q, *u;       /* joint_count: angles and their rates, rad and rad/s; NULL without joints */
  int32_t body_count;  /* 0 without free rigid bodies */
  double *pose,
      *twist; /* body_count x 7 and x 6 (problems/rigid/free_body.h); NULL without bodies */
} eb_state;

typedef struct eb_scene eb_scene;
struct eb_plugged_list; /* materials of plug-ins (problems/elasticity/plugged.h) */
typedef struct eb_scene_ops eb_scene_ops; /* an entry of the catalogue (problems/scene_impl.h) */

/* ---- making a scene ---------------------------------------------------------------------------
 */

/* All scenes but those of laws (harness/laws), which are found by name alone; ended by NULL. */
const eb_scene_ops *const *eb_scenes(void);
/* NULL when there is none of that name. */
const eb_scene_ops *eb_scene_find(const char *name);
/* The catalogue's scene of that name or, where the name ends in ".ini", the one that this file
 * describes (problems/scenes/file/README.md). `materials` of plug-ins, or NULL, are then among
 * those that its parameter `material` and the sections of the file may name. EB_ERR_USAGE: there is
 * none of that name, with the nearest; EB_ERR_IO, EB_ERR_FORMAT: of the file. The caller closes
 * *out. */
EB_MUST eb_error eb_scene_open(const char *name, const struct eb_plugged_list *materials,
                               const eb_scene_ops **out);
/* One more holder of it, who closes it too; returns it. A scene holds its entry. */
const eb_scene_ops *eb_scene_keep(const eb_scene_ops *ops);
/* NULL and entries of the catalogue are fine. */
void eb_scene_close(const eb_scene_ops *ops);

/* Builds a scene. `assignments` are parameters "E=1e6,dt=1e-3" (NULL: defaults). `mesh_file`
 * replaces the geometry (a volume mesh as it is; a closed surface becomes a solid through its
 * signed distance, scaled and placed into the bounding box of the scene's own geometry, at its
 * target element count), or NULL. Generated meshes are cached by content key under `cache_dir`
 * (NULL: $XDG_CACHE_HOME/elastobench or ~/.cache/elastobench; "" turns caching off). EB_ERR_USAGE:
 * an unknown parameter, a value out of range; EB_ERR_IO, EB_ERR_FORMAT, EB_ERR_INVALID: the mesh
 * file cannot be read, or is none; EB_ERR_UNSUPPORTED: the scene does not take it. The caller
 * destroys *out. */
EB_MUST eb_error eb_scene_create(const eb_scene_ops *ops, const char *assignments,
                                 const char *mesh_file, const char *cache_dir, eb_scene **out);
void eb_scene_destroy(eb_scene *scene);

/* ---- what a solver asks of a scene ------------------------------------------------------------
 *
 * What pointers lead to belongs to the scene and holds until its next cut (ops->rebuild). x, v, f
 * and g are node_count x 3. One scene serves one call at a time. */

const char *eb_scene_name(const eb_scene *scene);      /* "paper/scene" */
double eb_scene_dt(const eb_scene *scene);             /* s */
const double *eb_scene_gravity(const eb_scene *scene); /* 3, m/s^2 */
const eb_mesh *eb_scene_mesh(const eb_scene *scene);   /* at rest, with the cuts made so far */
const double *eb_scene_start(const eb_scene *scene);   /* initial positions, node_count x 3, m */
const eb_values *eb_scene_parameters(const eb_scene *scene);
/* Of elements with mesh->region[e] == region. */
const eb_material *eb_scene_material(const eb_scene *scene, int32_t region);
/* Capability bits the scene asks for with its current parameters (materials included). */
uint32_t eb_scene_needs(const eb_scene *scene);

/* Which nodes are scripted at time t (fixed, node_count bytes) and where (target, node_count x 3;
 * rest position of the others). A copy that a cut has made is scripted as its origin is. */
void eb_scene_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target);
/* f_ext at (t, x, v), N: overwritten. */
void eb_scene_force(const eb_scene *scene, double t, const double *x, const double *v, double *f);

/* Springs, which pull nodes to places at the end of a step with forces -k (x_i - p), of the energy
 * 1/2 k |x_i - p|^2. Returns how many there are, the same in all steps; *node (or NULL) receives
 * their nodes, of which one may have several. With `place` (count x 3, m) and `stiffness` (count,
 * N/m; 0: lets go), which may both be NULL, also where and how they pull at time t. Energy,
 * gradient and Hessian below know no time and hold nothing of them. */
int32_t eb_scene_springs(const eb_scene *scene, double t, const int32_t **node, double *place,
                         double *stiffness);

/* Lumped masses, node_count, kg. */
const double *eb_scene_mass(const eb_scene *scene);
/* Elastic energy W at positions x, J, and its gradient g in N, overwritten: the internal force is
 * -g. Neither allocates; both use the OpenMP threads that omp_set_num_threads has set. */
double eb_scene_energy(const eb_scene *scene, const double *x);
void eb_scene_gradient(const eb_scene *scene, const double *x, double *g);
/* The pattern of the Hessian: symmetric, in 3 x 3 blocks, both triangles stored. Row i has blocks
 * start[i] to start[i + 1] - 1 (start: node_count + 1) with ascending columns, among them the
 * diagonal one. */
void eb_scene_pattern(const eb_scene *scene, const int32_t **start, const int32_t **column);
/* mass_scale M + hessian_scale d2W/dx2 at x: start[node_count] blocks of 9, row-major, overwritten.
 * With `project`, each element's part is made positive semi-definite. g (or NULL) receives the
 * gradient. Of EB_COROTATIONAL, the Hessian has the rotations frozen: sum R_e K_e R_e^T. */
void eb_scene_hessian(const eb_scene *scene, const double *x, double mass_scale,
                      double hessian_scale, bool project, double *values, double *g);

/* ---- states -----------------------------------------------------------------------------------
 */

/* The initial state of the scene: step 0 at time 0. The caller destroys *out. */
EB_MUST eb_error eb_state_create(const eb_scene *scene, eb_state **out);
void eb_state_destroy(eb_state *state);
/* Clock and values; both of the same scene, between the same cuts. */
void eb_state_copy(const eb_state *from, eb_state *to);
/* Hash of positions and velocities, of nodes, of joints and of free bodies, bit by bit. */
uint64_t eb_state_hash(const eb_state *state);

#pragma GCC visibility pop

#endif
