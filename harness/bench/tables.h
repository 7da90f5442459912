/* The tables of cases, one a bench_*.c, each ended by a NULL name. */
#ifndef EB_BENCH_TABLES_H
#define EB_BENCH_TABLES_H

#include "harness/bench/bench.h"

extern const eb_bench_case eb_bench_elasticity[], eb_bench_linalg[], eb_bench_cholesky[],
    eb_bench_update[], eb_bench_warp[], eb_bench_solvers[], eb_bench_collision[],
    eb_bench_contact[], eb_bench_audit[];

#endif
