/* Scenes of bodies in contact: the paper's counts, what every start keeps free, scripts that do not jump, the same problem from the same seed. */
#include <math.h>

#include "problems/mesh/cut.h"
#include "tests/scene_fixture.h"
#include "tests/support/random.h"
#include "tests/surface_distance.h"

#ifdef __SANITIZE_ADDRESS__
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
  for (int32_t o = 0; o < scene->obstacle_count; o++)
    triangles += scene->obstacles[o].surface->triangle_count;
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
  for (int32_t o = 0; o < scene->obstacle_count; o++) {
    const eb_surface *surface = scene->obstacles[o].surface;
    double *x = malloc(24 * (size_t)surface->vertex_count);
    eb_obstacle_place(&scene->obstacles[o], 0, x);
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

/* The axis of a turned ring is uniform on the sphere: its z has mean square 1/3, with a deviation of 2 / sqrt(45 n) for n rings. Edges keep their
 * lengths. */
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
      stretched = fmax(stretched, fabs(length - 0.014));
    }
    eb_scene_destroy(scene);
  }
  tap_below(stretched, 1e-15, "turned rings keep their size");
  tap_near(square, 1. / 3, 3 * 2 / sqrt(45. * SEEDS * RINGS), "and look everywhere alike");
}

/* ---- single scenes --------------------------------------------------------------------------- */

/* The plane falls by the angle towards the direction, and the block lies along it. */
static void test_incline(void) {
  const double pi = 3.14159265358979323846, angle = 20 * pi / 180, to = 70 * pi / 180;
  eb_scene *scene = make("verschoor2019/incline", "angle=20,direction=70,mu=0.3");
  tap_ok(scene->contact_friction == 0.3, "the incline's mu is the parameter's");
  const double n[3] = {sin(angle) * cos(to), sin(angle) * sin(to), cos(angle)};
  const eb_surface *plane = scene->obstacles[0].surface;
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
  tap_below(lowest, -0.01, "with a corner below its middle");
  eb_scene_destroy(scene);
}

static void test_bad_parameters(void) {
  tap_fails(attempt("verschoor2019/rings", "bodies=121", NULL), EB_ERR_USAGE, "bodies = 121",
            "more rings than there are cells");
  tap_fails(attempt("verschoor2019/rings", "resolution=0.1", NULL), EB_ERR_USAGE, "resolution",
            "a ring of two cubes");
  tap_fails(attempt("verschoor2019/pyramid", "layers=8", NULL), EB_ERR_USAGE, "layers = 8",
            "a pyramid too high");
  tap_fails(attempt("verschoor2019/pyramid", "gap=0", NULL), EB_ERR_USAGE, "gap = 0",
            "crates that touch at first");
  tap_fails(attempt("verschoor2019/incline", "angle=90", NULL), EB_ERR_USAGE, "angle = 90",
            "a wall for an incline");
  tap_fails(attempt("verschoor2019/incline", "mu=-1", NULL), EB_ERR_USAGE, "mu = -1",
            "friction that pushes");
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
  test_clearance("verschoor2019/rings", "");
  test_clearance("verschoor2019/rings", "bodies=40,resolution=0.25,seed=5");
  test_clearance("verschoor2019/rings-stiff", "bodies=20,seed=3");
  test_clearance("verschoor2019/pyramid", "layers=3,gap=3e-4");
  test_clearance("verschoor2019/incline", "angle=30");
  test_seeds();
  test_turns();
  test_incline();
  test_bad_parameters();
  return fixture_close();
}
