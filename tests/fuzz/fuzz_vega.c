#include "tests/fuzz/fuzz.h"

const fuzz_target fuzz_seeds = {
    .name = "vega",
    .formats = {EB_FORMAT_VEGA},
    .texts = {
        "*VERTICES\n5 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 0 0 -1\n*ELEMENTS\nTET\n2 4 0\n"
        "0 0 1 2 3\n1 0 2 1 4\n*MATERIAL soft\nENU, 1, 2, .3\n*MATERIAL hard\nENU, 1, 2, .3\n*SET "
        "a\n0,\n"
        "*SET b\n1\n*SET c\n0, 1\n*REGION\na, soft\n*REGION\nb, hard\n*INCLUDE x.veg\n"}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  return fuzz_mesh(EB_FORMAT_VEGA, data, bytes);
}
