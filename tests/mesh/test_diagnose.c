/* What a diagnosis finds in meshes that are wrong in a known way, and that it finds nothing in
 * sound ones. */
#include "problems/mesh/diagnose.h"

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/mesh/generate.h"
#include "problems/mesh/sdf.h"
#include "problems/mesh/stuffing.h"
#include "tests/support/mesh_quality.h"
#include "tests/support/random.h"
#include "tests/tap.h"

typedef eb_error generator(const eb_grid *grid, eb_mesh **out);

static generator *const generators[] = {eb_generate_tets6, eb_generate_tets5, eb_generate_hexahedra,
                                        eb_generate_triangles};
static const char *const kinds[] = {"tets6", "tets5", "hexahedra", "triangles"};
enum { KINDS = 4, PLANAR = 3 };

static eb_mesh *made(int kind, const eb_grid *grid) {
  eb_mesh *mesh = NULL;
  tap_require(generators[kind](grid, &mesh), kinds[kind]);
  return mesh;
}

static eb_mesh_diagnosis diagnosed(const eb_mesh *mesh) {
  eb_mesh_diagnosis d;
  tap_require(eb_mesh_diagnose(mesh, &d), "a diagnosis");
  return d;
}

static bool is_sound(const eb_mesh_diagnosis *d, int32_t pieces) {
  return d->pieces == pieces && !d->coincident && !d->hanging && !d->holding && !d->crowded_edges;
}

/* What it says of it; the caller frees it. */
static char *words_of(const eb_mesh *mesh) {
  eb_text text = {0};
  eb_mesh_diagnosis d = diagnosed(mesh);
  tap_require(eb_text_printf(&text, "%s", ""), "text");
  tap_require(eb_mesh_diagnosis_print(&d, mesh->type, "m", &text), "words");
  return text.data;
}

/* Two halves of a bar side by side along x, the second with its own counts, with no node in common.
 */
static eb_mesh *halves(int kind, const int32_t first[3], const int32_t second[3], double gap) {
  const eb_grid left = {.cubes = {first[0], first[1], first[2]}, .size = {1, 1, 1}};
  const eb_grid right = {.cubes = {second[0], second[1], second[2]}, .size = {1, 1, 1}};
  eb_mesh *mesh = made(kind, &left), *other = made(kind, &right);
  tap_require(eb_mesh_append(mesh, other, (const double[3]){1 + gap, 0, 0}), "halves");
  eb_mesh_destroy(other);
  return mesh;
}

/* One node of those at exactly one place. */
static void merge(eb_mesh *mesh) {
  int32_t *to, used = 0;
  tap_require(EB_NEW(to, mesh->node_count), "memory");
  for (int32_t i = 0; i < mesh->node_count; i++) {
    int32_t j = 0;
    while (j < used && eb_squared_distance3(mesh->X + 3 * j, mesh->X + 3 * i) > 0) j++;
    if (j == used) memmove(mesh->X + 3 * used++, mesh->X + 3 * i, 24);
    to[i] = j;
  }
  for (int32_t k = 0; k < mesh->element_count * (int32_t)mesh->type; k++)
    mesh->elements[k] = to[mesh->elements[k]];
  mesh->node_count = used;
  free(to);
}

/* ---- sound meshes ---------------------------------------------------------------------------- */

static void test_sound(void) {
  const eb_grid grid = {.cubes = {5, 3, 4}, .origin = {7, -2, 0.1}, .size = {1.3, 1e-2, 30}};
  random_state random = random_seed(3);
  for (int kind = 0; kind < KINDS; kind++) {
    eb_mesh *mesh = made(kind, &grid);
    eb_mesh_diagnosis d = diagnosed(mesh);
    tap_ok(is_sound(&d, 1), "%s: a block is sound", kinds[kind]);
    double turn[9];
    random_rotation(&random, turn);
    for (int32_t i = 0; i < mesh->node_count; i++) {
      const double p[3] = {mesh->X[3 * i], mesh->X[3 * i + 1], mesh->X[3 * i + 2]};
      eb_turn3(turn, p, mesh->X + 3 * i);
    }
    d = diagnosed(mesh);
    tap_ok(is_sound(&d, 1), "%s: so it is in any turn", kinds[kind]);
    eb_mesh_destroy(mesh);
  }
  eb_mesh *ring = NULL, *jittered = made(0, &grid);
  tap_require(eb_generate_ring(18, 1, 0.3, &ring), "a ring");
  eb_mesh_diagnosis d = diagnosed(ring);
  tap_ok(is_sound(&d, 1), "a ring is sound");
  eb_generate_jitter(&grid, 0.3, jittered);
  d = diagnosed(jittered);
  tap_ok(is_sound(&d, 1), "so is a block of shifted nodes");
  eb_mesh_destroy(jittered);
  eb_mesh_destroy(ring);
  /* So coarse, thin parts of models may hang together in an edge; nothing else is wrong. */
  for (const eb_model *model = eb_models(); model->name; model++) {
    eb_mesh *mesh = NULL;
    tap_require(eb_stuff_to_count(&model->solid, 2000, 0.5, &mesh), model->name);
    d = diagnosed(mesh);
    d.crowded_edges = 0;
    tap_ok(is_sound(&d, 1) && d.quality > 0.1, "%s, stuffed, is sound", model->name);
    eb_mesh_destroy(mesh);
  }
}

/* ---- what is wrong --------------------------------------------------------------------------- */

/* Halves of equal and of different counts whose common face has (a + 1) (b + 1) nodes. */
static void test_unmerged(void) {
  const int32_t counts[3] = {2, 3, 2};
  for (int kind = 0; kind < KINDS; kind++) {
    eb_mesh *mesh = halves(kind, counts, counts, 0);
    eb_mesh_diagnosis d = diagnosed(mesh);
    int32_t pairs = kind == PLANAR ? 4 : 12;
    tap_ok(d.pieces == 2 && d.coincident == pairs && d.hanging == 0 && d.crowded_edges == 0,
           "%s: two pieces, %d pairs of nodes at one place (%d), none hangs (%d)", kinds[kind],
           pairs, d.coincident, d.hanging);
    char *words = words_of(mesh);
    tap_ok(strstr(words, "m: the mesh is in 2 pieces that share no node") &&
               strstr(words, "pairs of nodes lie at one place and are not joined"),
           "which it says");
    free(words);
    /* Rounded as by six digits of a file, they are still at one place. */
    for (int32_t i = 0; i < 3 * mesh->node_count; i++) mesh->X[i] += 1e-6 * sin(7.0 * i);
    d = diagnosed(mesh);
    tap_ok(d.coincident == pairs, "%s: so they are when rounded", kinds[kind]);
    eb_mesh_destroy(mesh);
    mesh = halves(kind, counts, counts, 0);
    merge(mesh);
    d = diagnosed(mesh);
    tap_ok(is_sound(&d, 1), "%s: merged they are sound", kinds[kind]);
    eb_mesh_destroy(mesh);
    mesh = halves(kind, counts, counts, 0.01);
    d = diagnosed(mesh);
    tap_ok(is_sound(&d, 2), "%s: halves with a gap are two bodies", kinds[kind]);
    eb_mesh_destroy(mesh);
  }
}

/* A coarse half beside one twice as fine, joined at the nodes that they share. Hanging: the middles
 * of the 12 edges and of the 4 squares of the common face of 2 x 2 squares, but where a diagonal of
 * triangles meets the middle it is in an edge all the same. They lie in the coarse triangles of
 * that face, and along its rim in those of the sides. */
static void test_hanging(void) {
  const int32_t coarse[3] = {2, 2, 2}, fine[3] = {4, 4, 4};
  for (int kind = 0; kind < KINDS; kind++) {
    for (int swap = 0; swap < 2; swap++) {
      eb_mesh *mesh = halves(kind, swap ? fine : coarse, swap ? coarse : fine, 0);
      merge(mesh);
      eb_mesh_diagnosis d = diagnosed(mesh);
      /* planar: the middles of the two edges; else 5 x 5 nodes less the 3 x 3 that are merged */
      int32_t hanging = kind == PLANAR ? 2 : 16;
      /* planar: the triangle behind each edge; hexahedra: 4 squares and 8 at their sides;
       * tetrahedra: 8 triangles and 8 at their sides */
      int32_t holding = kind == PLANAR ? 2 : kind == 2 ? 12 : 16;
      tap_ok(d.pieces == 1 && d.coincident == 0 && d.hanging == hanging && d.holding == holding,
             "%s: %d nodes hang (%d) in %d faces (%d)", kinds[kind], d.hanging, hanging, d.holding,
             holding);
      char *words = words_of(mesh);
      tap_ok(strstr(words, "the mesh does not conform") != NULL, "which it says");
      free(words);
      eb_mesh_destroy(mesh);
    }
  }
  const int32_t finer[3] = {3, 3, 3};
  eb_mesh *mesh = halves(0, coarse, finer, 0);
  eb_mesh_diagnosis d = diagnosed(mesh);
  tap_ok(d.pieces == 2 && d.coincident == 4 && d.hanging == 5 + 12,
         "unmerged halves of 2 and 3 squares: the 4 corners coincide, the other %d nodes hang (17)",
         d.hanging);
  eb_mesh_destroy(mesh);
}

/* Tetrahedra with an apex each, all at one place: pairs of them are the square of their number. The
 * search ends, and says that it found not all. */
static void test_crowd(void) {
  enum { COUNT = 20000 };
  eb_mesh *mesh = NULL;
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 4 * COUNT, COUNT, &mesh), "a crowd");
  for (int32_t e = 0; e < COUNT; e++)
    for (int32_t a = 0; a < 4; a++) {
      mesh->elements[4 * e + a] = 4 * e + a;
      for (int d = 0; a > 0 && d < 3; d++) mesh->X[12 * e + 3 * a + d] = (d == a - 1) * (1.0 + e);
    }
  eb_mesh_diagnosis d = diagnosed(mesh);
  tap_ok(d.at_least && d.coincident > COUNT && d.coincident < COUNT * (COUNT - 1) / 2,
         "of all pairs at a crowded place some are found (%d)", d.coincident);
  char *words = words_of(mesh);
  tap_ok(strstr(words, "m: at least ") != NULL, "and they are told to be some");
  free(words);
  eb_mesh_destroy(mesh);
}

/* Two cubes that share one edge. */
static void test_hinge(void) {
  const eb_grid grid = {.cubes = {1, 1, 1}, .size = {1, 1, 1}};
  for (int kind = 0; kind < PLANAR; kind += 2) { /* tets6 and hexahedra: corners alone */
    eb_mesh *mesh = made(kind, &grid), *other = made(kind, &grid);
    tap_require(eb_mesh_append(mesh, other, (const double[3]){1, 1, 0}), "two cubes");
    merge(mesh);
    eb_mesh_diagnosis d = diagnosed(mesh);
    tap_ok(d.pieces == 1 && d.crowded_edges == 1 && d.coincident == 0 && d.hanging == 0,
           "%s: two cubes on a hinge have one edge of four faces (%d)", kinds[kind],
           d.crowded_edges);
    eb_mesh_destroy(other);
    eb_mesh_destroy(mesh);
  }
}

/* ---- quality --------------------------------------------------------------------------------- */

static eb_mesh *tetrahedron(const double X[12]) {
  eb_mesh *mesh = NULL;
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 4, 1, &mesh), "one tetrahedron");
  memcpy(mesh->X, X, 12 * sizeof *X);
  for (int a = 0; a < 4; a++) mesh->elements[a] = a;
  return mesh;
}

static void test_quality(void) {
  static const double regular[] = {1, 1, 1, -1, 1, -1, 1, -1, -1, -1, -1, 1};
  static const double corner[] = {0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2};
  eb_mesh *mesh = tetrahedron(regular);
  tap_near(diagnosed(mesh).quality, 1, 1e-15, "the regular tetrahedron has a mean ratio of 1");
  eb_mesh_destroy(mesh);
  mesh = tetrahedron(corner);
  /* 12 (3 * 8/6)^(2/3) / (3 * 4 + 3 * 8) */
  tap_near(diagnosed(mesh).quality, cbrt(16.0) / 3, 1e-15, "that of a cube's corner");
  mesh->X[11] = 1e-3;
  char *words = words_of(mesh);
  tap_ok(strstr(words, "element 0 (counted from 0) has a mean ratio of 0.0") != NULL,
         "a flat element is told: %s", words);
  free(words);
  eb_mesh_destroy(mesh);
  /* The dihedral angles, by another formula. */
  const eb_grid grid = {.cubes = {4, 3, 3}, .size = {1, 2, 3}};
  mesh = made(0, &grid);
  eb_generate_jitter(&grid, 0.3, mesh);
  eb_mesh_quality other;
  eb_mesh_measure(mesh, mesh->X, &other);
  eb_mesh_diagnosis d = diagnosed(mesh);
  tap_near(d.min_dihedral, other.min_dihedral, 1e-9, "the least dihedral angle");
  tap_near(d.max_dihedral, other.max_dihedral, 1e-9, "the greatest");
  eb_mesh_destroy(mesh);
  const eb_grid sheared = {.cubes = {2, 1, 1}, .size = {2, 3, 4}};
  mesh = made(2, &sheared);
  tap_near(diagnosed(mesh).quality, 1, 1e-15, "a box has a scaled Jacobian of 1");
  for (int32_t i = 0; i < mesh->node_count; i++) mesh->X[3 * i] += mesh->X[3 * i + 2];
  tap_near(diagnosed(mesh).quality, sqrt(0.5), 1e-15, "sheared by 45 degrees it has that angle's");
  eb_mesh_destroy(mesh);
  mesh = made(PLANAR, &(const eb_grid){.cubes = {1, 1, 1}, .size = {1, 1, 1}});
  tap_near(diagnosed(mesh).quality, sqrt(3.0) / 2, 1e-15, "half a square has sqrt(3) / 2");
  eb_mesh_destroy(mesh);
}

int main(void) {
  test_sound();
  test_unmerged();
  test_hanging();
  test_hinge();
  test_crowd();
  test_quality();
  return tap_done();
}
