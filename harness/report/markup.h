/* Pieces of HTML. */
#ifndef EB_REPORT_MARKUP_H
#define EB_REPORT_MARKUP_H

#include "problems/base/text.h"

/* Text content and attribute values, with what is markup in them escaped; NULL is empty. */
EB_MUST eb_error eb_markup_text(eb_text *page, const char *text);
/* The same between markup. */
EB_MUST eb_error eb_markup_between(eb_text *page, const char *before, const char *text,
                                   const char *after);
/* Appends a template in which every {} is one of the texts, escaped: HTML's is eb_markup_text. */
EB_MUST eb_error eb_markup_fill(eb_text *page, eb_error (*escape)(eb_text *page, const char *text),
                                const char *template, const char *const *texts);
/* A cell of a table; a dash for what is not finite. */
EB_MUST eb_error eb_markup_number(eb_text *page, const char *format, double value);
/* A string of JSON with its quotes, fit to stand in a script element as well; NULL is empty. */
EB_MUST eb_error eb_markup_json(eb_text *page, const char *text);
/* A plot of PREFIX-STEM.svg (or STEM.svg) with its caption and links to script and data. */
EB_MUST eb_error eb_markup_plot(eb_text *page, const char *prefix, const char *stem,
                                const char *caption);

#endif
