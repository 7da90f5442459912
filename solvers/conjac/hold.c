/* What the number of dynamic nodes decides: the size of J, and whether H_qq is definite.
 *
 * H_qq is singular when a part of a body can move without strain while the boundary stays. Of whole bodies eb_conjac_hold knows; a mesh may
 * also hold together at single nodes or edges, about which a part of it turns freely. These are found by numbers: H_qq is factored, and
 * x = inv(H_qq) b for a right-hand side without structure. Along a motion without strain x is as large as rounding leaves it, some 1e14
 * over the mean diagonal, where the softest deformations of slender bodies stay below 1e10. The node that x moves
 * farthest becomes dynamic, or the one whose pivot has failed, until there is no such motion. */
#include "solvers/conjac/conjac.h"

#include "problems/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LANES = 8, MAX_ADDED = 256 };
static const double too_far = 1e12;

/* ---- columns ---- */

static eb_error allocate_reduced(eb_reduced *r, int64_t unknowns, int64_t moving, int64_t stride) {
  EB_TRY(EB_NEW(r->inertia, unknowns * unknowns));
  EB_TRY(EB_NEW(r->stiffness, unknowns * unknowns));
  EB_TRY(EB_NEW(r->factor, unknowns * unknowns));
  EB_TRY(EB_NEW(r->floor, unknowns));
  EB_TRY(EB_NEW(r->rhs, unknowns));
  EB_TRY(EB_NEW(r->y, unknowns));
  EB_TRY(EB_NEW(r->rows, 3 * moving * unknowns));
  return EB_NEW(r->packed, stride * EB_PACKED_ROWS);
}

void eb_conjac_release_columns(eb_conjac *c) {
  eb_reduced *r = &c->reduced;
  eb_partition_clear(&c->part);
  free(c->pushes);
  free(c->jacobian);
  free(r->inertia);
  free(r->stiffness);
  free(r->factor);
  free(r->floor);
  free(r->rhs);
  free(r->y);
  free(r->rows);
  free(r->packed);
  *r = (eb_reduced){0};
  c->pushes = c->jacobian = NULL;
}

/* J of all nodes of a mesh is a full matrix: it is asked for before the machine is brought to its knees. */
static eb_error check_memory(const eb_conjac *c, int64_t unknowns) {
  char what[96];
  double numbers = 2 * (double)c->stride * (double)c->work.size +
                   3 * (double)unknowns * (double)(unknowns + c->part.room);
  snprintf(what, sizeof what, "conjac: the Jacobian of %d dynamic nodes of %d", c->chosen.count,
           c->part.nodes);
  return eb_memory_require(numbers * sizeof(double), what,
                           "use fewer dynamic nodes or a smaller scene");
}

eb_error eb_conjac_allocate_columns(eb_conjac *c) {
  EB_TRY(eb_partition_create(c->work.scene, &c->chosen, &c->part));
  int64_t unknowns = eb_partition_most_unknowns(&c->part);
  c->stride = (unknowns + 2 + LANES - 1) / LANES * LANES;
  EB_TRY(check_memory(c, unknowns));
  EB_TRY(EB_NEW(c->pushes, c->stride * c->work.size));
  EB_TRY(EB_NEW(c->jacobian, c->stride * c->work.size));
  c->current = false;
  c->stale = true;
  return allocate_reduced(&c->reduced, unknowns, c->part.room, c->stride);
}

/* ---- holding ---- */

static eb_error add_dynamic(eb_conjac *c, int32_t node) {
  eb_node_list *list = &c->chosen;
  size_t count = (size_t)list->count;
  int32_t *grown = eb_recalloc(list->nodes, count, count + 1, sizeof *grown);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot allocate a list of %zu nodes", count + 1);
  grown[count] = node;
  *list = (eb_node_list){.count = list->count + 1, .nodes = grown};
  eb_conjac_release_columns(c);
  return eb_conjac_allocate_columns(c);
}

/* The node of the largest entry of inv(H_qq) b when that is too large, else -1. */
static eb_error find_loose(eb_conjac *c, eb_step_log *log, int32_t *node) {
  eb_reason reason;
  uint64_t seed = 1;
  double scale = 0, most = too_far;
  for (int32_t i = 0; i < c->part.nodes; i++)
    if (c->part.class[i]) scale = c->work.matrix->values[9 * (int64_t)c->work.matrix->diagonal[i]];
  for (int64_t k = 0; k < c->work.size; k++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double random = (double)(seed >> 11) * 0x1p-52 - 1;
    c->correction[k] = c->part.class[k / 3] == EB_NODE_QUASISTATIC ? scale * random : 0;
  }
  EB_TRY(eb_multifrontal_solve(c->factor, 1, c->correction, c->correction, log, &reason));
  for (int64_t k = 0; k < c->work.size && reason > 0; k++)
    if (fabs(c->correction[k]) > most) {
      most = fabs(c->correction[k]);
      *node = (int32_t)(k / 3);
    }
  return EB_OK;
}

/* A node that must become dynamic, or -1. */
static eb_error probe(eb_conjac *c, const double *x, eb_step_log *log, int32_t *node) {
  eb_reason reason;
  *node = -1;
  if (!c->part.quasistatic || c->part.quasistatic == c->part.nodes) return EB_OK;
  eb_implicit_assemble(&c->work, x, 0, 1, true, log);
  EB_TRY(eb_conjac_factor(c, false, log, &reason));
  if (reason > 0) return find_loose(c, log, node);
  int64_t row = eb_multifrontal_failed_row(c->factor);
  if (reason == EB_NOT_POSITIVE_DEFINITE && !c->part.class[row / 3]) *node = (int32_t)(row / 3);
  return EB_OK;
}

eb_error eb_conjac_make_definite(eb_conjac *c, const uint8_t *boundary, const double *x,
                                 const double *angles, eb_step_log *log) {
  int32_t added = 0, node = 0;
  memcpy(c->held, boundary, (size_t)c->work.nodes);
  EB_TRY(eb_conjac_hold(c->work.scene, c->held, x, &c->chosen, &added));
  if (added) {
    eb_conjac_release_columns(c);
    EB_TRY(eb_conjac_allocate_columns(c));
  }
  for (added = 0; node >= 0 && added < MAX_ADDED; added++) {
    eb_conjac_partition(c, angles);
    EB_TRY(probe(c, x, log, &node));
    if (node >= 0) EB_TRY(add_dynamic(c, node));
  }
  eb_conjac_partition(c, angles);
  return EB_OK;
}

void eb_conjac_partition(eb_conjac *c, const double *angles) {
  if (!eb_partition_update(&c->part, &c->chosen, c->work.fixed, angles)) return;
  c->current = false;
  c->stale = true;
}
