/* Scenes of bodies in contact: the paper's counts, what every start keeps free, scripts that do not
 * jump, the same problem from the same seed. */
#include <math.h>

#include "problems/base/sanitizer.h"
#include "problems/mesh/cut.h"
#include "problems/scenes/common.h"
#include "tests/support/scene_fixture.h"
#include "tests/support/random.h"
#include "tests/support/surface_distance.h"

#if EB_SANITIZER
enum { LAYERS = 3, BODIES = 40 };
#else
enum { LAYERS = 7, BODIES = 120 };
#endif

/* ---- the paper's counts ---------------------------------------------------------------------- */

static void test_counts(const char *name, const char *parameters, int32_t bodies,
                        int32_t tetrahedra, int32_t faces) {
  eb_scene *scene = make(name, parameters);
  tap_ok(pieces(scene->mesh) == bodies, "%s: %d bodies", name, bodies);
  tap_ok(scene->mesh->element_count == bodies * tetrahedra, "%s: %d tetrahedra", name,
         bodies * tetrahedra);
  tap_ok(scene->surface->triangle_count == bodies * faces, "%s: %d faces", name, bodies * faces);
  tap_succeeds(eb_surface_validate(scene->surface, true), label(name, "surfaces are closed"));
  eb_scene_destroy(scene);
}

/* ---- clearance ------------------------------------------------------------------------------- */

/* Everything that has a surface, at the start: of bodies one after the other, then of obstacles. */
typedef struct soup {
  int32_t count;     /* triangles */
  double (*X)[3][3]; /* corners */
  double (*box)[2][3];
  int32_t *part; /* body; obstacles -1, -2, ... */
} soup;

static void add_triangle(soup *s, const double *x, const int32_t corner[3], int32_t part) {
  for (int d = 0; d < 3; d++) {
    s->box[s->count][0][d] = INFINITY, s->box[s->count][1][d] = -INFINITY;
    for (int k = 0; k < 3; k++) {
      double at = s->X[s->count][k][d] = x[3 * corner[k] + d];
      s->box[s->count][0][d] = fmin(s->box[s->count][0][d], at);
      s->box[s->count][1][d] = fmax(s->box[s->count][1][d], at);
    }
  }
  s->part[s->count++] = part;
}

static soup soup_of(const eb_scene *scene) {
  int32_t triangles = scene->surface->triangle_count;
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++)
    triangles += scene->contacts.obstacles[o].surface->triangle_count;
  size_t size = (size_t)triangles;
  soup s = {0, malloc(size * sizeof *s.X), malloc(size * sizeof *s.box), malloc(4 * size)};
  int32_t *part = malloc(4 * (size_t)scene->mesh->node_count);
  eb_mesh_components(scene->mesh, part);
  for (int32_t t = 0; t < scene->surface->triangle_count; t++) {
    int32_t corner[3];
    for (int k = 0; k < 3; k++)
      corner[k] = scene->surface->node[scene->surface->triangles[3 * t + k]];
    add_triangle(&s, scene->x0, corner, part[corner[0]]);
  }
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++) {
    const eb_surface *surface = scene->contacts.obstacles[o].surface;
    double *x = malloc(24 * (size_t)surface->vertex_count);
    eb_obstacle_place(&scene->contacts.obstacles[o], 0, x);
    for (int32_t t = 0; t < surface->triangle_count; t++)
      add_triangle(&s, x, surface->triangles + 3 * t, -1 - o);
    free(x);
  }
  free(part);
  return s;
}

static bool near(double a[2][3], double b[2][3], double reach) {
  for (int d = 0; d < 3; d++)
    if (a[0][d] > b[1][d] + reach || b[0][d] > a[1][d] + reach) return false;
  return true;
}

/* The smallest distance of two parts, looked for up to `reach`. Obstacles may touch each other. */
static double clearance(const soup *s, double reach) {
  double least = reach;
  for (int32_t i = 0; i < s->count; i++)
    for (int32_t j = 0; j < i; j++) {
      if (s->part[i] == s->part[j] || (s->part[i] < 0 && s->part[j] < 0)) continue;
      if (!near(s->box[i], s->box[j], least)) continue;
      const double *a[3] = {s->X[i][0], s->X[i][1], s->X[i][2]};
      const double *b[3] = {s->X[j][0], s->X[j][1], s->X[j][2]};
      least = fmin(least, triangle_distance(a, b));
    }
  return least;
}

static void test_clearance(const char *name, const char *parameters) {
  eb_scene *scene = make(name, parameters);
  soup s = soup_of(scene);
  double least = clearance(&s, 1e-3);
  tap_ok(least > 2e-4, "%s:%s: surfaces start %g m apart or more", name, parameters, least);
  free(s.part);
  free(s.box);
  free(s.X);
  eb_scene_destroy(scene);
}

/* The measure itself, on triangles of known distance. */
static void test_measure(void) {
  static const double base[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  static const struct {
    double X[3][3], distance;
    const char *what;
  } others[] = {
      {{{0.2, 0.2, 0.5}, {1, 1, 2}, {0, 0, 2}}, 0.5, "a corner over the face"},
      {{{0.2, 0.2, -0.5}, {0.2, 0.3, 2}, {2, 2, 2}}, 0, "an edge through the face"},
      {{{0.5, -0.5, 0.3}, {0.5, 0.5, 0.3}, {0.5, -3, 5}}, 0.3, "an edge over an edge"},
      {{{2, 0, 0}, {3, 0, 0}, {3, 1, 0}}, 1, "two corners in one plane"},
  };
  for (int i = 0; i < 4; i++) {
    const double *a[3] = {base[0], base[1], base[2]};
    const double *b[3] = {others[i].X[0], others[i].X[1], others[i].X[2]};
    tap_near(triangle_distance(a, b), others[i].distance, 1e-15, others[i].what);
    tap_near(triangle_distance(b, a), others[i].distance, 1e-15, others[i].what);
  }
}

/* ---- placing at random ----------------------------------------------------------------------- */

static void test_seeds(void) {
  eb_scene *one = make("verschoor2019/rings", "bodies=8"),
           *same = make("verschoor2019/rings", "bodies=8,seed=1"),
           *other = make("verschoor2019/rings", "bodies=8,seed=2"),
           *fewer = make("verschoor2019/rings", "bodies=3");
  tap_ok(one->hash == same->hash, "the same seed is the same problem");
  tap_ok(one->hash != other->hash, "another seed is another");
  tap_ok(!memcmp(one->x0, fewer->x0, 24 * (size_t)fewer->mesh->node_count),
         "fewer bodies are the first of many");
  eb_scene_destroy(one);
  eb_scene_destroy(same);
  eb_scene_destroy(other);
  eb_scene_destroy(fewer);
}

/* The axis of a turned ring is uniform on the sphere: its z has mean square 1/3, with a deviation
 * of 2 / sqrt(45 n) for n rings. Edges keep their lengths. */
static void test_turns(void) {
  double square = 0, stretched = 0;
  enum { SEEDS = 20, RINGS = 20, NODES = 72 };
  for (int seed = 0; seed < SEEDS; seed++) {
    char parameters[64];
    snprintf(parameters, sizeof parameters, "bodies=%d,seed=%d", RINGS, seed);
    eb_scene *scene = make("verschoor2019/rings", parameters);
    for (int b = 0; b < RINGS; b++) {
      const double *X = scene->mesh->X + 3 * NODES * b; /* nodes 0 and 1 lie along the axis */
      double axis[3];
      between3(X, X + 3, axis);
      double length = sqrt(eb_dot3(axis, axis));
      square += axis[2] * axis[2] / (length * length) / (SEEDS * RINGS);
      stretched = fmax(stretched, fabs(length - 0.3 * 0.07));
    }
    eb_scene_destroy(scene);
  }
  tap_below(stretched, 1e-15, "turned rings keep their size");
  tap_near(square, 1. / 3, 3 * 2 / sqrt(45. * SEEDS * RINGS), "and look everywhere alike");
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* |M g h|_2 over the nodes of the scene's first body, from the volumes of its elements. */
static double weight_in_a_step(const eb_scene *scene) {
  int32_t *part = malloc(4 * (size_t)scene->mesh->node_count);
  double *mass = calloc((size_t)scene->mesh->node_count, 8), square = 0;
  eb_mesh_components(scene->mesh, part);
  for (int32_t e = 0; e < scene->mesh->element_count; e++) {
    const int32_t *node = scene->mesh->elements + 4 * e;
    const double *X = scene->mesh->X;
    double a[3], b[3], c[3], n[3];
    between3(X + 3 * node[0], X + 3 * node[1], a);
    between3(X + 3 * node[0], X + 3 * node[2], b);
    between3(X + 3 * node[0], X + 3 * node[3], c);
    eb_cross3(a, b, n);
    for (int k = 0; k < 4; k++) mass[node[k]] += 1000 * fabs(eb_dot3(n, c)) / 24;
  }
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    if (part[i] == 0) square += pow(mass[i] * 9.81 * scene->dt, 2);
  free(mass);
  free(part);
  return sqrt(square);
}

static double weight_at(const char *name, const char *parameters, double scale) {
  char scaled[128];
  snprintf(scaled, sizeof scaled, "%s,scale=%g", parameters, scale);
  eb_scene *scene = make(name, scaled);
  double weight = weight_in_a_step(scene);
  eb_scene_destroy(scene);
  return weight;
}

/* The paper's tolerance tells whether a body of every scene falls at the scale that all have, 0.3,
 * and not at 0.2 whether a crate does. */
static void test_weights(void) {
  static const struct {
    const char *name, *one;
  } scenes[] = {{"verschoor2019/rings", "bodies=1"},
                {"verschoor2019/rings-stiff", "bodies=1"},
                {"verschoor2019/bunnies", "bodies=1"},
                {"verschoor2019/wedge", "bodies=1"},
                {"verschoor2019/pyramid", "layers=1"}};
  const double eps1 = 5e-5;
  for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
    eb_scene *scene = make(scenes[s].name, scenes[s].one);
    double weight = weight_in_a_step(scene);
    tap_ok(weight > eps1, "%s: a body's weight is above the tolerance", scenes[s].name);
    tap_near(weight / weight_at(scenes[s].name, scenes[s].one, 0.6), 0.125, 1e-12,
             label(scenes[s].name, "scale is one of lengths"));
    eb_scene_destroy(scene);
  }
  tap_below(weight_at("verschoor2019/pyramid", "layers=1", 0.2), eps1, "that of a smaller crate");
}

/* ---- single scenes --------------------------------------------------------------------------- */

/* The plane falls by the angle towards the direction, and the block lies along it. */
static void test_incline(void) {
  const double pi = 3.14159265358979323846, angle = 20 * pi / 180, to = 70 * pi / 180;
  eb_scene *scene = make("verschoor2019/incline", "angle=20,direction=70,mu=0.3");
  tap_ok(scene->contacts.friction.common == 0.3, "the incline's mu is the parameter's");
  const double n[3] = {sin(angle) * cos(to), sin(angle) * sin(to), cos(angle)};
  const eb_surface *plane = scene->contacts.obstacles[0].surface;
  double top = -INFINITY, low = INFINITY, spread = 0, lowest = INFINITY;
  for (int32_t v = 0; v < plane->vertex_count; v++) top = fmax(top, eb_dot3(n, plane->X + 3 * v));
  for (int32_t v = 0; v < plane->vertex_count; v++) {
    double off = top - eb_dot3(n, plane->X + 3 * v);
    spread = fmax(spread, fmin(off, fabs(off - 0.2)));
  }
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    low = fmin(low, eb_dot3(n, scene->x0 + 3 * i));
    lowest = fmin(lowest, scene->x0[3 * i + 2]);
  }
  tap_below(spread, 1e-13, "the incline has the normal (sin a cos d, sin a sin d, cos a)");
  tap_near(low - top, 3e-4, 1e-12, "the block starts over it");
  tap_below(lowest, -0.05, "with a corner below its middle");
  eb_scene_destroy(scene);
}

/* The larger of: how far scripted obstacles move within 0.1 us, at 400 times of the run. They are
 * slower than 4 m/s. */
static void test_obstacles(const char *name, const char *parameters, int32_t count) {
  eb_scene *scene = make(name, parameters);
  double end = (double)scene->ops->steps * scene->dt, worst = 0;
  tap_ok(scene->contacts.obstacle_count == count, "%s: %d obstacles", name, count);
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++) {
    const eb_obstacle *obstacle = &scene->contacts.obstacles[o];
    tap_succeeds(eb_surface_validate(obstacle->surface, true), label(name, "obstacles are closed"));
    size_t size = 3 * (size_t)obstacle->surface->vertex_count;
    double *from = malloc(8 * size), *to = malloc(8 * size);
    for (int k = 0; k <= 400; k++) {
      eb_obstacle_place(obstacle, end * k / 400, from);
      eb_obstacle_place(obstacle, end * k / 400 + 1e-7, to);
      for (size_t i = 0; i < size; i++) worst = fmax(worst, fabs(to[i] - from[i]));
    }
    free(to);
    free(from);
  }
  tap_below(worst, 4e-7, label(name, "obstacles move continuously"));
  eb_scene_destroy(scene);
}

/* Place of a vertex of an obstacle, and its velocity by a central difference. */
static void vertex_at(const eb_obstacle *obstacle, int32_t vertex, double t, double x[3],
                      double v[3]) {
  const double h = 1e-6;
  size_t bytes = 24 * (size_t)obstacle->surface->vertex_count;
  double *place = malloc(bytes);
  eb_obstacle_place(obstacle, t - h, place);
  for (int d = 0; d < 3; d++) v[d] = -place[3 * vertex + d] / (2 * h);
  eb_obstacle_place(obstacle, t + h, place);
  eb_add3(1 / (2 * h), place + 3 * vertex, v);
  eb_obstacle_place(obstacle, t, place);
  for (int d = 0; d < 3; d++) x[d] = place[3 * vertex + d];
  free(place);
}

/* The velocity of every vertex is w about the y axis through (x, 0, 0), w = side speed / radius: up
 * where the rollers meet. */
static void test_armadillo(void) {
  eb_scene *scene = make("verschoor2019/armadillo", "resolution=0.02,gap=0.3,speed=0.2");
  for (int o = 0; o < 2; o++) {
    const eb_obstacle *roller = &scene->contacts.obstacles[o];
    double worst = 0, inner = INFINITY, side = o == 0 ? 1 : -1;
    for (int32_t i = 0; i < roller->surface->vertex_count; i += 7) {
      double x[3], v[3], spin = side * 0.2 / 0.5;
      vertex_at(roller, i, 2, x, v);
      inner = fmin(inner, side * x[0]);
      worst = fmax(worst, fabs(v[0] - spin * x[2]) + fabs(v[1]) +
                              fabs(v[2] + spin * (x[0] - side * 0.65)));
    }
    tap_below(worst, 1e-8, "rollers turn into the gap with the speed asked for (differences)");
    tap_near(inner, 0.15, 0.015, "and leave the gap"); /* some of 96 corners a round */
  }
  size_t nodes = (size_t)scene->mesh->node_count;
  uint8_t *fixed = malloc(nodes);
  double *target = malloc(24 * nodes), off = 0, aside = 0;
  int left = 0, right = 0;
  eb_scene_boundary(scene, 2, fixed, target);
  for (size_t i = 0; i < nodes; i++) {
    if (!fixed[i]) continue;
    left += target[3 * i + 1] > 0, right += target[3 * i + 1] < 0;
    off = fmax(off, fabs(target[3 * i + 2] - scene->x0[3 * i + 2] - 0.2 * (2 - 0.25)));
    aside = fmax(aside, fabs(target[3 * i]));
  }
  tap_ok(left >= 4 && right >= 4, "both ankles are held (%d and %d nodes)", left, right);
  tap_below(off, 1e-12, "and drawn as fast");
  tap_below(aside, 0.15, "in the gap");
  free(target);
  free(fixed);
  eb_scene_destroy(scene);
}

static void test_bearing(void) {
  eb_scene *scene = make("verschoor2019/bearing", "resolution=0.1,squeeze=0.05,speed=2");
  const eb_surface *core = scene->contacts.obstacles[1].surface;
  double wide = 0, worst = 0, low = INFINITY, narrow = INFINITY;
  for (int32_t i = 0; i < core->vertex_count; i++) {
    double x[3], v[3];
    vertex_at(&scene->contacts.obstacles[1], i, 1, x, v);
    wide = fmax(wide, hypot(x[0], x[1]));
    low = fmin(low, x[2]);
    worst = fmax(worst, fabs(v[0] + 2 * x[1]) + fabs(v[1] - 2 * x[0]) + fabs(v[2]));
  }
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    narrow = fmin(narrow, hypot(scene->x0[3 * i], scene->x0[3 * i + 1]));
  tap_below(worst, 1e-8, "the core turns about z with the speed asked for (differences)");
  tap_near(low + wide, 0, 1e-12, "in the plane of the balls");
  /* A ball of 6 elements across is up to 1 cm short of a sphere. */
  tap_near(wide - narrow, 0.05 * 0.15, 0.01, "where they have to give way");
  eb_scene_destroy(scene);
}

static void test_strings(void) {
  eb_scene *scene = make("verschoor2019/strings", "resolution=0.3,release=0.8");
  size_t nodes = (size_t)scene->mesh->node_count;
  uint8_t *fixed = malloc(nodes);
  double *target = malloc(24 * nodes);
  int held = 0, late = 0;
  eb_scene_boundary(scene, 0.8, fixed, target);
  for (size_t i = 0; i < nodes; i++) held += fixed[i];
  eb_scene_boundary(scene, 0.8 + scene->dt, fixed, target);
  for (size_t i = 0; i < nodes; i++) late += fixed[i];
  tap_ok(held >= 2 * 4 * 4 && late == 0, "eight ends are held, and let go");
  free(target);
  free(fixed);
  eb_scene_destroy(scene);
}

/* Both plates turn about one line; at the end, their inner faces lean by the angle asked for. */
static void test_wedge(void) {
  eb_scene *scene = make("verschoor2019/wedge", "bodies=3,angle=20");
  for (int o = 0; o < 4; o += 2) {
    const eb_surface *plate = scene->contacts.obstacles[o].surface;
    double off = 0, lean = 0, v[3];
    for (int32_t i = 0; i < plate->vertex_count; i++) {
      const double *X = plate->X + 3 * i;
      double before[3], after[3];
      vertex_at(&scene->contacts.obstacles[o], i, 0.1, before, v);
      vertex_at(&scene->contacts.obstacles[o], i, 1.9, after, v);
      if (X[0] != 0) continue;
      if (X[2] == 0)
        off = fmax(off, fmax(fabs(after[0]), fabs(after[2] - before[2])));
      else
        lean = atan2(after[0], after[2] + 0.3 * 2.8 * 0.375) * 180 / 3.14159265358979323846;
    }
    tap_below(off, 1e-12, "the edge of the wedge stays");
    tap_near(fabs(lean), 20, 1e-9, "its plates close");
  }
  eb_scene_destroy(scene);
}

static void test_stack(void) {
  eb_scene *scene = make("verschoor2019/stack", NULL);
  tap_ok(scene->rigid.free_bodies && scene->rigid.free_bodies->count == 10, "ten rigid boxes");
  for (int b = 0; scene->rigid.free_bodies && b < scene->rigid.free_bodies->count; b++)
    tap_near(scene->rigid.free_bodies->body[b].mass, 62.5, 1e-10, "of 62.5 kg");
  eb_scene_destroy(scene);
}

/* Of 3 s^2 - 2 s^3, by Simpson's rule, which is exact for it. */
static void test_ramp_integral(void) {
  double worst = 0, sum = 0;
  for (int k = 0; k < 40; k++) { /* the ramp begins at step 5 and ends at step 25 */
    double a = 0.1 * k, b = a + 0.1, m = 0.5 * (a + b);
    sum += (eb_ramp(a, 0.5, 2.5) + 4 * eb_ramp(m, 0.5, 2.5) + eb_ramp(b, 0.5, 2.5)) * 0.1 / 6;
    worst = fmax(worst, fabs(eb_ramp_integral(b, 0.5, 2.5) - sum));
  }
  tap_below(worst, 1e-14, "a speed that sets in gives the way that it should");
}

static void test_bad_parameters(void) {
  static const struct {
    const char *scene, *parameters, *message, *name;
  } bad[] = {
      {"verschoor2019/rings", "bodies=121", "bodies = 121", "more rings than there are cells"},
      {"verschoor2019/rings", "resolution=0.1", "resolution", "a ring of two cubes"},
      {"verschoor2019/pyramid", "layers=8", "layers = 8", "a pyramid too high"},
      {"verschoor2019/pyramid", "gap=0", "gap = 0", "crates that touch at first"},
      {"verschoor2019/incline", "angle=90", "angle = 90", "a wall for an incline"},
      {"verschoor2019/incline", "mu=-1", "mu = -1", "friction that pushes"},
      {"verschoor2019/armadillo", "gap=0.01", "gap = 0.01", "a gap that ankles do not go through"},
      {"verschoor2019/bearing", "squeeze=0.5", "squeeze = 0.5", "balls squeezed to half"},
      {"verschoor2019/wedge", "angle=40", "angle = 40", "a wedge that opens"},
      {"verschoor2019/stack", "bodies=21", "bodies = 21", "a tower"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    tap_fails(attempt(bad[i].scene, bad[i].parameters, NULL), EB_ERR_USAGE, bad[i].message,
              bad[i].name);
}

int main(void) {
  fixture_open();
  char layers[32], bodies[32];
  snprintf(layers, sizeof layers, "layers=%d", LAYERS);
  snprintf(bodies, sizeof bodies, "bodies=%d", BODIES);
  test_counts("verschoor2019/rings", bodies, BODIES, 108, 144);
  test_counts("verschoor2019/pyramid", layers, LAYERS * (LAYERS + 1) * (2 * LAYERS + 1) / 6, 432,
              528);
  test_measure();
  test_weights();
  test_clearance("verschoor2019/rings", "");
  test_clearance("verschoor2019/rings", "bodies=40,resolution=0.25,seed=5");
  test_clearance("verschoor2019/rings", "bodies=40,scale=0.1");
  test_clearance("verschoor2019/rings-stiff", "bodies=20,seed=3");
  test_clearance("verschoor2019/pyramid", "layers=3,gap=3e-4");
  test_clearance("verschoor2019/incline", "angle=30");
  test_clearance("verschoor2019/bunnies", "bodies=20,resolution=0.3");
  test_clearance("verschoor2019/bearing", "resolution=0.5");
  test_clearance("verschoor2019/armadillo", "resolution=0.05,gap=0.45");
  test_clearance("verschoor2019/armadillo", "resolution=0.01,gap=0.2");
  test_clearance("verschoor2019/stack", "");
  test_clearance("verschoor2019/strings", "resolution=0.5");
  test_clearance("verschoor2019/wedge", "resolution=0.34,bodies=120");
  test_obstacles("verschoor2019/rings", "bodies=1", 1);
  test_obstacles("verschoor2019/pyramid", "layers=1", 1);
  test_obstacles("verschoor2019/incline", "", 1);
  test_obstacles("verschoor2019/bearing", "resolution=0.1", 2);
  test_obstacles("verschoor2019/armadillo", "resolution=0.02", 2);
  test_obstacles("verschoor2019/wedge", "bodies=1", 4);
  test_obstacles("verschoor2019/strings", "resolution=0.3", 0);
  test_armadillo();
  test_bearing();
  test_strings();
  test_wedge();
  test_stack();
  test_ramp_integral();
  test_seeds();
  test_turns();
  test_incline();
  test_bad_parameters();
  return fixture_close();
}
