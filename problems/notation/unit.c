#include "problems/notation/unit.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define PI 3.14159265358979323846

static const eb_unit units[] = {
    {"m", 1, 1},          {"km", 1e3, 1},     {"cm", 1, 1e2},      {"mm", 1, 1e3},
    {"um", 1, 1e6},       {"m^2", 1, 1},      {"mm^2", 1, 1e6},    {"m^3", 1, 1},
    {"s", 1, 1},          {"ms", 1, 1e3},     {"1/s", 1, 1},       {"Hz", 1, 1},
    {"kg", 1, 1},         {"g", 1, 1e3},      {"t", 1e3, 1},       {"N", 1, 1},
    {"kN", 1e3, 1},       {"mN", 1, 1e3},     {"N m", 1, 1},       {"J", 1, 1},
    {"Pa", 1, 1},         {"kPa", 1e3, 1},    {"MPa", 1e6, 1},     {"GPa", 1e9, 1},
    {"N/m", 1, 1},        {"N/mm", 1e3, 1},   {"Pa/m", 1, 1},      {"Pa s/m", 1, 1},
    {"N s/m", 1, 1},      {"N m/rad", 1, 1},  {"N m s/rad", 1, 1}, {"kg m^2", 1, 1},
    {"kg/m^3", 1, 1},     {"g/cm^3", 1e3, 1}, {"t/mm^3", 1e12, 1}, {"kg/m^2", 1, 1},
    {"m/s", 1, 1},        {"mm/s", 1, 1e3},   {"km/h", 1, 3.6},    {"m/s^2", 1, 1},
    {"rad", 1, 1},        {"deg", PI, 180},   {"rad/s", 1, 1},     {"deg/s", PI, 180},
    {"turns", 2 * PI, 1}, {"N/m^2", 1, 1},    {"N/mm^2", 1e6, 1}};

const eb_unit *eb_unit_at(const char *text) {
  const eb_unit *longest = NULL;
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
    size_t length = strlen(units[u].name);
    bool is_whole = strncmp(text, units[u].name, length) == 0 &&
                    !isalnum((unsigned char)text[length]) && text[length] != '_';
    if (is_whole && (!longest || length > strlen(longest->name))) longest = &units[u];
  }
  return longest;
}

double eb_unit_value(const eb_unit *unit, double number) {
  return unit ? number * unit->times / unit->over : number;
}
