/* Vega .veg (Barbic, Sin, Schroeder, Vega FEM library, 2012: volumetric mesh file format). Vertices
 * and elements are numbered from the first number of their section, 0 or 1. Sets are sets of
 * elements: those that a *REGION names take the name of its material, the others become the node
 * sets of their nodes. The constants of materials are not read. *INCLUDE puts the text of another
 * file in its place. */
#include <string.h>

#include "problems/base/memory.h"
#include "problems/mesh/io/formats.h"

enum { INCLUDE_DEPTH = 8, INCLUDE_FILES = 16 };

typedef struct element_set {
  eb_word name;
  const eb_scan *scan; /* the file of the name */
  int64_t *elements;   /* numbers of the file */
  size_t count, capacity;
  bool is_region;
} element_set;

typedef struct vega_region {
  eb_word set, material;
  const eb_scan *scan;
} vega_region;

typedef struct vega {
  eb_draft *draft;
  int64_t element_base;
  int corners; /* of an element; 0 before *ELEMENTS */
  size_t material_count, material_capacity, set_count, set_capacity, region_count, region_capacity;
  vega_region *materials; /* `material` is the name */
  element_set *sets;
  vega_region *regions;
  int files, depth;
} vega;

typedef eb_error (*section_reader)(vega *v, eb_scan *scan);

/* ---- *INCLUDE -------------------------------------------------------------------------------- */

/* Whether a path stays in the folder that it starts from. */
static bool stays_inside(eb_word path) {
  int depth = 0;
  const char *end = path.text + path.length;
  if (path.length && path.text[0] == '/') return false;
  for (const char *at = path.text; at < end && depth >= 0;) {
    const char *slash = memchr(at, '/', (size_t)(end - at));
    size_t length = (size_t)((slash ? slash : end) - at);
    bool here = length == 0 || (length == 1 && at[0] == '.');
    bool up = length == 2 && at[0] == '.' && at[1] == '.';
    depth += up ? -1 : !here;
    at += length + 1;
  }
  return depth >= 0;
}

static eb_error open_include(vega *v, eb_scan *scan, eb_word file, eb_scan **out) {
  if (!scan->on_disk)
    return eb_scan_error(scan, file.text, "*INCLUDE needs a file on disk; paste the text instead");
  if (file.length == 0) return eb_scan_error(scan, file.text, "*INCLUDE names no file");
  if (v->depth >= INCLUDE_DEPTH || v->files >= INCLUDE_FILES)
    return eb_scan_error(scan, file.text, "too many files in *INCLUDE, perhaps in a circle");
  if (!stays_inside(file))
    return eb_scan_error(
        scan, file.text,
        "*INCLUDE of '%.*s' leaves the folder of this file; put it beside this one",
        (int)(file.length < 80 ? file.length : 80), file.text);
  v->files++;
  char *path, *data;
  size_t bytes;
  eb_draft *draft = v->draft;
  const char *slash = strrchr(scan->name, '/');
  size_t folder = slash ? (size_t)(slash + 1 - scan->name) : 0;
  EB_TRY(EB_NEW(path, folder + file.length + 1));
  memcpy(path, scan->name, folder);
  memcpy(path + folder, file.text, file.length);
  draft->kept[draft->kept_count++] = path;
  EB_TRY(eb_error_prefix(eb_file_load(path, &data, &bytes), "%s: *INCLUDE", scan->name));
  draft->kept[draft->kept_count++] = data;
  EB_TRY(eb_refuse_other(path, data, bytes, EB_FORMAT_VEGA));
  EB_TRY(EB_NEW(*out, 1));
  draft->kept[draft->kept_count++] = *out;
  eb_scan_start(*out, path, data, bytes);
  (*out)->comment = '#';
  (*out)->separator = ',';
  (*out)->on_disk = true;
  (*out)->notes = scan->notes;
  return EB_OK;
}

/* Reads a section here, or from the included file where *INCLUDE stands for it. */
static eb_error read_here(vega *v, eb_scan *scan, section_reader read) {
  eb_word word = eb_scan_peek(scan);
  if (!eb_word_is(word, "*INCLUDE")) return read(v, scan);
  eb_scan *inner = NULL;
  eb_scan_word(scan);
  EB_TRY(open_include(v, scan, eb_scan_rest(scan), &inner));
  v->depth++;
  EB_TRY(read_here(v, inner, read));
  v->depth--;
  return EB_OK;
}

/* ---- sections -------------------------------------------------------------------------------- */

static eb_error read_vertices(vega *v, eb_scan *scan) {
  return eb_draft_numbered_nodes(v->draft, scan);
}

static eb_error read_element_rows(vega *v, eb_scan *scan) {
  int64_t count, listed;
  int corners = v->corners;
  EB_TRY(eb_scan_count(scan, "elements", 10, &count));
  EB_TRY(eb_scan_int(scan, "the number of nodes of an element", &listed));
  if (listed != corners)
    return eb_scan_error(scan, scan->at, "elements of %lld nodes where %d are expected",
                         (long long)listed, corners);
  eb_scan_next_line(scan);
  for (int64_t e = 0; e < count; e++) {
    int64_t nodes[8];
    const char *place;
    EB_TRY(eb_draft_number(scan, "element", e, &v->element_base, &place));
    for (int a = 0; a < corners; a++) EB_TRY(eb_scan_int(scan, "a node of an element", &nodes[a]));
    EB_TRY(
        eb_draft_element(v->draft, scan, place, v->element_base + e, corners, corners, nodes, 0));
    eb_scan_next_line(scan);
  }
  return EB_OK;
}

static eb_error read_elements(vega *v, eb_scan *scan) {
  eb_word kind = eb_scan_word(scan);
  if (v->corners) return eb_scan_error(scan, kind.text, "a second *ELEMENTS; remove one");
  bool tets = eb_word_is(kind, "TET") || eb_word_is(kind, "TETS");
  if (!tets && !eb_word_is(kind, "CUBIC") && !eb_word_is(kind, "CUBES"))
    return eb_scan_error(scan, kind.text, "elements are TET or CUBIC, not '%.*s'", EB_SHOWN(kind));
  v->corners = tets ? 4 : 8;
  return read_here(v, scan, read_element_rows);
}

static eb_error read_material(vega *v, eb_scan *scan) {
  eb_word name = eb_scan_rest(scan);
  if (name.length == 0) return eb_scan_error(scan, name.text, "*MATERIAL without a name");
  if (v->material_count == EB_DRAFT_GROUPS)
    return eb_scan_error(scan, name.text, "too many materials");
  EB_TRY(eb_grow(&v->materials, v->material_count, &v->material_capacity, sizeof *v->materials));
  v->materials[v->material_count++] = (vega_region){.material = name, .scan = scan};
  eb_scan_rest(scan);
  return EB_OK;
}

static eb_error read_set(vega *v, eb_scan *scan) {
  eb_word name = eb_scan_rest(scan);
  if (name.length == 0) return eb_scan_error(scan, name.text, "*SET without a name");
  if (v->set_count == EB_DRAFT_GROUPS) return eb_scan_error(scan, name.text, "too many sets");
  EB_TRY(eb_grow(&v->sets, v->set_count, &v->set_capacity, sizeof *v->sets));
  element_set *set = &v->sets[v->set_count++];
  *set = (element_set){.name = name, .scan = scan};
  for (;;) {
    eb_word word = eb_scan_peek(scan);
    if (word.length == 0 || word.text[0] == '*') return EB_OK;
    int64_t number;
    EB_TRY(eb_scan_int(scan, "an element of a set", &number));
    EB_TRY(eb_grow(&set->elements, set->count, &set->capacity, sizeof number));
    set->elements[set->count++] = number;
  }
}

static eb_word trim(const char *begin, const char *end) {
  while (begin < end && (*begin == ' ' || *begin == '\t')) begin++;
  while (begin < end && (end[-1] == ' ' || end[-1] == '\t')) end--;
  return (eb_word){.text = begin, .length = (size_t)(end - begin)};
}

static eb_error read_region(vega *v, eb_scan *scan) {
  eb_scan_more(scan);
  eb_word line = eb_scan_rest(scan);
  const char *comma = line.length ? memchr(line.text, ',', line.length) : NULL;
  if (!comma)
    return eb_scan_error(scan, line.text, "*REGION needs a set and a material: 'set, material'");
  if (v->region_count == EB_DRAFT_GROUPS) return eb_scan_error(scan, line.text, "too many regions");
  EB_TRY(eb_grow(&v->regions, v->region_count, &v->region_capacity, sizeof *v->regions));
  v->regions[v->region_count++] =
      (vega_region){trim(line.text, comma), trim(comma + 1, line.text + line.length), scan};
  return EB_OK;
}

static eb_error read_sections(vega *v, eb_scan *scan) {
  static const struct {
    const char *keyword;
    section_reader read;
  } sections[] = {{"*VERTICES", read_vertices},
                  {"*ELEMENTS", read_elements},
                  {"*MATERIAL", read_material},
                  {"*SET", read_set},
                  {"*REGION", read_region}};
  for (;;) {
    size_t s = 0, known = sizeof sections / sizeof *sections;
    eb_word word = eb_scan_peek(scan);
    if (word.length == 0) return EB_OK;
    if (eb_word_is(word, "*INCLUDE")) {
      EB_TRY(read_here(v, scan, read_sections));
      continue;
    }
    while (s < known && !eb_word_is(word, sections[s].keyword)) s++;
    if (s == known)
      return eb_scan_error(scan, word.text,
                           "'%.*s' is no section; *VERTICES, *ELEMENTS, *MATERIAL, *SET, *REGION "
                           "and *INCLUDE are",
                           EB_SHOWN(word));
    eb_scan_word(scan);
    EB_TRY(read_here(v, scan, sections[s].read));
  }
}

/* ---- sets and regions ------------------------------------------------------------------------ */

static bool same(eb_word a, eb_word b) {
  return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static eb_error apply_region(vega *v, const vega_region *region) {
  size_t m = 0;
  while (m < v->material_count && !same(v->materials[m].material, region->material)) m++;
  if (m == v->material_count)
    return eb_scan_error(region->scan, region->material.text, "there is no material '%.*s'",
                         EB_SHOWN(region->material));
  int64_t label = (int64_t)m;
  if (eb_word_is(region->set, "allElements")) {
    for (size_t e = 0; e < v->draft->element_count; e++) v->draft->label[e] = label;
    return EB_OK;
  }
  for (size_t s = 0; s < v->set_count; s++) {
    element_set *set = &v->sets[s];
    if (!same(set->name, region->set)) continue;
    set->is_region = true;
    for (size_t i = 0; i < set->count; i++)
      v->draft->label[set->elements[i] - v->element_base] = label;
    return EB_OK;
  }
  return eb_scan_error(region->scan, region->set.text, "there is no set '%.*s'",
                       EB_SHOWN(region->set));
}

/* Elements outside every *REGION keep label 0, the first material, as Vega has it. */
static eb_error apply(vega *v) {
  eb_draft *draft = v->draft;
  for (size_t s = 0; s < v->set_count; s++) {
    const element_set *set = &v->sets[s];
    for (size_t i = 0; i < set->count; i++)
      if (set->elements[i] < v->element_base ||
          (uint64_t)(set->elements[i] - v->element_base) >= draft->element_count)
        return eb_scan_error(set->scan, set->name.text,
                             "set '%.*s' holds element %lld, which does not exist",
                             EB_SHOWN(set->name), (long long)set->elements[i]);
  }
  for (size_t m = 0; m < v->material_count; m++)
    EB_TRY(eb_draft_name(draft, v->materials[m].scan, (int64_t)m, v->materials[m].material));
  for (size_t r = 0; r < v->region_count; r++) EB_TRY(apply_region(v, &v->regions[r]));
  for (size_t s = 0; s < v->set_count; s++) {
    const element_set *set = &v->sets[s];
    if (set->is_region) continue;
    size_t index, corners = (size_t)draft->corners;
    EB_TRY(eb_draft_set_new(draft, set->scan, &index));
    EB_TRY(eb_scan_name(set->scan, set->name, draft->sets[index].name, EB_NAME_BYTES));
    for (size_t k = 0; k < set->count * corners; k++) {
      size_t e = (size_t)(set->elements[k / corners] - v->element_base);
      EB_TRY(eb_draft_set_node(draft, index, draft->corner[e * corners + k % corners]));
    }
  }
  return EB_OK;
}

eb_error eb_read_vega(eb_scan *scan, eb_draft *draft) {
  vega v = {.draft = draft};
  scan->comment = '#';
  scan->separator = ',';
  eb_error error = read_sections(&v, scan);
  if (!error && !draft->X) error = eb_scan_error(scan, scan->end, "there is no *VERTICES");
  if (!error) error = apply(&v);
  if (!error && v.material_count > 0)
    error = eb_scan_note(scan, "its *MATERIALs name the regions; what they say of stiffness and "
                               "density is not used, the scene's is");
  for (size_t s = 0; s < v.set_count; s++) free(v.sets[s].elements);
  free(v.regions);
  free(v.sets);
  free(v.materials);
  return error;
}
