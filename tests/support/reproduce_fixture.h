/* A paper in a scratch folder, and a result file in which its runs are made up. */
#ifndef EB_TESTS_REPRODUCE_FIXTURE_H
#define EB_TESTS_REPRODUCE_FIXTURE_H

#include <sys/stat.h>

#include "harness/environment.h"
#include "harness/reproduce/claim.h"
#include "harness/results/merge.h"
#include "harness/results/write.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

/* A run that was never run. Its scene is bench/beam, whose frames have two steps. */
typedef struct fake {
  const char *name; /* of the case */
  eb_outcome outcome;
  int steps;
  double first, wall;  /* s: each step of the first frame, and of the others */
  double growth;       /* s more from each step to the next */
  int slow, quick;     /* a third more time from the one step to before the other */
  double accounted;    /* share of a step that is in phases: half assemble, half solve */
  double iterations;   /* of the linear solver, a step */
  double drift;        /* m a step: the whole body along x */
  double inverted;     /* elements, in the second step */
  int touches, leaves; /* steps with contact: from the one to before the other, */
  int again;           /* and from this one on */
  double factor_bytes;
  int repetition;
  double solve, factor;     /* s, phases of every step; beside `accounted` */
  double kinetic, fade;     /* J in the first step; times this from each step to the next */
  double force, force_fade; /* the same of the residual that the solver logs, N; 0: none */
  double order; /* of convergence of the residuals behind it: a tenth first; 0: there is one */
  double anew; /* decades by which that rises where the problem is made anew, once a step; 0: not */
  double momentum, rebound; /* kg m/s: down until the touch, up after it */
  double depth;             /* m, the deepest penetration, while it touches */
  double turn;     /* rad, the last frame's about the x axis at the larger end of the body */
  double stretch;  /* of the last frame along x */
  double saw;      /* m: every other node of a row along x is raised by that, the others lowered */
  double arc;      /* rad: of the arc into which the last frame is bent, upper side outwards */
  double unknowns; /* of the reduced system */
  double cut_step; /* s that the step had taken that the time limit cut off */
  bool kept;       /* the last state is a checkpoint */
  const char *lie; /* what the audit says against it, or NULL */
  const char *broken; /* the rules that it breaks, or NULL */
} fake;

typedef struct made_up {
  eb_paper *paper;
  eb_paper_plan plan;
  eb_results *results;
  eb_evidence evidence;
} made_up;

/* Files of the paper `name`. */
__attribute__((unused)) static void write_paper(const char *name, const char *file,
                                                const char *text) {
  char path[128];
  mkdir(in_folder(name), 0777);
  snprintf(path, sizeof path, "%s/%s", name, file);
  write_bytes(path, text, strlen(text));
}

/* What the last frame shows: a saw, an arc, a turn that grows along x, and a stretch. */
static void deform(const fake *f, eb_state *state) {
  double most = -INFINITY;
  for (int32_t i = 0; i < state->node_count; i++) most = fmax(most, state->x[3 * i]);
  for (int32_t i = 0; i < state->node_count; i++) {
    double *x = state->x + 3 * i, angle = f->turn * x[0] / most;
    const double edge = 0.1; /* m: of the beam's cubes at a resolution of 0.25 */
    if (f->saw != 0) x[2] += lround(x[0] / edge) % 2 ? f->saw : -f->saw;
    if (f->arc != 0) {
      double radius = most / f->arc + x[2], at = f->arc * x[0] / most;
      x[0] = radius * sin(at);
      x[2] = radius * cos(at) - most / f->arc;
    }
    double y = x[1], z = x[2];
    x[0] *= 1 + f->stretch;
    x[1] = cos(angle) * y - sin(angle) * z;
    x[2] = sin(angle) * y + cos(angle) * z;
  }
}

static eb_error put_fake_step(const fake *f, int s, eb_recorder *recorder, eb_state *state,
                              eb_step_log *log) {
  double row[EB_COL_COUNT] = {0};
  row[EB_COL_STEP] = s + 1;
  row[EB_COL_WALL] = (s < 2 ? f->first : f->wall) + f->growth * s;
  if (s >= f->slow && s < f->quick) row[EB_COL_WALL] *= 4. / 3;
  bool failed = f->outcome == EB_OUTCOME_DIVERGED && s + 1 == f->steps;
  row[EB_COL_REASON] = failed ? EB_DIVERGED_MAX_IT : EB_CONVERGED_RTOL;
  row[EB_COL_INVERTED] = s == 1 ? f->inverted : 0;
  row[EB_COL_CONTACTS] = (s >= f->touches && s < f->leaves) || (f->again && s >= f->again);
  row[EB_COL_TIME] = 0.1 * (s + 1);
  row[EB_COL_KINETIC] = f->kinetic * pow(f->fade > 0 ? f->fade : 1, s);
  row[EB_COL_MOMENTUM_Z] = s <= f->touches ? -f->momentum : f->rebound * f->momentum;
  row[EB_COL_MAX_PENETRATION] = row[EB_COL_CONTACTS] * f->depth;
  eb_step_log_reset(log);
  log->phase_seconds[EB_PHASE_ASSEMBLE] = 0.5 * f->accounted * row[EB_COL_WALL];
  log->phase_seconds[EB_PHASE_SOLVE] = 0.5 * f->accounted * row[EB_COL_WALL] + f->solve;
  log->phase_seconds[EB_PHASE_FACTOR] = f->factor;
  eb_log_count(log, EB_COUNT_REDUCED_UNKNOWNS, f->unknowns);
  if (f->force != 0) eb_log_residual(log, f->force * pow(f->force_fade, s));
  double decades = 0; /* gained; below 1e-14 residuals stay where they are, as rounding does */
  for (int k = 0; f->order != 0 && k < 5; k++) {
    decades += pow(f->order, k);
    eb_log_residual(log, f->force * fmax(pow(10, -decades), 1e-14));
  }
  if (f->anew != 0) { /* elsewhere it rises by one */
    eb_log_residual(log, f->force / 100);
    eb_log_residual(log, f->force / 10);
    eb_log_residual(log, f->force / 1000);
    eb_log_round(log);
    eb_log_residual(log, f->force / 1000);
    eb_log_residual(log, f->force / 1000 * pow(10, f->anew));
  }
  eb_log_count(log, EB_COUNT_LINEAR_ITERATIONS, f->iterations);
  for (int32_t i = 0; i < state->node_count; i++) state->x[3 * i] += f->drift;
  if (s == f->steps - 1) deform(f, state);
  state->step = s + 1;
  state->time = row[EB_COL_TIME];
  EB_TRY(eb_recorder_step(recorder, row, log));
  if (f->kept && s == f->steps - 1)
    EB_TRY(eb_recorder_checkpoint(recorder, state, state->time - 0.1));
  return s % 2 ? eb_recorder_frame(recorder, &(eb_frame){.state = state}) : EB_OK;
}

static eb_error put_fake_steps(const fake *f, const char *path, const eb_run *run,
                               const eb_scene *scene) {
  eb_recorder *recorder = NULL;
  eb_state *state = NULL;
  eb_step_log *log = NULL;
  eb_error error = eb_recorder_create(path, -1, run, scene, &recorder);
  if (!error) error = eb_state_create(scene, &state);
  if (!error) error = eb_step_log_create(8, &log);
  if (!error && f->factor_bytes > 0) eb_log_memory(log, EB_MEMORY_FACTOR, f->factor_bytes);
  if (!error) error = eb_recorder_setup(recorder, log);
  if (!error) error = eb_recorder_frame(recorder, &(eb_frame){.state = state});
  for (int s = 0; s < f->steps && !error; s++) error = put_fake_step(f, s, recorder, state, log);
  if (!error) error = eb_recorder_finish(recorder, run);
  eb_step_log_destroy(log);
  eb_state_destroy(state);
  eb_recorder_destroy(recorder);
  return error;
}

static const eb_case *planned(const made_up *m, const fake *f) {
  int c = eb_paper_case_find(m->paper, f->name);
  for (int i = 0; c >= 0 && i < m->plan.plan.count; i++)
    if (strcmp(m->plan.plan.cases[i].identity, m->plan.cases[c].identities.items[f->repetition]) ==
        0)
      return &m->plan.plan.cases[i];
  return NULL;
}

static eb_error put_fake(const made_up *m, const fake *f, const char *path) {
  eb_run run = {0};
  eb_scene *scene = NULL;
  char hash[20];
  const eb_case *work = planned(m, f);
  if (!work) return EB_ERROR(EB_ERR_USAGE, "no case '%s' is planned", f->name);
  eb_error error = eb_case_describe(work, &run);
  if (!error) error = eb_scene_create(work->scene, work->parameters, NULL, "", &scene);
  if (!error) {
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)scene->hash);
    run.nodes = scene->mesh->node_count;
    run.elements = scene->mesh->element_count;
    run.steps_done = f->steps;
    run.cut_step_seconds = f->cut_step;
    error = eb_string_set(&run.scene_hash, hash);
  }
  if (!error) error = eb_string_set(&run.outcome, eb_outcome_name(f->outcome));
  if (!error) error = eb_string_set(&run.audit, f->lie ? "failed" : "passed");
  if (!error) error = eb_string_set(&run.audit_detail, f->lie);
  if (!error) error = eb_string_set(&run.audit_rules, f->broken);
  if (!error) error = put_fake_steps(f, path, &run, scene);
  eb_scene_destroy(scene);
  eb_run_clear(&run);
  return error;
}

/* The target's environment has the machine's rates: `speedup` by a second thread. */
static eb_error put_results(const made_up *m, const fake *fakes, int count, double speedup) {
  eb_strings parts = {0};
  char path[300];
  eb_rates rates = {.dgemm = 1e10, .dgemm_all = speedup * 1e10, .threads = 2};
  eb_error error = eb_environment_write(in_folder("all.h5"), "made up", &rates);
  for (int i = 0; i < count && !error; i++) {
    snprintf(path, sizeof path, "%s/part%d.h5", folder, i);
    error = put_fake(m, &fakes[i], path);
    if (!error) error = eb_strings_add(&parts, path);
  }
  if (!error && count) error = eb_results_collect(in_folder("all.h5"), &parts, EB_MERGE_ADD, NULL);
  eb_strings_clear(&parts);
  return error;
}

/* Evidence of `fakes` for a paper of this text; ends the program when that fails. */
__attribute__((unused)) static void make_up(const char *ini, bool quick, const fake *fakes,
                                            int count, double speedup, made_up *m) {
  write_paper("made-up", "paper.ini", ini);
  tap_require(eb_paper_load("made-up", folder, quick, &m->paper), "a paper");
  tap_require(eb_paper_plan_create(m->paper, NULL, NULL, &m->plan), "its plan");
  tap_require(put_results(m, fakes, count, speedup), "its results");
  tap_require(eb_results_open(in_folder("all.h5"), &m->results), "the results");
  tap_require(eb_evidence_create(m->paper, &m->plan, m->results, &m->evidence), "the evidence");
}

__attribute__((unused)) static void forget(made_up *m) {
  eb_evidence_clear(&m->evidence);
  eb_results_close(m->results);
  eb_paper_plan_clear(&m->plan);
  eb_paper_destroy(m->paper);
}

/* One test a claim: its verdict, and what the reason says. Returns our value. */
__attribute__((unused)) static double expect(const made_up *m, const char *id,
                                             eb_claim_verdict verdict, const char *says) {
  eb_claim_result result;
  eb_evaluation e = {.paper = m->paper, .evidence = &m->evidence, .left_out = -1};
  const eb_paper_claim *claim = NULL;
  for (int c = 0; c < m->paper->claim_count; c++)
    if (strcmp(m->paper->claims[c].id, id) == 0) claim = &m->paper->claims[c];
  if (!claim) {
    tap_ok(false, "%s: there is no such claim", id);
    return NAN;
  }
  tap_require(eb_claim_judge(&e, claim, &result), id);
  bool good = result.verdict == verdict && strstr(result.reason.data, says) != NULL;
  tap_ok(good, "%s: %s", eb_section_value(claim->section, "holds"), eb_claim_verdict_name(verdict));
  if (!good)
    printf("#   got '%s': %s\n#   wanted '%s'\n", eb_claim_verdict_name(result.verdict),
           result.reason.data, says);
  double ours = result.ours;
  eb_claim_result_clear(&result);
  return ours;
}

/* What a claim of one expression comes to. */
typedef struct verdict {
  const char *holds;
  eb_claim_verdict verdict;
  const char *says;
} verdict;

/* Judges claims of these expressions on such evidence. */
__attribute__((unused)) static void expect_all(const char *ini, bool quick, const fake *fakes,
                                               int count, const verdict *verdicts, int wanted) {
  eb_text text = {0};
  char id[16];
  made_up m;
  tap_require(eb_text_printf(&text, "%s", ini), "a paper");
  for (int v = 0; v < wanted; v++)
    tap_require(eb_text_printf(&text, "[claim c%d]\nholds = %s\n", v, verdicts[v].holds), "claims");
  make_up(text.data, quick, fakes, count, 2.5, &m);
  for (int v = 0; v < wanted; v++) {
    snprintf(id, sizeof id, "c%d", v);
    expect(&m, id, verdicts[v].verdict, verdicts[v].says);
  }
  forget(&m);
  eb_text_clear(&text);
}

#endif
