#include "harness/suite/trust.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/strings.h"

static const char
    petsc[] = "petsc",
    remedy[] = "; --allow-external lets files do that, if you trust them as you do a program";

/* ---- options of PETSc ------------------------------------------------------------------------ */

/* What a name has from its last ksp_, pc_ or mat_ on, behind the prefixes of inner solvers
 * (mg_levels_, sub_): all of it or, of those that end in an underscore, its beginning. */
static const char *const numerical[] = {
    "ksp_type",          "ksp_rtol",        "ksp_atol",
    "ksp_divtol",        "ksp_max_it",      "ksp_min_it",
    "ksp_norm_type",     "ksp_pc_side",     "ksp_initial_guess_nonzero",
    "ksp_gmres_restart", "ksp_cg_type",     "ksp_cg_single_reduction",
    "ksp_chebyshev_",    "ksp_richardson_", "ksp_bcgsl_",
    "pc_type",           "pc_use_amat",     "pc_factor_",
    "pc_sor_",           "pc_jacobi_",      "pc_bjacobi_",
    "pc_asm_",           "pc_gamg_",        "pc_mg_",
    "pc_fieldsplit_",    "pc_hypre_type",   "pc_hypre_boomeramg_",
    "mat_type",          "mat_solver_type", "mat_ordering_type",
    "mat_mumps_icntl_14" /* room, % */};
enum { NUMERICAL = sizeof numerical / sizeof *numerical };

/* Parts of names that print, log, draw, write or load, wherever they stand. */
static const char *const reaching[] = {"view",   "monitor", "print",  "plot",  "draw", "log",
                                       "reason", "file",    "dir",    "dump",  "save", "write",
                                       "load",   "trace",   "python", "debug", "ooc"};
enum { REACHING = sizeof reaching / sizeof *reaching };

static const char *find_last(const char *name) {
  static const char *const objects[] = {"ksp_", "pc_", "mat_"};
  const char *last = name;
  for (const char *at = name; *at; at++)
    for (int o = 0; o < 3; o++)
      if ((at == name || at[-1] == '_') && strncmp(at, objects[o], strlen(objects[o])) == 0)
        last = at;
  return last;
}

static bool is_numerical(const char *name) {
  const char *last = find_last(name);
  for (int i = 0; i < NUMERICAL; i++) {
    size_t length = strlen(numerical[i]);
    bool begins = numerical[i][length - 1] == '_';
    if (strncmp(last, numerical[i], length) == 0 && (begins ? last[length] != 0 : !last[length]))
      return true;
  }
  return false;
}

/* Whether an option, without its dash, sets a method, a tolerance or a count of a solver, a
 * preconditioner or a matrix, and the value (NULL: none) is a plain word or number. PETSc has
 * hundreds, more with every version, of which some write files, start programs and load code: only
 * what is known to be harmless is. */
static bool only_computes(const char *name, const char *value) {
  for (int i = 0; i < REACHING; i++)
    if (strstr(name, reaching[i]) || (value && strcasestr(value, reaching[i]))) return false;
  for (const char *c = name; *c; c++) /* to PETSc, -KSP_VIEW is -ksp_view */
    if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '_') return false;
  for (const char *c = value; c && *c; c++)
    if (!isalnum((unsigned char)*c) && !strchr("_.+-", *c)) return false;
  return is_numerical(name);
}

/* "-NAME [VALUE] -NAME [VALUE] ..", as solvers/linalg/petsc.c takes them apart. */
static eb_error check_petsc(const char *options) {
  eb_strings words = {0};
  eb_error error = EB_OK;
  char *copy = NULL, *rest = NULL;
  EB_TRY(eb_string_format(&copy, "%s", options));
  for (char *at = strtok_r(copy, " \t\r\n\v\f", &rest); at && !error;
       at = strtok_r(NULL, " \t\r\n\v\f", &rest))
    error = eb_strings_add(&words, at);
  for (int w = 0; w < words.count && !error; w++) {
    const char *name = words.items[w], *next = w + 1 < words.count ? words.items[w + 1] : NULL;
    bool is_name = name[0] == '-' && isalpha((unsigned char)name[1]),
         has_value = next && !(next[0] == '-' && isalpha((unsigned char)next[1]));
    if (!is_name || !only_computes(name + 1, has_value ? next : NULL))
      error = EB_ERROR(EB_ERR_USAGE, "'%s%s%s' is none of the options of PETSc that only compute%s",
                       name, has_value ? " " : "", has_value ? next : "", remedy);
    w += has_value;
  }
  eb_strings_clear(&words);
  free(copy);
  return error;
}

/* ---- solvers --------------------------------------------------------------------------------- */

static bool is_program(const eb_case *work) {
  const eb_option *first = work->solver->options;
  return first && first->name && first->type == EB_OPTION_LINE;
}

eb_error eb_trust_check(const eb_case *work, const eb_dependencies *dependencies) {
  eb_values *values;
  if (is_program(work))
    return EB_ERROR(EB_ERR_USAGE, "'%s:%s' starts a program, and is named by a file%s",
                    work->solver->name, work->options ? work->options : "", remedy);
  for (int a = 0; dependencies && a < dependencies->axis_count; a++)
    if (strcmp(dependencies->axes[a].option, petsc) == 0)
      return EB_ERROR(EB_ERR_USAGE, "a sweep over '%s' is named by a file%s", petsc, remedy);
  EB_TRY(eb_solver_options(work->solver, work->scene, work->options, &values));
  eb_error error =
      eb_values_declares(values, petsc) ? check_petsc(eb_values_text(values, petsc)) : EB_OK;
  eb_values_destroy(values);
  return error;
}
