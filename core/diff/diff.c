#include "core/diff/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/utf8.h"

enum { RMS_CELLS = 64 }; /* fewer say little about their mean */

/* A graph made from ours by edits, with its run and where our nodes are in it. */
typedef struct Overlay {
    Graph graph;
    Run *run;
    NodeId *made; /* the node as it is computed… */
    NodeId *seen; /* …and as the nodes after it see it */
} Overlay;

static void overlay_open(Overlay *v, const DiffSubject *s, const Edit *edits, int count)
{
    Err err;
    *v = (Overlay){.run = NULL};
    bool ok = graph_edit(&v->graph, s->graph, edits, count, &err);
    REQUIRE(ok); /* every edit names a node of the graph */
    v->run = run_new(&v->graph, s->run, s->pool);
    size_t n = (size_t)s->graph->count;
    v->made = xcalloc(n, sizeof *v->made);
    v->seen = xcalloc(n, sizeof *v->seen);
    for (size_t i = 0; i < n; i++)
        v->made[i] = NO_NODE;
    for (NodeId i = 0; i < v->graph.count; i++) {
        NodeId of = graph_node(&v->graph, i)->counterpart;
        if (of == NO_NODE)
            continue;
        v->made[of] = v->made[of] == NO_NODE ? i : v->made[of];
        v->seen[of] = i;
    }
}

static void overlay_close(Overlay *v)
{
    run_free(v->run);
    graph_free(&v->graph);
    free(v->made);
    free(v->seen);
    *v = (Overlay){.run = NULL};
}

/* Every stored node rounded; where have is not NULL, nodes of the reference take given values (rounded values of ours
 * where theirs is false) instead. Edits are a list that the caller frees; values are the arena's. */
static Edit *make_edits(const DiffSubject *s, const DiffReference *given, bool theirs, Precision p, Arena *arena,
                        int *count)
{
    const Graph *g = s->graph;
    Edit *edits = xcalloc((size_t)g->count + 1, sizeof *edits);
    *count = 0;
    for (NodeId n = 0, i = 0; n < g->count; n++) {
        while (given && i < given->count &&
               (given->tensor[i].node < n || /* of several the last is what the next step saw */
                (given->tensor[i].node == n && i + 1 < given->count && given->tensor[i + 1].node == n)))
            i++;
        if (given && i < given->count && given->tensor[i].node == n) {
            size_t cells = graph_cells(g, n);
            const float *data = given->tensor[i].values;
            if (!theirs) {
                float *copy = arena_alloc(arena, size_mul(cells, sizeof *copy));
                precision_round(p, run_need(s->run, n), copy, cells);
                data = copy;
            }
            edits[(*count)++] = (Edit){.kind = EDIT_VALUES,
                                       .path = graph_node(g, n)->path,
                                       .data = data,
                                       .origin = "the recording"};
        } else if (p != PRECISION_F32 && precision_rounds(g, n))
            edits[(*count)++] = precision_edit(g, n, p);
    }
    return edits;
}

static void open_edited(Overlay *v, const DiffSubject *s, const DiffReference *given, bool theirs, Precision p)
{
    Arena arena = {0};
    int count;
    Edit *edits = make_edits(s, given, theirs, p, &arena, &count);
    overlay_open(v, s, edits, count);
    free(edits);
    arena_free(&arena);
}

typedef struct Sides {
    Overlay local;    /* ours on the reference's values */
    Overlay rounded;  /* ours, every stored node rounded */
    Overlay rounding; /* ours on our own values rounded: what that alone makes of a step */
    float *scratch;
} Sides;

static const float *rounded_copy(Sides *v, Precision p, const float *x, size_t cells)
{
    if (p == PRECISION_F32)
        return x;
    precision_round(p, x, v->scratch, cells);
    return v->scratch;
}

const float *diff_need(Run *run, NodeId n, const DiffOptions *o, const char *what, double share)
{
    enum { SLICE_NS = 100000000 };
    while (!run_step(run, n, o->progress ? clock_ns() + SLICE_NS : CLOCK_NEVER))
        if (!o->progress(o->context, what, share))
            return NULL;
    return run_peek(run, n);
}

/* Are all its differences NaN that our step makes of NaN in what was recorded before it, where our own run has none?
 * The recording did not go on from there: nothing begins here. */
static bool follows_nan(const DiffFigures *f, const float *local, const float *ours, const float *theirs, size_t cells,
                        double allowed)
{
    double largest = 0;
    if (!f->nan_ours || f->nan_theirs)
        return false;
    for (size_t i = 0; i < cells; i++)
        if (isfinite(theirs[i]) && fabs((double)theirs[i]) > largest)
            largest = fabs((double)theirs[i]);
    for (size_t i = 0; i < cells; i++)
        if (isnan(local[i]) ? isnan(ours[i]) : fabs((double)local[i] - (double)theirs[i]) > allowed * largest)
            return false;
    return true;
}

/* By what differs in it; counted. */
static void settle(DiffReport *d, DiffRow *row)
{
    row->state = row->local.any ? DIFF_BEGINS : row->through.any ? DIFF_INHERITS : DIFF_AGREES;
    d->begins += row->state == DIFF_BEGINS;
    d->inherits += row->state == DIFF_INHERITS;
}

static const char *path_of(const DiffReport *d, const Graph *g, int row)
{
    return graph_node(g, d->row[row].tensor->node)->path;
}

static void fill_row(DiffRow *row, Sides *v, const DiffSubject *s, const DiffOptions *o)
{
    const DiffTensor *t = row->tensor;
    size_t cells = graph_cells(s->graph, t->node);
    Precision p = o->precision;
    const float *ours = run_need(s->run, t->node);
    const float *x = run_need(v->local.run, v->local.made[t->node]);
    double limit = o->tolerance;
    row->allowed_rms = HUGE_VAL;
    if (p != PRECISION_F32) {
        const float *y = run_need(v->rounding.run, v->rounding.made[t->node]);
        row->local_rounding = diff_figures(rounded_copy(v, p, y, cells), ours, cells, 0);
        limit += DIFF_ROUNDING * row->local_rounding.largest;
        if (cells >= RMS_CELLS)
            row->allowed_rms = o->tolerance + DIFF_ROUNDING_RMS * row->local_rounding.rms;
    }
    row->allowed = limit;
    diff_tensor_fill(t, x); /* what is not recorded is as it follows */
    row->local = diff_tensor_figures(rounded_copy(v, p, x, cells), t, cells, limit);
    if (!row->local.any && row->local.rms > row->allowed_rms) { /* nowhere much, but everywhere */
        row->local.any = true;
        row->local.first = row->local.worst;
    }
    limit = o->tolerance;
    if (p != PRECISION_F32) {
        const float *whole = rounded_copy(v, p, run_need(v->rounded.run, v->rounded.seen[t->node]), cells);
        row->through_rounding = diff_figures(whole, ours, cells, 0);
        limit += DIFF_ROUNDING * row->through_rounding.largest;
        ours = whole;
    }
    row->through = diff_tensor_figures(ours, t, cells, limit);
    if (row->local.any && follows_nan(&row->local, x, ours, t->values, cells, row->allowed))
        row->local.any = false;
    row->recorded = t->values[row->local.any ? row->local.first : row->through.first];
    row->here = row->local.any ? x[row->local.first] : ours[row->through.first];
}

static size_t most_cells(const DiffSubject *s, const DiffReference *r)
{
    size_t most = 1;
    for (int i = 0; i < r->count; i++)
        if (graph_cells(s->graph, r->tensor[i].node) > most)
            most = graph_cells(s->graph, r->tensor[i].node);
    return most;
}

static bool fill_rows(DiffReport *d, const DiffSubject *s, const DiffReference *r, const DiffOptions *o)
{
    Sides v = {.scratch = xfloats(most_cells(s, r))};
    bool go = true;
    open_edited(&v.local, s, r, true, o->precision);
    if (o->precision != PRECISION_F32) {
        open_edited(&v.rounded, s, NULL, false, o->precision);
        open_edited(&v.rounding, s, r, false, o->precision);
    }
    for (int i = 0; go && i < r->count; i++) {
        NodeId n = r->tensor[i].node;
        double share = (double)i / r->count;
        d->row[i].tensor = &r->tensor[i];
        go = (!o->progress || o->progress(o->context, "comparing", share)) &&
             diff_need(s->run, n, o, "comparing", share) &&
             diff_need(v.local.run, v.local.made[n], o, "comparing", share);
        if (go) {
            fill_row(&d->row[i], &v, s, o);
            settle(d, &d->row[i]);
        }
    }
    overlay_close(&v.local);
    overlay_close(&v.rounded);
    overlay_close(&v.rounding);
    free(v.scratch);
    return go;
}

static bool within_drift(const DiffSubject *s, const DiffOptions *o, NodeId n, Run *run, NodeId there,
                         const DiffFigures *f)
{
    if (f->largest > o->tolerance + DIFF_DRIFT) /* more than rounding could be let to explain: nothing is computed */
        return false;
    const float *rounded = diff_need(run, there, o, "comparing", 1);
    double drift = rounded ? diff_figures(rounded, run_need(s->run, n), graph_cells(s->graph, n), 0).largest : 0;
    return drift < 1 && f->largest <= o->tolerance + DIFF_DRIFT * drift;
}

/* Rows of float32 beyond the tolerance that rounding explains: they agree, unless less than that was asked for. */
static void forgive_drift(DiffReport *d, const DiffSubject *s, const DiffReference *r, const DiffOptions *o)
{
    const bool forgives = o->tolerance >= DIFF_TOLERANCE;
    Overlay whole, step;
    open_edited(&whole, s, NULL, false, PRECISION_F16);
    open_edited(&step, s, r, false, PRECISION_F16);
    d->begins = d->inherits = 0;
    d->rounding = true;
    for (int i = 0; i < d->count; i++) {
        DiffRow *row = &d->row[i];
        NodeId n = row->tensor->node;
        const bool local = row->local.any && !within_drift(s, o, n, step.run, step.made[n], &row->local),
                   through = row->through.any && !within_drift(s, o, n, whole.run, whole.seen[n], &row->through);
        d->rounding = d->rounding && !local && !through;
        row->local.any = forgives ? local : row->local.any;
        row->through.any = forgives ? through : row->through.any;
        settle(d, row);
    }
    overlay_close(&whole);
    overlay_close(&step);
}

int diff_segment(const Graph *g, const DiffReference *r, NodeId n, bool *in)
{
    int computed = 0;
    memset(in, 0, (size_t)g->count * sizeof *in);
    in[n] = true;
    for (NodeId i = n; i >= 0; i--) {
        const Node *node = graph_node(g, i);
        if (!in[i])
            continue;
        computed += node->op != OP_LEAF && node->op != OP_VIEW;
        for (int k = 0; k < op_inputs(node->op); k++)
            if (!diff_reference_find(r, node->in[k]))
                in[node->in[k]] = true;
    }
    return computed;
}

/* Paths equal but for the number of the block. */
static bool same_kind(const char *a, const char *b)
{
    size_t prefix = sizeof DIFF_GRADIENT - 1;
    if (diff_is_gradient(a) && diff_is_gradient(b)) {
        a += prefix;
        b += prefix;
    }
    const char *in = strstr(a, "blocks."), *other = strstr(b, "blocks.");
    if (in && other && in - a == other - b && strncmp(a, b, (size_t)(in - a)) == 0) { /* of one stack */
        a = in + 7 + strspn(in + 7, "0123456789");
        b = other + 7 + strspn(other + 7, "0123456789");
    }
    return strcmp(a, b) == 0;
}

/* gradients: the backward pass is compared too. */
static bool is_counted(const Graph *g, NodeId n, bool gradients)
{
    const Node *node = graph_node(g, n);
    if (node->op == OP_LEAF || node->op == OP_VIEW)
        return false;
    return diff_is_gradient(node->path) ? gradients : !(node->flags & NODE_PROBE) && graph_cells(g, n) > 0;
}

/* A view shows what its source computes. */
static NodeId computed_node(const Graph *g, NodeId n)
{
    while (graph_node(g, n)->op == OP_VIEW)
        n = graph_node(g, n)->in[0];
    return n;
}

static void fill_coverage(DiffReport *d, const Graph *g)
{
    DiffCoverage *c = &d->coverage;
    NodeId end = NO_NODE;
    bool *seen = xcalloc((size_t)g->count, sizeof *seen);
    *c = (DiffCoverage){.first = NO_NODE, .last = NO_NODE};
    bool gradients = false;
    for (int i = 0; i < d->count; i++)
        gradients = gradients || diff_is_gradient(path_of(d, g, i));
    for (NodeId n = 0; n < g->count; n++)
        if (is_counted(g, n, gradients)) {
            c->of++;
            end = n;
        }
    static const char *const ENDS[] = {"logits", "embedding", "readout"}; /* what is made of them is hardly recorded */
    for (size_t i = sizeof ENDS / sizeof *ENDS; i-- > 0;)
        if (graph_find(g, ENDS[i]) != NO_NODE)
            end = computed_node(g, graph_find(g, ENDS[i]));
    c->end = end;
    for (int i = 0; i < d->count; i++) {
        NodeId n = computed_node(g, d->row[i].tensor->node);
        if (!is_counted(g, n, gradients) || seen[n])
            continue;
        if (d->row[i].through.numbers == 0 && !d->row[i].through.any) { /* NaN or ∞ everywhere in both */
            c->unreadable++;
            continue;
        }
        seen[n] = true;
        c->nodes++;
        c->first = c->first == NO_NODE ? n : c->first;
        c->last = n;
        c->output = c->output || n >= end;
    }
    free(seen);
}

/* The block's number in a path, −1 of none. */
static int block_of(const char *path)
{
    const char *at = strstr(path, "blocks.");
    return at ? atoi(at + 7) : -1;
}

int diff_cause_blocks(const DiffReport *d, const Graph *g, const DiffCause *c, int *block, int most)
{
    int count = 0;
    const char *path = path_of(d, g, c->row);
    if (c->only >= 0 && most > 0) {
        block[0] = c->only;
        return 1;
    }
    for (int i = 0; i < d->count && !c->accumulated; i++) {
        const char *p = path_of(d, g, i);
        if (d->row[i].state == DIFF_BEGINS && block_of(p) >= 0 && same_kind(path, p) && count < most &&
            (!count || block[count - 1] != block_of(p)))
            block[count++] = block_of(p);
    }
    return count;
}

/* A kind of row that differs: "blocks.*.ln1.out". */
typedef struct Kind {
    const char *path;
    NodeId last; /* a node recorded under several names is one */
    int cause;
} Kind;
enum { KINDS_MOST = 2 * DIFF_CAUSES };

/* The same mistake explains the kind that was found last: one verdict, with both places. */
static bool joins_earlier(DiffReport *d, const char *path)
{
    const DiffCause *c = &d->cause[d->cause_count - 1];
    for (int k = 0; k < d->cause_count - 1 && c->whole; k++) {
        DiffCause *e = &d->cause[k];
        const size_t used = strlen(e->places), room = sizeof e->places - used;
        if (!e->whole || strcmp(e->text, c->text) != 0)
            continue;
        if (!strstr(e->places, "…")) /* no name is cut */
            utf8_print(e->places + used, room, "%s%s", used ? ", " : "", strlen(path) + 8 < room ? path : "…");
        d->cause_count--;
        return true;
    }
    return false;
}

/* Rows of that kind in other blocks that were compared and agree, and the largest error of them. */
static int agreeing(const DiffReport *d, const Graph *g, const char *path, double *largest)
{
    int count = 0, block = -1;
    for (int i = 0; i < d->count; i++) {
        const char *p = path_of(d, g, i);
        bool other = d->row[i].state != DIFF_BEGINS && same_kind(path, p) && strcmp(path, p) != 0;
        count += other && block_of(p) != block;
        block = other ? block_of(p) : block;
        *largest = other ? fmax(*largest, d->row[i].local.largest) : *largest;
    }
    return count;
}

/* Does all that lies between a tensor and those recorded before it belong to its block? */
static bool inside_block(const Graph *g, const DiffReference *r, NodeId n)
{
    bool *in = xcalloc((size_t)g->count, sizeof *in), inside = true;
    diff_segment(g, r, n, in);
    for (NodeId i = 0; i < n; i++)
        inside = inside && (!in[i] || graph_node(g, i)->op == OP_LEAF ||
                            block_of(graph_node(g, i)->path) == block_of(graph_node(g, n)->path));
    free(in);
    return inside;
}

/* No step is beyond what is allowed and a later tensor is: the whole way to the first such is searched at once. */
static void find_accumulated(DiffReport *d, const DiffSubject *s, const DiffReference *r, const DiffOptions *o)
{
    int i = 0;
    while (d->row[i].state != DIFF_INHERITS)
        i++;
    DiffTensor alone = *d->row[i].tensor;
    DiffReference only = *r;
    DiffRow row = d->row[i];
    only.tensor = &alone;
    only.count = 1;
    row.tensor = &alone;
    row.local = row.through;
    row.allowed = o->tolerance + DIFF_ROUNDING * row.through_rounding.largest;
    DiffCause *c = &d->cause[d->cause_count++];
    *c = (DiffCause){.row = i, .rows = 1, .block = -1, .only = -1, .accumulated = true};
    diff_cause_find(c, s, &only, o, NULL, &row);
    c->dump[0] = '\0';
    d->stopped = c->stopped;
}

static void find_causes(DiffReport *d, const DiffSubject *s, const DiffReference *r, const DiffOptions *o)
{
    Kind kind[KINDS_MOST];
    int kinds = 0;
    for (int i = 0; i < d->count; i++) {
        NodeId node = d->row[i].tensor->node;
        if (d->row[i].state != DIFF_BEGINS || (r->misfits.count && node > r->misfits.first))
            continue; /* what is made from a tensor of another shape has its cause there */
        const char *path = graph_node(s->graph, node)->path;
        int known = 0;
        while (known < kinds && !same_kind(path, kind[known].path))
            known++;
        if (known < kinds) {
            bool again = kind[known].last == node;
            if (kind[known].cause >= 0 && !again)
                d->cause[kind[known].cause].rows++;
            kind[known].last = node;
            continue;
        }
        if ((kinds == KINDS_MOST || d->cause_count == DIFF_CAUSES) && ++d->unsearched)
            continue;
        DiffCause *c = &d->cause[d->cause_count++];
        *c = (DiffCause){.row = i, .rows = 1, .stopped = d->stopped, .only = -1};
        c->block = block_of(path);
        c->agreeing = agreeing(d, s->graph, path, &c->faint);
        if (d->cause_count == 1 && diff_cause_loaded(c, s, r, o, d))
            return;
        diff_cause_find(c, s, r, o, d, &d->row[i]);
        if (!c->whole && !inside_block(s->graph, r, node))
            c->block = -1;
        d->stopped = c->stopped;
        kind[kinds++] = (Kind){path, node, joins_earlier(d, path) ? -1 : d->cause_count - 1};
    }
    if (!d->cause_count && d->inherits && !r->misfits.count)
        find_accumulated(d, s, r, o);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Local error of the step in the middle of all; returns of how many. */
static int find_usual(DiffReport *d, const Graph *g)
{
    double *error = xcalloc((size_t)d->count + 1, sizeof *error);
    int count = 0;
    for (int i = 0; i < d->count; i++)
        if (graph_node(g, d->row[i].tensor->node)->op != OP_LEAF && d->row[i].local.numbers)
            error[count++] = d->row[i].local.largest;
    qsort(error, (size_t)count, sizeof *error, by_size);
    d->usual = count ? error[count / 2] : 0;
    free(error);
    return count;
}

/* Everything is within the tolerance: does one step stand out of the others, and does a mistake explain it? Only then a
 * word is said; what is merely larger may be another order of adding. */
static void find_hint(DiffReport *d, int steps, const DiffSubject *s, const DiffReference *r, const DiffOptions *o)
{
    const double far = fmax(DIFF_FAR * d->usual, DIFF_LEAST);
    int at = -1;
    for (int i = d->count - 1; i >= 0; i--)
        if (graph_node(s->graph, d->row[i].tensor->node)->op != OP_LEAF && d->row[i].local.largest > far)
            at = i;
    if (steps < 3 || at < 0 || o->precision != PRECISION_F32 || r->looks != PRECISION_F32)
        return;
    DiffRow row = d->row[at];
    row.allowed = row.local.largest / DIFF_FAR;
    DiffCause c = {.row = at, .rows = 1, .block = -1, .only = -1};
    diff_cause_find(&c, s, r, o, NULL, &row);
    d->stopped = c.stopped;
    if (c.whole && c.after.largest <= row.allowed)
        d->hint = c;
}

/* --- all of it --- */

/* A text that is another one: nothing behind it can be compared, and every cause would be false. */
static bool same_tokens(const DiffSubject *s, const DiffReference *r, Err *err)
{
    enum { SHOWN = 64 };
    for (int i = 0; s->text && i < r->count; i++) {
        const DiffTensor *t = &r->tensor[i];
        const Node *node = graph_node(s->graph, t->node);
        if (node->op != OP_LEAF || node->leaf.kind != LEAF_INPUT || node->dims.n != 1)
            continue;
        const float *ours = run_need(s->run, t->node), *theirs = t->values;
        size_t n = graph_cells(s->graph, t->node), at = 0;
        while (at < n && ours[at] >= theirs[at] && ours[at] <= theirs[at])
            at++;
        if (at == n)
            continue;
        Buf ids = {0};
        for (size_t k = 0; k < n && k < SHOWN; k++)
            buf_printf(&ids, "%s%.9g", k ? "," : "", (double)theirs[k]);
        bool segments = strstr(node->path, "segments") != NULL;
        err_set(err,
                "%s: '%.100s' has other %s than were read here: at position %zu it is %g, here %g. Nothing else can "
                "be compared: leave -i out, or give what it read (%s%s%s)",
                r->name, t->name, segments ? "segments" : "tokens", at, (double)theirs[at], (double)ours[at],
                segments ? "two segments with | between them, such as ids:101,7 | ids:8,102; here " : "", buf_str(&ids),
                n > SHOWN ? ",…" : "");
        buf_free(&ids);
        return false;
    }
    return true;
}

/* Of a recording whose computed tensors all have other names. */
static bool unknown_alone(const DiffReference *r, Err *err)
{
    enum { NAMED = 3 };
    Buf names = {0};
    for (int i = 0; i < r->unknown_count && i < NAMED; i++)
        buf_printf(&names, "%s%.80s", i ? ", " : "", r->unknown[i]);
    err_set(
        err,
        "%s: nothing was compared but inputs: %d tensor%s no name that is known here (%s%s). Lines NAME = NODE in a "
        "file for --map say what they are; `vitrine info --nodes` lists the nodes",
        r->name, r->unknown_count, r->unknown_count == 1 ? " has" : "s have", buf_str(&names),
        r->unknown_count > NAMED ? ", …" : "");
    buf_free(&names);
    return false;
}

bool diff_compare(DiffReport *out, const DiffSubject *s, const DiffReference *r, const DiffOptions *o, Err *err)
{
    *out = (DiffReport){.count = 0};
    if (!same_tokens(s, r, err) || !diff_counted_from_zero(r, s->graph, s->run, o->tolerance, err))
        return false;
    *out = (DiffReport){.count = r->count, .row = xcalloc((size_t)r->count, sizeof *out->row)};
    if (!fill_rows(out, s, r, o)) {
        diff_report_free(out);
        return err_set(err, "cancelled");
    }
    if (out->begins + out->inherits && o->precision == PRECISION_F32)
        forgive_drift(out, s, r, o);
    const int steps = find_usual(out, s->graph);
    find_causes(out, s, r, o);
    out->same = out->begins == 0 && out->inherits == 0 && !r->misfits.count;
    if (out->same)
        find_hint(out, steps, s, r, o);
    fill_coverage(out, s->graph);
    if (out->same && !out->coverage.nodes) {
        bool numbers = !out->coverage.unreadable;
        diff_report_free(out);
        if (r->unknown_count)
            return unknown_alone(r, err);
        return err_set(err,
                       numbers ? "%s: it holds inputs only and nothing that the model computes, so nothing was "
                                 "compared: record the logits at least"
                               : "%s: every computed value is NaN or infinite, in it and here, so nothing was "
                                 "compared: check the input first",
                       r->name);
    }
    return true;
}

void diff_report_free(DiffReport *d)
{
    free(d->row);
    *d = (DiffReport){.count = 0};
}
