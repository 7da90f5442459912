/* Threads that share an audit's work: every part is done once, however many they are and however
 * often they are called, and figures do not depend on them. */
#include "harness/audit/team.h"

#include <stdatomic.h>
#include <time.h>

#include "harness/audit/audit.h"
#include "tests/support/random.h"
#include "tests/tap.h"

enum { MOST_PARTS = 1000 };

typedef struct tally {
  atomic_int done[MOST_PARTS];
} tally;

static void count_part(void *context, int32_t part) {
  tally *t = context;
  atomic_fetch_add(&t->done[part], 1);
}

static bool each_once(eb_team *team, int32_t count) {
  tally t = {0};
  bool once = true;
  eb_team_run(team, count, count_part, &t);
  for (int i = 0; i < MOST_PARTS; i++) once &= atomic_load(&t.done[i]) == (i < count);
  return once;
}

static void rest(double seconds) {
  struct timespec time = {0, (long)(1e9 * seconds)};
  nanosleep(&time, NULL);
}

static void test_parts(void) {
  static const int32_t counts[] = {0, 1, 2, 3, 7, MOST_PARTS};
  eb_team *team;
  if (!tap_succeeds(eb_team_create(3, &team), "a team")) return;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    tap_ok(each_once(team, counts[i]), "each of %d parts is done once", counts[i]);
    tap_ok(each_once(NULL, counts[i]), "by nobody else as well");
  }
  bool once = true;
  for (int i = 0; i < 2000; i++) once &= each_once(team, 1 + i % 5);
  tap_ok(once, "also in many calls without a rest");
  for (int i = 0; i < 20; i++) {
    rest(1e-4 * i);
    once &= each_once(team, 5);
  }
  tap_ok(once, "and after rests that put the threads to sleep");
  eb_team_destroy(team);
  eb_team_destroy(NULL);
}

static void test_sizes(void) {
  eb_team *team;
  if (!tap_succeeds(eb_team_create(0, &team), "a team of nobody")) return;
  tap_ok(eb_team_size(team) == 0 && eb_team_size(NULL) == 0, "has no threads");
  tap_ok(each_once(team, 10), "and leaves all to the one that calls");
  eb_team_destroy(team);
}

static void test_sleep(void) {
  eb_team *team;
  if (!tap_succeeds(eb_team_create(3, &team), "a team that rests")) return;
  (void)each_once(team, MOST_PARTS);
  rest(1e-2);
  double used = eb_team_cpu_seconds(team);
  rest(0.1);
  tap_below(eb_team_cpu_seconds(team) - used, 1e-3, "uses no processor");
  eb_team_destroy(team);
}

/* A bar that is bent and shaken. */
static eb_audit_row audit_with(eb_team *team) {
  eb_scene *scene;
  eb_state *before, *after;
  eb_audit *audit;
  eb_audit_row row = {0};
  random_state random = random_seed(5);
  tap_require(eb_scene_create(eb_scene_find("bench/beam"), "resolution=0.25", NULL, NULL, &scene),
              "scene");
  tap_require(eb_audit_create(scene, &audit), "audit");
  tap_require(eb_state_create(scene, &before), "state");
  tap_require(eb_state_create(scene, &after), "state");
  for (int32_t k = 0; k < 3 * after->node_count; k++) {
    after->x[k] += random_uniform(&random, -1e-3, 1e-3);
    after->v[k] = (after->x[k] - before->x[k]) / scene->dt;
  }
  const eb_declaration declared = {.equation = EB_EQUATION_LINEARIZED,
                                   .linearization = {1, 1, EB_TANGENT_PROJECTED}};
  eb_audit_share(audit, team);
  tap_require(eb_audit_step(audit, before, after, scene->dt, declared.equation, &row), "step");
  tap_require(eb_audit_declared(audit, before, after, scene->dt, &declared, &row), "audit");
  eb_state_destroy(before);
  eb_state_destroy(after);
  eb_audit_destroy(audit);
  eb_scene_destroy(scene);
  return row;
}

static void test_figures(void) {
  eb_team *team;
  if (!tap_succeeds(eb_team_create(3, &team), "a team that audits")) return;
  eb_audit_row alone = audit_with(NULL), shared = audit_with(team);
  tap_ok(alone.implicit_euler.norm > 0 && alone.implicit_euler.norm == shared.implicit_euler.norm &&
             alone.totals.elastic == shared.totals.elastic &&
             alone.declared.relative == shared.declared.relative &&
             alone.min_volume_ratio == shared.min_volume_ratio,
         "finds what one thread finds, bit for bit");
  eb_team_destroy(team);
}

int main(void) {
  test_parts();
  test_sizes();
  test_sleep();
  test_figures();
  return tap_done();
}
