/* Entries of scenes that are made while the program runs, with what they own, and their holders. */
#ifndef EB_SCENES_SCENE_ENTRY_H
#define EB_SCENES_SCENE_ENTRY_H

#include <stdatomic.h>

#include "problems/base/arena.h"
#include "problems/elasticity/plugged.h"
#include "problems/scene_impl.h"

/* The first member is what others see. Its maker fills it; eb_scene_close of its last holder
 * releases it. */
typedef struct eb_scene_entry {
  eb_scene_ops ops;
  struct eb_scene_source source; /* of a scene file that is not of the catalogue */
  eb_plugged *materials;         /* what ops.materials lists */
  eb_arena owned;                /* texts and tables */
  atomic_int holders;
} eb_scene_entry;

/* With one holder, the caller, ops.source set, and the materials of plug-ins that it takes, of
 * which it owns copies. */
EB_MUST eb_error eb_scene_entry_create(const eb_plugged_list *materials, eb_scene_entry **out);
/* An entry of the catalogue that takes materials of plug-ins by its parameter `material`. The
 * caller closes *out. */
EB_MUST eb_error eb_scene_entry_extend(const eb_scene_ops *ops, const eb_plugged_list *materials,
                                       const eb_scene_ops **out);
/* The table with those materials among the choices of `material`. */
EB_MUST eb_error eb_scene_entry_choices(eb_scene_entry *entry, eb_option *options);

#endif
