/* The elimination tree of supernodes, drawn as an icicle: a bar a supernode, over the bars of its
 * children. */
#ifndef EB_REPORT_TREE_H
#define EB_REPORT_TREE_H

#include "harness/report/model.h"

/* Where a supernode is drawn. Bars are as wide as their subtrees have nodes; so children lie side
 * by side below their parent, and what they leave free of its width are its own pivots. */
typedef struct eb_tree_bar {
  int32_t depth; /* 0 at roots */
  double lo, hi; /* nodes: the subtree is eliminated from lo to hi, its supernode last */
  double flops;
} eb_tree_bar;

/* Fills bars (tree->count); *nodes is the width of all. Children precede their parents, as
 * eb_results_tree has checked. */
EB_MUST eb_error eb_tree_layout(const eb_tree_log *tree, eb_tree_bar *bars, double *nodes);

/* Sorts bars by depth and place and makes one bar, with the most flops of them, of neighbours that
 * are narrower than `least` and nearer than that; returns how many are left. */
int32_t eb_tree_merge(eb_tree_bar *bars, int32_t count, double least);

/* Draws DIR/BASE.{dat,gp,svg}. */
EB_MUST eb_error eb_plots_tree(const eb_tree_log *tree, const char *name, const char *dir,
                               const char *base);

/* Whether two trees are the same, so that one picture does for both. */
bool eb_tree_equal(const eb_tree_log *a, const eb_tree_log *b);

#endif
