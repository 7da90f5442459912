/* The cache file: header, then X, elements, region, fibre, region names, node sets, without
 * padding, in the byte order of the machine that wrote it (another order is a miss). The header's
 * digest covers every byte of the file. */
#include "problems/scenes/mesh_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "problems/base/file.h"
#include "problems/base/kept.h"
#include "problems/base/memory.h"

typedef struct cache_header {
  char magic[8];
  uint32_t byte_order, version;
  eb_digest key, content; /* of what it was made from; of the file with 0 in this place */
  uint64_t bytes;         /* of the whole file */
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

/* directory/paper-scene-KEY.ebmesh */
static bool file_path(const char *directory, const char *name, eb_digest key,
                      char path[EB_CACHE_PATH_BYTES]) {
  char flat[128];
  snprintf(flat, sizeof flat, "%s", name);
  for (char *at = flat; *at; at++)
    if (*at == '/') *at = '-';
  char digits[EB_DIGEST_TEXT_BYTES];
  eb_digest_print(key, digits);
  int length = snprintf(path, EB_CACHE_PATH_BYTES, "%s/%s-%s.ebmesh", directory, flat, digits);
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
static eb_digest content_digest(cache_header header, const unsigned char *payload, size_t bytes) {
  header.content = (eb_digest){0};
  return eb_digest_add(eb_digest_add(header.content, &header, sizeof header), payload, bytes);
}

/* Takes what follows the header; *sound: it is a mesh, to the last byte. */
static eb_error take_mesh(span *from, const cache_header *header, eb_mesh *mesh, bool *sound) {
  size_t nodes = (size_t)mesh->node_count, elements = (size_t)mesh->element_count;
  size_t regions = (size_t)header->regions;
  *sound = false;
  if (!take(from, mesh->X, 24 * nodes) ||
      !take(from, mesh->elements, 4 * elements * (size_t)mesh->type) ||
      !take(from, mesh->region, 4 * elements))
    return EB_OK;
  if (header->has_fibre) {
    EB_TRY(EB_NEW(mesh->fibre, 3 * elements));
    if (!take(from, mesh->fibre, 24 * elements)) return EB_OK;
  }
  char(*names)[EB_NAME_BYTES];
  EB_TRY(EB_NEW(names, regions));
  free(mesh->region_name);
  mesh->region_name = names;
  mesh->region_count = header->regions;
  if (!take(from, names, regions * sizeof *names)) return EB_OK;
  for (size_t r = 0; r < regions; r++)
    if (!memchr(names[r], '\0', EB_NAME_BYTES)) return EB_OK;
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
  for (size_t i = 0; i < elements * (size_t)mesh->type; i++)
    if (mesh->elements[i] < 0 || mesh->elements[i] >= mesh->node_count) return EB_OK;
  for (size_t e = 0; e < elements; e++)
    if (mesh->region[e] < 0 || mesh->region[e] >= mesh->region_count) return EB_OK;
  *sound = from->at == from->end;
  return EB_OK;
}

static eb_error parse(const unsigned char *data, size_t bytes, eb_digest key, eb_mesh **out) {
  span from = {data, data + bytes};
  cache_header header;
  if (!take(&from, &header, sizeof header) ||
      !(memcmp(header.magic, cache_magic, sizeof cache_magic) == 0 &&
        header.byte_order == byte_order_mark && header.version == EB_MESH_CACHE_VERSION &&
        XXH128_isEqual(header.key, key) && header.bytes == bytes && header.nodes > 0 &&
        header.elements > 0 && header.regions > 0 && header.sets >= 0 &&
        (header.type == EB_TRIANGLE || header.type == EB_TETRAHEDRON ||
         header.type == EB_HEXAHEDRON) &&
        24 * (uint64_t)header.nodes <= bytes && 4 * (uint64_t)header.elements <= bytes &&
        EB_NAME_BYTES * (uint64_t)header.regions <= bytes &&
        EB_NAME_BYTES * (uint64_t)header.sets <= bytes) ||
      !XXH128_isEqual(content_digest(header, from.at, bytes - sizeof header), header.content))
    return EB_OK;
  eb_mesh *mesh;
  EB_TRY(eb_mesh_create((eb_element_type)header.type, header.nodes, header.elements, &mesh));
  bool sound = false;
  eb_error error = take_mesh(&from, &header, mesh, &sound);
  if (sound && !error)
    *out = mesh;
  else
    eb_mesh_destroy(mesh);
  return error;
}

eb_error eb_mesh_cache_load(const char *directory, const char *name, eb_digest key, eb_mesh **out) {
  *out = NULL;
  char path[EB_CACHE_PATH_BYTES];
  if (!file_path(directory, name, key, path)) return EB_OK;
  FILE *file;
  eb_error missing = eb_file_stream(path, &file);
  eb_error_free(missing);
  if (missing) return EB_OK;
  struct stat status;
  bool whole = fstat(fileno(file), &status) == 0 && (size_t)status.st_size >= sizeof(cache_header);
  size_t bytes = whole ? (size_t)status.st_size : 0;
  unsigned char *data = NULL;
  eb_error error = EB_NEW(data, bytes);
  whole = whole && !error && fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF;
  if (whole) error = parse(data, bytes, key, out);
  free(data);
  fclose(file);
  return error;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put(unsigned char **to, const void *data, size_t bytes) {
  if (bytes) memcpy(*to, data, bytes);
  *to += bytes;
}

static void pack(const eb_mesh *mesh, eb_digest key, uint64_t bytes, unsigned char *data) {
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
  header.content = content_digest(header, payload, bytes - sizeof header);
  memcpy(data, &header, sizeof header);
}

bool eb_mesh_cache_store(const char *directory, const char *name, eb_digest key,
                         const eb_mesh *mesh) {
  char path[EB_CACHE_PATH_BYTES];
  if (!file_path(directory, name, key, path)) return false;
  uint64_t bytes =
      sizeof(cache_header) + 24 * (uint64_t)mesh->node_count +
      (uint64_t)mesh->element_count * (4 * (uint64_t)mesh->type + 4 + (mesh->fibre ? 24 : 0)) +
      EB_NAME_BYTES * (uint64_t)mesh->region_count;
  for (int32_t s = 0; s < mesh->set_count; s++)
    bytes += EB_NAME_BYTES + 4 + 4 * (uint64_t)mesh->sets[s].count;
  unsigned char *data = eb_calloc(bytes, 1);
  if (!data) return false;
  pack(mesh, key, bytes, data);
  bool good = eb_kept_replace(directory, path, data, 0, data, bytes);
  free(data);
  return good;
}
