/* `gradient`: nodes on both sides that follow the edits, are explained, compared and exported, and are gone again when
 * it is over. */
#include <malloc.h>
#include <unistd.h>

#include "asking.h"
#include "core/base/clock.h"
#include "core/io/tensors.h"
#include "core/models/names.h"
#include "core/session/exhibit.h"
#include "core/session/learned/gradient.h"

static uint64_t hash(Side side)
{
    uint64_t h = 0;
    assert_true(session_step(&s, NULL, 0, CLOCK_NEVER));
    assert_true(session_hash(&s, side, &h));
    return h;
}

static const char *target(void)
{
    static char text[256];
    Buf b = {0};
    gradient_text(&s, &b);
    snprintf(text, sizeof text, "%s", buf_str(&b));
    buf_free(&b);
    return text;
}

/* What the gradient promises comes true: z moved a little moves the logit as said. */
static void it_tells_what_a_change_does(void **state)
{
    (void)state;
    NodeId n, m;
    uint64_t before = hash(SIDE_A);
    has(run("gradient logits[o=2]"), "how logits[o=");
    assert_true(hash(SIDE_A) == before);
    float slope = values("grad.blocks.3.attn.z", &n)[5], logit = values("logits", &m)[2],
          x = values("blocks.3.attn.z", &m)[5];
    char line[96];
    snprintf(line, sizeof line, "set blocks.3.attn.z[t=cls,h=0,e=5] %.9g", (double)(x + 0.05f));
    run(line);
    float moved = values("logits", &m)[2];
    assert_true(fabsf(slope) > 1e-4f && fabsf((moved - logit) / 0.05f - slope) < 0.05f * fabsf(slope) + 1e-4f);
    run("reset edits");
}

/* The loss' gradient at the logits is share − 1 for the right class and the share for the others. */
static void of_the_loss(void **state)
{
    (void)state;
    NodeId n, m;
    run("gradient loss[o=3]");
    const float *g = values("grad.logits", &n), *p = values("probs", &m);
    for (int i = 0; i < s.model.vit.classes; i++)
        assert_true(fabsf(p[i] - (i == 3 ? 1.0f : 0.0f) - g[i]) < 1e-6f);
    assert_true(fabs(-log((double)p[3]) - (double)values("loss", &n)[0]) < 1e-5);
    run("gradient loss"); /* a drawn picture: its class is known */
    assert_int_equal(s.target.cell, session_input(&s, SIDE_B)->label);
    run("gradient loss[label=3]");
    assert_int_equal(s.target.cell, 3);
}

static void checked_sum(const char *path, double *sum)
{
    NodeId n;
    const float *x = values(path, &n);
    *sum = 0;
    for (size_t i = 0; i < graph_cells(session_graph(&s, SIDE_B), n); i++)
        *sum += fabs((double)x[i]) * (double)(i % 7 + 1);
}

/* The same whether the change or the question came first; both sides have theirs, and their difference. */
static void through_edits(void **state)
{
    (void)state;
    double first, then, plain;
    NodeId n;
    run("gradient logits[o=1]");
    checked_sum("grad.blocks.0.attn.scores_raw", &plain);
    run("set scale off");
    checked_sum("grad.blocks.0.attn.scores_raw", &first);
    assert_true(first != plain);
    const char *path = "grad.blocks.0.attn.pattern";
    Err err = {""};
    const float *diff = session_need(&s, SIDE_DIFF, path, &err);
    assert_non_null(diff);
    float kept = diff[77];
    const float *a = session_need(&s, SIDE_A, path, &err), *b = session_need(&s, SIDE_B, path, &err);
    assert_true(kept == a[77] - b[77]);
    run("gradient off");
    assert_int_equal(session_node(&s, SIDE_B, path), NO_NODE);
    run("gradient logits[o=1]");
    checked_sum("grad.blocks.0.attn.scores_raw", &then);
    assert_true(first == then);
    values("grad.blocks.1.attn.scale", &n); /* a constant, but one to play with */
    run("undo");
    checked_sum("grad.blocks.0.attn.scores_raw", &then);
    assert_true(plain == then);
    run("mask causal; ablate blocks.2.attn.z[h=1] mean; shuffle seed=3");
    NodeId z = session_node(&s, SIDE_B, "grad.blocks.2.attn.z.unedited");
    assert_true(z != NO_NODE);
    values("grad.pixels", &n);
    run("reset edits; gradient off");
}

/* Every node that is added has a name on screen, explains itself and belongs to a step. */
static void nodes_like_others(void **state)
{
    (void)state;
    refused("goto grad.image", "--gradient logits[o=0]"); /* none has been asked for */
    run("gradient blocks.2.attn.z[t=r3c4,h=1,e=2]");
    assert_string_equal(target(), "blocks.2.attn.z[t=r3c4,h=1,e=2]");
    const Graph *g = session_graph(&s, SIDE_B);
    Err err = {""};
    size_t count = 0;
    for (NodeId n = s.now->pass.base_count; n < g->count; n++, count++) {
        const Node *node = graph_node(g, n);
        Buf text = {0};
        if (!node_text(node->path) || (strncmp(node->path, "grad.", 5) == 0 &&
                                       strcmp(node_text(node->path)->label, "gradient") != 0 && node->op != OP_LEAF))
            fail_msg("%s is called %s", node->path, node_text(node->path) ? node_text(node->path)->label : "nothing");
        if (!ask_explain_text(&s, SIDE_B, node->path, graph_cells(g, n) / 2, &text, false, &err))
            fail_msg("%s: %s", node->path, err.text);
        if (node->op != OP_LEAF)
            has(buf_str(&text), "equal, bit for bit");
        buf_free(&text);
        if (n % 10 == 0 && !ask_explain_text(&s, SIDE_B, node->path, 0, &text, true, &err))
            fail_msg("%s: %s", node->path, err.text);
        buf_free(&text);
    }
    assert_true(count > 200);
    assert_int_equal(graph_find(g, "grad.blocks.3.attn.z"), NO_NODE); /* comes later */
    has(run("why grad.blocks.0.attn.q[t=r3c4,h=1,e=2]"), "grad.blocks");
    has(run("explain grad.blocks.1.attn.exp[h=0,t=cls,u=cls]"), "grad.attn.exp[h,t,u] = ");
    run("goto blocks.1.attn.pattern");
    int box = s.place.box;
    run("goto 1; goto grad.blocks.1.ln1.sq.thin");
    refused("goto grad.blocks.1.attn.nothing", "no node");
    run("goto grad.blocks.1.attn.pattern");
    assert_int_equal(s.place.box, box);
    assert_int_equal(s.place.screen, SCREEN_TENSOR);
    has(run("say"), "blocks.2.attn.z[t=r3c4,h=1,e=2] changes by ");
    has(run("say grad.blocks.1.attn.exp.from.row_sum"), "comes through one of the nodes");
    has(run("info"), "gradients of");
    run("block 0");
    assert_string_equal(s.place.path, "grad.blocks.0.attn.pattern");
    run("gradient off");
    assert_string_equal(s.place.path, "blocks.0.attn.pattern");
    assert_int_equal(session_base(&s)->count, s.now->pass.base_count);
}

static void exported(void **state)
{
    (void)state;
    char path[64], line[160];
    TensorFile f;
    Err err = {""};
    snprintf(path, sizeof path, "/tmp/vitrine-gradient-%ld.npz", (long)getpid());
    run("gradient logits[o=0]");
    snprintf(line, sizeof line, "export %s grad.blocks.0.attn.*", path);
    run(line);
    assert_true(tensors_open(&f, path, &err));
    const TensorInfo *t = tensors_find(&f, "grad.blocks.0.attn.pattern");
    assert_true(t && t->rank == 3);
    tensors_close(&f);
    unlink(path);
    run("gradient off");
}

static void refusals(void **state)
{
    (void)state;
    run("gradient logits[o=0]");
    refused("gradient blocks.0.attn.w_q", "is an input");
    refused("gradient pixels", "is an input");
    refused("gradient nowhere", "column 10: there is no node 'nowhere'");
    refused("gradient grad.logits", "no node 'grad.logits'; did you mean 'logits'?");
    refused("gradient blocks.0", "a group of nodes");
    refused("gradient loss[o=99]", "no class '99'");
    refused("gradient loss[x=1]", "expected loss[o=CLASS]");
    refused("gradient loss[o=1]x", "expected loss[o=CLASS]");
    refused("gradient logits off", "'off' means nothing here");
    refused("set grad.logits 0", "there is no node 'grad.logits'");
    assert_string_equal(s.target.path, "logits"); /* still in force */
    refused("patch grad.logits from=a", "no node 'grad.logits'");
}

/* A little at a time, with everything forgotten in between that may be: it comes to an end. */
static void in_slices(void **state)
{
    (void)state;
    Need need = {.side = SIDE_B};
    run("gradient loss[o=1]");
    hash(SIDE_B);
    snprintf(need.path, sizeof need.path, "grad.pixels");
    int frames = 0;
    while (!session_step(&s, &need, 1, 0)) {
        session_trim(&s);
        assert_true(++frames < 100000);
    }
    assert_true(frames > 50 && session_peek(&s, SIDE_B, "grad.pixels"));
    run("gradient off");
}

static void other_pictures(void **state)
{
    (void)state;
    NodeId n;
    double one, other, again;
    run("gradient logits[o=4]; pin");
    checked_sum("grad.blocks.0.attn.z", &one);
    run("open #5");
    checked_sum("grad.blocks.0.attn.z", &other);
    assert_true(one != other);
    assert_true(session_node(&s, SIDE_DIFF, "grad.blocks.0.attn.z") != NO_NODE);
    run("gradient logits[o=1]"); /* of both */
    Err err = {""};
    assert_non_null(session_need(&s, SIDE_A, "grad.image", &err));
    run("pin off; gradient logits[o=4]; open #17");
    checked_sum("grad.blocks.0.attn.z", &again);
    assert_true(one == again);
    values("grad.pos_embed", &n);
    assert_true(session_open_model(&s, NULL, &err));
    assert_string_equal(target(), "");
    assert_int_equal(session_node(&s, SIDE_B, "grad.pos_embed"), NO_NODE);
}

/* What asking for gradients takes is given back when they are off, and when others are asked for. */
static void nothing_is_kept(void **state)
{
    (void)state;
    enum { CYCLES = 20 };
    size_t before = 0;
    run("grey r1c1");
    for (int i = 0; i < 3 + CYCLES; i++) {
        run(i % 2 ? "gradient logits[o=2]" : "gradient loss[o=3]");
        run("gradient off");
        if (i == 2)
            before = mallinfo2().uordblks;
    }
    size_t after = mallinfo2().uordblks;
    if (after > before + 16384)
        fail_msg("%zu bytes more after %d cycles", after - before, CYCLES);
}

static void completion(void **state)
{
    (void)state;
    Buf out = {0};
    command_complete(&s, &commands, "gradient lo", &out);
    has(buf_str(&out), "gradient loss[o=");
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_tells_what_a_change_does, start, stop),
        cmocka_unit_test_setup_teardown(of_the_loss, start, stop),
        cmocka_unit_test_setup_teardown(through_edits, start, stop),
        cmocka_unit_test_setup_teardown(nodes_like_others, start, stop),
        cmocka_unit_test_setup_teardown(exported, start, stop),
        cmocka_unit_test_setup_teardown(refusals, start, stop),
        cmocka_unit_test_setup_teardown(in_slices, start, stop),
        cmocka_unit_test_setup_teardown(other_pictures, start, stop),
        cmocka_unit_test_setup_teardown(completion, start, stop),
        cmocka_unit_test_setup_teardown(nothing_is_kept, start, stop),
    };
    return cmocka_run_group_tests_name("gradients in a session", tests, NULL, NULL);
}
