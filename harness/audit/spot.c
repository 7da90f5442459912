/* Looks up spots of a step: collective, and off the way of every step that keeps the rules. */
#include "harness/audit/spot.h"

#include <math.h>
#include <stdio.h>

#include "harness/audit/audit_data.h"
#include "problems/base/vector3.h"

const char *eb_spot_name(eb_spot_kind kind) {
  static const char *const names[EB_SPOT_KINDS] = {[EB_SPOT_NODE] = "node",
                                                   [EB_SPOT_BODY] = "body",
                                                   [EB_SPOT_FREE_BODY] = "rigid body",
                                                   [EB_SPOT_CONTACT] = "contact",
                                                   [EB_SPOT_PAIR] = "vertex"};
  return (unsigned)kind < EB_SPOT_KINDS && names[kind] ? names[kind] : "";
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* What the rank that has the node tells all others; the first of several. */
static void share_node(const eb_audit *audit, eb_place *out) {
  const bool mine = out->vertex[0] >= 0;
  double who = mine ? eb_ranks_self(audit->ranks) : INFINITY, told[4] = {0};
  eb_ranks_min(audit->ranks, 1, &who);
  if (who == INFINITY) {
    out->kind = EB_SPOT_NONE;
    return;
  }
  if (mine && who == eb_ranks_self(audit->ranks)) {
    told[0] = (double)audit->scene->part->original_node[out->vertex[0]];
    for (int d = 0; d < 3; d++) told[1 + d] = out->x[d];
  } else {
    out->vertex[0] = -1;
  }
  eb_ranks_sum(audit->ranks, 4, told);
  out->at = (int64_t)told[0];
  for (int d = 0; d < 3; d++) out->x[d] = told[1 + d];
}

static void place_node(const eb_audit *audit, const double *x, int32_t node, eb_place *out) {
  *out = (eb_place){EB_SPOT_NODE, node, {node, -1}, {NAN, NAN, NAN}};
  for (size_t d = 0; node >= 0 && d < 3; d++) out->x[d] = x[3 * (size_t)node + d];
  if (audit->ranks) share_node(audit, out);
  if (out->at < 0) out->kind = EB_SPOT_NONE;
}

/* Of the free nodes that this rank owns; -1: it has none that is the largest of all. */
static int32_t largest_residual(const eb_audit *audit) {
  double most = -1;
  int32_t node = -1;
  for (size_t i = 0; i < audit->own_nodes; i++) {
    double size2 = audit->fixed[i] ? -1 : eb_audit_squared(audit->declared + 3 * i);
    if (!(size2 > most)) continue;
    most = size2;
    node = (int32_t)i;
  }
  double of_all = most;
  eb_ranks_max(audit->ranks, 1, &of_all);
  return of_all > most ? -1 : node;
}

static int32_t first_not_finite(const eb_audit *audit, const eb_state *after) {
  for (size_t k = 0; k < 3 * audit->own_nodes; k++)
    if (!isfinite(after->x[k]) || !isfinite(after->v[k])) return (int32_t)(k / 3);
  return -1;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Keeps the vertex, of a body that ranks share, on the rank that has its first node. */
static void keep_first(const eb_audit *audit, eb_place *out) {
  if (!audit->ranks) return;
  bool any = out->vertex[0] >= 0;
  double own = any ? audit->scene->part->original_node[out->vertex[0]] : INFINITY, first = own;
  eb_ranks_min(audit->ranks, 1, &first);
  if (own > first) out->vertex[0] = -1;
}

/* The middle of its nodes. */
static void place_body(const eb_audit *audit, const double *x, int32_t part, eb_place *out) {
  double sums[4] = {0};
  *out = (eb_place){EB_SPOT_BODY, part, {-1, -1}, {NAN, NAN, NAN}};
  for (size_t i = 0; i < audit->own_nodes; i++) {
    if (audit->part[i] != part) continue;
    if (out->vertex[0] < 0) out->vertex[0] = (int32_t)i;
    sums[3]++;
    eb_add3(1, x + 3 * i, sums);
  }
  keep_first(audit, out);
  eb_ranks_sum(audit->ranks, 4, sums);
  for (int d = 0; d < 3 && sums[3] > 0; d++) out->x[d] = sums[d] / sums[3];
}

static void place_free_body(const eb_audit *audit, const eb_state *after, int32_t body,
                            eb_place *out) {
  const eb_free_bodies *bodies = audit->scene->rigid.free_bodies;
  const double *x = after->pose + 7 * (size_t)body;
  *out = (eb_place){EB_SPOT_FREE_BODY, body, {-1, -1}, {x[0], x[1], x[2]}};
  for (size_t i = 0; i < audit->nodes && out->vertex[0] < 0; i++)
    if (bodies->of_node[i] == body) out->vertex[0] = (int32_t)i;
}

void eb_audit_place(const eb_audit *audit, const eb_state *before, const eb_state *after,
                    eb_spot spot, eb_place *out) {
  *out = (eb_place){EB_SPOT_NONE, -1, {-1, -1}, {NAN, NAN, NAN}};
  switch (spot.kind) {
  case EB_SPOT_NODE:
    place_node(audit, after->x, spot.at, out);
    return;
  case EB_SPOT_RESIDUAL:
    place_node(audit, after->x, largest_residual(audit), out);
    return;
  case EB_SPOT_NOT_FINITE: /* where it was last */
    place_node(audit, before->x, first_not_finite(audit, after), out);
    return;
  case EB_SPOT_BODY:
    place_body(audit, after->x, spot.at, out);
    return;
  case EB_SPOT_FREE_BODY:
    place_free_body(audit, after, spot.at, out);
    return;
  default:
    return;
  }
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Of the obstacle behind the mesh's nodes; as `elastobench info SCENE` counts them. */
static void name_obstacle(const eb_scene *scene, int32_t vertex, char *out, size_t bytes) {
  int32_t obstacle = 0;
  for (vertex -= scene->mesh->node_count; obstacle < scene->contacts.obstacle_count; obstacle++) {
    int32_t count = scene->contacts.obstacles[obstacle].surface->vertex_count;
    if (vertex < count) break;
    vertex -= count;
  }
  snprintf(out, bytes, "obstacle %d", obstacle + 1);
}

/* The last region that has the node, or -1. */
static int32_t region_of(const eb_mesh *mesh, int32_t node) {
  int32_t region = -1;
  for (size_t k = 0; node >= 0 && k < (size_t)mesh->element_count * mesh->type; k++)
    if (mesh->elements[k] == node && mesh->region[k / mesh->type] > region)
      region = mesh->region[k / mesh->type];
  return region;
}

/* Whether the region is of other bodies too. */
static bool is_shared(const eb_audit *audit, int32_t region, int32_t part) {
  const eb_mesh *mesh = audit->scene->mesh;
  bool shared = false;
  for (int32_t e = 0; e < mesh->element_count && !shared; e++)
    shared =
        mesh->region[e] == region && audit->part[mesh->elements[(size_t)e * mesh->type]] != part;
  return eb_ranks_any(audit->ranks, shared);
}

void eb_audit_body_name(const eb_audit *audit, int32_t v, char *out, size_t bytes) {
  const eb_mesh *mesh = audit->scene->mesh;
  *out = '\0';
  if (v >= mesh->node_count) {
    name_obstacle(audit->scene, v, out, bytes);
    return;
  }
  double of[2] = {region_of(mesh, v), v >= 0 ? audit->part[v] : -1};
  eb_ranks_max(audit->ranks, 2, of);
  if (of[0] < 0) return;
  int32_t region = (int32_t)of[0], part = (int32_t)of[1];
  if (is_shared(audit, region, part))
    snprintf(out, bytes, "%s (body %d of %d)", mesh->region_name[region], part + 1, audit->parts);
  else
    snprintf(out, bytes, "%s", mesh->region_name[region]);
}
