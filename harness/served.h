/* Which solvers serve a scene: as it is, or with another value of one or two of its parameters.
 * What a scene needs is asked of the scene itself, built with each value in turn, and small where
 * it has a small size: needs do not depend on that. */
#ifndef EB_SERVED_H
#define EB_SERVED_H

#include "harness/plugin.h"
#include "problems/base/text.h"
#include "problems/scene_impl.h"

/* A value of a parameter that is chosen from a list, with which the scene needs something else. */
typedef struct eb_variant {
  char *assignment; /* "material=projective" */
  uint32_t needs;   /* eb_capability bits */
} eb_variant;

typedef struct eb_served {
  const eb_scene_ops *scene;
  char *parameters; /* those of the user and, where nothing else is given, of the small size */
  char *mesh_file;  /* or NULL */
  uint32_t needs;   /* as the user has it */
  eb_variant *variants;
  int count;
} eb_served;

/* `parameters` and `mesh_file` as eb_scene_create takes them. The caller clears *out also after an
 * error. */
EB_MUST eb_error eb_served_open(const eb_scene_ops *scene, const char *parameters,
                                const char *mesh_file, eb_served *out);
void eb_served_clear(eb_served *served);

/* Appends the values with which the solver serves the scene that it does not serve as it is:
 * "material=corotated|projective", "element=tetrahedra,material=corotational"; nothing where none
 * helps. */
EB_MUST eb_error eb_served_with(const eb_served *served, const eb_solver_ops *solver, eb_text *out);

/* What is to be said to a refusal, as a sentence without its stop: with which values the solver
 * serves the scene, and which solvers serve it as it is. */
EB_MUST eb_error eb_served_answer(const eb_served *served, const eb_solver_ops *solver,
                                  eb_text *out);

#endif
