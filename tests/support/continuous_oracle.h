/* Exact contact of moving points with integer coordinates: the reference for continuous collision
 * detection.
 *
 * Contact at a time is a statement about the signs of polynomials in t with integer coefficients.
 * Between the roots of all of them nothing changes, and contact is closed, so it is enough to look
 * at t = 0, at t = 1 and at their roots; where f = det[e1, e2, r] is not 0 throughout, at the roots
 * of f. The sign of h at a root of g that is alone in (a, b) is the Tarski query: V(a) - V(b), V
 * counting the changes of sign in the signed remainder sequence of g and g' h (Basu, Pollack and
 * Roy 2006, Theorem 2.61). It needs no approximation, and g may have multiple roots. Coordinates up
 * to 2^23 keep the coefficients within 128 bits; the sequences are of GMP's integers. */
#ifndef EB_TESTS_CONTINUOUS_ORACLE_H
#define EB_TESTS_CONTINUOUS_ORACLE_H

#include <gmp.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "problems/collision/continuous.h"

__extension__ typedef __int128 wide;

/* ---- polynomials ---- */

typedef struct poly {
  int degree; /* -1: zero */
  wide c[5];
} poly;

static poly poly_trim(poly p) {
  while (p.degree >= 0 && p.c[p.degree] == 0) p.degree--;
  return p;
}

static poly poly_times(const poly *a, const poly *b) {
  poly p = {.degree = a->degree + b->degree};
  if (a->degree < 0 || b->degree < 0) return (poly){.degree = -1};
  for (int i = 0; i <= a->degree; i++)
    for (int j = 0; j <= b->degree; j++) p.c[i + j] += a->c[i] * b->c[j];
  return p;
}

static poly poly_plus(const poly *a, int s, const poly *b) {
  poly p = {.degree = a->degree > b->degree ? a->degree : b->degree};
  for (int i = 0; i <= p.degree; i++) p.c[i] = a->c[i] + s * b->c[i];
  return poly_trim(p);
}

typedef struct poly3 {
  poly v[3];
} poly3;

static poly3 poly3_plus(const poly3 *a, int s, const poly3 *b) {
  poly3 sum;
  for (int d = 0; d < 3; d++) sum.v[d] = poly_plus(&a->v[d], s, &b->v[d]);
  return sum;
}

static poly3 poly3_cross(const poly3 *a, const poly3 *b) {
  poly3 c;
  for (int d = 0; d < 3; d++) {
    poly p = poly_times(&a->v[(d + 1) % 3], &b->v[(d + 2) % 3]),
         q = poly_times(&a->v[(d + 2) % 3], &b->v[(d + 1) % 3]);
    c.v[d] = poly_plus(&p, -1, &q);
  }
  return c;
}

static poly poly3_dot(const poly3 *a, const poly3 *b) {
  poly sum = {.degree = -1};
  for (int d = 0; d < 3; d++) {
    poly p = poly_times(&a->v[d], &b->v[d]);
    sum = poly_plus(&sum, 1, &p);
  }
  return sum;
}

/* ---- signed remainder sequences ---- */

enum { ORACLE_DEGREE = 8, ORACLE_LENGTH = 12 };

typedef struct sequence {
  int degree[ORACLE_LENGTH], length;
  mpz_t c[ORACLE_LENGTH][ORACLE_DEGREE], t, s;
} sequence;

static void sequence_init(sequence *q) {
  for (int i = 0; i < ORACLE_LENGTH; i++)
    for (int j = 0; j < ORACLE_DEGREE; j++) mpz_init(q->c[i][j]);
  mpz_init(q->t);
  mpz_init(q->s);
}

static void sequence_clear(sequence *q) {
  for (int i = 0; i < ORACLE_LENGTH; i++)
    for (int j = 0; j < ORACLE_DEGREE; j++) mpz_clear(q->c[i][j]);
  mpz_clear(q->t);
  mpz_clear(q->s);
}

static void set_wide(mpz_t z, wide value) {
  __extension__ unsigned __int128 magnitude =
      value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
  mpz_set_ui(z, (uint64_t)(magnitude >> 64));
  mpz_mul_2exp(z, z, 64);
  mpz_add_ui(z, z, (uint64_t)magnitude);
  if (value < 0) mpz_neg(z, z);
}

/* Divides large numbers by the content, so that they stay small. */
static void sequence_reduce(sequence *q, int k) {
  if (mpz_size(q->c[k][q->degree[k]]) < 8) return;
  mpz_set_ui(q->t, 0);
  for (int i = 0; i <= q->degree[k]; i++) mpz_gcd(q->t, q->t, q->c[k][i]);
  for (int i = 0; i <= q->degree[k] && mpz_cmp_ui(q->t, 1) > 0; i++)
    mpz_divexact(q->c[k][i], q->c[k][i], q->t);
}

/* c[k + 1] = -(positive number) (c[k - 1] mod c[k]); false when it is 0. */
static bool sequence_next(sequence *q, int k) {
  int d = q->degree[k], e = q->degree[k - 1];
  mpz_t *a = q->c[k], *r = q->c[k + 1];
  for (int i = 0; i <= e; i++) mpz_neg(r[i], q->c[k - 1][i]);
  mpz_abs(q->s, a[d]);
  for (; e >= d; e--) {
    mpz_set(q->t, r[e]);
    if (mpz_sgn(a[d]) < 0) mpz_neg(q->t, q->t);
    for (int i = 0; i <= e; i++) mpz_mul(r[i], r[i], q->s);
    for (int i = 0; i <= d; i++) mpz_submul(r[e - d + i], q->t, a[i]);
  }
  while (e >= 0 && mpz_sgn(r[e]) == 0) e--;
  q->degree[k + 1] = e;
  if (e >= 0) sequence_reduce(q, k + 1);
  return e >= 0;
}

/* Of g and g' h. */
static void sequence_make(sequence *q, const poly *g, const poly *h) {
  q->degree[0] = g->degree;
  q->degree[1] = h->degree < 0 ? -1 : g->degree - 1 + h->degree;
  for (int i = 0; i <= g->degree; i++) set_wide(q->c[0][i], g->c[i]);
  for (int i = 0; i <= q->degree[1]; i++) mpz_set_ui(q->c[1][i], 0);
  for (int j = 0; j <= h->degree; j++) {
    set_wide(q->s, h->c[j]);
    for (int i = 1; i <= g->degree; i++) {
      mpz_mul_ui(q->t, q->c[0][i], (unsigned)i);
      mpz_addmul(q->c[1][i - 1 + j], q->t, q->s);
    }
  }
  q->length = q->degree[1] >= 0 ? 2 : 1;
  while (q->length > 1 && sequence_next(q, q->length - 1)) q->length++;
}

/* Of c[k] at p / 2^bits. */
static int sequence_sign(sequence *q, int k, int64_t p, unsigned bits) {
  int d = q->degree[k];
  mpz_set(q->t, q->c[k][d]);
  for (int i = d - 1; i >= 0; i--) {
    mpz_mul_si(q->t, q->t, p);
    mpz_mul_2exp(q->s, q->c[k][i], bits * (unsigned)(d - i));
    mpz_add(q->t, q->t, q->s);
  }
  return mpz_sgn(q->t);
}

static int sequence_changes(sequence *q, int64_t p, unsigned bits) {
  int changes = 0, last = 0;
  for (int k = 0; k < q->length; k++) {
    int sign = sequence_sign(q, k, p, bits);
    if (sign == 0) continue;
    changes += last != 0 && sign != last;
    last = sign;
  }
  return changes;
}

/* ---- times ---- */

/* a / 2^bits itself when g is NULL, else the root of g in (a, b) / 2^bits. */
typedef struct moment {
  const poly *g;
  int64_t a, b;
  unsigned bits;
} moment;

/* Roots of g in (a, b) where h > 0 less those where h < 0. Neither a nor b is a root of g. */
static int tarski(sequence *q, const moment *m, const poly *h) {
  sequence_make(q, m->g, h);
  return sequence_changes(q, m->a, m->bits) - sequence_changes(q, m->b, m->bits);
}

static const poly poly_one = {.degree = 0, .c = {1}};

/* Moments without g are 0 and 1. */
static int sign_at(sequence *q, const moment *m, const poly *h) {
  wide sum = 0;
  if (m->g) return tarski(q, m, h);
  for (int i = 0; i <= h->degree; i++) sum += m->a || i == 0 ? h->c[i] : 0;
  return (sum > 0) - (sum < 0);
}

static bool is_root(sequence *q, const poly *g, int64_t p, unsigned bits) {
  q->degree[0] = g->degree;
  for (int i = 0; i <= g->degree; i++) set_wide(q->c[0][i], g->c[i]);
  return sequence_sign(q, 0, p, bits) == 0;
}

/* The earlier part of m, up to its middle or, when that is a root, up to a point near it that is
 * none; *later is the rest. */
static moment split(sequence *q, const moment *m, moment *later) {
  moment half = {m->g, m->a * 2, m->b * 2, m->bits + 1};
  int64_t at = m->a + m->b;
  if (is_root(q, m->g, at, half.bits)) {
    half = (moment){m->g, m->a * 16, m->b * 16, m->bits + 4};
    at *= 8;
    while (is_root(q, m->g, ++at, half.bits)) continue;
  }
  *later = half;
  half.b = later->a = at;
  return half;
}

/* ---- contact ---- */

/* Point on segment, also when that is a point: across = 0 and beyond <= 0. */
typedef struct on_segment {
  poly across[3], beyond;
} on_segment;

typedef struct oracle {
  sequence q;
  eb_pair_kind kind;
  poly3 x[4];
  poly volume, normal[3], square, condition[4];
  on_segment segment[4]; /* made when first asked for */
  int conditions, segments;
} oracle;

static on_segment segment_polys(const poly3 *point, const poly3 *start, const poly3 *end) {
  poly3 r = poly3_plus(point, -1, start), back = poly3_plus(point, -1, end),
        across = poly3_cross(&r, &back);
  on_segment s = {.beyond = poly3_dot(&r, &back)};
  for (int d = 0; d < 3; d++) s.across[d] = across.v[d];
  return s;
}

static poly3 subtract(const poly3 *x, int a, int b) {
  return poly3_plus(&x[a], -1, &x[b]);
}

/* Whether sign p < 0 in [0, 1] for sure: so are its Bernstein coefficients of degree 4. */
static bool negative(const poly *p, int sign) {
  static const int binomial[5][5] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}},
                   weight[5] = {12, 3, 2, 3, 12};
  for (int k = 0; k < 5; k++) {
    wide b = 0;
    for (int i = 0; i <= k && i <= p->degree; i++) b += binomial[k][i] * weight[i] * p->c[i];
    if (!(sign * b < 0)) return false;
  }
  return true;
}

/* False when the volume never is 0, or a condition, which is 0 where the normal is, never holds. */
static bool oracle_polys(oracle *o) {
  bool face = o->kind == EB_VERTEX_FACE;
  const poly3 *x = o->x;
  poly3 e1 = face ? subtract(x, 2, 1) : subtract(x, 1, 0),
        e2 = face ? subtract(x, 3, 1) : subtract(x, 3, 2),
        r = face ? subtract(x, 0, 1) : subtract(x, 2, 0), normal = poly3_cross(&e1, &e2);
  o->volume = poly3_dot(&r, &normal);
  if (negative(&o->volume, 1) || negative(&o->volume, -1)) return false;
  poly3 p = poly3_cross(&r, &e2), w = face ? poly3_cross(&e1, &r) : poly3_cross(&r, &e1);
  o->square = poly3_dot(&normal, &normal);
  for (int d = 0; d < 3; d++) o->normal[d] = normal.v[d];
  o->condition[0] = poly3_dot(&p, &normal);
  o->condition[1] = poly3_dot(&w, &normal);
  for (int k = 0; k < 2; k++) o->condition[2 + k] = poly_plus(&o->square, -1, &o->condition[k]);
  if (face) o->condition[2] = poly_plus(&o->condition[2], -1, &o->condition[1]);
  o->conditions = face ? 3 : 4;
  o->segments = 0;
  for (int k = 0; k < o->conditions; k++)
    if (negative(&o->condition[k], 1)) return false;
  return true;
}

static void oracle_segments(oracle *o) {
  static const int of_face[3][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}},
                   of_edges[4][3] = {{0, 2, 3}, {1, 2, 3}, {2, 0, 1}, {3, 0, 1}};
  if (o->segments) return;
  o->segments = o->kind == EB_VERTEX_FACE ? 3 : 4;
  for (int k = 0; k < o->segments; k++) {
    const int *v = o->kind == EB_VERTEX_FACE ? of_face[k] : of_edges[k];
    o->segment[k] = segment_polys(&o->x[v[0]], &o->x[v[1]], &o->x[v[2]]);
  }
}

static bool all_zero(oracle *o, const moment *m, const poly p[3]) {
  for (int d = 0; d < 3; d++)
    if (p[d].degree >= 0 && sign_at(&o->q, m, &p[d]) != 0) return false;
  return true;
}

/* The volume is 0 at m. */
static bool contact_at(oracle *o, const moment *m) {
  if (!all_zero(o, m, o->normal)) {
    for (int k = 0; k < o->conditions; k++)
      if (sign_at(&o->q, m, &o->condition[k]) < 0) return false;
    return true;
  }
  oracle_segments(o);
  for (int k = 0; k < o->segments; k++) {
    const on_segment *s = &o->segment[k];
    if (all_zero(o, m, s->across) && sign_at(&o->q, m, &s->beyond) <= 0) return true;
  }
  return false;
}

/* Contact within m at a root of its g; the first such root takes its place. */
static bool contact_within(oracle *o, moment *m) {
  int roots = tarski(&o->q, m, &poly_one);
  if (roots == 0) return false;
  if (roots == 1) return contact_at(o, m);
  moment later, earlier = split(&o->q, m, &later);
  if (contact_within(o, &earlier)) {
    *m = earlier;
    return true;
  }
  *m = later;
  return contact_within(o, m);
}

/* Narrows m, which has one root, to 2^-42. */
static void refine(oracle *o, moment *m) {
  while (m->g && (double)(m->b - m->a) > ldexp(1, (int)m->bits - 42)) {
    moment later, earlier = split(&o->q, m, &later);
    *m = tarski(&o->q, &earlier, &poly_one) ? earlier : later;
  }
}

/* Divides out the roots at 0 and 1, which are looked at apart. */
static poly without_ends(poly g) {
  while (g.degree > 0 && g.c[0] == 0) {
    for (int i = 0; i < g.degree; i++) g.c[i] = g.c[i + 1];
    g.degree--;
  }
  for (;;) {
    wide sum = 0;
    for (int i = 0; i <= g.degree; i++) sum += g.c[i];
    if (sum != 0 || g.degree <= 0) return g;
    for (int i = g.degree - 1; i >= 0; i--) g.c[i] += g.c[i + 1];
    for (int i = 0; i < g.degree; i++) g.c[i] = g.c[i + 1];
    g.degree--;
  }
}

/* Contact at a root of p in (0, 1): brings the first time forward. */
static void look_at_roots(oracle *o, const poly *p, bool *found, double first[2]) {
  poly g = without_ends(*p);
  moment m = {&g, 0, 1, 0};
  if ((*found && !first) || g.degree < 1 || !contact_within(o, &m)) return;
  *found = true;
  if (!first) return;
  refine(o, &m);
  double a = ldexp((double)m.a, -(int)m.bits);
  if (a > first[0]) return;
  first[0] = a;
  first[1] = ldexp((double)m.b, -(int)m.bits);
}

/* Is there contact for t in [0, 1]? first[2] (or NULL) then brackets the first time. */
static bool oracle_contact(oracle *o, eb_pair_kind kind, const int64_t x0[4][3],
                           const int64_t x1[4][3], double first[2]) {
  o->kind = kind;
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++)
      o->x[i].v[d] = poly_trim((poly){.degree = 1, .c = {x0[i][d], x1[i][d] - x0[i][d]}});
  if (!oracle_polys(o)) return false;
  moment start = {NULL, 0, 0, 0}, end = {NULL, 1, 1, 0};
  bool found = sign_at(&o->q, &end, &o->volume) == 0 && contact_at(o, &end);
  if (first) first[0] = first[1] = 1;
  if (sign_at(&o->q, &start, &o->volume) == 0 && contact_at(o, &start)) {
    if (first) first[0] = first[1] = 0;
    return true;
  }
  if (o->volume.degree >= 0) {
    look_at_roots(o, &o->volume, &found, first);
    return found;
  }
  look_at_roots(o, &o->square, &found, first);
  for (int k = 0; k < o->conditions; k++) look_at_roots(o, &o->condition[k], &found, first);
  if (o->square.degree < 0) oracle_segments(o);
  for (int k = 0; k < o->segments && o->square.degree < 0; k++) {
    for (int d = 0; d < 3; d++) look_at_roots(o, &o->segment[k].across[d], &found, first);
    look_at_roots(o, &o->segment[k].beyond, &found, first);
  }
  return found;
}

#endif
