/* The block scene: mesh, supports, scripts, manufactured load, initial motion. */
#include "harness/check/block.h"

#include "problems/base/memory.h"
#include "problems/base/text.h"
#include "problems/scene_impl.h"
#include "problems/mesh/generate.h"
#include "problems/scenes/scene_entry.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const eb_option parameters[] = {
    {"nx", EB_OPTION_INT, "4", 1, 256, NULL, "", "cubes along x"},
    {"ny", EB_OPTION_INT, "2", 1, 128, NULL, "", "cubes along y"},
    {"nz", EB_OPTION_INT, "2", 1, 128, NULL, "", "cubes along z"},
    {"lx", EB_OPTION_REAL, "1", 1e-6, 1e6, NULL, "m", "length along x"},
    {"ly", EB_OPTION_REAL, "0.4", 1e-6, 1e6, NULL, "m", "length along y"},
    {"lz", EB_OPTION_REAL, "0.4", 1e-6, 1e6, NULL, "m", "length along z"},
    {"element", EB_OPTION_CHOICE, "tets6", 0, 0,
     "tets6|tets5|hexahedra|hexahedra-one-point|hexahedra-staggered|triangles", "",
     "elements; triangles are the block seen along z"},
    {"hourglass", EB_OPTION_REAL, "0.3", 0, 0, NULL, "", "of hexahedra-one-point"},
    {"jitter", EB_OPTION_REAL, "0", 0, 0.3, NULL, "", "displacement of inner nodes, in cubes"},
    {"material", EB_OPTION_CHOICE, "stable-neo-hookean", 0, 0,
     "linear|corotational|corotated|fixed-corotational|stvk|neo-hookean|stable-neo-hookean|"
     "mooney-rivlin|projective",
     "", "isotropic part"},
    {"fibre", EB_OPTION_CHOICE, "none", 0, 0, "none|astvk|fung", "", "fibre part"},
    {"E", EB_OPTION_REAL, "1e5", 1e-300, 1e300, NULL, "Pa", "Young's modulus"},
    {"nu", EB_OPTION_REAL, "0.3", -0.99, 0.4999, NULL, "", "Poisson's ratio"},
    {"rho", EB_OPTION_REAL, "1000", 1e-9, 1e9, NULL, "kg/m^3", "density"},
    {"dt", EB_OPTION_REAL, "0.01", 1e-12, 1e6, NULL, "s", "time step"},
    {"gx", EB_OPTION_REAL, "0", 0, 0, NULL, "m/s^2", "gravity along x"},
    {"gy", EB_OPTION_REAL, "0", 0, 0, NULL, "m/s^2", "gravity along y"},
    {"gz", EB_OPTION_REAL, "0", 0, 0, NULL, "m/s^2", "gravity along z"},
    {"support", EB_OPTION_CHOICE, "none", 0, 0, "none|x0|z0|ends|surface", "", "scripted nodes"},
    {"motion", EB_OPTION_CHOICE, "hold", 0, 0, "hold|affine|manufactured|twist", "",
     "where scripted nodes go"},
    {"rate", EB_OPTION_REAL, "0", 0, 0, NULL, "1/s", "motion=twist: turn of face x1, rad/s"},
    {"initial", EB_OPTION_CHOICE, "rest", 0, 0, "rest|spin|random|stretched", "", "initial state"},
    {"speed", EB_OPTION_REAL, "1", 0, 0, NULL, "m/s", "of the initial motion"},
    {"clusters", EB_OPTION_CHOICE, "none", 0, 0, "none|edges|elements|both", "",
     "links along edges, clusters of the nodes of elements"},
    {"stiffness", EB_OPTION_REAL, "1e3", 0, 1e300, NULL, "N/m", "of clusters"},
    {0}};

static const char mesh_parameters[] = "nx,ny,nz,lx,ly,lz,element,jitter,fibre";

static const char hexahedra[] = "hexahedra"; /* of any integration */

typedef struct block {
  uint8_t *support; /* nodes */
} block;

static bool chosen(const eb_values *values, const char *name, const char *value) {
  return !strcmp(eb_values_text(values, name), value);
}

double eb_block_random(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) * 0x1p-52 - 1;
}

/* ---- mesh ---- */

/* A solid floor that ends at z = `height`. */
static eb_error add_floor(eb_scene *scene, double height) {
  const double half[3] = {2, 2, 0.05}, shift[3] = {0, 0, height - half[2]};
  EB_TRY(eb_surface_box(half, &scene->contacts.obstacles[0].surface));
  scene->contacts.obstacle_count = 1;
  eb_surface_move(scene->contacts.obstacles[0].surface, NULL, shift);
  return EB_OK;
}

eb_error eb_block_on_floor(const double pull[3], double young, double above, double friction,
                           double dt, eb_scene **out) {
  EB_TRY(eb_block_create(out,
                         "nx=2,ny=2,nz=1,lx=0.1,ly=0.1,lz=0.05,gx=%.17g,gy=%.17g,gz=%.17g,dt=%.17g,"
                         "E=%g,material=corotational",
                         pull[0], pull[1], pull[2], dt, young));
  (*out)->contacts.friction.common = friction;
  eb_error error = add_floor(*out, -above);
  if (!error) return EB_OK;
  eb_scene_destroy(*out);
  *out = NULL;
  return error;
}

int eb_block_axes(const eb_mesh *mesh) {
  return mesh->type == EB_TRIANGLE ? 2 : 3;
}

static void jitter_inside(eb_mesh *mesh, const eb_grid *grid, double amount) {
  const int axes = eb_block_axes(mesh);
  uint64_t seed = 1;
  for (int32_t i = 0; i < mesh->node_count; i++) {
    double *X = mesh->X + 3 * (int64_t)i;
    double shift[3];
    bool inside = true;
    for (int k = 0; k < axes; k++) {
      double edge = grid->size[k] / grid->cubes[k];
      shift[k] = amount * edge * eb_block_random(&seed);
      inside &= X[k] > 0.5 * edge && X[k] < grid->size[k] - 0.5 * edge;
    }
    for (int k = 0; k < axes && inside; k++) X[k] += shift[k];
  }
}

static eb_error finish_mesh(eb_mesh *mesh, const eb_grid *grid, const eb_values *values) {
  jitter_inside(mesh, grid, eb_values_real(values, "jitter"));
  if (chosen(values, "fibre", "none")) return EB_OK;
  EB_TRY(EB_NEW(mesh->fibre, 3 * (int64_t)mesh->element_count));
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int k = 0; k < 2; k++) mesh->fibre[3 * (int64_t)e + k] = sqrt(0.5);
  return EB_OK;
}

static eb_error build_mesh(const eb_values *values, eb_mesh **out) {
  eb_grid grid = {.cubes = {(int32_t)eb_values_int(values, "nx"),
                            (int32_t)eb_values_int(values, "ny"),
                            (int32_t)eb_values_int(values, "nz")},
                  .size = {eb_values_real(values, "lx"), eb_values_real(values, "ly"),
                           eb_values_real(values, "lz")}};
  if (chosen(values, "element", "triangles"))
    EB_TRY(eb_generate_triangles(&grid, out));
  else if (!strncmp(eb_values_text(values, "element"), hexahedra, strlen(hexahedra)))
    EB_TRY(eb_generate_hexahedra(&grid, out));
  else if (chosen(values, "element", "tets5"))
    EB_TRY(eb_generate_tets5(&grid, out));
  else
    EB_TRY(eb_generate_tets6(&grid, out));
  eb_error error = finish_mesh(*out, &grid, values);
  if (error) {
    eb_mesh_destroy(*out);
    *out = NULL;
  }
  return error;
}

/* ---- the manufactured solution ---- */

/* u_i = a sin(k_i . X + p_i): smooth, with no symmetry of the block's. */
static const double amplitude = 0.04;
static const double wave[3][3] = {{2.1, 0.9, -0.7}, {-0.8, 1.9, 1.1}, {1.2, -0.6, 2.3}};
static const double phase[3] = {0.3, 1.1, -0.4};

static double angle_of(int i, const double X[3]) {
  return wave[i][0] * X[0] + wave[i][1] * X[1] + wave[i][2] * X[2] + phase[i];
}

void eb_block_manufactured(const double X[3], double u[3]) {
  for (int i = 0; i < 3; i++) u[i] = amplitude * sin(angle_of(i, X));
}

static void manufactured_stress(const eb_material *material, const double X[3], double P[9]) {
  double F[9];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      F[3 * i + j] = (i == j) + amplitude * wave[i][j] * cos(angle_of(i, X));
  eb_material_stress(material, F, NULL, P);
}

/* Body force f = -div P at X by central differences; their error is near 1e-9 of |f|. */
static void manufactured_force(const eb_material *material, const double X[3], double f[3]) {
  const double d = 1e-5;
  memset(f, 0, 3 * sizeof *f);
  for (int j = 0; j < 3; j++) {
    double ahead[3] = {X[0], X[1], X[2]}, behind[3] = {X[0], X[1], X[2]}, Pa[9], Pb[9];
    ahead[j] += d;
    behind[j] -= d;
    manufactured_stress(material, ahead, Pa);
    manufactured_stress(material, behind, Pb);
    for (int i = 0; i < 3; i++) f[i] -= (Pa[3 * i + j] - Pb[3 * i + j]) / (2 * d);
  }
}

/* Consistent load of a tetrahedron by the four-point rule of degree 2: node a has weight 1 - 3 b at
 * its own point and b at the others, b = (5 - sqrt 5) / 20. */
static void add_load(const eb_scene *scene, int32_t e, double *load) {
  const eb_mesh *mesh = scene->mesh;
  const int32_t *node = mesh->elements + 4 * (int64_t)e;
  const double b = (5 - sqrt(5)) / 20;
  double volume = eb_mesh_element_volume(mesh, mesh->X, e);
  for (int q = 0; q < 4; q++) {
    double X[3] = {0}, f[3];
    for (int a = 0; a < 4; a++)
      for (int k = 0; k < 3; k++)
        X[k] += (a == q ? 1 - 3 * b : b) * mesh->X[3 * (int64_t)node[a] + k];
    manufactured_force(&scene->materials[0], X, f);
    for (int a = 0; a < 4; a++)
      for (int k = 0; k < 3; k++)
        load[3 * (int64_t)node[a] + k] += 0.25 * volume * (a == q ? 1 - 3 * b : b) * f[k];
  }
}

/* ---- set-up ---- */

/* spin: translation and rotation about an oblique axis, with a stretch on top; stretched: at rest,
 * pulled along x; random: noise. Triangles stay in their plane. */
static void set_motion(eb_scene *scene) {
  const eb_values *values = scene->parameters;
  double speed = eb_values_real(values, "speed");
  uint64_t seed = 7;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    const double *X = scene->mesh->X + 3 * (int64_t)i;
    double *x = scene->x0 + 3 * (int64_t)i, *v = scene->v0 + 3 * (int64_t)i;
    const double turn[3] = {2 * X[1] - X[2], 3 * X[2] - 2 * X[0], X[0] - 3 * X[1]};
    if (chosen(values, "initial", "stretched")) x[0] = X[0] * 1.1;
    for (int k = 0; k < eb_block_axes(scene->mesh); k++) {
      if (chosen(values, "initial", "spin"))
        v[k] = speed * (turn[k] + 0.3 * k + 0.5 * X[k] * (k == 1));
      if (chosen(values, "initial", "random")) v[k] = speed * eb_block_random(&seed);
    }
  }
}

static eb_error add_clusters(eb_scene *scene) {
  double stiffness = eb_values_real(scene->parameters, "stiffness");
  bool both = chosen(scene->parameters, "clusters", "both");
  if (both || chosen(scene->parameters, "clusters", "edges"))
    EB_TRY(eb_scene_link_edges(scene, stiffness));
  if (both || chosen(scene->parameters, "clusters", "elements"))
    EB_TRY(eb_scene_match_elements(scene, stiffness));
  return EB_OK;
}

static eb_error set_up(eb_scene *scene) {
  static const char *const axis[] = {"gx", "gy", "gz"};
  static const char *const faces[] = {"x0", "x1", "y0", "y1", "z0", "z1"};
  const eb_values *values = scene->parameters;
  const char *support = eb_values_text(values, "support");
  bool ends = !strcmp(support, "ends"), all = !strcmp(support, "surface");
  block *data;
  scene->dt = eb_values_real(values, "dt");
  for (int k = 0; k < 3; k++) scene->gravity[k] = eb_values_real(values, axis[k]);
  scene->material_count = 1;
  scene->materials[0] = (eb_material){.young = eb_values_real(values, "E"),
                                      .poisson = eb_values_real(values, "nu"),
                                      .density = eb_values_real(values, "rho"),
                                      .fibre_stiffness = eb_values_real(values, "E"),
                                      .fibre_exponent = 2,
                                      .activation = 0.5,
                                      .hourglass = eb_values_real(values, "hourglass")};
  EB_TRY(eb_material_choose(&scene->ops->materials, eb_values_text(values, "material"),
                            &scene->materials[0]));
  if (chosen(values, "element", "hexahedra-one-point"))
    scene->materials[0].integration = EB_INTEGRATION_ONE_POINT;
  if (chosen(values, "element", "hexahedra-staggered"))
    scene->materials[0].integration = EB_INTEGRATION_STAGGERED;
  if (chosen(values, "fibre", "astvk")) scene->materials[0].fibre = EB_FIBRE_ASTVK;
  if (chosen(values, "fibre", "fung")) scene->materials[0].fibre = EB_FIBRE_FUNG;
  set_motion(scene);
  EB_TRY(add_clusters(scene));
  EB_TRY(EB_NEW(data, 1));
  scene->data = data; /* from here on `clear` frees what there is */
  EB_TRY(EB_NEW(data->support, scene->mesh->node_count));
  for (int face = 0; face < 6; face++) {
    const eb_node_set *set = eb_mesh_set(scene->mesh, faces[face]);
    if (!set || !(all || (ends && face < 2) || !strcmp(support, faces[face]))) continue;
    for (int32_t i = 0; i < set->count; i++) data->support[set->nodes[i]] = 1;
  }
  if (!chosen(values, "motion", "manufactured")) return EB_OK;
  if (scene->mesh->type != EB_TETRAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "the manufactured load is for tetrahedra only");
  double *load;
  EB_TRY(eb_scene_add_load(scene, &load));
  for (int32_t e = 0; e < scene->mesh->element_count; e++) add_load(scene, e, load);
  return EB_OK;
}

static void clear(eb_scene *scene) {
  block *data = scene->data;
  if (!data) return;
  free(data->support);
  free(data);
}

/* ---- script ---- */

void eb_block_affine(const eb_mesh *mesh, const double X[3], double x[3]) {
  static const double F[3][3] = {{1.08, 0.05, -0.03}, {-0.04, 0.95, 0.06}, {0.02, -0.05, 1.04}};
  x[2] = X[2];
  for (int i = 0; i < eb_block_axes(mesh); i++)
    x[i] = F[i][0] * X[0] + F[i][1] * X[1] + F[i][2] * X[2] + 0.1;
}

/* Face x1 turns about the block's axis, in the plane about its own middle; face x0 stays. */
static void twist(const eb_scene *scene, double t, const double X[3], double x[3]) {
  const eb_values *values = scene->parameters;
  const double middle[3] = {eb_values_real(values, "lx"), 0.5 * eb_values_real(values, "ly"),
                            0.5 * eb_values_real(values, "lz")};
  if (X[0] < 0.5 * middle[0]) return;
  double angle = t * eb_values_real(values, "rate"), c = cos(angle), s = sin(angle);
  int i = eb_block_axes(scene->mesh) - 2, j = i + 1;
  x[i] = middle[i] + c * (X[i] - middle[i]) - s * (X[j] - middle[j]);
  x[j] = middle[j] + s * (X[i] - middle[i]) + c * (X[j] - middle[j]);
}

static void boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  const block *data = scene->data;
  const eb_values *values = scene->parameters;
  bool is_affine = chosen(values, "motion", "affine"), twists = chosen(values, "motion", "twist");
  bool manufactured = chosen(values, "motion", "manufactured");
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    if (!data->support[i]) continue;
    const double *X = scene->mesh->X + 3 * (int64_t)i;
    double *x = target + 3 * (int64_t)i, u[3] = {0};
    fixed[i] = 1;
    if (is_affine) eb_block_affine(scene->mesh, X, x);
    if (twists) twist(scene, t, X, x);
    if (manufactured) eb_block_manufactured(X, u);
    for (int k = 0; k < 3; k++) x[k] += u[k];
  }
}

const eb_scene_ops eb_block_scene = {.name = "check/block",
                                     .summary = "a block of the verification",
                                     .geometry = "block",
                                     .citation = "",
                                     .needs = 0,
                                     .parameters = parameters,
                                     .steps = 1,
                                     .steps_per_frame = 1,
                                     .mesh = build_mesh,
                                     .mesh_parameters = mesh_parameters,
                                     .setup = set_up,
                                     .boundary = boundary,
                                     .clear = clear};

/* ---- running ---- */

void eb_check_free_scene(eb_scene **scene) {
  eb_scene_destroy(*scene);
}

void eb_check_free_state(eb_state **state) {
  eb_state_destroy(*state);
}

void eb_check_free_log(eb_step_log **log) {
  eb_step_log_destroy(*log);
}

enum { ASSIGNMENTS = 1024 };

eb_error eb_block_create(eb_scene **out, const char *format, ...) {
  char assignments[ASSIGNMENTS];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(assignments, sizeof assignments, format, arguments);
  va_end(arguments);
  return eb_scene_create(&eb_block_scene, assignments, NULL, "", out);
}

eb_error eb_block_create_of(const eb_plugged_list *materials, eb_scene **out, const char *format,
                            ...) {
  char assignments[ASSIGNMENTS];
  const eb_scene_ops *ops;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(assignments, sizeof assignments, format, arguments);
  va_end(arguments);
  EB_TRY(eb_scene_entry_extend(&eb_block_scene, materials, &ops));
  eb_error error = eb_scene_create(ops, assignments, NULL, "", out);
  eb_scene_close(ops);
  return error;
}

eb_error eb_block_advance(eb_scene *scene, const eb_solver_ops *ops, const char *options,
                          int threads, int64_t steps, eb_step_log *log, eb_state *state,
                          eb_reason *reason) {
  EB_OWNED(eb_check_free_log) eb_step_log *own = NULL;
  if (!log) EB_TRY(eb_step_log_create(0, &own));
  eb_stepper s = {.scene = scene, .state = state, .log = log ? log : own};
  eb_error error = eb_stepper_start(&s, ops, options, threads, 1);
  if (!error) error = eb_stepper_run(&s, steps);
  *reason = s.reason;
  eb_solver_destroy(s.solver);
  return error;
}

eb_error eb_block_run(eb_scene *scene, const eb_solver_ops *ops, const char *options, int threads,
                      int64_t steps, eb_step_log *log, eb_state **state) {
  eb_reason reason = EB_RUNNING;
  *state = NULL;
  EB_TRY(eb_state_create(scene, state));
  eb_error error = eb_block_advance(scene, ops, options, threads, steps, log, *state, &reason);
  if (!error && reason <= 0)
    error = EB_ERROR(EB_ERR_INVALID, "solver %s (%s) ended step %lld of %s with %s", ops->name,
                     options, (long long)(*state)->step, eb_values_canonical(scene->parameters),
                     eb_reason_name(reason));
  if (!error) return EB_OK;
  eb_state_destroy(*state);
  *state = NULL;
  return error;
}

double eb_block_distance(const eb_state *a, const eb_state *b) {
  double most = 0;
  for (int64_t k = 0; k < 3 * (int64_t)a->node_count; k++) {
    double off = fabs(a->x[k] - b->x[k]);
    if (isnan(off)) return off;
    if (off > most) most = off;
  }
  return most;
}
