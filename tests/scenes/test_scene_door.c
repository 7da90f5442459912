/* What a solver asks of a scene, through the public headers alone: every answer is held against
 * another one, or against differences. */
#include "problems/scene.h"
#include "tests/tap.h"

#include <math.h>

static eb_scene *make(const char *name, const char *parameters) {
  eb_scene *scene = NULL;
  tap_require(eb_scene_create(eb_scene_find(name), parameters, NULL, "", &scene), name);
  return scene;
}

/* A smooth displacement that turns, stretches and shears, small beside the body. */
static void deform(const eb_scene *scene, double *x) {
  const double *start = eb_scene_start(scene);
  for (int32_t n = 0; n < eb_scene_mesh(scene)->node_count; n++) {
    const double *s = start + 3 * n;
    x[3 * n] = s[0] + 0.02 * sin(3 * s[1]);
    x[3 * n + 1] = 1.05 * s[1] + 0.03 * s[0] * s[0];
    x[3 * n + 2] = s[2] - 0.04 * s[0] * s[1];
  }
}

static double norm(const double *a, const double *b, int32_t size) {
  double sum = 0;
  for (int32_t i = 0; i < size; i++) sum += (a[i] - (b ? b[i] : 0)) * (a[i] - (b ? b[i] : 0));
  return sqrt(sum);
}

/* y = H w by the pattern that the scene tells. */
static void multiply(const eb_scene *scene, const double *values, const double *w, double *y) {
  const int32_t *start, *column;
  eb_scene_pattern(scene, &start, &column);
  for (int32_t i = 0; i < eb_scene_mesh(scene)->node_count; i++)
    for (int r = 0; r < 3; r++) {
      y[3 * i + r] = 0;
      for (int32_t b = start[i]; b < start[i + 1]; b++)
        for (int c = 0; c < 3; c++)
          y[3 * i + r] += values[9 * b + 3 * r + c] * w[3 * column[b] + c];
    }
}

static void derivatives_agree(const eb_scene *scene, const char *name) {
  int32_t nodes = eb_scene_mesh(scene)->node_count, size = 3 * nodes;
  const int32_t *start, *column;
  eb_scene_pattern(scene, &start, &column);
  double *x = calloc(8 * (size_t)size, sizeof *x), *w = x + size, *g = w + size, *more = g + size;
  double *less = more + size, *product = less + size, *difference = product + size;
  double *at = difference + size, *values = calloc(9 * (size_t)start[nodes], sizeof *values);
  deform(scene, x);
  for (int32_t i = 0; i < size; i++) w[i] = sin(1.7 * i);
  eb_scene_hessian(scene, x, 0, 1, false, values, g);
  multiply(scene, values, w, product);
  const double e = 1e-6;
  for (int32_t i = 0; i < size; i++) at[i] = x[i] + e * w[i];
  double above = eb_scene_energy(scene, at);
  eb_scene_gradient(scene, at, more);
  for (int32_t i = 0; i < size; i++) at[i] = x[i] - e * w[i];
  double below = eb_scene_energy(scene, at), slope = 0;
  eb_scene_gradient(scene, at, less);
  for (int32_t i = 0; i < size; i++) {
    difference[i] = (more[i] - less[i]) / (2 * e);
    slope += g[i] * w[i];
  }
  /* Central differences with e = 1e-6 of nodes 0.1 m apart: e^2 by truncation, 1e-16 / e by
   * rounding of values that cancel to a hundredth. */
  tap_ok(fabs((above - below) / (2 * e) - slope) < 1e-6 * norm(g, NULL, size) * norm(w, NULL, size),
         "%s: the gradient is the energy's slope", name);
  tap_ok(norm(difference, product, size) < 1e-5 * norm(product, NULL, size),
         "%s: the Hessian is the gradient's", name);
  eb_scene_gradient(scene, x, more);
  tap_ok(norm(more, g, size) <= 1e-12 * norm(g, NULL, size), "%s: one gradient by both ways", name);
  eb_scene_hessian(scene, x, 2, 0, false, values, NULL);
  multiply(scene, values, w, product);
  const double *mass = eb_scene_mass(scene);
  for (int32_t i = 0; i < size; i++) difference[i] = 2 * mass[i / 3] * w[i];
  tap_ok(norm(difference, product, size) <= 1e-14 * norm(product, NULL, size),
         "%s: scaled masses alone", name);
  free(values);
  free(x);
}

static void weight_is_mass_times_gravity(const eb_scene *scene) {
  int32_t nodes = eb_scene_mesh(scene)->node_count;
  double *f = calloc(6 * (size_t)nodes, sizeof *f), *still = f + 3 * nodes, worst = 0;
  eb_scene_force(scene, 0, eb_scene_start(scene), still, f);
  for (int32_t i = 0; i < 3 * nodes; i++) {
    double weight = eb_scene_mass(scene)[i / 3] * eb_scene_gravity(scene)[i % 3];
    worst = fmax(worst, fabs(f[i] - weight));
  }
  /* One product, whichever way it is rounded. */
  tap_below(worst, 1e-14 * eb_scene_mass(scene)[0] * 9.81,
            "forces of a scene without colliders are weights");
  free(f);
}

static void answers_are_the_parameters(void) {
  eb_scene *scene = make("bench/beam", "resolution=0.25,E=3e5,dt=2e-3");
  tap_ok(!strcmp(eb_scene_name(scene), "bench/beam"), "a scene knows its name");
  tap_ok(eb_scene_dt(scene) == 2e-3, "and its step");
  tap_ok(eb_values_real(eb_scene_parameters(scene), "E") == 3e5 &&
             eb_scene_material(scene, 0)->young == 3e5,
         "and its stiffness, as a parameter and as a material");
  double total = 0, volume = 0;
  const eb_mesh *mesh = eb_scene_mesh(scene);
  for (int32_t n = 0; n < mesh->node_count; n++) total += eb_scene_mass(scene)[n];
  for (int32_t e = 0; e < mesh->element_count; e++)
    volume += eb_mesh_element_volume(mesh, mesh->X, e);
  tap_ok(fabs(total - eb_scene_material(scene, 0)->density * volume) < 1e-12 * total,
         "masses sum to density times volume");
  weight_is_mass_times_gravity(scene);
  eb_scene_destroy(scene);
}

int main(void) {
  answers_are_the_parameters();
  static const char *const scenes[] = {"bench/beam", "conjac2020/twist", "conjac2020/hetero"};
  static const char *const parameters[] = {"resolution=0.25", "resolution=0.3",
                                           "resolution=0.3,material=neo-hookean"};
  for (int i = 0; i < 3; i++) {
    eb_scene *scene = make(scenes[i], parameters[i]);
    derivatives_agree(scene, scenes[i]);
    eb_scene_destroy(scene);
  }
  return tap_done();
}
