/* The record of a step (record.h): pairs in nodes of the scene, displacements as they are, not as they were linearized. */
#include "problems/base/vector3.h"
#include "solvers/contact/step_data.h"

#include <string.h>

static void write_pair(const eb_contact_step *step, const eb_pair *from, eb_pair *to) {
  const eb_contact_surface *surface = &step->surface;
  to->kind = from->kind;
  for (int i = 0; i < 4; i++) {
    int32_t node = eb_contact_surface_node(surface, from->vertex[i]);
    to->vertex[i] = node >= 0 ? node : step->system.nodes + from->vertex[i] - surface->own;
  }
}

static void write_motion(eb_contact_step *step, int32_t k) {
  const eb_constraint *constraint = step->constraints.all + k;
  double at[3] = {0}, way[3] = {0}, *c = step->c + 3 * (int64_t)k, *u = step->u + 3 * (int64_t)k;
  for (int i = 0; i < 4; i++) {
    const double *x0 = step->surface.x0 + 3 * (int64_t)constraint->pair.vertex[i];
    const double *x = step->surface.x + 3 * (int64_t)constraint->pair.vertex[i];
    eb_add3(constraint->weight[i], x0, at);
    for (int d = 0; d < 3; d++) way[d] += constraint->weight[i] * (x[d] - x0[d]);
  }
  c[0] = constraint->demand - eb_dot3(constraint->frame, at);
  c[1] = c[2] = 0;
  for (int d = 0; d < 3; d++) u[d] = eb_dot3(constraint->frame + 3 * d, way) - c[d];
}

void eb_contact_step_record(eb_contact_step *step) {
  int32_t count = step->constraints.count;
  for (int32_t k = 0; k < count; k++) {
    const eb_constraint *constraint = step->constraints.all + k;
    write_pair(step, &constraint->pair, step->pair + k);
    memcpy(step->weight + 4 * (int64_t)k, constraint->weight, sizeof constraint->weight);
    memcpy(step->frame + 9 * (int64_t)k, constraint->frame, sizeof constraint->frame);
    step->mu[k] = step->problem->mu[k];
    write_motion(step, k);
  }
  step->record = (eb_contact_record){.count = count,
                                     .step = step->system.dt,
                                     .gap = step->gap,
                                     .eps2 = step->tolerance.eps2,
                                     .eps1 = step->tolerance.eps1,
                                     .cone = step->tolerance.cone,
                                     .angle = step->tolerance.angle,
                                     .nodes = step->system.nodes,
                                     .pair = step->pair,
                                     .weight = step->weight,
                                     .frame = step->frame,
                                     .c = step->c,
                                     .mu = step->mu,
                                     .r = step->r,
                                     .u = step->u,
                                     .problem = step->problem,
                                     .v = step->v};
}
