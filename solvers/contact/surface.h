/* The surfaces that can collide in a contact step, as one collision mesh: the boundary of the
 * scene's mesh, then its obstacles. Internal to solvers/contact. */
#ifndef EB_CONTACT_SURFACE_H
#define EB_CONTACT_SURFACE_H

#include "problems/collision/collisions.h"
#include "solvers/contact/system.h"

typedef struct eb_contact_surface {
  const eb_scene *scene;
  eb_collision_mesh *mesh;
  eb_collisions *collisions;
  int32_t scene_vertices; /* vertices of the scene's boundary; those that follow are obstacles' */
  double *x0;             /* 3 vertex_count: at the start of the step, m */
  double *x;              /* 3 vertex_count: at its end, for the velocities given last, m */
  double *displacement;   /* 3 vertex_count: what boxes are swept along, m */
  double *margin;         /* vertex_count: how far swept boxes are inflated, m */
  double *area; /* 3 vertex_count: of the triangles around, twice, outward, at the start, m^2 */
} eb_contact_surface;

/* Of a scene with contact as constraints, which outlives it. On failure nothing stays allocated. */
EB_MUST eb_error eb_contact_surface_create(const eb_scene *scene, eb_contact_surface *out);
void eb_contact_surface_clear(eb_contact_surface *surface);

/* Places everything at the start of the step, obstacles also at its end, and lists the candidate
 * pairs: those whose swept boxes overlap, for motions like the one to where the system is moved,
 * boxes `slack` (m) larger. (Verschoor and Jalba, Section 5.1, inflate boxes by three times the
 * motion on all sides; eb_contact_surface_move adds candidates that a tighter box would miss.) */
EB_MUST eb_error eb_contact_surface_begin(eb_contact_surface *surface,
                                          const eb_contact_system *system, double slack);
/* Follows the move of the system to its end, and keeps the list of candidates complete. */
EB_MUST eb_error eb_contact_surface_move(eb_contact_surface *surface,
                                         const eb_contact_system *system);

/* Outward at a vertex at the start, averaged over the triangles by area, of length 1; 0 where they
 * cancel. */
void eb_contact_surface_normal(const eb_contact_surface *surface, int32_t vertex, double n[3]);

/* The node of a vertex, or -1 for a vertex of an obstacle. */
static inline int32_t eb_contact_surface_node(const eb_contact_surface *surface, int32_t vertex) {
  return vertex < surface->scene_vertices ? surface->scene->surface->node[vertex] : -1;
}
/* A pair of the collision mesh in the numbering of contact records. */
eb_pair eb_contact_surface_pair(const eb_contact_surface *surface, const eb_pair *pair);
/* Whether the motion of a vertex is unknown, so that forces can change it. */
bool eb_contact_surface_is_dynamic(const eb_contact_surface *surface,
                                   const eb_contact_system *system, int32_t vertex);

#endif
