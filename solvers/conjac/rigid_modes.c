/* Constraining rigid modes: H_qq is definite only when no part of a body can move without strain
 * while the boundary, the nodes that are not quasistatic, stays.
 *
 *   rank: every connected component needs three boundary nodes, not on one line (in the plane two)
 *
 * Whole bodies, by geometry: any translation is free without boundary nodes, rotations about the
 * point or line that all of them lie on. A node off that point or line ends it; the one farthest
 * from it ends it best, as the stiffness against the rotation goes with the square of that
 * distance. Quasistatic nodes are in equilibrium, so the nodes that are added bear every load of an
 * unsupported body that nothing balances (all its weight, where the inertia of its fall is left
 * out). A point load pushes a node in by about force / (E edge), several times as far on a surface
 * and most of all at a corner, which is what is farthest. Nodes inside the body come first.
 *
 * Parts of bodies, by numbers: a mesh may also be connected at single nodes or edges, about which a
 * part of it turns freely. H_qq is factored, and x = inv(H_qq) b for a right-hand side without
 * structure. Along a motion without strain x is as large as rounding leaves it, some 1e14 over the
 * mean diagonal, where the softest deformations of slender bodies stay below 1e10. The node that x
 * moves farthest becomes dynamic, or the one whose pivot has failed, until there is no such motion.
 *
 * Reference: the rank condition is that of textbook statics. The paper has no such step: it is
 * taken with add_nodes=true alone. Needs: the mesh, its boundary, H at x for the second part.
 * The nodes of a body are gone through by place, so that it gets the same ones however it is
 * numbered. Parts of bodies go by the pivots of a factor, whose order follows the numbers.
 * Workspace: fourteen integers a node.
 * Fails when memory does; after MAX_ADDED nodes H_qq is left as it is, and the step's factorization
 * says so. */
#include "solvers/conjac/conjac.h"

#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/mesh/places.h"

enum { MAX_ADDED = 256 };
static const double too_far = 1e12; /* of x, over the mean diagonal */

/* ---- whole bodies ---- */

typedef struct constrainer {
  const double *x;
  const double *node_area; /* 0 inside; or NULL */
  bool planar;
  int32_t *nodes, *start; /* of component p: nodes[start[p]] to nodes[start[p + 1] - 1], by place */
  uint8_t *constrained;   /* by the script, by attachment or in the list */
  eb_node_list *list;
  int32_t capacity; /* of the list */
} constrainer;

/* What the constrained nodes of a component leave free to turn about: nothing is constrained, a
 * point, or the line through two points. */
typedef struct axis {
  int points;
  double point[2][3];
} axis;

/* Squared distance of p from the axis; from the centroid of the component when nothing is
 * constrained.
 *
 * The part across the axis is formed as a vector and then squared: the difference of the squares of
 * `to` and of its part along the axis would lose the digits of points near the axis. */
static double squared_distance(const axis *f, const double *p) {
  double along[3], to[3], dot = 0, length = 0, sum = 0;
  for (int d = 0; d < 3; d++) {
    along[d] = f->points == 2 ? f->point[1][d] - f->point[0][d] : 0;
    to[d] = p[d] - f->point[0][d];
    dot += along[d] * to[d];
    length += along[d] * along[d];
  }
  for (int d = 0; d < 3; d++) {
    double rest = to[d] - (length > 0 ? dot / length * along[d] : 0);
    sum += rest * rest;
  }
  return sum;
}

enum { CONSTRAINED, INSIDE, ANY };

/* The node of that kind that is farthest from the axis, or -1 when all are on it. What is within a
 * thousandth of the component's size of the point or the line is on it: the matrix would be a
 * million times softer there. */
static int32_t farthest_from_axis(const constrainer *s, int32_t part, const axis *f, double size,
                                  int kind) {
  double most = f->points > 0 ? 1e-6 * size : -1;
  int32_t best = -1;
  for (int32_t k = s->start[part]; k < s->start[part + 1]; k++) {
    int32_t node = s->nodes[k];
    if (kind == CONSTRAINED ? !s->constrained[node] : kind == INSIDE && s->node_area[node] > 0)
      continue;
    double distance = squared_distance(f, s->x + 3 * (size_t)node);
    if (distance > most) {
      most = distance;
      best = node;
    }
  }
  return best;
}

/* The centroid of a component and the square of its size, from the box of its nodes. */
static double measure(const constrainer *s, int32_t part, double centroid[3]) {
  double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0;
  int32_t count = s->start[part + 1] - s->start[part];
  for (int d = 0; d < 3; d++) centroid[d] = 0;
  for (int32_t k = s->start[part]; k < s->start[part + 1]; k++)
    for (int d = 0; d < 3; d++) {
      double at = s->x[3 * (size_t)s->nodes[k] + d];
      lo[d] = fmin(lo[d], at);
      hi[d] = fmax(hi[d], at);
      centroid[d] += at / count;
    }
  for (int d = 0; d < 3; d++) sum += (hi[d] - lo[d]) * (hi[d] - lo[d]);
  return sum;
}

static eb_error append(constrainer *s, int32_t node) {
  eb_node_list *list = s->list;
  if (list->count == s->capacity) {
    int32_t more = 2 * s->capacity + 4;
    int32_t *grown = eb_recalloc(list->nodes, (size_t)s->capacity, (size_t)more, sizeof *grown);
    if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot allocate a list of %d dynamic nodes", more);
    list->nodes = grown;
    s->capacity = more;
  }
  list->nodes[list->count++] = node;
  s->constrained[node] = 1;
  return EB_OK;
}

/* The node to add: inside, unless that is less than a quarter as far off.
 *
 * Distances are compared by squares: a quarter is 1/16. The stiffness against the rotation,
 * which goes with the same squares, is then at most 16 times less than it could be, for a node
 * that does not dent the surface. */
static int32_t best_addition(const constrainer *s, int32_t part, const axis *f, double size) {
  int32_t any = farthest_from_axis(s, part, f, size, ANY);
  int32_t inside = s->node_area ? farthest_from_axis(s, part, f, size, INSIDE) : -1;
  if (inside < 0) return any;
  double depth = squared_distance(f, s->x + 3 * (size_t)inside),
         most = squared_distance(f, s->x + 3 * (size_t)any);
  return 16 * depth < most ? any : inside;
}

/* Nodes that are constrained already come first; what they leave free, new ones constrain, as far
 * as the component has nodes for it. */
static eb_error constrain_component(constrainer *s, int32_t part) {
  axis f = {0};
  double size = measure(s, part, f.point[0]);
  const int wanted = s->planar ? 2 : 3;
  while (f.points < wanted) {
    int32_t node = farthest_from_axis(s, part, &f, size, CONSTRAINED);
    if (node < 0) {
      node = best_addition(s, part, &f, size);
      if (node < 0) return EB_OK;
      EB_TRY(append(s, node));
    }
    if (f.points < 2) memcpy(f.point[f.points], s->x + 3 * (size_t)node, sizeof f.point[0]);
    f.points++;
  }
  return EB_OK;
}

static eb_error constrain(constrainer *s, const eb_mesh *mesh, const uint8_t *boundary,
                          int32_t *part) {
  int32_t parts = eb_mesh_components(mesh, part);
  EB_FREED int32_t *order = NULL;
  EB_TRY(EB_NEW(order, mesh->node_count));
  EB_TRY(eb_mesh_nodes_by_place(mesh, order));
  /* Counting sort of the nodes by component. */
  EB_TRY(EB_NEW(s->start, parts + 2));
  EB_TRY(EB_NEW(s->nodes, mesh->node_count));
  for (int32_t i = 0; i < mesh->node_count; i++) s->start[part[i] + 2]++;
  for (int32_t p = 0; p < parts; p++) s->start[p + 2] += s->start[p + 1];
  for (int32_t k = 0; k < mesh->node_count; k++)
    s->nodes[s->start[part[order[k]] + 1]++] = order[k];
  EB_TRY(EB_NEW(s->constrained, mesh->node_count));
  for (int32_t i = 0; i < mesh->node_count; i++) s->constrained[i] = boundary[i] != 0;
  for (int32_t k = 0; k < s->list->count; k++) s->constrained[s->list->nodes[k]] = 1;
  for (int32_t p = 0; p < parts; p++) EB_TRY(constrain_component(s, p));
  return EB_OK;
}

eb_error eb_conjac_constrain_bodies(const eb_scene *scene, const uint8_t *boundary, const double *x,
                                    eb_node_list *list, int32_t *added) {
  const eb_mesh *mesh = scene->mesh;
  constrainer s = {.x = x,
                   .node_area = scene->node_area,
                   .planar = mesh->type == EB_TRIANGLE,
                   .list = list,
                   .capacity = list->count};
  int32_t before = list->count, *part;
  *added = 0;
  EB_TRY(EB_NEW(part, mesh->node_count));
  eb_error error = constrain(&s, mesh, boundary, part);
  *added = list->count - before;
  free(s.constrained);
  free(s.start);
  free(s.nodes);
  free(part);
  return error;
}

eb_error eb_conjac_require_held_bodies(const eb_conjac *c, const double *x) {
  int32_t added = 0;
  size_t count = (size_t)c->chosen.count;
  eb_node_list list = {.count = c->chosen.count};
  EB_TRY(EB_NEW(list.nodes, count));
  if (count) memcpy(list.nodes, c->chosen.nodes, count * sizeof *list.nodes);
  eb_error error = eb_conjac_constrain_bodies(c->work.scene, c->boundary, x, &list, &added);
  eb_node_list_clear(&list);
  if (error || added == 0) return error;
  return EB_ERROR(EB_ERR_USAGE,
                  "conjac: bodies can move rigidly while %d dynamic nodes rest, so that the others "
                  "have no equilibrium: %d more have to be dynamic; choose more, or let "
                  "add_nodes=true add them",
                  c->chosen.count, added);
}

/* ---- parts of bodies ---- */

/* b has the mean diagonal as its scale, so that x = inv(H_qq) b is of order 1 along a mode as stiff
 * as a node, and as much larger as a mode is softer: a random b has a part along every one.
 *
 * The node of the largest entry of inv(H_qq) b when that is too large, else -1. */
static eb_error find_strainless(eb_conjac *c, eb_step_log *log, int32_t *node) {
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
static eb_error find_unconstrained(eb_conjac *c, const double *x, eb_step_log *log, int32_t *node) {
  eb_reason reason;
  *node = -1;
  if (!c->part.quasistatic || c->part.quasistatic == c->part.nodes) return EB_OK;
  eb_implicit_assemble(&c->work, x, 0, 1, true, log);
  EB_TRY(eb_conjac_factor(c, false, log, &reason));
  if (reason > 0) return find_strainless(c, log, node);
  int64_t row = eb_multifrontal_failed_row(c->factor);
  if (reason == EB_NOT_POSITIVE_DEFINITE && !c->part.class[row / 3]) *node = (int32_t)(row / 3);
  return EB_OK;
}

eb_error eb_conjac_constrain_rigid_modes(eb_conjac *c, const uint8_t *boundary, const double *x,
                                         const double *angles, eb_step_log *log) {
  int32_t added = 0, node = c->settings.add ? 0 : -1;
  memcpy(c->boundary, boundary, (size_t)c->work.nodes);
  if (c->settings.add)
    EB_TRY(eb_conjac_constrain_bodies(c->work.scene, c->boundary, x, &c->chosen, &added));
  if (added) {
    eb_conjac_release_columns(c);
    EB_TRY(eb_conjac_allocate_columns(c));
  }
  for (added = 0; node >= 0 && added < MAX_ADDED; added++) {
    eb_conjac_partition(c, angles);
    EB_TRY(find_unconstrained(c, x, log, &node));
    if (node >= 0) {
      eb_node_list *list = &c->chosen;
      size_t count = (size_t)list->count;
      int32_t *grown = eb_recalloc(list->nodes, count, count + 1, sizeof *grown);
      if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot allocate a list of %zu nodes", count + 1);
      grown[count] = node;
      *list = (eb_node_list){.count = list->count + 1, .nodes = grown};
      eb_conjac_release_columns(c);
      EB_TRY(eb_conjac_allocate_columns(c));
    }
  }
  eb_conjac_partition(c, angles);
  return EB_OK;
}
