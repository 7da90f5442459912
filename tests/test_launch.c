/* What Open MPI's mpiexec (4.1) says of the rank that ended the others, and what starts ranks. */
#include <stdlib.h>
#include <string.h>

#include "harness/case/launch.h"
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

int main(void) {
  eb_blame blame;
  tap_ok(eb_launch_blame(killed, &blame) && blame.rank == 12 && blame.signal == 11,
         "a rank that a signal has ended");
  tap_ok(eb_launch_blame(ended, &blame) && blame.rank == 3 && blame.signal == 0 &&
             blame.status == 9,
         "a rank that has ended itself");
  tap_ok(!eb_launch_blame("", &blame) && !eb_launch_blame("noticed that process rank x", &blame) &&
             !eb_launch_blame("Process name: [[1,1],2]", &blame),
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
