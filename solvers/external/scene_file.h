/* A scene as a file for programs that are not ours: lines of text, then arrays (README.md in this
 * folder has the format). */
#ifndef EB_EXTERNAL_SCENE_FILE_H
#define EB_EXTERNAL_SCENE_FILE_H

#include <stdbool.h>

#include "problems/scene_contacts.h"

/* An anonymous file, empty so far; the caller closes *out. */
EB_MUST eb_error eb_scene_file_open(int *out);
/* Writes the scene into it, with its surfaces where contact is constraints (NULL: it is not), with
 * `pattern` also that of the Hessian, and seals it: nobody can write to it any more. */
EB_MUST eb_error eb_scene_file_write(const eb_scene *scene, const eb_surfaces *surfaces,
                                     bool pattern, int file);

/* Words for what scenes ask for, "tetrahedra scripted"; NULL for a bit that no program can serve.
 */
const char *eb_scene_file_need(uint32_t bit);

#endif
