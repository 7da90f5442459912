#include "harness/report/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/gnuplot.h"
#include "problems/base/memory.h"

/* ---- layout -----------------------------------------------------------------------------------
 */

/* Nodes of the subtree under each supernode; returns those of all. */
static double subtree_sizes(const eb_tree_log *tree, double *size) {
  double all = 0;
  for (int32_t s = 0; s < tree->count; s++) {
    size[s] += tree->pivots[s];
    if (tree->parent[s] < 0)
      all += size[s];
    else
      size[tree->parent[s]] += size[s];
  }
  return all;
}

/* From the last supernode to the first, each takes its width from the right end of what its parent
 * has left for children. */
static double place(const eb_tree_log *tree, const double *size, double *left, double nodes,
                    eb_tree_bar *bars) {
  double left_for_roots = nodes;
  for (int32_t s = tree->count - 1; s >= 0; s--) {
    int32_t parent = tree->parent[s];
    double *end = parent < 0 ? &left_for_roots : &left[parent];
    bars[s] = (eb_tree_bar){.depth = parent < 0 ? 0 : bars[parent].depth + 1,
                            .lo = *end - size[s],
                            .hi = *end,
                            .flops = tree->flops[s]};
    *end = bars[s].lo;
    left[s] = bars[s].hi - tree->pivots[s];
  }
  return nodes;
}

eb_error eb_tree_layout(const eb_tree_log *tree, eb_tree_bar *bars, double *nodes) {
  double *size, *left = NULL;
  EB_TRY(EB_NEW(size, tree->count));
  eb_error error = EB_NEW(left, tree->count);
  if (!error) *nodes = place(tree, size, left, subtree_sizes(tree, size), bars);
  free(size);
  free(left);
  return error;
}

static int by_place(const void *a, const void *b) {
  const eb_tree_bar *left = a, *right = b;
  if (left->depth != right->depth) return left->depth < right->depth ? -1 : 1;
  return (left->lo > right->lo) - (left->lo < right->lo);
}

int32_t eb_tree_merge(eb_tree_bar *bars, int32_t count, double least) {
  int32_t kept = 0;
  qsort(bars, (size_t)count, sizeof *bars, by_place);
  for (int32_t i = 0; i < count; i++) {
    eb_tree_bar *last = kept > 0 ? &bars[kept - 1] : NULL, bar = bars[i];
    bool joins = last && last->depth == bar.depth && bar.hi - bar.lo < least &&
                 last->hi - last->lo < least && bar.lo - last->hi < least;
    if (joins) {
      last->hi = bar.hi;
      last->flops = fmax(last->flops, bar.flops);
    } else {
      bars[kept++] = bar;
    }
  }
  return kept;
}

bool eb_tree_equal(const eb_tree_log *a, const eb_tree_log *b) {
  size_t count = (size_t)a->count;
  return a->count == b->count && memcmp(a->parent, b->parent, count * sizeof *a->parent) == 0 &&
         memcmp(a->pivots, b->pivots, count * sizeof *a->pivots) == 0 &&
         memcmp(a->rows, b->rows, count * sizeof *a->rows) == 0 &&
         memcmp(a->flops, b->flops, count * sizeof *a->flops) == 0;
}

/* ---- drawing ----------------------------------------------------------------------------------
 */

enum { PIXELS = 520 /* that the bars share, about */, MOST_ROWS = 100 };

/* Rows of bars; in trees deeper than there is room, several depths share one. */
typedef struct depth_rows {
  int32_t rows, depths;
} depth_rows;

static depth_rows rows_for(int32_t depths) {
  return (depth_rows){depths < MOST_ROWS ? depths : MOST_ROWS, depths};
}

static int32_t row_of(const depth_rows *l, int32_t depth) {
  return (int32_t)((int64_t)depth * l->rows / l->depths);
}

/* Top and bottom of a row, in depths. */
static eb_error put_row(const depth_rows *l, int32_t row, eb_plot_data *data) {
  double height = (double)l->depths / l->rows;
  return eb_text_printf(&data->text, "%.6g %.6g", row * height, (row + 0.9) * height);
}

/* A line a bar: top, bottom, left, right, decimal logarithm of its flops. Bars that are wide enough
 * stand a little apart. */
static eb_error put_bars(const eb_tree_bar *bars, int32_t count, const depth_rows *l, double pixel,
                         eb_plot_data *data) {
  for (int32_t i = 0; i < count; i++) {
    double gap = bars[i].hi - bars[i].lo > 4 * pixel ? 0.7 * pixel : 0;
    EB_TRY(put_row(l, row_of(l, bars[i].depth), data));
    EB_TRY(eb_text_printf(&data->text, " %.9g %.9g %.4f\n", bars[i].lo + gap, bars[i].hi - gap,
                          log10(fmax(1, bars[i].flops))));
  }
  return EB_OK;
}

/* A line a row: top, bottom, share of all flops, %. */
static eb_error put_shares(const double *flops, const depth_rows *l, double all,
                           eb_plot_data *data) {
  EB_TRY(eb_text_printf(&data->text, "\n\n"));
  for (int32_t r = 0; r < l->rows; r++) {
    EB_TRY(put_row(l, r, data));
    EB_TRY(eb_text_printf(&data->text, " %.5g\n", all > 0 ? 100 * flops[r] / all : 0));
  }
  return EB_OK;
}

static eb_error fill(const eb_tree_log *tree, eb_tree_bar *bars, double nodes, int32_t depths,
                     eb_plot_data *data) {
  double flops[MOST_ROWS] = {0}, all = 0;
  depth_rows l = rows_for(depths);
  for (int32_t s = 0; s < tree->count; s++) {
    flops[row_of(&l, bars[s].depth)] += bars[s].flops;
    all += bars[s].flops;
  }
  int32_t left = eb_tree_merge(bars, tree->count, nodes / PIXELS);
  EB_TRY(put_bars(bars, left, &l, nodes / PIXELS, data));
  data->series = depths;
  return put_shares(flops, &l, all, data);
}

static int32_t count_depths(const eb_tree_bar *bars, int32_t count) {
  int32_t deepest = 0;
  for (int32_t s = 0; s < count; s++)
    if (bars[s].depth > deepest) deepest = bars[s].depth;
  return deepest + 1;
}

static double total_flops(const eb_tree_log *tree) {
  double all = 0;
  for (int32_t s = 0; s < tree->count; s++) all += tree->flops[s];
  return all;
}

eb_error eb_plots_tree(const eb_tree_log *tree, const char *name, const char *dir,
                       const char *base) {
  eb_tree_bar *bars;
  eb_plot_data data = {0};
  char title[600];
  double nodes;
  EB_TRY(EB_NEW(bars, tree->count));
  eb_error error = eb_tree_layout(tree, bars, &nodes);
  int32_t depths = error ? 0 : count_depths(bars, tree->count);
  if (!error) error = fill(tree, bars, nodes, depths, &data);
  snprintf(title, sizeof title, "%s\n%d supernodes of %.0f nodes, %d deep, %.3g Gflop", name,
           tree->count, nodes, depths, 1e-9 * total_flops(tree));
  if (!error) error = eb_plot_draw(dir, base, "tree", title, &data);
  eb_text_clear(&data.text);
  free(bars);
  return error;
}
