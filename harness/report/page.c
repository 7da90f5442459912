#include "harness/report/page.h"
#include "problems/base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/embedded.h"
#include "harness/report/markup.h"
#include "problems/base/strings.h"
#include "problems/base/owned.h"

eb_error eb_page_text(const eb_doc *doc, const char *title, const char *class, eb_text *page) {
  eb_embedded css;
  EB_TRY(eb_embedded_find("html/report.css", &css));
  EB_TRY(eb_markup_fill(page,
                        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                        "<title>{}</title>\n<style>\n",
                        (const char *const[]){title}));
  EB_TRY(eb_text_append(page, css.data, css.size));
  EB_TRY(eb_text_printf(page,
                        "</style>\n<script src=\"page.js\" defer></script>\n"
                        "<script src=\"player.js\" defer></script>\n</head><body class=\"%s\">\n",
                        class));
  EB_TRY(eb_doc_write(doc, EB_DOC_HTML, page));
  return eb_text_printf(page, "</body></html>\n");
}

eb_error eb_page_write(eb_text *page, const char *dir) {
  static const char *const scripts[] = {"page.js", "player.js"};
  char path[4096];
  for (size_t s = 0; s < sizeof scripts / sizeof *scripts; s++) {
    char name[64];
    eb_embedded file;
    snprintf(name, sizeof name, "html/%s", scripts[s]);
    EB_TRY(eb_embedded_find(name, &file));
    snprintf(path, sizeof path, "%s/%s", dir, scripts[s]);
    EB_TRY(eb_file_write(path, file.data, file.size));
  }
  snprintf(path, sizeof path, "%s/index.html", dir);
  return eb_text_write(path, page);
}

eb_error eb_page_data(const char *dir, char *out, size_t bytes) {
  snprintf(out, bytes, "%s/data", dir);
  return eb_folder_make(out);
}

static eb_error put_entry(eb_text *page, const eb_played *run, const char *separator) {
  const char *name = run->playback->name;
  EB_TRY(eb_text_printf(page, "%s{\"name\":\"%s\",\"file\":\"data/%s.js\",\"label\":", separator,
                        name, name));
  EB_TRY(eb_markup_json(page, run->label));
  EB_TRY(eb_text_printf(page, ",\"note\":"));
  EB_TRY(eb_markup_json(page, run->note));
  return eb_text_printf(page, "}");
}

eb_error eb_page_player(eb_doc *doc, const eb_played *runs, int count, const char *picture,
                        const char *caption) {
  EB_OWNED(eb_text_clear) eb_text page = {0};
  const char *separator = "<div class=\"player\">\n<script type=\"application/json\">[";
  bool any = false;
  for (int r = 0; r < count; r++) {
    if (runs[r].playback->frames == 0) continue;
    EB_TRY(put_entry(&page, &runs[r], separator));
    separator = ",\n";
    any = true;
  }
  if (!any) return EB_OK;
  EB_TRY(eb_text_printf(&page, "]</script>\n"));
  if (picture)
    EB_TRY(eb_markup_fill(&page,
                          "<figure><img src=\"{}\" alt=\"{}\" width=\"640\" height=\"480\">"
                          "<figcaption>{}</figcaption></figure>\n",
                          (const char *const[]){picture, caption, caption}));
  EB_TRY(eb_text_printf(&page, "</div>\n"));
  eb_doc_markup(doc, page.data);
  return EB_OK;
}

void eb_page_facts(eb_doc *doc, const eb_results *results) {
  int count;
  const eb_fact *fact = eb_results_facts(results, &count);
  eb_doc_table(doc, "facts");
  for (const eb_fact *end = fact + count; fact < end; fact++) {
    eb_doc_row(doc, NULL);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", fact->name);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", fact->value);
  }
  eb_doc_end(doc);
}

eb_error eb_page_publish(const eb_doc *doc, const char *title, const char *class, const char *dir) {
  EB_OWNED(eb_text_clear) eb_text page = {0};
  EB_TRY(eb_page_text(doc, title, class, &page));
  return eb_page_write(&page, dir);
}
