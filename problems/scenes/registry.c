/* The scenes by name. */
#include <string.h>

#include "problems/scenes/catalogue.h"
#include "problems/base/text.h"
#include "problems/scenes/file/scene_file.h"

#define LISTED(name) &eb_##name,
static const eb_scene_ops *const scenes[] = {EB_SCENES(LISTED) NULL};

const eb_scene_ops *const *eb_scenes(void) {
  return scenes;
}

const eb_scene_ops *eb_scene_find(const char *name) {
  for (const eb_scene_ops *const *at = scenes; *at; at++)
    if (strcmp((*at)->name, name) == 0) return *at;
  return NULL;
}

eb_error eb_scene_open(const char *name, const eb_scene_ops **out) {
  enum { ALL = sizeof scenes / sizeof *scenes - 1 };
  const char *names[ALL];
  *out = eb_scene_find(name);
  if (*out) return EB_OK;
  if (eb_scene_file_named(name)) return eb_scene_file_read(name, out);
  for (int k = 0; k < ALL; k++) names[k] = scenes[k]->name;
  return eb_unknown(EB_ERR_USAGE, name, names, ALL, "there is no scene");
}
