/* The stencils of isosurface stuffing: orientation, volume, and the angle bounds by enumeration. */
#include "problems/mesh/stencil.h"

#include "problems/mesh/mesh.h"
#include "problems/mesh/stuffing.h"
#include "tests/tap.h"
#include "tests/support/mesh_quality.h"

/* A lattice tetrahedron of spacing 1, positive, ordered by the parity rule. */
static const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}};
enum { DIRECTIONS = 15, LONG = 6, STAY = 14 };
static const double direction[DIRECTIONS][3] = {
    {1, 0, 0},      {-1, 0, 0},     {0, 1, 0},      {0, -1, 0},      {0, 0, 1},
    {0, 0, -1},     {.5, .5, .5},   {-.5, .5, .5},  {.5, -.5, .5},   {.5, .5, -.5},
    {-.5, -.5, .5}, {-.5, .5, -.5}, {.5, -.5, -.5}, {-.5, -.5, -.5}, {0, 0, 0}};

static double warp_of(bool is_long) {
  return is_long ? EB_STENCIL_WARP_LONG : EB_STENCIL_WARP_SHORT;
}

static void unpack(int code, int8_t sign[4]) {
  for (int i = 0; i < 4; i++, code /= 3) sign[i] = (int8_t)(code % 3 - 1);
}

/* A mesh over ten local nodes, to be filled by stencils. */
static eb_mesh *local_mesh(void) {
  eb_mesh *mesh = NULL;
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 10, 3, &mesh), "a local mesh");
  return mesh;
}

static void place_cut(eb_mesh *mesh, int i, int j, double t) {
  for (int d = 0; d < 3; d++)
    mesh->X[3 * EB_STENCIL_CUT[i][j] + d] = corners[i][d] + t * (corners[j][d] - corners[i][d]);
}

static void fill(eb_mesh *mesh, const int8_t sign[4]) {
  int8_t tets[3][4];
  mesh->element_count = eb_stencil(sign, tets);
  for (int n = 0; n < 4 * mesh->element_count; n++) mesh->elements[n] = tets[n / 4][n % 4];
}

/* ---- volume ---------------------------------------------------------------------------------- */

static double filled_volume(eb_mesh *mesh, const int8_t sign[4]) {
  eb_mesh_quality q;
  fill(mesh, sign);
  eb_mesh_measure(mesh, mesh->X, &q);
  return q.inverted ? -1 : q.total_volume;
}

/* A plane cuts planar quadrilaterals, so both sides together fill the tetrahedron. */
static void test_volume(void) {
  eb_mesh *mesh = local_mesh();
  double worst = 0;
  memcpy(mesh->X, corners, sizeof corners);
  for (int code = 0; code < 81; code++) {
    int8_t sign[4], other[4];
    unpack(code, sign);
    if (code == 40) continue; /* all four on the surface: no volume either side */
    for (int i = 0; i < 4; i++) other[i] = -sign[i];
    for (int i = 0; i < 4; i++)
      for (int j = i + 1; j < 4; j++) {
        double a = sign[i] * (0.3 + 0.2 * i), b = sign[j] * (0.3 + 0.2 * j);
        if (sign[i] * sign[j] < 0) place_cut(mesh, i, j, a / (a - b));
      }
    double whole = filled_volume(mesh, sign) + filled_volume(mesh, other);
    worst = fmax(worst, fabs(whole - 1.0 / 12));
  }
  tap_below(worst, 1e-16,
            "both sides of a plane fill the tetrahedron, positively, in all 80 cases");
  eb_mesh_destroy(mesh);
}

/* ---- angle bounds ---------------------------------------------------------------------------- */

/* The corner at which an edge of this direction ends, or -1 when that is outside the
 * tetrahedron. */
static int corner_towards(int i, int way) {
  for (int j = 0; j < 4 && way != STAY; j++) {
    bool equal = j != i;
    for (int d = 0; d < 3; d++) equal = equal && corners[j][d] - corners[i][d] == direction[way][d];
    if (equal) return j;
  }
  return -1;
}

/* A corner is warped along an edge whose other end had the opposite sign, and the two ends of an
 * edge are not both warped along it: some choice of the signs before warping must allow that. */
static bool possible(const int8_t sign[4], const int way[4]) {
  for (int choice = 0; choice < 16; choice++) {
    int8_t before[4];
    bool good = true;
    for (int i = 0; i < 4; i++) before[i] = sign[i] ? sign[i] : (choice >> i & 1 ? 1 : -1);
    for (int i = 0; i < 4; i++) {
      int j = sign[i] ? -1 : corner_towards(i, way[i]);
      if (j < 0) continue;
      good = good && before[j] != before[i];
      good = good && (sign[j] || corner_towards(j, way[j]) != i);
    }
    if (good) return true;
  }
  return false;
}

/* A corner on the surface, warped by a fraction of what it can be. */
static void place_corner(eb_mesh *mesh, int i, int way, double fraction) {
  for (int d = 0; d < 3; d++)
    mesh->X[3 * i + d] = corners[i][d] + fraction * warp_of(way < LONG) * direction[way][d];
}

static void measure(const eb_mesh *mesh, eb_mesh_quality *worst) {
  eb_mesh_quality q;
  eb_mesh_measure(mesh, mesh->X, &q);
  worst->min_dihedral = fmin(worst->min_dihedral, q.min_dihedral);
  worst->max_dihedral = fmax(worst->max_dihedral, q.max_dihedral);
  worst->inverted += q.inverted;
}

/* A number in 0..1 by a linear congruence (Knuth's MMIX). */
static double unit(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*state >> 11) * 0x1p-53;
}

/* Warps and cut points anywhere in their ranges. */
static void measure_inside(eb_mesh *mesh, const int8_t sign[4], const int way[4], uint64_t *state,
                           eb_mesh_quality *worst) {
  for (int sample = 0; sample < 8; sample++) {
    for (int i = 0; i < 4; i++) place_corner(mesh, i, way[i], unit(state));
    for (int i = 0; i < 4; i++)
      for (int j = i + 1; j < 4; j++) {
        double t = warp_of(j == (i ^ 1));
        if (sign[i] * sign[j] < 0) place_cut(mesh, i, j, t + (1 - 2 * t) * unit(state));
      }
    measure(mesh, worst);
  }
}

/* Every cut point at either end of its range. */
static void measure_cuts(eb_mesh *mesh, const int8_t sign[4], eb_mesh_quality *worst) {
  for (int ends = 0; ends < 64; ends++) {
    int edge = 0;
    bool skip = false;
    for (int i = 0; i < 4; i++)
      for (int j = i + 1; j < 4; j++, edge++) {
        double t = warp_of(j == (i ^ 1));
        if (sign[i] * sign[j] < 0)
          place_cut(mesh, i, j, ends >> edge & 1 ? t : 1 - t);
        else
          skip = skip || (ends >> edge & 1);
      }
    if (!skip) measure(mesh, worst);
  }
}

static void test_angles(void) {
  eb_mesh *mesh = local_mesh();
  eb_mesh_quality worst = {.min_dihedral = 180}, inside = worst;
  uint64_t state = 1;
  for (int code = 0; code < 81; code++) {
    int8_t sign[4];
    unpack(code, sign);
    fill(mesh, sign);
    int combinations = mesh->element_count > 0;
    for (int i = 0; i < 4; i++) combinations *= sign[i] ? 1 : DIRECTIONS;
    for (int n = 0; n < combinations; n++) {
      int way[4] = {STAY, STAY, STAY, STAY}, rest = n;
      for (int i = 0; i < 4; i++)
        if (!sign[i]) way[i] = rest % DIRECTIONS, rest /= DIRECTIONS;
      if (!possible(sign, way)) continue;
      for (int i = 0; i < 4; i++) place_corner(mesh, i, way[i], 1);
      measure_cuts(mesh, sign, &worst);
      measure_inside(mesh, sign, way, &state, &inside);
    }
  }
  tap_ok(worst.inverted == 0, "no warp inverts a stencil");
  tap_below(EB_STUFFING_MIN_DIHEDRAL, worst.min_dihedral, "the smallest angle of all stencils");
  tap_below(worst.max_dihedral, EB_STUFFING_MAX_DIHEDRAL, "the largest angle of all stencils");
  tap_below(worst.min_dihedral, EB_STUFFING_MIN_DIHEDRAL + 0.001, "the lower bound is attained");
  tap_below(EB_STUFFING_MAX_DIHEDRAL - 0.001, worst.max_dihedral, "the upper bound is attained");
  tap_ok(inside.inverted == 0 && inside.min_dihedral >= worst.min_dihedral &&
             inside.max_dihedral <= worst.max_dihedral,
         "the extremes lie at the ends of the ranges: random positions inside stay within");
  eb_mesh_destroy(mesh);
}

int main(void) {
  test_volume();
  test_angles();
  return tap_done();
}
