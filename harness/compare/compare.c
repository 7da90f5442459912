/* Two builds: the layers in turn, all cases at each look. */
#include "harness/compare/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/print.h"
#include "problems/base/memory.h"

typedef struct job {
  const eb_compare_request *request;
  eb_comparison *out;
  eb_decision_rule rule;
  uint64_t lots;
} job;

/* ---- preparations ---------------------------------------------------------------------------- */

static eb_error name_case(const eb_case *work, char **out) {
  char threads[24] = "";
  if (work->threads > 1) snprintf(threads, sizeof threads, ", %d threads", work->threads);
  return eb_string_format(out, "%s%s%s %s%s%s%s", work->scene->name, work->parameters ? ":" : "",
                          work->parameters ? work->parameters : "", work->solver->name,
                          work->options ? ":" : "", work->options ? work->options : "", threads);
}

static eb_error make_cases(job *j) {
  const eb_plan *plan = j->request->plan;
  EB_TRY(EB_NEW(j->out->cases, plan->count));
  j->out->count = plan->count;
  for (int k = 0; k < plan->count; k++) {
    if (plan->cases[k].from.run)
      return EB_ERROR(EB_ERR_USAGE, "'%s' starts from another case, which compare cannot follow",
                      plan->cases[k].id);
    EB_TRY(name_case(&plan->cases[k], &j->out->cases[k].name));
  }
  return EB_OK;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static eb_error check_interrupt(const job *j) {
  return eb_signals_pending(j->request->signals) ? EB_ERROR(EB_ERR_IO, "interrupted") : EB_OK;
}

/* What is done with a case, on the terminal. */
static void tell_case(const job *j, const char *what, int k) {
  const eb_case *work = &j->request->plan->cases[k];
  eb_status_line_show(j->request->status, "%s, case %d of %d: %s, %s", what, k + 1, j->out->count,
                      work->scene->name, work->solver->name);
}

static eb_error count_all(job *j) {
  for (int k = 0; k < j->out->count; k++) {
    EB_TRY(check_interrupt(j));
    tell_case(j, "counting", k);
    EB_TRY(eb_layer_counts(j->request, &j->request->plan->cases[k], &j->out->cases[k]));
  }
  return EB_OK;
}

/* Whether more rounds may tell more: of HEAD, or of the delay that is to be found. */
static bool is_open(const eb_compared *c) {
  return !c->trouble && (c->cpu[EB_COMPARED_HEAD].change == EB_CHANGE_INCONCLUSIVE ||
                         c->cpu[EB_COMPARED_DELAYED].change == EB_CHANGE_INCONCLUSIVE);
}

/* A process of all cases is a suite of its own, with its own errors. */
static eb_error judge_lanes(const job *j, int look) {
  eb_series **series;
  eb_error error = EB_NEW(series, j->out->count);
  for (int process = EB_COMPARED_BASE; process < EB_COMPARED_PROCESSES && !error; process++) {
    for (int k = 0; k < j->out->count; k++)
      series[k] =
          process == EB_COMPARED_BASE ? &j->out->cases[k].wall : &j->out->cases[k].cpu[process];
    error = eb_series_judge(&j->rule, look, series, j->out->count);
  }
  free(series);
  return error;
}

static eb_error look_at_all(job *j, int look, int *open) {
  *open = 0;
  for (int k = 0; k < j->out->count; k++) {
    eb_compared *c = &j->out->cases[k];
    if (!is_open(c)) continue;
    EB_TRY(check_interrupt(j));
    EB_TRY(eb_layer_rounds(j->request, &j->request->plan->cases[k], j->rule.rounds[look], &j->lots,
                           c));
  }
  EB_TRY(judge_lanes(j, look));
  for (int k = 0; k < j->out->count; k++) *open += is_open(&j->out->cases[k]);
  return EB_OK;
}

static eb_error time_all(job *j) {
  int open = 1;
  for (int look = 0; look < j->rule.looks && open > 0; look++) {
    EB_TRY(look_at_all(j, look, &open));
    eb_status_line_wipe(j->request->status);
    eb_print(stderr, "%d rounds: %d of %d cases are settled\n", j->rule.rounds[look],
             j->out->count - open, j->out->count);
  }
  return EB_OK;
}

static eb_error instruct_all(job *j) {
  if (!j->request->instructions)
    return eb_string_format(&j->out->uninstructed, "--no-instructions");
  EB_TRY(eb_valgrind_find(j->request->signals, &j->out->uninstructed));
  for (int k = 0; k < j->out->count && !j->out->uninstructed; k++) {
    EB_TRY(check_interrupt(j));
    tell_case(j, "under valgrind", k);
    if (!j->out->cases[k].trouble)
      EB_TRY(eb_layer_instructions(j->request, &j->request->plan->cases[k], &j->out->cases[k]));
  }
  return EB_OK;
}

eb_error eb_compare_builds(const eb_compare_request *request, eb_comparison *out) {
  job j = {.request = request,
           .out = out,
           .rule = eb_decision_plan(request->margin, request->rounds),
           .lots = request->seed};
  *out = (eb_comparison){.injected = eb_injected_delay(request->margin)};
  EB_TRY(make_cases(&j));
  out->least = eb_decision_least(&j.rule, out->count);
  EB_TRY(count_all(&j));
  EB_TRY(time_all(&j));
  EB_TRY(instruct_all(&j));
  eb_status_line_wipe(request->status);
  return eb_comparison_judge(request->margin, out);
}
