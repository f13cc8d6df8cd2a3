#!/usr/bin/env bash
# Faults that `verify` must find: a program is linked in which plant.c makes the one that is named, and verify has to answer no
# and name the route that found it.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
B=${B:-build/release}
CC=${CC:-gcc}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
shopt -s nullglob
OBJECTS=(tui/*.c) # not those of files that are gone
OBJECTS=("${OBJECTS[@]/#/$B/}")
LIBRARIES=("$B"/core_*.a "$B"/lessons.a "$B"/tui_*.a "$B"/assets.a)
WRAPPED=$(sed -nE 's/^WRAP\([^,]*, ([a-z0-9_]*),.*/-Wl,--wrap=\1/p' tests/plant.c)
# shellcheck disable=SC2086
$CC -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -ffp-contract=off -I. -o "$WORK/vitrine" tests/plant.c "${OBJECTS[@]/%.c/.o}" $WRAPPED \
    -Wl,--start-group "${LIBRARIES[@]}" -Wl,--end-group ${LDFLAGS:-} -lncursesw -ltinfo -ljansson -lmd4c -lz -lpcre2-8 -lutf8proc -lm \
    -lpthread || { fail "the faults do not link"; finish plant; exit; }

# NAME ROUTE OPTIONS…: verify with that fault says no, and that this route found it.
found() {
    local name=$1 route=$2 status=0
    shift 2
    VITRINE_PLANT=$name "$WORK/vitrine" verify "$@" >"$WORK/said" 2>&1 || status=$?
    if [ "$status" -eq 3 ] && grep -q "^$route: .*BEYOND the bound" "$WORK/said" && grep -q '^All equal, bit for bit' "$WORK/said"; then
        pass
    else
        fail "$name: status $status, not found by '$route': $(cat "$WORK/said")"
    fi
}

GRADIENT=(--gradient 'logits[o=star]')
for fault in exp exp3 gelu; do found $fault Maps; done
found tail Maps "${GRADIENT[@]}"
for fault in bias order variance; do found $fault Model; done
for fault in rsqrt slope quotient; do found $fault Gradients "${GRADIENT[@]}"; done
# the same for texts: what both families share is found on the translator as well, and what is its own
TEXT=(-m translator -i "the cat is tired")
found exp Maps "${TEXT[@]}"
for fault in variance bias memory place mask norm; do found $fault Model "${TEXT[@]}"; done
for fault in rsqrt quotient; do found $fault Gradients "${TEXT[@]}" --gradient 'probs[t=le,v=chat]'; done
same "without a fault verify says no" 0 "$("$WORK/vitrine" verify >/dev/null 2>&1; echo $?)"
finish plant
