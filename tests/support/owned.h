/* Locals of tests that are released where their block ends, the last declared first:
 *
 *   owned(eb_mesh) *mesh = NULL;        // eb_mesh_destroy
 *   owned(double) *x = random(n);       // free
 *   owned(fixture) f = fixture_open();  // fixture_close, after OWNED(fixture, fixture_close)
 *
 * What ends the program, as tap_require does, releases nothing. And what tests make of these most
 * often: it is there, or the program ends. */
#ifndef EB_TESTS_OWNED_H
#define EB_TESTS_OWNED_H

#include <stdbool.h>
#include <stdint.h>

#include "problems/base/memory.h"
#include "problems/elasticity/elasticity.h"
#include "problems/mesh/mesh.h"
#include "problems/scene.h"
#include "solvers/linalg/linear.h"
#include "solvers/linalg/multifrontal.h"
#include "solvers/solver.h"
#include "tests/tap.h"

#define owned(type) __attribute__((cleanup(owned_##type))) type

/* A type whose values hold what `release` gives back. */
#define OWNED(type, release)                                                                       \
  static inline void owned_##type(type *value) {                                                   \
    release(value);                                                                                \
  }
/* A type that is made on the heap; `release` takes NULL. */
#define OWNED_POINTER(type, release)                                                               \
  static inline void owned_##type(type **pointer) {                                                \
    release(*pointer);                                                                             \
  }

OWNED_POINTER(bool, free)
OWNED_POINTER(char, free)
OWNED_POINTER(double, free)
OWNED_POINTER(float, free)
OWNED_POINTER(int, free)
OWNED_POINTER(int32_t, free)
OWNED_POINTER(int64_t, free)
OWNED_POINTER(uint8_t, free)
OWNED_POINTER(eb_block_matrix, eb_block_matrix_destroy)
OWNED_POINTER(eb_elasticity, eb_elasticity_destroy)
OWNED_POINTER(eb_linear, eb_linear_destroy)
OWNED_POINTER(eb_mesh, eb_mesh_destroy)
OWNED_POINTER(eb_multifrontal, eb_multifrontal_destroy)
OWNED_POINTER(eb_scene, eb_scene_destroy)
OWNED_POINTER(eb_solver, eb_solver_destroy)
OWNED_POINTER(eb_values, eb_values_destroy)
OWNED_POINTER(eb_state, eb_state_destroy)
OWNED_POINTER(eb_step_log, eb_step_log_destroy)

/* An array of `count` zeros. */
#define zeros(type, count) ((type *)new_zeros((size_t)(count), sizeof(type)))

static inline void *new_zeros(size_t count, size_t size) {
  void *array = eb_calloc(count, size);
  tap_require(array ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "%zu entries", count), "an array");
  return array;
}

/* Zeros in the pattern of the elements. */
static inline eb_block_matrix *new_matrix(const eb_elasticity *elasticity) {
  eb_block_matrix *matrix = NULL;
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(elasticity), &matrix), "a matrix");
  return matrix;
}

/* The scene's initial state. */
static inline eb_state *new_state(const eb_scene *scene) {
  eb_state *state = NULL;
  tap_require(eb_state_create(scene, &state), "a state");
  return state;
}

/* With room for so many residuals. */
static inline eb_step_log *new_log(int64_t residuals) {
  eb_step_log *log = NULL;
  tap_require(eb_step_log_create(residuals, &log), "a log");
  return log;
}

#endif
