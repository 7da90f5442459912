#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/outcome.h"

enum { WIDTH = 110 };

/* Three significant digits, without exponents where a reader does not want them. */
static void print_number(FILE *out, int width, double value) {
  char text[32] = "-";
  if (isfinite(value))
    snprintf(text, sizeof text, fabs(value) >= 100 && fabs(value) < 1e7 ? "%.0f" : "%.3g", value);
  fprintf(out, "%*s", width, text);
}

/* Words of a text, broken at WIDTH, each line after `indent` blanks; the first one continues at
 * column `at`. */
static void print_wrapped(FILE *out, const char *text, int indent, int at) {
  while (*(text += strspn(text, " "))) {
    int length = (int)strcspn(text, " ");
    if (at > indent && at + 1 + length > WIDTH) {
      fprintf(out, "\n%*s", indent, "");
      at = indent;
    } else if (at > indent) {
      fputc(' ', out);
      at++;
    }
    fprintf(out, "%.*s", length, text);
    at += length;
    text += length;
  }
  fputc('\n', out);
}

/* Every line of a text, indented and wrapped. */
static void print_lines(FILE *out, const char *text, int indent) {
  size_t length;
  for (const char *at; (at = eb_line_next(&text, &length));) {
    char *line = strndup(at, length);
    fprintf(out, "%*s", indent, "");
    if (line) print_wrapped(out, line, indent, indent);
    free(line);
  }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int label_width(const eb_paper_table *table) {
  int width = 4;
  for (int r = 0; r < table->labels.count; r++)
    if ((int)strlen(table->labels.items[r]) > width) width = (int)strlen(table->labels.items[r]);
  return width;
}

static int column_width(const eb_paper_column *column) {
  int least = column->text ? 27 : 9, heading = (int)strlen(column->heading) + 2;
  return heading > least ? heading : least;
}

static void print_head(const eb_paper_table *table, int labels, FILE *out) {
  fprintf(out, "  %-*s", labels, "");
  for (int c = 0; c < table->column_count; c++)
    fprintf(out, "%*s", column_width(&table->columns[c]), table->columns[c].heading);
  fprintf(out, "\n  %-*s", labels, table->unit[0] == '1' ? "" : table->unit);
  for (int c = 0; c < table->column_count; c++) {
    const eb_paper_column *column = &table->columns[c];
    if (column->text)
      fprintf(out, "%*s%9s%9s", column_width(column) - 18, "paper", "ours", "ratio");
    else
      fprintf(out, "%*s", column_width(column), "paper");
  }
  fputc('\n', out);
}

static void print_table(const eb_shown_table *shown, FILE *out) {
  const eb_paper_table *table = shown->table;
  int labels = label_width(table);
  fprintf(out, "%s%s%s\n", table->where, *table->where ? ": " : "", table->title);
  print_head(table, labels, out);
  for (int r = 0; r < table->keys.count; r++) {
    fprintf(out, "  %-*s", labels, table->labels.items[r]);
    for (int c = 0; c < table->column_count; c++) {
      const eb_paper_column *column = &table->columns[c];
      print_number(out, column_width(column) - (column->text ? 18 : 0),
                   eb_paper_value(table, r, column));
      if (!column->text) continue;
      print_number(out, 9, eb_shown_ours(shown, r, c));
      print_number(out, 9, eb_shown_ratio(shown, r, c));
    }
    fputc('\n', out);
  }
  if (*table->note) print_lines(out, table->note, 2);
  print_lines(out, shown->notes.data, 2);
  fputc('\n', out);
}

/* ---- figures --------------------------------------------------------------------------------- */

static int longest_label(const eb_paper_figure *figure) {
  int width = 4;
  for (int c = 0; c < figure->curve_count; c++)
    if ((int)strlen(figure->curves[c].label) > width) width = (int)strlen(figure->curves[c].label);
  return width;
}

/* A line a bar: its parts and the whole. */
static void print_bars(const eb_shown_figure *shown, FILE *out) {
  const eb_paper_figure *figure = shown->figure;
  int labels = longest_label(figure), layers = figure->parts.count + 1;
  fprintf(out, "  %s\n  %-*s", figure->y, labels, "");
  for (int l = 0; l < layers - 1; l++) fprintf(out, "%10s", figure->parts.items[l]);
  fprintf(out, "%10s%10s\n", "other", "in all");
  for (int p = 0; p < figure->point_count; p++) {
    fprintf(out, "  %-*s", labels, figure->curves[p].label);
    for (int l = 0; l < layers; l++) print_number(out, 10, shown->layers[p * layers + l]);
    print_number(out, 10, shown->y[p]);
    fputc('\n', out);
  }
}

/* A line a run: the first, the largest and the last value. */
static void print_courses(const eb_shown_figure *shown, FILE *out) {
  const eb_paper_figure *figure = shown->figure;
  int labels = longest_label(figure);
  fprintf(out, "  x: %s, y: %s\n  %-*s%12s%12s%12s\n", figure->x, figure->y, labels, "", "first",
          "largest", "last");
  for (int p = 0; p < figure->point_count; p++) {
    const eb_time_series *course = &shown->series[p];
    fprintf(out, "  %-*s", labels, figure->curves[p].label);
    print_number(out, 12, course->count ? course->y[0] : NAN);
    print_number(out, 12, shown->y[p]);
    print_number(out, 12, course->count ? course->y[course->count - 1] : NAN);
    fputc('\n', out);
  }
}

static void print_points(const eb_shown_figure *shown, FILE *out) {
  const eb_paper_figure *figure = shown->figure;
  fprintf(out, "  x: %s, y: %s\n", figure->x, figure->y);
  for (int c = 0; c < figure->curve_count; c++) {
    const eb_paper_curve *curve = &figure->curves[c];
    fprintf(out, "  %s\n", curve->label);
    for (int p = curve->first; p < curve->first + curve->count; p++) {
      fprintf(out, "  ");
      print_number(out, 10, figure->points[p].x);
      print_number(out, 12, shown->y[p]);
      fputc('\n', out);
    }
  }
}

static void print_figure(const eb_shown_figure *shown, FILE *out) {
  if (shown->figure->point_count == 0) return; /* pictures */
  fprintf(out, "%s\n", shown->figure->title);
  if (shown->layers)
    print_bars(shown, out);
  else if (shown->series)
    print_courses(shown, out);
  else
    print_points(shown, out);
  print_lines(out, shown->notes.data, 2);
  fputc('\n', out);
}

/* ---- claims ---------------------------------------------------------------------------------- */

static void print_claim(const eb_shown_claim *shown, FILE *out) {
  fprintf(out, "%-20s %s", shown->claim->id, eb_claim_verdict_name(shown->result.verdict));
  if (isfinite(shown->result.ours)) {
    fprintf(out, "   ours ");
    print_number(out, 0, shown->result.ours);
  }
  if (isfinite(shown->result.paper)) {
    fprintf(out, "   paper ");
    print_number(out, 0, shown->result.paper);
  }
  fputc('\n', out);
  if (*shown->claim->text) {
    fprintf(out, "  claim:  ");
    print_wrapped(out, shown->claim->text, 10, 10);
  }
  fprintf(out, "  reason: ");
  print_wrapped(out, shown->result.reason.data, 10, 10);
  print_lines(out, shown->notes.data, 10);
}

static void print_tally(const eb_reproduction *r, FILE *out) {
  int of[EB_CLAIM_VERDICTS];
  eb_reproduction_tally(r, of);
  fprintf(out, "%d claims: %d reproduced, %d not reproduced, %d not comparable\n", r->claim_count,
          of[EB_REPRODUCED], of[EB_NOT_REPRODUCED], of[EB_NOT_COMPARABLE]);
}

eb_error eb_reproduction_print(const eb_reproduction *r, FILE *out) {
  const eb_paper *paper = r->evidence->paper;
  eb_text machine = {0};
  EB_TRY(eb_reproduction_machine(r->evidence, &machine));
  fprintf(out, "%s: %s%s\n", paper->name, paper->title,
          paper->quick ? " (quick: the first frames only)" : "");
  print_lines(out, machine.data, 0);
  eb_text_clear(&machine);
  if (*paper->note) print_lines(out, paper->note, 0);
  fputc('\n', out);
  for (int t = 0; t < r->table_count; t++) print_table(&r->tables[t], out);
  for (int f = 0; f < r->figure_count; f++) print_figure(&r->figures[f], out);
  for (int c = 0; c < r->claim_count; c++) print_claim(&r->claims[c], out);
  if (r->claim_count) print_tally(r, out);
  return EB_OK;
}
