/* External forces, in the phase that they belong to.
 *
 * A table of a paper that times its solver does so without collision detection (Hecht, Lee,
 * Shewchuk and O'Brien 2012, Table II: "integration" beside "total"), which is the scene's work and
 * the same for every solver: it has to be told apart from the solver's own. */
#include "solvers/common/scene_force.h"

#include "problems/scene_impl.h"

void eb_logged_scene_force(const eb_scene *scene, double t, const double *x, const double *v,
                           double *f, eb_step_log *log) {
  bool pushed = scene->contacts.penalty || scene->contacts.collider_count > 0;
  if (pushed) eb_log_begin(log, EB_PHASE_DETECT);
  eb_scene_force(scene, t, x, v, f);
  if (pushed) eb_log_end(log, EB_PHASE_DETECT);
}
