#include "tests/fuzz/fuzz.h"

const fuzz_target fuzz_seeds = {
    .name = "tetgen",
    .formats = {EB_FORMAT_TETGEN},
    .texts = {"# c\n4 3 1 1\n1 0 0 0 5 1\n2 1 0 0 5 1\n3 0 1 0 5 1\n4 0 0 1 5 1\n"}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  return fuzz_mesh(EB_FORMAT_TETGEN, data, bytes);
}
