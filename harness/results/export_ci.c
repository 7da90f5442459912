/* Runs as tests of continuous integration. */
#include <stdlib.h>
#include <string.h>

#include "harness/results/ci.h"
#include "harness/results/export.h"
#include "harness/results/repetitions.h"
#include "problems/base/memory.h"

/* The texts of a test, which it points to. */
typedef struct words {
  eb_text suite, name, message, detail;
} words;

static bool audit_failed(const eb_run *run) {
  return strcmp(run->audit, "failed") == 0;
}

/* A solver that gives up, and one that the audit contradicts, have failed; one that was ended has
 * told nothing. */
static eb_ci_verdict verdict_of(const eb_run *run) {
  switch (eb_outcome_find(run->outcome)) {
  case EB_OUTCOME_COMPLETED:
    return audit_failed(run) ? EB_CI_FAILED : EB_CI_PASSED;
  case EB_OUTCOME_DIVERGED:
  case EB_OUTCOME_NOT_FINITE:
  case EB_OUTCOME_FAILED:
    return EB_CI_FAILED;
  case EB_OUTCOME_SKIPPED:
    return EB_CI_SKIPPED;
  default:
    return EB_CI_ERROR;
  }
}

static eb_error put_message(const eb_run *run, eb_text *out) {
  bool completed = eb_outcome_find(run->outcome) == EB_OUTCOME_COMPLETED;
  if (verdict_of(run) == EB_CI_SKIPPED) return eb_text_printf(out, "%s", run->detail);
  if (!completed)
    EB_TRY(eb_text_printf(out, "%s%s%s", run->outcome, *run->detail ? ": " : "", run->detail));
  if (audit_failed(run))
    EB_TRY(eb_text_printf(out, "%saudit failed: %s", completed ? "" : "; ", run->audit_rules));
  return EB_OK;
}

static eb_error put_detail(const eb_run *run, eb_text *out) {
  EB_TRY(eb_text_printf(out, "run %s\n%lld of %lld steps\nparameters %s\noptions %s\n", run->id,
                        (long long)run->steps_done, (long long)run->steps_wanted, run->parameters,
                        run->options));
  if (*run->audit_detail) EB_TRY(eb_text_printf(out, "audit: %s\n", run->audit_detail));
  return *run->output ? eb_text_printf(out, "output:\n%s\n", run->output) : EB_OK;
}

static eb_error fill(const eb_run *run, words *text, eb_ci_test *test) {
  eb_ci_verdict verdict = verdict_of(run);
  EB_TRY(eb_run_scene_name(run, &text->suite));
  EB_TRY(eb_run_work_name(run, &text->name));
  EB_TRY(eb_text_printf(&text->name, "/repetition:%lld", (long long)run->repetition));
  *test = (eb_ci_test){.suite = text->suite.data,
                       .name = text->name.data,
                       .seconds = run->total_seconds,
                       .verdict = verdict};
  if (verdict == EB_CI_PASSED) return EB_OK;
  EB_TRY(put_message(run, &text->message));
  test->message = text->message.data;
  if (verdict == EB_CI_SKIPPED) return EB_OK;
  EB_TRY(put_detail(run, &text->detail));
  test->detail = text->detail.data;
  return EB_OK;
}

static eb_error write_tests(const eb_results *results, const eb_strings *ids, words *texts,
                            eb_ci_test *tests, bool junit, FILE *out) {
  int count = 0;
  for (int i = 0; i < eb_results_count(results); i++) {
    const eb_run *run = eb_results_run(results, i);
    if (!eb_export_selects(ids, run)) continue;
    EB_TRY(fill(run, &texts[count], &tests[count]));
    count++;
  }
  return junit ? eb_ci_junit(out, eb_results_path(results), tests, count)
               : eb_ci_tap(out, tests, count);
}

static eb_error export_tests(const eb_results *results, const eb_strings *ids, bool junit,
                             FILE *out) {
  int count = eb_results_count(results);
  words *texts;
  eb_ci_test *tests = NULL;
  EB_TRY(EB_NEW(texts, count));
  eb_error error = EB_NEW(tests, count);
  if (!error) error = write_tests(results, ids, texts, tests, junit, out);
  for (int i = 0; i < count; i++) {
    eb_text_clear(&texts[i].suite);
    eb_text_clear(&texts[i].name);
    eb_text_clear(&texts[i].message);
    eb_text_clear(&texts[i].detail);
  }
  free(texts);
  free(tests);
  return error;
}

eb_error eb_export_junit(const eb_results *results, const eb_strings *ids, FILE *out) {
  return export_tests(results, ids, true, out);
}

eb_error eb_export_tap(const eb_results *results, const eb_strings *ids, FILE *out) {
  return export_tests(results, ids, false, out);
}
