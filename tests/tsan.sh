#!/usr/bin/env bash
# Unit suites that use threads, with a checker of data races: tsan.sh (three of them), tsan.sh all.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
MAKE=${MAKE:-make}
LOG=$(mktemp)
trap 'rm -f "$LOG"' EXIT
TSAN='-fsanitize=thread'
cc=gcc
[ -n "$(find "$(clang -print-resource-dir 2>/dev/null || echo /nowhere)" -name 'libclang_rt.tsan*' 2>/dev/null)" ] && cc=clang
if ! printf 'int main(void) { return 0; }\n' | $cc $TSAN -x c - -o "$LOG.prog" 2>/dev/null || ! "$LOG.prog"; then
    skip "data races (no checker of $cc runs here)"
    finish tsan
    exit
fi
rm -f "$LOG.prog"
suites='core_base/test_pool core_graph/test_budget core_train/test_trainer'
[ "${1:-}" = all ] && suites="$suites core_graph/test_contract core_graph/test_plan core_models/test_plan_vit core_models/test_vit_batch
core_eval/test_accuracy core_eval/test_evaluation core_session/test_session core_session/test_measures core_session/test_verify"
programs=''
for s in $suites; do [ -e "tests/$s.c" ] && programs="$programs build/tsan/tests/$s"; done
# shellcheck disable=SC2086
if ! $MAKE --no-print-directory VARIANT=tsan CC=$cc OPT=-O1 CFLAGS="$TSAN" LDFLAGS="$TSAN" $programs >"$LOG" 2>&1; then
    grep -vE '^  [a-z]+ ' "$LOG" | head -n 40
    fail 'the suites do not build'
    finish tsan
    exit 1
fi
# shellcheck disable=SC2086
TSAN_OPTIONS='halt_on_error=1 die_after_fork=0' UNIT_TIMEOUT=600 tests/unit.sh $programs
