/* Scene files: formulas, units, what is understood, and what is refused, with the line and the word
 * that is wrong. */
#include <math.h>
#include <string.h>

#include "problems/base/strings.h"
#include "problems/contact/penalty.h"
#include "problems/scenes/file/formula.h"
#include "problems/scenes/file/scene_file.h"
#include "tests/support/scene_fixture.h"

/* ---- formulas -------------------------------------------------------------------------------- */

static const eb_option options[] = {{"size", EB_OPTION_REAL, "50", -1e30, 1e30, NULL, "mm", ""},
                                    {"count", EB_OPTION_INT, "3", 0, 9, NULL, "", ""},
                                    {"way", EB_OPTION_CHOICE, "left", 0, 0, "left|right", "", ""},
                                    {NULL, EB_OPTION_REAL, NULL, 0, 0, NULL, NULL, NULL}};

static eb_error value_of(const char *text, double t, eb_quantity *out) {
  eb_values *values;
  eb_definition twice = {.name = (char[]){"twice"}};
  eb_formula formula;
  const eb_variable time = {.name = "t", .quantity = {t, 1}};
  tap_require(eb_values_create("test", options, NULL, &values), "values");
  tap_require(eb_formula_parse("2 * size", &twice.formula), "definition");
  const eb_names names = {.options = options,
                          .values = values,
                          .definitions = &twice,
                          .definition_count = 1,
                          .variables = &time,
                          .variable_count = 1};
  eb_error error = eb_formula_parse(text, &formula);
  if (!error) error = eb_formula_part(&names, &formula, 0, out);
  eb_formula_clear(&formula);
  eb_formula_clear(&twice.formula);
  eb_values_destroy(values);
  return error;
}

static void is(const char *text, double wanted) {
  eb_quantity got = {NAN, NAN};
  tap_require(value_of(text, 0.3, &got), text);
  tap_ok(got.value == wanted, "%s is %.17g", text, wanted);
}

static void refuses(const char *text, const char *part) {
  eb_quantity got;
  eb_error error = value_of(text, 0.3, &got);
  bool says = error && strstr(eb_error_message(error), part);
  tap_ok(says, "refused: %s (%s)", text, part);
  if (!says) printf("# %s\n", error ? eb_error_message(error) : "accepted");
  eb_error_free(error);
}

/* Rates against central differences, whose error is h^2 / 6 times the third derivative. */
static void moves(const char *text) {
  const double h = 1e-4;
  eb_quantity at, before, after;
  tap_require(value_of(text, 0.3, &at), text);
  tap_require(value_of(text, 0.3 - h, &before), text);
  tap_require(value_of(text, 0.3 + h, &after), text);
  double slope = (after.value - before.value) / (2 * h);
  tap_ok(fabs(slope - at.rate) < 1e-6 * (1 + fabs(at.rate)), "d/dt %s", text);
}

static void test_formulas(void) {
  is("size", 0.05); /* 50 mm is 50 / 1000, to the bit */
  is("twice + 1 cm", 2 * 0.05 + 0.01);
  is("30 deg", 30 * 3.14159265358979323846 / 180);
  is("2 MPa", 2e6);
  is("7.8 g/cm^3", 7.8e3);
  is("36 km/h", 36 / 3.6);
  is("(0 - 3)^2", 9);
  is("max(count, 2) * mod(7, 4)", 9);
  is("if(way = \"left\", 1, 1 / 0)", 1);
  is("if(way != \"left\", 1 / 0, 2)", 2);
  is("sum(k, 1, count, k^2)", 14);
  is("1 < count <= 3 and not count = 2", 1);
  moves("sin(2 * t) + t^3 / (1 + t)");
  moves("ramp(t, 0.1, 0.7) - ramp_integral(t, 0.2, 0.5)");
  moves("sqrt(t) * exp(t) * cos(t) + atan(t) + tan(t) - abs(0 - t)");
  moves("hypot(t, 2) + norm(t, 1, t) + 2^t + min(t, 1) + max(t, t^2)");
  refuses("sizes", "did you mean 'size'");
  refuses("sine(t)", "did you mean 'sin'");
  refuses("sin(t, 1)", "wants 1 argument and has 2");
  refuses("1 / 0", "a finite number is wanted");
  refuses("way + 1", "is a word, not a number");
  refuses("xmin", "there is no body yet");
  refuses("3 parsec", "an operator or");
  refuses("sum(k, 1, 1e9, k)", "more than 1000 terms");
  refuses("sum(a, 1, 900, sum(b, 1, 900, sum(c, 1, 900, 1)))", "operations for one value");
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char good[] = "[scene]\n"
                           "E = 1 MPa\n"
                           "nu = 0.3\n"
                           "rho = 1000 kg/m^3\n"
                           "dt = 5 ms\n"
                           "[parameters]\n"
                           "edge = 20 cm, 0.1 to 1e3, of the block\n"
                           "[body block]\n"
                           "shape = bar\n"
                           "size = edge, edge, edge\n"
                           "cubes = 2, 2, 2\n"
                           "[group foot]\n"
                           "band = -z, 0\n"
                           "hold = yes\n";

/* The good file with one text in the place of another. */
static char *changed(const char *from, const char *to) {
  eb_text text = {0};
  const char *at = strstr(good, from);
  tap_require(at ? EB_OK : EB_ERROR(EB_ERR_INVALID, "no '%s'", from), "text");
  tap_require(eb_text_printf(&text, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from)),
              "text");
  return text.data;
}

static eb_error build(const char *text) {
  const eb_scene_ops *ops;
  eb_scene *scene = NULL;
  eb_error error = eb_scene_file_parse("mine", "mine.ini", text, NULL, &ops);
  if (!error) error = eb_scene_create(ops, NULL, NULL, "", &scene);
  eb_scene_close(ops);
  if (!error) eb_scene_destroy(scene);
  return error;
}

static void bad(const char *from, const char *to, const char *part) {
  char *text = changed(from, to);
  eb_error error = build(text);
  bool says = error && strstr(eb_error_message(error), part);
  tap_ok(says, "'%s' in the place of '%s': %s", to, from, part);
  if (!says) printf("# %s\n", error ? eb_error_message(error) : "accepted");
  eb_error_free(error);
  free(text);
}

static void test_errors(void) {
  tap_require(build(good), "the good file");
  bad("[scene]", "[scene]\nsteps = many", "mine.ini:2: [scene] steps: 'many' is no whole number");
  bad("nu = 0.3", "nu = 0.3\ndefault = pd", "it does not say why");
  bad("E = 1 MPa\n", "", "the material lacks E");
  bad("E = 1 MPa", "E = 1 bar", "'bar' is no unit");
  bad("dt = 5 ms", "dtt = 5 ms", "did you mean 'dt'");
  bad("nu = 0.3", "nu = 0.6", "nu = 0.6");
  bad("edge = 20 cm, 0.1", "nu = 20 cm, 0.1", "every scene has the parameter 'nu'");
  bad("edge = 20 cm, 0.1", "t = 20 cm, 0.1", "has a meaning in every formula");
  bad("edge = 20 cm, 0.1 to 1e3", "edge = 20 cm, 30 to 40", "outside [30, 40]");
  bad("[body block]", "[bdy block]", "did you mean 'body'");
  bad("[body block]", "[body]", "it wants a name");
  bad("shape = bar", "shape = barr", "did you mean 'bar'");
  bad("size = edge, edge, edge", "size = edge, edge", "it has 2 parts; 3 are wanted");
  bad("size = edge, edge, edge", "size = edge, edge, egde", "did you mean 'edge'");
  bad("size = edge, edge, edge", "sizes = edge", "did you mean 'size'");
  bad("cubes = 2, 2, 2", "cubes = 2, 2, 1e9", "is more than 10000");
  bad("band = -z, 0", "where = z > 10", "no node of the mesh lies at foot");
  bad("band = -z, 0", "where = z > top", "there is no 'top'");
  bad("band = -z, 0", "set = bottom", "the mesh has no node set 'bottom'");
  bad("band = -z, 0", "end = z", "there is no 'z'");
  bad("band = -z, 0\n", "", "it does not say which nodes");
  bad("hold = yes", "hold = yess", "did you mean 'yes'");
  bad("hold = yes",
      "hold = yes\n[obstacle o]\nshape = box\nsize = 1, 1, 1\npath = xmax(blok), 0, 0",
      "there is no group, body, set or region 'blok'");
  bad("hold = yes", "path = 1 / t, 0, 0", "a finite number is wanted");
  bad("hold = yes", "hold = yes\n[load push]\non = feet\nforce = 0, 0, 1", "there is no 'feet'");
  bad("hold = yes", "hold = yes\n[load push]\non = foot", "one of force");
  bad("hold = yes", "hold = yes\n[material hard]\nwhere = z > 1", "no element of the mesh");
  bad("hold = yes", "hold = yes\n[material hard]\nwhere = z > 0\nE = 0 - 1", "[material hard]");
  bad("hold = yes", "hold = yes\n[material hard]\nwhere = z > 0\nmu = 1", "mu and lambda");
  bad("hold = yes", "hold = yes\n[collider floor]\nshape = sphere", "'radius' is missing");
  bad("hold = yes", "hold = yes\n[obstacle o]\nshape = box", "'size' is missing");
  bad("hold = yes", "hold = yes\n[collider c]\nshape = box", "'size' is missing");
  bad("hold = yes", "hold = yes\n[collider c]\nshape = box\nsize = 1, 0, 1", "not above 0");
  bad("hold = yes", "hold = yes\n[collider c]\nshape = box\nsize = 1, 1, 1\nradius = 1",
      "stands by move and turn");
  bad("hold = yes", "hold = yes\n[collider c]\nshape = plane\nturn = y, 1", "box or a file");
  bad("hold = yes", "hold = yes\n[collider c]\nshape = capsule", "'radius' is missing");
  bad("hold = yes", "hold = yes\n[collider c]\nshape = file", "'file' is missing");
  bad("hold = yes", "hold = yes\n[collider c]\nshape = file\nfile = nowhere.obj", "nowhere.obj");
  bad("hold = yes", "hold = yes\n[let]\na = b\nb = a\n[start]\nmove = a, 0, 0",
      "is defined by itself");
  bad("shape = bar", "shape = file\nfile = nowhere.msh", "nowhere.msh");
  bad("[group foot]",
      "[body other]\nshape = ball\nradius = 5 cm\nelements = 60\nmove = 0, 0, 0.1\n"
      "[contact]\nfriction = 0.3\n[group foot]",
      "bodies overlap at the start");
  bad("hold = yes", "hold = yes\n[joint a]\npivot = 0, 0, 0\ntip = 0, 0, 0\nmass = 1",
      "its tip is");
  bad("hold = yes", "hold = yes\n[joint a]\nparent = b\nmass = 1", "there is no joint 'b'");
  bad("hold = yes", "hold = yes\n[friction]\npair = blok, foot, 0.3", "did you mean 'block'");
  bad("hold = yes", "hold = yes\n[friction]\npair = block, 0.3", "two names and a coefficient");
  bad("hold = yes", "hold = yes\n[friction]\npair = block, foot, 0 - 1", "at least 0");
  bad("hold = yes", "hold = yes\n[friction]\nmu = block, foot, 1", "mu");
  bad("hold = yes",
      "hold = yes\n[collider block]\nshape = plane\n[friction]\npair = block, foot, 1",
      "give one another name");
  bad("cubes = 2, 2, 2", "cubes = 2, 2, 2\nkeep = x > 5", "it keeps no element");
  bad("cubes = 2, 2, 2", "cubes = 2, 2, 2\nreshape = 0 - x, y, z", "[body block]");
  bad("cubes = 2, 2, 2", "cubes = 2, 2, 2\ncopies = heap, 3", "it has 1 part; 4 are wanted");
  bad("cubes = 2, 2, 2", "cubes = 2, 2, 2\ncopies = heap, 3, 2, 1 mm, 1",
      "does not fit into a cell");
}

/* ---- what is made ---------------------------------------------------------------------------- */

static eb_scene *made(const char *text, const char *parameters) {
  const eb_scene_ops *ops;
  eb_scene *scene;
  tap_require(eb_scene_file_parse("mine", "mine.ini", text, NULL, &ops), "a scene file");
  tap_require(eb_scene_create(ops, parameters, NULL, "", &scene), "its scene");
  eb_scene_close(ops);
  return scene;
}

static double volume(const eb_scene *scene) {
  double sum = 0;
  for (int32_t e = 0; e < scene->mesh->element_count; e++)
    sum += eb_mesh_element_volume(scene->mesh, scene->mesh->X, e);
  return sum;
}

static void solid(const char *body, double wanted, double tolerance, const char *name) {
  char *text = changed("shape = bar\nsize = edge, edge, edge\ncubes = 2, 2, 2\n", body);
  eb_scene *scene = made(text, NULL);
  tap_near(volume(scene) / wanted, 1, tolerance, name);
  eb_scene_destroy(scene);
  free(text);
}

static void test_scenes(void) {
  const double pi = 3.14159265358979323846;
  eb_scene *scene = made(good, "edge=30");
  tap_near(volume(scene), 0.3 * 0.3 * 0.3, 1e-12, "a parameter has the unit of its default: cm");
  tap_ok(scene->script.grip_count == 1 && scene->script.grips[0].count == 9, "nine nodes are held");
  eb_scene_destroy(scene);
  /* Stuffed surfaces cut corners: by less than a tenth of the volume at 2000 elements, and where
   * walls are thin by a fifth. */
  solid("shape = ball\nradius = 1\nelements = 2000\n", 4 * pi / 3, 0.1, "a ball");
  solid("shape = cylinder\nradius = 1\nlength = 2\nelements = 2000\n", 2 * pi, 0.1, "a cylinder");
  solid("shape = tube\nradius = 1\nsection = 0.5\nlength = 2\nelements = 3000\n", 1.5 * pi, 0.2,
        "a tube");
  solid("shape = capsule\nradius = 1\nlength = 4\nelements = 2000\n", 2 * pi + 4 * pi / 3, 0.1,
        "a capsule");
  solid("shape = outline\noutline = 0, 0\noutline = 2, 0\noutline = 2, 1\noutline = 1, 1\n"
        "outline = 1, 2\noutline = 0, 2\nlength = 1\nelements = 3000\n",
        3, 0.1, "an outline, of the shape of an L");
  solid("shape = ring\naround = 12\nradius = 1\nsection = 0.2\n", 2 * pi * 0.04, 0.1, "a ring");
  solid(
      "shape = bar\nsize = 1, 1, 1\ncubes = 2, 2, 2\ncell = hexahedra\ncopies = grid, 2, 3, 1, 1\n",
      6, 1e-12, "copies in a grid");
}

/* Of the block's nodes the foot is rough; the later of two pairs that fit counts. */
static void test_friction(void) {
  char *text = changed("hold = yes", "hold = yes\n[collider floor]\nshape = plane\nfriction = 0.1\n"
                                     "[collider wall]\nshape = plane\nfriction = 0.2\n"
                                     "[friction]\npair = floor, block, edge / 1 m\n"
                                     "pair = foot, floor, 0.7");
  eb_scene *scene = made(text, NULL);
  const eb_friction_law *law = &scene->contacts.friction;
  const eb_collider *floor = &scene->contacts.colliders[0];
  bool rough = true, smooth = true, other = true;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    bool foot = scene->mesh->X[3 * i + 2] < 1e-9;
    double mu = eb_collider_friction(law, floor, i);
    rough = rough && (!foot || mu == 0.7);
    smooth = smooth && (foot || mu == 0.2);
    other = other && eb_collider_friction(law, floor + 1, i) == 0.2;
  }
  tap_ok(rough && smooth, "friction of a group and of the rest of its body on a collider");
  tap_ok(other, "and of all on a collider that no pair is of");
  eb_scene_destroy(scene);
  free(text);
}

static void test_bodies(void) {
  char *text = changed("[group foot]", "[body ball]\nshape = ball\nradius = 5 cm\nelements = 100\n"
                                       "move = 0, 0, zmax(block) + 1.05 - zmin(ball)\n"
                                       "[material soft]\nof = ball\nE = 1e3\nnu = 0.1\nrho = 500\n"
                                       "[group top]\nwhere = in(ball) and z > zmid(ball)\n"
                                       "[group foot]");
  eb_scene *scene = made(text, NULL);
  const eb_mesh *mesh = scene->mesh;
  int32_t soft = eb_mesh_region(mesh, "soft"), block = eb_mesh_region(mesh, "block");
  tap_ok(soft >= 0 && block >= 0 && mesh->region_count == 2, "a region a body or material");
  tap_ok(scene->materials[soft].young == 1e3 && scene->materials[block].young == 1e6,
         "each has its material");
  const eb_grip *top = &scene->script.grips[0];
  bool above = top->count > 0;
  for (int32_t k = 0; k < top->count; k++) above = above && mesh->X[3 * top->nodes[k] + 2] > 1.1;
  tap_ok(above, "a group is found by the name of its body");
  eb_scene_destroy(scene);
  free(text);
}

static void test_joints(void) {
  char *text = changed("hold = yes\n", "[joint arm]\npivot = 0, 0, 0\ntip = 0, 0, 1\nmass = 2\n"
                                       "limits = 0 - 90 deg, 90 deg\nlimit_stiffness = 10\n"
                                       "[joint hand]\nparent = arm\npivot = 0, 0, 1\n"
                                       "tip = 0, 0, 1.5\nmass = 1\ncarries = foot\n");
  eb_scene *scene = made(text, NULL);
  const eb_articulation *joints = scene->rigid.articulation;
  tap_ok(joints && eb_articulation_joints(joints) == 2 && eb_articulation_attached(joints) == 9,
         "two joints, and the nodes of a group on the second");
  /* About its middle, a rod of mass m, length L and radius r: m (3 r^2 + L^2) / 12. */
  const double r = 0.025;
  tap_near(eb_articulation_body(joints, 0)->inertia[0], 2 * (3 * r * r + 1) / 12, 1e-15,
           "a bone is a round rod");
  eb_scene_destroy(scene);
  free(text);
}

/* A script without a value at some time is no reason to let go silently. */
static void test_gap(void) {
  char *text = changed("hold = yes", "path = if(t > 0.012 and t < 0.018, 1 / 0, 0), 0, 0");
  eb_scene *scene = made(text, NULL);
  const eb_grip *foot = &scene->script.grips[0];
  int32_t nodes = scene->mesh->node_count;
  uint8_t *fixed = calloc((size_t)nodes, 1);
  double *target = calloc(3 * (size_t)nodes, sizeof *target);
  eb_scene_boundary(scene, 0.01, fixed, target);
  tap_ok(fixed[foot->nodes[0]] && isfinite(target[3 * foot->nodes[0]]), "a script holds its group");
  eb_scene_boundary(scene, 0.015, fixed, target);
  tap_ok(fixed[foot->nodes[0]] && isnan(target[3 * foot->nodes[0]]),
         "and where it has no value its group is nowhere, not free");
  free(target);
  free(fixed);
  eb_scene_destroy(scene);
  free(text);
}

static void test_defaults(void) {
  const eb_scene_ops *ops;
  char *text =
      changed("nu = 0.3\n", "nu = 0.3\ndefault = conjac, dynamic=8, beta=2, the paper's, all\n"
                            "default = pd|admm, slow here\n");
  tap_require(eb_scene_file_parse("mine", NULL, text, NULL, &ops), "a scene file");
  const eb_scene_default *conjac = eb_scene_default_of(ops, "conjac"),
                         *admm = eb_scene_default_of(ops, "admm");
  tap_ok(conjac && strcmp(conjac->options, "dynamic=8,beta=2") == 0 &&
             strcmp(conjac->source, "the paper's, all") == 0,
         "a solver's default options, and why");
  tap_ok(admm && !admm->options && strcmp(admm->source, "slow here") == 0, "what to expect of two");
  tap_ok(!eb_scene_default_of(ops, "newton"), "of others nothing");
  eb_scene_close(ops);
  free(text);
}

/* Every text file is refused or read, whatever its bytes: nothing is lost or overrun. */
static void test_broken(void) {
  size_t length = strlen(good);
  char *text = malloc(length + 1);
  int read = 0;
  for (size_t k = 0; k < length; k++)
    for (int way = 0; way < 2; way++) {
      memcpy(text, good, length + 1);
      if (way == 0)
        text[k] = '\0';
      else
        text[k] = "=,-[]9;"[k % 7];
      eb_error error = build(text);
      read += !error;
      eb_error_free(error);
    }
  tap_ok(read < (int)length, "files that are cut off or have a wrong byte: %d of %zu are read",
         read, 2 * length);
  free(text);
}

int main(void) {
  fixture_open();
  test_formulas();
  test_errors();
  test_scenes();
  test_bodies();
  test_friction();
  test_joints();
  test_gap();
  test_defaults();
  test_broken();
  return fixture_close();
}
