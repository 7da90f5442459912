#include "harness/history/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problems/base/memory.h"

/* ---- files ----------------------------------------------------------------------------------- */

static int is_record(const struct dirent *entry) {
  size_t length = strlen(entry->d_name);
  return entry->d_name[0] != '.' && length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

static eb_error read_all(const char *folder, struct dirent **files, int count, eb_history *out) {
  EB_TRY(EB_NEW(out->records, count));
  for (int i = 0; i < count; i++) {
    char *path = NULL;
    EB_TRY(eb_string_format(&path, "%s/%s", folder, files[i]->d_name));
    eb_error refused = eb_history_record_read(path, &out->records[out->count]);
    out->count += refused == EB_OK;
    eb_error error = refused ? eb_strings_add(&out->refused, eb_error_message(refused)) : EB_OK;
    eb_error_free(refused);
    free(path);
    EB_TRY(error);
  }
  return EB_OK;
}

/* ---- git ------------------------------------------------------------------------------------- */

/* The child that lists a repository's commits, or -1. */
static pid_t start_git(const char *folder, int *from) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  pid_t child = fork();
  if (child == 0) {
    int nowhere = open("/dev/null", O_WRONLY);
    if (dup2(ends[1], STDOUT_FILENO) >= 0 && dup2(nowhere, STDERR_FILENO) >= 0) {
      close(ends[0]);
      execlp("git", "git", "-C", folder, "rev-list", "--topo-order", "--reverse", "HEAD",
             (char *)NULL);
    }
    _exit(127);
  }
  close(ends[1]);
  *from = ends[0];
  if (child < 0) close(ends[0]);
  return child;
}

/* The number of every record's commit among those of the repository, from 1; 0: it has none such.
 * False where there is no repository. */
static bool number_commits(const char *folder, const eb_history *history, int *numbers) {
  char line[128];
  int from, status = -1, number = 0;
  pid_t child = start_git(folder, &from);
  FILE *lines = child > 0 ? fdopen(from, "r") : NULL;
  while (lines && fgets(line, sizeof line, lines)) {
    number++;
    for (int i = 0; i < history->count; i++) {
      const char *commit = history->records[i].commit;
      if (strncmp(line, commit, strlen(commit)) == 0) numbers[i] = number;
    }
  }
  if (lines)
    fclose(lines);
  else if (child > 0)
    close(from);
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return child > 0 && status == 0;
}

/* ---- order ----------------------------------------------------------------------------------- */

typedef struct place {
  int number; /* in the repository; 0: unknown */
  eb_history_record record;
} place;

/* Known commits by number, before the unknown ones, which are by date. */
static int by_number(const void *a, const void *b) {
  const place *left = a, *right = b;
  if ((left->number > 0) != (right->number > 0)) return left->number > 0 ? -1 : 1;
  if (left->number != right->number) return left->number < right->number ? -1 : 1;
  int date = strcmp(left->record.date, right->record.date);
  return date ? date : strcmp(left->record.commit, right->record.commit);
}

/* The known ones keep their order; an unknown one stands before the first that is younger. */
static void interleave(const place *places, int count, eb_history_record *out) {
  int known = 0, unknown;
  while (known < count && places[known].number > 0) known++;
  unknown = known;
  for (int k = 0, n = 0; n < count; n++) {
    bool older = unknown < count &&
                 (k == known || strcmp(places[unknown].record.date, places[k].record.date) < 0);
    out[n] = places[older ? unknown++ : k++].record;
  }
}

static eb_error order(const char *folder, eb_history *history) {
  int *numbers;
  place *places;
  EB_TRY(EB_NEW(numbers, history->count));
  bool known = number_commits(folder, history, numbers);
  eb_error error = EB_NEW(places, history->count);
  for (int i = 0; i < history->count && !error; i++) {
    places[i] = (place){known ? numbers[i] : 0, history->records[i]};
    history->by_git = history->by_git || places[i].number > 0;
  }
  free(numbers);
  EB_TRY(error);
  if (history->count > 1) qsort(places, (size_t)history->count, sizeof *places, by_number);
  interleave(places, history->count, history->records);
  free(places);
  return EB_OK;
}

/* ---- the store ------------------------------------------------------------------------------- */

eb_error eb_history_load(const char *folder, eb_history *out) {
  struct dirent **files = NULL;
  *out = (eb_history){0};
  int count = scandir(folder, &files, is_record, alphasort);
  if (count < 0)
    return EB_ERROR(
        EB_ERR_IO,
        "cannot read the history in '%s': %s; `make bench` and `elastobench history add` "
        "write records, and --store names another folder",
        folder, strerror(errno));
  eb_error error = read_all(folder, files, count, out);
  for (int i = 0; i < count; i++) free(files[i]);
  free(files);
  return error ? error : order(folder, out);
}

void eb_history_clear(eb_history *history) {
  for (int i = 0; i < history->count; i++) eb_history_record_clear(&history->records[i]);
  free(history->records);
  eb_strings_clear(&history->refused);
  *history = (eb_history){0};
}
