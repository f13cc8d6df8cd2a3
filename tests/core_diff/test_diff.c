/* Comparing with recorded forward passes: agreement, names, shapes, gaps, and files that can't be meant. */
#include "tests/core_diff/diffing.h"

#include "core/models/direct.h"

#define ORACLE_MAP "tests/data/diff/oracle.map"

static void compare_oracle(const char *model, const char *file, Precision p, Compared *d, Side *s)
{
    char picture[200], path[200];
    DiffMap map;
    Err err = {""};
    snprintf(picture, sizeof picture, "%s/image.ppm", strncmp(model, TINY, strlen(TINY)) == 0 ? TINY : ORACLE "nobias");
    snprintf(path, sizeof path, "%s/%s", strncmp(model, TINY, strlen(TINY)) == 0 ? TINY : ORACLE "nobias", file);
    side_open(s, model, picture);
    if (!diff_map_read(&map, ORACLE_MAP, s->subject.graph, &err))
        fail_msg("%s", err.text);
    compare_with(d, s, path, &map, p);
    diff_map_free(&map);
}

/* An independent implementation in float64: the same, and far within the tolerance. */
static void the_oracle_agrees(void **state)
{
    (void)state;
    static const struct {
        const char *model, *file;
        int rows;
    } cases[] = {{TINY, "expected.safetensors", 69},
                 {TINY "/model_timm.safetensors", "expected.safetensors", 69},
                 {ORACLE "nobias", "expected.safetensors", 41},
                 {TINY "/model_bf16.safetensors", "expected_bf16.safetensors", 69}};
    double worst_local = 0, worst_through = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Compared d;
        Side s;
        compare_oracle(cases[i].model, cases[i].file, PRECISION_F32, &d, &s);
        if (!d.report.same)
            fail_msg("%s: %s", cases[i].model, buf_str(&d.verdict));
        assert_int_equal(d.report.count, cases[i].rows);
        assert_int_equal(d.reference.unknown_count, 0);
        assert_int_equal(d.report.begins + d.report.inherits + d.report.cause_count, 0);
        for (int k = 0; k < d.report.count; k++) {
            worst_local = fmax(worst_local, d.report.row[k].local.largest);
            worst_through = fmax(worst_through, d.report.row[k].through.largest);
            assert_true(d.report.row[k].through.cosine > 0.999999);
        }
        compare_free(&d);
        side_close(&s);
    }
    print_message("  worst error %.2g local, %.2g through\n", worst_local, worst_through);
    assert_true(worst_local < DIFF_TOLERANCE / 2 && worst_through < DIFF_TOLERANCE / 2 && worst_through > 0);
}

/* The oracle's own changes of the model, and what the verdict says of each. */
static void the_oracle_differs(void **state)
{
    (void)state;
    static const struct {
        const char *file, *at, *says;
        int begins;
    } cases[] = {
        {"whatif_scale_off.safetensors", "blocks.0.attn.scores_scaled", "does not multiply the scores by 1/√d_k", 2},
        {"whatif_scale_x4.safetensors", "blocks.0.attn.scores_scaled", "by 1.414, not by 0.3536", 2},
        {"expected_gelu_tanh.safetensors", "blocks.0.mlp.post", "tanh approximation", 2},
        {"whatif_no_mlp_0.safetensors", "blocks.0.mlp.out", "", 1},
        {"whatif_no_positions.safetensors", "full_embed", "no position embeddings", 1},
        {"whatif_ablate_1_2_zero.safetensors", "blocks.1.attn.z", "",
         2}, /* recorded by heads and side by side: two rows */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Compared d;
        Side s;
        compare_oracle(TINY, cases[i].file, PRECISION_F32, &d, &s);
        assert_false(d.report.same);
        const char *at = graph_node(s.subject.graph, d.report.row[d.report.cause[0].row].tensor->node)->path;
        if (strcmp(at, cases[i].at) != 0 || !strstr(d.report.cause[0].text, cases[i].says) ||
            d.report.begins != cases[i].begins || (*cases[i].says == 0) != (*d.report.cause[0].text == 0))
            fail_msg("%s: %d begin; %s", cases[i].file, d.report.begins, buf_str(&d.verdict));
        assert_true(d.report.inherits > 5); /* what follows has other inputs, and is not blamed */
        compare_free(&d);
        side_close(&s);
    }
}

/* --- names and shapes --- */

typedef struct Recorded {
    const char *name, *node;
    int rank;
    size_t shape[5];
    const char *axes; /* the order in which the cells are to be written; NULL: the node's */
} Recorded;

/* Writes nodes of our run under other names and shapes; the cells of `axes` order are moved by the layout's own
 * inverse, which the test of layouts checks by hand. */
static void write_recorded(Side *s, const Recorded *r, int count, const char *path)
{
    TensorOut out[64];
    float *copies[64] = {NULL};
    Err err = {""};
    assert_true(count <= 64);
    for (int i = 0; i < count; i++) {
        NodeId n = graph_find(s->subject.graph, r[i].node);
        assert_int_not_equal(n, NO_NODE);
        const float *x = run_need(s->bench.run, n);
        size_t cells = graph_cells(s->subject.graph, n), all = 1;
        out[i] = (TensorOut){.name = r[i].name, .rank = r[i].rank, .data = x};
        memcpy(out[i].shape, r[i].shape, sizeof r[i].shape);
        for (int k = 0; k < r[i].rank; k++)
            all *= r[i].shape[k];
        if (r[i].axes) {
            DiffLayout l;
            float *index = malloc(cells * sizeof *index), *place = malloc(cells * sizeof *place);
            copies[i] = malloc(cells * sizeof *x);
            assert_int_equal(diff_layout_find(s->subject.graph, n, r[i].shape, r[i].rank, r[i].axes, &l, NULL, 0),
                             DIFF_FIT);
            assert_string_equal(l.told ? r[i].axes : "", r[i].axes);
            for (size_t c = 0; c < cells; c++)
                index[c] = (float)c;
            diff_layout_apply(&l, index, place);
            for (size_t c = 0; c < cells; c++)
                copies[i][(size_t)place[c]] = x[c];
            out[i].data = copies[i];
            free(index);
            free(place);
        }
        assert_int_equal(all, cells);
    }
    if (!tensors_write(path, TF_SAFETENSORS, out, (size_t)count, NULL, &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < count; i++)
        free(copies[i]);
}

static void all_same(Side *s, const Recorded *r, int count, DiffFamily family)
{
    Compared d;
    write_recorded(s, r, count, trace_path());
    compare_with(&d, s, trace_path(), NULL, PRECISION_F32);
    if (!d.report.same || d.report.count != count || d.reference.family != family || d.reference.unknown_count)
        fail_msg("%d rows of %d, %d unknown (%s), %s: %s", d.report.count, count, d.reference.unknown_count,
                 d.reference.unknown_count ? d.reference.unknown[0] : "", diff_family_name(d.reference.family),
                 buf_str(&d.verdict));
    for (int i = 0; i < count; i++) {
        const DiffRow *row = &d.report.row[i];
        bool found = false;
        for (int k = 0; k < count; k++)
            found = found || (strcmp(r[k].name, row->tensor->name) == 0 &&
                              strcmp(graph_node(s->subject.graph, row->tensor->node)->path, r[k].node) == 0);
        if (!found)
            fail_msg("'%s' was taken for %s", row->tensor->name, graph_node(s->subject.graph, row->tensor->node)->path);
        assert_true(row->through.largest == 0 && row->local.largest == 0 && row->through.cosine > 0.9999999);
    }
    compare_free(&d);
}

/* tiny: 17 tokens, 4 heads of 8, width 32, MLP 64, 2 blocks, 4 × 4 patches of 8 × 8, 5 classes. */
static void names_of_programs(void **state)
{
    (void)state;
    static const Recorded HF[] = {
        {"pixel_values", "image", 4, {1, 3, 32, 32}, NULL},
        {"vit.embeddings.patch_embeddings.projection", "patch_embed", 4, {1, 32, 4, 4}, "d,y,x"},
        {"vit.embeddings", "full_embed", 3, {1, 17, 32}, NULL},
        {"vit.encoder.layer.0.layernorm_before", "blocks.0.ln1.out", 3, {1, 17, 32}, NULL},
        {"vit.encoder.layer.0.attention.attention.query", "blocks.0.attn.q", 3, {1, 17, 32}, NULL},
        {"vit.encoder.layer.0.attention.attention.key", "blocks.0.attn.k", 3, {1, 17, 32}, NULL},
        {"vit.encoder.layer.0.attention.attention.value", "blocks.0.attn.v", 3, {1, 17, 32}, NULL},
        {"vit.encoder.layer.0.attention.attention", "blocks.0.attn.z", 3, {1, 17, 32}, NULL},
        {"attentions.0", "blocks.0.attn.pattern", 4, {1, 4, 17, 17}, NULL},
        {"vit.encoder.layer.0.attention.output.dense", "blocks.0.attn.out", 3, {1, 17, 32}, NULL},
        {"vit.encoder.layer.0.layernorm_after", "blocks.0.ln2.out", 3, {1, 17, 32}, NULL},
        {"vit.encoder.layer.0.intermediate.dense", "blocks.0.mlp.pre", 3, {1, 17, 64}, NULL},
        {"vit.encoder.layer.0.intermediate.intermediate_act_fn", "blocks.0.mlp.post", 3, {1, 17, 64}, NULL},
        {"vit.encoder.layer.0.output.dense", "blocks.0.mlp.out", 3, {1, 17, 32}, NULL},
        {"vit.encoder.layer.0.output", "blocks.0.resid_post", 3, {1, 17, 32}, NULL},
        {"vit.encoder.layer.1", "blocks.1.resid_post", 3, {1, 17, 32}, NULL},
        {"hidden_states.1", "blocks.1.resid_pre", 3, {1, 17, 32}, NULL},
        {"vit.layernorm", "ln_final.out", 3, {1, 17, 32}, NULL},
        {"classifier", "logits", 2, {1, 5}, NULL},
    };
    static const Recorded HOOKS[] = {
        {"hook_embed", "patch_embed", 3, {1, 16, 32}, NULL},
        {"hook_full_embed", "full_embed", 3, {1, 17, 32}, NULL},
        {"blocks.0.hook_resid_pre", "blocks.0.resid_pre", 3, {1, 17, 32}, NULL},
        {"blocks.0.ln1.hook_normalized", "blocks.0.ln1.out", 3, {1, 17, 32}, NULL},
        {"blocks.0.attn.hook_q", "blocks.0.attn.q", 4, {1, 17, 4, 8}, NULL},
        {"blocks.0.attn.hook_k", "blocks.0.attn.k", 4, {1, 17, 4, 8}, NULL},
        {"blocks.1.attn.hook_attn_scores", "blocks.1.attn.scores_scaled", 4, {1, 4, 17, 17}, NULL},
        {"blocks.1.attn.hook_pattern", "blocks.1.attn.pattern", 4, {1, 4, 17, 17}, NULL},
        {"blocks.1.attn.hook_z", "blocks.1.attn.z", 4, {1, 17, 4, 8}, NULL},
        {"blocks.1.hook_attn_out", "blocks.1.attn.out", 3, {1, 17, 32}, NULL},
        {"blocks.1.hook_resid_mid", "blocks.1.resid_mid", 3, {1, 17, 32}, NULL},
        {"blocks.1.mlp.hook_pre", "blocks.1.mlp.pre", 3, {1, 17, 64}, NULL},
        {"blocks.1.mlp.hook_post", "blocks.1.mlp.post", 3, {1, 17, 64}, NULL},
        {"blocks.1.hook_mlp_out", "blocks.1.mlp.out", 3, {1, 17, 32}, NULL},
        {"blocks.1.hook_resid_post", "blocks.1.resid_post", 3, {1, 17, 32}, NULL},
    };
    static const Recorded TIMM[] = {
        {"patch_embed.proj", "patch_embed", 4, {1, 32, 4, 4}, "d,y,x"},
        {"pos_drop", "full_embed", 3, {1, 17, 32}, NULL},
        {"blocks.0.norm1", "blocks.0.ln1.out", 3, {1, 17, 32}, NULL},
        {"blocks.0.attn.q_norm", "blocks.0.attn.q", 4, {1, 4, 17, 8}, "h,t,e"},
        {"blocks.0.attn.k_norm", "blocks.0.attn.k", 4, {1, 4, 17, 8}, "h,u,e"},
        {"blocks.0.attn.attn_drop", "blocks.0.attn.pattern", 4, {1, 4, 17, 17}, NULL},
        {"module.blocks.0.attn.proj", "blocks.0.attn.out", 3, {1, 17, 32}, NULL},
        {"blocks.0.ls1", "blocks.0.attn.out", 3, {1, 17, 32}, NULL},
        {"blocks.0.mlp.fc1", "blocks.0.mlp.pre", 3, {1, 17, 64}, NULL},
        {"blocks.0.mlp.act", "blocks.0.mlp.post", 3, {1, 17, 64}, NULL},
        {"blocks.0.mlp.fc2", "blocks.0.mlp.out", 3, {1, 17, 32}, NULL},
        {"blocks.0", "blocks.0.resid_post", 3, {1, 17, 32}, NULL},
        {"norm", "ln_final.out", 3, {1, 17, 32}, NULL},
        {"head", "logits", 2, {1, 5}, NULL},
    };
    Side s;
    side_open(&s, TINY, TINY "/image.ppm");
    all_same(&s, HF, sizeof HF / sizeof *HF, DIFF_HF);
    all_same(&s, HOOKS, sizeof HOOKS / sizeof *HOOKS, DIFF_HOOKS);
    all_same(&s, TIMM, sizeof TIMM / sizeof *TIMM, DIFF_TIMM);
    side_close(&s);
}

/* timm's fused q, k, v: [1,17,96] is three nodes. */
static void fused_tensor(void **state)
{
    (void)state;
    static const char *const NODES[] = {"blocks.0.attn.q", "blocks.0.attn.k", "blocks.0.attn.v"};
    Side s;
    Compared d;
    Err err = {""};
    float fused[17][96];
    side_open(&s, TINY, TINY "/image.ppm");
    for (int part = 0; part < 3; part++)
        for (int t = 0; t < 17; t++)
            memcpy(&fused[t][part * 32], bench_values(&s.bench, NODES[part]) + t * 32, 32 * sizeof(float));
    fused[3][40] += 1; /* k[u=3,h=1,e=0] */
    TensorOut out = {.name = "blocks.0.attn.qkv", .rank = 3, .shape = {1, 17, 96}, .data = &fused[0][0]};
    assert_true(tensors_write(trace_path(), TF_SAFETENSORS, &out, 1, NULL, &err));
    compare_with(&d, &s, trace_path(), NULL, PRECISION_F32);
    assert_int_equal(d.report.count, 3);
    for (int part = 0; part < 3; part++)
        assert_string_equal(graph_node(s.subject.graph, d.report.row[part].tensor->node)->path, NODES[part]);
    assert_int_equal(d.report.begins, 1);
    assert_int_equal(d.report.row[1].state, DIFF_BEGINS);
    assert_int_equal(d.report.row[1].local.first, (3 * 4 + 1) * 8);
    assert_non_null(strstr(buf_str(&d.verdict), "blocks.0.attn.k[u=r0c2,h=1,e=0]"));
    compare_free(&d);
    side_close(&s);
}

/* One factor on every cell is told, and only where it is one; ∞ at once, with the weight that has it. */
static void a_factor_or_infinite(void **state)
{
    (void)state;
    enum { CELLS = 17 * 32 };
    static const char *const SAYS[] = {"is 0.125 times what is here, in every cell",
                                       "the recording has ∞ in 1 of 544 cells", "w_q has NaN or ∞ in 1 of its 1024"};
    for (int how = 0; how < 4; how++) { /* …the last: a cell that is not so */
        Side s;
        Compared d;
        Err err = {""};
        float x[CELLS];
        side_open(&s, TINY, TINY "/image.ppm");
        memcpy(x, bench_values(&s.bench, how == 2 ? "blocks.0.attn.q" : "blocks.0.ln1.out"), sizeof x);
        for (int i = 0; i < CELLS && how != 2; i++)
            x[i] /= 8;
        x[77] = how == 1 ? INFINITY : how == 3 ? 2 * x[77] : x[77];
        TensorOut out = {.name = how == 2 ? "blocks.0.attn.q" : "blocks.0.ln1.out",
                         .rank = 3,
                         .shape = {1, 17, 32},
                         .data = x};
        assert_true(tensors_write(trace_path(), TF_SAFETENSORS, &out, 1, NULL, &err));
        if (how == 2) {
            side_close(&s);
            side_open(&s, TINY, TINY "/image.ppm");
            s.bench.model.block[vit_weight(&s.bench.model.weights, VIT_W_Q, 0)->data - s.bench.model.block] = INFINITY;
        }
        compare_with(&d, &s, trace_path(), NULL, PRECISION_F32);
        if (how < 3 ? !strstr(buf_str(&d.verdict), SAYS[how]) : strstr(buf_str(&d.verdict), "in every cell") != NULL)
            fail_msg("%d: %s", how, buf_str(&d.verdict));
        assert_int_equal(how == 1 || how == 2 ? d.report.cause[0].tried : 0, 0); /* nothing is searched for */
        compare_free(&d);
        side_close(&s);
    }
}

static void layouts(void **state)
{
    (void)state;
    Side s;
    DiffLayout l;
    char choices[200];
    side_open(&s, TINY, TINY "/image.ppm");
    const Graph *g = s.subject.graph;
    NodeId q = graph_find(g, "blocks.0.attn.q"), scores = graph_find(g, "blocks.0.attn.scores_raw"),
           image = graph_find(g, "image"), patches = graph_find(g, "patch_embed");
    /* merged and with a batch axis: nothing moves */
    assert_int_equal(diff_layout_find(g, q, (size_t[]){1, 17, 32}, 3, "", &l, choices, sizeof choices), DIFF_FIT);
    assert_true(l.ours && strcmp(l.axes, "t,h,e") == 0 && l.batch == 1);
    /* heads first: q[t,h,e] is recorded[h,t,e] */
    assert_int_equal(diff_layout_find(g, q, (size_t[]){4, 17, 8}, 3, "", &l, choices, sizeof choices), DIFF_FIT);
    assert_true(!l.ours && strcmp(l.axes, "h,t,e") == 0);
    float from[17 * 32], to[17 * 32];
    for (int i = 0; i < 17 * 32; i++)
        from[i] = (float)i;
    diff_layout_apply(&l, from, to);
    for (int t = 0; t < 17; t++)
        for (int h = 0; h < 4; h++)
            for (int e = 0; e < 8; e++)
                assert_true(to[(t * 4 + h) * 8 + e] == (float)((h * 17 + t) * 8 + e));
    /* a square matrix may be itself or transposed: itself is believed, the other must be said */
    assert_int_equal(diff_layout_find(g, scores, (size_t[]){4, 17, 17}, 3, "", &l, choices, sizeof choices), DIFF_FIT);
    assert_true(l.ours);
    assert_int_equal(diff_layout_find(g, scores, (size_t[]){4, 17, 17}, 3, "h,u,t", &l, choices, sizeof choices),
                     DIFF_FIT);
    assert_true(!l.ours && l.told && strcmp(l.axes, "h,u,t") == 0);
    /* heads last: t before u is taken for granted */
    assert_int_equal(diff_layout_find(g, scores, (size_t[]){17, 17, 4}, 3, "", &l, choices, sizeof choices), DIFF_FIT);
    assert_string_equal(l.axes, "t,u,h");
    /* pictures: planes, interleaved, patches flattened */
    assert_int_equal(diff_layout_find(g, image, (size_t[]){3, 32, 32}, 3, "", &l, choices, sizeof choices), DIFF_FIT);
    assert_true(l.ours);
    assert_int_equal(diff_layout_find(g, image, (size_t[]){1, 32, 32, 3}, 4, "", &l, choices, sizeof choices),
                     DIFF_FIT);
    assert_string_equal(l.axes, "y,i,x,j,c");
    assert_int_equal(diff_layout_find(g, image, (size_t[]){16, 192}, 2, "", &l, choices, sizeof choices),
                     DIFF_AMBIGUOUS);
    assert_non_null(strstr(choices, "[y,x,c,i,j] or "));
    assert_int_equal(diff_layout_find(g, image, (size_t[]){16, 192}, 2, "p,c,i,j", &l, choices, sizeof choices),
                     DIFF_FIT);
    assert_true(l.told);
    assert_int_equal(diff_layout_find(g, image, (size_t[]){16, 192}, 2, "y,x,c,i,j", &l, choices, sizeof choices),
                     DIFF_FIT);
    assert_true(l.told);
    assert_int_equal(diff_layout_find(g, patches, (size_t[]){32, 4, 4}, 3, "", &l, choices, sizeof choices), DIFF_FIT);
    assert_string_equal(l.axes, "d,p");
    /* several pictures: the first */
    assert_int_equal(diff_layout_find(g, q, (size_t[]){6, 17, 32}, 3, "", &l, choices, sizeof choices), DIFF_FIT);
    assert_int_equal(l.batch, 6);
    /* what can't be: other cells, too few axes filled */
    assert_int_equal(diff_layout_find(g, q, (size_t[]){17, 31}, 2, "", &l, choices, sizeof choices), DIFF_NO_FIT);
    assert_int_equal(diff_layout_find(g, q, (size_t[]){34, 16}, 2, "", &l, choices, sizeof choices), DIFF_NO_FIT);
    assert_int_equal(diff_layout_find(g, q, (size_t[]){544, 0}, 2, "", &l, choices, sizeof choices), DIFF_NO_FIT);
    side_close(&s);
}

/* Heads as many as they are wide: [4,17,4] may be either, and the message says what to write. */
static void ambiguous_shape(void **state)
{
    (void)state;
    VitConfig c;
    Side s;
    Compared d;
    DiffReference r;
    DiffMap map;
    Err err = {""};
    assert_true(model_size("tiny", &c));
    c.head_dim = c.heads;
    c.scale = vit_scale(c.head_dim);
    side_seeded(&s, &c, 40, 40);
    size_t h = (size_t)c.heads, tokens = (size_t)vit_tokens(&c);
    const float *z = bench_values(&s.bench, "blocks.0.attn.z");
    float *moved = malloc(h * h * tokens * sizeof *moved);
    for (size_t t = 0; t < tokens; t++)
        for (size_t k = 0; k < h; k++)
            for (size_t e = 0; e < h; e++)
                moved[(k * tokens + t) * h + e] = z[(t * h + k) * h + e];
    TensorOut out = {.name = "student.0.z", .rank = 3, .shape = {h, tokens, h}, .data = moved};
    assert_true(tensors_write(trace_path(), TF_SAFETENSORS, &out, 1, NULL, &err));
    assert_false(diff_reference_open(&r, trace_path(), NULL, s.subject.graph, &err));
    assert_non_null(strstr(err.text, "student.0.z")); /* nobody knows that name */
    assert_true(diff_map_parse(&map, "m", "student.*.z = blocks.*.attn.z", s.subject.graph, &err));
    assert_false(diff_reference_open(&r, trace_path(), &map, s.subject.graph, &err));
    assert_non_null(strstr(err.text, "[h,t,e] or [e,t,h]"));
    assert_non_null(strstr(err.text, "`student.0.z = blocks.0.attn.z[…]`"));
    diff_map_free(&map);
    assert_true(diff_map_parse(&map, "m", "# as the message says\n\n student.*.z = blocks.*.attn.z[h, t, e]\r\n",
                               s.subject.graph, &err));
    compare_with(&d, &s, trace_path(), &map, PRECISION_F32);
    assert_true(d.report.same);
    compare_free(&d);
    diff_map_free(&map);
    assert_true(diff_map_parse(&map, "m", "student.*.z=blocks.*.attn.z[e,t,h]", s.subject.graph, &err));
    compare_with(&d, &s, trace_path(), &map, PRECISION_F32);
    assert_false(d.report.same);
    assert_non_null(strstr(d.report.cause[0].text, "its axes are [h,t,e], not [e,t,h]"));
    compare_free(&d);
    diff_map_free(&map);
    assert_true(diff_map_parse(&map, "m", "student.*.z=blocks.*.attn.z[t,h,e]", s.subject.graph, &err)); /* can't be */
    assert_false(diff_reference_open(&r, trace_path(), &map, s.subject.graph, &err));
    assert_non_null(strstr(err.text, "can't have the axes [t,h,e]"));
    diff_map_free(&map);
    free(moved);
    side_close(&s);
}

/* --- recordings of programs that keep things otherwise --- */

static struct {
    TensorOut out[32];
    char name[32][40];
    size_t count;
} kept;

/* The values of node of the block, their axes in that order: order[i] is the node's axis that stands at place i. */
static void keep_moved(Side *s, const char *name, const char *path, const int order[3])
{
    const Graph *g = s->subject.graph;
    NodeId n = graph_find(g, path);
    Dims d = graph_node(g, n)->dims;
    assert_int_equal(d.n, 3);
    size_t len[3], cells = graph_cells(g, n), stride[3];
    for (int i = 0; i < 3; i++) {
        len[i] = (size_t)g->axes[d.axis[order[i]]].n;
        stride[i] = dims_stride(g->axes, d, d.axis[order[i]]);
    }
    const float *x = bench_values(&s->bench, path);
    float *data = malloc(cells * sizeof *data);
    for (size_t c = 0; c < cells; c++)
        data[c] = x[c / (len[1] * len[2]) * stride[0] + c / len[2] % len[1] * stride[1] + c % len[2] * stride[2]];
    snprintf(kept.name[kept.count], sizeof kept.name[0], "%s", name);
    kept.out[kept.count] = (TensorOut){.name = kept.name[kept.count],
                                       .rank = 3,
                                       .shape = {len[0], len[1], len[2]},
                                       .data = data};
    kept.count++;
}

static void drop_kept(void)
{
    for (size_t i = 0; i < kept.count; i++)
        free((void *)(uintptr_t)kept.out[i].data);
    kept.count = 0;
}

/* What a map of that text makes of what is kept: so many tensors, the same or not. */
static void kept_is(Side *s, const char *text, int tensors, bool same)
{
    DiffMap map;
    Compared d;
    Err err = {""};
    assert_true(tensors_write(trace_path(), TF_SAFETENSORS, kept.out, kept.count, NULL, &err));
    if (!diff_map_parse(&map, "m", text, s->subject.graph, &err))
        fail_msg("%s", err.text);
    compare_with(&d, s, trace_path(), &map, PRECISION_F32);
    if (d.report.count != tensors || d.report.same != same)
        fail_msg("%s: %d tensors: %s", text, d.report.count, buf_str(&d.verdict));
    compare_free(&d);
    diff_map_free(&map);
}

/* Queries, keys and values in one array, along whatever axis; one array per head. */
static void stacked_and_split(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"blocks.0.attn.q", "blocks.0.attn.k", "blocks.0.attn.v"};
    static const int ORDERS[][3] = {{1, 0, 2}, {0, 1, 2}};
    Side s;
    side_open(&s, TINY, TINY "/image.ppm");
    for (size_t o = 0; o < 2; o++)
        for (int at = 0; at < 3; at++) { /* the axis of three in front of axis `at` */
            drop_kept();
            for (int i = 0; i < 3; i++)
                keep_moved(&s, "part", PATHS[i], ORDERS[o]);
            size_t *len = kept.out[0].shape, outer = 1, inner = 1;
            for (int i = 0; i < 3; i++)
                *(i < at ? &outer : &inner) *= len[i];
            float *all = malloc(3 * outer * inner * sizeof *all);
            for (size_t r = 0; r < outer; r++)
                for (size_t i = 0; i < 3; i++)
                    memcpy(all + (r * 3 + i) * inner, kept.out[i].data + r * inner, inner * sizeof *all);
            TensorOut t = {.name = "b0.qkv", .rank = 4, .data = all};
            for (int i = 0, k = 0; i < 4; i++)
                t.shape[i] = i == at ? 3 : len[k++];
            drop_kept();
            kept.out[kept.count++] = t;
            kept_is(&s, "b*.qkv = blocks.*.attn.q + blocks.*.attn.k + blocks.*.attn.v", 3, true);
            kept_is(&s, "b*.qkv = blocks.*.attn.k + blocks.*.attn.q + blocks.*.attn.v", 3, false);
        }
    drop_kept();
    keep_moved(&s, "all", "blocks.1.attn.q", ORDERS[0]);
    TensorOut whole = kept.out[0];
    for (int base = 0; base < 2; base++) {
        kept.count = 0;
        for (size_t h = 0; h < whole.shape[0]; h++) {
            snprintf(kept.name[h], sizeof kept.name[0], "b1.head%zu.q", h + (size_t)base);
            kept.out[kept.count++] = (TensorOut){.name = kept.name[h],
                                                 .rank = 3,
                                                 .shape = {1, whole.shape[1], whole.shape[2]},
                                                 .data = whole.data + h * whole.shape[1] * whole.shape[2]};
        }
        kept_is(&s, "b*.head#.q = blocks.*.attn.q", 1, true);
        kept_is(&s, "b*.head#.q = blocks.*.attn.k", 1, false);
    }
    kept.count--; /* a head is missing: nothing is compared, and that is said */
    DiffMap map;
    DiffReference r;
    Err err = {""};
    assert_true(diff_map_parse(&map, "m", "b*.head#.q = blocks.*.attn.q", s.subject.graph, &err));
    assert_true(tensors_write(trace_path(), TF_SAFETENSORS, kept.out, kept.count, NULL, &err));
    assert_false(diff_reference_open(&r, trace_path(), &map, s.subject.graph, &err));
    diff_map_free(&map);
    kept.count = 0;
    free((void *)(uintptr_t)whole.data);
    side_close(&s);
}

/* Names with a block behind the last and none of the first: refused with the lines to write, which are then right. */
static void counted_from_one(void **state)
{
    (void)state;
    static const struct {
        const char *q, *end;
    } OF[] = {{"encoder.layer.%d.attention.attention.query", "vit.encoder.layer.%d"},
              {"blocks.%d.attn.q", "blocks.%d"},
              {"blocks.%d.attn.hook_q", "blocks.%d.hook_resid_post"}};
    Side s;
    side_open(&s, TINY, TINY "/image.ppm");
    const Graph *g = s.subject.graph;
    for (size_t i = 0; i < sizeof OF / sizeof *OF; i++) {
        TensorOut out[4];
        char name[4][64], path[64], lines[512] = "";
        Err err = {""};
        DiffReference r;
        DiffMap map;
        Compared d;
        for (int b = 0; b < 2; b++)
            for (int end = 0; end < 2; end++) {
                snprintf(name[b * 2 + end], sizeof name[0], end ? OF[i].end : OF[i].q, b + 1);
                snprintf(path, sizeof path, end ? "blocks.%d.resid_post" : "blocks.%d.attn.q", b);
                out[b * 2 + end] = (TensorOut){.name = name[b * 2 + end],
                                               .rank = 2,
                                               .shape = {17, 32},
                                               .data = bench_values(&s.bench, path)};
            }
        assert_true(tensors_write(trace_path(), TF_SAFETENSORS, out, 4, NULL, &err));
        assert_false(diff_reference_open(&r, trace_path(), NULL, g, &err));
        assert_non_null(strstr(err.text, "counted from 1"));
        for (const char *at = err.text; (at = strchr(at, '`')) != NULL;) { /* as the message has them */
            size_t n = strcspn(at + 1, "`");
            snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%.*s\n", (int)n, at + 1);
            at += n + 2;
        }
        assert_true(diff_map_parse(&map, "m", lines, g, &err));
        compare_with(&d, &s, trace_path(), &map, PRECISION_F32);
        if (!d.report.same || d.report.count != 4)
            fail_msg("%s%s", lines, buf_str(&d.verdict));
        compare_free(&d);
        diff_map_free(&map);
    }
    side_close(&s);
}

static void maps(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } WRONG[] = {
        {"a b c", "line 1: expected NAME = NODE"},
        {"\n# x\nq.* =", "line 3: expected NAME"},
        {"= blocks.0.attn.q", "expected NAME"},
        {"q = blocks.9.attn.q", "no 'blocks.9.attn.q'"},
        {"q.* = blocks.*.attn.qq", "blocks.*.attn.qq"},
        {"q = blocks.0.attn.q[t,h,e", "no 'blocks.0.attn.q[t,h,e'"},
        {"q = blocks.0.attn.q + ", "no 'blocks.0.attn.q +'"},
    };
    Side s;
    DiffMap map;
    Err err;
    DiffTarget to[DIFF_PARTS];
    side_open(&s, TINY, TINY "/image.ppm");
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        err.text[0] = 0;
        if (diff_map_parse(&map, "map.txt", WRONG[i].text, s.subject.graph, &err))
            fail_msg("'%s' was accepted", WRONG[i].text);
        if (!strstr(err.text, WRONG[i].says) || strncmp(err.text, "map.txt: ", 9) != 0)
            fail_msg("'%s': %s", WRONG[i].text, err.text);
        assert_true(map.count == 0);
    }
    assert_true(diff_map_parse(&map, "m",
                               "x.* = blocks.*.attn.q + blocks.*.attn.k\nblocks.0.attn.q = -\ny = blocks.!.resid_post",
                               s.subject.graph, &err));
    assert_int_equal(diff_name_targets(&map, s.subject.graph, "x.1", to), 2);
    assert_true(to[1].node == graph_find(s.subject.graph, "blocks.1.attn.k") && to[1].part == 1 && to[1].parts == 2);
    assert_int_equal(diff_name_targets(&map, s.subject.graph, "x.2", to), 0);
    assert_int_equal(diff_name_targets(&map, s.subject.graph, "x.", to), 0);
    assert_int_equal(diff_name_targets(&map, s.subject.graph, "x.99999999999", to), 0);
    assert_int_equal(diff_name_targets(&map, s.subject.graph, "blocks.0.attn.q", to), -1);
    assert_int_equal(diff_name_targets(NULL, s.subject.graph, "blocks.0.attn.q", to), 1);
    assert_int_equal(diff_name_targets(&map, s.subject.graph, "y", to), 1);
    assert_int_equal(to[0].node, graph_find(s.subject.graph, "blocks.1.resid_post"));
    diff_map_free(&map);
    side_close(&s);
}

/* --- gaps, rounding, figures --- */

/* Two broken weights in block 1, only the ends of blocks recorded: the next tensor is proposed, and recording it halves
 * the stretch, until one step is left. */
static void bisection(void **state)
{
    (void)state;
    static char list[2048] = "full_embed blocks.0.resid_post blocks.1.resid_post logits";
    VitConfig c;
    Side ours, wrong;
    int before = 1000, rounds = 0;
    assert_true(model_size("tiny", &c));
    side_seeded(&ours, &c, 32, 32);
    side_seeded(&wrong, &c, 32, 32);
    const float *w = vit_weight(&wrong.bench.model.weights, VIT_W_V, 1)->data;
    wrong.bench.model.block[(w - wrong.bench.model.block) + 77] += 0.5f; /* of two rows: no mistake with a name */
    wrong.bench.model.block[(w - wrong.bench.model.block) + 200] += 0.5f;
    for (;; rounds++) {
        Compared d;
        write_trace(wrong.bench.run, list, trace_path());
        compare_with(&d, &ours, trace_path(), NULL, PRECISION_F32);
        assert_false(d.report.same);
        const DiffCause *cause = &d.report.cause[0];
        const char *at = graph_node(ours.subject.graph, d.report.row[cause->row].tensor->node)->path;
        assert_true(cause->steps < before && strncmp(at, "blocks.1.", 9) == 0);
        assert_string_equal(cause->text, "");
        before = cause->steps;
        if (!*cause->dump) {
            assert_string_equal(at, "blocks.1.attn.v");
            assert_true(cause->steps <= 2); /* the sum, and the bias */
            compare_free(&d);
            break;
        }
        assert_non_null(strstr(buf_str(&d.verdict), cause->dump));
        assert_false(listed(list, cause->dump));
        snprintf(list + strlen(list), sizeof list - strlen(list), " %s", cause->dump);
        compare_free(&d);
        assert_true(rounds < 8);
    }
    assert_true(rounds >= 2);
    side_close(&ours);
    side_close(&wrong);
}

/* What is proposed is called as the reference calls things. */
static void proposal_in_their_names(void **state)
{
    (void)state;
    Side s;
    char name[DIFF_PATH];
    side_open(&s, TINY, TINY "/image.ppm");
    const Graph *g = s.subject.graph;
    NodeId z = graph_find(g, "blocks.1.attn.z"), v = graph_find(g, "blocks.1.attn.v"),
           end = graph_find(g, "blocks.0.resid_post");
    static const struct {
        const char *recorded[3];
        const char *z, *v, *end;
    } OF[] = {
        {{"encoder.layer.0"},
         "encoder.layer.1.attention.attention",
         "encoder.layer.1.attention.attention.value",
         "encoder.layer.0"},
        {{"vit.encoder.layer.1.layernorm_before", "classifier"},
         "vit.encoder.layer.1.attention.attention",
         "vit.encoder.layer.1.attention.attention.value",
         "vit.encoder.layer.0"},
        {{"hidden_states.0", "hidden_states.2"},
         "encoder.layer.1.attention.attention",
         "encoder.layer.1.attention.attention.value",
         "hidden_states.1"},
        {{"layers.0", "layers.1.mlp"}, "encoder.layer.1.attention.attention", "layers.1.attention.v_proj", "layers.0"},
        {{"blocks.0", "head"}, "", "blocks.1.attn.qkv", "blocks.0"},
        {{"encoder.layers.encoder_layer_0"}, "", "", "encoder.layers.encoder_layer_0"},
        {{"hook_full_embed"}, "blocks.1.attn.hook_z", "blocks.1.attn.hook_v", "blocks.0.hook_resid_post"},
    };
    for (size_t i = 0; i < sizeof OF / sizeof *OF; i++) {
        const char *recorded[3];
        DiffNaming naming = {.name = recorded};
        while (naming.count < 3 && OF[i].recorded[naming.count]) {
            recorded[naming.count] = OF[i].recorded[naming.count];
            naming.count++;
        }
        const char *const want[] = {OF[i].z, OF[i].v, OF[i].end};
        const NodeId of[] = {z, v, end};
        for (int k = 0; k < 3; k++) {
            assert_int_equal(diff_name_of(&naming, NULL, g, of[k], name, sizeof name), *want[k] != '\0');
            assert_string_equal(name, want[k]);
        }
    }
    side_close(&s);
}

/* A right program that computed otherwise than we do is the same: in bfloat16 throughout, in float32 and stored in
 * bfloat16, or rounded only where modules end. And what it makes of the values is not the same without --precision. */
static void rounding_is_explained(void **state)
{
    (void)state;
    static const char *const LISTS[] = {NULL,
                                        "image blocks.*.ln1.out blocks.*.attn.q blocks.*.attn.k blocks.*.attn.v "
                                        "blocks.*.attn.out blocks.*.resid_post logits",
                                        "image blocks.*.resid_post logits", "image logits"};
    for (int p = PRECISION_BF16; p < PRECISIONS; p++)
        for (size_t i = 0; i < 4; i++)
            for (int how = 0; how < 3; how++) {
                VitConfig c;
                Side s;
                Compared d;
                assert_true(model_size("tiny", &c));
                side_seeded(&s, &c, 50, 33);
                Edit edits[1024];
                int count = 0;
                for (NodeId n = 0; how && n < s.bench.graph.count;
                     n++) /* 1: weights and what is recorded; 2: only what is recorded, behind everything */
                    if (precision_rounds(&s.bench.graph, n) &&
                        (how == 2 ? false
                                  : listed(LISTS[i], graph_node(&s.bench.graph, n)->path) ||
                                        graph_node(&s.bench.graph, n)->op == OP_LEAF))
                        edits[count++] = precision_edit(&s.bench.graph, n, (Precision)p);
                write_edited(&s, edits, count, how == 0 ? (Precision)p : PRECISION_F32, LISTS[i], trace_path());
                compare_with(&d, &s, trace_path(), NULL, (Precision)p);
                if (!d.report.same)
                    fail_msg("%s, list %zu, way %d: %s", precision_name((Precision)p), i, how, buf_str(&d.verdict));
                compare_free(&d);
                if (how == 0) {
                    compare_with(&d, &s, trace_path(), NULL, PRECISION_F32);
                    assert_false(d.report.same);
                    compare_free(&d);
                }
                side_close(&s);
            }
}

static void figures(void **state)
{
    (void)state;
    const float inf = INFINITY, ours[] = {1, 2, -3, inf, NAN, 0}, theirs[] = {1, 2.5f, -4, inf, NAN, 0};
    DiffFigures f = diff_figures(ours, theirs, 6, 0.2);
    assert_true(f.largest == 0.25 && f.worst == 2 && f.any && f.first == 2);
    assert_true(fabs(f.rms - sqrt(1.25 / 23.25)) < 1e-12);
    assert_true(fabs(f.cosine - 18 / sqrt(14 * 23.25)) < 1e-12);
    f = diff_figures(ours, theirs, 6, 0.1);
    assert_int_equal(f.first, 1);
    f = diff_figures(ours, ours, 6, 0);
    assert_true(f.largest == 0 && f.rms == 0 && !f.any && fabs(f.cosine - 1) < 1e-12);
    f = diff_figures((const float[]){1, inf}, (const float[]){1, 5}, 2, 1);
    assert_true(isinf(f.largest) && f.any && f.first == 1 && isinf(f.rms));
    f = diff_figures((const float[]){NAN}, (const float[]){1}, 1, 1);
    assert_true(isnan(f.cosine)); /* not 1: nothing is known of the angle */
    assert_true(isinf(f.largest) && f.any);
    f = diff_figures((const float[]){0, 2}, (const float[]){0, 0}, 2, 0.5); /* a reference of zeros */
    assert_true(f.largest == 1 && f.any && f.cosine == 0);
    f = diff_figures((const float[]){0}, (const float[]){0}, 1, 0);
    assert_true(f.largest == 0 && !f.any && f.cosine == 1);
}

/* Files that are no reference. */
static void wrong_files(void **state)
{
    (void)state;
    Side s;
    DiffReference r;
    Err err;
    side_open(&s, TINY, TINY "/image.ppm");
    assert_false(diff_reference_open(&r, TINY "/config.json", NULL, s.subject.graph, &err));
    assert_non_null(strstr(err.text, "config.json"));
    assert_false(diff_reference_open(&r, "no/such/file.npz", NULL, s.subject.graph, &err));
    assert_false(diff_reference_open(&r, TINY "/model.safetensors", NULL, s.subject.graph, &err)); /* weights */
    assert_non_null(strstr(err.text, "--map"));
    assert_true(r.count == 0 && !r.tensor);
    TensorOut out = {.name = "blocks.0.attn.q",
                     .rank = 2,
                     .shape = {17, 31},
                     .data = bench_values(&s.bench, "blocks.0.attn.q")};
    assert_true(tensors_write(trace_path(), TF_SAFETENSORS, &out, 1, NULL, &err));
    assert_false(diff_reference_open(&r, trace_path(), NULL, s.subject.graph, &err));
    side_close(&s);
}

/* Everything that is printed stands in the JSON too, which is one document. */
static void as_json(void **state)
{
    (void)state;
    Compared d;
    Side s;
    Buf out = {0};
    Err err = {""};
    compare_oracle(TINY, "whatif_scale_off.safetensors", PRECISION_F32, &d, &s);
    diff_json(&d.named, &out);
    Json *j = json_parse("diff", buf_str(&out), out.len, &err);
    if (!j)
        fail_msg("%s", err.text);
    assert_int_equal(json_count(json_get(j, "tensors")), (size_t)d.report.count);
    assert_false(json_bool(json_get(j, "same"), true));
    assert_string_equal(json_text(json_get(json_at(json_get(j, "causes"), 0), "node"), ""),
                        "blocks.0.attn.scores_scaled");
    assert_string_equal(json_text(json_get(j, "verdict"), ""), buf_str(&d.verdict));
    json_free(j);
    buf_free(&out);
    compare_free(&d);
    side_close(&s);
}

/* A reference with another number of tokens: that is said first, and nothing made from them is followed to a cause. */
static void registers_left_out(void **state)
{
    (void)state;
    VitConfig c;
    Side ours, theirs;
    assert_true(model_size("tiny", &c));
    side_seeded(&theirs, &c, 61, 47);
    c.registers = 3;
    side_seeded(&ours, &c, 61, 47);
    write_trace(theirs.bench.run, NULL, trace_path());
    Compared d;
    compare_with(&d, &ours, trace_path(), NULL, PRECISION_F32);
    Buf text = {0};
    diff_table(&d.named, &text);
    assert_false(d.report.same);
    assert_true(d.reference.misfits.count > 40);
    if (strstr(buf_str(&d.verdict), "Different in shape: ") != buf_str(&d.verdict) ||
        !strstr(buf_str(&d.verdict), " has 17 tokens, here there are 20: the recording leaves the registers out.") ||
        !strstr(buf_str(&text), "\nshapes     ") || d.report.cause_count)
        fail_msg("%s", buf_str(&d.verdict));
    buf_free(&text);
    compare_free(&d);
    side_close(&ours);
    side_close(&theirs);
}

/* Large scores: float32 is far from the exact values of a right model, and no mistake; one is found there all the same.
 */
static void large_scores(void **state)
{
    (void)state;
    VitConfig c;
    assert_true(model_size("tiny", &c));
    c.scale *= 100;
    Side s;
    Compared d;
    side_seeded(&s, &c, 62, 47);
    size_t width = (size_t)c.width, tokens = (size_t)vit_tokens(&c), cells = tokens * width;
    float *z = malloc(cells * sizeof *z), *out = malloc(cells * sizeof *out);
    double *x = malloc(width * sizeof *x), *logits = malloc((size_t)c.classes * sizeof *logits),
           *probs = malloc((size_t)c.classes * sizeof *probs);
    memcpy(z, run_need(s.bench.run, graph_find(&s.bench.graph, "full_embed")), cells * sizeof *z);
    for (int l = 0; l < c.layers; l++) {
        VitDirectBlock b = vit_direct_block(&c, &s.bench.model.weights, l, z);
        for (int k = 0; k < (int)tokens; k++)
            vit_direct_keys(&b, k);
        for (size_t i = 0; i < cells; i++) {
            if (i % width == 0)
                vit_direct_token(&b, (int)(i / width), x);
            out[i] = (float)x[i % width];
        }
        vit_direct_block_free(&b);
        memcpy(z, out, cells * sizeof *z);
    }
    vit_direct_answer(&c, &s.bench.model.weights, z, logits, probs);
    for (int i = 0; i < c.classes; i++)
        out[i] = (float)logits[i];
    char last[64];
    Err err = {""};
    snprintf(last, sizeof last, "blocks.%d.resid_post", c.layers - 1);
    TensorOut t[] = {{.name = last, .rank = 2, .shape = {tokens, width}, .data = z},
                     {.name = "logits", .rank = 1, .shape = {(size_t)c.classes}, .data = out}};
    assert_true(tensors_write(trace_path(), TF_SAFETENSORS, t, 2, NULL, &err));
    compare_with(&d, &s, trace_path(), NULL, PRECISION_F32);
    assert_true(d.report.row[0].through.largest > DIFF_TOLERANCE);
    if (!d.report.same)
        fail_msg("%s", buf_str(&d.verdict));
    compare_free(&d);
    Edit e = {.kind = EDIT_MAP, .path = "blocks.1.mlp.post", .map = MAP_RELU, .origin = "planted"};
    write_edited(&s, &e, 1, PRECISION_F32, NULL, trace_path());
    compare_with(&d, &s, trace_path(), NULL, PRECISION_F32);
    assert_false(d.report.same);
    compare_free(&d);
    free(z), free(out), free(x), free(logits), free(probs);
    side_close(&s);
}

/* Patches listed column by column have the cells of a tensor whose axes are to be read otherwise: what follows from
 * them tells the two apart, wherever it happened. */
static void listed_or_read_otherwise(void **state)
{
    (void)state;
    static const char *const AT[] = {"patch_embed", "patch_embed.rows_nobias", "tokens"};
    for (size_t k = 0; k < sizeof AT / sizeof *AT; k++)
        for (int all = 0; all < 2; all++) {
            Side s;
            Compared d;
            VitConfig c;
            assert_true(model_size("tiny", &c));
            side_seeded(&s, &c, 61, 47);
            int grid = c.image_h / c.patch_h, front = k == 2, index[64];
            const Node *node = graph_node(&s.bench.graph, graph_find(&s.bench.graph, AT[k]));
            for (int i = 0; i < grid * grid + front; i++)
                index[i] = i < front ? i : front + (i - front) % grid * grid + (i - front) / grid;
            Edit e = {
                .kind = EDIT_GATHER, .path = AT[k], .axis = node->dims.axis[0], .index = index, .origin = "planted"};
            write_edited(&s, &e, 1, PRECISION_F32, all ? NULL : "image patch_embed full_embed logits", trace_path());
            compare_with(&d, &s, trace_path(), NULL, PRECISION_F32);
            if (!strstr(buf_str(&d.verdict), "Likely cause: the recording lists the patches column by column") ||
                strstr(buf_str(&d.verdict), "its axes are"))
                fail_msg("%s, %d: %s", AT[k], all, buf_str(&d.verdict));
            compare_free(&d);
            side_close(&s);
        }
}

typedef struct Watch {
    int calls, causes, stop_at; /* the call about causes that is answered with false; 0: none */
} Watch;

static bool watch(void *context, const char *what, double share)
{
    Watch *w = context;
    assert_true(share >= 0 && share <= 1);
    w->calls++;
    w->causes += strstr(what, "logits differs (") && strstr(what, "cause?");
    return !w->stop_at || w->causes < w->stop_at;
}

/* From the logits alone a pass is computed for every mistake: each is announced with what differs, and who has seen
 * enough gets what has been found. */
static void stopped(void **state)
{
    (void)state;
    Side s;
    Compared d = {.options = {.tolerance = DIFF_TOLERANCE}};
    VitConfig c;
    Err err = {""};
    assert_true(model_size("tiny", &c));
    side_seeded(&s, &c, 61, 47);
    Edit e = {.kind = EDIT_SCALE, .path = "blocks.0.attn.pattern", .factor = 0.9f, .origin = "planted"};
    write_edited(&s, &e, 1, PRECISION_F32, "logits", trace_path());
    for (int k = 0; k < 2; k++) {
        Watch w = {.stop_at = k ? 40 : 0};
        Buf said = {0};
        d.options.progress = watch;
        d.options.context = &w;
        if (!diff_reference_open(&d.reference, trace_path(), NULL, s.subject.graph, &err) ||
            !diff_compare(&d.report, &s.subject, &d.reference, &d.options, &err))
            fail_msg("%s", err.text);
        d.named = (DiffNamed){"ours", &s.subject, &d.reference, &d.options, &d.report};
        diff_verdict(&d.named, &said);
        assert_true(w.causes >= (k ? 40 : 200)); /* not once for a whole family of them */
        assert_int_equal(d.report.stopped, k);
        assert_false(d.report.same);
        if (!strstr(buf_str(&said), "Different: logits") || !!strstr(buf_str(&said), "cause was stopped after") != k)
            fail_msg("%s", buf_str(&said));
        buf_free(&said);
        diff_report_free(&d.report);
        diff_reference_free(&d.reference);
    }
    Watch w = {.stop_at = 1}; /* before anything is known nothing is told */
    d.options.tolerance = DIFF_TOLERANCE;
    d.options.context = &w;
    w.causes = 1;
    assert_true(diff_reference_open(&d.reference, trace_path(), NULL, s.subject.graph, &err));
    assert_false(diff_compare(&d.report, &s.subject, &d.reference, &d.options, &err));
    assert_string_equal(err.text, "cancelled");
    diff_reference_free(&d.reference);
    side_close(&s);
}

/* One row times a factor: ε could be fitted to it, and would be no ε. */
static void a_factor_is_no_epsilon(void **state)
{
    (void)state;
    Side s;
    Compared d;
    VitConfig c;
    assert_true(model_size("tiny", &c));
    side_seeded(&s, &c, 61, 47);
    Edit e = {.kind = EDIT_SCALE, .path = "ln_final.normalized", .factor = 0.94f, .origin = "planted"};
    write_edited(&s, &e, 1, PRECISION_F32, "blocks.*.resid_post readout logits", trace_path());
    compare_with(&d, &s, trace_path(), NULL, PRECISION_F32);
    assert_false(d.report.same);
    if (strstr(buf_str(&d.verdict), "Likely cause"))
        fail_msg("%s", buf_str(&d.verdict));
    compare_free(&d);
    side_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_agrees),
        cmocka_unit_test(the_oracle_differs),
        cmocka_unit_test(names_of_programs),
        cmocka_unit_test(fused_tensor),
        cmocka_unit_test(layouts),
        cmocka_unit_test(ambiguous_shape),
        cmocka_unit_test(stacked_and_split),
        cmocka_unit_test(counted_from_one),
        cmocka_unit_test(maps),
        cmocka_unit_test(bisection),
        cmocka_unit_test(proposal_in_their_names),
        cmocka_unit_test(rounding_is_explained),
        cmocka_unit_test(figures),
        cmocka_unit_test(wrong_files),
        cmocka_unit_test(as_json),
        cmocka_unit_test(registers_left_out),
        cmocka_unit_test(a_factor_is_no_epsilon),
        cmocka_unit_test(large_scores),
        cmocka_unit_test(a_factor_or_infinite),
        cmocka_unit_test(stopped),
        cmocka_unit_test(listed_or_read_otherwise),
    };
    return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
