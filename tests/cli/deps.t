#!/bin/sh
# `make deps` where no package manager knows of libraries, and where there is none to install them.
cd "$(dirname "$0")/../.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
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
# A system of another family: every program that is here but those of packages, and the compiler itself, which ccache would look for.
mkdir "$scratch/bin" "$scratch/pc" "$scratch/include"
IFS=:
for folder in $PATH; do
  case $folder in *ccache*) continue ;; esac
  for program in "$folder"/*; do
    case ${program##*/} in dpkg* | apt* | sudo) ;; *) [ -x "$program" ] && [ ! -e "$scratch/bin/${program##*/}" ] && ln -s "$program" "$scratch/bin" ;; esac
  done
done
unset IFS
without_packages() { env -u MAKEFLAGS -u MFLAGS PATH="$scratch/bin" "$@"; }
deps() { without_packages make -s --no-print-directory deps "$@" </dev/null; }
refused() { ! deps "$@" >"$scratch/out" 2>&1; }

check 'what pkg-config and the compiler find is there without dpkg' deps
check '  and nothing is said' test ! -s "$scratch/log"
check 'what they do not find is missing' refused 'PACKAGES=libnone-dev=none/NONE:none.h:none perl=perl noneprogram=none-program'
check '  by its name, and nothing else' grep -x "missing.*Debian's packages: libnone-dev noneprogram" "$scratch/out"
check '  with what else to do' sh -c "grep -q 'Other systems' '$scratch/out' && grep -q PKG_CONFIG_PATH '$scratch/out'"
# As modules of a cluster show libraries.
printf 'Name: n\nDescription: n\nVersion: 1\nCflags: -I/shown\nLibs: -L/shown -lshown\n' >"$scratch/pc/NONE.pc"
check 'another of its names will do, where PKG_CONFIG_PATH has it' \
  env "PKG_CONFIG_PATH=$scratch/pc" "$(command -v sh)" -c 'PACKAGES=libnone-dev=none/NONE:none.h:none exec sh ./deps.sh'
check '  and gives the flags' sh -c "PKG_CONFIG_PATH='$scratch/pc' sh ./deps.sh --libs libnone-dev=none/NONE:none.h:none | grep -x -e '-L/shown -lshown *'"
echo 'extern int none;' >"$scratch/include/none.h"
echo 'int none;' >"$scratch/none.c"
${CC:-cc} -shared -fPIC "$scratch/none.c" -o "$scratch/include/libnone.so"
check 'so will CPATH and LIBRARY_PATH' env "CPATH=$scratch/include" "LIBRARY_PATH=$scratch/include" \
  "$(command -v sh)" -c 'PACKAGES=libnone-dev=none:none.h:none exec sh ./deps.sh'
check '  and the library is linked by its name' sh -c "sh ./deps.sh --libs libnone-dev=nothing:none.h:none | grep -x ' *-lnone'"
# Packages, but nobody who may install them.
rm -f "$scratch/bin/id"
printf '#!/bin/sh\necho 1000\n' >"$scratch/bin/id"
printf '#!/bin/sh\ntouch %s/called\n' "$scratch" >"$scratch/bin/apt-get"
chmod +x "$scratch/bin/id" "$scratch/bin/apt-get"
check 'without root and sudo nothing is installed' refused 'PACKAGES=libnone-dev=none:none.h:none'
check '  but named' grep -q 'apt-get install libnone-dev' "$scratch/out"
check '  and apt-get is not called' test ! -e "$scratch/called"
echo "1..$count"
