/* Energy of motions whose balance is known in closed form, and the work of residuals. */
#include <float.h>

#include "tests/support/audit_fixture.h"

static eb_audit_row judge(trial *t, eb_update update) {
  return trial_audit(t, EB_EQUATION_IMPLICIT_EULER, plain, update);
}

/* Sums of some hundred terms, of which the largest enter energy_scale. */
static const double ROUNDING = 1e-12;

static void test_fall(void) {
  trial t;
  trial_open(&t, "nx=2,gy=4,gz=-9.8", 0, 0);
  double mass = 0;
  for (size_t i = 0; i < t.size / 3; i++) mass += t.mass[i];
  trial_fill(&t, 0.3, 1, 2, t.before->v);
  trial_fill(&t, 0.3, 1 + 4 * t.h, 2 - 9.8 * t.h, t.after->v);
  for (size_t k = 0; k < t.size; k++)
    t.after->x[k] = t.before->x[k] + 0.5 * t.h * (t.before->v[k] + t.after->v[k]);
  eb_audit_row row = judge(&t, EB_UPDATE_MEAN_VELOCITY);
  tap_near(row.work.excess, 0, ROUNDING * row.work.scale, "a parabola keeps its energy");
  trial_advance(&t);
  row = judge(&t, EB_UPDATE_END_VELOCITY);
  tap_near(row.work.excess, -0.5 * mass * t.h * t.h * (16 + 9.8 * 9.8), ROUNDING * row.work.scale,
           "implicit Euler loses m (h g)^2 / 2 of it");
  trial_close(&t);
}

/* A body that turns about z as a solid. */
static void test_spin(void) {
  trial t;
  const double rate = 20;
  trial_open(&t, "nx=3,material=stable-neo-hookean", 0, 0);
  double c = cos(rate * t.h), s = sin(rate * t.h);
  for (size_t i = 0; i < t.size / 3; i++) {
    const double *x0 = t.before->x + 3 * i;
    double *x1 = t.after->x + 3 * i;
    x1[0] = c * x0[0] - s * x0[1];
    x1[1] = s * x0[0] + c * x0[1];
    for (int side = 0; side < 2; side++) {
      double *v = (side ? t.after : t.before)->v + 3 * i, *x = side ? x1 : t.before->x + 3 * i;
      v[0] = -rate * x[1];
      v[1] = rate * x[0];
    }
  }
  eb_audit_row row = judge(&t, EB_UPDATE_SUBSTEPS);
  tap_near(row.work.excess, 0, ROUNDING * row.work.scale, "a spin keeps its energy");
  tap_near(row.work.of_residual, row.work.excess, 0, "all gain of steps in parts is theirs");
  for (size_t k = 0; k < t.size; k++) t.after->v[k] *= 1.1;
  row = judge(&t, EB_UPDATE_SUBSTEPS);
  tap_near(row.work.excess, 0.21 / 1.21 * row.totals.kinetic, ROUNDING * row.work.scale,
           "faster, it has gained");
  trial_close(&t);
}

/* A block at rest 20 m away, of which each state has roundings of its own: all its energies are of
 * them. With the least speed that is more than they explain, energy has come from nowhere. */
static void test_roundings(void) {
  static const eb_update updates[] = {EB_UPDATE_SUBSTEPS, EB_UPDATE_MEAN_VELOCITY};
  for (size_t u = 0; u < sizeof updates / sizeof *updates; u++) {
    owned(trial) t = {0};
    double kinetic = 0;
    trial_open(&t, "nx=3,gy=0,gz=0", 0, 0);
    for (size_t k = 0; k < t.size; k++) t.before->x[k] += 20;
    memcpy(t.after->x, t.before->x, t.size * sizeof *t.after->x);
    trial_shake(&t, 1, 8 * 20 * DBL_EPSILON, t.before->x);
    trial_shake(&t, 2, 8 * 20 * DBL_EPSILON, t.after->x);
    eb_audit_row row = judge(&t, updates[u]);
    double floor = row.work.rounding;
    tap_ok(row.work.excess != 0 && row.work.scale < floor, "roundings are all the energy there is");
    tap_ok(row.work.of_residual == 0, "which does not come from nowhere");
    tap_below(floor, 1e-9, "what they explain is nothing beside a joule");
    trial_fill(&t, 1, 0, 0, t.after->v);
    for (size_t k = 0; k < t.size; k += 3) kinetic += 0.5 * t.mass[k / 3];
    trial_fill(&t, sqrt(2 * floor / kinetic), 0, 0, t.after->v);
    row = judge(&t, updates[u]);
    tap_ok(row.work.of_residual > 0.05 * row.work.scale, "twice as much does");
  }
}

/* ---- colliders ------------------------------------------------------------------------------- */

static const double stiffness = 1e5;

/* m^2, of the nodes of the lowest face. */
static double area_below(const trial *t) {
  double area = 0;
  for (size_t i = 0; i < t->size / 3; i++)
    if (t->scene->mesh->X[3 * i + 2] == 0) area += t->scene->node_area[i];
  return area;
}

/* A floor at 0 takes speed from a block that sinks into it from a depth of 1 mm to one of 3 mm. */
static void test_spring(void) {
  trial t;
  double mass = 0;
  trial_open(&t, "nx=2", stiffness, 0);
  for (size_t i = 0; i < t.size / 3; i++) mass += t.mass[i];
  double spring = stiffness * area_below(&t), gain = 0.5 * spring * (9e-6 - 1e-6);
  for (size_t k = 2; k < t.size; k += 3) {
    t.after->x[k] = t.before->x[k] - 3e-3;
    t.before->x[k] -= 1e-3;
    t.before->v[k] = -1;
    t.after->v[k] = -sqrt(1 - 2 * gain / mass);
  }
  eb_audit_row row = judge(&t, EB_UPDATE_SUBSTEPS);
  tap_ok(gain > 1e-3 * row.work.scale, "a spring that counts");
  tap_near(row.work.excess, 0, ROUNDING * row.work.scale, "what a spring takes it keeps");
  trial_close(&t);
}

static void rise(double t, const void *script, double offset[3], double velocity[3]) {
  const double *parameters = script;
  for (int d = 0; d < 3; d++) velocity[d] = offset[d] = 0;
  velocity[2] = parameters[0];
  offset[2] = parameters[0] * t;
}

/* A floor that rises at w into a block which stands still: by the push at the end it does h k A d w
 * of work, (w h)^2 k A / 2 more than the spring takes. */
static void test_moving(void) {
  trial t;
  trial_open(&t, "nx=2", stiffness, 1e-3);
  t.scene->contacts.colliders[0].motion = rise;
  t.scene->contacts.colliders[0].motion_parameters[0] = 0.2;
  double way = 0.2 * t.h;
  eb_audit_row row = judge(&t, EB_UPDATE_SUBSTEPS);
  tap_near(row.work.excess, -0.5 * stiffness * area_below(&t) * way * way,
           ROUNDING * row.work.scale, "a floor that rises works");
  trial_close(&t);
}

/* ---- scripted nodes and residuals ------------------------------------------------------------ */

/* From rest a linear block is moved along by its nodes: the forces of the end do twice the work
 * that kinetic and elastic energy take. */
static void test_dragged(void) {
  trial t;
  trial_open(&t, "nx=1,ny=1,nz=1,support=surface,motion=twist,rate=30,material=linear", 0, 0);
  uint8_t fixed[8];
  eb_scene_boundary(t.scene, t.after->time, fixed, t.after->x);
  for (size_t k = 0; k < t.size; k++) t.after->v[k] = (t.after->x[k] - t.before->x[k]) / t.h;
  eb_audit_row row = judge(&t, EB_UPDATE_END_VELOCITY);
  tap_ok(row.totals.elastic > 0 && row.totals.kinetic > 0, "scripted nodes turn a block");
  tap_near(row.work.excess, -row.totals.kinetic - row.totals.elastic, ROUNDING * row.work.scale,
           "what holds them does the work");
  tap_near(row.work.of_residual, 0, 0, "and is no residual");
  trial_close(&t);
}

/* In parts, from rest: the forces of a linear block rise evenly, and the mean of the ends' is what
 * drags it. Of nodes that nobody drags all speed is from nowhere, beyond what a script could do
 * that nobody has watched: the step resolves nothing, since the free nodes stay where forces are.
 */
static void test_dragged_in_parts(void) {
  trial t;
  uint8_t fixed[200];
  trial_open(&t, "nx=1,ny=1,nz=1,support=surface,motion=twist,rate=2,material=linear", 0, 0);
  eb_scene_boundary(t.scene, t.after->time, fixed, t.after->x);
  for (size_t k = 0; k < t.size; k++) t.after->v[k] = (t.after->x[k] - t.before->x[k]) / t.h;
  eb_audit_row row = judge(&t, EB_UPDATE_SUBSTEPS);
  tap_ok(row.totals.elastic > 0, "scripted nodes turn a block in parts of a step");
  tap_near(row.work.excess, 0, ROUNDING * row.work.scale, "and do the work that it takes");
  trial_close(&t);
  trial_open(&t, "nx=3,support=ends,motion=twist,rate=2,material=linear", 0, 0);
  double *target = trial_vector(&t), kinetic = 0;
  eb_scene_boundary(t.scene, t.after->time, fixed, target);
  memcpy(t.after->x, t.before->x, t.size * sizeof *target);
  memset(t.after->v, 0, t.size * sizeof *target);
  for (size_t k = 0; k < t.size; k++) {
    if (fixed[k / 3])
      t.after->x[k] = target[k];
    else if (k % 3 == 0)
      kinetic += 0.5 * t.mass[k / 3];
  }
  double stored = eb_scene_energy(t.scene, t.after->x);
  for (size_t k = 0; k < t.size; k += 3)
    if (!fixed[k / 3]) t.after->v[k] = sqrt(10 * stored / kinetic);
  row = judge(&t, EB_UPDATE_SUBSTEPS);
  tap_near(row.work.excess, 10 * stored, ROUNDING * row.work.scale,
           "speed of free nodes is no script's");
  /* The arc of the way is longer than its chord by a hundred-thousandth. */
  tap_near(row.work.of_residual, (10 - 3) * stored, 1e-3 * stored,
           "but for the end's work, its change, and what the way could store");
  free(target);
  trial_close(&t);
}

/* The same motion of free nodes is nobody's: all of that work comes from nowhere. */
static void test_residual(void) {
  trial t;
  trial_open(&t, "nx=1,ny=1,nz=1,material=linear", 0, 0);
  trial_shake(&t, 1, 1, t.after->v);
  trial_advance(&t);
  eb_audit_row row = judge(&t, EB_UPDATE_END_VELOCITY);
  tap_near(row.work.excess, row.totals.kinetic + row.totals.elastic, ROUNDING * row.work.scale,
           "free nodes that start by themselves gain energy");
  tap_near(row.work.of_residual, 2 * (row.totals.kinetic + row.totals.elastic),
           1e-9 * row.work.scale, "by the work of the residual");
  memset(t.after->v, 0, t.size * sizeof *t.after->v);
  memcpy(t.after->x, t.before->x, t.size * sizeof *t.after->x);
  trial_shake(&t, 2, 1e-16, t.after->x);
  row = judge(&t, EB_UPDATE_END_VELOCITY);
  tap_near(row.work.of_residual, 0, 1e-26, "roundings of a body at rest do none to speak of");
  trial_close(&t);
}

int main(void) {
  test_fall();
  test_spin();
  test_roundings();
  test_spring();
  test_moving();
  test_dragged();
  test_dragged_in_parts();
  test_residual();
  return tap_done();
}
