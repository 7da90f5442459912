#include "tests/fuzz/fuzz.h"

const fuzz_target fuzz_seeds = {
    .name = "off",
    .formats = {EB_FORMAT_OFF},
    .texts = {
        "COFF 4 1 0\n# c\n0 0 0 255 0 0 255\n1 0 0 1 1 1 1\n1 1 0\n0 1 0\n4 0 1 2 3 1 0 0\n"}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  return fuzz_surface(EB_FORMAT_OFF, data, bytes);
}
