/* The mesh of a scene file: each [body] generated or read, brought into its place, copied, and all
 * of them put together; then the regions of [material]. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/strings.h"
#include "problems/base/vector3.h"
#include "problems/mesh/io.h"
#include "problems/mesh/refine.h"
#include "problems/mesh/renumber.h"
#include "problems/mesh/stuffing.h"
#include "problems/notation/unit.h"
#include "problems/scenes/copies.h"
#include "problems/scenes/file/description.h"
#include "problems/scenes/file/solids.h"
#include "problems/scenes/mesh_cache.h"
#include "problems/scenes/scene_mesh.h"

/* One body while it is made. */
typedef struct body {
  const eb_description *description;
  const eb_section *section;
  eb_names names;
  eb_mesh_names mesh_names;
  const char *cache; /* folder, or NULL */
  eb_mesh *mesh;
} body;

/* ---- values ---------------------------------------------------------------------------------- */

static eb_error number(const body *b, const char *key, double *out) {
  return eb_described_values(&b->names, b->section, key, 1, out, NULL);
}

static eb_error number_or(const body *b, const char *key, double fallback, double *out) {
  bool given;
  *out = fallback;
  return eb_described_values(&b->names, b->section, key, 1, out, &given);
}

static eb_error positive(const body *b, const char *key, double *out) {
  EB_TRY(number(b, key, out));
  if (*out > 0) return EB_OK;
  return eb_section_locate(b->section, eb_section_entry(b->section, key),
                           EB_ERROR(EB_ERR_FORMAT, "%g is to be above 0", *out));
}

/* Whole numbers, rounded, at least 1. */
static eb_error counts(const body *b, const char *key, int count, int32_t *out) {
  enum { MOST = 10000 };
  double value[3];
  EB_TRY(eb_described_values(&b->names, b->section, key, count, value, NULL));
  for (int d = 0; d < count; d++) {
    if (!(value[d] <= MOST))
      return eb_section_locate(b->section, eb_section_entry(b->section, key),
                               EB_ERROR(EB_ERR_FORMAT, "%g is more than %d", value[d], MOST));
    out[d] = (int32_t)fmax(1, round(value[d]));
  }
  return EB_OK;
}

static eb_error word(const body *b, const char *key, const char **out) {
  const eb_entry *entry = eb_section_entry(b->section, key);
  *out = entry ? entry->value : NULL;
  if (entry) return EB_OK;
  return eb_section_locate(b->section, NULL, EB_ERROR(EB_ERR_FORMAT, "'%s' is missing", key));
}

/* ---- grids ----------------------------------------------------------------------------------- */

/* A bar stands on z = 0 over the origin where no `corner` is said. */
static eb_error read_grid(const body *b, int axes, eb_grid *out) {
  bool given;
  *out = (eb_grid){.cubes = {1, 1, 1}, .size = {1, 1, 1}};
  EB_TRY(eb_described_values(&b->names, b->section, "size", axes, out->size, NULL));
  EB_TRY(counts(b, "cubes", axes, out->cubes));
  for (int d = 0; d < 2; d++) out->origin[d] = -0.5 * out->size[d];
  return eb_described_values(&b->names, b->section, "corner", axes, out->origin, &given);
}

static const char *const cells[] = {"tetrahedra", "hexahedra", NULL};
enum { TETRAHEDRA, HEXAHEDRA };

/* `cell`: one of these words, or the parameter that has one of them. */
static eb_error read_cell(const body *b, int *out) {
  const char *value = eb_section_value(b->section, "cell");
  const eb_option *o = b->names.options;
  *out = TETRAHEDRA;
  while (value && o->name && !(o->type == EB_OPTION_CHOICE && strcmp(o->name, value) == 0)) o++;
  if (!value || !o->name)
    return value ? eb_described_choice(b->section, "cell", cells, out) : EB_OK;
  *out = strcmp(eb_values_text(b->names.values, value), cells[HEXAHEDRA]) == 0;
  return EB_OK;
}

static eb_error make_bar(body *b) {
  eb_grid grid;
  int cell;
  double jitter, a_cube;
  EB_TRY(read_grid(b, 3, &grid));
  EB_TRY(read_cell(b, &cell));
  EB_TRY(number_or(b, "jitter", 0, &jitter));
  EB_TRY(number_or(b, "a_cube", 6, &a_cube));
  if (a_cube != 5 && a_cube != 6)
    return eb_section_locate(
        b->section, eb_section_entry(b->section, "a_cube"),
        EB_ERROR(EB_ERR_FORMAT, "a cube is 5 or 6 tetrahedra, not %g", a_cube));
  EB_TRY(cell == HEXAHEDRA ? eb_generate_hexahedra(&grid, &b->mesh)
         : a_cube == 5     ? eb_generate_tets5(&grid, &b->mesh)
                           : eb_generate_tets6(&grid, &b->mesh));
  if (jitter > 0) eb_generate_jitter(&grid, jitter, b->mesh);
  return EB_OK;
}

static eb_error make_sheet(body *b) {
  eb_grid grid;
  EB_TRY(read_grid(b, 2, &grid));
  return eb_generate_triangles(&grid, &b->mesh);
}

static eb_error make_ring(body *b) {
  int32_t around = 1;
  double radius, section;
  EB_TRY(counts(b, "around", 1, &around));
  EB_TRY(positive(b, "radius", &radius));
  EB_TRY(positive(b, "section", &section));
  return eb_generate_ring(around, radius, section, &b->mesh);
}

/* ---- filled solids --------------------------------------------------------------------------- */

/* What a kept mesh was made from. */
static eb_digest key_of(const char *what, const void *values, size_t bytes) {
  eb_digest key = eb_digest_add((eb_digest){0}, what, strlen(what) + 1);
  return eb_digest_add(key, values, bytes);
}

/* Few elements come in coarse steps of the lattice. */
static double count_tolerance(double elements) {
  return elements >= 5000 ? 0.03 : 0.5;
}

static eb_error fill(body *b, const eb_solid *solid, const char *what, const void *values,
                     size_t bytes) {
  double elements;
  EB_TRY(positive(b, "elements", &elements));
  elements = fmin(1e8, fmax(50, round(elements)));
  eb_digest key = eb_digest_add(key_of(what, values, bytes), &elements, sizeof elements);
  if (b->cache) EB_TRY(eb_mesh_cache_load(b->cache, "filled", key, &b->mesh));
  if (b->mesh) return EB_OK;
  EB_TRY(eb_stuff_to_count(solid, (int32_t)elements, count_tolerance(elements), &b->mesh));
  if (b->cache) (void)eb_mesh_cache_store(b->cache, "filled", key, b->mesh);
  return EB_OK;
}

static eb_error make_round(body *b, eb_round_kind kind, const char *name) {
  eb_round round = {.kind = kind};
  double corners[2 * 64];
  eb_solid solid;
  if (kind != EB_ROUND_OUTLINE) EB_TRY(positive(b, "radius", &round.radius));
  if (kind != EB_ROUND_BALL) EB_TRY(positive(b, "length", &round.length));
  if (kind == EB_ROUND_TUBE) EB_TRY(positive(b, "section", &round.inner));
  round.inner = round.radius - round.inner; /* its wall is what is given */
  for (int k = 0; kind == EB_ROUND_OUTLINE && k < b->section->count; k++) {
    const eb_entry *entry = &b->section->entries[k];
    if (strcmp(entry->key, "outline") != 0) continue;
    EB_OWNED(eb_formula_clear) eb_formula point = {0};
    eb_error error = round.count == 64
                         ? EB_ERROR(EB_ERR_LIMIT, "an outline has at most %d points", 64)
                         : eb_formula_parse(entry->value, &point);
    if (!error) error = eb_formula_values(&b->names, &point, 2, corners + 2 * round.count, NULL);
    EB_TRY(eb_section_locate(b->section, entry, error));
    round.count++;
  }
  round.corners = corners;
  EB_TRY(eb_section_locate(b->section, NULL, eb_round_solid(&round, &solid)));
  double values[4 + 2 * 64] = {round.kind, round.radius, round.inner, round.length};
  memcpy(values + 4, corners, 2 * (size_t)round.count * sizeof *corners);
  return fill(b, &solid, name, values, (4 + 2 * (size_t)round.count) * sizeof *values);
}

static eb_error make_ball(body *b) {
  return make_round(b, EB_ROUND_BALL, "ball");
}
static eb_error make_cylinder(body *b) {
  return make_round(b, EB_ROUND_CYLINDER, "cylinder");
}
static eb_error make_tube(body *b) {
  return make_round(b, EB_ROUND_TUBE, "tube");
}
static eb_error make_capsule(body *b) {
  return make_round(b, EB_ROUND_CAPSULE, "capsule");
}
static eb_error make_outline(body *b) {
  return make_round(b, EB_ROUND_OUTLINE, "outline");
}

/* ---- models and files ------------------------------------------------------------------------ */

static eb_error make_model(body *b) {
  const char *name;
  double elements, size, nodes;
  EB_TRY(word(b, "model", &name));
  if (!eb_model_find(name)) {
    const char *names[64];
    size_t count = 0;
    for (const eb_model *model = eb_models(); model->name && count < 64; model++)
      names[count++] = model->name;
    return eb_section_locate(b->section, eb_section_entry(b->section, "model"),
                             eb_unknown(EB_ERR_FORMAT, name, names, count, "there is no model"));
  }
  EB_TRY(positive(b, "elements", &elements));
  EB_TRY(positive(b, "size", &size));
  EB_TRY(number_or(b, "nodes", 0, &nodes));
  return eb_scene_model_mesh(name, elements, (int32_t)nodes, size, b->cache, &b->mesh);
}

/* Metres a unit of the file. */
static eb_error file_scale(const eb_section *section, double *out) {
  const eb_entry *entry = eb_section_entry(section, "unit");
  const eb_unit *unit = entry ? eb_unit_at(entry->value) : NULL;
  *out = eb_unit_value(unit, 1);
  if (!entry || (unit && strcmp(unit->name, entry->value) == 0)) return EB_OK;
  return eb_section_locate(section, entry,
                           EB_ERROR(EB_ERR_FORMAT, "'%s' is no unit of length", entry->value));
}

/* Scaled to metres, and y made up where `up = y`. */
static eb_error orient(const eb_section *section, double *x, size_t count) {
  static const char *const ups[] = {"y", "z", NULL};
  double scale;
  int up;
  EB_TRY(file_scale(section, &scale));
  EB_TRY(eb_described_choice(section, "up", ups, &up));
  for (size_t i = 0; i < count; i++) {
    double p[3] = {scale * x[3 * i], scale * x[3 * i + 1], scale * x[3 * i + 2]};
    x[3 * i] = p[0];
    x[3 * i + 1] = up == 0 ? -p[2] : p[1];
    x[3 * i + 2] = up == 0 ? p[1] : p[2];
  }
  return EB_OK;
}

static eb_error file_path(const eb_description *description, const char *file, char **out) {
  const char *directory = *file == '/' ? "" : description->ops->source->directory;
  return eb_string_format(out, "%s%s", directory, file);
}

static eb_error make_from_surface(body *b, const char *path) {
  eb_surface *surface;
  eb_solid solid;
  EB_TRY(eb_surface_read(path, &surface));
  eb_error error = eb_solid_from_surface(surface, &solid);
  if (!error) {
    size_t points = 3 * (size_t)surface->vertex_count;
    error = fill(b, &solid, "surface", surface->X, points * sizeof *surface->X);
    eb_solid_clear(&solid);
  }
  eb_surface_destroy(surface);
  return error;
}

/* A volume as it is; a closed surface filled with about `elements` tetrahedra. */
static eb_error make_from_file(body *b) {
  EB_FREED char *path = NULL;
  const char *file;
  bool is_surface;
  EB_TRY(word(b, "file", &file));
  EB_TRY(file_path(b->description, file, &path));
  eb_error error = eb_file_is_surface(path, &is_surface);
  if (!error) error = is_surface ? make_from_surface(b, path) : eb_mesh_read(path, &b->mesh);
  EB_TRY(eb_section_locate(b->section, eb_section_entry(b->section, "file"), error));
  return orient(b->section, b->mesh->X, (size_t)b->mesh->node_count);
}

/* ---- changes --------------------------------------------------------------------------------- */

static eb_error reshape(body *b) {
  const eb_entry *entry = eb_section_entry(b->section, "reshape");
  EB_OWNED(eb_formula_clear) eb_formula formula = {0};
  eb_variable place[3] = {{.name = "x"}, {.name = "y"}, {.name = "z"}};
  eb_names names = b->names;
  eb_error error = EB_OK;
  if (!entry) return EB_OK;
  names.variables = place;
  names.variable_count = 3;
  /* Bounds that the formula names are those before. */
  double lo[3], hi[3];
  eb_mesh_bounds(b->mesh->X, b->mesh->node_count, lo, hi);
  eb_mesh_names before = {.mesh = b->mesh, .lo = lo, .hi = hi, .node = -1, .element = -1};
  names.context = &before;
  EB_TRY(eb_described_formula(b->section, "reshape", 3, &formula));
  for (int32_t i = 0; !error && i < b->mesh->node_count; i++) {
    double *X = b->mesh->X + 3 * (size_t)i;
    for (int d = 0; d < 3; d++) place[d].quantity.value = X[d];
    error = eb_formula_values(&names, &formula, 3, X, NULL);
  }
  return eb_section_locate(b->section, entry, error);
}

/* Keeps the elements whose flag is set and the nodes that they use. `number` is workspace of the
 * nodes, zeros. */
static eb_error keep_elements(const eb_mesh *mesh, const uint8_t *keep, int32_t *number,
                              eb_mesh **out) {
  int32_t elements = 0, nodes = 0, corners = (int32_t)mesh->type;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    elements += keep[e];
    for (int32_t c = 0; keep[e] && c < corners; c++) number[mesh->elements[corners * e + c]] = 1;
  }
  for (int32_t i = 0; i < mesh->node_count; i++) number[i] = number[i] ? nodes++ : -1;
  EB_TRY(eb_mesh_create(mesh->type, nodes, elements, out));
  for (int32_t i = 0; i < mesh->node_count; i++)
    for (int d = 0; number[i] >= 0 && d < 3; d++) (*out)->X[3 * number[i] + d] = mesh->X[3 * i + d];
  int32_t *entry = (*out)->elements;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int32_t c = 0; keep[e] && c < corners; c++)
      *entry++ = number[mesh->elements[corners * e + c]];
  return EB_OK;
}

typedef struct sorted_node {
  double x;
  int32_t node;
} sorted_node;

static int by_x(const void *a, const void *b) {
  const sorted_node *p = a, *q = b;
  return p->x < q->x ? -1 : p->x > q->x ? 1 : p->node < q->node ? -1 : p->node > q->node;
}

/* Gives each node the lowest one within `reach` of it. */
static eb_error find_partners(const eb_mesh *mesh, double reach, int32_t *partner) {
  EB_FREED sorted_node *sorted = NULL;
  int32_t count = mesh->node_count;
  EB_TRY(EB_NEW(sorted, count));
  for (int32_t i = 0; i < count; i++) sorted[i] = (sorted_node){mesh->X[3 * (size_t)i], i};
  qsort(sorted, (size_t)count, sizeof *sorted, by_x);
  for (int32_t i = 0; i < count; i++) partner[i] = i;
  for (int32_t i = 0; i < count; i++)
    for (int32_t j = i + 1; j < count && sorted[j].x - sorted[i].x <= reach; j++) {
      int32_t a = sorted[i].node, b = sorted[j].node;
      const double *p = mesh->X + 3 * (size_t)a, *q = mesh->X + 3 * (size_t)b;
      if (eb_squared_distance3(p, q) > reach * reach) continue;
      int32_t least = partner[a] < partner[b] ? partner[a] : partner[b];
      partner[a] = partner[b] = least;
    }
  for (int32_t i = 0; i < count; i++) partner[i] = partner[partner[i]];
  return EB_OK;
}

/* Joins nodes that lie within `weld` of each other, as the two ends of a bar that is bent into a
 * ring. */
static eb_error weld(body *b) {
  EB_FREED int32_t *partner = NULL, *numbers = NULL;
  EB_FREED uint8_t *all = NULL;
  eb_mesh *mesh = b->mesh, *welded;
  double reach;
  if (!eb_section_entry(b->section, "weld")) return EB_OK;
  EB_TRY(positive(b, "weld", &reach));
  EB_TRY(EB_NEW(partner, mesh->node_count));
  EB_TRY(EB_NEW(numbers, mesh->node_count));
  EB_TRY(EB_NEW(all, mesh->element_count));
  EB_TRY(find_partners(mesh, reach, partner));
  for (size_t k = 0; k < (size_t)mesh->element_count * mesh->type; k++)
    mesh->elements[k] = partner[mesh->elements[k]];
  memset(all, 1, (size_t)mesh->element_count);
  EB_TRY(keep_elements(mesh, all, numbers, &welded));
  eb_mesh_destroy(mesh);
  b->mesh = welded;
  b->mesh_names.mesh = welded;
  return EB_OK;
}

/* Sets flags of the elements whose centroid meets a condition. */
static eb_error mark_elements(const eb_names *all, const eb_section *section, const char *key,
                              const eb_mesh *mesh, uint8_t *out, int32_t *count) {
  EB_OWNED(eb_formula_clear) eb_formula condition = {0};
  eb_variable place[3] = {{.name = "x"}, {.name = "y"}, {.name = "z"}};
  eb_mesh_names looked_at = {.mesh = mesh, .node = -1};
  double lo[3], hi[3];
  eb_names names = *all;
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  looked_at.lo = lo;
  looked_at.hi = hi;
  names.variables = place;
  names.variable_count = 3;
  names.bounds = eb_mesh_named_bounds;
  names.is_in = eb_mesh_named_in;
  names.context = &looked_at;
  *count = 0;
  EB_TRY(eb_described_formula(section, key, 1, &condition));
  eb_error error = EB_OK;
  for (int32_t e = 0; !error && e < mesh->element_count; e++) {
    double centroid[3], holds = 1;
    eb_element_centroid(mesh, e, centroid);
    for (int d = 0; d < 3; d++) place[d].quantity.value = centroid[d];
    looked_at.element = e;
    error = eb_formula_values(&names, &condition, 1, &holds, NULL);
    out[e] = holds != 0;
    *count += out[e];
  }
  return eb_section_locate(section, eb_section_entry(section, key), error);
}

static eb_error keep(body *b) {
  EB_FREED uint8_t *flags = NULL;
  EB_FREED int32_t *numbers = NULL;
  eb_mesh *kept;
  int32_t count;
  if (!eb_section_entry(b->section, "keep")) return EB_OK;
  EB_TRY(EB_NEW(flags, b->mesh->element_count));
  EB_TRY(EB_NEW(numbers, b->mesh->node_count));
  EB_TRY(mark_elements(&b->names, b->section, "keep", b->mesh, flags, &count));
  if (count == 0)
    return eb_section_locate(b->section, eb_section_entry(b->section, "keep"),
                             EB_ERROR(EB_ERR_INVALID, "it keeps no element"));
  EB_TRY(keep_elements(b->mesh, flags, numbers, &kept));
  eb_mesh_destroy(b->mesh);
  b->mesh = kept;
  b->mesh_names.mesh = kept;
  return EB_OK;
}

static eb_error scale(body *b) {
  double factor;
  if (!eb_section_entry(b->section, "scale")) return EB_OK;
  EB_TRY(positive(b, "scale", &factor));
  for (size_t i = 0; i < 3 * (size_t)b->mesh->node_count; i++) b->mesh->X[i] *= factor;
  return EB_OK;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static const char *const layouts[] = {"heap", "stack", "row", "grid", "pyramid", "circle", NULL};
enum { HEAP, STACK, ROW, GRID, PYRAMID, CIRCLE };

static eb_error lay_out(body *b, int layout, const double *v) {
  eb_cells at = {.across = (int32_t)v[1], .cell = v[2]};
  switch (layout) {
  case HEAP:
    EB_TRY(number_or(b, "clearance", 0, &at.clearance));
    if (at.across < 1) return EB_ERROR(EB_ERR_FORMAT, "a heap is at least 1 body across");
    return eb_copies_heap((int32_t)v[0], &at, (uint64_t)v[3], &b->mesh);
  case STACK:
    return eb_copies_stack((int32_t)v[0], v[1], &b->mesh);
  case ROW:
    return eb_copies_lattice((const int32_t[3]){(int32_t)v[0], 1, 1}, v[1], &b->mesh);
  case GRID:
    return eb_copies_lattice((const int32_t[3]){(int32_t)v[0], (int32_t)v[1], (int32_t)v[2]}, v[3],
                             &b->mesh);
  case PYRAMID:
    return eb_copies_pyramid((int32_t)v[0], v[1], &b->mesh);
  default:
    return eb_copies_circle((int32_t)v[0], v[1], &b->mesh);
  }
}

/* "LAYOUT, values": how many the layout wants is in its entry. */
static eb_error copy(body *b) {
  static const int wanted[] = {
      [HEAP] = 4, [STACK] = 2, [ROW] = 2, [GRID] = 4, [PYRAMID] = 2, [CIRCLE] = 2};
  const eb_entry *entry = eb_section_entry(b->section, "copies");
  EB_OWNED(eb_formula_clear) eb_formula formula = {0};
  double v[4] = {0};
  int layout;
  EB_TRY(eb_described_choice(b->section, "copies", layouts, &layout));
  if (layout < 0) return EB_OK;
  const char *comma = strchr(entry->value, ',');
  eb_error error = comma ? eb_formula_parse(comma + 1, &formula)
                         : EB_ERROR(EB_ERR_FORMAT, "'%s' wants %d values behind it, after a comma",
                                    layouts[layout], wanted[layout]);
  if (!error) error = eb_formula_values(&b->names, &formula, wanted[layout], v, NULL);
  for (int k = 0; !error && k < 4; k++)
    if (!(fabs(v[k]) < 1e9)) error = EB_ERROR(EB_ERR_FORMAT, "%g is too large", v[k]);
  if (!error) error = lay_out(b, layout, v);
  b->mesh_names.mesh = b->mesh;
  return eb_section_locate(b->section, entry, error);
}

/* ---- a body ---------------------------------------------------------------------------------- */

static const char *const shapes[] = {"bar",     "sheet",   "ring",  "ball", "cylinder", "tube",
                                     "capsule", "outline", "model", "file", NULL};
static eb_error (*const makers[])(body *b) = {
    make_bar,  make_sheet,   make_ring,    make_ball,  make_cylinder,
    make_tube, make_capsule, make_outline, make_model, make_from_file};

static eb_error make(body *b) {
  int shape;
  EB_TRY(eb_described_choice(b->section, "shape", shapes, &shape));
  if (shape < 0)
    return eb_section_locate(b->section, NULL,
                             EB_ERROR(EB_ERR_FORMAT, "'shape' is missing: bar, ball, model, file"));
  eb_error error = makers[shape](b);
  EB_TRY(eb_section_locate(b->section, NULL, error));
  b->mesh_names.mesh = b->mesh;
  return EB_OK;
}

static eb_error build(body *b, const char *mesh_file) {
  EB_TRY(make(b));
  EB_TRY(reshape(b));
  EB_TRY(keep(b));
  EB_TRY(weld(b));
  if (mesh_file)
    EB_TRY(eb_scene_mesh_in_place(mesh_file, b->description->values, b->cache, &b->mesh));
  b->mesh_names.mesh = b->mesh;
  EB_TRY(scale(b));
  EB_TRY(eb_described_place(&b->names, b->section, b->mesh->X, (size_t)b->mesh->node_count));
  bool altered = eb_section_entry(b->section, "reshape") || eb_section_entry(b->section, "keep") ||
                 eb_section_entry(b->section, "weld");
  if (altered) EB_TRY(eb_section_locate(b->section, NULL, eb_mesh_validate(b->mesh)));
  EB_TRY(copy(b));
  double way[3] = {0, 0, 0};
  bool moves;
  EB_TRY(eb_described_values(&b->names, b->section, "then_move", 3, way, &moves));
  for (int32_t i = 0; moves && i < b->mesh->node_count; i++) eb_add3(1, way, b->mesh->X + 3 * i);
  return EB_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Of several bodies, the names of regions begin with that of the body, and its nodes are a set. */
static eb_error label(const body *b) {
  eb_mesh *mesh = b->mesh;
  EB_FREED char(*names)[EB_NAME_BYTES] = NULL;
  EB_FREED const char **pointers = NULL;
  EB_FREED int32_t *nodes = NULL;
  EB_TRY(EB_NEW(names, mesh->region_count));
  EB_TRY(EB_NEW(pointers, mesh->region_count));
  EB_TRY(EB_NEW(nodes, mesh->node_count));
  for (int32_t r = 0; r < mesh->region_count; r++) {
    bool only = mesh->region_count == 1;
    int length = snprintf(names[r], EB_NAME_BYTES, "%s%s%s", b->section->label, only ? "" : ":",
                          only ? "" : mesh->region_name[r]);
    if (length >= EB_NAME_BYTES)
      return eb_section_locate(b->section, NULL,
                               EB_ERROR(EB_ERR_FORMAT, "the region '%s' has too long a name here",
                                        mesh->region_name[r]));
    pointers[r] = names[r];
  }
  EB_TRY(eb_mesh_name_regions(mesh, mesh->region_count, pointers));
  for (int32_t i = 0; i < mesh->node_count; i++) nodes[i] = i;
  return eb_mesh_add_set(mesh, b->section->label, nodes, mesh->node_count);
}

static eb_error append(eb_mesh **all, body *b) {
  static const double still[3] = {0, 0, 0};
  if (!*all) {
    *all = b->mesh;
    b->mesh = NULL;
    return EB_OK;
  }
  if ((*all)->type != b->mesh->type)
    return eb_section_locate(b->section, NULL,
                             EB_ERROR(EB_ERR_UNSUPPORTED,
                                      "its elements are of another type than those of the bodies "
                                      "before it; a scene has one"));
  return eb_mesh_append(*all, b->mesh, still);
}

static eb_error add_body(const eb_description *description, const eb_section *section, bool several,
                         const char *mesh_file, const char *cache, eb_mesh **all) {
  body b = {.description = description,
            .section = section,
            .names = eb_description_names(description),
            .mesh_names = {.others = *all, .node = -1, .element = -1},
            .cache = cache};
  b.names.only_body = section->label; /* that has been made so far */
  b.names.bounds = eb_mesh_named_bounds;
  b.names.is_in = eb_mesh_named_in;
  b.names.context = &b.mesh_names;
  /* Before there is a mesh its bounds mean nothing. */
  eb_mesh none = {.type = EB_TETRAHEDRON};
  b.mesh_names.mesh = &none;
  eb_error error = build(&b, mesh_file);
  if (!error && several) error = label(&b);
  if (!error) error = append(all, &b);
  eb_mesh_destroy(b.mesh);
  return error;
}

static eb_error add_bodies(const eb_description *description, const char *mesh_file,
                           const char *cache, eb_mesh **out) {
  int count = 0, at = 0;
  while (eb_description_next(description, "body", &at)) count++;
  if (mesh_file && count > 1)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "a --mesh file takes the place of one body, and the scene "
                    "has %d; name it in its file: shape = file",
                    count);
  at = 0;
  for (const eb_section *section; (section = eb_description_next(description, "body", &at));)
    EB_TRY(add_body(description, section, count > 1, mesh_file, cache, out));
  return eb_described_regions(description, *out);
}

/* What [scene] says of all of them: `mirror` in y = 0, `renumber` by a seed; 0: not. */
static eb_error tell_otherwise(const eb_description *description, eb_mesh *mesh) {
  const eb_section *section = eb_sections_find(&description->sections, "scene", "");
  const eb_names names = eb_description_names(description);
  double mirror = 0, seed = 0;
  bool given;
  EB_TRY(eb_described_values(&names, section, "mirror", 1, &mirror, &given));
  EB_TRY(eb_described_values(&names, section, "renumber", 1, &seed, &given));
  if (mirror != 0) eb_mesh_mirror(mesh);
  if (seed == 0) return EB_OK;
  if (!(seed > 0 && seed < 1e9))
    return eb_section_locate(section, eb_section_entry(section, "renumber"),
                             EB_ERROR(EB_ERR_FORMAT, "a seed is 0 to 1e9, not %g", seed));
  return eb_mesh_renumber(mesh, (uint64_t)seed);
}

eb_error eb_scene_described_mesh(const eb_scene_ops *ops, const eb_values *parameters,
                                 const char *mesh_file, const char *cache_directory,
                                 eb_mesh **out) {
  eb_description *description = NULL;
  *out = NULL;
  eb_error error = eb_description_open(ops, parameters, &description);
  if (!error) error = add_bodies(description, mesh_file, cache_directory, out);
  if (!error) error = tell_otherwise(description, *out);
  eb_description_close(description);
  return error;
}

/* ---- a grid and nothing else ----------------------------------------------------------------- */

static bool is_plain_bar(const eb_description *description, const eb_section *section) {
  static const char *const changes[] = {"cell",  "a_cube", "jitter", "reshape", "keep",      "weld",
                                        "scale", "move",   "turn",   "copies",  "then_move", NULL};
  const char *shape = eb_section_value(section, "shape");
  bool plain = shape && strcmp(shape, "bar") == 0 && !eb_description_has(description, "material");
  for (int k = 0; changes[k]; k++) plain = plain && !eb_section_entry(section, changes[k]);
  return plain;
}

bool eb_scene_described_grid(const eb_scene_ops *ops, const eb_values *parameters, eb_grid *out) {
  eb_description *description = NULL;
  int at = 0;
  eb_error error = eb_description_open(ops, parameters, &description);
  const eb_section *section = error ? NULL : eb_description_next(description, "body", &at);
  const eb_section *scene = error ? NULL : eb_sections_find(&description->sections, "scene", "");
  bool plain = section && is_plain_bar(description, section) &&
               !eb_description_next(description, "body", &at) &&
               !eb_section_entry(scene, "mirror") && !eb_section_entry(scene, "renumber");
  if (plain) {
    body b = {
        .description = description, .section = section, .names = eb_description_names(description)};
    error = read_grid(&b, 3, out);
  }
  eb_description_close(description);
  plain = plain && !error; /* what is wrong is said where the mesh is made */
  eb_error_free(error);
  return plain;
}

/* ---- regions --------------------------------------------------------------------------------- */

static bool listed(const char *list, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at++)
    if ((at == list || at[-1] == ' ' || at[-1] == ',') &&
        (!at[length] || at[length] == ' ' || at[length] == ','))
      return true;
  return false;
}

/* Whether `of` names the region, or the body whose regions begin with its name. */
static bool is_of(const char *list, const char *region) {
  const char *colon = strchr(region, ':');
  char body_name[EB_NAME_BYTES];
  if (listed(list, region)) return true;
  if (!colon) return false;
  snprintf(body_name, sizeof body_name, "%.*s", (int)(colon - region), region);
  return listed(list, body_name);
}

/* Gives the elements that a material is of its number; *count is how many. */
static eb_error claim(const eb_description *description, const eb_section *section,
                      const eb_mesh *mesh, int32_t material, uint8_t *flags, int32_t *owner,
                      int32_t *count) {
  const char *list = eb_section_value(section, "of");
  eb_names names = eb_description_names(description);
  const char *all = eb_description_only_body(description);
  if (list && all && listed(list, all)) list = NULL;
  memset(flags, 1, (size_t)mesh->element_count);
  if (eb_section_entry(section, "where"))
    EB_TRY(mark_elements(&names, section, "where", mesh, flags, count));
  *count = 0;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    if (!flags[e] || (list && !is_of(list, mesh->region_name[mesh->region[e]]))) continue;
    owner[e] = material;
    ++*count;
  }
  return EB_OK;
}

/* Names of the new regions: those of the materials, then those old ones that are left. */
static eb_error rename_regions(const eb_description *description, eb_mesh *mesh, int32_t materials,
                               const int32_t *owner) {
  EB_FREED const char **names = NULL;
  EB_FREED char(*old)[EB_NAME_BYTES] = NULL;
  EB_FREED int32_t *number = NULL;
  int32_t count = 0, before = mesh->region_count;
  int at = 0;
  EB_TRY(EB_NEW(names, materials + before));
  EB_TRY(EB_NEW(old, before));
  EB_TRY(EB_NEW(number, before));
  memcpy(old, mesh->region_name, (size_t)before * sizeof *old);
  for (const eb_section *section; (section = eb_description_next(description, "material", &at));)
    names[count++] = section->label;
  for (int32_t r = 0; r < before; r++) number[r] = -1;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    int32_t r = mesh->region[e];
    if (owner[e] < 0 && number[r] < 0) {
      number[r] = count;
      names[count++] = old[r];
    }
    mesh->region[e] = owner[e] < 0 ? number[r] : owner[e];
  }
  return eb_mesh_name_regions(mesh, count, names);
}

eb_error eb_described_regions(const eb_description *description, eb_mesh *mesh) {
  EB_FREED uint8_t *flags = NULL;
  EB_FREED int32_t *owner = NULL;
  int32_t materials = 0, count;
  int at = 0;
  if (!eb_description_has(description, "material")) return EB_OK;
  EB_TRY(EB_NEW(flags, mesh->element_count));
  EB_TRY(EB_NEW(owner, mesh->element_count));
  for (int32_t e = 0; e < mesh->element_count; e++) owner[e] = -1;
  for (const eb_section *section; (section = eb_description_next(description, "material", &at));) {
    bool may_be_empty;
    EB_TRY(eb_described_flag(section, "may_be_empty", &may_be_empty));
    EB_TRY(claim(description, section, mesh, materials++, flags, owner, &count));
    if (count == 0 && !may_be_empty)
      return eb_section_locate(
          section, NULL,
          EB_ERROR(EB_ERR_INVALID, "no element of the mesh is of this material; look at 'of' and "
                                   "'where', or write may_be_empty = yes"));
  }
  return rename_regions(description, mesh, materials, owner);
}
