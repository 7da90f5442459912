/* Scenes of Hecht, Lee, Shewchuk and O'Brien, "Updated Sparse Cholesky Factors for Corotational
 * Elastodynamics", ACM Transactions on Graphics 31(5), 2012 (Section 5, Tables I to V).
 *
 * A frame is one step: the paper's stage times per frame (Tables II and III) are those of one
 * linear system, and its full Cholesky takes one factorization a frame. The step's length, which it
 * does not state, is 7.5 ms, calibrated on the iterations of conjugate gradients that its Table I
 * implies (reports/papers/hecht2012), and 1/30 s in the bowl, by its Table IV. It does not state
 * most sizes, heights and colliders either, nor the stiffness of every body: those are chosen here
 * and can be set. Contact is the explicit penalty of penalty.h: solids have the stiffness that a
 * body bears in one step (penalty.c), sheets and the squeezed bear one that follows from their
 * thickness.
 *
 * E and speed of the scenes of Table V are such that the least, mean and largest time of a frame
 * are to each other about as there: the error of an element, against which the paper's tau is set,
 * grows with both. The sheets suppose the drag of air, mass_damping = 8/s of the solver: 0.1 kg/m^2
 * that fall flat reach 1.2 m/s in it. */
#include <math.h>

#include "problems/base/memory.h"
#include "problems/mesh/generate.h"
#include "problems/scenes/catalogue.h"
#include "problems/scenes/common.h"

#define CITATION                                                                                   \
  "Hecht, Lee, Shewchuk and O'Brien, Updated Sparse Cholesky Factors for Corotational "            \
  "Elastodynamics, ACM TOG 31(5), 2012"
#define NEEDS               (EB_CAP_TETRAHEDRA | EB_CAP_COROTATIONAL | EB_CAP_COLLIDERS)
#define FRAME               "0.0075"
#define PARAMETERS(E_, dt_) EB_SCENE_PARAMETERS(E_, "0.4", "1000", dt_, "corotational", "9.81")
#define HEIGHT(default_)                                                                           \
  {                                                                                                \
    "height", EB_OPTION_REAL, default_, EB_NOT_NEGATIVE, NULL, "m",                                \
        "of the lowest point above the ground"                                                     \
  }
#define FRICTION(default_)                                                                         \
  { "friction", EB_OPTION_REAL, default_, 0, 10, NULL, "", "Coulomb's mu of every collider" }

static const double pi = 3.14159265358979323846;
static const double upwards[3] = {0, 0, 1};

/* Every collider added so far: friction from the parameter; as stiff as a body bears (penalty.c). A
 * body sinks by one to three times g h^2 there: it is pushed from that far above a collider on and
 * comes to rest about on it. */
static void finish_colliders(eb_scene *scene) {
  for (int32_t c = 0; c < scene->contacts.collider_count; c++) {
    scene->contacts.colliders[c].friction = eb_values_real(scene->parameters, "friction");
    scene->contacts.colliders[c].margin = -3 * scene->gravity[2] * scene->dt * scene->dt;
  }
}

/* Materials, gravity, a floor at z = 0, the body turned about y and lifted over it. */
static eb_error drop_on_floor(eb_scene *scene, double degrees) {
  double rotation[9];
  eb_axis_rotation(1, degrees * pi / 180, rotation);
  eb_scene_set_mechanics(scene);
  eb_scene_place(scene, rotation, eb_values_real(scene->parameters, "height"));
  eb_scene_add_floor(scene, 0);
  finish_colliders(scene);
  return EB_OK;
}

/* ---- dragon ---------------------------------------------------------------------------------- */

static const eb_option dragon_parameters[] = {PARAMETERS("5e6", FRAME), EB_ELEMENTS_PARAMETER,
                                              HEIGHT("0.5"), FRICTION("0.3"), EB_LAST_PARAMETER};

static eb_error dragon_setup(eb_scene *scene) {
  return drop_on_floor(scene, -15);
}

const eb_scene_ops eb_hecht2012_dragon = {
    .name = "hecht2012/dragon",
    .small = "resolution=0.2",
    .summary = "a dragon is dropped on the floor",
    .geometry = "stand-in dragon, 1.5 m long",
    .citation = CITATION,
    EB_SCENE_MODEL("dragon", 20000, 0, 1.5),
    .needs = NEEDS,
    EB_SCENE_COUNTS(0, 20000, 0.03),
    .parameters = dragon_parameters,
    EB_SCENE_RUN(300, 1),
    .setup = dragon_setup,
};

/* ---- three-torus ----------------------------------------------------------------------------- */

static const eb_option torus_parameters[] = {PARAMETERS("1e7", FRAME), EB_ELEMENTS_PARAMETER,
                                             HEIGHT("0.6"), FRICTION("0.3"), EB_LAST_PARAMETER};

/* Falls flat on a lying cylinder, off its middle, and slides down to the floor. */
static eb_error torus_setup(eb_scene *scene) {
  EB_TRY(drop_on_floor(scene, 20));
  eb_scene_add_collider(scene, EB_CYLINDER, (const double[3]){0.15, 0, 0.3},
                        (const double[3]){0, 1, 0}, 0.2);
  finish_colliders(scene);
  return EB_OK;
}

const eb_scene_ops eb_hecht2012_three_torus = {
    .name = "hecht2012/three-torus",
    .small = "resolution=0.1",
    .summary = "a body with three holes is dropped on a fixed cylinder and the floor (E: 1e7 "
               "stiff, 1e6 soft)",
    .geometry = "stand-in of genus 3, 1.2 m across",
    .citation = CITATION,
    EB_SCENE_MODEL("three-torus", 19172, 0, 1.2),
    .needs = NEEDS,
    EB_SCENE_COUNTS(5046, 19172, 0.03),
    .parameters = torus_parameters,
    EB_SCENE_RUN(300, 1),
    .setup = torus_setup,
};

/* ---- bowl-of-bears --------------------------------------------------------------------------- */

enum { MOST_BEARS = 25 };

static const eb_option bears_parameters[] = {
    PARAMETERS("3e6", "0.033333333333333333"),
    EB_ELEMENTS_PARAMETER,
    {"bears", EB_OPTION_INT, "25", 1, MOST_BEARS, NULL, "", "how many bears"},
    {"size", EB_OPTION_REAL, "6", EB_POSITIVE, NULL, "m", "height of a bear"},
    {"drop", EB_OPTION_REAL, "0.5", EB_NOT_NEGATIVE, NULL, "m",
     "how far the bears start above where the lowest lie close to the bowl"},
    {"contact", EB_OPTION_BOOL, "yes", 0, 0, NULL, "", "whether the bears push each other"},
    FRICTION("0.3"),
    EB_LAST_PARAMETER};

/* The model is 2 m tall. */
static double bear_scale(const eb_values *parameters) {
  return eb_values_real(parameters, "size") / 2;
}

/* Seven bears a layer, one amid six, each turned by the golden angle from the one before. */
static eb_error bears_prepare(const eb_values *parameters, eb_mesh **mesh) {
  eb_placement place[MOST_BEARS];
  int32_t bears = (int32_t)eb_values_int(parameters, "bears");
  double scale = bear_scale(parameters), spacing = 2.1 * scale;
  double drop = eb_values_real(parameters, "drop");
  for (int32_t b = 0; b < bears; b++) {
    double layer = b / 7, angle = pi / 3 * (b % 7 + 0.5 * layer), away = b % 7 > 0 ? spacing : 0;
    place[b].shift[0] = away * cos(angle);
    place[b].shift[1] = away * sin(angle);
    place[b].shift[2] = drop + spacing * layer;
    eb_axis_rotation(2, 2.39996 * b, place[b].rotation);
    for (int i = 0; i < 9; i++) place[b].rotation[i] *= scale;
  }
  return eb_scene_copies(place, bears, mesh);
}

/* Size and step are those with which conjugate gradients take as many iterations as the two times
 * of the paper's Table IV say: 228 to 1e-4 kg m/s and 83 to 1e1, where it has 214 and 73 (at 7.5
 * ms, 12 m tall bears have the ratio of the two, and 33 and 11). Bodies sink into each other by a
 * few g h^2, 1.1 cm each, whatever their size (penalty.c). The bowl's centre lies so that the
 * lowest layer is inside at first. */
static eb_error bears_setup(eb_scene *scene) {
  double scale = bear_scale(scene->parameters);
  eb_scene_set_mechanics(scene);
  eb_scene_add_collider(scene, EB_BOWL, (const double[3]){0, 0, 2.5 * scale}, upwards, 4 * scale);
  finish_colliders(scene);
  scene->contacts.bodies_collide = eb_values_bool(scene->parameters, "contact");
  scene->contacts.bodies_friction = eb_values_real(scene->parameters, "friction");
  return EB_OK;
}

static const eb_scene_default bowl_of_bears_defaults[] = {
    {"conjac", "add_nodes=true", "every body needs dynamic nodes of its own"},
    {"mfem-subspace|fem-subspace", "modes=64", "sixteen modes are too few for many bodies"},
    {0}};

const eb_scene_ops eb_hecht2012_bowl_of_bears = {
    .name = "hecht2012/bowl-of-bears",
    .solver_defaults = bowl_of_bears_defaults,
    .small = "resolution=0.1",
    .summary = "25 bears are dropped into a rigid bowl, push each other and come to rest",
    .geometry = "25 stand-in bears, 6 m tall, in a bowl of 12 m radius",
    .citation = CITATION,
    EB_SCENE_MODEL("bear", 9785, 0, 2),
    .needs = NEEDS,
    EB_SCENE_COUNTS(55400, 244625, 0.03),
    .parameters = bears_parameters,
    EB_SCENE_RUN(300, 1),
    .prepare = bears_prepare,
    .setup = bears_setup,
};

/* ---- bear-squash ----------------------------------------------------------------------------- */

static const eb_option squash_parameters[] = {
    EB_SCENE_PARAMETERS("4e5", "0.4", "1000", FRAME, "corotational", "0"),
    EB_ELEMENTS_PARAMETER,
    {"gap", EB_OPTION_REAL, "0.27", 0.15, 1, NULL, "",
     "between piston and floor at the lowest, over the height of the bear"},
    FRICTION("0.6"),
    EB_LAST_PARAMETER};

/* Stiffness and damping of a collider that meets a squeezed body, whose thickness is the smallest
 * edge of the mesh's box. Penalty forces are taken at the start of a step (f_ext), elasticity at
 * its end. What may the stiffness be?
 *
 * Take a node of mass m per unit of surface that meets the wall with x'' = -(s/m) x - (c/m) x'.
 * One step of the scheme is v1 = v0 - h (s x0 + c v0) / m, x1 = x0 + h v1; its amplification
 * matrix has the determinant 1 - h c/m and the trace 2 - h c/m - h^2 s/m, so it is stable when h^2
 * s/m + 2 h c/m < 4 (Jury's criterion). m is not the lumped mass of the node. The elastic solve is
 * implicit, so a node does not move alone: in a step a pressure wave of speed sqrt(E/rho) reaches
 * the depth
 *   reach = h sqrt(E / rho), at least a surface node's own layer, at most the whole thickness,
 * and all that mass, m = rho reach, moves along. Corners and small patches of contact carry less,
 * so we stay well below the bound:
 *   s = m / h^2 and c = m / (4 h):  h^2 s/m + 2 h c/m = 1.5 of 4.
 * A body that arrives with speed v brings the pressure rho sqrt(E/rho) v of its impact, which s
 * meets at a depth of v h: a step's travel, whatever the stiffness. Hence dt bounds the
 * penetration. */
static void set_penalty(const eb_scene *scene, eb_collider *collider) {
  double volume = 0, mass = 0, stiffest = 0, h = scene->dt;
  const double *X = scene->mesh->X;
  for (int32_t e = 0; e < scene->mesh->element_count; e++) {
    double part = eb_mesh_element_volume(scene->mesh, X, e);
    const eb_material *material = &scene->materials[scene->mesh->region[e]];
    volume += part;
    mass += part * material->density;
    stiffest = fmax(stiffest, material->young);
  }
  double lo[3], hi[3], rho = mass / volume, thickness = INFINITY;
  eb_mesh_bounds(X, scene->mesh->node_count, lo, hi);
  for (int d = 0; d < 3; d++) thickness = fmin(thickness, hi[d] - lo[d]);
  double spacing = cbrt(volume / scene->mesh->node_count);
  double reach = fmin(thickness, fmax(0.5 * spacing, h * sqrt(stiffest / rho)));
  collider->stiffness = rho * reach / (h * h);
  collider->damping = rho * reach / (4 * h);
}

/* Derivative of eb_ramp, 1/s. */
static double ramp_rate(double t, double begin, double end) {
  double s = fmin(1, fmax(0, (t - begin) / (end - begin)));
  return 6 * s * (1 - s) / (end - begin);
}

/* Down by parameters[0] m, held, and up again, within 0.7 s: E and h are such that a wave crosses
 * the bear many times meanwhile. */
static void piston(double t, const void *script, double offset[3], double velocity[3]) {
  const double *parameters = script;
  for (int d = 0; d < 3; d++) offset[d] = velocity[d] = 0;
  const double down = 0.0675, low = 0.3375, up = 0.45, high = 0.675;
  offset[2] = -parameters[0] * (eb_ramp(t, down, low) - eb_ramp(t, up, high));
  velocity[2] = -parameters[0] * (ramp_rate(t, down, low) - ramp_rate(t, up, high));
}

/* A press can only squeeze what is softer than itself, and an explicit one is as hard as a layer of
 * depth c h of the body (set_penalty): E must be low enough for c h, 15 cm here, to be
 * well below the height. The piston is felt from a margin on, about as deep as the bear presses
 * into it; its constants are 0.7 of those for a plane wave, which leaves room for what is squeezed
 * flat. There is no gravity, as so soft a bear would sag by its own weight and never look like its
 * rest shape. Its seat, the lowest 15 %, is held: it neither jumps off nor sways for long, and
 * comes to rest within the run. */
static eb_error squash_setup(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  double lo[3], hi[3];
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  double height = hi[2] - lo[2], half = 0.15, margin = 0.12 * height;
  double clear = 0.02 * height + margin;
  eb_scene_add_floor(scene, lo[2]);
  const double centre[3] = {0.5 * (lo[0] + hi[0]), 0.5 * (lo[1] + hi[1]), hi[2] + clear + half};
  eb_collider *press =
      eb_scene_add_collider(scene, EB_CAPPED_CYLINDER, centre, upwards, 0.6 * height);
  press->half_length = half;
  press->motion = piston;
  press->motion_parameters[0] = clear + height * (1 - eb_values_real(scene->parameters, "gap"));
  press->margin = margin;
  for (int32_t c = 0; c < scene->contacts.collider_count; c++) {
    eb_collider *collider = &scene->contacts.colliders[c];
    set_penalty(scene, collider);
    collider->stiffness *= 0.7;
    collider->damping *= 0.7;
    collider->friction = eb_values_real(scene->parameters, "friction");
  }
  return eb_grips_add_band(scene, 2, -1, 0.15 * height, "the lower end");
}

static const eb_scene_default bear_squash_defaults[] = {
    {"symplectic-euler", NULL,
     "audits find positions and energy off: squeezed elements stiffen beyond what parts of a step "
     "stand"},
    {0}};

const eb_scene_ops eb_hecht2012_bear_squash = {
    .name = "hecht2012/bear-squash",
    .solver_defaults = bear_squash_defaults,
    .small = "resolution=0.05",
    .summary =
        "a piston squeezes a bear that is held at its seat until elements invert, then rises; "
        "the bear comes to rest in its rest shape (no gravity)",
    .geometry =
        "stand-in bear, 0.5 m tall, stuffed, its surface refined to the paper's vertex count",
    .citation = CITATION,
    EB_SCENE_MODEL("bear", 30490, 7361, 0.5),
    .needs = NEEDS,
    EB_SCENE_COUNTS(7361, 30490, 0.03),
    .parameters = squash_parameters,
    EB_SCENE_RUN(300, 1),
    .setup = squash_setup,
    .boundary = eb_grips_hold,
};

/* ---- sheets: cloth-drop, trampoline ---------------------------------------------------------- */

static const double sheet_thickness = 1e-4; /* m, the paper's */

/* A square sheet, one layer of cubes thick. */
static eb_error sheet(const eb_values *parameters, const int32_t cubes[3], const double origin[3],
                      const double size[3], eb_mesh **out) {
  double resolution = eb_values_real(parameters, "resolution");
  eb_grid grid;
  for (int d = 0; d < 3; d++) {
    grid.cubes[d] = cubes[d] == 1 ? 1 : (int32_t)fmax(1, round(cubes[d] * resolution));
    grid.origin[d] = origin[d];
    grid.size[d] = size[d];
  }
  return eb_generate_tets6(&grid, out);
}

/* Contact of a sheet of mass w = rho thickness per area, whose nodes, w / 2 on each side, are all
 * pushed. A sheet hardly resists bending in a step of a few milliseconds, so each pair of nodes is
 * on its own: with s = w / h^2 and c = w / (4 h) it has L = 2, gamma = 1/4, and L + 2 gamma L = 3
 * of the 4 of penalty.c. (Twice that s is stable at h = 1/30 s, where the elastic solve makes a
 * curved sheet stiff; at 7.5 ms it keeps trembling.) Along itself the sheet moves as a whole, so
 * friction may brake more of it in a step than a pair of nodes has, grip = w / h for each; with
 * less it creeps off the sphere. At rest it is g h^2 sheet / patch deep, which the margin hides. */
static void finish_sheet(eb_scene *scene, double margin) {
  double weight = eb_values_real(scene->parameters, "rho") * sheet_thickness, h = scene->dt;
  eb_collider *collider = &scene->contacts.colliders[0];
  collider->stiffness = weight / (h * h);
  collider->damping = weight / (4 * h);
  collider->grip = weight / h;
  collider->margin = margin;
  collider->friction = eb_values_real(scene->parameters, "friction");
}

static const eb_option cloth_parameters[] = {PARAMETERS("1e5", FRAME), EB_CUBES_PARAMETER,
                                             HEIGHT("0.06"), FRICTION("0.6"), EB_LAST_PARAMETER};

static eb_error cloth_mesh(const eb_values *parameters, eb_mesh **out) {
  return sheet(parameters, (const int32_t[3]){50, 50, 1}, (const double[3]){-0.5, -0.5, 0},
               (const double[3]){1, 1, sheet_thickness}, out);
}

static eb_error cloth_setup(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  double lo[3], hi[3], radius = 0.25;
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  double top = lo[2] - eb_values_real(scene->parameters, "height");
  eb_scene_add_collider(scene, EB_SPHERE, (const double[3]){0, 0, top - radius}, upwards, radius);
  finish_sheet(scene, 0.045);
  return EB_OK;
}

static const eb_scene_default cloth_drop_defaults[] = {
    {"conjac", "dynamic=20", "with fewer dynamic nodes a sheet is driven through what it meets"},
    {"damped-warp", NULL,
     "audits find momentum and energy off: a sheet's elements are flat, and warping does not "
     "balance"},
    {0}};

const eb_scene_ops eb_hecht2012_cloth_drop = {
    .name = "hecht2012/cloth-drop",
    .solver_defaults = cloth_drop_defaults,
    .small = "resolution=0.2",
    .summary = "a thin sheet drapes over a fixed sphere",
    .geometry = "sheet of 1 m x 1 m x 0.1 mm, 50 x 50 x 1 cubes, 6 tetrahedra a cube",
    .citation = CITATION,
    .needs = NEEDS,
    EB_SCENE_COUNTS(5202, 15000, 0),
    .parameters = cloth_parameters,
    EB_SCENE_RUN(300, 1),
    .mesh = cloth_mesh,
    .mesh_parameters = "resolution",
    .setup = cloth_setup,
};

static const eb_option trampoline_parameters[] = {PARAMETERS("1e5", FRAME), EB_CUBES_PARAMETER,
                                                  FRICTION("0.3"), EB_LAST_PARAMETER};

/* Where the hanging sheet is, m. The ball, on its way down again, meets it 0.2 m below its rail. */
static const double curtain_x = 1.08, curtain_low = 0.1, curtain_height = 0.5, ball_radius = 0.15;

static eb_error trampoline_mesh(const eb_values *parameters, eb_mesh **out) {
  EB_TRY(sheet(parameters, (const int32_t[3]){50, 50, 1}, (const double[3]){-0.5, -0.5, 0},
               (const double[3]){1, 1, sheet_thickness}, out));
  eb_mesh *curtain;
  EB_TRY(sheet(parameters, (const int32_t[3]){1, 50, 25},
               (const double[3]){curtain_x, -0.5, curtain_low},
               (const double[3]){sheet_thickness, 1, curtain_height}, &curtain));
  eb_error error = eb_mesh_append(*out, curtain, (const double[3]){0, 0, 0});
  eb_mesh_destroy(curtain);
  return error;
}

/* The ball's course: down to the trampoline at x = 0; half a sine into it and out at the speed it
 * came with; up and over to the curtain, which takes its sidewise speed exponentially; down, to
 * lie 0.6 m below the trampoline. */
static void ball(double t, const void *script, double offset[3], double velocity[3]) {
  const double *parameters = script;
  (void)parameters;
  const double g = 9.81, start_x = -0.45, start_z = 0.75, contact = 0.16, decay = 6;
  const double fall = sqrt(2 * (start_z - ball_radius) / g), impact = g * fall;
  const double sidewise = -start_x / fall, meet = (curtain_x - ball_radius - start_x) / sidewise;
  double free_way = fmin(t, meet), left = exp(-decay * (t - free_way)), since = t - fall - contact;
  offset[0] = start_x + sidewise * (free_way + (1 - left) / decay);
  velocity[0] = sidewise * left;
  offset[1] = velocity[1] = 0;
  if (t <= fall) {
    offset[2] = start_z - 0.5 * g * t * t;
    velocity[2] = -g * t;
  } else if (since <= 0) {
    double phase = pi * (t - fall) / contact;
    offset[2] = ball_radius - impact * contact / pi * sin(phase);
    velocity[2] = -impact * cos(phase);
  } else {
    offset[2] = ball_radius + impact * since - 0.5 * g * since * since;
    velocity[2] = impact - g * since;
    if (offset[2] < -0.6) {
      offset[2] = -0.6;
      velocity[2] = 0;
    }
  }
}

/* Within 5 mm of the trampoline's four edges. */
static bool on_rim(const double X[3], const void *context) {
  (void)context;
  return X[2] < 0.05 && X[0] < 0.55 && fmax(fabs(X[0]), fabs(X[1])) > 0.495;
}

static bool on_rail(const double X[3], const void *context) {
  (void)context;
  return X[2] > curtain_low + curtain_height - 0.005;
}

static eb_error trampoline_setup(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  eb_collider *thrown =
      eb_scene_add_collider(scene, EB_SPHERE, (const double[3]){0, 0, 0}, upwards, ball_radius);
  thrown->motion = ball;
  finish_sheet(scene, 0.02);
  EB_TRY(eb_grips_add(scene, on_rim, NULL, "the rim of the trampoline (the square of 1 m)"));
  return eb_grips_add(scene, on_rail, NULL, "the rail of the hanging sheet");
}

static const eb_scene_default trampoline_defaults[] = {
    {"conjac", NULL,
     "audits may find energy off: with 8 to 28 dynamic nodes a sheet gains some where the ball "
     "meets "
     "it"},
    {"damped-warp", NULL,
     "audits find momentum and energy off: a sheet's elements are flat, and warping does not "
     "balance"},
    {0}};

const eb_scene_ops eb_hecht2012_trampoline = {
    .name = "hecht2012/trampoline",
    .solver_defaults = trampoline_defaults,
    .small = "resolution=0.2",
    .summary = "a ball bounces from a trampoline into a hanging sheet; the ball is rigid and "
               "follows a script",
    .geometry =
        "sheets of 1 m x 1 m and 1 m x 0.5 m, 0.1 mm thick, 50 x 50 x 1 and 50 x 25 x 1 cubes, 6 "
        "tetrahedra a cube",
    .citation = CITATION,
    .needs = NEEDS,
    EB_SCENE_COUNTS(7854, 22500, 0),
    .parameters = trampoline_parameters,
    EB_SCENE_RUN(400, 1),
    .mesh = trampoline_mesh,
    .mesh_parameters = "resolution",
    .setup = trampoline_setup,
    .boundary = eb_grips_hold,
};

/* ---- spider ---------------------------------------------------------------------------------- */

static const eb_option spider_parameters[] = {
    PARAMETERS("1e9", FRAME),
    EB_RESOLUTION(0.8,
                  "scale on the number of elements; 1 is the paper's, below 0.8 the legs would "
                  "fall apart"),
    {"contrast", EB_OPTION_REAL, "300", 1, 1e6, NULL, "",
     "Young's modulus of legs and body (E) over that of joints and thread"},
    {"swing", EB_OPTION_REAL, "0.75", EB_FINITE, NULL, "rad/s",
     "initial angular velocity about the thread's top"},
    EB_LAST_PARAMETER};

/* The region named "soft" is joints and thread; a mesh without it is stiff throughout. */
static eb_error spider_setup(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  int32_t soft = eb_mesh_region(scene->mesh, "soft");
  if (soft >= 0) scene->materials[soft].young /= eb_values_real(scene->parameters, "contrast");
  EB_TRY(eb_grips_add_end(scene, 2, 1));
  const double *top = scene->script.grips[0].centre;
  double swing = eb_values_real(scene->parameters, "swing");
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    scene->v0[3 * i] = swing * (scene->mesh->X[3 * i + 2] - top[2]);
    scene->v0[3 * i + 2] = -swing * (scene->mesh->X[3 * i] - top[0]);
  }
  return EB_OK;
}

static const eb_scene_default spider_defaults[] = {
    {"conjac", "add_nodes=true", "fewer dynamic nodes do not hold the legs"},
    {"symplectic-euler", NULL,
     "a step takes minutes: legs are so stiff that it is cut into very many parts"},
    {"contact-al|contact-cr|contact-ica|contact-sp|contact-delassus", NULL,
     "the linear step stands a few steps, then leaves more than it claims, or does not end"},
    {"damped-warp", NULL, "audits find momentum and energy off"},
    {0}};

const eb_scene_ops eb_hecht2012_spider = {
    .name = "hecht2012/spider",
    .solver_defaults = spider_defaults,
    .small = "resolution=0.8",
    .summary = "a toy spider swings on an elastic thread; legs and body are 300 times stiffer than "
               "joints and thread",
    .geometry = "stand-in spider on a thread, 0.3 m across",
    .citation = CITATION,
    EB_SCENE_MODEL("spider", 12683, 0, 0.3),
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_COROTATIONAL,
    EB_SCENE_COUNTS(3991, 12683, 0.03),
    .parameters = spider_parameters,
    EB_SCENE_RUN(300, 1),
    .setup = spider_setup,
    .by_parts = true,
    .boundary = eb_grips_hold,
};
