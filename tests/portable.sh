#!/usr/bin/env bash
# The models of tests/portable/main.c on other C libraries and processors: one golden hash each, the same everywhere.
# portable.sh update: writes golden.txt from the portable kernels of the gcc build.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
MAKE=${MAKE:-make}
VARIANT=${VARIANT:-release} CC=${CC:-cc}
B=build/$VARIANT
GOLDEN=tests/portable/golden.txt
GOT=$(mktemp -d)
trap 'rm -rf "$GOT"' EXIT

# build VARIANT CC [FLAG=…]…
build() {
    local variant=$1 cc=$2
    shift 2
    $MAKE --no-print-directory VARIANT="$variant" CC="$cc" WERROR=-Werror "$@" portable >"$GOT/log" 2>&1 || {
        fail "$variant: does not build"
        grep -vE '^  [a-z]+ ' "$GOT/log" | tail -n 30
        return 1
    }
}

# hashes WHAT COMMAND…: its lines equal the golden ones.
hashes() {
    local what=$1
    shift
    if "$@" >"$GOT/out" 2>"$GOT/err" </dev/null && cmp -s "$GOT/out" "$GOLDEN"; then
        pass
    else
        fail "$what: hashes differ from $GOLDEN (or it ended badly)"
        cat "$GOT/err"
        diff "$GOLDEN" "$GOT/out"
    fi
}

# trains WHAT COMMAND…: five steps of training end with the golden weights.
trains() {
    local what=$1
    shift
    same "$what: trained" "$(cat tests/portable/train.txt)" "$("$@" 2>&1 </dev/null)"
}

# kernels WHAT COMMAND…: every table that the processor runs equals the portable one.
kernels() {
    local what=$1
    shift
    if "$@" >"$GOT/out" 2>&1 </dev/null; then
        PASSED=$((PASSED + $(grep -c ' equal$' "$GOT/out")))
    else
        fail "$what: $(grep -v ' equal$' "$GOT/out")"
    fi
}

isas() {
    "$1" 2>/dev/null | awk '$2 == "equal" {print $1}'
}

if [ "${1:-}" = update ]; then
    build "$VARIANT" "$CC" && VITRINE_ISA=scalar $B/tests/portable/main 1 >"$GOLDEN"
    VITRINE_ISA=scalar $B/tests/portable/train 1 >tests/portable/train.txt
    exit
fi

if build "$VARIANT" "$CC"; then
    kernels "$CC" $B/tests/portable/kernels
    trains "$CC, scalar, three threads" env VITRINE_ISA=scalar $B/tests/portable/train 3
    for isa in $(isas $B/tests/portable/kernels); do
        for threads in 1 2 3; do hashes "$CC, $isa, $threads threads" env VITRINE_ISA="$isa" $B/tests/portable/main $threads; done
    done
fi
# one file for machines where nobody has root: the same numbers, the program's own lessons, and no others
if $MAKE --no-print-directory VARIANT="$VARIANT" CC="$CC" WERROR=-Werror static >"$GOT/log" 2>&1; then
    check "one file: the linker warns of nothing" bash -c '! grep -i warning "$1"' _ "$GOT/log"
    ONE=$PWD/$B/static/vitrine
    same "one file: the trace hash" "$($B/vitrine verify --sample 1 2>&1 </dev/null | tail -n 1)" "$("$ONE" verify --sample 1 2>&1 </dev/null | tail -n 1)"
    "$ONE" export lessons -o "$GOT/one" >/dev/null 2>"$GOT/err" </dev/null
    same "one file: its lessons" "0 " "$? $(cat "$GOT/err")"
    $B/vitrine export lessons -o "$GOT/ordinary" >/dev/null </dev/null
    check "one file: the same lessons, byte for byte" diff -rq "$GOT/one" "$GOT/ordinary"
    sed 's/patches/patchwork/' lessons/02-*.md >"$GOT/mine.md"
    check "one file: a lesson of one's own" grep -q "own lessons only" <("$ONE" check "$GOT/mine.md" 2>&1 </dev/null)
else
    fail "one file: does not build"
    grep -vE '^  [a-z]+ ' "$GOT/log" | tail -n 30
fi
if build O0 "$CC" OPT=-O0; then
    kernels "$CC -O0" build/O0/tests/portable/kernels
    hashes "$CC -O0" build/O0/tests/portable/main
    trains "$CC -O0" build/O0/tests/portable/train 2
    hashes "$CC -O0, scalar" env VITRINE_ISA=scalar build/O0/tests/portable/main
fi
if build O3 "$CC" OPT=-O3; then
    kernels "$CC -O3" build/O3/tests/portable/kernels
    hashes "$CC -O3" build/O3/tests/portable/main
    trains "$CC -O3" build/O3/tests/portable/train 2
    hashes "$CC -O3, scalar" env VITRINE_ISA=scalar build/O3/tests/portable/main
fi
if ! command -v clang >/dev/null; then
    skip "clang (make deps-all installs it)"
elif build clang clang; then
    trains clang build/clang/tests/portable/train 2
    kernels clang build/clang/tests/portable/kernels
    for isa in $(isas build/clang/tests/portable/kernels); do hashes "clang, $isa" env VITRINE_ISA="$isa" build/clang/tests/portable/main; done
fi
if ! command -v musl-gcc >/dev/null; then
    skip "musl (make deps-all installs musl-gcc)"
elif build musl musl-gcc LDFLAGS=-static; then
    kernels musl build/musl/tests/portable/kernels
    trains musl build/musl/tests/portable/train 2
    hashes musl build/musl/tests/portable/main
    hashes "musl, scalar" env VITRINE_ISA=scalar build/musl/tests/portable/main
fi
if ! command -v aarch64-linux-gnu-gcc >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
    skip "aarch64 (make deps-all installs the cross compiler and qemu-aarch64)"
elif build aarch64 aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar LDFLAGS=-static; then
    kernels aarch64 qemu-aarch64 build/aarch64/tests/portable/kernels
    trains aarch64 qemu-aarch64 build/aarch64/tests/portable/train
    trains "aarch64, scalar" qemu-aarch64 -E VITRINE_ISA=scalar build/aarch64/tests/portable/train
    hashes aarch64 qemu-aarch64 build/aarch64/tests/portable/main
    hashes "aarch64, scalar" qemu-aarch64 -E VITRINE_ISA=scalar build/aarch64/tests/portable/main
fi
finish portable
