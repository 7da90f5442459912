/* Where runs end: how far apart, how far turned, how much at rest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/motion.h"
#include "problems/base/memory.h"

eb_error eb_motion_final(const eb_evidence *e, int a, int b, double *out) {
  eb_distance distance;
  double *x[2], length;
  EB_TRY(eb_motion_same_nodes(e, a, b));
  EB_TRY(eb_motion_diagonal(e, a, &length));
  EB_TRY(eb_motion_ends(e, a, b, x));
  eb_distance_of(x[0], x[1], eb_evidence_run(e, a)->nodes, length, &distance);
  *out = distance.max;
  free(x[0]);
  free(x[1]);
  return EB_OK;
}

/* ---- turning --------------------------------------------------------------------------------- */

/* Marks the nodes at one end of the box along an axis. Returns how many there are. */
static int32_t mark_end(const eb_mesh *mesh, int axis, bool upper, uint8_t *marked) {
  static const double slack = 1e-6; /* of the box: an end is flat but for rounding */
  double lo[3], hi[3];
  int32_t count = 0;
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    double from = upper ? hi[axis] - mesh->X[3 * i + axis] : mesh->X[3 * i + axis] - lo[axis];
    marked[i] = from <= slack * (hi[axis] - lo[axis]);
    count += marked[i];
  }
  return count;
}

/* The angle of the rotation about the axis that makes sum |R (X - cX) - (x - cx)|^2 least, seen
 * along the axis: atan2(sum of cross products, sum of dot products). */
static double turn_of(const double *X, const double *x, const uint8_t *marked, int32_t nodes,
                      int32_t count, int axis) {
  int d[2] = {(axis + 1) % 3, (axis + 2) % 3};
  double centre[4] = {0}, cross = 0, dot = 0;
  for (int32_t i = 0; i < nodes; i++)
    for (int k = 0; marked[i] && k < 2; k++) {
      centre[k] += X[3 * i + d[k]] / count;
      centre[2 + k] += x[3 * i + d[k]] / count;
    }
  for (int32_t i = 0; i < nodes; i++) {
    if (!marked[i]) continue;
    double a[2], b[2];
    for (int k = 0; k < 2; k++) {
      a[k] = X[3 * i + d[k]] - centre[k];
      b[k] = x[3 * i + d[k]] - centre[2 + k];
    }
    cross += a[0] * b[1] - a[1] * b[0];
    dot += a[0] * b[0] + a[1] * b[1];
  }
  return atan2(cross, dot);
}

eb_error eb_motion_turn(const eb_evidence *e, int case_, int axis, bool upper, double *out) {
  eb_mesh *mesh;
  double *x = NULL;
  uint8_t *marked = NULL;
  EB_TRY(eb_results_mesh(e->results, e->cases[case_].run, &mesh));
  eb_error error = EB_NEW(marked, mesh->node_count);
  if (!error) error = eb_motion_last(e, case_, &x);
  if (!error) {
    int32_t count = mark_end(mesh, axis, upper, marked);
    *out = turn_of(mesh->X, x, marked, mesh->node_count, count, axis);
  }
  eb_mesh_destroy(mesh);
  free(marked);
  free(x);
  return error;
}

/* ---- unrest ---------------------------------------------------------------------------------- */

/* Copies the nodes of one piece together. Returns how many there are. */
static int64_t gather(const double *x, const int32_t *part, int32_t nodes, int32_t piece,
                      double *out) {
  int64_t count = 0;
  for (int32_t i = 0; i < nodes; i++)
    if (part[i] == piece) memcpy(out + 3 * count++, x + 3 * i, 3 * sizeof *out);
  return count;
}

/* work: 2 x nodes x 3 */
static double largest_change(const eb_mesh *mesh, const double *before, const double *after,
                             double length, int32_t *part, double *work) {
  double most = 0, *x = work, *y = work + 3 * (size_t)mesh->node_count;
  int32_t pieces = eb_mesh_components(mesh, part);
  for (int32_t p = 0; p < pieces; p++) {
    eb_distance change;
    int64_t count = gather(before, part, mesh->node_count, p, x);
    gather(after, part, mesh->node_count, p, y);
    eb_rigid_distance(x, y, count, length, &change);
    if (!(change.max <= most)) most = change.max;
  }
  return most;
}

static eb_error unrest_of(const eb_evidence *e, int case_, const eb_mesh *mesh, size_t frames,
                          double *out) {
  double *before, *after = NULL, *work = NULL, length = 0;
  int32_t *part = NULL;
  EB_TRY(eb_motion_frame(e, case_, frames - 2, &before));
  eb_error error = eb_motion_frame(e, case_, frames - 1, &after);
  if (!error) error = eb_motion_diagonal(e, case_, &length);
  if (!error) error = EB_NEW(part, mesh->node_count);
  if (!error) error = EB_NEW(work, 6 * (size_t)mesh->node_count);
  if (!error) *out = largest_change(mesh, before, after, length, part, work);
  free(before);
  free(after);
  free(work);
  free(part);
  return error;
}

eb_error eb_motion_unrest(const eb_evidence *e, int case_, double *out) {
  size_t frames;
  eb_mesh *mesh;
  *out = NAN;
  EB_TRY(eb_results_frame_count(e->results, e->cases[case_].run, &frames));
  if (frames < 2) return EB_OK;
  EB_TRY(eb_results_mesh(e->results, e->cases[case_].run, &mesh));
  eb_error error = unrest_of(e, case_, mesh, frames, out);
  eb_mesh_destroy(mesh);
  return error;
}

/* ---- roughness ------------------------------------------------------------------------------- */

/* Adds each edge's ends to the sums of each other: every edge of a closed surface twice, which
 * leaves the means as they are. */
static void sum_neighbours(const eb_result_surface *surface, const double *x, double *sum,
                           double *neighbours) {
  for (int32_t t = 0; t < surface->triangle_count; t++)
    for (int k = 0; k < 3; k++) {
      int32_t a = surface->triangles[3 * t + k], b = surface->triangles[3 * t + (k + 1) % 3];
      for (int d = 0; d < 3; d++) {
        sum[3 * a + d] += x[3 * b + d];
        sum[3 * b + d] += x[3 * a + d];
      }
      neighbours[a]++;
      neighbours[b]++;
    }
}

/* |x_i - mean of x over the neighbours of i| */
static double height_of(const double *x, const double *sum, double neighbours) {
  double squares = 0;
  for (int d = 0; d < 3; d++) squares += pow(x[d] - sum[d] / neighbours, 2);
  return sqrt(squares);
}

/* rest and now: nodes x 4, the sums and then the counts of neighbours */
static double rms_change(const double *X, const double *x, const double *rest, const double *now,
                         int32_t nodes) {
  double squares = 0, count = 0;
  for (int32_t i = 0; i < nodes; i++) {
    double neighbours = rest[3 * nodes + i];
    if (!(neighbours > 0)) continue;
    squares += pow(height_of(x + 3 * i, now + 3 * i, neighbours) -
                       height_of(X + 3 * i, rest + 3 * i, neighbours),
                   2);
    count++;
  }
  return sqrt(squares / count);
}

static eb_error roughness_of(const eb_evidence *e, int case_, const eb_mesh *mesh, const double *x,
                             double *work, double *out) {
  eb_result_surface surface;
  double length;
  size_t nodes = (size_t)mesh->node_count;
  EB_TRY(eb_motion_diagonal(e, case_, &length));
  EB_TRY(eb_results_surface(e->results, e->cases[case_].run, &surface));
  sum_neighbours(&surface, mesh->X, work, work + 3 * nodes);
  sum_neighbours(&surface, x, work + 4 * nodes, work + 7 * nodes);
  eb_result_surface_clear(&surface);
  *out = rms_change(mesh->X, x, work, work + 4 * nodes, mesh->node_count) / length;
  return EB_OK;
}

eb_error eb_motion_roughness(const eb_evidence *e, int case_, double *out) {
  eb_mesh *mesh;
  double *x = NULL, *work = NULL;
  EB_TRY(eb_results_mesh(e->results, e->cases[case_].run, &mesh));
  eb_error error = eb_motion_last(e, case_, &x);
  if (!error) error = EB_NEW(work, 8 * (size_t)mesh->node_count);
  if (!error) error = roughness_of(e, case_, mesh, x, work, out);
  eb_mesh_destroy(mesh);
  free(x);
  free(work);
  return error;
}
