#!/usr/bin/env bash
# The central promise: every number is the sum of the terms that `explain` lists, bit for bit, and the same bits come from every kernel,
# thread count, compiler and optimisation level; an edit that is undone leaves none behind.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
MAKE=${MAKE:-make}
B=${B:-build/release} CC=${CC:-cc}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

# build VARIANT CC [FLAG=…]…
build() {
    local variant=$1 cc=$2
    shift 2
    $MAKE --no-print-directory VARIANT="$variant" CC="$cc" WERROR=-Werror "$@" all >"$WORK/log" 2>&1 || {
        fail "$variant: does not build"
        grep -vE '^  [a-z]+ ' "$WORK/log" | tail -n 30
        return 1
    }
}
# verified WHAT PROGRAM [ARGUMENT]…: every cell equal; its trace hash into HASH.
verified() {
    local what=$1 status
    shift
    "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
    status=$?
    HASH=$(sed -nE 's/^Trace hash ([0-9a-f]{16})\.$/\1/p' "$WORK/out")
    if [ $status -eq 0 ] && [ -n "$HASH" ] && grep -q '^All equal, bit for bit' "$WORK/out"; then
        pass
    else
        fail "$what: status $status: $(cat "$WORK/out" "$WORK/err")"
    fi
}
# hashed WHAT EXPECTED PROGRAM [ARGUMENT]…
hashed() {
    local what=$1 expected=$2
    shift 2
    same "$what: trace hash" "$expected" "$("$@" --json </dev/null 2>&1 | sed -nE 's/.*hash":"([0-9a-f]{16}).*/\1/p')"
}

V=$B/vitrine
[ -x "$V" ] || { fail "$V is not built"; finish exact; exit 1; }
verified "the bundled model" $V verify
BUNDLED=$HASH
head -n 1 "$WORK/out" | sed 's/^/  /'
isas=$($V --version | sed -nE 's/^kernels +[a-z0-9]+ \(of (.*) here\)$/\1/p' | tr -d ,)
[ -n "$isas" ] || fail "--version does not list the kernels of this processor"
for isa in $isas; do
    verified "--isa $isa" $V verify --isa "$isa"
    same "--isa $isa: trace hash" "$BUNDLED" "$HASH"
    for threads in 1 2 3 8; do hashed "--isa $isa --threads $threads" "$BUNDLED" $V run --isa "$isa" --threads $threads; done
done
for input in '#18' '#123' tests/data/image/rgb8.png tests/data/image/orientation.jpg; do
    verified "$input" $V verify -i "$input"
    [ "$HASH" != "$BUNDLED" ] && pass || fail "$input has the hash of #17"
done

# what-if: edits change the hash, what is undone gives it back
for edit in 'set scale off' 'ablate blocks.1.attn.z[h=2]' 'ablate blocks.0.attn.z[h=0] mean' 'skip mlp block=0' 'skip positions' 'grey r3c4'; do
    verified "$edit" $V verify -c "$edit"
    edited=$HASH
    [ "$edited" != "$BUNDLED" ] && pass || fail "$edit: the hash is still that of the model as it is"
    hashed "$edit, scalar, one thread" "$edited" $V run -c "$edit" --isa scalar --threads 1
    hashed "$edit; undo" "$BUNDLED" $V run -c "$edit; undo"
    hashed "$edit; undo; redo" "$edited" $V run -c "$edit; undo; redo"
done

# the recorded models, in both layouts one graph and one hash
for m in tiny nobias; do
    mkdir "$WORK/$m-hf" "$WORK/$m-timm"
    cp tests/data/oracle/$m/{model.safetensors,config.json,preprocessor_config.json} "$WORK/$m-hf"
    cp tests/data/oracle/$m/model_timm.safetensors "$WORK/$m-timm/model.safetensors"
    cp tests/data/oracle/$m/config_timm.json "$WORK/$m-timm/config.json"
    verified "$m" $V verify -m "$WORK/$m-hf" -i tests/data/oracle/$m/image.ppm
    hashed "$m in the timm layout" "$HASH" $V run -m "$WORK/$m-timm" -i tests/data/oracle/$m/image.ppm
done

# a model from a seed; sampled as a large one is
$B/make_vit --size tiny --seed 5 -o "$WORK/seeded" >/dev/null || fail "make_vit"
verified "a model from a seed" $V verify -m "$WORK/seeded" -i '#17'
SEEDED=$HASH
verified "the same, sampled" $V verify -m "$WORK/seeded" -i '#17' --sample 50
same "sampled: trace hash" "$SEEDED" "$HASH"

# training: five steps of a small model give the same file for every kernel, thread count and compiler
cat >"$WORK/small.json" <<'JSON'
{"steps": 5, "warmup": 2, "batch": 8, "log_every": 2, "model": {"width": 32, "layers": 2, "heads": 2, "mlp": 48}}
JSON
# trained WHAT PROGRAM [ARGUMENT]…: the sums of weights and history are those of tests/golden/train.sum
trained() {
    local what=$1
    shift
    rm -rf "$WORK/new"
    "$@" train --config "$WORK/small.json" -o "$WORK/new" >"$WORK/out" 2>&1 </dev/null || fail "$what: $(cat "$WORK/out")"
    same "$what: trained weights and history" "$(cat tests/golden/train.sum)" "$(cd "$WORK/new" && cksum model.safetensors history.safetensors)"
}
trained "$CC" $V
trained "three threads" $V --threads 3
for isa in $isas; do trained "--isa $isa" $V --isa "$isa"; done

# the translator: the same words, shares and scores, and the same weights from five steps of training
cat >"$WORK/words.json" <<'JSON'
{"kind": "text", "steps": 5, "warmup": 2, "batch": 16, "log_every": 2, "check": 8, "model": {"width": 32, "heads": 2, "mlp": 48, "encoder_layers": 1}}
JSON
SENTENCE="the animal did not cross the street because it was too wide"
WORDS=$($V translate --beam 4 --json "$SENTENCE")
check "the translator writes nothing" [ -n "$WORDS" ]
# translates WHAT PROGRAM [OPTION]…
translates() {
    local what=$1
    shift
    same "$what: translation" "$WORDS" "$("$@" translate --beam 4 --json "$SENTENCE" 2>&1 </dev/null)"
    rm -rf "$WORK/new"
    "$@" train --config "$WORK/words.json" -o "$WORK/new" >"$WORK/out" 2>&1 </dev/null || fail "$what: $(cat "$WORK/out")"
    same "$what: trained translator" "$(cat tests/golden/train_text.sum)" "$(cd "$WORK/new" && cksum model.safetensors history.safetensors)"
}
for isa in $isas; do translates "--isa $isa" $V --isa "$isa"; done
translates "three threads" $V --threads 3

others="O0 $CC OPT=-O0|O3 $CC OPT=-O3"
if command -v clang >/dev/null; then others="$others|clang clang"; else skip "clang (make deps-all installs it)"; fi
while read -r variant cc flags; do
    # shellcheck disable=SC2086
    build "$variant" "$cc" $flags || continue
    verified "$variant" build/$variant/vitrine verify
    same "$variant: trace hash" "$BUNDLED" "$HASH"
    for isa in $isas; do hashed "$variant, $isa" "$BUNDLED" build/$variant/vitrine run --isa "$isa"; done
    trained "$variant" build/$variant/vitrine
    translates "$variant" build/$variant/vitrine
    hashed "$variant: a model from a seed" "$SEEDED" build/$variant/vitrine run -m "$WORK/seeded" -i '#17'
done < <(printf '%s\n' "$others" | tr '|' '\n')
finish exact
