/* Measures on the states that runs end in, and on how an error grows along a parameter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/measure.h"
#include "harness/reproduce/motion.h"

static const char *name_of(const eb_evidence *e, int case_) {
  return e->paper->cases[case_].name;
}

/* ---- final ------------------------------------------------------------------------------------ */

/* The worst of the pairs so far. */
typedef struct pairs {
  double worst;
  int count, above,
      shortened; /* pairs; those above the bound, and how many of these are of runs cut short */
} pairs;

static eb_error judge_pair(const eb_evidence *e, const eb_named pair[2], double most, pairs *p,
                           eb_finding *finding) {
  eb_distance distance;
  EB_TRY(eb_motion_final(e, pair[0].case_, pair[1].case_, &distance));
  bool within = distance.max <= most;
  if (!(distance.max <= p->worst)) p->worst = distance.max;
  p->count++;
  p->above += !within;
  p->shortened += !within && (eb_shortened(e, pair[0].case_) || eb_shortened(e, pair[1].case_));
  return eb_say(finding, "%s - %s: %.2g", name_of(e, pair[0].case_), name_of(e, pair[1].case_),
                distance.max);
}

static eb_error rule_pairs(const pairs *p, double most, eb_finding *finding) {
  finding->ours = p->worst;
  if (!p->above)
    return eb_rule(finding, EB_REPRODUCED,
                   "largest node distances at the end, over the diagonal; at most %.3g is claimed",
                   most);
  if (p->shortened == p->above)
    return eb_say(finding, "%d of %d are above %.3g, all in runs that stop before their end",
                  p->above, p->count, most);
  return eb_rule(finding, EB_NOT_REPRODUCED, "%d of %d are above %.3g of the diagonal", p->above,
                 p->count, most);
}

static eb_error judge_final(const eb_evidence *e, const eb_paper_claim *claim,
                            eb_finding *finding) {
  pairs p = {0};
  double most = eb_claim_number(claim, "most", 0);
  bool all = true;
  const char *text;
  for (int at = 0; (text = eb_section_next(claim->arguments, "pair", &at));) {
    eb_named pair[EB_NAMED];
    int count;
    bool usable;
    EB_TRY(eb_claim_cases(e, text, pair, &count));
    if (count != 2) return EB_ERROR(EB_ERR_FORMAT, "pair: '%s' is not two cases", text);
    EB_TRY(eb_all_usable(e, pair, 2, finding, &usable));
    all = all && usable;
    if (usable) EB_TRY(judge_pair(e, pair, most, &p, finding));
  }
  return all ? rule_pairs(&p, most, finding) : EB_OK;
}

const eb_measure eb_measure_final = {
    "final", "pairs of runs that end in one state, node by node",
    (const eb_argument[]){
        {"pair", EB_ARGUMENT_CASES, true, "two cases on meshes of as many nodes"},
        {"most", EB_ARGUMENT_NUMBER, true, "largest distance over the diagonal of the rest box"},
        {0}},
    judge_final};

/* ---- turn ------------------------------------------------------------------------------------- */

static eb_error parse_face(const eb_paper_claim *claim, int *axis, bool *upper) {
  const char *face = eb_claim_text(claim, "face", "");
  bool good = strlen(face) == 2 && strchr("+-", face[0]) && strchr("xyz", face[1]);
  *upper = face[0] == '+';
  *axis = face[0] ? face[1] - 'x' : 0;
  return good ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "face is +x, -x, +y, .., not '%s'", face);
}

static eb_error turn_of(const eb_evidence *e, const eb_paper_claim *claim, int case_,
                        eb_finding *finding, double *out) {
  static const double degree = 3.14159265358979323846 / 180;
  int axis;
  bool upper;
  EB_TRY(parse_face(claim, &axis, &upper));
  EB_TRY(eb_motion_turn(e, case_, axis, upper, out));
  *out = fabs(*out) / degree;
  return eb_say(finding, "%s: %.3g degrees", name_of(e, case_), *out);
}

static eb_error judge_turn(const eb_evidence *e, const eb_paper_claim *claim, eb_finding *finding) {
  eb_named of[EB_NAMED], others[EB_NAMED];
  int count, rivals;
  static const double resolved = 1e-5; /* degrees: frames are in single precision */
  double turned, most = resolved, least = eb_claim_number(claim, "least", 1);
  bool usable, shortened = false;
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "of", ""), of, &count));
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "others", ""), others, &rivals));
  EB_TRY(eb_all_usable(e, of, 1, finding, &usable));
  if (usable) EB_TRY(eb_all_usable(e, others, rivals, finding, &usable));
  if (!usable) return EB_OK;
  EB_TRY(turn_of(e, claim, of[0].case_, finding, &turned));
  shortened = eb_shortened(e, of[0].case_);
  for (int i = 0; i < rivals; i++) {
    double other;
    EB_TRY(turn_of(e, claim, others[i].case_, finding, &other));
    if (!(other <= most)) most = other;
    shortened = shortened || eb_shortened(e, others[i].case_);
  }
  finding->ours = turned / most;
  if (shortened) return eb_say(finding, "runs stop before their end");
  return eb_rule(finding, turned > least * most ? EB_REPRODUCED : EB_NOT_REPRODUCED,
                 "that is %.3g times the others' (more than %.3g)", finding->ours, least);
}

const eb_measure eb_measure_turn = {
    "turn", "an end of the body turns about its axis in one run and not in others",
    (const eb_argument[]){
        {"of", EB_ARGUMENT_CASES, true, "where it turns"},
        {"others", EB_ARGUMENT_CASES, true, "where it does not"},
        {"face", EB_ARGUMENT_TEXT, true, "+x, -x, +y, ..: the end, and the axis"},
        {"least", EB_ARGUMENT_NUMBER, true, "its angle over the largest of the others'"},
        {0}},
    judge_turn};

/* ---- limit ------------------------------------------------------------------------------------ */

enum { MOST_POINTS = EB_NAMED };

/* Errors by rising x. A run that fails has an infinite one. */
typedef struct errors {
  int count;
  double x[MOST_POINTS], error[MOST_POINTS];
} errors;

static void insert(errors *all, double x, double error) {
  int i = all->count++;
  for (; i > 0 && all->x[i - 1] > x; i--) {
    all->x[i] = all->x[i - 1];
    all->error[i] = all->error[i - 1];
  }
  all->x[i] = x;
  all->error[i] = error;
}

static eb_error add_error(const eb_evidence *e, const char *text, errors *all, eb_finding *finding,
                          bool *usable) {
  eb_measured_point point;
  double error = INFINITY;
  EB_TRY(eb_point_parse(e->paper, text, &point));
  if (point.against < 0) return EB_ERROR(EB_ERR_FORMAT, "point: '%s' names no reference", text);
  if (all->count == MOST_POINTS)
    return EB_ERROR(EB_ERR_FORMAT, "there are more than %d points", MOST_POINTS);
  EB_TRY(eb_usable(e, point.against, finding, usable));
  bool failed = e->cases[point.case_].standing == EB_STANDING_FAILED;
  if (*usable && !failed) EB_TRY(eb_usable(e, point.case_, finding, usable));
  if (*usable && !failed) EB_TRY(eb_motion_error(e, point.case_, point.against, &error));
  if (*usable) insert(all, point.x, isnan(error) ? INFINITY : error);
  return *usable ? eb_say(finding, "%g: %.3g %%%s%s", point.x, 100 * error, failed ? ", " : "",
                          failed ? e->cases[point.case_].why : "")
                 : EB_OK;
}

/* The largest x whose error is above the bound: between its neighbours as a power law where both are finite. NaN: there is none. */
static double crossing(const errors *all, double bound) {
  int i = all->count - 1;
  while (i >= 0 && !(all->error[i] > bound)) i--;
  if (i < 0) return NAN;
  if (i == all->count - 1 || !isfinite(all->error[i]) || !(all->error[i + 1] > 0)) return all->x[i];
  double share = log(bound / all->error[i]) / log(all->error[i + 1] / all->error[i]);
  return all->x[i] * pow(all->x[i + 1] / all->x[i], share);
}

static eb_error judge_limit(const eb_evidence *e, const eb_paper_claim *claim,
                            eb_finding *finding) {
  errors all = {0};
  double bound = eb_claim_number(claim, "most", 0);
  bool usable = true;
  const char *text;
  for (int at = 0; usable && (text = eb_section_next(claim->arguments, "point", &at));)
    EB_TRY(add_error(e, text, &all, finding, &usable));
  if (!usable) return EB_OK;
  if (all.count < 2) return eb_say(finding, "one point is no curve");
  finding->ours = crossing(&all, bound);
  bool rises = all.error[0] > all.error[all.count - 1];
  if (isnan(finding->ours))
    return eb_rule(finding, EB_NOT_REPRODUCED, "no error is above %g %%", 100 * bound);
  return eb_rule(finding, rises ? EB_REPRODUCED : EB_NOT_REPRODUCED,
                 "the error %s towards the left and is above %g %% from %.3g on",
                 rises ? "rises" : "does not rise", 100 * bound, finding->ours);
}

const eb_measure eb_measure_limit = {
    "limit", "the error against another method rises as a parameter falls, and passes a bound",
    (const eb_argument[]){{"point", EB_ARGUMENT_POINT, true, "X CASE AGAINST"},
                          {"most", EB_ARGUMENT_NUMBER, true,
                           "the bound: largest RMS distance over the largest RMS way of the other"},
                          {0}},
    judge_limit};
