/* Rank updates of the factor: after changes of elements by symmetric matrices of either sign,
 * solutions are those of the changed matrix; what is no longer positive definite is said to be
 * so. */
#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/warp_cholesky/updown.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"
#include "problems/scene_impl.h"
#include "tests/support/random.h"

typedef struct system {
  eb_scene *scene;
  eb_block_matrix *A;
  eb_multifrontal *factor;
  eb_updown *updown;
  int64_t size;
  double *b, *x, *Ax;
} system_of;

static void refactor(system_of *s) {
  eb_reason reason;
  tap_require(eb_multifrontal_factor(s->factor, s->A, NULL, &reason), "factor");
  tap_require(eb_updown_take(s->updown), "take");
}

static system_of open_system(const char *parameters) {
  system_of s = {0};
  tap_require(eb_block_create(&s.scene, "%s", parameters), parameters);
  const eb_elasticity *elasticity = s.scene->elasticity;
  s.size = 3 * (int64_t)s.scene->mesh->node_count;
  tap_require(EB_NEW(s.b, s.size), "vectors");
  tap_require(EB_NEW(s.x, s.size), "vectors");
  tap_require(EB_NEW(s.Ax, s.size), "vectors");
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(elasticity), &s.A), "matrix");
  eb_elasticity_matrix(elasticity, s.scene->x0, 1, 1e-4, true, s.A, NULL);
  eb_multifrontal_settings settings = {.threads = 1};
  tap_require(eb_multifrontal_create(&settings, s.A, NULL, &s.factor), "factor");
  tap_require(eb_updown_create(s.factor, NULL, &s.updown), "updown");
  refactor(&s);
  return s;
}

static void close_system(system_of *s) {
  eb_updown_destroy(s->updown);
  eb_multifrontal_destroy(s->factor);
  eb_block_matrix_destroy(s->A);
  eb_scene_destroy(s->scene);
  free(s->b), free(s->x), free(s->Ax);
}
OWNED(system_of, close_system)

/* |b - A x| / |b| for a random right-hand side. */
static double residual(system_of *s, random_state *random) {
  eb_reason reason;
  for (int64_t k = 0; k < s->size; k++) s->b[k] = random_normal(random);
  tap_require(eb_updown_solve(s->updown, s->b, s->x, &reason), "solve");
  eb_block_multiply(s->A, s->x, s->Ax);
  for (int64_t k = 0; k < s->size; k++) s->Ax[k] -= s->b[k];
  return eb_norm(s->size, s->Ax) / eb_norm(s->size, s->b);
}

/* Adds D to A at the corners of element e. */
static void change_matrix(system_of *s, int32_t e, const double D[144]) {
  const int32_t *node = s->scene->mesh->elements + 4 * (int64_t)e;
  for (int k = 0; k < 144; k++) {
    int32_t block = eb_block_matrix_find(s->A, node[k / 12 / 3], node[k % 12 / 3]);
    s->A->values[9 * (int64_t)block + 3 * (k / 12 % 3) + k % 12 % 3] += D[k];
  }
  tap_require(eb_updown_change(s->updown, node, D), "change");
}

/* D = scale sum of `rank` products u u^T, alternating in sign when not `positive`. */
static void random_change(random_state *random, int rank, double scale, bool positive, double *D) {
  memset(D, 0, 144 * sizeof *D);
  for (int r = 0; r < rank; r++) {
    double u[12], sign = positive || r % 2 ? 1 : -1;
    random_direction(random, 12, u);
    for (int k = 0; k < 144; k++) D[k] += sign * scale * u[k / 12] * u[k % 12];
  }
}

static double smallest_diagonal(const eb_block_matrix *A) {
  double found = INFINITY;
  for (int32_t i = 0; i < A->rows; i++)
    for (int k = 0; k < 9; k += 4) found = fmin(found, A->values[9 * (int64_t)A->diagonal[i] + k]);
  return found;
}

static void changes_are_followed(const char *parameters) {
  owned(system_of) s = open_system(parameters);
  random_state random = random_seed(3);
  eb_reason reason;
  double D[144], scale = 0.05 * smallest_diagonal(s.A);
  int32_t elements = s.scene->mesh->element_count;
  tap_below(residual(&s, &random), 1e-12, "the copied factor solves");
  for (int round = 0; round < 4; round++) {
    int changes = round == 3 ? 200 : 1 + 5 * round; /* more than one batch in the last */
    for (int k = 0; k < changes; k++) {
      random_change(&random, 1 + round, scale, round % 2, D);
      change_matrix(&s, (int32_t)(random_word(&random) % (uint64_t)elements), D);
    }
    tap_require(eb_updown_flush(s.updown, &reason), "flush");
    char name[120];
    snprintf(name, sizeof name, "%s: %d changes of rank %d", parameters, changes, 1 + round);
    tap_ok(reason == EB_CONVERGED_DIRECT, "%s keep it positive definite", name);
    tap_below(residual(&s, &random), 1e-11, name);
  }
  refactor(&s);
  tap_below(residual(&s, &random), 1e-12, "a fresh factor starts over");
}

static void lost_definiteness_is_an_outcome(void) {
  owned(system_of) s = open_system("nx=3");
  random_state random = random_seed(5);
  eb_reason reason;
  double D[144];
  random_change(&random, 12, -1e3 * smallest_diagonal(s.A), true, D);
  change_matrix(&s, 4, D);
  tap_require(eb_updown_flush(s.updown, &reason), "flush");
  tap_ok(reason == EB_NOT_POSITIVE_DEFINITE, "a matrix made indefinite ends with %s",
         eb_reason_name(reason));
}

static void nothing_changes_nothing(void) {
  owned(system_of) s = open_system("nx=3");
  random_state random = random_seed(6);
  eb_reason reason;
  double D[144] = {0};
  change_matrix(&s, 4, D);
  tap_require(eb_updown_flush(s.updown, &reason), "flush");
  tap_ok(reason == EB_CONVERGED_DIRECT, "a change of zero is none");
  tap_below(residual(&s, &random), 1e-12, "and leaves the factor");
}

int main(void) {
  changes_are_followed("nx=1,ny=1,nz=1");
  changes_are_followed("nx=8,ny=3,nz=3");
  changes_are_followed("nx=12,ny=12,nz=1");
  lost_definiteness_is_an_outcome();
  nothing_changes_nothing();
  return tap_done();
}
