#!/usr/bin/env bash
# Golden screens: what `vitrine screen` draws for a model with fixed weights, at four sizes. Text as it is, to be read in a diff; colours
# as a checksum of the terminal bytes in 256 colours and without colour.
# golden.sh update: writes them anew. A differing screen is left in build/golden/ as text and as picture (.svg).
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
B=${B:-build/gcc}
VITRINE=$PWD/$B/vitrine
GOLDEN=$PWD/tests/golden
ACTUAL=$PWD/build/golden
update=${1:-}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
"$B/make_vit" --size tiny --seed 7 -o "$WORK/seeded" >/dev/null || { fail "make_vit"; finish golden; exit; }
rm -rf "$ACTUAL"
mkdir -p "$ACTUAL" "$GOLDEN"
SUMS=$GOLDEN/colours.txt
[ "$update" = update ] && rm -f "$GOLDEN"/*.txt
cd "$WORK" || exit 1

# name|address|commands|sizes (all four if empty)|further options
SCREENS="
start||||
picture|image[y=3,x=2]|view picture||
hidden||grey r2c1; view picture||
tensor|blocks.0.attn.q[t=r1c1,h=1]|view tensor||
numbers|blocks.0.mlp.post[t=r0c2]|view numbers||
strip|blocks.1.resid_post[t=cls]|view strip|80x24 120x40|
histogram|blocks.0.mlp.w_up|view histogram|80x24 120x40|
scores|blocks.0.attn.scores_raw[h=1,t=r2c3]|||
pattern|blocks.1.attn.pattern[h=1,t=r2c3]|view matrix||
row|blocks.1.attn.pattern[h=1,t=r2c3]|view row||
sheet|blocks.1.attn.pattern|view sheet||
positions||view positions||
fitted||view positions; view fitted||--resolution 48
explain|blocks.0.attn.scores_raw[h=1,t=r2c3,u=r1c1]|view formula||
closeup|blocks.1.attn.pattern[h=1,t=r2c3,u=r1c1]|view close-up||
closeup_sum|blocks.0.attn.scores_raw[h=1,t=r2c3,u=r1c1]|view close-up; play next; play next; play next; play next; play next|80x24 120x40 200x60|
closeup_norm|blocks.0.ln1.out[t=r1c1,d=3]|view close-up|80x24 120x40 200x60|
closeup_plain|blocks.1.attn.pattern[h=1,t=r2c3,u=r1c1]|view close-up|80x24|--ascii
answer||view answer||
scale_off|blocks.1.attn.pattern[h=1,t=r2c3]|view matrix; set scale off||
ablated|blocks.1.attn.z[h=1]|ablate blocks.1.attn.z[h=1]; compare diff|80x24 120x40|
zoomed|blocks.1.attn.pattern[h=1]|view matrix; zoom|80x24|
ascii|blocks.1.attn.pattern[h=1,t=r2c3]|view matrix; set scale off|80x24 120x40|--ascii
light|blocks.0.attn.q|view heat|80x24|--light
qkv|blocks.0.attn.k[u=r1c1,h=1]||80x24 120x40 200x60|
qkv_ascii|blocks.0.attn.k[u=r1c1,h=1]||80x24|--ascii
qkv_off|blocks.1.attn.q[t=r1c1,h=1]|set scale off|120x40 200x60|
joined|tokens[t=r1c2,d=5]||80x24 120x40 200x60|
joined_light|tokens[t=cls,d=5]||80x24|--light
tiny||view picture|40x10 20x5 8x3 1x1|
"
# what a small model has learned in forty steps: model "learned" instead of "seeded"
LEARNED="
training||training 1|80x24 120x40 200x60|
twin||training twin|80x24|
filters||filters components|80x24 120x40 200x60|
heads||heads|80x24 120x40 200x60|
where||where|80x24 120x40 200x60|
lens||option pictures 500; lens|80x24 120x40 200x60|
laboratory||option pictures 500; laboratory|80x24 120x40 200x60|
laboratory_blocks||option pictures 500; laboratory 8|80x24 120x40|--plots blocks
laboratory_ascii||option pictures 500; laboratory 8|80x24|--ascii
laboratory_light||option pictures 500; laboratory 8|80x24|--light
training_blocks||training 1|120x40|--plots blocks
census||option pictures 500; census|80x24 120x40 200x60|
ledger||ledger|80x24 120x40 200x60|
ledger_head||ledger; block 0; head 1; view next|80x24|--light
ledger_mono||ledger|80x24|--colour mono
blanks||hide r3c4; hide r3c5; blanks|80x24 120x40 200x60|
study_ascii||where|80x24|--ascii
"

# words: the bundled translator and its sentence
WORDS="
text_start||||
text_sentence|decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=1]||80x24 120x40 200x60|
text_heads|encoder.blocks.2.self_attn.pattern[h=0,s=8]|option heads all|80x24 120x40 200x60|
text_sum|decoder.blocks.2.self_attn.pattern[h=0,t=10]|option heads sum|80x24 120x40 200x60|
text_row|decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=6]|view row|80x24 120x40 200x60|
text_matrix|decoder.blocks.2.cross_attn.pattern[h=0,t=7,r=6]|view matrix|80x24 120x40 200x60|
text_mask|decoder.causal_mask[t=5,u=6]|view matrix|80x24 120x40 200x60|
text_waves|encoder.pos_embed[s=3,d=7]|view waves; onward 4|80x24 120x40 200x60|
text_writing|probs[t=10]|view writing|80x24 120x40 200x60|
text_answer|probs[t=10]|view answer|80x24 120x40 200x60|
text_wide|decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=6]|word tired wide|80x24 120x40 200x60|
text_elle|probs[t=10]|word tired wide; view writing|80x24 120x40 200x60|
text_leak|probs[t=13]|word target fatigué fatiguée; view writing|80x24 120x40 200x60|
text_beam||decode beam; move down 3|80x24 120x40 200x60|
text_drawn||decode draw 3 temperature=3; move down 2|80x24 120x40 200x60|
text_lens|probs[t=10]|lens|80x24 120x40 200x60|
text_ledger|logits[t=10,v=il]|ledger|80x24 120x40 200x60|
text_training|decoder.blocks.2.cross_attn.pattern[h=2,t=10]|training 9|80x24 120x40 200x60|
text_heads_far|decoder.blocks.2.cross_attn.pattern[h=2,t=10]|heads|80x24 120x40 200x60|
text_ascii|decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=1]||80x24|--ascii
"

# measured over sentences, of a translator so small that it takes no time
SMALL_WORDS="
words_row|encoder.blocks.0.self_attn.pattern[h=1,s=1]|view row|80x24 120x40|
words_laboratory|decoder.blocks.0.cross_attn.pattern[h=1,t=2]|option pictures 500; laboratory|80x24 120x40 200x60|
words_census|decoder.blocks.0.cross_attn.pattern[h=1,t=2]|option pictures 500; census|80x24 120x40 200x60|
"

# learn FOLDER MODEL: forty steps; the same bytes on every machine
learn() {
    echo "{\"steps\": 40, \"warmup\": 10, \"batch\": 8, \"log_every\": 2, \"check\": 40, \"model\": $2}" >recipe.json
    "$VITRINE" train --config recipe.json -o "$1" >"$WORK/said" 2>&1 </dev/null || fail "$1: not trained: $(cat "$WORK/said")"
}
learn learned '{"width": 32, "layers": 2, "heads": 2, "mlp": 48}'
learn twin '{"width": 32, "layers": 2, "heads": 2, "mlp": 48, "scale": 1}'
cp twin/history.safetensors learned/history-twin.safetensors

draw() { # ADDRESS COMMANDS SIZE OUT OPTION…
    local address=$1 commands=$2 size=$3 out=$4
    shift 4
    "$VITRINE" screen ${address:+"$address"} -m "$MODEL" -i "${INPUT:-#17}" ${commands:+-c "$commands"} --size "$size" -o "$out" "$@" </dev/null >"$WORK/said" 2>&1
}

# shots TABLE: draws and compares every row
shots() {
    while IFS='|' read -r name address commands sizes options; do
        [ -n "$name" ] || continue
        for size in ${sizes:-60x16 80x24 120x40 200x60}; do
            base=$name-$size
            # shellcheck disable=SC2086
            if ! draw "$address" "$commands" "$size" "$WORK/$base.txt" $options; then
                fail "$base: cannot be drawn: $(cat "$WORK/said")"
                continue
            fi
            sums=$base
            for colour in 256 mono; do
                # shellcheck disable=SC2086
                draw "$address" "$commands" "$size" "$WORK/$base.ans" --colour $colour $options || fail "$base in $colour: $(cat "$WORK/said")"
                sums="$sums $(cksum <"$WORK/$base.ans" | awk '{print $1}')"
            done
            if [ "$update" = update ]; then
                cp "$WORK/$base.txt" "$GOLDEN/"
                echo "$sums" >>"$SUMS"
                pass
            elif ! cmp -s "$GOLDEN/$base.txt" "$WORK/$base.txt"; then
                cp "$WORK/$base.txt" "$ACTUAL/"
                # shellcheck disable=SC2086
                draw "$address" "$commands" "$size" "$ACTUAL/$base.svg" $options
                fail "$base: the text differs from tests/golden/$base.txt; see build/golden/$base.svg"
                [ "$FAILED" -le 3 ] && diff "$GOLDEN/$base.txt" "$WORK/$base.txt" | head -n 6
            elif ! grep -qxF -- "$sums" "$SUMS"; then
                # shellcheck disable=SC2086
                draw "$address" "$commands" "$size" "$ACTUAL/$base.svg" $options
                fail "$base: the colours differ: '$sums' is not in tests/golden/colours.txt; see build/golden/$base.svg"
            else
                pass
            fi
        done
    done <<<"$1"
}
MODEL=seeded shots "$SCREENS"
MODEL=learned shots "$LEARNED"
echo '{"kind": "text", "steps": 60, "warmup": 10, "batch": 16, "log_every": 4, "check": 40, "model": {"width": 16, "heads": 2, "mlp": 16, "encoder_layers": 1, "decoder_layers": 1}}' >recipe.json
"$VITRINE" train --config recipe.json -o words >"$WORK/said" 2>&1 </dev/null || fail "words: not trained: $(cat "$WORK/said")"
MODEL=words INPUT='the cat is tired > le chat est' shots "$SMALL_WORDS"
MODEL=translator INPUT='the animal did not cross the street because it was too tired' shots "$WORDS"

if [ "$update" != update ]; then # every golden screen is still drawn by somebody
    same "golden screens" "$(find "$GOLDEN" -name '*-*x*.txt' | wc -l)" "$(grep -c . "$SUMS")"
fi
finish golden
