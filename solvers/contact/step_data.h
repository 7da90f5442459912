/* What the files of the contact step share. Internal. */
#ifndef EB_CONTACT_STEP_DATA_H
#define EB_CONTACT_STEP_DATA_H

#include "solvers/contact/constraints.h"
#include "solvers/contact/method.h"
#include "solvers/contact/record.h"

typedef struct eb_contact_step {
  const eb_contact_method *method;
  void *method_data;
  eb_contact_system system;
  eb_contact_surface surface;
  eb_constraints constraints; /* those of the last step between the steps */
  eb_contact_problem *problem;
  eb_contact_tolerance tolerance; /* of the present step; eps1 absolute */
  double gap;                     /* m */
  int64_t max_rounds;
  int64_t rounds; /* of the last step */
  double *v;      /* 3 rows */
  int32_t room;
  double *r;     /* 3 room */
  double *work;  /* 3 rows + 3 room */
  uint8_t *mark; /* room */
  eb_contact_record record;
  eb_pair *pair;                       /* room; of the record, as all below */
  double *weight, *frame, *c, *mu, *u; /* 4, 9, 3, 1, 3 room */
} eb_contact_step;

/* Makes room in the arrays above for as many constraints. */
EB_MUST eb_error eb_contact_step_reserve(eb_contact_step *step, int32_t room);

/* Constraints of the last step whose features are still close, linearized at the start of this one, and vertices that are close to faces. */
EB_MUST eb_error eb_contact_step_carry(eb_contact_step *step);
/* Compares the motion that the last solve gave with its constraints, adds and renews them; *settled when there was nothing to do. */
EB_MUST eb_error eb_contact_step_look(eb_contact_step *step, eb_step_log *log, bool *settled);
/* Writes step->record of a step that is done. */
void eb_contact_step_record(eb_contact_step *step);

#endif
