/* Datasets of rows: of fixed length, gathered from and spread over an array of structs, and growing
 * ones, whose rows wait in memory until they are committed. Every number of a result file is
 * written and read through the pairs of types below. */
#ifndef EB_RESULTS_TABLE_H
#define EB_RESULTS_TABLE_H

#include "harness/results/h5.h"

/* How a number is stored, and what it is in memory. */
typedef enum eb_number {
  EB_REAL,    /* 64-bit real; double */
  EB_ROUNDED, /* 32-bit real; double */
  EB_WHOLE,   /* 64-bit integer; double */
  EB_LONG,    /* 64-bit integer; int64_t */
  EB_INT,     /* 64-bit integer; int32_t */
  EB_INDEX,   /* 32-bit integer; int32_t */
  EB_SMALL,   /* 8-bit unsigned integer; int32_t */
  EB_BYTE,    /* 8-bit unsigned integer; uint8_t */
  EB_FLAG,    /* 8-bit unsigned integer; bool */
  EB_NAMED    /* a 32-bit enumeration that carries its names; int32_t or an enum */
} eb_number;

/* ---- of fixed length ------------------------------------------------------------------------- */

/* One number. */
EB_MUST eb_error eb_scalar_put(hid_t group, const char *name, const char *unit, double value);
/* rows x columns numbers, a vector where columns is 1; any number but EB_NAMED. */
EB_MUST eb_error eb_rows_put(hid_t group, const char *name, eb_number number, size_t rows,
                             size_t columns, const char *unit, const void *data);
/* Reads such a dataset: `out` is a pointer to the caller's pointer to doubles, int32_t ..., which
 * owns the numbers. *rows < 0 takes what there is, INT32_MAX / 3 at most, else it is to be met.
 * EB_ERR_FORMAT names the whole path; then nothing is to be freed. */
EB_MUST eb_error eb_rows_get(hid_t group, const char *name, eb_number number, size_t columns,
                             void *out, int32_t *rows);

/* A member of a struct, or `columns` of them in a row, as a dataset of one row an item. */
typedef struct eb_quantity {
  const char *name, *unit; /* the list ends with a NULL name */
  eb_number number;
  size_t offset, columns;
  const char *(*name_of)(int value); /* EB_NAMED: from 0 on; NULL behind the last */
} eb_quantity;

/* Doubles, by the name of the member. */
#define EB_REALS(type, member, unit, columns)                                                      \
  { #member, unit, EB_REAL, offsetof(type, member), columns, NULL }

/* Both go through all quantities of items that are `stride` bytes apart. Reading fills `most` items
 * at most, and says how many there are. */
EB_MUST eb_error eb_quantities_put(hid_t group, const eb_quantity *list, const void *items,
                                   size_t stride, size_t count);
EB_MUST eb_error eb_quantities_get(hid_t group, const eb_quantity *list, void *items, size_t stride,
                                   size_t most, int32_t *count);

/* ---- growing --------------------------------------------------------------------------------- */

/* What a dataset is; the name is its path from the group. */
typedef struct eb_dataset {
  const char *name, *unit;
  eb_number number;
  const char *meaning; /* NULL: not told */
} eb_dataset;

typedef struct eb_table {
  char name[64];
  hid_t set, memory; /* set: -1 while it is not open */
  size_t width;      /* bytes of a row */
  size_t rows, capacity;
  char *data; /* the waiting rows */
} eb_table;

/* Makes the dataset; rows that wait already stay. */
EB_MUST eb_error eb_table_open(hid_t group, const eb_dataset *what, eb_h5_shape row,
                               hsize_t rows_per_chunk, eb_table *table);
/* Rows of zeros when `rows` is NULL. Allocates only to grow. */
EB_MUST eb_error eb_table_add(eb_table *table, const void *rows, size_t count);

/* Makes the dataset longer by rows of zeros, which take no room in the file. */
EB_MUST eb_error eb_table_skip(eb_table *table, size_t rows);

/* Of several tables at once: before all else; bytes that wait for a commit; a commit of those that
 * are open; the last of them all, after which nothing is added: short columns move into the
 * headers of their objects, and with `drop_zeros` (columns alone) those of nothing but zeros
 * out of the file; the end, which closes and frees. */
void eb_tables_start(eb_table *tables, int count);
size_t eb_tables_waiting(const eb_table *tables, int count);
EB_MUST eb_error eb_tables_commit(eb_table *tables, int count);
EB_MUST eb_error eb_tables_settle(eb_table *tables, int count, bool drop_zeros);
void eb_tables_clear(eb_table *tables, int count);

#endif
