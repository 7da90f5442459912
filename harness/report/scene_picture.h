/* A picture of a scene as it starts, without a run of it. */
#ifndef EB_REPORT_SCENE_PICTURE_H
#define EB_REPORT_SCENE_PICTURE_H

#include "problems/scene_impl.h"

/* Writes a PNG file: bodies in the colours of their regions, scripted nodes as red balls, the
 * nearest colliders and obstacles translucent, the ground. EB_ERR_USAGE: the name does not end in
 * ".png". */
EB_MUST eb_error eb_scene_picture(const eb_scene *scene, const char *path);

#endif
