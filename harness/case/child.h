/* A process of our own making, under a time and a memory limit.
 *
 * Over its time, the child is asked to end by its page, never by a signal: one that it meets is
 * not ours. The child writes its progress onto a page: memory that both share, which tells the
 * exact step of a crash and costs the child no system call. What it prints is caught; the end of it
 * explains crashes.
 *
 * What starts the ranks of a case (launch.h) is such a child too: memory is then that of all that
 * descends from it on this host, and ranks find the page by its path among this process's files,
 * with a token, since on another host that path may be another's. */
#ifndef EB_CHILD_H
#define EB_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "problems/base/strings.h"

enum { EB_CHILD_BOARD = 3 /* its file descriptor in the child */, EB_CHILD_OUTPUT = 2000 };

typedef enum eb_stage {
  EB_STAGE_START,
  EB_STAGE_SCENE, /* builds the scene */
  EB_STAGE_SETUP, /* sets the solver up */
  EB_STAGE_STEPS,
  EB_STAGE_CLOSING, /* is done and writes its file */
  EB_STAGE_WRITTEN  /* its file is complete: what happens now cannot spoil it */
} eb_stage;

enum { EB_PROGRESS_WORDS = 600 };

typedef struct eb_progress_page {
  uint64_t token;              /* of this page and no other */
  _Atomic int64_t step, steps; /* done, and wanted */
  _Atomic int stage;
  _Atomic int asked_to_end;  /* by the parent: the time is over */
  _Atomic double step_began; /* on the same clock as `started`; 0: no step is at work */
  double started; /* just before the process was, on the clock of eb_wall_seconds; 0: unknown */
  _Atomic int trouble; /* eb_error_code of what made the process give up; 0: nothing */
  _Atomic int helper;  /* process id of the one that works for the solver; 0: there is none */
  _Atomic int harmed;  /* a step has broken the rule of the process: its file may not say so */
  /* What went wrong, when that cannot be written into the file. */
  char words[EB_PROGRESS_WORDS];
  char unusual[EB_PROGRESS_WORDS]; /* what the user should know of the scene; "": nothing */
  uint64_t token_again;            /* as in front: whoever overwrites the page overwrites them */
} eb_progress_page;
/* Whether the page still has the token on either side. */
static inline bool eb_page_sound(const eb_progress_page *page, uint64_t token) {
  return page->token == token && page->token_again == token;
}
/* What is said where it has not, or tells what cannot be. */
#define EB_PAGE_OVERWRITTEN "the shared record of the case was overwritten"

/* Signals that end or stop a process, held back while this is open and read as a file. They end the
 * run, or stop it, unless a child or what it has started sends them: a solver has no say in the
 * cases after its own. Nobody can hold back SIGKILL and SIGSTOP. */
typedef struct eb_signals {
  int fd;
  bool interrupted;
} eb_signals;
EB_MUST eb_error eb_signals_open(eb_signals *out);
/* Whether one has arrived; reads what is pending. */
bool eb_signals_pending(eb_signals *signals);
void eb_signals_close(eb_signals *signals);

typedef struct eb_limits {
  double timeout; /* s of wall time; 0: none */
  double memory;  /* bytes of resident memory, of the helper too; 0: none */
  int ranks;      /* processes that the child starts, which share the memory; 0: it has it alone */
} eb_limits;

typedef enum eb_child_cause {
  EB_CHILD_EXITED,      /* by itself: see status */
  EB_CHILD_SIGNALED,    /* by a signal that we did not send */
  EB_CHILD_TIMED_OUT,   /* asked or made to end by us; it may still have closed its file in order */
  EB_CHILD_OVER_MEMORY, /* ended by us */
  EB_CHILD_LINGERED,    /* ended by us, long after its file was complete */
  EB_CHILD_INTERRUPTED, /* ended by us, because the user interrupted */
  EB_CHILD_NOT_STARTED  /* there was nothing to start it with: `words` says what is missing */
} eb_child_cause;

typedef struct eb_child_end {
  eb_child_cause cause;
  int status;       /* exit status, or the signal's number */
  bool exited_zero; /* it finished its work, whatever the cause that ended it */
  double seconds;   /* wall time */
  /* that a step was at work when the time limit ended the process; 0: none was */
  double step_seconds;
  double peak_memory;  /* highest resident memory seen, bytes */
  double cpu;          /* s of processor time, of the child and what it has waited for */
  int64_t step, steps; /* last progress on the page */
  eb_stage stage;
  int left;     /* processes that it has left running; they were ended */
  int sent;     /* a signal that it, or what it has started, has sent to this process; 0: none */
  bool removed; /* files that cases share, of which the next ones were given new ones; */
  int lost;     /* so many finished results among them */
  bool overwritten; /* its page: what is told of progress is from before */
  int trouble;      /* harmed and words too: from its page */
  bool harmed;
  char words[EB_PROGRESS_WORDS], unusual[EB_PROGRESS_WORDS];
  char output[EB_CHILD_OUTPUT]; /* the end of what it printed, without control characters */
} eb_child_end;

/* Called as the child reports progress, and every second or so otherwise, with what its page tells
 * so far - stage, step, steps - and the seconds since it was started. May be NULL. */
typedef void (*eb_progress)(void *context, const eb_child_end *end, double seconds);

/* Runs argv[0] with `settings` ("NAME=value") added to the environment. EB_ERR_IO when it cannot be
 * started. When this returns, neither the process is there nor any that descends from it. */
EB_MUST eb_error eb_child_run(const eb_strings *argv, const eb_strings *settings, eb_limits limits,
                              eb_signals *signals, eb_progress progress, void *context,
                              eb_child_end *end);

#endif
