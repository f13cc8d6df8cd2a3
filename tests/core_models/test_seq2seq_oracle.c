/* Every intermediate of the recorded encoder–decoder, in float64 from an independent implementation, against the
 * graph's node of that name. */
#include "tests/core_models/text_bench.h"

static const double TOLERANCE = 1e-5; /* of the largest absolute value of the tensor */

/* Recorded name → node; # is the block, @ stands for "self" or "cross". Heads stand first in head_out. */
static const struct {
    const char *recorded, *node;
} NAMES[] = {
    {"src.embed", "encoder.embed"},
    {"src.scaled", "encoder.embed_scaled"},
    {"src.pe", "encoder.pos_embed"},
    {"src.in", "encoder.full_embed"},
    {"tgt.embed", "decoder.embed"},
    {"tgt.scaled", "decoder.embed_scaled"},
    {"tgt.pe", "decoder.pos_embed"},
    {"tgt.in", "decoder.full_embed"},
    {"enc.#.input", "encoder.blocks.#.resid_pre"},
    {"enc.#.res1", "encoder.blocks.#.resid_mid"},
    {"enc.#.res2", "encoder.blocks.#.resid_post"},
    {"enc.#.output", "encoder.blocks.#.ln2.out"},
    {"dec.#.input", "decoder.blocks.#.resid_pre"},
    {"dec.#.res1", "decoder.blocks.#.resid_mid"},
    {"dec.#.res2", "decoder.blocks.#.resid_cross"},
    {"dec.#.res3", "decoder.blocks.#.resid_post"},
    {"dec.#.output", "decoder.blocks.#.ln3.out"},
    {"enc.#.ffn_pre", "encoder.blocks.#.mlp.pre"},
    {"enc.#.ffn_act", "encoder.blocks.#.mlp.post"},
    {"enc.#.ffn_out", "encoder.blocks.#.mlp.out"},
    {"dec.#.ffn_pre", "decoder.blocks.#.mlp.pre"},
    {"dec.#.ffn_act", "decoder.blocks.#.mlp.post"},
    {"dec.#.ffn_out", "decoder.blocks.#.mlp.out"},
    {"enc.norm.", "encoder.ln_final."},
    {"dec.norm.", "decoder.ln_final."},
    {"enc.#.norm1.", "encoder.blocks.#.ln1."},
    {"enc.#.norm2.", "encoder.blocks.#.ln2."},
    {"dec.#.norm1.", "decoder.blocks.#.ln1."},
    {"dec.#.norm2.", "decoder.blocks.#.ln2."},
    {"dec.#.norm3.", "decoder.blocks.#.ln3."},
    {"enc.#.self.", "encoder.blocks.#.self_attn."},
    {"dec.#.self.", "decoder.blocks.#.self_attn."},
    {"dec.#.cross.", "decoder.blocks.#.cross_attn."},
    {"memory", "memory"},
    {"decoded", "decoded"},
    {"logits", "logits"},
    {"probs", "probs"},
};
static const struct {
    const char *recorded, *node;
} ENDS[] = {
    {"mean", "mean"},
    {"var", "var"},
    {"rstd", "rstd"},
    {"xhat", "normalized"},
    {"out", "out"},
    {"q", "q"},
    {"k", "k"},
    {"v", "v"},
    {"scores_raw", "scores_raw"},
    {"scores", "scores_scaled"},
    {"scores_masked", "scores_masked"},
    {"scores_max", "row_max"},
    {"scores_exp", "exp"},
    {"scores_expsum", "row_sum"},
    {"probs", "pattern"},
    {"head_out", "z"},
    {"concat", "z"},
};

/* The rest of name behind the pattern, its # filled in out; NULL when it does not fit. */
static const char *fits(const char *pattern, const char *name, char *digit)
{
    for (; *pattern; pattern++, name++) {
        if (*pattern == '#' && *name >= '0' && *name <= '9')
            *digit = *name;
        else if (*pattern != *name)
            return NULL;
    }
    return name;
}

static bool node_of(const char *recorded, char *path, size_t n)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        char digit = '0', *out = path;
        const char *rest = fits(NAMES[i].recorded, recorded, &digit), *end = "";
        bool open = NAMES[i].node[strlen(NAMES[i].node) - 1] == '.';
        if (!rest || (!open && *rest))
            continue;
        for (size_t k = 0; open && k < sizeof ENDS / sizeof *ENDS; k++)
            if (strcmp(ENDS[k].recorded, rest) == 0)
                end = ENDS[k].node;
        if (open && !*end)
            continue;
        snprintf(path, n, "%s%s", NAMES[i].node, end);
        if ((out = strchr(path, '#')))
            *out = digit;
        return true;
    }
    return false;
}

static void load(TextBench *b, const char *file, bool final_norm, TensorFile *f)
{
    Err err = {""};
    double ids[32];
    *b = (TextBench){0};
    assert_true(tensors_open(f, file, &err));
    if (!text_model_load(&b->model, ENCDEC, NULL, NULL, &err))
        fail_msg("%s", err.text);
    b->model.text.final_norm = final_norm;
    const TensorInfo *s = tensors_find(f, "src_ids"), *t = tensors_find(f, "tgt_ids"),
                     *pad = tensors_find(f, "src_key_padding_mask");
    assert_true(tensors_read_f64(f, s, ids, &err));
    for (size_t i = 0; i < s->cells; i++)
        b->source[i] = (int)ids[i];
    b->input.source.n = (int)s->cells;
    if (t) {
        assert_true(tensors_read_f64(f, t, ids, &err));
        for (size_t i = 0; i < t->cells; i++)
            b->target[i] = (int)ids[i];
        b->input.target.n = (int)t->cells;
    }
    if (pad) {
        assert_true(tensors_read_f64(f, pad, ids, &err));
        for (size_t i = 0; i < pad->cells; i++)
            b->padding[i] = ids[i] != 0 ? 0.0f : 1.0f;
        b->input.padding = b->padding;
    }
}

/* Cell of z[t,h,e] that recorded cell i of head_out[h,t,e] stands for. */
static size_t heads_last(const Graph *g, NodeId n, size_t i)
{
    Dims d = graph_node(g, n)->dims;
    size_t t = (size_t)g->axes[d.axis[0]].n, h = (size_t)g->axes[d.axis[1]].n, e = (size_t)g->axes[d.axis[2]].n;
    return (i / e % t * h + i / (t * e)) * e + i % e;
}

static double compare(TextBench *b, const TensorFile *f, const TensorInfo *t, NodeId n)
{
    Err err = {""};
    double *want = malloc(t->cells * sizeof *want), largest = 0, worst = 0;
    const float *got = run_need(b->run, n);
    bool heads = strstr(t->name, "head_out") != NULL;
    assert_true(tensors_read_f64(f, t, want, &err));
    assert_int_equal(t->cells, graph_cells(&b->graph, n));
    for (size_t i = 0; i < t->cells; i++)
        if (isfinite(want[i]))
            largest = fmax(largest, fabs(want[i]));
    for (size_t i = 0; i < t->cells; i++) {
        double have = (double)got[heads ? heads_last(&b->graph, n, i) : i];
        if (!isfinite(want[i])) {
            assert_true(have == want[i]);
            continue;
        }
        double error = fabs(have - want[i]);
        if (!(error <= TOLERANCE * largest))
            fail_msg("%s: %s[%zu] is %.9g, recorded %.9g (largest %.3g)", f->path, t->name, i, have, want[i], largest);
        worst = largest > 0 ? fmax(worst, error / largest) : worst;
    }
    free(want);
    return worst;
}

static void check(const char *file, bool final_norm, size_t expected)
{
    TextBench b;
    TensorFile f;
    size_t compared = 0;
    double worst = 0;
    load(&b, file, final_norm, &f);
    text_bench_start(&b);
    for (size_t i = 0; i < f.count; i++) {
        char path[96];
        const TensorInfo *t = &f.tensors[i];
        if (strstr(t->name, "_ids") || strstr(t->name, "key_padding"))
            continue;
        if (!node_of(t->name, path, sizeof path))
            fail_msg("%s: recorded '%s' has no node", file, t->name);
        NodeId n = strcmp(path, "memory") == 0    ? b.nodes.memory
                   : strcmp(path, "decoded") == 0 ? b.nodes.decoded
                                                  : text_bench_node(&b, path);
        worst = fmax(worst, compare(&b, &f, t, n));
        compared++;
    }
    assert_int_equal(compared, expected);
    print_message("%s: %zu tensors, worst %.2g of the largest\n", file, compared, worst);
    tensors_close(&f);
    text_bench_free(&b);
}

static void plain(void **state)
{
    (void)state;
    check(ENCDEC "/expected.safetensors", true, 176);
}

static void padded(void **state)
{
    (void)state;
    check(ENCDEC "/expected_src_padded.safetensors", true, 180);
}

static void without_final_norms(void **state)
{
    (void)state;
    check(ENCDEC "/expected_no_final_norm.safetensors", false, 166);
}

/* Greedy from the first token: every step's shares, the words as recorded. One pass over the recorded words has all
 * steps in its rows: no row sees a later word. */
static void greedy(void **state)
{
    (void)state;
    TextBench b;
    TensorFile f;
    Err err = {""};
    double ids[16], probs[16 * 11];
    load(&b, ENCDEC "/expected_greedy.safetensors", true, &f);
    const TensorInfo *words = tensors_find(&f, "ids"), *shares = tensors_find(&f, "step_probs");
    assert_true(tensors_read_f64(&f, words, ids, &err) && tensors_read_f64(&f, shares, probs, &err));
    int steps = (int)shares->shape[0], v = (int)shares->shape[1];
    assert_int_equal(words->cells, steps + 1);
    for (int i = 0; i < steps; i++)
        b.target[i] = (int)ids[i];
    b.input.target.n = steps;
    text_bench_start(&b);
    const float *p = run_need(b.run, b.nodes.probs);
    for (int t = 0; t < steps; t++) {
        int best = 0;
        double largest = 0;
        for (int o = 0; o < v; o++) {
            best = p[t * v + o] > p[t * v + best] ? o : best;
            largest = fmax(largest, probs[t * v + o]);
        }
        for (int o = 0; o < v; o++)
            assert_true(fabs((double)p[t * v + o] - probs[t * v + o]) <= TOLERANCE * largest);
        assert_int_equal(best, (int)ids[t + 1]);
    }
    tensors_close(&f);
    text_bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(padded),
        cmocka_unit_test(without_final_norms),
        cmocka_unit_test(greedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
