/* Implicit penalty contact; the equations stand in implicit_penalty.h. */
#include "problems/base/assert.h"
#include "problems/contact/implicit_penalty.h"

#include <math.h>

#include "problems/base/vector3.h"

/* ---- who touches ----------------------------------------------------------------------------- */

int32_t eb_implicit_room(const eb_scene *scene) {
  int32_t colliders = 0, nodes = 0;
  for (int32_t c = 0; c < scene->contacts.collider_count; c++)
    colliders += scene->contacts.colliders[c].implicit;
  for (int32_t i = 0; colliders > 0 && i < scene->mesh->node_count; i++)
    nodes += scene->node_area[i] > 0;
  return nodes * colliders;
}

/* The touches of nodes that are inside a collider or, with dt > 0, would be at the end of the step.
 * A node that is inside and leaves is kept: let go, a patch that is pressed would fall back
 * unopposed in every other step. A touch that is found beyond the room is written to a place that
 * is thrown away. */
static int32_t find(const eb_scene *scene, double t, double dt, const double *x, const double *v,
                    int32_t room, eb_touch *touches) {
  int32_t count = 0;
  eb_touch beyond;
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    for (int32_t c = 0; scene->node_area[i] > 0 && c < scene->contacts.collider_count; c++) {
      const eb_collider *collider = &scene->contacts.colliders[c];
      if (!collider->implicit) continue;
      eb_touch *next = count < room ? &touches[count] : &beyond;
      size_t at = 3 * (size_t)i;
      double *n = next->normal, *w = next->velocity;
      double depth = collider->margin - eb_collider_distance(collider, t, x + at, n, w);
      double ahead = dt > 0 ? depth - dt * (eb_dot3(v + at, n) - eb_dot3(w, n)) : depth;
      if (!(depth > 0) && !(ahead > 0)) continue;
      next->depth = fmax(0, depth);
      for (int d = 0; depth < 0 && d < 3; d++) w[d] += depth / dt * n[d];
      next->node = i;
      next->stiffness = collider->stiffness * scene->node_area[i];
      next->isotropy = collider->isotropy;
      next->friction = eb_collider_friction(&scene->contacts.friction, collider, i);
      count++;
    }
  return count;
}

int32_t eb_implicit_touches(const eb_scene *scene, double t, const double *x, int32_t room,
                            eb_touch *touches) {
  return find(scene, t, 0, x, NULL, room, touches);
}

int32_t eb_implicit_step_touches(const eb_scene *scene, double t, double dt, const double *x,
                                 const double *v, int32_t room, eb_touch *touches) {
  return find(scene, t, dt, x, v, room, touches);
}

/* ---- the force, linear in the velocities ----------------------------------------------------- */

void eb_touches_gradient(const eb_touch *touches, int32_t count, double *g) {
  for (const eb_touch *at = touches; at < touches + count; at++)
    for (int d = 0; d < 3; d++)
      g[3 * (size_t)at->node + (size_t)d] -= at->stiffness * at->depth * at->normal[d];
}

void eb_touches_matrix(const eb_touch *touches, int32_t count, double scale, eb_block_matrix *A) {
  for (const eb_touch *at = touches; at < touches + count; at++) {
    double *block = A->values + 9 * (size_t)A->diagonal[at->node], k = scale * at->stiffness;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        block[3 * i + j] += k * ((1 - at->isotropy) * (at->normal[i] * at->normal[j]) +
                                 (i == j ? at->isotropy : 0));
  }
}

void eb_touches_carry(const eb_touch *touches, int32_t count, double scale, double *b) {
  for (const eb_touch *at = touches; at < touches + count; at++) {
    const double *n = at->normal, *w = at->velocity;
    double along = (1 - at->isotropy) * eb_dot3(n, w);
    for (size_t d = 0; d < 3; d++)
      b[3 * (size_t)at->node + d] += scale * at->stiffness * (along * n[d] + at->isotropy * w[d]);
  }
}

double eb_touches_energy(const eb_touch *touches, int32_t count) {
  double energy = 0;
  for (const eb_touch *at = touches; at < touches + count; at++)
    energy += 0.5 * at->stiffness * at->depth * at->depth;
  return energy;
}

/* ---- friction -------------------------------------------------------------------------------- */

double eb_touch_impulse(const eb_touch *touch, double dt, double scale, const double v[3]) {
  EB_ASSERT(dt >= 0 && scale >= 0);
  double approach = eb_dot3(touch->normal, touch->velocity) - eb_dot3(touch->normal, v);
  return touch->stiffness * fmax(0, dt * touch->depth + scale * approach);
}

/* Takes up to `allowed` (m/s) of the slip along the collider away. */
static void brake(const eb_touch *touch, double allowed, double v[3]) {
  double slip[3], along;
  for (int d = 0; d < 3; d++) slip[d] = v[d] - touch->velocity[d];
  along = eb_dot3(slip, touch->normal);
  for (int d = 0; d < 3; d++) slip[d] -= along * touch->normal[d];
  double speed = sqrt(eb_dot3(slip, slip));
  if (!(speed > 0) || !(allowed > 0)) return;
  double share = fmin(1, allowed / speed);
  for (int d = 0; d < 3; d++) v[d] -= share * slip[d];
}

/* All impulses on a node belong to the velocity that was solved for, so it is kept while its
 * touches are gone through. */
void eb_touches_friction(const eb_touch *touches, int32_t count, double dt, double scale,
                         const double *mass, double *v) {
  double solved[3] = {0, 0, 0};
  for (int32_t k = 0; k < count; k++) {
    const eb_touch *at = &touches[k];
    double *here = v + 3 * (size_t)at->node;
    for (int d = 0; (k == 0 || touches[k - 1].node != at->node) && d < 3; d++) solved[d] = here[d];
    brake(at, at->friction * eb_touch_impulse(at, dt, scale, solved) / mass[at->node], here);
  }
}
