/* Classes of nodes and the rows of B; see partition.h for both.
 *
 *   v_n = B y + c on the nodes n that are not quasistatic,   y = (v_d, u)
 *
 * B is the identity at dynamic nodes and the Jacobian of the linkage, J_a(q), at attached ones
 * (rows 3 x joints, m/(rad/s)); it is never stored as a matrix. Reference: Weidner, Kim and Sueda
 * 2020, Section 3 and, for attached nodes, the muscle of Section 4.
 *
 * Needs: the script's nodes and the angles of the joints. Workspace: three bytes a node, 3 x joints
 * numbers an attached node. Nothing fails after create. */
#include "solvers/conjac/partition.h"

#include "problems/base/assert.h"
#include "problems/base/memory.h"

#include <string.h>

/* ---- life ---- */

static int32_t attached_of(const eb_scene *scene) {
  return scene->rigid.articulation ? eb_articulation_attached(scene->rigid.articulation) : 0;
}

static eb_error allocate(eb_partition *p) {
  int32_t attached = attached_of(p->scene);
  EB_TRY(EB_NEW(p->class, p->nodes));
  EB_TRY(EB_NEW(p->next, p->nodes));
  EB_TRY(EB_NEW(p->attached, p->nodes));
  EB_TRY(EB_NEW(p->move, p->room));
  EB_TRY(EB_NEW(p->jacobians, 3 * (int64_t)attached * p->joints));
  for (int32_t k = 0; k < attached; k++)
    p->attached[eb_articulation_node(p->scene->rigid.articulation, k)] = 1;
  return EB_OK;
}

eb_error eb_partition_create(const eb_scene *scene, const eb_node_list *chosen, eb_partition *out) {
  EB_ASSERT(chosen->count >= 0);
  *out = (eb_partition){
      .scene = scene,
      .nodes = scene->mesh->node_count,
      .axes = scene->mesh->type == EB_TRIANGLE ? 2 : 3,
      .joints = scene->rigid.articulation ? eb_articulation_joints(scene->rigid.articulation) : 0,
      .room = chosen->count + attached_of(scene)};
  for (int k = 0; k < out->axes; k++) out->identity[k * out->axes + k] = 1;
  eb_error error = allocate(out);
  if (error) eb_partition_clear(out);
  return error;
}

void eb_partition_clear(eb_partition *p) {
  free(p->class);
  free(p->next);
  free(p->attached);
  free(p->move);
  free(p->jacobians);
  *p = (eb_partition){0};
}

int32_t eb_partition_most_unknowns(const eb_partition *p) {
  return p->axes * (p->room - attached_of(p->scene)) + p->joints;
}

/* ---- classes ---- */

bool eb_partition_update(eb_partition *p, const eb_node_list *chosen, const uint8_t *fixed,
                         const double *angles) {
  static const double rest_angles[EB_MAX_JOINTS] = {0};
  for (int32_t i = 0; i < p->nodes; i++)
    p->next[i] = fixed[i]         ? EB_NODE_SCRIPTED
                 : p->attached[i] ? EB_NODE_ATTACHED
                                  : EB_NODE_QUASISTATIC;
  for (int32_t k = 0; k < chosen->count; k++) {
    uint8_t *class = &p->next[chosen->nodes[k]];
    if (*class == EB_NODE_QUASISTATIC) *class = EB_NODE_DYNAMIC;
  }
  bool changed = memcmp(p->next, p->class, (size_t)p->nodes) != 0;
  uint8_t *old = p->class;
  p->class = p->next;
  p->next = old;
  p->quasistatic = 0;
  for (int32_t i = 0; i < p->nodes; i++) p->quasistatic += p->class[i] == EB_NODE_QUASISTATIC;
  /* Unknowns: two or three velocities a dynamic node, in order of choice, then the rates of joints,
   * which all attached nodes share. */
  p->moving = p->unknowns = 0;
  for (int32_t k = 0; k < chosen->count; k++) {
    if (p->class[chosen->nodes[k]] != EB_NODE_DYNAMIC) continue;
    p->move[p->moving++] = (eb_moving_node){
        .node = chosen->nodes[k], .first = p->unknowns, .count = p->axes, .rows = p->identity};
    p->unknowns += p->axes;
  }
  for (int32_t k = 0; k < attached_of(p->scene); k++) {
    int32_t node = eb_articulation_node(p->scene->rigid.articulation, k);
    if (p->class[node] != EB_NODE_ATTACHED) continue;
    double place[3], *rows = p->jacobians + 3 * (int64_t)k * p->joints;
    eb_articulation_place(p->scene->rigid.articulation, angles ? angles : rest_angles, k, place,
                          rows);
    p->move[p->moving++] =
        (eb_moving_node){.node = node, .first = p->unknowns, .count = p->joints, .rows = rows};
  }
  p->unknowns += p->joints;
  return changed;
}
