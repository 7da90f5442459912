/* Which supernodes of a factor, and which elements, to bring up to date: a pure function of
 * badness, cost and tree.
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

#include "problems/mesh/mesh.h"
#include "solvers/linalg/multifrontal.h"

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
  const int32_t *parent; /* -1 at a root, else larger than the child; NULL: all are roots */
  const double *badness; /* below 0: never updated for its own sake; not a number: the worst */
  const double *cost;    /* at least 0; NULL: 1 each */
} eb_update_tree;

/* Writes a mark for every supernode and returns the cost of all marked ones, ancestors included.
 * Ties go to the lower index. `work` has room for count entries. */
double eb_update_schedule(const eb_update_rule *rule, const eb_update_tree *tree, int32_t *work,
                          uint8_t *marked);

/* The `count` elements of the largest errors, or all when there are no more, whatever supernodes
 * they are in: chosen[e] != 0. Ties go to the lower index; an error that is not a number is the
 * largest. Returns how many are chosen. `work` has room for `elements` entries. */
int32_t eb_update_largest(int32_t elements, const double *error, int32_t count, int32_t *work,
                          uint8_t *chosen);

/* Which supernode an element belongs to: that in which the first eliminated of its nodes is
 * eliminated. Its entries of the matrix are owned by that supernode and by ancestors of it. */
typedef struct eb_element_map {
  int32_t supernodes, elements;
  int32_t *start; /* supernodes + 1 */
  /* elements: those of supernode s are element[start[s]] .. element[start[s+1]-1], ascending */
  int32_t *element;
} eb_element_map;

/* Keeps neither mesh nor tree. On failure nothing stays allocated. */
EB_MUST eb_error eb_element_map_create(const eb_mesh *mesh, const eb_supernodes *tree,
                                       eb_element_map *out);
void eb_element_map_clear(eb_element_map *map);

/* badness[s] = the largest error of the elements of s, NaN when one is; -1 when s has no
 * elements. */
void eb_element_map_badness(const eb_element_map *map, const double *error, double *badness);
/* badness[s] = 1 where an element of s is chosen, else -1. */
void eb_element_map_want(const eb_element_map *map, const uint8_t *chosen, double *badness);
/* chosen[e] = whether e's supernode has a mark of at least `least`. Returns how many are. */
int32_t eb_element_map_choose(const eb_element_map *map, const uint8_t *marked, int least,
                              uint8_t *chosen);

#endif
