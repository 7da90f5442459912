#include "solvers/contact/light_bodies.h"

#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/vector3.h"
#include "problems/mesh/cut.h"
#include "problems/scene_impl.h"

/* Of the impulse, of which the audit lets a tenth be missing (harness/audit/rules.h). Parts of a
 * residual have signs: where all of them together would be a quarter of the impulse, as of the
 * rings of a paper, its sum over a body is well within that. */
static const double wanted = 0.01, coarse = 1. / 3;
/* Without gravity: of the momentum at the start, which a body may keep for a hundred steps. */
static const double of_momentum = 0.01;

typedef struct moving {
  double mass, speeds; /* kg; m/s: sum over the nodes */
  int32_t nodes;
  bool rigid;
} moving;

static void sum_bodies(const eb_scene *scene, const int32_t *part, moving *bodies) {
  const eb_free_bodies *rigid = scene->rigid.free_bodies;
  const double *mass = eb_elasticity_mass(scene->elasticity);
  for (size_t i = 0; i < (size_t)scene->mesh->node_count; i++) {
    moving *b = &bodies[part[i]];
    b->nodes++;
    b->speeds += sqrt(eb_dot3(scene->v0 + 3 * i, scene->v0 + 3 * i));
    b->rigid = rigid && rigid->of_node[i] >= 0;
    b->mass = b->rigid ? rigid->body[rigid->of_node[i]].mass : b->mass + mass[i];
  }
}

eb_error eb_contact_lightest(const eb_scene *scene, eb_light_body *out) {
  EB_FREED int32_t *part = NULL;
  EB_FREED moving *bodies = NULL;
  double fall = scene->dt * sqrt(eb_dot3(scene->gravity, scene->gravity));
  *out = (eb_light_body){.impulse = INFINITY, .eps1 = INFINITY};
  EB_TRY(EB_NEW(part, scene->mesh->node_count));
  int32_t count = eb_mesh_components(scene->mesh, part);
  EB_TRY(EB_NEW(bodies, count));
  sum_bodies(scene, part, bodies);
  for (const moving *b = bodies; b < bodies + count; b++) {
    double speed = fall > 0 ? fall : of_momentum * b->speeds / b->nodes, impulse = b->mass * speed;
    int32_t rows = b->rigid ? 1 : b->nodes;
    double eps1 = wanted * impulse / sqrt(rows);
    if (eps1 > 0 && eps1 < out->eps1) *out = (eb_light_body){impulse, rows, eps1};
  }
  return EB_OK;
}

bool eb_contact_is_coarse(const eb_solver_ops *ops, const eb_values *options,
                          const eb_light_body *body) {
  bool has = false, solves_exactly = ops->memory && ops->memory->factor > 0;
  for (const eb_option *o = ops->options; o && o->name; o++)
    has = has || strcmp(o->name, "tolerance_kind") == 0;
  return has && !solves_exactly && (ops->capabilities & EB_CAP_CONTACT) &&
         strcmp(eb_values_text(options, "tolerance_kind"), "absolute") == 0 &&
         eb_values_real(options, "eps1") > coarse / wanted * body->eps1;
}
