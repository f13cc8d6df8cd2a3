/* Mistakes planted in a model that reads words: recorded wholly, at the ends of blocks and as logits alone. The cause
 * that is named is the right one or none, and the recording without a mistake is the same. */
#include "tests/core_models/text_bench.h"

#include "core/base/mem.h"
#include "core/diff/diff.h"
#include "tests/core_models/oracle.h"

typedef struct Planted {
    const char *name;
    void (*model)(Model *m);
    int (*edits)(const Graph *g, Edit *out, Arena *arena); /* one of the two */
    const char *says;
    const char *equal; /* a part of the same mistake, told at the tensor that shows it, or NULL */
} Planted;

static float *weight_of(Model *m, Seq2seqRole r, int layer)
{
    return m->block + (seq2seq_weight(&m->text, &m->weights, r, layer)->data - m->block);
}

static void no_scale(Model *m)
{
    m->text.scale = 1;
}
static void gelu(Model *m)
{
    m->text.act = MAP_GELU;
}
static void large_eps(Model *m)
{
    m->text.eps = 1e-2f;
}
static void bare_embeddings(Model *m)
{
    m->text.embed_scale = 1;
}
static void no_b_up(Model *m)
{
    static const Seq2seqRole ROLES[] = {SEQ2SEQ_ENC_B_UP, SEQ2SEQ_DEC_B_UP};
    for (int k = 0; k < 2; k++)
        for (int l = 0; l < m->text.encoder_layers; l++)
            memset(weight_of(m, ROLES[k], l), 0, seq2seq_role_cells(&m->text, ROLES[k]) * sizeof(float));
}
static void decoder_swapped(Model *m)
{
    for (int r = 0; r < SEQ2SEQ_ROLES; r++)
        if (seq2seq_role_where((Seq2seqRole)r) == SEQ2SEQ_DECODER_BLOCK &&
            seq2seq_role_count(&m->text, (Seq2seqRole)r)) {
            float *a = weight_of(m, (Seq2seqRole)r, 0), *b = weight_of(m, (Seq2seqRole)r, 1);
            for (size_t i = 0; i < seq2seq_role_cells(&m->text, (Seq2seqRole)r); i++) {
                float x = a[i];
                a[i] = b[i];
                b[i] = x;
            }
        }
}
static void transposed_output(Model *m)
{
    size_t side = (size_t)m->text.width;
    float *w = weight_of(m, SEQ2SEQ_CROSS_W_O, 1);
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < i; j++) {
            float x = w[i * side + j];
            w[i * side + j] = w[j * side + i];
            w[j * side + i] = x;
        }
}

static int no_mask(const Graph *g, Edit *out, Arena *arena)
{
    int n = 0;
    for (NodeId i = 0; i < g->count; i++) {
        const char *path = graph_node(g, i)->path;
        size_t length = strlen(path);
        if (length > 13 && strcmp(path + length - 13, "scores_masked") == 0)
            out[n++] = (Edit){.kind = EDIT_REDIRECT,
                              .path = path,
                              .other = arena_printf(arena, "%.*sscores_scaled", (int)(length - 13), path)};
    }
    return n;
}

static int new_positions(const Graph *g, Edit *out, Arena *arena, bool halves, int first)
{
    int n = 0;
    static const char *const PATHS[] = {"encoder.pos_embed", "decoder.pos_embed"};
    for (int k = 0; k < 2; k++) {
        Dims d = graph_node(g, graph_find(g, PATHS[k]))->dims;
        int rows = g->axes[d.axis[0]].n, width = g->axes[d.axis[1]].n;
        float *table = arena_alloc(arena, (size_t)(rows * width) * sizeof *table);
        for (int r = 0; r < rows; r++)
            for (int i = 0; i < width; i++) { /* by its definition, not by the search's own writing of it */
                int pair = halves ? i % (width / 2) : i / 2;
                bool cosine = halves ? i >= width / 2 : i % 2;
                double angle = (first + r) * pow(10000, -2.0 * pair / width);
                table[r * width + i] = (float)(cosine ? cos(angle) : sin(angle));
            }
        out[n++] = (Edit){.kind = EDIT_VALUES, .path = PATHS[k], .data = table, .origin = "planted"};
    }
    return n;
}
static int half_and_half(const Graph *g, Edit *out, Arena *arena)
{
    return new_positions(g, out, arena, true, 0);
}
static int from_one(const Graph *g, Edit *out, Arena *arena)
{
    return new_positions(g, out, arena, false, 1);
}
static int no_cross_residual(const Graph *g, Edit *out, Arena *arena)
{
    int n = 0;
    for (int l = 0; l < 2; l++) {
        const char *path = arena_printf(arena, "decoder.blocks.%d.resid_cross", l);
        const Node *node = graph_node(g, graph_find(g, path));
        out[n++] = (Edit){.kind = EDIT_REDIRECT, .path = path, .other = graph_node(g, node->in[1])->path};
    }
    return n;
}

static const Planted PLANTED[] = {
    {"no scale", no_scale, NULL, "does not multiply the scores by 1/√d_k", NULL},
    {"GELU", gelu, NULL, "GELU with erf", NULL},
    {"ε", large_eps, NULL, "ε = 0.01", NULL},
    {"bare embeddings", bare_embeddings, NULL, "does not multiply the embeddings by √d_model", NULL},
    {"no bias", no_b_up, NULL, "no bias in the MLP's first layer", NULL},
    {"blocks exchanged", decoder_swapped, NULL, "decoder blocks 0 and 1 are exchanged",
     "decoder block 0 has the weights of block 1"},
    {"W_O transposed", transposed_output, NULL, "W_O is transposed", NULL},
    {"no mask", NULL, no_mask, "has no mask", NULL},
    {"sines first", NULL, half_and_half, "all sines first", NULL},
    {"from 1", NULL, from_one, "counts positions from 1", NULL},
    {"no residual around the cross-attention", NULL, no_cross_residual, "leaves out the residual connection", NULL},
};

/* What is written: every computed tensor, the ends of the blocks and the embeddings' sums, or the logits. */
typedef enum Recorded { WHOLE, BLOCKS, ANSWER, RECORDINGS, OF_MODULES = RECORDINGS } Recorded;

static bool recorded(const Graph *g, NodeId n, Recorded how)
{
    const Node *node = graph_node(g, n);
    size_t length = strlen(node->path);
    if (strstr(node->path, ".unedited") || strstr(node->path, ".edit_") || (node->flags & NODE_DERIVED))
        return false;
    switch (how) {
    case WHOLE: return node->op != OP_LEAF;
    case ANSWER: return strcmp(node->path, "logits") == 0;
    case OF_MODULES:
        return node->op != OP_LEAF &&
               (strcmp(node->path, "logits") == 0 || strstr(node->path, ".out") || strstr(node->path, "_attn.q") ||
                strstr(node->path, "_attn.k") || strstr(node->path, "_attn.v") || strstr(node->path, ".pattern"));
    default:
        return strcmp(node->path, "logits") == 0 ||
               strcmp(node->path + (length > 10 ? length - 10 : 0), "full_embed") == 0 ||
               (length > 3 && strstr(node->path, "blocks.") && strcmp(node->path + length - 3, "out") == 0 &&
                strstr(node->path, *node->path == 'e' ? "ln2" : "ln3"));
    }
}

static void write_run(Run *run, Recorded how, const char *path)
{
    const Graph *g = run_graph(run);
    TensorOut *out = calloc((size_t)g->count, sizeof *out);
    size_t count = 0;
    Err err = {""};
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (!recorded(g, n, how))
            continue;
        TensorOut t = {.name = node->path, .rank = node->dims.n, .data = run_need(run, n)};
        for (int i = 0; i < node->dims.n; i++)
            t.shape[i] = (size_t)g->axes[node->dims.axis[i]].n;
        out[count++] = t;
    }
    if (!count || !tensors_write(path, TF_SAFETENSORS, out, count, NULL, &err))
        fail_msg("%zu tensors: %s", count, err.text);
    free(out);
}

/* The reference: the same model with the mistake, on the same words. */
static void record(const Planted *p, Recorded how, const char *path)
{
    TextBench b;
    const Seq2seqConfig c = text_tiny();
    text_bench_seeded(&b, &c, 5, 7, 6);
    if (p && p->model) {
        run_free(b.run);
        graph_free(&b.graph);
        p->model(&b.model);
        text_bench_start(&b);
    }
    if (p && p->edits) {
        Edit edits[16];
        Arena arena = {0};
        Graph edited = {.count = 0};
        Err err = {""};
        int n = p->edits(&b.graph, edits, &arena);
        assert_true(n > 0);
        if (!graph_edit(&edited, &b.graph, edits, n, &err))
            fail_msg("%s", err.text);
        Run *run = run_new(&edited, b.run, NULL);
        write_run(run, how, path);
        run_free(run);
        graph_free(&edited);
        arena_free(&arena);
    } else
        write_run(b.run, how, path);
    text_bench_free(&b);
}

/* The verdict on a recording, appended; is it the same? */
static bool compare(const char *path, Buf *verdict, DiffReport *report)
{
    Err err = {""};
    TextBench ours;
    DiffReference r;
    DiffReport own;
    DiffReport *d = report ? report : &own;
    const Seq2seqConfig c = text_tiny();
    const DiffOptions o = {.tolerance = DIFF_TOLERANCE};
    text_bench_seeded(&ours, &c, 5, 7, 6);
    const DiffSubject s = {.graph = &ours.graph, .run = ours.run, .text = &ours.model.text, .image = NO_NODE};
    if (!diff_reference_open(&r, path, NULL, s.graph, &err) || !diff_compare(d, &s, &r, &o, &err))
        fail_msg("%s", err.text);
    const DiffNamed n = {"ours", &s, &r, &o, d};
    diff_verdict(&n, verdict);
    bool same = d->same;
    diff_report_free(d);
    diff_reference_free(&r);
    text_bench_free(&ours);
    return same;
}

static const char *trace_path(void)
{
    static char path[256];
    char dir[200];
    scratch_dir(dir, sizeof dir, "diffwords");
    snprintf(path, sizeof path, "%s/trace.safetensors", dir);
    return path;
}

static void without_a_mistake(void **state)
{
    (void)state;
    for (int how = 0; how < RECORDINGS; how++) {
        Buf verdict = {0};
        record(NULL, (Recorded)how, trace_path());
        if (!compare(trace_path(), &verdict, NULL))
            fail_msg("%s", buf_str(&verdict));
        buf_free(&verdict);
    }
}

static void mistakes_are_named(void **state)
{
    (void)state;
    int named[RECORDINGS] = {0};
    for (size_t i = 0; i < sizeof PLANTED / sizeof *PLANTED; i++)
        for (int how = 0; how < RECORDINGS; how++) {
            Buf verdict = {0};
            record(&PLANTED[i], (Recorded)how, trace_path());
            assert_false(compare(trace_path(), &verdict, NULL));
            bool says = strstr(buf_str(&verdict), PLANTED[i].says) ||
                        (PLANTED[i].equal && strstr(buf_str(&verdict), PLANTED[i].equal)),
                 causes = strstr(buf_str(&verdict), "Likely cause");
            if (says ? !causes : causes || how == WHOLE)
                fail_msg("%s, recording %d: %s", PLANTED[i].name, how, buf_str(&verdict));
            named[how] += says;
            buf_free(&verdict);
        }
    print_message("named of %zu: %d from everything, %d from blocks, %d from the logits\n",
                  sizeof PLANTED / sizeof *PLANTED, named[WHOLE], named[BLOCKS], named[ANSWER]);
    assert_true(named[BLOCKS] >= 9 && named[ANSWER] >= 8);
}

/* What an independent implementation (tests/data/oracle/encdec/wrong.py) does otherwise with the memory, from the
 * logits alone. */
static void memories(void **state)
{
    (void)state;
    static const char *const SAYS[][2] = {{"own memory", "takes its keys and values from the decoder"},
                                          {"one block short", "the memory is one block short"}};
    TextBench b = {0};
    TensorFile f, wrong;
    Err err = {""};
    double ids[2][7];
    if (!text_model_load(&b.model, ENCDEC, NULL, NULL, &err) ||
        !tensors_open(&f, ENCDEC "/expected.safetensors", &err) ||
        !tensors_open(&wrong, ENCDEC "/wrong.safetensors", &err) ||
        !tensors_read_f64(&f, tensors_find(&f, "src_ids"), ids[0], &err) ||
        !tensors_read_f64(&f, tensors_find(&f, "tgt_ids"), ids[1], &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < 7; i++) {
        b.source[i] = (int)ids[0][i];
        b.target[i] = i < 5 ? (int)ids[1][i] : 0;
    }
    b.input.source.n = 7;
    b.input.target.n = 5;
    text_bench_start(&b);
    for (size_t i = 0; i < sizeof SAYS / sizeof *SAYS; i++) {
        const TensorInfo *t = tensors_find(&wrong, SAYS[i][0]);
        float *logits = xfloats(t->cells);
        Buf verdict = {0};
        DiffReference r;
        DiffReport d;
        const DiffOptions o = {.tolerance = DIFF_TOLERANCE};
        const DiffSubject s = {
            .graph = &b.graph, .run = b.run, .text = &b.model.text, .weights = &b.model.weights, .image = NO_NODE};
        assert_true(tensors_read_f32(&wrong, t, logits, &err));
        const TensorOut out = {.name = "logits", .rank = 2, .shape = {t->shape[0], t->shape[1]}, .data = logits};
        assert_true(tensors_write(trace_path(), TF_SAFETENSORS, &out, 1, NULL, &err));
        if (!diff_reference_open(&r, trace_path(), NULL, s.graph, &err) || !diff_compare(&d, &s, &r, &o, &err))
            fail_msg("%s", err.text);
        const DiffNamed n = {"ours", &s, &r, &o, &d};
        diff_verdict(&n, &verdict);
        if (!strstr(buf_str(&verdict), "Likely cause") || !strstr(buf_str(&verdict), SAYS[i][1]))
            fail_msg("%s: %s", SAYS[i][0], buf_str(&verdict));
        diff_report_free(&d);
        diff_reference_free(&r);
        buf_free(&verdict);
        free(logits);
    }
    tensors_close(&f);
    tensors_close(&wrong);
    text_bench_free(&b);
}

/* Cross-attention on the decoder's own tokens has as many keys as these, whatever the encoder read: no other text, and
 * the same name from the modules as from less. */
static void own_memory_of_another_length(void **state)
{
    (void)state;
    for (int how = BLOCKS; how <= OF_MODULES; how++) {
        TextBench b;
        Buf verdict = {0};
        Seq2seqConfig c = text_tiny();
        c.cross_own = true;
        text_bench_seeded(&b, &c, 5, 7, 6);
        write_run(b.run, (Recorded)how, trace_path());
        text_bench_free(&b);
        assert_false(compare(trace_path(), &verdict, NULL));
        if (!strstr(buf_str(&verdict), "Likely cause: the recording's cross-attention takes its keys and values from "
                                       "the decoder") ||
            strstr(buf_str(&verdict), "another text") || strstr(buf_str(&verdict), "from another"))
            fail_msg("recording %d: %s", how, buf_str(&verdict));
        buf_free(&verdict);
    }
}

/* Modules of nn.Transformer, with a batch axis in front. */
static void other_names(void **state)
{
    (void)state;
    static const struct {
        const char *theirs, *ours;
    } NAMES[] = {{"transformer.encoder.layers.0.self_attn", "encoder.blocks.0.self_attn.out"},
                 {"transformer.encoder.layers.1.norm2", "encoder.blocks.1.ln2.out"},
                 {"transformer.decoder.layers.0.multihead_attn", "decoder.blocks.0.cross_attn.out"},
                 {"transformer.decoder.layers.1.linear1", "decoder.blocks.1.mlp.pre"},
                 {"transformer.decoder.layers.1", "decoder.blocks.1.ln3.out"},
                 {"generator", "logits"}};
    enum { COUNT = sizeof NAMES / sizeof *NAMES };
    TextBench b;
    TensorOut out[COUNT];
    Err err = {""};
    Buf verdict = {0};
    const Seq2seqConfig c = text_tiny();
    text_bench_seeded(&b, &c, 5, 7, 6);
    for (int i = 0; i < COUNT; i++) {
        const Node *node = graph_node(&b.graph, text_bench_node(&b, NAMES[i].ours));
        out[i] = (TensorOut){.name = NAMES[i].theirs,
                             .rank = 3,
                             .shape = {1, (size_t)b.graph.axes[node->dims.axis[0]].n,
                                       (size_t)b.graph.axes[node->dims.axis[1]].n},
                             .data = text_bench_values(&b, NAMES[i].ours)};
    }
    assert_true(tensors_write(trace_path(), TF_SAFETENSORS, out, COUNT, NULL, &err));
    assert_true(compare(trace_path(), &verdict, NULL));
    assert_non_null(strstr(buf_str(&verdict), "6 tensors compared"));
    buf_free(&verdict);
    text_bench_free(&b);
}

/* What a layer gives is its last addition where norms stand first; and norms that stand elsewhere are called that, from
 * every choice of modules, though one of them alone may look like a sub-layer left away. */
static void norms_elsewhere(void **state)
{
    (void)state;
    static const char *const MODULES[] = {"norm1", "norm1 norm2", "self_attn norm1 linear2", "", "norm1 alone"};
    static const struct {
        const char *theirs, *ours;
    } OF[] = {{"norm1", "ln1.out"}, {"norm2", "ln2.out"}, {"self_attn", "self_attn.out"}, {"linear2", "mlp.out"}};
    for (int k = 0; k < 4 * (int)(sizeof MODULES / sizeof *MODULES); k++) {
        bool pre[2] = {k & 1, k & 2};
        TextBench b[2];
        TensorOut out[16];
        char name[16][80];
        int count = 0;
        for (int side = 0; side < 2; side++) {
            Seq2seqConfig c = text_tiny();
            c.pre_norm = pre[side];
            text_bench_seeded(&b[side], &c, 5, 7, 6);
        }
        for (int i = 0; i < 10; i++) {
            char path[80];
            int layer = i / 5 % 2, which = i % 5;
            if (which < 4 ? !strstr(MODULES[k / 4], OF[which].theirs) : strstr(MODULES[k / 4], "alone") != NULL)
                continue;
            snprintf(path, sizeof path, "encoder.blocks.%d.%s", layer,
                     which < 4 ? OF[which].ours
                     : pre[1]  ? "resid_post"
                               : "ln2.out");
            snprintf(name[count], sizeof name[0], "transformer.encoder.layers.%d%s%s", layer, which < 4 ? "." : "",
                     which < 4 ? OF[which].theirs : "");
            const Node *node = graph_node(&b[1].graph, text_bench_node(&b[1], path));
            out[count] = (TensorOut){.name = name[count],
                                     .rank = 2,
                                     .shape = {(size_t)b[1].graph.axes[node->dims.axis[0]].n,
                                               (size_t)b[1].graph.axes[node->dims.axis[1]].n},
                                     .data = text_bench_values(&b[1], path)};
            count++;
        }
        Err err = {""};
        assert_true(tensors_write(trace_path(), TF_SAFETENSORS, out, (size_t)count, NULL, &err));
        Buf verdict = {0};
        DiffReference r;
        DiffReport d;
        const DiffOptions o = {.tolerance = DIFF_TOLERANCE};
        const DiffSubject s = {.graph = &b[0].graph, .run = b[0].run, .text = &b[0].model.text, .image = NO_NODE};
        if (!diff_reference_open(&r, trace_path(), NULL, s.graph, &err) || !diff_compare(&d, &s, &r, &o, &err))
            fail_msg("%s", err.text);
        const DiffNamed n = {"ours", &s, &r, &o, &d};
        diff_verdict(&n, &verdict);
        const char *said = pre[1] ? "Likely cause: the recording's norms stand before"
                                  : "Likely cause: the recording's norms stand after";
        if (strstr(MODULES[k / 4], "alone") && !pre[0] && pre[1]) /* a norm of its input: of what was left away, too */
            said = "What would tell them apart is encoder.blocks.0.resid_mid.";
        if (d.same != (pre[0] == pre[1]) || (!d.same && !strstr(buf_str(&verdict), said)))
            fail_msg("ours %d, theirs %d, %s: %s", pre[0], pre[1], MODULES[k / 4], buf_str(&verdict));
        buf_free(&verdict);
        diff_report_free(&d);
        diff_reference_free(&r);
        text_bench_free(&b[0]);
        text_bench_free(&b[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_mistake), cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(other_names),       cmocka_unit_test(norms_elsewhere),
        cmocka_unit_test(memories),          cmocka_unit_test(own_memory_of_another_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
