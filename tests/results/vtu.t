#!/bin/sh
# Frames as VTK's files, read by VTK and by a parser of our own, beside what h5py reads in the result file.
cd "$(dirname "$0")/../.." || exit 1
program=$(cd "${BUILD:-build}" && pwd)/elastobench
python=/usr/bin/python3
if ! $python -c 'import h5py, numpy' 2>/dev/null; then
  echo '1..0 # SKIP no h5py'
  exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME="$scratch/cache" ELASTOBENCH_NO_RATES=1
run() { # FILE, what to run
  file=$1
  shift
  "$program" run "$@" -o "$scratch/$file.h5" >/dev/null 2>"$scratch/err" || { cat "$scratch/err"; echo 'Bail out! the run failed'; exit 1; }
  (cd "$scratch" && "$program" export $file.h5 --to vtu >/dev/null) || { echo 'Bail out! the export failed'; exit 1; }
}
# Tetrahedra with held nodes and cuts, hexahedra in double precision, triangles with bones, contacts of elastic and of rigid bodies with obstacles,
# updates with forces of a floor.
run tetrahedra conjac2020/barcut:resolution=0.2,time1=0.01,time2=0.02 -s conjac:dynamic=2,add_nodes=true --steps 6
run hexahedra lewin2016/hex-turn -s newton --steps 3 --frames all
run triangles conjac2020/muscle -s conjac --steps 3 --frames all
run contacts verschoor2019/incline verschoor2019/stack -s contact-al --steps 12 --frames all
run floor hecht2012/sculpture-small:height=0.001 -s warp-cholesky --steps 3 --frames all
status=0
$python tests/support/read_vtu.py "$scratch" || status=$?
exit $status
