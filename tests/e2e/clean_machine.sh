#!/usr/bin/env bash
# test: long root
# The README's two commands on a machine that has nothing but apt: a fresh Debian 12 with a systemd of its own
# (lab/machine), a clone of this commit, `./dev run` as root, then the whole of `./dev test`, then `./dev run` as a
# user without privileges. What `dev` does not install is missing here. What the tests say stands in $LOG if it is set;
# $CACHE may name a folder of ccache, from which what was compiled before is taken.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/datum-clean-XXXXXX")
export DATUM_LAB=${DATUM_LAB:-$scratch/lab}
mkdir -p "$DATUM_LAB"
machine=$top/tests/e2e/lab/machine
name=clean-$$
log=${LOG:-$scratch/log}
trap '"$machine" drop "$name" >/dev/null 2>&1 || true; rm -rf --one-file-system "$scratch"' EXIT

"$machine" image >/dev/null
"$machine" boot "$name"
home=$("$machine" root "$name")/root
git clone -q "$top" "$home/datum"
if [[ -n ${CACHE:-} ]]; then mkdir "$home/.cache"; cp -r "$CACHE" "$home/.cache/ccache"; fi
inside() { # inside TITLE SCRIPT: runs it there with its time; on failure shows the end of what it printed
  local began=$SECONDS
  if ! "$machine" exec "$name" bash -euc "cd /root/datum; $2" >"$log" 2>&1; then
    tail -n 60 "$log"; echo "not ok - $1"; exit 1
  fi
  echo "ok - $1 ($((SECONDS - began)) s): $(tail -n 1 "$log")"
}
inside "./dev run, the first command on the machine" "./dev run"
inside "./dev test" "./dev test"
inside "./dev run as a user" \
  "useradd -m person; git clone -q . /home/person/datum; [[ ! -e ~/.cache ]] || cp -r ~/.cache /home/person
   chown -R person /home/person; cd /home/person/datum
   setpriv --reuid=person --regid=person --clear-groups env HOME=/home/person ./dev run"
