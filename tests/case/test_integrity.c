/* What the checks of integrity see of a solver that does not leave state and process as they were.
 */
#include "harness/case/integrity.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problems/base/clock.h"
#include "tests/support/scratch.h"

static bool names(const eb_integrity *integrity, const char *words) {
  char said[200] = "";
  bool good = !eb_integrity_process(integrity, said, sizeof said) && strstr(said, words);
  if (!good) printf("#   said '%s', wanted '%s'\n", said, words);
  return good;
}

static bool is_silent(const eb_integrity *integrity) {
  char said[200] = "";
  bool good = eb_integrity_process(integrity, said, sizeof said);
  if (!good) printf("#   said '%s'\n", said);
  return good;
}

static void the_state_keeps_its_shape(void) {
  double x[3] = {1, 2, 3}, v[3] = {0}, other[3];
  eb_state state = {.node_count = 1, .x = x, .v = v}, was = state;
  eb_integrity integrity;
  char words[200];
  eb_integrity_open(&integrity);
  integrity.state = state;
  state.x[0] = 5;
  state.step = 1;
  state.time = 0.5;
  tap_ok(eb_integrity_state(&integrity, &state, words, sizeof words) == EB_STATE_SAME,
         "arrays, step and time may change");
  struct {
    const char *name;
    eb_state state;
  } bad[] = {{"node_count", was}, {"joint_count", was}, {"body_count", was},
             {"member x", was},   {"member v", was},    {"member q", was},
             {"member u", was},   {"pose", was},        {"twist", was}};
  bad[0].state.node_count = 1 << 30;
  bad[1].state.joint_count = 1;
  bad[2].state.body_count = -1;
  bad[3].state.x = other;
  bad[4].state.v = NULL;
  bad[5].state.q = other;
  bad[6].state.u = other;
  bad[7].state.pose = other;
  bad[8].state.twist = other;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    bad[i].state.step = 7;
    eb_state_change wanted = i < 3 ? EB_STATE_COUNTS : EB_STATE_ARRAYS;
    bool good = eb_integrity_state(&integrity, &bad[i].state, words, sizeof words) == wanted;
    tap_ok(good && strstr(words, bad[i].name), "%s is named", bad[i].name);
    tap_ok(bad[i].state.step == 7 && bad[i].state.node_count == 1 && bad[i].state.x == x &&
               bad[i].state.v == v && !bad[i].state.q && !bad[i].state.twist,
           "and all is put back");
  }
}

static void descriptors_are_watched(void) {
  eb_integrity integrity;
  eb_integrity_open(&integrity);
  tap_ok(is_silent(&integrity), "nothing was done");
  int file = open(in_folder("result"), O_RDWR | O_CREAT, 0600);
  int unwatched = open(in_folder("other"), O_RDWR | O_CREAT, 0600), spare = dup(file);
  eb_integrity_watch(&integrity, in_folder("result"));
  tap_ok(is_silent(&integrity), "two descriptors of the file are watched");
  close(unwatched);
  tap_ok(is_silent(&integrity), "others may come and go");
  close(spare);
  tap_ok(names(&integrity, "descriptor"), "a closed one is named");
  dup2(file, spare);
  tap_ok(is_silent(&integrity), "one that is back is none");
  int null = open("/dev/null", O_RDWR);
  dup2(null, file);
  tap_ok(names(&integrity, "replaced"), "another file in its place is");
  close(null);
  close(file);
  close(spare);
}

static void input_is_watched(void) {
  eb_integrity integrity;
  eb_integrity_open(&integrity);
  int kept = dup(0);
  close(0);
  bool named = kept < 0 || names(&integrity, "descriptor 0");
  if (kept >= 0) dup2(kept, 0);
  tap_ok(named, "the standard input is watched");
  tap_ok(is_silent(&integrity), "and is back");
  if (kept >= 0) close(kept);
}

static void folder_and_signals_are_watched(void) {
  eb_integrity integrity;
  char *home = getcwd(NULL, 0);
  sigset_t set;
  eb_integrity_open(&integrity);
  tap_ok(chdir("/") == 0 && names(&integrity, "working folder"), "another folder is named");
  tap_ok(home && chdir(home) == 0 && is_silent(&integrity), "the way back too");
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, NULL);
  tap_ok(names(&integrity, "SIGTERM is held back"), "a signal that is held back is named");
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  signal(SIGTERM, SIG_IGN);
  tap_ok(names(&integrity, "what SIGTERM does"), "one that is ignored too");
  signal(SIGTERM, SIG_DFL);
  tap_ok(is_silent(&integrity), "all is as it was");
  free(home);
}

static void children_are_watched(void) {
  eb_integrity integrity;
  eb_integrity_open(&integrity);
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  tap_ok(names(&integrity, "child process"), "a child that runs is named");
  kill(child, SIGKILL);
  usleep(20000);
  tap_ok(names(&integrity, "child process"), "one that nobody waited for too");
  waitpid(child, NULL, 0);
  tap_ok(is_silent(&integrity), "one that was waited for is gone");
}

static void a_look_is_cheap(void) {
  enum { LOOKS = 10000 };
  eb_integrity integrity;
  char words[200];
  eb_integrity_open(&integrity);
  double began = eb_wall_seconds();
  for (int i = 0; i < LOOKS; i++) (void)eb_integrity_process(&integrity, words, sizeof words);
  double each = (eb_wall_seconds() - began) / LOOKS;
  printf("# %.2f us a look\n", 1e6 * each);
  tap_below(each, 50e-6, "a look takes microseconds, with room for a slow machine");
}

int main(void) {
  scratch_open();
  the_state_keeps_its_shape();
  descriptors_are_watched();
  input_is_watched();
  folder_and_signals_are_watched();
  children_are_watched();
  a_look_is_cheap();
  return scratch_close();
}
