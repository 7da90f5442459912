#include "harness/suite/estimate.h"

#include <math.h>
#include <string.h>

#include "harness/names.h"

/* ---- counts ---------------------------------------------------------------------------------- */

eb_error eb_estimate_counts(const eb_case *work, eb_counts *out) {
  eb_scene *scene;
  *out = (eb_counts){work->scene->target_vertices, work->scene->target_elements};
  bool changed = work->parameters || work->mesh_file;
  if (!changed && out->nodes > 0 && out->elements > 0) return EB_OK;
  EB_TRY(eb_scene_create(work->scene, work->parameters, work->mesh_file, NULL, &scene));
  *out = (eb_counts){scene->mesh->node_count, scene->mesh->element_count};
  eb_scene_destroy(scene);
  return EB_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* What a solver holds as a multiple of its factor's size: the factor itself, its stack of update
 * matrices or all of them, what indexes them. */
static const struct {
  const char *solver, *linear; /* the option's value; NULL: any, or the solver has none */
  double factor;
} shares[] = {{"newton", "cholesky", 1.15},
              {"newton", "cholmod", 1.15},
              {"newton", "cholesky-single", 0.58},
              {"newton", "cg", 0},
              {"semi-implicit", "cholesky", 1.15},
              {"semi-implicit", "cholmod", 1.15},
              {"semi-implicit", "cholesky-single", 0.58},
              {"semi-implicit", "cg", 0},
              {"corotational", "cholesky", 1.15},
              {"corotational", "cholmod", 1.15},
              {"corotational", "cholesky-single", 0.58},
              {"corotational", "cg", 0},
              {"warp-cholesky", NULL, 3.3},
              {"damped-warp", NULL, 1.3},
              {"conjac", NULL, 1.3},
              {"contact-cr", NULL, 0},
              {"contact-ica", NULL, 0},
              {"contact-delassus", NULL, 1}};

double eb_estimate_memory(const eb_case *work, eb_counts counts) {
  static const double program = 42e6, a_node = 3400, fill = 17;
  if (work->plugin || counts.nodes <= 0) return 0;
  double nodes = (double)counts.nodes, density = (double)counts.elements / nodes;
  double factor = fill * density * density * pow(nodes, 4. / 3);
  const char *linear;
  size_t length = eb_assigned_value(work->all_options, "linear", strlen("linear"), &linear);
  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
    if (strcmp(shares[i].solver, work->solver->name) == 0 &&
        (!shares[i].linear ||
         (strlen(shares[i].linear) == length && strncmp(linear, shares[i].linear, length) == 0)))
      return program + a_node * nodes + shares[i].factor * factor;
  return 0;
}
