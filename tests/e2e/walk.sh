#!/usr/bin/env bash
# From pixels to answer with the space bar, then the two great keys: s takes 1/√d_k away, x switches off what the cursor is on.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
command -v tmux >/dev/null || { skip "walk (make deps-all installs tmux)"; finish walk; exit; }
. tests/e2e/tmux.sh

shell_open 120 40
start
shows "a hint for somebody new" 'walk on \(Space\)'
steps=$(screen_text | sed -nE 's/.*step 1 of ([0-9]+).*/\1/p' | head -n 1)
sentences='' presses=0
for i in $(seq 40); do # one block is open: a closed one is one press
    was=$(screen_text | grep -oE 'step [0-9]+ of' | head -n 1)
    send Space
    unsee "${was:-step}" || fail "Space stays at $was"
    presses=$i
    sentences="$sentences$(screen_text | tail -n 3 | head -n 1)"$'\n'
    has "step $steps of $steps" && break
done
check "$presses presses from pixels to answer, not about 25" [ "$presses" -ge 20 ] && check "$presses presses" [ "$presses" -le 30 ]
same "every step has a sentence of its own" "$presses" "$(printf '%s' "$sentences" | grep -cE '[a-z]{3}.*[a-z]{3}')"
shows "the answer at the end" 'A star'
send g
shows "g: the first step" "step 1 of $steps"
send G
shows "G: the last step" "step $steps of $steps"
send 1 2 G
shows "12G: step 12" "step 12 of $steps"
send p
shows "p: back one step" "step 11 of $steps"

# the trace hash when the pass is complete, from the answer line
hash_now() { screen_text | sed -nE 's/.*trace ([0-9a-f]{4}[ 0-9a-f]*).*/\1/p' | tail -n 1; }
line ':goto blocks.1.attn.pattern[h=2,t=r3c4]'
shows "the pattern of head 2" 'head 2 of 0–3'
see 'trace [0-9a-f]{4}' || fail "no trace hash on the screen"
before=$(hash_now)
answer=$(screen_text | grep -E 'trace [0-9a-f]{4}' | tail -n 1)
send s
shows "s: the edit is said" 'set scale off'
shows "s: A and B side by side" 'A − B|A - B'
check "s: the answer line is still the old one" [ "$(screen_text | grep -E 'trace [0-9a-f]{4}' | tail -n 1)" != "$answer" ]
send u
until_true has_not 'edit: set scale' || fail "u: the edit stayed"
until_true has "trace $before" || fail "u: the hash was '$before' and is '$(hash_now)'"
same "u: the identical hash" "$before" "$(hash_now)"
send x
shows "x: head 2 of block 1 is off" 'ablate blocks.1.attn.(z|pattern)\[h=2\]'
send x
until_true has_not 'edit: ablate' || fail "x again: the edit stayed"
until_true has "trace $before" || fail "x again: the hash did not come back"
send s
see 'set scale off' || fail "s does nothing the second time"
send u
until_true has_not 'edit: ' || fail "u: the second time the edit stayed"
send U
shows "U: it is there again" 'edit: set scale off'
send u
until_true has_not 'edit: ' || fail "u after U: the edit stayed"

# every view once, and a command with an error
for v in numbers strip histogram heat; do
    line ":goto blocks.0.attn.q; view $v"
    shows "view $v" 'attn.q'
done
for v in sheet matrix row positions formula answer picture; do
    line ":view $v"
    unsee ':view' || fail "the command line stays open after view $v"
done
line ':ablate blocks.9.attn.z'
shows "an address that is not there is named" 'no block 9: blocks go from 0 to 3'
line ':ablte blocks.0.attn.z[h=1]'
shows "a mistyped command gets the nearest name" 'ablate'
send :
shows "a prompt" '^:'
send Escape
unsee '^:' || fail "Esc does not close the prompt"
send '?'
shows "help starts with tasks" 'what do you want to do'
send '?'
shows "second page: keys" 'keys on this screen'
send '?'
shows "third page: commands" 'commands'
send Escape
unsee 'Help 3' || fail "Esc does not close help"
send i
shows "i says something" '[a-z]{3}'
line ':goto blocks.1.mlp.post; view numbers'
shows "a place to come back to" 'mlp\.post'
quit walk

line '$V "#17"'
shows "the place is remembered" 'Resumed at step ([2-9]|[1-9][0-9]) of'
shows "the tensor is the one that was left" 'mlp\.post'
quit remembered
finish walk
