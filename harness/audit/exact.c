/* Signs of determinants by expansions.
 *
 *   det[a - d, b - d, c - d] =
 *     sum over cyclic (i, j, k) of (a - d)_i ((b - d)_j (c - d)_k - (b - d)_k (c - d)_j)
 *
 * Floating point errs by less than (7 + 56 e) e times the sum of the absolute values of the
 * products, and the 2x2 determinant by (3 + 16 e) e times, e = 2^-53 (Shewchuk 1997, Sections 4.2
 * and 4.3). Beyond that, differences are two-term expansions, and sums and products of expansions
 * drop their zeros: where differences are exact, as on grids, an expansion stays short. Its last
 * term is the largest and has the sign of the sum.
 *
 * The arithmetic is that of IEEE 754 without contraction (Makefile). Nothing is allocated, nothing
 * fails. */
#include "harness/audit/exact.h"

#include <math.h>

enum { MOST_TERMS = 192 /* three products of a difference with two products of two */ };

/* Non-overlapping terms by rising size; none is 0. */
typedef struct expansion {
  int count;
  double term[MOST_TERMS];
} expansion;

static inline void two_sum(double a, double b, double *sum, double *rest) {
  *sum = a + b;
  double virtual_b = *sum - a;
  *rest = (a - (*sum - virtual_b)) + (b - virtual_b);
}

static inline void append(expansion *e, double term) {
  if (term != 0) e->term[e->count++] = term;
}

/* e += b. */
static void add_term(expansion *e, double b) {
  int count = e->count;
  e->count = 0;
  for (int i = 0; i < count; i++) {
    double rest;
    two_sum(b, e->term[i], &b, &rest);
    append(e, rest);
  }
  append(e, b);
}

/* e += s t. */
static inline void add_product(expansion *e, double s, double t) {
  double product = s * t;
  add_term(e, fma(s, t, -product));
  add_term(e, product);
}

/* A difference, exactly: value + rest. */
typedef struct difference {
  double value, rest;
} difference;

static inline difference subtract(double a, double b) {
  difference d;
  two_sum(a, -b, &d.value, &d.rest);
  return d;
}

/* out += sign f d. */
static void add_scaled(expansion *out, double sign, const expansion *f, difference d) {
  for (int i = 0; i < f->count; i++) {
    if (d.rest != 0) add_product(out, sign * d.rest, f->term[i]);
    add_product(out, sign * d.value, f->term[i]);
  }
}

static void set(expansion *e, difference d) {
  e->count = 0;
  append(e, d.rest);
  append(e, d.value);
}

/* out = p q - r s. */
static void minor(difference p, difference q, difference r, difference s, expansion *out) {
  expansion e;
  out->count = 0;
  set(&e, p);
  add_scaled(out, 1, &e, q);
  set(&e, r);
  add_scaled(out, -1, &e, s);
}

static int sign_of(const expansion *e) {
  return e->count == 0 ? 0 : e->term[e->count - 1] > 0 ? 1 : -1;
}

static int exact3d(const double a[3], const double b[3], const double c[3], const double d[3]) {
  expansion sum, part;
  difference A[3], B[3], C[3];
  sum.count = 0;
  for (int i = 0; i < 3; i++) {
    A[i] = subtract(a[i], d[i]);
    B[i] = subtract(b[i], d[i]);
    C[i] = subtract(c[i], d[i]);
  }
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    minor(B[j], C[k], B[k], C[j], &part);
    add_scaled(&sum, 1, &part, A[i]);
  }
  return sign_of(&sum);
}

int eb_exact_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]) {
  static const double bound = (7 + 56 * 0x1p-53) * 0x1p-53;
  double A[3], B[3], C[3], det = 0, size = 0;
  for (int i = 0; i < 3; i++) {
    A[i] = a[i] - d[i];
    B[i] = b[i] - d[i];
    C[i] = c[i] - d[i];
  }
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double p = B[j] * C[k], q = B[k] * C[j];
    det += A[i] * (p - q);
    size += fabs(A[i]) * (fabs(p) + fabs(q));
  }
  if (det > bound * size) return 1;
  if (det < -bound * size) return -1;
  return exact3d(a, b, c, d);
}

int eb_exact_orient2d(int axis, const double a[3], const double b[3], const double c[3]) {
  static const double bound = (3 + 16 * 0x1p-53) * 0x1p-53;
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  double p = (a[u] - c[u]) * (b[v] - c[v]), q = (a[v] - c[v]) * (b[u] - c[u]), det = p - q;
  double size = fabs(p) + fabs(q);
  if (det > bound * size) return 1;
  if (det < -bound * size) return -1;
  expansion sum;
  minor(subtract(a[u], c[u]), subtract(b[v], c[v]), subtract(a[v], c[v]), subtract(b[u], c[u]),
        &sum);
  return sign_of(&sum);
}
