/* The scenes of the papers' files, for registry.c: one line here and one there for each. */
#ifndef EB_SCENES_CATALOGUE_H
#define EB_SCENES_CATALOGUE_H

#include "problems/scene.h"

extern const eb_scene_ops eb_bench_beam;

extern const eb_scene_ops eb_conjac2020_twist, eb_conjac2020_hetero;

#endif
