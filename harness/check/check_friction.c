/* A block on a slope against Coulomb: it slides with g (sin - mu cos), or it stays. The slope is
 * level and gravity is tilted. */
#include "harness/check/block.h"
#include "harness/check/check.h"
#include "problems/scene_impl.h"
#include "harness/check/subject.h"

#include <math.h>

/* Half a second: the block settles in the first, and is watched in the second. */
enum { STEPS = 100 };

static const double gravity = 9.81, time_step = 5e-3, tangent = 0.5;

static double mean_of(const eb_scene *scene, const double *values) {
  const double *mass = eb_elasticity_mass(scene->elasticity);
  double sum = 0, weight = 0;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    sum += mass[i] * values[3 * (int64_t)i];
    weight += mass[i];
  }
  return sum / weight;
}

/* Mean acceleration in the second half, and the way there. */
static eb_error slide(const eb_check *check, const eb_scene *scene, const char *options,
                      double *acceleration, double *way) {
  eb_state *state = NULL;
  eb_reason reason = EB_RUNNING;
  EB_TRY(eb_block_run(scene, check->solver, options, 1, STEPS, NULL, &state));
  double speed = mean_of(scene, state->v), at = mean_of(scene, state->x);
  eb_error error = eb_block_advance(scene, check->solver, options, 1, STEPS, NULL, state, &reason);
  *acceleration = (mean_of(scene, state->v) - speed) / (STEPS * time_step);
  *way = mean_of(scene, state->x) - at;
  eb_state_destroy(state);
  if (!error && reason <= 0)
    error = EB_ERROR(EB_ERR_INVALID, "a step on the slope ends with %s", eb_reason_name(reason));
  return error;
}

/* A block of 10 x 10 x 5 cm on a floor so stiff that it sinks by micrometres. */
static eb_error on_slope(const eb_check *check, const char *options, double friction,
                         double *acceleration, double *way) {
  double cosine = 1 / sqrt(1 + tangent * tangent);
  eb_scene *scene = NULL;
  EB_TRY(eb_block_create(&scene,
                         "nx=4,ny=4,nz=2,lx=0.1,ly=0.1,lz=0.05,gx=%.17g,gz=%.17g,dt=%g,material=%s",
                         gravity * tangent * cosine, -gravity * cosine, time_step,
                         eb_subject_material(check->solver)));
  scene->collider_count = 1;
  scene->colliders[0] = (eb_collider){.kind = EB_PLANE,
                                      .axis = {0, 0, 1},
                                      .implicit = true,
                                      .stiffness = 4e8,
                                      .friction = friction};
  eb_error error = slide(check, scene, options, acceleration, way);
  eb_scene_destroy(scene);
  return error;
}

typedef struct friction_case {
  const char *options, *name;
  double bound; /* of the acceleration */
  const char *reason;
} friction_case;

static eb_error friction_of(const eb_check *check, const friction_case *on) {
  const double slippery = 0.3, rough = 0.6;
  double acceleration, way;
  EB_TRY(on_slope(check, on->options, slippery, &acceleration, &way));
  double coulomb = gravity * (tangent - slippery) / sqrt(1 + tangent * tangent);
  eb_check_below(check, fabs(acceleration / coulomb - 1), on->bound, on->reason,
                 "%s/friction%s/slides", check->solver->name, on->name);
  EB_TRY(on_slope(check, on->options, rough, &acceleration, &way));
  eb_check_below(check, fabs(way), 1e-4,
                 "m in half a second on that slope with mu = 0.6, which holds it",
                 "%s/friction%s/sticks", check->solver->name, on->name);
  return EB_OK;
}

eb_error eb_check_friction(const eb_check *check) {
  static const char law[] =
      "acceleration down a slope of tangent 0.5 with mu = 0.3 against g (sin - mu cos), "
      "relative; vibrations are left of the start";
  static const friction_case all = {"selection=all,beta=1", "/all-dynamic", 1e-3, law};
  static const friction_case condensed = {"friction_passes=100", "", 0.15,
                                          "the same; quasistatic nodes feel neither the inertia "
                                          "nor the friction of a slide, so that the sole "
                                          "does not quite carry the weight"};
  if (!eb_subject_can(check->solver, EB_CAP_IMPLICIT_PENALTY)) return EB_OK;
  if (!eb_subject_declares(check->solver, "friction_passes"))
    return friction_of(check, &(friction_case){eb_subject_exact(check->solver), "", 1e-3, law});
  EB_TRY(friction_of(check, &all));
  return friction_of(check, &condensed);
}
