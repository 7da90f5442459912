/* One document in three formats. */
#include "harness/doc/doc.h"
#include "tests/tap.h"

#include <limits.h>

/* What a document says in a format; tests name pieces of it. */
static eb_text written;

static const char *as(const eb_doc *doc, eb_doc_format format) {
  eb_text_clear(&written);
  tap_require(eb_doc_write(doc, format, &written), "a document is written");
  return written.data;
}

static void says(const eb_doc *doc, eb_doc_format format, const char *wanted, const char *name) {
  const char *got = as(doc, format);
  if (!tap_ok(strcmp(got, wanted) == 0, "%s", name)) printf("# got:\n%s# wanted:\n%s", got, wanted);
}

static void has(const eb_doc *doc, eb_doc_format format, const char *part, const char *name) {
  const char *got = as(doc, format);
  if (!tap_ok(strstr(got, part) != NULL, "%s", name))
    printf("# got:\n%s# wanted:\n%s\n", got, part);
}

static void has_not(const eb_doc *doc, eb_doc_format format, const char *part, const char *name) {
  tap_ok(strstr(as(doc, format), part) == NULL, "%s", name);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void test_blocks(void) {
  eb_doc doc = {0};
  says(&doc, EB_DOC_TEXT, "", "a document without blocks is empty");
  eb_doc_navigation(&doc);
  eb_doc_link(&doc, "#one", "to one");
  eb_doc_heading(&doc, 1, "one", "Title of %d", 7);
  eb_doc_paragraph(&doc, EB_DOC_PLAIN, "Plain ");
  eb_doc_text(&doc, EB_DOC_GOOD, "4");
  eb_doc_link(&doc, "a b/index.html#x", " link");
  eb_doc_lines(&doc, EB_DOC_NOTE, "first\n\nsecond");
  eb_doc_item(&doc, "entry");
  eb_doc_item(&doc, "another");
  eb_doc_verbatim(&doc, "a  b\n`c` <d>");
  says(&doc, EB_DOC_TEXT,
       "Title of 7\nPlain 4 link\n  first\n  second\n- entry\n- another\na  b\n`c` <d>\n",
       "blocks on a terminal");
  says(&doc, EB_DOC_MARKDOWN,
       "# Title of 7\n\nPlain **4**[ link](a%20b/index.html#x)\n\n- first\n- second\n- entry\n"
       "- another\n\n    a  b\n    `c` <d>\n",
       "  in Markdown");
  says(&doc, EB_DOC_HTML,
       "<nav><a href=\"#one\">to one</a></nav>\n<h1 id=\"one\">Title of 7</h1>\n"
       "<p>Plain <b class=\"good\">4</b><a href=\"a b/index.html#x\"> link</a></p>\n"
       "<p class=\"note\">first</p>\n<p class=\"note\">second</p>\n"
       "<ul>\n<li>entry</li>\n<li>another</li>\n</ul>\n<pre>a  b\n`c` &lt;d&gt;</pre>\n",
       "  on a page");
  eb_doc_clear(&doc);
}

static void test_details(void) {
  eb_doc doc = {0};
  for (int open = 0; open < 2; open++) {
    eb_doc_details(&doc, open ? EB_DOC_OPEN : EB_DOC_APPENDIX, open ? "open" : "folded");
    eb_doc_paragraph(&doc, EB_DOC_PLAIN, "within");
    eb_doc_details(&doc, EB_DOC_FOLDED, "inner");
    eb_doc_paragraph(&doc, EB_DOC_PLAIN, "deep");
    eb_doc_end(&doc);
    eb_doc_end(&doc);
  }
  eb_doc_paragraph(&doc, EB_DOC_PLAIN, "behind");
  says(&doc, EB_DOC_TEXT, "folded\nopen\n  within\n  inner\n    deep\nbehind\n",
       "a terminal shows all but appendices");
  has(&doc, EB_DOC_MARKDOWN, "<details><summary>folded</summary>\n\nwithin\n\n<details>",
      "Markdown folds all of it");
  has(&doc, EB_DOC_HTML,
      "<details><summary>folded</summary>\n<p>within</p>\n<details><summary>inner</summary>\n"
      "<p>deep</p>\n</details>\n</details>\n<details open><summary>open",
      "a page unfolds what is open");
  eb_doc_clear(&doc);
}

static void test_figures(void) {
  eb_doc doc = {0};
  eb_doc_plot(&doc, "0-cpu", "Cost of \"a\"");
  eb_doc_plot(&doc, "1-cpu", "Other");
  eb_doc_picture(&doc, "pictures", "p.png", "t = %g s", 0.5);
  eb_doc_picture(&doc, "strip", "u.png", "u");
  eb_doc_markup(&doc, "<canvas></canvas>");
  says(&doc, EB_DOC_TEXT, "", "a terminal shows no figures");
  has(&doc, EB_DOC_MARKDOWN,
      "![Cost of \"a\"](0-cpu.svg)\n\n![Other](1-cpu.svg)\n\n![t = 0.5 s](p.png)",
      "Markdown shows their files");
  has(&doc, EB_DOC_HTML,
      "<div class=\"figures\">\n<figure><img class=\"plot\" loading=\"lazy\" src=\"0-cpu.svg\" "
      "alt=\"Cost of &quot;a&quot;\"><figcaption>Cost of &quot;a&quot; (<a href=\"0-cpu.gp\">"
      "script</a>, <a href=\"0-cpu.dat\">data</a>)</figcaption></figure>\n<figure>",
      "a page has them in a grid, with script and data");
  has(&doc, EB_DOC_HTML,
      "</div>\n<div class=\"pictures\">\n<figure><img loading=\"lazy\" width=\"640\"",
      "pictures have a grid of their own");
  has(&doc, EB_DOC_HTML, "<div class=\"strip\">", "and so have those of a strip");
  has(&doc, EB_DOC_HTML, "</div>\n<canvas></canvas>", "markup is as it is");
  eb_doc_clear(&doc);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void test_numbers(void) {
  static const struct {
    double value;
    const char *text;
  } rule[] = {{0, "0"},
              {1.23456, "1.235"},
              {-0.000123456, "-0.0001235"},
              {1.2e-5, "1.2e-05"},
              {1234.56, "1235"},
              {9999.7, "10000"},
              {56789.4, "56789"},
              {123456789, "123456789"},
              {1.23456789e8 + 0.5, "1.235e+08"},
              {1e20, "1e+20"},
              {NAN, "-"},
              {INFINITY, "-"}};
  for (size_t k = 0; k < sizeof rule / sizeof *rule; k++) {
    eb_doc_digits got = eb_doc_number_text(rule[k].value);
    tap_ok(strcmp(got.text, rule[k].text) == 0, "%.10g is shown as %s", rule[k].value,
           rule[k].text);
  }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void test_table(void) {
  static const char *const heads[] = {"case", "time", "verdict", NULL};
  eb_doc doc = {0};
  eb_doc_paragraph(&doc, EB_DOC_PLAIN, "Before.");
  eb_doc_table(&doc, "ranks");
  eb_doc_heads(&doc, heads);
  eb_doc_part(&doc, "class %d", 1);
  eb_doc_row(&doc, "row-a");
  eb_doc_cell(&doc, EB_DOC_PLAIN, "a\xc3\xbc|b");
  eb_doc_number(&doc, EB_DOC_PLAIN, 12.34567);
  eb_doc_cell(&doc, EB_DOC_BAD, "failed");
  eb_doc_paragraph(&doc, EB_DOC_NOTE, "why");
  eb_doc_row(&doc, NULL);
  eb_doc_cell(&doc, EB_DOC_PLAIN, "longer");
  eb_doc_number_as(&doc, EB_DOC_PLAIN, "%+.2f %%", 3);
  eb_doc_row(&doc, NULL);
  eb_doc_cell(&doc, EB_DOC_PLAIN, "%s", "");
  eb_doc_number_as(&doc, EB_DOC_PLAIN, "%+.2f %%", NAN);
  eb_doc_cell(&doc, EB_DOC_PLAIN, "good");
  eb_doc_end(&doc);
  eb_doc_paragraph(&doc, EB_DOC_PLAIN, "After.");
  says(&doc, EB_DOC_TEXT,
       "Before.\n\n"
       "case       time  verdict\n"
       "class 1\n"
       "a\xc3\xbc|b      12.35  failed\n"
       "    why\n"
       "longer  +3.00 %\n"
       "              -  good\n"
       "\nAfter.\n",
       "a table on a terminal: characters count, not bytes");
  says(&doc, EB_DOC_MARKDOWN,
       "Before.\n\n"
       "| case | time | verdict |\n|---|---|---|\n"
       "| **class 1** | | |\n"
       "| a\xc3\xbc\\|b | 12.35 | failed |\n"
       "| longer | +3.00 % | |\n"
       "|  | - | good |\n"
       "\n**a\xc3\xbc|b**\n\n- why\n"
       "\nAfter.\n",
       "  in Markdown: what belongs to a row is below the table");
  says(&doc, EB_DOC_HTML,
       "<p>Before.</p>\n<div class=\"scroll\"><table class=\"ranks\">\n"
       "<thead><tr><th class=\"text\">case</th><th>time</th><th class=\"text\">verdict</th></tr>"
       "</thead>\n<tbody>\n<tr class=\"class\"><th colspan=\"3\">class 1</th></tr>\n"
       "<tr id=\"row-a\"><td class=\"text\">a\xc3\xbc|b</td><td>12.35</td>"
       "<td class=\"text bad\">failed<p class=\"note\">why</p>\n</td></tr>\n"
       "<tr><td class=\"text\">longer</td><td>+3.00 %</td><td></td></tr>\n"
       "<tr><td class=\"text\"></td><td>-</td><td class=\"text\">good</td></tr>\n"
       "</tbody></table></div>\n<p>After.</p>\n",
       "  on a page: in its last cell");
  eb_doc_clear(&doc);
}

static void test_groups(void) {
  eb_doc doc = {0};
  eb_doc_table(&doc, NULL);
  eb_doc_head(&doc, "ms");
  eb_doc_group(&doc, 2, "a long heading");
  eb_doc_head(&doc, "paper");
  eb_doc_head(&doc, "ours");
  eb_doc_head(&doc, "last");
  eb_doc_row(&doc, NULL);
  eb_doc_cell(&doc, EB_DOC_PLAIN, "row");
  for (int k = 1; k < 4; k++) eb_doc_number(&doc, EB_DOC_PLAIN, k);
  eb_doc_end(&doc);
  says(&doc, EB_DOC_TEXT,
       "     a long heading\n"
       "ms   paper     ours  last\n"
       "row      1        2     3\n",
       "heads under one heading");
  has(&doc, EB_DOC_MARKDOWN, "| ms | a long heading: paper | ours | last |\n|---|---|---|---|\n",
      "  which Markdown puts before the first");
  has(&doc, EB_DOC_HTML,
      "<tr><th></th><th colspan=\"2\">a long heading</th><th></th></tr>\n"
      "<tr><th class=\"text\">ms</th><th>paper</th><th>ours</th><th>last</th></tr>",
      "  and a page above both");
  eb_doc_clear(&doc);
}

/* Long texts leave their row on a terminal; tables and details may stand within a row. */
static void test_wide(void) {
  static const char *const heads[] = {"claim", "what", "verdict", NULL}, *const inner[] = {"x", "y",
                                                                                           NULL};
  eb_doc doc = {0};
  char words[200];
  for (int k = 0; k < 20; k++)
    snprintf(words + 8 * k, sizeof words - 8 * (size_t)k, "word%03d ", k);
  eb_doc_table(&doc, NULL);
  eb_doc_heads(&doc, heads);
  eb_doc_row(&doc, NULL);
  eb_doc_cell(&doc, EB_DOC_PLAIN, "one");
  eb_doc_cell(&doc, EB_DOC_PLAIN, "%s", words);
  eb_doc_cell(&doc, EB_DOC_GOOD, "holds");
  eb_doc_details(&doc, EB_DOC_FOLDED, "conditions");
  eb_doc_table(&doc, NULL);
  eb_doc_heads(&doc, inner);
  eb_doc_row(&doc, NULL);
  eb_doc_number(&doc, EB_DOC_PLAIN, 2);
  eb_doc_cell(&doc, EB_DOC_CODE, "a < b");
  eb_doc_text(&doc, EB_DOC_PLAIN, ": %s", words);
  eb_doc_end(&doc);
  eb_doc_end(&doc);
  eb_doc_row(&doc, NULL);
  eb_doc_cell(&doc, EB_DOC_PLAIN, "two");
  eb_doc_end(&doc);
  says(&doc, EB_DOC_TEXT,
       "claim  verdict\n"
       "one    holds\n"
       "    what: word000 word001 word002 word003 word004 word005 word006 word007 word008 word009 "
       "word010 word011\n"
       "          word012 word013 word014 word015 word016 word017 word018 word019\n"
       "    conditions\n"
       "      x  y\n"
       "      2  a < b: word000 word001 word002 word003 word004 word005 word006 word007 word008 "
       "word009 word010\n"
       "         word011 word012 word013 word014 word015 word016 word017 word018 word019\n"
       "two\n",
       "what is too wide for a terminal has lines of its own, a last column in its place");
  has(&doc, EB_DOC_MARKDOWN,
      "| two | | |\n\n**one**\n\n<details><summary>conditions</summary>\n\n| x | y |\n|---|---|\n"
      "| 2 | `a < b`: word000 ",
      "  Markdown has a row's table below");
  has(&doc, EB_DOC_HTML, "<td class=\"text wide\">word000", "  a page breaks such a column");
  has(&doc, EB_DOC_HTML, "</summary>\n<div class=\"scroll\"><table>\n",
      "  and has the table within the row");
  eb_doc_clear(&doc);
}

static void test_join(void) {
  eb_doc doc = {0}, more = {0}, none = {0};
  eb_doc_heading(&doc, 1, NULL, "a");
  eb_doc_paragraph(&more, EB_DOC_PLAIN, "b");
  eb_doc_link(&more, "c", "d");
  eb_doc_join(&doc, &more);
  eb_doc_join(&doc, &none);
  says(&doc, EB_DOC_MARKDOWN, "# a\n\nb[d](c)\n", "documents are joined");
  says(&more, EB_DOC_MARKDOWN, "", "  and the second is empty then");
  more.failed = true;
  eb_doc_join(&doc, &more);
  tap_ok(doc.failed, "  and failed when one is");
  eb_doc_clear(&doc);
}

/* ---- words of others ------------------------------------------------------------------------- */

static void test_hostile(void) {
  static const char hostile[] = "\x1b]0;\x07<script>alert(1)</script>|]\xe2\x80\xae\xff";
  static const char *const bad[] = {"\x1b", "\x07", "\xe2\x80\xae", "\xff"};
  eb_doc doc = {0};
  eb_doc_heading(&doc, 2, hostile, "%s", hostile);
  eb_doc_paragraph(&doc, EB_DOC_PLAIN, "%s", hostile);
  eb_doc_link(&doc, hostile, "%s", hostile);
  eb_doc_link(&doc, "javascript:alert(1)", "no link");
  eb_doc_link(&doc, "https://example.org/a:b", "a link");
  eb_doc_details(&doc, EB_DOC_FOLDED, "%s", hostile);
  eb_doc_end(&doc);
  eb_doc_plot(&doc, "stem", "%s", hostile);
  eb_doc_table(&doc, NULL);
  eb_doc_head(&doc, "%s", hostile);
  eb_doc_row(&doc, hostile);
  eb_doc_cell(&doc, EB_DOC_CODE, "%s", hostile);
  eb_doc_text(&doc, EB_DOC_CODE, "`%s\n%s", hostile, hostile);
  eb_doc_end(&doc);
  for (int f = EB_DOC_TEXT; f <= EB_DOC_HTML; f++)
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
      has_not(&doc, (eb_doc_format)f, bad[k], "a byte that is obeyed does not leave");
  has_not(&doc, EB_DOC_HTML, "<script", "a page has no script of others");
  has_not(&doc, EB_DOC_HTML, "\"javascript:", "nor a link to one");
  has(&doc, EB_DOC_HTML, "<a href=\"https://example.org/a:b\">a link</a>",
      "a link to a page stays");
  has_not(&doc, EB_DOC_MARKDOWN, "](javascript:", "nor has Markdown");
  has(&doc, EB_DOC_MARKDOWN, "`'?]0;?<script>alert(1)</script>\\|]???? ?]0;?",
      "code of Markdown stays within its marks");
  int outside = 0;
  bool code = false;
  for (const char *at = as(&doc, EB_DOC_MARKDOWN); *at; at++) {
    code = code != (*at == '`');
    outside += !code && strncmp(at, "<script", 7) == 0;
  }
  tap_ok(outside == 0, "Markdown has no script but in code");
  eb_doc_clear(&doc);
}

/* ---- failures -------------------------------------------------------------------------------- */

static void test_failed(void) {
  eb_doc doc = {.failed = true};
  eb_doc_table(&doc, "x");
  eb_doc_row(&doc, "id");
  eb_doc_number(&doc, EB_DOC_PLAIN, 1);
  eb_doc_end(&doc);
  eb_text out = {0};
  eb_error error = eb_doc_write(&doc, EB_DOC_TEXT, &out);
  tap_ok(error && eb_error_kind(error) == EB_ERR_MEMORY, "a document without memory says so");
  eb_error_free(error);
  eb_text_clear(&out);
  eb_doc_clear(&doc);
  eb_doc_end(&doc);
  eb_doc_cell(&doc, EB_DOC_PLAIN, "stray");
  eb_doc_paragraph(&doc, EB_DOC_PLAIN, "shown");
  eb_doc_table(&doc, NULL);
  for (int f = EB_DOC_TEXT; f <= EB_DOC_HTML; f++)
    has(&doc, (eb_doc_format)f, "shown", "what is out of place hides nothing behind it");
  eb_doc_clear(&doc);
}

/* What belongs to a row stands below the table in Markdown, under the row's name. */
static void test_rest(void) {
  eb_doc doc = {0};
  eb_doc_table(&doc, NULL);
  eb_doc_heads(&doc, (const char *const[]){"claim", NULL});
  eb_doc_row(&doc, NULL);
  eb_doc_cell(&doc, EB_DOC_STRONG, "faster");
  eb_doc_paragraph(&doc, EB_DOC_PLAIN, "its conditions");
  eb_doc_end(&doc);
  says(&doc, EB_DOC_MARKDOWN, "| claim |\n|---|\n| **faster** |\n\n**faster**\n\nits conditions\n",
       "a name that is strong in its cell is strong once");
  eb_doc_clear(&doc);
}

int main(void) {
  test_blocks();
  test_rest();
  test_details();
  test_figures();
  test_numbers();
  test_table();
  test_groups();
  test_wide();
  test_join();
  test_hostile();
  test_failed();
  eb_text_clear(&written);
  return tap_done();
}
