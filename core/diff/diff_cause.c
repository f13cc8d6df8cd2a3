/* The cause of one difference: a stretch of the graph, all mistakes tried in it, the nearest kept, and what to record
 * where none explains it; and where the errors are, when they are in one place. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/utf8.h"
#include "core/diff/diff_trial.h"

/* --- where the errors are --- */

/* The weight of the step where it is linear: x · W, perhaps + b. */
static NodeId weight_of(const Graph *g, NodeId n)
{
    const Node *node = graph_node(g, n);
    while (node->op == OP_VIEW || node->op == OP_ADD) { /* of a sum with the residual stream what is added */
        bool bias = node->op == OP_ADD && graph_node(g, node->in[1])->op == OP_LEAF;
        node = graph_node(g, node->in[node->op == OP_ADD && !bias ? 1 : 0]);
    }
    if (node->op != OP_CONTRACT || graph_node(g, node->in[1])->op != OP_LEAF)
        return NO_NODE;
    return graph_node(g, node->in[1])->leaf.kind == LEAF_TENSOR ? node->in[1] : NO_NODE;
}

/* Errors beyond what is allowed: how many, and the index they all have along each axis, −1 where they differ. */
static size_t common_index(const Graph *g, const DiffTensor *t, const float *ours, double allowed, int common[DIMS_MAX])
{
    Dims d = graph_node(g, t->node)->dims;
    size_t cells = graph_cells(g, t->node), bad = 0;
    double largest = 0;
    for (size_t i = 0; i < cells; i++)
        if (isfinite(t->values[i]) && fabs((double)t->values[i]) > largest)
            largest = fabs((double)t->values[i]);
    for (size_t i = 0; i < cells; i++) {
        int index[DIMS_MAX];
        if (fabs((double)t->values[i] - (double)ours[i]) <= allowed * largest)
            continue;
        dims_unravel(g->axes, d, i, index);
        for (int k = 0; k < d.n; k++)
            common[k] = !bad || common[k] == index[k] ? index[k] : -1;
        bad++;
    }
    return bad;
}

/* Do the errors at those indices stand out of all others? Of an error that is little beyond what is allowed a few cells
 * are above by chance, and the rest is not right. */
static bool stands_out(const Graph *g, const DiffTensor *t, const float *ours, const int common[DIMS_MAX])
{
    const Dims d = graph_node(g, t->node)->dims;
    double inside = 0, outside = 0;
    for (size_t i = 0; i < graph_cells(g, t->node); i++) {
        int index[DIMS_MAX];
        bool here = true;
        dims_unravel(g->axes, d, i, index);
        for (int k = 0; k < d.n; k++)
            here = here && (common[k] < 0 || common[k] == index[k]);
        double *most = here ? &inside : &outside;
        *most = fmax(*most, fabs((double)t->values[i] - (double)ours[i]));
    }
    return inside > TRIAL_NEARER * outside;
}

void diff_where(const Graph *g, const DiffTensor *t, const float *ours, double allowed, char out[200])
{
    Dims d = graph_node(g, t->node)->dims;
    int common[DIMS_MAX];
    size_t bad = common_index(g, t, ours, allowed, common), place = 0;
    bool told = false, tokens = false;
    Buf text = {0};
    out[0] = '\0';
    bad = bad && stands_out(g, t, ours, common) ? bad : 0;
    for (int k = 0; bad && k < d.n; k++) {
        const Axis *a = &g->axes[d.axis[k]];
        char label[64];
        if (a->n < 3 || common[k] < 0)
            continue;
        tokens = tokens || a->kind == AXIS_TOKEN || a->kind == AXIS_PATCH;
        buf_printf(&text, "%s%s=%s", told ? "," : "", a->sym, axis_label(a, common[k], label, sizeof label));
        told = true;
    }
    NodeId w = weight_of(g, t->node);
    Dims columns = w == NO_NODE ? DIMS_SCALAR : dims_minus(d, dims_minus(d, graph_node(g, w)->dims));
    bool row = columns.n > 0; /* all output axes of the weight are the same: one of its rows */
    for (int k = 0; k < columns.n; k++) {
        int at = common[dims_find(d, columns.axis[k])];
        row = row && at >= 0;
        place = place * (size_t)g->axes[columns.axis[k]].n + (size_t)(at < 0 ? 0 : at);
    }
    if (told && bad == 1 && !row)
        snprintf(out, 200, "only the cell %s is wrong", buf_str(&text));
    else if (told && row && !tokens)
        snprintf(out, 200, "all errors are in column %zu (%s): row %zu of %s, or its bias, is different", place,
                 buf_str(&text), place, graph_node(g, w)->path);
    else if (told)
        snprintf(out, 200, "all errors are in %s", buf_str(&text));
    buf_free(&text);
}

/* --- the whole search --- */

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
        if (reads[x->node] && !t->in[x->node] && (i + 1 == t->r->count || x[1].node != x->node))
            t->given[t->given_count++] = (Edit){.kind = EDIT_VALUES,
                                                .path = graph_node(g, x->node)->path,
                                                .data = x->values,
                                                .origin = "the recording"};
    }
    free(reads);
}

/* Floating-point operations of one attempt. */
static double cost_of(const Trial *t)
{
    double flops = 0;
    for (NodeId n = 0; n <= t->target->node; n++)
        flops += t->in[n] ? graph_cost(t->s->graph, n).flops : 0;
    return flops;
}

/* A step of the backward pass: what the forward pass could have otherwise is no cause, its values are compared too. */
static void try_backward(Trial *t)
{
    const Graph *g = t->s->graph;
    for (NodeId n = 0; n <= t->target->node; n++) {
        const char *path = graph_node(g, n)->path, *of = path + sizeof DIFF_GRADIENT - 1;
        if (!t->in[n] || !diff_is_gradient(path) || graph_node(g, n)->op == OP_LEAF || graph_node(g, n)->op == OP_VIEW)
            continue;
        const char *from = strstr(of, ".from.");
        trial_begin(t);
        trial_add(t, EDIT_ZERO, path);
        if (from)
            trial_attempt(t, "no gradient goes from %.*s back to %.*s in the recording", (int)strlen(from + 6),
                          from + 6, (int)(from - of), of);
        else
            trial_attempt(t, "no gradient goes back through %s in the recording", of);
    }
}

bool trial_next_block(const Trial *t, NodeId *from, char out[TRIAL_PREFIX])
{
    for (NodeId n = *from; n <= t->target->node; n++) {
        const Node *node = graph_node(t->s->graph, n);
        const char *at = strstr(node->path, "blocks.");
        size_t length = at ? (size_t)(at - node->path) + 7 + strcspn(at + 7, ".") + 1 : 0;
        if (!t->in[n] || !length || length >= TRIAL_PREFIX || node->op == OP_LEAF || node->op == OP_VIEW ||
            strncmp(out, node->path, length) == 0)
            continue;
        utf8_print(out, TRIAL_PREFIX, "%.*s", (int)length, node->path);
        *from = n + 1;
        return true;
    }
    return false;
}

/* What one mistake in every block does not explain: one in a single block, and two at once. Both multiply the attempts,
 * and are left away (two: those tried on top of the nearest) where that would take minutes. */
static void try_further(Trial *t)
{
    static const double AFFORDED = 4e10; /* operations */
    double cost = t->flops, singles = t->attempts;
    char prefix[TRIAL_PREFIX] = "";
    int blocks = 0;
    for (NodeId n = 0; trial_next_block(t, &n, prefix);)
        blocks++;
    prefix[0] = '\0';
    for (NodeId n = 0;
         blocks > 1 && singles * blocks * cost < AFFORDED && !trial_close(t) && trial_next_block(t, &n, prefix);) {
        t->only = prefix;
        trial_all(t, "the cause in one block?");
    }
    t->only = NULL;
    if (!trial_close(t))
        trial_pairs(t, AFFORDED);
}

/* Nodes whose values a person would record: the ends of the stages. */
static bool worth_recording(const Graph *g, NodeId n)
{
    static const char *const NAMES[] = {"image",         "patch_embed",  "full_embed", "ln1.out",
                                        "attn.q",        "attn.k",       "attn.v",     "attn.scores_scaled",
                                        "attn.pattern",  "attn.z",       "attn.out",   "resid_mid",
                                        "ln2.out",       "mlp.pre",      "mlp.post",   "mlp.out",
                                        "resid_post",    "ln_final.out", "rms1.out",   "rms2.out",
                                        "rms_final.out", "readout",      "logits",     "scores_masked",
                                        "resid_cross",   "ln3.out",      "embed"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (path_ends(graph_node(g, n)->path, NAMES[i]))
            return true;
    return false;
}

/* Are its values recorded under another node, of which it is a view? */
static bool is_given(const Trial *t, NodeId n)
{
    const Graph *g = t->s->graph;
    while (graph_node(g, n)->op == OP_VIEW)
        n = graph_node(g, n)->in[0];
    return diff_reference_find(t->r, n) != NULL;
}

/* Where the stretch is long: the node in its middle, or the nearest to it that the program which recorded has a name
 * for. Ends of blocks come first where it spans several. */
static void propose(DiffCause *c, const Trial *t)
{
    const Graph *g = t->s->graph;
    for (int pass = 0; pass < 2; pass++) {
        NodeId found[256];
        int count = 0;
        for (NodeId n = 0; n < t->target->node && count < 256; n++) {
            const char *path = graph_node(g, n)->path;
            if (t->in[n] && worth_recording(g, n) && (pass || path_ends(path, "resid_post")) && !is_given(t, n))
                found[count++] = n;
        }
        if (!count)
            continue;
        NodeId n = found[count / 2];
        for (int i = 0; i < count && !*c->dump_name && t->r->family != DIFF_OURS; i++) {
            int at = count / 2 + (i % 2 ? -(i + 1) / 2 : i / 2);
            if (at >= 0 && at < count &&
                diff_name_of(&t->r->names, &t->r->map, g, found[at], c->dump_name, sizeof c->dump_name))
                n = found[at];
        }
        snprintf(c->dump, sizeof c->dump, "%s", graph_node(g, n)->path);
        return;
    }
}

/* What tells two causes apart, where it is not recorded. */
static void propose_next(DiffCause *c, Trial *t)
{
    const Graph *g = t->s->graph;
    NodeId n = trial_beside(t, graph_node(g, t->target->node)->path, t->best_next);
    if (n == NO_NODE || n >= t->target->node || diff_reference_find(t->r, n))
        return;
    snprintf(c->dump, sizeof c->dump, "%s", graph_node(g, n)->path);
    diff_name_of(&t->r->names, &t->r->map, g, n, c->dump_name, sizeof c->dump_name);
}

static TrialSizes sizes_of(const DiffSubject *s)
{
    const VitConfig *v = s->config;
    const Seq2seqConfig *t = s->text;
    if (v)
        return (TrialSizes){v->width, v->heads, v->head_dim, v->layers, v->eps, v->scale, v->act, v->post_norm};
    int layers = t->encoder_layers > t->decoder_layers ? t->encoder_layers : t->decoder_layers;
    return (TrialSizes){t->width, t->heads, t->head_dim, layers,
                        t->eps,   t->scale, t->act,      !t->pre_norm && !t->after_norm};
}

Trial trial_new(const DiffSubject *s, const DiffReference *r, const DiffOptions *o, const DiffReport *d,
                const DiffRow *row)
{
    return (Trial){.s = s,
                   .report = d,
                   .size = sizes_of(s),
                   .r = r,
                   .o = o,
                   .target = row->tensor,
                   .allowed = row->allowed,
                   .allowed_rms = row->allowed_rms,
                   .before = row->local,
                   .best = row->local};
}

void trial_open(Trial *t)
{
    t->in = xcalloc((size_t)t->s->graph->count, sizeof *t->in);
    t->steps = diff_segment(t->s->graph, t->r, t->target->node, t->in);
    t->flops = cost_of(t);
    find_edge(t);
}

void trial_free(Trial *t)
{
    free(t->in);
    free(t->given);
    free(t->mistake);
    free(t->single);
    arena_free(&t->arena);
}

/* Does a cause that was found before explain as much as the best? Then it is that: one mistake, not two. */
static void prefer_found(Trial *t)
{
    if (!t->again || t->repeated.rms > 2 * t->best.rms + t->allowed / 10)
        return;
    t->best = t->repeated;
    t->partial = t->same->partial;
    t->also[0] = '\0';
    t->best_next = NULL;
    t->best_only = t->same->only;
    t->best_outside = t->same->block < 0;
    snprintf(t->best_id, sizeof t->best_id, "%s", t->same->id);
    snprintf(t->text, sizeof t->text, "%s", t->same->text);
}

bool diff_no_number(const Graph *g, NodeId n, const DiffFigures *f)
{
    const char *path = graph_node(g, n)->path;
    return f->nan_theirs || f->nan_ours ||
           ((f->inf_theirs || f->inf_ours) && !strstr(path, "scores") && !strstr(path, "mask"));
}

/* What every recorded cell is times what is here, within what is allowed; 0 where there is no such number. */
static double factor_of(const DiffTensor *t, const float *ours, size_t cells, double allowed)
{
    enum { LEAST = 8 }; /* fewer may be so by chance */
    double both = 0, own = 0, largest = 0;
    size_t count = 0;
    for (size_t i = t->skip; i < cells; i++) {
        both += (double)ours[i] * (double)t->values[i];
        own += (double)ours[i] * (double)ours[i];
        largest = fmax(largest, fabs((double)t->values[i]));
        count += ours[i] < 0 || ours[i] > 0;
    }
    const double factor = count >= LEAST && own > 0 ? both / own : 0;
    for (size_t i = t->skip; i < cells; i++)
        if (!(fabs((double)t->values[i] - factor * (double)ours[i]) <= allowed * largest))
            return 0;
    return factor;
}

void diff_cause_find(DiffCause *c, const DiffSubject *s, const DiffReference *r, const DiffOptions *o,
                     const DiffReport *d, const DiffRow *row)
{
    const bool known = s->config || s->text; /* the mistakes that are tried are those of these equations */
    if (!known || c->stopped || diff_no_number(s->graph, row->tensor->node, &row->local)) { /* nothing can be nearer */
        c->before = c->after = row->local;
        c->allowed = row->allowed;
        return;
    }
    Trial t = trial_new(s, r, o, d, row);
    trial_open(&t);
    c->steps = t.steps;
    const NodeId n = row->tensor->node;
    bool backward = diff_is_gradient(graph_node(s->graph, n)->path);
    trial_going(&t, "the cause?", 0);
    c->factor = factor_of(row->tensor, trial_values(&t, n), graph_cells(s->graph, n), row->allowed);
    const bool scaled = c->factor < 0 || c->factor > 0; /* that says enough: no longer search */
    if (backward)
        try_backward(&t);
    else
        trial_all(&t, scaled ? arena_printf(&t.arena, "%.5g times what is here: why?", c->factor) : "the cause?");
    const bool further = !backward && !scaled && !c->accumulated;
    if (further && !trial_close(&t))
        try_further(&t);
    if (further && !trial_close(&t))
        trial_halved(&t);
    prefer_found(&t);
    c->stopped = t.stopped;
    c->unpaired = t.unpaired && !trial_close(&t);
    c->tried = (int)t.attempts;
    c->before = t.before;
    c->after = t.best;
    c->whole = trial_close(&t);
    c->factor = c->whole || t.stopped ? 0 : c->factor;
    c->partial = t.partial;
    c->allowed = row->allowed;
    /* only an equal is worth naming beside it */
    if (c->whole && *t.also && t.second.rms <= 2 * t.best.rms + t.allowed / 10)
        snprintf(c->also, sizeof c->also, "%s", t.also);
    /* nearer by chance is no cause: a mistake must take most of the difference away */
    if (t.any && (c->whole || t.best.rms < t.before.rms / TRIAL_NEARER)) {
        snprintf(c->text, sizeof c->text, "%s", t.text);
        snprintf(c->id, sizeof c->id, "%s", t.best_id);
        c->only = t.best_only;
        c->block = c->whole && t.best_outside ? -1 : c->block; /* it is where the block's input is made */
    }
    if (*c->also && t.best_next)
        propose_next(c, &t);
    if (!c->whole) {
        propose(c, &t);
        if (!t.stopped && !row->tensor->skip && !scaled)
            diff_where(s->graph, row->tensor, trial_values(&t, row->tensor->node), row->allowed, c->where);
        if (!*c->where)
            snprintf(c->where, sizeof c->where, "%s", t.where);
    }
    trial_free(&t);
}
