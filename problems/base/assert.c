#include "problems/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void eb_assert_fail(const char *condition, const char *file, int line, const char *function) {
  fprintf(stderr, "elastobench: %s:%d: %s: an invariant is broken: %s\n", file, line, function,
          condition);
  abort();
}
