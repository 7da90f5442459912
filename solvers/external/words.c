/* Every line is a key, a space and a value up to the end of the line. Unknown keys and words are
 * errors that list the valid ones: a typing error is found in the first step and not in a report.
 */
#include "solvers/external/words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/text.h"
#include "solvers/external/scene_file.h"

/* ---- lines ----------------------------------------------------------------------------------- */

/* The next line, cut into key and value in place; false at the end. */
static bool next_line(char **at, char **key, char **value) {
  while (**at == '\n') ++*at;
  if (!**at) return false;
  *key = *at;
  size_t length = strcspn(*at, "\n");
  *at += length + ((*at)[length] == '\n');
  (*key)[length] = '\0';
  *value = *key + strcspn(*key, " ");
  if (**value) *(*value)++ = '\0';
  return true;
}

/* The next word of a value, cut off in place; NULL at the end. */
static char *next_word(char **at) {
  *at += strspn(*at, " ");
  if (!**at) return NULL;
  char *word = *at;
  *at += strcspn(*at, " ");
  if (**at) *(*at)++ = '\0';
  return word;
}

static eb_error unknown_key(const char *frame, const char *key, const char *const *keys,
                            size_t count) {
  return eb_unknown(EB_ERR_FORMAT, key, keys, count, "frame %s of the program has no line", frame);
}

static eb_error read_number(const char *what, const char *text, double *out) {
  char *end = NULL;
  *out = strtod(text, &end);
  if (end != text && !*end && isfinite(*out)) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "the program says '%s' for %s, which wants a finite number", text,
                  what);
}

static eb_error read_whole(const char *what, const char *text, int64_t *out) {
  double number;
  EB_TRY(read_number(what, text, &number));
  if (number < 0 || number > 9e15 || number != floor(number))
    return EB_ERROR(EB_ERR_FORMAT, "the program says '%s' for %s, which wants a whole number", text,
                    what);
  *out = (int64_t)number;
  return EB_OK;
}

/* The place of a word among names; EB_ERR_FORMAT lists them. */
static eb_error find_word(const char *what, const char *word, const char *const *names, int count,
                          int *out) {
  for (*out = 0; *out < count; ++*out)
    if (strcmp(names[*out], word) == 0) return EB_OK;
  return eb_unknown(EB_ERR_FORMAT, word, names, (size_t)count,
                    "the program says a %s that is none:", what);
}

/* ---- HELO ------------------------------------------------------------------------------------ */

static eb_error read_serves(char *value, uint32_t *serves) {
  const char *names[32];
  uint32_t bits[32];
  int count = 0, which;
  for (uint32_t bit = 1; bit; bit <<= 1) {
    const char *name = eb_scene_file_need(bit);
    if (!name) continue;
    names[count] = name;
    bits[count++] = bit;
  }
  for (char *word; (word = next_word(&value));) {
    EB_TRY(find_word("capability", word, names, count, &which));
    *serves |= bits[which];
  }
  return EB_OK;
}

static eb_error read_protocol(const char *value) {
  if (atoi(value) == EB_PROTOCOL_VERSION) return EB_OK;
  return EB_ERROR(EB_ERR_UNSUPPORTED,
                  "the program speaks version '%s' of the protocol, this build version %d: take "
                  "the client that was installed with it",
                  value, EB_PROTOCOL_VERSION);
}

static eb_error read_hello_line(const char *key, char *value, eb_handshake *out, bool *versioned) {
  static const char *const keys[] = {"protocol", "name", "serves", "update", "hessian"};
  static const char *const updates[EB_UPDATES] = {[EB_UPDATE_END_VELOCITY] = "end-velocity",
                                                  [EB_UPDATE_MEAN_VELOCITY] = "mean-velocity",
                                                  [EB_UPDATE_SUBSTEPS] = "substeps",
                                                  [EB_UPDATE_CORRECTED] = "corrected",
                                                  [EB_UPDATE_LATE_FORCE] = "late-force"};
  int which;
  if (strcmp(key, "protocol") == 0) {
    *versioned = true;
    return read_protocol(value);
  }
  if (strcmp(key, "serves") == 0) return read_serves(value, &out->serves);
  if (strcmp(key, "name") == 0) {
    snprintf(out->name, sizeof out->name, "%s", value);
    eb_text_clean(out->name);
    return EB_OK;
  }
  if (strcmp(key, "update") == 0) {
    EB_TRY(find_word("rule of update", value, updates, EB_UPDATES, &which));
    out->update = (eb_update)which;
    return EB_OK;
  }
  if (strcmp(key, "hessian") != 0)
    return unknown_key("HELO", key, keys, sizeof keys / sizeof *keys);
  out->hessian = strcmp(value, "yes") == 0;
  return EB_OK;
}

eb_error eb_handshake_read(char *text, eb_handshake *out) {
  char *key, *value;
  bool versioned = false;
  *out = (eb_handshake){.update = EB_UPDATE_END_VELOCITY};
  while (next_line(&text, &key, &value)) {
    EB_TRY(read_hello_line(key, value, out, &versioned));
    if (!versioned)
      return EB_ERROR(EB_ERR_FORMAT, "frame HELO of the program does not begin with its protocol");
  }
  if (!versioned || !*out->name)
    return EB_ERROR(EB_ERR_FORMAT, "frame HELO of the program lacks its %s",
                    versioned ? "name" : "protocol");
  return EB_OK;
}

/* ---- DONE ------------------------------------------------------------------------------------ */

static eb_error read_reason(const char *value, eb_reason *out) {
  static const char prefix[] = "EB_";
  const char *names[32];
  int count = 0, which;
  for (int r = EB_CONVERGED_STAGNATED; r >= EB_DIVERGED_LIBRARY; r--)
    names[count++] = eb_reason_name((eb_reason)r) + sizeof prefix - 1;
  EB_TRY(find_word("reason", value, names, count, &which));
  *out = (eb_reason)(EB_CONVERGED_STAGNATED - which);
  return EB_OK;
}

static eb_error read_equation(const char *value, eb_equation *out) {
  const char *names[EB_EQUATIONS];
  int which;
  for (int i = 0; i < EB_EQUATIONS; i++) names[i] = eb_equation_name((eb_equation)i);
  EB_TRY(find_word("equation", value, names, EB_EQUATIONS, &which));
  if (which == EB_EQUATION_REDUCED)
    return EB_ERROR(EB_ERR_FORMAT, "a program cannot declare a reduced equation: the subspace of "
                                   "its steps is not part of the protocol");
  *out = (eb_equation)which;
  return EB_OK;
}

/* "MASS STIFFNESS exact|projected|rotated" */
static eb_error read_linearization(char *value, eb_linearization *out) {
  static const char *const tangents[EB_TANGENTS] = {[EB_TANGENT_EXACT] = "exact",
                                                    [EB_TANGENT_PROJECTED] = "projected",
                                                    [EB_TANGENT_ROTATED] = "rotated"};
  char *mass = next_word(&value), *stiffness = next_word(&value), *tangent = next_word(&value);
  int which;
  if (!tangent)
    return EB_ERROR(EB_ERR_FORMAT, "the program's linearization is not 'MASS STIFFNESS TANGENT'");
  EB_TRY(read_number("the scale of the mass", mass, &out->mass));
  EB_TRY(read_number("the scale of the stiffness", stiffness, &out->stiffness));
  EB_TRY(find_word("tangent", tangent, tangents, EB_TANGENTS, &which));
  out->tangent = (eb_tangent)which;
  return EB_OK;
}

/* "NAME AMOUNT" of a phase or a counter. */
static eb_error read_named(const char *what, char *value, const char *(*name)(int), int count,
                           double *into) {
  const char *names[64];
  char *word = next_word(&value), *amount = next_word(&value);
  int which;
  double number;
  for (int i = 0; i < count; i++) names[i] = name(i);
  if (!amount) return EB_ERROR(EB_ERR_FORMAT, "the program's %s is not 'NAME AMOUNT'", what);
  EB_TRY(find_word(what, word, names, count, &which));
  EB_TRY(read_number(what, amount, &number));
  if (number < 0)
    return EB_ERROR(EB_ERR_FORMAT, "the program says %g for %s %s, which is at least 0", number,
                    what, word);
  into[which] += number;
  return EB_OK;
}

static const char *phase_name(int phase) {
  return eb_phase_name((eb_phase)phase);
}

static const char *counter_name(int counter) {
  return eb_counter_name((eb_counter)counter);
}

static eb_error read_done_line(const char *key, char *value, eb_step_log *log, eb_done *out) {
  static const char *const keys[] = {"reason",    "iterations", "equation", "linearization",
                                     "phase",     "counter",    "seconds",  "norm",
                                     "residuals", "contacts"};
  if (strcmp(key, "reason") == 0) return read_reason(value, &out->reason);
  if (strcmp(key, "iterations") == 0) return read_whole(key, value, &log->iterations);
  if (strcmp(key, "equation") == 0) return read_equation(value, &log->equation);
  if (strcmp(key, "linearization") == 0) return read_linearization(value, &log->linearization);
  if (strcmp(key, "phase") == 0)
    return read_named(key, value, phase_name, EB_PHASE_COUNT, log->phase_seconds);
  if (strcmp(key, "counter") == 0)
    return read_named(key, value, counter_name, EB_COUNTERS, log->counters);
  if (strcmp(key, "seconds") == 0) {
    EB_TRY(read_number(key, value, &log->own_seconds));
    return log->own_seconds >= 0
               ? EB_OK
               : EB_ERROR(EB_ERR_FORMAT, "the program says that its step took %s s", value);
  }
  if (strcmp(key, "residuals") == 0) return read_whole(key, value, &out->residuals);
  if (strcmp(key, "contacts") == 0) return read_whole(key, value, &out->contacts);
  if (strcmp(key, "norm") != 0) return unknown_key("DONE", key, keys, sizeof keys / sizeof *keys);
  out->norm = value;
  return EB_OK;
}

eb_error eb_done_read(char *text, eb_step_log *log, eb_done *out) {
  char *key, *value;
  *out = (eb_done){.reason = EB_RUNNING, .norm = ""};
  while (next_line(&text, &key, &value)) EB_TRY(read_done_line(key, value, log, out));
  if (out->reason == EB_RUNNING)
    return EB_ERROR(EB_ERR_FORMAT, "frame DONE of the program does not say its reason");
  return EB_OK;
}

/* ---- EVAL ------------------------------------------------------------------------------------ */

/* "MASS_SCALE HESSIAN_SCALE [projected]" */
static eb_error read_hessian(char *value, eb_wanted *out) {
  char *mass = next_word(&value), *scale = next_word(&value), *projected = next_word(&value);
  out->hessian = true;
  if (!scale || (projected && strcmp(projected, "projected")))
    return EB_ERROR(EB_ERR_FORMAT, "the program's line hessian is not 'MASS_SCALE HESSIAN_SCALE "
                                   "[projected]'");
  out->project = projected != NULL;
  EB_TRY(read_number("the scale of the mass", mass, &out->mass_scale));
  return read_number("the scale of the Hessian", scale, &out->hessian_scale);
}

eb_error eb_wanted_read(char *text, eb_wanted *out) {
  static const char *const keys[] = {"energy", "gradient", "hessian"};
  char *key, *value;
  *out = (eb_wanted){0};
  while (next_line(&text, &key, &value)) {
    if (strcmp(key, "energy") == 0)
      out->energy = true;
    else if (strcmp(key, "gradient") == 0)
      out->gradient = true;
    else if (strcmp(key, "hessian") == 0)
      EB_TRY(read_hessian(value, out));
    else
      return unknown_key("EVAL", key, keys, sizeof keys / sizeof *keys);
  }
  return EB_OK;
}
