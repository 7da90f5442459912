/* A temporary folder of a test program's own, one to a program. */
#ifndef EB_TESTS_SCRATCH_H
#define EB_TESTS_SCRATCH_H

#include <unistd.h>

#include "tests/tap.h"

static char folder[] = "/tmp/elastobench-XXXXXX";

static void scratch_open(void) {
  if (mkdtemp(folder)) return;
  printf("Bail out! no temporary folder\n");
  exit(1);
}

/* Removes the folder and ends the plan; returns what main returns. */
static int scratch_close(void) {
  char command[64];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command) != 0 || tap_done();
}

/* The path of a file in the folder; valid until the eighth call after this one. */
__attribute__((unused)) static const char *in_folder(const char *name) {
  static char paths[8][256];
  static int next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

__attribute__((unused)) static void write_bytes(const char *name, const void *data, size_t bytes) {
  FILE *file = fopen(in_folder(name), "wb");
  if (file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0) return;
  printf("Bail out! cannot write %s\n", name);
  exit(1);
}

#endif
