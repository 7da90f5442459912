/* Articulated bodies: where they are, mass, forces, energies and momenta against point masses and
 * finite differences; what is refused. Motion in time is in test_articulation_motion.c. */
#include "problems/base/hash.h"
#include "tests/support/articulation_fixture.h"

/* Central differences with this step are off by (step^2 / 6) f''' plus about 1e-16 / step: below
 * 1e-9 for terms of order 10. */
static const double step = 1e-5;
static const double difference_error = 2e-8;

typedef struct specimen {
  int32_t joints;
  eb_rigid_body bodies[EB_MAX_JOINTS];
  cloud points;
  eb_articulation *articulation;
  double q[EB_MAX_JOINTS], u[EB_MAX_JOINTS];
} specimen;

static void open_specimen(specimen *s, uint64_t seed, int32_t joints, bool planar) {
  random_state random = random_seed(seed + 100);
  s->joints = joints;
  random_bodies(seed, joints, planar, s->bodies, &s->points);
  for (int32_t j = 0; j < joints; j++) {
    s->bodies[j].damping = random_uniform(&random, 0, 1);
    s->q[j] = random_uniform(&random, -2, 2);
    s->u[j] = random_uniform(&random, -3, 3);
  }
  s->articulation = articulate(joints, s->bodies, tilted, &s->points);
}

/* q + distance along u or along joint j (j < 0: u). */
static void moved(const specimen *s, int32_t j, double distance, double *q) {
  for (int32_t i = 0; i < s->joints; i++) q[i] = s->q[i] + distance * (j < 0 ? s->u[i] : i == j);
}

/* d p / d q_j, or the velocity for j < 0, of a rider, by central differences. */
static void differ(const specimen *s, int32_t k, int32_t j, double slope[3]) {
  double q[EB_MAX_JOINTS], ahead[3], behind[3];
  moved(s, j, step, q);
  eb_articulation_place(s->articulation, q, k, ahead, NULL);
  moved(s, j, -step, q);
  eb_articulation_place(s->articulation, q, k, behind, NULL);
  for (int d = 0; d < 3; d++) slope[d] = (ahead[d] - behind[d]) / (2 * step);
}

/* ---- kinematics ---- */

static void jacobians(const specimen *s, const char *name) {
  double worst = 0;
  for (int32_t k = 0; k < s->points.points; k++) {
    double place[3], jacobian[3 * EB_MAX_JOINTS], slope[3];
    eb_articulation_place(s->articulation, s->q, k, place, jacobian);
    for (int32_t j = 0; j < s->joints; j++) {
      differ(s, k, j, slope);
      for (int d = 0; d < 3; d++) worst = fmax(worst, fabs(jacobian[d * s->joints + j] - slope[d]));
    }
  }
  tap_below(worst, difference_error, name);
}

static void bodies_stay_rigid(const specimen *s) {
  double worst = 0, at_rest = 0;
  const double rest[EB_MAX_JOINTS] = {0};
  for (int32_t k = 0; k < s->points.points; k++) {
    double a[3], b[3], now = 0, then = 0;
    int32_t other = k / CLOUD * CLOUD;
    const double *A = s->points.place + 3 * k, *B = s->points.place + 3 * other;
    eb_articulation_place(s->articulation, s->q, k, a, NULL);
    eb_articulation_place(s->articulation, s->q, other, b, NULL);
    for (int d = 0; d < 3; d++) {
      now += (a[d] - b[d]) * (a[d] - b[d]);
      then += (A[d] - B[d]) * (A[d] - B[d]);
    }
    worst = fmax(worst, fabs(sqrt(now) - sqrt(then)));
    eb_articulation_place(s->articulation, rest, k, a, NULL);
    for (int d = 0; d < 3; d++) at_rest = fmax(at_rest, fabs(a[d] - A[d]));
  }
  tap_below(worst, 1e-14, "points of one body keep their distances");
  tap_below(at_rest, 1e-15,
            "at q = 0 the riders are where they were attached, but for the rounding of sums");
}

/* The pivot of a body, as a point of its parent and of itself, and the tip as a rider. */
static void bones_join(specimen *s) {
  int32_t last = s->joints - 1, parent = s->bodies[last].parent;
  int32_t k = eb_articulation_attached(s->articulation);
  double pivot[3], tip[3], on_parent[3], at_tip[3], still[3], jacobian[3 * EB_MAX_JOINTS];
  tap_require(eb_articulation_attach(s->articulation, 1000, parent, s->bodies[last].pivot),
              "pivot");
  tap_require(eb_articulation_attach(s->articulation, 1001, last, s->bodies[last].tip), "tip");
  tap_require(eb_articulation_attach(s->articulation, 1002, -1, s->bodies[last].tip), "world");
  eb_articulation_bone(s->articulation, s->q, last, pivot, tip);
  eb_articulation_place(s->articulation, s->q, k, on_parent, NULL);
  eb_articulation_place(s->articulation, s->q, k + 1, at_tip, NULL);
  eb_articulation_place(s->articulation, s->q, k + 2, still, jacobian);
  double worst = 0, moves = 0;
  for (int d = 0; d < 3; d++) {
    worst = fmax(worst, fmax(fabs(pivot[d] - on_parent[d]), fabs(tip[d] - at_tip[d])));
    moves = fmax(moves, fabs(still[d] - s->bodies[last].tip[d]));
  }
  for (int32_t i = 0; i < 3 * s->joints; i++) moves = fmax(moves, fabs(jacobian[i]));
  tap_below(worst, 1e-14, "a bone goes from the joint on its parent to its tip");
  tap_below(moves, 0, "a rider on the world stands still");
  tap_ok(eb_articulation_node(s->articulation, k + 1) == 1001 &&
             eb_articulation_attached(s->articulation) == k + 3,
         "riders are told in the order of their attachment");
}

/* A double pendulum in the plane has known positions. */
static void planar_positions(void) {
  const double unit[6] = {1, 1, 1, 0, 0, 0}, down[3] = {0, -9.81, 0};
  eb_rigid_body bodies[2] = {{.parent = -1,
                              .pivot = {1, 2, 0},
                              .axis = {0, 0, 5},
                              .mass = 1,
                              .centre = {1, 1, 0},
                              .tip = {1, 1, 0},
                              .lower = -INFINITY,
                              .upper = INFINITY},
                             {.parent = 0,
                              .pivot = {1, 1, 0},
                              .axis = {0, 0, 1},
                              .mass = 1,
                              .centre = {1, 0.5, 0},
                              .tip = {1, 0.5, 0},
                              .lower = -INFINITY,
                              .upper = INFINITY}};
  for (int b = 0; b < 2; b++) memcpy(bodies[b].inertia, unit, sizeof unit);
  eb_articulation *articulation = articulate(2, bodies, down, NULL);
  const double q[2] = {0.4, -1.1};
  double pivot[3], tip[3];
  eb_articulation_bone(articulation, q, 1, pivot, tip);
  tap_near(pivot[0], 1 + sin(0.4), 1e-15, "the elbow of a double pendulum, x");
  tap_near(pivot[1], 2 - cos(0.4), 1e-15, "the elbow of a double pendulum, y");
  tap_near(tip[0], 1 + sin(0.4) + 0.5 * sin(-0.7), 1e-15, "its hand, x: angles turn about z");
  tap_near(tip[1], 2 - cos(0.4) - 0.5 * cos(-0.7), 1e-15, "its hand, y");
  tap_ok(pivot[2] == 0 && tip[2] == 0, "it stays in its plane");
  tap_near(eb_articulation_body(articulation, 0)->axis[2], 1, 1e-15, "axes are made unit length");
  eb_articulation_destroy(articulation);
}

/* ---- dynamics against point masses ---- */

static void energies_and_momenta(const specimen *s, const char *name) {
  double kinetic = 0, potential = 0, p[3] = {0}, l[3] = {0};
  for (int32_t k = 0; k < s->points.points; k++) {
    double x[3], v[3], m = s->points.mass[k];
    eb_articulation_place(s->articulation, s->q, k, x, NULL);
    differ(s, k, -1, v);
    for (int d = 0; d < 3; d++) {
      int e = (d + 1) % 3, f = (d + 2) % 3;
      kinetic += 0.5 * m * v[d] * v[d];
      potential -= m * tilted[d] * x[d];
      p[d] += m * v[d];
      l[d] += m * (x[e] * v[f] - x[f] * v[e]);
    }
  }
  double T, V, limits, momentum[3] = {1, 2, 3}, angular[3] = {4, 5, 6};
  eb_articulation_energy(s->articulation, s->q, s->u, &T, &V, &limits);
  eb_articulation_momentum(s->articulation, s->q, s->u, momentum, angular);
  double worst = fmax(fabs(T - kinetic) / kinetic, limits);
  for (int d = 0; d < 3; d++) {
    worst = fmax(worst, fabs(momentum[d] - (d + 1) - p[d]) / sqrt(kinetic));
    worst = fmax(worst, fabs(angular[d] - (d + 4) - l[d]) / sqrt(kinetic));
  }
  tap_below(worst, difference_error, name);
  tap_near(V, potential, 1e-12 * fabs(potential), "gravitational energy is that of the points");
}

/* T is quadratic in u: M_ij = T(e_i + e_j) - T(e_i) - T(e_j), and 2 T(e_i) on the diagonal. */
static void mass_is_kinetic_energy(const specimen *s, const char *name) {
  int32_t n = s->joints;
  double mass[EB_MAX_JOINTS * EB_MAX_JOINTS], T[3], V, L, worst = 0, largest = 0;
  bool symmetric = true;
  eb_articulation_mass(s->articulation, s->q, mass);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) {
      double u[3][EB_MAX_JOINTS] = {{0}};
      u[0][i] += 1, u[0][j] += 1, u[1][i] = u[2][j] = 1;
      for (int k = 0; k < 3; k++)
        eb_articulation_energy(s->articulation, s->q, u[k], &T[k], &V, &L);
      worst = fmax(worst, fabs(T[0] - T[1] - T[2] - mass[i * n + j]));
      largest = fmax(largest, fabs(mass[i * n + j]));
      symmetric = symmetric && mass[i * n + j] == mass[j * n + i];
    }
  tap_below(worst, 1e-13 * largest, name);
  tap_ok(symmetric, "the mass matrix is symmetric to the last bit");
}

/* tau = -Mdot u + d/dq (u^T M u / 2 - V) - D u, Mdot u by a difference along u. */
static void lagrange(const specimen *s, const char *name) {
  int32_t n = s->joints;
  size_t size = (size_t)n * (size_t)n;
  double q[EB_MAX_JOINTS], tau[EB_MAX_JOINTS], ahead[256], behind[256], T[2], V[2], L, worst = 0;
  double largest = 0;
  tap_require(size <= 256 ? EB_OK : EB_ERROR(EB_ERR_LIMIT, "joints"), "room");
  eb_articulation_force(s->articulation, s->q, s->u, tau, NULL, NULL);
  moved(s, -1, step, q);
  eb_articulation_mass(s->articulation, q, ahead);
  moved(s, -1, -step, q);
  eb_articulation_mass(s->articulation, q, behind);
  for (int32_t j = 0; j < n; j++) {
    double want = -s->bodies[j].damping * s->u[j];
    for (int32_t i = 0; i < n; i++)
      want -= (ahead[j * n + i] - behind[j * n + i]) / (2 * step) * s->u[i];
    for (int side = 0; side < 2; side++) {
      moved(s, j, side ? step : -step, q);
      eb_articulation_energy(s->articulation, q, s->u, &T[side], &V[side], &L);
    }
    want += (T[1] - T[0] - V[1] + V[0]) / (2 * step);
    worst = fmax(worst, fabs(tau[j] - want));
    largest = fmax(largest, fabs(want));
  }
  tap_below(worst, difference_error * largest, name);
}

/* ---- limits and damping ---- */

static void limits_push_back(specimen *s) {
  const double inside = 0.25;
  for (int32_t j = 0; j < s->joints; j++) {
    s->bodies[j].limit_stiffness = 100 + j;
    s->bodies[j].lower = j % 3 == 0 ? s->q[j] + 0.1 * (j + 1) : -INFINITY;
    s->bodies[j].upper = j % 3 == 1 ? s->q[j] - 0.1 * (j + 1) : s->q[j] + inside + 0.1 * (j + 1);
  }
  eb_articulation *limited = articulate(s->joints, s->bodies, tilted, NULL);
  double tau[EB_MAX_JOINTS], free_tau[EB_MAX_JOINTS], k[EB_MAX_JOINTS], d[EB_MAX_JOINTS];
  double worst = 0, T, V, energy, want_energy = 0;
  eb_articulation_force(s->articulation, s->q, s->u, free_tau, NULL, NULL);
  eb_articulation_force(limited, s->q, s->u, tau, k, d);
  eb_articulation_energy(limited, s->q, s->u, &T, &V, &energy);
  bool tangents = true;
  for (int32_t j = 0; j < s->joints; j++) {
    double beyond = j % 3 == 0 ? -0.1 * (j + 1) : j % 3 == 1 ? 0.1 * (j + 1) : 0;
    worst = fmax(worst, fabs(tau[j] - free_tau[j] + (100 + j) * beyond));
    want_energy += 0.5 * (100 + j) * beyond * beyond;
    tangents = tangents && k[j] == (j % 3 == 2 ? 0 : 100 + j) && d[j] == s->bodies[j].damping;
  }
  tap_below(worst, 1e-10, "beyond a limit a spring pushes back, inside nothing does");
  tap_ok(tangents, "the tangents are those of the limits that are passed and of the damping");
  tap_near(energy, want_energy, 1e-12 * want_energy, "energy of the limits");
  eb_articulation_destroy(limited);
}

/* ---- bad input ---- */

static eb_rigid_body good_body(void) {
  return (eb_rigid_body){.parent = -1,
                         .axis = {0, 0, 1},
                         .mass = 1,
                         .inertia = {1, 2, 3, 0, 0, 0},
                         .lower = -1,
                         .upper = 1,
                         .limit_stiffness = 10};
}

static void refuse(const eb_rigid_body *body, const char *fragment, const char *name) {
  eb_rigid_body bodies[2] = {good_body(), *body};
  eb_articulation *articulation;
  tap_fails(eb_articulation_create(2, bodies, tilted, &articulation), EB_ERR_INVALID, fragment,
            name);
  eb_articulation_destroy(articulation);
}

/* Refuses good_body with one field changed. */
#define REFUSE(field, value, fragment, name)                                                       \
  do {                                                                                             \
    eb_rigid_body body = good_body();                                                              \
    body.field = (value);                                                                          \
    refuse(&body, fragment, name);                                                                 \
  } while (0)

static void bad_bodies(void) {
  REFUSE(parent, 1, "rigid body 1: its parent is 1", "a body that hangs on itself");
  REFUSE(parent, 2, "its parent is 2", "a body that hangs on a later one");
  REFUSE(parent, -2, "its parent is -2", "a body that hangs on nothing");
  REFUSE(mass, 0, "its mass is 0 kg", "a body without mass");
  REFUSE(mass, NAN, "its mass is nan kg", "a mass that is no number");
  REFUSE(mass, INFINITY, "its mass is inf kg", "an infinite mass");
  REFUSE(inertia[2], 0, "not positive definite", "no inertia about z");
  REFUSE(inertia[3], 1.5, "not positive definite", "products of inertia that are too large");
  REFUSE(inertia[5], NAN, "not positive definite", "an inertia that is no number");
  REFUSE(axis[2], 0, "axis of its joint is zero", "no axis");
  REFUSE(axis[0], INFINITY, "axis of its joint is zero or not finite", "an infinite axis");
  REFUSE(lower, 1.5, "limits are crossed: lower 1.5 rad, upper 1 rad", "crossed limits");
  REFUSE(upper, NAN, "limits are crossed", "a limit that is no number");
  REFUSE(limit_stiffness, 0, "limit stiffness is 0", "a limit without stiffness");
  REFUSE(limit_stiffness, -1, "limit stiffness is -1", "a negative limit stiffness");
  REFUSE(damping, -1, "damping is -1", "negative damping");
  REFUSE(start, NAN, "start angle is not finite", "a start that is no number");
  REFUSE(pivot[1], NAN, "pivot or tip is not finite", "a pivot that is no place");
  REFUSE(tip[1], INFINITY, "pivot or tip is not finite", "a tip that is no place");
  REFUSE(centre[0], NAN, "centre of mass is not finite", "a centre that is no place");
}

static void bad_counts(void) {
  eb_rigid_body bodies[EB_MAX_JOINTS + 1];
  for (int b = 0; b <= EB_MAX_JOINTS; b++) bodies[b] = good_body();
  const double nowhere[3] = {0, NAN, 0};
  eb_articulation *articulation;
  tap_fails(eb_articulation_create(0, bodies, tilted, &articulation), EB_ERR_INVALID,
            "1 to 16 bodies, not 0", "no bodies");
  tap_fails(eb_articulation_create(EB_MAX_JOINTS + 1, bodies, tilted, &articulation),
            EB_ERR_INVALID, "not 17", "too many bodies");
  tap_fails(eb_articulation_create(1, bodies, nowhere, &articulation), EB_ERR_INVALID,
            "gravity is not finite", "gravity that is no number");
  tap_ok(!articulation, "nothing is left of an articulation that was refused");
  tap_succeeds(eb_articulation_create(EB_MAX_JOINTS, bodies, tilted, &articulation),
               "as many bodies as there may be");
  eb_articulation_destroy(articulation);
}

static void bad_riders(void) {
  eb_rigid_body body = good_body();
  const double place[3] = {1, 2, 3}, nowhere[3] = {1, INFINITY, 3};
  eb_articulation *articulation = articulate(1, &body, tilted, NULL);
  tap_succeeds(eb_articulation_attach(articulation, 7, 0, place), "a node is attached");
  tap_fails(eb_articulation_attach(articulation, 7, -1, place), EB_ERR_INVALID,
            "node 7 rides on body 0 already", "a node that is attached twice");
  tap_fails(eb_articulation_attach(articulation, 8, 1, place), EB_ERR_INVALID,
            "node 8 cannot ride on body 1: there are 1", "a body that is not there");
  tap_fails(eb_articulation_attach(articulation, 8, -2, place), EB_ERR_INVALID, "body -2",
            "a body below the world");
  tap_fails(eb_articulation_attach(articulation, -1, 0, place), EB_ERR_INVALID, "node -1",
            "a node that is none");
  tap_fails(eb_articulation_attach(articulation, 8, 0, nowhere), EB_ERR_INVALID, "place of node 8",
            "a place that is none");
  tap_ok(eb_articulation_attached(articulation) == 1, "refused riders are not there");
  eb_articulation_destroy(articulation);
}

/* ---- hash ---- */

static uint64_t hash_of(const eb_rigid_body *body, const double gravity[3], int32_t node) {
  const double place[3] = {1, 2, 3};
  eb_articulation *articulation = articulate(1, body, gravity, NULL);
  tap_require(eb_articulation_attach(articulation, node, 0, place), "a rider");
  uint64_t hash = eb_articulation_hash(articulation, EB_HASH_SEED);
  eb_articulation_destroy(articulation);
  return hash;
}

static void hash_sees_everything(void) {
  const double other[3] = {0, 0, -9};
  const eb_rigid_body body = good_body();
  uint64_t hash = hash_of(&body, tilted, 3);
  tap_ok(hash == hash_of(&body, tilted, 3), "equal articulations have equal hashes");
  bool differs = hash != hash_of(&body, other, 3) && hash != hash_of(&body, tilted, 4);
#define CHANGE(field, value)                                                                       \
  do {                                                                                             \
    eb_rigid_body changed = body;                                                                  \
    changed.field = (value);                                                                       \
    differs = differs && hash != hash_of(&changed, tilted, 3);                                     \
  } while (0)
  CHANGE(pivot[0], 0.5);
  CHANGE(axis[0], 0.5);
  CHANGE(mass, 2);
  CHANGE(centre[2], 0.5);
  CHANGE(inertia[4], 0.5);
  CHANGE(lower, -2);
  CHANGE(upper, 2);
  CHANGE(limit_stiffness, 20);
  CHANGE(damping, 1);
  CHANGE(start, 0.1);
  CHANGE(tip[1], 1);
#undef CHANGE
  tap_ok(differs, "every field of a body, gravity and riders change the hash");
}

int main(void) {
  for (int run = 0; run < 3; run++) {
    static const int32_t joints[3] = {5, 2, EB_MAX_JOINTS};
    static const char *const what[3] = {"tree of 5 bodies", "planar double pendulum",
                                        "tree of 16 bodies"};
    char text[4][96];
    specimen s;
    open_specimen(&s, (uint64_t)run + 1, joints[run], run == 1);
    snprintf(text[0], 96, "%s: Jacobians of riders are those of differences", what[run]);
    snprintf(text[1], 96, "%s: energy and momenta are those of point masses", what[run]);
    snprintf(text[2], 96, "%s: the mass matrix is that of the kinetic energy", what[run]);
    snprintf(text[3], 96, "%s: forces are those of the Lagrangian", what[run]);
    jacobians(&s, text[0]);
    bodies_stay_rigid(&s);
    energies_and_momenta(&s, text[1]);
    mass_is_kinetic_energy(&s, text[2]);
    lagrange(&s, text[3]);
    bones_join(&s);
    limits_push_back(&s);
    eb_articulation_destroy(s.articulation);
  }
  planar_positions();
  bad_bodies();
  bad_counts();
  bad_riders();
  hash_sees_everything();
  eb_articulation_destroy(NULL);
  return tap_done();
}
