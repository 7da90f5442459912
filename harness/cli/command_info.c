/* elastobench list and info: what there is, and one scene, solver, material, suite or claim. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/command.h"
#include "harness/cli/matrix.h"
#include "harness/cli/shown_file.h"
#include "harness/cli/shown_scene.h"
#include "harness/results/json.h"
#include "harness/names.h"
#include "harness/print.h"
#include "harness/report/scene_picture.h"
#include "harness/reproduce/paper.h"
#include "harness/suite/suite.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/text.h"
#include "problems/mesh/diagnose.h"
#include "problems/mesh/io.h"
#include "problems/elasticity/plugged_rules.h"
#include "problems/scene_impl.h"
#include "problems/elasticity/material.h"

static const eb_flag flags[] = {
    {"scene", 0, "NAME[:p=v,..]",
     "of solvers: whether each serves this scene, and what is missing"},
    {"solver", 0, "NAME", "of scenes: whether this solver serves each, and what is missing"},
    {"matrix", 0, NULL, "which solvers serve which scenes, with which parameters, and why not"},
    {"format", 0, "text|json|markdown",
     "how to print; markdown: of --matrix, --scene and --solver"},
    EB_FLAG_PLUGIN,
    EB_FLAG_DAMAGED,
    {0}};
static const eb_flag info_flags[] = {
    EB_FLAG_FORMAT,
    EB_FLAG_PLUGIN,
    {"mesh", 0, "FILE", "what a mesh file holds, and what may be wrong with it, instead of a NAME"},
    {"run", 0, "ID", "of a result file: this run, by so much of its id as no other has"},
    {"picture", 0, "FILE.png", "draw a scene as it starts, scripted nodes red"},
    EB_FLAG_DAMAGED,
    {0}};

static const char *or_empty(const char *text) {
  return text ? text : "";
}

/* ---- capabilities and options ---------------------------------------------------------------- */

static json_t *capabilities_json(uint32_t bits) {
  json_t *array = json_array();
  for (uint32_t bit = 1; bit; bit <<= 1)
    if (bits & bit && eb_capability_name(bit))
      json_array_append_new(array, eb_json_text(eb_capability_name(bit)));
  return array;
}

static void print_capabilities(const char *title, uint32_t bits) {
  const char *separator = "";
  eb_print(stdout, "%-12s ", title);
  for (uint32_t bit = 1; bit; bit <<= 1)
    if (bits & bit && eb_capability_name(bit)) {
      eb_print(stdout, "%s%s", separator, eb_capability_name(bit));
      separator = ", ";
    }
  eb_print(stdout, "\n");
}

static void print_options(const char *title, const eb_option *options) {
  enum { RANGE_COLUMN = 36, DOC_COLUMN = 66 };
  if (!options || !options->name) return;
  eb_print(stdout, "%s:\n", title);
  for (const eb_option *o = options; o->name; o++) {
    /* "[0, 1] s", or the choices; empty for texts. */
    bool number = o->type == EB_OPTION_REAL || o->type == EB_OPTION_INT;
    const char *unit = or_empty(o->unit);
    char range[256] = "", line[512];
    if (number && (o->min != 0 || o->max != 0))
      snprintf(range, sizeof range, "[%g, %g]%s%s", o->min, o->max, *unit ? " " : "", unit);
    else
      snprintf(range, sizeof range, "%s",
               number                        ? unit
               : o->type == EB_OPTION_CHOICE ? o->choices
               : o->type == EB_OPTION_BOOL   ? "true|false"
                                             : "");
    /* The description starts in its column, on the next line where a long default or range is in
     * the way. */
    snprintf(line, sizeof line, "  %s = %s", o->name, o->fallback ? o->fallback : "(to be given)");
    int used = eb_print(stdout, "%-*s %s", RANGE_COLUMN, line, range);
    if (used >= DOC_COLUMN) used = eb_print(stdout, "\n") - 1;
    eb_print(stdout, "%*s%s\n", DOC_COLUMN - used, "", or_empty(o->doc));
  }
}

/* ---- scenes ---------------------------------------------------------------------------------- */

/* Ours over the paper's, minus one, in percent; NaN when the paper states none. */
static double deviation(int32_t ours, int32_t paper) {
  return paper > 0 ? 100 * ((double)ours / paper - 1) : NAN;
}

static json_t *count_json(int32_t ours, int32_t stated, bool of_paper) {
  int32_t paper = of_paper ? stated : 0;
  return eb_json_pack("{s:i, s:o, s:o}", "ours", ours, "paper",
                      paper ? json_integer(paper) : json_null(), "deviation_percent",
                      eb_json_real(deviation(ours, paper)));
}

/* Scenes that are of no paper say so where others cite it. */
static bool has_paper(const eb_scene_ops *ops) {
  return ops->citation && strncmp(ops->citation, "none", 4) != 0;
}

static void print_count(const char *title, int32_t ours, int32_t paper, bool of_paper) {
  eb_print(stdout, "%-12s %d", title, ours);
  if (of_paper && paper)
    eb_print(stdout, " (paper: %d, deviation %+.2f %%)", paper, deviation(ours, paper));
  else if (of_paper)
    eb_print(stdout, " (the paper states none)");
  eb_print(stdout, "\n");
}

static json_t *defaults_json(const eb_scene_ops *ops) {
  json_t *all = json_object();
  for (const eb_scene_default *at = ops->solver_defaults; at && at->solver; at++)
    eb_json_set(all, at->solver,
                eb_json_pack("{s:s, s:s}", "options", or_empty(at->options), "source", at->source));
  return all;
}

/* What solvers do here where nobody sets it. */
static void print_defaults(const eb_scene_ops *ops) {
  for (const eb_scene_default *at = ops->solver_defaults; at && at->solver; at++)
    eb_print(stdout, "%-12s %s: %s%s%s\n", "defaults", at->solver, or_empty(at->options),
             at->options ? " here, " : "", at->source);
}

/* What the scene's own table says, and what it came to. */
static eb_error print_scene(const eb_scene *scene, bool json) {
  const eb_scene_ops *ops = scene->ops;
  EB_OWNED(eb_doc_clear) eb_doc doc = {0};
  uint32_t needs = eb_scene_needs(scene);
  int32_t vertices = scene->mesh->node_count, elements = scene->mesh->element_count;
  if (json) {
    json_t *shown = eb_json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:f, s:f, s:I, s:I, s:o, s:o}",
        "kind", "scene", "name", ops->name, "summary", ops->summary, "geometry",
        or_empty(ops->geometry), "citation", or_empty(ops->citation), "mesh_source",
        scene->mesh_source, "stand_in", or_empty(ops->stand_in), "needs", capabilities_json(needs),
        "vertices", count_json(vertices, ops->target_vertices, has_paper(ops)), "elements",
        count_json(elements, ops->target_elements, has_paper(ops)), "exact",
        json_boolean(ops->count_tolerance == 0 && ops->target_elements), "count_tolerance",
        ops->count_tolerance, "dt", scene->dt, "steps", (json_int_t)ops->steps, "steps_per_frame",
        (json_int_t)ops->steps_per_frame, "parameters", eb_json_options(ops->parameters),
        "solver_defaults", defaults_json(ops));
    if (shown && !ops->stand_in) json_object_set_new(shown, "stand_in", json_null());
    if (shown && eb_scene_path(ops)) eb_json_set(shown, "file", eb_json_text(eb_scene_path(ops)));
    eb_error error = shown ? eb_scene_show_json(scene, shown) : EB_OK;
    if (!error) return eb_json_print(shown, stdout);
    json_decref(shown);
    return error;
  } else {
    eb_print(stdout, "scene        %s\n%-12s %s\n%-12s %s\n%-12s %s\n", ops->name, "summary",
             ops->summary, "geometry", or_empty(ops->geometry), "citation",
             or_empty(ops->citation));
    if (ops->stand_in)
      eb_print(stdout,
               "%-12s the paper's model is not public; '%s' stands in for it (--mesh puts a real "
               "one in its place)\n",
               "stand-in", ops->stand_in);
    print_count("vertices", vertices, ops->target_vertices, has_paper(ops));
    print_count("elements", elements, ops->target_elements, has_paper(ops));
    print_capabilities("needs", needs);
    eb_print(stdout, "%-12s %lld of %g s, a frame every %lld\n", "steps", (long long)ops->steps,
             scene->dt, (long long)ops->steps_per_frame);
    print_defaults(ops);
    EB_TRY(eb_scene_show(scene, &doc));
    EB_TRY(eb_doc_print(&doc, EB_DOC_TEXT, stdout));
    print_options("parameters", ops->parameters);
  }
  return EB_OK;
}

/* With `picture`, also draws the scene as it starts. */
static eb_error show_scene(const eb_scene_ops *ops, const char *parameters, bool json,
                           const char *picture) {
  eb_scene *scene;
  EB_TRY(eb_scene_create(ops, parameters, NULL, NULL, &scene));
  eb_error error = picture ? eb_scene_picture(scene, picture) : EB_OK;
  if (!error) error = print_scene(scene, json);
  eb_scene_destroy(scene);
  return error;
}

static eb_error show_named_scene(const char *name, const eb_plugins *plugins,
                                 const char *parameters, bool json, const char *picture) {
  const eb_scene_ops *ops;
  EB_TRY(eb_open_scene(name, plugins, &ops));
  eb_error error = show_scene(ops, parameters, json, picture);
  eb_scene_close(ops);
  return error;
}

/* ---- solvers --------------------------------------------------------------------------------- */

/* Those that are given: a solver is described without the ones that a run has to give. */
static eb_error check_options(const eb_solver_ops *ops, const char *options) {
  eb_values *values;
  if (!options) return EB_OK;
  EB_TRY(eb_values_create(ops->name, ops->options, options, &values));
  eb_values_destroy(values);
  return EB_OK;
}

static json_t *caveats_json(const eb_solver_ops *ops) {
  json_t *all = json_array();
  for (const eb_caveat *at = ops->caveats; at && at->note; at++)
    json_array_append_new(all, eb_json_pack("{s:s, s:s, s:o}", "note", at->note, "cure",
                                            or_empty(at->cure), "of_scenes_with",
                                            capabilities_json(at->needs)));
  return all;
}

static void print_caveats(const eb_solver_ops *ops) {
  for (const eb_caveat *at = ops->caveats; at && at->note; at++)
    eb_print(stdout, "%-12s %s%s%s\n", "note", at->note, at->cure ? "; not so with " : "",
             or_empty(at->cure));
}

static eb_error show_solver(const eb_solver_ops *ops, const char *options, bool json) {
  EB_TRY(check_options(ops, options));
  if (json)
    return eb_json_print(eb_json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "kind", "solver",
                                      "name", ops->name, "summary", ops->summary, "citation",
                                      or_empty(ops->citation), "capabilities",
                                      capabilities_json(ops->capabilities), "options",
                                      eb_json_options(ops->options), "caveats", caveats_json(ops)),
                         stdout);
  eb_print(stdout, "solver       %s\n%-12s %s\n%-12s %s\n", ops->name, "summary", ops->summary,
           "citation", or_empty(ops->citation));
  print_capabilities("serves", ops->capabilities);
  print_caveats(ops);
  print_options("options", ops->options);
  return EB_OK;
}

/* ---- materials and suites -------------------------------------------------------------------- */

/* `plugged`: of a plug-in, else NULL. */
static eb_error show_material(const eb_material_info *info, const eb_plugged *plugged, bool json) {
  const eb_option *own = plugged ? plugged->ops->parameters : NULL;
  if (json)
    return eb_json_print(
        eb_json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "kind", "material", "name", info->name,
                     "summary", info->summary, "citation", or_empty(info->citation), "plugin",
                     plugged ? plugged->path : "", "parameters", eb_json_options(own)),
        stdout);
  eb_print(stdout, "material     %s\n%-12s %s\n%-12s %s\n", info->name, "summary", info->summary,
           "citation", or_empty(info->citation));
  if (plugged) eb_print(stdout, "%-12s %s\n", "plug-in", plugged->path);
  if (own) print_options("parameters", own);
  return EB_OK;
}

/* What of E and nu its small strains keep, at the parameters that it has by default. */
static void print_moduli(const eb_plugged_list *list, const char *name) {
  eb_material material = {.young = 1e6, .poisson = 0.3, .density = 1};
  double young, poisson;
  eb_error unknown = eb_material_choose(list, name, &material);
  if (!unknown) {
    eb_plugged_moduli(&material, &young, &poisson);
    eb_print(stdout, "%-12s E = %g Pa of %g Pa, nu = %g of %g\n", "small strains", young,
             material.young, poisson, material.poisson);
  }
  eb_error_free(unknown);
}

/* *found: whether there is a material of that name; it is shown. */
static eb_error show_named_material(const char *name, const eb_plugins *plugins, bool json,
                                    bool *found) {
  const eb_plugged_list list = eb_plugins_materials(plugins);
  const eb_plugged *plugged = eb_plugged_find(&list, name);
  int kind = eb_material_find(name);
  *found = plugged || kind >= 0;
  if (!*found) return EB_OK;
  const eb_material_info own =
      plugged
          ? (eb_material_info){plugged->ops->name, plugged->ops->summary, plugged->ops->citation}
          : *eb_material_describe((eb_material_kind)kind);
  EB_TRY(show_material(&own, plugged, json));
  if (plugged && !json) print_moduli(&list, name);
  return EB_OK;
}

static json_t *strings_json(const eb_strings *list) {
  json_t *array = json_array();
  for (int i = 0; i < list->count; i++) json_array_append_new(array, eb_json_text(list->items[i]));
  return array;
}

static eb_error show_suite(const char *name, bool json) {
  eb_suite *suite;
  EB_TRY(eb_suite_load(name, &suite));
  json_t *sections = json ? json_array() : NULL;
  if (!json)
    eb_print(stdout, "suite        %s\n%-12s %s\n", suite->name, "summary",
             or_empty(suite->summary));
  for (int s = 0; s < suite->count; s++) {
    const eb_suite_section *section = &suite->sections[s];
    const eb_settings *of = &section->settings;
    if (json) {
      json_array_append_new(sections,
                            eb_json_pack("{s:s, s:o, s:o, s:I, s:I}", "label", section->label,
                                         "scenes", strings_json(&section->scenes), "solvers",
                                         strings_json(&section->solvers), "repeat",
                                         (json_int_t)of->repeat, "steps", (json_int_t)of->steps));
      continue;
    }
    eb_print(stdout, "[%s]", section->label);
    if (of->steps) eb_print(stdout, " %lld steps", (long long)of->steps);
    if (of->repeat) eb_print(stdout, " x %lld", (long long)of->repeat);
    eb_print(stdout, "\n");
    for (int i = 0; i < section->scenes.count; i++)
      eb_print(stdout, "  scene  %s\n", section->scenes.items[i]);
    for (int i = 0; i < section->solvers.count; i++)
      eb_print(stdout, "  solver %s\n", section->solvers.items[i]);
  }
  eb_error error =
      json
          ? eb_json_print(eb_json_pack("{s:s, s:s, s:s, s:o}", "kind", "suite", "name", suite->name,
                                       "summary", or_empty(suite->summary), "sections", sections),
                          stdout)
          : EB_OK;
  eb_suite_destroy(suite);
  return error;
}

/* ---- mesh files ------------------------------------------------------------------------------ */

static json_t *lines_json(const char *text) {
  json_t *array = json_array();
  for (const char *end; text && *text; text = end + 1) {
    end = strchr(text, '\n');
    json_array_append_new(array, eb_json_part(text, (size_t)(end - text)));
  }
  return array;
}

static json_t *bounds_json(const double *X, int32_t count) {
  double lo[3], hi[3];
  eb_mesh_bounds(X, count, lo, hi);
  return json_pack("[[f,f,f], [f,f,f]]", lo[0], lo[1], lo[2], hi[0], hi[1], hi[2]);
}

static void print_bounds(const double *X, int32_t count) {
  double lo[3], hi[3];
  eb_mesh_bounds(X, count, lo, hi);
  eb_print(stdout, "%-12s %g %g %g to %g %g %g\n", "box", lo[0], lo[1], lo[2], hi[0], hi[1], hi[2]);
}

static json_t *regions_json(const eb_mesh *mesh) {
  json_t *array = json_array();
  for (int32_t r = 0; r < mesh->region_count; r++)
    json_array_append_new(array, eb_json_text(mesh->region_name[r]));
  return array;
}

static eb_error volume_json(const char *path, const eb_mesh *mesh, const eb_mesh_diagnosis *d,
                            const char *notes) {
  json_t *quality = eb_json_pack("{s:s, s:f, s:i}", "measure", eb_mesh_quality_name(mesh->type),
                                 "worst", d->quality, "element", d->worst);
  if (quality && mesh->type == EB_TETRAHEDRON)
    json_object_set_new(quality, "dihedral_degrees",
                        json_pack("[f, f]", d->min_dihedral, d->max_dihedral));
  return eb_json_print(
      eb_json_pack(
          "{s:s, s:s, s:i, s:i, s:i, s:o, s:i, s:o, s:i, s:i, s:i, s:i, s:b, s:i, s:o, s:o}",
          "kind", "mesh", "name", path, "nodes", mesh->node_count, "elements", mesh->element_count,
          "nodes_per_element", (int)mesh->type, "regions", regions_json(mesh), "node_sets",
          mesh->set_count, "box", bounds_json(mesh->X, mesh->node_count), "pieces", d->pieces,
          "coincident_pairs", d->coincident, "hanging_nodes", d->hanging,
          "faces_with_hanging_nodes", d->holding, "at_least", d->at_least, "crowded_edges",
          d->crowded_edges, "quality", quality, "notes", lines_json(notes)),
      stdout);
}

static void volume_print(const char *path, const eb_mesh *mesh, const eb_mesh_diagnosis *d) {
  eb_print(stdout, "%-12s %s\n%-12s %d\n%-12s %d %s\n%-12s %d\n%-12s %d\n", "mesh", path, "nodes",
           mesh->node_count, "elements", mesh->element_count,
           mesh->type == EB_TETRAHEDRON ? "tetrahedra" : "hexahedra", "regions", mesh->region_count,
           "node sets", mesh->set_count);
  print_bounds(mesh->X, mesh->node_count);
  eb_print(stdout,
           "%-12s %d\n%-12s %d pairs of nodes at one place, not joined\n%-12s %d nodes, inside %d "
           "faces that do not have them\n%-12s %d of more than two boundary faces\n%-12s %s at "
           "least %.3g (element %d, counted from 0; 1 is best)\n",
           "pieces", d->pieces, "coincident", d->coincident, "hanging", d->hanging, d->holding,
           "edges", d->crowded_edges, "quality", eb_mesh_quality_name(mesh->type), d->quality,
           d->worst);
  if (mesh->type == EB_TETRAHEDRON)
    eb_print(stdout, "%-12s %.3g to %.3g degrees\n", "dihedral", d->min_dihedral, d->max_dihedral);
}

/* The reader's notes; then what the diagnosis says. */
static eb_error show_volume(const char *path, bool json, eb_text *notes) {
  eb_mesh *mesh;
  eb_mesh_diagnosis diagnosis;
  EB_TRY(eb_mesh_read_noted(path, notes, &mesh));
  eb_error error = eb_mesh_diagnose(mesh, &diagnosis);
  if (!error) error = eb_mesh_diagnosis_print(&diagnosis, mesh->type, path, notes);
  if (!error && json) error = volume_json(path, mesh, &diagnosis, notes->data);
  if (!error && !json) volume_print(path, mesh, &diagnosis);
  eb_mesh_destroy(mesh);
  return error;
}

/* A surface is filled where it is closed: what it is not is a note. */
static eb_error show_surface(const char *path, bool json, eb_text *notes) {
  eb_surface *surface;
  EB_TRY(eb_surface_read_noted(path, notes, &surface));
  eb_error open = eb_surface_validate(surface, true), error = EB_OK;
  if (open) error = eb_text_printf(notes, "%s: %s\n", path, eb_error_message(open));
  if (!error && json)
    error = eb_json_print(eb_json_pack("{s:s, s:s, s:i, s:i, s:o, s:b, s:o}", "kind", "surface",
                                       "name", path, "vertices", surface->vertex_count, "triangles",
                                       surface->triangle_count, "box",
                                       bounds_json(surface->X, surface->vertex_count), "closed",
                                       !open, "notes", lines_json(notes->data)),
                          stdout);
  if (!error && !json) {
    eb_print(stdout, "%-12s %s\n%-12s %d\n%-12s %d\n", "surface", path, "vertices",
             surface->vertex_count, "triangles", surface->triangle_count);
    print_bounds(surface->X, surface->vertex_count);
    eb_print(stdout, "%-12s %s\n", "closed", open ? "no" : "yes");
  }
  eb_error_free(open);
  eb_surface_destroy(surface);
  return error;
}

static eb_error show_mesh(const char *path, bool json) {
  bool is_surface;
  EB_OWNED(eb_text_clear) eb_text notes = {0};
  EB_TRY(eb_file_is_surface(path, &is_surface));
  EB_TRY(is_surface ? show_surface(path, json, &notes) : show_volume(path, json, &notes));
  if (!json && notes.data) eb_print(stdout, "%s", notes.data);
  return EB_OK;
}

/* ---- claims ---------------------------------------------------------------------------------- */

static const char *const keys[] = {"holds", "given", "paper", "ours", "table", "figure"};
enum { KEYS = sizeof keys / sizeof *keys };

/* The names in [names] that a claim's expressions use: into `out`, or without it as lines. */
static eb_error show_names(const eb_paper *paper, const eb_paper_claim *claim, json_t *out) {
  bool *used;
  EB_TRY(EB_NEW(used, paper->definitions.count));
  for (int i = 0; i < claim->section->count; i++)
    for (int k = 0; k < KEYS; k++)
      if (strcmp(claim->section->entries[i].key, keys[k]) == 0)
        eb_definitions_mark(&paper->definitions, claim->section->entries[i].value, used);
  for (int d = 0; d < paper->definitions.count; d++) {
    const eb_entry *entry = paper->definitions.items[d].entry;
    if (used[d] && out)
      eb_json_set(out, entry->key, eb_json_text(entry->value));
    else if (used[d])
      eb_print(stdout, "  %-7s %s = %s\n", "name", entry->key, entry->value);
  }
  free(used);
  return EB_OK;
}

/* {"name", "summary", "where", "holds": [..], "names": {those that they use}, "source", ..}; the
 * caller releases *json. */
static eb_error claim_json(const eb_paper *paper, const eb_paper_claim *claim, json_t **json) {
  char name[200];
  snprintf(name, sizeof name, "%s/%s", paper->name, claim->id);
  json_t *out = *json = eb_json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "name", name, "summary",
                                     claim->text, "where", claim->where, "source", claim->source,
                                     "file", claim->section->path, "line", claim->section->line);
  for (int k = 0; k < KEYS; k++) {
    json_t *values = json_array();
    const char *value;
    for (int at = 0; (value = eb_section_next(claim->section, keys[k], &at));)
      json_array_append_new(values, eb_json_text(value));
    json_object_set_new(out, keys[k], values);
  }
  json_t *names = json_object();
  json_object_set_new(out, "names", names);
  eb_error error = out && names ? show_names(paper, claim, names)
                                : EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON text");
  if (error) json_decref(out);
  return error;
}

/* Text, place, expressions and the names that they use, bounds' source, and the file that they
 * stand in. */
static eb_error claim_print(const eb_paper *paper, const eb_paper_claim *claim) {
  eb_print(stdout, "%s/%s (%s)\n  %s\n", paper->name, claim->id, claim->where, claim->text);
  for (int i = 0; i < claim->section->count; i++)
    for (int k = 0; k < KEYS; k++)
      if (strcmp(claim->section->entries[i].key, keys[k]) == 0)
        eb_print(stdout, "  %-7s %s\n", keys[k], claim->section->entries[i].value);
  EB_TRY(show_names(paper, claim, NULL));
  if (*claim->source) eb_print(stdout, "  %-7s %s\n", "source", claim->source);
  if (*claim->note) eb_print(stdout, "  %-7s %s\n", "note", claim->note);
  eb_print(stdout, "  %-7s %s:%d\n", "file", claim->section->path, claim->section->line);
  return EB_OK;
}

/* ---- what a name is -------------------------------------------------------------------------- */

/* "PAPER/CLAIM" of the papers that are compiled in. A claim whose paper has a scene of that name is
 * shown behind it. */
static eb_error show_claim(const char *name, bool json, bool *found) {
  char id[100];
  eb_strings names = {0};
  size_t length = strcspn(name, "/");
  bool built_in = false;
  eb_paper *paper;
  *found = false;
  snprintf(id, sizeof id, "%.*s", (int)length, name);
  eb_error error = eb_paper_names(&names);
  for (int i = 0; i < names.count; i++) built_in = built_in || strcmp(names.items[i], id) == 0;
  eb_strings_clear(&names);
  if (error || !built_in || !name[length]) return error;
  EB_TRY(eb_paper_load(id, NULL, false, &paper));
  for (int c = 0; c < paper->claim_count && !*found; c++) {
    const eb_paper_claim *claim = &paper->claims[c];
    json_t *shown = NULL;
    *found = strcmp(claim->id, name + length + 1) == 0;
    if (*found) error = json ? claim_json(paper, claim, &shown) : claim_print(paper, claim);
    if (shown && !error) error = eb_json_print(shown, stdout);
  }
  eb_paper_destroy(paper);
  return error;
}

/* "corotational" is a solver and a material: both are shown, the solver first. */
static eb_error show(const eb_plugins *plugins, const char *name, const char *assignments,
                     bool json, const char *picture) {
  const eb_scene_ops *scene = eb_scene_find(name);
  const eb_solver_ops *solver;
  bool suite, claim = false, material = false;
  EB_TRY(eb_suite_is(name, &suite));
  if (eb_scene_file_named(name) && !suite)
    return show_named_scene(name, plugins, assignments, json, picture);
  if (picture && !scene)
    return EB_ERROR(EB_ERR_USAGE, "--picture is of a scene, and '%s' is none", name);
  if (scene) EB_TRY(show_named_scene(name, plugins, assignments, json, picture));
  if (!scene || !json) EB_TRY(show_claim(name, json, &claim));
  if (scene || claim) return EB_OK;
  if (suite) return show_suite(name, json);
  eb_error no_solver = eb_solver_lookup(plugins, name, &solver, NULL);
  bool is_solver = !no_solver;
  eb_error_free(no_solver);
  if (is_solver) EB_TRY(show_solver(solver, assignments, json));
  if (!is_solver || !json) EB_TRY(show_named_material(name, plugins, json, &material));
  if (is_solver || material) return EB_OK;
  EB_OWNED(eb_strings_clear) eb_strings names = {0};
  EB_TRY(eb_scene_names(&names));
  EB_TRY(eb_solver_names(plugins, &names));
  EB_TRY(eb_suite_names(&names));
  for (int i = 0; i < EB_MATERIAL_KINDS; i++)
    EB_TRY(eb_strings_add(&names, eb_material_describe((eb_material_kind)i)->name));
  for (int i = 0; i < plugins->material_count; i++)
    EB_TRY(eb_strings_add(&names, plugins->materials[i].ops->name));
  return eb_unknown_name("scene, solver, material, suite or claim", name, &names);
}

static eb_error run_info(const eb_arguments *arguments, int *code) {
  (void)code;
  bool json;
  eb_plugins plugins = {0};
  char *name = NULL, *assignments = NULL;
  const char *mesh = eb_arguments_text(arguments, "mesh");
  EB_TRY(eb_arguments_json(arguments, &json));
  if ((mesh != NULL) == (arguments->positional.count == 1))
    return EB_ERROR(EB_ERR_USAGE, "usage: elastobench info %s", eb_command_info.synopsis);
  if (mesh) return show_mesh(mesh, json);
  if (eb_is_result_file(arguments->positional.items[0]))
    return eb_show_result_file(arguments, arguments->positional.items[0], json);
  if (eb_arguments_has(arguments, "run"))
    return EB_ERROR(EB_ERR_USAGE, "--run is of a result file: elastobench info F.h5 --run ID");
  eb_error error = eb_arguments_plugins(arguments, &plugins);
  if (!error) error = eb_split_scene(arguments->positional.items[0], &name, &assignments);
  if (!error)
    error = show(&plugins, name, assignments, json, eb_arguments_text(arguments, "picture"));
  free(name);
  free(assignments);
  eb_plugins_clear(&plugins);
  return error;
}

const eb_command eb_command_info = {
    .name = "info",
    .synopsis = "NAME[:p=v,..]|FILE.ini[:p=v,..]|F.h5|--mesh FILE [options]",
    .summary =
        "describe a scene or its file (with the paper's counts and ours), solver, material, suite, "
        "claim, mesh file or result file",
    .flags = info_flags,
    .least = 0,
    .most = 1,
    .run = run_info};

/* ---- what there is ----------------------------------------------------------------------------
 */

/* One listing: lines on `out`, or objects in `array` when it is not NULL. */
typedef struct listing {
  json_t *array;
  bool titled;
} listing;

static void add(listing *to, const char *name, const char *summary) {
  if (to->array)
    json_array_append_new(to->array, eb_json_pack("{s:s, s:s}", "name", name, "summary", summary));
  else
    eb_print(stdout, "%s%-30s %s\n", to->titled ? "  " : "", name, summary);
}

static eb_error add_scenes(listing *to, const eb_plugins *plugins) {
  (void)plugins;
  for (const eb_scene_ops *const *ops = eb_scenes(); *ops; ops++)
    add(to, (*ops)->name, (*ops)->summary);
  return EB_OK;
}

static eb_error add_solvers(listing *to, const eb_plugins *plugins) {
  for (const eb_solver_ops *const *ops = eb_solvers(); *ops; ops++)
    add(to, (*ops)->name, (*ops)->summary);
  for (int i = 0; i < plugins->count; i++)
    add(to, plugins->items[i].solver->name, plugins->items[i].solver->summary);
  return EB_OK;
}

static eb_error add_materials(listing *to, const eb_plugins *plugins) {
  for (int i = 0; i < EB_MATERIAL_KINDS; i++) {
    const eb_material_info *info = eb_material_describe((eb_material_kind)i);
    add(to, info->name, info->summary);
  }
  for (int i = 0; i < plugins->material_count; i++)
    add(to, plugins->materials[i].ops->name, plugins->materials[i].ops->summary);
  return EB_OK;
}

static eb_error add_suites(listing *to, const eb_plugins *plugins) {
  (void)plugins;
  eb_strings names = {0};
  eb_error error = eb_suite_names(&names);
  for (int i = 0; i < names.count && !error; i++) {
    eb_suite *suite;
    error = eb_suite_load(names.items[i], &suite);
    if (error) break;
    add(to, names.items[i], suite->summary ? suite->summary : "");
    eb_suite_destroy(suite);
  }
  eb_strings_clear(&names);
  return error;
}

static eb_error add_claims(listing *to, const eb_plugins *plugins) {
  (void)plugins;
  eb_strings names = {0};
  eb_error error = eb_paper_names(&names);
  for (int i = 0; i < names.count && !error; i++) {
    eb_paper *paper = NULL;
    error = eb_paper_load(names.items[i], NULL, false, &paper);
    for (int c = 0; !error && c < paper->claim_count; c++) {
      json_t *json = NULL;
      error = to->array ? claim_json(paper, &paper->claims[c], &json)
                        : claim_print(paper, &paper->claims[c]);
      if (!error && json) json_array_append_new(to->array, json);
    }
    eb_paper_destroy(paper);
  }
  eb_strings_clear(&names);
  return error;
}

static const struct {
  const char *name;
  eb_error (*add)(listing *to, const eb_plugins *plugins);
} kinds[] = {{"scenes", add_scenes},
             {"solvers", add_solvers},
             {"materials", add_materials},
             {"suites", add_suites},
             {"claims", add_claims}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static eb_error list(const char *wanted, bool json, const eb_plugins *plugins) {
  bool found = false;
  const char *names[KINDS];
  json_t *all = json ? json_object() : NULL;
  eb_error error = EB_OK;
  for (int i = 0; i < KINDS && !error; i++) {
    names[i] = kinds[i].name;
    if (wanted && strcmp(wanted, kinds[i].name) != 0) continue;
    found = true;
    listing to = {.array = json ? json_array() : NULL, .titled = !wanted};
    if (!json && !wanted) eb_print(stdout, "%s:\n", kinds[i].name);
    error = kinds[i].add(&to, plugins);
    if (json) json_object_set_new(all, kinds[i].name, to.array);
  }
  if (!error && !found)
    error = eb_unknown(EB_ERR_USAGE, wanted, names, KINDS, "there is no listing");
  if (!error && json) return eb_json_print(all, stdout);
  json_decref(all);
  return error;
}

static eb_error read_format(const eb_arguments *arguments, eb_list_format *out) {
  const char *format = eb_arguments_text(arguments, "format");
  bool json;
  *out = EB_LIST_MARKDOWN;
  if (format && strcmp(format, "markdown") == 0) return EB_OK;
  EB_TRY(eb_arguments_json(arguments, &json));
  *out = json ? EB_LIST_JSON : EB_LIST_TEXT;
  return EB_OK;
}

/* What serves what: `list solvers --scene X`, `list scenes --solver Y`, `list --matrix`. */
static eb_error list_pairs(const eb_arguments *arguments, const eb_plugins *plugins) {
  const eb_strings *names = &arguments->positional;
  const char *scene = eb_arguments_text(arguments, "scene");
  const char *solver = eb_arguments_text(arguments, "solver");
  bool all = eb_arguments_has(arguments, "matrix");
  const char *kind = all ? NULL : scene ? "solvers" : "scenes";
  eb_matrix_request request = {.plugins = plugins};
  if ((scene != NULL) + (solver != NULL) + all > 1)
    return EB_ERROR(EB_ERR_USAGE, "--scene, --solver and --matrix are three lists; take one");
  if (names->count && (!kind || strcmp(names->items[0], kind) != 0))
    return EB_ERROR(EB_ERR_USAGE, "--%s %s",
                    all     ? "matrix"
                    : scene ? "scene"
                            : "solver",
                    all     ? "is a list of its own"
                    : scene ? "is of solvers: list solvers --scene NAME"
                            : "is of scenes: list scenes --solver NAME");
  EB_TRY(read_format(arguments, &request.format));
  return all     ? eb_matrix_all(&request)
         : scene ? eb_matrix_scene(&request, scene)
                 : eb_matrix_solver(&request, solver);
}

static eb_error run_list(const eb_arguments *arguments, int *code) {
  (void)code;
  bool json;
  EB_OWNED(eb_plugins_clear) eb_plugins plugins = {0};
  const eb_strings *names = &arguments->positional;
  if (eb_arguments_has(arguments, "scene") || eb_arguments_has(arguments, "solver") ||
      eb_arguments_has(arguments, "matrix")) {
    EB_TRY(eb_arguments_plugins(arguments, &plugins));
    return list_pairs(arguments, &plugins);
  }
  EB_TRY(eb_arguments_json(arguments, &json));
  if (names->count && eb_is_result_file(names->items[0]))
    return eb_list_result_file(arguments, names->items[0], json);
  EB_TRY(eb_arguments_plugins(arguments, &plugins));
  return list(names->count ? names->items[0] : NULL, json, &plugins);
}

const eb_command eb_command_list = {
    .name = "list",
    .synopsis = "[scenes|solvers|materials|suites|claims|F.h5] [options]",
    .summary = "list what there is, or the runs of a result file",
    .details = "list solvers --scene NAME and list scenes --solver NAME "
               "tell who serves what: as it is, with another value of\n"
               "a parameter, or not, and why. list --matrix has all "
               "pairs.",
    .flags = flags,
    .least = 0,
    .most = 1,
    .run = run_list};
