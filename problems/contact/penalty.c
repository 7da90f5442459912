/* Explicit penalty forces, and how stiff a body can bear them when its elasticity is implicit.
 *
 * One step of the scheme of scene.h, linearized, is A v1 = M v0 + h f with A = M + h^2 K. Let
 * contacts i push with s_i a_i per depth x_i = N_i . u; N^T spreads unit forces along the normals
 * to the nodes, D = diag(s_i a_i). The depths obey x1 = x0 + h v1, v1 = v0 - h (N A^-1 N^T)(D x0 +
 * h gamma D v0), with c = gamma h s, so modes of
 *   B = h^2 D^1/2 N A^-1 N^T D^1/2
 * with eigenvalue L have the amplification z^2 - (2 - L - gamma L) z + 1 - gamma L = 0: stable when
 * L + 2 gamma L < 4 (Jury).
 *
 * What bounds L? Take one s for all contacts of a body; then L = s h^2 Y, Y the largest eigenvalue
 * of sum_i a_i N_i A^-1 N_i^T: how the body yields to springs of unit stiffness per area.
 * - As a rigid body: Y is that of a 6 x 6 matrix, from the places and normals of the contacts,
 *   mass and inertia (bodies.h).
 * - As an elastic body, let it be of limbs as thick as a = 4 volume / surface (exact for a long
 *   square bar), and c = sqrt(E/rho). A beam pushed aside for one implicit step is a beam on an
 *   elastic foundation rho a^2 / h^2. A point load moves as much as a mass 2 sqrt(2) rho a^2
 *   sqrt(c h a / sqrt 12) = 1.5 rho a^2 sqrt(c h a) in its middle, a quarter of that at its end;
 *   we take rho a^2 l, l = sqrt(c h a). A patch of area A > a l covers the beam and moves a mass
 *   rho a per area. Besides, the patch presses itself in: by about sqrt(A) / E per pressure, at
 *   most as a plane wave, c h / E. Together
 *     Y = (1/rho) [min(A, a l) / (a^2 l) + min(sqrt A, c h) / (c h)^2].
 * The rigid motion of a short beam is in the second figure too, so the larger of the two is the
 * yield q, and
 *   s = stiffness / (h^2 q)   makes L <= stiffness, whatever touches.
 * With a point mass m and one node, s a = stiffness m / h^2.
 *
 * A contact of two bodies is in the patches of both, whose shares in B add up. Let it have w_i =
 * 1/2 of that stiffness, with the larger q of the two, and a collider w_i = 1: the share of a body
 * is at most stiffness sum_i w_i z_i^2 for unit z, and over both bodies of a pair the w_i add up to
 * 1. The bound stays.
 *
 * Constants: stiffness 1.5 and c = 0.3 / (h q), gamma = 1/5: stable for L < 4 / 1.4 = 2.9. L as
 * found by power iteration along drops of the scenes was 0.4 to 1.5 on stiff bodies and up to 2.1
 * on soft ones, whose thin limbs are softer than the estimate. A node that arrives v h deep leaves
 * with (1.5 + 0.3 - 1) v at most.
 *
 * How deep? At rest a body of mass m sinks by g h^2 m q / (1.5 A): 0.7 cm at h = 1/30 s for a push
 * through its centre, 2 to 5 cm when it stands on soft limbs or its rim, whatever its size. An
 * impact at speed v is first seen up to v h deep. That is the price of forces taken at the start of
 * the step. */
#include "problems/contact/penalty.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/collision/bodies.h"
#include "problems/collision/overlaps.h"

/* ---- the force ------------------------------------------------------------------------------- */

/* The penalty on one point: k (N/m), c and c_t (N s/m), mu. */
typedef struct penalty {
  double stiffness, damping, grip, friction;
} penalty;

/* Adds f_n n + f_t (N) of penalty.h to f. */
static void push(const penalty *law, double depth, const double normal[3], const double relative[3],
                 double f[3]) {
  double slip[3], approach = eb_dot3(relative, normal);
  double pressing = fmax(0, law->stiffness * depth - law->damping * approach);
  for (int d = 0; d < 3; d++) slip[d] = relative[d] - approach * normal[d];
  double speed = sqrt(eb_dot3(slip, slip));
  double drag = speed > 0 ? fmin(law->friction * pressing, law->grip * speed) / speed : 0;
  for (int d = 0; d < 3; d++) f[d] += pressing * normal[d] - drag * slip[d];
}

double eb_collider_friction(const eb_friction_law *law, const eb_collider *collider, int64_t node) {
  if (law->pair_count == 0) return collider->friction;
  eb_friction_law own = *law;
  own.common = collider->friction;
  return eb_friction_between(&own, law->names[node], collider->names);
}

void eb_collider_force(const eb_collider *collider, double mu, double t, double area,
                       const double p[3], const double v[3], double f[3]) {
  double normal[3], moving[3];
  double depth = collider->margin - eb_collider_distance(collider, t, p, normal, moving);
  if (!(depth > 0)) return;
  double relative[3] = {v[0] - moving[0], v[1] - moving[1], v[2] - moving[2]};
  penalty law = {.stiffness = collider->stiffness * area,
                 .damping = collider->damping * area,
                 .grip = (collider->grip > 0 ? collider->grip : collider->damping) * area,
                 .friction = mu};
  push(&law, depth, normal, relative, f);
}

/* ---- contacts whose stiffness follows from the bodies -----------------------------------------
 */

static const double stiffness = 1.5, damping = 0.3;

/* One node in one collider. */
typedef struct touch {
  int32_t node, collider;
  double depth, normal[3], velocity[3]; /* m, -, m/s of the collider */
} touch;

struct eb_contact {
  eb_contact_settings settings;
  const double *area; /* nodes, m^2 */
  eb_bodies *bodies;
  int32_t surface_count, touch_count, overlap_count;
  int32_t *surface;      /* nodes on the surface, ascending */
  touch *touches;        /* in ascending order of nodes */
  eb_overlaps *overlaps; /* NULL when bodies do not push each other */
  const eb_overlap *overlap;
  double *touched; /* bodies: area in contact, m^2 */
  double *load;    /* bodies x 36: of bodies.h */
  double *yield;   /* bodies: q, m^2/kg */
};

static eb_error fill(eb_contact *contact, const eb_mesh *mesh, const eb_surface *surface,
                     const double *mass, const double *young) {
  EB_TRY(eb_bodies_create(mesh, mass, contact->area, young, &contact->bodies));
  size_t bodies = (size_t)contact->bodies->count;
  EB_TRY(EB_NEW(contact->touched, bodies));
  EB_TRY(EB_NEW(contact->load, 36 * bodies));
  EB_TRY(EB_NEW(contact->yield, bodies));
  EB_TRY(EB_NEW(contact->surface, mesh->node_count));
  for (int32_t i = 0; i < mesh->node_count; i++)
    if (contact->area[i] > 0) contact->surface[contact->surface_count++] = i;
  EB_TRY(EB_NEW(contact->touches,
                (size_t)contact->surface_count * (size_t)contact->settings.colliders));
  if (!contact->settings.between_bodies) return EB_OK;
  return eb_overlaps_create(mesh, surface, contact->bodies, &contact->overlaps);
}

eb_error eb_contact_create(const eb_mesh *mesh, const eb_surface *surface, const double *mass,
                           const double *area, const double *young,
                           const eb_contact_settings *settings, eb_contact **out) {
  *out = NULL;
  eb_contact *contact;
  EB_TRY(EB_NEW(contact, 1));
  contact->settings = *settings;
  contact->area = area;
  eb_error error = fill(contact, mesh, surface, mass, young);
  if (error) {
    eb_contact_destroy(contact);
    return error;
  }
  *out = contact;
  return EB_OK;
}

void eb_contact_destroy(eb_contact *contact) {
  if (!contact) return;
  eb_overlaps_destroy(contact->overlaps);
  free(contact->touches);
  free(contact->surface);
  free(contact->yield);
  free(contact->load);
  free(contact->touched);
  eb_bodies_destroy(contact->bodies);
  free(contact);
}

uint64_t eb_contact_hash(const eb_contact *contact, uint64_t hash) {
  const eb_contact_settings *settings = &contact->settings;
  const double constants[] = {stiffness, damping, settings->step, settings->friction.common,
                              settings->between_bodies};
  return eb_hash(hash, constants, sizeof constants);
}

/* Y of an elastic body above, m^2/kg. */
static double elastic_yield(const eb_body *body, double step, double area) {
  double density = body->mass / body->volume, reach = sqrt(body->stiffest / density) * step;
  double thick = 4 * body->volume / body->area, bend = sqrt(reach * thick);
  return (fmin(area, thick * bend) / (thick * thick * bend) +
          fmin(sqrt(area), reach) / (reach * reach)) /
         density;
}

static void add_load(eb_contact *contact, int32_t b, int32_t node, const double *x,
                     const double normal[3]) {
  eb_body *body = &contact->bodies->body[b];
  double area = contact->area[node];
  if (contact->touched[b] == 0) eb_bodies_measure(contact->bodies, b, x);
  contact->touched[b] += area;
  eb_body_add_load(body, area, x + 3 * (size_t)node, normal, contact->load + 36 * (size_t)b);
}

/* The law of a contact of so much area in a patch that yields so much. */
static penalty law_of(const eb_contact *contact, double area, double yield, double friction) {
  double h = contact->settings.step, share = area / yield;
  return (penalty){.stiffness = stiffness * share / (h * h),
                   .damping = damping * share / h,
                   .grip = damping * share / h,
                   .friction = friction};
}

/* The names of a tetrahedron are those of all its corners. */
static double overlap_friction(const eb_friction_law *law, const eb_overlap *overlap) {
  if (law->pair_count == 0) return law->common;
  uint32_t names = UINT32_MAX;
  for (int c = 0; c < 4; c++) names &= law->names[overlap->corner[c]];
  return eb_friction_between(law, law->names[overlap->node], names);
}

void eb_contact_force(eb_contact *contact, const eb_collider *colliders, int32_t count, double t,
                      const double *x, const double *v, double *f) {
  eb_bodies *bodies = contact->bodies;
  /* Who touches. */
  contact->touch_count = 0;
  for (int32_t k = 0; k < contact->surface_count; k++)
    for (int32_t c = 0; c < count; c++) {
      if (colliders[c].stiffness > 0 || colliders[c].implicit) continue;
      touch *next = &contact->touches[contact->touch_count];
      next->node = contact->surface[k];
      next->collider = c;
      next->depth =
          colliders[c].margin - eb_collider_distance(&colliders[c], t, x + 3 * (size_t)next->node,
                                                     next->normal, next->velocity);
      contact->touch_count += next->depth > 0;
    }
  if (contact->overlaps)
    contact->overlap_count = eb_overlaps_find(contact->overlaps, x, &contact->overlap);
  const touch *touches_end = contact->touches + contact->touch_count;
  const eb_overlap *overlaps_end = contact->overlap + contact->overlap_count;
  if (contact->touch_count + contact->overlap_count == 0) return;
  /* How the bodies yield to all of it. */
  memset(contact->touched, 0, (size_t)bodies->count * sizeof *contact->touched);
  memset(contact->load, 0, 36 * (size_t)bodies->count * sizeof *contact->load);
  for (const touch *at = contact->touches; at < touches_end; at++)
    add_load(contact, bodies->of[at->node], at->node, x, at->normal);
  for (const eb_overlap *at = contact->overlap; at < overlaps_end; at++) {
    add_load(contact, bodies->of[at->node], at->node, x, at->normal);
    add_load(contact, at->body, at->node, x, at->normal);
  }
  for (int32_t b = 0; b < bodies->count; b++)
    contact->yield[b] =
        fmax(eb_body_yield(&bodies->body[b], contact->load + 36 * (size_t)b),
             elastic_yield(&bodies->body[b], contact->settings.step, contact->touched[b]));
  /* Forces from colliders, then of bodies on each other. */
  for (const touch *at = contact->touches; at < touches_end; at++) {
    size_t i = 3 * (size_t)at->node;
    penalty law = law_of(
        contact, contact->area[at->node], contact->yield[bodies->of[at->node]],
        eb_collider_friction(&contact->settings.friction, &colliders[at->collider], at->node));
    double relative[3];
    for (int d = 0; d < 3; d++) relative[d] = v[i + (size_t)d] - at->velocity[d];
    push(&law, at->depth, at->normal, relative, f + i);
  }
  for (const eb_overlap *at = contact->overlap; at < overlaps_end; at++) {
    size_t i = 3 * (size_t)at->node;
    double yield = 2 * fmax(contact->yield[bodies->of[at->node]], contact->yield[at->body]);
    penalty law = law_of(contact, contact->area[at->node], yield,
                         overlap_friction(&contact->settings.friction, at));
    double relative[3], force[3] = {0, 0, 0};
    for (size_t d = 0; d < 3; d++) {
      relative[d] = v[i + d];
      for (int c = 0; c < 4; c++) relative[d] -= at->weight[c] * v[3 * (size_t)at->corner[c] + d];
    }
    push(&law, at->depth, at->normal, relative, force);
    for (size_t d = 0; d < 3; d++) {
      f[i + d] += force[d];
      for (int c = 0; c < 4; c++) f[3 * (size_t)at->corner[c] + d] -= at->weight[c] * force[d];
    }
  }
}
