#!/bin/sh
# Installs the Debian packages named in $PACKAGES that are missing; with NO_INSTALL=1 only names them.
set -eu
missing=""
for package in $PACKAGES; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  case $status in *"ok installed") ;; *) missing="$missing $package" ;; esac
done
[ -z "$missing" ] && exit 0
echo "missing packages:$missing"
if [ "${NO_INSTALL:-}" = 1 ]; then
  echo "install them with: apt-get install$missing" >&2
  exit 1
fi
if ! command -v apt-get >/dev/null 2>&1; then
  echo "no apt-get here: install the packages above by your system's means" >&2
  exit 1
fi
root=""
[ "$(id -u)" -eq 0 ] || root=sudo
echo "installing:$missing"
$root apt-get update -qq
DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends $missing
