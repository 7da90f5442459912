#include "problems/base/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES = 1024 };

struct eb_error_data {
  eb_error_code code;
  int line;
  bool borrowed; /* not of the heap */
  const char *file;
  char message[MESSAGE_BYTES];
};

/* Read-only by contract: the functions below never write to it nor free it. */
static const struct eb_error_data out_of_memory = {
    .code = EB_ERR_MEMORY,
    .line = __LINE__,
    .file = __FILE__,
    .borrowed = true,
    .message = "out of memory; use a smaller scene or raise the memory limit"};

eb_error eb_error_make(eb_error_code code, const char *file, int line, const char *format, ...) {
  eb_error error = malloc(sizeof *error);
  if (!error) return (eb_error)&out_of_memory;
  error->borrowed = false;
  error->code = code;
  error->file = file;
  error->line = line;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  return error;
}

eb_error eb_error_prefix(eb_error error, const char *format, ...) {
  if (!error || error->borrowed) return error;
  char text[MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  int used = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (used < 0) return error;
  size_t at = (size_t)used < sizeof text ? (size_t)used : sizeof text - 1;
  snprintf(text + at, sizeof text - at, ": %s", error->message);
  memcpy(error->message, text, sizeof text);
  return error;
}

eb_error_code eb_error_kind(eb_error error) {
  return error->code;
}

const char *eb_error_message(eb_error error) {
  return error ? error->message : "no error";
}

const char *eb_error_file(eb_error error) {
  return error->file;
}

int eb_error_line(eb_error error) {
  return error->line;
}

void eb_error_free(eb_error error) {
  if (error && !error->borrowed) free(error);
}
