#include "tests/fuzz/fuzz.h"

const fuzz_target fuzz_seeds = {
    .name = "ply",
    .formats = {EB_FORMAT_PLY, EB_FORMAT_PLY_BINARY},
    .texts = {"ply\nformat ascii 1.0\ncomment c\nelement vertex 3\nproperty uchar red\nproperty "
              "list int short q\nproperty float z\n"
              "property float y\nproperty float x\nelement face 1\nproperty list uchar int "
              "vertex_index\nend_header\n1 0 0 0 0\n"
              "1 2 5 5 0 1 0\n1 0 0 0 1\n3 0 1 2\n"}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  return fuzz_surface(EB_FORMAT_PLY, data, bytes);
}
