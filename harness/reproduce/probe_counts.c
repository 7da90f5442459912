/* What scenes and the solvers on them are made of: counts, material, and how many unknowns are stepped in time.
 *
 *   row = KEY SCENE[:p=v,..] SOLVER[:o=v,..]
 *
 * gives rows/KEY with nodes, elements, young and poisson (the scene's parameters), material ("base+fibre" of its regions),
 * joints, carried (nodes that ride on rigid bodies), unknowns (of the reduced system in the first step) and dynamic: the carried nodes and
 * those behind the unknowns that are no joints. */
#include <stdio.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/probe.h"
#include "harness/reproduce/walker.h"

/* The materials of all regions, each once. */
static void describe_material(const eb_scene *scene, char *out, size_t bytes) {
  static const char *const fibres[] = {"", "+astvk", "+fung"};
  *out = '\0';
  for (int32_t r = 0; r < scene->material_count; r++) {
    char one[100];
    size_t used = strlen(out);
    const eb_material *material = &scene->materials[r];
    snprintf(one, sizeof one, "%s%s", eb_material_describe(material->kind)->name,
             fibres[material->fibre]);
    if (!strstr(out, one)) snprintf(out + used, bytes - used, "%s%s", used ? "," : "", one);
  }
}

static void count_unknowns(const eb_walker *walker, json_t *row) {
  const eb_scene *scene = walker->scene;
  int32_t joints = scene->articulation ? eb_articulation_joints(scene->articulation) : 0,
          carried = scene->articulation ? eb_articulation_attached(scene->articulation) : 0;
  int dimensions = scene->mesh->type == EB_TRIANGLE ? 2 : 3;
  double unknowns = walker->log->counters[EB_COUNT_REDUCED_UNKNOWNS];
  json_object_set_new(row, "joints", json_integer(joints));
  json_object_set_new(row, "carried", json_integer(carried));
  json_object_set_new(row, "unknowns", json_real(unknowns));
  json_object_set_new(row, "dynamic", json_real(carried + (unknowns - joints) / dimensions));
}

static void describe_scene(const eb_scene *scene, json_t *row) {
  char material[400];
  describe_material(scene, material, sizeof material);
  json_object_set_new(row, "nodes", json_integer(scene->mesh->node_count));
  json_object_set_new(row, "elements", json_integer(scene->mesh->element_count));
  json_object_set_new(row, "young", json_real(eb_values_real(scene->parameters, "E")));
  json_object_set_new(row, "poisson", json_real(eb_values_real(scene->parameters, "nu")));
  json_object_set_new(row, "material", json_string(material));
  json_object_set_new(row, "stand_in",
                      json_string(scene->ops->stand_in ? scene->ops->stand_in : ""));
}

static eb_error measure(const char *scene, const char *solver, int threads, json_t *row) {
  eb_walker walker;
  eb_reason reason;
  eb_error error = eb_walker_create(scene, solver, threads, &walker);
  if (walker.scene) describe_scene(walker.scene, row);
  if (!error) error = eb_walker_step(&walker, &reason);
  if (!error && reason <= 0)
    error = EB_ERROR(EB_ERR_INVALID, "the first step ended with %s", eb_reason_name(reason));
  if (!error) count_unknowns(&walker, row);
  eb_walker_clear(&walker);
  return error;
}

/* What one row lacks is noted there; the others go on. */
static eb_error add_row(eb_probing *p, const eb_strings *words, json_t *rows) {
  json_t *row = json_object();
  json_object_set_new(rows, words->items[0], row);
  eb_error failure = measure(words->items[1], words->items[2], p->threads, row);
  if (failure) json_object_set_new(row, "error", json_string(eb_error_message(failure)));
  eb_error_free(failure);
  return eb_probe_save(p);
}

static eb_error run(eb_probing *p) {
  const char *text;
  json_t *rows = json_object();
  json_object_set_new(p->out, "rows", rows);
  for (int at = 0; (text = eb_section_next(p->arguments, "row", &at));) {
    eb_strings words = {0};
    eb_error error = eb_words(text, " ", &words);
    if (!error && words.count != 3)
      error = EB_ERROR(EB_ERR_FORMAT, "row: '%s' is not 'KEY SCENE SOLVER'", text);
    if (!error) error = add_row(p, &words, rows);
    eb_strings_clear(&words);
    EB_TRY(error);
  }
  return EB_OK;
}

const eb_probe eb_probe_counts = {"counts", "what scenes and the solvers on them are made of",
                                  (const char *const[]){"row", NULL}, run};
