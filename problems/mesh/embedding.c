/* The trilinear map in monomials,
 *   x(xi) = c0 + c1 r + c2 s + c3 t + c4 r s + c5 s t + c6 t r + c7 r s t,   xi = (r, s, t),
 * costs seven products an axis, and its derivatives come from the same terms. Newton's method
 * solves x(xi) = x; a parallelepiped has c4 .. c7 = 0 and takes one update. */
#include "problems/mesh/embedding.h"

enum { MONOMIALS = 8 };

static const double TOLERANCE = 1e-10; /* of an edge */

static const double hexahedron_corner[EB_HEXAHEDRON][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1},
                                                           {-1, 1, -1},  {-1, -1, 1}, {1, -1, 1},
                                                           {1, 1, 1},    {-1, 1, 1}};

/* ---- the inverse map ------------------------------------------------------------------------- */

/* d := inv([a b c]) r by Cramer's rule. */
EB_INLINE void solve_columns(eb_v4 (*column)[3], const eb_v4 r[3], eb_v4 d[3]) {
  eb_v4 cross[3][3];
  for (int k = 0; k < 3; k++) eb_v4_cross3(column[(k + 1) % 3], column[(k + 2) % 3], cross[k]);
  eb_v4 inverse = 1 / eb_v4_dot3(column[0], cross[0]);
  for (int k = 0; k < 3; k++) d[k] = eb_v4_dot3(cross[k], r) * inverse;
}

static void set_monomials(const eb_v4 (*corner)[3], eb_v4 c[MONOMIALS][3]) {
  for (int i = 0; i < 3; i++) {
    for (int m = 0; m < MONOMIALS; m++) c[m][i] = eb_v4_set(0);
    for (int a = 0; a < EB_HEXAHEDRON; a++) {
      double r = hexahedron_corner[a][0], s = hexahedron_corner[a][1], t = hexahedron_corner[a][2];
      const double sign[MONOMIALS] = {1, r, s, t, r * s, s * t, t * r, r * s * t};
      for (int m = 0; m < MONOMIALS; m++) c[m][i] += 0.125 * sign[m] * corner[a][i];
    }
  }
}

/* rest := x - x(xi), column: its derivatives. */
EB_INLINE void map_hexahedra(const eb_v4 c[MONOMIALS][3], const eb_v4 offset[3], const eb_v4 xi[3],
                             eb_v4 rest[3], eb_v4 column[3][3]) {
  eb_v4 r = xi[0], s = xi[1], t = xi[2];
  for (int i = 0; i < 3; i++) {
    eb_v4 along_t = c[3][i] + s * c[5][i] + r * (c[6][i] + s * c[7][i]);
    eb_v4 along_s = c[2][i] + r * c[4][i];
    rest[i] = offset[i] - (r * c[1][i] + s * along_s + t * along_t);
    column[0][i] = c[1][i] + s * c[4][i] + t * (c[6][i] + s * c[7][i]);
    column[1][i] = along_s + t * (c[5][i] + r * c[7][i]);
    column[2][i] = along_t;
  }
}

/* Lanes that have arrived stay as they are. */
static eb_v4 embed_hexahedra(const eb_v4 (*corner)[3], const eb_v4 x[3], eb_v4 xi[3]) {
  eb_v4 c[MONOMIALS][3], offset[3], rest[3], column[3][3], d[3], updates = {0}, size2 = {0};
  set_monomials(corner, c);
  for (int k = 1; k <= 3; k++) size2 += eb_v4_dot3(c[k], c[k]);
  eb_v4 enough = TOLERANCE * TOLERANCE * 4 / 3 * size2; /* of the edge of a cube */
  for (int i = 0; i < 3; i++) {
    offset[i] = x[i] - c[0][i];
    xi[i] = eb_v4_set(0);
  }
  for (int k = 0;; k++) {
    map_hexahedra((const eb_v4(*)[3])c, offset, xi, rest, column);
    eb_m4 arrived = eb_v4_dot3(rest, rest) <= enough;
    if (eb_m4_all(arrived)) return updates;
    if (k == EB_EMBEDDING_UPDATES) {
      for (int i = 0; i < 3; i++) xi[i] = eb_v4_select(arrived, xi[i], eb_v4_set(NAN));
      return eb_v4_select(arrived, updates, updates + 1);
    }
    solve_columns(column, rest, d);
    for (int i = 0; i < 3; i++) xi[i] = eb_v4_select(arrived, xi[i], xi[i] + d[i]);
    updates = eb_v4_select(arrived, updates, updates + 1);
  }
}

eb_v4 eb_embed4(int nodes, const eb_v4 (*corner)[3], const eb_v4 x[3], eb_v4 xi[3]) {
  if (nodes == EB_HEXAHEDRON) return embed_hexahedra(corner, x, xi);
  eb_v4 edge[3][3], offset[3];
  for (int i = 0; i < 3; i++) {
    for (int a = 0; a < 3; a++) edge[a][i] = corner[a + 1][i] - corner[0][i];
    offset[i] = x[i] - corner[0][i];
  }
  solve_columns(edge, offset, xi);
  return eb_v4_set(1);
}
