/* A solver that reports all there is to report, in amounts that can be known beforehand: what is
 * logged must reach the result file and the report as it was logged.
 *
 * A pulse travels along the mesh, from one end of its longest axis at time 0 to the other after
 * `period` steps, and again. Nodes in it are lifted; elements whose centre is within `width` (a
 * share of the length) of it are reported as updated. The elimination tree is a complete binary
 * one. */
#include <elastobench/solver.h>

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const eb_option options[] = {
    {"period", EB_OPTION_INT, "20", 1, 1e6, NULL, "step", "steps that the pulse takes"},
    {"width", EB_OPTION_REAL, "0.05", 0, 1, NULL, "", "half width of the pulse, of the length"},
    {"levels", EB_OPTION_INT, "4", 0, 20, NULL, "", "levels of the elimination tree"},
    {"memory", EB_OPTION_REAL, "1e6", 0, 1e12, NULL, "byte",
     "reported of the first kind, twice as much of the second, ..., none of the last"},
    {"first", EB_OPTION_INT, "1", 1, 1e9, NULL, "", "step from which on elements are updated"},
    {0}};

typedef struct pulse {
  int axis;
  double lo, length; /* m */
  uint8_t *marked;
} pulse;

static void measure(const eb_mesh *mesh, pulse *p) {
  for (int d = 0; d < 3; d++) {
    double lo = INFINITY, hi = -INFINITY;
    for (int32_t n = 0; n < mesh->node_count; n++) {
      lo = fmin(lo, mesh->X[3 * n + d]);
      hi = fmax(hi, mesh->X[3 * n + d]);
    }
    if (hi - lo <= p->length) continue;
    *p = (pulse){.axis = d, .lo = lo, .length = hi - lo, .marked = p->marked};
  }
}

/* Supernodes of a complete tree, numbered level by level from the leaves; the root is last. */
static void fill_tree(int32_t count, int32_t *parent, int32_t *pivots, int32_t *rows,
                      double *flops) {
  for (int32_t s = 0, first = 0, size = (count + 1) / 2, level = 1; s < count; s++) {
    if (s == first + size) first = s, size /= 2, level++;
    parent[s] = size == 1 ? -1 : first + size + (s - first) / 2;
    pivots[s] = level;
    rows[s] = 3 * level;
    flops[s] = 100.0 * level * level * level;
  }
}

static eb_error log_tree(eb_step_log *log, int64_t levels) {
  int32_t count = (1 << levels) - 1, *integers = calloc(3 * (size_t)count + 1, sizeof *integers);
  double *flops = calloc((size_t)count + 1, sizeof *flops);
  eb_error error = EB_OK;
  if (!integers || !flops) error = EB_ERROR(EB_ERR_MEMORY, "reporting: no memory");
  if (!error && count > 0) {
    fill_tree(count, integers, integers + count, integers + 2 * count, flops);
    error = eb_log_tree(log, count, integers, integers + count, integers + 2 * count, flops);
  }
  free(integers);
  free(flops);
  return error;
}

static void destroy(eb_solver *solver) {
  pulse *p = solver->data;
  if (p) free(p->marked);
  free(p);
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  pulse *p = solver->data = calloc(1, sizeof *p);
  if (p) p->marked = calloc((size_t)eb_scene_mesh(scene)->element_count, 1);
  if (!p || !p->marked) {
    destroy(solver);
    return EB_ERROR(EB_ERR_MEMORY, "reporting: no memory");
  }
  measure(eb_scene_mesh(scene), p);
  eb_log_begin(solver->setup_log, EB_PHASE_ANALYZE);
  for (int i = 0; i < EB_MEMORY_KINDS - 1; i++)
    eb_log_memory(solver->setup_log, (eb_memory_kind)i,
                  (i + 1) * eb_values_real(solver->options, "memory"));
  eb_error error = log_tree(solver->setup_log, eb_values_int(solver->options, "levels"));
  eb_log_end(solver->setup_log, EB_PHASE_ANALYZE);
  if (error) destroy(solver);
  return error;
}

/* Where in the pulse's reach x is: 0 at its peak, 1 and more outside. */
static double distance(const pulse *p, double at, double width, double x) {
  return fabs((x - p->lo) / p->length - at) / width;
}

static int32_t mark(const eb_mesh *mesh, const pulse *p, double at, double width) {
  int32_t count = 0;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    double centre = 0;
    for (int k = 0; k < (int)mesh->type; k++)
      centre += mesh->X[3 * mesh->elements[e * (int)mesh->type + k] + p->axis] / mesh->type;
    count += p->marked[e] = distance(p, at, width, centre) < 1;
  }
  return count;
}

static void lift(const eb_scene *scene, const pulse *p, double at, double width, double *x) {
  const eb_mesh *mesh = eb_scene_mesh(scene);
  const double *start = eb_scene_start(scene);
  for (int32_t n = 0; n < mesh->node_count; n++) {
    double d = distance(p, at, 2 * width, mesh->X[3 * n + p->axis]);
    for (int k = 0; k < 3; k++) x[3 * n + k] = start[3 * n + k];
    if (d < 1) x[3 * n + 2] += 0.05 * p->length * (1 - d * d) * (1 - d * d);
  }
}

/* Takes as long as it says, so that phases can be compared with walls. */
static void spend(eb_step_log *log, eb_phase phase, double microseconds) {
  eb_log_begin(log, phase);
  usleep((useconds_t)microseconds);
  eb_log_end(log, phase);
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  pulse *p = solver->data;
  int64_t period = eb_values_int(solver->options, "period");
  double at = (double)(state->step % period) / (double)period;
  double width = eb_values_real(solver->options, "width");
  lift(solver->scene, p, at, width, state->x);
  if (state->step + 1 >= eb_values_int(solver->options, "first")) {
    int32_t count = mark(eb_scene_mesh(solver->scene), p, at, width);
    eb_log_updates(log, p->marked, eb_scene_mesh(solver->scene)->element_count);
    spend(log, EB_PHASE_UPDATE, count);
  }
  spend(log, EB_PHASE_ROTATIONS, 100);
  spend(log, EB_PHASE_SOLVE, 200);
  state->time += dt;
  state->step++;
  log->iterations = 1;
  *reason = EB_CONVERGED_DIRECT;
  return EB_OK;
}

const int elastobench_abi = EB_PLUGIN_ABI;
const eb_solver_ops elastobench_solver = {
    .name = "reporting",
    .summary = "reports updated elements, memory and an elimination tree",
    .citation = "",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_TRIANGLES | EB_CAP_COROTATIONAL |
                    EB_CAP_HYPERELASTIC | EB_CAP_FIBRES | EB_CAP_SCRIPTED | EB_CAP_COLLIDERS,
    .options = options,
    .create = create,
    .step = step,
    .destroy = destroy};
