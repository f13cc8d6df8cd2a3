#!/usr/bin/env bash
# `vitrine diff`: its exit status, what it prints, and traces written by a program that is not ours.
# VITRINE=build/release/vitrine tests/e2e/diff.sh
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
. tests/files.sh
V=$(realpath "${VITRINE:-build/release/vitrine}")
[ -x "$V" ] || { fail "$V is not built"; finish diff; exit 1; }
TOP=$PWD DATA=$PWD/tests/data/oracle/tiny MAP=$PWD/tests/data/diff/oracle.map
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
export HOME=$T/home XDG_STATE_HOME=$T/state
unset NO_COLOR VITRINE_ISA COLORTERM

# diff_v STATUS PATTERN ARGS…: that status, PATTERN on standard output (or, for 1 and 2, on the one line of standard error)
diff_v() {
    local status=$1 pattern=$2 got
    shift 2
    "$V" diff "$@" >out 2>err </dev/null
    got=$?
    if [ $got != "$status" ]; then
        fail "diff $*: status $got, expected $status: $(tail -c 300 out err)"
    elif [ "$status" = 1 ] || [ "$status" = 2 ]; then
        check "diff $*: no '$pattern' in '$(cat err)', or something on standard output" eval '[ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qE -e "$pattern" err'
    else
        check "diff $*: no '$pattern' in $(tail -n 3 out)" grep -qE -e "$pattern" out
        same "diff $*: standard error" "" "$(cat err)"
    fi
}
says() { check "no '$1' in $(tail -n 3 out)" grep -qE -e "$1" out; }

# --- a trace of our own, of the same run and of another
"$V" trace -m "$DATA" -i "$DATA/image.ppm" -o a.safetensors >/dev/null
"$V" trace -m "$DATA" -i "$DATA/image.ppm" -c 'set scale off' -o off.npz >/dev/null
diff_v 0 '^Same: each of the [0-9]+ tensors' a.safetensors -m "$DATA" -i "$DATA/image.ppm"
diff_v 0 '^Same' a.safetensors -m "$DATA"                                                  # its own input
diff_v 0 '^Same' a.safetensors -m "$DATA" -i a.safetensors:image
diff_v 3 'Different: blocks.0.attn.scale\[h=0\] is a given value that differs' off.npz -m "$DATA" -i "$DATA/image.ppm"
diff_v 0 '^Same' off.npz -m "$DATA" -c 'set scale off' -i "$DATA/image.ppm"
diff_v 3 'Different' a.safetensors off.npz -m "$DATA" -i "$DATA/image.ppm"
same "two traces, two verdicts" 2 "$(grep -cE '^(Same|Different): ' out)"

# --- an independent implementation, with its own names
diff_v 0 '69 tensors compared' "$DATA/expected.safetensors" -m "$DATA" --map "$MAP"
diff_v 0 '69 tensors compared' "$DATA/expected.safetensors" -m "$DATA" --map "$MAP" -i "$DATA/image.ppm"
diff_v 3 'recorded ([-0-9.]+), here .*within what float32 makes of adding in another order' "$DATA/expected.safetensors" -m "$DATA" --map "$MAP" --tolerance 1e-9
check 'two values that differ are printed the same' eval '! grep -qE "recorded ([^ ]+), here \1 " out'
"$V" diff "$DATA/expected.safetensors" -m "$DATA" --map "$MAP" --tolerance 1e-9 --json >strict.json
check 'json: different, and only by rounding' grep -q '"same":false,"rounding":true' strict.json
"$V" diff "$DATA/expected.safetensors" -m "$DATA" --map "$MAP" --json >strict.json
check 'json: the same, and rounding is not spoken of' grep -q '"same":true,"rounding":false' strict.json
diff_v 3 'blocks.0.attn.scores_scaled.*does not multiply the scores by 1/√d_k' "$DATA/whatif_scale_off.safetensors" -m "$DATA" --map "$MAP"
diff_v 3 'blocks.0.mlp.post.*tanh approximation' "$DATA/expected_gelu_tanh.safetensors" -m "$DATA" --map "$MAP"
diff_v 0 '^Same' "$DATA/expected_gelu_tanh.safetensors" -m "$DATA" --map "$MAP" --tolerance 0.01
diff_v 3 'Different: full_embed.*no position embeddings' "$DATA/whatif_no_positions.safetensors" -m "$DATA" --map "$MAP"

# --- what is not compared is not the same
mkdir inputs only && "$V" show image -m "$DATA" -i "$DATA/image.ppm" -o inputs/pixel_values.npy >/dev/null
diff_v 1 'nothing that the model computes' inputs -m "$DATA"
mkdir strange && cp inputs/pixel_values.npy strange/ && "$V" show logits -m "$DATA" -i "$DATA/image.ppm" -o strange/my_answer.npy >/dev/null
diff_v 1 'nothing was compared but inputs: 1 tensor has no name that is known here \(my_answer.*--map' strange -m "$DATA"
echo 'my_answer = logits' >strange.map # the remedy
diff_v 0 '^Same' strange -m "$DATA" --map strange.map
"$V" show blocks.0.attn.q -m "$DATA" -i "$DATA/image.ppm" -o only/blocks.0.attn.q.npy >/dev/null
diff_v 0 'Same: the 1 tensor compared \(1 of the [0-9]+ that the model computes, blocks.0.attn.q\).*Nothing after blocks.0.attn.q was compared' only -m "$DATA" -i "$DATA/image.ppm"
diff_v 1 'logits is required and not among the 1 tensors' only -m "$DATA" -i "$DATA/image.ppm" --require logits
"$V" show logits -m "$DATA" -i "$DATA/image.ppm" -o only/logits.npy >/dev/null # the remedy
diff_v 0 '^Same.*from blocks.0.attn.q to logits' only -m "$DATA" -i "$DATA/image.ppm" --require logits,blocks.0.attn.q
diff_v 1 "no such node" only -m "$DATA" -i "$DATA/image.ppm" --require logit
"$V" info -m "$DATA" --nodes >nodes.txt
check "info --nodes lists every node" grep -qE '^logits +\[c=5\]|^logits .*5' nodes.txt

# --- two models
diff_v 0 '^settings   the same' "$DATA" "$DATA/model_timm.safetensors" -i "$DATA/image.ppm"
says '^weights    40 compared, 0 different'
diff_v 3 'what rounding to a shorter type makes' "$DATA" "$DATA/model_bf16.safetensors" -i "$DATA/image.ppm"
says 'here [-0-9.e]+ \(the tensor.s largest error .*[0-9]+ more tensors differ and were not looked into'
diff_v 0 '^settings   the same' "$DATA/model_timm.safetensors" -m "$DATA" -i "$DATA/image.ppm"
mkdir other && cp "$DATA/model.safetensors" "$DATA/preprocessor_config.json" other/
sed -e 's/"layer_norm_eps": *[^,]*/"layer_norm_eps": 0.001/' -e 's/"hidden_act": *"[^"]*"/"hidden_act": "quick_gelu"/' "$DATA/config.json" >other/config.json
diff_v 3 '^settings +activation +gelu +\| +quick_gelu' "$DATA" other -i "$DATA/image.ppm"
says 'ε of LayerNorm +1e-12 +\| +0.001'
says 'Different: blocks.0.ln1.eps is a given value that differs: recorded'
says 'blocks.0.mlp.post.*quick GELU'

# --- JSON
"$V" diff "$DATA/whatif_scale_off.safetensors" -m "$DATA" --map "$MAP" --json >out
same "JSON's status" 3 $?
says '"cause":"the recording does not multiply the scores by 1/√d_k","whole":true,"rows":2'
says '"node":"blocks.1.mlp.out","recorded":"layer.1.mlp_out","axes":"t,d".*"state":"inherits"'

# --- a program that is not ours: a file of float32 arrays under Hugging Face's names, a tensor with a batch axis, one transposed, one wrong
"$V" show blocks.0.attn.q -m "$DATA" -i "$DATA/image.ppm" -o q.npy >/dev/null
"$V" show blocks.0.attn.z -m "$DATA" -i "$DATA/image.ppm" --axes h,t,e -o z.npy >/dev/null
mkdir theirs
mine() { npy "$2" >"$1"; }
values q.npy | mine theirs/vit.encoder.layer.0.attention.attention.query.npy 1,17,32
values z.npy | mine theirs/blocks.0.attn.hook_z.npy 1,4,17,8
{ values q.npy | head -c 160; printf '\0\0\x10\x41'; values q.npy | tail -c +165; } | mine w.npy 1,17,4,8 # 9.0
zipped wrong.npz blocks.0.attn.hook_q.npy w.npy
diff_v 0 '2 tensors compared' theirs -m "$DATA" -i "$DATA/image.ppm"
says 'blocks.0.attn.z .*blocks.0.attn.hook_z \[h,t,e\]'
# a module tree's root is called '': its output is the answer; two pictures in a batch; channels last; NaN; float() of bf16
"$V" show image -m "$DATA" -i "$DATA/image.ppm" -o image.npy >/dev/null
"$V" show logits -m "$DATA" -i "$DATA/image.ppm" -o logits.npy >/dev/null
for i in 1 2 3; do "$V" show "blocks.$((i / 2)).resid_post" -m "$DATA" -i "$DATA/image.ppm" -o "r$i.npy" >/dev/null; done
values image.npy | mine picture 1,3,32,32
values logits.npy | mine answer 1,5
values r3.npy | mine end 1,17,32
zipped root.npz pixel_values.npy picture .npy answer
zipped vision.npz pixel_values.npy picture encoder.layers.encoder_layer_1.npy end encoder.npy end heads.npy answer
{ head -c 12288 /dev/zero; values image.npy; } | mine pictures 2,3,32,32
{ head -c 20 /dev/zero; values logits.npy; } | mine answers 2,5
zipped batch.npz pixel_values.npy pictures .npy answers
hex image.npy >channels
paste -d '' <(head -n 1024 channels) <(sed -n 1025,2048p channels) <(tail -n 1024 channels) | unhex | mine last 1,32,32,3
values image.npy | mine flat 3072,
values image.npy | mine wrong 32,3,32
zipped last.npz pixel_values.npy last flat.npy flat wrong.npy wrong .npy answer
{ printf '\0\0\xc0\x7f'; values logits.npy | tail -c +5; } | mine nan 1,5
zipped nan.npz pixel_values.npy picture .npy nan
hex r3.npy | sed -E 's/^ .. ../ 00 00/' | unhex | mine short 1,17,32
zipped short.npz pixel_values.npy picture encoder.layer.1.npy short
diff_v 0 'Same: each of the 2 tensors compared \(1 given, and 1 of the [0-9]+ .*, logits\)' root.npz -m "$DATA"
diff_v 3 'Different: ln_final.out' vision.npz -m "$DATA" # a residual stream where torchvision has its norm behind it
says 'heads'
says '^\* ln_final.out .* encoder \[t,d\]'
says 'tensors compared \(torchvision\)'
diff_v 3 'Different: logits' batch.npz -m "$DATA" # the first picture is black
says '^checksums  of 2 not tested' # the second was not read
diff_v 0 '^Same' batch.npz -m "$DATA" --item 1
says 'number 1 of 2'
check 'all of the batch was read: its checksums were tested' test -z "$(grep '^checksums' out)"
"$V" info -m "$DATA" -i 'batch.npz:pixel_values[0]' >out
says '^checksum +not tested'
"$V" info -m "$DATA" -i 'batch.npz:pixel_values[1]' >out
check 'info: all of the batch was read' test -z "$(grep '^checksum' out)"
diff_v 1 '[-]-item is 0 to 1' batch.npz -m "$DATA" --item 2
diff_v 1 "item 'x'" batch.npz -m "$DATA" --item x
diff_v 1 '[-]-item 1, but every tensor' root.npz -m "$DATA" --item 1
diff_v 3 'pixel_values \(picture 0 of 2\)' batch.npz -m "$DATA" -i batch.npz:pixel_values
diff_v 1 'holds 2 pictures: say which with batch.npz:pixel_values\[0\]' batch.npz -m "$DATA" -i 'batch.npz:pixel_values[2]'
diff_v 0 '^Same' batch.npz -m "$DATA" -i 'batch.npz:pixel_values[1]' --item 1
diff_v 0 '^Same' last.npz -m "$DATA"
says 'channels last'
diff_v 0 '^Same' last.npz -m "$DATA" -i last.npz:pixel_values
diff_v 1 'in the shape \[3072\]; this model takes' last.npz -m "$DATA" -i last.npz:flat
diff_v 1 'in the shape \[32,3,32\]' last.npz -m "$DATA" -i last.npz:wrong
diff_v 3 'the recording has NaN in 1 of 5 cells where there are numbers here' nan.npz -m "$DATA"
{ printf '\0\0\x80\x7f'; values logits.npy | tail -c +5; } | mine infinite 1,5
zipped infinite.npz pixel_values.npy picture .npy infinite
diff_v 3 'the recording has ∞ in 1 of 5 cells where there are numbers here\)\. No mistake' infinite.npz -m "$DATA"
diff_v 3 'Every recorded value is exactly a bf16.*--precision bf16' short.npz -m "$DATA"
diff_v 0 '^Same' short.npz -m "$DATA" --precision bf16 # the remedy
{ values image.npy; hex logits.npy | sed -E 's/^ .. ..//' | unhex; } | safetensors '{"pixel_values":{"dtype":"F32","shape":[1,3,32,32],"data_offsets":[0,12288]},"logits":{"dtype":"BF16","shape":[1,5],"data_offsets":[12288,12298]}}' >stored.safetensors
diff_v 0 '^Same' stored.safetensors -m "$DATA" # an input of another type does not say what the rest was computed in
says 'three times what rounding to bf16 makes .*as the recording is stored so'
diff_v 3 'Different: blocks.0.attn.q\[t=r0c0,h=1,e=0\] differs first: recorded' wrong.npz -m "$DATA" -i "$DATA/image.ppm"

# --- gradients: our own, and PyTorch's (tests/data/diff/autograd.py)
AUTOGRAD=$(dirname "$MAP")
"$V" trace -m "$DATA" -i "$DATA/image.ppm" --gradient 'logits[o=2]' -o grad.safetensors >/dev/null
diff_v 0 'Same.*to grad\.' grad.safetensors -m "$DATA" --gradient 'logits[o=2]'
diff_v 3 'Different: grad.seed' grad.safetensors -m "$DATA" --gradient 'logits[o=1]'
diff_v 0 'Same.*to probs' grad.safetensors -m "$DATA" # gradients left out, and said
says 'a gradient; --gradient says of what'
diff_v 0 'Same: each of the 55 .*to grad.patch_embed' "$AUTOGRAD/autograd.npz" -m "$DATA" --gradient 'logits[o=2]'
diff_v 3 'Different: grad.blocks.1.ln1.out.* no gradient goes back through blocks.1.attn.pattern.*differs in 2 blocks' "$AUTOGRAD/detached.npz" -m "$DATA" --gradient 'logits[o=2]'
diff_v 0 'Same.*to logits' "$AUTOGRAD/detached.npz" -m "$DATA" # its forward pass is right

# --- what can't be compared: status 1 or 2, one line
diff_v 2 'diff needs a trace'
diff_v 2 'diff needs a trace' a b c
diff_v 2 "precision f8: expected f32, bf16 or f16" a.safetensors --precision f8
diff_v 2 "tolerance '-1'" a.safetensors --tolerance -1
diff_v 2 'takes no --at' a.safetensors --at logits
diff_v 2 'choose one' a.safetensors --open --json
diff_v 2 'leave out -m' "$DATA" a.safetensors -m "$DATA"
diff_v 2 'needs a terminal' a.safetensors -m "$DATA" --open
diff_v 1 'nothing.npz' nothing.npz -m "$DATA" -i "$DATA/image.ppm"
diff_v 1 'nobody.map' "$DATA/expected.safetensors" -m "$DATA" --map nobody.map
diff_v 1 'are known here .*--map' "$DATA/gradient.safetensors" -m "$DATA" -i "$DATA/image.ppm"
diff_v 1 'its input fits another model' a.safetensors
printf 'layer.*.q = blocks.*.attn.w\n' >bad.map
diff_v 1 "bad.map: line 1: this model has no 'blocks" "$DATA/expected.safetensors" -m "$DATA" --map bad.map
head -c 1000 a.safetensors >short.safetensors
diff_v 1 'short.safetensors' short.safetensors -m "$DATA" -i "$DATA/image.ppm"
# models that read words: the words are in the trace; a mistake there is named
"$V" trace -m translator -i 'the cat is tired' -o words.safetensors >/dev/null 2>&1 </dev/null || fail 'a trace of words'
diff_v 0 'Same: each of the' words.safetensors -m translator
diff_v 0 'settings +the same' translator translator -i 'the dog is big'
"$V" trace -m translator -i 'the cat is tired' -c 'set scale off' -o unscaled.safetensors >/dev/null 2>&1 </dev/null
diff_v 3 'does not multiply the scores by 1/√d_k' unscaled.safetensors -m translator
# --- decoders: other tokens than were recorded are no difference of a step
W=$(cd "$DATA/../../families" && pwd)
"$V" trace -m "$W/words_llama" -i ids:1,2,3 -o read.npz >/dev/null 2>&1 </dev/null
diff_v 1 "has other tokens than were read here: at position 2 it is 3, here 4.*what it read \(1,2,3\)" read.npz -m "$W/words_llama" -i ids:1,2,4
diff_v 0 '^Same' read.npz -m "$W/words_llama" -i ids:1,2,3 # the remedies
diff_v 0 '^Same' read.npz -m "$W/words_llama"
cp -rL "$W/words_llama" beside && cp read.npz beside && chmod -R u+w beside # a trace in a model's folder is not that model
diff_v 1 'has other tokens than were read here' beside/read.npz -m beside -i ids:1,2,4
# --- encoders: two segments, what read them missing or other; another tokeniser
BERT=$W/words_bert
pieces() { printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' the "$1" sat on mat dog a . '##s' it is rained street wet; }
mkdir bert bert2
cp "$BERT"/{config.json,model.safetensors} bert/ && pieces cat >bert/vocab.txt
cp "$BERT"/{config.json,model.safetensors} bert2/ && pieces horse >bert2/vocab.txt
"$V" trace -m bert -i "the cat sat | it rained" -o pair.npz >/dev/null 2>&1 </dev/null
diff_v 0 '^Same' pair.npz -m bert
diff_v 1 "'encoder.tokens' has 8 tokens, and 7 were read here: it is another text" pair.npz -m bert -i "the cat sat it rained"
diff_v 1 "'encoder.segments' has other segments than were read here: at position 4 it is 0, here 1" pair.npz -m bert -i 'ids:2,5,6,7 | ids:3,14,16,3'
diff_v 0 '^Same' pair.npz -m bert -i 'ids:2,5,6,7,3 | ids:14,16,3' # the remedy
mkdir read && cd read && "$V" show encoder.segments -m ../bert -i "the cat sat | it rained" -o token_type_ids.npy >/dev/null &&
    "$V" show logits -m ../bert -i "the cat sat | it rained" -o logits.npy >/dev/null && cd ..
diff_v 1 'what it read is not in it: record it as input_ids \(of two segments token_type_ids too\), or say it with -i ids:1,2,3' read -m bert
"$V" show encoder.tokens -m bert -i "the cat sat | it rained" -o read/input_ids.npy >/dev/null
diff_v 0 '^Same: each of the 3' read -m bert # the remedy
rm read/token_type_ids.npy
diff_v 3 'Likely cause: the recording reads two segments, the second from token 5 on: its token_type_ids are not in it' read -m bert
diff_v 3 '^Different in what the files say.*Same' bert bert2 -i "the cat sat"
says '^settings   tokens of this text +2,5,6,7,3 \(5 tokens\)  \|  2,5,1,7,3 \(5 tokens\)'
says '^ +Their tokenisers cut this text otherwise'
mkdir bare && "$V" show logits -m bert -i ids:5,6,7 -o bare/logits.npy >/dev/null
diff_v 1 "'logits' has 3 tokens, as many as this text has without those of the tokeniser's template: .* -i ids:5,6,7" bare -m bert -i "the cat sat"
diff_v 0 '^Same' bare -m bert -i ids:5,6,7 # the remedy
diff_v 1 'it read another text; say which with -i' bare -m bert -i "the cat sat on"
mkdir weights && "$V" show encoder.blocks.0.self_attn.pattern -m bert -i "the cat" -o weights/attentions.0.npy >/dev/null
diff_v 1 'token that asks = 4, and here it is 2: it read another text' weights -m bert -i ids:5,6 # not: 4 heads
# --- for programs: which mistake, in which blocks, at which cell
"$V" diff unscaled.safetensors -m translator --json >scale.json
check 'json: the id of the mistake' grep -q '"id":"scale"' scale.json
check 'json: its blocks' grep -q '"blocks":\[0,1,2\]' scale.json
check 'json: the first cell by numbers' grep -qE '"first":"[^"]*\[h=0,s=0,[^"]*","index":\[0,0,' scale.json
# --- a mistake in all blocks that only in one is beyond the tolerance
mkdir faintly faint
cp "$DATA/model.safetensors" "$DATA/preprocessor_config.json" faintly/
sed -e 's/"layer_norm_eps": *[^,]*/"layer_norm_eps": 1e-5/' "$DATA/config.json" >faintly/config.json
for b in 0 1; do "$V" show blocks.$b.resid_post -m faintly -i "$DATA/image.ppm" -o faint/blocks.$b.resid_post.npy >/dev/null; done
diff_v 3 'ε = 1e-05.*In block 0 alone it is beyond what is allowed; in the other recorded block .*the mistake may be there too' faint -m "$DATA" -i "$DATA/image.ppm" --tolerance 1e-5
# --- a recorded text of two stacks is read again with the one start that stands in it
for m in bart t5 marian; do
    "$V" trace -m "$TOP/tests/data/families/words_$m" -i 'ids:5,7,9 > ids:3,4' -o two.npz >/dev/null
    diff_v 0 '^Same' two.npz -m "$TOP/tests/data/families/words_$m"
    "$V" trace -m "$TOP/tests/data/families/words_$m" -i 'ids:5,7,9' -o two.npz >/dev/null
    diff_v 0 '^Same' two.npz -m "$TOP/tests/data/families/words_$m"
done
# --- so is the text that two models of two stacks are compared on: the other one puts its own start in front
for m in bart t5 marian; do
    for i in 'ids:5,7,9 > ids:3,4' 'ids:5,7,9 >'; do
        diff_v 0 '^Same' "$TOP/tests/data/families/words_$m" -m "$TOP/tests/data/families/words_$m" -i "$i"
        check "$m: every tensor of both has the same shape" [ "$(grep -c '^shapes' out)" -eq 0 ]
    done
done
# --- blocks counted from 1 in a file for --map
mkdir one
for b in 0 1; do "$V" show blocks.$b.resid_post -m "$DATA" -i "$DATA/image.ppm" -o one/layer$((b + 1)).npy >/dev/null; done
printf 'layer* = blocks.*.resid_post\n' >one.map
diff_v 1 "counted from 1 .*none is 0.*.layer\* = blocks.<.resid_post" one -m "$DATA" -i "$DATA/image.ppm" --map one.map
sed -i 's/blocks\.\*/blocks.</' one.map
diff_v 0 '^Same' one -m "$DATA" -i "$DATA/image.ppm" --map one.map # the remedy
rm one/layer2.npy # none is too high now
printf 'layer* = blocks.*.resid_post\n' >one.map
diff_v 1 "'layer1' is what blocks.0.resid_post gives here, and --map calls it blocks.1.resid_post: its blocks are counted from 1" one -m "$DATA" -i "$DATA/image.ppm" --map one.map
sed -i 's/blocks\.\*/blocks.</' one.map
diff_v 0 '^Same' one -m "$DATA" -i "$DATA/image.ppm" --map one.map # the remedy
# --- a table of sines as other programs have it, one sign for both numbers of a pair
mkdir turns && "$V" show decoder.blocks.0.resid_post -m "$W/words_llama" -i ids:1,2,3 -o turns/decoder.blocks.0.resid_post.npy >/dev/null
/usr/bin/env printf '\x93NUMPY\x01\x00v\x00{%s}' "'descr': '<f4', 'fortran_order': False, 'shape': (3, 8), " >turns/sine.npy
printf '%*s\n' $((128 - 1 - $(wc -c <turns/sine.npy))) '' >>turns/sine.npy
"$V" show decoder.rope_sin -m "$W/words_llama" -i ids:1,2,3 -o signed.npy >/dev/null
tail -c 96 signed.npy | od -An -v -tx4 -w32 | while read -r a b c d e f g h; do for x in $e $f $g $h $e $f $g $h; do printf "\\x${x:6:2}\\x${x:4:2}\\x${x:2:2}\\x${x:0:2}"; done; done >>turns/sine.npy
printf 'sine = decoder.rope_sin\n' >sine.map
diff_v 0 '^Same' turns -m "$W/words_llama" -i ids:1,2,3 --map sine.map
printf 'layer* = blocks.<.attn.query\n' >near.map
diff_v 1 'did you mean blocks.\*.attn.q\?' one -m "$DATA" -i "$DATA/image.ppm" --map near.map
diff_v 1 'looks at pictures, and translator does not' translator "$DATA"
finish diff
