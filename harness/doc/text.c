/* Documents on a terminal. */
#include <stdlib.h>
#include <string.h>

#include "harness/doc/blocks.h"

enum {
  LINE = 110, /* characters, where lines are broken and columns leave the row */
  WIDE = 30,  /* a column of more characters may leave it */
  STEP = 2,   /* indentation of what is within */
  BELOW = 4   /* and of what is below a row */
};

/* Words from column `at` on, broken at LINE; further lines begin at column `hang`. */
static void fill(eb_doc_writer *w, const char *text, int at, int hang) {
  bool first = true;
  for (size_t length; (length = strcspn(text += strspn(text, " "), " ")); text += length) {
    int width = eb_doc_width(text, length);
    bool breaks = !first && at + 1 + width > LINE;
    if (breaks) EB_DOC_PUT(w, "\n%*s", hang, "");
    if (breaks) at = hang;
    first = first || breaks;
    EB_DOC_PUT(w, "%s%.*s", first ? "" : " ", (int)length, text);
    at += width + !first;
    first = false;
  }
  EB_DOC_PUT(w, "\n");
}

/* The block's words after a mark; the writer goes on behind them. */
static void put_lines(eb_doc_writer *w, int indent, const char *mark) {
  eb_text words = {0};
  int hang = indent + (int)strlen(mark);
  eb_doc_gather(w, w->at, &words);
  EB_DOC_PUT(w, "%*s%s", indent, "", mark);
  if (!w->error) fill(w, words.data, hang, hang);
  eb_text_clear(&words);
  do w->at++;
  while (w->at < w->doc->count && w->doc->blocks[w->at].kind == EB_DOC_KIND_TEXT);
}

static void put_verbatim(eb_doc_writer *w) {
  const char *line = w->doc->blocks[w->at++].text;
  while (*line) {
    int length = (int)strcspn(line, "\n");
    EB_DOC_PUT(w, "%*s%.*s\n", length ? w->indent : 0, "", length, line);
    line += length + (line[length] == '\n');
  }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int row_width(const eb_doc_columns *columns) {
  int width = 0;
  for (int c = 0; c < columns->count; c++)
    if (!columns->at[c].below) width += columns->at[c].width + 2;
  return width - 2;
}

/* Until the row fits, texts leave it: the last one is broken into lines where there is room for it,
 * else the widest goes below. */
static void make_fit(eb_doc_columns *columns, int indent) {
  eb_doc_column *last = &columns->at[columns->count - 1];
  while (indent + row_width(columns) > LINE) {
    int room = LINE - indent - row_width(columns) + last->width;
    eb_doc_column *widest = NULL;
    for (eb_doc_column *one = columns->at + 1; one <= last; one++)
      if (!one->below && !one->number && one->width > WIDE &&
          (!widest || one->width > widest->width))
        widest = one;
    if (!widest) return;
    widest->filled = widest == last && room > WIDE;
    if (widest->filled) widest->width = room;
    widest->below = !widest->filled;
  }
}

/* A text in its column; `pad` blanks are due before it. Texts stand at the left, numbers at the
 * right. */
static void put_column(eb_doc_writer *w, const char *text, int width, bool right, int *pad) {
  int rest = width - eb_doc_width(text, strlen(text));
  if (rest < 0) rest = 0;
  if (right) *pad += rest;
  if (*text) EB_DOC_PUT(w, "%*s%s", *pad, "", text);
  if (*text) *pad = 0;
  *pad += 2 + (right ? 0 : rest);
}

/* Blocks of a kind from the writer's place, a line. */
static void put_columns(eb_doc_writer *w, const eb_doc_columns *columns, eb_doc_kind kind) {
  const eb_doc *doc = w->doc;
  int pad = w->indent;
  const eb_doc_column *of = columns->at;
  for (; eb_doc_is(w, kind) || eb_doc_is(w, EB_DOC_KIND_GROUP); w->at = eb_doc_behind(doc, w->at)) {
    const eb_doc_block *block = &doc->blocks[w->at];
    if (block->kind == EB_DOC_KIND_GROUP || (of++)->below) continue;
    bool right = kind == EB_DOC_KIND_HEAD ? of[-1].number : block->number;
    eb_text words = {0};
    eb_doc_gather(w, w->at, &words);
    if (of[-1].filled && words.length) {
      EB_DOC_PUT(w, "%*s", pad, "");
      if (!w->error) fill(w, words.data, LINE - of[-1].width, LINE - of[-1].width);
    } else if (!w->error) {
      put_column(w, words.data, of[-1].width, right, &pad);
    }
    bool ended = of[-1].filled && words.length;
    eb_text_clear(&words);
    if (!ended) continue;
    w->at = eb_doc_behind(doc, w->at);
    return;
  }
  EB_DOC_PUT(w, "\n");
}

/* A line above the heads; a group's words end where its last column does, which is as wide as they
 * ask for. */
static void put_groups(eb_doc_writer *w, eb_doc_columns *columns, bool show) {
  const eb_doc *doc = w->doc;
  int column = 0, pad = w->indent;
  for (int b = w->at; b < doc->count && (doc->blocks[b].kind == EB_DOC_KIND_GROUP ||
                                         doc->blocks[b].kind == EB_DOC_KIND_HEAD);) {
    bool group = doc->blocks[b].kind == EB_DOC_KIND_GROUP;
    int count = group ? doc->blocks[b].number : 1, width = -2;
    eb_text words = {0};
    for (int c = column; c < column + count && c < columns->count; c++)
      width += columns->at[c].width + 2;
    if (group) eb_doc_gather(w, b, &words);
    int wanted = words.data ? eb_doc_width(words.data, words.length) : 0;
    if (wanted > width && column + count <= columns->count)
      columns->at[column + count - 1].width += wanted - width;
    if (show) put_column(w, words.data ? words.data : "", width, true, &pad);
    eb_text_clear(&words);
    column += count;
    for (int heads = group ? count + 1 : 1; heads > 0; heads--) b = eb_doc_behind(doc, b);
  }
  if (show) EB_DOC_PUT(w, "\n");
}

/* "head: text" of the columns that left the row whose cells begin at a block. */
static void put_below(eb_doc_writer *w, int head, int cell, const eb_doc_columns *columns) {
  const eb_doc *doc = w->doc;
  int indent = w->indent + BELOW;
  for (int c = 0; cell < doc->count && doc->blocks[cell].kind == EB_DOC_KIND_CELL; c++) {
    eb_text words = {0}, name = {0};
    while (doc->blocks[head].kind == EB_DOC_KIND_GROUP) head = eb_doc_behind(doc, head);
    if (columns->headed) eb_doc_gather(w, head, &name);
    eb_doc_gather(w, cell, &words);
    if (!w->error && columns->at[c].below && words.length) {
      int at = indent + (name.length ? eb_doc_width(name.data, name.length) + 2 : 0);
      EB_DOC_PUT(w, "%*s%s%s", indent, "", name.length ? name.data : "", name.length ? ": " : "");
      fill(w, words.data, at, at < LINE / 2 ? at : indent + STEP);
    }
    eb_text_clear(&words);
    eb_text_clear(&name);
    head = eb_doc_behind(doc, head);
    cell = eb_doc_behind(doc, cell);
  }
}

static void put_rows(eb_doc_writer *w, const eb_doc_columns *columns, int head) {
  while (!w->error && w->at < w->doc->count && eb_doc_next(w) != EB_DOC_KIND_END) {
    if (eb_doc_next(w) == EB_DOC_KIND_PART) {
      put_lines(w, w->indent, "");
      continue;
    }
    int cell = ++w->at;
    if (eb_doc_next(w) != EB_DOC_KIND_CELL) continue;
    put_columns(w, columns, EB_DOC_KIND_CELL);
    put_below(w, head, cell, columns);
    w->indent += BELOW;
    eb_doc_write_text(w);
    w->indent -= BELOW;
  }
}

static void put_table(eb_doc_writer *w) {
  eb_doc_columns columns;
  if (!w->error) w->error = eb_doc_columns_of(w, &columns);
  if (w->error) return;
  int head = ++w->at;
  if (columns.count) make_fit(&columns, w->indent);
  if (columns.grouped) put_groups(w, &columns, false);
  if (columns.grouped) put_groups(w, &columns, true);
  if (columns.headed) put_columns(w, &columns, EB_DOC_KIND_HEAD);
  put_rows(w, &columns, head);
  free(columns.at);
  w->at++;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* An empty line before headings and around tables, but not within anything. */
static void separate(eb_doc_writer *w, eb_doc_kind kind) {
  bool tables = kind == EB_DOC_KIND_TABLE || w->last == EB_DOC_KIND_TABLE;
  bool gap = kind == EB_DOC_KIND_HEADING || (tables && w->last != EB_DOC_KIND_HEADING);
  if (gap && w->indent == 0 && w->last != EB_DOC_KIND_TEXT) EB_DOC_PUT(w, "\n");
}

static void put_details(eb_doc_writer *w) {
  bool open = w->doc->blocks[w->at].number != EB_DOC_APPENDIX;
  int behind = eb_doc_behind(w->doc, w->at);
  put_lines(w, w->indent, "");
  w->indent += STEP;
  if (open) eb_doc_write_text(w);
  w->indent -= STEP;
  w->at = behind;
}

static bool is_shown(eb_doc_kind kind) {
  return kind != EB_DOC_KIND_NAVIGATION && kind != EB_DOC_KIND_PLOT &&
         kind != EB_DOC_KIND_PICTURE && kind != EB_DOC_KIND_MARKUP;
}

void eb_doc_write_text(eb_doc_writer *w) {
  static void (*const write[])(eb_doc_writer * w) = {[EB_DOC_KIND_TABLE] = put_table,
                                                     [EB_DOC_KIND_DETAILS] = put_details,
                                                     [EB_DOC_KIND_VERBATIM] = put_verbatim};
  while (!w->error && eb_doc_next(w) < EB_DOC_KIND_GROUP) {
    const eb_doc_block *block = &w->doc->blocks[w->at];
    eb_doc_kind kind = block->kind;
    bool noted = block->class == EB_DOC_NOTE && w->indent == 0;
    if (!is_shown(block->kind)) {
      w->at = eb_doc_behind(w->doc, w->at);
      continue;
    }
    separate(w, kind);
    if (kind <= EB_DOC_KIND_TABLE && write[kind])
      write[kind](w);
    else
      put_lines(w, w->indent + (noted ? STEP : 0), kind == EB_DOC_KIND_ITEM ? "- " : "");
    w->last = kind;
  }
}
