#!/usr/bin/env bash
# A model that is large for its memory: the screen is there before the pass is complete, Ctrl-C stops it and the next key goes on, and what
# was forgotten comes back when it is looked at.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
command -v tmux >/dev/null || { skip "large (make deps-all installs tmux)"; finish large; exit; }
. tests/e2e/tmux.sh

model=$TOP/build/models/vit-b16
if [ ! -e "$model/model.safetensors" ]; then
    make_vit=$(dirname "$VITRINE")/make_vit
    [ -x "$make_vit" ] || { skip "no large model: make vit-b, or build make_vit beside the program"; finish large; exit; }
    model=$HOME_DIR/b16
    "$make_vit" --size b16 --seed 1 -o "$model" >/dev/null || fail "make_vit"
fi
share() { screen_text | grep -oE 'computing +[0-9]+ %' | grep -oE '[0-9]+' | tail -n 1; }
past() { [ "$(share)" -gt "$1" ] 2>/dev/null; }
ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; }

# the slowest kernels in one thread: time enough to stop it
shell_open 120 30
start -m "$model" --isa scalar --threads 1
shows "the pass goes on behind the first frame" 'computing +[0-9]+ %'
shows "with the time that is left" 'computing +[0-9]+ %, [0-9]+ s left'
send C-c
shows "Ctrl-C stops it" 'Stopped computing'
stopped=$(share)
pid=$(program)
before=$(ticks "$pid")
sleep 0.5 # there is no event to wait for: nothing may happen
same "nothing is computed once it is stopped" "$before" "$(ticks "$pid")"
same "the share stays" "$stopped" "$(share)"
send Right
unsee 'Stopped computing' || fail "a key does not take the message away"
until_true past "$stopped" || fail "a key does not go on with the pass: $(share) %"
send C-c
shows "and it stops again" 'Stopped computing'
quit "stopped"

# more values than may be kept
shell_open 120 30
start -m "$model" --memory 32M
shows "the pass is complete" 'trace [0-9a-f]{4} [0-9a-f]{4}'
hash=$(screen_text | grep -oE 'trace [0-9a-f]{4} [0-9a-f]{4}' | tail -n 1)
for place in blocks.0.attn.exp blocks.11.mlp.post blocks.5.attn.pattern blocks.0.mlp.pre; do
    send :
    line "goto $place"
    shows "$place comes back" "$place|${place##*.}"
    shows "$place has its hash beside it" "$hash"
    unsee 'computing…' || fail "$place stays away"
done
send C-c
shows "nothing to stop" 'Nothing is being computed'
held=$(awk '/^VmHWM/ {print $2}' "/proc/$(program)/status")
check "weights, values and program in 450 MB, were $((held / 1024))" [ "$held" -lt 460800 ]
quit "little memory"
finish large
