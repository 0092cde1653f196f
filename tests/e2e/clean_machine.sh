#!/usr/bin/env bash
# test: long root
# The README's commands on a machine that has nothing but apt: a fresh Debian 12 base root, a clone of this commit,
# the whole of `./dev test`, and `./dev run` as a user without privileges. What `dev` does not install is missing here.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/datum-clean-XXXXXX")
trap 'rm -rf --one-file-system "$scratch"' EXIT
base=$scratch/base

mirror=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
  sed -nE 's#^(URIs:|deb) +(\[[^]]*\] +)?(https?://[^ ]*/debian)/? *.*#\3#p' | head -1 || true)
debootstrap --variant=minbase bookworm "$base" ${mirror:+"$mirror"} >"$scratch/log" 2>&1 || { tail -5 "$scratch/log"; exit 1; }
git clone -q "$top" "$base/src"

# Mounts live in a namespace of their own and end with it.
inside() {
  unshare --mount --fork bash -euc '
    mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; mount --rbind /sys "$1/sys"
    exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb bash -euc "$2"' - "$base" "$1"
}
inside 'cd /src && time ./dev test 2>&1 | tail -n 25'
inside 'cd /src && ./dev setup | grep -q "packages are installed"'
inside 'useradd -m person && chown -R person /src && setpriv --reuid=person --regid=person --clear-groups env HOME=/home/person bash -c "cd /src && time ./dev run" | tail -n 40'
