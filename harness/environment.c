#include "harness/environment.h"

#include <cblas.h>
#include <cholmod.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <metis.h>
#include <petscversion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "build_info.h"
#include "harness/case/cost.h"
#include "harness/plugin.h"
#include "harness/results/write.h"
#include "problems/base/text.h"
#include "solvers/linalg/dense.h"

const char eb_build_flags[] = EB_FLAGS;

/* Those that processors of some ten years lack, and those that a build for one machine may use. */
const char *const eb_build_features[] = {
#ifdef __SSE4_2__
    "sse4_2",
#endif
#ifdef __AVX__
    "avx",
#endif
#ifdef __AVX2__
    "avx2",
#endif
#ifdef __FMA__
    "fma",
#endif
#ifdef __BMI2__
    "bmi2",
#endif
#ifdef __AVX512F__
    "avx512f",
#endif
#ifdef __AVX512VL__
    "avx512vl",
#endif
    NULL};

eb_error eb_version_text(char **out) {
  *out = NULL;
  return eb_string_format(out, "%s (commit %s%s)\n%s\n%s", EB_VERSION, EB_COMMIT,
                          EB_DIRTY ? ", with local changes" : "", EB_COMPILER, EB_FLAGS);
}

eb_error eb_command_line(int argc, char *const *argv, char **out) {
  eb_error error = EB_OK;
  *out = NULL;
  for (int i = 0; i < argc && !error; i++) {
    bool plain = *argv[i] && !strpbrk(argv[i], " \t\n\"'`$\\|&;<>()*?[]{}~#!");
    const char *quote = plain ? "" : "'";
    error =
        eb_string_format(out, "%s%s%s%s%s", *out ? *out : "", i ? " " : "", quote, argv[i], quote);
  }
  return error;
}

/* ---- the machine ----------------------------------------------------------------------------- */

/* The value behind the first "key ... : value" of a file such as /proc/cpuinfo; "" when there is
 * none. */
static void first_value(const char *path, const char *key, char *out, size_t bytes) {
  char line[512];
  out[0] = '\0';
  FILE *file = fopen(path, "r");
  if (!file) return;
  while (fgets(line, sizeof line, file)) {
    char *colon = strchr(line, ':');
    if (!colon || strncmp(line, key, strlen(key)) != 0) continue;
    colon += 1 + strspn(colon + 1, " \t");
    colon[strcspn(colon, "\n")] = '\0';
    snprintf(out, bytes, "%s", colon);
    break;
  }
  fclose(file);
}

static double limit_in(const char *path) {
  double bytes = INFINITY;
  FILE *file = fopen(path, "r");
  if (!file) return INFINITY;
  if (fscanf(file, "%lf", &bytes) != 1) bytes = INFINITY;
  fclose(file);
  return bytes;
}

double eb_machine_memory(void) {
  double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  memory = fmin(memory, limit_in("/sys/fs/cgroup/memory.max"));
  return fmin(memory, limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
}

void eb_host_describe(eb_host *out) {
  struct utsname system;
  *out = (eb_host){.cores = (int)sysconf(_SC_NPROCESSORS_ONLN),
                   .compiler = EB_COMPILER,
                   .flags = EB_FLAGS,
                   .commit = EB_COMMIT,
                   .commit_date = EB_COMMIT_DATE,
                   .dirty = EB_DIRTY};
  uname(&system);
  snprintf(out->name, sizeof out->name, "%s", system.nodename);
  first_value("/proc/cpuinfo", "model name", out->cpu, sizeof out->cpu);
  if (!*out->cpu) snprintf(out->cpu, sizeof out->cpu, "%s", system.machine);
}

/* What it is, and what was going on when the run began. */
static eb_error put_machine(hid_t group) {
  char cpu[256], flags[4096], started[32];
  struct utsname system;
  double load[3] = {0};
  first_value("/proc/cpuinfo", "model name", cpu, sizeof cpu);
  first_value("/proc/cpuinfo", "flags", flags, sizeof flags);
  uname(&system);
  EB_TRY(eb_h5_put_text(group, "cpu", *cpu ? cpu : system.machine));
  EB_TRY(eb_h5_put_int(group, "cores", sysconf(_SC_NPROCESSORS_ONLN)));
  EB_TRY(eb_h5_put_text(group, "avx512", strstr(flags, "avx512f") ? "yes" : "no"));
  EB_TRY(eb_h5_put_text(group, "virtual_machine", strstr(flags, " hypervisor") ? "yes" : "no"));
  EB_TRY(eb_h5_put_real(group, "memory_bytes", eb_machine_memory()));
  EB_TRY(eb_h5_put_text(group, "host", system.nodename));
  EB_TRY(eb_h5_put_text(group, "kernel", system.release));
  int stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
  double steal = eb_steal_seconds(stat);
  if (stat >= 0) close(stat);
  eb_time_text(started);
  if (getloadavg(load, 3) < 1) load[0] = NAN;
  EB_TRY(eb_h5_put_text(group, "started", started));
  EB_TRY(eb_h5_put_real(group, "load_average", load[0]));
  return eb_h5_put_real(group, "steal_seconds_since_boot", steal);
}

void eb_time_text(char out[32]) {
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* ---- the build ------------------------------------------------------------------------------- */

static eb_error put_build(hid_t group) {
  eb_digest digest;
  char text[EB_DIGEST_TEXT_BYTES];
  EB_TRY(eb_digest_file("/proc/self/exe", &digest));
  eb_digest_print(digest, text);
  EB_TRY(eb_h5_put_text(group, "version", EB_VERSION));
  EB_TRY(eb_h5_put_text(group, "commit", EB_COMMIT));
  EB_TRY(eb_h5_put_text(group, "commit_date", EB_COMMIT_DATE));
  EB_TRY(eb_h5_put_int(group, "dirty", EB_DIRTY));
  EB_TRY(eb_h5_put_text(group, "program_hash", text));
  EB_TRY(eb_h5_put_text(group, "compiler", EB_COMPILER));
  return eb_h5_put_text(group, "flags", EB_FLAGS);
}

/* An OpenBLAS that is older than the processor does not know it and takes kernels of 2004
 * (Prescott), at a third of the speed. Those of Haswell run wherever this program does where it is
 * built for AVX2. */
static const char every_avx2[] = "Haswell";

static bool blas_is_behind(void) {
#ifdef __AVX2__
  static const char *const kernels[] = {"Haswell",  "Zen",        "Excavator",
                                        "SkylakeX", "Cooperlake", "Sapphirerapids"};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    if (strcasecmp(openblas_get_corename(), kernels[i]) == 0) return false;
  return true;
#else
  return false;
#endif
}

/* As the cases' processes have them. */
static const char *blas_kernels(void) {
  return blas_is_behind() && !getenv("OPENBLAS_CORETYPE") ? every_avx2 : openblas_get_corename();
}

static eb_error put_version(hid_t group, const char *name, int major, int minor, int patch) {
  char text[48];
  snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
  return eb_h5_put_text(group, name, text);
}

static eb_error put_libraries(hid_t group) {
  unsigned major = 0, minor = 0, release = 0;
  int cholmod[3];
  H5get_libversion(&major, &minor, &release);
  cholmod_version(cholmod);
  EB_TRY(put_version(group, "hdf5", (int)major, (int)minor, (int)release));
  EB_TRY(put_version(group, "cholmod", cholmod[0], cholmod[1], cholmod[2]));
  EB_TRY(put_version(group, "metis", METIS_VER_MAJOR, METIS_VER_MINOR, METIS_VER_SUBMINOR));
  EB_TRY(put_version(group, "petsc", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
                     PETSC_VERSION_SUBMINOR));
  EB_TRY(eb_h5_put_text(group, "blas", openblas_get_config()));
  EB_TRY(eb_h5_put_text(group, "blas_kernels", blas_kernels()));
  EB_TRY(eb_h5_put_text(group, "dense_kernels", eb_dense_kernels()));
  EB_TRY(eb_h5_put_text(group, "jansson", JANSSON_VERSION));
  return eb_h5_put_text(group, "libc", gnu_get_libc_version());
}

/* ---- settings of the cases' processes -------------------------------------------------------- */

static eb_error set_unless_given(eb_strings *out, const char *name, const char *value) {
  char text[128];
  if (getenv(name)) return EB_OK;
  snprintf(text, sizeof text, "%s=%s", name, value);
  return eb_strings_add(out, text);
}

eb_error eb_environment_settings(int threads, eb_strings *out) {
  char text[64];
  snprintf(text, sizeof text, "OMP_NUM_THREADS=%d", threads);
  EB_TRY(eb_strings_add(out, text));
  EB_TRY(eb_strings_add(out, "OPENBLAS_NUM_THREADS=1"));
  EB_TRY(eb_strings_add(out, "OMP_DYNAMIC=false"));
  if (blas_is_behind()) EB_TRY(set_unless_given(out, "OPENBLAS_CORETYPE", every_avx2));
  EB_TRY(set_unless_given(out, "OMP_PROC_BIND", "false"));
  /* LLVM's runtime takes the policy for the kind of waiting, and spins for 200 ms all the same. */
  if (!getenv("OMP_WAIT_POLICY")) EB_TRY(set_unless_given(out, "KMP_BLOCKTIME", "0"));
  if (!getenv("GOMP_SPINCOUNT")) EB_TRY(set_unless_given(out, "OMP_WAIT_POLICY", "passive"));
  /* A plug-in that uses MPI by itself shall not leave Open MPI's daemon beside the case. */
  EB_TRY(set_unless_given(out, "OMPI_MCA_ess_singleton_isolated", "true"));
  return set_unless_given(out, "HDF5_USE_FILE_LOCKING", "FALSE");
}

extern char **environ;

/* The variables of the user's that change how threads run. */
static eb_error variables_text(char **out) {
  static const char *const prefixes[] = {"OMP_",  "GOMP_", "KMP_",  "OPENBLAS_",
                                         "GOTO_", "MKL_",  "PETSC_"};
  *out = NULL;
  eb_error error = eb_string_format(out, "%s", "");
  for (char **entry = environ; *entry; entry++)
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && !error; i++)
      if (strncmp(*entry, prefixes[i], strlen(prefixes[i])) == 0)
        error = eb_string_format(out, "%s%s%s", *out, **out ? " " : "", *entry);
  return error;
}

static eb_error put_threads(hid_t group) {
  eb_strings settings = {0};
  char *variables, text[512];
  eb_error error = variables_text(&variables);
  if (!error) error = eb_h5_put_text(group, "variables", variables);
  free(variables);
  /* What the cases' processes get on top, but for their number of threads. */
  if (!error) error = eb_environment_settings(1, &settings);
  if (!error) {
    eb_text_join(text, sizeof text, (const char *const *)settings.items + 1,
                 (size_t)settings.count - 1, " ");
    error = eb_h5_put_text(group, "case_settings", text);
  }
  eb_strings_clear(&settings);
  return error;
}

eb_error eb_environment_facts(char **out) {
  char cpu[256], *variables;
  *out = NULL;
  first_value("/proc/cpuinfo", "model name", cpu, sizeof cpu);
  eb_error error = variables_text(&variables);
  if (!error)
    error =
        eb_string_format(out, "%s\n%ld\n%s %d %s %s\n%s %s %s\n%s", cpu,
                         sysconf(_SC_NPROCESSORS_ONLN), EB_COMMIT, EB_DIRTY, EB_COMPILER, EB_FLAGS,
                         openblas_get_config(), blas_kernels(), eb_dense_kernels(), variables);
  free(variables);
  return error;
}

static eb_error put_all(hid_t group, const char *command_line, const eb_rates *rates) {
  EB_TRY(put_machine(group));
  EB_TRY(put_build(group));
  EB_TRY(put_libraries(group));
  EB_TRY(put_threads(group));
  EB_TRY(eb_h5_put_int(group, "blas_threads", 1));
  EB_TRY(eb_h5_put_real(group, "dgemm_flop_per_second", rates->dgemm));
  EB_TRY(eb_h5_put_real(group, "triad_byte_per_second", rates->triad));
  EB_TRY(eb_h5_put_text(group, "rates_measured_at", rates->measured_at));
  EB_TRY(eb_h5_put_int(group, "rate_threads", rates->threads));
  EB_TRY(eb_h5_put_real(group, "dgemm_all_flop_per_second", rates->dgemm_all));
  EB_TRY(eb_h5_put_real(group, "triad_all_byte_per_second", rates->triad_all));
  return eb_h5_put_text(group, "command_line", command_line);
}

static eb_error fill(hid_t file, const char *command_line, const eb_rates *rates) {
  static const char *const empty[] = {"runs", "scenes"};
  hid_t group;
  EB_TRY(eb_schema_write(file));
  for (int i = 0; i < 2; i++) {
    EB_TRY(eb_h5_group(file, empty[i], &group));
    H5Gclose(group);
  }
  EB_TRY(eb_h5_group(file, "environment", &group));
  eb_error error = put_all(group, command_line, rates);
  H5Gclose(group);
  return error;
}

eb_error eb_environment_write(const char *path, const char *command_line, const eb_rates *rates) {
  hid_t file;
  EB_TRY(eb_h5_create_file(path, &file));
  eb_error error = fill(file, command_line, rates);
  eb_error closing = eb_h5_close_file(file, path);
  if (!error) return closing;
  eb_error_free(closing);
  return error;
}
