#include "harness/report/markup.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

eb_error eb_markup_text(eb_text *page, const char *text) {
  for (const char *c = text ? text : ""; *c; c++) {
    const char *entity = *c == '<'   ? "&lt;"
                         : *c == '>' ? "&gt;"
                         : *c == '&' ? "&amp;"
                         : *c == '"' ? "&quot;"
                                     : NULL;
    EB_TRY(entity ? eb_text_append(page, entity, strlen(entity)) : eb_text_append(page, c, 1));
  }
  return EB_OK;
}

eb_error eb_markup_between(eb_text *page, const char *before, const char *text, const char *after) {
  EB_TRY(eb_text_printf(page, "%s", before));
  EB_TRY(eb_markup_text(page, text));
  return eb_text_printf(page, "%s", after);
}

eb_error eb_markup_fill(eb_text *page, eb_error (*escape)(eb_text *page, const char *text),
                        const char *template, const char *const *texts) {
  for (const char *at; (at = strstr(template, "{}")); template = at + 2) {
    EB_TRY(eb_text_append(page, template, (size_t)(at - template)));
    EB_TRY(escape(page, *texts++));
  }
  return eb_text_append(page, template, strlen(template));
}

eb_error eb_markup_number(eb_text *page, const char *format, double value) {
  EB_TRY(eb_text_printf(page, "<td>"));
  if (isfinite(value)) {
    char text[64];
    snprintf(text, sizeof text, format, value);
    EB_TRY(eb_markup_text(page, text));
  } else {
    EB_TRY(eb_text_printf(page, "&ndash;"));
  }
  return eb_text_printf(page, "</td>");
}

eb_error eb_markup_json(eb_text *page, const char *text) {
  EB_TRY(eb_text_printf(page, "\""));
  for (const char *c = text ? text : ""; *c; c++) {
    bool plain = !strchr("\"\\<&\n\t", *c); /* writing makes other controls visible */
    EB_TRY(plain ? eb_text_append(page, c, 1)
                 : eb_text_printf(page, "\\u%04x", (unsigned)(unsigned char)*c));
  }
  return eb_text_printf(page, "\"");
}

eb_error eb_markup_plot(eb_text *page, const char *prefix, const char *stem, const char *caption) {
  char base[512];
  snprintf(base, sizeof base, "%s%s%s", prefix, *prefix ? "-" : "", stem);
  EB_TRY(eb_text_printf(page, "<figure><img class=\"plot\" loading=\"lazy\" src=\"%s.svg\" alt=\"",
                        base));
  EB_TRY(eb_markup_text(page, caption));
  EB_TRY(eb_markup_between(page, "\"><figcaption>", caption, ""));
  return eb_text_printf(page,
                        " (<a href=\"%s.gp\">script</a>, <a href=\"%s.dat\">data</a>)"
                        "</figcaption></figure>\n",
                        base, base);
}
