# Counting for the shell tests: source it, use check/pass/fail/skip, end with `finish NAME`.
set -u
LC_ALL=C.UTF-8
export LC_ALL
# CI has no terminal, and perhaps no name of one; the tests' own terminals are of this kind
case ${TERM:-dumb} in dumb | unknown) export TERM=xterm-256color ;; esac
PASSED=0 FAILED=0 SKIPPED=0

pass() { PASSED=$((PASSED + 1)); }
fail() {
    FAILED=$((FAILED + 1))
    printf '  FAILED  %s\n' "$*"
}
skip() {
    SKIPPED=$((SKIPPED + 1))
    printf '  skipped %s\n' "$*"
}

# check WHAT COMMAND…: passes when the command succeeds.
check() {
    local what=$1
    shift
    if "$@"; then pass; else fail "$what"; fi
}

# same WHAT EXPECTED GOT
same() {
    if [ "$2" = "$3" ]; then pass; else fail "$1: expected '$2', got '$3'"; fi
}

# The closing line that all.sh adds up; the exit status of the test.
finish() {
    printf '%s: %d passed, %d failed, %d skipped\n' "$1" "$PASSED" "$FAILED" "$SKIPPED"
    [ "$FAILED" -eq 0 ]
}
