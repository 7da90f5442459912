#include "problems/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

void eb_text_join(char *out, size_t bytes, const char *const *words, size_t count,
                  const char *separator) {
  if (bytes == 0) return;
  out[0] = '\0';
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    int added = snprintf(out + used, bytes - used, "%s%s", i ? separator : "", words[i]);
    if (added < 0 || (size_t)added >= bytes - used) {
      if (bytes >= 4) memcpy(out + bytes - 4, "...", 4);
      return;
    }
    used += (size_t)added;
  }
}

static eb_error reserve(eb_text *text, size_t more) {
  size_t needed = text->length + more + 1;
  if (needed <= text->capacity) return EB_OK;
  size_t capacity = text->capacity ? text->capacity : 256;
  while (capacity < needed) capacity *= 2;
  char *grown = eb_recalloc(text->data, text->capacity, capacity, 1);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot grow a text to %zu bytes", capacity);
  text->data = grown;
  text->capacity = capacity;
  return EB_OK;
}

eb_error eb_text_append(eb_text *text, const char *bytes, size_t count) {
  EB_TRY(reserve(text, count));
  memcpy(text->data + text->length, bytes, count);
  text->length += count;
  text->data[text->length] = '\0';
  return EB_OK;
}

eb_error eb_text_printf(eb_text *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int bytes = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  eb_error error = bytes < 0 ? EB_ERROR(EB_ERR_IO, "cannot format text '%s'", format)
                             : reserve(text, (size_t)bytes);
  if (!error) {
    vsnprintf(text->data + text->length, (size_t)bytes + 1, format, again);
    text->length += (size_t)bytes;
  }
  va_end(again);
  return error;
}

void eb_text_clear(eb_text *text) {
  free(text->data);
  *text = (eb_text){0};
}
