#include "problems/base/strings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

eb_error eb_strings_add_part(eb_strings *list, const char *text, size_t length) {
  char *copy = strndup(text, length);
  if (!copy) return EB_ERROR(EB_ERR_MEMORY, "cannot keep a text of %zu bytes", length);
  eb_error error = EB_APPEND(list->items, list->count);
  if (error)
    free(copy);
  else
    list->items[list->count - 1] = copy;
  return error;
}

eb_error eb_strings_add(eb_strings *list, const char *text) {
  return eb_strings_add_part(list, text, strlen(text));
}

void eb_strings_clear(eb_strings *list) {
  for (int i = 0; i < list->count; i++) free(list->items[i]);
  free(list->items);
  *list = (eb_strings){0};
}

eb_error eb_string_set(char **out, const char *text) {
  if (!text) text = "";
  char *copy = strdup(text);
  if (!copy) return EB_ERROR(EB_ERR_MEMORY, "cannot keep a text of %zu bytes", strlen(text));
  free(*out);
  *out = copy;
  return EB_OK;
}

eb_error eb_string_format(char **out, const char *format, ...) {
  va_list arguments;
  char *text;
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0) return EB_ERROR(EB_ERR_MEMORY, "cannot keep a text '%s'", format);
  free(*out);
  *out = text;
  return EB_OK;
}

static eb_error read_all(FILE *file, const char *path, const char *what, eb_text *text) {
  enum { LARGEST = 1 << 20 };
  char buffer[4096];
  EB_TRY(eb_text_append(text, "", 0));
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, file)) > 0;) {
    EB_TRY(eb_text_append(text, buffer, got));
    if (text->length > LARGEST)
      return EB_ERROR(EB_ERR_FORMAT, "'%s' is over 1 MB: that is no %s", path, what);
  }
  if (ferror(file)) return EB_ERROR(EB_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
  return memchr(text->data, '\0', text->length)
             ? EB_ERROR(EB_ERR_FORMAT, "'%s' is not a text file", path)
             : EB_OK;
}

eb_error eb_text_read(const char *path, const char *what, eb_text *text) {
  FILE *file;
  EB_TRY(eb_file_stream(path, &file));
  eb_error error = read_all(file, path, what, text);
  fclose(file);
  return error;
}

eb_error eb_text_write(const char *path, eb_text *text) {
  if (text->data) eb_text_clean(text->data);
  return eb_file_write(path, text->data, text->length);
}

eb_error eb_lines_read(const char *path, const char *what, eb_strings *out) {
  char *line = NULL;
  size_t room = 0;
  FILE *file;
  EB_TRY(eb_error_prefix(eb_file_stream(path, &file), "%s", what));
  eb_error error = EB_OK;
  for (ssize_t length; !error && (length = getline(&line, &room, file)) >= 0;) {
    if (length > 0 && line[length - 1] == '\n') length--;
    if (length > 0) error = eb_strings_add_part(out, line, (size_t)length);
  }
  if (!error && ferror(file)) error = EB_ERROR(EB_ERR_IO, "cannot read '%s'", path);
  free(line);
  fclose(file);
  return error;
}
