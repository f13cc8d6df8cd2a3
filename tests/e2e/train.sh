#!/usr/bin/env bash
# `vitrine train`: what it refuses, and that a run that was interrupted, however early, goes on to the same bytes.
# VITRINE=build/release/vitrine tests/e2e/train.sh
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
ROOT=$PWD
V=$(realpath "${VITRINE:-build/release/vitrine}")
[ -x "$V" ] || { fail "$V is not built"; finish train; exit 1; }
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
export HOME=$T/home XDG_STATE_HOME=$T/state

SMALL='"batch": 8, "warmup": 1, "check": 4, "log_every": 2000, "model": {"image": 12, "patch": 6, "width": 8, "layers": 1, "heads": 2, "mlp": 8}'

# refused WHAT PATTERN RECIPE: status 1, one line that has PATTERN, no model
refused() {
    printf '%s' "$3" >recipe.json
    "$V" train --config recipe.json -o refused >out 2>err </dev/null
    same "$1: its status" 1 $?
    grep -v '^step [0-9]* of ' err >line
    check "$1: $(head -1 line)" grep -qE "$2" line
    same "$1: lines" 1 "$(wc -l <line)"
    check "$1: no model" test ! -e refused/model.safetensors
    rm -rf refused
}

refused 'a batch of six' 'multiple of 4' '{"batch": 6}'
refused 'an unknown key' '"stops" is not known' '{"stops": 3}'
refused 'more than there is memory' 'training needs|the model needs' '{"batch": 4096, "steps": 1, "warmup": 0, "model": {"width": 16384, "heads": 64, "layers": 64}}'
refused 'weights that run away' 'is no number any more' "{\"steps\": 60, \"rate\": 10, \"decay\": 10, \"clip\": 0, $SMALL}"

# interrupt FOLDER: SIGTERM (of a background program the shell has SIGINT ignored) as soon as it has said how far it is; the record of the run has no row yet
interrupt() {
    "$V" train --config steps.json -o "$1" </dev/null >out 2>err &
    local pid=$!
    for _ in $(seq 600); do
        grep -q '^step ' err && break
        sleep 0.05
    done
    kill -TERM $pid
    wait $pid
}

printf '{"steps": 2000, %s}' "$SMALL" >steps.json
check 'a run to its end' "$V" train --config steps.json --threads 1 -o whole >/dev/null 2>&1 </dev/null
interrupt broken
check "interrupted: $(tail -1 err)" grep -q 'interrupted after step' err
check 'what it goes on from' test -s broken/training.safetensors
check 'the same command goes on' "$V" train --config steps.json -o broken >/dev/null 2>&1 </dev/null
check 'nothing is left over' test ! -e broken/training.safetensors
for f in model.safetensors history.safetensors config.json recipe.json; do
    check "the same $f" cmp -s whole/$f broken/$f
done

# a translator is the same course: one at a time, interrupted and gone on with, the same bytes
TEXT='"kind": "text", "batch": 8, "check": 4, "log_every": 2000, "model": {"width": 8, "heads": 2, "mlp": 8, "encoder_layers": 1, "decoder_layers": 1}'
printf '{"steps": 600, "warmup": 10, %s}' "$TEXT" >text.json
check 'a translator to its end' "$V" train --config text.json --threads 1 -o text-whole >/dev/null 2>&1 </dev/null
"$V" train --config text.json -o text-broken </dev/null >out 2>err &
pid=$!
for _ in $(seq 1500); do # a loaded machine takes its time to the first step
    grep -q '^step ' err && break
    sleep 0.02
done
"$V" train --config text.json -o text-broken >/dev/null 2>second </dev/null
check "a second one is kept out: $(cat second)" grep -qE 'another training is at work' second
kill -TERM $pid
wait $pid
check "interrupted: $(tail -1 err)" grep -q 'interrupted after step' err
check 'the same command ends the translator' "$V" train --config text.json -o text-broken >/dev/null 2>&1 </dev/null
for f in model.safetensors history.safetensors config.json recipe.json vocabulary.json; do
    check "the same $f of the translator" cmp -s text-whole/$f text-broken/$f
done

# a decoder learns from a text of its own; what is written opens, continues a text, and has a film
for i in $(seq 200); do echo "the cat $i sees the dog and the dog sees the cat"; done >text.txt
DECODER='"batch": 8, "warmup": 10, "check": 4, "log_every": 2000, "model": {"words": 280, "context": 12, "width": 16, "heads": 2, "mlp": 16, "layers": 1}'
printf '{"kind": "decoder", "steps": 300, %s}' "$DECODER" >decoder.json
check 'a decoder to its end' "$V" train --config decoder.json --text text.txt --threads 1 -o decoder-whole >said 2>/dev/null </dev/null
check 'what is held out is said' grep -qE '^held out: [0-9.]+ ± [0-9.]+ bits a byte over [0-9]+ stretches' said
interrupt_decoder() {
    "$V" train --config decoder.json --text text.txt -o decoder-broken </dev/null >out 2>err &
    local pid=$!
    for _ in $(seq 1500); do
        grep -q '^step ' err && break
        sleep 0.02
    done
    kill -TERM $pid
    wait $pid
}
interrupt_decoder
check "interrupted: $(tail -1 err)" grep -q 'interrupted after step' err
echo 'another text' >>text.txt
"$V" train --config decoder.json --text text.txt -o decoder-broken >/dev/null 2>err </dev/null
check "another text is refused: $(tail -1 err)" grep -q 'under another recipe, model, folder' err
sed -i '$d' text.txt
check 'the same command ends the decoder' "$V" train --config decoder.json --text text.txt -o decoder-broken >/dev/null 2>&1 </dev/null
for f in model.safetensors history.safetensors config.json recipe.json tokenizer.json held.txt; do
    check "the same $f of the decoder" cmp -s decoder-whole/$f decoder-broken/$f
done
"$V" write -m decoder-whole -i 'the cat' --steps 6 >out 2>err </dev/null
check "it continues a text: $(head -1 out)" grep -q '^the cat' out
check 'the end of the text is kept' test "$(tail -c 50 decoder-whole/held.txt)" = "$(tail -c 50 text.txt)"
"$V" evaluate -m decoder-whole --count 2 --json >out 2>err </dev/null
check "it is examined on it: $(tail -1 err)" grep -q '"surprise":{"over":"decoder-whole/held.txt","unit":"nats","windows":2' out
check "in all three units" grep -qE '"perplexity":[0-9.]+,"bits_a_byte":[0-9.]+,' out
for i in $(seq 60); do echo "été $i à été"; done >accents.txt # letters of two tokens each
"$V" screen -m decoder-whole -i 'the cat' --text accents.txt -c neuron --size 120x40 -o neuron.txt >out 2>err </dev/null
check 'letters of two tokens are whole where a hidden unit reads them' test "$(grep -c 'à été' neuron.txt)" -ge 3
sed 's/"context": *[0-9]*/"context": 4/; s/"steps": *[0-9]*/"steps": 10/' decoder.json >short.json
"$V" train --config short.json --text text.txt -o decoder-short >/dev/null 2>&1 </dev/null
"$V" evaluate -m decoder-short --count 2 >out 2>err </dev/null
check "few positions leave the surprise: $(tail -1 err)" grep -q 'surprise, −log p of the next token: [0-9]' out
check "and say why no heads are measured: $(tail -1 out)" grep -q 'is left out: .*random tokens.*room or words for 2' out
"$V" evaluate -m decoder-short --count 2 --json >out 2>err </dev/null
check "as JSON too: $(tail -1 err)" grep -q '"windows":2,.*"left_out":".*room or words for 2"}' out
"$V" evaluate -m decoder-whole --text none.txt >out 2>err </dev/null
check "no such text to examine it on: $(tail -1 err)" grep -q 'none.txt' err
"$V" screen -m decoder-whole -c training --size 80x24 >out 2>&1 </dev/null
check 'its film' grep -q 'recorded while training, step 300' out
"$V" train --text none.txt -o refused >/dev/null 2>err </dev/null
check "no such text: $(head -1 err)" grep -q 'none.txt' err
"$V" train --config text.json --text text.txt -o refused >/dev/null 2>err </dev/null
check "a translator has no text: $(head -1 err)" grep -q 'only a decoder learns from a text' err

# two kinds of pictures, as many of each as before
"$V" data 0-199 -o drawn/ --by-class >/dev/null || fail 'pictures to learn from'
kinds=$(ls drawn | head -2)
for k in $kinds; do mkdir -p "set/$k" && cp $(ls drawn/$k/*.png | head -4) "set/$k"; done
printf '{"steps": 2000, %s}' "$SMALL" >long.json
printf '{"steps": 1000000, %s}' "$SMALL" >endless.json
V_ARGS="--config long.json --pictures set"
# begun FOLDER [LAUNCHER]: a training in the background that has made its first steps; $pid
begun() {
    local folder=$1
    shift
    "$@" "$V" train $V_ARGS -o "$folder" </dev/null >out 2>err &
    pid=$!
    for _ in $(seq 600); do
        grep -q '^step ' err && break
        sleep 0.05
    done
}
begun pictured
check 'a second training is kept out' test 1 = "$("$V" train $V_ARGS -o pictured >/dev/null 2>second </dev/null; echo $?)"
check "it says so: $(cat second)" grep -q 'another training is at work' second
kill -TERM $pid
wait $pid
same 'stopped by SIGTERM' 143 $?
cp -r set moved
"$V" train --config long.json --pictures moved --steps 1 -o other >/dev/null 2>&1 </dev/null
first=$(ls set/*/*.png | sed -n 2p)
cp "$(ls "drawn/$(echo $kinds | cut -d' ' -f1)"/*.png | tail -1)" "$first"
"$V" train $V_ARGS -o pictured >/dev/null 2>err </dev/null
same 'another picture of that name: refused' 1 $?
check "and said: $(cat err)" grep -q 'another recipe, model, folder of pictures or text' err
V_ARGS='--config long.json --pictures moved'
begun pictured
check "the same pictures elsewhere go on: $(tail -1 err)" grep -q '^step ' err
kill -KILL $pid
wait $pid 2>/dev/null
printf 'half' >pictured/.vitrine-abc123
printf 'mine' >pictured/.vitrine-mine
check 'after a kill the same command ends it' "$V" train $V_ARGS -o pictured >/dev/null 2>err </dev/null
check 'a killed run leaves nothing' test ! -e pictured/.vitrine-abc123
check 'what is no such file stays' test -e pictured/.vitrine-mine

# ignored stays ignored, asked to end ends
nohup_train() { trap '' HUP INT; exec "$@"; } # in the background: its process becomes the program
V_ARGS='--config endless.json'
begun() { # as it has no end it says nothing of a step for long: its first save is waited for
    local folder=$1
    shift
    "$@" "$V" train $V_ARGS -o "$folder" </dev/null >out 2>err &
    pid=$!
    for _ in $(seq 600); do
        [ -s "$folder/training.safetensors" ] && break
        sleep 0.05
    done
}
begun ignoring nohup_train
kill -HUP "$pid"
sleep 0.3
check 'nohup: SIGHUP is ignored' kill -0 "$pid"
kill -INT "$pid"
sleep 0.2
check "trap '' INT: SIGINT is ignored" kill -0 "$pid"
kill -TERM "$pid"
for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.02; done
check 'and SIGTERM is not' test ! -e "/proc/$pid"

# a folder that takes no file is told of before the first step
if [ "$(id -u)" != 0 ]; then
    mkdir shut && chmod a-w shut
    "$V" train --config steps.json -o shut >out 2>err </dev/null
    same 'a folder that may not be written' 1 $?
    check 'no step was made' test 0 = "$(grep -c '^step' err)"
fi
mkdir -p taken/model.safetensors taken/x
cp -r broken/config.json taken/
"$V" train --config steps.json -o taken >out 2>err </dev/null
same 'a folder where the model goes' 1 $?
check "no step was made: $(head -1 err)" test 0 = "$(grep -c '^step' err)"

# the disk is full when the model is written: the same command finishes it. A file-size limit stands for the disk.
printf '{"steps": 40, %s}' "$SMALL" >few.json
"$V" train --config few.json -o full </dev/null >/dev/null 2>&1
size=$(stat -c %s full/model.safetensors)
for limit in 1 2 3 4 6 8 10 12; do
    rm -rf "full$limit"
    (ulimit -f $limit && "$V" train --config few.json -o "full$limit" </dev/null >out 2>err)
    status=$?
    [ $status = 0 ] && break
    check "limit $limit: $(tail -1 err)" grep -q 'file-size limit' err
    check "limit $limit: no temporary file" test -z "$(ls -A "full$limit" 2>/dev/null | grep vitrine-)"
    check "limit $limit: the same command finishes" "$V" train --config few.json -o "full$limit" </dev/null >/dev/null 2>&1
    check "limit $limit: the same bytes" cmp -s full/model.safetensors "full$limit/model.safetensors"
done
check "some limit was too small for a model of $size bytes" test "$limit" -gt 1

# what is complete when the signal comes is done: status 0 and a model, or the signal's and what it goes on from
for delay in 0.02 0.05 0.1 0.15 0.2; do
    "$V" train --config few.json -o "late$delay" </dev/null >out 2>err &
    pid=$!
    sleep $delay
    kill -TERM $pid 2>/dev/null
    wait $pid
    status=$?
    if [ $status = 0 ]; then
        check "ended at $delay s: a model" test -e "late$delay/model.safetensors" -a ! -e "late$delay/training.safetensors"
    else
        same "stopped at $delay s" 143 $status
        check "stopped at $delay s: the same command finishes" "$V" train --config few.json -o "late$delay" </dev/null >/dev/null 2>&1
    fi
    check "$delay s: the same bytes" cmp -s full/model.safetensors "late$delay/model.safetensors"
done

# the model of photographs by its own recipe: a few of its steps, from drawn pictures, on one thread, and on two with an interruption;
# what `keep` took over is what the second run is compared with, in 16 bits
"$V" data 0-399 -o photographs/ --by-class >/dev/null || fail 'pictures for the model of photographs'
build=$(dirname "$V")
photos() { (export SHIPPED=$T/kept RECIPE=$ROOT/assets/photos.json && "$ROOT/assets/train-photos.sh" "$@"); }
if [ -x "$build/assets/make_half" ]; then
    photos "$build" one photographs --steps 8 --threads 1 >out 2>&1
    check "nothing to compare with yet" grep -q 'DIFFERENT  .*model.safetensors' out
    check "kept" photos keep "$build" one
    "$V" train --config "$ROOT/assets/photos.json" --pictures photographs --steps 8 --threads 2 -o two </dev/null >out 2>err &
    pid=$!
    for _ in $(seq 1500); do
        grep -q '^step ' err && break
        sleep 0.02
    done
    kill -TERM $pid
    wait $pid
    check "the model of photographs, interrupted: $(tail -1 err)" grep -q 'interrupted after step [0-7] of 8' err
    photos "$build" two photographs --steps 8 --threads 2 >out 2>&1
    same "the model of photographs again, interrupted and on another number of threads: $(tail -1 out)" 5 "$(grep -c '^equal ' out)"
    check "half the bytes" test "$(stat -c %s kept/model.safetensors)" -lt $(($(stat -c %s one/model.safetensors) * 51 / 100))
else
    skip "make_half is not built: make tested"
fi
finish train
