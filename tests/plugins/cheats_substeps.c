/* The cheat that declares that it cuts its steps into parts, whose velocities nobody knows. */
#include <elastobench/solver.h>

#define CHEAT_UPDATE EB_UPDATE_SUBSTEPS
#define CHEAT_NAME   "cheat-substeps"
#include "tests/plugins/cheats.c"
