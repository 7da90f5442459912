/* Position-based finite elements: the order of elements, constraints and their gradients, what
 * projections keep, and steps against a scalar oracle. */
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/elasticity/rotation.h"
#include "problems/elasticity/svd3.h"
#include "solvers/position_based/position_constraints.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"
#include "tests/support/elements.h"
#include "tests/support/random.h"

OWNED(eb_batches, eb_batches_clear)

enum { MOST = 8 };

/* ---- the order of elements ------------------------------------------------------------------- */

/* Every element once, no two of a batch at one node, and no two batches of chunks that do not wait
 * for each other, however long the way. */
static bool is_order(const eb_mesh *mesh, const eb_batches *b) {
  owned(int32_t) *batch_at = eb_calloc((size_t)mesh->node_count, sizeof *batch_at);
  owned(int32_t) *times = eb_calloc((size_t)mesh->element_count, sizeof *times);
  bool good = b->chunk_start[b->chunk_count] == b->batch_count;
  for (int32_t k = 0; k < b->batch_count * EB_LANES; k++) {
    int32_t e = b->element[k];
    if (e < 0) continue;
    times[e]++;
    for (int a = 0; a < b->nodes; a++) {
      int32_t node = mesh->elements[e * b->nodes + a];
      good &= batch_at[node] != k / EB_LANES + 1 &&
              b->node[(k / EB_LANES * b->nodes + a) * EB_LANES + k % EB_LANES] == b->particle[node];
      batch_at[node] = k / EB_LANES + 1;
    }
  }
  for (int32_t e = 0; e < mesh->element_count; e++) good &= times[e] == 1;
  return good;
}

/* Lanes without an element let no chunk wait for another: each chunk has a particle of its own for
 * them. */
static bool empty_lanes_are_apart(const eb_batches *b) {
  bool good = true;
  for (int32_t c = 0; c < b->chunk_count; c++)
    for (int32_t k = EB_LANES * b->chunk_start[c]; k < EB_LANES * b->chunk_start[c + 1]; k++)
      for (int a = 0; a < b->nodes && b->element[k] < 0; a++)
        good &=
            b->node[(k / EB_LANES * b->nodes + a) * EB_LANES + k % EB_LANES] == b->node_count + c;
  return good;
}

static void elements_are_in_order(void) {
  static const struct {
    const char *parameters;
    double waste; /* lanes without an element, as a share of the elements, at most */
  } cases[] = {{"nx=12,ny=10,nz=9,element=hexahedra", 0.1},
               {"nx=12,ny=10,nz=9,element=tets6", 0.1},
               {"nx=9,ny=8,nz=8,element=tets5", 0.1},
               {"nx=1,ny=1,nz=1,element=hexahedra", 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    owned(eb_scene) *scene = NULL;
    owned(eb_batches) batches;
    tap_require(eb_block_create(&scene, "%s", cases[i].parameters), cases[i].parameters);
    tap_require(eb_batches_create(scene, &batches), "batches");
    tap_ok(is_order(scene->mesh, &batches), "%s: elements of a batch share no node",
           cases[i].parameters);
    tap_ok(empty_lanes_are_apart(&batches), "nor do empty lanes of different chunks");
    tap_below((double)batches.batch_count * EB_LANES / scene->mesh->element_count - 1,
              cases[i].waste, "and few lanes are empty");
  }
  owned(eb_scene) *plane = NULL;
  owned(eb_batches) none;
  tap_require(eb_block_create(&plane, "element=triangles"), "triangles");
  tap_fails(eb_batches_create(plane, &none), EB_ERR_UNSUPPORTED, "tetrahedra and hexahedra",
            "triangles are refused");
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* One distorted element in all lanes but the last, and its particles. */
typedef struct element {
  eb_scene scene; /* mesh and elasticity alone */
  eb_mesh *mesh;
  eb_batches batches;
  eb_particle at[MOST + 1];
} element;

static void element_open(element *e, eb_element_type type, random_state *random) {
  static const double corner[MOST][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                         {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  static const int tetrahedron[4] = {0, 1, 3, 4};
  static const eb_material any = {.kind = EB_LINEAR, .young = 1, .density = 1};
  int A = (int)type;
  tap_require(eb_mesh_create(type, A, 1, &e->mesh), "a mesh");
  for (int a = 0; a < A; a++) {
    e->mesh->elements[a] = a;
    for (int d = 0; d < 3; d++)
      e->mesh->X[3 * a + d] =
          corner[A == 4 ? tetrahedron[a] : a][d] + random_uniform(random, -0.15, 0.15);
  }
  e->scene.mesh = e->mesh;
  tap_require(eb_elasticity_create(e->mesh, &any, &e->scene.elasticity), "an elasticity");
  tap_require(eb_batches_create(&e->scene, &e->batches), "batches");
  for (int a = 0; a < A; a++) e->at[a][3] = random_uniform(random, 0.5, 2);
  e->at[A] = eb_v4_set(0);
}

static void element_close(element *e) {
  eb_batches_clear(&e->batches);
  eb_elasticity_destroy(e->scene.elasticity);
  eb_mesh_destroy(e->mesh);
}
OWNED(element, element_close)

enum { SHAPE, DETERMINANT, TRACE, HOURGLASS, CONSTRAINTS };
static const char *const constraint_names[] = {"|F - R|^2", "det F", "tr R^T F", "sum |G|^2"};

static void load(const element *e, eb_batch *batch) {
  if (e->batches.nodes == EB_HEXAHEDRON)
    eb_load(EB_HEXAHEDRON, &e->batches, 0, e->at, batch);
  else
    eb_load(EB_TETRAHEDRON, &e->batches, 0, e->at, batch);
}

/* P = dC/dF of a constraint, or G of hourglass modes; returns its value. */
static eb_v4 slope_of(const eb_batch *b, int which, const double R[9], const eb_v4 F[9], eb_v4 P[9],
                      eb_v4 G[EB_HOURGLASSES][3]) {
  eb_v4 value = eb_determinant(F, P), sum = {0}, trace = {0};
  for (int i = 0; i < 9; i++) {
    eb_v4 D = F[i] - R[i];
    sum += D * D;
    trace += R[i] * F[i];
    if (which == SHAPE) P[i] = 2 * D;
    if (which == TRACE) P[i] = eb_v4_set(R[i]);
    if (which == HOURGLASS) P[i] = eb_v4_set(0);
  }
  if (which == SHAPE) return sum;
  if (which == TRACE) return trace;
  if (which == DETERMINANT) return value;
  eb_hourglass_modes(b, F, G);
  value = eb_contract_modes(G, G);
  for (int i = 0; i < EB_HOURGLASSES; i++)
    for (int d = 0; d < 3; d++) G[i][d] *= 2;
  return value;
}

/* Value of a constraint at lane 0, and, where they are asked for, its gradients (A x 3): what
 * eb_move moves particles of inverse mass 1 at the origin by. */
static double value_of(const element *e, int which, const double R[9], double (*gradient)[3]) {
  int A = e->batches.nodes;
  eb_batch b;
  eb_v4 F[9], P[9], G[EB_HOURGLASSES][3];
  load(e, &b);
  eb_deformation(A, &b, F);
  double value = slope_of(&b, which, R, F, P, G)[0];
  if (!gradient) return value;
  for (int a = 0; a < A; a++)
    for (int d = 0; d < 4; d++) b.x[a][d] = eb_v4_set(d == 3);
  eb_move(A, P, which == HOURGLASS ? G : NULL, &b);
  for (int a = 0; a < A; a++)
    for (int d = 0; d < 3; d++) gradient[a][d] = b.x[a][d][0];
  return value;
}

/* Nodes where A0 takes them, and a little noise. */
static void place(element *e, const double A0[9], random_state *random) {
  for (int a = 0; a < e->batches.nodes; a++)
    for (int d = 0; d < 3; d++) {
      const double *X = e->mesh->X + 3 * a;
      e->at[a][d] = A0[3 * d] * X[0] + A0[3 * d + 1] * X[1] + A0[3 * d + 2] * X[2] + 0.3 * d +
                    random_uniform(random, -0.2, 0.2);
    }
}

static void gradients_are_derivatives(void) {
  static const struct {
    const char *name;
    double A[9];
  } shapes[] = {{"turned", {0, -1, 0, 1, 0, 0, 0, 0, 1}},
                {"stretched", {3, 0.4, 0, 0, 0.5, 0.2, 0, 0, 2}},
                {"inverted", {1, 0, 0.3, 0, -1.2, 0, 0, 0.1, 1}},
                {"collapsed", {0, 0, 0, 0, 0, 0, 0, 0, 0}}};
  static const eb_element_type types[] = {EB_TETRAHEDRON, EB_HEXAHEDRON};
  random_state random = random_seed(3);
  for (int t = 0; t < 2; t++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      owned(element) e;
      double R[9];
      element_open(&e, types[t], &random);
      place(&e, shapes[s].A, &random);
      random_rotation(&random, R);
      for (int c = 0; c < (t ? CONSTRAINTS : HOURGLASS); c++) {
        const double d = 1e-5;
        double gradient[MOST][3], most = 0, size = 0;
        value_of(&e, c, R, gradient);
        for (int a = 0; a < e.batches.nodes; a++)
          for (int k = 0; k < 3; k++) {
            double kept = e.at[a][k];
            e.at[a][k] = kept + d;
            double ahead = value_of(&e, c, R, NULL);
            e.at[a][k] = kept - d;
            double behind = value_of(&e, c, R, NULL);
            e.at[a][k] = kept;
            most = fmax(most, fabs((ahead - behind) / (2 * d) - gradient[a][k]));
            size = fmax(size, fabs(gradient[a][k]));
          }
        /* Cubics: d^2 of the third derivative, and roundings over d. */
        char name[96];
        snprintf(name, sizeof name, "%d nodes, %s: gradient of %s", e.batches.nodes, shapes[s].name,
                 constraint_names[c]);
        tap_below(most, 1e-8 * (1 + size), name);
      }
    }
}

/* P : P M is sum w |P g|^2, and G N G the same of hourglass modes. */
static void mobilities_are_sums(void) {
  random_state random = random_seed(5);
  for (int t = 0; t < 2; t++) {
    owned(element) e;
    element_open(&e, t ? EB_HEXAHEDRON : EB_TETRAHEDRON, &random);
    place(&e, (const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, &random);
    int A = e.batches.nodes;
    for (int c = 0; c < (t ? CONSTRAINTS : HOURGLASS); c++) {
      double R[9], gradient[MOST][3], sum = 0;
      eb_batch b;
      eb_v4 F[9], P[9], M[6], Q[9], G[EB_HOURGLASSES][3], H[EB_HOURGLASSES][3];
      eb_v4 N[EB_HOURGLASSES][EB_HOURGLASSES];
      random_rotation(&random, R);
      value_of(&e, c, R, gradient);
      for (int a = 0; a < A; a++)
        for (int d = 0; d < 3; d++) sum += e.at[a][3] * gradient[a][d] * gradient[a][d];
      load(&e, &b);
      eb_deformation(A, &b, F);
      slope_of(&b, c, R, F, P, G);
      eb_mobility(A, &b, M);
      eb_times_symmetric(3, P, M, Q);
      double got = eb_contract9(P, Q)[0];
      if (c == HOURGLASS) {
        eb_hourglass_mobility(&b, N);
        eb_times_hourglass_mobility(G, N, H);
        got = eb_contract_modes(G, H)[0];
      }
      tap_near(got, sum, 1e-13 * sum, constraint_names[c]); /* sums of some 30 terms */
    }
  }
}

/* Parallelepipeds are told by what rounding makes of their skew. */
static void skew_is_kept_where_there_is_some(void) {
  static const char *const cases[] = {"element=hexahedra,lx=0.7,nx=7,ny=3,nz=9,lz=3.1",
                                      "element=hexahedra,nx=4,ny=4,nz=4,jitter=0.1"};
  for (int c = 0; c < 2; c++) {
    owned(eb_scene) *scene = NULL;
    owned(eb_batches) batches;
    tap_require(eb_block_create(&scene, "%s", cases[c]), cases[c]);
    tap_require(eb_batches_create(scene, &batches), "batches");
    tap_ok((batches.skew != NULL) == c, "%s: %s", cases[c], c ? "a skew" : "no skew");
  }
}

/* ---- the oracle ------------------------------------------------------------------------------ */

/* A projection of one element at positions x with inverse masses w, one number after the other:
 * Algorithms 2 and 3 as they are printed, with C_HG of Eqs. 4.33 and 4.34. */
typedef struct oracle {
  int nodes;
  double slope[MOST][3], gamma[4][MOST], w[MOST], R[9], ks, khg, kv;
  bool norm, trace;
} oracle;

static void oracle_measure(const eb_mesh *mesh, int32_t e, oracle *o) {
  /* rows of Eq. 4.32, with row 1, column 8 mended */
  static const double H[4][MOST] = {{1, 1, -1, -1, -1, -1, 1, 1},
                                    {1, -1, -1, 1, -1, 1, 1, -1},
                                    {1, -1, 1, -1, 1, -1, 1, -1},
                                    {-1, 1, -1, 1, 1, -1, 1, -1}};
  double N[MOST], D[MOST][3], J[3][3] = {{0}}, inverse[3][3];
  o->nodes = (int)mesh->type;
  const int32_t *node = mesh->elements + e * o->nodes;
  reference_shapes(mesh->type, (const double[3]){0.5, 0.5, 0.5}, N, D);
  for (int a = 0; a < o->nodes; a++)
    for (int i = 0; i < 9; i++) J[i / 3][i % 3] += mesh->X[3 * node[a] + i / 3] * D[a][i % 3];
  reference_invert(J, inverse);
  for (int a = 0; a < o->nodes; a++)
    for (int i = 0; i < 3; i++)
      o->slope[a][i] = D[a][0] * inverse[0][i] + D[a][1] * inverse[1][i] + D[a][2] * inverse[2][i];
  for (int i = 0; i < 4; i++)
    for (int a = 0; a < 8 && o->nodes == 8; a++) {
      o->gamma[i][a] = H[i][a];
      for (int j = 0; j < 3; j++) {
        double along = 0;
        for (int b = 0; b < 8; b++) along += H[i][b] * mesh->X[3 * node[b] + j];
        o->gamma[i][a] -= along * o->slope[a][j];
      }
      o->gamma[i][a] /= 8;
    }
}

/* SOLVECONSTRAINT: adds to move. */
static void oracle_solve(const oracle *o, double C, double (*f)[3], double k, double (*move)[3]) {
  double sum = 0;
  for (int a = 0; a < o->nodes; a++)
    for (int d = 0; d < 3; d++) sum += o->w[a] * f[a][d] * f[a][d];
  for (int a = 0; a < o->nodes && sum > 0; a++)
    for (int d = 0; d < 3; d++) move[a][d] -= k * C / sum * o->w[a] * f[a][d];
}

static void oracle_project(const oracle *o, double (*x)[3]) {
  double F[3][3] = {{0}}, cr[MOST][3] = {{0}}, hg[MOST][3] = {{0}}, v[MOST][3] = {{0}},
         move[MOST][3] = {{0}}, G[4][3] = {{0}}, shape = 0, hourglass = 0, volume;
  for (int a = 0; a < o->nodes; a++)
    for (int i = 0; i < 9; i++) F[i / 3][i % 3] += x[a][i / 3] * o->slope[a][i % 3];
  double trace = -3;
  for (int i = 0; i < 9; i++) {
    double D = F[i / 3][i % 3] - o->R[i];
    shape += D * D;
    trace += F[i / 3][i % 3] * o->R[i];
    for (int a = 0; a < o->nodes; a++) cr[a][i / 3] += 2 * D * o->slope[a][i % 3];
  }
  volume = -1;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    for (int l = 0; l < 3; l++) {
      int m = (l + 1) % 3, n = (l + 2) % 3;
      double cofactor = F[j][m] * F[k][n] - F[j][n] * F[k][m];
      if (i == 0) volume += F[0][l] * cofactor;
      for (int a = 0; a < o->nodes; a++)
        v[a][i] += (o->trace ? 2 * trace * o->R[3 * i + l] : cofactor) * o->slope[a][l];
    }
  }
  if (o->trace) volume = trace * trace;
  for (int i = 0; i < 4 && o->nodes == 8; i++)
    for (int d = 0; d < 3; d++) {
      for (int a = 0; a < 8; a++) G[i][d] += o->gamma[i][a] * x[a][d];
      hourglass += G[i][d] * G[i][d];
      for (int a = 0; a < 8; a++) hg[a][d] += 2 * o->gamma[i][a] * G[i][d];
    }
  /* C and gradient of the root of an energy: C^(1/2), dC / (2 C^(1/2)); C / |dC|^2 doubles */
  double times = o->norm ? 2 : 1;
  oracle_solve(o, shape, cr, times * o->ks, move);
  oracle_solve(o, hourglass, hg, times * o->khg, move);
  oracle_solve(o, volume, v, (o->trace ? times : 1) * o->kv, move);
  for (int a = 0; a < o->nodes; a++)
    for (int d = 0; d < 3; d++) x[a][d] += move[a][d];
}

/* The rotation of an element at x. */
static void oracle_rotate(double (*x)[3], oracle *o) {
  eb_v4 F[9], R[9];
  for (int k = 0; k < 9; k++) {
    double sum = 0;
    for (int a = 0; a < o->nodes; a++) sum += x[a][k / 3] * o->slope[a][k % 3];
    F[k] = eb_v4_set(sum);
  }
  eb_polar3(F, R);
  for (int k = 0; k < 9; k++) o->R[k] = R[k][0];
}

/* x (nodes x 3) after `iterations` over all elements in the order of the batches. */
static void oracle_iterate(const eb_scene *scene, const uint8_t *fixed, oracle o, int iterations,
                           double *x) {
  const eb_mesh *mesh = scene->mesh;
  const double *mass = eb_scene_mass(scene);
  eb_batches batches;
  owned(double) *R = eb_calloc(9 * (size_t)mesh->element_count, sizeof *R);
  tap_require(eb_batches_create(scene, &batches), "batches");
  for (int n = -1; n < iterations; n++)
    for (int32_t k = 0; k < batches.batch_count * EB_LANES; k++) {
      double own[MOST][3];
      int32_t e = batches.element[k];
      if (e < 0) continue;
      const int32_t *node = mesh->elements + e * batches.nodes;
      oracle_measure(mesh, e, &o);
      for (int a = 0; a < o.nodes; a++) {
        memcpy(own[a], x + 3 * node[a], sizeof own[a]);
        o.w[a] = fixed[node[a]] ? 0 : 1 / mass[node[a]];
      }
      if (n < 0) {
        oracle_rotate(own, &o);
        memcpy(R + 9 * e, o.R, sizeof o.R);
        continue;
      }
      memcpy(o.R, R + 9 * e, sizeof o.R);
      oracle_project(&o, own);
      for (int a = 0; a < o.nodes; a++) memcpy(x + 3 * node[a], own[a], sizeof own[a]);
    }
  eb_batches_clear(&batches);
}

static void steps_are_the_oracles(void) {
  enum { MESHES = 4 };
  static const char *const meshes[MESHES] = {
      "nx=3,ny=2,nz=1,element=hexahedra", "nx=2,ny=2,nz=2,element=hexahedra,jitter=0.2",
      "nx=2,ny=1,nz=1,element=tets5", "nx=2,ny=2,nz=2,element=tets6,jitter=0.2"};
  static const struct {
    const char *options;
    oracle o;
  } cases[] = {
      {"ks=0.7,khg=0.4,kv=0.3", {.ks = 0.7, .khg = 0.4, .kv = 0.3}},
      {"ks=0.7,khg=0.4,kv=0.3,constraint=norm", {.ks = 0.7, .khg = 0.4, .kv = 0.3, .norm = true}},
      {"ks=0.2,khg=0,kv=0.9,volume=trace", {.ks = 0.2, .kv = 0.9, .trace = true}},
      {"ks=0.2,khg=1,kv=0.9,volume=trace,constraint=norm",
       {.ks = 0.2, .khg = 1, .kv = 0.9, .norm = true, .trace = true}},
      {"ks=1,khg=0,volume=none", {.ks = 1}}};
  for (size_t k = 0; k < MESHES * sizeof cases / sizeof *cases; k++) {
    char text[200], options[160];
    const oracle *o = &cases[k / MESHES].o;
    snprintf(text, sizeof text, "%s,dt=0.02,initial=random,speed=4,gz=-9.8,support=x0",
             meshes[k % MESHES]);
    owned(fixture) f = fixture_open(text);
    double most = 0, h = f.scene->dt;
    size_t size = 3 * (size_t)f.state->node_count;
    owned(double) *x = eb_calloc(size, sizeof *x), *target = eb_calloc(size, sizeof *target);
    owned(uint8_t) *fixed = eb_calloc(size, 1);
    eb_scene_boundary(f.scene, h, fixed, target);
    for (size_t i = 0; i < size; i++)
      x[i] =
          fixed[i / 3] ? target[i] : f.state->x[i] + h * f.state->v[i] - (i % 3 == 2) * 9.8 * h * h;
    oracle_iterate(f.scene, fixed, *o, 3, x);
    snprintf(options, sizeof options, "bounded=false,iterations=3,order=symplectic,rotation=svd,%s",
             cases[k / MESHES].options);
    fixture_step(&f, "pbfe", options, 1);
    for (size_t i = 0; i < size; i++) most = fmax(most, fabs(f.state->x[i] - x[i]));
    /* Roundings of some twenty projections of positions of 1 m, which strains divide by. */
    snprintf(text, sizeof text, "%s: %s", meshes[k % MESHES], cases[k / MESHES].options);
    tap_below(most, 1e-12, text);
  }
}

/* ---- what is kept ---------------------------------------------------------------------------- */

/* Sums over the nodes of m (v1 - v0), and of its moment about the origin with arms at `arms`, over
 * the sums of their sizes. */
static void kicks(const fixture *f, const eb_state *start, const double *arms, double *push,
                  double *turn) {
  const double *mass = eb_scene_mass(f->scene);
  double P[3] = {0}, L[3] = {0}, p = 0, l = 0;
  for (int64_t i = 0; i < start->node_count; i++) {
    double kick[3], moment[3];
    for (int d = 0; d < 3; d++) kick[d] = mass[i] * (f->state->v[3 * i + d] - start->v[3 * i + d]);
    eb_cross3(arms + 3 * i, kick, moment);
    eb_add3(1, kick, P);
    eb_add3(1, moment, L);
    p += sqrt(eb_dot3(kick, kick));
    l += sqrt(eb_dot3(moment, moment));
  }
  *push = p > 0 ? sqrt(eb_dot3(P, P)) / p : 0;
  *turn = l > 0 ? sqrt(eb_dot3(L, L)) / l : 0;
}

/* One projection of one hexahedron, where the rotation is that of F: neither pushed nor turned. */
static void projections_keep_momenta(void) {
  static const char *const cases[] = {"ks=1,khg=0,kv=0", "ks=0,khg=1,kv=0", "ks=0,khg=0,kv=1",
                                      "ks=0,khg=0,kv=1,volume=trace"};
  for (int c = 0; c < 4; c++)
    for (int norm = 0; norm < 2; norm++) {
      char options[128];
      double push, turn;
      owned(fixture) f = fixture_open(
          "nx=1,ny=1,nz=1,lx=1,ly=0.7,lz=1.3,element=hexahedra,dt=0.1,initial=random,speed=3");
      owned(eb_state) *start = new_state(f.scene);
      for (int k = 0; k < 24; k++) start->x[k] += f.scene->dt * start->v[k]; /* where R is found */
      snprintf(options, sizeof options, "iterations=1,rotation=svd,constraint=%s,%s",
               norm ? "norm" : "energy", cases[c]);
      fixture_step(&f, "pbfe", options, 1);
      kicks(&f, start, start->x, &push, &turn);
      tap_below(push, 1e-13, options); /* velocities of 3 m/s from positions over h */
      tap_below(turn, 1e-13, "and does not turn");
      tap_ok(eb_block_distance(f.state, start) > 1e-4, "but moves");
    }
}

static void bodies_keep_momentum(void) {
  static const char *const meshes[] = {"hexahedra", "tets6"};
  for (int m = 0; m < 2; m++) {
    char parameters[120];
    double push, turn;
    snprintf(parameters, sizeof parameters, "nx=5,initial=random,speed=2,dt=0.03,element=%s",
             meshes[m]);
    owned(fixture) f = fixture_open(parameters);
    owned(eb_state) *start = new_state(f.scene);
    fixture_step(&f, "pbfe", "rotation=spin,damping=0.3", 20);
    kicks(&f, start, start->x, &push, &turn);
    tap_below(push, 1e-13, meshes[m]); /* of 20 steps, each with 10 sweeps */
  }
}

static double spread(const fixture *f) {
  double sum = 0;
  for (int64_t k = 0; k < 3 * (int64_t)f->state->node_count; k++)
    sum += f->state->v[k] * f->state->v[k];
  return sum;
}

/* Without constraints, damping is all that a step does to velocities. */
static void damping_keeps_momenta(void) {
  static const char *const quiet = "iterations=0,damping=0.5";
  for (int hexahedra = 0; hexahedra < 2; hexahedra++) {
    double push, turn;
    owned(fixture) f = fixture_open(hexahedra ? "nx=4,initial=random,element=hexahedra"
                                              : "nx=4,initial=random,element=tets6");
    owned(eb_state) *start = new_state(f.scene);
    double before = spread(&f);
    fixture_step(&f, "pbfe", quiet, 1);
    kicks(&f, start, start->x, &push, &turn);
    tap_below(push, 1e-13, "damping does not push"); /* of some hundred elements, one by one */
    tap_below(turn, 1e-13, "nor turn");
    tap_below(spread(&f), 0.5 * before, "and calms");
  }
  owned(fixture) f = fixture_open("nx=4,element=tets6");
  const double w[3] = {1, -2, 0.5};
  double most = 0;
  for (int64_t i = 0; i < f.state->node_count; i++)
    eb_cross3(w, f.state->x + 3 * i, f.state->v + 3 * i);
  fixture_step(&f, "pbfe", quiet, 1);
  for (int64_t i = 0; i < f.state->node_count; i++) {
    double v[3];
    eb_cross3(w, f.scene->mesh->X + 3 * i, v);
    most = fmax(most, sqrt(eb_squared_distance3(v, f.state->v + 3 * i)));
  }
  tap_below(most, 1e-12, "a rigid motion is not damped"); /* m/s of 2, by way of x over h */
}

/* ---- motion ---------------------------------------------------------------------------------- */

/* n steps of a fall are g h^2 n (n - 1) / 2 deep in the order of the thesis, where forces come
 * late, and g h^2 n (n + 1) / 2 in the other; speeds are alike. */
static void it_falls(void) {
  for (int symplectic = 0; symplectic < 2; symplectic++) {
    owned(fixture) f = fixture_open("nx=3,gz=-9.8,element=hexahedra,dt=0.01");
    enum { STEPS = 40 };
    fixture_step(&f, "pbfe", symplectic ? "order=symplectic" : "order=paper", STEPS);
    double depth = 9.8e-4 * STEPS * (STEPS + (symplectic ? 1 : -1)) / 2, most = 0, fastest = 0;
    for (int64_t k = 2; k < 3 * (int64_t)f.state->node_count; k += 3) {
      most = fmax(most, fabs(f.state->x[k] - f.scene->mesh->X[k] + depth));
      fastest = fmax(fastest, fabs(f.state->v[k] + 9.8 * STEPS * 0.01));
    }
    /* Rounding of positions of 1 m, over h in velocities, in each step. */
    tap_below(most, 1e-13, symplectic ? "order=symplectic: a fall" : "order=paper: a fall");
    tap_below(fastest, 1e-11, "and its speed");
    tap_ok(f.log->equation == EB_EQUATION_POSITION_BASED && f.reason == EB_CONVERGED_ITS &&
               f.log->iterations == 10,
           "it says what it is");
  }
}

static void held_nodes_are_held(void) {
  owned(fixture) f = fixture_open("nx=5,support=ends,motion=twist,rate=9,gz=-9.8,dt=0.02");
  owned(double) *target = eb_calloc(3 * (size_t)f.state->node_count, sizeof *target);
  double most = 0;
  owned(uint8_t) *fixed = eb_calloc((size_t)f.state->node_count, 1);
  fixture_step(&f, "pbfe", "damping=0.5", 30);
  eb_scene_boundary(f.scene, f.state->time, fixed, target);
  for (int64_t k = 0; k < 3 * (int64_t)f.state->node_count; k++)
    if (fixed[k / 3]) most = fmax(most, fabs(f.state->x[k] - target[k]));
  tap_near(most, 0, 0, "scripted nodes are where the script has them");
  tap_ok(all_finite(f.state), "and what hangs on them goes along");
}

/* det F - 1 by Newton's method: an inverted element goes through flat. */
static void volumes_come_back(void) {
  static const char *const meshes[] = {"hexahedra", "tets5"};
  for (int m = 0; m < 2; m++) {
    char parameters[120];
    snprintf(parameters, sizeof parameters, "nx=1,ny=1,nz=1,lx=1,ly=1,lz=1,element=%s", meshes[m]);
    owned(fixture) f = fixture_open(parameters);
    for (int64_t i = 0; i < f.state->node_count; i++) f.state->x[3 * i + 2] *= -0.8;
    fixture_step(&f, "pbfe", "ks=0,khg=0,kv=1,iterations=200", 1);
    double most = 0;
    for (int32_t e = 0; e < f.scene->mesh->element_count; e++)
      most = fmax(most, fabs(eb_mesh_element_volume(f.scene->mesh, f.state->x, e) /
                                 eb_mesh_element_volume(f.scene->mesh, f.scene->mesh->X, e) -
                             1));
    /* Five tetrahedra that share nodes converge linearly; one element at once. */
    tap_below(most, m ? 1e-6 : 1e-12, meshes[m]);
  }
}

/* A tetrahedron two of whose nodes are held: what |F - R| is after a projection, over before, most
 * in any of many places. */
static double rise(bool bounded) {
  random_state random = random_seed(11);
  double most = 0;
  for (int n = 0; n < 200; n++) {
    owned(element) e;
    double R[9];
    eb_batch b;
    eb_v4 F[9], M[6], D[9], Q[9], left[9];
    element_open(&e, EB_TETRAHEDRON, &random);
    place(&e, (const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, &random);
    random_rotation(&random, R);
    for (int a = 2; a < 4; a++) e.at[a][3] = 0;
    load(&e, &b);
    eb_deformation(EB_TETRAHEDRON, &b, F);
    eb_mobility(EB_TETRAHEDRON, &b, M);
    for (int i = 0; i < 9; i++) D[i] = F[i] - R[i];
    eb_times_symmetric(3, D, M, Q);
    eb_v4 size2 = eb_contract9(D, D), step = eb_linear_step(eb_v4_set(1), size2, eb_contract9(D, Q),
                                                            eb_contract9(Q, Q), bounded);
    for (int i = 0; i < 9; i++) left[i] = D[i] - step * Q[i];
    most = fmax(most, sqrt(eb_contract9(left, left)[0] / size2[0]));
  }
  return most;
}

static void bounds_hold(void) {
  tap_below(rise(true), 1 + 1e-14, "a bounded projection does not raise its constraint");
  tap_ok(rise(false) > 2, "which others do, where held nodes leave it little to move");
}

/* ---- colliders ------------------------------------------------------------------------------- */

static void colliders_are_kept_out_of(void) {
  for (int implicit = 0; implicit < 2; implicit++) {
    owned(fixture) f = fixture_open("nx=4,lz=0.4,gz=-9.8,dt=0.01,element=hexahedra");
    f.scene->contacts.collider_count = 1;
    f.scene->contacts.colliders[0] = (eb_collider){.kind = EB_PLANE,
                                                   .origin = {0, 0, -0.05},
                                                   .axis = {0, 0, 1},
                                                   .margin = 0.01,
                                                   .stiffness = 1e6,
                                                   .damping = 1e3,
                                                   .friction = 0.5,
                                                   .implicit = implicit};
    for (int64_t i = 0; i < f.state->node_count; i++) f.state->v[3 * i] = 1;
    fixture_step(&f, "pbfe", "damping=0.2", 200);
    double lowest = INFINITY, fastest = 0;
    for (int64_t i = 0; i < f.state->node_count; i++) {
      lowest = fmin(lowest, f.state->x[3 * i + 2]);
      fastest = fmax(fastest, fabs(f.state->v[3 * i]));
    }
    /* The last sweep over elements is not followed by collisions where they are implicit. */
    tap_ok(lowest > -0.04 - (implicit ? 2e-3 : 0), "%s colliders are kept out of",
           implicit ? "implicit" : "explicit");
    tap_below(fastest, 1e-2, "and friction ends the slide");
  }
}

/* ---- threads --------------------------------------------------------------------------------- */

static uint64_t state_with(const char *parameters, const char *options, int threads) {
  owned(eb_scene) *scene = NULL;
  owned(eb_state) *state = NULL;
  tap_require(eb_block_create(&scene, "%s", parameters), parameters);
  tap_require(eb_block_run(scene, eb_solver_find("pbfe"), options, threads, 4, NULL, &state),
              options);
  uint64_t hash = eb_state_hash(state);
  return hash;
}

static void bits_do_not_depend_on_threads(void) {
  static const char *const meshes[] = {
      "nx=17,ny=11,nz=9,element=hexahedra,initial=random,speed=3,support=x0",
      "nx=15,ny=9,nz=8,element=tets6,jitter=0.2,initial=random,speed=3,support=x0"};
  for (int m = 0; m < 2; m++) {
    uint64_t one = state_with(meshes[m], "damping=0.1", 1);
    for (int threads = 2; threads <= 4; threads++)
      tap_ok(state_with(meshes[m], "damping=0.1", threads) == one, "%s: %d threads, the same bits",
             meshes[m], threads);
  }
}

/* Memory of lanes that have no element, which all share, stays out of it. */
static void rotations_are_recorded(void) {
  owned(fixture) f = fixture_open("nx=3,ny=1,nz=1,element=hexahedra");
  for (int64_t i = 0; i < f.state->node_count; i++) {
    double *x = f.state->x + 3 * i, y = x[0];
    x[0] = -x[1];
    x[1] = y;
  }
  owned(eb_solver) *solver = NULL;
  tap_require(eb_solver_create(eb_solver_find("pbfe"), "rotation=svd", f.scene, 1, 1, &solver),
              "a solver");
  eb_step_log_reset(f.log);
  tap_require(solver->ops->step(solver, f.state, f.scene->dt, f.log, &f.reason), "a step");
  double most = 0;
  static const double quarter[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1};
  for (int k = 0; f.log->rotations && k < 27; k++)
    most = fmax(most, fabs(f.log->rotations[k] - quarter[k % 9]));
  tap_ok(f.log->rotations != NULL, "rotations are recorded");
  tap_below(most, 1e-14, "row by row, element by element");
}

/* Moments of corner modes, skew ones too, are those of the places of nodes. */
static void rotations_are_the_estimators(const char *mesh, eb_rotation_method method) {
  owned(fixture) f = fixture_open(mesh);
  char options[64];
  owned(eb_solver) *solver = NULL;
  eb_rotation_rests rests;
  random_state random = random_seed(17);
  for (int64_t k = 0; k < 3 * f.state->node_count; k++)
    f.state->x[k] = 1.1 * f.state->x[k] + random_uniform(&random, -0.03, 0.03);
  owned(double) *x = eb_calloc(3 * (size_t)f.state->node_count, sizeof *x);
  double most = 0;
  memcpy(x, f.state->x, 3 * (size_t)f.state->node_count * sizeof *x);
  snprintf(options, sizeof options, "rotation_start=cold,rotation=%s", eb_rotations[method].name);
  tap_require(eb_solver_create(eb_solver_find("pbfe"), options, f.scene, 1, 1, &solver), options);
  eb_step_log_reset(f.log);
  tap_require(solver->ops->step(solver, f.state, f.scene->dt, f.log, &f.reason), "a step");
  tap_require(eb_rotation_rests_create(f.scene->mesh, 0, NULL, &rests), "rests");
  for (int32_t b = 0; b < rests.batches; b++) {
    eb_v4 at[MOST][3], q[4] = {eb_v4_set(1)}, R[9];
    const eb_rotation_rest rest = eb_rotation_rest_of(&rests, b);
    eb_rotation_gather(&rests, b, x, at);
    eb_rotate4(method, rests.nodes, &rest, (const eb_v4(*)[3])at, q, R);
    for (int l = 0; l < EB_LANES && EB_LANES * b + l < f.scene->mesh->element_count; l++)
      for (int i = 0; i < 9; i++)
        most = fmax(most, fabs(f.log->rotations[9 * (EB_LANES * b + l) + i] - R[i][l]));
  }
  /* sums of 8 products of lengths of 1 */
  tap_ok(most < 1e-12, "%s: %s of pbfe is that of the nodes' places (%.1e)", mesh,
         eb_rotations[method].name, most);
  eb_rotation_rests_clear(&rests);
}

int main(void) {
  static const char *const meshes[] = {"nx=4,ny=3,nz=3,element=hexahedra",
                                       "nx=4,ny=3,nz=3,element=hexahedra,jitter=0.2",
                                       "nx=4,ny=3,nz=3,element=tets6,jitter=0.2"};
  for (int m = 0; m < 3; m++) {
    rotations_are_the_estimators(meshes[m], EB_ROTATION_SPIN);
    rotations_are_the_estimators(meshes[m], EB_ROTATION_SPIN_FULL);
    rotations_are_the_estimators(meshes[m], EB_ROTATION_EDGES);
  }
  elements_are_in_order();
  gradients_are_derivatives();
  mobilities_are_sums();
  skew_is_kept_where_there_is_some();
  steps_are_the_oracles();
  projections_keep_momenta();
  bodies_keep_momentum();
  damping_keeps_momenta();
  it_falls();
  held_nodes_are_held();
  volumes_come_back();
  bounds_hold();
  colliders_are_kept_out_of();
  bits_do_not_depend_on_threads();
  rotations_are_recorded();
  nan_is_an_outcome("pbfe", "stable-neo-hookean");
  extremes_are_outcomes("pbfe", "stable-neo-hookean");
  return tap_done();
}
