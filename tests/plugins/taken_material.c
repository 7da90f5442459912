/* A plug-in whose material has the name of a built-in one. */
#include <elastobench/material.h>

static double energy(const double *p, const double F[9]) {
  return p[0] * F[0];
}

static void nothing(const double *p, const double F[9], double *out) {
  out[0] = p[0] * F[0];
}

const int elastobench_abi = EB_PLUGIN_ABI;
const eb_material_ops elastobench_material = {
    .name = "linear", .summary = "taken", .energy = energy, .stress = nothing, .tangent = nothing};
