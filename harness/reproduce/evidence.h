/* What was measured for a paper: its cases in a result file, and figures over their frames.
 *
 * Frame times. A frame is the scene's steps_per_frame steps; its time is the wall time of those
 * steps: set-up, audit and logging are not in it. The first frame is left out of every figure when
 * there are others: it holds the first whole factorization and cold caches, which the paper's
 * averages over a run do not show either. Samples are frames that were all led in, and all count.
 * Of several repetitions the least time of every step counts (the machine's other work only ever
 * adds to it); all other figures are of the fastest one. */
#ifndef EB_REPRODUCE_EVIDENCE_H
#define EB_REPRODUCE_EVIDENCE_H

#include "harness/reproduce/paper.h"
#include "harness/results/read.h"
#include "harness/suite/plan.h"

/* The cases of a paper as a plan. */
typedef struct eb_paper_plan {
  eb_plan plan;
  struct eb_planned {
    eb_strings identities; /* a repetition each; none of a sweep */
    char *sweep;           /* its identity, or NULL */
    char *trouble;         /* why it cannot be run in this build, or NULL */
  } * cases;               /* a case of the paper each */
  int case_count;
} eb_paper_plan;
/* The cases that are wanted (NULL: all), and those that they start from. Cases that this build does
 * not know (no such solver) are not planned, and say so. EB_ERR_USAGE for cases that cannot start
 * from what they are to. Clear *out also after a failure. */
EB_MUST eb_error eb_paper_plan_create(const eb_paper *paper, const bool *wanted,
                                      const eb_plugins *plugins, eb_paper_plan *out);
void eb_paper_plan_clear(eb_paper_plan *plan);

typedef enum eb_run_status {
  EB_RUN_MISSING, /* not run, cut short before a frame was whole, or too big for the machine */
  EB_RUN_FAILED,  /* the solver failed */
  EB_RUN_REFUTED, /* the audit contradicts the solver: none of its figures counts */
  EB_RUN_CUT,     /* the time limit came first; the frames that are there are good */
  EB_RUN_WHOLE
} eb_run_status;

typedef struct eb_case_evidence {
  eb_run_status status;
  int run;              /* that stands for the case, in the results; -1: none */
  int *runs, run_count; /* the repetitions that are whole or cut, in their order */
  /* there is none: runs has one that the time limit has cut off in its first step */
  bool cut_first;
  int64_t frames;
  double least_stable;      /* of a sweep; NaN: none was found */
  double greatest_unstable; /* NaN: none was found */
  bool below;               /* the whole grid is stable: lower values may be, too */
  char why[400];            /* what is wrong, "" when nothing is */
} eb_case_evidence;

/* How much times vary from one repetition to the next, pooled over all cases with repetitions. */
typedef struct eb_noise {
  double pace;  /* standard deviation of the logarithm of a run's mean step */
  double stage; /* the same of a stage beside its run */
  int freedom;  /* degrees of freedom; 0: no case has repetitions, and nothing is known */
} eb_noise;

typedef struct eb_evidence {
  const eb_paper *paper;
  const eb_results *results; /* NULL: there are none */
  eb_case_evidence *cases;   /* a case of the paper each */
  eb_noise noise;
} eb_evidence;

/* `results` may be NULL. The caller clears *out, also after a failure. */
EB_MUST eb_error eb_evidence_create(const eb_paper *paper, const eb_paper_plan *plan,
                                    const eb_results *results, eb_evidence *out);
void eb_evidence_clear(eb_evidence *evidence);

/* Steps a frame of that run's scene; a sample, a step from a state of its own, is a frame. */
int64_t eb_steps_per_frame(const eb_run *run);
/* Leading steps that figures of times leave out when there are others: the first frame. Samples are
 * all led in. */
int64_t eb_warmup_steps(const eb_run *run);
/* Whether a run counts although its audit failed: the paper reports the rules that are broken, and
 * no other is. */
bool eb_evidence_waives(const eb_paper_case *work, const eb_run *run);
/* The attributes of a case's run, or NULL. */
const eb_run *eb_evidence_run(const eb_evidence *evidence, int case_);

#endif
