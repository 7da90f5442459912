/* The audit of contact: what the harness says of a step with contact as constraints, by its own
 * code.
 *
 * Surfaces at the end of the step are tested exactly (intersections.h). Contacts are measured from
 * positions (contact_law.h), and their forces have to explain the motion of every body: the sum of
 *   M (v1 - v0) = h f_ext(t0, x0, v0) + h sum_k sum_i w_ki R_k^T r_k
 * over its nodes, in which internal forces cancel; likewise the spin of rigid bodies. Nothing here
 * calls problems/collision or solvers/contact. */
#ifndef EB_AUDIT_CONTACT_AUDIT_H
#define EB_AUDIT_CONTACT_AUDIT_H

#include "harness/audit/audit.h"
#include "harness/audit/contact_law.h"
#include "harness/audit/intersections.h"

typedef struct eb_contact_audit eb_contact_audit;

/* One step audited; SI units. */
typedef struct eb_contact_audit_row {
  eb_intersection_counts intersections;
  eb_contact_law law;
  /* pairs of features of different bodies that are near and have no contact beside them
   * (intersections.h) */
  int64_t unrecorded;
  double balance; /* kg m/s: largest momentum of a body that is not explained */
  /* the same, and of rigid bodies spin, over the scene's bound (contact_audit.c) */
  double balance_excess;
  eb_spot unbalanced; /* the body that is of */
  /* m: the most that a body which friction holds has slipped, in all steps since it slid or was
   * free (contact_audit.c) */
  double creep;
  eb_spot creeping;      /* the body that is of */
  double obstacles_work; /* J: of obstacles on bodies */
} eb_contact_audit_row;

/* Of a scene that needs EB_CAP_CONTACT; `audit` is that of the same scene and mesh and must outlive
 * it. */
EB_MUST eb_error eb_contact_audit_create(const eb_scene *scene, const eb_audit *audit,
                                         eb_contact_audit **out);
void eb_contact_audit_destroy(eb_contact_audit *contact);

/* Where surfaces cross and solids lie inside each other before the first step. */
void eb_contact_audit_start(eb_contact_audit *contact, eb_intersection_counts *counts);
/* The forces of the contacts that a solver reports, or NULL, on the nodes (nodes x 3, N; good until
 * the next call): for eb_audit_contact_forces. */
const double *eb_contact_audit_forces(eb_contact_audit *contact, const eb_contact_record *record);

/* What the scene's bounds are multiplied by for a step that says it has stagnated; 1 for others. */
double eb_contact_audit_slack(eb_reason reason);

/* eb_audit_place of spots of contacts: of the step audited last, with its record. */
void eb_contact_audit_place(const eb_contact_audit *contact, const eb_contact_record *record,
                            eb_spot spot, eb_place *out);

/* Audits the step that led from `before` to `after` with finite states, h = dt, after
 * eb_contact_audit_forces with the same record; the audit must have seen the step last, with those
 * forces. Momentum is balanced for bodies without scripted nodes. */
void eb_contact_audit_step(eb_contact_audit *contact, const eb_state *before, const eb_state *after,
                           double dt, const eb_contact_record *record, eb_reason reason,
                           eb_contact_audit_row *row);

#endif
