/* The scenes by name. */
#include <string.h>

#include "problems/scenes/catalogue.h"
#include "problems/base/text.h"
#include "problems/scenes/file/scene_file.h"
#include "problems/scenes/scene_entry.h"

#define LISTED(name) &eb_##name,
static const eb_scene_ops *const scenes[] = {EB_SCENES(LISTED) NULL};
static const eb_scene_ops *const law_scenes[] = {EB_LAW_SCENES(LISTED) NULL};

const eb_scene_ops *const *eb_scenes(void) {
  return scenes;
}

static const eb_scene_ops *find(const eb_scene_ops *const *among, const char *name) {
  for (; *among; among++)
    if (strcmp((*among)->name, name) == 0) return *among;
  return NULL;
}

const eb_scene_ops *eb_scene_find(const char *name) {
  const eb_scene_ops *found = find(scenes, name);
  return found ? found : find(law_scenes, name);
}

eb_error eb_scene_open(const char *name, const eb_plugged_list *materials,
                       const eb_scene_ops **out) {
  enum { ALL = sizeof scenes / sizeof *scenes - 1 };
  const char *names[ALL];
  *out = eb_scene_find(name);
  if (*out && materials && materials->count > 0) return eb_scene_entry_extend(*out, materials, out);
  if (*out) return EB_OK;
  if (eb_scene_file_named(name)) return eb_scene_file_read(name, materials, out);
  for (int k = 0; k < ALL; k++) names[k] = scenes[k]->name;
  return eb_unknown(EB_ERR_USAGE, name, names, ALL, "there is no scene");
}
