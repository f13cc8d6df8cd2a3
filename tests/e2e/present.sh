#!/usr/bin/env bash
# Presenter mode: every plausible key and a click is next, only b blanks, clickers' keys are harmless, an excursion comes back to the very
# same screen, leaving asks, a rehearsal says its times.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
. tests/e2e/tmux.sh
T=$HOME_DIR
cat >"$T/talk.txt" <<'END'
title Two words
goto blocks.1.attn.pattern[h=2,t=r3c4]; view matrix
caption One. {max(blocks.1.attn.pattern[h=2,t=r3c4])}
pause 2
head 3
caption Two.
pause 3
open #66; set scale off
caption Three: {A answer} and {B answer}.
pause 1
view answer; compare b
caption Four.
END
if ! command -v tmux >/dev/null; then
    skip "presenting (make deps-all installs tmux)"
    finish present
    exit
fi
is_screen() { [ "$(screen_text)" = "$1" ]; }
soon() { # WHAT TEXT: the screen becomes that text
    if until_true is_screen "$2"; then pass; else same "$1" "$2" "$(screen_text)"; fi
}
shell_open 80 24
line '$V present talk.txt --rehearse'
shows "the title in large letters" '████████████    ████    ████'
check "the title is small" has_not '[Tt]wo'
i=1
for k in Space BSpace Enter p n h l k j Up Right Left Down PPage NPage; do
    case $k in BSpace | p | h | k | Up | Left | PPage) i=$((i - 1)) ;; *) i=$((i + 1)) ;; esac
    send "$k"
    if [ $i = 1 ]; then shows "$k" '████████████    ████    ████'; else shows "$k: step $i" "$i/5$"; fi
done
send Escape
send -l "$(printf '\033[<0;10;10M\033[<0;10;10m')"
send 2 G
shows "a row over the picture, not a matrix, on 24 rows" 'pattern\[h=2,t=r3c4,u='
shows "its caption" 'One\. '
unsee computing
before=$(screen_text)
send Escape F5 F1 Tab
sleep 0.3
same "keys of clickers are harmless" "$before" "$(screen_text)"
send b
until_true has_not '2/5' || fail "not blank"
same "blank" "" "$(screen_text | tr -d ' \n')"
send Space
shows "any key shows it again" '2/5$'
soon "the very same" "$before"
send 4 G
shows "4G" 'Three: square and heart'
unsee computing
want=$(screen_text)
send P
shows "the ordinary screen" 'Space next'
send u
line ':goto blocks.2.attn.q; view numbers'
shows "an excursion" 'block 2'
send P
shows "back" '4/5$'
soon "the same screen after an excursion" "$want"
send 2 G
shows "back to step 2" 'One\. '
soon "…as it was" "$before"
send L
shows "the pointer's value in large digits" '▀▀▀ +▀'
send '?'
shows "its keys" '12G g G'
send Escape
unsee 'Presenting: keys'
send G
shows "the last one" '5/5$'
send Space
shows "no step behind the last" 'That was the last step'
send q
shows "leaving asks" 'Leave the presentation'
send x
unsee 'Leave the presentation' || fail "another key does not stay"
shows "any other key stays" '5/5$'
send q q
shows "times of a rehearsal" '\(2 s in the file\)  One'
line '$V present nothing-like-it; echo "status=$?"'
shows "what there is not" 'no lesson and no demonstration'
shows "its status" 'status=2'
line 'clear; $V present 6 --light --ascii'
shows "a lesson in ASCII: large letters of whole cells" '##'
send Space
shows "its first card" '2/13$'
send Space
shows "behind its pause: the terms one by one" 'after [0-9]+ of 64 terms'
shows "still that card" '2/13$'
send Space
shows "the next one" '3/13$'
send q q
shows "out" 'ready>'

# what one does is a lesson: it passes its check and can be presented
line "clear; \$V --fresh -i '#17'"
shows "a frame" 'Space next'
line ':record talk.md'
shows "recording" 'written to talk.md'
send Space Space
line ':goto blocks.1.attn.pattern[h=2,t=r3c4]'
shows "there" 'pattern\[h=2'
send s
shows "an edit" 'A is before'
line ':record off'
shows "recorded" '5 steps in talk.md'
quit "after recording"
line 'clear; $V check talk.md; echo "status=$?"'
shows "the recorded lesson is sound" 'status=0'
check "its steps" [ "$(grep -c '^## ' "$T/talk.md")" = 5 ]
check "an edit in it" grep -q '^do set scale off' "$T/talk.md"
check "its sentences are whole, of A and of B" eval 'grep -q "^A: .*\. B: .*\.$" "$T/talk.md" && ! grep -q "…$" "$T/talk.md"'
line 'clear; $V lesson talk.md' # a lesson of one's own is a lesson
shows "lesson FILE: its first card" 'A talk +1 of 5'
quit "lesson FILE"
line 'clear; $V present talk.md'
shows "its title" '████'
send 6 G
shows "its last card" '6/6$'
send q q
shows "out again" 'ready>'

# a screen as a PNG: the same bytes twice, and a picture that a decoder takes; a script's steps too
for i in 1 2; do "$VITRINE" screen 'blocks.1.attn.pattern[h=2]' --size 80x24 -o "$T/shot$i.png" </dev/null 2>"$T/err"; done
same "a PNG: errors" "" "$(cat "$T/err")"
check "a PNG: the same bytes twice" cmp -s "$T/shot1.png" "$T/shot2.png"
check "a PNG: a picture" "$VITRINE" run "$T/shot1.png" -o "$T/out"
"$VITRINE" demo 1 --size 80x24 -o "$T/demo.png" >/dev/null 2>&1 </dev/null
check "a demonstration's steps as PNGs" [ "$(head -c 4 "$T/demo-01.png" | tail -c 3)" = PNG ]
VITRINE_FONT=/nonexistent "$VITRINE" screen -o "$T/none.png" >"$T/out" 2>"$T/err" </dev/null
same "no font: status" 1 $?
check "no font: says so, and writes nothing" [ -s "$T/err" -a ! -e "$T/none.png" ]

# a receipt is verified by whoever has the program
run() { "$VITRINE" receipt "$@" >"$T/out" 2>"$T/err" </dev/null; }
run v1-00000007-1-1cc1e37e9104eb92-0000
same "a slip in a receipt" 2 $?
mkdir -m 700 "$T/run" "$T/share"
shell_open 80 24 XDG_RUNTIME_DIR="$T/run" VITRINE_SHARE="$T/share"
line "\$V share --name quiz"
shows "shared" 'join quiz'
send Space
tm new-session -d -s guest -x 80 -y 24 env -i PATH="$PATH" HOME="$T" LANG=C.UTF-8 TERM=xterm-256color VITRINE_SHARE="$T/share" XDG_RUNTIME_DIR="$T/run" "$VITRINE" join quiz
guest_has() { tm capture-pane -p -t guest | grep -qE -- "$1"; }
until_true guest_has 'Following' && pass || fail "a guest follows"
line ':ask seed=7'
until_true guest_has 'Type the digit' && pass || fail "a question from the trace"
tm send-keys -t guest 1
until_true guest_has 'Receipt v1-' && pass || fail "a receipt"
receipt=$(tm capture-pane -p -t guest | grep -oE 'v1-[0-9a-f-]+')
check "a receipt of more than 60 characters" [ ${#receipt} -le 60 ]
run "$receipt"
same "verified" 0 $?
check "…and graded" grep -qE '^right +(yes|no: )' "$T/out"
run "$receipt" -i '#66'
same "about another picture" 3 $?
run "$receipt" 'Another question?' yes no
same "of another question" 3 $?
finish present
