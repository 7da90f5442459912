#!/bin/sh
# A result file read by h5py and its XDMF file followed by VTK or by hand, with no help from us.
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
"$build/elastobench" run bench/beam:resolution=0.25 conjac2020/aniso:resolution=0.05 -s newton --steps 6 -o "$scratch/r.h5" \
  >/dev/null 2>"$scratch/err" || { cat "$scratch/err"; echo 'Bail out! the run failed'; exit 1; }
"$build/elastobench" run conjac2020/muscle conjac2020/barcut:resolution=0.2,time1=0.01,time2=0.02 -s conjac:dynamic=2,add_nodes=true --steps 6 \
  -o "$scratch/c.h5" >/dev/null 2>"$scratch/err" || { cat "$scratch/err"; echo 'Bail out! the run failed'; exit 1; }
"$build/elastobench" run lewin2016/hex-turn -s newton --steps 6 --frames all -o "$scratch/h.h5" >/dev/null 2>"$scratch/err" || { cat "$scratch/err"; echo 'Bail out! the run failed'; exit 1; }
(cd "$scratch" && for file in r c h; do "$build/elastobench" export $file.h5 --to xdmf >/dev/null || exit 1; done) || { echo 'Bail out! the export failed'; exit 1; }
exec_status=0
$python tests/support/read_result.py "$scratch" || exec_status=$?
exit $exec_status
