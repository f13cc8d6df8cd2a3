#!/usr/bin/env bash
# Every parser against mutated files, FUZZ_SECONDS (4) each, with address and undefined-behaviour checks. What breaks one is left in
# build/fuzz/found.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
MAKE=${MAKE:-make}
LOG=$(mktemp -d)
trap 'rm -rf "$LOG"' EXIT
SAN='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'

if ! command -v clang >/dev/null || ! printf '#include <stddef.h>\n#include <stdint.h>\nint LLVMFuzzerTestOneInput(const uint8_t *d, size_t n);\nint LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return d == NULL || n == 0 ? 0 : 0; }\n' |
    clang -fsanitize=fuzzer -x c - -o "$LOG/try" 2>/dev/null; then
    skip "fuzzers (make deps-all installs clang and its runtime)"
    finish fuzz
    exit
fi
if ! $MAKE --no-print-directory VARIANT=fuzz CC=clang OPT=-O1 CFLAGS="$SAN -fsanitize=fuzzer-no-link -fsanitize-coverage-ignorelist=$PWD/tests/fuzz/unwatched.txt" LDFLAGS="$SAN" FUZZ_LINK=-fsanitize=fuzzer fuzzers >"$LOG/build" 2>&1; then
    fail "the fuzzers do not build"
    grep -vE '^  [a-z]+ ' "$LOG/build" | tail -n 30
    finish fuzz
    exit
fi
mkdir -p build/fuzz/found
declare -A SEEDS=([fuzz_image]="tests/data/image tests/data/resize" [fuzz_tensors]="tests/data/tensors" [fuzz_json]="tests/data/oracle/tiny" [fuzz_lesson]="lessons" [fuzz_text_model]="$LOG/configs")
mkdir "$LOG/configs"
for config in tests/data/families/words_*/config.json; do
    cp "$config" "$LOG/configs/$(basename "$(dirname "$config")")"
done

# one NAME: its log says how it ended
one() {
    local name=$1 seeds=$2 leaks=1
    # what keeps a session from input to input is looked through for leaks once, at its end: after every input it took half of the time
    case $name in fuzz_commands | fuzz_words) leaks=0 ;; esac
    mkdir -p "$LOG/$name"
    # shellcheck disable=SC2086
    "build/fuzz/tests/fuzz/$name" -max_total_time="${FUZZ_SECONDS:-4}" -timeout=20 -detect_leaks=$leaks -rss_limit_mb=3000 -max_len=20000 -seed=1 \
        -artifact_prefix=build/fuzz/found/ "$LOG/$name" $seeds >"$LOG/$name.log" 2>&1 </dev/null
    echo $? >"$LOG/$name.status"
}
names=$(cd tests/fuzz && ls fuzz_*.c | sed 's/\.c$//')
for name in $names; do # two at a time
    seeds=${SEEDS[$name]:-}
    [ -d "tests/fuzz/corpus/${name#fuzz_}" ] && seeds="$seeds tests/fuzz/corpus/${name#fuzz_}"
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    one "$name" "$seeds" &
done
wait
for name in $names; do
    if [ "$(cat "$LOG/$name.status" 2>/dev/null)" = 0 ]; then
        printf '  %-14s %s\n' "$name" "$(sed -nE 's/^Done ([0-9]+) runs in ([0-9]+) second.*/\1 inputs in \2 s/p' "$LOG/$name.log")"
        pass
    else
        fail "$name"
        grep -vE '^#[0-9]+' "$LOG/$name.log" | tail -n 30
    fi
done
finish fuzz
