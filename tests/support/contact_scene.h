/* Small scenes for the contact step: blocks of tetrahedra, elastic or rigid, and plane obstacles,
 * all from a recipe. */
#ifndef EB_TESTS_CONTACT_SCENE_H
#define EB_TESTS_CONTACT_SCENE_H

#include "problems/base/vector3.h"
#include "problems/mesh/generate.h"
#include "problems/contact_record.h"
#include "problems/scene_impl.h"
#include "tests/support/stepping.h"

enum { RECIPE_BLOCKS = 10 };

typedef struct recipe_block {
  int32_t cubes[3];
  double size[3], centre[3], velocity[3]; /* m, m, m/s */
  double turn[9];                         /* about the centre, row-major; all 0: none */
  bool rigid, held;                       /* held: every node is scripted to stay */
} recipe_block;

typedef struct recipe {
  recipe_block block[RECIPE_BLOCKS]; /* ended by one without cubes */
  double young, dt, mu, gravity[3];  /* Pa, s, -, m/s^2 */
  bool floor;                        /* a square of side 4 m about the origin, in four triangles */
  double slope;                      /* by which it is turned about y, rad; x then points uphill */
  void (*motion)(double t, const void *script, double rotation[9], double shift[3]);
  double parameters[8];
} recipe;

static const recipe *cooking; /* what the scene that is being made comes from */

static const eb_option recipe_parameters[] = {
    {"E", EB_OPTION_REAL, "1e5", 1, 1e12, NULL, "Pa", "Young's modulus"},
    {"nu", EB_OPTION_REAL, "0.2", -0.9, 0.49, NULL, "", "Poisson's ratio"},
    {"rho", EB_OPTION_REAL, "1000", 1e-9, 1e9, NULL, "kg/m^3", "density"},
    {"dt", EB_OPTION_REAL, "1e-3", 1e-12, 1e6, NULL, "s", "time step"},
    {0}};

/* ---- blocks ---- */

static bool turned(const recipe_block *block) {
  double sum = 0;
  for (int k = 0; k < 9; k++) sum += fabs(block->turn[k]);
  return sum > 0;
}

static eb_error make_block(const recipe_block *block, eb_mesh **out) {
  static const char *const names[2][1] = {{"soft"}, {"rigid"}};
  eb_grid grid = {.cubes = {block->cubes[0], block->cubes[1], block->cubes[2]}};
  for (int d = 0; d < 3; d++) {
    grid.size[d] = block->size[d];
    grid.origin[d] = -0.5 * block->size[d];
  }
  EB_TRY(eb_generate_tets6(&grid, out));
  for (int32_t i = 0; i < (*out)->node_count; i++) {
    double *X = (*out)->X + 3 * i, Y[3] = {X[0], X[1], X[2]};
    if (turned(block)) eb_turn3(block->turn, Y, X);
    eb_add3(1, block->centre, X);
  }
  return eb_mesh_name_regions(*out, 1, names[block->rigid]);
}

static eb_error recipe_mesh(const eb_values *values, eb_mesh **out) {
  static const double nowhere[3] = {0};
  (void)values;
  EB_TRY(make_block(cooking->block, out));
  for (int b = 1; b < RECIPE_BLOCKS && cooking->block[b].cubes[0]; b++) {
    eb_mesh *more;
    EB_TRY(make_block(cooking->block + b, &more));
    eb_error error = eb_mesh_append(*out, more, nowhere);
    eb_mesh_destroy(more);
    EB_TRY(error);
  }
  return EB_OK;
}

static int32_t nodes_of(const recipe_block *block) {
  return (block->cubes[0] + 1) * (block->cubes[1] + 1) * (block->cubes[2] + 1);
}

/* Nodes before block b. */
static int32_t first_node(const recipe *from, int b) {
  int32_t first = 0;
  for (int k = 0; k < b; k++) first += nodes_of(from->block + k);
  return first;
}

/* ---- the floor ---- */

static eb_error make_floor(eb_surface **out) {
  static const double corner[5][3] = {
      {-2, -2, 0}, {2, -2, 0}, {2, 2, 0}, {-2, 2, 0}, {0.013, 0.021, 0}};
  static const int32_t triangles[4][3] = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
  double c = cos(cooking->slope), s = sin(cooking->slope);
  EB_TRY(eb_surface_create(5, 4, out));
  memcpy((*out)->triangles, triangles, sizeof triangles);
  for (int i = 0; i < 5; i++) {
    (*out)->X[3 * i] = c * corner[i][0];
    (*out)->X[3 * i + 1] = corner[i][1];
    (*out)->X[3 * i + 2] = s * corner[i][0];
  }
  return EB_OK;
}

/* ---- the scene ---- */

static eb_error recipe_setup(eb_scene *scene) {
  scene->dt = cooking->dt;
  scene->contacts.friction.common = cooking->mu;
  memcpy(scene->gravity, cooking->gravity, sizeof scene->gravity);
  scene->material_count = scene->mesh->region_count;
  for (int32_t r = 0; r < scene->material_count; r++) {
    scene->materials[r] = (eb_material){
        .kind = EB_COROTATIONAL, .young = cooking->young, .poisson = 0.2, .density = 1000};
    scene->rigid.regions[r] = !strcmp(scene->mesh->region_name[r], "rigid");
  }
  int32_t node = 0;
  for (int b = 0; b < RECIPE_BLOCKS && cooking->block[b].cubes[0]; b++)
    for (int32_t i = 0; i < nodes_of(cooking->block + b); i++, node++)
      memcpy(scene->v0 + 3 * node, cooking->block[b].velocity, 3 * sizeof(double));
  if (!cooking->floor) return EB_OK;
  scene->contacts.obstacles[0].motion = cooking->motion;
  memcpy(scene->contacts.obstacles[0].parameters, cooking->parameters, sizeof cooking->parameters);
  EB_TRY(make_floor(&scene->contacts.obstacles[0].surface));
  scene->contacts.obstacle_count = 1;
  return EB_OK;
}

static void recipe_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  (void)scene, (void)t, (void)target;
  int32_t node = 0;
  for (int b = 0; b < RECIPE_BLOCKS && cooking->block[b].cubes[0]; b++)
    for (int32_t i = 0; i < nodes_of(cooking->block + b); i++)
      fixed[node++] = cooking->block[b].held;
}

static const eb_scene_ops recipe_ops = {.name = "test/recipe",
                                        .summary = "blocks and a floor",
                                        .geometry = "blocks",
                                        .citation = "-",
                                        .needs = EB_CAP_TETRAHEDRA | EB_CAP_COROTATIONAL |
                                                 EB_CAP_CONTACT | EB_CAP_SCRIPTED,
                                        .parameters = recipe_parameters,
                                        .steps = 1,
                                        .steps_per_frame = 1,
                                        .mesh = recipe_mesh,
                                        .setup = recipe_setup,
                                        .boundary = recipe_boundary};

/* The recipe has to outlive the run. */
__attribute__((unused)) static run cook(const recipe *from, const char *solver,
                                        const char *options) {
  eb_scene *scene;
  cooking = from;
  tap_require(eb_scene_create(&recipe_ops, NULL, NULL, "", &scene), "a recipe");
  return start_on(scene, solver, options);
}

/* ---- what there is to see ---- */

/* Momentum of block b, kg m/s. */
__attribute__((unused)) static void momentum_of(const run *r, const recipe *from, int b,
                                                double p[3]) {
  const double *mass = eb_elasticity_mass(r->scene->elasticity);
  int32_t first = first_node(from, b), end = first_node(from, b + 1);
  memset(p, 0, 3 * sizeof *p);
  for (int32_t i = first; i < end; i++) eb_add3(mass[i], r->state->v + 3 * i, p);
}

__attribute__((unused)) static double mass_of(const run *r, const recipe *from, int b) {
  const double *mass = eb_elasticity_mass(r->scene->elasticity);
  double sum = 0;
  for (int32_t i = first_node(from, b); i < first_node(from, b + 1); i++) sum += mass[i];
  return sum;
}

/* The lowest height of a node above the plane with unit normal n through the origin, m. */
__attribute__((unused)) static double lowest(const run *r, const double n[3]) {
  double least = INFINITY;
  for (int32_t i = 0; i < r->state->node_count; i++)
    least = fmin(least, eb_dot3(n, r->state->x + 3 * i));
  return least;
}

#endif
