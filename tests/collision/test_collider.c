/* Colliders: signed distances against brute force and finite differences, penalty forces
 * against their formulas and an impact with a closed-form solution. */
#include "problems/collision/collider.h"
#include "problems/contact/penalty.h"
#include "problems/mesh/generate.h"
#include "tests/tap.h"

#include <math.h>

static double uniform(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*state >> 11) * 0x1p-53;
}

static void circling(double t, const void *script, double offset[3], double velocity[3]) {
  const double *p = script;
  double w = p[0];
  const double o[3] = {p[1] * cos(w * t), p[1] * sin(w * t), p[2] * t};
  const double v[3] = {-p[1] * w * sin(w * t), p[1] * w * cos(w * t), p[2]};
  memcpy(offset, o, sizeof o);
  memcpy(velocity, v, sizeof v);
}

/* A unit axis that is along no coordinate. */
#define SLANTED                                                                                    \
  { 2.0 / 7, 3.0 / 7, 6.0 / 7 }

static const eb_collider shapes[] = {
    {.kind = EB_PLANE, .origin = {0.1, 0.2, -0.3}, .axis = SLANTED},
    {.kind = EB_SPHERE, .origin = {0.2, -0.1, 0.1}, .radius = 0.7},
    {.kind = EB_CYLINDER, .origin = {0.1, 0, 0.2}, .axis = SLANTED, .radius = 0.5},
    {.kind = EB_CAPPED_CYLINDER,
     .origin = {0, 0.1, 0},
     .axis = SLANTED,
     .radius = 0.5,
     .half_length = 0.4},
    {.kind = EB_BOWL, .origin = {0.1, 0.1, 0.1}, .axis = SLANTED, .radius = 0.9},
    {.kind = EB_CAPSULE, .origin = {0, 0.1, 0}, .axis = SLANTED, .radius = 0.4, .half_length = 0.5},
};
static const char *const names[] = {"plane",           "sphere", "cylinder",
                                    "capped cylinder", "bowl",   "capsule"};
enum { SHAPES = 6 };

/* Behind them a mesh that is not convex. */
static eb_collider cup;

static const eb_collider *shape_of(int s) {
  return s < SHAPES ? &shapes[s] : &cup;
}

static const char *name_of(int s) {
  return s < SHAPES ? names[s] : "mesh";
}

static const char *label(int s, const char *what) {
  static char text[128];
  snprintf(text, sizeof text, "%s: %s", name_of(s), what);
  return text;
}

/* At random points the normal has length 1 and is the gradient of the distance. The step of the
 * differences is 1e-6, their error 1e-10 plus curvature; points whose six neighbours straddle an
 * edge of the shape are told by their second differences. */
static void test_normals(int s) {
  const eb_collider *shape = shape_of(s);
  uint64_t seed = 17;
  const double h = 1e-6;
  double worst_length = 0, worst_gradient = 0;
  int kinks = 0;
  for (int k = 0; k < 20000; k++) {
    double p[3], n[3], v[3], other[3];
    for (int d = 0; d < 3; d++) p[d] = 4 * uniform(&seed) - 2;
    double here = eb_collider_distance(shape, 0, p, n, v);
    worst_length = fmax(worst_length, fabs(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1));
    double error = 0, kink = 0;
    for (int d = 0; d < 3; d++) {
      double up[3] = {p[0], p[1], p[2]}, down[3] = {p[0], p[1], p[2]};
      up[d] += h;
      down[d] -= h;
      double above = eb_collider_distance(shape, 0, up, other, v);
      double below = eb_collider_distance(shape, 0, down, other, v);
      error = fmax(error, fabs((above - below) / (2 * h) - n[d]));
      kink = fmax(kink, fabs(above - 2 * here + below) / h);
    }
    if (kink > 1e-3)
      kinks++;
    else
      worst_gradient = fmax(worst_gradient, error);
  }
  tap_below(worst_length, 1e-14, label(s, "normals have length 1"));
  tap_below(worst_gradient, 1e-3, label(s, "normals are gradients of the distance"));
  tap_ok(kinks <= 3, "%s: next to no point lies at an edge (%d of 20000)", name_of(s), kinks);
}

/* A distance is 1-Lipschitz and no jump hides anywhere: two points never differ by more than they
 * are apart. */
static void test_lipschitz(int s) {
  uint64_t seed = 5;
  double worst = 0;
  for (int k = 0; k < 50000; k++) {
    double p[3], q[3], n[3], v[3], apart = 0;
    for (int d = 0; d < 3; d++) {
      p[d] = 4 * uniform(&seed) - 2;
      q[d] = p[d] + 0.2 * (uniform(&seed) - 0.5);
      apart += (p[d] - q[d]) * (p[d] - q[d]);
    }
    double change = fabs(eb_collider_distance(shape_of(s), 0, p, n, v) -
                         eb_collider_distance(shape_of(s), 0, q, n, v));
    worst = fmax(worst, change / sqrt(apart));
  }
  tap_below(worst, 1 + 1e-9, label(s, "the distance is continuous and 1-Lipschitz"));
}

/* Walking the distance along the normal ends on the surface: true only of exact distances. */
static void test_projection(int s) {
  uint64_t seed = 23;
  double worst = 0;
  for (int k = 0; k < 20000; k++) {
    double p[3], n[3], v[3];
    for (int d = 0; d < 3; d++) p[d] = 4 * uniform(&seed) - 2;
    double distance = eb_collider_distance(shape_of(s), 0, p, n, v);
    for (int d = 0; d < 3; d++) p[d] -= distance * n[d];
    worst = fmax(worst, fabs(eb_collider_distance(shape_of(s), 0, p, n, v)));
  }
  tap_below(worst, 1e-12, label(s, "walking the distance along the normal ends on the surface"));
}

static void test_known_points(void) {
  double n[3], v[3];
  eb_collider bowl = {.kind = EB_BOWL, .axis = {0, 0, 1}, .radius = 1};
  tap_near(eb_collider_distance(&bowl, 0, (double[3]){0, 0, -0.75}, n, v), 0.25, 1e-15,
           "in the bowl, above its bottom");
  tap_near(n[2], 1, 1e-15, "the bottom's normal points up");
  tap_near(eb_collider_distance(&bowl, 0, (double[3]){0, 0, -1.25}, n, v), -0.25, 1e-15,
           "below the bottom is inside");
  tap_near(eb_collider_distance(&bowl, 0, (double[3]){3, 0, -0.1}, n, v), -0.1, 1e-15,
           "beside the bowl the table is solid");
  tap_near(eb_collider_distance(&bowl, 0, (double[3]){3, 0, 0.1}, n, v), 0.1, 1e-15,
           "above the table");
  tap_near(eb_collider_distance(&bowl, 0, (double[3]){0, 0, 0.75}, n, v), 1.25, 1e-15,
           "above the opening the rim is nearest");
  eb_collider piston = {
      .kind = EB_CAPPED_CYLINDER, .axis = {0, 0, 1}, .radius = 1, .half_length = 2};
  tap_near(eb_collider_distance(&piston, 0, (double[3]){4, 0, -6}, n, v), 5, 1e-14,
           "off the edge of a piston: 3-4-5");
  tap_near(n[0] - n[2], 0.6 + 0.8, 1e-14, "and its normal");
  for (int s = 0; s < SHAPES; s++) {
    double distance = eb_collider_distance(&shapes[s], 0, shapes[s].origin, n, v);
    tap_ok(isfinite(distance) && fabs(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1) < 1e-14,
           "%s: the centre has a finite distance and a unit normal", names[s]);
  }
}

/* A surface of twelve triangles against the distance of a box in closed form, with the nearest
 * features of all kinds: faces, edges and corners, from outside and from inside. */
static void test_box(void) {
  static const double half[3] = {0.5, 0.4, 0.3};
  eb_surface *surface;
  eb_collider box = {0};
  uint64_t seed = 3;
  double worst = 0, wrong = 0;
  tap_require(eb_surface_box(half, &surface), "a box");
  tap_require(eb_collider_enclose(&box, surface), "what it encloses");
  for (int k = 0; k < 20000; k++) {
    double p[3], n[3], v[3], q[3], outside = 0, inside = -INFINITY, along = 0;
    for (int d = 0; d < 3; d++) {
      p[d] = 2 * uniform(&seed) - 1;
      q[d] = fabs(p[d]) - half[d];
      outside += fmax(q[d], 0) * fmax(q[d], 0);
      inside = fmax(inside, q[d]);
    }
    double exact = outside > 0 ? sqrt(outside) : inside;
    worst = fmax(worst, fabs(eb_collider_distance(&box, 0, p, n, v) - exact));
    for (int d = 0; d < 3; d++) {
      double part = outside > 0 ? fmax(q[d], 0) / sqrt(outside) : q[d] == inside;
      along += n[d] * copysign(part, p[d]);
    }
    wrong = fmax(wrong, 1 - along);
  }
  tap_below(worst, 1e-14, "a box of triangles has the distance of a box");
  /* Of a distance above 1e-5 to roundings of 1e-16: normals to 1e-11, their cosine to less. */
  tap_below(wrong, 1e-9, "and its normals");
  double n[3], v[3];
  for (int k = 0; k < 8; k++) {
    const double s[3] = {k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1};
    const double out[3] = {0.6 * s[0], 0.5 * s[1], 0.4 * s[2]};
    const double in[3] = {0.499 * s[0], 0.399 * s[1], 0.299 * s[2]};
    const double at[3] = {0.5 * s[0], 0.4 * s[1], 0.3 * s[2]};
    double on = eb_collider_distance(&box, 0, at, n, v);
    tap_ok(fabs(on) < 1e-15 && fabs(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1) < 1e-14,
           "corner %d has a normal", k);
    tap_ok(eb_collider_distance(&box, 0, out, n, v) > 0.17 &&
               eb_collider_distance(&box, 0, in, n, v) < -9e-4,
           "corner %d: beyond it is outside, before it inside", k);
  }
  eb_collider_clear(&box);
  tap_require(eb_surface_box(half, &surface), "a box");
  surface->triangle_count--;
  tap_fails(eb_collider_enclose(&box, surface), EB_ERR_INVALID, "edge", "an open surface");
  surface->triangle_count++;
  eb_collider_clear(&box);
}

static void rolling(double t, const void *script, double rotation[9], double spin[3]) {
  const double *p = script;
  double c = cos(p[3] * t), s = sin(p[3] * t);
  const double turned[9] = {c, 0, s, 0, 1, 0, -s, 0, c};
  memcpy(rotation, turned, sizeof turned);
  spin[0] = spin[2] = 0;
  spin[1] = p[3];
}

/* What turns and is shifted: a point that rides on it keeps its distance and moves at its velocity,
 * and a point that stands still sees the distance change by its normal velocity. */
static void test_turning(void) {
  const double h = 1e-5, t = 0.7, p[3] = {0.3, 0.2, 0.9};
  for (int s = 0; s <= SHAPES; s++) {
    eb_collider moved = *shape_of(s);
    eb_pose now, next;
    double n[3], v[3], other[3], ignored[3], X[3], y[3];
    moved.motion = circling;
    moved.turn = rolling;
    memcpy(moved.motion_parameters, (const double[4]){3, 0.2, 0.7, 1.9}, 4 * sizeof(double));
    double later = eb_collider_distance(&moved, t + h, p, other, ignored);
    double before = eb_collider_distance(&moved, t - h, p, other, ignored);
    double here = eb_collider_distance(&moved, t, p, n, v);
    tap_near((later - before) / (2 * h), -(n[0] * v[0] + n[1] * v[1] + n[2] * v[2]), 1e-7,
             label(s, "turns: the distance changes by the normal velocity"));
    (void)eb_collider_pose(&moved, t, &now);
    (void)eb_collider_pose(&moved, t + h, &next);
    for (int d = 0; d < 3; d++)
      X[d] = now.rotation[d] * (p[0] - now.shift[0]) + now.rotation[3 + d] * (p[1] - now.shift[1]) +
             now.rotation[6 + d] * (p[2] - now.shift[2]);
    for (int d = 0; d < 3; d++) {
      y[d] = next.shift[d];
      for (int e = 0; e < 3; e++) y[d] += next.rotation[3 * d + e] * X[e];
    }
    tap_near(eb_collider_distance(&moved, t + h, y, other, ignored), here, 1e-12,
             label(s, "turns: what rides on it keeps its distance"));
    double off = 0;
    for (int d = 0; d < 3; d++) off = fmax(off, fabs((y[d] - p[d]) / h - v[d]));
    tap_below(off, 1e-4, label(s, "turns: and moves at its velocity"));
  }
}

static void test_motion(void) {
  eb_collider ball = {.kind = EB_SPHERE,
                      .origin = {1, 0, 0},
                      .radius = 0.5,
                      .motion = circling,
                      .motion_parameters = {3, 0.2, 0.7}};
  const double p[3] = {2, 1, 1}, t = 0.8, h = 1e-5;
  double n[3], v[3], other[3], ignored[3];
  eb_collider_distance(&ball, t, p, n, v);
  double later = eb_collider_distance(&ball, t + h, p, other, ignored);
  double before = eb_collider_distance(&ball, t - h, p, other, ignored);
  tap_near((later - before) / (2 * h), -(n[0] * v[0] + n[1] * v[1] + n[2] * v[2]), 1e-8,
           "the distance to a moving ball changes by its normal velocity");
}

static const eb_collider rough_floor = {
    .kind = EB_PLANE, .axis = {0, 0, 1}, .stiffness = 1000, .damping = 10, .friction = 0.5};

static void test_force(void) {
  const double area = 0.1;
  double f[3] = {1, 2, 3};
  eb_collider_force(&rough_floor, rough_floor.friction, 0, area, (double[3]){0, 0, 1e-9},
                    (double[3]){0, 0, -9}, f);
  tap_ok(f[0] == 1 && f[1] == 2 && f[2] == 3, "nothing outside, and forces are added");
  double g[3] = {0, 0, 0};
  eb_collider_force(&rough_floor, rough_floor.friction, 0, area, (double[3]){0, 0, -0.02},
                    (double[3]){0, 0, -0.5}, g);
  tap_near(g[2], 1000 * 0.1 * 0.02 + 10 * 0.1 * 0.5, 1e-14, "stiffness and damping, times area");
  double p[3] = {0, 0, 0};
  eb_collider_force(&rough_floor, rough_floor.friction, 0, area, (double[3]){0, 0, -0.02},
                    (double[3]){0, 0, 100}, p);
  tap_ok(p[0] == 0 && p[1] == 0 && p[2] == 0, "a fast escape is not pulled back");
  double s[3] = {0, 0, 0};
  eb_collider_force(&rough_floor, rough_floor.friction, 0, area, (double[3]){0, 0, -0.02},
                    (double[3]){30, 40, 0}, s);
  tap_near(s[2], 2, 1e-14, "sliding: the pressing force");
  tap_near(s[0], -0.6, 1e-14, "sliding: friction is mu f_n against the slip");
  tap_near(s[1], -0.8, 1e-14, "sliding: friction is mu f_n against the slip, second axis");
  double c[3] = {0, 0, 0};
  eb_collider_force(&rough_floor, rough_floor.friction, 0, area, (double[3]){0, 0, -0.02},
                    (double[3]){0.01, 0, 0}, c);
  tap_near(c[0], -0.01, 1e-15, "creeping: friction is c |v_t|, below mu f_n");
  double m[3] = {0, 0, 0};
  eb_collider belt = rough_floor;
  belt.motion = circling;
  belt.motion_parameters[2] = -1;
  eb_collider_force(&belt, belt.friction, 0, area, (double[3]){0, 0, -0.02}, (double[3]){0, 0, -1},
                    m);
  tap_near(m[2], 2, 1e-14, "damping is against the collider's own velocity");
}

/* A point mass at depth 0 with speed v against k and c: z'' = -(k z + c z')/m below the floor.
 * Undamped, it turns at z = -v sqrt(m/k) and leaves with v; damped, with v exp(-pi zeta / sqrt(1 -
 * zeta^2)), a little more as no force pulls it back. Steps of 1e-5 periods leave errors of first
 * order in them. */
static void fall(double damping, double *deepest, double *speed) {
  eb_collider floor = {.kind = EB_PLANE, .axis = {0, 0, 1}, .stiffness = 400, .damping = damping};
  double x[3] = {0, 0, 0}, v[3] = {0, 0, -2}, h = 1e-6;
  *deepest = 0;
  for (int step = 0; step < 1000000 && (x[2] < 0 || step == 0); step++) {
    double f[3] = {0, 0, 0};
    eb_collider_force(&floor, floor.friction, 0, 1, x, v, f);
    v[2] += h * f[2];
    x[2] += h * v[2];
    *deepest = fmin(*deepest, x[2]);
  }
  *speed = v[2];
}

static void test_impact(void) {
  double deepest, speed;
  fall(0, &deepest, &speed);
  tap_near(deepest, -0.1, 1e-5, "undamped impact: depth v sqrt(m/k)");
  tap_near(speed, 2, 1e-4, "undamped impact: leaves as fast as it came");
  fall(8, &deepest, &speed);
  double zeta = 8 / (2 * 20.0), whole = 2 * exp(-3.14159265358979 * zeta / sqrt(1 - zeta * zeta));
  tap_ok(speed > whole && speed < 1.3 * whole, "damped impact: leaves slower, with %.3f of 2",
         speed);
  double turn = atan2(sqrt(1 - zeta * zeta), zeta) / sqrt(1 - zeta * zeta);
  tap_near(deepest, -0.1 * exp(-zeta * turn), 1e-5,
           "damped impact: depth of the damped oscillator");
}

/* On a floor tilted by atan(0.75) with mu = 0.5 a pressed mass slides with g (sin - mu cos) = 0.2
 * g. */
static void test_friction_slope(void) {
  eb_collider slope = {
      .kind = EB_PLANE, .axis = {0.6, 0, 0.8}, .stiffness = 1e5, .damping = 2e2, .friction = 0.5};
  double depth = 9.8 * 0.8 / 1e5;
  double x[3] = {-depth * 0.6, 0, -depth * 0.8}, v[3] = {0, 0, 0}, h = 1e-5;
  for (int step = 0; step < 100000; step++) {
    double f[3] = {0, 0, -9.8};
    eb_collider_force(&slope, slope.friction, 0, 1, x, v, f);
    for (int d = 0; d < 3; d++) {
      v[d] += h * f[d];
      x[d] += h * v[d];
    }
  }
  double downhill = 0.8 * v[0] - 0.6 * v[2];
  /* The start is slower by the time it takes to slip at mu f_n / c = 0.02 m/s. */
  tap_near(downhill, 9.8 * (0.6 - 0.5 * 0.8), 0.02, "a block slides with g (sin - mu cos)");
}

int main(void) {
  eb_surface *surface;
  tap_require(eb_surface_cup((const double[2]){0.5, 0.6}, 0.9, 0.3, &surface), "a cup");
  tap_require(eb_collider_enclose(&cup, surface), "what it encloses");
  for (int s = 0; s <= SHAPES; s++) {
    test_normals(s);
    test_lipschitz(s);
    test_projection(s);
  }
  test_known_points();
  test_box();
  test_turning();
  test_motion();
  test_force();
  test_impact();
  test_friction_slope();
  eb_collider_clear(&cup);
  return tap_done();
}
