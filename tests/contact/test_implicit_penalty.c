/* Implicit penalty contact: the gradient against the energy, the matrix against the gradient and
 * its eigenvalues, invariance under rotation, the touches of a step, and friction against Coulomb's
 * law. */
#include "problems/contact/implicit_penalty.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"
#include "tests/support/lapack.h"
#include "tests/support/random.h"

/* A unit axis that is along no coordinate. */
#define SLANTED                                                                                    \
  { 2.0 / 7, 3.0 / 7, 6.0 / 7 }

/* The fixture's block is [0, 1]^3 here; each shape cuts some of its nodes off. */
static const eb_collider shapes[] = {
    {.kind = EB_PLANE, .origin = {0.5, 0.5, 0.45}, .axis = SLANTED},
    {.kind = EB_SPHERE, .origin = {0.9, 0.2, 0.1}, .radius = 0.7},
    {.kind = EB_CYLINDER, .origin = {0.1, 0, 0.2}, .axis = SLANTED, .radius = 0.4},
    {.kind = EB_CAPPED_CYLINDER,
     .origin = {0.23, 0.11, 0.02},
     .axis = SLANTED,
     .radius = 0.5,
     .half_length = 0.37},
    {.kind = EB_BOWL, .origin = {0.45, 0.52, 0.9}, .axis = SLANTED, .radius = 0.75},
};
static const char *const names[] = {"plane", "sphere", "cylinder", "capped cylinder", "bowl"};
enum { SHAPES = 5, ROOM = 512 };

static fixture open_block(const char *more) {
  char parameters[256];
  snprintf(parameters, sizeof parameters,
           "nx=3,ny=3,nz=3,lx=1,ly=1,lz=1,jitter=0.1,material=stable-neo-hookean%s", more);
  return fixture_open(parameters);
}

/* The scene's one collider. */
static eb_collider *collide(fixture *f, const eb_collider *shape) {
  eb_collider *collider = &f->scene->contacts.colliders[0];
  *collider = *shape;
  collider->implicit = true;
  collider->stiffness = 700;
  f->scene->contacts.collider_count = 1;
  return collider;
}

static const char *label(const char *shape, const char *what) {
  static char text[160];
  snprintf(text, sizeof text, "%s: %s", shape, what);
  return text;
}

static double energy_at(const fixture *f, const double *x) {
  eb_touch touches[ROOM];
  return eb_touches_energy(touches, eb_implicit_touches(f->scene, 0, x, ROOM, touches));
}

static int32_t gradient_at(const fixture *f, const double *x, double *g) {
  eb_touch touches[ROOM];
  int32_t count = eb_implicit_touches(f->scene, 0, x, ROOM, touches);
  memset(g, 0, 24 * (size_t)f->scene->mesh->node_count);
  eb_touches_gradient(touches, count, g);
  return count;
}

/* ---- force and matrix ------------------------------------------------------------------------ */

/* Central differences with steps of 1e-6 m of an energy below 100 J have an error of 1e-8 N; the
 * force of the deepest node is some 10 N. Nodes on an edge of the solid, where the distance has a
 * kink, are few (test_collider.c); the block's are none of them. */
static void test_gradient(int s) {
  owned(fixture) f = open_block("");
  eb_collider *collider = collide(&f, &shapes[s]);
  size_t size = 3 * (size_t)f.scene->mesh->node_count;
  owned(double) *g = calloc(size, sizeof *g);
  double worst = 0, largest = 0, h = 1e-6;
  collider->margin = 0.02;
  int32_t count = gradient_at(&f, f.state->x, g);
  for (size_t k = 0; k < size; k++) {
    double kept = f.state->x[k];
    f.state->x[k] = kept + h;
    double above = energy_at(&f, f.state->x);
    f.state->x[k] = kept - h;
    double below = energy_at(&f, f.state->x);
    f.state->x[k] = kept;
    worst = fmax(worst, fabs((above - below) / (2 * h) - g[k]));
    largest = fmax(largest, fabs(g[k]));
  }
  tap_ok(count >= 4 && largest > 1, "%s: %d nodes touch, pushed by up to %.3g N", names[s], count,
         largest);
  tap_below(worst, 1e-6 * largest, label(names[s], "the gradient is that of the energy"));
}

/* With alpha = 0 on a plane nothing is left out: matrix and gradient agree to the rounding of the
 * differences. */
static void test_plane_tangent(void) {
  owned(fixture) f = open_block("");
  collide(&f, &shapes[0]);
  size_t size = 3 * (size_t)f.scene->mesh->node_count;
  owned(double) *up = calloc(size, sizeof *up), *down = calloc(size, sizeof *down);
  double worst = 0, h = 1e-6;
  eb_touch touches[ROOM];
  owned(eb_block_matrix) *A = new_matrix(f.scene->elasticity);
  int32_t count = eb_implicit_touches(f.scene, 0, f.state->x, ROOM, touches);
  eb_touches_matrix(touches, count, 1, A);
  for (size_t k = 0; k < size; k++) {
    double kept = f.state->x[k];
    f.state->x[k] = kept + h;
    gradient_at(&f, f.state->x, up);
    f.state->x[k] = kept - h;
    gradient_at(&f, f.state->x, down);
    f.state->x[k] = kept;
    const double *block = A->values + 9 * (size_t)A->diagonal[k / 3];
    for (size_t i = 0; i < size; i++) {
      double want = i / 3 == k / 3 ? block[3 * (i % 3) + k % 3] : 0;
      worst = fmax(worst, fabs((up[i] - down[i]) / (2 * h) - want));
    }
  }
  tap_below(worst / touches[0].stiffness, 1e-7, "plane, alpha = 0: the matrix is the tangent");
}

/* k P has the eigenvalues alpha k, alpha k, k, and the normal for the last one's eigenvector. */
static void test_matrix_eigenvalues(void) {
  owned(fixture) f = open_block("");
  double worst = 0, skew = 0;
  for (int s = 0; s < SHAPES; s++)
    for (int a = 0; a <= 10; a++) {
      eb_touch touches[ROOM];
      collide(&f, &shapes[s])->isotropy = a / 10.0;
      owned(eb_block_matrix) *A = new_matrix(f.scene->elasticity);
      int32_t count = eb_implicit_touches(f.scene, 0, f.state->x, ROOM, touches);
      eb_touches_matrix(touches, count, 0.5, A);
      for (const eb_touch *at = touches; at < touches + count; at++) {
        double block[9], w[3], k = 0.5 * at->stiffness, along = 0;
        memcpy(block, A->values + 9 * (size_t)A->diagonal[at->node], sizeof block);
        for (int i = 0; i < 9; i++) skew = fmax(skew, fabs(block[i] - block[3 * (i % 3) + i / 3]));
        if (lapack_eigen(3, block, w)) tap_ok(false, "dsyev");
        for (int i = 0; i < 3; i++) along += block[6 + i] * at->normal[i];
        worst = fmax(worst, fabs(w[0] / k - a / 10.0) + fabs(w[1] / k - a / 10.0));
        worst = fmax(worst, fabs(w[2] / k - 1) + (a < 10 ? fabs(fabs(along) - 1) : 0));
      }
    }
  tap_ok(skew == 0, "the matrix is exactly symmetric");
  tap_below(worst, 1e-13, "its eigenvalues are k along the normal and alpha k across, any alpha");
}

static void turn(const double R[9], const double in[3], double out[3]) {
  for (int i = 0; i < 3; i++)
    out[i] = R[3 * i] * in[0] + R[3 * i + 1] * in[1] + R[3 * i + 2] * in[2];
}

/* Body and collider turned together: forces and matrices turn along. */
static void test_rotation(int s) {
  owned(fixture) f = open_block("");
  eb_touch first[ROOM], second[ROOM];
  double R[9], worst = 0, turned[3];
  random_state random = random_seed(4);
  random_rotation(&random, R);
  eb_collider *collider = collide(&f, &shapes[s]);
  int32_t count = eb_implicit_touches(f.scene, 0, f.state->x, ROOM, first);
  for (int32_t i = 0; i < f.scene->mesh->node_count; i++) {
    turn(R, f.state->x + 3 * i, turned);
    memcpy(f.state->x + 3 * i, turned, sizeof turned);
  }
  turn(R, shapes[s].origin, collider->origin);
  turn(R, shapes[s].axis, collider->axis);
  tap_ok(eb_implicit_touches(f.scene, 0, f.state->x, ROOM, second) == count,
         "%s: turned with the body, the same nodes touch", names[s]);
  for (int32_t k = 0; k < count; k++) {
    turn(R, first[k].normal, turned);
    worst = fmax(worst,
                 fabs(first[k].depth - second[k].depth) + 1e3 * (first[k].node != second[k].node));
    for (int d = 0; d < 3; d++) worst = fmax(worst, fabs(turned[d] - second[k].normal[d]));
  }
  /* Normals of a sphere come from a difference of lengths around 0.5: rounding of a few units. */
  tap_below(worst, 1e-14, label(names[s], "as deep, with turned normals"));
}

/* ---- what a scene says of them --------------------------------------------------------------- */

static double force_along_normal(const fixture *f) {
  size_t size = 3 * (size_t)f->scene->mesh->node_count;
  owned(double) *force = calloc(size, sizeof *force);
  double sum = 0;
  eb_scene_force(f->scene, 0, f->state->x, f->state->v, force);
  for (size_t k = 0; k < size; k++) sum += f->scene->contacts.colliders[0].axis[k % 3] * force[k];
  return sum;
}

static void test_scene(void) {
  owned(fixture) f = open_block("");
  eb_collider *collider = collide(&f, &shapes[0]);
  tap_ok(force_along_normal(&f) == 0, "f_ext leaves an implicit collider out");
  tap_ok((eb_scene_needs(f.scene) & EB_CAP_IMPLICIT_PENALTY) &&
             !(eb_scene_needs(f.scene) & EB_CAP_COLLIDERS),
         "its scene asks for implicit penalty contact, not for colliders in f_ext");
  eb_solver *solver;
  eb_error error = eb_solver_create(eb_solver_find("newton"), NULL, f.scene, 1, 0, &solver);
  tap_ok(eb_error_kind(error) == EB_ERR_UNSUPPORTED, "a solver that cannot serve it is refused");
  eb_error_free(error);
  collider->implicit = false;
  tap_ok(force_along_normal(&f) > 1, "the same collider, explicit, pushes in f_ext");
  tap_ok(!(eb_scene_needs(f.scene) & EB_CAP_IMPLICIT_PENALTY), "and needs nothing else");
}

/* ---- which nodes touch ----------------------------------------------------------------------- */

static void test_order_and_room(void) {
  owned(fixture) f = open_block("");
  collide(&f, &shapes[0]);
  f.scene->contacts.colliders[1] = f.scene->contacts.colliders[2] = f.scene->contacts.colliders[0];
  f.scene->contacts.colliders[1].implicit = false;
  f.scene->contacts.collider_count = 3;
  eb_touch touches[ROOM], few[4];
  int32_t count = eb_implicit_touches(f.scene, 0, f.state->x, ROOM, touches), wrong = 0;
  tap_ok(eb_implicit_room(f.scene) > 0, "the scene has implicit contact");
  tap_ok(eb_implicit_room(f.scene) == 2 * 56, "room: 56 surface nodes times 2 implicit colliders");
  tap_ok(count % 2 == 0 && count > 8, "two of three colliders are implicit");
  for (int32_t k = 0; k < count; k++) {
    wrong += f.scene->node_area[touches[k].node] <= 0;
    wrong += k % 2 ? touches[k].node != touches[k - 1].node
                   : k > 0 && touches[k].node <= touches[k - 1].node;
  }
  tap_ok(wrong == 0, "surface nodes only, by rising node");
  few[3].node = -7;
  tap_ok(eb_implicit_touches(f.scene, 0, f.state->x, 3, few) == count && few[3].node == -7,
         "too little room: the number is told, nothing is written beyond");
  f.scene->contacts.colliders[0].implicit = f.scene->contacts.colliders[2].implicit = false;
  tap_ok(eb_implicit_room(f.scene) == 0 &&
             eb_implicit_touches(f.scene, 0, f.state->x, ROOM, touches) == 0,
         "explicit colliders have no touches");
}

static void sinking(double t, const void *script, double offset[3], double velocity[3]) {
  const double *p = script;
  for (int d = 0; d < 3; d++) {
    offset[d] = p[d] * t;
    velocity[d] = p[d];
  }
}

/* One node above a floor that sinks with 1 m/s: the touch holds what brings it to the floor at the
 * end of the step. */
static void test_step_touches(void) {
  owned(fixture) f = open_block("");
  eb_collider *floor = collide(&f, &(eb_collider){.kind = EB_PLANE, .axis = {0, 0, 1}});
  floor->motion = sinking;
  floor->motion_parameters[2] = -1;
  const double dt = 0.01, gap = 0.004;
  size_t nodes = (size_t)f.scene->mesh->node_count;
  eb_touch touch[ROOM];
  for (size_t i = 0; i < nodes; i++) f.state->x[3 * i + 2] += 10;
  f.state->x[2] = gap;
  f.state->v[2] = -1.39;
  tap_ok(eb_implicit_step_touches(f.scene, 0, dt, f.state->x, f.state->v, ROOM, touch) == 0,
         "a node that falls 3.9 mm closer to a floor 4 mm off does not touch");
  f.state->v[2] = -1.41;
  tap_ok(eb_implicit_step_touches(f.scene, 0, dt, f.state->x, f.state->v, ROOM, touch) == 1,
         "one that falls 4.1 mm closer does");
  tap_ok(touch[0].depth == 0, "its depth is 0");
  tap_near(gap + dt * touch[0].velocity[2], -dt * 1, 1e-15,
           "moving with its collider it is on the surface when the step ends");
  tap_ok(eb_implicit_touches(f.scene, 0, f.state->x, ROOM, touch) == 0, "but it is not inside yet");
  f.state->x[2] = -0.003;
  f.state->v[2] = 0.5;
  tap_ok(eb_implicit_step_touches(f.scene, 0, dt, f.state->x, f.state->v, ROOM, touch) == 1 &&
             touch[0].depth == 0.003 && touch[0].velocity[2] == -1,
         "a node inside is touched as deep as it is, also when it leaves");
  f.state->x[2] = NAN;
  tap_ok(eb_implicit_step_touches(f.scene, 0, dt, f.state->x, f.state->v, ROOM, touch) == 0,
         "a place that is no number touches nothing");
}

/* m (v1 - v0) = h k d n - scale k P (v1 - w) for one node, solved by hand in the frame of the
 * normal, against the assembled parts. */
static void test_one_node_step(void) {
  const eb_touch touch = {.node = 0,
                          .depth = 0.01,
                          .stiffness = 300,
                          .isotropy = 0.2,
                          .normal = {0, 0.6, 0.8},
                          .velocity = {0.5, -0.1, 0.3}};
  const double dt = 0.02, scale = 0.7 * dt * dt, mass = 0.3, v0[3] = {1, 2, -3};
  owned(fixture) f = open_block("");
  double b[3], g[3] = {0}, left[3] = {0}, v1[3];
  owned(eb_block_matrix) *A = new_matrix(f.scene->elasticity);
  eb_touches_gradient(&touch, 1, g);
  for (int d = 0; d < 3; d++) b[d] = mass * v0[d] - dt * g[d];
  eb_touches_carry(&touch, 1, scale, b);
  eb_touches_matrix(&touch, 1, scale, A);
  const double *block = A->values + 9 * (size_t)A->diagonal[0];
  double k = scale * touch.stiffness, n0 = 0, nw = 0;
  for (int d = 0; d < 3; d++) {
    n0 += touch.normal[d] * v0[d];
    nw += touch.normal[d] * touch.velocity[d];
  }
  double n1 = (mass * n0 + dt * touch.stiffness * touch.depth + k * nw) / (mass + k);
  for (int d = 0; d < 3; d++) {
    double across0 = v0[d] - n0 * touch.normal[d],
           across = touch.velocity[d] - nw * touch.normal[d];
    v1[d] = n1 * touch.normal[d] + (mass * across0 + 0.2 * k * across) / (mass + 0.2 * k);
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) left[i] += (block[3 * i + j] + (i == j) * mass) * v1[j];
  for (int d = 0; d < 3; d++)
    tap_near(left[d], b[d], 1e-15, "one node's step, component by component");
  tap_near(eb_touch_impulse(&touch, dt, scale, v1), mass * (n1 - n0), 1e-14,
           "the normal impulse is the change of normal momentum");
  tap_ok(eb_touch_impulse(&touch, dt, scale, (double[3]){0, 6000, 8000}) == 0,
         "a collider does not pull");
}

/* ---- friction -------------------------------------------------------------------------------- */

static void frame(const eb_touch *touch, const double v[3], double *along, double across[3]) {
  *along = 0;
  for (int d = 0; d < 3; d++) *along += (v[d] - touch->velocity[d]) * touch->normal[d];
  for (int d = 0; d < 3; d++) across[d] = v[d] - touch->velocity[d] - *along * touch->normal[d];
}

static double length(const double v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Friction on v where the normal impulse is what took a node of 1 kg there from `before`: depth
 * stands for the impulse, with stiffness and step of 1. */
static void rub(const eb_touch *touch, const double before[3], double v[3]) {
  const double mass = 1;
  eb_touch pressed = *touch;
  pressed.stiffness = 1;
  pressed.depth = 0;
  for (int d = 0; d < 3; d++) pressed.depth += touch->normal[d] * (v[d] - before[d]);
  eb_touches_friction(&pressed, 1, 1, 0, &mass, v);
}

/* Random velocities, normals, colliders' velocities and mu: Coulomb's law in all its parts. */
static void test_coulomb(void) {
  random_state random = random_seed(8);
  double normal = 0, beyond = 0, sideways = 0, unused = 0;
  int stuck = 0, slid = 0, reversed = 0;
  for (int trial = 0; trial < 20000; trial++) {
    eb_touch touch = {.friction = random_uniform(&random, 0, 2)};
    double before[3], v[3], after[3], n0, n1, n2, t1[3], t2[3], unit[3];
    random_direction(&random, 3, touch.normal);
    for (int d = 0; d < 3; d++) {
      touch.velocity[d] = random_uniform(&random, -1, 1);
      before[d] = random_uniform(&random, -1, 1);
      v[d] = random_uniform(&random, -1, 1);
    }
    memcpy(after, v, sizeof v);
    rub(&touch, before, after);
    frame(&touch, before, &n0, unit);
    frame(&touch, v, &n1, t1);
    frame(&touch, after, &n2, t2);
    double bound = touch.friction * fmax(0, n1 - n0), taken = length(t1) - length(t2), cross = 0;
    for (int d = 0; d < 3; d++) cross += t1[d] * t2[d];
    normal = fmax(normal, fabs(n2 - n1));
    beyond = fmax(beyond, taken - bound);
    sideways = fmax(sideways, length(t1) * length(t2) - cross);
    reversed += cross < -1e-15;
    if (length(t2) < 1e-14) {
      stuck++;
    } else {
      slid++;
      unused = fmax(unused, bound - taken);
    }
  }
  tap_below(normal, 1e-14, "friction leaves the normal velocity alone");
  tap_below(beyond, 1e-14, "it takes no more than mu times the change of normal velocity");
  tap_below(unused, 1e-14, "and all of that while the node slides");
  tap_below(sideways, 1e-14, "it acts against the slip");
  tap_ok(reversed == 0, "and never reverses it");
  tap_ok(stuck > 1000 && slid > 1000, "both kinds were met (%d stuck, %d slid)", stuck, slid);
}

static void test_friction_cases(void) {
  eb_touch floor = {.friction = 0.5, .normal = {0, 0, 1}, .velocity = {2, 0, 0}};
  const double falling[3] = {2.3, 0.4, -1.2};
  double v[3] = {2.3, 0.4, 0};
  rub(&floor, falling, v);
  tap_ok(fabs(v[0] - 2) < 1e-15 && fabs(v[1]) < 1e-15,
         "slip 0.5 within mu 1.2: it sticks to the moving floor");
  double w[3] = {2.6, 0.8, 0};
  rub(&floor, falling, w);
  tap_near(w[0], 2.24, 1e-15, "slip 1, mu 1.2 = 0.6: 0.4 of it are left, along x");
  tap_near(w[1], 0.32, 1e-15, "and along y");
  floor.friction = 0;
  double u[3] = {5, 6, 7};
  rub(&floor, falling, u);
  tap_ok(u[0] == 5 && u[1] == 6 && u[2] == 7, "mu = 0: nothing changes, bit by bit");
  floor.friction = 0.5;
  rub(&floor, (double[3]){0, 0, 9}, u);
  tap_ok(u[0] == 5 && u[1] == 6 && u[2] == 7, "no push, no friction");
  double s[3] = {2, 0, 0};
  rub(&floor, falling, s);
  tap_ok(s[0] == 2 && s[1] == 0 && s[2] == 0, "without slip nothing is divided by it");
  double x[3] = {NAN, 1, 0};
  rub(&floor, falling, x);
  tap_ok(isnan(x[0]), "a velocity that is no number stays one");
}

/* Friction of a whole field: mu times the impulse over the mass; a node between floor and wall has
 * both, from one velocity. */
static void test_field(void) {
  const eb_touch touches[3] = {
      {.node = 1, .depth = 0.01, .stiffness = 100, .friction = 0.5, .normal = {0, 0, 1}},
      {.node = 2, .depth = 0.01, .stiffness = 100, .friction = 0.5, .normal = {0, 0, 1}},
      {.node = 2, .depth = 0.02, .stiffness = 100, .friction = 0.5, .normal = {1, 0, 0}}};
  const double mass[3] = {1, 2, 4}, dt = 0.1;
  double v[9] = {1, 2, 3, 1, 0, 0, 0, 1, 0};
  eb_touches_friction(touches, 3, dt, 0, mass, v);
  tap_ok(v[0] == 1 && v[1] == 2 && v[2] == 3, "a node that does not touch keeps its velocity");
  tap_near(v[3], 1 - 0.5 * 0.1 / 2, 1e-15, "0.1 N s on 2 kg, mu = 0.5: 0.025 m/s");
  tap_near(v[7], 1 - 0.5 * 0.1 / 4 - 0.5 * 0.2 / 4, 1e-15, "floor and wall brake together");
}

int main(void) {
  for (int s = 0; s < SHAPES; s++) {
    test_gradient(s);
    test_rotation(s);
  }
  test_plane_tangent();
  test_matrix_eigenvalues();
  test_scene();
  test_order_and_room();
  test_step_touches();
  test_one_node_step();
  test_coulomb();
  test_friction_cases();
  test_field();
  return tap_done();
}
