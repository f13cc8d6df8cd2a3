#!/usr/bin/env bash
# The pictures at the README's top, drawn by the program: docs/pictures.sh VITRINE FOLDER writes still.svg, one screen, and film.svg,
# several of them in turn (its animation is CSS: a viewer without it shows the first). The same bytes each time.
set -eu
VITRINE=$1 OUT=$2
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export HOME=$WORK XDG_STATE_HOME=$WORK LC_ALL=C.UTF-8
SECONDS_EACH=3
# address|commands: from pixels to answer, a look into a head, the scale taken away, and why this answer
SCREENS="
image|view picture
blocks.0.attn.pattern|view sheet
blocks.1.attn.pattern[h=2,t=r3c4]|view matrix
blocks.1.attn.pattern[h=2,t=r3c4]|view row
blocks.1.attn.pattern[h=2,t=r3c4]|view row; set scale off
blocks.0.attn.scores_raw[h=1,t=r3c4,u=cls]|view formula
logits|ledger
"
n=0
while IFS='|' read -r address commands; do
    [ -n "$address" ] || continue
    "$VITRINE" screen "$address" -i '#17' -c "$commands" --size 100x30 -o "$WORK/$n.svg" </dev/null >/dev/null
    n=$((n + 1))
done <<<"$SCREENS"
mkdir -p "$OUT"
cp "$WORK/$((n - 1)).svg" "$OUT/still.svg"

# Every frame is drawn over the one before, and is seen in its own part of the whole time. What stands before the first </title> and the
# ground are the same in all of them.
{
    sed -n '1p' "$WORK/0.svg"
    echo "<title>Vitrine: a forward pass, screen by screen</title>"
    echo "<style>.f{visibility:hidden;animation:f $((n * SECONDS_EACH))s step-end infinite}.f0{visibility:visible}"
    echo "@keyframes f{0%{visibility:visible}$(awk -v n="$n" 'BEGIN {printf "%.3f", 100 / n}')%{visibility:hidden}100%{visibility:hidden}}"
    for ((i = 0; i < n; i++)); do echo ".f$i{animation-delay:$((i * SECONDS_EACH))s}"; done
    echo "</style>"
    grep -m 1 '^<rect width="100%"' "$WORK/0.svg"
    for ((i = 0; i < n; i++)); do
        echo "<g class=\"f f$i\">"
        sed -e '1,/^<rect width="100%"/d' -e '/^<\/svg>/d' "$WORK/$i.svg"
        echo "</g>"
    done
    echo "</svg>"
} >"$OUT/film.svg"
