#!/usr/bin/env bash
# A lecture: one presenter, one notes terminal, 20 followers of mixed sizes and terminals; a demonstration, two questions, an excursion.
# Then followers are killed and stopped, the presenter leaves and comes back, a second one tries. All by files of one directory.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
. tests/e2e/tmux.sh
T=$HOME_DIR
if ! command -v tmux >/dev/null; then
    skip "a class (make deps-all installs tmux)"
    finish class
    exit
fi
GUESTS=${GUESTS:-20}
mkdir -m 700 "$T/run" "$T/share"
WHERE="XDG_RUNTIME_DIR=$T/run VITRINE_SHARE=$T/share"
pane() { echo "g$1"; }
text() { tm capture-pane -p -t "$1" 2>/dev/null; }
guest_has() { text "$(pane "$1")" | flat | grep -qE -- "$2"; }
# all WHAT PATTERN [FIRST [LAST]]: on the screen of every one of them
all() {
    local i
    for i in $(seq "${3:-1}" "${4:-$GUESTS}"); do
        if until_true guest_has "$i" "$2"; then pass; else
            fail "$1: follower $i does not show '$2'"
            text "$(pane "$i")" | sed 's/^/    |/' | head -n 30
        fi
    done
}
guest() { # NUMBER WIDTH HEIGHT TERM OPTIONS
    tm new-session -d -s "$(pane "$1")" -x "$2" -y "$3" env -i PATH="$PATH" HOME="$T" LANG=C.UTF-8 TERM="$4" $WHERE \
        sh -c "echo \$\$ >$T/pid$1; exec '$VITRINE' join prof --threads 1 $5 2>$T/err$1"
}
shell_open 80 24 XDG_RUNTIME_DIR="$T/run" VITRINE_SHARE="$T/share"
line '$V share heads --name prof --threads 1'
shows "how to join, first of all" 'follows with vitrine join prof'
shows "…and where, as it is not in /tmp" 'VITRINE_SHARE is set'
shows "…and who that is" '[a-z]+ \([0-9]+\)'
send Space
shows "the title" 'of 9|█▀█'
unsee 'follows with' && pass || fail "the page of how to join stays"
same "the shared directory" "drwxr-xr-x -rw-r--r-- drwx-wx-wt" "$(stat -c %A "$T"/share/vitrine-class-prof "$T"/share/vitrine-class-prof/{lines-5,votes} | tr '\n' ' ' | sed 's/ $//')"
same "the notes' directory" "drwx------" "$(stat -c %A "$T/run/vitrine-notes-$(id -u)")"
TERMS=(xterm-256color screen vt100 linux tmux-256color)
SIZES=("80 24" "120 40" "100 30" "60 16" "200 60")
for i in $(seq "$GUESTS"); do
    # shellcheck disable=SC2086
    guest "$i" ${SIZES[$((i % 5))]} "${TERMS[$((i / 5 % 5))]}" ''
done
mkfifo "$T/keys"
env $WHERE "$VITRINE" notes <"$T/keys" >"$T/notes" 2>&1 &
NOTES=$!
exec 7>"$T/keys"

all "the title" 'Many heads'
send Space
all "step 2" 'The question of the next minutes'
until_true grep -q 'Let the class guess' "$T/notes" && pass || fail "notes: the second step's"
check "notes: what comes next" grep -q '^Next: Head 0 of block 1' "$T/notes"

# the notes terminal drives
echo n >&7
all "step 3, from the notes" 'Head 0 of block 1: 18.4 %'
shows "…on the presenter's screen" '3/9'

# a question on the spot; everybody answers, after a digit too early and one that is no answer; hands are counted; then it is shown
for i in $(seq "$GUESTS"); do tm send-keys -t "$(pane "$i")" 5; done
all "a digit without a question" 'No question is open: a digit answers one'
line ':ask "Which head is the most local?" 0 1 2 3'
all "the question" 'Which head is the most local'
for i in $(seq "$GUESTS"); do tm send-keys -t "$(pane "$i")" 7 $((i % 4)); done
all "a receipt" 'Receipt v1-[0-9a-f]{8}-[1-4]-1cc1e37e9104eb92-'
shows "so many answers" "predict first: $GUESTS answers"
check "how they are spread is not shown yet" has_not '┃ {1,3}[0-3] .*[0-9] *┃'
line ':votes 1 0 0 12'
send Space
shows "the spread: one in four, and hands" " 3 .* $((GUESTS / 4 + 12)) "
shows "that they all sit on one account" "$GUESTS of $GUESTS votes are of one account"
all "everybody sees it" "$((GUESTS + 13)) answers"
send Space
all "and on" 'Head 1, the same patch'

# on the ordinary screen too Space shows the answers first
send P
line ':ask "Which one?" 0 1'
shows "the bottom line says that a question is open" 'A question is open: Space shows the answers'
send Space
shows "Space shows them" '[^:] 0 answers'
send Space P
all "back" 'Head 1, the same patch'

# an excursion: one looks on their own, and comes back by one key; the presenter goes on meanwhile
tm send-keys -t "$(pane 1)" s
until_true guest_has 1 'On your own|no longer times' && pass || fail "looking on one's own"
send Space
all "the others go on" 'Head 2: most to' 2
check "who left stays, and is told how to come back" guest_has 1 '(On your own|no longer times|edit).*(f follows|f: back to)'
tm send-keys -t "$(pane 1)" f
all "back by one key" 'Head 2: most to' 1 1

# one of them without a screen
mkfifo "$T/typed"
tm new-session -d -s plain -x 80 -y 24 env -i PATH="$PATH" HOME="$T" LANG=C.UTF-8 $WHERE \
    sh -c "'$VITRINE' join prof --plain --threads 1 <'$T/typed' >'$T/lines'; echo \$? >'$T/status'"
exec 6>"$T/typed"
said() { until_true grep -qE -- "$1" "$T/lines" && pass || fail "line by line: no '$1' in $(cat "$T/lines")"; }
said 'says: Head 2: most to'
said '^Step [0-9]+ of 64'

# late, killed, stopped
guest 99 80 24 xterm-256color ''
until_true guest_has 99 'Head 2: most to' && pass || fail "who comes late is caught up"
for i in 2 3; do kill -9 "$(cat "$T/pid$i")"; done
for i in 4 5; do kill -STOP "$(cat "$T/pid$i")"; done
began=$(date +%s%N)
for i in 5 6 7 8; do send Space; done
shows "who is stopped holds up nobody" '9/9'
took=$((($(date +%s%N) - began) / 1000000))
check "four steps with two killed and two stopped took $took ms" [ "$took" -lt 8000 ]
all "everybody else" 'And back' 6
for i in 4 5; do kill -CONT "$(cat "$T/pid$i")"; done
all "who was stopped is caught up" 'And back' 4 5

# the reveal computes which answer is right; who joins again from the same login is the same person
tm new-session -d -s again -x 80 -y 24 env -i PATH="$PATH" HOME="$T" LANG=C.UTF-8 TERM=xterm-256color $WHERE \
    sh -c "'$VITRINE' join prof --threads 1; '$VITRINE' join prof --threads 1"
line ':ask "Which head looks least far?" 0 1 2 3 least=blocks.1.attn.probe.distance[h=$]'
again_has() { text again | flat | grep -qE -- "$1"; }
until_true again_has 'least far' && pass || fail "who joins later is asked too"
tm send-keys -t again 1
shows "their answer" 'predict first: 1 answer '
tm send-keys -t again q q
until_true again_has 'Type the digit in front of your answer' && pass || fail "joined again"
tm send-keys -t again 2
until_true again_has 'Receipt v1-[0-9a-f]{8}-3-' && pass || fail "answered again"
receipt=$(text again | grep -oE 'v1-[0-9a-f-]+' | head -n 1)
shows "it is still one answer" 'predict first: 1 answer '
echo 3 >&6
said 'Type the digit in front of your answer'
said 'Receipt v1-[0-9a-f]{8}-4-.*Your answer, 3,'
shows "and another one" 'predict first: 2 answers'
send Space
shows "its value and that it is right" ' 2 +[0-9.]+ +█+ +1 of 2 right'
said '^2: 1 of 2, value [0-9.]+, right'
said '^3: 1 of 2, value [0-9.]+, yours'
all "followers see both" ' 2 +[0-9.]+ .* 1 of 2 right' 6 7
send Space
receipt_says() { grep -q -- "$1" <<<"$("$VITRINE" receipt "${@:2}" 2>&1 </dev/null)"; }
WORDS=("Which head looks least far?" 0 1 2 3)
check "the receipt: right" receipt_says 'right     yes' "$receipt" "${WORDS[@]}" 'least=blocks.1.attn.probe.distance[h=$]'
check "the receipt: wrong by another measure" receipt_says 'right     no: 1' "$receipt" "${WORDS[@]}" 'most=blocks.1.attn.probe.distance[h=$]'
check "the receipt without the words" receipt_says 'give its words' "$receipt"
line ':ask "Wrong" a b right=3'
shows "a key that names no answer" 'no digit in front of an answer'
tm kill-session -t again

echo s >&6
said 'Changed: set scale off'
echo f >&6
echo quit >&6
exec 6>&-
until_true [ -s "$T/status" ]
same "line by line: status" 0 "$(cat "$T/status")"

# a second question, then the presenter is gone: nothing hangs, nothing is left; and comes back
line ':ask "And now?" yes no'
all "the second question" 'And now' 4
send Space
send Space
line ':share off'
shows "no longer shared" 'No longer shared'
check "the directory is gone" [ ! -e "$T/share/vitrine-class-prof" ]
all "followers wait" 'trying again|who presented has left|has ended' 4 6
line ':share prof'
shows "shared again" 'follows with vitrine join prof'
send Space
all "followers come back by themselves" 'And back' 4

# a second presenter, what is no vote, a presenter who was killed
tm new-session -d -s second -x 80 -y 24 env -i PATH="$PATH" HOME="$T" LANG=C.UTF-8 TERM=xterm-256color $WHERE sh -c "'$VITRINE' share --name prof; echo status=\$?; sleep 60"
until_true sh -c "tmux -L '$SERVER' capture-pane -p -t second | tr -d '\n' | grep -qE 'running there already.*status=1'" && pass || fail "a second presenter"
V_DIR=$T/share/vitrine-class-prof/votes
for i in $(seq 300); do : >"$V_DIR/junk$i"; done
ln -s /etc/passwd "$V_DIR/link"
mkfifo "$V_DIR/00000000-none-0-1"
mkdir "$V_DIR/folder"
shows "what is no vote is said" 'no answers'
left() { [ -z "$(ls -A "$V_DIR")" ]; }
until_true left && pass || fail "…and gone: $(ls "$V_DIR" | head)"
shows "it changes nothing" '9/9'
pid=$(program)
signal KILL "$pid"
until_true gone "$pid"
check "the lines of who was killed stay" [ -s "$T/share/vitrine-class-prof/lines-5" ]
all "…and followers hear that they are alone" 'who presented has left' 6 7
notes_now() { grep -oE '^(Waiting|Step)' "$T/notes" | tail -n 1 | grep -q "$1"; }
until_true notes_now Waiting && pass || fail "…and so do the notes"
line 'clear; $V share heads --name prof --threads 1'
shows "…and are taken over" 'follows with vitrine join prof'
send Space
all "followers come back" 'Many heads' 4
until_true notes_now Step && pass || fail "notes: connected again"

# a lesson: its worked examples come by playing its cards
line ':present 5'
all "the lesson's title" 'Query, key, value' 6 9
send Space
send Space
all "its example" 'scores_raw' 6 9
line ':ask "Which is larger?" 4 8'
all "asked on the spot in front of an example" 'Which is larger' 6 7
tm send-keys -t g7 8
all "its receipt" 'Receipt v1-' 7 7
receipt=$(text g7 | grep -oE 'v1-[0-9a-f-]+' | head -n 1)
check "what it is about is found among the cards" receipt_says ': what 05-query-key-value.md, card [0-9]* shows' "$receipt" 'Which is larger?' 4 8
check "and what was answered" receipt_says 'answer    2: 8' "$receipt" 'Which is larger?' 4 8
send Space
send Space
line ':set . 3'
all "changed by who presents" 'set scores_raw\[t=a,u=b\] 3' 7 7
guest 97 80 24 xterm-256color ''
until_true guest_has 97 'set scores_raw' && pass || fail "who comes late has the example too"
tm kill-session -t g97
send 4 G # a card that asks for a number
shows "a number can't be chosen" 'no answers to choose from'
send 1 0 G # a card that asks
all "the card's question" 'predict first' 7 7
tm send-keys -t g7 1
all "its receipt" 'Receipt v1-' 7 7
receipt=$(text g7 | grep -oE 'v1-[0-9a-f-]+' | head -n 1)
check "the receipt of a card's question" receipt_says 'about     05-query-key-value.md, card 9' "$receipt"
send Space
send Space
line ':present heads'
all "and a demonstration again" 'Many heads' 6 9

# the card's question is asked whichever way one comes to it; what a follower of one's own model sees is said
line ':present 5'
line ':present go 10'
all "asked by go too" 'predict first' 6 7
send Space
send Space
line ':present heads'
all "a demonstration once more" 'Many heads' 6 9
make_vit=$(dirname "$VITRINE")/make_vit
[ -x "$make_vit" ] && "$make_vit" --size tiny --seed 7 -o "$T/own" >/dev/null && "$make_vit" --size tiny --seed 8 -o "$T/else" >/dev/null || fail "make_vit"
guest 51 80 24 xterm-256color "-m $T/own"
guest 52 80 24 xterm-256color "-m $T/else"
all "one's own model is set aside" 'Many heads' 51 51
line ":model $T/own"
all "who has the presenter's model follows" 'of 36: ' 51 51
all "who has none is told which" 'join with -m and that model' 7 7
all "who has another one is told both" 'another one: join with -m and' 52 52
line ':model bundled; present heads'
all "back to the program's own model" 'Many heads' 51 52
for i in 51 52; do tm kill-session -t "g$i"; done

# a long caption: all of its lines at 80x24
line ':present tokens'
send 5 G
all "the end of a caption of three lines" 'Every term is in the trace' 10 10
line ':present heads'
all "a demonstration" 'Many heads' 6 9

# a picture travels, one of more than 8 MB is named instead
{ printf 'P6\n2000 1500\n255\n'; head -c 9000000 /dev/zero | tr '\0' 'x'; } >"$T/huge.ppm"
{ printf 'P6\n60 40\n255\n'; head -c 7200 /dev/zero | tr '\0' 'y'; } >"$T/small.ppm"
line ":open $T/small.ppm"
all "a picture that the presenter opened" 'small.ppm' 6 7
line ":open $T/huge.ppm"
all "one that is too large" 'larger than 8 MB' 6 7
line ':open #17'
all "and back" '#17' 6 7

# everybody leaves
send q q
until_true pane_is alternate_on 0 || fail "the presenter stays"
# the screen is given back first: on a busy machine a moment before they are gone
until_true test ! -e "$T/share/vitrine-class-prof" && pass || fail "something is left of the share"
until_true test ! -e "$T/run/vitrine-notes-$(id -u)" && pass || fail "something is left of the notes"
echo q >&7
exec 7>&-
until_true gone $NOTES && pass || fail "notes stay"
# on a small terminal the news that the presenter has left is a page, and the first q closes that
leaves() { ! tm has-session -t "=$(pane "$1")" 2>/dev/null || { tm send-keys -t "$(pane "$1")" q 2>/dev/null; sleep 0.1; return 1; }; }
for i in 1 $(seq 4 "$GUESTS") 99; do until_true leaves "$i" && pass || fail "follower $i stays: $(text "$(pane "$i")")"; done
same "what followers complained of" "" "$(cat "$T"/err* | head -n 3)"
check "pictures that came are left: $(ls -R "$T/run")" [ -z "$(ls "$T/run")" ]
finish class
