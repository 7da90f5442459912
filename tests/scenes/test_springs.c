/* Springs between nodes and places: derivatives, solvers against closed forms, against each other
 * and against the full space restricted to the basis, and what scenes and solvers refuse. */
#include "problems/springs.h"
#include "problems/base/vector3.h"
#include "solvers/subspace/basis.h"
#include "solvers/subspace/skinning.h"
#include "tests/support/audit_fixture.h"
#include "tests/support/stepping.h"

/* ---- scenes ---- */

/* A free block whose face x = 0 is pulled along (1, -1, 2) at 0.2 m/s and let go at t = 1 s, each
 * node by a stiffness of its own that grows, and whose last node has two springs. */
static const double pulled = 2e4, rate = 0.2, release = 1;

static eb_error pull_face(eb_scene *scene) {
  EB_TRY(eb_block_scene.setup(scene));
  const eb_node_set *face = eb_mesh_set(scene->mesh, "x0");
  for (int32_t k = 0; k < face->count; k++) EB_TRY(eb_scene_add_spring(scene, face->nodes[k]));
  EB_TRY(eb_scene_add_spring(scene, scene->mesh->node_count - 1));
  return eb_scene_add_spring(scene, scene->mesh->node_count - 1);
}

static void pull(const eb_scene *scene, double t, double *place, double *stiffness) {
  static const double along[3] = {1, -1, 2};
  for (int32_t s = 0; s < scene->script.spring_count; s++) {
    for (int d = 0; d < 3; d++) place[3 * s + d] += rate * t * along[d] * (1 + 0.1 * s);
    stiffness[s] = t < release ? pulled * (1 + 0.5 * t + 0.2 * s) : 0;
  }
}

/* Every node by a spring of k per mass, so that a rigid body moves as one. */
static const double per_mass = 400, offset[3] = {0.3, -0.1, 0.2}; /* 1/s^2, m */

static eb_error pull_all(eb_scene *scene) {
  EB_TRY(eb_block_scene.setup(scene));
  for (int32_t i = 0; i < scene->mesh->node_count; i++) EB_TRY(eb_scene_add_spring(scene, i));
  return EB_OK;
}

static void pull_by_mass(const eb_scene *scene, double t, double *place, double *stiffness) {
  const double *mass = eb_elasticity_mass(scene->elasticity);
  (void)t;
  for (int32_t s = 0; s < scene->script.spring_count; s++) {
    for (int d = 0; d < 3; d++) place[3 * s + d] += offset[d];
    stiffness[s] = per_mass * mass[s];
  }
}

static eb_scene_ops face_ops(void) {
  eb_scene_ops ops = eb_block_scene;
  ops.setup = pull_face;
  ops.springs = pull;
  return ops;
}

static eb_scene *make(const eb_scene_ops *ops, const char *parameters) {
  eb_scene *scene;
  tap_require(eb_scene_create(ops, parameters, NULL, "", &scene), parameters);
  return scene;
}

/* ---- energy ---- */

static void derivatives(void) {
  eb_scene_ops ops = face_ops();
  eb_scene *scene = make(&ops, "nx=3,gz=-9.8");
  eb_springs springs;
  eb_block_matrix *A;
  size_t n = 3 * (size_t)scene->mesh->node_count;
  double *x = calloc(4 * n, sizeof *x), *g = x + n, *p = g + n, *Hp = p + n;
  uint64_t seed = 3;
  tap_require(eb_springs_create(scene, &springs), "springs");
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(scene->elasticity), &A), "a matrix");
  eb_springs_set(&springs, scene, 0.4);
  for (size_t k = 0; k < n; k++) {
    x[k] = scene->mesh->X[k] + 0.1 * eb_block_random(&seed);
    p[k] = eb_block_random(&seed);
  }
  double squares = eb_springs_gradient(&springs, NULL, x, 1, g), slope = 0, curvature = 0, sum = 0;
  memset(A->values, 0, 9 * (size_t)A->start[A->rows] * sizeof *A->values);
  eb_springs_matrix(&springs, 1, A);
  for (size_t i = 0; i < n / 3; i++) {
    const double *block = A->values + 9 * (size_t)A->diagonal[i];
    eb_turn3(block, p + 3 * i, Hp + 3 * i);
    for (size_t d = 0; d < 3; d++) {
      slope += g[3 * i + d] * p[3 * i + d];
      curvature += Hp[3 * i + d] * p[3 * i + d];
    }
  }
  for (int32_t s = 0; s < springs.count; s++)
    sum += pow(springs.stiffness[s], 2) *
           eb_squared_distance3(x + 3 * (size_t)springs.node[s], springs.place + 3 * s);
  double e = 1e-3, value[2], here = eb_springs_energy(&springs, NULL, x);
  for (int side = 0; side < 2; side++) {
    for (size_t k = 0; k < n; k++) Hp[k] = x[k] + (side ? e : -e) * p[k];
    value[side] = eb_springs_energy(&springs, NULL, Hp);
  }
  /* Quadratic: differences have no truncation, and rounding of some eps / e, eps / e^2. */
  tap_near((value[1] - value[0]) / (2 * e), slope, 1e-11 * here / e, "the gradient is the slope");
  tap_near((value[1] - 2 * here + value[0]) / (e * e), curvature, 1e-13 * here / (e * e),
           "the Hessian is the curvature");
  tap_near(eb_springs_curvature(&springs, NULL, p), curvature, 1e-13 * curvature,
           "which is given along a direction too");
  tap_near(squares, sum, 1e-13 * sum, "forces are k times the way to the place");
  uint8_t *fixed = calloc(n / 3, 1);
  for (int32_t s = 0; s < springs.count; s++) fixed[springs.node[s]] = 1;
  tap_near(eb_springs_energy(&springs, fixed, x), 0, 0, "fixed nodes are left out");
  eb_springs_set(&springs, scene, release);
  tap_near(eb_springs_energy(&springs, NULL, x), 0, 0, "springs that are let go have no energy");
  free(fixed);
  free(x);
  eb_block_matrix_destroy(A);
  eb_springs_clear(&springs);
  eb_scene_destroy(scene);
}

static void asked_through_the_door(void) {
  eb_scene_ops ops = face_ops();
  eb_scene *scene = make(&ops, "nx=2");
  const int32_t *node;
  int32_t count = eb_scene_springs(scene, 0, &node, NULL, NULL);
  double *place = calloc(4 * (size_t)count, sizeof *place), *stiffness = place + 3 * count;
  tap_ok(count == scene->script.spring_count && node == scene->script.spring_node && count > 4,
         "a plug-in is told the nodes");
  eb_scene_springs(scene, 0.5, NULL, place, stiffness);
  tap_near(stiffness[2], pulled * 1.65, 1e-9, "and the stiffness");
  tap_near(place[3 * 2 + 1], scene->mesh->X[3 * node[2] + 1] - 0.5 * rate * 1.2, 1e-15,
           "and the place at a time");
  tap_ok(eb_scene_needs(scene) & EB_CAP_SPRINGS, "springs are a need");
  free(place);
  eb_scene_destroy(scene);
}

/* ---- solvers ---- */

/* A body whose nodes are all drawn by springs in the ratio of their masses moves as one mass: with
 * y = x - p, y1 (1 + h^2 k) = y0 + h v0 + h^2 g, v1 = (y1 - y0) / h. */
static void one_mass(const char *solver, const char *options) {
  eb_scene_ops ops = eb_block_scene;
  ops.setup = pull_all;
  ops.springs = pull_by_mass;
  run r = start_on(make(&ops, "nx=2,E=1e5,material=corotational,gz=-9.8"), solver, options);
  double y[3], v[3] = {0}, h = r.scene->dt, off = 0;
  for (int d = 0; d < 3; d++) y[d] = -offset[d];
  for (int step = 0; step < 20; step++) {
    go_well(&r, 1);
    for (int d = 0; d < 3; d++) {
      double old = y[d];
      y[d] = (y[d] + h * (v[d] + h * r.scene->gravity[d])) / (1 + h * h * per_mass);
      v[d] = (y[d] - old) / h;
    }
    for (int32_t i = 0; i < 3 * r.state->node_count; i++)
      off = fmax(off, fabs(r.state->x[i] - r.scene->mesh->X[i] - y[i % 3] - offset[i % 3]));
  }
  /* rtol of forces of 1e2 N a kilogram, h^2 of which is 1e-2 m, for 20 steps. */
  tap_below(off, 2e-9, solver);
  finish(&r);
}

static double farthest(const run *a, const run *b) {
  return eb_block_distance(a->state, b->state);
}

static void converged_solvers_agree(void) {
  eb_scene_ops ops = face_ops();
  const char *parameters = "nx=4,gz=-9.8,material=fixed-corotational,dt=0.05";
  run newton = start_on(make(&ops, parameters), "newton", "rtol=1e-12");
  run mixed = start_on(make(&ops, parameters), "mfem", "rtol=1e-12");
  go_well(&newton, 10);
  go_well(&mixed, 10);
  tap_below(farthest(&newton, &mixed), 1e-8, "converged mfem is converged newton, while pulled");
  go_well(&newton, 15);
  go_well(&mixed, 15);
  tap_below(farthest(&newton, &mixed), 1e-7, "and after the release");
  finish(&newton);
  finish(&mixed);
}

static void statics(void) {
  eb_scene_ops ops = face_ops();
  static const char *const solvers[] = {"newton", "mfem", "fem-subspace"};
  for (int s = 0; s < 3; s++) {
    run r = start_on(make(&ops, "nx=3,gz=-9.8,E=1e6,dt=0.1"), solvers[s],
                     s < 2 ? "static=true,rtol=1e-10" : "static=true,rtol=1e-10,modes=4");
    go_well(&r, 1);
    eb_springs springs;
    double force[3] = {0}, mass = 0;
    tap_require(eb_springs_create(r.scene, &springs), "springs");
    eb_springs_set(&springs, r.scene, r.state->time);
    for (int32_t k = 0; k < springs.count; k++)
      for (int d = 0; d < 3; d++)
        force[d] +=
            springs.stiffness[k] * (springs.place[3 * k + d] - r.state->x[3 * springs.node[k] + d]);
    for (int32_t i = 0; i < r.state->node_count; i++)
      mass += eb_elasticity_mass(r.scene->elasticity)[i];
    tap_near(force[2], 9.8 * mass, 1e-5 * 9.8 * mass, solvers[s]);
    tap_below(hypot(force[0], force[1]), 1e-5 * 9.8 * mass, "in equilibrium springs bear a body");
    eb_springs_clear(&springs);
    finish(&r);
  }
}

/* ---- subspaces ---- */

/* The residual B^T (M (x1 - xt) / h^2 + g + dS/dx - f) at where a step in a subspace has ended,
 * with all elements, over the norm of the inertia in it. */
static double left_in_subspace(const run *r, const eb_state *before, const eb_basis *basis) {
  size_t n = 3 * (size_t)before->node_count, size = 3 * (size_t)basis->size;
  const double *mass = eb_elasticity_mass(r->scene->elasticity);
  double h = r->scene->dt, left = 0, scale = 0;
  double *f = calloc(2 * n + 2 * size, sizeof *f), *g = f + n, *u = g + n, *w = u + size;
  eb_springs springs;
  tap_require(eb_springs_create(r->scene, &springs), "springs");
  eb_springs_set(&springs, r->scene, r->state->time);
  eb_scene_force(r->scene, before->time, before->x, before->v, f);
  eb_elasticity_gradient(r->scene->elasticity, r->state->x, g);
  eb_springs_gradient(&springs, NULL, r->state->x, 1, g);
  for (size_t k = 0; k < n; k++) {
    double inertia = mass[k / 3] * (r->state->x[k] - before->x[k] - h * before->v[k]) / (h * h);
    g[k] += inertia - f[k];
    f[k] = inertia;
  }
  eb_basis_restrict_force(basis, g, u);
  eb_basis_restrict_force(basis, f, w);
  for (size_t k = 0; k < size; k++) {
    left += u[k] * u[k];
    scale += w[k] * w[k];
  }
  eb_springs_clear(&springs);
  free(f);
  return sqrt(left / scale);
}

static void subspace_solves_its_restriction(const char *solver) {
  eb_scene_ops ops = face_ops();
  run r = start_on(make(&ops, "nx=6,gz=-9.8,dt=0.05,material=fixed-corotational"), solver,
                   "modes=3,full_integration=true,rtol=1e-12");
  eb_skinning skinning;
  eb_basis basis;
  eb_state *before;
  uint8_t *pinned = calloc((size_t)r.scene->mesh->node_count, 1);
  tap_require(
      eb_skinning_eigenmodes(r.scene->elasticity, r.scene->mesh->X, pinned, 3, 1, NULL, &skinning),
      "modes, of a body that nothing holds");
  tap_require(eb_basis_skinning(r.scene->mesh->node_count, r.scene->mesh->X,
                                eb_elasticity_mass(r.scene->elasticity), 3, skinning.weight,
                                &basis),
              "a basis");
  tap_require(eb_state_create(r.scene, &before), "a state");
  double worst = 0;
  for (int step = 0; step < 25; step++) {
    eb_state_copy(r.state, before);
    go_well(&r, 1);
    worst = fmax(worst, left_in_subspace(&r, before, &basis));
  }
  /* Forces of 1e5 N beside inertia of some N, each to eight digits more than that. */
  tap_below(worst, 1e-7, solver);
  eb_state_destroy(before);
  eb_basis_clear(&basis);
  eb_skinning_clear(&skinning);
  free(pinned);
  finish(&r);
}

/* ---- what is refused, and what changes nothing ---- */

static void leave_out(const eb_scene *scene, double t, double *place, double *stiffness) {
  pull(scene, t, place, stiffness);
  stiffness[1] = t > 0.01 ? -1 : 1;
}

static eb_error pull_nobody(eb_scene *scene) {
  EB_TRY(eb_block_scene.setup(scene));
  return eb_scene_add_spring(scene, scene->mesh->node_count);
}

static int32_t one_cut(const eb_scene *scene, eb_cut cuts[EB_MAX_CUTS]) {
  (void)scene;
  cuts[0] = (eb_cut){.normal = {1, 0, 0}, .origin = {0.5, 0, 0}, .radius = 1};
  return 1;
}

static void what_is_refused(void) {
  eb_scene *scene;
  eb_scene_ops ops = face_ops();
  ops.springs = NULL;
  tap_fails(eb_scene_create(&ops, "nx=2", NULL, "", &scene), EB_ERR_INVALID, "springs are set up",
            "springs that nobody speaks of");
  ops.springs = leave_out;
  ops.steps = 100;
  tap_fails(eb_scene_create(&ops, "nx=2", NULL, "", &scene), EB_ERR_INVALID, "stiffness of -1",
            "springs that push");
  ops = face_ops();
  ops.setup = pull_nobody;
  tap_fails(eb_scene_create(&ops, "nx=2", NULL, "", &scene), EB_ERR_INVALID, "but nodes are",
            "a spring at no node");
  ops = face_ops();
  ops.cuts = one_cut;
  tap_fails(eb_scene_create(&ops, "nx=2", NULL, "", &scene), EB_ERR_UNSUPPORTED, "neither cuts",
            "springs in a body that is cut");
  ops = face_ops();
  scene = make(&ops, "nx=2,material=corotational");
  static const char *const others[] = {"conjac", "warp-cholesky", "damped-warp", "contact-al"};
  for (int s = 0; s < 4; s++) {
    eb_solver *solver;
    tap_fails(eb_solver_create(eb_solver_find(others[s]), "", scene, 1, 1, &solver),
              EB_ERR_UNSUPPORTED, "springs", others[s]);
  }
  eb_scene_destroy(scene);
}

static void pull_slower(const eb_scene *scene, double t, double *place, double *stiffness) {
  pull(scene, t, place, stiffness);
  for (int32_t s = 0; s < scene->script.spring_count; s++) place[3 * s] -= 1e-3 * t;
}

static void hash_covers_them(void) {
  eb_scene_ops ops = face_ops(), slower = face_ops(), none = eb_block_scene;
  ops.steps = slower.steps = 100;
  slower.springs = pull_slower;
  eb_scene *a = make(&ops, "nx=2"), *b = make(&ops, "nx=2"), *c = make(&slower, "nx=2"),
           *d = make(&none, "nx=2");
  tap_ok(a->hash == b->hash, "equal springs make equal scenes");
  tap_ok(a->hash != c->hash && a->hash != d->hash, "other places another, and no springs a third");
  eb_scene_destroy(a);
  eb_scene_destroy(b);
  eb_scene_destroy(c);
  eb_scene_destroy(d);
}

static void threads_do_not_change_bits(const char *solver) {
  eb_scene_ops ops = face_ops();
  uint64_t hash[2];
  for (int threads = 1; threads <= 2; threads++) {
    eb_scene *scene = make(&ops, "nx=6,gz=-9.8,material=corotational");
    eb_state *state;
    eb_reason reason;
    tap_require(eb_state_create(scene, &state), "a state");
    tap_require(
        eb_block_advance(scene, eb_solver_find(solver), "", threads, 3, NULL, state, &reason),
        solver);
    hash[threads - 1] = eb_state_hash(state);
    eb_state_destroy(state);
    eb_scene_destroy(scene);
  }
  tap_ok(hash[0] == hash[1], "%s: one thread and two, same bits", solver);
}

/* ---- the audit ---- */

/* A state pulled about at random: the audit's figures against sums over springs here. */
static void audited(void) {
  eb_scene_ops ops = face_ops();
  trial t = {.scene = make(&ops, "nx=2,gz=-9.8,dt=0.1")};
  trial_begin(&t);
  t.before->time = 0.3;
  t.after->time = 0.4;
  trial_shake(&t, 1, 0.01, t.before->x);
  trial_shake(&t, 2, 0.01, t.after->x);
  for (size_t k = 0; k < t.size; k++) t.after->v[k] = (t.after->x[k] - t.before->x[k]) / t.h;
  eb_audit_row row = trial_audit(&t, EB_EQUATION_IMPLICIT_EULER, plain, EB_UPDATE_END_VELOCITY);
  eb_springs was, is;
  tap_require(eb_springs_create(t.scene, &was), "springs");
  tap_require(eb_springs_create(t.scene, &is), "springs");
  eb_springs_set(&was, t.scene, 0.3);
  eb_springs_set(&is, t.scene, 0.4);
  tap_near(row.totals.springs, eb_springs_energy(&is, NULL, t.after->x), 1e-13 * row.totals.springs,
           "the audit has their energy at the end of the step");
  double *g = trial_vector(&t), residual = 0;
  eb_elasticity_gradient(t.scene->elasticity, t.after->x, g);
  eb_springs_gradient(&is, NULL, t.after->x, 1, g);
  for (size_t k = 0; k < t.size; k++) {
    double r = g[k] + t.mass[k / 3] *
                          ((t.after->x[k] - t.before->x[k] - t.h * t.before->v[k]) / (t.h * t.h) -
                           t.scene->gravity[k % 3]);
    residual += r * r;
  }
  tap_near(row.implicit_euler.norm, sqrt(residual), 1e-11 * row.implicit_euler.norm,
           "and their force in the residual");
  /* Without bodies' own share: a step of nothing but springs that move and stiffen loses what they
   * dissipate, k1 |d1 - d0|^2 / 2, and the work of their forces on the body. */
  eb_audit_row still = {0};
  memcpy(t.after->x, t.before->x, t.size * sizeof *t.after->x);
  memset(t.after->v, 0, t.size * sizeof *t.after->v);
  still = trial_audit(&t, EB_EQUATION_IMPLICIT_EULER, plain, EB_UPDATE_END_VELOCITY);
  double lost = 0;
  for (int32_t s = 0; s < is.count; s++)
    lost += 0.5 * is.stiffness[s] * eb_squared_distance3(is.place + 3 * s, was.place + 3 * s);
  tap_near(still.work.excess, -lost, 1e-11 * still.work.scale,
           "what moves places and stiffens springs is work");
  /* Let go: their energy goes with them. */
  t.before->time = 0.95;
  t.after->time = 1.05;
  row = trial_audit(&t, EB_EQUATION_IMPLICIT_EULER, plain, EB_UPDATE_END_VELOCITY);
  tap_near(row.work.excess, 0, 1e-11 * row.work.scale, "and so is a release");
  free(g);
  eb_springs_clear(&was);
  eb_springs_clear(&is);
  trial_close(&t);
}

int main(void) {
  derivatives();
  asked_through_the_door();
  static const struct {
    const char *solver, *options;
  } solvers[] = {{"newton", "rtol=1e-12"},
                 {"mfem", "rtol=1e-12"},
                 {"semi-implicit", ""},
                 {"corotational", "linear_rtol=1e-12"},
                 {"mfem-subspace", "rtol=1e-12,modes=3"},
                 {"fem-subspace", "rtol=1e-12,modes=3"},
                 {"vbd", "iterations=0,rtol=1e-12"}};
  for (int s = 0; s < 7; s++) {
    one_mass(solvers[s].solver, solvers[s].options);
    threads_do_not_change_bits(solvers[s].solver);
  }
  converged_solvers_agree();
  statics();
  subspace_solves_its_restriction("fem-subspace");
  subspace_solves_its_restriction("mfem-subspace");
  what_is_refused();
  hash_covers_them();
  audited();
  return tap_done();
}
