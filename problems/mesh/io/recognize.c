/* What a file is, from its opening bytes. */
#include <string.h>
#include <strings.h>

#include "problems/mesh/io/formats.h"

/* ---- names ----------------------------------------------------------------------------------- */

const char *eb_mesh_format_name(eb_mesh_format format) {
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
  bool known = (size_t)format < sizeof names / sizeof *names;
  return names[known ? format : EB_FORMAT_AUTO];
}

/* ---- what no reader takes -------------------------------------------------------------------- */

#define CONVERT "convert it with `meshio convert IN out.msh`"
#define UNPACK  "unpack it and name the mesh that is in it"
#define EXPORT  "export the surface as OBJ, PLY, OFF or STL"

/* Files that open with these bytes. */
static const struct opening {
  const char *bytes;
  size_t count;
  const char *refusal;
} openings[] = {
#define OPENING(bytes, refusal)                                                                    \
  { bytes, sizeof bytes - 1, "this is " refusal }
    OPENING("version https://git-lfs.github.com/spec/v1",
            "a pointer of Git LFS, not the mesh; `git lfs pull` in its repository fetches the "
            "mesh"),
    OPENING("\x1f\x8b", "a gzip archive; " UNPACK),
    OPENING("PK\x03\x04", "a zip archive; " UNPACK),
    OPENING("\xfd"
            "7zXZ",
            "an xz archive; " UNPACK),
    OPENING("BZh", "a bzip2 archive; " UNPACK),
    OPENING("\x28\xb5\x2f\xfd", "a zstd archive; " UNPACK),
    OPENING("7z\xbc\xaf\x27\x1c", "a 7z archive; " UNPACK),
    OPENING("\x89HDF\r\n\x1a\n", "an HDF5 file (as MED, CGNS, Exodus and XDMF are); " CONVERT),
    OPENING("CDF\x01", "a netCDF file (as Exodus is); " CONVERT),
    OPENING("CDF\x02", "a netCDF file (as Exodus is); " CONVERT),
    OPENING("CDF\x05", "a netCDF file (as Exodus is); " CONVERT),
    OPENING("%PDF-", "a PDF document, not a mesh"),
    OPENING("\x89PNG", "a PNG picture, not a mesh"),
    OPENING("\xff\xd8\xff", "a JPEG picture, not a mesh"),
    OPENING("\x7f"
            "ELF",
            "a program, not a mesh"),
    OPENING("\xff\xfe", "text in UTF-16; save it as ASCII or UTF-8"),
    OPENING("\xfe\xff", "text in UTF-16; save it as ASCII or UTF-8"),
    OPENING("\x01\0\0\0\x02\0\0\0\x03\0\0\0",
            "binary MEDIT, which is not supported; save it as ascii .mesh"),
    OPENING("\x01\0\0\0\x03\0\0\0\x03\0\0\0",
            "binary MEDIT, which is not supported; save it as ascii .mesh"),
    OPENING("\x01\0\0\0\x04\0\0\0\x03\0\0\0",
            "binary MEDIT, which is not supported; save it as ascii .mesh"),
    OPENING("ISO-10303-21", "a STEP file of CAD geometry; mesh it (with Gmsh) first"),
    OPENING("// Gmsh", "a Gmsh geometry, not a mesh; `gmsh -3` makes one of it"),
    OPENING("SetFactory(", "a Gmsh geometry, not a mesh; `gmsh -3` makes one of it"),
    OPENING("Point(", "a Gmsh geometry, not a mesh; `gmsh -3` makes one of it"),
    OPENING("mesh3d", "a Netgen mesh; export it as Gmsh 2"),
    OPENING("(0 \"", "a Fluent mesh; " CONVERT),
    OPENING("(1 \"", "a Fluent mesh; " CONVERT),
    OPENING("NASTRAN", "a Nastran file; " CONVERT),
    OPENING("SOL ", "a Nastran file; " CONVERT),
    OPENING("BEGIN BULK", "a Nastran file; " CONVERT),
    OPENING("/PREP7", "an Ansys file; " CONVERT),
    OPENING("#VRML", "a VRML file; " EXPORT),
    OPENING("Kaydara FBX", "an FBX file; " EXPORT),
    OPENING("glTF", "a glTF file; " EXPORT),
    OPENING("BLENDER", "a Blender file; " EXPORT),
    OPENING("{", "JSON text (as glTF is); " EXPORT),
#undef OPENING
};

static const char ABAQUS[] = "this is an Abaqus or CalculiX input file, which is not supported; "
                             "convert it with `meshio convert in.inp out.msh`";
static const char LS_DYNA[] = "this is an LS-DYNA keyword file, which is not supported; " CONVERT;
static const char NASTRAN[] = "this is a Nastran file, which is not supported; " CONVERT;
static const char XML_OF_VTK[] =
    "XML files of VTK (.vtu) are not supported, only legacy ones: save it as legacy .vtk with "
    "ParaView (File, Save Data), or with `meshio convert in.vtu out.vtk`";
static const char HTML[] =
    "this is an HTML page, not the mesh; fetch the file itself (of GitHub: Raw)";
static const char XML[] = "this is an XML file, which is not supported; " CONVERT;
static const char UNIVERSAL[] = "this is a universal file (I-DEAS); " CONVERT;
static const char ZEROS[] = "the file holds zero bytes and nothing else: a copy that broke off";

static bool opens_with(const eb_scan *scan, const char *bytes, size_t count) {
  return (size_t)(scan->end - scan->at) >= count && memcmp(scan->at, bytes, count) == 0;
}

static bool only_zeros(const char *data, size_t bytes) {
  size_t i = 0;
  while (i < bytes && data[i] == 0) i++;
  return i == bytes;
}

/* Whether the tag stands in the first few lines, whatever the case of letters. */
static bool has_early(const eb_scan *scan, const char *tag) {
  size_t length = strlen(tag);
  for (const char *at = scan->at; scan->end - at >= (ptrdiff_t)length && at - scan->at < 2000; at++)
    if (strncasecmp(at, tag, length) == 0) return true;
  return false;
}

static const char *kind_of_xml(const eb_scan *scan) {
  if (has_early(scan, "<VTKFile")) return XML_OF_VTK;
  return has_early(scan, "<html") || has_early(scan, "<!doctype html") ? HTML : XML;
}

/* Behind a star open keywords of Vega, of Abaqus and of LS-DYNA; NULL: of Vega, or of none. */
static const char *kind_of_stars(eb_scan scan) {
  static const char *const abaqus[] = {"*HEADING", "*NODE",      "*ELEMENT",  "*PART",    "*NSET",
                                       "*ELSET",   "*PARAMETER", "*PREPRINT", "*RESTART", NULL};
  scan.separator = ',';
  eb_word keyword = eb_scan_word(&scan), value = eb_scan_word_in_line(&scan);
  if (eb_word_is(keyword, "*KEYWORD")) return LS_DYNA;
  bool ours = !eb_word_starts(keyword, "**") && !eb_word_is_among(keyword, abaqus) &&
              !eb_word_starts(value, "name=") && !eb_word_starts(value, "input=");
  return ours ? NULL : ABAQUS;
}

/* Sections of Gmsh are words behind a dollar; to Nastran and LS-DYNA it opens a comment. */
static const char *kind_of_dollars(eb_scan scan) {
  while (scan.end - scan.at >= 2 && scan.at[0] == '$') {
    char next = scan.at[1];
    if ((next >= 'A' && next <= 'Z') || (next >= 'a' && next <= 'z')) return NULL;
    eb_scan_next_line(&scan);
    eb_scan_more(&scan);
  }
  return eb_word_is(eb_scan_word(&scan), "*KEYWORD") ? LS_DYNA : NASTRAN;
}

static bool is_universal(eb_scan scan) {
  int64_t block = 0;
  return eb_word_is(eb_scan_word(&scan), "-1") && eb_word_int(eb_scan_word(&scan), &block) &&
         (block == 151 || block == 164 || block == 15 || block == 781 || block == 2411 ||
          block == 2420);
}

static const char *refusal_of(const char *data, size_t bytes) {
  eb_scan scan;
  eb_scan_start(&scan, "", data, bytes);
  if (only_zeros(data, bytes)) return ZEROS;
  for (size_t o = 0; o < 2 * (sizeof openings / sizeof *openings); o++) {
    if (o == sizeof openings / sizeof *openings) eb_scan_more(&scan); /* behind blank lines */
    const struct opening *one = &openings[o % (sizeof openings / sizeof *openings)];
    if (opens_with(&scan, one->bytes, one->count)) return one->refusal;
  }
  if (scan.at == scan.end) return NULL;
  if (*scan.at == '<') return kind_of_xml(&scan);
  if (*scan.at == '*') return kind_of_stars(scan);
  if (*scan.at == '$') return kind_of_dollars(scan);
  return is_universal(scan) ? UNIVERSAL : NULL;
}

/* ---- what readers take ----------------------------------------------------------------------- */

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

static eb_mesh_format format_of(const char *data, size_t bytes) {
  eb_scan scan;
  eb_scan_start(&scan, "", data, bytes);
  if (opens_with(&scan, "# vtk DataFile Version", 22)) {
    for (int line = 0; line < 2; line++) eb_scan_next_line(&scan);
    return eb_word_is(eb_scan_word(&scan), "BINARY") ? EB_FORMAT_VTK_BINARY : EB_FORMAT_VTK;
  }
  scan.comment = '#';
  eb_word word = eb_scan_word(&scan);
  if (word.length == 0) return EB_FORMAT_AUTO;
  if (word.text[0] == '$') return gmsh_kind(data, bytes);
  if (eb_word_is(word, "MeshVersionFormatted")) return EB_FORMAT_MEDIT;
  if (eb_word_is(word, "ply")) {
    while (word.length && !eb_word_is(word, "end_header") && !eb_word_is(word, "format"))
      word = eb_scan_word(&scan);
    bool binary = eb_word_is(word, "format") && eb_word_starts(eb_scan_word(&scan), "binary");
    return binary ? EB_FORMAT_PLY_BINARY : EB_FORMAT_PLY;
  }
  if (word.text[0] == '*' && word.length > 3) return EB_FORMAT_VEGA;
  if (word.length >= 3 && word.length <= 8 &&
      eb_word_is((eb_word){word.text + word.length - 3, 3}, "OFF"))
    return EB_FORMAT_OFF;
  if (eb_word_is(word, "solid") && memmem(data, bytes, "facet", 5)) return EB_FORMAT_STL;
  return EB_FORMAT_AUTO;
}

eb_file_type eb_recognize(const char *data, size_t bytes) {
  if (eb_stl_kind(data, bytes) == EB_FORMAT_STL_BINARY)
    return (eb_file_type){.format = EB_FORMAT_STL_BINARY};
  const char *refusal = refusal_of(data, bytes);
  if (refusal) return (eb_file_type){.refusal = refusal};
  return (eb_file_type){.format = format_of(data, bytes)};
}

eb_mesh_format eb_guess(const char *data, size_t bytes) {
  static const char *const obj_keywords[] = {"v", "vn", "vt",     "vp",     "f", "o",
                                             "g", "s",  "mtllib", "usemtl", NULL};
  eb_scan scan;
  int64_t number[3] = {0};
  eb_scan_start(&scan, "", data, bytes);
  scan.comment = '#';
  if (eb_word_is_among(eb_scan_peek(&scan), obj_keywords)) return EB_FORMAT_OBJ;
  /* "nodes 3 attributes ..", "elements 4 attributes" */
  for (int i = 0; i < 3; i++)
    if (!eb_word_int(eb_scan_word_in_line(&scan), &number[i])) return EB_FORMAT_AUTO;
  return number[1] == 3 || number[1] == 4 || number[1] == 10 ? EB_FORMAT_TETGEN : EB_FORMAT_AUTO;
}

/* ---- refusing -------------------------------------------------------------------------------- */

/* Formats that one reader takes, by the first of them. */
static eb_mesh_format reader_of(eb_mesh_format format) {
  if (format >= EB_FORMAT_GMSH22 && format <= EB_FORMAT_GMSH41_BINARY) return EB_FORMAT_GMSH22;
  bool binary = format == EB_FORMAT_VTK_BINARY || format == EB_FORMAT_PLY_BINARY ||
                format == EB_FORMAT_STL_BINARY;
  return binary ? format - 1 : format;
}

eb_error eb_refuse_other(const char *name, const char *data, size_t bytes, eb_mesh_format format) {
  eb_file_type type = eb_recognize(data, bytes);
  if (bytes == 0) return EB_ERROR(EB_ERR_FORMAT, "%s:1: the file is empty", name);
  if (type.refusal) return EB_ERROR(EB_ERR_FORMAT, "%s:1: %s", name, type.refusal);
  if (format == EB_FORMAT_AUTO || type.format == EB_FORMAT_AUTO ||
      reader_of(type.format) == reader_of(format))
    return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "%s:1: this file is in the format %s, not %s", name,
                  eb_mesh_format_name(type.format), eb_mesh_format_name(format));
}
