/* Verification: what `elastobench check` runs on a user's machine, and the tests in small.
 *
 * A check measures a figure and holds it against a bound whose reason is stated; nothing is
 * compared with stored results. Groups are functions that emit any number of figures. */
#ifndef EB_CHECK_H
#define EB_CHECK_H

#include "harness/plugin.h"
#include "problems/base/strings.h"

#include <stdio.h>

typedef struct eb_check_figure {
  const char *name; /* "group/subject/what" */
  double measured;
  bool at_least;      /* measured >= bound, else measured <= bound */
  double bound;       /* NAN: there is none, and the figure is said and not judged */
  const char *reason; /* what was measured and why the bound */
  bool passed;        /* false also when measured is not a number */
} eb_check_figure;

typedef struct eb_check {
  const eb_solver_ops *solver; /* the solver under test; NULL in groups without one */
  eb_plugged_list plugged;     /* the material under test; none: the built-in ones */
  bool quick;                  /* smaller sizes, for tests */
  uint64_t seed;               /* of what is drawn */
  void (*emit)(void *context, const eb_check_figure *figure);
  /* Tells what begins, "newton: accuracy"; NULL: nobody asks. */
  void (*begin)(void *context, const char *solver_or_null, const char *group);
  void *context;
} eb_check;

/* Emit a figure; `format` makes its name. */
void eb_check_below(const eb_check *check, double measured, double bound, const char *reason,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
void eb_check_above(const eb_check *check, double measured, double bound, const char *reason,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* One that has no bound and is not judged; `reason` says what it is, its unit first. */
void eb_check_note(const eb_check *check, double measured, const char *reason, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));

/* The names of the materials under test: that of a plug-in, or all that are built in; NULL behind
 * the last. */
const char *eb_check_material(const eb_check *check, int k);

/* What is asked of the solver under test. */
/* Whether it has this option, which all built-in solvers mean the same by; false of plug-ins, whose
 * options nobody knows. */
bool eb_subject_declares(const eb_solver_ops *ops, const char *option);
bool eb_subject_can(const eb_solver_ops *ops, uint32_t capabilities);
/* A material the solver serves. */
const char *eb_subject_material(const eb_solver_ops *ops);
/* The options that its table declares to be exact (solvers/solver.h), or "". */
const char *eb_subject_exact(const eb_solver_ops *ops);
/* The equation that its steps declare, on a block held at one end. One that is position-based
 * solves constraints with stiffnesses of their own, which no step is too short for: it has no
 * order, and what it does behind friction is not rubbed. */
EB_MUST eb_error eb_subject_equation(const eb_solver_ops *ops, eb_equation *out);

/* Figures that belong together. */
typedef struct eb_check_group {
  const char *name;
  eb_error (*run)(const eb_check *check);
  const char *solver; /* NULL: concerns none; "*": every one; else that one */
} eb_check_group;

/* One table a check_*.c, ended by a NULL name. */
extern const eb_check_group eb_checks_materials[], eb_checks_accuracy[], eb_checks_dynamics[],
    eb_checks_conjac[], eb_checks_cutting[], eb_checks_contact[], eb_checks_consistency[],
    eb_checks_constraints[];

/* The group of that name, of any solver; NULL when there is none. */
const eb_check_group *eb_check_group_find(const char *name);
/* Runs the groups that apply: those without a solver when check->solver is NULL, those of that
 * solver otherwise. An error of a group is emitted as a failed figure that carries its message. */
void eb_check_groups(const eb_check *check);

/* A line a figure; JSON, where an order that is infinite, of a remainder that is exactly zero, is
 * null; a test a figure, as harness/results/ci.h has them, written when all are there. */
typedef enum eb_check_format {
  EB_CHECK_TEXT,
  EB_CHECK_JSON,
  EB_CHECK_JUNIT,
  EB_CHECK_TAP,
  EB_CHECK_FORMATS
} eb_check_format;
extern const char *const eb_check_format_names[EB_CHECK_FORMATS];

/* `elastobench check [SOLVER]`: everything, or what concerns one solver, or with plug-ins and no
 * name their solvers and materials. Solvers of plug-ins are held to conformance as well
 * (conformance.h). *failed counts figures out of bounds. An unknown solver is EB_ERR_USAGE. */
EB_MUST eb_error eb_check_run(const eb_plugins *plugins, const char *solver_or_null, uint64_t seed,
                              eb_check_format format, FILE *out, int *failed);

/* What `elastobench check --scene` is asked. */
typedef struct eb_scene_check {
  const char *scene;         /* "NAME[:p=v,..]" or "FILE.ini[:p=v,..]" */
  const eb_strings *solvers; /* "NAME[:o=v,..]"; none: all that serve the scene at their defaults */
  const eb_plugins *plugins;
  int64_t steps;            /* of each of them */
  double timeout;           /* s, likewise */
  const char *command_line; /* for their result file */
} eb_scene_check;

/* The scene itself (check_scene.c), then steps of solvers on it (scene_trials.c). *failed counts
 * figures out of bounds. EB_ERR_USAGE: there is no such scene, parameter, solver or option; errors
 * of a scene that cannot be built. */
EB_MUST eb_error eb_check_scene_run(const eb_scene_check *request, uint64_t seed,
                                    eb_check_format format, FILE *out, int *failed);
/* Emits the figures of a scene. */
EB_MUST eb_error eb_check_scene(const eb_check *check, eb_scene *scene);

#endif
