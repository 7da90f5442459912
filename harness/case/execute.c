/* A case in its process: scene, audit, solver, file, steps, and what they come to. */
#include "harness/case/execute.h"

#include <inttypes.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "harness/case/job.h"
#include "harness/network.h"
#include "harness/served.h"
#include "problems/base/strings.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/units.h"

/* What the run says of the scene; its nodes are those that frames are stored on, all cuts made. */
static eb_error describe_scene(eb_job *j) {
  char hash[20];
  const eb_scene *scene = j->scene;
  j->run.nodes = scene->mesh->node_count;
  if (scene->script.cut_count > 0) {
    eb_mesh *mesh;
    int32_t *parent;
    EB_TRY(eb_scene_final_mesh(scene, &mesh, &parent));
    j->run.nodes = mesh->node_count;
    eb_mesh_destroy(mesh);
    free(parent);
  }
  j->run.uncut_nodes = scene->script.uncut_nodes;
  j->run.elements = scene->mesh->element_count;
  if (scene->part) {
    j->run.nodes = j->run.uncut_nodes = scene->part->all_nodes;
    j->run.elements = scene->part->all_elements;
  }
  j->run.dt = scene->dt;
  EB_TRY(eb_string_set(&j->run.mesh_source, scene->mesh_source));
  snprintf(hash, sizeof hash, "%016" PRIx64, scene->hash);
  return eb_string_set(&j->run.scene_hash, hash);
}

/* Whether as many ranks have been started as the case wants, and for nothing that is asked of a
 * whole scene alone. */
static eb_error check_ranks(const eb_job *j) {
  const eb_case *work = j->work;
  int count = eb_ranks_count(j->ranks);
  if (count != work->ranks)
    return EB_ERROR(EB_ERR_USAGE,
                    "%d process%s been started where the case wants %d ranks; what starts them is "
                    "asked for that many, and each has MPI of the same kind",
                    count, count == 1 ? " has" : "es have", work->ranks);
  const char *what = work->from.run  ? "start from a state of another run"
                     : work->examine ? "be examined"
                                     : NULL;
  return j->ranks && what ? EB_ERROR(EB_ERR_UNSUPPORTED, "a case of several ranks cannot %s", what)
                          : EB_OK;
}

/* Adds to a refusal of the scene what would be accepted, as far as that can be told: where it
 * cannot, the refusal stands. */
static eb_error answer_refusal(const eb_job *j, eb_error refusal) {
  const eb_case *work = j->work;
  bool lacks = eb_error_kind(refusal) == EB_ERR_UNSUPPORTED && !j->ranks &&
               eb_solver_lacks(work->solver, j->scene);
  eb_served served = {0};
  eb_text answer = {0};
  if (!lacks) return refusal;
  eb_error error = eb_served_open(work->scene, work->parameters, work->mesh_file, &served);
  if (!error) error = eb_served_answer(&served, work->solver, &answer);
  if (!error) {
    eb_error whole = EB_ERROR(EB_ERR_UNSUPPORTED, "%s; %s", eb_error_message(refusal), answer.data);
    eb_error_free(refusal);
    refusal = whole;
  }
  eb_error_free(error);
  eb_text_clear(&answer);
  eb_served_clear(&served);
  return refusal;
}

/* The scene, the solver and the audit; *failure is what they report, the return value is ours. */
static eb_error set_up(eb_job *j, eb_error *failure, const char **where) {
  const eb_case *work = j->work;
  double began = eb_wall_seconds();
  *where = "scene";
  j->page->stage = EB_STAGE_SCENE;
  *failure = check_ranks(j);
  if (!*failure) *failure = eb_case_scene(work, j->ranks, &j->scene);
  j->run.scene_seconds = eb_wall_seconds() - began;
  if (*failure) return EB_OK;
  eb_scene_units(j->scene, j->page->unusual, sizeof j->page->unusual);
  EB_TRY(describe_scene(j));
  *where = "start";
  if (work->from.run) *failure = eb_source_run_open(&work->from, j->scene, &j->source_run);
  if (*failure) return EB_OK;
  *where = "audit";
  *failure = eb_auditor_create(work, j->ranks, &j->auditor);
  if (!*failure && j->ranks) *failure = eb_gathered_create(j->auditor.scene, &j->gathered);
  if (*failure) return EB_OK;
  j->cost.audit_team = j->auditor.team;
  *where = "set-up of the solver";
  j->page->stage = EB_STAGE_SETUP;
  double cpu = eb_cost_cpu(&j->cost);
  began = eb_wall_seconds();
  *failure = eb_job_create_solver(j);
  j->run.setup_seconds = eb_wall_seconds() - began;
  j->run.setup_cpu_seconds = eb_cost_cpu(&j->cost) - cpu;
  eb_ranks_sum(j->ranks, 1, &j->run.setup_cpu_seconds);
  if (*failure) *failure = answer_refusal(j, *failure);
  if (*failure) return EB_OK;
  eb_verdict_times(&j->auditor.verdict, "set-up", j->stepper.solver->setup_log,
                   j->run.setup_seconds, work->threads);
  eb_ranks_sum(j->ranks, EB_MEMORY_KINDS, j->stepper.solver->setup_log->memory_bytes);
  return EB_OK;
}

/* The file, logs and states for steps, and of a case that is no samples the state before the
 * first. */
static eb_error prepare_steps(eb_job *j, bool *on) {
  const eb_origin *from = &j->work->from;
  EB_TRY(eb_job_create_file(j));
  if (j->ranks) eb_gathered_release_mesh(&j->gathered);
  EB_TRY(eb_job_follow_mesh(j));
  j->stepper.log->element_count = j->scene->mesh->element_count;
  EB_TRY(EB_NEW(j->stepper.log->element_updates, j->stepper.log->element_count));
  j->committed = eb_wall_seconds();
  if (from->samples) return EB_OK;
  if (from->run) {
    EB_TRY(eb_job_place(j, eb_checkpoints_find(&j->source_run.states, from->steps.first), on));
    j->stepper.state->step = 0;
  }
  if (!*on) return EB_OK;
  EB_TRY(eb_job_record_frame(j, NULL, NULL));
  return from->run || eb_ranges_hold(&j->work->checkpoints, 0)
             ? eb_job_record_checkpoint(j, j->stepper.state->time)
             : EB_OK;
}

static eb_error run_steps(eb_job *j) {
  char hash[20];
  bool on = true;
  EB_TRY(prepare_steps(j, &on));
  j->page->stage = EB_STAGE_STEPS;
  while (on) {
    if (j->work->from.samples) EB_TRY(eb_job_start_sample(j, &on));
    if (on) EB_TRY(eb_job_step(j, &on));
  }
  if (j->ranks) EB_TRY(eb_gathered_collect(&j->gathered, j->stepper.state));
  const eb_state *end =
      j->ranks ? j->gathered.state : j->stepper.state; /* NULL on ranks other than 0 */
  snprintf(hash, sizeof hash, "%016" PRIx64, end ? eb_state_hash(end) : 0);
  EB_TRY(eb_string_set(&j->run.state_hash, hash));
  if (eb_outcome_find(j->run.outcome) == EB_OUTCOME_COMPLETED) EB_TRY(eb_job_test_replay(j));
  eb_job_judge_cost(j);
  EB_TRY(eb_auditor_compare(&j->auditor, j->scene));
  EB_TRY(eb_auditor_fill(&j->auditor, j->stepper.log, &j->run));
  EB_TRY(eb_auditor_breaches(&j->auditor, &j->breaches));
  return j->recorder ? eb_breaches_write(eb_recorder_run(j->recorder), &j->breaches) : EB_OK;
}

/* Of all ranks; times on the wall are those of rank 0. */
static void sum_cost(eb_job *j) {
  eb_run *run = &j->run;
  double sums[] = {run->peak_rss, run->process_cpu_seconds, run->timed_cpu_seconds,
                   run->untimed_cpu_seconds, run->memory_growth};
  eb_ranks_sum(j->ranks, sizeof sums / sizeof *sums, sums);
  run->peak_rss = sums[0];
  run->process_cpu_seconds = sums[1];
  run->timed_cpu_seconds = sums[2];
  run->untimed_cpu_seconds = sums[3];
  run->memory_growth = sums[4];
  eb_ranks_sum_whole(j->ranks, 1, &run->threads_alive);
}

/* Where all ranks have come to the end, and off every clock. */
static eb_error measure_network(eb_job *j) {
  eb_network network;
  if (!j->ranks || eb_outcome_find(j->run.outcome) != EB_OUTCOME_COMPLETED) return EB_OK;
  EB_TRY(eb_network_measure(j->ranks, &network));
  j->run.network_latency = network.latency;
  j->run.network_bandwidth = network.bandwidth;
  j->run.network_reduction = network.reduction;
  return EB_OK;
}

static eb_error run_job(eb_job *j) {
  eb_error failure = EB_OK;
  const char *where = "";
  double began = eb_wall_seconds();
  EB_TRY(eb_case_describe(j->work, &j->run));
  EB_TRY(eb_job_open_page(j));
  j->token = j->page->token;
  j->page->steps = j->work->steps;
  EB_TRY(eb_cost_open(j->page, &j->cost));
  eb_integrity_open(&j->integrity);
  EB_TRY(set_up(j, &failure, &where));
  if (failure) {
    EB_TRY(eb_job_conclude_error(j, where, failure));
    if (eb_ranks_self(j->ranks) == 0)
      EB_TRY(eb_recorder_create(j->output, j->environment, &j->run, NULL, &j->recorder));
    EB_TRY(eb_recorder_scene_text(j->recorder, j->work->scene));
  } else {
    EB_TRY(run_steps(j));
  }
  j->page->stage = EB_STAGE_CLOSING;
  j->run.total_seconds = eb_wall_seconds() - began;
  eb_cost_fill(&j->cost, &j->run);
  sum_cost(j);
  EB_TRY(measure_network(j));
  EB_TRY(eb_recorder_finish(j->recorder, &j->run));
  j->page->stage = EB_STAGE_WRITTEN;
  return EB_OK;
}

static eb_error with_environment(eb_job *j, const char *path) {
  hid_t file;
  if (!path || eb_ranks_self(j->ranks) > 0) return run_job(j);
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
              .cost = {.stat = -1, .statm = -1, .tasks = -1}};
  sigset_t set;
  omp_set_num_threads(work->threads);
  /* SIGTERM comes from outside. It is blocked in all threads and looked for between steps, so that
   * the steps that were taken are kept. */
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, NULL);
  eb_error error = work->distributed ? eb_ranks_create(&j.ranks) : EB_OK;
  if (!error) error = with_environment(&j, environment);
  if (error && j.page) eb_job_tell_parent(&j, error);
  eb_state_destroy(j.before);
  eb_stepper_clear(&j.stepper);
  eb_recorder_destroy(j.recorder);
  eb_auditor_clear(&j.auditor);
  free(j.part_columns);
  eb_source_run_close(&j.source_run);
  eb_gathered_clear(&j.gathered);
  eb_scene_destroy(j.scene);
  eb_cost_close(&j.cost);
  if (j.page) munmap(j.page, sizeof *j.page);
  eb_run_clear(&j.run);
  eb_breaches_clear(&j.breaches);
  eb_ranks_destroy(j.ranks);
  return error;
}
