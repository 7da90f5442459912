/* Scenes that are cut while they run: what eb_scene_advance changes, solvers that go on, and what a
 * scene refuses. */
#include "harness/audit/audit.h"
#include "problems/base/memory.h"
#include "tests/support/cut_run.h"

/* Whose steps must all go well. */
static void go_on(run *r, int64_t steps) {
  tap_require(go(r, steps) ? EB_OK : EB_ERROR(EB_ERR_INVALID, "it ended"), "outcome");
}

static bool same(const eb_state *a, const eb_state *b) {
  size_t bytes = 3 * (size_t)a->node_count * sizeof(double);
  return a->node_count == b->node_count && memcmp(a->x, b->x, bytes) == 0 &&
         memcmp(a->v, b->v, bytes) == 0;
}

static double total(const double *values, int32_t count) {
  double sum = 0;
  for (int32_t i = 0; i < count; i++) sum += values[i];
  return sum;
}

/* ---- a run that is cut against one on the mesh that was cut beforehand ----------------------- */

static const char moving[] = "nx=6,ny=2,nz=3,lx=0.6,ly=0.2,lz=0.3,support=x0,initial=random,"
                             "speed=0.2,gz=-9.81,dt=0.01,jitter=0.1,material=";

static void test_continuation(const char *solver, const char *options, const char *material) {
  char parameters[256];
  snprintf(parameters, sizeof parameters, "%s%s", moving, material);
  set_cut(0, 0.03, 0, 0.31, INFINITY);
  set_cut(1, 0.03, 2, 0.14, 0.2);
  eb_scene_ops cut = cut_block(), before = cut_block(), whole = eb_block_scene;
  before.cuts = NULL;
  before.prepare = precut;
  run a = start(&cut, parameters, solver, options), b = start(&whole, parameters, solver, options);
  go_on(&a, 3);
  go_on(&b, 3);
  tap_ok(a.cuts == 0 && same(a.state, b.state), "%s: nothing is cut before its time", solver);
  finish(&b);

  int32_t nodes = a.state->node_count;
  eb_state *kept = NULL;
  bool changed;
  tap_require(eb_scene_advance(a.scene, a.state, &changed), "the cut");
  tap_ok(changed && a.state->node_count > nodes + 10, "%s: the cut parts nodes", solver);
  eb_step_log_reset(a.log);
  tap_require(eb_solver_rebuild(a.solver, a.state, a.log), "rebuild");
  tap_ok(a.log->counters[EB_COUNT_REBUILDS] == 1 && a.log->phase_seconds[EB_PHASE_ANALYZE] > 0,
         "%s: the new set-up is counted, its phases are logged", solver);

  run c = start(&before, parameters, solver, options);
  size_t bytes = 3 * (size_t)a.state->node_count * sizeof(double);
  memcpy(c.state->x, a.state->x, bytes);
  memcpy(c.state->v, a.state->v, bytes);
  c.state->time = a.state->time;
  c.state->step = a.state->step;
  kept = c.state;
  go_on(&a, 4);
  go_on(&c, 4);
  tap_ok(same(a.state, kept), "%s: goes on, bit by bit, as on a mesh that was cut before", solver);
  tap_ok(a.cuts == 0, "%s: and is cut only once", solver);
  finish(&c);
  finish(&a);
}

/* ---- what the cut does to the motion --------------------------------------------------------- */

static void momenta(const eb_scene *scene, const eb_state *state, double out[6]) {
  const double *mass = eb_elasticity_mass(scene->elasticity);
  memset(out, 0, 6 * sizeof *out);
  for (int32_t i = 0; i < state->node_count; i++) {
    const double *x = state->x + 3 * i, *v = state->v + 3 * i;
    for (int d = 0; d < 3; d++) {
      int e = (d + 1) % 3, f = (d + 2) % 3;
      out[d] += mass[i] * v[d];
      out[3 + d] += mass[i] * (x[e] * v[f] - x[f] * v[e]);
    }
  }
}

/* Copies have their origin's velocity, and its mass is shared out. Angular momentum is kept as well
 * because they are at one place. */
static void test_conservation(void) {
  set_cut(0, 0.02, 0, 0.2, INFINITY);
  eb_scene_ops ops = cut_block();
  run r = start(&ops, "nx=6,lx=0.6,initial=spin,dt=0.01", "newton", "");
  double before[6], after[6], kinetic[2] = {0};
  go_on(&r, 2);
  const double *mass = eb_elasticity_mass(r.scene->elasticity);
  double weight = total(mass, r.state->node_count);
  momenta(r.scene, r.state, before);
  for (int32_t k = 0; k < 3 * r.state->node_count; k++)
    kinetic[0] += 0.5 * mass[k / 3] * r.state->v[k] * r.state->v[k];
  double elastic = eb_elasticity_energy(r.scene->elasticity, r.state->x);
  bool changed;
  tap_require(eb_scene_advance(r.scene, r.state, &changed), "the cut");
  momenta(r.scene, r.state, after);
  mass = eb_elasticity_mass(r.scene->elasticity);
  for (int32_t k = 0; k < 3 * r.state->node_count; k++)
    kinetic[1] += 0.5 * mass[k / 3] * r.state->v[k] * r.state->v[k];
  /* Rounding of sums of a few hundred terms. */
  tap_near(total(mass, r.state->node_count), weight, 1e-13 * weight, "a cut keeps the mass");
  double most = 0, largest = 0;
  for (int k = 0; k < 6; k++) {
    most = fmax(most, fabs(after[k] - before[k]));
    largest = fmax(largest, fabs(before[k]));
  }
  tap_below(most, 1e-13 * largest, "and both momenta");
  tap_near(kinetic[1], kinetic[0], 1e-13 * kinetic[0], "and the kinetic energy");
  /* The energy of an element is a difference of terms that are larger. */
  tap_near(eb_elasticity_energy(r.scene->elasticity, r.state->x), elastic, 1e-12 * elastic,
           "and the elastic energy");
  finish(&r);
}

/* The free end of a beam that is cut at rest falls as a rigid body does by implicit Euler: k steps
 * of -g h^2 k. */
static void test_fall(void) {
  const double g = 10, h = 0.01;
  const int steps = 12;
  set_cut(0, 0, 0, 0.3, INFINITY);
  eb_scene_ops ops = cut_block();
  run r = start(&ops, "nx=6,lx=0.6,support=x0,gz=-10,dt=0.01,E=1e6", "newton", "");
  int32_t *part = malloc(sizeof *part * 1000);
  go_on(&r, steps);
  tap_ok(r.cuts == 1, "a cut at time 0 is made before the first step");
  tap_ok(eb_mesh_components(r.scene->mesh, part) == 2, "the beam is in two");
  double off = 0, fallen = g * h * h * steps * (steps + 1) / 2;
  for (int32_t i = 0; i < r.state->node_count; i++)
    for (int d = 0; d < 3 && part[i] == 1; d++)
      off = fmax(off,
                 fabs(r.state->x[3 * i + d] - r.scene->mesh->X[3 * i + d] + (d == 2 ? fallen : 0)));
  /* Newton's tolerance of 1e-8 of the forces, over masses of grams, for a tenth of a second. */
  tap_below(off, 1e-8, "the part that nothing holds falls freely");
  free(part);
  finish(&r);
}

/* The audit of the present mesh confirms the steps after the cut. */
static void test_audit(void) {
  set_cut(0, 0.01, 0, 0.25, INFINITY);
  set_cut(1, 0.02, 2, 0.2, 0.3);
  eb_scene_ops ops = cut_block();
  run r =
      start(&ops, "nx=5,lx=0.5,support=x0,gz=-9.81,initial=stretched,dt=0.01,E=2e4", "newton", "");
  double most = 0;
  for (int s = 0; s < 5; s++) {
    eb_audit *audit;
    eb_audit_row row;
    eb_state *before;
    tap_require(eb_stepper_advance(&r), "advance");
    tap_require(eb_audit_create(r.scene, &audit), "audit");
    tap_require(eb_state_create(r.scene, &before), "a state");
    size_t bytes = 3 * (size_t)before->node_count * sizeof(double);
    memcpy(before->x, r.state->x, bytes);
    memcpy(before->v, r.state->v, bytes);
    before->time = r.state->time;
    go_on(&r, 1);
    tap_require(
        eb_audit_step(audit, before, r.state, r.scene->dt, EB_EQUATION_IMPLICIT_EULER, &row),
        "audit");
    most = fmax(most, row.implicit_euler.relative);
    eb_state_destroy(before);
    eb_audit_destroy(audit);
  }
  tap_ok(r.cuts == 2, "two cuts at two times");
  /* newton's rtol is 1e-8 of a scale that is not quite the audit's. */
  tap_below(most, 1e-6, "the audit confirms each step on its mesh");
  finish(&r);
}

/* ---- scripted nodes -------------------------------------------------------------------------- */

static void test_boundary(void) {
  set_cut(0, 0, 1, 0.2, INFINITY);
  set_cut(1, 0, 2, 0.2, INFINITY);
  eb_scene_ops ops = cut_block();
  eb_scene *scene = make_scene(&ops, "support=ends,motion=twist,rate=3");
  eb_state *state;
  bool changed;
  tap_require(eb_state_create(scene, &state), "a state");
  tap_require(eb_scene_advance(scene, state, &changed), "advance");
  int32_t nodes = scene->mesh->node_count, wrong = 0, copies = 0, held = 0;
  uint8_t *fixed = malloc((size_t)nodes);
  double *target = malloc(3 * (size_t)nodes * sizeof *target);
  eb_scene_boundary(scene, 0.4, fixed, target);
  for (int32_t i = 0; i < nodes; i++) {
    int32_t origin = scene->script.node_origin[i];
    bool end = scene->mesh->X[3 * i] == 0 || scene->mesh->X[3 * i] == 1;
    wrong += fixed[i] != end || origin >= scene->script.uncut_nodes ||
             memcmp(target + 3 * i, target + 3 * origin, 24) != 0;
    copies += i >= scene->script.uncut_nodes && end;
    held += end;
  }
  tap_ok(wrong == 0, "copies are scripted as their origins");
  tap_ok(copies > 8 && held > copies, "there are %d of them among %d", copies, held);
  eb_state_destroy(state);
  tap_require(eb_state_create(scene, &state), "a state");
  tap_ok(state->node_count == nodes, "states made after a cut have its nodes");
  eb_state_destroy(state);
  free(target);
  free(fixed);
  eb_scene_destroy(scene);
}

/* ---- the final mesh -------------------------------------------------------------------------- */

static void test_final_mesh(void) {
  set_cut(0, 0, 0, 0.5, INFINITY);
  set_cut(1, 1, 1, 0.2, INFINITY);
  set_cut(2, 1, 2, 0.2, 0.6);
  eb_scene_ops ops = cut_block();
  eb_scene *scene = make_scene(&ops, "nx=4,ny=2,nz=2");
  eb_mesh *first, *last;
  int32_t *parent, *own, wrong = 0, chained = 0;
  eb_state *state;
  bool changed;
  tap_require(eb_scene_final_mesh(scene, &first, &parent), "the final mesh");
  tap_ok(scene->mesh->node_count == 45 && first->node_count > 54, "is there from the start");
  for (int32_t i = 0; i < first->node_count; i++) {
    wrong += i < 45 ? parent[i] != i
                    : parent[i] >= i || memcmp(first->X + 3 * i, first->X + 3 * parent[i], 24);
    chained += i >= 45 && parent[i] >= 45;
  }
  tap_ok(wrong == 0, "copies are behind the nodes that they part from, at their place");
  tap_ok(chained > 0, "%d of them part from copies", chained);
  tap_require(eb_state_create(scene, &state), "a state");
  tap_require(eb_scene_advance(scene, state, &changed), "the first cut");
  tap_ok(scene->mesh->node_count == 54 && scene->script.cuts_made == 1, "the first cut is made");
  tap_require(eb_scene_final_mesh(scene, &last, &own), "the final mesh");
  tap_ok(eb_mesh_hash(first) == eb_mesh_hash(last), "the final mesh is the same after a cut");
  eb_mesh_destroy(last);
  free(own);
  state->time = 7;
  tap_require(eb_scene_advance(scene, state, &changed), "all cuts");
  tap_ok(scene->script.cuts_made == 3 && eb_mesh_hash(scene->mesh) == eb_mesh_hash(first),
         "and is the scene's mesh in the end");
  state->node_count--;
  scene->script.cuts_made = 2;
  tap_fails(eb_scene_advance(scene, state, &changed), EB_ERR_INVALID, "does not fit",
            "a state of another size");
  free(parent);
  eb_mesh_destroy(first);
  eb_state_destroy(state);
  eb_scene_destroy(scene);
}

/* ---- times ----------------------------------------------------------------------------------- */

static void test_times(void) {
  set_cut(0, 0.3, 0, 0.5, INFINITY);
  set_cut(1, 0.35, 0, 0.5, INFINITY); /* parts nothing any more */
  eb_scene_ops ops = cut_block();
  run r = start(&ops, "dt=0.1", "semi-implicit", "");
  go_on(&r, 3);
  tap_ok(r.cuts == 0 && r.scene->script.cuts_made == 0, "steps that start earlier are not cut");
  r.state->time = 0.3 - 1e-15;
  go_on(&r, 1);
  tap_ok(r.cuts == 1 && r.scene->script.cuts_made == 1, "the step that starts at its time is");
  go_on(&r, 2);
  tap_ok(r.cuts == 1 && r.scene->script.cuts_made == 2, "a cut that parts nothing changes nothing");
  finish(&r);
}

/* ---- what the scene says of itself ----------------------------------------------------------- */

static uint64_t hash_of(const eb_scene_ops *ops) {
  eb_scene *scene = make_scene(ops, "");
  uint64_t hash = scene->hash;
  eb_scene_destroy(scene);
  return hash;
}

static double half(const eb_scene *scene, double t) {
  (void)scene, (void)t;
  return 0.5;
}

static void test_hash(void) {
  eb_scene_ops plain = eb_block_scene, ops = cut_block(), active = eb_block_scene;
  active.activation = half;
  script.count = 0;
  uint64_t none = hash_of(&plain);
  tap_ok(hash_of(&ops) == none, "no cuts: the hash of the scene without");
  tap_ok(hash_of(&active) != none, "activation is in the hash");
  uint64_t seen[4];
  for (int i = 0; i < 4; i++) {
    set_cut(0, i == 1 ? 0.2 : 0.1, 0, i == 2 ? 0.4 : 0.5, i == 3 ? 0.7 : INFINITY);
    seen[i] = hash_of(&ops);
  }
  bool differ = seen[0] != none;
  for (int i = 1; i < 4; i++) differ = differ && seen[i] != seen[0];
  tap_ok(differ, "time, place and radius of a cut are in the hash");
  set_cut(0, 0.1, 0, 0.5, INFINITY);
  tap_ok(hash_of(&ops) == seen[0], "equal cuts have equal hashes");
}

static void test_needs(void) {
  eb_scene_ops ops = cut_block();
  eb_solver *solver;
  ops.needs = EB_CAP_CUTTING;
  script.count = 0;
  eb_scene *scene = make_scene(&ops, "");
  tap_ok(!(eb_scene_needs(scene) & EB_CAP_CUTTING), "without cuts no solver needs to follow them");
  eb_scene_destroy(scene);
  set_cut(0, 0, 0, 0.5, INFINITY);
  scene = make_scene(&ops, "material=corotational");
  tap_ok(eb_scene_needs(scene) & EB_CAP_CUTTING, "with cuts it does");
  tap_fails(eb_solver_create(eb_solver_find("warp-cholesky"), "", scene, 1, 1, &solver),
            EB_ERR_UNSUPPORTED, "lacks cutting", "a solver that does not is refused");
  eb_scene_destroy(scene);
}

static void test_bad_scripts(void) {
  eb_scene_ops ops = cut_block();
  set_cut(0, 0, 0, 0.5, INFINITY);
  script.count = -1;
  tap_fails(try_scene(&ops, ""), EB_ERR_LIMIT, "-1 cuts", "a negative number of cuts");
  script.count = EB_MAX_CUTS + 1;
  tap_fails(try_scene(&ops, ""), EB_ERR_LIMIT, "at most 8", "too many cuts");
  set_cut(0, 0.2, 0, 0.5, INFINITY);
  set_cut(1, 0.1, 0, 0.5, INFINITY);
  tap_fails(try_scene(&ops, ""), EB_ERR_INVALID, "0.1 s is scripted behind", "falling times");
  set_cut(0, 0.2, 0, 0.5, -1);
  tap_fails(try_scene(&ops, ""), EB_ERR_INVALID, "radius -1", "a cut that is none");
}

/* ---- activation ------------------------------------------------------------------------------ */

static double rising(const eb_scene *scene, double t) {
  (void)scene;
  return t < 0.5 ? t : 2;
}

static void test_activation(void) {
  eb_scene_ops ops = cut_block();
  ops.activation = rising;
  set_cut(0, 0, 0, 0.5, INFINITY);
  eb_scene *scene = make_scene(&ops, "fibre=fung,initial=stretched,dt=0.1");
  eb_state *state;
  eb_elasticity *wanted;
  eb_material material = scene->materials[0];
  bool changed;
  tap_require(eb_state_create(scene, &state), "a state");
  for (int s = 0; s < 3; s++) {
    tap_require(eb_scene_advance(scene, state, &changed), "advance");
    state->time += 0.1;
    material.activation = state->time;
    tap_require(eb_elasticity_create(scene->mesh, &material, &wanted), "elasticity");
    double energy = eb_elasticity_energy(wanted, state->x);
    tap_near(eb_elasticity_energy(scene->elasticity, state->x), energy, 1e-14 * energy,
             "fibres have the activation of the end of the step");
    tap_ok(scene->materials[0].activation == state->time, "and so do the materials");
    eb_elasticity_destroy(wanted);
  }
  state->time = 0.6;
  tap_fails(eb_scene_advance(scene, state, &changed), EB_ERR_INVALID, "0 to 1",
            "an activation out of range");
  eb_state_destroy(state);
  eb_scene_destroy(scene);
}

/* ---- colliders and bodies -------------------------------------------------------------------- */

static bool implicit[2];

static eb_error set_up_colliders(eb_scene *scene) {
  EB_TRY(eb_block_scene.setup(scene));
  for (int c = 0; c < 2; c++)
    scene->contacts.colliders[scene->contacts.collider_count++] =
        (eb_collider){.kind = EB_PLANE,
                      .origin = {0, 0, 0.01 * (c + 1)},
                      .axis = {0, 0, 1},
                      .stiffness = 1e5,
                      .implicit = implicit[c]};
  return EB_OK;
}

static double pushed(const eb_scene *scene) {
  double *f = malloc(24 * (size_t)scene->mesh->node_count), sum = 0;
  eb_scene_force(scene, 0, scene->x0, scene->v0, f);
  for (int32_t k = 0; k < 3 * scene->mesh->node_count; k++) sum += f[k];
  free(f);
  return sum;
}

static void test_implicit_colliders(void) {
  eb_scene_ops ops = eb_block_scene;
  ops.setup = set_up_colliders;
  double force[4];
  uint64_t hash[4];
  for (int i = 0; i < 4; i++) {
    implicit[0] = i & 1;
    implicit[1] = i & 2;
    eb_scene *scene = make_scene(&ops, "");
    uint32_t both = EB_CAP_COLLIDERS | EB_CAP_IMPLICIT_PENALTY;
    uint32_t wanted = i == 0 ? EB_CAP_COLLIDERS : i == 3 ? EB_CAP_IMPLICIT_PENALTY : both;
    tap_ok((eb_scene_needs(scene) & both) == wanted, "colliders %d: needs", i);
    force[i] = pushed(scene);
    hash[i] = scene->hash;
    eb_scene_destroy(scene);
  }
  tap_ok(force[3] == 0 && force[1] > 0 && force[2] > 0, "implicit colliders are not in f_ext");
  tap_near(force[1] + force[2], force[0], 1e-12 * force[0], "explicit ones are");
  tap_ok(hash[0] != hash[1] && hash[1] != hash[2] && hash[2] != hash[3], "the hash tells");
}

static eb_error set_up_bodies(eb_scene *scene) {
  EB_TRY(eb_block_scene.setup(scene));
  scene->contacts.bodies_collide = true;
  return EB_OK;
}

/* Halves that are pushed into each other are two bodies once they are cut. */
static void test_bodies(void) {
  eb_scene_ops ops = cut_block();
  ops.setup = set_up_bodies;
  set_cut(0, 0, 0, 0.5, INFINITY);
  eb_scene *scene = make_scene(&ops, "nx=4,ny=2,nz=2");
  eb_state *state;
  bool changed;
  int32_t part[100];
  tap_require(eb_state_create(scene, &state), "a state");
  tap_require(eb_scene_advance(scene, state, &changed), "the cut");
  tap_ok(eb_mesh_components(scene->mesh, part) == 2, "a block in two");
  double *f = malloc(24 * (size_t)state->node_count), push[2] = {0};
  for (int32_t i = 0; i < state->node_count; i++) state->x[3 * i] += part[i] ? -0.02 : 0.02;
  eb_scene_force(scene, 0, state->x, state->v, f);
  for (int32_t i = 0; i < state->node_count; i++) push[part[i]] += f[3 * i];
  tap_ok(push[0] < 0 && push[1] > 0, "its halves push each other apart (%g and %g N)", push[0],
         push[1]);
  free(f);
  eb_state_destroy(state);
  eb_scene_destroy(scene);
}

/* ---- rigid bodies ---------------------------------------------------------------------------- */

static struct {
  double start, pivot_x;
  int32_t node; /* that rides on the body */
} rigid;

static eb_error set_up_rigid(eb_scene *scene) {
  eb_rigid_body bodies[2] = {{.parent = -1,
                              .axis = {0, 0, 1},
                              .pivot = {rigid.pivot_x, 0, 0},
                              .mass = 1,
                              .inertia = {1, 1, 1},
                              .lower = -INFINITY,
                              .upper = INFINITY,
                              .start = rigid.start}};
  bodies[1] = bodies[0];
  bodies[1].parent = 0;
  bodies[1].start = 0.25;
  EB_TRY(eb_block_scene.setup(scene));
  EB_TRY(eb_articulation_create(2, bodies, scene->gravity, &scene->rigid.articulation));
  return eb_articulation_attach(scene->rigid.articulation, rigid.node, 0, scene->mesh->X);
}

static void test_joints(void) {
  eb_scene_ops ops = cut_block();
  ops.setup = set_up_rigid;
  script.count = 0;
  rigid.start = 0.5;
  eb_scene *scene = make_scene(&ops, "");
  eb_state *state, *other;
  tap_ok(eb_scene_needs(scene) & EB_CAP_ARTICULATION, "rigid bodies are a need");
  tap_require(eb_state_create(scene, &state), "a state");
  tap_require(eb_state_create(scene, &other), "a state");
  tap_ok(state->joint_count == 2 && state->q[0] == 0.5 && state->q[1] == 0.25 && state->u[0] == 0 &&
             state->u[1] == 0,
         "joints start at their angles, at rest");
  tap_ok(eb_state_hash(state) == eb_state_hash(other), "equal states have equal hashes");
  other->u[1] = 1e-300;
  tap_ok(eb_state_hash(state) != eb_state_hash(other), "joints are in the hash of a state");
  uint64_t hash = scene->hash;
  eb_state_destroy(other);
  eb_state_destroy(state);
  eb_scene_destroy(scene);
  rigid.pivot_x = 1e-9;
  tap_ok(hash_of(&ops) != hash, "bodies are in the hash of a scene");
  rigid.pivot_x = 0;
  tap_ok(hash_of(&ops) == hash, "equal bodies have equal hashes");
}

static void test_bad_riders(void) {
  eb_scene_ops ops = cut_block();
  ops.setup = set_up_rigid;
  script.count = 0;
  rigid.node = 45;
  tap_fails(try_scene(&ops, "nx=4,ny=2,nz=2"), EB_ERR_INVALID, "node 45 rides",
            "a rider that is no node");
  set_cut(0, 0, 0, 0.5, INFINITY);
  rigid.node = 0;
  tap_succeeds(try_scene(&ops, "nx=4,ny=2,nz=2"), "a cut beside the riders");
  rigid.node = 2;
  tap_fails(try_scene(&ops, "nx=4,ny=2,nz=2"), EB_ERR_UNSUPPORTED, "parts node 2",
            "a cut through a rider");
  rigid.node = 0;
}

/* ---- solvers that are built again ------------------------------------------------------------ */

static int creates, destroys, rebuilds, fail_at;

static eb_error count_create(eb_solver *solver, const eb_scene *scene) {
  (void)scene;
  char *data = malloc(8);
  solver->data = data;
  if (++creates == fail_at) {
    free(data); /* and leaves the pointer, as a solver may */
    return EB_ERROR(EB_ERR_LIBRARY, "no set-up this time");
  }
  eb_log_begin(solver->setup_log, EB_PHASE_ORDER);
  eb_log_count(solver->setup_log, EB_COUNT_FLOPS, 3);
  eb_log_memory(solver->setup_log, EB_MEMORY_FACTOR, 100);
  eb_log_end(solver->setup_log, EB_PHASE_ORDER);
  return EB_OK;
}

static void count_destroy(eb_solver *solver) {
  free(solver->data);
  destroys++;
}

static eb_error count_rebuild(eb_solver *solver, const eb_state *state, eb_step_log *log) {
  (void)solver, (void)state, (void)log;
  return ++rebuilds == fail_at ? EB_ERROR(EB_ERR_LIBRARY, "no set-up this time") : EB_OK;
}

static void test_rebuild(void) {
  eb_solver_ops ops = {.name = "counting",
                       .capabilities = UINT32_MAX,
                       .create = count_create,
                       .destroy = count_destroy};
  eb_scene *scene = make_scene(&eb_block_scene, "");
  eb_solver *solver;
  eb_step_log *log;
  tap_require(eb_step_log_create(0, &log), "a log");
  for (int own = 0; own < 2; own++) {
    creates = destroys = rebuilds = fail_at = 0;
    ops.rebuild = own ? count_rebuild : NULL;
    eb_step_log_reset(log);
    tap_require(eb_solver_create(&ops, "", scene, 1, 1, &solver), "create");
    tap_require(eb_solver_rebuild(solver, NULL, log), "rebuild");
    tap_require(eb_solver_rebuild(solver, NULL, log), "rebuild");
    tap_ok(creates == (own ? 1 : 3) && destroys == (own ? 0 : 2) && rebuilds == (own ? 2 : 0),
           own ? "a solver's own rebuild is called" : "without one it is destroyed and created");
    tap_ok(log->counters[EB_COUNT_REBUILDS] == 2, "and counted");
    tap_ok(log->counters[EB_COUNT_FLOPS] == (own ? 0 : 6), "with the counters of the set-up");
    tap_ok(solver->setup_log->memory_bytes[EB_MEMORY_FACTOR] == 100, "memory is that of the last");
    tap_succeeds(eb_solver_rebuild(solver, NULL, NULL), "a log is not needed");
    fail_at = own ? 4 : 5;
    tap_fails(eb_solver_rebuild(solver, NULL, log), EB_ERR_LIBRARY, "this time", "a failure");
    eb_solver_destroy(solver);
    tap_ok(destroys == (own ? 1 : 4), "after which only what is there is destroyed");
  }
  eb_step_log_destroy(log);
  eb_scene_destroy(scene);
}

int main(void) {
  test_continuation("semi-implicit", "", "stable-neo-hookean");
  test_continuation("newton", "", "stable-neo-hookean");
  test_continuation("newton", "", "neo-hookean,element=hexahedra");
  test_continuation("corotational", "linear=cholesky", "corotational");
  test_conservation();
  test_fall();
  test_audit();
  test_boundary();
  test_final_mesh();
  test_times();
  test_hash();
  test_needs();
  test_bad_scripts();
  test_activation();
  test_implicit_colliders();
  test_bodies();
  test_joints();
  test_bad_riders();
  test_rebuild();
  return tap_done();
}
