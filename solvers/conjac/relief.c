/* Inertia relief of unsupported bodies.
 *
 * Quasistatic nodes are to have no net force. In a body that falls freely they then carry their
 * weight to the dynamic nodes, as if it hung on these, although in truth nothing bends it: at fine
 * nodes of soft bodies that load tears the elements around them. Loads of unsupported structures
 * are balanced by the inertia of their rigid acceleration (inertia relief, textbook practice in
 * structural analysis):
 *
 *   f'_i = f_i - m_i (a + alpha x r_i),   sum m a = sum f,   I alpha = sum r x f
 *
 * about the centre of mass, over all nodes i of a connected body without scripted and attached
 * nodes that touches no implicit collider. f' is free of net force and moment, and vanishes in free
 * fall; where the body comes to rest f' = f. It takes the place of f where quasistatic nodes seek
 * their equilibrium and nowhere else: the equation of motion has f. A body in contact is supported:
 * the springs of its contacts are in H, and it is the correction that brings them into balance with
 * all of f. The paper has no such term: it is there with inertia_relief=true alone.
 *
 * Needs: mass and net force of all nodes.
 * Workspace: an integer a node, 26 numbers a body. Nothing fails after create. */
#include "solvers/conjac/conjac.h"

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/mesh/cut.h"

#include <float.h>
#include <string.h>

typedef struct rigid_body {
  bool supported;
  double mass, centre[3], force[3], torque[3], alpha[3];
  double inertia[3][3];
} rigid_body;

struct eb_relief {
  int32_t count, *body; /* of every node */
  rigid_body *bodies;
};

/* ---- life ---- */

eb_error eb_relief_create(const eb_mesh *mesh, eb_relief **out) {
  EB_TRY(EB_NEW(*out, 1));
  eb_error error = EB_NEW((*out)->body, mesh->node_count);
  if (!error) {
    (*out)->count = eb_mesh_components(mesh, (*out)->body);
    error = EB_NEW((*out)->bodies, (*out)->count);
  }
  if (!error) return EB_OK;
  eb_relief_destroy(*out);
  *out = NULL;
  return error;
}

void eb_relief_destroy(eb_relief *relief) {
  if (!relief) return;
  free(relief->body);
  free(relief->bodies);
  free(relief);
}

/* ---- rigid accelerations ---- */

/* Mass, centre and force of every body. Returns whether there is one without support. */
static bool sum_bodies(eb_relief *relief, const eb_partition *part, const double *mass,
                       const double *x, const double *f) {
  bool unsupported = false;
  for (int32_t i = 0; i < part->nodes; i++) {
    rigid_body *body = &relief->bodies[relief->body[i]];
    body->supported |= part->class[i] == EB_NODE_SCRIPTED || part->class[i] == EB_NODE_ATTACHED;
    body->mass += mass[i];
    for (int d = 0; d < 3; d++) {
      body->centre[d] += mass[i] * x[3 * (int64_t)i + d];
      body->force[d] += f[3 * (int64_t)i + d];
    }
  }
  for (rigid_body *body = relief->bodies; body < relief->bodies + relief->count; body++) {
    body->supported |= !(body->mass > 0);
    unsupported |= !body->supported;
    for (int d = 0; d < 3; d++) body->centre[d] /= body->mass;
  }
  return unsupported;
}

static void sum_moments(eb_relief *relief, const eb_partition *part, const double *mass,
                        const double *x, const double *f) {
  for (int32_t i = 0; i < part->nodes; i++) {
    rigid_body *body = &relief->bodies[relief->body[i]];
    double r[3], moment[3], square = 0;
    for (int d = 0; d < 3; d++) {
      r[d] = x[3 * (int64_t)i + d] - body->centre[d];
      square += r[d] * r[d];
    }
    eb_cross3(r, f + 3 * (int64_t)i, moment);
    for (int d = 0; d < 3; d++) {
      body->torque[d] += moment[d];
      for (int e = 0; e < 3; e++)
        body->inertia[d][e] += mass[i] * ((d == e) * square - r[d] * r[e]);
    }
  }
}

/* alpha = inv(I) torque, I = sum m (r.r 1 - r r^T), without the spin's own W x I W: what turns a
 * body at a constant rate strains it, and that load stays. By the adjugate; 0 where all mass lies
 * on a line. */
static void angular_acceleration(rigid_body *body) {
  double(*I)[3] = body->inertia, adjugate[3][3], determinant = 0,
  trace = I[0][0] + I[1][1] + I[2][2];
  for (int d = 0; d < 3; d++) eb_cross3(I[(d + 1) % 3], I[(d + 2) % 3], adjugate[d]);
  for (int d = 0; d < 3; d++) determinant += I[0][d] * adjugate[0][d];
  bool line = !(determinant > 64 * DBL_EPSILON * trace * trace * trace);
  for (int d = 0; d < 3; d++)
    for (int e = 0; e < 3 && !line; e++)
      body->alpha[d] += adjugate[d][e] * body->torque[e] / determinant;
}

void eb_relief_apply(eb_relief *relief, const eb_partition *part, const eb_touch *touches,
                     int32_t touch_count, const double *mass, const double *x, const double *f,
                     double *load) {
  memset(relief->bodies, 0, (size_t)relief->count * sizeof *relief->bodies);
  for (int32_t k = 0; k < touch_count; k++)
    relief->bodies[relief->body[touches[k].node]].supported = true;
  if (!sum_bodies(relief, part, mass, x, f)) return;
  sum_moments(relief, part, mass, x, f);
  for (rigid_body *body = relief->bodies; body < relief->bodies + relief->count; body++)
    angular_acceleration(body);
  for (int32_t i = 0; i < part->nodes; i++) {
    const rigid_body *body = &relief->bodies[relief->body[i]];
    double r[3], turn[3];
    if (body->supported) continue;
    for (int d = 0; d < 3; d++) r[d] = x[3 * (int64_t)i + d] - body->centre[d];
    eb_cross3(body->alpha, r, turn);
    for (int d = 0; d < 3; d++)
      load[3 * (int64_t)i + d] -= mass[i] * (body->force[d] / body->mass + turn[d]);
  }
}
