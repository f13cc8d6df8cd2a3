/* `info`: what is loaded, what it costs, what had to be assumed, on which machine. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/utf8.h"
#include "core/graph/run.h"
#include "core/session/ask/ask.h"
#include "core/session/ask/ask_parts.h"
#include "core/session/input.h"
#include "core/session/learned/gradient.h"

/* One list of facts, written as lines or as the members of a JSON object. */
typedef struct Facts {
    Buf *out;
    bool json;
    int count;
} Facts;

static void key(Facts *f, const char *name, const char *label)
{
    if (f->json) {
        buf_puts(f->out, f->count ? ",\n" : "\n");
        buf_json(f->out, name);
        buf_putc(f->out, ':');
    } else
        buf_printf(f->out, "%-14s ", label);
    f->count++;
}

static void end(Facts *f)
{
    if (!f->json)
        buf_putc(f->out, '\n');
}

static void fact(Facts *f, const char *name, const char *label, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void fact(Facts *f, const char *name, const char *label, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    utf8_vprint(text, sizeof text, fmt, ap);
    va_end(ap);
    char clean[sizeof text];
    key(f, name, label);
    if (f->json)
        buf_json(f->out, text);
    else
        buf_puts(f->out, utf8_clean(clean, sizeof clean, text));
    end(f);
}

/* A number with its unit: "1.05 MB" in words, 1048576 in JSON. */
static void amount(Facts *f, const char *name, const char *label, double x, const char *unit)
{
    static const char *const PREFIX[] = {"", "k", "M", "G", "T", "P"};
    size_t i = 0;
    key(f, name, label);
    if (f->json) {
        buf_printf(f->out, "%.0f", x);
        return;
    }
    for (; x >= 999.5 && i + 1 < sizeof PREFIX / sizeof *PREFIX; i++)
        x /= 1000;
    buf_printf(f->out, i ? "%.3g%s%s%s" : "%.0f%s%s%s", x, *unit || i ? " " : "", PREFIX[i], unit);
    end(f);
}

/* Lines of text: one fact each in words, an array in JSON. */
static void list(Facts *f, const char *name, const char *label, const char *const *lines, int count)
{
    if (!f->json) {
        for (int i = 0; i < count; i++)
            fact(f, name, i ? "" : label, "%s", lines[i]);
        return;
    }
    key(f, name, label);
    buf_putc(f->out, '[');
    for (int i = 0; i < count; i++) {
        buf_puts(f->out, i ? "," : "");
        buf_json(f->out, lines[i]);
    }
    buf_putc(f->out, ']');
}

static void put_fact(void *context, const char *key, const char *label, const char *text)
{
    fact(context, key, label, "%s", text);
}

static void put_model(const Session *s, Facts *f)
{
    const Model *m = session_exhibit(s, SIDE_B)->model;
    if (!m)
        return;
    fact(f, "model", "model", "%s", m->name);
    fact(f, "layout", "layout", "%s", m->layout);
    if (!m->trained) /* whether weights in a file have learned anything is not written in it */
        fact(f, "trained", "trained", "no: weights from a seed, its predictions mean nothing");
    m->family->facts(m, put_fact, f);
    int guesses = f->json ? m->assumption_count : m->guesses;
    list(f, "assumptions", "assumed", m->assumptions, guesses);
    if (m->assumption_count > guesses)
        list(f, "noted", "noted", m->assumptions + guesses, m->assumption_count - guesses);
}

/* Costs of the pass on show; analyses are not part of it. */
static void put_costs(const Session *s, Facts *f)
{
    const Graph *g = session_graph(s, SIDE_B);
    double flops = 0, params = 0, weights = 0, stored = 0, all = 0;
    size_t nodes = 0;
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (node->flags & NODE_PROBE)
            continue;
        Cost c = graph_cost(g, n);
        params += c.params;
        weights += c.params * (double)(node->store.half ? sizeof *node->store.half : sizeof(float));
        flops += c.flops;
        nodes++;
        if (node->op == OP_LEAF)
            continue;
        all += c.bytes;
        stored += node->flags & NODE_DERIVED ? 0 : c.bytes;
    }
    const Text *text = session_input(s, SIDE_B)->text;
    const int tokens = text[TEXT_SOURCE].count + text[TEXT_TARGET].count;
    char of[32] = "", flop[48], byte[48]; /* a pass of words costs what its length says */
    if (tokens)
        snprintf(of, sizeof of, ", of %d token%s", tokens, tokens == 1 ? "" : "s");
    snprintf(flop, sizeof flop, "FLOP%s", of);
    snprintf(byte, sizeof byte, "B%s", of);
    amount(f, "nodes", "nodes", (double)nodes, "");
    amount(f, "parameters", "parameters", params, "");
    amount(f, "flops", "one pass", flops, flop);
    amount(f, "bytes_weights", "weights", weights, "B");
    amount(f, "bytes_stored", "trace, stored", stored, byte);
    amount(f, "bytes_all", "trace, all", all, byte);
}

static void put_input(const Session *s, Facts *f)
{
    const Input *in = session_input(s, SIDE_B);
    char text[256];
    const char *none = in->invented ? " (none was given: -i TEXT)" : "";
    if (f->json) {
        Buf whole = {0};
        key(f, "input", "input");
        buf_printf(&whole, "%s%s", input_whole(in), none);
        buf_json(f->out, buf_str(&whole));
        buf_free(&whole);
    } else
        fact(f, "input", "input", "%s%s", in->name, none);
    const Model *by = session_exhibit(s, SIDE_B)->model;
    bool squeezed = in->original.data && by &&
                    preprocess_squeezes(&by->preprocess, in->original.width, in->original.height);
    if (in->original.data)
        fact(f, "picture", "picture", "%d × %d, %s%s%s", in->original.width, in->original.height,
             in->original.channels == 1 ? "grey" : "RGB", in->drawn ? ", drawn" : "",
             squeezed ? ", squeezed: cut it to the model's shape first to keep its own" : "");
    if (in->kind == INPUT_PICTURE)
        fact(f, "preprocessing", "made ready", "%s",
             in->ready ? "not at all: its values came from a file"
             : in->original.data && in->original.width == in->resized.width && in->original.height == in->resized.height
                 ? "it has the model's size: nothing was resized"
                 : preprocess_text(&session_exhibit(s, SIDE_B)->model->preprocess, text, sizeof text));
    if (in->unchecked)
        fact(f, "checksum", "checksum", "not tested: the rest of the batch was not read");
    const Model *m = session_exhibit(s, SIDE_B)->model;
    char about[SESSION_NOTE];
    const char *note = session_model_note(s, about);
    if (*note && (f->json || !m || note != m->guess_note)) /* what is assumed is listed above */
        fact(f, "note", "note", "%s", note);
    Buf nan = {0};
    if (ask_nan_begins(s, SIDE_B, &nan))
        fact(f, "nan", "not numbers", "%s", buf_str(&nan));
    buf_free(&nan);
    Buf of = {0};
    gradient_text(s, &of);
    if (of.len)
        fact(f, "gradient", "gradients of", "%s", buf_str(&of));
    buf_free(&of);
    list(f, "edits", "edits", (const char *const *)s->edits.line, s->edits.count);
}

/* Of values: weights are not counted. */
static void put_memory(const Session *s, Facts *f)
{
    size_t most, held = session_held(s, &most);
    amount(f, "bytes_budget", "values kept", (double)s->memory, "B at most");
    amount(f, "bytes_held", "values held", (double)held, "B now");
    amount(f, "bytes_peak", "", (double)most, "B at most so far");
}

void ask_info(const Session *s, Buf *out, bool json)
{
    Facts f = {out, json, 0};
    uint64_t hash;
    if (json)
        buf_putc(out, '{');
    put_model(s, &f);
    put_costs(s, &f);
    put_input(s, &f);
    fact(&f, "kernels", "kernels", "%s", kernels()->isa);
    amount(&f, "threads", "threads", pool_threads(s->pool), "");
    put_memory(s, &f);
    fact(&f, "sandbox", "decoding", "%s", image_sandbox());
    if (session_hash(s, SIDE_B, &hash))
        fact(&f, "trace_hash", "trace hash", "%016llx", (unsigned long long)hash);
    else if (json) {
        key(&f, "trace_hash", "");
        buf_puts(out, "null");
    } else
        fact(&f, "trace_hash", "trace hash", "not complete yet: `hash` completes it");
    if (json)
        buf_puts(out, "\n}\n");
}

/* What is computed from the model and is no part of it is listed when asked for. */
static bool is_left_out(const Node *node, bool all)
{
    return !all && node->flags & NODE_PROBE;
}

void ask_nodes(const Session *s, Buf *out, bool all, bool json)
{
    const Graph *g = session_graph(s, session_side(s));
    int wide = 0, left = 0, told = 0;
    for (NodeId n = 0; n < g->count; n++)
        wide = is_left_out(graph_node(g, n), all)          ? wide
               : utf8_cells(graph_node(g, n)->path) > wide ? utf8_cells(graph_node(g, n)->path)
                                                           : wide;
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (is_left_out(node, all)) {
            left++;
            continue;
        }
        const char *kind = node->op == OP_LEAF && node->leaf.kind == LEAF_TENSOR ? "weight"
                           : node->op == OP_LEAF                                 ? "given"
                           : node->flags & NODE_PROBE                            ? "analysis"
                           : node->op == OP_VIEW                                 ? "view"
                                                                                 : "computed";
        Buf shape = {0};
        graph_shape_text(g, node->dims, &shape);
        if (json) {
            buf_puts(out, told++ ? ",\n{" : "[{");
            json_put_text(out, "node", node->path);
            json_put_text(out, "shape", buf_str(&shape));
            json_put_text(out, "kind", kind);
            buf_putc(out, '}');
        } else
            buf_printf(out, "%s%*s  %-9s %s\n", node->path, wide - utf8_cells(node->path), "", kind, buf_str(&shape));
        buf_free(&shape);
    }
    if (json)
        buf_puts(out, "]\n");
    else if (left)
        buf_printf(out, "and %d nodes of analyses, which are no part of the model: --all lists them too\n", left);
}

static void put_place(const Graph *g, NodeId n, size_t cell, Buf *out)
{
    const Node *node = graph_node(g, n);
    size_t index[sizeof node->dims.axis / sizeof *node->dims.axis];
    for (int i = node->dims.n - 1; i >= 0; i--) {
        size_t length = (size_t)g->axes[node->dims.axis[i]].n;
        index[i] = cell % length;
        cell /= length;
    }
    buf_puts(out, node->path);
    for (int i = 0; i < node->dims.n; i++)
        buf_printf(out, "%s%s=%zu", i ? "," : "[", g->axes[node->dims.axis[i]].sym, index[i]);
    buf_puts(out, node->dims.n ? "]" : "");
}

bool ask_nan_begins(const Session *s, Side side, Buf *out)
{
    const Graph *g = session_graph(s, side);
    const Run *r = session_run(s, side);
    for (NodeId n = 0; r && n < g->count; n++) {
        const float *x = graph_node(g, n)->flags & NODE_PROBE ? NULL : run_peek(r, n);
        size_t cells = x ? graph_cells(g, n) : 0, first = 0, count = 0;
        const bool weight = graph_node(g, n)->op == OP_LEAF && graph_node(g, n)->leaf.kind == LEAF_TENSOR;
        for (size_t i = cells; i > 0; i--)
            if (isnan(x[i - 1]) || (weight && isinf(x[i - 1]))) { /* of a weight's ∞ NaN is made */
                first = i - 1;
                count++;
            }
        if (!count)
            continue;
        buf_puts(out, isnan(x[first]) ? "NaN begins at " : "∞ begins at ");
        put_place(g, n, first, out);
        const Node *node = graph_node(g, n);
        bool given = node->op == OP_LEAF && (node->leaf.kind == LEAF_TENSOR || node->leaf.kind == LEAF_INPUT);
        buf_printf(out, ": %zu of its %zu values%s", count, cells, given ? ", as the file has them" : "");
        return true;
    }
    return false;
}
