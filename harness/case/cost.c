#include "harness/case/cost.h"

#include <fcntl.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/base/clock.h"
#include "problems/base/memory.h"

/* ---- the machine ----------------------------------------------------------------------------- */

double eb_steal_seconds(int stat) {
  char text[512] = "";
  unsigned long long steal = 0;
  if (stat < 0 || pread(stat, text, sizeof text - 1, 0) <= 0) return 0;
  if (sscanf(text, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) != 1) return 0;
  return (double)steal / (double)sysconf(_SC_CLK_TCK);
}

/* On the clock of eb_wall_seconds: as the page says, else as the kernel does, else now. The name in
 * the second column of its file may hold anything, the columns behind its last bracket are numbers:
 * starttime, in ticks since boot, is the 20th of them. */
static double process_start(const eb_progress_page *page) {
  enum { COLUMNS_BEFORE = 19 };
  char text[1024] = "";
  double now = eb_wall_seconds();
  if (page && page->started > 0 && page->started <= now) return page->started;
  int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return now;
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  const char *at = got > 0 ? strrchr(text, ')') : NULL;
  if (at) at++;
  for (int i = 0; at && i < COLUMNS_BEFORE; i++) {
    at += strspn(at, " ");
    at = strchr(at, ' ');
  }
  unsigned long long ticks;
  if (!at || sscanf(at, "%llu", &ticks) != 1) return now;
  double start = (double)ticks / (double)sysconf(_SC_CLK_TCK);
  return fmin(now, now - (eb_seconds_of(CLOCK_BOOTTIME) - start));
}

/* ---- the team -------------------------------------------------------------------------------- */

/* Each thread of the team tells its clock. The runtime may end threads and start others, so this is
 * done again when one is gone. */
static void meet_team(eb_cost *cost) {
  int met = 1;
  pthread_getcpuclockid(pthread_self(), &cost->team[0]);
#pragma omp parallel num_threads(cost->team_size) reduction(+ : met)
  {
    int thread = omp_get_thread_num();
    if (thread > 0 && thread < cost->team_size &&
        pthread_getcpuclockid(pthread_self(), &cost->team[thread]) == 0)
      met++;
  }
  /* Those that the runtime did not give. */
  for (int i = met; i < cost->team_size; i++) cost->team[i] = cost->team[0];
}

/* Sum over the team's other threads and those that audit; false when one of the team is gone. */
static bool workers_cpu(const eb_cost *cost, double *sum) {
  struct timespec time;
  bool all = true;
  *sum = eb_team_cpu_seconds(cost->audit_team);
  for (int i = 1; i < cost->team_size; i++) {
    if (cost->team[i] == cost->team[0]) continue;
    if (clock_gettime(cost->team[i], &time))
      all = false;
    else
      *sum += (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
  }
  return all;
}

/* ---- life ------------------------------------------------------------------------------------ */

eb_error eb_cost_open(const eb_progress_page *page, eb_cost *out) {
  *out = (eb_cost){.stat = -1, .statm = -1, .tasks = -1, .started = process_start(page)};
  out->team_size = omp_get_max_threads();
  EB_TRY(EB_NEW(out->team, out->team_size));
  out->stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
  out->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  out->tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  meet_team(out);
  return EB_OK;
}

void eb_cost_close(eb_cost *cost) {
  if (cost->stat >= 0) close(cost->stat);
  if (cost->statm >= 0) close(cost->statm);
  if (cost->tasks >= 0) close(cost->tasks);
  free(cost->team);
  eb_helper_close(&cost->helper);
  *cost = (eb_cost){.stat = -1, .statm = -1, .tasks = -1};
}

/* ---- steps ----------------------------------------------------------------------------------- */

double eb_cost_cpu(eb_cost *cost) {
  return eb_cpu_seconds() + eb_helper_cpu(&cost->helper);
}

/* The kernel brings a thread's share of the process's time up to date when that thread's clock is
 * read, but not those of other running threads when the process's is: workers first, then the
 * process, then what is taken off it. */
void eb_cost_start(eb_cost *cost) {
  double workers;
  if (cost->first_step_at == 0) {
    cost->first_step_at = eb_wall_seconds() - cost->started;
  } else {
    (void)workers_cpu(cost, &workers);
    double process = eb_cost_cpu(cost), team = eb_seconds_of(CLOCK_THREAD_CPUTIME_ID);
    if (workers_cpu(cost, &workers))
      cost->untimed_cpu += process - cost->process_cpu - (team + workers - cost->team_cpu);
  }
  cost->process_cpu = eb_cost_cpu(cost);
}

void eb_cost_stop(eb_cost *cost) {
  double workers;
  cost->timed_cpu += eb_cost_cpu(cost) - cost->process_cpu;
  /* A folder has a link from above, one from itself and one from each folder in it: here one a
   * thread. */
  struct stat info;
  if (fstat(cost->tasks, &info) == 0 && S_ISDIR(info.st_mode)) {
    cost->threads = (int64_t)info.st_nlink - 2 - eb_team_size(cost->audit_team) +
                    eb_helper_threads(&cost->helper);
    if (cost->threads > cost->threads_alive) cost->threads_alive = cost->threads;
  }
  char text[128] = "";
  long long total, resident;
  if (pread(cost->statm, text, sizeof text - 1, 0) > 0 &&
      sscanf(text, "%lld %lld", &total, &resident) == 2) {
    cost->resident =
        (double)resident * (double)sysconf(_SC_PAGESIZE) + eb_helper_resident(&cost->helper);
    if (cost->first_resident == 0) cost->first_resident = cost->resident;
  }
  if (!workers_cpu(cost, &workers)) {
    meet_team(cost);
    (void)workers_cpu(cost, &workers);
  }
  cost->team_cpu = workers + eb_seconds_of(CLOCK_THREAD_CPUTIME_ID);
  cost->process_cpu = eb_cost_cpu(cost);
}

/* Highest resident memory of a process so far, bytes; of this one 0 will do. Not getrusage: its
 * maximum outlives exec and would be that of the parent. */
static double peak_memory(pid_t pid) {
  char line[128], path[64] = "/proc/self/status";
  long long kilobytes = 0;
  if (pid > 0) snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
  FILE *status = fopen(path, "re");
  if (!status) return 0;
  while (fgets(line, sizeof line, status))
    if (sscanf(line, "VmHWM: %lld kB", &kilobytes) == 1) break;
  fclose(status);
  return 1024.0 * (double)kilobytes;
}

void eb_cost_fill(eb_cost *cost, eb_run *run) {
  struct rusage children = {0};
  getrusage(RUSAGE_CHILDREN, &children);
  run->peak_rss = peak_memory(0);
  if (cost->helper.pid > 0) run->peak_rss += peak_memory(cost->helper.pid);
  run->first_step_at = cost->first_step_at;
  run->process_cpu_seconds = eb_cpu_seconds() + eb_helper_cpu_alive(&cost->helper) +
                             (double)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
                             1e-6 * (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec);
  run->timed_cpu_seconds = cost->timed_cpu;
  run->untimed_cpu_seconds = fmax(0, cost->untimed_cpu);
  run->memory_growth = cost->resident - cost->first_resident;
  run->threads_alive = cost->threads_alive;
}
