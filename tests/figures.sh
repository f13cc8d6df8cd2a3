#!/usr/bin/env bash
# What README and docs say about the bundled model is what was measured: every accuracy of it is worked out again from
# core/eval/figures.def, here, and must stand there with its interval, wherever on those pages; so must what the screens say.
# (That figures.def is what measuring gives, core_session/test_figures tests.)
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
B=${B:-build/release}
V=$B/vitrine
DEF=core/eval/figures.def
N=$(sed -n 's/.*FIGURES_PICTURES = \([0-9]*\).*/\1/p' core/eval/figures.h)
RANDOM_N=$(sed -n 's/.*RANDOM_PICTURES = \([0-9]*\).*/\1/p' core/eval/evaluation.h)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export XDG_STATE_HOME=$WORK

count() { awk -F'[(), ]+' -v k="$1" -v i="${2:-0}" -v c="${3:-4}" '$1 == "FIGURE" && $2 == k && $3 == i {print $c}' $DEF; }
mean() { awk -F'[(), ]+' -v k="$1" '$1 == "MEAN" && $2 == k {print $3}' $DEF; }
# "99.1 % (98.8–99.4)": Wilson's interval of a count, written a second time
share() {
    awk -v r="$(count "$1" "${2:-0}")" -v n="$N" 'BEGIN {
        z = 1.959964; p = r / n; d = 1 + z * z / n
        m = (p + z * z / (2 * n)) / d; h = z / d * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        printf "%.1f %% (%.1f–%.1f)", 100 * p, 100 * (m - h), 100 * (m + h)}'
}
# "29.8 ±1.3": what is lost over the same pictures
lost() {
    awk -v l="$(count "$1" "$2" 5)" -v w="$(count "$1" "$2" 6)" -v n="$N" 'BEGIN {
        printf "%.1f ±%.1f", 100 * (l - w) / n, 100 * 1.959964 * sqrt(l + w + 1 - (l - w) ^ 2 / (n + 2)) / (n + 2)}'
}
# before any training: the mean over seeds, the least and the most
SEEDS=$(grep -c '^FIGURE(PEAK_RANDOM' $DEF)
untrained_rollout() { echo "$(mean ROLLOUT_RANDOM) $(mean ROLLOUT_RANDOM_LEAST) $(mean ROLLOUT_RANDOM_MOST)" | awk '{printf "%.3f (%.3f to %.3f)", $1, $2, $3}'; }
untrained_peak() {
    awk -F'[(), ]+' -v of="$RANDOM_N" '$1 == "FIGURE" && $2 == "PEAK_RANDOM" {p = 100 * $4 / of; s += p; if (!n++ || p < a) a = p; if (p > b) b = p}
        END {printf "%.1f %% (%.1f to %.1f)", s / n, a, b}' $DEF
}
percent() { awk -v r="$(count "$1" "${2:-0}")" -v n="$N" 'BEGIN {printf "%.0f", 100 * r / n}'; }

# WHAT TEXT: the text stands in the file `said`, whatever lines it is broken into
stands() {
    # whole lines, and each column between heavy frames by itself: a window in front of others
    if { cat "$WORK/said"; awk -F'┃' '{for (i = 1; i <= NF; i++) column[i] = column[i] " " $i; n = NF > n ? NF : n} END {for (i = 1; i <= n; i++) print column[i]}' "$WORK/said"; } |
        sed 's/[│┃]/ /g' | tr -s ' \n' '  ' | grep -qF -- "$2"; then
        pass
    else
        fail "$1: '$2' is not said"
    fi
}
says() { # WHAT COMMANDS: what a screen says, in `said`
    "$V" --fresh screen -c "$2" --size 120x40 -o - >"$WORK/said" 2>"$WORK/error" || fail "$1: $(cat "$WORK/error")"
}
K=$(printf '%s,%s' "$((N / 1000))" "$(printf %s "$N" | tail -c 3)")
check "at least 5,000 pictures, were $N" [ "$N" -ge 5000 ]

# --- README
cat README.md docs/*.md >"$WORK/said"
stands "README, the model" "named right $(share TRAINED)"
stands "README, how many" "$N held-out drawn shapes"
stands "README, no scale" "without the scale 1/√d_k $(share SCALE_OFF) $(lost SCALE_OFF 0)"
stands "README, no positions" "without position embeddings $(share POSITIONS) $(lost POSITIONS 0)"
stands "README, the mean" "read from the mean of the patches instead $(share OTHER) $(lost OTHER 0)"
stands "README, the twin" "99.0 % (98.7–99.3) of the same $K right"
same "the twin" "$(share TWIN)" '99.0 % (98.7–99.3)'
stands "README, the twin paired" "$(count TWIN 0 5) pictures only this model names right, $(count TWIN 0 6) only the twin"
stands "README, the twin with a scale" "$(share TWIN_SCALED)"
for b in 0 1 2 3; do
    stands "README, heads of block $b" "block $b $(lost HEAD $((4 * b))) $(lost HEAD $((4 * b + 1))) $(lost HEAD $((4 * b + 2))) $(lost HEAD $((4 * b + 3)))"
    stands "README, sub-layers of block $b" "block $b $(lost ATTENTION $b) $(lost MLP $b)"
    stands "README, lens after block $b" "after block $b $(share LENS $((b + 1)))"
done
for m in ROLLOUT ROLLOUT_FIXED BRIGHTNESS AREA COVERED; do
    stands "README, $m" " $(mean $m | awk '{printf "%.3f", $1}')"
done
for m in PEAK_FIXED PEAK_BRIGHT; do stands "README, $m" "$(share $m)"; done
stands "README, rollout before training" "before any training: mean of $SEEDS seeds $(untrained_rollout)"
stands "README, peak before training" "before any training: mean of $SEEDS seeds $(untrained_peak)"
stands "README, peak" "$(share PEAK)"
wilson() { # RIGHT N
    awk -v r="$1" -v n="$2" 'BEGIN {z = 1.959964; p = r / n; d = 1 + z * z / n; m = (p + z * z / (2 * n)) / d
        h = z / d * sqrt(p * (1 - p) / n + z * z / (4 * n * n)); printf "%.1f–%.1f", 100 * (m - h), 100 * (m + h)}'
}
by_seed=$(untrained_peak | sed -E 's/.*\((.*) to (.*)\)/\1 \2/' | awk '{printf "%.0f to %.0f %%", $1, $2}')
stands "README, a model that learned nothing" "the heaviest of an untrained model is there in $by_seed of the pictures, depending on the seed"
stands "README, seeds of the translator" "at least 997 of 1,000 sentences of every kind without a fault, 99.7 % ($(wilson 997 1000))"
stands "README, seeds whose best head always tells" "for 4 of the 12 seeds only, 33.3 % ($(wilson 4 12))"
stands "README, how it was trained" "$(awk -v s="$(sed -n 's/.*"steps": \([0-9]*\).*/\1/p' assets/trained/recipe.json)" 'BEGIN {printf "%d,%03d", s / 1000, s % 1000}') steps of $(sed -n 's/.*"batch": \([0-9]*\).*/\1/p' assets/trained/recipe.json), none of them twice"
stands "README, the showcase" "of $(sed -n 's/.*SHOWCASE_COUNT = \([0-9]*\).*/\1/p' tui/cli/evaluate.c), its row changes most"
stands "README, a model of one's own" "over the first $(sed -n 's/.*MEASURES_ROUND = \([0-9]*\).*/\1/p' core/session/learned/measures.h) with n and interval, then on to $(sed -n 's/.*MEASURES_PICTURES = \([0-9]*\)\(000\).*/\1,\2/p' core/session/learned/measures.h)"

# --- assets/trained/evaluate.txt, which README quotes, is of the same figures
check "docs/shapes-vit.md quotes evaluate.txt" grep -qF "$(grep -F 'named right' assets/trained/evaluate.txt)" docs/shapes-vit.md

# … and what that holds is so of fewer pictures, within what so few can say: shares by their intervals, means by eye
"$V" evaluate --count 250 >"$WORK/again" 2>"$WORK/error" || fail "evaluate: $(cat "$WORK/error")"
awk 'function numbers(line, to,    n) { # every number of a line, "99.1 % (98.8–99.4)" and "29.8 ±1.3" with their ends
        n = 0
        gsub(/–/, " – ", line); gsub(/±/, " ± ", line)
        while (match(line, /-?[0-9]+(\.[0-9]+)?/)) {
            to[++n] = substr(line, RSTART, RLENGTH) + 0; before[n] = substr(line, 1, RSTART - 1)
            line = substr(line, RSTART + RLENGTH)
        }
        return n
    }
    function words(line) { gsub(/[0-9.,±–()%-]+/, "", line); gsub(/ +/, " ", line); return line }
    FILENAME ~ /again$/ {have[FNR] = $0; next}
    {want[FNR] = $0; last = FNR}
    /^Without one patch|^  in order:|^  (at least|less than|[0-9]+ to) [0-9]+ % |^In how many|^over |^ +(circle|ring|square|frame|triangle|star|cross|crescent|heart|arrow) / {next}
    FNR > 1 {
        if (words($0) != words(have[FNR])) {print "another line " FNR ": " $0; next}
        n = numbers($0, a); m = numbers(have[FNR], b)
        if (n != m) {print "line " FNR ": " $0; next}
        if ($0 ~ /%.*\(.*–/) { # share and interval: they must meet
            at = 0
            for (i = 1; i <= n; i++) if (before[i] ~ / – $/) {at = i; break}
            if (at > 1 && (a[at - 1] > b[at] || b[at - 1] > a[at])) print "moved: " $0 " | " have[FNR]
        } else if ($0 ~ /±/) {
            for (i = n % 2 + 1; i < n; i += 2) {
                far = a[i] - b[i]; if (far < 0) far = -far
                if (far > 1.5 * (a[i + 1] + b[i + 1])) print "moved: " $0 " | " have[FNR]
            }
        } else
            for (i = 1; i <= n; i++) {
                far = a[i] - b[i]; if (far < 0) far = -far
                most = a[i] > 3 ? 0.03 * a[i] : 0.035
                if (far > most) print "moved: " $0 " | " have[FNR]
            }
    }' "$WORK/again" assets/trained/evaluate.txt >"$WORK/moved"
check "evaluate.txt: $(head -n 3 "$WORK/moved")" [ ! -s "$WORK/moved" ]
check "evaluate says less than evaluate.txt" [ "$(wc -l <"$WORK/again")" -eq "$(wc -l <assets/trained/evaluate.txt)" ]

# --- screens and sentences
says census census
stands "census" "$(share TRAINED) of $K held-out pictures right"
says census "census; block 0; head 1"
stands "census, the head" "lost without it $(lost HEAD 1) points"
stands "census, its place" "rank 1 of 16"
says "census, say" "census; block 0; head 1; say"
stands "census, sentence" "Without head 1 of block 0 $(share HEAD 1) of $N held-out pictures are named right: $(lost HEAD 1) points less"
says laboratory "laboratory 9"
stands "laboratory" "accuracy over $K held-out pictures, the factor in every block; here $(share FACTOR 9)"
says "laboratory, say" "laboratory 9; say"
stands "laboratory, sentence" "With that factor $(share FACTOR 9) of $N held-out pictures are named right, as trained $(share TRAINED)"
stands "laboratory, Jacobian" "is larger than before in"
stands "laboratory, two questions" "a change of temperature"
says lens lens
stands "lens" "$N pictures: class token $(share TRAINED), patch mean $(share OTHER) right"
stands "lens, base rate" "Right after each block: $(percent LENS 1) $(percent LENS 2) $(percent LENS 3) $(percent LENS 4) % of $N"
says "lens, say" "lens 0; say"
stands "lens, sentence" "Read out there, it names $(share LENS 1) of $N held-out pictures right"
says "where, say" "where; say"
stands "where, base rates" "Over $N held-out pictures rollout has $(mean ROLLOUT | awk '{printf "%.3f", $1}') there on average; before any training $(untrained_rollout | sed "s/)/, $SEEDS seeds)/"), the mean of all rollouts, the same for each picture, $(mean ROLLOUT_FIXED | awk '{printf "%.3f", $1}'), brightness above the picture's mean $(mean BRIGHTNESS | awk '{printf "%.3f", $1}')"
stands "where, base rates of the peak" "in $(share PEAK) of the pictures; before any training in $(untrained_peak | sed 's/)/ by seed)/'), the patch most often the object's in $(share PEAK_FIXED), the brightest patch in $(share PEAK_BRIGHT)"
stands "where, what it counts" "covers to more than 8 %"
says training "training last"
stands "training" "of 500: "
says showcase "showcase; say"
stands "showcase" "a twin of this model, trained without it, names $(share TWIN) of $N held-out pictures right, this model $(share TRAINED)"
says showcase showcase
stands "showcase is chosen" "Of 200 pictures this row collapses most"

# --- photos: its card is what was measured, and its screens say the same
assets/photos-card.sh >"$WORK/section"
awk '/^## / {inside = $0 == "## Figures"} inside' docs/photos.md >"$WORK/page"
check "docs/photos.md: Figures are others than core/eval/photos.def has (assets/photos-card.sh write)" cmp -s "$WORK/section" "$WORK/page"
PHOTOS=core/eval/photos.def
PN=$(sed -n 's/^PICTURES(\([0-9]*\)).*/\1/p' $PHOTOS)
photo() { awk -F'[(), ]+' -v k="$1" -v i="${2:-0}" '$1 == "FIGURE" && $2 == k && $3 == i {print $4}' $PHOTOS; }
photo_share() { local r; r=$(photo "$@"); awk -v r="$r" -v n="$PN" -v i="$(wilson "$r" "$PN")" 'BEGIN {printf "%.1f %% (%s)", 100 * r / n, i}'; }
says_photos() { "$V" --fresh screen '#ship' -c "$2" --size 120x40 -o - >"$WORK/said" 2>"$WORK/error" || fail "$1: $(cat "$WORK/error")"; }
says_photos "photos, lens" "lens answer; say"
stands "photos, lens" "it names $(photo_share TRAINED) of $PN held-out photographs right"
says_photos "photos, where" "where; say"
greyed() { awk -F'[(), ]+' -v k="$1" -v n="$PN" '$1 == "GREYED" && $2 == k {printf "%.1f ±%.1f points", 100 * ($4 - $5) / n, 100 * 1.959964 * sqrt($4 + $5 + 1 - ($4 - $5) ^ 2 / (n + 2)) / (n + 2)}' $PHOTOS; }
stands "photos, where" "the quarter that rollout gives most costs $(greyed ROLLOUT), farthest from the picture's mean colour costs $(greyed COLOUR)"
says_photos "photos, occlusion" "where occlusion; say"
check "photos, occlusion: a fixed mean is not made anew" [ "$(grep -c 'standardised anew' "$WORK/said")" = 0 ]
says_photos "photos, confusion" confusion
stands "photos, confusion" "named airplane: $(awk -F'[(), ]+' '$1 == "CONFUSION" && $2 == 0 {print $3}' $PHOTOS) of "
says_photos "photos, census" census
stands "photos, census" "$(photo_share TRAINED) of $(printf %s "$PN" | sed -E 's/([0-9])([0-9]{3})$/\1,\2/') held-out photographs right"
for line in "$(sed -n 's/.*"hidden_size": \([0-9]*\).*/width \1/p' assets/trained/photos/config.json)" \
    "$(sed -n 's/.*"num_hidden_layers": \([0-9]*\).*/\1 blocks/p' assets/trained/photos/config.json)" \
    "$(sed -n 's/.*"intermediate_size": \([0-9]*\).*/MLP \1/p' assets/trained/photos/config.json)"; do
    check "docs/photos.md says not '$line'" grep -qF "$line" docs/photos.md
done
finish figures
