/* A third family of models, for tests alone: it takes pictures and is no Vision Transformer. 4 × 4 grey pixels in four
 * patches; of its two heads one looks at the upper patches and one at the lower ones, by their places, and the answer
 * is which half is the brighter: without places, a head or the attention it names the same class for every picture.
 * Nobody above core/models knows it. */
#ifndef VITRINE_TESTS_THIRD_FAMILY_H
#define VITRINE_TESTS_THIRD_FAMILY_H
#include <stdio.h>

#include "core/graph/anatomy.h"
#include "core/models/family.h"

enum { HALVES_SIDE = 4, HALVES_PATCH = 2, HALVES_PATCHES = 4, HALVES_WIDTH = 4, HALVES_HEADS = 2, HALVES_CLASSES = 2 };
/* Of a token: its brightness, where it lies (1 above, −1 below), what the heads make of it, and 1. */
enum { BRIGHT, PLACE, HALVES, ONE };

static const char *const HALVES_NAMES[HALVES_CLASSES] = {"upper", "lower"};
static const float HALVES_EMBED[4][2][2] = {{{0.001f, 0.001f}, {0.001f, 0.001f}}},
                   HALVES_PLACES[4][4] = {{0, 1, 0, 1}, {0, 1, 0, 1}, {0, -1, 0, 1}, {0, -1, 0, 1}},
                   HALVES_QUERY[2][1][4] = {{{0, 0, 0, 20}}, {{0, 0, 0, -20}}},
                   HALVES_KEY[2][1][4] = {{{0, 1, 0, 0}}, {{0, 1, 0, 0}}},
                   HALVES_VALUE[2][1][4] = {{{1, 0, 0, 0}}, {{1, 0, 0, 0}}},
                   HALVES_OUT[4][2][1] = {{{0}, {0}}, {{0}, {0}}, {{1}, {-1}}, {{0}, {0}}},
                   HALVES_ANSWER[2][4] = {{0, 0, 1, 0}, {0, 0, -1, 0}};

static inline int halves_axis(Graph *g, const char *sym, const char *name, AxisRole role, int n)
{
    Axis a = {.name = name, .n = n, .role = role};
    if (role == ROLE_QUERY || role == ROLE_KEY) {
        a.kind = AXIS_TOKEN;
        a.cols = HALVES_SIDE / HALVES_PATCH;
    }
    if (role == ROLE_ANSWER) {
        a.kind = AXIS_CLASS;
        a.labels = HALVES_NAMES;
    }
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    return graph_axis(g, a);
}

static inline NodeId halves_weight(Graph *g, const char *name, Dims d, const void *x)
{
    return graph_leaf(g, name, d, (Leaf){LEAF_TENSOR, x, "by hand"});
}

static inline NodeId halves_softmax(Graph *g, const char *out, NodeId x, int over)
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

static inline int halves_part(Graph *g, PartKind kind, int block, int parent, const char *scope, const char *word)
{
    graph_scope(g, "%s", scope);
    return anatomy_add(
        g, (Part){.kind = kind, .stack = "", .scope = scope, .word = word, .block = block, .parent = parent});
}

static inline void halves_build(const Model *m, Graph *g, const ModelInput *in)
{
    (void)m;
    const int y = halves_axis(g, "y", "row of patches", ROLE_PLACE_ROW, 2),
              i = halves_axis(g, "i", "row of the patch", ROLE_PIXEL_ROW, 2),
              x = halves_axis(g, "x", "column of patches", ROLE_PLACE_COL, 2),
              j = halves_axis(g, "j", "column of the patch", ROLE_PIXEL_COL, 2),
              t = halves_axis(g, "t", "patch that asks", ROLE_QUERY, HALVES_PATCHES),
              u = halves_axis(g, "u", "patch looked at", ROLE_KEY, HALVES_PATCHES),
              h = halves_axis(g, "h", "head", ROLE_HEAD, HALVES_HEADS),
              e = halves_axis(g, "e", "width of one head", ROLE_HEAD_WIDTH, 1),
              d = halves_axis(g, "d", "model width", ROLE_WIDTH, HALVES_WIDTH),
              o = halves_axis(g, "o", "class", ROLE_ANSWER, HALVES_CLASSES);
    halves_part(g, PART_MODEL, NO_BLOCK, NO_PART, "", "model");
    int part = halves_part(g, PART_INPUT, NO_BLOCK, 0, "given", "picture");
    NodeId pixels = graph_leaf(g, "pixels", DIMS(y, i, x, j), (Leaf){LEAF_INPUT, in->values, "picture"});
    anatomy_note(g, part, SITE_INPUT, pixels);
    part = halves_part(g, PART_EMBEDDING, NO_BLOCK, 0, "start", "embedding");
    NodeId embed = graph_contract(g, "looked_up", pixels, halves_weight(g, "table", DIMS(d, i, j), HALVES_EMBED),
                                  DIMS(y, x, d));
    NodeId tokens = graph_view(g, "patches", embed, DIMS(t, d)),
           places = halves_weight(g, "places", DIMS(t, d), HALVES_PLACES),
           z = graph_zip(g, "placed", OP_ADD, tokens, places);
    anatomy_note(g, part, SITE_EMBED, tokens);
    anatomy_note(g, part, SITE_POSITIONS, places);
    anatomy_note(g, part, SITE_EMBEDDED, z);
    const int block = halves_part(g, PART_BLOCK, 0, 0, "round.0", "block");
    anatomy_note(g, block, SITE_RESID_PRE, z);
    part = halves_part(g, PART_ATTENTION, 0, block, "round.0.halves", "attention");
    const Dims w = DIMS(h, e, d);
    NodeId q = graph_contract(g, "asked", z, halves_weight(g, "w_asked", w, HALVES_QUERY), DIMS(t, h, e)),
           k = graph_contract(g, "offered_rows", z, halves_weight(g, "w_offered", w, HALVES_KEY), DIMS(t, h, e)),
           v = graph_contract(g, "given_rows", z, halves_weight(g, "w_given", w, HALVES_VALUE), DIMS(t, h, e));
    k = graph_view(g, "offered", k, DIMS(u, h, e));
    v = graph_view(g, "given", v, DIMS(u, h, e));
    NodeId raw = graph_contract(g, "agreement", q, k, DIMS(h, t, u)),
           scale = graph_const(g, "factor", DIMS_SCALAR, 0.5f),
           scaled = graph_zip(g, "agreement_scaled", OP_MUL, raw, scale), looks = halves_softmax(g, "looks", scaled, u),
           gathered = graph_contract(g, "gathered", looks, v, DIMS(t, h, e)),
           w_o = halves_weight(g, "w_said", DIMS(d, h, e), HALVES_OUT),
           out = graph_contract(g, "said", gathered, w_o, DIMS(t, d));
    const struct {
        Site site;
        NodeId n;
    } notes[] = {{SITE_IN, z},
                 {SITE_QUERY, q},
                 {SITE_KEY, k},
                 {SITE_VALUE, v},
                 {SITE_SCALE, scale},
                 {SITE_W_O, w_o},
                 {SITE_OUT, out},
                 {SITE_SCORES_RAW, raw},
                 {SITE_Z, gathered},
                 {SITE_PATTERN, looks},
                 {SITE_SCORES_SCALED, scaled}};
    for (size_t n = 0; n < sizeof notes / sizeof *notes; n++)
        anatomy_note(g, part, notes[n].site, notes[n].n);
    anatomy_note_name(g, part, SITE_SCORES_MASKED, "agreement_masked");
    graph_scope(g, "%s", "round.0");
    z = graph_zip(g, "after", OP_ADD, z, out);
    anatomy_note(g, part, SITE_SUM, z);
    anatomy_note(g, block, SITE_BLOCK_OUT, z);
    part = halves_part(g, PART_READOUT, NO_BLOCK, 0, "", "answer");
    NodeId sum = graph_reduce(g, "all", OP_SUM, z, DIMS(d)),
           logits = graph_contract(g, "logits", sum, halves_weight(g, "answers", DIMS(o, d), HALVES_ANSWER), DIMS(o)),
           probs = halves_softmax(g, "probs", logits, o);
    anatomy_note(g, part, SITE_TOKENS_OUT, z);
    anatomy_note(g, part, SITE_READOUT, sum);
    anatomy_note(g, part, SITE_LOGITS, logits);
    anatomy_note(g, part, SITE_PROBS, probs);
}

static inline void halves_facts(const Model *m, FactFn put, void *context)
{
    (void)m;
    put(context, "takes", "takes", "4 × 4 grey pixels");
}

static inline size_t halves_params(const Model *m)
{
    (void)m;
    return 0;
}

static inline PictureGrid halves_grid(const Model *m)
{
    (void)m;
    return (PictureGrid){.channels = 1,
                         .height = HALVES_SIDE,
                         .width = HALVES_SIDE,
                         .patch_h = HALVES_PATCH,
                         .patch_w = HALVES_PATCH,
                         .rows = 2,
                         .columns = 2,
                         .classes = HALVES_CLASSES};
}

static const Family FAMILY_HALVES = {.name = "halves",
                                     .input = INPUT_PICTURE,
                                     .build = halves_build,
                                     .facts = halves_facts,
                                     .params = halves_params,
                                     .grid = halves_grid};

static inline Model halves_model(void)
{
    return (Model){.family = &FAMILY_HALVES,
                   .name = "halves",
                   .layout = "by hand",
                   .class_names = HALVES_NAMES,
                   .preprocess = {.width = HALVES_SIDE,
                                  .height = HALVES_SIDE,
                                  .channels = 1,
                                  .resize_w = HALVES_SIDE,
                                  .resize_h = HALVES_SIDE,
                                  .filter = FILTER_BILINEAR},
                   .trained = true};
}
#endif
