#include "tests/fuzz/fuzz.h"

const fuzz_target fuzz_seeds = {
    .name = "gmsh22",
    .formats = {EB_FORMAT_GMSH22, EB_FORMAT_GMSH22_BINARY},
    .texts = {"$Comments\nx\n$EndComments\n$MeshFormat\n2.2 0 "
              "8\n$EndMeshFormat\n$PhysicalNames\n1\n2 7 \"fixed\"\n$EndPhysicalNames\n"
              "$Nodes\n4\n10 0 0 0\n20 1 0 0\n7 0 1 0\n900 0 0 1\n$EndNodes\n$Elements\n2\n1 2 "
              "2 7 1 10 20 7\n"
              "2 4 2 3 1 10 20 7 900\n$EndElements\n$Periodic\n0\n$EndPeriodic\n",
              "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$ParametricNodes\n5\n1 0 0 0 0 1\n"
              "2 1 0 0 1 7 0.25\n3 0 1 0 2 5 0.5 0.5\n4 0 0 1 3 1\n5 1 1 1 3 1\n"
              "$EndParametricNodes\n$Elements\n2\n1 4 2 0 1 1 2 3 4\n2 4 2 0 1 2 3 5 4\n"
              "$EndElements\n"}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  return fuzz_mesh(EB_FORMAT_GMSH22, data, bytes);
}
