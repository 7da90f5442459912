#include <errno.h>
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/base/memory.h"
#include "problems/mesh/io.h"
#include "problems/mesh/io/formats.h"

/* ---- files and formats ----------------------------------------------------------------------- */

/* Whole files, and what format they are in. */

/* ---- formats --------------------------------------------------------------------------------- */

static const char *format_name(eb_mesh_format format) {
  static const char *const names[] = {
      [EB_FORMAT_AUTO] = "unknown",
      [EB_FORMAT_MEDIT] = "MEDIT",
      [EB_FORMAT_GMSH22] = "Gmsh 2.2",
      [EB_FORMAT_GMSH22_BINARY] = "binary Gmsh 2.2",
      [EB_FORMAT_GMSH41] = "Gmsh 4.1",
      [EB_FORMAT_GMSH41_BINARY] = "binary Gmsh 4.1",
      [EB_FORMAT_TETGEN] = "TetGen",
      [EB_FORMAT_VEGA] = "Vega",
      [EB_FORMAT_VTK] = "VTK",
      [EB_FORMAT_VTK_BINARY] = "binary VTK",
      [EB_FORMAT_OBJ] = "OBJ",
      [EB_FORMAT_PLY] = "PLY",
      [EB_FORMAT_PLY_BINARY] = "binary PLY",
      [EB_FORMAT_OFF] = "OFF",
      [EB_FORMAT_STL] = "STL",
      [EB_FORMAT_STL_BINARY] = "binary STL",
  };
  return (size_t)format < sizeof names / sizeof *names ? names[format] : "unknown";
}

static bool format_is_surface(eb_mesh_format format) {
  return format >= EB_FORMAT_OBJ && format <= EB_FORMAT_STL_BINARY;
}

static eb_mesh_format by_extension(const char *name) {
  static const struct {
    const char *ending;
    eb_mesh_format format;
  } known[] = {{".mesh", EB_FORMAT_MEDIT}, {".msh", EB_FORMAT_GMSH22}, {".node", EB_FORMAT_TETGEN},
               {".ele", EB_FORMAT_TETGEN}, {".veg", EB_FORMAT_VEGA},   {".vtk", EB_FORMAT_VTK},
               {".obj", EB_FORMAT_OBJ},    {".ply", EB_FORMAT_PLY},    {".off", EB_FORMAT_OFF},
               {".stl", EB_FORMAT_STL}};
  size_t length = strlen(name);
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    size_t tail = strlen(known[k].ending);
    if (length >= tail && eb_word_is((eb_word){name + length - tail, tail}, known[k].ending))
      return known[k].format;
  }
  return EB_FORMAT_AUTO;
}

/* The second and third words behind $MeshFormat: the version and 0 (ascii) or 1 (binary). */
static eb_mesh_format gmsh_kind(const char *data, size_t bytes) {
  eb_scan scan;
  const char *header = memmem(data, bytes, "$MeshFormat", 11);
  if (!header) return EB_FORMAT_GMSH22;
  eb_scan_start(&scan, "", header + 11, (size_t)(data + bytes - header - 11));
  bool fourth = eb_word_starts(eb_scan_word(&scan), "4");
  bool binary = eb_word_is(eb_scan_word(&scan), "1");
  if (fourth) return binary ? EB_FORMAT_GMSH41_BINARY : EB_FORMAT_GMSH41;
  return binary ? EB_FORMAT_GMSH22_BINARY : EB_FORMAT_GMSH22;
}

static eb_mesh_format ply_kind(eb_scan scan) {
  for (eb_word word = eb_scan_word(&scan); word.length; word = eb_scan_word(&scan)) {
    if (eb_word_is(word, "end_header")) break;
    if (eb_word_is(word, "format"))
      return eb_word_starts(eb_scan_word(&scan), "binary") ? EB_FORMAT_PLY_BINARY : EB_FORMAT_PLY;
  }
  return EB_FORMAT_PLY;
}

static eb_mesh_format vtk_kind(eb_scan scan) {
  eb_scan_next_line(&scan);
  eb_scan_next_line(&scan);
  return eb_word_is(eb_scan_word(&scan), "BINARY") ? EB_FORMAT_VTK_BINARY : EB_FORMAT_VTK;
}

static bool opens_obj(eb_word word) {
  static const char *const keywords[] = {"v", "vn", "vt",     "vp", "f",
                                         "o", "g",  "mtllib", "s",  "usemtl"};
  for (size_t k = 0; k < sizeof keywords / sizeof *keywords; k++)
    if (eb_word_is(word, keywords[k])) return true;
  return false;
}

/* The format that the opening words tell, or AUTO. */
static eb_mesh_format by_content(const char *data, size_t bytes) {
  eb_scan scan;
  eb_scan_start(&scan, "", data, bytes);
  if (scan.end - scan.at >= 22 && memcmp(scan.at, "# vtk DataFile Version", 22) == 0)
    return vtk_kind(scan);
  scan.comment = '#';
  eb_word word = eb_scan_word(&scan);
  if (word.length == 0) return EB_FORMAT_AUTO;
  if (word.text[0] == '$') return gmsh_kind(data, bytes);
  if (eb_word_is(word, "MeshVersionFormatted")) return EB_FORMAT_MEDIT;
  if (eb_word_is(word, "ply")) return ply_kind(scan);
  if (word.text[0] == '*' && word.length > 3) return EB_FORMAT_VEGA;
  if (word.length >= 3 && word.length <= 8 &&
      eb_word_is((eb_word){word.text + word.length - 3, 3}, "OFF"))
    return EB_FORMAT_OFF;
  if (eb_word_is(word, "solid") && memmem(data, bytes, "facet", 5) &&
      !eb_stl_is_binary(data, bytes))
    return EB_FORMAT_STL;
  return EB_FORMAT_AUTO;
}

static const char XML_OF_VTK[] =
    "XML files of VTK (.vtu) are not supported, only legacy ones: save it as legacy .vtk with "
    "ParaView (File, Save Data), or with `meshio convert in.vtu out.vtk`";

/* A refusal that helps, for relatives of the supported formats. */
static const char *advice(const char *name, const char *data, size_t bytes) {
  eb_scan scan;
  eb_scan_start(&scan, "", data, bytes);
  size_t length = strlen(name);
  if (length > 6 && strcmp(name + length - 6, ".meshb") == 0)
    return "binary MEDIT is not supported; save it as ascii .mesh";
  if (length > 5 && strcmp(name + length - 5, ".vegb") == 0)
    return "binary Vega is not supported; save it as ascii .veg";
  if (memmem(data, bytes, "<VTKFile", 8)) return XML_OF_VTK;
  return "the format is unknown; supported are MEDIT .mesh, Gmsh .msh 2.2 and 4.1, TetGen .node "
         "and "
         ".ele, Vega .veg, VTK legacy .vtk, OBJ, PLY, OFF and STL";
}

/* Told from the content, then from the extension of `name`; EB_ERR_FORMAT when neither says. */
static eb_error format_detect(const char *name, const char *data, size_t bytes,
                              eb_mesh_format *out) {
  *out = by_content(data, bytes);
  if (*out != EB_FORMAT_AUTO) return EB_OK;
  eb_scan scan;
  eb_scan_start(&scan, name, data, bytes);
  eb_word word = eb_scan_peek(&scan);
  if (eb_word_starts(word, "<?xml") || eb_word_starts(word, "<VTKFile"))
    return EB_ERROR(EB_ERR_FORMAT, "%s:1: %s", name, XML_OF_VTK);
  *out = by_extension(name);
  if (*out == EB_FORMAT_STL && eb_stl_is_binary(data, bytes)) *out = EB_FORMAT_STL_BINARY;
  if (*out != EB_FORMAT_AUTO) return EB_OK;
  scan.comment = '#';
  if (opens_obj(eb_scan_word(&scan)))
    *out = EB_FORMAT_OBJ;
  else if (eb_stl_has_binary_length(data, bytes))
    *out = EB_FORMAT_STL_BINARY;
  else
    return EB_ERROR(EB_ERR_FORMAT, "%s:1: %s", name, advice(name, data, bytes));
  return EB_OK;
}

/* ---- the locale of numbers ------------------------------------------------------------------ */

/* Decimal points are points whatever the host program has set; only this thread is switched. */
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

/* ---- reading --------------------------------------------------------------------------------- */

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
                     s->name, format_name(format));
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
                     format_name(format));
  }
  if (!error) error = eb_facets_finish(&facets, &scan, out);
  eb_facets_clear(&facets);
  return error;
}

static eb_error settle_format(const source *s, eb_mesh_format *format) {
  if (s->bytes == 0) return EB_ERROR(EB_ERR_FORMAT, "%s:1: the file is empty", s->name);
  if (*format != EB_FORMAT_AUTO) return EB_OK;
  return format_detect(s->name, s->data, s->bytes, format);
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
  eb_error error = format_detect(path, data, bytes, &format);
  free(data);
  if (!error) *out = format_is_surface(format);
  return error;
}

bool eb_path_is_surface(const char *path) {
  return format_is_surface(by_extension(path));
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

/* ---- writing --------------------------------------------------------------------------------- */

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
  if (format == EB_FORMAT_AUTO) format = by_extension(path);
  if (format == EB_FORMAT_AUTO)
    return EB_ERROR(EB_ERR_USAGE,
                    "%s: unknown format; volume meshes are written as .mesh, .msh, "
                    ".node, .veg or .vtk",
                    path);
  if (format < EB_FORMAT_MEDIT || format > EB_FORMAT_VTK_BINARY)
    return EB_ERROR(EB_ERR_USAGE, "%s: %s cannot hold a volume mesh; choose a volume format", path,
                    format_name(format));
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
  if (format == EB_FORMAT_AUTO) format = by_extension(path);
  if (!format_is_surface(format))
    return EB_ERROR(EB_ERR_USAGE, "%s: %s cannot hold a surface; choose OBJ, PLY, OFF or STL", path,
                    format_name(format));
  return write_file(path, &(job){.format = format, .surface = surface});
}
