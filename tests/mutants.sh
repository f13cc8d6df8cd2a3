#!/usr/bin/env bash
# mutants.sh [COUNT]: plants COUNT faults (60), one at a time, into the seams of session and screen, and says which of them the unit
# suites notice. Which lines are changed follows from the tree alone: every candidate line is counted and they are taken at even
# distances. About a minute each; a mutant that nobody noticed is printed as file:line with both lines.
cd "$(dirname "$0")/.." || exit 1
count=${1:-60}
V=mutants
# the seams: what turns words, keys and places into state
FILES=$(ls core/session/*.c core/session/edit/*.c core/session/learned/*.c core/session/screens/*.c tui/*.c tui/views/view.c 2>/dev/null |
    grep -vE 'term_(ncurses|draw|events|ask|signals|entry|detect|pairs)|main\.c')
MAKE=${MAKE:-make}
TREE=$(mktemp -d)
trap 'rm -rf "$TREE"' EXIT
git ls-files --cached --others --exclude-standard -z | xargs -0 cp --parents -t "$TREE" 2>/dev/null
cd "$TREE" || exit 1

# One operator of a line turned into another, the first that fits; ends at :done, with nothing where there is none.
SWAP='/^[[:space:]]*(\/\*|\*|#|static const|REQUIRE|UNREACHABLE|typedef|case |\{")/d
    /"/!s/ && / || /; t done
    /"/!s/ == / != /; t done
    /"/!s/ < / <= /; t done
    /"/!s/ >= / > /; t done
    /"/!s/return true;/return false;/; t done
    /"/!s/return false;/return true;/; t done
    /"/!s/ \+ 1\b/ + 2/; t done
    /"/!s/ - 1\b/ - 0/; t done
    /"/!s/= true;/= false;/; t done
    /"/!s/= false;/= true;/; t done
    /"/!s/if \(!/if (/; t done
    d
    :done'
mutate() { sed -n "$2p" "$1" | sed -E "$SWAP"; }

candidates=$TREE/candidates
for f in $FILES; do
    sed -nE "$SWAP"$'\n=' "$f" | sed "s|^|$f\t|"
done >"$candidates"
total=$(wc -l <"$candidates")
step=$((total / count))
[ "$step" -ge 1 ] || step=1

# (Two suites are about what was trained and measured, not about these seams, and take longest: they are left out.)
# The flags are those of every other build, so that a compiler cache serves the first one. Suites are tried shortest first: most mutants
# die in a second.
suites() { $MAKE --no-print-directory -s VARIANT=$V list-tests | grep -E 'tests/(core_session|tui|tui_cli|tui_views)/' | grep -vE 'test_(figures|trained)$'; }
build() { $MAKE --no-print-directory -s VARIANT=$V "$@" >/dev/null 2>&1; }
ALL=$(suites)
build WERROR=-Werror $ALL || { echo "the tree itself does not build"; exit 1; }
for t in $ALL; do
    began=$(date +%s%N)
    timeout 600 "$t" >/dev/null 2>&1 </dev/null || { echo "$t fails without any mutant"; exit 1; }
    printf '%s %s\n' "$((($(date +%s%N) - began) / 1000000))" "$t"
done | sort -n >"$TREE/times"
grep -q 'fails without' "$TREE/times" && { cat "$TREE/times"; exit 1; }
# attempt: builds and runs the suites eight at a time; prints who noticed, or nothing
attempt() {
    local chunk t ms
    while read -r chunk; do
        build WERROR= $chunk || { echo 'does not build'; return; }
        for t in $chunk; do
            ms=$(sed -n "s|^\([0-9]*\) $t\$|\1|p" "$TREE/times")
            timeout "$((ms * 5 / 1000 + 60))" "$t" >/dev/null 2>&1 </dev/null || { echo "killed by ${t##*/}"; return; }
        done
    done < <(cut -d' ' -f2 "$TREE/times" | xargs -n 8)
}

killed=0 tried=0
for k in $(seq 1 "$count"); do
    IFS=$'\t' read -r f n < <(sed -n "$((k * step))p" "$candidates")
    [ -n "$f" ] || break
    new=$(mutate "$f" "$n")
    cp "$f" "$TREE/kept"
    awk -v n="$n" -v new="$new" 'NR == n {print new; next} {print}' "$TREE/kept" >"$f"
    tried=$((tried + 1))
    verdict=$(attempt)
    case $verdict in
    killed*) killed=$((killed + 1)) ;;
    does*) tried=$((tried - 1)) ;;
    *) verdict=survived ;;
    esac
    printf '%s:%s %s\n' "$f" "$n" "$verdict"
    [ "$verdict" = survived ] && printf '    %s\n    %s\n' "$(sed -n "${n}p" "$TREE/kept" | sed 's/^ *//')" "$(printf '%s' "$new" | sed 's/^ *//')"
    cp "$TREE/kept" "$f"
done
echo "mutants: $killed of $tried noticed (of $total candidate lines)"
