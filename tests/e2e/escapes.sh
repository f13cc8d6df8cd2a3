#!/usr/bin/env bash
# Control sequences in every name that a file can carry and in every option, for every verb and the opening screen: none
# of them reaches the terminal. VITRINE=build/release/vitrine RUN=build/release/tests/pty/run tests/e2e/escapes.sh
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
. tests/files.sh
V=$(realpath "${VITRINE:-build/release/vitrine}")
RUN=$(realpath "${RUN:-$(dirname "$V")/tests/pty/run}")
DATA=$PWD/tests/data/oracle/tiny
if [ ! -x "$V" ] || [ ! -x "$RUN" ]; then
    fail "$V or $RUN is not built"
    finish escapes
    exit 1
fi
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
export HOME=$T/home XDG_STATE_HOME=$T/state TERM=xterm-256color LC_ALL=C.UTF-8
unset NO_COLOR VITRINE_ISA COLORTERM

# a title, a C1 control, a right-to-left override; in JSON, and as they are
P=$'\e]0;OWNED\a\xc2\x9bOWNED\xe2\x80\xae'
J='\u001b]0;OWNED\u0007\u009bOWNED\u202e'
tried=0
mkdir results

# look N WHAT COMMAND…: runs it on a terminal; results/N says what was wrong, "named" or nothing
look() {
    local n=$1 what=$2
    shift 2
    "$RUN" "$@" >"results/$n.seen" 2>&1 </dev/null
    if LC_ALL=C grep -qaP '\x1b\]0;OWNED|\xc2\x9b|\x9bOWNED|\xe2\x80\xae|\x07' "results/$n.seen"; then
        echo "$what: control sequences reach the terminal: $(LC_ALL=C grep -aoP '.{0,30}(\x1b\]0;OWNED|\xc2\x9b|\xe2\x80\xae|\x07)' "results/$n.seen" | head -n 2 | cat -v | tr '\n' ' ')"
    elif [ ! -s "results/$n.seen" ]; then
        echo "$what: sent nothing at all"
    elif LC_ALL=C grep -qa 'OWNED' "results/$n.seen"; then # shown, made harmless
        echo named
    fi >"results/$n"
    rm -f "results/$n.seen"
}
# quiet WHAT COMMAND…: what it sends to its terminal carries none of them, whatever its status. Four at a time: most of it
# is waiting.
quiet() {
    tried=$((tried + 1))
    while [ "$(jobs -rp | wc -l)" -ge 4 ]; do wait -n; done
    look "$tried" "$@" &
}

# --- files
# tensors HEADER BYTES >FILE: a safetensors file
tensors() { head -c "$2" /dev/zero | safetensors "$1"; }
tensors "{\"$J\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}" 8 >name.safetensors
tensors "{\"$J\":{\"dtype\":\"X$J\",\"shape\":[2],\"data_offsets\":[0,8]}}" 8 >type.safetensors
tensors "{\"__metadata__\":{\"$J\":\"$J\"},\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"$J\":1}}" 8 >key.safetensors
tensors "{\"logits$J\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"logits\":{\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":[8,32]}}" 32 >trace.safetensors
# model FOLDER: the small model with a tensor more, of that name, and classes of that name
model() {
    local length header size
    mkdir -p "$1"
    length=$(od -An -tu8 -N8 "$DATA/model.safetensors" | tr -d ' ')
    size=$(stat -c %s "$DATA/model.safetensors")
    header=$(header "$DATA/model.safetensors" | sed 's/ *$//')
    header="${header%\}},\"$J\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[$((size - 8 - length)),$((size - 4 - length))]}}"
    { tail -c +$((9 + length)) "$DATA/model.safetensors"; le 0 4; } | safetensors "$header" >"$1/model.safetensors"
    sed -E "s/\"model_type\": *\"/&$(printf '%s' "$J" | sed 's/[\\&]/\\&/g')/; s/(\"[0-9]+\": *\")/\1$(printf '%s' "$J" | sed 's/[\\&]/\\&/g')/g" "$DATA/config.json" >"$1/config.json"
    cp "$DATA/preprocessor_config.json" "$1/"
}
model named
model "$P"
mkdir -p config preprocessor classes/"$P" classes/b npy
cp "$DATA"/{model.safetensors,config.json,preprocessor_config.json} config/
cp "$DATA"/{model.safetensors,config.json,preprocessor_config.json} preprocessor/
printf '{"hidden_act": "%s", "%s": 1, "architectures": ["%s"], "image_size": "%s"}' "$J" "$J" "$J" "$J" >config/config.json
printf '{"resample": "%s", "image_processor_type": "%s", "size": {"%s": 3}}' "$J" "$J" "$J" >preprocessor/preprocessor_config.json
"$V" data 17 -o "$P.png" >/dev/null 2>&1 || cp "$DATA/image.ppm" "$P.png"
printf '%s' "$P" >"$P.txt"
for i in 1 2 3; do cp "$DATA/image.ppm" "classes/$P/$i.ppm"; cp "$DATA/image.ppm" "classes/b/$P$i.ppm"; done
printf '{"%s": 1}' "$J" >recipe.json
printf '{"steps": "%s", "model": {"%s": 2}}' "$J" "$J" >recipe2.json
"$V" show logits -o l.npy '#17' >/dev/null 2>&1
cp l.npy "npy/$P.npy"
cp l.npy "npy/logits.npy"
printf '%s = %s\nlogits = blocks.*.%s\n' "$P" "$P" "$P" >map
mkdir -p "$XDG_STATE_HOME/vitrine"

FILES=(name.safetensors type.safetensors key.safetensors trace.safetensors "$P.png" "$P.txt" npy "$P" "none$P" "name.safetensors:$P"
    "trace.safetensors:logits$P" "#$P" map recipe.json)
MODELS=(named "$P" config preprocessor name.safetensors type.safetensors key.safetensors npy "none$P" "$P.png")

# --- every verb with every file, as a picture and as a model
VERBS='run show explain why trace screen info verify diff data train evaluate'
for f in "${FILES[@]}"; do
    for v in run screen info; do quiet "$v -i ${f@Q}" "$V" $v -i "$f"; done
    quiet "show ${f@Q}" "$V" show "$f"
    quiet "diff ${f@Q}" "$V" diff "$f"
    quiet "diff --map ${f@Q}" "$V" diff trace.safetensors --map "$f"
    quiet "train --config ${f@Q}" "$V" train --config "$f" -o out
    quiet "train --pictures ${f@Q}" "$V" train --pictures "$f" -o out --steps 1
    quiet "the screen, -i ${f@Q}" -k '' "$V" --fresh -i "$f"
done
for m in "${MODELS[@]}"; do
    for v in run info screen verify; do quiet "$v -m ${m@Q}" "$V" $v -m "$m"; done
    quiet "diff of ${m@Q}" "$V" diff "$m" "$DATA/model.safetensors"
    quiet "evaluate -m ${m@Q}" "$V" evaluate -m "$m" --pictures classes
    quiet "the screen, -m ${m@Q}" -k ' ' -k 's' -k '?' "$V" --fresh -m "$m"
done
quiet 'classes of that name' "$V" train --pictures classes --config recipe2.json -o out
quiet 'classes of that name, trained' "$V" train --pictures classes --steps 1 -o "trained$P"
quiet 'pictures of that name, evaluated' "$V" evaluate -m "trained$P" --pictures classes
quiet 'the answer of that name' "$V" run -m "trained$P" '#17' --json
quiet 'steps of a model with such classes' -k 'G' -k ':goto logits
' -k 's' "$V" --fresh -m "trained$P"

# --- every option with such a value, and every word
verbs=($VERBS)
at=0
for o in -m -i --at -c -o --colour --threads --memory --isa --size --axes --map --tolerance --precision --config --pictures --steps \
    --series --difficulty --gradient --sample --seed "--$P" "-$P"; do
    for v in run "${verbs[$((at++ % ${#verbs[@]}))]}" "${verbs[$((at++ % ${#verbs[@]}))]}"; do quiet "$v $o" "$V" $v $o "$P"; done
    quiet "the screen, $o" -k '' "$V" --fresh $o "$P"
done
for v in $VERBS ''; do
    quiet "$v word" "$V" $v "$P"
    quiet "$v link" "$V" $v '#17' "@$P" "$P=$P"
    quiet "$v edit" "$V" $v "ablate=$P"
    quiet "$v help" "$V" help $v "$P"
done
# commands: those that name what they did not find, and those that answer
for c in "$P" "goto $P" "goto blocks.0.attn.q[$P]" "goto logits[o=$P]" "open $P" "open $P.png" "model named" "model $P" "patch logits from=$P" \
    "patch logits from=name.safetensors" "export $P.npy logits" "export $P.xyz" "view $P" "find $P" "diff $P" "diff trace.safetensors map=$P" \
    "gradient $P" "set $P 1" "glossary $P" "ablate blocks.0.attn.z[h=$P]" "help $P" "grey $P" "explain $P"; do
    quiet "-c ${c@Q}" "$V" run -c "$c"
    quiet "screen -c ${c@Q}" "$V" screen -c "$c"
    quiet "typed ${c@Q}" -k ":$(printf '%s' "$c" | tr -d '\000-\037')
" "$V" --fresh -c "$c"
    quiet "on opening ${c@Q}" -k '' "$V" --fresh -c "$c"
done

# --- the environment, the remembered place
for e in VITRINE_ISA TERM COLORTERM COLORFGBG LC_ALL LANG NO_COLOR HOME XDG_STATE_HOME TMUX SSH_CONNECTION ESCDELAY LINES; do
    quiet "$e" -k ':term
' env "$e=$P" "$V" --fresh
    quiet "run with $e" env "$e=$P" "$V" run '#17'
done
wait
"$RUN" -k ' ' -k ' ' "$V" '#17' >/dev/null 2>&1
place=$(find "$T/state" -type f | head -n 1)
if [ -n "$place" ]; then
    { head -n 1 "$place"; printf 'goto %s; view %s\n' "$P" "$P"; } >other && cp other "$place"
    quiet 'a remembered place' -k '' "$V" '#17'
    wait
    { printf '%s\t%s\n' "$P" "$P"; printf '%s\n' "$P"; } >"$place"
    quiet 'a remembered place of nothing' -k '' "$V" '#17'
else
    fail 'no place is remembered'
fi
wait
named=$(cat results/* | grep -cx named)
while read -r line; do fail "$line"; done < <(cat results/* | grep -vx named)
PASSED=$((PASSED + tried - FAILED))
check "only $named of $tried showed the name" [ "$named" -ge 150 ]
echo "  $tried command lines, $named of which showed the name"
finish escapes
