/* Elimination trees as icicles and curves over a parameter: what is drawn where. */
#include <sys/stat.h>

#include "harness/report/plots.h"
#include "problems/base/memory.h"
#include "tests/support/random.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

/* ---- trees ----------------------------------------------------------------------------------- */

typedef struct forest {
  eb_tree_log tree;
  eb_tree_bar *bars;
  double nodes;
} forest;

/* Random parents at most `reach` later; some are roots. */
static forest grow(int32_t count, int32_t reach, uint64_t seed) {
  forest f = {.tree.count = count};
  random_state random = random_seed(seed);
  tap_require(EB_NEW(f.tree.parent, count), "parents");
  tap_require(EB_NEW(f.tree.pivots, count), "pivots");
  tap_require(EB_NEW(f.tree.rows, count), "rows");
  tap_require(EB_NEW(f.tree.flops, count), "flops");
  tap_require(EB_NEW(f.bars, count), "bars");
  for (int32_t s = 0; s < count; s++) {
    int32_t parent = s + 1 + (int32_t)(random_word(&random) % (uint64_t)reach);
    f.tree.parent[s] = parent < count ? parent : -1;
    f.tree.pivots[s] = f.tree.rows[s] = 1 + (int32_t)(random_word(&random) % 9);
    f.tree.flops[s] = random_uniform(&random, 0, 1e6);
  }
  tap_require(eb_tree_layout(&f.tree, f.bars, &f.nodes), "a layout");
  return f;
}

static void fell(forest *f) {
  eb_results_tree_clear(&f->tree);
  free(f->bars);
}

/* Every bar lies within its parent's, left of the parent's own pivots, one deeper. */
static bool nests(const forest *f) {
  for (int32_t s = 0; s < f->tree.count; s++) {
    const eb_tree_bar *bar = &f->bars[s];
    int32_t parent = f->tree.parent[s];
    if (!(bar->hi - bar->lo >= f->tree.pivots[s]) || bar->lo < 0 || bar->hi > f->nodes)
      return false;
    if (parent < 0 ? bar->depth != 0
                   : bar->depth != f->bars[parent].depth + 1 || bar->lo < f->bars[parent].lo ||
                         bar->hi > f->bars[parent].hi - f->tree.pivots[parent])
      return false;
  }
  return true;
}

static bool disjoint(const eb_tree_bar *bars, int32_t count) {
  for (int32_t i = 1; i < count; i++)
    if (bars[i].depth == bars[i - 1].depth && bars[i].lo < bars[i - 1].hi) return false;
  return true;
}

/* Leaves cover all but the pivots of others: no node is lost or drawn twice at one depth. */
static void test_layout(void) {
  static const int32_t sizes[][2] = {{1, 1}, {2, 1}, {7, 3}, {500, 4}, {2000, 40}, {3000, 1}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    forest f = grow(sizes[i][0], sizes[i][1], i);
    double pivots = 0;
    for (int32_t s = 0; s < f.tree.count; s++) pivots += f.tree.pivots[s];
    tap_ok(f.nodes == pivots, "%d supernodes: as wide as all nodes", f.tree.count);
    tap_ok(nests(&f), "%d supernodes: bars lie below their parents", f.tree.count);
    int32_t left = eb_tree_merge(f.bars, f.tree.count, 0);
    tap_ok(left == f.tree.count && disjoint(f.bars, left),
           "%d supernodes: bars of a depth lie side by side", f.tree.count);
    fell(&f);
  }
}

static void test_merge(void) {
  forest f = grow(20000, 3, 7);
  double largest = 0, least = f.nodes / 500;
  int32_t deepest = 0;
  for (int32_t s = 0; s < f.tree.count; s++) {
    largest = fmax(largest, f.bars[s].flops);
    deepest = f.bars[s].depth > deepest ? f.bars[s].depth : deepest;
  }
  int32_t left = eb_tree_merge(f.bars, f.tree.count, least);
  tap_ok(disjoint(f.bars, left), "merged bars do not overlap");
  /* Of two neighbours at least one, or the gap between them, is wider than `least`. */
  tap_ok(left <= 2 * 500 * (deepest + 1), "as many are left as can be told apart (%d)", left);
  double kept = 0, widest_merged = 0;
  for (int32_t i = 0; i < left; i++) kept = fmax(kept, f.bars[i].flops);
  for (int32_t i = 0; i < left; i++)
    if (f.bars[i].hi - f.bars[i].lo < least)
      widest_merged = fmax(widest_merged, f.bars[i].hi - f.bars[i].lo);
  tap_ok(kept == largest, "the front with the most flops is among them");
  fell(&f);
}

static void test_equal(void) {
  forest a = grow(50, 3, 1), b = grow(50, 3, 1), c = grow(49, 3, 1);
  tap_ok(eb_tree_equal(&a.tree, &b.tree), "equal trees are equal");
  tap_ok(!eb_tree_equal(&a.tree, &c.tree), "one of another size is not");
  b.tree.flops[49] += 1;
  tap_ok(!eb_tree_equal(&a.tree, &b.tree), "nor one with other flops");
  fell(&a);
  fell(&b);
  fell(&c);
}

static bool is_there(const char *name) {
  struct stat info;
  return stat(in_folder(name), &info) == 0 && info.st_size > 0;
}

/* 30 000 supernodes, a chain of 3 000, and one alone: a picture of a size that a browser shows. */
static void test_drawing(void) {
  static const struct {
    int32_t count, reach;
    const char *base;
  } trees[] = {{30000, 2000, "wide"}, {3000, 1, "chain"}, {1, 1, "single"}};
  for (int i = 0; i < 3; i++) {
    char name[64];
    struct stat info = {0};
    forest f = grow(trees[i].count, trees[i].reach, (uint64_t)i);
    eb_plotter plotter = {.dir = folder};
    eb_error error =
        eb_plots_tree(&f.tree, "a \"scene's\" `touch trap`, \\solver", &plotter, trees[i].base);
    tap_succeeds(eb_plotter_finish(&plotter, error), trees[i].base);
    snprintf(name, sizeof name, "%s.svg", trees[i].base);
    int missing = stat(in_folder(name), &info);
    tap_ok(!missing && info.st_size > 1000 && info.st_size < 4000000, "%s: %lld bytes", name,
           (long long)info.st_size);
    fell(&f);
  }
  tap_ok(!is_there("trap"), "a title is text, not a command");
}

/* ---- curves ---------------------------------------------------------------------------------- */

static int points_in(const char *name) {
  FILE *file = fopen(in_folder(name), "r");
  char line[256];
  int count = 0;
  double x, y;
  while (file && fgets(line, sizeof line, file)) count += sscanf(line, "%lf %lf", &x, &y) == 2;
  if (file) fclose(file);
  return count;
}

static eb_error draw_error_tau(const char *base, const eb_curve *curves, int count, bool *drawn) {
  eb_plotter plotter = {.dir = folder};
  return eb_plotter_finish(&plotter,
                           eb_plots_curves(&plotter, base, "error-tau", "a scene", NULL, NULL,
                                           EB_LOG_X | EB_LOG_Y, curves, count, drawn));
}

static eb_error draw_time_budget(const char *dir, const eb_curve *curves, int count, bool *drawn) {
  eb_plotter plotter = {.dir = dir};
  return eb_plotter_finish(&plotter, eb_plots_curves(&plotter, "time", "time-budget", "a scene",
                                                     NULL, NULL, 0, curves, count, drawn));
}

static void test_curves(void) {
  static const double tau[] = {0, 1e-4, 1e-3, 1e-2, NAN}, error[] = {1e-12, 1e-6, 1e-5, 1e-3, 1},
                      budget[] = {0, 33, 66, 100}, time[] = {50, 65, 72, 87};
  const eb_curve errors[] = {{"a \"label\" \\ of many", 5, tau, error}, {"none", 0, NULL, NULL}};
  const eb_curve times[] = {{"mean", 4, budget, time}, {"most", 4, budget, time}};
  bool drawn;
  tap_succeeds(draw_error_tau("error", errors, 2, &drawn), "error, tau");
  tap_ok(drawn && is_there("error.svg") && is_there("error.gp"), "is drawn with its script");
  tap_ok(points_in("error.dat") == 3, "without what a logarithmic axis cannot show");
  tap_succeeds(draw_time_budget(folder, times, 2, &drawn), "time, budget");
  tap_ok(drawn && is_there("time.svg") && points_in("time.dat") == 8, "has all points of both");
  tap_succeeds(draw_error_tau("none", errors + 1, 1, &drawn), "no points");
  tap_ok(!drawn && !is_there("none.dat"), "draw nothing");
  tap_fails(draw_time_budget("/nowhere", times, 1, &drawn), EB_ERR_IO, "/nowhere",
            "a folder that is not there");
}

/* ---- many plots at once ---------------------------------------------------------------------- */

/* Each plot starts as gnuplot does: those of one process come out as if they were alone. */
static void test_together(void) {
  static const double x[] = {1, 2, 3}, y[] = {1, 100, 10000};
  const eb_curve curve = {"a curve", 3, x, y};
  eb_plotter alone = {.dir = folder}, together = {.dir = folder};
  eb_error error = EB_OK;
  bool drawn, equal = true;
  tap_require(eb_plotter_finish(&alone, eb_plots_curves(&alone, "alone", "curves", "title", "x",
                                                        "y", 0, &curve, 1, &drawn)),
              "a plot alone");
  for (int i = 0; i < 40 && !error; i++) {
    char base[16];
    snprintf(base, sizeof base, "plot-%d", i);
    error = eb_plots_curves(&together, base, "curves", "title", "x", "y",
                            i % 2 ? EB_LOG_X | EB_LOG_Y : 0, &curve, 1, &drawn);
  }
  tap_succeeds(eb_plotter_finish(&together, error), "40 plots, every other one logarithmic");
  eb_text first = {0};
  tap_require(eb_text_read(in_folder("alone.svg"), "a plot", &first), "what it looks like");
  for (int i = 0; i < 40; i += 2) {
    char name[16];
    eb_text text = {0};
    snprintf(name, sizeof name, "plot-%d.svg", i);
    tap_require(eb_text_read(in_folder(name), "a plot", &text), name);
    equal = equal && strcmp(text.data, first.data) == 0;
    eb_text_clear(&text);
  }
  eb_text_clear(&first);
  tap_ok(equal, "those that are not look like one that was drawn alone");
}

/* A script that fails stops its process, and what gnuplot says of it comes back. */
static void test_failure(void) {
  eb_plotter plotter = {.dir = folder};
  static const char script[] = "plot nothing_of_that_name\n";
  tap_require(eb_file_write(in_folder("wrong.gp"), script, sizeof script - 1), "a script");
  tap_require(eb_strings_add(&plotter.scripts, "wrong.gp"), "waits");
  tap_fails(eb_plotter_finish(&plotter, EB_OK), EB_ERR_LIBRARY, "nothing_of_that_name",
            "a script that fails");
  tap_fails(eb_plotter_finish(&plotter, EB_ERROR(EB_ERR_IO, "before")), EB_ERR_IO, "before",
            "an error from before comes back");
}

/* ---- maps ------------------------------------------------------------------------------------ */

static eb_error draw_map(const char *base, bool logarithmic, const eb_map_cell *cells, int count,
                         bool *drawn) {
  eb_plotter plotter = {.dir = folder};
  return eb_plotter_finish(&plotter,
                           eb_plots_map(&plotter, base, "a \"map\"", "modes", "points",
                                        "gradient (N)", logarithmic, cells, count, drawn));
}

static void test_map(void) {
  static const eb_map_cell cells[] = {{16, 400, 3e-3}, {2, 20, 5e4}, {2, 400, 1e2},
                                      {16, 20, 7e2},   {4, 20, 1e4}, {4, 400, 20},
                                      {4, 80, NAN},    {16, 80, -1}, {2, 80, 0}};
  static const eb_map_cell one[] = {{1, 1, 5}}, none[] = {{1, 1, NAN}};
  char path[4200];
  eb_text text = {0};
  bool drawn;
  tap_succeeds(draw_map("map", true, cells, 9, &drawn), "a map with gaps is drawn");
  snprintf(path, sizeof path, "%s/map.dat", folder);
  tap_require(eb_text_read(path, "data", &text), "its data");
  tap_ok(drawn && strcmp(text.data, "2 1 0.003 \"0.003\" 16777215\n0 0 50000 \"5e+04\" 1120295\n"
                                    "0 1 100 \"100\" 1120295\n2 0 700 \"700\" 1120295\n"
                                    "1 0 10000 \"1e+04\" 1120295\n1 1 20 \"20\" 16777215\n") == 0,
         "cells lie in columns and rows by rising numbers; what colours cannot show is left out");
  eb_text_clear(&text);
  tap_succeeds(draw_map("one", false, one, 1, &drawn), "a map of one cell is drawn");
  tap_succeeds(draw_map("one", true, one, 1, &drawn), "with logarithmic colours, too");
  tap_succeeds(draw_map("none", false, none, 1, &drawn), "no cell");
  tap_ok(!drawn, "a map without cells is none");
}

int main(void) {
  scratch_open();
  test_layout();
  test_merge();
  test_equal();
  test_drawing();
  test_curves();
  test_map();
  test_together();
  test_failure();
  return scratch_close();
}
