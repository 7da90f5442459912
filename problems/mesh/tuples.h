/* Index tuples (edges, faces, elements) in lexicographic order, in linear time. */
#ifndef EB_MESH_TUPLES_H
#define EB_MESH_TUPLES_H

#include <stdint.h>

#include "problems/base/error.h"

enum { EB_TUPLE_WIDTH = 8 }; /* the widest tuple: a hexahedron */

/* Sorts the entries of one tuple, ascending. */
void eb_tuple_sort(int32_t *tuple, int32_t width);
/* < 0, 0 or > 0 as a stands before, equals or stands behind b. */
int eb_tuple_compare(const int32_t *a, const int32_t *b, int32_t width);

/* The order in which `count` tuples of `width` entries in 0 .. bound - 1 ascend; equal tuples keep
 * their order. One counting sort a column, O(width (count + bound)). The caller frees *order. */
EB_MUST eb_error eb_tuples_order(const int32_t *tuples, int32_t width, int32_t count, int32_t bound,
                                 int32_t **order);

#endif
