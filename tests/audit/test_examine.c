/* Figures of a declared subspace, of functions and points made by hand: polynomials that are
 * orthonormal in the masses, points at some elements of a block. */
#include "harness/audit/audit_data.h"
#include "harness/audit/examine.h"
#include "problems/base/memory.h"
#include "tests/support/audit_fixture.h"

enum { AFFINE = 4, QUADRATIC = 10, MOST = 3 * QUADRATIC };

typedef struct subspace {
  trial t;
  eb_parts *parts;
  eb_subspace_record record;
  double *phi, *weight;
  int32_t *element;
} subspace;

/* Polynomials of the rest positions, made orthonormal by Gram and Schmidt, twice; as many points as
 * are wanted, evenly over the elements, that share the volume. */
static void open_subspace(subspace *s, const char *parameters, int32_t size, int32_t points) {
  trial_open(&s->t, parameters, 0, 0);
  const eb_mesh *mesh = s->t.scene->mesh;
  size_t nodes = (size_t)mesh->node_count, n = (size_t)size;
  double volume = 0, *phi;
  tap_require(EB_NEW(phi, nodes * n), "functions");
  tap_require(EB_NEW(s->weight, points), "weights");
  tap_require(EB_NEW(s->element, points), "points");
  for (size_t i = 0; i < nodes; i++) {
    const double *X = mesh->X + 3 * i;
    const double all[QUADRATIC] = {1,           X[0],        X[1],        X[2],        X[0] * X[0],
                                   X[1] * X[1], X[2] * X[2], X[0] * X[1], X[1] * X[2], X[2] * X[0]};
    memcpy(phi + i * n, all, n * sizeof *all);
  }
  for (size_t k = 0; k < n; k++)
    for (int pass = 0; pass < 2; pass++) {
      for (size_t l = 0; l <= k; l++) {
        double along = 0;
        for (size_t i = 0; i < nodes; i++) along += s->t.mass[i] * phi[i * n + k] * phi[i * n + l];
        for (size_t i = 0; i < nodes; i++)
          phi[i * n + k] =
              l < k ? phi[i * n + k] - along * phi[i * n + l] : phi[i * n + k] / sqrt(along);
      }
    }
  for (int32_t e = 0; e < mesh->element_count; e++)
    volume += eb_mesh_element_volume(mesh, mesh->X, e);
  for (int32_t c = 0; c < points; c++) {
    s->element[c] = (int32_t)((int64_t)c * mesh->element_count / points);
    s->weight[c] = points == mesh->element_count
                       ? eb_mesh_element_volume(mesh, mesh->X, s->element[c])
                       : volume / points;
  }
  s->phi = phi;
  s->record = (eb_subspace_record){.nodes = mesh->node_count,
                                   .axes = 1,
                                   .size = size,
                                   .stride = size,
                                   .phi = phi,
                                   .count = points,
                                   .element = s->element,
                                   .weight = s->weight};
  tap_require(eb_parts_create(s->t.audit, &s->parts), "parts");
}

static void close_subspace(subspace *s) {
  eb_parts_destroy(s->parts);
  free(s->phi);
  free(s->weight);
  free(s->element);
  trial_close(&s->t);
}

/* x += B u */
static void add_motion(const subspace *s, const double *u, double times, double *x) {
  size_t size = (size_t)s->record.size;
  for (size_t i = 0; i < s->t.size; i++)
    for (size_t k = 0; k < size; k++)
      x[i] += times * s->phi[i / 3 * size + k] * u[i % 3 * size + k];
}

/* ---- the decrement --------------------------------------------------------------------------- */

/* A x = b by elimination with pivots. */
static void solve(size_t n, double A[MOST][MOST], double *b) {
  for (size_t k = 0; k < n; k++) {
    size_t pivot = k;
    for (size_t i = k; i < n; i++)
      if (fabs(A[i][k]) > fabs(A[pivot][k])) pivot = i;
    for (size_t j = 0; j < n; j++) {
      double kept = A[k][j];
      A[k][j] = A[pivot][j];
      A[pivot][j] = kept;
    }
    double kept = b[k];
    b[k] = b[pivot];
    b[pivot] = kept;
    for (size_t i = k + 1; i < n; i++) {
      double factor = A[i][k] / A[k][k];
      for (size_t j = k; j < n; j++) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; j++) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
}

/* By central differences of the residual, where the tangents are positive definite. */
static double decrement_by_differences(subspace *s, eb_state *end) {
  size_t n = 3 * (size_t)s->record.size;
  double H[MOST][MOST], g[MOST], y[MOST], sum = 0, step = 1e-5;
  for (size_t k = 0; k < n; k++) {
    double u[MOST] = {0}, high[MOST], low[MOST];
    u[k] = 1;
    add_motion(s, u, step, end->x);
    tap_require(eb_audit_subspace_residual(s->t.audit, s->t.before, end->x, s->t.h, false,
                                           &s->record, high),
                "residual");
    add_motion(s, u, -2 * step, end->x);
    tap_require(
        eb_audit_subspace_residual(s->t.audit, s->t.before, end->x, s->t.h, false, &s->record, low),
        "residual");
    add_motion(s, u, step, end->x);
    for (size_t i = 0; i < n; i++) H[i][k] = (high[i] - low[i]) / (2 * step);
  }
  tap_require(
      eb_audit_subspace_residual(s->t.audit, s->t.before, end->x, s->t.h, false, &s->record, g),
      "residual");
  memcpy(y, g, sizeof y);
  solve(n, H, y);
  for (size_t k = 0; k < n; k++) sum += g[k] * y[k];
  return sqrt(sum);
}

/* Differences err by their step squared, and by rounding of the residual over it. */
static void test_decrement(const char *material) {
  subspace s;
  char parameters[100], name[120];
  double u[MOST], found[2], still[2];
  eb_audit_row row;
  random_state random = random_seed(3);
  snprintf(parameters, sizeof parameters, "material=%s,gz=-9.81,dt=0.1", material);
  open_subspace(&s, parameters, QUADRATIC, 40);
  for (int k = 0; k < MOST; k++) u[k] = random_uniform(&random, -0.002, 0.002);
  for (size_t k = 0; k < s.t.size; k++) { /* where no tangent is indefinite */
    s.t.before->x[k] *= 1.02;
    s.t.after->x[k] *= 1.04;
  }
  add_motion(&s, u, 1, s.t.after->x);
  tap_require(
      eb_audit_step(s.t.audit, s.t.before, s.t.after, s.t.h, EB_EQUATION_IMPLICIT_EULER, &row),
      "audit");
  tap_require(
      eb_subspace_decrement(s.t.audit, s.t.before, s.t.after, s.t.h, false, &s.record, found),
      "decrement");
  double want = decrement_by_differences(&s, s.t.after);
  snprintf(name, sizeof name, "decrement of %s", material);
  tap_near(found[1], want, 1e-6 * want, name);
  tap_require(
      eb_subspace_decrement(s.t.audit, s.t.before, s.t.after, s.t.h, true, &s.record, still),
      "decrement");
  snprintf(name, sizeof name, "%s: without inertia translations have none, or a huge one",
           material);
  tap_ok(isnan(still[1]) || still[1] > 1e3 * found[1], "%s", name);
  eb_state_copy(s.t.before, s.t.after); /* affine, so in the span */
  want = decrement_by_differences(&s, s.t.after);
  snprintf(name, sizeof name, "decrement of %s, where the step starts", material);
  tap_near(found[0], want, 1e-6 * want, name);
  close_subspace(&s);
}

/* ---- examination ----------------------------------------------------------------------------- */

static double null_of(const char *parameters, int32_t size, int32_t points) {
  subspace s;
  eb_subspace_figures figures;
  eb_audit_row row;
  open_subspace(&s, parameters, size, points > 0 ? points : 96);
  tap_require(
      eb_audit_step(s.t.audit, s.t.before, s.t.after, s.t.h, EB_EQUATION_IMPLICIT_EULER, &row),
      "audit");
  tap_require(eb_subspace_examine(s.t.audit, s.parts, &s.record, s.t.before->x, &figures),
              "examination");
  tap_ok(figures.coefficients == 3 * size && figures.points == s.record.count, "counts");
  close_subspace(&s);
  return figures.null;
}

/* A point gives six conditions on its strain, a quadratic motion has 30 coefficients, 6 of them
 * rigid. */
static void test_null(void) {
  static const char free_block[] = "nx=4,ny=2,nz=2", parted[] = "nx=4,ny=2,nz=2,E=1e9";
  tap_near(null_of(free_block, QUADRATIC, 96), 0, 0, "all elements see all motions");
  tap_near(null_of(parted, QUADRATIC, 96), 0, 0, "of a stiff body, too");
  for (int points = 1; points <= 2; points++)
    tap_near(null_of(free_block, QUADRATIC, points), 24 - 6 * points, 0,
             "a point sees six motions");
  tap_near(null_of(free_block, AFFINE, 1), 0, 0, "one point sees all affine motions");
}

static void test_start(void) {
  subspace s;
  eb_subspace_figures figures;
  open_subspace(&s, "nx=6,ny=3,nz=3", AFFINE, 10);
  double c = cos(1.1), z = sin(1.1), *x = s.t.before->x, scale2 = 0, off2 = 0;
  const double *X = s.t.scene->mesh->X;
  for (size_t k = 0; k < s.t.size; k += 3) {
    x[k] = c * X[k] - z * X[k + 2] + 3;
    x[k + 2] = z * X[k] + c * X[k + 2];
  }
  tap_require(eb_subspace_examine(s.t.audit, s.parts, &s.record, x, &figures), "examination");
  tap_below(figures.start_outside, 1e-13, "affine motions hold a turned body");
  /* What is orthogonal to all functions, of half the size of the rest. */
  for (size_t i = 0; 3 * i < s.t.size; i++) x[3 * i] = X[3 * i], x[3 * i + 2] = X[3 * i + 2];
  for (size_t i = 0; 3 * i < s.t.size; i++) {
    double y = X[3 * i] * X[3 * i] * X[3 * i];
    scale2 += s.t.mass[i] * y * y;
    x[3 * i + 1] = X[3 * i + 1] + y;
  }
  double along[AFFINE] = {0};
  for (size_t i = 0; 3 * i < s.t.size; i++)
    for (int k = 0; k < AFFINE; k++)
      along[k] += s.t.mass[i] * (x[3 * i + 1] - X[3 * i + 1]) * s.phi[i * AFFINE + (size_t)k];
  off2 = scale2;
  for (int k = 0; k < AFFINE; k++) off2 -= along[k] * along[k];
  tap_require(eb_subspace_examine(s.t.audit, s.parts, &s.record, x, &figures), "examination");
  tap_near(figures.start_outside, sqrt(off2 / scale2), 1e-9, "of a bent one they lack a share");
  tap_require(eb_subspace_examine(s.t.audit, s.parts, &s.record, X, &figures), "examination");
  tap_ok(figures.start_outside == 0, "nothing lies outside at rest");
  close_subspace(&s);
}

/* What a record may say of skinning weights. */
static void test_sound(void) {
  subspace s;
  double *weight;
  open_subspace(&s, "nx=3", AFFINE, 10);
  tap_require(EB_NEW(weight, 2 * s.t.size), "weights");
  eb_subspace_record told = s.record;
  tap_ok(eb_subspace_sound(s.t.audit, &told), "a record without weights is sound");
  told.weights = 2;
  told.weight_of = weight;
  tap_ok(eb_subspace_sound(s.t.audit, &told), "one with weights is");
  weight[s.t.size / 3 + 1] = NAN;
  tap_ok(!eb_subspace_sound(s.t.audit, &told), "one with a weight that is no number is not");
  weight[s.t.size / 3 + 1] = 0;
  told.weight_of = NULL;
  tap_ok(!eb_subspace_sound(s.t.audit, &told), "nor one whose weights are missing");
  told.weight_of = weight;
  told.weights = -1;
  tap_ok(!eb_subspace_sound(s.t.audit, &told), "nor one with fewer than none");
  told.weights = 1;
  told.size = 5;
  told.stride = 5;
  tap_ok(!eb_subspace_sound(s.t.audit, &told), "nor one with more functions than weights make");
  told = s.record;
  told.nodes--;
  tap_ok(!eb_subspace_sound(s.t.audit, &told), "nor one of another mesh");
  free(weight);
  close_subspace(&s);
}

int main(void) {
  test_decrement("stable-neo-hookean");
  test_decrement("fixed-corotational");
  test_null();
  test_start();
  test_sound();
  return tap_done();
}
