/* The numeric factorization of one front,
 *
 *   [F11 . ; F21 F22] = [A's entries; 0] + sum over children c of (U_c, extended)
 *   L11 L11^T = F11,   L21 = F21 L11^-T,   U = F22 - L21 L21^T,
 *
 * in place: the panel [F11; F21] is assembled where L lies, and U is written by the product first,
 * so that it need not be zeroed, and then takes its children's entries while it is in cache.
 *
 * Duff and Reid 1983, "The multifrontal solution of indefinite sparse symmetric linear equations",
 * ACM TOMS 9(3).
 *
 * No workspace. The order of all additions to an entry depends on the front alone, so the bits do
 * not depend on the threads. A pivot that fails ends the work on this front and on all later ones;
 * earlier ones go on, so that the first failure in elimination order is found whatever the threads.
 */
#include <float.h>
#include <string.h>

#include "problems/base/clock.h"
#include "solvers/linalg/dense.h"
#include "solvers/linalg/multifrontal_data.h"

/* Scalar columns of the panel that are eliminated together in a large front; whole nodes. */
enum { PANEL_WIDTH = 288 };
/* Fronts with more operations are done in block columns, without a team too, for the bits' sake:
 * some 200 microseconds. */
static const double large_front = 1e7;

static void note_failure(eb_front_job *job, int64_t row) {
  int64_t before = job->failed;
  while (row < before && !atomic_compare_exchange_weak(&job->failed, &before, row)) continue;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* A pivot of a supernode before s has failed. */
static bool failed_before(const eb_front_job *job, int32_t s) {
  return job->failed < 3 * (int64_t)job->f->tree.first[s];
}

#define REAL    double
#define EPSILON DBL_EPSILON
#define BITS    long long
#define NAME(x) x##_d
#include "solvers/linalg/multifrontal_front_body.h"
#undef REAL
#undef EPSILON
#undef BITS
#undef NAME

#define REAL    float
#define EPSILON FLT_EPSILON
#define BITS    int
#define NAME(x) x##_s
#include "solvers/linalg/multifrontal_front_body.h"

void eb_front_factor(eb_front_job *job, int32_t s) {
  if (failed_before(job, s + 1)) return;
  double started = eb_wall_seconds();
  if (job->f->single_precision)
    factor_s(job, s);
  else
    factor_d(job, s);
  job->f->seconds[s] = eb_wall_seconds() - started;
}
