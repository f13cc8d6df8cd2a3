#!/usr/bin/env bash
# What the model learned: a small one is trained, then its nine screens are visited from their list, and what they say is read.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
command -v tmux >/dev/null || { skip "learned (make deps-all installs tmux)"; finish learned; exit; }
. tests/e2e/tmux.sh

MODEL=$HOME_DIR/model
check "a small model is trained" "$VITRINE" train --steps 12 -o "$MODEL" >/dev/null 2>&1

# choose NAME: the line of that screen in the list that T opens.
choose() {
    local i
    send T
    shows "$1: the list" 'What it learned' || return 1
    for i in $(seq 40); do
        if screen_text | grep -qE "(▸|>) ?$1 "; then
            send Enter
            unsee 'What it learned' || fail "$1: Enter does nothing"
            return 0
        fi
        if [ "$i" -lt 20 ]; then send Down; else send Up; fi # a busy machine shows a line late: once more on the way back
        sleep 0.1
    done
    fail "$1: not in the list"
    send Escape
    return 1
}

for s in '80 24' '120 40'; do
    # shellcheck disable=SC2086
    shell_open $s
    start -m "$MODEL"
    choose training
    shows "$s training" 'recorded while training, step 12'
    send Left
    shows "$s training: the snapshot before" 'recorded while training, step 0'
    choose filters
    shows "$s filters" 'principal components'
    send v
    shows "$s filters: v" 'patch filters:'
    choose heads
    shows "$s heads" 'uniform'
    choose where
    shows "$s where" 'rollout'
    shows "$s where: the yardstick" 'of the patches'
    shows "$s where: all four" 'occlusion'
    choose lens
    shows "$s lens" 'start +[a-z]* *[.0-9]+|before block 0'
    shows "$s lens: both read-outs, measured" '(class token|cls) [0-9.]+ %'
    choose laboratory
    shows "$s laboratory" 'accuracy over 500 held-out pictures'
    shows "$s laboratory: the slider" '\[1\]'
    shows "$s laboratory: gradients" 'gradient through(, of [0-9]+)? +(none +)?[0-9.]+'
    send Right
    shows "$s laboratory: a larger factor" '\[1.41\]'
    shows "$s laboratory: an edit like any other" 'edit: set scale x1.41'
    shows "$s laboratory: both answers" 'A as trained'
    send Down
    shows "$s laboratory: one block" '\[block [0-9]\]'
    send u
    shows "$s laboratory: undo" 'attn.scale × 1 '
    choose census
    shows "$s census" '[0-9]\) of 500 held-out pictures right'
    shows "$s census: the head in focus" 'block 3, head 0'
    send Up Right
    shows "$s census: another head" 'block 2, head 1'
    send x
    shows "$s census: x switches it off" 'edit: ablate blocks\.2\.attn'
    shows "$s census: and marks it" 'off now'
    send x
    unsee 'edit: ablate' || fail "$s census: x again does not switch it on"
    send V
    shows "$s census: V lists the other screens" 'laboratory'
    send Escape
    unsee 'Ways to see this' || fail "$s: Esc does not close the list"
    send Enter
    shows "$s census: Enter goes to where the head looks" 'block 2 of 0–3  head 1'
    send BSpace
    choose blanks
    shows "$s blanks" 'Nothing is hidden'
    line ':hide random 0.4'
    shows "$s blanks: hidden patches" 'edit: hide'
    send u
    unsee 'edit: hide' || fail "$s blanks: u does not show them again"
    quit "learned $s"
done
finish learned
