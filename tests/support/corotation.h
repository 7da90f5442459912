/* Bodies and a plain reference for the tests of corotation: one element after the other with
 * explicit 12x12 matrices B^T D B, 3x3 rotations, dense sums. Slow on purpose; shares no formula
 * with the code it judges. */
#ifndef EB_TESTS_COROTATION_H
#define EB_TESTS_COROTATION_H

#include "problems/base/memory.h"
#include "problems/elasticity/corotation.h"
#include "tests/support/owned.h"
#include "tests/support/elastic.h"
#include "tests/support/elements.h"
#include "tests/support/mesh_quality.h"
#include "tests/tap.h"

typedef struct body {
  eb_mesh *mesh;
  eb_material materials[2];
  double *x, *v;
  eb_elasticity *elasticity; /* of the same mesh: mass, pattern, reference */
  eb_corotation *corotation;
  eb_block_matrix *matrix;
  double *Q; /* the reference's stale rotations: elements x 4 x 9 */
} body;

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Takes the mesh. */
static inline body body_of(eb_mesh *mesh) {
  const eb_material soft = {.kind = EB_COROTATIONAL, .young = 3e4, .poisson = 0.4, .density = 900};
  body b = {.mesh = mesh, .materials = {soft, soft}};
  b.materials[1].young = 2e5;
  b.materials[1].poisson = -0.2;
  tap_require(EB_NEW(b.x, 3 * mesh->node_count), "positions");
  tap_require(EB_NEW(b.v, 3 * mesh->node_count), "velocities");
  tap_require(EB_NEW(b.Q, 36 * (size_t)mesh->element_count), "stale rotations");
  memcpy(b.x, mesh->X, 3 * (size_t)mesh->node_count * sizeof *b.x);
  tap_require(eb_elasticity_create(mesh, b.materials, &b.elasticity), "elasticity");
  tap_require(eb_corotation_create(mesh, b.materials, &b.corotation), "corotation");
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(b.elasticity), &b.matrix), "matrix");
  return b;
}

/* A block of nx x ny x nz cubes with irregular nodes and two regions in no order. */
static inline eb_mesh *body_mesh(int nx, int ny, int nz) {
  random_state random = random_seed(31);
  eb_mesh *mesh = irregular_mesh(EB_TETRAHEDRON, 6, nx, ny, nz, 0.01, &random);
  mix_regions(mesh, &random);
  return mesh;
}

static inline void body_close(body *b) {
  eb_block_matrix_destroy(b->matrix);
  eb_corotation_destroy(b->corotation);
  eb_elasticity_destroy(b->elasticity);
  eb_mesh_destroy(b->mesh);
  free(b->x);
  free(b->v);
  free(b->Q);
}
OWNED(body, body_close)

/* A random turn, a twist about it and noise, of which 0.05 inverts some elements; random
 * velocities. */
static inline void body_deform(body *b, random_state *random, double noise) {
  double R[9];
  random_rotation(random, R);
  for (int n = 0; n < b->mesh->node_count; n++) {
    const double *X = b->mesh->X + 3 * n;
    double c = cos(7 * X[0]), s = sin(7 * X[0]);
    const double twisted[3] = {1.2 * X[0], c * X[1] - s * X[2], s * X[1] + c * X[2]};
    for (int i = 0; i < 3; i++) {
      b->x[3 * n + i] = 0.3 + random_uniform(random, -noise, noise);
      for (int j = 0; j < 3; j++) b->x[3 * n + i] += R[3 * i + j] * twisted[j];
      b->v[3 * n + i] = random_uniform(random, -1, 1);
    }
  }
}

static inline int body_inverted(const body *b) {
  eb_mesh_quality quality;
  eb_mesh_measure(b->mesh, b->x, &quality);
  return quality.inverted;
}

static inline void body_rotate(body *b) {
  eb_corotation_rotate_elements(b->corotation, b->x);
  eb_corotation_rotate_nodes(b->corotation, b->x);
}

/* ---- reference ------------------------------------------------------------------------------- */

/* C = A B, 3x3, the first transposed where asked. */
static inline void multiply3(const double *A, bool transpose, const double *B, double *C) {
  double out[9] = {0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++)
        out[3 * i + j] += (transpose ? A[3 * k + i] : A[3 * i + k]) * B[3 * k + j];
  memcpy(C, out, sizeof out);
}

/* K_e = V B^T D B in the notation of Voigt. */
static inline void reference_stiffness(const body *b, int32_t e, double K[144]) {
  const eb_material *m = &b->materials[b->mesh->region[e]];
  double mu = m->young / (2 * (1 + m->poisson));
  double lambda = m->young * m->poisson / ((1 + m->poisson) * (1 - 2 * m->poisson));
  double B[6][12] = {{0}}, D[6][6] = {{0}};
  reference_point point;
  reference_points(b->mesh, e, &point);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) D[i][j] = lambda + (i == j ? 2 * mu : 0);
  for (int i = 3; i < 6; i++) D[i][i] = mu;
  for (int a = 0; a < 4; a++)
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3;
      B[i][3 * a + i] = point.slope[a][i];
      B[3 + i][3 * a + i] = point.slope[a][j]; /* gamma_ij = du_i/dX_j + du_j/dX_i */
      B[3 + i][3 * a + j] = point.slope[a][i];
    }
  for (int r = 0; r < 12; r++)
    for (int c = 0; c < 12; c++) {
      K[12 * r + c] = 0;
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) K[12 * r + c] += point.volume * B[i][r] * D[i][j] * B[j][c];
    }
}

/* K := diag(T_a) K diag(T_a)^T, T: 4 x 9. */
static inline void reference_turn(const double *T, double K[144]) {
  double out[144] = {0};
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++)
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
          for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
              out[12 * (3 * a + i) + 3 * b + j] +=
                  T[9 * a + 3 * i + k] * K[12 * (3 * a + k) + 3 * b + l] * T[9 * b + 3 * j + l];
  memcpy(K, out, sizeof out);
}

/* Q_e of the present for the elements with marked[e] (all when NULL), at positions b->x. */
static inline void reference_refresh(body *b, const uint8_t *marked) {
  const double *node_rotation = eb_corotation_node_rotations(b->corotation);
  double *R;
  tap_require(EB_NEW(R, 9 * (size_t)b->mesh->element_count), "rotations");
  eb_elasticity_rotations(b->elasticity, b->x, R);
  for (int e = 0; e < b->mesh->element_count; e++)
    for (int a = 0; a < 4 && (!marked || marked[e]); a++)
      multiply3(node_rotation + 9 * b->mesh->elements[4 * e + a], true, R + 9 * e,
                b->Q + 36 * e + 9 * a);
  free(R);
}

/* Dense mass_scale M + scale sum_e Q_e K_e Q_e^T. free() it. */
static inline double *reference_matrix(const body *b, double mass_scale, double scale) {
  int size = 3 * b->mesh->node_count;
  double *dense, K[144];
  tap_require(EB_NEW(dense, (size_t)size * (size_t)size), "dense matrix");
  for (int i = 0; i < size; i++)
    dense[(size + 1) * i] = mass_scale * eb_elasticity_mass(b->elasticity)[i / 3];
  for (int e = 0; e < b->mesh->element_count; e++) {
    const int32_t *node = b->mesh->elements + 4 * e;
    reference_stiffness(b, e, K);
    reference_turn(b->Q + 36 * e, K);
    for (int r = 0; r < 12; r++)
      for (int c = 0; c < 12; c++)
        dense[size * (3 * node[r / 3] + r % 3) + 3 * node[c / 3] + c % 3] += scale * K[12 * r + c];
  }
  return dense;
}

/* | R_e K_e R_e^T v_e - R_n Q_e K_e Q_e^T R_n^T v_e |_2 times scale; with `whole` the first
 * product's norm. */
static inline void reference_errors(const body *b, double scale, double *error, double *whole) {
  const double *node_rotation = eb_corotation_node_rotations(b->corotation);
  double *R;
  tap_require(EB_NEW(R, 9 * (size_t)b->mesh->element_count), "rotations");
  eb_elasticity_rotations(b->elasticity, b->x, R);
  for (int e = 0; e < b->mesh->element_count; e++) {
    const int32_t *node = b->mesh->elements + 4 * e;
    double exact[144], stale[144], T[36], own[36], off = 0, all = 0;
    for (int a = 0; a < 4; a++) {
      multiply3(node_rotation + 9 * node[a], false, b->Q + 36 * e + 9 * a, T + 9 * a);
      memcpy(own + 9 * a, R + 9 * e, 9 * sizeof *R);
    }
    reference_stiffness(b, e, exact);
    memcpy(stale, exact, sizeof stale);
    reference_turn(own, exact);
    reference_turn(T, stale);
    for (int r = 0; r < 12; r++) {
      double f = 0, g = 0;
      for (int c = 0; c < 12; c++) {
        double v = b->v[3 * node[c / 3] + c % 3];
        f += exact[12 * r + c] * v;
        g += stale[12 * r + c] * v;
      }
      off += (f - g) * (f - g);
      all += f * f;
    }
    error[e] = scale * sqrt(off);
    whole[e] = scale * sqrt(all);
  }
  free(R);
}

#endif
