#include "harness/predict/prediction_doc.h"

#include <math.h>
#include <unistd.h>

#include "harness/case/rates.h"
#include "harness/print.h"
#include "harness/results/json.h"

static const char *const counted[] = {"not", "by formula", "on the mesh", "by the paper's table"};
static const char *const filled[] = {"none", "analyzed", "scaled up from a smaller one",
                                     "by a law"};

static void print_memory(const eb_prediction *p, FILE *out) {
  const eb_memory_prediction *m = &p->memory;
  if (!m->known) {
    eb_print(out, "; memory: no prediction");
    return;
  }
  eb_print(out, "; %.0f MB at the peak, %.0f MB in steps (within %.0f %%", 1e-6 * m->peak,
           1e-6 * m->steady, 100 * m->margin);
  if (p->fill.by != EB_FILLED_NOT)
    eb_print(out, "; factor %.3g MB, %s", 1e-6 * p->fill.factor, filled[p->fill.by]);
  eb_print(out, ")");
}

/* "0.25 s", "46 s", "7.8 h". */
static void print_seconds(double seconds, FILE *out) {
  static const double hour = 3600;
  eb_print(out,
           seconds < 10     ? "%.2g s"
           : seconds < hour ? "%.0f s"
                            : "%.3g h",
           seconds < hour ? seconds : seconds / hour);
}

static void print_time(const eb_time_prediction *t, FILE *out) {
  if (!t->known) {
    eb_print(out, "; time: no prediction");
    return;
  }
  eb_print(out, "; ");
  print_seconds(t->step, out);
  eb_print(out, " a step, ");
  print_seconds(t->run, out);
  eb_print(out, " in all (within a factor of %.0f; %.0f iterations a step assumed)", t->factor,
           t->iterations);
}

void eb_prediction_print(const eb_prediction *p, FILE *out) {
  if (p->counts.by == EB_COUNTED_NOT) {
    eb_print(out, "    no prediction: the scene cannot be counted\n");
    return;
  }
  eb_print(out, "    %lld nodes, %lld elements%s", (long long)p->counts.nodes,
           (long long)p->counts.elements,
           p->counts.by == EB_COUNTED_TABLE ? " (by the paper's table)" : "");
  print_memory(p, out);
  print_time(&p->time, out);
  eb_print(out, "\n");
}

static json_t *number(bool known, double value) {
  return known ? eb_json_real(value) : json_null();
}

json_t *eb_prediction_json(const eb_prediction *p) {
  const eb_memory_prediction *m = &p->memory;
  const eb_time_prediction *t = &p->time;
  bool is_counted = p->counts.by != EB_COUNTED_NOT;
  json_t *out = json_object();
  json_object_set_new(out, "nodes", number(is_counted, (double)p->counts.nodes));
  json_object_set_new(out, "elements", number(is_counted, (double)p->counts.elements));
  json_object_set_new(out, "counted", eb_json_text(counted[p->counts.by]));
  json_object_set_new(out, "factor", eb_json_text(filled[p->fill.by]));
  json_object_set_new(out, "peak", number(m->known, m->peak));
  json_object_set_new(out, "steady", number(m->known, m->steady));
  json_object_set_new(out, "memory_margin", number(m->known, m->margin));
  json_object_set_new(out, "setup", number(t->known, t->setup));
  json_object_set_new(out, "step", number(t->known, t->step));
  json_object_set_new(out, "run", number(t->known, t->run));
  json_object_set_new(out, "iterations", number(t->known, t->iterations));
  json_object_set_new(out, "time_factor", number(t->known, t->factor));
  return out;
}

eb_rates eb_predict_rates(void) {
  char program[4096];
  eb_signals signals;
  eb_rates rates = {0};
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length < 0) return rates;
  program[length] = '\0';
  eb_error error = eb_signals_open(&signals);
  if (!error) {
    error = eb_rates_measure(program, &signals, &rates);
    eb_signals_close(&signals);
  }
  eb_error_free(error);
  return rates;
}
