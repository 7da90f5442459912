/* Files that this process has not written itself are first read in a process of their own: the
 * library of the format, HDF5 1.10, crashes, hangs or eats memory on some that are damaged, and its
 * child ends in our place. */
#ifndef EB_CASE_VOUCH_H
#define EB_CASE_VOUCH_H

#include "harness/case/child.h"

/* Runs this very program with a command and its arguments, within a time and a memory that the
 * bytes of the files named last (`files` of them) allow. EB_ERR_FORMAT says in words what became of
 * it when it does not end well; `what` is what it was at, as in "reading 'a.h5'", and `subject`
 * what its end makes of whom, as in "'a.h5' is damaged". `signals` is NULL when none are held back
 * yet. */
EB_MUST eb_error eb_vouch_run(const eb_strings *command, int files, const char *what,
                              const char *subject, eb_signals *signals);

/* The whole result file can be read. */
EB_MUST eb_error eb_vouch_results(const char *path, eb_signals *signals);
/* So can the contact problem of FCLib. */
EB_MUST eb_error eb_vouch_fclib(const char *path);

#endif
