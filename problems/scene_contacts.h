/* Contact as constraints, for solvers that serve it (EB_CAP_CONTACT): what may touch in a scene.
 * The third header a plug-in author reads, after problems/scene.h and solvers/solver.h.
 *
 * Triangles of the bodies must not pass through each other, through themselves, or through
 * obstacles. What a step does about it is told to the audit by a record
 * (problems/contact_record.h), and held to the bounds below. */
#ifndef EB_SCENE_CONTACTS_H
#define EB_SCENE_CONTACTS_H

#include "problems/contact/friction.h"
#include "problems/contact_record.h"
#include "problems/scene.h"

#pragma GCC visibility push(default) /* exported */

/* What a step with contact as constraints may leave, whatever tolerance its solver took: bounds of
 * the audit (harness/audit/contact_audit.h); twice as much after a step that says it stagnated. */
typedef struct eb_contact_bounds {
  double gap;  /* m: the distance that constraints may ask for, at most */
  double near; /* m: features of different bodies nearer than this have a contact between them */
  double distance; /* m: contacts off the distance they demand, sliding of those that stick */
  double reach;    /* m: true distance of features that push each other, off what they demand */
  double momentum; /* kg m/s a root of free nodes: momentum of a body that forces do not explain */
  double cone;     /* friction beyond Coulomb's cone, of what a contact allows */
  double angle;    /* degrees between friction and what opposes the slip */
  double normal;   /* degrees between a contact's normal and the geometry */
} eb_contact_bounds;

/* Vertices are the nodes of the scene's mesh, and behind them those of the obstacles in their
 * order, as records have them. */
typedef struct eb_surfaces {
  int32_t nodes, vertex_count, triangle_count;
  int32_t body_count;     /* connected bodies of the mesh */
  int32_t obstacle_count; /* surfaces that nothing pushes; solid, or open sheets */
  int32_t *triangles;     /* triangle_count x 3: vertices; outward */
  int32_t *body;          /* triangle_count: below body_count, or body_count + o of obstacle o */
  uint8_t *moves;         /* obstacle_count: whether a script moves it; others stand still */
  /* Coulomb's mu; eb_friction_of tells that of a contact. Arrays are the scene's. */
  eb_friction_law friction;
  eb_contact_bounds bounds;
} eb_surfaces;

/* Bodies are numbered by their lowest node. Scenes without contact as constraints, which
 * eb_scene_needs tells, have surfaces too; nobody judges what a step does about those. The caller
 * destroys *out; destroying NULL is fine. */
EB_MUST eb_error eb_surfaces_create(const eb_scene *scene, eb_surfaces **out);
void eb_surfaces_destroy(eb_surfaces *surfaces);
/* Where the vertices of the obstacles are at time t: x is (vertex_count - nodes) x 3, m. */
void eb_scene_obstacles(const eb_scene *scene, double t, double *x);
/* A frame of a contact with the unit normal n: two tangents beside it, row-major. */
void eb_contact_frame(const double n[3], double frame[9]);

#pragma GCC visibility pop

#endif
