/* Texts that somebody owns, lists of them, and those of files. */
#ifndef EB_BASE_STRINGS_H
#define EB_BASE_STRINGS_H

#include <stddef.h>

#include "problems/base/strings.h"
#include "problems/base/file.h"
#include "problems/base/text.h"

/* Puts a copy of the text, "" for NULL, in the place of *out, which is freed when that is made. */
EB_MUST eb_error eb_string_set(char **out, const char *text);
/* Puts a text in the place of *out, which is freed when the new one is made: it may be among the
 * arguments. */
EB_MUST eb_error eb_string_format(char **out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Start from {0}. */
typedef struct eb_strings {
  char **items;
  int count;
} eb_strings;

/* Appends a copy. */
EB_MUST eb_error eb_strings_add(eb_strings *list, const char *text);
/* Appends a copy of the first `length` bytes. */
EB_MUST eb_error eb_strings_add_part(eb_strings *list, const char *text, size_t length);
void eb_strings_clear(eb_strings *list);

/* Appends the text of a file, which is `what` in messages: EB_ERR_FORMAT when it is over 1 MB or
 * has bytes of value 0. The caller clears *text also after an error. */
EB_MUST eb_error eb_text_read(const char *path, const char *what, eb_text *text);
/* Writes a file that is to be shown or parsed: the text is made fit for it (eb_text_clean). */
EB_MUST eb_error eb_text_write(const char *path, eb_text *text);
/* Appends the lines of a file of any size, but for empty ones. */
EB_MUST eb_error eb_lines_read(const char *path, const char *what, eb_strings *out);

#endif
