/* The audit against finite differences, LAPACK, the fast kernels it judges, and states known in
 * closed form. */
#include "harness/audit/audit_data.h"
#include "tests/support/one_gradient.h"
#include "tests/tap.h"

void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt,
             double *work, const int *lwork, int *info);

static double uniform(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) * 0x1p-53;
}

static void random_matrix(uint64_t *seed, double scale, double F[9]) {
  for (int i = 0; i < 9; i++) F[i] = scale * (2 * uniform(seed) - 1) + (i % 4 == 0);
}

static double det(const double A[9]) {
  return A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) +
         A[2] * (A[3] * A[7] - A[4] * A[6]);
}

/* Largest entry of U diag(s) V^T - F and of U^T U - I, V^T V - I, |det - 1|. */
static double svd_error(const double F[9], const double U[9], const double s[3],
                        const double V[9]) {
  double worst = fmax(fabs(det(U) - 1), fabs(det(V) - 1));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double f = -F[3 * i + j], u = -(i == j), v = -(i == j);
      for (int k = 0; k < 3; k++) {
        f += U[3 * i + k] * s[k] * V[3 * j + k];
        u += U[3 * k + i] * U[3 * k + j];
        v += V[3 * k + i] * V[3 * k + j];
      }
      worst = fmax(worst, fmax(fabs(f), fmax(fabs(u), fabs(v))));
    }
  return worst;
}

static void test_svd(void) {
  uint64_t seed = 7;
  double worst = 0, value = 0;
  for (int n = 0; n < 20000; n++) {
    const int three = 3, lwork = 64;
    int info;
    double F[9], copy[9], U[9], s[3], V[9], singular[3], unused[9], work[64];
    random_matrix(&seed, n % 2 ? 1.5 : 0.2, F);
    if (n % 7 == 0) /* rank two: column 2 = column 0 */
      for (int i = 0; i < 3; i++) F[3 * i + 2] = F[3 * i];
    if (n % 77 == 0) /* rank one */
      for (int i = 0; i < 3; i++) F[3 * i + 1] = F[3 * i + 2] = F[3 * i];
    eb_reference_svd(F, U, s, V);
    worst = fmax(worst, svd_error(F, U, s, V));
    memcpy(copy, F, sizeof F);
    dgesvd_("N", "N", &three, &three, copy, &three, singular, unused, &three, unused, &three, work,
            &lwork, &info);
    for (int k = 0; k < 3; k++) value = fmax(value, fabs(fabs(s[k]) - singular[k]));
  }
  /* Entries are of order 1: some tens of roundings of 1e-16. */
  tap_below(worst, 1e-14, "the reference SVD rebuilds F from proper rotations");
  tap_below(value, 1e-14, "its singular values are LAPACK's");
  double zero[9] = {0}, U[9], s[3], V[9];
  eb_reference_svd(zero, U, s, V);
  tap_below(svd_error(zero, U, s, V), 0, "the zero matrix has rotations too");
}

static eb_material material_of(eb_material_kind kind, eb_fibre_kind fibre) {
  return (eb_material){.kind = kind,
                       .young = 3e4,
                       .poisson = 0.4,
                       .density = 1000,
                       .fibre = fibre,
                       .fibre_stiffness = 2e4,
                       .fibre_exponent = 1.5,
                       .activation = 0.7};
}

/* Worst relative difference between P and central differences of psi over random gradients. */
static double difference_error(const eb_material *material) {
  const double fibre[3] = {0.6, 0.0, 0.8}, h = 1e-5;
  uint64_t seed = 11;
  double worst = 0;
  for (int n = 0; n < 200; n++) {
    double F[9], P[9], unused[9], scale = 0;
    random_matrix(&seed, 0.25, F);
    one_material(material, F, fibre, P);
    for (int i = 0; i < 9; i++) scale = fmax(scale, fabs(P[i]));
    for (int i = 0; i < 9; i++) {
      double keep = F[i];
      F[i] = keep + h;
      double up = one_material(material, F, fibre, unused);
      F[i] = keep - h;
      double down = one_material(material, F, fibre, unused);
      F[i] = keep;
      worst = fmax(worst, fabs((up - down) / (2 * h) - P[i]) / (scale + material->young));
    }
  }
  return worst;
}

/* Worst relative difference between the reference and the kernels it audits. */
static double kernel_error(const eb_material *material) {
  const double fibre[3] = {0.6, 0.0, 0.8};
  uint64_t seed = 13;
  double worst = 0;
  for (int n = 0; n < 2000; n++) {
    double F[9], P[9], fast[9], scale = material->young;
    random_matrix(&seed, n % 2 ? 0.2 : 0.9, F);
    double psi = one_material(material, F, fibre, P);
    eb_material_stress(material, F, fibre, fast);
    for (int i = 0; i < 9; i++) scale = fmax(scale, fabs(P[i]));
    for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(fast[i] - P[i]) / scale);
    double energy = eb_material_energy(material, F, fibre);
    worst = fmax(worst, fabs(energy - psi) / (fabs(psi) + material->young));
  }
  return worst;
}

static void test_materials(void) {
  for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++) {
    eb_material material = material_of((eb_material_kind)kind, EB_FIBRE_NONE);
    char name[128];
    const char *title = eb_material_describe(material.kind)->name;
    snprintf(name, sizeof name, "%s: the audit's stress is the derivative of its energy", title);
    tap_below(difference_error(&material), 1e-7, name); /* h^2 = 1e-10 times third derivatives */
    snprintf(name, sizeof name, "%s: audit and kernels agree", title);
    tap_below(kernel_error(&material), 1e-10, name); /* near-singular F loses some digits in R */
  }
  for (int fibre = EB_FIBRE_ASTVK; fibre <= EB_FIBRE_FUNG; fibre++) {
    eb_material material = material_of(EB_STABLE_NEO_HOOKEAN, (eb_fibre_kind)fibre);
    tap_below(difference_error(&material), 1e-6, "with fibres: stress is the derivative of energy");
    tap_below(kernel_error(&material), 1e-10, "with fibres: audit and kernels agree");
  }
}

/* A small beam, moved at random, judged by formulas written out here over the fast kernels. */
static void test_step(void) {
  eb_scene *scene;
  eb_audit *audit;
  eb_state *before, *after;
  tap_require(eb_scene_create(eb_scene_find("bench/beam"), "resolution=0.25", NULL, "", &scene),
              "the beam");
  tap_require(eb_audit_create(scene, &audit), "its audit");
  tap_require(eb_state_create(scene, &before), "a state");
  tap_require(eb_state_create(scene, &after), "another state");
  size_t nodes = (size_t)scene->mesh->node_count, n = 3 * nodes;
  double h = scene->dt, *g = calloc(n, sizeof *g), *f = calloc(n, sizeof *f);
  double *target = calloc(n, sizeof *target);
  uint8_t *fixed = calloc(nodes, 1);
  uint64_t seed = 3;
  for (size_t d = 0; d < n; d++) {
    before->v[d] = uniform(&seed) - 0.5;
    after->x[d] = before->x[d] + 2e-3 * (uniform(&seed) - 0.5);
    after->v[d] = (after->x[d] - before->x[d]) / h;
  }
  after->time = before->time + h;
  eb_audit_row row;
  tap_require(eb_audit_step(audit, before, after, h, EB_EQUATION_IMPLICIT_EULER, &row), "a step");

  eb_elasticity_gradient(scene->elasticity, after->x, g);
  eb_scene_force(scene, before->time, before->x, before->v, f);
  eb_scene_boundary(scene, after->time, fixed, target);
  const double *mass = eb_elasticity_mass(scene->elasticity);
  double sum2 = 0, kinetic = 0, momentum = 0;
  for (size_t d = 0; d < n; d++) {
    double r =
        mass[d / 3] * (after->x[d] - before->x[d] - h * before->v[d]) / (h * h) + g[d] - f[d];
    if (!fixed[d / 3]) sum2 += r * r;
    kinetic += 0.5 * mass[d / 3] * after->v[d] * after->v[d];
    if (d % 3 == 1) momentum += mass[d / 3] * after->v[d];
  }
  double energy = eb_elasticity_energy(scene->elasticity, after->x);
  /* The same sums in another order: roundings of 1e-16 over thousands of terms. */
  tap_near(row.implicit_euler.norm / sqrt(sum2), 1, 1e-11,
           "residual: audit and fast kernels agree");
  tap_near(row.totals.elastic / energy, 1, 1e-11, "elastic energy agrees");
  tap_near(row.totals.kinetic / kinetic, 1, 1e-12, "kinetic energy");
  tap_near(row.totals.momentum[1], momentum, 1e-10 * fabs(momentum), "linear momentum");
  tap_ok(row.implicit_euler.relative > 1e-3 && row.implicit_euler.relative <= 2,
         "a random state is far from solving its step");
  tap_ok(row.finite && row.contacts == 0 && row.max_penetration == 0, "nothing to touch");

  /* What a large mesh does without between steps is made again as it was. */
  eb_audit_row again;
  size_t corners = audit->batch_count * EB_TETRAHEDRON * sizeof *audit->corners;
  eb_audit_corner *shapes = malloc(corners);
  double *masses = malloc(nodes * sizeof *masses);
  memcpy(shapes, audit->corners, corners);
  memcpy(masses, audit->mass, nodes * sizeof *masses);
  eb_audit_drop_caches(audit);
  tap_ok(audit->corners != NULL, "a small mesh keeps its shapes");
  eb_audit_drop_shapes(audit);
  tap_require(eb_audit_restore_caches(audit), "shapes again");
  tap_ok(memcmp(shapes, audit->corners, corners) == 0 &&
             memcmp(masses, audit->mass, nodes * sizeof *masses) == 0,
         "shapes that were given back have the same bits, and masses are counted once");
  tap_require(eb_audit_step(audit, before, after, h, EB_EQUATION_IMPLICIT_EULER, &again), "again");
  tap_ok(again.implicit_euler.norm == row.implicit_euler.norm &&
             again.totals.elastic == row.totals.elastic,
         "so have figures");
  free(shapes);
  free(masses);

  tap_require(eb_audit_step(audit, before, before, h, EB_EQUATION_STATIC, &row), "rest");
  double weight = 0;
  for (size_t i = 0; i < nodes; i++)
    if (!fixed[i]) weight += mass[i] * mass[i];
  tap_near(row.implicit_euler.norm, 9.8 * sqrt(weight), 1e-9 * sqrt(weight),
           "at rest the static residual is the weight");
  tap_near(row.min_volume_ratio, 1, 1e-12, "at rest no element has changed its volume");

  after->x[0] = NAN;
  tap_require(eb_audit_step(audit, before, after, h, EB_EQUATION_STATIC, &row), "a NaN");
  tap_ok(!row.finite && isnan(row.implicit_euler.norm), "a state that is not finite is told so");
  for (size_t d = 0; d < n; d++) after->x[d] = d % 3 == 2 ? -before->x[d] : before->x[d];
  tap_require(eb_audit_step(audit, before, after, h, EB_EQUATION_STATIC, &row), "a mirror image");
  tap_ok(row.inverted == scene->mesh->element_count, "a mirror image inverts every element");
  tap_near(row.min_volume_ratio, -1, 1e-12, "by det F = -1");
  after->node_count--;
  tap_fails(eb_audit_step(audit, before, after, h, EB_EQUATION_STATIC, &row), EB_ERR_INVALID,
            "wants states of", "a state of another scene is refused");
  after->node_count++;
  free(g);
  free(f);
  free(target);
  free(fixed);
  eb_state_destroy(after);
  eb_state_destroy(before);
  eb_audit_destroy(audit);
  eb_scene_destroy(scene);
}

int main(void) {
  test_svd();
  test_materials();
  test_step();
  return tap_done();
}
