/* elastobench new-scene: a scene's file that runs, with what else could stand in it, to be made
 * one's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/command.h"
#include "harness/cli/skeleton.h"
#include "harness/print.h"
#include "problems/base/owned.h"
#include "problems/scenes/file/scene_file.h"

static const char skeleton[] = "problems/scenes/file/scene.ini.in", ending[] = ".ini";

/* What results call it: of "my/crate.ini" or "my/crate" the text "crate". */
static eb_error find_stem(const char *given, char **out) {
  static const char characters[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  const char *slash = strrchr(given, '/'), *name = slash ? slash + 1 : given;
  size_t length = strlen(name) - (eb_scene_file_named(name) ? strlen(ending) : 0);
  if (length == 0 || length > 60 || strspn(name, characters) < length || *name == '-')
    return EB_ERROR(EB_ERR_USAGE,
                    "a scene's name has up to 60 letters, digits, '-' and '_', not '%s'", name);
  return eb_string_format(out, "%.*s", (int)length, name);
}

static eb_error run(const eb_arguments *arguments, int *code) {
  const char *given = arguments->positional.items[0];
  EB_FREED char *name = NULL, *path = NULL;
  (void)code;
  EB_TRY(find_stem(given, &name));
  EB_TRY(eb_string_format(&path, "%s%s", given, eb_scene_file_named(given) ? "" : ending));
  EB_TRY(eb_skeleton_write(path, skeleton, name, "take another name, or move that file away"));
  eb_print(stdout,
           "Look at it, run it, and see what came of it:\n"
           "  elastobench info %s --picture %s.png\n"
           "  elastobench run %s -s newton -s semi-implicit -o %s.h5\n"
           "  elastobench report %s.h5\n",
           path, name, path, name, name);
  return EB_OK;
}

const eb_command eb_command_new_scene = {.name = "new-scene",
                                         .synopsis = "NAME",
                                         .summary =
                                             "write NAME.ini, a scene of one's own to start from",
                                         .least = 1,
                                         .most = 1,
                                         .run = run};
