/* Materials of plug-ins as scenes are given them: an entry of the scene has a list, and a material
 * of the kind EB_PLUGGED points into it. */
#ifndef EB_PLUGGED_H
#define EB_PLUGGED_H

#include "problems/base/arena.h"
#include "problems/base/digest.h"
#include "problems/elasticity/material.h"
#include "problems/elasticity/material_ops.h"

typedef struct eb_plugged {
  const eb_material_ops *ops;
  const char *path; /* of the shared object, absolute */
  eb_digest digest; /* of that file: another build is another material */
  bool named;       /* by the scene's file, it or a parameter of it: which cannot be read without */
} eb_plugged;

typedef struct eb_plugged_list {
  const eb_plugged *items;
  int count;
} eb_plugged_list;

/* NULL when there is none of that name. */
const eb_plugged *eb_plugged_find(const eb_plugged_list *list, const char *name);
/* Copies a list into memory that an arena owns. */
EB_MUST eb_error eb_plugged_copy(const eb_plugged_list *list, eb_arena *arena, eb_plugged **out);
/* The names of all materials behind the built-in ones, "linear|corotational|...|mine". */
EB_MUST eb_error eb_plugged_choices(const eb_plugged_list *list, eb_arena *arena, const char **out);

/* Sets kind, plugged and own of a material of that name, built-in or of the list; own parameters
 * have their defaults. EB_ERR_FORMAT: there is none, with the nearest. */
EB_MUST eb_error eb_material_choose(const eb_plugged_list *list, const char *name,
                                    eb_material *material);

/* The place of an own parameter of that name, from 0 on; -1: there is none. */
int eb_plugged_parameter(const eb_material_ops *ops, const char *name);
int eb_plugged_parameter_count(const eb_material_ops *ops);
/* Sets p as the functions of the material want it. */
void eb_plugged_numbers(const eb_material *material, double p[EB_FIRST_OWN + EB_OWN_PARAMETERS]);

/* EB_ERR_UNSUPPORTED: what is wrong with the table of a plug-in, before anything of it is called.
 */
EB_MUST eb_error eb_material_ops_validate(const eb_material_ops *ops);
/* EB_ERR_INVALID: an own parameter that is out of its range. */
EB_MUST eb_error eb_plugged_validate(const eb_material *material);

#endif
