/* Allocation: zeroed, 64-byte aligned, overflow-checked. Release with free(). */
#ifndef EB_BASE_MEMORY_H
#define EB_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "problems/base/error.h"

/* Returns count * size zeroed bytes aligned to 64 bytes, or NULL when that overflows or is not to
 * be had. A count of zero gives a valid pointer. */
void *eb_calloc(size_t count, size_t size);

/* Grows or shrinks an array to `count` entries of `size` bytes, keeping min(old, count) entries and
 * zeroing the rest. Returns NULL on failure; `old` is then untouched. */
void *eb_recalloc(void *old, size_t old_count, size_t count, size_t size);

/* EB_TRY(EB_APPEND(array, count)): one entry more, of zeros, at array[count - 1]. The array's room
 * doubles when it is full, which it is at every power of two: so whoever fills an array in no other
 * way keeps no capacity. `count` is an integer of 4 or 8 bytes; a failure changes nothing. */
#define EB_APPEND(array, count)                                                                    \
  eb_append(&(array), &(count), sizeof(count), sizeof *(array), #array)
EB_MUST eb_error eb_append(void *array, void *count, size_t count_bytes, size_t size,
                           const char *name);

/* Bytes that this process may still take: what the machine says it can give without swapping, and
 * no more than RLIMIT_RSS leaves, which `run --memory` sets (the kernel itself ignores it).
 * INT64_MAX when nobody says. Whoever is about to take much asks before. */
int64_t eb_available_memory(void);

/* EB_ERR_MEMORY when `bytes` are more than that; `what` needs them, `advice` tells what to do ("use
 * linear=cg"). */
EB_MUST eb_error eb_memory_require(double bytes, const char *what, const char *advice);

/* EB_TRY(EB_NEW(pointer, count)): allocates pointer[count]. */
#define EB_NEW(pointer, count)                                                                     \
  (((pointer) = eb_calloc((size_t)(count), sizeof *(pointer)))                                     \
       ? EB_OK                                                                                     \
       : EB_ERROR(EB_ERR_MEMORY,                                                                   \
                  "cannot allocate %zu entries of %zu bytes for '%s'; use a smaller scene or "     \
                  "raise the memory limit",                                                        \
                  (size_t)(count), sizeof *(pointer), #pointer))

#endif
