/* Words: copies of texts, their parts and lines, lists that grow, entries found by their name, and
 * variables that words take the place of. */
#ifndef EB_NOTATION_WORDS_H
#define EB_NOTATION_WORDS_H

#include <stdbool.h>

#include "problems/base/strings.h"
#include "problems/base/text.h"

/* A copy of a text, or of its first bytes. The caller frees *out. */
EB_MUST eb_error eb_copy(const char *text, char **out);
EB_MUST eb_error eb_copy_part(const char *text, size_t length, char **out);

/* The index of the entry of that name, or -1. Entries are of `size` bytes, and the first member of
 * each is its name, a char pointer. */
int eb_find(const void *items, int count, size_t size, const char *name, size_t length);
int eb_word_find(const eb_strings *list, const char *word, size_t length);

/* Takes the next part of "A | B | C" off a text, without the blanks around it; *rest is NULL
 * behind the last. */
EB_MUST eb_error eb_part_next(const char **rest, char **out);
/* Appends the words of a text, which stand between any of `separators`. */
EB_MUST eb_error eb_words(const char *text, const char *separators, eb_strings *out);

/* The lines of a text in turn, which is *rest at first (NULL after the last). */
const char *eb_line_next(const char **rest, size_t *length);

/* What a variable stands for, inside a loop or a table; the innermost first. */
typedef struct eb_scope {
  const char *variable, *word;
  const struct eb_scope *outer;
} eb_scope;
/* Where a variable is bound, or NULL. */
const eb_scope *eb_scope_find(const eb_scope *scope, const char *variable, size_t length);
/* Appends the first bytes of a text with {VARIABLE} replaced by its word. Braces around what is no
 * variable stay, or are EB_ERR_FORMAT when `strict`. */
EB_MUST eb_error eb_scope_put(const eb_scope *scope, const char *text, size_t length, bool strict,
                              eb_text *out);

#endif
