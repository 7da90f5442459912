#include "harness/print.h"

#include <stdarg.h>
#include <stdlib.h>

#include "problems/base/text.h"

int eb_print(FILE *out, const char *format, ...) {
  char room[4096], *text = room;
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int bytes = vsnprintf(room, sizeof room, format, arguments);
  /* Without memory for a long text, its beginning is shown. */
  char *longer = bytes >= (int)sizeof room ? malloc((size_t)bytes + 1) : NULL;
  if (longer) {
    vsnprintf(longer, (size_t)bytes + 1, format, again);
    text = longer;
  }
  va_end(again);
  va_end(arguments);
  if (bytes < 0) return 0;
  eb_text_clean(text);
  fputs(text, out);
  free(longer);
  return bytes;
}
