/* The catalogue: every scene keeps the promises of problems/scene.h at a small resolution; counts at full size; hashes, cache,
 * replaced meshes, bad requests; a fall that must not gain energy. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problems/base/memory.h"
#include "problems/mesh/generate.h"
#include "problems/mesh/io.h"
#include "problems/scene.h"
#include "solvers/solver.h"
#include "tests/tap.h"

static char folder[] = "/tmp/eb_test_scenesXXXXXX";
static char cache[64];

/* The smallest resolutions at which the bodies hold together. */
static const struct {
  const char *scene, *small;
} sizes[] = {
    {"bench/beam", "resolution=0.25"},
    {"conjac2020/dragon", "resolution=0.1"},
    {"conjac2020/twist", "resolution=0.34"},
    {"conjac2020/hetero", "resolution=0.25"},
    {"conjac2020/aniso", "resolution=0.25"},
    {"conjac2020/barcut", "resolution=0.3"},
    {"conjac2020/bunny", "resolution=0.1"},
    {"hecht2012/sculpture-small", "resolution=0.5"},
    {"hecht2012/sculpture-medium", "resolution=0.03"},
    {"hecht2012/sculpture-large", "resolution=0.01"},
    {"hecht2012/dragon", "resolution=0.2"},
    {"hecht2012/three-torus", "resolution=0.1"},
    {"hecht2012/bowl-of-bears", "resolution=0.1"},
    {"hecht2012/bear-squash", "resolution=0.05"},
    {"hecht2012/cloth-drop", "resolution=0.2"},
    {"hecht2012/trampoline", "resolution=0.2"},
    {"hecht2012/spider", "resolution=0.8"},
};

static const char *label(const char *scene, const char *what) {
  static char text[256];
  snprintf(text, sizeof text, "%s: %s", scene, what);
  return text;
}

static eb_scene *make(const char *name, const char *parameters) {
  eb_scene *scene;
  tap_require(eb_scene_create(eb_scene_find(name), parameters, NULL, cache, &scene), name);
  return scene;
}

static eb_error attempt(const char *name, const char *parameters, const char *mesh) {
  eb_scene *scene;
  eb_error error = eb_scene_create(eb_scene_find(name), parameters, mesh, cache, &scene);
  if (!error) eb_scene_destroy(scene);
  return error;
}

static double distance(const double *a, const double *b) {
  double sum = 0;
  for (int d = 0; d < 3; d++) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sqrt(sum);
}

/* ---- the tables ----------------------------------------------------------------------------------------- */

static bool declares(const eb_scene_ops *ops, const char *name, size_t length) {
  for (const eb_option *o = ops->parameters; o->name; o++)
    if (strlen(o->name) == length && !memcmp(o->name, name, length)) return true;
  return false;
}

static void test_table(const eb_scene_ops *ops) {
  bool complete = ops->summary && ops->geometry && ops->citation && ops->mesh && ops->setup &&
                  ops->steps > 0 && ops->steps_per_frame > 0 &&
                  ops->steps % ops->steps_per_frame == 0;
  tap_ok(complete, "%s: the table is complete, a run is a whole number of frames", ops->name);
  tap_ok(!ops->stand_in || strstr(ops->geometry, "stand-in"), "%s: a stand-in is named as such",
         ops->name);
  static const char *const common[] = {"E", "nu", "rho", "dt", "material", "gravity", "resolution"};
  bool all = true;
  for (int i = 0; i < 7; i++) all = all && declares(ops, common[i], strlen(common[i]));
  tap_ok(all, "%s: the common parameters are declared", ops->name);
  bool known = true;
  for (const char *at = ops->mesh_parameters; at && *at;) {
    size_t length = strcspn(at, ",");
    known = known && declares(ops, at, length);
    at += length + (at[length] == ',');
  }
  tap_ok(known, "%s: the mesh depends on declared parameters only", ops->name);
}

/* ---- promises ------------------------------------------------------------------------------------------------ */

static int32_t root(int32_t *parent, int32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static int32_t pieces(const eb_mesh *mesh) {
  int32_t *parent = malloc(4 * (size_t)mesh->node_count), count = 0;
  for (int32_t i = 0; i < mesh->node_count; i++) parent[i] = i;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int k = 1; k < (int)mesh->type; k++)
      parent[root(parent, mesh->elements[e * (int)mesh->type + k])] =
          root(parent, mesh->elements[e * (int)mesh->type]);
  for (int32_t i = 0; i < mesh->node_count; i++) count += root(parent, i) == i;
  free(parent);
  return count;
}

static void test_mesh_of(const eb_scene *scene) {
  const char *name = scene->ops->name;
  tap_succeeds(eb_mesh_validate(scene->mesh), label(name, "the mesh is valid"));
  int32_t expected = strstr(name, "bears") ? 25 : strstr(name, "trampoline") ? 2 : 1;
  tap_ok(pieces(scene->mesh) == expected, "%s: %d connected piece(s)", name, expected);
  double total = 0, shared = 0;
  const eb_surface *surface = scene->surface;
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    const double *a = surface->X + 3 * surface->triangles[3 * t];
    const double *b = surface->X + 3 * surface->triangles[3 * t + 1];
    const double *c = surface->X + 3 * surface->triangles[3 * t + 2];
    /* Heron, for the sake of another formula. */
    double p = distance(a, b), q = distance(b, c), r = distance(c, a), s = (p + q + r) / 2;
    total += sqrt(fmax(0, s * (s - p) * (s - q) * (s - r)));
  }
  for (int32_t i = 0; i < scene->mesh->node_count; i++) shared += scene->node_area[i];
  tap_near(shared / total, 1, 1e-6, label(name, "the nodes share the area of the surface"));
}

static double largest_jump(const eb_scene *scene, double t, double step, uint8_t *fixed[2],
                           double *target[2]) {
  double worst = 0;
  eb_scene_boundary(scene, t, fixed[0], target[0]);
  eb_scene_boundary(scene, t + step, fixed[1], target[1]);
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    if (fixed[0][i] && fixed[1][i])
      worst = fmax(worst, distance(target[0] + 3 * i, target[1] + 3 * i));
  return worst;
}

/* Nodes move slower than 4 m/s: a step of 1e-7 s moves them less than 4e-7 m wherever in time. */
static void test_boundary(const eb_scene *scene) {
  const char *name = scene->ops->name;
  size_t nodes = (size_t)scene->mesh->node_count;
  uint8_t *fixed[2] = {malloc(nodes), malloc(nodes)};
  double *target[2] = {malloc(24 * nodes), malloc(24 * nodes)};
  double worst = 0, end = (double)scene->ops->steps * scene->dt, start = 0, off = 0;
  for (int k = 0; k <= 400; k++)
    worst = fmax(worst, largest_jump(scene, end * k / 400, 1e-7, fixed, target));
  tap_below(worst, 4e-7, label(name, "scripted nodes move continuously"));
  eb_scene_boundary(scene, 0.3, fixed[0], target[0]);
  eb_scene_boundary(scene, 0, fixed[1], target[1]);
  for (size_t i = 0; i < nodes; i++) {
    if (fixed[1][i])
      start = fmax(start, distance(target[1] + 3 * i, scene->x0 + 3 * i));
    else
      off = fmax(off, distance(target[1] + 3 * i, scene->mesh->X + 3 * i));
  }
  tap_below(start, 1e-12, label(name, "scripted nodes start where the body is"));
  tap_below(off, 0, label(name, "the targets of the others are their rest positions"));
  eb_scene_boundary(scene, 0.3, fixed[1], target[1]);
  tap_ok(!memcmp(fixed[0], fixed[1], nodes) && !memcmp(target[0], target[1], 24 * nodes),
         "%s: the boundary depends on time alone", name);
  bool moves = (scene->ops->needs & EB_CAP_SCRIPTED) != 0;
  eb_scene_boundary(scene, 0, fixed[1], target[1]);
  tap_ok(moves == (memcmp(target[0], target[1], 24 * nodes) != 0),
         "%s: nodes move when and only when the scene says so", name);
  for (int k = 0; k < 2; k++) {
    free(fixed[k]);
    free(target[k]);
  }
}

static void test_forces(const eb_scene *scene) {
  const char *name = scene->ops->name;
  size_t size = 3 * (size_t)scene->mesh->node_count;
  double *f = malloc(8 * size), *x = malloc(8 * size), mass = 0, sum = 0, others = 0;
  eb_scene_force(scene, 0, scene->x0, scene->v0, f);
  for (size_t i = 0; i < size / 3; i++) {
    mass += eb_elasticity_mass(scene->elasticity)[i];
    sum += f[3 * i + 2];
    others = fmax(others, fmax(fabs(f[3 * i]), fabs(f[3 * i + 1])));
  }
  double g = eb_values_real(scene->parameters, "gravity");
  tap_near(sum / (mass * fmax(g, 1)), g > 0 ? -1 : 0, 1e-9,
           label(name, "at first, gravity is the only force"));
  tap_below(others, 0, label(name, "and acts downwards"));
  bool finite = true;
  for (size_t i = 0; i < size; i++) x[i] = 0.3 * scene->x0[i] - 0.1;
  for (int k = 0; k < 5; k++) {
    eb_scene_force(scene, 0.7 * k, x, scene->x0, f);
    for (size_t i = 0; i < size; i++) finite = finite && isfinite(f[i]);
  }
  tap_ok(finite, "%s: forces are finite everywhere", name);
  free(x);
  free(f);
}

static void test_promises(const char *name, const char *small) {
  eb_scene *scene = make(name, small), *again = make(name, small);
  test_mesh_of(scene);
  test_boundary(scene);
  test_forces(scene);
  tap_ok(eb_scene_needs(scene) == scene->ops->needs, "%s: needs %x, as the table says", name,
         eb_scene_needs(scene));
  tap_ok(scene->hash == again->hash && scene->hash != 0, "%s: the same problem has the same hash",
         name);
  eb_state *state;
  tap_require(eb_state_create(scene, &state), "state");
  tap_ok(state->time == 0 && state->step == 0 &&
             !memcmp(state->x, scene->x0, 24 * (size_t)state->node_count),
         "%s: a state starts at the scene's initial positions", name);
  eb_state_destroy(state);
  eb_scene_destroy(again);
  eb_scene_destroy(scene);
}

/* ---- counts --------------------------------------------------------------------------------------------------- */

static void test_exact_counts(const eb_scene_ops *ops) {
  eb_scene *scene = make(ops->name, NULL);
  tap_ok(scene->mesh->node_count == ops->target_vertices &&
             scene->mesh->element_count == ops->target_elements,
         "%s: %d vertices and %d tetrahedra, exactly", ops->name, ops->target_vertices,
         ops->target_elements);
  eb_scene_destroy(scene);
}

static void test_near_counts(const char *name) {
  eb_scene *scene = make(name, NULL);
  const eb_scene_ops *ops = scene->ops;
  double elements = (double)scene->mesh->element_count / ops->target_elements - 1;
  tap_below(fabs(elements), ops->count_tolerance, label(name, "tetrahedra as in the paper"));
  if (ops->target_vertices > 0) {
    double vertices = (double)scene->mesh->node_count / ops->target_vertices - 1;
    tap_below(fabs(vertices), ops->count_tolerance, label(name, "vertices as in the paper"));
  }
  eb_scene_destroy(scene);
}

static void test_counts(void) {
  for (const eb_scene_ops *const *at = eb_scenes(); *at; at++)
    if (!(*at)->stand_in && (*at)->target_elements > 0) test_exact_counts(*at);
  static const char *const quick[] = {"hecht2012/sculpture-small", "hecht2012/three-torus",
                                      "hecht2012/spider", "conjac2020/bunny"};
  for (int i = 0; i < 4; i++) test_near_counts(quick[i]);
}

/* ---- hashes, parameters ---------------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *name, const char *parameters) {
  eb_scene *scene = make(name, parameters);
  uint64_t hash = scene->hash;
  eb_scene_destroy(scene);
  return hash;
}

static void test_hashes(void) {
  const char *twist = "conjac2020/twist";
  uint64_t plain = hash_of(twist, "resolution=0.34");
  static const char *const changed[] = {"resolution=0.34,E=2e4",
                                        "resolution=0.34,nu=0.3",
                                        "resolution=0.34,rho=900",
                                        "resolution=0.34,dt=1e-3",
                                        "resolution=0.5",
                                        "resolution=0.34,material=stvk",
                                        "resolution=0.34,gravity=1",
                                        "resolution=0.34,motion=bend"};
  for (int i = 0; i < 8; i++)
    tap_ok(hash_of(twist, changed[i]) != plain, "another problem has another hash: %s", changed[i]);
  tap_ok(hash_of(twist, "resolution=0.340,E=1e4") == plain,
         "the spelling of numbers does not matter");
  uint64_t bunny = hash_of("conjac2020/bunny", "resolution=0.1");
  tap_ok(hash_of("conjac2020/bunny", "resolution=0.1,friction=0.4") != bunny, "friction is hashed");
  tap_ok(hash_of("conjac2020/bunny", "resolution=0.1,orientation=side") != bunny,
         "so is the initial state");
  eb_scene *scene = make(twist, "resolution=0.34");
  eb_state *state;
  tap_require(eb_state_create(scene, &state), "state");
  uint64_t before = eb_state_hash(state);
  state->v[4] = 1e-300;
  tap_ok(eb_state_hash(state) != before, "a state's hash sees every bit");
  eb_state_destroy(state);
  eb_scene_destroy(scene);
}

static void test_materials(void) {
  eb_scene *scene = make("conjac2020/twist", "resolution=0.34,material=corotational");
  tap_ok(eb_scene_needs(scene) == (EB_CAP_TETRAHEDRA | EB_CAP_COROTATIONAL | EB_CAP_SCRIPTED),
         "the needs follow the material");
  eb_scene_destroy(scene);
  for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++) {
    char text[128];
    snprintf(text, sizeof text, "resolution=0.34,material=%s",
             eb_material_describe((eb_material_kind)kind)->name);
    scene = make("conjac2020/twist", text);
    tap_ok(scene->materials[0].kind == (eb_material_kind)kind, "%s", text);
    eb_scene_destroy(scene);
  }
}

static void test_bad_requests(void) {
  const char *twist = "conjac2020/twist";
  tap_ok(eb_scene_find("conjac2020/twits") == NULL, "an unknown scene is not found");
  tap_fails(attempt(twist, "F=1", NULL), EB_ERR_USAGE, "has no option 'F'", "unknown parameter");
  tap_fails(attempt(twist, "resolutoin=1", NULL), EB_ERR_USAGE, "did you mean 'resolution'",
            "misspelt parameter");
  tap_fails(attempt(twist, "nu=0.5", NULL), EB_ERR_USAGE, "nu = 0.5 is outside", "nu of 0.5");
  tap_fails(attempt(twist, "E=-1", NULL), EB_ERR_USAGE, "E = -1 is outside", "negative E");
  tap_fails(attempt(twist, "E=nan", NULL), EB_ERR_USAGE, "E", "E is no number");
  tap_fails(attempt(twist, "dt=0", NULL), EB_ERR_USAGE, "dt = 0 is outside", "dt of 0");
  tap_fails(attempt(twist, "material=jelly", NULL), EB_ERR_USAGE, "is one of", "unknown material");
  tap_fails(attempt(twist, "resolution=1000", NULL), EB_ERR_USAGE, "outside", "huge resolution");
  tap_fails(attempt(twist, NULL, "/nowhere/at_all.mesh"), EB_ERR_IO, "/nowhere/at_all.mesh",
            "a mesh file that is not there");
}

/* ---- cache ------------------------------------------------------------------------------------------------------ */

static void test_cache(void) {
  char place[128], command[400];
  snprintf(place, sizeof place, "%s/again", folder);
  const eb_scene_ops *ops = eb_scene_find("hecht2012/three-torus");
  eb_scene *built, *hit, *rebuilt, *off;
  const char *small = "resolution=0.1";
  tap_require(eb_scene_create(ops, small, NULL, "", &off), "without cache");
  tap_require(eb_scene_create(ops, small, NULL, place, &built), "first");
  tap_require(eb_scene_create(ops, small, NULL, place, &hit), "second");
  tap_ok(built->hash == hit->hash && eb_mesh_hash(built->mesh) == eb_mesh_hash(hit->mesh),
         "a mesh from the cache is the mesh that was built");
  tap_ok(off->hash == built->hash, "and the one built without a cache");
  snprintf(command, sizeof command,
           "for f in %s/*.ebmesh; do printf x | dd of=$f bs=1 seek=5000 "
           "conv=notrunc 2> /dev/null; done",
           place);
  tap_ok(system(command) == 0, "the cached file is damaged");
  tap_succeeds(eb_scene_create(ops, small, NULL, place, &rebuilt), "a damaged cache is no error");
  tap_ok(rebuilt && rebuilt->hash == built->hash, "the mesh is built anew");
  eb_scene_destroy(rebuilt);
  tap_succeeds(eb_scene_create(ops, small, NULL, "/proc/none", &rebuilt),
               "nor is an unwritable one");
  eb_scene_destroy(rebuilt);
  eb_scene_destroy(off);
  eb_scene_destroy(hit);
  eb_scene_destroy(built);
}

/* Two processes that want the same mesh at once both get it. Runs first: a team of threads does not survive a fork. */
static void test_two_processes(void) {
  char place[128];
  snprintf(place, sizeof place, "%s/both", folder);
  const eb_scene_ops *ops = eb_scene_find("hecht2012/bear-squash");
  pid_t child[2];
  for (int c = 0; c < 2; c++) {
    child[c] = fork();
    if (child[c]) continue;
    eb_scene *scene = NULL;
    eb_error error = eb_scene_create(ops, "resolution=0.05", NULL, place, &scene);
    int good = !error && scene;
    eb_error_free(error);
    eb_scene_destroy(scene);
    _exit(good ? 0 : 1);
  }
  int bad = 0, status;
  for (int c = 0; c < 2; c++) {
    waitpid(child[c], &status, 0);
    bad += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
  tap_ok(bad == 0, "two processes build the same scene at once");
}

/* ---- replaced meshes ------------------------------------------------------------------------------------------------ */

/* A closed box surface of 8 vertices, in millimetres and off the origin. */
static void write_box_surface(const char *path) {
  static const int32_t quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                      {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  eb_surface *surface;
  tap_require(eb_surface_create(8, 12, &surface), "surface");
  for (int v = 0; v < 8; v++) {
    surface->X[3 * v] = 100 + (v & 1 ? 800 : 0);
    surface->X[3 * v + 1] = v & 2 ? 300 : 0;
    surface->X[3 * v + 2] = v & 4 ? 250 : 0;
  }
  for (int q = 0; q < 6; q++)
    for (int k = 0; k < 3; k++) {
      surface->triangles[6 * q + k] = quads[q][k];
      surface->triangles[6 * q + 3 + k] = quads[q][(k + 2) % 4];
    }
  tap_require(eb_surface_write(path, EB_FORMAT_OBJ, surface), "write surface");
  eb_surface_destroy(surface);
}

static void test_volume_override(void) {
  char path[128];
  snprintf(path, sizeof path, "%s/bar.mesh", folder);
  eb_scene *own = make("conjac2020/twist", "resolution=0.34"), *other;
  tap_require(eb_mesh_write(path, EB_FORMAT_MEDIT, own->mesh), "write volume mesh");
  tap_require(eb_scene_create(own->ops, "resolution=0.34", path, cache, &other), "own mesh again");
  tap_ok(!memcmp(own->mesh->X, other->mesh->X, 24 * (size_t)own->mesh->node_count),
         "a scene's own mesh comes back from a file to the bit");
  tap_ok(strcmp(other->mesh_source, path) == 0 && strcmp(own->mesh_source, "generated") == 0,
         "the source of the mesh is kept");
  eb_scene_destroy(other);
  eb_grid grid = {.cubes = {9, 3, 3}, .origin = {5, 5, 5}, .size = {30, 6, 6}};
  eb_mesh *mesh;
  tap_require(eb_generate_tets5(&grid, &mesh), "another bar");
  tap_require(eb_mesh_write(path, EB_FORMAT_MEDIT, mesh), "write volume mesh");
  tap_require(eb_scene_create(own->ops, "resolution=0.34", path, cache, &other), "another mesh");
  tap_ok(other->mesh->node_count == mesh->node_count &&
             !memcmp(other->mesh->elements, mesh->elements, 16 * (size_t)mesh->element_count),
         "a volume mesh keeps its connectivity");
  double lo[3], hi[3];
  eb_mesh_bounds(other->mesh->X, other->mesh->node_count, lo, hi);
  tap_near(hi[0] - lo[0], 0.15, 1e-12, "it is scaled uniformly until it just fits");
  tap_near(hi[1] - lo[1], 0.03, 1e-12, "in all directions alike");
  tap_near(0.5 * (hi[1] + lo[1]), 0, 1e-12, "centred");
  tap_near(lo[2], -0.0225, 1e-12, "on the floor of the scene's box");
  test_boundary(other);
  uint8_t *fixed = malloc((size_t)mesh->node_count);
  double *target = malloc(24 * (size_t)mesh->node_count);
  eb_scene_boundary(other, 0, fixed, target);
  int count = 0;
  for (int32_t i = 0; i < mesh->node_count; i++) count += fixed[i];
  tap_ok(count == 2 * 16, "the script grips the two ends of it");
  free(target);
  free(fixed);
  eb_mesh_destroy(mesh);
  eb_scene_destroy(other);
  eb_scene_destroy(own);
}

static void test_surface_override(void) {
  static const char *const scenes[] = {"conjac2020/dragon",     "conjac2020/bunny",
                                       "hecht2012/three-torus", "hecht2012/spider",
                                       "conjac2020/hetero",     "conjac2020/aniso"};
  char path[128];
  snprintf(path, sizeof path, "%s/box.obj", folder);
  write_box_surface(path);
  for (int i = 0; i < 6; i++) {
    const char *small = i == 3 ? "resolution=0.8" : i > 3 ? "resolution=0.3" : "resolution=0.1";
    eb_scene *own = make(scenes[i], small), *other = NULL;
    tap_succeeds(eb_scene_create(own->ops, small, path, cache, &other),
                 label(scenes[i], "a closed surface takes the body's place"));
    if (other) {
      double lo[3], hi[3], from[3], to[3];
      eb_mesh_bounds(own->mesh->X, own->mesh->node_count, lo, hi);
      eb_mesh_bounds(other->mesh->X, other->mesh->node_count, from, to);
      bool inside = true;
      for (int d = 0; d < 3; d++)
        inside = inside && from[d] > lo[d] - 0.02 * (hi[d] - lo[d]) &&
                 to[d] < hi[d] + 0.02 * (hi[d] - lo[d]);
      tap_ok(inside, "%s: within the body's box", scenes[i]);
      double off = (double)other->mesh->element_count / own->mesh->element_count - 1;
      tap_below(fabs(off), 0.15, label(scenes[i], "of about as many elements"));
      tap_ok(eb_scene_needs(other) == eb_scene_needs(own), "%s: with the same needs", scenes[i]);
      tap_ok(other->hash != own->hash, "%s: but another hash", scenes[i]);
    }
    eb_scene_destroy(other);
    eb_scene_destroy(own);
  }
}

static void test_copies_override(void) {
  char path[128];
  snprintf(path, sizeof path, "%s/box.obj", folder);
  eb_scene *scene = NULL;
  tap_require(eb_scene_create(eb_scene_find("hecht2012/bowl-of-bears"), "resolution=0.05,bears=5",
                              path, cache, &scene),
              "bowl of boxes");
  tap_ok(pieces(scene->mesh) == 5, "a replaced bear is replaced in every copy");
  eb_scene_destroy(scene);
}

static void test_bad_overrides(void) {
  char path[128];
  snprintf(path, sizeof path, "%s/open.obj", folder);
  FILE *file = fopen(path, "w");
  fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n", file);
  fclose(file);
  tap_fails(attempt("conjac2020/bunny", "resolution=0.1", path), EB_ERR_INVALID, "open.obj",
            "an open surface is refused by name");
  snprintf(path, sizeof path, "%s/noise.mesh", folder);
  file = fopen(path, "w");
  fputs("nothing of the sort\n", file);
  fclose(file);
  tap_fails(attempt("conjac2020/bunny", "resolution=0.1", path), EB_ERR_FORMAT, "noise.mesh",
            "noise is refused by name");
  tap_fails(attempt("conjac2020/bunny", "resolution=0.1", folder), EB_ERR_IO, folder,
            "a folder is refused by name");
}

/* ---- single scenes ---------------------------------------------------------------------------------------------------- */

static void test_twist(void) {
  eb_scene *scene = make("conjac2020/twist", "resolution=0.34,motion=twist");
  size_t nodes = (size_t)scene->mesh->node_count;
  uint8_t *fixed = malloc(nodes);
  double *target = malloc(24 * nodes), worst = 0, turned = 0;
  eb_scene_boundary(scene, 0.3, fixed, target);
  for (size_t i = 0; i < nodes; i++)
    if (fixed[i]) {
      const double *X = scene->mesh->X + 3 * i, *x = target + 3 * i;
      bool end = X[0] > 0.07;
      worst = fmax(worst, end ? fabs(x[1] + X[1]) + fabs(x[2] + X[2]) : distance(x, X));
      turned += end;
    }
  tap_ok(turned == 9, "the far end is gripped");
  tap_below(worst, 1e-12, "half-way it has made half a turn, and the near end stands still");
  eb_scene_destroy(scene);
  scene = make("conjac2020/twist", "resolution=0.34,motion=bend");
  eb_scene_boundary(scene, 5, fixed, target);
  double centre[3] = {0, 0, 0};
  for (size_t i = 0; i < nodes; i++)
    if (fixed[i] && scene->mesh->X[3 * i] > 0.07)
      for (int d = 0; d < 3; d++) centre[d] += target[3 * i + d] / 9;
  /* A quarter circle of length L has the radius 2 L / pi. */
  double radius = 2 * 0.15 / 3.14159265358979;
  tap_near(centre[0], radius, 1e-12, "bent, the end is where a quarter circle ends");
  tap_near(centre[2], radius, 1e-12, "in both directions");
  free(target);
  free(fixed);
  eb_scene_destroy(scene);
}

static void test_hetero(void) {
  eb_scene *scene = make("conjac2020/hetero", NULL);
  int32_t count[2] = {0, 0};
  for (int32_t e = 0; e < scene->mesh->element_count; e++) count[scene->mesh->region[e]]++;
  tap_ok(count[0] == 144 * 6 * (7 + 6 + 7) && count[1] == 144 * 6 * (7 + 7),
         "five layers of whole cubes: 7, 7, 6, 7, 7");
  tap_near(scene->materials[0].young / scene->materials[1].young, 10, 1e-12, "contrast");
  tap_near(scene->materials[0].young * scene->materials[1].young, 1e8, 1e-4, "around E");
  eb_scene_destroy(scene);
}

static void test_aniso(void) {
  static const char *const kinds[] = {"vertical", "horizontal", "diagonal", "helical"};
  for (int k = 0; k < 4; k++) {
    char text[64];
    snprintf(text, sizeof text, "resolution=0.25,fibre=%s", kinds[k]);
    eb_scene *scene = make("conjac2020/aniso", text);
    double worst = 0, least_climb = 1, radial = 0;
    for (int32_t e = 0; e < scene->mesh->element_count; e++) {
      const double *a = scene->mesh->fibre + 3 * e;
      const int32_t *v = scene->mesh->elements + 4 * e;
      double c[2] = {0, 0};
      for (int d = 0; d < 2; d++)
        for (int i = 0; i < 4; i++) c[d] += scene->mesh->X[3 * v[i] + d] / 4;
      worst = fmax(worst, fabs(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] - 1));
      least_climb = fmin(least_climb, a[2]);
      radial = fmax(radial, fabs(a[0] * c[0] + a[1] * c[1]));
    }
    tap_below(worst, 1e-14, label(kinds[k], "fibres have unit length"));
    double climb = k == 1 ? 0 : k == 0 ? 1 : sqrt(0.5);
    tap_near(least_climb, climb, 1e-14, label(kinds[k], "and climb as they should"));
    if (k == 3) tap_below(radial, 1e-14, "helical fibres run around the axis");
    eb_scene_destroy(scene);
  }
}

static void test_release(void) {
  eb_scene *scene = make("conjac2020/dragon", "resolution=0.1,release=0.25");
  size_t nodes = (size_t)scene->mesh->node_count;
  uint8_t *before = malloc(nodes), *after = malloc(nodes);
  double *target = malloc(24 * nodes);
  eb_scene_boundary(scene, 0.25, before, target);
  eb_scene_boundary(scene, 0.25 + scene->dt, after, target);
  int held = 0, kept = 0, gained = 0;
  for (size_t i = 0; i < nodes; i++) {
    held += before[i];
    kept += after[i];
    gained += after[i] && !before[i];
  }
  tap_ok(kept > 0 && kept < held && gained == 0,
         "jaws and trunk are let go, the feet stay (%d of %d)", kept, held);
  free(target);
  free(after);
  free(before);
  eb_scene_destroy(scene);
}

/* A body falls freely before it touches and never has more energy than it began with: what explicit penalties of the wrong size
 * would give it. Elastic, kinetic and potential energy are summed; what springs of the floor hold is left out. */
static void test_fall(const char *name, const char *parameters, int steps, double deepest_allowed) {
  eb_scene *scene = make(name, parameters);
  eb_solver *solver;
  eb_state *state;
  eb_step_log *log;
  tap_require(
      eb_solver_create(eb_solver_find("corotational"), "linear=cholesky", scene, 1, 1, &solver),
      "solver");
  tap_require(eb_state_create(scene, &state), "state");
  tap_require(eb_step_log_create(16, &log), "log");
  const double *mass = eb_elasticity_mass(scene->elasticity);
  double first = 0, most = -INFINITY, deepest = 0, late = 0;
  for (int step = 0; step <= steps; step++) {
    double energy = eb_elasticity_energy(scene->elasticity, state->x), kinetic = 0, n[3], w[3];
    for (int32_t i = 0; i < state->node_count; i++) {
      const double *v = state->v + 3 * i, *x = state->x + 3 * i;
      kinetic += 0.5 * mass[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
      energy += mass[i] * 9.81 * x[2];
      for (int c = 0; c < scene->collider_count; c++)
        deepest = fmax(deepest, -eb_collider_distance(&scene->colliders[c], state->time, x, n, w));
    }
    if (step == 0) first = energy;
    most = fmax(most, energy + kinetic);
    late = kinetic;
    eb_reason reason = EB_RUNNING;
    eb_step_log_reset(log);
    tap_require(solver->ops->step(solver, state, scene->dt, log, &reason), "step");
  }
  tap_below(most, first + 0.01 * fabs(first), label(name, "no energy is gained in contact"));
  tap_below(deepest, deepest_allowed, label(name, "the floor is hardly entered"));
  tap_ok(deepest > 0, "%s: but it is reached", name);
  tap_below(late, 0.2 * fabs(first), label(name, "most of the energy is lost in the end"));
  eb_step_log_destroy(log);
  eb_state_destroy(state);
  eb_solver_destroy(solver);
  eb_scene_destroy(scene);
}

int main(void) {
  if (!mkdtemp(folder)) {
    printf("Bail out! no temporary folder\n");
    return 1;
  }
  snprintf(cache, sizeof cache, "%s/cache", folder);
  test_two_processes();
  for (const eb_scene_ops *const *at = eb_scenes(); *at; at++) {
    test_table(*at);
    tap_ok(eb_scene_find((*at)->name) == *at, "%s: is found by its name", (*at)->name);
    const char *small = NULL;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
      if (!strcmp(sizes[i].scene, (*at)->name)) small = sizes[i].small;
    if (tap_ok(small != NULL, "%s: has a small size to be tested at", (*at)->name))
      test_promises((*at)->name, small);
  }
  test_counts();
  test_hashes();
  test_materials();
  test_bad_requests();
  test_cache();
  test_volume_override();
  test_surface_override();
  test_copies_override();
  test_bad_overrides();
  test_twist();
  test_hetero();
  test_aniso();
  test_release();
  test_fall("conjac2020/bunny", "resolution=0.02,material=corotational", 150, 0.02);
  test_fall("hecht2012/three-torus", "resolution=0.1,dt=0.0033333333333333335", 450, 0.05);
  char command[300];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command) != 0 || tap_done();
}
