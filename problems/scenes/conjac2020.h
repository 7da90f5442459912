/* What the scenes of Weidner, Kim and Sueda, "ConJac: Large Steps in Dynamic Simulation", MIG 2020
 * (Section 4, Table 1) share.
 *
 * All bodies are 5 to 15 cm across, as the paper says of its own. What it does not state is chosen
 * in the scenes and can be set: sizes, density, the course of the scripts, the contrast of layers,
 * the stiffness of fibres. */
#ifndef EB_SCENES_CONJAC2020_H
#define EB_SCENES_CONJAC2020_H

#include "problems/scenes/catalogue.h"
#include "problems/scenes/common.h"

#define EB_CONJAC2020_CITATION                                                                     \
  "Weidner, Kim and Sueda, ConJac: Large Steps in Dynamic Simulation, MIG 2020"
#define EB_CONJAC2020_PARAMETERS(E_, nu_)                                                          \
  EB_SCENE_PARAMETERS(E_, nu_, "1000", "5e-3", "stable-neo-hookean", "9.81")

#endif
