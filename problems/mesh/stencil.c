#include "problems/mesh/stencil.h"

#include <string.h>

/* Two kinds of quadrilaterals arise on a lattice face with two corners inside, by its long edge:
 *   - the long edge is inside: both cut edges are short, the diagonal starts at the end that
 *     the parity rule names;
 *   - the long edge is cut: the diagonal ends at the cut point of the long edge.
 * On this the angle bounds depend: the other diagonal would give smaller angles.
 *
 * Orientation: the lists below are positive when the corners, in the order in which a function
 * names them, are. With that order an odd permutation of 0 1 2 3, the result is turned around. */

const int8_t EB_STENCIL_CUT[4][4] = {{-1, 4, 5, 6}, {4, -1, 7, 8}, {5, 7, -1, 9}, {6, 8, 9, -1}};

static int8_t cut(int8_t i, int8_t j) {
  return EB_STENCIL_CUT[i][j];
}

/* The other end of the long edge. */
static int8_t partner(int8_t i) {
  return i ^ 1;
}

static int odd(const int8_t v[4]) {
  int inversions = 0;
  for (int i = 0; i < 4; i++)
    for (int j = i + 1; j < 4; j++) inversions += v[i] > v[j];
  return inversions & 1;
}

static int emit(int count, const int8_t v[4], int8_t tets[3][4], int8_t out[3][4]) {
  memcpy(out, tets, (size_t)count * sizeof *tets);
  for (int t = 0; t < count && odd(v); t++) {
    int8_t swap = out[t][2];
    out[t][2] = out[t][3];
    out[t][3] = swap;
  }
  return count;
}

/* One corner inside: it keeps its corner of the tetrahedron. */
static int corner(const int8_t sign[4], int8_t inside, int8_t out[3][4]) {
  for (int8_t i = 0; i < 4; i++) out[0][i] = sign[i] < 0 ? cut(inside, i) : i;
  return 1;
}

/* The parity rule: where the diagonal starts on the face of corner k and the long edge of corner
 * i. */
static int8_t start(int8_t i, int8_t k) {
  return (int8_t)((i & 2) | (k & 1));
}

/* a and b inside, c outside, d on the surface: a pyramid over the quadrilateral a b bc ac, with the
 * diagonal a-bc. */
static int pyramid(int8_t a, int8_t b, int8_t c, int8_t d, int8_t out[3][4]) {
  if (partner(a) == b ? start(a, c) != a : partner(a) == c) return pyramid(b, a, c, d, out);
  int8_t bc = cut(b, c), ac = cut(a, c), v[4] = {a, b, c, d};
  return emit(2, v, (int8_t[3][4]){{a, b, bc, d}, {a, bc, ac, d}}, out);
}

/* Only s is outside: a prism between p q r and its cut points, whose diagonals meet in the cut of
 * the long edge r-s, apart from p-qs. */
static int truncated(int8_t s, int8_t out[3][4]) {
  int8_t r = partner(s), p = start((int8_t)(s ^ 2), s), q = partner(p), v[4] = {r, p, q, s};
  int8_t rs = cut(r, s), ps = cut(p, s), qs = cut(q, s);
  return emit(3, v, (int8_t[3][4]){{r, p, q, rs}, {p, qs, q, rs}, {p, ps, qs, rs}}, out);
}

/* The long edge 0-1 or 2-3 is inside: a prism with diagonals p-qr, q-ps and qr-ps. */
static int along(int8_t p, int8_t out[3][4]) {
  int8_t q = partner(p), r = p < 2 ? 2 : 0;
  if (start(p, r) != p) r = partner(r);
  int8_t s = partner(r), v[4] = {p, q, r, s};
  int8_t pr = cut(p, r), ps = cut(p, s), qr = cut(q, r), qs = cut(q, s);
  return emit(3, v, (int8_t[3][4]){{p, q, qr, ps}, {p, qr, pr, ps}, {q, qr, ps, qs}}, out);
}

/* p and r are inside and both long edges are cut: a prism with diagonals r-pq, p-rs and pq-rs. */
static int across(int8_t p, int8_t r, int8_t out[3][4]) {
  int8_t q = partner(p), s = partner(r), v[4] = {p, r, q, s};
  int8_t pq = cut(p, q), ps = cut(p, s), rq = cut(r, q), rs = cut(r, s);
  return emit(3, v, (int8_t[3][4]){{p, r, pq, rs}, {p, pq, ps, rs}, {r, rs, rq, pq}}, out);
}

int eb_stencil(const int8_t sign[4], int8_t out[3][4]) {
  int8_t in[4], outside[4], zero[4];
  int ins = 0, outs = 0, zeros = 0;
  for (int8_t i = 0; i < 4; i++) {
    if (sign[i] > 0)
      in[ins++] = i;
    else if (sign[i] < 0)
      outside[outs++] = i;
    else
      zero[zeros++] = i;
  }
  if (ins == 0) return 0;
  if (outs == 0) {
    for (int8_t i = 0; i < 4; i++) out[0][i] = i;
    return 1;
  }
  if (ins == 1) return corner(sign, in[0], out);
  if (ins == 3) return truncated(outside[0], out);
  if (outs == 1) return pyramid(in[0], in[1], outside[0], zero[0], out);
  return in[1] == partner(in[0]) ? along(in[0], out) : across(in[0], in[1], out);
}
