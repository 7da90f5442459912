/* A block (harness/check/block.h), its audit, and two states that tests write by hand. */
#ifndef EB_TESTS_AUDIT_FIXTURE_H
#define EB_TESTS_AUDIT_FIXTURE_H

#include "harness/audit/momentum_balance.h"
#include "harness/check/block.h"
#include "tests/support/owned.h"
#include "tests/support/random.h"
#include "tests/tap.h"

typedef struct trial {
  eb_scene *scene;
  eb_audit *audit;
  eb_momentum_balance *momentum;
  eb_state *before, *after;
  double h;
  size_t size; /* 3 x nodes */
  const double *mass;
} trial;

static const eb_linearization plain = {1, 1, EB_TANGENT_EXACT};

/* Of t->scene. */
static void trial_begin(trial *t) {
  tap_require(eb_audit_create(t->scene, &t->audit), "an audit");
  tap_require(eb_momentum_balance_create(t->audit, &t->momentum), "momentum balance");
  tap_require(eb_state_create(t->scene, &t->before), "a state");
  tap_require(eb_state_create(t->scene, &t->after), "another state");
  t->h = t->scene->dt;
  t->size = 3 * (size_t)t->before->node_count;
  t->mass = eb_elasticity_mass(t->scene->elasticity);
  t->after->time = t->before->time + t->h;
  t->after->step = 1;
}

/* With an implicit floor below z = `height`, where `stiffness` (Pa/m) is not 0. */
__attribute__((unused)) static void trial_open(trial *t, const char *parameters, double stiffness,
                                               double height) {
  *t = (trial){0};
  tap_require(eb_block_create(&t->scene, "%s", parameters), parameters);
  t->scene->contacts.collider_count = stiffness > 0;
  t->scene->contacts.colliders[0] = (eb_collider){.kind = EB_PLANE,
                                                  .origin = {0, 0, height},
                                                  .axis = {0, 0, 1},
                                                  .stiffness = stiffness,
                                                  .implicit = true,
                                                  .isotropy = 0.2};
  trial_begin(t);
}

static void trial_close(trial *t) {
  eb_momentum_balance_destroy(t->momentum);
  eb_audit_destroy(t->audit);
  eb_state_destroy(t->before);
  eb_state_destroy(t->after);
  eb_scene_destroy(t->scene);
}
OWNED(trial, trial_close)

__attribute__((unused)) static eb_audit_row
trial_audit(trial *t, eb_equation equation, eb_linearization linearization, eb_update update) {
  eb_audit_row row;
  const eb_declaration declared = {
      .equation = equation, .linearization = linearization, .update = update};
  tap_require(eb_audit_step(t->audit, t->before, t->after, t->h, equation, &row), "audit");
  tap_require(eb_audit_declared(t->audit, t->before, t->after, t->h, &declared, &row), "audit");
  return row;
}

/* x1 = x0 + h v1 */
__attribute__((unused)) static void trial_advance(trial *t) {
  for (size_t k = 0; k < t->size; k++) t->after->x[k] = t->before->x[k] + t->h * t->after->v[k];
}

/* Numbers in -amount to amount, those along z 0 where the mesh is planar. */
__attribute__((unused)) static void trial_shake(const trial *t, uint64_t seed, double amount,
                                                double *values) {
  random_state random = random_seed(seed);
  for (size_t k = 0; k < t->size; k++)
    if (k % 3 < (size_t)eb_block_axes(t->scene->mesh))
      values[k] += random_uniform(&random, -amount, amount);
}

/* The same vector for all nodes. */
__attribute__((unused)) static void trial_fill(const trial *t, double a, double b, double c,
                                               double *values) {
  const double vector[3] = {a, b, c};
  for (size_t k = 0; k < t->size; k++) values[k] = vector[k % 3];
}

__attribute__((unused)) static double *trial_vector(const trial *t) {
  double *values = calloc(t->size, sizeof *values);
  if (!values) tap_require(EB_ERROR(EB_ERR_MEMORY, "no memory"), "a vector");
  return values;
}

#endif
