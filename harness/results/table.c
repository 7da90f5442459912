#include "harness/results/table.h"

#include <stdio.h>
#include <string.h>

#include "problems/base/memory.h"

eb_error eb_table_open(hid_t group, const char *name, hid_t stored, hid_t memory, eb_h5_shape row,
                       hsize_t rows_per_chunk, const char *unit, eb_table *table) {
  snprintf(table->name, sizeof table->name, "%s", name);
  table->memory = memory;
  table->width = H5Tget_size(memory);
  for (int i = 0; i < row.rank; i++) table->width *= (size_t)row.size[i];
  return eb_h5_growing(group, name, stored, row, rows_per_chunk, unit, &table->set);
}

eb_error eb_table_add(eb_table *table, const void *rows, size_t count) {
  if (count == 0) return EB_OK;
  if (table->rows + count > table->capacity) {
    size_t needed = table->rows + count;
    size_t capacity = needed > 2 * table->capacity ? needed : 2 * table->capacity;
    char *grown = eb_recalloc(table->data, table->rows, capacity, table->width);
    if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep %zu rows of %s", capacity, table->name);
    table->data = grown;
    table->capacity = capacity;
  }
  char *to = table->data + table->rows * table->width;
  if (rows)
    memcpy(to, rows, count * table->width);
  else
    memset(to, 0, count * table->width);
  table->rows += count;
  return EB_OK;
}

eb_error eb_table_commit(eb_table *table) {
  EB_TRY(eb_h5_append(table->set, table->name, table->memory, table->rows, table->data));
  table->rows = 0;
  return EB_OK;
}

void eb_table_close(eb_table *table) {
  if (table->set >= 0) H5Dclose(table->set);
  table->set = -1;
}
