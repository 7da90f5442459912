#include "tests/fuzz/fuzz.h"

const fuzz_target fuzz_seeds = {
    .name = "vtk",
    .formats = {EB_FORMAT_VTK, EB_FORMAT_VTK_BINARY},
    .texts = {"# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 "
              "0 0 1 0 0 0 1 0 0 0 1\n"
              "METADATA\nINFORMATION 0\n\nCELLS 3 7\nOFFSETS vtktypeint64\n0 3 7\nCONNECTIVITY "
              "vtktypeint64\n"
              "0 1 2 0 1 2 3\nCELL_TYPES 2\n5\n10\nCELL_DATA 2\nFIELD FieldData 2\nmaterial 1 2 "
              "float\n1 2\nfibre 3 2 "
              "double\n1 0 0 0 1 0\nPOINT_DATA 4\nCOLOR_SCALARS c 1\n0 0 0 0\n"}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  return fuzz_mesh(EB_FORMAT_VTK, data, bytes);
}
