/* Documents in Markdown. */
#include <stdlib.h>
#include <string.h>

#include "harness/doc/blocks.h"
#include "harness/report/markup.h"

/* ---- pieces ------------------------------------------------------------------------ */

/* A '<' opens HTML unless a blank, a sign or a digit follows. In cells what divides them, in links
 * what ends them, in code the backtick is taken out. */
static void markdown(eb_doc_writer *w, const char *text, bool cell, bool link, bool code) {
  for (; *text && !w->error; text++) {
    const char *as = NULL;
    if (*text == '<' && !code && !(text[1] && strchr(" =-.0123456789", text[1]))) as = "&lt;";
    if (*text == '|' && cell) as = "\\|";
    if ((*text == '[' || *text == ']') && link) as = *text == '[' ? "\\[" : "\\]";
    if (*text == '`' && code) as = "'";
    w->error = as ? eb_text_append(w->out, as, strlen(as)) : eb_text_append(w->out, text, 1);
  }
}

/* Blanks and brackets would end the address of a link. */
static void markdown_address(eb_doc_writer *w, const char *target) {
  for (const char *c = target; *c; c++)
    if (strchr(" ()<>|\"\n\t", *c))
      EB_DOC_PUT(w, "%%%02X", (unsigned)(unsigned char)*c);
    else
      EB_DOC_PUT(w, "%c", *c);
}

/* Those of the block at the writer's place, which goes on behind them. */
static void markdown_pieces(eb_doc_writer *w, bool cell) {
  static const char *const marks[] = {[EB_DOC_GOOD] = "**",
                                      [EB_DOC_BAD] = "**",
                                      [EB_DOC_STRONG] = "**",
                                      [EB_DOC_CODE] = "`",
                                      [EB_DOC_TALLY] = NULL};
  for (w->at++; eb_doc_is(w, EB_DOC_KIND_TEXT); w->at++) {
    const eb_doc_block *piece = &w->doc->blocks[w->at];
    const char *mark = marks[piece->class] ? marks[piece->class] : "";
    bool link = piece->target && eb_doc_is_address(piece->target);
    EB_DOC_PUT(w, "%s%s", link ? "[" : "", mark);
    markdown(w, piece->text, cell, link, piece->class == EB_DOC_CODE);
    EB_DOC_PUT(w, "%s%s", mark, link ? "](" : "");
    if (link) markdown_address(w, piece->target);
    if (link) EB_DOC_PUT(w, ")");
  }
}

/* ---- tables ------------------------------------------------------------------------ */

/* The first head of a group has its words too. */
static void markdown_heads(eb_doc_writer *w, int columns) {
  int heads = 0;
  EB_DOC_PUT(w, "|");
  for (; eb_doc_is(w, EB_DOC_KIND_HEAD) || eb_doc_is(w, EB_DOC_KIND_GROUP); heads++) {
    EB_DOC_PUT(w, " ");
    if (eb_doc_is(w, EB_DOC_KIND_GROUP)) {
      markdown_pieces(w, true);
      EB_DOC_PUT(w, ": ");
    }
    markdown_pieces(w, true);
    EB_DOC_PUT(w, " |");
  }
  for (; heads < columns; heads++) EB_DOC_PUT(w, " |");
  EB_DOC_PUT(w, "\n|");
  for (int c = 0; c < columns; c++) EB_DOC_PUT(w, "---|");
  EB_DOC_PUT(w, "\n");
}

static void markdown_row(eb_doc_writer *w, int columns) {
  int cells = 0;
  bool part = eb_doc_is(w, EB_DOC_KIND_PART);
  EB_DOC_PUT(w, "|");
  for (; (part && cells == 0) || eb_doc_is(w, EB_DOC_KIND_CELL); cells++) {
    EB_DOC_PUT(w, part ? " **" : " ");
    markdown_pieces(w, true);
    EB_DOC_PUT(w, part ? "** |" : " |");
  }
  for (; cells < columns; cells++) EB_DOC_PUT(w, " |");
  EB_DOC_PUT(w, "\n");
}

/* What belongs to rows, under the words of their first cells. */
static void markdown_rest(eb_doc_writer *w) {
  while (!w->error && eb_doc_next(w) != EB_DOC_KIND_END) {
    int row = w->at;
    w->at = eb_doc_behind(w->doc, w->at);
    while (eb_doc_is(w, EB_DOC_KIND_CELL)) w->at = eb_doc_behind(w->doc, w->at);
    if (eb_doc_next(w) >= EB_DOC_KIND_PART) continue;
    int rest = w->at;
    EB_DOC_PUT(w, "\n**");
    for (w->at = row + 2; eb_doc_is(w, EB_DOC_KIND_TEXT); w->at++)
      markdown(w, w->doc->blocks[w->at].text, false, false, false);
    EB_DOC_PUT(w, "**\n");
    w->at = rest;
    w->last = EB_DOC_KIND_PARAGRAPH;
    eb_doc_write_markdown(w);
  }
}

static void markdown_table(eb_doc_writer *w) {
  eb_doc_columns columns;
  if (!w->error) w->error = eb_doc_columns_of(w, &columns);
  if (w->error) return;
  free(columns.at);
  w->at++;
  markdown_heads(w, columns.count);
  int rows = w->at;
  while (!w->error && eb_doc_next(w) != EB_DOC_KIND_END) {
    w->at += eb_doc_is(w, EB_DOC_KIND_ROW);
    if (eb_doc_is(w, EB_DOC_KIND_CELL) || eb_doc_is(w, EB_DOC_KIND_PART))
      markdown_row(w, columns.count);
    else
      w->at = eb_doc_behind(w->doc, w->at);
  }
  int behind = w->at;
  w->at = rows;
  markdown_rest(w);
  w->at = behind + 1;
}

/* ---- blocks ------------------------------------------------------------------------ */

static void markdown_details(eb_doc_writer *w) {
  EB_DOC_PUT(w, "<details><summary>");
  for (w->at++; eb_doc_is(w, EB_DOC_KIND_TEXT); w->at++)
    if (!w->error) w->error = eb_markup_text(w->out, w->doc->blocks[w->at].text);
  EB_DOC_PUT(w, "</summary>\n");
  w->last = EB_DOC_KIND_DETAILS;
  eb_doc_write_markdown(w);
  EB_DOC_PUT(w, "\n</details>\n");
  w->at++;
}

static void markdown_figure(eb_doc_writer *w) {
  const eb_doc_block *block = &w->doc->blocks[w->at];
  EB_DOC_PUT(w, "![");
  for (w->at++; eb_doc_is(w, EB_DOC_KIND_TEXT); w->at++)
    markdown(w, w->doc->blocks[w->at].text, false, true, false);
  EB_DOC_PUT(w, "](");
  markdown_address(w, block->target);
  EB_DOC_PUT(w, block->kind == EB_DOC_KIND_PLOT ? ".svg)\n" : ")\n");
}

static void markdown_verbatim(eb_doc_writer *w) {
  for (const char *line = w->doc->blocks[w->at++].text; *line;) {
    int length = (int)strcspn(line, "\n");
    EB_DOC_PUT(w, "    %.*s\n", length, line);
    line += length + (line[length] == '\n');
  }
}

/* A block that begins with its words. */
static void markdown_words(eb_doc_writer *w, const eb_doc_block *block, bool listed) {
  if (block->kind == EB_DOC_KIND_HEADING) EB_DOC_PUT(w, "%.*s ", block->number, "######");
  if (listed) EB_DOC_PUT(w, "- ");
  markdown_pieces(w, false);
  EB_DOC_PUT(w, "\n");
}

static bool is_listed(const eb_doc_block *block) {
  return block->kind == EB_DOC_KIND_ITEM ||
         (block->kind == EB_DOC_KIND_PARAGRAPH && block->class == EB_DOC_NOTE);
}

void eb_doc_write_markdown(eb_doc_writer *w) {
  static void (*const write[])(eb_doc_writer * w) = {[EB_DOC_KIND_TABLE] = markdown_table,
                                                     [EB_DOC_KIND_DETAILS] = markdown_details,
                                                     [EB_DOC_KIND_VERBATIM] = markdown_verbatim,
                                                     [EB_DOC_KIND_PLOT] = markdown_figure,
                                                     [EB_DOC_KIND_PICTURE] = markdown_figure};
  while (!w->error && eb_doc_next(w) < EB_DOC_KIND_GROUP) {
    const eb_doc_block *block = &w->doc->blocks[w->at];
    bool listed = is_listed(block);
    if (block->kind == EB_DOC_KIND_NAVIGATION || block->kind == EB_DOC_KIND_MARKUP) {
      w->at = eb_doc_behind(w->doc, w->at);
      continue;
    }
    /* An empty line between blocks, but not between entries of a list. */
    if (w->last != EB_DOC_KIND_TEXT && !(listed && w->last == EB_DOC_KIND_ITEM))
      EB_DOC_PUT(w, "\n");
    if (block->kind <= EB_DOC_KIND_TABLE && write[block->kind])
      write[block->kind](w);
    else
      markdown_words(w, block, listed);
    w->last = listed ? EB_DOC_KIND_ITEM : block->kind;
  }
}
