/* Vertex block descent: agreement with Newton's method and with the harness' audit where it
 * converges, potentials that fall, colours, starts, acceleration, damping, contact, outcomes. */
#include "harness/audit/audit.h"
#include "problems/base/vector3.h"
#include "problems/contact/implicit_penalty.h"
#include "solvers/common/incremental_potential.h"
#include "solvers/vertex_block/blocks.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"

/* ---- colours --------------------------------------------------------------------------------- */

/* Every node once; no two of a colour in one element; every element of every node in one round of
 * its lane, with the law of its region. */
static void rounds_visit_everything(const char *parameters) {
  owned(fixture) f = fixture_open(parameters);
  const eb_mesh *mesh = f.scene->mesh;
  eb_vertex_blocks b;
  tap_require(eb_vertex_blocks_create(f.scene, &b), "blocks");
  owned(int32_t) *colour = calloc((size_t)b.node_count, sizeof *colour);
  owned(int32_t) *visits = calloc((size_t)b.element_count * (size_t)b.nodes, sizeof *visits);
  bool once = true, apart = true, all = true, own = true;
  for (int32_t c = 0; c < b.colour_count; c++)
    for (int32_t g = b.colour_start[c]; g < b.colour_start[c + 1]; g++)
      for (int l = 0; l < EB_LANES; l++) {
        int32_t node = b.node[EB_LANES * g + l];
        if (l < b.lanes[g]) {
          once &= colour[node] == 0;
          colour[node] = c + 1;
        }
        for (int32_t r = b.round_start[g]; r < b.round_start[g + 1]; r++) {
          int32_t visit = b.visit[EB_LANES * r + l], element = visit / b.nodes;
          if (element == b.element_count) continue;
          visits[visit]++;
          own &= mesh->elements[visit] == node && l < b.lanes[g];
          own &= b.law[r] == mesh->region[element];
        }
      }
  for (int32_t i = 0; i < b.node_count; i++) once &= colour[i] > 0;
  for (int32_t e = 0; e < b.element_count; e++)
    for (int k = 0; k < b.nodes; k++) {
      all &= visits[e * b.nodes + k] == 1;
      for (int m = 0; m < k; m++)
        apart &= colour[mesh->elements[e * b.nodes + k]] != colour[mesh->elements[e * b.nodes + m]];
    }
  tap_ok(once, "%s: every node has one colour and one lane", parameters);
  tap_ok(apart, "%s: no two nodes of an element have one colour", parameters);
  tap_ok(all && own, "%s: every node visits each of its elements once", parameters);
  tap_ok(eb_vertex_blocks_bytes(&b) > 0, "and says how many bytes that takes");
  eb_vertex_blocks_clear(&b);
}

/* ---- where it converges ---------------------------------------------------------------------- */

static double apart(const char *parameters, const char *options, int64_t steps, eb_reason *reason) {
  owned(fixture) own = fixture_open(parameters), newton = fixture_open(parameters);
  *reason = fixture_step(&own, "vbd", options, steps);
  fixture_step(&newton, "newton", "rtol=1e-11", steps);
  return eb_block_distance(own.state, newton.state);
}

/* Judges blocks of every element and material; `block` is the start of their parameters. */
typedef void judge(const char *block, const char *name);

static void on_every_block(judge *judged) {
  static const char *const elements[] = {"tets6", "hexahedra", "hexahedra-one-point",
                                         "hexahedra-staggered"};
  for (int e = 0; e < 4; e++)
    for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++) {
      const char *material = eb_material_describe((eb_material_kind)kind)->name;
      char block[200], name[100];
      snprintf(block, sizeof block, "nx=3,element=%s,material=%s", elements[e], material);
      snprintf(name, sizeof name, "%s, %s", elements[e], material);
      judged(block, name);
    }
}

static void converges_to_newton(const char *block, const char *name) {
  char parameters[300];
  eb_reason reason;
  snprintf(parameters, sizeof parameters, "%s,gz=-20,support=x0,initial=spin,dt=0.02,jitter=0.1",
           block);
  /* Forces to 1e-11 of some 1e3 N over m/h^2 of 1e4 N/m, with room for softer modes. */
  double far = apart(parameters, "iterations=0,rtol=1e-11", 2, &reason);
  tap_ok(reason > 0 && far <= 1e-8, "%s: converges to newton (%s, %.1e m)", name,
         eb_reason_name(reason), far);
}

/* Scripted nodes that turn one end, and fibres. */
static void scripts_and_fibres(void) {
  static const char *const variants[] = {
      "support=ends,motion=twist,rate=2,material=stable-neo-hookean",
      "support=x0,gz=-30,fibre=astvk,material=neo-hookean",
      "support=x0,gz=-30,fibre=fung,material=corotated",
      "support=x0,gz=-30,fibre=fung,material=corotational",
      "support=x0,gz=-30,nu=0.45,E=2e4,material=projective"};
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
    char parameters[200];
    eb_reason reason;
    snprintf(parameters, sizeof parameters, "nx=5,dt=0.02,%s", variants[i]);
    double far = apart(parameters, "iterations=0,rtol=1e-11", 3, &reason);
    tap_ok(reason > 0 && far <= 1e-8, "%s: converges to newton (%.1e m)", variants[i], far);
  }
}

static eb_error with_floor(eb_scene *scene) {
  EB_TRY(eb_block_scene.setup(scene));
  scene->contacts.colliders[scene->contacts.collider_count++] =
      (eb_collider){.kind = EB_SPHERE,
                    .origin = {0.5, 0.2, -1.02},
                    .radius = 1,
                    .implicit = true,
                    .stiffness = 1e7};
  return EB_OK;
}

/* A block that falls on a round obstacle: newton knows none, the audit does. */
static void audit_confirms_contact(void) {
  eb_scene_ops ops = eb_block_scene;
  owned(eb_scene) *scene = NULL;
  eb_audit *audit;
  double worst = 0, pushes = 0;
  ops.setup = with_floor;
  tap_require(eb_scene_create(&ops, "nx=4,gz=-9.8,dt=0.01,E=1e5", NULL, "", &scene), "a scene");
  owned(eb_state) *state = new_state(scene), *before = new_state(scene);
  owned(eb_step_log) *log = new_log(4096);
  tap_require(eb_audit_create(scene, &audit), "an audit");
  bool converged = true;
  for (int step = 0; step < 12; step++) {
    eb_audit_row row = {0};
    eb_reason reason;
    eb_state_copy(state, before);
    tap_require(eb_block_advance(scene, eb_solver_find("vbd"), "iterations=0,rtol=1e-10", 1, 1, log,
                                 state, &reason),
                "a step");
    converged &= reason > 0;
    tap_require(eb_audit_step(audit, before, state, scene->dt, log->equation, &row), "its audit");
    worst = fmax(worst, row.implicit_euler.relative);
    for (int32_t i = 0; i < state->node_count; i++) {
      double n[3], w[3];
      pushes = fmax(pushes, -eb_collider_distance(scene->contacts.colliders, state->time,
                                                  state->x + 3 * (size_t)i, n, w));
    }
  }
  tap_ok(converged, "contact: converges");
  /* As newton's: the scales of audit and solver differ by less than ten. */
  tap_below(worst, 1e-8, "contact: the audited residual");
  tap_ok(pushes > 1e-4, "contact: there was some (%.1e m deep)", pushes);
  eb_audit_destroy(audit);
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static double potential_of(const fixture *f, const double *force) {
  const double *mass = eb_elasticity_mass(f->scene->elasticity), h = f->scene->dt;
  double W = eb_elasticity_energy(f->scene->elasticity, f->state->x);
  for (int64_t k = 0; k < 3 * (int64_t)f->state->node_count; k++) {
    double off = f->state->x[k] - f->scene->x0[k] - h * f->scene->v0[k];
    W += 0.5 * mass[k / 3] * off * off / (h * h) - force[k] * (f->state->x[k] - f->scene->x0[k]);
  }
  return W;
}

/* W after 0, 1, 2, ... sweeps of the first step. */
static bool potential_falls(const char *parameters, const char *more, double *fall) {
  enum { SWEEPS = 25 };
  owned(fixture) first = fixture_open(parameters);
  owned(double) *force = calloc(3 * (size_t)first.state->node_count, sizeof *force);
  double before = INFINITY, start = 0;
  bool falls = true;
  eb_scene_force(first.scene, 0, first.scene->x0, first.scene->v0, force);
  for (int n = 1; n <= SWEEPS; n++) {
    char options[80];
    owned(fixture) f = fixture_open(parameters);
    snprintf(options, sizeof options, "iterations=%d%s", n, more);
    fixture_step(&f, "vbd", options, 1);
    double W = potential_of(&f, force);
    /* Rounding of a sum of energies. */
    falls &= W <= before + 1e-12 * fabs(W);
    if (n == 1) start = W;
    before = W;
  }
  *fall = start - before;
  return falls;
}

static void the_potential_falls(const char *block, const char *name) {
  char parameters[300];
  double fall;
  snprintf(parameters, sizeof parameters, "%s,gz=-9.8,support=x0,initial=random,speed=2,dt=0.02",
           block);
  bool falls = potential_falls(parameters, "", &fall);
  tap_ok(falls && fall > 0, "%s: W falls from sweep to sweep", name);
  /* Nodes thrown about by twice the length of an edge: elements are turned inside out. */
  snprintf(parameters, sizeof parameters, "%s,gz=-9.8,support=x0,initial=random,speed=20,dt=0.02",
           block);
  falls = potential_falls(parameters, ",line_search=true,start=inertial", &fall);
  tap_ok(falls && fall > 0, "%s: and always with line_search", name);
}

static int64_t sweeps_to_end(const char *parameters, const char *options) {
  owned(fixture) f = fixture_open(parameters);
  fixture_step(&f, "vbd", options, 1);
  int64_t sweeps = f.reason > 0 ? f.log->iterations : INT64_MAX;
  tap_ok(f.log->residual_count == f.log->iterations + 1, "one residual a sweep, and the first");
  return sweeps;
}

static void acceleration_saves_sweeps(void) {
  const char *parameters = "nx=12,E=1e6,gz=-9.8,support=x0,dt=0.02";
  int64_t plain = sweeps_to_end(parameters, "iterations=0,rtol=1e-7");
  int64_t fast = sweeps_to_end(parameters, "iterations=0,rtol=1e-7,rho=0.95");
  tap_ok(2 * fast < plain, "rho=0.95 takes less than half of the sweeps (%d, %d)", (int)fast,
         (int)plain);
}

static void sweeps_are_counted(void) {
  owned(fixture) f = fixture_open("nx=3,support=x0,gz=-9.8");
  tap_ok(fixture_step(&f, "vbd", "iterations=7", 2) == EB_CONVERGED_ITS,
         "a fixed number of sweeps is an outcome");
  tap_ok(f.log->iterations == 7 && f.log->equation == EB_EQUATION_IMPLICIT_EULER,
         "they are logged, and the equation");
  tap_ok(fixture_step(&f, "vbd", "iterations=0,max_iterations=3", 1) == EB_DIVERGED_MAX_IT,
         "too few to a tolerance are another one");
}

/* ---- starts ---------------------------------------------------------------------------------- */

/* In free fall xt + h^2 g is the answer; where a body hangs, x0 is. One sweep tells. */
static void starts_adapt(void) {
  double far[2];
  eb_reason reason;
  const char *falling = "nx=3,gz=-9.8,dt=0.02,E=1e5,nu=0.3";
  far[0] = apart(falling, "iterations=1,start=adaptive", 5, &reason);
  far[1] = apart(falling, "iterations=1,start=last", 5, &reason);
  tap_below(far[0], 1e-13, "adaptive: free fall is exact, though sweeps are few");
  tap_ok(far[1] > 1e-3, "start=last: it is not (%.1e m)", far[1]);

  owned(fixture) f = fixture_open("nx=6,gz=-9.8,dt=0.02,E=1e6,support=x0");
  double still[2];
  fixture_step(&f, "newton", "static=true,rtol=1e-12", 1);
  owned(eb_state) *hanging = new_state(f.scene);
  eb_state_copy(f.state, hanging);
  for (int k = 0; k < 2; k++) {
    eb_state_copy(hanging, f.state);
    fixture_step(&f, "vbd", k ? "iterations=3,start=adaptive" : "iterations=3,start=last", 4);
    still[k] = eb_block_distance(f.state, hanging);
  }
  tap_below(still[0], 1e-9, "start=last: a body at rest stays there");
  tap_below(still[1], 1e-9, "adaptive: and so it does");
}

/* A solver that has come from elsewhere starts a step as a fresh one does. */
static void foreign_states(void) {
  const char *parameters = "nx=3,support=x0,gz=-9.8";
  owned(fixture) f = fixture_open(parameters), g = fixture_open(parameters);
  owned(eb_solver) *solver = NULL;
  eb_reason reason;
  tap_require(eb_solver_create(eb_solver_find("vbd"), "", f.scene, 1, 1, &solver), "a solver");
  for (int k = 0; k < 3; k++)
    tap_require(solver->ops->step(solver, f.state, f.scene->dt, f.log, &reason), "a step");
  eb_state_copy(g.state, f.state);
  eb_step_log_reset(f.log);
  tap_require(solver->ops->step(solver, f.state, f.scene->dt, f.log, &reason), "a step");
  fixture_step(&g, "vbd", "", 1);
  tap_ok(eb_state_hash(f.state) == eb_state_hash(g.state), "a state from elsewhere is new");
}

/* ---- damping --------------------------------------------------------------------------------- */

static void damping_damps(void) {
  const char *parameters = "nx=4,support=x0,initial=stretched,dt=0.01";
  owned(fixture) free_one = fixture_open(parameters), damped = fixture_open(parameters);
  fixture_step(&free_one, "vbd", "iterations=60", 30);
  fixture_step(&damped, "vbd", "iterations=60,kD=1e-2", 30);
  tap_ok(fixture_energy(&damped) < 0.5 * fixture_energy(&free_one),
         "kD takes energy (%g J, %g J without)", fixture_energy(&damped),
         fixture_energy(&free_one));
  owned(fixture) f = fixture_open(parameters);
  eb_solver *solver = NULL;
  tap_fails(eb_solver_create(eb_solver_find("vbd"), "kD=1e-2,iterations=0", f.scene, 1, 1, &solver),
            EB_ERR_USAGE, "give iterations", "kD and a tolerance");
  tap_fails(
      eb_solver_create(eb_solver_find("vbd"), "kD=1e-2,line_search=true", f.scene, 1, 1, &solver),
      EB_ERR_USAGE, "line_search", "kD and a line search");
}

/* ---- determinism ----------------------------------------------------------------------------- */

static void threads_do_not_change_bits(const char *element) {
  char parameters[120];
  snprintf(parameters, sizeof parameters, "nx=7,ny=6,nz=5,support=x0,gz=-9.8,jitter=0.1,element=%s",
           element);
  uint64_t hash[2];
  for (int k = 0; k < 2; k++) {
    owned(fixture) f = fixture_open(parameters);
    tap_require(eb_block_advance(f.scene, eb_solver_find("vbd"), "rho=0.9", k ? 3 : 1, 3, f.log,
                                 f.state, &f.reason),
                "three steps");
    hash[k] = eb_state_hash(f.state);
  }
  tap_ok(hash[0] == hash[1], "%s: one thread and three, the same bits", element);
}

int main(void) {
  rounds_visit_everything("nx=5,ny=3,nz=2,jitter=0.2");
  rounds_visit_everything("nx=4,ny=4,nz=3,element=hexahedra");
  rounds_visit_everything("nx=4,ny=4,nz=3,element=hexahedra-one-point");
  rounds_visit_everything("nx=4,ny=2,nz=3,element=tets5");
  rounds_visit_everything("nx=1,ny=1,nz=1,element=hexahedra");
  on_every_block(converges_to_newton);
  scripts_and_fibres();
  audit_confirms_contact();
  on_every_block(the_potential_falls);
  acceleration_saves_sweeps();
  sweeps_are_counted();
  starts_adapt();
  foreign_states();
  damping_damps();
  threads_do_not_change_bits("tets6");
  threads_do_not_change_bits("hexahedra");
  threads_do_not_change_bits("hexahedra-one-point");
  nan_is_an_outcome("vbd", "stable-neo-hookean");
  nan_is_an_outcome("vbd", "projective");
  extremes_are_outcomes("vbd", "stable-neo-hookean");
  extremes_are_outcomes("vbd", "neo-hookean");
  extremes_are_outcomes("vbd", "projective");
  return tap_done();
}
