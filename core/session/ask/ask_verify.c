/* Is the trace right? Every cell is derived again from its terms, which went through none of the packed kernels, and
 * compared bit for bit; the whole pass is computed a second time and must have the same hash; and what the terms share
 * with the forward pass (maps, rules of gradients, the graph itself) is compared with a second writing of it. */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/graph/anatomy.h"
#include "core/io/json.h"
#include "core/models/direct.h"
#include "core/models/family.h"
#include "core/models/text_model.h"
#include "core/session/address.h"
#include "core/session/ask/ask_parts.h"
#include "core/session/exhibit.h"

enum { CHUNK_TERMS = 65536, REPORT_NS = 100000000 };

/* What one worker found in one node. */
typedef struct Tally {
    size_t cells, different, first;
} Tally;

typedef struct Check {
    const Run *run;
    const float *stored;
    Explain explain;      /* of the node's first cell: copied and moved */
    const size_t *chosen; /* cells to look at, or NULL: all */
    size_t count, per_item;
    Tally *tally; /* one per worker */
} Check;

static void check_item(void *context, size_t item, int worker)
{
    const Check *c = context;
    Tally *t = &c->tally[worker];
    Explain e = c->explain;
    size_t end = (item + 1) * c->per_item < c->count ? (item + 1) * c->per_item : c->count;
    for (size_t i = item * c->per_item; i < end; i++) {
        size_t cell = c->chosen ? c->chosen[i] : i;
        explain_move(&e, cell);
        float folded = explain_fold(&e, ask_values, c->run);
        t->cells++;
        if (memcmp(&folded, &c->stored[cell], sizeof folded) == 0)
            continue;
        t->first = !t->different || cell < t->first ? cell : t->first;
        t->different++;
    }
}

static bool is_checked(const Node *n)
{
    return n->op != OP_LEAF && n->op != OP_VIEW;
}

/* `sample` cells of a node, or all of them where it has no more. */
static size_t *choose(const Graph *g, NodeId n, size_t sample, size_t *count)
{
    size_t cells = graph_cells(g, n);
    *count = cells;
    if (!sample || sample >= cells)
        return NULL;
    Rng rng = rng_seed(0x5eed, (uint64_t)n);
    size_t *chosen = xmalloc(size_mul(sample, sizeof *chosen));
    for (size_t i = 0; i < sample; i++)
        chosen[i] = (size_t)((((uint64_t)rng_u32(&rng) << 32) | rng_u32(&rng)) % cells);
    *count = sample;
    return chosen;
}

typedef struct Whole {
    size_t done, all; /* terms, for progress */
    int64_t told;     /* when it was told last: many small nodes are a long time too */
} Whole;

static bool report(Session *s, Whole *w, size_t done)
{
    const int64_t now = clock_ns();
    if (!s->progress || now - w->told < REPORT_NS)
        return true;
    w->told = now;
    return s->progress(s->progress_context, "verifying", w->all ? (double)done / (double)w->all : 1);
}

/* False when cancelled. */
static bool check_node(Session *s, Side side, NodeId n, size_t sample, Whole *whole, Verdict *v)
{
    const Graph *g = session_graph(s, side);
    Check c = {.run = session_run(s, side), .explain = explain_open(g, n, 0)};
    size_t *chosen = choose(g, n, sample, &c.count), terms = c.explain.terms ? c.explain.terms : 1, next = 0;
    int workers = pool_threads(s->pool);
    c.stored = run_peek(c.run, n);
    c.chosen = chosen;
    c.per_item = CHUNK_TERMS / terms ? CHUNK_TERMS / terms : 1;
    c.tally = xcalloc((size_t)workers, sizeof *c.tally);
    size_t items = (c.count + c.per_item - 1) / c.per_item;
    bool going = true;
    while (going && next < items) {
        next = pool_run(s->pool, next, items, check_item, &c, clock_ns() + REPORT_NS);
        size_t cells = next * c.per_item < c.count ? next * c.per_item : c.count;
        going = report(s, whole, whole->done + cells * terms);
    }
    size_t first = SIZE_MAX;
    for (int w = 0; w < workers; w++) {
        v->cells += c.tally[w].cells;
        v->terms += c.tally[w].cells * c.explain.terms;
        if (c.tally[w].different && c.tally[w].first < first)
            first = c.tally[w].first;
        v->different += c.tally[w].different;
    }
    if (first != SIZE_MAX && !v->first.run)
        v->first = session_ref(side, n, first);
    whole->done += c.count * terms;
    v->nodes++;
    v->probes += (graph_node(g, n)->flags & NODE_PROBE) != 0;
    if (going && graph_node(g, n)->op == OP_MAP)
        verify_map(s, side, n, chosen, c.count, &v->maps);
    free(c.tally);
    free(chosen);
    return going;
}

static bool complete_pass(Session *s, Run *run, Err *err)
{
    while (!run_step_all(run, clock_ns() + REPORT_NS))
        if (s->progress && !s->progress(s->progress_context, "computing", run_progress(run)))
            return err_set(err, "cancelled");
    return true;
}

/* The pass once more, from nothing: its hash. Base is the run that this side's graph shares values with, or NULL. */
static bool second_hash(Session *s, Side side, uint64_t *hash, Err *err)
{
    const Graph *trained = session_exhibit(s, side)->pass.base;
    const Graph *g = session_graph(s, side);
    Run *base = g == trained ? NULL : run_new(trained, NULL, NULL);
    Run *run = run_new(g, base, NULL);
    run_budget(run, 1); /* nothing is kept that was read */
    bool ok = complete_pass(s, run, err) && run_hash(run, hash);
    run_free(run);
    run_free(base);
    return ok;
}

static Whole measure(const Graph *g, size_t sample)
{
    Whole w = {0};
    for (NodeId n = 0; n < g->count; n++) {
        if (!is_checked(graph_node(g, n)))
            continue;
        size_t cells = graph_cells(g, n), terms = graph_dims_cells(g, graph_reduced(g, n));
        w.all += (sample && sample < cells ? sample : cells) * terms;
    }
    return w;
}

/* Leaves that a procedure of the program filled: nothing lists the terms of their cells. */
static size_t count_made(const Graph *g)
{
    size_t made = 0;
    for (NodeId n = 0; n < g->count; n++)
        made += graph_node(g, n)->op == OP_LEAF && graph_node(g, n)->leaf.kind == LEAF_HOST;
    return made;
}

static bool other_routes(Session *s, Side side, size_t sample, Verdict *v, Err *err)
{
    uint64_t again = 0;
    if (!verify_gradients(s, side, &v->gradients, err) || !verify_model(s, side, sample, &v->model, err))
        return false;
    if (sample)
        return true;
    if (!second_hash(s, side, &again, err))
        return false;
    v->different += again != v->hash;
    return true;
}

bool ask_verify(Session *s, Side side, size_t sample, Verdict *v, Err *err)
{
    side = ask_side(side);
    const Graph *g = session_graph(s, side);
    *v = (Verdict){.made = count_made(g)};
    if (!complete_pass(s, session_run(s, side), err) || !session_hash(s, side, &v->hash))
        return false;
    Whole whole = measure(g, sample);
    int64_t start = clock_ns();
    bool going = true;
    for (NodeId n = 0; going && n < g->count; n++) {
        if (!is_checked(graph_node(g, n)))
            continue;
        if (!ask_need_inputs(s, side, n, err))
            return false;
        going = check_node(s, side, n, sample, &whole, v);
        session_trim(s); /* derived values are held only while they are looked at */
    }
    v->complete = going;
    bool ok = !going || other_routes(s, side, sample, v, err);
    v->seconds = (double)(clock_ns() - start) * 1e-9;
    return ok;
}

bool verdict_holds(const Verdict *v)
{
    return v->complete && !v->different && !v->maps.beyond && !v->gradients.beyond && !v->model.beyond;
}

static void put_json_first(const Session *s, Ref r, Buf *out)
{
    if (r.run)
        ask_json_address(out, "first", session_graph(s, (Side)r.run), r);
    else
        json_put_text(out, "first", NULL);
}

static void put_json_route(const Session *s, const char *name, const VerdictRoute *r, Buf *out)
{
    json_open(out, name, '{');
    json_put(out, "nodes", "%zu", r->nodes);
    json_put(out, "cells", "%zu", r->cells);
    json_put(out, "beyond", "%zu", r->beyond);
    json_put_float(out, "worst", (float)r->worst);
    put_json_first(s, r->first, out);
    buf_putc(out, '}');
}

static void put_json(const Session *s, const Verdict *v, Buf *out)
{
    json_open(out, NULL, '{');
    json_put_bool(out, "equal", verdict_holds(v));
    json_put_bool(out, "complete", v->complete);
    json_put(out, "nodes", "%zu", v->nodes);
    json_put(out, "probes", "%zu", v->probes);
    json_put(out, "cells", "%zu", v->cells);
    json_put(out, "terms", "%zu", v->terms);
    json_put(out, "different", "%zu", v->different);
    json_put(out, "seconds", "%.6f", v->seconds);
    put_json_first(s, v->first, out);
    put_json_route(s, "maps", &v->maps, out);
    put_json_route(s, "gradients", &v->gradients, out);
    put_json_route(s, "model", &v->model, out);
    json_put(out, "trace_hash", "\"%016llx\"", (unsigned long long)v->hash);
    buf_puts(out, "}\n");
}

static void put_route(const Session *s, const char *what, const char *against, const VerdictRoute *r, Buf *out)
{
    if (r->why || !r->nodes) {
        buf_printf(out, "%s: not compared%s%s.\n", what, r->why ? ", " : "", r->why ? r->why : "");
        return;
    }
    buf_printf(out, "%s: ", what);
    ask_put_count(out, r->cells);
    buf_printf(out, " cells of %zu tensors against %s: ", r->nodes, against);
    if (!r->beyond) {
        if (r->rounded)
            buf_puts(out, "all within the bound; square roots come nearest to it, which are rounded correctly.\n");
        else
            buf_printf(out, "all within the bound; the largest error is %.0f %% of what is allowed there.\n",
                       100 * r->worst);
        return;
    }
    Buf nan = {0};
    if (r->beyond == r->undefined && ask_nan_begins(s, (Side)r->first.run, &nan)) {
        ask_put_count(out, r->undefined);
        buf_printf(out,
                   " are NaN or infinite on either side and can't be compared, the others are within the bound. %s.\n",
                   buf_str(&nan));
        buf_free(&nan);
        return;
    }
    ask_put_count(out, r->beyond);
    buf_puts(out, " are BEYOND the bound, the first is ");
    address_put(session_graph(s, (Side)r->first.run), r->first.node, r->first.cell, out);
    buf_printf(out, " (the worst %.3g times the bound): the engine is wrong.\n", r->worst);
}

void ask_verify_text(const Session *s, const Verdict *v, Buf *out, bool json)
{
    if (json) {
        put_json(s, v, out);
        return;
    }
    ask_put_count(out, v->cells);
    buf_printf(out, " cells of %zu tensors, %zu of them analyses and gradients, were derived again from ", v->nodes,
               v->probes);
    ask_put_count(out, v->terms);
    buf_printf(out, " terms in %.2f s.\n", v->seconds);
    if (v->first.run) {
        ask_put_count(out, v->different);
        buf_puts(out, " are DIFFERENT, the first is ");
        address_put(session_graph(s, (Side)v->first.run), v->first.node, v->first.cell, out);
        buf_puts(out, ": the engine is wrong.\n");
    } else if (v->different)
        buf_puts(out,
                 "Every cell is equal, but the pass computed a second time has ANOTHER hash: the engine is wrong.\n");
    else
        buf_puts(out, v->complete && v->model.undefined
                          ? "All equal, bit for bit; but not all are numbers, see Model.\n"
                      : v->complete ? "All equal, bit for bit.\n"
                                    : "All equal so far, bit for bit; it was stopped before the end.\n");
    if (v->made)
        buf_printf(
            out, "Not derived: %zu tensors that a procedure fills (principal components, ranks, places of objects).\n",
            v->made);
    if (v->complete) {
        put_route(s, "Maps", "their definitions in double, to the stated error", &v->maps, out);
        put_route(s, "Gradients", "the chain rule in double", &v->gradients, out);
        put_route(s, "Model", "its equations in double, to 2e-5", &v->model, out);
    }
    buf_printf(out, "Trace hash %016llx.\n", (unsigned long long)v->hash);
}

/* The equations of a text model against its run: words, every block of either stack, the answer. */

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
            const Text *text = &session_input(c->s, c->side)->text[k->decoder ? TEXT_TARGET : TEXT_SOURCE];
            seq2seq_direct_embed(&c->m->text, &c->m->weights, k->decoder, run_peek(run, k->words), text->segment,
                                 k->tokens, x);
            verify_compare(c->s, c->side, from, x, c->r);
        }
        int mlp = anatomy_next_in(g, NO_PART, PART_MLP, part);
        NodeId chosen = mlp == NO_PART ? NO_NODE : site_node(g, mlp, SITE_EXPERTS_CHOSEN);
        ok = ok && (chosen == NO_NODE || ask_need(c->s, c->side, chosen, c->err));
        if (ok) {
            seq2seq_direct_block(&c->m->text, &c->m->weights, k->decoder, layer, run_peek(run, from), k->tokens, memory,
                                 chosen == NO_NODE ? NULL : run_peek(run, chosen), x);
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
    NodeId logits = site_node_any(g, SITE_LOGITS), probs = site_node_any(g, SITE_PROBS),
           whole = site_node_any(g, SITE_EMBEDDING);
    if (whole != NO_NODE) {
        double *y = xcalloc(graph_cells(g, whole), sizeof *y);
        bool ok = ask_need(c->s, c->side, whole, c->err);
        seq2seq_direct_sentence(&c->m->text, x, tokens, y);
        if (ok)
            verify_compare(c->s, c->side, whole, y, c->r);
        free(y);
        if (!ok || logits == NO_NODE)
            return ok;
    }
    if (logits == NO_NODE)
        return true;
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
    Stack encoder = {.tokens = 0}, decoder = {.tokens = 0}, *answers = &encoder;
    const bool reads = model_way(m) & MODEL_READS, writes = model_way(m) & MODEL_WRITES;
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
