#include "problems/scenes/file/solids.h"

#include <math.h>

/* Of what is `across` outside of a section and `along` beyond its ends. */
static double prism(double across, double along) {
  if (across > 0 && along > 0) return hypot(across, along);
  return fmax(across, along);
}

/* Signed distance of the polygon: to the nearest edge, inside by the number of edges that a ray
 * along x crosses. */
static double polygon(const eb_round *r, const double p[3]) {
  double nearest = INFINITY;
  bool inside = false;
  for (int32_t k = 0; k < r->count; k++) {
    const double *a = r->corners + 2 * k, *b = r->corners + 2 * ((k + 1) % r->count);
    double e[2] = {b[0] - a[0], b[1] - a[1]}, w[2] = {p[0] - a[0], p[1] - a[1]};
    double along = fmin(1, fmax(0, (w[0] * e[0] + w[1] * e[1]) / (e[0] * e[0] + e[1] * e[1])));
    nearest = fmin(nearest, hypot(w[0] - along * e[0], w[1] - along * e[1]));
    if ((a[1] > p[1]) != (b[1] > p[1]) && w[0] < e[0] * w[1] / e[1]) inside = !inside;
  }
  return inside ? -nearest : nearest;
}

static double distance(const void *context, const double p[3]) {
  const eb_round *r = context;
  double away = hypot(p[0], p[1]), half = 0.5 * r->length;
  switch (r->kind) {
  case EB_ROUND_BALL:
    return hypot(away, p[2]) - r->radius;
  case EB_ROUND_CYLINDER:
    return prism(away - r->radius, fabs(p[2]) - half);
  case EB_ROUND_TUBE:
    return prism(fmax(away - r->radius, r->inner - away), fabs(p[2]) - half);
  case EB_ROUND_CAPSULE:
    return hypot(away, fmax(0, fabs(p[2]) - (half - r->radius))) - r->radius;
  case EB_ROUND_OUTLINE:
    return prism(polygon(r, p), fabs(p[2] - half) - half);
  }
  return NAN;
}

eb_error eb_round_solid(const eb_round *r, eb_solid *out) {
  bool outlined = r->kind == EB_ROUND_OUTLINE, ball = r->kind == EB_ROUND_BALL;
  bool sound = (outlined ? r->count >= 3 : r->radius > 0) && (ball || r->length > 0);
  if (r->kind == EB_ROUND_CAPSULE) sound = sound && r->length > 2 * r->radius;
  if (r->kind == EB_ROUND_TUBE) sound = sound && r->inner > 0 && r->inner < r->radius;
  if (!sound)
    return EB_ERROR(EB_ERR_FORMAT, "these sizes make no solid: a radius and a length above 0 are "
                                   "wanted, an inner radius below the outer one, a capsule longer "
                                   "than wide, an outline of three points or more");
  double half = ball ? r->radius : 0.5 * r->length, across = r->radius;
  *out = (eb_solid){.distance = distance, .context = r};
  for (int d = 0; d < 3; d++) {
    double reach = 1.05 * (d < 2 ? across : half);
    out->lo[d] = -reach;
    out->hi[d] = reach;
  }
  if (!outlined) return EB_OK;
  double margin = 0.05 * r->length;
  for (int d = 0; d < 2; d++) out->lo[d] = INFINITY, out->hi[d] = -INFINITY;
  for (int32_t k = 0; k < 2 * r->count; k++) {
    out->lo[k % 2] = fmin(out->lo[k % 2], r->corners[k] - margin);
    out->hi[k % 2] = fmax(out->hi[k % 2], r->corners[k] + margin);
  }
  out->lo[2] = -margin;
  out->hi[2] = r->length + margin;
  return EB_OK;
}
