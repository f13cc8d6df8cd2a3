/* The equations of a text model against its run: words, every block of either stack, the answer. */
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/graph/anatomy.h"
#include "core/models/family.h"
#include "core/models/seq2seq_direct.h"
#include "core/models/text_model.h"
#include "core/session/ask/verify_parts.h"

typedef struct TextCheck {
    Session *s;
    Side side;
    const Model *m;
    VerdictRoute *r;
    Err *err;
    int done, blocks; /* for progress */
} TextCheck;

/* One stack of the graph, and where its tokens are. */
typedef struct Stack {
    const char *name;
    bool decoder;
    int layers, tokens;
    NodeId words, last; /* its input; what comes out of its last block */
} Stack;

static bool find_stack(const TextCheck *c, bool decoder, Stack *out)
{
    const Graph *g = session_graph(c->s, c->side);
    Stack k = {.name = decoder ? "decoder" : "encoder",
               .decoder = decoder,
               .layers = decoder ? c->m->text.decoder_layers : c->m->text.encoder_layers,
               .words = NO_NODE};
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_INPUT)) != NO_PART;)
        if (strcmp(anatomy_part(g, p)->stack, k.name) == 0)
            k.words = site_node(g, p, SITE_INPUT);
    int last = anatomy_block(g, k.name, k.layers - 1);
    k.last = last == NO_PART ? NO_NODE : site_node(g, last, SITE_BLOCK_OUT);
    if (k.words == NO_NODE || k.last == NO_NODE)
        return false;
    k.tokens = (int)graph_cells(g, k.words);
    *out = k;
    return true;
}

static bool check_stack(TextCheck *c, const Stack *k, Seq2seqDirectMemory memory)
{
    const Graph *g = session_graph(c->s, c->side);
    const Run *run = session_run(c->s, c->side);
    size_t cells = size_mul((size_t)k->tokens, (size_t)c->m->text.width);
    double *x = xcalloc(cells, sizeof *x);
    bool ok = true;
    for (int layer = 0; ok && layer < k->layers; layer++) {
        int part = anatomy_block(g, k->name, layer);
        NodeId from = site_node(g, part, SITE_RESID_PRE), to = site_node(g, part, SITE_BLOCK_OUT);
        ok = ask_need(c->s, c->side, k->words, c->err) && ask_need(c->s, c->side, from, c->err) &&
             ask_need(c->s, c->side, to, c->err);
        if (ok && !layer) {
            seq2seq_direct_embed(&c->m->text, &c->m->weights, k->decoder, run_peek(run, k->words), k->tokens, x);
            verify_compare(c->s, c->side, from, x, c->r);
        }
        if (ok) {
            seq2seq_direct_block(&c->m->text, &c->m->weights, k->decoder, layer, run_peek(run, from), k->tokens, memory,
                                 x);
            verify_compare(c->s, c->side, to, x, c->r);
        }
        session_trim(c->s);
        c->done++;
        if (ok && c->s->progress &&
            !c->s->progress(c->s->progress_context, "verifying the model", (double)c->done / c->blocks))
            ok = err_set(c->err, "cancelled");
    }
    free(x);
    return ok;
}

/* What the stack hands over, [tokens,d], on the heap; NULL when it can't be had. */
static double *handed_over(TextCheck *c, const Stack *k)
{
    if (!ask_need(c->s, c->side, k->last, c->err))
        return NULL;
    double *x = xcalloc(size_mul((size_t)k->tokens, (size_t)c->m->text.width), sizeof *x);
    seq2seq_direct_stack_out(&c->m->text, &c->m->weights, k->decoder, run_peek(session_run(c->s, c->side), k->last),
                             k->tokens, x);
    return x;
}

static bool check_answer(TextCheck *c, const double *x, int tokens)
{
    const Graph *g = session_graph(c->s, c->side);
    NodeId logits = site_node_any(g, SITE_LOGITS), probs = site_node_any(g, SITE_PROBS);
    if (!ask_need(c->s, c->side, logits, c->err) || !ask_need(c->s, c->side, probs, c->err))
        return false;
    size_t cells = graph_cells(g, logits);
    double *out = xcalloc(size_mul(cells, 2), sizeof *out);
    seq2seq_direct_answer(&c->m->text, &c->m->weights, x, tokens, out, out + cells);
    verify_compare(c->s, c->side, logits, out, c->r);
    verify_compare(c->s, c->side, probs, out + cells, c->r);
    free(out);
    return true;
}

bool verify_text_model(Session *s, Side side, const Model *m, VerdictRoute *r, Err *err)
{
    TextCheck c = {.s = s, .side = side, .m = m, .r = r, .err = err};
    const Seq2seqConfig *config = &c.m->text;
    Stack encoder = {.tokens = 0}, decoder = {.tokens = 0}, *answers = &encoder;
    bool reads = seq2seq_has_encoder(config), writes = seq2seq_has_decoder(config);
    if ((reads && !find_stack(&c, false, &encoder)) || (writes && !find_stack(&c, true, &decoder))) {
        r->why = "its graph lacks a stack that its equations have";
        return true;
    }
    c.blocks = encoder.layers + decoder.layers;
    bool ok = !reads || check_stack(&c, &encoder, (Seq2seqDirectMemory){NULL, 0});
    double *memory = ok && reads ? handed_over(&c, &encoder) : NULL, *out = memory;
    ok = ok && (!reads || memory);
    if (ok && writes) {
        answers = &decoder;
        ok = check_stack(&c, &decoder, (Seq2seqDirectMemory){memory, encoder.tokens}) &&
             (out = handed_over(&c, &decoder)) != NULL;
    }
    ok = ok && check_answer(&c, out, answers->tokens);
    if (out != memory)
        free(out);
    free(memory);
    return ok;
}
