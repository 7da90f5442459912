/* Steps of collision detection: boxes of features within reach, lists of pairs, hits.
 *
 * Lists outlive steps. They hold the pairs whose boxes meet where each box is drawn for some steps
 * ahead; where a vertex may leave its box, those of its patch are drawn anew, and with them the
 * pairs that they have. What is found does not depend on that: a collision lies within the boxes of
 * the present step, which the drawn ones contain, and of what is near only pairs count whose boxes
 * of the present step meet.
 *
 * The tree over the patches, which has an eighth as many leaves as there are triangles, is fitted
 * whenever boxes are drawn, and built anew when so many have been as there are patches. Patches are
 * formed anew when their vertices have spread to twice what they were. Memory: about 140 bytes a
 * feature, 24 a listed pair. Fails for positions and reaches that are not finite. */
#include "problems/collision/collisions.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/collision/patch_tree.h"
#include "problems/collision/patches.h"
#include "problems/collision/separation.h"

/* ---- the detector ---------------------------------------------------------------------------- */

/* What may be known of a pair: that no motion to where it is makes it collide, that it is not as
 * near as was asked. */
typedef enum proof_kind { NO_COLLISION, NOT_NEAR, PROOF_KINDS } proof_kind;

/* Listed one after another: pairs of features of two patches. */
typedef struct pair_run {
  int32_t patch[2];
  int64_t end;               /* the next run begins here */
  double until[PROOF_KINDS]; /* the proofs of all hold until the patches have gone so far, m */
} pair_run;

/* Pairs of features: vertex and triangle, or edge and edge. */
typedef struct pair_list {
  int64_t count, room;
  int32_t (*pair)[2]; /* features */
  double *proof[2];   /* by proof_kind: holds until `gone` of both patches is this, m */
  int64_t run_count, run_room;
  pair_run *run;
} pair_list;

typedef struct hit_list {
  eb_hit *hit;
  int64_t count, room;
} hit_list;

/* What one thread has found. Two threads share no cache line. */
typedef struct thread_lists {
  _Alignas(64) pair_list pairs[2]; /* by eb_pair_kind */
  hit_list hits;
  eb_error error; /* of the parallel region that runs */
} thread_lists;

struct eb_collisions {
  const eb_collision_mesh *mesh;
  eb_patches patches;
  eb_patch_tree tree; /* over the patches */
  int64_t redrawn;    /* patches, one as often as it has changed, since the tree was built */
  double spread;      /* of the patches when they were formed, m */
  bool begun;
  double (*x0)[3], (*x1)[3], (*way)[3], *reach; /* of vertices, m */
  eb_bounds *box, *swept; /* of vertices: within reach; of a motion, or a place */
  double *moved;          /* of vertices: their last way, m */
  eb_bounds *drawn,
      *before;          /* of features: what the lists are of; the same before the last change */
  uint8_t *grown;       /* a feature: does `drawn` reach beyond `before`? */
  eb_bounds *patch_box; /* of patches: around `drawn` */
  eb_bounds *grown_box, *rest_box; /* around what has grown of it, and around what has not */
  uint8_t *changed;                /* a patch: are there features whose `drawn` has changed? */
  double *gone;     /* of patches: sum of the last ways of the vertex that went farthest, m */
  double proven[2]; /* by eb_pair_kind: the distance that proofs for distance are for, m */
  int32_t thread_count;
  thread_lists *threads;
  bool moves;    /* the present test is of a motion, else for the distances `proven` */
  double widest; /* the larger of them, m */
  eb_hit *hits;  /* of all threads; the time is the distance in a test for that */
  eb_near *near;
  int64_t hit_room, near_room;
  int32_t near_count;
  bool near_is_known; /* `near` is all that is nearer than `proven` where the vertices are now */
  double spare;       /* the least part of its reach that the last test left a vertex, m */
  double least_reach;
  int32_t *hit_start; /* where those of a kind and a first vertex begin */
};

/* Gives an array of *room entries room for `count`, and for as many again when it has to grow. */
static eb_error grow(void **array, int64_t *room, int64_t count, size_t size) {
  if (count <= *room) return EB_OK;
  void *grown = eb_recalloc(*array, (size_t)*room, 2 * (size_t)count, size);
  if (!grown)
    return EB_ERROR(EB_ERR_MEMORY,
                    "collisions: no memory for %lld pairs; take shorter steps or limit the reach",
                    2 * (long long)count);
  *array = grown;
  *room = 2 * count;
  return EB_OK;
}

#define GROW(array, room, count) grow((void **)&(array), room, count, sizeof *(array))

static eb_error allocate(eb_collisions *c) {
  EB_TRY(eb_patches_create(c->mesh, &c->patches));
  EB_TRY(eb_patch_tree_create(c->patches.count, &c->tree));
  int32_t vertices = c->patches.first[EB_FEATURE_EDGE], features = c->patches.feature_count;
  EB_TRY(EB_NEW(c->x0, vertices));
  EB_TRY(EB_NEW(c->x1, vertices));
  EB_TRY(EB_NEW(c->way, vertices));
  EB_TRY(EB_NEW(c->reach, vertices));
  EB_TRY(EB_NEW(c->box, vertices));
  EB_TRY(EB_NEW(c->swept, vertices));
  EB_TRY(EB_NEW(c->drawn, features));
  EB_TRY(EB_NEW(c->before, features));
  EB_TRY(EB_NEW(c->grown, features));
  EB_TRY(EB_NEW(c->moved, vertices));
  EB_TRY(EB_NEW(c->gone, c->patches.count));
  EB_TRY(EB_NEW(c->hit_start, 2 * (size_t)c->mesh->vertex_count + 1));
  EB_TRY(EB_NEW(c->changed, c->patches.count));
  EB_TRY(EB_NEW(c->patch_box, c->patches.count));
  EB_TRY(EB_NEW(c->grown_box, c->patches.count));
  return EB_NEW(c->rest_box, c->patches.count);
}

eb_error eb_collisions_create(const eb_collision_mesh *mesh, eb_collisions **out) {
  *out = NULL;
  eb_collisions *c;
  EB_TRY(EB_NEW(c, 1));
  c->mesh = mesh;
  eb_error error = allocate(c);
  if (error)
    eb_collisions_destroy(c);
  else
    *out = c;
  return error;
}

void eb_collisions_destroy(eb_collisions *c) {
  if (!c) return;
  for (int32_t k = 0; k < c->thread_count; k++) {
    for (int kind = 0; kind < 2; kind++) {
      free(c->threads[k].pairs[kind].pair);
      free(c->threads[k].pairs[kind].run);
      for (int p = 0; p < PROOF_KINDS; p++) free(c->threads[k].pairs[kind].proof[p]);
    }
    free(c->threads[k].hits.hit);
  }
  eb_patches_clear(&c->patches);
  eb_patch_tree_clear(&c->tree);
  void *const owned[] = {c->threads, c->hits,      c->near,     c->x0,        c->x1,
                         c->way,     c->reach,     c->box,      c->swept,     c->drawn,
                         c->before,  c->gone,      c->moved,    c->changed,   c->patch_box,
                         c->grown,   c->grown_box, c->rest_box, c->hit_start, c};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Threads fall asleep between parallel regions, and to wake them takes some 50 us. So a trial is
 * one region, in which they take pieces as they come to them: one that wakes late has fewer. And
 * work of less than WORTH_A_TEAM, ns, which is known roughly, is left to one thread: a scene of few
 * bodies wakes nobody. It is one or all, for the runtime ends threads that a smaller team leaves
 * out. Results do not depend on who does what. */
enum { WORTH_A_TEAM = 200000, PER_FEATURE = 8, PER_PAIR = 2, PER_PATCH = 10000 };
enum { VERTICES = 256, PATCHES = 32, RUNS = 64, PAIRS = 4096 /* to a piece */ };

static int team_for(int64_t work) {
  return work < WORTH_A_TEAM ? 1 : omp_get_max_threads();
}

static int64_t sweep_work(const eb_collisions *c) {
  return PER_FEATURE * (int64_t)c->patches.feature_count;
}

static int64_t list_work(const eb_collisions *c) {
  int64_t pairs = 0;
  for (int32_t k = 0; k < 2 * c->thread_count; k++) pairs += c->threads[k / 2].pairs[k % 2].count;
  return PER_PAIR * pairs;
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* Listed pairs: the tree of patches is walked once for every patch, then the features of two
 * patches that meet are tested against each other, those outside the other patch's box left out
 * first.
 *
 * When all is listed a patch begins its walk at its own leaf: in preorder all that comes later is
 * what earlier patches have not met. Threads keep lists of their own, so which list a pair is on
 * depends on the schedule; what is listed does not. */

/* Makes room for one list a thread. */
static eb_error make_lists(eb_collisions *c) {
  int32_t wanted = omp_get_max_threads();
  if (wanted <= c->thread_count) return EB_OK;
  thread_lists *threads =
      eb_recalloc(c->threads, (size_t)c->thread_count, (size_t)wanted, sizeof *threads);
  if (!threads)
    return EB_ERROR(EB_ERR_MEMORY, "collisions: no memory for lists of %d threads", wanted);
  c->threads = threads;
  c->thread_count = wanted;
  return EB_OK;
}

/* The first error of the threads; frees the others. */
static eb_error first_error(eb_collisions *c) {
  eb_error first = EB_OK;
  for (int32_t k = 0; k < c->thread_count; k++) {
    if (first)
      eb_error_free(c->threads[k].error);
    else
      first = c->threads[k].error;
    c->threads[k].error = EB_OK;
  }
  return first;
}

/* Of the features of a patch: those that have grown, the rest, or all. */
typedef enum share { REST, GROWN, ALL } share;

typedef struct selection {
  int32_t patch, feature[EB_PATCH_FEATURES];
  int count;
} selection;

/* Those whose drawn boxes meet `box`. */
static void select_near(const eb_collisions *c, eb_feature_kind kind, int32_t patch, share which,
                        eb_bounds box, selection *out) {
  int32_t end = c->patches.begin[kind][patch + 1];
  out->patch = patch;
  out->count = 0;
  for (int32_t f = c->patches.begin[kind][patch]; f < end; f++) {
    out->feature[out->count] = f;
    out->count += ((which == ALL) | (c->grown[f] == which)) & eb_bounds_meet(c->drawn[f], box);
  }
}

static eb_error make_room(pair_list *list, int64_t count) {
  for (int p = 0; p < PROOF_KINDS; p++) {
    int64_t room = list->room;
    EB_TRY(GROW(list->proof[p], &room, count));
  }
  return GROW(list->pair, &list->room, count);
}

/* Makes the pairs from list->count to `end` a run. */
static eb_error add_run(pair_list *list, int32_t a, int32_t b, int64_t end) {
  if (end == list->count) return EB_OK;
  EB_TRY(GROW(list->run, &list->run_room, list->run_count + 1));
  list->run[list->run_count++] = (pair_run){.patch = {a, b}, .end = end};
  list->count = end;
  return EB_OK;
}

/* Lists the pairs of features of a and b that may be tested: boxes meet (and, unless `all`, did not
 * `before`, when they were listed), no vertex is shared. The loops have no branches that depend on
 * it. */
static eb_error add_pairs(const eb_collisions *c, bool all, const selection *a, const selection *b,
                          pair_list *list) {
  if (a->count == 0 || b->count == 0) return EB_OK;
  EB_TRY(make_room(list, list->count + (int64_t)a->count * b->count));
  int64_t met = 0;
  int32_t(*pair)[2] = list->pair + list->count;
  for (int i = 0; i < a->count; i++) {
    int32_t f = a->feature[i];
    eb_bounds box = c->drawn[f];
    for (int j = a == b ? i + 1 : 0; j < b->count; j++) {
      pair[met][0] = f;
      pair[met][1] = b->feature[j];
      met += eb_bounds_meet(c->drawn[b->feature[j]], box);
    }
  }
  int64_t kept = 0;
  for (int64_t k = 0; k < met; k++) {
    int32_t f = pair[k][0], g = pair[k][1];
    const int32_t *p = c->patches.corner[f], *q = c->patches.corner[g]; /* p: vertex or edge */
    bool listed = !all && eb_bounds_meet(c->before[f], c->before[g]);
    bool shared = (p[0] == q[0]) | (p[0] == q[1]) | (p[0] == q[2]) | (p[1] == q[0]) |
                  (p[1] == q[1]) | (p[1] == q[2]);
    pair[kept][0] = f;
    pair[kept][1] = g;
    kept += !shared & !listed;
  }
  for (int k = 0; k < PROOF_KINDS; k++)
    memset(list->proof[k] + list->count, 0, (size_t)kept * sizeof *list->proof[k]);
  return add_run(list, a->patch, b->patch, list->count + kept);
}

/* Pairs of what has grown of a with a part of b. */
static eb_error list_patches(const eb_collisions *c, bool all, int32_t a, int32_t b, share which,
                             pair_list lists[2]) {
  eb_bounds from = c->grown_box[a], to = which == ALL ? c->patch_box[b] : c->rest_box[b];
  selection grown[EB_FEATURE_KINDS], beside[EB_FEATURE_KINDS];
  if (!eb_bounds_meet(from, to)) return EB_OK;
  for (int kind = 0; kind < EB_FEATURE_KINDS; kind++) {
    select_near(c, (eb_feature_kind)kind, a, GROWN, to, &grown[kind]);
    select_near(c, (eb_feature_kind)kind, b, which, from, &beside[kind]);
  }
  EB_TRY(add_pairs(c, all, &grown[EB_FEATURE_VERTEX], &beside[EB_FEATURE_TRIANGLE],
                   &lists[EB_VERTEX_FACE]));
  EB_TRY(add_pairs(c, all, &beside[EB_FEATURE_VERTEX], &grown[EB_FEATURE_TRIANGLE],
                   &lists[EB_VERTEX_FACE]));
  return add_pairs(c, all, &grown[EB_FEATURE_EDGE], &beside[EB_FEATURE_EDGE], &lists[EB_EDGE_EDGE]);
}

/* Pairs within a patch. */
static eb_error list_own(const eb_collisions *c, bool all, int32_t patch, pair_list lists[2]) {
  selection grown[EB_FEATURE_KINDS];
  for (int kind = 0; kind < EB_FEATURE_KINDS; kind++)
    select_near(c, (eb_feature_kind)kind, patch, GROWN, c->grown_box[patch], &grown[kind]);
  EB_TRY(add_pairs(c, all, &grown[EB_FEATURE_VERTEX], &grown[EB_FEATURE_TRIANGLE],
                   &lists[EB_VERTEX_FACE]));
  EB_TRY(add_pairs(c, all, &grown[EB_FEATURE_EDGE], &grown[EB_FEATURE_EDGE], &lists[EB_EDGE_EDGE]));
  return list_patches(c, all, patch, patch, REST, lists);
}

/* Of a pair one feature has grown, or it would be listed; of two, the one of the patch that stands
 * first lists it. */
static eb_error list_patch(const eb_collisions *c, bool all, int32_t patch, pair_list lists[2]) {
  const eb_patch_tree *tree = &c->tree;
  eb_bounds box = c->grown_box[patch];
  int32_t body = c->patches.body[patch], own_leaf = tree->node[patch];
  for (int32_t n = all ? own_leaf : 0; n < tree->node_count;) {
    bool apart = (body >= 0 && tree->body[n] == body) || !eb_bounds_meet(tree->box[n], box);
    int32_t other = tree->leaf[n];
    if (!apart && other == patch)
      EB_TRY(list_own(c, all, patch, lists));
    else if (!apart && other >= 0)
      EB_TRY(list_patches(c, all, patch, other, n > own_leaf ? ALL : REST, lists));
    n = apart ? tree->after[n] : n + 1;
  }
  return EB_OK;
}

/* Takes pairs off a list whose boxes do not meet any more, and runs without pairs. Those of patches
 * that have not changed still meet. */
static void drop_parted(const eb_collisions *c, pair_list *list) {
  int64_t kept = 0, kept_runs = 0, k = 0;
  for (int64_t r = 0; r < list->run_count; r++) {
    pair_run run = list->run[r];
    bool same = !c->changed[run.patch[0]] && !c->changed[run.patch[1]];
    int64_t first = kept;
    for (; k < run.end; k++) {
      int32_t f = list->pair[k][0], g = list->pair[k][1];
      list->pair[kept][0] = f;
      list->pair[kept][1] = g;
      for (int p = 0; p < PROOF_KINDS; p++) list->proof[p][kept] = list->proof[p][k];
      kept += same || eb_bounds_meet(c->drawn[f], c->drawn[g]);
    }
    run.end = kept;
    if (kept > first) list->run[kept_runs++] = run;
  }
  list->count = kept;
  list->run_count = kept_runs;
}

/* Makes the lists those of the pairs of features whose boxes meet. `all`: from nothing; otherwise
 * by what has changed: pairs whose boxes did not meet `before`, of which one feature is of a patch
 * that `changed`, of which there are so many, and those that have parted. After an error the lists
 * lack something: another begin is needed. */
static eb_error list_pairs(eb_collisions *c, bool all, int32_t changed) {
  c->begun = false;
  EB_TRY(make_lists(c));
#pragma omp parallel num_threads(team_for(list_work(c) + PER_PATCH * (int64_t)changed))
  {
    thread_lists *lists = &c->threads[omp_get_thread_num()];
#pragma omp for schedule(dynamic)
    for (int32_t k = 0; k < 2 * c->thread_count; k++) {
      pair_list *list = &c->threads[k / 2].pairs[k % 2];
      if (all)
        list->count = list->run_count = 0;
      else
        drop_parted(c, list);
    }
#pragma omp for schedule(dynamic, 32)
    for (int32_t n = 0; n < c->tree.node_count; n++) {
      int32_t patch = c->tree.leaf[n];
      if (patch >= 0 && !lists->error && (all || c->changed[patch]))
        lists->error = list_patch(c, all, patch, lists->pairs);
    }
  }
  EB_TRY(first_error(c));
  c->begun = true;
  return EB_OK;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* How far ahead boxes are drawn: so many times the way of the step and the reach. Longer ones list
 * more pairs, shorter ones are left sooner. */
static const double STEPS_AHEAD = 3, REACHES_AHEAD = 3;

/* The box of a feature from those of its vertices. */
static inline eb_bounds enclose(const eb_patches *p, const eb_bounds *box, int32_t f) {
  const int32_t *corner = p->corner[f];
  return eb_bounds_join(eb_bounds_join(box[corner[0]], box[corner[1]]), box[corner[2]]);
}

/* How far x is off the box between x0 and x0 + way of a vertex feature, in the coordinate where it
 * is farthest; m, > 0 outside. */
static double off_way(const eb_collisions *c, int32_t f, const double x[3]) {
  double most = 0;
  for (int d = 0; d < 3; d++) {
    double moved = x[d] - c->x0[f][d], way = c->way[f][d];
    most = eb_larger(most, eb_larger(eb_smaller(way, 0) - moved, moved - eb_larger(way, 0)));
  }
  return most;
}

/* Encloses x0 .. x0 + steps way, with so many reaches around. */
static eb_bounds bounds_ahead(const eb_collisions *c, int32_t f, double steps, double reaches) {
  double lo[3], hi[3], size[3], r = reaches * c->reach[f];
  for (int d = 0; d < 3; d++) {
    double way = steps * c->way[f][d];
    lo[d] = c->x0[f][d] + eb_smaller(way, 0) - r;
    hi[d] = c->x0[f][d] + eb_larger(way, 0) + r;
    size[d] = fabs(c->x0[f][d]) + fabs(way) + r;
  }
  return eb_bounds_of(lo, hi, size);
}

/* Whether a vertex of the patch may leave what is drawn around it. */
static bool patch_leaves(const eb_collisions *c, int32_t patch) {
  const int32_t *begin = c->patches.begin[EB_FEATURE_VERTEX] + patch;
  bool leaves = false;
  for (int32_t f = begin[0]; f < begin[1]; f++)
    leaves |= !eb_bounds_contain(c->drawn[f], c->box[f]);
  return leaves;
}

/* Keeps the drawn boxes of a patch, and draws those of its vertices anew when it has changed. */
static void draw_vertices(eb_collisions *c, int32_t patch) {
  for (int kind = 0; kind < EB_FEATURE_KINDS; kind++) {
    const int32_t *begin = c->patches.begin[kind] + patch;
    memcpy(c->before + begin[0], c->drawn + begin[0],
           (size_t)(begin[1] - begin[0]) * sizeof *c->drawn);
  }
  const int32_t *begin = c->patches.begin[EB_FEATURE_VERTEX] + patch;
  for (int32_t f = begin[0]; f < begin[1] && c->changed[patch]; f++)
    c->drawn[f] = bounds_ahead(c, f, STEPS_AHEAD, REACHES_AHEAD);
}

/* The drawn boxes of the edges and triangles of a patch, and what has become of all; whether any is
 * another one. */
static bool draw_features(eb_collisions *c, bool all, int32_t patch) {
  const eb_patches *p = &c->patches;
  eb_bounds box[2] = {eb_bounds_nothing(), eb_bounds_nothing()}; /* of the rest, of the grown */
  bool changed = false;
  for (int kind = 0; kind < EB_FEATURE_KINDS; kind++)
    for (int32_t f = p->begin[kind][patch]; f < p->begin[kind][patch + 1]; f++) {
      if (kind != EB_FEATURE_VERTEX) c->drawn[f] = enclose(p, c->drawn, f);
      c->grown[f] = all || !eb_bounds_contain(c->before[f], c->drawn[f]);
      box[c->grown[f]] = eb_bounds_join(box[c->grown[f]], c->drawn[f]);
      changed |= eb_bounds_any(c->drawn[f] != c->before[f]);
    }
  c->rest_box[patch] = box[REST];
  c->grown_box[patch] = box[GROWN];
  c->patch_box[patch] = eb_bounds_join(box[REST], box[GROWN]);
  return changed;
}

/* Draws boxes anew where they do not contain those of the step, or all; how many patches have
 * changed. Features share vertices across patches: a patch has changed where a box of its features
 * has. */
static int32_t draw(eb_collisions *c, bool all) {
  const int32_t patches = c->patches.count;
  int32_t leaving = 0, changed = 0;
#pragma omp parallel num_threads(team_for(sweep_work(c)))
  {
#pragma omp for schedule(dynamic, PATCHES) reduction(+ : leaving)
    for (int32_t k = 0; k < patches; k++) {
      c->changed[k] = all || patch_leaves(c, k);
      leaving += c->changed[k];
    }
    if (leaving > 0) {
#pragma omp for schedule(dynamic, PATCHES)
      for (int32_t k = 0; k < patches; k++) draw_vertices(c, k);
#pragma omp for schedule(dynamic, PATCHES) reduction(+ : changed)
      for (int32_t k = 0; k < patches; k++) {
        c->changed[k] |= draw_features(c, all, k);
        changed += c->changed[k];
      }
    }
  }
  return changed;
}

/* Brings the lists to boxes that have been fitted anew. */
static eb_error follow_boxes(eb_collisions *c, bool all) {
  int32_t changed = draw(c, all);
  if (changed == 0 && !all) return EB_OK;
  c->redrawn += changed;
  if (all || c->redrawn >= c->patches.count) {
    eb_patch_tree_build(&c->tree, c->patch_box, c->patches.body);
    c->redrawn = 0;
  }
  eb_patch_tree_fit(&c->tree, c->patch_box);
  return list_pairs(c, all, changed);
}

/* Whether boxes hold all three; NaN they do not. */
static bool all_hold(const double a[3]) {
  return fabs(a[0]) < eb_bounds_limit && fabs(a[1]) < eb_bounds_limit &&
         fabs(a[2]) < eb_bounds_limit;
}

static eb_error check_positions(const eb_collision_mesh *mesh, const double *x) {
  for (size_t i = 0; i < (size_t)mesh->vertex_count; i++)
    if (!all_hold(x + 3 * i))
      return EB_ERROR(EB_ERR_INVALID,
                      "collisions: vertex %zu is at (%g, %g, %g) m; coordinates must be below %g",
                      i, x[3 * i], x[3 * i + 1], x[3 * i + 2], eb_bounds_limit);
  return EB_OK;
}

static void gather(const eb_patches *p, const double *x, double (*out)[3]) {
  for (int32_t f = 0; f < p->first[EB_FEATURE_EDGE]; f++)
    memcpy(out[f], x + 3 * (size_t)p->index[f], sizeof out[f]);
}

/* Forms patches at x0, which gives features other numbers: nothing that is known of them stays. */
static void form_patches(eb_collisions *c, const double *x0) {
  int32_t vertices = c->patches.first[EB_FEATURE_EDGE];
  eb_patches_form(&c->patches, x0);
  gather(&c->patches, x0, c->x0);
  c->spread = eb_patches_spread(&c->patches, (const double(*)[3])c->x0);
  memcpy(c->x1, c->x0, (size_t)vertices * sizeof *c->x1);
  memset(c->gone, 0, (size_t)c->patches.count * sizeof *c->gone);
  c->near_is_known = false;
}

/* Takes a vertex feature from x1, where it was seen last, to `next`; whether that is elsewhere. */
static bool move_vertex(eb_collisions *c, int32_t f, const double next[3]) {
  bool stays = next[0] == c->x1[f][0] && next[1] == c->x1[f][1] && next[2] == c->x1[f][2];
  c->moved[f] = sqrt(eb_squared_distance3(next, c->x1[f]));
  memcpy(c->x1[f], next, sizeof c->x1[f]);
  return !stays;
}

/* Adds the last way of the vertex of a patch that went farthest: no point of its features has gone
 * farther. Each of them has its vertices in a triangle of the patch. */
static void travel(eb_collisions *c, int32_t patch) {
  const int32_t *begin = c->patches.begin[EB_FEATURE_TRIANGLE] + patch;
  double most = 0;
  for (int32_t f = begin[0]; f < begin[1]; f++)
    for (int k = 0; k < 3; k++) most = eb_larger(most, c->moved[c->patches.corner[f][k]]);
  c->gone[patch] += most;
}

/* A vertex feature at x0: its way, reach and box in the step. Whether it was elsewhere. */
static bool start_vertex(eb_collisions *c, int32_t f, const double *way, double reach) {
  for (int d = 0; d < 3; d++) c->way[f][d] = way ? way[d] : 0;
  c->reach[f] = reach;
  c->box[f] = bounds_ahead(c, f, 1, 1);
  return move_vertex(c, f, c->x0[f]);
}

eb_error eb_collisions_begin(eb_collisions *c, const double *x0, const double *way,
                             const double *reach) {
  const eb_patches *p = &c->patches;
  EB_TRY(check_positions(c->mesh, x0));
  for (size_t i = 0; i < (size_t)c->mesh->vertex_count; i++) {
    if (way && !all_hold(way + 3 * i))
      return EB_ERROR(EB_ERR_INVALID,
                      "collisions: vertex %zu has the way (%g, %g, %g) m; it must be below %g", i,
                      way[3 * i], way[3 * i + 1], way[3 * i + 2], eb_bounds_limit);
    if (!(reach[i] >= 0 && reach[i] < eb_bounds_limit))
      return EB_ERROR(EB_ERR_INVALID,
                      "collisions: vertex %zu has the reach %g m; it must be from 0 to %g", i,
                      reach[i], eb_bounds_limit);
  }
  if (c->begun) gather(p, x0, c->x0);
  bool anew = !c->begun || eb_patches_spread(p, (const double(*)[3])c->x0) > 2 * c->spread;
  if (anew) form_patches(c, x0);
  bool moves = false;
  double least = INFINITY;
#pragma omp parallel num_threads(team_for(sweep_work(c)))
  {
#pragma omp for schedule(dynamic, VERTICES) reduction(| : moves) reduction(min : least)
    for (int32_t f = 0; f < p->first[EB_FEATURE_EDGE]; f++) {
      size_t i = (size_t)p->index[f];
      moves |= start_vertex(c, f, way ? way + 3 * i : NULL, reach[i]);
      least = eb_smaller(least, reach[i]);
    }
#pragma omp for schedule(dynamic, PATCHES)
    for (int32_t k = 0; k < p->count; k++) travel(c, k);
  }
  if (moves) c->near_is_known = false;
  c->least_reach = least;
  return follow_boxes(c, anew);
}

eb_error eb_collisions_cover(eb_collisions *c, const double *x1, int32_t *repaired) {
  const double slack = 1.5;
  const eb_patches *p = &c->patches;
  int32_t raised = 0;
  *repaired = 0;
  if (!c->begun)
    return EB_ERROR(EB_ERR_INVALID,
                    "collisions: call eb_collisions_begin before eb_collisions_cover");
  EB_TRY(check_positions(c->mesh, x1));
#pragma omp parallel for schedule(dynamic, VERTICES) reduction(+ : raised)                         \
    num_threads(team_for(sweep_work(c) / 4)) /* of vertices alone */
  for (int32_t f = 0; f < p->first[EB_FEATURE_EDGE]; f++) {
    double off = off_way(c, f, x1 + 3 * (size_t)p->index[f]);
    if (off <= c->reach[f]) continue;
    c->reach[f] = slack * off;
    c->box[f] = bounds_ahead(c, f, 1, 1);
    raised++;
  }
  *repaired = raised;
  return raised > 0 ? follow_boxes(c, false) : EB_OK;
}

int64_t eb_collisions_candidates(const eb_collisions *c) {
  const eb_patches *p = &c->patches;
  eb_bounds *box = c->before; /* only a listing needs what is there */
  int64_t count = 0;
#pragma omp parallel num_threads(team_for(sweep_work(c) + list_work(c))) reduction(+ : count)
  {
#pragma omp for schedule(dynamic, VERTICES)
    for (int32_t f = 0; f < p->feature_count; f++) box[f] = enclose(p, c->box, f);
    for (int32_t l = 0; l < 2 * c->thread_count; l++) {
      const pair_list *list = &c->threads[l / 2].pairs[l % 2];
#pragma omp for schedule(dynamic, PAIRS) nowait
      for (int64_t k = 0; k < list->count; k++)
        count += eb_bounds_meet(box[list->pair[k][0]], box[list->pair[k][1]]);
    }
  }
  return count;
}

/* ---- hits ------------------------------------------------------------------------------------ */

/* The motion sweeps boxes of vertices, edges and triangles; candidates whose boxes meet, and
 * between which no plane across the line of their middles stays, are tested continuously, or
 * likewise for their distance in one place. Threads find hits in any order: they are sorted by
 * pair, so that the order follows from the motion alone.
 *
 * Trials of one step differ by little, and so do steps. A plane that has told the features of a
 * candidate apart by m where the step begins and where the trial ends does so again, with half of m
 * left over for rounding, as long as the two go less than m / 2 from the latter on: other trials of
 * the step begin at the same place, and later steps begin on that way. A feature goes no farther
 * than its patch. So a test leaves behind how far both patches together may have gone until it has
 * to be made again, all pairs of the two patches the least of that; skipping changes no hit. A
 * plane at the end of the trial alone tells the same of distances. */

/* Where a vertex is not: where the step begins, where it was seen last. */
enum { OFF_START = 1, OFF_LAST = 2 };

/* Moves a vertex to `next`, of which it tells, and takes the box of the motion there from x0; for
 * distances that of the place alone, grown by half of it. */
static unsigned sweep_vertex(eb_collisions *c, int32_t f, const double next[3]) {
  double lo[3], hi[3], size[3];
  const double *from = c->x0[f], *to = c->x1[f];
  unsigned off = move_vertex(c, f, next) ? OFF_LAST : 0;
  for (int d = 0; d < 3; d++) {
    if (from[d] != to[d]) off |= OFF_START;
    if (c->moves) {
      lo[d] = eb_smaller(from[d], to[d]);
      hi[d] = eb_larger(to[d], from[d]);
      size[d] = eb_larger(hi[d], -lo[d]);
    } else {
      lo[d] = to[d] - 0.5 * c->widest;
      hi[d] = to[d] + 0.5 * c->widest;
      size[d] = fabs(to[d]) + c->widest;
    }
  }
  c->swept[f] = eb_bounds_of(lo, hi, size);
  return off;
}

static eb_error add_hit(hit_list *list, const eb_hit *hit) {
  EB_TRY(GROW(list->hit, &list->room, list->count + 1));
  list->hit[list->count++] = *hit;
  return EB_OK;
}

static eb_error test_pair(const eb_collisions *c, eb_pair_kind kind, const int32_t pair[2],
                          eb_separation *v, hit_list *list) {
  const eb_patches *p = &c->patches;
  double x0[4][3], x1[4][3];
  /* Its vertices (features) in the order of continuous.h. */
  bool edges = kind == EB_EDGE_EDGE, swapped = edges && p->index[pair[0]] > p->index[pair[1]];
  const int32_t *a = p->corner[pair[swapped]], *b = p->corner[pair[!swapped]];
  const int32_t features[4] = {a[0], edges ? a[1] : b[0], edges ? b[0] : b[1], edges ? b[1] : b[2]};
  for (int k = 0; k < 4; k++) {
    memcpy(x0[k], c->x0[features[k]], sizeof x0[k]);
    memcpy(x1[k], c->x1[features[k]], sizeof x1[k]);
  }
  const double(*from)[3] = (const double(*)[3])x0, (*to)[3] = (const double(*)[3])x1;
  *v = c->moves ? eb_separation_of_motion(kind, from, to)
                : eb_separation_within(c->proven[kind], kind, from, to);
  /* What is listed for later steps may be near without being a candidate of this one. */
  if (!v->meets || !eb_bounds_meet(enclose(p, c->box, pair[0]), enclose(p, c->box, pair[1])))
    return EB_OK;
  eb_hit hit = {.pair.kind = kind, .time = v->value};
  for (int k = 0; k < 4; k++) hit.pair.vertex[k] = p->index[features[k]];
  return add_hit(list, &hit);
}

/* Leaves behind what a test of pair k has told when its patches had gone so far. */
static void prove(double distance, pair_list *list, int64_t k, double gone,
                  const eb_separation *v) {
  double beyond = v->apart - distance, *proof[] = {list->proof[0] + k, list->proof[1] + k};
  *proof[NO_COLLISION] = eb_larger(*proof[NO_COLLISION], gone + 0.5 * v->throughout);
  if (beyond > 0) *proof[NOT_NEAR] = eb_larger(*proof[NOT_NEAR], gone + 0.5 * beyond);
}

/* Tests what is not proven of a run. */
static eb_error test_run(eb_collisions *c, eb_pair_kind kind, pair_list *list, int64_t r,
                         bool at_start, hit_list *hits) {
  const eb_patches *p = &c->patches;
  pair_run *run = &list->run[r];
  proof_kind asked = c->moves ? NO_COLLISION : NOT_NEAR;
  double gone = c->gone[run->patch[0]] + c->gone[run->patch[1]];
  if (run->until[asked] > gone) return EB_OK;
  double until[PROOF_KINDS] = {INFINITY, INFINITY};
  for (int64_t k = r > 0 ? run[-1].end : 0; k < run->end; k++) {
    if (!(list->proof[asked][k] > gone)) {
      const int32_t *pair = list->pair[k];
      /* Boxes are apart by a plane across an axis. */
      double gap =
          (double)eb_bounds_gap(enclose(p, c->swept, pair[0]), enclose(p, c->swept, pair[1]));
      eb_separation v = {.apart = c->moves ? gap : gap + c->widest,
                         .throughout = c->moves ? gap : 0};
      if (!(gap > 0)) EB_TRY(test_pair(c, kind, pair, &v, hits));
      if (at_start) v.throughout = v.apart;
      prove(c->proven[kind], list, k, gone, &v);
    }
    for (int q = 0; q < PROOF_KINDS; q++) until[q] = eb_smaller(list->proof[q][k], until[q]);
  }
  memcpy(run->until, until, sizeof until);
  return EB_OK;
}

/* By each thread of a region. */
static void test_lists(eb_collisions *c, bool at_start) {
  thread_lists *own = &c->threads[omp_get_thread_num()];
  for (int32_t l = 0; l < 2 * c->thread_count; l++) {
    pair_list *list = &c->threads[l / 2].pairs[l % 2];
#pragma omp for schedule(dynamic, RUNS) nowait
    for (int64_t r = 0; r < list->run_count; r++)
      if (!own->error)
        own->error = test_run(c, (eb_pair_kind)(l % 2), list, r, at_start, &own->hits);
  }
}

/* Moves to x1 and tests all that is listed. */
static eb_error sweep_and_test(eb_collisions *c, const double *x1) {
  const eb_patches *p = &c->patches;
  int32_t outside = INT32_MAX;
  unsigned off = 0;
  double spare = INFINITY;
#pragma omp parallel num_threads(team_for(sweep_work(c) + list_work(c)))
  {
#pragma omp for schedule(dynamic, VERTICES) reduction(min : outside, spare) reduction(| : off)
    for (int32_t f = 0; f < p->first[EB_FEATURE_EDGE]; f++) {
      off |= sweep_vertex(c, f, x1 + 3 * (size_t)p->index[f]);
      double left = c->reach[f] - off_way(c, f, c->x1[f]);
      spare = eb_smaller(spare, left);
      if (!(left >= 0) && p->index[f] < outside) outside = p->index[f];
    }
#pragma omp for schedule(dynamic, PATCHES)
    for (int32_t k = 0; k < p->count; k++) travel(c, k);
    if (outside == INT32_MAX) test_lists(c, !(off & OFF_START));
  }
  if (off & OFF_LAST) c->near_is_known = false;
  c->spare = spare;
  if (outside < INT32_MAX)
    return EB_ERROR(EB_ERR_INVALID,
                    "collisions: vertex %d has left its reach; call eb_collisions_cover before "
                    "eb_collisions_find",
                    outside);
  return first_error(c);
}

static int compare_hits(const void *a, const void *b) {
  const eb_pair *p = &((const eb_hit *)a)->pair, *q = &((const eb_hit *)b)->pair;
  if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
  for (int k = 0; k < 4; k++)
    if (p->vertex[k] != q->vertex[k]) return p->vertex[k] < q->vertex[k] ? -1 : 1;
  return 0;
}

/* Puts together what the threads have found: sorted by kind and first vertex into places that have
 * been counted, and the few of one place by the other vertices. */
static eb_error collect_hits(eb_collisions *c, int32_t *count) {
  int64_t all = 0, vertices = c->mesh->vertex_count, places = 2 * vertices;
  int32_t *start = c->hit_start;
  for (int32_t t = 0; t < c->thread_count; t++) all += c->threads[t].hits.count;
  if (all > INT32_MAX)
    return EB_ERROR(EB_ERR_LIMIT,
                    "collisions: %lld hits are more than indices reach; take shorter steps",
                    (long long)all);
  if (all == 0) return EB_OK;
  EB_TRY(GROW(c->hits, &c->hit_room, all));
  memset(start, 0, ((size_t)places + 1) * sizeof *start);
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t t = 0; t < c->thread_count; t++)
      for (int64_t k = 0; k < c->threads[t].hits.count; k++) {
        const eb_hit *hit = &c->threads[t].hits.hit[k];
        int64_t place = hit->pair.kind * vertices + hit->pair.vertex[0];
        if (pass == 0)
          start[place + 1]++;
        else
          c->hits[start[place]++] = *hit;
      }
    for (int64_t k = 0; k < places && pass == 0; k++) start[k + 1] += start[k];
  }
  /* Filling has moved each start to the next. */
  for (int64_t k = 0, first = 0; k < places; first = start[k++])
    if (start[k] - first > 1)
      qsort(c->hits + first, (size_t)(start[k] - first), sizeof *c->hits, compare_hits);
  *count = (int32_t)all;
  return EB_OK;
}

static void forget_distances(eb_collisions *c) {
  for (int32_t t = 0; t < c->thread_count; t++)
    for (int kind = 0; kind < 2; kind++) {
      const pair_list *list = &c->threads[t].pairs[kind];
      for (int64_t k = 0; k < list->count; k++) list->proof[NOT_NEAR][k] = 0;
      for (int64_t r = 0; r < list->run_count; r++) list->run[r].until[NOT_NEAR] = 0;
    }
}

/* Makes `distance` that of tests and proofs. */
static void ask_for(eb_collisions *c, const double distance[2]) {
  if (memcmp(c->proven, distance, sizeof c->proven)) forget_distances(c);
  memcpy(c->proven, distance, sizeof c->proven);
  c->widest = eb_larger(distance[0], distance[1]);
}

/* Fills c->hits with the collisions on the way to x1, or with what is nearer there than asked for.
 */
static eb_error test(eb_collisions *c, const double *x1, bool moves, int32_t *count) {
  *count = 0;
  if (!c->begun)
    return EB_ERROR(EB_ERR_INVALID,
                    "collisions: call eb_collisions_begin before looking for collisions");
  c->moves = moves;
  EB_TRY(make_lists(c));
  for (int32_t k = 0; k < c->thread_count; k++) c->threads[k].hits.count = 0;
  EB_TRY(sweep_and_test(c, x1));
  return collect_hits(c, count);
}

eb_error eb_collisions_find(eb_collisions *c, const double *x1, const eb_hit **hits,
                            int32_t *count) {
  *hits = NULL;
  EB_TRY(test(c, x1, true, count));
  *hits = c->hits;
  return EB_OK;
}

/* Where a step begins the last one has ended, and what is near there has been asked for: whether
 * `near` is that of x. What is near is a candidate of any step that gives its vertices half of the
 * distance around where they are. */
static bool knows_near(const eb_collisions *c, const double *x, const double distance[2]) {
  const eb_patches *p = &c->patches;
  bool same = c->begun && c->near_is_known && !memcmp(c->proven, distance, sizeof c->proven) &&
              c->least_reach >= c->widest / 2;
  for (int32_t f = 0; f < p->first[EB_FEATURE_EDGE] && same; f++)
    same = !memcmp(x + 3 * (size_t)p->index[f], c->x1[f], sizeof c->x1[f]);
  return same;
}

eb_error eb_collisions_near(eb_collisions *c, const double *x, const double distance[2],
                            const eb_near **near, int32_t *count) {
  *near = NULL;
  if (!knows_near(c, x, distance)) {
    c->near_is_known = false;
    ask_for(c, distance);
    EB_TRY(test(c, x, false, count));
    EB_TRY(GROW(c->near, &c->near_room, *count));
    for (int32_t k = 0; k < *count; k++) c->near[k] = (eb_near){c->hits[k].pair, c->hits[k].time};
    c->near_count = *count;
    c->near_is_known = c->spare >= c->widest / 2;
  }
  *near = c->near;
  *count = c->near_count;
  return EB_OK;
}
