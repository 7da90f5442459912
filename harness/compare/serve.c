/* The worker's process: steps, clocks and one line an answer. */
#include <errno.h>
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/compare/worker.h"
#include "problems/base/clock.h"
#include "problems/base/hash.h"
#include "solvers/stepper.h"

/* Without valgrind's header its counting cannot be confined to steps, and is not asked for. */
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
enum { INSTRUMENTED = 1 };
#else
#define CALLGRIND_START_INSTRUMENTATION (void)0
#define CALLGRIND_STOP_INSTRUMENTATION  (void)0
enum { INSTRUMENTED = 0 };
#endif

enum { RESIDUALS = 4096 /* of a step, in its hash */ };

/* What "count" tells. */
typedef struct tally {
  double iterations, counters[EB_COUNTERS];
  uint64_t residuals;
} tally;

typedef struct server {
  const eb_case *work;
  double delay;
  FILE *out; /* what was standard output: solvers that print do so elsewhere */
  eb_scene *scene;
  eb_stepper stepper;
} server;

static void clear(server *s) {
  eb_stepper_clear(&s->stepper);
  eb_scene_destroy(s->scene);
  s->scene = NULL;
}

static eb_error set_up(server *s) {
  const eb_case *work = s->work;
  EB_TRY(eb_scene_create(work->scene, work->parameters, work->mesh_file, NULL, &s->scene));
  return eb_stepper_create(work->solver, work->options, s->scene, work->threads,
                           (uint64_t)work->seed, RESIDUALS, &s->stepper);
}

/* Off the clock. */
static eb_error start_over(server *s) {
  if (s->scene->script.cut_count > 0) {
    clear(s);
    return set_up(s);
  }
  eb_state_destroy(s->stepper.state);
  s->stepper.state = NULL;
  return eb_state_create(s->scene, &s->stepper.state);
}

static void add_up(const eb_step_log *log, tally *t) {
  int64_t kept = log->residual_count < RESIDUALS ? log->residual_count : RESIDUALS;
  t->iterations += (double)log->iterations;
  for (int k = 0; k < EB_COUNTERS; k++) t->counters[k] += log->counters[k];
  t->residuals = eb_hash(t->residuals, &log->residual_count, sizeof log->residual_count);
  t->residuals = eb_hash(t->residuals, log->residuals, (size_t)kept * sizeof *log->residuals);
}

static void lengthen(double delay, double began) {
  double now = eb_cpu_seconds(), until = now + delay * (now - began);
  while (eb_cpu_seconds() < until) continue;
}

static eb_error take_step(server *s) {
  eb_state *state = s->stepper.state;
  double began = eb_cpu_seconds(), end = state->time + s->scene->dt;
  int64_t step = state->step;
  EB_TRY(eb_stepper_step(&s->stepper));
  state->step = step + 1;
  state->time = end;
  if (s->delay > 0) lengthen(s->delay, began);
  return EB_OK;
}

/* Steps from one reading of the clocks to the other, none of which goes beyond the scene's last. */
static eb_error take_steps(server *s, int64_t count, eb_elapsed *spent, tally *counted) {
  eb_error error = EB_OK;
  CALLGRIND_START_INSTRUMENTATION;
  double cpu = eb_cpu_seconds(), wall = eb_wall_seconds();
  s->stepper.reason = EB_CONVERGED_ITS;
  for (int64_t k = 0; k < count && !error && s->stepper.reason > 0; k++) {
    error = take_step(s);
    if (counted) add_up(s->stepper.log, counted);
  }
  spent->wall += eb_wall_seconds() - wall;
  spent->cpu += eb_cpu_seconds() - cpu;
  CALLGRIND_STOP_INSTRUMENTATION;
  return error;
}

static eb_error take_all(server *s, int64_t count, eb_elapsed *spent, tally *counted) {
  s->stepper.reason = EB_CONVERGED_ITS;
  for (int64_t left = count; left > 0 && s->stepper.reason > 0;) {
    if (s->stepper.state->step >= s->work->steps) EB_TRY(start_over(s));
    int64_t now = s->work->steps - s->stepper.state->step;
    if (now > left) now = left;
    EB_TRY(take_steps(s, now, spent, counted));
    left -= now;
  }
  return EB_OK;
}

static void print_tally(const server *s, const tally *t) {
  fprintf(s->out, "counted iterations=%.17g", t->iterations);
  for (int k = 0; k < EB_COUNTERS; k++)
    fprintf(s->out, ",%s=%.17g", eb_counter_name((eb_counter)k), t->counters[k]);
  fprintf(s->out, ",residuals=%016" PRIx64 ",state=%016" PRIx64 "\n", t->residuals,
          eb_state_hash(s->stepper.state));
}

/* *on: whether more can be asked for. */
static void answer(server *s, bool counting, int64_t count, bool *on) {
  eb_elapsed spent = {0};
  tally counted = {.residuals = EB_HASH_SEED};
  eb_error error = take_all(s, count, &spent, counting ? &counted : NULL);
  *on = !error && s->stepper.reason > 0;
  if (error)
    fprintf(s->out, "failed %.300s\n", eb_error_message(error));
  else if (!*on)
    fprintf(s->out, "failed step %" PRId64 " ended with %s\n", s->stepper.state->step,
            eb_reason_name(s->stepper.reason));
  else if (counting)
    print_tally(s, &counted);
  else
    fprintf(s->out, "did %.9e %.9e\n", spent.cpu, spent.wall);
  eb_error_free(error);
}

static eb_error serve(server *s) {
  char line[64], what[16], end;
  int64_t count;
  eb_error error = set_up(s);
  if (error) {
    bool unserved = eb_error_kind(error) == EB_ERR_UNSUPPORTED;
    fprintf(s->out, "%s %.300s\n", unserved ? "cannot" : "failed", eb_error_message(error));
    eb_error_free(error);
    return EB_OK;
  }
  fprintf(s->out, EB_WORKER_GREETING " %d ready %d\n", EB_WORKER_VERSION, INSTRUMENTED);
  for (bool on = true; on && !fflush(s->out) && fgets(line, sizeof line, stdin);) {
    bool understood = sscanf(line, "%15s %" SCNd64 "%c", what, &count, &end) == 3 && end == '\n' &&
                      count >= 1 && (strcmp(what, "step") == 0 || strcmp(what, "count") == 0);
    if (!understood)
      return EB_ERROR(EB_ERR_USAGE, "a worker is asked 'step N' or 'count N', not '%.40s'", line);
    answer(s, *what == 'c', count, &on);
  }
  return ferror(s->out) ? EB_ERROR(EB_ERR_IO, "cannot answer: %s", strerror(errno)) : EB_OK;
}

/* Takes standard output for the answers; what else is printed goes to the error output. */
static eb_error take_output(FILE **out) {
  int link = dup(STDOUT_FILENO);
  *out = link < 0 ? NULL : fdopen(link, "w");
  if (*out && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) return EB_OK;
  return EB_ERROR(EB_ERR_IO, "a worker cannot take its output: %s", strerror(errno));
}

eb_error eb_worker_serve(const eb_case *work, double delay) {
  server s = {.work = work, .delay = delay};
  omp_set_num_threads(work->threads);
  eb_error error = take_output(&s.out);
  if (!error) error = serve(&s);
  clear(&s);
  if (s.out) fclose(s.out);
  return error;
}
