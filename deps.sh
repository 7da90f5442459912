#!/bin/sh
# What the build needs, found where this machine has it, or else installed by Debian's packages.
#   deps.sh                    installs what of $PACKAGES is missing; with NO_INSTALL=1 only names it
#   deps.sh --cflags NEED...   flags for the compiler
#   deps.sh --libs NEED...     and for the linker
# A need is PACKAGE=PROGRAM, or PACKAGE=NAMES:HEADER:LIBRARY with the names, between slashes, that pkg-config may know the
# library by; one that pkg-config does not know is looked for by the compiler $CC with $CFLAGS. A PACKAGE alone is dpkg's.
set -eu

pkg_config_name() { # NEED: the first of its names that pkg-config knows
  names=${1#*=}
  for name in $(echo "${names%%:*}" | tr / ' '); do
    if pkg-config --exists "$name" 2>/dev/null; then
      echo "$name"
      return
    fi
  done
}

flags() { # --cflags or --libs, NEED...
  option=$1
  shift
  found="" others=""
  for need in "$@"; do
    name=$(pkg_config_name "$need")
    found="$found $name"
    [ -n "$name" ] || [ "$option" = --cflags ] || others="$others -l${need##*:}"
  done
  # shellcheck disable=SC2086
  [ -z "${found# }" ] || others="$(pkg-config "$option" $found | sed 's/-D_FORTIFY_SOURCE=2//; s/-Wdate-time//')$others"
  echo "$others"
}

links() { # HEADER LIBRARY
  output=$(mktemp)
  status=0
  # shellcheck disable=SC2086
  printf '#include <%s>\nint main(void) { return 0; }\n' "$1" |
    ${CC:-cc} ${CFLAGS:-} -x c - -o "$output" -l"$2" >/dev/null 2>&1 || status=1
  rm -f "$output"
  return $status
}

is_there() { # NEED
  header=${1#*:}
  case $1 in
  *=*:*) [ -n "$(pkg_config_name "$1")" ] || links "${header%%:*}" "${1##*:}" ;;
  *=cc) command -v "${CC:-cc}" >/dev/null 2>&1 ;;
  *=*) command -v "${1#*=}" >/dev/null 2>&1 ;;
  *) dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed' ;;
  esac
}

case ${1:-} in --*)
  flags "$@"
  exit
  ;;
esac
missing=""
for need in $PACKAGES; do
  is_there "$need" || missing="$missing ${need%%=*}"
done
[ -z "$missing" ] && exit 0
echo "missing, by the names of Debian's packages:$missing"
root=""
[ "$(id -u)" -eq 0 ] || root=sudo
if [ "${NO_INSTALL:-}" = 1 ] || ! command -v apt-get >/dev/null 2>&1 || ! command -v ${root:-apt-get} >/dev/null 2>&1; then
  echo "install them with: apt-get install$missing
on another system by the names that README.md has under 'Other systems', or show them to pkg-config (PKG_CONFIG_PATH) and to the
compiler (CPATH, LIBRARY_PATH)" >&2
  exit 1
fi
echo "installing:$missing"
$root apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends $missing
