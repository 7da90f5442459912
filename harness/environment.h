/* Where a result comes from: machine, build, libraries, command line. Goes into /environment as
 * attributes. */
#ifndef EB_ENVIRONMENT_H
#define EB_ENVIRONMENT_H

#include <stdbool.h>

#include "harness/results/h5.h"
#include "problems/base/strings.h"

/* The compiler's flags, and what they let it use of the processor: names as in /proc/cpuinfo, NULL
 * at the end. */
extern const char eb_build_flags[], *const eb_build_features[];

/* "0.1.0 (commit abc, with local changes), gcc ..., -O3 ..." */
EB_MUST eb_error eb_version_text(char **out);

/* What machine and build are, for records of measurements; the texts are static. */
typedef struct eb_host {
  char cpu[256], name[256];
  int cores;
  const char *compiler, *flags, *commit,
      *commit_date; /* "unknown" and "" outside of a repository */
  bool dirty;       /* built with local changes */
} eb_host;
void eb_host_describe(eb_host *out);

/* The machine's speed; 0 where it was not measured. */
typedef struct eb_rates {
  double dgemm, triad;         /* flop/s and byte/s, one thread */
  double dgemm_all, triad_all; /* on `threads` threads */
  int threads;
  /* UTC, ISO 8601: before the start of the run when they were kept; "" when not measured. */
  char measured_at[32];
} eb_rates;

/* What the rates depend on, as text: processor, cores, build, BLAS, variables and settings of
 * threads. */
EB_MUST eb_error eb_environment_facts(char **out);
/* The time as it is written everywhere: UTC, ISO 8601. */
void eb_time_text(char out[32]);

/* Writes a result file that holds /environment and no runs. */
EB_MUST eb_error eb_environment_write(const char *path, const char *command_line,
                                      const eb_rates *rates);

/* Quoted as a shell would want it back. */
EB_MUST eb_error eb_command_line(int argc, char *const *argv, char **out);

/* Settings of the processes that run cases: one thread for BLAS, `threads` for OpenMP,
 * "NAME=value". Threads are bound and spin at barriers only when the user's environment says so
 * (OMP_PROC_BIND, OMP_WAIT_POLICY): on shared machines binding puts competing processes onto one
 * core, and a spinning thread waits for a whole time slice of one that was taken off its core. An
 * OpenBLAS that does not know the processor is told what kernels to take (OPENBLAS_CORETYPE, unless
 * the user's environment says it). */
EB_MUST eb_error eb_environment_settings(int threads, eb_strings *out);

/* Physical memory that this process may use (cgroup limits included), bytes. */
double eb_machine_memory(void);

#endif
