/* Principal stretches are roots of the eigenvalues of F^T F, which are those of O. K. Smith,
 * Eigenvalues of a symmetric 3 x 3 matrix, Comm. ACM 4 (1961): their error is some units in the
 * last place of the largest, and so the root of that in the least stretch, far below what a byte
 * shows. */
#include "harness/report/channels.h"

#include <math.h>
#include <stdlib.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"

/* ---- positions ------------------------------------------------------------------------------- */

enum { PLACES = 65535 };

const eb_lattice eb_no_lattice = {{INFINITY, INFINITY, INFINITY},
                                  {-INFINITY, -INFINITY, -INFINITY}};

void eb_lattice_widen(eb_lattice *lattice, const float *x, size_t count) {
  for (int d = 0; d < 3; d++) {
    double lo = lattice->lo[d], hi = isfinite(lo) ? lo + lattice->size[d] : -INFINITY;
    for (size_t i = 0; i < count; i++) {
      double at = x[3 * i + (size_t)d];
      if (!isfinite(at)) continue;
      lo = fmin(lo, at);
      hi = fmax(hi, at);
    }
    if (!isfinite(lo)) continue;
    lattice->lo[d] = lo;
    lattice->size[d] = hi - lo;
  }
}

void eb_lattice_place(const eb_lattice *lattice, const float *x, size_t count, uint16_t *place) {
  for (int d = 0; d < 3; d++) {
    double lo = lattice->lo[d], scale = lattice->size[d] > 0 ? PLACES / lattice->size[d] : 0;
    for (size_t i = (size_t)d; i < 3 * count; i += 3) {
      double at = scale * (x[i] - lo);
      place[i] = (uint16_t)(at > 0 ? fmin(rint(at), PLACES) : 0);
    }
  }
}

double eb_lattice_precision(const eb_lattice *lattice) {
  return 0.5 / PLACES * sqrt(eb_dot3(lattice->size, lattice->size));
}

/* ---- gradients of shape functions ------------------------------------------------------------ */

/* Inverse of the matrix with these columns, as rows; false when it has none. */
static bool invert(const double a[3], const double b[3], const double c[3], double inverse[9]) {
  eb_cross3(b, c, inverse);
  eb_cross3(c, a, inverse + 3);
  eb_cross3(a, b, inverse + 6);
  double determinant = eb_dot3(a, inverse);
  for (int i = 0; i < 9; i++) inverse[i] /= determinant;
  return fabs(determinant) > 0 && isfinite(determinant);
}

/* Of a tetrahedron the rows of the inverse of its edges from node 0 are the gradients of the other
 * nodes; a planar triangle has the normal as a third edge. */
static void simplex_gradients(const eb_mesh *mesh, const int32_t *node, double *gradient) {
  double edge[3][3] = {{0}, {0}, {0, 0, 1}}, inverse[9];
  int edges = (int)mesh->type - 1;
  for (int k = 0; k < edges; k++)
    for (int d = 0; d < 3; d++)
      edge[k][d] =
          mesh->X[3 * (size_t)node[k + 1] + (size_t)d] - mesh->X[3 * (size_t)node[0] + (size_t)d];
  if (!invert(edge[0], edge[1], edge[2], inverse)) return;
  for (int k = 0; k < edges; k++)
    for (int d = 0; d < 3; d++) {
      gradient[3 * (k + 1) + d] = inverse[3 * k + d];
      gradient[d] -= inverse[3 * k + d];
    }
}

/* In the middle of a hexahedron dN_a/dr = side_a / 8, where side_a = (+-1, +-1, +-1) is the corner
 * of [-1, 1]^3 that node a has; J = sum_a X_a dN_a/dr^T and grad N_a = J^-T dN_a/dr. */
static void hexahedron_gradients(const eb_mesh *mesh, const int32_t *node, double *gradient) {
  static const double side[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                    {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
  double column[3][3] = {{0}}, inverse[9];
  for (int a = 0; a < 8; a++)
    for (int r = 0; r < 3; r++) eb_add3(side[a][r] / 8, mesh->X + 3 * (size_t)node[a], column[r]);
  if (!invert(column[0], column[1], column[2], inverse)) return;
  for (int a = 0; a < 8; a++)
    for (int r = 0; r < 3; r++) eb_add3(side[a][r] / 8, inverse + 3 * r, gradient + 3 * a);
}

eb_error eb_strain_create(const eb_mesh *mesh, const int32_t *element, int32_t count,
                          eb_strain *out) {
  size_t type = mesh->type;
  *out = (eb_strain){.mesh = mesh, .element = element, .count = count};
  EB_TRY(EB_NEW(out->gradient, 3 * type * (size_t)count));
  for (int32_t i = 0; i < count; i++) {
    if (element[i] < 0) continue;
    const int32_t *node = mesh->elements + type * (size_t)element[i];
    double *gradient = out->gradient + 3 * type * (size_t)i;
    if (mesh->type == EB_HEXAHEDRON)
      hexahedron_gradients(mesh, node, gradient);
    else
      simplex_gradients(mesh, node, gradient);
  }
  return EB_OK;
}

void eb_strain_clear(eb_strain *strain) {
  free(strain->gradient);
  *strain = (eb_strain){0};
}

/* ---- strain ---------------------------------------------------------------------------------- */

/* Eigenvalues of a symmetric matrix, with 00 11 22 12 02 01 in S. */
static void eigenvalues(const double S[6], double w[3]) {
  static const double third = 2.0943951023931953; /* of a turn, rad */
  double mean = (S[0] + S[1] + S[2]) / 3, a = S[0] - mean, b = S[1] - mean, c = S[2] - mean;
  double off = S[3] * S[3] + S[4] * S[4] + S[5] * S[5];
  double p = sqrt((a * a + b * b + c * c + 2 * off) / 6);
  w[0] = w[1] = w[2] = mean;
  if (!(p > 0)) return;
  double half = (a * (b * c - S[3] * S[3]) - S[5] * (S[5] * c - S[3] * S[4]) +
                 S[4] * (S[5] * S[3] - b * S[4])) /
                (2 * p * p * p);
  double angle = acos(fmax(-1, fmin(1, half))) / 3;
  for (int k = 0; k < 3; k++) w[k] += 2 * p * cos(angle + k * third);
}

static float strain_of(const eb_strain *strain, int32_t i, const float *x) {
  size_t type = strain->mesh->type;
  const int32_t *node = strain->mesh->elements + type * (size_t)strain->element[i];
  const double *gradient = strain->gradient + 3 * type * (size_t)i;
  double F[3][3] = {{0}}, w[3], most = 0; /* F[d]: its column d */
  for (size_t a = 0; a < type; a++) {
    const float *at = x + 3 * (size_t)node[a];
    const double place[3] = {at[0], at[1], at[2]};
    for (int d = 0; d < 3; d++) eb_add3(gradient[3 * a + (size_t)d], place, F[d]);
  }
  if (type == EB_TRIANGLE) F[2][2] = 1; /* nothing happens across the plane */
  const double S[6] = {eb_dot3(F[0], F[0]), eb_dot3(F[1], F[1]), eb_dot3(F[2], F[2]),
                       eb_dot3(F[1], F[2]), eb_dot3(F[0], F[2]), eb_dot3(F[0], F[1])};
  eigenvalues(S, w);
  for (int k = 0; k < 3; k++) most = fmax(most, fabs(sqrt(fmax(0, w[k])) - 1));
  return (float)most;
}

enum { FEW_ELEMENTS = 4000 /* a team would wait longer than it works */ };

void eb_strain_at(const eb_strain *strain, const float *x, float *out) {
#pragma omp parallel for schedule(static) if (strain->count > FEW_ELEMENTS)
  for (int32_t i = 0; i < strain->count; i++)
    out[i] = strain->element[i] < 0 ? 0 : strain_of(strain, i, x);
}

/* ---- texts ----------------------------------------------------------------------------------- */

eb_error eb_text_base64(eb_text *text, const void *bytes, size_t count) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  enum { GROUPS = 3072 };
  const uint8_t *from = bytes;
  char out[4 * GROUPS];
  for (size_t done = 0; done < count;) {
    size_t filled = 0;
    for (; filled < sizeof out && done < count; filled += 4, done += 3) {
      size_t left = count - done;
      uint32_t group = (uint32_t)from[done] << 16 | (left > 1 ? (uint32_t)from[done + 1] << 8 : 0) |
                       (left > 2 ? from[done + 2] : 0u);
      for (int k = 0; k < 4; k++) out[filled + (size_t)k] = digits[group >> (18 - 6 * k) & 63];
      if (left < 3) out[filled + 3] = '=';
      if (left < 2) out[filled + 2] = '=';
    }
    EB_TRY(eb_text_append(text, out, filled));
  }
  return EB_OK;
}
