/* What the checks ask of the solver under test. */
#ifndef EB_CHECK_SUBJECT_H
#define EB_CHECK_SUBJECT_H

#include "solvers/solver.h"

bool eb_subject_declares(const eb_solver_ops *ops, const char *option);
bool eb_subject_can(const eb_solver_ops *ops, uint32_t capabilities);
/* A material the solver serves. */
const char *eb_subject_material(const eb_solver_ops *ops);
/* Options that leave no linear-solver tolerance in the figures, nor a matrix out of date. */
const char *eb_subject_exact(const eb_solver_ops *ops);

#endif
