/* The audit's tangents against differences of its stress, eigenvalues clamped by LAPACK, and the
 * matrices that solvers assemble. */
#include "problems/base/memory.h"
#include "problems/elasticity/corotation.h"
#include "problems/elasticity/elasticity.h"
#include "solvers/linalg/block_ops.h"
#include "tests/support/elastic.h"
#include "tests/support/elements.h"
#include "tests/support/lapack.h"
#include "tests/support/one_gradient.h"
#include "tests/tap.h"

static const double YOUNG = 3e4;

static const char *const fibre_names[] = {"", " + aStVK fibre", " + Fung fibre"};

static eb_material make_material(eb_material_kind kind, eb_fibre_kind fibre) {
  return (eb_material){.kind = kind,
                       .young = YOUNG,
                       .poisson = 0.4,
                       .density = 900,
                       .fibre = fibre,
                       .fibre_stiffness = 2e4,
                       .fibre_exponent = 0.5,
                       .activation = 0.7,
                       .thickness = 0.02};
}

static bool freezes_rotation(eb_material_kind kind) {
  return kind == EB_COROTATIONAL || kind == EB_LINEAR;
}

/* ---- one deformation gradient ---------------------------------------------------------------- */

/* Stretched, sheared, crushed, inverted, and with equal stretches. */
static const double stretches[][3] = {{1.4, 1.2, 0.9},  {1.5, 1.1, 0.4},  {0.5, 0.45, 0.4},
                                      {1.3, 0.8, -0.3}, {0.3, 0.2, -0.1}, {1.1, 1.1, 1.1},
                                      {1.2, 0.8, 0.8},  {1.2, 1.2, 0.8},  {1, 1, 1}};
enum { STRETCHES = sizeof stretches / sizeof *stretches };

/* F = U diag(s) V^T and R = U V^T. */
static void make_gradient(random_state *random, const double s[3], double F[9], double R[9]) {
  double U[9], V[9];
  random_rotation(random, U);
  random_rotation(random, V);
  for (int i = 0; i < 9; i++) {
    F[i] = R[i] = 0;
    for (int k = 0; k < 3; k++) {
      F[i] += U[3 * (i / 3) + k] * s[k] * V[3 * (i % 3) + k];
      R[i] += U[3 * (i / 3) + k] * V[3 * (i % 3) + k];
    }
  }
}

/* dP/dF : dF by the differences of P at F + k h dF, k = -2, -1, 1, 2: (8 (P_1 - P_-1) - (P_2 -
 * P_-2)) / 12 h. */
static void difference(const eb_material *m, const double F[9], const double *fibre,
                       const double dF[9], double dP[9]) {
  static const double h = 1e-4;
  static const struct { double step, weight; } at[] = {{-2, 1}, {-1, -8}, {1, 8}, {2, -1}};
  double moved[9], P[9];
  for (int i = 0; i < 9; i++) dP[i] = 0;
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < 9; i++) moved[i] = F[i] + at[k].step * h * dF[i];
    one_material(m, moved, fibre, P);
    for (int i = 0; i < 9; i++) dP[i] += at[k].weight * P[i] / (12 * h);
  }
}

static void test_differences(eb_material_kind kind, eb_fibre_kind fibre) {
  eb_material m = make_material(kind, fibre);
  random_state random = random_seed(31);
  double worst = 0;
  for (int n = 0; n < 240 * STRETCHES; n++) {
    double F[9], R[9], a[3], dF[9], dP[9], want[9];
    make_gradient(&random, stretches[n % STRETCHES], F, R);
    random_direction(&random, 3, a);
    random_direction(&random, 9, dF);
    one_tangent(&m, EB_TANGENT_EXACT, F, a, dF, dP);
    difference(&m, F, a, dF, want);
    for (int i = 0; i < 9; i++) want[i] -= dP[i];
    worst = fmax(worst, largest(9, want) / (largest(9, dP) + YOUNG));
  }
  /* h^4 / 30 times fifth derivatives, which grow as 4! / (s1 + s2)^4 <= 2.4e5; rounding of
   * rotations and nearest volumes, some 1e-14, over h. */
  tap_ok(worst <= 1e-9, "%s%s: the exact tangent is the derivative of the stress (%.1e)",
         eb_material_describe(kind)->name, fibre_names[fibre], worst);
}

static void make_tangent(const eb_material *m, eb_tangent tangent, const double F[9],
                         const double *fibre, double T[81]) {
  for (int c = 0; c < 9; c++) {
    double dF[9] = {0}, dP[9];
    dF[c] = 1;
    one_tangent(m, tangent, F, fibre, dF, dP);
    for (int r = 0; r < 9; r++) T[9 * r + c] = dP[r];
  }
}

/* The isotropic part and, when there is a fibre, what it adds, each clamped by itself. */
static void clamp_parts(const eb_material *m, const double F[9], const double *fibre, double T[81],
                        int *indefinite) {
  eb_material base = *m;
  base.fibre = EB_FIBRE_NONE;
  double B[81], clamped[81], least, size;
  make_tangent(&base, EB_TANGENT_EXACT, F, NULL, B);
  make_tangent(m, EB_TANGENT_EXACT, F, fibre, T);
  for (int i = 0; i < 81; i++) T[i] -= B[i];
  lapack_clamp9(B, clamped, &least, &size);
  *indefinite += least < -1e-6 * size;
  if (m->fibre) {
    lapack_clamp9(T, B, &least, &size);
    *indefinite += least < -1e-6 * size;
  }
  for (int i = 0; i < 81; i++) T[i] = clamped[i] + (m->fibre ? B[i] : 0);
}

static void test_projection(eb_material_kind kind, eb_fibre_kind fibre) {
  eb_material m = make_material(kind, fibre);
  random_state random = random_seed(37);
  double worst = 0;
  int indefinite = 0;
  for (int n = 0; n < 40 * STRETCHES; n++) {
    double F[9], R[9], a[3], want[81], got[81];
    make_gradient(&random, stretches[n % STRETCHES], F, R);
    random_direction(&random, 3, a);
    for (int i = 0; n % 2 && i < 9; i++) F[i] = random_uniform(&random, -1.2, 1.2);
    clamp_parts(&m, F, a, want, &indefinite);
    make_tangent(&m, EB_TANGENT_PROJECTED, F, a, got);
    double size = largest(81, want) + YOUNG;
    for (int i = 0; i < 81; i++) worst = fmax(worst, fabs(got[i] - want[i]) / size);
  }
  /* Rounding of two eigenvalue problems; LAPACK's matrix has passed through the singular vectors
   * too. */
  tap_ok(worst <= 1e-11, "%s%s: the projected tangent is the clamped one (%.1e)",
         eb_material_describe(kind)->name, fibre_names[fibre], worst);
  if (!freezes_rotation(kind))
    tap_ok(indefinite > 20, "%s%s: there was something to clamp (%d)",
           eb_material_describe(kind)->name, fibre_names[fibre], indefinite);
}

static void add_turned(const double R[9], const double A[9], double out[9]) {
  for (int i = 0; i < 9; i++)
    for (int k = 0; k < 3; k++) out[i] += R[3 * (i / 3) + k] * A[3 * k + i % 3];
}

/* At F with rotation R, the tangent applied to R dF is R times linear elasticity's stress for dF,
 * of every material alike; a fibre adds the derivative of its own stress. */
static void test_rotated(eb_material_kind kind, eb_fibre_kind fibre) {
  eb_material m = make_material(kind, fibre), linear = make_material(EB_LINEAR, EB_FIBRE_NONE);
  eb_material fibrous = make_material(EB_LINEAR, fibre);
  random_state random = random_seed(41);
  double worst = 0;
  for (int n = 0; n < 60 * STRETCHES; n++) {
    double F[9], R[9], a[3], dF[9], turned[9] = {0}, dP[9], plain[9], got[9], want[9];
    make_gradient(&random, stretches[n % STRETCHES], F, R);
    random_direction(&random, 3, a);
    random_direction(&random, 9, dF);
    add_turned(R, dF, turned);
    one_tangent(&m, EB_TANGENT_ROTATED, F, a, turned, got);
    difference(&fibrous, F, a, turned, want);
    difference(&linear, F, NULL, turned, plain);
    difference(&linear, F, NULL, dF, dP);
    for (int i = 0; i < 9; i++) want[i] -= plain[i];
    add_turned(R, dP, want);
    for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(got[i] - want[i]) / YOUNG);
  }
  /* The linear stress has no third derivative; h^4 / 30 times a fibre's fifth ones; rounding of
   * stresses, 1e-16, over h. */
  tap_ok(worst <= 1e-10,
         "%s%s: the rotated tangent is linear elasticity in the turned frame (%.1e)",
         eb_material_describe(kind)->name, fibre_names[fibre], worst);
}

/* Collapsed to a plane, a line, a point, or with s1 + s2 = 0: finite, symmetric and where it is
 * projected without negative eigenvalues. */
static void test_degenerate(eb_material_kind kind, eb_fibre_kind fibre) {
  static const double flat[][3] = {{1.2, 0.7, 0},  {1.1, 0, 0},      {0, 0, 0},
                                   {1, 0.4, -0.4}, {0.5, 0.5, -0.5}, {1, 0.4, -0.4 * (1 + 1e-15)}};
  eb_material m = make_material(kind, fibre);
  random_state random = random_seed(43);
  double symmetry = 0, negative = 0;
  for (int n = 0; n < 60; n++) {
    double F[9], R[9], a[3], T[81], clamped[81], least, size;
    make_gradient(&random, flat[n % 6], F, R);
    random_direction(&random, 3, a);
    for (int t = 0; t < EB_TANGENTS; t++) {
      make_tangent(&m, (eb_tangent)t, F, a, T);
      size = largest(81, T);
      for (int i = 0; i < 81; i++)
        symmetry = fmax(symmetry, fabs(T[i] - T[9 * (i % 9) + i / 9]) / size);
      if (!isfinite(size)) symmetry = INFINITY;
      if (t != EB_TANGENT_PROJECTED) continue;
      lapack_clamp9(T, clamped, &least, &size);
      negative = fmax(negative, -least / size);
    }
  }
  tap_ok(symmetry <= 1e-13 && negative <= 1e-13,
         "%s%s: finite and symmetric where gradients degenerate (%.1e, %.1e)",
         eb_material_describe(kind)->name, fibre_names[fibre], symmetry, negative);
}

/* ---- four at a time -------------------------------------------------------------------------- */

enum { CROWD = 24 };

/* Ordinary, with equal stretches, crushed, flat, on a line, nought, inverted, tiny and huge. */
static void make_crowd(random_state *random, double F[CROWD][9]) {
  static const double unusual[][4] = {
      {1.2, 0.7, 0, 1}, {1.1, 0, 0, 1},         {0, 0, 0, 1},          {1, 0.4, -0.4, 1},
      {1, 1, -1, 1},    {1.1, 0.9, 0.7, 1e-40}, {1.1, 0.9, 0.7, 1e40}, {1, 1e-3, 1e-4, 1}};
  enum { UNUSUAL = sizeof unusual / sizeof *unusual };
  for (int n = 0; n < CROWD; n++) {
    double R[9];
    const double *s = n < UNUSUAL ? unusual[n] : stretches[n % STRETCHES];
    make_gradient(random, s, F[n], R);
    for (int i = 0; n < UNUSUAL && i < 9; i++) F[n][i] *= unusual[n][3];
  }
}

/* Of a crowd, its n-th in that lane, and others beside it. */
static void gather(double F[CROWD][9], int n, int lane, eb_four out[9]) {
  for (int i = 0; i < 9; i++)
    for (int k = 0; k < EB_FOUR; k++) out[i][k] = F[(n + 7 * (k - lane + EB_FOUR)) % CROWD][i];
  for (int i = 0; i < 9; i++) out[i][lane] = F[n][i];
}

static bool same(const eb_four a[9], int lane, const eb_four b[9], int other) {
  for (int i = 0; i < 9; i++)
    if (memcmp((const double[]){a[i][lane]}, (const double[]){b[i][other]}, sizeof(double)) != 0)
      return false;
  return true;
}

/* All that is made of four gradients and increments. */
typedef struct figures {
  eb_four dP[9], P[9], psi[9]; /* the energy in psi[0] */
} figures;

static void figure(const eb_material *m, eb_tangent tangent, const eb_four F[9], const double a[3],
                   const eb_four dF[9], figures *out) {
  eb_four fibre[3];
  eb_tangent_at at;
  *out = (figures){0};
  one_vector(a, fibre);
  eb_reference_tangent(m, tangent, F, fibre, &at);
  eb_tangent_apply(&at, dF, out->dP);
  eb_reference_material(m, F, fibre, out->psi, out->P);
}

/* One gradient alone in all lanes, and among others, the next of which is no number. */
static void compare_lanes(const eb_material *m, eb_tangent tangent, double F[CROWD][9],
                          double dF[CROWD][9], const double a[3], int n, int *wrong, int *quiet) {
  eb_four four[9], moved[9];
  figures alone, among;
  for (int i = 0; i < 9; i++) {
    four[i] = eb_four_of(F[n][i]);
    moved[i] = eb_four_of(dF[n][i]);
  }
  figure(m, tangent, four, a, moved, &alone);
  for (int lane = 0; lane < EB_FOUR; lane++) {
    int next = (lane + 1) % EB_FOUR;
    bool any = false;
    gather(F, n, lane, four);
    gather(dF, n, lane, moved);
    four[n % 9][next] = n % 2 ? NAN : INFINITY;
    figure(m, tangent, four, a, moved, &among);
    *wrong += !same(alone.dP, 0, among.dP, lane) || !same(alone.P, 0, among.P, lane) ||
              !same(alone.psi, 0, among.psi, lane);
    for (int i = 0; i < 9; i++) any |= !isfinite(among.P[i][next]);
    *quiet += !any;
  }
}

/* What is beside a gradient does not change a bit of what is made of it; what is no number stays
 * none. */
static void test_lanes_apart(eb_material_kind kind, eb_fibre_kind fibre) {
  eb_material m = make_material(kind, fibre);
  random_state random = random_seed(59);
  double F[CROWD][9], dF[CROWD][9], a[3];
  int wrong = 0, quiet = 0;
  make_crowd(&random, F);
  for (int n = 0; n < CROWD; n++) random_direction(&random, 9, dF[n]);
  random_direction(&random, 3, a);
  for (int t = 0; t < EB_TANGENTS; t++)
    for (int n = 0; n < CROWD; n++) compare_lanes(&m, (eb_tangent)t, F, dF, a, n, &wrong, &quiet);
  tap_ok(wrong == 0 && quiet == 0, "%s%s: lanes do not see each other (%d, %d)",
         eb_material_describe(kind)->name, fibre_names[fibre], wrong, quiet);
}

/* ---- assembled ------------------------------------------------------------------------------- */

typedef struct body {
  eb_mesh *mesh;
  eb_material materials[2];
  eb_elasticity *elasticity;
  eb_block_matrix *matrix;
  double *x, *v, *want, *got;
} body;

/* Shaken enough to invert elements; with `flat`, into a plane, where all have lost a dimension. */
static void deform(body *b, bool flat) {
  random_state random = random_seed(5);
  double R[9];
  random_rotation(&random, R);
  for (int n = 0; n < b->mesh->node_count; n++)
    for (int i = 0; i < 3; i++) {
      double *x = b->x + 3 * n + i;
      *x = random_uniform(&random, -0.05, 0.05);
      for (int j = 0; j < 3; j++) *x += R[3 * i + j] * (1 + 0.1 * j) * b->mesh->X[3 * n + j];
      if (flat && i == 1) *x = 0.25;
      b->v[3 * n + i] = random_uniform(&random, -1, 1);
      if (b->mesh->type == EB_TRIANGLE && i == 2) b->v[3 * n + i] = 0;
    }
}

static body make_body(eb_element_type type, eb_material_kind kind, eb_fibre_kind fibre) {
  body b = {.mesh = mixed_mesh(type, 5, 3, 2, 2), .materials = {make_material(kind, fibre)}};
  b.materials[1] = b.materials[0];
  b.materials[1].young *= 7;
  b.materials[1].poisson = -0.2;
  tap_require(eb_elasticity_create(b.mesh, b.materials, &b.elasticity), "elasticity");
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(b.elasticity), &b.matrix), "matrix");
  size_t size = 3 * (size_t)b.mesh->node_count;
  tap_require(EB_NEW(b.x, size), "positions");
  tap_require(EB_NEW(b.v, size), "velocities");
  tap_require(EB_NEW(b.want, size), "product");
  tap_require(EB_NEW(b.got, size), "product");
  return b;
}

static void release(body *b) {
  eb_block_matrix_destroy(b->matrix);
  eb_elasticity_destroy(b->elasticity);
  eb_mesh_destroy(b->mesh);
  free(b->x);
  free(b->v);
  free(b->want);
  free(b->got);
}

/* sum_a u_a (dN_a/dX)^T; a planar element keeps the third direction as it is. */
static void gradient_of(const body *b, int32_t e, const reference_point *point, const double *u,
                        double third, double F[9]) {
  int nodes = (int)b->mesh->type;
  for (int i = 0; i < 9; i++) {
    F[i] = 0;
    for (int a = 0; a < nodes; a++)
      F[i] += u[3 * b->mesh->elements[nodes * e + a] + i / 3] * point->slope[a][i % 3];
  }
  for (int k = 0; nodes == EB_TRIANGLE && k < 3; k++) F[6 + k] = k == 2 ? third : 0;
}

/* got = K v, point by point. */
static void apply(body *b, eb_tangent tangent) {
  const eb_mesh *mesh = b->mesh;
  int nodes = (int)mesh->type, rows = nodes == EB_TRIANGLE ? 6 : 9;
  memset(b->got, 0, 3 * (size_t)mesh->node_count * sizeof *b->got);
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const eb_material *m = &b->materials[mesh->region[e]];
    reference_point points[REFERENCE_POINTS];
    int count = reference_points(mesh, e, points);
    for (int q = 0; q < count; q++) {
      double F[9], dF[9], dP[9], weight = points[q].volume;
      if (nodes == EB_TRIANGLE) weight *= m->thickness;
      gradient_of(b, e, &points[q], b->x, 1, F);
      gradient_of(b, e, &points[q], b->v, 0, dF);
      one_tangent(m, tangent, F, mesh->fibre + 3 * e, dF, dP);
      for (int a = 0; a < nodes; a++)
        for (int i = 0; i < rows; i++)
          b->got[3 * mesh->elements[nodes * e + a] + i / 3] +=
              weight * dP[i] * points[q].slope[a][i % 3];
    }
  }
}

/* Relative to the largest entry of the product. */
static double compare(body *b, eb_tangent tangent) {
  int size = 3 * b->mesh->node_count;
  apply(b, tangent);
  eb_block_multiply(b->matrix, b->v, b->want);
  double scale = largest(size, b->want);
  for (int i = 0; i < size; i++) b->got[i] -= b->want[i];
  return largest(size, b->got) / scale;
}

static void test_assembled(eb_element_type type, eb_material_kind kind, eb_fibre_kind fibre) {
  body b = make_body(type, kind, fibre);
  double worst = 0, rotated = 0;
  for (int project = 0; project < 2; project++)
    for (int flat = 0; flat < 2; flat++) {
      deform(&b, flat);
      eb_elasticity_matrix(b.elasticity, b.x, 0, 1, project, b.matrix, NULL);
      worst = fmax(worst, compare(&b, project ? EB_TANGENT_PROJECTED : EB_TANGENT_EXACT));
      if (kind == EB_COROTATIONAL && !project)
        rotated = fmax(rotated, compare(&b, EB_TANGENT_ROTATED));
    }
  /* Rounding grows with twist modes, by 1 / (s1 + s2). */
  tap_ok(worst <= 1e-10 && rotated <= 1e-10, "elements of %d nodes, %s%s: what is assembled (%.1e)",
         (int)type, eb_material_describe(kind)->name, fibre_names[fibre], fmax(worst, rotated));
  release(&b);
}

/* The matrix of the corotational solvers, at node rotations of the identity. */
static void test_corotation(void) {
  body b = make_body(EB_TETRAHEDRON, EB_COROTATIONAL, EB_FIBRE_NONE);
  eb_corotation *corotation;
  tap_require(eb_corotation_create(b.mesh, b.materials, &corotation), "corotation");
  deform(&b, false);
  eb_corotation_rotate_elements(corotation, b.x);
  eb_corotation_assemble(corotation, eb_elasticity_mass(b.elasticity), 0, 1, b.matrix);
  /* Rounding of rotations, some 1 / (s1 + s2) times 1e-16. */
  tap_below(compare(&b, EB_TANGENT_ROTATED), 1e-10,
            "the rotated tangent is what corotational solvers assemble");
  eb_corotation_destroy(corotation);
  release(&b);
}

int main(void) {
  static const eb_element_type types[] = {EB_TRIANGLE, EB_TETRAHEDRON, EB_HEXAHEDRON};
  for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++) {
    for (int fibre = EB_FIBRE_NONE; fibre <= EB_FIBRE_FUNG; fibre++) {
      if (kind != EB_LINEAR) test_rotated((eb_material_kind)kind, (eb_fibre_kind)fibre);
      if (kind != EB_COROTATIONAL) test_differences((eb_material_kind)kind, (eb_fibre_kind)fibre);
      test_projection((eb_material_kind)kind, (eb_fibre_kind)fibre);
      test_degenerate((eb_material_kind)kind, (eb_fibre_kind)fibre);
      test_lanes_apart((eb_material_kind)kind, (eb_fibre_kind)fibre);
      for (int t = 0; t < 3; t++)
        test_assembled(types[t], (eb_material_kind)kind, (eb_fibre_kind)fibre);
    }
  }
  test_corotation();
  return tap_done();
}
