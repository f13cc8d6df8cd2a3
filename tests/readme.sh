#!/usr/bin/env bash
# What README.md and the pages of docs/ say is so: each `$ vitrine …` in them is run, and its output compared; a line of … stands for any
# lines. Their links lead somewhere, their lesson passes its check.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
B=${B:-build/release}
TOP=$PWD
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1
mkdir bin
ln -s "$TOP/$B/vitrine" bin/vitrine
PATH=$WORK/bin:$PATH

# The expected lines as a pattern that has to match from the start to the end of what came.
compare() { # COMMAND EXPECTED-FILE
    # a minute's work: make figures does it and keeps the output; FULL=1 does it here
    if [ "$1" = 'vitrine evaluate --count 5000' ] && [ -z "${FULL:-}" ]; then
        set -- "cat $TOP/assets/trained/evaluate.txt" "$2"
    fi
    if ! bash -c "$1" >got 2>&1 </dev/null; then
        fail "'$1' ends badly: $(cat got)"
    elif awk 'NR == FNR {want[++n] = $0; next} {got[++m] = $0}
            END {
                g = 1
                for (w = 1; w <= n; w++) {
                    if (want[w] == "…") { open = 1; continue }
                    while (open && g <= m && got[g] != want[w]) g++
                    if (g > m || got[g] != want[w]) exit 1
                    g++
                    open = 0
                }
                exit !(open || g > m)
            }' "$2" got; then
        pass
    else
        fail "'$1' says:"
        head -n 15 got
    fi
}

count=0
for PAGE in "$TOP"/README.md "$TOP"/docs/*.md; do
    command=''
    : >want
    while IFS= read -r line; do
        case $line in
        '    $ vitrine '*)
            [ -n "$command" ] && compare "$command" want
            command=${line#'    $ '} count=$((count + 1))
            : >want
            ;;
        '    '*) [ -n "$command" ] && printf '%s\n' "${line#'    '}" >>want ;;
        '') [ -n "$command" ] && [ -s want ] && echo >>want ;;
        *)
            [ -n "$command" ] && compare "$command" want
            command=''
            ;;
        esac
    done < <(awk '/^$/ {blank = 1; next} {if (blank) {if (!(/^    \$ / || !/^    /)) print ""; blank = 0} print} END {print "end"}' "$PAGE")
    # links between the pages, and pictures
    for link in $(grep -oE '\]\([^)# ]+' "$PAGE" | cut -c 3-); do
        check "$(basename "$PAGE") links to $link, which is not there" [ -e "$(dirname "$PAGE")/$link" ]
    done
    name=$(basename "$PAGE" .md)
    [ "$name" = README ] || check "vitrine help $name says nothing" [ "$(vitrine help "$name" 2>/dev/null | wc -l)" -ge 10 ]
done
check "fewer than 14 examples were found, $count" [ "$count" -ge 14 ]
check "README has more than 200 lines" [ "$(wc -l <"$TOP/README.md")" -le 200 ]

# the lessons that the page for teachers shows whole
awk '/^````markdown$/ {n++; next} /^````$/ {close("lesson" n ".md"); on = 0; next} {print > (n ? "lesson" n ".md" : "/dev/null")}' \
    <(awk '/^````markdown$/ {on = 1} on; /^````$/ {on = 0}' "$TOP/docs/lessons.md")
for lesson in lesson[0-9].md; do
    check "$lesson of docs/lessons.md: $(vitrine check "$lesson" 2>&1 | head -n 3)" vitrine check "$lesson" -o checked
done
check "four lessons are checked" [ -e lesson4.md ]
check "the first one is what 'lesson new' writes" eval 'vitrine lesson new mine.md -o said >/dev/null && cmp -s mine.md lesson1.md'
# every statement and function stands in the page, in an example or a table
for word in $(sed -n '/^} STATEMENTS/,/^};/s/^    {"\([a-z]*\)".*/\1/p' "$TOP/lessons/statements.c") vary; do
    check "docs/lessons.md does not tell of '$word'" grep -qE "(^|\`)$word( |\`|$)" "$TOP/docs/lessons.md"
done

# targets and keys that it names exist
for target in $(grep -oE '\bmake [a-z-]+( [a-z]+)?' "$TOP"/README.md "$TOP"/docs/*.md | sed 's/^make //' | tr ' ' '\n' | grep -xE 'deps|deps-all|run|test|install|static|exact|help|vit-b' | sort -u); do
    check "make $target is no target" grep -qE "^$target:" "$TOP/Makefile"
done
finish readme
