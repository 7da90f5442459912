#include "tests/fuzz/fuzz.h"

const fuzz_target fuzz_seeds = {
    .name = "obj",
    .formats = {EB_FORMAT_OBJ},
    .texts = {"# c\r\nmtllib x\no a\nv 0 0 0 1\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\ng q\nf -4//1 "
              "-3//1 -2//1 \\\n-1//1\nl 1 2\n"}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  return fuzz_surface(EB_FORMAT_OBJ, data, bytes);
}
