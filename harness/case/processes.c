/* Read from /proc, which tells of every process its parent. */
#include "harness/case/processes.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problems/base/memory.h"

void eb_processes_read(eb_processes *all) {
  DIR *folder = opendir("/proc");
  all->count = 0;
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder));) {
    char path[300], text[512] = "", state;
    int parent;
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
    FILE *file = fopen(path, "re");
    if (!file) continue;
    size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    /* The name in brackets may hold anything, brackets too; state and parent come behind the last
     * one. */
    const char *behind = got ? strrchr(text, ')') : NULL;
    if (!behind || sscanf(behind + 1, " %c %d", &state, &parent) != 2) continue;
    eb_error error = EB_APPEND(all->rows, all->count);
    eb_error_free(error);
    if (error) break;
    all->rows[all->count - 1] =
        (eb_process){.pid = (pid_t)atoi(entry->d_name), .parent = parent, .ended = state == 'Z'};
  }
  closedir(folder);
}

/* Children first, then what descends from those found, until nothing is added. */
void eb_processes_mark(eb_processes *all, const pid_t *bystanders, int bystander_count) {
  pid_t self = getpid();
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < all->count; i++) {
      eb_process *row = &all->rows[i];
      bool bystander = false;
      for (int k = 0; k < bystander_count; k++) bystander = bystander || bystanders[k] == row->pid;
      if (row->ours || bystander) continue;
      row->ours = row->parent == self;
      for (int k = 0; k < all->count && !row->ours && row->parent > 1; k++)
        row->ours = all->rows[k].ours && all->rows[k].pid == row->parent;
      more = more || row->ours;
    }
  }
}

void eb_processes_clear(eb_processes *all) {
  free(all->rows);
  *all = (eb_processes){0};
}
