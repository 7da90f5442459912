/* Cutting along faces: nodes are split, elements stay as they are.
 *
 * A corner is a place in the list of elements: corner type e + a is node a of element e. Two
 * corners at one node hang together when their elements share a face at it that is not parted; the
 * sets of corners that hang together at a node of a parted face each become a node of their own,
 * the set with the lowest corner the old one. */
#include "problems/mesh/cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/mesh/disjoint.h"
#include "problems/mesh/faces.h"

/* ---- the disc -------------------------------------------------------------------------------- */

static bool all_finite(const double a[3]) {
  return isfinite(a[0]) && isfinite(a[1]) && isfinite(a[2]);
}

static double largest(const double a[3]) {
  return fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2])));
}

eb_error eb_cut_validate(const eb_cut *cut) {
  if (!isfinite(cut->time)) return EB_ERROR(EB_ERR_INVALID, "a cut is made at %g s", cut->time);
  if (!all_finite(cut->origin) || !all_finite(cut->normal))
    return EB_ERROR(EB_ERR_INVALID, "the cut at %g s has an origin or a normal that is not finite",
                    cut->time);
  if (!(largest(cut->normal) > 0))
    return EB_ERROR(EB_ERR_INVALID, "the cut at %g s has no normal", cut->time);
  if (!(cut->radius > 0))
    return EB_ERROR(EB_ERR_INVALID, "the cut at %g s has the radius %g m; it is to be positive",
                    cut->time, cut->radius);
  return EB_OK;
}

/* A cut with its normal of length 1. Distances below `rounding` are none: what lies in the plane,
 * to rounding, counts as above it, so that a layer of elements whose centroids all lie there is not
 * torn at random. */
typedef struct disc {
  double origin[3], normal[3], radius, rounding;
} disc;

static disc make_disc(const eb_mesh *mesh, const eb_cut *cut) {
  disc d = {.radius = cut->radius};
  double size = largest(cut->normal), square = 0, lo[3], hi[3];
  for (int k = 0; k < 3; k++) square += (cut->normal[k] / size) * (cut->normal[k] / size);
  for (int k = 0; k < 3; k++) {
    d.origin[k] = cut->origin[k];
    d.normal[k] = cut->normal[k] / size / sqrt(square);
  }
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  for (int k = 0; k < 3; k++) d.rounding = fmax(d.rounding, 1e-9 * (hi[k] - lo[k]));
  return d;
}

static double height(const disc *d, const double p[3]) {
  double sum = 0;
  for (int k = 0; k < 3; k++) sum += d->normal[k] * (p[k] - d->origin[k]);
  return sum;
}

/* ---- which faces are parted ------------------------------------------------------------------ */

enum { OPEN = 1, SEEN };

/* The work of one cut. */
typedef struct cutting {
  eb_mesh *mesh;
  const eb_face_table *table;
  int32_t *mate;  /* of every face, as eb_mesh_face_mates has it */
  uint8_t *above; /* elements: the side of the plane */
  /* nodes: OPEN when it belongs to a parted face; SEEN once its first set is counted */
  uint8_t *opened;
  int32_t *parent; /* corners: disjoint sets */
  int32_t *number; /* corners: the new node of the set whose lowest corner this is, or -1 */
  int32_t *origin; /* of every node of the cut mesh */
  int32_t copies;
  double *X;
  int32_t **members; /* sets: nodes of each, copies included */
  int32_t *counts;
} cutting;

static void add_node(const eb_mesh *mesh, int32_t node, double share, double sum[3]) {
  for (size_t k = 0; k < 3; k++) sum[k] += share * mesh->X[3 * (size_t)node + k];
}

static bool is_parted(const cutting *c, const disc *d, int32_t face) {
  int32_t nodes = c->table->nodes, node[4];
  if (c->above[face / c->table->count] == c->above[c->mate[face] / c->table->count]) return false;
  double centroid[3] = {0};
  eb_face_nodes(c->mesh, face, node);
  for (int32_t i = 0; i < nodes; i++) add_node(c->mesh, node[i], 1.0 / nodes, centroid);
  double h = height(d, centroid), square = 0;
  for (int k = 0; k < 3; k++) {
    double off = centroid[k] - d->origin[k] - h * d->normal[k];
    square += off * off;
  }
  return sqrt(square) <= d->radius + d->rounding;
}

/* ---- which corners hang together ------------------------------------------------------------- */

static int32_t corner_at(const cutting *c, int32_t element, int32_t node) {
  int32_t corner = element * (int32_t)c->mesh->type;
  while (c->mesh->elements[corner] != node) corner++;
  return corner;
}

/* Finds the sides of the elements, opens the nodes of parted faces and joins across the others. */
static void sort_faces(cutting *c, const disc *d) {
  const eb_mesh *mesh = c->mesh;
  size_t type = mesh->type;
  for (size_t e = 0; e < (size_t)mesh->element_count; e++) {
    double centroid[3] = {0};
    for (size_t a = 0; a < type; a++)
      add_node(mesh, mesh->elements[type * e + a], 1.0 / (double)type, centroid);
    c->above[e] = height(d, centroid) > -d->rounding;
  }
  for (int32_t k = 0; k < mesh->element_count * (int32_t)type; k++) c->parent[k] = k;
  for (int32_t face = 0; face < mesh->element_count * c->table->count; face++) {
    int32_t node[4];
    if (c->mate[face] < face) continue;
    bool parted = is_parted(c, d, face);
    eb_face_nodes(mesh, face, node);
    for (int32_t i = 0; i < c->table->nodes; i++)
      if (parted)
        c->opened[node[i]] = OPEN;
      else
        eb_disjoint_join(c->parent, corner_at(c, face / c->table->count, node[i]),
                         corner_at(c, c->mate[face] / c->table->count, node[i]));
  }
}

/* Gives every set of corners beyond the first at its node a number, in the order of nodes and of
 * lowest corners. next[n]: the sets at node n, then the number that its next copy gets. */
static eb_error number_sets(cutting *c, int32_t *next) {
  const int32_t *node = c->mesh->elements;
  int32_t corners = c->mesh->element_count * (int32_t)c->mesh->type, nodes = c->mesh->node_count;
  int64_t all = nodes;
  for (int32_t k = 0; k < corners; k++) next[node[k]] += c->parent[k] == k;
  for (int32_t n = 0; n < nodes; n++) {
    int32_t more = c->opened[n] ? next[n] - 1 : 0;
    next[n] = (int32_t)all;
    all += more;
    if (all > INT32_MAX / 3)
      return EB_ERROR(EB_ERR_LIMIT, "a cut makes too large a mesh out of one with %d nodes", nodes);
  }
  for (int32_t k = 0; k < corners; k++) {
    int32_t n = node[k];
    bool beyond = c->opened[n] == SEEN && c->parent[k] == k;
    c->number[k] = beyond ? next[n]++ : -1;
    if (c->opened[n]) c->opened[n] = SEEN;
  }
  c->copies = (int32_t)all - nodes;
  return EB_OK;
}

/* ---- the cut mesh ---------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
  int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
  return (left > right) - (left < right);
}

/* Copies have the highest numbers: the sets stay in order. */
static eb_error copy_nodes_and_sets(cutting *c) {
  const eb_mesh *mesh = c->mesh;
  int32_t nodes = mesh->node_count, all = nodes + c->copies;
  EB_TRY(EB_NEW(c->origin, all));
  EB_TRY(EB_NEW(c->X, 3 * (size_t)all));
  EB_TRY(EB_NEW(c->members, mesh->set_count));
  EB_TRY(EB_NEW(c->counts, mesh->set_count));
  for (int32_t n = 0; n < nodes; n++) c->origin[n] = n;
  for (int32_t k = 0; k < mesh->element_count * (int32_t)mesh->type; k++)
    if (c->number[k] >= 0) c->origin[c->number[k]] = mesh->elements[k];
  for (size_t i = 0; i < (size_t)all; i++)
    memcpy(c->X + 3 * i, mesh->X + 3 * (size_t)c->origin[i], 3 * sizeof *c->X);
  for (int32_t s = 0; s < mesh->set_count; s++) {
    const eb_node_set *set = &mesh->sets[s];
    size_t count = (size_t)set->count;
    EB_TRY(EB_NEW(c->members[s], count + (size_t)c->copies));
    memcpy(c->members[s], set->nodes, count * sizeof *set->nodes);
    c->counts[s] = set->count;
    for (int32_t i = nodes; i < all; i++)
      if (bsearch(&c->origin[i], set->nodes, count, sizeof *set->nodes, ascending))
        c->members[s][c->counts[s]++] = i;
  }
  return EB_OK;
}

static eb_error make_cut(cutting *c, const disc *d) {
  eb_mesh *mesh = c->mesh;
  size_t corners = (size_t)mesh->element_count * mesh->type;
  int32_t crowded;
  EB_TRY(eb_mesh_face_mates(mesh, &c->mate, &crowded));
  if (crowded >= 0)
    return EB_ERROR(EB_ERR_INVALID, "element %d has a face that more than two elements share",
                    crowded / c->table->count);
  EB_TRY(EB_NEW(c->above, mesh->element_count));
  EB_TRY(EB_NEW(c->opened, mesh->node_count));
  EB_TRY(EB_NEW(c->parent, corners));
  EB_TRY(EB_NEW(c->number, corners));
  sort_faces(c, d);
  int32_t *next;
  EB_TRY(EB_NEW(next, c->mesh->node_count));
  eb_error error = number_sets(c, next);
  free(next);
  EB_TRY(error);
  EB_TRY(copy_nodes_and_sets(c));
  /* Nothing fails from here on. */
  for (size_t k = 0; k < corners; k++) {
    int32_t own = c->number[eb_disjoint_root(c->parent, (int32_t)k)];
    if (own >= 0) mesh->elements[k] = own;
  }
  for (int32_t s = 0; s < mesh->set_count; s++) {
    free(mesh->sets[s].nodes);
    mesh->sets[s].nodes = c->members[s];
    mesh->sets[s].count = c->counts[s];
    c->members[s] = NULL;
  }
  free(mesh->X);
  mesh->X = c->X;
  c->X = NULL;
  mesh->node_count += c->copies;
  return EB_OK;
}

eb_error eb_mesh_cut(eb_mesh *mesh, const eb_cut *cut, int32_t **origin) {
  *origin = NULL;
  EB_TRY(eb_cut_validate(cut));
  cutting c = {.mesh = mesh, .table = eb_face_table_of(mesh->type)};
  disc d = make_disc(mesh, cut);
  eb_error error = make_cut(&c, &d);
  for (int32_t s = 0; c.members && s < mesh->set_count; s++) free(c.members[s]);
  free(c.members);
  free(c.counts);
  free(c.X);
  free(c.number);
  free(c.parent);
  free(c.opened);
  free(c.above);
  free(c.mate);
  if (error)
    free(c.origin);
  else
    *origin = c.origin;
  return error;
}

/* ---- components ------------------------------------------------------------------------------ */

int32_t eb_mesh_components(const eb_mesh *mesh, int32_t *part) {
  size_t type = mesh->type;
  int32_t count = 0;
  for (int32_t i = 0; i < mesh->node_count; i++) part[i] = i;
  for (size_t e = 0; e < (size_t)mesh->element_count; e++)
    for (size_t a = 1; a < type; a++)
      eb_disjoint_join(part, mesh->elements[type * e], mesh->elements[type * e + a]);
  for (int32_t i = 0; i < mesh->node_count; i++) part[i] = eb_disjoint_root(part, i);
  /* A root is the lowest node of its part: its number is there before the others ask for it. */
  for (int32_t i = 0; i < mesh->node_count; i++) part[i] = part[i] == i ? count++ : part[part[i]];
  return count;
}
