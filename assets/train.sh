#!/bin/sh
# train.sh PROGRAM FOLDER [OPTION…]: trains the bundled picture model, its twin (the same recipe and seed without 1/√d_k) and the translator in
# FOLDER and compares
# them byte for byte with the files of assets/trained (the twin's own model is there for the tests, not in the binary). An interrupted run goes on when it is given again; a finished one is not repeated.
# OPTIONs go to `vitrine train`: --threads 1, --isa avx2. "train.sh keep FOLDER" takes FOLDER's files over as the shipped ones.
set -eu
cd "$(dirname "$0")/.."
program=$1 folder=$2
shift 2
files='model.safetensors config.json preprocessor_config.json history.safetensors recipe.json'
twins='model.safetensors config.json preprocessor_config.json'
shipped=assets/trained
words='model.safetensors config.json vocabulary.json history.safetensors recipe.json'

if [ "$program" = keep ]; then
    mkdir -p "$shipped/twin"
    for f in $files; do cp "$folder/model/$f" "$shipped/$f"; done
    for f in $twins; do cp "$folder/twin/$f" "$shipped/twin/$f"; done
    mkdir -p "$shipped/translator"
    for f in $words; do cp "$folder/translator/$f" "$shipped/translator/$f"; done
    cp "$folder/twin/history.safetensors" "$shipped/history-twin.safetensors"
    exit
fi
mkdir -p "$folder"
finished() { [ -e "$1/recipe.json" ] && [ ! -e "$1/training.safetensors" ]; }
finished "$folder/model" || "$program" train "$@" -o "$folder/model"
finished "$folder/twin" || "$program" train --config assets/twin.json "$@" -o "$folder/twin"
finished "$folder/translator" || "$program" train --config assets/translator.json "$@" -o "$folder/translator"
same=0
compare() {
    if cmp -s "$1" "$2"; then
        echo "equal      $2"
    else
        echo "DIFFERENT  $2"
        same=1
    fi
}
for f in $files; do compare "$folder/model/$f" "$shipped/$f"; done
for f in $twins; do compare "$folder/twin/$f" "$shipped/twin/$f"; done
for f in $words; do compare "$folder/translator/$f" "$shipped/translator/$f"; done
compare "$folder/twin/history.safetensors" "$shipped/history-twin.safetensors"
exit $same
