/* Ends the program by a sentence where it cannot run: limits that are too low for its libraries, a
 * processor that lacks what it is compiled for. This file is compiled for every x86-64 (Makefile)
 * and runs before main. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/cli/command.h"
#include "harness/environment.h"
#include "problems/base/sanitizer.h"

/* ---- limits ---------------------------------------------------------------------------------- */

/* Sanitizers reserve terabytes. */
#if !EB_SANITIZER

/* OpenBLAS asks for its memory when it is loaded, and where there is none asks again without end;
 * HDF5 and our own readers have buffers of some 100 KB on the stack. So limits that are too low are
 * told before any library starts, when there is no stream to print on yet. */
static void check_limits(void) {
#define TOO_LOW(what, megabytes)                                                                   \
  "elastobench: the limit on the " what " is too low: the program needs " #megabytes               \
  " MB at least\n"
  static const struct {
    int resource;
    rlim_t megabytes;
    const char *words;
  } least[] = {{RLIMIT_AS, 512, TOO_LOW("address space (ulimit -v)", 512)},
               {RLIMIT_DATA, 320, TOO_LOW("data (ulimit -d)", 320)},
               {RLIMIT_STACK, 1, TOO_LOW("stack (ulimit -s)", 1)}};
#undef TOO_LOW
  for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
    struct rlimit limit;
    if (getrlimit(least[i].resource, &limit) || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur >= least[i].megabytes << 20)
      continue;
    (void)!write(STDERR_FILENO, least[i].words, strlen(least[i].words));
    _exit(EB_EXIT_TROUBLE);
  }
}

__attribute__((section(".preinit_array"),
               used)) static void (*before_libraries)(void) = check_limits;

#endif

/* ---- the processor --------------------------------------------------------------------------- */

#ifdef __x86_64__
/* It would end the program by an illegal instruction. */
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
  _exit(EB_EXIT_TROUBLE);
}
#endif
