/* Rotations of nodes against Horn's eigenvector by LAPACK: random, flat, straight, mirrored and
 * collapsed rings. */
#include "tests/support/owned.h"
#include "tests/support/corotation.h"
#include "tests/support/lapack.h"

/* M = sum_j (x_j - x_i)(X_j - X_i)^T over the neighbours of node i. */
static void covariance(const body *b, int i, double M[9]) {
  const eb_block_matrix *graph = eb_elasticity_pattern(b->elasticity);
  memset(M, 0, 9 * sizeof *M);
  for (int at = graph->start[i]; at < graph->start[i + 1]; at++)
    for (int k = 0; k < 9; k++) {
      int j = graph->column[at];
      M[k] += (b->x[3 * j + k / 3] - b->x[3 * i + k / 3]) *
              (b->mesh->X[3 * j + k % 3] - b->mesh->X[3 * i + k % 3]);
    }
}

/* Horn's matrix of S = M^T (his S_xy is the sum of rest x times current y), its eigenvalues
 * ascending, and the rotation of the last eigenvector. */
static void horn(const double M[9], double w[4], double R[9]) {
  double xx = M[0], yx = M[1], zx = M[2], xy = M[3], yy = M[4], zy = M[5], xz = M[6], yz = M[7],
         zz = M[8];
  double N[16] = {xx + yy + zz, yz - zy, zx - xz, xy - yx,     yz - zy,      xx - yy - zz,
                  xy + yx,      zx + xz, zx - xz, xy + yx,     yy - xx - zz, yz + zy,
                  xy - yx,      zx + xz, yz + zy, zz - xx - yy};
  if (lapack_eigen(4, N, w) != 0) w[3] = NAN;
  double q0 = N[12], q1 = N[13], q2 = N[14], q3 = N[15];
  const double rows[9] = {q0 * q0 + q1 * q1 - q2 * q2 - q3 * q3,
                          2 * (q1 * q2 - q0 * q3),
                          2 * (q1 * q3 + q0 * q2),
                          2 * (q1 * q2 + q0 * q3),
                          q0 * q0 - q1 * q1 + q2 * q2 - q3 * q3,
                          2 * (q2 * q3 - q0 * q1),
                          2 * (q1 * q3 - q0 * q2),
                          2 * (q2 * q3 + q0 * q1),
                          q0 * q0 - q1 * q1 - q2 * q2 + q3 * q3};
  memcpy(R, rows, sizeof rows);
}

static double inner(const double A[9], const double B[9]) {
  double sum = 0;
  for (int k = 0; k < 9; k++) sum += A[k] * B[k];
  return sum;
}

/* Distance from orthogonal with determinant +1. */
static double impropriety(const double R[9]) {
  double product[9], worst = 0;
  multiply3(R, true, R, product);
  for (int k = 0; k < 9; k++) worst = worse(worst, fabs(product[k] - (k % 4 == 0)));
  double determinant = R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
                       R[2] * (R[3] * R[7] - R[4] * R[6]);
  return worse(worst, fabs(determinant - 1));
}

typedef struct verdict {
  double improper, suboptimal, apart;
  int determined; /* rings whose two largest eigenvalues lie apart */
} verdict;

/* Compares every node at b->x. */
static verdict judge(const body *b) {
  verdict v = {0};
  for (int i = 0; i < b->mesh->node_count; i++) {
    const double *got = eb_corotation_node_rotations(b->corotation) + 9 * i;
    double M[9], w[4], want[9];
    covariance(b, i, M);
    horn(M, w, want);
    double size = sqrt(inner(M, M));
    v.improper = worse(v.improper, impropriety(got));
    if (size == 0) continue;
    v.suboptimal = worse(v.suboptimal, (w[3] - inner(got, M)) / size);
    double gap = (w[3] - w[2]) / size;
    if (gap < 1e-6) continue;
    v.apart = worse(v.apart, gap * distance(9, got, want));
    v.determined++;
  }
  return v;
}

static void report(const char *what, verdict v, int at_least) {
  tap_ok(v.improper <= 5e-15, "%s: rotations are proper (%.1e)", what, v.improper);
  tap_ok(v.suboptimal <= 1e-14, "%s: none fits better (%.1e)", what, v.suboptimal);
  /* An eigenvector is known to rounding over its gap. */
  tap_ok(v.apart <= 1e-14 && v.determined >= at_least, "%s: they are Horn's (%.1e, %d rings)", what,
         v.apart, v.determined);
}

static void every_ring_gets_horns_rotation(void) {
  enum { RANDOM, DEFORMED, FLAT, NEARLY_FLAT, MIRRORED, SHAPES };
  static const char *const names[SHAPES] = {"random", "deformed", "flat", "nearly flat",
                                            "mirrored"};
  random_state random = random_seed(40);
  owned(body) b = body_of(body_mesh(4, 3, 2));
  int nodes = b.mesh->node_count;
  for (int shape = 0; shape < SHAPES; shape++) {
    verdict all = {0};
    for (int k = 0; k < 10; k++) {
      body_deform(&b, &random, 0.03);
      double normal[3];
      random_direction(&random, 3, normal);
      for (int i = 0; i < nodes; i++) {
        double *x = b.x + 3 * i, along = 0;
        for (int j = 0; j < 3; j++) {
          if (shape == RANDOM) x[j] = random_uniform(&random, -1, 1);
          along += normal[j] * x[j];
        }
        double keep = shape == NEARLY_FLAT ? 1e-9 : shape == MIRRORED ? -1 : 0;
        for (int j = 0; j < 3 && shape >= FLAT; j++) x[j] -= (1 - keep) * along * normal[j];
      }
      eb_corotation_rotate_nodes(b.corotation, b.x);
      verdict one = judge(&b);
      all.improper = worse(all.improper, one.improper);
      all.suboptimal = worse(all.suboptimal, one.suboptimal);
      all.apart = worse(all.apart, one.apart);
      all.determined += one.determined;
    }
    report(names[shape], all, 9 * nodes);
  }
}

/* All nodes on a line: many rotations fit equally well. */
static void straight_rings_turn_as_little_as_they_can(void) {
  random_state random = random_seed(41);
  owned(body) b = body_of(body_mesh(3, 2, 2));
  int nodes = b.mesh->node_count;
  double nearer = 0;
  verdict all = {0};
  owned(double) *last = zeros(double, 9 * nodes);
  body_deform(&b, &random, 0.02);
  eb_corotation_rotate_nodes(b.corotation, b.x);
  for (int k = 0; k < 20; k++) {
    double direction[3];
    random_direction(&random, 3, direction);
    memcpy(last, eb_corotation_node_rotations(b.corotation), 9 * (size_t)nodes * sizeof *last);
    for (int i = 0; i < nodes; i++) {
      double t = random_uniform(&random, -1, 1);
      for (int j = 0; j < 3; j++) b.x[3 * i + j] = t * direction[j];
    }
    eb_corotation_rotate_nodes(b.corotation, b.x);
    verdict one = judge(&b);
    all.improper = worse(all.improper, one.improper);
    all.suboptimal = worse(all.suboptimal, one.suboptimal);
    /* Others that fit: turned further about the line. None is nearer to the last. */
    for (int i = 0; i < nodes; i++) {
      const double *R = eb_corotation_node_rotations(b.corotation) + 9 * i;
      double own = inner(R, last + 9 * i);
      for (int step = 1; step < 12; step++) {
        double angle = 6.283185307 * step / 12, c = cos(angle), s = sin(angle), *d = direction;
        double turn[9] = {0, -s * d[2], s * d[1], s * d[2], 0, -s * d[0], -s * d[1], s * d[0], 0};
        double other[9];
        for (int j = 0; j < 9; j++) turn[j] += (1 - c) * d[j / 3] * d[j % 3] + (j % 4 == 0 ? c : 0);
        multiply3(turn, false, R, other);
        nearer = worse(nearer, fmax(0, inner(other, last + 9 * i) - own));
      }
    }
  }
  tap_below(all.improper, 5e-15, "straight: rotations are proper");
  tap_below(all.suboptimal, 1e-14, "straight: none fits better");
  tap_below(nearer, 1e-12, "straight: and none that fits is nearer to the last");
}

static void collapsed_rings_keep_their_rotation(void) {
  random_state random = random_seed(42);
  owned(body) b = body_of(body_mesh(2, 2, 1));
  int nodes = b.mesh->node_count;
  owned(double) *last = zeros(double, 9 * nodes);
  body_deform(&b, &random, 0.02);
  eb_corotation_rotate_nodes(b.corotation, b.x);
  memcpy(last, eb_corotation_node_rotations(b.corotation), 9 * (size_t)nodes * sizeof *last);
  for (int i = 0; i < 3 * nodes; i++) b.x[i] = 0.25;
  eb_corotation_rotate_nodes(b.corotation, b.x);
  tap_below(distance(9 * nodes, last, eb_corotation_node_rotations(b.corotation)), 5e-15,
            "all nodes at one point: every rotation stays");
  for (int i = 0; i < nodes; i++) b.x[3 * i + i % 3] = i % 2 ? NAN : INFINITY;
  eb_corotation_rotate_nodes(b.corotation, b.x);
  tap_below(distance(9 * nodes, last, eb_corotation_node_rotations(b.corotation)), 1e-14,
            "and so do those whose rings hold NaN or infinity");
}

/* A mirror image of the rest shape about a plane: s = (a, b, -c), and with b = c the rotation is
 * not determined. A ring turned over by half a turn about u_1 is the hardest case of the nearest
 * choice. */
static void mirrored_and_turned_over(void) {
  const eb_grid grid = {.cubes = {2, 2, 2}, .size = {0.2, 0.2, 0.2}};
  eb_mesh *mesh;
  tap_require(eb_generate_tets5(&grid, &mesh), "cubes");
  owned(body) b = body_of(mesh);
  verdict v;
  for (int axis = 0; axis < 3; axis++) {
    for (int i = 0; i < 3 * mesh->node_count; i++)
      b.x[i] = i % 3 == axis ? -mesh->X[i] : mesh->X[i];
    eb_corotation_rotate_nodes(b.corotation, b.x);
    v = judge(&b);
    tap_ok(v.improper <= 5e-15 && v.suboptimal <= 1e-14, "cubes mirrored along axis %d", axis);
  }
  for (int i = 0; i < 3 * mesh->node_count; i++) b.x[i] = -mesh->X[i];
  eb_corotation_rotate_nodes(b.corotation, b.x);
  v = judge(&b);
  tap_ok(v.improper <= 5e-15 && v.suboptimal <= 1e-14, "cubes mirrored in a point");
  eb_corotation_freeze_nodes(b.corotation);
  for (int side = 0; side < 2; side++) {
    for (int i = 0; i < 3 * mesh->node_count; i++)
      b.x[i] = i % 3 == 0 ? (side ? -1 : 1) * mesh->X[i] : 0;
    eb_corotation_rotate_nodes(b.corotation, b.x);
    v = judge(&b);
    tap_ok(v.improper <= 5e-15 && v.suboptimal <= 1e-14,
           side ? "a line turned by 180 degrees" : "a line as it was");
  }
}

/* 0.1 mm thick, bent round a cylinder and wrinkled. */
static void thin_sheets_are_no_trouble(void) {
  const eb_grid grid = {.cubes = {20, 20, 1}, .size = {0.4, 0.4, 1e-4}};
  eb_mesh *mesh;
  random_state random = random_seed(43);
  tap_require(eb_generate_tets6(&grid, &mesh), "sheet");
  owned(body) b = body_of(mesh);
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < mesh->node_count; i++) {
      const double *X = mesh->X + 3 * i, r = 0.1 - X[2];
      b.x[3 * i] = r * sin(X[0] / 0.1);
      b.x[3 * i + 1] = X[1];
      b.x[3 * i + 2] = 0.1 - r * cos(X[0] / 0.1);
      for (int j = 0; j < 3 && k; j++) b.x[3 * i + j] += random_uniform(&random, -1e-3, 1e-3);
    }
    eb_corotation_rotate_nodes(b.corotation, b.x);
    report(k ? "wrinkled sheet" : "bent sheet", judge(&b), mesh->node_count);
  }
}

static void turn_applies_them(void) {
  random_state random = random_seed(44);
  owned(body) b = body_of(body_mesh(3, 2, 2));
  int64_t n = 3 * b.mesh->node_count;
  owned(double) *out = zeros(double, n), *want = zeros(double, n);
  body_deform(&b, &random, 0.03);
  eb_corotation_rotate_nodes(b.corotation, b.x);
  for (int transpose = 0; transpose < 2; transpose++) {
    for (int64_t i = 0; i < n; i++) {
      const double *R = eb_corotation_node_rotations(b.corotation) + 9 * (i / 3);
      want[i] = 0;
      for (int j = 0; j < 3; j++)
        want[i] += (transpose ? R[3 * j + i % 3] : R[3 * (i % 3) + j]) * b.v[i - i % 3 + j];
    }
    eb_corotation_turn(b.corotation, transpose, b.v, out);
    tap_below(distance(n, out, want), 1e-15, transpose ? "turn by R_n^T" : "turn by R_n");
  }
  eb_corotation_turn(b.corotation, false, out, out);
  tap_below(distance(n, out, b.v), 5e-15, "and back, in place");
  eb_corotation_freeze_nodes(b.corotation);
  eb_corotation_turn(b.corotation, false, b.v, out);
  tap_ok(distance(n, out, b.v) == 0, "frozen nodes turn nothing");
}

int main(void) {
  every_ring_gets_horns_rotation();
  straight_rings_turn_as_little_as_they_can();
  collapsed_rings_keep_their_rotation();
  mirrored_and_turned_over();
  thin_sheets_are_no_trouble();
  turn_applies_them();
  return tap_done();
}
