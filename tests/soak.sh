#!/usr/bin/env bash
# KEYS (1500) random keys with resizes on a terminal, the program built with address and undefined-behaviour checks.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
MAKE=${MAKE:-make}
SAN='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cc=gcc
[ -n "$(find "$(clang -print-resource-dir 2>/dev/null || echo /nowhere)" -name 'libclang_rt.asan*' 2>/dev/null)" ] && cc=clang
if ! $MAKE --no-print-directory VARIANT=san CC=$cc OPT=-O1 CFLAGS="$SAN" LDFLAGS="$SAN" build/san/vitrine >"$T/build" 2>&1; then
    fail 'it does not build'
    tail -n 20 "$T/build"
    finish soak
    exit 1
fi
V=$PWD/build/san/vitrine SOAK=$PWD/${B:-build/release}/tests/pty/soak
cd "$T" || exit 1
export HOME=$T/home XDG_STATE_HOME=$T/state TERM=xterm-256color LC_ALL=C.UTF-8
# What the checkers have to say goes into files of its own: among the bytes of the screen its beginning would be lost.
# (Freed memory is kept from use for a while, at most 64 MB of it: more would look like growth.)
export ASAN_OPTIONS="log_path=$T/report:print_legend=0:quarantine_size_mb=64" UBSAN_OPTIONS="log_path=$T/report:print_stacktrace=1"
if said=$("$SOAK" "${KEYS:-1500}" "${SEED:-1}" "$V" --fresh --threads 2); then
    echo "  $said"
    pass
else
    fail "${said##*$'\n'}"
    cat "$T"/report.* 2>/dev/null || printf '%s\n' "$said"
fi
finish soak
