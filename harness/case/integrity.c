#include "harness/case/integrity.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/case/child.h"

/* ---- the process ----------------------------------------------------------------------------- */

static void watch_descriptor(eb_integrity *before, int descriptor) {
  struct stat info;
  if (before->file_count == EB_INTEGRITY_FILES || fstat(descriptor, &info)) return;
  int at = before->file_count++;
  before->files[at].descriptor = descriptor;
  before->files[at].device = info.st_dev;
  before->files[at].number = info.st_ino;
}

/* A child that runs or has ended and was not waited for. */
static bool has_children(void) {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

static bool holds_terminate(void) {
  sigset_t held;
  return sigprocmask(SIG_SETMASK, NULL, &held) == 0 && sigismember(&held, SIGTERM) == 1;
}

void eb_integrity_open(eb_integrity *before) {
  struct stat info = {0};
  *before = (eb_integrity){0};
  for (int descriptor = 0; descriptor <= EB_CHILD_BOARD; descriptor++)
    watch_descriptor(before, descriptor);
  if (stat(".", &info) == 0) {
    before->folder_device = info.st_dev;
    before->folder_number = info.st_ino;
  }
  before->terminate_held = holds_terminate();
  sigaction(SIGTERM, NULL, &before->terminate);
  before->children = has_children();
}

void eb_integrity_watch(eb_integrity *before, const char *path) {
  struct stat wanted, info;
  DIR *folder = opendir("/proc/self/fd");
  if (!folder) return;
  if (stat(path, &wanted) == 0)
    for (struct dirent *entry; (entry = readdir(folder));) {
      int descriptor = atoi(entry->d_name);
      if (entry->d_name[0] != '.' && fstat(descriptor, &info) == 0 &&
          info.st_dev == wanted.st_dev && info.st_ino == wanted.st_ino)
        watch_descriptor(before, descriptor);
    }
  closedir(folder);
}

bool eb_integrity_process(const eb_integrity *before, char *words, size_t bytes) {
  const char *what = NULL;
  struct stat info;
  struct sigaction terminate;
  for (int i = 0; i < before->file_count; i++) {
    bool open = fstat(before->files[i].descriptor, &info) == 0 &&
                info.st_dev == before->files[i].device && info.st_ino == before->files[i].number;
    if (open) continue;
    snprintf(words, bytes, "the solver has closed or replaced the harness's descriptor %d",
             before->files[i].descriptor);
    return false;
  }
  if (stat(".", &info) || info.st_dev != before->folder_device ||
      info.st_ino != before->folder_number)
    what = "changed the working folder";
  else if (holds_terminate() != before->terminate_held)
    what = "changed whether SIGTERM is held back";
  else if (sigaction(SIGTERM, NULL, &terminate) == 0 &&
           terminate.sa_handler != before->terminate.sa_handler)
    what = "changed what SIGTERM does";
  else if (!before->children && has_children())
    what = "left a child process";
  if (what) snprintf(words, bytes, "the solver has %s", what);
  return !what;
}

/* ---- the state ------------------------------------------------------------------------------- */

eb_state_change eb_integrity_state(const eb_integrity *before, eb_state *state, char *words,
                                   size_t bytes) {
  const eb_state *was = &before->state;
  const char *array = state->x != was->x           ? "x"
                      : state->v != was->v         ? "v"
                      : state->q != was->q         ? "q"
                      : state->u != was->u         ? "u"
                      : state->pose != was->pose   ? "pose"
                      : state->twist != was->twist ? "twist"
                                                   : NULL;
  const char *count = state->node_count != was->node_count     ? "node_count"
                      : state->joint_count != was->joint_count ? "joint_count"
                      : state->body_count != was->body_count   ? "body_count"
                                                               : NULL;
  if (!array && !count) return EB_STATE_SAME;
  snprintf(words, bytes,
           "the solver has changed the member %s of the state; it may only write into the arrays",
           array ? array : count);
  int64_t step = state->step;
  double time = state->time;
  *state = *was;
  state->step = step;
  state->time = time;
  return array ? EB_STATE_ARRAYS : EB_STATE_COUNTS;
}
