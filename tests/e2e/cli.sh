#!/usr/bin/env bash
# The program without a terminal: every verb, what it says when something is wrong, and where its output goes.
# VITRINE=build/release/vitrine tests/e2e/cli.sh
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
V=$(realpath "${VITRINE:-build/release/vitrine}")
[ -x "$V" ] || { fail "$V is not built"; finish cli; exit 1; }
DATA=$PWD/tests/data/oracle/tiny
BIN=$(dirname "$V") TOP=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
export HOME=$T/home XDG_STATE_HOME=$T/state
unset NO_COLOR VITRINE_ISA COLORTERM

# run_v ARGS…: OUT, ERR (file err), STATUS
run_v() {
    OUT=$("$V" "$@" 2>err </dev/null)
    STATUS=$?
    ERR=$(cat err)
}
# ok WHAT ARGS…: status 0 and a silent standard error
ok() {
    local what=$1
    shift
    run_v "$@"
    if [ $STATUS = 0 ] && [ -z "$ERR" ]; then pass; else fail "$what: status $STATUS, '$ERR'"; fi
}
# little WHAT ARGS…: as ok, but it is said that --memory was too little
little() {
    local what=$1
    shift
    run_v "$@"
    if [ $STATUS = 0 ] && grep -qE '^vitrine: --memory was too little: [0-9]+ MB .*--memory [0-9]+M is enough' <<<"$ERR" && [ "$(wc -l <<<"$ERR")" = 1 ]; then
        pass
    else fail "$what: status $STATUS, '$ERR'"; fi
}
# says WHAT PATTERN: in OUT
says() { if grep -qE -e "$2" <<<"$OUT"; then pass; else fail "$1: no '$2' in: ${OUT:0:300}"; fi; }
# refused STATUS PATTERN ARGS…: that status, one line on standard error, nothing on standard output
refused() {
    local status=$1 pattern=$2
    shift 2
    run_v "$@"
    if [ $STATUS = "$status" ] && [ -z "$OUT" ] && [ "$(wc -l <err)" = 1 ] && grep -qE -e "^vitrine: .*$pattern" err; then pass; else
        fail "'$*': status $STATUS (expected $status), '${OUT:0:80}', '$ERR'"
    fi
}
hash_of() { "$V" run --json "$@" | sed -n 's/.*"trace_hash":"\([0-9a-f]*\)".*/\1/p'; }
classes_of() { "$V" run --json "$@" | grep '"index"' | sed 's/}\(],.*\)\?,\?$//'; }

# --- run
ok run run
says "run names its input" '^#17'
says "run says that the model is untrained, or what the picture shows" 'untrained|drawn as'
says "run ends with the hash" '^trace hash [0-9a-f]{16}$'
H=$(hash_of)
same "text and JSON have one hash" "trace hash $H" "$(tail -n 1 <<<"$OUT")"
same "all ten classes in JSON" 10 "$(classes_of | wc -l)"
same "probabilities in falling order" "$(classes_of | sed 's/.*"probability":\([^,]*\).*/\1/' | sort -gr)" "$(classes_of | sed 's/.*"probability":\([^,]*\).*/\1/')"
same "they add up to 1" 1.00000 "$(classes_of | sed 's/.*"probability":\([^,]*\).*/\1/' | awk '{s += $1} END {printf "%.5f", s}')"
for how in "--threads 1" "--threads 3" "--isa scalar"; do
    # shellcheck disable=SC2086
    same "hash with $how" "$H" "$(hash_of $how)"
done
same "hash with VITRINE_ISA" "$H" "$(VITRINE_ISA=scalar hash_of)"
same "the input as a word or an option" "$(hash_of '#4')" "$(hash_of -i '#4')"
check "another picture is another run" [ "$(hash_of '#4')" != "$H" ]
OFF=$(hash_of -c 'set scale off')
check "an edit is another run" [ "$OFF" != "$H" ]
same "undo gives the identical hash" "$H" "$(hash_of -c 'set scale off; ablate blocks.1.attn.z[h=2]; undo; undo')"
same "a link's edit is the command" "$OFF" "$(hash_of '#17 scale=off')"
same "a link in several words" "$OFF" "$(hash_of '#17' scale=off)"
same "commands of several -c" "$(hash_of -c 'set scale off; skip mlp block=1')" "$(hash_of -c 'set scale off' -c 'skip mlp block=1')"
ok "the hash of a link agrees" run "#17 scale=off @${OFF:0:6}"
run_v run '#17 scale=off @0123456789abcdef'
same "the hash of a link does not agree: status" 3 $STATUS
check "the hash of a link does not agree: message" grep -q "^vitrine: the link says trace hash @0123456789abcdef, this run has $OFF" err
odd=$'odd\n\e]0;x\a \xe9 it\'s \\ $(x).ppm'
printf 'P6 48 48 255\n%6912s' '' >"$odd"
link=$("$V" plain -i "$odd" <<<link | grep '^vitrine ')
check "a link of a name with control bytes shows them" eval '! grep -q "[[:cntrl:]]" <<<"$link"'
eval "set -- $link"
same "a link of a name with control bytes is of that file" "$odd" "$3"
rm -f "$odd"
ok "run with an edit" run -c 'set scale off'
says "run names the edit" '^edits +set scale off$'
says "run shows the model without it too" 'A: probability'
ok "not a number" run --json -c 'set blocks.0.resid_post[t=cls,d=0] nan'
says "JSON has no bare nan" '"probability":"NaN"'
ok "a file for the answer" run --json -o answer.json
same "what -o writes is what is printed" "$("$V" run --json)" "$(cat answer.json)"

# --- sentences
refused 1 "'unknown', 'words' and 'here' are none of the 137 words .*--vocabulary" run "unknown words here"
refused 1 "'dragon' is none of the 137 words .*--vocabulary" run "dragon: the dog"
ok "a sentence with marks" run '(the cat) — "is" tired!'
says "what was left out" 'left out: "\(" "\)" "—" """ "!" \(not among its words\)'
ok "a sentence in brackets" run '[the] cat [is] tired'
says "its marks" 'left out: "\[" "\]" \(not among its words\)'
ok "a sentence of its grammar" run "the cat is tired"
if grep -q 'training sentences' <<<"$OUT"; then fail "a note where there is nothing to note: $OUT"; else pass; fi
ok "a sentence outside its grammar" run "the chair is tired"
says "is said to be one" 'unlike its training sentences from "tired" on: never measured'
ok "translated" translate "the chair is tired"
says "it is said there too, with one that is like them" 'never go on with "tired" after "the chair is".*never measured'
says "to be run" 'vitrine translate "the chair is [a-z]+"'
ok "as JSON" translate --json "the chair is tired"
says "it has the note" '"note":"Its training sentences'
refused 1 "near it: .vitrine translate \"the cat saw the hat\"" translate "the cat sat on the mat"
refused 1 "near it: .vitrine \"the cat saw the hat\"" run "the cat sat on the mat"
ok "a sentence behind an address" screen encoder.blocks.0.self_attn.scores_raw "the cat is tired"
says "its words" 'cat +is +tired'
refused 2 "no file 'my.photo of.it'" "my.photo of.it"

# --- pictures and models
printf 'P6 3 2 255\n\377\0\0\0\377\0\0\0\377\1\2\3\4\5\6\7\10\11' >'a picture.ppm'
ok "a picture with a blank in its name" run 'a picture.ppm'
same "a picture from standard input" "$("$V" run 'a picture.ppm' | tail -n 1)" "$("$V" run -i - <'a picture.ppm' | tail -n 1)"
ok "a checkpoint folder" run -m "$DATA" "$DATA/image.ppm"
ok "a timm file" run -m "$DATA/model_timm.safetensors" "$DATA/image.ppm"
ok trace trace -o t.safetensors
says "trace reports" '^[0-9]+ tensors, [0-9.]+ MB$'
same "ready values give the same answer" "$(classes_of)" "$(classes_of t.safetensors:image)"
refused 1 "no such file|does not exist" run no-such.png
refused 1 "no such file|does not exist" run -m no-such-folder
refused 1 "is no picture" run '#99x'
refused 1 "no tensor 'nothing'" run t.safetensors:nothing
refused 1 "this model takes" run t.safetensors:logits
refused 1 folder run /
refused 1 device run /dev/zero
: >empty.png
refused 1 empty run empty.png
printf 'RIFF\0\0\0\0WEBPVP8 ' >webp.jpg
refused 1 WebP run webp.jpg
bad=$(printf 'a\033[31m\377\302\233\340\200')
run_v run "$bad"
same "a name with control characters: status" 1 $STATUS
check "a name with control characters is made harmless" [ "$(LC_ALL=C tr -d '\n -~' <err | wc -c)" = 0 ]

# --- show
ok show show 'blocks.1.attn.q'
says "show names axes and lengths" '^blocks.1.attn.q +float32 \[t=65,h=4,e=16\]'
ok "show into a file" show blocks.1.attn.q -o q.npy
same "show reports" 'float32 [t=65,h=4,e=16]' "$OUT"
ok "show transposed" show blocks.1.attn.q --axes h,t,e -o qt.npy
same "transposed shape" 'float32 [h=4,t=65,e=16]' "$OUT"
check "the npy header has the shape" grep -aqF "'shape': (4, 65, 16)" qt.npy
ok "one head" show 'blocks.1.attn.q[h=2]' -o q2.npy
size=$((65 * 16 * 4))
same "size of one head" $size $(($(stat -c %s q2.npy) - 128))
check "head 2 is the third slice of the transposed tensor" cmp -s <(tail -c +129 q2.npy) <(tail -c +$((129 + 2 * size)) qt.npy | head -c $size)
ok "a pattern" show 'blocks.1.attn.*' -o b.npz
check "an npz is a zip" [ "$(head -c 2 b.npz)" = PK ]
ok "names of a pattern" show 'blocks.*.attn.pattern'
same "one per block" 4 "$(wc -l <<<"$OUT")"
ok "names of a scope" show blocks.2.mlp
says "with shapes" '^blocks.2.mlp.post +float32 \[t=65,m='
ok csv show logits -o l.csv
same "a csv of one row has a header and the row" 2 "$(wc -l <l.csv)"
check "-o - is the file" cmp -s q.npy <("$V" show blocks.1.attn.q -o -)
ok "show as JSON" show logits --json
says "JSON of a tensor" '"name":"logits","shape":\[10\]'
same "a patched value gives the answer back" "$(classes_of)" "$(classes_of -c 'patch blocks.1.attn.q from=q.npy' | sed 's/,"probability_a.*//')"
# one head, one token: from the whole node's values, from the part's own, from a tensor of a file by its name
ok "one head's values" show 'blocks.1.attn.q[h=2]' -o head.npy
ok "a trace" trace -o all.npz
for from in q.npy head.npy all.npz:blocks.1.attn.q; do
    same "one head patched from $from gives the answer back" "$(classes_of)" "$(classes_of -c "patch blocks.1.attn.q[h=2] from=$from" | sed 's/,"probability_a.*//')"
done
ok "without a token" show blocks.1.resid_post -c 'set blocks.1.resid_post[t=cls] 0' -o bare.npy
ok "a token of another run" show logits -c 'patch blocks.1.resid_post[t=cls] from=bare.npy' -o patched.npy
ok "the same by hand" show logits -c 'set blocks.1.resid_post[t=cls] 0' -o set.npy
check "a token patched is that token and no other" cmp -s patched.npy set.npy
refused 1 'the part of it that is patched' show logits -c 'patch blocks.1.attn.q[h=2,t=cls] from=head.npy'
refused 1 "there is no tensor 'nobody'" show logits -c 'patch blocks.1.attn.q[h=2] from=all.npz:nobody'
ok "without the edit" show logits -c 'set scale off; compare a' -o la.npy
ok "with the edit" show logits -c 'set scale off' -o lb.npy
ok "without any" show logits -o l0.npy
check "side A is the run without edits" cmp -s l0.npy la.npy
check "side B is not" bash -c '! cmp -s l0.npy lb.npy'
ok "the difference" show logits -c 'set scale off; compare diff'
ok "the focus" show . --at 'blocks.0.attn.pattern[h=1]'
says "the focus is what --at says" '^blocks.0.attn.pattern '
ok "a short name" show pattern --at blocks.2.attn.z
says "a short name is looked for in the block in focus" '^blocks.2.attn.pattern '
ok "an edit's own node" show blocks.1.attn.z.unedited -c 'ablate blocks.1.attn.z[h=2]'
ok "an analysis" show 'blocks.0.attn.probe.entropy[h=0]'
ok "show draws when the file is a picture" show blocks.0.attn.pattern -o p.svg
check "and it is an SVG" grep -q '<svg' p.svg
refused 2 "show what" show
refused 2 'x\.csv holds values: say of which node.*goes to \.svg, \.png' screen -o x.csv
refused 1 'no block 9: blocks go from 0 to 3' show blocks.9.attn.q
refused 1 "no axis" show 'logits[t=1]'
refused 1 "o=77" show 'logits[o=77]'
refused 1 "expected \\]" show 'logits[o=7'
refused 1 "axes|axis" show logits --axes h
refused 2 "\\.npz" show logits -o l.xyz
refused 1 "\\.npz" show 'blocks.*' -o l.npy
refused 1 "no command 'frob'" show logits -c frob
refused 1 "needs the screen" show logits -c zoom
refused 2 "one address is enough" show logits probs
refused 1 "no node" show logits --at nonsense-node
refused 2 "two inputs" run '#1' -i '#2'

# --- trace
"$V" trace -o - >piped.safetensors
check "trace through a pipe is the file" cmp -s t.safetensors piped.safetensors
check "the trace says its hash" grep -aqF "$H" t.safetensors
ok "an edited trace" trace -c 'set scale off' -o off.safetensors
check "the edited trace says its own hash" grep -aqF "$OFF" off.safetensors
check "and what was edited" grep -aqF 'set scale off' off.safetensors
for name in image patch_embed blocks.0.attn.scores_raw blocks.3.mlp.post ln_final.out logits probs; do
    check "$name is in the trace" grep -aqF "\"$name\":" t.safetensors
done
ok "a trace as npz" trace -o t.npz
refused 2 "trace needs -o" trace
refused 2 "many tensors" trace -o t.npy
refused 2 "safetensors" trace -o t.svg

# --- explain, why
ok explain explain 'blocks.0.attn.pattern[h=2, t=r3c4, u=cls]'
says "explain begins with the cell" '^blocks.0.attn.pattern\[h=2,t=r3c4,u=cls\] = [0-9.e-]+$'
says "explain folds the terms" 'equal, bit for bit'
ok "explain a sum" explain 'blocks.0.attn.q_nobias[t=3,h=1,e=5]'
says "explain shows operands" ' · '
ok "explain without an address" explain
says "is the answer's logit" '^logits\[o='
ok "explain where -c led" explain -c 'goto ln_final.out[t=cls,d=3]'
says "is that place" '^ln_final.out\[t=cls,d=3\]'
ok "explain as JSON" explain --json
says "JSON says equal" '"equal":true'
ok why why
says "why ends at a weight or a pixel" '^The last is '
says "why says what it is not" 'not yet a cause'
ok "why as JSON" why --json 'blocks.0.attn.scores_raw[h=0,t=1,u=2]'
refused 1 "group of nodes" explain blocks.1
refused 1 "group of nodes" why 'blocks.*'

# --- screen
for form in svg html txt ans; do
    ok "screen .$form" screen blocks.1.attn.pattern --size 100x30 -o "s.$form"
    check "the .$form is not empty" [ -s "s.$form" ]
done
check "an SVG" grep -q '^<svg\|<svg ' s.svg
check "an HTML page" grep -qi '<html' s.html
same "30 lines of text" 30 "$(wc -l <s.txt)"
check "no line is wider than 100" [ "$(wc -L <s.txt)" -le 100 ]
check "no escape in text" bash -c '! grep -q $'"'\\033'"' s.txt'
check "colours in ANSI" grep -q $'\033\[' s.ans
same "to standard output it is text" "$(cat s.txt)" "$("$V" screen blocks.1.attn.pattern --size 100x30)"
check "with --colour it is ANSI" grep -q $'\033\[38;5;\|48;5;' <("$V" screen blocks.1.attn.pattern --size 100x30 --colour 256)
check "mono ANSI has no colour" bash -c "! '$V' screen blocks.1.attn.pattern --size 100x30 --colour mono -o - | grep -q '8;[25];'"
same "the same twice" "$(md5sum <s.svg)" "$("$V" screen blocks.1.attn.pattern --size 100x30 -o again.svg; md5sum <again.svg)"
check "ASCII is ASCII" [ "$("$V" screen blocks.1.attn.pattern --ascii | LC_ALL=C tr -d '\n -~' | wc -c)" = 0 ]
for size in 1x1 1x200 7x3 39x9 60x16 80x24 200x60 500x150; do
    ok "screen at $size" screen blocks.1.attn.pattern -c 'set scale off' --size $size
    same "lines at $size" "${size#*x}" "$("$V" screen blocks.1.attn.pattern --size $size | wc -l)"
done
for view in heat numbers strip histogram tensor picture sheet matrix row formula positions answer; do
    ok "view $view" screen --at 'blocks.2.attn.pattern[h=1]' -c "view $view"
done
ok "the place is kept through -c" screen 'blocks.2.attn.pattern[h=3]' -c 'view matrix'
says "block, head and matrix" 'block 2 of 0–3 +head 3 of 0–3'
ok "an edit's node, which exists after -c" screen blocks.1.attn.z.unedited -c 'ablate blocks.1.attn.z[h=2]'
says "it is shown" 'z.uned'
ok help screen -c help
says "the help is drawn" 'Help'
ok say screen -c say
ok "a step's number" screen 3
ok "values where the file is one of values" screen blocks.1.attn.q -o sq.npy
check "they are those of show" cmp -s q.npy sq.npy
refused 2 "\\.svg" screen -o x.pdf
refused 2 "no --json" screen --json
refused 1 "needs a terminal" screen -c 'prompt set'
refused 1 "no node" screen nonsense-node
refused 1 "group of nodes" screen 'blocks.*.attn.q'

mkdir -p begun && : >begun/training.safetensors
refused 1 'an unfinished training, and no model yet: the same .vitrine train. command, with -o begun, goes on with it' run -m begun
refused 1 'an unfinished training' write -m begun -i a

# --- verify, info
ok verify verify
says "verify counts" '^[0-9,]+ cells of [0-9]+ tensors, .* [0-9,]+ terms in [0-9.]+ s'
says "verify finds all equal" '^All equal, bit for bit'
says "verify: what comes nearest to the bound of maps" 'within the bound; square roots come nearest to it, which are rounded correctly\.$'
says "verify ends with the hash" "$H"
ok "verify an edited run" verify -c 'set scale off; ablate blocks.1.attn.z[h=2]; mask causal'
says "an edited run is equal too" '^All equal'
ok "verify a sample" verify --sample 5 --json
says "JSON of verify" '"equal":true.*"trace_hash"'
ok "verify the checkpoint" verify -m "$DATA" -i "$DATA/image.ppm"
ok info info -m "$DATA"
says "info names blocks" '^blocks +[0-9]+ blocks'
ok "info as JSON" info --json
says "JSON of info" '"kernels":"'

# --- next to no memory for values: the same bits
says "info as JSON tells the budget" '"bytes_budget":[1-9][0-9]{7,}'
ok "a budget" info --memory 1.5M -c hash
says "info tells the budget and what is held" '^values kept +1\.57 MB at most'
says "the most that was held" '^ +[0-9.]+ MB at most so far'
for size in 64K 300K 1m; do
    same "hash with --memory $size" "$H" "$(hash_of --memory $size)"
    same "hash of an edited run with --memory $size" "$OFF" "$(hash_of --memory=$size -c 'set scale off')"
done
little "verify with little memory" verify --memory 300K -c 'set scale off; ablate blocks.1.attn.z[h=2]; mask causal'
says "all is equal with little memory" '^All equal'
for suffix in safetensors npz json; do
    ok "a trace as .$suffix" trace -c 'set scale off' -o roomy.$suffix
    little "a trace with little memory as .$suffix" trace --memory 100K -c 'set scale off' -o tight.$suffix
    check "the same bytes as .$suffix" cmp roomy.$suffix tight.$suffix
done
rm -f roomy.* tight.*
little "a screen with little memory" screen 'blocks.2.attn.pattern[h=1]' --memory 64K -o tight.txt
ok "the screen" screen 'blocks.2.attn.pattern[h=1]' -o roomy.txt
check "shows the same" cmp roomy.txt tight.txt
for size in 2 2X '' -1G .5G 1.5.1G 63K 0G 2000T 1e3G 0x1G '2 G'; do
    refused 2 'such as 512M or 2G|expected SIZE' info --memory "$size"
done
refused 2 'expected SIZE' info --memory

# --- data
ok "a drawn picture" data 17
says "data names the class and the share" '^ +17  star +7\.8 %$'
same "24 lines of picture after three" 27 "$(wc -l <<<"$OUT")"
check "in colours when asked" grep -q $'48;5;' <("$V" data 17 --colour 256)
check "ASCII is ASCII" [ "$("$V" data 17 --ascii | LC_ALL=C tr -d '\n -~' | wc -c)" = 0 ]
ok "several" data 17 '#18' 30-33
same "numbers in their order" "17 18 30 31 32 33" "$(awk 'NR > 1 {print $1}' <<<"$OUT" | xargs)"
ok "a PNG" data 17 -o 17.png
same "a PNG is one picture" 'PNG 48 48' "$(head -c 4 17.png | tail -c 3) $(od -An -tu1 -j16 -N8 17.png | awk '{print $4, $8}')"
check "-o - is the same PNG" cmp -s 17.png <("$V" data 17 -o -)
same "the picture of #17 is that file" "$(hash_of '#17')" "$(hash_of 17.png)"
ok "a grid" data 0-24 -o grid.ppm
same "a grid of 25 is 5 by 5" "P6 248 248 255" "$(head -n 3 grid.ppm | xargs)"
ok "masks" data 17 --mask -o mask.ppm
same "a mask covers what is said" 7.8 "$(tail -c 6912 mask.ppm | od -An -v -tu1 | awk '{for (i = 1; i <= NF; i++) s += $i} END {printf "%.1f", s / 6912 / 2.55}')"
ok "an easier one" data 17 --difficulty 0.3 -o easy.png
check "it is another picture" bash -c '! cmp -s 17.png easy.png'
ok "the hardest is the usual one" data 17 --difficulty 1 --series 6 -o same.png
check "the usual series is 6" cmp -s 17.png same.png
ok "another series" data 17 --series 18446744073709551615 -o other.png
check "it differs" bash -c '! cmp -s 17.png other.png'
ok "data as JSON" data 3 17 --json
says "JSON of data" '^\{"number":17,"class":"star","label":5,"covered":0\.0[0-9]+\}$'
ok "a folder of classes" data 0-39 17 -o shapes/ --by-class
same "ten classes" "arrow circle crescent cross frame heart ring square star triangle" "$(find shapes -mindepth 1 -maxdepth 1 | sort | xargs -n 1 basename | xargs)"
same "a file for each" 40 "$(find shapes -name '*.png' | wc -l)"
check "the same file" cmp -s 17.png shapes/star/17-star.png
ok "an existing folder" data 17 --mask -o shapes
check "the mask has its own name" [ -s shapes/17-star-mask.png ]
refused 2 "which pictures" data
refused 2 "'star' is no picture" data star
refused 2 "'3-' is no picture" data 3-
refused 2 "runs backwards" data 9-3
refused 2 "is no picture" data 18446744073709551616
refused 2 "more than 1000000" data 0-18446744073709551615
refused 2 "too many" data 0-10000 -o x.png
refused 2 "\.png or \.ppm" data 17 -o 17.gif
refused 2 "from 0 to 1" data 17 --difficulty 1.5
refused 2 "from 0 to 1" data 17 --difficulty nan
refused 2 "from 0" data 17 --series -1
refused 2 "by-class" data 17 --by-class
refused 2 "both write" data 17 --json -o -
refused 1 "does not exist" data 17 -o missing/17.png
refused 1 "can't be made" data 17 -o missing/17/
refused 1 "can't be made" data 17 -o 17.png/
mkdir half && touch half/star
refused 1 "not a folder" data 17 -o half --by-class

# --- evaluate
ok "evaluate the bundled model" evaluate --count 20
says "evaluate says over how many" '^[a-z-]+: 20 held-out drawn shapes$'
says "evaluate takes the scale away" '^  without the scale 1/√d_k +[0-9.]+ %'
says "evaluate knows where heads look" '^Attention distance in pixels'
EVALUATED=$OUT
run_v evaluate --count 20 --threads 1
same "evaluate with one thread" "$EVALUATED" "$OUT"
ok "evaluate as JSON" evaluate --count 5 --json
check "JSON of evaluate has all figures" [ "$(grep -c '^  "' <<<"$OUT")" = 65 ]
ok "evaluate the heads of windows" evaluate -m "$TOP/tests/data/families/words_gemma2" --count 3
says "what a window never reaches is not measured" '^  dec 0 self +– +– +– +– *$'
says "… and does not count" 'none of 4 heads is of this kind'
ok "evaluate the heads of a decoder" evaluate -m "$TOP/tests/data/families/words_gpt2" --count 3 --json
check "… has every kind that it can be, with control and interval" [ "$(grep -cE '^"(induction|previous token|sink)":.*"uniform":.*"share":.*"margin":.*"control":.*"found":' <<<"$OUT")" = 3 ]
check "… and the texts, each twice the same tokens" [ "$(sed -n 's/^"written":\[//p' <<<"$OUT" | grep -oE '\[[0-9,]+\]' | tr -d '[]' | awk -F, '{for (i = 1; i <= NF / 2; i++) if ($i != $(i + NF / 2)) exit 1; n++} END {print n}')" = 3 ]
KINDS=$OUT
run_v evaluate -m "$TOP/tests/data/families/words_gpt2" --count 3 --json --threads 1
same "… with one thread" "$KINDS" "$OUT"
ok "evaluate the heads of an encoder" evaluate -m "$TOP/tests/data/families/words_bert" --count 3
says "… says what the control is" '^  uniform [0-9.]+; control \(the one behind that\) [0-9.]+ at most$'
"$V" data 0-79 -o shapes-labelled/ --by-class >labelled
ok "a folder of pictures" evaluate --pictures shapes-labelled --count 3
says "which pictures of it" '^The tenth that train would hold out, by their pixels: [0-9]+ of 80'
says "as many as were asked for" ': 3 held-out pictures of shapes-labelled$'
ok "a folder that is wholly a test set" evaluate --pictures shapes-labelled --all --count 100
says "all of it" '^All 80 pictures of the folder, as --all says. There are no 100.$'
says "the figure is over all of it" ': 80 pictures of shapes-labelled$'
ok "a hidden unit over it" screen --size 80x24 -c 'neuron 1.5; neuron measure shapes-labelled/'
says "of how many pictures of which folder" 'of 80 pictures of shapes-labelled'
refused 2 "is about a folder" evaluate --all
refused 2 "takes no 'blah'" run '#66' blah
ok "a list says what it leaves out" show 'guess.*'
says "analyses left out" '^… and [0-9]+ analyses of that name: --all'
check "evaluate with a reader that has enough" [ -z "$({ "$V" evaluate --count 5 | head -n 1 >/dev/null; } 2>&1)" ]
"$V" data 17 -o renamed.png >/dev/null
ok "a drawn picture that was saved" run renamed.png
says "is still that picture" '^drawn as  star$'
refused 2 "takes no 'b.png'" run renamed.png b.png
ok "a telling picture" evaluate --showcase --count 10
says "showcase counts the pictures" ': 10 drawn pictures; without the scale [0-9]+ answers change$'
refused 1 "no labelled pictures are known for this model.*--pictures" evaluate -m "$DATA"
refused 1 "the model has no class" evaluate -m "$DATA" --pictures shapes-labelled
refused 1 "can't be opened" evaluate --pictures missing
refused 2 "takes no 'star'" evaluate star
refused 2 "mean nothing here" evaluate -i '#4'
refused 2 "leave --pictures away" evaluate --showcase --pictures shapes-labelled

ok "a page" help models
says "a table's cell stands behind its column's name" '^ +asked by: the second half, but for its last$'

# --- wrong usage
refused 2 "did you mean 'show'" shwo
refused 2 "there is no file 'x/y.png'" x/y.png
refused 2 "neither a verb nor a file" xyzzyqwert
refused 2 "the drawn picture of that number is '#17'" 17
refused 2 "the pages are models, porting, teaching" help nosuch
refused 1 'translate --vocabulary' run -m translator -i i
refused 2 "did you mean --json" run --jsn
refused 2 "no option -z" run -z
refused 2 "expected FILE" run -o
refused 2 "1x1 to 1000x1000" screen --size 4
refused 2 "from 1 to" verify --sample 0
refused 2 "expected one of" run --colour pink
refused 2 "Choose one of" run --isa avx9
refused 2 "did you mean 'scale'" run '#17 scla=off'
refused 2 "digits of a trace hash" run '@zz'
refused 2 "goes with a verb" --json '#17'
refused 2 "not a terminal" '#17'
refused 2 "not a terminal"

# --- texts about itself
ok --help --help
same "help with no verb fits 80 columns" 0 "$(awk 'length > 80' <<<"$OUT" | wc -l)"
for verb in run show explain why trace screen info verify diff data; do
    says "--help names $verb" "^  $verb "
done
for verb in run show explain why trace screen info verify diff data; do
    ok "$verb --help" "$verb" --help
    says "$verb --help is about it" "^vitrine $verb"
    same "help $verb is the same" "$OUT" "$("$V" help "$verb")"
done
ok --version --version
says "version" '^vitrine [0-9]+\.[0-9]+\.[0-9]+$'
says "kernels in use" '^kernels +[a-z0-9]+ '
ok --man --man
if command -v groff >/dev/null; then
    same "groff has nothing to say about the manual" "" "$(groff -man -Tutf8 -ww <<<"$OUT" 2>&1 >man.txt)"
    check "and it has some pages" [ "$(wc -l <man.txt)" -gt 200 ]
else
    skip "groff is not installed: the manual was not formatted"
fi

# --- where output goes
# stdout_fails PATTERN: the status and message of the command before
stdout_fails() {
    same "$1: status" 1 "$2"
    same "$1: one line" 1 "$(wc -l <err)"
    check "$1: '$(cat err)'" grep -q '^vitrine: standard output' err
}
for words in run "show logits" --help "show logits -o -" "screen" "trace -o -" --man; do
    # shellcheck disable=SC2086
    "$V" $words >/dev/full 2>err; stdout_fails "$words >/dev/full" $?
    # shellcheck disable=SC2086
    "$V" $words >&- 2>err; stdout_fails "$words, standard output closed" $?
done
"$V" trace -o - 2>err | true
stdout_fails "a reader that has ended" "${PIPESTATUS[0]}"
same "all descriptors closed" 1 "$("$V" run <&- >&- 2>&-; echo $?)"
same "standard error closed" 0 "$("$V" run 2>&- <&- >out; echo $?)"
check "the answer is whole without standard error" grep -q "$H" out
same "an error with standard error closed" 2 "$("$V" shwo 2>&- <&- >out; echo $?)"
same "nothing goes elsewhere instead" 0 "$(wc -c <out)"
refused 1 "folder" show logits -o missing/l.npy
refused 1 "device" run -o /dev/full
mkdir d.npy
refused 1 "folder" show logits -o d.npy
cp t.safetensors old.safetensors
(
    ulimit -f 16
    "$V" trace -c 'set scale off' -o old.safetensors >out 2>err
)
same "a file-size limit: status" 1 $?
check "a file-size limit: message" grep -q 'file-size limit' err
check "the old file is untouched" cmp -s t.safetensors old.safetensors
check "no temporary file is left" [ -z "$(find . -name '.vitrine-*')" ]
check "verbs leave nothing behind" [ ! -e "$HOME" ] && [ ! -e "$XDG_STATE_HOME" ]

# --- signals: the program ends as the signal says, at once
# ended WHAT: the last background program, which gets SIGTERM, ends within 3 s with status 143
ended() {
    local pid=$! start=$SECONDS
    sleep "$2"
    kill -TERM "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    same "$1: status" 143 $?
    check "$1: at once" [ $((SECONDS - start)) -le 4 ]
}
mkfifo quiet
sleep 20 >quiet &
writer=$!
"$V" run -i - <quiet >out 2>err &
ended "waiting for a picture" 0.3
kill $writer 2>/dev/null
model=$TOP/build/models/vit-b16
if [ ! -e "$model/model.safetensors" ] && [ -x "$BIN/make_vit" ]; then
    model=$T/b16
    "$BIN/make_vit" --size b16 --seed 1 -o "$model" >/dev/null || fail "make_vit"
fi
if [ -e "$model/model.safetensors" ]; then
    "$V" verify -m "$model" >out 2>err </dev/null &
    ended "computing with a large model" 2
    same "nothing is printed when it is cancelled" 0 "$(cat out err | wc -c)"
    ok "a large model, sampled" verify -m "$model" --sample 3
    says "a large model is equal" '^All equal'
else
    skip "no large model: make vit-b, or build make_vit beside the program"
fi

# --- sentences
ok "a translation" translate "the animal did not cross the street because it was too tired"
says "the pronoun of the animal" "^l'animal n'a pas traversé la rue parce qu'il était trop fatigué$"
ok "another adjective" translate the animal did not cross the street because it was too wide
says "the pronoun of the street" "^l'animal n'a pas traversé la rue parce qu'elle était trop large$"
ok "a translation under changes" translate "the cat is tired" -c 'set scale off; word tired wide'
says "of the sentence that they leave" "^le chat est large$"
says "the changes" '^with set scale off$'
"$V" translate --json "the cat is tired" -c 'set scale off' >with 2>err
check "translate --json: the changes" grep -qF '"changes":["set scale off"]' with
refused 1 "no node 'foo'" translate "the cat is tired" -c 'ablate foo'
refused 1 "'elephant' is none of the .* words" translate "the elephant is red" -c 'set scale off'
"$V" translate --json "the old cat is not red" >with 2>err
"$V" translate --json --no-cache "the old cat is not red" >without 2>err
same "the same without the cache" "$(sed 's/"steps".*//' with)" "$(sed 's/"steps".*//' without)"
check "the cache saves nothing" [ "$(sed -E 's/.*"multiply_adds":([0-9]+).*/\1/' with)" -lt "$(sed -E 's/.*"multiply_adds":([0-9]+).*/\1/' without)" ]
refused 1 "'elephant' is none of the .* words" translate "the elephant is red"
refused 1 "'aminal' is not a word .* 'animal' is" translate "the aminal is red"
ok "a sentence, verified" verify "the cat is tired"
says "every cell of it is equal" 'bit for bit'
PRONOUN="the animal did not cross the street because it was too tired"
ok "what each part wrote into a word" ledger -m translator -i "$PRONOUN" "logits[t=qu',v=il]"
says "against its rival" "^logits\[t=10,v=il\] − logits\[t=10,v=elle\] = 5\.97"
says "a head that looks at what is read" '^ +dec 2 cross head 2 +0\.455'
says "rounding is all that is left" '^ +remainder +-?[0-9.]+e-0[5-9]'
ok "against a rival that a command names" ledger -m translator -i "$PRONOUN" "logits[t=qu',v=il]" -c "ledger il against=le"
says "it is the one" "^logits\[t=10,v=il\] − logits\[t=10,v=le\] = "
ok "why a word" why -m translator -i "$PRONOUN" "logits[t=qu',v=il]"
says "what is the same for all" 'is the same for every text'
ok "what training left of the translator" screen -m translator -i "$PRONOUN" -c 'attention decoder.blocks.2.cross_attn; training last' --size 120x40 -o film.txt
check "the film of the translator" grep -q 'recorded while training, step 2000' film.txt
ok "where heads of words look" screen -m translator -i "$PRONOUN" -c heads --size 120x40 -o far.txt
check "what uniform attention would give" grep -q 'uniform' far.txt
refused 1 'there is no word to read: give a sentence' translate ''
refused 1 'at most 256 words: shorten it' translate "$(printf 'cat %.0s' $(seq 300))"
for verb in ledger why explain; do
    ok "$verb: a row of logits" $verb -m translator -i "$PRONOUN" "logits[t=qu']"
    says "$verb: of that row's answer" "logits\[t=10,v=il\]"
done
refused 1 "'zebra' is none of the .* words" ledger -m translator -i "the zebra is tired" "logits[t=0,v=le]"
refused 2 'give one or the other' translate --beam 3 --temperature 1 "the cat is red"
refused 2 'name a sentence' translate
ok "the vocabulary" translate --vocabulary
says "a word of it" '(^| )animal( |$)'

# --- a text model of one's own, and what is said of text
has_no() { ! grep -qiwE "$@"; }
cp -r "${DATA%/*}/encdec" typed
chmod -R u+w typed
ok "without an input it reads words of its own" run -m typed
refused 1 "'99'|there is no word 99" run -m typed "3 99"
sed -i 's/"final_norm"/"finalnorm"/' typed/config.json
refused 1 '"finalnorm" is not known' info -m typed
sed -i 's/"finalnorm": true/"final_norm": "yes"/' typed/config.json
refused 1 '"final_norm" must be true or false' info -m typed
for verb in run info why ledger explain verify; do
    "$V" $verb --json -m translator -i "the cat is tired" >words.json 2>err
    check "$verb --json of words says nothing of pictures" [ -s words.json ]
    check "$verb --json of words names no class" has_no 'pictures?|patch(es)?|pixels?|class(es)?|r[0-9]c[0-9]' words.json
done

# --- encoders: words at masks, two segments, vectors
FAMILIES=${DATA%/oracle/*}/families
cp -r "$FAMILIES/words_bert" "$FAMILIES/words_minilm" .
chmod -R u+w words_bert words_minilm
printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' the cat sat on mat dog a . '##s' it is rained street wet >words_bert/vocab.txt
cp words_bert/vocab.txt words_minilm
ok "a word that was taken out" run -m words_bert -i "it rained. | the street is [MASK]"
says "is what the answer is of" '^At \[MASK\] '
says "segments, each ended" '^ +9 \[SEP\]#2 '
says "does one follow the other" 'second segment follows the first: 0\.[0-9]+, it does not: 0\.'
ok "one text without a mask" run -m words_bert -i "the cats"
says "what the lines are" 'No \[MASK\] stands in the text'
has_not() { ! grep -qE "$1" <<<"$OUT"; }
check "one text has no second segment" has_not 'second segment'
refused 1 'at most two segments' run -m words_bert -i "a | a | a"
refused 1 'both texts by number' run -m words_bert -i "ids:3 | a"
ok "two segments by number" run --json -m words_bert -i "ids:3,4 | ids:5"
APART=$(sed 's/"input":"[^"]*",//' <<<"$OUT")
ok "…without blanks beside the line" run --json -m words_bert -i "ids:3,4|ids:5"
check "…are the same" [ "$APART" = "$(sed 's/"input":"[^"]*",//' <<<"$OUT")" ]
refused 1 'at most two segments' run -m words_bert -i "ids:3|ids:4|ids:5"
cp -r "$FAMILIES/words_t5" "$FAMILIES/words_bart" .
chmod -R u+w words_t5
tail -c +2 "$TOP/tests/fuzz/corpus/tokenizer/spm_unigram" >words_t5/spiece.model
sed -i 's/"eos_token_id": 1/"eos_token_id": 2/' words_t5/config.json
ok "a text for T5, cut by its SentencePiece model" write -m words_t5 -i "a ab</s>" --steps 3
ok "…as tokens" tokens -m words_t5 -i "a ab"
ok "the same by number" tokens --json -m words_t5 -i "a ab"
IDS=$(sed 's/.*"ids":\[\([0-9,]*\)\].*/\1/' <<<"$OUT") PIECES=$(grep -o '"pieces":\[[^]]*\]' <<<"$OUT")
ok "numbers are taken as numbers" tokens --json -m words_t5 -i "ids:$IDS"
check "…and stay what they are, with their pieces" grep -qF "\"ids\":[$IDS],$PIECES" <<<"$OUT"
cp -r "$FAMILIES/words_gpt2" bytes
chmod -R u+w bytes
printf '%s' '{"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"decoder":{"type":"ByteLevel"},' \
    '"model":{"type":"BPE","vocab":{"Ġ":1,"a":2,"b":3,"Ġa":4},"merges":["Ġ a"]}}' >bytes/tokenizer.json
for verb in tokens run "screen --size 80x24"; do
    ok "$verb of a byte-level vocabulary" $verb -m bytes -i "b a"
    says "…says what its signs are" 'Ġ(:| is) a blank.*Ċ(:|) a line'
done
ok "…two texts of them" tokens -m words_t5 -i "ids:${IDS%%,*}|ids:${IDS##*,}"
check "…a line for each" [ "$(grep -cE '^ +[0-9]+ ' <<<"$OUT")" = 2 ]
refused 1 'there is no piece 99999: ' tokens -m words_t5 -i ids:99999
refused 1 'behind ids: there are numbers' tokens -m words_t5 -i "ids:3 x"
ok "…with what is written so far, and no end behind it" run -m words_t5 -i "a ab > b" --json
check "…three rows" [ "$(grep -o '"after":"[^"]*"' <<<"$OUT" | tr '\n' ' ')" = '"after":"<unk>" "after":"▁" "after":"b" ' ]
ok "…and a row of what is to follow it" run -m words_t5 -i "a ab > b"
says "…the last one" '^After b \(t=2, the last token\)'
ok "two words to look at: what stands out is more than half of it" screen -m words_t5 -i "ids:3,4 > ids:5" --size 140x30 -c 'goto decoder.blocks.0.cross_attn.pattern; view sentence'
says "…and that is said" 'lines: > 75 %, halfway from uniform to all'
ok "one word to look at" screen -m words_t5 -i "ids:3 > ids:5" --size 120x30 -c 'goto decoder.blocks.0.cross_attn.pattern; view sentence'
says "…gets everything" 'of one word every weight is 100 %'
ok "a text for BART by number" run -m words_bart -i "ids:12,5 > ids:1,4"
ok "…which it answers itself" translate -m words_bart "ids:12,5" --words 4
refused 1 'there is no word 19' run -m words_bart -i "ids:19"
ok "another word, as a piece" run -m words_bert -i "the cat is [MASK]" -c 'word cat dog'
says "in place of the first" 'ids:2,5,10,15,4,3, '
refused 1 "'horse' is no single piece" run -m words_bert -i "the cat" -c 'word cat horse'
ok "two vectors" embed -m words_minilm -i "the cat sat" "the dog sat on a mat"
sums() { awk '/cosine$/ {n++} $1 ~ /^[0-9]+$/ {own[n] += $3; of[n] += $4} /^cosine/ {c = $2}
    function far(a, b) {return (a - b) ^ 2 > 1e-7}
    END {exit n != 2 || far(own[1], 1) || far(own[2], 1) || far(of[1], c) || far(of[2], c)}' <<<"$OUT"; }
check "what tokens carry adds up to 1, and to the cosine" sums
says "which length is which" '^length [0-9.]+ before Normalize; embedding_unit is it at length 1$'
cp -r words_minilm words_cut && echo '{"max_seq_length": 3}' >words_cut/sentence_bert_config.json
ok "a text longer than its program reads" embed -m words_cut -i "ids:1,2,3,4"
says "that is said" '^read whole: its own program cuts these 4 tokens at 3$'
ok "one that is not" embed -m words_cut -i "ids:1,2,3"
check "nothing is said" [ "$(grep -c 'read whole' <<<"$OUT")" = 0 ]
ok "what the file says" info -m words_cut
says "where" 'by sentence_bert_config.json its own program cuts a text at 3 tokens'
rm words_cut/sentence_bert_config.json
echo '{"truncation": {"max_length": 2}, "model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}}' >words_cut/tokenizer.json
ok "the tokeniser's own limit" embed -m words_cut -i "ids:1,2,3"
says "that is said too" 'cuts these 3 tokens at 2$'
ok "numbers for programs" embed -m words_minilm --json -i "ids:3,4"
says "all of them" '"direction":\[(-?[0-9.e-]+,){15}-?[0-9.e-]+\]'
refused 1 'makes no vector of a text' embed -m "$FAMILIES/words_gpt2" -i "3 4"
refused 2 'which model and text' embed -m words_minilm
refused 2 '3 texts: embed compares two' embed -m words_minilm -i a b c
ok "two texts without -i" embed -m words_minilm "the cat" "the dog"
says "their cosine" '^cosine '
says "tokens count from 0" '^ +0 \[CLS\] '
ok "how a vector is made" info -m words_minilm
says "the mean, and its length" '^vector +of a text: the mean of the last tokens, brought to length 1 \(Normalize\)'
says "no text was given" '^input +ids:.*none was given: -i TEXT'
cp -r words_minilm words_max && sed -i 's/"pooling_mode_mean_tokens": true/"pooling_mode_mean_tokens": false/; s/"pooling_mode_max_tokens": false/"pooling_mode_max_tokens": true/' words_max/1_Pooling/config.json
refused 1 'modules.json asks for what is not computed here' embed -m words_max -i a
ok "which it asks for" info -m words_max
says "its name" 'not computed here \(pooling_mode_max_tokens\): a text has no vector'
ok "two texts on the screen" screen -m words_minilm -i "the cat sat" -c 'pin; open "the dog sat on a mat"' --size 120x40 -o two.txt
cosine=$("$V" embed -m words_minilm "the cat sat" "the dog sat on a mat" | sed -n 's/^cosine \([0-9.]*\) .*/\1/p')
check "their cosine, as embed has it" grep -qF "cosine of A's vector and B's $cosine" two.txt
check "and said when it is opened" grep -q '8 tokens read. The cosine of its vector with A' two.txt
ok "one text on the screen" screen -m words_minilm -i "the cat sat" --size 120x40 -o one.txt
check "how to see a cosine" grep -q 'pin, open TEXT: the cosine of two' one.txt
ok "a token in brackets under the cursor" screen -m words_bert -i "the cat is [MASK]" -c 'goto encoder.tokens' --size 120x40 -o mask.txt
check "has them once" eval 'grep -qF "|[MASK]|" mask.txt && ! grep -qF "[[" mask.txt'
check "what an encoder reads is no source" eval 'grep -q "words read" mask.txt && ! grep -q source mask.txt'
ok "an encoder's rows have s" run -m words_bert -i "the cat"
says "the hint has it" '^At \[CLS\] \(s=0\); another row: --at .logits\[s=3\]'
ok "and its JSON says at" run --json -m words_bert -i "the cat"
says "not after" '"at":"\[CLS\]"'
ok "numbers as they are typed are a text" run -m words_bert -i "464, 3290"
says "which is said" 'read as a text of digits; by number it is -i ids:1,2,3'
ok "a text with a number in it is one" run -m words_bert -i "the cat 3"
check "and nothing is said" has_not 'text of digits'
refused 1 'a ledger takes embedding\[d\] or a cell of the residual stream, such as encoder.blocks.0.resid_post\[s,d\]' ledger -m words_bert -i "the cat" 'logits[s=1,v0=dog]'
ok "what the message names" ledger -m words_bert -i "the cat" 'encoder.blocks.0.resid_post[s=1,d=0]'
refused 2 'write -m gpt2 -i ids:464,3290' write -m "$FAMILIES/words_gpt2"
refused 1 'an encoder writes nothing' write -m words_bert -i "the cat"
refused 1 'no answer in words' run -m words_minilm -i "the cat" -c lens
for model in words_bert words_minilm; do
    for verb in run info why explain verify; do
        at=
        [ $verb != why ] && [ $verb != explain ] || at=embedding[d=1]
        "$V" $verb --json -m $model -i "the cat sat | a mat" ${at:+--at "$at"} >words.json 2>err
        check "$verb --json of $model says nothing of pictures" [ -s words.json ]
        [ $verb != info ] || sed -i "s/Hugging Face's class//g" words.json # which a program is called
        check "$verb --json of $model names no class and nothing that is next" has_no 'pictures?|patch(es)?|pixels?|class(es)?|next|r[0-9]c[0-9]' words.json
    done
done

# --- how probable a text is
ok "one text" score -m "$FAMILIES/words_llama" ids:1,2,3,7
says "its first token is given" '^ +0  w1 +given$'
"$V" run --json -m "$FAMILIES/words_llama" -i ids:1,2,3,7 --at 'logits[t=1]' >row.json
p=$(tr '{' '\n' <row.json | sed -n 's/^"index":3,.*"probability":\([0-9.e-]*\),.*/\1/p')
near() { awk -v a="$1" -v p="$2" 'BEGIN {d = a + log(p); exit !(p > 0 && d < 1e-4 && d > -1e-4)}'; }
check "a token's is minus the log of its probability ($p)" near "$(sed -n 's/^ *2  w3 *//p' <<<"$OUT")" "$p"
sum() { awk '$3 ~ /^[0-9.]+$/ && $1 ~ /^[0-9]+$/ {s += $3} /^−log p/ {t = $3} END {exit !(t > 0 && (s - t) ^ 2 < 1e-6)}' <<<"$OUT"; }
check "they add up to the text's" sum
refused 1 "translator cuts no words into pieces: .vitrine translate --vocabulary -m translator." tokens -m translator -i cat
ok "what it says instead" translate --vocabulary -m translator
refused 1 'reads no other text to translate: .vitrine write -m' translate -m "$FAMILIES/words_gpt2" ids:1,2,3
refused 1 'an encoder writes nothing' translate -m "$FAMILIES/words_minilm" ids:1,2,3
ok "a translation as long as the model takes" translate -m "$FAMILIES/words_bart" ids:5,7
says "where it was cut" '^cut at [0-9]+ words: the model writes no more'
refused 1 'reads texts, and the exercise is a Vision Transformer' exercise -m translator -o none.py
refused 1 'this model reads no text' screen -c 'view stream'
# where a screen has nothing to show, what is said leads to what there is
refused 1 'turns queries and keys by their place, .goto decoder.blocks.0.self_attn.q_turned' screen -m "$FAMILIES/words_llama" -i ids:1,2 -c 'view positions'
ok "there they are" screen -m "$FAMILIES/words_llama" -i ids:1,2 -c 'goto decoder.blocks.0.self_attn.q_turned'
refused 1 'adds a bias of places to the scores, .goto decoder.alibi' screen -m "$FAMILIES/words_bloom" -i ids:1,2 -c 'view positions'
ok "there it is" screen -m "$FAMILIES/words_bloom" -i ids:1,2 -c 'goto decoder.alibi'
refused 1 'has experts: name one and its unit, 0.0.1' screen -m "$FAMILIES/words_mixtral" -i ids:1,2 -c 'neuron 0.1'
ok "a unit of an expert" screen -m "$FAMILIES/words_mixtral" -i ids:1,2 -c 'neuron 0.0.1'
ok "there are the hidden numbers" screen -m "$FAMILIES/words_mixtral" -i ids:1,2 -c 'experts; in'
says "of the experts" 'mlp\.experts\.post'
refused 1 "no command 'stream'; did you mean 'view stream'" screen -c stream
for model in mixtral olmoe qwen3_moe; do ok "the wiring of experts: $model" screen -m "$FAMILIES/words_$model" -i ids:1,2,3 -c wiring; done
refused 1 'no answer in words' screen -m "$FAMILIES/words_minilm" -i ids:1,2 -c 'lens tokens'
ok "a minimal pair" score -m translator "the cat is tired > le chat est fatigué" "the cat is tired > la chat est fatigué"
says "where they part" '^\* +1  le +0\.1109  la +7\.3031 +-7\.1922$'
says "which is the more probable" '^A is the more probable by 12\.49'
ok "texts of two lengths" score --json -m "$FAMILIES/words_llama" ids:1,2,3 ids:1,2
says "for programs" '"difference":[0-9.]+\}'
says "the first token is the same" '"first_tokens_differ":false'
ok "texts that begin otherwise" score -m "$FAMILIES/words_llama" ids:4,2,3 ids:1,2,3
says "compared is the rest" '^Their first tokens differ and are not counted: compared is what follows them\.$'
"$V" score --json -m "$FAMILIES/words_llama" ids:4,2,3 ids:1,2,3 >begins.json
check "score --json: they begin otherwise" grep -q '"first_tokens_differ":true' begins.json
"$V" score --help | tr '\n' ' ' >help.txt
check "score --help: what is given" grep -q 'without a start token given the first token' help.txt
ok "texts that part and meet again" score -m "$FAMILIES/words_llama" ids:1,2,3,7,8 ids:1,2,4,5,7,8
says "the first other token has its difference" '^\* +2  w3 +[0-9.]+  w4 +[0-9.]+ +≈?-?[0-9.]+$'
says "one more has none" '^\* +3 +w5 +[0-9.]+$'
says "then they meet" '^ +4  w7 +[0-9.]+  w7 +[0-9.]+ +≈?-?[0-9.]+$'
ok "a text that the model cannot read to its end" score -m "$FAMILIES/words_gpt2" ids:1,2,3,4,5,6,7,8,9,10,11,12,13
says "its last token is asked for" '^ +12  w13 +[0-9.]+$'
says "of all but the first" 'nats over 12 tokens'
ok "and beside another" score -m "$FAMILIES/words_gpt2" ids:1,2,3 ids:1,2,3,4,5,6,7,8,9,10,11,12,13
refused 1 'a text of 14 tokens is longer than the 12 that the model takes' score -m "$FAMILIES/words_gpt2" ids:1,2,3,4,5,6,7,8,9,10,11,12,13,14
refused 1 'gives none a probability' score -m words_bert "the cat"
refused 1 'a text of one token has no probability' score -m "$FAMILIES/words_llama" ids:1
ok "under a change" score -m "$FAMILIES/words_llama" ids:1,2,3 ids:1,2,3 -c 'set scale off'
says "which is said" '^with set scale off$'
says "of two that are the same" '^A and B are equally probable\.$'
"$V" score --json -m "$FAMILIES/words_llama" ids:1,2,3 -c 'set scale off' >changed.json
"$V" score --json -m "$FAMILIES/words_llama" ids:1,2,3 >trained.json
check "score --json: the changes" grep -qF '"changes":["set scale off"]' changed.json
check "score --json: none" grep -qF '"changes":[]' trained.json
differs() { [ "$(grep -o '"nats":[0-9.]*' "$1" | head -1)" != "$(grep -o '"nats":[0-9.]*' "$2" | head -1)" ]; }
check "score: the change is in force" differs changed.json trained.json
refused 1 'has no probability that is a number. NaN begins at decoder.blocks.0.resid_post' score -m "$FAMILIES/words_llama" ids:1,2,3 -c 'set decoder.blocks.0.resid_post[t=1,d=0] nan'
ok "the stream, not a number" screen -m "$FAMILIES/words_llama" -i ids:1,2,3 -c 'set decoder.blocks.0.resid_post[t=1,d=0] nan; view stream' --size 120x40
says "the stream: NaN has no rank" 'NaN: no rank'
refused 2 '3 texts: score compares two' score -m "$FAMILIES/words_llama" ids:1 ids:2 ids:3
refused 2 'which model and text' score "a cat"

# --- what carries the difference of two inputs: as a page, a table for other programs and JSON the same numbers
ok "patching" patching -m "$FAMILIES/words_gemma2" ids:5,12,7,3 ids:5,12,9,3
says "after the last token" ' after w3: '
ok "patching after a token that was chosen" patching -m "$FAMILIES/words_gemma2" ids:5,12,7,3 ids:5,12,9,3 -c 'goto logits[t=2]'
says "which number it is about" '^The logit of 7 less that of 9 after w9: 18\.74268 in A, -17\.84952 in B\.$'
says "a row for each head and MLP" '^  dec 1 self head 2 +0\.94796 +2\.59 % +0\.59546 +-0\.35250$'
says "how far the gradient is off" '^The gradient is off by 0\.42203 on average, .*; correlation 0\.957\.$'
ok "patching into a file" patching -m "$FAMILIES/words_gemma2" ids:5,12,7,3 ids:5,12,9,3 -c 'goto logits[t=2]' -o patching.csv
same "its columns" "place,address,block,head,token,measured,share,gradient,error" "$(head -1 patching.csv)"
same "a line for each" 11 "$(wc -l <patching.csv)"
check "which cells" grep -qE '^"dec 1 self head 2","decoder\.blocks\.1\.self_attn\.z\[h=2\]",1,2,,0\.94[0-9]+,0\.0259[0-9]+,0\.595[0-9]+,-0\.352[0-9]+$' patching.csv
ok "patching as JSON" patching --json -m "$FAMILIES/words_gemma2" -i ids:5,12,7,3 ids:5,12,9,3 -c 'goto logits[t=2]; patching tokens head=1'
says "what is patched" '"patched":"head","of":"7","against":"9","after":"w9","in_a":18\.7'
says "token by token" '^\{"place":"dec 1 self head 1 at w9","address":"decoder.blocks.1.self_attn.z\[h=1,t=2\]","block":1,"head":1,"token":2,"measured":-0\.29'
ok "patching of pictures" patching '#17' '#4' -c 'patching tokens of=star' -o stream.csv
same "every token of every block" $((4 * 65 + 1)) "$(wc -l <stream.csv)"
refused 1 'must be of one length' patching -m translator "the cat is tired" "the cat is very tired"
refused 2 '1 input: patching puts' patching -m translator "the cat is tired"
refused 1 'this sheet is no tensor: .vitrine patching A B -o sheet\.csv. writes its numbers' screen '#17' -c 'pin; open #4; patching; export sheet.csv'
check "nothing else is written" test ! -e sheet.csv
refused 2 "takes no --at: -c 'patching tokens head=3'" patching '#17' '#4' --at blocks.0

ok "no ledger of a shorter text" screen -m "$FAMILIES/words_llama" -i ids:1,2,3,4 -c 'ledger; pin; open ids:1,2' --size 200x24
says "why: the lengths" 'No ledger on this side: A has 4 tokens, B 2'
says "and no difference" 'No difference: there is no ledger of both'

# --- decoders: the answer is what comes after the last token; lists of numbers have no holes
W=$(cd "${DATA%/*}/../families" && pwd)
ok "run of a decoder" run -m "$W/words_llama" -i ids:1,2,3
says "run: the last token's row" '^After w3 \(t=2, the last token\); another row: --at .logits\[t=0\]'
says "run: it is marked" '^>   2 w3 '
"$V" run --json -m "$W/words_llama" -i ids:1,2,3 >last.json
check "run --json: the last token's row" grep -q '"row": *2' last.json
ok "run --at" run -m "$W/words_llama" -i ids:1,2,3 --at 'logits[t=0]'
says "run --at: that row" '^After w1 \(t=0\)'
ok "info of a text" info -m "$W/words_llama" -i ids:1,2,3
says "its costs are of so many tokens" '^one pass .* of 3 tokens$'
ok "a census that is asked to speak" screen --size 100x40 -c 'option pictures 500; census; say'
says "speaks of what it shows" 'Without head [0-9] of block [0-9]'
ok "a census of both stacks" screen -m "$W/words_t5" -i ids:1,2,3 -c census --size 100x30
says "why heads are not measured" 'not measured: not in the ledger'
ok "ledger of a decoder" ledger -m "$W/words_llama" -i ids:1,2,3
says "of what less is measured at one token" '^  of a head, an MLP, the word and its position: '
ok "ledger of experts" ledger -m "$W/words_mixtral" -i ids:1,2,3
says "why an expert has no less" '^An expert has no'
says "ledger: the last token's row" '^logits\[t=w3,'
ok "why of a decoder" why -m "$W/words_llama" -i ids:1,2,3
says "why: the last token's row" '^logits\[t=w3,'
ok "write until the model is full" write -m "$W/words_gpt2" -i ids:1,2,3
says "write: cut by the length" '^cut: the model takes 12 tokens, and they are all read \(3 given, 9 written before the last\)'
ok "write more than any model takes" write -m "$W/words_gpt2" -i ids:1,2,3 --steps 1000000
says "write: what this one takes" '^cut: the model takes 12 tokens'
ok "the tree where a model is full" screen -m "$W/words_gpt2" -i ids:1,2,3 -c decode --size 120x30
says "decode: what this one takes" 'cut: the model takes 12 tokens'
ok "write less than that" write -m "$W/words_gpt2" -i ids:1,2,3 --steps 4
says "write: cut by --steps" '^cut at 4 words \(--steps\): the model had not come to an end'
ok "write without an end word" write -m "$W/words_llama" -i ids:1,2,3 --steps 4
says "write: there is none" '^cut at 4 words \(--steps\): this model has no end word'
ok "who gets which expert" screen -m "$W/words_qwen3_moe" -i ids:3,4,5,6,7,8,9,10,11 --size 100x24 -c 'experts; move right 5'
"$V" show -m "$W/words_qwen3_moe" -i ids:3,4,5,6,7,8,9,10,11 decoder.blocks.0.mlp.weights -o weights.csv >/dev/null
GETS=$(awk -F, 'NR > 1 { n += $7 > 0 } END { print n }' weights.csv)
says "how often expert 5 is chosen, as its column of weights has it" "Expert 5 is chosen for $GETS of 9 tokens; were all chosen alike, for 3.0"
refused 1 'this model has no experts' screen -m "$W/words_gpt2" -i ids:1,2,3 -c experts
refused 1 'block 1 has no experts' screen -m "$W/words_qwen3_moe" -i ids:1,2,3 -c 'experts 1'
ok "a model without a factor on its scores" explain -m "$W/words_gpt_neo" -i ids:1,2,3 'decoder.blocks.0.self_attn.scale[h=0]'
says "the factor is 1, and no 1/√d_k is claimed" '^1: this model was trained with its scores as they are'
refused 1 'no factor on its scores to take away' run -m "$W/words_gpt_neo" -i ids:1,2,3 -c 'set scale off'
ok "what the refusal says instead" run -m "$W/words_gpt_neo" -i ids:1,2,3 -c 'set scale x0.5'
ok "write with a head off" write -m "$W/words_gpt2" -i ids:1,2,3 --steps 4 -c 'ablate decoder.blocks.0.self_attn.z[h=1]'
says "the change that it was written with" '^with ablate decoder.blocks.0.self_attn.z\[h=1\]$'
ok "write with a mask" write -m "$W/words_gpt2" -i ids:1,2,3 --steps 4 -c 'mask decoder.blocks.0.self_attn.scores_scaled[t=2,u=0]'
says "why nothing is kept" 'no keys and values kept: a change reaches other tokens'
refused 1 'longer than the 12 that the model takes' write -m "$W/words_gpt2" -i ids:1,2,3,4,5,6,7,8,9,10,11,12,13
"$V" write --json -m "$W/words_gpt2" -i ids:1,2,3 --steps 2 >written.json
check "write --json: the numbers read" grep -qE '"source_ids": *\[1, ?2, ?3\]' written.json
check "write --json: the numbers written" grep -qE '"ids": *\[[0-9]+, ?[0-9]+\]' written.json
check "write --json: cut, not ended" grep -qE '"ended":false,"cut":true' written.json
check "write --json: nothing has ended" eval '! grep -q "\"ended\":true" written.json'
"$V" write --json -m "$W/words_gpt2" -i ids:1,2,3 --steps 2 --memory 64K >little.json
mkdir nan && cp "$W/words_gpt2/config.json" nan/
{ head -c -4 "$W/words_gpt2/model.safetensors"; printf '\0\0\300\177'; } >nan/model.safetensors # its last value
refused 1 'no next word has a probability that is a number' write -m nan -i ids:1,2,3 --temperature 1
refused 1 'has no probability that is a number. NaN begins at ' score -m nan ids:1,2,3 ids:1,2,4
ok "why of what is no number" why -m nan -i ids:1,2,3
says "says where that begins" '^NaN begins at .*as the file has them'
check "in one spelling" eval '! grep -qw nan <<<"${OUT//-m nan/}"'
at=$(od -An -tu8 -N8 nan/model.safetensors) # …and its first
printf '\0\0\300\177' | dd of=nan/model.safetensors bs=1 seek=$((at + 8)) conv=notrunc 2>/dev/null
refused 1 'are NaN: .* can.t be measured' evaluate -m nan --count 3
same "write --memory: the same text" "$(cat written.json)" "$(cat little.json)"
refused 2 'name a text to go on from' write -m "$W/words_gpt2"
refused 2 'found nothing' write -m "$W/words_gpt2" -i ''
refused 2 'from 1 to' write -m "$W/words_gpt2" -i ids:1,2,3 --steps 0
refused 2 'from 64K to' write -m "$W/words_gpt2" -i ids:1,2,3 --memory 1K
refused 1 'and behind 1 comes none' run -m "$W/words_llama" -i ids:1,,2
refused 1 'and behind 2 comes none' run -m "$W/words_llama" -i ids:1,2,
refused 1 'and before the first stands none' run -m "$W/words_llama" -i ids:,1
refused 1 'divides what is read from what is written' run -m "$W/words_llama" -i 'ids:1,2 > ids:3'
refused 1 'divides two segments' run -m "$W/words_llama" -i 'ids:1,2 | ids:3'
refused 1 'divides what is read from what is written' run -m "$W/words_bert" -i 'ids:1,2 > ids:3'
refused 1 'tokenizer.json in the model.s folder' run -m "$W/words_llama" -i 'hello world'
mkdir talk && cp "$W/words_gpt2/config.json" "$W/words_gpt2/model.safetensors" talk/
cat >talk/tokenizer.json <<'EOF'
{"added_tokens": [{"id": 1, "content": "<s>", "special": true}], "pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "always"},
 "decoder": {"type": "Metaspace"}, "model": {"type": "BPE", "vocab": {"<s>": 1, "▁": 2, "t": 3, "h": 4, "e": 5, "c": 6, "a": 7, "th": 8,
 "the": 9, "▁the": 10, "▁c": 11, "at": 12, "▁cat": 13}, "merges": ["t h", "th e", "▁ the", "▁ c", "a t", "▁c at"]}}
EOF
"$V" write --json -m talk -i 'the cat' --steps 3 --temperature 3 --seed 9 >written.json
check "write --json: it was not stopped" grep -qF '"stopped":false' written.json
check "write --json: the blank in front of what was written" grep -qF '"text":" cat catth"' written.json
"$V" write -m talk -i 'the cat' --steps 3 --temperature 3 --seed 9 >written
same "write: what was given, a bar, what was written" 'the cat | cat catth' "$(head -1 written)"
check "write: which probability is which" grep -q 'at temperature 1; drawn with' written
check "write: a head for both" grep -qx '  word                 prob.  drawn with' written
"$V" write --json -m talk -i 'the cat' --steps 3 --top-k 1 >written.json
check "write --json: with what a word was drawn" grep -qE '"share":0[.][0-9]*,"drawn":1,' written.json
"$V" write --json -m talk -i 'the cat' --steps 3 >written.json
check "write --json: nothing drawn" [ "$(grep -c '"drawn"' written.json)" = 0 ]
mkdir bell && cp talk/config.json talk/model.safetensors bell/
echo "{\"model\": {\"type\": \"WordLevel\", \"unk_token\": \"x0\", \"vocab\": {\"x0\": 0$(for i in $(seq 18); do printf ', "\\u0007%d": %d' "$i" "$i"; done)}}}" >bell/tokenizer.json
check "write: a control byte as the names of pieces have it" grep -qE '^(<0x07>[0-9]+ ?)+ [|]( ?<0x07>[0-9]+)+$' <("$V" write -m bell -i ids:3,4 --steps 2)
mkdir $'two\nlines' && cp "$W/words_llama/config.json" "$W/words_llama/model.safetensors" $'two\nlines'
check "run: a folder called by two lines stands in one" grep -qx 'ids:3, two?lines' <("$V" run -m $'two\nlines' -i ids:3)
check "info: it does there too" grep -qE '^model +two[?]lines$' <("$V" info -m $'two\nlines' -i ids:3)
refused 1 'v=: no value; a word with , or \] in it is given by its number, 0 to 18' explain -m "$W/words_llama" -i ids:3 'logits[t=0,v=,]'
refused 1 'a word with \] in it is given by its number' explain -m "$W/words_llama" -i ids:3 'logits[t=0,v=]]'
ok "characters without a piece" tokens -m talk -i 'the cazt é'
says "characters without a piece are counted" '^2 characters have no piece and are left out$'
ok "the same as JSON" tokens -m talk --json -i 'zzz'
says "as JSON" '"ids":.2.,.*"left_out":3}'
echo 'the z' | "$V" tokens -m talk -i - >out 2>err
same "lines: the numbers" '10 2' "$(cat out)"
same "lines: what is left out" 'vitrine: 1 character has no piece and is left out' "$(cat err)"
ok "the screen" screen -m talk -i 'the caztzé' --size 120x24
says "the screen: what is left out" 'left out: "z" "é"'
ok "a file that is not there" screen -m talk -i 'cat.txt' --size 120x24
says "is said" "read as a text: there is no file 'cat.txt' here"
ok "a slash in a sentence" screen -m talk -i 'the cat/the cat' --size 120x24
check "is none" has_not 'there is no file'
"$V" write -m talk -i /nope/cat.png --steps 2 >/dev/null 2>err
check "said beside what is written" grep -q "read as a text: there is no file '/nope/cat.png' here" err
mkdir wobble && sed 's/"type": *"BPE"/"type": "Wobble"/' talk/tokenizer.json >wobble/tokenizer.json
refused 1 'model is "Wobble", which is not known here' tokens -m wobble -i 'the cat'
refused 1 'a text of [0-9]+ tokens is longer than the 12 that the model takes: shorten it' run -m talk -i "$(printf 'the cat %.0s' $(seq 2500))"
refused 1 'a text of [0-9]+ tokens is longer than the 12 that the model takes: shorten it' run -m talk -i "$(printf 'the cat %.0s' $(seq 10))"
refused 1 'has no chat template' tokens -m talk --chat -i 'the cat'
ok "the same without it" tokens -m talk -i 'the cat'
echo '{"bos_token": "<s>", "chat_template": "{{ bos_token }}{% for m in messages %}{{ m.role[0:0] }}the {{ m.content }}{% endfor %}"}' >talk/tokenizer_config.json
ok "tokens --chat" tokens -m talk --chat -i 'user: cat'
says "tokens --chat: what of it is the template's" "10 .*the .* \"the\"  .the chat template's"
says "tokens --chat: and what was said" '13 .*cat .* " cat"$'
"$V" tokens -m talk --chat --json -i 'user: cat | assistant: the' >talk.json
check "tokens --chat --json" grep -qF '{"text":"<s>the catthe the","ids":[1,10,13,9,10]' talk.json
echo 'user: cat' | "$V" tokens -m talk --chat -i - >talk.txt
check "tokens --chat, a talk a line" grep -qx '1 10 13' talk.txt
"$V" score -m talk --chat --json cat >talk.json
check "score --chat" grep -q '"id":13' talk.json
ok "the screen of tokens" screen -m talk --chat -i 'cat' -c 'tokens; move down 2; play next; play next' --size 100x30
says "the screen of tokens: a merge" 'rank +3 .*▁ . c = ▁c'
says "the screen of tokens: by the template" 'by template'
says "the screen of tokens: the normaliser" 'no normaliser changed it'
refused 1 "no word 'theca', which it reads as" screen -m talk -i 'the cat' -c 'ledger theca'
answer_of() { "$V" screen -m talk -i 'the cat the' -c "$1" --size 120x30 | sed -n 's/^A \([^ ]* *[0-9.<]* %\).*/\1/p'; }
alone=$(answer_of 'goto probs')
check "an answer stands in the line" [ -n "$alone" ]
same "pinned beside a shorter text A's answer is still that of its own end" "$alone" "$(answer_of 'goto probs; pin; open "the"')"
ok "and the pane says so" screen -m talk -i 'the cat the' -c 'goto probs; pin; open "the"; view answer' --size 120x30
says "after which token" 'after the last token, A and B'
ok "the screen of surprise" screen -m talk -i 'the cat' -c 'view stream' --size 100x30
says "the screen of surprise: the whole" 'mean .* perplexity .* total'
mkdir pair && cp "$W/words_bart/config.json" "$W/words_bart/model.safetensors" talk/tokenizer.json pair/
ok "word: a target in pieces" screen -m pair -i 'the cat > the the' -c 'word target ▁the#2 cat' --size 100x30
says "word: the source stays, and the words before it" 'Nothing differs before place [0-9]+'
refused 1 'no single piece' screen -m pair -i 'the cat > the' -c 'word target ▁the hat'
refused 2 'chat is of a text' run --chat
# --- where a model ends in a vector, what can be asked for
refused 1 '`ledger embedding.d=0.`' ledger -m "$W/words_bge" -i ids:3,7,1
ok "and it can" ledger 'embedding[d=0]' -m "$W/words_bge" -i ids:3,7,1
refused 1 '`gradient embedding.d=0.`' show grad.encoder.embed --gradient 'logits[v=2]' -m "$W/words_bge" -i ids:3,7,1
ok "and that" show grad.encoder.embed --gradient 'embedding[d=0]' -m "$W/words_bge" -i ids:3,7,1
# --- the lens has the blocks of the stack that answers, here the shallower one
ok "lens tokens beside a deeper encoder" screen -m "$W/words_bart" -i 'ids:5,7,9 > ids:3,4' -c 'lens tokens' --size 100x30
says "its block" '>block 0'
ok "lens beside a deeper encoder" screen -m "$W/words_bart" -i 'ids:5,7,9 > ids:3,4' -c 'lens 0' --size 100x30
check "no row of a block that is not there" [ "$(grep -c 'block 1' <<<"$OUT")" -eq 0 ]
# --- nothing that was typed is passed over
refused 2 'run takes no --steps: it belongs to train, write' run --steps 3
refused 2 'it belongs to show, screen$' info --axes o
refused 2 'without a verb there is no --nodes: it belongs to info' --nodes
refused 2 'takes no --model: .*--config' train -m translator --steps 1 -o never
check "nothing was trained" [ ! -e never ]
refused 2 'takes no --model' data 1 -m translator
refused 2 'takes no --gradient' evaluate --gradient 'logits[o=0]'
refused 2 'brings its own model' lesson 5 --paper -m photos
refused 2 'takes no --count' diff never.npz --open --count 2
refused 2 'is about pictures, and translator reads texts' demo 1 -m translator
refused 2 'is about pictures, and translator reads texts' present heads -m translator
ok "demo: one that brings its own model" demo 6 -m translator
refused 1 "'#17' is a picture, and this model reads words: .*numbers from 0" run -m "$W/words_llama" -i '#17'
refused 1 "'#ship' is a picture, and this model reads words: give a sentence in quotes" run -m translator -i '#ship'
ok "where a tokeniser reads it, #17 is a text" tokens -m talk -i '#17 the'
refused 1 'without --chat' run -m translator --chat -i 'the cat is tired'
head -c 300 "$W/words_llama2c/model.bin" >cut.bin
refused 1 "begins like a model of llama2.c of $(stat -c %s "$W/words_llama2c/model.bin") bytes, and has 300" info -m cut.bin
echo 'the cat' >read.txt
refused 1 'this text is the name of a file: what stands in it is -i .*cat .read.txt' run -m translator -i read.txt
piped() { "$V" "$@" -i - 2>&1; } # standard input as it is
says_piped() { OUT=$(piped "${@:3}"); says "$1" "$2"; }
printf 'the cat\n\n' | piped run -m talk --json >piped.json
"$V" run -m talk -i 'the cat' --json >typed.json
check "a text through a pipe is that text" cmp -s piped.json typed.json
says_piped "write goes on from a pipe" '^the cat \|' write -m talk --steps 2 < <(echo 'the cat')
says_piped "a pipe and turns of a talk" 'cat' run -m talk --chat < <(echo 'user: cat')
says_piped "an empty pipe" 'standard input: is empty' write -m talk < <(:)
says_piped "a pipe of line ends" 'send a word at least' write -m talk < <(echo)
says_piped "a pipe with a byte 0" 'holds a byte 0' write -m talk < <(printf 'a\0b')
run_v write -m talk -i read.txt --steps 1
check "write says that a file's name is not its text" grep -q 'name of a file' err
refused 1 'give a text of one word at least' score -m talk ''
refused 1 "is a model: name it with -m: vitrine write -m 'talk'" write talk 'the cat'
refused 1 "is a model: name it with -m: vitrine -m 'talk'" -i talk
run_v evaluate -m talk --text read.txt --count 2
check "evaluate measures on a text" grep -q 'surprise, −log p of the next token: [0-9]' <<<"$OUT"
run_v evaluate -m talk --text read.txt --count 1 --json
check "one window, and one text: no interval" grep -qE '"windows":1,.*"trained":\[[0-9.]+,null\],"more_without_scale":\[[-0-9.e]+,null\]' <<<"$OUT"
check "of a share neither" grep -q '"margin":\[\[null,null\],\[null,null\]\],"control"' <<<"$OUT"
check "and none is said to be found" [ "$(grep -c '"found":\[\]' <<<"$OUT")" -eq 3 ]
run_v evaluate --count 1 --json
check "nor of one picture" grep -q '"cross_entropy_margin": null' <<<"$OUT"
run_v evaluate --count 1
check "nor on its page" [ "$(grep -cE '±0.00| ±nan' <<<"$OUT")" -eq 0 ]
refused 1 'for models that write' evaluate -m translator --text read.txt
refused 1 'looks at pictures' evaluate --text read.txt
mkdir bare && cp "$W/words_llama2c/model.bin" bare/
refused 1 'tok19.bin or tokenizer.bin beside a .bin of llama2.c' run -m bare/model.bin -i 'hello world'
mkdir alone && cp "$W/words_llama/model.safetensors" alone/
refused 1 'is of a text model, and there is no config.json' info -m alone
cp "$W/words_mingpt/model.safetensors" alone/ # what the refusal says is enough
refused 1 'there is no config.json .*of GPT-2: .*of minGPT: .*"block_size": …, "embd_pdrop"' info -m alone
for broken in '{' '[]'; do # said as of any other file of JSON
    printf '{\n%s' "$broken" >alone/config.json
    [ "$broken" = '[]' ] && printf '[]' >alone/config.json
    refused 1 'alone/config.json: (line 2|expected a JSON object)' info -m alone
done
printf '{"model_type": "ship"}' >alone/config.json
refused 1 'the config.json beside it names no text model' info -m alone
printf '{"block_size": 12, "embd_pdrop": 0, "vocab_size": 19, "n_embd": 16, "n_layer": 2, "n_head": 2}' >alone/config.json
ok "minGPT by what the refusal says" info -m alone
cp "$W/words_gpt2/model.safetensors" alone/ && rm alone/config.json
refused 1 'of GPT-2: {"model_type": "gpt2"' info -m alone
cp "$W/words_bert/model.safetensors" alone/
refused 1 'of BERT: {"model_type": "bert"' info -m alone
refused 1 "did you mean 'decoder.blocks.0.self_attn.q'" explain -m "$W/words_llama" -i ids:1,2 decoder.blocks.0.attn.q
refused 1 "did you mean 'decoder.blocks.1.self_attn.pattern'" explain -m "$W/words_llama" -i ids:1,2 blocks.1.attn.pattern
refused 1 "did you mean 'encoder.blocks.1.self_attn.q'" explain -m "$W/words_bert" -i ids:1,2 blocks.1.attn.q
"$V" info --nodes -m "$W/words_llama" >nodes.txt
"$V" info --nodes --all -m "$W/words_llama" >all.txt
check "info --nodes: no analyses" has_no ' analysis ' nodes.txt
check "info --nodes: says how many are left out" grep -q "^and $(($(wc -l <all.txt) - $(wc -l <nodes.txt) + 1)) nodes of analyses" nodes.txt
check "info --nodes --all: all" test "$(grep -c ' analysis ' all.txt)" -gt 100

# --- the help of a verb begins with its own options
"$V" train --help >help.txt
check "train --help: its options" grep -q '^Its options$' help.txt
check "train --help: one of them" grep -qE '^ +--config FILE +train: the recipe' help.txt
check "train --help: no other verb's" has_no '^ +--tolerance' help.txt
check "train --help: names the common ones" grep -q '^Common options .*vitrine --help' help.txt
check "train --help is short" test "$(wc -l <help.txt)" -lt 40
"$V" lesson --help >help.txt
check "lesson --help: no model, which it refuses" has_no -e '-m/--model' help.txt

# on opening the screen, before there is one
RUN=$BIN/tests/pty/run
if [ -x "$RUN" ]; then
    "$RUN" -k '' "$V" --fresh -c 'export opened.npy logits' '#17' >seen </dev/null
    "$V" show logits -o shown.npy '#17' >/dev/null
    "$RUN" "$V" wrte -m translator -i 'the cat is tired' >mistyped </dev/null
    check "a mistyped verb beside -i" grep -qa "'wrte' is neither a verb nor a node of this model; did you mean 'write'" mistyped
    "$RUN" "$V" logitz -m translator -i 'the cat is tired' >mistyped </dev/null
    check "a mistyped node" grep -qa "there is no node 'logitz'; did you mean 'logits'" mistyped
    check "export on opening: the same values as show" cmp -s opened.npy shown.npy
    check "export on opening: the screen opens" grep -qa '1049h' seen
else
    fail "$RUN is not built"
fi
finish cli
