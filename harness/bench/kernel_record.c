#include "harness/bench/kernel_record.h"

#include <math.h>

#include "harness/history/history_record.h"
#include "harness/results/sample.h"

/* The distance of the quartiles of a run's seconds over their median. */
static double spread_of(const eb_bench_result *r) {
  double seconds[EB_BENCH_ROUNDS];
  size_t count = (size_t)r->rounds;
  for (size_t k = 0; k < count; k++) seconds[k] = r->round[k].seconds;
  double median = eb_sample_median(seconds, count); /* sorts */
  return (seconds[3 * (count - 1) / 4] - seconds[(count - 1) / 4]) / median;
}

static eb_error put_result(const eb_bench_result *r, eb_history_record *record) {
  eb_bench_unit unit = eb_bench_figure_unit(r->of);
  const eb_history_figure figure = {.name = (char *)(uintptr_t)r->of->name,
                                    .unit = unit.text,
                                    .class = (char *)(uintptr_t) "",
                                    .more = eb_bench_more_is_better(r->of),
                                    .value = r->median,
                                    .relative = r->relative,
                                    .spread = spread_of(r),
                                    .samples = r->rounds};
  record->dgemm = fmax(record->dgemm, r->dgemm);
  record->triad = fmax(record->triad, r->triad);
  return eb_history_record_put(record, &figure);
}

eb_error eb_bench_record(const char *folder, const eb_host *host, const eb_bench_result *results,
                         size_t count, char **path) {
  eb_history_record record;
  *path = NULL;
  eb_error error = eb_history_record_begin(host, &record);
  for (size_t k = 0; k < count && !error; k++) error = put_result(&results[k], &record);
  if (!error) error = eb_history_record_store(folder, &record, path);
  eb_history_record_clear(&record);
  return error;
}
