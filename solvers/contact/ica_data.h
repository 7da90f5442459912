/* What the files of Iterative Constraint Anticipation share. Internal to solvers/contact. */
#ifndef EB_CONTACT_ICA_DATA_H
#define EB_CONTACT_ICA_DATA_H

#include "solvers/contact/method.h"

typedef struct eb_ica {
  int64_t inner_sweeps;
  int32_t rows, contact_room, entry_room, touched_count;
  double *D_inverse;   /* 9 rows */
  double *R, *w;       /* 3 rows; w on rows that are touched */
  int32_t *touched;    /* rows: those that contacts act on, ascending */
  uint8_t *is_touched; /* rows */
  double *work;        /* 3 rows + 3 contact_room: of the measure */
  double *before;      /* 3 a contact: r before an iteration */
  double share;        /* of the change of r that is made */
  double lowest;       /* residual since share was last changed */
  int64_t stale;       /* iterations since it last fell */
  double *response;    /* 9 an entry: D^-1 H^T */
  double *W;           /* 9 a contact: H D^-1 H^T of it alone, diagonal raised */
  uint8_t *state;      /* a contact: apart, sticking or sliding when last looked at */
} eb_ica;

/* One solve. */
typedef struct eb_ica_run {
  const eb_contact_problem *problem;
  const eb_contact_tolerance *tolerance;
  double *v, *r;
  eb_step_log *log;
  eb_contact_outcome *outcome;
} eb_ica_run;

/* Rows that contacts act on, D^-1 H^T, W; D_inverse is there. */
void eb_ica_begin_contacts(eb_ica *s, const eb_ica_run *run);
/* r from the anticipated w, and R with it: on rows that are touched D (w - v) = R. Counts a change of states. */
void eb_ica_anticipate(eb_ica *s, const eb_ica_run *run);

#endif
