/* The momentum of flights: what no force explains shows, however small it is in a step, and what
 * may be is let be. */
#include "tests/support/audit_fixture.h"
#include "tests/support/bodies_fixture.h"

static const double weight = 9.8;

/* Takes the step that the states say, and goes on from its end. */
static eb_momentum_row fly(trial *t, eb_update update, double mass) {
  const eb_declaration declared = {.equation = EB_EQUATION_LINEARIZED,
                                   .linearization = {mass, 1, EB_TANGENT_EXACT},
                                   .update = update};
  eb_momentum_row row;
  (void)trial_audit(t, declared.equation, declared.linearization, update);
  eb_momentum_balance_step(t->momentum, t->before, t->after, t->h, &declared, &row);
  eb_state_copy(t->after, t->before);
  t->after->step++;
  t->after->time += t->h;
  return row;
}

/* A step of v1 = share (v0 + h a), x1 = x0 + h (part v0 + (1 - part) v1) along z. */
static void accelerate(trial *t, double a, double share, double part) {
  for (size_t k = 2; k < t->size; k += 3) {
    t->after->v[k] = share * (t->before->v[k] + t->h * a);
    t->after->x[k] =
        t->before->x[k] + t->h * (part * t->before->v[k] + (1 - part) * t->after->v[k]);
  }
}

/* The excess after `steps` of them from a throw upwards. */
static double thrown(const char *parameters, int steps, double a, double share, double part,
                     eb_update update, double mass) {
  trial t;
  double most = 0;
  trial_open(&t, parameters, 0, 0);
  trial_fill(&t, 0, 0, 1, t.before->v);
  for (int n = 0; n < steps; n++) {
    accelerate(&t, a, share, part);
    most = fmax(most, fly(&t, update, mass).excess);
  }
  trial_close(&t);
  return most;
}

static const char *const falling = "nx=2,gz=-9.8", *const floating = "nx=2";

static void test_falls(void) {
  const eb_update end = EB_UPDATE_END_VELOCITY, mean = EB_UPDATE_MEAN_VELOCITY;
  /* Roundings of 1e-16 over what is allowed, a thousandth of the momentum. */
  tap_below(thrown(falling, 50, -weight, 1, 0, end, 1), 1e-9, "a fall");
  tap_below(thrown(falling, 50, -weight, 1, 0.5, mean, 1), 1e-9, "a parabola by mean velocities");
  tap_ok(thrown(falling, 50, -weight, 1, 0.5, end, 1) > 1, "which is none by end velocities");
  tap_ok(thrown(falling, 50, -0.5 * weight, 1, 0, end, 1) > 1, "half the weight is missing");
  tap_ok(thrown(falling, 400, -0.85 * weight, 1, 0, end, 1) > 1,
         "0.15 of it shows in long flights");
  tap_ok(thrown(falling, 400, -0.95 * weight, 1, 0, end, 1) < 1, "a twentieth is let be");
  tap_ok(thrown(floating, 1, 1, 1, 0, end, 1) > 1, "a kick of a hundredth of the momentum");
  tap_below(thrown(floating, 50, 0, 1, 0, end, 1), 1e-9, "nothing pulls");
  tap_ok(thrown(falling, 50, -weight, 1, 2, end, 1) > 1,
         "velocities fall, positions do not follow");
  tap_below(thrown("nx=2,gz=-9.8,support=x0", 50, -0.5 * weight, 1, 0, end, 1), 0,
            "held bodies have no flight");
}

static void test_late_falls(void) {
  const eb_update late = EB_UPDATE_LATE_FORCE;
  tap_below(thrown(falling, 50, -weight, 1, 1, late, 1), 1e-9, "a fall whose forces come late");
  tap_ok(thrown(falling, 50, -weight, 1, 0, late, 1) > 1, "which is none where they do not");
  tap_ok(thrown(falling, 50, -0.5 * weight, 1, 1, late, 1) > 1, "half of the weight is missing");
}

static void test_damping(void) {
  const eb_update end = EB_UPDATE_END_VELOCITY;
  tap_below(thrown(falling, 20, -weight, 1 / 1.05, 0, end, 1.05), 1e-9, "declared damping");
  tap_ok(thrown(falling, 20, -weight, 1 / 1.05, 0, end, 1) > 1, "the same undeclared");
  tap_ok(thrown(floating, 1, 0, 0.5, 0, end, 2) > 1, "a tenth in a step is the most");
}

static void test_substeps(void) {
  const eb_update substeps = EB_UPDATE_SUBSTEPS;
  tap_below(thrown(falling, 50, -weight, 1, 0, substeps, 1), 1e-9, "substeps: by end velocities");
  tap_below(thrown(falling, 50, -weight, 1, 1, substeps, 1), 1e-9, "or by those of the start");
  tap_ok(thrown(falling, 50, -weight, 1, 4, substeps, 1) > 1, "but not beyond both");
}

/* Velocities that are roundings alone have no momentum to keep. */
static void test_rest(void) {
  trial t;
  double most = 0;
  trial_open(&t, floating, 0, 0);
  for (int n = 0; n < 20; n++) {
    memset(t.after->v, 0, t.size * sizeof *t.after->v);
    trial_shake(&t, (uint64_t)n, 1e-16, t.after->v);
    trial_advance(&t);
    most = fmax(most, fly(&t, EB_UPDATE_END_VELOCITY, 1).excess);
  }
  tap_below(most, 1, "a body at rest where nothing pulls may tremble");
  trial_close(&t);
}

/* It bounces without a reason that the audit knows, near the collider; then the flight begins
 * anew. Position-based steps put nodes out of explicit colliders too. */
static void test_collider(void) {
  const eb_declaration based = {.equation = EB_EQUATION_POSITION_BASED, .linearization = plain};
  for (int high = 0; high < 2; high++) {
    trial t;
    eb_momentum_row row;
    trial_open(&t, falling, 1e5, high ? -1 : 0);
    t.scene->contacts.colliders[0].implicit = false;
    trial_fill(&t, 0, 0, -1, t.before->v);
    accelerate(&t, 2 / t.h, 1, 0);
    trial_audit(&t, based.equation, plain, based.update);
    eb_momentum_balance_step(t.momentum, t.before, t.after, t.h, &based, &row);
    tap_ok(high ? row.excess > 1 : row.excess < 1e-9, "position-based: a bounce %s",
           high ? "in the air" : "on an explicit collider");
    trial_close(&t);
  }
  for (int high = 0; high < 2; high++) {
    trial t;
    double most = 0;
    trial_open(&t, falling, 1e5, high ? -1 : 0);
    trial_fill(&t, 0, 0, -1, t.before->v);
    for (int n = 0; n < 30; n++) {
      accelerate(&t, n == 0 ? 2 / t.h : -weight, 1, 0);
      most = fmax(most, fly(&t, EB_UPDATE_END_VELOCITY, 1).excess);
    }
    tap_ok(high ? most > 1 : most < 1e-9, "a bounce %s", high ? "in the air" : "on a collider");
    trial_close(&t);
  }
}

static double rigid_excess(double share) {
  eb_scene_ops ops = bodies_scene();
  eb_momentum_row row = {0};
  trial t = {0};
  tap_require(eb_scene_create(&ops, "nx=2,gz=-9.8", NULL, "", &t.scene), "bodies");
  trial_begin(&t);
  memset(t.before->twist, 0, 6 * sizeof *t.before->twist);
  memset(t.before->v, 0, t.size * sizeof *t.before->v);
  for (int n = 0; n < 10; n++) {
    accelerate(&t, -weight, 1, 0);
    t.after->twist[2] = t.before->twist[2] - share * t.h * weight;
    t.after->twist[4] = 3;
    eb_free_body_advance(t.before->pose, t.after->twist, t.h, t.after->pose);
    eb_free_bodies_place(t.scene->rigid.free_bodies, t.scene->mesh->X, t.after->pose,
                         t.after->twist, t.after->x, t.after->v);
    row = fly(&t, EB_UPDATE_END_VELOCITY, 1);
  }
  trial_close(&t);
  return row.excess;
}

int main(void) {
  test_falls();
  test_late_falls();
  test_damping();
  test_substeps();
  test_rest();
  test_collider();
  tap_below(rigid_excess(1), 1e-9, "a rigid body falls, and turns as it likes");
  tap_ok(rigid_excess(0.5) > 1, "half of a rigid body's weight is missing");
  return tap_done();
}
