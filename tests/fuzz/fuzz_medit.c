#include "tests/fuzz/fuzz.h"

const fuzz_target fuzz_seeds = {.name = "medit",
                                .formats = {EB_FORMAT_MEDIT},
                                .texts = {"MeshVersionFormatted 1\r\nDimension\r\n3 # c\nHexahedra "
                                          "1\n1 2 3 4 5 6 7 8 -3\nVertices\n8\n"
                                          "0 0 0 0\n1 0 0 0\n1 1.D0 0 0\n0 1 0 0\n0 0 1 0\n1 0 1 "
                                          "0\n1 1 1 0\n0 1 1 0\nEdges\n1\n1 2 3\nEnd"}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  return fuzz_mesh(EB_FORMAT_MEDIT, data, bytes);
}
