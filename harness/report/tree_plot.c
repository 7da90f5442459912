/* A factorization's elimination tree as an icicle. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/plots.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

eb_error eb_tree_layout(const eb_tree_log *tree, eb_tree_bar *bars, double *nodes) {
  EB_FREED double *size = NULL; /* nodes of the subtree */
  EB_FREED double *left = NULL; /* right end of what is left for children */
  EB_TRY(EB_NEW(size, tree->count));
  EB_TRY(EB_NEW(left, tree->count));
  *nodes = 0;
  for (int32_t s = 0; s < tree->count; s++) {
    size[s] += tree->pivots[s];
    *(tree->parent[s] < 0 ? nodes : &size[tree->parent[s]]) += size[s];
  }
  /* From the last supernode to the first, each takes its width from its parent's right end. */
  double left_for_roots = *nodes;
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
  return EB_OK;
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

enum { PIXELS = 520 /* that the bars share, about */, MOST_ROWS = 100 };

/* What the bars are drawn in: as many rows as there are depths or, in trees deeper than there is
 * room, fewer, of which each stands for several depths. */
typedef struct icicle {
  int32_t depths, rows;
  double flops[MOST_ROWS], all; /* of a row, of all */
} icicle;

static int32_t row_of(const icicle *at, int32_t depth) {
  return (int32_t)((int64_t)depth * at->rows / at->depths);
}

static icicle measure_icicle(const eb_tree_bar *bars, int32_t count) {
  icicle out = {.depths = 1};
  for (int32_t s = 0; s < count; s++)
    if (bars[s].depth >= out.depths) out.depths = bars[s].depth + 1;
  out.rows = out.depths < MOST_ROWS ? out.depths : MOST_ROWS;
  for (int32_t s = 0; s < count; s++) {
    out.flops[row_of(&out, bars[s].depth)] += bars[s].flops;
    out.all += bars[s].flops;
  }
  return out;
}

/* Top and bottom of a row, in depths. */
static void put_row(const icicle *at, int32_t row, eb_plot *plot) {
  double height = (double)at->depths / at->rows;
  eb_plot_put(plot, "%.6g %.6g", row * height, (row + 0.9) * height);
}

/* A line a bar: top, bottom, left, right, decimal logarithm of its flops; bars that are wide enough
 * stand a little apart. Then a line a row: top, bottom, share of all flops, %. */
static void put_icicle(const icicle *at, const eb_tree_bar *bars, int32_t count, double pixel,
                       eb_plot *plot) {
  for (int32_t i = 0; i < count; i++) {
    double gap = bars[i].hi - bars[i].lo > 4 * pixel ? 0.7 * pixel : 0;
    put_row(at, row_of(at, bars[i].depth), plot);
    eb_plot_put(plot, " %.9g %.9g %.4f\n", bars[i].lo + gap, bars[i].hi - gap,
                log10(fmax(1, bars[i].flops)));
  }
  eb_plot_put(plot, "\n\n");
  for (int32_t r = 0; r < at->rows; r++) {
    put_row(at, r, plot);
    eb_plot_put(plot, " %.5g\n", at->all > 0 ? 100 * at->flops[r] / at->all : 0);
  }
  plot->series = at->depths;
}

eb_error eb_plots_tree(const eb_tree_log *tree, const char *name, eb_plotter *plotter,
                       const char *base) {
  EB_FREED eb_tree_bar *bars = NULL;
  eb_plot plot = {0};
  char title[600];
  double nodes;
  EB_TRY(EB_NEW(bars, tree->count));
  EB_TRY(eb_tree_layout(tree, bars, &nodes));
  icicle at = measure_icicle(bars, tree->count);
  int32_t left = eb_tree_merge(bars, tree->count, nodes / PIXELS);
  snprintf(title, sizeof title, "%s\n%d supernodes of %.0f nodes, %d deep, %.3g Gflop", name,
           tree->count, nodes, at.depths, 1e-9 * at.all);
  put_icicle(&at, bars, left, nodes / PIXELS, &plot);
  return eb_plot_draw(plotter, base, "tree", title, &plot, NULL);
}
