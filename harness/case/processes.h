/* The table of processes, and which of them descend from this one. */
#ifndef EB_CASE_PROCESSES_H
#define EB_CASE_PROCESSES_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct eb_process {
  pid_t pid, parent;
  bool ended; /* and not buried */
  bool ours;  /* a descendant */
} eb_process;

/* Start from {0}. */
typedef struct eb_processes {
  eb_process *rows;
  int count;
} eb_processes;

/* All of the machine; without memory, those that fit. */
void eb_processes_read(eb_processes *all);
/* Marks those that descend from this process, but for bystanders and what descends from them. */
void eb_processes_mark(eb_processes *all, const pid_t *bystanders, int bystander_count);
void eb_processes_clear(eb_processes *all);

#endif
