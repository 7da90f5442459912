#include "harness/case/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/results/read.h"

/* Whole, since chunks are checked as they are read; what is too large for the memory is left
 * out. */
static bool read_dataset(hid_t dataset) {
  hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  hssize_t count = H5Sget_simple_extent_npoints(space);
  size_t size = H5Tget_size(type);
  bool good = space >= 0 && type >= 0 && count >= 0;
  void *room = good && count > 0 ? malloc((size_t)count * size) : NULL;
  if (room) good = H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, room) >= 0;
  free(room);
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  return good;
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *link, void *nothing) {
  (void)link;
  (void)nothing;
  hid_t object = H5Oopen(group, name, H5P_DEFAULT);
  if (object < 0) return -1;
  bool good = H5Iget_type(object) != H5I_DATASET || read_dataset(object);
  H5Oclose(object);
  return good ? 0 : -1;
}

static bool read_all(const char *path) {
  eb_results *results;
  if (eb_results_open(path, &results)) return false;
  return H5Lvisit(eb_results_file(results), H5_INDEX_NAME, H5_ITER_NATIVE, visit, NULL) >= 0;
}

bool eb_trial_read(const char *path) {
  enum { PATIENCE = 300 /* s */ };
  int status;
  if (access(path, R_OK)) return false;
  pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(PATIENCE);
    _exit(read_all(path) ? 0 : 1);
  }
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
