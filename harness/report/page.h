/* What all pages share: style sheet, scripts, the player of recorded runs. */
#ifndef EB_REPORT_PAGE_H
#define EB_REPORT_PAGE_H

#include "harness/doc/doc.h"
#include "harness/report/model.h"
#include "harness/results/read.h"
#include "problems/base/text.h"

/* Appends the document as a page, whose body has that class. */
EB_MUST eb_error eb_page_text(const eb_doc *doc, const char *title, const char *class,
                              eb_text *page);

/* Writes the page to DIR/index.html and the scripts that it loads beside it. */
EB_MUST eb_error eb_page_write(eb_text *page, const char *dir);

/* Makes DIR/data, where the scripts of runs are, and names it. */
EB_MUST eb_error eb_page_data(const char *dir, char *out, size_t bytes);

/* Appends a table of what a result file says of machine, build and command. */
void eb_page_facts(eb_doc *doc, const eb_results *results);

/* Writes the document as a page, DIR/index.html, and the scripts that it loads beside it. */
EB_MUST eb_error eb_page_publish(const eb_doc *doc, const char *title, const char *class,
                                 const char *dir);

/* A run that a player offers. */
typedef struct eb_played {
  const eb_playback *playback; /* one without frames is left out */
  const char *label, *note;    /* note: "" or what its outcome was */
} eb_played;

/* Appends a player of runs, before whose start a picture is shown (NULL: none); nothing when no run
 * can be played. */
EB_MUST eb_error eb_page_player(eb_doc *doc, const eb_played *runs, int count, const char *picture,
                                const char *caption);

#endif
