/* A worked example of a plug-in for contact: implicit Euler, bodies kept apart by a barrier, with
 * friction. Build it against the installed headers and run it:
 *
 *   cc -O2 -shared -fPIC $(pkg-config --cflags elastobench) barrier.c -o barrier.so -lm
 *   elastobench run two-blocks.ini --plugin ./barrier.so -s barrier -s contact-al -o r.h5
 *
 * (problems/scenes/examples/two-blocks.ini).
 *
 * A step minimizes over the positions x at its end
 *
 *   |x - x0 - h v0|^2_M / (2 h^2) + E(x) - f_ext . x + sum s b(d) + sum mu f |u|
 *
 * over pairs of features of different bodies whose distance d is less than D, the largest that the
 * audit lets contacts ask for: b(d) = -k (d - D)^2 ln(d / D) pushes with f = -s b'(d), u is the
 * slip of the step, and |u| is rounded off below a slip that the audit calls none. Pushes and ways
 * in the friction are those of the solution before, until they change no more. Edges that are all
 * but parallel have a share s < 1 and leave the rest to their ends. A contact asks for the distance
 * at which its barrier holds it, so that its force is that of a contact.
 *
 * Reference: Li et al. 2020, "Incremental Potential Contact". Needs: energy, gradient, Hessian, a
 * start without intersections. Bodies are not kept from crossing themselves; every two features are
 * compared: for a few bodies. Workspace: ten vectors, the Hessian, and the pairs, which grow with
 * the most there ever were. Fails: EB_DIVERGED_MAX_IT. */
#include <elastobench/contacts.h>
#include <elastobench/solver.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
  eb_pair of;
  double w[4], n[3], d; /* weights, normal and distance at the place that it was measured at */
  double share, push;   /* of the barrier; N */
} pair;

typedef struct pairs {
  int32_t count, room;
  pair *all;
} pairs;

/* A vertex, an edge or a face, and the box around its motion. */
typedef struct feature {
  int32_t vertex[3], count, body;
  bool alone; /* in the box around no other body */
  double lo[3], hi[3];
} feature;

typedef struct features {
  int32_t count;
  feature *all;
} features;

typedef struct barrier {
  const eb_scene *scene;
  eb_surfaces *surfaces;
  int32_t nodes, vertices;
  features points, edges, faces;
  features around;            /* of every body and obstacle the box alone */
  pairs near, ahead, rubbing; /* that push; that a Newton step may bring near; with friction */
  double D, stiffness, rounded, rtol; /* m, N/m, m, 1 */
  const int32_t *start, *column;      /* the pattern of the Hessian */
  double *blocks, *inverse;           /* of the Hessian and, inverted, of the diagonal: 9 each */
  /* vertices x 3: the start of the step, the trial, where things go, what a Newton step adds */
  double *x0, *x, *end, *way, *trial;
  double *predicted, *force, *elastic, *g, *right, *r, *z, *p, *q; /* nodes x 3 */
  uint8_t *fixed;
  /* The record's arrays, for `room` contacts. */
  int32_t room;
  eb_pair *pair;
  double *weight, *frame, *c, *reported;
  eb_contact_record record;
} barrier;

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
  for (int d = 0; d < 3; d++)
    out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

static double dots(int64_t n, const double *a, const double *b) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* ---- distances ------------------------------------------------------------------------------- */

/* Offers the way with these weights; the shortest stays. */
static void offer(double x[4][3], const double w[4], pair *best) {
  double way[3] = {0};
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) way[d] += w[i] * x[i][d];
  double length = sqrt(dot(way, way));
  if (!(length < best->d)) return;
  best->d = length;
  memcpy(best->w, w, sizeof best->w);
  for (int d = 0; d < 3; d++) best->n[d] = length > 0 ? way[d] / length : 0;
}

/* From the segment (a, b) to a point; sign -1: from the point. */
static void offer_segment(double x[4][3], int point, int a, int b, double sign, pair *best) {
  double u[3], v[3], w[4] = {0};
  for (int d = 0; d < 3; d++) {
    u[d] = x[b][d] - x[a][d];
    v[d] = x[point][d] - x[a][d];
  }
  double t = fmax(0, fmin(1, dot(u, v) / dot(u, u)));
  w[point] = sign;
  w[a] = sign * (t - 1);
  w[b] = -sign * t;
  offer(x, w, best);
}

/* Between the inside of a face and a vertex, or of two edges, where there is such a way. */
static void offer_inside(double x[4][3], bool face, pair *best) {
  double u[3], v[3], off[3], n[3], a[3], b[3];
  for (int d = 0; d < 3; d++) {
    u[d] = face ? x[2][d] - x[1][d] : x[1][d] - x[0][d];
    v[d] = x[3][d] - x[face ? 1 : 2][d];
    off[d] = x[0][d] - x[face ? 1 : 2][d];
  }
  cross(u, v, n);
  if (!(dot(n, n) > 1e-12 * dot(u, u) * dot(v, v))) return;
  if (face)
    cross(off, v, a);
  else
    cross(v, off, a);
  cross(u, off, b);
  double s = dot(a, n) / dot(n, n), t = dot(b, n) / dot(n, n);
  const double in_face[4] = {1, s + t - 1, -s, -t}, on_edges[4] = {1 - s, s, t - 1, -t};
  if (s >= 0 && t >= 0 && (face ? s + t <= 1 : s <= 1 && t <= 1))
    offer(x, face ? in_face : on_edges, best);
}

static void gather(const pair *k, const double *x, double out[4][3]) {
  for (int i = 0; i < 4; i++) memcpy(out[i], x + 3 * (size_t)k->of.vertex[i], sizeof out[i]);
}

static void measure(pair *k, const double *x) {
  double at[4][3];
  bool face = k->of.kind == EB_VERTEX_FACE;
  gather(k, x, at);
  k->d = INFINITY;
  for (int i = 1; face && i < 4; i++) offer_segment(at, 0, i, i % 3 + 1, 1, k);
  for (int i = 0; !face && i < 2; i++) {
    offer_segment(at, i, 2, 3, 1, k);
    offer_segment(at, 2 + i, 0, 1, -1, k);
  }
  offer_inside(at, face, k);
}

/* What the pair has of the barrier, by where it is at the start of the step. */
static double share_at(const pair *k, const double *x0) {
  double at[4][3], u[3], v[3], n[3];
  if (k->of.kind == EB_VERTEX_FACE) return 1;
  gather(k, x0, at);
  for (int d = 0; d < 3; d++) {
    u[d] = at[1][d] - at[0][d];
    v[d] = at[3][d] - at[2][d];
  }
  cross(u, v, n);
  return fmin(1, 1e3 * dot(n, n) / (dot(u, u) * dot(v, v)));
}

/* ---- which pairs ----------------------------------------------------------------------------- */

static void box(features *list, const double *x, const double *way, double grow) {
  for (feature *f = list->all; f < list->all + list->count; f++)
    for (int d = 0; d < 3; d++) {
      f->lo[d] = INFINITY;
      f->hi[d] = -INFINITY;
      for (int i = 0; i < f->count; i++) {
        double from = x[3 * (size_t)f->vertex[i] + (size_t)d];
        double to = from + (way ? way[3 * (size_t)f->vertex[i] + (size_t)d] : 0);
        f->lo[d] = fmin(f->lo[d], fmin(from, to) - grow / 2);
        f->hi[d] = fmax(f->hi[d], fmax(from, to) + grow / 2);
      }
    }
}

static bool may_meet(const barrier *b, const feature *f, const feature *g) {
  int32_t bodies = b->surfaces->body_count;
  if (f->body == g->body || (f->body >= bodies && g->body >= bodies)) return false;
  for (int d = 0; d < 3; d++)
    if (f->lo[d] > g->hi[d] || g->lo[d] > f->hi[d]) return false;
  return true;
}

static eb_error add(pairs *list, int32_t kind, const feature *f, const feature *g) {
  if (list->count == list->room) {
    int32_t room = 2 * list->room + 64;
    pair *all = realloc(list->all, (size_t)room * sizeof *all);
    if (!all) return EB_ERROR(EB_ERR_MEMORY, "barrier: no memory for %d pairs", (int)room);
    list->all = all;
    list->room = room;
  }
  pair *k = &list->all[list->count++];
  *k = (pair){.of = {.kind = kind}};
  for (int i = 0; i < f->count; i++) k->of.vertex[i] = f->vertex[i];
  for (int i = 0; i < g->count; i++) k->of.vertex[f->count + i] = g->vertex[i];
  return EB_OK;
}

static void box_bodies(barrier *b) {
  for (int32_t k = 0; k < b->around.count; k++)
    b->around.all[k] = (feature){
        .body = k, .lo = {INFINITY, INFINITY, INFINITY}, .hi = {-INFINITY, -INFINITY, -INFINITY}};
  for (const feature *f = b->points.all; f < b->points.all + b->points.count; f++)
    for (int d = 0; d < 3; d++) {
      feature *body = &b->around.all[f->body];
      body->lo[d] = fmin(body->lo[d], f->lo[d]);
      body->hi[d] = fmax(body->hi[d], f->hi[d]);
    }
}

static void part(const barrier *b, features *list) {
  for (feature *f = list->all; f < list->all + list->count; f++) {
    f->alone = true;
    for (int32_t k = 0; k < b->around.count && f->alone; k++)
      f->alone = !may_meet(b, f, &b->around.all[k]);
  }
}

static eb_error pair_up(const barrier *b, int32_t kind, const features *first,
                        const features *second, pairs *out) {
  for (int32_t i = 0; i < first->count; i++)
    for (int32_t j = first == second ? i + 1 : 0; !first->all[i].alone && j < second->count; j++)
      if (!second->all[j].alone && may_meet(b, &first->all[i], &second->all[j]))
        EB_TRY(add(out, kind, &first->all[i], &second->all[j]));
  return EB_OK;
}

/* All that may be nearer than D on the way from x on (NULL: at x), measured at x. */
static eb_error find(barrier *b, const double *x, const double *way, pairs *out) {
  out->count = 0;
  features *all[] = {&b->points, &b->edges, &b->faces};
  for (int k = 0; k < 3; k++) box(all[k], x, way, b->D);
  box_bodies(b);
  for (int k = 0; k < 3; k++) part(b, all[k]);
  EB_TRY(pair_up(b, EB_VERTEX_FACE, &b->points, &b->faces, out));
  EB_TRY(pair_up(b, EB_EDGE_EDGE, &b->edges, &b->edges, out));
  for (pair *k = out->all; k < out->all + out->count; k++) {
    measure(k, x);
    k->share = share_at(k, b->x0);
  }
  return EB_OK;
}

/* ---- the barrier ----------------------------------------------------------------------------- */

static double barrier_energy(const barrier *b, const pair *k) {
  double off = fmin(k->d - b->D, 0);
  return off < 0 ? -b->stiffness * k->share * off * off * log(k->d / b->D) : 0;
}

static double barrier_push(const barrier *b, const pair *k) {
  double off = fmin(k->d - b->D, 0);
  return off < 0 ? b->stiffness * k->share * (2 * off * log(k->d / b->D) + off * off / k->d) : 0;
}

static double barrier_curvature(const barrier *b, const pair *k) {
  double off = fmin(k->d - b->D, 0), d = k->d;
  return off < 0
             ? b->stiffness * k->share * (-2 * log(d / b->D) - 4 * off / d + off * off / (d * d))
             : 0;
}

/* Pairs that push at x; to `rubbing` too with `rub`, where friction is of these from now on. */
static eb_error touch(barrier *b, bool rub) {
  EB_TRY(find(b, b->x, NULL, &b->near));
  int32_t kept = 0;
  for (int32_t k = 0; k < b->near.count; k++) {
    b->near.all[k].push = barrier_push(b, &b->near.all[k]);
    if (b->near.all[k].d < b->D) b->near.all[kept++] = b->near.all[k];
  }
  b->near.count = kept;
  if (!rub) return EB_OK;
  b->rubbing.count = 0;
  for (int32_t k = 0; k < kept; k++) {
    EB_TRY(add(&b->rubbing, 0, &(feature){0}, &(feature){0}));
    b->rubbing.all[k] = b->near.all[k];
  }
  return EB_OK;
}

/* sum_i w_i a_i, of vectors of the first `vertices`; those of the others are 0. */
static void between(const pair *k, const double *a, int32_t vertices, double out[3]) {
  memset(out, 0, 3 * sizeof *out);
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3 && k->of.vertex[i] < vertices; d++)
      out[d] += k->w[i] * a[3 * (size_t)k->of.vertex[i] + (size_t)d];
}

static void scatter(const pair *k, double scale, const double f[3], int32_t nodes, double *out) {
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3 && k->of.vertex[i] < nodes; d++)
      out[3 * (size_t)k->of.vertex[i] + (size_t)d] += scale * k->w[i] * f[d];
}

/* ---- friction -------------------------------------------------------------------------------- */

/* The slip of the step; returns its size. */
static double slip(const barrier *b, const pair *k, const double *x, double u[3]) {
  double from[3];
  between(k, x, b->vertices, u);
  between(k, b->x0, b->vertices, from);
  for (int d = 0; d < 3; d++) u[d] -= from[d];
  double along = dot(u, k->n);
  for (int d = 0; d < 3; d++) u[d] -= along * k->n[d];
  return sqrt(dot(u, u));
}

/* Of a pair, N. */
static double friction_limit(const barrier *b, const pair *k) {
  return eb_friction_of(&b->surfaces->friction, &k->of) * k->push;
}

static double friction_energy(const barrier *b, const pair *k, const double *x) {
  double u[3], size = slip(b, k, x, u);
  return friction_limit(b, k) *
         (size < b->rounded ? size * size / (2 * b->rounded) : size - b->rounded / 2);
}

/* Of the second feature on the first. */
static void friction_force(const barrier *b, const pair *k, double f[3]) {
  double u[3], size = slip(b, k, b->x, u);
  for (int d = 0; d < 3; d++) f[d] = -friction_limit(b, k) / fmax(size, b->rounded) * u[d];
}

/* ---- the equation ---------------------------------------------------------------------------- */

static double potential(barrier *b, const double *x, double dt) {
  const double *mass = eb_scene_mass(b->scene);
  double sum = eb_scene_energy(b->scene, x);
  for (int32_t i = 0; i < 3 * b->nodes; i++) {
    double off = x[i] - b->predicted[i];
    sum += mass[i / 3] * off * off / (2 * dt * dt) - b->force[i] * x[i];
  }
  for (pair *k = b->ahead.all; k < b->ahead.all + b->ahead.count; k++) {
    measure(k, x);
    sum += barrier_energy(b, k);
  }
  for (int32_t k = 0; k < b->rubbing.count; k++) sum += friction_energy(b, &b->rubbing.all[k], x);
  return sum;
}

/* Of the potential by the free nodes, from that of the elements; returns its norm. */
static double gradient(barrier *b, double dt) {
  const double *mass = eb_scene_mass(b->scene);
  for (int32_t i = 0; i < 3 * b->nodes; i++)
    b->g[i] = b->elastic[i] - b->force[i] + mass[i / 3] * (b->x[i] - b->predicted[i]) / (dt * dt);
  for (const pair *k = b->near.all; k < b->near.all + b->near.count; k++)
    scatter(k, -k->push, k->n, b->nodes, b->g);
  for (const pair *k = b->rubbing.all; k < b->rubbing.all + b->rubbing.count; k++) {
    double f[3];
    friction_force(b, k, f);
    scatter(k, -1, f, b->nodes, b->g);
  }
  for (int32_t i = 0; i < 3 * b->nodes; i++)
    if (b->fixed[i / 3]) b->g[i] = 0;
  return sqrt(dots(3 * b->nodes, b->g, b->g));
}

/* What a residual may be: a part of the forces, and of what momentum may lack. */
static double tolerance(const barrier *b, double dt) {
  int64_t n = 3 * (int64_t)b->nodes;
  double forces = sqrt(dots(n, b->elastic, b->elastic)) + sqrt(dots(n, b->force, b->force));
  return fmin(b->rtol * forces, 0.2 * b->surfaces->bounds.momentum / dt);
}

/* Second derivative of a pair, 3 x 3 between its points. */
static void barrier_block(const barrier *b, const pair *k, double out[9]) {
  double curvature = barrier_curvature(b, k);
  for (int i = 0; i < 9; i++) out[i] = curvature * k->n[i / 3] * k->n[i % 3];
}

static void friction_block(const barrier *b, const pair *k, double out[9]) {
  double u[3], size = slip(b, k, b->x, u), scale = friction_limit(b, k) / fmax(size, b->rounded);
  bool slides = size > b->rounded;
  for (int i = 0; i < 9; i++)
    out[i] = scale * ((i % 4 == 0) - k->n[i / 3] * k->n[i % 3] -
                      (slides ? u[i / 3] * u[i % 3] / (size * size) : 0));
}

typedef void (*block_of)(const barrier *b, const pair *k, double out[9]);

static void pull(const barrier *b, const pairs *list, block_of block, const double *p,
                 int32_t vertices, double *out) {
  for (const pair *k = list->all; k < list->all + list->count; k++) {
    double B[9], u[3], f[3];
    block(b, k, B);
    between(k, p, vertices, u);
    for (int d = 0; d < 3; d++) f[d] = dot(B + 3 * d, u);
    scatter(k, 1, f, b->nodes, out);
  }
}

/* out = H p on free nodes, of displacements of the first `vertices`; 0 on the others. */
static void times(const barrier *b, const double *p, int32_t vertices, double *out) {
  memset(out, 0, 3 * (size_t)b->nodes * sizeof *out);
  for (int32_t i = 0; i < b->nodes; i++)
    for (int32_t k = b->start[i]; k < b->start[i + 1]; k++)
      for (int d = 0; d < 3; d++)
        out[3 * i + d] += dot(b->blocks + 9 * (size_t)k + 3 * d, p + 3 * (size_t)b->column[k]);
  pull(b, &b->near, barrier_block, p, vertices, out);
  pull(b, &b->rubbing, friction_block, p, vertices, out);
  for (int32_t i = 0; i < 3 * b->nodes; i++)
    if (b->fixed[i / 3]) out[i] = 0;
}

static void invert(const double a[9], double out[9]) {
  double det = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int r = (i + 1) % 3, s = (i + 2) % 3, u = (j + 1) % 3, v = (j + 2) % 3;
      out[3 * j + i] = a[3 * r + u] * a[3 * s + v] - a[3 * r + v] * a[3 * s + u];
    }
  for (int j = 0; j < 3; j++) det += a[j] * out[3 * j];
  for (int i = 0; i < 9; i++) out[i] /= det;
}

static void add_diagonal(barrier *b, const pairs *list, block_of block) {
  for (const pair *k = list->all; k < list->all + list->count; k++) {
    double B[9];
    block(b, k, B);
    for (int i = 0; i < 4; i++)
      for (int d = 0; d < 9 && k->of.vertex[i] < b->nodes; d++)
        b->inverse[9 * (size_t)k->of.vertex[i] + (size_t)d] += k->w[i] * k->w[i] * B[d];
  }
}

static void precondition(barrier *b) {
  for (int32_t i = 0; i < b->nodes; i++)
    for (int32_t k = b->start[i]; k < b->start[i + 1]; k++)
      if (b->column[k] == i)
        memcpy(b->inverse + 9 * (size_t)i, b->blocks + 9 * (size_t)k, 9 * sizeof(double));
  add_diagonal(b, &b->near, barrier_block);
  add_diagonal(b, &b->rubbing, friction_block);
  for (int32_t i = 0; i < b->nodes; i++) {
    double a[9];
    memcpy(a, b->inverse + 9 * (size_t)i, sizeof a);
    invert(a, b->inverse + 9 * (size_t)i);
  }
}

/* Adds to the way of free nodes what solves H d = right, by conjugate gradients. */
static void solve(barrier *b, double rtol, eb_step_log *log) {
  int64_t n = 3 * (int64_t)b->nodes;
  double stop = rtol * sqrt(dots(n, b->right, b->right)), before = 0;
  precondition(b);
  memcpy(b->r, b->right, (size_t)n * sizeof *b->r);
  for (int k = 0; k < 3000 && sqrt(dots(n, b->r, b->r)) > stop; k++) {
    for (int64_t i = 0; i < n; i++) b->z[i] = dot(b->inverse + 3 * i, b->r + i / 3 * 3);
    double rz = dots(n, b->r, b->z);
    for (int64_t i = 0; i < n; i++) b->p[i] = b->z[i] + (k ? rz / before * b->p[i] : 0);
    times(b, b->p, b->nodes, b->q);
    double alpha = rz / dots(n, b->p, b->q);
    for (int64_t i = 0; i < n; i++) {
      b->way[i] += alpha * b->p[i];
      b->r[i] -= alpha * b->q[i];
    }
    before = rz;
    eb_log_count(log, EB_COUNT_LINEAR_ITERATIONS, 1);
  }
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* The largest displacement of some vertices of a pair. */
static double fastest(const pair *k, const double *way, int from, int to) {
  double most = 0;
  for (int i = from; i < to; i++) {
    const double *a = way + 3 * (size_t)k->of.vertex[i];
    most = fmax(most, sqrt(dot(a, a)));
  }
  return most;
}

/* How much of the way from x may be gone so that no pair loses more than nine tenths of its
 * distance: on and on by what the speeds of the features allow. */
static double free_part(barrier *b) {
  const pairs *list = &b->ahead;
  double part = 0;
  for (int32_t k = 0; k < list->count; k++) list->all[k].push = 0.1 * list->all[k].d;
  for (;;) {
    double more = INFINITY;
    for (pair *k = list->all; k < list->all + list->count; k++) {
      int split = k->of.kind == EB_VERTEX_FACE ? 1 : 2;
      double speed = fastest(k, b->way, 0, split) + fastest(k, b->way, split, 4);
      more = fmin(more, (k->d - k->push) / fmax(speed, 1e-300));
    }
    if (part + more >= 1) return 1;
    if (more < 1e-3) return part + fmax(more, 0);
    part += more;
    for (int32_t i = 0; i < 3 * b->vertices; i++) b->trial[i] = b->x[i] + part * b->way[i];
    for (int32_t k = 0; k < list->count; k++) measure(&list->all[k], b->trial);
  }
}

/* Goes as much of the way as nothing stands in, and as lowers the potential. */
static eb_error go(barrier *b, bool arrived, double dt, eb_step_log *log) {
  EB_TRY(find(b, b->x, b->way, &b->ahead));
  double length = free_part(b), slope = dots(3 * b->nodes, b->g, b->way);
  double first = arrived ? potential(b, b->x, dt) : 0;
  for (;; length /= 2) {
    for (int32_t i = 0; i < 3 * b->vertices; i++) b->trial[i] = b->x[i] + length * b->way[i];
    if (!arrived || length < 1e-9 || potential(b, b->trial, dt) <= first + 1e-4 * length * slope)
      break;
    eb_log_count(log, EB_COUNT_LINE_SEARCHES, 1);
  }
  for (int32_t i = 0; i < 3 * b->vertices; i++) {
    bool known = i >= 3 * b->nodes || b->fixed[i / 3];
    b->x[i] = known && length == 1 ? b->end[i] : b->trial[i];
  }
  return EB_OK;
}

/* Minimizes from x on. What is prescribed, held nodes and obstacles, goes with it. */
static eb_error newton(barrier *b, double dt, eb_step_log *log) {
  for (int round = 0; round < 100; round++) {
    bool arrived = true;
    eb_scene_hessian(b->scene, b->x, 1 / (dt * dt), 1, true, b->blocks, b->elastic);
    EB_TRY(touch(b, false));
    double norm = gradient(b, dt), small = 0.1 * tolerance(b, dt);
    for (int32_t i = 0; i < 3 * b->vertices; i++) {
      bool known = i >= 3 * b->nodes || b->fixed[i / 3];
      b->way[i] = known ? b->end[i] - b->x[i] : 0;
      arrived &= b->way[i] == 0;
    }
    if (arrived && norm <= small) return EB_OK;
    times(b, b->way, b->vertices, b->right);
    for (int32_t i = 0; i < 3 * b->nodes; i++) b->right[i] = -b->g[i] - b->right[i];
    for (int32_t i = 0; i < 3 * b->nodes; i++)
      if (b->fixed[i / 3]) b->right[i] = 0;
    eb_log_begin(log, EB_PHASE_SOLVE);
    solve(b, fmin(1e-2, small / norm), log);
    eb_log_end(log, EB_PHASE_SOLVE);
    EB_TRY(go(b, arrived, dt, log));
    log->iterations++;
  }
  return EB_OK;
}

static eb_error reserve(barrier *b, int32_t count) {
  if (count <= b->room) return EB_OK;
  size_t room = 2 * (size_t)count;
  eb_pair *kept = realloc(b->pair, room * sizeof *kept);
  if (kept) b->pair = kept;
  double **array[] = {&b->weight, &b->frame, &b->c, &b->reported};
  static const size_t width[] = {4, 9, 3, 3};
  bool good = kept != NULL;
  for (int k = 0; k < 4 && good; k++) {
    double *larger = realloc(*array[k], room * width[k] * sizeof *larger);
    if (larger) *array[k] = larger;
    good = larger != NULL;
  }
  if (!good) return EB_ERROR(EB_ERR_MEMORY, "barrier: no memory for %zu contacts", room);
  b->room = (int32_t)room;
  return EB_OK;
}

/* All pairs within D, with what pushes them at x and the friction that belongs to it. */
static eb_error report(barrier *b, double dt, eb_step_log *log) {
  EB_TRY(reserve(b, b->rubbing.count));
  for (int32_t k = 0; k < b->rubbing.count; k++) {
    const pair *from = &b->rubbing.all[k];
    double *frame = b->frame + 9 * (size_t)k, f[3], start[3];
    b->pair[k] = from->of;
    memcpy(b->weight + 4 * (size_t)k, from->w, sizeof from->w);
    eb_contact_frame(from->n, frame);
    friction_force(b, from, f);
    between(from, b->x0, b->vertices, start);
    for (int d = 0; d < 3; d++) {
      b->c[3 * k + d] = d ? 0 : from->d - dot(from->n, start);
      b->reported[3 * k + d] = (d ? 0 : from->push) + dot(frame + 3 * d, f);
    }
  }
  b->record = (eb_contact_record){.count = b->rubbing.count,
                                  .step = dt,
                                  .nodes = b->nodes,
                                  .pair = b->pair,
                                  .weight = b->weight,
                                  .frame = b->frame,
                                  .c = b->c,
                                  .r = b->reported};
  log->contacts = &b->record;
  eb_log_count(log, EB_COUNT_CONSTRAINTS, b->rubbing.count);
  return EB_OK;
}

static void begin(barrier *b, const eb_state *state, double dt) {
  size_t n = 3 * (size_t)b->nodes;
  memcpy(b->x0, state->x, n * sizeof *b->x0);
  eb_scene_obstacles(b->scene, state->time, b->x0 + n);
  eb_scene_obstacles(b->scene, state->time + dt, b->end + n);
  eb_scene_boundary(b->scene, state->time + dt, b->fixed, b->end);
  eb_scene_force(b->scene, state->time, state->x, state->v, b->force);
  for (size_t i = 0; i < n; i++) b->predicted[i] = state->x[i] + dt * state->v[i];
  memcpy(b->x, b->x0, 3 * (size_t)b->vertices * sizeof *b->x);
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  barrier *b = solver->data;
  *reason = EB_DIVERGED_MAX_IT;
  begin(b, state, dt);
  EB_TRY(touch(b, true));
  for (int round = 0; round < 50 && *reason < 0; round++) {
    EB_TRY(newton(b, dt, log));
    /* What is left with the friction of the contacts that there are now. */
    EB_TRY(touch(b, true));
    eb_scene_gradient(b->scene, b->x, b->elastic);
    double norm = gradient(b, dt);
    eb_log_residual(log, norm);
    if (norm <= tolerance(b, dt)) *reason = EB_CONVERGED_RTOL;
  }
  EB_TRY(report(b, dt, log));
  for (int32_t i = 0; i < 3 * b->nodes; i++) {
    state->v[i] = (b->x[i] - state->x[i]) / dt;
    state->x[i] = b->x[i];
  }
  state->time += dt;
  state->step++;
  log->equation = EB_EQUATION_IMPLICIT_EULER;
  log->residual_norm = EB_NORM_GRADIENT;
  return EB_OK;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static const eb_option options[] = {
    {"rtol", EB_OPTION_REAL, "1e-4", 1e-12, 1, NULL, "", "residual, of the forces"},
    {"rounded", EB_OPTION_REAL, "0.1", 1e-6, 1, NULL, "",
     "slip below which friction has no corner, of what the audit allows of contacts that stick"},
    {"stiffness", EB_OPTION_REAL, "100", 1e-3, 1e9, NULL, "",
     "of the barrier, in masses of a node over the square of a step"},
    {0}};

static void destroy(eb_solver *solver) {
  barrier *b = solver->data;
  if (!b) return;
  eb_surfaces_destroy(b->surfaces);
  void *owned[] = {b->around.all, b->points.all,  b->edges.all, b->faces.all, b->near.all,
                   b->ahead.all,  b->rubbing.all, b->blocks,    b->inverse,   b->x0,
                   b->x,          b->end,         b->way,       b->trial,     b->predicted,
                   b->force,      b->elastic,     b->g,         b->right,     b->r,
                   b->z,          b->p,           b->q,         b->fixed,     b->pair,
                   b->weight,     b->frame,       b->c,         b->reported};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  free(b);
  solver->data = NULL;
}

static int compare(const void *a, const void *b) {
  const feature *f = a, *g = b;
  for (int i = 0; i < f->count; i++)
    if (f->vertex[i] != g->vertex[i]) return f->vertex[i] < g->vertex[i] ? -1 : 1;
  return 0;
}

/* The corners (count 1) or the edges (2) of all faces, each once. */
static bool list_once(const eb_surfaces *s, int32_t count, features *out) {
  out->all = calloc(3 * (size_t)s->triangle_count + 1, sizeof *out->all);
  if (!out->all) return false;
  for (int32_t k = 0; k < 3 * s->triangle_count; k++) {
    int32_t a = s->triangles[k], c = s->triangles[k % 3 < 2 ? k + 1 : k - 2];
    bool turned = count == 2 && c < a;
    out->all[k] = (feature){
        .vertex = {turned ? c : a, turned ? a : c}, .count = count, .body = s->body[k / 3]};
  }
  qsort(out->all, 3 * (size_t)s->triangle_count, sizeof *out->all, compare);
  for (int32_t k = 0; k < 3 * s->triangle_count; k++)
    if (k == 0 || compare(&out->all[k], &out->all[out->count - 1]) != 0)
      out->all[out->count++] = out->all[k];
  return true;
}

static bool list_faces(const eb_surfaces *s, features *out) {
  out->all = calloc((size_t)s->triangle_count + 1, sizeof *out->all);
  if (!out->all) return false;
  out->count = s->triangle_count;
  for (int32_t t = 0; t < s->triangle_count; t++) {
    out->all[t] = (feature){.count = 3, .body = s->body[t]};
    memcpy(out->all[t].vertex, s->triangles + 3 * (size_t)t, sizeof out->all[t].vertex);
  }
  return true;
}

static bool allocate(barrier *b) {
  size_t nodes = (size_t)b->nodes, n = 3 * nodes, all = 3 * (size_t)b->vertices;
  double **of_vertices[] = {&b->x0, &b->x, &b->end, &b->way, &b->trial};
  double **of_nodes[] = {&b->predicted, &b->force, &b->elastic, &b->g, &b->right,
                         &b->r,         &b->z,     &b->p,       &b->q};
  bool good = true;
  for (int k = 0; k < 5; k++) good &= (*of_vertices[k] = calloc(all, sizeof(double))) != NULL;
  for (int k = 0; k < 9; k++) good &= (*of_nodes[k] = calloc(n, sizeof(double))) != NULL;
  b->around.count = b->surfaces->body_count + b->surfaces->obstacle_count;
  good &= (b->around.all = calloc((size_t)b->around.count, sizeof *b->around.all)) != NULL;
  good &= (b->fixed = calloc(nodes, 1)) != NULL;
  good &= (b->inverse = calloc(9 * nodes, sizeof(double))) != NULL;
  good &= (b->blocks = calloc(9 * (size_t)b->start[nodes], sizeof(double))) != NULL;
  return good && list_once(b->surfaces, 1, &b->points) && list_once(b->surfaces, 2, &b->edges) &&
         list_faces(b->surfaces, &b->faces);
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  barrier *b = solver->data = calloc(1, sizeof *b);
  if (!b) return EB_ERROR(EB_ERR_MEMORY, "barrier: no memory");
  eb_error error = eb_surfaces_create(scene, &b->surfaces);
  if (!error) {
    b->scene = scene;
    b->nodes = b->surfaces->nodes;
    b->vertices = b->surfaces->vertex_count;
    b->rtol = eb_values_real(solver->options, "rtol");
    b->D = b->surfaces->bounds.gap;
    b->rounded = eb_values_real(solver->options, "rounded") * b->surfaces->bounds.distance;
    for (int32_t i = 0; i < b->nodes; i++) b->stiffness += eb_scene_mass(scene)[i] / b->nodes;
    b->stiffness *=
        eb_values_real(solver->options, "stiffness") / eb_scene_dt(scene) / eb_scene_dt(scene);
    eb_scene_pattern(scene, &b->start, &b->column);
    if (!allocate(b))
      error = EB_ERROR(EB_ERR_MEMORY, "barrier: no memory for %d vertices", (int)b->vertices);
  }
  if (error) destroy(solver);
  return error;
}

const int elastobench_abi = EB_PLUGIN_ABI;
const eb_solver_ops elastobench_solver = {
    .name = "barrier",
    .summary = "contact by a barrier, with friction (example of a plug-in for contact)",
    .citation = "Li et al.: Incremental Potential Contact, 2020",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_COROTATIONAL |
                    EB_CAP_HYPERELASTIC | EB_CAP_FIBRES | EB_CAP_SCRIPTED | EB_CAP_COLLIDERS |
                    EB_CAP_CONTACT,
    .update = EB_UPDATE_END_VELOCITY,
    .tightest = "rounded=1e-2",
    .accuracy = 1e-2, /* bodies come to rest within the gap, not at it */
    .options = options,
    .create = create,
    .step = step,
    .destroy = destroy};
