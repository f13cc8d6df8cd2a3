#!/usr/bin/env bash
# Scripts and demonstrations: every step drawn with the command that draws it again, casts that are the same each time, the ready-made
# ones on the screen, line by line and as casts.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
. tests/e2e/tmux.sh
T=$HOME_DIR
ROOT=$PWD
export HOME=$T XDG_STATE_HOME=$T/state
mkdir "$T/bin" && ln -s "$VITRINE" "$T/bin/vitrine"
PATH=$T/bin:$PATH
cd "$T" || exit 1
cat >talk.txt <<'END'
# what somebody does
title A try
goto blocks.1.attn.pattern[h=2,t=r3c4]
caption Largest {max(blocks.1.attn.pattern[h=2,t=r3c4])} at {label(blocks.1.attn.pattern[h=2,t=r3c4])}, sum {sum(blocks.1.attn.pattern[h=2,t=r3c4])}. Of {count(blocks.1.attn.pattern[h=2,t=r3c4])}.
note Slowly.
pause 2.5
open #66; set scale off
caption {A answer} becomes {B answer}, {B max(probs) %}.
pause 100
view answer; compare b; zoom
pause 1
view matrix; say
END

# the steps as files: the caption, and a command that draws the very same screen
vitrine screen --script talk.txt --size 100x30 -o shot.txt >out 2>err </dev/null
same "steps: status" 0 $?
same "steps: files" 4 "$(ls shot-0?.txt | wc -l)"
check "steps: the report" grep -q '^shot-02.txt  square becomes heart, 74.6 %' out
for i in 1 2 3 4; do
    head -n 30 "shot-0$i.txt" >want
    command=$(tail -n +31 "shot-0$i.txt" | tr -d '\n' | grep -o 'vitrine screen .*' | sed 's/  */ /g')
    eval "$command -o got.txt" </dev/null >/dev/null 2>err || fail "step $i: its command fails: $command: $(cat err)"
    if cmp -s want got.txt; then pass; else fail "step $i: '$command' draws another screen: $(diff want got.txt | head -n 6)"; fi
done
# every view: the command that is printed below it draws the same, colours too
cat >views.sh <<'END'
picture|goto image[y=3,x=2]; view picture
tensor|goto blocks.1.attn.q[t=r1c1,h=1]; view tensor
numbers|goto blocks.0.mlp.post[t=r0c2]; view numbers
strip|goto blocks.1.resid_post[t=cls]; view strip
histogram|goto blocks.0.mlp.w_up; view histogram
matrix|goto blocks.1.attn.pattern[h=2,t=r3c4]; view matrix
row|view row
sheet|view sheet
scale|view matrix; set scale off
diff|compare diff
positions|undo; view positions
formula|goto blocks.1.attn.scores_raw[h=2,t=r3c4,u=r3c2]; view formula
closeup|view close-up
answer|view answer
beside|goto blocks.0.attn.k[u=r1c1,h=1]; view beside
training|training 3
twin|training twin
filters|filters components
heads|heads
where|where
lens|lens
laboratory|laboratory
census|census
blanks|hide r3c4; blanks
ledger|undo; ledger
why|goto logits; why
sentence|model translator; goto decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=1]
waves|view waves
writing|word tired wide; view writing
decoding|decode beam
END
sed 's/^[^|]*|//; a\pause 1' views.sh >views.txt
vitrine screen --script views.txt --size 100x30 -o view.txt >out 2>err </dev/null
same "every view: status" "0 " "$? $(cat err)"
vitrine screen --script views.txt --size 100x30 --light -o view.svg >out 2>err </dev/null
i=0
while IFS='|' read -r name _; do
    i=$((i + 1))
    n=$(printf %02d $i)
    command=$(tail -n +31 "view-$n.txt" | tr -d '\n' | grep -o 'vitrine screen .*' | sed 's/  */ /g')
    eval "$command -o got.txt --light -o got.svg" </dev/null >/dev/null 2>err || fail "$name: its command fails: $command: $(cat err)"
    eval "$command -o got.txt" </dev/null >/dev/null 2>err
    if head -n 30 "view-$n.txt" | cmp -s - got.txt; then pass; else fail "$name: '$command' draws another screen: $(head -n 30 "view-$n.txt" | diff - got.txt | head -n 6)"; fi
    # in colour: what stands above the caption, line by line
    if grep -qvxF -f "view-$n.svg" <(grep -E '^<(rect|text|tspan|path|polyline|circle)' got.svg | sed 1d); then fail "$name: other colours or lines in the picture"; else pass; fi
done <views.sh
# one screen with the command below
vitrine export 'blocks.1.attn.pattern[h=2]' -c 'view matrix; say' --size 100x30 -o one.txt </dev/null 2>err || fail "export: $(cat err)"
same "export: its command" "vitrine screen 'blocks.1.attn.pattern[h=2]' -c 'view matrix; say' --size 100x30" "$(tail -n +31 one.txt | sed 's/^ *//')"
eval "$(tail -n +31 one.txt) -o got.txt" </dev/null
check "export: the command draws another screen" bash -c 'head -n 30 one.txt | cmp -s - got.txt'
if vitrine export --script talk.txt --size 80x24 -o slide.png >out 2>err </dev/null; then
    same "export: a script's slides" 4 "$(ls slide-0?.png | wc -l)"
elif grep -q 'none of those known is on this machine' err; then
    skip "slides as .png: no monospaced font is on this machine (make deps-all installs one)"
else
    fail "export --script: $(cat err)"
fi
vitrine export 2>err </dev/null
same "export: nothing named: status" 2 $?

# lines of a plot are lines in a picture with a caption too
printf 'laboratory\ncaption Eleven factors.\npause 1\n' >plot.txt
vitrine screen --script plot.txt --size 100x40 -o plot.svg >out 2>err </dev/null
same "a plot with a caption: lines" 2 "$(grep -c 'stroke-width="1.5"' plot-01.svg)"
# what the caption says is what show says
max=$(vitrine show 'blocks.1.attn.pattern[h=2,t=r3c4]' --json </dev/null | tr -c '0-9.e-' '\n' | grep '^0\.' | sort -g | tail -n 1)
check "caption: the largest" grep -qF "Largest $(printf '%.3f' "$max") at r3c2, sum 1. Of 65." shot-01.txt
for kind in svg html ans; do
    vitrine screen --script talk.txt --size 80x24 -o "shot.$kind" >out 2>err </dev/null || fail "$kind: $(cat err)"
    check "$kind: no command in it" grep -q 'set scale off' "shot-02.$kind"
done

# casts: virtual clock, pauses cut at eight seconds, a marker for each step; the same bytes with other threads
vitrine screen --script talk.txt --size 80x24 --cast a.cast </dev/null || fail "no cast"
vitrine screen --script talk.txt --size 80x24 -o b.cast --threads 1 </dev/null || fail "no second cast"
check "cast: not the same bytes" cmp a.cast b.cast
same "cast: header" '{"version": 2, "width": 80, "height": 24, "idle_time_limit": 8, "title": "A try"' "$(head -n 1 a.cast | grep -o '.*"A try"')"
same "cast: times" "0.000 0.000 2.500 2.500 10.500 10.500 11.500 11.500 14.500" "$(tail -n +2 a.cast | sed 's/^\[\([0-9.]*\),.*/\1/' | tr '\n' ' ' | sed 's/ $//')"
same "cast: markers" 4 "$(grep -c '^\[[0-9.]*, "m"' a.cast)"
# what plays is played, for as long as it is seen: frames of which each has the rows that changed
printf 'goto blocks.0.attn.q; play\npause 1.2\ngoto logits\npause 1\n' >film.txt
vitrine screen --script film.txt --size 80x24 -o film.cast </dev/null || fail "no cast of a film"
same "film: frames" "0.062 0.124 0.186 0.248 0.496 0.558 0.620 0.682 0.744 0.992 1.054 1.116 1.178" \
    "$(sed -nE 's/^\[([0-9.]*), "o", "\\u001b\[[0-9]*;1H.*/\1/p' film.cast | tr '\n' ' ' | sed 's/ $//')"
printf 'goto blocks.0.attn.z; play next; play next\npause 1\n' >still.txt # and of a still the command draws that frame again
vitrine screen --script still.txt --size 120x24 -o seen.txt </dev/null >out 2>err || fail "no still of a film"
eval "$(grep -h '^ vitrine screen' seen-01.txt) </dev/null" >again
same "film: a still again" "$(cat again)" "$(head -n 24 seen-01.txt)"
check "film: a frame is no larger than the whole" test "$(sed -n 4p film.cast | wc -c)" -lt "$(sed -n 2p film.cast | wc -c)"
# play it: what a terminal of that size then shows is the screen and its caption
if command -v tmux >/dev/null; then
    sed -nE 's/^\[([0-9.]*), "o", "(.*)"\]$/\1 \2/p' a.cast | awk '$1 <= 3 {sub(/^[^ ]* /, ""); printf "%s", $0}' >text
    printf %b "$(cat text)" >play
    shell_open 80 24
    line "stty -echo; cat play; read line"
    shows "played: the caption" 'square becomes heart, 74.6 %'
    shows "played: the screen" 'A square .* B heart'
    same "played: the first row" "$(vitrine screen -c 'goto blocks.1.attn.pattern[h=2,t=r3c4]; open #66; set scale off' --size 80x20 </dev/null | head -n 1)" "$(screen_text | head -n 1)"
    send Enter
else
    skip "playing a cast (make deps-all installs tmux)"
fi

# what is wrong is said with file and line
refused() { # PATTERN TEXT
    printf '%b' "$2" >bad.txt
    if vitrine screen --script bad.txt -o bad.svg >out 2>err </dev/null; then fail "taken: $2"; return; fi
    if [ "$(wc -l <err)" = 1 ] && grep -qE -e "$1" err; then pass; else fail "'$2': $(cat err)"; fi
}
refused "bad.txt:2: .*'abra'" 'view picture\nabra\npause 1\n'
refused "bad.txt:1: pause: expected seconds" 'pause soon\n'
refused 'bad.txt:1: pause: expected seconds' 'pause 1e9\n'
refused 'bad.txt:2: .*no node' 'goto first\ncaption {nothing.here}\n'
refused 'bad.txt:1: .*numbers: name one cell' 'caption {probs}\n'
refused 'bad.txt:1: \{ without' 'caption {probs\n'
refused 'bad.txt:2: the step has a caption' 'caption a\ncaption b\n'
refused 'bad.txt: no step' '# nothing\n'
refused 'NUL' 'next\0\npause 1\n'
check "a broken script left a picture" [ ! -e bad-01.svg ]

# asciicast v2, line by line: a header, then [seconds, kind, text] with times that never go back, text that is UTF-8
is_cast() { # FILE
    head -n 1 "$1" | grep -qE '^\{"version": 2, "width": 80, "height": 24(, "(timestamp|duration|idle_time_limit)": [0-9.]+|, "(command|title)": "[^"\\]*"|, "env": \{[^}]*\})*\}$' &&
        ! grep -axqv '.*' "$1" && [ -z "$(tail -c 1 "$1" | tr -d '\n')" ] &&
        ! tail -n +2 "$1" | grep -qvE '^\[[0-9]+\.[0-9]+, "[om]", "([^"\\[:cntrl:]]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"\]$' &&
        tail -n +2 "$1" | tr -d '[,"' | awk '{if ($1 < last || $1 > last + 8.0005) bad = 1; last = $1; n[$2 ~ /^m/]++} END {exit bad || n[1] < 4 || n[0] != n[1] + 1}'
}
# the ready-made ones: listed, read, recorded twice; every number in a caption comes from an expression
vitrine demo >list </dev/null
same "demos: listed" 8 "$(grep -cE '^[1-8]  ' list)"
for i in 1 2 3 4 5 6 7 8; do
    vitrine demo $i >read 2>err </dev/null
    same "demo $i: read" "0 " "$? $(cat err)"
    check "demo $i: notes" grep -q '^Speaker: ' read
    vitrine demo $i --cast one.cast --size 80x24 </dev/null && vitrine demo $i --cast two.cast --size 80x24 --threads 1 </dev/null
    check "demo $i: the cast is not the same" cmp one.cast two.cast
    check "demo $i: no asciicast" is_cast one.cast
done
loose=$(sed -nE 's/^caption //p' "$ROOT"/assets/demos/*.txt | sed -E 's/\{[^}]*\}//g; s/r[0-9]c[0-9]|[Bb]lock [0-9]|[Hh]ead [0-9]|1\/√d_k|above 0//g' | grep '[0-9]')
same "demos: numbers that nothing computes" "" "$loose"
vitrine demo 3 -i '#66' >other </dev/null
check "demo 3: another picture has the same numbers" bash -c '! cmp -s <(vitrine demo 3 </dev/null) other'
vitrine demo 9 </dev/null >out 2>err
same "demo 9: status" 2 $?

# played live, with its pauses: by itself, at once by Space, stopped by another key, none longer than eight seconds
if command -v tmux >/dev/null; then
    printf '%s\n' 'title Live' 'goto blocks.1.attn.pattern[h=2,t=r3c4]' 'caption Step one.' 'pause 1' 'head 3' 'caption Step two.' 'pause 600' \
        'head 1' 'caption Step three.' 'pause 600' >live.txt
    shell_open 80 24
    line '$V --script live.txt'
    shows "live: the title" '█▀█|████'
    send Space
    shows "live: Space goes on at once" 'Step one'
    began=$(date +%s%N)
    shows "live: the next by itself" 'Step two'
    took=$((($(date +%s%N) - began) / 1000000))
    check "live: a pause of one second took $took ms" [ "$took" -lt 4000 ]
    send p
    shows "live: another key stops it" 'Stopped: Space goes on by hand'
    shows "live: …where it leads" '2/4$'
    send 3 G
    line ':present play'
    shows "live: step 3" 'Step two'
    began=$(date +%s%N)
    shows "live: a long pause is cut" 'Step three'
    took=$((($(date +%s%N) - began) / 1000000))
    check "live: a pause of ten minutes took $took ms" [ "$took" -gt 5000 -a "$took" -lt 15000 ]
    send q q
    shows "live: leaves" 'ready>'
    line 'clear; $V --script live.txt "#17"; echo "status=$?"'
    shows "live: with a word" 'goes alone'
fi

# on the screen: Space goes on; line by line: an empty line does
if command -v tmux >/dev/null; then
    shell_open 120 40
    line '$V demo 2'
    shows "on the screen: the first caption" '1/8 The question of the next minutes'
    send Space
    shows "on the screen: Space goes on" '2/8 Head 0 of block 1'
    line ':demo notes'
    shows "on the screen: notes" 'Entropy near its largest value'
    for i in 3 4 5 6 7; do
        send Space
        shows "on the screen: step $i" "$i/8 "
    done
    shows "on the screen: the head is off" 'ablate'
    send Space
    shows "on the screen: step 8" '8/8 And back'
    send Space
    shows "on the screen: the end" 'the model is yours'
    send '?'
    shows "help" 'what do you want to do'
    send /
    send -l 'Ready-made'
    shows "help: offers them" 'Ready-made demonstrations'
    send Enter
    shows "help: the list" 'One softmax row, by hand'
    send q
    line ':quit'
    shows "on the screen: leaves" 'ready>'
fi
printf 'demo\n3\n\n\ndemo notes\ndemo close\n\n' | vitrine --plain >out
same "line by line: status" 0 $?
check "line by line: the list" grep -q '^3. One softmax row' out
check "line by line: the third step" grep -q '^3/7 Subtract it' out
check "line by line: the end" grep -q 'the model is yours' out
finish scripts
