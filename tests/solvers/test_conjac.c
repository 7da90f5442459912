/* The solver `conjac`: its limits (all nodes dynamic, none), statics, what it conserves, scripts,
 * options, bad input. */
#include "tests/support/owned.h"
#include "tests/support/conjac_fixture.h"

static double distance_after(const char *scene, const char *first, const char *first_options,
                             int64_t first_steps, const char *second, const char *second_options,
                             int64_t second_steps) {
  owned(fixture) a = fixture_open(scene), b = fixture_open(scene);
  bool ran = fixture_step(&a, first, first_options, first_steps) > 0;
  ran &= fixture_step(&b, second, second_options, second_steps) > 0;
  return ran ? eb_block_distance(a.state, b.state) : NAN;
}

/* ---- limits ---- */

static const char twisted[] = "nx=4,E=1e5,gz=-9.8,support=ends,motion=twist,rate=4,"
                              "initial=random,speed=0.3,dt=0.01";

static void all_nodes_dynamic_is_semi_implicit(void) {
  static const char *const projected[] = {"always", "never"}, *const too[] = {"true", "false"};
  for (int k = 0; k < 2; k++) {
    char condensed[64], whole[64], name[96];
    snprintf(condensed, sizeof condensed, "selection=all,beta=0.7,project=%s", projected[k]);
    snprintf(whole, sizeof whole, "beta=0.7,project=%s", too[k]);
    snprintf(name, sizeof name,
             "all nodes dynamic, elements projected: %s: the linearly implicit "
             "step, to rounding",
             projected[k]);
    tap_below(distance_after(twisted, "conjac", condensed, 5, "semi-implicit", whole, 5), 1e-10,
              name);
  }
  tap_below(distance_after("nx=3,initial=spin,gz=-9.8", "conjac",
                           "selection=all,beta=1,project=always", 5, "semi-implicit", "", 5),
            1e-10, "also in flight");
  tap_below(distance_after("nx=2,element=hexahedra,initial=random,speed=0.3,support=x0", "conjac",
                           "selection=all,beta=1,project=always", 5, "semi-implicit", "", 5),
            1e-10, "and of hexahedra");
}

/* Heavy damping, long steps: they bring the bar to rest. */
static void rest_is_the_equilibrium(void) {
  static const char bar[] = "nx=5,E=1e5,nu=0.4,gz=-9.8,support=x0,dt=0.05";
  static const char *const options[] = {"dynamic=0",
                                        "beta=2,dynamic=1",
                                        "beta=2,dynamic=4",
                                        "beta=2,dynamic=4,gamma=linesearch",
                                        "beta=2,dynamic=2,newton_steps=2",
                                        "beta=2,dynamic=2,keep_factor=4",
                                        "beta=2,dynamic=2,keep_factor=3,newton_steps=1",
                                        "beta=2,dynamic=2,initial=static",
                                        "beta=2,selection=farthest,dynamic=5"};
  const double diagonal = sqrt(1 + 2 * 0.4 * 0.4);
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    tap_below(distance_after(bar, "conjac", options[i], 600, "newton", "static=true,rtol=1e-12", 1),
              1e-6 * diagonal, options[i]);
}

/* ---- what is conserved ---- */

/* A body thrown in a gravity field: the largest deviation of a node's velocity from v0 + g t. */
static double off_free_fall(const char *options) {
  owned(fixture) f = fixture_open("nx=4,gx=1,gz=-9.8,dt=0.01");
  const double g[3] = {1, 0, -9.8};
  double most = 0;
  for (int64_t k = 0; k < 3 * (int64_t)f.state->node_count; k++)
    f.state->v[k] = 0.5 - 0.3 * (double)(k % 3);
  fixture_step(&f, "conjac", options, 10);
  for (int64_t k = 0; k < 3 * (int64_t)f.state->node_count; k++)
    most = fmax(most, fabs(f.state->v[k] - (0.5 - 0.3 * (double)(k % 3) + 0.1 * g[k % 3])));
  return most;
}

/* Without relief quasistatic nodes hang on the dynamic ones even in flight. */
static void free_fall_is_exact_with_relief(void) {
  tap_below(off_free_fall("dynamic=4,inertia_relief=true"), 1e-12,
            "with inertia relief a body in free fall keeps its shape");
  tap_below(off_free_fall("dynamic=0,add_nodes=true,inertia_relief=true,newton_steps=2"), 1e-12,
            "with the fewest dynamic nodes, too");
  tap_ok(off_free_fall("dynamic=4") > 1e-3, "not so with the paper's forces, the default");
}

/* ---- indefinite matrices ---- */

/* A bar that is squeezed to 0.6 of its length: its straight shape is no minimum, and H is
 * indefinite. */
static eb_reason squeezed(const char *options, eb_tangent *tangent, double *factorizations) {
  owned(fixture) f = fixture_open("nx=12,lx=1,ly=.1,lz=.1,E=1e5,nu=0.3,support=ends,dt=0.01");
  for (int64_t k = 0; k < 3 * (int64_t)f.state->node_count; k += 3) {
    f.scene->x0[k] *= 0.6;
    f.state->x[k] *= 0.6;
  }
  owned(eb_solver) *solver = solver_open(&f, options, 1);
  eb_reason reason = solver_step(solver, &f);
  *tangent = f.log->linearization.tangent;
  *factorizations = f.log->counters[EB_COUNT_FACTORIZATIONS];
  tap_ok(f.log->residual_count == 1, "%s: one residual is logged", options);
  return reason;
}

static void indefinite_steps_are_projected(void) {
  eb_tangent tangent;
  double count;
  tap_ok(squeezed("dynamic=1,project=never", &tangent, &count) == EB_NOT_POSITIVE_DEFINITE,
         "project=never: a step of an indefinite matrix fails");
  tap_ok(squeezed("dynamic=1,project=always", &tangent, &count) == EB_CONVERGED_DIRECT &&
             tangent == EB_TANGENT_PROJECTED && count == 1,
         "project=always: it is solved with projected elements, and says so");
  tap_ok(squeezed("dynamic=1,project=auto", &tangent, &count) == EB_CONVERGED_DIRECT &&
             tangent == EB_TANGENT_PROJECTED && count == 2,
         "project=auto: too, after the exact ones have failed");
  double far = distance_after(twisted, "conjac", "dynamic=2,project=auto", 5, "conjac",
                              "dynamic=2,project=never", 5),
         away = distance_after(twisted, "conjac", "dynamic=2,project=auto", 5, "conjac",
                               "dynamic=2", 5);
  tap_ok(far == 0 && away > 0, "where the exact matrix is definite it is the one that is taken");
}

/* A load that turns a free body: of the forces that quasistatic nodes are left with neither sum nor
 * moment remains, and the part of it that accelerates the body as a whole has gone exactly. */
static void relief_balances_forces_and_moments(void) {
  owned(fixture) f = fixture_open("nx=4,initial=random,dt=0.01");
  eb_relief *relief = NULL;
  eb_partition part = {0};
  eb_node_list none = {0};
  int64_t size = 3 * (int64_t)f.state->node_count;
  const double *mass = eb_elasticity_mass(f.scene->elasticity), *x = f.state->x;
  owned(double) *load = eb_calloc((size_t)size, sizeof *load),
                *left = eb_calloc((size_t)size, sizeof *left);
  owned(uint8_t) *fixed = eb_calloc((size_t)f.state->node_count, 1);
  uint64_t seed = 3;
  for (int64_t k = 0; k < size; k++) left[k] = load[k] = eb_block_random(&seed) + (k % 3 == 1);
  tap_require(eb_relief_create(f.scene->mesh, &relief), "relief");
  tap_require(eb_partition_create(f.scene, &none, &part), "a partition");
  eb_partition_update(&part, &none, fixed, NULL);
  eb_relief_apply(relief, &part, NULL, 0, mass, x, load, left);
  double sum[6] = {0}, most = 0;
  for (int64_t k = 0; k < size; k += 3)
    for (int d = 0; d < 3; d++) {
      int e = (d + 1) % 3, g = (d + 2) % 3;
      sum[d] += left[k + d];
      sum[3 + d] += x[k + e] * left[k + g] - x[k + g] * left[k + e];
    }
  for (int d = 0; d < 6; d++) most = fmax(most, fabs(sum[d]));
  tap_below(most, 1e-11, "no net force and no moment are left");
  memcpy(load, left, (size_t)size * sizeof *load);
  eb_relief_apply(relief, &part, NULL, 0, mass, x, load, left);
  most = 0;
  for (int64_t k = 0; k < size; k++) most = fmax(most, fabs(left[k] - load[k]));
  tap_below(most, 1e-11, "and nothing is taken from such a load");
  fixed[0] = 1;
  eb_partition_update(&part, &none, fixed, NULL);
  for (int64_t k = 0; k < size; k++) left[k] = load[k] = 1;
  eb_relief_apply(relief, &part, NULL, 0, mass, x, load, left);
  most = 0;
  for (int64_t k = 0; k < size; k++) most = fmax(most, fabs(left[k] - 1));
  tap_ok(most == 0, "nor from a body that is held");
  eb_relief_destroy(relief);
  eb_partition_clear(&part);
}

static void momentum_of(const fixture *f, double p[3]) {
  const double *mass = eb_elasticity_mass(f->scene->elasticity);
  p[0] = p[1] = p[2] = 0;
  for (int64_t k = 0; k < 3 * (int64_t)f->state->node_count; k++)
    p[k % 3] += mass[k / 3] * f->state->v[k];
}

/* J maps equal velocities to equal velocities and H maps those to nothing, so that the sum of the
 * equations is momentum's. */
static void momentum_is_conserved(void) {
  static const char *const options[] = {"dynamic=4", "selection=farthest,dynamic=6",
                                        "dynamic=4,keep_factor=3"};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    owned(fixture) f = fixture_open("nx=4,initial=spin,E=1e5,gz=-9.8,dt=0.005");
    double p[3], q[3], mass = 1000 * 0.16;
    momentum_of(&f, p);
    fixture_step(&f, "conjac", options[i], 20);
    momentum_of(&f, q);
    double off = fmax(fabs(q[0] - p[0]), fabs(q[1] - p[1]));
    off = fmax(off, fabs(q[2] - p[2] + 9.8 * mass * 0.1));
    tap_below(off / (9.8 * mass * 0.1), 1e-9, options[i]);
  }
}

/* ---- scripts ---- */

static void scripted_nodes_land(void) {
  owned(fixture) f = fixture_open(twisted);
  owned(uint8_t) *fixed = eb_calloc((size_t)f.state->node_count, 1);
  owned(double) *target = eb_calloc(3 * (size_t)f.state->node_count, sizeof *target);
  double most = 0;
  fixture_step(&f, "conjac", "dynamic=2,newton_steps=1", 4);
  eb_scene_boundary(f.scene, f.state->time, fixed, target);
  for (int64_t k = 0; k < 3 * (int64_t)f.state->node_count; k++)
    if (fixed[k / 3]) most = fmax(most, fabs(f.state->x[k] - target[k]));
  tap_ok(most == 0, "scripted nodes are exactly where the script wants them");
}

/* Quasistatic nodes go the whole way with their support: an affine motion of the surface takes the
 * inside along in the same step, whatever gamma is. */
static void supports_carry_along_in_full(void) {
  owned(fixture) f = fixture_open("nx=3,ny=3,nz=3,support=surface,motion=affine");
  fixture_step(&f, "conjac", "dynamic=0,gamma=0", 1);
  double most = 0;
  for (int32_t i = 0; i < f.state->node_count; i++) {
    double x[3];
    eb_block_affine(f.scene->mesh, f.scene->mesh->X + 3 * i, x);
    for (int d = 0; d < 3; d++) most = fmax(most, fabs(f.state->x[3 * i + d] - x[d]));
  }
  tap_below(most, 1e-13, "the inside follows an affine motion of the surface in one step");
}

static const double let_go = 0.055;

static void releasing(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  if (t < let_go) eb_block_scene.boundary(scene, t, fixed, target);
}

static fixture release_open(void) {
  static eb_scene_ops ops;
  fixture f = {0};
  ops = eb_block_scene;
  ops.boundary = releasing;
  ops.steps = 100;
  tap_require(eb_scene_create(&ops, "nx=4,gz=-9.8,support=x0,dt=0.01", NULL, "", &f.scene),
              "scene");
  tap_require(eb_state_create(f.scene, &f.state), "a state");
  tap_require(eb_step_log_create(64, &f.log), "a log");
  return f;
}

/* Let go of, a body without dynamic nodes could move rigidly: three nodes become dynamic. */
static void freed_bodies_are_held_by_dynamic_nodes(void) {
  owned(fixture) f = release_open();
  owned(eb_solver) *solver = solver_open(&f, "dynamic=0,add_nodes=true", 1);
  bool ran = true;
  for (int i = 0; i < 5; i++) ran &= solver_step(solver, &f) > 0;
  tap_ok(ran && f.log->counters[EB_COUNT_REDUCED_UNKNOWNS] == 0, "held: no unknowns");
  for (int i = 0; i < 10; i++) ran &= solver_step(solver, &f) > 0;
  tap_ok(ran, "let go of: goes on");
  tap_ok(f.log->counters[EB_COUNT_REDUCED_UNKNOWNS] == 9, "with three dynamic nodes");
  double p[3];
  momentum_of(&f, p);
  tap_near(p[2] / 160, -9.8 * 0.1, 0.05 * 0.98, "and falls");
}

static void dynamic_nodes_may_be_scripted_for_a_while(void) {
  owned(fixture) f = release_open();
  char options[64];
  snprintf(options, sizeof options, "selection=list,nodes=%d+%d+%d", node_near(f.scene, 0, 0, 0),
           node_near(f.scene, 0.5, 0.2, 0.2), node_near(f.scene, 1, 0.4, 0));
  owned(eb_solver) *solver = solver_open(&f, options, 1);
  solver_step(solver, &f);
  tap_ok(f.log->counters[EB_COUNT_REDUCED_UNKNOWNS] == 6, "a scripted node is no unknown");
  for (int i = 0; i < 9; i++) solver_step(solver, &f);
  tap_ok(f.log->counters[EB_COUNT_REDUCED_UNKNOWNS] == 9 && f.reason > 0, "until it is let go of");
}

/* ---- options ---- */

static double residual_after(const char *options, int steps, double *factorizations) {
  owned(fixture) f = fixture_open("nx=5,E=5e5,nu=0.45,gz=-9.8,support=x0,dt=0.01");
  owned(eb_solver) *solver = solver_open(&f, options, 1);
  *factorizations = 0;
  for (int i = 0; i < steps; i++) {
    solver_step(solver, &f);
    *factorizations += f.log->counters[EB_COUNT_FACTORIZATIONS];
  }
  double residual = f.log->residuals[0];
  tap_ok(f.reason == EB_CONVERGED_DIRECT && f.log->residual_count >= 1, "%s: runs", options);
  return residual;
}

static void stabilization_works(void) {
  double count, drift = residual_after("dynamic=1,gamma=0", 13, &count);
  tap_ok(count == 13, "a factorization a step");
  double damped = residual_after("dynamic=1", 13, &count);
  tap_below(damped, 0.1 * drift, "without stabilization forces on quasistatic nodes stay");
  tap_below(residual_after("dynamic=1,gamma=linesearch", 13, &count), 0.5 * damped,
            "a line search goes farther than a third");
  tap_below(residual_after("dynamic=1,newton_steps=4", 13, &count), 0.5 * damped,
            "further Newton steps too");
  tap_ok(count == 65, "each with a factorization of its own");
  residual_after("dynamic=1,keep_factor=4", 13, &count);
  tap_ok(count == 4, "keep_factor=4: four factorizations in 13 steps");
  tap_below(residual_after("dynamic=1,keep_factor=4,newton_steps=2", 13, &count), drift,
            "further quasi-Newton steps");
  tap_ok(count == 4, "cost no factorization");
}

static void statics_at_the_start(void) {
  static const char bar[] = "nx=5,E=3e4,nu=0.4,gz=-9.8,support=x0,dt=0.01";
  tap_below(distance_after(bar, "conjac", "dynamic=0,initial=static", 1, "newton",
                           "static=true,rtol=1e-12", 1),
            1e-9, "initial=static, no dynamic node: the equilibrium in the first step");
  owned(fixture) f = fixture_open(bar);
  owned(eb_solver) *solver = solver_open(&f, "dynamic=2,initial=static", 1);
  solver_step(solver, &f);
  tap_ok(f.log->counters[EB_COUNT_FACTORIZATIONS] > 2, "Newton's method in the first step");
  /* of the weight, some 1500 N */
  tap_below(f.log->residuals[f.log->residual_count - 1], 1e-6, "which ends in equilibrium");
  solver_step(solver, &f);
  tap_ok(f.log->counters[EB_COUNT_FACTORIZATIONS] == 1, "and only there");
}

static uint64_t hash_with(const char *options, int threads) {
  owned(fixture) f =
      fixture_open("nx=24,ny=6,nz=6,E=1e5,gz=-9.8,support=ends,motion=twist,rate=3,dt=0.01");
  owned(eb_solver) *solver = solver_open(&f, options, threads);
  for (int i = 0; i < 4; i++) solver_step(solver, &f);
  uint64_t hash = eb_state_hash(f.state);
  return hash;
}

static void threads_change_no_bit(void) {
  static const char *const options[] = {"dynamic=5", "dynamic=5,keep_factor=2",
                                        "dynamic=0,gamma=linesearch,newton_steps=1"};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    tap_ok(hash_with(options[i], 1) == hash_with(options[i], 2), "%s: two threads, the same bits",
           options[i]);
}

/* ---- bad input, outcomes ---- */

static void bad_input_is_refused(void) {
  static const struct {
    const char *options, *says;
  } cases[] = {{"gamma=much", "linesearch"},
               {"gamma=-0.1", "from 0 to 2"},
               {"gamma=nan", "from 0 to 2"},
               {"gamma=0.5x", "from 0 to 2"},
               {"gamma=", "gamma"},
               {"keep_factor=0", "keep_factor"},
               {"newton_steps=-1", "newton_steps"},
               {"dynamic=-1", "dynamic"},
               {"dynamic=100000", ""},
               {"selection=list,nodes=9999", "9999"},
               {"selection=list,nodes=7+7", "7"},
               {"selection=list,nodes=a", "a"},
               {"selection=list,nodes=0", "0"},
               {"selection=random,nodes=7", "selection=list"},
               {"selection=list,nodes=7,dynamic=2", "leave out"},
               {"selection=all,dynamic=2", "leave out"},
               {"selection=list", "lacks the list"}};
  owned(fixture) f = fixture_open("nx=3,support=x0");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    owned(eb_solver) *solver = NULL;
    tap_fails(eb_solver_create(eb_solver_find("conjac"), cases[i].options, f.scene, 1, 1, &solver),
              EB_ERR_USAGE, cases[i].says, cases[i].options);
  }
}

/* A tetrahedron that hangs on the block by one edge, or by one node. */
static eb_error add_flap(eb_mesh *mesh, int shared) {
  static const double corner[4][3] = {{1, 0, 0}, {1, 0, 0.2}, {1.2, -0.1, 0.1}, {1.2, 0.1, 0.1}};
  size_t nodes = (size_t)mesh->node_count, elements = (size_t)mesh->element_count;
  size_t fresh = 4 - (size_t)shared;
  mesh->X = eb_recalloc(mesh->X, 3 * nodes, 3 * (nodes + fresh), sizeof *mesh->X);
  mesh->elements = eb_recalloc(mesh->elements, 4 * elements, 4 * elements + 4, sizeof(int32_t));
  mesh->region = eb_recalloc(mesh->region, elements, elements + 1, sizeof *mesh->region);
  for (int k = 0; k < 4; k++) {
    int32_t node = mesh->node_count;
    for (int32_t i = 0; i < (int32_t)nodes && k < shared; i++)
      if (!memcmp(mesh->X + 3 * (int64_t)i, corner[k], sizeof corner[k])) node = i;
    if (node == mesh->node_count) mesh->node_count++;
    memcpy(mesh->X + 3 * (int64_t)node, corner[k], sizeof corner[k]);
    mesh->elements[4 * elements + (size_t)k] = node;
  }
  mesh->element_count++;
  return EB_OK;
}

static eb_error flap_on_an_edge(const eb_values *values, eb_mesh **mesh) {
  (void)values;
  return add_flap(*mesh, 2);
}

static eb_error flap_on_a_node(const eb_values *values, eb_mesh **mesh) {
  (void)values;
  return add_flap(*mesh, 1);
}

/* The block is held, the flap turns freely: nodes of it become dynamic, as many as the hinge leaves
 * rotations at most. */
static void hinged_parts_are_held(void) {
  static eb_scene_ops ops;
  for (int shared = 1; shared <= 2; shared++) {
    owned(fixture) f = {0};
    ops = eb_block_scene;
    ops.prepare = shared == 2 ? flap_on_an_edge : flap_on_a_node;
    tap_require(eb_scene_create(&ops, "nx=4,support=x0,gz=-9.8,E=1e6,dt=1e-3", NULL, "", &f.scene),
                "a flap");
    tap_require(eb_state_create(f.scene, &f.state), "a state");
    tap_require(eb_step_log_create(64, &f.log), "a log");
    tap_ok(f.state->node_count == 45 + 4 - shared, "%d nodes are shared", shared);
    owned(eb_solver) *solver = solver_open(&f, "dynamic=0,add_nodes=true", 1);
    bool ran = true;
    for (int i = 0; i < 50; i++) ran &= solver_step(solver, &f) > 0;
    double unknowns = f.log->counters[EB_COUNT_REDUCED_UNKNOWNS];
    tap_ok(ran && unknowns >= 3 && unknowns <= (shared == 2 ? 3 : 9), "the flap has dynamic nodes");
    tap_ok(f.state->v[3 * (f.state->node_count - 1) + 2] < -0.1, "and swings down");
  }
}

/* J of all nodes is a full matrix. */
static void more_than_the_machine_has_is_refused(void) {
  owned(fixture) f = fixture_open("nx=128,ny=16,nz=16");
  owned(eb_solver) *solver = NULL;
  tap_fails(eb_solver_create(eb_solver_find("conjac"), "selection=all", f.scene, 1, 1, &solver),
            EB_ERR_MEMORY, "fewer dynamic nodes", "37 000 dynamic nodes: no memory for that");
}

/* A free body whose list leaves it two rigid motions. */
static void too_few_nodes_are_completed(void) {
  owned(fixture) f = fixture_open("nx=3,gz=-9.8");
  eb_solver *solver = solver_open(&f, "selection=list,nodes=5,add_nodes=true", 1);
  tap_ok(solver_step(solver, &f) > 0 && f.log->counters[EB_COUNT_REDUCED_UNKNOWNS] == 9,
         "with added ones a free body has three dynamic nodes at least");
  eb_solver_destroy(solver);
  tap_fails(
      eb_solver_create(eb_solver_find("conjac"), "selection=list,nodes=5", f.scene, 1, 1, &solver),
      EB_ERR_USAGE, "2 more have to be dynamic", "else it is refused");
  eb_solver_destroy(solver);
}

int main(void) {
  all_nodes_dynamic_is_semi_implicit();
  rest_is_the_equilibrium();
  free_fall_is_exact_with_relief();
  indefinite_steps_are_projected();
  relief_balances_forces_and_moments();
  momentum_is_conserved();
  scripted_nodes_land();
  supports_carry_along_in_full();
  freed_bodies_are_held_by_dynamic_nodes();
  dynamic_nodes_may_be_scripted_for_a_while();
  stabilization_works();
  statics_at_the_start();
  threads_change_no_bit();
  bad_input_is_refused();
  too_few_nodes_are_completed();
  hinged_parts_are_held();
  more_than_the_machine_has_is_refused();
  nan_is_an_outcome("conjac", "stable-neo-hookean");
  extremes_are_outcomes("conjac", "stable-neo-hookean");
  return tap_done();
}
