/* Conformance: what every solver keeps on every scene, whatever its method. A pair that the solver
 * declares steps with a defined outcome, a finite state and a filled log, to the same bits with one
 * and two threads, and without growth of the heap; one that it does not declare is refused.
 *
 * The tests hold built-in solvers to it, `elastobench check --plugin` those of plug-ins. */
#ifndef EB_CHECK_CONFORMANCE_H
#define EB_CHECK_CONFORMANCE_H

#include "harness/check/check.h"

typedef enum eb_conforming {
  EB_CONFORMING_STEPS,   /* steps keep the contract of solvers/solver.h */
  EB_CONFORMING_ANSWERS, /* and end in success */
  EB_CONFORMING_THREADS, /* the same bits with two threads */
  EB_CONFORMING_HEAP,    /* it does not grow from step to step; not looked at under sanitizers */
  EB_CONFORMING_REFUSAL, /* of a scene that it does not serve */
  EB_CONFORMINGS
} eb_conforming;

/* What was found of a solver on a scene. */
typedef struct eb_conformity {
  eb_conforming what;
  const eb_solver_ops *solver;
  const char *scene; /* its parameters too */
  bool catalogue;    /* it is of the catalogue; else a block, small and soft */
  bool kept;
  const char *why; /* not kept; else "" */
  double grown;    /* heap: bytes */
} eb_conformity;

typedef struct eb_conformance {
  void (*found)(void *context, const eb_conformity *conformity);
  void *context;
} eb_conformance;

/* Who is shown the scenes. */
typedef struct eb_conformance_visitor {
  bool (*wants)(void *context, const eb_scene_ops *scene); /* of the catalogue; NULL: all */
  eb_error (*visit)(void *context, eb_scene *scene, bool catalogue, const char *name);
  void *context;
} eb_conformance_visitor;

/* Shows the scenes, small: the block in variants of element, material and script, and the catalogue
 * with both kinds of material. An error of `visit` ends it. */
EB_MUST eb_error eb_conformance_scenes(const eb_conformance_visitor *visitor);
/* Runs one solver on one of them. Pairs that say nothing new are passed over. */
EB_MUST eb_error eb_conformance_pair(const eb_conformance *conformance, const eb_solver_ops *ops,
                                     eb_scene *scene, bool catalogue, const char *name);

/* One solver on blocks, and on a scene of the catalogue of every kind that it may serve, as
 * figures. */
EB_MUST eb_error eb_conformance_check(const eb_check *check);

#endif
