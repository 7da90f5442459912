/* A dataset that grows by rows, which wait in memory until they are committed. Internal to
 * writing. */
#ifndef EB_RESULTS_TABLE_H
#define EB_RESULTS_TABLE_H

#include "harness/results/h5.h"

typedef struct eb_table {
  char name[64];     /* from its group: "steps/wall" */
  hid_t set, memory; /* set: -1 while it is not open */
  size_t width;      /* bytes of a row */
  size_t rows, capacity;
  char *data; /* the waiting rows; freed by its owner */
} eb_table;

/* Makes the dataset; rows that wait already stay. */
EB_MUST eb_error eb_table_open(hid_t group, const char *name, hid_t stored, hid_t memory,
                               eb_h5_shape row, hsize_t rows_per_chunk, const char *unit,
                               eb_table *table);
/* Rows of zeros when `rows` is NULL. Allocates only to grow. */
EB_MUST eb_error eb_table_add(eb_table *table, const void *rows, size_t count);
EB_MUST eb_error eb_table_commit(eb_table *table);
void eb_table_close(eb_table *table);

#endif
