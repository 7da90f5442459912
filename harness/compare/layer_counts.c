/* Exact counters. */
#include <stdlib.h>
#include <string.h>

#include "harness/compare/layers.h"
#include "harness/compare/worker.h"
#include "problems/base/strings.h"

/* Where neither build serves the case, it is none to compare. */
static eb_error greet_both(const eb_compare_request *request, eb_worker workers[EB_SIDES],
                           eb_compared *out) {
  eb_error base = eb_worker_handshake(&workers[EB_BASE], request->patience);
  eb_error head = eb_worker_handshake(&workers[EB_HEAD], request->patience);
  out->unserved = workers[EB_BASE].unserved && workers[EB_HEAD].unserved;
  if (!base) return head;
  eb_error_free(head);
  return base;
}

/* Each build has two workers; the processes of one pass run at the same time. */
static eb_error count_with(const eb_compare_request *request, const eb_case *work,
                           eb_worker workers[EB_SIDES], char *counts[EB_SIDES], eb_compared *out) {
  static const eb_worker_setting anywhere = {.processor = -1};
  for (int side = 0; side < EB_SIDES; side++)
    EB_TRY(eb_worker_start(&request->builds[side], work, &anywhere, &workers[side]));
  EB_TRY(greet_both(request, workers, out));
  for (int side = 0; side < EB_SIDES; side++)
    EB_TRY(eb_worker_ask_count(&workers[side], work->steps));
  for (int side = 0; side < EB_SIDES; side++) {
    EB_TRY(eb_worker_counted(&workers[side], request->patience));
    EB_TRY(eb_string_set(&counts[side], workers[side].line));
  }
  return EB_OK;
}

static eb_error count_once(const eb_compare_request *request, const eb_case *work,
                           char *counts[EB_SIDES], eb_compared *out) {
  eb_worker workers[EB_SIDES] = {EB_NO_WORKER, EB_NO_WORKER};
  eb_error error = count_with(request, work, workers, counts, out);
  for (int side = 0; side < EB_SIDES; side++) eb_worker_end(&workers[side], 0);
  return error;
}

eb_error eb_layer_counts(const eb_compare_request *request, const eb_case *work, eb_compared *out) {
  out->counted_steps = work->steps;
  eb_error error = count_once(request, work, out->counts, out);
  if (!error) error = count_once(request, work, out->counts_again, out);
  for (int side = 0; side < EB_SIDES && !error; side++)
    if (strcmp(out->counts[side], out->counts_again[side]) == 0) {
      free(out->counts_again[side]);
      out->counts_again[side] = NULL;
    }
  return eb_compared_trouble(error, out);
}
