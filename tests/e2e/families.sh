#!/usr/bin/env bash
# Verb by family: what a text model from the hub's folders answers to every verb and on every screen that a picture or the translator has.
# "yes", or the reason why it can't be. One more family is a folder more, and is tried with all of it.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
V=${VITRINE:-build/release/vitrine}
FOLDERS=tests/data/families/words_
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT
mkdir "$OUT/said"

vector='makes no vector of a text'
answer='no answer in words'
alone='encoder writes nothing|encoder alone writes no text'
given='gives none a probability'
# VERB AND OPTIONS | decoders | encoders with words for answers | encoders that end in a vector | an encoder and a decoder
# (I: the text; SAME: as another input; W, X: what is written on from, X without -i; T: a trace made before)
VERBS="info I|yes|yes|yes|yes
run I|yes|yes|yes|yes
embed I -i ids:3,8|$vector|yes|yes|$vector
score I|yes|$given|$given|yes
show NODE I|yes|yes|yes|yes
explain I|yes|yes|yes|yes
why I|yes|yes|yes|yes
ledger I|yes|is not a sum of what the blocks wrote|$answer|yes
patching I SAME|yes|yes|$answer|yes
trace I -o T|yes|yes|yes|yes
diff T I|yes|yes|yes|yes
verify I|yes|yes|yes|yes
verify I --gradient CELL|yes|yes|yes|yes
evaluate --count 3|yes|yes|yes|yes
write W --steps 3|yes|$alone|$alone|yes
write I --steps 3|yes|$alone|$alone|yes
translate X|reads no other text|$alone|$alone|yes
translate I|reads no other text|$alone|$alone|yes
tokens W|there is no t|there is no t|there is no t|there is no t
plain I|yes|yes|yes|yes
export I -o T.svg|yes|yes|yes|yes"
# COMMANDS | the same four
SCREENS="alike|yes|yes|yes|yes
census|yes|yes|yes|yes
heads|yes|yes|yes|yes
laboratory|yes|yes|yes|yes
neuron|yes|yes|yes|yes
tokens|yes|yes|yes|yes
wiring|yes|yes|yes|yes
explain|yes|yes|yes|yes
why|yes|yes|yes|yes
say|yes|yes|yes|yes
play|yes|yes|yes|yes
decode|yes|$alone|$alone|yes
lens|yes|yes|$answer|yes
lens tokens|yes|yes|$answer|yes
ledger|yes|is not a sum|$answer|yes
patching|yes|yes|$answer|yes
view writing|yes|yes|$answer|yes
view stream|yes|$given|$given|yes
goto PATTERN; view matrix|yes|yes|yes|yes
goto PATTERN; view row|yes|yes|yes|yes
goto PATTERN; view sentence|yes|yes|yes|yes
goto PATTERN; view sheet|yes|yes|yes|yes
goto PATTERN; view close-up|yes|yes|yes|yes
set scale x0.5; alike|yes|yes|yes|yes
set scale x0.5; laboratory|yes|yes|yes|yes
set scale x0.5; view answer|yes|yes|$answer|yes
set scale x0.5; lens|yes|yes|$answer|yes
set scale x0.5; ledger|yes|is not a sum|$answer|yes
set scale x0.5; patch all heads from A|yes|yes|$answer|yes
ablate PATH.z[h=0]; say|yes|yes|yes|yes
where|yes|yes|yes|yes
experts|has no experts|has no experts|has no experts|has no experts"

# tried FAMILY EXPECTED COMMAND…: it answers something, or refuses so.
tried() {
    local family=$1 expected=$2 status=0
    shift 2
    timeout 60 "$V" "$@" >"$OUT/said/out" 2>"$OUT/said/err" </dev/null || status=$?
    if [ "$expected" = yes ] && [ "$status" -eq 0 ] && { [ -s "$OUT/said/out" ] || [[ $1 == export ]]; }; then pass
    elif [ "$expected" != yes ] && [ "$status" -eq 1 ] && grep -qE "$expected" "$OUT/said/err"; then pass
    else fail "$family: $*: status $status: $(head -c 200 "$OUT/said/err")"
    fi
}

# family NAME KIND(0 … 3) TEXT WHERE ITS ATTENTION IS
family() {
    local name=$1 kind=$2 text=$3 path=$4 model=$FOLDERS$1 line part word words expected
    local cell=('logits[v=2]' 'logits[v0=2]' 'embedding[d=0]' 'logits[v=2]')
    [ "$name" = llama2c ] && model=$model/model.bin
    while IFS= read -r line; do
        IFS='|' read -ra part <<<"${line//|encoder alone/¦encoder alone}"
        expected=${part[$((kind + 1))]//¦/|}
        words=()
        for word in ${part[0]}; do
            case $word in
            I) words+=(-m "$model" -i "$text") ;;
            W) words+=(-m "$model" -i "${text%% >*}") ;;
            X) words+=(-m "$model" "${text%% >*}") ;;
            SAME) words+=("$text") ;;
            T) words+=("$OUT/$name.safetensors") ;;
            T.svg) words+=("$OUT/$name.svg") ;;
            CELL) words+=("${cell[kind]}") ;;
            NODE) words+=("${path%%.*}.embed") ;;
            *) words+=("$word") ;;
            esac
        done
        [[ ${part[0]} == evaluate* ]] && words+=(-m "$model")
        tried "$name" "$expected" "${words[@]}"
    done <<<"$VERBS"
    rm -f "$OUT/$name".*
    while IFS= read -r line; do
        IFS='|' read -ra part <<<"${line//|encoder alone/¦encoder alone}"
        expected=${part[$((kind + 1))]//¦/|}
        [ "${part[0]}" = experts ] && case $name in *moe* | mixtral) expected=yes ;; esac
        line=${part[0]//PATTERN/$path.pattern}
        tried "$name" "$expected" screen -m "$model" -i "$text" -c "${line//PATH/$path}" --size 120x40
    done <<<"$SCREENS"
}

for folder in "$FOLDERS"*/; do
    name=${folder#"$FOLDERS"}
    name=${name%/}
    case $name in
    bge | minilm | electra) family "$name" 2 ids:3,7,1,12,5,9 encoder.blocks.0.self_attn ;;
    *bert* | electra* | mpnet) family "$name" 1 ids:3,7,1,12,5,9 encoder.blocks.0.self_attn ;;
    bart | marian | *t5) family "$name" 3 'ids:3,7,1,12,5 > ids:4,9,2' decoder.blocks.0.cross_attn ;;
    *) family "$name" 0 ids:3,7,1,12,5,9 decoder.blocks.0.self_attn ;;
    esac
done
finish families
