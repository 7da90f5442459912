/* What the benchmarks measured, as a record of the project's history
 * (harness/history/history_record.h). */
#ifndef EB_BENCH_KERNEL_RECORD_H
#define EB_BENCH_KERNEL_RECORD_H

#include "harness/bench/runner.h"
#include "harness/environment.h"

/* Stores the medians of all results, beside the machine's limits in the same rounds, in the folder;
 * the caller frees *path, the file. EB_ERR_USAGE where the build knows no commit. */
EB_MUST eb_error eb_bench_record(const char *folder, const eb_host *host,
                                 const eb_bench_result *results, size_t count, char **path);

#endif
