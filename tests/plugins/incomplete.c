/* A plug-in whose table lacks its functions. */
#include <elastobench/solver.h>

const int elastobench_abi = EB_PLUGIN_ABI;
const eb_solver_ops elastobench_solver = {.name = "incomplete", .summary = "has no functions"};
