/* Instructions and cache misses, by valgrind's tool callgrind: counting is off but for the steps
 * (serve.c). The caches are the same on every machine: 32 KB each, 8 MB. Counts do not depend on
 * what else the machine does, so both builds count at once. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/compare/layers.h"
#include "harness/compare/worker.h"
#include "problems/base/owned.h"

/* What the steps take without valgrind, s: about fifty times that with it. */
static const double counted_seconds = 0.03;
/* s that a process has to write what it has counted. */
static const double closing_patience = 60;

eb_error eb_valgrind_find(eb_signals *signals, char **why) {
  static char env[] = "/usr/bin/env", valgrind[] = "valgrind", version[] = "--version";
  char *words[] = {env, valgrind, version};
  const eb_strings command = {.items = words, .count = 3}, settings = {0};
  eb_child_end end;
  *why = NULL;
  EB_TRY(eb_child_run(&command, &settings, (eb_limits){.timeout = 30}, signals, NULL, NULL, &end));
  if (end.cause == EB_CHILD_EXITED && end.status == 0) return EB_OK;
  return eb_string_format(why, "valgrind is not installed (the package valgrind has it)");
}

/* ---- what callgrind writes ------------------------------------------------------------------- */

/* The number under the name of an event, which the words of both lines go by; 0 where there is
 * none. */
static double number_of(const char *events, const char *totals, const char *event) {
  size_t length = strlen(event);
  char *end;
  for (const char *name = events; *(name += strspn(name, " ")); name += strcspn(name, " ")) {
    double value = strtod(totals, &end);
    if (end == totals) return 0;
    totals = end;
    if (strcspn(name, " ") == length && strncmp(name, event, length) == 0) return value;
  }
  return 0;
}

static void read_line_of(const char *line, const char *begins, char out[500]) {
  size_t length = strlen(begins);
  if (strncmp(line, begins, length)) return;
  snprintf(out, 500, "%s", line + length);
  out[strcspn(out, "\n")] = '\0';
}

static eb_error read_totals(const char *path, eb_instructions *out) {
  char line[1000], events[500] = "", totals[500] = "";
  FILE *file = fopen(path, "re");
  if (!file)
    return EB_ERROR(EB_ERR_INVALID, "valgrind has not written '%s': %s", path, strerror(errno));
  while (fgets(line, sizeof line, file)) {
    read_line_of(line, "events: ", events);
    read_line_of(line, "totals: ", totals);
  }
  fclose(file);
  out->executed = number_of(events, totals, "Ir");
  out->first_misses = number_of(events, totals, "I1mr") + number_of(events, totals, "D1mr") +
                      number_of(events, totals, "D1mw");
  out->last_misses = number_of(events, totals, "ILmr") + number_of(events, totals, "DLmr") +
                     number_of(events, totals, "DLmw");
  return out->executed > 0 ? EB_OK
                           : EB_ERROR(EB_ERR_INVALID, "valgrind has counted no instructions");
}

/* ---- counting -------------------------------------------------------------------------------- */

static eb_error start(const eb_compare_request *request, const eb_case *work, int side,
                      const char *path, eb_worker *out) {
  static const char *const words[] = {
      "valgrind",        "--log-file=/dev/null", "--tool=callgrind", "--instr-atstart=no",
      "--cache-sim=yes", "--I1=32768,8,64",      "--D1=32768,8,64",  "--LL=8388608,16,64"};
  EB_FREED char *file = NULL;
  EB_OWNED(eb_strings_clear) eb_strings before = {0};
  EB_TRY(eb_string_format(&file, "--callgrind-out-file=%s", path));
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    EB_TRY(eb_strings_add(&before, words[k]));
  EB_TRY(eb_strings_add(&before, file));
  const eb_worker_setting setting = {.before = &before, .processor = -1};
  return eb_worker_start(&request->builds[side], work, &setting, out);
}

static eb_error count(const eb_compare_request *request, const eb_case *work, char *paths[EB_SIDES],
                      eb_worker workers[EB_SIDES], eb_compared *out) {
  /* Fifty times as slow. */
  double patience = 50 * request->patience;
  int64_t steps =
      (int64_t)fmax(1, fmin((double)work->steps, ceil(counted_seconds / out->step_seconds)));
  for (int side = 0; side < EB_SIDES; side++)
    EB_TRY(start(request, work, side, paths[side], &workers[side]));
  for (int side = 0; side < EB_SIDES; side++) {
    EB_TRY(eb_worker_handshake(&workers[side], patience));
    if (!workers[side].instrumented)
      return eb_compared_note(out,
                              "instructions not counted: '%s' was built without "
                              "valgrind/callgrind.h",
                              request->builds[side].given);
    EB_TRY(eb_worker_ask_count(&workers[side], steps));
  }
  for (int side = 0; side < EB_SIDES; side++) EB_TRY(eb_worker_counted(&workers[side], patience));
  for (int side = 0; side < EB_SIDES; side++) {
    eb_worker_end(&workers[side], closing_patience);
    EB_TRY(read_totals(paths[side], &out->instructions[side]));
  }
  out->instructed_steps = steps;
  return EB_OK;
}

static eb_error count_in(const eb_compare_request *request, const eb_case *work, const char *folder,
                         eb_compared *out) {
  static const char *const names[EB_SIDES] = {"base", "head"};
  char *paths[EB_SIDES] = {NULL};
  eb_worker workers[EB_SIDES] = {EB_NO_WORKER, EB_NO_WORKER};
  eb_error error = EB_OK;
  for (int side = 0; side < EB_SIDES && !error; side++)
    error = eb_string_format(&paths[side], "%s/%s", folder, names[side]);
  if (!error) error = count(request, work, paths, workers, out);
  for (int side = 0; side < EB_SIDES; side++) {
    eb_worker_end(&workers[side], 0);
    if (paths[side]) unlink(paths[side]);
    free(paths[side]);
  }
  return error;
}

eb_error eb_layer_instructions(const eb_compare_request *request, const eb_case *work,
                               eb_compared *out) {
  EB_FREED char *folder = NULL;
  eb_case alone = *work; /* borrows all it has */
  alone.threads = 1;
  EB_TRY(eb_folder_temporary(&folder));
  eb_error error = count_in(request, &alone, folder, out);
  rmdir(folder);
  /* It has worked without valgrind: what is wrong now is wrong with the two together. */
  bool apart = error && (eb_error_kind(error) == EB_ERR_INVALID ||
                         eb_error_kind(error) == EB_ERR_UNSUPPORTED);
  if (!apart) return error;
  eb_error problem = eb_compared_note(out, "instructions not counted: %s", eb_error_message(error));
  eb_error_free(error);
  return problem;
}
