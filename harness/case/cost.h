/* What a case costs beside its timed steps: the time until the first step, processor time of the
 * whole process and of the steps, work that goes on while the clock stands, memory that grows.
 *
 * The clock runs from eb_cost_start to eb_cost_stop, once a step; all else is the harness's. What
 * then uses the processor is the thread that calls, the threads that audit with it, and, as it
 * falls asleep, the team of OpenMP that it leads. Any other thread is the solver's, and so
 *
 *     untimed CPU = sum over the times between a stop and the next start of
 *                   (CPU of the process)
 *                   - (CPU of the calling thread, of the auditing ones and of the team).
 *
 * A process that works for the solver (helper.h) counts as its threads do.
 *
 * A worker that spins before it sleeps is of the team: that is no hidden work. The readings are
 * such that the team's own work may be taken off twice for some microseconds but is never
 * counted. */
#ifndef EB_CASE_COST_H
#define EB_CASE_COST_H

#include <time.h>

#include "harness/audit/team.h"
#include "harness/case/child.h"
#include "harness/case/helper.h"
#include "harness/results/record.h"

typedef struct eb_cost {
  double started;                  /* of the process, on the clock of eb_wall_seconds */
  double first_step_at;            /* s after that; 0 before the first step */
  double timed_cpu, untimed_cpu;   /* s so far */
  double resident, first_resident; /* bytes after the last step and after the first one */
  int64_t threads, threads_alive;  /* at the end of the last step; most at the end of any */
  double process_cpu, team_cpu;    /* s at the last start or stop */
  /* Descriptors of /proc/stat, /proc/self/statm and /proc/self/task; -1 where there is none. */
  int stat, statm, tasks;
  clockid_t *team; /* processor clocks of the team; the first is that of the calling thread */
  int team_size;
  const eb_team *audit_team; /* threads of the harness's; NULL: none */
  eb_helper helper;          /* the process that works for the solver, if any */
} eb_cost;

/* In the thread that will step, after omp_set_num_threads. `page` tells when the process was
 * started; when it does not, the kernel does (to 10 ms). eb_cost_close releases what this
 * allocates. */
EB_MUST eb_error eb_cost_open(const eb_progress_page *page, eb_cost *out);
void eb_cost_close(eb_cost *cost);

/* s of processor time of this process and of the helper. */
double eb_cost_cpu(eb_cost *cost);

/* The solver's clock starts: to be called just before the clocks of the step are read. */
void eb_cost_start(eb_cost *cost);
/* It stands: to be called just after they were read again. Reads the memory and counts the threads;
 * cost->resident is that of the step. Where a reading fails, as when the solver has closed our
 * descriptors, the one before holds. */
void eb_cost_stop(eb_cost *cost);

/* Sets the run's peak_rss, first_step_at, process_cpu_seconds (children included that were waited
 * for), timed_cpu_seconds, untimed_cpu_seconds, memory_growth and threads_alive. The kernel may be
 * behind with resident memory by some hundred pages a core. */
void eb_cost_fill(eb_cost *cost, eb_run *run);

/* Seconds that the hypervisor has taken from all cores since boot, as the descriptor of /proc/stat
 * says; 0 where it is not told. The kernel counts in ticks of 10 ms. */
double eb_steal_seconds(int stat);

#endif
