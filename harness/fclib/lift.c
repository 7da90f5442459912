/* FCLib's matrices as ours: general triplets become 3x3 blocks of consecutive unknowns.
 *
 * A size that is no multiple of 3 is filled up with unknowns that have the mean of the diagonal and
 * no force. What is off by rounding between a matrix and its transpose is averaged. */
#include "harness/fclib/fclib.h"

#include <math.h>
#include <string.h>

#include "problems/base/memory.h"

static const double ASYMMETRY =
    1e-6; /* of the largest entry: more is not rounding of whoever wrote it */

void eb_fclib_lifted_clear(eb_fclib_lifted *lifted) {
  eb_contact_problem_destroy(lifted->problem);
  eb_block_matrix_destroy(lifted->A);
  free(lifted->b);
  *lifted = (eb_fclib_lifted){0};
}

/* ---- A ---- */

/* The block pairs of the entries, and of their mirror images. */
static eb_error make_pattern(const eb_fclib_matrix *m, int32_t rows, eb_block_matrix **out) {
  int32_t *pairs;
  EB_TRY(EB_NEW(pairs, 2 * (size_t)m->count));
  for (int64_t k = 0; k < m->count; k++) {
    pairs[2 * k] = m->row[k] / 3;
    pairs[2 * k + 1] = m->column[k] / 3;
  }
  eb_error error = eb_block_matrix_create(rows, pairs, m->count, 2, out);
  free(pairs);
  return error;
}

static double *entry_of(eb_block_matrix *A, int32_t row, int32_t column) {
  int64_t block = eb_block_matrix_find(A, row / 3, column / 3);
  return A->values + 9 * block + 3 * (row % 3) + column % 3;
}

static eb_error make_symmetric(eb_block_matrix *A) {
  double off = 0, largest = 0;
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
      for (int k = 0; k < 9; k++) {
        double *x = A->values + 9 * (int64_t)b + k;
        double *y = entry_of(A, 3 * A->column[b] + k % 3, 3 * i + k / 3);
        off = fmax(off, fabs(*x - *y));
        largest = fmax(largest, fabs(*x));
        *x = *y = 0.5 * (*x + *y);
      }
  if (off <= ASYMMETRY * largest) return EB_OK;
  return EB_ERROR(EB_ERR_UNSUPPORTED,
                  "M is not symmetric: entries differ from their mirror images by %g, the largest "
                  "is %g",
                  off, largest);
}

static eb_error make_matrix(const eb_fclib *global, eb_fclib_lifted *out) {
  const eb_fclib_matrix *M = &global->M;
  int32_t rows = global->size / 3 + (global->size % 3 != 0);
  EB_TRY(make_pattern(M, rows, &out->A));
  for (int32_t k = 0; k < M->count; k++) *entry_of(out->A, M->row[k], M->column[k]) += M->value[k];
  double sum = 0;
  for (int32_t i = 0; i < global->size; i++) sum += *entry_of(out->A, i, i);
  for (int32_t i = global->size; i < 3 * rows; i++) *entry_of(out->A, i, i) = sum / global->size;
  EB_TRY(EB_NEW(out->b, 3 * (size_t)rows));
  memcpy(out->b, global->f, (size_t)global->size * sizeof *out->b);
  return make_symmetric(out->A);
}

/* ---- H ---- */

/* The entries of H in the order of their contacts: those of contact k are order[start[k]] ..
 * order[start[k + 1] - 1]. */
static void sort_entries(const eb_fclib_matrix *H, int32_t contacts, int32_t *start,
                         int32_t *order) {
  for (int32_t e = 0; e < H->count; e++) start[H->column[e] / 3 + 1]++;
  for (int32_t k = 0; k < contacts; k++) start[k + 1] += start[k];
  for (int32_t e = H->count - 1; e >= 0; e--) order[--start[H->column[e] / 3 + 1]] = e;
  /* Filling from the back has moved every start one place on. */
  memmove(start, start + 1, (size_t)contacts * sizeof *start);
  start[contacts] = H->count;
}

/* A contact's blocks while they are gathered. */
typedef struct gathered {
  int32_t entries, block[EB_CONTACT_ENTRIES];
  double H[9 * EB_CONTACT_ENTRIES];
} gathered;

static bool gather(const eb_fclib_matrix *H, int32_t e, gathered *g) {
  int32_t at = 0, block = H->row[e] / 3;
  while (at < g->entries && g->block[at] != block) at++;
  if (at == EB_CONTACT_ENTRIES) return false;
  if (at == g->entries) g->block[g->entries++] = block;
  g->H[9 * at + 3 * (H->column[e] % 3) + H->row[e] % 3] += H->value[e];
  return true;
}

static eb_error add_contacts(const eb_fclib *global, const int32_t *start, const int32_t *order,
                             eb_contact_problem *problem) {
  for (int32_t k = 0; k < global->contacts; k++) {
    gathered g = {0};
    double c[3];
    for (int d = 0; d < 3; d++) c[d] = -global->w[3 * (int64_t)k + d];
    for (int32_t e = start[k]; e < start[k + 1]; e++)
      if (!gather(&global->H, order[e], &g))
        return EB_ERROR(EB_ERR_UNSUPPORTED,
                        "contact %d acts on more than %d groups of three unknowns", (int)k,
                        EB_CONTACT_ENTRIES);
    if (g.entries == 0) return EB_ERROR(EB_ERR_UNSUPPORTED, "contact %d acts on nothing", (int)k);
    eb_contact_problem_add(problem, g.entries, g.block, g.H, c, global->mu[k]);
  }
  return EB_OK;
}

static eb_error make_contacts(const eb_fclib *global, eb_contact_problem *problem) {
  int32_t *start = NULL, *order = NULL;
  eb_error error = EB_NEW(start, (size_t)global->contacts + 2);
  if (!error) error = EB_NEW(order, global->H.count);
  if (!error) {
    sort_entries(&global->H, global->contacts, start, order);
    error = add_contacts(global, start, order, problem);
  }
  free(start);
  free(order);
  return error;
}

eb_error eb_fclib_lift(const eb_fclib *global, eb_fclib_lifted *out) {
  *out = (eb_fclib_lifted){0};
  eb_error error = make_matrix(global, out);
  if (!error) error = eb_contact_problem_create(global->contacts, &out->problem);
  if (!error) error = make_contacts(global, out->problem);
  if (error) {
    eb_fclib_lifted_clear(out);
    return error;
  }
  out->problem->A = out->A;
  out->problem->b = out->b;
  return EB_OK;
}

/* ---- W ---- */

eb_error eb_fclib_dense(const eb_fclib *local, double **W) {
  const eb_fclib_matrix *m = &local->M;
  EB_TRY(EB_NEW(*W, (size_t)m->rows * (size_t)m->rows));
  for (int32_t k = 0; k < m->count; k++)
    (*W)[(int64_t)m->row[k] * m->rows + m->column[k]] += m->value[k];
  return EB_OK;
}
