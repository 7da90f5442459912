/* The mesh cache: what is read is what was written, or nothing; no failure of the file system is
 * an error. */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problems/base/memory.h"
#include "problems/mesh/generate.h"
#include "problems/scenes/mesh_cache.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

static const eb_digest key = {.high64 = 0x1234567890abcdef, .low64 = 0xfedcba0987654321};

/* A mesh that has everything: two regions, fibres, node sets, one of them empty. */
static eb_mesh *full_mesh(void) {
  eb_grid grid = {.cubes = {3, 2, 1}, .size = {3, 2, 1}};
  eb_mesh *mesh;
  tap_require(eb_generate_tets6(&grid, &mesh), "a bar");
  for (int32_t e = 0; e < mesh->element_count; e++) mesh->region[e] = e % 2;
  tap_require(eb_mesh_name_regions(mesh, 2, (const char *const[]){"even", "odd"}), "regions");
  tap_require(eb_mesh_add_set(mesh, "none", NULL, 0), "an empty set");
  tap_require(EB_NEW(mesh->fibre, 3 * (size_t)mesh->element_count), "fibres");
  for (int32_t e = 0; e < mesh->element_count; e++) mesh->fibre[3 * e + e % 3] = 1;
  return mesh;
}

static void file_of(char *path, size_t bytes) {
  snprintf(path, bytes, "%s/a-b-1234567890abcdeffedcba0987654321.ebmesh", folder);
}

static bool loads(void) {
  eb_mesh *mesh = NULL;
  tap_require(eb_mesh_cache_load(folder, "a/b", key, &mesh), "loading never fails on bad content");
  bool hit = mesh != NULL;
  eb_mesh_destroy(mesh);
  return hit;
}

static bool same(const eb_mesh *a, const eb_mesh *b) {
  bool equal = a->type == b->type && a->node_count == b->node_count &&
               a->element_count == b->element_count && a->set_count == b->set_count &&
               !memcmp(a->X, b->X, 24 * (size_t)a->node_count) &&
               !memcmp(a->elements, b->elements, 4 * (size_t)a->type * (size_t)a->element_count) &&
               !memcmp(a->region, b->region, 4 * (size_t)a->element_count) &&
               !a->fibre == !b->fibre;
  if (equal && a->fibre) equal = !memcmp(a->fibre, b->fibre, 24 * (size_t)a->element_count);
  for (int32_t s = 0; equal && s < a->set_count; s++)
    equal = !strcmp(a->sets[s].name, b->sets[s].name) && a->sets[s].count == b->sets[s].count &&
            !memcmp(a->sets[s].nodes, b->sets[s].nodes, 4 * (size_t)a->sets[s].count);
  for (int32_t r = 0; equal && r < a->region_count; r++)
    equal = !strcmp(a->region_name[r], b->region_name[r]);
  return equal;
}

static void test_round_trip(const eb_mesh *mesh) {
  eb_mesh *back = NULL;
  tap_ok(!loads(), "an empty folder is a miss");
  tap_ok(eb_mesh_cache_store(folder, "a/b", key, mesh), "a mesh is kept");
  tap_require(eb_mesh_cache_load(folder, "a/b", key, &back), "load");
  tap_ok(back && same(mesh, back), "and comes back bit for bit, with regions, fibres and sets");
  eb_mesh_destroy(back);
  for (int word = 0; word < 2; word++) {
    eb_digest other = {.high64 = key.high64 + (word == 1), .low64 = key.low64 + (word == 0)};
    tap_require(eb_mesh_cache_load(folder, "a/b", other, &back), "load");
    tap_ok(back == NULL, "another key is a miss, whichever word differs");
  }
  tap_require(eb_mesh_cache_load(folder, "a/c", key, &back), "load");
  tap_ok(back == NULL, "another name is a miss");
}

static size_t slurp(const char *path, unsigned char **data) {
  FILE *file = fopen(path, "rb");
  struct stat status;
  if (!file || fstat(fileno(file), &status) || !(*data = malloc((size_t)status.st_size)) ||
      fread(*data, 1, (size_t)status.st_size, file) != (size_t)status.st_size) {
    printf("Bail out! cannot read %s\n", path);
    exit(1);
  }
  fclose(file);
  return (size_t)status.st_size;
}

static void spill(const char *path, const void *data, size_t bytes) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file)) {
    printf("Bail out! cannot write %s\n", path);
    exit(1);
  }
}

/* Every byte of the file matters: whichever is changed, the file is not trusted. Every prefix is
 * too short. */
static void test_corruption(const eb_mesh *mesh) {
  char path[256];
  unsigned char *data;
  file_of(path, sizeof path);
  size_t bytes = slurp(path, &data);
  int trusted = 0;
  for (size_t i = 0; i < bytes; i++) {
    data[i] ^= 0x41;
    spill(path, data, bytes);
    trusted += loads();
    data[i] ^= 0x41;
  }
  tap_ok(trusted == 0, "no file with a changed byte is trusted (%d of %zu were)", trusted, bytes);
  for (size_t length = 0; length < bytes; length += length < 200 ? 1 : 97) {
    spill(path, data, length);
    trusted += loads();
  }
  tap_ok(trusted == 0, "no truncated file is trusted");
  unsigned char *longer = malloc(bytes + 8);
  memcpy(longer, data, bytes);
  memset(longer + bytes, 0, 8);
  spill(path, longer, bytes + 8);
  tap_ok(!loads(), "nor one with bytes too many");
  spill(path, "MeshVersionFormatted 1\n", 23);
  tap_ok(!loads(), "nor a foreign file");
  tap_ok(eb_mesh_cache_store(folder, "a/b", key, mesh) && loads(), "which the next mesh replaces");
  free(longer);
  free(data);
}

/* The header's counts are checked against the file before anything is allocated. */
static void test_huge_counts(void) {
  char path[256];
  unsigned char *data;
  file_of(path, sizeof path);
  size_t bytes = slurp(path, &data);
  const int32_t huge = INT32_MAX / 16, negative = -1;
  for (size_t at = 56; at < 80; at += 4) {
    unsigned char kept[4];
    memcpy(kept, data + at, 4);
    memcpy(data + at, &huge, 4);
    spill(path, data, bytes);
    tap_ok(!loads(), "a huge number at byte %zu is a miss", at);
    memcpy(data + at, &negative, 4);
    spill(path, data, bytes);
    tap_ok(!loads(), "a negative number at byte %zu is a miss", at);
    memcpy(data + at, kept, 4);
  }
  spill(path, data, bytes);
  free(data);
}

static void test_file_system(const eb_mesh *mesh) {
  char path[EB_CACHE_PATH_BYTES], deep[300], plain[300];
  snprintf(deep, sizeof deep, "%s/one/two/three", folder);
  tap_ok(eb_mesh_cache_directory(deep, path) && strcmp(path, deep) == 0 && access(deep, W_OK) == 0,
         "a missing directory is made, with its parents");
  snprintf(plain, sizeof plain, "%s/plain", folder);
  spill(plain, "x", 1);
  tap_ok(!eb_mesh_cache_directory(plain, path), "a file is no directory");
  tap_ok(!eb_mesh_cache_directory("", path), "the empty path turns caching off");
  tap_ok(!eb_mesh_cache_directory("/proc/nowhere/cache", path), "an impossible place is refused");
  tap_ok(!eb_mesh_cache_store("/proc", "a/b", key, mesh), "an unwritable place keeps nothing");
  tap_ok(!eb_mesh_cache_store(plain, "a/b", key, mesh), "nor does a file in its place");
  eb_mesh *back = NULL;
  tap_succeeds(eb_mesh_cache_load("/proc/nowhere", "a/b", key, &back), "a missing place is a miss");
  tap_ok(back == NULL, "and gives nothing");
  setenv("XDG_CACHE_HOME", folder, 1);
  snprintf(deep, sizeof deep, "%s/elastobench", folder);
  tap_ok(eb_mesh_cache_directory(NULL, path) && !strcmp(path, deep), "XDG_CACHE_HOME is obeyed");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", folder, 1);
  snprintf(deep, sizeof deep, "%s/.cache/elastobench", folder);
  tap_ok(eb_mesh_cache_directory(NULL, path) && !strcmp(path, deep), "then HOME");
  unsetenv("HOME");
  tap_ok(!eb_mesh_cache_directory(NULL, path), "without both there is no cache");
}

/* A full disk, as /dev/full would be: a limit on the file size ends the write half-way. */
static void test_half_written(const eb_mesh *mesh) {
  pid_t child = fork();
  if (child == 0) {
    /* SIGXFSZ ignored, the write fails with EFBIG. */
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {512, 512};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(eb_mesh_cache_store(folder, "half", key, mesh) ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a write that runs out of space says so");
  eb_mesh *back;
  tap_require(eb_mesh_cache_load(folder, "half", key, &back), "load");
  tap_ok(back == NULL, "and leaves nothing to read");
}

static int count_leftovers(void) {
  int count = 0;
  DIR *directory = opendir(folder);
  for (struct dirent *entry; directory && (entry = readdir(directory));)
    count += strncmp(entry->d_name, "writing", 7) == 0;
  if (directory) closedir(directory);
  return count;
}

/* Four processes write and read the same mesh over and over: whatever is read is whole. */
static void test_concurrency(const eb_mesh *mesh) {
  enum { PROCESSES = 4, ROUNDS = 100 };
  pid_t children[PROCESSES];
  for (int c = 0; c < PROCESSES; c++) {
    children[c] = fork();
    if (children[c]) continue;
    int bad = 0;
    for (int r = 0; r < ROUNDS; r++) {
      bad += !eb_mesh_cache_store(folder, "busy", key, mesh);
      eb_mesh *back = NULL;
      eb_error error = eb_mesh_cache_load(folder, "busy", key, &back);
      bad += error || !back || !same(mesh, back);
      eb_error_free(error);
      eb_mesh_destroy(back);
    }
    _exit(bad != 0);
  }
  int failures = 0;
  for (int c = 0; c < PROCESSES; c++) {
    int status = 0;
    waitpid(children[c], &status, 0);
    failures += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
  tap_ok(failures == 0, "four processes at once always read a whole mesh");
  tap_ok(count_leftovers() == 0, "and leave no temporary files");
}

int main(void) {
  scratch_open();
  eb_mesh *mesh = full_mesh();
  test_round_trip(mesh);
  test_corruption(mesh);
  test_huge_counts();
  test_half_written(mesh);
  test_concurrency(mesh);
  test_file_system(mesh);
  eb_mesh_destroy(mesh);
  return scratch_close();
}
