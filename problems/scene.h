/* Scenes: what is solved. One of the two headers a plug-in author reads (the other:
 * solvers/solver.h).
 *
 * A scene is a mesh with materials, scripted nodes, gravity, colliders and an initial state. The
 * motion that every dynamic solver approximates is implicit Euler,
 *   M (v1 - v0) / h = -g(x1) + f_ext(t0, x0, v0),   x1 = x0 + h v1   over the free nodes,
 * where f_ext (gravity, explicit penalty contact, scripted pulls) is taken at the start of the step
 * and scripted nodes are where eb_scene_boundary says at the end of the step. Implicit colliders
 * are not in f_ext: their penalty is a force of the end of the step, as -g is, and their friction a
 * change of velocity (problems/contact/implicit_penalty.h). */
#ifndef EB_SCENE_H
#define EB_SCENE_H

#include "problems/base/option.h"
#include "problems/contact/penalty.h"
#include "problems/collision/obstacle.h"
#include "problems/elasticity/elasticity.h"
#include "problems/mesh/cut.h"
#include "problems/mesh/mesh.h"
#include "problems/rigid/articulation.h"
#include "problems/rigid/free_body.h"

/* What a scene asks of a solver; a solver declares what it can serve. */
typedef enum eb_capability {
  EB_CAP_TETRAHEDRA = 1 << 0,
  EB_CAP_HEXAHEDRA = 1 << 1,
  EB_CAP_TRIANGLES = 1 << 2,
  EB_CAP_COROTATIONAL = 1 << 3, /* materials of kind EB_COROTATIONAL */
  EB_CAP_HYPERELASTIC = 1 << 4, /* every other material */
  EB_CAP_FIBRES = 1 << 5,
  EB_CAP_SCRIPTED = 1 << 6,  /* nodes that move by script, or are freed during the run */
  EB_CAP_COLLIDERS = 1 << 7, /* explicit penalty forces in f_ext */
  EB_CAP_CONTACT = 1 << 8,   /* contact as constraints */
  EB_CAP_CUTTING = 1 << 9,
  EB_CAP_STATICS = 1 << 10,          /* solves for equilibrium */
  EB_CAP_IMPLICIT_PENALTY = 1 << 11, /* colliders whose penalty is taken at the end of the step */
  EB_CAP_ARTICULATION = 1 << 12,     /* nodes that ride on jointed rigid bodies */
  EB_CAP_FREE_BODIES = 1 << 13       /* nodes that ride on free rigid bodies */
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

/* One entry of the catalogue. */
typedef struct eb_scene_ops {
  const char *name; /* "paper/scene" */
  const char *summary, *geometry, *citation;
  /* name of the model that stands in for the paper's, or NULL when the geometry is the paper's */
  const char *stand_in;
  uint32_t needs;                           /* eb_capability bits */
  int32_t target_vertices, target_elements; /* the paper's counts; 0 when it states none */
  double count_tolerance;                   /* 0: exact */
  /* Always with E (Pa), nu, rho (kg/m^3), dt (s), material, gravity (m/s^2), resolution (1: the
   * paper's), mesh_up and mesh_turn (how a mesh file is turned so that it stands on z = 0 and looks
   * along x); more as the scene wants. */
  const eb_option *parameters;
  int64_t steps;           /* default length of a run at the default dt */
  int64_t steps_per_frame; /* steps between stored frames */
  /* Builds the rest mesh. Only these parameters enter: see eb_scene_create on caching. */
  eb_error (*mesh)(const eb_values *parameters, eb_mesh **out);
  const char *mesh_parameters; /* names of the parameters the mesh depends on, "a,b", or NULL */
  /* Prepares the mesh, generated or read from a file, for the setup: regions and fibres that follow
   * from geometry, copies of a body. May replace *mesh. Not cached. NULL when there is nothing to
   * do. */
  eb_error (*prepare)(const eb_values *parameters, eb_mesh **mesh);
  /* Fills materials, gravity, colliders, initial state from scene->mesh and scene->parameters. */
  eb_error (*setup)(eb_scene *scene);
  /* Marks scripted nodes in fixed[] (0 on entry) and writes their position at time t to target
   * (rest positions on entry). NULL when none. Deterministic in t. It is shown the uncut mesh and
   * says nothing of copies, which follow their origin. */
  void (*boundary)(const eb_scene *scene, double t, uint8_t *fixed, double *target);
  /* Adds scripted forces (N) at time t to f. NULL when none. The mesh may have been cut:
   * node_origin leads to what is kept by node. */
  void (*force)(const eb_scene *scene, double t, const double *x, const double *v, double *f);
  void (*clear)(eb_scene *scene); /* releases scene->data; NULL when none */
  /* Writes the scripted cuts, by rising time, and returns how many; asked once, after setup. NULL
   * when none. */
  int32_t (*cuts)(const eb_scene *scene, eb_cut cuts[EB_MAX_CUTS]);
  /* Writes up to `wanted` nodes that the scene would keep dynamic in a condensation, the most
   * important first, and returns how many it names; a solver chooses the rest. NULL when it has no
   * wish. */
  int32_t (*dynamic_nodes)(const eb_scene *scene, int32_t wanted, int32_t *nodes);
  /* Activation of the fibres at time t, 0 to 1. NULL: that of the materials. */
  double (*activation)(const eb_scene *scene, double t);
} eb_scene_ops;

enum { EB_MAX_REGIONS = 32, EB_MAX_COLLIDERS = 8, EB_MAX_OBSTACLES = 8 };

/* What a step with contact as constraints may leave, whatever tolerance its solver took: bounds of
 * the audit (harness/audit/contact_audit.h). */
typedef struct eb_contact_bounds {
  double gap;  /* m: the distance that constraints may ask for, at most */
  double near; /* m: features of different bodies nearer than this have a contact between them */
  double distance; /* m: contacts off the distance they demand, sliding of those that stick */
  double reach;    /* m: true distance of features that push each other, off what they demand */
  double momentum; /* kg m/s a root of free nodes: momentum of a body that forces do not explain */
  double cone;     /* friction beyond Coulomb's cone, of the largest push */
  double angle;    /* degrees between friction and what opposes the slip */
  double normal;   /* degrees between a contact's normal and the geometry */
} eb_contact_bounds;

struct eb_scene {
  const eb_scene_ops *ops;
  eb_values *parameters;
  eb_mesh *mesh;
  eb_surface *surface;
  double *node_area;      /* node_count: share of the surface area, m^2, 0 inside */
  int32_t material_count; /* = mesh->region_count */
  eb_material materials[EB_MAX_REGIONS];
  eb_elasticity *elasticity;
  double gravity[3]; /* m/s^2 */
  double dt;         /* s */
  int32_t collider_count;
  eb_collider colliders[EB_MAX_COLLIDERS];
  /* How deep a node may be in a collider at the end of a step, m; more breaks a rule of the audit.
   * Where setup leaves 0, a twentieth of the diagonal of a body and one and a half times the way of
   * a step at the speed of the first impact. */
  double penetration_bound;
  bool bodies_collide;    /* whether the connected bodies of the mesh push each other */
  double bodies_friction; /* Coulomb's mu between them */
  /* of bodies, and of colliders without a stiffness of their own; NULL when there is neither */
  eb_contact *contact;
  /* Contact as constraints (EB_CAP_CONTACT): of all surfaces of the mesh, with each other and
   * themselves, and of obstacles. */
  double contact_friction; /* Coulomb's mu */
  eb_contact_bounds contact_bounds;
  int32_t obstacle_count;
  eb_obstacle obstacles[EB_MAX_OBSTACLES]; /* filled by setup */
  uint8_t rigid[EB_MAX_REGIONS]; /* regions that setup declares rigid; only with EB_CAP_CONTACT */
  eb_free_bodies *free_bodies;   /* their connected components, or NULL */
  eb_articulation *articulation; /* rigid bodies that nodes ride on; made by setup, or NULL */
  double *x0, *v0; /* initial state, node_count x 3; setup may change them (rest and zero before) */
  int32_t cut_count, cuts_made;
  eb_cut cuts[EB_MAX_CUTS]; /* by rising time */
  /* Of every node the one of the uncut mesh that it was; cuts append copies of nodes and never
   * renumber. node_count entries. */
  int32_t *node_origin;
  int32_t uncut_nodes;   /* nodes before the first cut */
  eb_mesh *uncut_mesh;   /* what ops->boundary is shown as scene->mesh after a cut; NULL before */
  char mesh_source[512]; /* "generated", or the file given with --mesh */
  /* Of mesh, materials, boundary, colliders, gravity, initial state and dt (scripts enter by what
   * they say at some times): equal problems have equal hashes. */
  uint64_t hash;
  void *data;
};

/* All scenes, ended by NULL. */
const eb_scene_ops *const *eb_scenes(void);
/* NULL when there is none of that name. */
const eb_scene_ops *eb_scene_find(const char *name);

/* Builds a scene. `assignments` are parameters "E=1e6,dt=1e-3" (NULL: defaults). `mesh_file`
 * replaces the geometry (a volume mesh as it is; a closed surface becomes a solid through its
 * signed distance, scaled and placed into the bounding box of the scene's own geometry, at its
 * target element count), or NULL. Generated meshes are cached by content key under `cache_dir`
 * (NULL: $XDG_CACHE_HOME/elastobench or ~/.cache/elastobench; "" turns caching off). The caller
 * destroys *out. */
EB_MUST eb_error eb_scene_create(const eb_scene_ops *ops, const char *assignments,
                                 const char *mesh_file, const char *cache_dir, eb_scene **out);
void eb_scene_destroy(eb_scene *scene);

/* Prepares the step that starts at state->time: sets the activation of the fibres at its end and
 * makes the cuts that are due by its start. A cut replaces mesh, surface, areas, elasticity and
 * contact, appends copies of the nodes it parts to the state with their positions and velocities,
 * and sets *changed: solvers (eb_solver_rebuild), audits and everything else that has kept
 * something of the mesh must follow. With no cut due it allocates nothing. After a failure the
 * scene can only be destroyed. */
EB_MUST eb_error eb_scene_advance(eb_scene *scene, eb_state *state, bool *changed);
/* The mesh with all scripted cuts made (the caller destroys and frees both): scene->mesh, whose
 * nodes keep their numbers, and behind them the copies that later cuts will make. parent[i] is the
 * node that copy i parts from, a lower number, which may be a copy itself; a node of scene->mesh is
 * its own. Equal to scene->mesh when there are no cuts. */
EB_MUST eb_error eb_scene_final_mesh(const eb_scene *scene, eb_mesh **out, int32_t **parent);

/* Which nodes are scripted at time t (fixed, node_count bytes) and where (target, node_count x 3;
 * rest position of the others). A copy that a cut has made is scripted as its origin is. */
void eb_scene_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target);
/* f_ext at (t, x, v), N, node_count x 3: overwritten. */
void eb_scene_force(const eb_scene *scene, double t, const double *x, const double *v, double *f);

/* Capability bits the scene asks for with its current parameters (materials included). */
uint32_t eb_scene_needs(const eb_scene *scene);

/* Names in *what the first thing in which two scenes differ that were built alike and brought to
 * the same time ("gravity", "masses", ...; static text), or NULL when they are the same in all that
 * enters the hash, in the masses and in the areas of their nodes. */
EB_MUST eb_error eb_scene_difference(const eb_scene *a, const eb_scene *b, const char **what);

EB_MUST eb_error eb_state_create(const eb_scene *scene, eb_state **out);
void eb_state_destroy(eb_state *state);
/* Clock and values; both of the same scene, between the same cuts. */
void eb_state_copy(const eb_state *from, eb_state *to);
/* Hash of positions and velocities, of nodes, of joints and of free bodies, bit by bit. */
uint64_t eb_state_hash(const eb_state *state);

#endif
