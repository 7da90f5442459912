#include "harness/results/h5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "problems/base/file.h"
#include "problems/base/memory.h"

void eb_h5_quiet(void) {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static herr_t deepest(unsigned depth, const H5E_error2_t *entry, void *text) {
  (void)depth;
  if (entry->desc) snprintf(text, 400, "%s", entry->desc);
  return 0;
}

eb_error eb_h5_error(const char *what, const char *name) {
  static const char message[] = "error message = '";
  char reason[400] = "no further explanation by HDF5";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, deepest, reason);
  /* Of a failed system call only the system's own words. */
  char *words = strstr(reason, message);
  if (words) {
    words += strlen(message);
    words[strcspn(words, "'")] = '\0';
    memmove(reason, words, strlen(words) + 1);
  }
  H5Eclear2(H5E_DEFAULT);
  return EB_ERROR(EB_ERR_LIBRARY, "%s %s: %s", what, name, reason);
}

/* ---- files ----------------------------------------------------------------------------------- */

eb_error eb_h5_create_file(const char *path, hid_t *out) {
  enum {
    HALF_NODE = 8
  }; /* of the trees of chunks: the default wastes 2 KB on each of many short columns */
  hid_t properties = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_istore_k(properties, HALF_NODE);
  *out = H5Fcreate(path, H5F_ACC_TRUNC, properties, H5P_DEFAULT);
  H5Pclose(properties);
  return *out < 0 ? eb_h5_error("cannot create", path) : EB_OK;
}

eb_error eb_h5_write_file(const char *path, eb_h5_fill *fill, const void *content) {
  hid_t file;
  eb_output output;
  EB_TRY(eb_output_open(path, &output));
  const char *fresh = output.fresh ? output.fresh : path;
  eb_error error = eb_h5_create_file(fresh, &file);
  if (!error) {
    error = fill(file, content);
    eb_error closing = eb_h5_close_file(file, fresh);
    if (error)
      eb_error_free(closing);
    else
      error = closing;
  }
  return eb_output_close(&output, error);
}

/* Small files are read into memory at once: they are hundreds of objects in as many places, and a
 * system call for each takes longer than all of it. */
eb_error eb_h5_open_file(const char *path, bool writable, hid_t *out) {
  enum { SMALL = 1 << 20 /* bytes */ };
  struct stat info;
  int file;
  *out = -1;
  EB_TRY(eb_file_open(path, &file));
  bool small = fstat(file, &info) == 0 && info.st_size <= SMALL;
  close(file);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (!writable && small) H5Pset_fapl_core(access, SMALL, false);
  *out = H5Fopen(path, writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
  H5Pclose(access);
  if (*out >= 0) return EB_OK;
  if (H5Fis_hdf5(path) <= 0) {
    H5Eclear2(H5E_DEFAULT);
    return EB_ERROR(EB_ERR_FORMAT, "'%s' is not a result file: it is not HDF5", path);
  }
  eb_error error = eb_h5_error("cannot read", path);
  return eb_error_prefix(error, "damaged or truncated HDF5 file");
}

eb_error eb_h5_close_file(hid_t file, const char *path) {
  eb_error error = EB_OK;
  if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) error = eb_h5_error("cannot write", path);
  if (H5Fclose(file) < 0 && !error) error = eb_h5_error("cannot finish", path);
  H5Eclear2(H5E_DEFAULT);
  return error;
}

eb_error eb_h5_group(hid_t where, const char *name, hid_t *out) {
  *out = eb_h5_exists(where, name) ? H5Gopen2(where, name, H5P_DEFAULT)
                                   : H5Gcreate2(where, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  return *out < 0 ? eb_h5_error("cannot create group", name) : EB_OK;
}

/* H5Lexists wants the groups on the way to exist. */
bool eb_h5_exists(hid_t where, const char *path) {
  char prefix[400];
  for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    snprintf(prefix, sizeof prefix, "%.*s", (int)(slash - path), path);
    if (H5Lexists(where, prefix, H5P_DEFAULT) <= 0) return false;
  }
  return H5Lexists(where, path, H5P_DEFAULT) > 0;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static eb_error put_attribute(hid_t object, const char *name, hid_t stored, hid_t memory,
                              const void *data) {
  if (H5Aexists(object, name) > 0) H5Adelete(object, name);
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
  bool failed = attribute < 0 || H5Awrite(attribute, memory, data) < 0;
  eb_error error = failed ? eb_h5_error("cannot write attribute", name) : EB_OK;
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(space);
  return error;
}

/* An attribute lies in its object's header, which holds no more than 64 KB: the end of a longer
 * text is lost, at the border of a character. */
eb_error eb_h5_put_text(hid_t object, const char *name, const char *text) {
  enum { LONGEST = 60000 };
  char *data;
  if (!text) text = "";
  size_t length = strnlen(text, LONGEST);
  if (length == LONGEST)
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) length--;
  EB_TRY(EB_NEW(data, length + 1));
  memcpy(data, text, length);
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, length + 1);
  H5Tset_cset(type, H5T_CSET_UTF8);
  eb_error error = put_attribute(object, name, type, type, data);
  H5Tclose(type);
  free(data);
  return error;
}

eb_error eb_h5_put_real(hid_t object, const char *name, double value) {
  return put_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

eb_error eb_h5_put_int(hid_t object, const char *name, int64_t value) {
  return put_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

/* What has the length in its type, padded to it in one of three ways. */
static eb_error read_fixed_text(hid_t attribute, hid_t type, const char *name, char **out) {
  size_t size = H5Tget_size(type);
  if (size == 0 || size > EB_H5_TEXT)
    return EB_ERROR(EB_ERR_FORMAT, "attribute %s claims to be %zu bytes long", name, size);
  EB_TRY(EB_NEW(*out, size + 1));
  if (H5Aread(attribute, type, *out) < 0) return eb_h5_error("cannot read attribute", name);
  if (H5Tget_strpad(type) == H5T_STR_SPACEPAD)
    for (size_t end = size; end > 0 && (*out)[end - 1] == ' '; end--) (*out)[end - 1] = '\0';
  return EB_OK;
}

/* Reads a scalar attribute of a class into *out - a text, double or int64_t -, which is left alone
 * when there is none. */
static eb_error get_attribute(hid_t object, const char *name, H5T_class_t class, void *out) {
  if (H5Aexists(object, name) <= 0) return EB_OK;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0) return eb_h5_error("cannot open attribute", name);
  hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  hid_t memory = class == H5T_FLOAT ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
  eb_error error = EB_OK;
  if (H5Tget_class(type) != class || H5Tis_variable_str(type) > 0 ||
      H5Sget_simple_extent_npoints(space) != 1)
    error = EB_ERROR(EB_ERR_FORMAT, "attribute %s has another type than we write", name);
  else if (class == H5T_STRING)
    error = read_fixed_text(attribute, type, name, out);
  else if (H5Aread(attribute, memory, out) < 0)
    error = eb_h5_error("cannot read attribute", name);
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
  return error;
}

eb_error eb_h5_get_text(hid_t object, const char *name, char **out) {
  char *text = NULL;
  eb_error error = get_attribute(object, name, H5T_STRING, &text);
  if (!error && !text) error = EB_NEW(text, 1);
  if (!error) {
    free(*out);
    *out = text;
    return EB_OK;
  }
  free(text);
  return error;
}

eb_error eb_h5_get_real(hid_t object, const char *name, double *out) {
  *out = 0;
  return get_attribute(object, name, H5T_FLOAT, out);
}

eb_error eb_h5_get_int(hid_t object, const char *name, int64_t *out) {
  *out = 0;
  return get_attribute(object, name, H5T_INTEGER, out);
}

/* ---- datasets -------------------------------------------------------------------------------- */

static size_t elements(eb_h5_shape shape) {
  size_t count = 1;
  for (int i = 0; i < shape.rank; i++) count *= (size_t)shape.size[i];
  return count;
}

void eb_h5_pack(hid_t properties) {
  enum { LEVEL = 4 };
  H5Pset_shuffle(properties);
  H5Pset_deflate(properties, LEVEL);
}

eb_error eb_h5_put(hid_t where, const char *name, hid_t stored, hid_t memory, eb_h5_shape shape,
                   const char *unit, const void *data) {
  enum { LARGEST_CHUNK = 1 << 20 };
  hid_t space = H5Screate_simple(shape.rank, shape.size, NULL);
  hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  size_t bytes = elements(shape) * H5Tget_size(stored);
  if (bytes <= EB_H5_SHORT) {
    H5Pset_layout(properties, H5D_COMPACT);
  } else {
    for (; bytes > LARGEST_CHUNK && shape.size[0] > 1; bytes /= 2)
      shape.size[0] = (shape.size[0] + 1) / 2;
    H5Pset_chunk(properties, shape.rank, shape.size);
    eb_h5_pack(properties);
  }
  hid_t set = H5Dcreate2(where, name, stored, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  eb_error error = EB_OK;
  if (set < 0 || (data && H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0))
    error = eb_h5_error("cannot write", name);
  if (!error) error = eb_h5_put_text(set, "unit", unit);
  if (set >= 0) H5Dclose(set);
  H5Pclose(properties);
  H5Sclose(space);
  return error;
}

/* Whether so many bytes can be in the dataset's part of the file at all: a damaged size must not
 * make us ask for terabytes. */
static bool is_stored(hid_t set, double bytes) {
  static const double best_compression = 1100; /* deflate's limit is 1032 : 1 */
  hsize_t size = 0, stored = H5Dget_storage_size(set);
  hid_t file = H5Iget_file_id(set);
  bool known = file >= 0 && H5Fget_filesize(file, &size) >= 0;
  if (file >= 0) H5Fclose(file);
  return known && bytes <= best_compression * (double)(stored < size ? stored : size);
}

static eb_error read_all(hid_t set, const char *name, hid_t memory, size_t size, void **out,
                         eb_h5_shape *shape) {
  hid_t space = H5Dget_space(set);
  int rank = H5Sget_simple_extent_ndims(space);
  if (rank >= 0 && rank <= EB_H5_AXES)
    shape->rank = H5Sget_simple_extent_dims(space, shape->size, NULL);
  H5Sclose(space);
  if (rank < 0 || rank > EB_H5_AXES) return EB_ERROR(EB_ERR_FORMAT, "%s has %d axes", name, rank);
  double bytes = (double)size;
  for (int i = 0; i < shape->rank; i++) bytes *= (double)shape->size[i];
  if (!is_stored(set, bytes))
    return EB_ERROR(EB_ERR_FORMAT, "%s claims to be larger than what its file holds of it", name);
  *out = eb_calloc(elements(*shape), size);
  if (!*out) return EB_ERROR(EB_ERR_MEMORY, "cannot read %s: out of memory", name);
  if (elements(*shape) && H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0) {
    free(*out);
    *out = NULL;
    return eb_h5_error("cannot read", name);
  }
  return EB_OK;
}

eb_error eb_h5_get(hid_t where, const char *name, hid_t memory, size_t size, void **out,
                   eb_h5_shape *shape) {
  *out = NULL;
  *shape = (eb_h5_shape){0};
  hid_t set = H5Dopen2(where, name, H5P_DEFAULT);
  if (set < 0) return eb_h5_error("there is no dataset", name);
  eb_error error = read_all(set, name, memory, size, out, shape);
  H5Dclose(set);
  return error;
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

static eb_error bad_block(const char *name) {
  return EB_ERROR(EB_ERR_FORMAT, "%s has a block that is not in the file, or not packed as ours",
                  name);
}

/* The bytes that come out of a block, counted; more than `most` are not waited for. */
static size_t unpacked_bytes(const void *data, size_t bytes, size_t most) {
  unsigned char scratch[1 << 14];
  z_stream stream = {.next_in = (unsigned char *)(uintptr_t)data, .avail_in = (unsigned)bytes};
  size_t count = 0;
  int status = inflateInit(&stream);
  while (status == Z_OK && count <= most) {
    stream.next_out = scratch;
    stream.avail_out = sizeof scratch;
    status = inflate(&stream, Z_NO_FLUSH);
    count += sizeof scratch - stream.avail_out;
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END ? count : 0;
}

static eb_error check_packed(hid_t set, const char *name, const hsize_t *at, size_t stored,
                             size_t full) {
  void *data = eb_calloc(stored, 1);
  uint32_t skipped = 0;
  if (!data) return EB_ERROR(EB_ERR_MEMORY, "cannot read %s: out of memory", name);
  eb_error error = EB_OK;
  if (H5Dread_chunk(set, H5P_DEFAULT, at, &skipped, data) < 0)
    error = eb_h5_error("cannot read a block of", name);
  else if (unpacked_bytes(data, stored, full) != full)
    error = EB_ERROR(EB_ERR_FORMAT, "%s has a damaged block", name);
  free(data);
  return error;
}

/* Bytes of a block of the dataset when it is unpacked, 0 when the layout has none; its first entry
 * from any of them, and whether it is packed. */
static size_t block_around(hid_t set, const hsize_t *entry, hsize_t *first, bool *packed) {
  hsize_t block[EB_H5_AXES];
  hid_t properties = H5Dget_create_plist(set), type = H5Dget_type(set);
  int rank =
      H5Pget_layout(properties) == H5D_CHUNKED ? H5Pget_chunk(properties, EB_H5_AXES, block) : -1;
  size_t bytes = rank > 0 && rank <= EB_H5_AXES ? H5Tget_size(type) : 0;
  for (int d = 0; bytes && d < rank; d++) {
    bytes *= (size_t)block[d];
    if (bytes) first[d] = entry[d] - entry[d] % block[d];
  }
  *packed = H5Pget_nfilters(properties) > 0;
  H5Tclose(type);
  H5Pclose(properties);
  return bytes;
}

eb_error eb_h5_check_block(hid_t set, const char *name, const hsize_t *entry, bool unpack) {
  unsigned skipped = 0;
  bool packed;
  haddr_t address;
  hsize_t at[EB_H5_AXES] = {0}, stored, in_file = 0;
  size_t full = block_around(set, entry, at, &packed);
  if (full == 0) return EB_OK;
  if (H5Dget_chunk_info_by_coord(set, at, &skipped, &address, &stored) < 0)
    return eb_h5_error("cannot find a block of", name);
  if (address == HADDR_UNDEF) return EB_OK;
  hid_t file = H5Iget_file_id(set);
  if (file >= 0) H5Fget_filesize(file, &in_file);
  if (file >= 0) H5Fclose(file);
  if (skipped || stored == 0 || stored > in_file || address > in_file - stored)
    return bad_block(name);
  if (!packed) return stored == full ? EB_OK : bad_block(name);
  return unpack ? check_packed(set, name, at, (size_t)stored, full) : EB_OK;
}
