/* Processor time is read from the process's own clock, to nanoseconds; that of children which it
 * has waited for stands in /proc/PID/stat, in ticks of 10 ms: enough to see work that it lets
 * others do and that is over when one looks. */
#include "harness/case/helper.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/case/processes.h"
#include "problems/base/clock.h"

static int open_of(pid_t pid, const char *what, int flags) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
  return open(path, O_RDONLY | O_CLOEXEC | flags);
}

static void close_files(eb_helper *helper) {
  if (helper->pid == 0) return;
  if (helper->stat >= 0) close(helper->stat);
  if (helper->statm >= 0) close(helper->statm);
  if (helper->tasks >= 0) close(helper->tasks);
}

bool eb_helper_set(eb_helper *helper, pid_t pid) {
  siginfo_t info;
  double past = helper->past + helper->seen;
  close_files(helper);
  *helper = (eb_helper){.past = past, .stat = -1, .statm = -1, .tasks = -1};
  if (pid == 0) return true;
  if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
      clock_getcpuclockid(pid, &helper->clock))
    return false;
  helper->pid = pid;
  helper->stat = open_of(pid, "stat", 0);
  helper->statm = open_of(pid, "statm", 0);
  helper->tasks = open_of(pid, "task", O_DIRECTORY);
  return true;
}

void eb_helper_close(eb_helper *helper) {
  close_files(helper);
  *helper = (eb_helper){0};
}

/* cutime and cstime are the 14th and 15th columns behind the last bracket. */
static double waited_cpu(const eb_helper *helper) {
  char text[1024] = "";
  unsigned long long user, system;
  if (helper->stat < 0 || pread(helper->stat, text, sizeof text - 1, 0) <= 0) return 0;
  const char *behind = strrchr(text, ')');
  if (!behind ||
      sscanf(behind + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %llu %llu", &user,
             &system) != 2)
    return 0;
  return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

double eb_helper_cpu_alive(eb_helper *helper) {
  struct timespec time;
  if (helper->pid == 0 || clock_gettime(helper->clock, &time)) return 0;
  helper->seen = (double)time.tv_sec + 1e-9 * (double)time.tv_nsec + waited_cpu(helper);
  return helper->seen;
}

double eb_helper_cpu(eb_helper *helper) {
  (void)eb_helper_cpu_alive(helper);
  return helper->past + helper->seen;
}

double eb_helper_resident(const eb_helper *helper) {
  char text[128] = "";
  long long total, resident;
  if (helper->pid == 0 || helper->statm < 0 ||
      pread(helper->statm, text, sizeof text - 1, 0) <= 0 ||
      sscanf(text, "%lld %lld", &total, &resident) != 2)
    return 0;
  return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

/* A folder has a link from above, one from itself and one from each folder in it: here one a
 * thread. */
int64_t eb_helper_threads(const eb_helper *helper) {
  struct stat info;
  if (helper->pid == 0 || fstat(helper->tasks, &info) || info.st_nlink < 2) return 0;
  return (int64_t)info.st_nlink - 2;
}

bool eb_helper_is_alone(eb_helper *helper, bool must, char *words, size_t bytes) {
  double began = eb_wall_seconds();
  eb_processes all = {0};
  pid_t other = 0;
  if (helper->pid == 0 || (!must && began < helper->next_look)) return true;
  eb_processes_read(&all);
  eb_processes_mark(&all, NULL, 0);
  for (int i = 0; i < all.count && other == 0; i++)
    if (all.rows[i].ours && all.rows[i].pid != helper->pid) other = all.rows[i].pid;
  eb_processes_clear(&all);
  double now = eb_wall_seconds();
  helper->next_look = now + 20 * (now - began);
  if (other == 0) return true;
  snprintf(words, bytes, "the solver's program has started another process");
  return false;
}
