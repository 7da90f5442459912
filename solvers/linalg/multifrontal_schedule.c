/* Which thread factors which front when: a task for every branch, which runs its supernodes in
 * sequence; the others are factored by whoever finishes the last of their children, large ones in
 * tasks of their own.
 *
 * A small job runs on the calling thread alone: waking a team takes some 50 microseconds. */
#include "solvers/linalg/multifrontal_data.h"

static const double least_parallel_flops = 2e7; /* some 400 microseconds */

static bool takes_part(const eb_front_job *job, int32_t s) {
  return !job->marked || job->marked[s];
}

static double job_flops(const eb_front_job *job) {
  double sum = 0;
  for (int32_t s = 0; s < job->f->tree.count; s++)
    if (takes_part(job, s)) sum += job->f->tree.flops[s];
  return sum;
}

/* A child of p is done; goes on with p, and so up the tree, when it was the last. */
static void climb(eb_front_job *job, int32_t p) {
  const eb_multifrontal *f = job->f;
  while (p >= 0 && atomic_fetch_sub(&f->waiting[p], 1) == 1) {
    eb_front_factor(job, p);
    p = f->tree.parent[p];
  }
}

static void run_branch(eb_front_job *job, int32_t b) {
  const eb_multifrontal *f = job->f;
  for (int32_t s = f->branch_first[b]; s <= f->branch_last[b]; s++) {
    if (!takes_part(job, s)) continue;
    eb_front_factor(job, s);
    int32_t p = f->tree.parent[s];
    if (p >= 0 && f->branch_of[p] < 0) climb(job, p);
  }
}

/* Counts what the supernodes above the branches wait for. */
static void count_waiting(eb_front_job *job) {
  const eb_multifrontal *f = job->f;
  for (int32_t s = 0; s < f->tree.count; s++) f->waiting[s] = 0;
  for (int32_t s = 0; s < f->tree.count; s++)
    if (takes_part(job, s) && f->tree.parent[s] >= 0) f->waiting[f->tree.parent[s]]++;
}

static bool branch_takes_part(const eb_front_job *job, int32_t b) {
  for (int32_t s = job->f->branch_last[b]; s >= job->f->branch_first[b]; s--)
    if (takes_part(job, s)) return true;
  return false;
}

/* None of its children takes part. */
static bool waits_for_nothing(const eb_front_job *job, int32_t s) {
  const eb_multifrontal *f = job->f;
  for (int32_t k = f->child_start[s]; k < f->child_start[s + 1]; k++)
    if (takes_part(job, f->child[k])) return false;
  return true;
}

/* Starts everything that waits for nothing. */
static void start_tasks(eb_front_job *job) {
  const eb_multifrontal *f = job->f;
  for (int32_t s = 0; s < f->tree.count; s++) {
    int32_t b = f->branch_of[s];
    if (b >= 0) {
      s = f->branch_last[b];
      if (!branch_takes_part(job, b)) continue;
#pragma omp task firstprivate(b)
      run_branch(job, b);
    } else if (takes_part(job, s) && waits_for_nothing(job, s)) {
#pragma omp task firstprivate(s)
      {
        eb_front_factor(job, s);
        climb(job, f->tree.parent[s]);
      }
    }
  }
}

static void run_parallel(eb_front_job *job) {
  count_waiting(job);
#pragma omp parallel num_threads(job->f->threads)
#pragma omp single
  start_tasks(job);
}

void eb_multifrontal_run(eb_front_job *job) {
  job->parallel = job->f->threads > 1 && job_flops(job) > least_parallel_flops;
  if (job->parallel) {
    run_parallel(job);
    return;
  }
  for (int32_t s = 0; s < job->f->tree.count; s++)
    if (takes_part(job, s)) eb_front_factor(job, s);
}
