/* JUnit and TAP as their own readers read them. */
#include "harness/results/ci.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

static const eb_ci_test tests[] = {
    {"bench/beam", "newton/steps:5", 1.25, EB_CI_PASSED, NULL, NULL},
    {"rings", "a \"quoted\" <name> & 'more'", 0.5, EB_CI_FAILED, "audit failed: update, momentum",
     "line one\n  ]]> line <two> & \"three\"\n\ttabbed\\n"},
    {"bench/beam", "crash # SKIP \\ here", NAN, EB_CI_ERROR, "signal 11\nin step 2",
     "x: \x01\xff\x7f y"},
    {"rings", "skipped", -1, EB_CI_SKIPPED, "cannot serve # this", NULL},
    {"\xc3\xbcn\xc3\xaf", "\xef\xbf\xbe\xed\xa0\x80\xf0\x9f\x98\x80", 0, EB_CI_PASSED, NULL,
     "says something"}};
enum { TESTS = sizeof tests / sizeof *tests };

static void write_file(const char *path, bool junit, int count) {
  FILE *out = fopen(path, "w");
  tap_require(out ? EB_OK : EB_ERROR(EB_ERR_IO, "%s", path), "a file");
  tap_succeeds(junit ? eb_ci_junit(out, "all & more", tests, count) : eb_ci_tap(out, tests, count),
               junit ? "JUnit is written" : "TAP is written");
  fclose(out);
}

/* Whether a command succeeds, with %s the path. */
static bool succeeds(const char *format, const char *path) {
  char command[2048];
  snprintf(command, sizeof command, format, path);
  return system(command) == 0;
}

/* Python's parser is no work of ours; what it read is compared there. */
static void test_junit(void) {
  static const char check[] =
      "/usr/bin/python3 - '%s' <<'END'\n"
      "import sys, xml.etree.ElementTree as tree\n"
      "root = tree.parse(sys.argv[1]).getroot()\n"
      "assert root.tag == 'testsuites' and root.get('name') == 'all & more'\n"
      "counts = lambda e: [int(e.get(k)) for k in ('tests', 'failures', 'errors', 'skipped')]\n"
      "assert counts(root) == [5, 1, 1, 1] and root.get('time') == '1.750000'\n"
      "assert [s.get('name') for s in root] == ['bench/beam', 'rings', '\\u00fcn\\u00ef']\n"
      "assert [counts(s) for s in root] == [[2, 0, 1, 0], [2, 1, 0, 1], [1, 0, 0, 0]]\n"
      "passed, error = root[0]\n"
      "assert passed.get('classname') == 'bench/beam' and passed.get('name') == 'newton/steps:5'\n"
      "assert passed.get('time') == '1.250000' and len(passed) == 0\n"
      "assert error.get('time') is None and error[0].tag == 'error'\n"
      "assert error[0].get('message') == 'signal 11\\nin step 2' and error[0].text == 'x: ??? y'\n"
      "failed, skipped = root[1]\n"
      "assert failed.get('name') == 'a \"quoted\" <name> & \\'more\\''\n"
      "assert failed[0].get('message') == 'audit failed: update, momentum'\n"
      "assert failed[0].text == 'line one\\n  ]]> line <two> & \"three\"\\n\\ttabbed\\\\n'\n"
      "assert skipped[0].tag == 'skipped' and skipped[0].get('message') == 'cannot serve # this'\n"
      "assert root[2][0].get('name') == '??????\\U0001f600'\n"
      "assert root[2][0][0].tag == 'system-out' and root[2][0][0].text == 'says something'\n"
      "END\n";
  char path[64];
  if (!succeeds("test -x '%s'", "/usr/bin/python3")) {
    tap_ok(true, "JUnit # SKIP no Python to read it");
    return;
  }
  snprintf(path, sizeof path, "%s/junit.xml", folder);
  write_file(path, true, TESTS);
  tap_ok(succeeds(check, path), "a parser of XML finds in it what was written");
  write_file(path, true, 0);
  tap_ok(succeeds("/usr/bin/python3 -c 'import sys, xml.etree.ElementTree as t; "
                  "assert len(t.parse(sys.argv[1]).getroot()) == 0' '%s'",
                  path),
         "and nothing where there was none");
}

/* Perl's parser of TAP, as prove has it. */
static void test_tap(void) {
  static const char check[] =
      "perl -MTAP::Parser -e '\n"
      "my $parser = TAP::Parser->new({source => $ARGV[0], sources => {File => {extensions => "
      "[\".tap\"]}}});\n"
      "my (@tests, %%yaml);\n"
      "while (my $result = $parser->next) {\n"
      "  push @tests, $result if $result->is_test;\n"
      "  $yaml{scalar @tests} = $result->data if $result->is_yaml;\n"
      "  die \"line: \" . $result->as_string if $result->is_unknown;\n"
      "}\n"
      "die \"errors\" if $parser->parse_errors;\n"
      "die \"count\" unless @tests == 5 && $parser->tests_planned == 5;\n"
      "die \"failed\" unless join(\",\", $parser->failed) eq \"2,3\";\n"
      "die \"skipped\" unless join(\",\", $parser->skipped) eq \"4\";\n"
      "die $tests[3]->explanation unless $tests[3]->explanation =~ /^cannot serve .?# this$/;\n"
      "die $tests[0]->description unless $tests[0]->description eq \"- bench/beam: "
      "newton/steps:5\";\n"
      "die \"yaml\" unless $yaml{1}{duration_ms} == 1250 && $yaml{2}{severity} eq \"fail\"\n"
      "  && $yaml{3}{severity} eq \"error\" && $yaml{3}{message} eq \"signal 11\\nin step 2\"\n"
      "  && $yaml{2}{detail} eq \"line one\\n  ]]> line <two> & \\\"three\\\"\\n\\ttabbed\\\\n\"\n"
      "  && !exists $yaml{4};\n"
      "' '%s'";
  char path[64];
  snprintf(path, sizeof path, "%s/all.tap", folder);
  write_file(path, false, TESTS);
  tap_ok(succeeds(check, path), "a parser of TAP finds in it what was written");
  write_file(path, false, 1);
  tap_ok(succeeds("prove -e cat '%s' > /dev/null 2>&1", path), "prove is content with what passed");
  write_file(path, false, 2);
  tap_ok(!succeeds("prove -e cat '%s' > /dev/null 2>&1", path), "and not with what failed");
  write_file(path, false, 0);
  tap_ok(succeeds("prove -e cat '%s' > /dev/null 2>&1", path), "no tests are skipped");
}

static void test_full_disk(void) {
  FILE *out = fopen("/dev/full", "w");
  tap_fails(eb_ci_junit(out, "all", tests, TESTS), EB_ERR_IO, "cannot write",
            "a full disk is told by JUnit");
  fclose(out);
  out = fopen("/dev/full", "w");
  tap_fails(eb_ci_tap(out, tests, TESTS), EB_ERR_IO, "cannot write", "and by TAP");
  fclose(out);
}

int main(void) {
  scratch_open();
  test_junit();
  test_tap();
  test_full_disk();
  return scratch_close();
}
