#!/bin/sh
# `make install`, then a plug-in built against nothing but what was installed.
cd "$(dirname "$0")/../.." || exit 1
case ${BUILD:-build} in
build) ;;
*)
  echo '1..0 # SKIP only the standard build is installed'
  exit 0
  ;;
esac
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME="$scratch/cache" ELASTOBENCH_NO_RATES=1
count=0
check() { # check NAME COMMAND..: one test
  name=$1
  shift
  count=$((count + 1))
  if "$@" >"$scratch/log" 2>&1; then
    echo "ok $count - $name"
  else
    echo "not ok $count - $name"
    sed 's/^/# /' "$scratch/log"
  fi
}
prefix=$scratch/usr
# In the middle of a parallel test run the build stands already; the jobserver of an outer make is not ours.
check 'make install' env -u MAKEFLAGS -u MFLAGS make --no-print-directory install "PREFIX=$prefix"
check 'the program runs from there' "$prefix/bin/elastobench" --version
check 'it has its suites with it' sh -c "'$prefix/bin/elastobench' info demo | grep -q conjac2020/twist"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
check 'pkg-config knows it' pkg-config --exists elastobench
cflags=$(pkg-config --cflags elastobench)
libs=$(pkg-config --libs elastobench)
cp tests/plugins/explicit.c "$scratch/explicit.c"
# shellcheck disable=SC2086
check 'a plug-in builds against the installed headers alone' \
  sh -c "cd '$scratch' && cc -std=c17 -Wall -Wextra -Werror -O2 -shared -fPIC $cflags explicit.c -o explicit.so"
check 'the installed program runs it' \
  "$prefix/bin/elastobench" run bench/beam:resolution=0.25 --plugin "$scratch/explicit.so" -s explicit --steps 2 -o "$scratch/r.h5"
# shellcheck disable=SC2086
check 'and one for contact' \
  sh -c "cp tests/plugins/barrier.c '$scratch' && cd '$scratch' && cc -std=c17 -Wall -Wextra -Werror -O2 -shared -fPIC $cflags barrier.c -o barrier.so -lm"
check 'which it runs and audits' \
  "$prefix/bin/elastobench" run verschoor2019/incline:resolution=0.5 --plugin "$scratch/barrier.so" -s barrier --steps 20 -o "$scratch/contact.h5"
check 'what is built on PETSc is found from there' \
  "$prefix/bin/elastobench" run bench/beam:resolution=0.25 -s newton:linear=petsc --steps 1 -o "$scratch/petsc.h5"
mkdir "$scratch/alone" && cp "$prefix/bin/elastobench" "$scratch/alone"
check 'without it everything else runs' \
  "$scratch/alone/elastobench" run bench/beam:resolution=0.25 -s newton --steps 1 -o "$scratch/alone.h5"
check 'and what asks for it says what is missing' \
  sh -c "'$scratch/alone/elastobench' run bench/beam:resolution=0.25 -s newton:linear=petsc --steps 1 -o '$scratch/none.h5' 2>&1 |
    grep 'cannot load what is built on PETSc .*libelastobench-petsc.so.*make deps'"
# A stranger's object in the folder above, and where a variable sends the loader.
cp "$scratch/explicit.so" "$scratch/libelastobench-petsc.so"
check 'and takes no object of that name from the folder above, nor from LD_LIBRARY_PATH' \
  sh -c "LD_LIBRARY_PATH='$scratch' '$scratch/alone/elastobench' run bench/beam:resolution=0.25 -s newton:linear=petsc --steps 1 -o '$scratch/above.h5' 2>&1 |
    grep 'there is no libelastobench-petsc.so'"
cat > "$scratch/user.c" <<'END'
#include <elastobench/scene.h>
#include <elastobench/solver.h>
#include <stdio.h>
int main(void) {
  eb_scene *scene;
  eb_error error = eb_scene_create(eb_scene_find("bench/beam"), "resolution=0.25", NULL, "", &scene);
  if (error) return puts(eb_error_message(error)), 1;
  printf("%d nodes\n", eb_scene_mesh(scene)->node_count);
  eb_scene_destroy(scene);
  return 0;
}
END
check 'a program links with the shared library' \
  sh -c "cd '$scratch' && cc -std=c17 -Wall -Wextra -Werror $cflags user.c -o user $libs -Wl,-rpath,'$prefix/lib' && ./user | grep -q nodes"
headers=$(cd "$prefix/include/elastobench" && find . -name '*.h' -mindepth 2 | sort)
check 'what plug-ins and programs read is fourteen headers' test "$(echo "$headers" | wc -l)" -eq 14
# Functions that the headers declare, and what the two binaries export.
(cd "$prefix/include/elastobench" && cat $headers | grep -v '^#' | cc -fpreprocessed -dD -E -P -x c - |
  grep -o '\beb_[a-z0-9_]* *(' | tr -d ' (' | sort -u) >"$scratch/declared"
for file in "$prefix/bin/elastobench" "$prefix/lib/libelastobench.so"; do
  nm -D --defined-only "$file" | awk '$3 ~ /^(eb_|EB_)/ {sub(/@.*/, "", $3); print $3}' | sort -u >"$scratch/exported"
  check "$(basename "$file") exports nothing that they do not declare" sh -c "! comm -13 '$scratch/declared' '$scratch/exported' | grep ."
  check 'and a good part of it' test "$(wc -l <"$scratch/exported")" -gt 60
done
check 'the names of the library have a version' sh -c "nm -D '$prefix/lib/libelastobench.so' | grep -q 'eb_scene_create@@ELASTOBENCH'"
package=$(find "$prefix/lib" -path '*-packages/elastobench' -type d)
check 'the Python package is there, and its examples' test -f "$package/client.py" -a -f "$prefix/share/elastobench/examples/work_precision.py"
if /usr/bin/python3 -c 'import numpy, h5py' 2>/dev/null; then
  python="env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(dirname "$package") /usr/bin/python3 -c"
  # Without a program on PATH it takes the one that was installed with it.
  check 'it finds the program' \
    env -u ELASTOBENCH PATH=/usr/bin:/bin $python "import elastobench as eb, os; assert os.path.samefile(eb.program(), '$prefix/bin/elastobench')"
  check 'and reads what that has written' $python "import elastobench as eb; assert eb.open('$scratch/r.h5')[0].solver == 'explicit'"
fi
check 'DESTDIR is put in front' env -u MAKEFLAGS -u MFLAGS make --no-print-directory install "DESTDIR=$scratch/stage" PREFIX=/opt/eb
check 'and the files are there' test -x "$scratch/stage/opt/eb/bin/elastobench" -a -f "$scratch/stage/opt/eb/include/elastobench/solver.h"
check 'with the package' test -n "$(find "$scratch/stage/opt/eb/lib" -path '*/elastobench/results.py')"
check 'without it in elastobench.pc' grep -q '^prefix=/opt/eb$' "$scratch/stage/opt/eb/lib/pkgconfig/elastobench.pc"
echo "1..$count"
