/* The page of progress that a case shares with its parent, and the words that it leaves there. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/case/job.h"
#include "harness/case/crash_record.h"
#include "harness/case/launch.h"
#include "problems/ranks/communicator.h"

/* Maps the file of a page, or plain memory when it is none. */
static eb_error map_page(int shared, eb_progress_page **out) {
  struct stat info;
  bool fits = fstat(shared, &info) == 0 && info.st_size == sizeof **out;
  if (!fits) shared = -1;
  int flags = shared < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void *memory = mmap(NULL, sizeof **out, PROT_READ | PROT_WRITE, flags, shared, 0);
  *out = memory == MAP_FAILED ? NULL : memory;
  return *out ? EB_OK : EB_ERROR(EB_ERR_IO, "cannot share memory: %s", strerror(errno));
}

/* The page of a parent on this host that has started ranks (child.h), or plain memory. */
static eb_error find_page(eb_progress_page **out) {
  const char *where = getenv(EB_PAGE_VARIABLE);
  char path[64];
  uint64_t token;
  bool told = where && sscanf(where, "%63s %" SCNx64, path, &token) == 2;
  int file = told ? open(path, O_RDWR | O_CLOEXEC) : -1;
  eb_error error = map_page(file, out);
  if (file >= 0) close(file);
  if (error || (told && (*out)->token == token)) return error;
  munmap(*out, sizeof **out);
  return map_page(-1, out);
}

eb_error eb_job_open_page(eb_job *j) {
  if (!j->ranks) return map_page(EB_CHILD_BOARD, &j->page);
  return eb_ranks_self(j->ranks) == 0 ? find_page(&j->page) : map_page(-1, &j->page);
}

void eb_job_say(eb_progress_page *page, const char *words) {
  if (!*page->words) snprintf(page->words, sizeof page->words, "%s", words);
}

void eb_job_tell_parent(eb_job *j, eb_error error) {
  eb_progress_page *page = j->page;
  if (eb_ranks_self(j->ranks) > 0) {
    eb_error closed = find_page(&page);
    eb_error_free(closed);
    if (closed) return;
  }
  if (!page->trouble) page->trouble = (int)eb_error_kind(error);
  eb_job_say(page, eb_error_message(error));
  if (eb_ranks_count(j->ranks) > 1) MPI_Abort(eb_ranks_communicator(j->ranks), EB_EXIT_HARNESS);
}
