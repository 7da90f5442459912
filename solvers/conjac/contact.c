/* Implicit penalty contact and friction in the condensation.
 *
 * The penalty of problems/contact/implicit_penalty.h is linear in v, k depth n - (scale / h) k P (v - w), so its springs are part of H
 * and its push is part of f wherever conjac.h speaks of them: J knows the colliders. What moving colliders bring, b = k P w, goes with
 * the script's velocities into c:
 *   H_qq c_q = b_q - H_qs v_s,   J^T (M (v0 - c) + h f) - beta h^2 B^T (H c - b)_n   on the right of Eq. 11.
 * The touches of a step hold nodes that are about to arrive, with a w that slows them down to it, so that c is not 0 in a fall.
 *
 * Friction changes v to vf = v + d, d = 0 but at touches (Bridson et al. 2002), and the unknowns follow by least squares, weighted with the
 * matrix of the step (Section 4 of the paper, "Bunny"):
 *   min |vf - J y - c|^2 in M + beta h^2 H  =>  A dy = J^T (M + beta h^2 H) d = J^T M d + beta h^2 (J^T H J) d_d,
 * as J^T H vanishes on quasistatic nodes. There an impulse moves all that hangs on the node: a projection leaves most of the
 * slip, and a body at rest would creep down any slope. Further passes repeat both on what is left, with impulses
 * that add up within Coulomb's bound; the first pass is the paper's. */
#include "solvers/conjac/conjac.h"

#include <math.h>
#include <string.h>

/* ---- finding --------------------------------------------------------------------------------- */

bool eb_conjac_find_contact(eb_conjac *c, const eb_state *state, double dt, eb_step_log *log) {
  eb_implicit *work = &c->work;
  bool had = c->touched;
  eb_implicit_find_touches(work, state, dt, log);
  for (const eb_touch *at = work->touches; at < work->touches + work->touch_count; at++)
    for (int d = 0; d < 3; d++) c->inhomogeneous |= at->velocity[d] != 0;
  c->touched = work->touch_count > 0;
  return had || c->touched;
}

void eb_conjac_find_contact_at(eb_conjac *c, double time, const double *x) {
  eb_implicit *work = &c->work;
  work->touch_count = eb_implicit_touches(work->scene, time, x, work->touch_room, work->touches);
}

/* ---- moving colliders ------------------------------------------------------------------------ */

void eb_conjac_carry(const eb_conjac *c, double *to) {
  memset(to, 0, (size_t)c->work.size * sizeof *to);
  eb_touches_carry(c->work.touches, c->work.touch_count, 1, to);
}

/* ---- friction -------------------------------------------------------------------------------- */

/* v of node i with the present unknowns. */
static void velocity_at(const eb_conjac *c, int64_t i, double v[3]) {
  for (int64_t k = 3 * i; k < 3 * i + 3; k++) {
    const double *row = c->jacobian + k * c->stride;
    v[k - 3 * i] = c->inhomogeneous ? c->constant[k] : 0;
    for (int64_t j = 0; j < c->part.unknowns; j++) v[k - 3 * i] += row[j] * c->reduced.y[j];
  }
}

/* What the friction of one touch still gives to its node in this pass: change of velocity. Keeps the sum of its impulses within mu times the normal
 * one. */
static void friction_change(const eb_touch *touch, eb_friction *friction, double mass,
                            const double v[3], double change[3]) {
  double slip[3], along = 0, size = 0;
  for (int d = 0; d < 3; d++) slip[d] = v[d] - touch->velocity[d];
  for (int d = 0; d < 3; d++) along += slip[d] * touch->normal[d];
  for (int d = 0; d < 3; d++) {
    change[d] = friction->impulse[d] - mass * (slip[d] - along * touch->normal[d]);
    size += change[d] * change[d];
  }
  double share = size > 0 ? fmin(1, friction->bound / sqrt(size)) : 0;
  for (int d = 0; d < 3; d++) {
    double wanted = share * change[d];
    change[d] = (wanted - friction->impulse[d]) / mass;
    friction->impulse[d] = wanted;
  }
}

/* to += J^T (M + beta h^2 H) d of one node. */
static void add_change(const eb_conjac *c, int64_t i, double mass, double scale,
                       const double change[3], double *to) {
  const eb_reduced *r = &c->reduced;
  int64_t n = c->part.unknowns;
  for (int64_t k = 0; k < 3; k++) {
    const double *row = c->jacobian + (3 * i + k) * c->stride;
    for (int64_t j = 0; j < n; j++) to[j] += mass * change[k] * row[j];
  }
  if (c->part.class[i] != EB_NODE_DYNAMIC) return;
  /* A dynamic node's rows of J are unit vectors: d is the change of some unknowns. */
  for (int64_t m = 0; m < n; m++) {
    double d = 0;
    for (int64_t k = 0; k < 3; k++) d += c->jacobian[(3 * i + k) * c->stride + m] * change[k];
    for (int64_t j = 0; d != 0 && j < n; j++)
      to[j] += 0.5 * scale * d * (r->stiffness[m * n + j] + r->stiffness[j * n + m]);
  }
}

/* One filter, touch by touch where a node has several, and one projection. Returns the largest change of a velocity. */
static double pass(eb_conjac *c, double scale) {
  const eb_implicit *work = &c->work;
  const double *mass = eb_elasticity_mass(work->scene->elasticity);
  double *dy = c->reduced.rhs, most = 0, v[3] = {0, 0, 0}, change[3];
  int64_t n = c->part.unknowns;
  for (int64_t j = 0; j < n; j++) dy[j] = 0;
  for (int32_t k = 0; k < work->touch_count; k++) {
    const eb_touch *at = &work->touches[k];
    if (c->part.class[at->node] == EB_NODE_SCRIPTED) continue;
    if (k == 0 || at[-1].node != at->node) velocity_at(c, at->node, v);
    friction_change(at, &c->friction[k], mass[at->node], v, change);
    add_change(c, at->node, mass[at->node], scale, change, dy);
    for (int d = 0; d < 3; d++) {
      v[d] += change[d];
      most = fmax(most, fabs(change[d]));
    }
  }
  eb_conjac_back_substitute(c, dy);
  for (int64_t j = 0; j < n; j++) c->reduced.y[j] += dy[j];
  return most;
}

void eb_conjac_friction(eb_conjac *c, double dt, double scale, eb_step_log *log) {
  const eb_implicit *work = &c->work;
  const double negligible = 1e-9; /* m/s */
  if (work->touch_count == 0 || c->part.unknowns == 0) return;
  eb_log_begin(log, EB_PHASE_RESOLVE);
  for (int32_t k = 0; k < work->touch_count; k++) {
    const eb_touch *at = &work->touches[k];
    double v[3];
    velocity_at(c, at->node, v);
    c->friction[k] = (eb_friction){.bound = at->friction * eb_touch_impulse(at, dt, scale, v)};
  }
  for (int64_t k = 0; k < c->settings.friction_passes; k++)
    if (pass(c, scale) <= negligible) break;
  eb_log_end(log, EB_PHASE_RESOLVE);
}
