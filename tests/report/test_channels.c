/* What the player is given: places of positions, strains against LAPACK, base64, and the elements
 * behind a surface. */
#include "harness/report/channels.h"

#include <math.h>
#include <stdlib.h>

#include "problems/mesh/faces.h"
#include "problems/mesh/generate.h"
#include "tests/support/lapack.h"
#include "tests/support/random.h"
#include "tests/tap.h"

/* ---- positions ------------------------------------------------------------------------------- */

enum { POINTS = 5000 };

static void test_lattice(void) {
  static float x[3 * POINTS];
  static uint16_t place[3 * POINTS];
  random_state random = random_seed(1);
  eb_lattice lattice = eb_no_lattice;
  double worst[3] = {0}, farthest = 0;
  for (int i = 0; i < 3 * POINTS; i++) {
    const double half[3] = {1e-3, 7, 0};
    x[i] = (float)(100 + random_uniform(&random, -half[i % 3], half[i % 3]));
  }
  x[3] = NAN;
  x[7] = INFINITY;
  eb_lattice_widen(&lattice, x, POINTS / 2);
  eb_lattice_widen(&lattice, x + 3 * (POINTS / 2), POINTS - POINTS / 2);
  tap_ok(lattice.size[0] > 1.9e-3 && lattice.size[0] < 2.1e-3 && lattice.size[2] == 0,
         "the box holds all that is finite, and no more");
  x[3] = x[6];
  x[7] = x[4];
  eb_lattice_place(&lattice, x, POINTS, place);
  for (int i = 0; i < POINTS; i++) {
    double sum = 0;
    for (int d = 0; d < 3; d++) {
      double off = lattice.lo[d] + lattice.size[d] * place[3 * i + d] / 65535.0 - x[3 * i + d];
      worst[d] = fmax(worst[d], fabs(off));
      sum += off * off;
    }
    farthest = fmax(farthest, sqrt(sum));
  }
  for (int d = 0; d < 3; d++) /* half a place, and the rounding of doubles near 100 */
    tap_below(worst[d], 0.5 * lattice.size[d] / 65535 + 1e-13, "no place is off by more than half");
  tap_below(farthest, eb_lattice_precision(&lattice) * (1 + 1e-6), "nor by what the page says");
  tap_ok(farthest > 0.5 * eb_lattice_precision(&lattice), "which is not said in vain");
  const float outside[6] = {0, 1e6f, 100, NAN, -1, 100};
  eb_lattice_place(&lattice, outside, 2, place);
  tap_ok(place[0] == 0 && place[1] == 65535 && place[3] == 0 && place[4] == 0,
         "what is outside goes to the sides, what is no number to the lowest");
}

/* ---- strain ---------------------------------------------------------------------------------- */

/* Largest |s - 1| over the singular values. */
static double strain_of(const double F[9]) {
  double copy[9], s[3], most = 0;
  memcpy(copy, F, sizeof copy);
  if (lapack_singular_values3(copy, s) != 0) return NAN;
  for (int k = 0; k < 3; k++) most = fmax(most, fabs(s[k] - 1));
  return most;
}

/* x = F X of every node. */
static void deform(const eb_mesh *mesh, const double F[9], float *x) {
  for (int32_t n = 0; n < mesh->node_count; n++)
    for (int d = 0; d < 3; d++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) sum += F[3 * d + k] * mesh->X[3 * n + k];
      x[3 * n + d] = (float)sum;
    }
}

/* Positions are floats, so strains are good to some 1e-7 of the largest stretch over the share that
 * an element is of the mesh. */
static void test_strain(const eb_mesh *mesh, const char *name) {
  enum { MAPS = 200 };
  random_state random = random_seed(2);
  int32_t *all = calloc((size_t)mesh->element_count, sizeof *all);
  float *x = calloc(3 * (size_t)mesh->node_count, sizeof *x);
  float *strain = calloc((size_t)mesh->element_count, sizeof *strain);
  eb_strain of;
  double worst = 0;
  for (int32_t e = 0; e < mesh->element_count; e++) all[e] = e;
  all[1] = -1;
  tap_require(eb_strain_create(mesh, all, mesh->element_count, &of), "strains");
  for (int m = 0; m < MAPS; m++) {
    double F[9];
    bool identity = m == 0;
    for (int i = 0; i < 9; i++)
      F[i] = identity ? i % 4 == 0 : (i % 4 == 0) + random_uniform(&random, -1.5, 1.5);
    if (mesh->type == EB_TRIANGLE) F[2] = F[5] = F[6] = F[7] = 0, F[8] = 1;
    deform(mesh, F, x);
    eb_strain_at(&of, x, strain);
    double want = strain_of(F);
    for (int32_t e = 0; e < mesh->element_count; e++)
      if (e != 1) worst = fmax(worst, fabs(strain[e] - want));
  }
  tap_below(worst, 5e-6, name);
  tap_ok(strain[1] == 0, "  and none where there is no element");
  eb_strain_clear(&of);
  free(all);
  free(x);
  free(strain);
}

static void test_strains(void) {
  const eb_grid grid = {.cubes = {3, 2, 2}, .size = {1.5, 1, 1}};
  const eb_grid flat = {.cubes = {3, 2, 0}, .size = {1.5, 1, 0}};
  eb_mesh *mesh;
  tap_require(eb_generate_tets6(&grid, &mesh), "tetrahedra");
  eb_generate_jitter(&grid, 0.2, mesh);
  test_strain(mesh, "strains of tetrahedra are those of LAPACK");
  eb_mesh_destroy(mesh);
  tap_require(eb_generate_hexahedra(&grid, &mesh), "hexahedra");
  eb_generate_jitter(&grid, 0.2, mesh);
  test_strain(mesh, "of hexahedra that are no boxes, too");
  eb_mesh_destroy(mesh);
  tap_require(eb_generate_triangles(&flat, &mesh), "triangles");
  test_strain(mesh, "of triangles within their plane");
  eb_mesh_destroy(mesh);
}

/* ---- what is behind -------------------------------------------------------------------------- */

static bool has(const int32_t *element, int32_t nodes, int32_t node) {
  for (int32_t k = 0; k < nodes; k++)
    if (element[k] == node) return true;
  return false;
}

static void test_behind(void) {
  const eb_grid grid = {.cubes = {4, 3, 2}, .size = {4, 3, 2}};
  eb_mesh *mesh;
  eb_surface *surface;
  int32_t *behind, *nodes;
  bool all = true;
  tap_require(eb_generate_hexahedra(&grid, &mesh), "a mesh");
  tap_require(eb_mesh_surface(mesh, &surface), "its surface");
  nodes = calloc(3 * (size_t)surface->triangle_count, sizeof *nodes);
  for (int32_t i = 0; i < 3 * surface->triangle_count; i++)
    nodes[i] = surface->node[surface->triangles[i]];
  tap_require(eb_mesh_elements_behind(mesh, nodes, surface->triangle_count, &behind), "behind");
  for (int32_t i = 0; i < 3 * surface->triangle_count; i++)
    all = all && behind[i / 3] >= 0 &&
          has(mesh->elements + (size_t)behind[i / 3] * mesh->type, mesh->type, nodes[i]);
  tap_ok(all, "the element behind a triangle has its corners");
  free(behind);
  nodes[0] = 0;
  nodes[1] = mesh->node_count - 1;
  tap_require(eb_mesh_elements_behind(mesh, nodes, 1, &behind), "behind");
  tap_ok(behind[0] == -1, "there is none behind a triangle of far nodes");
  free(behind);
  free(nodes);
  eb_surface_destroy(surface);
  eb_mesh_destroy(mesh);
}

/* ---- base64 ---------------------------------------------------------------------------------- */

static bool encodes(const char *bytes, const char *want) {
  eb_text text = {0};
  tap_require(eb_text_printf(&text, "%s", ""), "a text");
  tap_require(eb_text_base64(&text, bytes, strlen(bytes)), "base64");
  bool same = strcmp(text.data, want) == 0;
  eb_text_clear(&text);
  return same;
}

static void test_base64(void) {
  enum { BYTES = 100001 };
  tap_ok(encodes("", "") && encodes("f", "Zg==") && encodes("fo", "Zm8=") &&
             encodes("foo", "Zm9v") && encodes("foob", "Zm9vYg==") &&
             encodes("fooba", "Zm9vYmE=") && encodes("foobar", "Zm9vYmFy") &&
             encodes("\xff\xfe\xfd", "//79"),
         "the examples of RFC 4648");
  char *bytes = calloc(1, BYTES);
  eb_text whole = {0}, parts = {0};
  for (int i = 0; i < BYTES; i++) bytes[i] = (char)((int64_t)i * i / 7);
  tap_require(eb_text_base64(&whole, bytes, BYTES), "much");
  for (int i = 0; i < BYTES; i += 3)
    tap_require(eb_text_base64(&parts, bytes + i, i + 3 < BYTES ? 3 : (size_t)(BYTES - i)), "bit");
  tap_ok(whole.length == 4 * ((BYTES + 2) / 3) && strcmp(whole.data, parts.data) == 0,
         "much at once is encoded as by threes");
  eb_text_clear(&whole);
  eb_text_clear(&parts);
  free(bytes);
}

int main(void) {
  test_lattice();
  test_strains();
  test_behind();
  test_base64();
  return tap_done();
}
