#include <stdlib.h>
#include <string.h>

#include "harness/results/export.h"

bool eb_export_selects(const eb_strings *ids, const eb_run *run) {
  for (int i = 0; i < ids->count; i++)
    if (strcmp(ids->items[i], run->id) == 0) return true;
  return ids->count == 0;
}

/* A cell as RFC 4180 quotes it. Spreadsheets take a text that opens with one of = + - @ for a
 * formula, which may call programs: an apostrophe before it makes it text (OWASP, CSV Injection).
 * Control characters, line breaks among them, are left out. */
static void put_text(const char *text, FILE *out) {
  bool opened = false;
  fputc('"', out);
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c < 0x20 || c == 0x7f) continue;
    if (!opened && strchr("=+-@", c)) fputc('\'', out);
    opened = true;
    if (c == '"') fputc('"', out);
    fputc(c, out);
  }
  fputs("\",", out);
}

static void put_header(FILE *out) {
  fputs("run,scene,parameters,solver,options,threads,repetition", out);
  for (int i = 0; i < EB_STEP_TABLES; i++) {
    eb_step_table table = eb_results_table_info(i);
    if (i < EB_COL_COUNT)
      fprintf(out, ",%s", table.name);
    else
      fprintf(out, ",%s/%s", table.group, table.name);
    if (strcmp(table.unit, "1") != 0) fprintf(out, " (%s)", table.unit);
  }
  fputc('\n', out);
}

static void put_run(const eb_run *run, FILE *out) {
  put_text(run->id, out);
  put_text(run->scene, out);
  put_text(run->parameters, out);
  put_text(run->solver, out);
  put_text(run->options, out);
  fprintf(out, "%lld,%lld", (long long)run->threads, (long long)run->repetition);
}

static void put_rows(const eb_run *run, double *const *columns, size_t rows, FILE *out) {
  for (size_t row = 0; row < rows; row++) {
    put_run(run, out);
    for (int i = 0; i < EB_STEP_TABLES; i++) fprintf(out, ",%.17g", columns[i][row]);
    fputc('\n', out);
  }
}

static eb_error read_columns(const eb_results *results, int run, double **columns, size_t *rows) {
  *rows = SIZE_MAX;
  for (int i = 0; i < EB_STEP_TABLES; i++) {
    size_t count;
    EB_TRY(eb_results_table(results, run, i, &columns[i], &count));
    if (count < *rows) *rows = count;
  }
  return EB_OK;
}

eb_error eb_export_csv(const eb_results *results, const eb_strings *ids, FILE *out) {
  eb_error error = EB_OK;
  put_header(out);
  for (int i = 0; i < eb_results_count(results) && !error; i++) {
    double *columns[EB_STEP_TABLES] = {NULL};
    size_t rows;
    const eb_run *run = eb_results_run(results, i);
    if (!eb_export_selects(ids, run)) continue;
    error = read_columns(results, i, columns, &rows);
    if (!error) put_rows(run, columns, rows, out);
    for (int c = 0; c < EB_STEP_TABLES; c++) free(columns[c]);
  }
  return error;
}
