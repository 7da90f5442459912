#include "harness/reproduce/paper_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/embedded.h"
#include "harness/names.h"

static const char room[] = "papers/", ini[] = "/paper.ini";

eb_error eb_paper_names(eb_strings *out) {
  size_t skip = strlen(room), cut = strlen(ini);
  for (const eb_embedded *file = eb_embedded_files; file->name; file++) {
    size_t length = strlen(file->name);
    if (strncmp(file->name, room, skip) == 0 && length > skip + cut &&
        strcmp(file->name + length - cut, ini) == 0)
      EB_TRY(eb_strings_add_part(out, file->name + skip, length - skip - cut));
  }
  return EB_OK;
}

static eb_error unknown_paper(const char *name) {
  eb_strings names = {0};
  eb_error error = eb_paper_names(&names);
  if (!error) error = eb_unknown_name("paper", name, &names);
  eb_strings_clear(&names);
  return error;
}

static bool is_built_in(const char *path) {
  for (const eb_embedded *file = eb_embedded_files; file->name; file++)
    if (strcmp(file->name, path) == 0) return true;
  return false;
}

static eb_error read_built_in(const char *paper, const char *name, eb_paper_file *out) {
  eb_embedded file;
  snprintf(out->path, sizeof out->path, "%s%s%s", room, paper, ini);
  if (!is_built_in(out->path)) return unknown_paper(paper);
  snprintf(out->path, sizeof out->path, "%s%s/%s", room, paper, name);
  EB_TRY(eb_embedded_find(out->path, &file));
  return eb_text_append(&out->text, file.data, file.size);
}

static eb_error read_all(FILE *file, eb_paper_file *out) {
  enum { LARGEST = 1 << 20 };
  char buffer[4096];
  EB_TRY(eb_text_append(&out->text, "", 0));
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, file)) > 0;) {
    EB_TRY(eb_text_append(&out->text, buffer, got));
    if (out->text.length > LARGEST)
      return EB_ERROR(EB_ERR_FORMAT, "'%s' is over 1 MB: that is no part of a paper", out->path);
  }
  if (ferror(file)) return EB_ERROR(EB_ERR_IO, "cannot read '%s': %s", out->path, strerror(errno));
  if (memchr(out->text.data, '\0', out->text.length))
    return EB_ERROR(EB_ERR_FORMAT, "'%s' is not a text file", out->path);
  return EB_OK;
}

static eb_error read_from(const char *paper, const char *from, const char *name,
                          eb_paper_file *out) {
  int used = snprintf(out->path, sizeof out->path, "%s/%s/%s", from, paper, name);
  if (used < 0 || (size_t)used >= sizeof out->path)
    return EB_ERROR(EB_ERR_IO, "the path '%s/%s/%s' is too long", from, paper, name);
  FILE *file = fopen(out->path, "rb");
  if (!file) return EB_ERROR(EB_ERR_IO, "cannot open '%s': %s", out->path, strerror(errno));
  eb_error error = read_all(file, out);
  fclose(file);
  return error;
}

eb_error eb_paper_file_read(const char *paper, const char *from, const char *name,
                            eb_paper_file *out) {
  out->text = (eb_text){0};
  eb_error error = from ? read_from(paper, from, name, out) : read_built_in(paper, name, out);
  if (error) eb_paper_file_clear(out);
  return error;
}

void eb_paper_file_clear(eb_paper_file *file) {
  eb_text_clear(&file->text);
}
