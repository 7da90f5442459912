/* A program of the user's that a solver talks to: started by a command, with one end of a socket,
 * and ended with the solver. Frames go both ways (README.md in this folder has the protocol).
 *
 * What it prints is kept for messages and passed on to our error stream; nothing it prints enters
 * the protocol, nor does anything of ours enter its streams. */
#ifndef EB_EXTERNAL_PROGRAM_H
#define EB_EXTERNAL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "problems/base/error.h"

enum {
  EB_FRAME_TEXT = 1 << 16,   /* bytes of text in a frame, at most */
  EB_PROGRAM_WORDS = 1 << 11 /* bytes kept of what the program prints */
};

/* Descriptors that the program finds open. */
enum { EB_PROGRAM_SOCKET = 3, EB_PROGRAM_SCENE = 4 };

typedef struct eb_program {
  pid_t pid;  /* 0: it has ended and was waited for */
  int socket; /* -1: closed */
  int prints; /* our end of the pipe that it prints into; -1: it has closed it */
  char words[EB_PROGRAM_WORDS];
  size_t length; /* of words */
  double limit;  /* s that a frame may take to come; 0: no limit */
} eb_program;

/* Bytes of a frame's body. */
typedef struct eb_piece {
  const void *data;
  size_t bytes;
} eb_piece;

/* A frame that has come; the buffers are the caller's and hold it until the next one. */
typedef struct eb_frame_in {
  char kind[5];                 /* "DONE", ended by a zero */
  char text[EB_FRAME_TEXT + 1]; /* ended by a zero, without any in it */
  double *body;
  size_t capacity;   /* of body, numbers */
  size_t body_count; /* numbers that have come */
} eb_frame_in;

/* Starts `/bin/sh -c "exec COMMAND"` with the socket and `scene` as descriptors 3 and 4. */
EB_MUST eb_error eb_program_start(const char *command, int scene, eb_program *out);
/* Closes the socket, which asks it to end, and kills it when it does not within a second. */
void eb_program_end(eb_program *program);

/* One frame. EB_ERR_IO: it has ended or closed its socket, and how, with the last words it has
 * printed. */
EB_MUST eb_error eb_program_send(eb_program *program, const char *kind, const char *text,
                                 const eb_piece *pieces, int count);
/* The next frame. EB_ERR_FORMAT too: what comes is none, or is longer than the buffers;
 * EB_ERR_LIMIT: it has not come within program->limit. */
EB_MUST eb_error eb_program_receive(eb_program *program, eb_frame_in *frame);

#endif
