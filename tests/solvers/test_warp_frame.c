/* Frames of bodies: rigid motions are found exactly, bodies are told apart, tau = 0 is corotational
 * in every frame, and errors depend on motions within a body alone. */
#include "problems/mesh/generate.h"
#include "solvers/warp_cholesky/moving_frame.h"
#include "tests/support/owned.h"
#include "tests/support/random.h"
#include "tests/support/warp_fixture.h"

/* Two blocks side by side. */
static eb_mesh *two_blocks(void) {
  eb_grid grid = {.cubes = {3, 2, 2}, .size = {1, 0.5, 0.4}};
  eb_mesh *mesh = NULL;
  owned(eb_mesh) *other = NULL;
  tap_require(eb_generate_tets6(&grid, &mesh), "a block");
  tap_require(eb_generate_tets6(&grid, &other), "a block");
  tap_require(eb_mesh_append(mesh, other, (const double[3]){2, 0, 0}), "two blocks");
  return mesh;
}

/* p + omega x X with motions of its own for each block. */
static void rigid(const double *X, double v[3]) {
  bool first = X[0] < 1.5;
  const double p[3] = {first ? 1 : -2, 0.5, first ? 0 : 3};
  const double omega[3] = {first ? 0.3 : -1, first ? -2 : 0.1, 0.7};
  for (int d = 0; d < 3; d++) {
    int e = (d + 1) % 3, f = (d + 2) % 3;
    v[d] = p[d] + omega[e] * X[f] - omega[f] * X[e];
  }
}

static void rigid_motions_are_found(void) {
  owned(eb_mesh) *mesh = two_blocks();
  eb_moving_frame frame;
  random_state random = random_seed(9);
  tap_require(eb_moving_frame_create(mesh, &frame), "frame");
  int64_t size = 3 * (int64_t)mesh->node_count;
  owned(double) *mass = calloc((size_t)size, sizeof *mass), *v = calloc((size_t)size, sizeof *v);
  for (int64_t i = 0; i < size / 3; i++) {
    mass[i] = random_uniform(&random, 0.1, 1);
    rigid(mesh->X + 3 * i, v + 3 * i);
  }
  tap_near(frame.bodies, 2, 0, "two blocks are two bodies");
  eb_moving_frame_follow(&frame, EB_FRAME_BODY, mass, mesh->X, v);
  double off = 0, shifted = 0;
  for (int64_t k = 0; k < size; k++) off = fmax(off, fabs(v[k] - frame.velocity[k]));
  tap_below(off, 1e-13, "rigid motions are found");
  eb_moving_frame_follow(&frame, EB_FRAME_TRANSLATION, mass, mesh->X, v);
  for (int64_t k = 3; k < size / 2; k++)
    shifted = fmax(shifted, fabs(frame.velocity[k] - frame.velocity[k - 3]));
  tap_near(shifted, 0, 0, "a translation is the same at all nodes of a body");
  eb_moving_frame_clear(&frame);
}

/* What is left over has no momentum and no angular momentum. */
static void momenta_are_taken_out(void) {
  owned(eb_mesh) *mesh = two_blocks();
  eb_moving_frame frame;
  random_state random = random_seed(10);
  tap_require(eb_moving_frame_create(mesh, &frame), "frame");
  int64_t nodes = mesh->node_count;
  owned(double) *mass = calloc((size_t)nodes, sizeof *mass);
  double left[2][6] = {{0}};
  owned(double) *v = calloc(3 * (size_t)nodes, sizeof *v);
  for (int64_t i = 0; i < nodes; i++) mass[i] = random_uniform(&random, 0.1, 1);
  for (int64_t k = 0; k < 3 * nodes; k++) v[k] = random_normal(&random);
  eb_moving_frame_follow(&frame, EB_FRAME_BODY, mass, mesh->X, v);
  for (int64_t i = 0; i < nodes; i++)
    for (int d = 0; d < 3; d++) {
      int e = (d + 1) % 3, f = (d + 2) % 3;
      const double *x = mesh->X + 3 * i, *a = v + 3 * i, *b = frame.velocity + 3 * i;
      left[frame.body[i]][d] += mass[i] * (a[d] - b[d]);
      left[frame.body[i]][3 + d] += mass[i] * (x[e] * (a[f] - b[f]) - x[f] * (a[e] - b[e]));
    }
  double worst = 0;
  for (int k = 0; k < 12; k++) worst = fmax(worst, fabs(left[k / 6][k % 6]));
  tap_below(worst, 1e-12, "momenta are taken out of each body");
  eb_moving_frame_clear(&frame);
}

static void tau_zero_does_not_see_the_frame(void) {
  static const char *const scenes[] = {
      "nx=8,support=ends,motion=twist,rate=3,gz=-9.8,E=1e5,dt=0.01",
      "nx=6,gz=-9.8,initial=spin,speed=3,E=1e5,dt=0.02",
      "hecht2012/bowl-of-bears:bears=2,resolution=0.1"};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    const char *damping = "stiffness_damping=0.003,mass_damping=0.4";
    char options[2][96];
    snprintf(options[0], sizeof options[0], "tau=0,frame=body,%s", damping);
    snprintf(options[1], sizeof options[1], "linear=cholmod,%s", damping);
    owned(motion) warp = motion_open(scenes[i], "warp-cholesky", options[0]);
    owned(motion) exact = motion_open(scenes[i], "corotational", options[1]);
    tap_ok(motion_run(&warp, 50) > 0 && motion_run(&exact, 50) > 0, "%s runs", scenes[i]);
    tap_below(motion_difference(&warp, &exact), 1e-9, "and is the corotational motion");
  }
}

/* The same motion watched from a train: without updates a body's shape is the same in its own
 * frame, and in the world's not. */
static double change_of_shape(const char *options) {
  const char *scene = "nx=8,initial=random,speed=0.3,E=1e5,dt=0.02";
  owned(motion) still = motion_open(scene, "warp-cholesky", options);
  owned(motion) moving = motion_open(scene, "warp-cholesky", options);
  for (int64_t k = 0; k < 3 * (int64_t)moving.state->node_count; k += 3) moving.state->v[k] += 20;
  double worst = 0;
  motion_run(&still, 20);
  motion_run(&moving, 20);
  for (int64_t k = 3; k < 3 * (int64_t)moving.state->node_count; k++) {
    double a = still.state->x[k] - still.state->x[k % 3];
    double b = moving.state->x[k] - moving.state->x[k % 3];
    worst = fmax(worst, fabs(a - b));
  }
  return worst;
}

static void observers_do_not_matter(void) {
  double body = change_of_shape("tau=1e300,frame=body"), world = change_of_shape("tau=1e300");
  /* 8 m away, positions are rounded to 1e-15 and strains to 1e-14: some 1e-12 after 20 steps. */
  tap_below(body, 1e-10, "in its own frame a body does not feel a uniform motion");
  tap_ok(world > 1e3 * body, "in the world's frame it does (%g m)", world);
}

int main(void) {
  rigid_motions_are_found();
  momenta_are_taken_out();
  tau_zero_does_not_see_the_frame();
  observers_do_not_matter();
  return tap_done();
}
