/* The processes that descend from this one: what the process of a case has started, wherever it has
 * hidden it.
 *
 * While a tree is open, this process adopts orphans (PR_SET_CHILD_SUBREAPER), so that a process
 * whose parents have ended, of another group or session, is still found below. */
#ifndef EB_CASE_TREE_H
#define EB_CASE_TREE_H

#include <sys/types.h>

#include "problems/base/error.h"

typedef struct eb_tree {
  pid_t *bystanders; /* children of ours that were there before: none of our business */
  int count;
  int adopted; /* orphans before */
} eb_tree;

EB_MUST eb_error eb_tree_open(eb_tree *out);
/* Kills and buries all but the bystanders; returns how many there were that still ran. Those that
 * go on starting others are chased for some seconds. */
int eb_tree_end(const eb_tree *tree);
void eb_tree_close(eb_tree *tree);

#endif
