#!/usr/bin/env bash
# `vitrine train`: what it refuses, and that a run that was interrupted, however early, goes on to the same bytes.
# VITRINE=build/release/vitrine tests/e2e/train.sh
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
V=$(realpath "${VITRINE:-build/release/vitrine}")
[ -x "$V" ] || { fail "$V is not built"; finish train; exit 1; }
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
export HOME=$T/home XDG_STATE_HOME=$T/state

SMALL='"batch": 8, "warmup": 1, "check": 4, "log_every": 2000, "model": {"image": 12, "patch": 6, "width": 8, "layers": 1, "heads": 2, "mlp": 8}'

# refused WHAT PATTERN RECIPE: status 1, one line that has PATTERN, no model
refused() {
    printf '%s' "$3" >recipe.json
    "$V" train --config recipe.json -o refused >out 2>err </dev/null
    same "$1: its status" 1 $?
    grep -v '^step [0-9]* of ' err >line
    check "$1: $(head -1 line)" grep -q "$2" line
    same "$1: lines" 1 "$(wc -l <line)"
    check "$1: no model" test ! -e refused/model.safetensors
    rm -rf refused
}

refused 'a batch of six' 'multiple of 4' '{"batch": 6}'
refused 'an unknown key' '"stops" is not known' '{"stops": 3}'
refused 'more than there is memory' 'training needs' '{"batch": 4096, "steps": 1, "warmup": 0, "model": {"width": 16384, "heads": 64, "layers": 64}}'
refused 'weights that run away' 'is no number any more' "{\"steps\": 60, \"rate\": 10, \"decay\": 10, \"clip\": 0, $SMALL}"

# interrupt FOLDER: Ctrl-C as soon as it has said how far it is; the record of the run has no row yet
interrupt() {
    "$V" train --config steps.json -o "$1" </dev/null >out 2>err &
    local pid=$!
    for _ in $(seq 100); do
        grep -q '^step ' err && break
        sleep 0.05
    done
    kill -INT $pid
    wait $pid
}

printf '{"steps": 2000, %s}' "$SMALL" >steps.json
check 'a run to its end' "$V" train --config steps.json --threads 1 -o whole >/dev/null 2>&1 </dev/null
interrupt broken
check "interrupted: $(tail -1 err)" grep -q 'interrupted after step' err
check 'what it goes on from' test -s broken/training.safetensors
check 'the same command goes on' "$V" train --config steps.json -o broken >/dev/null 2>&1 </dev/null
check 'nothing is left over' test ! -e broken/training.safetensors
for f in model.safetensors history.safetensors config.json recipe.json; do
    check "the same $f" cmp -s whole/$f broken/$f
done
finish train
