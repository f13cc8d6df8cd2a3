#!/usr/bin/env bash
# Presenter mode: every plausible key and a click is next, only . blanks, clickers' keys are harmless, an excursion comes back to the very
# same screen, leaving asks, a rehearsal says its times.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
. tests/e2e/tmux.sh
T=$HOME_DIR
cat >"$T/talk.txt" <<'END'
title Two words
goto blocks.1.attn.pattern[h=2,t=r3c4]; view matrix
caption One. {max blocks.1.attn.pattern[h=2,t=r3c4]}
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
before=$(screen_text)
send b Escape F5 F1 Tab
sleep 0.3
same "keys of clickers are harmless" "$before" "$(screen_text)"
send .
until_true has_not '2/5' || fail "not blank"
same "blank" "" "$(screen_text | tr -d ' \n')"
send Space
shows "any key shows it again" '2/5$'
same "the very same" "$before" "$(screen_text)"
send 4 G
shows "4G" 'Three: square and heart'
want=$(screen_text)
send P
shows "the ordinary screen" 'Space next'
send u
line ':goto blocks.2.attn.q; view numbers'
shows "an excursion" 'block 2'
send P
shows "back" '4/5$'
same "the same screen after an excursion" "$want" "$(screen_text)"
send 2 G
shows "back to step 2" 'One\. '
same "…as it was" "$before" "$(screen_text)"
send L
shows "the pointer's value in large digits" '▀▀▀ +▀'
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
shows "its first card" '2/12$'
send q q
shows "out" 'ready>'
finish present
