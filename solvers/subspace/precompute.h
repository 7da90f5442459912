/* All of a subspace that the size of the mesh decides, from a solver's options: weights, basis and
 * cubature; kept between runs when that is asked for. */
#ifndef EB_SUBSPACE_PRECOMPUTE_H
#define EB_SUBSPACE_PRECOMPUTE_H

#include "problems/scene.h"
#include "solvers/solver.h"
#include "solvers/subspace/basis.h"
#include "solvers/subspace/cubature.h"

/* Raise it when weights or cubature of the same options come out differently, or the layout of what
 * is kept changes. */
#define EB_PRECOMPUTE_VERSION 5

/* Entries of a solver's table. */
#define EB_PRECOMPUTE_OPTIONS                                                                      \
  {.name = "modes",                                                                                \
   .type = EB_OPTION_INT,                                                                          \
   .fallback = "16",                                                                               \
   .min = 1,                                                                                       \
   .max = 1000,                                                                                    \
   .unit = "",                                                                                     \
   .doc = "weights, as many as there are free nodes at most, with twelve coefficients each; or "   \
          "linear modes"},                                                                         \
      {.name = "basis",                                                                            \
       .type = EB_OPTION_CHOICE,                                                                   \
       .fallback = "skinning",                                                                     \
       .choices = "skinning|linear|derivatives",                                                   \
       .unit = "",                                                                                 \
       .doc = "skinning by weights; linear vibration modes, six of a free body without strain "    \
              "among them; or these with the modal derivatives of those that deform"},             \
      {.name = "weights",                                                                          \
       .type = EB_OPTION_CHOICE,                                                                   \
       .fallback = "eigenmodes",                                                                   \
       .choices = "eigenmodes|biharmonic",                                                         \
       .unit = "",                                                                                 \
       .doc = "of skinning: eigenmodes, or bounded biharmonic weights of farthest points"},        \
      {.name = "stiffness",                                                                        \
       .type = EB_OPTION_CHOICE,                                                                   \
       .fallback = "true",                                                                         \
       .choices = "true|uniform",                                                                  \
       .unit = "",                                                                                 \
       .doc = "of the eigenmodes: the body's, or the same everywhere (biharmonic weights know "    \
              "none)"},                                                                            \
      {.name = "points",                                                                           \
       .type = EB_OPTION_INT,                                                                      \
       .fallback = "0",                                                                            \
       .min = 0,                                                                                   \
       .max = 1e9,                                                                                 \
       .unit = "",                                                                                 \
       .doc = "cubature points; 0: twenty a mode"},                                                \
      {.name = "features",                                                                         \
       .type = EB_OPTION_CHOICE,                                                                   \
       .fallback = "weighted",                                                                     \
       .choices = "weighted|unweighted",                                                           \
       .unit = "",                                                                                 \
       .doc = "what the points are clustered by: weights over the squares of their eigenvalues, "  \
              "or as they are (biharmonic ones have none)"},                                       \
      {.name = "representative",                                                                   \
       .type = EB_OPTION_CHOICE,                                                                   \
       .fallback = "mean",                                                                         \
       .choices = "mean|median",                                                                   \
       .unit = "",                                                                                 \
       .doc =                                                                                      \
           "the point of a cluster is the element nearest to its mean, as published, or to its "   \
           "geometric median: then stiff pieces have points of their own"},                        \
      {.name = "full_integration",                                                                 \
       .type = EB_OPTION_BOOL,                                                                     \
       .fallback = "false",                                                                        \
       .unit = "",                                                                                 \
       .doc = "every element is a point, with its own volume"},                                    \
  {                                                                                                \
    .name = "cache", .type = EB_OPTION_BOOL, .fallback = "false", .unit = "",                      \
    .doc = "keep weights and points between runs, and take those that are kept: set-up times "     \
           "are then no measure"                                                                   \
  }

/* Phases ANALYZE and those of the factorizations, and IO for what is kept: a set-up that was read
 * has no factorizations, but for modal derivatives, which are made from the linear modes each time.
 * The caller clears all three, also after a failure. */
EB_MUST eb_error eb_precompute(const eb_solver *solver, const uint8_t *pinned,
                               eb_skinning *skinning, eb_basis *basis, eb_cubature *cubature);

#endif
