/* The papers judged by their own numbers: every claim that has some comes out reproduced, and not
 * with its table turned round or its sentence negated. The numbers are data:
 * tests/papers/published/. */
#include <unistd.h>

#include "harness/reproduce/claim.h"
#include "tests/tap.h"

static eb_value value_of(const char *text) {
  eb_value out = eb_value_number(strtod(text, NULL));
  if (strcmp(text, "yes") == 0) return eb_value_truth(EB_TRUE);
  if (strcmp(text, "no") == 0) return eb_value_truth(EB_FALSE);
  if (*text != '"') return out;
  char inner[200];
  snprintf(inner, sizeof inner, "%.*s", (int)strlen(text) - 2, text + 1);
  tap_require(eb_value_text(inner, &out), inner);
  return out;
}

/* The figures of a section, each as the evaluator would write it. */
static void add_section(const eb_section *section, eb_known *known) {
  for (int i = 0; section && i < section->count; i++) {
    eb_expression *e;
    eb_text text = {0};
    eb_value value = value_of(section->entries[i].value);
    tap_require(eb_expression_parse(section->entries[i].key, &e), section->entries[i].key);
    tap_require(eb_expression_print(e, NULL, NULL, NULL, &text), "its text");
    tap_require(eb_known_add(known, text.data, &value), "a figure");
    eb_expression_destroy(e);
    eb_text_clear(&text);
  }
}

static void judge(const eb_paper *paper, const eb_paper_claim *claim, const eb_section *figures,
                  bool reversed, eb_claim_verdict wanted, const char *name) {
  eb_known known = {0};
  eb_claim_result result;
  eb_evaluation e = {.paper = paper, .known = &known, .own = true, .left_out = -1};
  add_section(figures, &known);
  tap_require(eb_known_tables(paper, reversed, &known), "the tables");
  tap_require(eb_claim_judge(&e, claim, &result), claim->id);
  tap_ok(result.verdict == wanted, "%s/%s, %s: %s", paper->name, claim->id, name,
         eb_claim_verdict_name(wanted));
  if (result.verdict != wanted)
    printf("#   got '%s': %s\n", eb_claim_verdict_name(result.verdict), result.reason.data);
  eb_claim_result_clear(&result);
  eb_known_clear(&known);
}

static const eb_paper_claim *find_claim(const eb_paper *paper, const char *id) {
  for (int c = 0; c < paper->claim_count; c++)
    if (strcmp(paper->claims[c].id, id) == 0) return &paper->claims[c];
  printf("Bail out! %s has no claim '%s'\n", paper->name, id);
  exit(1);
}

static void read_file(const char *path, eb_sections *out) {
  char text[1 << 16];
  FILE *file = fopen(path, "r");
  if (!file) {
    printf("Bail out! cannot read %s\n", path);
    exit(1);
  }
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  tap_require(eb_sections_parse(path, text, EB_SECTIONS_OF_PAPER, out), path);
}

static void check_paper(const char *name) {
  char path[200];
  eb_paper *paper;
  eb_sections figures;
  snprintf(path, sizeof path, "tests/papers/published/%s.ini", name);
  read_file(path, &figures);
  tap_require(eb_paper_load(name, NULL, false, &paper), name);
  for (int s = 0; s < figures.count; s++) {
    const eb_section *published = &figures.items[s];
    if (strcmp(published->kind, "published") != 0) continue;
    const eb_paper_claim *claim = find_claim(paper, published->label);
    const eb_section *negated = eb_sections_find(&figures, "negated", claim->id);
    judge(paper, claim, published, false, EB_REPRODUCED, "as published");
    judge(paper, claim, negated ? negated : published, !negated, EB_NOT_REPRODUCED,
          negated ? "negated" : "with its table turned round");
  }
  eb_sections_clear(&figures);
  eb_paper_destroy(paper);
}

int main(void) {
  check_paper("conjac2020");
  check_paper("hecht2012");
  check_paper("lewin2016");
  check_paper("trusty2023");
  check_paper("verschoor2019");
  return tap_done();
}
