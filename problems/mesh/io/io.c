#include "problems/mesh/io.h"

#include <errno.h>
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/base/memory.h"
#include "problems/mesh/io/formats.h"

/* ---- the locale of numbers ------------------------------------------------------------------------
 * Decimal points are points whatever the host program has set; only this thread is switched. */

typedef struct number_locale {
  locale_t ours, theirs;
} number_locale;

static eb_error enter_locale(number_locale *l) {
  l->ours = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
  if (l->ours == (locale_t)0)
    return EB_ERROR(EB_ERR_MEMORY, "cannot set the C locale: %s", strerror(errno));
  l->theirs = uselocale(l->ours);
  return EB_OK;
}

static void leave_locale(number_locale *l) {
  uselocale(l->theirs);
  freelocale(l->ours);
}

/* ---- reading ------------------------------------------------------------------------------------ */

typedef struct source {
  const char *name, *data;
  size_t bytes;
  bool on_disk;
  eb_text *notes; /* or NULL */
} source;

static eb_scan scan_of(const source *s) {
  eb_scan scan;
  eb_scan_start(&scan, s->name, s->data, s->bytes);
  scan.on_disk = s->on_disk;
  scan.notes = s->notes;
  return scan;
}

/* `more` is the .ele file of TetGen. */
static eb_error parse_mesh(eb_mesh_format format, const source *s, const source *more,
                           eb_mesh **out) {
  eb_draft draft = {0};
  eb_scan scan = scan_of(s), elements = scan_of(more);
  eb_error error;
  switch (format) {
  case EB_FORMAT_MEDIT:
    error = eb_read_medit(&scan, &draft);
    break;
  case EB_FORMAT_GMSH22:
  case EB_FORMAT_GMSH22_BINARY:
  case EB_FORMAT_GMSH41:
  case EB_FORMAT_GMSH41_BINARY:
    error = eb_read_gmsh(&scan, &draft);
    break;
  case EB_FORMAT_TETGEN:
    error = eb_read_tetgen(&scan, &elements, &draft);
    break;
  case EB_FORMAT_VEGA:
    error = eb_read_vega(&scan, &draft);
    break;
  case EB_FORMAT_VTK:
  case EB_FORMAT_VTK_BINARY:
    error = eb_read_vtk(&scan, &draft);
    break;
  default:
    error = EB_ERROR(EB_ERR_FORMAT, "%s: %s is a surface, not a volume mesh; make it solid first",
                     s->name, eb_format_name(format));
  }
  if (!error) error = eb_draft_finish(&draft, &scan, out);
  eb_draft_clear(&draft);
  return error;
}

static eb_error parse_surface(eb_mesh_format format, const source *s, eb_surface **out) {
  eb_facets facets = {0};
  eb_scan scan = scan_of(s);
  eb_error error;
  switch (format) {
  case EB_FORMAT_OBJ:
    error = eb_read_obj(&scan, &facets);
    break;
  case EB_FORMAT_PLY:
  case EB_FORMAT_PLY_BINARY:
    error = eb_read_ply(&scan, &facets);
    break;
  case EB_FORMAT_OFF:
    error = eb_read_off(&scan, &facets);
    break;
  case EB_FORMAT_STL:
  case EB_FORMAT_STL_BINARY:
    error = eb_read_stl(&scan, &facets);
    break;
  default:
    error = EB_ERROR(EB_ERR_FORMAT, "%s: %s is a volume mesh, not a surface", s->name,
                     eb_format_name(format));
  }
  if (!error) error = eb_facets_finish(&facets, &scan, out);
  eb_facets_clear(&facets);
  return error;
}

static eb_error settle_format(const source *s, eb_mesh_format *format) {
  if (s->bytes == 0) return EB_ERROR(EB_ERR_FORMAT, "%s:1: the file is empty", s->name);
  if (*format != EB_FORMAT_AUTO) return EB_OK;
  return eb_format_detect(s->name, s->data, s->bytes, format);
}

static eb_error parse_mesh_in_locale(eb_mesh_format format, const source *s, const source *more,
                                     eb_mesh **out) {
  number_locale locale = {0};
  EB_TRY(enter_locale(&locale));
  eb_error error = parse_mesh(format, s, more, out);
  leave_locale(&locale);
  return error;
}

eb_error eb_mesh_parse(const char *name, eb_mesh_format format, const void *data, size_t bytes,
                       eb_mesh **out) {
  *out = NULL;
  source s = {.name = name, .data = data, .bytes = bytes}, more = {.name = name, .data = ""};
  EB_TRY(settle_format(&s, &format));
  const char *border = format == EB_FORMAT_TETGEN ? memchr(data, '\0', bytes) : NULL;
  if (border) {
    s.bytes = (size_t)(border - s.data);
    more.data = border + 1;
    more.bytes = bytes - s.bytes - 1;
  }
  return parse_mesh_in_locale(format, &s, &more, out);
}

static eb_error parse_surface_in_locale(eb_mesh_format format, const source *s, eb_surface **out) {
  number_locale locale = {0};
  EB_TRY(settle_format(s, &format));
  EB_TRY(enter_locale(&locale));
  eb_error error = parse_surface(format, s, out);
  leave_locale(&locale);
  return error;
}

eb_error eb_surface_parse(const char *name, eb_mesh_format format, const void *data, size_t bytes,
                          eb_surface **out) {
  *out = NULL;
  source s = {.name = name, .data = data, .bytes = bytes};
  return parse_surface_in_locale(format, &s, out);
}

static eb_error read_tetgen(const char *nodes, const char *elements, eb_text *notes,
                            eb_mesh **out) {
  char *data[2] = {NULL, NULL};
  source s[2] = {{.name = nodes, .on_disk = true, .notes = notes},
                 {.name = elements, .on_disk = true, .notes = notes}};
  eb_error error = eb_file_load(nodes, &data[0], &s[0].bytes);
  if (!error) error = eb_file_load(elements, &data[1], &s[1].bytes);
  s[0].data = data[0];
  s[1].data = data[1];
  if (!error) error = parse_mesh_in_locale(EB_FORMAT_TETGEN, &s[0], &s[1], out);
  free(data[0]);
  free(data[1]);
  return error;
}

static eb_error read_tetgen_pair(const char *path, eb_text *notes, eb_mesh **out) {
  char *nodes, *elements;
  EB_TRY(eb_tetgen_paths(path, &nodes, &elements));
  eb_error error = read_tetgen(nodes, elements, notes, out);
  free(nodes);
  free(elements);
  return error;
}

static eb_error read_loaded(const source *s, eb_mesh **out) {
  eb_mesh_format format = EB_FORMAT_AUTO;
  const source none = {.name = s->name, .data = ""};
  EB_TRY(settle_format(s, &format));
  if (format == EB_FORMAT_TETGEN) return read_tetgen_pair(s->name, s->notes, out);
  return parse_mesh_in_locale(format, s, &none, out);
}

static eb_error read_mesh(const char *path, eb_text *notes, eb_mesh **out) {
  char *data;
  *out = NULL;
  source s = {.name = path, .on_disk = true, .notes = notes};
  EB_TRY(eb_file_load(path, &data, &s.bytes));
  s.data = data;
  eb_error error = read_loaded(&s, out);
  free(data);
  return error;
}

eb_error eb_mesh_read(const char *path, eb_mesh **out) {
  return read_mesh(path, NULL, out);
}

static eb_error read_surface(const char *path, eb_text *notes, eb_surface **out) {
  char *data;
  *out = NULL;
  source s = {.name = path, .on_disk = true, .notes = notes};
  EB_TRY(eb_file_load(path, &data, &s.bytes));
  s.data = data;
  eb_error error = parse_surface_in_locale(EB_FORMAT_AUTO, &s, out);
  free(data);
  return error;
}

eb_error eb_surface_read(const char *path, eb_surface **out) {
  return read_surface(path, NULL, out);
}

eb_error eb_file_is_surface(const char *path, bool *out) {
  char *data;
  size_t bytes;
  eb_mesh_format format;
  *out = false;
  EB_TRY(eb_file_load(path, &data, &bytes));
  eb_error error = eb_format_detect(path, data, bytes, &format);
  free(data);
  if (!error) *out = eb_format_is_surface(format);
  return error;
}

static eb_error read_noted(const char *path, eb_text *notes) {
  bool is_surface;
  eb_mesh *mesh = NULL;
  eb_surface *surface = NULL;
  EB_TRY(eb_file_is_surface(path, &is_surface));
  eb_error error = is_surface ? read_surface(path, notes, &surface) : read_mesh(path, notes, &mesh);
  eb_mesh_destroy(mesh);
  eb_surface_destroy(surface);
  return error;
}

eb_error eb_mesh_notes(const char *path, char **out) {
  eb_text notes = {0};
  *out = NULL;
  EB_TRY(eb_text_printf(&notes, "%s", ""));
  eb_error error = read_noted(path, &notes);
  if (error)
    eb_text_clear(&notes);
  else
    *out = notes.data;
  return error;
}

/* ---- writing ------------------------------------------------------------------------------------ */

typedef struct job {
  eb_mesh_format format;
  const eb_mesh *mesh;
  const eb_surface *surface;
  bool elements; /* the second file of TetGen */
} job;

static void print_mesh(FILE *file, const job *j) {
  const eb_mesh *mesh = j->mesh;
  switch (j->format) {
  case EB_FORMAT_MEDIT:
    eb_write_medit(file, mesh);
    break;
  case EB_FORMAT_GMSH22:
  case EB_FORMAT_GMSH22_BINARY:
    eb_write_gmsh22(file, mesh, j->format == EB_FORMAT_GMSH22_BINARY);
    break;
  case EB_FORMAT_GMSH41:
  case EB_FORMAT_GMSH41_BINARY:
    eb_write_gmsh41(file, mesh, j->format == EB_FORMAT_GMSH41_BINARY);
    break;
  case EB_FORMAT_TETGEN:
    (j->elements ? eb_write_tetgen_elements : eb_write_tetgen_nodes)(file, mesh);
    break;
  case EB_FORMAT_VEGA:
    eb_write_vega(file, mesh);
    break;
  default:
    eb_write_vtk(file, mesh, j->format == EB_FORMAT_VTK_BINARY);
  }
}

static void print_surface(FILE *file, const job *j) {
  switch (j->format) {
  case EB_FORMAT_OBJ:
    eb_write_obj(file, j->surface);
    break;
  case EB_FORMAT_PLY:
  case EB_FORMAT_PLY_BINARY:
    eb_write_ply(file, j->surface, j->format == EB_FORMAT_PLY_BINARY);
    break;
  case EB_FORMAT_OFF:
    eb_write_off(file, j->surface);
    break;
  default:
    eb_write_stl(file, j->surface, j->format == EB_FORMAT_STL_BINARY);
  }
}

/* Removes what could not be written whole; a device is left alone. */
static void remove_file(const char *path) {
  struct stat status;
  if (lstat(path, &status) == 0 && S_ISREG(status.st_mode)) unlink(path);
}

static eb_error print_file(const char *path, const job *j) {
  FILE *file = fopen(path, "wb");
  if (!file) return EB_ERROR(EB_ERR_IO, "cannot write %s: %s", path, strerror(errno));
  errno = 0;
  (j->mesh ? print_mesh : print_surface)(file, j);
  bool failed = ferror(file) != 0;
  int reason = errno;
  if (fclose(file) != 0 && !failed) {
    failed = true;
    reason = errno;
  }
  if (!failed) return EB_OK;
  remove_file(path);
  return EB_ERROR(EB_ERR_IO, "cannot write %s: %s", path, strerror(reason));
}

static eb_error write_file(const char *path, const job *j) {
  number_locale locale = {0};
  EB_TRY(enter_locale(&locale));
  eb_error error = print_file(path, j);
  leave_locale(&locale);
  return error;
}

static eb_error write_tetgen(const char *path, job j) {
  char *nodes, *elements;
  EB_TRY(eb_tetgen_paths(path, &nodes, &elements));
  eb_error error = write_file(nodes, &j);
  j.elements = true;
  if (!error) error = write_file(elements, &j);
  free(nodes);
  free(elements);
  return error;
}

eb_error eb_mesh_write(const char *path, eb_mesh_format format, const eb_mesh *mesh) {
  if (format < EB_FORMAT_MEDIT || format > EB_FORMAT_VTK_BINARY)
    return EB_ERROR(EB_ERR_USAGE, "%s: %s cannot hold a volume mesh; choose a volume format", path,
                    eb_format_name(format));
  if (mesh->type == EB_TRIANGLE)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "%s: a planar mesh is written as a surface; choose OBJ, PLY, OFF or STL", path);
  if (format == EB_FORMAT_TETGEN && mesh->type != EB_TETRAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "%s: TetGen files hold tetrahedra only; choose another",
                    path);
  job j = {.format = format, .mesh = mesh};
  return format == EB_FORMAT_TETGEN ? write_tetgen(path, j) : write_file(path, &j);
}

eb_error eb_surface_write(const char *path, eb_mesh_format format, const eb_surface *surface) {
  if (!eb_format_is_surface(format))
    return EB_ERROR(EB_ERR_USAGE, "%s: %s cannot hold a surface; choose OBJ, PLY, OFF or STL", path,
                    eb_format_name(format));
  return write_file(path, &(job){.format = format, .surface = surface});
}
