/* Allocations that end together: what an object or a computation works in, released by one call
 * instead of one for each. */
#ifndef EB_BASE_ARENA_H
#define EB_BASE_ARENA_H

#include <stddef.h>

#include "problems/base/error.h"

/* Starts as {0}, to be emptied by eb_arena_clear. */
typedef struct eb_arena {
  struct eb_arena_block *last;
} eb_arena;

/* Sets *pointer, a pointer to the caller's pointer, to `count` zeroed entries of `size` bytes,
 * aligned to 64 bytes, that the arena owns; EB_ERR_MEMORY calls them `name`. */
EB_MUST eb_error eb_arena_take(eb_arena *arena, void *pointer, size_t count, size_t size,
                               const char *name);
/* Frees all of it; the arena is as new. */
void eb_arena_clear(eb_arena *arena);

/* EB_TRY(EB_TAKE(arena, pointer, count)): EB_NEW (memory.h) from an arena. */
#define EB_TAKE(arena, pointer, count)                                                             \
  eb_arena_take((arena), &(pointer), (size_t)(count), sizeof *(pointer), #pointer)

#endif
