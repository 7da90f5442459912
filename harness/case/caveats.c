#include "harness/case/caveats.h"

#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "problems/base/owned.h"
#include "problems/base/strings.h"

/* Whether all of "a=1,b=2" are among the canonical assignments. */
static bool are_assigned(const char *some, const char *all) {
  for (const char *at = some; at && *at; at += strcspn(at, ","), at += *at == ',') {
    size_t name = strcspn(at, "="), length = strcspn(at, ",") - name - 1;
    const char *value;
    if (eb_assigned_value(all, at, name, &value) != length ||
        strncmp(at + name + 1, value, length) != 0)
      return false;
  }
  return true;
}

/* Whether the caveat is of scenes like this one. */
static bool is_of(const eb_caveat *caveat, const eb_scene_ops *scene) {
  return !caveat->needs || (caveat->needs & scene->needs);
}

static eb_error add_new(eb_strings *out, const char *text) {
  for (int i = 0; i < out->count; i++)
    if (strcmp(out->items[i], text) == 0) return EB_OK;
  return eb_strings_add(out, text);
}

/* The scene's word on the solver, unless the user has set its options otherwise. */
static eb_error add_default(const eb_case *work, eb_strings *out) {
  const eb_scene_default *own = eb_scene_default_of(work->scene, work->solver->name);
  EB_FREED char *text = NULL;
  bool given = own && (own->options ? !are_assigned(own->options, work->all_options)
                                    : work->options && *work->options);
  if (!own || given) return EB_OK;
  EB_TRY(eb_string_format(&text, "%s on %s: %s%s%s", work->solver->name, work->scene->name,
                          own->options ? own->options : "", own->options ? ", " : "", own->source));
  return add_new(out, text);
}

eb_error eb_caveats_add(const eb_case *work, eb_strings *out) {
  EB_TRY(add_default(work, out));
  for (const eb_caveat *at = work->solver->caveats; at && at->note; at++) {
    EB_FREED char *text = NULL;
    if (!is_of(at, work->scene) || (at->cure && are_assigned(at->cure, work->all_options)))
      continue;
    EB_TRY(eb_string_format(&text, "%s: %s%s%s", work->solver->name, at->note,
                            at->cure ? "; not so with " : "", at->cure ? at->cure : ""));
    EB_TRY(add_new(out, text));
  }
  return EB_OK;
}

eb_error eb_caveats_put(const eb_scene_ops *scene, const eb_solver_ops *solver, bool *expected,
                        eb_text *out) {
  const eb_scene_default *own = eb_scene_default_of(scene, solver->name);
  const char *separator = "";
  *expected = own && !own->options;
  EB_TRY(eb_text_append(out, "", 0));
  if (own) {
    EB_TRY(eb_text_printf(out, "%s%s%s%s", own->options ? "by default " : "",
                          own->options ? own->options : "", own->options ? ", " : "", own->source));
    separator = "; ";
  }
  for (const eb_caveat *at = solver->caveats; at && at->note; at++) {
    if (!is_of(at, scene)) continue;
    *expected = true;
    EB_TRY(eb_text_printf(out, "%s%s%s%s", separator, at->note, at->cure ? "; not so with " : "",
                          at->cure ? at->cure : ""));
    separator = "; ";
  }
  return EB_OK;
}
