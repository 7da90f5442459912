/* VTK legacy files 2.0 to 5.1, ascii and binary, data set UNSTRUCTURED_GRID (Schroeder, Martin,
 * Lorensen, The Visualization Toolkit, file formats; version 5.1: OFFSETS and CONNECTIVITY). Binary
 * numbers are big-endian. An integral one-component cell array called region, material, part, ...
 * gives the regions; the field array "region_names" their names; three-component "fibre" the
 * fibres. */
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/mesh/io/formats.h"

static const eb_number_type INT = {"int", NULL, EB_SIGNED, 4};

typedef struct vtk {
  eb_scan *scan;
  eb_draft *draft;
  bool binary;
  int64_t cell_count, entry_count;
  int64_t *offset;    /* cell_count + 1, into entries */
  int64_t *entry;     /* node numbers of the cells */
  const char **place; /* of each cell in the file */
  int64_t *type;      /* of each cell */
  double *region;     /* of each cell, or NULL */
  double *fibre;      /* cell_count x 3, or NULL */
  bool in_cell_data;
} vtk;

/* ---- numbers --------------------------------------------------------------------------------- */

/* Reads the name of a type. */
static eb_error get_type(vtk *v, const eb_number_type **out) {
  static const eb_number_type types[] = {
      {"float", NULL, EB_REAL, 4},
      {"double", NULL, EB_REAL, 8},
      {"int", "vtkidtype", EB_SIGNED, 4}, /* ids are written as int */
      {"unsigned_int", NULL, EB_UNSIGNED, 4},
      {"long", "vtktypeint64", EB_SIGNED, 8},
      {"unsigned_long", "vtktypeuint64", EB_UNSIGNED, 8},
      {"short", NULL, EB_SIGNED, 2},
      {"unsigned_short", NULL, EB_UNSIGNED, 2},
      {"char", "signed_char", EB_SIGNED, 1},
      {"unsigned_char", NULL, EB_UNSIGNED, 1},
      {"bit", NULL, EB_BITS, 1},
      {"string", NULL, EB_TEXT, 1},
      {0},
  };
  return eb_scan_type(v->scan, eb_scan_word(v->scan), types, "VTK", out);
}

/* Numbers start behind the line of their keyword. */
static void enter(vtk *v) {
  eb_scan_next_line(v->scan);
  v->scan->binary = v->binary;
}

static eb_error fits(vtk *v, const eb_number_type *type, const char *what, int64_t count) {
  if (type->kind == EB_TEXT) return eb_scan_fits(v->scan, what, count, 1);
  if (!v->binary) return eb_scan_fits(v->scan, what, count, 2);
  if (type->kind == EB_BITS) return eb_scan_fits(v->scan, what, count / 8, 1);
  return eb_scan_fits(v->scan, what, count, (size_t)type->bytes);
}

/* A text array: a line each in ascii; in binary a length of 1, 2, 4 or 8 bytes, told by the top two
 * bits of the first, and the bytes. */
static eb_error get_text(vtk *v, eb_word *out) {
  if (!v->binary) {
    *out = eb_scan_rest(v->scan);
    return EB_OK;
  }
  const char *raw;
  int64_t length;
  EB_TRY(eb_scan_bytes(v->scan, "the length of a text", 1, &raw));
  const eb_number_type type = {.kind = EB_UNSIGNED, .bytes = 1 << (3 - ((unsigned char)*raw >> 6))};
  v->scan->at = raw;
  EB_TRY(eb_scan_typed_int(v->scan, "the length of a text", &type, &length));
  length &= (INT64_C(1) << (8 * type.bytes - 2)) - 1;
  EB_TRY(eb_scan_fits(v->scan, "bytes of a text", length, 1));
  EB_TRY(eb_scan_bytes(v->scan, "a text", (size_t)length, &raw));
  *out = (eb_word){raw, (size_t)length};
  return EB_OK;
}

static eb_error skip_values(vtk *v, const eb_number_type *type, int64_t count) {
  eb_word text;
  const char *raw;
  EB_TRY(fits(v, type, "values", count));
  if (type->kind == EB_TEXT) {
    for (int64_t i = 0; i < count; i++) EB_TRY(get_text(v, &text));
    return EB_OK;
  }
  if (v->binary) {
    int64_t bytes = type->kind == EB_BITS ? (count + 7) / 8 : count * type->bytes;
    return eb_scan_bytes(v->scan, "values", (size_t)bytes, &raw);
  }
  for (int64_t i = 0; i < count; i++)
    if (eb_scan_word(v->scan).length == 0)
      return eb_scan_error(v->scan, v->scan->end, "the file ends in the values; it is truncated");
  return EB_OK;
}

/* ---- points and cells ------------------------------------------------------------------------ */

static eb_error read_points(vtk *v) {
  const eb_number_type *type = NULL;
  int64_t count;
  if (v->draft->X) return eb_scan_error(v->scan, v->scan->at, "a second list of points");
  EB_TRY(eb_scan_int(v->scan, "the number of points", &count));
  EB_TRY(get_type(v, &type));
  if (type->kind > EB_REAL)
    return eb_scan_error(v->scan, v->scan->at, "coordinates should be numbers");
  EB_TRY(eb_scan_fits(v->scan, "points", count, 3 * (v->binary ? (size_t)type->bytes : 2)));
  enter(v);
  EB_TRY(eb_draft_nodes(v->draft, count, false));
  for (int64_t i = 0; i < 3 * count; i++)
    EB_TRY(eb_scan_typed_real(v->scan, "a coordinate of a point", type, &v->draft->X[i]));
  return EB_OK;
}

static eb_error allocate_cells(vtk *v, int64_t cells, int64_t entries) {
  EB_TRY(EB_NEW(v->offset, cells + 1));
  EB_TRY(EB_NEW(v->place, cells));
  EB_TRY(EB_NEW(v->entry, entries));
  v->cell_count = cells;
  return EB_OK;
}

static eb_error read_nodes_of_cell(vtk *v, const eb_number_type *type, int64_t cell, int64_t nodes,
                                   int64_t left) {
  if (nodes < 0 || nodes > left)
    return eb_scan_error(v->scan, v->place[cell],
                         "cell %lld has %lld nodes where %lld entries are left", (long long)cell,
                         (long long)nodes, (long long)left);
  for (int64_t a = 0; a < nodes; a++)
    EB_TRY(eb_scan_typed_int(v->scan, "a node of a cell", type, &v->entry[v->entry_count++]));
  v->offset[cell + 1] = v->entry_count;
  return EB_OK;
}

/* Before 5.0: each cell as its number of nodes and the nodes, int. */
static eb_error read_counted_cells(vtk *v, int64_t cells, int64_t size) {
  EB_TRY(eb_scan_fits(v->scan, "entries of cells", size, v->binary ? 4 : 2));
  if (cells < 0 || cells > size)
    return eb_scan_error(v->scan, v->scan->at, "%lld cells in %lld entries", (long long)cells,
                         (long long)size);
  EB_TRY(allocate_cells(v, cells, size));
  for (int64_t c = 0; c < cells; c++) {
    int64_t nodes;
    v->place[c] = eb_scan_place(v->scan);
    EB_TRY(eb_scan_typed_int(v->scan, "the number of nodes of a cell", &INT, &nodes));
    EB_TRY(read_nodes_of_cell(v, &INT, c, nodes, size - c - 1 - v->entry_count));
  }
  if (v->entry_count + cells != size)
    return eb_scan_error(v->scan, v->scan->at, "%lld cells hold %lld entries, not %lld",
                         (long long)cells, (long long)(v->entry_count + cells), (long long)size);
  return EB_OK;
}

static eb_error enter_array(vtk *v, const char *keyword, int64_t count,
                            const eb_number_type **type) {
  v->scan->binary = false;
  eb_word word = eb_scan_word(v->scan);
  if (!eb_word_is(word, keyword))
    return eb_scan_error(v->scan, word.text, "'%s' should stand here", keyword);
  EB_TRY(get_type(v, type));
  if ((*type)->kind > EB_UNSIGNED)
    return eb_scan_error(v->scan, word.text, "%s should hold integers", keyword);
  enter(v);
  return fits(v, *type, keyword, count);
}

/* From 5.0: all offsets, one more than cells, then all nodes. */
static eb_error read_offset_cells(vtk *v, int64_t offsets, int64_t entries) {
  const eb_number_type *type = NULL;
  EB_TRY(enter_array(v, "OFFSETS", offsets, &type));
  EB_TRY(eb_scan_fits(v->scan, "entries of cells", entries, 1));
  EB_TRY(allocate_cells(v, offsets > 0 ? offsets - 1 : 0, entries));
  for (int64_t c = 0; c < offsets; c++) {
    EB_TRY(eb_scan_typed_int(v->scan, "an offset of a cell", type, &v->offset[c]));
    if (v->offset[c] < (c ? v->offset[c - 1] : 0) || v->offset[c] > entries)
      return eb_scan_error(v->scan, v->scan->at, "offset %lld of cell %lld is out of order",
                           (long long)v->offset[c], (long long)c);
  }
  if (v->offset[0] != 0)
    return eb_scan_error(v->scan, v->scan->at, "the first offset is %lld, not 0",
                         (long long)v->offset[0]);
  EB_TRY(enter_array(v, "CONNECTIVITY", entries, &type));
  for (int64_t c = 0; c < v->cell_count; c++) {
    v->place[c] = eb_scan_place(v->scan);
    EB_TRY(
        read_nodes_of_cell(v, type, c, v->offset[c + 1] - v->offset[c], entries - v->entry_count));
  }
  return EB_OK;
}

static eb_error read_cells(vtk *v) {
  int64_t first, second;
  if (v->offset) return eb_scan_error(v->scan, v->scan->at, "a second list of cells");
  EB_TRY(eb_scan_int(v->scan, "the number of cells", &first));
  EB_TRY(eb_scan_int(v->scan, "the number of entries of the cells", &second));
  EB_TRY(eb_scan_fits(v->scan, "cells", first, 1));
  enter(v);
  if (eb_word_is(eb_scan_peek(v->scan), "OFFSETS")) return read_offset_cells(v, first, second);
  return read_counted_cells(v, first, second);
}

static eb_error read_cell_types(vtk *v) {
  int64_t count;
  EB_TRY(eb_scan_int(v->scan, "the number of cell types", &count));
  if (count != v->cell_count || v->type)
    return eb_scan_error(v->scan, v->scan->at, "%lld cell types for %lld cells", (long long)count,
                         (long long)v->cell_count);
  enter(v);
  EB_TRY(fits(v, &INT, "cell types", count));
  EB_TRY(EB_NEW(v->type, count));
  for (int64_t c = 0; c < count; c++)
    EB_TRY(eb_scan_typed_int(v->scan, "the type of a cell", &INT, &v->type[c]));
  return EB_OK;
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Names of cell arrays, as programs write them. */
static const char *const region_names[] = {
    "region",        "regions",       "region_id",  "regionid",    "material",
    "materials",     "material_id",   "materialid", "materialids", "mat",
    "mat_id",        "part",          "part_id",    "partid",      "domain",
    "label",         "labels",        "group",      "attribute",   "physical",
    "cellentityids", "gmsh:physical", "medit:ref",  "tetgen:ref",  NULL};
static const char *const fibre_names[] = {"fibre", "fiber", "fibres", "fibers", NULL};

/* One data array: kept when it holds the regions or fibres of the cells, else skipped. */
static eb_error read_array(vtk *v, eb_word name, const eb_number_type *type, int64_t components,
                           int64_t tuples) {
  if (components < 0 || tuples < 0 || components > INT32_MAX || tuples > INT32_MAX)
    return eb_scan_error(v->scan, name.text, "an array of %lld x %lld values", (long long)tuples,
                         (long long)components);
  int64_t count = components * tuples;
  bool usable = v->in_cell_data && type->kind <= EB_REAL && tuples == v->cell_count;
  bool region = usable && components == 1 && !v->region && eb_word_is_among(name, region_names);
  bool fibre = usable && components == 3 && !v->fibre && eb_word_is_among(name, fibre_names);
  if (!region && !fibre) return skip_values(v, type, count);
  EB_TRY(fits(v, type, "values", count));
  double **values = region ? &v->region : &v->fibre;
  EB_TRY(EB_NEW(*values, count));
  for (int64_t i = 0; i < count; i++)
    EB_TRY(eb_scan_typed_real(v->scan, "a value of a cell", type, &(*values)[i]));
  return EB_OK;
}

static int hexadecimal(char c) {
  static const char digits[] = "0123456789abcdef0123456789ABCDEF";
  const char *found = c ? strchr(digits, c) : NULL;
  return found ? (int)((found - digits) % 16) : -1;
}

/* In ascii, %20 stands for a space and so on. Returns the new length. */
static size_t decode(eb_word text, char *out, size_t room) {
  size_t length = 0;
  for (size_t i = 0; i < text.length && length < room; i++) {
    bool coded = text.text[i] == '%' && i + 2 < text.length;
    int high = coded ? hexadecimal(text.text[i + 1]) : -1;
    int low = coded ? hexadecimal(text.text[i + 2]) : -1;
    if (high >= 0 && low >= 0) i += 2;
    out[length++] = high >= 0 && low >= 0 ? (char)(16 * high + low) : text.text[i];
  }
  return length;
}

static eb_error read_region_names(vtk *v, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    eb_word name;
    char plain[EB_NAME_BYTES];
    EB_TRY(get_text(v, &name));
    size_t length = v->binary ? sizeof plain : decode(name, plain, sizeof plain);
    /* One that stays too long is left as it is, to be refused where it stands. */
    if (length < sizeof plain) name = (eb_word){plain, length};
    EB_TRY(eb_draft_name(v->draft, v->scan, i, name));
  }
  return EB_OK;
}

/* METADATA runs to a blank line. */
static void skip_metadata(vtk *v) {
  eb_scan_next_line(v->scan);
  while (v->scan->at < v->scan->end && eb_scan_rest(v->scan).length > 0) continue;
}

static eb_error read_field(vtk *v) {
  int64_t arrays, components, tuples;
  eb_scan_word(v->scan);
  EB_TRY(eb_scan_count(v->scan, "arrays of a field", 8, &arrays));
  for (int64_t i = 0; i < arrays; i++) {
    v->scan->binary = false;
    eb_word name = eb_scan_word(v->scan);
    while (eb_word_is(name, "METADATA")) {
      skip_metadata(v);
      name = eb_scan_word(v->scan);
    }
    const eb_number_type *type = NULL;
    EB_TRY(eb_scan_int(v->scan, "the number of components of an array", &components));
    EB_TRY(eb_scan_int(v->scan, "the number of tuples of an array", &tuples));
    EB_TRY(get_type(v, &type));
    enter(v);
    if (type->kind == EB_TEXT && components == 1 && eb_word_is(name, "region_names"))
      EB_TRY(read_region_names(v, tuples));
    else
      EB_TRY(read_array(v, name, type, components, tuples));
  }
  return EB_OK;
}

/* COLOR_SCALARS and LOOKUP_TABLE: "KEYWORD name n", bytes in binary, reals in ascii. */
static eb_error skip_colours(vtk *v, bool table, int64_t tuples) {
  static const eb_number_type bytes = {"unsigned_char", NULL, EB_UNSIGNED, 1};
  int64_t count;
  eb_scan_word(v->scan);
  EB_TRY(eb_scan_count(v->scan, "colours", 1, &count));
  enter(v);
  return skip_values(v, &bytes, count * (table ? 4 : tuples));
}

/* "KEYWORD name type", where the number of components is fixed, stands before the type or, if at
 * all, behind it, with a line for a lookup table. */
static eb_error read_attribute(vtk *v, eb_word keyword, int64_t tuples) {
  enum { BEFORE = -1, BEHIND = 0 };
  static const struct {
    const char *keyword;
    int components;
  } known[] = {{"VECTORS", 3},      {"NORMALS", 3},
               {"TENSORS", 9},      {"TENSORS6", 6},
               {"GLOBAL_IDS", 1},   {"PEDIGREE_IDS", 1},
               {"EDGE_FLAGS", 1},   {"TEXTURE_COORDINATES", BEFORE},
               {"SCALARS", BEHIND}, {NULL, 0}};
  const eb_number_type *type = NULL;
  if (eb_word_is(keyword, "FIELD")) return read_field(v);
  if (eb_word_is(keyword, "COLOR_SCALARS")) return skip_colours(v, false, tuples);
  if (eb_word_is(keyword, "LOOKUP_TABLE")) return skip_colours(v, true, tuples);
  size_t k = 0;
  while (known[k].keyword && !eb_word_is(keyword, known[k].keyword)) k++;
  if (!known[k].keyword)
    return eb_scan_error(v->scan, keyword.text, "'%.*s' is no keyword of a VTK file",
                         EB_SHOWN(keyword));
  int64_t components = known[k].components;
  eb_word name = eb_scan_word(v->scan);
  if (components == BEFORE) EB_TRY(eb_scan_int(v->scan, "the number of components", &components));
  EB_TRY(get_type(v, &type));
  if (known[k].components == BEHIND) {
    components = 1;
    eb_word word = eb_scan_word_in_line(v->scan);
    if (word.length && !eb_word_int(word, &components))
      return eb_scan_error(v->scan, word.text, "the number of components should be an integer");
    eb_scan_next_line(v->scan);
    if (eb_word_is(eb_scan_peek(v->scan), "LOOKUP_TABLE")) eb_scan_rest(v->scan);
    v->scan->binary = v->binary;
  } else {
    enter(v);
  }
  return read_array(v, name, type, components, tuples);
}

/* ---- the file -------------------------------------------------------------------------------- */

static eb_error read_header(vtk *v) {
  eb_scan *scan = v->scan;
  eb_scan_rest(scan);
  eb_scan_next_line(scan);
  eb_word word = eb_scan_word(scan);
  v->binary = eb_word_is(word, "BINARY");
  if (!v->binary && !eb_word_is(word, "ASCII"))
    return eb_scan_error(scan, word.text, "the third line should be ASCII or BINARY");
  word = eb_scan_word(scan);
  while (eb_word_is(word, "FIELD")) {
    EB_TRY(read_field(v));
    scan->binary = false;
    word = eb_scan_word(scan);
  }
  eb_word kind = eb_scan_word(scan);
  if (!eb_word_is(word, "DATASET"))
    return eb_scan_error(scan, word.text, "'DATASET UNSTRUCTURED_GRID' should stand here");
  if (!eb_word_is(kind, "UNSTRUCTURED_GRID"))
    return eb_scan_error(scan, kind.text,
                         "data set '%.*s' holds no volume mesh; save an UNSTRUCTURED_GRID",
                         EB_SHOWN(kind));
  return EB_OK;
}

static eb_error read_parts(vtk *v) {
  int64_t tuples = 0;
  for (;;) {
    v->scan->binary = false;
    eb_word keyword = eb_scan_word(v->scan);
    if (keyword.length == 0) return EB_OK;
    bool cells = eb_word_is(keyword, "CELL_DATA");
    if (eb_word_is(keyword, "METADATA")) {
      skip_metadata(v);
    } else if (eb_word_is(keyword, "POINTS")) {
      EB_TRY(read_points(v));
    } else if (eb_word_is(keyword, "CELLS")) {
      EB_TRY(read_cells(v));
    } else if (eb_word_is(keyword, "CELL_TYPES")) {
      EB_TRY(read_cell_types(v));
    } else if (cells || eb_word_is(keyword, "POINT_DATA")) {
      v->in_cell_data = cells;
      EB_TRY(eb_scan_int(v->scan, "the number of values", &tuples));
      int64_t wanted = cells ? v->cell_count : v->draft->node_count;
      if (tuples != wanted)
        return eb_scan_error(v->scan, v->scan->at, "data for %lld %s, but there are %lld",
                             (long long)tuples, cells ? "cells" : "points", (long long)wanted);
    } else {
      EB_TRY(read_attribute(v, keyword, tuples));
    }
  }
}

enum { VOXEL = 11 };

/* What a mesh keeps of a cell: `corners` of at least `nodes`. Volume cells without corners are not
 * supported; cells of fewer dimensions have -1 and are ignored, but their nodes must agree, which
 * tells a file that ends within the types. */
typedef struct cell_type {
  signed char corners, nodes;
} cell_type;

static cell_type cell_type_of(int64_t type) {
  static const cell_type types[] = {
      [1] = {-1, 1},  [3] = {-1, 2},    [5] = {-1, 3},  [8] = {-1, 4},  [9] = {-1, 4},
      [10] = {4, 4},  [VOXEL] = {8, 8}, [12] = {8, 8},  [13] = {0, 6},  [14] = {0, 5},
      [15] = {0, 10}, [16] = {0, 12},   [21] = {-1, 3}, [22] = {-1, 6}, [23] = {-1, 8},
      [24] = {4, 10}, [25] = {8, 20},   [26] = {0, 15}, [27] = {0, 13}, [28] = {-1, 9},
      [29] = {8, 27}, [32] = {0, 18},   [33] = {8, 24}, [37] = {0, 19}, [42] = {0, 1},
      [71] = {4, 4},  [72] = {8, 8},    [73] = {0, 6},  [74] = {0, 5},  [78] = {4, 4},
      [79] = {8, 8},  [80] = {0, 6},    [81] = {0, 5},
  };
  bool listed = type >= 0 && type < (int64_t)(sizeof types / sizeof *types) && types[type].nodes;
  return listed ? types[type] : (cell_type){-1, 0};
}

static eb_error add_cell(vtk *v, int64_t c) {
  cell_type type = cell_type_of(v->type[c]);
  int64_t count = v->offset[c + 1] - v->offset[c], *nodes = v->entry + v->offset[c];
  if (type.corners == 0)
    return eb_scan_error(v->scan, v->place[c],
                         "cell %lld of type %lld is not supported; mesh with tetrahedra or "
                         "hexahedra",
                         (long long)c, (long long)v->type[c]);
  bool fixed = type.corners < 0 && type.nodes > 0;
  if (count < type.nodes || (fixed && count != type.nodes))
    return eb_scan_error(v->scan, v->place[c],
                         "cell %lld of type %lld has %lld nodes; it should have %d", (long long)c,
                         (long long)v->type[c], (long long)count, type.nodes);
  if (type.corners < 0) return EB_OK;
  for (int a = 2; v->type[c] == VOXEL && a < 8; a += 4) { /* its rows all run the same way */
    int64_t third = nodes[a];
    nodes[a] = nodes[a + 1];
    nodes[a + 1] = third;
  }
  int64_t label = v->region ? (int64_t)v->region[c] : 0;
  size_t e = v->draft->element_count;
  EB_TRY(
      eb_draft_element(v->draft, v->scan, v->place[c], c, type.corners, (int)count, nodes, label));
  if (v->fibre) memcpy(v->draft->fibre + 3 * e, v->fibre + 3 * c, 24);
  return EB_OK;
}

static eb_error read_file(vtk *v) {
  v->scan->big_endian = true;
  EB_TRY(read_header(v));
  EB_TRY(read_parts(v));
  if (!v->draft->X) return eb_scan_error(v->scan, v->scan->end, "there are no POINTS");
  if (v->cell_count > 0 && !v->type)
    return eb_scan_error(v->scan, v->scan->end, "there are no CELL_TYPES");
  v->scan->binary = v->binary;
  for (int64_t c = 0; v->region && c < v->cell_count; c++)
    if (v->region[c] != rint(v->region[c]) || fabs(v->region[c]) > INT32_MAX) {
      free(v->region);
      v->region = NULL;
    }
  if (v->fibre) EB_TRY(EB_NEW(v->draft->fibre, 3 * v->cell_count));
  for (int64_t c = 0; c < v->cell_count; c++) EB_TRY(add_cell(v, c));
  return EB_OK;
}

eb_error eb_read_vtk(eb_scan *scan, eb_draft *draft) {
  vtk v = {.scan = scan, .draft = draft};
  eb_error error = read_file(&v);
  free(v.fibre);
  free(v.region);
  free(v.type);
  free(v.place);
  free(v.entry);
  free(v.offset);
  return error;
}
