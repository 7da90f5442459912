/* harness/audit/figures.md is what the tables of figures and rules say: `test_figures write` writes
 * it anew. Rules that bound figures are rules. */
#include <stdio.h>

#include "harness/audit/rules.h"
#include "harness/results/columns.h"
#include "problems/base/strings.h"
#include "problems/base/text.h"
#include "tests/tap.h"

static const char path[] = "harness/audit/figures.md";

/* ---- the blocks of the page ------------------------------------------------------------------ */

/* In a table's cell, where a bar ends it. */
static void add_cell(eb_text *out, const char *text) {
  for (const char *c = text; *c; c++)
    tap_require(eb_text_printf(out, "%s%c", *c == '|' ? "\\" : "", *c), "a cell");
}

static void add_row(eb_text *out, const char *name, const char *unit, const char *meaning,
                    const char *definition) {
  bool plain = strcmp(unit, "1") == 0;
  tap_require(eb_text_printf(out, "| `%s`%s%s | ", name, plain ? "" : ", ", plain ? "" : unit), "");
  add_cell(out, meaning);
  tap_require(eb_text_printf(out, *definition ? " | " : " |"), "");
  add_cell(out, definition);
}

static void add_columns(eb_text *out, const char *of, const eb_column_info *columns, int count) {
  tap_require(
      eb_text_printf(
          out, "| column of `%s/` | what it is | how it is computed | rule |\n|---|---|---|---|\n",
          of),
      "");
  for (int c = 0; c < count; c++) {
    const eb_column_info *column = &columns[c];
    if (!column->definition) continue;
    add_row(out, column->name, column->unit, column->meaning, column->definition);
    tap_require(eb_text_printf(out, *column->rule ? " | `%s` |\n" : " | %s|\n", column->rule), "");
  }
}

static void add_figures(eb_text *out) {
  add_columns(out, "steps", eb_columns, EB_COL_COUNT);
  tap_require(eb_text_printf(out, "\n"), "");
  add_columns(out, "parts/NAME", eb_part_columns, EB_PART_COLUMNS);
  tap_require(eb_text_printf(out, "\n"), "");
  add_columns(out, "rotation", eb_rotation_columns, EB_ROTATION_COLUMNS);
  tap_require(eb_text_printf(out, "\n| number of a run | what it is | how it is computed | of runs "
                                  "with |\n|---|---|---|---|\n"),
              "");
  for (int n = 0; n < EB_RUN_NUMBERS; n++) {
    const eb_number_info *number = &eb_run_numbers[n];
    char name[64];
    snprintf(name, sizeof name, "%s%s", number->path,
             n >= EB_NUMBER_FIRST_OF_REGION ? "/REGION" : "");
    add_row(out, name, number->unit, number->meaning, number->definition);
    tap_require(eb_text_printf(out, " | `%s` |\n", number->setting), "");
  }
}

static void add_rules(eb_text *out) {
  for (int r = 0; r < EB_RULES; r++)
    tap_require(
        eb_text_printf(out, "- `%s`: %s.\n", eb_rule_name((eb_rule)r), eb_rule_demand((eb_rule)r)),
        "");
}

/* ---- the page -------------------------------------------------------------------------------- */

/* The page with its blocks made anew, each between `<!-- NAME -->` and `<!-- -->`. */
static void make_page(const eb_text *page, eb_text *out) {
  static const struct {
    const char *begin;
    void (*add)(eb_text *);
  } blocks[] = {{"<!-- figures -->\n", add_figures}, {"<!-- rules -->\n", add_rules}};
  const char *at = page->data;
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
    const char *begin = strstr(at, blocks[b].begin),
               *end = begin ? strstr(begin, "<!-- -->") : NULL;
    if (!tap_ok(end != NULL, "the page has the place of %s", blocks[b].begin)) return;
    size_t kept = (size_t)(begin - at) + strlen(blocks[b].begin);
    tap_require(eb_text_append(out, at, kept), "the text between");
    blocks[b].add(out);
    at = end;
  }
  tap_require(eb_text_append(out, at, strlen(at)), "the rest");
}

static void test_page(bool write) {
  eb_text page = {0}, wanted = {0};
  tap_require(eb_text_read(path, "figures", &page), "the page is read");
  make_page(&page, &wanted);
  if (write) tap_require(eb_text_write(path, &wanted), "the page is written");
  if (!tap_ok(write || strcmp(page.data, wanted.data) == 0, "%s is what the tables say", path))
    printf("# build/tests/audit/test_figures write makes it so\n");
  eb_text_clear(&page);
  eb_text_clear(&wanted);
}

/* Every column that the audit fills has a definition, if but an empty one; its rule is one. */
static void test_rules(void) {
  for (int c = 0; c < EB_COL_COUNT; c++) {
    int r = 0;
    if (!eb_columns[c].definition || !*eb_columns[c].rule) continue;
    while (r < EB_RULES && strcmp(eb_rule_name((eb_rule)r), eb_columns[c].rule) != 0) r++;
    tap_ok(r < EB_RULES, "%s has rule '%s'", eb_columns[c].name, eb_columns[c].rule);
  }
}

int main(int argc, char **argv) {
  test_page(argc == 2 && strcmp(argv[1], "write") == 0);
  test_rules();
  return tap_done();
}
