#!/bin/sh
# What a solver reports - memory, elimination tree, updated elements -, read from the result file by h5py with no help from us.
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${BUILD:-build}" && pwd)
python=/usr/bin/python3
if ! $python -c 'import h5py, numpy' 2>/dev/null; then
  echo '1..0 # SKIP no h5py'
  exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME="$scratch/cache" ELASTOBENCH_NO_RATES=1
"$build/elastobench" run bench/beam:resolution=0.25 --plugin "$build/tests/plugins/reporting.so" -s reporting --steps 30 \
  -o "$scratch/w.h5" >/dev/null 2>"$scratch/err"
# Its steps are none, which the audit says: exit code 4.
[ $? = 4 ] || { cat "$scratch/err"; echo 'Bail out! the run failed'; exit 1; }
(cd "$scratch" && "$build/elastobench" export w.h5 --to xdmf >/dev/null) || { echo 'Bail out! the export failed'; exit 1; }
$python tests/support/read_reported.py "$scratch"
