/* One front, in the precision REAL; NAME(x) is x with the suffix of that precision. Included by
 * multifrontal_factor.c only, once for each. */

/* ---- children -------------------------------------------------------------------------------- */

typedef REAL NAME(four) __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL))));
typedef BITS NAME(mask) __attribute__((vector_size(4 * sizeof(REAL))));

static void NAME(add_four)(const REAL *from, REAL *to, NAME(mask) mask) {
  NAME(four) value = *(const NAME(four) *)from;
  *(NAME(four) *)to += (NAME(four))((NAME(mask))value & mask);
}

/* to += from, `rows` entries of three columns each. The last vector adds zeros to the entries
 * behind, which therefore must belong to the target too. */
static void NAME(add_rows)(int64_t rows, const REAL *from, int64_t ld_from, REAL *to,
                           int64_t ld_to) {
  static const NAME(mask) masks[4] = {{-1, -1, -1, -1}, {-1}, {-1, -1}, {-1, -1, -1}};
  int64_t i = 0;
  for (; i + 4 < rows; i += 4)
    for (int c = 0; c < 3; c++)
      NAME(add_four)(from + c * ld_from + i, to + c * ld_to + i, masks[0]);
  for (int c = 0; c < 3; c++)
    NAME(add_four)(from + c * ld_from + i, to + c * ld_to + i, masks[rows % 4]);
}

/* Adds the three columns of one node of a child's update matrix, from the diagonal down: `from` and
 * `to` point at the diagonal entry in the child and in the target. The column's node is the k-th
 * below the child's pivots and lies in the run `run`; `end` ends the child's runs.
 *
 * Extending U_c to the parent's rows (the "extend-add" of Duff and Reid) is a copy of stretches:
 * what is between two runs belongs to the parent's other rows. */
static void NAME(add_node_columns)(const eb_run *run, const eb_run *end, int32_t k,
                                   const REAL *from, int64_t ld_from, REAL *to, int64_t ld_to) {
  for (int c = 0; c < 3; c++) /* of the node's own block the lower triangle */
    for (int r = c; r < 3; r++) to[c * ld_to + r] += from[c * ld_from + r];
  int64_t rows = 3 * (int64_t)(run->from + run->count - k - 1);
  from += 3;
  to += 3;
  for (; run + 1 < end; run++) {
    if (rows) NAME(add_rows)(rows, from, ld_from, to, ld_to);
    from += rows;
    to += rows + 3 * (int64_t)(run[1].to - run->to - run->count);
    rows = 3 * (int64_t)run[1].count;
  }
  for (int c = 0; c < 3; c++) /* the last run, behind which nothing may be touched */
    for (int64_t i = 0; i < rows; i++) to[c * ld_to + i] += from[c * ld_from + i];
}

/* Adds to a tile what the child c contributes to it: the columns of the nodes t0 .. t1 - 1 of the
 * parent's front. `to` is the entry of row and column node `origin`. */
static void NAME(add_child)(const eb_multifrontal *f, int32_t c, int32_t t0, int32_t t1,
                            int32_t origin, REAL *to, int64_t ld) {
  const eb_run *run = f->run + f->run_start[c], *end = f->run + f->run_start[c + 1];
  int64_t m = eb_front_below(f, c), column = 0, leading = eb_warm_up(m), width = eb_update_width(m);
  /* the block column at scalar column `column` */
  const REAL *block = (const REAL *)f->U + eb_update_place(f, c);
  for (run += run_from(run, end - run, t0); run < end && run->to < t1; run++) {
    int32_t k = run->from + (t0 > run->to ? t0 - run->to : 0);
    int32_t k1 = run->from + (t1 - run->to < run->count ? t1 - run->to : run->count);
    for (; k < k1; k++) {
      while (3 * (int64_t)k >= column + width) {
        block += leading * width;
        column += width;
        leading = eb_warm_up(m - column);
      }
      NAME(add_node_columns)
      (run, end, k, block + (3 * (int64_t)k - column) * (leading + 1), leading,
       to + 3 * (int64_t)(run->to + k - run->from - origin) * (ld + 1), ld);
    }
  }
}

static void NAME(add_children)(const eb_multifrontal *f, int32_t s, int32_t t0, int32_t t1,
                               int32_t origin, REAL *to, int64_t ld) {
  for (int32_t k = f->child_start[s]; k < f->child_start[s + 1]; k++)
    NAME(add_child)(f, f->child[k], t0, t1, origin, to, ld);
}

/* ---- panel ----------------------------------------------------------------------------------- */

/* The columns of the nodes j0 .. j1 - 1 of the panel before elimination, from the diagonal down.
 *
 * Also sets what their pivots must exceed: a pivot is a_jj - sum l_jk^2 and has lost all digits
 * when it is some eps a_jj (Higham, "Accuracy and Stability of Numerical Algorithms", 10.1);
 * relative to the entry itself, so that the scale of a row does not matter. */
static void NAME(assemble_panel)(const front_job *job, int32_t s, int32_t j0, int32_t j1) {
  const eb_multifrontal *f = job->f;
  const REAL rounding = 64 * EPSILON;
  int64_t ld = eb_panel_leading(f, s), rows = eb_front_rows(f, s);
  REAL *panel = (REAL *)f->L + f->panel[s];
  for (int32_t j = j0; j < j1; j++) {
    int32_t k = f->tree.first[s] + j;
    REAL *column = panel + 3 * (int64_t)j * ld, *floor = (REAL *)f->floor + 3 * (int64_t)k;
    for (int c = 0; c < 3; c++)
      memset(column + c * ld + 3 * (int64_t)j, 0, sizeof(REAL) * (size_t)(rows - 3 * (int64_t)j));
    for (int32_t e = f->entry_start[k]; e < f->entry_start[k + 1]; e++) {
      const double *a = job->A->values + 9 * (int64_t)f->entry[e];
      REAL *to = column + 3 * (int64_t)f->target[e];
      for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++) to[c * ld + r] = (REAL)a[3 * c + r];
    }
    for (int c = 0; c < 3; c++) {
      REAL diagonal = column[c * ld + 3 * (int64_t)j + c];
      floor[c] = diagonal > 0 ? rounding * diagonal : 0;
    }
  }
  NAME(add_children)(f, s, j0, j1, 0, panel, ld);
}

/* Eliminates the scalar columns from .. from + width - 1 of the panel, to which all earlier ones
 * have been applied. */
static void NAME(eliminate)(front_job *job, int32_t s, int64_t from, int64_t width) {
  const eb_multifrontal *f = job->f;
  int64_t ld = eb_panel_leading(f, s), below = eb_front_rows(f, s) - from - width;
  int64_t first = 3 * (int64_t)f->tree.first[s] + from;
  REAL *block = (REAL *)f->L + f->panel[s] + from * (ld + 1);
  int64_t column = NAME(eb_potrf)(width, block, ld, (const REAL *)f->floor + first);
  int64_t row = first + column, before = job->failed;
  while (column >= 0 && row < before &&
         !atomic_compare_exchange_weak(&job->failed, &before, row)) /* the minimum of all threads */
    continue;
  if (column < 0 && below > 0) NAME(eb_trsm)(below, width, block, ld, block + width, ld);
}

/* ---- update matrix --------------------------------------------------------------------------- */

/* The block column of U from scalar column `from` on, at `to`. */
static void NAME(form_update)(const front_job *job, int32_t s, int64_t from, REAL *to) {
  const eb_multifrontal *f = job->f;
  int64_t n = eb_front_pivots(f, s), m = eb_front_below(f, s), rest = m - from;
  int64_t width = smaller(eb_update_width(m), rest);
  int64_t ld = eb_panel_leading(f, s), ldu = eb_warm_up(rest);
  const REAL *L = (const REAL *)f->L + f->panel[s] + n + from;
  NAME(eb_syrk)(width, n, L, ld, to, ldu, false);
  if (rest > width)
    NAME(eb_gemm)(rest - width, width, n, L + width, ld, L, ld, to + width, ldu, false);
  int32_t node = (int32_t)((n + from) / 3);
  NAME(add_children)(f, s, node, node + (int32_t)(width / 3), node, to, ldu);
}

/* U on the calling thread. */
static void NAME(form_in_order)(const front_job *job, int32_t s) {
  const eb_multifrontal *f = job->f;
  int64_t m = eb_front_below(f, s), width = eb_update_width(m);
  REAL *block = (REAL *)f->U + eb_update_place(f, s);
  for (int64_t from = 0; from < m; from += width) {
    NAME(form_update)(job, s, from, block);
    block += eb_warm_up(m - from) * width;
  }
}

/* U in tasks, for a block column each, which wait for `last`. */
static void NAME(form_in_tasks)(const front_job *job, int32_t s, const REAL *last) {
  const eb_multifrontal *f = job->f;
  int64_t m = eb_front_below(f, s), width = eb_update_width(m);
  REAL *block = (REAL *)f->U + eb_update_place(f, s);
  for (int64_t from = 0; from < m; from += width) {
#pragma omp task firstprivate(from, block) depend(in : *last)
    if (!failed_before(job, s + 1)) NAME(form_update)(job, s, from, block);
    block += eb_warm_up(m - from) * width;
  }
#pragma omp taskwait
}

/* ---- whole fronts ---------------------------------------------------------------------------- */

/* Applies the panel's block column at `from`, PANEL_WIDTH wide, to the one at `to`; scalar columns.
 */
static void NAME(apply)(const front_job *job, int32_t s, int64_t from, int64_t to, int64_t width) {
  const eb_multifrontal *f = job->f;
  int64_t ld = eb_panel_leading(f, s), below = eb_front_rows(f, s) - to - width;
  REAL *panel = (REAL *)f->L + f->panel[s];
  const REAL *L = panel + from * ld + to;
  REAL *target = panel + to * (ld + 1);
  NAME(eb_syrk)(width, PANEL_WIDTH, L, ld, target, ld, true);
  if (below > 0)
    NAME(eb_gemm)(below, width, PANEL_WIDTH, L + width, ld, L, ld, target + width, ld, true);
}

/* A front on the calling thread, its panel in block columns of `wide` scalar columns. */
static void NAME(factor_in_order)(front_job *job, int32_t s, int64_t wide) {
  const eb_multifrontal *f = job->f;
  int64_t n = eb_front_pivots(f, s);
  NAME(assemble_panel)(job, s, 0, (int32_t)(n / 3));
  for (int64_t from = 0; from < n; from += wide) {
    NAME(eliminate)(job, s, from, smaller(wide, n - from));
    if (failed_before(job, s + 1)) return;
    for (int64_t to = from + wide; to < n; to += wide)
      NAME(apply)(job, s, from, to, smaller(wide, n - to));
  }
  NAME(form_in_order)(job, s);
}

/* The same in tasks: each block column of the panel and of the update matrix is assembled by one,
 * and earlier columns are applied to it by one each, in order. A task waits for the columns that it
 * reads and for the one that it writes; elements of the panel stand for their columns. */
static void NAME(factor_in_tasks)(front_job *job, int32_t s) {
  const eb_multifrontal *f = job->f;
  int64_t n = eb_front_pivots(f, s), ld = eb_panel_leading(f, s);
  REAL *panel = (REAL *)f->L + f->panel[s];
  const REAL *last = panel + (n - 1) / PANEL_WIDTH * PANEL_WIDTH * ld;
  for (int64_t to = 0; to < n; to += PANEL_WIDTH) {
    REAL *column = panel + to * ld;
    int64_t width = smaller(PANEL_WIDTH, n - to);
#pragma omp task firstprivate(to, width) depend(out : *column)
    NAME(assemble_panel)(job, s, (int32_t)(to / 3), (int32_t)((to + width) / 3));
  }
  for (int64_t from = 0; from < n; from += PANEL_WIDTH) {
    REAL *source = panel + from * ld;
#pragma omp task firstprivate(from) depend(inout : *source)
    if (!failed_before(job, s + 1)) NAME(eliminate)(job, s, from, smaller(PANEL_WIDTH, n - from));
    for (int64_t to = from + PANEL_WIDTH; to < n; to += PANEL_WIDTH) {
      REAL *column = panel + to * ld;
#pragma omp task firstprivate(from, to) depend(in : *source) depend(inout : *column)
      if (!failed_before(job, s + 1)) NAME(apply)(job, s, from, to, smaller(PANEL_WIDTH, n - to));
    }
  }
  NAME(form_in_tasks)(job, s, last);
}

static void NAME(factor)(front_job *job, int32_t s) {
  bool large = job->f->tree.flops[s] > large_front;
  if (large && job->parallel)
    NAME(factor_in_tasks)(job, s);
  else
    NAME(factor_in_order)(job, s, large ? PANEL_WIDTH : eb_front_pivots(job->f, s));
}

/* U of s from its panel, which is that of a factor. */
static void NAME(form)(const front_job *job, int32_t s) {
  if (job->parallel && job->f->tree.flops[s] > large_front)
    NAME(form_in_tasks)(job, s, (const REAL *)job->f->L + job->f->panel[s]);
  else
    NAME(form_in_order)(job, s);
}
