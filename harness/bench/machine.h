/* What the machine can do: DGEMM rate and triad bandwidth, measured here and now. */
#ifndef EB_BENCH_MACHINE_H
#define EB_BENCH_MACHINE_H

#include "problems/base/error.h"

typedef struct eb_machine eb_machine;
/* Allocates the operands for `threads` independent kernels; each thread has its own. */
EB_MUST eb_error eb_machine_create(int threads, eb_machine **out);
/* One short measurement (about 20 ms) on `threads` threads (at most those created for): flop/s and
 * bytes/s of all together. DGEMM is OpenBLAS on one thread each. Triad, a = b + s c on arrays well
 * above the last-level cache, is counted as STREAM does: 24 bytes an entry, without the line that a
 * store reads before it writes. */
double eb_machine_dgemm(eb_machine *machine, int threads);
double eb_machine_triad(eb_machine *machine, int threads);
void eb_machine_destroy(eb_machine *machine);

#endif
