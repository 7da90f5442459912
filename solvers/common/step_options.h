/* Options that solvers with an iteration of their own share, as entries of their tables. */
#ifndef EB_COMMON_STEP_OPTIONS_H
#define EB_COMMON_STEP_OPTIONS_H

/* When a step ends. */
#define EB_RTOL_OPTION(doc_)                                                                       \
  {                                                                                                \
    .name = "rtol", .type = EB_OPTION_REAL, .fallback = "1e-8", .min = 0, .max = 0.9, .unit = "",  \
    .doc = doc_                                                                                    \
  }
#define EB_ATOL_OPTION                                                                             \
  {                                                                                                \
    .name = "atol", .type = EB_OPTION_REAL, .fallback = "0", .min = 0, .max = 1e300, .unit = "N",  \
    .doc = "or when |grad W| <= atol"                                                              \
  }
#define EB_MAX_ITERATIONS_OPTION(most, what)                                                       \
  {                                                                                                \
    .name = "max_iterations", .type = EB_OPTION_INT, .fallback = most, .min = 1, .max = 1e6,       \
    .unit = "", .doc = what                                                                        \
  }
#define EB_ITERATIONS_OPTION                                                                       \
  {                                                                                                \
    .name = "iterations", .type = EB_OPTION_INT, .fallback = "0", .min = 0, .max = 1e6,            \
    .unit = "",                                                                                    \
    .doc = "iterations of every step, whatever is left then; 0: until a tolerance is met"          \
  }
#define EB_STATIC_OPTION                                                                           \
  {                                                                                                \
    .name = "static", .type = EB_OPTION_BOOL, .fallback = "false", .unit = "",                     \
    .doc = "find the equilibrium under f_ext: no inertia, v = 0 after each step"                   \
  }

/* How many processes share the scene. Solvers themselves look at scene->part; the option is for
 * whoever starts them, and for the default of `linear`. */
#define EB_RANKS_OPTION                                                                            \
  {                                                                                                \
    .name = "ranks", .type = EB_OPTION_INT, .fallback = "1", .min = 1, .max = 100000, .unit = "",  \
    .doc = "processes under mpiexec that share the scene"                                          \
  }
#define EB_LINEAR_BY_RANKS "cholesky; petsc if ranks>1"

#define EB_FRICTION_OPTION                                                                         \
  {                                                                                                \
    .name = "friction", .type = EB_OPTION_BOOL, .fallback = "false", .unit = "",                   \
    .doc = "implicit colliders' friction filters the velocities behind every step; else none"      \
  }

/* What trusty2023 leaves unsaid of its iterations; `searched`: what a line search looks at. */
#define EB_MIXED_OPTIONS(searched)                                                                 \
  EB_ITERATIONS_OPTION,                                                                            \
      EB_MAX_ITERATIONS_OPTION("500", "give up after so many, with iterations=0"),                 \
      {.name = "start",                                                                            \
       .type = EB_OPTION_CHOICE,                                                                   \
       .fallback = "last",                                                                         \
       .choices = "last|inertial",                                                                 \
       .unit = "",                                                                                 \
       .doc = "where a step starts from: the last positions, or x0 + h v0"},                       \
      {.name = "line_search",                                                                      \
       .type = EB_OPTION_BOOL,                                                                     \
       .fallback = "true",                                                                         \
       .unit = "",                                                                                 \
       .doc = searched},                                                                           \
      EB_STATIC_OPTION

#endif
