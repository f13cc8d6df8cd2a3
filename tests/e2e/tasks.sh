#!/usr/bin/env bash
# The tasks of a newcomer, walked by keys that the screen itself shows.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
command -v tmux >/dev/null || { skip "tasks (make deps-all installs tmux)"; finish tasks; exit; }
. tests/e2e/tmux.sh

# help_task TEXT: opens help by the key in the footer, goes down to the task that reads so and runs it.
help_task() {
    local i
    shows "$1: the footer names help" '\? help'
    send '?'
    shows "$1: help" 'what do you want to do' || return 1
    for i in $(seq 20); do
        if screen_text | grep -qF -- "▸ $1"; then
            send Enter
            unsee 'what do you want to do' || fail "$1: Enter runs nothing"
            return 0
        fi
        send Down
        sleep 0.05
    done
    fail "$1: no such task in help, or the chosen line is not marked"
    screen_text | sed 's/^/    |/'
    return 1
}

for s in '80 24' '120 40'; do
    # shellcheck disable=SC2086
    shell_open $s
    start
    # what does √d_k do?
    help_task 'What does √d_k do'
    shows "√d_k: the edit is said" 'set scale off'
    shows "√d_k: both sides" 'A − B'
    shows "√d_k: the entropy of both rows" 'H: entropy'
    shows "√d_k: the answers of both" 'A [a-z]+ [0-9.<>]+ % │ B [a-z]+ [0-9.<>]+ %'
    shows "√d_k: undo is in the footer" 'u undo'
    send u
    unsee 'set scale off' || fail "√d_k: u does not undo"

    # what does head 2 of block 1 look at?
    help_task 'What does head 2 of block 1 look at'
    shows "head 2" 'block 1 of 0–3  head 2'
    shows "head 2: the pattern" 'pattern'
    shows "head 2: one row over the picture" 'one row'
    shows "head 2: the figures of the row" 'entropy [0-9.]+'
    asks=$(screen_text | grep -oE 'pattern\[h=2,t=r[0-9]c[0-9],u\]' | head -n 1)
    send i
    shows "head 2: i says what it looks at" 'Head 2 of block 1, for query'
    send q
    unsee 'q closes' || fail "head 2: q does not close what i said"
    send '>'
    until_true has_not "$asks" || fail "head 2: > does not let another token ask ($asks)"
    send Enter
    shows "head 2: Enter shows the arithmetic" 'exp\[h,t,u\] / row_sum'
    send BSpace
    shows "head 2: Backspace returns" 'one row'

    # how was this number made?
    help_task 'How was this number made'
    shows "pixel: the arithmetic" 'stored in the trace'
    shows "pixel: it adds up" 'equal, bit for bit'
    send w
    shows "pixel: w names the chain" 'exponentials +h='
    send q
    unsee 'q closes' || fail "pixel: q does not close the chain"
    for i in $(seq 60); do # Enter, again and again, ends in a number that was not computed
        send Enter
        sleep 0.02
    done
    shows "pixel: following operands ends in a pixel" 'explain pixels\['
    shows "pixel: the path stays visible" ' ‹ '
    for i in 1 2 3; do send BSpace; done
    unsee 'explain pixels\[' || fail "pixel: Backspace does not return"

    # which pixel did this number come from? The task goes there, and q to where one was
    help_task 'What does head 2 of block 1 look at'
    shows "the pixel: on" 'one row'
    help_task 'Which pixel did this number come from'
    shows "the pixel: it says which, and how far it is" 'steps along the largest terms from blocks\.1\.attn\.pattern'
    shows "the pixel: and stands there" 'step 1 of|explain pixels|pixel y [0-9]+ x [0-9]+'
    send BSpace
    shows "the pixel: Backspace returns to the number" 'one row'

    # a head switched off: z and the answer, and what was there before comes back
    send q
    shows "a task ends with q" 'Back where you were'
    line ':ablate blocks.0.attn.z[h=0]'
    shows "off: the reader's own edit" 'ablate blocks\.0\.attn\.z'
    send '?'
    shows "off: help" 'what do you want to do'
    for i in 1 2 3 4 5 6; do send Down; done
    shows "off: says what it will change" 'Sets z of head 2 of block 1'
    shows "off: and what becomes of the own one" 'Your 1 change is set apart'
    send Enter
    shows "off: z, on three sides" 'A − B .*z'
    shows "off: the answers of both" 'A [a-z]+ [0-9.<>]+ % │ B [a-z]+ [0-9.<>]+ %'
    shows "off: only the task's edit" 'edit: ablate blocks\.1\.attn(\.z|…)'
    shows "off: the footer says how it ends" 'q ends the task'
    send q
    shows "off: the own edit is back" 'your 1 change in force again'
    shows "off: in the header too" 'edit: ablate blocks\.0\.attn\.z'
    line ':messages'
    shows "messages: a list with times" 'Messages of this run'
    shows "messages: the newest last" 'your 1 change in force again'
    send q
    send u
    unsee 'edit: ablate' || fail "off: undo is not the reader's own any more"
    line ':quit'
    back_in_shell "tasks at $s" 0
done

# my own photograph, from the list of this folder
shell_open 120 40
cp tests/data/image/rgb8.png "$HOME_DIR/photo.png"
cp tests/data/image/orientation.jpg "$HOME_DIR/my cat.jpg"
start
help_task 'My own picture or model'
shows "photograph: the list of this folder" 'photo\.png'
shows "photograph: a name with a blank" 'my cat\.jpg'
send Down
send Escape
send o
shows "photograph: o opens the same list" 'photo\.png'
for i in $(seq 10); do
    screen_text | grep -q '▸.*photo\.png' && break
    send Down
    sleep 0.05
done
send Enter
shows "photograph: it is in the header" 'vitrine .*photo\.png'
shows "photograph: it opens with the model of photographs, and that is said" 'opened with photos'
line ':open "my cat.jpg"'
shows "photograph: typed with quotes" 'vitrine .*my cat\.jpg'
line ':open nothing.png'
shows "photograph: a missing file is named, the old one stays" 'nothing\.png'
shows "photograph: the old one stays" 'vitrine .*my cat\.jpg'
quit photograph
line '$V --fresh photo.png'
shows "photograph: from the command line" 'vitrine .*photo\.png'
quit "photograph from the command line"
finish tasks
