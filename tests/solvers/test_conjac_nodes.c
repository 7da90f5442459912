/* Choice of dynamic nodes: every bad request is named; equal seeds choose alike, spacing is kept,
 * farthest-point against brute force; components are held by as many nodes as rigid motion asks
 * for, measured against the rank of the rigid motions at the held nodes. */
#include "problems/base/memory.h"
#include "problems/mesh/generate.h"
#include "solvers/conjac/conjac.h"
#include "tests/support/owned.h"
#include "tests/support/scene_fixture.h"
#include "tests/support/random.h"

OWNED(eb_node_list, eb_node_list_clear)

/* ---- a scene of our own: a bar, its face x = 0 scripted, its face x = 1 freed at t = 0.5 ----- */

static const eb_option parameters[] = {{"dt", EB_OPTION_REAL, "1e-2", 0, 1, NULL, "s", "time step"},
                                       {NULL, EB_OPTION_REAL, NULL, 0, 0, NULL, NULL, NULL}};

static void boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  (void)target;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    double x = scene->mesh->X[3 * i];
    fixed[i] = x < 1e-9 || (x > 1 - 1e-9 && t < 0.5);
  }
}

static int32_t named[4], named_count;

static int32_t name_nodes(const eb_scene *scene, int32_t wanted, int32_t *nodes) {
  (void)scene;
  int32_t count = named_count < wanted ? named_count : wanted;
  memcpy(nodes, named, sizeof *nodes * (size_t)count);
  return count;
}

static const eb_scene_ops bar_ops = {.name = "test/bar",
                                     .parameters = parameters,
                                     .steps = 100,
                                     .boundary = boundary,
                                     .dynamic_nodes = name_nodes};
static const eb_scene_ops loose_ops = {
    .name = "test/loose", .parameters = parameters, .steps = 100};

static eb_mesh *bar(int32_t nx, int32_t ny, int32_t nz) {
  eb_grid grid = {{nx, ny, nz}, {0, 0, 0}, {1, (double)ny / nx, (double)nz / nx}};
  eb_mesh *mesh;
  tap_require(eb_generate_tets6(&grid, &mesh), "bar");
  return mesh;
}

/* As much of a scene as the choice of nodes asks for. */
static eb_scene scene_of(const eb_scene_ops *ops, eb_mesh *mesh) {
  return (eb_scene){.ops = ops, .mesh = mesh, .script.uncut_nodes = mesh->node_count, .dt = 0.01};
}

static double apart(const eb_mesh *mesh, int32_t a, int32_t b) {
  double sum = 0;
  for (int d = 0; d < 3; d++) sum += pow(mesh->X[3 * a + d] - mesh->X[3 * b + d], 2);
  return sqrt(sum);
}

static double diagonal(const eb_mesh *mesh) {
  return apart(mesh, 0, mesh->node_count - 1); /* of a grid: its first and last node */
}

static bool listed(const eb_node_list *list, int32_t node) {
  for (int32_t k = 0; k < list->count; k++)
    if (list->nodes[k] == node) return true;
  return false;
}

static eb_node_list choose(const eb_scene *scene, eb_node_choice choice) {
  eb_node_list list;
  tap_require(eb_conjac_choose(scene, &choice, &list), "choice");
  return list;
}

static void refused(const eb_scene *scene, eb_node_choice choice, const char *fragment,
                    const char *name) {
  eb_node_list list;
  eb_error error = eb_conjac_choose(scene, &choice, &list);
  tap_ok(list.count == 0 && !list.nodes, "%s: nothing is chosen", name);
  tap_fails(error, EB_ERR_USAGE, fragment, name);
}

/* ---- a list ---------------------------------------------------------------------------------- */

static void test_list(const eb_scene *scene) {
  eb_node_list list =
      choose(scene, (eb_node_choice){.selection = EB_SELECT_LIST, .list = "12+40+7"});
  tap_ok(list.count == 3 && list.nodes[0] == 12 && list.nodes[1] == 40 && list.nodes[2] == 7,
         "a list is taken in its order");
  eb_node_list_clear(&list);
  tap_ok(!list.nodes && list.count == 0, "a cleared list is empty");
  list = choose(scene, (eb_node_choice){.selection = EB_SELECT_LIST, .list = ""});
  tap_ok(list.count == 0, "an empty list is no node");
  eb_node_list_clear(&list);
  list = choose(scene, (eb_node_choice){.selection = EB_SELECT_LIST});
  tap_ok(list.count == 0, "nor is no list");
  eb_node_list_clear(&list);
  list = choose(scene, (eb_node_choice){.selection = EB_SELECT_LIST, .list = "10"});
  tap_ok(list.count == 1 && list.nodes[0] == 10,
         "a node that is freed during the run can be dynamic");
  eb_node_list_clear(&list);
}

static void test_bad_lists(const eb_scene *scene) {
  static const struct {
    const char *list, *fragment, *name;
  } bad[] = {{"0", "node 0 cannot be dynamic: it is scripted", "a scripted node"},
             {"12+40+12", "dynamic node 12 is listed twice", "a node listed twice"},
             {"99999", "dynamic node 99999 is out of range", "a node beyond the mesh"},
             {"-1", "dynamic node -1 is out of range", "a negative node"},
             {"99999999999999999999", "out of range", "a node beyond every integer"},
             {"4294967308", "out of range", "a node that 32 bits would wrap"},
             {"12+x", "'x' in the list of dynamic nodes is no number", "a word"},
             {"12.5", "'12.5' in the list", "half a node"},
             {"12++40", "'' in the list", "two signs"},
             {"12+", "ends in '+'", "a sign at the end"},
             {"+12", "'' in the list", "a sign at the start"},
             {" 12", "' 12' in the list", "a blank"},
             {"0x1f", "'0x1f' in the list", "a hexadecimal number"},
             {"-", "'-' in the list", "a lone sign"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    refused(scene, (eb_node_choice){.selection = EB_SELECT_LIST, .list = bad[i].list},
            bad[i].fragment, bad[i].name);
}

/* ---- random ---------------------------------------------------------------------------------- */

static void test_random(const eb_scene *scene) {
  const eb_mesh *mesh = scene->mesh;
  eb_node_choice choice = {.selection = EB_SELECT_RANDOM, .count = 12, .spacing = 0.1, .seed = 7};
  eb_node_list list = choose(scene, choice), again = choose(scene, choice);
  tap_ok(list.count == 12 && !memcmp(list.nodes, again.nodes, 12 * sizeof *list.nodes),
         "equal seeds choose alike");
  eb_node_list_clear(&again);
  double nearest = INFINITY;
  int held = 0;
  for (int32_t a = 0; a < list.count; a++) {
    double x = mesh->X[3 * list.nodes[a]];
    held += x < 1e-9 || x > 1 - 1e-9;
    for (int32_t b = 0; b < a; b++)
      nearest = fmin(nearest, apart(mesh, list.nodes[a], list.nodes[b]));
  }
  tap_ok(nearest >= 0.1 * diagonal(mesh), "the spacing is kept");
  tap_ok(held == 0, "nodes that are scripted at the start are passed over");
  choice.seed = 8;
  again = choose(scene, choice);
  tap_ok(memcmp(list.nodes, again.nodes, 12 * sizeof *list.nodes) != 0,
         "another seed, another choice");
  eb_node_list_clear(&again);
  eb_node_list_clear(&list);
  choice.count = 0;
  list = choose(scene, choice);
  tap_ok(list.count == 0, "no node is a choice");
  eb_node_list_clear(&list);
}

/* Every free node is drawn as often as another: 4000 draws of one node among 81 differ from their
 * mean by less than five standard deviations. */
static void test_fairness(const eb_scene *scene) {
  int32_t nodes = scene->mesh->node_count, free_nodes = 0;
  owned(int) *drawn = calloc((size_t)nodes, sizeof *drawn);
  owned(uint8_t) *fixed = malloc((size_t)nodes);
  owned(double) *target = malloc(24 * (size_t)nodes);
  double mean, worst = 0;
  eb_scene_boundary(scene, 0, fixed, target);
  enum { DRAWS = 4000 };
  for (int seed = 0; seed < DRAWS; seed++) {
    owned(eb_node_list) list = choose(
        scene, (eb_node_choice){.selection = EB_SELECT_RANDOM, .count = 1, .seed = (uint64_t)seed});
    drawn[list.nodes[0]]++;
  }
  for (int32_t i = 0; i < nodes; i++) free_nodes += !fixed[i];
  mean = (double)DRAWS / free_nodes;
  for (int32_t i = 0; i < nodes; i++)
    worst = fmax(worst, fixed[i] ? drawn[i] : fabs(drawn[i] - mean) / sqrt(mean));
  tap_below(worst, 5, "every free node is as likely as another");
}

/* What the message promises is put to the test with many seeds. */
static void test_crowding(const eb_scene *scene) {
  eb_node_choice choice = {.selection = EB_SELECT_RANDOM, .count = 30, .spacing = 0.5, .seed = 1};
  eb_node_list list;
  eb_error error = eb_conjac_choose(scene, &choice, &list);
  const char *spacing = strstr(eb_error_message(error), "a spacing of ");
  spacing = spacing ? strstr(spacing + 1, "; a spacing of ") : NULL;
  if (tap_ok(spacing != NULL, "too many nodes for a spacing: the message has one that fits")) {
    choice.spacing = strtod(spacing + strlen("; a spacing of "), NULL);
    bool fits = choice.spacing > 0;
    for (choice.seed = 0; choice.seed < 200 && fits; choice.seed++) {
      eb_error failed = eb_conjac_choose(scene, &choice, &list);
      fits = !failed;
      eb_error_free(failed);
      eb_node_list_clear(&list);
    }
    tap_ok(fits, "and it fits for every seed");
  }
  tap_fails(error, EB_ERR_USAGE, "30 dynamic nodes do not fit with a spacing of 0.5",
            "too many nodes");
  choice = (eb_node_choice){.selection = EB_SELECT_RANDOM, .count = scene->mesh->node_count};
  refused(scene, choice, "nodes can be chosen", "more than are free");
  choice.count++;
  refused(scene, choice, "but the mesh has", "more than there are");
  choice.selection = EB_SELECT_FARTHEST;
  refused(scene, choice, "but the mesh has", "farthest-point, more than there are");
  choice.count--;
  refused(scene, choice, "nodes can be chosen", "farthest-point, more than are free");
  choice.count = -1;
  refused(scene, choice, "-1 dynamic nodes", "fewer than none");
  static const double no_spacing[] = {-0.1, NAN, INFINITY};
  for (int i = 0; i < 3; i++)
    refused(scene,
            (eb_node_choice){.selection = EB_SELECT_RANDOM, .count = 2, .spacing = no_spacing[i]},
            "is none", "a spacing that is none");
}

/* ---- what the scene names -------------------------------------------------------------------- */

static void test_scene_names(const eb_scene *scene) {
  const eb_mesh *mesh = scene->mesh;
  eb_node_choice choice = {.selection = EB_SELECT_SCENE, .count = 6, .spacing = 0.15, .seed = 3};
  named[0] = 10, named[1] = 27, named_count = 2; /* one freed during the run, one free */
  eb_node_list list = choose(scene, choice);
  double nearest = INFINITY;
  for (int32_t a = 0; a < list.count; a++)
    for (int32_t b = 0; b < a; b++)
      if (a > 1) nearest = fmin(nearest, apart(mesh, list.nodes[a], list.nodes[b]));
  tap_ok(list.count == 6 && list.nodes[0] == 10 && list.nodes[1] == 27,
         "the scene's nodes come first");
  tap_ok(nearest >= 0.15 * diagonal(mesh), "the random ones keep their distance from them too");
  eb_node_list_clear(&list);
  choice.count = 1;
  list = choose(scene, choice);
  tap_ok(list.count == 1 && list.nodes[0] == 10, "fewer than it names: the first of them");
  eb_node_list_clear(&list);
  choice.count = 2;
  named[1] = 10;
  refused(scene, choice, "listed twice", "a scene that names a node twice");
  named[1] = 0;
  refused(scene, choice, "is scripted", "a scene that names a scripted node");
  named_count = 0;
  choice.count = 6;
  list = choose(scene, choice);
  owned(eb_node_list) random = choose(scene, (eb_node_choice){EB_SELECT_RANDOM, 6, NULL, 0.15, 3});
  tap_ok(list.count == 6 && !memcmp(list.nodes, random.nodes, 6 * sizeof *list.nodes),
         "a scene without a wish leaves it to chance");
  eb_node_list_clear(&list);
}

static void test_all(const eb_scene *scene) {
  owned(eb_node_list) list = choose(scene, (eb_node_choice){.selection = EB_SELECT_ALL});
  bool right = true;
  int32_t expected = 0;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    double x = scene->mesh->X[3 * i];
    bool is_free = x > 1e-9 && x < 1 - 1e-9;
    right = right && listed(&list, i) == is_free;
    expected += is_free;
  }
  tap_ok(right && list.count == expected, "all: every free node once");
}

static void test_carried(eb_mesh *mesh) {
  eb_scene scene = scene_of(&loose_ops, mesh);
  const eb_rigid_body body = {.parent = -1,
                              .axis = {0, 0, 1},
                              .mass = 1,
                              .inertia = {1, 1, 1},
                              .lower = -INFINITY,
                              .upper = INFINITY,
                              .tip = {1, 0, 0}};
  const double gravity[3] = {0, 0, -9.81};
  tap_require(eb_articulation_create(1, &body, gravity, &scene.rigid.articulation), "articulation");
  tap_require(eb_articulation_attach(scene.rigid.articulation, 5, 0, mesh->X + 15), "rider");
  refused(&scene, (eb_node_choice){.selection = EB_SELECT_LIST, .list = "4+5"},
          "node 5 cannot be dynamic: it is attached to a rigid body", "a node that a body carries");
  owned(eb_node_list) list = choose(&scene, (eb_node_choice){.selection = EB_SELECT_ALL});
  tap_ok(list.count == mesh->node_count - 1 && !listed(&list, 5), "a carried node is passed over");
  eb_articulation_destroy(scene.rigid.articulation);
}

/* ---- farthest-point -------------------------------------------------------------------------- */

/* The distance of a node from the nearest of the sites; from the centroid when there are none. */
static double clearance(const eb_mesh *mesh, int32_t node, const uint8_t *site) {
  double least = INFINITY, centre[3] = {0, 0, 0}, sum = 0;
  for (int32_t i = 0; i < mesh->node_count; i++) {
    if (site[i]) least = fmin(least, apart(mesh, i, node));
    for (int d = 0; d < 3; d++) centre[d] += mesh->X[3 * i + d] / mesh->node_count;
  }
  for (int d = 0; d < 3; d++) sum += pow(centre[d] - mesh->X[3 * node + d], 2);
  return isinf(least) ? sqrt(sum) : least;
}

static void test_farthest(const eb_scene *scene, const char *name) {
  const eb_mesh *mesh = scene->mesh;
  size_t nodes = (size_t)mesh->node_count;
  owned(uint8_t) *site = malloc(nodes), *fixed = malloc(nodes);
  owned(double) *target = malloc(24 * nodes);
  double worst = 0;
  owned(eb_node_list) list =
      choose(scene, (eb_node_choice){.selection = EB_SELECT_FARTHEST, .count = 9});
  eb_scene_boundary(scene, 0, fixed, target);
  memcpy(site, fixed, nodes);
  int wrong = list.count != 9;
  for (int32_t k = 0; k < list.count; k++) {
    double best = 0;
    for (int32_t i = 0; i < mesh->node_count; i++)
      if (!fixed[i]) best = fmax(best, clearance(mesh, i, site));
    wrong += fixed[list.nodes[k]] || site[list.nodes[k]];
    worst = fmax(worst, best - clearance(mesh, list.nodes[k], site));
    site[list.nodes[k]] = 1;
  }
  tap_ok(wrong == 0, "farthest-point, %s: nine different free nodes", name);
  tap_below(worst, 1e-12, label(name, "each as far from the others as brute force finds"));
}

/* ---- holding --------------------------------------------------------------------------------- */

/* Rank of the rigid motions of one component at its anchored nodes, by elimination with full
 * pivoting; lengths over the size of the meshes here, about 1. Planar: two translations and one
 * rotation. */
static int rank_of(const double *x, const uint8_t *anchored, const int32_t *part, int32_t p,
                   int32_t nodes, bool planar) {
  double normal[36] = {0}; /* of the columns: 6 x 6 */
  for (int32_t i = 0; i < nodes; i++) {
    if (part[i] != p || !anchored[i]) continue;
    const double *a = x + 3 * i;
    const double rows[3][6] = {{1, 0, 0, 0, planar ? 0 : a[2], -a[1]},
                               {0, 1, 0, planar ? 0 : -a[2], 0, a[0]},
                               {0, 0, 1, a[1], -a[0], 0}};
    for (int d = 0; d < (planar ? 2 : 3); d++)
      for (int r = 0; r < 36; r++) normal[r] += rows[d][r / 6] * rows[d][r % 6];
  }
  int rank = 0;
  for (; rank < 6; rank++) {
    int pivot = 0;
    for (int k = 1; k < 6; k++)
      if (normal[7 * k] > normal[7 * pivot]) pivot = k;
    double d = normal[7 * pivot];
    if (d < 1e-8) break;
    double column[6];
    for (int k = 0; k < 6; k++) column[k] = normal[6 * k + pivot];
    for (int r = 0; r < 36; r++) normal[r] -= column[r / 6] * column[r % 6] / d;
    for (int k = 0; k < 6; k++) normal[6 * k + pivot] = normal[6 * pivot + k] = 0;
  }
  return rank;
}

/* Holds, checks that nothing moves rigidly afterwards and that no node could be spared; returns how
 * many were added. */
static int32_t hold(eb_mesh *mesh, const uint8_t *held, const double *x, eb_node_list *list,
                    const char *name) {
  eb_scene scene = scene_of(&loose_ops, mesh);
  bool planar = mesh->type == EB_TRIANGLE;
  int32_t nodes = mesh->node_count, added, *part = malloc(4 * (size_t)nodes);
  uint8_t *anchored = malloc((size_t)nodes);
  int32_t parts = eb_mesh_components(mesh, part), before = list->count;
  tap_succeeds(eb_conjac_constrain_bodies(&scene, held, x, list, &added), label(name, "is held"));
  memcpy(anchored, held, (size_t)nodes);
  bool fresh = list->count == before + added;
  for (int32_t k = 0; k < list->count; k++) {
    fresh = fresh && (k < before || !anchored[list->nodes[k]]);
    anchored[list->nodes[k]] = 1;
  }
  tap_ok(fresh, "%s: what is added stands behind the list and was not held", name);
  int loose = 0, spared = 0, full = planar ? 3 : 6;
  for (int32_t p = 0; p < parts; p++) loose += rank_of(x, anchored, part, p, nodes, planar) < full;
  for (int32_t k = before; k < list->count; k++) {
    anchored[list->nodes[k]] = 0;
    spared += rank_of(x, anchored, part, part[list->nodes[k]], nodes, planar) == full;
    anchored[list->nodes[k]] = 1;
  }
  tap_ok(loose == 0, "%s: no component moves rigidly (%d of %d do)", name, loose, parts);
  tap_ok(spared == 0, "%s: and no node too many was added", name);
  free(anchored);
  free(part);
  return added;
}

static int32_t hold_with(eb_mesh *mesh, int32_t count, const int32_t *nodes, const int32_t *dynamic,
                         int32_t dynamic_count, const char *name) {
  owned(uint8_t) *held = calloc((size_t)mesh->node_count, 1);
  eb_node_list list = {0};
  for (int32_t k = 0; k < count; k++) held[nodes[k]] = 1;
  if (dynamic_count > 0) {
    list.nodes = eb_calloc((size_t)dynamic_count, sizeof *list.nodes);
    memcpy(list.nodes, dynamic, sizeof *dynamic * (size_t)dynamic_count);
    list.count = dynamic_count;
  }
  int32_t added = hold(mesh, held, mesh->X, &list, name);
  eb_node_list_clear(&list);
  return added;
}

/* Nodes 0 to 10 lie on the edge along x. */
static void test_hold_one(void) {
  owned(eb_mesh) *mesh = bar(10, 2, 2);
  const int32_t line[] = {0, 3, 10}, triangle[] = {0, 3, 11};
  tap_ok(hold_with(mesh, 0, NULL, NULL, 0, "a loose body") == 3, "a loose body gets three nodes");
  tap_ok(hold_with(mesh, 0, NULL, triangle, 1, "one dynamic node") == 2,
         "one dynamic node gets two more");
  tap_ok(hold_with(mesh, 0, NULL, triangle, 2, "two dynamic nodes") == 1, "two get one more");
  tap_ok(hold_with(mesh, 0, NULL, triangle, 3, "three dynamic nodes") == 0, "three get none");
  tap_ok(hold_with(mesh, 3, line, NULL, 0, "nodes on a line") == 1,
         "held nodes on a line are not enough");
  tap_ok(hold_with(mesh, 3, triangle, NULL, 0, "three held nodes") == 0,
         "three held nodes off a line are");
  tap_ok(hold_with(mesh, 2, line, triangle + 2, 1, "held and dynamic") == 0,
         "so are two and a dynamic one");
  tap_ok(hold_with(mesh, 1, line, line, 1, "twice the same") == 2,
         "a node that is both counts once");
}

/* Where the held nodes have come to lie on a line, at rest they did not. */
static void test_hold_moved(void) {
  owned(eb_mesh) *mesh = bar(4, 2, 2);
  owned(uint8_t) *held = calloc((size_t)mesh->node_count, 1);
  owned(double) *x = malloc(24 * (size_t)mesh->node_count);
  memcpy(x, mesh->X, 24 * (size_t)mesh->node_count);
  held[0] = held[4] = held[5] = 1;
  for (int d = 0; d < 3; d++) x[15 + d] = 0.5 * (x[d] + x[12 + d]);
  owned(eb_node_list) list = {0};
  tap_ok(hold(mesh, held, x, &list, "moved nodes") == 1, "positions count, not those at rest");
}

static void test_hold_several(void) {
  owned(eb_mesh) *mesh = bar(4, 2, 2), *extra = bar(3, 1, 1);
  int32_t second = mesh->node_count, third = second + extra->node_count;
  tap_require(eb_mesh_append(mesh, extra, (const double[]){2, 0, 0}), "second body");
  tap_require(eb_mesh_append(mesh, extra, (const double[]){4, 1, 0}), "third body");
  const int32_t held[] = {0, 1, 5, second}, dynamic[] = {second + 5};
  tap_ok(hold_with(mesh, 4, held, dynamic, 1, "three bodies") == 1 + 3,
         "each component by itself: none, one, three");
  const int32_t enough[] = {0, 1, 5, second, second + 1, second + 4, third, third + 1, third + 4};
  tap_ok(hold_with(mesh, 9, enough, NULL, 0, "three held bodies") == 0, "none where all are held");
}

static void test_hold_planar(void) {
  eb_grid grid = {{6, 2, 1}, {0, 0, 0}, {1, 0.3, 1}};
  owned(eb_mesh) *mesh = NULL;
  tap_require(eb_generate_triangles(&grid, &mesh), "triangles");
  const int32_t two[] = {0, 6};
  tap_ok(hold_with(mesh, 0, NULL, NULL, 0, "a loose sheet in the plane") == 2,
         "two nodes in the plane");
  tap_ok(hold_with(mesh, 1, two, NULL, 0, "a pinned sheet") == 1, "one more when one is held");
  tap_ok(hold_with(mesh, 2, two, NULL, 0, "a held sheet") == 0,
         "two are enough, they are always on a line");
}

/* Nodes inside come first, unless they do not hold: those of a thin bar lie on one line. */
static void test_hold_inside(void) {
  static const int32_t cubes[2][3] = {{8, 4, 4}, {8, 2, 2}};
  for (int k = 0; k < 2; k++) {
    owned(eb_mesh) *mesh = bar(cubes[k][0], cubes[k][1], cubes[k][2]);
    eb_scene scene = scene_of(&loose_ops, mesh);
    owned(uint8_t) *held = calloc((size_t)mesh->node_count, 1);
    double lo[3], hi[3];
    scene.node_area = calloc((size_t)mesh->node_count, sizeof(double));
    eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
    for (int32_t i = 0; i < mesh->node_count; i++)
      for (int d = 0; d < 3; d++) {
        double x = mesh->X[3 * i + d];
        if (x < lo[d] + 1e-9 || x > hi[d] - 1e-9) scene.node_area[i] = 1;
      }
    owned(eb_node_list) list = {0};
    int32_t added, inside = 0;
    tap_require(eb_conjac_constrain_bodies(&scene, held, mesh->X, &list, &added), "hold");
    for (int32_t j = 0; j < list.count; j++) inside += scene.node_area[list.nodes[j]] <= 0;
    tap_ok(added == 3 && inside == 3 - k, "a bar of %d x %d cubes is held by %d nodes inside",
           cubes[k][1], cubes[k][2], 3 - k);
    free(scene.node_area);
  }
}

/* Random held nodes: the rank decides. */
static void test_hold_random(void) {
  owned(eb_mesh) *mesh = bar(4, 2, 2);
  random_state random = random_seed(5);
  int32_t nodes = mesh->node_count;
  for (int trial = 0; trial < 20; trial++) {
    int32_t held[3], count = trial % 4;
    for (int32_t k = 0; k < count; k++) held[k] = (int32_t)(random_word(&random) % (uint64_t)nodes);
    char name[48];
    snprintf(name, sizeof name, "%d nodes held at random, %d", count, trial);
    hold_with(mesh, count, held, NULL, 0, name);
  }
}

int main(void) {
  fixture_open();
  owned(eb_mesh) *mesh = bar(10, 2, 2);
  eb_scene scene = scene_of(&bar_ops, mesh), loose = scene_of(&loose_ops, mesh);
  test_list(&scene);
  test_bad_lists(&scene);
  test_random(&scene);
  test_fairness(&scene);
  test_crowding(&scene);
  test_scene_names(&scene);
  test_all(&scene);
  test_carried(mesh);
  test_farthest(&scene, "beside held nodes");
  test_farthest(&loose, "of a loose body");
  test_hold_one();
  test_hold_moved();
  test_hold_several();
  test_hold_planar();
  test_hold_inside();
  test_hold_random();
  return fixture_close();
}
