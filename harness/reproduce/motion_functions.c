#include "harness/reproduce/evaluate.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/checkpoints.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/elasticity/svd3.h"

/* ---- what is seen ---------------------------------------------------------------------------- */

/* The run that stands for the k-th case of a call. */
typedef struct seen {
  const eb_results *results;
  int run;
  const eb_run *of;
  int64_t nodes;
  const char *name;
} seen;

static seen look_at(const eb_call *c, int k) {
  const eb_evidence *e = c->e->evidence;
  int case_ = c->cases[k];
  const eb_run *of = eb_evidence_run(e, case_);
  return (seen){e->results, e->cases[case_].run, of, of->nodes, e->paper->cases[case_].name};
}

/* What a shape is measured by. */
struct eb_view {
  const eb_call *call;
  bool pair; /* there are two cases; else s[1] is s[0] */
  seen s[2];
  eb_mesh *mesh;           /* of the first, at rest */
  double box[3], diagonal; /* m: edges of the box around it */
  double *x[2];            /* nodes x 3: the shape, and what it is compared with, or NULL */
  double *work;            /* eight numbers a node, zero at first */
  int32_t *mark;           /* one a node, zero at first */
};

static int axis_of(const eb_view *v, int argument) {
  return v->call->arguments[argument].text[0] - 'x';
}

static eb_error open_view(const eb_call *c, eb_view *v) {
  double lo[3], hi[3];
  *v = (eb_view){.call = c, .pair = c->cases[1] >= 0};
  for (int k = 0; k < 2; k++) v->s[k] = look_at(c, v->pair ? k : 0);
  EB_TRY(eb_results_mesh(v->s[0].results, v->s[0].run, &v->mesh));
  eb_mesh_bounds(v->mesh->X, v->mesh->node_count, lo, hi);
  for (int d = 0; d < 3; d++) v->box[d] = hi[d] - lo[d];
  v->diagonal = sqrt(eb_dot3(v->box, v->box));
  EB_TRY(EB_NEW(v->work, 8 * (size_t)v->mesh->node_count));
  return EB_NEW(v->mark, v->mesh->node_count);
}

static void drop_shapes(eb_view *v) {
  for (int k = 0; k < 2; k++) {
    free(v->x[k]);
    v->x[k] = NULL;
  }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Positions of a stored frame, nodes x 3. The caller frees *out. */
static eb_error read_frame(const seen *s, size_t frame, double **out) {
  float *x;
  size_t size = 3 * (size_t)s->nodes;
  *out = NULL;
  EB_TRY(eb_results_frame(s->results, s->run, frame, &x));
  eb_error error = EB_NEW(*out, size);
  for (size_t i = 0; i < size && !error; i++) (*out)[i] = (double)x[i];
  free(x);
  return error;
}

/* What a frame shows as the checkpoint of that step has it; NULL without one, or where its mesh is
 * yet to be cut. */
static eb_error read_checkpoint(const seen *s, size_t frame, double **out) {
  eb_checkpoints states;
  double *steps = NULL;
  size_t count = 0;
  int64_t row = -1;
  *out = NULL;
  EB_TRY(eb_checkpoints_open(s->results, s->run, &states));
  eb_error error =
      states.count ? eb_results_read(s->results, s->run, "frames/step", &steps, &count) : EB_OK;
  if (!error && states.count)
    row = eb_checkpoints_find(&states, frame < count ? (int64_t)steps[frame] : -1);
  if (!error && row >= 0 && states.nodes[row] == (double)s->nodes)
    error = eb_checkpoints_positions(&states, (size_t)row, out);
  free(steps);
  eb_checkpoints_close(&states);
  return error;
}

/* The shapes of a view: of a pair in doubles where both runs have kept their states as checkpoints
 * (harness/results/checkpoints.h), and as the frames have them otherwise. */
static eb_error read_shapes(eb_view *v, size_t a, size_t b) {
  drop_shapes(v);
  if (!v->pair) return read_frame(&v->s[0], a, &v->x[0]);
  EB_TRY(read_checkpoint(&v->s[0], a, &v->x[0]));
  if (v->x[0]) EB_TRY(read_checkpoint(&v->s[1], b, &v->x[1]));
  if (v->x[1]) return EB_OK;
  drop_shapes(v);
  EB_TRY(read_frame(&v->s[0], a, &v->x[0]));
  return read_frame(&v->s[1], b, &v->x[1]);
}

static eb_error last_frame(const seen *s, size_t *out) {
  EB_TRY(eb_results_frame_count(s->results, s->run, out));
  if (*out == 0) return EB_ERROR(EB_ERR_INVALID, "'%s' stored no frames", s->name);
  --*out;
  return EB_OK;
}

/* How many frames the runs, which are of one scene, have in common. */
static eb_error common_frames(const seen s[2], size_t *out) {
  size_t other;
  if (strcmp(s[0].of->scene_hash, s[1].of->scene_hash) != 0)
    return EB_ERROR(EB_ERR_INVALID, "'%s' and '%s' are not runs of one scene", s[0].name,
                    s[1].name);
  EB_TRY(eb_results_frame_count(s[0].results, s[0].run, out));
  EB_TRY(eb_results_frame_count(s[1].results, s[1].run, &other));
  if (other < *out) *out = other;
  return EB_OK;
}

/* ---- shapes measured ------------------------------------------------------------------------- */

/* In every frame that all cases have stored. */
static eb_error measure_frames(eb_view *v, eb_value *out) {
  size_t frames;
  EB_TRY(common_frames(v->s, &frames));
  EB_TRY(eb_results_read(v->s[0].results, v->s[0].run, "frames/time", &out->time, &out->count));
  out->count = 0;
  EB_TRY(EB_NEW(out->y, frames));
  for (; out->count < frames; out->count++) {
    EB_TRY(read_shapes(v, out->count, out->count));
    out->y[out->count] = v->call->self->shape(v);
  }
  return EB_OK;
}

static eb_error read_last(eb_view *v) {
  size_t frames[2];
  if (v->s[0].nodes != v->s[1].nodes)
    return EB_ERROR(EB_ERR_INVALID, "'%s' and '%s' do not have the same nodes", v->s[0].name,
                    v->s[1].name);
  for (int k = 0; k < 2; k++) EB_TRY(last_frame(&v->s[k], &frames[k]));
  return read_shapes(v, frames[0], frames[1]);
}

/* In the last frame of each case. */
static eb_error measure_last(eb_view *v, eb_value *out) {
  EB_TRY(read_last(v));
  out->number = v->call->self->shape(v);
  return EB_OK;
}

static eb_error measure_rest(eb_view *v, eb_value *out) {
  out->number = v->call->self->shape(v);
  return EB_OK;
}

static eb_error see(const eb_call *c, eb_value *out) {
  eb_view v;
  eb_error error = open_view(c, &v);
  if (!error) error = c->self->look(&v, out);
  for (int k = 0; k < 2; k++) free(v.x[k]);
  eb_mesh_destroy(v.mesh);
  free(v.work);
  free(v.mark);
  return error;
}

/* ---- distances of shapes --------------------------------------------------------------------- */

/* Distances between x and y, nodes x 3, as they are. */
static eb_distance distance_of(const double *x, const double *y, int64_t nodes, double length) {
  double sum = 0, most = 0;
  for (int64_t i = 0; i < nodes; i++) {
    double square = 0;
    for (int d = 0; d < 3; d++) square += pow(x[3 * i + d] - y[3 * i + d], 2);
    sum += square;
    if (!(square <= most)) most = square; /* keeps what is not a number */
  }
  return (eb_distance){.rms = sqrt(sum / (double)nodes) / length, .max = sqrt(most) / length};
}

void eb_rigid_distance(const double *x, const double *y, int64_t count, double length,
                       eb_distance *out) {
  double cx[3] = {0}, cy[3] = {0}, S[9] = {0}, sum = 0, most = 0;
  for (int d = 0; d < 3; d++)
    for (int64_t i = 0; i < count; i++) {
      cx[d] += x[3 * i + d] / (double)count;
      cy[d] += y[3 * i + d] / (double)count;
    }
  /* The rotation nearest to S = sum (y - cy) (x - cx)^T takes x onto y best. */
  for (int64_t i = 0; i < count; i++)
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) S[3 * r + c] += (y[3 * i + r] - cy[r]) * (x[3 * i + c] - cx[c]);
  eb_v4 F[9], R[9];
  for (int k = 0; k < 9; k++) F[k] = (eb_v4){S[k], S[k], S[k], S[k]};
  eb_polar3(F, R);
  for (int64_t i = 0; i < count; i++) {
    double square = 0;
    for (int r = 0; r < 3; r++) {
      double moved = cy[r];
      for (int c = 0; c < 3; c++) moved += R[3 * r + c][0] * (x[3 * i + c] - cx[c]);
      square += pow(moved - y[3 * i + r], 2);
    }
    sum += square;
    if (!(square <= most)) most = square;
  }
  *out = (eb_distance){.rms = sqrt(sum / (double)count) / length, .max = sqrt(most) / length};
}

static double distance(const eb_view *v) {
  return distance_of(v->x[0], v->x[1], v->s[0].nodes, v->diagonal).rms;
}

static double final_distance(const eb_view *v) {
  return distance_of(v->x[0], v->x[1], v->s[0].nodes, v->diagonal).max;
}

static double shape_error(const eb_view *v) {
  eb_distance distance;
  eb_rigid_distance(v->x[0], v->pair ? v->x[1] : v->mesh->X, v->s[0].nodes, v->diagonal, &distance);
  return distance.max;
}

/* The largest RMS distance from the second run over the frames that both have, over the largest RMS
 * distance of the second from where it starts; NaN when it does not move. */
static eb_error measure_error(eb_view *v, eb_value *out) {
  size_t frames;
  double apart = 0, travelled = 0, *start;
  int64_t nodes = v->s[0].nodes;
  EB_TRY(common_frames(v->s, &frames));
  if (frames == 0) return EB_OK;
  EB_TRY(read_frame(&v->s[1], 0, &start));
  memcpy(v->work, start, 3 * (size_t)nodes * sizeof *start);
  free(start);
  for (size_t f = 1; f < frames; f++) {
    EB_TRY(read_shapes(v, f, f));
    double distance = distance_of(v->x[0], v->x[1], nodes, 1).rms,
           gone = distance_of(v->x[1], v->work, nodes, 1).rms;
    if (!(distance <= apart)) apart = distance; /* keeps what is not a number */
    if (!(gone <= travelled)) travelled = gone;
  }
  out->number = travelled > 0 ? apart / travelled : NAN;
  return EB_OK;
}

/* ---- turning --------------------------------------------------------------------------------- */

/* The angle in degrees of the rotation about the axis that makes sum |R (X - cX) - (x - cx)|^2 over
 * the nodes at one end of the rest shape's box least, seen along the axis: atan2(sum of cross
 * products, sum of dot products). */
static double turn(const eb_view *v) {
  static const double slack = 1e-6, /* of the box: an end is flat but for rounding */
      degree = 3.14159265358979323846 / 180;
  const eb_mesh *mesh = v->mesh;
  const double *X = mesh->X, *x = v->x[0];
  bool upper = strcmp(v->call->arguments[2].text, "upper") == 0;
  int axis = axis_of(v, 1), d[2] = {(axis + 1) % 3, (axis + 2) % 3};
  int32_t count = 0;
  double lo[3], hi[3], centre[4] = {0}, cross = 0, dot = 0;
  eb_mesh_bounds(X, mesh->node_count, lo, hi);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    double from = upper ? hi[axis] - X[3 * i + axis] : X[3 * i + axis] - lo[axis];
    v->mark[i] = from <= slack * v->box[axis];
    count += v->mark[i];
  }
  for (int32_t i = 0; i < mesh->node_count; i++)
    for (int k = 0; v->mark[i] && k < 2; k++) {
      centre[k] += X[3 * i + d[k]] / count;
      centre[2 + k] += x[3 * i + d[k]] / count;
    }
  for (int32_t i = 0; i < mesh->node_count; i++) {
    if (!v->mark[i]) continue;
    double a[2], b[2];
    for (int k = 0; k < 2; k++) {
      a[k] = X[3 * i + d[k]] - centre[k];
      b[k] = x[3 * i + d[k]] - centre[2 + k];
    }
    cross += a[0] * b[1] - a[1] * b[0];
    dot += a[0] * b[0] + a[1] * b[1];
  }
  return atan2(cross, dot) / degree;
}

/* ---- boxes and surfaces ---------------------------------------------------------------------- */

static double extent(const eb_view *v) {
  double lo[3], hi[3];
  eb_mesh_bounds(v->x[0], (int32_t)v->s[0].nodes, lo, hi);
  return hi[axis_of(v, 1)] - lo[axis_of(v, 1)];
}

static double size(const eb_view *v) {
  return v->box[axis_of(v, 1)];
}

static double diagonal(const eb_view *v) {
  return v->diagonal;
}

static eb_error see_joint(const eb_call *c, eb_value *out) {
  const seen s = look_at(c, 0);
  double which = c->arguments[1].number;
  EB_TRY(eb_results_read(s.results, s.run, "frames/time", &out->time, &out->count));
  EB_TRY(EB_NEW(out->y, out->count));
  for (size_t f = 0; f < out->count; f++) {
    double *values;
    int32_t count;
    EB_TRY(eb_results_joints(s.results, s.run, f, &count, &values));
    out->y[f] = which >= 0 && which < count ? values[2 * (int)which] : NAN;
    free(values);
  }
  return EB_OK;
}

static eb_error see_faces(const eb_call *c, eb_value *out) {
  const seen s = look_at(c, 0);
  eb_result_surface surface;
  EB_TRY(eb_results_surface(s.results, s.run, &surface));
  out->number = surface.triangle_count;
  eb_result_surface_clear(&surface);
  return EB_OK;
}

/* ---- unrest ---------------------------------------------------------------------------------- */

/* The largest distance over the connected pieces of the mesh between their shapes in two frames,
 * each moved onto the other as a rigid body. part: an entry a node; work: 2 x nodes x 3. */
static double largest_change(const eb_mesh *mesh, const double *before, const double *after,
                             double length, int32_t *part, double *work) {
  double most = 0, *x = work, *y = work + 3 * (size_t)mesh->node_count;
  int32_t pieces = eb_mesh_components(mesh, part);
  for (int32_t p = 0; p < pieces; p++) {
    eb_distance change;
    int64_t count = 0;
    for (int32_t i = 0; i < mesh->node_count; i++) {
      if (part[i] != p) continue;
      memcpy(x + 3 * count, before + 3 * i, 3 * sizeof *x);
      memcpy(y + 3 * count++, after + 3 * i, 3 * sizeof *y);
    }
    eb_rigid_distance(x, y, count, length, &change);
    if (!(change.max <= most)) most = change.max;
  }
  return most;
}

/* The same of the last two frames, over the diagonal of the rest box; NaN with fewer. */
static eb_error measure_unrest(eb_view *v, eb_value *out) {
  size_t frames;
  EB_TRY(eb_results_frame_count(v->s[0].results, v->s[0].run, &frames));
  if (frames < 2) return EB_OK;
  for (int k = 0; k < 2; k++) EB_TRY(read_frame(&v->s[0], frames - 2 + (size_t)k, &v->x[k]));
  out->number = largest_change(v->mesh, v->x[0], v->x[1], v->diagonal, v->mark, v->work);
  return EB_OK;
}

/* ---- roughness ------------------------------------------------------------------------------- */

/* Adds each edge's ends to the sums of each other (nodes x 3) and counts them behind these: every
 * edge of a closed surface twice, which leaves the means as they are. */
static void sum_neighbours(const eb_result_surface *surface, const double *x, int32_t nodes,
                           double *sum) {
  for (int32_t t = 0; t < surface->triangle_count; t++)
    for (int k = 0; k < 3; k++) {
      int32_t a = surface->triangles[3 * t + k], b = surface->triangles[3 * t + (k + 1) % 3];
      for (int d = 0; d < 3; d++) {
        sum[3 * a + d] += x[3 * b + d];
        sum[3 * b + d] += x[3 * a + d];
      }
      sum[3 * nodes + a]++;
      sum[3 * nodes + b]++;
    }
}

/* |x_i - mean of x over the neighbours of i| */
static double height_of(const double *x, const double *sum, double neighbours) {
  double squares = 0;
  for (int d = 0; d < 3; d++) squares += pow(x[d] - sum[d] / neighbours, 2);
  return sqrt(squares);
}

/* How uneven the last frame's deformation is: a node of the surface stands so far from the mean of
 * its neighbours there; the RMS over these nodes of how much that differs from the rest shape, over
 * the diagonal of the rest box. A rigid motion has none, and a smooth one falls with the square of
 * the edges. */
static eb_error measure_roughness(eb_view *v, eb_value *out) {
  int32_t nodes = v->mesh->node_count;
  const double *X = v->mesh->X;
  double *rest = v->work, *now = rest + 4 * (size_t)nodes, squares = 0, count = 0;
  eb_result_surface surface;
  EB_TRY(read_last(v));
  EB_TRY(eb_results_surface(v->s[0].results, v->s[0].run, &surface));
  sum_neighbours(&surface, X, nodes, rest);
  sum_neighbours(&surface, v->x[0], nodes, now);
  eb_result_surface_clear(&surface);
  for (int32_t i = 0; i < nodes; i++) {
    double neighbours = rest[3 * nodes + i];
    if (!(neighbours > 0)) continue;
    double change = height_of(v->x[0] + 3 * i, now + 3 * i, neighbours) -
                    height_of(X + 3 * i, rest + 3 * i, neighbours);
    squares += pow(change, 2);
    count++;
  }
  out->number = sqrt(squares / count) / v->diagonal;
  return EB_OK;
}

/* ---- volumes, edges, rows -------------------------------------------------------------------- */

/* Corner k of a hexahedron has the bits of this as its place along the three axes. */
static const int corner_bits[8] = {0, 1, 3, 2, 4, 5, 7, 6};

/* Of the trilinear map of a hexahedron's corners: its Jacobian's determinant is at most quadratic
 * in every coordinate, so that two points of Gauss along each integrate it exactly. Faces that are
 * not flat are the same from both sides, so that volumes of neighbours add up. */
static double trilinear_volume(const double *x, const int32_t node[8]) {
  const double gauss = sqrt(1.0 / 3);
  double volume = 0;
  for (int point = 0; point < 8; point++) {
    double J[3][3] = {{0}}, normal[3];
    for (int k = 0; k < 8; k++) {
      double factor[3], sign[3];
      for (int d = 0; d < 3; d++) {
        sign[d] = corner_bits[k] >> d & 1 ? 0.5 : -0.5;
        factor[d] = 0.5 + sign[d] * (point >> d & 1 ? gauss : -gauss);
      }
      for (int d = 0; d < 3; d++)
        eb_add3(sign[d] * factor[(d + 1) % 3] * factor[(d + 2) % 3], x + 3 * node[k], J[d]);
    }
    eb_cross3(J[0], J[1], normal);
    volume += eb_dot3(normal, J[2]);
  }
  return volume;
}

static double volume_of(const eb_mesh *mesh, const double *x) {
  double sum = 0;
  for (int32_t e = 0; e < mesh->element_count; e++)
    sum += mesh->type == EB_HEXAHEDRON
               ? trilinear_volume(x, mesh->elements + (int)mesh->type * (size_t)e)
               : eb_mesh_element_volume(mesh, x, e);
  return sum;
}

static double volume(const eb_view *v) {
  return volume_of(v->mesh, v->x[0]) / volume_of(v->mesh, v->mesh->X);
}

/* How much longer than at rest the edge of an element is that has grown most, of its length. */
static double stretch(const eb_view *v) {
  const eb_mesh *mesh = v->mesh;
  const double *x = v->x[0];
  double most = -1;
  int corners = (int)mesh->type;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const int32_t *node = mesh->elements + corners * (size_t)e;
    for (int a = 0; a < corners; a++)
      for (int b = a + 1; b < corners; b++) {
        int apart = corner_bits[a] ^ corner_bits[b];
        if (corners == 8 && (apart & (apart - 1)) != 0) continue; /* a diagonal */
        double now = eb_squared_distance3(x + 3 * node[a], x + 3 * node[b]),
               rest = eb_squared_distance3(mesh->X + 3 * node[a], mesh->X + 3 * node[b]),
               strain = sqrt(now / rest) - 1;
        if (!(strain <= most)) most = strain; /* keeps what is not a number */
      }
  }
  return most;
}

/* The node next to `i` in its row: of those on the same line along the axis the nearest one on that
 * side; -1 at the row's end. What is less than `slack` m apart is not apart. */
static int32_t neighbour_in_row(const eb_mesh *mesh, const int32_t *marked, int32_t i, int axis,
                                double side, double slack) {
  int32_t found = -1;
  double nearest = INFINITY;
  for (int32_t j = 0; j < mesh->node_count; j++) {
    double way = side * (mesh->X[3 * j + axis] - mesh->X[3 * i + axis]), off = 0;
    if (!marked[j] || !(way > slack) || !(way < nearest)) continue;
    for (int d = 0; d < 3; d++)
      if (d != axis) off = fmax(off, fabs(mesh->X[3 * j + d] - mesh->X[3 * i + d]));
    if (off > slack) continue;
    nearest = way;
    found = j;
  }
  return found;
}

/* How far a node stands outside of the line through its neighbours in the row, times -2: the second
 * difference of the row there, across that line in the plane of `axis` and `up`. NaN at ends. */
static double second_difference(const eb_mesh *mesh, const double *x, const int32_t *marked,
                                int32_t i, int axis, int up, double slack) {
  int32_t before = marked[i] ? neighbour_in_row(mesh, marked, i, axis, -1, slack) : -1,
          after = before >= 0 ? neighbour_in_row(mesh, marked, i, axis, 1, slack) : -1;
  if (after < 0) return NAN;
  const double *a = x + 3 * before, *b = x + 3 * i, *c = x + 3 * after;
  double along = c[axis] - a[axis], outwards = c[up] - a[up];
  return ((a[up] - 2 * b[up] + c[up]) * along - (a[axis] - 2 * b[axis] + c[axis]) * outwards) /
         hypot(along, outwards);
}

/* The amplitude of what alternates from node to node in the rows along `axis` on the face at the
 * upper end of `up`, over the height of the rest box there: root mean square of the second
 * difference of second differences, of which a saw of the amplitude 1 has 16. Arcs have none, and
 * bends that change slowly hardly any. */
static double zigzag(const eb_view *v) {
  const eb_mesh *mesh = v->mesh;
  int axis = axis_of(v, 1), up = axis_of(v, 2);
  double lo[3], hi[3], squares = 0, count = 0, *second = v->work;
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  const double slack = 1e-6 * (hi[axis] - lo[axis]); /* rows are straight but for rounding */
  for (int32_t i = 0; i < mesh->node_count; i++) v->mark[i] = hi[up] - mesh->X[3 * i + up] <= slack;
  for (int32_t i = 0; i < mesh->node_count; i++)
    second[i] = second_difference(mesh, v->x[0], v->mark, i, axis, up, slack);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    if (isnan(second[i])) continue;
    int32_t before = neighbour_in_row(mesh, v->mark, i, axis, -1, slack),
            after = neighbour_in_row(mesh, v->mark, i, axis, 1, slack);
    double fourth = second[before] - 2 * second[i] + second[after];
    if (isnan(fourth)) continue;
    squares += fourth * fourth / 256;
    count++;
  }
  return sqrt(squares / count) / v->box[up];
}

/* ---- bounces --------------------------------------------------------------------------------- */

/* What becomes of a body that falls along -z; restitution and flight are NaN where it never
 * touches. */
typedef struct bounce {
  double restitution; /* largest momentum upward from the first touch on over the largest downward
                       * until then */
  double flight;      /* steps without contact after the first touch */
  double times[2];    /* at which the first contact has ended, and the next one begins, s */
  bool seen[2];       /* false: it has not in this run, and the time is that of the last step */
} bounce;

static bounce bounce_of(const double *contacts, const double *momentum, const double *time,
                        size_t steps) {
  bounce b = {NAN, NAN, {NAN, NAN}, {false, false}};
  double down = 0, up = 0, free_steps = 0;
  size_t touch = 0, at[2];
  while (touch < steps && !(contacts[touch] > 0)) touch++;
  for (at[0] = touch; at[0] < steps && contacts[at[0]] > 0;) at[0]++;
  for (at[1] = at[0]; at[1] < steps && !(contacts[at[1]] > 0);) at[1]++;
  for (int k = 0; k < 2 && steps; k++) {
    b.seen[k] = at[k] < steps;
    b.times[k] = time[b.seen[k] ? at[k] : steps - 1];
  }
  for (size_t i = 0; i <= touch && i < steps; i++) down = fmax(down, -momentum[i]);
  for (size_t i = touch; i < steps; i++) {
    up = fmax(up, momentum[i]);
    free_steps += !(contacts[i] > 0);
  }
  if (touch < steps) b.restitution = up / down;
  if (touch < steps) b.flight = free_steps;
  return b;
}

static eb_error see_bounce(const eb_call *c, eb_value *out) {
  enum { CONTACTS, MOMENTUM, TIME, COLUMNS };
  static const eb_column columns[COLUMNS] = {EB_COL_CONTACTS, EB_COL_MOMENTUM_Z, EB_COL_TIME};
  const char *name = c->self->name;
  const seen s = look_at(c, 0);
  double *values[COLUMNS] = {0};
  size_t steps = 0;
  eb_error error = EB_OK;
  for (int k = 0; k < COLUMNS && !error; k++)
    error = eb_results_steps(s.results, s.run, columns[k], &values[k], &steps);
  if (!error) {
    const bounce b = bounce_of(values[CONTACTS], values[MOMENTUM], values[TIME], steps);
    int time = strcmp(name, "bounce_end") == 0 ? 0 : strcmp(name, "second_touch") == 0 ? 1 : -1;
    out->number = time >= 0                     ? b.times[time]
                  : strcmp(name, "flight") == 0 ? b.flight
                                                : b.restitution;
    out->may_rise = time >= 0 && !b.seen[time];
  }
  for (int k = 0; k < COLUMNS; k++) free(values[k]);
  return error;
}

const eb_function eb_motion_functions[] = {
    {"distance", "cc",
     "a, b: RMS distance of the nodes of two runs of one scene in every frame, over the diagonal "
     "of the rest box",
     .call = see, .look = measure_frames, .seen = EB_SEEN_SERIES, .shape = distance},
    {"final_distance", "cc",
     "a, b: largest distance of a node between the last frames, over the diagonal", .call = see,
     .look = measure_last, .seen = EB_SEEN_NUMBER, .changes = 2, .shape = final_distance},
    {"shape_error", "c?c",
     "a, b: the same without the rigid motion between them; a alone: against the rest shape",
     .call = see, .look = measure_last, .seen = EB_SEEN_NUMBER, .changes = 2, .shape = shape_error},
    {"error", "cc",
     "a, b: largest RMS distance of a from b, over the largest of b from its first frame",
     .call = see, .look = measure_error, .seen = EB_SEEN_NUMBER},
    {"turn", "cxu", "a, axis, end: degrees by which the lower or upper end has turned about it",
     .call = see, .look = measure_last, .seen = EB_SEEN_NUMBER, .changes = 2, .shape = turn},
    {"extent", "cx", "a, axis: length of the box around the nodes, in every frame, m", .call = see,
     .look = measure_frames, .seen = EB_SEEN_SERIES, .shape = extent},
    {"size", "cx", "a, axis: the same of the rest shape", .call = see, .look = measure_rest,
     .seen = EB_SEEN_NUMBER, .shape = size},
    {"diagonal", "c", "a: diagonal of the box around the rest shape, m", .call = see,
     .look = measure_rest, .seen = EB_SEEN_NUMBER, .shape = diagonal},
    {"faces", "c", "a: triangles of the mesh's surface", .call = see_faces, .seen = EB_SEEN_NUMBER},
    {"unrest", "c",
     "a: largest change of shape of a connected piece between the last two frames, over the "
     "diagonal",
     .call = see, .look = measure_unrest, .seen = EB_SEEN_NUMBER, .changes = 2},
    {"roughness", "c",
     "a: RMS over the surface of how a node's height above its neighbours has changed, over the "
     "diagonal",
     .call = see, .look = measure_roughness, .seen = EB_SEEN_NUMBER, .changes = 2},
    {"volume", "c", "a: volume in every frame, of trilinear hexahedra, over that at rest",
     .call = see, .look = measure_frames, .seen = EB_SEEN_SERIES, .shape = volume},
    {"stretch", "c", "a: largest strain of an edge of an element in the last frame", .call = see,
     .look = measure_last, .seen = EB_SEEN_NUMBER, .changes = 2, .shape = stretch},
    {"zigzag", "cxx",
     "a, axis, up: on the face at the upper end of `up` the amplitude of what alternates from node "
     "to node in the last frame's rows along `axis`, over the height of the rest shape",
     .call = see, .look = measure_last, .seen = EB_SEEN_NUMBER, .changes = 2, .shape = zigzag},
    {"joint", "cn", "a, number: angle of a joint in every frame, rad", .call = see_joint,
     .seen = EB_SEEN_SERIES},
    {"restitution", "c",
     "a: largest upward momentum after the first contact over the largest downward one before",
     .call = see_bounce, .seen = EB_SEEN_NUMBER, .changes = 1},
    {"flight", "c", "a: steps without contact after the first one with", .call = see_bounce,
     .seen = EB_SEEN_NUMBER, .changes = 1},
    {"bounce_end", "c", "a: time at which the first contact has ended, s", .call = see_bounce,
     .seen = EB_SEEN_NUMBER},
    {"second_touch", "c", "a: time at which the contact after the first one begins, s",
     .call = see_bounce, .seen = EB_SEEN_NUMBER},
    {0}};
