/* What is said before a case runs: defaults of the scene, what to expect of the solver's own. */
#include "harness/case/caveats.h"
#include "tests/support/owned.h"
#include "tests/tap.h"

OWNED(eb_strings, eb_strings_clear)
OWNED(eb_case, eb_case_clear)
OWNED(eb_text, eb_text_clear)

static void add(const char *scene, const char *solver, const char *options, eb_strings *out) {
  owned(eb_case) work = {
      .scene = eb_scene_find(scene), .solver = eb_solver_find(solver), .threads = 1, .steps = 1};
  if (options) tap_require(eb_string_set(&work.options, options), options);
  tap_require(eb_case_resolve(&work, NULL), solver);
  tap_require(eb_caveats_add(&work, out), solver);
}

/* What is said of one case: so many sentences, of which the last has `word`. */
static void says(const char *scene, const char *solver, const char *options, int count,
                 const char *word) {
  owned(eb_strings) said = {0};
  add(scene, solver, options, &said);
  const char *last = said.count ? said.items[said.count - 1] : "";
  tap_ok(said.count == count && strstr(last, word), "%s on %s with %s: '%s'", solver, scene,
         options ? options : "defaults", last);
}

static void pairs_are_described(void) {
  bool expected;
  owned(eb_text) bunny = {0}, rings = {0}, plain = {0};
  tap_require(eb_caveats_put(eb_scene_find("conjac2020/bunny"), eb_solver_find("conjac"), &expected,
                             &bunny),
              "bunny");
  tap_ok(!expected && strstr(bunny.data, "by default dynamic=8"), "a default is no reason to fail");
  tap_require(eb_caveats_put(eb_scene_find("verschoor2019/rings"), eb_solver_find("contact-cr"),
                             &expected, &rings),
              "rings");
  tap_ok(expected && strstr(rings.data, "not so with polish=true"), "what may fail names its cure");
  tap_require(
      eb_caveats_put(eb_scene_find("bench/beam"), eb_solver_find("newton"), &expected, &plain),
      "beam");
  tap_ok(!expected && !*plain.data, "nothing is said where there is nothing to say");
}

/* Options that are said to help are options of the solver. */
static void cures_are_options(void) {
  int count = 0;
  for (const eb_solver_ops *const *ops = eb_solvers(); *ops; ops++)
    for (const eb_caveat *at = (*ops)->caveats; at && at->note; at++, count++) {
      owned(eb_values) *values = NULL;
      tap_succeeds(eb_values_create((*ops)->name, (*ops)->options, at->cure, &values),
                   (*ops)->name);
    }
  tap_ok(count > 0, "solvers have caveats");
}

int main(void) {
  says("conjac2020/bunny", "conjac", NULL, 1, "dynamic=8, the paper's number");
  says("conjac2020/bunny", "conjac", "dynamic=8", 1, "dynamic=8");
  says("conjac2020/bunny", "conjac", "dynamic=4", 0, "");
  says("bench/beam", "conjac", NULL, 0, "");
  says("verschoor2019/rings", "contact-cr", NULL, 1, "not so with polish=true");
  says("verschoor2019/rings", "contact-cr", "polish=true", 0, "");
  says("bench/beam", "contact-cr", NULL, 0, ""); /* without contact there is no friction */
  says("bench/beam", "vbd", NULL, 1, "iterations=0");
  says("bench/beam", "vbd", "iterations=0,rtol=1e-4", 0, "");
  owned(eb_strings) said = {0};
  add("bench/beam", "vbd", NULL, &said);
  add("bench/block", "vbd", NULL, &said);
  tap_ok(said.count == 1, "the same is said once");
  pairs_are_described();
  cures_are_options();
  return tap_done();
}
