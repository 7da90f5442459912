/* A worker: a process that steps one solver through one scene, so many steps at a time and only
 * when asked, and tells what they took. Workers of several builds that are fed in turns meet the
 * same noise.
 *
 * Protocol, a line each way. A worker first says "elastobench-worker VERSION ready INSTRUMENTED":
 * whether it can turn valgrind's counting on and off. Then
 *
 *   step N    is answered by "did CPU WALL", s, of N steps together,
 *   count N   by "counted NAME=VALUE,..": of the first N steps of a fresh worker iterations, all
 *             counters (eb_counter), a hash of the residuals that were logged, one of the state.
 *
 * Either, and the greeting, may be "failed WORDS" instead, or the greeting "cannot WORDS" where the
 * solver does not serve the scene; then the worker ends, as it does with its input. Behind the last
 * step of its scene it goes on from the first one, with everything made anew where the mesh has
 * been cut. */
#ifndef EB_COMPARE_WORKER_H
#define EB_COMPARE_WORKER_H

#include <sys/types.h>

#include "harness/case/case.h"
#include "harness/compare/build.h"

#define EB_WORKER_GREETING "elastobench-worker"
enum { EB_WORKER_VERSION = 1, EB_WORKER_LINE = 2000 };

/* ---- the process itself ---------------------------------------------------------------------- */

/* Serves standard input until it ends. `delay` makes every step longer by that share of its own
 * processor time, spent in a loop on the clock: a regression of known size. Errors are
 * those of the protocol; a scene, a solver and steps that fail are told to the other side. */
EB_MUST eb_error eb_worker_serve(const eb_case *work, double delay);

/* ---- its other side -------------------------------------------------------------------------- */

typedef struct eb_worker {
  const char *name; /* of the build, for messages; borrowed */
  pid_t pid;        /* 0: there is none */
  int link;         /* our end of the socket that is its standard input and output */
  bool instrumented;
  bool unserved;             /* it has said "cannot" */
  char line[EB_WORKER_LINE]; /* the last answer, or the part of it that has come */
  size_t length;
} eb_worker;

/* Time that steps took, s. */
typedef struct eb_elapsed {
  double cpu, wall;
} eb_elapsed;

/* No worker: what eb_worker_end leaves, and may be given. */
#define EB_NO_WORKER ((eb_worker){.link = -1})

typedef struct eb_worker_setting {
  const eb_strings *before; /* the program: "valgrind" ..; NULL: nothing */
  double delay;             /* a share, as above */
  int processor;            /* that it runs on alone; -1: any */
} eb_worker_setting;

/* Starts a worker of a build. The caller ends *out also after an error. */
EB_MUST eb_error eb_worker_start(const eb_build *build, const eb_case *work,
                                 const eb_worker_setting *setting, eb_worker *out);
/* Waits for it to be ready. EB_ERR_UNSUPPORTED: the program is no worker of this version. Here and
 * below, EB_ERR_INVALID says what became of a worker that failed, crashed, said nothing for
 * `patience` seconds or speaks nonsense. */
EB_MUST eb_error eb_worker_handshake(eb_worker *worker, double patience);
EB_MUST eb_error eb_worker_step(eb_worker *worker, int64_t steps, double patience, eb_elapsed *out);
/* In two parts, so that several can count at once; worker->line then has "NAME=VALUE,..". */
EB_MUST eb_error eb_worker_ask_count(eb_worker *worker, int64_t steps);
EB_MUST eb_error eb_worker_counted(eb_worker *worker, double patience);
/* Ends its input and waits for the process to end by itself; with no patience left, or none to
 * begin with, it is killed. */
void eb_worker_end(eb_worker *worker, double patience);

#endif
