/* Ends the program by a sentence, where the processor lacks what it is compiled for and would end
 * it by an illegal instruction. This file is compiled for every x86-64 (Makefile) and runs before
 * main. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/environment.h"

#ifdef __x86_64__
typedef struct feature {
  const char *name;
  bool there;
} feature;

static bool has(const char *name) {
  const feature features[] = {{"sse4_2", __builtin_cpu_supports("sse4.2")},
                              {"avx", __builtin_cpu_supports("avx")},
                              {"avx2", __builtin_cpu_supports("avx2")},
                              {"fma", __builtin_cpu_supports("fma")},
                              {"bmi2", __builtin_cpu_supports("bmi2")},
                              {"avx512f", __builtin_cpu_supports("avx512f")},
                              {"avx512vl", __builtin_cpu_supports("avx512vl")}};
  for (size_t i = 0; i < sizeof features / sizeof *features; i++)
    if (strcmp(features[i].name, name) == 0) return features[i].there;
  return false;
}

__attribute__((constructor)) static void check_processor(void) {
  bool lacking = false;
  __builtin_cpu_init();
  for (const char *const *name = eb_build_features; *name; name++) {
    if (has(*name)) continue;
    fprintf(stderr, "%s %s", lacking ? "," : "elastobench: this processor lacks", *name);
    lacking = true;
  }
  if (!lacking) return;
  fprintf(stderr,
          ", which the program is built with (%s): build it here with `make ARCH=native`, or for "
          "every x86-64 with `make ARCH=x86-64`\n",
          eb_build_flags);
  _exit(2);
}
#endif
