/* Grids: every value of an option, or of several the product, as cases of their own, which are made
 * one at a time: a plan of a million takes no more room than one of ten.
 *
 * A point of the grid - a value of each axis - is a group: its solvers, thread counts apart, and
 * repetitions take turns and are in one shard. Points go round the shards. */
#ifndef EB_SUITE_PRODUCT_H
#define EB_SUITE_PRODUCT_H

#include "harness/case/case.h"
#include "harness/suite/axis.h"

/* One scene. Start from {0}; the axes are those of the ties, which outlive planning only: they are
 * copied. */
typedef struct eb_product {
  char *label;
  eb_case *solvers; /* a case each, without the axes */
  const eb_plugin **plugins;
  int solver_count;
  eb_axis *axes; /* the last one runs fastest */
  int axis_count;
  int thread_counts, threads[8];
  int repeat;
  int64_t points, groups, count; /* count: cases of all shards */
  int64_t order;                 /* of the first case */
  int group;                     /* of the first point */
  int shard, shards;             /* 1 of 1: all of it */
} eb_product;

/* Copies the axes, counts, and tries the first and the last value of each: EB_ERR_USAGE for what
 * neither solver nor scene has or takes, and for more than 10^9 cases. */
EB_MUST eb_error eb_product_open(eb_product *grid, const eb_axis *axes, int count);
/* Cases of the grid's shard, and the i-th of these; the caller clears *out. */
int64_t eb_product_count(const eb_product *grid);
EB_MUST eb_error eb_product_case(const eb_product *grid, int64_t i, eb_case *out);
/* Appends what makes it this grid and no other, shards apart. */
EB_MUST eb_error eb_product_identity(const eb_product *grid, eb_text *out);
void eb_product_clear(eb_product *grid);

#endif
