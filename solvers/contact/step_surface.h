/* The surfaces that meet in a contact step as one collision mesh: the scene's surface, then its obstacles. Internal to the step. */
#ifndef EB_CONTACT_STEP_SURFACE_H
#define EB_CONTACT_STEP_SURFACE_H

#include "problems/collision/collisions.h"
#include "solvers/contact/step_system.h"

typedef struct eb_contact_surface {
  const eb_scene *scene;
  eb_collision_mesh *mesh;
  eb_collisions *collisions;
  int32_t own; /* vertices of the scene's surface; those behind are obstacles' */
  double *x0,
      *x; /* 3 vertex_count: at the start and, for the velocities seen last, at the end of the step, m */
  double *way, *reach; /* 3 and 1 vertex_count: what eb_collisions_begin is told, m */
  double *
      normal; /* 3 vertex_count: outward at the start, of triangles by area, of length 1 (0 where they cancel) */
  double *hit; /* vertex_count: work of looking for hits */
} eb_contact_surface;

EB_MUST eb_error eb_contact_surface_create(const eb_scene *scene, eb_contact_surface *out);
void eb_contact_surface_clear(eb_contact_surface *surface);

/* Places everything at the start of the step, obstacles also at its end, and lists the candidates: for motions like the one to where the system is moved, `slack` (m)
 * wider. (Section 5.1 grows boxes by three times the motion on all sides; eb_contact_surface_move lists what that would miss.) */
EB_MUST eb_error eb_contact_surface_begin(eb_contact_surface *surface,
                                          const eb_contact_system *system, double slack);
/* Follows the move of the system to its end, and keeps the candidates complete. */
EB_MUST eb_error eb_contact_surface_move(eb_contact_surface *surface,
                                         const eb_contact_system *system);

/* The node behind a vertex, or -1 when an obstacle's. */
static inline int32_t eb_contact_surface_node(const eb_contact_surface *surface, int32_t vertex) {
  return vertex < surface->own ? surface->scene->surface->node[vertex] : -1;
}
/* Whether forces can change the motion of a vertex. */
bool eb_contact_surface_yields(const eb_contact_surface *surface, const eb_contact_system *system,
                               int32_t vertex);
/* The four points of a pair in x (3 vertex_count). */
void eb_pair_points(const eb_pair *pair, const double *x, double points[4][3]);

#endif
