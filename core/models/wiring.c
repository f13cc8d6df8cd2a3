/* The three forms of the Transformer beside one another. */
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/graph/anatomy.h"
#include "core/graph/run.h"
#include "core/models/text_model.h"

enum { WORDS = 4, SEED = 1, FORMS = 3 };
/* The picture: lines of a box, two of each attention; columns inside it, between two that are one form, and of a form
 * that is one box. */
enum { ATTENTIONS = 2, BOX_LINES = 2 * ATTENTIONS + 3, INSIDE = 13, ARROW = 4, ALONE = 19 };

typedef struct Form {
    const char *name, *brief;
    Seq2seqForm form;
    Model model;
    Graph graph;
} Form;

/* The same sizes in another form: what it lacks is left out, what it has more is taken from what is there. Knobs that
 * only one form has are those of the original Transformer: they change no mask and nothing that is looked at. */
static Seq2seqConfig in_form(const Seq2seqConfig *c, Seq2seqForm form)
{
    Seq2seqConfig f = *c;
    int words = c->target_words ? c->target_words : c->source_words;
    int layers = c->decoder_layers ? c->decoder_layers : c->encoder_layers;
    bool encoder = form != SEQ2SEQ_DECODER_ONLY, decoder = form != SEQ2SEQ_ENCODER_ONLY;
    f.form = form;
    f.pos = SEQ2SEQ_POS_ADDED;
    f.key_heads = f.window = f.segments = f.word_width = f.distances = 0;
    f.experts = (Seq2seqExperts){0};
    f.head_norm = HEAD_NORM_NONE;
    f.parallel = PARALLEL_NOT;
    f.sentence = SENTENCE_NONE;
    f.score_cap = f.clip = 0;
    f.shared = f.sinks = false;
    f.first_bare = f.after_norm = f.gated = f.wordless = f.transform = f.pooler = f.pair = f.replaced = false;
    f.source_words = !encoder ? 0 : c->source_words ? c->source_words : words;
    f.target_words = !decoder ? 0 : c->target_words ? c->target_words : words;
    f.encoder_layers = !encoder ? 0 : c->encoder_layers ? c->encoder_layers : layers;
    f.decoder_layers = !decoder ? 0 : c->decoder_layers ? c->decoder_layers : layers;
    return f;
}

static void form_open(Form *f, const Seq2seqConfig *c)
{
    static const int WORD[WORDS] = {0};
    Seq2seqConfig own = in_form(c, f->form);
    Seq2seqText text = {.word = WORD, .n = WORDS};
    Seq2seqInput in = {.source = seq2seq_has_encoder(&own) ? text : (Seq2seqText){0},
                       .target = seq2seq_has_decoder(&own) ? text : (Seq2seqText){0}};
    REQUIRE(seq2seq_check(&own, NULL));
    text_model_seeded(&f->model, &own, SEED);
    graph_init(&f->graph);
    seq2seq_build(&f->graph, &own, &f->model.weights, &in, NULL);
}

static void form_close(Form *f)
{
    graph_free(&f->graph);
    model_free(&f->model);
}

static const char *sequence_of(const Graph *g, int axis)
{
    return g->axes[axis].sequence == SEQUENCE_SOURCE ? "source" : "target";
}

/* The mask that its scores go through, by name; NULL: all may be seen. */
static const char *mask_of(const Graph *g, int part)
{
    NodeId n = site_node(g, part, SITE_SCORES_MASKED);
    return n == NO_NODE ? NULL : node_name(graph_node(g, graph_node(g, n)->in[0]));
}

/* Where its keys and values come from: the part whose rows it reads. */
static void put_attention(const Graph *g, int part, Buf *out)
{
    const Part *a = anatomy_part(g, part);
    Dims d = graph_node(g, site_node(g, part, SITE_PATTERN))->dims;
    int query = dims_role(g, d, ROLE_QUERY), key = dims_role(g, d, ROLE_KEY);
    const char *mask = mask_of(g, part);
    buf_printf(out, "  %-8s %-16s the %s asks the %s, mask: %s\n", a->stack, a->word, sequence_of(g, query),
               sequence_of(g, key), mask ? mask : "none");
}

static void put_form(const Form *f, bool own, Buf *out)
{
    const Graph *g = &f->graph;
    buf_printf(out, "%s%s\n", f->name, own ? ": this model" : "");
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_ATTENTION)) != NO_PART;)
        if (anatomy_part(g, p)->block == 0)
            put_attention(g, p, out);
}

/* Two of the four rows of who may look at whom, a column per token looked at. */
static void put_seen(const float *mask, int row, Buf *out)
{
    static const char *const CELLS[] = {"·", "▄", "▀", "█"};
    for (int k = 0; k < WORDS; k++) {
        bool upper = !mask || mask[row * WORDS + k] != 0.0f, lower = !mask || mask[(row + 1) * WORDS + k] != 0.0f;
        buf_puts(out, CELLS[2 * upper + lower]);
    }
}

/* One line of a stack as a box: what it reads is below it, its first block's attentions above each other. */
static void put_box(const Graph *g, Run *run, const char *stack, int line, Buf *out)
{
    int part[ATTENTIONS] = {NO_PART, NO_PART}, count = 0; /* from below */
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_ATTENTION)) != NO_PART && count < ATTENTIONS;)
        if (anatomy_part(g, p)->block == 0 && strcmp(anatomy_part(g, p)->stack, stack) == 0)
            part[count++] = p;
    Dims d = graph_node(g, site_node(g, part[0], SITE_PATTERN))->dims;
    const char *reads = sequence_of(g, dims_role(g, d, ROLE_QUERY));
    if (line == 0)
        buf_printf(out, "┌ %-7s ────┐", stack);
    else if (line == BOX_LINES - 2)
        buf_puts(out, "└──────▲──────┘");
    else if (line == BOX_LINES - 1)
        buf_printf(out, "    %-*s", INSIDE - 2, reads);
    else {
        int p = part[ATTENTIONS - 1 - (line - 1) / 2];
        const char *word = p == NO_PART || line % 2 == 0 ? "" : anatomy_part(g, p)->word;
        buf_printf(out, "│ %-6.*s ", (int)strcspn(word, "-"), word);
        NodeId masked = p == NO_PART ? NO_NODE : site_node(g, p, SITE_SCORES_MASKED);
        if (p == NO_PART)
            buf_printf(out, "%*s", WORDS, "");
        else
            put_seen(masked == NO_NODE ? NULL : run_need(run, graph_node(g, masked)->in[0]), (line - 1) % 2 * 2, out);
        buf_puts(out, " │");
    }
}

/* The forms beside each other, the model's own in brackets. */
static void put_picture(const Form form[FORMS], Seq2seqForm own, Buf *out)
{
    Run *run[FORMS];
    char name[ALONE + 1];
    for (int i = 0; i < FORMS; i++)
        run[i] = run_new(&form[i].graph, NULL, NULL);
    for (int i = 0; i < FORMS; i++) {
        snprintf(name, sizeof name, form[i].form == own ? "[%s]" : "%s", form[i].brief);
        buf_printf(out, "%-*s", i + 1 == FORMS ? 0 : i ? ALONE : ALONE + ARROW + INSIDE + 2, name);
    }
    buf_putc(out, '\n');
    for (int line = 0; line < BOX_LINES; line++, buf_putc(out, '\n'))
        for (int i = 0; i < FORMS; i++) {
            bool encoder = form[i].form != SEQ2SEQ_DECODER_ONLY, decoder = form[i].form != SEQ2SEQ_ENCODER_ONLY;
            if (encoder)
                put_box(&form[i].graph, run[i], "encoder", line, out);
            if (encoder && decoder) /* what the encoder makes, the memory of cross-attention */
                buf_puts(out, line == 1 ? "───▸" : "    ");
            if (decoder)
                put_box(&form[i].graph, run[i], "decoder", line, out);
            buf_printf(out, "%*s", i + 1 < FORMS ? ALONE - INSIDE - 2 : 0, "");
        }
    for (int i = 0; i < FORMS; i++)
        run_free(run[i]);
}

/* Names of the nodes of a stack's first block, inside it; the next at or after *n, or NULL. */
static const char *next_in_block(const Graph *g, const char *stack, NodeId *n)
{
    char scope[32];
    int size = snprintf(scope, sizeof scope, "%s.blocks.0.", stack);
    for (; *n < g->count; (*n)++)
        if (strncmp(graph_node(g, *n)->path, scope, (size_t)size) == 0)
            return graph_node(g, (*n)++)->path + size;
    return NULL;
}

static bool has_node(const Graph *g, const char *stack, const char *name, Op *op)
{
    char path[160];
    snprintf(path, sizeof path, "%s.blocks.0.%s", stack, name);
    NodeId n = graph_find(g, path);
    if (n != NO_NODE)
        *op = graph_node(g, n)->op;
    return n != NO_NODE;
}

typedef struct Stack {
    const Form *form;
    const char *name;
} Stack;

/* What a block of `a` has and one of `b` has not, attention by attention; returns how many operations both have. */
static int put_more(Stack a, Stack b, Buf *more, int *extra)
{
    int both = 0;
    const char *name;
    *extra = 0;
    for (NodeId n = 0; (name = next_in_block(&a.form->graph, a.name, &n)) != NULL;) {
        Op mine = OP_LEAF, other = OP_LEAF;
        has_node(&a.form->graph, a.name, name, &mine);
        if (has_node(&b.form->graph, b.name, name, &other) && mine == other) {
            both++;
            continue;
        }
        if (strncmp(name, "cross_attn.", 11) != 0 && *extra < 4)
            buf_printf(more, "%s%s", more->len ? ", " : "", name);
        (*extra)++;
    }
    return both;
}

static void put_difference(const char *what, Stack a, Stack b, Buf *out)
{
    Buf more = {0}, less = {0};
    int extra, missing, both = put_more(a, b, &more, &extra);
    put_more(b, a, &less, &missing);
    buf_printf(out, "%s\n  %d nodes are the same operation in both; %d only in the first, %d only in the second\n",
               what, both, extra, missing);
    if (more.len)
        buf_printf(out, "  only in the first: %s\n", buf_str(&more));
    if (less.len)
        buf_printf(out, "  only in the second: %s\n", buf_str(&less));
    buf_free(&more);
    buf_free(&less);
}

void wiring_put(const Model *m, Buf *out)
{
    Form form[FORMS] = {
        {.name = "Encoder and decoder (Vaswani et al. 2017)", .brief = "Encoder, decoder", .form = SEQ2SEQ_BOTH},
        {.name = "Decoder alone, the form of GPT", .brief = "Decoder: GPT", .form = SEQ2SEQ_DECODER_ONLY},
        {.name = "Encoder alone, the form of BERT", .brief = "Encoder: BERT", .form = SEQ2SEQ_ENCODER_ONLY}};
    for (int i = 0; i < FORMS; i++)
        form_open(&form[i], &m->text);
    put_picture(form, m->text.form, out);
    for (int i = 0; i < FORMS; i++)
        if (form[i].form == m->text.form)
            buf_printf(out, "[ ] this model: %s\n", form[i].name);
    buf_puts(out, "█ is seen, · masked; rows: tokens that ask, columns: tokens looked at\n\n");
    buf_puts(out, "Three forms of the same parts, read off graphs built at this model's sizes\n\n");
    for (int i = 0; i < FORMS; i++)
        put_form(&form[i], form[i].form == m->text.form, out);
    buf_putc(out, '\n');
    put_difference("A block of the decoder alone beside one of the encoder alone", (Stack){&form[1], "decoder"},
                   (Stack){&form[2], "encoder"}, out);
    put_difference("A block of the encoder alone beside one of the encoder before a decoder",
                   (Stack){&form[2], "encoder"}, (Stack){&form[0], "encoder"}, out);
    put_difference("A block of the decoder behind an encoder beside one alone", (Stack){&form[0], "decoder"},
                   (Stack){&form[1], "decoder"}, out);
    for (int i = 0; i < FORMS; i++)
        form_close(&form[i]);
}
