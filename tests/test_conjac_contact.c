/* Contact in the solvers that are linear in their velocities, full and condensed: a block on a slope against Coulomb's law, the drag of an
 * isotropic penalty, the load at rest, and the weighted least-squares projection of friction against LAPACK. */
#include "harness/audit/audit.h"
#include "problems/collision/implicit_penalty.h"
#include "tests/solver_fixture.h"

/* ---- a block on a slope -------------------------------------------------------------------------- */

typedef struct slope {
  double tangent, friction, isotropy; /* of the angle; mu; alpha */
} slope;

static const double gravity = 9.81;
/* Stiff enough that the block sinks by a few micrometres, and that the last node of its sole presses. */
static const double stiffness = 4e8;

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
  scene->collider_count = 1;
  scene->colliders[0] = (eb_collider){.kind = EB_PLANE,
                                      .axis = {s, 0, c},
                                      .implicit = true,
                                      .stiffness = stiffness,
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

/* Sliding, every node of the sole gives up mu times its normal impulse in every step, so the block accelerates with g (sin - mu cos)
 * but for the vibrations that are left of the start. */
static void test_sliding(const char *solver, const char *options) {
  static const slope slides[] = {{0.35, 0.3, 0}, {0.5, 0.3, 0}, {0.5, 0, 0}, {1, 0.6, 0}};
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
  static const slope sticks[] = {{0.05, 0.3, 0}, {0.25, 0.3, 0}, {0.5, 0.6, 0}};
  char name[160];
  for (size_t k = 0; k < sizeof sticks / sizeof *sticks; k++) {
    snprintf(name, sizeof name, "%s: sticks on %g with mu = %g", solver, sticks[k].tangent,
             sticks[k].friction);
    tap_below(fabs(creep(solver, options, &sticks[k])), 1e-4, name);
  }
}

/* ---- the drag of an isotropic penalty ------------------------------------------------------------ */

/* Sum of the sole's spring constants, N/m. */
static double sole(const ride *r) {
  double sum = 0;
  for (int32_t i = 0; i < r->f.scene->mesh->node_count; i++)
    if (r->f.scene->mesh->X[3 * i + 2] < 1e-9) sum += stiffness * r->f.scene->node_area[i];
  return sum;
}

/* alpha > 0 holds nodes where they are at the start of the step, anew in each: a drag of alpha beta h k per velocity (the matrix), without
 * friction too. A block on a slope then creeps with M g sin / (alpha beta h sum k). */
static void test_drag(const char *solver, const char *options, double beta) {
  const slope on = {.tangent = 0.5, .friction = 0, .isotropy = 0.1};
  ride r = mount(&on);
  char name[160];
  run_on(&r, solver, options, 200);
  double weight = r.mass * gravity * 0.5 / sqrt(1.25);
  double terminal = weight / (on.isotropy * beta * 5e-3 * sole(&r));
  snprintf(name, sizeof name, "%s: alpha = 0.1 drags: the block creeps with %.2g m/s", solver,
           terminal);
  /* The upper edge of the sole carries next to nothing and lifts off now and then. */
  tap_near(mean(&r, r.f.state->v) / terminal, 1, 0.15, name);
  fixture_close(&r.f);
}

/* ---- at rest and in flight ------------------------------------------------------------------------ */

static double load(const ride *r) {
  eb_touch touches[256];
  double sum = 0;
  int32_t count = eb_implicit_touches(r->f.scene, r->f.state->time, r->f.state->x, 256, touches);
  for (int32_t k = 0; k < count; k++) sum += touches[k].stiffness * touches[k].depth;
  return sum;
}

/* On level ground the penalty carries the weight. */
static void test_load(const char *solver, const char *options) {
  ride r = mount(&(slope){0, 0.3, 0.1});
  char name[160];
  run_on(&r, solver, options, 400);
  snprintf(name, sizeof name, "%s: at rest the floor carries the weight", solver);
  /* What is left of the vibrations after 2 s. */
  tap_near(load(&r) / (r.mass * gravity), 1, 1e-5, name);
  fixture_close(&r.f);
}

/* Linear elasticity and a plane make the step of beta = 1 exact: grad W with the penalty at the end of the step vanishes, while the touches
 * that the step was solved with are those at its end. The block lies still and only sinks, so they are. */
static void test_audit(void) {
  fixture f = fixture_open("nx=3,ny=3,nz=2,lx=.1,ly=.1,lz=.05,gz=-9.81,dt=5e-3,material=linear");
  eb_state *before;
  eb_audit *audit;
  eb_audit_row row;
  double worst = 0, deepest = 0;
  f.scene->collider_count = 1;
  f.scene->colliders[0] = (eb_collider){
      .kind = EB_PLANE, .axis = {0, 0, 1}, .implicit = true, .stiffness = 1e6, .isotropy = 0};
  for (int32_t i = 0; i < f.scene->mesh->node_count; i++) f.state->x[3 * i + 2] -= 1e-4;
  tap_require(eb_state_create(f.scene, &before), "state");
  tap_require(eb_audit_create(f.scene, &audit), "audit");
  for (int step = 0; step < 20; step++) {
    size_t bytes = 24 * (size_t)f.scene->mesh->node_count;
    memcpy(before->x, f.state->x, bytes);
    memcpy(before->v, f.state->v, bytes);
    before->time = f.state->time;
    fixture_step(&f, "semi-implicit", "", 1);
    tap_require(eb_audit_step(audit, before, f.state, 5e-3, EB_EQUATION_IMPLICIT_EULER, &row),
                "audit of a step");
    worst = fmax(worst, row.residual_relative);
    deepest = fmax(deepest, row.max_penetration);
  }
  tap_below(worst, 1e-11, "audit: the penalty at the end of the step balances the rest");
  tap_ok(deepest > 3e-4, "audit: which is not 0 (%.2g m deep)", deepest);
  f.scene->colliders[0].stiffness *= 1.01;
  tap_require(eb_audit_step(audit, before, f.state, 5e-3, EB_EQUATION_IMPLICIT_EULER, &row),
              "audit of a step");
  tap_ok(row.residual_relative > 1e-5, "audit: a penalty that is 1 %% off shows (%.2g)",
         row.residual_relative);
  eb_audit_destroy(audit);
  eb_state_destroy(before);
  fixture_close(&f);
}

int main(void) {
  test_sliding("semi-implicit", "");
  test_sticking("semi-implicit", "");
  test_drag("semi-implicit", "", 1);
  test_load("semi-implicit", "");
  test_audit();
  return tap_done();
}
