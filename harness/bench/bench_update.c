/* Bringing a factor up to date after some elements have changed, beside doing all of it again, and
 * beside CHOLMOD's updates of low rank.
 *
 * The price of an update is its seconds over the share of a whole factorization's operations that
 * its fronts make up, times the seconds of a whole one in the same round. */
#include <math.h>
#include <string.h>

#include "harness/bench/bench_cholmod.h"
#include "harness/bench/bench_matrix.h"
#include "harness/bench/tables.h"
#include "problems/base/memory.h"
#include "solvers/linalg/multifrontal.h"

typedef eb_error choose(const eb_mesh *mesh, int32_t count, uint8_t *chosen);

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
  free(u);
}

/* ---- what is timed; errors cannot occur that the same calls during set-up did not raise ---- */

static void run_update(void *context) {
  updated *u = context;
  eb_reason reason;
  memcpy(u->marked, u->owners, (size_t)eb_multifrontal_supernodes(u->ours)->count);
  eb_error_free(eb_multifrontal_update(u->ours, u->matrix.A, u->marked, NULL, &reason));
}

static void run_whole(void *context) {
  updated *u = context;
  eb_reason reason;
  eb_error_free(eb_multifrontal_factor(u->ours, u->matrix.A, NULL, &reason));
}

/* Adds the change and takes it away again, so that nothing grows. */
static void run_updown(void *context) {
  updated *u = context;
  u->added = !u->added;
  eb_bench_cholmod_update(u->peer, u->added);
}

static void run_cholmod(void *context) {
  eb_bench_cholmod_factor(((updated *)context)->peer, EB_BENCH_ONE);
}

/* ---- set-ups ---- */

/* An element belongs to the supernode of its node that is eliminated first. */
static void mark_owners(updated *u, const eb_supernodes *tree) {
  const eb_mesh *mesh = u->matrix.mesh;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    if (!u->chosen[e]) continue;
    const int32_t *node = mesh->elements + (int64_t)mesh->type * e;
    int32_t first = node[0];
    for (int a = 1; a < (int)mesh->type; a++)
      if (tree->position[node[a]] < tree->position[first]) first = node[a];
    u->owners[tree->of_node[first]] = 1;
  }
}

/* Of the operations of a whole factorization, in the fronts that an update has just refactored. */
static double share_of_flops(const updated *u, const eb_supernodes *tree) {
  double part = 0, whole = 0;
  for (int32_t s = 0; s < tree->count; s++) {
    whole += tree->flops[s];
    if (u->marked[s]) part += tree->flops[s];
  }
  return part / whole;
}

static eb_error factor(updated *u) {
  const eb_multifrontal_settings settings = {.keep_updates = true, .threads = 1};
  eb_reason reason;
  EB_TRY(eb_multifrontal_create(&settings, u->matrix.A, NULL, &u->ours));
  EB_TRY(eb_multifrontal_factor(u->ours, u->matrix.A, NULL, &reason));
  if (reason < 0)
    return EB_ERROR(EB_ERR_INVALID, "the matrix was refused: %s", eb_reason_name(reason));
  return EB_OK;
}

static eb_error prepare(updated *u, const eb_bench_body *body, double share, choose *pick) {
  eb_reason reason;
  EB_TRY(eb_bench_matrix_create(body, &u->matrix));
  EB_TRY(factor(u));
  const eb_supernodes *tree = eb_multifrontal_supernodes(u->ours);
  int32_t elements = u->matrix.mesh->element_count;
  EB_TRY(EB_NEW(u->chosen, elements));
  EB_TRY(EB_NEW(u->owners, tree->count));
  EB_TRY(EB_NEW(u->marked, tree->count));
  EB_TRY(pick(u->matrix.mesh, (int32_t)lround(share * elements), u->chosen));
  mark_owners(u, tree);
  memcpy(u->marked, u->owners, (size_t)tree->count);
  return eb_multifrontal_update(u->ours, u->matrix.A, u->marked, NULL, &reason);
}

static eb_error set_up(const eb_bench_body *body, double share, choose *pick, updated **out) {
  updated *u;
  EB_TRY(EB_NEW(u, 1));
  eb_error error = prepare(u, body, share, pick);
  if (error)
    clear(u);
  else
    *out = u;
  return error;
}

static eb_error set_up_share(const eb_bench_body *body, double share, choose *pick, void **context,
                             double *work) {
  updated *u = NULL;
  EB_TRY(set_up(body, share, pick, &u));
  *work = share > 0 ? share_of_flops(u, eb_multifrontal_supernodes(u->ours)) : 1;
  *context = u;
  return EB_OK;
}

static eb_error add_peer(updated *u) {
  const int32_t *order = eb_multifrontal_supernodes(u->ours)->order;
  EB_TRY(eb_bench_cholmod_create(u->matrix.A, order, &u->peer));
  return eb_bench_cholmod_prepare_update(u->peer, u->matrix.mesh, u->chosen, 1e-4);
}

static eb_error set_up_low_rank(int32_t elements, void **context, double *work) {
  updated *u = NULL;
  EB_TRY(set_up(&eb_body_beam, elements / 15360.0, eb_bench_local, &u));
  eb_error error = add_peer(u);
  if (error) {
    clear(u);
    return error;
  }
  *work = 1;
  *context = u;
  return EB_OK;
}

#define PART(name_, body_, share_, pick_)                                                          \
  static eb_error body_##_##name_(void **context, double *work) {                                  \
    return set_up_share(&eb_body_##body_, share_, pick_, context, work);                           \
  }
#define PARTS(body_)                                                                               \
  PART(local_01, body_, 0.001, eb_bench_local)                                                     \
  PART(local_1, body_, 0.01, eb_bench_local)                                                       \
  PART(local_5, body_, 0.05, eb_bench_local)                                                       \
  PART(local_20, body_, 0.2, eb_bench_local)                                                       \
  PART(local_50, body_, 0.5, eb_bench_local)                                                       \
  PART(scattered_01, body_, 0.001, eb_bench_scattered)                                             \
  PART(scattered_1, body_, 0.01, eb_bench_scattered)                                               \
  PART(scattered_5, body_, 0.05, eb_bench_scattered)                                               \
  PART(scattered_20, body_, 0.2, eb_bench_scattered)                                               \
  PART(scattered_50, body_, 0.5, eb_bench_scattered)                                               \
  PART(all, body_, 1, eb_bench_local)                                                              \
  PART(none, body_, 0, eb_bench_local)
PARTS(beam)
PARTS(sculpture)

static eb_error low_rank_1(void **context, double *work) {
  return set_up_low_rank(1, context, work);
}

static eb_error low_rank_10(void **context, double *work) {
  return set_up_low_rank(10, context, work);
}

static eb_error low_rank_34(void **context, double *work) {
  return set_up_low_rank(34, context, work);
}

/* ---- cases ---- */

static const eb_bench_peer whole[] = {{"a whole factorization", 0, run_whole}, {0}};
#define LOW_RANK_PEERS(target_)                                                                    \
  {                                                                                                \
    {"CHOLMOD's update of low rank", target_, run_updown}, {"CHOLMOD, whole", 0, run_cholmod},     \
        {"a whole factorization", 0, run_whole}, {                                                 \
      0                                                                                            \
    }                                                                                              \
  }
static const eb_bench_peer low_rank_few[] = LOW_RANK_PEERS(0), low_rank_many[] = LOW_RANK_PEERS(1);

#define UPDATE(name_, body_, setup_, note_)                                                        \
  {                                                                                                \
    .name = "cholesky-update/" #body_ "/" name_, .unit = "update", .measure = EB_BENCH_SHARE,      \
    .target = 1.3, .setup = body_##_##setup_, .run = run_update, .clear = clear, .peers = whole,   \
    .note = note_                                                                                  \
  }
#define UPDATE_NOTHING(body_)                                                                      \
  {                                                                                                \
    .name = "cholesky-update/" #body_ "/none", .unit = "update", .measure = EB_BENCH_TIME,         \
    .target = 1e-6, .setup = body_##_none, .run = run_update, .clear = clear                       \
  }
#define LOW_RANK(elements_, peers_, note_)                                                         \
  {                                                                                                \
    .name = "cholesky-update/beam/low-rank-" #elements_, .unit = "update",                         \
    .measure = EB_BENCH_TIME, .setup = low_rank_##elements_, .run = run_update, .clear = clear,    \
    .peers = peers_, .note = note_                                                                 \
  }
/* On a beam of the same elements, 9 720 unknowns: Herholz and Alexa 2018, measured with their
 * code. */
#define CHOLUP(share_) "CholUp on this beam: " share_ " of the time of its whole factorization"

const eb_bench_case eb_bench_update[] = {
    UPDATE("local-0.1%", beam, local_01, CHOLUP("28 %")),
    UPDATE("local-1%", beam, local_1, CHOLUP("28-38 %")),
    UPDATE("local-5%", beam, local_5, CHOLUP("58 %")),
    UPDATE("local-20%", beam, local_20, CHOLUP("65 %")),
    UPDATE("local-50%", beam, local_50, NULL),
    UPDATE("scattered-0.1%", beam, scattered_01, CHOLUP("84 %")),
    UPDATE("scattered-1%", beam, scattered_1, NULL),
    UPDATE("scattered-5%", beam, scattered_5, NULL),
    UPDATE("scattered-20%", beam, scattered_20, NULL),
    UPDATE("scattered-50%", beam, scattered_50, NULL),
    UPDATE("all", beam, all, NULL),
    UPDATE_NOTHING(beam),
    UPDATE("local-0.1%", sculpture, local_01, NULL),
    UPDATE("local-1%", sculpture, local_1, NULL),
    UPDATE("local-5%", sculpture, local_5, NULL),
    UPDATE("local-20%", sculpture, local_20, NULL),
    UPDATE("local-50%", sculpture, local_50, NULL),
    UPDATE("scattered-0.1%", sculpture, scattered_01, NULL),
    UPDATE("scattered-1%", sculpture, scattered_1, NULL),
    UPDATE("scattered-5%", sculpture, scattered_5, NULL),
    UPDATE("scattered-20%", sculpture, scattered_20, NULL),
    UPDATE("scattered-50%", sculpture, scattered_50, NULL),
    UPDATE("all", sculpture, all, NULL),
    UPDATE_NOTHING(sculpture),
    LOW_RANK(1, low_rank_few, NULL),
    LOW_RANK(10, low_rank_few, NULL),
    LOW_RANK(34, low_rank_many,
             "Hecht et al. 2012: 34 elements by CHOLMOD's update took 1.1 factorizations"),
    {.name = NULL}};
