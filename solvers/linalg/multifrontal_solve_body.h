/* The triangular solves of one front in the precision REAL; NAME(x) is x with the suffix of that precision. Included by
 * multifrontal_solve_front.c only, once for each. */

/* ---- vectors ---------------------------------------------------------------------------------------------- */

static REAL *NAME(pivots_of)(const eb_sweep *sweep, int32_t s) {
  const eb_multifrontal *f = sweep->f;
  return (REAL *)f->solver->pivots + 3 * (int64_t)f->tree.first[s] * sweep->lanes;
}

static REAL *NAME(vector_of)(const eb_sweep *sweep, int32_t s) {
  const eb_multifrontal_solver *v = sweep->f->solver;
  int64_t row = v->place[s];
  if (eb_solve_stacked(sweep->f, s)) row += v->shared + omp_get_thread_num() * v->stacks;
  return (REAL *)v->vectors + row * sweep->lanes;
}

/* The pivots' right-hand sides. */
static void NAME(take_rhs)(const eb_sweep *sweep, int32_t s, REAL *x) {
  const eb_supernodes *t = &sweep->f->tree;
  int64_t n = 3 * (int64_t)t->nodes;
  for (int32_t k = t->first[s]; k < t->first[s + 1]; k++)
    for (int axis = 0; axis < 3; axis++) {
      const double *b = sweep->b + 3 * (int64_t)t->order[k] + axis;
      for (int32_t r = 0; r < sweep->lanes; r++)
        *x++ = r < sweep->count ? (REAL)(sweep->scale * b[r * n]) : 0;
    }
}

static void NAME(give_solution)(const eb_sweep *sweep, int32_t s, const REAL *x) {
  const eb_supernodes *t = &sweep->f->tree;
  int64_t n = 3 * (int64_t)t->nodes;
  for (int32_t k = t->first[s]; k < t->first[s + 1]; k++)
    for (int axis = 0; axis < 3; axis++) {
      double *to = sweep->x + 3 * (int64_t)t->order[k] + axis;
      for (int32_t r = 0; r < sweep->count; r++)
        to[r * n] = (sweep->add ? to[r * n] : 0) + (double)x[r] / sweep->scale;
      x += sweep->lanes;
    }
}

static void NAME(add)(int64_t n, const REAL *restrict from, REAL *restrict to) {
  for (int64_t i = 0; i < n; i++) to[i] += from[i];
}

/* What child c of s has for its parent's pivots x and for the rows below them, y. */
static void NAME(take_child)(const eb_sweep *sweep, int32_t s, int32_t c, REAL *x, REAL *y) {
  const eb_multifrontal *f = sweep->f;
  const REAL *from = NAME(vector_of)(sweep, c);
  int64_t pivots = f->tree.first[s + 1] - f->tree.first[s], node = 3 * (int64_t)sweep->lanes;
  for (int64_t k = f->run_start[c]; k < f->run_start[c + 1]; k++) {
    eb_run run = f->run[k];
    int64_t inside = pivots - run.to;
    inside = inside < 0 ? 0 : inside > run.count ? run.count : inside;
    NAME(add)(inside * node, from, x + run.to * node);
    from += inside * node;
    NAME(add)((run.count - inside) * node, from, y + (run.to + inside - pivots) * node);
    from += (run.count - inside) * node;
  }
}

/* The solution in the rows below the pivots. */
static void NAME(take_solution)(const eb_sweep *sweep, int32_t s, REAL *y) {
  const eb_multifrontal *f = sweep->f;
  const REAL *x = f->solver->pivots;
  int64_t node = 3 * (int64_t)sweep->lanes;
  for (int64_t k = f->below_start[s]; k < f->below_start[s + 1]; k++, y += node) {
    const REAL *from = x + f->below[k] * node;
    for (int64_t i = 0; i < node; i++) y[i] = from[i];
  }
}

/* ---- large panels --------------------------------------------------------------------------------------- */

/* y -= L x, for several threads by stretches of rows. */
static void NAME(subtract_rows)(const eb_sweep *sweep, int64_t columns, int64_t rows, const REAL *L,
                                int64_t ld, const REAL *x, REAL *y) {
  int32_t lanes = sweep->lanes;
  bool parallel = sweep->parallel;
  int64_t chunk = parallel ? CHUNK_ROWS : rows;
  for (int64_t i = 0; i < rows; i += chunk) {
    int64_t part = rows - i < chunk ? rows - i : chunk;
#pragma omp task firstprivate(i, part) if (parallel)
    NAME(eb_subtract)(columns, part, L + i, ld, lanes, x, lanes, y + i * lanes, lanes);
  }
}

static void NAME(forward_large)(const eb_sweep *sweep, int64_t n, int64_t m, const REAL *L,
                                int64_t ld, REAL *x, REAL *y) {
  int32_t lanes = sweep->lanes;
  for (int64_t j = 0; j < n; j += BLOCK_COLUMNS) {
    int64_t width = n - j < BLOCK_COLUMNS ? n - j : BLOCK_COLUMNS, next = j + width;
    const REAL *column = L + j * ld;
    NAME(eb_forward)(width, 0, column + j, ld, lanes, x + j * lanes, lanes, y, lanes);
    NAME(subtract_rows)(sweep, width, n - next, column + next, ld, x + j * lanes, x + next * lanes);
    NAME(subtract_rows)(sweep, width, m, column + n, ld, x + j * lanes, y);
#pragma omp taskwait
  }
}

static void NAME(backward_large)(const eb_sweep *sweep, int64_t n, int64_t m, const REAL *L,
                                 int64_t ld, REAL *x, const REAL *y) {
  int32_t lanes = sweep->lanes;
  bool parallel = sweep->parallel;
  for (int64_t j = (n - 1) / BLOCK_COLUMNS * BLOCK_COLUMNS; j >= 0; j -= BLOCK_COLUMNS) {
    int64_t width = n - j < BLOCK_COLUMNS ? n - j : BLOCK_COLUMNS, next = j + width;
    for (int64_t c = j; c < next; c += CHUNK_COLUMNS) {
      int64_t part = next - c < CHUNK_COLUMNS ? next - c : CHUNK_COLUMNS;
#pragma omp task firstprivate(c, part) if (parallel)
      {
        const REAL *column = L + c * ld;
        NAME(eb_gather)(part, m, column + n, ld, lanes, x + c * lanes, lanes, y, lanes);
        NAME(eb_gather)
        (part, n - next, column + next, ld, lanes, x + c * lanes, lanes, x + next * lanes, lanes);
      }
    }
#pragma omp taskwait
    NAME(eb_backward)(width, 0, L + j * ld + j, ld, lanes, x + j * lanes, lanes, y, lanes);
  }
}

/* ---- fronts ------------------------------------------------------------------------------------------------ */

static void NAME(forward)(const eb_sweep *sweep, int32_t s) {
  const eb_multifrontal *f = sweep->f;
  int64_t n = eb_front_pivots(f, s), m = eb_front_below(f, s), ld = eb_panel_leading(f, s);
  const REAL *L = (const REAL *)f->L + f->panel[s];
  REAL *x = NAME(pivots_of)(sweep, s), *y = NAME(vector_of)(sweep, s);
  NAME(take_rhs)(sweep, s, x);
  memset(y, 0, sizeof *y * (size_t)(m * sweep->lanes));
  for (int32_t k = f->child_start[s]; k < f->child_start[s + 1]; k++)
    NAME(take_child)(sweep, s, f->child[k], x, y);
  if (is_large(f, s))
    NAME(forward_large)(sweep, n, m, L, ld, x, y);
  else
    NAME(eb_forward)(n, m, L, ld, sweep->lanes, x, sweep->lanes, y, sweep->lanes);
}

static void NAME(backward)(const eb_sweep *sweep, int32_t s) {
  const eb_multifrontal *f = sweep->f;
  int64_t n = eb_front_pivots(f, s), m = eb_front_below(f, s), ld = eb_panel_leading(f, s);
  const REAL *L = (const REAL *)f->L + f->panel[s];
  REAL *x = NAME(pivots_of)(sweep, s), *y = NAME(vector_of)(sweep, s);
  NAME(take_solution)(sweep, s, y);
  if (is_large(f, s))
    NAME(backward_large)(sweep, n, m, L, ld, x, y);
  else
    NAME(eb_backward)(n, m, L, ld, sweep->lanes, x, sweep->lanes, y, sweep->lanes);
  NAME(give_solution)(sweep, s, x);
}
