/* Triangles into samples, samples into pixels.
 *
 * A point at (x, y, z) of the camera (right, up, forward) is seen at (x, y) / z. Over a triangle, 1
 * / z and every attribute divided by z are linear on the screen; so both are interpolated with the
 * screen's barycentric coordinates, and 1 / z, larger for nearer points, is what the z-buffer
 * keeps.
 *
 * Transparency is an A-buffer (L. Carpenter, The A-buffer, an antialiased hidden surface method,
 * SIGGRAPH 1984): translucent faces leave fragments in a list of each sample, sorted by depth,
 * which are blended over the opaque sample when the picture is done, the ground among them. */
#include "harness/report/render.h"

#include <float.h>
#include <math.h>
#include <png.h>
#include <stdlib.h>

#include "problems/base/assert.h"
#include "problems/base/file.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/vector3.h"

enum {
  SAMPLES = 3,       /* a side of a pixel */
  SHADOW_SIDE = 512, /* cells of the shadow map a side */
  NORMAL = 0,        /* attributes of a corner: normal, */
  LIGHT = 3,         /* linear colour */
  ATTRIBUTES = 6
};

/* Nearer than what is opaque by less than this factor, something translucent is not in front. */
static const double touching = 1 - 2e-3;

/* One face of a translucent surface in one sample. */
typedef struct fragment {
  float nearness, opacity;
  int32_t side; /* of the surface: two fragments of one are never in the same sample */
  int32_t next; /* the next nearer one; 0: none */
  uint16_t light[3];
} fragment;

typedef struct ground_plane {
  double height;    /* m */
  double centre[2]; /* of the box in view, m */
  double radius;    /* m: where the plane has faded away */
  double square;    /* m: side of the grid's squares */
  double origin[2]; /* lowest corner of the shadow map, m */
  double cell;      /* m */
  float *shadow;    /* SHADOW_SIDE^2: 0 lit, 1 dark; NULL: there is no ground */
} ground_plane;

struct eb_render {
  int32_t width, height; /* pixels */
  int32_t wide, high;    /* samples */
  float *nearness;       /* samples: of what is opaque, 1 / depth along the view, or 0 */
  uint16_t *light;       /* samples x 3, linear: its colour, or the background's */
  int32_t *farthest;     /* samples: the first fragment, 0: none; NULL: nothing is translucent */
  fragment *fragments;   /* from 1 */
  size_t fragment_count, fragment_room;
  int32_t side_count;                         /* of translucent surfaces */
  double eye[3], right[3], up[3], forward[3]; /* m, unit vectors */
  double focal;                               /* samples per unit tangent */
  double lo[3], hi[3];                        /* the box in view */
  double key[3], fill[3];                     /* unit vectors towards the lights */
  float (*shadow_casters)[3][3];              /* corners of all triangles drawn, m */
  size_t shadow_caster_count;
  ground_plane ground;
};

/* Makes `a` a unit vector; zero stays zero. */
static void normalize(double a[3]) {
  double norm = sqrt(eb_dot3(a, a));
  for (int d = 0; d < 3 && norm > 0; d++) a[d] /= norm;
}

/* ---- colour: between the screen's encoding and light ----------------------------------------- */

static uint16_t pack(float light) {
  return (uint16_t)(light <= 0 ? 0 : light >= 1 ? 65535 : light * 65535 + 0.5f);
}

/* The transfer function of sRGB (IEC 61966-2-1), both ways. */
static float decode(float encoded) {
  if (!(encoded > 0)) return 0;
  if (encoded > 1) return 1;
  return encoded <= 0.04045f ? encoded / 12.92f : powf((encoded + 0.055f) / 1.055f, 2.4f);
}

static uint8_t encode(float light) {
  if (!(light > 0)) return 0;
  if (light >= 1) return 255;
  float encoded = light <= 0.0031308f ? 12.92f * light : 1.055f * powf(light, 1 / 2.4f) - 0.055f;
  return (uint8_t)(encoded * 255 + 0.5f);
}

/* ---- camera ---------------------------------------------------------------------------------- */

/* Shift and distance along one axis of the picture at which the box just fits: its corners at (x,
 * z) across and along the view must have |x - shift| <= tangent (distance + z). */
static void fit_axis(const eb_render *render, const double centre[3], const double axis[3],
                     double tangent, double *shift, double *distance) {
  double right = -DBL_MAX, left = -DBL_MAX;
  for (int corner = 0; corner < 8; corner++) {
    double r[3];
    for (int d = 0; d < 3; d++)
      r[d] = (corner >> d & 1 ? render->hi[d] : render->lo[d]) - centre[d];
    double across = eb_dot3(r, axis) / tangent, along = eb_dot3(r, render->forward);
    right = fmax(right, across - along);
    left = fmax(left, -across - along);
  }
  *shift = 0.5 * tangent * (right - left);
  *distance = 0.5 * (right + left);
}

static void set_camera(eb_render *render, const double lo[3], const double hi[3],
                       const double direction[3]) {
  const double tangent = 0.24, margin = 1.06; /* of half the picture's shorter side */
  for (int d = 0; d < 3; d++) render->lo[d] = lo[d], render->hi[d] = hi[d];
  /* Axes of the picture; upright except when looking straight down or up. */
  double upright[3] = {0, 0, 1};
  for (int d = 0; d < 3; d++) render->forward[d] = direction[d];
  normalize(render->forward);
  if (fabs(render->forward[2]) > 0.9999) upright[1] = 1, upright[2] = 0;
  eb_cross3(render->forward, upright, render->right);
  normalize(render->right);
  eb_cross3(render->right, render->forward, render->up);
  /* Steps back until the box fills the frame, but for a margin, along its tighter axis. */
  double least = render->width < render->height ? render->wide : render->high;
  double wide = tangent / margin * render->wide / least;
  double high = tangent / margin * render->high / least;
  double centre[3], aside, above, distance, other;
  for (int d = 0; d < 3; d++) centre[d] = 0.5 * (lo[d] + hi[d]);
  fit_axis(render, centre, render->right, wide, &aside, &distance);
  fit_axis(render, centre, render->up, high, &above, &other);
  distance = fmax(distance, other);
  for (int d = 0; d < 3; d++)
    render->eye[d] = centre[d] + aside * render->right[d] + above * render->up[d] -
                     distance * render->forward[d];
  render->focal = 0.5 * least / tangent;
  /* Key light from above the viewer's left shoulder, fill light from the right. */
  for (int d = 0; d < 3; d++) {
    double level = d == 2 ? 1 : 0;
    render->key[d] = -0.45 * render->right[d] - 0.55 * render->forward[d] + 0.9 * level;
    render->fill[d] = 0.8 * render->right[d] - 0.6 * render->forward[d] + 0.1 * level;
  }
  normalize(render->key);
  normalize(render->fill);
}

/* ---- a blank picture ------------------------------------------------------------------------- */

void eb_render_destroy(eb_render *render) {
  if (!render) return;
  free(render->nearness);
  free(render->light);
  free(render->farthest);
  free(render->fragments);
  free(render->shadow_casters);
  free(render->ground.shadow);
  free(render);
}

/* Paper is nearly white, a little darker below. */
static eb_error lay_paper(eb_render *render) {
  size_t samples = (size_t)render->wide * (size_t)render->high;
  EB_TRY(EB_NEW(render->nearness, samples));
  EB_TRY(EB_NEW(render->light, 3 * samples));
  uint16_t *sample = render->light;
  for (int32_t row = 0; row < render->high; row++) {
    float down = (float)row / (float)render->high;
    const uint16_t color[3] = {pack(decode(0.975f - 0.055f * down)),
                               pack(decode(0.98f - 0.045f * down)),
                               pack(decode(0.99f - 0.04f * down))};
    for (int32_t i = 0; i < 3 * render->wide; i++) *sample++ = color[i % 3];
  }
  return EB_OK;
}

eb_error eb_render_create(int32_t width, int32_t height, const double lo[3], const double hi[3],
                          const double direction[3], eb_render **out) {
  double extent = 0;
  EB_ASSERT(width > 0 && height > 0 && eb_dot3(direction, direction) > 0);
  *out = NULL;
  for (int d = 0; d < 3; d++) extent = fmax(extent, lo[d] <= hi[d] ? hi[d] - lo[d] : INFINITY);
  if (!(extent > 0 && isfinite(extent)))
    return EB_ERROR(EB_ERR_INVALID,
                    "there is nothing to see: the box from (%g, %g, %g) to (%g, "
                    "%g, %g) is empty or not finite",
                    lo[0], lo[1], lo[2], hi[0], hi[1], hi[2]);
  EB_TRY(EB_NEW(*out, 1));
  (*out)->width = width, (*out)->height = height;
  (*out)->wide = width * SAMPLES, (*out)->high = height * SAMPLES;
  set_camera(*out, lo, hi, direction);
  eb_error error = lay_paper(*out);
  if (!error) return EB_OK;
  eb_render_destroy(*out);
  *out = NULL;
  return error;
}

/* From the eye to the point (x, y) of the screen, in samples; of length 1 along the view. */
static void view_ray(const eb_render *render, double x, double y, double ray[3]) {
  double across = (x - 0.5 * render->wide) / render->focal;
  double above = (0.5 * render->high - y) / render->focal;
  for (int d = 0; d < 3; d++)
    ray[d] = render->forward[d] + across * render->right[d] + above * render->up[d];
}

/* ---- triangles in the plane: of samples, or of the shadow map's cells ------------------------ */

typedef struct triangle {
  const double *p[3];
  double area;               /* twice, signed */
  int32_t first[2], last[2]; /* column and row: the cells to visit */
} triangle;

static double cross_from(const double *a, const double *b, double x, double y) {
  return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
}

/* Twice the signed area of (a, b, p). An edge is always measured from the same one of its ends, so
 * that two triangles that share it round to exactly opposite values and leave no sample between
 * them out. */
static double edge(const double *a, const double *b, double x, double y) {
  bool forward = a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]);
  return forward ? cross_from(a, b, x, y) : -cross_from(b, a, x, y);
}

/* The triangle on a grid of count[0] x count[1] cells; false when it has no area. */
static bool on_grid(const double *a, const double *b, const double *c, const int32_t count[2],
                    triangle *out) {
  *out = (triangle){.p = {a, b, c}, .area = edge(a, b, c[0], c[1])};
  for (int d = 0; d < 2; d++) {
    double lo = fmin(a[d], fmin(b[d], c[d])), hi = fmax(a[d], fmax(b[d], c[d]));
    out->first[d] = (int32_t)fmin(fmax(floor(lo - 0.5), 0), count[d]);
    out->last[d] = (int32_t)fmin(fmax(ceil(hi + 0.5), 0), count[d]);
  }
  return fabs(out->area) > 0;
}

/* Barycentric coordinates of a cell's middle; false when it is outside. */
static bool weights_at(const triangle *t, double x, double y, double w[3]) {
  for (int i = 0; i < 3; i++) w[i] = edge(t->p[(i + 1) % 3], t->p[(i + 2) % 3], x, y) / t->area;
  return !(w[0] < 0 || w[1] < 0 || w[2] < 0);
}

/* ---- surfaces -------------------------------------------------------------------------------- */

/* A corner of a triangle in the camera's frame (right, up, forward; m) or, once it is projected, on
 * the screen (samples; 1 / m), where its attributes are divided by depth. */
typedef struct corner {
  double at[3];
  float value[ATTRIBUTES];
} corner;

/* A surface that is being drawn. */
typedef struct raster {
  eb_render *render;
  const eb_render_mesh *mesh;
  double *normal; /* vertex_count x 3 when smooth */
  float opacity;  /* of the triangle at hand, and on which side of a translucent surface it is */
  int32_t side;
  eb_error error; /* of fragments that had no room */
} raster;

/* Lights one sample; the normal is turned to the viewer, so that both sides of a surface show. */
static void light_sample(const raster *self, const float value[ATTRIBUTES], float darkness,
                         const double view[3], uint16_t *out) {
  double n[3] = {value[NORMAL], value[NORMAL + 1], value[NORMAL + 2]};
  normalize(n);
  if (eb_dot3(n, view) > 0)
    for (int d = 0; d < 3; d++) n[d] = -n[d];
  const double key = 0.72, fill = 0.16, sky = 0.22;
  double toward_key = fmax(0, eb_dot3(n, self->render->key));
  double toward_fill = fmax(0, eb_dot3(n, self->render->fill));
  float brightness =
      (float)(key * toward_key + fill * toward_fill + sky * (0.75 + 0.25 * n[2])) * (1 - darkness);
  for (int c = 0; c < 3; c++) out[c] = pack(value[LIGHT + c] * brightness);
}

/* How dark a mesh line is at `gap` samples from it: about a pixel wide, soft at its rim. */
static float line_darkness(double gap) {
  const double half = 0.45 * SAMPLES, soft = 0.5 * SAMPLES;
  return 0.55f * (float)fmin(1, fmax(0, (half + soft - gap) / soft));
}

static bool is_in_front(const eb_render *render, size_t sample, float nearness) {
  return (float)(touching * nearness) > render->nearness[sample];
}

/* Puts a fragment into the list of its sample, which runs from far to near. Of two on one side of a
 * surface, the nearer stays. */
static eb_error add_fragment(eb_render *render, size_t sample, fragment added) {
  fragment *all = render->fragments;
  int32_t at = 0;
  for (int32_t *link = &render->farthest[sample]; *link; link = &all[*link].next) {
    if (all[*link].side != added.side) continue;
    if (all[*link].nearness >= added.nearness) return EB_OK;
    at = *link;
    *link = all[at].next;
    break;
  }
  if (!at && render->fragment_count + 1 >= render->fragment_room) {
    size_t had = render->fragment_room, room = had ? 2 * had : 1 << 16;
    all = room > INT32_MAX ? NULL : eb_recalloc(all, had, room, sizeof *all);
    if (!all)
      return EB_ERROR(EB_ERR_MEMORY, "cannot keep %zu samples of translucent surfaces", room);
    render->fragments = all;
    render->fragment_room = room;
  }
  if (!at) at = (int32_t)++render->fragment_count;
  int32_t *link = &render->farthest[sample];
  while (*link && all[*link].nearness < added.nearness) link = &all[*link].next;
  added.next = *link;
  all[at] = added;
  *link = at;
  return EB_OK;
}

/* One triangle on the screen; `lines`: its three edges are drawn. */
static void fill_triangle(raster *self, const corner s[3], bool lines) {
  eb_render *render = self->render;
  const int32_t count[2] = {render->wide, render->high};
  triangle t;
  double breadth[3];
  if (!on_grid(s[0].at, s[1].at, s[2].at, count, &t)) return;
  for (int i = 0; i < 3; i++) {
    const double *a = t.p[(i + 1) % 3], *b = t.p[(i + 2) % 3];
    breadth[i] = fabs(t.area) / hypot(b[0] - a[0], b[1] - a[1]);
  }
  for (int32_t row = t.first[1]; row < t.last[1]; row++) {
    for (int32_t column = t.first[0]; column < t.last[0]; column++) {
      double w[3], view[3];
      if (!weights_at(&t, column + 0.5, row + 0.5, w)) continue;
      double nearness = w[0] * s[0].at[2] + w[1] * s[1].at[2] + w[2] * s[2].at[2];
      size_t sample = (size_t)row * (size_t)render->wide + (size_t)column;
      if (!(self->mesh->translucent ? is_in_front(render, sample, (float)nearness)
                                    : (float)nearness > render->nearness[sample]))
        continue;
      float value[ATTRIBUTES];
      for (int k = 0; k < ATTRIBUTES; k++)
        value[k] = (float)((w[0] * s[0].value[k] + w[1] * s[1].value[k] + w[2] * s[2].value[k]) /
                           nearness);
      double gap = fmin(w[0] * breadth[0], fmin(w[1] * breadth[1], w[2] * breadth[2]));
      fragment seen = {(float)nearness, self->opacity, self->side, 0, {0}};
      view_ray(render, column + 0.5, row + 0.5, view);
      light_sample(self, value, lines ? line_darkness(gap) : 0, view, seen.light);
      if (self->mesh->translucent) {
        if (!self->error) self->error = add_fragment(render, sample, seen);
        continue;
      }
      render->nearness[sample] = seen.nearness;
      for (int c = 0; c < 3; c++) render->light[3 * sample + (size_t)c] = seen.light[c];
    }
  }
}

static corner project(const eb_render *render, const corner *from) {
  corner to = {.at = {0, 0, 1 / from->at[2]}};
  to.at[0] = 0.5 * render->wide + render->focal * from->at[0] * to.at[2];
  to.at[1] = 0.5 * render->high - render->focal * from->at[1] * to.at[2];
  for (int k = 0; k < ATTRIBUTES; k++) to.value[k] = (float)(from->value[k] * to.at[2]);
  return to;
}

/* Cuts off what lies nearer than `nearest` before the eye; returns the number of corners left. */
static int clip(const corner in[3], double nearest, corner out[4]) {
  int count = 0;
  for (int i = 0; i < 3; i++) {
    const corner *a = &in[i], *b = &in[(i + 1) % 3];
    bool inside = a->at[2] >= nearest;
    if (inside) out[count++] = *a;
    if (inside == (b->at[2] >= nearest)) continue;
    corner *c = &out[count++];
    double t = (nearest - a->at[2]) / (b->at[2] - a->at[2]);
    for (int d = 0; d < 3; d++) c->at[d] = a->at[d] + t * (b->at[d] - a->at[d]);
    for (int k = 0; k < ATTRIBUTES; k++)
      c->value[k] = (float)(a->value[k] + t * (b->value[k] - a->value[k]));
  }
  return count;
}

static void face_normal(const eb_render_mesh *mesh, const int32_t t[3], double out[3]) {
  const double *a = mesh->X + 3 * t[0], *b = mesh->X + 3 * t[1], *c = mesh->X + 3 * t[2];
  double u[3], v[3];
  for (int d = 0; d < 3; d++) u[d] = b[d] - a[d], v[d] = c[d] - a[d];
  eb_cross3(u, v, out);
}

static bool is_finite(const eb_render_mesh *mesh, const int32_t t[3]) {
  for (int i = 0; i < 9; i++)
    if (!isfinite(mesh->X[3 * t[i / 3] + i % 3])) return false;
  return true;
}

/* Normals of vertices: the sum of their triangles' cross products, so that large ones count more.
 */
static void smooth_normals(const eb_render_mesh *mesh, double *normal) {
  for (int32_t i = 0; i < mesh->triangle_count; i++) {
    const int32_t *t = mesh->triangles + 3 * i;
    double n[3];
    if (!is_finite(mesh, t)) continue;
    face_normal(mesh, t, n);
    for (int k = 0; k < 3; k++)
      for (int d = 0; d < 3; d++) normal[3 * t[k] + d] += n[d];
  }
  for (int32_t v = 0; v < mesh->vertex_count; v++) normalize(normal + 3 * v);
}

static void draw_triangle(raster *self, int32_t index) {
  eb_render *render = self->render;
  const eb_render_mesh *mesh = self->mesh;
  const int32_t *t = mesh->triangles + 3 * index;
  if (!is_finite(mesh, t)) return;
  const eb_rgb color = mesh->triangle_color ? mesh->triangle_color[index] : mesh->color;
  float(*caster)[3] = render->shadow_casters[render->shadow_caster_count++];
  corner corners[3], kept[4];
  double flat[3], toward[3];
  face_normal(mesh, t, flat);
  normalize(flat);
  for (int k = 0; k < 3; k++) {
    const double *x = mesh->X + 3 * t[k], *n = self->normal ? self->normal + 3 * t[k] : flat;
    double r[3] = {x[0] - render->eye[0], x[1] - render->eye[1], x[2] - render->eye[2]};
    if (k == 0)
      for (int d = 0; d < 3; d++) toward[d] = r[d];
    corners[k] = (corner){
        {eb_dot3(r, render->right), eb_dot3(r, render->up), eb_dot3(r, render->forward)},
        {(float)n[0], (float)n[1], (float)n[2], decode(color.r), decode(color.g), decode(color.b)}};
    for (int d = 0; d < 3; d++) caster[k][d] = (float)x[d];
  }
  bool away = eb_dot3(flat, toward) >= 0;
  self->side = render->side_count + away;
  self->opacity = away ? mesh->back : mesh->front;
  if (mesh->translucent && !(self->opacity > 0)) return;
  double extent = 0;
  for (int d = 0; d < 3; d++) extent += render->hi[d] - render->lo[d];
  int count = clip(corners, 1e-3 * extent, kept);
  for (int i = 2; i < count; i++) {
    const corner s[3] = {project(render, &kept[0]), project(render, &kept[i - 1]),
                         project(render, &kept[i])};
    fill_triangle(self, s, mesh->edges && count == 3);
  }
}

eb_error eb_render_surface(eb_render *render, const eb_render_mesh *mesh) {
  for (int32_t i = 0; i < 3 * mesh->triangle_count; i++)
    if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertex_count)
      return EB_ERROR(EB_ERR_INVALID, "triangle %d names vertex %d, but there are %d vertices",
                      i / 3, mesh->triangles[i], mesh->vertex_count);
  size_t before = render->shadow_caster_count, after = before + (size_t)mesh->triangle_count;
  void *casters =
      eb_recalloc(render->shadow_casters, before, after, sizeof *render->shadow_casters);
  if (!casters)
    return EB_ERROR(EB_ERR_MEMORY, "cannot keep %d triangles for their shadow; draw fewer",
                    mesh->triangle_count);
  render->shadow_casters = casters;
  if (mesh->translucent && !render->farthest)
    EB_TRY(EB_NEW(render->farthest, (size_t)render->wide * (size_t)render->high));
  raster self = {.render = render, .mesh = mesh};
  if (mesh->smooth) {
    EB_TRY(EB_NEW(self.normal, 3 * (size_t)mesh->vertex_count));
    smooth_normals(mesh, self.normal);
  }
  for (int32_t i = 0; i < mesh->triangle_count; i++) draw_triangle(&self, i);
  render->side_count += 2;
  free(self.normal);
  return self.error;
}

/* ---- ground ---------------------------------------------------------------------------------- */

/* Running mean over 2 * radius + 1 entries of a line with the given stride; beyond its ends is
 * light. */
static void blur_line(float *line, size_t stride, int32_t radius) {
  float copy[SHADOW_SIDE];
  double sum = 0;
  for (int32_t i = 0; i < SHADOW_SIDE; i++) copy[i] = line[(size_t)i * stride];
  for (int32_t i = 0; i < radius; i++) sum += copy[i];
  for (int32_t i = 0; i < SHADOW_SIDE; i++) {
    if (i + radius < SHADOW_SIDE) sum += copy[i + radius];
    line[(size_t)i * stride] = (float)(sum / (2 * radius + 1));
    if (i - radius >= 0) sum -= copy[i - radius];
  }
}

/* The shadow that a triangle casts along the key light, unless it is below the ground. */
static void cast_shadow(const eb_render *render, float (*caster)[3]) {
  static const int32_t count[2] = {SHADOW_SIDE, SHADOW_SIDE};
  const ground_plane *ground = &render->ground;
  triangle t;
  bool below = true;
  double p[3][2], w[3];
  for (int k = 0; k < 3; k++) {
    double above = fmax(0, caster[k][2] - ground->height);
    for (int d = 0; d < 2; d++)
      p[k][d] = (caster[k][d] - above * render->key[d] / render->key[2] - ground->origin[d]) /
                ground->cell;
    below = below && caster[k][2] < ground->height;
  }
  if (below || !on_grid(p[0], p[1], p[2], count, &t)) return;
  for (int32_t j = t.first[1]; j < t.last[1]; j++)
    for (int32_t i = t.first[0]; i < t.last[0]; i++)
      if (weights_at(&t, i + 0.5, j + 0.5, w)) ground->shadow[j * SHADOW_SIDE + i] = 1;
}

static double shadow_at(const ground_plane *ground, const double p[2]) {
  double at[2];
  int32_t i[2];
  for (int d = 0; d < 2; d++) {
    at[d] = (p[d] - ground->origin[d]) / ground->cell - 0.5;
    if (!(at[d] >= 0 && at[d] < SHADOW_SIDE - 1)) return 0;
    i[d] = (int32_t)at[d];
    at[d] -= i[d];
  }
  const float *s = ground->shadow + i[1] * SHADOW_SIDE + i[0];
  return (1 - at[1]) * ((1 - at[0]) * s[0] + at[0] * s[1]) +
         at[1] * ((1 - at[0]) * s[SHADOW_SIDE] + at[0] * s[SHADOW_SIDE + 1]);
}

/* How much of a grid line a sample of size `footprint` (m) sees at coordinate x. */
static double line_cover(double x, double square, double footprint) {
  double gap = fabs(x - square * round(x / square)), half = 0.008 * square;
  double cover = (half + 0.5 * footprint - gap) / footprint;
  return fmin(fmax(cover, 0), fmin(1, 2 * half / footprint));
}

/* The ground in a sample: how near it is, 0 where it is not seen, how bright, and how opaque: it
 * thins out towards its radius. */
static double ground_at(const eb_render *render, double x, double y, double *brightness,
                        double *opacity) {
  const ground_plane *ground = &render->ground;
  double ray[3];
  view_ray(render, x, y, ray);
  double depth = (ground->height - render->eye[2]) / ray[2];
  if (!ground->shadow || !(depth > 0)) return 0;
  const double p[2] = {render->eye[0] + depth * ray[0], render->eye[1] + depth * ray[1]};
  const double off[2] = {p[0] - ground->centre[0], p[1] - ground->centre[1]};
  double gone = sqrt(off[0] * off[0] + off[1] * off[1]) / ground->radius; /* hypot takes long */
  if (gone >= 1) return 0;
  double footprint = depth / render->focal / sqrt(fmax(fabs(ray[2]), 1e-3));
  double line = fmax(line_cover(p[0], ground->square, footprint),
                     line_cover(p[1], ground->square, footprint));
  *brightness = 0.80 * (1 - 0.38 * line) * (1 - 0.62 * shadow_at(ground, p));
  *opacity = (1 - gone * gone) * (1 - gone * gone);
  return 1 / depth;
}

eb_error eb_render_ground(eb_render *render, double height) {
  if (render->eye[2] <= height) return EB_OK;
  double extent = 0, rise = fmax(0, render->hi[2] - height);
  for (int d = 0; d < 3; d++) extent = fmax(extent, render->hi[d] - render->lo[d]);
  double side = 2 * (extent + rise); /* the box in view, its shadow, and half as much around */
  ground_plane *ground = &render->ground;
  free(ground->shadow);
  EB_TRY(EB_NEW(ground->shadow, SHADOW_SIDE * SHADOW_SIDE));
  ground->height = height;
  ground->radius = 2.2 * extent;
  double power = pow(10, floor(log10(extent / 6))), lead = extent / 6 / power;
  ground->square = power * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1); /* a round length */
  ground->cell = side / SHADOW_SIDE;
  for (int d = 0; d < 2; d++) {
    ground->centre[d] = 0.5 * (render->lo[d] + render->hi[d]);
    double shadow_centre = ground->centre[d] - 0.5 * rise * render->key[d] / render->key[2];
    ground->origin[d] = shadow_centre - 0.5 * side;
  }
  for (size_t i = 0; i < render->shadow_caster_count; i++)
    cast_shadow(render, render->shadow_casters[i]);
  /* Three running means in each direction are nearly a Gaussian. */
  for (int pass = 0; pass < 3; pass++)
    for (int32_t i = 0; i < SHADOW_SIDE; i++) {
      blur_line(ground->shadow + i * SHADOW_SIDE, 1, SHADOW_SIDE / 110);
      blur_line(ground->shadow + i, SHADOW_SIDE, SHADOW_SIDE / 110);
    }
  return EB_OK;
}

/* ---- pixels ---------------------------------------------------------------------------------- */

static void blend(double opacity, const double over[3], uint16_t light[3]) {
  for (int c = 0; c < 3; c++)
    light[c] = pack((float)((1 - opacity) * light[c] / 65535.0 + opacity * over[c]));
}

/* The light of a sample as it is seen: its fragments, from far to near and the ground among them,
 * over what is opaque. Ground over something lets it show through. */
static void resolve(const eb_render *render, int32_t column, int32_t row, uint16_t light[3]) {
  size_t sample = (size_t)row * (size_t)render->wide + (size_t)column;
  double brightness = 0, opacity = 0;
  double ground = ground_at(render, column + 0.5, row + 0.5, &brightness, &opacity);
  bool covers = render->nearness[sample] > 0,
       waits = (float)ground > render->nearness[sample]; /* whether the ground is still to come */
  int32_t at = render->farthest ? render->farthest[sample] : 0;
  for (int c = 0; c < 3; c++) light[c] = render->light[3 * sample + (size_t)c];
  for (;;) {
    const fragment *f = at ? &render->fragments[at] : NULL;
    if (waits && (!f || f->nearness > ground)) {
      const double over[3] = {brightness * 0.98, brightness * 0.99, brightness * 1.00};
      blend(covers ? 0.6 * opacity : opacity, over, light);
      waits = false;
    }
    if (!f) return;
    at = f->next;
    if (!is_in_front(render, sample, f->nearness)) continue;
    const double over[3] = {f->light[0] / 65535.0, f->light[1] / 65535.0, f->light[2] / 65535.0};
    blend(f->opacity, over, light);
    covers = true;
  }
}

void eb_render_pixels(const eb_render *render, uint8_t *rgb) {
  for (int32_t row = 0; row < render->height; row++) {
    for (int32_t column = 0; column < render->width; column++) {
      uint32_t sum[3] = {0};
      for (int32_t i = 0; i < SAMPLES * SAMPLES; i++) {
        uint16_t light[3];
        resolve(render, column * SAMPLES + i % SAMPLES, row * SAMPLES + i / SAMPLES, light);
        for (int c = 0; c < 3; c++) sum[c] += light[c];
      }
      for (int c = 0; c < 3; c++) *rgb++ = encode((float)sum[c] / (65535.0f * SAMPLES * SAMPLES));
    }
  }
}

eb_error eb_render_write_png(const eb_render *render, const char *path) {
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .format = PNG_FORMAT_RGB,
                     .width = (png_uint_32)render->width,
                     .height = (png_uint_32)render->height};
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  EB_FREED uint8_t *rgb = NULL, *file = NULL;
  EB_TRY(EB_NEW(rgb, PNG_IMAGE_SIZE(image)));
  EB_TRY(EB_NEW(file, bytes));
  eb_render_pixels(render, rgb);
  if (!png_image_write_to_memory(&image, file, &bytes, 0, rgb, 0, NULL))
    return EB_ERROR(EB_ERR_LIBRARY, "libpng on '%s': %s", path, image.message);
  return eb_file_write(path, file, bytes);
}
