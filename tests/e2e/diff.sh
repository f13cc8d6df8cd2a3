#!/usr/bin/env bash
# `vitrine diff`: its exit status, what it prints, and traces written by a program that is not ours (python3 alone, no library).
# VITRINE=build/release/vitrine tests/e2e/diff.sh
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
V=$(realpath "${VITRINE:-build/release/vitrine}")
[ -x "$V" ] || { fail "$V is not built"; finish diff; exit 1; }
DATA=$PWD/tests/data/oracle/tiny MAP=$PWD/tests/data/diff/oracle.map
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
diff_v 3 'Different: blocks.0.attn.scale\[h=0\] is the first' off.npz -m "$DATA" -i "$DATA/image.ppm"
diff_v 0 '^Same' off.npz -m "$DATA" -c 'set scale off' -i "$DATA/image.ppm"
diff_v 3 'Different' a.safetensors off.npz -m "$DATA" -i "$DATA/image.ppm"
same "two traces, two verdicts" 2 "$(grep -cE '^(Same|Different): ' out)"

# --- an independent implementation, with its own names
diff_v 0 '69 tensors compared' "$DATA/expected.safetensors" -m "$DATA" --map "$MAP"
diff_v 0 '69 tensors compared' "$DATA/expected.safetensors" -m "$DATA" --map "$MAP" -i "$DATA/image.ppm"
diff_v 3 'blocks.0.attn.scores_scaled.*does not multiply the scores by 1/√d_k' "$DATA/whatif_scale_off.safetensors" -m "$DATA" --map "$MAP"
diff_v 3 'blocks.0.mlp.post.*tanh approximation' "$DATA/expected_gelu_tanh.safetensors" -m "$DATA" --map "$MAP"
diff_v 0 '^Same' "$DATA/expected_gelu_tanh.safetensors" -m "$DATA" --map "$MAP" --tolerance 0.01
diff_v 3 'Different: full_embed.*no position embeddings' "$DATA/whatif_no_positions.safetensors" -m "$DATA" --map "$MAP"

# --- two models
diff_v 0 '^settings   the same' "$DATA" "$DATA/model_timm.safetensors" -i "$DATA/image.ppm"
says '^weights    40 compared, 0 different'
diff_v 3 'what rounding to a shorter type makes' "$DATA" "$DATA/model_bf16.safetensors" -i "$DATA/image.ppm"
diff_v 0 '^settings   the same' "$DATA/model_timm.safetensors" -m "$DATA" -i "$DATA/image.ppm"
mkdir other && cp "$DATA/model.safetensors" "$DATA/preprocessor_config.json" other/
sed -e 's/"layer_norm_eps": *[^,]*/"layer_norm_eps": 0.001/' -e 's/"hidden_act": *"[^"]*"/"hidden_act": "quick_gelu"/' "$DATA/config.json" >other/config.json
diff_v 3 '^settings +activation +gelu +\| +quick_gelu' "$DATA" other -i "$DATA/image.ppm"
says 'ε of LayerNorm +1e-12 +\| +0.001'
says 'Different: blocks.0.ln1.eps is the first that is given otherwise'
says 'blocks.0.mlp.post.*quick GELU'

# --- JSON
"$V" diff "$DATA/whatif_scale_off.safetensors" -m "$DATA" --map "$MAP" --json >out
same "JSON's status" 3 $?
says '"cause":"the reference does not multiply the scores by 1/√d_k","whole":true,"rows":2'
says '"node":"blocks.1.mlp.out","recorded":"layer.1.mlp_out","axes":"t,d".*"state":"inherits"'

# --- a program that is not ours: a file of float32 arrays under Hugging Face's names, a tensor with a batch axis, one transposed, one wrong
if command -v python3 >/dev/null; then
    "$V" show blocks.0.attn.q -m "$DATA" -i "$DATA/image.ppm" -o q.npy >/dev/null
    "$V" show blocks.0.attn.z -m "$DATA" -i "$DATA/image.ppm" --axes h,t,e -o z.npy >/dev/null
    mkdir theirs
    python3 - <<'PY'
import struct, zipfile
def read(name):
    raw = open(name, "rb").read()
    n = struct.unpack("<H", raw[8:10])[0]
    return raw[10 + n:]
def write(name, shape, data):
    head = repr({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data)
q, z = read("q.npy"), read("z.npy")
write("theirs/vit.encoder.layer.0.attention.attention.query.npy", (1, 17, 32), q)
write("theirs/blocks.0.attn.hook_z.npy", (1, 4, 17, 8), z)
wrong = bytearray(q)
wrong[4 * 40:4 * 41] = struct.pack("<f", 9.0)
with zipfile.ZipFile("wrong.npz", "w") as f:
    write("w.npy", (1, 17, 4, 8), bytes(wrong))
    f.write("w.npy", "blocks.0.attn.hook_q.npy")
PY
    diff_v 0 '2 tensors compared' theirs -m "$DATA" -i "$DATA/image.ppm"
    says 'blocks.0.attn.z .*blocks.0.attn.hook_z \[h,t,e\]'
    diff_v 3 'Different: blocks.0.attn.q\[t=r0c0,h=1,e=0\] is the first' wrong.npz -m "$DATA" -i "$DATA/image.ppm"
else
    skip "a foreign trace: no python3"
fi

# --- what can't be compared: status 1 or 2, one line
diff_v 2 'diff needs a trace'
diff_v 2 'diff needs a trace' a b c
diff_v 2 "precision f8: expected f32, bf16 or f16" a.safetensors --precision f8
diff_v 2 "tolerance '-1'" a.safetensors --tolerance -1
diff_v 2 'takes no --at' a.safetensors --at logits
diff_v 2 'choose one' a.safetensors --open --json
diff_v 2 'leave -m' "$DATA" a.safetensors -m "$DATA"
diff_v 2 'needs a terminal' a.safetensors -m "$DATA" --open
diff_v 1 'nothing.npz' nothing.npz -m "$DATA" -i "$DATA/image.ppm"
diff_v 1 'nobody.map' "$DATA/expected.safetensors" -m "$DATA" --map nobody.map
diff_v 1 'mean something here .*--map' "$DATA/gradient.safetensors" -m "$DATA" -i "$DATA/image.ppm"
diff_v 1 'no input values .*fit this model' a.safetensors
printf 'layer.*.q = blocks.*.attn.w\n' >bad.map
diff_v 1 "bad.map: line 1: this model has no 'blocks" "$DATA/expected.safetensors" -m "$DATA" --map bad.map
head -c 1000 a.safetensors >short.safetensors
diff_v 1 'short.safetensors' short.safetensors -m "$DATA" -i "$DATA/image.ppm"
finish diff
