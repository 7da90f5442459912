/* Estimators of element rotations: the two decompositions against LAPACK, spin against what its
 * derivation says, and what each does under inversion. */
#include "problems/elasticity/rotation.h"
#include "tests/support/owned.h"
#include "tests/support/lapack.h"
#include "tests/support/random.h"
#include "tests/support/turn.h"
#include "tests/tap.h"

enum { TRIALS = 20000, NODES = 8 };

static const double PI = 3.14159265358979323846;

/* Corners of a regular tetrahedron and of a cube: their second moments are alike in all
 * directions. */
static const double regular[4][3] = {{1, 1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, 1}};
static const double cube[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                  {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

typedef struct element {
  eb_mesh *mesh; /* EB_LANES elements apart from each other */
  eb_rotation_rests rests;
  eb_rotation_rest rest;
} element;

/* Corners off `corner` by up to `irregular` in each coordinate. */
static element element_of(eb_element_type type, const double (*corner)[3], double irregular) {
  element e;
  int nodes = (int)type;
  random_state random = random_seed(5);
  tap_require(eb_mesh_create(type, EB_LANES * nodes, EB_LANES, &e.mesh), "mesh");
  for (int k = 0; k < EB_LANES * nodes; k++) {
    e.mesh->elements[k] = k;
    for (int i = 0; i < 3; i++)
      e.mesh->X[3 * k + i] =
          corner[k % nodes][i] + 4 * (k / nodes) + random_uniform(&random, -irregular, irregular);
  }
  tap_require(eb_rotation_rests_create(e.mesh, 0, NULL, &e.rests), "rests");
  e.rest = eb_rotation_rest_of(&e.rests, 0);
  return e;
}

static void element_close(element *e) {
  eb_rotation_rests_clear(&e->rests);
  eb_mesh_destroy(e->mesh);
}
OWNED(element, element_close)

/* Lane l goes to F X + shift. */
static void place(const element *e, int l, const double F[9], const double shift[3],
                  eb_v4 (*x)[3]) {
  for (int a = 0; a < e->rests.nodes; a++) {
    const double *X = e->mesh->X + 3 * (l * e->rests.nodes + a);
    for (int i = 0; i < 3; i++)
      x[a][i][l] =
          F[3 * i] * X[0] + F[3 * i + 1] * X[1] + F[3 * i + 2] * X[2] + (shift ? shift[i] : 0);
  }
}

static void place_all(const element *e, const double F[9], eb_v4 (*x)[3]) {
  for (int l = 0; l < EB_LANES; l++) place(e, l, F, NULL, x);
}

static void rotate(const element *e, eb_rotation_method method, const eb_v4 (*x)[3], eb_v4 q[4],
                   eb_v4 R[9]) {
  eb_rotate4(method, e->rests.nodes, &e->rest, x, q, R);
}

static void set_identity(eb_v4 q[4]) {
  for (int k = 0; k < 4; k++) q[k] = eb_v4_set(k == 0);
}

static void multiply(const double A[9], const double B[9], double C[9]) {
  for (int i = 0; i < 9; i++) {
    C[i] = 0;
    for (int k = 0; k < 3; k++) C[i] += A[3 * (i / 3) + k] * B[3 * k + i % 3];
  }
}

static double determinant(const double F[9]) {
  return F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
         F[2] * (F[3] * F[7] - F[4] * F[6]);
}

static void lane_of(const eb_v4 R[9], int l, double out[9]) {
  for (int i = 0; i < 9; i++) out[i] = R[i][l];
}

static double distance(const double A[9], const double B[9]) {
  double sum = 0;
  for (int i = 0; i < 9; i++) sum += (A[i] - B[i]) * (A[i] - B[i]);
  return sqrt(sum);
}

/* Degrees between two rotations. */
static double angle(const double A[9], const double B[9]) {
  return 360 / PI * asin(fmin(1, distance(A, B) / sqrt(8)));
}

/* ---- decompositions -------------------------------------------------------------------------- */

/* The nearest orthogonal matrix to F and the nearest rotation, with the gaps that their error is
 * over: s1 + s2 with s2 positive, or with the sign of det F, over s0; and s2 over s0. */
static void lapack_polar(const double F[9], double orthogonal[9], double proper[9],
                         double gaps[3]) {
  double A[9], s[3], U[9], Vt[9];
  for (int i = 0; i < 9; i++) A[i] = F[3 * (i % 3) + i / 3];
  tap_require(lapack_svd3(A, s, U, Vt) ? EB_ERROR(EB_ERR_LIBRARY, "dgesvd") : EB_OK, "LAPACK");
  double sign = determinant(U) * determinant(Vt) < 0 ? -1 : 1;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double two = U[i] * Vt[3 * j] + U[3 + i] * Vt[3 * j + 1], third = U[6 + i] * Vt[3 * j + 2];
      orthogonal[3 * i + j] = two + third;
      proper[3 * i + j] = two + sign * third;
    }
  gaps[0] = (s[1] + s[2]) / s[0];
  gaps[1] = (s[1] + sign * s[2]) / s[0];
  gaps[2] = s[2] / s[0];
}

typedef void filler(random_state *random, double F[9]);

static void fill_uniform(random_state *random, double F[9]) {
  for (int i = 0; i < 9; i++) F[i] = random_uniform(random, -1, 1);
}

static void compose(random_state *random, double s0, double s1, double s2, double F[9]) {
  double U[9], V[9], US[9];
  random_rotation(random, U);
  random_rotation(random, V);
  for (int i = 0; i < 3; i++) {
    US[3 * i] = s0 * U[3 * i];
    US[3 * i + 1] = s1 * U[3 * i + 1];
    US[3 * i + 2] = s2 * U[3 * i + 2];
  }
  multiply(US, V, F);
}

/* Flat to within 1e-1 .. 1e-16. */
static void fill_near_singular(random_state *random, double F[9]) {
  compose(random, random_uniform(random, 0.5, 2), random_uniform(random, 0.5, 2),
          pow(10, random_uniform(random, -16, -1)), F);
}

static void fill_reflected(random_state *random, double F[9]) {
  compose(random, random_uniform(random, 1, 2), random_uniform(random, 1, 2),
          -random_uniform(random, 0.1, 0.9), F);
}

static void test_decompositions(const element *e, filler *fill, const char *name) {
  random_state random = random_seed(17);
  double off[2] = {0}, signs = 0, one[9], want[2][9], gaps[3];
  eb_v4 x[NODES][3], q[4], R[9], unused[4];
  set_identity(q);
  set_identity(unused);
  for (int trial = 0; trial < TRIALS / EB_LANES; trial++) {
    double F[EB_LANES][9];
    for (int l = 0; l < EB_LANES; l++) {
      fill(&random, F[l]);
      const double shift[3] = {random_uniform(&random, -5, 5), 3, -2};
      place(e, l, F[l], shift, x);
    }
    for (int method = 0; method < 2; method++) {
      const eb_rotation_method which = method ? EB_ROTATION_SVD : EB_ROTATION_DIAGONALIZATION;
      rotate(e, which, (const eb_v4(*)[3])x, method ? unused : q, R);
      for (int l = 0; l < EB_LANES; l++) {
        lane_of(R, l, one);
        lapack_polar(F[l], want[0], want[1], gaps);
        /* Flatter than that, rounding of the positions decides on which side det F is. */
        if (method == 1 || gaps[2] > 1e-13)
          off[method] = fmax(off[method], distance(one, want[method]) * gaps[method]);
        /* -1 or 1, whose sign rounding of the positions leaves in no doubt */
        double d = determinant(F[l]), sign = method == 0 && d < -1e-12 ? -1 : 1;
        if (fabs(d) > 1e-12) signs = fmax(signs, fabs(determinant(one) - sign));
      }
    }
  }
  /* Positions up to 10 leave 1e-15 of F; the gap is what rounding of F is over in R. */
  tap_ok(off[0] <= 1e-13, "%s: diagonalization gives LAPACK's orthogonal matrix (%.2g)", name,
         off[0]);
  tap_ok(off[1] <= 1e-13, "%s: svd gives LAPACK's rotation (%.2g)", name, off[1]);
  tap_ok(signs <= 1e-12, "%s: svd is proper, diagonalization has the sign of det F (%.2g)", name,
         signs);
}

/* ---- spin ------------------------------------------------------------------------------------ */

/* The largest error left after `updates` from the identity, of F = Q S with Q a turn by `degrees`
 * about any axis and stretches of S in lo .. hi. */
static double left_after(const element *e, eb_rotation_method method, double degrees, double lo,
                         double hi, int updates) {
  random_state random = random_seed(23);
  double worst = 0;
  for (int trial = 0; trial < 200; trial++) {
    double Q[EB_LANES][9], one[9];
    eb_v4 x[NODES][3], q[4], R[9];
    set_identity(q);
    for (int l = 0; l < EB_LANES; l++) {
      double axis[3], V[9], Vt[9], S[9], F[9];
      random_direction(&random, 3, axis);
      random_rotation(&random, V);
      for (int i = 0; i < 9; i++) Vt[i] = V[3 * (i % 3) + i / 3];
      for (int i = 0; i < 3; i++) {
        double s = random_uniform(&random, lo, hi);
        for (int k = 0; k < 3; k++) Vt[3 * i + k] *= s;
      }
      multiply(V, Vt, S);
      turn_about(axis, degrees * PI / 180, Q[l]);
      multiply(Q[l], S, F);
      place(e, l, F, NULL, x);
    }
    for (int k = 0; k < updates; k++) rotate(e, method, (const eb_v4(*)[3])x, q, R);
    for (int l = 0; l < EB_LANES; l++) {
      lane_of(R, l, one);
      worst = fmax(worst, distance(one, Q[l]));
    }
  }
  return worst;
}

static void test_convergence(const element *e, const char *name) {
  /* Gains of 0.7 to 1.4 leave 0.4 of the error at most near the end; far away the turn is that of
   * the sine of the angle, so that the first updates from 175 degrees are small. */
  tap_ok(left_after(e, EB_ROTATION_SPIN, 90, 0.7, 1.4, 60) <= 1e-13,
         "%s: spin comes to the polar rotation from 90 degrees", name);
  tap_ok(left_after(e, EB_ROTATION_SPIN, 175, 0.8, 1.2, 120) <= 1e-13,
         "%s: spin comes to the polar rotation from 175 degrees", name);
  /* Newton: quadratic once near. */
  tap_ok(left_after(e, EB_ROTATION_SPIN_FULL, 40, 0.7, 1.4, 8) <= 1e-13,
         "%s: the full J comes to it in eight updates from 40 degrees", name);
}

/* One update from a small turn about axis k of diag(s). */
static double gain_of(const element *e, eb_rotation_method method, int k, const double s[3]) {
  const double small = 1e-5, axis[3] = {k == 0, k == 1, k == 2};
  double Q[9], F[9];
  eb_v4 x[NODES][3], q[4], R[9];
  turn_about(axis, small, Q);
  for (int i = 0; i < 9; i++) F[i] = Q[i] * s[i % 3];
  place_all(e, F, x);
  set_identity(q);
  rotate(e, method, (const eb_v4(*)[3])x, q, R);
  int i = (k + 1) % 3, j = (k + 2) % 3;
  return R[3 * j + i][0] / small;
}

static void test_gain(const element *e, const char *name) {
  const double stretches[4][3] = {{1, 1, 1}, {1.5, 0.8, 1}, {1, 1, -0.5}, {3, 0.6, 0.6}};
  double off = 0, full = 0;
  for (int n = 0; n < 4; n++)
    for (int k = 0; k < 3; k++) {
      const double *s = stretches[n];
      double want = (s[(k + 1) % 3] + s[(k + 2) % 3]) / 2;
      off = fmax(off, fabs(gain_of(e, EB_ROTATION_SPIN, k, s) - want));
      full = fmax(full, fabs(gain_of(e, EB_ROTATION_SPIN_FULL, k, s) - 1));
    }
  /* The next term is of second order in the turn, and rounding 1e-16 over it. */
  tap_ok(off <= 1e-8, "%s: an update of spin gains (si + sj)/2 (%.2g off)", name, off);
  tap_ok(full <= 1e-8, "%s: one with the full J gains 1 (%.2g off)", name, full);
}

/* Below 4 the error shrinks, above it grows. */
static void test_limit(const element *e) {
  double left[2];
  for (int k = 0; k < 2; k++)
    left[k] = left_after(e, EB_ROTATION_SPIN, 1, 1.9 + 0.2 * k, 1.9 + 0.2 * k, 40);
  tap_ok(left[0] <= 1e-3 && left[1] >= 1e-1,
         "spin converges at a stretch of 1.9 and not at 2.1 (%.2g, %.2g)", left[0], left[1]);
}

/* By the right side or the left, it is one update: Algorithm 1 as it should stand. */
static void test_algorithm(const element *e) {
  random_state random = random_seed(29);
  double worst = 0;
  for (int trial = 0; trial < 200; trial++) {
    double F[9], before[9], after[9], start[4];
    eb_v4 x[NODES][3], q[4], R[9], at[9];
    fill_uniform(&random, F);
    for (int i = 0; i < 3; i++) F[4 * i] += 1;
    place_all(e, F, x);
    random_direction(&random, 4, start);
    for (int k = 0; k < 4; k++) q[k] = eb_v4_set(start[k]);
    eb_quaternion_matrix(q, eb_v4_set(2), at);
    lane_of(at, 0, before);
    double s[3] = {0}, body[3], half[3], omega[3];
    for (int a = 0; a < e->rests.nodes; a++) {
      double p[3], y[3];
      for (int i = 0; i < 3; i++) {
        const eb_v4 *p0 = e->rest.p0 + 3 * a;
        p[i] =
            before[3 * i] * p0[0][0] + before[3 * i + 1] * p0[1][0] + before[3 * i + 2] * p0[2][0];
        y[i] = x[a][i][0];
      }
      for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        s[i] += p[j] * y[k] - p[k] * y[j];
      }
    }
    const eb_v4 *J = e->rest.inverse_inertia;
    static const int entry[9] = {0, 5, 4, 5, 1, 3, 4, 3, 2};
    for (int i = 0; i < 3; i++)
      body[i] = before[i] * s[0] + before[3 + i] * s[1] + before[6 + i] * s[2];
    for (int i = 0; i < 3; i++)
      half[i] = J[entry[3 * i]][0] * body[0] + J[entry[3 * i + 1]][0] * body[1] +
                J[entry[3 * i + 2]][0] * body[2];
    for (int i = 0; i < 3; i++)
      omega[i] =
          before[3 * i] * half[0] + before[3 * i + 1] * half[1] + before[3 * i + 2] * half[2];
    const eb_v4 turn[4] = {eb_v4_set(1), eb_v4_set(omega[0] / 2), eb_v4_set(omega[1] / 2),
                           eb_v4_set(omega[2] / 2)};
    eb_v4 want[4];
    eb_quaternion_product(turn, q, want);
    eb_quaternion_normalize(want);
    eb_quaternion_matrix(want, eb_v4_set(2), at);
    lane_of(at, 0, after);
    rotate(e, EB_ROTATION_SPIN, (const eb_v4(*)[3])x, q, R);
    lane_of(R, 0, before);
    worst = fmax(worst, distance(before, after));
  }
  tap_below(worst, 1e-13, "spin is Algorithm 1 with the turn on the left");
}

static void test_moments(const element *e) {
  random_state random = random_seed(31);
  double F[9], one[9], other[9];
  eb_v4 x[NODES][3], q[4], r[4], R[9], S[9], M[9], inverse[6] = {{0}};
  fill_reflected(&random, F);
  place_all(e, F, x);
  for (int k = 0; k < 4; k++) q[k] = r[k] = eb_v4_set(0.5);
  for (int i = 0; i < 9; i++) M[i] = eb_v4_set(F[3 * (i % 3) + i / 3]);
  for (int i = 0; i < 3; i++) inverse[i] = eb_v4_set(0.5);
  rotate(e, EB_ROTATION_SPIN, (const eb_v4(*)[3])x, q, R);
  eb_rotate_of4(EB_ROTATION_SPIN, M, inverse, r, S);
  lane_of(R, 0, one);
  lane_of(S, 0, other);
  tap_below(distance(one, other), 1e-14, "F does for the moments of a regular element");
}

/* ---- inversion ------------------------------------------------------------------------------- */

/* Degrees off the identity after 20 updates at diag(1, 1, -0.5), turned by 10 degrees. */
static double kept(const element *e, eb_rotation_method method) {
  const double axis[3] = {0.6, 0, 0.8}, identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double Q[9], one[9];
  eb_v4 x[NODES][3], q[4], R[9];
  turn_about(axis, PI / 18, Q);
  for (int i = 0; i < 9; i++) Q[i] *= i % 3 == 2 ? -0.5 : 1;
  place_all(e, Q, x);
  set_identity(q);
  for (int k = 0; k < 40; k++) rotate(e, method, (const eb_v4(*)[3])x, q, R);
  lane_of(R, 0, one);
  return angle(one, identity);
}

static void test_properties(const element *e, const char *name) {
  for (int method = 0; method < EB_ROTATION_METHODS; method++) {
    const eb_rotation_info *info = &eb_rotations[method];
    random_state random = random_seed(37);
    double improper = 0, skew = 0, one[9], transposed[9], product[9];
    bool changed = false;
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    eb_v4 x[NODES][3], q[4], R[9];
    set_identity(q);
    for (int trial = 0; trial < 2000; trial++) {
      for (int l = 0; l < EB_LANES; l++) {
        double F[9];
        fill_uniform(&random, F);
        place(e, l, F, NULL, x);
      }
      rotate(e, (eb_rotation_method)method, (const eb_v4(*)[3])x, q, R);
      for (int l = 0; l < EB_LANES; l++) {
        lane_of(R, l, one);
        for (int i = 0; i < 9; i++) transposed[i] = one[3 * (i % 3) + i / 3];
        multiply(one, transposed, product);
        skew = fmax(skew, distance(product, identity));
        improper += determinant(one) < 0;
        changed |= q[0][l] != 1;
      }
    }
    tap_ok(skew <= 1e-12, "%s, %s: R is orthogonal (%.2g)", name, info->name, skew);
    tap_ok((improper == 0) == info->proper, "%s, %s: reflections are as the table says (%g)", name,
           info->name, improper);
    tap_ok(changed == info->tracks, "%s, %s: q is used as the table says", name, info->name);
    tap_ok((kept(e, (eb_rotation_method)method) <= 10.1) == info->survives_inversion,
           "%s, %s: inversion ends as the table says (%.3g degrees off)", name, info->name,
           kept(e, (eb_rotation_method)method));
    tap_ok(eb_rotation_find(info->name) == (eb_rotation_method)method, "%s is found by its name",
           info->name);
  }
}

/* ---- a moved apex ---------------------------------------------------------------------------- */

/* The largest turn of a frame in degrees while the apex of a regular tetrahedron goes round its
 * base in 72 frames, inverted on half of the way, and how far off the lap ends. */
static void lap(const element *e, eb_rotation_method method, double *most, double *home) {
  enum { FRAMES = 72 };
  double one[9], last[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, first[9], centre[3] = {0}, off[3];
  eb_v4 x[NODES][3], q[4], R[9];
  for (int a = 1; a < 4; a++)
    for (int i = 0; i < 3; i++) centre[i] += regular[a][i] / 3;
  for (int i = 0; i < 3; i++) off[i] = regular[0][i] - centre[i];
  set_identity(q);
  memcpy(first, last, sizeof first);
  *most = 0;
  double axis[3], length = 0;
  for (int i = 0; i < 3; i++) axis[i] = regular[1][i] - regular[2][i];
  for (int i = 0; i < 3; i++) length += axis[i] * axis[i];
  for (int i = 0; i < 3; i++) axis[i] /= sqrt(length);
  for (int frame = 1; frame <= FRAMES; frame++) {
    double T[9];
    turn_about(axis, 2 * PI * frame / FRAMES, T);
    for (int a = 0; a < 4; a++)
      for (int i = 0; i < 3; i++)
        x[a][i] = eb_v4_set(a ? regular[a][i]
                              : centre[i] + T[3 * i] * off[0] + T[3 * i + 1] * off[1] +
                                    T[3 * i + 2] * off[2]);
    rotate(e, method, (const eb_v4(*)[3])x, q, R);
    lane_of(R, 0, one);
    *most = fmax(*most, angle(one, last));
    memcpy(last, one, sizeof last);
  }
  *home = angle(last, first);
}

static void test_lap(const element *e) {
  double most, home;
  lap(e, EB_ROTATION_SPIN, &most, &home);
  tap_ok(most < 30 && home < 10,
         "spin turns less than 30 degrees a frame and comes home (%.3g, %.3g)", most, home);
  lap(e, EB_ROTATION_SVD, &most, &home);
  tap_ok(most > 60, "svd jumps while inverted (%.3g)", most);
}

/* ---- lanes and rest -------------------------------------------------------------------------- */

static void test_lanes(const element *e, const char *name) {
  random_state random = random_seed(41);
  for (int method = 0; method < EB_ROTATION_METHODS; method++) {
    double F[EB_LANES][9];
    eb_v4 x[NODES][3], q[4], r[4], R[9], S[9];
    bool same = true, kept_q = true;
    for (int l = 0; l < EB_LANES; l++) {
      fill_uniform(&random, F[l]);
      place(e, l, F[l], NULL, x);
    }
    set_identity(q);
    set_identity(r);
    rotate(e, (eb_rotation_method)method, (const eb_v4(*)[3])x, q, R);
    x[1][2][1] = NAN;
    rotate(e, (eb_rotation_method)method, (const eb_v4(*)[3])x, r, S);
    for (int l = 0; l < EB_LANES; l++) {
      for (int i = 0; i < 9; i++) same &= l == 1 || R[i][l] == S[i][l];
      for (int k = 0; k < 4; k++) {
        same &= l == 1 || q[k][l] == r[k][l];
        kept_q &= l != 1 || r[k][l] == (k == 0);
      }
    }
    tap_ok(same && kept_q, "%s, %s: NaN stays in its lane and out of q", name,
           eb_rotations[method].name);
  }
}

static void test_rest(const element *e, const char *name) {
  double off = 0;
  for (int l = 0; l < EB_LANES; l++) {
    double J[9] = {0}, inverse[9], product[9];
    static const int entry[9] = {0, 5, 4, 5, 1, 3, 4, 3, 2};
    for (int a = 0; a < e->rests.nodes; a++) {
      const eb_v4 *p = e->rest.p0 + 3 * a;
      for (int i = 0; i < 9; i++) {
        J[i] -= p[i / 3][l] * p[i % 3][l];
        if (i % 4 == 0) J[i] += p[0][l] * p[0][l] + p[1][l] * p[1][l] + p[2][l] * p[2][l];
      }
    }
    for (int i = 0; i < 9; i++) inverse[i] = e->rest.inverse_inertia[entry[i]][l];
    multiply(J, inverse, product);
    for (int i = 0; i < 9; i++) off = fmax(off, fabs(product[i] - (i % 4 == 0)));
  }
  tap_ok(off <= 1e-13, "%s: inv J0 is the inverse of J0 (%.2g)", name, off);
}

static void test_refusals(void) {
  eb_mesh *mesh;
  eb_rotation_rests rests;
  tap_require(eb_mesh_create(EB_TRIANGLE, 3, 1, &mesh), "mesh");
  tap_fails(eb_rotation_rests_create(mesh, 0, NULL, &rests), EB_ERR_UNSUPPORTED,
            "elements of 3 nodes", "triangles are refused");
  eb_mesh_destroy(mesh);
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 4, 1, &mesh), "mesh");
  for (int i = 0; i < 4; i++) mesh->elements[i] = i;
  tap_fails(eb_rotation_rests_create(mesh, 0, NULL, &rests), EB_ERR_INVALID, "no positive volume",
            "an element without volume is refused");
  eb_mesh_destroy(mesh);
}

int main(void) {
  owned(element) tet = element_of(EB_TETRAHEDRON, regular, 0),
                 hex = element_of(EB_HEXAHEDRON, cube, 0),
                 odd_tet = element_of(EB_TETRAHEDRON, regular, 0.3),
                 odd_hex = element_of(EB_HEXAHEDRON, cube, 0.3);
  test_decompositions(&odd_tet, fill_uniform, "random, tetrahedra");
  test_decompositions(&odd_tet, fill_near_singular, "near-singular, tetrahedra");
  test_decompositions(&odd_tet, fill_reflected, "reflected, tetrahedra");
  test_decompositions(&odd_hex, fill_uniform, "random, hexahedra");
  test_decompositions(&odd_hex, fill_near_singular, "near-singular, hexahedra");
  test_decompositions(&odd_hex, fill_reflected, "reflected, hexahedra");
  test_convergence(&tet, "tetrahedra");
  test_convergence(&hex, "hexahedra");
  test_gain(&tet, "tetrahedra");
  test_gain(&hex, "hexahedra");
  test_limit(&hex);
  test_algorithm(&odd_tet);
  test_algorithm(&odd_hex);
  test_moments(&tet);
  test_properties(&tet, "tetrahedra");
  test_properties(&hex, "hexahedra");
  test_lap(&tet);
  test_lanes(&odd_tet, "tetrahedra");
  test_lanes(&odd_hex, "hexahedra");
  test_rest(&odd_tet, "tetrahedra");
  test_rest(&odd_hex, "hexahedra");
  test_refusals();
  return tap_done();
}
