/* Positions of runs compared with each other and with the rest shape. */
#ifndef EB_REPRODUCE_MOTION_H
#define EB_REPRODUCE_MOTION_H

#include "harness/reproduce/evidence.h"

/* How far apart two runs of one scene are at a frame, over the diagonal of the scene's rest box. */
typedef struct eb_distance {
  double rms, max;
} eb_distance;

/* The RMS distance of two runs in every frame that both have stored, over the diagonal of the rest
 * box, and the times of these frames, s. EB_ERR_INVALID when they are not of one scene. The caller
 * frees both. */
EB_MUST eb_error eb_motion_distances(const eb_evidence *evidence, int a, int b, double **distance,
                                     double **time, size_t *count);

/* Where the first contact of a run has ended; without one that ends, the time of the last step. */
typedef struct eb_bounce_end {
  double time; /* s */
  bool ended;
} eb_bounce_end;
/* What became of a body that falls along -z, each unless it is NULL. restitution: the largest
 * upward momentum after its first touch over the largest downward one until then; flight: steps
 * without contact after the first touch. NaN without a touch. */
EB_MUST eb_error eb_motion_bounce(const eb_evidence *evidence, int case_, double *restitution,
                                  double *flight, eb_bounce_end *end);

/* How far the last frame of a run is, at its farthest node and over the diagonal, from a shape,
 * once the rigid motion between them is taken out: from the last frame of `other`, or with -1 from
 * the rest shape. */
EB_MUST eb_error eb_motion_shape(const eb_evidence *evidence, int case_, int other, double *out);

/* Lengths of the edges of the box around the rest shape, and its diagonal, m. */
EB_MUST eb_error eb_motion_rest_box(const eb_evidence *evidence, int case_, double size[3]);
EB_MUST eb_error eb_motion_diagonal(const eb_evidence *evidence, int case_, double *out);

/* Positions of a stored frame (of the last one: EB_ERR_INVALID when there is none), nodes x 3. The
 * caller frees *out. */
EB_MUST eb_error eb_motion_frame(const eb_evidence *evidence, int case_, size_t frame,
                                 double **out);
EB_MUST eb_error eb_motion_last(const eb_evidence *evidence, int case_, double **out);
/* Those of a frame of each of two runs, and of their last ones: in doubles where both have kept
 * their states as checkpoints (harness/results/checkpoints.h), as the frames have them otherwise.
 * The caller frees both; after a failure there are none. */
EB_MUST eb_error eb_motion_frames(const eb_evidence *evidence, const int cases[2],
                                  const size_t frames[2], double *x[2]);
EB_MUST eb_error eb_motion_ends(const eb_evidence *evidence, int a, int b, double *x[2]);
/* EB_ERR_INVALID unless the runs have as many nodes. */
EB_MUST eb_error eb_motion_same_nodes(const eb_evidence *evidence, int a, int b);

/* The largest distance of a node between the last frames of two runs on meshes of as many nodes, no
 * motion taken out, over the diagonal of the first one's rest box. EB_ERR_INVALID when their nodes
 * differ in number. */
EB_MUST eb_error eb_motion_final(const eb_evidence *evidence, int a, int b, double *out);

/* The largest RMS distance of a run from `against` over the frames that both have, over the largest
 * RMS way that `against` goes from where it starts; NaN when it does not move. EB_ERR_INVALID when
 * they are not of one scene. */
EB_MUST eb_error eb_motion_error(const eb_evidence *evidence, int of, int against, double *out);

/* The angle (rad) by which the nodes at one end of the rest shape have turned about an axis (0 to
 * 2) in the last frame, by the rotation that fits best after centroids are moved onto each other.
 * `upper`: the end at the larger coordinate. */
EB_MUST eb_error eb_motion_turn(const eb_evidence *evidence, int case_, int axis, bool upper,
                                double *out);

/* The largest distance over the connected pieces of the mesh between their shapes in the last two
 * frames, each moved onto the other as a rigid body, over the diagonal of the rest box. NaN with
 * fewer than two frames. */
EB_MUST eb_error eb_motion_unrest(const eb_evidence *evidence, int case_, double *out);

/* How uneven the last frame's deformation is: a node of the surface stands so far from the mean of
 * its neighbours there; the RMS over these nodes of how much that differs from the rest shape, over
 * the diagonal of the rest box. A rigid motion has none, and a smooth one falls with the square of
 * the edges. */
EB_MUST eb_error eb_motion_roughness(const eb_evidence *evidence, int case_, double *out);

/* Distances between x and y (count x 3) as they are, over `length`. */
void eb_distance_of(const double *x, const double *y, int64_t count, double length,
                    eb_distance *out);

/* `x` (count x 3) moved onto `y` by the rigid motion that makes the sum of squared distances least
 * (Horn 1987): the distances that remain, over `length`. */
void eb_rigid_distance(const double *x, const double *y, int64_t count, double length,
                       eb_distance *out);

#endif
