#include "problems/scenes/scene_entry.h"

#include <stdlib.h>

#include "problems/base/memory.h"

eb_error eb_scene_entry_create(eb_scene_entry **out) {
  EB_TRY(EB_NEW(*out, 1));
  atomic_init(&(*out)->holders, 1);
  (*out)->ops.source = &(*out)->source;
  return EB_OK;
}

/* An entry of the catalogue lies in no memory that is released: its source, if any, stands
 * elsewhere. */
static eb_scene_entry *entry_of(const eb_scene_ops *ops) {
  bool made = ops && ops->source && ops->source == &((const eb_scene_entry *)ops)->source;
  return made ? (eb_scene_entry *)(uintptr_t)ops : NULL;
}

const eb_scene_ops *eb_scene_keep(const eb_scene_ops *ops) {
  eb_scene_entry *entry = entry_of(ops);
  if (entry) atomic_fetch_add(&entry->holders, 1);
  return ops;
}

void eb_scene_close(const eb_scene_ops *ops) {
  eb_scene_entry *entry = entry_of(ops);
  if (!entry || atomic_fetch_sub(&entry->holders, 1) > 1) return;
  eb_arena_clear(&entry->owned);
  free(entry);
}
