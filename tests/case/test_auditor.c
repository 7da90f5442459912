/* The auditor: what a solver writes to its scene reaches no audit and is named, cuts are followed,
 * and a recording is told from a solver. */
#include "harness/case/job.h"
#include "tests/support/scene_fixture.h"

/* ---- a case by hand -------------------------------------------------------------------------- */

static void open_job(eb_job *j, eb_case *work) {
  eb_scene_ops const *ops = work->scene;
  *j = (eb_job){.work = work, .environment = -1};
  tap_require(eb_scene_create(ops, work->parameters, NULL, cache, &j->scene), "a scene");
  tap_require(eb_auditor_create(work, NULL, &j->auditor), "an auditor");
  tap_require(eb_stepper_create(work->solver, work->options, j->scene, 1, 1, 100, &j->stepper),
              "a solver");
  tap_require(eb_state_create(j->scene, &j->before), "a state");
}

static void close_job(eb_job *j) {
  eb_stepper_clear(&j->stepper);
  eb_state_destroy(j->before);
  eb_auditor_clear(&j->auditor);
  eb_scene_destroy(j->scene);
}

/* As a case takes a step (harness/case/execute.c), without its clocks and files. */
static void take_step(eb_job *j, double row[EB_COL_COUNT]) {
  bool finite;
  tap_require(eb_auditor_advance(&j->auditor, j->stepper.state), "the auditor's scene");
  tap_require(eb_stepper_advance(&j->stepper), "the solver's scene");
  if (j->stepper.cut) {
    eb_state_destroy(j->before);
    tap_require(eb_state_create(j->scene, &j->before), "a state");
  }
  eb_state_copy(j->stepper.state, j->before);
  tap_require(eb_stepper_take(&j->stepper, j->scene->dt), "a step");
  j->stepper.state->step = j->before->step + 1;
  j->stepper.state->time = j->before->time + j->auditor.scene->dt;
  tap_require(eb_auditor_step(&j->auditor, j->before, j->stepper.state,
                              eb_solver_update(j->stepper.solver->ops, j->stepper.solver->options),
                              j->stepper.log, j->stepper.reason, row, &finite),
              "the auditor");
}

static eb_case case_of(const char *scene, char *parameters, const eb_solver_ops *solver) {
  return (eb_case){.scene = eb_scene_find(scene), .solver = solver, .parameters = parameters};
}

static char beam[] = "resolution=0.25", bar[] = "resolution=0.3,time1=0.015,time2=0.03,floor=0",
            bunny[] = "resolution=0.1,height=0.002,dt=0.01";

/* ---- changed scenes -------------------------------------------------------------------------- */

static void heavy(eb_scene *scene) {
  ((double *)(uintptr_t)eb_elasticity_mass(scene->elasticity))[3] *= 2;
}
static void weightless(eb_scene *scene) {
  scene->gravity[2] = 0;
}
static void soft(eb_scene *scene) {
  scene->materials[0].young /= 2;
}
static void slow(eb_scene *scene) {
  scene->dt /= 2;
}
static void deep(eb_scene *scene) {
  scene->contacts.colliders[0].origin[2] -= 1;
}
static void explicit(eb_scene *scene) {
  scene->contacts.colliders[0].implicit = false;
}
static void elsewhere(eb_scene *scene) {
  scene->x0[5] += 1e-9;
}
static void wide(eb_scene *scene) {
  scene->node_area[0] += 1e-9;
}
static void reshaped(eb_scene *scene) {
  scene->mesh->X[4] += 1e-12;
}

static void test_changes(void) {
  static const struct {
    void (*change)(eb_scene *scene);
    const char *name;
  } changes[] = {{heavy, "masses"},
                 {weightless, "gravity"},
                 {soft, "materials"},
                 {slow, "dt"},
                 {deep, "colliders"},
                 {explicit, "colliders"},
                 {elsewhere, "initial state"},
                 {wide, "areas of nodes"},
                 {reshaped, "mesh"}};
  double honest[EB_COL_COUNT] = {0}, row[EB_COL_COUNT] = {0};
  eb_case work = case_of("conjac2020/bunny", bunny, eb_solver_find("semi-implicit"));
  eb_job j;
  open_job(&j, &work);
  take_step(&j, honest);
  tap_require(eb_auditor_compare(&j.auditor, j.scene), "compare");
  tap_ok(j.auditor.verdict.broken[EB_RULE_SCENE] == 0, "an honest solver leaves the scene alone");
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    eb_scene *scene;
    tap_require(eb_scene_create(work.scene, work.parameters, NULL, cache, &scene), "a scene");
    changes[i].change(scene);
    j.auditor.verdict = (eb_verdict){0};
    tap_require(eb_auditor_compare(&j.auditor, scene), "compare");
    if (!tap_ok(j.auditor.verdict.broken[EB_RULE_SCENE] == 1 &&
                    strstr(j.auditor.verdict.detail, changes[i].name),
                "changed %s are named", changes[i].name))
      printf("#   '%s'\n", j.auditor.verdict.detail);
    eb_scene_destroy(scene);
  }
  close_job(&j);
  open_job(&j, &work);
  j.scene->gravity[2] = 0;
  j.scene->dt /= 2;
  bool finite;
  tap_require(eb_auditor_advance(&j.auditor, j.stepper.state), "advance");
  tap_require(eb_stepper_step(&j.stepper), "a step");
  j.stepper.state->step = 1;
  j.stepper.state->time = j.auditor.scene->dt;
  tap_require(eb_auditor_step(&j.auditor, j.before, j.stepper.state,
                              eb_solver_update(j.stepper.solver->ops, j.stepper.solver->options),
                              j.stepper.log, j.stepper.reason, row, &finite),
              "the auditor");
  tap_ok(row[EB_COL_EQUATION_RESIDUAL] > 1e-2 && j.auditor.verdict.failures > 0,
         "a step of the changed scene does not solve the auditor's");
  close_job(&j);
}

/* ---- cuts ------------------------------------------------------------------------------------ */

static void test_cuts(void) {
  eb_case work = case_of("conjac2020/barcut", bar, eb_solver_find("semi-implicit"));
  double row[EB_COL_COUNT], worst = 0;
  eb_job j;
  open_job(&j, &work);
  int32_t nodes = j.auditor.scene->mesh->node_count;
  for (int n = 0; n < 12; n++) {
    take_step(&j, row);
    worst = fmax(worst, row[EB_COL_EQUATION_RESIDUAL]);
  }
  tap_ok(j.auditor.scene->script.cuts_made == 2 && j.auditor.scene->mesh->node_count > nodes,
         "the auditor's scene is cut too");
  /* A direct solve of some hundred unknowns. */
  tap_below(worst, 1e-10, "steps before and after cuts solve their equation");
  tap_require(eb_auditor_compare(&j.auditor, j.scene), "compare");
  if (!tap_ok(!strcmp(eb_verdict_word(&j.auditor.verdict), "passed"), "and keep the rules"))
    printf("#   %s\n", j.auditor.verdict.detail);
  close_job(&j);
}

/* ---- recordings ------------------------------------------------------------------------------ */

enum { STEPS = 5 };

/* The velocities of an honest run, played back whatever the state is; positions follow from them,
 * so that no rule but the residual tells. */
static struct recording { double *x[STEPS + 2], *v[STEPS + 2]; } tape;

static eb_error play(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  (void)solver;
  size_t size = 3 * (size_t)state->node_count;
  memcpy(state->v, tape.v[state->step + 1], size * sizeof(double));
  for (size_t k = 0; k < size; k++) state->x[k] += dt * state->v[k];
  log->equation = EB_EQUATION_LINEARIZED;
  *reason = EB_CONVERGED_ITS;
  return EB_OK;
}

static eb_error load(eb_solver *solver, const eb_scene *scene) {
  (void)solver, (void)scene;
  return EB_OK;
}

static void unload(eb_solver *solver) {
  (void)solver;
}

static void test_replay(void) {
  eb_solver_ops player = *eb_solver_find("semi-implicit");
  player.options = NULL;
  player.create = load;
  player.step = play;
  player.destroy = unload;
  double row[EB_COL_COUNT];
  size_t size = 0;
  for (int recorded = 0; recorded < 2; recorded++) {
    eb_case work =
        case_of("bench/beam", beam, recorded ? &player : eb_solver_find("semi-implicit"));
    eb_job j;
    open_job(&j, &work);
    size = 3 * (size_t)j.stepper.state->node_count;
    for (int n = 1; n <= STEPS + !recorded; n++) {
      if (n <= STEPS) take_step(&j, row);
      if (recorded) continue;
      tape.v[n] = malloc(size * sizeof(double));
      memcpy(tape.v[n], j.stepper.state->v, size * sizeof(double));
    }
    tap_ok(j.auditor.verdict.failures == 0,
           recorded ? "a recording of a run passes as the run" : "a run of a solver passes");
    eb_verdict before = j.auditor.verdict;
    tap_require(eb_job_test_replay(&j), "a test of replay");
    tap_ok(j.auditor.verdict.broken[EB_RULE_REPLAY] == recorded,
           recorded ? "until it is asked for a step that it has not got"
                    : "and so does its answer");
    tap_ok(j.auditor.verdict.residual2 == before.residual2 &&
               j.auditor.verdict.steps == before.steps,
           "which is in no figure of the run");
    close_job(&j);
  }
  for (int n = 0; n < STEPS + 2; n++) free(tape.v[n]);
}

int main(void) {
  fixture_open();
  setenv("XDG_CACHE_HOME", cache, 1);
  test_changes();
  test_cuts();
  test_replay();
  return fixture_close();
}
