/* What a run's processor time, memory and threads must keep: bounds that no honest method comes
 * near, over all steps and summed over ranks. */
#include "harness/case/job.h"
#include "problems/base/sanitizer.h"

/* Sanitizers keep what was freed. */
#if EB_SANITIZER
static const bool memory_tells = false;
#else
static const bool memory_tells = true;
#endif

void eb_job_judge_cost(eb_job *j) {
  static const double share = 0.05, moment = 0.02, growth = 32e6, tenth = 0.1, lead_steps = 10;
  const eb_cost *cost = &j->cost;
  double ranks = eb_ranks_count(j->ranks);
  double sums[] = {cost->untimed_cpu, cost->timed_cpu,       cost->resident,
                   j->half_resident,  (double)cost->threads, (double)j->half_threads};
  eb_ranks_sum(j->ranks, sizeof sums / sizeof *sums, sums);
  /* Threads of the solver's that work while the clock stands. */
  if (sums[0] > share * sums[1] + ranks * moment)
    eb_verdict_break(&j->auditor.verdict, EB_RULE_HIDDEN_WORK,
                     "threads of the solver have worked for %.3g s while the clock stood, beside "
                     "%.3g s of timed work",
                     sums[0], sums[1]);
  /* In the second half of the run what contacts and frames want for has been asked. */
  double grown = sums[2] - sums[3];
  if (memory_tells && sums[3] > 0 && grown > ranks * growth + tenth * sums[3])
    eb_verdict_break(&j->auditor.verdict, EB_RULE_MEMORY,
                     "memory has grown by %.0f MB in the second half of the steps", 1e-6 * grown);
  /* The library of threads of the solver starts its team when it is first needed, which may be
   * late: at the first contact, or where a matrix is large enough. */
  double started = sums[4] - sums[5], team = ranks * j->work->threads;
  if (sums[5] > 0 && started > team)
    eb_verdict_break(&j->auditor.verdict, EB_RULE_PROCESS,
                     "%.0f threads have come in the second half of the steps and have not ended, "
                     "where %.0f may",
                     started, team);
  if (!j->work->from.samples) return;
  /* A lead-in does what a step does, from farther away, which may be as much as a set-up. What is
   * prepared there for the step that is timed would take time off the clock: ten steps and a set-up
   * for each are beyond what any method needs. The first one of a new solver is its set-up: an
   * iterative method that has no solution of its own to start from yet may need as many iterations
   * as in fifty later steps, as in the first step of any run, which figures of times leave out. */
  double allowed = lead_steps * cost->timed_cpu + moment +
                   (double)j->run.steps_done * (j->run.setup_cpu_seconds + moment);
  if (j->samples.warm_up_cpu > allowed)
    eb_verdict_break(&j->auditor.verdict, EB_RULE_HIDDEN_WORK,
                     "the steps that lead to samples have taken %.3g s of processor time, beside "
                     "%.3g s of timed work",
                     j->samples.warm_up_cpu, cost->timed_cpu);
}
