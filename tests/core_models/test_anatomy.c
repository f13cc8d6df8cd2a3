/* The anatomy that the builder notes: every block's parts and sites, where each node belongs, and what edits keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/mem.h"
#include "core/graph/anatomy.h"
#include "core/graph/edit.h"
#include "core/models/model.h"
#include "core/models/probes.h"

typedef struct Built {
    Model model;
    Graph g;
    VitNodes nodes;
    float *input;
} Built;

static void build(Built *b, void (*change)(VitConfig *c))
{
    VitConfig c;
    assert_true(model_size("tiny", &c));
    if (change)
        change(&c);
    *b = (Built){0};
    model_seeded(&b->model, &c, 7);
    b->input = xcalloc((size_t)c.channels * (size_t)c.image_h * (size_t)c.image_w, sizeof *b->input);
    graph_init(&b->g);
    vit_build(&b->g, &c, &b->model.weights, NULL, b->input, &b->nodes);
    probes_add(&b->g, &c, &b->nodes);
}

static void drop(Built *b)
{
    graph_free(&b->g);
    model_free(&b->model);
    free(b->input);
}

static void post_norm(VitConfig *c)
{
    c->post_norm = true;
    c->layer_scale = true;
}

static void mean_pool(VitConfig *c)
{
    c->pool = VIT_POOL_MEAN;
    c->final_norm = false;
    c->fc_norm = true;
    c->registers = 2;
    c->pos = VIT_POS_BEFORE_REGISTERS;
}

static void check_block(const Built *b, int block, int number)
{
    const Graph *g = &b->g;
    const VitConfig *c = &b->model.vit;
    static const Site NODES[] = {SITE_IN,      SITE_OUT,     SITE_SUM,        SITE_QUERY,         SITE_KEY,
                                 SITE_VALUE,   SITE_SCALE,   SITE_SCORES_RAW, SITE_EXP,           SITE_EXP_SUM,
                                 SITE_PATTERN, SITE_Z,       SITE_W_O,        SITE_SCORES_SCALED, SITE_ENTROPY,
                                 SITE_RESULT,  SITE_ROLLOUT, SITE_DISTANCE};
    int attention = anatomy_next_in(g, NO_PART, PART_ATTENTION, block),
        mlp = anatomy_next_in(g, NO_PART, PART_MLP, block), norms = 0;
    assert_int_equal(anatomy_part(g, block)->block, number);
    assert_int_not_equal(attention, NO_PART);
    assert_int_equal(anatomy_next_in(g, attention, PART_ATTENTION, block), NO_PART);
    for (size_t i = 0; i < sizeof NODES / sizeof *NODES; i++) {
        NodeId n = site_node(g, attention, NODES[i]);
        if (n == NO_NODE)
            fail_msg("block %d has no %s", number, site_name(NODES[i]));
    }
    assert_int_equal(site_node(g, attention, SITE_SCORES_MASKED), NO_NODE); /* named, but nobody put a mask in */
    assert_non_null(site_path(g, attention, SITE_SCORES_MASKED));
    NodeId pattern = site_node(g, attention, SITE_PATTERN), z = site_node(g, attention, SITE_Z);
    assert_int_equal(graph_node(g, z)->in[0], pattern);
    assert_int_equal(graph_node(g, z)->in[1], site_node(g, attention, SITE_VALUE));
    assert_int_equal(g->axes[node_role(g, pattern, ROLE_HEAD)].n, c->heads);
    assert_int_equal(g->axes[node_role(g, pattern, ROLE_QUERY)].n, vit_tokens(c));
    assert_int_equal(g->axes[node_role(g, pattern, ROLE_KEY)].n, vit_tokens(c));
    assert_int_equal(g->axes[node_role(g, pattern, ROLE_KEY)].sequence, SEQUENCE_PICTURE);
    assert_int_equal(node_role(g, pattern, ROLE_WIDTH), AXIS_NONE);
    const Node *sum = graph_node(g, site_node(g, attention, SITE_SUM));
    assert_int_equal(sum->in[1], site_node(g, attention, SITE_OUT));
    assert_int_equal(site_node(g, attention, SITE_SUM), site_node(g, block, SITE_RESID_MID));
    assert_int_equal(site_node(g, mlp, SITE_SUM), site_node(g, block, SITE_RESID_POST));
    assert_int_equal(graph_node(g, site_node(g, mlp, SITE_MLP_POST))->in[0], site_node(g, mlp, SITE_MLP_PRE));
    for (int n = NO_PART; (n = anatomy_next_in(g, n, PART_NORM, block)) != NO_PART; norms++)
        assert_int_not_equal(site_node(g, n, SITE_OUT), NO_NODE);
    assert_int_equal(norms, 2);
}

static void check_model(void (*change)(VitConfig *c))
{
    Built b;
    build(&b, change);
    const Graph *g = &b.g;
    int block = NO_PART, count = 0;
    assert_int_equal(anatomy_blocks(g, NULL), b.model.vit.layers);
    assert_int_equal(anatomy_blocks(g, ""), b.model.vit.layers);
    assert_int_equal(anatomy_blocks(g, "encoder"), 0);
    while ((block = anatomy_next(g, block, PART_BLOCK)) != NO_PART) {
        assert_int_equal(block, anatomy_block(g, "", count));
        check_block(&b, block, count++);
    }
    assert_int_equal(count, b.model.vit.layers);
    assert_int_equal(anatomy_block(g, NULL, count), NO_PART);
    assert_int_equal(site_node_any(g, SITE_INPUT), b.nodes.input);
    assert_int_equal(site_node_any(g, SITE_IMAGE), b.nodes.image);
    assert_int_equal(site_node_any(g, SITE_EMBED), b.nodes.patch_embed);
    assert_int_equal(site_node_any(g, SITE_POSITIONS), b.nodes.pos_embed);
    assert_int_equal(site_node_any(g, SITE_EMBEDDED), b.nodes.full_embed);
    assert_int_equal(site_node_any(g, SITE_TOKENS_OUT), b.nodes.tokens_out);
    assert_int_equal(site_node_any(g, SITE_LOGITS), b.nodes.logits);
    assert_int_equal(site_node_any(g, SITE_PROBS), b.nodes.probs);
    assert_true(site_is(g, graph_node(g, b.nodes.probs)->path, SITE_PROBS));
    assert_false(site_is(g, graph_node(g, b.nodes.probs)->path, SITE_LOGITS));
    for (NodeId n = 0; n < g->count; n++) { /* a node lies in the part whose scope it has */
        const char *path = graph_node(g, n)->path;
        const Part *p = anatomy_part(g, anatomy_of(g, path));
        if (*p->scope)
            assert_int_equal(strncmp(path, p->scope, strlen(p->scope)), 0);
        assert_int_equal(anatomy_block_of(g, path) != NO_PART, strncmp(path, "blocks.", 7) == 0);
    }
    drop(&b);
}

static void models_are_noted(void **state)
{
    (void)state;
    check_model(NULL);
    check_model(post_norm);
    check_model(mean_pool);
}

static void paths_of_gradients_and_edits(void **state)
{
    (void)state;
    Built b;
    build(&b, NULL);
    const Graph *g = &b.g;
    int a0 = anatomy_of(g, "blocks.0.attn.pattern"), a1 = anatomy_of(g, "blocks.1.attn.pattern");
    char out[64], tiny[8];
    assert_int_equal(anatomy_part(g, a0)->kind, PART_ATTENTION);
    assert_int_equal(anatomy_of(g, "grad.blocks.0.attn.exp.from.pattern"), a0);
    assert_int_equal(anatomy_of(g, "blocks.0.attn.z.unedited"), a0);
    assert_int_equal(anatomy_of(g, "blocks.0.attn.probe.entropy"), a0);
    assert_int_equal(anatomy_of(g, "blocks.10.attn.z"), 0); /* no such block: the whole */
    assert_int_equal(anatomy_block_of(g, "grad.blocks.1.mlp.post"), anatomy_block(g, "", 1));
    assert_int_equal(anatomy_block_of(g, "logits"), NO_PART);
    assert_true(anatomy_carry(g, "blocks.0.attn.probe.entropy", a0, a1, out, sizeof out));
    assert_string_equal(out, "blocks.1.attn.probe.entropy");
    assert_true(anatomy_carry(g, "grad.blocks.0.attn.z", a0, a1, out, sizeof out));
    assert_string_equal(out, "grad.blocks.1.attn.z");
    assert_false(anatomy_carry(g, "logits", a0, a1, out, sizeof out));
    assert_false(anatomy_carry(g, "blocks.0.attn.z", a0, a1, tiny, sizeof tiny));
    assert_string_equal(tiny, "");
    drop(&b);
}

static void edited_graphs_have_their_own(void **state)
{
    (void)state;
    Built b;
    build(&b, NULL);
    Graph edited = {0};
    Err err;
    const Edit edits[] = {
        {.kind = EDIT_MASK, .path = "blocks.1.attn.scores_scaled", .cells = {.n = 0}, .axis = AXIS_NONE},
        {.kind = EDIT_ZERO, .path = "blocks.0.attn.z", .axis = AXIS_NONE}};
    assert_true(graph_edit(&edited, &b.g, edits, 2, &err));
    int a0 = anatomy_of(&edited, "blocks.0.attn.z"), a1 = anatomy_of(&edited, "blocks.1.attn.z");
    assert_int_not_equal(site_node(&edited, a1, SITE_SCORES_MASKED), NO_NODE);
    assert_int_equal(site_node(&edited, a0, SITE_SCORES_MASKED), NO_NODE);
    assert_int_equal(site_node(&b.g, a1, SITE_SCORES_MASKED), NO_NODE);
    assert_true(graph_node(&edited, site_node(&edited, a0, SITE_Z))->flags & NODE_EDITED);
    /* what is noted in the edited graph is not in the base's */
    anatomy_note_name(&edited, a0, SITE_LENS_PROBS, "x");
    assert_null(site_path(&b.g, a0, SITE_LENS_PROBS));
    graph_free(&edited);
    drop(&b);
}

static void a_graph_without_anatomy(void **state)
{
    (void)state;
    Graph g;
    graph_init(&g);
    assert_int_equal(anatomy_count(&g), 0);
    assert_int_equal(anatomy_of(&g, "blocks.0.attn.z"), NO_PART);
    assert_int_equal(anatomy_block_of(&g, "blocks.0.attn.z"), NO_PART);
    assert_int_equal(anatomy_next(&g, NO_PART, PART_BLOCK), NO_PART);
    assert_null(site_path_any(&g, SITE_PROBS));
    assert_int_equal(site_node_any(&g, SITE_PROBS), NO_NODE);
    assert_int_equal(graph_role(&g, ROLE_HEAD, SEQUENCE_ANY), AXIS_NONE);
    graph_free(&g);
}

/* Hundreds of parts: every scope is found, whatever the table's size was when it was added. */
static void many_parts(void **state)
{
    (void)state;
    enum { MANY = 500 };
    Graph g;
    char scope[32];
    graph_init(&g);
    anatomy_add(&g, (Part){.kind = PART_MODEL, .block = NO_BLOCK, .parent = NO_PART});
    for (int i = 0; i < MANY; i++) {
        snprintf(scope, sizeof scope, "%s.blocks.%d", i % 2 ? "decoder" : "encoder", i / 2);
        assert_int_equal(anatomy_add(&g, (Part){.kind = PART_BLOCK,
                                                .scope = scope,
                                                .stack = i % 2 ? "decoder" : "encoder",
                                                .block = i / 2}),
                         i + 1);
    }
    assert_int_equal(anatomy_blocks(&g, "decoder"), MANY / 2);
    for (int i = 0; i < MANY; i++) {
        snprintf(scope, sizeof scope, "%s.blocks.%d.attn.z", i % 2 ? "decoder" : "encoder", i / 2);
        assert_int_equal(anatomy_of(&g, scope), i + 1);
        assert_int_equal(anatomy_block(&g, i % 2 ? "decoder" : "encoder", i / 2), i + 1);
    }
    graph_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_are_noted),
        cmocka_unit_test(paths_of_gradients_and_edits),
        cmocka_unit_test(edited_graphs_have_their_own),
        cmocka_unit_test(a_graph_without_anatomy),
        cmocka_unit_test(many_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
