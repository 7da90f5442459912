/* Gmsh MSH 2.2 and 4.1, ascii and binary (Gmsh reference manual, "File formats"). One parser serves
 * both encodings: a number is a word in one and raw bytes in the other. Physical volumes become
 * regions, physical points, curves and surfaces become node sets. */
#include <string.h>

#include "problems/base/memory.h"
#include "problems/mesh/io/formats.h"

typedef struct group { /* a physical group */
  int64_t dimension, tag;
  char name[EB_NAME_BYTES];
  size_t set; /* of the draft, when dimension < 3 */
  bool used;
} group;

typedef struct entity { /* MSH 4.1: physical groups hang on these */
  int64_t dimension, tag;
  size_t first, count; /* in `physical` */
} entity;

typedef struct gmsh {
  eb_scan *scan;
  eb_draft *draft;
  bool binary;
  group *groups;
  size_t group_count, group_capacity, latest; /* the group found last */
  entity *entities;
  size_t entity_count, entity_capacity;
  int64_t *physical;
  size_t physical_count, physical_capacity;
} gmsh;

/* Gmsh lists the corners of a curved element first. */
typedef struct element_type {
  signed char dimension; /* -1: unknown */
  unsigned char nodes;
  unsigned char corners; /* of volume elements that are read, else 0 */
} element_type;

static const element_type *type_of(int64_t code) {
  static const element_type unknown = {-1, 0, 0};
  static const element_type types[] = {
      {-1, 0, 0}, {1, 2, 0},  {2, 3, 0},  {2, 4, 0},  {3, 4, 4},  {3, 8, 8},  {3, 6, 0},
      {3, 5, 0},  {1, 3, 0},  {2, 6, 0},  {2, 9, 0},  {3, 10, 4}, {3, 27, 8}, {3, 18, 0},
      {3, 14, 0}, {0, 1, 0},  {2, 8, 0},  {3, 20, 8}, {3, 15, 0}, {3, 13, 0}, {2, 9, 0},
      {2, 10, 0}, {2, 12, 0}, {2, 15, 0}, {2, 15, 0}, {2, 21, 0}, {1, 4, 0},  {1, 5, 0},
      {1, 6, 0},  {3, 20, 4}, {3, 35, 4}, {3, 56, 4},
  };
  bool known = code > 0 && code < (int64_t)(sizeof types / sizeof *types);
  return known ? &types[code] : &unknown;
}

/* ---- numbers of either encoding -------------------------------------------------------------- */

static const eb_number_type INT = {.kind = EB_SIGNED, .bytes = 4};
static const eb_number_type SIZE = {.kind = EB_UNSIGNED, .bytes = 8};
static const eb_number_type REAL = {.kind = EB_REAL, .bytes = 8};

static eb_error get_int(gmsh *g, const char *what, int64_t *out) {
  return eb_scan_typed_int(g->scan, what, &INT, out);
}

static eb_error get_size(gmsh *g, const char *what, int64_t *out) {
  return eb_scan_typed_int(g->scan, what, &SIZE, out);
}

static eb_error get_position(gmsh *g, double *x) {
  for (int d = 0; d < 3; d++)
    EB_TRY(eb_scan_typed_real(g->scan, "a coordinate of a node", &REAL, &x[d]));
  return EB_OK;
}

static eb_error skip_reals(gmsh *g, const char *what, int count) {
  for (int i = 0; i < count; i++) {
    const char *raw;
    if (g->binary)
      EB_TRY(eb_scan_bytes(g->scan, what, 8, &raw));
    else
      eb_scan_word(g->scan);
  }
  return EB_OK;
}

/* A size that counts entries of at least so many bytes. */
static eb_error get_count(gmsh *g, const char *what, size_t text_bytes, size_t raw_bytes,
                          int64_t *out) {
  EB_TRY(get_size(g, what, out));
  return eb_scan_fits(g->scan, what, *out, g->binary ? raw_bytes : text_bytes);
}

/* Numbers of a section start behind its keyword; raw ones right behind the line. */
static void enter(gmsh *g) {
  eb_scan_next_line(g->scan);
  g->scan->binary = g->binary;
}

/* ---- physical groups ------------------------------------------------------------------------- */

static eb_error find_group(gmsh *g, int64_t dimension, int64_t tag, group **out) {
  for (size_t k = 0, start = g->latest; k < g->group_count; k++) {
    g->latest = (start + k) % g->group_count;
    *out = &g->groups[g->latest];
    if ((*out)->dimension == dimension && (*out)->tag == tag) return EB_OK;
  }
  if (g->group_count == EB_DRAFT_GROUPS)
    return eb_scan_error(g->scan, g->scan->at, "more than %d physical groups; join some of them",
                         EB_DRAFT_GROUPS);
  EB_TRY(eb_grow(&g->groups, g->group_count, &g->group_capacity, sizeof *g->groups));
  g->latest = g->group_count++;
  *out = &g->groups[g->latest];
  **out = (group){.dimension = dimension, .tag = tag};
  return dimension < 3 ? eb_draft_set_new(g->draft, g->scan, &(*out)->set) : EB_OK;
}

static eb_error add_to_group(gmsh *g, int64_t dimension, int64_t tag, const int64_t *nodes,
                             int count) {
  group *found;
  EB_TRY(find_group(g, dimension, tag, &found));
  for (int a = 0; a < count; a++) EB_TRY(eb_draft_set_node(g->draft, found->set, nodes[a]));
  return EB_OK;
}

static eb_error read_names(gmsh *g) {
  eb_scan *scan = g->scan;
  int64_t count;
  EB_TRY(eb_scan_count(scan, "physical names", 6, &count));
  for (int64_t i = 0; i < count; i++) {
    int64_t dimension, tag;
    EB_TRY(eb_scan_int(scan, "the dimension of a physical group", &dimension));
    EB_TRY(eb_scan_int(scan, "the tag of a physical group", &tag));
    if (dimension < 0 || dimension > 3)
      return eb_scan_error(scan, scan->at, "a physical group has dimension %lld, not 0 to 3",
                           (long long)dimension);
    eb_word name = eb_scan_rest(scan);
    if (name.length < 2 || name.text[0] != '"' || name.text[name.length - 1] != '"')
      return eb_scan_error(scan, name.text, "the name of a physical group stands in quotes");
    name = (eb_word){.text = name.text + 1, .length = name.length - 2};
    group *found;
    EB_TRY(find_group(g, dimension, tag, &found));
    EB_TRY(eb_scan_name(scan, name, found->name, sizeof found->name));
    if (dimension == 3) EB_TRY(eb_draft_name(g->draft, scan, tag, name));
  }
  return EB_OK;
}

/* ---- elements of either version -------------------------------------------------------------- */

static eb_error unsupported(const gmsh *g, const char *place, int64_t code) {
  return eb_scan_error(g->scan, place,
                       "elements of Gmsh type %lld are not supported; mesh with tetrahedra or "
                       "hexahedra",
                       (long long)code);
}

/* The number of a node or an element, and its place. Gmsh itself counts from 1; 0 and below are
 * what damaged or hand-made files have. */
static eb_error get_tag(gmsh *g, const char *what, const eb_number_type *type, const char **place,
                        int64_t *out) {
  char number[40];
  snprintf(number, sizeof number, "the number of %s", what);
  *place = eb_scan_place(g->scan);
  EB_TRY(eb_scan_typed_int(g->scan, number, type, out));
  if (*out > 0) return EB_OK;
  return eb_scan_error(g->scan, *place, "%s has the number %lld; Gmsh numbers from 1", what,
                       (long long)*out);
}

/* ---- version 2.2 ----------------------------------------------------------------------------- */

/* With `parametric`, each node has the dimension and the number of the entity that it lies on
 * behind it, and its parameters there: one on a curve, two on a surface, none else. */
static eb_error read_node_list(gmsh *g, bool parametric) {
  int64_t count, dimension = 0, entity_tag;
  size_t more = !parametric ? 0 : g->binary ? 8 : 4;
  EB_TRY(eb_scan_count(g->scan, "nodes", (g->binary ? 28 : 8) + more, &count));
  enter(g);
  EB_TRY(eb_draft_nodes(g->draft, count, true));
  for (int64_t i = 0; i < count; i++) {
    const char *place;
    EB_TRY(get_tag(g, "a node", &INT, &place, &g->draft->tag[i]));
    EB_TRY(get_position(g, g->draft->X + 3 * i));
    if (!parametric) continue;
    EB_TRY(get_int(g, "the dimension of the entity of a node", &dimension));
    EB_TRY(get_int(g, "the entity of a node", &entity_tag));
    if (dimension < 0 || dimension > 3)
      return eb_scan_error(g->scan, place, "a node lies on an entity of dimension %lld, not 0 to 3",
                           (long long)dimension);
    EB_TRY(skip_reals(g, "a parameter of a node", dimension == 3 ? 0 : (int)dimension));
  }
  return EB_OK;
}

static eb_error read_nodes22(gmsh *g) {
  return read_node_list(g, false);
}

static eb_error read_parametric_nodes(gmsh *g) {
  return read_node_list(g, true);
}

/* One element behind its number: tags, nodes. */
static eb_error read_element22(gmsh *g, const char *place, int64_t number, int64_t code,
                               int64_t tags) {
  const element_type *type = type_of(code);
  int64_t physical = 0, nodes[64];
  for (int64_t t = 0; t < tags; t++) {
    int64_t tag;
    EB_TRY(get_int(g, "a tag of an element", &tag));
    if (t == 0) physical = tag;
  }
  for (int a = 0; a < type->nodes; a++) EB_TRY(get_int(g, "a node of an element", &nodes[a]));
  if (type->dimension == 3 && !type->corners) return unsupported(g, place, code);
  if (type->dimension == 3)
    return eb_draft_element(g->draft, g->scan, place, number, type->corners, type->nodes, nodes,
                            physical);
  return physical ? add_to_group(g, type->dimension, physical, nodes, type->nodes) : EB_OK;
}

/* Binary elements come in blocks with a common header; in ascii each is a block of its own, whose
 * number stands before the header. */
static eb_error read_elements22(gmsh *g) {
  int64_t count, number = 0, code, tags, block = 1;
  const char *place = g->scan->at;
  EB_TRY(eb_scan_count(g->scan, "elements", 8, &count));
  enter(g);
  for (int64_t done = 0; done < count; done += block) {
    if (!g->binary) EB_TRY(get_tag(g, "an element", &INT, &place, &number));
    EB_TRY(get_int(g, g->binary ? "the type of a block of elements" : "the type of an element",
                   &code));
    if (g->binary) EB_TRY(get_int(g, "the number of elements of a block", &block));
    EB_TRY(get_int(g,
                   g->binary ? "the number of tags of a block" : "the number of tags of an element",
                   &tags));
    if (g->binary) place = g->scan->at;
    if (type_of(code)->dimension < 0) return unsupported(g, place, code);
    if (tags < 0 || tags > 1000)
      return eb_scan_error(g->scan, place, "an element with %lld tags", (long long)tags);
    if (block < 1 || block > count - done)
      return eb_scan_error(g->scan, place, "a block of %lld elements where %lld are left",
                           (long long)block, (long long)(count - done));
    for (int64_t e = 0; e < block; e++) {
      if (g->binary) EB_TRY(get_tag(g, "an element", &INT, &place, &number));
      EB_TRY(read_element22(g, place, number, code, tags));
    }
  }
  return EB_OK;
}

/* ---- version 4.1 ----------------------------------------------------------------------------- */

static eb_error read_tags(gmsh *g, const char *what, bool keep, size_t *kept) {
  int64_t count, tag;
  EB_TRY(get_count(g, what, 2, 4, &count));
  for (int64_t i = 0; i < count; i++) {
    EB_TRY(get_int(g, what, &tag));
    if (!keep) continue;
    EB_TRY(eb_grow(&g->physical, g->physical_count, &g->physical_capacity, sizeof tag));
    /* A negative tag is the same group, with the orientation reversed. */
    g->physical[g->physical_count++] = tag < 0 ? -tag : tag;
    ++*kept;
  }
  return EB_OK;
}

static eb_error read_entity(gmsh *g, int dimension, bool partitioned) {
  int64_t ignored;
  entity fresh = {.dimension = dimension, .first = g->physical_count};
  EB_TRY(get_int(g, "the tag of an entity", &fresh.tag));
  if (partitioned) {
    EB_TRY(get_int(g, "the dimension of the parent of an entity", &ignored));
    EB_TRY(get_int(g, "the parent of an entity", &ignored));
    EB_TRY(read_tags(g, "partitions of an entity", false, NULL));
  }
  EB_TRY(skip_reals(g, "the bounds of an entity", dimension == 0 ? 3 : 6));
  EB_TRY(read_tags(g, "physical groups of an entity", true, &fresh.count));
  if (dimension > 0) EB_TRY(read_tags(g, "bounding entities", false, NULL));
  EB_TRY(eb_grow(&g->entities, g->entity_count, &g->entity_capacity, sizeof fresh));
  g->entities[g->entity_count++] = fresh;
  return EB_OK;
}

static int by_entity(const void *a, const void *b) {
  const entity *left = a, *right = b;
  if (left->dimension != right->dimension) return left->dimension < right->dimension ? -1 : 1;
  return (left->tag > right->tag) - (left->tag < right->tag);
}

static eb_error read_entity_lists(gmsh *g, bool partitioned) {
  int64_t count[4];
  for (int d = 0; d < 4; d++) EB_TRY(get_count(g, "entities", 8, 32, &count[d]));
  for (int d = 0; d < 4; d++)
    for (int64_t i = 0; i < count[d]; i++) EB_TRY(read_entity(g, d, partitioned));
  if (g->entity_count) qsort(g->entities, g->entity_count, sizeof *g->entities, by_entity);
  return EB_OK;
}

static eb_error read_entities(gmsh *g) {
  enter(g);
  return read_entity_lists(g, false);
}

static eb_error read_partitioned_entities(gmsh *g) {
  int64_t partitions, ghosts, ignored;
  enter(g);
  EB_TRY(get_size(g, "the number of partitions", &partitions));
  EB_TRY(get_count(g, "ghost entities", 4, 8, &ghosts));
  for (int64_t i = 0; i < 2 * ghosts; i++) EB_TRY(get_int(g, "a ghost entity", &ignored));
  return read_entity_lists(g, true);
}

static eb_error read_nodes41(gmsh *g) {
  int64_t blocks, all, low, high, done = 0;
  enter(g);
  EB_TRY(get_count(g, "blocks of nodes", 8, 20, &blocks));
  EB_TRY(get_count(g, "nodes", 8, 32, &all));
  EB_TRY(get_size(g, "the lowest number of a node", &low));
  EB_TRY(get_size(g, "the highest number of a node", &high));
  EB_TRY(eb_draft_nodes(g->draft, all, true));
  for (int64_t b = 0; b < blocks; b++) {
    int64_t dimension, tag, parametric, count;
    const char *place;
    EB_TRY(get_int(g, "the dimension of a block of nodes", &dimension));
    EB_TRY(get_int(g, "the entity of a block of nodes", &tag));
    EB_TRY(get_int(g, "whether a block of nodes is parametric", &parametric));
    EB_TRY(get_size(g, "the number of nodes of a block", &count));
    if (count < 0 || count > all - done || dimension < 0 || dimension > 3)
      return eb_scan_error(g->scan, g->scan->at,
                           "a block of %lld nodes of dimension %lld where %lld nodes are left",
                           (long long)count, (long long)dimension, (long long)(all - done));
    for (int64_t i = done; i < done + count; i++)
      EB_TRY(get_tag(g, "a node", &SIZE, &place, &g->draft->tag[i]));
    for (int64_t i = done; i < done + count; i++) {
      EB_TRY(get_position(g, g->draft->X + 3 * i));
      if (parametric) EB_TRY(skip_reals(g, "a parameter of a node", (int)dimension));
    }
    done += count;
  }
  if (done != all)
    return eb_scan_error(g->scan, g->scan->at, "the blocks hold %lld nodes, not %lld",
                         (long long)done, (long long)all);
  return EB_OK;
}

/* The elements of one entity: those with volume take the first of its physical groups as their
 * region, the others put their nodes into all of them. */
static eb_error read_element_block(gmsh *g) {
  entity key;
  int64_t code, count, number, nodes[64];
  const char *place = g->scan->at;
  EB_TRY(get_int(g, "the dimension of a block of elements", &key.dimension));
  EB_TRY(get_int(g, "the entity of a block of elements", &key.tag));
  EB_TRY(get_int(g, "the type of a block of elements", &code));
  const element_type *type = type_of(code);
  bool known = type->dimension >= 0 && (type->dimension < 3 || type->corners);
  if (!known) return unsupported(g, place, code);
  EB_TRY(get_count(g, "elements", 2 * (1 + (size_t)type->nodes), 8 * (1 + (size_t)type->nodes),
                   &count));
  const entity *found =
      g->entity_count ? bsearch(&key, g->entities, g->entity_count, sizeof *g->entities, by_entity)
                      : NULL;
  size_t groups = found ? found->count : 0;
  const int64_t *tags = groups ? g->physical + found->first : NULL;
  for (int64_t e = 0; e < count; e++) {
    EB_TRY(get_tag(g, "an element", &SIZE, &place, &number));
    for (int a = 0; a < type->nodes; a++) EB_TRY(get_size(g, "a node of an element", &nodes[a]));
    if (type->dimension == 3)
      EB_TRY(eb_draft_element(g->draft, g->scan, place, number, type->corners, type->nodes, nodes,
                              groups ? tags[0] : 0));
    for (size_t p = 0; type->dimension < 3 && p < groups; p++)
      EB_TRY(add_to_group(g, type->dimension, tags[p], nodes, type->nodes));
  }
  return EB_OK;
}

static eb_error read_elements41(gmsh *g) {
  int64_t blocks, count, low, high;
  enter(g);
  EB_TRY(get_count(g, "blocks of elements", 8, 20, &blocks));
  EB_TRY(get_count(g, "elements", 4, 16, &count));
  EB_TRY(get_size(g, "the lowest number of an element", &low));
  EB_TRY(get_size(g, "the highest number of an element", &high));
  for (int64_t b = 0; b < blocks; b++) EB_TRY(read_element_block(g));
  return EB_OK;
}

/* ---- sections -------------------------------------------------------------------------------- */

static eb_error leave(gmsh *g, eb_word section) {
  char wanted[40];
  g->scan->binary = false;
  snprintf(wanted, sizeof wanted, "$End%.*s", (int)section.length - 1, section.text + 1);
  eb_word word = eb_scan_word(g->scan);
  if (eb_word_is(word, wanted)) return EB_OK;
  g->scan->binary = g->binary;
  return eb_scan_error(g->scan, word.text,
                       "'%s' should stand here; the section is truncated or its count is wrong",
                       wanted);
}

static eb_error skip_section(gmsh *g, eb_word section) {
  char wanted[80];
  if (section.length > 60) return eb_scan_error(g->scan, section.text, "unknown section");
  int length =
      snprintf(wanted, sizeof wanted, "$End%.*s", (int)section.length - 1, section.text + 1);
  const char *at = g->scan->at;
  const char *end = memmem(at, (size_t)(g->scan->end - at), wanted, (size_t)length);
  if (!end)
    return eb_scan_error(g->scan, section.text,
                         "section '%s' is never closed; the file is truncated", wanted + 4);
  g->scan->at = end + length;
  return EB_OK;
}

static eb_error read_format(gmsh *g, int *version) {
  eb_scan *scan = g->scan;
  double number;
  int64_t kind, bytes;
  const char *place = eb_scan_place(scan);
  EB_TRY(eb_scan_real(scan, "the version of the format", &number));
  EB_TRY(eb_scan_int(scan, "the kind of file", &kind));
  EB_TRY(eb_scan_int(scan, "the size of a number", &bytes));
  *version = number >= 2 && number < 3 ? 2 : number > 4.05 && number < 4.15 ? 4 : 0;
  if (*version == 0)
    return eb_scan_error(scan, place, "MSH version %g is not supported; save it as 2.2 or 4.1",
                         number);
  if (kind != 0 && kind != 1)
    return eb_scan_error(scan, place, "the kind of file is %lld, not 0 (ascii) or 1 (binary)",
                         (long long)kind);
  if (bytes != 8)
    return eb_scan_error(scan, place, "numbers of %lld bytes; only 8 are supported",
                         (long long)bytes);
  g->binary = kind == 1;
  eb_scan_next_line(scan);
  if (!g->binary) return EB_OK;
  const char *raw;
  scan->binary = true;
  EB_TRY(eb_scan_bytes(scan, "the mark of the byte order", 4, &raw));
  scan->big_endian = memcmp(raw, "\0\0\0\1", 4) == 0;
  if (!scan->big_endian && memcmp(raw, "\1\0\0\0", 4) != 0)
    return eb_scan_error(scan, raw, "the mark of the byte order is not 1");
  return EB_OK;
}

static eb_error read_section(gmsh *g, int version, eb_word section, bool *known) {
  static const struct {
    const char *name;
    eb_error (*read[5])(gmsh *); /* by version */
  } sections[] = {{"$PhysicalNames", {[2] = read_names, [4] = read_names}},
                  {"$Nodes", {[2] = read_nodes22, [4] = read_nodes41}},
                  {"$ParametricNodes", {[2] = read_parametric_nodes}},
                  {"$Elements", {[2] = read_elements22, [4] = read_elements41}},
                  {"$Entities", {[4] = read_entities}},
                  {"$PartitionedEntities", {[4] = read_partitioned_entities}}};
  *known = true;
  bool nodes = eb_word_is(section, "$Nodes") || eb_word_is(section, "$ParametricNodes");
  if (nodes && g->draft->X)
    return eb_scan_error(g->scan, section.text, "a second section of nodes; remove one");
  for (size_t s = 0; s < sizeof sections / sizeof *sections; s++)
    if (eb_word_is(section, sections[s].name) && sections[s].read[version])
      return sections[s].read[version](g);
  *known = false;
  return skip_section(g, section);
}

static eb_error read_file(gmsh *g) {
  int version = 0;
  for (;;) {
    bool known = true;
    eb_word section = eb_scan_word(g->scan);
    if (section.length == 0) break;
    if (section.text[0] != '$')
      return eb_scan_error(g->scan, section.text,
                           "'%.*s' stands where a section ($...) should start", EB_SHOWN(section));
    if (eb_word_is(section, "$MeshFormat"))
      EB_TRY(read_format(g, &version));
    else if (version == 0 && !eb_word_is(section, "$Comments"))
      return eb_scan_error(g->scan, section.text,
                           "'$MeshFormat' should come first; MSH version 1 is not supported, save "
                           "the file as 2.2 or 4.1");
    else
      EB_TRY(read_section(g, version, section, &known));
    if (known) EB_TRY(leave(g, section));
  }
  if (!g->draft->X) return eb_scan_error(g->scan, g->scan->end, "there is no section '$Nodes'");
  g->scan->binary = g->binary;
  /* All names are known. */
  static const char *const kind[] = {"point", "curve", "surface"};
  for (size_t k = 0; k < g->group_count; k++) {
    const group *one = &g->groups[k];
    if (one->dimension > 2) continue;
    char *name = g->draft->sets[one->set].name;
    if (one->name[0])
      memcpy(name, one->name, EB_NAME_BYTES);
    else
      snprintf(name, EB_NAME_BYTES, "%s%lld", kind[one->dimension], (long long)one->tag);
  }
  return EB_OK;
}

eb_error eb_read_gmsh(eb_scan *scan, eb_draft *draft) {
  gmsh g = {.scan = scan, .draft = draft};
  eb_error error = read_file(&g);
  free(g.physical);
  free(g.entities);
  free(g.groups);
  return error;
}
