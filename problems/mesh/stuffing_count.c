/* Stuffing towards an element count. Volume and surface make the count of a spacing h about
 *     N(h) = (a + b h) / h^3,
 * a from the volume (12 lattice tetrahedra in h^3), b from the surface: h^3 N(h) is nearly linear, and the
 * search is the secant method on it. It starts on a coarse lattice and at most halves the spacing from
 * one try to the next, so that only the last tries cost as much as the result. */
#include <math.h>
#include <stddef.h>

#include "problems/mesh/stuff_shifted.h"

/* After STRAIGHT_TRIES near the target, or LONGEST_WAY tries in all, the count jumps too much for the
 * spacing alone: every further try also moves the lattice. A solid without a point inside on MOST_EMPTY lattices is empty. */
enum { STRAIGHT_TRIES = 6, LONGEST_WAY = 14, NEAR_TRIES = 24, MOST_TRIES = 40, MOST_EMPTY = 6 };
/* Nearer to the target than this, another try is not worth its time. */
static const double GOOD_ENOUGH = 0.002;
static const double NEAR = 1.6;

typedef struct search {
  const eb_solid *solid;
  int32_t target;
  double h, density, slope; /* the last spacing, h^3 N(h) there, its slope */
  double empty;             /* the smallest spacing that left the first position empty */
  int tries, near_tries;    /* near: within a factor of NEAR of the target */
  eb_mesh *best;
} search;

static double miss(const search *s, int32_t count) {
  return fabs((double)count - s->target) / s->target;
}

/* Stuffs once and keeps the mesh when it is nearer than the best so far. */
static eb_error attempt(search *s, double h, const double shift[3], int32_t *count) {
  eb_mesh *mesh;
  EB_TRY(eb_stuff_shifted(s->solid, h, shift, &mesh));
  *count = mesh ? mesh->element_count : 0;
  if (mesh && (!s->best || miss(s, *count) < miss(s, s->best->element_count))) {
    eb_mesh_destroy(s->best);
    s->best = mesh;
  } else {
    eb_mesh_destroy(mesh);
  }
  return EB_OK;
}

/* The number of the lattice's position: 0 until the count turns out to jump. */
static int position(const search *s) {
  int moves = s->near_tries - STRAIGHT_TRIES + 1, late = s->tries - LONGEST_WAY;
  if (late > moves) moves = late;
  return moves > 0 ? moves : 0;
}

/* On moved lattices the count scatters, so the density is averaged with what it was; slopes are only
 * learnt from the lattice in its first position, at spacings that differ enough, and kept to counts between
 * h^-2 and h^-5. */
static void learn(search *s, double h, int32_t count) {
  int moves = position(s);
  s->tries++;
  s->near_tries += count < NEAR * s->target && NEAR * count > s->target;
  if (count == 0) {
    if (moves == 0) s->empty = fmin(s->empty, h);
    return;
  }
  double density = count * h * h * h, expected = s->density + s->slope * (h - s->h);
  if (moves == 0 && s->density > 0 && fabs(h - s->h) > 0.2 * h)
    s->slope = (density - s->density) / (h - s->h);
  s->slope = fmin(fmax(s->slope, -2 * density / h), density / h);
  s->h = h;
  s->density = moves > 0 && expected > 0 ? (density + expected) / 2 : density;
}

/* The model's count at spacing h, less the target, times h^3. */
static double excess(const search *s, double h) {
  return s->density + s->slope * (h - s->h) - s->target * h * h * h;
}

/* Where the model has the target count, by bisection between half and twice the last spacing, and below
 * the spacings that are too coarse. Rounded to single precision, so that the last bit of cbrt and the
 * like does not reach the mesh. */
static double predict(const search *s) {
  if (s->density == 0) return s->empty / 2;
  double lo = s->h / 2, hi = 2 * s->h;
  for (int i = 0; i < 50; i++) {
    double middle = (lo + hi) / 2;
    if (excess(s, middle) > 0)
      lo = middle;
    else
      hi = middle;
  }
  if (!(hi < s->empty)) hi = (fmin(s->h, s->empty) + s->empty) / 2;
  return (float)hi;
}

static eb_error check_search(const eb_solid *solid, int32_t target, double tolerance) {
  if (target < 1)
    return EB_ERROR(EB_ERR_USAGE, "the element count to aim at must be positive, not %d", target);
  if (!(tolerance >= 0))
    return EB_ERROR(EB_ERR_USAGE, "the tolerance of the element count must not be negative, not %g",
                    tolerance);
  for (int d = 0; d < 3; d++)
    if (!(solid->hi[d] > solid->lo[d]) || !isfinite(solid->hi[d] - solid->lo[d]))
      return EB_ERROR(EB_ERR_INVALID, "the box of the solid reaches from %g to %g m along %c",
                      solid->lo[d], solid->hi[d], "xyz"[d]);
  return EB_OK;
}

static eb_error find(search *s, double tolerance) {
  /* Irrational steps, so that no shift repeats another (Roberts' sequence in three dimensions). */
  static const double step[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
  const eb_solid *solid = s->solid;
  double h = cbrt((solid->hi[0] - solid->lo[0]) * (solid->hi[1] - solid->lo[1]) *
                  (solid->hi[2] - solid->lo[2])) /
             4;
  while (s->tries < (s->best ? MOST_TRIES : MOST_EMPTY) && s->near_tries < NEAR_TRIES) {
    double shift[3] = {0};
    int moves = position(s);
    for (int d = 0; d < 3 && moves > 0; d++)
      shift[d] = moves * step[d] - floor(moves * step[d]) - 0.5;
    int32_t count;
    EB_TRY(attempt(s, h, shift, &count));
    learn(s, h, count);
    double best = s->best ? miss(s, s->best->element_count) : INFINITY;
    if (best <= GOOD_ENOUGH || (best <= tolerance && s->near_tries >= STRAIGHT_TRIES)) return EB_OK;
    h = predict(s);
  }
  return EB_OK;
}

eb_error eb_stuff_to_count(const eb_solid *solid, int32_t target, double tolerance, eb_mesh **out) {
  search s = {.solid = solid, .target = target, .empty = INFINITY};
  *out = NULL;
  EB_TRY(check_search(solid, target, tolerance));
  eb_error error = find(&s, tolerance);
  if (!error && !s.best)
    error = EB_ERROR(EB_ERR_INVALID,
                     "nothing is inside the solid, down to a lattice spacing of %g m", s.empty);
  else if (!error && miss(&s, s.best->element_count) > tolerance)
    error = EB_ERROR(EB_ERR_INVALID,
                     "no lattice gives %d elements within %g %%; the nearest found has %d", target,
                     100 * tolerance, s.best->element_count);
  if (error) {
    eb_mesh_destroy(s.best);
    return error;
  }
  *out = s.best;
  return EB_OK;
}
