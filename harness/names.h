/* The names a user can give, and what to say of one that does not exist. */
#ifndef EB_NAMES_H
#define EB_NAMES_H

#include <stdbool.h>

#include "harness/plugin.h"
#include "problems/base/strings.h"
#include "problems/scenes/file/scene_file.h"

/* Appends the names of all solvers (plug-ins last) and scenes. */
EB_MUST eb_error eb_solver_names(const eb_plugins *plugins, eb_strings *out);
EB_MUST eb_error eb_scene_names(eb_strings *out);

/* EB_ERR_USAGE: "there is no KIND 'x' (did you mean 'y'?); there are: a, b, c". Never EB_OK. */
eb_error eb_unknown_name(const char *kind, const char *name, const eb_strings *valid);
/* The same; valid are the names of `count` entries of `size` bytes, the first member of each. */
eb_error eb_unknown_entry(const char *kind, const char *name, const void *items, int count,
                          size_t size);

/* Whether two scenes are one: the same entry of the catalogue, or the same file by name and
 * content. */
bool eb_same_scene(const eb_scene_ops *a, const eb_scene_ops *b);
/* The path of the file that a scene is from, as it was given; NULL: it is of the catalogue. */
const char *eb_scene_path(const eb_scene_ops *scene);
/* What a scene is opened by again, in this process or another: its file's path, else its name. */
const char *eb_scene_given(const eb_scene_ops *scene);

/* Takes "NAME[:a=1,b=2]" apart; *assignments is NULL when there is no colon. The caller frees
 * both. */
EB_MUST eb_error eb_split_spec(const char *spec, char **name, char **assignments);
/* The same of a scene, whose name may be the path of a file: that ends with the first ".ini" before
 * a colon or the end, and may have colons itself. */
EB_MUST eb_error eb_split_scene(const char *spec, char **name, char **assignments);
/* Opens a scene that may have the materials of the plug-ins; `plugins` may be NULL. The caller
 * closes *out. */
EB_MUST eb_error eb_open_scene(const char *name, const eb_plugins *plugins,
                               const eb_scene_ops **out);
/* Takes a scene's spec apart and opens it. The caller closes *out and frees *assignments. */
EB_MUST eb_error eb_open_scene_spec(const char *spec, const eb_plugins *plugins,
                                    const eb_scene_ops **out, char **assignments);

/* Puts the spec of a scene with these parameters beside its own, or in the place of those of the
 * same name, in the place of *out, which is freed when that is made: it may be `spec`. */
EB_MUST eb_error eb_scene_spec_over(const char *spec, const char *parameters, char **out);

/* The value of the name of that length in canonical assignments "a=1,b=2", and its length; "" when
 * there is none. */
size_t eb_assigned_value(const char *assignments, const char *name, size_t length,
                         const char **value);

/* Whole numbers and reals of the command line and of suites; `what` names the option in
 * messages. */
EB_MUST eb_error eb_parse_whole(const char *what, const char *text, int64_t min, int64_t max,
                                int64_t *out);
EB_MUST eb_error eb_parse_real(const char *what, const char *text, double min, double max,
                               double *out);

#endif
