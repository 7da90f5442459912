/* Contact by bodies: components and rigid motion against closed forms, the stiffness rule against
 * the eigenvalues it bounds, overlaps against brute force and boxes, forces between bodies against
 * the conservation of momentum. */
#include "problems/contact/penalty.h"
#include "problems/collision/overlaps.h"
#include "problems/mesh/generate.h"
#include "solvers/linalg/linear.h"
#include "tests/support/owned.h"
#include "tests/support/scene_fixture.h"
#include "tests/support/stepping.h"

#include <omp.h>

OWNED_POINTER(eb_contact, eb_contact_destroy)
OWNED_POINTER(eb_bodies, eb_bodies_destroy)

/* ---- two cubes ------------------------------------------------------------------------------- */

typedef struct world {
  eb_mesh *mesh;
  eb_surface *surface;
  eb_elasticity *elasticity;
  double *area, *x, *v, *f;
  const double *mass;
  double young;
} world;

static eb_mesh *box(int32_t n, const double size[3]) {
  eb_mesh *mesh;
  eb_grid grid = {.cubes = {n, n, n}, .size = {size[0], size[1], size[2]}};
  tap_require(eb_generate_tets6(&grid, &mesh), "box");
  return mesh;
}

static void share_area(world *w) {
  const eb_surface *s = w->surface;
  for (int32_t t = 0; t < s->triangle_count; t++) {
    double u[3], v[3], c[3];
    for (int d = 0; d < 3; d++) {
      u[d] = s->X[3 * s->triangles[3 * t + 1] + d] - s->X[3 * s->triangles[3 * t] + d];
      v[d] = s->X[3 * s->triangles[3 * t + 2] + d] - s->X[3 * s->triangles[3 * t] + d];
    }
    for (int d = 0; d < 3; d++)
      c[d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
    for (int k = 0; k < 3; k++) {
      int32_t i = s->triangles[3 * t + k];
      w->area[s->node ? s->node[i] : i] += sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) / 6;
    }
  }
}

static world make_world(eb_mesh *mesh, double young) {
  world w = {.mesh = mesh, .young = young};
  eb_material material = {.kind = EB_COROTATIONAL, .young = young, .poisson = 0.4, .density = 1000};
  size_t n = (size_t)mesh->node_count;
  tap_require(eb_mesh_surface(mesh, &w.surface), "surface");
  tap_require(eb_elasticity_create(mesh, &material, &w.elasticity), "elasticity");
  w.mass = eb_elasticity_mass(w.elasticity);
  w.area = calloc(n, sizeof(double));
  w.x = calloc(3 * n, sizeof(double));
  w.v = calloc(3 * n, sizeof(double));
  w.f = calloc(3 * n, sizeof(double));
  memcpy(w.x, mesh->X, 3 * n * sizeof(double));
  share_area(&w);
  return w;
}

/* Two boxes, the second one moved by `shift`. */
static world two_boxes(int32_t first, int32_t second, const double shift[3]) {
  eb_mesh *a = box(first, (const double[3]){1, 1, 1});
  owned(eb_mesh) *b = box(second, (const double[3]){1, 1, 1});
  /* Meshes that touch would be invalid for nobody but the surface: kept apart at rest. */
  tap_require(eb_mesh_append(a, b, (const double[3]){5, 0, 0}), "append");
  world w = make_world(a, 1e6);
  for (int32_t i = (first + 1) * (first + 1) * (first + 1); i < a->node_count; i++)
    for (int d = 0; d < 3; d++) w.x[3 * i + d] += shift[d] - (d == 0 ? 5 : 0);
  return w;
}

static void clear_world(world *w) {
  eb_elasticity_destroy(w->elasticity);
  eb_surface_destroy(w->surface);
  eb_mesh_destroy(w->mesh);
  free(w->area);
  free(w->x);
  free(w->v);
  free(w->f);
}
OWNED(world, clear_world)

static eb_contact *touching(const world *w, bool between_bodies) {
  eb_contact *contact;
  eb_contact_settings settings = {
      .step = 1.0 / 30, .friction.common = 0.5, .colliders = 1, .between_bodies = between_bodies};
  tap_require(
      eb_contact_create(w->mesh, w->surface, w->mass, w->area, &w->young, &settings, &contact),
      "contact");
  return contact;
}

static eb_overlaps *overlapping(const world *w, eb_bodies **bodies) {
  eb_overlaps *overlaps;
  tap_require(eb_bodies_create(w->mesh, w->mass, w->area, &w->young, bodies), "bodies");
  tap_require(eb_overlaps_create(w->mesh, w->surface, *bodies, &overlaps), "overlaps");
  return overlaps;
}

static void evaluate(eb_contact *contact, const eb_collider *colliders, int32_t count, world *w) {
  memset(w->f, 0, 24 * (size_t)w->mesh->node_count);
  eb_contact_force(contact, colliders, count, 0, w->x, w->v, w->f);
}

static double uniform(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*state >> 11) * 0x1p-53;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void test_bodies(void) {
  owned(world) w = two_boxes(6, 3, (const double[3]){2, 0, 0});
  owned(eb_bodies) *bodies = NULL;
  tap_require(eb_bodies_create(w.mesh, w.mass, w.area, &w.young, &bodies), "bodies");
  tap_ok(bodies->count == 2 && bodies->start[1] == 343 && bodies->start[2] == 343 + 64,
         "two boxes are two bodies, each with its own nodes");
  const eb_body *body = bodies->body;
  tap_near(body[1].mass, 1000, 1e-9, "the mass of a body is that of its nodes");
  tap_near(body[1].volume, 1, 1e-12, "and its volume");
  tap_near(body[1].area, 6, 1e-12, "and its surface");
  eb_bodies_measure(bodies, 1, w.x);
  tap_near(body[1].centre[0], 2.5, 1e-12, "the centre of the second box");
  /* Lumped masses of n cubes an edge: the second moment of a rod is L^2 / 12 (1 + 2 / n^2) along
   * each axis; the corners of this mesh do not share masses evenly, so within 1 %. */
  double inertia = 1000.0 / 6 * (1 + 2.0 / 9);
  tap_near(body[1].inverse_inertia[0] * inertia, 1, 0.01, "the inertia of a box");
  tap_below(fabs(body[1].inverse_inertia[1] * inertia), 0.05, "has nearly no products");
}

/* Largest eigenvalue of load G by power iteration. */
static double largest(const eb_body *body, const double load[36]) {
  double z[6] = {1, 0.7, -0.4, 0.9, -1.1, 0.6}, value = 0;
  for (int step = 0; step < 2000; step++) {
    double y[6] = {0}, g[6], size = 0;
    for (int i = 0; i < 3; i++) {
      g[i] = z[i] / body->mass;
      g[3 + i] = 0;
      for (int k = 0; k < 3; k++) g[3 + i] += body->inverse_inertia[3 * i + k] * z[3 + k];
    }
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < 6; k++) y[i] += load[6 * i + k] * g[k];
    for (int i = 0; i < 6; i++) size += y[i] * y[i];
    value = sqrt(size);
    for (int i = 0; i < 6; i++) z[i] = y[i] / value;
  }
  return value;
}

static void test_yield(void) {
  owned(world) w = two_boxes(3, 3, (const double[3]){2, 0, 0});
  owned(eb_bodies) *bodies = NULL;
  uint64_t seed = 3;
  tap_require(eb_bodies_create(w.mesh, w.mass, w.area, &w.young, &bodies), "bodies");
  eb_bodies_measure(bodies, 0, w.x);
  const eb_body *body = bodies->body;
  double least = 2, most = 0, load[36] = {0};
  tap_ok(eb_body_yield(body, load) == 0, "without contacts a body does not yield");
  eb_body_add_load(body, 0.3, (const double[3]){0.5, 0.5, 0}, (const double[3]){0, 0, 1}, load);
  tap_near(eb_body_yield(body, load), 0.3 / 1000, 1e-6, "pushed under its centre: area over mass");
  for (int trial = 0; trial < 50; trial++) {
    memset(load, 0, sizeof load);
    for (int k = 0; k <= trial % 8; k++) {
      double p[3], n[3], size = 0;
      for (int d = 0; d < 3; d++) p[d] = 2 * uniform(&seed) - 0.5;
      for (int d = 0; d < 3; d++) n[d] = uniform(&seed) - 0.5;
      for (int d = 0; d < 3; d++) size += n[d] * n[d];
      for (int d = 0; d < 3; d++) n[d] /= sqrt(size);
      eb_body_add_load(body, 0.1 * uniform(&seed), p, n, load);
    }
    double ratio = eb_body_yield(body, load) / largest(body, load);
    least = fmin(least, ratio);
    most = fmax(most, ratio);
  }
  tap_ok(least > 1 - 1e-9, "yield is no less than the largest eigenvalue (%.12f)", least);
  tap_ok(most < 1.2511, "and at most 6^(1/8) times as large (%.4f)", most);
  for (int32_t i = 0; i < w.mesh->node_count; i++) w.x[3 * i] = w.x[3 * i + 1] = 0;
  eb_bodies_measure(bodies, 0, w.x);
  tap_ok(body->inverse_inertia[0] == 0, "nodes on one line have no inverse inertia");
}

/* ---- the stiffness rule ---------------------------------------------------------------------- */

static const eb_collider ground = {.kind = EB_PLANE, .axis = {0, 0, 1}, .friction = 0.5};

/* Vertical force on a cube that stands `depth` deep in the ground. */
static double support(int32_t n, double young, double depth) {
  owned(world) w = make_world(box(n, (const double[3]){1, 1, 1}), young);
  owned(eb_contact) *contact = touching(&w, false);
  double sum = 0;
  for (int32_t i = 0; i < w.mesh->node_count; i++) w.x[3 * i + 2] -= depth;
  evaluate(contact, &ground, 1, &w);
  for (int32_t i = 0; i < w.mesh->node_count; i++) sum += w.f[3 * i + 2];
  return sum;
}

/* L of penalty.c: the largest eigenvalue of h^2 A^-1 D, D the change of the contact forces with the
 * positions. */
static double contact_eigenvalue(world *w, const eb_collider *collider) {
  const double h = 1.0 / 30, shift = 1e-7;
  size_t size = 3 * (size_t)w->mesh->node_count;
  owned(double) *u = calloc(size, 8), *y = calloc(size, 8), *f = calloc(size, 8);
  double value = 0;
  owned(eb_contact) *contact = touching(w, false);
  owned(eb_linear) *linear = NULL;
  eb_reason reason;
  eb_linear_settings settings = {
      .kind = "cholesky", .preconditioner = "jacobi", .petsc_options = "", .threads = 1};
  owned(eb_block_matrix) *A = new_matrix(w->elasticity);
  eb_elasticity_matrix(w->elasticity, w->x, 1, h * h, true, A, NULL);
  tap_require(eb_linear_create(&settings, A, NULL, &linear), "linear");
  tap_require(eb_linear_set_matrix(linear, A, NULL, &reason), "factor");
  evaluate(contact, collider, 1, w);
  memcpy(f, w->f, 8 * size);
  for (size_t i = 0; i < size; i++) u[i] = f[i] * (1 + 0.3 * sin((double)i));
  for (int step = 0; step < 60; step++) {
    double most = 0;
    for (size_t i = 0; i < size; i++) most = fmax(most, fabs(u[i]));
    for (size_t i = 0; i < size; i++) w->x[i] += shift * (u[i] /= most);
    evaluate(contact, collider, 1, w);
    for (size_t i = 0; i < size; i++) {
      w->x[i] -= shift * u[i];
      y[i] = h * h * (f[i] - w->f[i]) / shift;
    }
    eb_linear_result result;
    tap_require(eb_linear_solve(linear, y, u, NULL, false, &result), "solve");
    value = 0;
    for (size_t i = 0; i < size; i++) value = fmax(value, fabs(u[i]));
  }
  return value;
}

/* A bar of 1 x 0.25 x 0.25 m that is turned about y and enters the ground with its lowest edge. */
static double bar_eigenvalue(double young, double turn, double depth) {
  eb_mesh *mesh;
  eb_grid grid = {.cubes = {12, 3, 3}, .size = {1, 0.25, 0.25}};
  tap_require(eb_generate_tets6(&grid, &mesh), "bar");
  owned(world) w = make_world(mesh, young);
  double lowest = INFINITY, c = cos(turn), s = sin(turn);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    double *x = w.x + 3 * i, at[2] = {x[0], x[2]};
    x[0] = c * at[0] + s * at[1];
    x[2] = -s * at[0] + c * at[1];
    lowest = fmin(lowest, x[2]);
  }
  for (int32_t i = 0; i < mesh->node_count; i++) w.x[3 * i + 2] -= lowest + depth;
  return contact_eigenvalue(&w, &ground);
}

static void test_rule(void) {
  /* M / h^2 = 9e5 N/m for a cube of 1000 kg, times the rule's 1.5, over the yield's 1 to 1.25 and
   * the least eigenvalue's rotations: a push over the whole bottom face. */
  double firm = support(4, 1e9, 0.01) / (9e5 * 0.01);
  tap_ok(firm > 0.4 && firm < 1.51, "a rigid cube is borne by up to 1.5 M / h^2 (%.3f)", firm);
  double fine = support(8, 1e9, 0.01) / (9e5 * 0.01);
  tap_near(fine / firm, 1, 0.1, "on a finer mesh by as much");
  tap_ok(support(4, 1e4, 0.01) < 0.7 * support(4, 1e9, 0.01), "a soft one by less");
  tap_ok(support(4, 1e6, -0.01) == 0, "above the ground nothing pushes");
  static const double youngs[] = {1e5, 1e6, 1e7, 1e9}, turns[] = {0, 0.01, 0.3, 1.57};
  double worst = 0;
  for (int e = 0; e < 4; e++)
    for (int t = 0; t < 4; t++) worst = fmax(worst, bar_eigenvalue(youngs[e], turns[t], 0.03));
  /* Stable below 4 / (1 + 2 / 5). */
  tap_below(worst, 2.85,
            "a bar that stands, lies or falls on an edge stays within the stable range");
  tap_ok(worst > 0.3, "which is not a tenth of it (L = %.2f)", worst);
}

/* ---- overlaps -------------------------------------------------------------------------------- */

static void test_depth(void) {
  /* The second box stands 0.05 m deep in the first one's face x = 1, moved so that no node meets a
   * node. */
  owned(world) w = two_boxes(8, 8, (const double[3]){0.95, 0.03, 0.02});
  owned(eb_bodies) *bodies = NULL;
  eb_overlaps *overlaps = overlapping(&w, &bodies);
  const eb_overlap *found;
  int32_t count = eb_overlaps_find(overlaps, w.x, &found);
  double depth = 0, normal = 0, place = 0, sum = 0;
  int into[2] = {0, 0};
  for (int32_t k = 0; k < count; k++) {
    const eb_overlap *at = &found[k];
    const double *p = w.x + 3 * at->node;
    double side = at->body == 0 ? 1 : -1, total = 0;
    into[at->body]++;
    depth = fmax(depth, fabs(at->depth - 0.05));
    normal = fmax(normal, fabs(at->normal[0] - side));
    for (int d = 0; d < 3; d++) {
      double q = 0;
      for (int c = 0; c < 4; c++) q += at->weight[c] * w.x[3 * at->corner[c] + d];
      place = fmax(place, fabs(q - p[d]));
    }
    for (int c = 0; c < 4; c++) total += at->weight[c];
    sum = fmax(sum, fabs(total - 1));
  }
  /* Of the 81 nodes of a face, those of the rims are nearer to another face; 8 x 8 lie within the
   * other box. */
  tap_ok(into[0] >= 49 && into[0] <= 81 && into[1] >= 49 && into[1] <= 81,
         "the nodes of both faces are found (%d and %d)", into[0], into[1]);
  tap_below(place, 1e-12, "at their places in the tetrahedra");
  tap_below(sum, 1e-14, "with weights that add up to 1");
  /* Near the rims other faces are nearer: depth 0.03, 0.02 or less. */
  tap_below(depth, 0.05, "no deeper than twice the depth of the boxes");
  int straight = 0;
  for (int32_t k = 0; k < count; k++)
    straight += fabs(found[k].depth - 0.05) < 1e-6 && fabs(fabs(found[k].normal[0]) - 1) < 1e-9;
  tap_ok(straight >= 60, "away from the rims the depth is 0.05 m and the way out straight (%d)",
         straight);
  eb_overlaps_destroy(overlaps);
}

/* Whether p is in tetrahedron e, by the signs of four volumes; its relative margin. */
static double inside(const world *w, int32_t e, const double *p) {
  double whole = eb_mesh_element_volume(w->mesh, w->x, e), least = INFINITY;
  for (int k = 0; k < 4; k++) {
    double corner[4][3], u[3][3];
    for (int c = 0; c < 4; c++)
      for (int d = 0; d < 3; d++)
        corner[c][d] = c == k ? p[d] : w->x[3 * w->mesh->elements[4 * e + c] + d];
    for (int c = 0; c < 3; c++)
      for (int d = 0; d < 3; d++) u[c][d] = corner[c + 1][d] - corner[0][d];
    double part = (u[0][0] * (u[1][1] * u[2][2] - u[1][2] * u[2][1]) -
                   u[0][1] * (u[1][0] * u[2][2] - u[1][2] * u[2][0]) +
                   u[0][2] * (u[1][0] * u[2][1] - u[1][1] * u[2][0])) /
                  6;
    least = fmin(least, part / whole);
  }
  return least;
}

/* Pairs of a node and a body that holds it: all that brute force is sure of, none that it
 * excludes. */
static void test_brute_force(void) {
  for (uint64_t seed = 1; seed <= 4; seed++) {
    uint64_t state = seed;
    owned(world) w = two_boxes(4, 3, (const double[3]){0.4 + 0.1 * (double)seed, 0.23, -0.31});
    for (int32_t i = 0; i < 3 * w.mesh->node_count; i++) w.x[i] += 0.08 * (uniform(&state) - 0.5);
    owned(eb_bodies) *bodies = NULL;
    eb_overlaps *overlaps = overlapping(&w, &bodies);
    const eb_overlap *found;
    /* Apart first: nothing is fitted to positions in which no bodies meet. */
    for (int32_t i = 0; i < w.mesh->node_count; i++) w.x[3 * i] += 5 * bodies->of[i];
    tap_near(eb_overlaps_find(overlaps, w.x, &found), 0, 0, "bodies that are apart do not overlap");
    for (int32_t i = 0; i < w.mesh->node_count; i++) w.x[3 * i] -= 5 * bodies->of[i];
    int32_t count = eb_overlaps_find(overlaps, w.x, &found), missed = 0, wrong = 0, sure = 0;
    for (int32_t i = 0; i < w.mesh->node_count; i++) {
      double best = -INFINITY;
      bool have = false;
      for (int32_t e = 0; e < w.mesh->element_count; e++)
        if (bodies->of[w.mesh->elements[4 * e]] != bodies->of[i])
          best = fmax(best, inside(&w, e, w.x + 3 * i));
      for (int32_t k = 0; k < count; k++) have = have || found[k].node == i;
      sure += w.area[i] > 0 && best > 1e-6;
      missed += w.area[i] > 0 && best > 1e-6 && !have;
      wrong += have && (best < -1e-6 || w.area[i] == 0);
    }
    tap_ok(missed == 0 && wrong == 0 && sure > 5,
           "brute force finds the same %d overlaps (seed %d: %d missed, %d wrong)", sure, (int)seed,
           missed, wrong);
    eb_overlaps_destroy(overlaps);
  }
}

/* Every state of positions that a run may come to: nothing hangs, crashes or makes NaN out of
 * numbers. */
static void test_harmless(void) {
  owned(world) w = two_boxes(4, 4, (const double[3]){0.1, 0.05, 0.02});
  owned(eb_contact) *contact = touching(&w, true);
  size_t size = 3 * (size_t)w.mesh->node_count;
  owned(double) *kept = malloc(8 * size);
  memcpy(kept, w.x, 8 * size);
  static const char *const cases[] = {"one box deep in the other", "both turned inside out",
                                      "both squeezed flat", "all nodes in one point",
                                      "one node far away"};
  for (int c = 0; c < 5; c++) {
    for (size_t i = 0; i < size; i++) {
      double flat = i % 3 == 2 ? 1e-9 : 1, mirror = i % 3 == 2 ? -1 : 1;
      const double scale[5] = {1, mirror, flat, 0, 1};
      w.x[i] = kept[i] * scale[c];
    }
    if (c == 4) w.x[7] = 1e30;
    evaluate(contact, &ground, 1, &w);
    bool finite = true;
    for (size_t i = 0; i < size; i++) finite = finite && isfinite(w.f[i]);
    tap_ok(finite, "%s: forces are finite", cases[c]);
  }
  for (size_t i = 0; i < size; i++) w.x[i] = i % 5 ? kept[i] : NAN;
  evaluate(contact, &ground, 1, &w);
  tap_ok(true, "positions that are no numbers do not hang it");
}

/* ---- forces between bodies ------------------------------------------------------------------- */

static void test_pairs(void) {
  owned(world) w = two_boxes(6, 5, (const double[3]){0.93, 0.13, 0.08});
  owned(eb_contact) *contact = touching(&w, true);
  uint64_t seed = 9;
  size_t size = 3 * (size_t)w.mesh->node_count;
  for (size_t i = 0; i < size; i++) w.v[i] = 0.2 * (uniform(&seed) - 0.5);
  evaluate(contact, NULL, 0, &w);
  double force[3] = {0}, torque[3] = {0}, push = 0, scale = 0;
  for (int32_t i = 0; i < w.mesh->node_count; i++) {
    const double *x = w.x + 3 * i, *f = w.f + 3 * i;
    for (int d = 0; d < 3; d++) {
      force[d] += f[d];
      torque[d] += x[(d + 1) % 3] * f[(d + 2) % 3] - x[(d + 2) % 3] * f[(d + 1) % 3];
      scale += fabs(f[d]);
    }
    if (i < 343) push += f[0];
  }
  tap_ok(push < -1, "the box at the left is pushed to the left (%g N)", push);
  for (int d = 0; d < 3; d++) {
    tap_below(fabs(force[d]), 1e-13 * scale, "forces are opposite");
    /* Weights add up to the place of the node within 1e-10 at most. */
    tap_below(fabs(torque[d]), 1e-12 * scale, "and have no moment");
  }
  owned(double) *first = malloc(8 * size);
  memcpy(first, w.f, 8 * size);
  int threads = omp_get_max_threads();
  bool same = true;
  for (int t = 1; t <= 4; t++) {
    omp_set_num_threads(t);
    evaluate(contact, NULL, 0, &w);
    same = same && !memcmp(first, w.f, 8 * size);
  }
  omp_set_num_threads(threads);
  tap_ok(same, "the same bits for one to four threads");
  for (int32_t i = 343; i < w.mesh->node_count; i++) w.x[3 * i] += 0.0701;
  evaluate(contact, NULL, 0, &w);
  bool none = true;
  for (size_t i = 0; i < size; i++) none = none && w.f[i] == 0;
  tap_ok(none, "boxes that are apart do not push");
}

static void test_unsupported(void) {
  eb_mesh *mesh;
  eb_grid grid = {.cubes = {2, 2, 2}, .size = {1, 1, 1}};
  tap_require(eb_generate_hexahedra(&grid, &mesh), "hexahedra");
  owned(world) w = make_world(mesh, 1e6);
  eb_contact *contact;
  eb_contact_settings settings = {.step = 0.01, .between_bodies = true};
  tap_fails(eb_contact_create(w.mesh, w.surface, w.mass, w.area, &w.young, &settings, &contact),
            EB_ERR_UNSUPPORTED, "tetrahedra", "hexahedra do not collide");
}

/* ---- a collision ----------------------------------------------------------------------------- */

static double part(const double v[3], const double along[2]) {
  return v[0] * along[0] + v[1] * along[1];
}

/* Two bears fly at each other without gravity, high above the bowl. */
static void test_collision(void) {
  eb_scene *scene = make("hecht2012/bowl-of-bears",
                         "bears=2,size=2,gravity=0,resolution=0.05,dt=0.033333333333333333");
  owned(run) r = start_on(scene, "corotational", "linear=cholesky");
  eb_state *state = r.state;
  int32_t half = scene->mesh->node_count / 2;
  const double *mass = eb_elasticity_mass(scene->elasticity);
  const double along[2] = {0.5, 0.86602540378443865}; /* from the first to the second */
  double before[3] = {0}, after[3] = {0}, gap[2] = {0}, scale = 0, worst = 0;
  for (int32_t i = 0; i < 2 * half; i++) {
    state->x[3 * i + 2] += 20;
    for (int d = 0; d < 2; d++) state->v[3 * i + d] = (i < half ? 1.2 : -0.7) * along[d];
    gap[0] += (i < half ? -1 : 1) * mass[i] * part(state->v + 3 * i, along);
    scale += mass[i];
    for (int d = 0; d < 3; d++) before[d] += mass[i] * state->v[3 * i + d];
  }
  for (int step = 0; step < 60; step++) {
    go_well(&r, 1);
    for (int d = 0; d < 3; d++) {
      after[d] = 0;
      for (int32_t i = 0; i < 2 * half; i++) after[d] += mass[i] * state->v[3 * i + d];
      worst = fmax(worst, fabs(after[d] - before[d]));
    }
  }
  for (int32_t i = 0; i < 2 * half; i++)
    gap[1] += (i < half ? -1 : 1) * mass[i] * part(state->v + 3 * i, along);
  /* Rounding of 60 solves of matrices with E h^2 / (rho size^2), about 1e3, times the mass on the
   * diagonal. */
  tap_below(worst, 1e-9 * scale, "two bears collide and keep their momentum");
  tap_ok(gap[0] < -0.9 * scale && gap[1] > 0, "and bounce off each other (%.3g, then %.3g kg m/s)",
         gap[0], gap[1]);
  owned(eb_scene) *apart =
      make("hecht2012/bowl-of-bears",
           "bears=2,size=2,gravity=0,resolution=0.05,dt=0.033333333333333333,contact=no");
  tap_ok(apart->hash != scene->hash, "contact between bodies is hashed");
}

int main(void) {
  fixture_open();
  test_bodies();
  test_yield();
  test_rule();
  test_depth();
  test_brute_force();
  test_harmless();
  test_pairs();
  test_unsupported();
  test_collision();
  return fixture_close();
}
