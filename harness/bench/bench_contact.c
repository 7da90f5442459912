/* Steps of contact-al on verschoor2019/rings beside those of the other methods for contact: 120
 * rings, some of which have fallen on each other, one thread.
 *
 * contact-al walks there, but for the last steps, which each method takes by itself: constraints
 * have a past, and those of a method that begins in the middle of a heap take twice the iterations
 * of those that have come about in it. A run is two steps from where contact-al gets to, so that
 * the second begins with contacts and forces of a step of its own, as in a simulation; the first
 * has those of the last run, from two steps on. Methods differ in nothing but the solution of the
 * contact problem. For the speed-up contact-al is there once more, on two threads, with the same
 * bits.
 *
 * Few rings, a step of half a millisecond, are too little for two threads, which must not be slower
 * for it than one. */
#include <omp.h>
#include <stdio.h>

#include "harness/bench/bench_step.h"
#include "harness/bench/bench.h"

enum { WALK = 430, OWN_WALK = 20, STEPS = 2, METHODS = 5 };
enum { AL, CR, ICA, SP, SP_2XCR, AL_ON_TWO = METHODS };

/* One method at work, and its last run. */
typedef struct contestant {
  eb_bench_stepper stepper;
  int failures;
  double iterations, constraints, detection,
      seconds; /* of the steps that went well; seconds in all phases */
} contestant;

typedef struct contest {
  eb_bench_start heap;
  contestant all[METHODS + 1]; /* the methods, then contact-al on two threads */
} contest;

static const struct {
  const char *name, *solver, *options;
} methods[METHODS] = {{"al", "contact-al", ""},
                      {"cr", "contact-cr", ""},
                      {"ica", "contact-ica", ""},
                      {"sp", "contact-sp", "inner=active-set"},
                      {"2xcr", "contact-sp", "inner=2xcr"}};

static void clear(void *context) {
  contest *c = context;
  for (int m = 0; m <= METHODS; m++) eb_bench_stepper_clear(&c->all[m].stepper);
  eb_bench_start_clear(&c->heap);
}

static void run(void *context, int method) {
  contest *c = context;
  contestant *one = &c->all[method == AL && omp_get_max_threads() > 1 ? AL_ON_TWO : method];
  const eb_step_log *log = one->stepper.log;
  eb_state_copy(c->heap.state, one->stepper.state);
  one->failures = 0;
  one->iterations = one->constraints = one->detection = one->seconds = 0;
  for (int i = 0; i < STEPS; i++) {
    if (eb_bench_step_on(&one->stepper) <= 0) {
      one->failures++;
      continue;
    }
    one->iterations += (double)log->iterations;
    one->constraints += log->counters[EB_COUNT_CONSTRAINTS];
    one->detection += log->phase_seconds[EB_PHASE_DETECT];
    for (int p = 0; p < EB_PHASE_COUNT; p++) one->seconds += log->phase_seconds[p];
  }
}

/* Moves a scene on by contact-al, which then is gone. */
static eb_error walk(eb_bench_start *heap, int steps) {
  eb_bench_stepper walker;
  EB_TRY(eb_bench_stepper_create(heap, methods[AL].solver, methods[AL].options, &walker));
  eb_error error = eb_bench_start_advance(heap, walker.solver, steps);
  eb_bench_stepper_clear(&walker);
  return error;
}

static eb_error set_up(void *context, const void *of, double *work) {
  contest *c = context;
  (void)of;
  *work = STEPS;
  EB_TRY(eb_bench_start_create("verschoor2019/rings", "", &c->heap));
  EB_TRY(walk(&c->heap, WALK));
  for (int m = 0; m <= METHODS; m++) {
    const int method = m == AL_ON_TWO ? AL : m;
    eb_bench_stepper *stepper = &c->all[m].stepper;
    EB_TRY(eb_bench_stepper_create_on(&c->heap, m == AL_ON_TWO ? 2 : 1, methods[method].solver,
                                      methods[method].options, stepper));
    eb_state_copy(c->heap.state, stepper->state);
    for (int i = 0; i < OWN_WALK; i++) eb_bench_step_on(stepper);
  }
  eb_state_copy(c->all[AL].stepper.state, c->heap.state);
  return EB_OK;
}

/* Of the last runs: means over steps, failures, and what detection takes of a step. */
static void describe(void *context, char *text, size_t bytes) {
  const contest *c = context;
  const contestant *al = &c->all[AL];
  int done = STEPS - al->failures;
  size_t length = (size_t)snprintf(text, bytes, "%.0f constraints, detection %.0f %%; iterations",
                                   done ? al->constraints / done : 0,
                                   done ? 100 * al->detection / al->seconds : 0);
  for (int m = 0; m < METHODS && length < bytes; m++) {
    const contestant *one = &c->all[m];
    int good = STEPS - one->failures;
    length += (size_t)snprintf(text + length, bytes - length, " %s %.0f", methods[m].name,
                               good ? one->iterations / good : 0);
    if (one->failures && length < bytes)
      length +=
          (size_t)snprintf(text + length, bytes - length, " (%d of %d fail)", one->failures, STEPS);
  }
}

/* ---- few rings ---- */

/* contact-al on one thread and on two. */
typedef struct few {
  eb_bench_start heap;
  eb_bench_stepper on[2];
} few;

static void clear_few(void *context) {
  few *f = context;
  for (int t = 0; t < 2; t++) eb_bench_stepper_clear(&f->on[t]);
  eb_bench_start_clear(&f->heap);
}

static eb_error set_up_few(void *context, const void *parameters, double *work) {
  few *f = context;
  *work = STEPS;
  EB_TRY(eb_bench_start_create("verschoor2019/rings", parameters, &f->heap));
  EB_TRY(walk(&f->heap, WALK));
  for (int t = 0; t < 2; t++) {
    EB_TRY(eb_bench_stepper_create_on(&f->heap, t + 1, "contact-al", "", &f->on[t]));
    eb_state_copy(f->heap.state, f->on[t].state);
    for (int i = 0; i < OWN_WALK; i++) eb_bench_step_on(&f->on[t]);
  }
  eb_state_copy(f->on[0].state, f->heap.state);
  return EB_OK;
}

static void run_few(void *context, int threads) {
  few *f = context;
  eb_bench_stepper *on = &f->on[threads - 1];
  eb_state_copy(f->heap.state, on->state);
  for (int i = 0; i < STEPS; i++) eb_bench_step_on(on);
}

static void describe_few(void *context, char *text, size_t bytes) {
  const eb_step_log *log = ((const few *)context)->on[1].log;
  snprintf(text, bytes, "%.0f constraints, %lld iterations in the last step",
           log->counters[EB_COUNT_CONSTRAINTS], (long long)log->iterations);
}

/* ---- the table ---- */

static const eb_bench_peer alone[] = {{"one thread", 0.9, run_few, 1}, {0}};
static const eb_bench_peer beside[] = {{"cr", 0, run, CR},
                                       {"ica", 0, run, ICA},
                                       {"sp", 7, run, SP},
                                       {"sp-2xcr", 0, run, SP_2XCR},
                                       {0}};

const eb_bench_case eb_bench_contact[] = {
    {.name = "contact-step/rings",
     .unit = "step",
     .measure = EB_BENCH_TIME,
     .target = 0.25,
     .scales_with = "dgemm",
     .bytes = sizeof(contest),
     .setup = set_up,
     .run = run,
     .which = AL,
     .clear = clear,
     .peers = beside,
     .note = "Verschoor and Jalba 2019, Table 1: 1.46 s a step, 97 iterations; SP 6.2 s and 1546, "
             "ICA 1.6 s and 180; detection should take at most 30 %",
     .describe = describe},
    {.name = "contact-step/few-rings-two",
     .unit = "step",
     .measure = EB_BENCH_TIME,
     .bytes = sizeof(few),
     .of = "bodies=8",
     .setup = set_up_few,
     .run = run_few,
     .which = 2,
     .clear = clear_few,
     .peers = alone,
     .threads = 2,
     .describe = describe_few},
    {0}};
