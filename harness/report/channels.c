#include "harness/report/channels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/elasticity/elements.h"
#include "problems/elasticity/svd3.h"

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

/* ---- strain ---------------------------------------------------------------------------------- */

static const eb_kernels *kernels_of(const eb_mesh *mesh) {
  return mesh->type == EB_TRIANGLE      ? &eb_triangle_kernels
         : mesh->type == EB_TETRAHEDRON ? &eb_tetrahedron_kernels
                                        : &eb_one_point_hexahedron_kernels;
}

eb_error eb_strain_create(const eb_mesh *mesh, const int32_t *element, int32_t count,
                          eb_strain *out) {
  size_t type = mesh->type, stride = 3 * type - 2; /* gradients of nodes 1, .., and a volume */
  double X[3 * EB_HEXAHEDRON], share[EB_HEXAHEDRON];
  *out = (eb_strain){.mesh = mesh, .element = element, .count = count};
  EB_TRY(EB_NEW(out->gradient, stride * (size_t)count));
  for (int32_t i = 0; i < count; i++) {
    if (element[i] < 0) continue;
    const int32_t *node = mesh->elements + type * (size_t)element[i];
    for (size_t a = 0; a < type; a++)
      memcpy(X + 3 * a, mesh->X + 3 * (size_t)node[a], 3 * sizeof *X);
    kernels_of(mesh)->measure(X, out->gradient + stride * (size_t)i, share);
  }
  return EB_OK;
}

void eb_strain_clear(eb_strain *strain) {
  free(strain->gradient);
  *strain = (eb_strain){0};
}

/* F = sum_a (x_a - x_0) g_a^T of nodes 1, ..; in a plane nothing happens across it. */
static void deformation_of(const eb_strain *strain, int32_t i, const float *x, double F[9]) {
  size_t type = strain->mesh->type;
  const int32_t *node = strain->mesh->elements + type * (size_t)strain->element[i];
  const double *gradient = strain->gradient + (3 * type - 2) * (size_t)i;
  for (int k = 0; k < 9; k++) F[k] = 0;
  for (size_t a = 1; a < type; a++, gradient += 3)
    for (int d = 0; d < 3; d++)
      eb_add3((double)x[3 * node[a] + d] - x[3 * node[0] + d], gradient, F + 3 * d);
  if (type == EB_TRIANGLE) F[8] = 1;
}

/* Of up to four elements from `first` on: stretches are roots of the eigenvalues of F^T F. */
static void strains_from(const eb_strain *strain, int32_t first, const float *x, float *out) {
  static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
  int32_t count = strain->count - first < EB_LANES ? strain->count - first : EB_LANES;
  eb_v4 S[6] = {{0}}, w[3], Q[9];
  for (int32_t lane = 0; lane < count; lane++) {
    double F[9];
    if (strain->element[first + lane] < 0) continue;
    deformation_of(strain, first + lane, x, F);
    for (int k = 0; k < 6; k++)
      for (int d = 0; d < 3; d++) S[k][lane] += F[3 * d + pair[k][0]] * F[3 * d + pair[k][1]];
  }
  eb_eigen3(S, w, Q);
  for (int32_t lane = 0; lane < count; lane++) {
    double most = 0;
    for (int k = 0; k < 3; k++) most = fmax(most, fabs(sqrt(fmax(0, w[k][lane])) - 1));
    out[first + lane] = strain->element[first + lane] < 0 ? 0 : (float)most;
  }
}

enum { FEW_ELEMENTS = 4000 /* a team would wait longer than it works */ };

void eb_strain_at(const eb_strain *strain, const float *x, float *out) {
#pragma omp parallel for schedule(static) if (strain->count > FEW_ELEMENTS)
  for (int32_t i = 0; i < strain->count; i += EB_LANES) strains_from(strain, i, x, out);
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
