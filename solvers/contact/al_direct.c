/* K x = g, K = A + H^T D H, where A consists of its diagonal blocks: see al_direct.h.
 *
 * On rows without a contact x_i = A_ii^-1 g_i; on the others K is dense, and LAPACK factors it.
 *
 * Needs: A_ii positive definite, D_k positive semi-definite.
 * Workspace: (3 rows)^2 numbers.
 * Fails: returns false when rounding leaves a K that is not positive definite. */
#include "solvers/contact/al_direct.h"

#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "solvers/linalg/one_thread.h"

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
             double *b, const int *ldb, int *info, size_t);

/* With more rows a factorization takes as long as some hundred iterations. */
enum { MOST_ROWS = 200 };

eb_error eb_al_direct_create(int32_t rows, eb_al_direct *out) {
  *out = (eb_al_direct){0};
  return EB_NEW(out->place, rows);
}

static void clear_rows(eb_al_direct *direct) {
  free(direct->row);
  free(direct->K);
  free(direct->x);
  direct->row = NULL;
  direct->K = direct->x = NULL;
  direct->room = 0;
}

void eb_al_direct_clear(eb_al_direct *direct) {
  clear_rows(direct);
  free(direct->place);
  *direct = (eb_al_direct){0};
}

static eb_error reserve(eb_al_direct *direct, int32_t rows) {
  int64_t room = rows + rows / 2;
  if (rows <= direct->room) return EB_OK;
  clear_rows(direct);
  EB_TRY(EB_NEW(direct->row, room));
  EB_TRY(EB_NEW(direct->x, 3 * room));
  EB_TRY(EB_NEW(direct->K, 9 * room * room));
  direct->room = (int32_t)room;
  return EB_OK;
}

eb_error eb_al_direct_begin(eb_al_direct *direct, const eb_contact_problem *problem, bool *worth) {
  const int32_t rows = problem->A->rows;
  int32_t count = 0;
  for (int32_t i = 0; i < rows; i++) direct->place[i] = -1;
  for (int32_t e = 0; e < problem->start[problem->count]; e++) direct->place[problem->block[e]] = 0;
  for (int32_t i = 0; i < rows; i++)
    if (direct->place[i] == 0) direct->place[i] = count++;
  direct->rows = count;
  *worth = count > 0 && count <= MOST_ROWS;
  if (!*worth) return EB_OK;
  EB_TRY(reserve(direct, count));
  for (int32_t i = 0; i < rows; i++)
    if (direct->place[i] >= 0) direct->row[direct->place[i]] = i;
  return EB_OK;
}

/* Adds a block at places i >= j. */
static void add_block(eb_al_direct *direct, int32_t i, int32_t j, const double block[9]) {
  const int64_t n = 3 * (int64_t)direct->rows;
  for (int c = 0; c < 3; c++)
    for (int r = 0; r < 3; r++)
      direct->K[(3 * (int64_t)j + c) * n + 3 * (int64_t)i + r] += block[3 * r + c];
}

/* Returns whether any contact resists. Entries of a contact ascend by rows, and so do places. */
static bool assemble(eb_al_direct *direct, const eb_contact_problem *problem, const double *D) {
  bool coupled = false;
  const eb_block_matrix *A = problem->A;
  const size_t n = 3 * (size_t)direct->rows;
  memset(direct->K, 0, n * n * sizeof *direct->K);
  for (int32_t i = 0; i < direct->rows; i++)
    add_block(direct, i, i, A->values + 9 * (int64_t)A->diagonal[direct->row[i]]);
  for (int32_t k = 0; k < problem->count; k++) {
    const double *own = D + 9 * (int64_t)k;
    if (!(own[0] > 0 || own[4] > 0 || own[8] > 0)) continue;
    coupled = true;
    for (int32_t f = problem->start[k]; f < problem->start[k + 1]; f++) {
      double DH[9];
      eb_multiply3(own, problem->H + 9 * (int64_t)f, DH);
      for (int32_t e = f; e < problem->start[k + 1]; e++) {
        const double *H = problem->H + 9 * (int64_t)e;
        double transposed[9], block[9];
        for (int d = 0; d < 9; d++) transposed[d] = H[3 * (d % 3) + d / 3];
        eb_multiply3(transposed, DH, block);
        add_block(direct, direct->place[problem->block[e]], direct->place[problem->block[f]],
                  block);
      }
    }
  }
  return coupled;
}

bool eb_al_direct_solve(eb_al_direct *direct, const eb_contact_problem *problem, const double *D,
                        const double *diagonal, const double *g, double *x) {
  EB_ASSERT(direct->rows > 0);
  const int n = 3 * direct->rows, one = 1;
  int info;
  for (int32_t i = 0; i < problem->A->rows; i++)
    eb_turn3(diagonal + 9 * (int64_t)i, g + 3 * (int64_t)i, x + 3 * (int64_t)i);
  if (!assemble(direct, problem, D)) return true;
  for (int32_t i = 0; i < direct->rows; i++)
    memcpy(direct->x + 3 * (int64_t)i, g + 3 * (int64_t)direct->row[i], 3 * sizeof *g);
  eb_one_thread before = eb_one_thread_begin();
  dpotrf_("L", &n, direct->K, &n, &info, 1);
  if (info == 0) dpotrs_("L", &n, &one, direct->K, &n, direct->x, &n, &info, 1);
  eb_one_thread_end(before);
  for (int32_t i = 0; i < direct->rows; i++)
    memcpy(x + 3 * (int64_t)direct->row[i], direct->x + 3 * (int64_t)i, 3 * sizeof *x);
  return info == 0;
}
