/* What the scenes of Verschoor and Jalba, "Efficient and Accurate Collision Response for Elastically Deformable Models", ACM TOG 38(2), 2019
 * (Sections 4 and 6, Figures 1, 2, 7 and 8, Table 1) share: contact as constraints with one Coulomb coefficient.
 *
 * The paper states counts, materials, mu and dt. Sizes, heights, containers and the course of scripts are chosen here; bodies are 20 cm to 1.5 m across.
 * Sizes matter to its absolute tolerance on the residual, 5e-5 kg m/s: gravity gives all nodes of the rings a momentum of norm 0.08 kg m/s in a step, and
 * would give 6e-4 to rings of a fifth of the size, which the tolerance hardly tells from rest.
 * Bodies start apart from each other and from obstacles, by EB_VERSCHOOR2019_CLEARANCE or more, and fall into contact. */
#ifndef EB_SCENES_VERSCHOOR2019_H
#define EB_SCENES_VERSCHOOR2019_H

#include "problems/scenes/catalogue.h"
#include "problems/scenes/common.h"

#define EB_VERSCHOOR2019_CITATION                                                                  \
  "Verschoor and Jalba, Efficient and Accurate Collision Response for Elastically Deformable "     \
  "Models, ACM TOG 38(2), 2019"
#define EB_VERSCHOOR2019_PARAMETERS(E_, dt_, material_)                                            \
  EB_SCENE_PARAMETERS(E_, "0.2", "1000", dt_, material_, "9.81"), {                                \
    "mu", EB_OPTION_REAL, "0.5", 0, 10, NULL, "", "Coulomb's coefficient of all contacts"          \
  }
#define EB_VERSCHOOR2019_NEEDS (EB_CAP_TETRAHEDRA | EB_CAP_COROTATIONAL | EB_CAP_CONTACT)

/* m; what a scene leaves free at least. The paper's own safety distance, eps2, is 5e-6. */
#define EB_VERSCHOOR2019_CLEARANCE 3e-4

/* The parameters `bodies` and `seed` of scenes with bodies placed at random, for eb_verschoor2019_scatter. */
enum { EB_VERSCHOOR2019_BODIES = 120 };
#define EB_VERSCHOOR2019_SCATTER                                                                   \
  {"bodies",                                                                                       \
   EB_OPTION_INT,                                                                                  \
   "120",                                                                                          \
   1,                                                                                              \
   EB_VERSCHOOR2019_BODIES,                                                                        \
   NULL,                                                                                           \
   "",                                                                                             \
   "how many; the paper has 120"},                                                                 \
  {                                                                                                \
    "seed", EB_OPTION_INT, "1", 0, 1e9, NULL, "", "of places and turns"                            \
  }

/* Material, gravity and friction from the parameters. */
void eb_verschoor2019_mechanics(eb_scene *scene);

/* Adds an obstacle; `surface` becomes the scene's, and is destroyed on failure. Returns it through *out (NULL: not wanted), for its motion to be set. */
EB_MUST eb_error eb_scene_add_obstacle(eb_scene *scene, eb_surface *surface, eb_obstacle **out);
/* A solid floor that ends at z = `height` and reaches from -half to half along x and y, m. */
EB_MUST eb_error eb_verschoor2019_floor(eb_scene *scene, double half, double height);

/* Where bodies placed at random start: in cells of a lattice of across x across a layer, centred over the origin, the lowest at z = 0. */
typedef struct eb_scatter {
  int32_t across;
  double cell; /* m */
} eb_scatter;

/* Replaces the body by `bodies` copies, each in a cell of its own, turned by a rotation that is uniform over all and moved as far from the middle
 * of the cell as keeps the ball around it within. EB_ERR_INVALID for a body that is too large for a cell. */
EB_MUST eb_error eb_verschoor2019_scatter(const eb_values *parameters, const eb_scatter *scatter,
                                          eb_mesh **mesh);

#endif
