/* From words to tokens and from tokens to words: axes, embeddings, positions, masks, the answer (Vaswani et al. 2017,
 * sections 3.4 and 3.5). */
#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/models/seq2seq_build.h"

static int plain_axis(Graph *g, const char *sym, const char *name, AxisRole role, int n)
{
    Axis a = {.name = name, .n = n, .role = role};
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    return graph_axis(g, a);
}

/* Tokens first … of a text, called by their words where these are known. */
static int token_axis(Graph *g, const char *sym, const char *name, AxisRole role, Sequence sequence,
                      const Seq2seqText *text, int first, int n)
{
    Axis a = {.name = name, .n = n, .kind = AXIS_TOKEN, .role = role, .sequence = sequence};
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    if (text->label) {
        a.prefix = n;
        a.labels = text->label + first;
    }
    return graph_axis(g, a);
}

static int word_axis(Graph *g, const char *sym, const char *name, AxisRole role, int n, const char *const *words)
{
    Axis a = {.name = name, .n = n, .kind = AXIS_CLASS, .labels = words, .role = role};
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    return graph_axis(g, a);
}

static void source_axes(TextBuilder *b)
{
    Graph *g = b->g;
    const Seq2seqConfig *c = b->c;
    bool alone = !seq2seq_has_decoder(c); /* then the answer is in these words */
    if (!seq2seq_has_encoder(c))
        return;
    b->axis.s = token_axis(g, "s", alone ? "token that asks" : "source token that asks", ROLE_QUERY, SEQUENCE_SOURCE,
                           &b->source, 0, b->source.n);
    b->axis.r = token_axis(g, "r", alone ? "token looked at" : "source token looked at", ROLE_KEY, SEQUENCE_SOURCE,
                           &b->source, 0, b->source.n);
    if (c->shared)
        b->axis.a = b->axis.v = word_axis(g, "v", "word of the vocabulary", ROLE_ANSWER, c->target_words,
                                          b->target_vocabulary ? b->target_vocabulary : b->source_vocabulary);
    else
        b->axis.a = word_axis(g, "v0", alone ? "word of the vocabulary" : "word of the source vocabulary",
                              alone ? ROLE_ANSWER : ROLE_PLAIN, c->source_words, b->source_vocabulary);
    if (c->learned_positions)
        b->axis.source_rows = plain_axis(g, "s0", alone ? "place in the text" : "place in the source", ROLE_PLAIN,
                                         c->first_position + c->positions);
    if (c->segments)
        b->axis.segments = plain_axis(g, "s1", "segment", ROLE_PLAIN, c->segments);
}

/* How far back or ahead of a token each row of a table of distances is for: back2, ahead4-5, back6+. */
static int ranges_axis(TextBuilder *b, bool decoder)
{
    const int rows = b->c->distances, most = seq2seq_longest(b->c);
    Graph *g = b->g;
    Axis a = {.name = "range of distances", .n = rows, .kind = AXIS_CLASS, .role = ROLE_PLAIN};
    const char **label = arena_alloc(&g->arena, size_mul((size_t)rows, sizeof *label));
    int *first = arena_alloc(&g->arena, size_mul((size_t)rows, sizeof *first));
    snprintf(a.sym, sizeof a.sym, "%s", decoder ? "k" : "k0");
    for (int i = 0; i < rows; i++)
        label[i] = "none";
    for (int sign = -1; sign <= (decoder ? 0 : 1); sign += 2)
        for (int far = sign > 0, row; far < most && far <= b->c->distance_most; far++) {
            const char *way = far == 0 ? "same" : sign < 0 ? "back" : "ahead";
            row = seq2seq_distance_row(b->c, decoder, sign * far);
            bool new = strcmp(label[row], "none") == 0;
            first[row] = new ? far : first[row];
            label[row] = far == b->c->distance_most ? arena_printf(&g->arena, "%s%d+", way, first[row])
                         : !new                     ? arena_printf(&g->arena, "%s%d-%d", way, first[row], far)
                         : far                      ? arena_printf(&g->arena, "%s%d", way, far)
                                                    : way;
        }
    a.labels = label;
    return graph_axis(g, a);
}

/* What a text as a whole is read from, and what stands in front of an answer. */
static void whole_axes(TextBuilder *b)
{
    static const char *const FOLLOWS[] = {"follows", "unrelated"};
    Graph *g = b->g;
    const Seq2seqConfig *c = b->c;
    b->axis.w = c->word_width ? plain_axis(g, "w", "width of a word's vector", ROLE_PLAIN, c->word_width) : b->axis.d;
    for (int decoder = 0; c->distances && decoder < 2; decoder++)
        if (decoder ? seq2seq_has_decoder(c) : seq2seq_has_encoder(c))
            b->axis.distances[decoder] = ranges_axis(b, decoder);
    if (c->transform)
        b->axis.p = c->word_width ? b->axis.w : plain_axis(g, "d1", "width before the answer", ROLE_PLAIN, c->width);
    if (c->pooler || c->replaced)
        b->axis.q = plain_axis(g, "d2", "width behind a linear layer", ROLE_PLAIN, c->width);
    if (c->pair)
        b->axis.classes = word_axis(g, "c", "of the second segment", ROLE_PLAIN, SEQ2SEQ_PAIR, FOLLOWS);
}

static void target_axes(TextBuilder *b)
{
    Graph *g = b->g;
    const Seq2seqConfig *c = b->c;
    if (!seq2seq_has_decoder(c) || !b->target.n)
        return;
    int n = b->target.n, asking = b->kept ? 1 : n;
    b->axis.t = token_axis(g, "t", "token that asks", ROLE_QUERY, SEQUENCE_TARGET, &b->target, n - asking, asking);
    b->axis.u = token_axis(g, "u", "token looked at", ROLE_KEY, SEQUENCE_TARGET, &b->target, 0, n);
    if (b->axis.v == AXIS_NONE)
        b->axis.v = word_axis(g, "v", "word of the vocabulary", ROLE_ANSWER, c->target_words, b->target_vocabulary);
    if (c->learned_positions)
        b->axis.target_rows = plain_axis(g, "t0", "place in the target", ROLE_PLAIN, c->first_position + c->positions);
    if (b->kept) {
        b->axis.fresh = token_axis(g, "u1", "newest token", ROLE_PLAIN, SEQUENCE_TARGET, &b->target, n - 1, 1);
        if (n > 1)
            b->axis.past = token_axis(g, "u0", "token before it", ROLE_PLAIN, SEQUENCE_TARGET, &b->target, 0, n - 1);
    }
}

void text_axes(TextBuilder *b)
{
    Graph *g = b->g;
    const Seq2seqConfig *c = b->c;
    memset(&b->axis, 0xff, sizeof b->axis); /* AXIS_NONE */
    if (b->texts)
        b->axis.b = plain_axis(g, "b", "text of the batch", ROLE_BATCH, b->texts);
    source_axes(b);
    target_axes(b);
    b->axis.d = plain_axis(g, "d", "model width", ROLE_WIDTH, c->width);
    b->axis.h = b->axis.g = plain_axis(g, "h", "head", ROLE_HEAD, c->heads);
    if (seq2seq_key_heads(c) != c->heads)
        b->axis.g = plain_axis(g, "g", "head of keys and values", ROLE_PLAIN, c->key_heads);
    b->axis.e = plain_axis(g, "e", "width of one head", ROLE_HEAD_WIDTH, c->head_dim);
    b->axis.m = plain_axis(g, "m", "MLP width", ROLE_HIDDEN, c->mlp);
    if (c->experts.count) {
        b->axis.x = plain_axis(g, "x", "expert", ROLE_EXPERT, c->experts.count);
        b->axis.f = plain_axis(g, "f", "width of one expert", ROLE_HIDDEN, c->experts.width);
    }
    if (c->experts.count && c->experts.shared)
        b->axis.y = plain_axis(g, "f0", "width of the shared expert", ROLE_HIDDEN, c->experts.shared);
    b->axis.o = seq2seq_has_decoder(c) ? b->axis.v : b->axis.a;
    whole_axes(b);
}
_Static_assert(AXIS_NONE == -1, "axes that are not there");

static Dims role_dims(const TextBuilder *b, Seq2seqRole r)
{
    Dims d = DIMS_SCALAR;
    for (const char *a = seq2seq_role_axes(r); *a; a++) {
        int axis = AXIS_NONE;
#define LETTER(letter, length, at)                                                                                     \
    if (*a == (letter))                                                                                                \
        axis = b->axis.at;
#include "core/models/seq2seq_roles.def"
        if (*a == '1')
            continue;
        REQUIRE(axis != AXIS_NONE);
        d.axis[d.n++] = axis;
    }
    return d;
}

NnWeight text_weight(const TextBuilder *b, Seq2seqRole r)
{
    NnWeight w = {.name = seq2seq_role_name(r)};
    if (!seq2seq_has_in(b->c, r, b->layer))
        return w;
    const WeightTensor *t = seq2seq_weight(b->c, b->w, r, b->layer);
    seq2seq_role_scope(r, b->layer, w.scope, sizeof w.scope);
    w.dims = role_dims(b, r);
    w.data = t->data;
    w.origin = t->origin;
    w.store = t->store;
    REQUIRE(nn_has(&w));
    return w;
}

/* The table's rows of the words: picked by number, or in a batch by one-hot rows. */
static NodeId look_up(TextBuilder *b, const Seq2seqText *text, int first, int t, int words, NodeId table, NodeId *input)
{
    Graph *g = b->g;
    if (b->texts) {
        *input = graph_leaf(g, "tokens", DIMS(b->axis.b, t, words), (Leaf){LEAF_INPUT, b->zeros, "the words, one-hot"});
        return graph_contract(g, "embed", *input, table, DIMS(b->axis.b, t, b->axis.w));
    }
    int n = g->axes[t].n;
    float *number = arena_alloc(&g->arena, size_mul((size_t)n, sizeof *number));
    for (int i = 0; i < n; i++)
        number[i] = (float)text->word[first + i];
    *input = graph_leaf(g, "tokens", DIMS(t), (Leaf){LEAF_INPUT, number, "the words' numbers in the vocabulary"});
    return graph_take(g, "embed", table, words, text->word + first, t);
}

/* One vector per place: learned, or sines and cosines of growing wavelength. */
static NodeId positions(TextBuilder *b, int t, int first)
{
    Graph *g = b->g;
    int n = g->axes[t].n, d = b->axis.d;
    if (b->c->learned_positions) {
        NnWeight w = text_weight(b, b->decoder ? SEQ2SEQ_TARGET_POS : SEQ2SEQ_SOURCE_POS);
        return graph_slice(g, "pos_embed", nn_weight(g, &w), w.dims.axis[0], b->c->first_position + first, t);
    }
    size_t width = (size_t)b->c->width, cells = size_mul((size_t)n, width);
    float *turns = arena_alloc(&g->arena, size_mul(cells, sizeof *turns)), *rows = turns;
    seq2seq_sinusoids(first, n, b->c->width, turns);
    if (b->c->halves)
        rows = arena_alloc(&g->arena, size_mul(cells, sizeof *rows));
    for (size_t i = 0; b->c->halves && i < cells; i++)
        rows[i] = turns[i - i % width + (size_t)seq2seq_sinusoid_column(b->c, (int)(i % width))];
    return graph_leaf(g, "pos_embed", DIMS(t, d), (Leaf){LEAF_CONST, rows, "sin and cos of place / 10000^(2i/D)"});
}

/* The row of every token's segment, added to its word's. */
static NodeId segments(TextBuilder *b, NodeId x)
{
    Graph *g = b->g;
    int n = g->axes[b->axis.s].n, *row = arena_alloc(&g->arena, (size_t)n * sizeof *row);
    float *number = arena_alloc(&g->arena, (size_t)n * sizeof *number);
    for (int i = 0; i < n; i++)
        number[i] = (float)(row[i] = b->source.segment ? b->source.segment[i] : 0);
    graph_leaf(g, "segments", DIMS(b->axis.s), (Leaf){LEAF_INPUT, number, "the number of every word's segment"});
    NnWeight table = text_weight(b, SEQ2SEQ_SOURCE_SEGMENT);
    NodeId rows = graph_take(g, "segment_embed", nn_weight(g, &table), b->axis.segments, row, b->axis.s);
    return graph_zip(g, "with_segment", OP_ADD, x, rows);
}

/* Words' vectors of another width brought to the model's: in a decoder before their places are added, in an encoder
 * behind all else. */
static NodeId projected(TextBuilder *b, NodeId x, int t)
{
    if (!b->c->word_width)
        return x;
    NnWeight w = text_weight(b, b->decoder ? SEQ2SEQ_TARGET_PROJECT_W : SEQ2SEQ_SOURCE_PROJECT_W), bias = {0};
    if (!b->decoder)
        bias = text_weight(b, SEQ2SEQ_SOURCE_PROJECT_B);
    return nn_linear(b->g, "project", x, &w, &bias, nn_dims(b->axis.b, DIMS(t, b->axis.d)));
}

NodeId text_embed(TextBuilder *b, Seq2seqNodes *nodes)
{
    Graph *g = b->g;
    const Seq2seqText *text = b->decoder ? &b->target : &b->source;
    int t = b->decoder ? b->axis.t : b->axis.s, first = text->n - g->axes[t].n;
    NodeId *input = b->decoder ? &nodes->target : &nodes->source;
    NnWeight table = text_weight(b, seq2seq_embed_role(b->c, b->decoder));
    NnPlace at = {.stack = text_stack(b), .scope = text_stack(b), .word = "words", .block = NO_BLOCK};
    int words = nn_part(g, PART_INPUT, &at);
    at.word = "embedding";
    at.parent = words;
    int part = nn_part(g, PART_EMBEDDING, &at);
    NodeId rows = graph_find(g, "shared.embed.weight"); /* of the other stack */
    rows = rows == NO_NODE ? nn_weight(g, &table) : rows;
    NodeId embed = look_up(b, text, first, t, table.dims.axis[0], rows, input);
    anatomy_note(g, words, SITE_INPUT, *input);
    NodeId scaled = embed;
    if (b->c->embed_scale < 1 || b->c->embed_scale > 1) {
        NodeId factor = graph_const(g, "embed_scale", DIMS_SCALAR, b->c->embed_scale);
        scaled = graph_zip(g, "embed_scaled", OP_MUL, embed, factor);
    }
    if (b->decoder)
        scaled = projected(b, scaled, t);
    if (b->c->embed_norm && b->c->pos != SEQ2SEQ_POS_ADDED) {
        scaled = text_norm(b, "ln_embed", b->decoder ? SEQ2SEQ_TARGET_NORM_GAMMA : SEQ2SEQ_SOURCE_NORM_GAMMA, scaled);
        graph_scope(g, "%s", text_stack(b));
    }
    if (b->c->segments && !b->decoder)
        scaled = segments(b, scaled);
    NodeId full;
    if (b->c->pos == SEQ2SEQ_POS_ADDED) {
        NodeId places = positions(b, t, first);
        full = graph_zip(g, "full_embed", OP_ADD, scaled, places);
        anatomy_note(g, part, SITE_POSITIONS, places);
    } else
        full = graph_view(g, "full_embed", scaled, graph_node(g, scaled)->dims);
    graph_flag(g, full, NODE_CHECKPOINT);
    anatomy_note(g, part, SITE_EMBED, embed);
    anatomy_note(g, part, SITE_EMBEDDED, full);
    if (b->c->embed_norm && b->c->pos == SEQ2SEQ_POS_ADDED) {
        full = text_norm(b, "ln_embed", b->decoder ? SEQ2SEQ_TARGET_NORM_GAMMA : SEQ2SEQ_SOURCE_NORM_GAMMA, full);
        graph_scope(g, "%s", text_stack(b));
    }
    return b->decoder ? full : projected(b, full, t);
}

/* LN(act(x W + b)): what stands between tokens and words in models that fill in words that were taken out. */
static NodeId transform(TextBuilder *b, NodeId x)
{
    Graph *g = b->g;
    const Seq2seqConfig *c = b->c;
    NnWeight w = text_weight(b, SEQ2SEQ_TRANSFORM_W), bias = text_weight(b, SEQ2SEQ_TRANSFORM_B);
    Dims out = nn_dims(b->axis.b, DIMS(b->axis.s, b->axis.p));
    NnNorm n = {.over = DIMS(b->axis.p), .eps = c->eps, .gamma = text_weight(b, SEQ2SEQ_TRANSFORM_GAMMA)};
    n.beta = text_weight(b, SEQ2SEQ_TRANSFORM_BETA);
    graph_scope(g, "transform");
    x = nn_linear(g, "pre", x, &w, &bias, out);
    x = graph_map(g, "post", c->transform_act, x);
    NnPlace at = {.scope = "ln_transform", .word = "norm", .block = NO_BLOCK};
    x = nn_norm(g, &at, &n, x);
    graph_scope(g, "%s", "");
    return graph_view(g, "transformed", x, nn_dims(b->axis.b, DIMS(b->axis.s, b->axis.w)));
}

/* A decoder's tokens brought to the width of its words' vectors. */
static NodeId narrowed(TextBuilder *b, NodeId x)
{
    NnWeight w = text_weight(b, SEQ2SEQ_TARGET_NARROW_W), bias = {0};
    graph_scope(b->g, "%s", "decoder");
    x = nn_linear(b->g, "narrow", x, &w, &bias, nn_dims(b->axis.b, DIMS(b->axis.t, b->axis.w)));
    graph_scope(b->g, "%s", "");
    return x;
}

void text_answer(TextBuilder *b, NodeId tokens, Seq2seqNodes *nodes)
{
    Graph *g = b->g;
    bool decoder = seq2seq_has_decoder(b->c);
    Dims out = nn_dims(b->axis.b, DIMS(decoder ? b->axis.t : b->axis.s, b->axis.o));
    NnWeight w = text_weight(b, SEQ2SEQ_HEAD_W), bias = text_weight(b, SEQ2SEQ_HEAD_B);
    NnPlace at = {.scope = "", .word = "answer", .block = NO_BLOCK};
    int part = nn_part(g, PART_READOUT, &at);
    anatomy_note(g, part, SITE_TOKENS_OUT, tokens);
    if (b->c->wordless)
        return;
    if (b->c->transform)
        tokens = transform(b, tokens);
    if (b->c->word_width && decoder)
        tokens = narrowed(b, tokens);
    if (b->c->read_scale > 0)
        tokens = graph_zip(g, "read_scaled", OP_MUL, tokens,
                           graph_const(g, "read_scale", DIMS_SCALAR, b->c->read_scale));
    float cap = b->c->logit_cap;
    const char *name = cap > 0 ? "uncapped" : "logits", *nobias = cap > 0 ? "uncapped_nobias" : "logits_nobias";
    if (b->c->tied) {
        char path[64];
        seq2seq_role_path(seq2seq_embed_role(b->c, decoder), 0, path, sizeof path);
        NodeId table = graph_find(g, path);
        nodes->logits = graph_contract(g, bias.data ? nobias : name, tokens, table, out);
        if (bias.data) {
            graph_flag(g, nodes->logits, NODE_DERIVED);
            nodes->logits = graph_zip(g, name, OP_ADD, nodes->logits, nn_weight(g, &bias));
        }
    } else
        nodes->logits = nn_linear(g, name, tokens, &w, &bias, out);
    if (cap > 0)
        nodes->logits = nn_capped(g, "logit", "logits", nodes->logits, graph_const(g, "logit_cap", DIMS_SCALAR, cap));
    nodes->probs = nn_softmax(g, nodes->logits, b->axis.o,
                              (SoftmaxNames){"probs_row_max", "probs_shifted", "probs_exp", "probs_sum", "probs"});
    anatomy_note(g, part, SITE_LOGITS, nodes->logits);
    anatomy_note(g, part, SITE_PROBS, nodes->probs);
}

/* --- a text as a whole --- */

/* tanh(x W + b) of the first token, and from that two scores: does the second segment follow the first? */
static void pooler(TextBuilder *b, NodeId tokens, int part)
{
    Graph *g = b->g;
    NnWeight w = text_weight(b, SEQ2SEQ_POOLER_W), bias = text_weight(b, SEQ2SEQ_POOLER_B);
    NodeId first = graph_slice(g, "pooler.first", tokens, b->axis.s, 0, AXIS_NONE);
    NodeId sum = nn_linear(g, "pooler.pre", first, &w, &bias, nn_dims(b->axis.b, DIMS(b->axis.q)));
    NodeId pooled = graph_map(g, "pooled", MAP_TANH, sum);
    if (!b->c->pair)
        return;
    w = text_weight(b, SEQ2SEQ_PAIR_W);
    bias = text_weight(b, SEQ2SEQ_PAIR_B);
    NodeId scores = nn_linear(g, "pair.scores", pooled, &w, &bias, nn_dims(b->axis.b, DIMS(b->axis.classes)));
    anatomy_note(g, part, SITE_PAIR,
                 nn_softmax(g, scores, b->axis.classes,
                            (SoftmaxNames){"pair.row_max", "pair.shifted", "pair.exp", "pair.sum", "pair.probs"}));
}

/* For every token sigmoid(act(x W + b) · w + b). */
static void replaced(TextBuilder *b, NodeId tokens, int part)
{
    Graph *g = b->g;
    Dims each = nn_dims(b->axis.b, DIMS(b->axis.s));
    NnWeight w = text_weight(b, SEQ2SEQ_REPLACED_W), bias = text_weight(b, SEQ2SEQ_REPLACED_B);
    NodeId x = nn_linear(g, "replaced.pre", tokens, &w, &bias, nn_dims(b->axis.b, DIMS(b->axis.s, b->axis.q)));
    x = graph_map(g, "replaced.post", b->c->act, x);
    w = text_weight(b, SEQ2SEQ_REPLACED_OUT_W);
    bias = text_weight(b, SEQ2SEQ_REPLACED_OUT_B);
    x = nn_linear(g, "replaced.score", x, &w, &bias, each);
    anatomy_note(g, part, SITE_REPLACED, graph_map(g, "replaced", MAP_SIGMOID, x));
}

/* The mean of all tokens, or the first of them, and its direction y / |y|. */
static void sentence(TextBuilder *b, NodeId tokens, int part)
{
    Graph *g = b->g;
    Dims one = nn_dims(b->axis.b, DIMS(b->axis.d)), none = nn_dims(b->axis.b, DIMS_SCALAR);
    NodeId y;
    if (b->c->sentence == SENTENCE_FIRST)
        y = graph_slice(g, "embedding", tokens, b->axis.s, 0, AXIS_NONE);
    else {
        NodeId count = graph_const(g, "embedding_count", DIMS_SCALAR, (float)g->axes[b->axis.s].n);
        y = graph_zip(g, "embedding", OP_DIV, graph_reduce(g, "embedding_sum", OP_SUM, tokens, one), count);
    }
    NodeId sq = graph_zip(g, "embedding_sq", OP_MUL, y, y);
    graph_flag(g, sq, NODE_DERIVED);
    NodeId length = graph_map(g, "embedding_norm", MAP_SQRT, graph_reduce(g, "embedding_sumsq", OP_SUM, sq, none));
    NodeId unit = graph_zip(g, "embedding_unit", OP_DIV, y, length);
    anatomy_note(g, part, SITE_EMBEDDING, y);
    anatomy_note(g, part, SITE_EMBEDDING_UNIT, unit);
}

void text_whole(TextBuilder *b, NodeId tokens)
{
    int part = anatomy_next(b->g, NO_PART, PART_READOUT);
    graph_scope(b->g, "%s", "");
    if (b->c->pooler)
        pooler(b, tokens, part);
    if (b->c->replaced)
        replaced(b, tokens, part);
    if (b->c->sentence)
        sentence(b, tokens, part);
}
