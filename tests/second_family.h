/* A second family of models, for tests alone: an encoder–decoder in little, with words for tokens, two stacks of
 * different depth, three attentions, other scopes and other names inside them than the Vision Transformer. Whatever
 * assumes a scope, a name, one stack, one sequence or a picture fails on it. Weights come from a seed; a text is
 * letters, "cab > ba". */
#ifndef VITRINE_TESTS_SECOND_FAMILY_H
#define VITRINE_TESTS_SECOND_FAMILY_H
#include <stdio.h>
#include <string.h>

#include "core/graph/anatomy.h"
#include "core/models/family.h"

enum { TOY_WORDS = 6, TOY_WIDTH = 6, TOY_HEADS = 2, TOY_HEAD = 3, TOY_HIDDEN = 8, TOY_ENCODER = 2, TOY_DECODER = 3 };

static const char *const TOY_WORD[TOY_WORDS] = {"a", "b", "c", "d", "e", "f"};

typedef struct Toy {
    Graph *g;
    int s, r, t, u, h, e, d, m, v;
    const unsigned *model; /* its seed */
    unsigned seed;         /* of the weight that is being made */
} Toy;

static inline int toy_axis(Graph *g, const char *sym, const char *name, AxisRole role, Sequence sequence, int n,
                           const char *const *labels)
{
    Axis a = {.name = name, .n = n, .role = role, .sequence = sequence};
    if (labels) {
        a.kind = AXIS_CLASS;
        a.labels = labels;
    }
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    return graph_axis(g, a);
}

static inline float toy_number(Toy *b)
{
    b->seed = b->seed * 1664525u + 1013904223u;
    return ((float)(b->seed >> 16) / 65536.0f - 0.5f) * 2.0f;
}

static inline NodeId toy_weight(Toy *b, const char *name, Dims d)
{
    size_t n = graph_dims_cells(b->g, d);
    unsigned hash = 2166136261u; /* of its path: the same weight whatever the lengths of the texts are */
    for (const char *c = b->g->scope; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    b->seed = *b->model ^ hash;
    float *x = arena_alloc(&b->g->arena, size_mul(n, sizeof *x));
    for (size_t i = 0; i < n; i++)
        x[i] = toy_number(b);
    return graph_leaf(b->g, name, d, (Leaf){LEAF_TENSOR, x, "seed"});
}

static inline NodeId toy_softmax(Graph *g, const char *out, NodeId x, int over)
{
    char name[64];
    Dims rest = dims_minus(graph_node(g, x)->dims, DIMS(over));
    snprintf(name, sizeof name, "%s_max", out);
    NodeId max = graph_reduce(g, name, OP_MAX, x, rest);
    graph_flag(g, max, NODE_SHIFT);
    snprintf(name, sizeof name, "%s_shifted", out);
    NodeId shifted = graph_zip(g, name, OP_SUB, x, max);
    snprintf(name, sizeof name, "%s_exp", out);
    NodeId e = graph_map(g, name, MAP_EXP, shifted);
    snprintf(name, sizeof name, "%s_sum", out);
    return graph_zip(g, out, OP_DIV, e, graph_reduce(g, name, OP_SUM, e, rest));
}

static inline int toy_part(Toy *b, PartKind kind, const char *stack, int block, int parent, const char *scope,
                           const char *word)
{
    graph_scope(b->g, "%s", scope);
    return anatomy_add(
        b->g, (Part){.kind = kind, .stack = stack, .scope = scope, .word = word, .block = block, .parent = parent});
}

/* x asks over `asks`; memory, over `of`, is looked at over `looked`. */
static inline NodeId toy_attention(Toy *b, const char *stack, int block, int parent, const char *name, const char *word,
                                   NodeId x, NodeId memory, int asks, int of, int looked)
{
    Graph *g = b->g;
    char scope[96];
    snprintf(scope, sizeof scope, "%s.%s", anatomy_part(g, parent)->scope, name);
    int part = toy_part(b, PART_ATTENTION, stack, block, parent, scope, word);
    Dims w = DIMS(b->h, b->e, b->d);
    NodeId q = graph_contract(g, "asked", x, toy_weight(b, "w_queries", w), DIMS(asks, b->h, b->e));
    NodeId k = graph_contract(g, "offered_rows", memory, toy_weight(b, "w_keys", w), DIMS(of, b->h, b->e));
    NodeId v = graph_contract(g, "given_rows", memory, toy_weight(b, "w_values", w), DIMS(of, b->h, b->e));
    k = graph_view(g, "offered", k, DIMS(looked, b->h, b->e));
    v = graph_view(g, "given_out", v, DIMS(looked, b->h, b->e));
    NodeId raw = graph_contract(g, "agreement", q, k, DIMS(b->h, asks, looked));
    NodeId scale = graph_const(g, "factor", DIMS_SCALAR, 0.57735026f);
    NodeId scaled = graph_zip(g, "agreement_scaled", OP_MUL, raw, scale);
    NodeId pattern = toy_softmax(g, "looks", scaled, looked);
    NodeId z = graph_contract(g, "gathered", pattern, v, DIMS(asks, b->h, b->e));
    NodeId w_o = toy_weight(b, "w_said", DIMS(b->d, b->h, b->e));
    NodeId out = graph_contract(g, "said", z, w_o, DIMS(asks, b->d));
    const struct {
        Site site;
        NodeId n;
    } notes[] = {{SITE_IN, x},
                 {SITE_QUERY, q},
                 {SITE_KEY, k},
                 {SITE_VALUE, v},
                 {SITE_SCALE, scale},
                 {SITE_SCORES_RAW, raw},
                 {SITE_SCORES_SCALED, scaled},
                 {SITE_PATTERN, pattern},
                 {SITE_Z, z},
                 {SITE_W_O, w_o},
                 {SITE_OUT, out}};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        anatomy_note(g, part, notes[i].site, notes[i].n);
    anatomy_note_name(g, part, SITE_SCORES_MASKED, "agreement_masked");
    graph_scope(g, "%s", anatomy_part(g, parent)->scope);
    snprintf(scope, sizeof scope, "after_%s", name);
    NodeId sum = graph_zip(g, scope, OP_ADD, x, out);
    anatomy_note(g, part, SITE_SUM, sum);
    return sum;
}

static inline NodeId toy_mlp(Toy *b, const char *stack, int block, int parent, NodeId x, int axis)
{
    Graph *g = b->g;
    char scope[96];
    snprintf(scope, sizeof scope, "%s.feed", anatomy_part(g, parent)->scope);
    int part = toy_part(b, PART_MLP, stack, block, parent, scope, "feed-forward");
    NodeId pre = graph_contract(g, "before", x, toy_weight(b, "w_hidden", DIMS(b->m, b->d)), DIMS(axis, b->m));
    NodeId post = graph_map(g, "after", MAP_EXP, pre);
    NodeId out = graph_contract(g, "said", post, toy_weight(b, "w_given", DIMS(b->d, b->m)), DIMS(axis, b->d));
    anatomy_note(g, part, SITE_IN, x);
    anatomy_note(g, part, SITE_MLP_PRE, pre);
    anatomy_note(g, part, SITE_MLP_POST, post);
    anatomy_note(g, part, SITE_OUT, out);
    graph_scope(g, "%s", anatomy_part(g, parent)->scope);
    NodeId sum = graph_zip(g, "after_feed", OP_ADD, x, out);
    anatomy_note(g, part, SITE_SUM, sum);
    return sum;
}

static inline NodeId toy_block(Toy *b, const char *stack, int block, NodeId x, NodeId memory)
{
    Graph *g = b->g;
    char scope[64];
    bool decodes = memory != NO_NODE;
    snprintf(scope, sizeof scope, "%s.blocks.%d", stack, block);
    int part = toy_part(b, PART_BLOCK, stack, block, 0, scope, "block"), asks = decodes ? b->t : b->s;
    anatomy_note(g, part, SITE_RESID_PRE, x);
    x = toy_attention(b, stack, block, part, "self_attn", "self attention", x, x, asks, asks, decodes ? b->u : b->r);
    if (decodes)
        x = toy_attention(b, stack, block, part, "cross_attn", "cross attention", x, memory, b->t, b->s, b->r);
    anatomy_note(g, part, SITE_RESID_MID, x);
    x = toy_mlp(b, stack, block, part, x, asks);
    anatomy_note(g, part, SITE_RESID_POST, x);
    anatomy_note(g, part, SITE_BLOCK_OUT, x);
    return x;
}

static inline NodeId toy_embed(Toy *b, const char *stack, Text text, int axis)
{
    Graph *g = b->g;
    char scope[64];
    snprintf(scope, sizeof scope, "%s.words", stack);
    int part = toy_part(b, PART_INPUT, stack, NO_BLOCK, 0, scope, "words");
    float *x = arena_alloc(&g->arena, size_mul(size_mul((size_t)text.count, TOY_WORDS), sizeof *x));
    for (int i = 0; i < text.count; i++)
        x[i * TOY_WORDS + text.word[i]] = 1;
    NodeId in = graph_leaf(g, "given", DIMS(axis, b->v), (Leaf){LEAF_INPUT, x, "text"});
    anatomy_note(g, part, SITE_INPUT, in);
    snprintf(scope, sizeof scope, "%s.start", stack);
    part = toy_part(b, PART_EMBEDDING, stack, NO_BLOCK, 0, scope, "embedding");
    NodeId e = graph_contract(g, "looked_up", in, toy_weight(b, "table", DIMS(b->v, b->d)), DIMS(axis, b->d));
    NodeId places = toy_weight(b, "places", DIMS(axis, b->d));
    NodeId sum = graph_zip(g, "placed", OP_ADD, e, places);
    anatomy_note(g, part, SITE_EMBED, e);
    anatomy_note(g, part, SITE_POSITIONS, places);
    anatomy_note(g, part, SITE_EMBEDDED, sum);
    return sum;
}

static inline void toy_build(const Model *m, Graph *g, const ModelInput *in)
{
    Toy toy = {.g = g, .model = m->data}, *b = &toy;
    const Text *source = &in->text[TEXT_SOURCE], *target = &in->text[TEXT_TARGET];
    b->s = toy_axis(g, "s", "word that asks", ROLE_QUERY, SEQUENCE_SOURCE, source->count, source->label);
    b->r = toy_axis(g, "r", "word looked at", ROLE_KEY, SEQUENCE_SOURCE, source->count, source->label);
    b->t = toy_axis(g, "t", "word that asks", ROLE_QUERY, SEQUENCE_TARGET, target->count, target->label);
    b->u = toy_axis(g, "u", "word looked at", ROLE_KEY, SEQUENCE_TARGET, target->count, target->label);
    b->h = toy_axis(g, "h", "head", ROLE_HEAD, SEQUENCE_NONE, TOY_HEADS, NULL);
    b->e = toy_axis(g, "e", "width of one head", ROLE_HEAD_WIDTH, SEQUENCE_NONE, TOY_HEAD, NULL);
    b->d = toy_axis(g, "d", "model width", ROLE_WIDTH, SEQUENCE_NONE, TOY_WIDTH, NULL);
    b->m = toy_axis(g, "m", "hidden width", ROLE_HIDDEN, SEQUENCE_NONE, TOY_HIDDEN, NULL);
    b->v = toy_axis(g, "v", "word", ROLE_ANSWER, SEQUENCE_NONE, TOY_WORDS, TOY_WORD);
    toy_part(b, PART_MODEL, "", NO_BLOCK, NO_PART, "", "model");
    NodeId x = toy_embed(b, "encoder", *source, b->s);
    for (int i = 0; i < TOY_ENCODER; i++)
        x = toy_block(b, "encoder", i, x, NO_NODE);
    NodeId y = toy_embed(b, "decoder", *target, b->t);
    for (int i = 0; i < TOY_DECODER; i++)
        y = toy_block(b, "decoder", i, y, x);
    int part = toy_part(b, PART_READOUT, "decoder", NO_BLOCK, 0, "", "answer");
    NodeId logits = graph_contract(g, "logits", y, toy_weight(b, "w_logits", DIMS(b->v, b->d)), DIMS(b->t, b->v));
    NodeId probs = toy_softmax(g, "probs", logits, b->v);
    anatomy_note(g, part, SITE_TOKENS_OUT, y);
    anatomy_note(g, part, SITE_LOGITS, logits);
    anatomy_note(g, part, SITE_PROBS, probs);
    graph_scope(g, "%s", "");
}

static inline bool toy_read(const Model *m, const char *spec, Arena *arena, Text out[TEXTS], Err *err)
{
    (void)m;
    const char *text = spec ? spec : "cab > ba";
    int which = TEXT_SOURCE;
    for (int i = 0; i < TEXTS; i++) {
        int *word = arena_alloc(arena, (strlen(text) + 1) * sizeof *word);
        const char **label = arena_alloc(arena, (strlen(text) + 1) * sizeof *label);
        out[i] = (Text){.word = word, .label = label};
    }
    for (const char *c = text; *c; c++) {
        if (*c == '>')
            which = TEXT_TARGET;
        if (*c == ' ' || *c == '>')
            continue;
        int n = *c - 'a';
        if (n < 0 || n >= TOY_WORDS)
            return err_set(err, "'%c' is no word of this model: they are a to f", *c);
        ((int *)(uintptr_t)out[which].word)[out[which].count] = n;
        ((const char **)(uintptr_t)out[which].label)[out[which].count++] = TOY_WORD[n];
    }
    return (out[TEXT_SOURCE].count && out[TEXT_TARGET].count) || err_set(err, "a text is two words such as cab > ba");
}

static inline void toy_facts(const Model *m, FactFn put, void *context)
{
    (void)m;
    put(context, "takes", "takes", "two rows of letters");
}

static inline size_t toy_params(const Model *m)
{
    (void)m;
    return 0;
}

static const Family FAMILY_TOY = {.name = "toy",
                                  .input = INPUT_TEXT,
                                  .build = toy_build,
                                  .read_text = toy_read,
                                  .facts = toy_facts,
                                  .params = toy_params};

static unsigned toy_seed = 5;

static inline Model toy_model(void)
{
    return (Model){.family = &FAMILY_TOY, .data = &toy_seed, .name = "toy", .layout = "seeded", .trained = true};
}
#endif
