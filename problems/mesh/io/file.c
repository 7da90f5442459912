/* Whole files, and what format they are in. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/base/memory.h"
#include "problems/mesh/io/formats.h"

/* ---- loading ------------------------------------------------------------------------------------ */

static eb_error read_all(int file, const char *path, char *data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t got = read(file, data + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return EB_ERROR(EB_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (got == 0)
      return EB_ERROR(EB_ERR_IO, "%s became shorter while it was read; try again", path);
    done += (size_t)got;
  }
  return EB_OK;
}

static eb_error load(int file, const char *path, char **data, size_t *bytes) {
  struct stat status;
  if (fstat(file, &status) != 0)
    return EB_ERROR(EB_ERR_IO, "cannot read %s: %s", path, strerror(errno));
  if (S_ISDIR(status.st_mode))
    return EB_ERROR(EB_ERR_IO, "%s is a directory; name a mesh file in it", path);
  if (!S_ISREG(status.st_mode))
    return EB_ERROR(EB_ERR_IO, "%s is not a regular file; save the mesh to one", path);
  if (status.st_size == 0) return EB_ERROR(EB_ERR_FORMAT, "%s:1: the file is empty", path);
  *bytes = (size_t)status.st_size;
  EB_TRY(EB_NEW(*data, *bytes));
  return read_all(file, path, *data, *bytes);
}

/* What git checks out in the place of a large file when its extension LFS is missing. */
static eb_error check_pointer(const char *path, const char *data, size_t bytes) {
  static const char opening[] = "version https://git-lfs.github.com/spec/v1";
  if (bytes < sizeof opening - 1 || memcmp(data, opening, sizeof opening - 1) != 0) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT,
                  "%s:1: this is a pointer of Git LFS, not the mesh; `git lfs pull` in its "
                  "repository fetches the mesh",
                  path);
}

eb_error eb_file_load(const char *path, char **data, size_t *bytes) {
  *data = NULL;
  *bytes = 0;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return EB_ERROR(EB_ERR_IO, "cannot open %s: %s; check the path and its permissions", path,
                    strerror(errno));
  eb_error error = load(file, path, data, bytes);
  close(file);
  if (!error) error = check_pointer(path, *data, *bytes);
  if (error) {
    free(*data);
    *data = NULL;
  }
  return error;
}

/* ---- formats ------------------------------------------------------------------------------------ */

const char *eb_format_name(eb_mesh_format format) {
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

bool eb_format_is_surface(eb_mesh_format format) {
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

eb_error eb_format_detect(const char *name, const char *data, size_t bytes, eb_mesh_format *out) {
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
