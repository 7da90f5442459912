/* Triangles into samples.
 *
 * A point at (x, y, z) of the camera (right, up, forward) is seen at (x, y) / z. Over a triangle, 1 / z
 * and every attribute divided by z are linear on the screen; so both are interpolated with the screen's
 * barycentric coordinates, and 1 / z, larger for nearer points, is what the z-buffer keeps. */
#include <math.h>
#include <stdlib.h>

#include "harness/report/canvas.h"
#include "harness/report/color.h"
#include "problems/base/memory.h"

/* Nearer by less than this factor, a sheer surface yields to what is there. */
static const double yielding = 1 - 2e-3;

enum { NORMAL = 0, LIGHT = 3, ATTRIBUTES = 6 };

/* A corner in the camera's frame with what is interpolated. */
typedef struct corner {
  double at[3]; /* right, up, forward, m */
  float value[ATTRIBUTES];
} corner;

/* The same corner on the screen; attributes divided by depth. */
typedef struct spot {
  double x, y, nearness;
  float value[ATTRIBUTES];
} spot;

typedef struct raster {
  eb_render *render;
  const eb_render_mesh *mesh;
  double *normal; /* vertex_count x 3 when smooth */
} raster;

static float shade(const eb_render *render, const double n[3]) {
  const double key = 0.72, fill = 0.16, sky = 0.22;
  double toward_key = fmax(0, eb_dot3(n, render->key));
  double toward_fill = fmax(0, eb_dot3(n, render->fill));
  return (float)(key * toward_key + fill * toward_fill + sky * (0.75 + 0.25 * n[2]));
}

/* Lights one sample; the normal is turned to the viewer, so that both sides of a surface show. */
static void light_sample(const raster *self, const float value[ATTRIBUTES], float darkness,
                         const double view[3], uint16_t *out) {
  double n[3] = {value[NORMAL], value[NORMAL + 1], value[NORMAL + 2]};
  eb_normalize3(n);
  if (eb_dot3(n, view) > 0)
    for (int d = 0; d < 3; d++) n[d] = -n[d];
  float brightness = shade(self->render, n) * (1 - darkness);
  for (int c = 0; c < 3; c++) out[c] = eb_light_pack(value[LIGHT + c] * brightness);
}

static double cross_from(const spot *a, const spot *b, double x, double y) {
  return (b->x - a->x) * (y - a->y) - (b->y - a->y) * (x - a->x);
}

/* Twice the signed area of (a, b, p). An edge is always measured from the same one of its ends, so that
 * two triangles that share it round to exactly opposite values and leave no sample between them out. */
static double edge(const spot *a, const spot *b, double x, double y) {
  bool forward = a->x < b->x || (a->x == b->x && a->y < b->y);
  return forward ? cross_from(a, b, x, y) : -cross_from(b, a, x, y);
}

/* How dark a mesh line is at `gap` samples from it: about a pixel wide, soft at its rim. */
static float line_darkness(double gap) {
  const double half = 0.45 * EB_SAMPLES, soft = 0.5 * EB_SAMPLES;
  return 0.55f * (float)fmin(1, fmax(0, (half + soft - gap) / soft));
}

typedef struct span {
  int32_t first[2], last[2]; /* column, row: the samples to visit */
} span;

static int32_t clamp_sample(double at, int32_t count) {
  return (int32_t)fmin(fmax(at, 0), count);
}

static span bounds(const eb_render *render, const spot s[3]) {
  double x0 = fmin(s[0].x, fmin(s[1].x, s[2].x)), x1 = fmax(s[0].x, fmax(s[1].x, s[2].x));
  double y0 = fmin(s[0].y, fmin(s[1].y, s[2].y)), y1 = fmax(s[0].y, fmax(s[1].y, s[2].y));
  return (span){
      {clamp_sample(floor(x0 - 0.5), render->wide), clamp_sample(floor(y0 - 0.5), render->high)},
      {clamp_sample(ceil(x1 + 0.5), render->wide), clamp_sample(ceil(y1 + 0.5), render->high)}};
}

/* What is sheer covers five of a pixel's nine samples: corners and middle. */
static bool covers(int32_t row, int32_t column) {
  return (row % EB_SAMPLES + column % EB_SAMPLES) % 2 == 0;
}

/* One triangle on the screen; `lines`: its three edges are drawn. */
static void fill_triangle(const raster *self, const spot s[3], bool lines) {
  const eb_render *render = self->render;
  double area = edge(&s[0], &s[1], s[2].x, s[2].y);
  if (!(fabs(area) > 0)) return;
  double side[3];
  for (int i = 0; i < 3; i++) {
    const spot *a = &s[(i + 1) % 3], *b = &s[(i + 2) % 3];
    side[i] = fabs(area) / hypot(b->x - a->x, b->y - a->y);
  }
  span range = bounds(render, s);
  for (int32_t row = range.first[1]; row < range.last[1]; row++) {
    for (int32_t column = range.first[0]; column < range.last[0]; column++) {
      double x = column + 0.5, y = row + 0.5, w[3];
      w[0] = edge(&s[1], &s[2], x, y) / area;
      w[1] = edge(&s[2], &s[0], x, y) / area;
      w[2] = edge(&s[0], &s[1], x, y) / area;
      if (w[0] < 0 || w[1] < 0 || w[2] < 0) continue;
      double nearness = w[0] * s[0].nearness + w[1] * s[1].nearness + w[2] * s[2].nearness;
      size_t at = (size_t)row * (size_t)render->wide + (size_t)column;
      if (self->mesh->sheer && !covers(row, column)) continue;
      double rank = self->mesh->sheer ? yielding * nearness : nearness;
      if (!((float)rank > render->opaque.nearness[at])) continue;
      render->opaque.nearness[at] = (float)nearness;
      float value[ATTRIBUTES];
      for (int k = 0; k < ATTRIBUTES; k++)
        value[k] = (float)((w[0] * s[0].value[k] + w[1] * s[1].value[k] + w[2] * s[2].value[k]) /
                           nearness);
      double view[3], across = (x - 0.5 * render->wide) / render->focal,
                      above = (0.5 * render->high - y) / render->focal;
      for (int d = 0; d < 3; d++)
        view[d] = render->forward[d] + across * render->right[d] + above * render->up[d];
      double gap = fmin(w[0] * side[0], fmin(w[1] * side[1], w[2] * side[2]));
      light_sample(self, value, lines ? line_darkness(gap) : 0, view,
                   render->opaque.light + 3 * at);
    }
  }
}

static spot project(const eb_render *render, const corner *from) {
  spot to;
  to.nearness = 1 / from->at[2];
  to.x = 0.5 * render->wide + render->focal * from->at[0] * to.nearness;
  to.y = 0.5 * render->high - render->focal * from->at[1] * to.nearness;
  for (int k = 0; k < ATTRIBUTES; k++) to.value[k] = (float)(from->value[k] * to.nearness);
  return to;
}

static corner between(const corner *a, const corner *b, double t) {
  corner c;
  for (int d = 0; d < 3; d++) c.at[d] = a->at[d] + t * (b->at[d] - a->at[d]);
  for (int k = 0; k < ATTRIBUTES; k++)
    c.value[k] = (float)(a->value[k] + t * (b->value[k] - a->value[k]));
  return c;
}

/* Cuts off what lies nearer than `nearest` before the eye; returns the number of corners left. */
static int clip(const corner in[3], double nearest, corner out[4]) {
  int count = 0;
  for (int i = 0; i < 3; i++) {
    const corner *a = &in[i], *b = &in[(i + 1) % 3];
    bool inside = a->at[2] >= nearest;
    if (inside) out[count++] = *a;
    if (inside != (b->at[2] >= nearest))
      out[count++] = between(a, b, (nearest - a->at[2]) / (b->at[2] - a->at[2]));
  }
  return count;
}

static void draw_corners(const raster *self, const corner in[3]) {
  const eb_render *render = self->render;
  double diagonal = 0;
  for (int d = 0; d < 3; d++) diagonal += render->hi[d] - render->lo[d];
  corner kept[4];
  int count = clip(in, 1e-3 * diagonal, kept);
  for (int i = 2; i < count; i++) {
    spot s[3] = {project(render, &kept[0]), project(render, &kept[i - 1]),
                 project(render, &kept[i])};
    fill_triangle(self, s, self->mesh->edges && count == 3);
  }
}

static void face_normal(const double *a, const double *b, const double *c, double out[3]) {
  double u[3], v[3];
  for (int d = 0; d < 3; d++) u[d] = b[d] - a[d], v[d] = c[d] - a[d];
  eb_cross3(u, v, out);
}

static bool is_finite(const eb_render_mesh *mesh, const int32_t t[3]) {
  for (int i = 0; i < 3; i++)
    for (int d = 0; d < 3; d++)
      if (!isfinite(mesh->X[3 * t[i] + d])) return false;
  return true;
}

/* Normals of vertices: the sum of their triangles' cross products, so that large ones count more. */
static void smooth_normals(const eb_render_mesh *mesh, double *normal) {
  for (int32_t i = 0; i < mesh->triangle_count; i++) {
    const int32_t *t = mesh->triangles + 3 * i;
    double n[3];
    if (!is_finite(mesh, t)) continue;
    face_normal(mesh->X + 3 * t[0], mesh->X + 3 * t[1], mesh->X + 3 * t[2], n);
    for (int k = 0; k < 3; k++)
      for (int d = 0; d < 3; d++) normal[3 * t[k] + d] += n[d];
  }
  for (int32_t v = 0; v < mesh->vertex_count; v++) eb_normalize3(normal + 3 * v);
}

static bool faces_away(const eb_render *render, const double normal[3], const double *x) {
  const double view[3] = {x[0] - render->eye[0], x[1] - render->eye[1], x[2] - render->eye[2]};
  return eb_dot3(normal, view) >= 0;
}

static void draw_triangle(const raster *self, int32_t index) {
  eb_render *render = self->render;
  const eb_render_mesh *mesh = self->mesh;
  const int32_t *t = mesh->triangles + 3 * index;
  if (!is_finite(mesh, t)) return;
  double flat[3];
  face_normal(mesh->X + 3 * t[0], mesh->X + 3 * t[1], mesh->X + 3 * t[2], flat);
  eb_normalize3(flat);
  corner corners[3];
  for (int k = 0; k < 3; k++) {
    const double *x = mesh->X + 3 * t[k], *n = self->normal ? self->normal + 3 * t[k] : flat;
    double r[3] = {x[0] - render->eye[0], x[1] - render->eye[1], x[2] - render->eye[2]};
    corners[k].at[0] = eb_dot3(r, render->right);
    corners[k].at[1] = eb_dot3(r, render->up);
    corners[k].at[2] = eb_dot3(r, render->forward);
    for (int d = 0; d < 3; d++) {
      corners[k].value[NORMAL + d] = (float)n[d];
      render->casters[render->caster_count][k][d] = (float)x[d];
    }
    eb_rgb color = mesh->triangle_color ? mesh->triangle_color[index]
                   : mesh->vertex_color ? mesh->vertex_color[t[k]]
                                        : mesh->color;
    eb_color_to_light(color, corners[k].value + LIGHT);
  }
  render->caster_count++;
  if (mesh->one_sided && faces_away(render, flat, mesh->X + 3 * t[0])) return;
  draw_corners(self, corners);
}

static eb_error check_mesh(const eb_render *render, const eb_render_mesh *mesh) {
  if (!render->has_camera)
    return EB_ERROR(EB_ERR_USAGE, "set the camera (eb_render_camera) before drawing a surface");
  for (int32_t i = 0; i < 3 * mesh->triangle_count; i++)
    if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertex_count)
      return EB_ERROR(EB_ERR_INVALID, "triangle %d names vertex %d, but there are %d vertices",
                      i / 3, mesh->triangles[i], mesh->vertex_count);
  return EB_OK;
}

eb_error eb_render_surface(eb_render *render, const eb_render_mesh *mesh) {
  EB_TRY(check_mesh(render, mesh));
  size_t before = (size_t)render->caster_count;
  eb_caster *casters =
      eb_recalloc(render->casters, before, before + (size_t)mesh->triangle_count, sizeof *casters);
  if (!casters)
    return EB_ERROR(EB_ERR_MEMORY, "cannot keep %d triangles for their shadow; draw fewer",
                    mesh->triangle_count);
  render->casters = casters;
  raster self = {.render = render, .mesh = mesh};
  if (mesh->smooth) {
    EB_TRY(EB_NEW(self.normal, 3 * (size_t)mesh->vertex_count));
    smooth_normals(mesh, self.normal);
  }
  for (int32_t i = 0; i < mesh->triangle_count; i++) draw_triangle(&self, i);
  free(self.normal);
  return EB_OK;
}
