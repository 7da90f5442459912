/* Starting a program, and frames over a socket: 4 bytes of kind, 4 of the text's length, 8 of the
 * body's, the text, the body; numbers are little-endian, as is this machine.
 *
 * The socket does not block. Whoever waits for it reads meanwhile what the program prints, so that
 * a program that prints more than a pipe holds does not hang; and a program that writes before it
 * has read all it was sent finds us still sending, not reading: it is to read first. */
#include "solvers/external/program.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problems/base/clock.h"
#include "problems/base/text.h"

/* ---- what it prints -------------------------------------------------------------------------- */

/* Keeps the last bytes, and passes all on. */
static void listen_to(eb_program *program) {
  enum { KEPT = EB_PROGRAM_WORDS - 1, MOST_READS = 256 };
  char bytes[512];
  for (int i = 0; i < MOST_READS && program->prints >= 0; i++) {
    ssize_t got = read(program->prints, bytes, sizeof bytes);
    if (got < 0) return;
    if (got == 0) {
      close(program->prints);
      program->prints = -1;
      return;
    }
    size_t size = (size_t)got,
           over = program->length + size > KEPT ? program->length + size - KEPT : 0;
    memmove(program->words, program->words + over, program->length - over);
    program->length -= over;
    memcpy(program->words + program->length, bytes, size);
    program->length += size;
    program->words[program->length] = '\0';
    if (write(STDERR_FILENO, bytes, size) < 0) return;
  }
}

/* ---- how it ended ---------------------------------------------------------------------------- */

/* Whether it has ended; waits for that so long. */
static bool has_ended(eb_program *program, int milliseconds, int *status) {
  for (int i = 0; program->pid > 0; i++) {
    pid_t got = waitpid(program->pid, status, WNOHANG);
    if (got == program->pid || (got < 0 && errno != EINTR)) {
      program->pid = 0;
      return true;
    }
    if (i >= milliseconds) return false;
    poll(NULL, 0, 1);
  }
  return true;
}

/* The end of what it has printed. */
static const char *last_words(eb_program *program) {
  enum { LAST_WORDS = 300 };
  listen_to(program);
  while (program->length > 0 && program->words[program->length - 1] == '\n')
    program->words[--program->length] = '\0';
  return program->words + (program->length > LAST_WORDS ? program->length - LAST_WORDS : 0);
}

/* The socket is closed at its end: says why, with its last words. */
static eb_error explain_end(eb_program *program) {
  enum { PATIENCE = 500 /* ms */ };
  int status = 0;
  char how[100] = "has closed its socket";
  bool knew = program->pid == 0;
  if (knew) {
    snprintf(how, sizeof how, "has ended before");
  } else if (has_ended(program, PATIENCE, &status)) {
    if (WIFSIGNALED(status))
      snprintf(how, sizeof how, "was ended by signal %d (%s)", WTERMSIG(status),
               strsignal(WTERMSIG(status)));
    else
      snprintf(how, sizeof how, "has ended with exit status %d", WEXITSTATUS(status));
  }
  const char *words = last_words(program);
  return EB_ERROR(EB_ERR_IO, "the program %s%s%s", how, *words ? "; it printed: " : "", words);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Between fork and exec: only calls that are safe there. */
static _Noreturn void become(pid_t parent, const char *line, int link, int scene, int print) {
  sigset_t none;
  sigemptyset(&none);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127); /* it died before the line above */
  int input = open("/dev/null", O_RDONLY);
  /* Away from the numbers they are to get, so that no dup2 overwrites another's source. */
  int link_high = fcntl(link, F_DUPFD_CLOEXEC, 10);
  int scene_high = fcntl(scene, F_DUPFD_CLOEXEC, 10);
  int print_high = fcntl(print, F_DUPFD_CLOEXEC, 10);
  if (dup2(input, 0) < 0 || dup2(print_high, 1) < 0 || dup2(print_high, 2) < 0 ||
      dup2(link_high, EB_PROGRAM_SOCKET) < 0 || dup2(scene_high, EB_PROGRAM_SCENE) < 0)
    _exit(127);
  close_range(EB_PROGRAM_SCENE + 1, ~0U, 0); /* nothing of the harness's */
  sigprocmask(SIG_SETMASK, &none, NULL);
  execl("/bin/sh", "sh", "-c", line, (char *)NULL);
  _exit(127);
}

eb_error eb_program_start(const char *command, int scene, eb_program *out) {
  int link[2], prints[2];
  eb_text line = {0};
  *out = (eb_program){.socket = -1, .prints = -1};
  /* What it starts and leaves comes to us, and is found by who asks for our children. */
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  EB_TRY(eb_text_printf(&line, "exec %s", command));
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link)) {
    eb_text_clear(&line);
    return EB_ERROR(EB_ERR_IO, "cannot make a socket: %s", strerror(errno));
  }
  out->socket = link[0];
  bool piped = pipe2(prints, O_CLOEXEC) == 0;
  if (piped) {
    out->prints = prints[0];
    fcntl(out->prints, F_SETFL, O_NONBLOCK);
    fcntl(out->socket, F_SETFL, O_NONBLOCK);
    pid_t parent = getpid();
    out->pid = fork();
    if (out->pid == 0) become(parent, line.data, link[1], scene, prints[1]);
    close(prints[1]);
  }
  close(link[1]);
  eb_text_clear(&line);
  if (piped && out->pid > 0) return EB_OK;
  eb_error error = EB_ERROR(EB_ERR_IO, "cannot start '%s': %s", command, strerror(errno));
  out->pid = 0;
  eb_program_end(out);
  return error;
}

void eb_program_end(eb_program *program) {
  enum { PATIENCE = 1000 /* ms */ };
  int status;
  if (program->socket >= 0) close(program->socket);
  program->socket = -1;
  if (program->pid > 0 && !has_ended(program, PATIENCE, &status)) {
    kill(program->pid, SIGKILL);
    waitpid(program->pid, &status, 0);
    program->pid = 0;
  }
  listen_to(program);
  if (program->prints >= 0) close(program->prints);
  program->prints = -1;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Until the socket is ready for `events`, or for so long; negative: however long that takes. */
static void wait_for(eb_program *program, short events, int milliseconds) {
  struct pollfd files[] = {{program->socket, events, 0}, {program->prints, POLLIN, 0}};
  if (poll(files, 2, milliseconds) > 0 && files[1].revents) listen_to(program);
}

typedef struct frame_head {
  char kind[4];
  uint32_t text;
  uint64_t body;
} frame_head;

eb_error eb_program_send(eb_program *program, const char *kind, const char *text,
                         const eb_piece *pieces, int count) {
  enum { MOST = 12 };
  struct iovec parts[MOST];
  frame_head head = {.text = (uint32_t)strlen(text)};
  memcpy(head.kind, kind, sizeof head.kind);
  parts[0] = (struct iovec){&head, sizeof head};
  parts[1] = (struct iovec){(void *)text, head.text};
  for (int i = 0; i < count && i + 2 < MOST; i++) {
    parts[i + 2] = (struct iovec){(void *)pieces[i].data, pieces[i].bytes};
    head.body += pieces[i].bytes;
  }
  for (struct msghdr rest = {.msg_iov = parts, .msg_iovlen = (size_t)count + 2};
       rest.msg_iovlen > 0;) {
    ssize_t sent = sendmsg(program->socket, &rest, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return explain_end(program);
    if (sent < 0) wait_for(program, POLLOUT, -1);
    for (size_t left = sent > 0 ? (size_t)sent : 0; rest.msg_iovlen > 0;) {
      size_t part = rest.msg_iov->iov_len < left ? rest.msg_iov->iov_len : left;
      rest.msg_iov->iov_base = (char *)rest.msg_iov->iov_base + part;
      rest.msg_iov->iov_len -= part;
      left -= part;
      if (rest.msg_iov->iov_len > 0) break;
      rest.msg_iov++;
      rest.msg_iovlen--;
    }
  }
  return EB_OK;
}

static eb_error late(eb_program *program) {
  const char *words = last_words(program);
  return EB_ERROR(EB_ERR_LIMIT, "the program runs, but has sent no whole frame within %g s%s%s",
                  program->limit, *words ? "; it printed: " : "", words);
}

/* Waits for more of a frame that is due at `due`, on the clock of eb_wall_seconds. */
static eb_error wait_for_more(eb_program *program, double due) {
  enum { MOST = 1000000 /* ms, so that any limit fits */ };
  double left = 1e3 * (due - eb_wall_seconds());
  if (program->limit > 0 && left <= 0) return late(program);
  /* Rounded up: it is not to be asked again and again in the last millisecond. */
  wait_for(program, POLLIN, program->limit > 0 ? 1 + (int)fmin(left, MOST) : -1);
  return EB_OK;
}

static eb_error read_all(eb_program *program, double due, void *to, size_t bytes) {
  for (char *at = to; bytes > 0;) {
    ssize_t got = recv(program->socket, at, bytes, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return explain_end(program);
    if (got < 0) {
      EB_TRY(wait_for_more(program, due));
      continue;
    }
    at += got;
    bytes -= (size_t)got;
  }
  return EB_OK;
}

eb_error eb_program_receive(eb_program *program, eb_frame_in *frame) {
  frame_head head;
  double due = eb_wall_seconds() + program->limit;
  EB_TRY(read_all(program, due, &head, sizeof head));
  memcpy(frame->kind, head.kind, sizeof head.kind);
  for (int i = 0; i < 4; i++)
    if (frame->kind[i] < 'A' || frame->kind[i] > 'Z')
      return EB_ERROR(EB_ERR_FORMAT, "what the program sends is no frame of the protocol: its kind "
                                     "is not four capital letters");
  if (head.text > EB_FRAME_TEXT || head.body > sizeof(double) * frame->capacity ||
      head.body % sizeof(double))
    return EB_ERROR(EB_ERR_FORMAT,
                    "the program announces a frame %s of %u bytes of text and %llu of numbers; at "
                    "most %d and %zu are expected here",
                    frame->kind, head.text, (unsigned long long)head.body, EB_FRAME_TEXT,
                    sizeof(double) * frame->capacity);
  EB_TRY(read_all(program, due, frame->text, head.text));
  frame->text[head.text] = '\0';
  if (strlen(frame->text) != head.text)
    return EB_ERROR(EB_ERR_FORMAT, "the text of the program's frame %s has bytes of value 0",
                    frame->kind);
  frame->body_count = head.body / sizeof(double);
  return read_all(program, due, frame->body, head.body);
}
