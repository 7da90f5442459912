/* What the scenes of lewin2016 promise beyond those of every scene: counts of the thesis, paths of
 * scripted nodes, loads, contact stiffness, shapes of single hexahedra. */
#include "problems/base/vector3.h"
#include "tests/support/scene_fixture.h"

static const double pi = 3.14159265358979323846;

static void test_counts(void) {
  static const struct {
    const char *scene, *parameters;
    int32_t nodes, elements;
  } wanted[] = {{"lewin2016/bend-c", "element=hexahedra", 320, 171},
                {"lewin2016/bend-c", "element=tetrahedra", 320, 855},
                {"lewin2016/bend-c", "element=fine-tetrahedra", 33 * 7 * 5, 3840},
                {"lewin2016/steel-block", NULL, 2197, 1728},
                {"lewin2016/hanging-sheet", NULL, 33 * 33 * 2, 1024},
                {"lewin2016/net", NULL, 17 * 17 * 2, 1280},
                {"lewin2016/pbfe-scale", "cubes=7", 512, 343}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    eb_scene *scene = make(wanted[i].scene, wanted[i].parameters);
    tap_ok(scene->mesh->node_count == wanted[i].nodes &&
               scene->mesh->element_count == wanted[i].elements,
           "%s, %s: %d nodes, %d elements", wanted[i].scene,
           wanted[i].parameters ? wanted[i].parameters : "as it is", wanted[i].nodes,
           wanted[i].elements);
    eb_scene_destroy(scene);
  }
}

/* The apex is above the base, in its plane, below it and back, always as far from its centre. */
static void test_flip(void) {
  eb_scene *scene = make("lewin2016/tet-flip", NULL);
  uint8_t fixed[4];
  double target[12], lap = 72 * scene->dt, height = sqrt(2.0 / 3), off = 0;
  static const double sine[5] = {0, 1, 0, -1, 0}, cosine[5] = {1, 0, -1, 0, 1};
  for (int k = 0; k < 5; k++) {
    eb_scene_boundary(scene, k * lap / 4, fixed, target);
    off = fmax(off, fabs(target[9] - height * sine[k]) + fabs(target[10]) +
                        fabs(target[11] - height * cosine[k]));
  }
  tap_below(off, 1e-14, "the apex makes a lap");
  tap_near(eb_mesh_element_volume(scene->mesh, scene->mesh->X, 0), 1 / (6 * sqrt(2)), 1e-15,
           "the tetrahedron is regular, with unit edges");
  eb_scene_destroy(scene);
}

static void test_turn(void) {
  eb_scene *scene = make("lewin2016/hex-turn", "stretch=1.5,angle=4");
  uint8_t fixed[8];
  double before[24], after[24], off = 0, turn[9], angle = 4 * pi / 180;
  const double expected[9] = {cos(angle), 0, sin(angle), 0, 1, 0, -sin(angle), 0, cos(angle)};
  eb_scene_boundary(scene, scene->dt, fixed, before);
  eb_scene_boundary(scene, 2 * scene->dt, fixed, after);
  memcpy(turn, expected, sizeof turn);
  for (int i = 0; i < 8; i++) {
    const double *X = scene->mesh->X + 3 * i, x[3] = {1.5 * X[0], X[1], 1.5 * X[2]};
    double turned[3];
    eb_turn3(turn, x, turned);
    off = fmax(off, sqrt(eb_squared_distance3(before + 3 * i, x)) +
                        sqrt(eb_squared_distance3(after + 3 * i, turned)));
  }
  tap_below(off, 1e-15, "the cube stands for a step, stretched, and turns in the next");
  eb_scene_destroy(scene);
}

/* The end faces are cross-sections of an arc whose middle line is as long as the bar: its radius is
 * length / angle, and the tangent there has turned by half the angle. */
static void test_bend(void) {
  static const double degrees[3] = {90, 180, 270};
  for (int k = 0; k < 3; k++) {
    char text[32];
    snprintf(text, sizeof text, "angle=%g", degrees[k]);
    eb_scene *scene = make("lewin2016/bend-c", text);
    int32_t nodes = scene->mesh->node_count;
    uint8_t *fixed = malloc((size_t)nodes);
    double *x = malloc(24 * (size_t)nodes), angle = degrees[k] * pi / 180, worst = 0;
    double radius = 0.95 / angle;
    eb_scene_boundary(scene, 5, fixed, x);
    for (int32_t i = 0; i < nodes; i++) {
      if (!fixed[i]) continue;
      const double *X = scene->mesh->X + 3 * i;
      double at = (X[0] > 0 ? 0.5 : -0.5) * angle, out = radius + X[2];
      const double place[3] = {out * sin(at), X[1], out * cos(at) - radius};
      worst = fmax(worst, sqrt(eb_squared_distance3(place, x + 3 * i)));
    }
    tap_below(worst, 1e-14, label(text, "both end faces stand on the arc"));
    free(x);
    free(fixed);
    eb_scene_destroy(scene);
  }
}

/* Alternating forces have no sum and no moment, and excite no strain of any element. */
static void test_hourglass(void) {
  eb_scene *scene = make("lewin2016/hourglass", NULL);
  const eb_mesh *mesh = scene->mesh;
  double sum[3] = {0}, moment[3] = {0}, size = 0;
  for (int32_t i = 0; i < mesh->node_count; i++) {
    const double *f = scene->script.load[0] + 3 * i;
    double m[3];
    eb_cross3(mesh->X + 3 * i, f, m);
    eb_add3(1, f, sum);
    eb_add3(1, m, moment);
    size += sqrt(eb_dot3(f, f));
  }
  tap_near(size, 2, 1e-12, "the forces on the free end add up to the load");
  tap_below(sqrt(eb_dot3(sum, sum)) + sqrt(eb_dot3(moment, moment)), 1e-14,
            "they have neither a sum nor a moment");
  eb_scene_destroy(scene);
}

/* F at the centre of an element, from the mean edges along its three directions. */
static void test_modes(void) {
  eb_scene *scene = make("lewin2016/hourglass-modes", NULL);
  const eb_mesh *mesh = scene->mesh;
  static const int32_t upper[3][4] = {{1, 2, 5, 6}, {2, 3, 6, 7}, {4, 5, 6, 7}};
  double off = 0, least = 1;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    double F[9] = {0}, moved = 0;
    for (int k = 0; k < 8; k++) {
      int32_t node = mesh->elements[8 * e + k];
      moved += fabs(scene->x0[3 * node] - mesh->X[3 * node]) / 8;
      for (int c = 0; c < 3; c++) {
        bool up = false;
        for (int j = 0; j < 4; j++) up = up || upper[c][j] == k;
        for (int r = 0; r < 3; r++) F[3 * r + c] += (up ? 0.25 : -0.25) * scene->x0[3 * node + r];
      }
    }
    for (int k = 0; k < 9; k++) off = fmax(off, fabs(F[k] - (k % 4 == 0)));
    least = fmin(least, moved);
  }
  tap_below(off, 1e-15, "the modes leave the gradient at the centre as it is");
  tap_near(least, 0.2, 1e-15, "and move every corner by the amplitude");
  eb_scene_destroy(scene);
}

static void test_floor(void) {
  eb_scene *scene = make("lewin2016/steel-block", "resolution=0.5,contact=3e8");
  const eb_collider *floor = &scene->contacts.colliders[0];
  double sum = 0, nodes = 0;
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    if (scene->mesh->X[3 * i + 2] < 1e-9) {
      sum += floor->stiffness * scene->node_area[i];
      nodes++;
    }
  tap_ok(floor->implicit && nodes == 49, "the floor pushes at the end of a step");
  tap_near(sum / nodes, 3e8, 1, "the mean node of the bottom has the contact stiffness");
  eb_scene_destroy(scene);
}

/* In implicit Euler a body has fallen by g h^2 n (n + 1) / 2 after n steps. */
static void test_drop(void) {
  eb_scene *scene = make("lewin2016/block-drop", NULL);
  double lo[3], hi[3], way = 9.81 * scene->dt * scene->dt / 2;
  eb_mesh_bounds(scene->x0, scene->mesh->node_count, lo, hi);
  tap_ok(way * 60 * 61 < lo[2] && way * 61 * 62 > lo[2], "the block meets the ground in step 61");
  eb_scene_destroy(scene);
}

/* Corner Jacobians by the volume of the tetrahedron at each corner. */
static void test_shaken(void) {
  static const int32_t next[8][3] = {{1, 3, 4}, {2, 0, 5}, {3, 1, 6}, {0, 2, 7},
                                     {7, 5, 0}, {4, 6, 1}, {5, 7, 2}, {6, 4, 3}};
  eb_scene *scene = make("lewin2016/hex-shaken", "shake=0.3");
  const eb_mesh *mesh = scene->mesh;
  double least = INFINITY, farthest = 0;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int k = 0; k < 8; k++) {
      const int32_t *node = mesh->elements + 8 * e;
      const double *at = mesh->X + 3 * node[k];
      double edge[3][3], normal[3];
      for (int j = 0; j < 3; j++)
        for (int d = 0; d < 3; d++) edge[j][d] = mesh->X[3 * node[next[k][j]] + d] - at[d];
      eb_cross3(edge[0], edge[1], normal);
      least = fmin(least, eb_dot3(normal, edge[2]));
      for (int d = 0; d < 3; d++) farthest = fmax(farthest, fabs(at[d] - round(at[d])));
    }
  tap_ok(least >= 0.2, "no corner has a Jacobian below 0.2 (%g)", least);
  tap_ok(farthest > 0.29 && farthest <= 0.3, "corners are shifted by up to 0.3");
  eb_scene_destroy(scene);
}

static void test_random(void) {
  eb_scene *scene = make("lewin2016/hex-random", "resolution=0.25"),
           *other = make("lewin2016/hex-random", "resolution=0.25,seed=2");
  double lo[3], hi[3];
  eb_mesh_bounds(scene->x0, scene->mesh->node_count, lo, hi);
  bool inside = true;
  for (int d = 0; d < 3; d++) inside = inside && lo[d] >= 0 && lo[d] < 0.05 && hi[d] < 1;
  tap_ok(inside, "the nodes are all over the cube");
  tap_ok(scene->hash != other->hash, "another seed puts them elsewhere");
  eb_scene_destroy(other);
  eb_scene_destroy(scene);
}

static void test_beam(void) {
  eb_scene *scene = make("lewin2016/beam", "contrast=1e4");
  int32_t count[2] = {0};
  for (int32_t e = 0; e < scene->mesh->element_count; e++) count[scene->mesh->region[e]]++;
  tap_ok(count[0] == 800 && count[1] == 800, "half of the beam is stiff");
  tap_near(scene->materials[1].young / scene->materials[0].young, 1e4, 1e-8, "by the contrast");
  eb_scene_destroy(scene);
}

/* Cubes of five tetrahedra have a diagonal on each face. */
static void test_net(void) {
  enum { N = 4, ALONG = (N + 1) * (5 * N + 1), ACROSS = 2 * N * (2 * N + 1), CELLS = 5 * N * N };
  static const struct {
    const char *parameters;
    int count;
  } wanted[] = {{"resolution=0.25", ALONG + ACROSS},
                {"resolution=0.25,clusters=elements", CELLS},
                {"resolution=0.25,clusters=both", ALONG + ACROSS + CELLS}};
  for (int k = 0; k < 3; k++) {
    eb_scene *scene = make("lewin2016/net", wanted[k].parameters);
    tap_ok(scene->clusters.count == wanted[k].count, "lewin2016/net, %s: %d clusters, not %d",
           wanted[k].parameters, wanted[k].count, scene->clusters.count);
    eb_scene_destroy(scene);
  }
}

int main(void) {
  fixture_open();
  test_counts();
  test_flip();
  test_turn();
  test_bend();
  test_hourglass();
  test_modes();
  test_floor();
  test_drop();
  test_shaken();
  test_random();
  test_beam();
  test_net();
  return fixture_close();
}
