#!/bin/sh
# train-photos.sh BUILD FOLDER DATA [OPTION…]: trains the model of photographs in FOLDER, from the pictures of DATA by the recipe
# assets/photos.json, puts its weights into 16 bits and compares with the files of assets/trained/photos byte for byte. An interrupted
# run goes on when it is given again; a finished one is not repeated. OPTIONs go to `vitrine train`: --threads 1, --isa avx2.
# "train-photos.sh keep BUILD FOLDER" takes FOLDER's files over as the shipped ones, and its recipe as assets/photos.json.
set -eu
shipped=${SHIPPED:-assets/trained/photos}
copied='config.json preprocessor_config.json history.safetensors recipe.json'

if [ "$1" = keep ]; then
    mkdir -p "$shipped"
    for f in $copied; do cp "$3/$f" "$shipped/$f"; done
    "$2/assets/make_half" "$3/model.safetensors" "$shipped/model.safetensors"
    [ -n "${SHIPPED:-}" ] || cp "$3/recipe.json" assets/photos.json
    exit
fi
build=$1 folder=$2 data=$3
shift 3
[ -d "$data" ] || { echo "make train-photos DATA=FOLDER: a folder with a folder of photographs for each class; docs/photos.md says which"; exit 1; }
mkdir -p "$folder"
if [ ! -e "$folder/recipe.json" ] || [ -e "$folder/training.safetensors" ]; then
    echo "$(sed -n 's/.*"steps": \([0-9]*\).*/\1/p' "${RECIPE:-assets/photos.json}") steps, about 100 minutes of two idle cores for all; interrupted, it goes on with the next make train-photos"
    "$build/vitrine" train --config "${RECIPE:-assets/photos.json}" --pictures "$data" "$@" -o "$folder"
fi
"$build/assets/make_half" "$folder/model.safetensors" "$folder/half.safetensors"
same=0
compare() {
    if cmp -s "$1" "$2"; then
        echo "equal      $2"
    else
        echo "DIFFERENT  $2"
        same=1
    fi
}
for f in $copied; do compare "$folder/$f" "$shipped/$f"; done
compare "$folder/half.safetensors" "$shipped/model.safetensors"
exit $same
