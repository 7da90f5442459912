#include "harness/case/guard.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/case/child.h"

/* ---- the process ----------------------------------------------------------------------------- */

static void watch_descriptor(eb_guard *guard, int descriptor) {
  struct stat info;
  if (guard->file_count == EB_GUARD_FILES || fstat(descriptor, &info)) return;
  guard->files[guard->file_count++] = (eb_guard_file){descriptor, info.st_dev, info.st_ino};
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

void eb_guard_open(eb_guard *guard) {
  struct stat info = {0};
  *guard = (eb_guard){0};
  for (int descriptor = 0; descriptor <= EB_CHILD_BOARD; descriptor++)
    watch_descriptor(guard, descriptor);
  if (stat(".", &info) == 0) {
    guard->folder_device = info.st_dev;
    guard->folder_number = info.st_ino;
  }
  guard->terminate_held = holds_terminate();
  sigaction(SIGTERM, NULL, &guard->terminate);
  guard->children = has_children();
}

void eb_guard_watch(eb_guard *guard, const char *path) {
  struct stat wanted, info;
  DIR *folder = opendir("/proc/self/fd");
  if (!folder) return;
  if (stat(path, &wanted) == 0)
    for (struct dirent *entry; (entry = readdir(folder));) {
      int descriptor = atoi(entry->d_name);
      if (entry->d_name[0] != '.' && fstat(descriptor, &info) == 0 &&
          info.st_dev == wanted.st_dev && info.st_ino == wanted.st_ino)
        watch_descriptor(guard, descriptor);
    }
  closedir(folder);
}

static bool is_open(const eb_guard_file *file) {
  struct stat info;
  return fstat(file->descriptor, &info) == 0 && info.st_dev == file->device &&
         info.st_ino == file->number;
}

static bool same_folder(const eb_guard *guard) {
  struct stat info;
  return stat(".", &info) == 0 && info.st_dev == guard->folder_device &&
         info.st_ino == guard->folder_number;
}

static bool same_handler(const eb_guard *guard) {
  struct sigaction now;
  return sigaction(SIGTERM, NULL, &now) || now.sa_handler == guard->terminate.sa_handler;
}

bool eb_guard_process(const eb_guard *guard, char *words, size_t bytes) {
  const char *what = NULL;
  for (int i = 0; i < guard->file_count; i++)
    if (!is_open(&guard->files[i])) {
      snprintf(words, bytes, "the solver has closed or replaced the harness's descriptor %d",
               guard->files[i].descriptor);
      return false;
    }
  if (!same_folder(guard))
    what = "changed the working folder";
  else if (holds_terminate() != guard->terminate_held)
    what = "changed whether SIGTERM is held back";
  else if (!same_handler(guard))
    what = "changed what SIGTERM does";
  else if (!guard->children && has_children())
    what = "left a child process";
  if (what) snprintf(words, bytes, "the solver has %s", what);
  return !what;
}

/* ---- the state ------------------------------------------------------------------------------- */

void eb_guard_take(eb_guard *guard, const eb_state *state) {
  guard->state = *state;
}

static const char *changed_count(const eb_state *was, const eb_state *is) {
  return is->node_count != was->node_count     ? "node_count"
         : is->joint_count != was->joint_count ? "joint_count"
         : is->body_count != was->body_count   ? "body_count"
                                               : NULL;
}

static const char *changed_array(const eb_state *was, const eb_state *is) {
  return is->x != was->x           ? "x"
         : is->v != was->v         ? "v"
         : is->q != was->q         ? "q"
         : is->u != was->u         ? "u"
         : is->pose != was->pose   ? "pose"
         : is->twist != was->twist ? "twist"
                                   : NULL;
}

eb_guard_state_change eb_guard_state(const eb_guard *guard, eb_state *state, char *words,
                                     size_t bytes) {
  const char *array = changed_array(&guard->state, state);
  const char *part = array ? array : changed_count(&guard->state, state);
  if (!part) return EB_GUARD_SAME;
  snprintf(words, bytes,
           "the solver has changed the member %s of the state; it may only write into the arrays",
           part);
  int64_t step = state->step;
  double time = state->time;
  *state = guard->state;
  state->step = step;
  state->time = time;
  return array ? EB_GUARD_ARRAYS : EB_GUARD_COUNTS;
}
