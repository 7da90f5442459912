/* Whether positions follow from velocities as declared, and held nodes are in their places: good
 * steps, and steps off by a little. */
#include "tests/support/audit_fixture.h"
#include "tests/support/bodies_fixture.h"

static const char *const block = "nx=3,support=x0,gz=-9.8";

static eb_audit_row end_velocity(trial *t) {
  return trial_audit(t, EB_EQUATION_IMPLICIT_EULER, plain, EB_UPDATE_END_VELOCITY);
}

static bool keeps_update(const eb_audit_row *row) {
  return row->update.error <= row->update.allowed;
}

/* ---- formulas -------------------------------------------------------------------------------- */

static void test_formulas(void) {
  static const eb_update updates[] = {EB_UPDATE_END_VELOCITY, EB_UPDATE_MEAN_VELOCITY};
  for (int u = 0; u < 2; u++) {
    trial t;
    trial_open(&t, block, 0, 0);
    trial_shake(&t, 1, 1, t.before->v);
    trial_shake(&t, 2, 1, t.after->v);
    for (size_t k = 0; k < t.size; k++)
      t.after->x[k] =
          t.before->x[k] + t.h * (u ? 0.5 * (t.before->v[k] + t.after->v[k]) : t.after->v[k]);
    eb_audit_row row = trial_audit(&t, EB_EQUATION_IMPLICIT_EULER, plain, updates[u]);
    tap_ok(keeps_update(&row), "%s: a good step", eb_update_name(updates[u]));
    t.after->x[t.size - 2] += 1e-9;
    row = trial_audit(&t, EB_EQUATION_IMPLICIT_EULER, plain, updates[u]);
    /* Roundings of places below 2 m. */
    tap_near(row.update.error, 1e-9, 1e-14, "a nanometre off it shows");
    tap_ok(!keeps_update(&row), "and is too much");
    t.after->x[t.size - 2] -= 1e-9;
    row = trial_audit(&t, EB_EQUATION_IMPLICIT_EULER, plain, updates[!u]);
    tap_ok(!keeps_update(&row), "it is not %s", eb_update_name(updates[!u]));
    trial_close(&t);
  }
}

/* Where a step is worst is told by node, with its place and the name of its body. */
static void test_places(void) {
  owned(trial) t = {0};
  enum { NODE = 7, AXIS = 3 * NODE + 1 };
  char name[100];
  eb_place at;
  trial_open(&t, "nx=3", 0, 0);
  trial_advance(&t);
  t.after->x[AXIS] += 1e-6;
  eb_audit_row row = end_velocity(&t);
  eb_audit_place(t.audit, t.before, t.after, row.update.spot, &at);
  tap_ok(at.kind == EB_SPOT_NODE && at.at == NODE, "the node that is off its velocity");
  tap_ok(at.x[1] == t.after->x[AXIS], "is where it is at the end of the step");
  eb_audit_body_name(t.audit, at.vertex[0], name, sizeof name);
  tap_ok(!strcmp(name, t.scene->mesh->region_name[0]), "of the body '%s'", name);
  eb_audit_place(t.audit, t.before, t.after, (eb_spot){EB_SPOT_RESIDUAL, -1, -1}, &at);
  tap_ok(at.at == NODE, "and has the largest residual");
  t.after->v[AXIS] = NAN;
  eb_audit_place(t.audit, t.before, t.after, (eb_spot){EB_SPOT_NOT_FINITE, -1, -1}, &at);
  tap_ok(at.at == NODE && at.x[1] == t.before->x[AXIS], "one that is no number is where it was");
  eb_audit_place(t.audit, t.before, t.after, (eb_spot){0}, &at);
  tap_ok(at.kind == EB_SPOT_NONE, "nothing is nowhere");
}

/* Forces move free nodes in the next step; scripted ones are nobody's but the script's. */
static void test_late(void) {
  trial t;
  trial_open(&t, block, 0, 0);
  trial_shake(&t, 1, 1, t.before->v);
  trial_audit(&t, EB_EQUATION_POSITION_BASED, plain, EB_UPDATE_LATE_FORCE);
  const uint8_t *fixed = eb_audit_last(t.audit).fixed;
  for (size_t k = 0; k < t.size; k++) {
    t.after->x[k] = t.before->x[k] + t.h * t.before->v[k];
    t.after->v[k] = t.before->v[k] - (k % 3 == 2 && !fixed[k / 3]) * 9.8 * t.h;
  }
  eb_audit_row row = trial_audit(&t, EB_EQUATION_POSITION_BASED, plain, EB_UPDATE_LATE_FORCE);
  tap_ok(keeps_update(&row), "late forces: a good step");
  row = trial_audit(&t, EB_EQUATION_POSITION_BASED, plain, EB_UPDATE_END_VELOCITY);
  tap_near(row.update.error, 9.8 * t.h * t.h, 1e-14, "it is not x1 = x0 + h v1");
  tap_ok(!keeps_update(&row), "and judged so");
  t.after->v[t.size - 1] += 1e-6;
  row = trial_audit(&t, EB_EQUATION_POSITION_BASED, plain, EB_UPDATE_LATE_FORCE);
  tap_near(row.update.error, 1e-6 * t.h, 1e-14, "a velocity off it shows");
  tap_ok(!keeps_update(&row), "and is too much");
  trial_close(&t);
}

static void test_static(void) {
  trial t;
  trial_open(&t, block, 0, 0);
  trial_shake(&t, 1, 0.01, t.after->x);
  eb_audit_row row = trial_audit(&t, EB_EQUATION_STATIC, plain, EB_UPDATE_END_VELOCITY);
  tap_ok(keeps_update(&row), "statics go anywhere");
  t.after->v[5] = 1e-3;
  row = trial_audit(&t, EB_EQUATION_STATIC, plain, EB_UPDATE_END_VELOCITY);
  tap_near(row.update.error, 1e-3 * t.h, 1e-15, "without a velocity");
  tap_ok(!keeps_update(&row), "which is too much");
  trial_close(&t);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* A body of one velocity V has energy for h V: three times as far is 2 h V beyond it. */
static void test_substeps(void) {
  trial t;
  trial_open(&t, "nx=3", 0, 0);
  trial_fill(&t, 0, 2, 0, t.before->v);
  for (int times = 1; times <= 3; times += 2) {
    for (size_t k = 0; k < t.size; k++)
      t.after->x[k] = t.before->x[k] + times * t.h * t.before->v[k];
    eb_audit_row row = trial_audit(&t, EB_EQUATION_IMPLICIT_EULER, plain, EB_UPDATE_SUBSTEPS);
    /* Sums of some 40 terms. */
    tap_near(row.update.error, (times - 1) * t.h * 2, 1e-12,
             times == 1 ? "substeps: as far as its energy" : "substeps: farther");
    tap_ok(keeps_update(&row) == (times == 1), "and judged so");
  }
  trial_close(&t);
  trial_open(&t, "nx=3,gz=-9.8", 0, 0);
  for (size_t k = 0; k < t.size; k++)
    t.after->x[k] = t.before->x[k] - (k % 3 == 2) * 0.5 * 9.8 * t.h * t.h;
  eb_audit_row row = trial_audit(&t, EB_EQUATION_IMPLICIT_EULER, plain, EB_UPDATE_SUBSTEPS);
  tap_ok(keeps_update(&row), "substeps: a fall from rest has the work of its weight");
  trial_close(&t);
}

/* A block at rest whose ends turn: free nodes may go as far as what the turn stores in a body that
 * stays, here by the energy of the block itself, carries them. */
static void test_driven(void) {
  trial t;
  uint8_t fixed[200];
  trial_open(&t, "nx=3,support=ends,motion=twist,rate=2,material=linear", 0, 0);
  double *target = trial_vector(&t), mass = 0;
  eb_scene_boundary(t.scene, t.after->time, fixed, target);
  for (size_t k = 0; k < t.size; k++) {
    if (fixed[k / 3]) t.after->x[k] = target[k];
    mass += fixed[k / 3] ? 0 : t.mass[k / 3] / 3;
  }
  double reach = t.h * sqrt(2 * eb_scene_energy(t.scene, t.after->x) / mass);
  memset(t.before->v, 0, t.size * sizeof *t.before->v);
  for (int over = 0; over < 2; over++) {
    /* The way is an arc of 0.02, which its chord is shorter than by a ten-thousandth. */
    double way = (over ? 1.001 : 0.999) * reach;
    for (size_t k = 0; k < t.size; k++)
      if (!fixed[k / 3]) t.after->x[k] = t.before->x[k] + (k % 3 == 0 ? way : 0);
    eb_audit_row row = trial_audit(&t, EB_EQUATION_IMPLICIT_EULER, plain, EB_UPDATE_SUBSTEPS);
    tap_ok(reach > 0 && keeps_update(&row) == !over, "substeps: a script carries nodes %s",
           over ? "no farther" : "as far as it has energy for");
  }
  free(target);
  trial_close(&t);
}

static void test_corrected(void) {
  for (int uphill = 0; uphill < 2; uphill++) {
    trial t;
    trial_open(&t, "nx=3,support=x0,initial=stretched", 0, 0);
    double *g = trial_vector(&t);
    eb_scene_boundary(t.scene, 0, (uint8_t[200]){0}, g);
    eb_audit_row row = end_velocity(&t);
    const uint8_t *fixed = eb_audit_last(t.audit).fixed;
    for (size_t k = 0; k < t.size; k++)
      if (fixed[k / 3]) t.before->x[k] = g[k];
    memcpy(t.after->x, t.before->x, t.size * sizeof *g);
    eb_elasticity_gradient(t.scene->elasticity, t.before->x, g);
    for (size_t k = 0; k < t.size; k++)
      if (!fixed[k / 3]) t.after->x[k] += (uphill ? 1e-6 : -1e-6) * g[k];
    row = trial_audit(&t, EB_EQUATION_REDUCED, plain, EB_UPDATE_CORRECTED);
    tap_ok(uphill ? row.work.raised > 0 : row.work.raised == 0,
           "a correction that %s the energy brings %s in", uphill ? "raises" : "lowers",
           uphill ? "some" : "none");
    free(g);
    trial_close(&t);
  }
}

/* A correction moves a block of no velocity down by 1 mm, into a floor 0.5 mm above or below its
 * lowest nodes. A step that takes the contacts of its start knows nothing of a floor below them. */
static void test_corrected_into_floor(void) {
  for (int inside = 0; inside < 2; inside++)
    for (int present = 0; present < 2; present++) {
      trial t;
      trial_open(&t, "nx=3", 1e6, 0);
      double lowest = INFINITY;
      for (size_t k = 2; k < t.size; k += 3) lowest = fmin(lowest, t.before->x[k]);
      t.scene->contacts.colliders[0].origin[2] = lowest + (inside ? 5e-4 : -5e-4);
      trial_fill(&t, 0, 0, 0, t.before->v);
      for (size_t k = 2; k < t.size; k += 3) t.after->x[k] = t.before->x[k] - 1e-3;
      const eb_declaration declared = {.equation = EB_EQUATION_REDUCED,
                                       .linearization = plain,
                                       .update = EB_UPDATE_CORRECTED,
                                       .touching =
                                           present ? EB_TOUCHING_PRESENT : EB_TOUCHING_PREDICTED};
      eb_audit_row row;
      tap_require(eb_audit_step(t.audit, t.before, t.after, t.h, declared.equation, &row), "audit");
      tap_require(eb_audit_declared(t.audit, t.before, t.after, t.h, &declared, &row), "audit");
      bool known = inside || !present;
      tap_ok(known ? row.work.raised > 0 : row.work.raised == 0,
             "a correction into a floor %s, contacts %s: %s energy brought in",
             inside ? "met before" : "not met yet", present ? "of the start" : "predicted",
             known ? "some" : "no");
      trial_close(&t);
    }
}

/* ---- places ---------------------------------------------------------------------------------- */

static void test_held(void) {
  trial t;
  trial_open(&t, "nx=3,support=ends,motion=twist,rate=2", 0, 0);
  double *target = trial_vector(&t);
  uint8_t fixed[200];
  eb_scene_boundary(t.scene, t.after->time, fixed, target);
  for (size_t k = 0; k < t.size; k++) {
    if (fixed[k / 3]) t.after->x[k] = target[k];
    t.after->v[k] = (t.after->x[k] - t.before->x[k]) / t.h;
  }
  eb_audit_row row = end_velocity(&t);
  tap_ok(row.held.error <= row.held.allowed && keeps_update(&row),
         "scripted nodes where they belong");
  size_t held = 0;
  while (!fixed[held]) held++;
  t.after->v[3 * held + 1] += 1e-6;
  row = end_velocity(&t);
  tap_near(row.update.error, 1e-6 * t.h, 1e-14, "a scripted node has the velocity of its script");
  t.after->x[3 * held + 1] += 3e-9;
  row = end_velocity(&t);
  tap_near(row.held.error, 3e-9, 1e-14, "a scripted node off its place");
  tap_ok(!(row.held.error <= row.held.allowed), "is too much");
  free(target);
  trial_close(&t);
}

/* Places of 1e6 m are known to 1e-10 m. */
static void test_far(void) {
  trial t;
  trial_open(&t, "nx=3", 0, 0);
  for (size_t k = 0; k < t.size; k++) t.before->x[k] += 1e6;
  trial_shake(&t, 1, 1, t.after->v);
  trial_advance(&t);
  eb_audit_row row = end_velocity(&t);
  tap_ok(keeps_update(&row) && row.update.error > 1e-12,
         "far from the origin roundings are larger");
  t.after->x[4] += 1e-6;
  row = end_velocity(&t);
  tap_ok(!keeps_update(&row), "but a micrometre is no rounding");
  trial_close(&t);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void test_free_bodies(void) {
  eb_scene_ops ops = bodies_scene();
  trial t = {0};
  tap_require(eb_scene_create(&ops, "nx=2,gz=-9.8,speed=1,initial=spin", NULL, "", &t.scene),
              "bodies");
  trial_begin(&t);
  trial_shake(&t, 3, 1, t.after->v);
  trial_advance(&t);
  for (int k = 0; k < 6; k++) t.after->twist[k] = 0.7 - 0.3 * k;
  eb_free_body_advance(t.before->pose, t.after->twist, t.h, t.after->pose);
  eb_free_bodies_place(t.scene->rigid.free_bodies, t.scene->mesh->X, t.after->pose, t.after->twist,
                       t.after->x, t.after->v);
  eb_audit_row row = end_velocity(&t);
  tap_ok(keeps_update(&row) && row.held.error <= row.held.allowed,
         "a rigid body follows its twist");
  for (int k = 3; k < 7; k++) t.after->pose[k] *= -1;
  row = end_velocity(&t);
  tap_ok(keeps_update(&row), "a quaternion and its opposite are one turn");
  t.after->twist[4] += 1e-6;
  row = end_velocity(&t);
  tap_ok(!keeps_update(&row), "a turn that the twist does not explain");
  t.after->twist[4] -= 1e-6;
  size_t rider = 0;
  while (t.scene->rigid.free_bodies->of_node[rider] < 0) rider++;
  t.after->x[3 * rider] += 1e-9;
  row = end_velocity(&t);
  tap_ok(keeps_update(&row) && !(row.held.error <= row.held.allowed), "a node off its body");
  trial_close(&t);
}

static void test_joints(void) {
  const eb_rigid_body body = {.parent = -1,
                              .pivot = {1, 0.5, 0},
                              .axis = {0, 0, 1},
                              .mass = 3,
                              .centre = {1.2, 0.45, 0},
                              .inertia = {0.1, 0.1, 0.2, 0, 0, 0},
                              .lower = -INFINITY,
                              .upper = INFINITY,
                              .tip = {1.4, 0.4, 0}};
  trial t = {0};
  tap_require(eb_block_create(&t.scene, "nx=2,gy=-9.8"), "a block");
  tap_require(eb_articulation_create(1, &body, t.scene->gravity, &t.scene->rigid.articulation),
              "a bone");
  for (int i = 0; i < t.scene->mesh->node_count; i++)
    if (t.scene->mesh->X[3 * i] > 0.99)
      tap_require(
          eb_articulation_attach(t.scene->rigid.articulation, i, 0, t.scene->mesh->X + 3 * i),
          "a rider");
  trial_begin(&t);
  for (int turns = 0; turns < 2; turns++) {
    t.before->q[0] = turns * 2e3;
    t.after->u[0] = 0.3;
    t.after->q[0] = t.before->q[0] + t.h * t.after->u[0];
    for (int k = 0; k < eb_articulation_attached(t.scene->rigid.articulation); k++)
      eb_articulation_place(t.scene->rigid.articulation, t.after->q, k,
                            t.after->x + 3 * eb_articulation_node(t.scene->rigid.articulation, k),
                            NULL);
    eb_audit_row row = end_velocity(&t);
    tap_ok(keeps_update(&row) && row.held.error <= row.held.allowed,
           turns ? "a joint after many turns too" : "a joint follows its rate");
    t.after->q[0] += 1e-9;
    row = end_velocity(&t);
    tap_near(row.update.error, 1e-9, 1e-12, "an angle off it");
    tap_ok(!keeps_update(&row) && !(row.held.error <= row.held.allowed),
           "is too much, for it and for what rides on it");
  }
  trial_close(&t);
}

int main(void) {
  test_formulas();
  test_places();
  test_late();
  test_static();
  test_substeps();
  test_driven();
  test_corrected();
  test_corrected_into_floor();
  test_held();
  test_far();
  test_free_bodies();
  test_joints();
  return tap_done();
}
