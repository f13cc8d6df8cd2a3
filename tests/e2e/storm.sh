#!/usr/bin/env bash
# Signals by the thousand, whose handlers do not restart what they interrupt, change no byte of what the program does.
# VITRINE=build/release/vitrine tests/e2e/storm.sh
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
V=$(realpath "${VITRINE:-build/release/vitrine}")
STORM=$(dirname "$V")/tests/faults/storm.so RUN=$(dirname "$V")/tests/pty/run
if [ ! -x "$RUN" ] || [ ! -e "$STORM" ]; then
    fail "$RUN or $STORM is not built"
    finish storm
    exit 1
fi
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
export HOME=$T/home XDG_STATE_HOME=$T/state TERM=xterm-256color LC_ALL=C.UTF-8
unset NO_COLOR VITRINE_ISA
total=0
stormy() { env STORM_COUNT="$T/came" LD_PRELOAD="$STORM" "$@"; } # env: neither a shell nor a driver has the storm
calm() { env "$@"; }
# both NAME COMMAND…: in folder calm and in folder stormy; what it printed, its status and its files are the same bytes
both() {
    local name=$1 w came
    shift
    for w in calm stormy; do
        mkdir -p $w
        : >came
        (cd $w && TIMES=$w && "$@" >"$name.out" 2>"$name.err"; echo $? >"$name.status") </dev/null
    done
    came=$(awk '{n += $1} END {print n + 0}' came)
    rm -f came
    check "$name: only $came signals came" [ "$came" -ge 1 ]
    total=$((total + came))
    if ! diff -r calm stormy >differ; then fail "$name: $(head -n 3 differ | tr '\n' ' ')"; else pass; fi
    rm -rf calm stormy
}
w() { "$TIMES" "$V" "$@"; } # the program, in the weather of the folder
slowly() { local at; for at in 1 2 3 4; do head -c 900; sleep 0.05; done; cat; } # a pipe that dawdles

"$V" data 17 -o picture.png >/dev/null
"$V" data 0-11 -o kinds/ --by-class >/dev/null
"$V" show blocks.1 -o trace.npz '#17' >/dev/null
"$V" show blocks.1 -o trace.safetensors '#17' >/dev/null
mkdir two
for k in $(ls kinds | head -n 2); do mkdir "two/$k" && for i in 1 2 3; do cp "$(ls kinds/"$k"/*.png | head -n 1)" "two/$k/$i.png"; done; done
printf '{"steps": 60, "batch": 8, "warmup": 1, "check": 4, "log_every": 20, "model": {"image": 12, "patch": 6, "width": 8, "layers": 1, "heads": 2, "mlp": 8}}' >recipe.json

both run w run -i ../picture.png --json
from_pipe() { slowly <../picture.png | w run -i - --json; }
both 'run from a slow pipe' from_pipe
both trace w trace '#17' -o trace.safetensors
into_pipe() { w show '**' --json -o - '#17' | slowly | md5sum; }
both 'show into a slow pipe' into_pipe
both export w show blocks.0 -o out.npz '#17'
both 'diff, an archive' w diff ../trace.npz -i '#17'
both 'diff, safetensors' w diff ../trace.safetensors -i '#17'
train() { w train --config ../recipe.json -o new "$@" 2>/dev/null; } # how far it is, it says by the clock
both train train --threads 2
both 'train, pictures' train --pictures ../two
both evaluate w evaluate --pictures ../kinds
verify() { w verify --sample 20 '#17' | sed 's/ in [0-9.]* s\././'; }
both verify verify
both screen w screen logits -o out.svg
complaint() { { w run -i none.png 2>&1 >/dev/null; w run -m ../trace.npz 2>&1 >/dev/null; w frobnicate 2>&1; } | slowly; }
both 'messages into a slow pipe' complaint
plain() { printf 'where\ngoto logits\nexplain\nquit\n' | slowly | w --plain '#17'; }
both 'line by line' plain

# the screen: what a reader leaves behind, and the terminal as it was. (Its frames are compared in tmux: walk.sh.)
place() {
    w_keys=(-k ' ' -k ':goto blocks.1.attn.pattern
' -k $'\e[B\e[B\e[C' -k 's' -k ':ablate blocks.0.attn.z[h=1]
' -k $'\e[200~goto logits\e[201~' -k ':' -k $'\e[200~goto probs\e[201~' -k '
')
    local weather=(env)
    [ "$TIMES" = stormy ] && weather=(env STORM_COUNT="$T/came" LD_PRELOAD="$STORM")
    "$RUN" "${w_keys[@]}" "${weather[@]}" "$V" '#17' >bytes
    local status=$?
    cat state/vitrine/last 2>/dev/null
    LC_ALL=C grep -qa $'\e\\[?1049l' bytes && echo 'left the alternate screen'
    rm -f bytes
    return $status
}
in_screen() { XDG_STATE_HOME=$PWD/state place; }
# On a busy machine the driver's keys may be torn apart by the clock, storm or not: one of three tries has to agree.
failed=$FAILED
for try in 1 2 3; do
    FAILED=$failed
    both 'the screen' in_screen >said
    [ "$FAILED" = "$failed" ] && break
done
cat said
echo "  $total signals"

# q, and at once a Ctrl-C or another signal: the place is saved, and no half of it lies about
saved() { # NAME SIGNAL AT: the signal comes while file number AT is put on the disk
    rm -rf state
    "$RUN" -k ':goto blocks.1.attn.pattern
' -k q -k q env FAULT_KIND=sync FAULT_AT="$3" FAULT_SIGNAL="$2" LD_PRELOAD="$(dirname "$STORM")/fail.so" "$V" '#17' >/dev/null
    check "$1: the place is not saved" grep -q 'blocks\.1\.attn\.pattern' state/vitrine/last
    check "$1: a temporary file is left" [ -z "$(find state -name '.vitrine-*')" ]
}
export XDG_STATE_HOME=$PWD/state
for at in 1 2; do
    saved "Ctrl-C after q, file $at" 2 $at
    saved "TERM after q, file $at" 15 $at
    saved "HUP after q, file $at" 1 $at
done
# what kill -9 leaves, the next one takes away, but not what somebody may be writing now
"$RUN" -k q -k q env FAULT_KIND=sync FAULT_AT=1 FAULT_SIGNAL=9 LD_PRELOAD="$(dirname "$STORM")/fail.so" "$V" '#17' >/dev/null
left=$(find state -name '.vitrine-*')
check "kill -9 while saving leaves nothing: this tests nothing" [ -n "$left" ]
: >state/vitrine/.vitrine-notours
"$RUN" -k q -k q "$V" '#17' >/dev/null
check "a file that somebody may be writing is taken away" [ -e "$left" ]
touch -d '2 minutes ago' "$left" state/vitrine/.vitrine-notours
"$RUN" -k q -k q "$V" '#17' >/dev/null
check "what a killed one left stays" [ ! -e "$left" ]
check "what is no such file is taken away" [ -e state/vitrine/.vitrine-notours ]
finish storm
