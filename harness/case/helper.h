/* A process that a solver declares to work for it (eb_solver.process): what it costs, and that it
 * has no others. Its processor time and memory are the solver's, on the clock and off it. */
#ifndef EB_CASE_HELPER_H
#define EB_CASE_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

typedef struct eb_helper {
  pid_t pid; /* 0: there is none */
  clockid_t clock;
  int stat, statm, tasks; /* descriptors of files and of the folder of its /proc; -1: none */
  double past;            /* s of processor time: of those before it, and of one that is gone */
  double seen;            /* s: its own, when it was asked last */
  double next_look;       /* on the clock of eb_wall_seconds */
} eb_helper;

/* Takes the place of the one before, whose time is kept; pid 0: there is none. False when that
 * process is no child of this one. */
bool eb_helper_set(eb_helper *helper, pid_t pid);
void eb_helper_close(eb_helper *helper);

/* s of processor time, of children too that it has waited for, since the first one was set. */
double eb_helper_cpu(eb_helper *helper);
/* Of that what no wait has told this process of. */
double eb_helper_cpu_alive(eb_helper *helper);
double eb_helper_resident(const eb_helper *helper); /* bytes */
int64_t eb_helper_threads(const eb_helper *helper);

/* Whether this process has no descendant but the helper. If not, says in words what there is. Reads
 * the table of processes, and so looks only when that takes a twentieth of the time at most, or
 * when it must. */
bool eb_helper_is_alone(eb_helper *helper, bool must, char *words, size_t bytes);

#endif
