#include "harness/case/rates.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/bench/machine.h"
#include "harness/case/rates_kept.h"

static const char form[] = "rates %lg %lg %lg %lg %d";

static eb_error run_machine(const char *program, eb_signals *signals, eb_rates *out) {
  eb_strings argv = {0}, settings = {0};
  eb_limits limits = {.timeout = 30};
  eb_child_end end = {0};
  eb_error error = eb_strings_add(&argv, program);
  if (!error) error = eb_strings_add(&argv, "machine");
  if (!error) error = eb_environment_settings((int)sysconf(_SC_NPROCESSORS_ONLN), &settings);
  if (!error) error = eb_child_run(&argv, &settings, limits, signals, NULL, NULL, &end);
  if (!error && sscanf(end.output, form, &out->dgemm, &out->triad, &out->dgemm_all, &out->triad_all,
                       &out->threads) == 5)
    eb_time_text(out->measured_at);
  else
    *out = (eb_rates){0};
  eb_strings_clear(&argv);
  eb_strings_clear(&settings);
  return error;
}

eb_error eb_rates_measure(const char *program, eb_signals *signals, eb_rates *out) {
  *out = (eb_rates){0};
  if (getenv("ELASTOBENCH_NO_RATES") || eb_rates_recall(out)) return EB_OK;
  EB_TRY(run_machine(program, signals, out));
  eb_rates_keep(out);
  return EB_OK;
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

/* The best of some short measurements: what the machine can do when nobody disturbs. */
static void measure(eb_machine *machine, eb_rates *rates) {
  enum { TIMES = 3 };
  for (int i = 0; i < TIMES; i++) {
    rates->dgemm = larger(rates->dgemm, eb_machine_dgemm(machine, 1));
    rates->triad = larger(rates->triad, eb_machine_triad(machine, 1));
    rates->dgemm_all = larger(rates->dgemm_all, eb_machine_dgemm(machine, rates->threads));
    rates->triad_all = larger(rates->triad_all, eb_machine_triad(machine, rates->threads));
  }
}

eb_error eb_rates_print(void) {
  eb_machine *machine;
  eb_rates rates = {.threads = (int)sysconf(_SC_NPROCESSORS_ONLN)};
  EB_TRY(eb_machine_create(rates.threads, &machine));
  measure(machine, &rates);
  eb_machine_destroy(machine);
  printf("rates %.6g %.6g %.6g %.6g %d\n", rates.dgemm, rates.triad, rates.dgemm_all,
         rates.triad_all, rates.threads);
  return EB_OK;
}
