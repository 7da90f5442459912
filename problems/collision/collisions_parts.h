/* What the files of collisions.h share. Internal to problems/collision/. */
#ifndef EB_COLLISIONS_PARTS_H
#define EB_COLLISIONS_PARTS_H

#include "problems/collision/collisions_patches.h"
#include "problems/collision/triangle_tree.h"

/* Pairs of features: vertex and triangle, or edge and edge. */
typedef struct eb_pair_list {
  int32_t (*pair)[2];
  int64_t count, room;
} eb_pair_list;

typedef struct eb_hit_list {
  eb_hit *hit;
  int64_t count, room;
} eb_hit_list;

/* What one thread has found. Two threads share no cache line. */
typedef struct eb_thread_lists {
  _Alignas(64) eb_pair_list pairs[2]; /* by eb_pair_kind */
  eb_hit_list hits;
  eb_error error; /* of the parallel region that runs */
} eb_thread_lists;

struct eb_collisions {
  const eb_collision_mesh *mesh;
  eb_patches *patches;
  eb_triangle_tree *tree; /* over the patches */
  double spread;          /* of the patches when they were formed, m */
  bool begun;
  double (*x0)[3], (*x1)[3], (*way)[3], *reach; /* of vertex features, m */
  eb_bounds *box, *before,
      *swept; /* of features: within reach; before it was raised; of a motion */
  eb_bounds *patch_box;
  uint8_t *changed; /* a patch: are there features whose boxes have grown? */
  int32_t thread_count;
  eb_thread_lists *threads;
  double within; /* of the present test: the distance, m, or < 0 when it is of a motion */
  eb_hit *hits;  /* of all threads; the time is the distance in a test for that */
  eb_near *near;
  int64_t hit_room, near_room;
};

/* How far x is off the box between x0 and x0 + way of a vertex feature, in the coordinate where it is farthest; m, > 0 outside. */
double eb_collisions_off(const eb_collisions *collisions, int32_t feature, const double x[3]);

/* Edges and triangles from the vertices, which are set. */
void eb_collisions_enclose(const eb_patches *patches, eb_bounds *box);

/* Lists the pairs of features whose boxes meet, after what is listed. `all`: begins with empty lists; otherwise only pairs whose boxes did not meet `before`,
 * of which one feature is of a patch that `changed`. */
EB_MUST eb_error eb_collisions_list(eb_collisions *collisions, bool all);

/* Makes room for one list a thread. */
EB_MUST eb_error eb_collisions_lists(eb_collisions *collisions);
/* The first error of the threads; frees the others. */
EB_MUST eb_error eb_collisions_first_error(eb_collisions *collisions);

#endif
