#include "core/diff/diff_trial.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By how much the rms error must fall for a mistake to be worth a word; how many steps make a stretch long: there the
 * first mistake that is the cause ends the search. */
enum { NEARER = 4, LONG_STEPS = 100 };

void trial_begin(Trial *t)
{
    t->mistake_count = 0;
}

Edit *trial_add(Trial *t, EditKind kind, const char *path)
{
    t->mistake = grow(t->mistake, &t->mistake_cap, (size_t)t->mistake_count, sizeof *t->mistake);
    Edit *e = &t->mistake[t->mistake_count++];
    *e = (Edit){.kind = kind, .path = path, .origin = "a mistake that is tried"};
    return e;
}

/* The graph with the reference's values, the first edits of the mistake, and behind both what rounds; run to be freed
 * with the graph. False when the mistake does not suit the graph. */
static bool open_trial(const Trial *t, int extra, Graph *graph, Run **run)
{
    const Graph *g = t->s->graph;
    int count = t->given_count;
    Edit *edits = xcalloc((size_t)(count + extra + g->count), sizeof *edits);
    memcpy(edits, t->given, (size_t)count * sizeof *edits);
    if (extra)
        memcpy(edits + count, t->mistake, (size_t)extra * sizeof *edits);
    count += extra;
    for (NodeId n = 0; n <= t->target->node && t->o->precision != PRECISION_F32; n++)
        if (t->in[n] && precision_rounds(g, n))
            edits[count++] = precision_edit(g, n, t->o->precision);
    Err err;
    *graph = (Graph){.count = 0};
    bool ok = graph_edit(graph, g, edits, count, &err);
    free(edits);
    if (ok)
        *run = run_new(graph, t->s->run, t->s->pool);
    return ok;
}

static const float *values_of(Trial *t, NodeId n, int mistakes)
{
    Graph graph;
    Run *run;
    bool ok = open_trial(t, mistakes, &graph, &run);
    REQUIRE(ok);
    size_t cells = graph_cells(t->s->graph, n);
    float *copy = arena_alloc(&t->arena, size_mul(cells, sizeof *copy));
    memcpy(copy, run_need(run, graph_find(&graph, graph_node(t->s->graph, n)->path)), cells * sizeof *copy);
    run_free(run);
    graph_free(&graph);
    return copy;
}

const float *trial_values(Trial *t, NodeId n)
{
    return values_of(t, n, 0);
}

const float *trial_values_with(Trial *t, NodeId n)
{
    return values_of(t, n, t->mistake_count);
}

bool trial_has(const Trial *t, NodeId n)
{
    if (n == NO_NODE || n > t->target->node)
        return false;
    for (int i = 0; i < t->given_count; i++)
        if (strcmp(t->given[i].path, graph_node(t->s->graph, n)->path) == 0)
            return true;
    return t->in[n];
}

static bool explains(const Trial *t, const DiffFigures *f)
{
    return f->largest <= DIFF_EXPLAINED * t->allowed && f->rms <= DIFF_EXPLAINED * t->allowed_rms;
}

double trial_judge(Trial *t, const float *values, const char *text)
{
    size_t cells = graph_cells(t->s->graph, t->target->node);
    float *rounded = xfloats(cells);
    precision_round(t->o->precision, values, rounded, cells);
    DiffFigures f = diff_figures(rounded, t->target->values, cells, t->allowed);
    free(rounded);
    bool better = f.rms < t->best.rms;
    if (better && t->any && explains(t, &t->best) && strcmp(t->text, text) != 0) {
        t->second = t->best;
        snprintf(t->also, sizeof t->also, "%s", t->text);
    } else if (!better && t->any && explains(t, &f) && strcmp(t->text, text) != 0 &&
               (!*t->also || f.rms < t->second.rms)) {
        t->second = f;
        snprintf(t->also, sizeof t->also, "%s", text);
    }
    if (better) {
        t->best = f;
        t->any = true;
        snprintf(t->text, sizeof t->text, "%s", text);
    }
    return f.rms;
}

double trial_attempt(Trial *t, const char *fmt, ...)
{
    char text[sizeof t->text];
    Graph graph;
    Run *run;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!t->mistake_count || !open_trial(t, t->mistake_count, &graph, &run))
        return t->before.rms;
    double rms = trial_judge(t, run_need(run, graph_find(&graph, graph_node(t->s->graph, t->target->node)->path)),
                             text);
    run_free(run);
    graph_free(&graph);
    return rms;
}

bool trial_solved(const Trial *t)
{
    return t->any && !t->best.any && t->best.rms <= t->allowed_rms;
}

bool trial_close(const Trial *t)
{
    return t->any && explains(t, &t->best);
}

bool path_ends(const char *path, const char *ending)
{
    size_t n = strlen(path), e = strlen(ending);
    bool attention = strncmp(ending, "attn.", 5) == 0; /* any of a block's */
    return n >= e && strcmp(path + n - e, ending) == 0 &&
           (n == e || path[n - e - 1] == '.' || (attention && path[n - e - 1] == '_'));
}

NodeId trial_find(const Trial *t, const char *ending, NodeId from)
{
    for (NodeId n = from; n <= t->target->node; n++)
        if (t->in[n] && path_ends(graph_node(t->s->graph, n)->path, ending))
            return n;
    return NO_NODE;
}

const char *block_path(Arena *a, const char *path, const char *name)
{
    const char *blocks = strstr(path, "blocks.");
    size_t n = blocks ? (size_t)(blocks - path) + 7 + strcspn(blocks + 7, ".") + 1 : 0;
    size_t own = strcspn(path + n, "."); /* "cross_attn" */
    if (n && strncmp(name, "attn.", 5) == 0 && own > 4 && strncmp(path + n + own - 5, "_attn", 5) == 0)
        return arena_printf(a, "%.*s%.*s%s", (int)n, path, (int)own, path + n, name + 4);
    return arena_printf(a, "%.*s%s", (int)n, path, name);
}

/* --- the whole search --- */

static void (*const FAMILIES[])(Trial *t) = {trial_picture,       trial_axes,      trial_scale,      trial_norm,
                                             trial_activation,    trial_missing,   trial_transposed, trial_heads,
                                             trial_softmax,       trial_mask,      trial_unmasked,   trial_sinusoids,
                                             trial_residual,      trial_patches,   trial_readout,    trial_final_norm,
                                             trial_probabilities, trial_norm_kind, trial_positions,  trial_value,
                                             trial_source,        trial_turned,    trial_dropout,    trial_blocks,
                                             trial_rounded};

/* The reference's values that the stretch reads. */
static void find_edge(Trial *t)
{
    const Graph *g = t->s->graph;
    t->given = xcalloc((size_t)t->r->count + 1, sizeof *t->given);
    bool *reads = xcalloc((size_t)g->count, sizeof *reads);
    for (NodeId n = 0; n <= t->target->node; n++)
        for (int k = 0; t->in[n] && k < op_inputs(graph_node(g, n)->op); k++)
            reads[graph_node(g, n)->in[k]] = true;
    for (int i = 0; i < t->r->count; i++) {
        const DiffTensor *x = &t->r->tensor[i];
        if (reads[x->node] && !t->in[x->node] && (i == 0 || x[-1].node != x->node))
            t->given[t->given_count++] = (Edit){.kind = EDIT_VALUES,
                                                .path = graph_node(g, x->node)->path,
                                                .data = x->values,
                                                .origin = "the reference"};
    }
    free(reads);
}

/* Nodes whose values a person would record: the ends of the stages. */
static bool worth_recording(const Graph *g, NodeId n)
{
    static const char *const NAMES[] = {"image",         "patch_embed",  "full_embed", "ln1.out",
                                        "attn.q",        "attn.k",       "attn.v",     "attn.scores_scaled",
                                        "attn.pattern",  "attn.z",       "attn.out",   "resid_mid",
                                        "ln2.out",       "mlp.pre",      "mlp.post",   "mlp.out",
                                        "resid_post",    "ln_final.out", "readout",    "logits",
                                        "scores_masked", "resid_cross",  "ln3.out",    "embed"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (path_ends(graph_node(g, n)->path, NAMES[i]))
            return true;
    return false;
}

/* Where the stretch is long: the node in its middle. Ends of blocks come first where it spans several. */
static void propose(DiffCause *c, const Trial *t)
{
    const Graph *g = t->s->graph;
    for (int pass = 0; pass < 2; pass++) {
        NodeId found[256];
        int count = 0;
        for (NodeId n = 0; n < t->target->node && count < 256; n++) {
            const char *path = graph_node(g, n)->path;
            if (t->in[n] && worth_recording(g, n) && (pass || path_ends(path, "resid_post")))
                found[count++] = n;
        }
        if (!count)
            continue;
        NodeId n = found[count / 2];
        snprintf(c->dump, sizeof c->dump, "%s", graph_node(g, n)->path);
        if (!diff_name_of(t->r->family, g, n, c->dump_name, sizeof c->dump_name))
            c->dump_name[0] = '\0';
        return;
    }
}

static TrialSizes sizes_of(const DiffSubject *s)
{
    const VitConfig *v = s->config;
    const Seq2seqConfig *t = s->text;
    if (v)
        return (TrialSizes){v->width, v->heads, v->head_dim, v->layers, v->eps, v->scale, v->act, v->post_norm};
    int layers = t->encoder_layers > t->decoder_layers ? t->encoder_layers : t->decoder_layers;
    return (TrialSizes){t->width, t->heads, t->head_dim, layers, t->eps, t->scale, t->act, !t->pre_norm};
}

void diff_cause_find(DiffCause *c, const DiffSubject *s, const DiffReference *r, const DiffOptions *o,
                     const DiffRow *row)
{
    Trial t = {.s = s,
               .size = sizes_of(s),
               .r = r,
               .o = o,
               .target = row->tensor,
               .allowed = row->allowed,
               .allowed_rms = row->allowed_rms,
               .before = row->local,
               .best = row->local};
    if (row->local.nan_theirs || row->local.nan_ours) { /* no mistake that is tried makes NaN: nothing can be nearer */
        c->before = c->after = row->local;
        c->allowed = row->allowed;
        return;
    }
    t.in = xcalloc((size_t)s->graph->count, sizeof *t.in);
    c->steps = diff_segment(s->graph, r, row->tensor->node, t.in);
    find_edge(&t);
    for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES && !(c->steps > LONG_STEPS && trial_solved(&t)); i++)
        if (!o->progress ||
            o->progress(o->context, "looking for the cause", (double)i / (sizeof FAMILIES / sizeof *FAMILIES)))
            FAMILIES[i](&t);
    c->before = t.before;
    c->after = t.best;
    c->whole = trial_close(&t);
    c->allowed = row->allowed;
    /* only an equal is worth naming beside it */
    if (c->whole && *t.also && t.second.rms <= 2 * t.best.rms + t.allowed / 10)
        snprintf(c->also, sizeof c->also, "%s", t.also);
    /* nearer by chance is no cause: a mistake must take most of the difference away */
    if (t.any && (c->whole || t.best.rms < t.before.rms / NEARER))
        snprintf(c->text, sizeof c->text, "%s", t.text);
    if (!c->whole)
        propose(c, &t);
    free(t.in);
    free(t.given);
    free(t.mistake);
    arena_free(&t.arena);
}
