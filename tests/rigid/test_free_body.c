/* Free rigid bodies: mass properties against the formulas of solids, rotation against closed
 * solutions, the fit, and scenes with them. */
#include "problems/rigid/free_body.h"

#include "problems/base/vector3.h"
#include "tests/support/bodies_fixture.h"
#include "problems/scene_impl.h"
#include "tests/support/random.h"

/* Roundings of 1e-16 in sums of some thousand terms. */
static const double ROUNDING = 1e-12;

/* ---- mass properties ------------------------------------------------------------------------- */

typedef eb_error generator(const eb_grid *grid, eb_mesh **out);
static generator *const generators[] = {eb_generate_tets6, eb_generate_tets5,
                                        eb_generate_hexahedra};
static const char *const generator_names[] = {"six tetrahedra a cube", "five tetrahedra a cube",
                                              "hexahedra"};

/* Moves the nodes inside the box, which changes no integral over it. */
static void jitter(eb_mesh *mesh, const eb_grid *grid) {
  random_state random = random_seed(4);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    bool inside = true;
    for (int d = 0; d < 3; d++) {
      double u = (mesh->X[3 * i + d] - grid->origin[d]) / grid->size[d];
      inside = inside && u > 1e-9 && u < 1 - 1e-9;
    }
    for (int d = 0; inside && d < 3; d++)
      mesh->X[3 * i + d] += random_uniform(&random, -0.15, 0.15) * grid->size[d] / grid->cubes[d];
  }
}

static eb_free_bodies *bodies_of(const eb_mesh *mesh, const uint8_t *rigid, const double *density) {
  eb_free_bodies *bodies;
  tap_require(eb_free_bodies_create(mesh, rigid, density, &bodies), "bodies");
  return bodies;
}

static double box_inertia(double mass, const double size[3], int i, int j) {
  double sum = 0;
  for (int d = 0; d < 3; d++) sum += d == i ? 0 : size[d] * size[d];
  return i == j ? mass / 12 * sum : 0;
}

static void test_box(int kind) {
  const eb_grid grid = {{3, 4, 3}, {2, -1, 0.5}, {0.3, 0.5, 0.7}};
  eb_mesh *mesh;
  tap_require(generators[kind](&grid, &mesh), "box");
  jitter(mesh, &grid);
  eb_free_bodies *bodies = bodies_of(mesh, (uint8_t[]){1}, (double[]){900});
  double mass = 900 * 0.3 * 0.5 * 0.7, centre = 0, inertia = 0;
  const eb_free_body *body = &bodies->body[0];
  for (int d = 0; d < 3; d++)
    centre = fmax(centre, fabs(body->centre[d] - grid.origin[d] - grid.size[d] / 2));
  for (int k = 0; k < 9; k++)
    inertia = fmax(inertia, fabs(body->inertia[k] - box_inertia(mass, grid.size, k / 3, k % 3)));
  tap_ok(bodies->count == 1, "%s: a box is one body", generator_names[kind]);
  tap_near(body->mass, mass, mass * ROUNDING, "  its mass");
  tap_below(centre, ROUNDING, "  its centre");
  tap_below(inertia, mass * ROUNDING, "  its inertia");
  eb_free_bodies_destroy(bodies);
  eb_mesh_destroy(mesh);
}

/* Of the corner tetrahedron with legs a, b, c the integrals of x^2 and x y are V a^2 / 10 and V a b
 * / 20. */
static void test_tetrahedron(void) {
  static const double leg[3] = {0.4, 0.7, 0.5};
  static const int32_t corners[4] = {0, 1, 2, 3};
  eb_mesh *mesh;
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 4, 1, &mesh), "a tetrahedron");
  memcpy(mesh->elements, corners, sizeof corners);
  for (int d = 0; d < 3; d++) mesh->X[3 * (d + 1) + d] = leg[d];
  eb_free_bodies *bodies = bodies_of(mesh, (uint8_t[]){1}, (double[]){1200});
  double mass = 1200 * leg[0] * leg[1] * leg[2] / 6, second[9], worst = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      second[3 * i + j] = mass * leg[i] * leg[j] * ((i == j ? 0.1 : 0.05) - 1. / 16);
  double trace = second[0] + second[4] + second[8];
  for (int k = 0; k < 9; k++)
    worst = fmax(worst, fabs(bodies->body[0].inertia[k] - (k % 4 ? 0 : trace) + second[k]));
  tap_near(bodies->body[0].mass, mass, mass * ROUNDING, "tetrahedron: its mass");
  tap_below(worst, mass * ROUNDING, "tetrahedron: its inertia about the centre");
  eb_free_bodies_destroy(bodies);
  eb_mesh_destroy(mesh);
}

/* Two boxes of two regions side by side share a face of nodes. */
static eb_mesh *two_boxes(bool apart) {
  static const char *const name[] = {"other"};
  const eb_grid grid = {{2, 2, 2}, {0, 0, 0}, {0.4, 0.4, 0.4}};
  const double shift[3] = {apart ? 0.9 : 0.4, 0, 0};
  eb_mesh *mesh, *other;
  tap_require(eb_generate_tets6(&grid, &mesh), "box");
  tap_require(eb_generate_tets6(&grid, &other), "another");
  tap_require(eb_mesh_name_regions(other, 1, name), "name");
  int32_t before = mesh->node_count;
  tap_require(eb_mesh_append(mesh, other, shift), "append");
  /* The nodes of the face x0 of the second become those of the face x1 of the first. */
  for (int32_t k = 0; !apart && k < 4 * mesh->element_count; k++)
    if (mesh->elements[k] >= before && (mesh->elements[k] - before) % 3 == 0)
      mesh->elements[k] -= before - 2;
  eb_mesh_destroy(other);
  return mesh;
}

/* Steiner: about the common centre each box has its own moment and its mass times squared
 * distance. */
static void test_union(void) {
  eb_mesh *mesh = two_boxes(false);
  eb_free_bodies *bodies = bodies_of(mesh, (uint8_t[]){1, 1}, (double[]){500, 1500});
  static const double size[3] = {0.4, 0.4, 0.4};
  double m[2] = {500 * 0.064, 1500 * 0.064}, mass = m[0] + m[1];
  double centre = (m[0] * 0.2 + m[1] * 0.6) / mass;
  double own = box_inertia(mass, size, 0, 0);
  double far =
      own + m[0] * (centre - 0.2) * (centre - 0.2) + m[1] * (0.6 - centre) * (0.6 - centre);
  const eb_free_body *body = &bodies->body[0];
  tap_ok(bodies->count == 1, "boxes with a common face are one body");
  tap_near(body->mass, mass, mass * ROUNDING, "  its mass is the sum");
  tap_near(body->centre[0], centre, ROUNDING, "  its centre is weighed by density");
  tap_near(body->inertia[0], own, mass * ROUNDING, "  moments about the common axis add up");
  tap_near(body->inertia[4], far, mass * ROUNDING, "  others have Steiner's part");
  eb_free_bodies_destroy(bodies);
  eb_mesh_destroy(mesh);
}

static void test_components(void) {
  eb_mesh *mesh = two_boxes(true);
  eb_free_bodies *bodies = bodies_of(mesh, (uint8_t[]){1, 1}, (double[]){500, 1500});
  tap_ok(bodies->count == 2 && bodies->of_node[0] == 0 &&
             bodies->of_node[mesh->node_count - 1] == 1,
         "boxes apart are two bodies, in the order of their nodes");
  eb_free_bodies_destroy(bodies);
  bodies = bodies_of(mesh, (uint8_t[]){0, 1}, (double[]){500, 1500});
  tap_ok(bodies->count == 1 && bodies->of_node[0] == -1 &&
             bodies->of_node[mesh->node_count - 1] == 0,
         "nodes of elastic regions ride on none");
  eb_free_bodies_destroy(bodies);
  bodies = bodies_of(mesh, (uint8_t[]){0, 0}, (double[]){500, 1500});
  tap_ok(!bodies, "without rigid regions there are no bodies");
  tap_fails(eb_free_bodies_create(mesh, (uint8_t[]){0, 1}, (double[]){500, 0}, &bodies),
            EB_ERR_INVALID, "positive density", "a density of 0 is refused");
  eb_mesh_destroy(mesh);
  const eb_grid grid = {{2, 2, 1}, {0, 0, 0}, {1, 1, 1}};
  tap_require(eb_generate_triangles(&grid, &mesh), "triangles");
  tap_fails(eb_free_bodies_create(mesh, (uint8_t[]){1}, (double[]){500}, &bodies),
            EB_ERR_UNSUPPORTED, "tetrahedra or hexahedra", "planar triangles are refused");
  eb_mesh_destroy(mesh);
}

/* ---- rotation -------------------------------------------------------------------------------- */

static const double rest_pose[7] = {0, 0, 0, 1, 0, 0, 0};

/* Where a pose puts the unit vectors, by the formula of Euler and Rodrigues in the entries of the
 * quaternion. */
static void matrix_of(const double pose[7], double R[9]) {
  double w = pose[3], x = pose[4], y = pose[5], z = pose[6];
  const double rows[9] = {
      w * w + x * x - y * y - z * z, 2 * (x * y - w * z),           2 * (x * z + w * y),
      2 * (x * y + w * z),           w * w - x * x + y * y - z * z, 2 * (y * z - w * x),
      2 * (x * z - w * y),           2 * (y * z + w * x),           w * w - x * x - y * y + z * z};
  memcpy(R, rows, sizeof rows);
}

static double largest_gap(const double *a, const double *b, int count) {
  double worst = 0;
  for (int k = 0; k < count; k++) worst = fmax(worst, fabs(a[k] - b[k]));
  return worst;
}

static void test_advance(void) {
  static const double twist[6] = {1, -2, 0.5, 0, 0, 0.7};
  static const double oblique[6] = {0, 0, 0, 0.3, -0.4, 1.2};
  double pose[7], R[9], there[7], back[6], halves[7], whole[7];
  double c = cos(1.4), s = sin(1.4);
  const double want[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
  eb_free_body_advance(rest_pose, twist, 2, pose);
  matrix_of(pose, R);
  tap_below(largest_gap(R, want, 9), ROUNDING, "a turn about z is one by the angle");
  tap_ok(pose[0] == 2 && pose[1] == -4 && pose[2] == 1, "the centre moves straight");
  eb_free_body_advance(pose, oblique, 0.5, halves);
  eb_free_body_advance(halves, oblique, 0.5, halves);
  eb_free_body_advance(pose, oblique, 1, whole);
  tap_below(largest_gap(halves, whole, 7), ROUNDING, "two half steps of one twist are a step");
  for (int k = 0; k < 6; k++) back[k] = -oblique[k];
  eb_free_body_advance(whole, back, 1, there);
  tap_below(largest_gap(there, pose, 7), ROUNDING, "the opposite twist leads back");
  double still[6] = {0}, slow[6] = {0, 0, 0, 3e-5, 0, 0};
  eb_free_body_advance(pose, still, 1, there);
  tap_below(largest_gap(there, pose, 7), ROUNDING, "no twist, no motion");
  eb_free_body_advance(rest_pose, slow, 1, there);
  tap_near(there[4], sin(1.5e-5), 1e-20, "small angles have no cancellation");
}

/* Without torque the angular velocity of a symmetric top (I, I, C) turns about its angular momentum
 * L at the rate |L| / I. */
typedef struct top {
  eb_free_body body;
  double L[3], w[3]; /* at time 0, world axes */
} top;

static void angular_velocity(const top *t, double time, double w[3]) {
  double size = sqrt(eb_dot3(t->L, t->L)), axis[3], side[3];
  for (int d = 0; d < 3; d++) axis[d] = t->L[d] / size;
  double angle = size / t->body.inertia[0] * time, along = eb_dot3(axis, t->w);
  eb_cross3(axis, t->w, side);
  for (int d = 0; d < 3; d++)
    w[d] = cos(angle) * t->w[d] + sin(angle) * side[d] + (1 - cos(angle)) * along * axis[d];
}

/* The largest |I(q) w - L| on the way when poses follow the angular velocity of midpoints, which is
 * accurate to second order. */
static double momentum_error(const top *t, int steps) {
  double pose[7], worst = 0, end = 2, dt = end / steps;
  memcpy(pose, rest_pose, sizeof pose);
  for (int k = 0; k < steps; k++) {
    double twist[6] = {0}, w[3], inertia[9], L[3];
    angular_velocity(t, (k + 0.5) * dt, twist + 3);
    eb_free_body_advance(pose, twist, dt, pose);
    angular_velocity(t, (k + 1) * dt, w);
    eb_free_body_inertia(&t->body, pose, inertia);
    eb_turn3(inertia, w, L);
    worst = fmax(worst, largest_gap(L, t->L, 3));
  }
  return worst;
}

static void test_top(void) {
  top t = {.body = {.mass = 1, .inertia = {2, 0, 0, 0, 2, 0, 0, 0, 5}}, .w = {0.9, 0, 2}};
  eb_turn3(t.body.inertia, t.w, t.L);
  double coarse = momentum_error(&t, 100), fine = momentum_error(&t, 200);
  tap_below(coarse, 0.02, "symmetric top: angular momentum stays");
  /* Second order: the ratio is 4 but for terms of higher order in the step of 0.02 s at 4 rad/s. */
  tap_near(coarse / fine, 4, 0.1, "symmetric top: half the step leaves a quarter of the error");
}

static void test_inertia(void) {
  random_state random = random_seed(21);
  eb_free_body body = {.mass = 1, .inertia = {3, 0.2, -0.1, 0.2, 4, 0.3, -0.1, 0.3, 5}};
  double pose[7] = {0}, R[9], want[9] = {0}, got[9];
  random_direction(&random, 4, pose + 3);
  matrix_of(pose, R);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 9; k++)
        want[3 * i + j] += R[3 * i + k / 3] * body.inertia[k] * R[3 * j + k % 3];
  eb_free_body_inertia(&body, pose, got);
  tap_below(largest_gap(got, want, 9), ROUNDING, "inertia in world axes is R I R^T");
}

/* ---- placing and fitting --------------------------------------------------------------------- */

typedef struct pile {
  eb_mesh *mesh;
  eb_free_bodies *bodies;
  double *x, *v, pose[14], twist[12];
} pile;

/* Two bodies in random poses, with nodes where they belong. */
static void open_pile(pile *p, uint64_t seed) {
  random_state random = random_seed(seed);
  p->mesh = two_boxes(true);
  p->bodies = bodies_of(p->mesh, (uint8_t[]){1, 1}, (double[]){500, 1500});
  p->x = calloc(3 * (size_t)p->mesh->node_count, sizeof *p->x);
  p->v = calloc(3 * (size_t)p->mesh->node_count, sizeof *p->v);
  for (int b = 0; b < 2; b++) {
    for (int d = 0; d < 3; d++) p->pose[7 * b + d] = random_uniform(&random, -3, 3);
    random_direction(&random, 4, p->pose + 7 * b + 3);
    for (int d = 0; d < 6; d++) p->twist[6 * b + d] = random_uniform(&random, -5, 5);
  }
  eb_free_bodies_place(p->bodies, p->mesh->X, p->pose, p->twist, p->x, p->v);
}

static void close_pile(pile *p) {
  eb_free_bodies_destroy(p->bodies);
  eb_mesh_destroy(p->mesh);
  free(p->x);
  free(p->v);
}

/* q and -q are one rotation. */
static double pose_gap(const double *a, const double *b) {
  double sign = 0, gap = largest_gap(a, b, 3);
  for (int k = 3; k < 7; k++) sign += a[k] * b[k];
  for (int k = 3; k < 7; k++) gap = fmax(gap, fabs(a[k] - copysign(1, sign) * b[k]));
  return gap;
}

static void test_place(void) {
  pile p;
  open_pile(&p, 3);
  double R[9], worst = 0, after[14], moved = 0, dt = 1e-6;
  for (int32_t i = 0; i < p.mesh->node_count; i++) {
    int32_t b = p.bodies->of_node[i];
    double arm[3], turned[3];
    matrix_of(p.pose + 7 * b, R);
    for (int d = 0; d < 3; d++) arm[d] = p.mesh->X[3 * i + d] - p.bodies->body[b].centre[d];
    eb_turn3(R, arm, turned);
    for (int d = 0; d < 3; d++)
      worst = fmax(worst, fabs(p.x[3 * i + d] - turned[d] - p.pose[7 * b + d]));
  }
  tap_below(worst, ROUNDING, "nodes are placed at p + R (X - centre)");
  double *next = calloc(3 * (size_t)p.mesh->node_count, sizeof *next);
  for (int b = 0; b < 2; b++)
    eb_free_body_advance(p.pose + 7 * b, p.twist + 6 * b, dt, after + 7 * b);
  eb_free_bodies_place(p.bodies, p.mesh->X, after, NULL, next, NULL);
  for (int32_t k = 0; k < 3 * p.mesh->node_count; k++)
    moved = fmax(moved, fabs((next[k] - p.x[k]) / dt - p.v[k]));
  /* dt / 2 times accelerations of |w|^2 |r| < 75 * 0.5 m/s^2, and roundings of 1e-15 m over dt. */
  tap_below(moved, 4e-5, "their velocity is that of their positions");
  free(next);
  close_pile(&p);
}

static void test_round_trip(void) {
  double pose_worst = 0, twist_worst = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    pile p;
    double pose[14], twist[12];
    open_pile(&p, seed);
    tap_require(eb_free_bodies_fit(p.bodies, p.mesh->X, p.x, p.v, pose, twist), "fit");
    for (int b = 0; b < 2; b++)
      pose_worst = fmax(pose_worst, pose_gap(pose + 7 * b, p.pose + 7 * b));
    twist_worst = fmax(twist_worst, largest_gap(twist, p.twist, 12));
    close_pile(&p);
  }
  tap_below(pose_worst, ROUNDING, "the fit to placed nodes is their pose");
  tap_below(twist_worst, 10 * ROUNDING, "and their twist");
}

/* Sum of squared distances between the nodes and where pose and twist put them, of positions and of
 * velocities. */
static void misfit(const pile *p, const double *pose, const double *twist, double sum[2]) {
  size_t size = 3 * (size_t)p->mesh->node_count;
  double *x = calloc(2 * size, sizeof *x), *v = x + size;
  eb_free_bodies_place(p->bodies, p->mesh->X, pose, twist, x, v);
  sum[0] = sum[1] = 0;
  for (size_t k = 0; k < size; k++) {
    sum[0] += (x[k] - p->x[k]) * (x[k] - p->x[k]);
    sum[1] += (v[k] - p->v[k]) * (v[k] - p->v[k]);
  }
  free(x);
}

/* No rigid motion nearby is closer to nodes that do not move rigidly. */
static void test_least_squares(void) {
  pile p;
  random_state random = random_seed(8);
  double pose[14], twist[12], least[2], near[2];
  int better[2] = {0, 0};
  open_pile(&p, 5);
  for (int32_t k = 0; k < 3 * p.mesh->node_count; k++) {
    p.x[k] += random_uniform(&random, -0.05, 0.05);
    p.v[k] += random_uniform(&random, -1, 1);
  }
  tap_require(eb_free_bodies_fit(p.bodies, p.mesh->X, p.x, p.v, pose, twist), "fit");
  misfit(&p, pose, twist, least);
  for (int trial = 0; trial < 200; trial++) {
    double off[6], other[14], turned[12];
    memcpy(other, pose, sizeof other);
    for (int d = 0; d < 6; d++) off[d] = random_uniform(&random, -1e-3, 1e-3);
    eb_free_body_advance(pose + 7 * (trial % 2), off, 1, other + 7 * (trial % 2));
    misfit(&p, other, twist, near);
    better[0] += near[0] < least[0];
    memcpy(turned, twist, sizeof turned);
    for (int d = 0; d < 6; d++) turned[6 * (trial % 2) + d] += off[d];
    misfit(&p, pose, turned, near);
    better[1] += near[1] < least[1];
  }
  tap_ok(better[0] == 0, "no pose near the fit has less squared distance");
  tap_ok(better[1] == 0, "nor a twist");
  p.x[4] = NAN;
  tap_fails(eb_free_bodies_fit(p.bodies, p.mesh->X, p.x, p.v, pose, twist), EB_ERR_INVALID,
            "not finite", "positions that are no numbers are refused");
  close_pile(&p);
}

/* ---- scenes ---------------------------------------------------------------------------------- */

static eb_error try_scene(const eb_scene_ops *ops, const char *parameters, eb_scene **out) {
  return eb_scene_create(ops, parameters, NULL, "", out);
}

static eb_scene *scene_of(const eb_scene_ops *ops, const char *parameters) {
  eb_scene *scene;
  tap_require(try_scene(ops, parameters, &scene), "scene");
  return scene;
}

static void test_state(void) {
  eb_scene_ops ops = bodies_scene();
  eb_scene *scene = scene_of(&ops, "nx=2,initial=spin,speed=2");
  eb_state *state, *copy;
  tap_require(eb_state_create(scene, &state), "state");
  tap_require(eb_state_create(scene, &copy), "state");
  tap_ok(state->body_count == 1, "a state has the bodies of its scene");
  tap_ok((eb_scene_needs(scene) & EB_CAP_FREE_BODIES) != 0, "the scene needs free bodies");
  tap_ok(eb_capability_name(EB_CAP_FREE_BODIES) != NULL, "which has a name");
  double *x = calloc(3 * (size_t)state->node_count, sizeof *x), worst = 0;
  memcpy(x, state->x, 3 * (size_t)state->node_count * sizeof *x);
  eb_free_bodies_place(scene->rigid.free_bodies, scene->mesh->X, state->pose, state->twist, x,
                       copy->v);
  for (int32_t k = 0; k < 3 * state->node_count; k++) worst = fmax(worst, fabs(x[k] - state->x[k]));
  tap_ok(worst == 0 && !memcmp(copy->v, state->v, 24 * (size_t)state->node_count),
         "its nodes are exactly where its bodies put them");
  tap_ok(eb_dot3(state->twist, state->twist) > 1, "bodies start with the motion of their nodes");
  uint64_t hash = eb_state_hash(state);
  tap_ok(hash == eb_state_hash(copy), "equal states have equal hashes");
  copy->pose[1] += 1e-9;
  tap_ok(hash != eb_state_hash(copy), "poses are part of the hash");
  eb_state_copy(state, copy);
  copy->twist[5] += 1e-9;
  tap_ok(hash != eb_state_hash(copy), "so are twists");
  eb_state_copy(state, copy);
  tap_ok(hash == eb_state_hash(copy), "a copy has them all");
  free(x);
  eb_state_destroy(state);
  eb_state_destroy(copy);
  eb_scene_destroy(scene);
}

static eb_error without_extras(eb_scene *scene) {
  EB_TRY(set_up_bodies(scene));
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++)
    eb_obstacle_clear(&scene->contacts.obstacles[o]);
  scene->contacts.obstacle_count = 0;
  scene->contacts.friction.common = 0;
  scene->rigid.regions[1] = 0;
  return EB_OK;
}

static eb_error with_friction(eb_scene *scene) {
  EB_TRY(without_extras(scene));
  scene->contacts.friction.common = 0.3;
  return EB_OK;
}

static eb_error with_rigid(eb_scene *scene) {
  EB_TRY(without_extras(scene));
  scene->rigid.regions[1] = 1;
  return EB_OK;
}

static eb_error with_step(eb_scene *scene) {
  EB_TRY(without_extras(scene));
  scene->contacts.obstacle_count = 1;
  return make_step(&scene->contacts.obstacles[0].surface);
}

static eb_error with_moving_step(eb_scene *scene) {
  EB_TRY(with_step(scene));
  scene->contacts.obstacles[0].motion = rock;
  scene->contacts.obstacles[0].parameters[1] = 1;
  return EB_OK;
}

static eb_error with_slower_step(eb_scene *scene) {
  EB_TRY(with_moving_step(scene));
  scene->contacts.obstacles[0].parameters[1] = 0.5;
  return EB_OK;
}

static void test_hash(void) {
  eb_error (*const setups[])(eb_scene *) = {without_extras, with_friction,    with_rigid,
                                            with_step,      with_moving_step, with_slower_step};
  enum { SETUPS = sizeof setups / sizeof *setups };
  uint64_t hash[SETUPS];
  eb_scene_ops ops = bodies_scene();
  int equal = 0;
  for (int k = 0; k < SETUPS; k++) {
    ops.setup = setups[k];
    eb_scene *scene = scene_of(&ops, "nx=2");
    hash[k] = scene->hash;
    for (int j = 0; j < k; j++) equal += hash[j] == hash[k];
    eb_scene_destroy(scene);
  }
  tap_ok(equal == 0, "friction, rigid regions, obstacles and their motion are part of the hash");
  ops.setup = without_extras;
  ops.needs &= ~(uint32_t)EB_CAP_CONTACT;
  eb_scene *scene = scene_of(&ops, "nx=2");
  tap_ok(scene->hash == hash[0], "the need of contact is not");
  eb_scene_destroy(scene);
}

/* ---- scenes that break the rules ------------------------------------------------------------- */

static eb_error negative_friction(eb_scene *scene) {
  EB_TRY(set_up_bodies(scene));
  scene->contacts.friction.common = -0.1;
  return EB_OK;
}

static eb_error missing_surface(eb_scene *scene) {
  EB_TRY(set_up_bodies(scene));
  eb_obstacle_clear(&scene->contacts.obstacles[1]);
  return EB_OK;
}

static eb_error bad_surface(eb_scene *scene) {
  EB_TRY(set_up_bodies(scene));
  scene->contacts.obstacles[1].surface->triangles[2] = 9;
  return EB_OK;
}

static void stretch(double t, const void *script, double rotation[9], double shift[3]) {
  const double *parameters = script;
  rock(t, parameters, rotation, shift);
  rotation[0] *= 1 + t;
}

static eb_error stretched_motion(eb_scene *scene) {
  EB_TRY(set_up_bodies(scene));
  scene->contacts.obstacles[0].motion = stretch;
  return EB_OK;
}

static int32_t one_cut(const eb_scene *scene, eb_cut cuts[EB_MAX_CUTS]) {
  (void)scene;
  cuts[0] = (eb_cut){.time = 1, .origin = {0.5, 0, 0}, .normal = {1, 0, 0}, .radius = INFINITY};
  return 1;
}

static void test_bad_scenes(void) {
  static const struct {
    eb_error (*setup)(eb_scene *);
    const char *fragment, *what;
  } bad[] = {
      {negative_friction, "contact friction is -0.1", "negative friction"},
      {missing_surface, "obstacle 1: it has no surface", "an obstacle without a surface"},
      {bad_surface, "obstacle 1: triangle", "an obstacle whose surface is broken"},
      {stretched_motion, "obstacle 0: its motion at", "an obstacle that deforms"},
  };
  eb_scene *scene;
  eb_scene_ops ops = bodies_scene();
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    ops.setup = bad[k].setup;
    tap_fails(try_scene(&ops, "nx=2", &scene), EB_ERR_INVALID, bad[k].fragment, bad[k].what);
  }
  ops = bodies_scene();
  ops.needs &= ~(uint32_t)EB_CAP_CONTACT;
  tap_fails(try_scene(&ops, "nx=2", &scene), EB_ERR_INVALID, "EB_CAP_CONTACT",
            "obstacles without contact as constraints");
  ops.setup = with_rigid;
  tap_fails(try_scene(&ops, "nx=2", &scene), EB_ERR_INVALID, "EB_CAP_CONTACT",
            "rigid regions likewise");
  ops = bodies_scene();
  ops.cuts = one_cut;
  tap_fails(try_scene(&ops, "nx=2", &scene), EB_ERR_UNSUPPORTED, "cuts", "bodies and cuts");
  ops = bodies_scene();
  tap_fails(try_scene(&ops, "nx=2,support=x0", &scene), EB_ERR_INVALID, "scripted and of a rigid",
            "scripted nodes of a rigid region");
}

int main(void) {
  for (int kind = 0; kind < 3; kind++) test_box(kind);
  test_tetrahedron();
  test_union();
  test_components();
  test_advance();
  test_top();
  test_inertia();
  test_place();
  test_round_trip();
  test_least_squares();
  test_state();
  test_hash();
  test_bad_scenes();
  return tap_done();
}
