/* A fault that plug-ins have in common. */
#ifndef EB_TESTS_EAT_MEMORY_H
#define EB_TESTS_EAT_MEMORY_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Touches what it allocates, 16 MB at a time; when no more is given, it goes on with what it has.
 * clang leaves out what is allocated and never read, were the pointer not volatile. */
static void eat_memory(void) {
  enum { CHUNK = 16 << 20 };
  for (;;) {
    char *volatile chunk = malloc(CHUNK);
    if (chunk)
      memset(chunk, 1, CHUNK);
    else
      usleep(1000);
  }
}

#endif
