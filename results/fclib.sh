#!/bin/sh
# results/fclib.sh PROGRAM [FILE.hdf5 ...]: contact problems of the scenes in contact, and those of the FCLib files
# named, solved to one merit by every method of ours and of Siconos'. Prints the page results/fclib.md.
set -eu
program=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Scene and step: late enough for many contacts, small enough for a dense matrix of them.
while read -r scene step; do
  name=$(echo "${scene#*/}" | tr ':=,' '-' | sed 's/-*$//')-$step
  (cd "$work" && "$program" run "$scene" -s contact-al --steps "$step" --contact-problem "$step" -o "$name.h5" >&2)
  path=$(cd "$work" && "$program" export "$name.h5" --to fclib -o "$name")
  mv "$work/$path" "$work/$name.hdf5"
done <<END
verschoor2019/rings:bodies=60 500
verschoor2019/rings-stiff:bodies=60 500
verschoor2019/pyramid:layers=4 400
verschoor2019/bunnies:bodies=40,resolution=0.5 600
verschoor2019/bearing 400
verschoor2019/wedge 600
verschoor2019/strings:resolution=0.5 1180
verschoor2019/incline:angle=30 100
verschoor2019/stack 60
END
set -- "$work"/*.hdf5 "$@"
cat <<END
# Contact problems, every method to one merit

    results/fclib.sh build/elastobench FILE.hdf5 ... > results/fclib.md

prints this page: problems of a step of our scenes in contact (named by scene, parameters and step) and those of FCLib files, solved from forces of zero by every method of ours and by
Siconos' NSGS, NSN and ADMM, all as they are set up by default, on one thread, until FCLib's merit function is below 1e-8. A time has the set-up in it; ours that work on velocities
factor nothing, but contact-al the system of a Newton step among rigid bodies alone; the reduced ones and Siconos form the Delassus matrix. A solve gets 20 s.

$("$program" --version | head -1), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)

END
"$program" run $(printf 'fclib:%s ' "$@") --merit 1e-8 --timeout 20
