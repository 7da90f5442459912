/* Locals that are released where their block ends, on every path out of it, the last declared
 * first: the compiler's cleanup attribute. They have a value where they are declared; what a
 * function hands on it takes out of them before.
 *
 *   EB_FREED double *x = NULL;                   // free(x)
 *   EB_OWNED(eb_text_clear) eb_text page = {0};  // eb_text_clear(&page)
 *   EB_TRY(EB_NEW(x, count));                    // and nothing leaks */
#ifndef EB_BASE_OWNED_H
#define EB_BASE_OWNED_H

#include <stdlib.h>
#include <string.h>

#define EB_OWNED(release) __attribute__((cleanup(release)))
#define EB_FREED          EB_OWNED(eb_owned_free)

/* Of the address of a pointer of any type. */
static inline void eb_owned_free(void *pointer) {
  void *memory;
  memcpy(&memory, pointer, sizeof memory);
  free(memory);
}

#endif
