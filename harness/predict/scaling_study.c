/* Grouping, constants and errors of scaling_study.h. Efficiencies as in Hager and Wellein 2010,
 * "Introduction to High Performance Computing for Scientists and Engineers", chapter 5. */
#include "harness/predict/scaling_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/sample.h"
#include "problems/base/memory.h"

eb_scaling_request eb_scaling_usual(void) {
  return (eb_scaling_request){.point_count = 1, .points = {{.elements = 1e9, .ranks = 1000}}};
}

/* ---- samples --------------------------------------------------------------------------------- */

eb_error eb_scaling_add(eb_scaling_samples *samples, const eb_scaling_sample *sample) {
  if (samples->count == samples->capacity) {
    int more = 2 * samples->capacity + 8;
    void *items = eb_recalloc(samples->items, (size_t)samples->capacity, (size_t)more,
                              sizeof *samples->items);
    if (!items) return EB_ERROR(EB_ERR_MEMORY, "cannot keep the runs of a scaling study");
    samples->items = items;
    samples->capacity = more;
  }
  samples->items[samples->count++] = *sample;
  return EB_OK;
}

void eb_scaling_samples_clear(eb_scaling_samples *samples) {
  free(samples->items);
  eb_strings_clear(&samples->texts);
  *samples = (eb_scaling_samples){0};
}

static bool is_good(const eb_scaling_sample *s) {
  return !*s->trouble && s->seconds > 0 && s->iterations > 0;
}

static double seconds_of(const eb_scaling_sample *s) {
  return is_good(s) ? s->seconds / s->iterations : NAN;
}

/* ---- constants ------------------------------------------------------------------------------- */

bool eb_scaling_gives(const eb_scaling_row *row) {
  return row->sample->ranks == 1 && is_good(row->sample) && row->sample->linear_iterations > 0;
}

/* What is neither set-up of the preconditioner nor linear solve goes over the elements: matrix,
 * gradient, line search. */
eb_scaling_work eb_scaling_given(const eb_scaling_row *row) {
  const eb_scaling_sample *s = row->sample;
  return (eb_scaling_work){.assemble =
                               (s->seconds - s->setup - s->solve) / (s->iterations * s->elements),
                           .setup = s->setup / (s->iterations * s->elements),
                           .iteration = s->solve / (s->linear_iterations * s->nodes),
                           .iterations = s->linear_iterations / s->iterations,
                           .elements_per_node = s->elements / s->nodes};
}

static double between(double a, double b, double t) {
  return a + t * (b - a);
}

static eb_scaling_work mix(const eb_scaling_work *a, const eb_scaling_work *b, double t) {
  return (eb_scaling_work){.assemble = between(a->assemble, b->assemble, t),
                           .setup = between(a->setup, b->setup, t),
                           .iteration = between(a->iteration, b->iteration, t),
                           .iterations = between(a->iterations, b->iterations, t),
                           .elements_per_node =
                               between(a->elements_per_node, b->elements_per_node, t)};
}

/* Of that size, without what the row `but` would say of itself; false: there are none. */
static bool work_at(const eb_scaling_series *series, double elements, const eb_scaling_row *but,
                    eb_scaling_work *out) {
  const eb_scaling_row *below = NULL, *above = NULL;
  for (const eb_scaling_row *row = series->rows; row < series->rows + series->row_count; row++) {
    if (row == but || !eb_scaling_gives(row)) continue;
    if (row->sample->elements <= elements) below = row;
    if (row->sample->elements >= elements && !above) above = row;
  }
  if (!below && !above) return false;
  if (!below) below = above;
  if (!above) above = below;
  const eb_scaling_work low = eb_scaling_given(below), high = eb_scaling_given(above);
  double span = log(above->sample->elements / below->sample->elements);
  *out = mix(&low, &high, span > 0 ? log(elements / below->sample->elements) / span : 0);
  return true;
}

/* ---- what is told ---------------------------------------------------------------------------- */

static bool is_network(const eb_network *n) {
  return n->latency > 0 && n->bandwidth > 0 && n->reduction > 0;
}

static eb_scaling_time tell(const eb_scaling_series *series, const eb_scaling_machine *machine,
                            double elements, int ranks, int per_node, const eb_scaling_row *but) {
  eb_scaling_time nothing = {NAN, NAN, NAN, NAN, NAN, false};
  eb_scaling_work part, whole;
  const double here = fmin(ranks, per_node);
  if (!work_at(series, elements / ranks * here, but, &part) ||
      !work_at(series, elements, but, &whole) || (ranks > 1 && !is_network(&machine->network)))
    return nothing;
  part.iterations = whole.iterations;
  part.elements_per_node = whole.elements_per_node;
  return eb_scaling_predict(machine, &part, elements, ranks, per_node);
}

/* What messages take between that many ranks: in the median of the runs on as many. */
static eb_error network_of(const eb_scaling_series *series, int ranks, eb_network *out) {
  double *values[3] = {NULL};
  size_t count = 0;
  eb_error error = EB_OK;
  for (int k = 0; k < 3 && !error; k++) error = EB_NEW(values[k], series->row_count);
  for (int r = 0; r < series->row_count && !error; r++) {
    const eb_scaling_sample *s = series->rows[r].sample;
    if (s->ranks != ranks || !is_network(&s->at.network)) continue;
    values[0][count] = s->at.network.latency;
    values[1][count] = s->at.network.bandwidth;
    values[2][count++] = s->at.network.reduction;
  }
  *out = (eb_network){0};
  if (count > 0)
    *out = (eb_network){.latency = eb_median(values[0], count, 0),
                        .bandwidth = eb_median(values[1], count, 0),
                        .reduction = eb_median(values[2], count, 0)};
  for (int k = 0; k < 3; k++) free(values[k]);
  return error;
}

static eb_network either(const eb_network *first, const eb_network *second) {
  return (eb_network){.latency = first->latency > 0 ? first->latency : second->latency,
                      .bandwidth = first->bandwidth > 0 ? first->bandwidth : second->bandwidth,
                      .reduction = first->reduction > 0 ? first->reduction : second->reduction};
}

static eb_scaling_machine machine_of(const eb_scaling_sample *s,
                                     const eb_scaling_request *request) {
  eb_scaling_machine machine = s->at;
  if (request->cores > 0) machine.cores = request->cores;
  return machine;
}

/* ---- rows ------------------------------------------------------------------------------------ */

const eb_scaling_row *eb_scaling_weak_base(const eb_scaling_series *series,
                                           const eb_scaling_row *row) {
  const double share = row->sample->elements / row->sample->ranks;
  const eb_scaling_row *nearest = NULL;
  double least = EB_SCALING_SAME_SIZE;
  for (const eb_scaling_row *at = series->rows; at < series->rows + series->row_count; at++) {
    double apart = fabs(at->sample->elements / share - 1);
    if (at->sample->ranks > 1 || isnan(at->seconds) || apart > least) continue;
    nearest = at;
    least = apart;
  }
  return nearest;
}

/* Sizes of a weak series are only nearly the same: its times are those an element of a rank. */
static void measure_efficiency(const eb_scaling_series *series, eb_scaling_row *row) {
  const eb_scaling_row *base = eb_scaling_weak_base(series, row);
  const double ranks = row->sample->ranks;
  row->strong = row->weak = NAN;
  if (base)
    row->weak =
        base->seconds / base->sample->elements * row->sample->elements / (ranks * row->seconds);
  for (const eb_scaling_row *at = series->rows; at < series->rows + series->row_count; at++)
    if (at->sample->ranks == 1 && strcmp(at->sample->scene, row->sample->scene) == 0)
      row->strong = at->seconds / (ranks * row->seconds);
}

static eb_error tell_row(const eb_scaling_series *series, const eb_scaling_request *request,
                         eb_scaling_row *row) {
  const eb_scaling_sample *s = row->sample;
  eb_scaling_machine machine = machine_of(s, request);
  const int per_node = request->per_node > 0 ? request->per_node : s->ranks;
  const int here = s->ranks < per_node ? s->ranks : per_node;
  eb_network measured;
  EB_TRY(network_of(series, s->ranks, &measured));
  machine.network = either(&measured, &request->network);
  row->kind = s->ranks == 1           ? EB_SCALING_ALONE
              : here <= machine.cores ? EB_SCALING_SHARED
                                      : EB_SCALING_CROWDED;
  row->told = tell(series, &machine, s->elements, s->ranks, per_node, row);
  row->error = row->told.total / row->seconds - 1;
  return EB_OK;
}

/* Ahead of the others: what is good, then what is fast. */
static int by_place(const void *left, const void *right) {
  const eb_scaling_sample *a = ((const eb_scaling_row *)left)->sample,
                          *b = ((const eb_scaling_row *)right)->sample;
  if (a->elements != b->elements) return a->elements < b->elements ? -1 : 1;
  int scenes = strcmp(a->scene, b->scene);
  if (scenes || a->ranks != b->ranks) return scenes ? scenes : a->ranks - b->ranks;
  if (is_good(a) != is_good(b)) return is_good(a) ? -1 : 1;
  double x = seconds_of(a), y = seconds_of(b);
  return (x > y) - (x < y);
}

/* One row a scene and number of ranks: the first of each. */
static void merge_repetitions(eb_scaling_series *series) {
  int kept = 0;
  qsort(series->rows, (size_t)series->row_count, sizeof *series->rows, by_place);
  for (int r = 0; r < series->row_count; r++) {
    const eb_scaling_sample *s = series->rows[r].sample,
                            *last = kept > 0 ? series->rows[kept - 1].sample : NULL;
    if (!last || last->ranks != s->ranks || strcmp(last->scene, s->scene) != 0)
      series->rows[kept++] = series->rows[r];
  }
  series->row_count = kept;
}

static eb_error sum_errors(eb_scaling_series *series, eb_scaling_kind kind) {
  eb_scaling_errors *out = &series->errors[kind];
  double *sizes;
  EB_TRY(EB_NEW(sizes, series->row_count));
  for (int r = 0; r < series->row_count; r++)
    if (series->rows[r].kind == kind && !isnan(series->rows[r].error))
      sizes[out->count++] = fabs(series->rows[r].error);
  out->median = eb_median(sizes, (size_t)out->count, 0);
  out->worst = eb_largest(sizes, (size_t)out->count, 0);
  free(sizes);
  return EB_OK;
}

/* ---- predictions ----------------------------------------------------------------------------- */

/* Between whose ranks messages go as in predictions: as many as the cores hold or, where each run
 * has more, the fewest. */
static int usual_ranks(const eb_scaling_series *series) {
  const eb_scaling_row *best = NULL;
  for (const eb_scaling_row *row = series->rows; row < series->rows + series->row_count; row++) {
    if (row->kind == EB_SCALING_ALONE || !is_network(&row->sample->at.network)) continue;
    bool more = best && row->sample->ranks > best->sample->ranks;
    if (!best || row->kind < best->kind ||
        (row->kind == best->kind && more == (row->kind == EB_SCALING_SHARED)))
      best = row;
  }
  return best ? best->sample->ranks : 0;
}

static eb_error tell_points(eb_scaling_series *series, const eb_scaling_request *request) {
  eb_network measured;
  double largest = NAN;
  EB_TRY(network_of(series, usual_ranks(series), &measured));
  for (int r = 0; r < series->row_count; r++)
    if (eb_scaling_gives(&series->rows[r])) largest = series->rows[r].sample->elements;
  EB_TRY(EB_NEW(series->predictions, request->point_count));
  for (; series->prediction_count < request->point_count; series->prediction_count++) {
    eb_scaling_prediction *p = &series->predictions[series->prediction_count];
    p->point = request->points[series->prediction_count];
    p->machine = machine_of(series->rows[0].sample, request);
    p->machine.network = either(&request->network, &measured);
    p->per_node = request->per_node > 0 ? request->per_node : p->machine.cores;
    p->beyond = p->point.elements / p->point.ranks * fmin(p->point.ranks, p->per_node) / largest;
    p->larger = p->point.elements / largest;
    p->told = tell(series, &p->machine, p->point.elements, p->point.ranks, p->per_node, NULL);
  }
  return EB_OK;
}

/* ---- what is missing ------------------------------------------------------------------------- */

/* The command that makes a run on one rank, of the smallest scene. */
static eb_error want_one_rank(eb_scaling_series *series) {
  static const char mark[] = "/steps:"; /* of eb_run_work_name */
  const eb_scaling_sample *s = series->rows[0].sample;
  const char *steps = strstr(s->solver, mark), *count = steps ? steps + strlen(mark) : "";
  return eb_text_printf(&series->missing,
                        "nothing is told: constants come from runs on one rank, and no good one is "
                        "there; 'elastobench run %s -s %.*s --steps %.*s -o one.h5' makes one, to "
                        "be named beside this file",
                        s->scene, (int)strcspn(s->solver, "/"), s->solver,
                        (int)strspn(count, "0123456789"), count);
}

static eb_error find_missing(eb_scaling_series *series) {
  bool constants = false, alone = false, network = true;
  for (const eb_scaling_row *row = series->rows; row < series->rows + series->row_count; row++) {
    bool several = row->kind != EB_SCALING_ALONE;
    constants = constants || eb_scaling_gives(row);
    alone = alone || (!several && is_good(row->sample));
    network = network && !(several && is_good(row->sample) && isnan(row->told.total));
  }
  if (!alone) return want_one_rank(series);
  if (!constants)
    return eb_text_printf(&series->missing,
                          "nothing is told: the model is of iterative linear solves, and this "
                          "solver makes none; run it with linear=petsc");
  return network ? EB_OK
                 : eb_text_printf(&series->missing,
                                  "some rows are not told: their runs do not say what messages "
                                  "take; run them again, or give --latency, --bandwidth and "
                                  "--reduction ('mpiexec -n N elastobench network' measures them)");
}

/* ---- series ---------------------------------------------------------------------------------- */

static bool same_series(const eb_scaling_sample *a, const eb_scaling_sample *b) {
  return strcmp(a->problem, b->problem) == 0 && strcmp(a->solver, b->solver) == 0 &&
         strcmp(a->machine, b->machine) == 0;
}

/* Rows of all samples that belong together with this one; none where they are all on as many
 * ranks. */
static eb_error gather(const eb_scaling_samples *samples, const eb_scaling_sample *first,
                       eb_scaling_series *series) {
  bool several = false;
  *series = (eb_scaling_series){
      .problem = first->problem, .solver = first->solver, .machine = first->machine};
  EB_TRY(EB_NEW(series->rows, samples->count));
  for (int i = 0; i < samples->count; i++) {
    const eb_scaling_sample *s = &samples->items[i];
    if (!same_series(first, s)) continue;
    several = several || s->ranks != first->ranks;
    series->rows[series->row_count++].sample = s;
  }
  if (!several) series->row_count = 0;
  return EB_OK;
}

static eb_error judge(eb_scaling_series *series, const eb_scaling_request *request) {
  merge_repetitions(series);
  series->cores = machine_of(series->rows[0].sample, request).cores;
  for (int r = 0; r < series->row_count; r++)
    series->rows[r].seconds = seconds_of(series->rows[r].sample);
  for (int r = 0; r < series->row_count; r++) {
    measure_efficiency(series, &series->rows[r]);
    EB_TRY(tell_row(series, request, &series->rows[r]));
  }
  for (int kind = 0; kind < EB_SCALING_KINDS; kind++)
    EB_TRY(sum_errors(series, (eb_scaling_kind)kind));
  EB_TRY(tell_points(series, request));
  return find_missing(series);
}

static void clear_series(eb_scaling_series *series) {
  free(series->rows);
  free(series->predictions);
  eb_text_clear(&series->missing);
  *series = (eb_scaling_series){0};
}

eb_error eb_scaling_study_create(const eb_scaling_samples *samples,
                                 const eb_scaling_request *request, eb_scaling_study *out) {
  *out = (eb_scaling_study){0};
  EB_TRY(EB_NEW(out->series, samples->count));
  for (int i = 0; i < samples->count; i++) {
    const eb_scaling_sample *s = &samples->items[i];
    eb_scaling_series *series = &out->series[out->count];
    int first = 0;
    while (!same_series(&samples->items[first], s)) first++;
    if (first < i) continue;
    eb_error error = gather(samples, s, series);
    if (!error && series->row_count == 0) {
      clear_series(series);
      continue;
    }
    out->count++;
    if (!error) error = judge(series, request);
    EB_TRY(error);
  }
  return EB_OK;
}

void eb_scaling_study_clear(eb_scaling_study *study) {
  for (int i = 0; i < study->count; i++) clear_series(&study->series[i]);
  free(study->series);
  *study = (eb_scaling_study){0};
}

bool eb_scaling_judged(const eb_scaling_study *study) {
  for (int i = 0; i < study->count; i++)
    for (int kind = EB_SCALING_SHARED; kind < EB_SCALING_KINDS; kind++)
      if (study->series[i].errors[kind].count > 0) return true;
  return false;
}
