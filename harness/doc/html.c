/* Documents as parts of an HTML page. */
#include <stdlib.h>
#include <string.h>

#include "harness/doc/blocks.h"
#include "harness/report/markup.h"

enum { WIDE = 48 }; /* characters: texts of such columns are broken into lines */

/* Names of the style sheet. */
static const char *const classes[] = {
    [EB_DOC_PLAIN] = "",     [EB_DOC_GOOD] = "good",     [EB_DOC_BAD] = "bad",
    [EB_DOC_NOTE] = "note",  [EB_DOC_STRONG] = "strong", [EB_DOC_CODE] = "code",
    [EB_DOC_TALLY] = "tally"};

static void escape(eb_doc_writer *w, const char *text) {
  if (!w->error) w->error = eb_markup_text(w->out, text);
}

/* ` name="value"`, unless there is no value. */
static void attribute(eb_doc_writer *w, const char *name, const char *value) {
  if (!value || !*value) return;
  EB_DOC_PUT(w, " %s=\"", name);
  escape(w, value);
  EB_DOC_PUT(w, "\"");
}

static void put_piece(eb_doc_writer *w, const eb_doc_block *piece) {
  static const char *const tags[] = {
      [EB_DOC_PLAIN] = NULL, [EB_DOC_GOOD] = "b",    [EB_DOC_BAD] = "b",  [EB_DOC_NOTE] = "span",
      [EB_DOC_STRONG] = "b", [EB_DOC_CODE] = "code", [EB_DOC_TALLY] = "b"};
  const char *tag = tags[piece->class];
  bool link = piece->target && eb_doc_is_address(piece->target);
  bool plain = piece->class == EB_DOC_STRONG || piece->class == EB_DOC_CODE;
  if (link) EB_DOC_PUT(w, "<a");
  if (link) attribute(w, "href", piece->target);
  if (link) EB_DOC_PUT(w, ">");
  if (tag) EB_DOC_PUT(w, "<%s", tag);
  if (tag) attribute(w, "class", plain ? NULL : classes[piece->class]);
  if (tag) EB_DOC_PUT(w, ">");
  escape(w, piece->text);
  if (tag) EB_DOC_PUT(w, "</%s>", tag);
  if (link) EB_DOC_PUT(w, "</a>");
}

/* Those of the block at the writer's place, which goes on behind them. */
static void put_pieces(eb_doc_writer *w) {
  for (w->at++; eb_doc_is(w, EB_DOC_KIND_TEXT); w->at++) put_piece(w, &w->doc->blocks[w->at]);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void put_heads(eb_doc_writer *w, const eb_doc_columns *columns) {
  int first = w->at;
  if (!columns->headed) return;
  EB_DOC_PUT(w, "<thead>");
  if (columns->grouped) EB_DOC_PUT(w, "<tr>");
  while (columns->grouped && (eb_doc_is(w, EB_DOC_KIND_GROUP) || eb_doc_is(w, EB_DOC_KIND_HEAD))) {
    int count = eb_doc_is(w, EB_DOC_KIND_GROUP) ? w->doc->blocks[w->at].number : 0;
    if (count) EB_DOC_PUT(w, "<th colspan=\"%d\">", count);
    if (!count) EB_DOC_PUT(w, "<th>");
    if (count) put_pieces(w);
    EB_DOC_PUT(w, "</th>");
    for (int heads = count ? count : 1; heads > 0; heads--) w->at = eb_doc_behind(w->doc, w->at);
  }
  if (columns->grouped) EB_DOC_PUT(w, "</tr>\n");
  EB_DOC_PUT(w, "<tr>");
  w->at = first;
  for (int c = 0; eb_doc_is(w, EB_DOC_KIND_GROUP) || eb_doc_is(w, EB_DOC_KIND_HEAD);) {
    if (eb_doc_is(w, EB_DOC_KIND_GROUP)) {
      w->at = eb_doc_behind(w->doc, w->at);
      continue;
    }
    EB_DOC_PUT(w, columns->at[c++].number ? "<th>" : "<th class=\"text\">");
    put_pieces(w);
    EB_DOC_PUT(w, "</th>");
  }
  EB_DOC_PUT(w, "</tr></thead>\n");
}

static void put_cell(eb_doc_writer *w, const eb_doc_column *column) {
  const eb_doc_block *cell = &w->doc->blocks[w->at];
  const char *words[] = {cell->number ? "" : "text",
                         column->width > WIDE && !column->number ? "wide" : "",
                         classes[cell->class]};
  char class[64];
  int length = 0;
  *class = '\0';
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (*words[k])
      length += snprintf(class + length, sizeof class - (size_t)length, "%s%s", length ? " " : "",
                         words[k]);
  EB_DOC_PUT(w, "<td");
  attribute(w, "class", class);
  EB_DOC_PUT(w, ">");
  put_pieces(w);
}

/* What belongs to the row is in its last cell. */
static void put_row(eb_doc_writer *w, const eb_doc_columns *columns) {
  EB_DOC_PUT(w, "<tr");
  attribute(w, "id", w->doc->blocks[w->at].target);
  EB_DOC_PUT(w, ">");
  w->at++;
  int cells = 0;
  for (; eb_doc_is(w, EB_DOC_KIND_CELL); cells++) {
    if (cells) EB_DOC_PUT(w, "</td>");
    put_cell(w, &columns->at[cells]);
  }
  if (cells) eb_doc_write_html(w);
  if (cells) EB_DOC_PUT(w, "</td>");
  for (; cells < columns->count; cells++) EB_DOC_PUT(w, "<td></td>");
  EB_DOC_PUT(w, "</tr>\n");
}

static void put_part(eb_doc_writer *w, int columns) {
  EB_DOC_PUT(w, "<tr class=\"class\"><th colspan=\"%d\">", columns);
  put_pieces(w);
  EB_DOC_PUT(w, "</th></tr>\n");
}

static void put_table(eb_doc_writer *w) {
  eb_doc_columns columns;
  bool filled = false;
  if (!w->error) w->error = eb_doc_columns_of(w, &columns);
  if (w->error) return;
  EB_DOC_PUT(w, "<div class=\"scroll\"><table");
  attribute(w, "class", w->doc->blocks[w->at++].target);
  EB_DOC_PUT(w, ">\n");
  put_heads(w, &columns);
  EB_DOC_PUT(w, "<tbody>\n");
  while (!w->error && eb_doc_next(w) != EB_DOC_KIND_END) {
    bool part = eb_doc_is(w, EB_DOC_KIND_PART);
    if (part && filled) EB_DOC_PUT(w, "</tbody><tbody>\n");
    if (part)
      put_part(w, columns.count);
    else if (eb_doc_is(w, EB_DOC_KIND_ROW))
      put_row(w, &columns);
    else
      w->at = eb_doc_behind(w->doc, w->at);
    filled = true;
  }
  EB_DOC_PUT(w, "</tbody></table></div>\n");
  free(columns.at);
  w->at++;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void put_heading(eb_doc_writer *w) {
  const eb_doc_block *block = &w->doc->blocks[w->at];
  EB_DOC_PUT(w, "<h%d", block->number);
  attribute(w, "id", block->target);
  EB_DOC_PUT(w, ">");
  put_pieces(w);
  EB_DOC_PUT(w, "</h%d>\n", block->number);
}

static void put_paragraph(eb_doc_writer *w) {
  EB_DOC_PUT(w, "<p");
  attribute(w, "class", classes[w->doc->blocks[w->at].class]);
  EB_DOC_PUT(w, ">");
  put_pieces(w);
  EB_DOC_PUT(w, "</p>\n");
}

static void put_list(eb_doc_writer *w) {
  EB_DOC_PUT(w, "<ul>\n");
  while (eb_doc_is(w, EB_DOC_KIND_ITEM)) {
    EB_DOC_PUT(w, "<li>");
    put_pieces(w);
    EB_DOC_PUT(w, "</li>\n");
  }
  EB_DOC_PUT(w, "</ul>\n");
}

static void put_verbatim(eb_doc_writer *w) {
  EB_DOC_PUT(w, "<pre>");
  escape(w, w->doc->blocks[w->at++].text);
  EB_DOC_PUT(w, "</pre>\n");
}

static void put_details(eb_doc_writer *w) {
  EB_DOC_PUT(w, w->doc->blocks[w->at].number == EB_DOC_OPEN ? "<details open><summary>"
                                                            : "<details><summary>");
  put_pieces(w);
  EB_DOC_PUT(w, "</summary>\n");
  eb_doc_write_html(w);
  EB_DOC_PUT(w, "</details>\n");
  w->at++;
}

static void put_navigation(eb_doc_writer *w) {
  EB_DOC_PUT(w, "<nav>");
  put_pieces(w);
  EB_DOC_PUT(w, "</nav>\n");
}

/* A figure: STEM.svg with links to script and data, or a picture. */
static void put_figure(eb_doc_writer *w) {
  const eb_doc_block *block = &w->doc->blocks[w->at];
  bool plot = block->kind == EB_DOC_KIND_PLOT;
  eb_text caption = {0};
  eb_doc_gather(w, w->at, &caption);
  EB_DOC_PUT(w, plot ? "<figure><img class=\"plot\" loading=\"lazy\" src=\""
                     : "<figure><img loading=\"lazy\" width=\"640\" height=\"480\" src=\"");
  escape(w, block->target);
  EB_DOC_PUT(w, plot ? ".svg\"" : "\"");
  EB_DOC_PUT(w, " alt=\"");
  escape(w, caption.data);
  EB_DOC_PUT(w, "\"><figcaption>");
  put_pieces(w);
  static const char *const files[][2] = {{"gp", " (<a href=\""}, {"dat", ", <a href=\""}};
  for (int k = 0; plot && k < 2; k++) {
    EB_DOC_PUT(w, "%s", files[k][1]);
    escape(w, block->target);
    EB_DOC_PUT(w, ".%s\">%s</a>%s", files[k][0], k ? "data" : "script", k ? ")" : "");
  }
  EB_DOC_PUT(w, "</figcaption></figure>\n");
  eb_text_clear(&caption);
}

/* Figures of a kind that follow each other share a grid. */
static void put_figures(eb_doc_writer *w) {
  const eb_doc_block *first = &w->doc->blocks[w->at];
  EB_DOC_PUT(w, "<div class=\"%s\">\n",
             first->kind == EB_DOC_KIND_PLOT ? "figures"
             : first->class == EB_DOC_NOTE   ? "strip"
                                             : "pictures");
  while (eb_doc_is(w, first->kind) && w->doc->blocks[w->at].class == first->class && !w->error)
    put_figure(w);
  EB_DOC_PUT(w, "</div>\n");
}

static void put_markup(eb_doc_writer *w) {
  EB_DOC_PUT(w, "%s", w->doc->blocks[w->at++].text);
}

static void put_nothing(eb_doc_writer *w) {
  w->at++;
}

void eb_doc_write_html(eb_doc_writer *w) {
  static void (*const write[])(eb_doc_writer * w) = {[EB_DOC_KIND_TEXT] = put_nothing,
                                                     [EB_DOC_KIND_HEADING] = put_heading,
                                                     [EB_DOC_KIND_PARAGRAPH] = put_paragraph,
                                                     [EB_DOC_KIND_ITEM] = put_list,
                                                     [EB_DOC_KIND_VERBATIM] = put_verbatim,
                                                     [EB_DOC_KIND_DETAILS] = put_details,
                                                     [EB_DOC_KIND_NAVIGATION] = put_navigation,
                                                     [EB_DOC_KIND_PLOT] = put_figures,
                                                     [EB_DOC_KIND_PICTURE] = put_figures,
                                                     [EB_DOC_KIND_MARKUP] = put_markup,
                                                     [EB_DOC_KIND_TABLE] = put_table};
  while (!w->error && eb_doc_next(w) < EB_DOC_KIND_GROUP) write[eb_doc_next(w)](w);
}
