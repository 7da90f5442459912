#include "problems/base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "problems/base/assert.h"

/* Arrays from LARGE on ask for pages of 2 MiB. A sparse product that streams through 4 KiB ones
 * spends a third of its time on their addresses, and the processor's prefetching ends at each. */
enum { ALIGNMENT = 64, HUGE_PAGE = 1 << 21, LARGE = 2 * HUGE_PAGE };

/* Asked for before the first touch, which is what decides. Where it is not to be had nothing but
 * time is lost. */
static void ask_for_huge_pages(void *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
  madvise(memory, bytes, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)bytes;
#endif
}

void *eb_calloc(size_t count, size_t size) {
  if (size && count > (SIZE_MAX - HUGE_PAGE) / size) return NULL;
  const size_t bytes = count * size;
  const bool large = bytes >= LARGE;
  const size_t alignment = large ? HUGE_PAGE : ALIGNMENT;
  size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (rounded == 0) rounded = ALIGNMENT;
  void *memory = NULL;
  if (posix_memalign(&memory, alignment, rounded)) return NULL;
  if (large) ask_for_huge_pages(memory, rounded);
  memset(memory, 0, rounded);
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

eb_error eb_append(void *array, void *count, size_t count_bytes, size_t size, const char *name) {
  int32_t narrow = 0;
  int64_t used = 0;
  void *old;
  EB_ASSERT(count_bytes == sizeof narrow || count_bytes == sizeof used);
  memcpy(&narrow, count, sizeof narrow);
  memcpy(&used, count, count_bytes);
  if (count_bytes == sizeof narrow) used = narrow;
  EB_ASSERT(used >= 0);
  memcpy(&old, array, sizeof old);
  char *grown = old;
  if ((used & (used - 1)) == 0) {
    size_t room = used > 0 ? 2 * (size_t)used : 1;
    bool fits = count_bytes == sizeof used || used < INT32_MAX / 2;
    grown = fits ? eb_recalloc(old, (size_t)used, room, size) : NULL;
    if (!grown)
      return EB_ERROR(EB_ERR_MEMORY,
                      "cannot keep %zu entries of %zu bytes for '%s'; use a smaller scene or raise "
                      "the memory limit",
                      room, size, name);
    memcpy(array, &grown, sizeof grown);
  }
  memset(grown + size * (size_t)used, 0, size);
  narrow = (int32_t)++used;
  memcpy(count, count_bytes == sizeof narrow ? (void *)&narrow : (void *)&used, count_bytes);
  return EB_OK;
}

/* Bytes of resident memory of this process; 0 when the machine does not say. */
static int64_t resident_memory(void) {
  long long total, resident = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  int got = fscanf(file, "%lld %lld", &total, &resident);
  fclose(file);
  return got == 2 ? (int64_t)resident * sysconf(_SC_PAGESIZE) : 0;
}

static int64_t machine_memory(void) {
  long long kilobytes = -1;
  char line[128];
  FILE *file = fopen("/proc/meminfo", "re");
  if (!file) return INT64_MAX;
  while (kilobytes < 0 && fgets(line, sizeof line, file))
    if (sscanf(line, "MemAvailable: %lld kB", &kilobytes) != 1) kilobytes = -1;
  fclose(file);
  return kilobytes < 0 ? INT64_MAX : 1024 * (int64_t)kilobytes;
}

int64_t eb_available_memory(void) {
  struct rlimit most;
  int64_t machine = machine_memory();
  if (getrlimit(RLIMIT_RSS, &most) || most.rlim_cur > (rlim_t)INT64_MAX) return machine;
  int64_t resident = resident_memory(), limit = (int64_t)most.rlim_cur;
  int64_t left = limit > resident ? limit - resident : 0;
  return machine < left ? machine : left;
}

eb_error eb_memory_require(double bytes, const char *what, const char *advice) {
  const double mega = 1e-6;
  double available = (double)eb_available_memory();
  if (bytes <= available) return EB_OK;
  return EB_ERROR(EB_ERR_MEMORY,
                  "%s needs %.0f MB, where the machine or --memory leaves %.0f MB beside the %.0f "
                  "MB in use; %s",
                  what, mega * bytes, mega * available, mega * (double)resident_memory(), advice);
}
