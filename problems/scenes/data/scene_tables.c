/* Prints a C file with an eb_scene_ops for each scene file of the catalogue, problems/scenes/data/
 * PAPER/SCENE.ini: eb_PAPER_SCENE, of the name "PAPER/SCENE". Runs when the program is built; what
 * is wrong with a file ends the build. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problems/base/owned.h"
#include "problems/base/strings.h"
#include "problems/scenes/file/scene_file.h"

static void print_text(const char *text) {
  if (!text) {
    printf("NULL");
    return;
  }
  putchar('"');
  for (const char *c = text; *c; c++) {
    if (*c == '\n')
      printf("\\n\"\n\"");
    else if (*c == '"' || *c == '\\')
      printf("\\%c", *c);
    else
      putchar(*c);
  }
  putchar('"');
}

static void print_member(const char *name, const char *text) {
  printf("  .%s = ", name);
  print_text(text);
  printf(",\n");
}

static void print_options(const char *symbol, const eb_option *options) {
  printf("static const eb_option %s_options[] = {\n", symbol);
  for (const eb_option *o = options; o->name; o++) {
    printf("{.type = %d, .min = %.17g, .max = %.17g,\n", o->type, o->min, o->max);
    print_member("name", o->name);
    print_member("fallback", o->fallback);
    if (o->choices && strcmp(o->choices, EB_MATERIAL_CHOICES) == 0)
      printf("  .choices = EB_MATERIAL_CHOICES,\n"); /* of whatever materials there are */
    else
      print_member("choices", o->choices);
    print_member("unit", o->unit);
    print_member("doc", o->doc);
    printf("},\n");
  }
  printf("{.name = NULL}};\n");
}

static void print_defaults(const char *symbol, const eb_scene_default *defaults) {
  printf("static const eb_scene_default %s_defaults[] = {\n", symbol);
  for (; defaults->solver; defaults++) {
    printf("{\n");
    print_member("solver", defaults->solver);
    print_member("options", defaults->options);
    print_member("source", defaults->source);
    printf("},\n");
  }
  printf("{.solver = NULL}};\n");
}

static void print_entry(const char *symbol, const eb_scene_ops *ops) {
  const struct eb_scene_source *source = ops->source;
  printf("static const struct eb_scene_source %s_source = {.directory = \"\",\n", symbol);
  printf("  .digest = {.low64 = UINT64_C(%llu), .high64 = UINT64_C(%llu)},\n",
         (unsigned long long)source->digest.low64, (unsigned long long)source->digest.high64);
  print_member("text", source->text);
  printf("};\n");
  print_options(symbol, ops->parameters);
  if (ops->solver_defaults) print_defaults(symbol, ops->solver_defaults);
  printf("const eb_scene_ops %s = {.parameters = %s_options, .source = &%s_source,\n", symbol,
         symbol, symbol);
  print_member("name", ops->name);
  print_member("summary", ops->summary);
  print_member("geometry", ops->geometry);
  print_member("citation", ops->citation);
  print_member("stand_in", ops->stand_in);
  print_member("mesh_parameters", ops->mesh_parameters);
  print_member("small", ops->small);
  printf(
      "  .needs = %uu, .target_vertices = %d, .target_elements = %d, .count_tolerance = %.17g,\n",
      ops->needs, ops->target_vertices, ops->target_elements, ops->count_tolerance);
  printf("  .steps = %lld, .steps_per_frame = %lld, .model = {.elements = %d}, .by_parts = %d,\n",
         (long long)ops->steps, (long long)ops->steps_per_frame, ops->model.elements,
         ops->by_parts);
  printf("  .make = eb_scene_described_mesh, .as_grid = eb_scene_described_grid,\n");
  printf("  .setup = eb_scene_described_setup, .clear = eb_scene_described_clear,\n");
  if (ops->solver_defaults) printf("  .solver_defaults = %s_defaults,\n", symbol);
  if (ops->boundary) printf("  .boundary = eb_scene_described_boundary,\n");
  if (ops->loads) printf("  .loads = eb_scene_described_loads,\n");
  if (ops->springs) printf("  .springs = eb_scene_described_springs,\n");
  if (ops->dynamic_nodes) printf("  .dynamic_nodes = eb_scene_described_dynamic,\n");
  printf("};\n");
}

/* "bench/beam" of ".../bench/beam.ini". */
static eb_error scene_name(const char *path, char **out) {
  const char *at = strrchr(path, '/');
  while (at && at > path && at[-1] != '/') at--;
  if (!at || !eb_scene_file_named(path))
    return EB_ERROR(EB_ERR_USAGE, "%s: PAPER/SCENE.ini is wanted", path);
  return eb_copy_part(at, strlen(at) - strlen(".ini"), out);
}

static eb_error print_scene(const char *path) {
  EB_OWNED(eb_text_clear) eb_text text = {0};
  EB_FREED char *name = NULL, *symbol = NULL;
  const eb_scene_ops *ops;
  EB_TRY(scene_name(path, &name));
  EB_TRY(eb_text_read(path, "scene file", &text));
  EB_TRY(eb_error_prefix(eb_scene_file_parse(name, NULL, text.data, NULL, &ops), "%s", path));
  eb_error error = eb_string_format(&symbol, "eb_%s", name);
  if (!error) {
    for (char *c = symbol; *c; c++)
      if (!isalnum((unsigned char)*c)) *c = '_';
    print_entry(symbol, ops);
  }
  eb_scene_close(ops);
  return error;
}

int main(int count, char **paths) {
  printf("#include \"problems/scenes/catalogue.h\"\n"
         "#include \"problems/scenes/file/scene_file.h\"\n");
  for (int k = 1; k < count; k++) {
    eb_error error = print_scene(paths[k]);
    if (!error) continue;
    fprintf(stderr, "%s\n", eb_error_message(error));
    eb_error_free(error);
    return 1;
  }
  return 0;
}
