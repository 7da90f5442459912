/* A plug-in built for another version of the interface. */
#include <elastobench/solver.h>

const int elastobench_abi = EB_PLUGIN_ABI + 1;
const eb_solver_ops elastobench_solver = {.name = "wrong-abi"};
