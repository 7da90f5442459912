#include "harness/case/execute.h"

#include <inttypes.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/case/challenge.h"
#include "harness/case/origin.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"

enum { RESIDUALS_KEPT = 1 << 16 };

/* ---- being told to end ----------------------------------------------------------------------- */

/* SIGTERM comes from outside. It is blocked in all threads and looked for between steps, so that
 * the steps that were taken are kept. */
static void hold_termination(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, NULL);
}

/* ---- set-up ---------------------------------------------------------------------------------- */

/* Nodes of the mesh that frames are stored on. */
static eb_error count_final_nodes(const eb_scene *scene, int64_t *nodes) {
  eb_mesh *mesh;
  int32_t *parent;
  *nodes = scene->mesh->node_count;
  if (scene->cut_count == 0) return EB_OK;
  EB_TRY(eb_scene_final_mesh(scene, &mesh, &parent));
  *nodes = mesh->node_count;
  eb_mesh_destroy(mesh);
  free(parent);
  return EB_OK;
}

static eb_error describe_scene(eb_job *j) {
  char hash[20];
  const eb_scene *scene = j->scene;
  snprintf(hash, sizeof hash, "%016" PRIx64, scene->hash);
  EB_TRY(count_final_nodes(scene, &j->run.nodes));
  j->run.uncut_nodes = scene->uncut_nodes;
  j->run.elements = scene->mesh->element_count;
  j->run.dt = scene->dt;
  EB_TRY(eb_run_set(&j->run.mesh_source, scene->mesh_source));
  return eb_run_set(&j->run.scene_hash, hash);
}

/* The scene, the solver and the audit; *failure is what they report, the return value is ours. */
static eb_error set_up(eb_job *j, eb_error *failure, const char **where) {
  double began = eb_wall_seconds();
  *where = "scene";
  j->page->stage = EB_STAGE_SCENE;
  *failure =
      eb_scene_create(j->work->scene, j->work->parameters, j->work->mesh_file, NULL, &j->scene);
  j->run.scene_seconds = eb_wall_seconds() - began;
  if (*failure) return EB_OK;
  EB_TRY(describe_scene(j));
  *where = "start";
  EB_TRY(eb_origin_open(j, failure));
  if (*failure) return EB_OK;
  *where = "audit";
  *failure = eb_witness_create(j->work, &j->witness);
  if (*failure) return EB_OK;
  j->cost.auditors = j->witness.team;
  *where = "set-up of the solver";
  j->page->stage = EB_STAGE_SETUP;
  double cpu = eb_cpu_seconds();
  began = eb_wall_seconds();
  *failure = eb_solver_create(j->work->solver, j->work->options, j->scene, j->work->threads,
                              (uint64_t)j->work->seed, &j->solver);
  j->run.setup_seconds = eb_wall_seconds() - began;
  j->run.setup_cpu_seconds = eb_cpu_seconds() - cpu;
  return EB_OK;
}

/* The state before the first step. */
static eb_error record_start(eb_job *j, bool *on) {
  bool from = j->work->from.run != NULL;
  if (from) EB_TRY(eb_origin_start(j, on));
  if (!*on) return EB_OK;
  EB_TRY(eb_recorder_frame(j->recorder, &(eb_frame){.state = j->after}));
  if (!from && !eb_ranges_hold(&j->work->checkpoints, 0)) return EB_OK;
  return eb_recorder_checkpoint(j->recorder, j->after, j->after->time);
}

static eb_error prepare_steps(eb_job *j, bool *on) {
  EB_TRY(eb_recorder_create(j->output, j->environment, &j->run, j->witness.scene, &j->recorder));
  eb_guard_watch(&j->guard, j->output);
  EB_TRY(eb_recorder_setup(j->recorder, j->solver->setup_log));
  EB_TRY(eb_state_create(j->scene, &j->before));
  EB_TRY(eb_state_create(j->scene, &j->after));
  EB_TRY(eb_job_count_components(j));
  EB_TRY(eb_step_log_create(RESIDUALS_KEPT, &j->log));
  j->log->element_count = j->scene->mesh->element_count;
  EB_TRY(EB_NEW(j->log->element_updates, j->log->element_count));
  j->committed = eb_wall_seconds();
  return j->work->from.samples ? EB_OK : record_start(j, on);
}

/* ---- the run as a whole ---------------------------------------------------------------------- */

/* Sanitizers keep what was freed. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const bool memory_tells = false;
#else
static const bool memory_tells = true;
#endif

/* Threads of the solver's that work while the clock stands: above a twentieth of the timed CPU and
 * 20 ms. Memory that grows in the second half of the run, when what contacts and frames want for
 * has been asked: above 32 MB and a tenth of what was there. */
static void judge_cost(eb_job *j) {
  static const double share = 0.05, moment = 0.02, growth = 32e6, tenth = 0.1;
  const eb_cost *cost = &j->cost;
  double grown = cost->resident - j->half_resident;
  if (cost->untimed_cpu > share * cost->timed_cpu + moment)
    eb_verdict_break(&j->witness.verdict, EB_RULE_HIDDEN_WORK,
                     "threads of the solver have worked for %.3g s while the clock stood, beside "
                     "%.3g s of timed work",
                     cost->untimed_cpu, cost->timed_cpu);
  if (memory_tells && j->half_resident > 0 && grown > growth + tenth * j->half_resident)
    eb_verdict_break(&j->witness.verdict, EB_RULE_MEMORY,
                     "memory has grown by %.0f MB in the second half of the steps", 1e-6 * grown);
}

static bool is_completed(const eb_job *j) {
  return eb_outcome_find(j->run.outcome) == EB_OUTCOME_COMPLETED;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static eb_error run_steps(eb_job *j) {
  char hash[20];
  bool on = true;
  EB_TRY(prepare_steps(j, &on));
  j->page->stage = EB_STAGE_STEPS;
  while (on) {
    if (j->work->from.samples) EB_TRY(eb_origin_sample(j, &on));
    if (on) EB_TRY(eb_job_step(j, &on));
  }
  snprintf(hash, sizeof hash, "%016" PRIx64, eb_state_hash(j->after));
  EB_TRY(eb_run_set(&j->run.state_hash, hash));
  if (is_completed(j)) EB_TRY(eb_job_challenge(j));
  judge_cost(j);
  if (j->work->from.samples) eb_origin_judge(j);
  EB_TRY(eb_witness_compare(&j->witness, j->scene));
  return eb_witness_fill(&j->witness, j->log, &j->run);
}

/* ---- the case -------------------------------------------------------------------------------- */

static eb_error run_job(eb_job *j) {
  eb_error failure = EB_OK;
  const char *where = "";
  double began = eb_wall_seconds();
  EB_TRY(eb_case_describe(j->work, &j->run));
  EB_TRY(eb_progress_page_open(&j->page));
  j->page->steps = j->work->steps;
  eb_host_open(&j->host);
  EB_TRY(eb_cost_open(j->page, &j->cost));
  eb_guard_open(&j->guard);
  EB_TRY(set_up(j, &failure, &where));
  if (failure) {
    EB_TRY(eb_job_conclude_error(j, where, failure));
    EB_TRY(eb_recorder_create(j->output, j->environment, &j->run, NULL, &j->recorder));
  } else {
    EB_TRY(run_steps(j));
  }
  j->page->stage = EB_STAGE_CLOSING;
  j->run.total_seconds = eb_wall_seconds() - began;
  j->run.peak_rss = eb_host_peak_memory();
  eb_cost_fill(&j->cost, &j->run);
  EB_TRY(eb_recorder_finish(j->recorder, &j->run));
  j->page->stage = EB_STAGE_WRITTEN;
  return EB_OK;
}

static void release(eb_job *j) {
  eb_step_log_destroy(j->log);
  eb_state_destroy(j->after);
  eb_state_destroy(j->before);
  eb_solver_destroy(j->solver);
  eb_recorder_destroy(j->recorder);
  eb_witness_clear(&j->witness);
  eb_origin_close(j);
  eb_scene_destroy(j->scene);
  eb_cost_close(&j->cost);
  eb_host_close(&j->host);
  eb_progress_page_close(j->page);
  eb_run_clear(&j->run);
}

static eb_error with_environment(eb_job *j, const char *path) {
  hid_t file;
  if (!path) return run_job(j);
  EB_TRY(eb_h5_open_file(path, false, &file));
  j->environment = H5Gopen2(file, "environment", H5P_DEFAULT);
  eb_error error =
      j->environment < 0 ? eb_h5_error("cannot read /environment of", path) : run_job(j);
  if (j->environment >= 0) H5Gclose(j->environment);
  H5Fclose(file);
  return error;
}

eb_error eb_case_execute(const eb_case *work, const char *environment, const char *output) {
  eb_job j = {.work = work,
              .output = output,
              .environment = -1,
              .host = {.stat = -1},
              .cost = {.statm = -1, .tasks = -1}};
  omp_set_num_threads(work->threads);
  hold_termination();
  eb_error error = with_environment(&j, environment);
  if (error) eb_progress_page_give_up(j.page, error);
  release(&j);
  return error;
}
