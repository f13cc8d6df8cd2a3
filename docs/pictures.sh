#!/usr/bin/env bash
# The pictures of the README, drawn by the program: docs/pictures.sh VITRINE FOLDER writes film.svg, the steps of film.txt in turn, each for its pause (its
# animation is CSS: a viewer without it shows the first), and three stills. The same bytes each time.
set -eu
mkdir -p "$2"
VITRINE=$(realpath "$1") OUT=$(realpath "$2") HERE=$(realpath "$(dirname "$0")")
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export HOME=$WORK XDG_STATE_HOME=$WORK LC_ALL=C.UTF-8
cd "$WORK"

# NAME INPUT ADDRESS COMMANDS
still() { "$VITRINE" screen "$3" -i "$2" -c "$4" --size 100x30 -o "$OUT/$1.svg" </dev/null >/dev/null; }
still attention '#17' 'blocks.1.attn.pattern[h=2,t=r3c4]' 'view row'
still scale '#66' 'blocks.2.attn.pattern[h=0,t=r1c6,u=r1c6]' 'view row; set scale off'
still it 'the animal did not cross the street because it was too tired' 'decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=animal]' 'word tired wide; view sentence'

"$VITRINE" export --script "$HERE/film.txt" -o film.svg --size 100x30 </dev/null >/dev/null
frames=(film-*.svg)
n=${#frames[@]}
# the tallest is the frame of all: captions differ in lines
tallest=$(grep -m 1 -oH 'viewBox="0 0 [0-9.]* [0-9.]*' "${frames[@]}" | sort -t ' ' -k 4 -n | tail -n 1 | cut -d : -f 1)
mapfile -t seconds < <(sed -n 's/^pause //p' "$HERE/film.txt")
whole=$(printf '%s\n' "${seconds[@]}" | awk '{s += $1} END {print s}')
# Every frame is drawn over the one before, and is seen for its pause. What stands before the first </title> and the
# ground are the same in all of them.
{
    sed -n '1p' "$tallest"
    echo "<title>Vitrine: a forward pass, screen by screen</title>"
    echo "<style>.f{visibility:hidden}.f0{visibility:visible}"
    printf '%s\n' "${seconds[@]}" | awk -v whole="$whole" '{
        printf "@keyframes k%d{0%%{visibility:visible}%.3f%%{visibility:hidden}100%%{visibility:hidden}}\n", NR - 1, 100 * $1 / whole
        printf ".f%d{animation:k%d %gs step-end %gs infinite}\n", NR - 1, NR - 1, whole, at
        at += $1
    }'
    echo "</style>"
    grep -m 1 '^<rect width="100%"' "${frames[0]}"
    for ((i = 0; i < n; i++)); do
        echo "<g class=\"f f$i\">"
        sed -e '1,/^<rect width="100%"/d' -e '/^<\/svg>/d' "${frames[i]}"
        echo "</g>"
    done
    echo "</svg>"
} >"$OUT/film.svg"
