#!/bin/sh
# photos-card.sh: the section "Figures" of docs/photos.md, made from core/eval/photos.def. photos-card.sh write: puts it into that page.
# (tests/figures.sh compares.)
set -eu
LC_ALL=C.UTF-8
export LC_ALL
cd "$(dirname "$0")/.."

size() { wc -c <"assets/trained/photos/$1.safetensors"; }

section() {
    classes=$(sed -n 's/^ *"[0-9]*": "\(.*\)".*/\1/p' assets/trained/photos/config.json | tr '\n' ' ')
    heads=$(sed -n 's/.*"num_attention_heads": \([0-9]*\).*/\1/p' assets/trained/photos/config.json)
    awk -F'[(), ]+' -v classes="$classes" -v heads="$heads" \
        -v weights="$(size model)" -v record="$(size history)" -v seen="$(size seen)" '
        function wilson(r, n,    z, p, d, m, h) {
            z = 1.959964; p = r / n; d = 1 + z * z / n; m = (p + z * z / (2 * n)) / d
            h = z / d * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
            return sprintf("%.1f %% (%.1f–%.1f)", 100 * p, 100 * (m - h), 100 * (m + h))
        }
        function lost(kind, i,    l, w) {
            l = points[kind, i]; w = back[kind, i]
            return sprintf("%.1f ±%.1f", 100 * (l - w) / n, 100 * 1.959964 * sqrt(l + w + 1 - (l - w) ^ 2 / (n + 2)) / (n + 2))
        }
        function row(label, kind) {
            if ((kind, 0) in right) printf "| %s | %s | %s |\n", label, wilson(right[kind, 0], n), kind == "TRAINED" ? "" : lost(kind, 0)
        }
        function rule(columns,    i) { for (i = 0; i < columns; i++) printf "|---"; print "|" }
        function by_head(title, kind,    b, h, i) {
            printf "\n%s\n\n|", title
            for (h = 0; h < heads; h++) printf " | h%d", h
            print " |"
            rule(heads + 1)
            for (b = 0; b < blocks; b++) {
                printf "| block %d", b
                for (h = 0; h < heads; h++) {
                    i = b * heads + h
                    printf " | %s", kind == "HEAD" ? lost("HEAD", i) : kind == "distance" ? sprintf("%.2f ±%.2f", far[i], farther[i]) : sprintf("%.3f ±%.3f", even[i], evener[i])
                }
                print " |"
            }
        }
        BEGIN {
            split(classes, class, " ")
            name["SHAPES"] = "drawn shapes"; name["NOISE"] = "noise, every pixel for itself"; name["FLAT"] = "one colour all over"
            name["STRIPES"] = "stripes of two colours"; name["SHUFFLED"] = "held-out photographs cut into 16 pieces, mixed up"
            split("at least 99 %,90 to 99 %,70 to 90 %,50 to 70 %,less than 50 %", bin, ",")
        }
        $1 == "PICTURES" && $2 + 0 {n = $2}
        $1 == "FIGURE" && $3 ~ /^[0-9]+$/ {right[$2, $3] = $4; points[$2, $3] = $5; back[$2, $3] = $6; if ($2 == "MLP") blocks = $3 + 1}
        $1 == "VALUE" && $3 ~ /^[0-9.-]+$/ {value[$2] = $3}
        $1 == "HEAD" && $2 ~ /^[0-9]+$/ {far[$2] = $3; farther[$2] = $4; even[$2] = $5; evener[$2] = $6}
        $1 == "WARM" && $2 ~ /^[0-9]+$/ {warm = $2; warmed = $3; tried = $4}
        $1 == "GREYED" && $3 ~ /^[0-9]+$/ {right["GREYED" $2, 0] = $3; points["GREYED" $2, 0] = $4; back["GREYED" $2, 0] = $5}
        $1 == "ALIKE" && $2 ~ /^[0-9]+$/ {alike[$2] = sprintf("%.3f ±%.3f", $3, $4); first[$2] = sprintf("%.3f ±%.3f", $5, $6)}
        $1 == "CONFUSION" && $2 ~ /^[0-9]+$/ {for (k = 3; k < NF; k++) mixed[$2, k - 3] = $k}
        $1 == "SURE" && $2 ~ /^[0-9]+$/ {sure[$2] = $3; sures[$2] = $4}
        $1 == "UNLIKE" && $3 ~ /^[0-9]+$/ {order[++unlikes] = $2; caught[$2] = $3; of[$2] = $4}
        $1 == "SHAPES_SURE" && $2 ~ /^[0-9]+$/ {shapes = $2}
        END {
            print "## Figures\n"
            printf "Over %d photographs that were held out, by their pixels; in brackets and behind ± 95 %% intervals, losses in points over the same photographs.\n", n
            print "`make figures-photos DATA=FOLDER` measures them, `vitrine evaluate -m photos --pictures FOLDER` most of them; the screens show them without the photographs.\n"
            print "| | named right | points lost |"; rule(3)
            row("as trained", "TRAINED"); row("without the scale 1/√d_k", "SCALE_OFF"); row("without position embeddings", "POSITIONS")
            row("read from the class token instead of the mean", "OTHER")
            printf "\nMean cross entropy %.3f ±%.3f nats. By class:\n\n| class | named right | of | most often taken for |\n", value["LOSS"], value["LOSS_MARGIN"]; rule(4)
            for (o = 0; o in class || (o + 1) in class; o++) {
                all = most = 0; other = ""
                for (k = 0; (k + 1) in class; k++) {
                    all += mixed[o, k]
                    if (k != o && mixed[o, k] + 0 > most) {most = mixed[o, k]; other = class[k + 1]}
                }
                if (all) printf "| %s | %s | %d | %s, %d |\n", class[o + 1], wilson(mixed[o, o], all), all, other, most
            }
            print "\nBy the probability of the answer:\n\n| answered with | right | of |"; rule(3)
            for (i = 0; i < 5; i++) if (sures[i] + 0) printf "| %s | %s | %d |\n", bin[i + 1], wilson(sure[i], sures[i]), sures[i]
            printf "\nThe probabilities are too high. Divided by %.2f, one number fitted on every other of these photographs (temperature scaling, Guo et al. 2017), the logits give probabilities\n", value["WARMTH"]
            printf "that say how often they are right: over the other %d the expected calibration error is %.3f instead of %.3f, and of the answers with at least 99 %% then\n", tried, value["CALIBRATION_WARM"], value["CALIBRATION"]
            printf "%s of %d are right. No answer changes by it. The program shows what the model computes, and beside it how often such an answer is right: the table above.\n", wilson(warm, warmed), warmed
            by_head("Points lost without one head (its z is 0):", "HEAD")
            print "\nPoints lost without one sub-layer, and named right by the logit lens behind the block:\n\n| | attention | MLP | lens |"; rule(4)
            printf "| before block 0 | | | %s |\n", wilson(right["LENS", 0], n)
            for (b = 0; b < blocks; b++) printf "| block %d | %s | %s | %s |\n", b, lost("ATTENTION", b), lost("MLP", b), wilson(right["LENS", b + 1], n)
            printf "\nPosition embeddings against the grid: rank correlation of likeness and nearness %.2f (%.2f with the mean vector taken away); the most alike\n", value["RANK"], value["RANK_CENTRED"]
            printf "patch is one of 4 neighbours in %.1f %% of places (by chance %.1f), one of 8 in %.1f %% (%.1f).\n", 100 * value["NEAR4"], 100 * value["CHANCE4"], 100 * value["NEAR8"], 100 * value["CHANCE8"]
            by_head(sprintf("Attention distance in pixels (uniform attention %.1f, at most %.1f):", value["UNIFORM"], value["MAXIMAL"]), "distance")
            by_head("Entropy of a row, as a share of ln(tokens):", "entropy")
            print "\n**Where it looks.** A quarter of the patches, 16 of 64, is painted grey, chosen by a map:\n\n| painted grey | named right | points lost |"; rule(3)
            row("most of rollout", "GREYEDROLLOUT"); row("farthest from the mean colour of the picture", "GREYEDCOLOUR")
            row("drawn by lot", "GREYEDLOT"); row("least of rollout", "GREYEDLEAST")
            print "\n**How alike patches become** (`:alike`): the mean cosine of two patches, and the share of their variance along its first direction:\n\n| | cosine | first direction |"; rule(3)
            for (b = 0; b <= blocks; b++) printf "| %s | %s | %s |\n", b ? "block " b - 1 : "before block 0", alike[b], first[b]
            printf "\n**Unlike what it has seen.** The mean of the patches behind block %d is compared with those of 10,000 photographs that it learned from, in the metric of\n", int((blocks - 1) / 3)
            print "their covariance (Mahalanobis; `seen.probe.distance` in the trace). What lies farther than 95 % of the held-out photographs do is called *unlike the"
            print "photographs it has seen*. So many of other pictures are:\n\n| pictures | called unlike | of |"; rule(3)
            for (i = 1; i <= unlikes; i++) printf "| %s | %s | %d |\n", name[order[i]], wilson(caught[order[i]], of[order[i]]), of[order[i]]
            printf "\nIn the binary: %.2f MB of weights in 16 bits (F16), %.2f MB for the record of its training, %.2f MB for what it has seen.\n", weights / 1e6, record / 1e6, seen / 1e6
            printf "\nThe model of drawn shapes names %s of the same photographs with at least 90 %%, always wrongly: how sure an answer sounds says nothing\nabout pictures of another kind.\n\n", wilson(shapes, n)
        }' core/eval/photos.def
}

case ${1:-} in
write)
    section >docs/photos.md.new
    awk 'FNR == NR {new = new $0 "\n"; next} /^## / {inside = $0 == "## Figures"; if (inside) printf "%s", new} !inside' docs/photos.md.new docs/photos.md >docs/photos.md.page
    rm docs/photos.md.new
    mv docs/photos.md.page docs/photos.md
    ;;
'') section ;;
*) echo "usage: photos-card.sh [write]" >&2; exit 2 ;;
esac
