/* Texts that somebody owns, and lists of them. */
#ifndef EB_STRINGS_H
#define EB_STRINGS_H

#include <stddef.h>

#include "problems/base/error.h"

/* Puts a text in the place of *out, which is freed when the new one is made: it may be among the
 * arguments. */
EB_MUST eb_error eb_string_format(char **out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Start from {0}. */
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
