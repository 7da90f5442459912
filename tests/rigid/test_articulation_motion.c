/* Articulated bodies in motion, stepped by a Runge-Kutta method of small steps: what mechanics
 * conserves, the period of a pendulum, rest on a limit. */
#include "tests/support/articulation_fixture.h"

static const double down[3] = {0, -9.81, 0}, weightless[3] = {0, 0, 0};

/* ---- conservation ---- */

static double total_energy(const eb_articulation *articulation, const double *q, const double *u) {
  double T, V, L;
  eb_articulation_energy(articulation, q, u, &T, &V, &L);
  return T + V + L;
}

/* 2 s in steps of 1 ms: the method's own drift is of order h^4 per second, with rates near 10/s
 * about (1e-2)^4 of the energy. Limits are springs: their kinks cost one step's error of order h^2
 * each, so a chain with limits has a wider bound. */
static void energy_stays(uint64_t seed, int32_t joints, bool planar, bool limited, double bound,
                         const char *name) {
  eb_rigid_body bodies[EB_MAX_JOINTS];
  cloud points;
  random_bodies(seed, joints, planar, bodies, &points);
  for (int32_t j = 0; limited && j < joints; j++) {
    bodies[j].lower = -0.8;
    bodies[j].upper = 0.6;
    bodies[j].limit_stiffness = 50;
  }
  eb_articulation *articulation = articulate(joints, bodies, down, &points);
  double q[EB_MAX_JOINTS] = {0.5, -0.7, 0.4, 1, 0.3}, u[EB_MAX_JOINTS] = {1, 2, -1, -2, 1};
  double start = total_energy(articulation, q, u), T, V, L, swing = 0, drift = 0, used = 0;
  for (int i = 0; i < 2000; i++) {
    runge_kutta(articulation, 1e-3, q, u);
    eb_articulation_energy(articulation, q, u, &T, &V, &L);
    swing = fmax(swing, T);
    used = fmax(used, L);
    drift = fmax(drift, fabs(T + V + L - start));
  }
  tap_below(drift, bound * swing, name);
  tap_ok(limited == (used > 0), limited ? "the limits were met" : "there were no limits to meet");
  eb_articulation_destroy(articulation);
}

/* Pinned to the world at the origin by a frictionless joint about z, without gravity, a planar
 * chain keeps its angular momentum about that joint, while its momentum changes by what the joint
 * exerts. */
static void angular_momentum_stays(void) {
  eb_rigid_body bodies[3];
  cloud points;
  random_bodies(5, 3, true, bodies, &points);
  for (int d = 0; d < 3; d++) bodies[0].pivot[d] = 0;
  bodies[1].parent = 0, bodies[2].parent = 1;
  eb_articulation *articulation = articulate(3, bodies, weightless, &points);
  double q[3] = {0.3, 1, -1}, u[3] = {1, -4, 3}, before[3] = {0}, after[3] = {0}, p[2][3] = {{0}};
  eb_articulation_momentum(articulation, q, u, p[0], before);
  for (int i = 0; i < 1000; i++) runge_kutta(articulation, 1e-3, q, u);
  eb_articulation_momentum(articulation, q, u, p[1], after);
  tap_near(after[2], before[2], 1e-9 * fabs(before[2]), "angular momentum about the pin stays");
  tap_ok(fabs(p[1][0] - p[0][0]) > 0.01 * fabs(p[0][0]), "momentum does not: the pin holds");
  eb_articulation_destroy(articulation);
}

/* Gravity's work is all that changes the angular momentum of a pinned body: its rate is gravity's
 * moment. */
static void gravity_turns(void) {
  eb_rigid_body body;
  cloud points;
  random_bodies(9, 1, true, &body, &points);
  for (int d = 0; d < 3; d++) body.pivot[d] = 0;
  eb_articulation *articulation = articulate(1, &body, down, &points);
  double q[1] = {0.2}, u[1] = {0.4}, l[2][3] = {{0}}, p[3] = {0}, sum = 0, x[3];
  eb_articulation_momentum(articulation, q, u, p, l[0]);
  const double h = 1e-3;
  for (int i = 0; i <= 500; i++) { /* trapezoidal rule: error h^2 / 12 times the change of slope */
    double moment = 0;
    for (int32_t k = 0; k < points.points; k++) {
      eb_articulation_place(articulation, q, k, x, NULL);
      moment += points.mass[k] * (x[0] * down[1] - x[1] * down[0]);
    }
    sum += (i == 0 || i == 500 ? 0.5 : 1) * h * moment;
    if (i < 500) runge_kutta(articulation, h, q, u);
  }
  eb_articulation_momentum(articulation, q, u, p, l[1]);
  tap_near(l[1][2] - l[0][2], sum, 1e-5 * fabs(sum), "gravity's moment changes angular momentum");
  eb_articulation_destroy(articulation);
}

/* ---- a pendulum ---- */

static eb_rigid_body pendulum(double length) {
  return (eb_rigid_body){.parent = -1,
                         .axis = {0, 0, 1},
                         .mass = 2,
                         .centre = {0, -length, 0},
                         .inertia = {0.01, 0.02, 0.03, 0, 0, 0},
                         .lower = -INFINITY,
                         .upper = INFINITY,
                         .tip = {0, -2 * length, 0}};
}

/* 4 K(sin(a / 2)) / w = 2 pi / (w agm(1, cos(a / 2))), w^2 = m g l / (I + m l^2). */
static double exact_period(double amplitude, double length) {
  double w = sqrt(2 * 9.81 * length / (0.03 + 2 * length * length));
  double a = 1, b = cos(0.5 * amplitude);
  for (int i = 0; i < 30; i++) {
    double mean = 0.5 * (a + b);
    b = sqrt(a * b);
    a = mean;
  }
  return 2 * acos(-1) / (w * a);
}

/* Released at the amplitude: the first upward zero of the rate after half a period ends the
 * period. */
static double measured_period(const eb_articulation *articulation, double amplitude) {
  const double h = 1e-3;
  double q[1] = {amplitude}, u[1] = {0}, before = 0;
  runge_kutta(articulation, h, q, u);
  for (int i = 1; i < 20000; i++) {
    before = u[0];
    runge_kutta(articulation, h, q, u);
    if (before > 0 && u[0] <= 0) return h * (i + before / (before - u[0]));
  }
  return NAN;
}

static void periods(void) {
  const double length = 0.3, amplitude[3] = {0.01, 1, 3};
  static const char *const name[3] = {"period of a pendulum, small swing",
                                      "period of a pendulum, 1 rad", "period of a pendulum, 3 rad"};
  eb_rigid_body body = pendulum(length);
  eb_articulation *articulation = articulate(1, &body, down, NULL);
  for (int i = 0; i < 3; i++) {
    /* The zero of the rate is found by a chord within a step of 1 ms. */
    double exact = exact_period(amplitude[i], length);
    tap_near(measured_period(articulation, amplitude[i]), exact, 1e-6 * exact, name[i]);
  }
  eb_articulation_destroy(articulation);
}

/* ---- rest ---- */

/* Where m g l sin(q) = k (lower - q): below the limit by what the spring gives. */
static double exact_rest(double lower, double stiffness, double length) {
  double lo = 0, hi = lower;
  for (int i = 0; i < 200; i++) {
    double q = 0.5 * (lo + hi);
    if (stiffness * (lower - q) > 2 * 9.81 * length * sin(q))
      lo = q;
    else
      hi = q;
  }
  return 0.5 * (lo + hi);
}

static void rests_on_its_limit(void) {
  const double length = 0.3;
  for (int stiff = 0; stiff < 2; stiff++) {
    eb_rigid_body body = pendulum(length);
    body.lower = 0.8;
    body.limit_stiffness = stiff ? 1e4 : 50;
    body.damping = stiff ? 60 : 5;
    eb_articulation *articulation = articulate(1, &body, down, NULL);
    double q[1] = {2}, u[1] = {0};
    for (int i = 0; i < 20000; i++) runge_kutta(articulation, 1e-3, q, u);
    tap_near(u[0], 0, 1e-12, "a damped pendulum comes to rest on its limit");
    tap_near(q[0], exact_rest(0.8, body.limit_stiffness, length), 1e-10,
             stiff ? "a stiff limit gives little" : "the limit's spring carries its weight");
    eb_articulation_destroy(articulation);
  }
}

/* Damping takes exactly u^T D u of the power. */
static void damping_takes_power(void) {
  eb_rigid_body bodies[5];
  cloud points;
  random_bodies(7, 5, false, bodies, &points);
  for (int b = 0; b < 5; b++) bodies[b].damping = 0.1 * (b + 1);
  eb_articulation *articulation = articulate(5, bodies, down, &points);
  double q[5] = {0.5, -0.7, 0.4, 1, 0.3}, u[5] = {1, 2, -1, -2, 1}, taken = 0;
  double start = total_energy(articulation, q, u);
  const double h = 5e-4;
  for (int i = 0; i <= 1000; i++) {
    for (int b = 0; b < 5; b++)
      taken += (i == 0 || i == 1000 ? 0.5 : 1) * h * bodies[b].damping * u[b] * u[b];
    if (i < 1000) runge_kutta(articulation, h, q, u);
  }
  tap_near(start - total_energy(articulation, q, u), taken, 1e-4 * taken,
           "damping takes the energy u^T D u dt (trapezoidal rule)");
  eb_articulation_destroy(articulation);
}

int main(void) {
  energy_stays(1, 2, true, false, 1e-7, "a planar double pendulum keeps its energy");
  energy_stays(2, 5, false, false, 1e-6, "a chain of 5 in space keeps its energy");
  energy_stays(2, 5, false, true, 1e-3, "a chain with elastic limits keeps its energy");
  angular_momentum_stays();
  gravity_turns();
  periods();
  rests_on_its_limit();
  damping_takes_power();
  return tap_done();
}
