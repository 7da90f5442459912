/* Hexahedra as a whole, and their hourglass modes: how far nodes follow them, and what resists
 * them.
 *
 * One point has means over the element, which the eight Gauss points +-1/sqrt(3) give exactly: with
 * D = dX/dxi, integral of grad N_a dX = integral of cof(D) dN_a/dxi, polynomials of degree 2.
 *
 * Patterns H_k are products of two and of three of the signs c_ad of corner a along axis d. Of what
 * an element's nodes do beside a linear field, y = x - F X with F = sum x_a b_a^T of the mean
 * gradients b_a, pattern k has the amplitude
 *
 *   c_k = 1/8 sum_a H_ka y_a = sum_a gamma_ka x_a,
 *   gamma_ka = 1/8 (H_ka - sum_b H_kb X_b . b_a)                    (Lewin 2016, Equation 4.33)
 *
 * and control by one number a pattern is E = sum_k s_k |c_k|^2, f_a = 2 sum_k s_k gamma_ka c_k:
 *
 *   perturbation   s_k = hourglass mu V^(1/3)                       (Equation 4.34)
 *   staggered      mu V sum_d |grad xi_d|^2 times the variance over the four edges along d of
 *                  dy/dxi_d, half an edge's vector (McAdams et al. 2011). Patterns are orthogonal
 *                  on four edges: s_k is that of y = H_k along one axis.
 *
 * The column `hourglass` is sqrt(sum_e V_e^(1/3) sum_k |c_k|^2 / sum_e V_e), of any quadrature. */
#include <math.h>

#include "harness/audit/audit_data.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"

enum { CORNERS = 8, AXES = 3 };

static double sign_of(int corner, int axis) {
  const bool upper[AXES] = {corner % 4 == 1 || corner % 4 == 2, corner % 4 >= 2, corner >= 4};
  return upper[axis] ? 1 : -1;
}

/* xi_2 xi_3, xi_3 xi_1, xi_1 xi_2, xi_1 xi_2 xi_3 */
static double pattern(int k, int corner) {
  double product = 1;
  for (int d = 0; d < AXES; d++) product *= d == k ? 1 : sign_of(corner, d);
  return product;
}

/* N_a and dN_a/dxi at xi. */
static double shape(int a, const double xi[AXES], double slope[AXES]) {
  double f[AXES];
  for (int d = 0; d < AXES; d++) f[d] = (1 + sign_of(a, d) * xi[d]) / 2;
  for (int d = 0; d < AXES; d++)
    slope[d] = sign_of(a, d) / 2 * f[(d + 1) % AXES] * f[(d + 2) % AXES];
  return f[0] * f[1] * f[2];
}

/* Rows area[d] of cof(D) at xi, cof(D) dN_a/dxi = sum_d area[d] dN_a/dxi_d; returns det D. */
static double areas(const eb_mesh *mesh, const int32_t *node, const double xi[AXES],
                    double area[AXES][3]) {
  double D[AXES][3] = {{0}}, slope[AXES]; /* D[d] = dX/dxi_d */
  for (int a = 0; a < CORNERS; a++) {
    shape(a, xi, slope);
    for (int d = 0; d < AXES; d++) eb_add3(slope[d], mesh->X + 3 * (size_t)node[a], D[d]);
  }
  for (int d = 0; d < AXES; d++) eb_cross3(D[(d + 1) % AXES], D[(d + 2) % AXES], area[d]);
  return eb_dot3(D[0], area[0]);
}

void eb_audit_mean_point(const eb_mesh *mesh, int32_t element, double *gradients,
                         double shares[CORNERS], double *volume) {
  const int32_t *node = mesh->elements + (size_t)element * CORNERS;
  double area[AXES][3], slope[AXES], xi[AXES];
  *volume = 0;
  for (int k = 0; k < 3 * CORNERS; k++) gradients[k] = shares[k / 3] = 0;
  for (int q = 0; q < CORNERS; q++) {
    for (int d = 0; d < AXES; d++) xi[d] = sign_of(q, d) / sqrt(3);
    double weight = areas(mesh, node, xi, area);
    for (int a = 0; a < CORNERS; a++) {
      shares[a] += weight * shape(a, xi, slope);
      for (int d = 0; d < AXES; d++) eb_add3(slope[d], area[d], gradients + 3 * a);
    }
    *volume += weight;
  }
  for (int k = 0; k < 3 * CORNERS; k++) gradients[k] /= *volume;
  for (int a = 0; a < CORNERS; a++) shares[a] /= *volume;
}

/* Mean square of dH_k/dxi_d over the edges along d, where its mean is 0: half of the difference of
 * the ends, seen from each of them. */
static double staggered_variance(int k, int d) {
  double sum = 0;
  for (int a = 0; a < CORNERS; a++)
    for (int b = 0; b < CORNERS; b++) {
      bool edge = true;
      for (int e = 0; e < AXES; e++) edge &= (sign_of(a, e) != sign_of(b, e)) == (e == d);
      double slope = (pattern(k, b) - pattern(k, a)) / 2;
      sum += edge ? slope * slope : 0;
    }
  return sum / CORNERS;
}

/* s_k of an element. */
static double stiffness_of(const eb_mesh *mesh, const eb_material *material, int32_t element,
                           double volume, int k) {
  static const double centre[AXES] = {0};
  double mu = material->young / (2 * (1 + material->poisson)), area[AXES][3], sum = 0;
  if (material->integration == EB_INTEGRATION_GAUSS) return 0;
  if (material->integration == EB_INTEGRATION_ONE_POINT)
    return material->hourglass * mu * cbrt(volume);
  double det = areas(mesh, mesh->elements + (size_t)element * CORNERS, centre, area);
  for (int d = 0; d < AXES; d++) /* grad xi_d = area[d] / det */
    sum += eb_audit_squared(area[d]) / (det * det) * staggered_variance(k, d);
  return mu * volume * sum;
}

eb_error eb_audit_hourglass_create(eb_audit *audit) {
  const eb_mesh *mesh = audit->scene->mesh;
  EB_TRY(EB_TAKE(&audit->owned, audit->hourglass, mesh->element_count));
  for (int32_t e = 0; e < mesh->element_count; e++) {
    eb_audit_hourglass *h = &audit->hourglass[e];
    const int32_t *node = mesh->elements + (size_t)e * CORNERS;
    const eb_material *material = &audit->scene->materials[mesh->region[e]];
    double mean[3 * CORNERS], shares[CORNERS], volume;
    eb_audit_mean_point(mesh, e, mean, shares, &volume);
    h->size = cbrt(volume);
    if (e < audit->own_elements) audit->volume += volume;
    for (int k = 0; k < EB_AUDIT_HOURGLASS; k++) {
      double along[3] = {0};
      for (int a = 0; a < CORNERS; a++)
        eb_add3(pattern(k, a), mesh->X + 3 * (size_t)node[a], along);
      for (int a = 0; a < CORNERS; a++)
        h->gamma[k][a] = (pattern(k, a) - eb_dot3(along, mean + 3 * a)) / CORNERS;
      h->stiffness[k] = stiffness_of(mesh, material, e, volume, k);
      audit->controlled |= h->stiffness[k] > 0;
    }
  }
  audit->volume = eb_audit_sum(audit, audit->volume);
  return EB_OK;
}

static const int32_t *nodes_of(const eb_audit *audit, int32_t e) {
  return audit->scene->mesh->elements + (size_t)e * CORNERS;
}

static bool is_rigid(const eb_audit *audit, int32_t e) {
  return audit->scene->rigid.regions[audit->scene->mesh->region[e]] != 0;
}

static void amplitudes(const eb_audit *audit, int32_t e, const double *y,
                       double c[EB_AUDIT_HOURGLASS][3]) {
  const int32_t *node = nodes_of(audit, e);
  for (int k = 0; k < EB_AUDIT_HOURGLASS; k++) {
    c[k][0] = c[k][1] = c[k][2] = 0;
    for (int a = 0; a < CORNERS; a++)
      eb_add3(audit->hourglass[e].gamma[k][a], y + 3 * (size_t)node[a], c[k]);
  }
}

double eb_audit_hourglass_push(const eb_audit *audit, const eb_audit_lane *lane, const double *y,
                               double *to) {
  double squares = 0, c[EB_AUDIT_HOURGLASS][3];
  for (int32_t e = lane->first; audit->controlled && e < lane->last; e++) {
    const eb_audit_hourglass *h = &audit->hourglass[e];
    const int32_t *node = nodes_of(audit, e);
    if (is_rigid(audit, e)) continue;
    amplitudes(audit, e, y, c);
    for (int a = 0; a < CORNERS; a++) {
      double f[3] = {0};
      for (int k = 0; k < EB_AUDIT_HOURGLASS; k++)
        eb_add3(2 * h->stiffness[k] * h->gamma[k][a], c[k], f);
      eb_add3(1, f, to + 3 * ((size_t)node[a] - lane->low));
      if (!audit->fixed[node[a]] && e < audit->own_elements) squares += eb_audit_squared(f);
    }
  }
  return squares;
}

/* What rounding leaves unknown: of c_k resolution sum_b |gamma_kb| |x_b|. */
static double unknown_forces(const eb_audit *audit, int32_t e) {
  static const double resolution = 1e-8; /* audit.h */
  const eb_audit_hourglass *h = &audit->hourglass[e];
  const int32_t *node = nodes_of(audit, e);
  double reach[EB_AUDIT_HOURGLASS] = {0}, squares = 0;
  for (int k = 0; k < EB_AUDIT_HOURGLASS; k++)
    for (int a = 0; a < CORNERS; a++) reach[k] += fabs(h->gamma[k][a]) * audit->distance[node[a]];
  for (int a = 0; a < CORNERS; a++) {
    double size = 0;
    for (int k = 0; k < EB_AUDIT_HOURGLASS; k++)
      size += 2 * resolution * h->stiffness[k] * fabs(h->gamma[k][a]) * reach[k];
    if (!audit->fixed[node[a]]) squares += size * size;
  }
  return squares;
}

void eb_audit_hourglass_sums(const eb_audit *audit, const eb_audit_lane *lane, const double *x,
                             eb_audit_elastic *sum) {
  double c[EB_AUDIT_HOURGLASS][3];
  int32_t last = lane->last < audit->own_elements ? lane->last : audit->own_elements;
  for (int32_t e = lane->first; audit->hourglass && e < last; e++) {
    const eb_audit_hourglass *h = &audit->hourglass[e];
    amplitudes(audit, e, x, c);
    for (int k = 0; k < EB_AUDIT_HOURGLASS; k++) {
      double c2 = eb_audit_squared(c[k]);
      sum->hourglass += h->size * c2;
      if (audit->controlled && !is_rigid(audit, e)) sum->energy += h->stiffness[k] * c2;
    }
    if (audit->controlled && !is_rigid(audit, e)) sum->rounding2 += unknown_forces(audit, e);
  }
}
