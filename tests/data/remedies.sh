# What the trials of tests/data/remedies.txt work with; read by tests/e2e/remedies.sh.

# recordings: folders of .npy are traces too
record() { # FOLDER COMMANDS NODE[=NAME]…: nodes of tiny's run
    local to=$1 commands=$2 pair
    mkdir -p "$to"
    shift 2
    for pair; do v show "${pair%%=*}" -m "$DATA" -i "$P" -c "$commands" -o "$to/${pair#*=}.npy" >/dev/null || return; done
}
image='image=pixel_values'
record many.npz '' $image logits
for i in 0 1 2 3 4 5 6 7 8 9 10 11; do record many.npz 'set blocks.0.attn.q[t=1] 3' "blocks.0.attn.q=foreign.$i"; done
record rounded.npz 'set precision bf16' $image blocks.0.attn.q=blocks.0.attn.hook_q logits
ODD='set blocks.0.attn.z[t=3,h=1] 7' # a mistake without a name
record far.npz "$ODD" full_embed blocks.1.resid_post
more() { # the recording with one more tensor
    record "$1" "$ODD" "$2" && echo "$1"
}

# recipes of trainings that are over at once
SMALL='"batch": 8, "warmup": 1, "check": 4, "log_every": 2000, "model": {"image": 12, "patch": 6, "width": 8, "layers": 1, "heads": 2, "mlp": 8}'
TEXT='"kind": "text", "batch": 8, "check": 4, "log_every": 2000, "model": {"width": 8, "heads": 2, "mlp": 8, "encoder_layers": 1, "decoder_layers": 1}'
printf '{"steps": 4, %s}' "$SMALL" >four.json
recipe() { # JSON: a training by it
    printf '%s' "$1" >recipe.json
    rm -rf learned
    v train --config recipe.json --threads 1 -o learned
}
recipe_in() { v train --config four.json --threads 1 -o "$1"; } # FOLDER

# a timm model with one value of its own in pretrained_cfg
timm() { # KEY VALUE
    rm -rf t && mkdir t && cp "$DATA/model_timm.safetensors" t/model.safetensors
    tr '\n' ' ' <"$DATA/config_timm.json" | sed -E "s/\"$1\": *(\[[^]]*\]|\"[^\"]*\"|[^,} ]*) *,?//; s/\"pretrained_cfg\": *\{/&\"$1\": $2, /; s/, *\}/}/g" >t/config.json
    grep -q "$1" t/config.json
}
recipe_pictures() { rm -rf learned; v train --config four.json --threads 1 --pictures "$1" -o learned; } # FOLDER

# a JAX file, whose heads stand in the tensors, with a config.json that says how many there are
jax() { # FOLDER HEADS
    mkdir -p "$1" && cp "$D"/families/jax/model.npz "$1/" && cp "$D"/families/jax/*.json "$1/" 2>/dev/null
    printf '{"num_attention_heads": %s}' "$2" >"$1/config.json"
}

record some.npz '' $image blocks.0.attn.q
record two.npz '' blocks.1.attn.q=other blocks.1.attn.k=another
mkdir -p wordless.npz && v show decoder.blocks.2.ln3.out -m translator -i "the cat is tired > le chat" -o wordless.npz/decoder.layers.2.npy >/dev/null
printf 'goto first\npause 1\nnext\npause 1\n' >talk.txt

v show image -m "$DATA" -i "$P" -o pixels.npy >/dev/null
array() { # NAME SHAPE COUNT: so many numbers
    cat <(values pixels.npy) <(values pixels.npy) | head -c $((4 * $3)) | npy "$2" >"$1"
}
mkdir -p batch.npz && array batch.npz/pixel_values.npy 2,3,32,32 6144 && array batch.npz/classifier.npy 2,5 10
tensors() { # FILE NAME DTYPE [SHAPE]: one tensor of zeros
    local shape=${4:-4} bytes head
    bytes=$((${shape//,/*} * ($(tr -dc 0-9 <<<"${3%%_*}") / 8)))
    head="{\"$2\":{\"dtype\":\"$3\",\"shape\":[$shape],\"data_offsets\":[0,$bytes]}}"
    head -c $bytes /dev/zero | safetensors "$head" >"$1"
}
unnamed() { tensors unnamed.safetensors '' F32; v diff unnamed.safetensors -m "$DATA" -i "$P"; }
named() { # NAME: as the message says, in a .safetensors and without one in an .npz
    v show logits -m "$DATA" -i "$P" -o answer.npy >/dev/null && zipped given.npz "$1.npy" answer.npy && zipped root.npz .npy answer.npy
    v diff given.npz -m "$DATA" -i "$P" && v diff root.npz -m "$DATA" -i "$P"
}
printf x >x
printf '\x80\x02}q\0.' >pickle
nozip() { zipped "$1" readme.txt x; }
pickled() { zipped "$1" m/data.pkl pickle m/version x; }
script() { zipped "$1" m/data.pkl pickle m/constants.pkl pickle m/code/a.py x; }
# The Python of a message is one word of a command line. (It is run with PyTorch by hand: PyTorch is no dependency of the tests.)
compiles() { bash -n <<<"$1" && eval "set -- $1" && [ "$1 $2 $#" = 'python3 -c 3' ]; }
none_in() { mkdir -p "$1" && cp "$DATA/config.json" "$1/" && safetensors '{}' </dev/null >"$1/model.safetensors"; }
sharded() { # FOLDER: tiny's tensors with an index
    cp "$DATA/config.json" "$DATA/model.safetensors" "$1/"
    printf '{"weight_map": {%s}}' "$(header "$1/model.safetensors" | grep -oE '"[^"]+":\{"dtype"' | sed 's/:.*/: "model.safetensors"/' | paste -sd ,)" >"$1/model.safetensors.index.json"
}
full() { # N [COMMANDS]: N changes, then these, then one more
    local i line=''
    for ((i = 0; i < $1; i++)); do line+="set blocks.$((i / 50)).resid_post[t=$((i % 50)),d=3] 0; "; done
    x "$line${2:-}set blocks.3.resid_post[t=60,d=1] 1"
}
retyped() { # FOLDER TENSOR DTYPE SHAPE BYTES: it is of that type and shape, and only its first bytes stay
    local file=$1/model.safetensors head from to data
    head=$(header "$file")
    data=$((9 + ${#head}))
    read -r from to < <(sed -E "s/.*\"$2\":\{[^}]*\[([0-9]+),([0-9]+)\]\}.*/\1 \2/" <<<"$head")
    head=$(sed -E "s/(\"$2\":\{)[^}]*\}/\1\"dtype\":\"$3\",\"shape\":[$4],\"data_offsets\":[$from,$to]}/" <<<"$head" |
        awk -v from="$from" -v to="$to" -v gone=$((to - from - $5)) '{
            while (match($0, /"data_offsets":\[[0-9]+,[0-9]+\]/)) {
                split(substr($0, RSTART + 16, RLENGTH - 17), at, ",")
                if (at[1] >= to) {at[1] -= gone; at[2] -= gone} else if (at[1] == from) at[2] -= gone
                out = out substr($0, 1, RSTART + 15) at[1] "," at[2] "]"
                $0 = substr($0, RSTART + RLENGTH)
            }
            print out $0}')
    { tail -c +$data "$file" | head -c $((from + $5)); tail -c +$((data + to)) "$file"; } | safetensors "$head" >retyped
    cp retyped "$file"
}
extra() { # FOLDER: a tensor more
    local head size
    model "$1" && head=$(header "$1/model.safetensors" | sed 's/ *$//')
    size=$(($(stat -c %s "$DATA/model.safetensors") - 8 - $(header "$DATA/model.safetensors" | wc -c)))
    head="${head%\}},\"vit.decoder.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[$size,$((size + 4))]}}"
    { tail -c $size "$DATA/model.safetensors"; le 0 4; } | safetensors "$head" >"$1/model.safetensors"
}
quantised() { # FOLDER DTYPE
    model "$1" && [ "$2" = F32 ] || retyped "$1" classifier.bias "$2" 5 5
}
registers() { # a timm DINOv2 whose name promises registers
    FROM=$D/families/timm_dinov2_giant model t && sed -i -E 's/_dinov2/_reg4_dinov2/' t/config.json
}
batch_file() { # an .npz of two pictures
    [ -e both.npz ] || zipped both.npz pixel_values.npy batch.npz/pixel_values.npy
    echo both.npz
}
v show blocks.0.attn.scores_raw -m "$DATA" -i "$P" -o s.npy >/dev/null && mkdir -p ambiguous.npz && array ambiguous.npz/patch_embed.npy 4,4,32 512
mkdir few && v data 17 -o few/star/ >/dev/null && v data 4 -o few/ring/ >/dev/null
mkdir ten && for n in 17-star 4-ring; do k=${n#*-}; v data "${n%-*}" -o ten/$k/ >/dev/null; v data "${n%-*}" --series 3 -o ten/$k/ >/dev/null; cp ten/$k/$n.png ten/$k/again.png; done
record norm.npz '' $image blocks.0.ln1.out=norm logits
record odd.npz '' $image blocks.0.attn.q=mine logits
record one.npz '' $image
for i in 1 2; do record one.npz '' "blocks.$((i - 1)).resid_post=encoder.layer.$i" "blocks.$((i - 1)).mlp.pre=encoder.layer.$i.intermediate.dense"; done
without() { # FOLDER KEY: its configuration files without that key, and without a size
    local file key
    for file in "$1"/config.json "$1"/preprocessor_config.json; do
        for key in "$2" size; do
            [ -e "$file" ] || continue
            tr '\n' ' ' <"$file" | sed -E "s/\"$key\": *(\[[^]]*\]|\"[^\"]*\"|\{[^}]*\}|[^,} ]*) *,?//; s/, *\}/}/g" >less.json
            cp less.json "$file"
        done
    done
}
narrow() { { printf 'P6 %d 1 255\n' "$1"; head -c $((3 * $1)) /dev/zero; } >narrow.ppm; } # WIDTH of one row of pixels
digest() { v run -m "$DATA" -i "$P" "@$1:ffff" 2>&1 | sed -nE 's/.* has the digest ([0-9a-f]+) here.*/\1/p'; } # of tiny or its picture, as links say it

# a training that was interrupted, whose step is then changed
torn_again() { timeout -s INT 0.7 "$V" train --config long.json --threads 1 -o torn >torn.txt 2>&1 </dev/null; cat torn.txt; grep -q 'interrupted after step' torn.txt; }
torn() {
    printf '{"steps": 100000, %s}' "$SMALL" >long.json
    torn_again >/dev/null || return
    local at
    at=$(header torn/training.safetensors | sed -E 's/.*"state.step":\{[^}]*\[([0-9]+),[0-9]+\]\}.*/\1/')
    printf '\x00\x50\x43\x48' | # 200000
        dd of=torn/training.safetensors bs=1 seek=$((8 + $(header torn/training.safetensors | wc -c) + at)) conv=notrunc 2>/dev/null
}
# a model that learned from one of each class' two pictures
pairs() {
    local d k
    rm -rf pairs learned
    for d in 17-star 4-ring; do
        k=pairs/${d#*-}
        mkdir -p "$k" && v data "${d%-*}" -o "$k/" >/dev/null && v data "${d%-*}" --series 3 -o "$k/" >/dev/null
    done
    recipe_pictures pairs >/dev/null
}
# examines it on one picture of each at a time: in one of these four folders it has learned from both
learnt_alone() {
    local star ring n=0
    for star in pairs/star/*; do
        for ring in pairs/ring/*; do
            n=$((n + 1))
            mkdir -p alone.$n/star alone.$n/ring && cp "$star" alone.$n/star/ && cp "$ring" alone.$n/ring/
            v evaluate -m learned --pictures alone.$n
        done
    done
}
taken() { v receipt --help | grep -om 1 'v1-[0-9a-f]*-.*'; } # a receipt about #17
card() { # N COMMAND: on the card that so many n lead to, of a lesson that was not opened before
    rm -rf "$HOME" "$XDG_STATE_HOME"
    { echo 'lesson 1' && yes n | head -n "$1" && echo "$2"; } | "$V" --plain
}
