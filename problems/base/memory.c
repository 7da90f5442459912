#include "problems/base/memory.h"

#include <stdint.h>
#include <stdio.h>
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

int64_t eb_available_memory(void) {
  long long kilobytes = -1;
  char line[128];
  FILE *file = fopen("/proc/meminfo", "r");
  if (!file) return INT64_MAX;
  while (kilobytes < 0 && fgets(line, sizeof line, file))
    if (sscanf(line, "MemAvailable: %lld kB", &kilobytes) != 1) kilobytes = -1;
  fclose(file);
  return kilobytes < 0 ? INT64_MAX : 1024 * (int64_t)kilobytes;
}
