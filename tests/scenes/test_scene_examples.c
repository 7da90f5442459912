/* The textbook scenes of problems/scenes/examples, files that anybody may write, against the
 * formulas of mechanics that their first lines state. */
#include <math.h>
#include <string.h>

#include "tests/support/scene_fixture.h"
#include "tests/support/stepping.h"

static const double gravity = 9.81; /* m/s^2 */

static run begin(const char *example, const char *parameters, const char *solver,
                 const char *options) {
  const eb_scene_ops *ops;
  eb_scene *scene;
  char path[128];
  snprintf(path, sizeof path, "problems/scenes/examples/%s.ini", example);
  tap_require(eb_scene_open(path, NULL, &ops), path);
  tap_require(eb_scene_create(ops, parameters, NULL, cache, &scene), path);
  eb_scene_close(ops); /* the scene holds it */
  return start_on(scene, solver, options);
}

/* Mean displacement along an axis of a group, or of all nodes (NULL). */
static double moved(const run *s, const char *group, int axis) {
  const eb_grip *grip = NULL;
  for (int g = 0; group && g < s->scene->script.grip_count; g++)
    if (strcmp(s->scene->script.grips[g].name, group) == 0) grip = &s->scene->script.grips[g];
  int32_t count = grip ? grip->count : s->scene->mesh->node_count;
  double sum = 0;
  for (int32_t k = 0; k < count; k++) {
    size_t at = 3 * (size_t)(grip ? grip->nodes[k] : k) + (size_t)axis;
    sum += s->state->x[at] - s->scene->mesh->X[at];
  }
  return sum / count;
}

/* ---- statics --------------------------------------------------------------------------------- */

static void test_cantilever(void) {
  const double E = 1e6, L = 1, a = 0.1, F = 0.01, I = a * a * a * a / 12, G = E / 2;
  owned(run) s = begin("cantilever", NULL, "newton", "rtol=1e-10");
  go_well(&s, 20);
  double exact = F * L * L * L / (3 * E * I) + F * L / (5.0 / 6 * G * a * a);
  /* 40 trilinear hexahedra along the beam, whose shear locks as (h / a)^2 / 2 of 1/16 at most with
   * four across: 1/32. */
  tap_near(-moved(&s, "tip", 2) / exact, 1, 1.0 / 32, "cantilever: the tip sinks as beams do");
}

static void test_cylinder(void) {
  const double E = 1e6, nu = 0.3, a = 0.1, b = 0.2, p = 100;
  owned(run) s = begin("thick-cylinder", NULL, "newton", "rtol=1e-10");
  go_well(&s, 20);
  const double *X = s.scene->mesh->X, *x = s.state->x;
  double wide[2] = {0, 0}, count[2] = {0, 0}, exact[2];
  for (int32_t i = 0; i < s.scene->mesh->node_count; i++) {
    double r = hypot(X[3 * i], X[3 * i + 1]);
    int k = r < a + 1e-6 ? 0 : r > b - 1e-6 ? 1 : -1;
    if (k < 0) continue;
    wide[k] += hypot(x[3 * i], x[3 * i + 1]) - r;
    count[k]++;
  }
  for (int k = 0; k < 2; k++) {
    double r = k ? b : a;
    exact[k] = p * a * a / (E * (b * b - a * a)) * ((1 - nu) * r + (1 + nu) * b * b / r);
  }
  /* Elements of a tenth of the wall: the field's error is of second order, 1 %. */
  tap_near(wide[0] / count[0] / exact[0], 1, 0.01, "thick cylinder: the inner radius by Lame");
  tap_near(wide[1] / count[1] / exact[1], 1, 0.01, "thick cylinder: the outer radius by Lame");
  tap_ok(s.scene->mesh->node_count == 64 * 11 * 5, "thick cylinder: the ends of the bar are one");
}

/* The patch of contact has a radius of sqrt(R d), a fifth of the ball's, and lattices of 6000
 * elements a spacing of half of that: it is found by some ten nodes. */
static void test_hertz(void) {
  const double E = 1e5, nu = 0.3, R = 0.1;
  owned(run) s = begin("hertz", "", "semi-implicit", "");
  (void)go(&s, 60);
  const double *mass = eb_scene_mass(s.scene);
  double total = 0, height = 0;
  for (int32_t i = 0; i < s.scene->mesh->node_count; i++) {
    total += mass[i];
    height += mass[i] * s.state->x[3 * i + 2];
  }
  double F = total * gravity, reduced = E / (1 - nu * nu);
  double exact = cbrt(9 * F * F / (16 * R * reduced * reduced));
  tap_near((R - height / total) / exact, 1, 0.2, "Hertz: the ball comes nearer to the plane");
  if (getenv("EB_SHOW")) printf("# %g\n", (R - height / total) / exact);
}

/* ---- motions --------------------------------------------------------------------------------- */

static void test_sliding(void) {
  const double mu = 0.3, speed = 1;
  owned(run) s = begin("sliding-block", NULL, "contact-al", "");
  go_well(&s, 400);
  double exact = speed * speed / (2 * mu * gravity), still = 0;
  for (int32_t i = 0; i < s.scene->mesh->node_count; i++)
    still = fmax(still, fabs(s.state->v[3 * i]));
  /* It falls 0.3 mm at first, 8 ms of free flight; steps stop it v h / 2 early or late. */
  tap_near(moved(&s, NULL, 0) / exact, 1, 0.02, "sliding block: it stops where Coulomb says");
  tap_ok(still < 1e-4, "sliding block: it has stopped");
}

static void test_bouncing(void) {
  const double height = 1, h = 2e-3;
  owned(run) s = begin("bouncing-ball", NULL, "newton", "");
  int64_t landed = -1;
  double highest = 0, lowest = 0;
  for (int64_t step = 1; step <= 600; step++) {
    go_well(&s, 1);
    lowest = INFINITY;
    for (int32_t i = 0; i < s.scene->mesh->node_count; i++)
      lowest = fmin(lowest, s.state->x[3 * i + 2]);
    if (landed < 0 && lowest <= 0) landed = step;
    if (landed > 0 && lowest > 0) highest = fmax(highest, lowest);
  }
  /* Implicit Euler falls by g h^2 n (n + 1) / 2: half a step further than g t^2 / 2. */
  tap_near((double)landed * h, sqrt(2 * height / gravity), 1.5 * h,
           "bouncing ball: it lands when Galilei says");
  tap_ok(highest > 0.05 && highest < height, "bouncing ball: it rises, and not as high: %g m",
         highest);
}

/* Mean height of the nodes of a region now, m. */
static double height_of(const run *s, const char *region) {
  const eb_mesh *mesh = s->scene->mesh;
  int32_t wanted = eb_mesh_region(mesh, region), count = 0;
  double sum = 0;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int k = 0; k < (int)mesh->type && mesh->region[e] == wanted; k++, count++)
      sum += s->state->x[3 * mesh->elements[(int)mesh->type * e + k] + 2];
  return sum / count;
}

static void test_blocks(void) {
  owned(run) s = begin("two-blocks", NULL, "contact-al", NULL);
  go_well(&s, 400);
  double fastest = 0, off = 1e-3; /* of the lower one from the floor at first */
  for (int32_t i = 0; i < 3 * s.scene->mesh->node_count; i++)
    fastest = fmax(fastest, fabs(s.state->v[i]));
  /* What is left of velocities after a second of implicit Euler's damping. */
  tap_ok(fastest < 1e-3, "two blocks: they come to rest: %g m/s", fastest);
  /* Gaps of 0.1 mm each, and what 3 kg on 10 cm of 5e5 Pa press together: 0.2 mm. */
  tap_near(height_of(&s, "lower"), 0.05 - off, 5e-4, "two blocks: one on the floor");
  tap_near(height_of(&s, "upper"), 0.15 - off, 5e-4, "two blocks: and one flat on it");
}

/* Velocity along (x, z) of a body's centre of mass, m/s. */
static double speed_of(const run *s, const char *body, double x, double z) {
  const eb_node_set *set = eb_mesh_set(s->scene->mesh, body);
  const double *mass = eb_scene_mass(s->scene), *v = s->state->v;
  double momentum = 0, total = 0;
  for (int32_t k = 0; k < set->count; k++) {
    size_t i = (size_t)set->nodes[k];
    momentum += mass[i] * (x * v[3 * i] + z * v[3 * i + 2]);
    total += mass[i];
  }
  return momentum / total;
}

/* The mean normal force of a block that stays on the slope is its weight's part, so that over many
 * steps its momentum follows Coulomb's law whatever the step, but for what the block still vibrates
 * by, and for what the tolerance leaves of momentum: eps1 sqrt(18 nodes) of 0.012 kg m/s a step is
 * 4e-5 of it. */
static void test_two_mus(void) {
  static const char *const solvers[] = {"contact-al", "contact-ica", "contact-delassus"};
  const double pi = 3.14159265358979323846, angle = 20 * pi / 180, h = 2e-3;
  const double exact = gravity * (sin(angle) - 0.2 * cos(angle));
  for (int k = 0; k < 3; k++) {
    owned(run) s = begin("two-mus", NULL, solvers[k], "eps1=1e-7");
    go_well(&s, 50);
    double x = cos(angle), z = -sin(angle), before = speed_of(&s, "smooth_block", x, z);
    go_well(&s, 100);
    double gained = (speed_of(&s, "smooth_block", x, z) - before) / (100 * h);
    tap_ok(fabs(gained / exact - 1) < 2e-4,
           "two coefficients, %s: the smooth block slides by Coulomb: %.5f of it", solvers[k],
           gained / exact);
    tap_ok(fabs(speed_of(&s, "rough_block", x, z)) < 1e-4,
           "two coefficients, %s: the rough one sticks: %g m/s", solvers[k],
           speed_of(&s, "rough_block", x, z));
  }
}

static void test_pendulum(void) {
  const double h = 1e-3, pi = 3.14159265358979323846, angle = 5 * pi / 180;
  owned(run) s = begin("rod-pendulum", NULL, "conjac", "");
  int64_t crossed = -1;
  bool began = fabs(s.state->q[0] - angle) < 1e-12;
  for (int64_t step = 1; step <= 600 && crossed < 0; step++) {
    go_well(&s, 1);
    if (s.state->q[0] <= 0) crossed = step;
  }
  tap_ok(began, "rod pendulum: it begins at its angle");
  /* A quarter of a period; at 5 degrees it is longer by 1/16 of the angle's square, 0.05 %. Steps
   * of first order are off by a few of them. */
  double quarter = 0.5 * pi * sqrt(2 / (3 * gravity));
  tap_near((double)crossed * h / quarter, 1, 0.01, "rod pendulum: it swings as Huygens says");
}

int main(void) {
  fixture_open();
  test_cantilever();
  test_cylinder();
  test_hertz();
  test_sliding();
  test_bouncing();
  test_pendulum();
  test_blocks();
  test_two_mus();
  return fixture_close();
}
