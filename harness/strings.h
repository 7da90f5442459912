/* A list of owned texts. Start from {0}. */
#ifndef EB_STRINGS_H
#define EB_STRINGS_H

#include <stddef.h>

#include "problems/base/error.h"

typedef struct eb_strings {
  char **items;
  int count, capacity;
} eb_strings;

/* Appends a copy. */
EB_MUST eb_error eb_strings_add(eb_strings *list, const char *text);
/* Appends a copy of the first `length` bytes. */
EB_MUST eb_error eb_strings_add_part(eb_strings *list, const char *text, size_t length);
void eb_strings_clear(eb_strings *list);

#endif
