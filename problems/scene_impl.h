/* What a scene is made of: for the catalogue that fills it in, the built-in solvers and the
 * harness. Plug-ins ask through scene.h. */
#ifndef EB_SCENE_IMPL_H
#define EB_SCENE_IMPL_H

#include "problems/base/digest.h"
#include "problems/collision/obstacle.h"
#include "problems/contact/penalty.h"
#include "problems/elasticity/elasticity.h"
#include "problems/elasticity/plugged.h"
#include "problems/mesh/cut.h"
#include "problems/mesh/generate.h"
#include "problems/rigid/articulation.h"
#include "problems/rigid/free_body.h"
#include "problems/scene_contacts.h"

/* A model stuffed with `elements` times resolution tetrahedra, scaled uniformly so that the longest
 * edge of its box is `size` (m), centred over the origin, standing on z = 0. With `nodes` not 0,
 * the paper's model has more nodes than the lattice gives for as many elements: at resolution 1 the
 * surface is refined until the nodes are met too (problems/mesh/refine.h). `reshape`, or NULL,
 * moves the nodes then; no element may turn over. */
typedef struct eb_model_size {
  int32_t elements, nodes;
  double size;
  void (*reshape)(eb_mesh *mesh);
} eb_model_size;

/* What solvers do on a scene where the user sets nothing else, which is said before they run. */
typedef struct eb_scene_default {
  const char *solver;  /* its name; "a|b": theirs */
  const char *options; /* "dynamic=8": its defaults here, in the place of its own; NULL: its own */
  const char *source;  /* why these: "the paper's number"; of NULL: what to expect of its own */
} eb_scene_default;
/* That of a solver, or NULL. */
const eb_scene_default *eb_scene_default_of(const eb_scene_ops *ops, const char *solver);

/* What the entry of a scene that is a file was made from. */
struct eb_scene_source {
  const char *text;      /* the whole file */
  const char *path;      /* as it was given; NULL: of the catalogue */
  const char *directory; /* that names of mesh files start from, with '/' at the end, or "" */
  eb_digest digest;      /* of the text and of the mesh files that it names */
};

/* One entry of the catalogue. */
struct eb_scene_ops {
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
  /* The rest mesh is one of three. */
  eb_grid grid; /* cubes times resolution, at least one along each edge, six tetrahedra each */
  eb_model_size model; /* the stand-in, stuffed */
  eb_error (*mesh)(const eb_values *parameters, eb_mesh **out);
  /* Names of the parameters that the mesh depends on, "a,b", or NULL: only they may enter (see
   * eb_scene_create on caching). */
  const char *mesh_parameters;
  /* Prepares the mesh, generated or read from a file, for the setup: regions and fibres that follow
   * from geometry, copies of a body. May replace *mesh. Not cached. NULL when there is nothing to
   * do. */
  eb_error (*prepare)(const eb_values *parameters, eb_mesh **mesh);
  /* Fills materials, gravity, colliders, initial state from scene->mesh and scene->parameters. */
  eb_error (*setup)(eb_scene *scene);
  /* Whether several processes may each hold a part (problems/ranks/subdomain.h): setup then asks
   * for bounds, counts and groups of nodes by collective functions alone, and boundary and loads
   * look at one node at a time. */
  bool by_parts;
  /* Marks scripted nodes in fixed[] (0 on entry) and writes their position at time t to target
   * (rest positions on entry). NULL when none. Deterministic in t. It is shown the uncut mesh and
   * says nothing of copies, which follow their origin. */
  void (*boundary)(const eb_scene *scene, double t, uint8_t *fixed, double *target);
  /* Writes the magnitude at time t of every load that setup has added (eb_scene_add_load), 1 on
   * entry. NULL: they do not change. Deterministic in t. */
  void (*loads)(const eb_scene *scene, double t, double *magnitude);
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
  /* Where the springs that setup has added pull at time t: `place`, count x 3, m (rest positions of
   * their nodes on entry), and `stiffness`, count, N/m, at least 0 (0 on entry: let go).
   * Deterministic in t. */
  void (*springs)(const eb_scene *scene, double t, double *place, double *stiffness);
  /* Of a scene that is a file (problems/scenes/file): what it was made from, NULL: C. Then `make`
   * gives the whole mesh, in the place of grid, model, mesh and prepare. That of `mesh_file`, if
   * any, takes the place of its body; the folder `cache` keeps what is slow to make (NULL: none).
   * `as_grid` tells whether that is eb_generate_tets6 of a grid and nothing else. */
  const struct eb_scene_source *source;
  eb_error (*make)(const eb_scene_ops *ops, const eb_values *parameters, const char *mesh_file,
                   const char *cache, eb_mesh **out);
  bool (*as_grid)(const eb_scene_ops *ops, const eb_values *parameters, eb_grid *out);
  /* The parameters of the smallest one whose bodies hold together, for tests; NULL: as it is. */
  const char *small;
  const eb_scene_default *solver_defaults; /* ended by a NULL solver; NULL: none */
  /* Of one that was made while the program runs (problems/scenes/scene_entry.h): what it belongs
   * to, and the materials of plug-ins that it takes. */
  struct eb_scene_entry *entry;
  eb_plugged_list materials;
};

enum {
  EB_MAX_REGIONS = 32,
  EB_MAX_COLLIDERS = 16,
  EB_MAX_OBSTACLES = 32,
  EB_MAX_GRIPS = 16,
  EB_MAX_LOADS = 8
};

/* A group of nodes that the scene's script moves or pushes, or that it names for others to follow
 * (a part of the body: harness/audit/parts.h). */
typedef struct eb_grip {
  char name[EB_NAME_BYTES]; /* "upper-jaw"; "": it has none */
  int32_t count;
  int32_t *nodes;
  double centre[3], lo[3], hi[3]; /* of the box of its nodes at rest, on all ranks, m */
} eb_grip;

/* Clusters as setup has added them (problems/clusters.h). */
typedef struct eb_cluster_set {
  int32_t count;
  int32_t *start;    /* count + 1: where the nodes of each begin; NULL when there are none */
  int32_t *node;     /* start[count] */
  double *stiffness; /* count, N/m */
  double *rest;      /* start[count] x 3: places at rest off their mean, m */
} eb_cluster_set;

/* What touches: colliders, bodies that push each other, and contact as constraints. Filled by
 * setup, but for `penalty`. */
typedef struct eb_contact_setup {
  int32_t collider_count;
  eb_collider colliders[EB_MAX_COLLIDERS];
  /* How deep a node may be in a collider at the end of a step, m; more breaks a rule of the audit.
   * Where setup leaves 0, a twentieth of the diagonal of a body and one and a half times the way of
   * a step at the speed of the first impact. */
  double penetration_bound;
  bool bodies_collide;    /* whether the connected bodies of the mesh push each other */
  double bodies_friction; /* Coulomb's mu between them, of pairs that `friction` is not of */
  /* of bodies, and of colliders without a stiffness of their own; NULL when there is neither */
  eb_contact *penalty;
  /* `common` is that of contact as constraints; the pairs hold for penalties too, whose own mu is
   * that of all others. Owned. */
  eb_friction_law friction;
  /* Contact as constraints (EB_CAP_CONTACT): of all surfaces of the mesh, with each other and
   * themselves, and of obstacles. */
  eb_contact_bounds bounds;
  int32_t obstacle_count;
  eb_obstacle obstacles[EB_MAX_OBSTACLES];
} eb_contact_setup;

typedef struct eb_rigid_setup {
  uint8_t regions[EB_MAX_REGIONS]; /* that setup declares rigid; only with EB_CAP_CONTACT */
  eb_free_bodies *free_bodies;     /* their connected components, or NULL */
  eb_articulation *articulation;   /* rigid bodies that nodes ride on; made by setup, or NULL */
} eb_rigid_setup;

/* What moves, pushes, pulls and cuts in the course of time. */
typedef struct eb_script {
  bool stands_still; /* scripted nodes are the same at all times, and where they rest */
  int32_t load_count;
  double *load[EB_MAX_LOADS]; /* node_count x 3 each, N (eb_scene_add_load) */
  int32_t spring_count;
  int32_t *spring_node; /* spring_count: the nodes of springs (eb_scene_add_spring) */
  int32_t grip_count;
  eb_grip grips[EB_MAX_GRIPS]; /* filled by setup (problems/scenes/common.h) */
  int32_t cut_count, cuts_made;
  eb_cut cuts[EB_MAX_CUTS]; /* by rising time */
  /* Of every node the one of the uncut mesh that it was; cuts append copies of nodes and never
   * renumber. node_count entries. */
  int32_t *node_origin;
  int32_t uncut_nodes; /* nodes before the first cut */
  eb_mesh *uncut_mesh; /* what ops->boundary is shown as scene->mesh after a cut; NULL before */
} eb_script;

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
  eb_contact_setup contacts;
  eb_rigid_setup rigid;
  eb_script script;
  eb_cluster_set clusters;
  double *x0, *v0; /* initial state, node_count x 3; setup may change them (rest and zero before) */
  char mesh_source[512]; /* "generated", or the file given with --mesh */
  /* Of mesh, materials, boundary, colliders, springs, clusters, gravity, initial state and dt
   * (scripts enter by what they say at some times): equal problems have equal hashes. */
  uint64_t hash;
  /* The rank's part when several hold the scene (problems/ranks/subdomain.h); NULL: it is whole.
   * Owned.
   */
  struct eb_subdomain *part;
  void *data;
};

/* For setup: one more load, a pattern of forces (node_count x 3, N, zeros for setup to fill) that
 * f_ext holds times the magnitude that ops->loads gives. Not together with cuts. */
EB_MUST eb_error eb_scene_add_load(eb_scene *scene, double **pattern);
/* The magnitudes of the loads at time t, load_count of them. */
void eb_scene_load_magnitudes(const eb_scene *scene, double t, double magnitude[EB_MAX_LOADS]);

/* For setup: a spring between the node and a place that ops->springs says (problems/springs.h). Not
 * together with cuts, rigid bodies or contact as constraints. */
EB_MUST eb_error eb_scene_add_spring(eb_scene *scene, int32_t node);

/* For setup: a cluster of `count` nodes, every two of which share an element, that want the shape
 * of scene->mesh back with a stiffness k (N/m), and a link, a spring of stiffness k along the way
 * between two nodes, k/2 (|x_i - x_j| - L)^2, which is a cluster of stiffness 2 k
 * (problems/clusters.h). Nodes are copied. EB_ERR_INVALID: nodes that there are not, that come
 * twice, that are all in one place; a stiffness below 0. Not together with cuts, rigid bodies or
 * contact as constraints. */
EB_MUST eb_error eb_scene_add_cluster(eb_scene *scene, int32_t count, const int32_t *node,
                                      double stiffness);
EB_MUST eb_error eb_scene_add_link(eb_scene *scene, int32_t i, int32_t j, double stiffness);
/* A link along every edge of the mesh, in the order of their nodes; a cluster of the nodes of every
 * element. */
EB_MUST eb_error eb_scene_link_edges(eb_scene *scene, double stiffness);
EB_MUST eb_error eb_scene_match_elements(eb_scene *scene, double stiffness);

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

/* Names in *what the first thing in which two scenes differ that were built alike and brought to
 * the same time ("gravity", "masses", ...; static text), or NULL when they are the same in all that
 * enters the hash, in the masses and in the areas of their nodes. Collective on parts. */
EB_MUST eb_error eb_scene_difference(const eb_scene *a, const eb_scene *b, const char **what);

#endif
