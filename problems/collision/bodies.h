/* The connected bodies of a mesh: which node belongs to which, and how each of them moves as a
 * whole. */
#ifndef EB_BODIES_H
#define EB_BODIES_H

#include "problems/mesh/mesh.h"

typedef struct eb_body {
  double mass, volume, area; /* kg, m^3, m^2 of surface, at rest */
  double stiffest;           /* the largest Young's modulus in it, Pa */
  /* Of the positions that eb_bodies_measure saw last. */
  double centre[3];          /* of mass, m */
  double inverse_inertia[9]; /* about the centre, 1/(kg m^2) */
} eb_body;

typedef struct eb_bodies {
  int32_t count, node_count;
  eb_body *body;  /* count */
  int32_t *of;    /* node_count: the body of each node */
  int32_t *start; /* count + 1 */
  /* node_count: the nodes of body b are nodes[start[b]] .. nodes[start[b+1] - 1], ascending */
  int32_t *nodes;
  const double *mass; /* node_count, kg; not owned */
} eb_bodies;

/* Bodies are numbered by their lowest node. `mass` (kg) and `area` (m^2 of surface) have an entry a
 * node, `young` (Pa) one a region; `mass` must outlive the bodies. */
EB_MUST eb_error eb_bodies_create(const eb_mesh *mesh, const double *mass, const double *area,
                                  const double *young, eb_bodies **out);
void eb_bodies_destroy(eb_bodies *bodies);

/* Centre of mass and inverse inertia of body b at positions x. A body whose nodes lie on one line
 * has no inverse; then it is 0, as if it did not turn. */
void eb_bodies_measure(eb_bodies *bodies, int32_t b, const double *x);

/* Loads on a body: load (6 x 6, symmetric) += area w w^T, w = (n, (p - c) x n), for a contact at p
 * with unit normal n. */
void eb_body_add_load(const eb_body *body, double area, const double p[3], const double n[3],
                      double load[36]);
/* How a rigid body gives way to springs of unit stiffness per area, m^2/kg: between 1 and 6^(1/8) =
 * 1.25 times the largest eigenvalue of load G, G = diag(1/mass, inverse_inertia), as (tr (load
 * G)^8)^(1/8). */
double eb_body_yield(const eb_body *body, const double load[36]);

#endif
