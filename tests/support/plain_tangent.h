/* The audit's tangents at one deformation gradient, in scalars, with the rotation of the singular
 * vectors: the oracle of harness/audit/tangent.h, whose definitions it has. */
#ifndef EB_TESTS_PLAIN_TANGENT_H
#define EB_TESTS_PLAIN_TANGENT_H

#include "problems/elasticity/material.h"
#include "solvers/solver.h"

void plain_tangent(const eb_material *material, eb_tangent tangent, const double F[9],
                   const double *fibre, const double dF[9], double dP[9]);

#endif
