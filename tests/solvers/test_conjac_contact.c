/* Contact in the solvers that are linear in their velocities, full and condensed: a block on a
 * slope against Coulomb's law, the drag of an isotropic penalty, the load at rest, and the weighted
 * least-squares projection of friction against LAPACK. */
#include "harness/audit/audit.h"
#include "problems/contact/implicit_penalty.h"
#include "tests/support/owned.h"
#include "tests/support/conjac_fixture.h"

/* ---- a block on a slope ---------------------------------------------------------------------- */

typedef struct slope {
  double tangent, friction, isotropy; /* of the angle; mu; alpha */
  double stiffness; /* Pa/m; 0: 4e8, so that the block sinks by a few micrometres */
} slope;

static const double gravity = 9.81;

typedef struct ride {
  fixture f;
  double down[3]; /* unit vector down the slope */
  double mass;    /* kg */
} ride;

/* The block, 10 x 10 x 5 cm, lies on the plane, both tilted about y. */
static ride mount(const slope *on) {
  ride r = {.f = fixture_open("nx=4,ny=4,nz=2,lx=.1,ly=.1,lz=.05,gz=-9.81,dt=5e-3")};
  double c = 1 / sqrt(1 + on->tangent * on->tangent), s = on->tangent * c;
  eb_scene *scene = r.f.scene;
  scene->contacts.collider_count = 1;
  scene->contacts.colliders[0] = (eb_collider){.kind = EB_PLANE,
                                               .axis = {s, 0, c},
                                               .implicit = true,
                                               .stiffness = on->stiffness > 0 ? on->stiffness : 4e8,
                                               .isotropy = on->isotropy,
                                               .friction = on->friction};
  r.down[0] = c;
  r.down[2] = -s;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    double *x = r.f.state->x + 3 * i, along = x[0], up = x[2];
    x[0] = c * along + s * up;
    x[2] = -s * along + c * up;
    r.mass += eb_elasticity_mass(scene->elasticity)[i];
  }
  return r;
}

/* Mean over the mass of nodes x 3 values along the slope. */
static double mean(const ride *r, const double *values) {
  const double *mass = eb_elasticity_mass(r->f.scene->elasticity);
  double sum = 0;
  for (int32_t i = 0; i < r->f.scene->mesh->node_count; i++)
    for (int d = 0; d < 3; d++) sum += mass[i] * r->down[d] * values[3 * i + d];
  return sum / r->mass;
}

static void run_on(ride *r, const char *solver, const char *options, int64_t steps) {
  tap_ok(fixture_step(&r->f, solver, options, steps) > 0, "%s %s: %d steps are solved", solver,
         options, (int)steps);
}

/* Mean acceleration over the second half of a second. */
static double acceleration(const char *solver, const char *options, const slope *on) {
  ride r = mount(on);
  run_on(&r, solver, options, 100);
  double half = mean(&r, r.f.state->v);
  run_on(&r, solver, options, 100);
  double a = (mean(&r, r.f.state->v) - half) / 0.5;
  fixture_close(&r.f);
  return a;
}

/* Way along the slope in the second half of a second. */
static double creep(const char *solver, const char *options, const slope *on) {
  ride r = mount(on);
  run_on(&r, solver, options, 100);
  double half = mean(&r, r.f.state->x);
  run_on(&r, solver, options, 100);
  double way = mean(&r, r.f.state->x) - half;
  fixture_close(&r.f);
  return way;
}

/* Sliding, every node of the sole gives up mu times its normal impulse in every step, so the block
 * accelerates with g (sin - mu cos) but for the vibrations that are left of the start. */
static void test_sliding(const char *solver, const char *options) {
  static const slope slides[] = {
      {0.35, 0.3, 0, 0}, {0.5, 0.3, 0, 0}, {0.5, 0, 0, 0}, {1, 0.6, 0, 0}};
  char name[160];
  for (size_t k = 0; k < sizeof slides / sizeof *slides; k++) {
    const slope *on = &slides[k];
    double want = gravity * (on->tangent - on->friction) / sqrt(1 + on->tangent * on->tangent);
    snprintf(name, sizeof name, "%s: slides down %g with mu = %g by Coulomb's law", solver,
             on->tangent, on->friction);
    tap_near(acceleration(solver, options, on) / want, 1, 1e-3, name);
  }
}

/* Held by friction it moves no further than its vibrations, which fade, still carry it. */
static void test_sticking(const char *solver, const char *options) {
  static const slope sticks[] = {{0.05, 0.3, 0, 0}, {0.25, 0.3, 0, 0}, {0.5, 0.6, 0, 0}};
  char name[160];
  for (size_t k = 0; k < sizeof sticks / sizeof *sticks; k++) {
    snprintf(name, sizeof name, "%s: sticks on %g with mu = %g", solver, sticks[k].tangent,
             sticks[k].friction);
    tap_below(fabs(creep(solver, options, &sticks[k])), 1e-4, name);
  }
}

/* ---- the drag of an isotropic penalty -------------------------------------------------------- */

/* Sum of the sole's spring constants, N/m. */
static double sole(const ride *r) {
  double sum = 0;
  for (int32_t i = 0; i < r->f.scene->mesh->node_count; i++)
    if (r->f.scene->mesh->X[3 * i + 2] < 1e-9)
      sum += r->f.scene->contacts.colliders[0].stiffness * r->f.scene->node_area[i];
  return sum;
}

/* alpha > 0 holds nodes where they are at the start of the step, anew in each: a drag of alpha beta
 * h k per velocity (the matrix), without friction too. A block on a slope then creeps with M g sin
 * / (alpha beta h sum k). */
static void test_drag(const char *solver, const char *options) {
  const slope on = {.tangent = 0.5, .friction = 0, .isotropy = 0.1};
  ride r = mount(&on);
  char name[160];
  run_on(&r, solver, options, 200);
  double weight = r.mass * gravity * 0.5 / sqrt(1.25);
  double terminal = weight / (on.isotropy * 5e-3 * sole(&r));
  snprintf(name, sizeof name, "%s: alpha = 0.1 drags: the block creeps with %.2g m/s", solver,
           terminal);
  /* The upper edge of the sole carries next to nothing and lifts off now and then. */
  tap_near(mean(&r, r.f.state->v) / terminal, 1, 0.15, name);
  fixture_close(&r.f);
}

/* ---- at rest and in flight ------------------------------------------------------------------- */

static double load(const ride *r) {
  eb_touch touches[256];
  double sum = 0;
  int32_t count = eb_implicit_touches(r->f.scene, r->f.state->time, r->f.state->x, 256, touches);
  for (int32_t k = 0; k < count; k++) sum += touches[k].stiffness * touches[k].depth;
  return sum;
}

/* On level ground the penalty carries the weight. */
static void test_load(const char *solver, const char *options) {
  ride r = mount(&(slope){0, 0.3, 0.1, 0});
  char name[160];
  run_on(&r, solver, options, 400);
  snprintf(name, sizeof name, "%s: at rest the floor carries the weight", solver);
  /* What is left of the vibrations after 2 s. */
  tap_near(load(&r) / (r.mass * gravity), 1, 1e-4, name);
  fixture_close(&r.f);
}

/* Linear elasticity and a plane make the step of beta = 1 exact: grad W with the penalty at the end
 * of the step vanishes, while the touches that the step was solved with are those at its end. The
 * block lies still and only sinks, so they are. */
static void test_audit(void) {
  owned(fixture) f =
      fixture_open("nx=3,ny=3,nz=2,lx=.1,ly=.1,lz=.05,gz=-9.81,dt=5e-3,material=linear");
  eb_audit *audit;
  eb_audit_row row;
  double worst = 0, deepest = 0;
  f.scene->contacts.collider_count = 1;
  f.scene->contacts.colliders[0] = (eb_collider){
      .kind = EB_PLANE, .axis = {0, 0, 1}, .implicit = true, .stiffness = 1e6, .isotropy = 0};
  for (int32_t i = 0; i < f.scene->mesh->node_count; i++) f.state->x[3 * i + 2] -= 1e-4;
  owned(eb_state) *before = new_state(f.scene);
  tap_require(eb_audit_create(f.scene, &audit), "audit");
  for (int step = 0; step < 20; step++) {
    size_t bytes = 24 * (size_t)f.scene->mesh->node_count;
    memcpy(before->x, f.state->x, bytes);
    memcpy(before->v, f.state->v, bytes);
    before->time = f.state->time;
    fixture_step(&f, "semi-implicit", "", 1);
    tap_require(eb_audit_step(audit, before, f.state, 5e-3, EB_EQUATION_IMPLICIT_EULER, &row),
                "audit of a step");
    worst = fmax(worst, row.implicit_euler.relative);
    deepest = fmax(deepest, row.max_penetration);
  }
  tap_below(worst, 1e-11, "audit: the penalty at the end of the step balances the rest");
  tap_ok(deepest > 3e-4, "audit: which is not 0 (%.2g m deep)", deepest);
  f.scene->contacts.colliders[0].stiffness *= 1.01;
  tap_require(eb_audit_step(audit, before, f.state, 5e-3, EB_EQUATION_IMPLICIT_EULER, &row),
              "audit of a step");
  tap_ok(row.implicit_euler.relative > 1e-5, "audit: a penalty that is 1 %% off shows (%.2g)",
         row.implicit_euler.relative);
  eb_audit_destroy(audit);
}

/* ---- the condensation with contact, against dense algebra ------------------------------------ */

/* A small block that falls with one end ahead: of its sole, nodes are inside, about to arrive, and
 * out of reach. One node of the sole is dynamic. */
static fixture falling(double friction) {
  fixture f = fixture_open("nx=3,ny=1,nz=1,lx=.15,ly=.05,lz=.05,gz=-9.81,dt=5e-3");
  eb_scene *scene = f.scene;
  scene->contacts.collider_count = 1;
  scene->contacts.colliders[0] = (eb_collider){.kind = EB_PLANE,
                                               .axis = {0, 0, 1},
                                               .implicit = true,
                                               .stiffness = 1e7,
                                               .isotropy = 0.1,
                                               .friction = friction};
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    double *x = f.state->x + 3 * i, *v = f.state->v + 3 * i;
    x[2] += 0.03 * x[0] - 0.001 + 0.002 * sin(40 * x[0] + 90 * x[1]);
    v[0] = 0.2 + x[2];
    v[1] = -0.1;
    v[2] = -0.4 + 0.5 * x[0];
  }
  return f;
}

typedef struct oracle {
  bool predict;
  int size, unknowns; /* 3 nodes; columns of J */
  double *H, *J;      /* size x size with the springs; size x unknowns; column-major */
  double *f, *b, *c;  /* net force, k P w, constant part of v */
  double *p;          /* correction */
  uint8_t *part;      /* 1 at dynamic rows */
  eb_touch touches[64];
  int32_t touch_count;
  const double *mass;
} oracle;

static double *vector(int size) {
  return eb_calloc((size_t)size, sizeof(double));
}

/* H and f with contact. */
static void linearize(oracle *o, const fixture *f) {
  const eb_scene *scene = f->scene;
  owned(double) *g = vector(o->size);
  o->H = dense_hessian(scene, f->state->x, true, g);
  o->touch_count = o->predict ? eb_implicit_step_touches(scene, 0, scene->dt, f->state->x,
                                                         f->state->v, 64, o->touches)
                              : eb_implicit_touches(scene, 0, f->state->x, 64, o->touches);
  eb_scene_force(scene, 0, f->state->x, f->state->v, o->f);
  for (const eb_touch *at = o->touches; at < o->touches + o->touch_count; at++)
    for (int i = 0; i < 3; i++) {
      int row = 3 * at->node + i;
      o->f[row] += at->stiffness * at->depth * at->normal[i];
      for (int j = 0; j < 3; j++) {
        double P = (1 - at->isotropy) * at->normal[i] * at->normal[j] + (i == j) * at->isotropy;
        o->H[(int64_t)(3 * at->node + j) * o->size + row] += at->stiffness * P;
        o->b[row] += at->stiffness * P * at->velocity[j];
      }
    }
  for (int k = 0; k < o->size; k++) o->f[k] -= g[k];
}

/* Columns J, then c and p, from one dense solve. */
static void condense(oracle *o) {
  int n = o->size, m = o->unknowns, column = 0;
  owned(double) *b = vector(n * (m + 2));
  for (int k = 0; k < n; k++) {
    if (!o->part[k]) continue;
    b[column * n + k] = 1;
    for (int i = 0; i < n; i++)
      if (!o->part[i]) b[column * n + i] = -o->H[(int64_t)k * n + i];
    column++;
  }
  for (int i = 0; i < n; i++)
    if (!o->part[i]) {
      b[m * n + i] = o->b[i];
      b[(m + 1) * n + i] = o->f[i];
    }
  dense_solve(n, o->H, o->part, m + 2, b);
  memcpy(o->J, b, (size_t)(n * m) * sizeof *b);
  memcpy(o->c, b + n * m, (size_t)n * sizeof *b);
  memcpy(o->p, b + n * (m + 1), (size_t)n * sizeof *b);
}

/* y that minimizes |J y - r|^2 in W = M + scale H, or, with r = inv(W) q, that solves J^T W J y =
 * J^T q. */
static void project(const oracle *o, double scale, const double *r, const double *q, double *y) {
  int n = o->size, m = o->unknowns;
  owned(double) *W = vector(n * n), *WJ = vector(n * m), *A = vector(m * m);
  int pivots[96];
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      W[j * n + i] = scale * o->H[(int64_t)j * n + i] + (i == j) * o->mass[i / 3];
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) WJ[j * n + i] += W[k * n + i] * o->J[j * n + k];
  for (int j = 0; j < m; j++) {
    y[j] = 0;
    for (int i = 0; i < n; i++) y[j] += q ? o->J[j * n + i] * q[i] : WJ[j * n + i] * r[i];
    for (int i = 0; i < m; i++)
      for (int k = 0; k < n; k++) A[j * m + i] += WJ[j * n + k] * o->J[i * n + k];
  }
  tap_ok(lapack_solve(m, A, y, pivots) == 0, "dense: the small system is solved");
}

/* v = J y + c */
static void expand(const oracle *o, const double *y, double *v) {
  for (int i = 0; i < o->size; i++) {
    v[i] = o->c[i];
    for (int j = 0; j < o->unknowns; j++) v[i] += o->J[j * o->size + i] * y[j];
  }
}

/* The step of contact.c by full products, without the identities that the solver saves work with.
 * Writes v before friction, after the filter and after the projection. */
static void dense_step(oracle *o, const fixture *f, double beta, double *v, double *filtered,
                       double *projected) {
  double h = f->scene->dt, scale = beta * h * h, y[96];
  owned(double) *q = vector(o->size);
  linearize(o, f);
  condense(o);
  for (int i = 0; i < o->size; i++) {
    q[i] = o->mass[i / 3] * (f->state->v[i] - o->c[i]) + h * o->f[i] + scale * o->b[i];
    for (int k = 0; k < o->size; k++) q[i] -= scale * o->H[(int64_t)k * o->size + i] * o->c[k];
  }
  project(o, scale, NULL, q, y);
  expand(o, y, v);
  memcpy(filtered, v, (size_t)o->size * sizeof *v);
  eb_touches_friction(o->touches, o->touch_count, h, scale, o->mass, filtered);
  for (int i = 0; i < o->size; i++) q[i] = filtered[i] - o->c[i];
  project(o, scale, q, NULL, y);
  expand(o, y, projected);
}

static oracle open_oracle(const fixture *f, const int32_t *dynamic, int count, bool predict) {
  oracle o = {.predict = predict, .size = 3 * f->scene->mesh->node_count, .unknowns = 3 * count};
  o.J = vector(o.size * o.unknowns);
  o.f = vector(o.size);
  o.b = vector(o.size);
  o.c = vector(o.size);
  o.p = vector(o.size);
  o.part = eb_calloc((size_t)o.size, 1);
  o.mass = eb_elasticity_mass(f->scene->elasticity);
  for (int k = 0; k < 3 * count; k++) o.part[3 * dynamic[k / 3] + k % 3] = 1;
  return o;
}

static void close_oracle(oracle *o) {
  free(o->H), free(o->J), free(o->f), free(o->b), free(o->c), free(o->p), free(o->part);
}

static double apart(int size, const double *a, const double *b) {
  double most = 0;
  for (int i = 0; i < size; i++) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

/* A floor that rises and moves aside. */
static void rising(double t, const void *script, double offset[3], double velocity[3]) {
  const double *parameters = script;
  const double v[3] = {0.3, 0, 0.2};
  (void)parameters;
  for (int d = 0; d < 3; d++) {
    velocity[d] = v[d];
    offset[d] = v[d] * t;
  }
}

static void test_dense(double friction, bool motion, bool predict) {
  owned(fixture) f = falling(friction);
  int32_t dynamic[4] = {node_near(f.scene, 0.05, 0, 0), node_near(f.scene, 0, 0.05, 0.05),
                        node_near(f.scene, 0.15, 0.05, 0), node_near(f.scene, 0.1, 0, 0.05)};
  oracle o = open_oracle(&f, dynamic, 4, predict);
  owned(double) *v = vector(o.size), *filtered = vector(o.size), *projected = vector(o.size);
  owned(double) *x = vector(o.size);
  double h = f.scene->dt;
  char options[128];
  snprintf(options, sizeof options,
           "nodes=%d+%d+%d+%d,beta=0.7,gamma=0.4,project=always,predict_contact=%s", dynamic[0],
           dynamic[1], dynamic[2], dynamic[3], predict ? "true" : "false");
  if (motion) f.scene->contacts.colliders[0].motion = rising;
  dense_step(&o, &f, 0.7, v, filtered, projected);
  for (int i = 0; i < o.size; i++) x[i] = f.state->x[i] + h * projected[i] + 0.4 * o.p[i];
  int inside = 0;
  for (int32_t k = 0; k < o.touch_count; k++) inside += o.touches[k].depth > 0;
  tap_ok(inside > 0 && (inside < o.touch_count) == predict, "dense: %d nodes inside, %d arrive",
         inside, (int)o.touch_count - inside);
  tap_ok((apart(o.size, v, filtered) > 1e-3) == (friction > 0), "dense: friction acts when mu > 0");
  owned(eb_solver) *solver = solver_open(&f, options, 1);
  tap_ok(solver_step(solver, &f) > 0, "the step is solved");
  /* The condition of the small system and of H_qq, some 1e4 each, costs digits. */
  tap_below(apart(o.size, f.state->v, projected), 1e-10,
            "velocities are those of the dense condensation and least squares");
  tap_below(apart(o.size, f.state->x, x), 1e-12, "and positions");
  close_oracle(&o);
}

/* ---- the condensation with all nodes, and with few ------------------------------------------- */

/* A wall along the slope that the block leans on. */
static void add_wall(ride *r) {
  eb_scene *scene = r->f.scene;
  scene->contacts.colliders[scene->contacts.collider_count++] =
      (eb_collider){.kind = EB_PLANE,
                    .origin = {0, 1e-5, 0},
                    .axis = {0, 1, 0},
                    .implicit = true,
                    .stiffness = 4e6,
                    .friction = 0.4};
  scene->gravity[1] = -3;
}

/* With every node dynamic there is nothing to condense, and the projection returns what the filter
 * gave. Nodes of one edge touch floor and wall. */
static void test_all_nodes(void) {
  const slope on = {.tangent = 0.4, .friction = 0.3, .isotropy = 0.05, .stiffness = 4e6};
  ride full = mount(&on), all = mount(&on);
  add_wall(&full);
  add_wall(&all);
  run_on(&full, "semi-implicit", "beta=0.8", 30);
  run_on(&all, "conjac", "selection=all,beta=0.8,gamma=0,project=always,predict_contact=true", 30);
  int size = 3 * full.f.scene->mesh->node_count;
  tap_below(apart(size, full.f.state->x, all.f.state->x), 1e-10,
            "conjac with all nodes: the positions of semi-implicit");
  tap_below(apart(size, full.f.state->v, all.f.state->v), 1e-8, "and its velocities");
  fixture_close(&full.f);
  fixture_close(&all.f);
}

/* Without friction and drag nothing acts along the slope but gravity, and a shift along it is a
 * motion that J knows: exact. */
static void test_condensed_frictionless(void) {
  const slope on = {.tangent = 0.5};
  double want = gravity * 0.5 / sqrt(1.25);
  tap_near(acceleration("conjac", "dynamic=4", &on) / want, 1, 1e-6,
           "conjac: without friction the block slides with g sin");
}

/* The normal impulses of quasistatic nodes do not add up to the weight in every step: the
 * correction p bears a part of it and enters no velocity. Coulomb's law then holds for the impulses
 * of the method (test_dense) and in the mean only so well. */
static void test_condensed_sliding(void) {
  static const char *const options[] = {"dynamic=4", "dynamic=4,selection=farthest",
                                        "dynamic=8,selection=random"};
  const slope on = {.tangent = 0.5, .friction = 0.3, .stiffness = 4e6};
  double want = gravity * (0.5 - 0.3) / sqrt(1.25);
  for (int k = 0; k < 3; k++)
    tap_near(acceleration("conjac", options[k], &on) / want, 1, 0.25,
             "conjac: slides with g (sin - mu cos), within a quarter");
}

/* One projection takes a share m_sole / m of the velocity: the block creeps where it should stick,
 * and the steeper the faster, but at a constant speed. Further passes take the rest. */
static void test_condensed_sticking(void) {
  const slope on = {.tangent = 0.25, .friction = 0.3, .stiffness = 4e6};
  double once = creep("conjac", "dynamic=4", &on) / 0.5;
  double often = creep("conjac", "dynamic=4,friction_passes=100", &on) / 0.5;
  double fall = gravity * 0.25 / sqrt(1.0625);
  tap_ok(once > 0.01 && once < 0.1 * fall, "conjac: creeps with %.3f m/s where it should stick",
         once);
  tap_below(fabs(often), 0.1 * once, "conjac: a hundred passes take nine tenths of that away");
}

/* The weight is carried by the same nodes, whatever corrects them. */
static void test_condensed_load(void) {
  static const char *const options[] = {"dynamic=4", "dynamic=4,keep_factor=5",
                                        "dynamic=4,newton_steps=2", "dynamic=4,gamma=linesearch",
                                        "dynamic=4,initial=static"};
  for (size_t k = 0; k < sizeof options / sizeof *options; k++) test_load("conjac", options[k]);
}

/* ---- the bunny ------------------------------------------------------------------------------- */

static void test_bunny(void) {
  owned(eb_scene) *scene = NULL;
  owned(eb_solver) *solver = NULL;
  tap_require(
      eb_scene_create(eb_scene_find("conjac2020/bunny"), "resolution=0.1", NULL, "", &scene),
      "bunny");
  owned(eb_state) *state = new_state(scene);
  owned(eb_step_log) *log = new_log(16);
  tap_require(eb_solver_create(eb_solver_find("conjac"), "dynamic=8,predict_contact=true", scene, 1,
                               0, &solver),
              "conjac");
  const double *mass = eb_elasticity_mass(scene->elasticity);
  double lo[3], hi[3], deepest = 0, down = 0, up = 0;
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  for (int step = 0; step < 60; step++) {
    eb_reason reason = EB_RUNNING;
    double momentum = 0;
    eb_step_log_reset(log);
    tap_require(solver->ops->step(solver, state, scene->dt, log, &reason), "a step");
    if (reason < 0) tap_ok(false, "bunny: step %d ends with %s", step, eb_reason_name(reason));
    for (int32_t i = 0; i < scene->mesh->node_count; i++) {
      momentum += mass[i] * state->v[3 * i + 2];
      deepest = fmax(deepest, -state->x[3 * i + 2]);
    }
    down = fmax(down, -momentum);
    up = fmax(up, momentum);
  }
  tap_ok(log->counters[EB_COUNT_REDUCED_UNKNOWNS] == 24, "bunny: 8 dynamic nodes, 24 unknowns");
  tap_below(deepest / (hi[2] - lo[2]), 0.01, "bunny: no node sinks by more than 1 % of its height");
  tap_ok(up > 0.1 * down, "bunny: it bounces with %.2f of the momentum that it fell with",
         up / down);
}

int main(void) {
  test_sliding("semi-implicit", "");
  test_sticking("semi-implicit", "");
  test_drag("semi-implicit", "");
  test_load("semi-implicit", "");
  test_audit();
  for (int predict = 0; predict < 2; predict++) {
    test_dense(0, false, predict);
    test_dense(0.3, false, predict);
    test_dense(0.3, true, predict);
  }
  test_all_nodes();
  test_condensed_frictionless();
  test_condensed_sliding();
  test_condensed_sticking();
  test_condensed_load();
  test_bunny();
  return tap_done();
}
