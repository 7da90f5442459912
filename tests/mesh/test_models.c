/* The stand-in models: fit to be stuffed, of one piece, in the papers' size classes; and the
 * primitives and surface splits that they are made with. */
#include <stdint.h>

#include "problems/base/memory.h"
#include "problems/mesh/models/shape.h"
#include "problems/mesh/refine.h"
#include "problems/mesh/stuffing.h"
#include "tests/tap.h"
#include "tests/support/mesh_quality.h"

/* A fixed sequence in [0, 1): the same points on every machine. */
static double next(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) * 0x1p-53;
}

static void random_point(uint64_t *seed, const double lo[3], const double hi[3], double p[3]) {
  for (int d = 0; d < 3; d++) p[d] = lo[d] + (hi[d] - lo[d]) * next(seed);
}

static double distance_between(const double a[3], const double b[3]) {
  double sum = 0;
  for (int d = 0; d < 3; d++) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sqrt(sum);
}

/* ---- primitives ------------------------------------------------------------------------------ */

static const eb_primitive primitives[] = {
    EB_BALL(0.1, -0.2, 0.3, 0.7, .blend = 0),
    EB_CONE(-0.5, 0.1, -0.3, 0.5, 0.6, 0.4, 0.5, 0.2, .blend = 0),
    EB_ELLIPSOID(0.1, 0, 0, 1.0, 0.3, 0.6, .blend = 0),
    EB_TURNED_ELLIPSOID(0, 0.1, 0, 0.9, 0.5, 0.2, 1, 2, -1, .blend = 0),
    EB_BOX(0, 0, 0.1, 0.8, 0.4, 0.6, 0.15, .blend = 0),
    EB_CYLINDER(-0.4, 0, -0.5, 0.5, 0.2, 0.4, 0.45, 0.1, .blend = 0),
    EB_TORUS(0, 0, 0, 0.7, 0.25, 1, 1, 1, .blend = 0),
    EB_CONE(0.1, 0.3, 0.2, 0.2, 0.6, 0.7, 0.5, 0.1, .mirrored = true),
};
static const char *const primitive_names[] = {
    "ball",        "round cone", "ellipsoid", "turned ellipsoid",
    "rounded box", "cylinder",   "torus",     "mirrored cone"};
enum { PRIMITIVES = sizeof primitives / sizeof primitives[0] };

static void gradient(const eb_primitive *part, const double p[3], double out[3]) {
  const double step = 1e-5;
  for (int d = 0; d < 3; d++) {
    double a[3] = {p[0], p[1], p[2]}, b[3] = {p[0], p[1], p[2]};
    a[d] -= step, b[d] += step;
    out[d] = (eb_primitive_distance(part, b) - eb_primitive_distance(part, a)) / (2 * step);
  }
}

/* An exact distance has a gradient of length 1, and stepping against it by the distance ends on the
 * surface. (Crease points of measure zero, where the central difference fails, are few.) */
static void test_primitive(const eb_primitive *part, const char *name) {
  static const double lo[3] = {-1.5, -1.5, -1.5}, hi[3] = {1.5, 1.5, 1.5};
  enum { POINTS = 4000 };
  uint64_t seed = 7;
  int off_length = 0, off_surface = 0, inside = 0, outside_box = 0;
  for (int i = 0; i < POINTS; i++) {
    double p[3], g[3], q[3];
    random_point(&seed, lo, hi, p);
    double value = eb_primitive_distance(part, p);
    if (value < 0) {
      inside++;
      for (int d = 0; d < 3; d++) {
        double folded = part->mirrored && d == 1 ? fabs(p[d]) : p[d];
        outside_box += folded < part->lo[d] || folded > part->hi[d];
      }
    }
    gradient(part, p, g);
    off_length += fabs(sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) - 1) > 1e-5;
    for (int d = 0; d < 3; d++) q[d] = p[d] - value * g[d];
    off_surface += fabs(eb_primitive_distance(part, q)) > 1e-4;
  }
  tap_ok(inside > 10 && inside < POINTS / 2, "%s: has an inside and an outside", name);
  tap_ok(outside_box == 0, "%s: lies in its box", name);
  tap_below(off_length, 0.002 * POINTS, "its gradient has length 1 (0.2 % of points at creases)");
  tap_below(off_surface, 0.002 * POINTS, "the step along the gradient ends on the surface");
}

/* Known distances, to rounding. */
static void test_known_distances(void) {
  const double far_x[3] = {3, 0, 0}, corner[3] = {1.8, 1.4, 0.1}, centre[3] = {0.1, 0, 0};
  tap_near(eb_primitive_distance(&primitives[2], far_x), 1.9, 1e-12,
           "ellipsoid beyond its long axis");
  tap_near(eb_primitive_distance(&primitives[2], centre), -0.3, 1e-8, "ellipsoid at its centre");
  const double expected = sqrt((1.8 - 0.65) * (1.8 - 0.65) + (1.4 - 0.25) * (1.4 - 0.25)) - 0.15;
  tap_near(eb_primitive_distance(&primitives[4], corner), expected, 1e-12, "box beyond an edge");
  const double on_axis[3] = {0.5, 0.5, 0.5};
  tap_near(eb_primitive_distance(&primitives[6], on_axis), sqrt(0.75 + 0.49) - 0.25, 1e-12,
           "torus from its axis");
  const double beyond[3] = {-0.4 + 2 * 0.9, 2 * 0.2, -0.5 + 2 * 0.9};
  tap_near(eb_primitive_distance(&primitives[5], beyond), sqrt(0.9 * 0.9 + 0.2 * 0.2 + 0.9 * 0.9),
           1e-12, "cylinder beyond an end");
}

/* Passing over far parts must not change the value: against the plain fold over all parts. */
static double plain_distance(const eb_shape *shape, const double p[3]) {
  double distance = 1e30;
  for (int32_t i = 0; i < shape->count; i++) {
    double own = eb_primitive_distance(&shape->parts[i], p), k = shape->parts[i].blend;
    double sign = shape->parts[i].cut ? -1 : 1, a = sign * distance;
    double near = fmax(0, k - fabs(a - own));
    distance = sign * (fmin(a, own) - (k > 0 ? near * near / (4 * k) : 0));
  }
  return distance;
}

static void test_fold(void) {
  static const eb_primitive parts[] = {
      EB_BALL(0, 0, 0, 1, .blend = 0),
      EB_CONE(0.5, 0, 0, 0.4, 1.5, 0.5, 0, 0.2, .blend = 0.3),
      EB_BALL(0, 0, 0.9, 0.5, .blend = 0.2, .cut = true),
      EB_BALL(0, 1.2, 0, 0.4, .blend = 0.5, .mirrored = true),
  };
  static const eb_shape shape = {EB_SHAPE_PARTS(parts), .scale = 1};
  static const double lo[3] = {-2, -2, -2}, hi[3] = {2, 2, 2};
  uint64_t seed = 3;
  double worst = 0, steepest = 0;
  for (int i = 0; i < 20000; i++) {
    double p[3], q[3];
    random_point(&seed, lo, hi, p);
    for (int d = 0; d < 3; d++) q[d] = p[d] + 0.01 * (next(&seed) - 0.5);
    double at = eb_shape_distance(&shape, p);
    worst = fmax(worst, fabs(at - plain_distance(&shape, p)));
    steepest = fmax(steepest, fabs(eb_shape_distance(&shape, q) - at) / distance_between(p, q));
  }
  tap_below(worst, 1e-15, "skipping far parts changes nothing");
  tap_below(steepest, 1 + 1e-9, "joints and cuts keep the Lipschitz constant 1");
  const double hollow[3] = {0, 0, 0.6};
  tap_ok(eb_shape_distance(&shape, hollow) > 0, "a cut takes away");
}

/* ---- models ---------------------------------------------------------------------------------- */

/* Over the box grown by a fifth: inside and outside, box, steepness, gradient at the surface. */
static void test_distance(const eb_model *model) {
  enum { POINTS = 40000 };
  const eb_solid *solid = &model->solid;
  double lo[3], hi[3], size = 0;
  for (int d = 0; d < 3; d++) {
    double extent = solid->hi[d] - solid->lo[d];
    lo[d] = solid->lo[d] - 0.1 * extent, hi[d] = solid->hi[d] + 0.1 * extent;
    size = fmax(size, extent);
  }
  uint64_t seed = 11;
  double steepest = 0;
  int inside = 0, strays = 0, near = 0, flat = 0;
  for (int i = 0; i < POINTS; i++) {
    double p[3], q[3];
    random_point(&seed, lo, hi, p);
    double at = solid->distance(solid->context, p), slope = 0;
    for (int d = 0; d < 3; d++) {
      for (int k = 0; k < 3; k++) q[k] = p[k] + (k == d ? 1e-6 * size : 0);
      double rise = (solid->distance(solid->context, q) - at) / distance_between(p, q);
      slope += rise * rise;
      steepest = fmax(steepest, fabs(rise));
    }
    for (int d = 0; d < 3; d++) q[d] = p[d] + 0.1 * size * (next(&seed) - 0.5);
    steepest =
        fmax(steepest, fabs(solid->distance(solid->context, q) - at) / distance_between(p, q));
    bool in_box = true;
    for (int d = 0; d < 3; d++) in_box = in_box && p[d] > solid->lo[d] && p[d] < solid->hi[d];
    inside += at < 0;
    strays += at < 0 && !in_box;
    if (fabs(at) < 0.005 * size) near++, flat += slope < 0.09 || slope > 1.44;
  }
  tap_ok(inside > POINTS / 500, "%s: has an inside", model->name);
  tap_ok(strays == 0, "%s: nothing inside lies beyond its box", model->name);
  tap_below(steepest, 1.0 + 1e-6, "its distance is Lipschitz with constant 1");
  tap_ok(near > 50 && flat <= near / 100, "%s: the gradient at the surface is between 0.3 and 1.2",
         model->name);
}

static void test_boxes_are_outside(const eb_model *model) {
  const eb_solid *solid = &model->solid;
  int inside = 0;
  enum { STEPS = 40 };
  for (int face = 0; face < 6; face++)
    for (int i = 0; i <= STEPS; i++)
      for (int j = 0; j <= STEPS; j++) {
        double w[3] = {(double)i / STEPS, (double)j / STEPS, face & 1}, p[3];
        for (int d = 0; d < 3; d++) {
          double at = w[(d + face / 2) % 3];
          p[d] = solid->lo[d] + at * (solid->hi[d] - solid->lo[d]);
        }
        inside += !(solid->distance(solid->context, p) > 0);
      }
  tap_ok(inside == 0, "%s: positive all over its box", model->name);
}

static int32_t find_root(int32_t *parent, int32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/* Pieces of the elements of one region (-1: of all) that hang together by nodes. */
static int32_t count_pieces(const eb_mesh *mesh, int32_t region) {
  int32_t *parent, pieces = 0;
  bool *used;
  tap_require(EB_NEW(parent, mesh->node_count), "union-find");
  tap_require(EB_NEW(used, mesh->node_count), "union-find");
  for (int32_t i = 0; i < mesh->node_count; i++) parent[i] = i;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int k = 0; k < 4 && (region < 0 || mesh->region[e] == region); k++) {
      used[mesh->elements[4 * e + k]] = true;
      parent[find_root(parent, mesh->elements[4 * e])] =
          find_root(parent, mesh->elements[4 * e + k]);
    }
  for (int32_t i = 0; i < mesh->node_count; i++) pieces += used[i] && parent[i] == i;
  free(parent);
  free(used);
  return pieces;
}

static void test_regions(const eb_model *model, const eb_mesh *mesh) {
  const char *const *names = model->solid.region_names;
  int32_t declared = 0, used = 0, count[32] = {0};
  while (names && names[declared]) declared++;
  for (int32_t e = 0; e < mesh->element_count; e++) count[mesh->region[e]]++;
  for (int32_t r = 0; r < mesh->region_count; r++) used += count[r] > 0;
  tap_ok(mesh->region_count == (names ? declared : 1) && used == mesh->region_count,
         "%s: all of its %d regions have elements", model->name, mesh->region_count);
}

/* The papers' counts (tables of conjac2020 and hecht2012). */
typedef struct target {
  const char *model;
  int32_t elements, nodes; /* nodes 0: the paper rounds to thousands */
  int32_t genus;           /* of the shape */
} target;

static const target targets[] = {
    {"dragon", 37565, 10456, 0}, {"bunny", 27695, 5988, 0},  {"bear", 9785, 2216, 0},
    {"bear", 30490, 7361, 0},    {"spider", 12683, 3991, 0}, {"three-torus", 19172, 5046, 3},
    {"armadillo", 40000, 0, 0},  {"sculpture", 6681, 0, 2},  {"sculpture", 115712, 23000, 2},
    {"octobot", 132124, 0, 0},   {"gatorman", 227035, 0, 0}, {"crab", 223565, 0, 0},
    {"candy", 40000, 0, 0},      {"pendulum", 40000, 0, 0},  {"snail", 40000, 0, 0},
};

static void test_topology(const target *t, const eb_mesh *mesh) {
  eb_surface *surface;
  tap_require(eb_mesh_surface(mesh, &surface), "surface");
  int32_t characteristic = surface->vertex_count - surface->triangle_count / 2;
  tap_ok(characteristic == 2 - 2 * t->genus, "%s: its surface has genus %d", t->model, t->genus);
  if (characteristic != 2 - 2 * t->genus)
    printf("#   Euler characteristic %d, want %d\n", characteristic, 2 - 2 * t->genus);
  eb_surface_destroy(surface);
}

static void test_target(const target *t) {
  const eb_model *model = eb_model_find(t->model);
  eb_mesh *mesh = NULL;
  eb_error error = t->nodes ? eb_stuff_to_counts(&model->solid, t->elements, t->nodes, 0.03, &mesh)
                            : eb_stuff_to_count(&model->solid, t->elements, 0.03, &mesh);
  if (!tap_succeeds(error, t->model)) return;
  tap_ok(abs(mesh->element_count - t->elements) <= 0.03 * t->elements,
         "%s: %d elements, the paper has %d", t->model, mesh->element_count, t->elements);
  if (t->nodes)
    tap_ok(abs(mesh->node_count - t->nodes) <= 0.03 * t->nodes, "%s: %d nodes, the paper has %d",
           t->model, mesh->node_count, t->nodes);
  tap_succeeds(eb_mesh_validate(mesh), "the mesh is valid");
  tap_ok(count_pieces(mesh, -1) == 1, "%s: one piece", t->model);
  test_regions(model, mesh);
  test_topology(t, mesh);
  eb_mesh_quality quality;
  eb_mesh_measure(mesh, mesh->X, &quality);
  tap_ok(quality.min_dihedral > 5 && quality.inverted == 0, "%s: no sliver (smallest angle %.1f)",
         t->model, quality.min_dihedral);
  eb_mesh_destroy(mesh);
}

static void test_size(const char *name, double longest) {
  const eb_solid *solid = &eb_model_find(name)->solid;
  eb_mesh *mesh;
  double lo[3], hi[3];
  tap_require(eb_stuff_to_count(solid, 6000, 0.3, &mesh), name);
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  double extent = fmax(hi[0] - lo[0], fmax(hi[1] - lo[1], hi[2] - lo[2]));
  tap_near(extent, longest, 0.15 * longest, name);
  eb_mesh_destroy(mesh);
}

/* Body and three bones of each leg are stiff; joints and thread, being soft, must part them all. */
static void test_joints(void) {
  const eb_solid *solid = &eb_model_find("spider")->solid;
  eb_mesh *mesh;
  tap_require(eb_stuff_to_count(solid, 12683, 0.03, &mesh), "spider");
  int32_t stiff = eb_mesh_region(mesh, "stiff");
  tap_ok(stiff >= 0 && count_pieces(mesh, stiff) == 1 + 8 * 3,
         "the spider's soft joints part its body and 24 bones");
  eb_mesh_destroy(mesh);
}

/* ---- surface splits -------------------------------------------------------------------------- */

static double volume(const eb_mesh *mesh) {
  double sum = 0;
  for (int32_t e = 0; e < mesh->element_count; e++) sum += eb_mesh_element_volume(mesh, mesh->X, e);
  return sum;
}

static void test_split(void) {
  const eb_solid *solid = &eb_model_find("dragon")->solid;
  eb_mesh *mesh, *fine, *again, *triangles;
  tap_require(eb_stuff_to_count(solid, 8000, 0.3, &mesh), "a coarse dragon");
  tap_succeeds(eb_mesh_split_surface(mesh, 700, &fine), "700 edges are split");
  tap_require(eb_mesh_split_surface(mesh, 700, &again), "once more");
  tap_ok(fine->node_count == mesh->node_count + 700, "every split adds one node");
  tap_succeeds(eb_mesh_validate(fine), "the result conforms");
  tap_near(volume(fine), volume(mesh), 1e-12 * volume(mesh), "the volume stays (rounding)");
  tap_ok(count_pieces(fine, -1) == 1, "it stays one piece");
  tap_ok(eb_mesh_hash(fine) == eb_mesh_hash(again), "the same twice");
  double before[4] = {0}, after[4] = {0}, gap = 0;
  for (int32_t e = 0; e < mesh->element_count; e++)
    before[mesh->region[e]] += eb_mesh_element_volume(mesh, mesh->X, e);
  for (int32_t e = 0; e < fine->element_count; e++)
    after[fine->region[e]] += eb_mesh_element_volume(fine, fine->X, e);
  for (int r = 0; r < 4; r++) gap = fmax(gap, fabs(before[r] - after[r]) / before[r]);
  tap_below(gap, 1e-12, "regions keep their volumes (rounding)");
  tap_fails(eb_mesh_split_surface(mesh, -1, &triangles), EB_ERR_USAGE, "-1", "a negative number");
  tap_fails(eb_mesh_split_surface(mesh, INT32_MAX, &triangles), EB_ERR_LIMIT, "too many",
            "more splits than 32 bits hold");
  tap_require(eb_mesh_create(EB_TRIANGLE, 3, 1, &triangles), "a triangle");
  eb_mesh *none;
  tap_fails(eb_mesh_split_surface(triangles, 1, &none), EB_ERR_UNSUPPORTED, "tetrahedral",
            "a planar mesh");
  tap_fails(eb_stuff_to_counts(solid, 8000, 500, 0.03, &none), EB_ERR_INVALID, "500",
            "fewer nodes than the shape needs");
  eb_mesh_destroy(triangles);
  eb_mesh_destroy(mesh);
  eb_mesh_destroy(fine);
  eb_mesh_destroy(again);
}

int main(void) {
  for (int i = 0; i < PRIMITIVES; i++) test_primitive(&primitives[i], primitive_names[i]);
  test_known_distances();
  test_fold();
  int models = 0;
  for (const eb_model *model = eb_models(); model->name; model++, models++) {
    tap_ok(eb_model_find(model->name) == model, "%s is found by its name", model->name);
    test_distance(model);
    test_boxes_are_outside(model);
  }
  tap_ok(models == 14 && !eb_model_find("unicorn"), "fourteen models, and no other");
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) test_target(&targets[i]);
  test_size("dragon", 0.15);
  test_size("bunny", 0.12);
  test_size("sculpture", 1.6);
  test_size("armadillo", 0.3);
  test_joints();
  test_split();
  return tap_done();
}
