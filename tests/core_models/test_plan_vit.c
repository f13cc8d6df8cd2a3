/* Plans of whole models: the bits of a run for every node, whatever is wanted, and memory for little more than what is
 * in use. */
#include "tests/core_models/oracle.h"

#include "core/base/rng.h"
#include "core/graph/grad.h"
#include "core/graph/plan.h"

static void same_values(Bench *b, const Plan *p, const NodeId *wanted, int count)
{
    for (int i = 0; i < count; i++) {
        NodeId n = wanted[i];
        if (memcmp(plan_values(p, n), run_need(b->run, n), graph_cells(&b->graph, n) * sizeof(float)) != 0)
            fail_msg("%s differs from the run's", graph_node(&b->graph, n)->path);
    }
}

static void check_wish(Bench *b, const NodeId *wanted, int count)
{
    Plan *p = plan_new(&b->graph, wanted, count);
    for (int round = 0; round < 2; round++)
        plan_compute(p);
    same_values(b, p, wanted, count);
    plan_free(p);
}

static void check_model(const VitConfig *c)
{
    Bench b;
    NodeId wanted[400];
    Rng r = rng_seed(3, 3);
    bench_seeded(&b, c, 11);
    const NodeId all = b.graph.count;
    assert_true(all <= 400);
    for (NodeId n = 0; n < all; n++)
        wanted[n] = n;
    check_wish(&b, wanted, all);
    for (NodeId n = 0; n < all; n += 7)
        check_wish(&b, &n, 1);
    for (int count = 1; count < 60; count += 5) {
        for (int i = 0; i < count; i++)
            wanted[i] = (NodeId)rng_below(&r, (uint32_t)all);
        check_wish(&b, wanted, count);
    }
    bench_free(&b);
}

static void every_node_of_models(void **state)
{
    (void)state;
    VitConfig c = model_bundled_config();
    check_model(&c);
    assert_true(model_size("tiny", &c));
    check_model(&c);
    c.cls = false;
    c.registers = 2;
    c.pos = VIT_POS_BEFORE_REGISTERS;
    c.pool = VIT_POOL_MEAN;
    c.input = VIT_INPUT_PER_IMAGE;
    c.layer_scale = c.post_norm = true;
    c.qkv_bias = c.mlp_bias = false;
    check_model(&c);
}

/* The answer alone: a few tensors at a time, not the trace. Other pictures in between leave nothing behind. */
static void only_the_answer(void **state)
{
    (void)state;
    Bench b;
    VitConfig c = model_bundled_config();
    bench_seeded(&b, &c, 11);
    bench_hash(&b);
    Plan *p = plan_new(&b.graph, &b.nodes.logits, 1);
    assert_true(plan_bytes(p) * 4 < run_bytes(b.run));
    plan_compute(p);
    same_values(&b, p, &b.nodes.logits, 1);
    float *other = xfloats(bench_pixels(&c));
    for (size_t i = 0; i < bench_pixels(&c); i++)
        other[i] = (float)(i * 7 % 256);
    plan_leaf(p, b.nodes.input, other);
    plan_compute(p);
    assert_memory_not_equal(plan_values(p, b.nodes.logits), run_need(b.run, b.nodes.logits),
                            (size_t)c.classes * sizeof(float));
    plan_leaf(p, b.nodes.input, b.pixels);
    plan_compute(p);
    same_values(&b, p, &b.nodes.logits, 1);
    plan_free(p);
    free(other);
    bench_free(&b);
}

/* What training computes: the loss of a few pictures and its gradient by every weight. */
static void gradients_of_a_batch(void **state)
{
    (void)state;
    enum { PICTURES = 3, CLASSES = 10, WANTED = 400 };
    VitConfig c = model_bundled_config();
    Bench b = {0};
    NodeId wanted[WANTED];
    int weights = 0, count = 0;
    float target[PICTURES * CLASSES] = {0}, share[PICTURES];
    c.layers = 2;
    model_seeded(&b.model, &c, 11);
    b.pixels = xfloats(PICTURES * bench_pixels(&c));
    for (size_t i = 0; i < PICTURES * bench_pixels(&c); i++)
        b.pixels[i] = (float)(i * 31 % 251);
    for (int i = 0; i < PICTURES; i++) {
        target[i * CLASSES + 2 * i] = 1;
        share[i] = 1.0f / PICTURES;
    }
    graph_init(&b.graph);
    vit_build_batch(&b.graph, &c, &b.model.weights, NULL, b.pixels, (VitBatch){.pictures = PICTURES}, &b.nodes);
    b.run = run_new(&b.graph, NULL, NULL);
    for (NodeId n = 0; n < b.graph.count; n++)
        if (graph_node(&b.graph, n)->op == OP_LEAF && graph_node(&b.graph, n)->leaf.kind == LEAF_TENSOR)
            wanted[weights++] = n;
    Dims d = graph_node(&b.graph, b.nodes.logits)->dims;
    graph_scope(&b.graph, "%s", "");
    NodeId to = graph_leaf(&b.graph, "target", d, (Leaf){LEAF_INPUT, target, "target"});
    NodeId loss = grad_cross_entropy(&b.graph, b.nodes.logits, to, d.axis[d.n - 1]);
    NodeId seed = graph_leaf(&b.graph, "share", graph_node(&b.graph, loss)->dims, (Leaf){LEAF_HOST, share, "share"});
    const NodeId *gradient = grad_add(&b.graph, loss, seed, wanted, weights, "grad.");
    run_extend(b.run);
    for (int i = 0; i < weights; i++)
        if (gradient[wanted[i]] != NO_NODE)
            wanted[count++] = gradient[wanted[i]];
    assert_true(count > 30);
    wanted[count++] = loss;
    check_wish(&b, wanted, count);
    for (int i = 0; i < count; i += 5)
        check_wish(&b, &wanted[i], 1);
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_node_of_models), cmocka_unit_test(only_the_answer),
                                       cmocka_unit_test(gradients_of_a_batch)};
    return cmocka_run_group_tests_name("core/models plan", tests, NULL, NULL);
}
