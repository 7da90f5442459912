/* A picture of a frame of a run: bodies, what is around them, the ground, seen by a camera. */
#ifndef EB_REPORT_PICTURE_H
#define EB_REPORT_PICTURE_H

#include "harness/report/drawing.h"

enum { EB_PICTURE_MOST_LINED = 20000 /* triangles of bodies with their edges drawn */ };

/* All that a picture shows, read from the file: any thread can draw it. Start from {0}. */
typedef struct eb_picture {
  char path[4096];       /* of its file, if it has one */
  int32_t width, height; /* pixels; 0: as large as reports have them */
  double direction[3];   /* from the viewer into the picture; 0: as the camera's view is seen */
  eb_view camera, view;  /* view: how far endless colliders reach, and where the ground is */
  double ground;         /* m */
  double *X;             /* nodes x 3 */
  eb_rgb *color;         /* of the triangles of the first body, or NULL */
  int32_t *triangles;    /* of the first body, where it is not the surface; or NULL */
  int body_count;
  eb_render_mesh body[2]; /* made of these arrays and the drawing's surface */
  eb_drawn around[EB_DRAWN_KINDS];
} eb_picture;
void eb_picture_clear(eb_picture *picture);

/* Reads where everything is in a frame; the first body is the surface, without colours. `view` is
 * set before. The caller clears *out, also after an error. */
EB_MUST eb_error eb_picture_read(const eb_drawing *drawing, size_t frame, eb_picture *out);

/* Finds the regions whose fibres a scene activates (region_count): *fibred is NULL when none ever
 * are. The caller frees it. */
EB_MUST eb_error eb_picture_fibres(const eb_drawing *drawing, uint8_t **fibred);
/* The same as eb_picture_read, in the colours of regions, redder the more active their fibres
 * are. */
EB_MUST eb_error eb_picture_read_colored(const eb_drawing *drawing, const uint8_t *fibred,
                                         size_t frame, eb_picture *out);

/* What becomes of a picture that is drawn; called by several threads. */
typedef eb_error eb_picture_keep(const eb_render *render, const eb_picture *picture, void *context);
/* Writes its file. */
eb_picture_keep eb_picture_write;
/* Draws all at once; the first failure in their order comes back. */
EB_MUST eb_error eb_picture_draw_all(const eb_picture *pictures, int count, eb_picture_keep *keep,
                                     void *context);

#endif
