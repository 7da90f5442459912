#include "problems/mesh/io/scan.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/base/file.h"
#include "problems/base/memory.h"

void eb_scan_start(eb_scan *scan, const char *name, const void *data, size_t bytes) {
  const char *text = data;
  *scan = (eb_scan){.name = name, .begin = text, .end = text + bytes, .at = text};
  if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) scan->at += 3;
}

eb_error eb_scan_error(const eb_scan *scan, const char *at, const char *format, ...) {
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (scan->binary)
    return EB_ERROR(EB_ERR_FORMAT, "%s: byte %zu: %s", scan->name, (size_t)(at - scan->begin),
                    message);
  long long line = 1;
  for (const char *p = scan->begin; p < at; p++) {
    p = memchr(p, '\n', (size_t)(at - p));
    if (!p) break;
    line++;
  }
  return EB_ERROR(EB_ERR_FORMAT, "%s:%lld: %s", scan->name, line, message);
}

eb_error eb_scan_note(const eb_scan *scan, const char *format, ...) {
  char message[512];
  va_list arguments;
  if (!scan->notes) return EB_OK;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return eb_text_printf(scan->notes, "%s: %s\n", scan->name, message);
}

/* ---- words ----------------------------------------------------------------------------------- */

static bool is_blank(const eb_scan *scan, char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || (c == scan->separator && c);
}

static void skip_comment(eb_scan *scan) {
  const char *newline = memchr(scan->at, '\n', (size_t)(scan->end - scan->at));
  scan->at = newline ? newline : scan->end;
}

/* Skips blanks and comments, up to the end of the line only when `in_line`. */
static bool skip(eb_scan *scan, bool in_line) {
  while (scan->at < scan->end) {
    char c = *scan->at;
    if (c == '\n' && in_line) return false;
    if (is_blank(scan, c))
      scan->at++;
    else if (c == scan->comment && c)
      skip_comment(scan);
    else
      return true;
  }
  return false;
}

static eb_word take_word(eb_scan *scan) {
  eb_word word = {.text = scan->at};
  while (scan->at < scan->end && !is_blank(scan, *scan->at) &&
         !(*scan->at == scan->comment && scan->comment))
    scan->at++;
  word.length = (size_t)(scan->at - word.text);
  return word;
}

bool eb_scan_more(eb_scan *scan) {
  return skip(scan, false);
}

const char *eb_scan_place(eb_scan *scan) {
  if (!scan->binary) skip(scan, false);
  return scan->at;
}

eb_word eb_scan_word(eb_scan *scan) {
  return skip(scan, false) ? take_word(scan) : (eb_word){.text = scan->at};
}

eb_word eb_scan_word_in_line(eb_scan *scan) {
  return skip(scan, true) ? take_word(scan) : (eb_word){.text = scan->at};
}

eb_word eb_scan_peek(eb_scan *scan) {
  const char *at = scan->at;
  eb_word word = eb_scan_word(scan);
  scan->at = at;
  return word;
}

void eb_scan_next_line(eb_scan *scan) {
  skip_comment(scan);
  if (scan->at < scan->end) scan->at++;
}

eb_word eb_scan_rest(eb_scan *scan) {
  if (!skip(scan, true)) {
    eb_word none = {.text = scan->at};
    eb_scan_next_line(scan);
    return none;
  }
  eb_word rest = {.text = scan->at};
  const char *last = scan->at;
  for (; scan->at < scan->end && *scan->at != '\n'; scan->at++) {
    if (*scan->at == scan->comment && scan->comment) break;
    if (!is_blank(scan, *scan->at)) last = scan->at + 1;
  }
  rest.length = (size_t)(last - rest.text);
  eb_scan_next_line(scan);
  return rest;
}

bool eb_word_is(eb_word word, const char *text) {
  return word.length == strlen(text) && strncasecmp(word.text, text, word.length) == 0;
}

bool eb_word_is_among(eb_word word, const char *const *texts) {
  while (*texts && !eb_word_is(word, *texts)) texts++;
  return *texts != NULL;
}

bool eb_word_starts(eb_word word, const char *text) {
  size_t length = strlen(text);
  return word.length >= length && strncasecmp(word.text, text, length) == 0;
}

eb_error eb_scan_name(const eb_scan *scan, eb_word word, char *out, size_t bytes) {
  if (word.length >= bytes)
    return eb_scan_error(scan, word.text, "name '%.*s' is longer than %zu bytes; shorten it",
                         (int)(word.length < 80 ? word.length : 80), word.text, bytes - 1);
  for (size_t i = 0; i < word.length; i++) {
    unsigned char c = (unsigned char)word.text[i];
    out[i] = c < 0x20 || c == 0x7f ? '_' : (char)c;
  }
  out[word.length] = '\0';
  return EB_OK;
}

/* ---- numbers --------------------------------------------------------------------------------- */

bool eb_word_int(eb_word word, int64_t *out) {
  const char *p = word.text, *end = word.text + word.length;
  bool negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) p++;
  if (p == end) return false;
  int64_t value = 0;
  for (; p < end; p++) {
    if (*p < '0' || *p > '9') return false;
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *p - '0', &value))
      return false;
  }
  *out = negative ? -value : value;
  return true;
}

typedef struct decimal {
  bool negative;
  uint64_t digits; /* the value is digits x 10^exponent */
  int exponent;
  int significant; /* how many digits went in; above 19 they no longer fit */
} decimal;

/* Splits [sign] digits [. digits] [e|E|d|D [sign] digits]; false for anything else. */
static bool split_decimal(eb_word word, decimal *out) {
  const char *p = word.text, *end = word.text + word.length;
  decimal d = {.negative = p < end && *p == '-'};
  if (p < end && (*p == '-' || *p == '+')) p++;
  int seen = 0;
  bool fraction = false;
  for (; p < end; p++) {
    if (*p == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (*p < '0' || *p > '9') break;
    seen++;
    if (d.digits || *p != '0') d.significant++;
    if (d.significant <= 19) d.digits = 10 * d.digits + (uint64_t)(*p - '0');
    d.exponent -= fraction;
  }
  if (seen == 0) return false;
  if (p < end && (*p == 'e' || *p == 'E' || *p == 'd' || *p == 'D')) {
    int64_t exponent;
    if (!eb_word_int((eb_word){.text = p + 1, .length = (size_t)(end - p - 1)}, &exponent))
      return false;
    if (exponent < -100000 || exponent > 100000) exponent = exponent < 0 ? -100000 : 100000;
    d.exponent += (int)exponent;
    p = end;
  }
  *out = d;
  return p == end;
}

/* Up to 2^53 and 10^22 both factors are exact doubles, so that one operation rounds correctly
 * (Clinger, How to read floating point numbers accurately, 1990). */
static bool word_real(eb_word word, double *out) {
  static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  decimal d;
  if (!split_decimal(word, &d)) return false;
  if (d.significant > 19 || d.digits > (UINT64_C(1) << 53) || d.exponent < -22 ||
      d.exponent > 22) { /* the library's conversion */
    char text[1024];
    if (word.length >= sizeof text) return false;
    for (size_t i = 0; i < word.length; i++) {
      char c = word.text[i];
      text[i] = c == 'd' || c == 'D' ? 'e' : c;
    }
    text[word.length] = '\0';
    *out = strtod(text, NULL);
    return true;
  }
  double value = (double)d.digits;
  value = d.exponent < 0 ? value / power[-d.exponent] : value * power[d.exponent];
  *out = d.negative ? -value : value;
  return true;
}

static eb_error ended(const eb_scan *scan, const char *what) {
  return eb_scan_error(scan, scan->end, "the file ends where %s should stand; it is truncated",
                       what);
}

/* "should be KIND, not 'word'", or that binary data stands where text is announced. */
static eb_error no_number(const eb_scan *scan, const char *what, const char *kind, eb_word word) {
  for (size_t i = 0; i < word.length; i++)
    if ((unsigned char)word.text[i] < ' ' || (unsigned char)word.text[i] >= 0x7f)
      return eb_scan_error(scan, word.text,
                           "%s should be %s, but bytes that are no text stand here: the file "
                           "announces text and holds binary data, or is damaged",
                           what, kind);
  return eb_scan_error(scan, word.text, "%s should be %s, not '%.*s'", what, kind, EB_SHOWN(word));
}

eb_error eb_scan_int(eb_scan *scan, const char *what, int64_t *out) {
  eb_word word = eb_scan_word(scan);
  if (word.length == 0) return ended(scan, what);
  return eb_word_int(word, out) ? EB_OK : no_number(scan, what, "an integer", word);
}

eb_error eb_scan_real(eb_scan *scan, const char *what, double *out) {
  eb_word word = eb_scan_word(scan);
  if (word.length == 0) return ended(scan, what);
  bool good = word_real(word, out) && isfinite(*out);
  return good ? EB_OK : no_number(scan, what, "a finite number", word);
}

eb_error eb_scan_reals(eb_scan *scan, const char *what, int count, double *out) {
  for (int i = 0; i < count; i++) EB_TRY(eb_scan_real(scan, what, &out[i]));
  return EB_OK;
}

eb_error eb_scan_fits(const eb_scan *scan, const char *what, int64_t count, size_t bytes_each) {
  size_t left = (size_t)(scan->end - scan->at);
  if (count < 0)
    return eb_scan_error(scan, scan->at, "%lld %s: a count cannot be negative", (long long)count,
                         what);
  /* The last entry of a text needs no separator behind it. */
  size_t most = (left + 1) / bytes_each;
  if ((uint64_t)count > most || count > INT32_MAX)
    return eb_scan_error(scan, scan->at,
                         "%lld %s are announced, but only %zu bytes follow; the file is truncated "
                         "or the count is wrong",
                         (long long)count, what, left);
  return EB_OK;
}

eb_error eb_scan_count(eb_scan *scan, const char *what, size_t bytes_each, int64_t *out) {
  char phrase[80];
  snprintf(phrase, sizeof phrase, "the number of %s", what);
  EB_TRY(eb_scan_int(scan, phrase, out));
  return eb_scan_fits(scan, what, *out, bytes_each);
}

/* ---- binary ---------------------------------------------------------------------------------- */

eb_error eb_scan_bytes(eb_scan *scan, const char *what, size_t count, const char **out) {
  if (count > (size_t)(scan->end - scan->at)) return ended(scan, what);
  *out = scan->at;
  scan->at += count;
  return EB_OK;
}

/* The bytes of a number, put together in the scan's order. */
static eb_error take_raw(eb_scan *scan, const char *what, int bytes, uint64_t *out) {
  const char *raw = scan->at;
  EB_TRY(eb_scan_bytes(scan, what, (size_t)bytes, &raw));
  *out = 0;
  for (int i = 0; i < bytes; i++)
    *out = *out << 8 | (unsigned char)raw[scan->big_endian ? i : bytes - 1 - i];
  return EB_OK;
}

eb_error eb_scan_typed_int(eb_scan *scan, const char *what, const eb_number_type *type,
                           int64_t *out) {
  if (!scan->binary) return eb_scan_int(scan, what, out);
  const char *raw = scan->at;
  uint64_t value, sign = UINT64_C(1) << (8 * type->bytes - 1);
  EB_TRY(take_raw(scan, what, type->bytes, &value));
  if (type->kind != EB_SIGNED && type->bytes == 8 && (value & sign))
    return eb_scan_error(scan, raw, "%s is %llu, which is out of range", what,
                         (unsigned long long)value);
  /* Two's complement: flipping the sign bit and subtracting it extends the sign. */
  if (type->kind == EB_SIGNED) value = (value ^ sign) - sign;
  memcpy(out, &value, sizeof *out);
  return EB_OK;
}

eb_error eb_scan_typed_real(eb_scan *scan, const char *what, const eb_number_type *type,
                            double *out) {
  if (!scan->binary) return eb_scan_real(scan, what, out);
  if (type->kind != EB_REAL) {
    int64_t value;
    EB_TRY(eb_scan_typed_int(scan, what, type, &value));
    *out = (double)value;
    return EB_OK;
  }
  const char *raw = scan->at;
  uint64_t bits;
  EB_TRY(take_raw(scan, what, type->bytes, &bits));
  if (type->bytes == 4) {
    uint32_t half = (uint32_t)bits;
    float value;
    memcpy(&value, &half, sizeof value);
    *out = (double)value;
  } else {
    memcpy(out, &bits, sizeof *out);
  }
  if (!isfinite(*out)) return eb_scan_error(scan, raw, "%s is %g, not a finite number", what, *out);
  return EB_OK;
}

eb_error eb_scan_type(const eb_scan *scan, eb_word name, const eb_number_type *types,
                      const char *format, const eb_number_type **out) {
  for (; types->name; types++)
    if (eb_word_is(name, types->name) || (types->other && eb_word_is(name, types->other))) {
      *out = types;
      return EB_OK;
    }
  return eb_scan_error(scan, name.text, "'%.*s' is no data type of %s", EB_SHOWN(name), format);
}

/* ---- loading --------------------------------------------------------------------------------- */

static eb_error load(int file, const char *path, char **data, size_t *bytes) {
  struct stat status;
  if (fstat(file, &status) != 0)
    return EB_ERROR(EB_ERR_IO, "cannot read %s: %s", path, strerror(errno));
  if (status.st_size == 0) return EB_ERROR(EB_ERR_FORMAT, "%s:1: the file is empty", path);
  *bytes = (size_t)status.st_size;
  EB_TRY(EB_NEW(*data, *bytes));
  for (size_t done = 0; done < *bytes;) {
    ssize_t got = read(file, *data + done, *bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return EB_ERROR(EB_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (got == 0)
      return EB_ERROR(EB_ERR_IO, "%s became shorter while it was read; try again", path);
    done += (size_t)got;
  }
  return EB_OK;
}

eb_error eb_file_load(const char *path, char **data, size_t *bytes) {
  *data = NULL;
  *bytes = 0;
  int file;
  EB_TRY(eb_file_open(path, &file));
  eb_error error = load(file, path, data, bytes);
  close(file);
  if (error) {
    free(*data);
    *data = NULL;
  }
  return error;
}
