/* Kernel benchmarks: `make bench`.
 *
 * A case prepares its data once, then its run function is timed many times, interleaved with the
 * machine's DGEMM and triad and with the case's peers in the same process, so that every figure
 * stands beside what the machine and the competition could do at that moment. Each bench_*.c
 * exports one table. */
#ifndef EB_BENCH_H
#define EB_BENCH_H

#include <stddef.h>

#include "problems/base/error.h"

typedef enum eb_bench_measure {
  EB_BENCH_RATE,      /* work / second, target is a lower bound */
  EB_BENCH_TIME,      /* seconds per unit of work, target is an upper bound */
  EB_BENCH_BANDWIDTH, /* work is bytes: fraction of triad bandwidth, target is a lower bound */
  EB_BENCH_FLOPS,     /* work is flops: fraction of the DGEMM rate, target is a lower bound */
  EB_BENCH_SHARE      /* work is a share of what the first peer does: seconds over work x the peer's
                         seconds (1: its price), target is an upper bound */
} eb_bench_measure;

/* What is timed, on a case's context; `which` is the case's or the peer's own. */
typedef void eb_bench_runs(void *context, int which);

/* What a case is measured against, on the case's own context and in the same rounds. */
typedef struct eb_bench_peer {
  const char *name;
  double target; /* lower bound of the peer's seconds over the case's; 0: none */
  /* NULL: what the case runs, with its place among the peers, from 1 on, for `which` */
  eb_bench_runs *run;
  int which;
} eb_bench_peer;

enum { EB_BENCH_PEERS = 4 };

typedef struct eb_bench_case {
  const char *name;
  const char *unit; /* of the work: "tets", "matrices", ... */
  eb_bench_measure measure;
  double target;           /* in SI (tets/s, s, fraction); 0: none */
  const char *scales_with; /* "dgemm" or "triad": with 2 threads the speed-up is judged against
                              0.85 of that kernel's in the same run; NULL: one thread only */
  size_t bytes;            /* of the context, which the runner makes, filled with 0 */
  const void *of;          /* what the context is made of: for `setup`, which knows its type */
  /* *work: units of work in one run; 1 when it is left alone. */
  eb_error (*setup)(void *context, const void *of, double *work);
  eb_bench_runs *run;
  int which;
  void (*clear)(void *context); /* frees what the context holds, after a set-up that failed too */
  /* Seconds of the last run, of case or peer, that count; NULL: all of them. */
  double (*charged)(void *context);
  const eb_bench_peer *peers; /* at most EB_BENCH_PEERS, ended by a NULL name; NULL: none */
  int threads;                /* of case and machine, but for scaling; 0: one */
  const char *note;           /* printed below the figures: what others measured; NULL: nothing */
  /* Writes one line on what the runs did, after them; NULL: nothing. */
  void (*describe)(void *context, char *text, size_t bytes);
} eb_bench_case;

/* The tables of cases, one a bench_*.c, each ended by a NULL name. */
#define EB_BENCH_TABLES(ENTRY)                                                                     \
  ENTRY(elasticity)                                                                                \
  ENTRY(rotation)                                                                                  \
  ENTRY(linalg)                                                                                    \
  ENTRY(cholesky)                                                                                  \
  ENTRY(update)                                                                                    \
  ENTRY(steps)                                                                                     \
  ENTRY(subspace)                                                                                  \
  ENTRY(projective)                                                                                \
  ENTRY(collision)                                                                                 \
  ENTRY(audit)

#define EB_BENCH_DECLARE(table) extern const eb_bench_case eb_bench_##table[];
EB_BENCH_TABLES(EB_BENCH_DECLARE)
#undef EB_BENCH_DECLARE

#endif
