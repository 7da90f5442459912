/* Files that this process has not written itself are first read in a process of their own: the
 * library of the format, HDF5 1.10, crashes, hangs or eats memory on some that are damaged, and its
 * child ends in our place. */
#ifndef EB_CASE_SANDBOX_H
#define EB_CASE_SANDBOX_H

#include "harness/case/child.h"

/* Runs this very program with a command and its arguments, within a time and a memory that the
 * bytes of the files named last (`files` of them) allow. EB_ERR_FORMAT says in words what became of
 * it when it does not end well; `what` is what it was at, as in "reading 'a.h5'", and `subject`
 * what its end makes of whom, as in "'a.h5' is damaged". `signals` is NULL when none are held back
 * yet. */
EB_MUST eb_error eb_sandbox_run(const eb_strings *command, int files, const char *what,
                                const char *subject, eb_signals *signals);
/* The same within what so many bytes allow. */
EB_MUST eb_error eb_sandbox_run_for(const eb_strings *command, double bytes, const char *what,
                                    const char *subject, eb_signals *signals);

/* EB_ERR_FORMAT unless the whole file can be read, which a result file with a sound seal can be
 * (harness/results/seal.h), and one whose seal is broken must not be; `kind` is "results", or
 * "fclib" for a contact problem of FCLib. */
EB_MUST eb_error eb_sandbox_verify(const char *kind, const char *path, eb_signals *signals);
/* The same whatever the seal says. */
EB_MUST eb_error eb_sandbox_try(const char *kind, const char *path, eb_signals *signals);
/* Whether the file, which may be unfinished, opens as a result and every dataset in it can be read:
 * a solver may have written into its file by accident. */
bool eb_sandbox_reads(const char *path);

#endif
