/* Cases one after the other: counts and fill are those of a scene, found once for all its solvers.
 */
#include "harness/predict/predict.h"

#include <stdlib.h>
#include <string.h>

#include "harness/case/launch.h"
#include "harness/names.h"
#include "harness/print.h"
#include "problems/base/memory.h"

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_scene(const eb_case *a, const eb_case *b) {
  return a && eb_same_scene(a->scene, b->scene) && same_text(a->parameters, b->parameters) &&
         same_text(a->mesh_file, b->mesh_file);
}

eb_predictor eb_predictor_start(const eb_rates *rates) {
  return (eb_predictor){.rates = rates ? *rates : (eb_rates){0}};
}

/* Counts, and fill where it is wanted and not there yet. */
static void look_at(eb_predictor *p, const eb_case *work) {
  eb_mesh *mesh = NULL;
  if (!same_scene(p->last, work)) {
    p->fill = (eb_fill){0};
    eb_counts_find(work, &p->counts, &mesh);
  }
  p->last = work;
  bool better = p->fill.by == EB_FILLED_NOT || (p->fill.by == EB_FILLED_LAW && !p->rough);
  if (better && p->counts.by != EB_COUNTED_NOT && eb_predict_factors(work))
    p->fill = p->rough ? eb_fill_law(&p->counts) : eb_fill_find(work, &p->counts, mesh);
  eb_mesh_destroy(mesh);
}

void eb_predict_case(eb_predictor *p, const eb_case *work, eb_prediction *out) {
  look_at(p, work);
  *out = (eb_prediction){.counts = p->counts};
  if (eb_predict_factors(work)) out->fill = p->fill;
  out->memory = eb_predict_memory(work, &out->counts, &out->fill);
  out->time = eb_predict_time(work, &out->counts, &out->fill, &p->rates);
}

/* ---- before a run ---------------------------------------------------------------------------- */

static void warn(const eb_case *work, const eb_memory_prediction *memory, double limit,
                 const char *whose, FILE *out) {
  const char *value;
  bool direct = eb_predict_factors(work) &&
                eb_assigned_value(work->all_options, "linear", strlen("linear"), &value) > 0;
  bool ranks = eb_assigned_value(work->all_options, "ranks", strlen("ranks"), &value) > 0;
  eb_print(
      out,
      "elastobench: %s with %s is predicted to take %.0f MB (within %.0f %%), where %s %.0f MB; "
      "%s%sa lower resolution takes less\n",
      work->scene->name, work->solver->name, 1e-6 * memory->peak, 100 * memory->margin, whose,
      1e-6 * limit, direct ? "linear=petsc takes no factor, " : "",
      ranks && work->ranks == 1 ? "ranks= spreads it over machines, " : "");
}

void eb_predict_warn(const eb_case *cases, int count, FILE *out) {
  eb_predictor p = eb_predictor_start(NULL);
  const double available = (double)eb_available_memory();
  for (int i = 0; i < count; i++) {
    const eb_case *work = &cases[i];
    bool limited = work->memory > 0 && work->memory < available;
    double limit = limited ? work->memory : available;
    eb_prediction told;
    /* Ranks that another command starts may be on many machines. */
    bool elsewhere = work->ranks > 1 && getenv(EB_LAUNCH_VARIABLE);
    if (work->repetition > 0 || elsewhere) continue;
    p.rough = true;
    eb_predict_case(&p, work, &told);
    p.rough = false;
    if (told.memory.known && (1 + told.memory.margin) * told.memory.peak > limit)
      eb_predict_case(&p, work, &told);
    if (told.memory.known && told.memory.peak > limit)
      warn(work, &told.memory, limit, limited ? "--memory allows" : "the machine has free", out);
  }
}
