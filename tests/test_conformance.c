/* Conformance: every registered solver against every registered scene, and against the block scene
 * in every variant of element, material and script. A pair the solver declares must step with a
 * defined outcome, a finite state, a filled log, the same bits for 1 and 2 threads and no growth of
 * the heap; a pair it does not declare must be refused as unsupported. */
#include "problems/base/memory.h"
#include "solvers/symplectic_euler/stability.h"
#include "problems/base/clock.h"
#include "problems/scene_impl.h"
#include "tests/solver_fixture.h"

#include <limits.h>
#include <malloc.h>
#include <math.h>

/* Sanitizers, ten times as slow, see scenes of more than LARGE elements with one of the materials
 * and for one step. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { HEAP_IS_VISIBLE = 0, LARGE = 4000 };
#else
enum { HEAP_IS_VISIBLE = 1, LARGE = INT_MAX };
#endif

enum { STEPS = 2, HEAP_STEPS = 3, HEAP_ROUNDS = 4 };

static bool is_large(const eb_scene *scene) {
  return scene->mesh->element_count > LARGE;
}

static size_t heap_in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

typedef struct run {
  eb_solver *solver;
  eb_state *state;
  eb_step_log *log;
} run;

/* The defaults, but that nodes are added where those that are chosen by default leave a body free
 * to move rigidly: which ones to choose is a question to the user otherwise. */
static const char *options_of(const eb_solver_ops *ops) {
  for (const eb_option *option = ops->options; option && option->name; option++)
    if (!strcmp(option->name, "add_nodes")) return "add_nodes=true";
  return "";
}

static void run_open(run *r, const eb_solver_ops *ops, const eb_scene *scene, int threads) {
  tap_require(eb_solver_create(ops, options_of(ops), scene, threads, 1, &r->solver), ops->name);
  tap_require(eb_state_create(scene, &r->state), "create a state");
  tap_require(eb_step_log_create(1024, &r->log), "create a log");
}

static void run_close(run *r) {
  eb_solver_destroy(r->solver);
  eb_state_destroy(r->state);
  eb_step_log_destroy(r->log);
}

static bool nothing_is_free(const eb_scene *scene, double time) {
  size_t nodes = (size_t)scene->mesh->node_count;
  uint8_t *fixed = calloc(nodes, 1);
  double *target = calloc(3 * nodes, sizeof *target);
  eb_scene_boundary(scene, time, fixed, target);
  bool free_node = memchr(fixed, 0, nodes) != NULL;
  free(target);
  free(fixed);
  return !free_node;
}

/* One step; what the log must say of it whatever the method. Empty when all is well. */
static const char *step_and_inspect(run *r) {
  const eb_scene *scene = r->solver->scene;
  eb_reason reason = EB_RUNNING;
  double time = r->state->time;
  int64_t step = r->state->step;
  eb_step_log_reset(r->log);
  double began = eb_wall_seconds();
  tap_require(r->solver->ops->step(r->solver, r->state, scene->dt, r->log, &reason), "step");
  double wall = eb_wall_seconds() - began, phases = 0;
  for (int p = 0; p < EB_PHASE_COUNT; p++) phases += r->log->phase_seconds[p];
  if (reason <= 0) return eb_reason_name(reason);
  if (!all_finite(r->state)) return "the state is not finite";
  if (fabs(r->state->time - time - scene->dt) > 1e-12 * scene->dt + 1e-15 * time)
    return "the time did not advance by dt";
  if (r->state->step != step + 1) return "the step was not counted";
  /* A second step of statics finds the equilibrium where it is, and where all nodes are scripted
   * there is nothing to iterate for. */
  bool found = (step > 0 && eb_scene_needs(scene) & EB_CAP_STATICS) || nothing_is_free(scene, time);
  if (r->log->iterations < 1 && !found) return "no iterations in the log";
  if (!r->log->residual_norm || !*r->log->residual_norm) return "the residual norm has no name";
  if (!(phases > 0) || phases > wall) return "phases do not fit into the step";
  return "";
}

static uint64_t hash_after_steps(const eb_solver_ops *ops, const eb_scene *scene, int threads,
                                 const char **trouble) {
  run r = {0};
  run_open(&r, ops, scene, threads);
  int steps = is_large(scene) ? 1 : STEPS;
  *trouble = "";
  for (int i = 0; i < steps && !**trouble; i++) *trouble = step_and_inspect(&r);
  uint64_t hash = eb_state_hash(r.state);
  run_close(&r);
  return hash;
}

static double heap_grown_by_steps(run *r) {
  size_t before = heap_in_use();
  for (int i = 0; i < HEAP_STEPS; i++) step_and_inspect(r);
  return (double)heap_in_use() - (double)before;
}

/* After a first step, which may size things, the heap stays as it is, but for how the allocator
 * happens to split blocks that libraries take and give back; a leak of anything a step works on is
 * larger. Freed blocks that the allocator keeps at hand for a thread count as in use, so one round
 * of steps may end with more of them than it began with; a leak shows in every round. */
static void the_heap_stays(const eb_solver_ops *ops, const eb_scene *scene, const char *name) {
  if (!HEAP_IS_VISIBLE) return;
  run r = {0};
  run_open(&r, ops, scene, 1);
  step_and_inspect(&r);
  double grown = heap_grown_by_steps(&r);
  for (int round = 1; round < HEAP_ROUNDS && grown >= 512; round++)
    grown = fmin(grown, heap_grown_by_steps(&r));
  tap_below(grown, 512, name);
  run_close(&r);
}

static void declared_pair(const eb_solver_ops *ops, const eb_scene *scene, const char *name) {
  const char *trouble, *other;
  uint64_t one = hash_after_steps(ops, scene, 1, &trouble);
  tap_ok(!*trouble, "%s on %s: steps well %s", ops->name, name, trouble);
  uint64_t two = hash_after_steps(ops, scene, 2, &other);
  tap_ok(one == two, "%s on %s: the same bits with two threads", ops->name, name);
  char label[400];
  snprintf(label, sizeof label, "%s on %s: no growth of the heap", ops->name, name);
  the_heap_stays(ops, scene, label);
}

static void undeclared_pair(const eb_solver_ops *ops, const eb_scene *scene, const char *name) {
  char label[400];
  eb_solver *solver = NULL;
  snprintf(label, sizeof label, "%s on %s: refused", ops->name, name);
  tap_fails(eb_solver_create(ops, "", scene, 1, 1, &solver), EB_ERR_UNSUPPORTED, "lacks", label);
  eb_solver_destroy(solver);
}

/* Solvers for contact are asked where there is contact, and on blocks: others solve the large
 * systems of catalogue scenes without it faster. */
static bool worth_asking(const eb_solver_ops *ops, const eb_scene *scene, bool catalogue) {
  return !catalogue || !(ops->capabilities & EB_CAP_CONTACT) ||
         (eb_scene_needs(scene) & EB_CAP_CONTACT);
}

/* Explicit parts of a stiff scene's step, thousands, say nothing that hundreds do not. */
static bool is_stiff_for(const eb_solver_ops *ops, const eb_scene *scene) {
  static const double most_parts = 100;
  uint8_t *fixed;
  double *target;
  eb_block_matrix *matrix;
  if (strcmp(ops->name, "symplectic-euler") != 0) return false;
  if (is_large(scene)) return true;
  tap_require(EB_NEW(fixed, scene->mesh->node_count), "flags");
  tap_require(EB_NEW(target, 3 * (size_t)scene->mesh->node_count), "targets");
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(scene->elasticity), &matrix), "a matrix");
  eb_scene_boundary(scene, 0, fixed, target);
  double parts = scene->dt / eb_stable_step(scene, scene->x0, fixed, matrix);
  eb_block_matrix_destroy(matrix);
  free(target);
  free(fixed);
  return parts > most_parts;
}

static void every_solver_on(const eb_scene *scene, bool catalogue, const char *name) {
  for (const eb_solver_ops *const *at = eb_solvers(); *at; at++)
    if (eb_solver_wants_options(*at))
      continue;
    else if (eb_solver_lacks(*at, scene))
      undeclared_pair(*at, scene, name);
    else if (worth_asking(*at, scene, catalogue) && !is_stiff_for(*at, scene))
      declared_pair(*at, scene, name);
}

/* ---- scenes ---- */

static const eb_option *parameter(const eb_scene_ops *ops, const char *name) {
  for (const eb_option *at = ops->parameters; at && at->name; at++)
    if (!strcmp(at->name, name)) return at;
  return NULL;
}

/* Stuffed models of about this many elements, bars in a fifth of their cubes along each edge, but
 * no coarser than the scene allows. */
static double small_resolution(const eb_scene_ops *ops, const eb_option *resolution) {
  const double elements = 500;
  int32_t whole = ops->target_elements > 0 ? ops->target_elements : ops->model.elements;
  double wanted = ops->stand_in && whole > 0 ? fmin(1, elements / whole) : 0.2;
  return fmax(wanted, resolution->min);
}

/* Small, and with each of the two kinds of material, so that every solver meets every scene. The
 * step is short: at a frame a step conjugate gradients may well give up on stiff scenes, and that
 * is theirs to report. With gravity everywhere, so that there is something to solve from the first
 * step on. */
static void catalogue_scene(const eb_scene_ops *ops, const char *material) {
  char parameters[200] = "", name[240];
  const eb_option *resolution = parameter(ops, "resolution");
  if (parameter(ops, "bodies")) snprintf(parameters, sizeof parameters, "bodies=2,");
  if (parameter(ops, "layers")) snprintf(parameters, sizeof parameters, "layers=1,");
  if (resolution)
    snprintf(parameters + strlen(parameters), sizeof parameters - strlen(parameters),
             "resolution=%.3g,", small_resolution(ops, resolution));
  snprintf(parameters + strlen(parameters), sizeof parameters - strlen(parameters),
           "dt=%.3g,gravity=9.81,material=%s", 1e-3, material);
  snprintf(name, sizeof name, "%s:%s", ops->name, parameters);
  eb_scene *scene = NULL;
  if (!tap_succeeds(eb_scene_create(ops, parameters, NULL, "", &scene), name)) return;
  if (!is_large(scene) || !strcmp(material, "corotational")) every_solver_on(scene, true, name);
  eb_scene_destroy(scene);
}

static void block_scene(const char *parameters) {
  eb_scene *scene = NULL;
  tap_require(eb_block_create(&scene, "%s", parameters), parameters);
  every_solver_on(scene, false, parameters);
  eb_scene_destroy(scene);
}

static void blocks(void) {
  static const char *const variants[] = {
      "nx=5,gz=-9.8,support=x0",
      "nx=5,gz=-9.8,support=x0,material=corotational",
      "nx=3,element=hexahedra,gz=-9.8,support=x0",
      "nx=3,element=hexahedra,gz=-9.8,support=x0,material=corotational",
      "nx=5,element=triangles,gy=-9.8,support=x0",
      "nx=5,element=triangles,gy=-9.8,support=x0,material=corotational",
      "nx=5,element=triangles,fibre=fung,support=ends,motion=twist,rate=2",
      "nx=3,element=triangles,initial=spin,material=corotational",
      "nx=5,fibre=astvk,support=ends,motion=twist,rate=2",
      "nx=5,fibre=fung,support=ends,motion=twist,rate=2",
      "nx=5,support=ends,motion=twist,rate=2,material=corotational",
      "nx=3,support=surface,motion=affine,jitter=0.2",
      "nx=1,ny=1,nz=1,initial=spin",
      "nx=3,initial=spin,material=corotational",
  };
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) block_scene(variants[i]);
}

int main(void) {
  blocks();
  for (const eb_scene_ops *const *at = eb_scenes(); *at; at++) {
    catalogue_scene(*at, "stable-neo-hookean");
    catalogue_scene(*at, "corotational");
  }
  return tap_done();
}
