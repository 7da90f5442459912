/* The muscle of Weidner, Kim and Sueda, "ConJac: Large Steps in Dynamic Simulation", MIG 2020
 * (Section 4, Table 1, Fig. 6).
 *
 * An arm hangs in the plane z = 0, gravity along -y: the upper arm from the shoulder at the origin
 * downwards, the forearm from the elbow forwards (+x). A spindle-shaped muscle with a tendon at
 * each end lies in front of the upper arm. Two origin nodes ride on the upper arm and two insertion
 * nodes on the forearm; with the node in the middle of the muscle they are the five that Table 1
 * counts as dynamic, and the reduced system has the two joints and the two coordinates of that node
 * as unknowns.
 *
 * The paper gives the counts, E, nu, the materials by name and that the muscle outweighs the bones
 * (here 45 g against 40 g). Chosen here:
 * - Fung's fibres are at rest in the pose that the mesh is made for (the elbow bent by
 *   `flexion`): activation stiffens them and pulls the muscle back to its rest length. So the
 *   pose is the bent one, the limp arm sinks from it, and the active muscle lifts it again.
 *   Their tangent at rest is 4 k1 = 1.6 MPa along the fibres, fifty times E; k2 = 5 adds a
 *   quarter to it at 10 % of strain.
 * - A limp muscle must let the arm sink. With L the length, A the section of the muscle, r its
 *   lever about the elbow and m the forearm's mass, the weight m g L / 2 against E A (r / L) r
 *   turns the elbow by m g L^2 / (2 E A r^2). As m is less than the muscle's rho A L, only r <<
 *   L leaves much of an angle: the insertion is close to the elbow, as on a human arm. For the
 *   same reason the ends of the tendons are held in two nodes about which they turn; clamped,
 *   they would be hinges stiffer than the muscle. */
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/scenes/catalogue.h"
#include "problems/scenes/common.h"

static const double degree = 3.14159265358979323846 / 180;

static const eb_option muscle_parameters[] = {
    {"E", EB_OPTION_REAL, "3e4", EB_POSITIVE, NULL, "Pa", "Young's modulus of the belly"},
    {"nu", EB_OPTION_REAL, "0.49", EB_POISSON, NULL, "", "Poisson's ratio"},
    {"rho", EB_OPTION_REAL, "1000", EB_POSITIVE, NULL, "kg/m^3", "density"},
    {"dt", EB_OPTION_REAL, "5e-3", EB_POSITIVE, NULL, "s", "time step"},
    {"material", EB_OPTION_CHOICE, "stable-neo-hookean", 0, 0, EB_MATERIAL_CHOICES, "",
     "base material"},
    {"gravity", EB_OPTION_REAL, "9.81", EB_NOT_NEGATIVE, NULL, "m/s^2", "acceleration along -y"},
    {"mesh_up", EB_OPTION_CHOICE, "z", 0, 0, "y|z", "",
     "of a --mesh file; a planar scene takes none"},
    {"mesh_turn", EB_OPTION_REAL, "0", -360, 360, NULL, "deg",
     "of a --mesh file; a planar scene takes none"},
    {"resolution", EB_OPTION_REAL, "1", 0.3, 20, NULL, "",
     "scale on the number of edges along and across; 1 is the paper's count"},
    {"thickness", EB_OPTION_REAL, "0.025", EB_POSITIVE, NULL, "m", "of the muscle along z"},
    {"tendon", EB_OPTION_REAL, "10", 1, 1e6, NULL, "", "Young's modulus of the tendons over E"},
    {"k1", EB_OPTION_REAL, "4e5", EB_NOT_NEGATIVE, NULL, "Pa",
     "stiffness of the active fibres (Fung)"},
    {"k2", EB_OPTION_REAL, "5", 1e-6, 1e3, NULL, "", "exponent of the fibres (Fung)"},
    {"activation", EB_OPTION_REAL, "1", 0, 1, NULL, "", "of the fibres while they are active"},
    {"activate", EB_OPTION_REAL, "1", EB_NOT_NEGATIVE, NULL, "s",
     "time at which activation begins to rise"},
    {"relax", EB_OPTION_REAL, "2", EB_NOT_NEGATIVE, NULL, "s", "time at which it begins to fall"},
    {"ramp", EB_OPTION_REAL, "0.2", EB_POSITIVE, NULL, "s", "duration of the rise and of the fall"},
    {"upper_arm", EB_OPTION_REAL, "0.15", EB_POSITIVE, NULL, "m", "length; the muscle goes along"},
    {"forearm", EB_OPTION_REAL, "0.13", EB_POSITIVE, NULL, "m", "length"},
    {"insertion", EB_OPTION_REAL, "0.06", 0.01, 1, NULL, "",
     "way of the insertion along the forearm, over the length of the upper arm"},
    {"upper_arm_mass", EB_OPTION_REAL, "0.012", EB_POSITIVE, NULL, "kg", "of its bone"},
    {"forearm_mass", EB_OPTION_REAL, "0.028", EB_POSITIVE, NULL, "kg", "of its bone"},
    {"flexion", EB_OPTION_REAL, "110", 10, 150, NULL, "deg",
     "of the elbow at the start, where the muscle is at rest; 0 is straight"},
    {"elbow_min", EB_OPTION_REAL, "5", -180, 180, NULL, "deg", "least flexion"},
    {"elbow_max", EB_OPTION_REAL, "145", -180, 180, NULL, "deg", "greatest flexion"},
    {"shoulder_min", EB_OPTION_REAL, "-45", -180, 180, NULL, "deg", "farthest backwards"},
    {"shoulder_max", EB_OPTION_REAL, "135", -180, 180, NULL, "deg", "farthest forwards"},
    {"limit_stiffness", EB_OPTION_REAL, "2", EB_POSITIVE, NULL, "N m/rad", "beyond these angles"},
    {"joint_damping", EB_OPTION_REAL, "5e-4", EB_NOT_NEGATIVE, NULL, "N m s/rad", "of both joints"},
    EB_LAST_PARAMETER};

/* ---- the arm and the shape of the muscle in the starting pose -------------------------------- */

enum { UPPER_ARM, FOREARM, BONES };

/* Along the muscle's chord s goes from 0 at the origin to 1 at the insertion, across it t goes from
 * -1 on the side of the bones to 1; the point (s, t) is at start + s chord + (bow(s) + t
 * half_width(s)) side. */
typedef struct anatomy {
  double elbow[3], hand[3]; /* m */
  double start[2], chord[2], side[2];
  double bow, tendon, belly; /* of the middle off the chord; half widths, m */
} anatomy;

static anatomy measure(const eb_values *parameters) {
  double length = eb_values_real(parameters, "upper_arm");
  double forearm = eb_values_real(parameters, "forearm");
  double insertion = eb_values_real(parameters, "insertion");
  double bend = degree * eb_values_real(parameters, "flexion");
  const double along[2] = {sin(bend), -cos(bend)}, above[2] = {cos(bend), sin(bend)};
  anatomy arm = {.elbow = {0, -length, 0},
                 .start = {0.03 * length, -0.05 * length},
                 .bow = 0.05 * length,
                 .tendon = 0.0133 * length,
                 .belly = 0.107 * length};
  for (int d = 0; d < 2; d++) {
    arm.hand[d] = arm.elbow[d] + forearm * along[d];
    arm.chord[d] = arm.elbow[d] + length * (insertion * along[d] + 0.03 * above[d]) - arm.start[d];
  }
  double chord = hypot(arm.chord[0], arm.chord[1]);
  arm.side[0] = -arm.chord[1] / chord;
  arm.side[1] = arm.chord[0] / chord;
  return arm;
}

/* Tendons are the sixths at both ends; between them the muscle swells as sin^2. */
static const double tendon_share = 1. / 6, junction_share = 2. / 9;

static double belly_phase(double s) {
  return fmin(1, fmax(0, (s - tendon_share) / (1 - 2 * tendon_share)));
}

static double half_width(const anatomy *arm, double s) {
  double swell = sin(180 * degree * belly_phase(s));
  return arm->tendon + (arm->belly - arm->tendon) * swell * swell;
}

static void muscle_point(const anatomy *arm, double s, double t, double X[3]) {
  double off = 4 * arm->bow * s * (1 - s) + t * half_width(arm, s);
  for (int d = 0; d < 2; d++) X[d] = arm->start[d] + s * arm->chord[d] + off * arm->side[d];
  X[2] = 0;
}

/* ---- mesh ------------------------------------------------------------------------------------ */

/* A disc of V nodes, B of them on its rim, has 2 V - B - 2 triangles: the paper's 262 and 438 need
 * B = 84. A mapped grid of 36 x 6 squares has that rim and 259 nodes; three more in the middle of
 * squares, which become four triangles each, make the counts the paper's. */
enum { ALONG = 36, ACROSS = 6, CROSSED = 3 };

static eb_error muscle_mesh(const eb_values *parameters, eb_mesh **out) {
  static const int split[2][6] = {{0, 1, 2, 0, 2, 3}, {0, 1, 3, 1, 2, 3}};
  const anatomy arm = measure(parameters);
  double resolution = eb_values_real(parameters, "resolution");
  /* Squares; even, so that there is a node in the middle. */
  int32_t along = 2 * (int32_t)round(ALONG * resolution / 2);
  int32_t across = 2 * (int32_t)round(ACROSS * resolution / 2);
  /* Rows of the middle column that have a node in the middle of the square. */
  int32_t crossed = across < CROSSED ? across : CROSSED, row = along + 1;
  EB_TRY(eb_mesh_create(EB_TRIANGLE, row * (across + 1) + crossed, 2 * (along * across + crossed),
                        out));
  double *X = (*out)->X;
  for (int32_t j = 0; j <= across; j++)
    for (int32_t i = 0; i <= along; i++, X += 3)
      muscle_point(&arm, (double)i / along, 2. * j / across - 1, X);
  for (int32_t k = 0; k < crossed; k++, X += 3)
    muscle_point(&arm, (along / 2 + 0.5) / along, 2 * (across / 2 - 0.5 + k) / across - 1, X);
  /* Diagonals alternate, so that no direction is preferred. */
  int32_t *corner = (*out)->elements;
  for (int32_t j = 0; j < across; j++)
    for (int32_t i = 0; i < along; i++) {
      int32_t base = i + row * j, k = j - (across / 2 - 1);
      const int32_t square[4] = {base, base + 1, base + row + 1, base + row};
      if (i == along / 2 && k >= 0 && k < crossed)
        for (int c = 0; c < 4; c++) {
          *corner++ = square[c];
          *corner++ = square[(c + 1) % 4];
          *corner++ = row * (across + 1) + k;
        }
      else
        for (int c = 0; c < 6; c++) *corner++ = square[split[(i + j) % 2][c]];
    }
  return EB_OK;
}

enum { BELLY, JUNCTION, TENDON, REGIONS };

static eb_error muscle_prepare(const eb_values *parameters, eb_mesh **mesh) {
  const anatomy arm = measure(parameters);
  if (!(*mesh)->fibre) EB_TRY(EB_NEW((*mesh)->fibre, 3 * (size_t)(*mesh)->element_count));
  double squared = arm.chord[0] * arm.chord[0] + arm.chord[1] * arm.chord[1];
  for (int32_t e = 0; e < (*mesh)->element_count; e++) {
    double centroid[3];
    eb_element_centroid(*mesh, e, centroid);
    /* Its s and t; beyond the ends those of the end. */
    const double r[2] = {centroid[0] - arm.start[0], centroid[1] - arm.start[1]};
    double s = fmin(1, fmax(0, (r[0] * arm.chord[0] + r[1] * arm.chord[1]) / squared));
    double off = r[0] * arm.side[0] + r[1] * arm.side[1] - 4 * arm.bow * s * (1 - s);
    double t = fmin(1, fmax(-1, off / half_width(&arm, s)));
    double end = fmin(s, 1 - s);
    (*mesh)->region[e] = end < tendon_share ? TENDON : end < junction_share ? JUNCTION : BELLY;
    if ((*mesh)->region[e] == TENDON) continue;
    /* Fibres run along the muscle's lines, those of constant t. */
    double phase = belly_phase(s), inside = phase > 0 && phase < 1, length = 0;
    double swell = (arm.belly - arm.tendon) * 180 * degree * sin(360 * degree * phase) /
                   (1 - 2 * tendon_share) * inside;
    double slope = 4 * arm.bow * (1 - 2 * s) + t * swell, *a = (*mesh)->fibre + 3 * e;
    for (int d = 0; d < 2; d++) {
      a[d] = arm.chord[d] + slope * arm.side[d];
      length += a[d] * a[d];
    }
    a[2] = 0;
    for (int d = 0; d < 2; d++) a[d] /= sqrt(length);
  }
  return eb_mesh_name_regions(*mesh, REGIONS, (const char *const[]){"belly", "junction", "tendon"});
}

/* ---- bones ----------------------------------------------------------------------------------- */

/* A round rod from pivot to tip, a twentieth as thick as long. */
static void shape_bone(double mass, eb_rigid_body *bone) {
  double r[3], length = 0;
  for (int d = 0; d < 3; d++) {
    r[d] = bone->tip[d] - bone->pivot[d];
    length += r[d] * r[d];
    bone->centre[d] = 0.5 * (bone->tip[d] + bone->pivot[d]);
  }
  double radius = 0.025 * sqrt(length), round = 0.5 * mass * radius * radius;
  double across = mass * (3 * radius * radius + length) / 12;
  for (int d = 0; d < 3; d++) bone->inertia[d] = across + (round - across) * r[d] * r[d] / length;
  bone->inertia[3] = (round - across) * r[0] * r[1] / length;
  bone->mass = mass;
}

static void limit_bone(const eb_values *parameters, const char *least, const char *most,
                       double start, eb_rigid_body *bone) {
  bone->lower = degree * (eb_values_real(parameters, least) - start);
  bone->upper = degree * (eb_values_real(parameters, most) - start);
  bone->limit_stiffness = eb_values_real(parameters, "limit_stiffness");
  bone->damping = eb_values_real(parameters, "joint_damping");
}

static eb_error make_bones(eb_scene *scene, const anatomy *arm) {
  const eb_values *parameters = scene->parameters;
  eb_rigid_body bones[BONES] = {
      [UPPER_ARM] = {.parent = -1, .axis = {0, 0, 1}},
      [FOREARM] = {.parent = UPPER_ARM, .axis = {0, 0, 1}},
  };
  memcpy(bones[UPPER_ARM].tip, arm->elbow, sizeof arm->elbow);
  memcpy(bones[FOREARM].pivot, arm->elbow, sizeof arm->elbow);
  memcpy(bones[FOREARM].tip, arm->hand, sizeof arm->hand);
  shape_bone(eb_values_real(parameters, "upper_arm_mass"), &bones[UPPER_ARM]);
  shape_bone(eb_values_real(parameters, "forearm_mass"), &bones[FOREARM]);
  limit_bone(parameters, "shoulder_min", "shoulder_max", 0, &bones[UPPER_ARM]);
  limit_bone(parameters, "elbow_min", "elbow_max", eb_values_real(parameters, "flexion"),
             &bones[FOREARM]);
  return eb_articulation_create(BONES, bones, scene->gravity, &scene->rigid.articulation);
}

/* The node nearest to (s, t) of the muscle that no bone carries. */
static int32_t muscle_node(const eb_scene *scene, const anatomy *arm, double s, double t) {
  double wanted[3], least = INFINITY;
  int32_t nearest = 0;
  muscle_point(arm, s, t, wanted);
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    const double *X = scene->mesh->X + 3 * i;
    double distance = hypot(X[0] - wanted[0], X[1] - wanted[1]);
    bool carried = distance >= least;
    for (int32_t k = 0; !carried && k < eb_articulation_attached(scene->rigid.articulation); k++)
      carried = eb_articulation_node(scene->rigid.articulation, k) == i;
    if (carried) continue;
    least = distance;
    nearest = i;
  }
  return nearest;
}

/* ---- scene ----------------------------------------------------------------------------------- */

/* Stiffness rises from the belly to the tendons, in between at the geometric mean; tendons have no
 * active fibres. */
static void muscle_materials(eb_scene *scene) {
  const eb_values *parameters = scene->parameters;
  double ratio = eb_values_real(parameters, "tendon");
  eb_scene_uniform_material(scene);
  for (int32_t r = 0; r < scene->material_count; r++) {
    eb_material *material = &scene->materials[r];
    material->thickness = eb_values_real(parameters, "thickness");
    material->young *= r == TENDON ? ratio : r == JUNCTION ? sqrt(ratio) : 1;
    if (r == TENDON) continue;
    material->fibre = EB_FIBRE_FUNG;
    material->fibre_stiffness = eb_values_real(parameters, "k1");
    material->fibre_exponent = eb_values_real(parameters, "k2");
    material->activation = 0;
  }
}

static eb_error muscle_setup(eb_scene *scene) {
  const anatomy arm = measure(scene->parameters);
  muscle_materials(scene);
  scene->gravity[1] = -eb_values_real(scene->parameters, "gravity");
  EB_TRY(make_bones(scene, &arm));
  /* Two nodes of either end, in the middle of it: the ends can turn about them, as a tendon does
   * about its bone. */
  for (int c = 0; c < 4; c++) {
    int32_t node = muscle_node(scene, &arm, c / 2, c % 2 ? 1. / 3 : -1. / 3);
    EB_TRY(eb_articulation_attach(scene->rigid.articulation, node, c < 2 ? UPPER_ARM : FOREARM,
                                  scene->mesh->X + 3 * node));
  }
  return EB_OK;
}

static double muscle_activation(const eb_scene *scene, double t) {
  const eb_values *parameters = scene->parameters;
  double ramp = eb_values_real(parameters, "ramp");
  double rise = eb_values_real(parameters, "activate"), fall = eb_values_real(parameters, "relax");
  return eb_values_real(parameters, "activation") * eb_ramp(t, rise, rise + ramp) *
         (1 - eb_ramp(t, fall, fall + ramp));
}

static int32_t muscle_dynamic_nodes(const eb_scene *scene, int32_t wanted, int32_t *nodes) {
  const anatomy arm = measure(scene->parameters);
  if (wanted > 0) nodes[0] = muscle_node(scene, &arm, 0.5, 0);
  return wanted > 0;
}

const eb_scene_ops eb_conjac2020_muscle = {
    .name = "conjac2020/muscle",
    .small = "resolution=0.5",
    .summary = "a muscle bends the elbow of a hanging arm of two bones, and lets it sink again",
    .geometry = "planar spindle of 14 x 3.2 cm with tendons, mapped grid of 36 x 6 squares, two "
                "triangles each, three of them crossed",
    .citation = "Weidner, Kim and Sueda, ConJac: Large Steps in Dynamic Simulation, MIG 2020",
    .needs = EB_CAP_TRIANGLES | EB_CAP_HYPERELASTIC | EB_CAP_FIBRES | EB_CAP_ARTICULATION,
    EB_SCENE_COUNTS(262, 438, 0),
    .parameters = muscle_parameters,
    EB_SCENE_RUN(600, 2),
    .mesh = muscle_mesh,
    .mesh_parameters = "resolution,upper_arm,flexion,insertion",
    .prepare = muscle_prepare,
    .setup = muscle_setup,
    .dynamic_nodes = muscle_dynamic_nodes,
    .activation = muscle_activation,
};
