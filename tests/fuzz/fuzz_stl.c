#include "tests/fuzz/fuzz.h"

const fuzz_target fuzz_seeds = {
    .name = "stl",
    .formats = {EB_FORMAT_STL, EB_FORMAT_STL_BINARY},
    .texts = {"solid a\n facet normal nan nan nan\n  outer loop\n   vertex 0 -0 0\n   vertex 1 0 "
              "0\n   vertex 0 1 0\n  endloop\n"
              " endfacet\nendsolid a\nsolid b\nendsolid b\n"}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  return fuzz_surface(EB_FORMAT_STL, data, bytes);
}
