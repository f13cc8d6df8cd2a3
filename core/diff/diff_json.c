/* A comparison as JSON. */
#include <math.h>
#include <string.h>

#include "core/diff/diff.h"

static void put_key(Buf *out, const char *key, const char *value)
{
    buf_json(out, key);
    buf_putc(out, ':');
    buf_json(out, value);
}

static void put_number(Buf *out, const char *key, double x)
{
    buf_json(out, key);
    if (isfinite(x))
        buf_printf(out, ":%.9g", x);
    else
        buf_puts(out, isnan(x) ? ":\"NaN\"" : x > 0 ? ":\"Infinity\"" : ":\"-Infinity\"");
}

/* The cell's place along each axis, in the order of the node's axes. */
static void put_index(const Graph *g, NodeId node, size_t cell, Buf *out)
{
    int index[DIMS_MAX];
    Dims d = graph_node(g, node)->dims;
    dims_unravel(g->axes, d, cell, index);
    buf_puts(out, ",\"index\":[");
    for (int i = 0; i < d.n; i++)
        buf_printf(out, "%s%d", i ? "," : "", index[i]);
    buf_putc(out, ']');
}

static void put_figures(const DiffNamed *n, NodeId node, const char *key, const DiffFigures *f, Buf *out)
{
    buf_json(out, key);
    buf_puts(out, ":{");
    put_number(out, "largest", f->largest);
    buf_putc(out, ',');
    put_number(out, "rms", f->rms);
    buf_printf(out, ",\"nan_ours\":%zu,\"nan_theirs\":%zu,", f->nan_ours, f->nan_theirs);
    put_number(out, "cosine", f->cosine);
    buf_puts(out, ",\"first\":");
    if (f->any) {
        Buf cell = {0};
        diff_cell(n->s->graph, node, f->first, &cell);
        buf_json(out, buf_str(&cell));
        buf_free(&cell);
        put_index(n->s->graph, node, f->first, out);
    } else
        buf_puts(out, "null,\"index\":null");
    buf_putc(out, '}');
}

static void put_row(const DiffNamed *n, const DiffRow *row, Buf *out)
{
    static const char *const STATES[] = {
        [DIFF_AGREES] = "agrees", [DIFF_INHERITS] = "inherits", [DIFF_BEGINS] = "begins"};
    const DiffTensor *t = row->tensor;
    buf_puts(out, "  {");
    put_key(out, "node", graph_node(n->s->graph, t->node)->path);
    buf_putc(out, ',');
    put_key(out, "recorded", t->name);
    buf_putc(out, ',');
    put_key(out, "axes", t->layout.axes);
    buf_printf(out, ",\"part\":%d,\"parts\":%d,\"batch\":%zu,\"item\":%zu,", t->part, t->parts, t->layout.batch,
               t->item);
    put_key(out, "state", STATES[row->state]);
    buf_putc(out, ',');
    put_figures(n, t->node, "through", &row->through, out);
    buf_putc(out, ',');
    put_figures(n, t->node, "local", &row->local, out);
    buf_putc(out, ',');
    put_number(out, "through_rounding", row->through_rounding.largest);
    buf_putc(out, ',');
    put_number(out, "local_rounding", row->local_rounding.largest);
    buf_putc(out, ',');
    put_number(out, "allowed", row->allowed);
    if (row->state != DIFF_AGREES) {
        buf_putc(out, ',');
        put_number(out, "recorded_value", (double)row->recorded);
        buf_putc(out, ',');
        put_number(out, "here_value", (double)row->here);
    }
    buf_putc(out, '}');
}

static void put_cause(const DiffNamed *n, const DiffCause *c, Buf *out)
{
    buf_puts(out, "  {");
    put_key(out, "node", graph_node(n->s->graph, n->d->row[c->row].tensor->node)->path);
    buf_puts(out, ",\"cause\":");
    if (*c->text && c->whole)
        buf_json(out, c->text);
    else
        buf_puts(out, "null");
    buf_printf(out, ",\"whole\":%s,\"rows\":%d,\"steps\":%d,\"stopped\":%s,", c->whole ? "true" : "false", c->rows,
               c->steps, c->stopped ? "true" : "false");
    buf_puts(out, "\"id\":");
    if (*c->id && c->whole)
        buf_json(out, c->id);
    else
        buf_puts(out, "null");
    int block[SEQ2SEQ_LAYERS_MOST], blocks = diff_cause_blocks(n->d, n->s->graph, c, block, SEQ2SEQ_LAYERS_MOST);
    buf_puts(out, ",\"blocks\":[");
    for (int i = 0; i < blocks; i++)
        buf_printf(out, "%s%d", i ? "," : "", block[i]);
    buf_puts(out, "],");
    put_key(out, "nearest", c->whole ? "" : c->text);
    buf_putc(out, ',');
    put_key(out, "also", c->also);
    buf_putc(out, ',');
    put_key(out, "where", c->where);
    buf_putc(out, ',');
    put_key(out, "also_explains", c->places);
    buf_putc(out, ',');
    put_number(out, "allowed", c->allowed);
    buf_putc(out, ',');
    put_number(out, "error", c->before.largest);
    buf_putc(out, ',');
    put_number(out, "error_with_cause", c->after.largest);
    buf_puts(out, ",\"record_next\":");
    if (*c->dump)
        buf_json(out, c->dump);
    else
        buf_puts(out, "null");
    buf_putc(out, '}');
}

void diff_json(const DiffNamed *n, Buf *out)
{
    const DiffReport *d = n->d;
    buf_puts(out, "{");
    put_key(out, "ours", n->ours);
    buf_putc(out, ',');
    put_key(out, "reference", n->r->name);
    buf_printf(out, ",\"same\":%s,\"rounding\":%s,", d->same ? "true" : "false",
               d->rounding && d->begins + d->inherits ? "true" : "false");
    const DiffCoverage *v = &d->coverage;
    buf_printf(out, "\"coverage\":{\"compared\":%d,\"of\":%d,\"unreadable\":%d,\"output\":%s,", v->nodes, v->of,
               v->unreadable, v->output ? "true" : "false");
    put_key(out, "first", v->nodes ? graph_node(n->s->graph, v->first)->path : "");
    buf_putc(out, ',');
    put_key(out, "last", v->nodes ? graph_node(n->s->graph, v->last)->path : "");
    buf_puts(out, "},");
    put_number(out, "tolerance", n->o->tolerance);
    buf_putc(out, ',');
    put_key(out, "precision", precision_name(n->o->precision));
    buf_putc(out, ',');
    put_key(out, "names", diff_family_name(n->r->family));
    buf_puts(out, ",\"left_out\":[");
    for (int i = 0; i < n->r->unknown_count; i++) {
        buf_puts(out, i ? "," : "");
        buf_json(out, n->r->unknown[i]);
    }
    buf_printf(out, "],\"other_shape\":%d,\"checksums_not_tested\":%d,\n \"tensors\":[\n", n->r->misfits.count,
               n->r->unchecked);
    for (int i = 0; i < d->count; i++) {
        put_row(n, &d->row[i], out);
        buf_puts(out, i + 1 < d->count ? ",\n" : "\n");
    }
    buf_puts(out, " ],\n \"causes\":[\n");
    for (int i = 0; i < d->cause_count; i++) {
        put_cause(n, &d->cause[i], out);
        buf_puts(out, i + 1 < d->cause_count ? ",\n" : "\n");
    }
    buf_puts(out, " ],\n \"hint\":");
    if (*d->hint.text)
        buf_json(out, d->hint.text);
    else
        buf_puts(out, "null");
    buf_puts(out, ",\n \"hint_id\":");
    if (*d->hint.text)
        buf_json(out, d->hint.id);
    else
        buf_puts(out, "null");
    buf_puts(out, ",\n \"verdict\":");
    Buf verdict = {0};
    diff_verdict(n, &verdict);
    buf_json(out, buf_str(&verdict));
    buf_free(&verdict);
    buf_puts(out, "}\n");
}
