/* The mixed form against differences of its own Lagrangian, against the dense system of positions,
 * stretches and multipliers that it condenses, and the solver mfem against newton. */
#include "problems/elasticity/mixed.h"
#include "problems/elasticity/svd3.h"
#include "solvers/linalg/linear.h"
#include "solvers/mfem/kkt.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"
#include "tests/support/lapack.h"

typedef struct mixed_case {
  fixture f;
  const eb_mesh *mesh;
  const eb_elasticity *elasticity;
  eb_mixed *mixed;
  eb_block_matrix *matrix;
  int32_t size;
  double *x, *q, *g, *p, *trial;
} mixed_case;

static uint64_t seed = 7;

/* Positions off rest by `off` of an edge, at random. */
static void scatter(const mixed_case *c, double off, double *x) {
  for (int32_t i = 0; i < c->size; i++) x[i] = c->mesh->X[i] + off * eb_block_random(&seed);
}

static mixed_case case_open(const char *parameters, double off) {
  mixed_case c = {.f = fixture_open(parameters)};
  c.mesh = c.f.scene->mesh;
  c.elasticity = c.f.scene->elasticity;
  c.size = 3 * c.mesh->node_count;
  tap_require(eb_mixed_create(c.elasticity, &c.mixed), parameters);
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(c.elasticity), &c.matrix), "a matrix");
  double **vectors[] = {&c.x, &c.q, &c.g, &c.p, &c.trial};
  for (int k = 0; k < 5; k++) *vectors[k] = calloc((size_t)c.size, sizeof(double));
  scatter(&c, off, c.x);
  for (int32_t i = 0; i < c.size; i++) c.p[i] = off * eb_block_random(&seed);
  return c;
}

static void case_close(mixed_case *c) {
  free(c->x);
  free(c->q);
  free(c->g);
  free(c->p);
  free(c->trial);
  eb_block_matrix_destroy(c->matrix);
  eb_mixed_destroy(c->mixed);
  fixture_close(&c->f);
}
OWNED(mixed_case, case_close)

static double dot(const mixed_case *c, const double *a, const double *b) {
  double sum = 0;
  for (int32_t i = 0; i < c->size; i++) sum += a[i] * b[i];
  return sum;
}

static double curvature(const mixed_case *c, const double *p) {
  double sum = 0;
  for (int32_t i = 0; i < c->matrix->rows; i++)
    for (int32_t b = c->matrix->start[i]; b < c->matrix->start[i + 1]; b++)
      for (int k = 0; k < 9; k++)
        sum +=
            p[3 * i + k / 3] * c->matrix->values[9 * b + k] * p[3 * c->matrix->column[b] + k % 3];
  return sum;
}

static double lagrangian_at(mixed_case *c, double along, double stretch) {
  for (int32_t i = 0; i < c->size; i++) c->trial[i] = c->x[i] + along * c->p[i];
  return eb_mixed_lagrangian(c->mixed, c->trial, stretch).value;
}

/* At stretches that are not those of x: what the sweeps say is what the Lagrangian does. */
static void derivatives(const char *parameters, const char *name) {
  owned(mixed_case) c = case_open(parameters, 0.02);
  eb_mixed_energy before;
  scatter(&c, 0.02, c.trial);
  eb_mixed_project(c.mixed, c.trial);
  eb_mixed_condense(c.mixed, c.x, 0, c.matrix, c.q, c.g);
  /* Along p = 0, lambda is what q is made of. */
  memset(c.trial, 0, (size_t)c.size * sizeof *c.trial);
  double decrease = eb_mixed_expand(c.mixed, c.trial, &before);
  const double e = 1e-5;
  double slope = (lagrangian_at(&c, e, 0) - lagrangian_at(&c, -e, 0)) / (2 * e);
  /* Truncation e^2, rounding 1e-16 / e, both of the sum of terms. */
  tap_near(slope, dot(&c, c.q, c.p), 1e-8 * before.magnitude, name);
  tap_near(lagrangian_at(&c, 0, 0), before.value, 1e-12 * before.magnitude,
           "its value before the step is the Lagrangian's");
  double fall = (lagrangian_at(&c, 0, e) - lagrangian_at(&c, 0, -e)) / (2 * e);
  tap_near(fall, -decrease, 1e-8 * before.magnitude, "along the stretches it falls by dS : H dS");
  /* With S that of x, dS = J p and sum dS : H dS = p . K p. */
  eb_mixed_project(c.mixed, c.x);
  eb_mixed_condense(c.mixed, c.x, 0, c.matrix, c.q, c.g);
  decrease = eb_mixed_expand(c.mixed, c.p, &before);
  tap_near(decrease, curvature(&c, c.p), 1e-12 * decrease, "the condensed matrix is J^T H J");
  double off = 0;
  for (int32_t i = 0; i < c.size; i++) off = fmax(off, fabs(c.q[i] - c.g[i]));
  tap_below(off, 1e-12 * before.magnitude / 0.1, "and the force is FEM's where the two agree");
  const double h = 1e-3; /* second differences: h^2 truncation, 1e-16 / h^2 rounding */
  double second =
      (lagrangian_at(&c, 0, h) - 2 * lagrangian_at(&c, 0, 0) + lagrangian_at(&c, 0, -h)) / (h * h);
  tap_near(second, decrease, 1e-6 * before.magnitude + 1e-5 * decrease,
           "H is the second derivative");
}

/* ---- the system before condensation ---- */

static void transpose_times(const double A[9], const double B[9], double out[9]) {
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      out[3 * i + k] = A[i] * B[k] + A[3 + i] * B[3 + k] + A[6 + i] * B[6 + k];
}

static void invert(const double A[9], double out[9]) {
  double det = 0;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      int a = (i + 1) % 3, b = (i + 2) % 3, p = (k + 1) % 3, q = (k + 2) % 3;
      out[3 * k + i] = A[3 * a + p] * A[3 * b + q] - A[3 * a + q] * A[3 * b + p];
      if (i == 0) det += A[k] * out[3 * k];
    }
  for (int i = 0; i < 9; i++) out[i] /= det;
}

/* R and S of F = R S by the polar iteration of Higham, R <- (R + R^-T) / 2: no decomposition of
 * ours has a part in it. */
static void polar(const double F[9], double R[9], double S[9]) {
  double inverse[9];
  memcpy(R, F, 9 * sizeof *R);
  for (int k = 0; k < 60; k++) {
    invert(R, inverse);
    for (int i = 0; i < 9; i++) R[i] = 0.5 * (R[i] + inverse[3 * (i % 3) + i / 3]);
  }
  transpose_times(R, F, S);
}

/* dS of dF by the rule dS = R^T dF - [omega]x S, omega = (tr(S) I - S)^-1 axial(R^T dF - its own
 * transpose). */
static void stretch_change(const double R[9], const double S[9], const double dF[9], double dS[9]) {
  double A[9], T[9], inverse[9], axial[3], w[3], trace = S[0] + S[4] + S[8];
  transpose_times(R, dF, A);
  axial[0] = A[7] - A[5];
  axial[1] = A[2] - A[6];
  axial[2] = A[3] - A[1];
  for (int i = 0; i < 9; i++) T[i] = (i % 4 == 0 ? trace : 0) - S[i];
  invert(T, inverse);
  for (int i = 0; i < 3; i++)
    w[i] =
        inverse[3 * i] * axial[0] + inverse[3 * i + 1] * axial[1] + inverse[3 * i + 2] * axial[2];
  const double X[9] = {0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      dS[3 * i + k] =
          A[3 * i + k] - (X[3 * i] * S[k] + X[3 * i + 1] * S[3 + k] + X[3 * i + 2] * S[6 + k]);
}

static const int row6[6] = {0, 1, 2, 1, 0, 0}, column6[6] = {0, 1, 2, 2, 2, 1};

typedef struct tetrahedron {
  const int32_t *node;
  double g[4][3], volume;
} tetrahedron;

static tetrahedron tetrahedron_of(const eb_mesh *mesh, int32_t e) {
  tetrahedron t = {.node = mesh->elements + 4 * e,
                   .volume = eb_mesh_element_volume(mesh, mesh->X, e)};
  double D[9], inverse[9];
  for (int a = 1; a < 4; a++)
    for (int i = 0; i < 3; i++)
      D[3 * i + a - 1] = mesh->X[3 * t.node[a] + i] - mesh->X[3 * t.node[0] + i];
  invert(D, inverse);
  for (int a = 1; a < 4; a++)
    for (int i = 0; i < 3; i++) {
      t.g[a][i] = inverse[3 * (a - 1) + i];
      t.g[0][i] -= t.g[a][i];
    }
  return t;
}

static void gradient_of(const tetrahedron *t, const double *x, double F[9]) {
  for (int i = 0; i < 9; i++) F[i] = 0;
  for (int a = 0; a < 4; a++)
    for (int i = 0; i < 9; i++) F[i] += x[3 * t->node[a] + i / 3] * t->g[a][i % 3];
}

/* The whole system in (p, dS, lambda), with the stretches of `at` as S: six rows an element each,
 * weighted by 1 1 1 2 2 2 so that it is symmetric. Solved by LU. */
static void kkt(const mixed_case *c, const double *at, double inertia, const double *rhs,
                double *p) {
  const eb_material *material = c->f.scene->materials;
  const double *mass = eb_elasticity_mass(c->elasticity);
  int elements = c->mesh->element_count, n = c->size + 12 * elements;
  owned(double) *A = calloc((size_t)n * (size_t)n, sizeof *A), *b = calloc((size_t)n, sizeof *b);
  owned(int) *pivot = calloc((size_t)n, sizeof *pivot);
#define AT(i, j) A[(size_t)(j) * (size_t)n + (size_t)(i)]
  for (int i = 0; i < c->size; i++) {
    AT(i, i) = inertia * mass[i / 3];
    b[i] = rhs[i];
  }
  for (int e = 0; e < elements; e++) {
    tetrahedron t = tetrahedron_of(c->mesh, e);
    double F[9], R[9], Sbar[9], S[9], ignored[9], P[9], tangent[81];
    int s0 = c->size + 6 * e, l0 = c->size + 6 * elements + 6 * e;
    gradient_of(&t, at, F);
    polar(F, ignored, S);
    gradient_of(&t, c->x, F);
    polar(F, R, Sbar);
    eb_material_stress(material, S, NULL, P);
    eb_material_tangent(material, S, NULL, false, tangent);
    for (int m = 0; m < 6; m++) {
      double twice = m < 3 ? 1 : 2;
      int rc = 3 * row6[m] + column6[m], cr = 3 * column6[m] + row6[m];
      for (int k = 0; k < 6; k++) {
        int ik = 3 * row6[k] + column6[k], ki = 3 * column6[k] + row6[k];
        double sum = tangent[9 * rc + ik] + (k < 3 ? 0 : tangent[9 * rc + ki]);
        if (m >= 3) sum += tangent[9 * cr + ik] + (k < 3 ? 0 : tangent[9 * cr + ki]);
        AT(s0 + m, s0 + k) = t.volume * sum;
      }
      AT(s0 + m, l0 + m) = AT(l0 + m, s0 + m) = -t.volume * twice;
      b[s0 + m] = -t.volume * twice * P[rc];
      b[l0 + m] = -t.volume * twice * (Sbar[rc] - S[rc]);
    }
    for (int a = 0; a < 4; a++)
      for (int i = 0; i < 3; i++) {
        double dF[9] = {0}, dS[9];
        for (int k = 0; k < 3; k++) dF[3 * i + k] = t.g[a][k];
        stretch_change(R, Sbar, dF, dS);
        for (int m = 0; m < 6; m++) {
          int at_x = 3 * t.node[a] + i;
          double entry = t.volume * (m < 3 ? 1 : 2) * dS[3 * row6[m] + column6[m]];
          AT(l0 + m, at_x) += entry;
          AT(at_x, l0 + m) += entry;
        }
      }
  }
#undef AT
  tap_ok(lapack_solve(n, A, b, pivot) == 0,
         "LAPACK solves the system of positions, stretches and multipliers");
  memcpy(p, b, (size_t)c->size * sizeof *p);
}

/* The condensed matrix as a dense one, solved by LU. */
static void condensed(const mixed_case *c, const double *rhs, double *p) {
  int n = c->size;
  owned(double) *A = calloc((size_t)n * (size_t)n, sizeof *A);
  owned(int) *pivot = calloc((size_t)n, sizeof *pivot);
  for (int32_t i = 0; i < c->matrix->rows; i++)
    for (int32_t b = c->matrix->start[i]; b < c->matrix->start[i + 1]; b++)
      for (int k = 0; k < 9; k++)
        A[(size_t)(3 * c->matrix->column[b] + k % 3) * (size_t)n + (size_t)(3 * i + k / 3)] =
            c->matrix->values[9 * b + k];
  for (int32_t i = 0; i < n; i++) p[i] = rhs[i] - c->q[i];
  tap_ok(lapack_solve(n, A, p, pivot) == 0, "and the condensed one");
}

static void condensing_changes_nothing(const char *parameters, const char *name) {
  owned(mixed_case) c = case_open(parameters, 0.03);
  owned(double) *at = calloc(4 * (size_t)c.size, sizeof *at);
  double *rhs = at + c.size, *whole = rhs + c.size, *part = whole + c.size, off = 0, most = 0,
         inertia = 1e4;
  scatter(&c, 0.03, at);
  for (int32_t i = 0; i < c.size; i++) rhs[i] = eb_block_random(&seed);
  eb_mixed_project(c.mixed, at);
  eb_mixed_condense(c.mixed, c.x, inertia, c.matrix, c.q, c.g);
  condensed(&c, rhs, part);
  kkt(&c, at, inertia, rhs, whole);
  for (int32_t i = 0; i < c.size; i++) {
    off = fmax(off, fabs(whole[i] - part[i]));
    most = fmax(most, fabs(whole[i]));
  }
  /* Two LU factorizations of matrices whose condition is some 1e5. */
  tap_below(off, 1e-10 * most, name);
}

/* ---- the same through sparse solvers ---- */

static double largest(int64_t n, const double *a, const double *b) {
  double most = 0;
  for (int64_t k = 0; k < n; k++) most = fmax(most, fabs(a[k] - (b ? b[k] : 0)));
  return most;
}

/* The condensed system by Cholesky. */
static void condensed_sparse(const mixed_case *c, const double *rhs, double *p) {
  const eb_linear_settings settings = {.kind = "cholesky", .threads = 1};
  owned(eb_linear) *linear = NULL;
  eb_linear_result result;
  eb_reason reason;
  for (int32_t i = 0; i < c->size; i++) c->trial[i] = rhs[i] - c->q[i];
  memset(p, 0, (size_t)c->size * sizeof *p);
  tap_require(eb_linear_create(&settings, c->matrix, c->f.log, &linear), "a factorization");
  tap_require(eb_linear_set_matrix(linear, c->matrix, c->f.log, &reason), "of the matrix");
  tap_require(eb_linear_solve(linear, c->trial, p, c->f.log, false, &result), "a solution");
}

/* Thousands of elements: p, dS and lambda of the condensed form against those of the whole system
 * by MUMPS. */
static void kkt_is_condensed(const char *material) {
  char parameters[96];
  snprintf(parameters, sizeof parameters, "nx=8,ny=8,nz=8,material=%s", material);
  owned(mixed_case) c = case_open(parameters, 0.01);
  const int64_t entries = 6 * (int64_t)c.mesh->element_count;
  owned(double) *at = calloc(3 * (size_t)c.size + 5 * (size_t)entries, sizeof *at);
  double *rhs = at + c.size, *p = rhs + c.size, *S = p + c.size, *dS = S + entries,
         *lambda = dS + entries;
  double *own_dS = lambda + entries, *own_lambda = own_dS + entries, inertia = 1e4;
  eb_kkt *whole;
  eb_mixed_energy before;
  eb_reason reason;
  scatter(&c, 0.01, at);
  for (int32_t i = 0; i < c.size; i++) rhs[i] = eb_block_random(&seed);
  eb_mixed_project(c.mixed, at);
  eb_mixed_points(c.mixed, S, NULL, NULL);
  eb_mixed_condense(c.mixed, c.x, inertia, c.matrix, c.q, c.g);
  condensed_sparse(&c, rhs, c.p);
  eb_mixed_expand(c.mixed, c.p, &before);
  eb_mixed_points(c.mixed, NULL, own_dS, own_lambda);
  tap_require(eb_kkt_create(c.f.scene, &whole), "the whole system");
  const eb_kkt_iteration iteration = {
      .x = c.x, .S = S, .inertia = inertia, .rhs = rhs, .p = p, .dS = dS, .lambda = lambda};
  tap_require(eb_kkt_solve(whole, &iteration, c.f.log, &reason), "its solution");
  tap_ok(reason > 0, "%s: %d elements, MUMPS ends with %s", material, (int)c.mesh->element_count,
         eb_reason_name(reason));
  /* Two factorizations of matrices whose condition is some 1e5. */
  tap_below(largest(c.size, p, c.p), 1e-10 * largest(c.size, p, NULL), "the same direction");
  tap_below(largest(entries, dS, own_dS), 1e-10 * largest(entries, dS, NULL), "dS");
  tap_below(largest(entries, lambda, own_lambda), 1e-10 * largest(entries, lambda, NULL),
            "and multipliers");
  c.x[0] = NAN;
  tap_require(eb_kkt_solve(whole, &iteration, c.f.log, &reason), "NaN");
  tap_ok(reason == EB_DIVERGED_NAN, "NaN is an outcome");
  eb_kkt_destroy(whole);
}

/* Whether `steps` of two solvers converge, and how far apart they end. */
static void end_alike(const char *parameters, const char *const solver[2],
                      const char *const options[2], int64_t steps, double bound) {
  fixture one = fixture_open(parameters), other = fixture_open(parameters);
  eb_reason a = fixture_step(&one, solver[0], options[0], steps);
  eb_reason b = fixture_step(&other, solver[1], options[1], steps);
  tap_ok(a > 0 && b > 0, "%s: %s with %s and %s with %s converge (%s, %s)", parameters, solver[0],
         options[0], solver[1], options[1], eb_reason_name(a), eb_reason_name(b));
  tap_below(eb_block_distance(one.state, other.state), bound, "at the same positions");
  fixture_close(&one);
  fixture_close(&other);
}

/* The solver's own steps, with a support. */
static void kkt_steps_are_condensed(void) {
  end_alike("nx=6,ny=2,nz=2,support=x0,gz=-40,material=stable-neo-hookean",
            (const char *[]){"mfem", "mfem"},
            (const char *[]){"system=kkt,iterations=4", "iterations=4"}, 4, 1e-10);
}

/* ---- lanes ---- */

/* One node that is NaN: the elements that do not touch it have the dS and lambda that they had. */
static void nan_stays_in_its_elements(void) {
  owned(mixed_case) c = case_open("nx=3,ny=3,nz=3,material=stable-neo-hookean", 0.02);
  const int32_t elements = c.mesh->element_count, bad = c.mesh->node_count / 2;
  owned(double) *values = calloc(24 * (size_t)elements, sizeof *values);
  eb_mixed_energy before;
  for (int round = 0; round < 2; round++) {
    double *dS = values + 12 * (size_t)elements * (size_t)round, *lambda = dS + 6 * elements;
    eb_mixed_project(c.mixed, c.mesh->X);
    if (round == 1) c.x[3 * bad] = NAN;
    eb_mixed_condense(c.mixed, c.x, 1e4, c.matrix, c.q, c.g);
    eb_mixed_expand(c.mixed, c.p, &before);
    eb_mixed_points(c.mixed, NULL, dS, lambda);
  }
  int touched = 0, spoilt = 0;
  for (int32_t e = 0; e < elements; e++) {
    bool has = false;
    for (int a = 0; a < 4; a++) has |= c.mesh->elements[4 * e + a] == bad;
    touched += has;
    for (int k = 0; k < 2 && !has; k++)
      spoilt += memcmp(values + 6 * (k * elements + e), values + 6 * ((2 + k) * elements + e),
                       6 * sizeof(double)) != 0;
  }
  tap_ok(touched > 0 && touched < elements && spoilt == 0,
         "a NaN in %d of %d elements leaves the bits of the others", touched, (int)elements);
}

/* ---- degenerate stretches ---- */

/* At rest all three stretches are the same and their frame is arbitrary. */
static void rest_is_linear_elasticity(void) {
  owned(mixed_case) c = case_open("nx=2,ny=2,nz=2,material=fixed-corotational", 0);
  eb_mixed_project(c.mixed, c.x);
  eb_mixed_condense(c.mixed, c.x, 0, c.matrix, c.q, c.g);
  double off = 0, most = 0;
  owned(eb_block_matrix) *exact = new_matrix(c.elasticity);
  eb_elasticity_matrix(c.elasticity, c.x, 0, 1, false, exact, NULL);
  for (int64_t k = 0; k < 9 * (int64_t)exact->start[exact->rows]; k++) {
    off = fmax(off, fabs(exact->values[k] - c.matrix->values[k]));
    most = fmax(most, fabs(exact->values[k]));
  }
  tap_below(off, 1e-12 * most, "at rest, K is FEM's Hessian");
}

static void flat_elements_are_finite(void) {
  owned(mixed_case) c = case_open("nx=2,ny=2,nz=2,material=stable-neo-hookean", 0);
  eb_mixed_energy before;
  static const double squash[3] = {0, -1, 1e-9};
  for (int s = 0; s < 3; s++) {
    for (int32_t i = 0; i < c.size; i++) c.x[i] = c.mesh->X[i] * (i % 3 == 2 ? squash[s] : 1);
    eb_mixed_project(c.mixed, c.x);
    eb_mixed_condense(c.mixed, c.x, 1e4, c.matrix, c.q, c.g);
    for (int32_t i = 0; i < c.size; i++) c.p[i] = 0.01 * eb_block_random(&seed);
    double decrease = eb_mixed_expand(c.mixed, c.p, &before), sum = 0;
    for (int64_t k = 0; k < 9 * (int64_t)c.matrix->start[c.matrix->rows]; k++)
      sum += c.matrix->values[k];
    tap_ok(isfinite(sum) && isfinite(decrease) && decrease >= 0 && curvature(&c, c.p) > 0,
           "squashed to %g of its height, matrix and decrease are finite and not negative",
           squash[s]);
  }
}

/* ---- the solver ---- */

/* 1e-11 of the forces, over a stiffness that is some thousand times that of the softest mode. */
static const double softest = 1e-8;

static void converges_to_newton(const char *material, const char *more) {
  char parameters[160];
  snprintf(parameters, sizeof parameters, "nx=4,ny=2,nz=2,support=x0,gz=-40,material=%s%s",
           material, more);
  end_alike(parameters, (const char *[]){"mfem", "newton"},
            (const char *[]){"rtol=1e-11", "rtol=1e-11"}, 8, softest);
}

static void equilibrium_is_newtons(void) {
  end_alike("nx=6,ny=2,nz=2,support=x0,gz=-20,material=fixed-corotational",
            (const char *[]){"mfem", "newton"},
            (const char *[]){"static=true,rtol=1e-11", "static=true,rtol=1e-11"}, 1, softest);
}

static void what_it_cannot_serve(void) {
  eb_mixed *mixed;
  owned(fixture) f = fixture_open("nx=1,material=linear");
  tap_fails(eb_mixed_create(f.scene->elasticity, &mixed), EB_ERR_UNSUPPORTED, "stretch",
            "linear elasticity is no function of the stretch");
  eb_kkt *kkt;
  owned(fixture) hexahedra = fixture_open("nx=1,element=hexahedra,material=corotated");
  tap_fails(eb_kkt_create(hexahedra.scene, &kkt), EB_ERR_UNSUPPORTED, "tetrahedra",
            "the whole system is one of tetrahedra");
  owned(fixture) planar = fixture_open("nx=1,element=triangles,material=corotated");
  tap_fails(eb_mixed_create(planar.scene->elasticity, &mixed), EB_ERR_UNSUPPORTED, "tetrahedra",
            "nor are triangles served");
}

int main(void) {
  static const char *const materials[] = {"corotational",  "corotated",   "fixed-corotational",
                                          "stvk",          "neo-hookean", "stable-neo-hookean",
                                          "mooney-rivlin", "projective"};
  for (size_t i = 0; i < sizeof materials / sizeof *materials; i++) {
    char parameters[96], name[96];
    snprintf(parameters, sizeof parameters, "nx=2,ny=2,nz=2,material=%s", materials[i]);
    snprintf(name, sizeof name, "%s: q is the Lagrangian's slope", materials[i]);
    derivatives(parameters, name);
    snprintf(parameters, sizeof parameters, "nx=1,ny=1,nz=1,material=%s", materials[i]);
    snprintf(name, sizeof name, "%s: the same direction from both", materials[i]);
    condensing_changes_nothing(parameters, name);
    converges_to_newton(materials[i], "");
    kkt_is_condensed(materials[i]);
  }
  derivatives("nx=2,ny=1,nz=1,element=hexahedra,material=stable-neo-hookean",
              "hexahedra: q is the Lagrangian's slope");
  converges_to_newton("corotated", ",element=hexahedra");
  kkt_steps_are_condensed();
  nan_stays_in_its_elements();
  rest_is_linear_elasticity();
  flat_elements_are_finite();
  equilibrium_is_newtons();
  what_it_cannot_serve();
  nan_is_an_outcome("mfem", "stable-neo-hookean");
  extremes_are_outcomes("mfem", "stable-neo-hookean");
  return tap_done();
}
