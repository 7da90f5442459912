/* Clusters of nodes, which are links and shape matching: derivatives, matrices and their bounds
 * against LAPACK, solvers against each other and against the hexahedra that shape matching of cubes
 * is, the fall of the incremental potential, the audit's own formulas, and what is refused. */
#include "problems/clusters.h"
#include "harness/audit/audit_data.h"
#include "problems/base/vector3.h"
#include "tests/support/audit_fixture.h"
#include "tests/support/stepping.h"
#include "tests/support/dense.h"
#include "tests/support/lapack.h"

/* Elements that are next to nothing beside clusters of the default 1e3 N/m, and the law that
 * projective dynamics takes. */
#define FAINT      "E=1e-6,"
#define PROJECTIVE "material=fixed-corotational,nu=0"

static eb_scene *make(const eb_scene_ops *ops, const char *parameters) {
  eb_scene *scene;
  tap_require(eb_scene_create(ops, parameters, NULL, "", &scene), parameters);
  return scene;
}

static eb_scene *block(const char *parameters) {
  return make(&eb_block_scene, parameters);
}

static double *vector_of(const eb_scene *scene) {
  double *values = calloc(3 * (size_t)scene->mesh->node_count, sizeof *values);
  tap_require(values ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "no memory"), "a vector");
  return values;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Turned, stretched and shaken; shaken hard; pressed through itself, but not as far as where two
 * ways back are as short. */
enum { PLACES = 3 };
static const char *const places[PLACES] = {"shaken", "shaken hard", "inside out"};

static double *place(const eb_scene *scene, int which) {
  static const double noise[PLACES] = {0.02, 0.2, 0.03}, depth[PLACES] = {1.2, 1, -0.4};
  random_state random = random_seed(5 + (uint64_t)which);
  double R[9], *x = vector_of(scene);
  random_rotation(&random, R);
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    const double *X = scene->mesh->X + 3 * i, y[3] = {1.1 * X[0], X[1], depth[which] * X[2]};
    eb_turn3(R, y, x + 3 * i);
    for (int d = 0; d < 3; d++)
      x[3 * i + d] += 0.3 + random_uniform(&random, -noise[which], noise[which]);
  }
  return x;
}

/* ---- references ------------------------------------------------------------------------------ */

/* min over R of sum |p - R q|^2 is sum |p|^2 + |q|^2 - 2 l, l the largest eigenvalue of Horn's
 * matrix (1987, "Closed-form solution of absolute orientation using unit quaternions"). */
static double shape_energy(const eb_scene *scene, int32_t c, const double *x) {
  const eb_cluster_set *set = &scene->clusters;
  int32_t count = set->start[c + 1] - set->start[c];
  const int32_t *node = set->node + set->start[c];
  double mean[2][3] = {{0}}, S[3][3] = {{0}}, square = 0, l[4];
  for (int32_t a = 0; a < count; a++) {
    eb_add3(1. / count, x + 3 * node[a], mean[0]);
    eb_add3(1. / count, scene->mesh->X + 3 * node[a], mean[1]);
  }
  for (int32_t a = 0; a < count; a++) {
    double p[3], q[3];
    for (int d = 0; d < 3; d++) {
      p[d] = x[3 * node[a] + d] - mean[0][d];
      q[d] = scene->mesh->X[3 * node[a] + d] - mean[1][d];
    }
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) S[i][j] += q[i] * p[j];
    square += eb_dot3(p, p) + eb_dot3(q, q);
  }
  double xx = S[0][0], yy = S[1][1], zz = S[2][2];
  double N[16] = {xx + yy + zz,
                  S[1][2] - S[2][1],
                  S[2][0] - S[0][2],
                  S[0][1] - S[1][0],
                  0,
                  xx - yy - zz,
                  S[0][1] + S[1][0],
                  S[2][0] + S[0][2],
                  0,
                  0,
                  yy - zz - xx,
                  S[1][2] + S[2][1],
                  0,
                  0,
                  0,
                  zz - xx - yy};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < i; j++) N[4 * i + j] = N[4 * j + i];
  if (lapack_eigen(4, N, l) != 0) return NAN;
  return 0.5 * set->stiffness[c] * (square - 2 * l[3]);
}

/* A link of stiffness k, which is a cluster of 2 k. */
static double link_energy(const eb_scene *scene, int32_t c, const double *x) {
  const int32_t *node = scene->clusters.node + scene->clusters.start[c];
  const double *X = scene->mesh->X;
  double off = sqrt(eb_squared_distance3(x + 3 * node[0], x + 3 * node[1])) -
               sqrt(eb_squared_distance3(X + 3 * node[0], X + 3 * node[1]));
  return 0.5 * (scene->clusters.stiffness[c] / 2) * off * off;
}

static double reference_energy(const eb_scene *scene, const double *x) {
  double sum = 0;
  for (int32_t c = 0; c < scene->clusters.count; c++)
    sum += scene->clusters.start[c + 1] - scene->clusters.start[c] == 2 ? link_energy(scene, c, x)
                                                                        : shape_energy(scene, c, x);
  return sum;
}

/* ---- energy and derivatives ------------------------------------------------------------------ */

static const char *const kinds[] = {
    "nx=2,ny=1,nz=1,clusters=edges", "nx=2,ny=1,nz=1,clusters=elements",
    "nx=2,ny=1,nz=1,element=hexahedra,clusters=both", "nx=2,ny=1,element=triangles,clusters=both"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static double largest(size_t n, const double *a) {
  double most = 0;
  for (size_t k = 0; k < n; k++) most = fmax(most, isfinite(a[k]) ? fabs(a[k]) : INFINITY);
  return most;
}

/* The clusters' matrix at x, dense; free() it. */
static double *dense_at(const eb_scene *scene, const eb_clusters *clusters, const double *x,
                        bool project) {
  eb_block_matrix *A;
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(scene->elasticity), &A), "a matrix");
  memset(A->values, 0, 9 * (size_t)A->start[A->rows] * sizeof *A->values);
  eb_clusters_matrix(clusters, x, 1, project, A);
  double *dense = dense_of_blocks(A);
  eb_block_matrix_destroy(A);
  return dense;
}

static void product(size_t n, const double *A, const double *p, double *y) {
  for (size_t i = 0; i < n; i++) {
    y[i] = 0;
    for (size_t j = 0; j < n; j++) y[i] += A[n * i + j] * p[j];
  }
}

/* Differences of energy and gradient along a random direction, over 2 e. */
static void derivatives(const char *kind, int which) {
  eb_scene *scene = block(kind);
  eb_clusters clusters;
  tap_require(eb_clusters_create(scene, &clusters), "clusters");
  size_t n = 3 * (size_t)scene->mesh->node_count;
  double *x = place(scene, which), *g = vector_of(scene), *p = vector_of(scene),
         *ends[2] = {vector_of(scene), vector_of(scene)}, *y = vector_of(scene), U[2], slope = 0;
  const double e = 1e-5;
  random_state random = random_seed(11);
  for (size_t k = 0; k < n; k++) p[k] = random_uniform(&random, -1, 1);
  double here = eb_clusters_gradient(&clusters, x, g), size = largest(n, g);
  for (size_t k = 0; k < n; k++) slope += g[k] * p[k];
  for (int side = 0; side < 2; side++) {
    for (size_t k = 0; k < n; k++) y[k] = x[k] + (side ? e : -e) * p[k];
    U[side] = eb_clusters_gradient(&clusters, y, ends[side]);
  }
  tap_near(here, reference_energy(scene, x), 1e-12 * (here + eb_clusters_scale(&clusters)), kind);
  tap_near(eb_clusters_energy(&clusters, x), here, 0, "energy with and without forces");
  /* third derivatives of k / L e^2, rounding of eps U / e */
  tap_near((U[1] - U[0]) / (2 * e), slope, 1e-7 * size * sqrt((double)n), places[which]);
  double *H = dense_at(scene, &clusters, x, false), off = 0;
  product(n, H, p, y);
  for (size_t k = 0; k < n; k++) off = fmax(off, fabs(y[k] - (ends[1][k] - ends[0][k]) / (2 * e)));
  tap_below(off, 1e-6 * largest(n, y), "and the Hessian is the gradient's slope");
  free(H);
  double *const owned[] = {x, g, p, ends[0], ends[1], y};
  for (int k = 0; k < 6; k++) free(owned[k]);
  eb_clusters_clear(&clusters);
  eb_scene_destroy(scene);
}

/* Forces between nodes have neither a sum nor a moment. */
static void forces_balance(const char *kind) {
  eb_scene *scene = block(kind);
  eb_clusters clusters;
  tap_require(eb_clusters_create(scene, &clusters), "clusters");
  double *x = place(scene, 1), *g = vector_of(scene), sum[6] = {0}, size = 0;
  eb_clusters_gradient(&clusters, x, g);
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    double moment[3];
    eb_cross3(x + 3 * i, g + 3 * i, moment);
    eb_add3(1, g + 3 * i, sum);
    eb_add3(1, moment, sum + 3);
    size += sqrt(eb_dot3(g + 3 * i, g + 3 * i));
  }
  tap_below(largest(6, sum), 1e-13 * size, "forces of clusters have neither a sum nor a moment");
  free(g);
  free(x);
  eb_clusters_clear(&clusters);
  eb_scene_destroy(scene);
}

/* All nodes in one place: every cluster pulls as hard as its shape at rest is large, however
 * turned, and everything is finite. */
static void collapsed(const char *kind) {
  eb_scene *scene = block(kind);
  eb_clusters clusters;
  tap_require(eb_clusters_create(scene, &clusters), "clusters");
  const eb_cluster_set *set = &scene->clusters;
  size_t n = 3 * (size_t)scene->mesh->node_count;
  double *x = vector_of(scene), *g = vector_of(scene), worst = 0;
  double scale = eb_clusters_scale(&clusters);
  tap_near(eb_clusters_gradient(&clusters, x, g), scale, 1e-13 * scale,
           "in one place, energy is that of all lengths at rest");
  for (int32_t c = 0; c < set->count; c++) {
    double forces2 = 0, shape2 = 0;
    for (int32_t k = 3 * set->start[c]; k < 3 * set->start[c + 1]; k++) {
      forces2 += clusters.force[k] * clusters.force[k];
      shape2 += set->rest[k] * set->rest[k];
    }
    worst = fmax(worst, fabs(sqrt(forces2 / shape2) / set->stiffness[c] - 1));
  }
  tap_below(worst, 1e-13, "and forces are those of a shape at rest");
  for (int cut = 0; cut < 2; cut++) {
    double *H = dense_at(scene, &clusters, x, cut);
    tap_below(largest(n * n, H), 1e13, "the Hessian is finite");
    free(H);
  }
  free(g);
  free(x);
  eb_clusters_clear(&clusters);
  eb_scene_destroy(scene);
}

/* ---- matrices -------------------------------------------------------------------------------- */

static eb_error link_one(eb_scene *scene) {
  EB_TRY(eb_block_scene.setup(scene));
  return eb_scene_add_link(scene, 1, 0, 500);
}

/* Of a single cluster: the projected matrix is the exact one with its negative eigenvalues set to
 * 0, and what is between the exact one and the bound has none. */
static void matrices(const eb_scene_ops *ops, const char *parameters, int which) {
  eb_scene *scene = make(ops, parameters);
  eb_clusters clusters;
  tap_require(eb_clusters_create(scene, &clusters), "clusters");
  const eb_block_matrix *pattern = eb_elasticity_pattern(scene->elasticity);
  int n = 3 * scene->mesh->node_count;
  size_t size = (size_t)n * (size_t)n;
  double *x = place(scene, which), w[LAPACK_MAX_SIZE], off = 0;
  double *exact = dense_at(scene, &clusters, x, false), *cut = dense_at(scene, &clusters, x, true);
  double *bound = calloc(size, sizeof *bound), *Q = malloc(size * sizeof *Q);
  double *entry = calloc((size_t)pattern->start[pattern->rows], sizeof *entry);
  eb_clusters_bound(&clusters, pattern, entry);
  for (int i = 0; i < pattern->rows; i++)
    for (int b = pattern->start[i]; b < pattern->start[i + 1]; b++)
      for (int d = 0; d < 3; d++) bound[n * (3 * i + d) + 3 * pattern->column[b] + d] = entry[b];
  memcpy(Q, exact, size * sizeof *Q);
  tap_ok(lapack_eigen(n, Q, w) == 0, "%s: eigenvalues", parameters);
  double most = w[n - 1], least = w[0];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += fmax(w[k], 0) * Q[n * k + i] * Q[n * k + j];
      off = fmax(off, fabs(sum - cut[n * i + j]));
    }
  tap_below(off, 1e-11 * fmax(fabs(least), most), places[which]);
  for (size_t k = 0; k < size; k++) bound[k] -= exact[k];
  tap_ok(lapack_eigen(n, bound, w) == 0 && w[0] > -1e-11 * fmax(fabs(least), most),
         "the bound is one: %g of %g is below it", -w[0], most);
  double *const owned[] = {x, exact, cut, bound, Q, entry};
  for (int k = 0; k < 6; k++) free(owned[k]);
  eb_clusters_clear(&clusters);
  eb_scene_destroy(scene);
}

/* ---- solvers --------------------------------------------------------------------------------- */

static void converge_to_newton(void) {
  static const char *const scenes[] = {
      "support=x0,clusters=edges,stiffness=3e3,E=1e2",
      "support=x0,clusters=elements,stiffness=3e3,E=1e2",
      "support=x0,element=hexahedra,clusters=both,stiffness=3e3,E=1e4",
      "support=x0,element=tets5,motion=twist,rate=10,clusters=both,stiffness=3e3,E=1e4",
      "initial=spin,speed=2,element=hexahedra-one-point,clusters=elements,stiffness=3e3,E=1e2"};
  static const char *const methods[][2] = {
      {"pd", ""},           {"pd", "start=last"}, {"pd", "acceleration=anderson"},
      {"pd", "contact=cg"}, {"lbfgs", ""},        {"lbfgs", "window=0"}};
  for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
    char parameters[256], options[96];
    snprintf(parameters, sizeof parameters, "nx=4,dt=0.02,gz=-10," PROJECTIVE ",%s", scenes[s]);
    run newton = start_on(block(parameters), "newton", "rtol=1e-12");
    go_well(&newton, 5);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
      snprintf(options, sizeof options, "rtol=1e-11%s%s", *methods[m][1] ? "," : "", methods[m][1]);
      run ours = start_on(block(parameters), methods[m][0], options);
      go_well(&ours, 5);
      tap_ok(ours.reason > 0, "%s:%s on %s", methods[m][0], options, scenes[s]);
      tap_below(eb_block_distance(ours.state, newton.state), 1e-8, "is newton");
      finish(&ours);
    }
    finish(&newton);
  }
}

/* Digits double near the end, where matrices are exact. */
static void newton_is_quadratic(const char *clusters) {
  char parameters[160];
  snprintf(parameters, sizeof parameters, "nx=4,support=x0,gz=-10,dt=0.05," FAINT PROJECTIVE ",%s",
           clusters);
  run r = start_on(block(parameters), "newton", "project=never,rtol=1e-14");
  double best = 0;
  for (int step = 0; step < 6; step++) {
    tap_ok(go(&r, 1), "%s: a step", clusters);
    const double *left = r.log->residuals;
    for (int64_t k = 0; k + 1 < r.log->residual_count; k++) {
      double digits = -log10(left[k] / left[0]), next = -log10(left[k + 1] / left[0]);
      if (digits > 1 && digits < 5) best = fmax(best, next / digits);
    }
  }
  tap_ok(best > 1.8, "%s: digits double (times %g)", clusters, best);
  finish(&r);
}

/* Shape matching of cubes of edge a, stiffness E a / 2, is mu |F - R|^2 at one point (nu 0) and
 * hourglass control of 4 mu. */
static void shape_matching_is_one_point(void) {
  static const char common[] = "nx=4,ny=2,nz=2,lx=1,ly=0.5,lz=0.5,element=hexahedra-one-point,"
                               "dt=0.02,gz=-10,support=x0," PROJECTIVE;
  static const char *const options[] = {"iterations=3", "rtol=1e-11"};
  char parameters[2][256];
  snprintf(parameters[0], sizeof *parameters, "%s,E=1e5,hourglass=4", common);
  snprintf(parameters[1], sizeof *parameters,
           "%s,E=1e-9,hourglass=0,clusters=elements,stiffness=12500", common);
  for (int o = 0; o < 2; o++) {
    run r[2];
    for (int k = 0; k < 2; k++) r[k] = start_on(block(parameters[k]), "pd", options[o]);
    double far = 0;
    bool alike = true;
    for (int step = 0; step < 10; step++) {
      for (int k = 0; k < 2; k++) go_well(&r[k], 1);
      far = fmax(far, eb_block_distance(r[0].state, r[1].state));
      alike = alike && llabs((long long)(r[0].log->iterations - r[1].log->iterations)) <= 1;
    }
    tap_below(far, o ? 1e-9 : 1e-12, options[o]);
    tap_ok(alike, "shape matching of cubes is one point with hourglass=4");
    for (int k = 0; k < 2; k++) finish(&r[k]);
  }
}

/* W of a step from `before` to x, without its constants. */
static double potential(const run *r, const eb_clusters *clusters, const eb_state *before,
                        const double *x) {
  const double *mass = eb_scene_mass(r->scene), h = r->scene->dt;
  double W = eb_scene_energy(r->scene, x) + eb_clusters_energy(clusters, x);
  for (int64_t k = 0; k < 3 * (int64_t)before->node_count; k++) {
    double off = x[k] - before->x[k] - h * before->v[k];
    W += 0.5 * mass[k / 3] * off * off / (h * h) -
         mass[k / 3] * r->scene->gravity[k % 3] * (x[k] - before->x[k]);
  }
  return W;
}

static void potential_never_rises(const char *more) {
  enum { STEPS = 6, ITERATIONS = 15 };
  char parameters[200], options[32];
  snprintf(parameters, sizeof parameters,
           "nx=3,ny=2,nz=2,dt=0.02,gz=-10,initial=random,speed=3," FAINT PROJECTIVE ",%s", more);
  run r[ITERATIONS];
  eb_state *before;
  eb_clusters clusters;
  double worst = -INFINITY;
  for (int n = 0; n < ITERATIONS; n++) {
    snprintf(options, sizeof options, "iterations=%d", n + 1);
    r[n] = start_on(block(parameters), "pd", options);
  }
  tap_require(eb_state_create(r[0].scene, &before), "a state");
  tap_require(eb_clusters_create(r[0].scene, &clusters), "clusters");
  for (int s = 0; s < STEPS; s++) {
    double last = INFINITY;
    for (int n = 0; n < ITERATIONS; n++) {
      eb_state_copy(before, r[n].state);
      go_well(&r[n], 1);
      double W = potential(&r[n], &clusters, before, r[n].state->x);
      if (n > 0) worst = fmax(worst, (W - last) / (fabs(W) + fabs(last)));
      last = W;
    }
    eb_state_copy(r[ITERATIONS - 1].state, before);
  }
  /* rounding of a sum of some thousand terms */
  tap_below(worst, 1e-12, more);
  eb_clusters_clear(&clusters);
  eb_state_destroy(before);
  for (int n = 0; n < ITERATIONS; n++) finish(&r[n]);
}

/* In equilibrium what is held bears the weight, through the clusters alone. */
static void statics(const char *more) {
  char parameters[160];
  snprintf(parameters, sizeof parameters,
           "nx=3,support=x0,gz=-10,stiffness=1e4," FAINT PROJECTIVE ",%s", more);
  run r = start_on(block(parameters), "newton", "static=true,rtol=1e-10");
  go_well(&r, 1);
  eb_clusters clusters;
  tap_require(eb_clusters_create(r.scene, &clusters), "clusters");
  double *g = vector_of(r.scene), held[3] = {0}, weight = 0;
  eb_clusters_gradient(&clusters, r.state->x, g);
  for (int32_t i = 0; i < r.state->node_count; i++) {
    if (r.scene->mesh->X[3 * i] > 0)
      weight += 10 * eb_scene_mass(r.scene)[i];
    else
      eb_add3(1, g + 3 * i, held);
  }
  tap_near(fabs(held[2]), weight, 1e-8 * weight, more);
  tap_below(hypot(held[0], held[1]), 1e-8 * weight, "held nodes bear the weight of the others");
  free(g);
  eb_clusters_clear(&clusters);
  finish(&r);
}

static void threads_do_not_change_bits(const char *solver) {
  uint64_t hash[2];
  for (int threads = 1; threads <= 2; threads++) {
    eb_scene *scene = block("nx=6,gz=-9.8,support=x0,clusters=both," PROJECTIVE);
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

/* A body that has collapsed, and one whose places are no numbers, are outcomes. */
static void extremes(const char *solver) {
  for (int nan = 0; nan < 2; nan++) {
    run r = start_on(block("nx=2,gz=-9.8,clusters=both," PROJECTIVE), solver, "");
    for (int32_t k = 0; k < 3 * r.state->node_count; k++) r.state->x[k] = 0;
    if (nan) r.state->x[5] = NAN;
    bool well = go(&r, 1);
    tap_ok(nan ? r.reason == EB_DIVERGED_NAN
               : !well || isfinite(largest(3 * (size_t)r.state->node_count, r.state->x)),
           "%s: from %s places: %s", solver, nan ? "impossible" : "collapsed",
           eb_reason_name(r.reason));
    finish(&r);
  }
}

/* ---- the audit ------------------------------------------------------------------------------- */

static const char *const audited_kinds[] = {"nx=2,ny=1,nz=1," PROJECTIVE ",E=1e3,clusters=edges",
                                            "nx=2,ny=1,nz=1," PROJECTIVE ",E=1e3,clusters=elements",
                                            "nx=2,ny=1,nz=1,element=hexahedra," PROJECTIVE
                                            ",E=1e3,clusters=both"};

/* Its energy and residual against those of the solvers' formulas, in every kind of place: of an
 * inverted body reflections would leave none. */
static void audited(const char *kind, int which) {
  char parameters[160];
  snprintf(parameters, sizeof parameters, "%s,gz=-9.8,dt=0.1", kind);
  trial t = {.scene = block(parameters)};
  eb_clusters clusters;
  trial_begin(&t);
  tap_require(eb_clusters_create(t.scene, &clusters), "clusters");
  double *x = place(t.scene, which), *g = trial_vector(&t), residual = 0;
  memcpy(t.after->x, x, t.size * sizeof *x);
  for (size_t k = 0; k < t.size; k++) t.after->v[k] = (t.after->x[k] - t.before->x[k]) / t.h;
  eb_audit_row row = trial_audit(&t, EB_EQUATION_IMPLICIT_EULER, plain, EB_UPDATE_END_VELOCITY);
  double elements = eb_elasticity_energy(t.scene->elasticity, x),
         energy = reference_energy(t.scene, x);
  tap_ok(energy > 1e-3 * eb_clusters_scale(&clusters), "%s, %s: clusters are strained", kind,
         places[which]);
  tap_near(row.totals.elastic, elements + energy,
           1e-12 * (elements + energy + eb_clusters_scale(&clusters)),
           "the audit has their energy among the elastic one");
  eb_elasticity_gradient(t.scene->elasticity, x, g);
  eb_clusters_gradient(&clusters, x, g);
  for (size_t k = 0; k < t.size; k++) {
    double off = t.after->x[k] - t.before->x[k] - t.h * t.before->v[k];
    double r = g[k] + t.mass[k / 3] * (off / (t.h * t.h) - t.scene->gravity[k % 3]);
    residual += r * r;
  }
  tap_near(row.implicit_euler.norm, sqrt(residual), 1e-11 * row.implicit_euler.norm,
           "and their force in the residual");
  free(g);
  free(x);
  eb_clusters_clear(&clusters);
  trial_close(&t);
}

/* Its exact tangent is the slope of its forces; the projected one is the solvers'. */
static void audited_tangents(const char *kind, int which) {
  trial t = {.scene = block(kind)};
  eb_clusters clusters;
  eb_block_matrix *A;
  trial_begin(&t);
  tap_require(eb_clusters_create(t.scene, &clusters), "clusters");
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(t.scene->elasticity), &A), "a matrix");
  double *x = place(t.scene, which), *v = trial_vector(&t), *Kv = trial_vector(&t),
         *y = trial_vector(&t), *g[2] = {trial_vector(&t), trial_vector(&t)}, scale2;
  const double *const vs[] = {v};
  double *const out[] = {Kv};
  const double e = 1e-6;
  trial_audit(&t, EB_EQUATION_IMPLICIT_EULER, plain, EB_UPDATE_END_VELOCITY); /* sets materials */
  trial_shake(&t, 3, 1, v);
  for (int side = 0; side < 2; side++) {
    eb_audit_elastic at = {.g = g[side]};
    for (size_t k = 0; k < t.size; k++) y[k] = x[k] + (side ? e : -e) * v[k];
    eb_audit_elements(t.audit, y, &at);
  }
  eb_audit_tangent(t.audit, x, EB_TANGENT_EXACT, 1, vs, out, &scale2);
  double off = 0, size = largest(t.size, Kv);
  for (size_t k = 0; k < t.size; k++) off = fmax(off, fabs(Kv[k] - (g[1][k] - g[0][k]) / (2 * e)));
  tap_below(off, 1e-6 * size, kind);
  eb_audit_tangent(t.audit, x, EB_TANGENT_PROJECTED, 1, vs, out, &scale2);
  eb_elasticity_matrix(t.scene->elasticity, x, 0, 1, true, A, NULL);
  eb_clusters_matrix(&clusters, x, 1, true, A);
  double *dense = dense_of_blocks(A);
  product(t.size, dense, v, y);
  off = 0;
  for (size_t k = 0; k < t.size; k++) off = fmax(off, fabs(Kv[k] - y[k]));
  tap_below(off, 1e-9 * size, places[which]);
  free(dense);
  double *const owned[] = {x, v, Kv, y, g[0], g[1]};
  for (int k = 0; k < 6; k++) free(owned[k]);
  eb_block_matrix_destroy(A);
  eb_clusters_clear(&clusters);
  trial_close(&t);
}

/* Steps of solvers that serve clusters satisfy it. */
static void steps_pass(const char *solver, const char *kind) {
  char parameters[160];
  snprintf(parameters, sizeof parameters, "%s,gz=-9.8,dt=0.02,support=x0", kind);
  run r = start_on(block(parameters), solver, "");
  trial t = {.scene = block(parameters)};
  trial_begin(&t);
  double worst = 0;
  for (int step = 0; step < 4; step++) {
    eb_state_copy(r.state, t.before);
    go_well(&r, 1);
    eb_state_copy(r.state, t.after);
    eb_audit_row row = trial_audit(&t, EB_EQUATION_IMPLICIT_EULER, plain, EB_UPDATE_END_VELOCITY);
    worst = fmax(worst, row.implicit_euler.relative);
  }
  tap_below(worst, 1e-5, solver);
  trial_close(&t);
  finish(&r);
}

/* ---- scenes ---------------------------------------------------------------------------------- */

static const struct {
  int32_t count, node[3];
  double stiffness;
  const char *said;
} bad[] = {{1, {0}, 1, "two at least"},           {2, {0, 99}, 1, "nodes are 0 to"},
           {2, {-1, 0}, 1, "nodes are 0 to"},     {3, {0, 1, 0}, 1, "node 0 twice"},
           {2, {0, 1}, -1, "stiffness of -1"},    {2, {0, 1}, NAN, "stiffness of"},
           {3, {0, 1, 11}, 1, "share no element"}};
static size_t bad_one; /* which of them the set-up adds */

static eb_error add_bad(eb_scene *scene) {
  EB_TRY(eb_block_scene.setup(scene));
  return eb_scene_add_cluster(scene, bad[bad_one].count, bad[bad_one].node, bad[bad_one].stiffness);
}

/* Two nodes in one place are no mesh, so that X is moved. */
static eb_error add_short(eb_scene *scene) {
  EB_TRY(eb_block_scene.setup(scene));
  double *X = scene->mesh->X, kept[3];
  memcpy(kept, X + 3, sizeof kept);
  memcpy(X + 3, X, sizeof kept);
  eb_error error = eb_scene_add_link(scene, 0, 1, 1);
  memcpy(X + 3, kept, sizeof kept);
  return error;
}

static int32_t one_cut(const eb_scene *scene, eb_cut cuts[EB_MAX_CUTS]) {
  (void)scene;
  cuts[0] = (eb_cut){.normal = {1, 0, 0}, .origin = {0.5, 0, 0}, .radius = 1};
  return 1;
}

static void what_is_refused(void) {
  eb_scene *scene;
  eb_scene_ops ops = eb_block_scene;
  ops.setup = add_bad;
  for (bad_one = 0; bad_one < sizeof bad / sizeof *bad; bad_one++)
    tap_fails(eb_scene_create(&ops, "nx=2,ny=1,nz=1", NULL, "", &scene), EB_ERR_INVALID,
              bad[bad_one].said, bad[bad_one].said);
  ops.setup = add_short;
  tap_fails(eb_scene_create(&ops, "nx=2", NULL, "", &scene), EB_ERR_INVALID, "in one place",
            "a link of no length");
  ops = eb_block_scene;
  ops.cuts = one_cut;
  tap_fails(eb_scene_create(&ops, "nx=2,clusters=edges", NULL, "", &scene), EB_ERR_UNSUPPORTED,
            "neither cuts", "clusters in a body that is cut");
  scene = block("nx=2,clusters=edges,material=fixed-corotational,nu=0");
  tap_ok(eb_scene_needs(scene) & EB_CAP_CLUSTERS, "clusters are a need");
  int served = 0;
  for (const eb_solver_ops *const *at = eb_solvers(); *at; at++) {
    eb_solver *solver;
    if (eb_solver_wants_options(*at)) continue;
    if ((*at)->capabilities & EB_CAP_CLUSTERS)
      served++;
    else
      tap_fails(eb_solver_create(*at, "", scene, 1, 1, &solver), EB_ERR_UNSUPPORTED,
                "clusters of nodes", (*at)->name);
  }
  tap_ok(served == 3, "three solvers serve clusters");
  eb_scene_destroy(scene);
}

static void hash_covers_them(void) {
  static const char *const others[] = {"nx=2", "nx=2,clusters=edges,stiffness=1001",
                                       "nx=2,clusters=elements", "nx=2,clusters=both"};
  eb_scene *a = block("nx=2,clusters=edges"), *b = block("nx=2,clusters=edges");
  tap_ok(a->hash == b->hash, "equal clusters make equal scenes");
  for (int k = 0; k < 4; k++) {
    eb_scene *c = block(others[k]);
    tap_ok(a->hash != c->hash, "%s is another scene", others[k]);
    eb_scene_destroy(c);
  }
  b->clusters.stiffness[3] *= 1.5;
  const char *what;
  tap_require(eb_scene_difference(a, b, &what), "a comparison");
  tap_ok(what && strstr(what, "clusters"), "and a changed one is found");
  eb_scene_destroy(a);
  eb_scene_destroy(b);
}

/* The edges of a cube, and a diagonal a face. */
static void edges_come_once(void) {
  eb_scene *tets = block("nx=1,ny=1,nz=1,element=tets5,clusters=edges"),
           *cube = block("nx=1,ny=1,nz=1,element=hexahedra,clusters=edges"),
           *flat = block("nx=1,ny=1,element=triangles,clusters=edges");
  tap_ok(tets->clusters.count == 18 && cube->clusters.count == 12 && flat->clusters.count == 5,
         "%d, %d and %d edges are linked", tets->clusters.count, cube->clusters.count,
         flat->clusters.count);
  eb_scene_destroy(tets);
  eb_scene_destroy(cube);
  eb_scene_destroy(flat);
}

int main(void) {
  static const char *const serving[] = {"newton", "pd", "lbfgs"};
  static const char *const sorts[] = {"clusters=edges", "clusters=elements", "clusters=both"};
  eb_scene_ops one_link = eb_block_scene;
  one_link.setup = link_one;
  for (int k = 0; k < KINDS; k++) {
    for (int p = 0; p < PLACES; p++) derivatives(kinds[k], p);
    forces_balance(kinds[k]);
    collapsed(kinds[k]);
  }
  for (int p = 0; p < PLACES; p++) {
    matrices(&eb_block_scene, "nx=1,ny=1,nz=1,element=hexahedra,clusters=elements", p);
    matrices(&one_link, "nx=1,ny=1,nz=1", p);
    for (int k = 0; k < 3; k++) {
      audited(audited_kinds[k], p);
      audited_tangents(audited_kinds[k], p);
    }
  }
  converge_to_newton();
  for (int k = 0; k < 3; k++) {
    newton_is_quadratic(sorts[k]);
    potential_never_rises(sorts[k]);
    statics(sorts[k]);
    threads_do_not_change_bits(serving[k]);
    extremes(serving[k]);
    for (int s = 0; s < 3; s++) steps_pass(serving[k], audited_kinds[s]);
  }
  potential_never_rises("clusters=elements,element=hexahedra-one-point,hourglass=0");
  shape_matching_is_one_point();
  what_is_refused();
  hash_covers_them();
  edges_come_once();
  return tap_done();
}
