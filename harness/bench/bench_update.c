/* Bringing a factor up to date after some elements have changed, beside doing all of it again, and
 * beside CHOLMOD's updates of low rank.
 *
 * The price of an update is its seconds over the share of a whole factorization's operations that
 * its fronts make up, times the seconds of a whole one in the same round. */
#include <math.h>
#include <string.h>

#include "harness/bench/bench_cholmod.h"
#include "harness/bench/bench_matrix.h"
#include "harness/bench/bench.h"
#include "problems/base/memory.h"

typedef struct updated {
  eb_bench_matrix matrix;
  eb_multifrontal *ours;
  uint8_t *chosen; /* elements */
  uint8_t *owners,
      *marked;            /* supernodes of the chosen elements; what an update takes and changes */
  eb_bench_cholmod *peer; /* or NULL */
  bool added;             /* the peer's change is in its factor */
} updated;

static void clear(void *context) {
  updated *u = context;
  eb_multifrontal_destroy(u->ours);
  eb_bench_cholmod_destroy(u->peer);
  eb_bench_matrix_clear(&u->matrix);
  free(u->chosen);
  free(u->owners);
  free(u->marked);
}

/* ---- what is timed; errors cannot occur that the same calls during set-up did not raise ---- */

static void run_update(void *context, int which) {
  updated *u = context;
  eb_reason reason;
  (void)which;
  memcpy(u->marked, u->owners, (size_t)eb_multifrontal_supernodes(u->ours)->count);
  eb_error_free(eb_multifrontal_update(u->ours, u->matrix.A, u->marked, NULL, &reason));
}

static void run_whole(void *context, int which) {
  updated *u = context;
  eb_reason reason;
  (void)which;
  eb_error_free(eb_multifrontal_factor(u->ours, u->matrix.A, NULL, &reason));
}

/* Adds the change and takes it away again, so that nothing grows. */
static void run_updown(void *context, int which) {
  updated *u = context;
  (void)which;
  u->added = !u->added;
  eb_bench_cholmod_update(u->peer, u->added);
}

static void run_cholmod(void *context, int threads) {
  eb_bench_cholmod_factor(((updated *)context)->peer, (eb_bench_threads)threads);
}

/* ---- sets of elements ---- */

/* What elements are sorted by. */
typedef struct ranked {
  double key;
  int32_t element;
} ranked;

static int by_key(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->element < y->element ? -1 : x->element > y->element;
}

/* Chooses the first `count` in the order of the keys; frees them. */
static eb_error choose_first(const eb_mesh *mesh, ranked *keys, int32_t count, uint8_t *chosen) {
  qsort(keys, (size_t)mesh->element_count, sizeof *keys, by_key);
  memset(chosen, 0, (size_t)mesh->element_count);
  for (int32_t k = 0; k < count && k < mesh->element_count; k++) chosen[keys[k].element] = 1;
  free(keys);
  return EB_OK;
}

/* Squared distance of an element's centre, times the squared number of its nodes. */
static double distance(const eb_mesh *mesh, int32_t element, const double *from) {
  double off[3] = {0, 0, 0};
  for (int a = 0; a < (int)mesh->type; a++) {
    const double *X = mesh->X + 3 * (int64_t)mesh->elements[(int64_t)mesh->type * element + a];
    for (int axis = 0; axis < 3; axis++) off[axis] += X[axis] - from[axis];
  }
  return off[0] * off[0] + off[1] * off[1] + off[2] * off[2];
}

/* The `count` elements whose centres are nearest to the lowest node, as where a body touches the
 * ground; chosen[e] = 1 for them, 0 for others. */
static eb_error local(const eb_mesh *mesh, int32_t count, uint8_t *chosen) {
  ranked *keys;
  const double *from = mesh->X;
  for (int64_t i = 1; i < mesh->node_count; i++)
    if (mesh->X[3 * i + 2] < from[2]) from = mesh->X + 3 * i;
  EB_TRY(EB_NEW(keys, mesh->element_count));
  for (int32_t e = 0; e < mesh->element_count; e++) keys[e] = (ranked){distance(mesh, e, from), e};
  return choose_first(mesh, keys, count, chosen);
}

/* `count` elements at random, the same every time. */
static eb_error scattered(const eb_mesh *mesh, int32_t count, uint8_t *chosen) {
  ranked *keys;
  uint64_t random = 1;
  EB_TRY(EB_NEW(keys, mesh->element_count));
  for (int32_t e = 0; e < mesh->element_count; e++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    keys[e] = (ranked){(double)(random >> 11), e};
  }
  return choose_first(mesh, keys, count, chosen);
}

/* ---- set-ups ---- */

typedef struct update_of {
  const eb_bench_body *body;
  double share; /* of the elements */
  eb_error (*choose)(const eb_mesh *mesh, int32_t count, uint8_t *chosen);
  eb_keep_updates keep;
} update_of;

/* *work is the share of a whole factorization's operations in the fronts that an update refactors;
 * of an update of nothing, 1. */
static eb_error set_up(void *context, const void *of, double *work) {
  updated *u = context;
  const update_of *what = of;
  const eb_multifrontal_settings settings = {.keep_updates = what->keep, .threads = 1};
  EB_TRY(eb_bench_matrix_create(what->body, &u->matrix));
  EB_TRY(eb_bench_matrix_factor(&u->matrix, &settings, &u->ours));
  const eb_supernodes *tree = eb_multifrontal_supernodes(u->ours);
  const eb_mesh *mesh = u->matrix.mesh;
  EB_TRY(EB_NEW(u->chosen, mesh->element_count));
  EB_TRY(EB_NEW(u->owners, tree->count));
  EB_TRY(EB_NEW(u->marked, tree->count));
  EB_TRY(what->choose(mesh, (int32_t)lround(what->share * mesh->element_count), u->chosen));
  /* An element belongs to the supernode of its node that is eliminated first. */
  for (int32_t e = 0; e < mesh->element_count; e++) {
    if (!u->chosen[e]) continue;
    const int32_t *node = mesh->elements + (int64_t)mesh->type * e;
    int32_t first = node[0];
    for (int a = 1; a < (int)mesh->type; a++)
      if (tree->position[node[a]] < tree->position[first]) first = node[a];
    u->owners[tree->of_node[first]] = 1;
  }
  eb_reason reason;
  memcpy(u->marked, u->owners, (size_t)tree->count);
  EB_TRY(eb_multifrontal_update(u->ours, u->matrix.A, u->marked, NULL, &reason));
  double part = 0, whole = 0;
  for (int32_t s = 0; s < tree->count; s++) {
    whole += tree->flops[s];
    if (u->marked[s]) part += tree->flops[s];
  }
  *work = what->share > 0 ? part / whole : 1;
  return EB_OK;
}

static eb_error set_up_low_rank(void *context, const void *of, double *work) {
  updated *u = context;
  EB_TRY(set_up(u, of, work));
  *work = 1;
  const int32_t *order = eb_multifrontal_supernodes(u->ours)->order;
  EB_TRY(eb_bench_cholmod_create(u->matrix.A, order, &u->peer));
  return eb_bench_cholmod_prepare_update(u->peer, u->matrix.mesh, u->chosen, 1e-4);
}

/* ---- cases ---- */

static const eb_bench_peer whole[] = {{"a whole factorization", 0, run_whole, 0}, {0}};
#define LOW_RANK_PEERS(target_)                                                                    \
  {                                                                                                \
    {"CHOLMOD's update of low rank", target_, run_updown, 0},                                      \
        {"CHOLMOD, whole", 0, run_cholmod, EB_BENCH_ONE},                                          \
        {"a whole factorization", 0, run_whole, 0}, {                                              \
      0                                                                                            \
    }                                                                                              \
  }
static const eb_bench_peer low_rank_few[] = LOW_RANK_PEERS(0), low_rank_many[] = LOW_RANK_PEERS(1);

#define CASE(name_, measure_, target_, body_, share_, choose_, keep_, setup_, peers_, note_)       \
  {                                                                                                \
    .name = "cholesky-update/" name_, .unit = "update", .measure = measure_, .target = target_,    \
    .bytes = sizeof(updated),                                                                      \
    .of = &(const update_of){&eb_body_##body_, share_, choose_, EB_KEEP_##keep_}, .setup = setup_, \
    .run = run_update, .clear = clear, .peers = peers_, .note = note_                              \
  }
#define UPDATE(choose_, percent_, body_, note_)                                                    \
  CASE(#body_ "/" #choose_ "-" #percent_ "%", EB_BENCH_SHARE, 1.3, body_, percent_ / 100.0,        \
       choose_, ALL, set_up, whole, note_)
/* Update matrices of small subtrees formed again: to be held against UPDATE. */
#define UPPER(choose_, percent_, body_)                                                            \
  CASE(#body_ "/" #choose_ "-" #percent_ "%/upper", EB_BENCH_SHARE, 1.3, body_, percent_ / 100.0,  \
       choose_, UPPER, set_up, whole, NULL)
#define ALL(body_)                                                                                 \
  CASE(#body_ "/all", EB_BENCH_SHARE, 1.3, body_, 1, local, ALL, set_up, whole, NULL)
#define NONE(body_)                                                                                \
  CASE(#body_ "/none", EB_BENCH_TIME, 1e-6, body_, 0, local, ALL, set_up, NULL, NULL)
#define LOW_RANK(elements_, peers_, note_)                                                         \
  CASE("beam/low-rank-" #elements_, EB_BENCH_TIME, 0, beam, elements_ / 15360.0, local, ALL,       \
       set_up_low_rank, peers_, note_)
/* On a beam of the same elements, 9 720 unknowns: Herholz and Alexa 2018, measured with their
 * code. */
#define CHOLUP(share_) "CholUp on this beam: " share_ " of the time of its whole factorization"

const eb_bench_case eb_bench_update[] = {
    UPDATE(local, 0.1, beam, CHOLUP("28 %")),
    UPDATE(local, 1, beam, CHOLUP("28-38 %")),
    UPDATE(local, 5, beam, CHOLUP("58 %")),
    UPDATE(local, 20, beam, CHOLUP("65 %")),
    UPDATE(local, 50, beam, NULL),
    UPDATE(scattered, 0.1, beam, CHOLUP("84 %")),
    UPDATE(scattered, 1, beam, NULL),
    UPDATE(scattered, 5, beam, NULL),
    UPDATE(scattered, 20, beam, NULL),
    UPDATE(scattered, 50, beam, NULL),
    ALL(beam),
    NONE(beam),
    UPDATE(local, 0.1, sculpture, NULL),
    UPDATE(local, 1, sculpture, NULL),
    UPDATE(local, 5, sculpture, NULL),
    UPDATE(local, 20, sculpture, NULL),
    UPDATE(local, 50, sculpture, NULL),
    UPDATE(scattered, 0.1, sculpture, NULL),
    UPDATE(scattered, 1, sculpture, NULL),
    UPDATE(scattered, 5, sculpture, NULL),
    UPDATE(scattered, 20, sculpture, NULL),
    UPDATE(scattered, 50, sculpture, NULL),
    UPPER(local, 1, sculpture),
    UPPER(local, 20, sculpture),
    UPPER(scattered, 0.1, sculpture),
    ALL(sculpture),
    NONE(sculpture),
    LOW_RANK(1, low_rank_few, NULL),
    LOW_RANK(10, low_rank_few, NULL),
    LOW_RANK(34, low_rank_many,
             "Hecht et al. 2012: 34 elements by CHOLMOD's update took 1.1 factorizations"),
    {0}};
