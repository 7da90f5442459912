/* What write_frames.c fills and write_frames_tables.c opens. Internal to writing. */
#ifndef EB_RESULTS_WRITE_FRAMES_DATA_H
#define EB_RESULTS_WRITE_FRAMES_DATA_H

#include "harness/results/write_contacts.h"
#include "harness/results/write_frames.h"

enum {
  POSITIONS_AT,
  VELOCITIES_AT,
  TIME_AT,
  STEP_AT,
  NODE_COUNT_AT,
  FIXED_AT,
  TARGET_AT,
  FORCE_AT,
  ACTIVATION_AT,
  COLLIDER_OFFSET_AT,
  COLLIDER_VELOCITY_AT,
  OBSTACLE_POSE_AT,
  UPDATES_AT,
  BONES_AT,
  JOINTS_AT,
  BODY_POSE_AT,
  BODY_TWIST_AT,
  TABLES
};

struct eb_frame_writer {
  hid_t run;
  const eb_scene *scene;
  int32_t nodes, elements;
  const int32_t *parent;
  bool wide; /* in double precision */
  hsize_t frames_before_updates;
  double *vectors; /* nodes x 3 */
  float *narrow;   /* nodes x 3; NULL when wide */
  uint8_t *fixed;  /* nodes */
  bool has_contacts;
  eb_contact_writer contacts;
  eb_table tables[TABLES];
};

/* Opens every table that the scene has anything for. */
EB_MUST eb_error eb_frame_tables_open(eb_frame_writer *writer);
/* Opens that of element updates, which waits for the first of them. */
EB_MUST eb_error eb_frame_updates_open(eb_frame_writer *writer);

#endif
