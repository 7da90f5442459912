# Running the program as a user does, from Perl tests.
package Program;
use strict;
use warnings;
use Cwd qw(abs_path getcwd);
use Exporter 'import';
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
our @EXPORT = qw(run program plugin scratch slurp spew sanitized is_code like_error runs_in python root);

my $root = abs_path(dirname(__FILE__) . '/../..');
my $build = $ENV{BUILD} // 'build';
$build = "$root/$build" unless $build =~ m{^/};
my $scratch = tempdir(CLEANUP => 1);
$ENV{XDG_CACHE_HOME} = "$scratch/cache";
$ENV{ELASTOBENCH_NO_RATES} = 1; # tests that look at the rates take it away
# Under sanitizers, signals are to end processes as they do without; what MPI leaks by itself is not ours.
$ENV{ASAN_OPTIONS} = join ':', $ENV{ASAN_OPTIONS} // 'fast_unwind_on_malloc=0', 'handle_segv=0', 'handle_abort=0';
$ENV{LSAN_OPTIONS} //= "suppressions=$root/tests/support/lsan.supp:print_suppressions=0";

sub root { return $root }
sub program { return "$build/elastobench" }
sub plugin { return "$build/tests/plugins/$_[0].so" }
sub scratch { return @_ ? "$scratch/$_[0]" : $scratch }
sub sanitized { return $build =~ /-(asan|ubsan|tsan)/ }

sub slurp {
  my ($path) = @_;
  open my $file, '<', $path or return '';
  local $/;
  return <$file> // '';
}

sub spew {
  my ($path, $text) = @_;
  open my $file, '>', $path or die "$path: $!";
  print $file $text;
  close $file or die "$path: $!";
  return $path;
}

# Runs the program in the scratch folder: (exit code, standard output, error output). A signal counts as 128 + its number.
sub run {
  my @arguments = @_;
  my ($out, $err) = ("$scratch/.out", "$scratch/.err");
  my $pid = fork // die "fork: $!";
  if ($pid == 0) {
    chdir $scratch or die;
    open STDIN, '<', '/dev/null' or die;
    open STDOUT, '>', $out or die;
    open STDERR, '>', $err or die;
    exec program(), @arguments or die;
  }
  waitpid $pid, 0;
  my $code = $? & 127 ? 128 + ($? & 127) : $? >> 8;
  return ($code, slurp($out), slurp($err));
}

# One test: the exit code, with the output shown when it is another.
sub is_code {
  my ($wanted, $name, @arguments) = @_;
  my ($code, $out, $err) = run(@arguments);
  Test::More::is($code, $wanted, $name) or Test::More::diag("@arguments\n$out$err");
  return ($out, $err);
}

# One test: it fails with this exit code and a message that matches.
sub like_error {
  my ($wanted, $pattern, $name, @arguments) = @_;
  my ($code, $out, $err) = run(@arguments);
  my $good = $code == $wanted && $err =~ $pattern;
  Test::More::ok($good, $name) or Test::More::diag("@arguments\nexit code $code, wanted $wanted\n$err");
  return ($out, $err);
}

# The runs of a result file, by the program's own JSON export.
sub runs_in {
  my ($file) = @_;
  require JSON::PP;
  my ($code, $out) = run('export', $file, '--to', 'json');
  return $code ? () : @{JSON::PP::decode_json($out)->{runs}};
}

# The system's Python when it has these modules, else undef.
sub python {
  my @modules = @_;
  my $code = join '; ', map { "import $_" } @modules;
  return system("/usr/bin/python3 -c '$code' >/dev/null 2>&1") == 0 ? '/usr/bin/python3' : undef;
}

1;
