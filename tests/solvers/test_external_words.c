/* What programs say of themselves and of a step: words that are right, and every kind that is not.
 */
#include "solvers/external/words.h"
#include "tests/support/owned.h"
#include "tests/tap.h"

#include <stdio.h>

static char text[2000];

static char *said(const char *words) {
  snprintf(text, sizeof text, "%s", words);
  return text;
}

static void hello(void) {
  eb_handshake h;
  const char *good = "protocol 1\nname leap 2.0\nserves tetrahedra scripted\nupdate substeps\n"
                     "hessian yes\n";
  tap_succeeds(eb_handshake_read(said(good), &h), "a hello");
  tap_ok(!strcmp(h.name, "leap 2.0") && h.serves == (EB_CAP_TETRAHEDRA | EB_CAP_SCRIPTED) &&
             h.update == EB_UPDATE_SUBSTEPS && h.hessian,
         "says name, capabilities, update and that Hessians are wanted");
  tap_succeeds(eb_handshake_read(said("protocol 1\nname a"), &h), "what is left out");
  tap_ok(h.update == EB_UPDATE_END_VELOCITY && !h.hessian && h.serves == 0, "has its default");
  tap_fails(eb_handshake_read(said("protocol 2\nname a\n"), &h), EB_ERR_UNSUPPORTED, "version '2'",
            "another version");
  tap_fails(eb_handshake_read(said("name a\nprotocol 1\n"), &h), EB_ERR_FORMAT, "begin",
            "the protocol comes first");
  tap_fails(eb_handshake_read(said(""), &h), EB_ERR_FORMAT, "lacks its protocol", "nothing");
  tap_fails(eb_handshake_read(said("protocol 1\n"), &h), EB_ERR_FORMAT, "lacks its name",
            "no name");
  tap_fails(eb_handshake_read(said("protocol 1\nname a\nserves cutting\n"), &h), EB_ERR_FORMAT,
            "there are: tetrahedra", "what no program can serve");
  tap_fails(eb_handshake_read(said("protocol 1\nname a\nupdate end\n"), &h), EB_ERR_FORMAT,
            "end-velocity", "an update that is none");
  tap_fails(eb_handshake_read(said("protocol 1\nnames a\n"), &h), EB_ERR_FORMAT,
            "did you mean 'name'", "a line that is none");
}

static void done(eb_step_log *log) {
  eb_done d;
  const char *good = "reason CONVERGED_RTOL\niterations 7\nequation linearized\n"
                     "linearization 1.5 2 projected\nseconds 0.25\nnorm |r|_2 (N)\nresiduals 3\n"
                     "contacts 5\n"
                     "phase solve 0.125\nphase solve 0.125\ncounter solves 4\n";
  eb_step_log_reset(log);
  tap_ok(isnan(log->own_seconds), "who says no time has none");
  tap_succeeds(eb_done_read(said(good), log, &d), "a step");
  tap_ok(d.reason == EB_CONVERGED_RTOL && d.residuals == 3 && d.contacts == 5 &&
             !strcmp(d.norm, "|r|_2 (N)"),
         "says its reason, norm, and how many residuals and contacts");
  tap_ok(log->iterations == 7 && log->equation == EB_EQUATION_LINEARIZED &&
             log->linearization.mass == 1.5 && log->linearization.stiffness == 2 &&
             log->linearization.tangent == EB_TANGENT_PROJECTED && log->own_seconds == 0.25,
         "iterations, equation, seconds");
  tap_ok(log->phase_seconds[EB_PHASE_SOLVE] == 0.25 && log->counters[EB_COUNT_SOLVES] == 4,
         "phases, which add up, and counters");
  const struct {
    const char *words, *message;
  } bad[] = {{"iterations 1\n", "does not say its reason"},
             {"reason converged\n", "there are: CONVERGED_STAGNATED"},
             {"reason RUNNING\n", "does not say its reason"},
             {"reason\n", "a reason"},
             {"seconds nan\n", "finite number"},
             {"seconds -1\n", "took -1"},
             {"seconds 1 s\n", "finite number"},
             {"iterations 1.5\n", "whole number"},
             {"residuals -1\n", "whole number"},
             {"contacts some\n", "finite number"},
             {"equation reduced\n", "cannot declare"},
             {"equation explicit\n", "there are: implicit Euler"},
             {"linearization 1 1\n", "MASS STIFFNESS"},
             {"linearization 1 inf exact\n", "finite"},
             {"linearization 1 1 secant\n", "there are: exact"},
             {"phase solv 1\n", "did you mean 'solve'"},
             {"phase solve -1\n", "at least 0"},
             {"phase solve\n", "NAME AMOUNT"},
             {"counter solves x\n", "finite number"},
             {"residual 3\n", "did you mean 'residuals'"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    tap_fails(eb_done_read(said(bad[i].words), log, &d), EB_ERR_FORMAT, bad[i].message,
              bad[i].message);
}

static void wanted(void) {
  eb_wanted w;
  tap_succeeds(eb_wanted_read(said("energy\ngradient\nhessian 2 0.5 projected\n"), &w), "a wish");
  tap_ok(w.energy && w.gradient && w.hessian && w.project && w.mass_scale == 2 &&
             w.hessian_scale == 0.5,
         "for everything");
  tap_succeeds(eb_wanted_read(said("hessian 0 1\n"), &w), "for a Hessian");
  tap_ok(!w.energy && !w.gradient && w.hessian && !w.project, "as it is");
  tap_fails(eb_wanted_read(said("hessian 1\n"), &w), EB_ERR_FORMAT, "MASS_SCALE", "one scale");
  tap_fails(eb_wanted_read(said("hessian 1 1 positive\n"), &w), EB_ERR_FORMAT, "projected",
            "a word too many");
  tap_fails(eb_wanted_read(said("stress\n"), &w), EB_ERR_FORMAT, "there are: energy",
            "what there is not");
}

int main(void) {
  owned(eb_step_log) *log = new_log(10);
  hello();
  done(log);
  wanted();
  return tap_done();
}
