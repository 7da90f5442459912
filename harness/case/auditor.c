#include "harness/case/auditor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/strings.h"
#include "problems/base/memory.h"
#include "problems/contact/implicit_penalty.h"
#include "problems/reference_scene.h"

/* ---- life ------------------------------------------------------------------------------------ */

static void release_audit(eb_auditor *w) {
  eb_rotations_destroy(w->rotations);
  w->rotations = NULL;
  eb_momentum_balance_destroy(w->momentum);
  eb_contact_audit_destroy(w->contact);
  eb_audit_destroy(w->audit);
  w->momentum = NULL;
  w->contact = NULL;
  w->audit = NULL;
}

/* Those that examine go on with the audit. */
static void drop_caches_between_steps(eb_auditor *w) {
  if (!w->examines) eb_audit_drop_caches(w->audit);
}

/* For the scene's present mesh. Parts stay, and follow it. */
static eb_error make_audit(eb_auditor *w) {
  release_audit(w);
  EB_TRY(eb_audit_create(w->scene, &w->audit));
  if (w->parts) {
    EB_TRY(eb_parts_follow(w->parts, w->audit));
  } else {
    EB_TRY(eb_parts_create(w->audit, &w->parts));
    EB_TRY(EB_NEW(w->part_rows, eb_parts_count(w->parts)));
  }
  eb_audit_share(w->audit, w->team);
  EB_TRY(eb_momentum_balance_create(w->audit, &w->momentum));
  if (eb_scene_needs(w->scene) & EB_CAP_CONTACT)
    EB_TRY(eb_contact_audit_create(w->scene, w->audit, &w->contact));
  drop_caches_between_steps(w);
  return EB_OK;
}

/* On cores that other ranks audit on there are no idle ones. */
static eb_error create(eb_auditor *out) {
  enum { MOST_THREADS = 3 };
  EB_TRY(eb_team_create(out->ranks ? 0 : MOST_THREADS, &out->team));
  EB_TRY(eb_state_create(out->scene, &out->state));
  if (out->ranks) EB_TRY(EB_NEW(out->shared, 3 * (size_t)out->state->node_count));
  return make_audit(out);
}

eb_error eb_auditor_create(const eb_case *work, const eb_ranks *ranks, eb_auditor *out) {
  *out = (eb_auditor){.examines = work->examine, .ranks = ranks, .threads = work->threads};
  EB_TRY(eb_scene_create_reference(work->scene, work->parameters, work->mesh_file, NULL, ranks,
                                   &out->scene));
  return eb_ranks_agree(ranks, create(out));
}

void eb_auditor_clear(eb_auditor *auditor) {
  release_audit(auditor);
  eb_parts_destroy(auditor->parts);
  free(auditor->part_rows);
  free(auditor->shared);
  auditor->shared = NULL;
  auditor->parts = NULL;
  auditor->part_rows = NULL;
  eb_state_destroy(auditor->state);
  eb_scene_destroy(auditor->scene);
  eb_team_destroy(auditor->team);
  auditor->team = NULL;
  auditor->state = NULL;
  auditor->scene = NULL;
}

eb_error eb_auditor_advance(eb_auditor *w, const eb_state *state) {
  bool changed;
  if (w->scene->script.cut_count > 0) eb_state_copy(state, w->state);
  w->state->time = state->time;
  EB_TRY(eb_scene_advance(w->scene, w->state, &changed));
  return changed ? make_audit(w) : EB_OK;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* What is measured of a step: the members that columns.h names. */
typedef struct measured {
  eb_audit_row audit;
  eb_contact_audit_row contact; /* zeros without contact as constraints */
  eb_momentum_row momentum;
  double decrement[2]; /* where the step starts, and in its end */
  eb_equation equation;
} measured;

static void fill_columns(const measured *of, double row[EB_COL_COUNT]) {
#define COLUMN(id, ...)
#define FIGURE(id, name, unit, whole, member, ...) row[EB_COL_##id] = (double)of->member;
  EB_STEP_COLUMNS(COLUMN, FIGURE)
#undef COLUMN
#undef FIGURE
}

static void fill_parts(const eb_auditor *w, const eb_state *before, const eb_state *after,
                       bool finite) {
  if (finite) {
    eb_parts_step(w->parts, before, after, w->part_rows);
    return;
  }
  static const eb_part_row none = {{NAN, NAN, NAN}, {NAN, NAN, NAN}, NAN, NAN, {NAN, NAN, NAN}};
  for (int p = 0; p < eb_parts_count(w->parts); p++) w->part_rows[p] = none;
}

void eb_auditor_part_columns(const eb_auditor *w, double *rows) {
#define PART(id, name, unit, member, ...) rows[EB_PART_##id] = w->part_rows[p].member;
  for (int p = 0; p < eb_parts_count(w->parts); p++, rows += EB_PART_COLUMNS) {
    EB_PART_FIGURES(PART)
  }
#undef PART
}

/* Of finite states. The log belongs to the solver: what it points to is read as it is, NaN too. */
static eb_error follow_rotations(eb_auditor *w, const eb_state *before, const eb_step_log *log) {
  w->rotated = log->rotations != NULL && !w->ranks;
  if (!w->rotated) {
    if (w->rotations) eb_rotations_reset(w->rotations);
    return EB_OK;
  }
  if (!w->rotations) {
    EB_TRY(eb_rotations_create(w->audit, &w->rotations));
    if (before->step > 0) eb_rotations_reset(w->rotations);
  }
  eb_rotations_step(w->rotations, w->audit, log->rotations,
                    log->rotated_at ? log->rotated_at : before->x, &w->rotation_row);
  return EB_OK;
}

bool eb_auditor_rotation_columns(const eb_auditor *w, double row[EB_ROTATION_COLUMNS]) {
#define ROTATION(id, name, unit, member, ...) row[EB_ROTATION_##id] = w->rotation_row.member;
  EB_ROTATION_FIGURES(ROTATION)
#undef ROTATION
  return w->rotated;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* How many of the ghosts are not what their owners have, which they become. *first: in the mesh as
 * one process has it, the first such. */
static int64_t take_owners(const eb_subdomain *part, double *values, double *shared, int32_t nodes,
                           int32_t *first) {
  int64_t apart = 0;
  memcpy(shared, values, 3 * (size_t)nodes * sizeof *values);
  eb_subdomain_update(part, 3, shared);
  for (int32_t i = part->nodes; i < nodes; i++) {
    const size_t at = 3 * (size_t)i;
    if (memcmp(shared + at, values + at, 3 * sizeof *values) == 0) continue;
    if (apart++ == 0) *first = part->original_node[i];
    memcpy(values + at, shared + at, 3 * sizeof *values);
  }
  return apart;
}

/* The first rank that has any says which. */
static void tell_apart(eb_auditor *w, int64_t step, int64_t apart, int32_t first) {
  double who[2] = {apart > 0 ? eb_ranks_self(w->ranks) : INFINITY, INFINITY};
  eb_ranks_sum_whole(w->ranks, 1, &apart);
  if (apart == 0) return;
  eb_ranks_min(w->ranks, 1, who);
  if (eb_ranks_self(w->ranks) == (int)who[0]) who[1] = first;
  eb_ranks_min(w->ranks, 1, who + 1);
  eb_verdict_break(&w->verdict, EB_RULE_RANKS,
                   "step %lld: rank %.0f has node %.0f elsewhere than the rank that owns it, or at "
                   "another velocity; so it is with %lld of the nodes that ranks share",
                   (long long)step, who[0], who[1], (long long)apart);
}

void eb_auditor_synchronize(eb_auditor *w, eb_state *state, eb_reason *reason) {
  const eb_subdomain *part = w->scene->part;
  int32_t first = 0;
  double reasons[2] = {-*reason, *reason};
  if (!w->ranks) return;
  int64_t apart = take_owners(part, state->x, w->shared, state->node_count, &first);
  apart += take_owners(part, state->v, w->shared, state->node_count, &first);
  tell_apart(w, state->step, apart, first);
  eb_ranks_max(w->ranks, 2, reasons);
  if (reasons[0] != -reasons[1])
    eb_verdict_break(&w->verdict, EB_RULE_RANKS,
                     "step %lld: one rank ends it with %s, another with %s", (long long)state->step,
                     eb_reason_name((eb_reason)-reasons[0]), eb_reason_name((eb_reason)reasons[1]));
  *reason = (eb_reason)-reasons[0];
}

/* ---- places ---------------------------------------------------------------------------------- */

static void place(const eb_auditor *w, const eb_state *before, const eb_state *after,
                  const eb_contact_record *contacts, eb_worst *worst) {
  eb_spot spot = worst->measure.spot;
  bool of_contact = spot.kind == EB_SPOT_CONTACT || spot.kind == EB_SPOT_CROSSING ||
                    spot.kind == EB_SPOT_UNRECORDED;
  if (!worst->fresh) return;
  worst->fresh = false;
  if (of_contact)
    eb_contact_audit_place(w->contact, contacts, spot, &worst->place);
  else
    eb_audit_place(w->audit, before, after, spot, &worst->place);
}

/* Places are looked up by all ranks together. A solver of several that tells them different things
 * has none. */
static void agree_on_fresh(const eb_auditor *w, eb_verdict *verdict) {
  double fresh[EB_RULES + 1];
  if (!w->ranks) return;
  for (int r = 0; r < EB_RULES; r++) fresh[r] = verdict->worst_of[r].fresh;
  fresh[EB_RULES] = verdict->most_in_step.fresh;
  eb_ranks_min(w->ranks, EB_RULES + 1, fresh);
  for (int r = 0; r < EB_RULES; r++) verdict->worst_of[r].fresh = fresh[r] > 0;
  verdict->most_in_step.fresh = fresh[EB_RULES] > 0;
}

/* Of what this step has done worst so far. */
static void place_worst(eb_auditor *w, const eb_state *before, const eb_state *after,
                        const eb_contact_record *contacts) {
  agree_on_fresh(w, &w->verdict);
  for (int r = 0; r < EB_RULES; r++) place(w, before, after, contacts, &w->verdict.worst_of[r]);
  place(w, before, after, contacts, &w->verdict.most_in_step);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* The contacts of the step; NULL: there are none, or they cannot be read. */
static const eb_contact_record *whole_contacts(eb_auditor *w, const eb_step_log *log,
                                               int64_t step) {
  const eb_contact_record *record = w->contact ? log->contacts : NULL;
  if (!record || eb_contact_record_is_whole(record, w->scene->mesh->node_count)) return record;
  eb_verdict_break(&w->verdict, EB_RULE_CONTACT_RECORD,
                   "step %lld: the record has %d contacts of %d nodes, or not every array that "
                   "problems/contact_record.h asks for; the mesh has %d nodes",
                   (long long)step, record->count, record->nodes, w->scene->mesh->node_count);
  return NULL;
}

eb_error eb_auditor_step(eb_auditor *w, const eb_state *before, const eb_state *after,
                         eb_update update, const eb_step_log *log, eb_reason reason,
                         double row[EB_COL_COUNT], bool *finite) {
  double dt = w->scene->dt;
  eb_declaration declared = {log->equation, log->linearization, update,         log->subspace,
                             log->touching, log->friction,      log->unfiltered};
  measured m = {.decrement = {NAN, NAN}, .equation = declared.equation};
  const eb_contact_record *contacts = whole_contacts(w, log, after->step);
  EB_TRY(eb_ranks_agree(w->ranks, eb_audit_restore_caches(w->audit)));
  eb_audit_contact_forces(w->audit,
                          w->contact ? eb_contact_audit_forces(w->contact, contacts) : NULL);
  EB_TRY(eb_audit_step(w->audit, before, after, dt, declared.equation, &m.audit));
  EB_TRY(eb_audit_declared(w->audit, before, after, dt, &declared, &m.audit));
  bool judged = w->contact && m.audit.finite;
  if (judged) {
    eb_contact_audit_step(w->contact, before, after, dt, contacts, reason, &m.contact);
    m.audit.work.excess -= m.contact.obstacles_work;
    eb_audit_add_force(&m.audit, m.contact.law.off, m.contact.law.size);
  }
  if (m.audit.finite)
    eb_momentum_balance_step(w->momentum, before, after, dt, &declared, &m.momentum);
  const eb_audited_step step = {.scene = w->scene,
                                .log = log,
                                .declared = &declared,
                                .row = &m.audit,
                                .momentum = &m.momentum,
                                .contact = judged ? &m.contact : NULL,
                                .reason = reason,
                                .number = after->step,
                                .wall = row[EB_COL_WALL],
                                .threads = w->threads};
  eb_verdict_step(&w->verdict, &step);
  place_worst(w, before, after, contacts);
  fill_parts(w, before, after, m.audit.finite);
  w->rotated = false;
  if (m.audit.finite) EB_TRY(follow_rotations(w, before, log));
  if (w->examines && declared.subspace && m.audit.finite && !m.audit.subspace_unsound)
    EB_TRY(eb_subspace_decrement(w->audit, before, after, dt,
                                 declared.equation == EB_EQUATION_STATIC, declared.subspace,
                                 m.decrement));
  fill_columns(&m, row);
  if ((unsigned)declared.friction < EB_FRICTION_MODELS)
    w->friction_models |= 1U << declared.friction;
  *finite = m.audit.finite;
  drop_caches_between_steps(w);
  return EB_OK;
}

eb_error eb_auditor_examine(const eb_auditor *w, const eb_step_log *log, const eb_state *start,
                            eb_subspace_figures *out, bool *sound) {
  *sound = log->subspace && eb_subspace_sound(w->audit, log->subspace);
  return *sound ? eb_subspace_examine(w->audit, w->parts, log->subspace, start->x, out) : EB_OK;
}

eb_error eb_auditor_reset(eb_auditor *w) {
  eb_verdict_reset(&w->verdict);
  eb_parts_reset(w->parts);
  if (w->rotations) eb_rotations_reset(w->rotations);
  eb_momentum_balance_destroy(w->momentum);
  w->momentum = NULL;
  return eb_momentum_balance_create(w->audit, &w->momentum);
}

eb_error eb_auditor_test_replay(eb_auditor *w, const eb_state *before, const eb_state *after,
                                eb_update update, const eb_step_log *log, eb_reason reason) {
  double row[EB_COL_COUNT] = {0};
  bool finite;
  eb_verdict run = w->verdict;
  w->verdict = (eb_verdict){0};
  eb_error error = eb_auditor_reset(w);
  if (!error) error = eb_auditor_step(w, before, after, update, log, reason, row, &finite);
  eb_verdict alone = w->verdict;
  w->verdict = run;
  if (!error) eb_verdict_test_replay(&w->verdict, &alone);
  return error;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Whether the scene has friction that a solver may have declared to be another than Coulomb's. */
static bool is_rough(const eb_scene *scene) {
  bool any = eb_friction_any(&scene->contacts.friction);
  bool rough = any && (eb_scene_needs(scene) & EB_CAP_CONTACT);
  for (int32_t c = 0; c < scene->contacts.collider_count; c++)
    rough |=
        scene->contacts.colliders[c].implicit && (any || scene->contacts.colliders[c].friction > 0);
  return rough;
}

eb_error eb_auditor_compare(eb_auditor *w, const eb_scene *scene) {
  const char *what;
  EB_TRY(eb_scene_difference(scene, w->scene, &what));
  eb_error changed =
      what ? EB_ERROR(EB_ERR_INVALID, "the scene has been changed during the run: its %s", what)
           : EB_OK;
  changed = eb_ranks_agree(w->ranks, changed);
  if (changed) eb_verdict_break(&w->verdict, EB_RULE_SCENE, "%s", eb_error_message(changed));
  eb_error_free(changed);
  return EB_OK;
}

static eb_error fill_breach(const eb_auditor *w, eb_rule rule, eb_breach *out) {
  const eb_worst *worst = &w->verdict.worst_of[rule];
  const eb_measure *m = &worst->measure;
  const eb_place *at = &worst->place;
  bool number = m->value != 0 || m->bound != 0, placed = at->kind != EB_SPOT_NONE;
  char body[2][100] = {"", ""};
  for (int b = 0; b < 2 && placed; b++)
    eb_audit_body_name(w->audit, at->vertex[b], body[b], sizeof body[b]);
  *out = (eb_breach){.times = w->verdict.broken[rule],
                     .step = m->step,
                     .number = placed ? at->at : -1,
                     .value = number ? m->value : NAN,
                     .bound = number ? m->bound : NAN,
                     .x = placed ? at->x[0] : NAN,
                     .y = placed ? at->x[1] : NAN,
                     .z = placed ? at->x[2] : NAN};
  EB_TRY(eb_string_set(&out->rule, eb_rule_name(rule)));
  EB_TRY(eb_string_set(&out->words, worst->words));
  EB_TRY(eb_string_set(&out->unit, m->unit && *m->unit ? m->unit : "1"));
  EB_TRY(eb_string_set(&out->place, eb_spot_name(at->kind)));
  EB_TRY(eb_string_set(&out->body, body[0]));
  return eb_string_set(&out->other_body, body[1]);
}

eb_error eb_auditor_breaches(const eb_auditor *w, eb_breaches *out) {
  *out = (eb_breaches){0};
  EB_TRY(EB_NEW(out->all, EB_RULES));
  for (int r = 0; r < EB_RULES; r++)
    if (w->verdict.broken[r]) EB_TRY(fill_breach(w, (eb_rule)r, &out->all[out->count++]));
  return EB_OK;
}

eb_error eb_auditor_fill(eb_auditor *w, const eb_step_log *log, eb_run *run) {
  char text[256];
  eb_verdict_run(&w->verdict);
  /* Steps that admit failure are not judged: where all do there is no error, and no class. */
  run->error = w->verdict.scale2 > 0 ? sqrt(w->verdict.residual2 / w->verdict.scale2) : NAN;
  run->audit_failures = w->verdict.failures;
  EB_TRY(eb_string_set(&run->audit, eb_verdict_word(&w->verdict)));
  EB_TRY(eb_string_set(&run->audit_detail, w->verdict.detail));
  eb_verdict_rules(&w->verdict, text, sizeof text);
  EB_TRY(eb_string_set(&run->audit_rules, text));
  /* "linearized, stiffness x 3": scales that are not 1 make another equation of it. */
  const eb_linearization *l = &log->linearization;
  bool linear = log->equation == EB_EQUATION_LINEARIZED ||
                (log->equation == EB_EQUATION_REDUCED && l->stiffness > 0);
  char mass[40] = "", stiffness[40] = "";
  if (linear && l->mass != 1) snprintf(mass, sizeof mass, ", mass x %.4g", l->mass);
  if (linear && l->stiffness != 1)
    snprintf(stiffness, sizeof stiffness, ", stiffness x %.4g", l->stiffness);
  bool present = linear && log->touching == EB_TOUCHING_PRESENT && eb_implicit_room(w->scene) > 0;
  int used = snprintf(text, sizeof text, "%s%s%s%s", eb_equation_name(log->equation), mass,
                      stiffness, present ? ", contacts of its start" : "");
  static const char *const friction[EB_FRICTION_MODELS] = {
      "", ", friction filtered", ", without friction", ", friction to a motion"};
  for (int m = 0; is_rough(w->scene) && m < EB_FRICTION_MODELS; m++)
    if (w->friction_models & 1U << m)
      used += snprintf(text + used, sizeof text - (size_t)used, "%s", friction[m]);
  if (log->subspace)
    snprintf(text + used, sizeof text - (size_t)used, " in %d motions, %d points",
             3 / log->subspace->axes * log->subspace->size, log->subspace->count);
  return eb_string_set(&run->equation, text);
}
