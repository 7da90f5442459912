/* What the condensation promises: J is the derivative of a static solve, with all nodes dynamic it
 * is the linearly implicit method, and where it comes to rest is the equilibrium of all nodes. */
#include "harness/check/block.h"
#include "harness/check/check.h"
#include "problems/scene_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- J ---- */

/* A block whose surface is stretched evenly, with one node held somewhere. The scene's ops come
 * first, so that its callbacks find the rest. */
typedef struct probe {
  eb_scene_ops ops;
  double stretch;
  int32_t node; /* -1: none held */
  double at[3];
} probe;

static void probe_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  const probe *p = (const probe *)scene->ops;
  eb_block_scene.boundary(scene, t, fixed, target);
  for (int64_t k = 0; k < 3 * (int64_t)scene->mesh->node_count; k++) target[k] *= p->stretch;
  if (p->node < 0) return;
  fixed[p->node] = 1;
  memcpy(target + 3 * (int64_t)p->node, p->at, sizeof p->at);
}

/* Equilibrium with the probe's node held at `at`. */
static eb_error held_at(eb_scene *scene, probe *p, const double at[3], eb_state **state) {
  memcpy(p->at, at, sizeof p->at);
  return eb_block_run(scene, eb_solver_find("newton"), "static=true,rtol=1e-13", 1, 1, NULL, state);
}

/* max |v - v_d . d x / d x_d| over all nodes, over the largest speed; x by central differences
 * along the velocity v_d of the dynamic node from `at`. */
static eb_error difference_error(eb_scene *scene, probe *p, const double at[3],
                                 const eb_state *moved, int32_t node, double *out) {
  const double reach = 1e-4; /* m */
  const double *v = moved->v + 3 * (int64_t)node;
  double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), most = 0, fastest = 0;
  EB_OWNED(eb_check_free_state) eb_state *behind = NULL;
  EB_OWNED(eb_check_free_state) eb_state *ahead = NULL;
  p->node = node;
  for (int s = 0; s < 2; s++) {
    double there[3];
    for (int k = 0; k < 3; k++) there[k] = at[k] + (s ? reach : -reach) * v[k] / speed;
    EB_TRY(held_at(scene, p, there, s ? &ahead : &behind));
  }
  for (int64_t k = 0; k < 3 * (int64_t)moved->node_count; k++) {
    double slope = (ahead->x[k] - behind->x[k]) / (2 * reach);
    most = fmax(most, fabs(moved->v[k] - speed * slope));
    fastest = fmax(fastest, fabs(moved->v[k]));
  }
  *out = most / fastest;
  return EB_OK;
}

/* One short step from rest positions that conjac settles first: its velocities are J v_d. `node` is
 * in the middle. */
static eb_error jacobian_of(const eb_check *check, const char *element, const char *material,
                            int32_t node) {
  probe p = {.stretch = 1.15, .node = -1};
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *moved = NULL;
  char options[96];
  double at[3], error_of_J = NAN;
  EB_TRY(eb_block_create(
      &scene, "nx=4,ny=3,nz=3,element=%s,material=%s,support=surface,initial=spin,dt=1e-9", element,
      material));
  p.ops = *scene->ops;
  p.ops.boundary = probe_boundary;
  scene->ops = &p.ops;
  for (int64_t k = 0; k < 3 * (int64_t)scene->mesh->node_count; k++) scene->x0[k] *= p.stretch;
  for (int k = 0; k < eb_block_axes(scene->mesh); k++)
    scene->x0[3 * (int64_t)node + k] += 0.01 * (k + 1);
  memcpy(at, scene->x0 + 3 * (int64_t)node, sizeof at);
  snprintf(options, sizeof options, "selection=list,nodes=%d,initial=static", (int)node);
  EB_TRY(eb_block_run(scene, check->solver, options, 1, 1, NULL, &moved));
  EB_TRY(difference_error(scene, &p, at, moved, node, &error_of_J));
  eb_check_below(
      check, error_of_J, 1e-6,
      "velocities that follow one dynamic node, against central differences of static "
      "solves over 0.2 mm: 1e-8 of third derivatives; all stresses are tensions, so that no "
      "Hessian is clamped",
      "%s/J/%s/%s", check->solver->name, element, material);
  return EB_OK;
}

static eb_error check_condensation(const eb_check *check) {
  EB_TRY(jacobian_of(check, "tets6", "linear", 27));
  EB_TRY(jacobian_of(check, "tets6", "stable-neo-hookean", 27));
  EB_TRY(jacobian_of(check, "hexahedra", "neo-hookean", 27));
  if (eb_subject_can(check->solver, EB_CAP_TRIANGLES))
    EB_TRY(jacobian_of(check, "triangles", "stable-neo-hookean", 7));
  return EB_OK;
}

/* ---- all nodes dynamic ---- */

static eb_error all_dynamic_of(const eb_check *check, const char *element, const char *scripted) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *all = NULL;
  EB_OWNED(eb_check_free_state) eb_state *whole = NULL;
  EB_TRY(eb_block_create(&scene, "nx=5,element=%s,gy=-9.8,%s", element, scripted));
  EB_TRY(eb_block_run(scene, check->solver, "selection=all,beta=0.7", 1, 5, NULL, &all));
  EB_TRY(eb_block_run(scene, eb_solver_find("semi-implicit"), "beta=0.7", 1, 5, NULL, &whole));
  double off = eb_block_distance(all, whole);
  eb_check_below(check, off, 1e-10,
                 "m, of a 1 m block, against semi-implicit after five steps with every free node "
                 "dynamic",
                 "%s/all-dynamic/%s", check->solver->name, element);
  return EB_OK;
}

static eb_error check_all_dynamic(const eb_check *check) {
  EB_TRY(all_dynamic_of(check, "tets6", "support=ends,motion=twist,rate=2"));
  EB_TRY(all_dynamic_of(check, "hexahedra", "support=x0"));
  if (eb_subject_can(check->solver, EB_CAP_TRIANGLES))
    EB_TRY(all_dynamic_of(check, "triangles", "support=x0"));
  return EB_OK;
}

/* ---- statics ---- */

typedef struct still_case {
  const char *scene, *parameters, *name;
  int64_t script, rest; /* steps that the script takes, and that motion takes to die */
  /* the equilibrium is not the only one: Newton's method starts where conjac rests */
  bool from_there;
} still_case;

/* Newton's method follows the script from equilibrium to equilibrium; conjac falls into its own. */
static eb_error balance(eb_scene *scene, const still_case *still, const eb_state *settled,
                        eb_state **out) {
  static const char options[] = "static=true,rtol=1e-10";
  const eb_solver_ops *newton = eb_solver_find("newton");
  eb_reason reason = EB_RUNNING;
  if (!still->from_there)
    return eb_block_run(scene, newton, options, 1, still->script + 1, NULL, out);
  EB_TRY(eb_state_create(scene, out));
  memcpy((*out)->x, settled->x, 3 * (size_t)settled->node_count * sizeof *settled->x);
  (*out)->time = settled->time;
  EB_TRY(eb_block_advance(scene, newton, options, 1, 1, NULL, *out, &reason));
  if (reason > 0) return EB_OK;
  return EB_ERROR(EB_ERR_INVALID, "newton static ends with %s", eb_reason_name(reason));
}

static eb_error statics_of(const eb_check *check, const still_case *still) {
  char parameters[128];
  double lo[3], hi[3], diagonal = 0;
  int64_t steps = still->script + still->rest;
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *settled = NULL;
  EB_OWNED(eb_check_free_state) eb_state *balanced = NULL;
  snprintf(parameters, sizeof parameters, "%s,resolution=%g", still->parameters,
           check->quick ? 0.2 : 0.34);
  EB_TRY(eb_scene_create(eb_scene_find(still->scene), parameters, NULL, "", &scene));
  EB_TRY(eb_block_run(scene, check->solver, "beta=1", 1, steps, NULL, &settled));
  EB_TRY(balance(scene, still, settled, &balanced));
  double off = eb_block_distance(settled, balanced);
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  for (int k = 0; k < 3; k++) diagonal = hypot(diagonal, hi[k] - lo[k]);
  eb_check_below(
      check, off / diagonal, 1e-6,
      still->from_there
          ? "of the diagonal, against newton static from there (there are other equilibria)"
          : "of the diagonal, against newton static",
      "%s/statics/%s", check->solver->name, still->name);
  return EB_OK;
}

static eb_error check_statics(const eb_check *check) {
  /* Steps so long that implicit Euler damps all motion, but on the way to a full turn. */
  static const still_case cases[] = {
      {"conjac2020/hetero", "dt=0.1", "hetero", 0, 100, false},
      {"conjac2020/aniso", "dt=0.1,fibre=vertical", "aniso-vertical", 0, 100, false},
      {"conjac2020/aniso", "dt=0.1,fibre=horizontal", "aniso-horizontal", 0, 100, false},
      {"conjac2020/aniso", "dt=0.1,fibre=diagonal", "aniso-diagonal", 0, 100, false},
      {"conjac2020/aniso", "dt=0.1,fibre=helical", "aniso-helical", 0, 100, false},
      {"conjac2020/twist", "dt=0.1,motion=stretch", "twist-stretch", 6, 100, false},
      {"conjac2020/twist", "dt=0.1,motion=bend", "twist-bend", 6, 200, false},
      {"conjac2020/twist", "dt=0.02,motion=twist", "twist-twist", 30, 400, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) EB_TRY(statics_of(check, &cases[i]));
  return EB_OK;
}

const eb_check_group eb_checks_conjac[] = {{"J", check_condensation, "conjac"},
                                           {"all-dynamic", check_all_dynamic, "conjac"},
                                           {"statics", check_statics, "conjac"},
                                           {0}};
