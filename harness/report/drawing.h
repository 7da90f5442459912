/* What is drawn of a run: bodies and what is around them, as triangles, in which colours and seen
 * from where. Pictures and the player's scripts are both made of it. */
#ifndef EB_REPORT_DRAWING_H
#define EB_REPORT_DRAWING_H

#include "harness/report/model.h"
#include "harness/report/render.h"
#include "harness/results/scene.h"

/* ---- a run ----------------------------------------------------------------------------------- */

typedef struct eb_drawing {
  const eb_report_run *run;
  size_t frames;
  double *time, *step; /* frames: s, and the number of the step that led to each */
  eb_mesh *mesh;
  eb_result_surface surface; /* of the bodies */
} eb_drawing;

/* Reads nothing more of a run without frames. Close it also after an error. */
EB_MUST eb_error eb_drawing_open(const eb_report_run *run, eb_drawing *out);
void eb_drawing_close(eb_drawing *drawing);

/* Colour of a region: distinct for the first ten, repeating after. */
enum { EB_REGION_COLORS = 10 };
eb_rgb eb_color_of_region(int32_t region);

/* ---- the camera ------------------------------------------------------------------------------ */

typedef struct eb_view {
  double lo[3], hi[3]; /* m */
  bool planar;         /* all that is in view lies in a plane z = const, which is seen from above */
} eb_view;

/* From the viewer into the picture. */
void eb_view_direction(const eb_view *view, double direction[3]);

/* The box of the pictured frames of a scene's runs, rigid links included,
 * with what of their colliders and obstacles is near. A run that blew up does not shrink the others
 * to a dot: its last frame does not move the camera. */
EB_MUST eb_error eb_view_fit(const eb_report *report, const eb_report_scene *scene, eb_view *out);

/* The same with this frame in it. */
EB_MUST eb_error eb_view_with_frame(const eb_view *view, const eb_report_run *run, size_t frame,
                                    eb_view *out);

/* Boxes of one size, each around the bodies of a frame in its middle, so that pictures of them
 * follow the bodies from as near. */
EB_MUST eb_error eb_view_follow(const eb_report_run *run, const size_t *frames, int count,
                                eb_view *out);

/* Where the ground is drawn, m: the highest floor or, when there is none, the lowest point in view;
 * behind what is planar. */
double eb_view_ground(const eb_view *view, const eb_result_colliders *colliders);

/* Whether a collider is a plane, level, that holds what is above it. */
bool eb_is_floor(const eb_collider *collider);

/* ---- around the bodies ----------------------------------------------------------------------- */

/* Rigid links are rods with a knob at the joint, in a planar scene just behind the bodies;
 * colliders and obstacles are translucent greys. Level floors are the ground, and not here. */
typedef enum eb_drawn_kind {
  EB_DRAWN_LINK,
  EB_DRAWN_OBSTACLE,
  EB_DRAWN_COLLIDER,
  EB_DRAWN_KINDS
} eb_drawn_kind;
extern const char *const eb_drawn_names[EB_DRAWN_KINDS]; /* "link", "obstacle", "collider" */

/* All of a kind in one frame, in pieces: an obstacle, a collider, a knob, a rod. */
typedef struct eb_drawn {
  eb_drawn_kind kind;
  int32_t vertex_count, triangle_count, piece_count;
  double *X;          /* vertex_count x 3, m */
  int32_t *triangles; /* triangle_count x 3, outward */
  int32_t *end; /* piece_count: behind the last triangle of a piece, which begins where the one
                   before ends */
} eb_drawn;

/* The caller clears *out, also after an error. What is endless reaches as far as the view. */
EB_MUST eb_error eb_drawn_read(const eb_report_run *run, size_t frame, const eb_view *view,
                               eb_drawn_kind kind, eb_drawn *out);
void eb_drawn_clear(eb_drawn *drawn);
/* A piece as it is rendered, of the arrays of `drawn`. */
eb_render_mesh eb_drawn_piece(const eb_drawn *drawn, int32_t piece);

#endif
