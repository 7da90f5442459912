/* Every pair of a solver and a small scene, stepped a few times and inspected. */
#include "harness/check/conformance.h"

#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/check/block.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/base/sanitizer.h"
#include "problems/base/text.h"
#include "problems/scene_impl.h"
#include "solvers/symplectic_euler/stability.h"

/* Sanitizers, ten times as slow, see scenes of more than LARGE elements with one of the materials
 * and for one step. */
#if EB_SANITIZER
enum { HEAP_IS_VISIBLE = 0, LARGE = 4000 };
#else
enum { HEAP_IS_VISIBLE = 1, LARGE = INT_MAX };
#endif

enum { STEPS = 2, HEAP_STEPS = 3, HEAP_ROUNDS = 12, RESIDUALS = 1024 };
static const double heap_allowed = 512; /* bytes: how the allocator splits blocks of libraries */

static bool is_large(const eb_scene *scene) {
  return scene->mesh->element_count > LARGE;
}

/* ---- one run --------------------------------------------------------------------------------- */

/* The defaults, but that nodes are added where those that are chosen by default leave a body free
 * to move rigidly: which ones to choose is a question to the user otherwise. */
static const char *options_of(const eb_solver_ops *ops) {
  return eb_subject_declares(ops, "add_nodes") ? "add_nodes=true" : "";
}

static eb_error find_free(const eb_scene *scene, double time, bool *any) {
  size_t nodes = (size_t)scene->mesh->node_count;
  EB_FREED uint8_t *fixed = NULL;
  EB_FREED double *target = NULL;
  EB_TRY(EB_NEW(fixed, nodes));
  EB_TRY(EB_NEW(target, 3 * nodes));
  eb_scene_boundary(scene, time, fixed, target);
  *any = memchr(fixed, 0, nodes) != NULL;
  return EB_OK;
}

static bool is_finite(const eb_state *state) {
  for (int64_t k = 0; k < 3 * (int64_t)state->node_count; k++)
    if (!isfinite(state->x[k]) || !isfinite(state->v[k])) return false;
  return true;
}

/* What a step has made of the log and the state; "" when all is well. */
static const char *inspect(const eb_stepper *r, double time, int64_t step, double wall,
                           bool found) {
  const eb_scene *scene = r->scene;
  double phases = 0;
  for (int p = 0; p < EB_PHASE_COUNT; p++) phases += r->log->phase_seconds[p];
  if (!is_finite(r->state)) return "the state is not finite";
  if (fabs(r->state->time - time - scene->dt) > 1e-12 * scene->dt + 1e-15 * time)
    return "the time did not advance by dt";
  if (r->state->step != step + 1) return "the step was not counted";
  if (r->log->iterations < 1 && !found) return "no iterations in the log";
  if (!*eb_log_norm(r->log)) return "the residual norm has no name";
  if (!(phases > 0) || phases > wall) return "phases do not fit into the step";
  return "";
}

/* One step; *trouble is "" when all is well with it, and *gave_up what it ended with when that is
 * no success, else NULL. */
static eb_error step_and_inspect(eb_stepper *r, const char **trouble, const char **gave_up) {
  const eb_scene *scene = r->scene;
  double time = r->state->time;
  int64_t step = r->state->step;
  bool any_free = true;
  double began = eb_wall_seconds();
  EB_TRY(eb_stepper_step(r));
  double wall = eb_wall_seconds() - began;
  eb_reason reason = r->reason;
  *trouble = reason == EB_RUNNING ? "the step has no outcome" : "";
  *gave_up = reason < 0 ? eb_reason_name(reason) : NULL;
  if (reason <= 0) return EB_OK;
  /* A second step of statics finds the equilibrium where it is, and where all nodes are scripted
   * there is nothing to iterate for. */
  EB_TRY(find_free(scene, time, &any_free));
  bool found = (step > 0 && eb_scene_needs(scene) & EB_CAP_STATICS) || !any_free;
  *trouble = inspect(r, time, step, wall, found);
  return EB_OK;
}

/* ---- what is looked at ------------------------------------------------------------------------
 */

/* Of some steps: the hash of the state that they end with, and what went wrong on the way. */
typedef struct outcome {
  uint64_t hash;
  const char *trouble, *gave_up;
} outcome;

static eb_error walk(eb_stepper *r, outcome *out) {
  int steps = is_large(r->scene) ? 1 : STEPS;
  *out = (outcome){.trouble = ""};
  for (int i = 0; i < steps && !*out->trouble && !out->gave_up; i++)
    EB_TRY(step_and_inspect(r, &out->trouble, &out->gave_up));
  out->hash = eb_state_hash(r->state);
  return EB_OK;
}

static double heap_in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return (double)(info.uordblks + info.hblkhd);
}

/* After the first steps, which may size things, the heap stays as it is, but for how the allocator
 * happens to split blocks that libraries take and give back; a leak of anything a step works on is
 * larger. Freed blocks that the allocator keeps at hand for a thread count as in use, so one round
 * of steps may end with more of them than it began with; a leak shows in every round. */
static eb_error grow(eb_stepper *r, double *least) {
  const char *trouble, *gave_up;
  *least = INFINITY;
  for (int round = 0; round<HEAP_ROUNDS && * least> heap_allowed; round++) {
    double before = heap_in_use();
    for (int i = 0; i < HEAP_STEPS; i++) EB_TRY(step_and_inspect(r, &trouble, &gave_up));
    *least = fmin(*least, heap_in_use() - before);
  }
  return EB_OK;
}

/* With `grown` goes on behind the steps, and says what each HEAP_STEPS more leave in the heap. */
static eb_error take_steps(const eb_solver_ops *ops, eb_scene *scene, int threads, outcome *out,
                           double *grown) {
  EB_OWNED(eb_stepper_clear) eb_stepper r = {0};
  EB_TRY(eb_stepper_create(ops, options_of(ops), scene, threads, 1, RESIDUALS, &r));
  EB_TRY(walk(&r, out));
  return grown && HEAP_IS_VISIBLE ? grow(&r, grown) : EB_OK;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void find(const eb_conformance *conformance, eb_conformity *at, eb_conforming what,
                 bool kept, const char *why) {
  at->what = what;
  at->kept = kept;
  at->why = kept ? "" : why;
  conformance->found(conformance->context, at);
}

static eb_error declared_pair(const eb_conformance *conformance, eb_scene *scene,
                              eb_conformity *at) {
  outcome one, two;
  char why[80];
  EB_TRY(take_steps(at->solver, scene, 1, &one, &at->grown));
  find(conformance, at, EB_CONFORMING_STEPS, !*one.trouble, one.trouble);
  find(conformance, at, EB_CONFORMING_ANSWERS, !one.gave_up, one.gave_up);
  EB_TRY(take_steps(at->solver, scene, 2, &two, NULL));
  find(conformance, at, EB_CONFORMING_THREADS, one.hash == two.hash,
       "other bits with two threads than with one");
  if (!HEAP_IS_VISIBLE) return EB_OK;
  snprintf(why, sizeof why, "the heap grows by %.0f bytes in %d steps", at->grown, HEAP_STEPS);
  find(conformance, at, EB_CONFORMING_HEAP, at->grown <= heap_allowed, why);
  return EB_OK;
}

static void undeclared_pair(const eb_conformance *conformance, const eb_scene *scene,
                            eb_conformity *at) {
  eb_solver *solver = NULL;
  eb_error error = eb_solver_create(at->solver, "", scene, 1, 1, &solver);
  bool refused = error && eb_error_kind(error) == EB_ERR_UNSUPPORTED &&
                 strstr(eb_error_message(error), "lacks");
  find(conformance, at, EB_CONFORMING_REFUSAL, refused,
       error ? eb_error_message(error) : "it takes a scene that it does not serve");
  eb_error_free(error);
  eb_solver_destroy(solver);
}

/* Solvers for contact are asked where there is contact, and on blocks: others solve the large
 * systems of catalogue scenes without it faster. */
static bool is_worth_asking(const eb_solver_ops *ops, const eb_scene *scene, bool catalogue) {
  return !catalogue || !(ops->capabilities & EB_CAP_CONTACT) ||
         (eb_scene_needs(scene) & EB_CAP_CONTACT);
}

/* Explicit parts of a stiff scene's step, thousands, say nothing that hundreds do not. */
static eb_error is_stiff_for(const eb_solver_ops *ops, const eb_scene *scene, bool *stiff) {
  static const double most_parts = 100;
  double stable = 0;
  *stiff = false;
  if (!eb_subject_declares(ops, "max_substeps")) return EB_OK;
  if (!is_large(scene)) EB_TRY(eb_stable_step_at_start(scene, &stable));
  *stiff = scene->dt > most_parts * stable;
  return EB_OK;
}

eb_error eb_conformance_pair(const eb_conformance *conformance, const eb_solver_ops *ops,
                             eb_scene *scene, bool catalogue, const char *name) {
  eb_conformity at = {.solver = ops, .scene = name, .catalogue = catalogue};
  bool stiff;
  if (eb_solver_lacks(ops, scene)) {
    undeclared_pair(conformance, scene, &at);
    return EB_OK;
  }
  if (!is_worth_asking(ops, scene, catalogue)) return EB_OK;
  EB_TRY(is_stiff_for(ops, scene, &stiff));
  return stiff
             ? EB_OK
             : eb_error_prefix(declared_pair(conformance, scene, &at), "%s on %s", ops->name, name);
}

/* ---- scenes ---------------------------------------------------------------------------------- */

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
static eb_error visit_catalogue(const eb_conformance_visitor *v, const eb_scene_ops *ops,
                                const char *material) {
  char parameters[200] = "", name[240];
  const eb_option *resolution = parameter(ops, "resolution");
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  if (parameter(ops, "bodies")) snprintf(parameters, sizeof parameters, "bodies=2,");
  if (parameter(ops, "layers")) snprintf(parameters, sizeof parameters, "layers=1,");
  if (resolution)
    snprintf(parameters + strlen(parameters), sizeof parameters - strlen(parameters),
             "resolution=%.3g,", small_resolution(ops, resolution));
  snprintf(parameters + strlen(parameters), sizeof parameters - strlen(parameters),
           "dt=%.3g,gravity=9.81,material=%s", 1e-3, material);
  snprintf(name, sizeof name, "%s:%s", ops->name, parameters);
  EB_TRY(eb_error_prefix(eb_scene_create(ops, parameters, NULL, "", &scene), "%s", name));
  bool seen = is_large(scene) && strcmp(material, "corotational");
  EB_TRY(seen ? EB_OK : v->visit(v->context, scene, true, name));
  return EB_OK;
}

static eb_error visit_block(const eb_conformance_visitor *v, const char *parameters) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_TRY(eb_block_create(&scene, "%s", parameters));
  EB_TRY(v->visit(v->context, scene, false, parameters));
  return EB_OK;
}

eb_error eb_conformance_scenes(const eb_conformance_visitor *visitor) {
  static const char *const blocks[] = {
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
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    EB_TRY(visit_block(visitor, blocks[i]));
  for (const eb_scene_ops *const *at = eb_scenes(); *at; at++) {
    if (visitor->wants && !visitor->wants(visitor->context, *at)) continue;
    EB_TRY(visit_catalogue(visitor, *at, "stable-neo-hookean"));
    EB_TRY(visit_catalogue(visitor, *at, "corotational"));
  }
  return EB_OK;
}

/* ---- figures --------------------------------------------------------------------------------- */

enum { MOST_NEEDS = 128 };

/* Of one solver over the scenes: all blocks, and of the catalogue the first of each kind, by what
 * it needs. */
typedef struct tally {
  const eb_solver_ops *solver;
  uint32_t needs[MOST_NEEDS];
  int kinds;
  int asked[EB_CONFORMINGS], broken[EB_CONFORMINGS];
  int given_up; /* scenes of the catalogue, which may be too stiff for it */
  eb_text first[EB_CONFORMINGS];
  double grown;
  eb_error error; /* of the texts */
} tally;

static void count(void *context, const eb_conformity *at) {
  tally *t = context;
  t->asked[at->what]++;
  if (at->what == EB_CONFORMING_HEAP) t->grown = fmax(t->grown, at->grown);
  if (at->kept) return;
  if (at->what == EB_CONFORMING_ANSWERS && at->catalogue) {
    t->given_up++;
    return;
  }
  if (t->broken[at->what]++ == 0 && !t->error)
    t->error = eb_text_printf(&t->first[at->what], "; the first: %s: %s", at->scene, at->why);
}

/* Whether it may be served, with one material or another. */
static bool may_serve(void *context, const eb_scene_ops *scene) {
  static const uint32_t materials =
      EB_CAP_COROTATIONAL | EB_CAP_HYPERELASTIC | EB_CAP_PROJECTIVE | EB_CAP_FIBRES;
  const tally *t = context;
  return !(scene->needs & ~materials & ~t->solver->capabilities);
}

static bool is_new_kind(tally *t, uint32_t needs) {
  for (int k = 0; k < t->kinds; k++)
    if (t->needs[k] == needs) return false;
  if (t->kinds < MOST_NEEDS) t->needs[t->kinds++] = needs;
  return true;
}

static eb_error ask(void *context, eb_scene *scene, bool catalogue, const char *name) {
  tally *t = context;
  const eb_conformance conformance = {count, t};
  if (catalogue && !is_new_kind(t, eb_scene_needs(scene))) return EB_OK;
  EB_TRY(eb_conformance_pair(&conformance, t->solver, scene, catalogue, name));
  return t->error;
}

static eb_error emit(const eb_check *check, tally *t, eb_conforming what, const char *name,
                     const char *meaning) {
  EB_OWNED(eb_text_clear) eb_text reason = {0};
  double measured = what == EB_CONFORMING_HEAP ? t->grown : t->broken[what];
  EB_TRY(eb_text_printf(&reason, "%s, of %d", meaning, t->asked[what]));
  if (what == EB_CONFORMING_ANSWERS)
    EB_TRY(eb_text_printf(&reason, ", but for %d of the catalogue, which may be too stiff for it",
                          t->given_up));
  if (t->first[what].data) EB_TRY(eb_text_printf(&reason, "%s", t->first[what].data));
  eb_check_below(check, measured, what == EB_CONFORMING_HEAP ? heap_allowed : 0, reason.data,
                 "%s/conformance/%s", t->solver->name, name);
  return EB_OK;
}

static eb_error emit_all(const eb_check *check, tally *t) {
  static const char *const words[EB_CONFORMINGS][2] = {
      {"steps", "scenes on which a step breaks the contract of solvers/solver.h"},
      {"answers", "scenes that it serves and gives up"},
      {"threads", "scenes on which two threads make other bits than one"},
      {"heap", "bytes that three steps leave behind, the most of all scenes"},
      {"refusals", "scenes that it does not declare and takes"}};
  for (int w = 0; w < EB_CONFORMINGS; w++)
    EB_TRY(emit(check, t, (eb_conforming)w, words[w][0], words[w][1]));
  return EB_OK;
}

eb_error eb_conformance_check(const eb_check *check) {
  tally t = {.solver = check->solver};
  eb_error error = eb_conformance_scenes(&(eb_conformance_visitor){may_serve, ask, &t});
  if (!error) error = emit_all(check, &t);
  for (int w = 0; w < EB_CONFORMINGS; w++) eb_text_clear(&t.first[w]);
  return error;
}
