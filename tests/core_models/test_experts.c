/* Blocks with experts: who is chosen where probabilities are equal, what a router's mistake or an expert's absence
 * changes, every cell explained, the same bits on any number of threads, how many parameters take part. What each
 * family computes is held against recordings in test_hub.c. */
#include <unistd.h>

#include "tests/core_models/tensor_set.h"
#include "tests/core_models/text_bench.h"

#include "core/graph/edit.h"
#include "core/graph/explain.h"
#include "core/models/direct.h"
#include "core/models/family.h"
#include "core/models/ledger.h"

enum { EXPERTS = 5, CHOSEN = 2, TOKENS = 6, WIDTH = 24 };

static Seq2seqConfig small(bool normalised, int shared)
{
    Seq2seqConfig c = text_variant(4);
    c.gated = true;
    c.mlp_bias = false;
    c.decoder_layers = 3;
    c.experts = (Seq2seqExperts){
        .count = EXPERTS, .chosen = CHOSEN, .width = 9, .shared = shared, .normalised = normalised, .dense = {2}};
    return c;
}

static float at(TextBench *b, const char *path, size_t cell)
{
    return text_bench_values(b, path)[cell];
}

/* Of equal probabilities those with the lower numbers, also by the second route. */
static void ties_go_to_the_first(void **state)
{
    (void)state;
    TextBench b;
    Seq2seqConfig c = small(false, 0);
    double out[TOKENS * WIDTH];
    text_bench_seeded(&b, &c, 3, 0, TOKENS);
    float *router = (float *)(uintptr_t)seq2seq_weight(&c, &b.model.weights, SEQ2SEQ_ROUTER_W, 0)->data;
    for (size_t x = 1; x < EXPERTS; x++) /* 1 to 4 alike, all above 0 or all below it */
        memcpy(router + x * WIDTH, router + (x > 1 ? WIDTH : 0), x > 1 ? WIDTH * sizeof *router : 0);
    int first = 0;
    for (size_t t = 0; t < TOKENS; t++) {
        const size_t row = t * EXPERTS;
        const bool above = at(&b, "decoder.blocks.0.mlp.router_probs", row) >
                           at(&b, "decoder.blocks.0.mlp.router_probs", row + 1);
        for (size_t x = 0; x < EXPERTS; x++) {
            const bool in = above ? x < 2 : x == 1 || x == 2;
            assert_true((at(&b, "decoder.blocks.0.mlp.chosen", row + x) > 0) == in);
            assert_true((at(&b, "decoder.blocks.0.mlp.weights", row + x) > 0) == in);
        }
        first += above;
    }
    assert_true(first > 0 && first < TOKENS);
    seq2seq_direct_block(&c, &b.model.weights, true, 0, text_bench_values(&b, "decoder.blocks.0.resid_pre"), TOKENS,
                         (Seq2seqDirectMemory){NULL, 0}, NULL, out);
    for (size_t i = 0; i < TOKENS * WIDTH; i++)
        assert_true(fabs(out[i] - (double)at(&b, "decoder.blocks.0.resid_post", i)) < 1e-5);
    text_bench_free(&b);
}

/* The second route takes the graph's choice only where rounding can't tell the two apart. */
static void a_wrong_choice_is_noticed(void **state)
{
    (void)state;
    TextBench b;
    Seq2seqConfig c = small(true, 7);
    double out[TOKENS * WIDTH];
    float chosen[TOKENS * EXPERTS];
    text_bench_seeded(&b, &c, 3, 0, TOKENS);
    const float *to = text_bench_values(&b, "decoder.blocks.0.resid_post");
    for (int wrong = 0; wrong < 2; wrong++) {
        double worst = 0;
        memcpy(chosen, text_bench_values(&b, "decoder.blocks.0.mlp.chosen"), sizeof chosen);
        for (size_t x = 0; wrong && x < EXPERTS; x++)
            chosen[x] = 1 - chosen[x];
        seq2seq_direct_block(&c, &b.model.weights, true, 0, text_bench_values(&b, "decoder.blocks.0.resid_pre"), TOKENS,
                             (Seq2seqDirectMemory){NULL, 0}, chosen, out);
        for (size_t i = 0; i < TOKENS * WIDTH; i++)
            worst = fmax(worst, fabs(out[i] - (double)to[i]));
        assert_true(worst < 1e-5); /* its own choice, and what was asked for is not it */
    }
    text_bench_free(&b);
}

static const float *values_of(const void *run, NodeId n)
{
    return run_need((Run *)(uintptr_t)run, n);
}

static void every_cell_is_explained(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        TextBench b;
        size_t cells = 0;
        Seq2seqConfig c = small(i, i ? 7 : 0);
        text_bench_seeded(&b, &c, 5, 0, TOKENS);
        assert_true(graph_find(&b.graph, "decoder.blocks.1.mlp.router") == NO_NODE); /* a block with one MLP */
        for (NodeId n = 0; n < b.graph.count; n++) {
            const Node *node = graph_node(&b.graph, n);
            if (!strstr(node->path, ".mlp.") || node->op == OP_LEAF)
                continue;
            const float *stored = run_need(b.run, n);
            Explain e = explain_open(&b.graph, n, 0);
            for (size_t k = 0; k < graph_cells(&b.graph, n); k++, cells++) {
                explain_move(&e, k);
                float x = explain_fold(&e, values_of, b.run);
                if (memcmp(&x, &stored[k], sizeof x) != 0)
                    fail_msg("%s[%zu]: %g, folded %g", node->path, k, (double)stored[k], (double)x);
            }
        }
        assert_true(cells > 3000);
        text_bench_free(&b);
    }
}

/* What the experts write adds up to what the MLP gives, and in a ledger to the number. */
static void they_add_up(void **state)
{
    (void)state;
    TextBench b;
    Ledger l;
    Err err = {""};
    Seq2seqConfig c = small(true, 7);
    text_bench_seeded(&b, &c, 7, 0, TOKENS);
    for (size_t t = 0; t < TOKENS; t++) {
        double weights = 0;
        for (size_t x = 0; x < EXPERTS; x++)
            weights += (double)at(&b, "decoder.blocks.2.mlp.weights", t * EXPERTS + x);
        assert_true(fabs(weights - 1) < 1e-6);
        for (size_t d = 0; d < WIDTH; d++) {
            double sum = (double)at(&b, "decoder.blocks.2.mlp.shared.wrote", t * WIDTH + d);
            for (size_t x = 0; x < EXPERTS; x++)
                sum += (double)at(&b, "decoder.blocks.2.mlp.experts.wrote", (t * EXPERTS + x) * WIDTH + d);
            assert_true(fabs(sum - (double)at(&b, "decoder.blocks.2.mlp.mixed", t * WIDTH + d)) < 1e-5);
        }
    }
    if (!ledger_add(&b.graph, b.nodes.logits, 5 * (size_t)c.target_words, LEDGER_ALONE, &l, &err))
        fail_msg("%s", err.text);
    run_extend(b.run);
    int mlps = 0;
    for (int i = 0; i < l.count; i++) {
        const LedgerEntry *e = &l.entry[i];
        mlps += e->kind == LEDGER_MLP;
        assert_int_equal(e->experts != NO_NODE, e->kind == LEDGER_MLP && e->layer != 1);
        if (e->experts == NO_NODE)
            continue;
        const float *each = run_need(b.run, e->experts);
        double sum = (double)run_need(b.run, e->shared)[0];
        for (int x = 0; x < EXPERTS; x++)
            sum += (double)each[x];
        assert_true(fabs(sum - (double)run_need(b.run, e->total)[0]) < 1e-5);
    }
    assert_int_equal(mlps, 3);
    assert_true(fabsf(run_need(b.run, l.remainder)[0]) < 1e-5f);
    text_bench_free(&b);
}

/* One that is switched off is missed by those tokens that had it, and by what reads them; kept from being chosen, it is
 * replaced by the next. */
static void switched_off(void **state)
{
    (void)state;
    TextBench b;
    Graph g;
    Err err = {""};
    Seq2seqConfig c = small(true, 0);
    text_bench_seeded(&b, &c, 7, 0, TOKENS);
    int x = b.graph.nodes[text_bench_node(&b, "decoder.blocks.2.mlp.weights")].dims.axis[1];
    const Edit off = {.kind = EDIT_ZERO,
                      .path = "decoder.blocks.2.mlp.experts.wrote",
                      .axis = AXIS_NONE,
                      .cells = {1, {{x, 1, 2}}},
                      .origin = "test"},
               never = {.kind = EDIT_SET,
                        .path = "decoder.blocks.2.mlp.router",
                        .axis = AXIS_NONE,
                        .value = -1000,
                        .cells = {1, {{x, 1, 2}}},
                        .origin = "test"};
    for (int i = 0; i < 2; i++) {
        int had = 0;
        assert_true(graph_edit(&g, &b.graph, i ? &never : &off, 1, &err));
        Run *r = run_new(&g, b.run, NULL);
        const float *before = text_bench_values(&b, "decoder.blocks.2.mlp.mixed"),
                    *after = run_need(r, graph_find(&g, "decoder.blocks.2.mlp.mixed")),
                    *weights = run_need(r, graph_find(&g, "decoder.blocks.2.mlp.weights"));
        for (size_t t = 0; t < TOKENS; t++) {
            bool chosen = at(&b, "decoder.blocks.2.mlp.chosen", t * EXPERTS + 1) > 0;
            bool same = memcmp(before + t * WIDTH, after + t * WIDTH, WIDTH * sizeof *after) == 0;
            int now = 0;
            for (size_t k = 0; k < EXPERTS; k++)
                now += weights[t * EXPERTS + k] > 0;
            assert_int_equal(now, CHOSEN);
            assert_true(i == 0 || !(weights[t * EXPERTS + 1] > 0));
            if (i == 0)
                assert_true(same == !chosen);
            had += chosen;
        }
        assert_true(had > 0 && had < TOKENS);
        run_free(r);
        graph_free(&g);
    }
    text_bench_free(&b);
}

static void same_on_any_number_of_threads(void **state)
{
    (void)state;
    uint64_t hash[3];
    for (int i = 0; i < 3; i++) {
        TextBench b;
        Seq2seqConfig c = small(true, 7);
        text_bench_seeded(&b, &c, 9, 0, TOKENS);
        Pool *pool = i ? pool_new(i == 1 ? 2 : 5) : NULL;
        run_free(b.run);
        b.run = run_new(&b.graph, NULL, pool);
        hash[i] = text_bench_hash(&b);
        text_bench_free(&b);
        pool_free(pool);
    }
    assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
}

/* Mixtral 8x7B: what its authors call 46.7 billion, of which 12.9 are used for a token. */
static void parameters(void **state)
{
    (void)state;
    Seq2seqConfig c = {.form = SEQ2SEQ_DECODER_ONLY,
                       .target_words = 32000,
                       .width = 4096,
                       .heads = 32,
                       .head_dim = 128,
                       .key_heads = 8,
                       .mlp = 14336,
                       .decoder_layers = 32,
                       .pos = SEQ2SEQ_POS_ROPE,
                       .pre_norm = true,
                       .final_norm = true,
                       .rms_norm = true,
                       .gated = true,
                       .experts = {.count = 8, .chosen = 2, .width = 14336, .normalised = true}};
    assert_true((double)seq2seq_params(&c) == 46702792704.0);
    assert_true((double)seq2seq_params_active(&c) == 12879925248.0);
    c.experts.chosen = 8;
    assert_true(seq2seq_params_active(&c) == seq2seq_params(&c));
}

/* Every NAME of experts of a block in one tensor, gates in front of what they multiply, and the single ones away. */
static void fuse(Set *s, const char *block, int experts, const char *const one[2], const char *all)
{
    char name[160];
    float *data = NULL;
    size_t cells = 0, shape[3] = {(size_t)experts, 0, 0};
    for (int x = 0; x < experts; x++)
        for (int k = 0; k < 2 && one[k]; k++) {
            snprintf(name, sizeof name, "%s.%d.%s.weight", block, x, one[k]);
            const TensorOut *t = &s->t[set_find(s, name)];
            size_t more = t->shape[0] * t->shape[1];
            data = realloc(data, (cells + more) * sizeof *data);
            memcpy(data + cells, t->data, more * sizeof *data);
            cells += more;
            shape[2] = t->shape[1];
            set_drop(s, name);
        }
    shape[1] = cells / shape[0] / shape[2];
    set_add(s, all, 3, shape, data);
}

/* Experts all in one tensor are the same model as experts each in tensors of their own: the same weights, and so the
 * same trace. A tensor with two of its axes exchanged is none of them. */
static void experts_in_one_tensor(void **state)
{
    (void)state;
    static const struct {
        const char *name, *block, *gate, *up, *down;
        int layers, experts, dense;
    } CASE[] = {
        {"mixtral", "model.layers.%d.block_sparse_moe.experts", "w1", "w3", "w2", 2, 4, -1},
        {"olmoe", "model.layers.%d.mlp.experts", "gate_proj", "up_proj", "down_proj", 2, 6, -1},
        {"qwen2_moe", "model.layers.%d.mlp.experts", "gate_proj", "up_proj", "down_proj", 3, 5, 2},
        {"qwen3_moe", "model.layers.%d.mlp.experts", "gate_proj", "up_proj", "down_proj", 3, 12, 1},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char from[200], path[300], dir[256], block[160], all[160];
        Model apart, fused;
        Set s;
        Err err = {""};
        snprintf(from, sizeof from, "tests/data/families/words_%s", CASE[i].name);
        snprintf(path, sizeof path, "%s/model.safetensors", from);
        set_read(&s, path);
        for (int layer = 0; layer < CASE[i].layers; layer++) {
            if ((CASE[i].dense == 2 && layer % 2 == 0) || layer == CASE[i].dense)
                continue;
            snprintf(block, sizeof block, "model.layers.%d%s", layer, strchr(CASE[i].block, '%') + 2);
            snprintf(all, sizeof all, "model.layers.%d.mlp.experts.down_proj", layer);
            fuse(&s, block, CASE[i].experts, (const char *const[]){CASE[i].down, NULL}, all);
            snprintf(all, sizeof all, "model.layers.%d.mlp.experts.gate_up_proj", layer);
            fuse(&s, block, CASE[i].experts, (const char *const[]){CASE[i].gate, CASE[i].up}, all);
        }
        set_rename(&s, "block_sparse_moe.gate", "mlp.gate");
        scratch_dir(dir, sizeof dir, "fused");
        snprintf(path, sizeof path, "%s/config.json", from);
        copy_file(path, dir, "config.json");
        set_write(&s, dir);
        if (!family_load(&apart, from, NULL, NULL, &err) || !family_load(&fused, dir, NULL, NULL, &err))
            fail_msg("%s: %s", CASE[i].name, err.text);
        assert_int_equal(apart.block_cells, fused.block_cells);
        assert_memory_equal(apart.block, fused.block, apart.block_cells * sizeof(float));
        assert_int_equal(apart.assumption_count, fused.assumption_count);
        model_free(&fused);
        model_free(&apart);
        TensorOut *t = &s.t[set_find(&s, all)];
        for (int wrong = 0; wrong < 2; wrong++) {
            const size_t was[3] = {t->shape[0], t->shape[1], t->shape[2]};
            t->shape[0] = was[wrong ? 0 : 1];
            t->shape[1] = was[wrong ? 2 : 0];
            t->shape[2] = was[wrong ? 1 : 2];
            set_write(&s, dir);
            assert_false(family_load(&fused, dir, NULL, NULL, &err));
            assert_non_null(strstr(err.text, "gate_up_proj' is "));
            memcpy(t->shape, was, sizeof was);
        }
        set_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ties_go_to_the_first),
                                       cmocka_unit_test(a_wrong_choice_is_noticed),
                                       cmocka_unit_test(every_cell_is_explained),
                                       cmocka_unit_test(they_add_up),
                                       cmocka_unit_test(switched_off),
                                       cmocka_unit_test(same_on_any_number_of_threads),
                                       cmocka_unit_test(parameters),
                                       cmocka_unit_test(experts_in_one_tensor)};
    return cmocka_run_group_tests_name("experts", tests, NULL, NULL);
}
