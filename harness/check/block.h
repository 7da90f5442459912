/* The scene of the checks and tests: a block with everything settable by parameters, and small
 * helpers to run solvers on it. Not in the catalogue. */
#ifndef EB_CHECK_BLOCK_H
#define EB_CHECK_BLOCK_H

#include "problems/base/owned.h"
#include "problems/elasticity/plugged.h"
#include "solvers/stepper.h"

/* "check/block"; parameters: nx ny nz lx ly lz element hourglass jitter material fibre E nu rho dt
 * gx gy gz support motion rate initial speed clusters stiffness. See block.c. */
extern const eb_scene_ops eb_block_scene;

/* The scene with printf-made parameters, never cached. */
EB_MUST eb_error eb_block_create(eb_scene **out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, which takes the materials of the list as well. */
EB_MUST eb_error eb_block_create_of(const eb_plugged_list *materials, eb_scene **out,
                                    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A block of 10 x 10 x 5 cm and Young's modulus `young` (Pa), 18 nodes, `above` (m) a solid floor
 * of two triangles whose edge passes below three of them; pulled by `pull` (m/s^2), a step is dt
 * (s). */
EB_MUST eb_error eb_block_on_floor(const double pull[3], double young, double above,
                                   double friction, double dt, eb_scene **out);

/* For EB_OWNED. */
void eb_check_free_scene(eb_scene **scene);
void eb_check_free_state(eb_state **state);
void eb_check_free_log(eb_step_log **log);

/* 3, or 2 for triangles. */
int eb_block_axes(const eb_mesh *mesh);
/* Where motion=affine puts rest position X. */
void eb_block_affine(const eb_mesh *mesh, const double X[3], double x[3]);
/* The manufactured displacement (m) at rest position X. */
void eb_block_manufactured(const double X[3], double u[3]);

/* Runs `steps` steps of a solver from the scene's initial state with the scene's dt. `log` (may be
 * NULL) holds the last step's. A negative outcome is EB_ERR_INVALID. The caller destroys *state. */
EB_MUST eb_error eb_block_run(eb_scene *scene, const eb_solver_ops *ops, const char *options,
                              int threads, int64_t steps, eb_step_log *log, eb_state **state);

/* The same from a given state, in place, ending at the first negative outcome; *reason is the last
 * step's. */
EB_MUST eb_error eb_block_advance(eb_scene *scene, const eb_solver_ops *ops, const char *options,
                                  int threads, int64_t steps, eb_step_log *log, eb_state *state,
                                  eb_reason *reason);

/* |a - b|_inf over 3 n entries. */
double eb_block_distance(const eb_state *a, const eb_state *b);

/* Numbers in [-1, 1) from a seed: the same on every machine. */
double eb_block_random(uint64_t *seed);

#endif
