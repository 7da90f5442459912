#include "harness/audit/embedding.h"

#include <math.h>

#include "problems/base/random.h"
#include "problems/mesh/embedding.h"

/* A place that no element of its kind has more of than another. */
static void random_place(const eb_mesh *mesh, uint64_t *seed, double xi[3]) {
  do
    for (int d = 0; d < 3; d++)
      xi[d] = eb_random_uniform(seed, mesh->type == EB_HEXAHEDRON ? -1 : 0, 1);
  while (mesh->type == EB_TETRAHEDRON && xi[0] + xi[1] + xi[2] > 1);
}

/* Between the corners along one axis after the other. */
static void position(const eb_mesh *mesh, int32_t e, const double xi[3], double out[3]) {
  const int32_t *node = mesh->elements + (size_t)e * mesh->type;
  for (size_t d = 0; d < 3; d++) {
    double at[EB_HEXAHEDRON];
    for (size_t a = 0; a < mesh->type; a++) at[a] = mesh->X[3 * (size_t)node[a] + d];
    if (mesh->type == EB_TETRAHEDRON) {
      out[d] = at[0];
      for (int a = 1; a < 4; a++) out[d] += xi[a - 1] * (at[a] - at[0]);
      continue;
    }
    double r = (1 + xi[0]) / 2, s = (1 + xi[1]) / 2, t = (1 + xi[2]) / 2, face[2];
    for (int z = 0; z < 2; z++) {
      const double *of = at + 4 * z;
      face[z] = (1 - s) * ((1 - r) * of[0] + r * of[1]) + s * ((1 - r) * of[3] + r * of[2]);
    }
    out[d] = (1 - t) * face[0] + t * face[1];
  }
}

/* One place in each of elements first .. first + 3, the last one again where there are fewer. */
static void embed(const eb_mesh *mesh, int32_t first, uint64_t *seed, double *sum,
                  eb_embedding_figures *out) {
  eb_v4 corner[EB_HEXAHEDRON][3], x[3], found[3];
  double xi[EB_LANES][3], at[3];
  int32_t left = mesh->element_count - first;
  for (int l = 0; l < EB_LANES; l++) {
    int32_t e = first + (l < left ? l : left - 1);
    random_place(mesh, seed, xi[l]);
    position(mesh, e, xi[l], at);
    for (size_t i = 0; i < 3; i++) {
      x[i][l] = at[i];
      for (size_t a = 0; a < mesh->type; a++)
        corner[a][i][l] = mesh->X[3 * (size_t)mesh->elements[(size_t)e * mesh->type + a] + i];
    }
  }
  eb_v4 updates = eb_embed4((int)mesh->type, (const eb_v4(*)[3])corner, x, found);
  for (int l = 0; l < EB_LANES && l < left; l++) {
    *sum += updates[l];
    out->iterations_max = fmax(out->iterations_max, updates[l]);
    for (int i = 0; i < 3; i++) {
      double error = fabs(found[i][l] - xi[l][i]);
      if (!(error <= out->error_max) && !isnan(out->error_max)) out->error_max = error;
    }
  }
}

bool eb_embedding_examine(const eb_mesh *mesh, int64_t points, uint64_t seed,
                          eb_embedding_figures *out) {
  double sum = 0;
  *out = (eb_embedding_figures){0};
  if (mesh->type != EB_TETRAHEDRON && mesh->type != EB_HEXAHEDRON) return false;
  for (int32_t first = 0; first < mesh->element_count; first += EB_LANES)
    for (int64_t p = 0; p < points; p++) embed(mesh, first, &seed, &sum, out);
  out->iterations_mean = sum / ((double)points * mesh->element_count);
  return true;
}
