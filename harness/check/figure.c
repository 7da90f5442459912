/* One measured figure against its bound, on its way to whoever prints or counts it. */
#include "harness/check/check.h"

#include <stdarg.h>
#include <stdio.h>

static void emit(const eb_check *check, double measured, bool at_least, double bound,
                 const char *reason, const char *format, va_list arguments) {
  char name[192];
  vsnprintf(name, sizeof name, format, arguments);
  eb_check_figure figure = {.name = name,
                            .measured = measured,
                            .at_least = at_least,
                            .bound = bound,
                            .reason = reason,
                            .passed = at_least ? measured >= bound : measured <= bound};
  check->emit(check->context, &figure);
}

void eb_check_below(const eb_check *check, double measured, double bound, const char *reason,
                    const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  emit(check, measured, false, bound, reason, format, arguments);
  va_end(arguments);
}

void eb_check_above(const eb_check *check, double measured, double bound, const char *reason,
                    const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  emit(check, measured, true, bound, reason, format, arguments);
  va_end(arguments);
}
