/* Which frames of a run are pictured. */
#ifndef EB_REPORT_FRAMES_H
#define EB_REPORT_FRAMES_H

#include "harness/report/model.h"

typedef struct eb_pictured_frame {
  const char *name;  /* "first", "strained", "strained-2", "active", "cut-1", .., "last" */
  const char *words; /* for its caption */
  size_t frame;
} eb_pictured_frame;

/* The first and the last frame and, between them, the one with the most elastic energy: a scene
 * that returns to its start shows there what happened; further peaks of that energy; the last frame
 * at which its fibres are most active; and after each of the first cuts the one with the most
 * kinetic energy until the next cut. A run that blew up has no such frames. *count is 0 for runs
 * that are not drawn: those without frames, and repetitions. */
EB_MUST eb_error eb_pictured_frames(const eb_report_run *run, eb_pictured_frame out[EB_PICTURES],
                                    int *count);

/* Frames that show which elements were updated, in order: where equal shares of all updates have
 * been made, and then those with the most. The first step does not count: its factorization is
 * whole. *count is 0 for runs that are not drawn or update nothing after it. */
EB_MUST eb_error eb_updated_frames(const eb_report_run *run, size_t out[EB_UPDATE_PICTURES],
                                   int *count);

#endif
