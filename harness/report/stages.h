/* How a run's steps went over time: the share of elements brought up to date and, below it, the time of a step by stage. */
#ifndef EB_REPORT_STAGES_H
#define EB_REPORT_STAGES_H

#include "harness/report/model.h"

/* Draws DIR/BASE.{dat,gp,svg} for a run that has updated elements; *drawn says whether it has. */
EB_MUST eb_error eb_plots_stages(const eb_report_run *run, const char *dir, const char *base,
                                 bool *drawn);

#endif
