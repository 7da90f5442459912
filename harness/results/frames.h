/* The frames of a run: tables that grow by a row a frame, contacts among them (one list behind the
 * other), and their readers (harness/results/read.h). record.h has the layout. */
#ifndef EB_RESULTS_FRAMES_H
#define EB_RESULTS_FRAMES_H

#include "harness/results/read.h"
#include "harness/results/table.h"
#include "harness/results/write.h"

enum { EB_FRAME_TABLES = 29 };

typedef struct eb_frame_writer {
  hid_t run;
  const eb_scene *scene;
  int32_t nodes;
  const int32_t *parent;
  bool wide; /* in double precision */
  hsize_t frames_before_updates;
  int64_t contacts; /* stored so far */
  double *vectors;  /* nodes x 3 */
  uint8_t *fixed;   /* nodes */
  eb_table tables[EB_FRAME_TABLES];
} eb_frame_writer;

/* Makes the tables in the group `frames` of an open run. Frames are stored over `nodes` nodes,
 * those of the mesh with all cuts made; `parent` (nodes) says which node each copy parts from, and
 * is NULL when the scene has no cuts. Both and the scene must outlive the writer, which is to be
 * cleared after a failure, too. */
EB_MUST eb_error eb_frame_writer_open(hid_t run, const eb_scene *scene, int32_t nodes,
                                      const int32_t *parent, bool wide, eb_frame_writer *writer);
void eb_frame_writer_clear(eb_frame_writer *writer);

/* Adds a row to every table. EB_ERR_INVALID when the state is of another mesh than the scene's. */
EB_MUST eb_error eb_frame_writer_add(eb_frame_writer *writer, const eb_frame *frame);
EB_MUST eb_error eb_frame_writer_commit(eb_frame_writer *writer);

#endif
