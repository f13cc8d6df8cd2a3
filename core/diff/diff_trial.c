#include "core/diff/diff_trial.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"

void trial_begin(Trial *t)
{
    t->mistake_count = 0;
    t->made = false;
}

Edit *trial_add(Trial *t, EditKind kind, const char *path)
{
    t->mistake = grow(t->mistake, &t->mistake_cap, (size_t)t->mistake_count, sizeof *t->mistake);
    Edit *e = &t->mistake[t->mistake_count++];
    *e = (Edit){.kind = kind, .path = path, .origin = "a mistake that is tried"};
    return e;
}

static bool begins(const char *path, const char *with)
{
    return with && strncmp(path, with, strlen(with)) == 0;
}

/* The graph with the reference's values, but for those in a block `without`, the mistake that is made already, the
 * first edits of the one that is tried, another edit where there is one, and behind all what rounds. Run to be freed
 * with the graph. False when the mistake does not suit the graph. */
static bool open_trial(const Trial *t, int extra, const Edit *other, const char *without, Graph *graph, Run **run)
{
    const Graph *g = t->s->graph;
    int based = t->base ? t->base->count : 0;
    Edit *edits = xcalloc((size_t)(t->given_count + based + extra + 1 + g->count), sizeof *edits);
    int count = 0;
    for (int i = 0; i < t->given_count; i++)
        if (!begins(t->given[i].path, without))
            edits[count++] = t->given[i];
    if (based)
        memcpy(edits + count, t->base->edit, (size_t)based * sizeof *edits);
    count += based;
    if (extra)
        memcpy(edits + count, t->mistake, (size_t)extra * sizeof *edits);
    count += extra;
    if (other)
        edits[count++] = *other;
    for (NodeId n = 0; n <= t->target->node && t->o->precision != PRECISION_F32; n++)
        if ((t->in[n] || begins(graph_node(g, n)->path, without)) && precision_rounds(g, n))
            edits[count++] = precision_edit(g, n, t->o->precision);
    Err err;
    *graph = (Graph){.count = 0};
    bool ok = graph_edit(graph, g, edits, count, &err);
    free(edits);
    if (ok)
        *run = run_new(graph, t->s->run, t->s->pool);
    return ok;
}

/* Our node n in the trial's graph, behind its edits. */
static NodeId node_in(const Graph *graph, NodeId n)
{
    for (NodeId i = graph->count - 1; i >= 0; i--)
        if (graph_node(graph, i)->counterpart == n)
            return i;
    UNREACHABLE("a node that the edited graph lacks");
}

static const float *values_of(Trial *t, NodeId n, int mistakes, const Edit *other, const char *without)
{
    Graph graph;
    Run *run;
    bool ok = open_trial(t, mistakes, other, without, &graph, &run);
    REQUIRE(ok);
    size_t cells = graph_cells(t->s->graph, n);
    float *copy = arena_alloc(&t->arena, size_mul(cells, sizeof *copy));
    const float *values = t->stopped ? NULL : diff_need(run, node_in(&graph, n), t->o, t->what, t->share);
    t->stopped = !values;
    if (values)
        memcpy(copy, values, cells * sizeof *copy);
    else
        memset(copy, 0, cells * sizeof *copy); /* nothing is made of them */
    run_free(run);
    graph_free(&graph);
    return copy;
}

const float *trial_values(Trial *t, NodeId n)
{
    return values_of(t, n, 0, NULL, NULL);
}

const float *trial_values_with(Trial *t, NodeId n)
{
    return values_of(t, n, t->mistake_count, NULL, NULL);
}

const float *trial_with(Trial *t, const char *block, NodeId n, NodeId at, const float *values)
{
    Edit e = {.kind = EDIT_VALUES, .path = graph_node(t->s->graph, at)->path, .data = values, .origin = "a mistake"};
    return values_of(t, n, t->mistake_count, &e, block);
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

static bool within(const Trial *t, const DiffFigures *f)
{
    return f->largest <= DIFF_EXPLAINED * t->allowed && f->rms <= DIFF_EXPLAINED * t->allowed_rms;
}

/* …and most of the difference is gone: one that is little beyond what is allowed is within it whatever is tried. */
static bool explains(const Trial *t, const DiffFigures *f)
{
    return within(t, f) && f->rms * TRIAL_NEARER <= t->before.rms;
}

/* Of so many attempts, would one leave so little by luck? Then the recording is too short to say anything. */
static bool beyond_chance(const Trial *t, const DiffFigures *f, size_t cells)
{
    enum { INDEPENDENT = 256, CERTAINTY = 1000 };
    if (t->before.largest > 1e30)
        return false;
    double left = f->largest > t->allowed ? f->largest : t->allowed;
    double bits = (double)(cells < INDEPENDENT ? cells : INDEPENDENT) * dm_log(t->before.largest / left);
    return bits > dm_log(CERTAINTY * (t->attempts + 1));
}

/* What is tried, in words. */
static void word(const Trial *t, const char *what, char out[DIFF_WORDS])
{
    if (t->base)
        utf8_print(out, DIFF_WORDS, "two mistakes at once: %.140s; and %.140s", t->base->text, what);
    else if (t->only)
        utf8_print(out, DIFF_WORDS, "%.250s, in %.*s alone", what, (int)strlen(t->only) - 1, t->only);
    else
        snprintf(out, DIFF_WORDS, "%s", what);
}

bool trial_fits(Trial *t, DiffFigures *out)
{
    ArenaMark mark = arena_mark(&t->arena);
    size_t cells = graph_cells(t->s->graph, t->target->node);
    const float *values = trial_values_with(t, t->target->node);
    float *rounded = xfloats(cells);
    precision_round(t->o->precision, values, rounded, cells);
    *out = diff_tensor_figures(rounded, t->target, cells, t->allowed);
    free(rounded);
    arena_rewind(&t->arena, mark);
    return !t->stopped && within(t, out);
}

static void keep_id(Trial *t)
{
    const char *block = t->only ? strstr(t->only, "blocks.") : NULL;
    if (t->base)
        utf8_print(t->best_id, sizeof t->best_id, "two:%s+%s", t->base->family, t->family);
    else
        utf8_print(t->best_id, sizeof t->best_id, "%s", *t->id ? t->id : "gradient");
    t->best_only = block && block[7] ? atoi(block + 7) : -1;
    t->best_outside = t->mistake_count > 0;
    for (int i = 0; i < t->mistake_count; i++)
        t->best_outside = t->best_outside && !strstr(t->mistake[i].path, "blocks.");
}

const DiffCause *trial_found(const Trial *t, const char *text)
{
    for (int i = 0; t->report && i < t->report->cause_count; i++)
        if (t->report->cause[i].whole && strcmp(t->report->cause[i].text, text) == 0)
            return &t->report->cause[i];
    return NULL;
}

/* One mistake that is known is likelier than another that leaves as much. */
static void keep_found(Trial *t, const DiffFigures *f, const char *text)
{
    const DiffCause *found = explains(t, f) ? trial_found(t, text) : NULL;
    if (!found || (t->again && t->repeated.rms <= f->rms))
        return;
    t->again = true;
    t->repeated = *f;
    t->same = found;
}

double trial_judge(Trial *t, const float *values, const char *what)
{
    if (t->stopped)
        return t->before.rms;
    size_t cells = graph_cells(t->s->graph, t->target->node);
    char text[DIFF_WORDS];
    float *rounded = xfloats(cells);
    precision_round(t->o->precision, values, rounded, cells);
    DiffFigures f = diff_tensor_figures(rounded, t->target, cells, t->allowed);
    free(rounded);
    t->attempts++;
    if ((t->base || t->only || t->strict) && (!explains(t, &f) || !beyond_chance(t, &f, cells - t->target->skip)))
        return f.rms; /* of so many only what explains is worth a word */
    word(t, what, text);
    keep_found(t, &f, text);
    /* what explains as much without a number that was searched comes first */
    const bool plain = t->best_fitted && !t->fitting && !t->fit && explains(t, &f) &&
                       f.rms <= 2 * t->best.rms + t->allowed / 10;
    bool better = f.rms < t->best.rms || plain,
         other = !t->fitting && !t->fit && !strstr(t->text, text) && !strstr(text, t->text);
    if (better && t->any && explains(t, &t->best) && other) {
        t->second = t->best;
        snprintf(t->also, sizeof t->also, "%s", t->text);
    } else if (!better && t->any && explains(t, &f) && other && (!*t->also || f.rms < t->second.rms)) {
        t->second = f;
        snprintf(t->also, sizeof t->also, "%s", text);
    }
    if (better) {
        t->best = f;
        t->any = true;
        t->best_fitted = t->fitting || t->fit;
        t->best_next = t->next;
        keep_id(t);
        snprintf(t->text, sizeof t->text, "%s", text);
    }
    return f.rms;
}

bool trial_wanted(const Trial *t, const char *text)
{
    return !t->wanted || strcmp(t->wanted, text) == 0;
}

static bool go_on(Trial *t)
{
    t->stopped = t->stopped || (t->o->progress && !t->o->progress(t->o->context, t->what, t->share));
    return !t->stopped;
}

bool trial_going(Trial *t, const char *what, double share)
{
    utf8_print(t->what, sizeof t->what, "%.50s differs (%.1e): %s", graph_node(t->s->graph, t->target->node)->path,
               t->before.largest, what);
    t->share = share;
    return go_on(t);
}

double trial_attempt(Trial *t, const char *fmt, ...)
{
    char text[sizeof t->text];
    Graph graph;
    Run *run;
    va_list ap;
    va_start(ap, fmt);
    utf8_vprint(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!t->mistake_count || !trial_wanted(t, text) || !go_on(t))
        return t->before.rms;
    double left;
    if ((t->fitting || t->decided) && !trial_first_follows(t, &left)) {
        t->attempts++;
        return t->last = t->before.rms * left;
    }
    if (!open_trial(t, t->mistake_count, NULL, NULL, &graph, &run))
        return t->before.rms;
    const float *values = diff_need(run, node_in(&graph, t->target->node), t->o, t->what, t->share);
    t->stopped = !values;
    t->last = trial_judge(t, values, text);
    if (values)
        trial_keep(t, values, t->last, text);
    run_free(run);
    graph_free(&graph);
    return t->last;
}

void trial_prove(Trial *t, const DiffFigures *f, const char *text, bool partial)
{
    if (t->stopped || !explains(t, f))
        return;
    t->best = *f;
    t->any = true;
    t->partial = partial;
    t->also[0] = '\0';
    keep_id(t);
    snprintf(t->text, sizeof t->text, "%s", text);
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

bool trial_here(const Trial *t, const char *path)
{
    return !t->only || strncmp(path, t->only, strlen(t->only)) == 0;
}

static NodeId find(const Trial *t, const char *ending, NodeId from, bool edge)
{
    for (NodeId n = from; n <= t->target->node; n++) {
        const char *path = graph_node(t->s->graph, n)->path;
        if (path_ends(path, ending) && trial_here(t, path) && (edge ? trial_has(t, n) : t->in[n]))
            return n;
    }
    return NO_NODE;
}

NodeId trial_find(const Trial *t, const char *ending, NodeId from)
{
    return find(t, ending, from, false);
}

NodeId trial_find_edge(const Trial *t, const char *ending, NodeId from)
{
    return find(t, ending, from, true);
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

NodeId trial_beside(Trial *t, const char *path, const char *name)
{
    return graph_find(t->s->graph, block_path(&t->arena, path, name));
}

TrialBeside trial_row_beside(Trial *t, const char *name)
{
    const NodeId n = trial_beside(t, graph_node(t->s->graph, t->target->node)->path, name);
    for (int i = 0; t->report && n != NO_NODE && i < t->report->count; i++)
        if (t->report->row[i].tensor->node == n)
            return t->report->row[i].state == DIFF_BEGINS ? BESIDE_DIFFERS : BESIDE_AGREES;
    return BESIDE_UNKNOWN;
}

const float *trial_known(Trial *t, NodeId n)
{
    while (n != NO_NODE && !diff_reference_find(t->r, n) && graph_node(t->s->graph, n)->op == OP_VIEW)
        n = graph_node(t->s->graph, n)->in[0];
    const DiffTensor *x = n == NO_NODE ? NULL : diff_reference_find(t->r, n);
    return x && n != t->target->node ? x->values : trial_has(t, n) ? trial_values_with(t, n) : NULL;
}

static bool ends_in_one(const char *path, const char *endings)
{
    char word[TRIAL_WORD];
    while (trial_word(&endings, word))
        if (path_ends(path, word))
            return true;
    return false;
}

void trial_each(Trial *t, const char *endings, bool edge, TrialMake *make, const void *context, const char *text)
{
    const Graph *g = t->s->graph;
    trial_begin(t);
    if (!trial_wanted(t, text))
        return;
    t->made = true;
    for (NodeId n = 0; n <= t->target->node; n++) {
        const char *path = graph_node(g, n)->path;
        if (!ends_in_one(path, endings) || !trial_here(t, path) || !(edge ? trial_has(t, n) : t->in[n]))
            continue;
        float *out = arena_alloc(&t->arena, size_mul(graph_cells(g, n), sizeof *out));
        if (!make(t, n, context, out))
            return;
        trial_add(t, EDIT_VALUES, graph_node(g, n)->path)->data = out;
    }
    trial_attempt(t, "%s", text);
}
