/* A comparison as JSON. */
#include <string.h>

#include "core/diff/diff.h"
#include "core/io/json.h"

static void put_list(Buf *out, const char *key, const int *x, int n)
{
    json_open(out, key, '[');
    for (int i = 0; i < n; i++)
        json_put(out, NULL, "%d", x[i]);
    buf_putc(out, ']');
}

/* The first cell that differs: its address, and its index along each axis, in the order of the node's axes. */
static void put_first(const Graph *g, NodeId node, const DiffFigures *f, Buf *out)
{
    Buf cell = {0};
    int index[DIMS_MAX];
    Dims d = graph_node(g, node)->dims;
    if (!f->any) {
        json_put_text(out, "first", NULL);
        json_put_text(out, "index", NULL);
        return;
    }
    diff_cell(g, node, f->first, &cell);
    json_put_text(out, "first", buf_str(&cell));
    buf_free(&cell);
    dims_unravel(g->axes, d, f->first, index);
    put_list(out, "index", index, d.n);
}

static void put_figures(const DiffNamed *n, NodeId node, const char *key, const DiffFigures *f, Buf *out)
{
    json_open(out, key, '{');
    json_put(out, "largest", "%.9g", f->largest);
    json_put(out, "rms", "%.9g", f->rms);
    json_put(out, "nan_ours", "%zu", f->nan_ours);
    json_put(out, "nan_theirs", "%zu", f->nan_theirs);
    json_put(out, "cosine", "%.9g", f->cosine);
    put_first(n->s->graph, node, f, out);
    buf_putc(out, '}');
}

static void put_row(const DiffNamed *n, const DiffRow *row, Buf *out)
{
    static const char *const STATES[] = {
        [DIFF_AGREES] = "agrees", [DIFF_INHERITS] = "inherits", [DIFF_BEGINS] = "begins"};
    const DiffTensor *t = row->tensor;
    json_line(out);
    json_open(out, NULL, '{');
    json_put_text(out, "node", graph_node(n->s->graph, t->node)->path);
    json_put_text(out, "recorded", t->name);
    json_put_text(out, "axes", t->layout.axes);
    json_put(out, "part", "%d", t->part);
    json_put(out, "parts", "%d", t->parts);
    json_put(out, "batch", "%zu", t->layout.batch);
    json_put(out, "item", "%zu", t->item);
    json_put_text(out, "state", STATES[row->state]);
    put_figures(n, t->node, "through", &row->through, out);
    put_figures(n, t->node, "local", &row->local, out);
    json_put(out, "through_rounding", "%.9g", row->through_rounding.largest);
    json_put(out, "local_rounding", "%.9g", row->local_rounding.largest);
    json_put(out, "allowed", "%.9g", row->allowed);
    if (row->state != DIFF_AGREES) {
        json_put(out, "recorded_value", "%.9g", (double)row->recorded);
        json_put(out, "here_value", "%.9g", (double)row->here);
    }
    buf_putc(out, '}');
}

static void put_cause(const DiffNamed *n, const DiffCause *c, Buf *out)
{
    int block[SEQ2SEQ_LAYERS_MOST], blocks = diff_cause_blocks(n->d, n->s->graph, c, block, SEQ2SEQ_LAYERS_MOST);
    json_line(out);
    json_open(out, NULL, '{');
    json_put_text(out, "node", graph_node(n->s->graph, n->d->row[c->row].tensor->node)->path);
    json_put_text(out, "cause", *c->text && c->whole ? c->text : NULL);
    json_put_bool(out, "whole", c->whole);
    json_put(out, "rows", "%d", c->rows);
    json_put(out, "steps", "%d", c->steps);
    json_put_bool(out, "stopped", c->stopped);
    json_put_text(out, "id", *c->id && c->whole ? c->id : NULL);
    put_list(out, "blocks", block, blocks);
    json_put_text(out, "nearest", c->whole ? "" : c->text);
    json_put_text(out, "also", c->also);
    json_put_text(out, "where", c->where);
    json_put_text(out, "also_explains", c->places);
    json_put(out, "factor", "%.9g", c->factor);
    json_put(out, "allowed", "%.9g", c->allowed);
    json_put(out, "error", "%.9g", c->before.largest);
    json_put(out, "error_with_cause", "%.9g", c->after.largest);
    json_put_text(out, "record_next", *c->dump ? c->dump : NULL);
    buf_putc(out, '}');
}

void diff_json(const DiffNamed *n, Buf *out)
{
    const DiffReport *d = n->d;
    const DiffCoverage *v = &d->coverage;
    Buf verdict = {0};
    diff_verdict(n, &verdict);
    json_open(out, NULL, '{');
    json_put_text(out, "ours", n->ours);
    json_put_text(out, "reference", n->r->name);
    json_put_bool(out, "same", d->same);
    json_put_bool(out, "rounding", d->rounding && d->begins + d->inherits);
    json_open(out, "coverage", '{');
    json_put(out, "compared", "%d", v->nodes);
    json_put(out, "of", "%d", v->of);
    json_put(out, "unreadable", "%d", v->unreadable);
    json_put_bool(out, "output", v->output);
    json_put_text(out, "first", v->nodes ? graph_node(n->s->graph, v->first)->path : "");
    json_put_text(out, "last", v->nodes ? graph_node(n->s->graph, v->last)->path : "");
    buf_putc(out, '}');
    json_put(out, "tolerance", "%.9g", n->o->tolerance);
    json_put_text(out, "precision", precision_name(n->o->precision));
    json_put_text(out, "names", diff_family_name(n->r->family));
    json_open(out, "left_out", '[');
    for (int i = 0; i < n->r->unknown_count; i++)
        json_put_text(out, NULL, n->r->unknown[i]);
    buf_putc(out, ']');
    json_put(out, "other_shape", "%d", n->r->misfits.count);
    json_put(out, "checksums_not_tested", "%d", n->r->unchecked);
    json_line(out);
    json_open(out, "tensors", '[');
    for (int i = 0; i < d->count; i++)
        put_row(n, &d->row[i], out);
    buf_puts(out, "\n]");
    json_line(out);
    json_open(out, "causes", '[');
    for (int i = 0; i < d->cause_count; i++)
        put_cause(n, &d->cause[i], out);
    buf_puts(out, "\n]");
    json_line(out);
    json_put_text(out, "hint", *d->hint.text ? d->hint.text : NULL);
    json_line(out);
    json_put_text(out, "hint_id", *d->hint.text ? d->hint.id : NULL);
    json_line(out);
    json_put_text(out, "verdict", buf_str(&verdict));
    buf_puts(out, "}\n");
    buf_free(&verdict);
}
