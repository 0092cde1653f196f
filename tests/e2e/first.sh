#!/usr/bin/env bash
# test: short
# The main job on docs/examples/first, in a scratch root: nothing there → observed, corrected, converged; then
# changed by hand → noticed, left alone by observe, corrected; and the record of all that. `./dev run` shows it.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:-${DATUM_BUILD:-$top/build}}
datum=$build/src/datum/datum
[[ -x $datum ]] || { echo "first: $datum is not built" >&2; exit 1; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/datum-first-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
umask 022
mkdir "$scratch/root"
fleet=(--fleet "$top/docs/examples/first" --host workbench --root "$scratch/root" --state "$scratch/state")

expect() { # expect EXIT ARGUMENT...: shows the command, runs it, and insists on its exit code
  local wanted=$1 got=0; shift
  printf '\n$ datum %s\n' "${*//$scratch/SCRATCH}" | sed "s|$top/||g"
  "$datum" "$@" || got=$?
  [[ $got == "$wanted" ]] || { echo "first: exit code $got instead of $wanted" >&2; exit 1; }
}
holds() { # holds WHAT TEST...: one more thing that has to be true now
  local what=$1; shift
  "$@" || { echo "first: it does not hold that $what" >&2; exit 1; }
}
same() { [[ $(cat "$1") == "$2" ]]; }
empty() { [[ -z $(ls -A "$1") ]]; }

expect 2 observe "${fleet[@]}" # drifted: nothing is there
holds "observe writes nothing below the root" empty "$scratch/root"
expect 0 reconcile "${fleet[@]}" --mode enforce
holds "the template has the host's label" grep -q '^workbench, a bench at harbour\.$' "$scratch/root/etc/motd"
holds "the higher layer's content won" grep -q '"workers": 1' "$scratch/root/etc/app/settings.json"
holds "the mode is as declared" same <(stat -c %a "$scratch/root/etc/app/conf.d/10-limits.conf") 640
holds "the link is there" same "$scratch/root/srv/app/current/VERSION" 2
expect 0 observe "${fleet[@]}" # converged

printf '\nBy hand: settings.json is changed, a stray file appears in conf.d, the link goes back to release-1.\n'
before=$(cat "$scratch/root/etc/app/settings.json")
echo '{}' >"$scratch/root/etc/app/settings.json"
echo stray >"$scratch/root/etc/app/conf.d/99-stray.conf"
ln -sfn release-1 "$scratch/root/srv/app/current"
expect 2 observe "${fleet[@]}"
holds "observe leaves it alone" same "$scratch/root/etc/app/settings.json" '{}'
expect 0 reconcile "${fleet[@]}" --mode enforce
holds "the content is back" same "$scratch/root/etc/app/settings.json" "$before"
holds "the stray file is gone" test ! -e "$scratch/root/etc/app/conf.d/99-stray.conf"
holds "the link is back" same <(readlink "$scratch/root/srv/app/current") release-2

expect 0 status --state "$scratch/state"
expect 0 owned --state "$scratch/state"
expect 0 journal list --state "$scratch/state"
expect 0 journal verify --state "$scratch/state"
printf '\nAll of it went as it has to.\n'
