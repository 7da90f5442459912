/* Storage of the contact problem, its products with H, and how far a pair (v, r) is from a
 * solution.
 *
 * The law that is measured (problem.h) has a discontinuity: the slightest motion of a sticking
 * contact has a direction. Motions below eps2 are therefore rest, and whether a contact sticks is
 * read off its force, never off its motion. Every maximum keeps a NaN that it meets. Sums run in
 * the order of the contacts. */
#include "problems/contact/problem.h"

#include <math.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"

void eb_contact_problem_destroy(eb_contact_problem *problem) {
  if (!problem) return;
  free(problem->start);
  free(problem->block);
  free(problem->H);
  free(problem->c);
  free(problem->mu);
  free(problem->similar);
  free(problem);
}

eb_error eb_contact_grow(void **array, int64_t kept, int64_t count, size_t size) {
  EB_ASSERT(kept >= 0 && kept <= count);
  void *grown = eb_recalloc(*array, (size_t)kept, (size_t)count, size);
  if (!grown)
    return EB_ERROR(EB_ERR_MEMORY,
                    "cannot allocate %lld entries of %zu bytes for contacts; use a smaller scene "
                    "or raise the memory limit",
                    (long long)count, size);
  *array = grown;
  return EB_OK;
}

#define GROW(array, kept, count) eb_contact_grow((void **)&(array), kept, count, sizeof *(array))

eb_error eb_contact_problem_reserve(eb_contact_problem *problem, int32_t room) {
  if (room < 0 || room > INT32_MAX / EB_CONTACT_ENTRIES)
    return EB_ERROR(EB_ERR_LIMIT, "no room for %d contacts; a problem holds 0 to %d of them", room,
                    INT32_MAX / EB_CONTACT_ENTRIES);
  if (room <= problem->room && problem->start) return EB_OK;
  int64_t used = problem->start ? problem->start[problem->count] : 0, count = problem->count;
  EB_TRY(GROW(problem->start, problem->start ? count + 1 : 0, (int64_t)room + 1));
  EB_TRY(GROW(problem->block, used, (int64_t)EB_CONTACT_ENTRIES * room));
  EB_TRY(GROW(problem->H, 9 * used, 9 * (int64_t)EB_CONTACT_ENTRIES * room));
  EB_TRY(GROW(problem->c, 3 * count, 3 * (int64_t)room));
  EB_TRY(GROW(problem->mu, count, room));
  EB_TRY(GROW(problem->similar, count, room));
  problem->room = room;
  return EB_OK;
}

eb_error eb_contact_problem_create(int32_t room, eb_contact_problem **out) {
  eb_contact_problem *problem;
  *out = NULL;
  EB_TRY(EB_NEW(problem, 1));
  eb_error error = eb_contact_problem_reserve(problem, room);
  if (error) {
    eb_contact_problem_destroy(problem);
    return error;
  }
  *out = problem;
  return EB_OK;
}

/* Puts an entry among those of the last contact, which end at `end`; the new end. */
static int32_t insert_entry(eb_contact_problem *p, int32_t first, int32_t end, int32_t block,
                            const double *H) {
  int32_t at = end;
  while (at > first && p->block[at - 1] > block) at--;
  if (at > first && p->block[at - 1] == block) {
    double *sum = p->H + 9 * (int64_t)(at - 1);
    for (int k = 0; k < 9; k++) sum[k] += H[k];
    return end;
  }
  memmove(p->block + at + 1, p->block + at, (size_t)(end - at) * sizeof *p->block);
  memmove(p->H + 9 * (int64_t)(at + 1), p->H + 9 * (int64_t)at,
          9 * (size_t)(end - at) * sizeof *p->H);
  p->block[at] = block;
  memcpy(p->H + 9 * (int64_t)at, H, 9 * sizeof *H);
  return end + 1;
}

void eb_contact_problem_add(eb_contact_problem *problem, int32_t entries, const int32_t *block,
                            const double *H, const double c[3], double mu) {
  EB_ASSERT(problem->count < problem->room);
  EB_ASSERT(entries > 0 && entries <= EB_CONTACT_ENTRIES);
  EB_ASSERT(mu >= 0);
  int32_t k = problem->count++, end = problem->start[k];
  for (int32_t e = 0; e < entries; e++)
    end = insert_entry(problem, problem->start[k], end, block[e], H + 9 * (int64_t)e);
  problem->start[k + 1] = end;
  memcpy(problem->c + 3 * (int64_t)k, c, 3 * sizeof *c);
  problem->mu[k] = mu;
  problem->similar[k] = 1;
}

void eb_contact_velocities(const eb_contact_problem *problem, int32_t from, int32_t to,
                           const double *v, double *u) {
  EB_ASSERT(from >= 0 && from <= to && to <= problem->count);
  for (int32_t k = from; k < to; k++) {
    double *sum = u + 3 * (int64_t)k;
    for (int d = 0; d < 3; d++) sum[d] = -problem->c[3 * (int64_t)k + d];
    for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++) {
      const double *H = problem->H + 9 * (int64_t)e, *x = v + 3 * (int64_t)problem->block[e];
      for (int d = 0; d < 3; d++) sum[d] += eb_dot3(H + 3 * d, x);
    }
  }
}

void eb_contact_velocity(const eb_contact_problem *problem, const double *v, double *u) {
  eb_contact_velocities(problem, 0, problem->count, v, u);
}

void eb_contact_force_add(const eb_contact_problem *problem, const double *r, double *f) {
  for (int32_t k = 0; k < problem->count; k++)
    for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++)
      for (int d = 0; d < 3; d++)
        eb_add3(r[3 * (int64_t)k + d], problem->H + 9 * (int64_t)e + 3 * d,
                f + 3 * (int64_t)problem->block[e]);
}

/* ---- how far from a solution ----------------------------------------------------------------- */

static double larger(double most, double value) {
  return value <= most || isnan(most) ? most : value;
}

void eb_contact_measure_law(int32_t count, const double *u, const double *r, const double *mu,
                            double eps2, eb_contact_error *error) {
  double most = 0;
  *error = (eb_contact_error){.residual = error->residual};
  for (int32_t k = 0; k < count; k++) {
    const double *slip = u + 3 * (int64_t)k, *force = r + 3 * (int64_t)k;
    double friction = hypot(force[1], force[2]), motion = hypot(slip[1], slip[2]);
    double limit = mu[k] * fmax(force[0], 0);
    error->violation = larger(error->violation, -slip[0]);
    error->cone = larger(error->cone, fmax(friction - limit, -force[0]));
    if (force[0] > 0) error->active = larger(error->active, fabs(slip[0]));
    if (friction < EB_CONTACT_STICKING * limit) {
      error->sliding = larger(error->sliding, motion);
    } else if (limit > 0 && motion > eps2) {
      /* Between the friction and what it should oppose, degrees. */
      double along = -(force[1] * slip[1] + force[2] * slip[2]);
      double across = force[1] * slip[2] - force[2] * slip[1];
      error->angle = larger(error->angle, atan2(fabs(across), along) * (180 / acos(-1)));
    }
    most = larger(most, force[0]);
  }
  if (error->cone != 0) error->cone /= most;
}

void eb_contact_measure(const eb_contact_problem *problem, const double *v, const double *r,
                        double eps2, double *work, eb_contact_error *error) {
  int64_t rows = problem->A->rows;
  double *residual = work, *u = work + 3 * rows, square = 0;
  for (int64_t i = 0; i < 3 * rows; i++) residual[i] = problem->b[i] - residual[i];
  eb_contact_force_add(problem, r, residual);
  for (int64_t i = 0; i < rows; i++) square += eb_dot3(residual + 3 * i, residual + 3 * i);
  error->residual = sqrt(square);
  eb_contact_velocity(problem, v, u);
  eb_contact_measure_law(problem->count, u, r, problem->mu, eps2, error);
}
