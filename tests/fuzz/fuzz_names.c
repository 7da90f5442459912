/* Sections, loops in them, and names for expressions: what is read is written out, and then
 * holds no names. */
#include "harness/reproduce/macros.h"
#include "tests/fuzz/fuzz.h"

const fuzz_target fuzz_seeds = {
    .name = "names",
    .texts = {
        "[names]\ncontacts(x) = x.phases/resolve + {x}.phases/solve\nleast = 0.85 * 1.6\n"
        "[use]\nholds = all(mean(contacts({x}-sp)) / mean(contacts(x)) >= least for x in a b)\n",
        "[names]\nbase(x) = sum(mean({x}.p/{p}) for p in a b)\nratio(a, b) = base(a) / b\n"
        "[use]\nholds = ratio(m-1, 3 - base(n)) < 2\n",
        "[names]\na = 1\nb = a + a\nc = b * b\nd = c ^ c\ne = d\n[use]\nholds = e > d\n",
        "[cases {n}-walk for n q in few 8 some 16]\nquick-scene = bodies={q}\n"
        "{n}-{m} = rings:b={q} {m} for m k in cr 1 ica 2 for z in {m}-1\n"}};

static eb_error check_use(const eb_definitions *names, const char *text) {
  double asked = 0;
  const eb_definitions none = {.asked = &asked};
  eb_expression *e, *again = NULL;
  eb_text printed = {0};
  EB_TRY(eb_definitions_parse(names, text, &e));
  /* Braces around what is no variable are found when they are looked up. */
  eb_error error = eb_expression_print(e, NULL, NULL, NULL, &printed);
  eb_expression_destroy(e);
  /* What is written out may be longer than what is read. */
  eb_error read =
      error || printed.length > 16000 ? EB_OK : eb_definitions_parse(&none, printed.data, &again);
  if (read) {
    fprintf(stderr, "%s\n%s\n%s\n", text, printed.data, eb_error_message(read));
    abort();
  }
  eb_expression_destroy(again);
  eb_text_clear(&printed);
  return error;
}

static eb_error visit(void *context, const eb_entry *entry) {
  eb_error_free(check_use(context, entry->value));
  return EB_OK;
}

static eb_error read_sections(const eb_sections *sections) {
  eb_definitions names;
  eb_error error =
      eb_definitions_read(eb_sections_find(sections, "names", ""), sections->asked, &names);
  for (int s = 0; s < sections->count && !error; s++)
    for (int e = 0; e < sections->items[s].count; e++) {
      const eb_section *section = &sections->items[s];
      const eb_entry *entry = &section->entries[e];
      eb_error_free(check_use(&names, entry->value));
      eb_error_free(eb_entry_unroll(section, entry, visit, &names));
    }
  eb_definitions_clear(&names);
  return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  eb_sections sections;
  char *text = malloc(bytes + 1);
  if (!text) return 0;
  memcpy(text, data, bytes);
  text[bytes] = '\0';
  eb_error error = eb_sections_parse("fuzz", text, EB_SECTIONS_OF_PAPER, &sections);
  if (!error) error = read_sections(&sections);
  fuzz_check(EB_OK, error);
  eb_sections_clear(&sections);
  free(text);
  return 0;
}
