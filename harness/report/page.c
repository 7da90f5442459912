#include "harness/report/page.h"
#include "problems/base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/embedded.h"
#include "harness/report/markup.h"
#include "harness/strings.h"

eb_error eb_page_open(eb_text *page, const char *title, const char *class) {
  eb_embedded css;
  EB_TRY(eb_embedded_find("html/report.css", &css));
  EB_TRY(eb_text_printf(
      page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"));
  EB_TRY(eb_markup_between(page, "<title>", title, "</title>\n<style>\n"));
  EB_TRY(eb_text_append(page, css.data, css.size));
  return eb_text_printf(page,
                        "</style>\n<script src=\"page.js\" defer></script>\n"
                        "<script src=\"player.js\" defer></script>\n</head><body class=\"%s\">\n",
                        class);
}

eb_error eb_page_close(eb_text *page) {
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
  const eb_playback *data = run->playback;
  EB_TRY(eb_text_printf(page, "%s{\"name\":\"%s\",\"file\":\"data/%s.js\",\"label\":", separator,
                        data->name, data->name));
  EB_TRY(eb_markup_json(page, run->label));
  EB_TRY(eb_text_printf(page, ",\"note\":"));
  EB_TRY(eb_markup_json(page, run->note));
  return eb_text_printf(page, "}");
}

eb_error eb_page_player(eb_text *page, const eb_played *runs, int count, const char *picture,
                        const char *caption) {
  const char *separator = "";
  bool any = false;
  for (int r = 0; r < count; r++) any = any || runs[r].playback->frames > 0;
  if (!any) return EB_OK;
  EB_TRY(eb_text_printf(page, "<div class=\"player\">\n<script type=\"application/json\">["));
  for (int r = 0; r < count; r++) {
    if (runs[r].playback->frames == 0) continue;
    EB_TRY(put_entry(page, &runs[r], separator));
    separator = ",\n";
  }
  EB_TRY(eb_text_printf(page, "]</script>\n"));
  if (picture) {
    EB_TRY(eb_markup_between(page, "<figure><img src=\"", picture, "\" alt=\""));
    EB_TRY(eb_markup_between(page, "", caption, "\" width=\"640\" height=\"480\">"));
    EB_TRY(eb_markup_between(page, "<figcaption>", caption, "</figcaption></figure>\n"));
  }
  return eb_text_printf(page, "</div>\n");
}

eb_error eb_page_environment(eb_text *page, const eb_results *results) {
  eb_doc doc = {0};
  eb_doc_heading(&doc, 2, "environment", "Environment");
  eb_page_facts(&doc, results);
  eb_error error = eb_doc_write(&doc, EB_DOC_HTML, page);
  eb_doc_clear(&doc);
  return error;
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
  eb_text page = {0};
  eb_error error = eb_page_open(&page, title, class);
  if (!error) error = eb_doc_write(doc, EB_DOC_HTML, &page);
  if (!error) error = eb_page_close(&page);
  if (!error) error = eb_page_write(&page, dir);
  eb_text_clear(&page);
  return error;
}
