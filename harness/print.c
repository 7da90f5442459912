#include "harness/print.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "problems/base/strings.h"

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

const eb_escape eb_xml_content[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {0}};
/* A parser makes blanks of what ends lines inside an attribute, unless it is named by number. */
const eb_escape eb_xml_attribute[] = {{'&', "&amp;"},
                                      {'<', "&lt;"},
                                      {'>', "&gt;"},
                                      {'"', "&quot;"},
                                      {'\n', "&#10;"},
                                      {'\t', "&#9;"},
                                      {0}};

eb_error eb_print_escaped(FILE *out, const char *text, const eb_escape *escapes) {
  char *clean = NULL;
  EB_TRY(eb_string_format(&clean, "%s", text ? text : ""));
  eb_text_clean(clean);
  for (const char *c = clean; *c; c++) {
    const eb_escape *e = escapes;
    while (e->character && e->character != *c) e++;
    if (e->character)
      fputs(e->text, out);
    else
      fputc(*c, out);
  }
  free(clean);
  return EB_OK;
}

eb_prefixed eb_prefixed_value(double value) {
  static const char prefixes[] = "num kMGT";
  eb_prefixed out;
  int step = 3;
  double shown = value;
  while (shown != 0 && fabs(shown) < 1 && step > 0) shown *= 1e3, step--;
  while (fabs(shown) >= 1e3 && step < 7) shown /= 1e3, step++;
  snprintf(out.text, sizeof out.text, "%.3g %.*s", shown, step == 3 ? 0 : 1, prefixes + step);
  return out;
}
