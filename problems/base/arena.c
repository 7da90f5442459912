#include "problems/base/arena.h"

#include <string.h>

#include "problems/base/memory.h"

struct eb_arena_block {
  struct eb_arena_block *before;
  void *data;
};

eb_error eb_arena_take(eb_arena *arena, void *pointer, size_t count, size_t size,
                       const char *name) {
  struct eb_arena_block *block = eb_calloc(1, sizeof *block);
  void *data = block ? eb_calloc(count, size) : NULL;
  memcpy(pointer, &data, sizeof data);
  if (!data) {
    free(block);
    return EB_ERROR(EB_ERR_MEMORY,
                    "cannot allocate %zu entries of %zu bytes for '%s'; use a smaller scene or "
                    "raise the memory limit",
                    count, size, name);
  }
  *block = (struct eb_arena_block){arena->last, data};
  arena->last = block;
  return EB_OK;
}

void eb_arena_clear(eb_arena *arena) {
  while (arena->last) {
    struct eb_arena_block *block = arena->last;
    arena->last = block->before;
    free(block->data);
    free(block);
  }
}
