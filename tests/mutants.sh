#!/usr/bin/env bash
# mutants.sh [COUNT]: plants COUNT faults (40), one at a time, at places of core and tui that follow from SEED (1) and the tree alone,
# and says of each whether the suites of its folder notice. A fault is a comparison or a condition turned round, a constant one larger,
# or a statement left out. Those that nobody noticed are listed at the end with both lines. FOLDERS="core/session tui": only there.
cd "$(dirname "$0")/.." || exit 1
count=${1:-40} seed=${SEED:-1} began=$SECONDS
V=mutants
MAKE=${MAKE:-make}
TREE=$(mktemp -d)
trap 'rm -rf "$TREE"' EXIT
git ls-files --cached --others --exclude-standard -z | xargs -0 cp --parents -t "$TREE" 2>/dev/null
cd "$TREE" || exit 1

# A terminal's own files are tried by programs at terminals, not by suites.
FILES=$(find ${FOLDERS:-core tui} -name '*.c' | grep -vE 'tui/(term_(ncurses|draw|events|ask|signals|entry|detect|pairs)|main)\.c' | LC_ALL=C sort)

# What can be done to a line, one kind after the other; nothing printed where it can't. Code alone: no comments, no texts, no tables.
CODE='/^[[:space:]]*(\/\*|\*|#|static const|REQUIRE|UNREACHABLE|typedef|case |\{)/d; /"/d; /\/\*/d'
turned='s/ && / || /; t done; s/ == / != /; t done; s/ != / == /; t done; s/ < / <= /; t done; s/ <= / < /; t done; s/ >= / > /; t done
    s/ > / >= /; t done; s/return true;/return false;/; t done; s/return false;/return true;/; t done; s/= true;/= false;/; t done
    s/= false;/= true;/; t done; s/if \(!/if (/; t done; d; :done'
larger='s/([ [(])0([];,)])/\11\2/; t done; s/ \+ 1\b/ + 2/; t done; s/ - 1\b/ - 0/; t done; s/([ [(])2([];,) ])/\13\2/; t done; d; :done'
# assignments and calls that stand alone
left_out='/^ +(return|break|continue|goto|else|const|static|enum|struct|bool|int|char|float|double|size_t|u?int[0-9]+_t|[A-Z])/d
    /^ +[a-z][a-zA-Z0-9_>.[*-]*.*;$/!d; s/[^ ].*;$/;/'
KINDS='turned larger left_out'
for kind in $KINDS; do
    for f in $FILES; do
        sed -nE "$CODE; ${!kind}"$'\n=' "$f" | sed "s|^|$kind\t$f\t|"
    done
done >"$TREE/candidates"
total=$(wc -l <"$TREE/candidates")

# COUNT different lines of that list, by Park and Miller's generator: the same with every awk
pick() {
    awk -v n="$count" -v total="$total" -v x="$((seed + 4711))" 'BEGIN {
        for (i = 0; i < 20; i++) x = x * 16807 % 2147483647
        for (k = 0; k < n && k < total;) {
            x = x * 16807 % 2147483647
            at = 1 + int(x / 2147483647 * total)
            if (!(at in seen)) { seen[at] = 1; k++; print at }
        }
    }' | while read -r at; do sed -n "${at}p" "$TREE/candidates"; done
}
pick >"$TREE/picked"

# core/session/edit/x.c: core_session; tui/views/text/x.c: tui_views; tui/x.c: tui
folder_of() {
    case $1 in
    tui/canvas/* | tui/views/* | tui/cli/* | core/*/*) echo "$1" | sed -E 's|^([a-z]+)/([a-z]+)/.*|\1_\2|' ;;
    *) echo tui ;;
    esac
}
build() { $MAKE --no-print-directory -s VARIANT=$V "$@" >/dev/null 2>&1; }
# (Two suites are about what was trained and measured, and take longest: they are left out.)
SUITES=$($MAKE --no-print-directory -s VARIANT=$V list-tests | grep -vE 'test_(figures|trained)$')
suites() { grep -E "tests/$1/" <<<"$SUITES"; }

# How long the suites of a folder take, and that they pass: shortest first, as most faults show in a second
timed() {
    local t from
    [ -e "$TREE/times.$1" ] && return
    # shellcheck disable=SC2046
    build WERROR=-Werror $(suites "$1") || { echo "the tree itself does not build"; exit 1; }
    for t in $(suites "$1"); do
        from=$(date +%s%N)
        timeout 600 "$t" >/dev/null 2>&1 </dev/null || { echo "$t fails without any fault" >&2; continue; }
        printf '%s %s\n' "$((($(date +%s%N) - from) / 1000000))" "$t"
    done | sort -n >"$TREE/times.$1"
}
# attempt FOLDER: builds and runs its suites eight at a time; prints who noticed, or nothing
attempt() {
    local chunk t ms
    while read -r chunk; do
        # shellcheck disable=SC2086
        build WERROR= $chunk || { echo 'does not build'; return; }
        for t in $chunk; do
            ms=$(sed -n "s|^\([0-9]*\) $t\$|\1|p" "$TREE/times.$1")
            timeout "$((ms * 5 / 1000 + 60))" "$t" >/dev/null 2>&1 </dev/null || { echo "killed by ${t##*/}"; return; }
        done
    done < <(cut -d' ' -f2 "$TREE/times.$1" | xargs -n 8)
}

killed=0 tried=0
while IFS=$'\t' read -r kind f n; do
    folder=$(folder_of "$f")
    timed "$folder"
    old=$(sed -n "${n}p" "$f")
    new=$(sed -E "${!kind}" <<<"$old")
    cp "$f" "$TREE/kept"
    MUTANT=$new awk -v n="$n" 'NR == n {print ENVIRON["MUTANT"]; next} {print}' "$TREE/kept" >"$f"
    verdict=$(attempt "$folder")
    cp "$TREE/kept" "$f"
    case $verdict in
    does*) ;;
    killed*) killed=$((killed + 1)) tried=$((tried + 1)) ;;
    *)
        verdict=survived tried=$((tried + 1))
        printf '%s:%s %s\n    %s\n    %s\n' "$f" "$n" "$kind" "${old#"${old%%[! ]*}"}" "${new#"${new%%[! ]*}"}" >>"$TREE/survivors"
        ;;
    esac
    printf '%4d s  %s:%s %s: %s\n' "$((SECONDS - began))" "$f" "$n" "$kind" "$verdict"
done <"$TREE/picked"
[ -e "$TREE/survivors" ] && { echo; echo 'survived:'; cat "$TREE/survivors"; }
# Wilson's interval
awk -v k=$killed -v n=$tried -v total="$total" -v seed="$seed" -v took=$((SECONDS - began)) 'BEGIN {
    if (!n) { print "mutants: none could be built"; exit 1 }
    z = 1.959964; p = k / n; m = (p + z * z / (2 * n)) / (1 + z * z / n)
    h = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    printf "mutants: %d of %d killed (%.0f %%, 95 %% interval %.0f to %.0f), of %d candidates, seed %s, in %d s\n",
        k, n, 100 * p, 100 * (m - h), 100 * (m + h), total, seed, took }'
