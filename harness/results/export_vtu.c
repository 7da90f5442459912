/* VTK's files: what of a run's frames moves, and beside it what does not, so that each file can be
 * read alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/print.h"
#include "harness/report/tessellate.h"
#include "harness/results/export.h"
#include "harness/results/h5.h"
#include "harness/results/scene.h"
#include "harness/results/vtk_file.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

/* What is the same in all frames of a run. */
typedef struct series {
  const eb_results *results;
  int index; /* of the run */
  const eb_run *run;
  size_t frames;
  double *time;
  eb_mesh *mesh;
  int precision;      /* bytes of a number of the positions */
  eb_vtk_cells cells; /* of the mesh */
  eb_vtk_array region;
  eb_result_contacts contacts; /* of all frames */
  double lo[3], hi[3];         /* the box of all nodes in all frames, where colliders end */
  eb_text folder;              /* of the grids */
  eb_output collection;
} series;

/* What is in one frame. */
typedef struct moment {
  const series *of;
  size_t frame;
  double *x; /* positions of the nodes, m */
  eb_result_obstacles obstacles;
  eb_result_colliders colliders;
} moment;

static void clear_series(series *s) {
  free(s->time);
  eb_mesh_destroy(s->mesh);
  eb_vtk_cells_clear(&s->cells);
  eb_vtk_array_clear(&s->region);
  eb_result_contacts_clear(&s->contacts);
  eb_text_clear(&s->folder);
}

static void clear_moment(moment *m) {
  free(m->x);
  eb_result_obstacles_clear(&m->obstacles);
  eb_result_colliders_clear(&m->colliders);
}

/* ---- a grid ---------------------------------------------------------------------------------- */

/* A grid that is put together, with what it is made of. */
typedef struct draft {
  eb_vtk_grid grid;
  eb_vtk_array position, of_points[EB_VTK_MOST_ARRAYS], of_cells[EB_VTK_MOST_ARRAYS];
  eb_vtk_cells cells; /* where they are the grid's own */
} draft;

static void clear_draft(draft *d) {
  eb_vtk_array_clear(&d->position);
  eb_vtk_cells_clear(&d->cells);
  for (int i = 0; i < EB_VTK_MOST_ARRAYS; i++) {
    eb_vtk_array_clear(&d->of_points[i]);
    eb_vtk_array_clear(&d->of_cells[i]);
  }
}

/* Room for an array with a value a point, or a cell, which the grid has now. */
static eb_vtk_array *next_of_points(draft *d) {
  eb_vtk_array *array = &d->of_points[d->grid.point_count];
  d->grid.of_points[d->grid.point_count++] = array;
  return array;
}

static eb_vtk_array *next_of_cells(draft *d) {
  eb_vtk_array *array = &d->of_cells[d->grid.cell_count];
  d->grid.of_cells[d->grid.cell_count++] = array;
  return array;
}

static eb_error set_points(draft *d, int precision, int64_t count, const double *x) {
  d->grid.points = count;
  d->grid.position = &d->position;
  return eb_vtk_pack_reals("Points", precision, 3, (size_t)count, x, &d->position);
}

static eb_error set_cells(draft *d, eb_vtk_shape shape, int width, int64_t count,
                          const int32_t *nodes) {
  d->grid.cells = &d->cells;
  return eb_vtk_pack_cells(shape, width, count, nodes, &d->cells);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static eb_error read_vectors(const moment *m, const char *path, double **out) {
  const eb_h5_shape row = {2, {(hsize_t)m->of->run->nodes, 3}};
  void *data;
  eb_error error = eb_results_frame_row(m->of->results, m->of->index, path, m->frame,
                                        H5T_NATIVE_DOUBLE, row, &data);
  *out = data;
  return eb_results_locate(m->of->results, m->of->index, error);
}

static eb_error add_vectors(draft *d, const moment *m, const char *name, const char *path) {
  EB_FREED double *values = NULL;
  int precision;
  EB_TRY(eb_results_frame_precision(m->of->results, m->of->index, path, &precision));
  if (precision == 0) return EB_OK;
  EB_TRY(read_vectors(m, path, &values));
  return eb_vtk_pack_reals(name, precision, 3, (size_t)m->of->run->nodes, values,
                           next_of_points(d));
}

static eb_error add_displacement(draft *d, const moment *m) {
  EB_FREED double *u = NULL;
  size_t nodes = (size_t)m->of->run->nodes;
  EB_TRY(EB_NEW(u, 3 * nodes));
  for (size_t i = 0; i < 3 * nodes; i++) u[i] = m->x[i] - m->of->mesh->X[i];
  return eb_vtk_pack_reals("displacement", m->of->precision, 3, nodes, u, next_of_points(d));
}

static eb_error add_fixed(draft *d, const moment *m) {
  static const char path[] = "frames/fixed";
  const eb_h5_shape row = {1, {(hsize_t)m->of->run->nodes}};
  EB_FREED void *fixed = NULL;
  if (!eb_results_has(m->of->results, m->of->index, path)) return EB_OK;
  EB_TRY(eb_results_locate(m->of->results, m->of->index,
                           eb_results_frame_row(m->of->results, m->of->index, path, m->frame,
                                                H5T_NATIVE_UINT8, row, &fixed)));
  return eb_vtk_pack("fixed", EB_VTK_UINT8, 1, (size_t)m->of->run->nodes, fixed, next_of_points(d));
}

static eb_error add_updates(draft *d, const moment *m) {
  EB_FREED uint8_t *updates = NULL;
  EB_TRY(eb_results_updates(m->of->results, m->of->index, m->frame, &updates));
  if (!updates) return EB_OK;
  return eb_vtk_pack("updates", EB_VTK_UINT8, 1, (size_t)m->of->run->elements, updates,
                     next_of_cells(d));
}

static eb_error draft_bodies(const moment *m, draft *d) {
  EB_TRY(set_points(d, m->of->precision, m->of->run->nodes, m->x));
  d->grid.cells = &m->of->cells;
  EB_TRY(add_vectors(d, m, "velocity", EB_FRAME_VELOCITIES));
  EB_TRY(add_displacement(d, m));
  EB_TRY(add_vectors(d, m, "force", "frames/force"));
  EB_TRY(add_fixed(d, m));
  d->grid.of_cells[d->grid.cell_count++] = &m->of->region;
  return add_updates(d, m);
}

/* ---- what is around them --------------------------------------------------------------------- */

/* A line from pivot to tip for each bone. */
static eb_error draft_bones(const moment *m, draft *d) {
  EB_FREED float *ends = NULL;
  EB_FREED double *x = NULL;
  int32_t count;
  EB_TRY(eb_results_bones(m->of->results, m->of->index, m->frame, &count, &ends));
  EB_TRY(EB_NEW(x, 6 * (size_t)count));
  for (size_t i = 0; i < 6 * (size_t)count; i++) x[i] = ends[i];
  EB_TRY(set_points(d, sizeof *ends, 2 * (int64_t)count, x));
  return set_cells(d, EB_VTK_LINE, 2, count, NULL);
}

static eb_error draft_obstacles(const moment *m, draft *d) {
  const eb_result_obstacles *o = &m->obstacles;
  EB_TRY(set_points(d, sizeof(double), o->vertex_count, o->X));
  EB_TRY(set_cells(d, EB_VTK_TRIANGLE, 3, o->triangle_count, o->triangles));
  return eb_vtk_pack("obstacle", EB_VTK_INT32, 1, (size_t)o->vertex_count, o->obstacle,
                     next_of_points(d));
}

/* Their surfaces behind each other. */
static eb_error join_colliders(const moment *m, draft *d, eb_result_obstacles *all) {
  const eb_result_colliders *c = &m->colliders;
  for (int32_t k = 0; k < c->count; k++) {
    EB_OWNED(eb_tessellation_clear) eb_tessellation s = {0};
    EB_TRY(eb_tessellate(&c->list[k], m->of->lo, m->of->hi, &s));
    const eb_surface surface = {.vertex_count = s.vertex_count,
                                .triangle_count = s.triangle_count,
                                .X = s.X,
                                .triangles = s.triangles};
    EB_TRY(eb_result_obstacles_add(all, &surface, k));
  }
  EB_TRY(set_points(d, sizeof(double), all->vertex_count, all->X));
  EB_TRY(set_cells(d, EB_VTK_TRIANGLE, 3, all->triangle_count, all->triangles));
  return eb_vtk_pack("collider", EB_VTK_INT32, 1, (size_t)all->vertex_count, all->obstacle,
                     next_of_points(d));
}

static eb_error draft_colliders(const moment *m, draft *d) {
  EB_OWNED(eb_result_obstacles_clear) eb_result_obstacles all = {0};
  return join_colliders(m, d, &all);
}

/* Where a vertex of contacts is: obstacles are numbered behind the nodes. NULL: nowhere. */
static const double *place_of(const moment *m, int32_t vertex) {
  int64_t nodes = m->of->run->nodes, behind = vertex - nodes;
  if (vertex < 0 || behind >= m->obstacles.vertex_count) return NULL;
  return behind < 0 ? m->x + 3 * (size_t)vertex : m->obstacles.X + 3 * (size_t)behind;
}

/* The point of the first feature, whose weights are positive, and the force on it. */
static bool place_contact(const moment *m, int64_t c, double point[3], double force[3]) {
  const eb_result_contacts *all = &m->of->contacts;
  double total = 0;
  memset(point, 0, 3 * sizeof *point);
  memset(force, 0, 3 * sizeof *force);
  for (int i = 0; i < 4; i++) {
    double weight = all->weight[4 * c + i];
    const double *x = place_of(m, all->vertices[4 * c + i]);
    if (!(weight > 0)) continue;
    if (!x) return false;
    for (int axis = 0; axis < 3; axis++) point[axis] += weight * x[axis];
    total += weight;
  }
  for (int axis = 0; axis < 3; axis++) {
    point[axis] /= total;
    for (int k = 0; k < 3; k++)
      force[axis] += all->frame[9 * c + 3 * k + axis] * all->force[3 * c + k];
  }
  return total > 0;
}

/* Points with the forces in them. */
static eb_error draft_contacts(const moment *m, draft *d) {
  const eb_result_contacts *all = &m->of->contacts;
  int64_t first = all->offsets ? all->offsets[m->frame] : 0, count = 0;
  int64_t end = all->offsets ? all->offsets[m->frame + 1] : 0;
  EB_FREED double *point = NULL, *force = NULL;
  EB_TRY(EB_NEW(point, 3 * (end - first)));
  EB_TRY(EB_NEW(force, 3 * (end - first)));
  for (int64_t c = first; c < end; c++)
    count += place_contact(m, c, point + 3 * count, force + 3 * count);
  EB_TRY(set_points(d, sizeof(double), count, point));
  EB_TRY(set_cells(d, EB_VTK_VERTEX, 1, count, NULL));
  return eb_vtk_pack_reals("force", sizeof(double), 3, (size_t)count, force, next_of_points(d));
}

/* ---- files ----------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  eb_error (*draft)(const moment *m, draft *d);
} parts[] = {{"bodies", draft_bodies},
             {"bones", draft_bones},
             {"obstacles", draft_obstacles},
             {"contacts", draft_contacts},
             {"colliders", draft_colliders}};
enum { PARTS = sizeof parts / sizeof *parts };

/* Digits of the number of the last frame, at least as many as make files sort. */
static int digits_of(size_t frames) {
  int digits = 4;
  for (size_t most = 10000; most < frames; most *= 10) digits++;
  return digits;
}

/* A part that is not there in a frame has no file of it. */
static eb_error write_part(const series *s, const moment *m, int part) {
  EB_OWNED(clear_draft) draft d = {.grid = {.time = s->time[m->frame]}};
  EB_OWNED(eb_text_clear) eb_text path = {0};
  EB_TRY(parts[part].draft(m, &d));
  if (d.grid.points == 0) return EB_OK;
  EB_TRY(eb_text_printf(&path, "%s/%s_%0*zu.vtu", s->folder.data, parts[part].name,
                        digits_of(s->frames), m->frame));
  EB_TRY(eb_vtk_write(path.data, &d.grid));
  /* From the collection, which is beside the folder. */
  return eb_vtk_collect(&s->collection, d.grid.time, part, parts[part].name,
                        path.data + (eb_export_file_name(s->folder.data) - s->folder.data));
}

static eb_error write_frame(const series *s, size_t frame) {
  EB_OWNED(clear_moment) moment m = {.of = s, .frame = frame};
  EB_TRY(read_vectors(&m, EB_FRAME_POSITIONS, &m.x));
  EB_TRY(eb_results_obstacles(s->results, s->index, frame, &m.obstacles));
  EB_TRY(eb_results_colliders(s->results, s->index, frame, &m.colliders));
  for (int part = 0; part < PARTS; part++) EB_TRY(write_part(s, &m, part));
  return EB_OK;
}

/* What is infinite ends with the box, which is that of all frames so that it stays where it is. */
static eb_error bound_nodes(series *s) {
  for (int d = 0; d < 3; d++) s->lo[d] = INFINITY, s->hi[d] = -INFINITY;
  for (size_t f = 0; f < s->frames; f++) {
    EB_OWNED(clear_moment) moment m = {.of = s, .frame = f};
    EB_TRY(read_vectors(&m, EB_FRAME_POSITIONS, &m.x));
    for (int64_t i = 0; i < 3 * s->run->nodes; i++) {
      s->lo[i % 3] = fmin(s->lo[i % 3], m.x[i]);
      s->hi[i % 3] = fmax(s->hi[i % 3], m.x[i]);
    }
  }
  return EB_OK;
}

static eb_error write_frames(const series *s) {
  for (size_t f = 0; f < s->frames; f++) EB_TRY(write_frame(s, f));
  return EB_OK;
}

/* What frames share; s->frames stays 0 when the run has none. */
static eb_error read_series(const eb_results *results, int run, series *s) {
  s->results = results;
  s->index = run;
  s->run = eb_results_run(results, run);
  if (!*s->run->scene_hash) return EB_OK;
  EB_TRY(eb_results_read(results, run, "frames/time", &s->time, &s->frames));
  if (s->frames == 0) return EB_OK;
  EB_TRY(eb_results_mesh(results, run, &s->mesh));
  if (s->mesh->node_count != s->run->nodes || s->mesh->element_count != s->run->elements)
    return EB_ERROR(EB_ERR_FORMAT,
                    "'%s': run %s has %lld nodes and %lld elements, its mesh %d and %d",
                    eb_results_path(results), s->run->id, (long long)s->run->nodes,
                    (long long)s->run->elements, s->mesh->node_count, s->mesh->element_count);
  EB_TRY(eb_results_frame_precision(results, run, EB_FRAME_POSITIONS, &s->precision));
  EB_TRY(eb_results_contacts(results, run, s->frames, &s->contacts));
  if (eb_results_has(results, run, EB_COLLIDER_OFFSET)) EB_TRY(bound_nodes(s));
  eb_vtk_shape shape = s->mesh->type == EB_TRIANGLE      ? EB_VTK_TRIANGLE
                       : s->mesh->type == EB_TETRAHEDRON ? EB_VTK_TETRAHEDRON
                                                         : EB_VTK_HEXAHEDRON;
  EB_TRY(eb_vtk_pack_cells(shape, (int)s->mesh->type, s->mesh->element_count, s->mesh->elements,
                           &s->cells));
  return eb_vtk_pack("region", EB_VTK_INT32, 1, (size_t)s->mesh->element_count, s->mesh->region,
                     &s->region);
}

static eb_error export_series(const eb_results *results, int run, const char *folder, FILE *out,
                              bool *written) {
  EB_OWNED(clear_series) series s = {0};
  EB_OWNED(eb_text_clear) eb_text path = {0};
  EB_TRY(read_series(results, run, &s));
  *written = s.frames > 0;
  if (!*written) return EB_OK;
  EB_TRY(eb_export_path(results, run, folder, NULL, &s.folder));
  EB_TRY(eb_export_path(results, run, folder, "pvd", &path));
  EB_TRY(eb_folder_make(s.folder.data));
  EB_TRY(eb_vtk_collection_open(path.data, &s.collection));
  EB_TRY(eb_vtk_collection_close(&s.collection, write_frames(&s)));
  eb_print(out, "%s\n", path.data);
  return EB_OK;
}

eb_error eb_export_vtu(const eb_results *results, const eb_strings *ids, const char *folder,
                       FILE *out, int *written) {
  return eb_export_each(results, ids, folder, out, export_series, written);
}
