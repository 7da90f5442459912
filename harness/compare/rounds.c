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
  uint64_t *lots;
  eb_compared *out;
  eb_worker workers[EB_LANES];
  int processor; /* that all of them run on in this life; -1: any */
} race;

double eb_injected_delay(double margin) {
  return fmax(0.05, margin + 0.03);
}

/* All lanes in an order drawn by lot (Fisher and Yates). */
static void draw_order(uint64_t *lots, int order[EB_LANES]) {
  for (int k = 0; k < EB_LANES; k++) {
    int other = (int)(eb_random_word(lots) % (uint64_t)(k + 1));
    order[k] = order[other];
    order[other] = k;
  }
}

static eb_error start(race *r, int lane) {
  const eb_build *build = &r->request->builds[lane == EB_LANE_HEAD ? EB_HEAD : EB_BASE];
  double delay = lane == EB_LANE_HEAD      ? r->request->delay
                 : lane == EB_LANE_DELAYED ? eb_injected_delay(r->request->margin)
                                           : 0;
  const eb_worker_setting setting = {.delay = delay, .processor = r->processor};
  return eb_worker_start(build, r->work, &setting, &r->workers[lane]);
}

static eb_error step(race *r, int lane, int64_t steps, eb_stint *spent) {
  return eb_worker_step(&r->workers[lane], steps, r->request->patience, spent);
}

/* Takes the same steps in all lanes, whose first ones are slow: caches and workspaces are cold. */
static eb_error warm_up(race *r, const int order[EB_LANES]) {
  eb_stint spent;
  int64_t probe = r->work->steps < PROBE ? r->work->steps : PROBE;
  for (int k = 0; k < EB_LANES; k++) EB_TRY(step(r, order[k], 1, &spent));
  for (int k = 0; k < EB_LANES; k++) {
    EB_TRY(step(r, order[k], r->out->block > 0 ? r->out->block : probe, &spent));
    if (r->out->block == 0 && order[k] == EB_LANE_BASE)
      r->out->step_seconds = spent.cpu / (double)probe;
  }
  if (r->out->block == 0)
    r->out->block = (int64_t)fmax(1, ceil(fmin(block_seconds / r->out->step_seconds, 1e6)));
  return EB_OK;
}

static eb_error start_all(race *r) {
  int order[EB_LANES] = {0};
  draw_order(r->lots, order);
  for (int k = 0; k < EB_LANES; k++) EB_TRY(start(r, order[k]));
  for (int k = 0; k < EB_LANES; k++)
    EB_TRY(eb_worker_greet(&r->workers[order[k]], r->request->patience));
  return warm_up(r, order);
}

/* Adds the mean of the logarithms of what the lanes took. */
static eb_error take_turn(race *r, double cpu[EB_LANES], double wall[EB_LANES]) {
  int order[EB_LANES] = {0};
  draw_order(r->lots, order);
  for (int k = 0; k < 2 * EB_LANES; k++) {
    eb_stint spent;
    int lane = order[k < EB_LANES ? k : 2 * EB_LANES - 1 - k];
    EB_TRY(step(r, lane, r->out->block, &spent));
    cpu[lane] += log(spent.cpu) / (2 * TURNS);
    wall[lane] += log(spent.wall) / (2 * TURNS);
  }
  return EB_OK;
}

static eb_error take_round(race *r) {
  double cpu[EB_LANES] = {0}, wall[EB_LANES] = {0};
  for (int turn = 0; turn < TURNS; turn++) EB_TRY(take_turn(r, cpu, wall));
  for (int lane = EB_LANE_BASE + 1; lane < EB_LANES; lane++)
    EB_TRY(eb_series_add(&r->out->cpu[lane], cpu[lane] - cpu[EB_LANE_BASE]));
  return eb_series_add(&r->out->wall, wall[EB_LANE_HEAD] - wall[EB_LANE_BASE]);
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
    EB_TRY(take_round(r));
  }
  return EB_OK;
}

eb_error eb_layer_rounds(const eb_compare_request *request, const eb_case *work, int rounds,
                         uint64_t *lots, eb_compared *out) {
  race r = {.request = request, .work = work, .lots = lots, .out = out};
  eb_error error = EB_OK;
  while (!error && out->wall.count < rounds) {
    int left = rounds - out->wall.count;
    for (int lane = 0; lane < EB_LANES; lane++) r.workers[lane] = EB_NO_WORKER;
    error = live(&r, left < EB_LIFE ? left : EB_LIFE);
    for (int lane = 0; lane < EB_LANES; lane++) eb_worker_end(&r.workers[lane], 0);
  }
  return eb_compared_trouble(error, out);
}
