/* From constraints to the contact problem of a step (Verschoor and Jalba 2019, Equations 7 and 14).
 *
 * A free node of weight w has the block h w R, R the frame; a node at arm r from the centre of a free body has h w R at the body's velocity and at its angular velocity
 * the rows h w (r x R_k), for R_k . (W x r) = W . (r x R_k). What is known goes into c: the motion of scripted nodes and obstacles, and by how much a body's
 * turn at the present v moves its nodes beyond h (V + W x r), which makes a further solve a Newton step. The tangential displacement that friction
 * opposes is that of the whole step: c_t holds known motion alone. */
#include "solvers/contact/constraints.h"

#include "problems/base/vector3.h"

#include <string.h>

typedef struct draft {
  int32_t entries, block[EB_CONTACT_ENTRIES];
  double H[9 * EB_CONTACT_ENTRIES], c[3];
} draft;

/* A further entry, zero; those of one row are summed when the contact is added. */
static double *new_entry(draft *d, int32_t row) {
  d->block[d->entries] = row;
  return memset(d->H + 9 * d->entries++, 0, 9 * sizeof *d->H);
}

static void add_scaled(double scale, const double frame[9], double *H) {
  for (int k = 0; k < 9; k++) H[k] += scale * frame[k];
}

/* Takes the known displacement (m) of a vertex out of the unknown. */
static void add_known(const eb_constraint *constraint, double weight, const double way[3],
                      draft *d) {
  for (int k = 0; k < 3; k++) d->c[k] -= weight * eb_dot3(constraint->frame + 3 * k, way);
}

static void add_rider(const eb_constraint *constraint, const eb_contact_system *system, int i,
                      int32_t body, const double x0[3], const double x[3], const double *v,
                      draft *d) {
  int32_t row = system->nodes + 2 * body;
  const double *centre = system->state->pose + 7 * (int64_t)body, *twist = v + 3 * (int64_t)row;
  double scale = system->dt * constraint->weight[i], arm[3], turn[3], beyond[3];
  for (int k = 0; k < 3; k++) arm[k] = x0[k] - centre[k];
  add_scaled(scale, constraint->frame, new_entry(d, row));
  double *angular = new_entry(d, row + 1);
  for (int k = 0; k < 3; k++) {
    double moment[3];
    eb_cross3(arm, constraint->frame + 3 * k, moment);
    eb_add3(scale, moment, angular + 3 * k);
  }
  eb_cross3(twist + 3, arm, turn);
  for (int k = 0; k < 3; k++) beyond[k] = x[k] - x0[k] - system->dt * (twist[k] + turn[k]);
  add_known(constraint, constraint->weight[i], beyond, d);
}

static void add_vertex(const eb_constraint *constraint, const eb_contact_surface *surface,
                       const eb_contact_system *system, int i, const double *v, draft *d) {
  int32_t vertex = constraint->pair.vertex[i], node = eb_contact_surface_node(surface, vertex);
  const double *x0 = surface->x0 + 3 * (int64_t)vertex, *x = surface->x + 3 * (int64_t)vertex;
  double way[3] = {x[0] - x0[0], x[1] - x0[1], x[2] - x0[2]};
  d->c[0] -= constraint->weight[i] * eb_dot3(constraint->frame, x0);
  if (!eb_contact_surface_yields(surface, system, vertex))
    add_known(constraint, constraint->weight[i], way, d);
  else if (eb_contact_system_body(system, node) >= 0)
    add_rider(constraint, system, i, eb_contact_system_body(system, node), x0, x, v, d);
  else
    add_scaled(system->dt * constraint->weight[i], constraint->frame, new_entry(d, node));
}

eb_error eb_constraints_problem(eb_constraints *set, const eb_contact_surface *surface,
                                const eb_contact_system *system, const double *v, double mu,
                                eb_contact_problem *problem) {
  problem->A = system->implicit.matrix;
  problem->b = system->b;
  problem->count = 0;
  EB_TRY(eb_contact_problem_reserve(problem, set->count));
  for (int32_t k = 0; k < set->count; k++) {
    draft d = {.c = {set->all[k].demand}};
    for (int i = 0; i < 4; i++) add_vertex(set->all + k, surface, system, i, v, &d);
    eb_contact_problem_add(problem, d.entries, d.block, d.H, d.c, mu);
  }
  eb_constraints_similar(set, surface, system, problem->similar);
  return EB_OK;
}
