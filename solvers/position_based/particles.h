/* The nodes of a scene as particles: predicted, moved by projections, and the velocities that
 * follow. Internal to solvers/position_based. */
#ifndef EB_POSITION_BASED_PARTICLES_H
#define EB_POSITION_BASED_PARTICLES_H

#include "solvers/position_based/batches.h"
#include "solvers/solver.h"

typedef struct eb_particles {
  const eb_solver *solver;
  const eb_scene *scene;
  const eb_batches *batches;
  int32_t nodes, surface_count;
  /* nodes + chunks, in the order of batches->particle; those behind the nodes belong to lanes
   * without an element and stay at 0 */
  eb_particle *at;
  int32_t *surface; /* surface_count: nodes of the surface, ascending */
  uint8_t *fixed;   /* nodes: scripted at the end of the step */
  double *target;   /* nodes x 3: where scripted nodes are then, m */
  double *force;    /* nodes x 3: f_ext at the start of the step, N */
} eb_particles;

/* Of solver->scene and its batches, which outlive them. The caller clears *out, also after failure.
 */
EB_MUST eb_error eb_particles_create(const eb_solver *solver, const eb_batches *batches,
                                     eb_particles *out);
/* That of a node. */
static inline eb_particle *eb_particle_of(const eb_particles *particles, int64_t node) {
  return &particles->at[particles->batches->particle[node]];
}
void eb_particles_clear(eb_particles *particles);

/* Starts a step of length dt at the state: sets the threads, evaluates f_ext at its start and the
 * script at its end, and gives scripted nodes infinite mass (phase RHS). Returns false when state
 * or forces are not finite. */
bool eb_particles_begin(eb_particles *particles, const eb_state *state, double dt,
                        eb_step_log *log);
/* Particles at x0 + h v0, with `forced` + h^2 f_ext / m; scripted ones at their places. */
void eb_particles_predict(eb_particles *particles, const eb_state *state, double dt, bool forced);
/* x1 from the particles, v1 = (x1 - x0) / h, of free nodes without `forced` + h f_ext / m; goes on
 * to the end of the step. Returns false, and leaves the state alone, when they are not finite. */
bool eb_particles_finish(const eb_particles *particles, eb_state *state, double dt, bool forced);

#endif
