#!/usr/bin/env bash
# unit.sh PROGRAM…: runs cmocka programs, one per processor at a time; shows the closing line of each, and all of what a failing one said.
. "$(dirname "$0")/lib.sh"

LOGS=$(mktemp -d)
trap 'rm -rf "$LOGS"' EXIT
mkdir -m 700 "$LOGS/run" && export XDG_RUNTIME_DIR=$LOGS/run # or a suite that shares leaves /tmp/vitrine-UID

run_one() {
    local log began=$SECONDS
    log=$2/$(printf '%s' "$1" | tr / _)
    if timeout "${UNIT_TIMEOUT:-300}" "$1" >"$log" 2>&1 </dev/null; then echo 0 >"$log.status"; else echo $? >"$log.status"; fi
    echo $((SECONDS - began)) >"$log.seconds"
}
export -f run_one

# What takes longest begins first, or one of these is left at the end and the other processors wait for it.
LONG='core_session/test_figures tui_views/test_views_lab lessons/test_lessons core_diff/test_diff_hub core_diff/test_diff_turns
tui/test_text_screens tui_views/test_views1 core_diff/test_diff_families core_eval/test_translation tui_views/test_views_where
tui/test_cards core_session/test_trained core_diff/test_diff_planted'
longest_first() {
    local long program
    for long in $LONG; do
        for program; do [ "${program#*/tests/}" != "$long" ] || echo "$program"; done
    done
    for program; do
        case " ${LONG//$'\n'/ } " in *" ${program#*/tests/} "*) ;; *) echo "$program" ;; esac
    done
}

longest_first "$@" | xargs -P "$(nproc 2>/dev/null || echo 2)" -I{} bash -c 'run_one "$1" "$2"' _ {} "$LOGS"

suites=0 bad=0
for program; do
    log=$LOGS/$(printf '%s' "$program" | tr / _)
    n=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test(s)\..*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
    f=$(grep -c '^\[  FAILED  \] [^0-9]' "$log")
    k=$(grep -c '^  skipped: ' "$log") # (not tried: what a build or a machine has not, and nothing installs)
    status=$(cat "$log.status" 2>/dev/null || echo none)
    suites=$((suites + 1))
    PASSED=$((PASSED + n)) SKIPPED=$((SKIPPED + k))
    grep -E '^  (skipped|not tried): ' "$log"
    # a program that ends well without a closing line has tested nothing
    if [ "$status" != 0 ] || [ "$n" -eq 0 ]; then
        bad=$((bad + 1))
        [ "$f" -eq 0 ] && f=1
        sed 's/^/    /' "$log" | tail -n 60
        printf '  FAILED  %s (exit status %s)\n' "$program" "$status"
    else
        printf '  %-44s %3d passed %4d s\n' "${program#build/}" "$n" "$(cat "$log.seconds")"
    fi
    FAILED=$((FAILED + (status == 0 ? 0 : f)))
    [ "$status" = 0 ] && [ "$n" -eq 0 ] && FAILED=$((FAILED + 1))
done
[ "$suites" -gt 0 ] || fail "no unit suite was given"
finish "unit, $suites suites"
