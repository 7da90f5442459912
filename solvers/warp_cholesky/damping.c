/* Damping by shape matching, four elements at a time; see damping.h for the formulas.
 *
 * Centres are means and not weighted: the four corners of a linear tetrahedron have equal shares of
 * its mass. Pulls are stored element by element and added in the order of the elements, so that the
 * bits do not depend on the threads. Workspace: 12 numbers an element. */
#include "solvers/warp_cholesky/damping.h"

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/elasticity/svd3.h"

eb_error eb_damping_create(const eb_scene *scene, eb_damping *out) {
  const eb_mesh *mesh = scene->mesh;
  size_t elements = (size_t)mesh->element_count;
  *out = (eb_damping){.mesh = mesh, .mass = eb_elasticity_mass(scene->elasticity)};
  eb_error error = EB_NEW(out->share, elements);
  if (!error) error = EB_NEW(out->damped, elements);
  if (!error) error = EB_NEW(out->pull, 12 * elements);
  for (int32_t e = 0; !error && e < mesh->element_count; e++)
    out->share[e] =
        0.25 * scene->materials[mesh->region[e]].density * eb_mesh_element_volume(mesh, mesh->X, e);
  if (error) eb_damping_clear(out);
  return error;
}

void eb_damping_clear(eb_damping *damping) {
  free(damping->share);
  free(damping->damped);
  free(damping->pull);
  *damping = (eb_damping){0};
}

typedef struct corners {
  const int32_t *node[4]; /* of each lane */
  eb_v4 x[12], v[12];
  eb_v4 r[12];       /* x less its centre */
  eb_v4 centre_v[3]; /* mean velocity */
} corners;

/* Lanes beyond the last element repeat the first of the four: zeros have no rotation that is
 * nearest. Their pulls are not read. */
static void gather(const eb_mesh *mesh, const int32_t *element, int lanes, const double *x,
                   const double *v, corners *c) {
  for (int l = 0; l < 4; l++) {
    c->node[l] = mesh->elements + 4 * (int64_t)element[l < lanes ? l : 0];
    for (int k = 0; k < 12; k++) {
      int64_t at = 3 * (int64_t)c->node[l][k / 3] + k % 3;
      c->x[k][l] = x[at];
      c->v[k][l] = v[at];
    }
  }
  for (int d = 0; d < 3; d++) {
    eb_v4 centre = 0.25 * ((c->x[d] + c->x[d + 3]) + (c->x[d + 6] + c->x[d + 9]));
    c->centre_v[d] = 0.25 * ((c->v[d] + c->v[d + 3]) + (c->v[d + 6] + c->v[d + 9]));
    for (int a = 0; a < 4; a++) c->r[3 * a + d] = c->x[3 * a + d] - centre;
  }
}

/* u_a - v_a of the four corners, out of the displacements from the centre. F = sum (moved) r^T; the
 * rotation nearest to it maximizes tr(R^T F), which is minimizing sum |R r_a - moved_a|^2 (Kabsch
 * 1976; Horn 1987). It is F's polar factor, with the sign of the least singular value turned where
 * det F < 0, so that an inverted element is not mirrored. */
static void towards_rigid(const corners *c, double dt, eb_v4 out[12]) {
  eb_v4 F[9] = {{0}}, R[9];
  for (int a = 0; a < 4; a++)
    for (int i = 0; i < 9; i++) {
      eb_v4 moved = c->r[3 * a + i / 3] + dt * (c->v[3 * a + i / 3] - c->centre_v[i / 3]);
      F[i] += moved * c->r[3 * a + i % 3];
    }
  eb_polar3(F, R);
  for (int a = 0; a < 4; a++)
    for (int d = 0; d < 3; d++) {
      eb_v4 turned = eb_v4_dot3(R + 3 * d, c->r + 3 * a) - c->r[3 * a + d];
      out[3 * a + d] = turned / dt + c->centre_v[d] - c->v[3 * a + d];
    }
}

/* The blend rises from 0 where the error is at the threshold to `strength` where it is far
 * above, so that elements that cross it do not jerk. The rigid motion has the mean velocity of
 * the corners and turns them about their centre: the four pulls of an element sum to 0, and with
 * the corners' equal shares of the mass linear momentum stays what it was, but for scripted
 * nodes. A node gets the pulls of all its damped elements, each in the proportion of that
 * element's share to the node's mass, which sum to 1 at most: strength <= 1 cannot overshoot. */
int32_t eb_damping_apply(eb_damping *damping, double strength, double above, const double *error,
                         const uint8_t *fresh, const uint8_t *fixed, const double *x, double dt,
                         double *v) {
  EB_ASSERT(strength >= 0 && dt > 0);
  const eb_mesh *mesh = damping->mesh;
  int32_t count = 0, *damped = damping->damped;
  for (int32_t e = 0; e < mesh->element_count; e++)
    if (!fresh[e] && error[e] > above) damped[count++] = e;
#pragma omp parallel for schedule(static)
  for (int32_t at = 0; at < count; at += 4) {
    corners c;
    eb_v4 pull[12];
    int lanes = count - at < 4 ? count - at : 4;
    gather(mesh, damped + at, lanes, x, v, &c);
    towards_rigid(&c, dt, pull);
    for (int l = 0; l < lanes; l++) {
      int32_t e = damped[at + l];
      double weight = strength * (1 - above / error[e]) * damping->share[e];
      for (int k = 0; k < 12; k++) damping->pull[12 * (int64_t)(at + l) + k] = weight * pull[k][l];
    }
  }
  for (int32_t at = 0; at < count; at++)
    for (int k = 0; k < 12; k++) {
      int32_t node = mesh->elements[4 * (int64_t)damped[at] + k / 3];
      if (!fixed[node])
        v[3 * (int64_t)node + k % 3] += damping->pull[12 * (int64_t)at + k] / damping->mass[node];
    }
  return count;
}
