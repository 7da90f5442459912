/* Readers of surfaces: OBJ, OFF, STL, PLY. */
#include <string.h>

#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/mesh/io/formats.h"

/* ---- vertices and polygons ------------------------------------------------------------------- */

/* What a reader gathers before it becomes a surface: vertices from 0, polygons fanned into
 * triangles. */
typedef struct facet_list {
  size_t vertex_count, vertex_capacity, triangle_count, triangle_capacity;
  double *X;
  int64_t *corner; /* triangle_count x 3 */
  const char **place;
  const eb_scan *source;
  int64_t base;   /* number of the first vertex in messages */
  int64_t fan[2]; /* first and latest corner of the polygon under way */
} facet_list;

/* Vertices by their positions, of formats and files that repeat them: bitwise equal ones are one, 0
 * and -0 being equal. Start from {0}. */
typedef struct vertex_table {
  int64_t *slot;   /* vertex + 1; 0: empty */
  size_t capacity; /* a power of two */
} vertex_table;

static eb_error add_vertex(facet_list *facets, const double x[3]) {
  EB_TRY(eb_grow(&facets->X, facets->vertex_count, &facets->vertex_capacity, 3 * sizeof *x));
  memcpy(facets->X + 3 * facets->vertex_count++, x, 3 * sizeof *x);
  return EB_OK;
}

/* Corner i of a polygon, in order; from the third on, each makes a triangle with the first. */
static eb_error add_corner(facet_list *facets, const eb_scan *scan, const char *place, int64_t i,
                           int64_t corner) {
  facets->source = scan;
  if (i >= 2) {
    size_t count = facets->triangle_count, capacity = facets->triangle_capacity;
    EB_TRY(eb_grow(&facets->corner, count, &capacity, 3 * sizeof *facets->corner));
    EB_TRY(eb_grow(&facets->place, count, &facets->triangle_capacity, sizeof *facets->place));
    int64_t *triangle = facets->corner + 3 * count;
    triangle[0] = facets->fan[0];
    triangle[1] = facets->fan[1];
    triangle[2] = corner;
    facets->place[count] = place;
    facets->triangle_count++;
  }
  facets->fan[i > 0] = corner;
  return EB_OK;
}

static size_t slot_of(const vertex_table *j, const facet_list *facets, const double x[3]) {
  size_t i = (size_t)(eb_hash(EB_HASH_SEED, x, 3 * sizeof *x) & (j->capacity - 1));
  while (j->slot[i] && memcmp(facets->X + 3 * (j->slot[i] - 1), x, 3 * sizeof *x) != 0)
    i = (i + 1) & (j->capacity - 1);
  return i;
}

/* *out is the vertex of `facets` at x, which is added when there is none. */
static eb_error join_vertex(vertex_table *j, facet_list *facets, const double position[3],
                            int64_t *out) {
  double x[3];
  if (2 * (facets->vertex_count + 1) > j->capacity) {
    free(j->slot);
    j->slot = NULL;
    j->capacity = j->capacity ? 4 * j->capacity : 1024;
    EB_TRY(EB_NEW(j->slot, j->capacity));
    for (size_t v = 0; v < facets->vertex_count; v++)
      j->slot[slot_of(j, facets, facets->X + 3 * v)] = (int64_t)v + 1;
  }
  for (int d = 0; d < 3; d++) x[d] = position[d] + 0.0; /* -0 becomes 0 */
  size_t i = slot_of(j, facets, x);
  if (!j->slot[i]) {
    EB_TRY(add_vertex(facets, x));
    j->slot[i] = (int64_t)facets->vertex_count;
  }
  *out = j->slot[i] - 1;
  return EB_OK;
}

/* ---- OBJ ------------------------------------------------------------------------------------- */

/* Wavefront OBJ: v and f lines; texture, normals, groups, lines and points are ignored. An index
 * below zero counts back from the vertex listed last. */

/* The corners of a face behind its keyword at `place`: v, v/t, v//n or v/t/n. A line that ends in a
 * backslash goes on with the next one. */
static eb_error read_obj_face(eb_scan *scan, facet_list *facets, const char *place) {
  int64_t index, corners = 0, count = (int64_t)facets->vertex_count;
  for (;; corners++) {
    eb_word word = eb_scan_word_in_line(scan);
    while (eb_word_is(word, "\\")) {
      eb_scan_next_line(scan);
      word = eb_scan_word_in_line(scan);
    }
    if (word.length == 0) break;
    eb_word vertex = {.text = word.text};
    while (vertex.length < word.length && word.text[vertex.length] != '/') vertex.length++;
    if (!eb_word_int(vertex, &index) || index == 0)
      return eb_scan_error(scan, word.text,
                           "a corner of a face should be v, v/t, v//n or v/t/n, counted from 1, "
                           "not '%.*s'",
                           EB_SHOWN(word));
    if (index < -count)
      return eb_scan_error(scan, word.text, "vertex %lld counts back beyond the first of %lld",
                           (long long)index, (long long)count);
    EB_TRY(add_corner(facets, scan, place, corners, index < 0 ? count + index : index - 1));
  }
  if (corners < 3)
    return eb_scan_error(scan, place, "a face has %lld corners; it needs 3", (long long)corners);
  return EB_OK;
}

static eb_error read_obj(eb_scan *scan, facet_list *facets) {
  scan->comment = '#';
  facets->base = 1;
  while (eb_scan_more(scan)) {
    eb_word keyword = eb_scan_word(scan);
    if (eb_word_is(keyword, "v")) {
      double x[3];
      for (int d = 0; d < 3; d++) {
        eb_word word = eb_scan_word_in_line(scan);
        scan->at = word.text;
        if (word.length == 0) return eb_scan_error(scan, word.text, "a vertex needs 3 coordinates");
        EB_TRY(eb_scan_real(scan, "a coordinate of a vertex", &x[d]));
      }
      EB_TRY(add_vertex(facets, x));
    } else if (eb_word_is(keyword, "f")) {
      EB_TRY(read_obj_face(scan, facets, keyword.text));
    }
    eb_scan_next_line(scan);
  }
  return EB_OK;
}

/* ---- OFF ------------------------------------------------------------------------------------- */

/* OFF and its kin COFF, NOFF, STOFF, CNOFF (Geomview manual, "OFF files"): what follows the
 * position of a vertex and the corners of a face on their lines is ignored. The keyword may be
 * missing, and the counts may stand on its line. */

static eb_error read_off(eb_scan *scan, facet_list *facets) {
  int64_t vertices, faces;
  scan->comment = '#';
  eb_word word = eb_scan_peek(scan);
  if (!eb_word_int(word, &vertices)) {
    eb_scan_word(scan);
    if (word.length < 3 || !eb_word_is((eb_word){word.text + word.length - 3, 3}, "OFF"))
      return eb_scan_error(scan, word.text, "an OFF file starts with 'OFF'");
    for (size_t i = 0; i + 3 < word.length; i++)
      if (word.text[i] == '4' || word.text[i] == 'n')
        return eb_scan_error(scan, word.text, "only OFF files in three dimensions are supported");
    if (eb_word_is(eb_scan_peek(scan), "BINARY"))
      return eb_scan_error(scan, word.text, "binary OFF is not supported; save it as ascii");
  }
  EB_TRY(eb_scan_count(scan, "vertices", 6, &vertices));
  EB_TRY(eb_scan_count(scan, "faces", 8, &faces));
  eb_scan_next_line(scan);
  for (int64_t v = 0; v < vertices; v++) {
    double x[3];
    EB_TRY(eb_scan_reals(scan, "a coordinate of a vertex", 3, x));
    EB_TRY(add_vertex(facets, x));
    eb_scan_next_line(scan);
  }
  for (int64_t f = 0; f < faces; f++) {
    int64_t corners, corner;
    const char *place = eb_scan_place(scan);
    EB_TRY(eb_scan_count(scan, "corners of a face", 2, &corners));
    if (corners < 3)
      return eb_scan_error(scan, place, "a face has %lld corners; it needs 3", (long long)corners);
    for (int64_t i = 0; i < corners; i++) {
      EB_TRY(eb_scan_int(scan, "a corner of a face", &corner));
      EB_TRY(add_corner(facets, scan, place, i, corner));
    }
    eb_scan_next_line(scan);
  }
  return EB_OK;
}

/* ---- STL ------------------------------------------------------------------------------------- */

/* STL, ascii and binary. The format repeats the vertices of every facet: those that are bitwise
 * equal are joined (0 and -0 count as equal), and facets that this leaves with two equal corners
 * are dropped, which opens no edge. Normals are ignored. */

enum { HEADER = 84, FACET = 50 };

static eb_error add_facet(vertex_table *j, facet_list *facets, const eb_scan *scan,
                          const char *place, double x[3][3]) {
  int64_t corner[3];
  for (int a = 0; a < 3; a++) EB_TRY(join_vertex(j, facets, x[a], &corner[a]));
  if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) return EB_OK;
  for (int a = 0; a < 3; a++) EB_TRY(add_corner(facets, scan, place, a, corner[a]));
  return EB_OK;
}

static eb_error read_raw(vertex_table *j, eb_scan *scan, facet_list *facets) {
  static const eb_number_type count_type = {.kind = EB_UNSIGNED, .bytes = 4};
  static const eb_number_type real_type = {.kind = EB_REAL, .bytes = 4};
  const char *header;
  int64_t count;
  scan->binary = true;
  scan->at = scan->begin;
  EB_TRY(eb_scan_bytes(scan, "the header", HEADER - 4, &header));
  EB_TRY(eb_scan_typed_int(scan, "the number of facets", &count_type, &count));
  EB_TRY(eb_scan_fits(scan, "facets", count, FACET));
  for (int64_t f = 0; f < count; f++) {
    double x[4][3]; /* normal, corners */
    const char *place = scan->at, *attribute;
    EB_TRY(eb_scan_bytes(scan, "a normal", 12, &attribute));
    for (int i = 3; i < 12; i++)
      EB_TRY(eb_scan_typed_real(scan, "a coordinate of a facet", &real_type, &x[i / 3][i % 3]));
    EB_TRY(eb_scan_bytes(scan, "the attribute of a facet", 2, &attribute));
    EB_TRY(add_facet(j, facets, scan, place, x + 1));
  }
  return EB_OK;
}

static eb_error expect(eb_scan *scan, const char *wanted) {
  eb_word word = eb_scan_word(scan);
  if (eb_word_is(word, wanted)) return EB_OK;
  return eb_scan_error(scan, word.text, "'%s' should stand here, not '%.*s'%s", wanted,
                       EB_SHOWN(word), word.length ? "" : "; the file is truncated");
}

/* The normal may be anything, nan in some files. */
static eb_error read_text(vertex_table *j, eb_scan *scan, facet_list *facets) {
  bool open = false;
  while (eb_scan_more(scan)) {
    double x[3][3];
    eb_word word = eb_scan_word(scan);
    if (eb_word_is(word, "facet") && open) {
      EB_TRY(expect(scan, "normal"));
      for (int d = 0; d < 3; d++) eb_scan_word(scan);
      EB_TRY(expect(scan, "outer"));
      EB_TRY(expect(scan, "loop"));
      for (int a = 0; a < 3; a++) {
        EB_TRY(expect(scan, "vertex"));
        EB_TRY(eb_scan_reals(scan, "a coordinate of a vertex", 3, x[a]));
      }
      EB_TRY(expect(scan, "endloop"));
      EB_TRY(expect(scan, "endfacet"));
      EB_TRY(add_facet(j, facets, scan, word.text, x));
      continue;
    }
    if (!eb_word_is(word, open ? "endsolid" : "solid"))
      return eb_scan_error(scan, word.text, "'%s' should stand here, not '%.*s'",
                           open ? "facet' or 'endsolid" : "solid", EB_SHOWN(word));
    open = !open;
    eb_scan_next_line(scan);
  }
  if (open) return eb_scan_error(scan, scan->end, "there is no 'endsolid'; the file is truncated");
  return EB_OK;
}

eb_mesh_format eb_stl_kind(const char *data, size_t bytes) {
  eb_scan scan;
  if (bytes >= HEADER) {
    const unsigned char *raw = (const unsigned char *)data + HEADER - 4;
    uint64_t count =
        raw[0] | (uint64_t)raw[1] << 8 | (uint64_t)raw[2] << 16 | (uint64_t)raw[3] << 24;
    if (count * FACET + HEADER == bytes) return EB_FORMAT_STL_BINARY;
  }
  eb_scan_start(&scan, "", data, bytes);
  return eb_word_is(eb_scan_word(&scan), "solid") ? EB_FORMAT_STL : EB_FORMAT_AUTO;
}

static eb_error read_stl(eb_scan *scan, facet_list *facets) {
  vertex_table j = {0};
  bool text = eb_stl_kind(scan->begin, (size_t)(scan->end - scan->begin)) == EB_FORMAT_STL;
  eb_error error = text ? read_text(&j, scan, facets) : read_raw(&j, scan, facets);
  free(j.slot);
  return error;
}

/* ---- PLY ------------------------------------------------------------------------------------- */

/* PLY, ascii and binary of either byte order (Turk, The PLY polygon file format, 1994): elements
 * and properties come in any order and of any type; only positions and face corners are kept. */

enum { MOST_ELEMENTS = 32, MOST_PROPERTIES = 128 };

typedef enum role { ROLE_NONE, ROLE_X, ROLE_Y, ROLE_Z, ROLE_CORNERS } role;

typedef struct property {
  const eb_number_type *count; /* of a list, else NULL */
  const eb_number_type *type;
  role role;
} property;

typedef struct element {
  bool is_vertex, is_face;
  int64_t count;
  int properties;
  property property[MOST_PROPERTIES];
} element;

typedef struct ply {
  eb_scan *scan;
  facet_list *facets;
  bool binary;
  int elements;
  element element[MOST_ELEMENTS];
} ply;

/* ---- header ---------------------------------------------------------------------------------- */

static const eb_number_type ply_types[] = {
    {"char", "int8", EB_SIGNED, 1},
    {"uchar", "uint8", EB_UNSIGNED, 1},
    {"short", "int16", EB_SIGNED, 2},
    {"ushort", "uint16", EB_UNSIGNED, 2},
    {"int", "int32", EB_SIGNED, 4},
    {"uint", "uint32", EB_UNSIGNED, 4},
    {"float", "float32", EB_REAL, 4},
    {"double", "float64", EB_REAL, 8},
    {0},
};

static eb_error read_property(ply *p, const char *place) {
  if (p->elements == 0) return eb_scan_error(p->scan, place, "a property before any element");
  element *e = &p->element[p->elements - 1];
  if (e->properties == MOST_PROPERTIES)
    return eb_scan_error(p->scan, place, "more than %d properties", MOST_PROPERTIES);
  property *fresh = &e->property[e->properties++];
  eb_word word = eb_scan_word_in_line(p->scan);
  if (eb_word_is(word, "list")) {
    EB_TRY(eb_scan_type(p->scan, eb_scan_word_in_line(p->scan), ply_types, "PLY", &fresh->count));
    if (fresh->count->kind == EB_REAL)
      return eb_scan_error(p->scan, place, "the length of a list should be an integer");
    word = eb_scan_word_in_line(p->scan);
  }
  EB_TRY(eb_scan_type(p->scan, word, ply_types, "PLY", &fresh->type));
  eb_word name = eb_scan_word_in_line(p->scan);
  bool corners = eb_word_is(name, "vertex_indices") || eb_word_is(name, "vertex_index");
  if (e->is_face && fresh->count && corners) fresh->role = ROLE_CORNERS;
  for (int d = 0; e->is_vertex && !fresh->count && d < 3; d++)
    if (eb_word_is(name, (const char *const[]){"x", "y", "z"}[d])) fresh->role = ROLE_X + (role)d;
  if (fresh->role == ROLE_CORNERS && fresh->type->kind == EB_REAL)
    return eb_scan_error(p->scan, place, "the corners of a face should be integers");
  return EB_OK;
}

static eb_error read_header(ply *p) {
  bool has_format = false;
  eb_scan_rest(p->scan);
  for (;;) {
    eb_word word = eb_scan_word(p->scan);
    if (word.length == 0)
      return eb_scan_error(p->scan, word.text, "the header has no 'end_header'; it is truncated");
    if (eb_word_is(word, "end_header")) break;
    if (eb_word_is(word, "format")) {
      has_format = true;
      eb_word format = eb_scan_word_in_line(p->scan);
      p->binary = eb_word_starts(format, "binary");
      p->scan->big_endian = eb_word_is(format, "binary_big_endian");
      if (!eb_word_is(format, "ascii") && !eb_word_is(format, "binary_little_endian") &&
          !p->scan->big_endian)
        return eb_scan_error(
            p->scan, word.text,
            "the format is ascii, binary_little_endian or binary_big_endian, not '%.*s'",
            EB_SHOWN(format));
    } else if (eb_word_is(word, "element")) {
      if (p->elements == MOST_ELEMENTS)
        return eb_scan_error(p->scan, word.text, "more than %d elements", MOST_ELEMENTS);
      element *e = &p->element[p->elements++];
      eb_word name = eb_scan_word_in_line(p->scan);
      e->is_vertex = eb_word_is(name, "vertex");
      e->is_face = eb_word_is(name, "face");
      if (eb_word_is(name, "tristrips"))
        return eb_scan_error(p->scan, word.text, "triangle strips are not supported; save faces");
      EB_TRY(eb_scan_int(p->scan, "the number of entries of an element", &e->count));
    } else if (eb_word_is(word, "property")) {
      EB_TRY(read_property(p, word.text));
    } else if (!eb_word_is(word, "comment") && !eb_word_is(word, "obj_info")) {
      return eb_scan_error(p->scan, word.text, "'%.*s' is no keyword of a PLY header",
                           EB_SHOWN(word));
    }
    eb_scan_next_line(p->scan);
  }
  if (!has_format) return eb_scan_error(p->scan, p->scan->at, "the header names no format");
  eb_scan_next_line(p->scan);
  p->scan->binary = p->binary;
  return EB_OK;
}

/* ---- data ------------------------------------------------------------------------------------ */

static eb_error skip_value(ply *p, const eb_number_type *type) {
  const char *raw;
  if (p->binary) return eb_scan_bytes(p->scan, "a property", (size_t)type->bytes, &raw);
  if (eb_scan_word(p->scan).length) return EB_OK;
  return eb_scan_error(p->scan, p->scan->end, "the file ends in the properties; it is truncated");
}

static eb_error read_list(ply *p, const property *list, const char *place) {
  int64_t count;
  EB_TRY(eb_scan_typed_int(p->scan, "the length of a list", list->count, &count));
  EB_TRY(
      eb_scan_fits(p->scan, "entries of a list", count, p->binary ? (size_t)list->type->bytes : 2));
  if (list->role == ROLE_CORNERS && count < 3)
    return eb_scan_error(p->scan, place, "a face has %lld corners; it needs 3", (long long)count);
  for (int64_t i = 0; i < count; i++) {
    int64_t corner;
    if (list->role != ROLE_CORNERS) {
      EB_TRY(skip_value(p, list->type));
      continue;
    }
    EB_TRY(eb_scan_typed_int(p->scan, "a corner of a face", list->type, &corner));
    EB_TRY(add_corner(p->facets, p->scan, place, i, corner));
  }
  return EB_OK;
}

static eb_error read_entry(ply *p, const element *e) {
  double x[3] = {0};
  if (!p->binary) eb_scan_more(p->scan);
  const char *place = p->scan->at;
  for (int i = 0; i < e->properties; i++) {
    const property *one = &e->property[i];
    if (one->count)
      EB_TRY(read_list(p, one, place));
    else if (one->role == ROLE_NONE)
      EB_TRY(skip_value(p, one->type));
    else
      EB_TRY(eb_scan_typed_real(p->scan, "a coordinate of a vertex", one->type,
                                &x[one->role - ROLE_X]));
  }
  return e->is_vertex ? add_vertex(p->facets, x) : EB_OK;
}

static eb_error read_ply(eb_scan *scan, facet_list *facets) {
  ply p = {.scan = scan, .facets = facets};
  EB_TRY(read_header(&p));
  for (const element *e = p.element; e < p.element + p.elements; e++) {
    bool has[ROLE_CORNERS + 1] = {false};
    size_t least = 0; /* bytes of an entry */
    for (const property *one = e->property; one < e->property + e->properties; one++) {
      has[one->role] = true;
      least += !p.binary ? 2 : (size_t)(one->count ? one->count->bytes : one->type->bytes);
    }
    if (e->is_vertex && !(has[ROLE_X] && has[ROLE_Y] && has[ROLE_Z]))
      return eb_scan_error(scan, scan->begin, "vertices need the properties x, y and z");
    if (e->is_face && !has[ROLE_CORNERS])
      return eb_scan_error(scan, scan->begin, "faces need the list vertex_indices");
    /* An element without properties takes no room, and is skipped. */
    if (e->properties == 0) continue;
    EB_TRY(eb_scan_fits(scan, "entries of an element", e->count, least));
    for (int64_t n = 0; n < e->count; n++) EB_TRY(read_entry(&p, e));
  }
  return EB_OK;
}

/* ---- soups ----------------------------------------------------------------------------------- */

/* A file that repeats the vertices for every face has one for each corner, more than triangles,
 * where a closed surface has half as many; and less than half of them are in places of their own. A
 * surface with seams or bodies that touch has more, and is left. Triangles that joining leaves with
 * two equal corners go, which opens no edge. */
static eb_error join_soup(facet_list *facets, int64_t *vertex, facet_list *joined) {
  vertex_table joiner = {0};
  eb_error error = EB_OK;
  for (size_t v = 0; !error && v < facets->vertex_count; v++)
    error = join_vertex(&joiner, joined, facets->X + 3 * v, &vertex[v]);
  free(joiner.slot);
  if (error || 2 * joined->vertex_count >= facets->vertex_count) return error;
  size_t before = facets->vertex_count, kept = 0;
  for (size_t t = 0; t < facets->triangle_count; t++) {
    int64_t corner[3];
    for (int a = 0; a < 3; a++) corner[a] = vertex[facets->corner[3 * t + (size_t)a]];
    if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) continue;
    memcpy(facets->corner + 3 * kept, corner, sizeof corner);
    facets->place[kept++] = facets->place[t];
  }
  facets->triangle_count = kept;
  double *old = facets->X;
  facets->X = joined->X;
  facets->vertex_count = joined->vertex_count;
  facets->vertex_capacity = joined->vertex_capacity;
  joined->X = old;
  return eb_scan_note(facets->source,
                      "every face has vertices of its own (a soup of triangles): %zu vertices at "
                      "exactly equal positions are joined to %zu",
                      before, facets->vertex_count);
}

/* ---- the surface ----------------------------------------------------------------------------- */

/* fresh[v]: the index of vertex v once the unused ones are gone, or -1. */
static eb_error build_surface(const facet_list *facets, int32_t *fresh, eb_surface **out) {
  if (facets->vertex_count > INT32_MAX / 3 || facets->triangle_count > INT32_MAX / 8)
    return EB_ERROR(EB_ERR_FORMAT, "%s: %zu vertices and %zu triangles are too many",
                    facets->source->name, facets->vertex_count, facets->triangle_count);
  int32_t used = 0;
  for (size_t v = 0; v < facets->vertex_count; v++) fresh[v] = -1;
  for (size_t i = 0; i < 3 * facets->triangle_count; i++) fresh[facets->corner[i]] = 0;
  for (size_t v = 0; v < facets->vertex_count; v++)
    if (fresh[v] == 0) fresh[v] = used++;
  EB_TRY(eb_surface_create(used, (int32_t)facets->triangle_count, out));
  eb_surface *surface = *out;
  for (size_t v = 0; v < facets->vertex_count; v++)
    if (fresh[v] >= 0) memcpy(surface->X + 3 * (size_t)fresh[v], facets->X + 3 * v, 24);
  for (size_t i = 0; i < 3 * facets->triangle_count; i++)
    surface->triangles[i] = fresh[facets->corner[i]];
  return eb_error_prefix(eb_surface_validate(surface, false), "%s", facets->source->name);
}

static eb_error finish_surface(facet_list *facets, const eb_scan *scan, eb_surface **out) {
  *out = NULL;
  if (facets->triangle_count == 0)
    return EB_ERROR(EB_ERR_FORMAT, "%s: the file holds no faces", scan->name);
  for (size_t t = 0; t < facets->triangle_count; t++) {
    const int64_t *corner = facets->corner + 3 * t;
    for (int a = 0; a < 3; a++) {
      if (corner[a] < 0 || (uint64_t)corner[a] >= facets->vertex_count)
        return eb_scan_error(facets->source, facets->place[t],
                             "a face refers to vertex %lld, but there are %zu, numbered from %lld",
                             (long long)(corner[a] + facets->base), facets->vertex_count,
                             (long long)facets->base);
      if (corner[a] == corner[(a + 1) % 3])
        return eb_scan_error(facets->source, facets->place[t],
                             "a face has vertex %lld twice; remove it or repair the surface",
                             (long long)(corner[a] + facets->base));
    }
  }
  if (facets->vertex_count > facets->triangle_count && facets->triangle_count > 1) {
    int64_t *vertex;
    facet_list joined = {0};
    EB_TRY(EB_NEW(vertex, facets->vertex_count));
    eb_error error = join_soup(facets, vertex, &joined);
    free(joined.X);
    free(vertex);
    EB_TRY(error);
  }
  int32_t *fresh;
  EB_TRY(EB_NEW(fresh, facets->vertex_count));
  eb_error error = build_surface(facets, fresh, out);
  free(fresh);
  if (error) {
    eb_surface_destroy(*out);
    *out = NULL;
  }
  return error;
}

eb_error eb_read_surface(eb_scan *scan, eb_mesh_format format, eb_surface **out) {
  static eb_error (*const readers[])(eb_scan *, facet_list *) = {
      [EB_FORMAT_OBJ] = read_obj, [EB_FORMAT_PLY] = read_ply, [EB_FORMAT_PLY_BINARY] = read_ply,
      [EB_FORMAT_OFF] = read_off, [EB_FORMAT_STL] = read_stl, [EB_FORMAT_STL_BINARY] = read_stl,
  };
  facet_list facets = {0};
  eb_error error = readers[format](scan, &facets);
  if (!error) error = finish_surface(&facets, scan, out);
  free(facets.place);
  free(facets.corner);
  free(facets.X);
  return error;
}
