#include <stdlib.h>
#include <zlib.h>

#include "harness/results/h5.h"
#include "problems/base/memory.h"

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
