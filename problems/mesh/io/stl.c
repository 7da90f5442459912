/* STL, ascii and binary. The format repeats the vertices of every facet: those that are bitwise
 * equal are joined (0 and -0 count as equal), and facets that this leaves with two equal corners
 * are dropped, which opens no edge. Normals are ignored. */
#include "problems/mesh/io/formats.h"

enum { HEADER = 84, FACET = 50 };

static eb_error add_facet(eb_joiner *j, eb_facets *facets, const eb_scan *scan, const char *place,
                          double x[3][3]) {
  int64_t corner[3];
  for (int a = 0; a < 3; a++) EB_TRY(eb_join(j, facets, x[a], &corner[a]));
  if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) return EB_OK;
  for (int a = 0; a < 3; a++) EB_TRY(eb_facets_corner(facets, scan, place, a, corner[a]));
  return EB_OK;
}

static eb_error read_raw(eb_joiner *j, eb_scan *scan, eb_facets *facets) {
  const char *header;
  int64_t count;
  scan->binary = true;
  scan->at = scan->begin;
  EB_TRY(eb_scan_bytes(scan, "the header", HEADER - 4, &header));
  EB_TRY(eb_scan_raw_int(scan, "the number of facets", 4, false, &count));
  EB_TRY(eb_scan_fits(scan, "facets", count, FACET));
  for (int64_t f = 0; f < count; f++) {
    double x[4][3]; /* normal, corners */
    const char *place = scan->at, *attribute;
    EB_TRY(eb_scan_bytes(scan, "a normal", 12, &attribute));
    for (int i = 3; i < 12; i++)
      EB_TRY(eb_scan_raw_real(scan, "a coordinate of a facet", 4, &x[i / 3][i % 3]));
    EB_TRY(eb_scan_bytes(scan, "the attribute of a facet", 2, &attribute));
    EB_TRY(add_facet(j, facets, scan, place, x + 1));
  }
  return EB_OK;
}

static eb_error expect(eb_scan *scan, const char *wanted) {
  eb_word word = eb_scan_word(scan);
  if (eb_word_is(word, wanted)) return EB_OK;
  return eb_scan_error(scan, word.text, "'%s' should stand here, not '%.*s'%s", wanted,
                       (int)(word.length < 40 ? word.length : 40), word.text,
                       word.length ? "" : "; the file is truncated");
}

/* One facet behind its keyword. The normal may be anything, nan in some files. */
static eb_error read_text_facet(eb_joiner *j, eb_scan *scan, eb_facets *facets, const char *place) {
  double x[3][3];
  EB_TRY(expect(scan, "normal"));
  for (int d = 0; d < 3; d++) eb_scan_word(scan);
  EB_TRY(expect(scan, "outer"));
  EB_TRY(expect(scan, "loop"));
  for (int a = 0; a < 3; a++) {
    EB_TRY(expect(scan, "vertex"));
    EB_TRY(eb_scan_reals(scan, "a coordinate of a vertex", 3, x[a]));
  }
  EB_TRY(expect(scan, "endloop"));
  EB_TRY(expect(scan, "endfacet"));
  return add_facet(j, facets, scan, place, x);
}

static eb_error read_text(eb_joiner *j, eb_scan *scan, eb_facets *facets) {
  bool open = false;
  while (eb_scan_more(scan)) {
    eb_word word = eb_scan_word(scan);
    if (eb_word_is(word, "facet") && open) {
      EB_TRY(read_text_facet(j, scan, facets, word.text));
      continue;
    }
    if (!eb_word_is(word, open ? "endsolid" : "solid"))
      return eb_scan_error(scan, word.text, "'%s' should stand here, not '%.*s'",
                           open ? "facet' or 'endsolid" : "solid",
                           (int)(word.length < 40 ? word.length : 40), word.text);
    open = !open;
    eb_scan_next_line(scan);
  }
  if (open) return eb_scan_error(scan, scan->end, "there is no 'endsolid'; the file is truncated");
  return EB_OK;
}

bool eb_stl_has_binary_length(const char *data, size_t bytes) {
  if (bytes < HEADER) return false;
  const unsigned char *raw = (const unsigned char *)data + HEADER - 4;
  uint64_t count = raw[0] | (uint64_t)raw[1] << 8 | (uint64_t)raw[2] << 16 | (uint64_t)raw[3] << 24;
  return count * FACET + HEADER == bytes;
}

bool eb_stl_is_binary(const char *data, size_t bytes) {
  eb_scan scan;
  eb_scan_start(&scan, "", data, bytes);
  return eb_stl_has_binary_length(data, bytes) || !eb_word_is(eb_scan_word(&scan), "solid");
}

eb_error eb_read_stl(eb_scan *scan, eb_facets *facets) {
  eb_joiner j = {0};
  bool binary = eb_stl_is_binary(scan->begin, (size_t)(scan->end - scan->begin));
  eb_error error = binary ? read_raw(&j, scan, facets) : read_text(&j, scan, facets);
  eb_joiner_clear(&j);
  return error;
}
