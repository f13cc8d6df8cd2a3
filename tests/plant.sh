#!/usr/bin/env bash
# Faults that `verify` must find: each is planted into a copy of one source file, a program is linked with it, and
# verify has to answer no and name the route that found it. None of them changes a term: folding alone calls them all equal.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
B=${B:-build/release}
CC=${CC:-gcc}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
shopt -s nullglob
OBJECTS=("$B"/tui/*.o)
LIBRARIES=("$B"/core_*.a "$B"/lessons.a "$B"/tui_*.a "$B"/assets.a)
export VITRINE_ISA=scalar # the portable kernels: two files to compile
MAPS=core/kernels/maps.inc SCALAR=(core/kernels/reference.c core/kernels/x86_fma.c)

# NAME FILE SED [UNIT…]: FILE with SED's change goes into the compilation of UNITs, of itself if there are none.
plant() {
    local name=$1 file=$2 to=$WORK/$1 unit objects=()
    mkdir -p "$to/$(dirname "$file")"
    sed "$3" "$file" >"$to/$file"
    if cmp -s "$file" "$to/$file"; then
        fail "$name: nothing was planted into $file"
        return 1
    fi
    shift 3
    for unit in "${@:-$to/$file}"; do
        $CC -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -ffp-contract=off -fno-math-errno -I"$to" -I. -c \
            -o "$to/fault${#objects[@]}.o" "$unit" || { fail "$name: does not compile"; return 1; }
        objects+=("$to/fault${#objects[@]}.o")
    done
    # shellcheck disable=SC2086
    $CC -o "$to/vitrine" "${objects[@]}" "${OBJECTS[@]}" -Wl,--start-group "${LIBRARIES[@]}" -Wl,--end-group \
        ${LDFLAGS:-} -lncursesw -ltinfo -ljansson -lmd4c -lz -lpcre2-8 -lutf8proc -lm -lpthread || { fail "$name: does not link"; return 1; }
}

# NAME ROUTE OPTIONS…: verify of the program with that fault says no, and that this route found it.
found() {
    local name=$1 route=$2 status=0
    shift 2
    "$WORK/$name/vitrine" verify "$@" >"$WORK/said" 2>&1 || status=$?
    if [ "$status" -eq 3 ] && grep -q "^$route: .*BEYOND the bound" "$WORK/said" && grep -q '^All equal, bit for bit' "$WORK/said"; then
        pass
    else
        fail "$name: status $status, not found by '$route': $(cat "$WORK/said")"
    fi
}

GRADIENT=(--gradient 'logits[o=star]')
plant exp "$MAPS" 's/0x1p-1f, *0x1.555554p-3f,  0x1.5554e8p-5f/0.502f, 0x1.555554p-3f, 0x1.5554e8p-5f/' "${SCALAR[@]}" && found exp Maps
plant exp3 "$MAPS" 's/0x1.5554e8p-5f/0.0418f/' "${SCALAR[@]}" && found exp3 Maps
plant gelu "$MAPS" 's/(0.044715 \* GELU_B)/(0.0449 * GELU_B)/' "${SCALAR[@]}" && found gelu Maps
plant tail "$MAPS" 's/(float)(3 \* GELU_C)/(float)(2.9 * GELU_C)/' "${SCALAR[@]}" && found tail Maps "${GRADIENT[@]}"
plant bias core/models/vit.c 's/weight_of(b, VIT_B_Q, vit_has(c, VIT_B_Q))/weight_of(b, VIT_B_K, vit_has(c, VIT_B_Q))/' && found bias Model
plant order core/models/vit.c 's/mlp(b, build_norm(b, "ln2", mid,/mlp(b, build_norm(b, "ln2", z,/' && found order Model
plant variance core/models/nn.c 's/"var", OP_DIV, sumsq, width/"var", OP_DIV, sumsq, graph_const(g, "less", DIMS_SCALAR, (float)(graph_dims_cells(g, n->over) - 1))/' &&
    found variance Model
plant rsqrt core/graph/grad_rules.c 's/"slope", cube, -0.5f/"slope", cube, -0.25f/' && found rsqrt Gradients "${GRADIENT[@]}"
plant slope core/graph/grad_rules.c 's/{true, MAP_GELU_TANH_GRAD}/{true, MAP_SILU_GRAD}/' && found slope Gradients "${GRADIENT[@]}"
plant quotient core/graph/grad_rules.c 's/return negate(b, graph_zip(g, grad_part(b, "quotient"), OP_DIV, sum, node.in\[1\]));/return graph_zip(g, grad_part(b, "quotient"), OP_DIV, sum, node.in[1]);/' &&
    found quotient Gradients "${GRADIENT[@]}"

# --- the same for texts: what both families share is found on the translator as well, and what is its own
TEXT=(-m translator -i "the cat is tired")
found exp Maps "${TEXT[@]}"
found variance Model "${TEXT[@]}"
found rsqrt Gradients "${TEXT[@]}" --gradient 'probs[t=le,v=chat]'
found quotient Gradients "${TEXT[@]}" --gradient 'probs[t=le,v=chat]'
plant text_bias core/models/seq2seq.c 's/\.b_q = next_weight(b, w, 1)/.b_q = next_weight(b, w, 3)/' && found text_bias Model "${TEXT[@]}"
plant text_memory core/models/seq2seq.c 's/^static NodeId sublayers/static NodeId early;\n&/; s/    x = sublayers(b, x);/&\n    early = b->layer == 0 \&\& !b->decoder ? x : early;/; s/b->memory = nodes.memory;/b->memory = step ? nodes.memory : early;/' &&
    found text_memory Model "${TEXT[@]}"
plant text_place core/models/seq2seq_embed.c 's/seq2seq_sinusoids(first, n,/seq2seq_sinusoids(first + 1, n,/' && found text_place Model "${TEXT[@]}"
plant text_mask core/models/seq2seq_places.c 's/\.first = first, \.window/.first = keys, .window/' && found text_mask Model "${TEXT[@]}"
plant text_norm core/models/seq2seq.c 's/return behind ? text_norm(b, s->norm, s->gamma, sum) : sum;/return behind ? text_norm(b, s->norm, s->gamma, out) : sum;/' &&
    found text_norm Model "${TEXT[@]}"
finish plant
