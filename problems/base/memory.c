#include "problems/base/memory.h"

#include <stdint.h>
#include <string.h>

enum { ALIGNMENT = 64 };

void *eb_calloc(size_t count, size_t size) {
  if (size && count > (SIZE_MAX - ALIGNMENT) / size) return NULL;
  size_t bytes = count * size;
  size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (rounded == 0) rounded = ALIGNMENT;
  void *memory = aligned_alloc(ALIGNMENT, rounded);
  if (memory) memset(memory, 0, rounded);
  return memory;
}

void *eb_recalloc(void *old, size_t old_count, size_t count, size_t size) {
  void *fresh = eb_calloc(count, size);
  if (!fresh) return NULL;
  size_t kept = old_count < count ? old_count : count;
  if (old && kept) memcpy(fresh, old, kept * size);
  free(old);
  return fresh;
}
