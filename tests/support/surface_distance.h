/* Distances of triangles and of triangle surfaces by brute force, for small cases and far apart
 * ones. */
#ifndef EB_TESTS_SURFACE_DISTANCE_H
#define EB_TESTS_SURFACE_DISTANCE_H

#include <math.h>

#include "problems/base/vector3.h"
#include "problems/mesh/mesh.h"

static inline void between3(const double a[3], const double b[3], double out[3]) {
  for (int d = 0; d < 3; d++) out[d] = b[d] - a[d];
}

/* The place on p + t u, t in [0, 1], that is nearest to q. */
static inline double nearest_on(const double p[3], const double u[3], const double q[3]) {
  double r[3], uu = eb_dot3(u, u);
  between3(p, q, r);
  return uu > 0 ? fmin(1, fmax(0, eb_dot3(u, r) / uu)) : 0;
}

/* Of the segments a and b: interior to both, or with an end of one. */
static inline double segment_distance(const double *a[2], const double *b[2]) {
  double u[3], v[3], w[3], n[3], m[3], best = INFINITY;
  between3(a[0], a[1], u);
  between3(b[0], b[1], v);
  between3(a[0], b[0], w);
  eb_cross3(u, v, n);
  double nn = eb_dot3(n, n);
  if (nn > 1e-12 * eb_dot3(u, u) * eb_dot3(v, v)) { /* parallel ones are nearest at an end */
    eb_cross3(w, v, m);
    double s = eb_dot3(m, n) / nn;
    eb_cross3(w, u, m);
    double t = eb_dot3(m, n) / nn;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) best = fabs(eb_dot3(w, n)) / sqrt(nn);
  }
  for (int e = 0; e < 4; e++) {
    const double *q = e < 2 ? b[e] : a[e - 2], *p = e < 2 ? a[0] : b[0], *along = e < 2 ? u : v;
    double t = nearest_on(p, along, q), r[3];
    between3(q, p, r);
    eb_add3(t, along, r);
    best = fmin(best, sqrt(eb_dot3(r, r)));
  }
  return best;
}

/* Of p from the plane of the triangle where its foot is inside, else infinite: then an edge is
 * nearer. */
static inline double over_triangle(const double p[3], const double *t[3]) {
  double n[3], u[3], v[3], r[3], side[3];
  between3(t[0], t[1], u);
  between3(t[0], t[2], v);
  eb_cross3(u, v, n);
  for (int k = 0; k < 3; k++) {
    between3(t[k], t[(k + 1) % 3], u);
    between3(t[k], p, r);
    eb_cross3(u, r, side);
    if (eb_dot3(side, n) < 0) return INFINITY;
  }
  return fabs(eb_dot3(r, n)) / sqrt(eb_dot3(n, n));
}

static inline double six_volumes(const double *a, const double *b, const double *c,
                                 const double *d) {
  double u[3], v[3], w[3], n[3];
  between3(a, b, u);
  between3(a, c, v);
  between3(a, d, w);
  eb_cross3(u, v, n);
  return eb_dot3(n, w);
}

static inline bool pierces(const double *e[2], const double *t[3]) {
  double below = six_volumes(t[0], t[1], t[2], e[0]), above = six_volumes(t[0], t[1], t[2], e[1]);
  double a = six_volumes(e[0], e[1], t[0], t[1]), b = six_volumes(e[0], e[1], t[1], t[2]),
         c = six_volumes(e[0], e[1], t[2], t[0]);
  return below * above < 0 && ((a > 0 && b > 0 && c > 0) || (a < 0 && b < 0 && c < 0));
}

static inline double triangle_distance(const double *s[3], const double *t[3]) {
  double best = INFINITY;
  for (int i = 0; i < 3; i++) {
    const double *own[2] = {s[i], s[(i + 1) % 3]}, *opposite[2] = {t[i], t[(i + 1) % 3]};
    if (pierces(own, t) || pierces(opposite, s)) return 0;
    best = fmin(best, fmin(over_triangle(s[i], t), over_triangle(t[i], s)));
    for (int j = 0; j < 3; j++) {
      const double *other[2] = {t[j], t[(j + 1) % 3]};
      best = fmin(best, segment_distance(own, other));
    }
  }
  return best;
}

#endif
