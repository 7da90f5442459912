/* The cheat that declares that its positions are corrected behind the velocities (x1 = x0 + h v1 +
 * c). */
#include <elastobench/solver.h>

#define CHEAT_UPDATE EB_UPDATE_CORRECTED
#define CHEAT_NAME   "cheat-corrected"
#include "tests/plugins/cheats.c"
