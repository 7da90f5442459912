/* Time, by processes that are fed in turns. */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "harness/compare/layers.h"
#include "harness/compare/worker.h"
#include "problems/base/random.h"

/* What a block takes at least, s: clock and answer cost some microseconds, and what goes on beside
 * changes within tens of milliseconds. On two cores with five processes on them, rounds of one turn
 * with blocks four times as long, of processes that ran where they liked, had twice the standard
 * deviation of rounds of four turns on one processor (5 to 10 % against 2 to 5 %). Two turns make
 * rounds cheap enough for 160 of them. */
static const double block_seconds = 2.5e-3;
enum { TURNS = 2 /* of a round */, PROBE = 20 /* steps that tell how long one is */ };

typedef struct race {
  const eb_compare_request *request;
  const eb_case *work;
  int wanted; /* rounds */
  uint64_t *lots;
  eb_compared *out;
  eb_worker workers[EB_COMPARED_PROCESSES];
  int processor; /* that all of them run on in this life; -1: any */
} race;

double eb_injected_delay(double margin) {
  return fmax(0.05, margin + 0.03);
}

/* All processes in an order drawn by lot (Fisher and Yates). */
static void draw_order(uint64_t *lots, int order[EB_COMPARED_PROCESSES]) {
  for (int k = 0; k < EB_COMPARED_PROCESSES; k++) {
    int other = (int)(eb_random_word(lots) % (uint64_t)(k + 1));
    order[k] = order[other];
    order[other] = k;
  }
}

static eb_error start(race *r, int process) {
  const eb_build *build = &r->request->builds[process == EB_COMPARED_HEAD ? EB_HEAD : EB_BASE];
  double delay = process == EB_COMPARED_HEAD      ? r->request->delay
                 : process == EB_COMPARED_DELAYED ? eb_injected_delay(r->request->margin)
                                                  : 0;
  const eb_worker_setting setting = {.delay = delay, .processor = r->processor};
  return eb_worker_start(build, r->work, &setting, &r->workers[process]);
}

static eb_error step(race *r, int process, int64_t steps, eb_elapsed *spent) {
  return eb_worker_step(&r->workers[process], steps, r->request->patience, spent);
}

/* Takes the same steps in all processes, whose first ones are slow: caches and workspaces are cold.
 */
static eb_error warm_up(race *r, const int order[EB_COMPARED_PROCESSES]) {
  eb_elapsed spent;
  int64_t probe = r->work->steps < PROBE ? r->work->steps : PROBE;
  for (int k = 0; k < EB_COMPARED_PROCESSES; k++) EB_TRY(step(r, order[k], 1, &spent));
  for (int k = 0; k < EB_COMPARED_PROCESSES; k++) {
    EB_TRY(step(r, order[k], r->out->block > 0 ? r->out->block : probe, &spent));
    if (r->out->block == 0 && order[k] == EB_COMPARED_BASE)
      r->out->step_seconds = spent.cpu / (double)probe;
  }
  if (r->out->block == 0)
    r->out->block = (int64_t)fmax(1, ceil(fmin(block_seconds / r->out->step_seconds, 1e6)));
  return EB_OK;
}

static eb_error start_all(race *r) {
  int order[EB_COMPARED_PROCESSES] = {0};
  draw_order(r->lots, order);
  for (int k = 0; k < EB_COMPARED_PROCESSES; k++) EB_TRY(start(r, order[k]));
  for (int k = 0; k < EB_COMPARED_PROCESSES; k++)
    EB_TRY(eb_worker_handshake(&r->workers[order[k]], r->request->patience));
  return warm_up(r, order);
}

/* Adds the mean of the logarithms of what the processes took. */
static eb_error take_turn(race *r, double cpu[EB_COMPARED_PROCESSES],
                          double wall[EB_COMPARED_PROCESSES]) {
  int order[EB_COMPARED_PROCESSES] = {0};
  draw_order(r->lots, order);
  for (int k = 0; k < 2 * EB_COMPARED_PROCESSES; k++) {
    eb_elapsed spent;
    int process = order[k < EB_COMPARED_PROCESSES ? k : 2 * EB_COMPARED_PROCESSES - 1 - k];
    EB_TRY(step(r, process, r->out->block, &spent));
    cpu[process] += log(spent.cpu) / (2 * TURNS);
    wall[process] += log(spent.wall) / (2 * TURNS);
  }
  return EB_OK;
}

static eb_error take_round(race *r) {
  double cpu[EB_COMPARED_PROCESSES] = {0}, wall[EB_COMPARED_PROCESSES] = {0};
  for (int turn = 0; turn < TURNS; turn++) EB_TRY(take_turn(r, cpu, wall));
  for (int process = EB_COMPARED_BASE + 1; process < EB_COMPARED_PROCESSES; process++)
    EB_TRY(eb_series_add(&r->out->cpu[process], cpu[process] - cpu[EB_COMPARED_BASE]));
  return eb_series_add(&r->out->wall, wall[EB_COMPARED_HEAD] - wall[EB_COMPARED_BASE]);
}

/* One of those that this process may use, drawn by lot, for cases of one thread; -1 when they are
 * not to be had. */
static int draw_processor(race *r) {
  cpu_set_t allowed;
  if (r->work->threads > 1 || sched_getaffinity(0, sizeof allowed, &allowed)) return -1;
  uint64_t place = eb_random_word(r->lots) % (uint64_t)CPU_COUNT(&allowed);
  for (int k = 0; k < CPU_SETSIZE; k++)
    if (CPU_ISSET(k, &allowed) && place-- == 0) return k;
  return -1;
}

/* One life of the processes, or what is wanted of it. */
static eb_error live(race *r, int rounds) {
  r->processor = draw_processor(r);
  EB_TRY(start_all(r));
  for (int k = 0; k < rounds; k++) {
    if (eb_signals_pending(r->request->signals)) return EB_ERROR(EB_ERR_IO, "interrupted");
    eb_status_line_show(r->request->status, "round %d of %d: %s, %s", r->out->wall.count + 1,
                        r->wanted, r->work->scene->name, r->work->solver->name);
    EB_TRY(take_round(r));
  }
  return EB_OK;
}

eb_error eb_layer_rounds(const eb_compare_request *request, const eb_case *work, int rounds,
                         uint64_t *lots, eb_compared *out) {
  race r = {.request = request, .work = work, .wanted = rounds, .lots = lots, .out = out};
  eb_error error = EB_OK;
  while (!error && out->wall.count < rounds) {
    int left = rounds - out->wall.count;
    for (int process = 0; process < EB_COMPARED_PROCESSES; process++)
      r.workers[process] = EB_NO_WORKER;
    error = live(&r, left < EB_LIFE ? left : EB_LIFE);
    for (int process = 0; process < EB_COMPARED_PROCESSES; process++)
      eb_worker_end(&r.workers[process], 0);
  }
  return eb_compared_trouble(error, out);
}
