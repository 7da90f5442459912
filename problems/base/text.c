#include "problems/base/assert.h"
#include "problems/base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

void eb_text_join(char *out, size_t bytes, const char *const *words, size_t count,
                  const char *separator) {
  if (bytes == 0) return;
  out[0] = '\0';
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    int added = snprintf(out + used, bytes - used, "%s%s", i ? separator : "", words[i]);
    if (added < 0 || (size_t)added >= bytes - used) {
      if (bytes >= 4) memcpy(out + bytes - 4, "...", 4);
      return;
    }
    used += (size_t)added;
  }
}

/* Levenshtein distance over the first 63 characters. */
static size_t edit_distance(const char *a, const char *b) {
  enum { LONGEST = 63 };
  size_t row[LONGEST + 1]; /* of the table of distances between beginnings of a and b */
  size_t na = strnlen(a, LONGEST), nb = strnlen(b, LONGEST);
  for (size_t j = 0; j <= nb; j++) row[j] = j;
  for (size_t i = 1; i <= na; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      size_t least = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < least) least = row[j] + 1;
      if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
      row[j] = least;
    }
  }
  return row[nb];
}

eb_error eb_unknown(eb_error_code code, const char *word, const char *const *words, size_t count,
                    const char *format, ...) {
  char beginning[200], list[700] = "none";
  const char *near = NULL;
  size_t least = 0, length = strlen(word);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(beginning, sizeof beginning, format, arguments);
  va_end(arguments);
  for (size_t i = 0; i < count; i++) {
    size_t distance = edit_distance(word, words[i]), other = strlen(words[i]);
    size_t longer = length > other ? length : other;
    if (3 * distance > longer + 2 || (near && distance >= least)) continue;
    near = words[i];
    least = distance;
  }
  for (size_t i = 0; i < count && !near; i++) {
    const char *slash = strchr(words[i], '/');
    if (slash && strcmp(slash + 1, word) == 0) near = words[i];
  }
  if (count > 0) eb_text_join(list, sizeof list, words, count, ", ");
  return EB_ERROR(code, "%s '%s'%s%s%s; there are: %s", beginning, word,
                  near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", list);
}

/* Bytes of the UTF-8 character that begins here, and its code point; 0 when none does: a stray
 * byte, an overlong form, half of a surrogate pair, past U+10FFFF. */
static int read_character(const unsigned char *at, long *code) {
  static const struct {
    unsigned char mask, lead;
    long least;
  } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
  for (int more = 0; more < 4; more++) {
    if ((at[0] & forms[more].mask) != forms[more].lead) continue;
    *code = at[0] & (unsigned char)~forms[more].mask;
    for (int i = 1; i <= more; i++) {
      if ((at[i] & 0xc0) != 0x80) return 0;
      *code = *code << 6 | (at[i] & 0x3f);
    }
    bool good =
        *code >= forms[more].least && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff);
    return good ? more + 1 : 0;
  }
  return 0;
}

/* Whether a character is obeyed and not seen. Of Unicode's format characters (Cf) the two joiners
 * stay, which scripts and emoji are written with. */
static bool is_unseen(long code) {
  static const long ranges[][2] = {
      {0x00, 0x08},       {0x0b, 0x1f},     /* C0, but for tabs and ends of lines */
      {0x7f, 0x9f},                         /* DEL and C1 */
      {0xad, 0xad},                         /* soft hyphen */
      {0x61c, 0x61c},     {0x200e, 0x200f}, /* marks of direction */
      {0x180e, 0x180e},   {0x200b, 0x200b}, /* of no width */
      {0x2028, 0x202e},                     /* separators of lines, embeddings and overrides */
      {0x2060, 0x206f},                     /* word joiner, isolates, deprecated ones */
      {0xfeff, 0xfeff},   {0xfff9, 0xfffb}, /* byte order mark, annotations */
      {0xfffe, 0xffff},                     /* no characters, which XML refuses */
      {0xe0000, 0xe007f},                   /* tags */
  };
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (code >= ranges[i][0] && code <= ranges[i][1]) return true;
  return false;
}

void eb_text_clean(char *text) {
  unsigned char *at = (unsigned char *)text;
  while (*at) {
    long code;
    int bytes = read_character(at, &code);
    bool bad = bytes == 0 || is_unseen(code);
    if (bytes == 0) bytes = 1;
    if (bad) memset(at, '?', (size_t)bytes);
    at += bytes;
  }
}

static eb_error reserve(eb_text *text, size_t more) {
  size_t needed = text->length + more + 1;
  if (needed <= text->capacity) return EB_OK;
  size_t capacity = text->capacity ? text->capacity : 256;
  while (capacity < needed) capacity *= 2;
  char *grown = eb_recalloc(text->data, text->capacity, capacity, 1);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot grow a text to %zu bytes", capacity);
  text->data = grown;
  text->capacity = capacity;
  return EB_OK;
}

eb_error eb_text_append(eb_text *text, const char *bytes, size_t count) {
  EB_ASSERT(bytes || count == 0);
  EB_TRY(reserve(text, count));
  memcpy(text->data + text->length, bytes, count);
  text->length += count;
  text->data[text->length] = '\0';
  return EB_OK;
}

eb_error eb_text_printf(eb_text *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int bytes = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  eb_error error = bytes < 0 ? EB_ERROR(EB_ERR_IO, "cannot format text '%s'", format)
                             : reserve(text, (size_t)bytes);
  if (!error) {
    vsnprintf(text->data + text->length, (size_t)bytes + 1, format, again);
    text->length += (size_t)bytes;
  }
  va_end(again);
  return error;
}

void eb_text_clear(eb_text *text) {
  free(text->data);
  *text = (eb_text){0};
}
