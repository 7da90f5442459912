/* The frames of a run as they are written: tables that grow by a row a frame. Internal to writing;
 * record.h has the layout. */
#ifndef EB_RESULTS_WRITE_FRAMES_H
#define EB_RESULTS_WRITE_FRAMES_H

#include "harness/results/table.h"
#include "harness/results/write.h"

typedef struct eb_frame_writer eb_frame_writer;

/* Makes the tables in the group `frames` of an open run. Frames are stored over `nodes` nodes,
 * those of the mesh with all cuts made; `parent` (nodes) says which node each copy parts from, and
 * is NULL when the scene has no cuts. The scene and `parent` must outlive the writer. */
EB_MUST eb_error eb_frame_writer_create(hid_t run, const eb_scene *scene, int32_t nodes,
                                        const int32_t *parent, eb_frames which,
                                        eb_frame_writer **out);
void eb_frame_writer_destroy(eb_frame_writer *writer);

/* Adds a row to every table. EB_ERR_INVALID when the state is of another mesh than the scene's. */
EB_MUST eb_error eb_frame_writer_add(eb_frame_writer *writer, const eb_frame *frame);
/* Bytes that wait for a commit. */
size_t eb_frame_writer_waiting(const eb_frame_writer *writer);
EB_MUST eb_error eb_frame_writer_commit(eb_frame_writer *writer);
/* Closes the datasets; nothing can be added then. */
void eb_frame_writer_close(eb_frame_writer *writer);

#endif
