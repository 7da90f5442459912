/* What rank 0 gathers of a scene that several ranks hold parts of: mesh, initial state and states
 * in the order that one process has them in, for its result file. So files of one rank and of many
 * are alike. */
#ifndef EB_CASE_GATHERED_H
#define EB_CASE_GATHERED_H

#include "harness/results/write.h"
#include "problems/ranks/subdomain.h"

/* Start from {0}. */
typedef struct eb_gathered {
  const eb_subdomain *part;
  /* On rank 0; mesh, surface and initial state are whole, the rest is that of its part. */
  eb_scene scene;
  eb_state *state;      /* on rank 0: that gathered last */
  double *held, *force; /* on rank 0, of the nodes x 4 and x 3: as eb_frame has them, or NULL */
  double *values;       /* of the part's nodes x 4: workspace */
  uint8_t *fixed;       /* of the part's nodes: workspace */
} eb_gathered;

/* All are collective. The scene, which has a part, must outlive *out; eb_gathered_clear releases
 * what this allocates. An error is every rank's. */
EB_MUST eb_error eb_gathered_create(const eb_scene *scene, eb_gathered *out);
void eb_gathered_clear(eb_gathered *whole);
/* Once the file has mesh and initial state: frees them. Their counts stay. Not collective. */
void eb_gathered_release_mesh(eb_gathered *whole);
/* Into whole->state, with its step and time. */
EB_MUST eb_error eb_gathered_collect(eb_gathered *whole, const eb_state *state);
/* A frame of `scene`, of the state and, unless it is NULL, the one before it: on rank 0 *out is to
 * be recorded. */
EB_MUST eb_error eb_gathered_frame(eb_gathered *whole, const eb_scene *scene, const eb_state *state,
                                   const eb_state *before, eb_frame *out);

#endif
