#include "tests/fuzz/fuzz.h"

const fuzz_target fuzz_seeds = {
    .name = "gmsh41",
    .formats = {EB_FORMAT_GMSH41, EB_FORMAT_GMSH41_BINARY},
    .texts = {"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 1 1\n5 0 0 0 1 1 1 1 7 0\n1 "
              "0 0 0 1 1 1 1 -3 1 5\n"
              "$EndEntities\n$Nodes\n2 4 1 900\n2 5 1 3\n1\n2\n3\n0 0 0 .1 .2\n1 0 0 .1 .2\n0 1 "
              "0 .1 .2\n3 1 0 1\n900\n0 0 1\n"
              "$EndNodes\n$Elements\n2 2 1 2\n2 5 2 1\n1 1 2 3\n3 1 4 1\n2 1 2 3 "
              "900\n$EndElements\n"}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  return fuzz_mesh(EB_FORMAT_GMSH41, data, bytes);
}
