#!/bin/sh
# Installs the release that this file lies in, upgrades one that is there, or takes it away. Needs a shell, coreutils and
# the C library; with systemd it starts the service.
#
#   ./install.sh                    install or upgrade; a service that runs is neither stopped nor restarted
#   ./install.sh --uninstall        take the programs away; configuration and journal stay
#   ./install.sh --destdir DIR      below DIR, and nothing is started
set -eu
umask 022
here=$(cd "$(dirname "$0")" && pwd)
dest=
verb=install
unit=datum-host.service
die() {
  echo "install.sh: $*" >&2
  exit 1
}
while [ $# -gt 0 ]; do
  case $1 in
    --uninstall) verb=uninstall ;;
    --destdir)
      [ $# -gt 1 ] || die "--destdir: the folder is missing"
      dest=$2
      shift
      ;;
    *) die "$1 is no argument of this script" ;;
  esac
  shift
done

has_systemd() { [ -z "$dest" ] && [ -d /run/systemd/system ]; }

# The programs say themselves what is missing, in words that nobody understands.
check_machine() {
  needed=$(cat "$here/glibc")
  machine=$(cat "$here/architecture")
  [ "$(uname -m)" = "$machine" ] || die "this is a release for $machine, the machine is $(uname -m)"
  found=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/^glibc //')
  [ -n "$found" ] || die "the C library of this machine is not glibc; $needed or newer is needed"
  oldest=$(printf '%s\n%s\n' "$needed" "$found" | sort -t. -k1,1n -k2,2n | sed 1q)
  [ "$oldest" = "$needed" ] || die "glibc $found is too old: $needed or newer is needed"
}

check_owner() {
  [ -z "$dest" ] || return 0
  [ "$(id -u)" = 0 ] || die "this has to be done as root"
  if command -v dpkg-query >/dev/null 2>&1 && dpkg-query -S /usr/sbin/datum-host >/dev/null 2>&1; then
    die "the package datum-host is installed: use the package manager"
  fi
}

# Each file under another name first, then renamed: what runs goes on with the file that it has.
install_files() {
  (cd "$here/root" && find . -type f | sort) | while IFS= read -r path; do
    path=${path#.}
    mkdir -p "$dest${path%/*}"
    cp -p "$here/root$path" "$dest$path.datum-new"
    if [ "$(id -u)" = 0 ]; then chown 0:0 "$dest$path.datum-new"; fi # whoever unpacked it
    mv -f "$dest$path.datum-new" "$dest$path"
  done
  sync
}

start_service() {
  has_systemd || return 0
  systemctl daemon-reload
  if [ "$1" = first ]; then
    systemctl enable --now "$unit"
  elif systemctl --quiet is-enabled "$unit"; then
    systemctl --quiet enable "$unit" # with whatever else this release wants at boot
  fi
}

install_release() {
  check_machine
  check_owner
  how=first
  if [ -e "$dest/usr/sbin/datum-host" ]; then how=upgrade; fi
  install_files
  start_service "$how"
  echo "installed: $(sed -n 1p "$here/version")"
}

uninstall() {
  check_owner
  if has_systemd; then systemctl disable --now "$unit" || true; fi
  (cd "$here/root" && find . -type f | sort) | while IFS= read -r path; do rm -f "$dest${path#.}"; done
  rmdir "$dest/usr/lib/datum" "$dest/usr/share/doc/datum-host/examples" "$dest/usr/share/doc/datum-host" 2>/dev/null || true
  rm -rf "$dest/var/lib/datum/release" "$dest/run/systemd/system/datum-rollback.service"
  if has_systemd; then systemctl daemon-reload; fi
  echo "taken away; /etc/datum and /var/lib/datum stay"
}

case $verb in
  install) install_release ;;
  uninstall) uninstall ;;
esac
