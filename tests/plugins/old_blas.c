/* Put before OpenBLAS: one that does not know the processor, unless it is told the kernels. */
#include <stdlib.h>

__attribute__((visibility("default"))) char *openblas_get_corename(void);

char *openblas_get_corename(void) {
  static char unknown[] = "Prescott";
  char *told = getenv("OPENBLAS_CORETYPE");
  return told ? told : unknown;
}
