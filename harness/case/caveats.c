#include "harness/case/caveats.h"

#include <math.h>
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

/* What the audit knows of a material that it has no formulas of. */
static eb_error add_materials(const eb_case *work, eb_strings *out) {
  int next = 0;
  for (const eb_plugged *m; (m = eb_case_material(work, &next));) {
    EB_FREED char *text = NULL;
    EB_TRY(eb_string_format(&text,
                            "%s: energy and stress are the plug-in's own, in the audit as well; "
                            "they are checked for consistency before the run",
                            m->ops->name));
    EB_TRY(add_new(out, text));
  }
  return EB_OK;
}

eb_error eb_caveats_add(const eb_case *work, eb_strings *out) {
  EB_TRY(add_default(work, out));
  EB_TRY(add_materials(work, out));
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

/* ---- tolerances ------------------------------------------------------------------------------ */

void eb_known_bodies_clear(eb_known_bodies *known) {
  free(known->scene);
  *known = (eb_known_bodies){0};
}

static eb_error look_at(const eb_case *work, eb_known_bodies *known) {
  eb_scene *scene;
  EB_FREED char *which = NULL;
  EB_TRY(eb_string_format(&which, "%s:%s:%s", work->scene->name, work->all_parameters,
                          work->mesh_file ? work->mesh_file : ""));
  if (known->scene && strcmp(known->scene, which) == 0) return EB_OK;
  EB_TRY(eb_string_set(&known->scene, which));
  eb_error refusal = eb_case_scene(work, NULL, &scene);
  known->built = !refusal;
  eb_error_free(refusal);
  if (!known->built) return EB_OK;
  eb_error error = eb_contact_lightest(scene, &known->lightest);
  eb_scene_destroy(scene);
  return error;
}

/* One digit, not more than the value. */
static double round_down(double value) {
  double unit = pow(10, floor(log10(value)));
  return floor(value / unit) * unit;
}

static eb_error tell_tolerance(const eb_case *work, const eb_values *options,
                               const eb_light_body *body, eb_strings *out) {
  EB_FREED char *text = NULL;
  EB_TRY(eb_string_format(
      &text,
      "%s on %s: its tolerance eps1=%g kg m/s is coarse for the lightest body, whose impulse in a "
      "step is %.2g kg m/s, and audits may find momentum or energy off; not so with "
      "tolerance_kind=body, or eps1=%.0e (1 %% of it over the root of %d rows)",
      work->solver->name, work->scene->name, eb_values_real(options, "eps1"), body->impulse,
      round_down(body->eps1), body->rows));
  return add_new(out, text);
}

static eb_error add_coarse(const eb_case *work, const eb_values *options, eb_known_bodies *known,
                           eb_strings *out) {
  static const eb_light_body least = {0}; /* for which every absolute tolerance is coarse */
  if (!eb_contact_is_coarse(work->solver, options, &least)) return EB_OK;
  EB_TRY(look_at(work, known));
  if (!known->built || !eb_contact_is_coarse(work->solver, options, &known->lightest)) return EB_OK;
  return tell_tolerance(work, options, &known->lightest, out);
}

eb_error eb_caveats_add_tolerance(const eb_case *work, eb_known_bodies *known, eb_strings *out) {
  eb_values *options;
  if (!(work->scene->needs & EB_CAP_CONTACT) || work->plugin) return EB_OK;
  EB_TRY(eb_solver_options(work->solver, work->scene, work->options, &options));
  eb_error error = add_coarse(work, options, known, out);
  eb_values_destroy(options);
  return error;
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
