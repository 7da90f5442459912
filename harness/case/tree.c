#include "harness/case/tree.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problems/base/clock.h"
#include "problems/base/memory.h"

typedef struct process {
  pid_t pid, parent;
  bool ended; /* and not buried */
  bool ours;  /* a descendant */
} process;

typedef struct table {
  process *rows;
  int count, capacity;
} table;

/* ---- all processes --------------------------------------------------------------------------- */

/* The name in brackets may hold anything, brackets too; state and parent come behind the last
 * one. */
static bool read_process(const char *pid, process *out) {
  char path[300], text[512] = "", state;
  int parent;
  snprintf(path, sizeof path, "/proc/%s/stat", pid);
  FILE *file = fopen(path, "re");
  if (!file) return false;
  size_t got = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  const char *behind = got ? strrchr(text, ')') : NULL;
  if (!behind || sscanf(behind + 1, " %c %d", &state, &parent) != 2) return false;
  *out = (process){.pid = (pid_t)atoi(pid), .parent = parent, .ended = state == 'Z'};
  return true;
}

static bool add(table *all, process row) {
  if (all->count == all->capacity) {
    int capacity = all->capacity ? 2 * all->capacity : 256;
    process *grown =
        eb_recalloc(all->rows, (size_t)all->count, (size_t)capacity, sizeof *all->rows);
    if (!grown) return false;
    all->rows = grown;
    all->capacity = capacity;
  }
  all->rows[all->count++] = row;
  return true;
}

static void read_all(table *all) {
  process row;
  DIR *folder = opendir("/proc");
  all->count = 0;
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder));)
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && read_process(entry->d_name, &row) &&
        !add(all, row))
      break;
  closedir(folder);
}

/* ---- ours ------------------------------------------------------------------------------------ */

static bool is_bystander(const eb_tree *tree, pid_t pid) {
  for (int i = 0; i < tree->count; i++)
    if (tree->bystanders[i] == pid) return true;
  return false;
}

static bool is_ours(const table *all, pid_t pid) {
  for (int i = 0; i < all->count; i++)
    if (all->rows[i].pid == pid) return all->rows[i].ours;
  return false;
}

/* Children first, then what descends from those found, until nothing is added. */
static void mark_ours(const eb_tree *tree, table *all) {
  pid_t self = getpid();
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < all->count; i++) {
      process *row = &all->rows[i];
      if (row->ours || is_bystander(tree, row->pid)) continue;
      row->ours = row->parent == self || (row->parent > 1 && is_ours(all, row->parent));
      more = more || row->ours;
    }
  }
}

/* Kills what runs and buries what has ended and is a child of ours; returns how many ran, *found
 * how many there were. */
static int strike(const eb_tree *tree, table *all, int *found) {
  int running = 0;
  *found = 0;
  read_all(all);
  mark_ours(tree, all);
  for (int i = 0; i < all->count; i++) {
    const process *row = &all->rows[i];
    if (!row->ours) continue;
    ++*found;
    running += !row->ended;
    if (!row->ended) kill(row->pid, SIGKILL);
    if (row->parent == getpid()) waitpid(row->pid, NULL, WNOHANG);
  }
  return running;
}

static bool is_childless(void) {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && errno == ECHILD;
}

int eb_tree_end(const eb_tree *tree) {
  static const double patience = 5; /* s */
  double began = eb_wall_seconds();
  table all = {0};
  int first = 0, found = 1;
  for (int round = 0; found && !is_childless() && eb_wall_seconds() - began < patience; round++) {
    int running = strike(tree, &all, &found);
    if (round == 0) first = running;
    if (found) usleep(1000);
  }
  free(all.rows);
  return first;
}

/* ---- life ------------------------------------------------------------------------------------ */

eb_error eb_tree_open(eb_tree *out) {
  table all = {0};
  *out = (eb_tree){0};
  prctl(PR_GET_CHILD_SUBREAPER, &out->adopted);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (is_childless()) return EB_OK;
  read_all(&all);
  eb_error error = EB_NEW(out->bystanders, all.count);
  for (int i = 0; i < all.count && !error; i++)
    if (all.rows[i].parent == getpid()) out->bystanders[out->count++] = all.rows[i].pid;
  free(all.rows);
  return error;
}

void eb_tree_close(eb_tree *tree) {
  prctl(PR_SET_CHILD_SUBREAPER, tree->adopted);
  free(tree->bystanders);
  *tree = (eb_tree){0};
}
