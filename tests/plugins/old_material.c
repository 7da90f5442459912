/* A plug-in with a material alone, built for another version of the interface. */
#include <elastobench/material.h>

const int elastobench_abi = EB_PLUGIN_ABI - 1;
const eb_material_ops elastobench_material = {.name = "old"};
