/* Which nodes stay dynamic in a condensation. Internal to solvers/conjac. */
#ifndef EB_CONJAC_NODES_H
#define EB_CONJAC_NODES_H

#include "problems/scene_impl.h"

typedef enum eb_selection {
  EB_SELECT_SCENE, /* what the scene names, then seeded random with the minimum spacing (the paper's
                      way) */
  EB_SELECT_RANDOM,   /* seeded random with the minimum spacing */
  EB_SELECT_FARTHEST, /* farthest-point, from the free node farthest from the scripted nodes, or
                         from the centroid */
  EB_SELECT_LIST,     /* given */
  EB_SELECT_ALL       /* every free node */
} eb_selection;

typedef struct eb_node_choice {
  eb_selection selection;
  int32_t count;    /* wanted; ignored by LIST and ALL */
  const char *list; /* LIST: numbers from 0 between '+' ("12+40+99") */
  double spacing; /* least distance at rest between two chosen nodes, over the diagonal of the rest
                     box */
  uint64_t seed;
} eb_node_choice;

typedef struct eb_node_list {
  int32_t count, *nodes; /* in order of choice */
} eb_node_list;

/* Chooses. Nodes that are scripted at the start are passed over by RANDOM, FARTHEST and ALL; a
 * scene may name nodes that are scripted now and freed later. EB_ERR_USAGE says which node of a
 * list is no number, out of range, listed twice, attached to a rigid body or scripted from the
 * start to the end of the scene's default run; or that so many nodes do not fit with that spacing,
 * and which spacing would. The caller clears *out. */
EB_MUST eb_error eb_conjac_choose(const eb_scene *scene, const eb_node_choice *choice,
                                  eb_node_list *out);
void eb_node_list_clear(eb_node_list *list);

#endif
