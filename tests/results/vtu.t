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
# updates with forces of a floor, colliders that turn.
run tetrahedra conjac2020/barcut:resolution=0.2,time1=0.01,time2=0.02 -s conjac:dynamic=2,add_nodes=true --steps 6
run hexahedra lewin2016/hex-turn -s newton --steps 3 --frames all
run triangles conjac2020/muscle -s conjac --steps 3 --frames all
run contacts verschoor2019/incline verschoor2019/stack -s contact-al --steps 12 --frames all
run floor hecht2012/sculpture-small:height=0.001 -s warp-cholesky --steps 3 --frames all
cat >"$scratch/colliders.ini" <<'END'
[scene]
title = a block among colliders that turn
E = 1e6 Pa
nu = 0.3
rho = 1000
dt = 2 ms
steps = 3
[body block]
shape = bar
size = 0.2, 0.2, 0.1
cubes = 2, 2, 1
[collider table]
shape = box
size = 2, 2, 0.4
move = 0, 0, -0.21
rotate = z, 20 * t
[collider post]
shape = capsule
origin = 0.4, 0.3, 0
axis = 0, 1, 1
length = 0.3
radius = 0.05
rotate = x, 30 * t
path = -t, 0, 0
[collider ground]
shape = plane
origin = 0, 0, -0.5
END
run colliders "$scratch/colliders.ini" -s newton --frames all
status=0
$python tests/support/read_vtu.py "$scratch" || status=$?
exit $status
