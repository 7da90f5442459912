/* The inverse trilinear map on random hexahedra, and what runs tell of it. */
#include "harness/audit/embedding.h"
#include "problems/base/memory.h"
#include "problems/mesh/embedding.h"
#include "problems/mesh/generate.h"
#include "tests/support/elements.h"
#include "tests/support/random.h"
#include "tests/tap.h"

static const double cube[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                  {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

/* The least determinant of the three edges at a corner, of a cube of edge 1 with moved corners. */
static double least_jacobian(double X[8][3]) {
  static const int next[8][3] = {{1, 3, 4}, {2, 0, 5}, {3, 1, 6}, {0, 2, 7},
                                 {7, 5, 0}, {4, 6, 1}, {5, 7, 2}, {6, 4, 3}};
  double least = 1e300;
  for (int a = 0; a < 8; a++) {
    double e[3][3];
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < 3; i++) e[k][i] = X[next[a][k]][i] - X[a][i];
    double d = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
               e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
               e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
    least = fmin(least, d);
  }
  return least;
}

static void random_hexahedron(random_state *random, double moved, double X[8][3]) {
  do {
    for (int a = 0; a < 8; a++)
      for (int i = 0; i < 3; i++) X[a][i] = cube[a][i] + random_uniform(random, -moved, moved);
  } while (least_jacobian(X) < 0.2);
}

/* Corners moved by up to `moved` of the edge; edges of any size, anywhere. */
static void test_updates(double moved, double mean_bound) {
  enum { TRIALS = 50000 };
  random_state random = random_seed(3);
  double most = 0, sum = 0, error = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    eb_v4 corner[8][3], x[3], xi[3];
    double wanted[EB_LANES][3];
    for (int l = 0; l < EB_LANES; l++) {
      double X[8][3], N[8], slope[8][3], r[3], size = pow(10, random_uniform(&random, -3, 3));
      random_hexahedron(&random, moved, X);
      for (int i = 0; i < 3; i++) wanted[l][i] = random_uniform(&random, -1, 1);
      for (int i = 0; i < 3; i++) r[i] = 0.5 * (1 + wanted[l][i]);
      reference_shapes(EB_HEXAHEDRON, r, N, slope);
      for (int i = 0; i < 3; i++) {
        x[i][l] = 0;
        for (int a = 0; a < 8; a++) {
          corner[a][i][l] = size * (X[a][i] + 10);
          x[i][l] += N[a] * corner[a][i][l];
        }
      }
    }
    eb_v4 updates = eb_embed4(8, (const eb_v4(*)[3])corner, x, xi);
    for (int l = 0; l < EB_LANES; l++) {
      most = fmax(most, updates[l]);
      sum += updates[l];
      for (int i = 0; i < 3; i++) error = fmax(error, fabs(xi[i][l] - wanted[l][i]));
    }
  }
  double mean = sum / TRIALS / EB_LANES;
  tap_ok(most <= 6 && mean <= mean_bound,
         "corners moved by %g: %g updates at most, %.3g on average", moved, most, mean);
  /* 1e-10 of an edge in x is twice that in xi, over a corner Jacobian of 0.2 at least. */
  tap_ok(error <= 1e-9, "and coordinates are found (%.2g off)", error);
}

static void test_parallelepiped(void) {
  random_state random = random_seed(7);
  eb_v4 corner[8][3], x[3], xi[3], tet[4][3];
  double F[9], off = 0;
  for (int i = 0; i < 9; i++) F[i] = random_uniform(&random, -1, 1) + 2 * (i % 4 == 0);
  for (int a = 0; a < 8; a++)
    for (int i = 0; i < 3; i++)
      corner[a][i] =
          eb_v4_set(F[3 * i] * cube[a][0] + F[3 * i + 1] * cube[a][1] + F[3 * i + 2] * cube[a][2]);
  for (int i = 0; i < 3; i++)
    x[i] = (eb_v4){0.3, 0.1, -2, 7} * corner[1][i] + (eb_v4){0.5, 0.9, 3, 0} * corner[3][i] +
           0.2 * corner[4][i];
  eb_v4 updates = eb_embed4(8, (const eb_v4(*)[3])corner, x, xi);
  for (int l = 0; l < EB_LANES; l++) off = fmax(off, fabs(updates[l] - 1));
  tap_ok(off == 0, "a parallelepiped takes one update, outside of it too");
  tap_near(xi[0][2], 2 * -2 - 1, 1e-9, "points outside are extrapolated");
  const int of[4] = {0, 1, 3, 4};
  for (int a = 0; a < 4; a++)
    for (int i = 0; i < 3; i++) tet[a][i] = corner[of[a]][i];
  eb_embed4(4, (const eb_v4(*)[3])tet, x, xi);
  const double want[3][4] = {{0.3, 0.1, -2, 7}, {0.5, 0.9, 3, 0}, {0.2, 0.2, 0.2, 0.2}};
  off = 0;
  for (int i = 0; i < 3; i++)
    for (int l = 0; l < EB_LANES; l++) off = fmax(off, fabs(xi[i][l] - want[i][l]));
  tap_below(off, 1e-13, "a tetrahedron's coordinates are shares of its nodes");
}

/* A lane without volume has no answer, and the others do. */
static void test_hopeless(void) {
  eb_v4 corner[8][3], x[3], xi[3];
  for (int a = 0; a < 8; a++)
    for (int i = 0; i < 3; i++) corner[a][i] = (eb_v4){cube[a][i], cube[a][i], 1, cube[a][i]};
  for (int i = 0; i < 3; i++) x[i] = (eb_v4){0.25, 0.5, 2, NAN};
  eb_v4 updates = eb_embed4(8, (const eb_v4(*)[3])corner, x, xi);
  tap_ok(fabs(xi[0][0] + 0.5) < 1e-12 && updates[1] == 0, "sound lanes are answered");
  tap_ok(isnan(xi[0][2]) && updates[2] == EB_EMBEDDING_UPDATES + 1 && isnan(xi[0][3]),
         "others are NaN");
}

/* What runs with embed = N tell. */
static void test_figures(void) {
  const eb_grid grid = {.cubes = {7, 5, 3}, .size = {0.7, 0.5, 0.3}};
  random_state random = random_seed(13);
  eb_embedding_figures figures, plain;
  eb_mesh *mesh;
  tap_require(eb_generate_hexahedra(&grid, &mesh), "mesh");
  tap_ok(eb_embedding_examine(mesh, 10, 1, &plain) && plain.iterations_max == 1 &&
             plain.iterations_mean == 1,
         "figures: boxes take one update");
  for (int i = 0; i < 3 * mesh->node_count; i++) mesh->X[i] += random_uniform(&random, -0.01, 0.01);
  tap_ok(eb_embedding_examine(mesh, 10, 1, &figures) && figures.iterations_max > 2 &&
             figures.iterations_max <= 6 && figures.iterations_mean < figures.iterations_max,
         "figures: others take some");
  tap_below(figures.error_max, 1e-9, "figures: and are found");
  /* Its corners on a line, the map of the first element has no inverse. */
  for (int a = 0; a < 8; a++)
    for (int i = 0; i < 3; i++) mesh->X[3 * mesh->elements[a] + i] = i == 0 ? a : 0;
  tap_ok(eb_embedding_examine(mesh, 1, 1, &figures) && isnan(figures.error_max) &&
             figures.iterations_max == EB_EMBEDDING_UPDATES + 1,
         "figures: what is not found is told");
  eb_mesh_destroy(mesh);
  tap_require(eb_mesh_create(EB_TRIANGLE, 3, 1, &mesh), "mesh");
  tap_ok(!eb_embedding_examine(mesh, 1, 1, &figures), "figures: triangles have none");
  eb_mesh_destroy(mesh);
}

int main(void) {
  test_updates(0.1, 3.5);
  test_updates(0.2, 4);
  test_updates(0.3, 4.2);
  test_parallelepiped();
  test_hopeless();
  test_figures();
  return tap_done();
}
