/* Entries of scenes that are made while the program runs, with what they own, and their holders. */
#ifndef EB_SCENES_SCENE_ENTRY_H
#define EB_SCENES_SCENE_ENTRY_H

#include <stdatomic.h>

#include "problems/base/arena.h"
#include "problems/scene_impl.h"

/* The first member is what others see. Its maker fills it; eb_scene_close of its last holder
 * releases it. */
typedef struct eb_scene_entry {
  eb_scene_ops ops; /* whose source is this one's */
  struct eb_scene_source source;
  eb_arena owned; /* texts and tables */
  atomic_int holders;
} eb_scene_entry;

/* With one holder, the caller, and ops.source set. */
EB_MUST eb_error eb_scene_entry_create(eb_scene_entry **out);

#endif
