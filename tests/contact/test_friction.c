/* Coulomb's mu by pairs of names. */
#include "problems/contact/friction.h"

#include <math.h>

#include "tests/tap.h"

enum { BLOCK, FLOOR, SOLE };
#define BIT(name) (UINT32_C(1) << (name))

static void test_lookup(void) {
  eb_friction_pair pairs[] = {{BLOCK, FLOOR, 0.5}, {SOLE, FLOOR, 0.9}, {BLOCK, BLOCK, 0.1}};
  uint32_t names[] = {BIT(BLOCK),
                      BIT(BLOCK) | BIT(SOLE),
                      BIT(BLOCK) | BIT(SOLE),
                      BIT(FLOOR),
                      BIT(FLOOR),
                      BIT(FLOOR),
                      BIT(BLOCK) | BIT(SOLE),
                      0};
  const eb_friction_law law = {.common = 0.3, .pair_count = 3, .pairs = pairs, .names = names},
                        alike = {.common = 0.3};
  const struct {
    const char *what;
    eb_pair pair;
    double mu;
  } cases[] = {{"a vertex on a face", {EB_VERTEX_FACE, {0, 3, 4, 5}}, 0.5},
               {"a face under a vertex", {EB_VERTEX_FACE, {3, 0, 1, 2}}, 0.5},
               {"a face whose corners are all of the sole", {EB_VERTEX_FACE, {3, 1, 2, 6}}, 0.9},
               {"an edge that leaves the sole", {EB_EDGE_EDGE, {0, 1, 3, 4}}, 0.5},
               {"an edge of the sole", {EB_EDGE_EDGE, {4, 3, 2, 1}}, 0.9},
               {"a body with itself", {EB_EDGE_EDGE, {0, 1, 2, 6}}, 0.1},
               {"what no pair is of", {EB_VERTEX_FACE, {7, 0, 1, 2}}, 0.3}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    tap_ok(eb_friction_of(&law, &cases[k].pair) == cases[k].mu, "mu of %s", cases[k].what);
    tap_ok(eb_friction_of(&alike, &cases[k].pair) == 0.3, "without pairs: mu of %s", cases[k].what);
  }
  tap_ok(eb_friction_any(&law) && !eb_friction_any(&(eb_friction_law){0}), "whether there is any");
}

static void test_wrong(void) {
  uint32_t names[1] = {0};
  eb_friction_pair pair = {0, 1, -0.1};
  eb_friction_law law = {.pair_count = 1, .pairs = &pair, .names = names};
  tap_fails(eb_friction_validate(&law), EB_ERR_INVALID, "at least 0", "a mu below 0");
  pair = (eb_friction_pair){0, 32, 0.1};
  tap_fails(eb_friction_validate(&law), EB_ERR_INVALID, "0 to 31", "a name that there is not");
  pair.b = 1;
  law.names = NULL;
  tap_fails(eb_friction_validate(&law), EB_ERR_INVALID, "no vertex", "names that nobody has");
  law = (eb_friction_law){.common = NAN};
  tap_fails(eb_friction_validate(&law), EB_ERR_INVALID, "at least 0", "a mu that is no number");
}

int main(void) {
  test_lookup();
  test_wrong();
  return tap_done();
}
