#!/usr/bin/env bash
# all.sh: the passes of `make test`, one more at a time than there are processors. all.sh all: and the rest, one compiler after the other.
# all.sh golden paths: those. Needs neither a terminal nor stdin. What is not installed is said to be skipped (NO_SKIPS=1: that is a
# failure). A pass that ended well, nothing skipped, is not run again by `all` on the same sources. Whoever leaves a file behind fails.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
export MAKE=${MAKE:-make} VARIANT=${VARIANT:-release} CC=${CC:-cc}
export B=${B:-build/$VARIANT} VITRINE=build/$VARIANT/vitrine
exec </dev/null
TESTED='unit golden layers paths format readme cli inputs'
TERMINAL='walk signals lessons plain windows'
BUILDING='other sanitizers exact portable fuzz' # they build, and have all processors for it
REST='plant families figures reach faults remedies diff exercise train escapes waits storm tasks habits learned sizes terminals scripts large present class'
SAN='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'

# built VARIANT CC TARGETS [FLAG=…]…: builds quietly; warnings are errors.
built() {
    local variant=$1 cc=$2 targets=$3 log=$TMPDIR/log
    shift 3
    # shellcheck disable=SC2086
    $MAKE --no-print-directory VARIANT="$variant" CC="$cc" WERROR=-Werror "$@" $targets >"$log" 2>&1 || {
        grep -vE '^  [a-z]+ ' "$log" | head -n 60
        echo "build with $cc: 0 passed, 1 failed, 0 skipped"
        return 1
    }
    rm -f "$log"
}
units() {
    # shellcheck disable=SC2046
    tests/unit.sh $($MAKE --no-print-directory -s VARIANT="$1" list-tests)
}
clang_runtime() { [ -n "$(find "$(clang -print-resource-dir 2>/dev/null || echo /nowhere)" -name "libclang_rt.$1*" 2>/dev/null)" ]; }

# every suite holds most of the product: with clang lld links one in a quarter of the time
linker_of() { [ "$1" = clang ] && command -v ld.lld >/dev/null && echo -fuse-ld=lld; }

pass_unit() { units "$VARIANT"; }
# The compiler that is not cc. Where that is clang the sanitizers' build compiles and runs all suites, exact and portable its optimised
# program: here the optimised suites up to the models, in which a compiler can change a number.
pass_other() {
    local other=clang programs
    $CC --version 2>/dev/null | grep -q clang && other=gcc
    command -v $other >/dev/null || { skip "$other is not installed (make deps-all installs it)"; finish other; return; }
    programs=$($MAKE --no-print-directory -s VARIANT=$other list-tests | tr ' ' '\n')
    [ $other = gcc ] || programs=$(grep -E '/core_(base|kernels|graph|io|models)/' <<<"$programs")
    # shellcheck disable=SC2086
    built $other $other "${programs//$'\n'/ }" LDFLAGS="$(linker_of $other)" && PLANTED=4 tests/unit.sh $programs
}
pass_sanitizers() {
    local cc=gcc
    clang_runtime asan && cc=clang
    printf 'int main(void) { return 0; }\n' | $cc $SAN -x c - -o "$TMPDIR/prog" 2>/dev/null || { skip "$cc has no sanitizers here (make deps-all)"; finish sanitizers; return; }
    rm -f "$TMPDIR/prog"
    built san "$cc" tests OPT=-O1 CFLAGS="$SAN -g1" LDFLAGS="$SAN $(linker_of $cc)" LINES= && PLANTED=8 UNIT_TIMEOUT=900 units san
}
# everything else is a script of that name
run_pass() {
    if [ "$(type -t "pass_$1")" = function ]; then "pass_$1"
    elif [ -e "tests/$1.sh" ]; then "tests/$1.sh"
    else bash "tests/e2e/$1.sh"
    fi
}

TOP=$(mktemp -d)
trap 'rm -rf "$TOP"' EXIT
trap 'exit 130' INT TERM
# What was tested: the sources and the compiler. Without git nothing is remembered.
DONE=build/tested
now=$({ git ls-files -co --exclude-standard -z 2>/dev/null | xargs -0 sha256sum; $CC --version; echo "$VARIANT"; } 2>/dev/null | sha256sum | cut -c1-16)
git rev-parse HEAD >/dev/null 2>&1 || now=none-$$
[ "$(head -n 1 $DONE 2>/dev/null)" = "$now" ] || { mkdir -p build; echo "$now" >$DONE; }

# one PASS: runs it in a TMPDIR of its own; its output into a file, then in one piece
one() {
    local p=$1 began=$SECONDS status n f s left
    mkdir "$TOP/$p" && mkdir -pm 700 "$TOP/run-$p"
    TMPDIR=$TOP/$p XDG_RUNTIME_DIR=$TOP/run-$p run_pass "$p" >"$TOP/$p.out" 2>&1
    status=$?
    left=$(ls -A "$TOP/$p")
    read -r n f s < <(sed -nE 's/^.*[: ]([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?.*$/\1 \2 \4/p' "$TOP/$p.out" |
        awk '{n += $1; f += $2; s += $3} END {print n + 0, f + 0, s + 0}')
    # a pass that ends badly, or says nothing, has failed whatever it counted
    if [ "$status" != 0 ] && [ "$f" -eq 0 ]; then f=1; fi
    if [ $((n + f + s)) -eq 0 ]; then f=1; echo "  FAILED  $p tested nothing" >>"$TOP/$p.out"; fi
    if [ -n "$left" ]; then f=$((f + 1)); echo "  FAILED  $p leaves behind: ${left//$'\n'/ }" >>"$TOP/$p.out"; fi
    echo "$p $n $f $s" >>"$TOP/counts"
    [ "$f" -gt 0 ] || [ "$s" -gt 0 ] || echo "$p" >>$DONE
    printf '== %s\n%s\n-- %s: %d s\n' "$p" "$(cat "$TOP/$p.out")" "$p" $((SECONDS - began))
}
# several PASS…: as many at a time as there are processors, and one more, as most of them wait for a terminal half of their time
several() {
    local p
    for p; do
        while [ "$(jobs -rp | wc -l)" -gt "$(nproc 2>/dev/null || echo 2)" ]; do wait -n; done
        one "$p" &
    done
    wait
}

for script in tests/*.sh tests/e2e/*.sh; do
    grep -qw "$(basename "$script" .sh)" <<<"$TESTED $TERMINAL $BUILDING $REST all lib files tmux deps fresh mutants soak tsan" || fail "$script is run by no pass"
done
[ "$FAILED" = 0 ] || { finish all; exit 1; }
start=$SECONDS out='' again=''
case "${1:-}" in
'')
    several $TESTED $TERMINAL
    out="left out: $BUILDING $REST: make test-all"
    ;;
all)
    for p in $TESTED $TERMINAL $BUILDING $REST; do
        if grep -qx "$p" $DONE; then again="$again $p"; fi
    done
    todo() { local p; for p; do grep -qw -- "$p" <<<"$again" || echo "$p"; done; }
    several $(todo $TESTED $TERMINAL)
    for p in $(todo $BUILDING); do one "$p"; done
    several $(todo $REST)
    [ -z "$again" ] || out="not again, as these sources passed it:$again"
    ;;
e2e) several $TERMINAL tasks habits learned sizes terminals inputs scripts large present class ;;
*) several "$@" ;;
esac
touch "$TOP/counts"
read -r total bad skipped < <(awk '{n += $2; f += $3; s += $4} END {print n + 0, f + 0, s + 0}' "$TOP/counts")
echo
[ "$bad" -gt 0 ] && echo "broken: $(awk '$3 > 0 {printf "%s ", $1}' "$TOP/counts")"
[ -z "$out" ] || echo "$out"
printf 'all in %d s: %d passed, %d failed, %d skipped\n' $((SECONDS - start)) "$total" "$bad" "$skipped"
if [ "${NO_SKIPS:-0}" = 1 ] && [ "$skipped" -gt 0 ]; then
    echo "nothing may be skipped here"
    exit 1
fi
[ "$bad" -eq 0 ]
