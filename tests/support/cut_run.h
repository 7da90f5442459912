/* A solver at work on a scene that may be cut. */
#ifndef EB_TESTS_CUT_RUN_H
#define EB_TESTS_CUT_RUN_H

#include "tests/support/cut_fixture.h"
#include "tests/support/stepping.h"

static run start(const eb_scene_ops *ops, const char *parameters, const char *solver,
                 const char *options) {
  return start_on(make_scene(ops, parameters), solver, options);
}

#endif
