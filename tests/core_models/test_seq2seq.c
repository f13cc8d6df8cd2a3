/* Text models of every form: every cell explained bit for bit, gradients, causality, masks, batches, and the steps of
 * decoding as rows of one pass. */
#include "tests/core_graph/doubles.h"
#include "tests/core_models/text_bench.h"

#include "core/base/rng.h"
#include "core/graph/anatomy.h"
#include "core/graph/edit.h"
#include "core/graph/explain.h"
#include "core/graph/grad.h"
#include "core/graph/plan.h"
#include "core/kernels/kernels.h"
#include "core/models/names.h"

enum { SOURCE = 6, TARGET = 5 };

static const float *peek(const void *run, NodeId n)
{
    const float *v = run_peek(run, n);
    assert_non_null(v);
    return v;
}

static size_t check_explained(const char *what, const TextBench *b, NodeId from)
{
    size_t cells = 0;
    for (NodeId n = from; n < b->graph.count; n++)
        run_need(b->run, n);
    for (NodeId n = from; n < b->graph.count; n++) {
        const Node *node = graph_node(&b->graph, n);
        const float *v = run_need(b->run, n);
        for (int k = 0; k < op_inputs(node->op); k++)
            run_need(b->run, node->in[k]);
        for (size_t c = 0; node->op != OP_LEAF && c < graph_cells(&b->graph, n); c++) {
            Explain e = explain_open(&b->graph, n, c);
            float folded = explain_fold(&e, peek, b->run);
            if (memcmp(&folded, &v[c], sizeof folded) != 0)
                fail_msg("%s: %s[%zu] is %.9g, its terms give %.9g", what, node->path, c, (double)v[c], (double)folded);
            cells++;
        }
    }
    return cells;
}

/* What runs keep when memory is short: the answer, and no value on the way to it is all that there is. */
static void the_answer_is_kept(void **state)
{
    (void)state;
    TextBench b;
    const Seq2seqConfig c = text_tiny();
    text_bench_seeded(&b, &c, 5, SOURCE, TARGET);
    const NodeId kept[] = {b.nodes.logits, b.nodes.probs};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_true(graph_node(&b.graph, kept[i])->flags & NODE_CHECKPOINT);
    text_bench_free(&b);
}

static const NodeId *add_gradients(TextBench *b, NodeId *y)
{
    Graph *g = &b->graph;
    Dims d = graph_node(g, b->nodes.logits)->dims;
    size_t cells = graph_dims_cells(g, d), words = (size_t)g->axes[d.axis[1]].n;
    float *v = arena_alloc(&g->arena, cells * sizeof *v);
    for (size_t i = 0; i < cells; i++)
        v[i] = (i % words == (i / words * 3 + 1) % words ? 0.9f : 0) + 0.1f / (float)words;
    NodeId target = graph_leaf(g, "target", d, (Leaf){LEAF_INPUT, v, "the words that are right"});
    graph_flag(g, target, NODE_PROBE);
    *y = graph_reduce(g, "total", OP_SUM, grad_cross_entropy(g, b->nodes.logits, target, d.axis[1]), DIMS_SCALAR);
    graph_flag(g, *y, NODE_PROBE);
    const NodeId *table = grad_add(g, *y, grad_seed(g, *y, 0, "grad."), NULL, 0, "grad.");
    run_extend(b->run);
    return table;
}

static void every_form_runs(void **state)
{
    (void)state;
    uint64_t hashes[TEXT_VARIANT_COUNT];
    for (size_t i = 0; i < TEXT_VARIANT_COUNT; i++) {
        TextBench b;
        Seq2seqConfig c = text_variant(i);
        text_bench_seeded(&b, &c, 3, SOURCE, TARGET);
        hashes[i] = text_bench_hash(&b);
        for (NodeId n = 0; n < b.graph.count; n++)
            if (!node_text(graph_node(&b.graph, n)->path))
                fail_msg("no row for %s", graph_node(&b.graph, n)->path);
        const float *p = run_need(b.run, b.nodes.probs);
        for (size_t k = 0; k < graph_cells(&b.graph, b.nodes.probs); k++)
            assert_true(isfinite(p[k]));
        /* embeddings that nothing reads are no part of the graph, and none is in it twice */
        assert_int_equal((size_t)graph_scope_cost(&b.graph, "").params, seq2seq_params(&c));
        assert_int_equal(graph_find(&b.graph, "encoder.blocks.1.self_attn.pattern") != NO_NODE,
                         seq2seq_has_encoder(&c));
        assert_int_equal(graph_find(&b.graph, "decoder.blocks.1.self_attn.pattern") != NO_NODE,
                         seq2seq_has_decoder(&c));
        assert_int_equal(graph_find(&b.graph, "decoder.blocks.1.cross_attn.pattern") != NO_NODE,
                         c.form == SEQ2SEQ_BOTH);
        text_bench_free(&b);
        for (size_t k = 0; k < i; k++)
            assert_true(hashes[k] != hashes[i]);
    }
}

/* Every cell of every node, gradients included; gradients against differences in double. */
static void explained_and_differentiated(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXT_VARIANT_COUNT; i++) {
        TextBench b;
        NodeId y;
        Seq2seqConfig c = text_variant(i);
        text_bench_seeded(&b, &c, 3, SOURCE, TARGET);
        uint64_t hash = text_bench_hash(&b), after;
        assert_true(check_explained(TEXT_VARIANTS[i].what, &b, 0) > 5000);
        const NodeId *table = add_gradients(&b, &y);
        for (NodeId n = 0; n < y; n++)
            if (graph_node(&b.graph, n)->op == OP_LEAF && graph_node(&b.graph, n)->leaf.kind == LEAF_TENSOR &&
                table[n] == NO_NODE)
                fail_msg("%s: no gradient of %s", TEXT_VARIANTS[i].what, graph_node(&b.graph, n)->path);
        assert_true(check_explained(TEXT_VARIANTS[i].what, &b, y + 1) > 5000);
        const Graph *g = &b.graph;
        const double h = 1e-6;
        double **values = doubles_new(g, y), moved[2], slope = 0, size = 0;
        for (int side = 0; side < 2; side++) {
            Rng r = rng_seed(5, 1);
            for (NodeId n = 0; n <= y; n++) {
                doubles_node(g, n, values);
                if (graph_node(g, n)->op != OP_LEAF || table[n] == NO_NODE)
                    continue;
                const float *grad = run_need(b.run, table[n]);
                for (size_t k = 0; k < graph_cells(g, n); k++) {
                    double step = (double)rng_normal(&r);
                    values[n][k] += side ? h * step : -h * step;
                    slope += side ? (double)grad[k] * step : 0;
                    size += side ? fabs((double)grad[k] * step) : 0;
                }
            }
            moved[side] = values[y][0];
        }
        doubles_free(values, y);
        double want = (moved[1] - moved[0]) / (2 * h);
        if (!(fabs(slope - want) <= 2e-5 * size / sqrt(1000) + 1e-7 * size))
            fail_msg("%s: the gradient says %.9g, differences %.9g (parts %.3g)", TEXT_VARIANTS[i].what, slope, want,
                     size);
        assert_true(run_hash(b.run, &after) && after == hash);
        text_bench_free(&b);
    }
}

/* Two stacks, three kinds of attention; which tokens ask and which are looked at is said by the axes. */
static void anatomy(void **state)
{
    (void)state;
    TextBench b;
    Seq2seqConfig c = text_variant(0);
    text_bench_seeded(&b, &c, 3, SOURCE, TARGET);
    const Graph *g = &b.graph;
    assert_int_equal(anatomy_blocks(g, "encoder"), 2);
    assert_int_equal(anatomy_blocks(g, "decoder"), 2);
    int encoder = anatomy_block(g, "encoder", 1), decoder = anatomy_block(g, "decoder", 1), count = 0;
    int self = anatomy_next_in(g, NO_PART, PART_ATTENTION, encoder);
    assert_string_equal(site_path(g, self, SITE_PATTERN), "encoder.blocks.1.self_attn.pattern");
    assert_int_equal(anatomy_next_in(g, self, PART_ATTENTION, encoder), NO_PART);
    static const Sequence seen[] = {SEQUENCE_TARGET, SEQUENCE_SOURCE};
    for (int p = anatomy_next_in(g, NO_PART, PART_ATTENTION, decoder); p != NO_PART;
         p = anatomy_next_in(g, p, PART_ATTENTION, decoder)) {
        NodeId pattern = site_node(g, p, SITE_PATTERN);
        int asks = node_role(g, pattern, ROLE_QUERY), looked = node_role(g, pattern, ROLE_KEY);
        assert_int_equal(g->axes[asks].sequence, SEQUENCE_TARGET);
        assert_int_equal(g->axes[looked].sequence, seen[count]);
        assert_int_equal(site_node(g, p, SITE_SCORES_MASKED) != NO_NODE, count == 0);
        assert_true(site_node(g, p, SITE_SUM) != NO_NODE && site_node(g, p, SITE_W_O) != NO_NODE);
        count++;
    }
    assert_int_equal(count, 2);
    assert_int_equal(site_node_any(g, SITE_LOGITS), b.nodes.logits);
    assert_int_equal(site_node(g, decoder, SITE_BLOCK_OUT), b.nodes.decoded);
    assert_int_equal(anatomy_block_of(g, "decoder.blocks.1.cross_attn.z"), decoder);
    text_bench_free(&b);
}

/* Changing a later word of the target moves nothing in the rows before it, bit for bit, in any node; in an encoder it
 * moves everything. */
static void causality(void **state)
{
    (void)state;
    static const size_t forms[] = {0, 4};
    for (size_t i = 0; i < 2; i++) {
        TextBench one, other;
        Seq2seqConfig c = text_variant(forms[i]);
        text_bench_seeded(&one, &c, 3, SOURCE, TARGET);
        other = (TextBench){0};
        text_model_seeded(&other.model, &c, 3);
        text_bench_words(&other, one.input.source.n, TARGET);
        other.target[TARGET - 2] = (other.target[TARGET - 2] + 3) % c.target_words;
        text_bench_start(&other);
        size_t rows = 0, moved = 0;
        for (NodeId n = 0; n < one.graph.count; n++) {
            const Node *node = graph_node(&one.graph, n);
            int t = -1;
            for (int k = 0; k < node->dims.n; k++)
                if (strcmp(one.graph.axes[node->dims.axis[k]].sym, "t") == 0)
                    t = k;
            if (t < 0 || node->op == OP_LEAF)
                continue;
            const float *a = run_need(one.run, n), *b = run_need(other.run, n);
            for (size_t k = 0; k < graph_cells(&one.graph, n); k++) {
                int index[DIMS_MAX];
                dims_unravel(one.graph.axes, node->dims, k, index);
                bool later = index[t] >= TARGET - 2, same = memcmp(&a[k], &b[k], sizeof *a) == 0;
                /* raw scores look ahead; the mask is what hides them */
                if (strstr(node->path, "scores_raw") || strstr(node->path, "scores_scaled"))
                    continue;
                if (!later && !same)
                    fail_msg("%s[%zu] sees a later word", node->path, k);
                rows += !later;
                moved += later && !same;
            }
        }
        assert_true(rows > 1000 && moved > 1000);
        text_bench_free(&one);
        text_bench_free(&other);
    }
}

/* Padded tokens change nothing: bit for bit the text without them. */
static void padding_is_not_seen(void **state)
{
    (void)state;
    TextBench plain, padded;
    Seq2seqConfig c = text_variant(0);
    text_bench_seeded(&plain, &c, 3, SOURCE, TARGET);
    padded = (TextBench){0};
    text_model_seeded(&padded.model, &c, 3);
    text_bench_words(&padded, SOURCE + 3, TARGET);
    for (int i = 0; i < SOURCE + 3; i++)
        padded.padding[i] = i < SOURCE ? 1.0f : 0.0f;
    padded.input.padding = padded.padding;
    text_bench_start(&padded);
    size_t cells = graph_cells(&plain.graph, plain.nodes.logits);
    assert_memory_equal(run_need(plain.run, plain.nodes.logits), run_need(padded.run, padded.nodes.logits),
                        cells * sizeof(float));
    padded.padding[SOURCE] = 1.0f; /* and a token that is not padding does change it */
    text_bench_free(&plain);
    Run *seen = run_new(&padded.graph, NULL, NULL);
    assert_memory_not_equal(run_need(seen, padded.nodes.logits), run_need(padded.run, padded.nodes.logits),
                            cells * sizeof(float));
    run_free(seen);
    text_bench_free(&padded);
}

/* A batch of one-hot rows gives each text the values it has alone. */
static void batches(void **state)
{
    (void)state;
    enum { BATCH = 3 };
    for (size_t i = 0; i < TEXT_VARIANT_COUNT; i++) {
        Seq2seqConfig c = text_variant(i);
        Model m;
        Graph g;
        Seq2seqNodes nodes;
        text_model_seeded(&m, &c, 3);
        Seq2seqBatch size = {BATCH, seq2seq_has_encoder(&c) ? 9 : 0, seq2seq_has_decoder(&c) ? 8 : 0, NULL};
        size_t cells = seq2seq_batch_zeros(&c, size);
        float *zeros = calloc(cells, sizeof *zeros), *s = calloc(cells, sizeof *s), *t = calloc(cells, sizeof *t),
              pad[BATCH * 9] = {0};
        size.zeros = zeros;
        graph_init(&g);
        seq2seq_build_batch(&g, &c, &m.weights, size, &nodes);
        TextBench alone[BATCH];
        for (int k = 0; k < BATCH; k++) {
            text_bench_seeded(&alone[k], &c, 3, SOURCE + k, TARGET + k);
            for (int w = 0; w < alone[k].input.source.n; w++) {
                s[(k * 9 + w) * c.source_words + alone[k].source[w]] = 1;
                pad[k * 9 + w] = 1;
            }
            for (int w = 0; w < alone[k].input.target.n; w++)
                t[(k * 8 + w) * c.target_words + alone[k].target[w]] = 1;
        }
        Plan *p = plan_new(&g, &nodes.logits, 1);
        if (nodes.source != NO_NODE) {
            plan_leaf(p, nodes.source, s);
            plan_leaf(p, nodes.padding, pad);
        }
        if (nodes.target != NO_NODE)
            plan_leaf(p, nodes.target, t);
        plan_compute(p);
        const float *logits = plan_values(p, nodes.logits);
        size_t row = graph_cells(&g, nodes.logits) / BATCH;
        for (int k = 0; k < BATCH; k++) {
            assert_memory_equal(run_need(alone[k].run, alone[k].nodes.logits), logits + (size_t)k * row,
                                graph_cells(&alone[k].graph, alone[k].nodes.logits) * sizeof *logits);
            text_bench_free(&alone[k]);
        }
        plan_free(p);
        graph_free(&g);
        model_free(&m);
        free(zeros);
        free(s);
        free(t);
    }
}

static uint64_t hash_of(const Seq2seqConfig *c, int threads)
{
    TextBench b;
    NodeId y;
    text_bench_seeded(&b, c, 3, SOURCE, TARGET);
    Pool *pool = threads > 1 ? pool_new(threads) : NULL;
    run_free(b.run);
    b.run = run_new(&b.graph, NULL, pool);
    uint64_t hash = text_bench_hash(&b);
    const NodeId *table = add_gradients(&b, &y);
    for (NodeId n = 0; n <= y; n++)
        if (table[n] != NO_NODE)
            hash = hash * 0x100000001b3u + run_hash_values(run_need(b.run, table[n]), graph_cells(&b.graph, table[n]));
    text_bench_free(&b);
    pool_free(pool);
    return hash;
}

/* Both stacks, a decoder alone, an encoder alone, values and gradients. */
static void same_bits_everywhere(void **state)
{
    (void)state;
    bool seen[3] = {false};
    for (size_t i = 0; i < TEXT_VARIANT_COUNT; i++) {
        Seq2seqConfig c = text_variant(i);
        if (seen[c.form])
            continue;
        seen[c.form] = true;
        uint64_t want = hash_of(&c, 1);
        assert_int_equal(hash_of(&c, 2), want);
        assert_int_equal(hash_of(&c, 5), want);
        for (int v = 0; kernels_variant(v); v++) {
            assert_true(kernels_select(kernels_variant(v)->isa, NULL));
            assert_int_equal(hash_of(&c, 1), want);
        }
        assert_true(kernels_select("auto", NULL));
    }
    assert_true(seen[SEQ2SEQ_BOTH] && seen[SEQ2SEQ_DECODER_ONLY] && seen[SEQ2SEQ_ENCODER_ONLY]);
}

static void sinusoids(void **state)
{
    (void)state;
    enum { ROWS = 30, WIDTH = 64 };
    float pe[ROWS * WIDTH];
    seq2seq_sinusoids(3, ROWS, WIDTH, pe);
    for (int p = 0; p < ROWS; p++)
        for (int i = 0; i < WIDTH; i++) {
            double angle = (p + 3) / pow(10000, (i / 2 * 2) / (double)WIDTH), want = i % 2 ? cos(angle) : sin(angle);
            assert_true(fabs((double)pe[p * WIDTH + i] - want) < 6e-8);
        }
}

static void impossible_configurations(void **state)
{
    (void)state;
    const Seq2seqConfig good = text_tiny();
    Seq2seqConfig bad[16];
    size_t n = 0;
    Err err;
#define BAD(change) (bad[n] = good, bad[n].change, n++)
    BAD(width = 0);
    BAD(heads = -1);
    BAD(head_dim = 0);
    BAD(mlp = 1 << 20);
    BAD(encoder_layers = 0);
    BAD(decoder_layers = 5000);
    BAD(source_words = 0);
    BAD(target_words = -3);
    BAD(eps = NAN);
    BAD(scale = INFINITY);
    BAD(embed_scale = NAN);
    BAD(form = SEQ2SEQ_DECODER_ONLY); /* which has no source */
    BAD(form = (Seq2seqForm)9);
#undef BAD
    for (size_t i = 0; i < n; i++) {
        err.text[0] = '\0';
        if (seq2seq_check(&bad[i], &err))
            fail_msg("configuration %zu was accepted", i);
        assert_true(err.text[0] != '\0');
    }
    Seq2seqConfig learned = good;
    learned.learned_positions = true;
    learned.positions = 8;
    assert_true(seq2seq_check_length(&learned, 8, 8, &err));
    assert_false(seq2seq_check_length(&learned, 9, 8, &err));
    assert_false(seq2seq_check_length(&good, 0, 4, &err));
    assert_false(seq2seq_check_length(&good, 4, 0, &err));
}

static bool later(const void *context, const int index[DIMS_MAX])
{
    (void)context;
    return index[1] > index[0];
}

/* An edit's mask in front of the model's own: causal once more changes nothing; a row in which neither leaves a cell is
 * zeros, and no two nodes have one name. */
static void masks_before_the_own_mask(void **state)
{
    (void)state;
    TextBench b;
    Seq2seqConfig c = text_variant(0);
    text_bench_seeded(&b, &c, 3, SOURCE, TARGET);
    const Graph *g = &b.graph;
    NodeId scores = graph_find(g, "decoder.blocks.0.self_attn.scores_scaled");
    Dims d = graph_node(g, scores)->dims;
    Edit edits[] = {{.kind = EDIT_MASK, .path = graph_node(g, scores)->path, .choose = later},
                    {.kind = EDIT_MASK,
                     .path = graph_node(g, scores)->path,
                     .cells = {.n = 1, .range = {{d.axis[d.n - 1], 0, 1}}}}};
    for (int count = 1; count <= 2; count++) {
        Graph edited = {0};
        Err err = {""};
        if (!graph_edit(&edited, g, edits, count, &err))
            fail_msg("%s", err.text);
        for (NodeId i = 0; i < edited.count; i++)
            assert_int_equal(graph_find(&edited, edited.nodes[i].path), i);
        Run *r = run_new(&edited, b.run, NULL);
        assert_true(run_step_all(r, CLOCK_NEVER));
        NodeId before = graph_find(g, "decoder.blocks.0.self_attn.pattern"), logits = graph_find(&edited, "logits");
        const float *was = run_need(b.run, before), *is = run_need(r, graph_find(&edited, graph_node(g, before)->path)),
                    *answer = run_need(r, logits);
        size_t keys = (size_t)g->axes[d.axis[d.n - 1]].n, row = keys * (size_t)g->axes[d.axis[d.n - 2]].n;
        for (size_t i = 0; i < graph_cells(g, before); i++)
            assert_true(count == 1 ? is[i] == was[i] : i % row < keys || i % keys == 0 ? is[i] == 0.0f : is[i] >= 0);
        for (size_t i = 0; i < graph_cells(&edited, logits); i++)
            assert_true(isfinite(answer[i]));
        run_free(r);
        graph_free(&edited);
    }
    text_bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_runs),
        cmocka_unit_test(the_answer_is_kept),
        cmocka_unit_test(anatomy),
        cmocka_unit_test(explained_and_differentiated),
        cmocka_unit_test(causality),
        cmocka_unit_test(masks_before_the_own_mask),
        cmocka_unit_test(padding_is_not_seen),
        cmocka_unit_test(batches),
        cmocka_unit_test(same_bits_everywhere),
        cmocka_unit_test(sinusoids),
        cmocka_unit_test(impossible_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
