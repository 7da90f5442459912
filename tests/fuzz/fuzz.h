/* What the fuzz targets share. Each target is one reader with a few seeds; it runs under libFuzzer
 * (make fuzz) and, with the deterministic mutations of driver.c, among the tests. */
#ifndef EB_TESTS_FUZZ_H
#define EB_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/mesh/diagnose.h"
#include "problems/mesh/io.h"

enum { FUZZ_SEEDS = 8 };

typedef struct fuzz_target {
  const char *name;
  eb_mesh_format formats[FUZZ_SEEDS]; /* seeds that the writers make; ended by AUTO */
  const char *texts[FUZZ_SEEDS];      /* seeds as they occur in the wild; ended by NULL */
} fuzz_target;

extern const fuzz_target fuzz_seeds;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* A reader gives a valid result, or an error that starts with the name of the file. */
static inline void fuzz_check(eb_error invalid, eb_error error) {
  if (invalid || (error && strncmp(eb_error_message(error), "fuzz", 4) != 0 &&
                  eb_error_kind(error) != EB_ERR_MEMORY)) {
    fprintf(stderr, "%s\n", eb_error_message(invalid ? invalid : error));
    abort();
  }
  eb_error_free(error);
}

static inline int fuzz_mesh(eb_mesh_format format, const uint8_t *data, size_t bytes) {
  eb_mesh *mesh;
  eb_error error = eb_mesh_parse("fuzz", format, data, bytes, &mesh);
  fuzz_check(error ? EB_OK : eb_mesh_validate(mesh), error);
  eb_mesh_diagnosis diagnosis;
  if (mesh) fuzz_check(eb_mesh_diagnose(mesh, &diagnosis), EB_OK);
  eb_mesh_destroy(mesh);
  return 0;
}

static inline int fuzz_surface(eb_mesh_format format, const uint8_t *data, size_t bytes) {
  eb_surface *surface;
  eb_error error = eb_surface_parse("fuzz", format, data, bytes, &surface);
  fuzz_check(error ? EB_OK : eb_surface_validate(surface, false), error);
  eb_surface_destroy(surface);
  return 0;
}

#endif
