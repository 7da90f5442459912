/* The audit of a scene with a free rigid body: what it says is what it says of the elastic body
 * alone, and the formulas of a solid box. */
#include "harness/audit/audit.h"
#include "problems/base/vector3.h"
#include "tests/support/bodies_fixture.h"
#include "tests/support/random.h"

/* Roundings of 1e-16 in sums of some thousand terms of one size. */
static const double ROUNDING = 1e-11;

typedef struct trial {
  eb_scene_ops ops;
  eb_scene *scene;
  eb_state *before, *after;
  eb_audit *audit;
} trial;

/* `rigid`: with the body above the block. Only the block is held: the first half of the nodes is
 * its. */
static void open_trial(trial *t, const char *element, bool rigid) {
  char parameters[160];
  t->ops = bodies_scene();
  if (!rigid) t->ops.prepare = NULL;
  snprintf(parameters, sizeof parameters, "nx=3,jitter=0.2,gx=1,gz=-9.8,element=%s", element);
  tap_require(eb_scene_create(&t->ops, parameters, NULL, "", &t->scene), "scene");
  tap_require(eb_audit_create(t->scene, &t->audit), "audit");
  tap_require(eb_state_create(t->scene, &t->before), "state");
  tap_require(eb_state_create(t->scene, &t->after), "state");
  t->after->time = t->scene->dt;
}

static void close_trial(trial *t) {
  eb_audit_destroy(t->audit);
  eb_state_destroy(t->before);
  eb_state_destroy(t->after);
  eb_scene_destroy(t->scene);
}

static eb_audit_row judge(trial *t) {
  eb_audit_row row;
  tap_require(
      eb_audit_step(t->audit, t->before, t->after, t->scene->dt, EB_EQUATION_IMPLICIT_EULER, &row),
      "audit");
  return row;
}

/* The block's nodes come first, and move alike in both scenes. */
static void shake(trial *t, int32_t nodes) {
  random_state random = random_seed(9);
  for (int32_t k = 0; k < 3 * nodes; k++) {
    t->before->v[k] = random_uniform(&random, -0.5, 0.5);
    t->after->x[k] += random_uniform(&random, -1e-3, 1e-3);
    t->after->v[k] = (t->after->x[k] - t->before->x[k]) / t->scene->dt;
  }
}

static void move_body(trial *t) {
  random_state random = random_seed(31);
  for (int d = 0; d < 3; d++) t->after->pose[d] = random_uniform(&random, -2, 2);
  random_direction(&random, 4, t->after->pose + 3);
  for (int d = 0; d < 6; d++) t->after->twist[d] = random_uniform(&random, -4, 4);
  eb_free_bodies_place(t->scene->rigid.free_bodies, t->scene->mesh->X, t->after->pose,
                       t->after->twist, t->after->x, t->after->v);
}

/* A box of 1 m x 0.4 m x 0.4 m and 1000 kg/m^3 whose long axis is the first column of R(q). */
typedef struct box {
  double kinetic, gravitational, momentum[3], angular[3];
} box;

static box solid(const eb_state *state) {
  const double mass = 160, across = mass / 12 * 0.32, along = mass / 12 * 1.16;
  const double *p = state->pose, *q = p + 3, *v = state->twist, *w = v + 3;
  const double axis[3] = {q[0] * q[0] + q[1] * q[1] - q[2] * q[2] - q[3] * q[3],
                          2 * (q[1] * q[2] + q[0] * q[3]), 2 * (q[1] * q[3] - q[0] * q[2])};
  double spin[3], turn = eb_dot3(axis, w);
  box out = {.gravitational = -mass * (p[0] - 9.8 * p[2])};
  eb_cross3(p, v, out.angular);
  for (int d = 0; d < 3; d++) {
    spin[d] = along * w[d] + (across - along) * turn * axis[d];
    out.momentum[d] = mass * v[d];
    out.angular[d] = mass * out.angular[d] + spin[d];
  }
  out.kinetic = 0.5 * (mass * eb_dot3(v, v) + eb_dot3(w, spin));
  return out;
}

static void test_body(const char *element) {
  trial both, alone;
  open_trial(&both, element, true);
  open_trial(&alone, element, false);
  shake(&both, alone.scene->mesh->node_count);
  shake(&alone, alone.scene->mesh->node_count);
  move_body(&both);
  eb_audit_row row = judge(&both), elastic = judge(&alone);
  box want = solid(both.after);
  double momentum = 0, angular = 0;
  for (int d = 0; d < 3; d++) {
    momentum = fmax(momentum,
                    fabs(row.totals.momentum[d] - elastic.totals.momentum[d] - want.momentum[d]));
    angular = fmax(angular, fabs(row.totals.angular_momentum[d] -
                                 elastic.totals.angular_momentum[d] - want.angular[d]));
  }
  /* The elements are summed up in other lanes. */
  tap_ok(row.implicit_euler.norm > 0, "%s: there is a residual", element);
  tap_near(row.implicit_euler.norm, elastic.implicit_euler.norm,
           elastic.implicit_euler.norm * ROUNDING, "  nodes of the body have none");
  tap_near(row.implicit_euler.relative, elastic.implicit_euler.relative,
           elastic.implicit_euler.relative * ROUNDING, "  nor a part in its scale");
  tap_near(row.totals.elastic, elastic.totals.elastic, elastic.totals.elastic * ROUNDING,
           "  the body has no elastic energy");
  tap_near(row.totals.kinetic, elastic.totals.kinetic + want.kinetic, row.totals.kinetic * ROUNDING,
           "  the kinetic energy of a box");
  tap_near(row.totals.gravitational, elastic.totals.gravitational + want.gravitational,
           1e3 * ROUNDING, "  its height");
  tap_below(momentum, 1e3 * ROUNDING, "  its momentum");
  tap_below(angular, 1e3 * ROUNDING, "  its angular momentum");
  close_trial(&alone);
  close_trial(&both);
}

static void test_states(void) {
  trial t;
  eb_audit_row row;
  open_trial(&t, "tets6", true);
  t.after->twist[2] = NAN;
  tap_ok(!judge(&t).finite, "a twist that is no number is not finite");
  t.after->twist[2] = 0;
  t.after->body_count = 0;
  tap_fails(
      eb_audit_step(t.audit, t.before, t.after, t.scene->dt, EB_EQUATION_IMPLICIT_EULER, &row),
      EB_ERR_INVALID, "free bodies", "states without the bodies are refused");
  t.after->body_count = 1;
  close_trial(&t);
}

/* What the external force of a node has of gravity is its mass times that, on bodies too. */
static void test_weight(void) {
  trial t;
  double worst = 0;
  open_trial(&t, "tets6", true);
  judge(&t);
  eb_audit_nodes nodes = eb_audit_last(t.audit);
  for (int32_t k = 0; k < 3 * t.scene->mesh->node_count; k++)
    worst = fmax(worst, fabs(nodes.force[k] - nodes.mass[k / 3] * t.scene->gravity[k % 3]));
  tap_below(worst, ROUNDING, "without other forces, what acts on every node is its weight");
  close_trial(&t);
}

int main(void) {
  test_body("tets6");
  test_body("tets5");
  test_body("hexahedra");
  test_weight();
  test_states();
  return tap_done();
}
