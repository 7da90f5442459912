#include "harness/report/markup.h"

#include <stdbool.h>
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

eb_error eb_markup_fill(eb_text *page, const char *template, const char *const *texts) {
  for (const char *at; (at = strstr(template, "{}")); template = at + 2) {
    EB_TRY(eb_text_append(page, template, (size_t)(at - template)));
    EB_TRY(eb_markup_text(page, *texts++));
  }
  return eb_text_append(page, template, strlen(template));
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
