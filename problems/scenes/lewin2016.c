/* Scenes of Lewin, "Constraint based simulation of soft and rigid bodies", University of Bath 2016:
 * rotations, hexahedra, position-based finite elements and projective dynamics (chapters 3 to 5).
 *
 * The thesis states element counts, and of one block its size, density, modulus and speed. What it
 * leaves unsaid is a parameter here. All bodies are of mu |F - R|^2, the co-rotational energy of
 * the thesis (nu 0), until told otherwise. Position-based methods see nothing of E but where they
 * read a material.
 *
 * hinged-bar, free-spin, hanging-sheet, net, hex-shaken, hex-turn, hourglass-modes and beam are
 * ours: sentences without a scene are tried on them. */
#include <math.h>
#include <string.h>

#include "problems/base/random.h"
#include "problems/base/vector3.h"
#include "problems/ranks/subdomain.h"
#include "problems/scenes/catalogue.h"
#include "problems/scenes/common.h"

#define CITATION                                                                                   \
  "Lewin, Constraint based simulation of soft and rigid bodies, EngD thesis, University of Bath "  \
  "2016"
#define FRAME_30 "0.033333333333333333"
#define FRAME_60 "0.016666666666666667"
#define PARAMETERS(E_, dt_, gravity_)                                                              \
  EB_SCENE_PARAMETERS(E_, "0", "1000", dt_, "corotated", gravity_)
#define ONE_SIZE EB_RESOLUTION(1, "has no effect: these are single elements")
#define ELEMENT_PARAMETER(default_)                                                                \
  {                                                                                                \
    "element", EB_OPTION_CHOICE, default_, 0, 0, "hexahedra|tetrahedra", "",                       \
        "a cube is one hexahedron or five tetrahedra"                                              \
  }
#define NEEDS_HEXAHEDRA  (EB_CAP_ONE_POINT | EB_CAP_PROJECTIVE)
#define NEEDS_TETRAHEDRA (EB_CAP_TETRAHEDRA | EB_CAP_PROJECTIVE)

static const double pi = 3.14159265358979323846;

/* ---- what the scenes share ------------------------------------------------------------------- */

/* In the elements that `element` asks for where there is such a parameter. */
static eb_error fill(const eb_values *parameters, const eb_grid *grid, eb_mesh **out) {
  bool hexahedra = !eb_values_declares(parameters, "element") ||
                   strcmp(eb_values_text(parameters, "element"), "hexahedra") == 0;
  return hexahedra ? eb_generate_hexahedra(grid, out) : eb_generate_tets5(grid, out);
}

/* The same, at the wanted resolution. */
static eb_error fill_scaled(const eb_values *parameters, const eb_grid *coarse, eb_mesh **out) {
  double resolution = eb_values_real(parameters, "resolution");
  eb_grid grid = *coarse;
  for (int d = 0; d < 3; d++) grid.cubes[d] = (int32_t)fmax(1, round(grid.cubes[d] * resolution));
  return fill(parameters, &grid, out);
}

static const double low_corner[3] = {0, 0, 0}, high_corner[3] = {1, 1, 1};

static eb_error set_up_mechanics(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  return EB_OK;
}

/* With the end faces along x as groups. */
static eb_error set_up_ends(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  EB_TRY(eb_grips_add_box(scene, low_corner, (const double[3]){0, 1, 1}, "lower"));
  return eb_grips_add_box(scene, (const double[3]){1, 0, 0}, high_corner, "upper");
}

/* Every node moves as one body: turned by `angle` about the y axis through `about`. */
static void turn_all(const eb_scene *scene, double angle, const double about[3], uint8_t *fixed,
                     double *target) {
  double turn[9];
  eb_axis_rotation(1, angle, turn);
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    double r[3], *to = target + 3 * (size_t)i;
    for (int d = 0; d < 3; d++) r[d] = scene->x0[3 * (size_t)i + d] - about[d];
    eb_turn3(turn, r, to);
    eb_add3(1, about, to);
    fixed[i] = 1;
  }
}

/* The floor z = 0 as an implicit penalty of `contact` N/m a node: colliders take a pressure, which
 * the nodes of the bottom turn into forces by their shares of the surface. These differ; the mean
 * node has `contact`. */
static void add_stiff_floor(eb_scene *scene) {
  const eb_mesh *mesh = scene->mesh;
  double lo[3], hi[3], area = 0, nodes = 0;
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    if (mesh->X[3 * (size_t)i + 2] > lo[2] + 1e-9 * (hi[2] - lo[2])) continue;
    area += scene->node_area[i];
    nodes++;
  }
  eb_collider *floor = eb_scene_add_floor(scene, 0);
  floor->stiffness = eb_values_real(scene->parameters, "contact") * nodes / area;
  floor->implicit = true;
}

/* ---- one tetrahedron, one hexahedron: rotation estimators -------------------------------------
 */

static const eb_option flip_parameters[] = {
    PARAMETERS("1e5", FRAME_30, "0"),
    ONE_SIZE,
    {"lap", EB_OPTION_INT, "72", 1, 100000, NULL, "", "steps in which the apex goes round once"},
    EB_LAST_PARAMETER};

/* Regular, of unit edges, its base about the origin in the plane z = 0. */
static eb_error flip_mesh(const eb_values *parameters, eb_mesh **out) {
  (void)parameters;
  const double radius = 1 / sqrt(3), height = sqrt(2.0 / 3);
  EB_TRY(eb_mesh_create(EB_TETRAHEDRON, 4, 1, out));
  double *X = (*out)->X;
  for (int k = 0; k < 3; k++) {
    X[3 * k] = radius * cos(2 * pi * k / 3);
    X[3 * k + 1] = radius * sin(2 * pi * k / 3);
    X[3 * k + 2] = 0;
  }
  X[9] = X[10] = 0;
  X[11] = height;
  for (int k = 0; k < 4; k++) (*out)->elements[k] = k;
  return EB_OK;
}

/* The base stands still. The apex goes round its centre, in a plane of symmetry of the tetrahedron:
 * through the plane of the base outside of it, and below. */
static void send_apex_round(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  const double *apex = scene->mesh->X + 9;
  double lap = (double)eb_values_int(scene->parameters, "lap") * scene->dt, at = 2 * pi * t / lap;
  for (int i = 0; i < 4; i++) fixed[i] = 1;
  target[9] = apex[2] * sin(at);
  target[11] = apex[2] * cos(at);
}

const eb_scene_ops eb_lewin2016_tet_flip = {
    .name = "lewin2016/tet-flip",
    .summary = "the apex of a tetrahedron goes round below its base and back up",
    .geometry = "one regular tetrahedron with edges of 1 m, all nodes scripted",
    .citation = CITATION,
    .needs = NEEDS_TETRAHEDRA | EB_CAP_SCRIPTED,
    .parameters = flip_parameters,
    EB_SCENE_RUN(72, 1),
    .mesh = flip_mesh,
    .setup = set_up_mechanics,
    .boundary = send_apex_round,
};

static const eb_option turn_parameters[] = {
    PARAMETERS("1e5", FRAME_30, "0"),
    ONE_SIZE,
    EB_HEXAHEDRA_PARAMETERS("one-point", "1"),
    {"stretch", EB_OPTION_REAL, "1", 0.1, 10, NULL, "", "along x and z, across the axis"},
    {"angle", EB_OPTION_REAL, "2", -90, 90, NULL, "deg", "of the turn about y in the second step"},
    EB_LAST_PARAMETER};

static eb_error turn_mesh(const eb_values *parameters, eb_mesh **out) {
  static const eb_grid cube = {
      .cubes = {1, 1, 1}, .origin = {-0.1, -0.1, -0.1}, .size = {0.2, 0.2, 0.2}};
  (void)parameters;
  return eb_generate_hexahedra(&cube, out);
}

static eb_error turn_setup(eb_scene *scene) {
  double stretch = eb_values_real(scene->parameters, "stretch");
  eb_scene_set_mechanics(scene);
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    for (int d = 0; d < 3; d += 2) scene->x0[3 * (size_t)i + d] *= stretch;
  return EB_OK;
}

/* Stretched from the start, and still for one step, in which a tracked rotation stays where it is:
 * the next step's turn is all that an update has to answer. */
static void turn_once(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  static const double centre[3] = {0, 0, 0};
  double angle = eb_values_real(scene->parameters, "angle") * pi / 180;
  turn_all(scene, angle * eb_ramp(t, scene->dt, 2 * scene->dt), centre, fixed, target);
}

const eb_scene_ops eb_lewin2016_hex_turn = {
    .name = "lewin2016/hex-turn",
    .summary = "a stretched hexahedron turns by a few degrees in its second step",
    .geometry = "one cube of 0.2 m, all nodes scripted (ours)",
    .citation = CITATION,
    .needs = NEEDS_HEXAHEDRA | EB_CAP_SCRIPTED,
    .parameters = turn_parameters,
    EB_SCENE_RUN(4, 1),
    .mesh = turn_mesh,
    .setup = turn_setup,
    .by_parts = true,
    .boundary = turn_once,
};

/* ---- cubes of hexahedra ---------------------------------------------------------------------- */

static const eb_option random_parameters[] = {
    PARAMETERS("1e5", FRAME_30, "0"),
    EB_CUBES_PARAMETER,
    EB_HEXAHEDRA_PARAMETERS("one-point", "1"),
    {"seed", EB_OPTION_INT, "1", 0, 1e9, NULL, "", "of the random places"},
    EB_LAST_PARAMETER};

static const eb_grid random_cube = {.cubes = {32, 32, 32}, .size = {1, 1, 1}};

static eb_error random_mesh(const eb_values *parameters, eb_mesh **out) {
  return fill_scaled(parameters, &random_cube, out);
}

static eb_error random_setup(eb_scene *scene) {
  uint64_t random = (uint64_t)eb_values_int(scene->parameters, "seed");
  eb_scene_set_mechanics(scene);
  for (int64_t k = 0; k < 3 * (int64_t)scene->mesh->node_count; k++)
    scene->x0[k] = eb_random_uniform(&random, 0, 1);
  return EB_OK;
}

static const eb_scene_default hex_random_defaults[] = {
    {"admm", "iterations=20", "from elements that are turned over no tolerance is met"},
    {"contact-al|contact-cr|contact-ica|contact-sp|contact-delassus", NULL,
     "the linear step from elements that are turned over has no solution that they find"},
    {"pbfe|symplectic-euler", NULL,
     "audits find energy off: elements are turned over at the start"},
    {0}};

const eb_scene_ops eb_lewin2016_hex_random = {
    .name = "lewin2016/hex-random",
    .solver_defaults = hex_random_defaults,
    .small = "resolution=0.1",
    .summary = "the nodes of a cube start at random places within it (no gravity)",
    .geometry = "cube of 1 m, 32 x 32 x 32 hexahedra",
    .citation = CITATION,
    .needs = NEEDS_HEXAHEDRA,
    EB_SCENE_COUNTS(35937, 32768, 0),
    .parameters = random_parameters,
    EB_SCENE_RUN(120, 1),
    .mesh = random_mesh,
    .mesh_parameters = "resolution",
    .setup = random_setup,
};

static const eb_option scale_parameters[] = {
    PARAMETERS("1e5", FRAME_30, "9.81"),
    EB_RESOLUTION(0.02, "scale on the number of cubes along every edge"),
    EB_HEXAHEDRA_PARAMETERS("one-point", "1"),
    {"cubes", EB_OPTION_INT, "10", 1, 200, NULL, "", "along every edge"},
    EB_LAST_PARAMETER};

static eb_error scale_mesh(const eb_values *parameters, eb_mesh **out) {
  int32_t n = (int32_t)eb_values_int(parameters, "cubes");
  return fill_scaled(parameters, &(eb_grid){.cubes = {n, n, n}, .size = {1, 1, 1}}, out);
}

const eb_scene_ops eb_lewin2016_pbfe_scale = {
    .name = "lewin2016/pbfe-scale",
    .small = "cubes=3",
    .summary = "a cube that is held by one face sags",
    .geometry = "cube of 1 m, as many hexahedra along an edge as the parameter cubes says",
    .citation = CITATION,
    .needs = NEEDS_HEXAHEDRA,
    .parameters = scale_parameters,
    EB_SCENE_RUN(30, 1),
    .mesh = scale_mesh,
    .mesh_parameters = "resolution,cubes",
    .setup = set_up_ends,
    .by_parts = true,
    .boundary = eb_grips_hold_first,
};

static const eb_option shaken_parameters[] = {
    PARAMETERS("1e5", FRAME_30, "0"),
    ONE_SIZE,
    EB_HEXAHEDRA_PARAMETERS("gauss", "1"),
    {"bodies", EB_OPTION_INT, "1000", 1, 1000000, NULL, "", "hexahedra"},
    {"shake", EB_OPTION_REAL, "0.2", 0, 0.45, NULL, "",
     "random shift of corners along each axis, of an edge"},
    {"seed", EB_OPTION_INT, "1", 0, 1e9, NULL, "", "of the shifts"},
    EB_LAST_PARAMETER};

/* Corner c of the unit cube has the bits of c as its place along x, y and z. The least Jacobian of
 * the trilinear map at a corner: the triple product of the edges there. */
static double least_corner_jacobian(const double P[8][3]) {
  double least = INFINITY;
  for (int c = 0; c < 8; c++) {
    double edge[3][3], normal[3];
    for (int d = 0; d < 3; d++)
      for (int k = 0; k < 3; k++) edge[d][k] = P[c | 1 << d][k] - P[c & ~(1 << d)][k];
    eb_cross3(edge[0], edge[1], normal);
    least = fmin(least, eb_dot3(normal, edge[2]));
  }
  return least;
}

static void shake_cube(uint64_t *random, double shake, double P[8][3]) {
  const double well_formed = 0.2; /* of the cube's Jacobian */
  do {
    for (int c = 0; c < 8; c++)
      for (int d = 0; d < 3; d++) P[c][d] = (c >> d & 1) + eb_random_uniform(random, -shake, shake);
  } while (least_corner_jacobian((const double(*)[3])P) < well_formed);
}

/* Each by itself, two edges apart in a cubical lattice. */
static eb_error shaken_mesh(const eb_values *parameters, eb_mesh **out) {
  static const int bits[8] = {0, 1, 3, 2, 4, 5, 7, 6}; /* of the corners of an element in turn */
  uint64_t random = (uint64_t)eb_values_int(parameters, "seed");
  int32_t count = (int32_t)eb_values_int(parameters, "bodies"),
          across = (int32_t)ceil(cbrt((double)count) - 1e-9);
  double shake = eb_values_real(parameters, "shake");
  EB_TRY(eb_mesh_create(EB_HEXAHEDRON, 8 * count, count, out));
  for (int32_t e = 0; e < count; e++) {
    const double place[3] = {2.0 * (e % across), 2.0 * (e / across % across),
                             2.0 * (e / across / across)};
    double P[8][3];
    shake_cube(&random, shake, P);
    for (int k = 0; k < 8; k++) {
      int32_t node = 8 * e + k;
      for (int d = 0; d < 3; d++) (*out)->X[3 * (size_t)node + d] = place[d] + P[bits[k]][d];
      (*out)->elements[node] = node;
    }
  }
  return EB_OK;
}

static const eb_scene_default hex_shaken_defaults[] = {
    {"conjac", "add_nodes=true", "every body needs dynamic nodes of its own"}, {0}};

const eb_scene_ops eb_lewin2016_hex_shaken = {
    .name = "lewin2016/hex-shaken",
    .solver_defaults = hex_shaken_defaults,
    .small = "bodies=20",
    .summary = "hexahedra whose corners are shifted at random, none with a Jacobian below 0.2",
    .geometry = "hexahedra by themselves, of unit cubes (ours)",
    .citation = CITATION,
    .needs = EB_CAP_HEXAHEDRA | EB_CAP_PROJECTIVE,
    .parameters = shaken_parameters,
    EB_SCENE_RUN(1, 1),
    .mesh = shaken_mesh,
    .mesh_parameters = "bodies,shake,seed",
    .setup = set_up_mechanics,
    .by_parts = true,
};

static const eb_option modes_parameters[] = {
    PARAMETERS("1e5", FRAME_30, "0"),
    ONE_SIZE,
    EB_HEXAHEDRA_PARAMETERS("one-point", "0"),
    {"amplitude", EB_OPTION_REAL, "0.2", -0.45, 0.45, NULL, "", "of the modes, of an edge"},
    EB_LAST_PARAMETER};

enum { MODES = 4 };

static eb_error modes_mesh(const eb_values *parameters, eb_mesh **out) {
  static const eb_grid cube = {.cubes = {1, 1, 1}, .origin = {-0.5, -0.5, 0}, .size = {1, 1, 1}};
  (void)parameters;
  return eb_generate_hexahedra(&cube, out);
}

static eb_error modes_prepare(const eb_values *parameters, eb_mesh **mesh) {
  eb_placement place[MODES];
  (void)parameters;
  for (int m = 0; m < MODES; m++)
    place[m] = (eb_placement){.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .shift = {0, 2.0 * m, 0}};
  return eb_scene_copies(place, MODES, mesh);
}

/* Along x by the products of the corners' signs: of y z, x z, x y, and of all three. */
static eb_error modes_setup(eb_scene *scene) {
  double amplitude = eb_values_real(scene->parameters, "amplitude");
  eb_scene_set_mechanics(scene);
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    const double *X = scene->mesh->X + 3 * (size_t)i;
    int mode = (int)floor((X[1] + 1) / 2);
    double x = X[0] > 0 ? 1 : -1, y = X[1] > 2 * mode ? 1 : -1, z = X[2] > 0.5 ? 1 : -1;
    const double sign[MODES] = {y * z, x * z, x * y, x * y * z};
    if (mode >= 0 && mode < MODES) scene->x0[3 * (size_t)i] += amplitude * sign[mode];
  }
  return EB_OK;
}

static const eb_scene_default hourglass_modes_defaults[] = {
    {"conjac", "add_nodes=true", "every body needs dynamic nodes of its own"},
    {"pbfe", NULL, "audits find energy off: its constraints fight the modes"},
    {0}};

const eb_scene_ops eb_lewin2016_hourglass_modes = {
    .name = "lewin2016/hourglass-modes",
    .solver_defaults = hourglass_modes_defaults,
    .summary = "four cubes start in the hourglass modes along x",
    .geometry = "four cubes of 1 m, one hexahedron each (ours, after Fig. 4.4)",
    .citation = CITATION,
    .needs = NEEDS_HEXAHEDRA,
    .parameters = modes_parameters,
    EB_SCENE_RUN(10, 1),
    .mesh = modes_mesh,
    .prepare = modes_prepare,
    .setup = modes_setup,
    .by_parts = true,
};

/* ---- bars ------------------------------------------------------------------------------------ */

/* 171 cubes of 5 cm. */
static const eb_grid bar = {
    .cubes = {19, 3, 3}, .origin = {-0.475, -0.075, -0.075}, .size = {0.95, 0.15, 0.15}};

static const eb_option stretch_parameters[] = {
    PARAMETERS("1e5", FRAME_30, "0"),
    EB_CUBES_PARAMETER,
    EB_HEXAHEDRA_PARAMETERS("one-point", "1"),
    ELEMENT_PARAMETER("hexahedra"),
    {"ratio", EB_OPTION_REAL, "2.5", 0.1, 10, NULL, "", "of the final length to that at rest"},
    {"time", EB_OPTION_REAL, "2", EB_POSITIVE, NULL, "s", "in which the ends are drawn apart"},
    EB_LAST_PARAMETER};

static eb_error bar_mesh(const eb_values *parameters, eb_mesh **out) {
  return fill_scaled(parameters, &bar, out);
}

static void draw_apart(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  const eb_values *parameters = scene->parameters;
  double done = eb_ramp(t, 0, eb_values_real(parameters, "time"));
  double way = 0.5 * bar.size[0] * (eb_values_real(parameters, "ratio") - 1) * done;
  for (int g = 0; g < 2; g++) {
    const double shift[3] = {g ? way : -way, 0, 0};
    eb_grip_place(scene, &scene->script.grips[g], NULL, NULL, shift, fixed, target);
  }
}

const eb_scene_ops eb_lewin2016_stretch = {
    .name = "lewin2016/stretch",
    .small = "resolution=0.5",
    .summary = "a bar is drawn out to 2.5 times its length by its clamped end faces, then held",
    .geometry = "bar of 0.95 x 0.15 x 0.15 m, 19 x 3 x 3 hexahedra (the mesh is ours)",
    .citation = CITATION,
    .needs = NEEDS_HEXAHEDRA | EB_CAP_SCRIPTED,
    EB_SCENE_COUNTS(320, 171, 0),
    .parameters = stretch_parameters,
    EB_SCENE_RUN(600, 5),
    .mesh = bar_mesh,
    .mesh_parameters = "resolution,element",
    .setup = set_up_ends,
    .by_parts = true,
    .boundary = draw_apart,
};

static const eb_option bend_parameters[] = {
    PARAMETERS("1e5", FRAME_30, "0"),
    EB_CUBES_PARAMETER,
    EB_HEXAHEDRA_PARAMETERS("one-point", "1"),
    {"element", EB_OPTION_CHOICE, "hexahedra", 0, 0, "hexahedra|tetrahedra|fine-tetrahedra", "",
     "171 hexahedra, five tetrahedra for each, or five for each of 32 x 6 x 4 cells"},
    {"angle", EB_OPTION_REAL, "180", 0, 270, NULL, "deg", "of the C"},
    {"time", EB_OPTION_REAL, "2", EB_POSITIVE, NULL, "s", "in which it is bent"},
    EB_LAST_PARAMETER};

static eb_error bend_mesh(const eb_values *parameters, eb_mesh **out) {
  static const eb_grid fine = {
      .cubes = {32, 6, 4}, .origin = {-0.475, -0.075, -0.075}, .size = {0.95, 0.15, 0.15}};
  bool is_fine = strcmp(eb_values_text(parameters, "element"), "fine-tetrahedra") == 0;
  return fill_scaled(parameters, is_fine ? &fine : &bar, out);
}

/* The end faces go to the ends of an arc as long as the bar, of which they are cross-sections. The
 * face z = upper is the outer one. */
static void bend_into_c(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  const eb_values *parameters = scene->parameters;
  double done = eb_ramp(t, 0, eb_values_real(parameters, "time")), length = bar.size[0];
  double half = 0.5 * done * eb_values_real(parameters, "angle") * pi / 180;
  /* of the arc's end: sin(half) and 1 - cos(half) times its radius */
  double out = half > 0 ? 0.5 * length * sin(half) / half : 0.5 * length;
  double down = half > 0 ? length * pow(sin(0.5 * half), 2) / half : 0;
  for (int g = 0; g < 2; g++) {
    double side = g ? 1 : -1, turn[9];
    const double from[3] = {side * 0.5 * length, 0, 0};
    const double shift[3] = {side * out - from[0], 0, -down};
    eb_axis_rotation(1, side * half, turn);
    eb_grip_place(scene, &scene->script.grips[g], turn, from, shift, fixed, target);
  }
}

const eb_scene_ops eb_lewin2016_bend_c = {
    .name = "lewin2016/bend-c",
    .small = "resolution=0.5",
    .summary = "a bar is bent into a C by its end faces, then held",
    .geometry = "bar of 0.95 x 0.15 x 0.15 m, 19 x 3 x 3 cubes of one hexahedron or five "
                "tetrahedra, or 32 x 6 x 4 cells of five",
    .citation = CITATION,
    .needs = NEEDS_HEXAHEDRA | EB_CAP_SCRIPTED,
    EB_SCENE_COUNTS(320, 171, 0),
    .parameters = bend_parameters,
    EB_SCENE_RUN(300, 5),
    .mesh = bend_mesh,
    .mesh_parameters = "resolution,element",
    .setup = set_up_ends,
    .by_parts = true,
    .boundary = bend_into_c,
};

static const eb_option hourglass_parameters[] = {
    EB_SCENE_PARAMETERS("1e5", "0", "1000", FRAME_60, "linear", "0"),
    EB_CUBES_PARAMETER,
    EB_HEXAHEDRA_PARAMETERS("one-point", "1"),
    {"load", EB_OPTION_REAL, "2", EB_FINITE, NULL, "N",
     "sum of the forces on the free end, of alternating signs from node to node"},
    {"rise", EB_OPTION_REAL, "0.05", EB_POSITIVE, NULL, "s",
     "in which the forces, then kept, rise"},
    EB_LAST_PARAMETER};

static eb_error hourglass_mesh(const eb_values *parameters, eb_mesh **out) {
  static const eb_grid cantilever = {
      .cubes = {10, 3, 3}, .origin = {0, -0.075, -0.075}, .size = {0.5, 0.15, 0.15}};
  return fill_scaled(parameters, &cantilever, out);
}

/* Forces along x on the free end, of the sign (-1)^(j + k) at node j, k of the face: an hourglass
 * mode of its elements, of no mean force and moment. */
static eb_error hourglass_setup(eb_scene *scene) {
  const eb_mesh *mesh = scene->mesh;
  const double edge = 0.05 / eb_values_real(scene->parameters, "resolution");
  double lo[3], hi[3], *pattern;
  EB_TRY(set_up_ends(scene));
  EB_TRY(eb_ranks_agree(eb_scene_ranks(scene), eb_scene_add_load(scene, &pattern)));
  const eb_grip *end = &scene->script.grips[1];
  double share = eb_values_real(scene->parameters, "load") / (double)eb_grip_size(scene, end);
  eb_scene_bounds(scene, mesh->X, lo, hi);
  for (int32_t k = 0; k < end->count; k++) {
    const double *X = mesh->X + 3 * (size_t)end->nodes[k];
    pattern[3 * (size_t)end->nodes[k]] =
        share * cos(pi * (X[1] - lo[1]) / edge) * cos(pi * (X[2] - lo[2]) / edge);
  }
  return EB_OK;
}

static void hourglass_loads(const eb_scene *scene, double t, double *magnitude) {
  magnitude[0] = eb_ramp(t, 0, eb_values_real(scene->parameters, "rise"));
}

static const eb_scene_default hourglass_defaults[] = {
    {"symplectic-euler", NULL,
     "audits find positions and energy off: parts that are stable at the start are not later"},
    {0}};

const eb_scene_ops eb_lewin2016_hourglass = {
    .name = "lewin2016/hourglass",
    .solver_defaults = hourglass_defaults,
    .summary = "forces of alternating signs pull at the nodes of a bar's free end",
    .geometry = "bar of 0.5 x 0.15 x 0.15 m, 10 x 3 x 3 hexahedra, held at one end (ours)",
    .citation = CITATION,
    .needs = EB_CAP_ONE_POINT | EB_CAP_HYPERELASTIC,
    .parameters = hourglass_parameters,
    EB_SCENE_RUN(18, 1),
    .mesh = hourglass_mesh,
    .mesh_parameters = "resolution",
    .setup = hourglass_setup,
    .by_parts = true,
    .boundary = eb_grips_hold_first,
    .loads = hourglass_loads,
};

/* ---- blocks that hit the ground -------------------------------------------------------------- */

#define STEEL_PARAMETERS(contact_)                                                                 \
  EB_SCENE_PARAMETERS("2e11", "0", "8050", FRAME_60, "corotated", "9.81"), EB_CUBES_PARAMETER, {   \
    "contact", EB_OPTION_REAL, contact_, EB_NOT_NEGATIVE, NULL, "N/m",                             \
        "stiffness of the ground under a node of the bottom"                                       \
  }

static const eb_grid block = {.cubes = {12, 12, 12}, .origin = {-0.5, -0.5, 0}, .size = {1, 1, 1}};

/* Shape matching of cubes of edge a, s / 2 sum |x - xc - R (X - Xc)|^2 with s = E a / 2, is the
 * energy mu |F - R|^2 at one point and an hourglass stiffness of 4 mu. */
static const eb_option steel_parameters[] = {
    STEEL_PARAMETERS("1e7"),
    EB_HEXAHEDRA_PARAMETERS("one-point", "4"),
    {"speed", EB_OPTION_REAL, "10", EB_NOT_NEGATIVE, NULL, "m/s", "downwards at the start"},
    EB_LAST_PARAMETER};

static eb_error steel_mesh(const eb_values *parameters, eb_mesh **out) {
  return fill_scaled(parameters, &block, out);
}

static eb_error steel_setup(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  add_stiff_floor(scene);
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    scene->v0[3 * (size_t)i + 2] = -eb_values_real(scene->parameters, "speed");
  return EB_OK;
}

static const eb_scene_default steel_block_defaults[] = {
    {"xpbd", NULL, "audits find energy off: steel is too stiff for its substeps"}, {0}};

const eb_scene_ops eb_lewin2016_steel_block = {
    .name = "lewin2016/steel-block",
    .solver_defaults = steel_block_defaults,
    .small = "resolution=0.25",
    .summary = "a steel block hits the ground at 10 m/s",
    .geometry = "cube of 1 m, 12 x 12 x 12 hexahedra (the resolution is that of block-drop)",
    .citation = CITATION,
    .needs = NEEDS_HEXAHEDRA | EB_CAP_IMPLICIT_PENALTY,
    .parameters = steel_parameters,
    EB_SCENE_RUN(30, 1),
    .mesh = steel_mesh,
    .mesh_parameters = "resolution",
    .setup = steel_setup,
};

static const eb_option drop_parameters[] = {
    STEEL_PARAMETERS("3e7"),
    ELEMENT_PARAMETER("tetrahedra"),
    {"height", EB_OPTION_REAL, "5", EB_NOT_NEGATIVE, NULL, "m", "of the bottom at the start"},
    EB_LAST_PARAMETER};

static eb_error drop_setup(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  add_stiff_floor(scene);
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    scene->x0[3 * (size_t)i + 2] += eb_values_real(scene->parameters, "height");
  return EB_OK;
}

const eb_scene_ops eb_lewin2016_block_drop = {
    .name = "lewin2016/block-drop",
    .small = "resolution=0.25",
    .summary = "a block falls 5 m, hits the ground in step 61 and comes to rest",
    .geometry = "cube of 1 m, 12 x 12 x 12 cubes of five tetrahedra",
    .citation = CITATION,
    .needs = NEEDS_TETRAHEDRA | EB_CAP_IMPLICIT_PENALTY,
    EB_SCENE_COUNTS(2197, 8640, 0),
    .parameters = drop_parameters,
    EB_SCENE_RUN(120, 1),
    .mesh = steel_mesh,
    .mesh_parameters = "resolution,element",
    .setup = drop_setup,
};

/* ---- a bar that turns ------------------------------------------------------------------------ */

/* The time step times E decides how far an iteration of projective dynamics turns a bar of length
 * L: Pi = k h^2 / (M L^2 / 12), k = 2 mu V, is 12 E h^2 / (rho L^2) at nu 0. Here it is 10. */
#define TURNING_PARAMETERS(gravity_)                                                               \
  PARAMETERS("3e6", FRAME_60, gravity_),                                                           \
      EB_RESOLUTION(0.75, "scale on the number of cubes along every edge; two across at least"),   \
      ELEMENT_PARAMETER("tetrahedra"), EB_HEXAHEDRA_PARAMETERS("one-point", "1")

static const eb_grid thick_bar = {
    .cubes = {10, 2, 2}, .origin = {0, -0.1, -0.1}, .size = {1, 0.2, 0.2}};

static eb_error thick_mesh(const eb_values *parameters, eb_mesh **out) {
  return fill_scaled(parameters, &thick_bar, out);
}

static const eb_option spin_parameters[] = {
    TURNING_PARAMETERS("0"),
    {"spin", EB_OPTION_REAL, "3", EB_FINITE, NULL, "rad/s", "about the y axis at the start"},
    EB_LAST_PARAMETER};

static eb_error spin_setup(eb_scene *scene) {
  const double spin = eb_values_real(scene->parameters, "spin");
  double lo[3], hi[3];
  eb_scene_set_mechanics(scene);
  eb_scene_bounds(scene, scene->mesh->X, lo, hi);
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    const double *X = scene->mesh->X + 3 * (size_t)i;
    scene->v0[3 * (size_t)i] = spin * (X[2] - 0.5 * (lo[2] + hi[2]));
    scene->v0[3 * (size_t)i + 2] = -spin * (X[0] - 0.5 * (lo[0] + hi[0]));
  }
  return eb_grips_add_box(scene, low_corner, high_corner, "bar");
}

const eb_scene_ops eb_lewin2016_free_spin = {
    .name = "lewin2016/free-spin",
    .summary = "a free bar turns about its middle (no gravity)",
    .geometry = "bar of 1 x 0.2 x 0.2 m, 10 x 2 x 2 cubes of five tetrahedra (ours)",
    .citation = CITATION,
    .needs = NEEDS_TETRAHEDRA,
    .parameters = spin_parameters,
    EB_SCENE_RUN(30, 1),
    .mesh = thick_mesh,
    .mesh_parameters = "resolution,element",
    .setup = spin_setup,
    .by_parts = true,
};

/* ---- a sheet and a beam ---------------------------------------------------------------------- */

/* rho g L / E is 1 %: the strain at the top of the sheet at rest. */
static const eb_option sheet_parameters[] = {
    PARAMETERS("9.81e5", FRAME_60, "9.81"),
    EB_RESOLUTION(0.1, "scale on the number of cubes along the two sides"),
    ELEMENT_PARAMETER("hexahedra"), EB_HEXAHEDRA_PARAMETERS("one-point", "1"), EB_LAST_PARAMETER};

/* One layer, of the same thickness at every resolution. */
static eb_error sheet_mesh(const eb_values *parameters, eb_mesh **out) {
  double resolution = eb_values_real(parameters, "resolution");
  int32_t n = (int32_t)fmax(1, round(32 * resolution));
  return fill(parameters, &(eb_grid){.cubes = {n, 1, n}, .size = {1, 1.0 / 32, 1}}, out);
}

static eb_error sheet_setup(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  EB_TRY(eb_grips_add_box(scene, (const double[3]){0, 0, 1}, high_corner, "top"));
  return eb_grips_add_box(scene, low_corner, (const double[3]){1, 1, 0}, "bottom");
}

const eb_scene_ops eb_lewin2016_hanging_sheet = {
    .name = "lewin2016/hanging-sheet",
    .small = "resolution=0.2",
    .summary = "a sheet that is held by its upper edge stretches under its weight",
    .geometry = "sheet of 1 x 1 m, 33 x 33 nodes on either side of one layer of hexahedra (ours)",
    .citation = CITATION,
    .needs = NEEDS_HEXAHEDRA,
    .parameters = sheet_parameters,
    EB_SCENE_RUN(120, 1),
    .mesh = sheet_mesh,
    .mesh_parameters = "resolution,element",
    .setup = sheet_setup,
    .by_parts = true,
    .boundary = eb_grips_hold_first,
};

/* The elements give the mass, and next to nothing else. With links alone some 2 % longer when it
 * hangs. */
static const eb_option net_parameters[] = {
    PARAMETERS("1", FRAME_60, "9.81"),
    EB_RESOLUTION(0.1, "scale on the number of cubes along the two sides"),
    {"clusters", EB_OPTION_CHOICE, "edges", 0, 0, "edges|elements|both", "",
     "what holds it together: links along edges, tetrahedra that want their shape back"},
    {"stiffness", EB_OPTION_REAL, "1e4", EB_NOT_NEGATIVE, NULL, "N/m",
     "of a link, and of a tetrahedron"},
    EB_LAST_PARAMETER};

static eb_error net_mesh(const eb_values *parameters, eb_mesh **out) {
  int32_t n = (int32_t)fmax(1, round(16 * eb_values_real(parameters, "resolution")));
  return eb_generate_tets5(&(eb_grid){.cubes = {n, n, 1}, .size = {1, 1, 1.0 / 16}}, out);
}

static eb_error net_setup(eb_scene *scene) {
  const char *clusters = eb_values_text(scene->parameters, "clusters");
  double stiffness = eb_values_real(scene->parameters, "stiffness");
  EB_TRY(set_up_ends(scene));
  if (strcmp(clusters, "elements") != 0) EB_TRY(eb_scene_link_edges(scene, stiffness));
  if (strcmp(clusters, "edges") == 0) return EB_OK;
  return eb_scene_match_elements(scene, stiffness);
}

const eb_scene_ops eb_lewin2016_net = {
    .name = "lewin2016/net",
    .small = "resolution=0.25",
    .summary = "a mat of springs or of tetrahedra that want their shape back swings down",
    .geometry = "mat of 1 x 1 x 0.0625 m, 16 x 16 x 1 cubes of five tetrahedra, held along one "
                "edge (ours)",
    .citation = CITATION,
    .needs = NEEDS_TETRAHEDRA | EB_CAP_CLUSTERS,
    .parameters = net_parameters,
    EB_SCENE_RUN(60, 1),
    .mesh = net_mesh,
    .mesh_parameters = "resolution",
    .setup = net_setup,
    .boundary = eb_grips_hold_first,
};

static const eb_option beam_parameters[] = {
    EB_SCENE_PARAMETERS("1e6", "0", "1000", FRAME_60, "corotated", "9.81"),
    EB_CUBES_PARAMETER,
    ELEMENT_PARAMETER("tetrahedra"),
    EB_HEXAHEDRA_PARAMETERS("one-point", "1"),
    {"contrast", EB_OPTION_REAL, "1", 1e-8, 1e8, NULL, "",
     "Young's modulus of every other quarter of the beam over E"},
    EB_LAST_PARAMETER};

static eb_error beam_mesh(const eb_values *parameters, eb_mesh **out) {
  static const eb_grid beam = {
      .cubes = {20, 4, 4}, .origin = {0, -0.1, -0.1}, .size = {1, 0.2, 0.2}};
  return fill_scaled(parameters, &beam, out);
}

/* Quarters along x in turn, the one at the held end first. */
static eb_error beam_prepare(const eb_values *parameters, eb_mesh **mesh) {
  double lo[3], hi[3], centroid[3];
  (void)parameters;
  eb_mesh_bounds((*mesh)->X, (*mesh)->node_count, lo, hi);
  for (int32_t e = 0; e < (*mesh)->element_count; e++) {
    eb_element_centroid(*mesh, e, centroid);
    (*mesh)->region[e] = (int)floor(4 * (centroid[0] - lo[0]) / (hi[0] - lo[0])) % 2;
  }
  return eb_mesh_name_regions(*mesh, 2, (const char *const[]){"soft", "stiff"});
}

static eb_error beam_setup(eb_scene *scene) {
  EB_TRY(set_up_ends(scene));
  for (int32_t r = 0; r < scene->material_count; r++)
    if (strcmp(scene->mesh->region_name[r], "stiff") == 0)
      scene->materials[r].young *= eb_values_real(scene->parameters, "contrast");
  return EB_OK;
}

const eb_scene_ops eb_lewin2016_beam = {
    .name = "lewin2016/beam",
    .small = "resolution=0.5",
    .summary = "a beam of soft and, if wanted, stiff quarters, held at one end, falls",
    .geometry = "bar of 1 x 0.2 x 0.2 m, 20 x 4 x 4 cubes of five tetrahedra (ours)",
    .citation = "none: a case to compare solvers on",
    .needs = NEEDS_TETRAHEDRA,
    .parameters = beam_parameters,
    EB_SCENE_RUN(30, 1),
    .mesh = beam_mesh,
    .mesh_parameters = "resolution,element",
    .prepare = beam_prepare,
    .setup = beam_setup,
    .by_parts = true,
    .boundary = eb_grips_hold_first,
};
