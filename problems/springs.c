/* Springs between nodes and places; the equations stand in springs.h. Sums run in the order of the
 * springs: the same bits for any number of threads. */
#include "problems/springs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"

enum { TIMES = 500 };

/* ---- of a scene ------------------------------------------------------------------------------ */

eb_error eb_scene_add_spring(eb_scene *scene, int32_t node) {
  if (node < 0 || node >= scene->mesh->node_count)
    return EB_ERROR(EB_ERR_INVALID, "a spring is to pull node %d, but nodes are 0 to %d", node,
                    scene->mesh->node_count - 1);
  EB_TRY(EB_APPEND(scene->script.spring_node, scene->script.spring_count));
  scene->script.spring_node[scene->script.spring_count - 1] = node;
  return EB_OK;
}

int32_t eb_scene_springs(const eb_scene *scene, double t, const int32_t **node, double *place,
                         double *stiffness) {
  int32_t count = scene->script.spring_count;
  if (node) *node = scene->script.spring_node;
  if (!place || !stiffness || count == 0) return count;
  for (int32_t s = 0; s < count; s++) {
    memcpy(place + 3 * (int64_t)s, scene->mesh->X + 3 * (int64_t)scene->script.spring_node[s],
           3 * sizeof *place);
    stiffness[s] = 0;
  }
  scene->ops->springs(scene, t, place, stiffness);
  return count;
}

static double time_of(const eb_scene *scene, int sample) {
  return (double)scene->ops->steps * scene->dt * sample / TIMES;
}

static eb_error check_values(const eb_springs *springs, double t) {
  for (int32_t s = 0; s < springs->count; s++) {
    const double *p = springs->place + 3 * (int64_t)s, k = springs->stiffness[s];
    if (!(k >= 0 && isfinite(k)))
      return EB_ERROR(EB_ERR_INVALID,
                      "spring %d has a stiffness of %g N/m at %g s; it is to be at least 0", s, k,
                      t);
    if (!isfinite(eb_dot3(p, p)))
      return EB_ERROR(EB_ERR_INVALID, "spring %d is not tied to a place at %g s", s, t);
  }
  return EB_OK;
}

eb_error eb_springs_check(const eb_scene *scene) {
  if (scene->script.spring_count == 0) return EB_OK;
  if (!scene->ops->springs)
    return EB_ERROR(EB_ERR_INVALID,
                    "%d springs are set up, but the scene's table has no `springs` "
                    "that says where they pull",
                    scene->script.spring_count);
  eb_springs springs;
  eb_error error = eb_springs_create(scene, &springs);
  for (int i = 0; i <= TIMES && !error; i++) {
    eb_springs_set(&springs, scene, time_of(scene, i));
    error = check_values(&springs, time_of(scene, i));
  }
  eb_springs_clear(&springs);
  return error;
}

eb_error eb_springs_hash(const eb_scene *scene, uint64_t *hash) {
  if (scene->script.spring_count == 0) return EB_OK;
  eb_springs springs;
  eb_error error = eb_springs_create(scene, &springs);
  size_t count = (size_t)scene->script.spring_count;
  *hash = eb_hash(*hash, scene->script.spring_node, count * sizeof *scene->script.spring_node);
  for (int i = 0; i <= TIMES && !error; i++) {
    eb_springs_set(&springs, scene, time_of(scene, i));
    *hash = eb_hash(*hash, springs.place, 3 * count * sizeof *springs.place);
    *hash = eb_hash(*hash, springs.stiffness, count * sizeof *springs.stiffness);
  }
  eb_springs_clear(&springs);
  return error;
}

/* ---- at one time ----------------------------------------------------------------------------- */

eb_error eb_springs_create(const eb_scene *scene, eb_springs *out) {
  *out = (eb_springs){.count = scene->script.spring_count, .node = scene->script.spring_node};
  if (out->count == 0) return EB_OK;
  EB_TRY(EB_NEW(out->place, 3 * (size_t)out->count));
  return EB_NEW(out->stiffness, out->count);
}

void eb_springs_clear(eb_springs *springs) {
  free(springs->place);
  free(springs->stiffness);
  *springs = (eb_springs){0};
}

void eb_springs_set(eb_springs *springs, const eb_scene *scene, double t) {
  eb_scene_springs(scene, t, NULL, springs->place, springs->stiffness);
}

static bool acts(const eb_springs *springs, const uint8_t *fixed, int32_t s) {
  return springs->stiffness[s] > 0 && !(fixed && fixed[springs->node[s]]);
}

double eb_springs_energy(const eb_springs *springs, const uint8_t *fixed, const double *x) {
  double sum = 0;
  for (int32_t s = 0; s < springs->count; s++)
    if (acts(springs, fixed, s))
      sum +=
          0.5 * springs->stiffness[s] *
          eb_squared_distance3(x + 3 * (int64_t)springs->node[s], springs->place + 3 * (int64_t)s);
  return sum;
}

double eb_springs_curvature(const eb_springs *springs, const uint8_t *fixed, const double *p) {
  double sum = 0;
  for (int32_t s = 0; s < springs->count; s++) {
    const double *at = p + 3 * (int64_t)springs->node[s];
    if (acts(springs, fixed, s)) sum += springs->stiffness[s] * eb_dot3(at, at);
  }
  return sum;
}

double eb_springs_gradient(const eb_springs *springs, const uint8_t *fixed, const double *x,
                           double scale, double *g) {
  double squares = 0;
  for (int32_t s = 0; s < springs->count; s++) {
    int64_t at = 3 * (int64_t)springs->node[s];
    double pull[3];
    if (!acts(springs, fixed, s)) continue;
    for (int d = 0; d < 3; d++)
      pull[d] = springs->stiffness[s] * (x[at + d] - springs->place[3 * (int64_t)s + d]);
    eb_add3(scale, pull, g + at);
    squares += eb_dot3(pull, pull);
  }
  return squares;
}

void eb_springs_matrix(const eb_springs *springs, double scale, eb_block_matrix *A) {
  for (int32_t s = 0; s < springs->count; s++) {
    double *block = A->values + 9 * (int64_t)A->diagonal[springs->node[s]];
    for (int d = 0; d < 3; d++) block[4 * d] += scale * springs->stiffness[s];
  }
}
