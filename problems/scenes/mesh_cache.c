/* The cache file: header, then X, elements, region, fibre, region names, node sets, without
 * padding, in the byte order of the machine that wrote it (another order is a miss). The header's
 * hash covers every byte of the file. */
#include "problems/scenes/mesh_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/base/hash.h"
#include "problems/base/memory.h"

typedef struct cache_header {
  char magic[8];
  uint32_t byte_order, version;
  uint64_t key, content; /* what it was made from; hash of the file with 0 in this place */
  uint64_t bytes;        /* of the whole file */
  int32_t type, nodes, elements, regions, sets, has_fibre;
} cache_header;

static const char cache_magic[8] = "EBMESH\r\n";
static const uint32_t byte_order_mark = 0x01020304;

/* ---- where ----------------------------------------------------------------------------------- */

/* mkdir -p. */
static bool make_directories(char *path) {
  for (char *at = path + 1; *at; at++) {
    if (*at != '/') continue;
    *at = '\0';
    bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
    *at = '/';
    if (!made) return false;
  }
  struct stat status;
  return mkdir(path, 0777) == 0 || (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

bool eb_mesh_cache_directory(const char *cache_dir, char path[EB_CACHE_PATH_BYTES]) {
  const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length;
  if (cache_dir)
    length = snprintf(path, EB_CACHE_PATH_BYTES, "%s", cache_dir);
  else if (xdg && xdg[0] == '/')
    length = snprintf(path, EB_CACHE_PATH_BYTES, "%s/elastobench", xdg);
  else if (home && home[0] == '/')
    length = snprintf(path, EB_CACHE_PATH_BYTES, "%s/.cache/elastobench", home);
  else
    return false;
  return length > 0 && length < EB_CACHE_PATH_BYTES && make_directories(path);
}

/* directory/paper-scene-0123456789abcdef.ebmesh */
static bool file_path(const char *directory, const char *name, uint64_t key,
                      char path[EB_CACHE_PATH_BYTES]) {
  char flat[128];
  snprintf(flat, sizeof flat, "%s", name);
  for (char *at = flat; *at; at++)
    if (*at == '/') *at = '-';
  int length = snprintf(path, EB_CACHE_PATH_BYTES, "%s/%s-%016llx.ebmesh", directory, flat,
                        (unsigned long long)key);
  return length > 0 && length < EB_CACHE_PATH_BYTES;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct span {
  const unsigned char *at, *end;
} span;

static bool take(span *from, void *to, size_t bytes) {
  if ((size_t)(from->end - from->at) < bytes) return false;
  if (bytes) memcpy(to, from->at, bytes);
  from->at += bytes;
  return true;
}

/* Of the file's bytes, with the header given apart. */
static uint64_t hash_file(cache_header header, const unsigned char *payload, size_t bytes) {
  header.content = 0;
  return eb_hash(eb_hash(EB_HASH_SEED, &header, sizeof header), payload, bytes);
}

static bool indices_in_range(const eb_mesh *mesh) {
  size_t corners = (size_t)mesh->element_count * mesh->type;
  for (size_t i = 0; i < corners; i++)
    if (mesh->elements[i] < 0 || mesh->elements[i] >= mesh->node_count) return false;
  for (int32_t e = 0; e < mesh->element_count; e++)
    if (mesh->region[e] < 0 || mesh->region[e] >= mesh->region_count) return false;
  return true;
}

static eb_error take_names(span *from, const cache_header *header, eb_mesh *mesh, bool *sound) {
  *sound = false;
  char(*names)[EB_NAME_BYTES];
  EB_TRY(EB_NEW(names, header->regions));
  free(mesh->region_name);
  mesh->region_name = names;
  mesh->region_count = header->regions;
  if (!take(from, names, (size_t)header->regions * sizeof *names)) return EB_OK;
  for (int32_t r = 0; r < header->regions; r++)
    if (!memchr(names[r], '\0', EB_NAME_BYTES)) return EB_OK;
  *sound = true;
  return EB_OK;
}

static eb_error take_sets(span *from, const cache_header *header, eb_mesh *mesh, bool *sound) {
  *sound = false;
  EB_TRY(EB_NEW(mesh->sets, header->sets));
  for (int32_t s = 0; s < header->sets; s++) {
    eb_node_set *set = &mesh->sets[s];
    if (!take(from, set->name, EB_NAME_BYTES) || !take(from, &set->count, sizeof set->count) ||
        !memchr(set->name, '\0', EB_NAME_BYTES) || set->count < 0 || set->count > mesh->node_count)
      return EB_OK;
    EB_TRY(EB_NEW(set->nodes, set->count));
    mesh->set_count++;
    if (!take(from, set->nodes, (size_t)set->count * sizeof *set->nodes)) return EB_OK;
  }
  *sound = from->at == from->end;
  return EB_OK;
}

static eb_error fill(span *from, const cache_header *header, eb_mesh *mesh, bool *sound) {
  size_t nodes = (size_t)mesh->node_count, elements = (size_t)mesh->element_count;
  *sound = take(from, mesh->X, 24 * nodes) &&
           take(from, mesh->elements, 4 * elements * (size_t)mesh->type) &&
           take(from, mesh->region, 4 * elements);
  if (*sound && header->has_fibre) {
    EB_TRY(EB_NEW(mesh->fibre, 3 * elements));
    *sound = take(from, mesh->fibre, 24 * elements);
  }
  if (*sound) EB_TRY(take_names(from, header, mesh, sound));
  if (*sound) EB_TRY(take_sets(from, header, mesh, sound));
  *sound = *sound && indices_in_range(mesh);
  return EB_OK;
}

static eb_error parse(const unsigned char *data, size_t bytes, uint64_t key, eb_mesh **out) {
  span from = {data, data + bytes};
  cache_header header;
  if (!take(&from, &header, sizeof header) ||
      !(memcmp(header.magic, cache_magic, sizeof cache_magic) == 0 &&
        header.byte_order == byte_order_mark && header.version == EB_MESH_CACHE_VERSION &&
        header.key == key && header.bytes == bytes && header.nodes > 0 && header.elements > 0 &&
        header.regions > 0 && header.sets >= 0 &&
        (header.type == EB_TRIANGLE || header.type == EB_TETRAHEDRON ||
         header.type == EB_HEXAHEDRON) &&
        24 * (uint64_t)header.nodes <= bytes && 4 * (uint64_t)header.elements <= bytes &&
        EB_NAME_BYTES * (uint64_t)header.regions <= bytes &&
        EB_NAME_BYTES * (uint64_t)header.sets <= bytes) ||
      hash_file(header, from.at, bytes - sizeof header) != header.content)
    return EB_OK;
  eb_mesh *mesh;
  EB_TRY(eb_mesh_create((eb_element_type)header.type, header.nodes, header.elements, &mesh));
  bool sound = false;
  eb_error error = fill(&from, &header, mesh, &sound);
  if (sound && !error)
    *out = mesh;
  else
    eb_mesh_destroy(mesh);
  return error;
}

static eb_error load(FILE *file, uint64_t key, eb_mesh **out) {
  struct stat status;
  if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode) ||
      (size_t)status.st_size < sizeof(cache_header))
    return EB_OK;
  size_t bytes = (size_t)status.st_size;
  unsigned char *data;
  EB_TRY(EB_NEW(data, bytes));
  eb_error error = (fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF)
                       ? parse(data, bytes, key, out)
                       : EB_OK;
  free(data);
  return error;
}

eb_error eb_mesh_cache_load(const char *directory, const char *name, uint64_t key, eb_mesh **out) {
  *out = NULL;
  char path[EB_CACHE_PATH_BYTES];
  if (!file_path(directory, name, key, path)) return EB_OK;
  FILE *file = fopen(path, "rb");
  if (!file) return EB_OK;
  eb_error error = load(file, key, out);
  fclose(file);
  return error;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put(unsigned char **to, const void *data, size_t bytes) {
  if (bytes) memcpy(*to, data, bytes);
  *to += bytes;
}

static uint64_t file_bytes(const eb_mesh *mesh) {
  uint64_t elements = (uint64_t)mesh->element_count;
  uint64_t bytes = sizeof(cache_header) + 24 * (uint64_t)mesh->node_count +
                   elements * (4 * (uint64_t)mesh->type + 4 + (mesh->fibre ? 24 : 0)) +
                   EB_NAME_BYTES * (uint64_t)mesh->region_count;
  for (int32_t s = 0; s < mesh->set_count; s++)
    bytes += EB_NAME_BYTES + 4 + 4 * (uint64_t)mesh->sets[s].count;
  return bytes;
}

static void pack(const eb_mesh *mesh, uint64_t key, uint64_t bytes, unsigned char *data) {
  cache_header header = {.byte_order = byte_order_mark,
                         .version = EB_MESH_CACHE_VERSION,
                         .key = key,
                         .bytes = bytes,
                         .type = (int32_t)mesh->type,
                         .nodes = mesh->node_count,
                         .elements = mesh->element_count,
                         .regions = mesh->region_count,
                         .sets = mesh->set_count,
                         .has_fibre = mesh->fibre != NULL};
  memcpy(header.magic, cache_magic, sizeof cache_magic);
  size_t nodes = (size_t)mesh->node_count, elements = (size_t)mesh->element_count;
  unsigned char *payload = data + sizeof header, *at = payload;
  put(&at, mesh->X, 24 * nodes);
  put(&at, mesh->elements, 4 * elements * (size_t)mesh->type);
  put(&at, mesh->region, 4 * elements);
  if (mesh->fibre) put(&at, mesh->fibre, 24 * elements);
  put(&at, mesh->region_name, (size_t)mesh->region_count * EB_NAME_BYTES);
  for (int32_t s = 0; s < mesh->set_count; s++) {
    const eb_node_set *set = &mesh->sets[s];
    put(&at, set->name, EB_NAME_BYTES);
    put(&at, &set->count, sizeof set->count);
    put(&at, set->nodes, (size_t)set->count * sizeof *set->nodes);
  }
  header.content = hash_file(header, payload, bytes - sizeof header);
  memcpy(data, &header, sizeof header);
}

/* Writes beside the final name and renames: readers see the whole file or none. */
static bool write_atomically(const char *directory, const char *path, const unsigned char *data,
                             size_t bytes) {
  char temporary[EB_CACHE_PATH_BYTES];
  int length = snprintf(temporary, sizeof temporary, "%s/writing-XXXXXX", directory);
  if (length <= 0 || length >= (int)sizeof temporary) return false;
  int descriptor = mkstemp(temporary);
  if (descriptor < 0) return false;
  FILE *file = fdopen(descriptor, "wb");
  if (!file) close(descriptor);
  bool good = file && fwrite(data, 1, bytes, file) == bytes;
  if (file) good = fclose(file) == 0 && good;
  good = good && rename(temporary, path) == 0;
  if (!good) unlink(temporary);
  return good;
}

bool eb_mesh_cache_store(const char *directory, const char *name, uint64_t key,
                         const eb_mesh *mesh) {
  char path[EB_CACHE_PATH_BYTES];
  if (!file_path(directory, name, key, path)) return false;
  uint64_t bytes = file_bytes(mesh);
  unsigned char *data = eb_calloc(bytes, 1);
  if (!data) return false;
  pack(mesh, key, bytes, data);
  bool good = write_atomically(directory, path, data, bytes);
  free(data);
  return good;
}
