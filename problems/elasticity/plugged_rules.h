/* What a material of a plug-in is held to, by a few deformation gradients of a fixed seed: near
 * rest, stretched by half to two and a half in turned directions, and turned inside out. At the
 * last two kinds it may be without an energy; where it has one, all else holds. */
#ifndef EB_PLUGGED_RULES_H
#define EB_PLUGGED_RULES_H

#include "problems/elasticity/material.h"

typedef enum eb_plugged_rule {
  EB_RULE_FINITE,    /* near rest all is finite, elsewhere P and dP/dF are where psi is */
  EB_RULE_PURE,      /* asked again, the functions answer with the same bits */
  EB_RULE_REST,      /* psi(I) = 0 and P(I) = 0 */
  EB_RULE_STRESS,    /* P = dpsi/dF, by central differences */
  EB_RULE_TANGENT,   /* dPdF is the derivative of P, by central differences */
  EB_RULE_SYMMETRY,  /* dPdF is symmetric */
  EB_RULE_OBJECTIVE, /* psi(Q F) = psi(F) */
  EB_RULE_ISOTROPIC, /* psi(F Q) = psi(F) */
  EB_RULE_STABLE,    /* small strains have shear and bulk moduli above 0 */
  EB_PLUGGED_RULES
} eb_plugged_rule;

/* What was found of a rule: the worst defect, relative, and the F that it is at. */
typedef struct eb_plugged_finding {
  const char *name, *what; /* "stress"; what the defect measures */
  double defect, bound;
  double F[9];
} eb_plugged_finding;

/* Of a material of the kind EB_PLUGGED whose parameters are valid. */
void eb_plugged_examine(const eb_material *material, eb_plugged_finding found[EB_PLUGGED_RULES]);
/* EB_ERR_INVALID: the first rule that it breaks, with the numbers. */
EB_MUST eb_error eb_plugged_check(const eb_material *material);
/* E and nu of small strains, by its tangent at rest: those that p stands for, where the material is
 * written so. */
void eb_plugged_moduli(const eb_material *material, double *young, double *poisson);

#endif
