/* Small text helpers: bounded joining, unknown words, printf into a growing buffer. */
#ifndef EB_BASE_TEXT_H
#define EB_BASE_TEXT_H

#include <stddef.h>

#include "problems/base/error.h"

/* Joins words with a separator into out[bytes], cutting with "..." when it does not fit. */
void eb_text_join(char *out, size_t bytes, const char *const *words, size_t count,
                  const char *separator);

/* An error on a word that is none of those that there are: "BEGINNING 'word' (did you mean 'x'?);
 * there are: a, b, c". x is nearest in edit distance, by no more than a third of the longer word,
 * or ends in "/word"; `format` makes the beginning. Never EB_OK. */
eb_error eb_unknown(eb_error_code code, const char *word, const char *const *words, size_t count,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Makes a text fit to leave the program: '?' for each byte of controls (but \t and \n), of format
 * characters that reorder or hide text, and of what is no UTF-8. Its length stays: it cannot fail.
 */
void eb_text_clean(char *text);

/* A growing string. Start from {0}; release with eb_text_clear. `data` is always 0-terminated once
 * something was appended. */
typedef struct eb_text {
  char *data;
  size_t length, capacity;
} eb_text;

EB_MUST eb_error eb_text_printf(eb_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
EB_MUST eb_error eb_text_append(eb_text *text, const char *bytes, size_t count);
void eb_text_clear(eb_text *text);

#endif
