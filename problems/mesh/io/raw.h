/* Binary numbers of a given byte order. */
#ifndef EB_MESH_IO_RAW_H
#define EB_MESH_IO_RAW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static inline void eb_raw_put(FILE *file, uint64_t value, int bytes, bool big_endian) {
  unsigned char raw[8];
  for (int i = 0; i < bytes; i++) {
    raw[big_endian ? bytes - 1 - i : i] = (unsigned char)(value & 0xff);
    value >>= 8;
  }
  fwrite(raw, 1, (size_t)bytes, file);
}

static inline void eb_raw_int(FILE *file, int32_t value, bool big_endian) {
  eb_raw_put(file, (uint64_t)(int64_t)value, 4, big_endian);
}

static inline void eb_raw_real(FILE *file, double value, bool big_endian) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  eb_raw_put(file, bits, 8, big_endian);
}

#endif
