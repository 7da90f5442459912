/* Articulations whose bodies are known from elsewhere: every body stands for a few point masses
 * that ride on it, so that positions of riders give kinetic energy, gravity and momenta without
 * inertia tensors. */
#ifndef EB_TESTS_ARTICULATION_FIXTURE_H
#define EB_TESTS_ARTICULATION_FIXTURE_H

#include "problems/rigid/articulation.h"
#include "tests/support/lapack.h"
#include "tests/support/random.h"
#include "tests/tap.h"

enum { CLOUD = 5, MOST_POINTS = CLOUD * EB_MAX_JOINTS };

typedef struct cloud {
  int32_t points;
  double mass[MOST_POINTS], place[3 * MOST_POINTS];
  int32_t body[MOST_POINTS];
} cloud;

/* Mass, centre and inertia of points, of which the first is `first`. */
static void weigh(const cloud *points, int32_t first, int32_t count, eb_rigid_body *body) {
  body->mass = 0;
  for (int d = 0; d < 3; d++) body->centre[d] = 0;
  for (int i = 0; i < 6; i++) body->inertia[i] = 0;
  for (int32_t k = first; k < first + count; k++) body->mass += points->mass[k];
  for (int32_t k = first; k < first + count; k++)
    for (int d = 0; d < 3; d++)
      body->centre[d] += points->mass[k] * points->place[3 * k + d] / body->mass;
  for (int32_t k = first; k < first + count; k++) {
    double r[3], m = points->mass[k];
    for (int d = 0; d < 3; d++) r[d] = points->place[3 * k + d] - body->centre[d];
    body->inertia[0] += m * (r[1] * r[1] + r[2] * r[2]);
    body->inertia[1] += m * (r[0] * r[0] + r[2] * r[2]);
    body->inertia[2] += m * (r[0] * r[0] + r[1] * r[1]);
    body->inertia[3] -= m * r[0] * r[1];
    body->inertia[4] -= m * r[0] * r[2];
    body->inertia[5] -= m * r[1] * r[2];
  }
}

static const double tilted[3] = {0.7, -9.1, 2.3};

/* A tree of `count` bodies, all directions at random, every body on one of the two before it;
 * planar: everything in z = 0 but the thickness of the bodies, axes along z. Without damping and
 * limits. */
static void random_bodies(uint64_t seed, int32_t count, bool planar, eb_rigid_body *bodies,
                          cloud *points) {
  random_state random = random_seed(seed);
  points->points = CLOUD * count;
  for (int32_t b = 0; b < count; b++) {
    eb_rigid_body *body = &bodies[b];
    *body = (eb_rigid_body){.lower = -INFINITY, .upper = INFINITY};
    body->parent = b - 1 - (b > 1 && random_uniform(&random, 0, 1) < 0.5);
    for (int d = 0; d < 3; d++) {
      bool flat = planar && d == 2;
      body->pivot[d] = flat ? 0 : 0.3 * b + random_uniform(&random, -0.2, 0.2);
      body->tip[d] = flat ? 0 : body->pivot[d] + 0.3;
      body->axis[d] = planar ? d == 2 : random_normal(&random);
      for (int32_t k = CLOUD * b; k < CLOUD * (b + 1); k++)
        points->place[3 * k + d] =
            flat ? 0.01 * (k % 2 ? 1 : -1) : body->pivot[d] + random_uniform(&random, -0.2, 0.4);
    }
    for (int32_t k = CLOUD * b; k < CLOUD * (b + 1); k++) {
      points->mass[k] = random_uniform(&random, 0.1, 1);
      points->body[k] = b;
    }
    weigh(points, CLOUD * b, CLOUD, body);
  }
}

/* The articulation, with the points as its riders: rider k is point k. */
static eb_articulation *articulate(int32_t count, const eb_rigid_body *bodies,
                                   const double gravity[3], const cloud *points) {
  eb_articulation *articulation;
  tap_require(eb_articulation_create(count, bodies, gravity, &articulation), "articulation");
  for (int32_t k = 0; points && k < points->points; k++)
    tap_require(eb_articulation_attach(articulation, k, points->body[k], points->place + 3 * k),
                "a point");
  return articulation;
}

/* du = M^-1 tau. */
__attribute__((unused)) static void accelerate(const eb_articulation *articulation, const double *q,
                                               const double *u, double *du) {
  double mass[EB_MAX_JOINTS * EB_MAX_JOINTS];
  int pivots[EB_MAX_JOINTS];
  eb_articulation_mass(articulation, q, mass);
  eb_articulation_force(articulation, q, u, du, NULL, NULL);
  if (lapack_solve(eb_articulation_joints(articulation), mass, du, pivots) != 0) du[0] = NAN;
}

/* One step of the classical Runge-Kutta method. */
__attribute__((unused)) static void runge_kutta(const eb_articulation *articulation, double h,
                                                double *q, double *u) {
  static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
  int32_t n = eb_articulation_joints(articulation);
  double dq[EB_MAX_JOINTS] = {0}, du[EB_MAX_JOINTS] = {0}, q1[EB_MAX_JOINTS], u1[EB_MAX_JOINTS];
  double q_sum[EB_MAX_JOINTS] = {0}, u_sum[EB_MAX_JOINTS] = {0};
  for (int s = 0; s < 4; s++) {
    for (int32_t j = 0; j < n; j++) {
      q1[j] = q[j] + h * at[s] * dq[j];
      u1[j] = u[j] + h * at[s] * du[j];
    }
    accelerate(articulation, q1, u1, du);
    for (int32_t j = 0; j < n; j++) {
      dq[j] = u1[j];
      q_sum[j] += weight[s] * dq[j];
      u_sum[j] += weight[s] * du[j];
    }
  }
  for (int32_t j = 0; j < n; j++) {
    q[j] += h * q_sum[j];
    u[j] += h * u_sum[j];
  }
}

#endif
