#include "harness/doc/doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/doc/blocks.h"
#include "harness/print.h"
#include "problems/base/memory.h"

/* ---- building -------------------------------------------------------------------------------- */

/* Takes the text. */
static void add(eb_doc *doc, eb_doc_block block, const char *target) {
  bool grows = !doc->failed && doc->count == doc->room;
  int room = grows ? 2 * doc->room + 64 : doc->room;
  eb_doc_block *grown =
      grows ? eb_recalloc(doc->blocks, (size_t)doc->room, (size_t)room, sizeof *grown)
            : doc->blocks;
  if (!doc->failed && grown) {
    doc->blocks = grown;
    doc->room = room;
  }
  if (target) block.target = strdup(target);
  doc->failed = doc->failed || !grown || (target && !block.target);
  if (doc->failed) {
    free(block.text);
    free(block.target);
    return;
  }
  if (block.target) eb_text_clean(block.target);
  doc->blocks[doc->count++] = block;
}

/* Words, made fit to be shown; NULL without memory, which the document keeps in mind. */
static char *words_of(eb_doc *doc, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int bytes = vsnprintf(NULL, 0, format, again);
  va_end(again);
  char *words = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
  doc->failed = doc->failed || !words;
  if (!words) return NULL;
  vsnprintf(words, (size_t)bytes + 1, format, arguments);
  eb_text_clean(words);
  return words;
}

/* A piece without words is none. */
static void add_piece(eb_doc *doc, eb_doc_class class, const char *target, const char *format,
                      va_list arguments) {
  char *words = words_of(doc, format, arguments);
  for (char *c = words; c && *c; c++)
    if (*c == '\n' || *c == '\t') *c = ' ';
  if (words && *words)
    add(doc, (eb_doc_block){.kind = EB_DOC_KIND_TEXT, .class = class, .text = words}, target);
  else
    free(words);
}

/* Weight and code are of the words, colours of the block. */
static bool is_of_words(eb_doc_class class) {
  return class == EB_DOC_STRONG || class == EB_DOC_CODE;
}

/* A block that begins with a text. */
#define BEGIN(kind_, class_, number_, target)                                                      \
  do {                                                                                             \
    bool words_ = is_of_words(class_);                                                             \
    va_list arguments;                                                                             \
    add(doc,                                                                                       \
        (eb_doc_block){                                                                            \
            .kind = (kind_), .class = words_ ? EB_DOC_PLAIN : (class_), .number = (number_)},      \
        (target));                                                                                 \
    va_start(arguments, format);                                                                   \
    add_piece(doc, words_ ? (class_) : EB_DOC_PLAIN, NULL, format, arguments);                     \
    va_end(arguments);                                                                             \
  } while (0)

void eb_doc_heading(eb_doc *doc, int level, const char *id, const char *format, ...) {
  BEGIN(EB_DOC_KIND_HEADING, EB_DOC_PLAIN, level, id);
}

void eb_doc_paragraph(eb_doc *doc, eb_doc_class class, const char *format, ...) {
  BEGIN(EB_DOC_KIND_PARAGRAPH, class, 0, NULL);
}

void eb_doc_item(eb_doc *doc, const char *format, ...) {
  BEGIN(EB_DOC_KIND_ITEM, EB_DOC_PLAIN, 0, NULL);
}

void eb_doc_details(eb_doc *doc, eb_doc_fold fold, const char *format, ...) {
  BEGIN(EB_DOC_KIND_DETAILS, EB_DOC_PLAIN, (int)fold, NULL);
}

void eb_doc_plot(eb_doc *doc, const char *stem, const char *format, ...) {
  BEGIN(EB_DOC_KIND_PLOT, EB_DOC_PLAIN, 0, stem);
}

void eb_doc_head(eb_doc *doc, const char *format, ...) {
  BEGIN(EB_DOC_KIND_HEAD, EB_DOC_PLAIN, 0, NULL);
}

void eb_doc_group(eb_doc *doc, int columns, const char *format, ...) {
  BEGIN(EB_DOC_KIND_GROUP, EB_DOC_PLAIN, columns, NULL);
}

void eb_doc_part(eb_doc *doc, const char *format, ...) {
  BEGIN(EB_DOC_KIND_PART, EB_DOC_PLAIN, 0, NULL);
}

void eb_doc_cell(eb_doc *doc, eb_doc_class class, const char *format, ...) {
  BEGIN(EB_DOC_KIND_CELL, class, 0, NULL);
}

void eb_doc_picture(eb_doc *doc, const char *style, const char *file, const char *format, ...) {
  eb_doc_class class = strcmp(style, "strip") == 0 ? EB_DOC_NOTE : EB_DOC_PLAIN;
  BEGIN(EB_DOC_KIND_PICTURE, class, 0, file);
}

void eb_doc_text(eb_doc *doc, eb_doc_class class, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_piece(doc, class, NULL, format, arguments);
  va_end(arguments);
}

void eb_doc_link(eb_doc *doc, const char *target, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_piece(doc, EB_DOC_PLAIN, target, format, arguments);
  va_end(arguments);
}

void eb_doc_verbatim(eb_doc *doc, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *words = words_of(doc, format, arguments);
  va_end(arguments);
  if (words) add(doc, (eb_doc_block){.kind = EB_DOC_KIND_VERBATIM, .text = words}, NULL);
}

void eb_doc_lines(eb_doc *doc, eb_doc_class class, const char *text) {
  for (const char *at = text ? text : ""; *at;) {
    int length = (int)strcspn(at, "\n");
    if (length) eb_doc_paragraph(doc, class, "%.*s", length, at);
    at += length + (at[length] == '\n');
  }
}

void eb_doc_table(eb_doc *doc, const char *style) {
  add(doc, (eb_doc_block){.kind = EB_DOC_KIND_TABLE}, style);
}

void eb_doc_heads(eb_doc *doc, const char *const *heads) {
  for (; *heads; heads++) eb_doc_head(doc, "%s", *heads);
}

void eb_doc_row(eb_doc *doc, const char *id) {
  add(doc, (eb_doc_block){.kind = EB_DOC_KIND_ROW}, id);
}

void eb_doc_number(eb_doc *doc, eb_doc_class class, double value) {
  eb_doc_cell(doc, class, "%s", eb_doc_number_text(value).text);
  if (!doc->failed) doc->blocks[doc->count - 2].number = 1;
}

void eb_doc_number_as(eb_doc *doc, eb_doc_class class, const char *format, double value) {
  char text[80];
  snprintf(text, sizeof text, format, value);
  eb_doc_cell(doc, class, "%s", isfinite(value) ? text : "-");
  if (!doc->failed) doc->blocks[doc->count - 2].number = 1;
}

void eb_doc_navigation(eb_doc *doc) {
  add(doc, (eb_doc_block){.kind = EB_DOC_KIND_NAVIGATION}, NULL);
}

void eb_doc_markup(eb_doc *doc, const char *markup) {
  char *copy = strdup(markup);
  doc->failed = doc->failed || !copy;
  if (copy) add(doc, (eb_doc_block){.kind = EB_DOC_KIND_MARKUP, .text = copy}, NULL);
}

void eb_doc_end(eb_doc *doc) {
  add(doc, (eb_doc_block){.kind = EB_DOC_KIND_END}, NULL);
}

void eb_doc_join(eb_doc *doc, eb_doc *more) {
  for (int b = 0; b < more->count; b++) {
    eb_doc_block block = more->blocks[b];
    char *target = block.target;
    block.target = NULL;
    add(doc, block, target);
    free(target);
  }
  doc->failed = doc->failed || more->failed;
  free(more->blocks);
  *more = (eb_doc){0};
}

void eb_doc_clear(eb_doc *doc) {
  for (int b = 0; b < doc->count; b++) {
    free(doc->blocks[b].text);
    free(doc->blocks[b].target);
  }
  free(doc->blocks);
  *doc = (eb_doc){0};
}

eb_doc_digits eb_doc_number_text(double value) {
  eb_doc_digits out = {"-"};
  double size = fabs(value);
  bool whole = (size < 1e15 && value == rint(value)) || (size >= 9999.5 && size < 1e7);
  if (isfinite(value)) snprintf(out.text, sizeof out.text, whole ? "%.0f" : "%.4g", value);
  return out;
}

/* ---- what writers share ---------------------------------------------------------------------- */

eb_doc_kind eb_doc_next(const eb_doc_writer *w) {
  return w->at < w->doc->count ? w->doc->blocks[w->at].kind : EB_DOC_KIND_END;
}

bool eb_doc_is(const eb_doc_writer *w, eb_doc_kind kind) {
  return w->at < w->doc->count && eb_doc_next(w) == kind;
}

bool eb_doc_is_address(const char *target) {
  size_t scheme = strcspn(target, ":/?#");
  return target[scheme] != ':' || strncmp(target, "http:", 5) == 0 ||
         strncmp(target, "https:", 6) == 0;
}

int eb_doc_width(const char *text, size_t bytes) {
  int count = 0;
  for (size_t b = 0; b < bytes; b++) count += ((unsigned char)text[b] & 0xc0) != 0x80;
  return count;
}

void eb_doc_gather(eb_doc_writer *w, int at, eb_text *out) {
  const eb_doc *doc = w->doc;
  if (!w->error) w->error = eb_text_append(out, "", 0);
  for (int b = at + 1; b < doc->count && doc->blocks[b].kind == EB_DOC_KIND_TEXT; b++)
    if (!w->error) w->error = eb_text_printf(out, "%s", doc->blocks[b].text);
}

int eb_doc_behind(const eb_doc *doc, int at) {
  int depth = 0;
  for (; at < doc->count; at++) {
    eb_doc_kind kind = doc->blocks[at].kind;
    depth += kind == EB_DOC_KIND_TABLE || kind == EB_DOC_KIND_DETAILS;
    depth -= kind == EB_DOC_KIND_END;
    bool piece = at + 1 < doc->count && doc->blocks[at + 1].kind == EB_DOC_KIND_TEXT;
    if (depth <= 0 && !piece) return at + 1;
  }
  return at;
}

/* Characters of the pieces behind a block. */
static int width_of(const eb_doc *doc, int block) {
  int width = 0;
  for (int b = block + 1; b < doc->count && doc->blocks[b].kind == EB_DOC_KIND_TEXT; b++)
    width += eb_doc_width(doc->blocks[b].text, strlen(doc->blocks[b].text));
  return width;
}

/* Heads and cells of the table alone, none of tables within. */
static void measure(const eb_doc *doc, int table, eb_doc_columns *out) {
  int column = 0, heads = 0;
  for (int b = table + 1; b < doc->count; b = eb_doc_behind(doc, b)) {
    const eb_doc_block *block = &doc->blocks[b];
    bool head = block->kind == EB_DOC_KIND_HEAD, cell = block->kind == EB_DOC_KIND_CELL;
    if (block->kind == EB_DOC_KIND_END) return;
    if (block->kind == EB_DOC_KIND_ROW) column = 0;
    out->grouped = out->grouped || block->kind == EB_DOC_KIND_GROUP;
    out->headed = out->headed || head;
    if (!head && !cell) continue;
    int at = head ? heads++ : column++, width = width_of(doc, b);
    if (at >= out->count) out->count = at + 1;
    if (!out->at) continue;
    if (width > out->at[at].width) out->at[at].width = width;
    out->at[at].number = out->at[at].number || (cell && block->number);
  }
}

eb_error eb_doc_columns_of(const eb_doc_writer *w, eb_doc_columns *out) {
  *out = (eb_doc_columns){0};
  measure(w->doc, w->at, out);
  EB_TRY(EB_NEW(out->at, out->count));
  measure(w->doc, w->at, out);
  return EB_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

eb_error eb_doc_write(const eb_doc *doc, eb_doc_format format, eb_text *out) {
  static void (*const write[])(eb_doc_writer * w) = {[EB_DOC_TEXT] = eb_doc_write_text,
                                                     [EB_DOC_MARKDOWN] = eb_doc_write_markdown,
                                                     [EB_DOC_HTML] = eb_doc_write_html};
  eb_doc_writer w = {.doc = doc, .out = out};
  if (doc->failed) return EB_ERROR(EB_ERR_MEMORY, "no memory for what is to be shown");
  EB_DOC_PUT(&w, "%s", "");
  while (w.at < doc->count && !w.error) {
    write[format](&w);
    w.at++; /* an END without a beginning */
  }
  return w.error;
}

eb_error eb_doc_print(const eb_doc *doc, eb_doc_format format, FILE *out) {
  eb_text text = {0};
  eb_error error = eb_doc_write(doc, format, &text);
  if (!error) eb_print(out, "%s", text.data);
  eb_text_clear(&text);
  return error;
}
