#!/usr/bin/env bash
# Wrong inputs of every kind: one line that names the file, the problem and a remedy; exit status 1; nothing on standard output; soon.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
B=${B:-build/release}
VITRINE=$(realpath "${VITRINE:-$B/vitrine}")
DATA=$PWD/tests/data
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1

# refused WHAT PATTERN ARGUMENT…: `vitrine ARGUMENT…` ends with 1 and one line on stderr that matches.
refused() {
    local what=$1 pattern=$2 status
    shift 2
    timeout 10 "$VITRINE" "$@" >out 2>err </dev/null
    status=$?
    if [ $status -eq 1 ] && [ "$(grep -c . err)" -eq 1 ] && grep -qE -- "$pattern" err && [ ! -s out ] && ! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' err; then
        pass
    else
        fail "$what: status $status, $(grep -c . err) lines, '$(head -c 400 err)' should be one line like '$pattern'"
    fi
}
picture() { # FILE PATTERN
    refused "picture $1" "$(printf '%s' "$1" | sed 's/[].[*^$()+?{|\\]/\\&/g').*$2" run -i "$1"
}

: >empty.png
mkdir folder.png
mkfifo pipe.png
head -c 100 "$DATA/image/rgb8.png" >cut.png
cp "$DATA/image/rgb8.png" broken.png && printf 'X' | dd of=broken.png bs=1 seek=40 conv=notrunc 2>/dev/null
head -c 300 "$DATA/image/rgb444.jpg" >cut.jpg
printf 'BM\x00\x00\x00\x00' >cut.bmp
printf 'P6\n4294967297 1\n255\nxxx' >huge.ppm
printf 'P5\n16 16\n255\nabc' >short.pgm
printf 'P6\n-3 2\n255\n' >negative.ppm
printf '\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic' >photo.jpg
printf '\x00\x00\x00\x18ftypavif\x00\x00\x00\x00mif1avif' >photo.avif
printf 'RIFF\x10\x00\x00\x00WEBPVP8 ' >photo.webp
printf 'GIF89a\x01\x00\x01\x00' >anim.png
printf 'II*\x00\x08\x00\x00\x00' >scan.tif
printf '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>\n' >drawing.svg
printf '%%PDF-1.4\n' >paper.pdf
printf '<!DOCTYPE html><html>404</html>' >download.jpg
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n' >pointer.png
printf 'just some words\n' >words.png
head -c 5000 /dev/urandom >noise.png
cp words.png $'evil\e[31m\name.png'

picture missing.png 'No such file|not there|does not exist|no such'
picture empty.png 'empty'
picture folder.png 'director|folder'
picture pipe.png 'file'
picture cut.png '[a-z]'
picture broken.png 'damaged|checksum|CRC|corrupt'
picture cut.jpg '[a-z]'
picture cut.bmp '[a-z]'
picture huge.ppm 'PNM header|large'
picture short.pgm 'short|ends|end|truncated|fewer'
picture negative.ppm '[a-z]'
picture photo.jpg 'HEIC.*heif-convert'
picture photo.avif 'AVIF.*avifdec'
picture photo.webp 'WebP.*dwebp'
picture anim.png 'GIF.*convert'
picture scan.tif 'TIFF.*convert'
picture drawing.svg 'SVG.*rsvg-convert'
picture paper.pdf 'PDF'
picture download.jpg 'HTML|web page'
picture pointer.png 'LFS|lfs'
picture words.png '[a-z]'
picture noise.png '[a-z]'
refused 'a name with control characters' 'evil' run -i $'evil\e[31m\name.png'
refused 'no such drawn picture' '#' run -i '#-1'

# models
model() { # WHAT PATTERN PATH
    refused "model: $1" "$2" run -m "$3" -i "$DATA/image/rgb8.png"
}
good=$DATA/oracle/tiny
fresh() { # DIR: a good model to break
    rm -rf "$1"
    mkdir "$1"
    cp "$good"/model.safetensors "$good"/config.json "$good"/preprocessor_config.json "$1"
}
mkdir nothing
model 'missing' 'missing-model' missing-model
model 'empty folder' 'nothing' nothing
fresh a && head -c 4 a/model.safetensors >t && mv t a/model.safetensors
model 'four bytes' 'a/model.safetensors' a
fresh b && printf '\xff\xff\xff\xff\xff\xff\xff\x7f{}' >b/model.safetensors
model 'a header longer than the file' 'b/model.safetensors.*header' b
fresh c && head -c 20000 c/model.safetensors >t && mv t c/model.safetensors
model 'cut short' 'c/model.safetensors' c
fresh d && printf '{"hidden_size": 1, "hidden_size": 2}' >d/config.json
model 'a duplicate key' 'd/config.json.*(duplicate|twice|hidden_size)' d
fresh e && sed -i 's/"hidden_size": *[0-9]*/"hidden_size": 33/' e/config.json
model 'a wrong width' "e.*(expected|33)" e
fresh f && printf '{' >f/config.json
model 'JSON that ends' 'f/config.json' f
fresh g && sed -i 's/"num_attention_heads": *[0-9]*/"num_attention_heads": 1000000000/' g/config.json
model 'a billion heads' 'g' g
printf '\x80\x02}q\x00.' >old.pt
model 'a pickle' 'old.pt.*safetensors' old.pt
model 'a picture as a model' 'rgb8.png' "$DATA/image/rgb8.png"
refused 'a model as a picture' 'model.safetensors' run -i "$good/model.safetensors"

# what is asked of them
refused 'no such node' 'no block 9: blocks go from 0 to 3' show blocks.9.attn.q
refused 'no such index' 'h=9' explain 'blocks.0.attn.q[h=9]'
refused 'an unknown command' 'ablate' run -c 'ablte blocks.0.attn.z[h=1]'
refused 'a folder that is not there' 'no/such/dir' show logits -o no/such/dir/x.npy
"$VITRINE" show logits -o x.docx >out 2>err </dev/null
same "an unknown suffix: status" 2 $?
check "an unknown suffix: names what there is" grep -q 'x.docx.*npy' err
[ -e x.docx ] && fail "x.docx was made"
if [ -e /dev/full ]; then
    "$VITRINE" run >/dev/full 2>err
    same "a full disk: status" 1 $?
    check "a full disk: a message" grep -q . err
fi
"$VITRINE" run --nonsense >out 2>err </dev/null
same "an unknown option: status" 2 $?
"$VITRINE" vrify >out 2>err </dev/null
same "an unknown verb: status" 2 $?
check "an unknown verb: names the nearest" grep -q verify err
check "an unknown verb: one line" [ "$(grep -c . err)" -eq 1 ]

# and good ones stay good
for f in rgb8.png grey1.png rgba16.png rgb420_progressive.jpg palette8.bmp orientation.jpg; do
    check "$f is read" "$VITRINE" run -i "$DATA/image/$f" >/dev/null
done
# a long text is whole in what is recorded, and on screen says where it was cut
L=$DATA/families/words_llama
long=ids:10$(for i in $(seq 1 45); do printf ,1$((i % 9)); done)
check "run --json: the text is whole" grep -qF "\"input\":\"$long\"" <("$VITRINE" run -m "$L" -i "$long" --json </dev/null)
check "info --json: the text is whole" grep -qF "\"input\":\"$long\"" <("$VITRINE" info -m "$L" -i "$long" --json </dev/null)
check "score --json: the text is whole" grep -qF "\"text\":\"$long\"" <("$VITRINE" score -m "$L" "$long" --json </dev/null)
check "run: an ellipsis" grep -q '^ids:10,.*…, words_llama' <("$VITRINE" run -m "$L" -i "$long" </dev/null)
check "info: an ellipsis" grep -q '^input .*…$' <("$VITRINE" info -m "$L" -i "$long" </dev/null)
"$VITRINE" trace -m "$L" -i "$long" -o long.safetensors >/dev/null </dev/null
check "trace: the text is whole" grep -qaF "\"input\":\"$long\"" long.safetensors
"$VITRINE" show logits -m "$L" -i "$long" -o long.json >/dev/null </dev/null
check "show -o: the text is whole" grep -qF "\"input\":\"$long\"" long.json
check "diff: an ellipsis" grep -q '^here .*…$' <("$VITRINE" diff -m "$L" -i "$long" long.safetensors </dev/null)
check "diff --json: the text is whole" grep -qF "$long\"" <("$VITRINE" diff -m "$L" -i "$long" long.safetensors --json </dev/null)
finish inputs
