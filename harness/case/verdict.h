/* What the audits of a run amount to: the rules of audit/rules.h, broken or not.
 *
 * A step is held to every rule whatever its solver says of it, but that contacts of
 * EB_FRICTION_BY_MOTION, whose friction is in the error of the run, are not held to `friction`;
 * what else it says can only add a test:
 *   - a tolerance met (EB_CONVERGED_RTOL, EB_CONVERGED_ATOL) is a claim on the last residual
 *     logged: the audited residual of the declared equation over all free nodes, in the norm
 *     that residual_norm names (verdict.c), is at most 100 times that + 1e-9 of the force scale
 *     + 45 roundings. Without a logged residual, with more than are kept, or in a norm that is
 *     not audited it is no claim, and saying so breaks a rule;
 *   - a direct solve (EB_CONVERGED_DIRECT) leaves 1e-6 of the force scale;
 *   - stagnation (EB_CONVERGED_STAGNATED) leaves 1e-3 of it, and contacts to twice their bounds.
 * Bounds on contact are the scene's (eb_contact_bounds). Steps with a negative reason end a run and
 * are not judged, but for being finite. */
#ifndef EB_CASE_VERDICT_H
#define EB_CASE_VERDICT_H

#include "harness/audit/momentum_balance.h"
#include "harness/audit/contact_audit.h"
#include "harness/audit/rules.h"

/* What of a step is judged: a figure and its bound. */
typedef struct eb_measure {
  int64_t step;        /* 0: of none */
  double value, bound; /* both 0: what is wrong is no number */
  const char *unit;    /* NULL: "1" */
  eb_spot spot;
} eb_measure;

/* The worst that a run did to one rule. */
typedef struct eb_worst {
  eb_measure measure;
  char words[256];
  eb_place place; /* looked up by the auditor, once it is the worst so far */
  bool fresh;     /* that is still to be done */
} eb_worst;

typedef struct eb_verdict {
  int64_t steps,
      failures; /* failures: steps that broke a rule, and breaches of the run as a whole */
  int64_t broken[EB_RULES]; /* how often */
  char detail[256];         /* the first failure */
  eb_worst worst_of[EB_RULES];
  /* N^2: sums over the steps of the residual of the declared equation and of its force scale,
   * squared. */
  double residual2, scale2;
  /* J: work of residuals since its sum was lowest, of position-based steps since the start (or
   * jump) and beyond the elastic energy there; the most of that */
  double gained, most_gained;
  bool goes_on;             /* steps have been summed in `gained` */
  double most_displacement; /* m: the largest of a step */
  int64_t gained_at;        /* the step with the most */
  double energy_scale;      /* J: largest */
  eb_worst most_in_step;    /* of the energy from nowhere: the step that gained most of it */
  int64_t compared,
      better; /* steps compared with doing nothing, where that is wrong; those that were better */
  eb_measure idlest;  /* of those that were not, the one that leaves most of what nothing leaves */
  double worst;       /* residual of the declared equation over its force scale, of a step */
  double unexplained; /* momentum of a flight, or of a body that is held, over its bound: most */
} eb_verdict;

/* One step as it is judged. */
typedef struct eb_audited_step {
  const eb_scene *scene; /* the harness's own */
  const eb_step_log *log;
  const eb_declaration *declared;
  const eb_audit_row *row;
  const eb_momentum_row *momentum;
  const eb_contact_audit_row *contact; /* NULL without contact as constraints */
  eb_reason reason;
  int64_t number;
  double wall; /* s that it took by the harness's clock; 0: nobody has measured */
  int threads; /* that the solver was given */
} eb_audited_step;

void eb_verdict_step(eb_verdict *verdict, const eb_audited_step *step);
/* What the log says of times against what the harness has measured: a program's own time and the
 * seconds beside residuals are within `wall` s, those of phases, one of which is at work in a
 * thread, within that of every thread; 1 % and a millisecond are left to clocks. `of` begins the
 * words. */
void eb_verdict_times(eb_verdict *verdict, const char *of, const eb_step_log *log, double wall,
                      int threads);
/* Of that, the rules on contact alone; needs scene, declared, contact, reason and number. */
void eb_verdict_contact(eb_verdict *verdict, const eb_audited_step *step);
/* The step that comes does not begin where the last one ended: sums over consecutive steps begin
 * anew. */
void eb_verdict_reset(eb_verdict *verdict);
/* The rules on the run as a whole: progress and energy. */
void eb_verdict_run(eb_verdict *verdict);
/* `alone`: of one step from a state that the solver was not led to. It must keep the rules, but for
 * how deep the push has driven nodes into colliders, and leave a residual like those of the run -
 * at most ten times the worst, or a hundredth of the forces - or be better than doing nothing.
 * Where the residual is like those of the run, so may momentum be: in one step it is held to ten
 * times its bound, which runs sum over whole flights. */
void eb_verdict_test_replay(eb_verdict *verdict, const eb_verdict *alone);
/* A rule that is judged elsewhere was broken; the first failure of all keeps its words. */
__attribute__((format(printf, 3, 4))) void eb_verdict_break(eb_verdict *verdict, eb_rule rule,
                                                            const char *format, ...);
/* The same by a figure. The worst of a rule is the one that is most times its bound. */
__attribute__((format(printf, 4, 5))) void eb_verdict_exceed(eb_verdict *verdict, eb_rule rule,
                                                             const eb_measure *measure,
                                                             const char *format, ...);
/* "passed", "failed", "none" without steps. */
const char *eb_verdict_word(const eb_verdict *verdict);
/* The names of the broken rules, "update,momentum". */
void eb_verdict_rules(const eb_verdict *verdict, char *out, size_t bytes);

#endif
