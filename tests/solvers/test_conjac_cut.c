/* The solver `conjac` on scenes that are cut while they run: dynamic nodes on the cut, pieces that
 * lose them or their support. */
#include "tests/support/owned.h"
#include "tests/support/conjac_fixture.h"
#include "tests/support/cut_run.h"

static double unknowns(const run *r) {
  return r->log->counters[EB_COUNT_REDUCED_UNKNOWNS];
}

static const char bar[] = "nx=6,ny=2,nz=2,E=1e5,support=ends,gz=-9.8,dt=0.01";

/* ---- nodes on the cut ---- */

/* Its copies were one node, so the copies move on as the node did, both unknowns. */
static void copies_of_a_dynamic_node_are_dynamic(void) {
  set_cut(0, 0.025, 0, 0.5, INFINITY);
  eb_scene_ops ops = cut_block(), whole = eb_block_scene;
  owned(run) probe = start(&whole, bar, "conjac", "dynamic=0");
  char options[64];
  snprintf(options, sizeof options, "selection=list,nodes=%d+%d",
           node_near(probe.scene, 0.5, 0.2, 0.2), node_near(probe.scene, 0.17, 0.2, 0.2));
  owned(run) r = start(&ops, bar, "conjac", options);
  int32_t nodes = r.state->node_count;
  tap_ok(go(&r, 3) && unknowns(&r) == 6 && r.state->node_count == nodes, "two dynamic nodes");
  tap_ok(go(&r, 1) && unknowns(&r) == 9 && r.state->node_count == nodes + 9,
         "the one on the cut becomes two");
  tap_ok(go(&r, 20), "and the halves go on");
}

/* With the nodes that a new solver would be told, the rebuilt one has the same bits. */
static void a_rebuilt_solver_is_a_new_one(void) {
  set_cut(0, 0.025, 0, 0.4, INFINITY);
  eb_scene_ops cut = cut_block(), before = cut_block();
  before.cuts = NULL;
  before.prepare = precut;
  const char *options = "selection=list,nodes=10+25,keep_factor=5";
  owned(run) a = start(&cut, bar, "conjac", options), b = start(&before, bar, "conjac", options);
  bool changed;
  go(&a, 3);
  tap_require(eb_scene_advance(a.scene, a.state, &changed), "the cut");
  tap_ok(changed && a.state->node_count == b.state->node_count, "the same mesh");
  eb_step_log_reset(a.log);
  tap_require(eb_solver_rebuild(a.solver, a.state, a.log), "rebuild");
  size_t bytes = 3 * (size_t)a.state->node_count * sizeof(double);
  memcpy(b.state->x, a.state->x, bytes);
  memcpy(b.state->v, a.state->v, bytes);
  b.state->time = a.state->time;
  b.state->step = a.state->step;
  tap_ok(go(&a, 6) && go(&b, 6), "both go on");
  tap_ok(eb_state_hash(a.state) == eb_state_hash(b.state), "bit by bit alike");
}

/* ---- pieces ---- */

static double distance_to_statics(const run *r) {
  eb_reason reason;
  owned(eb_state) *rest = new_state(r->scene);
  tap_require(eb_block_advance(r->scene, eb_solver_find("newton"), "static=true,rtol=1e-12", 1, 1,
                               NULL, rest, &reason),
              "statics");
  return reason > 0 ? eb_block_distance(rest, r->state) : NAN;
}

/* Both dynamic nodes are left of the cut: the right piece has its support alone, and comes to rest
 * where statics say. */
static void a_piece_without_dynamic_nodes_is_quasistatic(void) {
  set_cut(0, 0.1, 0, 0.6, INFINITY);
  eb_scene_ops ops = cut_block();
  run r = start(&ops, "nx=6,ny=2,nz=2,E=1e5,support=ends,gz=-9.8,dt=0.05", "conjac",
                "beta=2,dynamic=0");
  tap_ok(go(&r, 200) && unknowns(&r) == 0, "no dynamic nodes at all");
  tap_below(distance_to_statics(&r), 1e-6, "both pieces find their own equilibrium");
  finish(&r);
  owned(run) probe = start(&eb_block_scene, bar, "conjac", "dynamic=0");
  char options[64];
  snprintf(options, sizeof options, "beta=2,selection=list,nodes=%d+%d",
           node_near(probe.scene, 0.34, 0.2, 0.2), node_near(probe.scene, 0.17, 0.2, 0.2));
  r = start(&ops, "nx=6,ny=2,nz=2,E=1e5,support=ends,gz=-9.8,dt=0.05", "conjac", options);
  tap_ok(go(&r, 600) && unknowns(&r) == 6, "two dynamic nodes, both in the left piece");
  tap_below(distance_to_statics(&r), 1e-6, "again");
  finish(&r);
}

/* The right piece hangs on nothing: three of its nodes become dynamic, and it falls. */
static void a_piece_without_support_is_held_by_dynamic_nodes(void) {
  set_cut(0, 0.025, 0, 0.5, INFINITY);
  eb_scene_ops ops = cut_block();
  owned(run) r = start(&ops, "nx=6,ny=2,nz=2,E=1e6,support=x0,gz=-9.8,dt=0.01", "conjac",
                       "dynamic=0,add_nodes=true");
  tap_ok(go(&r, 3) && unknowns(&r) == 0, "no dynamic nodes");
  tap_ok(go(&r, 1) && unknowns(&r) == 9, "three in the piece that is cut off");
  double total = 0, fall = 0;
  tap_ok(go(&r, 19), "it goes on");
  const double *m = eb_elasticity_mass(r.scene->elasticity);
  for (int32_t i = 0; i < r.state->node_count; i++)
    if (r.scene->mesh->X[3 * i] > 0.51) total += m[i], fall += m[i] * r.state->v[3 * i + 2];
  tap_near(fall / total, -9.8 * 0.2, 0.1 * 9.8 * 0.2, "and falls freely");
}

int main(void) {
  copies_of_a_dynamic_node_are_dynamic();
  a_rebuilt_solver_is_a_new_one();
  a_piece_without_dynamic_nodes_is_quasistatic();
  a_piece_without_support_is_held_by_dynamic_nodes();
  return tap_done();
}
