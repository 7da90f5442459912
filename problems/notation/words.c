#include "problems/notation/words.h"

#include <string.h>

#include "problems/base/memory.h"

eb_error eb_copy_part(const char *text, size_t length, char **out) {
  *out = strndup(text, length);
  return *out ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot keep a text of %zu bytes", length);
}

eb_error eb_copy(const char *text, char **out) {
  return eb_copy_part(text, strlen(text), out);
}

int eb_find(const void *items, int count, size_t size, const char *name, size_t length) {
  for (int i = 0; i < count; i++) {
    const char *own;
    memcpy(&own, (const char *)items + (size_t)i * size, sizeof own);
    if (strncmp(own, name, length) == 0 && !own[length]) return i;
  }
  return -1;
}

int eb_word_find(const eb_strings *list, const char *word, size_t length) {
  return eb_find(list->items, list->count, sizeof *list->items, word, length);
}

eb_error eb_part_next(const char **rest, char **out) {
  static const char bar[] = " | ";
  const char *from = *rest + strspn(*rest, " "), *end = strstr(from, bar);
  size_t length = end ? (size_t)(end - from) : strlen(from);
  *rest = end ? end + strlen(bar) : NULL;
  while (length > 0 && strchr(" \t\r", from[length - 1])) length--;
  return eb_copy_part(from, length, out);
}

eb_error eb_words(const char *text, const char *separators, eb_strings *out) {
  while (*(text += strspn(text, separators))) {
    size_t length = strcspn(text, separators);
    EB_TRY(eb_strings_add_part(out, text, length));
    text += length;
  }
  return EB_OK;
}

const char *eb_line_next(const char **rest, size_t *length) {
  const char *line = *rest;
  if (!line || !*line) return NULL;
  *length = strcspn(line, "\n");
  *rest = line + *length + (line[*length] == '\n');
  return line;
}

const eb_scope *eb_scope_find(const eb_scope *scope, const char *variable, size_t length) {
  for (; scope; scope = scope->outer)
    if (strncmp(scope->variable, variable, length) == 0 && !scope->variable[length]) break;
  return scope;
}

eb_error eb_scope_put(const eb_scope *scope, const char *text, size_t length, bool strict,
                      eb_text *out) {
  const char *end = text + length;
  while (text < end) {
    const char *brace = memchr(text, '{', (size_t)(end - text));
    EB_TRY(eb_text_append(out, text, (size_t)((brace ? brace : end) - text)));
    if (!brace) break;
    const char *close = memchr(brace, '}', (size_t)(end - brace));
    const eb_scope *found =
        close ? eb_scope_find(scope, brace + 1, (size_t)(close - brace - 1)) : NULL;
    if (!found && strict) return EB_ERROR(EB_ERR_FORMAT, "'%s': there is no such variable", brace);
    EB_TRY(eb_text_append(out, found ? found->word : "{", found ? strlen(found->word) : 1));
    text = found ? close + 1 : brace + 1;
  }
  return eb_text_append(out, "", 0);
}
