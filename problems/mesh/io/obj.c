/* Wavefront OBJ: v and f lines; texture, normals, groups, lines and points are ignored. An index
 * below zero counts back from the vertex listed last. */
#include "problems/mesh/io/formats.h"

/* Joins a line that ends in a backslash with the next one. */
static eb_word next_in_face(eb_scan *scan) {
  eb_word word = eb_scan_word_in_line(scan);
  while (eb_word_is(word, "\\")) {
    eb_scan_next_line(scan);
    word = eb_scan_word_in_line(scan);
  }
  return word;
}

static eb_error read_corner(eb_scan *scan, const eb_facets *facets, eb_word word, int64_t *out) {
  eb_word vertex = {.text = word.text};
  while (vertex.length < word.length && word.text[vertex.length] != '/') vertex.length++;
  int64_t index;
  if (!eb_word_int(vertex, &index) || index == 0)
    return eb_scan_error(scan, word.text,
                         "a corner of a face should be v, v/t, v//n or v/t/n, counted from 1, not "
                         "'%.*s'",
                         (int)(word.length < 40 ? word.length : 40), word.text);
  int64_t count = (int64_t)facets->vertex_count;
  if (index < -count)
    return eb_scan_error(scan, word.text, "vertex %lld counts back beyond the first of %lld",
                         (long long)index, (long long)count);
  *out = index < 0 ? count + index : index - 1;
  return EB_OK;
}

static eb_error read_face(eb_scan *scan, eb_facets *facets, const char *place) {
  int64_t corners = 0;
  for (;; corners++) {
    int64_t corner = 0;
    eb_word word = next_in_face(scan);
    if (word.length == 0) break;
    EB_TRY(read_corner(scan, facets, word, &corner));
    EB_TRY(eb_facets_corner(facets, scan, place, corners, corner));
  }
  if (corners < 3)
    return eb_scan_error(scan, place, "a face has %lld corners; it needs 3", (long long)corners);
  return EB_OK;
}

eb_error eb_read_obj(eb_scan *scan, eb_facets *facets) {
  scan->comment = '#';
  facets->base = 1;
  while (eb_scan_more(scan)) {
    eb_word keyword = eb_scan_word(scan);
    if (eb_word_is(keyword, "v")) {
      double x[3];
      for (int d = 0; d < 3; d++) {
        eb_word word = eb_scan_word_in_line(scan);
        scan->at = word.text;
        if (word.length == 0) return eb_scan_error(scan, word.text, "a vertex needs 3 coordinates");
        EB_TRY(eb_scan_real(scan, "a coordinate of a vertex", &x[d]));
      }
      EB_TRY(eb_facets_vertex(facets, x));
    } else if (eb_word_is(keyword, "f")) {
      EB_TRY(read_face(scan, facets, keyword.text));
    }
    eb_scan_next_line(scan);
  }
  return EB_OK;
}
