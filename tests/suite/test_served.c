/* What a refusal is answered with: values of parameters with which a solver serves the scene. */
#include "harness/served.h"
#include "tests/support/owned.h"
#include "tests/tap.h"

OWNED(eb_served, eb_served_clear)
OWNED(eb_text, eb_text_clear)

/* With which values the solver serves the scene. */
static void served_with(const char *scene, const char *parameters, const char *solver,
                        const char *want) {
  owned(eb_served) served = {0};
  owned(eb_text) with = {0};
  tap_require(eb_served_open(eb_scene_find(scene), parameters, NULL, &served), scene);
  tap_require(eb_text_append(&with, "", 0), "a text");
  tap_require(eb_served_with(&served, eb_solver_find(solver), &with), solver);
  tap_ok(strcmp(with.data, want) == 0, "%s on %s:%s wants '%s' (got '%s')", solver, scene,
         parameters, want, with.data);
}

/* Every answer is kept: with the values that it names the solver lacks nothing. */
static void answers_are_kept(const char *name) {
  owned(eb_served) served = {0};
  const eb_scene_ops *ops = eb_scene_find(name);
  int answered = 0;
  tap_require(eb_served_open(ops, NULL, NULL, &served), name);
  for (const eb_solver_ops *const *at = eb_solvers(); *at; at++) {
    owned(eb_text) with = {0};
    owned(eb_served) other = {0};
    if (eb_capabilities_lacking((*at)->capabilities, served.needs) == 0) continue;
    tap_require(eb_text_append(&with, "", 0), "a text");
    tap_require(eb_served_with(&served, *at, &with), (*at)->name);
    if (!*with.data) continue;
    with.data[strcspn(with.data, "| ")] = '\0';
    tap_require(eb_served_open(ops, with.data, NULL, &other), with.data);
    tap_ok(eb_capabilities_lacking((*at)->capabilities, other.needs) == 0,
           "%s: %s serves it with %s", name, (*at)->name, with.data);
    answered++;
  }
  tap_ok(answered > 0, "%s: some solver serves it with other values alone", name);
}

static void refusals_are_answered(void) {
  owned(eb_served) served = {0};
  owned(eb_text) answer = {0};
  tap_require(eb_served_open(eb_scene_find("conjac2020/dragon"), "E=1e4", NULL, &served), "open");
  tap_require(eb_served_answer(&served, eb_solver_find("pd"), &answer), "answer");
  tap_ok(strstr(answer.data, "material=projective") && strstr(answer.data, "newton, ") &&
             strstr(answer.data, "serve it as it is"),
         "the answer has the value and other solvers");
  tap_ok(!strstr(answer.data, " pd,") && !strstr(answer.data, "external"),
         "and no solver that lacks something, or wants a command");
  eb_text_clear(&answer);
  tap_require(eb_served_answer(&served, eb_solver_find("mfem-subspace"), &answer), "answer");
  tap_ok(strstr(answer.data, "no value of its parameters"), "where nothing helps it says so");
}

static void bad_parameters_are_errors(void) {
  owned(eb_served) served = {0};
  tap_fails(eb_served_open(eb_scene_find("bench/beam"), "nosuch=1", NULL, &served), EB_ERR_USAGE,
            "nosuch", "a parameter that there is not");
}

int main(void) {
  served_with("conjac2020/dragon", NULL, "pd", "material=projective");
  served_with("conjac2020/dragon", "material=corotational", "pd", "material=projective");
  served_with("conjac2020/dragon", NULL, "corotational", "material=corotational");
  /* nu decides which materials are projective */
  served_with("bench/beam", "nu=0", "pd", "material=corotated|fixed-corotational|projective");
  served_with("bench/beam", NULL, "pd", "material=projective");
  served_with("trusty2023/crab", NULL, "conjac", "pinned=false");
  /* one value is not enough */
  served_with("lewin2016/stretch", NULL, "warp-cholesky",
              "material=corotational,element=tetrahedra");
  served_with("conjac2020/dragon", NULL, "mfem-subspace", "");
  answers_are_kept("lewin2016/bend-c");
  answers_are_kept("hecht2012/sculpture-small");
  refusals_are_answered();
  bad_parameters_are_errors();
  return tap_done();
}
