/* The condensation against dense algebra: J_qd is the derivative of the static solution, and a step
 * is Eq. 11 to 13 of the paper with every product multiplied out. */
#include "tests/support/owned.h"
#include "tests/support/conjac_fixture.h"

/* ---- the step, slowly ---- */

typedef struct oracle {
  const eb_scene *scene;
  const int32_t *dynamic;
  int32_t count;
  double beta, gamma;
  bool project;
  int64_t size;
  uint8_t *boundary; /* size: row is not quasistatic */
  double *J, *c, *p; /* size x unknowns; size */
} oracle;

static double *vector(const oracle *o) {
  return eb_calloc((size_t)o->size, sizeof(double));
}

/* sum over rows k of a_k (M + scale H) b, rows of b given. */
static double energy_product(const oracle *o, const double *H, double scale, const double *a,
                             const double *b) {
  const double *mass = eb_elasticity_mass(o->scene->elasticity);
  double sum = 0;
  for (int64_t k = 0; k < o->size; k++) {
    double row = mass[k / 3] * b[k];
    for (int64_t j = 0; j < o->size; j++) row += scale * H[j * o->size + k] * b[j];
    sum += a[k] * row;
  }
  return sum;
}

/* to_q = -H_qn from_n, then inv(H_qq) of it; from's other rows in the other rows. */
static void condense(const oracle *o, const double *H, double *column) {
  owned(double) *push = vector(o);
  for (int64_t j = 0; j < o->size; j++)
    for (int64_t i = 0; o->boundary[j] && i < o->size; i++)
      if (!o->boundary[i]) push[i] -= H[j * o->size + i] * column[j];
  for (int64_t i = 0; i < o->size; i++)
    if (!o->boundary[i]) column[i] = push[i];
  dense_solve(o->size, H, o->boundary, 1, column);
}

static void oracle_open(oracle *o, const uint8_t *fixed, const double *velocity, const double *H,
                        const double *f) {
  int unknowns = 3 * o->count;
  o->boundary = eb_calloc((size_t)o->size, 1);
  o->J = eb_calloc((size_t)(o->size * unknowns), sizeof *o->J);
  o->c = vector(o), o->p = vector(o);
  for (int64_t k = 0; k < o->size; k++) o->boundary[k] = fixed[k / 3];
  for (int j = 0; j < unknowns; j++) o->boundary[3 * o->dynamic[j / 3] + j % 3] = 1;
  for (int j = 0; j < unknowns; j++) {
    double *column = o->J + j * o->size;
    column[3 * o->dynamic[j / 3] + j % 3] = 1;
    condense(o, H, column);
  }
  for (int64_t k = 0; k < o->size; k++) o->c[k] = fixed[k / 3] ? velocity[k] : 0;
  condense(o, H, o->c);
  for (int64_t k = 0; k < o->size; k++) o->p[k] = o->boundary[k] ? 0 : f[k];
  dense_solve(o->size, H, o->boundary, 1, o->p);
}

static void oracle_close(oracle *o) {
  free(o->boundary), free(o->J), free(o->c), free(o->p);
}

/* v = J y + c with Eq. 11. */
static void oracle_velocity(const oracle *o, const double *H, const double *momentum, double h,
                            double *v) {
  int n = 3 * o->count;
  double scale = o->beta * h * h;
  owned(double) *A = malloc((size_t)(n * n + 1) * sizeof *A);
  owned(double) *y = malloc((size_t)(n + 1) * sizeof *y);
  owned(int) *pivots = malloc((size_t)(n + 1) * sizeof *pivots);
  for (int i = 0; i < n; i++) {
    const double *column = o->J + i * o->size;
    y[i] = -energy_product(o, H, scale, column, o->c);
    for (int64_t k = 0; k < o->size; k++) y[i] += column[k] * momentum[k];
    for (int j = 0; j < n; j++)
      A[j * n + i] = energy_product(o, H, scale, column, o->J + j * o->size);
  }
  if (n)
    tap_require(lapack_solve(n, A, y, pivots) ? EB_ERROR(EB_ERR_INVALID, "dgesv") : EB_OK, "y");
  for (int64_t k = 0; k < o->size; k++) {
    v[k] = o->c[k];
    for (int j = 0; j < n; j++) v[k] += o->J[j * o->size + k] * y[j];
  }
}

/* One step of the paper, in place. */
static void oracle_step(oracle *o, eb_state *state) {
  const eb_scene *scene = o->scene;
  const double *mass = eb_elasticity_mass(scene->elasticity), h = scene->dt;
  o->size = 3 * (int64_t)state->node_count;
  owned(double) *f = vector(o), *g = vector(o), *target = vector(o), *velocity = vector(o);
  owned(double) *momentum = vector(o);
  owned(uint8_t) *fixed = eb_calloc((size_t)state->node_count, 1);
  eb_scene_force(scene, state->time, state->x, state->v, f);
  eb_scene_boundary(scene, state->time + h, fixed, target);
  owned(double) *H = dense_hessian(scene, state->x, o->project, g);
  for (int64_t k = 0; k < o->size; k++) {
    f[k] -= g[k];
    velocity[k] = (target[k] - state->x[k]) / h;
    momentum[k] = mass[k / 3] * state->v[k] + h * f[k];
  }
  oracle_open(o, fixed, velocity, H, f);
  oracle_velocity(o, H, momentum, h, state->v);
  for (int64_t k = 0; k < o->size; k++)
    state->x[k] = fixed[k / 3] ? target[k] : state->x[k] + h * state->v[k] + o->gamma * o->p[k];
  state->time += h;
  oracle_close(o);
}

/* ---- cases ---- */

static double velocity_distance(const eb_state *a, const eb_state *b) {
  double most = 0;
  for (int64_t k = 0; k < 3 * (int64_t)a->node_count; k++)
    most = fmax(most, fabs(a->v[k] - b->v[k]));
  return most;
}

static const char twisted[] = "nx=5,E=1e5,gz=-9.8,support=ends,motion=twist,rate=4,"
                              "initial=random,speed=0.3,dt=0.01";
static const char hanging[] = "nx=4,E=3e4,nu=0.45,gz=-9.8,support=x0,initial=random,speed=0.2,"
                              "dt=0.01";
static const char flying[] = "nx=3,E=1e5,gz=-9.8,initial=spin,dt=0.005";

/* Five steps beside each other, from the same start. The bounds leave six digits for the condition
 * of H_qq. */
static void a_step_is_the_papers(const char *scene, int count, const int32_t *nodes, double beta,
                                 double gamma, bool project) {
  owned(fixture) a = fixture_open(scene), b = fixture_open(scene);
  char options[256], list[128] = "";
  for (int k = 0; k < count; k++)
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d", k ? "+" : "", nodes[k]);
  snprintf(options, sizeof options, "project=%s,beta=%.17g,gamma=%.17g,%s%s",
           project ? "always" : "never", beta, gamma,
           count ? "selection=list,nodes=" : "selection=farthest,dynamic=0", list);
  owned(eb_solver) *solver = solver_open(&a, options, 1);
  oracle o = {.scene = b.scene,
              .dynamic = nodes,
              .count = count,
              .beta = beta,
              .gamma = gamma,
              .project = project};
  double x = 0, v = 0;
  bool ends = true;
  eb_reason wanted = count > 0 ? EB_CONVERGED_DIRECT : EB_CONVERGED_ITS; /* nothing to solve for */
  for (int i = 0; i < 5; i++) {
    ends &= solver_step(solver, &a) == wanted;
    oracle_step(&o, b.state);
    x = fmax(x, eb_block_distance(a.state, b.state));
    v = fmax(v, velocity_distance(a.state, b.state));
  }
  tap_ok(ends, "%d dynamic nodes, %s: steps", count, options);
  tap_below(x, 1e-10, "positions are those of the dense projection");
  tap_below(v, 1e-8, "and so are velocities");
  tap_ok(a.log->counters[EB_COUNT_REDUCED_UNKNOWNS] == 3 * count, "the unknowns are counted");
}

static void steps_are_the_papers(void) {
  static const int32_t inside[] = {22, 31, 40, 13};
  static const int32_t outside[] = {24, 41, 32};
  static const int32_t far[] = {0, 11, 26, 30};
  for (int project = 0; project < 2; project++) {
    a_step_is_the_papers(twisted, 1, inside, 0.5, 1. / 3, project);
    a_step_is_the_papers(twisted, 4, inside, 0.5, 1. / 3, project);
    a_step_is_the_papers(twisted, 0, inside, 0.5, 0.2, project);
    if (project) a_step_is_the_papers(hanging, 2, inside, 1, 1, project); /* else indefinite */
    a_step_is_the_papers(hanging, 3, outside, 0, 0, project);
    a_step_is_the_papers(flying, 4, far, 0.5, 1. / 3, project);
  }
}

/* ---- J_qd is the derivative of the static solution ---- */

/* Newton's method with the exact Hessian on the rows with part == 0, to the last digit. */
static void find_equilibrium(const eb_scene *scene, const uint8_t *part, double *x) {
  int64_t size = 3 * (int64_t)scene->mesh->node_count;
  owned(double) *g = eb_calloc((size_t)size, sizeof *g);
  for (int k = 0; k < 12; k++) {
    owned(double) *H = dense_hessian(scene, x, false, g);
    for (int64_t i = 0; i < size; i++) g[i] = part[i] ? 0 : g[i];
    dense_solve(size, H, part, 1, g);
    for (int64_t i = 0; i < size; i++) x[i] -= g[i];
  }
}

/* The largest entry that the projection changes, over the largest. */
static double projected_share(const eb_scene *scene, const double *x) {
  int64_t size = 3 * (int64_t)scene->mesh->node_count;
  owned(double) *g = eb_calloc((size_t)size, sizeof *g);
  double change = 0, scale = 0;
  owned(double) *H = dense_hessian(scene, x, false, g),
                *projected = dense_hessian(scene, x, true, g);
  for (int64_t k = 0; k < size * size; k++) {
    change = fmax(change, fabs(H[k] - projected[k]));
    scale = fmax(scale, fabs(H[k]));
  }
  return change / scale;
}

/* The derivative by one coordinate of a dynamic node: |difference quotient - column of J|_inf. */
static double derivative_error(const eb_scene *scene, const uint8_t *part, const double *x,
                               int64_t coordinate, const eb_conjac *c, int32_t unknown) {
  const double d = 1e-4;
  int64_t size = 3 * (int64_t)scene->mesh->node_count;
  owned(double) *ahead = eb_calloc((size_t)size, sizeof *ahead);
  double most = 0;
  owned(double) *behind = eb_calloc((size_t)size, sizeof *behind);
  memcpy(ahead, x, (size_t)size * sizeof *x);
  memcpy(behind, x, (size_t)size * sizeof *x);
  ahead[coordinate] += d;
  behind[coordinate] -= d;
  find_equilibrium(scene, part, ahead);
  find_equilibrium(scene, part, behind);
  for (int64_t k = 0; k < size; k++)
    most =
        fmax(most, fabs((ahead[k] - behind[k]) / (2 * d) - c->jacobian[k * c->stride + unknown]));
  return most;
}

/* A block that its surface stretches in all directions, so that no element needs a projection and H
 * is the exact Hessian; two inner nodes are dynamic and out of place. */
static void jacobian_is_the_derivative_of_statics(void) {
  owned(fixture) f = fixture_open("nx=4,ny=4,nz=4,ly=1,lz=1,E=1e5,support=surface,dt=0.01");
  int64_t size = 3 * (int64_t)f.state->node_count;
  int32_t node[2] = {node_near(f.scene, 0.5, 0.5, 0.5), node_near(f.scene, 0.75, 0.5, 0.25)};
  owned(uint8_t) *part = eb_calloc((size_t)size, 1);
  owned(double) *x = eb_calloc((size_t)size, sizeof *x);
  double off = 0;
  for (int64_t k = 0; k < size; k++) {
    const double *X = f.scene->mesh->X + k / 3 * 3;
    part[k] = k / 3 == node[0] || k / 3 == node[1];
    for (int d = 0; d < 3; d++) part[k] |= X[d] == 0 || X[d] == 1;
    x[k] = 1.2 * f.scene->mesh->X[k];
  }
  x[3 * node[0]] += 0.02, x[3 * node[1] + 2] -= 0.02;
  find_equilibrium(f.scene, part, x);
  tap_below(projected_share(f.scene, x), 1e-15, "nothing is projected where all is under tension");
  memcpy(f.state->x, x, (size_t)size * sizeof *x);
  char options[64];
  snprintf(options, sizeof options, "selection=list,nodes=%d+%d", node[0], node[1]);
  owned(eb_solver) *solver = solver_open(&f, options, 1);
  solver_step(solver, &f);
  for (int32_t u = 0; u < 6; u++)
    off = fmax(off, derivative_error(f.scene, part, x, 3 * node[u / 3] + u % 3, solver->data, u));
  /* differences of second order: (1e-4 / edge)^2 */
  tap_below(off, 1e-6, "J_qd is the derivative of the static positions");
}

int main(void) {
  steps_are_the_papers();
  jacobian_is_the_derivative_of_statics();
  return tap_done();
}
