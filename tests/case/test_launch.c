/* What Open MPI's mpiexec (4.1) says of the rank that ended the others, and what starts ranks. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "harness/case/launch.h"
#include "problems/base/text.h"
#include "tests/tap.h"

static const char killed[] =
    "about to end\n"
    "--------------------------------------------------------------------------\n"
    "Primary job  terminated normally, but 1 process returned\n"
    "a non-zero exit code. Per user-direction, the job has been aborted.\n"
    "--------------------------------------------------------------------------\n"
    "--------------------------------------------------------------------------\n"
    "mpiexec noticed that process rank 12 with PID 0 on node vm exited on signal 11 "
    "(Segmentation fault).\n";
static const char ended[] =
    "--------------------------------------------------------------------------\n"
    "mpiexec detected that one or more processes exited with non-zero status, thus causing\n"
    "the job to be terminated. The first process to do so was:\n\n"
    "  Process name: [[2365,1],3]\n"
    "  Exit code:    9\n";

/* How many of the cores that this process may use a rank that our command starts may use; 0 when
 * it says nothing. */
static int cores_of_ranks(int ranks) {
  eb_strings command = {0};
  eb_text line = {0};
  char mask[64];
  int least = 0;
  tap_require(eb_launch_settings(&command), "settings");
  for (int i = 0; i < command.count; i++) {
    char *value = strchr(command.items[i], '=');
    *value = '\0';
    setenv(command.items[i], value + 1, 1);
  }
  eb_strings words = {0};
  tap_require(eb_launch_command(ranks, &words), "command");
  for (int i = 0; i < words.count; i++)
    tap_require(eb_text_printf(&line, "%s ", words.items[i]), "");
  tap_require(eb_text_printf(&line, "nproc 2>&1"), "");
  FILE *output = popen(line.data, "r");
  while (output && fgets(mask, sizeof mask, output)) {
    int cores = atoi(mask);
    if (least == 0 || cores < least) least = cores;
  }
  if (output) pclose(output);
  eb_text_clear(&line);
  eb_strings_clear(&words);
  eb_strings_clear(&command);
  return least;
}

/* Threads of a rank go where there is room: Open MPI itself would bind two ranks to a core each. */
static void test_cores(void) {
  cpu_set_t own;
  bool there = system("command -v mpiexec > /dev/null 2>&1") == 0;
  tap_require(sched_getaffinity(0, sizeof own, &own) == 0 ? EB_OK : EB_ERROR(EB_ERR_IO, "none"),
              "cores");
  unsetenv("OMP_NUM_THREADS"); /* which nproc would take for the cores */
  if (!there)
    tap_ok(true, "cores of ranks # SKIP there is no mpiexec");
  else
    tap_ok(cores_of_ranks(2) == CPU_COUNT(&own), "every rank may use all of the %d cores",
           CPU_COUNT(&own));
}

int main(void) {
  eb_rank_end blame;
  unsetenv(EB_LAUNCH_VARIABLE);
  test_cores();
  tap_ok(eb_launch_find_end(killed, &blame) && blame.rank == 12 && blame.signal == 11,
         "a rank that a signal has ended");
  tap_ok(eb_launch_find_end(ended, &blame) && blame.rank == 3 && blame.signal == 0 &&
             blame.status == 9,
         "a rank that has ended itself");
  tap_ok(!eb_launch_find_end("", &blame) &&
             !eb_launch_find_end("noticed that process rank x", &blame) &&
             !eb_launch_find_end("Process name: [[1,1],2]", &blame),
         "nobody, where nothing or half of it is said");
  tap_ok(eb_launch_words_before(killed) == (int)strlen("about to end\n") &&
             eb_launch_words_before("alone") == 5,
         "words of ranks end where mpiexec's begin");
  eb_strings words = {0};
  setenv(EB_LAUNCH_VARIABLE, " /bin/sh  -c  -n ", 1);
  tap_require(eb_launch_command(7, &words), "a command of one's own");
  tap_ok(words.count == 4 && strcmp(words.items[0], "/bin/sh") == 0 &&
             strcmp(words.items[2], "-n") == 0 && strcmp(words.items[3], "7") == 0,
         "its words, and behind them the number");
  eb_strings_clear(&words);
  tap_require(eb_launch_settings(&words), "settings");
  tap_ok(words.count == 0, "nothing is added to it");
  setenv(EB_LAUNCH_VARIABLE, "no-such-program-here", 1);
  eb_error error = eb_launch_command(2, &words);
  tap_ok(error && eb_error_kind(error) == EB_ERR_IO &&
             strstr(eb_error_message(error), "'no-such-program-here' on the PATH"),
         "a program that is not there is named");
  eb_error_free(error);
  eb_strings_clear(&words);
  return tap_done();
}
