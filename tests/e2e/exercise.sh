#!/usr/bin/env bash
# `vitrine exercise`: the program with gaps says what to do, its own solution is the same as Vitrine's run, and mistakes put into it are
# named. C always, Python where numpy is.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
V=$(realpath "${VITRINE:-build/release/vitrine}")
[ -x "$V" ] || { fail "$V is not built"; finish exercise; exit 1; }
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
export HOME=$T/home XDG_STATE_HOME=$T/state

# run FILE: as its language is run; what it says is in said
run() {
    case $1 in
    *.py) "$PYTHON" "$1" >said 2>&1 ;;
    *) ${CC:-cc} -O1 -Wall -Wextra -Wno-unused-parameter -Wno-unused-function -o prog "$1" -lm >said 2>&1 && ./prog >said 2>&1 ;;
    esac
}

# named SUFFIX TRACE WHAT FROM TO: with FROM become TO in the solution, diff names WHAT
named() {
    sed -E "s#$4#$5#" "solution.$1" >"bad.$1"
    check "$1, $3: nothing was changed" differs "solution.$1" "bad.$1"
    run "bad.$1"
    "$V" diff "$2" -m "${2%.*}" >verdict 2>&1
    check "$1, $3: not named in $(grep -E '^(Same|Different)' verdict)" grep -qE "Likely cause: [^.]*$3" verdict
}
differs() { ! cmp -s "$1" "$2"; }

# all_of SUFFIX TRACE-SUFFIX
all_of() {
    local gaps=0 look
    "$V" exercise -o "mine.$1" >said && "$V" exercise solution -o "solution.$1" >said
    same "$1: both are written" 0 $?
    run "mine.$1"
    same "$1: a gap ends the program" 3 $?
    check "$1: no hint in $(cat said)" grep -q '^hint: ' said
    # each gap names the screen where its step stands, and that screen is there
    for look in $(sed '/---- what is given/q' "mine.$1" | grep -oE '"[a-z_0-9.]+(\[[a-z0-9=,]+\])?"\)' | tr -d '")'); do
        gaps=$((gaps + 1))
        check "$1: no screen at $look" "$V" screen -m vit-small -i vit-small/picture.safetensors:pixel_values --at "$look" -o screen.txt
    done
    check "$1: $gaps gaps" [ "$gaps" -ge 10 ]
    run "solution.$1"
    same "$1: the solution runs" 0 $?
    for model in vit-small vit-shapes; do
        "$V" diff "$model.$2" -m "$model" >said 2>&1
        same "$1: $model is the same: $(tail -n 1 said)" 0 $?
    done
    "$V" exercise -o "mine.$1" >said 2>&1
    same "$1: your work is not replaced" 2 $?
}

all_of c safetensors
named c vit-small.safetensors '1/√d_k' ' / sqrt\(E\)' ''
named c vit-small.safetensors 'D − 1 instead of D' '\(x\[t \* D \+ d\] - mean\) / D' '(x[t * D + d] - mean) / (D - 1)'
named c vit-small.safetensors 'residual connection' 'out\[i\] = stream\[i\] \+ update\[i\]' 'out[i] = update[i]'
PYTHON=''
for p in python3 /usr/bin/python3; do
    [ -n "$PYTHON" ] || { "$p" -c 'import numpy' 2>/dev/null && PYTHON=$p; }
done
if [ -n "$PYTHON" ]; then
    all_of py npz
    named py vit-small.npz '1/√d_k' ' / math.sqrt\(q.shape\[-1\]\)' ''
    named py vit-small.npz 'over the queries' 'x.max\(-1' 'x.max(-2#;s#e.sum\(-1#e.sum(-2'
    named py vit-small.npz 'row, column, channel' 'transpose\(1, 3, 0, 2, 4\)' 'transpose(1, 3, 2, 4, 0)'
    named py vit-small.npz 'stands last' '\[cls, x\]' '[x, cls]'
    named py vit-small.npz 'GELU with erf' 'np.tanh\(.*' 'np.vectorize(math.erf)(x / math.sqrt(2)))'
    named py vit-shapes.npz 'joins the heads' 'z.transpose\(1, 0, 2\)' 'z'
    named py vit-small.npz 'mean of all tokens' 'linear\(x\[0\]' 'linear(x.mean(0)'
else
    skip 'the exercise in Python (numpy is not installed)'
fi
finish exercise
