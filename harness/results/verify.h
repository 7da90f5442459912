/* Proof by doing that a result file can be read. HDF5 1.10 crashes on some damaged files, so this
 * is work for a process that may end: harness/case/sandbox.h starts it. */
#ifndef EB_RESULTS_VERIFY_H
#define EB_RESULTS_VERIFY_H

#include "harness/results/read.h"

/* Walks the complete file, first as HDF5 has it, then through the readers. Errors, with the place:
 *  - links that leave the file or go by a name, datasets that are kept elsewhere, types and
 *    filters that we never write;
 *  - blocks of data that are not inside the file, or do not unpack to their size
 *    (eb_h5_check_block);
 *  - anything that a reader refuses: attributes of runs, tables, set-up, residuals, materials,
 *    mesh, surface, colliders and obstacles;
 *  - tables of a run that differ in their number of rows, frames that are fewer than their times.
 * Of the frames only the shapes and the places of their blocks are looked at; a block is unpacked
 * when its frame is read. */
EB_MUST eb_error eb_results_verify(const char *path);

#endif
