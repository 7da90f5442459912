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
"$program" run $(printf 'fclib:%s ' "$@") --merit 1e-8 --timeout 20
