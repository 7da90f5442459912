/* The product of the values of options, case by case from its number. */
#include "harness/suite/product.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/strings.h"
#include "problems/base/memory.h"

/* ---- cases ----------------------------------------------------------------------------------- */

/* The case of a solver at a point. */
static eb_error make_case(const eb_product *grid, int solver, int64_t point, eb_case *out) {
  EB_TRY(eb_case_copy(&grid->solvers[solver], out));
  eb_error error = EB_OK;
  int64_t rest = grid->points;
  for (int a = 0; a < grid->axis_count && !error; a++) {
    rest /= grid->axes[a].count;
    error = eb_axis_assign(&grid->axes[a], point / rest, out);
    point %= rest;
  }
  return error;
}

static eb_error finish_case(const eb_product *grid, int solver, eb_error error, eb_case *out) {
  if (!error) error = eb_case_resolve(out, grid->plugins[solver]);
  if (error) eb_case_clear(out);
  return error;
}

/* Groups of the shard: those of the numbers first, first + shards .. */
static int64_t first_group(const eb_product *grid) {
  int64_t way = (grid->shard - 1 - grid->group) % grid->shards;
  return way < 0 ? way + grid->shards : way;
}

int64_t eb_product_count(const eb_product *grid) {
  int64_t first = first_group(grid);
  int64_t groups = first < grid->groups ? (grid->groups - 1 - first) / grid->shards + 1 : 0;
  return groups * grid->repeat * grid->solver_count;
}

eb_error eb_product_case(const eb_product *grid, int64_t i, eb_case *out) {
  int64_t size = (int64_t)grid->repeat * grid->solver_count;
  int64_t group = first_group(grid) + i / size * grid->shards, place = i % size;
  int solver = (int)(place % grid->solver_count);
  eb_error error = make_case(grid, solver, group / grid->thread_counts, out);
  out->threads = grid->threads[group % grid->thread_counts];
  out->repetition = (int)(place / grid->solver_count);
  out->group = grid->group + (int)group;
  out->order = grid->order + group * size + place;
  return finish_case(grid, solver, error, out);
}

/* ---- the grid -------------------------------------------------------------------------------- */

/* Points in which one axis has its first or last value and the others their first: what a solver
 * or scene does not take is found before anything runs. */
static eb_error try_ends(const eb_product *grid) {
  int64_t stride = 1;
  for (int a = grid->axis_count - 1; a >= 0; a--) {
    for (int s = 0; s < grid->solver_count; s++)
      for (int end = 0; end < 2; end++) {
        eb_case trial;
        eb_error error = make_case(grid, s, end ? (grid->axes[a].count - 1) * stride : 0, &trial);
        EB_TRY(eb_error_prefix(finish_case(grid, s, error, &trial), "sweep"));
        eb_case_clear(&trial);
      }
    stride *= grid->axes[a].count;
  }
  return EB_OK;
}

eb_error eb_product_open(eb_product *grid, const eb_axis *axes, int count) {
  static const double most = 1e9;
  double cases = (double)grid->thread_counts * grid->repeat * grid->solver_count;
  EB_TRY(EB_NEW(grid->axes, count));
  for (int a = 0; a < count; a++) {
    grid->axis_count++;
    EB_TRY(eb_axis_copy(&axes[a], &grid->axes[a]));
    for (int i = 0; i < a; i++)
      if (strcmp(axes[i].option, axes[a].option) == 0)
        return EB_ERROR(EB_ERR_USAGE, "sweep: there are two of '%s'", axes[i].option);
    cases *= (double)axes[a].count;
  }
  if (cases > most)
    return EB_ERROR(EB_ERR_USAGE, "sweep: %.3g cases are more than %.0g", cases, most);
  grid->points = 1;
  for (int a = 0; a < count; a++) grid->points *= axes[a].count;
  grid->groups = grid->points * grid->thread_counts;
  grid->count = grid->groups * grid->repeat * grid->solver_count;
  grid->shard = grid->shards = 1;
  return try_ends(grid);
}

eb_error eb_product_identity(const eb_product *grid, eb_text *out) {
  for (int s = 0; s < grid->solver_count; s++)
    EB_TRY(eb_text_printf(out, "%s\n", grid->solvers[s].identity));
  for (int a = 0; a < grid->axis_count; a++) {
    EB_TRY(eb_axis_describe(&grid->axes[a], out));
    EB_TRY(eb_text_printf(out, "\n"));
  }
  for (int t = 0; t < grid->thread_counts; t++)
    EB_TRY(eb_text_printf(out, "%d ", grid->threads[t]));
  return eb_text_printf(out, "x %d\n", grid->repeat);
}

void eb_product_clear(eb_product *grid) {
  for (int s = 0; s < grid->solver_count; s++) eb_case_clear(&grid->solvers[s]);
  for (int a = 0; grid->axes && a < grid->axis_count; a++) eb_axis_clear(&grid->axes[a]);
  free(grid->solvers);
  free(grid->plugins);
  free(grid->axes);
  free(grid->label);
  *grid = (eb_product){0};
}
