#!/usr/bin/env bash
# A newcomer's path: t, lesson 0, three cards, the first question answered wrong and right, quit, come back where one was.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
command -v tmux >/dev/null || { skip "lessons (make deps-all installs tmux)"; finish lessons; exit; }
. tests/e2e/tmux.sh

# on PATTERN: Space until it is on the screen: the pages of a card, what stands behind its pauses, the next card
on() {
    local i
    for i in 1 2 3 4 5 6 7 8; do
        PATIENCE=1 see "$1" && return
        send Space
    done
}

# walk WIDTH HEIGHT
walk() {
    local width=$1
    rm -rf "$HOME_DIR/state"
    shell_open "$width" "$2"
    line '$V'
    shows "$width: the hint names lesson 0" 'lesson 0.*\(t\)'
    send t
    shows "$width: the list begins with lesson 0" 'begin here: 0\. The whole trip'
    send Enter
    shows "$width: the first card" 'card 1 of 10'
    on 'card 3 of 10'
    shows "$width: the third card" 'card 3 of 10'
    on 'How many vectors are in the list'
    shows "$width: its question" 'How many vectors are in the list'
    send 6 4 Enter
    shows "$width: the wrong answer is answered" 'Those are the patches'
    send '!'
    shows "$width: a hint that computes" 'Patches there are 64'
    send 6 5 Enter
    shows "$width: the right one too" 'Right. It is 65'
    send BSpace
    PATIENCE=1 see 'card 2 of 10' || send BSpace # from its second page to its first
    shows "$width: back" 'card 2 of 10'
    on 'Right. It is 65'
    shows "$width: on again, and the answer was kept" 'Right. It is 65'
    send t
    shows "$width: the list knows where one is" 'go on: 0\. The whole trip'
    send Escape
    unsee 'go on: 0' || fail "$width: Escape leaves the list open"
    line ':quit'
    shows "$width: the program has ended" 'ready> *$'
    line 'clear; $V'
    shows "$width: back where one was" 'card 3 of 10'
    send q
    shows "$width: q leaves the lesson" 'Back where you were'
    quit "$width"
}

walk 80 24
walk 120 40

# a lesson from the command line ends where one was before, else at the beginning
rm -rf "$HOME_DIR/state"
shell_open 80 24
line '$V lesson 0'
shows "a first lesson" 'card 1 of 10'
send q
shows "with nothing before it: the first step" 'step 1 of 64'
for _ in 1 2 3; do send Space; done
shows "three steps on" 'step 4 of 64'
line ':quit'
shows "ended" 'ready> *$'
line 'clear; $V lesson 1'
shows "another lesson" 'lesson 1'
send q
shows "the lesson ends where one was" 'step 4 of 64'
quit "after a lesson"

# a worked example: its arithmetic, and one's own edit comes back after the lesson
rm -rf "$HOME_DIR/state"
shell_open 120 40
start
line ':set scale off'
shows "an edit of one's own" 'edit: set scale off'
line ':lesson 5'
shows "lesson 5" 'lesson 5  card 1 of 12'
unsee 'edit: set scale off' || fail "the lesson starts with the reader's edit"
send Space
shows "a worked example" 'scores_raw: 3 t × 3 u'
shows "its arithmetic" 'derived again from these, bit for bit'
send Right
shows "the cursor moves" 'scores_raw\[t=a,u=c\]'
send Enter
shows "Enter: its terms on the screen of arithmetic" 'terms, by size'
send Enter
shows "Enter: where it comes from" '(q|k)\[[tu]=[abc],e=[0-3]\]'
send q
shows "q comes back, step by step" 'terms, by size'
send q
shows "…to the card's own screen" 'derived again from these'
send q
shows "the edit is back" 'edit: set scale off'
quit "a lesson left"

# the words of a card, the notes of who teaches, arithmetic term by term, a lesson for what is on the screen
rm -rf "$HOME_DIR/state"
shell_open 120 40
line '$V lesson 5'
shows "lesson 5 again" 'lesson 5  card 1 of 12'
send '?'
shows "?: the first word of the card" 'query: What a token asks for'
send '?'
shows "?: the next one" 'key: What a token offers'
send N
shows "N: notes" 'Notes for who teaches'
send Escape
unsee 'Notes for who teaches' || fail "Escape leaves the notes open"
send Space
shows "the example" 'scores_raw\[t=a,u=b\]'
send ,
shows ", is one term" 'after 1 of 4 terms'
send .
shows ". plays the others" 'derived again from these, bit for bit'
line ':set . 3'
shows "an example is edited like the model" 'edit: set scores_raw\[t=a,u=b\] 3'
send q
shows "q leaves the lesson and its example, and says how to leave the program" 'The lesson is closed. q again leaves'
line ':goto blocks.1.mlp.post'
send i
shows "i names the lesson" 'Lesson 10, The MLP'
send Escape
quit "words of a card"

# the pages: every link and picture leads to something that is there, no scripts, nothing from elsewhere
PAGES=$HOME_DIR/pages
timeout 300 "$VITRINE" export lessons -o "$PAGES" >"$HOME_DIR/said" 2>&1 </dev/null
same "pages are written" 0 $?
count=0 lost=''
for page in "$PAGES"/*.html; do
    while read -r to; do
        file=${to%%#*} mark=''
        [[ $to == *'#'* ]] && mark=${to#*#}
        count=$((count + 1))
        [ -s "$PAGES/$file" ] || lost+=" $to"
        [ -z "$mark" ] || grep -q "id=\"$mark\"" "$PAGES/$file" || lost+=" $to"
    done < <(grep -oE '(href|src|srcset)="[^"]*"' "$page" | cut -d'"' -f2 | sort -u)
done
same "every link of the pages leads to something" '' "$lost"
check "links: $count" [ "$count" -gt 500 ]
# the tables of worked examples: in each column the points stand below each other (a blank as wide stands for a missing one)
aligned=$(cat "$PAGES"/*.html | LC_ALL=C sed 's/\xE2\x80\x88/./g; s/\xE2\x80\x87/0/g; s/\xE2\x88\x92/-/g' | awk '
    /^<table>/ {split("", tail); tables++}
    /<td>/ {n = split($0, cell, "<td>"); for (i = 2; i <= n; i++) {
        sub(/<.*/, "", cell[i]); at = index(cell[i], "."); long = at ? length(cell[i]) - at + 1 : 0
        if (i in tail && tail[i] != long) lost++
        tail[i] = long; cells++}}
    END {print (tables > 200 && cells > 1500 && !lost) ? "aligned" : tables " tables, " cells " cells, " lost " off"}')
same "the points of every table are aligned" aligned "$aligned"
check "no scripts, nothing from elsewhere" bash -c '! grep -liE "<script|javascript:| on[a-z]+=|https?://" "$1"/*.html' _ "$PAGES"
check "every page has a style for paper, and dark pictures are for screens" bash -c '
    for p in "$1"/*.html; do grep -q "@media print" "$p" || exit 1; done; ! grep -qE "media=\"\(prefers" "$1"/*.html' _ "$PAGES"
for card in "$TOP"/lessons/*.md; do check "a page for ${card##*/}" [ -s "$PAGES/$(basename "$card" .md).html" ]; done
# one lesson, and one of one's own: their pages, a list of both, no link to a page that is not there
"$VITRINE" lesson new "$HOME_DIR/my own.md" >"$HOME_DIR/said" 2>&1
timeout 100 "$VITRINE" export lessons 6 "$HOME_DIR/my own.md" -o "$PAGES.two" >"$HOME_DIR/said" 2>&1 </dev/null
same "two lessons as pages" '0 06-why-the-square-root.html glossary.html index.html my-own.html' "$? $(cd "$PAGES.two" && echo *.html)"
lost=''
for to in $(cat "$PAGES.two"/*.html | grep -oE 'href="[^"#]*' | cut -d'"' -f2 | sort -u); do [ -z "$to" ] || [ -s "$PAGES.two/$to" ] || lost+=" $to"; done
same "links between the two" '' "$lost"
for words in "$HOME_DIR/my own.md" "lesson 6" "lessons 6"; do
    IFS=' ' read -ra word <<<"$words"
    [ -f "$words" ] && word=("$words")
    "$VITRINE" export "${word[@]}" -o "$HOME_DIR/six.html" >"$HOME_DIR/said" 2>&1 </dev/null
    same "a page is no folder: status" 2 $?
    check "a page is no folder: ${word[*]}" grep -q 'folder.* -o FOLDER' "$HOME_DIR/said"
done
check "a drawing has no scripts either" bash -c '! grep -lE "<script|href=\"http" "$1"/*.svg' _ "$PAGES"

finish lessons
