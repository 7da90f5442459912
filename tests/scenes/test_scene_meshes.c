/* Where a scene's mesh comes from: the generator, the cache, a file in the generator's place. */
#include <sys/wait.h>

#include "problems/mesh/generate.h"
#include "problems/mesh/io.h"
#include "tests/support/mesh_files.h"
#include "tests/support/scene_fixture.h"

/* ---- cache ----------------------------------------------------------------------------------- */

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

/* Two processes that want the same mesh at once both get it. Runs first: a team of threads does
 * not survive a fork. */
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

/* ---- replaced meshes ------------------------------------------------------------------------- */

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
  tap_require(surface_file(path, EB_FORMAT_OBJ, surface), "write surface");
  eb_surface_destroy(surface);
}

static void test_volume_override(void) {
  char path[128];
  snprintf(path, sizeof path, "%s/bar.vtk", folder);
  eb_scene *own = make("conjac2020/twist", "resolution=0.34"), *other;
  tap_require(eb_mesh_write(path, own->mesh), "write volume mesh");
  tap_require(eb_scene_create(own->ops, "resolution=0.34", path, cache, &other), "own mesh again");
  tap_ok(!memcmp(own->mesh->X, other->mesh->X, 24 * (size_t)own->mesh->node_count),
         "a scene's own mesh comes back from a file to the bit");
  tap_ok(strcmp(other->mesh_source, path) == 0 && strcmp(own->mesh_source, "generated") == 0,
         "the source of the mesh is kept");
  eb_scene_destroy(other);
  eb_grid grid = {.cubes = {9, 3, 3}, .origin = {5, 5, 5}, .size = {30, 6, 6}};
  eb_mesh *mesh;
  tap_require(eb_generate_tets5(&grid, &mesh), "another bar");
  tap_require(eb_mesh_write(path, mesh), "write volume mesh");
  tap_require(eb_scene_create(own->ops, "resolution=0.34", path, cache, &other), "another mesh");
  tap_ok(other->mesh->node_count == mesh->node_count &&
             !memcmp(other->mesh->elements, mesh->elements, 16 * (size_t)mesh->element_count),
         "a volume mesh keeps its connectivity");
  double lo[3], hi[3], worst;
  eb_mesh_bounds(other->mesh->X, other->mesh->node_count, lo, hi);
  tap_near(hi[0] - lo[0], 0.15, 1e-12, "it is scaled uniformly until it just fits");
  tap_near(hi[1] - lo[1], 0.03, 1e-12, "in all directions alike");
  tap_near(0.5 * (hi[1] + lo[1]), 0, 1e-12, "centred");
  tap_near(lo[2], -0.0225, 1e-12, "on the floor of the scene's box");
  eb_scene *turned;
  tap_require(eb_scene_create(own->ops, "resolution=0.34,mesh_up=y", path, cache, &turned),
              "turned");
  worst = 0;
  for (int32_t i = 0; i < mesh->node_count; i++) {
    const double *a = other->mesh->X + 3 * i, *b = turned->mesh->X + 3 * i;
    worst =
        fmax(worst, fabs(a[0] - b[0]) + fabs(a[1] - (b[2] + 0.0075)) + fabs(a[2] + b[1] + 0.0075));
  }
  tap_below(worst, 1e-12, "mesh_up=y turns y upwards");
  eb_scene_destroy(turned);
  tap_require(eb_scene_create(own->ops, "resolution=0.34,mesh_turn=180", path, cache, &turned),
              "turned");
  worst = 0;
  for (int32_t i = 0; i < mesh->node_count; i++) {
    const double *a = other->mesh->X + 3 * i, *b = turned->mesh->X + 3 * i;
    worst = fmax(worst, fabs(a[0] + b[0] - 0.15) + fabs(a[1] + b[1]) + fabs(a[2] - b[2]));
  }
  tap_below(worst, 1e-12, "mesh_turn=180 turns it about");
  eb_scene_destroy(turned);
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

int main(void) {
  fixture_open();
  test_two_processes();
  test_cache();
  test_volume_override();
  test_surface_override();
  test_copies_override();
  test_bad_overrides();
  return fixture_close();
}
