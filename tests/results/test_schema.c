/* The schema's document has what the tables have. "write" makes its lists anew. */
#include <stdio.h>
#include <string.h>

#include "harness/results/record.h"
#include "harness/results/schema.h"
#include "problems/base/strings.h"
#include "tests/tap.h"

static const char path[] = "harness/results/schema.md";

static void add_attributes(eb_text *out) {
  static const char *const types[] = {
      [EB_FIELD_TEXT] = "text", [EB_FIELD_INT] = "integer", [EB_FIELD_REAL] = "real"};
  for (const eb_field *f = eb_run_fields; f->name; f++)
    tap_require(eb_text_printf(out, "- `%s`: %s%s%s\n", f->name, types[f->type],
                               strcmp(f->unit, "1") == 0 || !*f->unit ? "" : ", ",
                               strcmp(f->unit, "1") == 0 ? "" : f->unit),
                f->name);
}

static void add_numbers(eb_text *out) {
  static const char *const absent[] = {[EB_ABSENT_NEVER] = "",
                                       [EB_ABSENT_AS_ZERO] = "; 0 where it is absent",
                                       [EB_ABSENT_GROUP] = "; not of all runs",
                                       [EB_ABSENT_UNTOLD] = "; not of all runs"};
  eb_schema_entry e;
  for (int i = 0; eb_schema_at(i, &e); i++)
    tap_require(eb_text_printf(out, "- `%s` (%s): %s%s%s%s%s\n", e.path, e.unit,
                               e.series ? "series" : "number", e.whole ? " of integers" : "",
                               absent[e.absence], e.meaning ? "; " : "",
                               e.meaning ? e.meaning : ""),
                e.path);
}

/* The page with its blocks made anew, each between `<!-- NAME -->` and `<!-- -->`. */
static void make_page(const eb_text *page, eb_text *out) {
  static const struct {
    const char *begin;
    void (*add)(eb_text *);
  } blocks[] = {{"<!-- attributes -->\n", add_attributes}, {"<!-- numbers -->\n", add_numbers}};
  const char *at = page->data;
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
    const char *begin = strstr(at, blocks[b].begin),
               *end = begin ? strstr(begin, "<!-- -->") : NULL;
    if (!tap_ok(end != NULL, "the page has the place of %s", blocks[b].begin)) return;
    tap_require(eb_text_append(out, at, (size_t)(begin - at) + strlen(blocks[b].begin)), "text");
    blocks[b].add(out);
    at = end;
  }
  tap_require(eb_text_append(out, at, strlen(at)), "the rest");
}

static void test_page(bool write) {
  eb_text page = {0}, wanted = {0};
  char version[40];
  tap_require(eb_text_read(path, "schema", &page), "the page is read");
  make_page(&page, &wanted);
  if (write) tap_require(eb_text_write(path, &wanted), "the page is written");
  if (!tap_ok(write || strcmp(page.data, wanted.data) == 0, "%s is what the tables say", path))
    printf("# build/tests/results/test_schema write makes it so\n");
  snprintf(version, sizeof version, "\nVersion %d: ", EB_SCHEMA_VERSION);
  tap_ok(strstr(page.data, version) != NULL, "and names the version");
  eb_text_clear(&page);
  eb_text_clear(&wanted);
}

/* Paths are found by the names that runs choose. */
static void test_paths(void) {
  eb_schema_entry e;
  tap_ok(eb_schema_find("steps/wall", &e) && e.series && strcmp(e.unit, "s") == 0, "a column");
  tap_ok(eb_schema_find("parts/left arm/turn_x", &e) && strcmp(e.unit, "rad") == 0, "of a part");
  tap_ok(eb_schema_find("subspace/variance/bone", &e) && !e.series && e.setting, "of a region");
  tap_ok(!eb_schema_find("parts//turn_x", &e) && !eb_schema_find("parts/a/b/turn_x", &e) &&
             !eb_schema_find("subspace/variance/", &e) && !eb_schema_find("steps", &e),
         "names are one word of a path");
  tap_ok(eb_schema_column("parts/arm", 0, &e) && strcmp(e.path, "parts/arm/turn_x") == 0 &&
             !eb_schema_column("parts/arm", EB_PART_COLUMNS, &e) &&
             !eb_schema_column("setup", 0, &e),
         "columns of a group by its name");
}

int main(int argc, char **argv) {
  test_page(argc == 2 && strcmp(argv[1], "write") == 0);
  test_paths();
  return tap_done();
}
