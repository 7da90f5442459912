/* The cheat that declares that forces move positions a step late (x1 = x0 + h v1 - h^2 f_ext / m).
 */
#include <elastobench/solver.h>

#define CHEAT_UPDATE EB_UPDATE_LATE_FORCE
#define CHEAT_NAME   "cheat-late"
#include "tests/plugins/cheats.c"
