/* Pieces of HTML. */
#ifndef EB_REPORT_MARKUP_H
#define EB_REPORT_MARKUP_H

#include "problems/base/text.h"

/* Text content and attribute values, with what is markup in them escaped; NULL is empty. */
EB_MUST eb_error eb_markup_text(eb_text *page, const char *text);
/* Appends a template in which every {} is one of the texts, escaped. */
EB_MUST eb_error eb_markup_fill(eb_text *page, const char *template, const char *const *texts);
/* A string of JSON with its quotes, fit to stand in a script element as well; NULL is empty. */
EB_MUST eb_error eb_markup_json(eb_text *page, const char *text);

#endif
