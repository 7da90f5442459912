/* Which nodes of a condensation stay dynamic; see nodes.h.
 *
 *   choose d from the free nodes with |X_i - X_j| >= spacing x diagonal of the rest box
 *
 * Reference: Weidner, Kim and Sueda 2020, Section 5.1: the first ones are placed by hand, and the
 * others drawn until none are too close to each other. How many and where decides what motions keep
 * their inertia, not where bodies come to rest.
 *
 * Random choice is random sequential addition: the candidates are gone through in a random order,
 * and each is taken that keeps its distance from all that were taken before. They are drawn from
 * the order of their places (places.h), in which ties are broken too: a body has the same dynamic
 * nodes however it is numbered. Farthest-point choice takes the candidate whose nearest site -
 * scripted, attached or chosen - is farthest (Gonzalez 1985). Distances are those of the rest
 * configuration, m.
 *
 * Needs: rest positions, the script at the end of the first step, attachments.
 * Workspace: a distance, seven coordinates and two bytes a node, while it chooses.
 * Fails: EB_ERR_USAGE with the node or the number that cannot be, and what could. */
#include "solvers/conjac/nodes.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/random.h"
#include "problems/mesh/places.h"

typedef enum role {
  FREE,
  SCRIPTED, /* in the first step */
  ATTACHED  /* to a rigid body */
} role;

typedef struct selector {
  const eb_scene *scene;
  const eb_node_choice *choice;
  int32_t *order;   /* the nodes by place */
  uint8_t *role;    /* of every node */
  double *distance; /* node_count: squared, to the nearest site, m^2 */
  double least;     /* squared spacing, m^2 */
  eb_node_list list;
  uint8_t *fixed; /* node_count, and target x 3: the script at some time */
  double *target;
} selector;

static double squared_distance(const double *a, const double *b) {
  double sum = 0;
  for (int d = 0; d < 3; d++) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

static const double *rest(const selector *s, int32_t node) {
  return s->scene->mesh->X + 3 * (size_t)node;
}

static int32_t nodes_of(const selector *s) {
  return s->scene->mesh->node_count;
}

/* ---- roles ----------------------------------------------------------------------------------- */

/* The default run is counted in the scene's default time step, whatever the step of this run. */
static eb_error freed_in_time(selector *s, int32_t node, bool *freed) {
  const eb_scene_ops *ops = s->scene->ops;
  eb_values *defaults;
  EB_TRY(eb_values_create(ops->name, ops->parameters, NULL, &defaults));
  double dt = eb_values_real(defaults, "dt");
  eb_values_destroy(defaults);
  *freed = false;
  for (int64_t step = 1; step <= ops->steps && !*freed; step++) {
    eb_scene_boundary(s->scene, (double)step * dt, s->fixed, s->target);
    *freed = !s->fixed[node];
  }
  return EB_OK;
}

/* ---- single nodes ---------------------------------------------------------------------------- */

/* Every chosen node is a site. */
static void add_site(selector *s, int32_t node) {
  for (int32_t i = 0; i < nodes_of(s); i++)
    s->distance[i] = fmin(s->distance[i], squared_distance(rest(s, i), rest(s, node)));
}

static void take(selector *s, int32_t node) {
  s->list.nodes[s->list.count++] = node;
  add_site(s, node);
}

/* Takes a node that was named, by a list or by the scene. */
static eb_error take_named(selector *s, int32_t node) {
  if (node < 0 || node >= nodes_of(s))
    return EB_ERROR(EB_ERR_USAGE, "dynamic node %d is out of range: the mesh has the nodes 0 to %d",
                    node, nodes_of(s) - 1);
  for (int32_t k = 0; k < s->list.count; k++)
    if (s->list.nodes[k] == node)
      return EB_ERROR(EB_ERR_USAGE, "dynamic node %d is listed twice", node);
  if (s->role[node] == ATTACHED)
    return EB_ERROR(
        EB_ERR_USAGE,
        "node %d cannot be dynamic: it is attached to a rigid body, whose joints move it", node);
  bool freed = true;
  if (s->role[node] == SCRIPTED) EB_TRY(freed_in_time(s, node, &freed));
  if (!freed)
    return EB_ERROR(EB_ERR_USAGE,
                    "node %d cannot be dynamic: it is scripted from the start of the scene's run "
                    "to its end",
                    node);
  take(s, node);
  return EB_OK;
}

/* ---- a list ---------------------------------------------------------------------------------- */

static eb_error take_list(selector *s) {
  const char *at = s->choice->list ? s->choice->list : "";
  while (*at) {
    size_t length = strcspn(at, "+");
    char *end;
    errno = 0;
    long node = strtol(at, &end, 10);
    if (length == 0 || end != at + length || !strchr("-0123456789", *at))
      return EB_ERROR(EB_ERR_USAGE,
                      "'%.*s' in the list of dynamic nodes is no number; write 12+40+99",
                      (int)length, at);
    if (errno || node < INT32_MIN || node > INT32_MAX)
      return EB_ERROR(EB_ERR_USAGE,
                      "dynamic node %.*s is out of range: the mesh has the nodes 0 to %d",
                      (int)length, at, nodes_of(s) - 1);
    EB_TRY(take_named(s, (int32_t)node));
    at += length;
    if (*at == '+' && !*++at)
      return EB_ERROR(EB_ERR_USAGE, "the list of dynamic nodes ends in '+', without a number");
  }
  return EB_OK;
}

/* ---- farthest-point -------------------------------------------------------------------------- */

/* The first of the free nodes that are farthest from all sites, or -1 when every free node is one.
 */
static int32_t farthest_candidate(const selector *s) {
  int32_t best = -1;
  for (int32_t k = 0; k < nodes_of(s); k++) {
    int32_t i = s->order[k];
    if (s->role[i] == FREE && s->distance[i] > 0 &&
        (best < 0 || s->distance[i] > s->distance[best]))
      best = i;
  }
  return best;
}

static int32_t farthest_from_centroid(const selector *s) {
  double centroid[3] = {0, 0, 0};
  int32_t best = -1;
  for (int32_t k = 0; k < nodes_of(s); k++)
    for (int d = 0; d < 3; d++) centroid[d] += rest(s, s->order[k])[d] / nodes_of(s);
  for (int32_t k = 0; k < nodes_of(s); k++) {
    int32_t i = s->order[k];
    if (s->role[i] == FREE && (best < 0 || squared_distance(rest(s, i), centroid) >
                                               squared_distance(rest(s, best), centroid)))
      best = i;
  }
  return best;
}

static eb_error too_few(const selector *s) {
  return EB_ERROR(EB_ERR_USAGE, "%d dynamic nodes are wanted, but only %d nodes can be chosen",
                  s->choice->count, s->list.count);
}

/* Greedy, but never far from the best: no choice of as many nodes covers the body with balls of
 * less than half the radius (Gonzalez 1985). */
static eb_error take_farthest(selector *s) {
  /* Sites before the first choice: the scripted and attached nodes, or the centroid of the nodes
   * when there are none. The centroid only says where to begin. */
  for (int32_t i = 0; i < nodes_of(s); i++)
    if (s->role[i] != FREE) add_site(s, i);
  while (s->list.count < s->choice->count) {
    int32_t next = farthest_candidate(s);
    if (next >= 0 && isinf(s->distance[next])) next = farthest_from_centroid(s);
    if (next < 0) return too_few(s);
    take(s, next);
  }
  return EB_OK;
}

/* ---- random ---------------------------------------------------------------------------------- */

/* Draws the candidates one by one (Fisher and Yates) until there are enough. */
static void draw(selector *s, int32_t *candidates) {
  uint64_t state = s->choice->seed;
  int32_t left = 0;
  for (int32_t k = 0; k < nodes_of(s); k++)
    if (s->role[s->order[k]] == FREE) candidates[left++] = s->order[k];
  while (left > 0 && s->list.count < s->choice->count) {
    /* Below `left`, from the upper half of a word (Lemire 2019): biased by less than left / 2^32.
     */
    int32_t drawn = (int32_t)((eb_random_word(&state) >> 32) * (uint64_t)left >> 32);
    int32_t node = candidates[drawn];
    candidates[drawn] = candidates[--left];
    if (s->distance[node] >= s->least && s->distance[node] > 0) take(s, node);
  }
}

/* Once the random order is through, every candidate lies within the spacing r of a chosen node. Let
 * farthest-point choice, from the same named nodes, give as many nodes as wanted, with a least
 * distance d. Were r <= d / 2, two of them would lie within r of the same random node, less than d
 * apart: so d / 2 always fits (0.49 allows for the rounding of what is printed). */
static eb_error too_many(selector *s, int32_t named) {
  int32_t fitted = s->list.count;
  double fits = INFINITY, lo[3], hi[3];
  const eb_mesh *mesh = s->scene->mesh;
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  for (int32_t i = 0; i < nodes_of(s); i++) s->distance[i] = INFINITY;
  s->list.count = 0;
  for (int32_t k = 0; k < named; k++) take(s, s->list.nodes[k]);
  while (s->list.count < s->choice->count) {
    int32_t next = farthest_candidate(s);
    if (next < 0) return too_few(s);
    if (s->list.count > 0) fits = fmin(fits, s->distance[next]);
    take(s, next);
  }
  return EB_ERROR(
      EB_ERR_USAGE,
      "%d dynamic nodes do not fit with a spacing of %g of the diagonal: this seed found "
      "room for %d; a spacing of %.3g always fits",
      s->choice->count, s->choice->spacing, fitted, 0.49 * sqrt(fits / squared_distance(lo, hi)));
}

static eb_error take_random(selector *s) {
  int32_t *candidates, named = s->list.count;
  EB_TRY(EB_NEW(candidates, nodes_of(s)));
  draw(s, candidates);
  free(candidates);
  return s->list.count < s->choice->count ? too_many(s, named) : EB_OK;
}

/* ---- what the scene names -------------------------------------------------------------------- */

static eb_error take_scene(selector *s) {
  const eb_scene *scene = s->scene;
  int32_t *named, count;
  if (!scene->ops->dynamic_nodes || s->choice->count == 0) return EB_OK;
  EB_TRY(EB_NEW(named, s->choice->count));
  count = scene->ops->dynamic_nodes(scene, s->choice->count, named);
  eb_error error = EB_OK;
  for (int32_t k = 0; !error && k < count && k < s->choice->count; k++)
    error = take_named(s, named[k]);
  free(named);
  return error;
}

/* ---- all together ---------------------------------------------------------------------------- */

static eb_error check_choice(const selector *s) {
  const eb_node_choice *choice = s->choice;
  if (choice->selection == EB_SELECT_LIST || choice->selection == EB_SELECT_ALL) return EB_OK;
  if (choice->count < 0 || choice->count > nodes_of(s))
    return EB_ERROR(EB_ERR_USAGE, "%d dynamic nodes are wanted, but the mesh has %d nodes",
                    choice->count, nodes_of(s));
  if (choice->selection != EB_SELECT_FARTHEST &&
      !(choice->spacing >= 0 && isfinite(choice->spacing)))
    return EB_ERROR(EB_ERR_USAGE, "a spacing of %g between dynamic nodes is none; it is 0 or more",
                    choice->spacing);
  return EB_OK;
}

static eb_error select_nodes(selector *s) {
  const eb_mesh *mesh = s->scene->mesh;
  double lo[3], hi[3];
  EB_TRY(check_choice(s));
  EB_TRY(EB_NEW(s->order, mesh->node_count));
  EB_TRY(eb_mesh_nodes_by_place(mesh, s->order));
  EB_TRY(EB_NEW(s->role, mesh->node_count));
  EB_TRY(EB_NEW(s->distance, mesh->node_count));
  EB_TRY(EB_NEW(s->fixed, mesh->node_count));
  EB_TRY(EB_NEW(s->target, 3 * (size_t)mesh->node_count));
  EB_TRY(EB_NEW(s->list.nodes, mesh->node_count));
  /* A step's scripted nodes are those that are scripted at its end. */
  const eb_scene *scene = s->scene;
  const eb_articulation *bodies = scene->rigid.articulation;
  eb_scene_boundary(scene, scene->dt, s->fixed, s->target);
  for (int32_t i = 0; i < nodes_of(s); i++) s->role[i] = s->fixed[i] ? SCRIPTED : FREE;
  for (int32_t k = 0; bodies && k < eb_articulation_attached(bodies); k++)
    s->role[eb_articulation_node(bodies, k)] = ATTACHED;
  for (int32_t i = 0; i < mesh->node_count; i++) s->distance[i] = INFINITY;
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  s->least = s->choice->spacing * s->choice->spacing * squared_distance(lo, hi);
  switch (s->choice->selection) {
  case EB_SELECT_ALL:
    for (int32_t i = 0; i < mesh->node_count; i++)
      if (s->role[i] == FREE) s->list.nodes[s->list.count++] = i;
    return EB_OK;
  case EB_SELECT_LIST:
    return take_list(s);
  case EB_SELECT_FARTHEST:
    return take_farthest(s);
  case EB_SELECT_SCENE:
    EB_TRY(take_scene(s));
    return take_random(s);
  case EB_SELECT_RANDOM:
    return take_random(s);
  }
  return EB_ERROR(EB_ERR_USAGE, "there is no selection %d of dynamic nodes",
                  (int)s->choice->selection);
}

eb_error eb_conjac_choose(const eb_scene *scene, const eb_node_choice *choice, eb_node_list *out) {
  selector s = {.scene = scene, .choice = choice};
  eb_error error = select_nodes(&s);
  free(s.target);
  free(s.fixed);
  free(s.distance);
  free(s.role);
  free(s.order);
  if (error) eb_node_list_clear(&s.list);
  *out = s.list;
  return error;
}

void eb_node_list_clear(eb_node_list *list) {
  free(list->nodes);
  *list = (eb_node_list){0};
}
