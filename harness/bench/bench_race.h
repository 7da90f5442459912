/* Steps of solvers, timed beside each other: a race is a table's row. */
#ifndef EB_BENCH_RACE_H
#define EB_BENCH_RACE_H

#include "harness/bench/bench.h"
#include "problems/scene_impl.h"
#include "solvers/solver.h"

enum { EB_BENCH_SIDES = 6 };

/* A solver in a race. */
typedef struct eb_bench_side_of {
  const char *solver, *options; /* a NULL solver ends the list */
  const char *parameters;       /* of a scene of its own; NULL: the race's */
  int threads;                  /* 0: as many as are asked of OpenMP when it steps */
} eb_bench_side_of;

/* What a run's work is counted by. */
typedef enum eb_bench_work {
  EB_WORK_STEPS,
  EB_WORK_ITERATIONS,       /* of a step of the first side */
  EB_WORK_ITERATIONS_SHARE, /* those over the second side's */
  EB_WORK_SWEPT_ELEMENTS,   /* those times elements */
  EB_WORK_ELEMENTS
} eb_bench_work;

struct eb_bench_race;
typedef struct eb_bench_race eb_bench_race;

typedef struct eb_bench_race_of {
  const char *scene, *parameters; /* scene NULL: the checks' block (harness/check/block.h) */
  eb_bench_side_of sides[EB_BENCH_SIDES];
  /* Where runs begin: so many steps of a walker into the scene's motion. It is a solver that is
   * gone afterwards or, where it has none, the side of that index; of sides with scenes of their
   * own, each walks by itself. */
  int walk;
  eb_bench_side_of walker;
  int walking_side;
  void (*place)(const eb_scene *scene, eb_state *state); /* instead of a walk; NULL: none */
  /* Steps that each side takes on from there, before the first side's state is the start: contacts
   * of its own, which have come about. */
  int own_walk;
  int steps;      /* of a run; 0: one */
  bool goes_on;   /* a run goes on from where its side is, instead of from the start */
  int on_two;     /* the side that runs for the first one on two threads; 0: none */
  eb_phase phase; /* that eb_bench_race_phase charges */
  eb_bench_work work;
  eb_error (*check)(const eb_bench_race *race); /* after a step of every side; NULL: none */
} eb_bench_race_of;

/* What steps that went well report, of the last run or, where runs go on, of all. */
typedef struct eb_bench_tally {
  int steps, failures;
  double iterations;
  double counters[EB_COUNTERS], phase_seconds[EB_PHASE_COUNT];
} eb_bench_tally;

/* A scene and a state in its motion. */
typedef struct eb_bench_start {
  eb_scene *scene;
  eb_state *state;
} eb_bench_start;

typedef struct eb_bench_side {
  eb_bench_start own; /* zeroed without a scene of its own */
  const eb_bench_start *start;
  eb_solver *solver;
  eb_state *state;
  eb_step_log *log;                     /* of the last step */
  bool follows;                         /* OpenMP's number of threads */
  double seconds;                       /* of the last run's steps, by the clock */
  double least_seconds[EB_PHASE_COUNT]; /* a phase in any step */
  eb_bench_tally tally;
} eb_bench_side;

struct eb_bench_race {
  const eb_bench_race_of *of;
  eb_bench_start start;
  int count, last; /* sides; the one that ran last */
  eb_bench_side sides[EB_BENCH_SIDES];
};

/* A block of 12^3 cubes, five tetrahedra each (2197 nodes, 8640 tetrahedra), as Lewin 2016 drops,
 * and a softer one of 28^3. */
#define EB_BENCH_STEEL                                                                             \
  "nx=12,ny=12,nz=12,lx=1,ly=1,lz=1,element=tets5,material=fixed-corotational,nu=0,E=200e9,"       \
  "rho=8050,dt=0.016666666666666666,initial=spin"
#define EB_BENCH_LARGE                                                                             \
  "nx=28,ny=28,nz=28,lx=1,ly=1,lz=1,element=tets5,material=fixed-corotational,nu=0,E=1e6,"         \
  "dt=0.016666666666666666,initial=spin"

/* ---- of a case ------------------------------------------------------------------------------- */

/* `of`: an eb_bench_race_of; the context is an eb_bench_race, or begins with one. */
EB_MUST eb_error eb_bench_race_set_up(void *context, const void *of, double *work);
void eb_bench_race_run(void *context, int side);
void eb_bench_race_clear(void *context);

/* What can be charged: seconds of the steps alone, those of the phase, those without it. */
double eb_bench_race_steps(void *context);
double eb_bench_race_phase(void *context);
double eb_bench_race_others(void *context);

/* What a case has of a race, by the fields of an eb_bench_race_of; its sides, on OpenMP's
 * threads or on so many; and peers, which are the other sides in their order. */
#define EB_RACE(...)                                                                               \
  .bytes = sizeof(eb_bench_race), .of = &(const eb_bench_race_of){__VA_ARGS__},                    \
  .setup = eb_bench_race_set_up, .run = eb_bench_race_run, .clear = eb_bench_race_clear
#define EB_SIDE_ON(threads_, solver_, options_)                                                    \
  { .solver = solver_, .options = options_, .threads = threads_ }
#define EB_SIDE(solver_, options_) EB_SIDE_ON(0, solver_, options_)
#define EB_PEER(name_, target_)                                                                    \
  { .name = name_, .target = target_ }
#define EB_BESIDE(...)                                                                             \
  .peers = (const eb_bench_peer[]) {                                                               \
    __VA_ARGS__, EB_PEER(NULL, 0)                                                                  \
  }

/* ---- by hand --------------------------------------------------------------------------------- */

/* Brings a side to the start. */
void eb_bench_side_begin(eb_bench_side *side);
/* One step from where the side is; adds up its seconds and its tally. A negative reason is a
 * failure. */
eb_reason eb_bench_side_step(eb_bench_side *side);

#endif
