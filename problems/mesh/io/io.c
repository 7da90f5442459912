#include <errno.h>
#include <locale.h>
#include <string.h>

#include "problems/base/file.h"
#include "problems/base/memory.h"
#include "problems/mesh/diagnose.h"
#include "problems/mesh/io.h"
#include "problems/mesh/io/formats.h"

/* ---- formats --------------------------------------------------------------------------------- */

/* By eb_mesh_format. The reader of volumes; TetGen's takes two files. */
static const struct format {
  const char *ending;
  eb_error (*read_mesh)(eb_scan *, eb_draft *);
  eb_error (*write)(FILE *, const eb_mesh *);
} formats[] = {
    [EB_FORMAT_MEDIT] = {".mesh", eb_read_medit, NULL},
    [EB_FORMAT_GMSH22] = {".msh", eb_read_gmsh, eb_write_gmsh},
    [EB_FORMAT_GMSH22_BINARY] = {NULL, eb_read_gmsh, NULL},
    [EB_FORMAT_GMSH41] = {NULL, eb_read_gmsh, NULL},
    [EB_FORMAT_GMSH41_BINARY] = {NULL, eb_read_gmsh, NULL},
    [EB_FORMAT_TETGEN] = {".node", NULL, NULL},
    [EB_FORMAT_VEGA] = {".veg", eb_read_vega, NULL},
    [EB_FORMAT_VTK] = {".vtk", eb_read_vtk, eb_write_vtk},
    [EB_FORMAT_VTK_BINARY] = {NULL, eb_read_vtk, NULL},
    [EB_FORMAT_OBJ] = {".obj", NULL, eb_write_obj},
    [EB_FORMAT_PLY] = {".ply", NULL, NULL},
    [EB_FORMAT_PLY_BINARY] = {NULL, NULL, NULL},
    [EB_FORMAT_OFF] = {".off", NULL, NULL},
    [EB_FORMAT_STL] = {".stl", NULL, NULL},
    [EB_FORMAT_STL_BINARY] = {NULL, NULL, NULL},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const struct format *format_of(eb_mesh_format format) {
  return &formats[(unsigned)format < FORMATS ? format : EB_FORMAT_AUTO];
}

static bool holds_surface(eb_mesh_format format) {
  return format >= EB_FORMAT_OBJ && format <= EB_FORMAT_STL_BINARY;
}

static bool has_ending(const char *name, const char *ending) {
  size_t length = strlen(name), tail = strlen(ending);
  return length >= tail && eb_word_is((eb_word){name + length - tail, tail}, ending);
}

static eb_mesh_format by_extension(const char *name) {
  for (int k = 0; k < FORMATS; k++)
    if (formats[k].ending && has_ending(name, formats[k].ending)) return (eb_mesh_format)k;
  return has_ending(name, ".ele") ? EB_FORMAT_TETGEN : EB_FORMAT_AUTO;
}

/* Whether all files of the format open with a word of its own, by which they are recognized. */
static bool has_opening(eb_mesh_format format) {
  return format >= EB_FORMAT_MEDIT && format <= EB_FORMAT_PLY_BINARY &&
         format != EB_FORMAT_TETGEN && format != EB_FORMAT_OBJ;
}

/* Told from the content, then from the extension of `name`. EB_ERR_FORMAT when neither says, when
 * they contradict each other, and for files of other kinds. */
static eb_error format_detect(const char *name, const char *data, size_t bytes,
                              eb_mesh_format *out) {
  EB_TRY(eb_refuse_other(name, data, bytes, EB_FORMAT_AUTO));
  *out = eb_recognize(data, bytes).format;
  if (*out != EB_FORMAT_AUTO) return EB_OK;
  eb_mesh_format guess = eb_guess(data, bytes);
  bool text = !memchr(data, '\0', bytes < 512 ? bytes : 512);
  *out = by_extension(name);
  if (*out == EB_FORMAT_STL && eb_stl_kind(data, bytes) != EB_FORMAT_STL)
    *out = EB_FORMAT_STL_BINARY;
  if (has_opening(*out) || (*out != EB_FORMAT_AUTO && *out != EB_FORMAT_STL_BINARY && !text))
    return EB_ERROR(EB_ERR_FORMAT, "%s:1: the file is named as %s, but does not open like it%s%s%s",
                    name, eb_mesh_format_name(*out), guess || !text ? "; it looks like " : "",
                    guess   ? eb_mesh_format_name(guess)
                    : !text ? "binary data of another format"
                            : "",
                    guess ? ": name it by what it is" : "");
  if (*out == EB_FORMAT_AUTO && guess == EB_FORMAT_OBJ) *out = guess;
  if (*out != EB_FORMAT_AUTO) return EB_OK;
  const char *advice =
      "the format is unknown; supported are MEDIT .mesh, Gmsh .msh 2.2 and 4.1, TetGen .node and "
      ".ele, Vega .veg, VTK legacy .vtk, OBJ, PLY, OFF and STL";
  if (has_ending(name, ".meshb"))
    advice = "binary MEDIT is not supported; save it as ascii .mesh";
  else if (has_ending(name, ".vegb"))
    advice = "binary Vega is not supported; save it as ascii .veg";
  return EB_ERROR(EB_ERR_FORMAT, "%s:1: %s", name, advice);
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
  const struct format *known = format_of(format);
  eb_draft draft = {0};
  eb_scan scan = scan_of(s), elements = scan_of(more);
  number_locale locale = {0};
  EB_TRY(enter_locale(&locale));
  eb_error error;
  if (format == EB_FORMAT_TETGEN)
    error = eb_read_tetgen(&scan, &elements, &draft);
  else if (known->read_mesh)
    error = known->read_mesh(&scan, &draft);
  else
    error = EB_ERROR(EB_ERR_FORMAT, "%s: %s is a surface, not a volume mesh; make it solid first",
                     s->name, eb_mesh_format_name(format));
  if (!error) error = eb_draft_finish(&draft, &scan, out);
  eb_draft_clear(&draft);
  leave_locale(&locale);
  return error;
}

/* The format of a source, unless it is given, which it must then be. */
static eb_error settle_format(const source *s, eb_mesh_format *format) {
  if (*format != EB_FORMAT_AUTO) return eb_refuse_other(s->name, s->data, s->bytes, *format);
  return format_detect(s->name, s->data, s->bytes, format);
}

static eb_error parse_surface(eb_mesh_format format, const source *s, eb_surface **out) {
  eb_scan scan = scan_of(s);
  number_locale locale = {0};
  EB_TRY(settle_format(s, &format));
  EB_TRY(enter_locale(&locale));
  eb_error error = holds_surface(format)
                       ? eb_read_surface(&scan, format, out)
                       : EB_ERROR(EB_ERR_FORMAT, "%s: %s is a volume mesh, not a surface", s->name,
                                  eb_mesh_format_name(format));
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
  return parse_mesh(format, &s, &more, out);
}

eb_error eb_surface_parse(const char *name, eb_mesh_format format, const void *data, size_t bytes,
                          eb_surface **out) {
  *out = NULL;
  source s = {.name = name, .data = data, .bytes = bytes};
  return parse_surface(format, &s, out);
}

/* name.node and name.ele from either; the caller frees both. */
static eb_error tetgen_paths(const char *path, char *names[2]) {
  static const char *const endings[] = {".node", ".ele"};
  size_t stem = strlen(path);
  if (stem > 5 && has_ending(path, ".node"))
    stem -= 5;
  else if (stem > 4 && has_ending(path, ".ele"))
    stem -= 4;
  names[0] = names[1] = NULL;
  for (int k = 0; k < 2; k++) {
    size_t bytes = stem + sizeof ".node";
    eb_error error = EB_NEW(names[k], bytes);
    if (error) {
      free(names[0]);
      return error;
    }
    snprintf(names[k], bytes, "%.*s%s", (int)stem, path, endings[k]);
  }
  return EB_OK;
}

/* Both files, of which `path` is one. */
static eb_error read_tetgen(const char *path, eb_text *notes, eb_mesh **out) {
  char *names[2], *data[2] = {NULL, NULL};
  source s[2];
  eb_error error = EB_OK;
  EB_TRY(tetgen_paths(path, names));
  for (int k = 0; !error && k < 2; k++) {
    s[k] = (source){.name = names[k], .on_disk = true, .notes = notes};
    error = eb_file_load(names[k], &data[k], &s[k].bytes);
    s[k].data = data[k];
    if (!error) error = eb_refuse_other(names[k], data[k], s[k].bytes, EB_FORMAT_TETGEN);
  }
  if (!error) error = parse_mesh(EB_FORMAT_TETGEN, &s[0], &s[1], out);
  for (int k = 0; k < 2; k++) {
    free(names[k]);
    free(data[k]);
  }
  return error;
}

eb_error eb_mesh_read_noted(const char *path, eb_text *notes, eb_mesh **out) {
  char *data;
  eb_mesh_format format = EB_FORMAT_AUTO;
  const source none = {.name = path, .data = ""};
  source s = {.name = path, .on_disk = true, .notes = notes};
  *out = NULL;
  EB_TRY(eb_file_load(path, &data, &s.bytes));
  s.data = data;
  eb_error error = settle_format(&s, &format);
  if (!error)
    error = format == EB_FORMAT_TETGEN ? read_tetgen(path, notes, out)
                                       : parse_mesh(format, &s, &none, out);
  free(data);
  return error;
}

eb_error eb_mesh_read(const char *path, eb_mesh **out) {
  return eb_mesh_read_noted(path, NULL, out);
}

eb_error eb_surface_read_noted(const char *path, eb_text *notes, eb_surface **out) {
  char *data;
  *out = NULL;
  source s = {.name = path, .on_disk = true, .notes = notes};
  EB_TRY(eb_file_load(path, &data, &s.bytes));
  s.data = data;
  eb_error error = parse_surface(EB_FORMAT_AUTO, &s, out);
  free(data);
  return error;
}

eb_error eb_surface_read(const char *path, eb_surface **out) {
  return eb_surface_read_noted(path, NULL, out);
}

eb_error eb_file_is_surface(const char *path, bool *out) {
  char *data;
  size_t bytes;
  eb_mesh_format format;
  *out = false;
  EB_TRY(eb_file_load(path, &data, &bytes));
  eb_error error = format_detect(path, data, bytes, &format);
  free(data);
  if (!error) *out = holds_surface(format);
  return error;
}

static eb_error note(const char *path, eb_text *notes) {
  bool is_surface;
  eb_surface *surface = NULL;
  eb_mesh *mesh = NULL;
  eb_mesh_diagnosis diagnosis;
  EB_TRY(eb_text_printf(notes, "%s", ""));
  EB_TRY(eb_file_is_surface(path, &is_surface));
  if (is_surface) {
    EB_TRY(eb_surface_read_noted(path, notes, &surface));
    eb_surface_destroy(surface);
    return EB_OK;
  }
  EB_TRY(eb_mesh_read_noted(path, notes, &mesh));
  eb_error error = eb_mesh_diagnose(mesh, &diagnosis);
  if (!error) error = eb_mesh_diagnosis_print(&diagnosis, mesh->type, path, notes);
  eb_mesh_destroy(mesh);
  return error;
}

eb_error eb_mesh_notes(const char *path, char **out) {
  eb_text notes = {0};
  *out = NULL;
  eb_error error = note(path, &notes);
  if (error)
    eb_text_clear(&notes);
  else
    *out = notes.data;
  return error;
}

/* ---- writing --------------------------------------------------------------------------------- */

eb_error eb_mesh_write(const char *path, const eb_mesh *mesh) {
  const struct format *format = format_of(by_extension(path));
  if (!format->write)
    return EB_ERROR(
        EB_ERR_USAGE,
        "%s: unknown format; a mesh is written as .msh (Gmsh), .vtk or, its surface, .obj", path);
  if (mesh->type == EB_TRIANGLE && format->write != eb_write_obj)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "%s: a planar mesh is written as a surface; choose .obj",
                    path);
  number_locale locale = {0};
  eb_output output;
  EB_TRY(enter_locale(&locale));
  eb_error error = eb_output_open(path, &output);
  if (!error) error = eb_output_close(&output, format->write(output.file, mesh));
  leave_locale(&locale);
  return error;
}
