#include "problems/scenes/scene_entry.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

static eb_error create(const eb_plugged_list *materials, eb_scene_entry **out) {
  EB_TRY(EB_NEW(*out, 1));
  eb_scene_entry *entry = *out;
  atomic_init(&entry->holders, 1);
  entry->ops.entry = entry;
  if (!materials) return EB_OK;
  eb_error error = eb_plugged_copy(materials, &entry->owned, &entry->materials);
  if (!error) {
    entry->ops.materials = (eb_plugged_list){entry->materials, materials->count};
    return EB_OK;
  }
  eb_scene_close(&entry->ops);
  return error;
}

eb_error eb_scene_entry_create(const eb_plugged_list *materials, eb_scene_entry **out) {
  EB_TRY(create(materials, out));
  (*out)->ops.source = &(*out)->source;
  return EB_OK;
}

eb_error eb_scene_entry_choices(eb_scene_entry *entry, eb_option *options) {
  if (entry->ops.materials.count == 0) return EB_OK;
  for (eb_option *o = options; o->name; o++)
    if (strcmp(o->name, "material") == 0)
      EB_TRY(eb_plugged_choices(&entry->ops.materials, &entry->owned, &o->choices));
  return EB_OK;
}

static eb_error fill_extended(const eb_scene_ops *ops, eb_scene_entry *entry) {
  const eb_plugged_list materials = entry->ops.materials;
  size_t count = 1;
  eb_option *options;
  for (const eb_option *o = ops->parameters; o->name; o++) count++;
  EB_TRY(EB_TAKE(&entry->owned, options, count));
  memcpy(options, ops->parameters, count * sizeof *options);
  entry->ops = *ops;
  entry->ops.entry = entry;
  entry->ops.materials = materials;
  entry->ops.parameters = options;
  return eb_scene_entry_choices(entry, options);
}

eb_error eb_scene_entry_extend(const eb_scene_ops *ops, const eb_plugged_list *materials,
                               const eb_scene_ops **out) {
  eb_scene_entry *entry;
  *out = NULL;
  EB_TRY(create(materials, &entry));
  eb_error error = fill_extended(ops, entry);
  if (!error) {
    *out = &entry->ops;
    return EB_OK;
  }
  eb_scene_close(&entry->ops);
  return error;
}

const eb_scene_ops *eb_scene_keep(const eb_scene_ops *ops) {
  if (ops && ops->entry) atomic_fetch_add(&ops->entry->holders, 1);
  return ops;
}

/* An entry of the catalogue lies in no memory that is released. */
void eb_scene_close(const eb_scene_ops *ops) {
  if (!ops || !ops->entry || atomic_fetch_sub(&ops->entry->holders, 1) > 1) return;
  eb_scene_entry *entry = ops->entry;
  eb_arena_clear(&entry->owned);
  free(entry);
}
