/* Cutting a mesh: against a mesh cut by hand, against groups found by comparing all elements with
 * each other, and what stays: volume, sets, regions, fibres, everything when the cut meets no face
 * or is none. */
#include "problems/base/memory.h"
#include "problems/mesh/cut.h"
#include "problems/mesh/generate.h"
#include "tests/support/random.h"
#include "tests/tap.h"

typedef eb_error generator(const eb_grid *grid, eb_mesh **out);

static eb_mesh *make(generator *generate, int32_t nx, int32_t ny, int32_t nz) {
  eb_grid grid = {.cubes = {nx, ny, nz}, .size = {nx, ny, nz}};
  eb_mesh *mesh;
  tap_require(generate(&grid, &mesh), "a grid");
  return mesh;
}

static eb_cut plane_at(int axis, double where) {
  eb_cut cut = {.radius = INFINITY};
  cut.origin[axis] = where;
  cut.normal[axis] = 1;
  return cut;
}

/* Cuts and frees the origins. */
static void apply(eb_mesh *mesh, const eb_cut *cut) {
  int32_t *origin;
  tap_require(eb_mesh_cut(mesh, cut, &origin), "a cut");
  free(origin);
}

static double volume(const eb_mesh *mesh) {
  double sum = 0;
  for (int32_t e = 0; e < mesh->element_count; e++) sum += eb_mesh_element_volume(mesh, mesh->X, e);
  return sum;
}

static int32_t components(const eb_mesh *mesh) {
  int32_t *part = malloc((size_t)mesh->node_count * sizeof *part);
  int32_t count = eb_mesh_components(mesh, part);
  free(part);
  return count;
}

/* ---- the reference: groups of elements around each node, by comparing all pairs -------------- */

static void centroid(const eb_mesh *mesh, const int32_t *nodes, int count, double out[3]) {
  memset(out, 0, 3 * sizeof *out);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) out[k] += mesh->X[3 * nodes[i] + k] / count;
}

static double off_plane(const eb_cut *cut, const double p[3]) {
  double sum = 0, length = 0;
  for (int k = 0; k < 3; k++) {
    sum += cut->normal[k] * (p[k] - cut->origin[k]);
    length += cut->normal[k] * cut->normal[k];
  }
  return sum / sqrt(length);
}

static bool in_disc(const eb_cut *cut, const double p[3]) {
  double square = 0, height = off_plane(cut, p);
  for (int k = 0; k < 3; k++) square += (p[k] - cut->origin[k]) * (p[k] - cut->origin[k]);
  return square - height * height <= cut->radius * cut->radius;
}

/* The common nodes of two elements; they share a face when there are `whole` of them. */
static int common(const eb_mesh *mesh, int32_t e, int32_t f, int32_t nodes[8]) {
  int type = (int)mesh->type, count = 0;
  for (int a = 0; a < type; a++)
    for (int b = 0; b < type; b++)
      if (mesh->elements[e * type + a] == mesh->elements[f * type + b])
        nodes[count++] = mesh->elements[e * type + a];
  return count;
}

static int face_size(const eb_mesh *mesh) {
  return mesh->type == EB_HEXAHEDRON ? 4 : mesh->type == EB_TETRAHEDRON ? 3 : 2;
}

typedef struct groups {
  int32_t
      *lowest;  /* elements x nodes of an element: the lowest element of the group of that corner */
  bool *opened; /* nodes: on a parted face */
} groups;

static int place(const eb_mesh *mesh, int32_t e, int32_t node) {
  int a = 0;
  while (mesh->elements[e * (int)mesh->type + a] != node) a++;
  return e * (int)mesh->type + a;
}

/* One sweep over all pairs; false when nothing changes any more. */
static bool spread(const eb_mesh *mesh, const eb_cut *cut, groups *g) {
  bool changed = false;
  int32_t shared[8], whole = face_size(mesh);
  double ce[3], cf[3], cs[3];
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int32_t f = 0; f < e; f++) {
      if (common(mesh, e, f, shared) != whole) continue;
      centroid(mesh, mesh->elements + e * (int)mesh->type, (int)mesh->type, ce);
      centroid(mesh, mesh->elements + f * (int)mesh->type, (int)mesh->type, cf);
      centroid(mesh, shared, whole, cs);
      bool parted = (off_plane(cut, ce) > 0) != (off_plane(cut, cf) > 0) && in_disc(cut, cs);
      for (int i = 0; i < whole; i++) {
        int32_t *a = &g->lowest[place(mesh, e, shared[i])];
        int32_t *b = &g->lowest[place(mesh, f, shared[i])];
        if (parted) g->opened[shared[i]] = true;
        if (parted || *a == *b) continue;
        *a = *b = *a < *b ? *a : *b;
        changed = true;
      }
    }
  return changed;
}

static groups find_groups(const eb_mesh *mesh, const eb_cut *cut) {
  int32_t corners = mesh->element_count * (int)mesh->type;
  groups g = {malloc((size_t)corners * sizeof(int32_t)),
              calloc((size_t)mesh->node_count, sizeof(bool))};
  for (int32_t k = 0; k < corners; k++) g.lowest[k] = k / (int)mesh->type;
  while (spread(mesh, cut, &g)) continue;
  return g;
}

/* The numbers that nodes are to get, by the rule of cut.h; returns how many nodes there are. */
static int32_t number(const eb_mesh *mesh, const groups *g, int32_t *expected) {
  int32_t corners = mesh->element_count * (int)mesh->type, next = mesh->node_count;
  for (int32_t n = 0; n < mesh->node_count; n++) {
    int32_t seen[64], numbers[64], count = 0; /* groups at this node, by lowest element */
    for (int32_t k = 0; k < corners; k++) {
      if (mesh->elements[k] != n) continue;
      int32_t i = 0;
      while (i < count && seen[i] != g->lowest[k]) i++;
      if (i == count) {
        seen[count] = g->lowest[k];
        numbers[count++] = i == 0 || !g->opened[n] ? n : next++;
      }
      expected[k] = numbers[i];
    }
  }
  return next;
}

/* Cuts a copy and compares it with the reference, node by node. */
static bool agrees(const eb_mesh *mesh, const eb_cut *cut) {
  int32_t corners = mesh->element_count * (int)mesh->type, *origin;
  int32_t *expected = malloc((size_t)corners * sizeof *expected);
  groups g = find_groups(mesh, cut);
  int32_t nodes = number(mesh, &g, expected);
  eb_mesh *copy;
  tap_require(eb_mesh_copy(mesh, &copy), "a copy");
  tap_require(eb_mesh_cut(copy, cut, &origin), "a cut");
  bool good = copy->node_count == nodes &&
              memcmp(copy->elements, expected, (size_t)corners * sizeof *expected) == 0;
  for (int32_t i = 0; good && i < nodes; i++)
    good = (i < mesh->node_count ? origin[i] == i : origin[i] < mesh->node_count) &&
           memcmp(copy->X + 3 * i, mesh->X + 3 * origin[i], 3 * sizeof(double)) == 0;
  for (int32_t k = 0; good && k < corners; k++) good = origin[expected[k]] == mesh->elements[k];
  eb_error invalid = eb_mesh_validate(copy);
  good = good && !invalid && volume(copy) == volume(mesh);
  eb_error_free(invalid);
  free(origin);
  free(expected);
  free(g.lowest);
  free(g.opened);
  eb_mesh_destroy(copy);
  return good;
}

static eb_cut random_cut(random_state *random, const eb_mesh *mesh) {
  double lo[3], hi[3];
  eb_cut cut = {.radius = random_uniform(random, 0.3, 4)};
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  for (int k = 0; k < 3; k++) {
    cut.origin[k] = random_uniform(random, lo[k], hi[k]);
    cut.normal[k] = random_normal(random) * (mesh->type == EB_TRIANGLE && k == 2 ? 0 : 1);
  }
  if (random_uniform(random, 0, 1) < 0.3) cut.radius = INFINITY;
  return cut;
}

static void test_random(generator *generate, const char *name) {
  random_state random = random_seed(11);
  int bad = 0, parted = 0, partial = 0;
  for (int trial = 0; trial < 12; trial++) {
    eb_mesh *mesh = make(generate, 4, 3, 3);
    for (int k = 0; k < 3; k++) { /* the later cuts cross the earlier ones */
      eb_cut cut = random_cut(&random, mesh);
      int32_t before = mesh->node_count, pieces = components(mesh);
      bad += !agrees(mesh, &cut);
      apply(mesh, &cut);
      parted += mesh->node_count > before;
      partial += mesh->node_count > before && components(mesh) == pieces;
    }
    eb_mesh_destroy(mesh);
  }
  tap_ok(bad == 0, "%s: 12 times three random cuts as all pairs say, valid, volume kept", name);
  tap_ok(parted > 18 && partial > 3, "%s: %d of 36 part nodes, %d of them not right through", name,
         parted, partial);
}

/* ---- a mesh cut by hand ---------------------------------------------------------------------- */

static void test_two_tetrahedra(void) {
  static const double X[5][3] = {{0, 0, -1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const int32_t elements[8] = {1, 3, 2, 0, 1, 2, 3, 4};
  static const int32_t wanted[8] = {1, 3, 2, 0, 5, 6, 7, 4}, from[8] = {0, 1, 2, 3, 4, 1, 2, 3};
  eb_mesh *mesh;
  int32_t *origin;
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 5, 2, &mesh), "a mesh");
  memcpy(mesh->X, X, sizeof X);
  memcpy(mesh->elements, elements, sizeof elements);
  tap_require(eb_mesh_add_set(mesh, "some", (const int32_t[]){1, 3, 4}, 3), "a set");
  tap_require(eb_mesh_validate(mesh), "two tetrahedra");
  eb_cut cut = {.origin = {0.2, 0.2, 0.1}, .normal = {0.1, 0, 3}, .radius = 0.5};
  tap_require(eb_mesh_cut(mesh, &cut, &origin), "a cut");
  tap_ok(mesh->node_count == 8 && memcmp(mesh->elements, wanted, sizeof wanted) == 0,
         "two tetrahedra are parted at their common face: the first keeps the nodes");
  tap_ok(memcmp(origin, from, sizeof from) == 0, "copies know their origin");
  const eb_node_set *set = eb_mesh_set(mesh, "some");
  tap_ok(set->count == 5 && set->nodes[3] == 5 && set->nodes[4] == 7, "copies are in its sets");
  tap_ok(mesh->region_count == 1 && mesh->set_count == 1, "regions and sets stay");
  free(origin);
  eb_mesh_destroy(mesh);
}

/* Sum over elements of their centroid's polynomial: equal for equal sets of elements, in any
 * order. */
static double fingerprint(const eb_mesh *mesh) {
  double sum = 0, c[3];
  for (int32_t e = 0; e < mesh->element_count; e++) {
    centroid(mesh, mesh->elements + e * (int)mesh->type, (int)mesh->type, c);
    sum += eb_mesh_element_volume(mesh, mesh->X, e) * (1 + c[0] + 2 * c[1] * c[0] + c[2] * c[2]);
  }
  return sum;
}

static double surface_area(const eb_mesh *mesh, int32_t *triangles) {
  eb_surface *surface;
  double sum = 0;
  tap_require(eb_mesh_surface(mesh, &surface), "a surface");
  tap_succeeds(eb_surface_validate(surface, true), "the surface is closed");
  *triangles = surface->triangle_count;
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    const int32_t *n = surface->triangles + 3 * t;
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
      u[k] = surface->X[3 * n[1] + k] - surface->X[3 * n[0] + k];
      v[k] = surface->X[3 * n[2] + k] - surface->X[3 * n[0] + k];
    }
    sum += 0.5 * hypot(hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2]),
                       u[0] * v[1] - u[1] * v[0]);
  }
  eb_surface_destroy(surface);
  return sum;
}

/* A bar of 6 x 2 x 2 cut at x = 2 is a bar of 2 x 2 x 2 and one of 4 x 2 x 2. */
static void test_halves(generator *generate, const char *name) {
  eb_mesh *whole = make(generate, 6, 2, 2), *halves = make(generate, 2, 2, 2);
  eb_mesh *longer = make(generate, 4, 2, 2);
  int32_t faces, expected;
  tap_require(eb_mesh_append(halves, longer, (const double[3]){2, 0, 0}), "append");
  eb_cut cut = plane_at(0, 2);
  double before = volume(whole);
  apply(whole, &cut);
  tap_ok(whole->node_count == halves->node_count && components(whole) == 2,
         "%s: a bar cut in two has the nodes and parts of two bars", name);
  /* Sums of numbers up to 100 in another order. */
  tap_near(fingerprint(whole), fingerprint(halves), 1e-9, "and their elements");
  tap_ok(volume(whole) == before, "%s: and its volume, bit by bit", name);
  double area = surface_area(whole, &faces);
  tap_near(area, surface_area(halves, &expected), 1e-9, "and their surface");
  tap_ok(faces == expected, "%s: with as many triangles", name);
  int32_t nodes = whole->node_count;
  uint64_t hash = eb_mesh_hash(whole);
  apply(whole, &cut);
  tap_ok(whole->node_count == nodes && eb_mesh_hash(whole) == hash,
         "%s: the same cut again changes nothing", name);
  eb_mesh_destroy(longer);
  eb_mesh_destroy(halves);
  eb_mesh_destroy(whole);
}

/* A plane of nodes parts exactly there, wherever between the neighbouring layers' centroids the cut
 * is scripted. */
static void test_between_planes(void) {
  static const double where[] = {1.5 + 1e-6, 1.8, 2, 2.2, 2.5 - 1e-6};
  uint64_t first = 0;
  for (int i = 0; i < 5; i++) {
    eb_mesh *mesh = make(eb_generate_hexahedra, 4, 2, 2);
    eb_cut cut = plane_at(0, where[i]);
    apply(mesh, &cut);
    if (i == 0) first = eb_mesh_hash(mesh);
    tap_ok(mesh->node_count == 5 * 9 + 9 && eb_mesh_hash(mesh) == first,
           "cubes part at x = 2 when the cut is at %g", where[i]);
    eb_mesh_destroy(mesh);
  }
}

/* Centroids that lie in the plane, but for rounding, all count as above it. */
static void test_in_plane(void) {
  eb_grid grid = {.cubes = {3, 3, 3}, .origin = {0.1, 0.2, 0.3}, .size = {0.7, 0.7, 0.7}};
  for (int axis = 0; axis < 3; axis++) {
    eb_mesh *mesh;
    tap_require(eb_generate_hexahedra(&grid, &mesh), "cubes");
    eb_cut cut = plane_at(axis, 0);
    for (int k = 0; k < 3; k++) cut.origin[k] = grid.origin[k] + 0.35;
    cut.normal[(axis + 1) % 3] = 1e-11;
    apply(mesh, &cut);
    tap_ok(mesh->node_count == 64 + 16 && components(mesh) == 2,
           "a layer whose centroids lie in the plane x%d stays whole", axis);
    eb_mesh_destroy(mesh);
  }
}

/* ---- partial cuts ---------------------------------------------------------------------------- */

/* A slit from the side x = 0 up to x = 2 at half height of 4 x 2 x 2 cubes. */
static void test_slit(void) {
  eb_mesh *mesh = make(eb_generate_hexahedra, 4, 2, 2);
  eb_cut cut = {.origin = {0, 1, 1}, .normal = {0, 0, 1}, .radius = 1.6};
  int32_t *origin, inside = 0;
  tap_require(eb_mesh_cut(mesh, &cut, &origin), "a cut");
  for (int32_t i = 45; i < mesh->node_count; i++)
    inside += mesh->X[3 * i] < 1.5 && mesh->X[3 * i + 2] == 1;
  /* Faces at x = 0.5 and 1.5, y = 0.5 and 1.5 from the middle of the side: 0.71 and 1.58 away.
   * Nodes at x = 2 are the rim. */
  tap_ok(mesh->node_count == 45 + 6 && inside == 6, "a slit parts the nodes before its rim");
  tap_ok(components(mesh) == 1, "the body stays in one piece");
  tap_succeeds(eb_mesh_validate(mesh), "and is valid");
  free(origin);
  eb_mesh_destroy(mesh);
}

/* A disc inside the body: its rim is closed, the nodes within are parted. */
static void test_inner_disc(void) {
  eb_mesh *mesh = make(eb_generate_hexahedra, 4, 4, 4);
  eb_cut cut = {.origin = {2, 2, 2}, .normal = {0, 0, 1}, .radius = 0.8};
  apply(mesh, &cut);
  tap_ok(mesh->node_count == 126 && components(mesh) == 1,
         "of four parted faces inside a body only their common node is parted");
  eb_mesh_destroy(mesh);
  mesh = make(eb_generate_hexahedra, 3, 3, 2);
  cut = (eb_cut){.origin = {1.5, 1.5, 1}, .normal = {0, 0, 1}, .radius = 0.1};
  uint64_t hash = eb_mesh_hash(mesh);
  apply(mesh, &cut);
  tap_ok(eb_mesh_hash(mesh) == hash, "one parted face inside a body has nothing but a rim");
  eb_mesh_destroy(mesh);
}

/* ---- crossing cuts --------------------------------------------------------------------------- */

static void test_crossing(generator *generate, const char *name) {
  eb_mesh *mesh = make(generate, 4, 4, 4);
  int dimensions = mesh->type == EB_TRIANGLE ? 2 : 3;
  double before = volume(mesh);
  for (int axis = 0; axis < dimensions; axis++) {
    eb_cut cut = plane_at(axis, 2);
    apply(mesh, &cut);
  }
  int32_t pieces = 1 << dimensions, nodes = pieces * (dimensions == 2 ? 9 : 27);
  tap_ok(components(mesh) == pieces && mesh->node_count == nodes,
         "%s: crossing cuts leave %d parts of a size", name, pieces);
  tap_ok(volume(mesh) == before, "%s: no volume is lost", name);
  tap_succeeds(eb_mesh_validate(mesh), "and the mesh is valid");
  eb_mesh_destroy(mesh);
}

static void test_crumbs(void) {
  eb_mesh *mesh = make(eb_generate_tets5, 2, 2, 2);
  random_state random = random_seed(5);
  for (int i = 0; i < 200; i++) {
    eb_cut cut = random_cut(&random, mesh);
    cut.radius = INFINITY;
    apply(mesh, &cut);
  }
  tap_ok(components(mesh) == mesh->element_count && mesh->node_count == 4 * mesh->element_count,
         "200 cuts leave single elements");
  tap_succeeds(eb_mesh_validate(mesh), "that are valid");
  eb_mesh_destroy(mesh);
}

/* ---- what stays ------------------------------------------------------------------------------ */

static void test_belongings(void) {
  eb_mesh *mesh = make(eb_generate_tets6, 4, 2, 2), *kept;
  tap_require(EB_NEW(mesh->fibre, 3 * (size_t)mesh->element_count), "fibres");
  for (int32_t e = 0; e < mesh->element_count; e++) {
    mesh->region[e] = e % 2;
    mesh->fibre[3 * e + e % 3] = 1;
  }
  tap_require(eb_mesh_name_regions(mesh, 2, (const char *const[]){"even", "odd"}), "regions");
  tap_require(eb_mesh_copy(mesh, &kept), "a copy");
  tap_ok(eb_mesh_hash(kept) == eb_mesh_hash(mesh), "a copy is equal");
  eb_cut cut = plane_at(0, 2);
  apply(mesh, &cut);
  size_t elements = (size_t)mesh->element_count;
  tap_ok(memcmp(mesh->region, kept->region, elements * sizeof *mesh->region) == 0 &&
             memcmp(mesh->fibre, kept->fibre, 3 * elements * sizeof *mesh->fibre) == 0 &&
             eb_mesh_region(mesh, "odd") == 1,
         "regions and fibres stay with their elements");
  const eb_node_set *low = eb_mesh_set(mesh, "y0"), *end = eb_mesh_set(mesh, "x1");
  int32_t at = 0;
  for (int32_t i = 0; i < mesh->node_count; i++) at += mesh->X[3 * i + 1] == 0;
  bool good = low->count == at && end->count == eb_mesh_set(kept, "x1")->count;
  for (int32_t i = 0; i < low->count; i++)
    good = good && mesh->X[3 * low->nodes[i] + 1] == 0 &&
           (i == 0 || low->nodes[i - 1] < low->nodes[i]);
  tap_ok(good, "sets gain the copies of their nodes, in order, and nothing else");
  eb_mesh_destroy(kept);
  eb_mesh_destroy(mesh);
}

/* Three triangles that meet in one node alone: no face of theirs is parted by a cut elsewhere. */
static void test_elsewhere(void) {
  eb_mesh *mesh = make(eb_generate_triangles, 2, 1, 0), *other;
  tap_require(eb_mesh_copy(mesh, &other), "a copy");
  tap_require(eb_mesh_append(mesh, other, (const double[3]){2, 1, 0}), "another sheet");
  for (int32_t k = 0; k < 3 * mesh->element_count; k++)
    if (mesh->elements[k] == 6) mesh->elements[k] = 5; /* its corner (2, 1) is that of the first */
  for (int32_t k = 0; k < 3 * mesh->element_count; k++) mesh->elements[k] -= mesh->elements[k] > 6;
  memmove(mesh->X + 18, mesh->X + 21, 15 * sizeof *mesh->X);
  mesh->node_count--;
  int32_t nodes = mesh->node_count;
  eb_cut cut = {.origin = {1, 0.5, 0}, .normal = {1, 0, 0}, .radius = 0.7};
  tap_ok(components(mesh) == 1, "two sheets that touch in a node");
  apply(mesh, &cut);
  tap_ok(mesh->node_count == nodes + 2 && components(mesh) == 2,
         "still touch there when one of them is cut elsewhere");
  cut = (eb_cut){.origin = {9, 0, 0}, .normal = {1, 0, 0}, .radius = INFINITY};
  uint64_t hash = eb_mesh_hash(mesh);
  int32_t *origin;
  tap_require(eb_mesh_cut(mesh, &cut, &origin), "a cut");
  tap_ok(eb_mesh_hash(mesh) == hash && origin[nodes] == nodes, "a cut beside the mesh is none");
  free(origin);
  eb_mesh_destroy(other);
  eb_mesh_destroy(mesh);
}

static void test_components(void) {
  eb_mesh *mesh;
  int32_t part[6];
  tap_require(eb_mesh_create(EB_TRIANGLE, 6, 1, &mesh), "a mesh");
  memcpy(mesh->elements, (const int32_t[3]){1, 4, 3}, 3 * sizeof(int32_t));
  tap_ok(eb_mesh_components(mesh, part) == 4, "nodes of no element are parts of their own");
  tap_ok(memcmp(part, (const int32_t[6]){0, 1, 2, 1, 1, 3}, sizeof part) == 0,
         "parts are numbered by their first node");
  eb_mesh_destroy(mesh);
}

/* ---- bad input ------------------------------------------------------------------------------- */

static void test_bad(void) {
  static const struct {
    eb_cut cut;
    const char *why;
  } cases[] = {
      {{.normal = {0, 0, 0}, .radius = 1}, "no normal"},
      {{.normal = {1, NAN, 0}, .radius = 1}, "not finite"},
      {{.normal = {INFINITY, 0, 0}, .radius = 1}, "not finite"},
      {{.origin = {0, NAN, 0}, .normal = {1, 0, 0}, .radius = 1}, "not finite"},
      {{.normal = {1, 0, 0}, .radius = 0}, "radius 0"},
      {{.normal = {1, 0, 0}, .radius = -1}, "radius -1"},
      {{.normal = {1, 0, 0}, .radius = NAN}, "radius"},
      {{.time = NAN, .normal = {1, 0, 0}, .radius = 1}, "made at nan s"},
      {{.time = INFINITY, .normal = {1, 0, 0}, .radius = 1}, "made at inf s"},
  };
  eb_mesh *mesh = make(eb_generate_tets6, 2, 2, 2);
  uint64_t hash = eb_mesh_hash(mesh);
  int32_t *origin;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tap_fails(eb_mesh_cut(mesh, &cases[i].cut, &origin), EB_ERR_INVALID, cases[i].why,
              cases[i].why);
    tap_ok(!origin && eb_mesh_hash(mesh) == hash, "and changes nothing");
  }
  eb_cut cut = plane_at(0, 1);
  cut.normal[0] = 1e-200;
  apply(mesh, &cut);
  tap_ok(components(mesh) == 2, "the length of a normal does not matter");
  eb_mesh_destroy(mesh);
  /* Three tetrahedra on one face. */
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 6, 3, &mesh), "a mesh");
  for (int e = 0; e < 3; e++)
    memcpy(mesh->elements + 4 * e, (const int32_t[4]){0, 1, 2, 3 + e}, 4 * sizeof(int32_t));
  cut = plane_at(2, 0);
  tap_fails(eb_mesh_cut(mesh, &cut, &origin), EB_ERR_INVALID, "more than two",
            "a face of three elements");
  eb_mesh_destroy(mesh);
}

int main(void) {
  test_two_tetrahedra();
  test_halves(eb_generate_tets6, "tets6");
  test_halves(eb_generate_tets5, "tets5");
  test_halves(eb_generate_hexahedra, "hexahedra");
  test_between_planes();
  test_in_plane();
  test_slit();
  test_inner_disc();
  test_crossing(eb_generate_tets6, "tets6");
  test_crossing(eb_generate_tets5, "tets5");
  test_crossing(eb_generate_hexahedra, "hexahedra");
  test_crossing(eb_generate_triangles, "triangles");
  test_crumbs();
  test_random(eb_generate_tets6, "tets6");
  test_random(eb_generate_tets5, "tets5");
  test_random(eb_generate_hexahedra, "hexahedra");
  test_random(eb_generate_triangles, "triangles");
  test_belongings();
  test_elsewhere();
  test_components();
  test_bad();
  return tap_done();
}
