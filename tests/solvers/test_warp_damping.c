/* Selective damping, elements sorted by supernode, sheets, and damped-warp. */
#include "problems/base/memory.h"
#include "problems/mesh/generate.h"
#include "solvers/warp_cholesky/damping.h"
#include "solvers/warp_cholesky/schedule.h"
#include "solvers/warp_cholesky/warp.h"
#include "tests/support/owned.h"
#include "tests/support/random.h"
#include "tests/support/warp_fixture.h"

/* ---- damping --------------------------------------------------------------------------------- */

typedef struct damped {
  eb_scene *scene;
  eb_damping damping;
  int64_t size;
  double *v, *before, *error;
  uint8_t *fresh, *fixed;
} damped;

static damped damped_open(const char *parameters) {
  damped d = {.scene = any_scene(parameters)};
  const eb_mesh *mesh = d.scene->mesh;
  d.size = 3 * (int64_t)mesh->node_count;
  tap_require(eb_damping_create(d.scene, &d.damping), "damping");
  tap_require(EB_NEW(d.v, d.size), "velocities");
  tap_require(EB_NEW(d.before, d.size), "velocities");
  tap_require(EB_NEW(d.error, mesh->element_count), "errors");
  tap_require(EB_NEW(d.fresh, mesh->element_count), "marks");
  tap_require(EB_NEW(d.fixed, mesh->node_count), "marks");
  random_state random = random_seed(11);
  for (int64_t k = 0; k < d.size; k++) d.v[k] = d.before[k] = random_normal(&random);
  for (int32_t e = 0; e < mesh->element_count; e++)
    d.error[e] = random_uniform(&random, 0, 4); /* a quarter stays below 1 */
  return d;
}

static void damped_close(damped *d) {
  eb_damping_clear(&d->damping);
  eb_scene_destroy(d->scene);
  free(d->v), free(d->before), free(d->error), free(d->fresh), free(d->fixed);
}
OWNED(damped, damped_close)

static int32_t apply(damped *d, double strength, double dt) {
  return eb_damping_apply(&d->damping, strength, 1, d->error, d->fresh, d->fixed, d->scene->x0, dt,
                          d->v);
}

/* Linear and angular momentum and kinetic energy. */
static void momenta(const damped *d, const double *v, double out[7]) {
  for (int k = 0; k < 7; k++) out[k] = 0;
  for (int64_t i = 0; i < d->size / 3; i++) {
    const double *x = d->scene->x0 + 3 * i, *u = v + 3 * i;
    double m = d->damping.mass[i];
    for (int k = 0; k < 3; k++) {
      int l = (k + 1) % 3, n = (k + 2) % 3;
      out[k] += m * u[k];
      out[3 + k] += m * (x[l] * u[n] - x[n] * u[l]);
      out[6] += 0.5 * m * u[k] * u[k];
    }
  }
}

static void momentum_is_kept(void) {
  const double short_step = 1e-5;
  owned(damped) d = damped_open("nx=5,rho=700");
  double before[7], after[7];
  momenta(&d, d.before, before);
  int32_t count = apply(&d, 1, short_step);
  momenta(&d, d.v, after);
  double elements = d.scene->mesh->element_count;
  tap_ok(count > 0.6 * elements && count < 0.9 * elements, "elements above the bound are damped");
  double mass = 0, linear = 0, angular = 0;
  for (int64_t i = 0; i < d.size / 3; i++) mass += d.damping.mass[i];
  for (int k = 0; k < 3; k++) {
    linear = fmax(linear, fabs(after[k] - before[k]) / mass);
    angular = fmax(angular, fabs(after[3 + k] - before[3 + k]) / mass);
  }
  tap_below(linear, 1e-13, "momentum is kept to rounding");
  /* Exact for infinitesimal rotations; here they are v h / edge, 1e-4. */
  tap_below(angular, 1e-3, "angular momentum to the rotation in a step");
  tap_ok(after[6] < 0.9 * before[6], "and kinetic energy falls");
}

/* A tetrahedron damped with full strength moves rigidly: its edges keep their lengths. */
static void full_strength_is_rigid(void) {
  const double dt = 0.05;
  owned(damped) d = damped_open("nx=1,ny=1,nz=1");
  const int32_t *node = d.scene->mesh->elements + 4 * 2;
  for (int32_t e = 0; e < d.scene->mesh->element_count; e++) d.fresh[e] = e != 2;
  d.error[2] = INFINITY;
  d.damping.share[2] = 1; /* as if the nodes had no other element */
  for (int a = 0; a < 4; a++) ((double *)d.damping.mass)[node[a]] = 1;
  tap_near(apply(&d, 1, dt), 1, 0, "fresh elements are left alone");
  double worst = 0;
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < a; b++) {
      double old = 0, new = 0;
      for (int k = 0; k < 3; k++) {
        int64_t i = 3 * (int64_t)node[a] + k, j = 3 * (int64_t)node[b] + k;
        double edge = d.scene->x0[i] - d.scene->x0[j];
        old += edge * edge;
        edge += dt * (d.v[i] - d.v[j]);
        new += edge *edge;
      }
      worst = fmax(worst, fabs(sqrt(new) - sqrt(old)));
    }
  tap_below(worst, 1e-12, "full strength leaves a rigid motion");
}

static void limits_of_damping(void) {
  owned(damped) d = damped_open("nx=3");
  for (int64_t k = 0; k < d.size; k++) d.v[k] = d.before[k] = k % 3;
  apply(&d, 1, 0.01);
  double off = 0;
  for (int64_t k = 0; k < d.size; k++) off = fmax(off, fabs(d.v[k] - d.before[k]));
  tap_below(off, 1e-12, "a translation stays as it is");
  random_state random = random_seed(2);
  for (int64_t k = 0; k < d.size; k++) d.v[k] = d.before[k] = random_normal(&random);
  for (int32_t i = 0; i < d.scene->mesh->node_count; i++) d.fixed[i] = i % 2;
  apply(&d, 1, 0.01);
  double fixed = 0, free_nodes = 0;
  for (int64_t k = 0; k < d.size; k++) {
    double *of = d.fixed[k / 3] ? &fixed : &free_nodes;
    *of = fmax(*of, fabs(d.v[k] - d.before[k]));
  }
  tap_ok(fixed == 0 && free_nodes > 0, "scripted nodes are left alone");
  for (int32_t e = 0; e < d.scene->mesh->element_count; e++) d.error[e] = e % 2 ? 1 : NAN;
  tap_near(apply(&d, 1, 0.01), 0, 0, "an error at the bound, or that is none, does not damp");
}

/* ---- element map ----------------------------------------------------------------------------- */

static bool is_ancestor(const eb_supernodes *tree, int32_t above, int32_t s) {
  while (s >= 0 && s != above) s = tree->parent[s];
  return s == above;
}

static void elements_belong_to_one_supernode(void) {
  owned(eb_scene) *scene = any_scene("nx=8,ny=6,nz=5");
  const eb_mesh *mesh = scene->mesh;
  owned(eb_multifrontal) *factor = NULL;
  eb_element_map owned;
  eb_multifrontal_settings settings = {.threads = 1};
  tap_require(
      eb_multifrontal_create(&settings, eb_elasticity_pattern(scene->elasticity), NULL, &factor),
      "factor");
  const eb_supernodes *tree = eb_multifrontal_supernodes(factor);
  tap_require(eb_element_map_create(mesh, tree, &owned), "an element map");
  int strays = 0, seen = 0, wrong = 0;
  owned(double) *error = calloc((size_t)mesh->element_count, sizeof *error);
  owned(double) *badness = calloc((size_t)tree->count, sizeof *badness);
  owned(uint8_t) *marked = calloc((size_t)tree->count, 1),
                 *on = calloc((size_t)mesh->element_count, 1);
  random_state random = random_seed(4);
  for (int32_t e = 0; e < mesh->element_count; e++) error[e] = random_uniform(&random, 0, 1);
  error[17] = NAN;
  eb_element_map_badness(&owned, error, badness);
  for (int32_t s = 0; s < tree->count; s++) {
    double worst = -1;
    marked[s] = (uint8_t)(random_word(&random) % 3);
    for (int32_t k = owned.start[s]; k < owned.start[s + 1]; k++, seen++) {
      int32_t e = owned.element[k], holds = 0;
      worst = isnan(worst) || isnan(error[e]) ? NAN : fmax(worst, error[e]);
      for (int a = 0; a < 4; a++) {
        int32_t of = tree->of_node[mesh->elements[4 * e + a]];
        strays += !is_ancestor(tree, of, s);
        holds += of == s;
      }
      strays += holds == 0;
    }
    wrong += isnan(worst) ? !isnan(badness[s]) : badness[s] != worst;
  }
  tap_near(seen, mesh->element_count, 0, "every element belongs to one supernode");
  tap_near(strays, 0, 0, "that holds one of its nodes, and ancestors hold the others");
  tap_near(wrong, 0, 0, "badness is the largest error, or not a number");
  int32_t chosen = eb_element_map_choose(&owned, marked, EB_UPDATE_CHOSEN, on), want = 0;
  wrong = 0;
  for (int32_t s = 0; s < tree->count; s++)
    for (int32_t k = owned.start[s]; k < owned.start[s + 1]; k++) {
      want += marked[s] == EB_UPDATE_CHOSEN;
      wrong += on[owned.element[k]] != (marked[s] == EB_UPDATE_CHOSEN);
    }
  tap_ok(wrong == 0 && chosen == want, "elements of chosen supernodes are chosen");
  eb_element_map_clear(&owned);
}

/* ---- sheets ---------------------------------------------------------------------------------- */

static bool grid_is_sheet(int32_t nx, int32_t ny, int32_t nz, double lx, double ly, double lz) {
  eb_grid grid = {.cubes = {nx, ny, nz}, .size = {lx, ly, lz}};
  owned(eb_mesh) *mesh = NULL;
  tap_require(eb_generate_tets6(&grid, &mesh), "a grid");
  return eb_mesh_is_thin(mesh);
}

static void sheets_are_known(void) {
  tap_ok(grid_is_sheet(10, 10, 1, 1, 1, 1e-3), "a thin layer is a sheet");
  tap_ok(grid_is_sheet(1, 10, 10, 1e-4, 1, 1), "whichever way it lies");
  tap_ok(!grid_is_sheet(10, 10, 1, 1, 1, 0.1), "a layer of cubes is not");
  tap_ok(!grid_is_sheet(10, 2, 2, 10, 0.4, 0.4), "nor is a bar of long cubes");
  static const char *const scenes[] = {
      "hecht2012/cloth-drop:resolution=0.1", "hecht2012/trampoline:resolution=0.1",
      "hecht2012/spider:resolution=0.8", "hecht2012/sculpture-small:resolution=0.1"};
  for (int i = 0; i < 4; i++) {
    owned(eb_scene) *scene = any_scene(scenes[i]);
    tap_ok(eb_mesh_is_thin(scene->mesh) == (i < 2), "%s is%s", scenes[i], i < 2 ? "" : " not");
  }
}

/* ---- damped-warp ----------------------------------------------------------------------------- */

/* A soft bar that bends far from its factor under its weight. */
static void damped_warp_is_stable(void) {
  const char *scene = "nx=10,lx=2,support=x0,gz=-30,E=1e5,dt=0.0333333333333";
  owned(motion) warp = motion_open(scene, "damped-warp", "");
  owned(motion) exact = motion_open(scene, "corotational", "linear=cholmod");
  double energy = 0, bound = 0;
  for (int i = 0; i < 300 && (i == 0 || warp.reason > 0); i++) {
    motion_step(&warp);
    motion_step(&exact);
    energy = fmax(energy, motion_energy(&warp));
    bound = fmax(bound, motion_energy(&exact));
  }
  tap_ok(warp.reason > 0 && warp.state->step == 300, "300 steps go well");
  tap_below(energy, 1.1 * bound, "with no more energy than the exact motion has at most");
  tap_near(warp.total[EB_COUNT_FACTORIZATIONS], 1, 0, "on one factorization");
  tap_near(warp.total[EB_COUNT_UPDATED_ELEMENTS], warp.scene->mesh->element_count, 0,
           "and no update after it");
  tap_ok(warp.total[EB_COUNT_DAMPED_ELEMENTS] > 0, "elements are damped");
}

static double energy_left(const char *options) {
  owned(motion) m =
      motion_open("nx=8,initial=random,speed=10,E=1e5,dt=0.0333333333333", "damped-warp", options);
  tap_ok(motion_run(&m, 200) > 0, "%s runs", options);
  return motion_energy(&m);
}

static void damping_takes_energy(void) {
  double none = energy_left("damping=0"), some = energy_left("damp_above=1e-2");
  tap_ok(some < 0.99 * none, "damping takes energy (%g J of %g are left)", some, none);
}

int main(void) {
  momentum_is_kept();
  full_strength_is_rigid();
  limits_of_damping();
  elements_belong_to_one_supernode();
  sheets_are_known();
  damped_warp_is_stable();
  damping_takes_energy();
  nan_is_an_outcome("damped-warp", "corotational");
  extremes_are_outcomes("damped-warp", "corotational");
  return tap_done();
}
