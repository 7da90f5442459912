/* Seen along a direction m, a fan spreads when every triangle shows its front and they go round the
 * vertex once: then each has a sector of directions from the vertex for itself, and two meet only
 * along the spoke that they share. What is seen apart is apart.
 *
 * m is the sum of the normals. The fan goes round as often as the rim passes the line of any one
 * direction r, seen along m, in pairs: as det(m, r, rim - o) changes sign. m and r are vectors of
 * doubles as they are; that they come from rounded sums does not matter. */
#include "harness/audit/exact_fan.h"

#include <stddef.h>

static void sum_normals(int32_t count, const eb_spoke *spokes, const eb_exact_normal *normals,
                        double m[3]) {
  for (int d = 0; d < 3; d++) m[d] = 0;
  for (int32_t i = 0; i < count; i++)
    for (int d = 0; d < 3; d++) m[d] += normals[spokes[i].corner / 3].n[d];
}

bool eb_exact_fan_spreads(const double *x, int32_t vertex, int32_t count, const eb_spoke *spokes,
                          const eb_exact_normal *normals) {
  static const double origin[3] = {0};
  const double *o = x + 3 * (size_t)vertex, *first = x + 3 * (size_t)spokes[0].rim,
               *second = x + 3 * (size_t)spokes[1].rim;
  double m[3], r[3];
  sum_normals(count, spokes, normals, m);
  for (int32_t i = 0; i < count; i++)
    if (eb_exact_along(&normals[spokes[i].corner / 3], m, origin) <= 0) return false;
  /* Off the directions of spokes and of their continuations, where angles are regular. */
  for (int d = 0; d < 3; d++) r[d] = 3 * (first[d] - o[d]) + (second[d] - o[d]);
  eb_exact_normal across = eb_exact_cross(m, r);
  int changes = 0, last = eb_exact_along(&across, x + 3 * (size_t)spokes[count - 1].rim, o);
  for (int32_t i = 0; last && i < count; i++) {
    int side = eb_exact_along(&across, x + 3 * (size_t)spokes[i].rim, o);
    changes += side != last;
    last = side;
  }
  return last && changes == 2;
}
