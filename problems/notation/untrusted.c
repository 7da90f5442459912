#include "problems/notation/untrusted.h"

#include <ctype.h>
#include <string.h>

bool eb_is_word(const char *text) {
  static const char letters[] = "-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  size_t length = strspn(text, letters);
  return length > 0 && !text[length] && *text != '-' && *text != '_';
}

eb_error eb_check_word(const char *kind, const char *name) {
  enum { LONGEST = 100 };
  if (eb_is_word(name) && isalpha((unsigned char)*name) && strlen(name) <= LONGEST) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT,
                  "'%s' is no name for a %s: it begins with a letter and holds letters, digits and "
                  "dashes, %d at most",
                  name, kind, LONGEST);
}

static eb_error ask(double *asked, double more, double each, const char *what) {
  *asked += each * more;
  if (*asked <= EB_MOST_ASKED) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT,
                  "this asks for %.12g %s: with what stands before it that is more than the %.0f "
                  "that a file may ask for",
                  more, what, EB_MOST_ASKED / each);
}

eb_error eb_ask(double *asked, double more, const char *what) {
  return ask(asked, more, 1, what);
}

eb_error eb_ask_evaluations(double *asked, double more) {
  return ask(asked, more, 0.1, "evaluations of an expression's parts");
}
