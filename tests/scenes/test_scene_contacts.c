/* What may touch in a scene, as solvers ask for it: bodies, obstacles and where these are, frames.
 */
#include "problems/scene_contacts.h"

#include <math.h>

#include "problems/scene_impl.h"
#include "tests/support/scene_fixture.h"

static void free_surfaces(eb_surfaces **surfaces) {
  eb_surfaces_destroy(*surfaces);
}

/* How many triangles are of each body; whether all their vertices are its own. */
static bool belongs(const eb_scene *scene, const eb_surfaces *s, int32_t body, int32_t *count) {
  int32_t first = s->nodes, last = s->nodes;
  for (int32_t o = 0; o < body - s->body_count + 1; o++) {
    first = last;
    last += scene->contacts.obstacles[o].surface->vertex_count;
  }
  *count = 0;
  for (int32_t t = 0; t < s->triangle_count; t++) {
    if (s->body[t] != body) continue;
    ++*count;
    for (int k = 0; k < 3; k++) {
      int32_t vertex = s->triangles[3 * t + k];
      if (body < s->body_count ? vertex < 0 || vertex >= s->nodes
                               : vertex < first || vertex >= last)
        return false;
    }
  }
  return true;
}

static void test_surfaces(const char *name, const char *parameters, int32_t bodies,
                          int32_t moving) {
  eb_scene *scene = make(name, parameters);
  __attribute__((cleanup(free_surfaces))) eb_surfaces *s = NULL;
  int32_t sum = 0, count, moves = 0;
  bool good = true, none_empty = true;
  tap_succeeds(eb_surfaces_create(scene, &s), label(name, "its surfaces"));
  tap_ok(s->body_count == bodies, "%s: %d bodies", name, bodies);
  for (int32_t b = 0; b < s->body_count + s->obstacle_count; b++) {
    good &= belongs(scene, s, b, &count);
    none_empty &= count > 0;
    sum += count;
  }
  tap_ok(good && none_empty && sum == s->triangle_count, "%s: all triangles are of a body", name);
  for (int32_t o = 0; o < s->obstacle_count; o++) moves += s->moves[o];
  tap_ok(moves == moving, "%s: %d of %d obstacles move", name, moving, s->obstacle_count);
  tap_ok(s->friction.common == scene->contacts.friction.common && s->bounds.gap > 0,
         "%s: friction and bounds", name);
  eb_scene_destroy(scene);
}

/* As far apart at all times: obstacles are rigid. */
static void test_places(void) {
  eb_scene *scene = make("verschoor2019/wedge", "bodies=2,resolution=0.34");
  __attribute__((cleanup(free_surfaces))) eb_surfaces *s = NULL;
  tap_succeeds(eb_surfaces_create(scene, &s), "surfaces of the wedge");
  size_t n = 3 * (size_t)(s->vertex_count - s->nodes);
  double *before = malloc(n * sizeof *before), *after = malloc(n * sizeof *after), moved = 0,
         bent = 0;
  eb_scene_obstacles(scene, 0, before);
  eb_scene_obstacles(scene, 1, after);
  for (size_t i = 0; i < n; i++) moved = fmax(moved, fabs(after[i] - before[i]));
  for (size_t i = 3; i < n && i < 3 * (size_t)scene->contacts.obstacles[0].surface->vertex_count;
       i += 3) {
    double a[3], b[3];
    for (int d = 0; d < 3; d++) {
      a[d] = before[i + (size_t)d] - before[d];
      b[d] = after[i + (size_t)d] - after[d];
    }
    bent = fmax(bent, fabs(sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) -
                           sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2])));
  }
  tap_ok(moved > 1e-3, "obstacles are elsewhere later: %g m", moved);
  tap_ok(bent < 1e-12, "in their shape: %g m", bent); /* rounding of a rotation */
  free(before);
  free(after);
  eb_scene_destroy(scene);
}

static void test_frames(void) {
  const double normals[][3] = {
      {1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0.6, 0, -0.8}, {1 / sqrt(3), 1 / sqrt(3), 1 / sqrt(3)}};
  for (size_t k = 0; k < sizeof normals / sizeof *normals; k++) {
    double f[9], off = 0, det = 0;
    eb_contact_frame(normals[k], f);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        double sum = 0;
        for (int d = 0; d < 3; d++) sum += f[3 * i + d] * f[3 * j + d];
        off = fmax(off, fabs(sum - (i == j)));
      }
    for (int d = 0; d < 3; d++)
      det += f[d] *
             (f[3 + (d + 1) % 3] * f[6 + (d + 2) % 3] - f[3 + (d + 2) % 3] * f[6 + (d + 1) % 3]);
    tap_ok(off < 1e-14 && det > 0.5 && memcmp(f, normals[k], sizeof normals[k]) == 0,
           "frame %zu begins with its normal, is orthonormal and right-handed", k);
  }
}

int main(void) {
  fixture_open();
  test_surfaces("verschoor2019/incline", "", 1, 0);
  test_surfaces("verschoor2019/pyramid", "layers=2", 5, 0);
  test_surfaces("verschoor2019/wedge", "bodies=3,resolution=0.34", 3, 2);
  test_surfaces("bench/beam", "resolution=0.25", 1, 0);
  test_places();
  test_frames();
  return fixture_close();
}
