/* The step log: what a solver reports of one step. Nothing here allocates but create. */
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "solvers/solver.h"

#include <string.h>

eb_error eb_step_log_create(int64_t residual_capacity, eb_step_log **out) {
  *out = NULL;
  if (residual_capacity < 0)
    return EB_ERROR(EB_ERR_USAGE, "a step log cannot hold %lld residuals; use 0 or more",
                    (long long)residual_capacity);
  eb_step_log *log = NULL;
  EB_TRY(EB_NEW(log, 1));
  log->residuals = eb_calloc((size_t)residual_capacity, sizeof *log->residuals);
  log->residual_seconds = eb_calloc((size_t)residual_capacity, sizeof *log->residual_seconds);
  if (!log->residuals || !log->residual_seconds) {
    eb_step_log_destroy(log);
    return EB_ERROR(EB_ERR_MEMORY, "cannot allocate a step log for %lld residuals",
                    (long long)residual_capacity);
  }
  log->residual_capacity = residual_capacity;
  eb_step_log_reset(log);
  *out = log;
  return EB_OK;
}

void eb_step_log_destroy(eb_step_log *log) {
  if (!log) return;
  free(log->residuals);
  free(log->residual_seconds);
  free(log);
}

void eb_step_log_reset(eb_step_log *log) {
  eb_step_log fresh = {.residuals = log->residuals,
                       .residual_seconds = log->residual_seconds,
                       .residual_capacity = log->residual_capacity,
                       .residual_norm = "",
                       .step_started = eb_wall_seconds()};
  *log = fresh;
}

void eb_log_begin(eb_step_log *log, eb_phase phase) {
  if (log) log->phase_started[phase] = eb_wall_seconds();
}

void eb_log_end(eb_step_log *log, eb_phase phase) {
  if (log) log->phase_seconds[phase] += eb_wall_seconds() - log->phase_started[phase];
}

void eb_log_residual(eb_step_log *log, double value) {
  if (!log) return;
  if (log->residual_count < log->residual_capacity) {
    log->residuals[log->residual_count] = value;
    log->residual_seconds[log->residual_count] = eb_wall_seconds() - log->step_started;
  }
  log->residual_count++;
}

void eb_log_count(eb_step_log *log, eb_counter counter, double amount) {
  if (log) log->counters[counter] += amount;
}
