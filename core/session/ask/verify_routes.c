/* What folding terms can't find: a map that is wrong in the source which both share, a rule for gradients that is
 * wrong, a graph that is another model's. Each is compared with what was written down a second time, in double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/graph/anatomy.h"
#include "core/graph/grad.h"
#include "core/kernels/map_exact.h"
#include "core/models/direct.h"
#include "core/session/ask/ask_parts.h"
#include "core/session/exhibit.h"

enum { PART = 4096, REPORT_NS = 100000000, READERS = 256, TOKENS_SAMPLED = 4 };
static const double MODEL_BOUND = 2e-5; /* of the tensor's largest value: what float32 makes of one block at most */

/* Notes a comparison: error in units of what is allowed, beyond 1 is wrong. */
static void verify_note(VerdictRoute *r, Side side, NodeId n, size_t cell, double error)
{
    if (isnan(error)) {
        error = (double)INFINITY;
        r->undefined++;
    }
    r->cells++;
    if (error > r->worst)
        r->worst = error;
    if (!(error > 1))
        return;
    if (!r->beyond)
        r->first = session_ref(side, n, cell);
    r->beyond++;
}

/* --- maps --- */

typedef struct MapCheck {
    MapFn f;
    const float *x, *y;
    const size_t *chosen;
    size_t count;
    double *error; /* [count], in units of the bound */
} MapCheck;

static void check_maps(void *context, size_t item, int worker)
{
    const MapCheck *c = context;
    size_t end = (item + 1) * PART < c->count ? (item + 1) * PART : c->count;
    double bound = map_bound(c->f);
    (void)worker;
    for (size_t i = item * PART; i < end; i++) {
        size_t cell = c->chosen ? c->chosen[i] : i;
        double error = map_error(c->f, c->x[cell], c->y[cell]);
        c->error[i] = bound > 0 ? error / bound : error > 0 ? (double)INFINITY : 0;
    }
}

void verify_map(Session *s, Side side, NodeId n, const size_t *chosen, size_t count, VerdictRoute *r)
{
    const Run *run = session_run(s, side);
    const Node *node = graph_node(session_graph(s, side), n);
    MapCheck c = {node->map, run_peek(run, node->in[0]), run_peek(run, n), chosen, count, NULL};
    c.error = xcalloc(count + 1, sizeof *c.error);
    pool_run(s->pool, 0, (count + PART - 1) / PART, check_maps, &c, CLOCK_NEVER);
    const double before = r->worst;
    for (size_t i = 0; i < count; i++)
        verify_note(r, side, n, chosen ? chosen[i] : i, c.error[i]);
    if (r->worst > before)
        r->rounded = map_bound(node->map) <= 0.5;
    r->nodes++;
    free(c.error);
}

/* --- gradients --- */

static bool need_readers(Session *s, Side side, NodeId gradient, const NodeId *reader, int count, Err *err)
{
    const Graph *g = session_graph(s, side);
    bool ok = ask_need(s, side, gradient, err) != NULL;
    for (int i = 0; ok && i < count; i++)
        ok = ask_need_inputs(s, side, reader[i], err) &&
             ask_need(s, side, adjoint_gradient(g, reader[i], "grad."), err);
    return ok;
}

static bool check_gradient(Session *s, Side side, NodeId n, NodeId gradient, VerdictRoute *r, Err *err)
{
    const Graph *g = session_graph(s, side);
    NodeId reader[READERS];
    int count = adjoint_readers(g, n, "grad.", reader, READERS);
    if (!need_readers(s, side, gradient, reader, count, err))
        return false;
    const Run *run = session_run(s, side);
    const float *x = run_peek(run, gradient);
    size_t cells = graph_cells(g, n);
    r->nodes++;
    if (!count) { /* what the gradients are of: 1 where it was asked about, 0 elsewhere */
        for (size_t i = 0; i < cells; i++)
            verify_note(r, side, gradient, i, x[i] == 0.0f || x[i] == 1.0f ? 0 : (double)INFINITY);
        session_trim(s);
        return true;
    }
    Adjoint a;
    adjoint_of(g, n, "grad.", reader, count, ask_values, run, &a);
    for (size_t i = 0; i < cells; i++) {
        double off = fabs((double)x[i] - a.sum[i]);
        bool odd = !isfinite(x[i]) && !isfinite(a.sum[i]); /* both say that there is none */
        verify_note(r, side, gradient, i, odd || off == 0 ? 0 : off / adjoint_bound(&a, i));
    }
    adjoint_free(&a);
    session_trim(s);
    return true;
}

bool verify_gradients(Session *s, Side side, VerdictRoute *r, Err *err)
{
    const Graph *g = session_graph(s, side);
    if (graph_find(g, "grad.seed") == NO_NODE)
        r->why = "there are none; --gradient or the command `gradient` adds them";
    for (NodeId n = 0; n < g->count && !r->why; n++) {
        NodeId gradient = strncmp(graph_node(g, n)->path, "grad.", 5) == 0 ? NO_NODE : adjoint_gradient(g, n, "grad.");
        if (gradient == NO_NODE)
            continue;
        if (!check_gradient(s, side, n, gradient, r, err))
            return false;
        if (s->progress && !s->progress(s->progress_context, "verifying gradients", (double)n / (double)g->count))
            return err_set(err, "cancelled");
    }
    return true;
}

/* --- the model --- */

typedef struct ModelCheck {
    VitDirectBlock *block;
    size_t width;
    const size_t *token; /* which tokens, [count] */
    double *out;         /* [count, width] */
} ModelCheck;

static void keys_item(void *context, size_t item, int worker)
{
    (void)worker;
    vit_direct_keys(((ModelCheck *)context)->block, (int)item);
}

static void token_item(void *context, size_t item, int worker)
{
    ModelCheck *c = context;
    (void)worker;
    vit_direct_token(c->block, (int)c->token[item], c->out + item * c->width);
}

/* Compares rows of node n with out: token[count] of them, or all cells at once. */
static void compare(Session *s, Side side, NodeId n, const size_t *token, size_t count, size_t width, const double *out,
                    VerdictRoute *r)
{
    const float *x = run_peek(session_run(s, side), n);
    size_t cells = graph_cells(session_graph(s, side), n);
    double most = 0;
    for (size_t i = 0; i < cells; i++)
        most = fabs((double)x[i]) > most ? fabs((double)x[i]) : most;
    for (size_t i = 0; i < count * width; i++) {
        size_t cell = token ? token[i / width] * width + i % width : i;
        double off = fabs((double)x[cell] - out[i]);
        verify_note(r, side, n, cell, off == 0 ? 0 : off / (MODEL_BOUND * most));
    }
    r->nodes++;
}

void verify_compare(Session *s, Side side, NodeId n, const double *out, VerdictRoute *r)
{
    compare(s, side, n, NULL, 1, graph_cells(session_graph(s, side), n), out, r);
}

static bool step(Session *s, PoolFn fn, ModelCheck *c, size_t items, int layer, Err *err)
{
    for (size_t next = 0; next < items;) {
        next = pool_run(s->pool, next, items, fn, c, clock_ns() + REPORT_NS);
        if (s->progress && !s->progress(s->progress_context, "verifying the model",
                                        (layer + (double)next / (double)items) / s->model.vit.layers))
            return err_set(err, "cancelled");
    }
    return true;
}

static bool check_block(Session *s, Side side, int layer, const size_t *token, size_t count, VerdictRoute *r, Err *err)
{
    const VitConfig *c = &s->model.vit;
    const Graph *g = session_graph(s, side);
    int part = anatomy_block(g, NULL, layer);
    NodeId from = site_node(g, part, SITE_RESID_PRE), to = site_node(g, part, SITE_BLOCK_OUT);
    if (from == NO_NODE || to == NO_NODE || !ask_need(s, side, from, err) || !ask_need(s, side, to, err))
        return false;
    VitDirectBlock block = vit_direct_block(c, &s->model.weights, layer, run_peek(session_run(s, side), from));
    ModelCheck check = {&block, (size_t)c->width, token, xcalloc(size_mul(count, (size_t)c->width), sizeof(double))};
    bool ok = step(s, keys_item, &check, (size_t)vit_tokens(c), layer, err) &&
              step(s, token_item, &check, count, layer, err);
    if (ok)
        compare(s, side, to, token, count, (size_t)c->width, check.out, r);
    free(check.out);
    vit_direct_block_free(&block);
    session_trim(s);
    return ok;
}

static bool check_ends(Session *s, Side side, VerdictRoute *r, Err *err)
{
    const VitConfig *c = &s->model.vit;
    const Graph *g = session_graph(s, side);
    size_t width = (size_t)c->width, tokens = (size_t)vit_tokens(c), classes = (size_t)c->classes;
    NodeId first = site_node(g, anatomy_block(g, NULL, 0), SITE_RESID_PRE),
           to = site_node(g, anatomy_block(g, NULL, c->layers - 1), SITE_BLOCK_OUT),
           logits = site_node_any(g, SITE_LOGITS), probs = site_node_any(g, SITE_PROBS),
           embedding = site_node_any(g, SITE_EMBEDDING);
    size_t wide = embedding == NO_NODE ? 0 : graph_cells(g, embedding);
    double *z = xcalloc(size_mul(tokens, width) + 2 * classes + wide + 1, sizeof *z), *answer = z + tokens * width;
    bool ok = first != NO_NODE && to != NO_NODE && ask_need(s, side, first, err) && ask_need(s, side, to, err) &&
              (logits == NO_NODE || (ask_need(s, side, logits, err) && ask_need(s, side, probs, err))) &&
              (embedding == NO_NODE || ask_need(s, side, embedding, err));
    if (ok) {
        vit_direct_embed(c, &s->model.weights, session_input(s, side)->values, z);
        compare(s, side, first, NULL, tokens, width, z, r);
        if (logits != NO_NODE) {
            vit_direct_answer(c, &s->model.weights, run_peek(session_run(s, side), to), answer, answer + classes);
            compare(s, side, logits, NULL, 1, classes, answer, r);
            compare(s, side, probs, NULL, 1, classes, answer + classes, r);
        }
        if (embedding != NO_NODE) {
            vit_direct_embedding(c, &s->model.weights, run_peek(session_run(s, side), to), answer);
            compare(s, side, embedding, NULL, 1, wide, answer, r);
        }
    }
    free(z);
    return ok;
}

bool verify_model(Session *s, Side side, size_t sample, VerdictRoute *r, Err *err)
{
    const Exhibit *e = session_exhibit(s, side);
    const VitConfig *c = &s->model.vit;
    if (!model_equations(e->model)) {
        r->why = "there is none, or none whose equations are written out";
        return true;
    }
    if (session_graph(s, side) != e->pass.base) {
        r->why = "it knows no edits; undone, the run is compared";
        return true;
    }
    if (model_way(e->model))
        return verify_text_model(s, side, e->model, r, err);
    size_t tokens = (size_t)vit_tokens(c), count = tokens;
    size_t *token = xcalloc(tokens, sizeof *token);
    if (sample && sample < tokens)
        count = TOKENS_SAMPLED < tokens ? TOKENS_SAMPLED : tokens;
    for (size_t i = 0; i < count; i++) /* the first and the last among them */
        token[i] = count < tokens ? i * (tokens - 1) / (count - 1) : i;
    bool ok = check_ends(s, side, r, err);
    for (int layer = 0; ok && layer < c->layers; layer++)
        ok = check_block(s, side, layer, token, count, r, err);
    free(token);
    return ok;
}
