/* The audit on scenes of more than solids at rest: planar triangles, activated fibres, nodes that
 * ride on jointed bodies, cuts. */
#include "harness/audit/audit.h"
#include "problems/base/memory.h"
#include "tests/support/solver_fixture.h"
#include "tests/support/random.h"

typedef struct trial {
  eb_scene *scene;
  eb_audit *audit;
  eb_state *before, *after;
  eb_scene_ops ops; /* the scene's, to be changed */
} trial;

static void open_trial(trial *t) {
  tap_require(eb_audit_create(t->scene, &t->audit), "an audit");
  tap_require(eb_state_create(t->scene, &t->before), "a state");
  tap_require(eb_state_create(t->scene, &t->after), "another state");
  t->after->time = t->before->time + t->scene->dt;
}

static void close_trial(trial *t) {
  eb_audit_destroy(t->audit);
  eb_state_destroy(t->before);
  eb_state_destroy(t->after);
  eb_scene_destroy(t->scene);
}

static eb_audit_row judge(trial *t, eb_equation equation) {
  eb_audit_row row;
  tap_require(eb_audit_step(t->audit, t->before, t->after, t->scene->dt, equation, &row), "audit");
  return row;
}

/* Moves `after` at random, in the plane where the mesh is planar. */
static void shake(trial *t, double amount) {
  random_state random = random_seed(9);
  for (int k = 0; k < 3 * t->after->node_count; k++) {
    if (k % 3 >= eb_block_axes(t->scene->mesh)) continue;
    t->before->v[k] = random_uniform(&random, -0.5, 0.5);
    t->after->x[k] += random_uniform(&random, -amount, amount);
    t->after->v[k] = (t->after->x[k] - t->before->x[k]) / t->scene->dt;
  }
}

/* The same residual over the kernels that solvers use. */
static double fast_residual(const trial *t) {
  const eb_scene *scene = t->scene;
  double h = scene->dt, sum = 0, *g, *f, *target;
  uint8_t *fixed;
  int n = scene->mesh->node_count;
  tap_require(EB_NEW(g, 3 * n), "gradient");
  tap_require(EB_NEW(f, 3 * n), "force");
  tap_require(EB_NEW(target, 3 * n), "target");
  tap_require(EB_NEW(fixed, n), "fixed");
  eb_elasticity_gradient(scene->elasticity, t->after->x, g);
  eb_scene_force(scene, t->before->time, t->before->x, t->before->v, f);
  eb_scene_boundary(scene, t->after->time, fixed, target);
  for (int k = 0; k < 3 * n; k++) {
    double off = t->after->x[k] - t->before->x[k] - h * t->before->v[k];
    double r = eb_elasticity_mass(scene->elasticity)[k / 3] * off / (h * h) + g[k] - f[k];
    if (!fixed[k / 3]) sum += r * r;
  }
  free(g);
  free(f);
  free(target);
  free(fixed);
  return sqrt(sum);
}

static void remake_elasticity(eb_scene *scene) {
  eb_elasticity_destroy(scene->elasticity);
  tap_require(eb_elasticity_create(scene->mesh, scene->materials, &scene->elasticity),
              "elasticity");
}

/* Roundings of 1e-16 in sums of some hundred terms of one size. */
static const double ROUNDING = 1e-11;

static void test_triangles(void) {
  for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++) {
    char parameters[160];
    const char *name = eb_material_describe((eb_material_kind)kind)->name;
    snprintf(parameters, sizeof parameters,
             "nx=5,ny=3,element=triangles,fibre=fung,jitter=0.2,gy=-9.8,support=x0,material=%s",
             name);
    trial t = {0};
    tap_require(eb_block_create(&t.scene, "%s", parameters), parameters);
    t.scene->materials[0].thickness = 0.03;
    remake_elasticity(t.scene);
    open_trial(&t);
    shake(&t, 0.02);
    eb_audit_row row = judge(&t, EB_EQUATION_IMPLICIT_EULER);
    tap_near(row.implicit_euler.norm / fast_residual(&t), 1, ROUNDING, name);
    double energy = eb_elasticity_energy(t.scene->elasticity, t.after->x);
    tap_near(row.totals.elastic / energy, 1, ROUNDING, "and the elastic energy");
    tap_ok(row.joints.norm == 0 && row.totals.joint_kinetic == 0,
           "no joints, no residual of theirs");
    close_trial(&t);
  }
}

/* ---- activation ---- */

static double ramp(const eb_scene *scene, double t) {
  return 0.2 + t / (2 * scene->dt);
}

/* The scene's materials say 0.5, the script 0.7 at the end of the first step. */
static void test_activation(void) {
  trial t = {0};
  tap_require(eb_block_create(&t.scene, "nx=4,fibre=fung"), "a block with fibres");
  t.ops = *t.scene->ops;
  t.ops.activation = ramp;
  t.scene->ops = &t.ops;
  open_trial(&t);
  shake(&t, 0.02);
  eb_elasticity_activate(t.scene->elasticity, 0.7);
  double scripted = fast_residual(&t);
  eb_elasticity_activate(t.scene->elasticity, 0.5);
  double material = fast_residual(&t);
  eb_audit_row row = judge(&t, EB_EQUATION_IMPLICIT_EULER);
  tap_near(row.implicit_euler.norm / scripted, 1, ROUNDING,
           "activation: that of the script at the end of the step");
  tap_ok(fabs(material / scripted - 1) > 1e-3, "activation: which the residual sees");
  close_trial(&t);
}

/* ---- joints ---- */

/* A chain of two bones, from which the block's face x1 hangs (with every node of the block when
 * `all`). */
static void hang(eb_scene *scene, int bones, bool all) {
  eb_rigid_body bodies[2];
  for (int b = 0; b < bones; b++)
    bodies[b] = (eb_rigid_body){.parent = b - 1,
                                .pivot = {1 + 0.4 * b, 0.5, 0},
                                .axis = {0, 0, 1},
                                .mass = 3 + b,
                                .centre = {1.2 + 0.4 * b, 0.45, 0},
                                .inertia = {0.1, 0.1, 0.2, 0, 0, 0},
                                .lower = bones == 2 ? 0.3 : -INFINITY, /* q starts below it */
                                .upper = INFINITY,
                                .limit_stiffness = 40,
                                .start = 0.1 + b * 0.1,
                                .tip = {1.4 + 0.4 * b, 0.4, 0}};
  tap_require(eb_articulation_create(bones, bodies, scene->gravity, &scene->rigid.articulation),
              "bones");
  for (int i = 0; i < scene->mesh->node_count; i++)
    if (all || scene->mesh->X[3 * i] > 0.99)
      tap_require(
          eb_articulation_attach(scene->rigid.articulation, i, bones - 1, scene->mesh->X + 3 * i),
          "a rider");
}

static void carry(const eb_scene *scene, eb_state *state) {
  for (int k = 0; k < eb_articulation_attached(scene->rigid.articulation); k++) {
    int node = eb_articulation_node(scene->rigid.articulation, k);
    double J[3 * EB_MAX_JOINTS];
    eb_articulation_place(scene->rigid.articulation, state->q, k, state->x + 3 * node, J);
    for (int i = 0; i < 3; i++) {
      state->v[3 * node + i] = 0;
      for (int j = 0; j < state->joint_count; j++)
        state->v[3 * node + i] += J[state->joint_count * i + j] * state->u[j];
    }
  }
}

/* All the potential energy as a function of the angles. */
static double potential(const trial *t, eb_state *state) {
  double gravitational, limits, energy;
  static const double still[EB_MAX_JOINTS];
  carry(t->scene, state);
  eb_articulation_energy(t->scene->rigid.articulation, state->q, still, &energy, &gravitational,
                         &limits);
  energy = eb_elasticity_energy(t->scene->elasticity, state->x) + gravitational + limits;
  for (int k = 0; k < 3 * state->node_count; k++)
    energy -=
        eb_elasticity_mass(t->scene->elasticity)[k / 3] * t->scene->gravity[k % 3] * state->x[k];
  return energy;
}

/* In statics the joints' residual is the slope of the potential energy in the angles. */
static void test_static_joints(void) {
  const double d = 1e-5; /* central differences: 1e-10 of third derivatives */
  trial t = {0};
  double slope2 = 0;
  tap_require(eb_block_create(&t.scene, "nx=4,ny=2,element=triangles,gy=-9.8,support=x0"),
              "a block");
  hang(t.scene, 2, false);
  open_trial(&t);
  shake(&t, 0.01);
  for (int j = 0; j < 2; j++) {
    double at = t.after->q[j], energy[2];
    for (int side = 0; side < 2; side++) {
      t.after->q[j] = side ? at + d : at - d;
      energy[side] = potential(&t, t.after);
    }
    t.after->q[j] = at;
    slope2 += pow((energy[1] - energy[0]) / (2 * d), 2);
  }
  carry(t.scene, t.after);
  t.after->u[0] = 7; /* statics do not ask for it */
  eb_audit_row row = judge(&t, EB_EQUATION_STATIC);
  tap_near(row.joints.norm / sqrt(slope2), 1, 1e-7, "joints, static: the slope of the energy");
  tap_ok(row.joints.relative > 1e-3 && row.joints.relative <= 2,
         "joints, static: a random state is far from balance");
  const double kept = row.implicit_euler.norm;
  int rider = eb_articulation_node(t.scene->rigid.articulation, 0);
  t.after->u[0] = 0;
  t.before->v[3 * rider] = 100; /* inertia of a rider: nothing of the free nodes */
  double free_before = judge(&t, EB_EQUATION_IMPLICIT_EULER).implicit_euler.norm;
  t.before->v[3 * rider] = 0;
  tap_ok(free_before == judge(&t, EB_EQUATION_IMPLICIT_EULER).implicit_euler.norm && kept > 0,
         "joints: riders are not free nodes");
  close_trial(&t);
}

/* A block that rides whole on one bone is a pendulum of constant inertia: u' = torque / inertia. */
static void swing(const trial *t, double h, eb_state *state) {
  const double *mass = eb_elasticity_mass(t->scene->elasticity), *g = t->scene->gravity;
  for (int i = 0; i < 200; i++) {
    double torque, inertia, dq = h / 200, still = 0, mid = state->q[0] + 0.5 * dq * state->u[0];
    eb_articulation_mass(t->scene->rigid.articulation, &mid, &inertia);
    eb_articulation_force(t->scene->rigid.articulation, &mid, &still, &torque, NULL, NULL);
    for (int k = 0; k < eb_articulation_attached(t->scene->rigid.articulation); k++) {
      double p[3], J[3], m = mass[eb_articulation_node(t->scene->rigid.articulation, k)];
      eb_articulation_place(t->scene->rigid.articulation, &mid, k, p, J);
      inertia += m * (J[0] * J[0] + J[1] * J[1]);
      torque += m * (J[0] * g[0] + J[1] * g[1]);
    }
    state->u[0] += dq * torque / inertia;
    state->q[0] = mid + 0.5 * dq * state->u[0]; /* leapfrog */
  }
  state->time += h;
}

/* The true motion solves the equation of a step but for terms of first order in it. */
static void test_moving_joints(void) {
  double relative[2];
  for (int level = 0; level < 2; level++) {
    trial t = {0};
    tap_require(eb_block_create(&t.scene, "nx=4,ny=2,element=triangles,gy=-9.8,dt=%g",
                                0.002 / (1 << level)),
                "a block");
    hang(t.scene, 1, true);
    open_trial(&t);
    t.before->u[0] = 1.5;
    memcpy(t.after->q, t.before->q, sizeof *t.after->q);
    memcpy(t.after->u, t.before->u, sizeof *t.after->u);
    swing(&t, t.scene->dt, t.after);
    carry(t.scene, t.before);
    carry(t.scene, t.after);
    eb_audit_row row = judge(&t, EB_EQUATION_IMPLICIT_EULER);
    relative[level] = row.joints.relative;
    tap_near(row.implicit_euler.norm, 0, 0, "joints, moving: no node is free");
    double inertia, speed = t.after->u[0];
    eb_articulation_mass(t.scene->rigid.articulation, t.after->q, &inertia);
    tap_near(row.totals.joint_kinetic / (0.5 * inertia * speed * speed), 1, 1e-13,
             "joints: kinetic energy");
    double bodies[3] = {0}, spin[3] = {0}, nodes = 0;
    eb_articulation_momentum(t.scene->rigid.articulation, t.after->q, t.after->u, bodies, spin);
    for (int i = 0; i < t.after->node_count; i++)
      nodes += eb_elasticity_mass(t.scene->elasticity)[i] * t.after->v[3 * i + 1];
    tap_near(row.totals.momentum[1] / (nodes + bodies[1]), 1, 1e-12,
             "joints: momentum of mesh and bodies");
    double gravitational, limits;
    eb_articulation_energy(t.scene->rigid.articulation, t.after->q, t.after->u, &inertia,
                           &gravitational, &limits);
    tap_near(row.totals.joint_potential, gravitational + limits, 0, "joints: potential energy");
    close_trial(&t);
  }
  tap_below(relative[1], 0.02, "joints, moving: the true motion nearly solves a step");
  tap_near(relative[0] / relative[1], 2, 0.1,
           "joints, moving: and halving the step halves the rest");
}

/* The joints' residual of the last of `steps` steps of 0.02 s in all, over its terms. */
static double coupled_residual(int steps) {
  trial t = {0};
  eb_solver *solver;
  eb_step_log *log;
  eb_reason reason;
  char parameters[32];
  bool changed;
  snprintf(parameters, sizeof parameters, "dt=%g", 0.02 / steps);
  tap_require(eb_scene_create(eb_scene_find("conjac2020/muscle"), parameters, NULL, "", &t.scene),
              "the muscle");
  open_trial(&t);
  t.after->time = 0;
  tap_require(eb_solver_create(eb_solver_find("conjac"), "selection=all,beta=1,project=always",
                               t.scene, 1, 1, &solver),
              "conjac");
  tap_require(eb_step_log_create(0, &log), "a log");
  size_t bytes = 24 * (size_t)t.after->node_count, joints = 8 * (size_t)t.after->joint_count;
  for (int s = 0; s < steps; s++) {
    memcpy(t.before->x, t.after->x, bytes);
    memcpy(t.before->v, t.after->v, bytes);
    memcpy(t.before->q, t.after->q, joints);
    memcpy(t.before->u, t.after->u, joints);
    t.before->time = t.after->time;
    tap_require(eb_scene_advance(t.scene, t.after, &changed), "the script");
    tap_require(solver->ops->step(solver, t.after, t.scene->dt, log, &reason), "a step");
  }
  eb_audit_row row = judge(&t, EB_EQUATION_IMPLICIT_EULER);
  eb_step_log_destroy(log);
  eb_solver_destroy(solver);
  close_trial(&t);
  return row.joints.relative;
}

/* With all nodes dynamic a step solves the equations of nodes and joints linearized at its start:
 * what is left falls with the square of the step. */
static void test_coupled_steps(void) {
  double coarse = coupled_residual(40), fine = coupled_residual(80);
  tap_near(log2(coarse / fine), 2, 0.4,
           "joints: linearly implicit steps solve their equation to second order");
  tap_below(fine, 0.1, "joints: what is left is small");
}

/* ---- refusals ---- */

static void test_refusals(void) {
  trial t = {0};
  eb_audit_row row;
  bool changed;
  tap_require(eb_block_create(&t.scene, "nx=4"), "a block");
  open_trial(&t);
  t.after->joint_count = 1;
  tap_fails(eb_audit_step(t.audit, t.before, t.after, 1, EB_EQUATION_STATIC, &row), EB_ERR_INVALID,
            "wants states of 0 joints, not 0 and 1", "states with joints that the scene has not");
  t.after->joint_count = 0;
  t.scene->script.cut_count = 1;
  t.scene->script.cuts[0] =
      (eb_cut){.origin = {0.5, 0, 0}, .normal = {1, 0, 0}, .radius = INFINITY};
  tap_require(eb_scene_advance(t.scene, t.after, &changed), "a cut");
  tap_ok(changed, "the cut parts nodes");
  tap_fails(eb_audit_step(t.audit, t.after, t.after, 1, EB_EQUATION_STATIC, &row), EB_ERR_INVALID,
            "has been cut since", "an audit of the mesh before a cut");
  close_trial(&t);
}

int main(void) {
  test_triangles();
  test_activation();
  test_static_joints();
  test_moving_joints();
  test_coupled_steps();
  test_refusals();
  return tap_done();
}
