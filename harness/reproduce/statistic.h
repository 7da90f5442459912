/* Families of statistics ("family.of") on whole courses of steps and on stored frames. Internal to the evidence. */
#ifndef EB_REPRODUCE_STATISTIC_H
#define EB_REPRODUCE_STATISTIC_H

#include "harness/reproduce/evidence.h"

/* Each is asked only for cases that have a run. `frames` is ignored: these are of all steps. NaN without steps. */
typedef eb_error (*eb_statistic)(const eb_evidence *evidence, int case_, const char *of,
                                 int64_t frames, double *out);

/* of: a column of steps/ */
EB_MUST eb_error eb_statistic_end(const eb_evidence *evidence, int case_, const char *of,
                                  int64_t frames, double *out);
EB_MUST eb_error eb_statistic_most(const eb_evidence *evidence, int case_, const char *of,
                                   int64_t frames, double *out);
EB_MUST eb_error eb_statistic_least(const eb_evidence *evidence, int case_, const char *of,
                                    int64_t frames, double *out);
EB_MUST eb_error eb_statistic_late(const eb_evidence *evidence, int case_, const char *of,
                                   int64_t frames, double *out);
EB_MUST eb_error eb_statistic_gain(const eb_evidence *evidence, int case_, const char *of,
                                   int64_t frames, double *out);
EB_MUST eb_error eb_statistic_sum(const eb_evidence *evidence, int case_, const char *of,
                                  int64_t frames, double *out);
bool eb_statistic_is_column(const char *of);
/* of: a counter */
EB_MUST eb_error eb_statistic_last(const eb_evidence *evidence, int case_, const char *of,
                                   int64_t frames, double *out);
/* of: height|diagonal */
EB_MUST eb_error eb_statistic_rest(const eb_evidence *evidence, int case_, const char *of,
                                   int64_t frames, double *out);
/* of: restitution|flight */
EB_MUST eb_error eb_statistic_bounce(const eb_evidence *evidence, int case_, const char *of,
                                     int64_t frames, double *out);
/* of: swing */
EB_MUST eb_error eb_statistic_joints(const eb_evidence *evidence, int case_, const char *of,
                                     int64_t frames, double *out);
/* of: JOINT@FROM-TO:FROM-TO */
EB_MUST eb_error eb_statistic_turned(const eb_evidence *evidence, int case_, const char *of,
                                     int64_t frames, double *out);
bool eb_statistic_is_turned(const char *of);
/* of: unrest */
EB_MUST eb_error eb_statistic_pieces(const eb_evidence *evidence, int case_, const char *of,
                                     int64_t frames, double *out);

#endif
