/* The materials of a scene in its group, one row a region. Internal to writing; record.h has the
 * layout. */
#ifndef EB_RESULTS_WRITE_MATERIALS_H
#define EB_RESULTS_WRITE_MATERIALS_H

#include "harness/results/h5.h"
#include "problems/scene_impl.h"

/* Of the enumeration of fibres, by eb_fibre_kind. */
enum { EB_FIBRE_NAMES = 3 };
extern const char *const eb_fibre_names[EB_FIBRE_NAMES];

EB_MUST eb_error eb_materials_write(hid_t scene_group, const eb_scene *scene);

#endif
