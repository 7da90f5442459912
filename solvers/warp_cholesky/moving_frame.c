/* Bodies of a mesh and their rigid motions; see moving_frame.h. Sums run in the order of the
 * nodes. Bodies are the connected parts of the mesh.
 *
 * Moments are taken about the centre of mass: sums about the origin would lose the digits by which
 * a body is smaller than its distance from there. */
#include "solvers/warp_cholesky/moving_frame.h"

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/mesh/cut.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

/* ---- bodies ---- */

eb_error eb_moving_frame_create(const eb_mesh *mesh, eb_moving_frame *out) {
  *out = (eb_moving_frame){.nodes = mesh->node_count};
  eb_error error = EB_NEW(out->body, mesh->node_count);
  if (!error) error = EB_NEW(out->velocity, 3 * (size_t)mesh->node_count);
  if (!error) out->bodies = eb_mesh_components(mesh, out->body);
  if (!error) error = EB_NEW(out->motion, out->bodies);
  if (error) eb_moving_frame_clear(out);
  return error;
}

void eb_moving_frame_clear(eb_moving_frame *frame) {
  free(frame->body);
  free(frame->motion);
  free(frame->velocity);
  *frame = (eb_moving_frame){0};
}

/* ---- motions ---- */

/* r = x - c, u = v - p of one node. */
static void relative(const eb_body_motion *m, const double *x, const double *v, double r[3],
                     double u[3]) {
  for (int d = 0; d < 3; d++) {
    r[d] = x[d] - m->centre[d];
    u[d] = v[d] - m->velocity[d];
  }
}

static void find_turns(eb_moving_frame *frame, const double *mass, const double *x,
                       const double *v) {
  for (int32_t i = 0; i < frame->nodes; i++) {
    eb_body_motion *m = &frame->motion[frame->body[i]];
    double r[3], u[3], L[3];
    relative(m, x + 3 * (int64_t)i, v + 3 * (int64_t)i, r, u);
    eb_cross3(r, u, L);
    for (int d = 0; d < 3; d++) m->turn[d] += mass[i] * L[d];
    for (int k = 0; k < 9; k++) m->second[k] += mass[i] * r[k / 3] * r[k % 3];
  }
  /* I omega = L by the adjugate. sum m r x (omega x r) = sum m ((r.r) omega - (r.omega) r), so that
   * I = tr(S) - S with S = sum m r r^T. No turn when I is singular (all mass on a line). */
  for (int32_t b = 0; b < frame->bodies; b++) {
    const double *S = frame->motion[b].second;
    double trace = S[0] + S[4] + S[8], I[9], rows[9], omega[3];
    for (int k = 0; k < 9; k++) I[k] = (k % 4 ? 0 : trace) - S[k];
    for (int d = 0; d < 3; d++)
      eb_cross3(I + 3 * ((d + 1) % 3), I + 3 * ((d + 2) % 3), rows + 3 * d);
    double det = I[0] * rows[0] + I[1] * rows[1] + I[2] * rows[2];
    bool regular = det > 64 * DBL_EPSILON * trace * trace * trace;
    for (int d = 0; d < 3; d++)
      omega[d] = (rows[d] * frame->motion[b].turn[0] + rows[3 + d] * frame->motion[b].turn[1] +
                  rows[6 + d] * frame->motion[b].turn[2]) /
                 det;
    for (int d = 0; d < 3; d++) frame->motion[b].turn[d] = regular ? omega[d] : 0;
  }
}

void eb_moving_frame_follow(eb_moving_frame *frame, eb_frame_kind kind, const double *mass,
                            const double *x, const double *v) {
  if (kind == EB_FRAME_WORLD) return;
  memset(frame->motion, 0, (size_t)frame->bodies * sizeof *frame->motion);
  for (int32_t i = 0; i < frame->nodes; i++) {
    eb_body_motion *m = &frame->motion[frame->body[i]];
    m->mass += mass[i];
    for (int d = 0; d < 3; d++) {
      m->centre[d] += mass[i] * x[3 * (int64_t)i + d];
      m->velocity[d] += mass[i] * v[3 * (int64_t)i + d];
    }
  }
  for (int32_t b = 0; b < frame->bodies; b++)
    for (int d = 0; d < 3; d++) {
      frame->motion[b].centre[d] /= frame->motion[b].mass;
      frame->motion[b].velocity[d] /= frame->motion[b].mass;
    }
  if (kind == EB_FRAME_BODY) find_turns(frame, mass, x, v);
  for (int32_t i = 0; i < frame->nodes; i++) {
    const eb_body_motion *m = &frame->motion[frame->body[i]];
    double r[3], u[3], spin[3];
    relative(m, x + 3 * (int64_t)i, v + 3 * (int64_t)i, r, u);
    eb_cross3(m->turn, r, spin);
    for (int d = 0; d < 3; d++) frame->velocity[3 * (int64_t)i + d] = m->velocity[d] + spin[d];
  }
}
