/* Arrays of structs as datasets: one a quantity, one row an item. Internal to harness/results. */
#ifndef EB_RESULTS_QUANTITY_H
#define EB_RESULTS_QUANTITY_H

#include "harness/results/h5.h"

/* A double, or `columns` of them in a row, in a struct. */
typedef struct eb_quantity {
  const char *name, *unit; /* the list ends with a NULL name */
  size_t offset, columns;
} eb_quantity;

/* Writes a dataset (count, or count x columns) for each quantity of `count` items that are `stride`
 * bytes apart. */
EB_MUST eb_error eb_quantities_put(hid_t group, const eb_quantity *list, const void *items,
                                   size_t stride, size_t count);

/* A 32-bit enumeration that carries its names, from 0 on; the caller closes it with H5Tclose. */
hid_t eb_name_type(const char *const *names, int32_t count);
/* Writes `count` values of such a type. */
EB_MUST eb_error eb_names_put(hid_t group, const char *name, const char *const *names,
                              int32_t name_count, const int32_t *values, size_t count);

#endif
