/* Checkpoints: states that a run keeps in doubles, for other runs to start from (schema.md has the
 * layout). */
#ifndef EB_RESULTS_CHECKPOINTS_H
#define EB_RESULTS_CHECKPOINTS_H

#include "harness/results/read.h"
#include "problems/scene_impl.h"

/* Which states a run has kept. */
typedef struct eb_checkpoints {
  const eb_results *results;
  int run;
  size_t count;
  double *step, *began, *nodes; /* count each; nodes: of the mesh at the state */
} eb_checkpoints;

/* count is 0 for a run that keeps none. The results must outlive *out. */
EB_MUST eb_error eb_checkpoints_open(const eb_results *results, int run, eb_checkpoints *out);
void eb_checkpoints_close(eb_checkpoints *checkpoints);
/* The row of the state after that step, or -1. */
int64_t eb_checkpoints_find(const eb_checkpoints *checkpoints, int64_t step);
/* Fills the values and the clock of a state that has the nodes of the row already, and as many
 * joints and bodies; EB_ERR_FORMAT when the row has others. */
EB_MUST eb_error eb_checkpoints_read(const eb_checkpoints *checkpoints, size_t row,
                                     eb_state *state);
/* The positions of a row's nodes, nodes x 3, m. The caller frees *out. */
EB_MUST eb_error eb_checkpoints_positions(const eb_checkpoints *checkpoints, size_t row,
                                          double **out);

#endif
