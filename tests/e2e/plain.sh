#!/usr/bin/env bash
# The whole program line by line: from a pipe, and typed on a terminal that can't move its cursor.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
. tests/e2e/tmux.sh
T=$HOME_DIR
export HOME=$T XDG_STATE_HOME=$T/state

# typed LINES OPTION…: OUT, STATUS
typed() {
    local lines=$1
    shift
    OUT=$(printf '%b' "$lines" | TERM=dumb "$VITRINE" --plain "$@" 2>"$T/err")
    STATUS=$?
}
says() { if grep -qE -e "$2" <<<"$OUT"; then pass; else fail "$1: no '$2' in: ${OUT:0:600}"; fi; }
answers() { # the probability of what is named first, by `run`
    "$VITRINE" run "$@" </dev/null | awk 'found {print $1; exit} /^class/ {found = 1}'
}

# every step of the pass, by an empty line each
typed "$(printf '\\n%.0s' $(seq 24))"
same "all steps: status" 0 "$STATUS"
for n in 1 2 13 33 63 64; do says "all steps: $n" "^Step $n of 64"; done # a closed block counts the steps in it
check "all steps: escape bytes" bash -c '! grep -q $'"'\\e'"' <<<"$1"' _ "$OUT"
same "all steps: standard error" "" "$(cat "$T/err")"

# a head is looked at, switched off, put back; the answers are those of `run`
typed 'goto blocks.1.attn.pattern[h=2,t=r3c4,u=r4c2]\nsay screen\nx\nsay screen\nu\nview answer\nsay screen\nquit\n'
same "a head: status" 0 "$STATUS"
says "a head: where" 'Screen row, blocks.1.attn.pattern\[h=2,t=r3c4,u=r4c2\]'
says "a head: its axes in words" '16,900 numbers: h 4 \(head\), t 65 \(token that asks\)'
value=$("$VITRINE" show 'blocks.1.attn.pattern[h=2,t=r3c4,u=r4c2]' --json </dev/null | grep -oE '0\.[0-9]{5}' | head -n 1)
says "a head: the value of show" "value $value"
says "a head: sentence" 'Head 2 of block 1, for query patch r3c4, gives its largest weight'
says "a head: share on the object beside its share of the picture" 'On the [0-9]+ of 64 patches that show the object lies [0-9]+ %.*of the picture they are [0-9]+ %'
says "a head: what was changed" 'Changed: ablate blocks.1.attn.z\[h=2\]'
says "a head: both sides" '^A, in figures:'
says "a head: answers of both" "^Answer of B: $(answers '#17' -c 'ablate blocks.1.attn.z[h=2]') "
says "a head: all classes" '^10\. [a-z]+: probability'

# s: a comparison is told in figures and says where it is largest
typed 's\nblock 1\nsay screen\n' '#66'
says "scale: compared" '^Compared: A is as trained, B is as changed'
says "scale: difference" '^Difference: .* the largest at blocks\.1\.'
says "scale: the answer after" "^Answer of B: $(answers '#66' -c 'set scale off') "

# lists are numbered, a number takes a line, another number is refused
typed 'help\n6\nhelp keys\n999\nmenu open\nmenu view\nmenu learned\nmenu marks\nmenu find\nhelp commands\n'
says "list: title" 'Help 1 of 3'
says "list: task 6 is run" 'block 1.*Screen row|pattern\[h=2'
says "list: a line that is not there" 'The list has lines 1 to [0-9]+'
says "list: commands" '^[0-9]+\. say \[ADDRESS, screen\]'
says "list: pictures" 'drawing #18'
same "list: a wrong line counts" 1 "$STATUS"

# every screen can be told
for c in 'view picture' 'view tensor' 'view sheet' 'view matrix' 'view row' 'view positions' 'view formula' 'view answer' training filters \
    heads where lens laboratory census blanks; do
    typed "block 1\n$c\nsay screen\n"
    same "$c: status" 0 "$STATUS"
    says "$c: is told" '^Screen [a-z]+: .*\.$'
    says "$c: the answer" '^Answer: star '
done

# keys by their names; what is unknown is refused with a line, and counts
typed 'up\nleft\nn\np\nG\ng\nBackspace\nabra\nin\nin\nback\n'
says "keys: refused" "^Refused\. there is no command 'abra'"
same "keys: status" 1 "$STATUS"
says "keys: last step" 'Step 64 of 64'
typed 'view ?\n'
says "completions" '^view matrix'

# files: a picture of the screen, a tensor, another picture
cp tests/data/image/rgb8.png "$T/photo.png"
typed "export $T/shot.svg\nexport $T/x.npy\nopen $T/photo.png\nopen $T/none.png\n"
check "export: no svg" grep -q '<svg' "$T/shot.svg"
check "export: no npy" [ -s "$T/x.npy" ]
says "open: the picture" 'photo\.png: the model receives'
says "open: a file that is not there" '^Refused\. open: .*none\.png'

# a sentence as one types it; the model of pictures says which one reads sentences
typed 'open the dog is tired\nopen "the cat is tired"\nmenu open\n' -m translator
says "open: a sentence without quotes" 'the dog is tired: [0-9]+ words read'
says "open: with quotes" 'the cat is tired: [0-9]+ words read'
says "open: the list has a line for it" 'another sentence'
typed 'open the dog is tired\nmodel translator\nopen the dog is tired\n'
says "open: a sentence for a model of pictures" '^Refused\. open: .*model translator'
says "open: as it says" 'the dog is tired: [0-9]+ words read'

# hostile lines: longer than a command may be, bytes that are no text, a NUL, no line end
typed "$(printf 'x%.0s' $(seq 5000))\n\\\\0377\\\\0033[2J\nsay"
check "hostile: an escape came back" bash -c '! grep -q $'"'\\e'"' <<<"$1"' _ "$OUT"
same "hostile: status" 1 "$STATUS"
says "hostile: the last line without its end" '#17: the model receives'
printf 'say\0x\nsay\n' | "$VITRINE" --plain >"$T/out" 2>&1
same "hostile: NUL" 1 $?
typed 'say\n' --ascii
check "ascii: a byte beyond it" bash -c '! LC_ALL=C grep -q "[^ -~]" <<<"$1"' _ "$OUT"
"$VITRINE" --plain </dev/null >/dev/full 2>"$T/err"
same "a full disc: status" 1 $?
# a script is told elsewhere, and by the command that is named
printf 'title One\ncaption Two\npause 1\n' >"$T/talk.txt"
said=$("$VITRINE" --plain --script "$T/talk.txt" 2>&1 </dev/null)
same "a script: status" 2 $?
same "a script: the remedy is named" "$said" "vitrine: plain: no --script; \`vitrine screen --script FILE -o STEPS.txt\` writes its steps as text"
"$VITRINE" screen --script "$T/talk.txt" -o "$T/STEPS.txt" >/dev/null
same "a script: the remedy works" 0 $?

# typed on a terminal: a prompt; Ctrl-C stops the work and not the program; what was left is found again
if command -v tmux >/dev/null; then
    shell_open 80 24 TERM=dumb
    line '$V 2>&1; echo "status=$?" end'
    shows "dumb: the screen names this way" 'vitrine --plain'
    line '$V --plain --fresh'
    shows "dumb: a prompt" '^>'
    line 'step 12'
    shows "dumb: a step" 'Step 12 of 64'
    send C-c
    shows "dumb: Ctrl-C" 'quit leaves'
    line 'say'
    line 'quit'
    shows "dumb: back in the shell" 'ready>'
    line '$V --plain'
    shows "dumb: where one left" 'Where you left'
    send C-d
    line 'echo "status=$?" end'
    shows "dumb: the end of input leaves" 'status=0 end'
else
    skip "plain on a terminal (make deps-all installs tmux)"
fi
# lessons 1 and 6 from the first card to the last: every question answered, an act done, the end said
played() { # LESSON CARDS RIGHT LINES
    local n
    printf '%b' "lesson $1\\n$4quit\\n" | XDG_STATE_HOME=$T/played$1 "$VITRINE" --plain --fresh >"$T/played" 2>"$T/err"
    same "lesson $1: status and errors" "0 " "$? $(cat "$T/err")"
    for n in $(seq "$2"); do check "lesson $1: no card $n" grep -q "^Card $n of $2\\.$" "$T/played"; done
    same "lesson $1: right answers" "$3" "$(grep -c '^Right\. ' "$T/played")"
    check "lesson $1: no end" grep -q 'That was the last card' "$T/played"
    check "lesson $1: something was refused" bash -c '! grep -q ^Refused "$1"' _ "$T/played"
}
played 1 10 4 '\n\n\n\n122\n\n108\n\n\n\n\n\n\n2\n\n\n2401\n\n576\n\n\n'
check "lesson 1: what was predicted" grep -q 'You said: 65,536 times' "$T/played"
played 6 12 2 '\nanswer 8\n\n\n\n\n\n\n\n3\n\n\n\n\n\n\n\nset scale x8\n\n1\n\n'
check "lesson 6: what was predicted" grep -q 'You said: 8' "$T/played"
check "lesson 6: what comes behind its pause" grep -q 'Changed: set scale off' "$T/played"
check "lesson 6: what is asked to be done is done" grep -q 'Right. Done. The factor is 2.00' "$T/played"
finish plain
