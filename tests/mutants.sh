#!/usr/bin/env bash
# mutants.sh [COUNT]: plants COUNT faults (60), one at a time, into the seams of session and screen, and says which of them the unit
# suites notice. Which lines are changed follows from the tree alone: every candidate line is counted and they are taken at even
# distances. About a quarter of a minute each; a mutant that nobody noticed is printed as file:line with both lines.
cd "$(dirname "$0")/.." || exit 1
count=${1:-60}
V=mutants
# the seams: what turns words, keys and places into state
FILES=$(ls core/session/*.c core/session/edit/*.c core/session/learned/*.c tui/*.c tui/views/view.c 2>/dev/null |
    grep -vE 'term_(ncurses|signals|entry|detect|pairs)|main\.c')
MAKE=${MAKE:-make}
TREE=$(mktemp -d)
trap 'rm -rf "$TREE"' EXIT
git ls-files --cached --others --exclude-standard -z | xargs -0 cp --parents -t "$TREE" 2>/dev/null
cd "$TREE" || exit 1

# mutate FILE LINE: prints the line with one operator turned into another; nothing where there is none. The first that fits is taken.
mutate() {
    sed -n "$2p" "$1" | sed -E '
        /^[[:space:]]*(\/\*|\*|#|static const|REQUIRE|UNREACHABLE|typedef|case |\{")/d
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
}

candidates=$TREE/candidates
for f in $FILES; do
    awk -v f="$f" '{print f "\t" NR}' "$f"
done | while IFS=$'\t' read -r f n; do
    [ -n "$(mutate "$f" "$n")" ] && printf '%s\t%s\n' "$f" "$n"
done >"$candidates"
total=$(wc -l <"$candidates")
step=$((total / count))
[ "$step" -ge 1 ] || step=1

suites() { $MAKE --no-print-directory -s VARIANT=$V list-tests | grep -E 'tests/(core_session|tui|tui_cli|tui_views)/'; }
build() { $MAKE --no-print-directory -s VARIANT=$V OPT=-O1 WERROR= $(suites) >/dev/null 2>&1; }
build || { echo "the tree itself does not build"; exit 1; }
for t in $(suites); do
    timeout 300 "$t" >/dev/null 2>&1 </dev/null || { echo "$t fails without any mutant"; exit 1; }
done

killed=0 tried=0
for k in $(seq 1 "$count"); do
    IFS=$'\t' read -r f n < <(sed -n "$((k * step))p" "$candidates")
    [ -n "$f" ] || break
    new=$(mutate "$f" "$n")
    cp "$f" "$TREE/kept"
    awk -v n="$n" -v new="$new" 'NR == n {print new; next} {print}' "$TREE/kept" >"$f"
    tried=$((tried + 1))
    verdict=survived
    if ! build; then
        verdict='does not build'
        tried=$((tried - 1))
    else
        for t in $(suites); do
            if ! timeout 60 "$t" >/dev/null 2>&1 </dev/null; then
                verdict="killed by ${t##*/}"
                killed=$((killed + 1))
                break
            fi
        done
    fi
    printf '%s:%s %s\n' "$f" "$n" "$verdict"
    [ "$verdict" = survived ] && printf '    %s\n    %s\n' "$(sed -n "${n}p" "$TREE/kept" | sed 's/^ *//')" "$(printf '%s' "$new" | sed 's/^ *//')"
    cp "$TREE/kept" "$f"
done
echo "mutants: $killed of $tried noticed (of $total candidate lines)"
