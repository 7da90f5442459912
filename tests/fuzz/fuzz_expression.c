#include "problems/notation/expression.h"
#include "tests/fuzz/fuzz.h"

const fuzz_target fuzz_seeds = {
    .name = "expression",
    .texts = {"mean(rings-ica.iterations) / mean(rings-full.iterations) >= 2",
              "all(rising(mean(frame({m}-{e}-cg.wall)) for e in 5e6 5e7, 5%) for m in s l)",
              "max(distance(a, b)[..bounce_end(b)]) <= 1% and not failed(a)",
              "-a.x[0.5s..50%]^2 * (1 - t:r.n) != \"x\" or min(a.y[10..20], -3e-1) < 2 < 3"}};

static eb_error round_trip(const char *text) {
  eb_expression *e, *again = NULL;
  eb_text printed = {0};
  EB_TRY(eb_expression_parse(text, &e));
  eb_error error = eb_expression_print(e, NULL, NULL, NULL, &printed);
  eb_expression_destroy(e);
  /* Braces around what is no variable are found when they are looked up. */
  if (!error && printed.length < 16000) error = eb_expression_parse(printed.data, &again);
  if (error && printed.length && !strchr(text, '{')) {
    fprintf(stderr, "%s\n%s\n", printed.data, eb_error_message(error));
    abort();
  }
  eb_expression_destroy(again);
  eb_text_clear(&printed);
  return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  char *text = malloc(bytes + 1);
  if (!text) return 0;
  memcpy(text, data, bytes);
  text[bytes] = '\0';
  eb_error_free(round_trip(text));
  free(text);
  return 0;
}
