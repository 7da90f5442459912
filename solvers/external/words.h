/* What a program says, taken apart: lines "key value" of its frames HELO and DONE (README.md in
 * this folder). */
#ifndef EB_EXTERNAL_WORDS_H
#define EB_EXTERNAL_WORDS_H

#include "solvers/solver.h"

enum { EB_PROTOCOL_VERSION = 1, EB_HANDSHAKE_NAME = 100 };

/* Frame HELO: what the program is. */
typedef struct eb_handshake {
  char name[EB_HANDSHAKE_NAME]; /* with its version */
  uint32_t serves;              /* eb_capability bits */
  eb_update update;
  bool hessian; /* it may ask for Hessians */
} eb_handshake;

/* Takes the text apart in place. EB_ERR_FORMAT names what is wrong with it and what there is;
 * EB_ERR_UNSUPPORTED: another version of the protocol. */
EB_MUST eb_error eb_handshake_read(char *text, eb_handshake *out);

/* Frame DONE: what it says of a step; into the log go iterations, phases, counters, seconds and the
 * equation. *norm points into the text, "" when it names none. */
typedef struct eb_done {
  eb_reason reason;
  int64_t residuals; /* how many numbers and then seconds stand behind x and v */
  int64_t contacts;  /* how many stand behind those */
  const char *norm;
} eb_done;
EB_MUST eb_error eb_done_read(char *text, eb_step_log *log, eb_done *out);

/* Frame EVAL: what it wants to know of positions. */
typedef struct eb_wanted {
  bool energy, gradient, hessian, project;
  double mass_scale, hessian_scale;
} eb_wanted;
EB_MUST eb_error eb_wanted_read(char *text, eb_wanted *out);

#endif
