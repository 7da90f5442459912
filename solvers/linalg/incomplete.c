/* Incomplete Cholesky on 3x3 blocks, M = L L^T without fill:
 *
 *   L_ik = (A_ik - sum_{j<k} L_ij L_kj^T) inv(L_kk)^T
 *   L_ii L_ii^T = A_ii - sum_{j<i} L_ij L_ij^T
 *
 * for blocks (i, k) of A's lower triangle only. Meijerink and van der Vorst 1977; when a pivot
 * block is not positive definite, the factorization starts again on A + shift diag(A) with a
 * growing shift (Manteuffel 1980), which is diagonally dominant, hence factorable, in the end.
 *
 * The two triangular solves are made row sums by scaling with W_i = inv(L_ii) beforehand:
 *   L y = r:    y_i = W_i r_i   - sum_{k<i} (W_i L_ik) y_k
 *   L^T z = y:  z_i = W_i^T y_i - sum_{k>i} (W_i^T L_ki^T) z_k
 * so after the factorization L's blocks are replaced by the first products, and the second ones are
 * stored by rows of the upper triangle.
 *
 * Levels: a row waits for those that its blocks name, and no others. Level 0 waits for none, level
 * l for one of l - 1 at least and none above (Anderson and Saad 1989, "Solving sparse triangular
 * linear systems on parallel computers", Int. J. High Speed Comput. 1(1); Saad 2003, 12.4.3). The
 * rows of a level are independent: a team shares them, and one core has several in flight, where in
 * the order of the rows each waits for the one before, which keeps it from asking memory for the
 * next. Meshes have some hundred levels of hundreds of rows. From the last level to the first, they
 * serve L^T as well.
 *
 * Rows, blocks and the vector at work lie in memory level by level. In a level, rows stand in the
 * order of those that they wait for, so that a thread that takes the same part of every level finds
 * most of what it needs where it has left it: what comes from another core costs as much as a row.
 * None of this changes the order of a sum, so M is bit by bit that of the rows' own order, whatever
 * the number of threads.
 *
 * Needs positive diagonal entries. Memory: as much as A. Fails as an outcome. */
#include "solvers/linalg/incomplete.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/block3.h"

static const double first_shift =
    1e-3; /* growing by 2: the smallest that works, within a factor 2 */
static const double largest_shift = 1e6; /* A + 1e6 diag(A) is dominant for any row of 1e6 blocks */
static const double pivot_floor = 1e-8;  /* of the diagonal entry: smaller pivots make L useless */

/* A level takes a team about 0.1 us of waiting, and a row one thread 20 ns or more. */
enum { WIDE = 16 /* rows of a level, on average: with fewer one thread sweeps alone */ };

/* A triangle by positions: the row at p holds blocks start[p] .. start[p + 1] - 1, the last of
 * which is W. Block b is in the column at position column[b], and comes from block source[b] of
 * another matrix. In a row, columns ascend in their own order, which is that of the sums. */
typedef struct triangle {
  int32_t *start;  /* rows + 1 */
  int32_t *column; /* a position */
  int32_t *source;
  double *values; /* 9 a block */
} triangle;

struct eb_block_ic {
  int32_t rows, levels;
  bool wide;
  int32_t *level;    /* levels + 1: the position where each begins */
  int32_t *row;      /* rows: at each position */
  int32_t *position; /* rows: of each row */
  triangle lower;    /* source: in A; W's place holds L_ii before it is inverted */
  triangle upper;    /* source: in lower, transposed */
  int32_t *slot;     /* threads x rows: block of the row at work with this column, or -1 */
  double *y;         /* 3 rows, by positions */
  /* The first level with a bad pivot, INT_MAX for none. Asked for after each level, when those that
   * are ahead may have failed further on: all leave after the same level. */
  _Atomic int32_t failed;
};

/* ---- analysis -------------------------------------------------------------------------------- */

static eb_error allocate_triangle(triangle *t, size_t rows, size_t blocks) {
  EB_TRY(EB_NEW(t->start, rows + 1));
  EB_TRY(EB_NEW(t->column, blocks));
  EB_TRY(EB_NEW(t->source, blocks));
  return EB_NEW(t->values, 9 * blocks);
}

static void free_triangle(triangle *t) {
  free(t->start);
  free(t->column);
  free(t->source);
  free(t->values);
}

void eb_block_ic_destroy(eb_block_ic *ic) {
  if (!ic) return;
  free(ic->level);
  free(ic->row);
  free(ic->position);
  free_triangle(&ic->lower);
  free_triangle(&ic->upper);
  free(ic->slot);
  free(ic->y);
  free(ic);
}

/* Counting sort of the rows by level. `depth`: rows of workspace. */
static void find_levels(const eb_block_matrix *A, int32_t *depth, eb_block_ic *ic) {
  for (int32_t i = 0; i < A->rows; i++) {
    depth[i] = 0;
    for (int32_t b = A->start[i]; b < A->diagonal[i]; b++)
      if (depth[A->column[b]] >= depth[i]) depth[i] = depth[A->column[b]] + 1;
    ic->level[depth[i] + 1]++;
    if (depth[i] >= ic->levels) ic->levels = depth[i] + 1;
  }
  for (int32_t l = 0; l < ic->levels; l++) ic->level[l + 1] += ic->level[l];
  for (int32_t i = 0; i < A->rows; i++) ic->row[ic->level[depth[i]]++] = i;
  /* Filling moved each level's begin to its end. */
  for (int32_t l = ic->levels; l > 0; l--) ic->level[l] = ic->level[l - 1];
  ic->level[0] = 0;
}

typedef struct placed {
  double place; /* in 0..1 along the level: the mean of those that the row waits for */
  int32_t row;
} placed;

static int by_place(const void *a, const void *b) {
  const placed *x = a, *y = b;
  if (x->place != y->place) return x->place < y->place ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

/* `sorted`: rows; sorted[i].place becomes that of the row at position i. */
static void order_level(const eb_block_matrix *A, int32_t l, placed *sorted, eb_block_ic *ic) {
  const int32_t first = ic->level[l], last = ic->level[l + 1];
  for (int32_t p = first; p < last; p++) {
    const int32_t i = ic->row[p], from = A->start[i], to = A->diagonal[i];
    double sum = 0;
    for (int32_t b = from; b < to; b++) sum += sorted[ic->position[A->column[b]]].place;
    sorted[p] = (placed){.place = to > from ? sum / (to - from) : 0, .row = i};
  }
  qsort(sorted + first, (size_t)(last - first), sizeof *sorted, by_place);
  for (int32_t p = first; p < last; p++) {
    sorted[p].place = (p - first + 0.5) / (last - first);
    ic->row[p] = sorted[p].row;
    ic->position[ic->row[p]] = p;
  }
}

static eb_error order_rows(const eb_block_matrix *A, eb_block_ic *ic) {
  placed *sorted;
  EB_TRY(EB_NEW(sorted, A->rows));
  find_levels(A, ic->position, ic);
  for (int32_t l = 0; l < ic->levels; l++) order_level(A, l, sorted, ic);
  free(sorted);
  return EB_OK;
}

/* Columns of both triangles, the diagonal last, and the lower one's sources. */
static void list_blocks(const eb_block_matrix *A, eb_block_ic *ic) {
  triangle *lower = &ic->lower, *upper = &ic->upper;
  int32_t below = 0, above = 0;
  for (int32_t p = 0; p < A->rows; p++) {
    const int32_t i = ic->row[p], diagonal = A->diagonal[i];
    for (int32_t b = A->start[i]; b <= diagonal; b++) {
      lower->column[below] = ic->position[A->column[b]];
      lower->source[below++] = b;
    }
    for (int32_t b = diagonal + 1; b < A->start[i + 1]; b++)
      upper->column[above++] = ic->position[A->column[b]];
    upper->column[above++] = p;
    lower->start[p + 1] = below;
    upper->start[p + 1] = above;
  }
}

/* The upper triangle's sources: block (i, k) is the transpose of (k, i). Rows k in their own order,
 * as the columns of i are. `next`: rows of workspace. */
static void link_upper(eb_block_ic *ic, int32_t *next) {
  const triangle *lower = &ic->lower, *upper = &ic->upper;
  memcpy(next, upper->start, (size_t)ic->rows * sizeof *next);
  for (int32_t k = 0; k < ic->rows; k++) {
    const int32_t p = ic->position[k], last = lower->start[p + 1] - 1;
    for (int32_t b = lower->start[p]; b < last; b++) upper->source[next[lower->column[b]]++] = b;
    upper->source[upper->start[p + 1] - 1] = last;
  }
}

static eb_error allocate(const eb_block_matrix *pattern, int threads, eb_block_ic *ic) {
  size_t rows = (size_t)pattern->rows;
  size_t blocks = ((size_t)pattern->start[rows] - rows) / 2 + rows;
  EB_TRY(EB_NEW(ic->level, rows + 1));
  EB_TRY(EB_NEW(ic->row, rows));
  EB_TRY(EB_NEW(ic->position, rows));
  EB_TRY(EB_NEW(ic->y, 3 * rows));
  EB_TRY(EB_NEW(ic->slot, (size_t)threads * rows));
  EB_TRY(allocate_triangle(&ic->lower, rows, blocks));
  return allocate_triangle(&ic->upper, rows, blocks);
}

eb_error eb_block_ic_create(const eb_block_matrix *pattern, int threads, eb_block_ic **out) {
  eb_block_ic *ic;
  *out = NULL;
  EB_TRY(EB_NEW(ic, 1));
  ic->rows = pattern->rows;
  eb_error error = allocate(pattern, threads, ic);
  if (!error) error = order_rows(pattern, ic);
  if (error) {
    eb_block_ic_destroy(ic);
    return error;
  }
  list_blocks(pattern, ic);
  link_upper(ic, ic->slot);
  ic->wide = ic->rows >= WIDE * (int64_t)ic->levels;
  for (int64_t k = 0; k < (int64_t)threads * ic->rows; k++) ic->slot[k] = -1;
  *out = ic;
  return EB_OK;
}

/* ---- factor ---------------------------------------------------------------------------------- */

/* The row at a position of L from those of the levels before; false when its pivot block is not
 * positive definite.
 *
 * Columns in their order (up-looking): when block (i, k) is reached, all (i, j) with j < k are
 * final. The sum over j runs over row k's blocks and finds row i's block of the same column through
 * `slot`, so that it costs one look-up a block whatever the lengths of the rows. What falls on a
 * block that A does not have is dropped: that is the zero of IC(0), and the reason why a pivot can
 * fail although A is definite. inv(L_kk)^T is a product with W_k^T: the pivot's place holds its
 * inverse already. */
static bool factor_row(const triangle *lower, int32_t p, int32_t *slot, const double diagonal[3]) {
  const int32_t *start = lower->start, *column = lower->column;
  const int32_t first = start[p], last = start[p + 1] - 1;
  double *values = lower->values, *pivot = values + 9 * (int64_t)last, inverse[9];
  for (int32_t b = first; b < last; b++) slot[column[b]] = b;
  for (int32_t b = first; b < last; b++) {
    const int32_t k = column[b], end = start[k + 1] - 1;
    double *value = values + 9 * (int64_t)b, scaled[9];
    for (int32_t c = start[k]; c < end; c++) {
      int32_t match = slot[column[c]];
      if (match >= 0)
        eb_block3_subtract_product(values + 9 * (int64_t)match, values + 9 * (int64_t)c, value);
    }
    memset(scaled, 0, sizeof scaled);
    eb_block3_subtract_product(value, values + 9 * (int64_t)end, scaled); /* - value W_k^T */
    for (int e = 0; e < 9; e++) value[e] = -scaled[e];
    eb_block3_subtract_product(value, value, pivot);
  }
  for (int32_t b = first; b < last; b++) slot[column[b]] = -1;
  if (!eb_block3_inverse_factor(pivot, diagonal, pivot_floor, inverse)) return false;
  memcpy(pivot, inverse, sizeof inverse);
  return true;
}

/* The shift is relative to each diagonal entry, which keeps it independent of units and of how
 * mass and stiffness differ from node to node: with A scaled to a unit diagonal it adds the
 * shift to every eigenvalue. */
static bool factor_shifted_row(const triangle *lower, int32_t p, const eb_block_matrix *A,
                               double shift, int32_t *slot) {
  for (int32_t b = lower->start[p]; b < lower->start[p + 1]; b++)
    memcpy(lower->values + 9 * (int64_t)b, A->values + 9 * (int64_t)lower->source[b],
           9 * sizeof *lower->values);
  double *pivot = lower->values + 9 * (int64_t)(lower->start[p + 1] - 1);
  double diagonal[3] = {pivot[0], pivot[4], pivot[8]};
  for (int r = 0; r < 3; r++) pivot[4 * r] += shift * diagonal[r];
  return factor_row(lower, p, slot, diagonal);
}

/* Whether one thread sweeps over the levels for all. */
static bool by_one(const eb_block_ic *ic, eb_spin_member *member) {
  return eb_spin_team_crowded(member) || !ic->wide;
}

/* Up to the first level with a bad pivot. */
static void factor_levels(eb_block_ic *ic, const eb_block_matrix *A, double shift,
                          eb_spin_member *member) {
  const triangle *lower = &ic->lower;
  int32_t *slot = ic->slot + (int64_t)member->thread * ic->rows;
  for (int32_t l = 0; l < ic->levels; l++) {
    int64_t from, to;
    bool good = true;
    eb_spin_team_share(member, ic->level[l], ic->level[l + 1], &from, &to);
    for (int64_t p = from; p < to && good; p++)
      good = factor_shifted_row(lower, (int32_t)p, A, shift, slot);
    if (!good) atomic_store(&ic->failed, l);
    eb_spin_team_wait(member);
    if (atomic_load(&ic->failed) <= l) return;
  }
}

static bool factor_shifted(eb_block_ic *ic, const eb_block_matrix *A, double shift,
                           eb_spin_member *member) {
  eb_spin_member one = {.size = 1};
  const bool shared = !by_one(ic, member);
  if (member->thread == 0) atomic_store(&ic->failed, INT_MAX);
  eb_spin_team_wait(member);
  if (shared || member->thread == 0) factor_levels(ic, A, shift, shared ? member : &one);
  eb_spin_team_wait(member);
  bool good = atomic_load(&ic->failed) == INT_MAX;
  eb_spin_team_wait(member); /* all have seen it */
  return good;
}

static double *pivot_of(const triangle *t, int64_t p) {
  return t->values + 9 * (int64_t)(t->start[p + 1] - 1);
}

/* Upper blocks W_i^T L_ki^T = (L_ki W_i)^T, then lower ones W_i L_ik, which overwrite L. */
static void scale(const eb_block_ic *ic, eb_spin_member *member) {
  const triangle *lower = &ic->lower, *upper = &ic->upper;
  int64_t from, to;
  eb_spin_team_share(member, 0, ic->rows, &from, &to);
  for (int64_t p = from; p < to; p++) {
    const int32_t last = upper->start[p + 1] - 1;
    double *w = pivot_of(upper, p);
    memcpy(w, lower->values + 9 * (int64_t)upper->source[last], 9 * sizeof *w);
    for (int32_t b = upper->start[p]; b < last; b++)
      eb_block3_product_transposed(lower->values + 9 * (int64_t)upper->source[b], w,
                                   upper->values + 9 * (int64_t)b);
  }
  eb_spin_team_wait(member);
  for (int64_t p = from; p < to; p++)
    for (int32_t b = lower->start[p]; b < lower->start[p + 1] - 1; b++)
      eb_block3_lower_product(pivot_of(lower, p), lower->values + 9 * (int64_t)b);
  eb_spin_team_wait(member);
}

bool eb_block_ic_factor(eb_block_ic *ic, const eb_block_matrix *A, eb_spin_member *member) {
  for (int32_t i = 0; i < ic->rows; i++) {
    const double *a = A->values + 9 * (int64_t)A->diagonal[i];
    if (!(a[0] > 0 && a[4] > 0 && a[8] > 0)) return false;
  }
  for (double shift = 0; shift <= largest_shift; shift = shift > 0 ? 2 * shift : first_shift) {
    if (!factor_shifted(ic, A, shift, member)) continue;
    scale(ic, member);
    return true;
  }
  return false;
}

/* ---- solve ----------------------------------------------------------------------------------- */

/* y_p = W x - sum of the row's other blocks with y, where W x is `scaled`. */
static inline void solve_row(const triangle *t, int64_t p, const double scaled[3], size_t ahead,
                             double *y) {
  double sum[3];
  eb_block3_row(t->values, t->column, t->start[p], t->start[p + 1] - 1, y, ahead, sum);
  for (int k = 0; k < 3; k++) y[3 * p + k] = scaled[k] - sum[k];
}

static void sweep_down(eb_block_ic *ic, const double *r, eb_spin_member *member) {
  const size_t ahead = eb_block3_ahead(ic->lower.start[ic->rows]);
  double scaled[3];
  for (int32_t l = 0; l < ic->levels; l++) {
    int64_t from, to;
    eb_spin_team_share(member, ic->level[l], ic->level[l + 1], &from, &to);
    for (int64_t p = from; p < to; p++) {
      eb_block3_lower(pivot_of(&ic->lower, p), r + 3 * (int64_t)ic->row[p], scaled);
      solve_row(&ic->lower, p, scaled, ahead, ic->y);
    }
    eb_spin_team_wait(member);
  }
}

static void sweep_up(eb_block_ic *ic, eb_spin_member *member) {
  const size_t ahead = eb_block3_ahead(ic->upper.start[ic->rows]);
  double scaled[3];
  for (int32_t l = ic->levels - 1; l >= 0; l--) {
    int64_t from, to;
    eb_spin_team_share(member, ic->level[l], ic->level[l + 1], &from, &to);
    for (int64_t p = from; p < to; p++) {
      eb_block3_lower_transposed(pivot_of(&ic->upper, p), ic->y + 3 * p, scaled);
      solve_row(&ic->upper, p, scaled, ahead, ic->y);
    }
    eb_spin_team_wait(member);
  }
}

void eb_block_ic_solve(eb_block_ic *ic, const double *r, eb_spin_member *member) {
  eb_spin_member one = {.size = 1};
  const bool shared = !by_one(ic, member);
  if (shared || member->thread == 0) {
    sweep_down(ic, r, shared ? member : &one);
    sweep_up(ic, shared ? member : &one);
  }
  if (!shared) eb_spin_team_wait(member);
}

void eb_block_ic_result(const eb_block_ic *ic, int32_t from, int32_t to, double *z) {
  for (int32_t i = from; i < to; i++)
    memcpy(z + 3 * (int64_t)i, ic->y + 3 * (int64_t)ic->position[i], 3 * sizeof *z);
}
