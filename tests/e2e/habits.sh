#!/usr/bin/env bash
# What hands that come from a shell, vim or less do without thinking.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
command -v tmux >/dev/null || { skip "habits (make deps-all installs tmux)"; finish habits; exit; }
. tests/e2e/tmux.sh
shell_open 80 24
cp tests/data/image/rgb8.png "$HOME_DIR/one picture.png"
start

# Tab: file names, axes, labels, words
send ':' && send -l 'open on' && send Tab
shows "Tab: a file with a blank in its name" ':open "one picture\.png"'
send C-c && send ':' && send -l 'goto patt' && send Tab && send -l '[h=2,t=r3c' && send Tab
shows "Tab: a short name, an axis, a label" ':goto pattern\[h=2,t=r3c0'
send C-c && send ':' && send -l 'glossary attention dis' && send Tab && send Enter
shows "Tab: an entry of two words" 'How far a head looks on average'
send q

# a search goes on with n and N, and ends with a step
send / && send -l 'ln1' && send Enter
shows "/: the first hit" 'ln1 .*block 0 of'
send n
shows "n: the next" 'ln1 .*block 1 of'
shows "n: which of how many" '2 of 4 with .ln1.'
send N
shows "N: the one before" 'ln1 .*block 0 of'
send Space
shows "Space takes a step" 'step [0-9]+ of [0-9]+: (q k v|sum)'
send n
unsee 'with .ln1.' || fail "n after a step still searches"

# a number, and quitting as in vim
line ':12'
shows ":12 is step 12" 'step 12 of'

# a file is not written over without a question
line ':export shot.svg'
shows "export: saved" 'Saved this screen to shot\.svg'
was=$(cksum <"$HOME_DIR/shot.svg")
send g
line ':export shot.svg'
shows "export: asks" 'shot\.svg is there already\. Enter writes over it'
shows "export: the line is ready" ':export shot\.svg over=yes'
send Escape
unsee ':export shot' || fail "export: Esc does not close the question"
same "export: Esc leaves the file" "$was" "$(cksum <"$HOME_DIR/shot.svg")"
line ':export shot.svg'
shows "export: asks again" 'Enter writes over it'
send Enter
shows "export: Enter writes" 'Saved this screen to shot\.svg'
[ "$was" != "$(cksum <"$HOME_DIR/shot.svg")" ] && pass || fail "export: Enter wrote nothing"

# a page that fits does not scroll; one that does not says how much there is
line ':glossary entropy'
shows "page: that fits" 'How spread a row of weights is'
has 'scroll' && fail "page: offers to scroll what fits"
send q
line ':info'
shows "page: how much is below" 'scroll, [0-9]+ more lines below'
send End
shows "page: its end" 'scroll, this is the end'
send q

# Backspace leaves what was learned for the place where one was
line ':goto blocks.1.attn.pattern[h=1,t=r2c3]'
shows "back: a place" 'block 1 of 0–3  head 1'
line ':filters'
shows "back: filters" 'Directions in which the filters differ'
send v
send Right
send BSpace
shows "back: there again" 'block 1 of 0–3  head 1'

# in scripts a file stays, unless the line says otherwise
line ':q'
back_in_shell habits 0
line '$V run "#17" -c "export values.npy logits" >/dev/null; $V run "#17" -c "export values.npy probs"; echo "code=$?"'
shows "export without a screen: refused" 'values\.npy is there already: .*over=yes'
shows "export without a screen: status" 'code=[12]'
line 'clear; $V run "#17" -c "export values.npy probs over=yes" >/dev/null; echo "code=$?"'
shows "export without a screen: over=yes" 'code=0'
finish habits
