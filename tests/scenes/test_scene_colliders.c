/* Bodies on colliders that are surfaces, and on those that turn. */
#include <math.h>

#include "problems/scenes/file/scene_file.h"
#include "tests/support/scene_fixture.h"
#include "tests/support/stepping.h"

#define HEAD                                                                                       \
  "[scene]\ntitle = a body on a collider\nE = 1e6 Pa\nnu = 0.3\nrho = 1000\ndt = 2 ms\n"           \
  "steps = 400\n[body block]\nshape = bar\n"
#define STIFF "stiffness = 2e7\ndamping = 2e4\n"

static run begin(const char *text) {
  const eb_scene_ops *ops;
  eb_scene *scene;
  tap_require(eb_scene_file_parse("mine", "mine.ini", text, NULL, &ops), "a scene file");
  tap_require(eb_scene_create(ops, NULL, NULL, "", &scene), "its scene");
  eb_scene_close(ops);
  return start_on(scene, "semi-implicit", "");
}

static void centre_of(const run *s, double x[3], double v[3]) {
  const double *mass = eb_scene_mass(s->scene);
  double total = 0;
  for (int d = 0; d < 3; d++) x[d] = v[d] = 0;
  for (int32_t i = 0; i < s->scene->mesh->node_count; i++) {
    total += mass[i];
    for (int d = 0; d < 3; d++) {
      x[d] += mass[i] * s->state->x[3 * i + d];
      v[d] += mass[i] * s->state->v[3 * i + d];
    }
  }
  for (int d = 0; d < 3; d++) x[d] /= total, v[d] /= total;
}

/* How deep its nodes are in the colliders, m. */
static double depth_of(const run *s) {
  const eb_contact_setup *contacts = &s->scene->contacts;
  double deepest = 0, n[3], v[3];
  for (int32_t c = 0; c < contacts->collider_count; c++)
    for (int32_t i = 0; i < s->scene->mesh->node_count; i++)
      deepest = fmax(deepest, -eb_collider_distance(&contacts->colliders[c], s->state->time,
                                                    s->state->x + 3 * i, n, v));
  return deepest;
}

/* Friction is a drag of 2e4 Pa s/m up to its bound: a rider of 100 kg/m^2 creeps outward by
 * 100 w^2 r / 2e4, 7 mm/s, and is carried around as fast as the table but for the drag that its
 * spiral takes, 2 w times that. */
static void test_turntable(void) {
  const double w = 1.5;
  owned(run) s = begin(HEAD "size = 0.2, 0.2, 0.1\ncubes = 4, 4, 2\nmove = 0.6, 0, 0.001\n"
                            "[collider table]\nshape = box\nsize = 2, 2, 0.4\nmove = 0, 0, -0.2\n"
                            "rotate = z, 1.5 * t\nfriction = 1\n" STIFF);
  double x[3], v[3];
  go_well(&s, 400);
  centre_of(&s, x, v);
  double r = hypot(x[0], x[1]), around = (x[0] * v[1] - x[1] * v[0]) / r;
  double out = (x[0] * v[0] + x[1] * v[1]) / r;
  tap_near(around / (w * r), 1, 2e-3, "a block rides as fast as the table turns below it");
  tap_near(out, 100 * w * w * r / 2e4, 2e-3, "and creeps outward as its friction lets it");
  tap_ok(depth_of(&s) < 1e-3, "it lies on the table: %g m deep", depth_of(&s));
}

/* The edge of a roof: a bar whose middle is beside it tips over to that side, through none of it.
 */
static void test_edge(void) {
  for (int side = -1; side <= 1; side += 2) {
    char text[1024];
    snprintf(text, sizeof text,
             HEAD "size = 0.4, 0.3, 0.1\ncubes = 16, 4, 4\nmove = %g, 0, 0.01\n"
                  "[collider roof]\nshape = box\nsize = 0.6, 2, 0.6\nturn = y, 45 deg\n"
                  "move = 0, 0, 0 - 0.3 * sqrt(2)\nfriction = 0.1\n" STIFF,
             0.04 * side);
    owned(run) s = begin(text);
    double x[3], v[3], deepest = 0;
    for (int k = 0; k < 25; k++) {
      go_well(&s, 10);
      deepest = fmax(deepest, depth_of(&s));
    }
    centre_of(&s, x, v);
    tap_ok(side * x[0] > 0.08 && x[2] < 0, "a bar tips over the edge, to the side of its middle");
    tap_ok(deepest < s.scene->contacts.penetration_bound, "and is in the roof by %g m at most",
           deepest);
  }
}

/* A surface of a file that is shifted: a belt under a block, which it takes along. */
static void test_belt(void) {
  static const char *const cube =
      "v -2 -1 -1\nv 2 -1 -1\nv -2 1 -1\nv 2 1 -1\nv -2 -1 0\nv 2 -1 0\nv -2 1 0\nv 2 1 0\n"
      "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
  char text[1024], path[512];
  snprintf(path, sizeof path, "%s/belt.obj", folder);
  FILE *file = fopen(path, "w");
  tap_require(file && fputs(cube, file) >= 0 && fclose(file) == 0
                  ? EB_OK
                  : EB_ERROR(EB_ERR_IO, "cannot write %s", path),
              "a surface");
  snprintf(text, sizeof text,
           HEAD
           "size = 0.2, 0.2, 0.1\ncubes = 2, 2, 1\nmove = 0, 0, 0.001\n"
           "[collider belt]\nshape = file\nfile = %s\npath = 0.5 * t, 0, 0\nfriction = 0.6\n" STIFF,
           path);
  owned(run) s = begin(text);
  double x[3], v[3];
  go_well(&s, 300);
  centre_of(&s, x, v);
  /* It came to the belt by sliding, and still rocks by a hundredth of that speed. */
  tap_near(v[0], 0.5, 0.01, "a belt of a file takes a block along");
  file = fopen(path, "w");
  tap_ok(file && fprintf(file, "%.*s", (int)(strlen(cube) - 10), cube) > 0 && fclose(file) == 0,
         "without a face");
  const eb_scene_ops *ops;
  eb_scene *scene;
  tap_require(eb_scene_file_parse("mine", "mine.ini", text, NULL, &ops), "a scene file");
  tap_fails(eb_scene_create(ops, NULL, NULL, "", &scene), EB_ERR_INVALID, "edge",
            "an open surface is refused");
  eb_scene_close(ops);
}

int main(void) {
  fixture_open();
  test_turntable();
  test_edge();
  test_belt();
  return fixture_close();
}
