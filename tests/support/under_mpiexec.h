/* Tests of code that several ranks run: the program starts itself under mpiexec, once for every
 * number of ranks, and reports what rank 0 says. Include it behind tap.h. */
#ifndef EB_TESTS_UNDER_MPIEXEC_H
#define EB_TESTS_UNDER_MPIEXEC_H

#include <sys/wait.h>
#include <unistd.h>

#include "problems/base/sanitizer.h"
#include "problems/ranks/ranks.h"
#include "tests/tap.h"

/* Collective: passed when it has on every rank. */
__attribute__((format(printf, 3, 4), unused)) static bool
rank_ok(const eb_ranks *ranks, bool passed, const char *format, ...) {
  bool all = eb_ranks_all(ranks, passed);
  if (!passed) fprintf(stderr, "# rank %d says no to what follows\n", eb_ranks_self(ranks));
  if (eb_ranks_self(ranks) != 0) return all;
  va_list arguments;
  va_start(arguments, format);
  fputs(all ? "ok - " : "not ok - ", stdout);
  vprintf(format, arguments);
  putchar('\n');
  fflush(stdout);
  va_end(arguments);
  return all;
}

/* The largest error of all ranks is within the bound. */
__attribute__((unused)) static bool rank_below(const eb_ranks *ranks, double got, double bound,
                                               const char *name) {
  double worst = got <= bound || got > bound ? got : INFINITY;
  eb_ranks_max(ranks, 1, &worst);
  bool passed = rank_ok(ranks, worst <= bound, "%s", name);
  if (!passed && eb_ranks_self(ranks) == 0) printf("#   got %.17g, bound %g\n", worst, bound);
  return passed;
}

/* The call has failed on every rank with this code and a message that holds `fragment`. Takes the
 * error. */
__attribute__((unused)) static bool rank_fails(const eb_ranks *ranks, eb_error error,
                                               eb_error_code code, const char *fragment,
                                               const char *name) {
  bool passed =
      error && eb_error_kind(error) == code && strstr(eb_error_message(error), fragment) != NULL;
  bool all = rank_ok(ranks, passed, "%s", name);
  if (!passed)
    printf("#   wanted code %d and '%s', got code %d and '%s'\n", (int)code, fragment,
           error ? (int)eb_error_kind(error) : 0, error ? eb_error_message(error) : "");
  eb_error_free(error);
  return all;
}

/* Ends the program on all ranks. */
__attribute__((unused)) static void rank_require(eb_error error, const char *what) {
  if (!error) return;
  printf("not ok - %s: %s\n", what, eb_error_message(error));
  fflush(stdout);
  exit(1); /* mpiexec ends the others */
}

static void run_with(const char *program, int ranks) {
  char command[4096], line[1024];
  /* A rank that waits gives its core away, nobody looks for networks, a run that hangs is ended. */
  snprintf(command, sizeof command,
           "mpiexec --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca pml ob1 "
           "--mca btl self,vader --timeout 180 -n %d '%s' rank 2>&1",
           ranks, program);
  FILE *output = popen(command, "r");
  bool done = false;
  while (output && fgets(line, sizeof line, output)) {
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "ok - ", 5) == 0)
      tap_ok(true, "%d ranks: %s", ranks, line + 5);
    else if (strncmp(line, "not ok - ", 9) == 0)
      tap_ok(false, "%d ranks: %s", ranks, line + 9);
    else if (strcmp(line, "done") == 0)
      done = true;
    else
      printf("# %s\n", line);
  }
  int status = output ? pclose(output) : -1;
  tap_ok(done && status == 0, "%d ranks: all come to their end", ranks);
  if (status != 0) printf("#   mpiexec: status %d\n", status);
}

/* `main` of a test: runs `body` on 1 to `most` ranks. */
__attribute__((unused)) static int under_mpiexec(int argc, char **argv, int most,
                                                 void (*body)(const eb_ranks *ranks)) {
  if (argc > 1 && strcmp(argv[1], "rank") == 0) {
    eb_ranks *ranks;
    rank_require(eb_ranks_create(&ranks), "ranks");
    body(ranks);
    if (eb_ranks_self(ranks) == 0) puts("done");
    fflush(stdout);
    eb_ranks_destroy(ranks);
    return 0;
  }
  if (system("command -v mpiexec > /dev/null 2>&1") != 0) {
    tap_ok(true, "several ranks # SKIP there is no mpiexec");
    return tap_done();
  }
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  setenv("OMP_NUM_THREADS", "1", 1);
#if EB_SANITIZER
  int fewest = most = 2; /* after memory, not after numbers of ranks */
#else
  int fewest = 1;
#endif
  for (int ranks = fewest; ranks <= most; ranks++) run_with(argv[0], ranks);
  return tap_done();
}

#endif
