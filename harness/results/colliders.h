/* The rigid colliders of a scene in a result file, for those who show or read a run without the
 * program that made it.
 *
 *   /scenes/<hash>/colliders/    one row a collider; absent when the scene has none
 *     kind                       an enumeration that carries its names: plane, sphere, cylinder,
 *                                capped-cylinder, bowl (0 to 4), with the geometry of
 *                                eb_collider_kind
 *     origin (x 3), radius, half_length, margin (m), axis (x 3);
 *     stiffness (Pa/m), damping, grip (Pa s/m), friction, isotropy
 *     implicit                   whether its penalty is taken at the end of the step
 *     attribute penalty          the law of their forces in words; penalty_rule: where the
 *                                stiffness of explicit ones is 0
 *   /runs/<id>/frames/
 *     collider_offset            frames x colliders x 3, m: at the time of a frame a collider's
 *                                origin is `origin` + its offset
 *     collider_velocity          frames x colliders x 3, m/s
 * Files older than margin, grip, implicit and isotropy read them as 0. */
#ifndef EB_RESULTS_COLLIDERS_H
#define EB_RESULTS_COLLIDERS_H

#include "harness/results/read.h"
#include "problems/scene_impl.h"

#define EB_COLLIDER_OFFSET "frames/collider_offset"

/* Fills the open group `colliders` of a scene. */
EB_MUST eb_error eb_colliders_write(hid_t group, const eb_scene *scene);

/* Colliders of a run; they do not move: `motion` is NULL. */
typedef struct eb_result_colliders {
  int32_t count;
  eb_collider list[EB_MAX_COLLIDERS];
} eb_result_colliders;

/* The colliders of a run's scene where they are in one of its frames; none when the file stores
 * none. EB_ERR_USAGE: there is no such frame; EB_ERR_FORMAT: datasets that do not fit together,
 * lengths that are not finite or negative, an axis that is no unit vector. */
EB_MUST eb_error eb_results_colliders(const eb_results *results, int run, size_t frame,
                                      eb_result_colliders *out);

#endif
