/* Holding the components of a mesh against rigid motion.
 *
 * The matrix of a body with some nodes held is singular when a rigid motion leaves these nodes where they are: any translation
 * without held nodes, rotations about the point or line that all of them lie on. A node off that point or line
 * ends it; the one farthest from it ends it best, as the stiffness against the rotation goes with the square of that distance.
 *
 * Quasistatic nodes are in equilibrium, so the nodes that are added bear every load of a loose body that nothing balances (all its weight, where the
 * inertia of its fall is left out). A point load pushes a node in by about force / (E edge), several times as far on a
 * surface and most of all at a corner, which is what is farthest. Nodes inside the body come first. */
#include "solvers/conjac/nodes.h"

#include <math.h>
#include <string.h>

#include "problems/base/memory.h"

typedef struct holder {
  const double *x;
  const double *node_area; /* 0 inside; or NULL */
  bool planar;
  int32_t *nodes,
      *start;        /* of component p: nodes[start[p]] to nodes[start[p + 1] - 1], ascending */
  uint8_t *anchored; /* held or in the list */
  eb_node_list *list;
  int32_t capacity; /* of the list */
} holder;

/* What is held of a component: nothing, a point, or the line through two points. */
typedef struct frame {
  int points;
  double point[2][3];
} frame;

/* Squared distance of p from the frame; from the centroid of the component when nothing is held. */
static double off(const frame *f, const double *p) {
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

enum { ANCHORED, INSIDE, ANY };

static bool belongs(const holder *h, int32_t node, int kind) {
  return kind == ANCHORED ? h->anchored[node] : kind == ANY || h->node_area[node] <= 0;
}

/* The node of that kind that is farthest off the frame, or -1 when there is none that is off it. What is within a thousandth
 * of the component's size of the point or the line is on it: the matrix would be a million times softer there. */
static int32_t farthest_off(const holder *h, int32_t part, const frame *f, double size, int kind) {
  double most = f->points > 0 ? 1e-6 * size : -1;
  int32_t best = -1;
  for (int32_t k = h->start[part]; k < h->start[part + 1]; k++) {
    int32_t node = h->nodes[k];
    if (!belongs(h, node, kind)) continue;
    double distance = off(f, h->x + 3 * (size_t)node);
    if (distance > most) {
      most = distance;
      best = node;
    }
  }
  return best;
}

/* The centroid of a component and the square of its size, from the box of its nodes. */
static double measure(const holder *h, int32_t part, double centroid[3]) {
  double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0;
  int32_t count = h->start[part + 1] - h->start[part];
  for (int d = 0; d < 3; d++) centroid[d] = 0;
  for (int32_t k = h->start[part]; k < h->start[part + 1]; k++)
    for (int d = 0; d < 3; d++) {
      double at = h->x[3 * (size_t)h->nodes[k] + d];
      lo[d] = fmin(lo[d], at);
      hi[d] = fmax(hi[d], at);
      centroid[d] += at / count;
    }
  for (int d = 0; d < 3; d++) sum += (hi[d] - lo[d]) * (hi[d] - lo[d]);
  return sum;
}

static eb_error append(holder *h, int32_t node) {
  eb_node_list *list = h->list;
  if (list->count == h->capacity) {
    int32_t more = 2 * h->capacity + 4;
    int32_t *grown = eb_recalloc(list->nodes, (size_t)h->capacity, (size_t)more, sizeof *grown);
    if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot allocate a list of %d dynamic nodes", more);
    list->nodes = grown;
    h->capacity = more;
  }
  list->nodes[list->count++] = node;
  h->anchored[node] = 1;
  return EB_OK;
}

/* The node to add: inside, unless that is less than a quarter as far off. */
static int32_t best_addition(const holder *h, int32_t part, const frame *f, double size) {
  int32_t any = farthest_off(h, part, f, size, ANY);
  int32_t inside = h->node_area ? farthest_off(h, part, f, size, INSIDE) : -1;
  if (inside < 0) return any;
  double depth = off(f, h->x + 3 * (size_t)inside), most = off(f, h->x + 3 * (size_t)any);
  return 16 * depth < most ? any : inside;
}

/* Anchored nodes come first; what they leave open, new ones close, as far as the component has nodes for it. */
static eb_error hold_component(holder *h, int32_t part) {
  frame f = {0};
  double size = measure(h, part, f.point[0]);
  const int wanted = h->planar ? 2 : 3;
  while (f.points < wanted) {
    int32_t node = farthest_off(h, part, &f, size, ANCHORED);
    if (node < 0) {
      node = best_addition(h, part, &f, size);
      if (node < 0) return EB_OK;
      EB_TRY(append(h, node));
    }
    if (f.points < 2) memcpy(f.point[f.points], h->x + 3 * (size_t)node, sizeof f.point[0]);
    f.points++;
  }
  return EB_OK;
}

/* Counting sort of the nodes by component. */
static eb_error sort_components(holder *h, const int32_t *part, int32_t nodes, int32_t parts) {
  EB_TRY(EB_NEW(h->start, parts + 2));
  EB_TRY(EB_NEW(h->nodes, nodes));
  for (int32_t i = 0; i < nodes; i++) h->start[part[i] + 2]++;
  for (int32_t p = 0; p < parts; p++) h->start[p + 2] += h->start[p + 1];
  for (int32_t i = 0; i < nodes; i++) h->nodes[h->start[part[i] + 1]++] = i;
  return EB_OK;
}

static eb_error hold(holder *h, const eb_mesh *mesh, const uint8_t *held, int32_t *part) {
  int32_t parts = eb_mesh_components(mesh, part);
  EB_TRY(sort_components(h, part, mesh->node_count, parts));
  EB_TRY(EB_NEW(h->anchored, mesh->node_count));
  for (int32_t i = 0; i < mesh->node_count; i++) h->anchored[i] = held[i] != 0;
  for (int32_t k = 0; k < h->list->count; k++) h->anchored[h->list->nodes[k]] = 1;
  for (int32_t p = 0; p < parts; p++) EB_TRY(hold_component(h, p));
  return EB_OK;
}

eb_error eb_conjac_hold(const eb_scene *scene, const uint8_t *held, const double *x,
                        eb_node_list *list, int32_t *added) {
  const eb_mesh *mesh = scene->mesh;
  holder h = {.x = x,
              .node_area = scene->node_area,
              .planar = mesh->type == EB_TRIANGLE,
              .list = list,
              .capacity = list->count};
  int32_t before = list->count, *part;
  *added = 0;
  EB_TRY(EB_NEW(part, mesh->node_count));
  eb_error error = hold(&h, mesh, held, part);
  *added = list->count - before;
  free(h.anchored);
  free(h.start);
  free(h.nodes);
  free(part);
  return error;
}
