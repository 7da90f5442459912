/* Explicit penalty contact: forces of the start of the step, part of f_ext.
 *
 * For a node at depth d > 0 (m) with unit normal n (out of what it is in) and velocity v relative
 * to that, the force is f_n = max(0, k d - c (v.n)),  f_t = -min(mu f_n, c_t |v_t|) v_t / |v_t|,
 * with k = stiffness a_i, c = damping a_i, c_t = grip a_i, a_i the node's share of the surface
 * area.
 *
 * A collider may have constants of its own: eb_collider_force. Where its stiffness is 0, and
 * between bodies, they follow from the bodies that touch, for long time steps: eb_contact. A long
 * implicit step carries a push at one node through the whole body, so that what a contact may bear
 * depends on the whole patch of contact and on the body behind it, not on the node. penalty.c
 * derives the rule s = 1.5 / (h^2 q),   c = 0.3 / (h q),   q = max(rigid, elastic), per area, where
 * q (m^2/kg) is how the body yields to all its contacts: as a rigid body, from their areas, places
 * and normals, or as an elastic one, from their area, its thickness and stiffness. The force on a
 * patch does not depend on how fine the mesh is. Two bodies push each other with half of that, at
 * the larger q of the two. */
#ifndef EB_CONTACT_PENALTY_H
#define EB_CONTACT_PENALTY_H

#include "problems/collision/collider.h"
#include "problems/contact/friction.h"
#include "problems/mesh/mesh.h"

/* Coulomb's mu of a node in a collider. */
double eb_collider_friction(const eb_friction_law *law, const eb_collider *collider, int64_t node);
/* Adds the penalty force (N) on one node with surface share `area` (m^2), of a collider with a
 * stiffness of its own, to f, with Coulomb's mu; its grip is its damping where it is 0. */
void eb_collider_force(const eb_collider *collider, double mu, double t, double area,
                       const double p[3], const double v[3], double f[3]);

typedef struct eb_contact eb_contact;

typedef struct eb_contact_settings {
  double step;              /* h, s */
  eb_friction_law friction; /* `common` is between bodies; arrays are the scene's */
  int32_t colliders;        /* how many there may be */
  bool between_bodies;      /* whether bodies also push each other (tetrahedra only) */
} eb_contact_settings;

/* Per node: `mass` (kg) and `area` (m^2, its share of the surface), which must outlive the contact;
 * per region: `young` (Pa). */
EB_MUST eb_error eb_contact_create(const eb_mesh *mesh, const eb_surface *surface,
                                   const double *mass, const double *area, const double *young,
                                   const eb_contact_settings *settings, eb_contact **out);
void eb_contact_destroy(eb_contact *contact);

/* Adds to f the forces (N) of contact with those explicit colliders whose own stiffness is 0, and
 * between bodies, at time t, positions x and velocities v (nodes x 3). Forces between bodies come
 * in opposite pairs at one point: they change neither momentum nor angular momentum. Allocates
 * nothing; one contact serves one call at a time; the same bits for any number of threads. */
void eb_contact_force(eb_contact *contact, const eb_collider *colliders, int32_t count, double t,
                      const double *x, const double *v, double *f);

/* The rule's constants and settings: enters the hash of a scene. */
uint64_t eb_contact_hash(const eb_contact *contact, uint64_t hash);

#endif
