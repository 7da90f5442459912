/* A document: what a command has to say, built once, and written for a terminal, in Markdown or as
 * part of an HTML page.
 *
 * Blocks follow each other. A heading, a paragraph, a cell begins with a text, and takes more
 * pieces of text until the next block begins. All words are made fit to be shown (eb_text_clean)
 * and escaped for the format; ends of lines in them become blanks. Building cannot fail: a document
 * that ran out of memory says so when it is written. */
#ifndef EB_DOC_H
#define EB_DOC_H

#include <stdbool.h>
#include <stdio.h>

#include "problems/base/text.h"

typedef enum eb_doc_format { EB_DOC_TEXT, EB_DOC_MARKDOWN, EB_DOC_HTML } eb_doc_format;

/* How words are set: colours of a page and, of pieces, weight; a terminal shows none of it.
 * Paragraphs of EB_DOC_NOTE are entries of a list in Markdown, and indented on a terminal. */
typedef enum eb_doc_class {
  EB_DOC_PLAIN,
  EB_DOC_GOOD,
  EB_DOC_BAD,
  EB_DOC_NOTE,
  EB_DOC_STRONG,
  EB_DOC_CODE,
  EB_DOC_TALLY, /* a paragraph of counts, which a page shows large */
} eb_doc_class;

/* Start from {0}; release with eb_doc_clear. */
typedef struct eb_doc {
  struct eb_doc_block *blocks;
  int count, room;
  bool failed; /* without memory */
} eb_doc;
void eb_doc_clear(eb_doc *doc);
/* Appends the blocks of another document, which is empty then. */
void eb_doc_join(eb_doc *doc, eb_doc *more);

#define EB_DOC_PRINTF(words, arguments) __attribute__((format(printf, words, arguments)))

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Level 1 to 6; id: the anchor on a page, or NULL. */
void eb_doc_heading(eb_doc *doc, int level, const char *id, const char *format, ...)
    EB_DOC_PRINTF(4, 5);
void eb_doc_paragraph(eb_doc *doc, eb_doc_class class, const char *format, ...) EB_DOC_PRINTF(3, 4);
/* A paragraph of each line of a text; NULL is empty. */
void eb_doc_lines(eb_doc *doc, eb_doc_class class, const char *text);
/* An entry of a list. */
void eb_doc_item(eb_doc *doc, const char *format, ...) EB_DOC_PRINTF(2, 3);
/* Lines that are neither filled nor broken. */
void eb_doc_verbatim(eb_doc *doc, const char *format, ...) EB_DOC_PRINTF(2, 3);
/* Begins what unfolds under its title; ends with eb_doc_end. */
typedef enum eb_doc_fold {
  EB_DOC_APPENDIX, /* a page folds it, a terminal shows its title alone */
  EB_DOC_OPEN,     /* a page has it unfolded */
  EB_DOC_FOLDED    /* a page folds it */
} eb_doc_fold;
void eb_doc_details(eb_doc *doc, eb_doc_fold fold, const char *format, ...) EB_DOC_PRINTF(3, 4);
/* Ends the innermost table or details. */
void eb_doc_end(eb_doc *doc);

/* ---- pieces ---------------------------------------------------------------------------------- */

void eb_doc_text(eb_doc *doc, eb_doc_class class, const char *format, ...) EB_DOC_PRINTF(3, 4);
/* To a page or an anchor ("#id"). A target of another scheme than http and https is no link. */
void eb_doc_link(eb_doc *doc, const char *target, const char *format, ...) EB_DOC_PRINTF(3, 4);

/* ---- tables ---------------------------------------------------------------------------------- */

/* Begins a table: first its heads, then its rows; ends with eb_doc_end. Style: classes of the style
 * sheet, or NULL. Columns are as wide as what is in them. */
void eb_doc_table(eb_doc *doc, const char *style);
void eb_doc_head(eb_doc *doc, const char *format, ...) EB_DOC_PRINTF(2, 3);
/* A head each; the list ends with NULL. */
void eb_doc_heads(eb_doc *doc, const char *const *heads);
/* Before the first of the `columns` heads that it stands above. */
void eb_doc_group(eb_doc *doc, int columns, const char *format, ...) EB_DOC_PRINTF(3, 4);
/* A line across the table, above the rows that follow. */
void eb_doc_part(eb_doc *doc, const char *format, ...) EB_DOC_PRINTF(2, 3);
/* A row, whose cells follow; missing ones are empty. Blocks behind its cells belong to the row: a
 * page has them in the last cell, a terminal below the row, Markdown below the table. id: an
 * anchor, or NULL. */
void eb_doc_row(eb_doc *doc, const char *id);
void eb_doc_cell(eb_doc *doc, eb_doc_class class, const char *format, ...) EB_DOC_PRINTF(3, 4);
/* eb_doc_number_text, to the right of its column. */
void eb_doc_number(eb_doc *doc, eb_doc_class class, double value);
/* The same by a format of its own, with one double: for what has a sign, a unit, or digits that are
 * all of them meant. */
void eb_doc_number_as(eb_doc *doc, eb_doc_class class, const char *format, double value)
    EB_DOC_PRINTF(3, 0);

/* The one rule for numbers that are measured: four digits, whole numbers as they are, no exponent
 * from 1e-4 to 1e7, and a dash for what is not finite. */
typedef struct eb_doc_digits {
  char text[32];
} eb_doc_digits;
eb_doc_digits eb_doc_number_text(double value);

/* ---- of pages alone: a terminal and Markdown leave them out ---------------------------------- */

/* A line of links (eb_doc_link). */
void eb_doc_navigation(eb_doc *doc);
/* STEM.svg, with links to its script STEM.gp and data STEM.dat. Markdown has the picture. */
void eb_doc_plot(eb_doc *doc, const char *stem, const char *format, ...) EB_DOC_PRINTF(3, 4);
/* The same of a picture file. Style: the class of the grid that those share which follow each
 * other, "pictures" or "strip". */
void eb_doc_picture(eb_doc *doc, const char *style, const char *file, const char *format, ...)
    EB_DOC_PRINTF(4, 5);
/* Markup as it is: no words of others are in it but escaped ones (harness/report/markup.h). */
void eb_doc_markup(eb_doc *doc, const char *markup);

/* ---- writing --------------------------------------------------------------------------------- */

/* Appends the document. EB_ERR_MEMORY, also of building. */
EB_MUST eb_error eb_doc_write(const eb_doc *doc, eb_doc_format format, eb_text *out);
/* Prints it (eb_print). */
EB_MUST eb_error eb_doc_print(const eb_doc *doc, eb_doc_format format, FILE *out);

#endif
