/* Reading a paper, part by part. Internal to the papers. */
#ifndef EB_REPRODUCE_PAPER_IMPL_H
#define EB_REPRODUCE_PAPER_IMPL_H

#include "harness/reproduce/evaluate.h"

/* Appends a file of a paper to *text, and its path to `path` for messages; `from` as in
 * eb_paper_load. The caller clears *text, also after a failure. */
enum { EB_PAPER_PATH = 600 };
EB_MUST eb_error eb_paper_file(const char *paper, const char *from, const char *name,
                               char path[EB_PAPER_PATH], eb_text *text);

/* Parses an expression of an entry of the paper, with its names written out, and checks what it is
 * worth. EB_ERR_FORMAT when *out is there already. */
EB_MUST eb_error eb_paper_expression(const eb_paper *paper, const char *text, const eb_scope *scope,
                                     eb_value_kind wanted, eb_expression **out);

/* Reads the [cases] sections, the [table] sections and their data, the [figure] sections. */
EB_MUST eb_error eb_paper_read_cases(eb_paper *paper);
EB_MUST eb_error eb_paper_read_tables(eb_paper *paper, const char *from);
EB_MUST eb_error eb_paper_read_figures(eb_paper *paper);
void eb_paper_clear_cases(eb_paper *paper);
void eb_paper_clear_tables(eb_paper *paper);
void eb_paper_clear_figures(eb_paper *paper);

#endif
