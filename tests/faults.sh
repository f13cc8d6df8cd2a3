#!/usr/bin/env bash
# Calls of the system that fail, one after the other: FAULT_POINTS (12) of each kind for each command, 0: all of them.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
B=${B:-build/release}
[ -x "$B/vitrine" ] && [ -x "$B/tests/faults/sweep" ] || { fail "$B is not built"; finish faults; exit 1; }
TOP=$PWD/$B
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
export HOME=$T/home XDG_STATE_HOME=$T/state LC_ALL=C.UTF-8
unset VITRINE_ISA
"$TOP/vitrine" data 17 -o picture.png >/dev/null
"$TOP/vitrine" show blocks.1 -o trace.npz '#17' >/dev/null
printf '{"steps": 3, "batch": 8, "warmup": 1, "check": 4, "log_every": 2, "model": {"image": 12, "patch": 6, "width": 8, "layers": 1, "heads": 2, "mlp": 8}}' >recipe.json
"$TOP/tests/faults/sweep" "$TOP/tests/faults/fail.so" "$TOP/vitrine" "${FAULT_POINTS:-12}"
