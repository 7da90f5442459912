#include "problems/mesh/tuples.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

void eb_tuple_sort(int32_t *tuple, int32_t width) {
  for (int32_t i = 1; i < width; i++) {
    int32_t value = tuple[i], j = i;
    for (; j > 0 && tuple[j - 1] > value; j--) tuple[j] = tuple[j - 1];
    tuple[j] = value;
  }
}

int eb_tuple_compare(const int32_t *a, const int32_t *b, int32_t width) {
  for (int32_t i = 0; i < width; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

typedef struct workspace {
  int32_t *order, *other; /* count */
  int32_t *start;         /* bound + 1 */
} workspace;

/* One stable counting sort by column `column`: order -> other. */
static void sort_column(const int32_t *tuples, int32_t width, int32_t column, int32_t count,
                        int32_t bound, workspace *w) {
  memset(w->start, 0, ((size_t)bound + 1) * sizeof *w->start);
  for (int32_t i = 0; i < count; i++) w->start[tuples[(size_t)i * width + column] + 1]++;
  for (int32_t v = 0; v < bound; v++) w->start[v + 1] += w->start[v];
  for (int32_t i = 0; i < count; i++) {
    int32_t tuple = w->order[i];
    w->other[w->start[tuples[(size_t)tuple * width + column]]++] = tuple;
  }
}

static eb_error order_tuples(const int32_t *tuples, int32_t width, int32_t count, int32_t bound,
                             workspace *w) {
  EB_TRY(EB_NEW(w->order, count));
  EB_TRY(EB_NEW(w->other, count));
  EB_TRY(EB_NEW(w->start, (size_t)bound + 1));
  for (int32_t i = 0; i < count; i++) w->order[i] = i;
  for (int32_t column = width - 1; column >= 0; column--) {
    sort_column(tuples, width, column, count, bound, w);
    int32_t *swap = w->order;
    w->order = w->other;
    w->other = swap;
  }
  return EB_OK;
}

eb_error eb_tuples_order(const int32_t *tuples, int32_t width, int32_t count, int32_t bound,
                         int32_t **order) {
  workspace w = {0};
  eb_error error = order_tuples(tuples, width, count, bound, &w);
  free(w.other);
  free(w.start);
  if (error) free(w.order);
  *order = error ? NULL : w.order;
  return error;
}
