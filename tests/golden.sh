#!/usr/bin/env bash
# Golden screens: what `vitrine screen` draws for a model with fixed weights, at four sizes, all of them by one process
# (tests/tui_cli/draw.c). Text as it is, to be read in a diff; colours as a checksum of the terminal bytes in 256 colours and without colour.
# golden.sh update: writes them anew. A differing screen is left in build/golden/ as text and as picture (.svg).
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
B=${B:-build/release}
VITRINE=$PWD/$B/vitrine
DRAW=$PWD/$B/tests/tui_cli/draw
GOLDEN=$PWD/tests/golden
ACTUAL=$PWD/build/golden
update=${1:-}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
"$B/make_vit" --size tiny --seed 7 -o "$WORK/seeded" >/dev/null || { fail "make_vit"; finish golden; exit; }
rm -rf "$ACTUAL"
mkdir -p "$ACTUAL" "$GOLDEN"
cd "$WORK" || exit 1

# name|address|commands|sizes (all four if empty)|further options
SCREENS="
start||||
picture|image[y=3,x=2]|view picture||
hidden||grey r2c1; view picture||
patching||pin; open #3; patching; move down|80x24 120x40 200x60|
patching_of_nothing||patching|80x24|
patching_tokens||pin; open #3; patching tokens; move right 3|80x24|--light
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
worked|blocks.1.attn.pattern[h=1,t=r2c3,u=r1c1]|view worked|80x24 120x40 200x60|
why|blocks.1.attn.pattern[h=1,t=r2c3,u=r1c1]|why|80x24 120x40|
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
alike||alike 1 r2c3|80x24 120x40 200x60|
neuron||option pictures 500; neuron 1.5 r2c3; neuron measure|80x24 120x40 200x60|
neuron_ascii||option pictures 500; neuron 0.9; neuron measure|80x24|--ascii
alike_diff||ablate blocks.0.attn.z[h=0]; alike 1 r2c3; compare sides|80x24 120x40 200x60|
alike_ascii||alike start; option alike-first lengths|80x24|--ascii
lens||option pictures 500; lens|80x24 120x40 200x60|
laboratory||option pictures 500; laboratory|80x24 120x40 200x60|
laboratory_blocks||option pictures 500; laboratory 8|80x24 120x40|--plots blocks
laboratory_ascii||option pictures 500; laboratory 8|80x24|--ascii
laboratory_light||option pictures 500; laboratory 8|80x24|--light
training_blocks||training 1|120x40|--plots blocks
census||option pictures 500; census|80x24 120x40 200x60|
ledger||ledger|80x24 120x40 200x60|
ledger_head||ledger; block 0; head 1; average|80x24|--light
ledger_table||ledger; view next|80x24|
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
text_tokens||tokens; move down 2|80x24 120x40 200x60|
text_stream|probs[t=10]|view stream|80x24 120x40 200x60|
text_stream_diff|probs[t=10]|word tired wide; view stream|120x40|
text_beam||decode beam; move down 3|80x24 120x40 200x60|
text_drawn||decode draw 3 temperature=3; move down 2|80x24 120x40 200x60|
text_lens|probs[t=10]|lens|80x24 120x40 200x60|
text_lens_tokens|probs[t=10]|lens tokens|80x24 120x40 200x60|
text_neuron|decoder.blocks.1.mlp.post[t=2]|option pictures 500; neuron 1.37; neuron measure|80x24 120x40|
text_alike|encoder.blocks.1.resid_post[s=animal]|alike|80x24 120x40|
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

# …of a decoder that was given seeded weights, over texts of random tokens
DECODER="
decoder_heads||heads measure; heads; attention 1|80x24 120x40 200x60|
decoder_heads_ascii||heads measure; heads; option head-kind sink|60x16|--ascii
decoder_patching||pin; open ids:5,12,9,3; patching|80x24|
decoder_laboratory||laboratory 8|80x24 120x40|
decoder_neuron||neuron|80x24|
"

# …of one that has learned to write, over the end of its text
WRITER="
writer_laboratory|decoder.blocks.1.self_attn.pattern[h=1]|laboratory 8|80x24 120x40|
writer_neuron|decoder.blocks.1.mlp.post[m=3]|neuron|80x24 120x40|
"

# learn FOLDER RECIPE [OPTIONS]: some steps; the same bytes on every machine
learn() {
    echo "$2" >recipe.json
    "$VITRINE" train --config recipe.json "${@:3}" -o "$1" >"$WORK/said" 2>&1 </dev/null || fail "$1: not trained: $(cat "$WORK/said")"
}
STEPS='"steps": 40, "warmup": 10, "batch": 8, "log_every": 2, "check": 40'
learn learned "{$STEPS, \"model\": {\"width\": 32, \"layers\": 2, \"heads\": 2, \"mlp\": 48}}"
learn twin "{$STEPS, \"model\": {\"width\": 32, \"layers\": 2, \"heads\": 2, \"mlp\": 48, \"scale\": 1}}"
cp twin/history.safetensors learned/history-twin.safetensors
learn words '{"kind": "text", "steps": 60, "warmup": 10, "batch": 16, "log_every": 4, "check": 40, "model": {"width": 16, "heads": 2, "mlp": 16, "encoder_layers": 1, "decoder_layers": 1}}'
for i in $(seq 90); do
    echo "the $((i * i % 7)) cats sleep and the dog $(echo sees hears likes | cut -d' ' -f$((i % 3 + 1))) the $((i % 4)) birds"
done >text.txt
learn writer '{"kind": "decoder", "steps": 200, "warmup": 20, "batch": 16, "log_every": 100, "check": 8, "rate": 0.03, "model": {"words": 280, "context": 24, "width": 16, "layers": 2, "heads": 2, "mlp": 24}}' --text text.txt

# shots MODEL INPUT TABLE: a line of the driver for every row
shots() {
    local name address commands sizes options
    while IFS='|' read -r name address commands sizes options; do
        [ -z "$name" ] || echo "$name|$1|$2|$address|$commands|${sizes:-60x16 80x24 120x40 200x60}|$options"
    done <<<"$3"
}
{
    shots seeded '#17' "$SCREENS"
    shots learned '#17' "$LEARNED"
    shots words 'the cat is tired > le chat est' "$SMALL_WORDS"
    shots decoder 'ids:5,12,7,3' "$DECODER"
    shots writer 'the 4 cats' "$WRITER"
    shots translator 'the animal did not cross the street because it was too tired' "$WORDS"
} >table
mkdir shots && cd shots || exit 1
ln -s ../seeded ../learned ../words ../writer .
ln -s "$GOLDEN/../data/families/words_gemma2" decoder
while IFS= read -r line; do fail "cannot be drawn: $line"; done < <("$DRAW" <../table 2>&1)
rm seeded learned words writer decoder
# name, sum in 256 colours, sum without colour: in the order of the table
cksum -- *.ans | awk 'NR == FNR {sum[$3] = $1; next} {
    n = split($6, size, " ")
    for (i = 1; i <= n; i++) {one = $1 "-" size[i]; print one, sum[one "-256.ans"], sum[one "-mono.ans"]}}' - FS='|' ../table >../sums
if [ "$update" = update ]; then
    rm -f "$GOLDEN"/*.txt
    cp -- *.txt "$GOLDEN/" && cp ../sums "$GOLDEN/colours.txt"
    PASSED=$(wc -l <../sums)
    finish golden
    exit
fi
while read -r line; do
    base=${line%% *}
    if ! cmp -s "$GOLDEN/$base.txt" "$base.txt"; then
        cp "$base.txt" "$ACTUAL/" 2>/dev/null
        fail "$base: the text differs from tests/golden/$base.txt; see build/golden/$base.svg"
        [ "$FAILED" -le 3 ] && diff "$GOLDEN/$base.txt" "$base.txt" | head -n 6
    elif ! grep -qxF -- "$line" "$GOLDEN/colours.txt"; then
        fail "$base: the colours differ: '$line' is not in tests/golden/colours.txt; see build/golden/$base.svg"
    else
        pass
        continue
    fi
    grep "^${base%-*}|" ../table >>../differing
done <../sums
if [ -e ../differing ]; then
    ln -s ../seeded ../learned ../words ../writer .
    "$DRAW" svg <../differing >/dev/null 2>&1
    cp -- *.svg "$ACTUAL/" 2>/dev/null
fi
# the verb draws what the driver does
"$VITRINE" screen 'blocks.1.attn.pattern[h=1,t=r2c3]' -m ../seeded -i '#17' -c 'view matrix' --size 80x24 -o verb.txt </dev/null
check "vitrine screen draws another screen" cmp -s verb.txt "$GOLDEN/pattern-80x24.txt"
# every golden screen is still drawn by somebody
same "golden screens" "$(find "$GOLDEN" -name '*-*x*.txt' | wc -l)" "$(wc -l <../sums)"
finish golden
