/* A step of positions (Mueller et al. 2007) is a prediction, projections that move particles by
 * -w dC/dx, and velocities of the way that they have gone: a particle that is held has w = 0, and
 * goes where the script wants it. */
#include "solvers/position_based/particles.h"

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/scene_impl.h"
#include "solvers/common/scene_force.h"

#include <math.h>
#include <omp.h>

static eb_error allocate(eb_particles *p) {
  EB_TRY(EB_NEW(p->at, (int64_t)p->nodes + p->batches->chunk_count));
  EB_TRY(EB_NEW(p->surface, p->nodes));
  EB_TRY(EB_NEW(p->fixed, p->nodes));
  EB_TRY(EB_NEW(p->target, 3 * (int64_t)p->nodes));
  return EB_NEW(p->force, 3 * (int64_t)p->nodes);
}

eb_error eb_particles_create(const eb_solver *solver, const eb_batches *batches,
                             eb_particles *out) {
  *out = (eb_particles){.solver = solver,
                        .scene = solver->scene,
                        .batches = batches,
                        .nodes = solver->scene->mesh->node_count};
  EB_TRY(allocate(out));
  for (int32_t i = 0; i < out->nodes; i++)
    if (out->scene->node_area[i] > 0) out->surface[out->surface_count++] = i;
  return EB_OK;
}

void eb_particles_clear(eb_particles *p) {
  free(p->at);
  free(p->surface);
  free(p->fixed);
  free(p->target);
  free(p->force);
  *p = (eb_particles){0};
}

static bool all_finite(int64_t n, const double *x) {
  for (int64_t k = 0; k < n; k++)
    if (!isfinite(x[k])) return false;
  return true;
}

bool eb_particles_begin(eb_particles *p, const eb_state *state, double dt, eb_step_log *log) {
  const double *mass = eb_scene_mass(p->scene);
  int64_t size = 3 * (int64_t)p->nodes;
  omp_set_num_threads(p->solver->threads);
  eb_log_begin(log, EB_PHASE_RHS);
  bool finite = all_finite(size, state->x) && all_finite(size, state->v);
  if (finite) { /* a force would be asked at positions that are none */
    eb_logged_scene_force(p->scene, state->time, state->x, state->v, p->force, log);
    eb_scene_boundary(p->scene, state->time + dt, p->fixed, p->target);
    finite = all_finite(size, p->force) && all_finite(size, p->target);
    for (int32_t i = 0; i < p->nodes; i++)
      (*eb_particle_of(p, i))[3] = p->fixed[i] ? 0 : 1 / mass[i];
  }
  eb_log_end(log, EB_PHASE_RHS);
  return finite;
}

void eb_particles_predict(eb_particles *p, const eb_state *state, double dt, bool forced) {
  for (int32_t i = 0; i < p->nodes; i++) {
    eb_particle *at = eb_particle_of(p, i);
    for (int64_t d = 0, k = 3 * (int64_t)i; d < 3; d++, k++) {
      double ahead = state->x[k] + dt * state->v[k];
      if (forced) ahead += dt * dt * p->force[k] * (*at)[3];
      (*at)[d] = p->fixed[i] ? p->target[k] : ahead;
    }
  }
}

bool eb_particles_finish(const eb_particles *p, eb_state *state, double dt, bool forced) {
  EB_ASSERT(dt > 0);
  bool finite = true;
  for (int32_t i = 0; i < p->nodes; i++)
    finite &= isfinite(p->at[i][0]) && isfinite(p->at[i][1]) && isfinite(p->at[i][2]);
  if (!finite) return false;
  for (int32_t i = 0; i < p->nodes; i++) {
    const eb_particle *at = eb_particle_of(p, i);
    for (int64_t d = 0, k = 3 * (int64_t)i; d < 3; d++, k++) {
      state->v[k] = ((*at)[d] - state->x[k]) / dt;
      if (!forced) state->v[k] += dt * p->force[k] * (*at)[3];
      state->x[k] = (*at)[d];
    }
  }
  state->time += dt;
  state->step++;
  return true;
}
