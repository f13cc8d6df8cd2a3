#!/usr/bin/env bash
# Everything that `make test` is: two compilers, sanitizers, exactness, other machines, screens, a real terminal. Needs neither a
# terminal nor stdin. What is not installed is said to be skipped (NO_SKIPS=1: that is a failure). `tests/all.sh unit-gcc e2e` runs only
# those passes.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
MAKE=${MAKE:-make}
SAN='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
LOG=$(mktemp)
trap 'rm -f "$LOG"' EXIT
exec </dev/null

# built VARIANT CC TARGETS [FLAG=…]…: builds quietly; warnings are errors.
built() {
    local variant=$1 cc=$2 targets=$3
    shift 3
    # shellcheck disable=SC2086
    if ! $MAKE --no-print-directory VARIANT="$variant" CC="$cc" "$@" $targets >"$LOG" 2>&1; then
        grep -vE '^  [a-z]+ ' "$LOG" | head -n 60
        echo "build with $cc: 0 passed, 1 failed, 0 skipped"
        return 1
    fi
    echo "build with $cc ($variant): 1 passed, 0 failed, 0 skipped"
}
units() {
    # shellcheck disable=SC2046
    tests/unit.sh $($MAKE --no-print-directory -s VARIANT="$1" list-tests)
}
missing() {
    echo "  skipped: $1 is not installed (make deps-all installs it)"
    echo "$2: 0 passed, 0 failed, 1 skipped"
}

pass_unit-gcc() { built gcc gcc 'all tests' WERROR=-Werror && units gcc; }
pass_format() { tests/format.sh; }
pass_paths() { tests/paths.sh; }
pass_layers() { B=build/gcc tests/layers.sh; }
pass_unit-clang() {
    command -v clang >/dev/null || { missing clang unit-clang; return; }
    built clang clang 'all tests' WERROR=-Werror && units clang
}
pass_sanitizers() {
    local cc=gcc
    [ -n "$(find "$(clang -print-resource-dir 2>/dev/null || echo /nowhere)" -name 'libclang_rt.asan*' 2>/dev/null)" ] && cc=clang
    printf 'int main(void) { return 0; }\n' | $cc $SAN -x c - -o "$LOG.prog" 2>/dev/null || { missing "a sanitizer runtime for $cc" sanitizers; return; }
    rm -f "$LOG.prog"
    built san "$cc" tests OPT=-O1 CFLAGS="$SAN" LDFLAGS="$SAN" && units san
}
pass_exact() { MAKE="$MAKE" tests/exact.sh; }
pass_portable() { MAKE="$MAKE" tests/portable.sh; }
pass_golden() { $MAKE --no-print-directory -s VARIANT=gcc CC=gcc build/gcc/make_vit && B=build/gcc tests/golden.sh; }
pass_fuzz() { MAKE="$MAKE" tests/fuzz.sh; }
pass_reach() { B=build/gcc tests/reach.sh; }
pass_plant() { B=build/gcc CC=gcc tests/plant.sh; }
pass_figures() { B=build/gcc tests/figures.sh; }
pass_faults() {
    built gcc gcc 'all drivers' WERROR=-Werror && B=build/gcc tests/faults.sh
}
pass_soak() { MAKE="$MAKE" tests/soak.sh; }
pass_tsan() { MAKE="$MAKE" tests/tsan.sh; }
pass_readme() { B=build/gcc tests/readme.sh; }
pass_cli() {
    local t failed=
    built gcc gcc drivers WERROR=-Werror || return
    for t in cli diff remedies train escapes waits storm; do
        VITRINE=build/gcc/vitrine bash "tests/e2e/$t.sh" || failed=1
    done
    [ -z "$failed" ]
}
pass_e2e() { $MAKE --no-print-directory -s VARIANT=gcc CC=gcc build/gcc/make_vit && B=build/gcc tests/e2e.sh; }

[ $# -gt 0 ] || set -- format unit-gcc layers paths unit-clang sanitizers exact portable fuzz plant golden figures readme reach cli faults e2e
total=0 bad=0 skipped=0 broken=''
start=$SECONDS
out=$(mktemp)
trap 'rm -f "$LOG" "$out"' EXIT
for p; do
    echo "== $p"
    began=$SECONDS
    "pass_$p" 2>&1 | tee "$out"
    status=${PIPESTATUS[0]}
    read -r n f s < <(sed -nE 's/^.*[: ]([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?.*$/\1 \2 \4/p' "$out" |
        awk '{n += $1; f += $2; s += $3} END {print n + 0, f + 0, s + 0}')
    # a pass that ends badly, or says nothing, has failed whatever it counted
    if [ "$status" != 0 ] && [ "$f" -eq 0 ]; then f=1; fi
    if [ $((n + f + s)) -eq 0 ]; then f=1; echo "  FAILED  $p tested nothing"; fi
    [ "$f" -gt 0 ] && broken="$broken $p"
    total=$((total + n)) bad=$((bad + f)) skipped=$((skipped + s))
    echo "-- $p: $((SECONDS - began)) s"
done
echo
[ -n "$broken" ] && echo "broken:$broken"
printf 'all in %d s: %d passed, %d failed, %d skipped\n' $((SECONDS - start)) $total $bad $skipped
if [ "${NO_SKIPS:-0}" = 1 ] && [ $skipped -gt 0 ]; then
    echo "nothing may be skipped here"
    exit 1
fi
[ $bad -eq 0 ]
