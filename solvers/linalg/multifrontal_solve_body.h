/* The triangular solves of one front in the precision REAL; NAME(x) is x with the suffix of that
 * precision. Included by multifrontal_solve.c only, once for each. */

/* ---- vectors --------------------------------------------------------------------------------- */

static REAL *NAME(pivots_of)(const tree_sweep *sweep, int32_t s) {
  const eb_multifrontal *f = sweep->f;
  return (REAL *)f->solver->pivots + 3 * (int64_t)f->tree.first[s] * sweep->lanes;
}

static REAL *NAME(vector_of)(const tree_sweep *sweep, int32_t s) {
  const eb_multifrontal_solver *v = sweep->f->solver;
  int64_t row = v->place[s];
  if (stacked(sweep->f, s)) row += v->shared + omp_get_thread_num() * v->stacks;
  return (REAL *)v->vectors + row * sweep->lanes;
}

/* The pivots' right-hand sides; those of nodes that come soon are fetched. */
static void NAME(take_rhs)(const tree_sweep *sweep, int32_t s, REAL *x) {
  const eb_supernodes *t = &sweep->f->tree;
  int64_t stride = sweep->side_stride;
  int32_t count = sweep->count;
  for (int32_t k = t->first[s]; k < t->first[s + 1]; k++) {
    if (k + AHEAD < t->nodes) fetch_node(sweep, sweep->b, k + AHEAD);
    for (int axis = 0; axis < 3; axis++, x += sweep->lanes) {
      const double *b = sweep->b + (3 * (int64_t)t->order[k] + axis) * sweep->row_stride;
      if (stride == 1) /* said apart, for the compiler's vectors */
        for (int32_t r = 0; r < count; r++) x[r] = (REAL)(sweep->scale * b[r]);
      else
        for (int32_t r = 0; r < count; r++) x[r] = (REAL)(sweep->scale * b[r * stride]);
      for (int32_t r = count; r < sweep->lanes; r++) x[r] = 0;
    }
  }
}

/* Whether some row has an entry in `width` lanes; NaN is one. */
static bool NAME(has_entries)(int64_t rows, int32_t lanes, int32_t width, const REAL *x) {
  for (int64_t i = 0; i < rows; i++, x += lanes) {
    int32_t zeros = 0;
    for (int32_t r = 0; r < width; r++) zeros += x[r] == 0;
    if (zeros < width) return true;
  }
  return false;
}

/* The groups of lanes that the subtree of s has entries in: its pivots x, or one of its children.
 */
static uint8_t NAME(filled_groups)(const tree_sweep *sweep, int32_t s, const REAL *x) {
  const eb_multifrontal *f = sweep->f;
  int32_t width = sweep->lanes < LANE_GROUP ? sweep->lanes : LANE_GROUP;
  unsigned filled = 0;
  for (int32_t k = f->child_start[s]; k < f->child_start[s + 1]; k++)
    filled |= f->solver->filled[f->child[k]];
  for (int32_t g = 0; g < sweep->lanes / width; g++)
    if (!(filled >> g & 1) &&
        NAME(has_entries)(eb_front_pivots(f, s), sweep->lanes, width, x + g * width))
      filled |= 1u << g;
  return (uint8_t)filled;
}

static void NAME(give_solution)(const tree_sweep *sweep, int32_t s, const REAL *x) {
  const eb_supernodes *t = &sweep->f->tree;
  int64_t stride = sweep->side_stride;
  int32_t count = sweep->count;
  for (int32_t k = t->first[s]; k < t->first[s + 1]; k++)
    for (int axis = 0; axis < 3; axis++, x += sweep->lanes) {
      double *to = sweep->x + (3 * (int64_t)t->order[k] + axis) * sweep->row_stride;
      if (sweep->add)
        for (int32_t r = 0; r < count; r++) to[r * stride] += (double)x[r] / sweep->scale;
      else if (stride == 1)
        for (int32_t r = 0; r < count; r++) to[r] = (double)x[r] / sweep->scale;
      else
        for (int32_t r = 0; r < count; r++) to[r * stride] = (double)x[r] / sweep->scale;
    }
}

static bool NAME(all_finite)(int64_t n, const REAL *x) {
  REAL sum = 0; /* stays 0 unless an entry is infinite or NaN */
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += 0 * x[i];
  return sum == 0;
}

/* The lanes of `rows` rows. */
static void NAME(clear)(const tree_sweep *sweep, lane_range lanes, int64_t rows, REAL *to) {
  size_t width = sizeof *to * (size_t)lanes.count;
  if (lanes.count == sweep->lanes)
    memset(to, 0, (size_t)rows * width);
  else
    for (REAL *row = to + lanes.from; rows > 0; rows--, row += sweep->lanes) memset(row, 0, width);
}

static void NAME(add)(int64_t n, const REAL *restrict from, REAL *restrict to) {
  for (int64_t i = 0; i < n; i++) to[i] += from[i];
}

static void NAME(add_rows)(const tree_sweep *sweep, lane_range lanes, int64_t rows,
                           const REAL *from, REAL *to) {
  if (lanes.count == sweep->lanes) {
    NAME(add)(rows * sweep->lanes, from, to);
    return;
  }
  from += lanes.from;
  to += lanes.from;
  for (int64_t i = 0; i < rows; i++, from += sweep->lanes, to += sweep->lanes)
    for (int32_t r = 0; r < lanes.count; r += LANE_GROUP) {
      NAME(add)(LANE_GROUP, from + r, to + r);
    }
}

/* What child c of s has for its parent's pivots x and for the rows below them, y, in some lanes. */
static void NAME(take_child)(const tree_sweep *sweep, int32_t s, int32_t c, lane_range lanes,
                             REAL *x, REAL *y) {
  const eb_multifrontal *f = sweep->f;
  const REAL *from = NAME(vector_of)(sweep, c);
  int64_t pivots = f->tree.first[s + 1] - f->tree.first[s], node = 3 * (int64_t)sweep->lanes;
  for (int64_t k = f->run_start[c]; k < f->run_start[c + 1]; k++) {
    eb_run run = f->run[k];
    int64_t inside = pivots - run.to;
    inside = inside < 0 ? 0 : inside > run.count ? run.count : inside;
    NAME(add_rows)(sweep, lanes, 3 * inside, from, x + run.to * node);
    from += inside * node;
    NAME(add_rows)
    (sweep, lanes, 3 * (run.count - inside), from, y + (run.to + inside - pivots) * node);
    from += (run.count - inside) * node;
  }
}

/* What the children of s have for it. */
static void NAME(take_children)(const tree_sweep *sweep, int32_t s, REAL *x, REAL *y) {
  const eb_multifrontal *f = sweep->f;
  for (int32_t k = f->child_start[s]; k < f->child_start[s + 1]; k++) {
    lane_range lanes = {0, 0};
    while (next_lanes(sweep, f->solver->filled[f->child[k]], &lanes))
      NAME(take_child)(sweep, s, f->child[k], lanes, x, y);
  }
}

/* The solution in the rows below the pivots. */
static void NAME(take_solution)(const tree_sweep *sweep, int32_t s, REAL *y) {
  const eb_multifrontal *f = sweep->f;
  const REAL *x = f->solver->pivots;
  int64_t node = 3 * (int64_t)sweep->lanes;
  for (int64_t k = f->below_start[s]; k < f->below_start[s + 1]; k++, y += node) {
    const REAL *from = x + f->below[k] * node;
    if (k + AHEAD < f->below_start[s + 1])
      fetch(x + f->below[k + AHEAD] * node, node * (int64_t)sizeof *x);
    for (int64_t i = 0; i < node; i++) y[i] = from[i];
  }
}

/* ---- large panels ---------------------------------------------------------------------------- */

/* y -= L x in `count` lanes, for several threads by stretches of rows. */
static void NAME(subtract_rows)(const tree_sweep *sweep, int64_t columns, int64_t rows,
                                const REAL *L, int64_t ld, int32_t count, const REAL *x, REAL *y) {
  int32_t lanes = sweep->lanes;
  bool parallel = sweep->parallel;
  int64_t chunk = parallel ? CHUNK_ROWS : rows;
  for (int64_t i = 0; i < rows; i += chunk) {
    int64_t part = rows - i < chunk ? rows - i : chunk;
#pragma omp task firstprivate(i, part) if (parallel)
    NAME(eb_subtract)(columns, part, L + i, ld, count, x, lanes, y + i * lanes, lanes);
  }
}

static void NAME(forward_large)(const tree_sweep *sweep, int64_t n, int64_t m, const REAL *L,
                                int64_t ld, int32_t count, REAL *x, REAL *y) {
  int32_t lanes = sweep->lanes;
  for (int64_t j = 0; j < n; j += BLOCK_COLUMNS) {
    int64_t width = n - j < BLOCK_COLUMNS ? n - j : BLOCK_COLUMNS, next = j + width;
    const REAL *column = L + j * ld;
    REAL *part = x + j * lanes;
    NAME(eb_forward)(width, 0, column + j, ld, count, part, lanes, y, lanes);
    NAME(subtract_rows)(sweep, width, n - next, column + next, ld, count, part, x + next * lanes);
    NAME(subtract_rows)(sweep, width, m, column + n, ld, count, part, y);
#pragma omp taskwait
  }
}

static void NAME(backward_large)(const tree_sweep *sweep, int64_t n, int64_t m, const REAL *L,
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

/* ---- fronts ---------------------------------------------------------------------------------- */

static void NAME(forward)(const tree_sweep *sweep, int32_t s) {
  const eb_multifrontal *f = sweep->f;
  int64_t n = eb_front_pivots(f, s), m = eb_front_below(f, s), ld = eb_panel_leading(f, s);
  const REAL *L = (const REAL *)f->L + f->panel[s];
  REAL *x = NAME(pivots_of)(sweep, s), *y = NAME(vector_of)(sweep, s);
  NAME(take_rhs)(sweep, s, x);
  uint8_t filled = f->solver->filled[s] = NAME(filled_groups)(sweep, s, x);
  for (lane_range l = {0, 0}; next_lanes(sweep, filled, &l);) NAME(clear)(sweep, l, m, y);
  NAME(take_children)(sweep, s, x, y);
  for (lane_range l = {0, 0}; next_lanes(sweep, filled, &l);) {
    REAL *to = x + l.from, *below = y + l.from;
    if (is_large(f, s))
      NAME(forward_large)(sweep, n, m, L, ld, l.count, to, below);
    else
      NAME(eb_forward)(n, m, L, ld, l.count, to, sweep->lanes, below, sweep->lanes);
  }
}

static void NAME(backward)(tree_sweep *sweep, int32_t s) {
  const eb_multifrontal *f = sweep->f;
  int64_t n = eb_front_pivots(f, s), m = eb_front_below(f, s), ld = eb_panel_leading(f, s);
  const REAL *L = (const REAL *)f->L + f->panel[s];
  REAL *x = NAME(pivots_of)(sweep, s), *y = NAME(vector_of)(sweep, s);
  NAME(take_solution)(sweep, s, y);
  for (int32_t k = f->tree.first[s]; k < f->tree.first[s + 1]; k++) fetch_node(sweep, sweep->x, k);
  if (is_large(f, s))
    NAME(backward_large)(sweep, n, m, L, ld, x, y);
  else
    NAME(eb_backward)(n, m, L, ld, sweep->lanes, x, sweep->lanes, y, sweep->lanes);
  NAME(give_solution)(sweep, s, x);
  if (!NAME(all_finite)(n * sweep->lanes, x)) sweep->infinite = true;
}
