/* Measured limits of the machine. */
#include <cblas.h>
#include <omp.h>

#include "harness/bench/machine.h"
#include "problems/base/clock.h"
#include "tests/tap.h"

static double product_of(int n, double *a, double *b, double *c) {
  double began = eb_wall_seconds();
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  return 2.0 * n * n * n / (eb_wall_seconds() - began);
}

/* Bounds that any machine of the kind keeps: between a naive product and 1 Tflop/s a core, between
 * a hundredth and a thousand GB/s. */
static void test_plausible(eb_machine *machine) {
  enum { N = 160 };
  static double a[N * N], b[N * N], c[N * N];
  for (int k = 0; k < N * N; k++) a[k] = b[k] = 1;
  double naive = product_of(N, a, b, c);
  double dgemm = eb_machine_dgemm(machine, 1), triad = eb_machine_triad(machine, 1);
  tap_ok(c[0] == N && dgemm > naive, "DGEMM (%.3g flop/s) beats three plain loops (%.3g)", dgemm,
         naive);
  tap_below(dgemm, 1e12, "DGEMM of one core stays below 1 Tflop/s");
  tap_ok(triad > 1e7 && triad < 1e12, "triad (%.3g bytes/s) is one of a memory", triad);
}

static void test_short(eb_machine *machine) {
  double began = eb_wall_seconds();
  for (int k = 0; k < 4; k++) {
    eb_machine_dgemm(machine, 1);
    eb_machine_triad(machine, 1);
  }
  /* Eight measurements of 20 ms; thirtyfold for a busy machine and a sanitizer. */
  tap_below(eb_wall_seconds() - began, 5, "a measurement is short");
}

static void test_threads(eb_machine *machine) {
  openblas_set_num_threads(2);
  omp_set_num_threads(3);
  double one = eb_machine_dgemm(machine, 1), two = eb_machine_dgemm(machine, 2);
  /* Virtual cores come and go, so only gross errors. */
  tap_ok(two > 0.01 * one && two < 6 * one, "two threads: %.3g against %.3g flop/s", two, one);
  double triad = eb_machine_triad(machine, 2);
  tap_ok(triad > 0 && isfinite(triad), "triad on two threads");
  tap_ok(omp_get_max_threads() == 3 && openblas_get_num_threads() == 2,
         "the caller's threads are restored");
}

int main(void) {
  eb_machine *machine = NULL;
  tap_fails(eb_machine_create(0, &machine), EB_ERR_USAGE, "0 threads", "no threads are refused");
  tap_require(eb_machine_create(2, &machine), "machine");
  test_plausible(machine);
  test_short(machine);
  test_threads(machine);
  eb_machine_destroy(machine);
  eb_machine_destroy(NULL);
  return tap_done();
}
