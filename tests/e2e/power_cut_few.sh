#!/usr/bin/env bash
# test: short root
# A few of the moments that power_cut.py tries, for every change.
set -euo pipefail
export POWER_CUTS=3 POWER_REPLAYS=3
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/power_cut.py"
