/* Which supernodes of a factor to bring up to date: a pure function of badness, cost and tree.
 *
 * Hecht, Lee, Shewchuk and O'Brien 2012, Section 4.4. A supernode's badness is the largest error of
 * its elements. To update it, it and all its ancestors are refactored, so that its total cost is
 * the sum of the costs on its path to the root, less what has been paid already. Supernodes whose
 * badness is below tau are good enough; of the others
 *   quality  takes all, whatever they cost,
 *   time     goes from the worst to the least bad and takes each whose total cost is below what
 *            is left of the budget,
 *   hybrid   takes those from hard_tau on as `quality` does, then spends what they have left as
 *            `time` does. */
#ifndef EB_WARP_SCHEDULE_H
#define EB_WARP_SCHEDULE_H

#include <stdint.h>

typedef enum eb_update_goal { EB_UPDATE_QUALITY, EB_UPDATE_TIME, EB_UPDATE_HYBRID } eb_update_goal;

typedef struct eb_update_rule {
  eb_update_goal goal;
  double tau, hard_tau; /* in units of badness; hard_tau: hybrid only */
  double budget;        /* in units of cost, INFINITY for no limit; not for quality */
} eb_update_rule;

/* What a supernode is marked with. Ancestors of chosen ones are refactored with them. */
typedef enum eb_update_mark {
  EB_UPDATE_NONE,
  EB_UPDATE_ANCESTOR, /* not chosen itself */
  EB_UPDATE_CHOSEN
} eb_update_mark;

typedef struct eb_update_tree {
  int32_t count;
  const int32_t *parent; /* -1 at a root, else larger than the child */
  const double *badness; /* below 0: never updated for its own sake; not a number: the worst */
  const double *cost;    /* at least 0 */
} eb_update_tree;

/* Writes a mark for every supernode and returns the cost of all marked ones, ancestors included.
 * Ties go to the lower index. `work` has room for count entries. */
double eb_update_schedule(const eb_update_rule *rule, const eb_update_tree *tree, int32_t *work,
                          uint8_t *marked);

#endif
