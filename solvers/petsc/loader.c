/* The way to what is built on PETSc and SLEPc, which is loaded when it is first used.
 *
 * PETSc brings seventy shared libraries, and loading them takes longer than all else that a start
 * of the program does. So the files that include solvers/petsc/session.h go into a shared object of
 * their own, libelastobench-petsc.so, with copies of what they need of the rest: nothing here holds
 * a state, so that two copies of a function are as good as one. The functions below have the names
 * of those in it and call them.
 *
 * The object lies beside the program or the library that this file is part of, or in ../lib of a
 * program that is in bin (installed). It is looked for nowhere else: what lies in a folder above,
 * or where a variable sends the loader, may be anybody's, and would run as this program. It is
 * never unloaded: MPI cannot be started twice. Fails: EB_ERR_LIBRARY where it is not found, or does
 * not belong to this build. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "solvers/linalg/linear_kind.h"
#include "solvers/mfem/kkt.h"
#include "solvers/subspace/eigen.h"

#define OBJECT "libelastobench-petsc.so"
enum { PATH_BYTES = 4096 };

/* ---- finding it ------------------------------------------------------------------------------ */

/* OBJECT in the folder, which ends with a slash; NULL when it is not there. */
static void *open_in(const char *folder, int length, const char *below) {
  char path[PATH_BYTES + sizeof OBJECT + 16];
  snprintf(path, sizeof path, "%.*s%s" OBJECT, length, folder, below);
  return access(path, R_OK) == 0 ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
}

/* OBJECT beside the file `from`, or where it is installed with it; a path from the working folder
 * may lead elsewhere by now. */
static void *open_near(const char *from) {
  static const char bin[] = "/bin/";
  const char *slash = strrchr(from, '/');
  if (*from != '/') return NULL;
  int length = (int)(slash + 1 - from), ending = (int)strlen(bin);
  void *handle = open_in(from, length, "");
  bool installed = length >= ending && strncmp(from + length - ending, bin, (size_t)ending) == 0;
  return handle || !installed ? handle : open_in(from, length, "../lib/");
}

static void *open_object(void) {
  char program[PATH_BYTES] = "";
  Dl_info self;
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  void *handle = length > 0 ? open_near(program) : NULL;
  return handle || !dladdr(OBJECT, &self) || !self.dli_fname ? handle : open_near(self.dli_fname);
}

/* What the object calls `name`, a pointer of whatever type. Opening it again costs a look-up by the
 * loader, which counts. */
static eb_error find(const char *name, void *out) {
  void *handle = open_object(), *found = handle ? dlsym(handle, name) : NULL;
  memcpy(out, &found, sizeof found);
  const char *why = handle ? NULL : dlerror();
  if (!handle)
    return EB_ERROR(EB_ERR_LIBRARY,
                    "cannot load what is built on PETSc (%s); install PETSc and SLEPc (make deps) "
                    "and keep " OBJECT " beside the program",
                    why ? why : "there is no " OBJECT);
  return found ? EB_OK
               : EB_ERROR(EB_ERR_LIBRARY, OBJECT " has no %s: it is of another build; make it anew",
                          name);
}

/* ---- what is in it --------------------------------------------------------------------------- */

static eb_error load_linear(const eb_linear_kind **out) {
  return find("eb_linear_petsc", out);
}

const eb_linear_kind eb_linear_petsc = {.name = "petsc", .load = load_linear};

eb_error eb_lowest_eigenpairs(const eb_eigenproblem *problem, eb_step_log *log,
                              eb_eigenpairs *out) {
  eb_error (*call)(const eb_eigenproblem *, eb_step_log *, eb_eigenpairs *);
  *out = (eb_eigenpairs){0};
  EB_TRY(find("eb_lowest_eigenpairs", &call));
  return call(problem, log, out);
}

eb_error eb_kkt_create(const eb_scene *scene, eb_kkt **out) {
  eb_error (*call)(const eb_scene *, eb_kkt **);
  EB_TRY(find("eb_kkt_create", &call));
  return call(scene, out);
}

eb_error eb_kkt_solve(eb_kkt *kkt, const eb_kkt_iteration *iteration, eb_step_log *log,
                      eb_reason *reason) {
  eb_error (*call)(eb_kkt *, const eb_kkt_iteration *, eb_step_log *, eb_reason *);
  EB_TRY(find("eb_kkt_solve", &call));
  return call(kkt, iteration, log, reason);
}

void eb_kkt_destroy(eb_kkt *kkt) {
  void (*call)(eb_kkt *);
  if (!kkt) return;
  eb_error error = find("eb_kkt_destroy", &call);
  if (!error) call(kkt);
  eb_error_free(error); /* who made it was found once */
}
