#include "solvers/linalg/preconditioner.h"

#include <stdint.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/option.h"
#include "problems/base/text.h"
#include "solvers/linalg/block3.h"
#include "solvers/linalg/incomplete.h"

typedef enum kind { NONE, JACOBI, BLOCK_JACOBI, INCOMPLETE, KINDS } kind;

static const char *const names[KINDS] = {"none", "jacobi", "block-jacobi", "ic"};

enum { PARALLEL_FROM = 10000 }; /* rows: smaller vectors are done before a team wakes up */

struct eb_preconditioner {
  kind kind;
  int32_t rows, blocks;
  /* JACOBI: 3 a row, 1 / a_kk; BLOCK_JACOBI: 9 a row, inv(L_ii) with A_ii = L L^T */
  double *inverse;
  eb_incomplete *ic;
};

static eb_error find_kind(const char *name, kind *out) {
  for (int k = 0; k < KINDS; k++)
    if (name && strcmp(name, names[k]) == 0) {
      *out = (kind)k;
      return EB_OK;
    }
  char all[96];
  eb_text_join(all, sizeof all, names, KINDS, ", ");
  const char *nearest = name ? eb_nearest(name, names, KINDS) : NULL;
  return EB_ERROR(EB_ERR_USAGE, "unknown preconditioner '%s'; valid: %s%s%s%s", name ? name : "",
                  all, nearest ? " (did you mean '" : "", nearest ? nearest : "",
                  nearest ? "'?)" : "");
}

eb_error eb_preconditioner_create(const char *name, const eb_block_matrix *pattern,
                                  eb_preconditioner **out) {
  eb_preconditioner *p;
  kind which = NONE;
  EB_TRY(find_kind(name, &which));
  EB_TRY(EB_NEW(p, 1));
  p->kind = which;
  p->rows = pattern->rows;
  p->blocks = pattern->start[pattern->rows];
  eb_error error = EB_OK;
  if (which == JACOBI) error = EB_NEW(p->inverse, 3 * (size_t)p->rows);
  if (which == BLOCK_JACOBI) error = EB_NEW(p->inverse, 9 * (size_t)p->rows);
  if (which == INCOMPLETE) error = eb_incomplete_create(pattern, &p->ic);
  if (error)
    eb_preconditioner_destroy(p);
  else
    *out = p;
  return error;
}

static bool set_jacobi(eb_preconditioner *p, const eb_block_matrix *A) {
  int bad = 0;
#pragma omp parallel for schedule(static) reduction(| : bad) if (p->rows >= PARALLEL_FROM)
  for (int32_t i = 0; i < p->rows; i++)
    for (int r = 0; r < 3; r++) {
      double a = A->values[9 * (int64_t)A->diagonal[i] + 4 * r];
      bad |= !(a > 0);
      p->inverse[3 * (int64_t)i + r] = 1 / a;
    }
  return !bad;
}

static bool set_block_jacobi(eb_preconditioner *p, const eb_block_matrix *A) {
  int bad = 0;
#pragma omp parallel for schedule(static) reduction(| : bad) if (p->rows >= PARALLEL_FROM)
  for (int32_t i = 0; i < p->rows; i++) {
    const double *a = A->values + 9 * (int64_t)A->diagonal[i];
    const double diagonal[3] = {a[0], a[4], a[8]};
    bad |= !eb_block3_inverse_factor(a, diagonal, 0, p->inverse + 9 * (int64_t)i);
  }
  return !bad;
}

void eb_preconditioner_set_matrix(eb_preconditioner *p, const eb_block_matrix *A, bool *definite) {
  *definite = true;
  if (p->kind == JACOBI) *definite = set_jacobi(p, A);
  if (p->kind == BLOCK_JACOBI) *definite = set_block_jacobi(p, A);
  if (p->kind == INCOMPLETE) *definite = eb_incomplete_factor(p->ic, A);
}

static void apply_block_jacobi(const eb_preconditioner *p, const double *r, double *z) {
#pragma omp parallel for schedule(static) if (p->rows >= PARALLEL_FROM)
  for (int32_t i = 0; i < p->rows; i++) {
    const double *w = p->inverse + 9 * (int64_t)i;
    double y[3];
    eb_block3_lower(w, r + 3 * (int64_t)i, y);
    eb_block3_lower_transposed(w, y, z + 3 * (int64_t)i);
  }
}

void eb_preconditioner_apply(eb_preconditioner *p, const double *r, double *z) {
  const int64_t n = 3 * (int64_t)p->rows;
  switch (p->kind) {
  case JACOBI:
#pragma omp parallel for simd schedule(static) if (p->rows >= PARALLEL_FROM)
    for (int64_t k = 0; k < n; k++) z[k] = p->inverse[k] * r[k];
    break;
  case BLOCK_JACOBI:
    apply_block_jacobi(p, r, z);
    break;
  case INCOMPLETE:
    eb_incomplete_solve(p->ic, r, z);
    break;
  default:
    memcpy(z, r, (size_t)n * sizeof *z);
  }
}

double eb_preconditioner_flops(const eb_preconditioner *p) {
  const double a_row[KINDS] = {0, 3, 21, 36}; /* IC: two inverse pivots; off-diagonal blocks 18 */
  return a_row[p->kind] * p->rows + (p->kind == INCOMPLETE ? 18.0 * (p->blocks - p->rows) : 0);
}

void eb_preconditioner_destroy(eb_preconditioner *p) {
  if (!p) return;
  eb_incomplete_destroy(p->ic);
  free(p->inverse);
  free(p);
}
