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
# What stands before the first </title> and the ground are the same in all frames. Every line of their bodies is written once, in a group that is seen while
# a frame that has it is: of a step that fills only what is new costs room. Their order within a frame stays: grounds, blocks, strokes, curves, letters.
{
    sed -n '1p' "$tallest"
    echo "<title>Vitrine: a forward pass, screen by screen</title>"
    grep -m 1 '^<rect width="100%"' "${frames[0]}"
    printf '%s\n' "${seconds[@]}" | awk -v whole="$whole" '
        NR == FNR { at[NR] = sum; sum += $1; next }
        FNR == 1 { frame++; layer = 0; colour = "" }
        /^<g transform/ { open["shapes"] = $0 }
        /^<g fill/ { open["letters"] = $0; layer = 4 }
        /^<path fill="none"/ { layer = /shape-rendering/ ? 3 : 2 }
        /^<path fill="#/ && layer == 0 && (colour > $2 || !cells($0)) { layer = 1 }
        /^<path fill="#/ && /shape-rendering/ { layer = 3 }
        !/^<(path|text)/ { next }
        {
            colour = $2
            if (!((layer, $0) in seen)) { line[++n] = $0; of[n] = layer; seen[layer, $0] = n }
            in_frame[seen[layer, $0], frame] = 1
        }
        # only rectangles as high as a cell, as grounds are?
        function cells(path) { gsub(/v16h/, "", path); return path !~ /v[0-9]/ }
        END {
            for (i = 1; i <= n; i++) {
                set = ""
                for (f = 1; f <= frame; f++) set = set ((i, f) in in_frame)
                if (!(set in class)) { class[set] = "s" ++sets; rules = rules rule(set, class[set]) }
                body[of[i], set] = body[of[i], set] line[i] "\n"
                if (!((of[i], set) in listed)) { listed[of[i], set] = 1; order[of[i], ++count[of[i]]] = set }
            }
            print "<style>" rules "</style>"
            print open["shapes"]
            for (l = 0; l <= 4; l++) {
                if (l == 4) print "</g>\n" open["letters"]
                for (k = 1; k <= count[l]; k++)
                    printf "<g class=\"%s\">\n%s</g>\n", class[order[l, k]], body[l, order[l, k]]
            }
            print "</g>\n</svg>"
        }
        # a viewer without animation shows the first frame
        function rule(set, name,    f, text, bit, last) {
            for (f = 1; f <= frame; f++) {
                bit = substr(set, f, 1) == "1"
                if (f == 1 || bit != last) text = text sprintf("%.2f%%{visibility:%s}", 100 * at[f] / sum, bit ? "visible" : "hidden")
                last = bit
            }
            return sprintf("@keyframes k%s{%s}.%s{visibility:%s;animation:k%s %gs step-end infinite}\n", name, text, name,
                           substr(set, 1, 1) == "1" ? "visible" : "hidden", name, sum)
        }' - "${frames[@]}"
} >"$OUT/film.svg"
