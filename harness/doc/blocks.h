/* How documents are kept, and what their writers share. */
#ifndef EB_DOC_BLOCKS_H
#define EB_DOC_BLOCKS_H

#include "harness/doc/doc.h"

/* In a list: an opening block, its pieces (TEXT), the next block .. Tables and details end with an
 * END of theirs. */
typedef enum eb_doc_kind {
  EB_DOC_KIND_TEXT, /* a piece of the block before */
  EB_DOC_KIND_HEADING,
  EB_DOC_KIND_PARAGRAPH,
  EB_DOC_KIND_ITEM,
  EB_DOC_KIND_VERBATIM,
  EB_DOC_KIND_DETAILS,
  EB_DOC_KIND_NAVIGATION,
  EB_DOC_KIND_PLOT,
  EB_DOC_KIND_PICTURE,
  EB_DOC_KIND_MARKUP,
  EB_DOC_KIND_TABLE,
  EB_DOC_KIND_GROUP,
  EB_DOC_KIND_HEAD,
  EB_DOC_KIND_PART,
  EB_DOC_KIND_ROW,
  EB_DOC_KIND_CELL,
  EB_DOC_KIND_END
} eb_doc_kind;

typedef struct eb_doc_block {
  eb_doc_kind kind;
  eb_doc_class class;
  int number;   /* heading: level; group: columns; details: its fold; cell: of a number */
  char *text;   /* of a piece, verbatim and markup: the words; else NULL */
  char *target; /* link; id of a heading or row; style of a table; file of a figure; or NULL */
} eb_doc_block;

/* Where a writer is. Its first error stays, and nothing is written behind it. */
typedef struct eb_doc_writer {
  const eb_doc *doc;
  int at;
  eb_text *out;
  eb_error error;
  int indent;       /* on a terminal: of all lines */
  eb_doc_kind last; /* of the block before; TEXT: there is none */
} eb_doc_writer;

#define EB_DOC_PUT(w, ...)                                                                         \
  do {                                                                                             \
    if (!(w)->error) (w)->error = eb_text_printf((w)->out, __VA_ARGS__);                           \
  } while (0)
/* The kind of the block at the writer's place; END behind the last one. */
eb_doc_kind eb_doc_next(const eb_doc_writer *w);

bool eb_doc_is(const eb_doc_writer *w, eb_doc_kind kind);
/* Whether a page may be led to: of no scheme but http and https, since others run scripts. */
bool eb_doc_is_address(const char *target);

/* A column as all rows have it. */
typedef struct eb_doc_column {
  int width;   /* characters, of its head too */
  bool number; /* some cell is one */
  bool below;  /* on a terminal: its cells have lines of their own below the row, */
  bool filled; /*   or are broken into lines; of the last one alone */
} eb_doc_column;
typedef struct eb_doc_columns {
  eb_doc_column *at;
  int count;
  bool grouped, headed;
} eb_doc_columns;
/* Of the table at the writer's place, which stays. The caller frees at. */
EB_MUST eb_error eb_doc_columns_of(const eb_doc_writer *w, eb_doc_columns *out);

/* Characters of the first bytes of a text of UTF-8: code points, each of one place. */
int eb_doc_width(const char *text, size_t bytes);
/* Appends the words of the pieces that follow block `at`. */
void eb_doc_gather(eb_doc_writer *w, int at, eb_text *out);
/* The block behind `at` and its pieces; behind its END of a table and of details. */
int eb_doc_behind(const eb_doc *doc, int at);

/* Blocks up to what ends those around them: an END, the next row. */
void eb_doc_write_text(eb_doc_writer *w);
void eb_doc_write_markdown(eb_doc_writer *w);
void eb_doc_write_html(eb_doc_writer *w);

#endif
