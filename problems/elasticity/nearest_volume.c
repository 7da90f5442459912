/* The nearest stretches of product 1, by Newton's method on their smallest.
 *
 * Minimizers of |s - d|^2 / 2 + m log(d0 d1 d2) have d_k^2 - s_k d_k + m = 0. The smallest of them,
 * t, belongs to the smallest of s, s*, and gives all the rest:
 *
 *   m = t (s* - t),   d_k = (s_k + r_k) / 2,
 *   r_k^2 = s_k^2 - 4 m = (s* - 2 t)^2 + (s_k - s*)(s_k + s*)
 *
 * One equation is left, g(t) = d0 d1 d2 = 1, which t = 0 and t = 1 bracket: g(0) = 0 and g(1) >= 1,
 * since d_k >= t for t >= s*, and since at t = 1 < s* every d_k is max(1, s_k - 1) or more. With
 * p = t (2 t - s*) and p_k = d_k r_k of the two others,
 *
 *   dlog g / dlog t = 1 + p (1 / p_i + 1 / p_j),
 *
 * so that Newton's step multiplies t by exp(-log g / slope); both functions are taken as the
 * rational ones that agree with them near 1, and that bound a step where g is far from it. A step
 * that leaves the bracket halves it instead.
 *
 * g rises but where s* / 3 < t < s* / 2 and all s are within 7 % of s*. There d changes by a jump,
 * from nearly equal ones to one small and two large (at s0 = s1 = s2 = 1.9, J = 6.9). For s* <= 2,
 * where the equal ones end, and 1.7 < s* both kinds are looked for, and the nearer one is taken.
 *
 * Fixed operations but for the number of iterations; lanes that have converged stay as they are. */
#include "problems/elasticity/nearest_volume.h"

/* s* with both kinds of minimizers. */
static const double LEAST_SPLIT = 1.7, LAST_EQUAL = 2;
enum { MOST_ITERATIONS = 200 }; /* halving a bracket of 1 gets to the smallest t by then */

/* The stretches and multiplier for a smallest one of t. */
typedef struct candidate {
  eb_v4 t, m, d[3], g, slope; /* slope: dlog g / dlog t */
} candidate;

/* s with its smallest first. */
EB_INLINE void evaluate(const eb_v4 s[3], eb_v4 t, candidate *c) {
  const eb_v4 tiny = eb_v4_set(1e-30); /* keeps 0 / 0 out where s are equal and t half of them */
  eb_v4 r0 = 2 * t - s[0], inverse = {0};
  c->t = c->g = c->d[0] = t;
  c->m = t * (s[0] - t);
  for (int k = 1; k < 3; k++) {
    eb_v4 square = r0 * r0 + (s[k] - s[0]) * (s[k] + s[0]);
    eb_v4 r = eb_v4_sqrt(eb_v4_max(square, tiny));
    c->d[k] = 0.5 * (s[k] + r);
    c->g *= c->d[k];
    inverse += 1 / (c->d[k] * r);
  }
  c->slope = 1 + t * r0 * inverse;
}

/* The root of g = 1 between lo and hi, from `start` or, where that is outside, from hi. */
EB_INLINE void find_root(const eb_v4 s[3], eb_v4 lo, eb_v4 hi, eb_v4 start, candidate *c) {
  static const double close = 1e-8; /* of a step; what it leaves is of the order of its square */
  const eb_v4 one = eb_v4_set(1);
  eb_m4 running = hi > lo;
  eb_v4 t = eb_v4_select((start > lo) & (start < hi), start, hi);
  for (int i = 0; i < MOST_ITERATIONS; i++) {
    evaluate(s, t, c);
    eb_m4 above = c->g > 1;
    hi = eb_v4_select(above, t, hi);
    lo = eb_v4_select(above, lo, t);
    eb_v4 step = 2 * (1 - c->g) / ((1 + c->g) * c->slope); /* in log t */
    step = -eb_v4_max(-eb_v4_max(step, -one), -one);
    eb_v4 next = t * (2 + step) / (2 - step), halved = 0.5 * (lo + hi);
    next = eb_v4_select((next >= lo) & (next <= hi), next, halved);
    t = eb_v4_select(running, next, t);
    running &= (eb_v4_abs(step) > close) & (c->g == c->g);
    if (eb_m4_all(~running)) break;
  }
  evaluate(s, t, c);
}

/* s, its smallest first and the others as they come, from `from`; `least` marks it. */
EB_INLINE void smallest_first(const eb_v4 from[3], const eb_m4 least[3], eb_v4 s[3]) {
  s[0] = eb_v4_select(least[0], from[0], eb_v4_select(least[1], from[1], from[2]));
  s[1] = eb_v4_select(least[0], from[1], from[0]);
  s[2] = eb_v4_select(least[2], from[1], from[2]);
}

EB_INLINE eb_v4 distance_squared(const eb_v4 s[3], const candidate *c) {
  eb_v4 apart[3];
  for (int k = 0; k < 3; k++) apart[k] = s[k] - c->d[k];
  return eb_v4_dot3(apart, apart);
}

/* Where g rises above 1 for t < s* / 2 the root before that is a minimizer, and if g then falls
 * below 1 again one more after that: the nearer of the two, in the lanes that have s* in question.
 */
static void choose(const eb_v4 s[3], candidate *c) {
  enum { PROBES = 64 };
  const eb_v4 one = eb_v4_set(1), none = eb_v4_set(INFINITY);
  eb_v4 crossed = none, fallen = none;
  candidate low, high;
  for (int i = 0; i <= PROBES; i++) {
    eb_v4 t = s[0] * ((2 + (double)i / PROBES) / 6);
    evaluate(s, t, &low);
    crossed = eb_v4_select((low.g >= 1) & (crossed > t), t, crossed);
    fallen = eb_v4_select((low.g < 1) & (crossed < t), t, fallen);
  }
  eb_m4 split = (s[0] > LEAST_SPLIT) & (s[0] <= LAST_EQUAL) & (crossed <= one);
  eb_m4 two = split & (fallen <= one);
  find_root(s, eb_v4_set(0), eb_v4_select(split, crossed, one), one, &low);
  find_root(s, eb_v4_select(two, fallen, eb_v4_set(0)), one, one, &high);
  split &= ~(two & (distance_squared(s, &high) < distance_squared(s, &low)));
  eb_m4 equal = two & ~split;
  c->m = eb_v4_select(split, low.m, eb_v4_select(equal, high.m, c->m));
  for (int k = 0; k < 3; k++)
    c->d[k] = eb_v4_select(split, low.d[k], eb_v4_select(equal, high.d[k], c->d[k]));
}

eb_v4 eb_nearest_volume(const eb_v4 s[3], eb_v4 d[3]) {
  const eb_v4 zero = {0}, one = eb_v4_set(1);
  eb_m4 first = (s[0] <= s[1]) & (s[0] <= s[2]), second = ~first & (s[1] <= s[2]);
  const eb_m4 least[3] = {first, second, ~(first | second)};
  eb_v4 sorted[3], start = {0};
  candidate c;
  smallest_first(s, least, sorted);
  /* To first order in s - 1, d is s less a third of its trace's excess. */
  start = sorted[0] - (sorted[0] + sorted[1] + sorted[2] - 3) / 3;
  /* Beyond s* = 2 the only root is below s* / 3, where g is 32 / 27 or more. */
  eb_v4 most = eb_v4_select(sorted[0] > LAST_EQUAL, sorted[0] / 3, one);
  find_root(sorted, zero, -eb_v4_max(-most, -one), start, &c);
  if (!eb_m4_all((sorted[0] <= LEAST_SPLIT) | (sorted[0] > LAST_EQUAL))) choose(sorted, &c);
  d[0] = eb_v4_select(least[0], c.d[0], c.d[1]);
  d[1] = eb_v4_select(least[1], c.d[0], eb_v4_select(least[0], c.d[1], c.d[2]));
  d[2] = eb_v4_select(least[2], c.d[0], c.d[2]);
  return c.m;
}
