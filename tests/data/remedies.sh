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

# files that are not ours, by Python without a library
array() { # NAME SHAPE COUNT: a .npy of so many numbers
    python3 - "$@" <<'PY'
import struct, sys
name, shape, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
head = ("{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }" % shape).encode()
head += b" " * (-(len(head) + 11) % 64) + b"\n"
open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack("<%df" % n, *((i * 37 % 101) / 101 for i in range(n))))
PY
}
mkdir -p batch.npz && array batch.npz/pixel_values.npy 2,3,32,32 6144
v show logits -m "$DATA" -i "$P" -o l.npy >/dev/null && array batch.npz/classifier.npy 2,5 10
tensors() { # FILE NAME DTYPE [SHAPE]: one tensor of zeros
    python3 - "$@" <<'PY'
import json, math, struct, sys
file, name, dtype = sys.argv[1:4]
shape = [int(n) for n in (sys.argv + ["4"])[4].split(",")]
size = {"F32": 4, "I64": 8, "I8": 1, "F8_E4M3": 1}[dtype] * math.prod(shape)
head = json.dumps({name: {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}}).encode()
open(file, "wb").write(struct.pack("<Q", len(head)) + head + bytes(size))
PY
}
unnamed() { tensors unnamed.safetensors '' F32; v diff unnamed.safetensors -m "$DATA" -i "$P"; }
named() { # NAME: as the message says, in a .safetensors and without one in an .npz
    record answer '' logits && v show logits -m "$DATA" -i "$P" -o answer.npz >/dev/null && python3 - "$1" <<'PY'
import zipfile, sys
data = zipfile.ZipFile("answer.npz").read("logits.npy")
for name, file in ((sys.argv[1], "given.npz"), ("", "root.npz")):
    with zipfile.ZipFile(file, "w") as f:
        f.writestr(name + ".npy", data)
PY
    v diff given.npz -m "$DATA" -i "$P" && v diff root.npz -m "$DATA" -i "$P"
}
nozip() { python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w").writestr("readme.txt", "x")' "$1"; }
pickled() { python3 -c 'import sys, zipfile; f = zipfile.ZipFile(sys.argv[1], "w"); f.writestr("m/data.pkl", b"\x80\x02}q\x00."); f.writestr("m/version", "3")' "$1"; }
script() { python3 -c 'import sys, zipfile; f = zipfile.ZipFile(sys.argv[1], "w"); f.writestr("m/data.pkl", b"\x80\x02}q\x00."); f.writestr("m/constants.pkl", b"\x80\x02)."); f.writestr("m/code/a.py", "x")' "$1"; }
# The Python of a message, between its quotes, is Python. (It is run with PyTorch by hand: PyTorch is no dependency of the tests.)
compiles() { python3 -c 'import re, sys; compile(re.search("\"(.*)\"", sys.argv[1]).group(1), "said", "exec")' "$1"; }
none_in() { mkdir -p "$1" && cp "$DATA/config.json" "$1/" && python3 -c 'import struct, sys; open(sys.argv[1] + "/model.safetensors", "wb").write(struct.pack("<Q", 2) + b"{}")' "$1"; }
sharded() { # FOLDER: tiny's tensors with an index
    cp "$DATA/config.json" "$DATA/model.safetensors" "$1/" && python3 - "$1" <<'PY'
import json, struct, sys
raw = open(sys.argv[1] + "/model.safetensors", "rb").read()
head = json.loads(raw[8:8 + struct.unpack("<Q", raw[:8])[0]])
json.dump({"weight_map": {k: "model.safetensors" for k in head if k != "__metadata__"}}, open(sys.argv[1] + "/model.safetensors.index.json", "w"))
PY
}
full() { # N [COMMANDS]: N changes, then these, then one more
    local i line=''
    for ((i = 0; i < $1; i++)); do line+="set blocks.$((i / 50)).resid_post[t=$((i % 50)),d=3] 0; "; done
    x "$line${2:-}set blocks.3.resid_post[t=60,d=1] 1"
}
rewrite() { # FOLDER PYTHON: its tensors, {name: (dtype, shape, bytes)} in t, written back after those lines
    python3 - "$1/model.safetensors" "$2" <<'PY'
import json, struct, sys
raw = open(sys.argv[1], "rb").read()
n = struct.unpack("<Q", raw[:8])[0]
head = json.loads(raw[8:8 + n])
head.pop("__metadata__", None)
t = {k: (v["dtype"], v["shape"], raw[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]]) for k, v in head.items()}
exec(sys.argv[2])
out, data = {}, b""
for k, (dtype, shape, values) in t.items():
    out[k] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
    data += values
text = json.dumps(out).encode()
open(sys.argv[1], "wb").write(struct.pack("<Q", len(text)) + text + data)
PY
}
extra() { model "$1" && rewrite "$1" 't["vit.decoder.weight"] = ("F32", [1], bytes(4))'; } # FOLDER
quantised() { # FOLDER DTYPE
    model "$1" && [ "$2" = F32 ] || rewrite "$1" 'k = "classifier.bias"; d, s, b = t[k]; t[k] = ("'"$2"'", s, bytes(s[0]))'
}
no_heads() { model "$1" && python3 -c 'import json, sys; c = json.load(open(sys.argv[1])); del c["num_attention_heads"]; json.dump(c, open(sys.argv[1], "w"))' "$1/config.json"; }
registers() { # a timm DINOv2 whose name promises registers
    FROM=$D/families/timm_dinov2_giant model t && sed -i -E 's/_dinov2/_reg4_dinov2/' t/config.json
}
batch_file() { # an .npz of two pictures
    [ -e both.npz ] || python3 -c 'import zipfile; zipfile.ZipFile("both.npz", "w").write("batch.npz/pixel_values.npy", "pixel_values.npy")'
    echo both.npz
}
v show blocks.0.attn.scores_raw -m "$DATA" -i "$P" -o s.npy >/dev/null && mkdir -p ambiguous.npz && array ambiguous.npz/patch_embed.npy 4,4,32 512
long_picture() { python3 -c 'open("long.ppm", "wb").write(b"P6 20000 1 255\n" + bytes(60000))'; }
mkdir few && v data 17 -o few/star/ >/dev/null && v data 4 -o few/ring/ >/dev/null
mkdir ten && for n in 17-star 4-ring; do k=${n#*-}; v data "${n%-*}" -o ten/$k/ >/dev/null; v data "${n%-*}" --series 3 -o ten/$k/ >/dev/null; cp ten/$k/$n.png ten/$k/again.png; done
record norm.npz '' $image blocks.0.ln1.out=norm logits
record odd.npz '' $image blocks.0.attn.q=mine logits
record one.npz '' $image
for i in 1 2; do record one.npz '' "blocks.$((i - 1)).resid_post=encoder.layer.$i" "blocks.$((i - 1)).mlp.pre=encoder.layer.$i.intermediate.dense"; done
without() { # FOLDER KEY: its configuration files without that key
    python3 - "$@" <<'PY'
import json, os, sys
for name in ("config.json", "preprocessor_config.json"):
    path = sys.argv[1] + "/" + name
    if os.path.exists(path):
        c = json.load(open(path))
        c.pop(sys.argv[2], None)
        c.pop("size", None)
        json.dump(c, open(path, "w"))
PY
}
narrow() { python3 -c 'import sys; n = int(sys.argv[1]); open("narrow.ppm", "wb").write(b"P6 %d 1 255\n" % n + bytes(3 * n))' "$1"; } # WIDTH of one row of pixels
digest() { v run -m "$DATA" -i "$P" "@$1:ffff" 2>&1 | sed -nE 's/.* has the digest ([0-9a-f]+) here.*/\1/p'; } # of tiny or its picture, as links say it

# a training that was interrupted, whose step is then changed
torn_again() { timeout -s INT 0.7 "$V" train --config long.json --threads 1 -o torn >torn.txt 2>&1 </dev/null; cat torn.txt; grep -q 'interrupted after step' torn.txt; }
torn() {
    printf '{"steps": 100000, %s}' "$SMALL" >long.json
    torn_again >/dev/null && python3 - <<'PY'
import json, struct
raw = bytearray(open("torn/training.safetensors", "rb").read())
n = struct.unpack("<Q", raw[:8])[0]
at = 8 + n + json.loads(raw[8:8 + n])["state.step"]["data_offsets"][0]
raw[at:at + 4] = struct.pack("<f", 200000)
open("torn/training.safetensors", "wb").write(raw)
PY
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
card() { # N COMMAND: on the card that so many blanks go on to, of a lesson that was not opened before
    rm -rf "$HOME" "$XDG_STATE_HOME"
    { echo 'lesson 1' && yes ' ' | head -n "$1" && echo "$2"; } | "$V" --plain
}
