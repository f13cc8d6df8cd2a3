/* The arithmetic of one cell: its terms by size, folded again and compared with what is stored. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/models/names.h"
#include "core/session/address.h"
#include "core/session/ask/ask_parts.h"
#include "core/session/ask/closeup.h"

enum { TEXT_LINES = 24, JSON_LINES = 4096, LABEL_CELLS = 96 };

typedef struct Candidate {
    size_t term;
    float contribution;
} Candidate;

/* How large a term counts. Of a maximum the terms compete with their sign. NaN, which makes the whole result NaN, comes
 * first. */
static float size_of(Op op, float contribution)
{
    if (isnan(contribution))
        return INFINITY;
    return op == OP_MAX ? contribution : fabsf(contribution);
}

static int by_size(Op op, Candidate a, Candidate b)
{
    float x = size_of(op, a.contribution), y = size_of(op, b.contribution);
    if (x > y || x < y)
        return x > y ? -1 : 1;
    return (a.term > b.term) - (a.term < b.term);
}

/* The best candidates so far as a heap whose root is the one to give up first. */
typedef struct Best {
    Candidate *at;
    size_t count, most;
    Op op;
} Best;

static void sink(Best *b, size_t i, size_t count)
{
    for (;;) {
        size_t low = 2 * i + 1;
        if (low >= count)
            return;
        if (low + 1 < count && by_size(b->op, b->at[low + 1], b->at[low]) > 0)
            low++;
        if (by_size(b->op, b->at[low], b->at[i]) <= 0)
            return;
        Candidate c = b->at[i];
        b->at[i] = b->at[low];
        b->at[low] = c;
        i = low;
    }
}

static void offer(Best *b, Candidate c)
{
    if (b->count < b->most) {
        b->at[b->count++] = c;
        if (b->count == b->most)
            for (size_t i = b->count / 2 + 1; i-- > 0;)
                sink(b, i, b->count);
    } else if (b->most && by_size(b->op, c, b->at[0]) < 0) {
        b->at[0] = c;
        sink(b, 0, b->count);
    }
}

/* The heap into a list, largest first. */
static void unwind(Best *b)
{
    if (b->count < b->most) /* it never became a heap */
        for (size_t i = b->count / 2 + 1; i-- > 0;)
            sink(b, i, b->count);
    for (size_t end = b->count; end > 1; end--) {
        Candidate c = b->at[0];
        b->at[0] = b->at[end - 1];
        b->at[end - 1] = c;
        sink(b, 0, end - 1);
    }
}

static void fill_line(ExplainLine *line, const Explain *e, Side side, Candidate c, const Run *run)
{
    Term t = explain_term(e, c.term);
    *line = (ExplainLine){.term = c.term, .operands = t.operands, .contribution = c.contribution};
    for (int k = 0; k < t.operands; k++) {
        line->ref[k] = session_ref(side, t.node[k], t.cell[k]);
        line->value[k] = ask_cell(run, t.node[k], t.cell[k]);
    }
}

static void list_terms(Explanation *out, const Explain *e, size_t most, const Run *run)
{
    Op op = graph_node(e->graph, e->node)->op;
    Best best = {.most = most < e->terms ? most : e->terms, .op = op};
    best.at = arena_alloc(&out->arena, size_mul(best.most + 1, sizeof *best.at));
    for (size_t i = 0; i < e->terms; i++)
        offer(&best, (Candidate){i, explain_contribution(e, i, ask_values, run)});
    unwind(&best);
    out->lines = arena_alloc(&out->arena, size_mul(best.count + 1, sizeof *out->lines));
    out->line_count = best.count;
    for (size_t i = 0; i < best.count; i++)
        fill_line(&out->lines[i], e, out->side, best.at[i], run);
    if (op == OP_MAX || best.count == e->terms)
        return;
    for (size_t i = 0; i < e->terms; i++) {
        Candidate c = {i, explain_contribution(e, i, ask_values, run)};
        if (!best.count || by_size(op, c, best.at[best.count - 1]) > 0)
            out->rest += c.contribution;
    }
}

bool ask_explain(const Session *s, Side side, NodeId n, size_t cell, size_t most, Explanation *out)
{
    side = ask_side(side);
    const Run *run = session_run(s, side);
    const Graph *g = session_graph(s, side);
    const Node *node = graph_node(g, n);
    *out = (Explanation){.side = side, .node = n, .cell = cell};
    if (!ask_inputs_there(run, n))
        return false;
    const float *stored = run_peek(run, n);
    if (!stored)
        return false;
    Explain e = explain_open(g, n, cell);
    out->stored = stored[cell];
    out->folded = explain_fold(&e, ask_values, run);
    out->equal = memcmp(&out->stored, &out->folded, sizeof out->stored) == 0;
    out->second = explain_fold_double(&e, ask_values, run);
    out->terms = e.terms;
    list_terms(out, &e, most, run);
    if ((node->op == OP_CONTRACT || node->op == OP_SUM) && out->line_count == e.terms) {
        float *running = arena_alloc(&out->arena, size_mul(e.terms + 1, sizeof *running));
        explain_running(&e, ask_values, run, running);
        out->running = running;
    }
    return true;
}

void explanation_free(Explanation *e)
{
    arena_free(&e->arena);
    *e = (Explanation){0};
}

/* "h=0,e=5": where among the summed cells a term stands. Returns out. */
static const char *term_label(const Graph *g, Dims reduced, size_t term, char out[LABEL_CELLS])
{
    int index[DIMS_MAX];
    size_t at = 0;
    out[0] = 0;
    dims_unravel(g->axes, reduced, term, index);
    for (int i = 0; i < reduced.n && at < LABEL_CELLS; i++) {
        char label[40];
        int n = snprintf(out + at, LABEL_CELLS - at, "%s%s=%s", i ? "," : "", g->axes[reduced.axis[i]].sym,
                         axis_label(&g->axes[reduced.axis[i]], index[i], label, sizeof label));
        at += n > 0 ? (size_t)n : 0;
    }
    return out;
}

/* An operand with the axes that the terms run over left as letters: "blocks.0.attn.q[t=r3c4,h=2,e]". */
static void put_operand(const Graph *g, Ref r, Dims reduced, Buf *out)
{
    const Node *n = graph_node(g, r.node);
    int index[DIMS_MAX];
    dims_unravel(g->axes, n->dims, r.cell, index);
    buf_puts(out, n->path);
    for (int i = 0; i < n->dims.n; i++) {
        const Axis *a = &g->axes[n->dims.axis[i]];
        char label[64];
        buf_printf(out, "%s%s", i ? "," : "[", a->sym);
        if (dims_find(reduced, n->dims.axis[i]) < 0)
            buf_printf(out, "=%s", axis_label(a, index[i], label, sizeof label));
    }
    if (n->dims.n)
        buf_putc(out, ']');
}

/* What was put back in one place, added. */
static void put_scattered(const Graph *g, const Explanation *e, Buf *out)
{
    if (!e->terms)
        buf_puts(out, "Nothing is put here: 0.\n");
    for (size_t i = 0; i < e->line_count; i++) {
        buf_puts(out, "  ");
        address_put(g, e->lines[i].ref[0].node, e->lines[i].ref[0].cell, out);
        buf_puts(out, " = ");
        ask_put_number(out, e->lines[i].value[0]);
        buf_putc(out, '\n');
    }
    if (e->line_count < e->terms)
        buf_printf(out, "  and %zu more, together %.6g\n", e->terms - e->line_count, (double)e->rest);
}

static void put_sum(const Graph *g, const Explanation *e, Buf *out)
{
    const Node *n = graph_node(g, e->node);
    Dims reduced = graph_reduced(g, e->node);
    char label[LABEL_CELLS];
    if (!e->terms) {
        buf_puts(out, "A sum of nothing.\n");
        return;
    }
    buf_puts(out, "= ");
    buf_puts(out, n->op == OP_MAX ? "the largest of " : "the sum of ");
    put_operand(g, e->lines[0].ref[0], reduced, out);
    if (n->op == OP_CONTRACT) {
        buf_puts(out, " · ");
        put_operand(g, e->lines[0].ref[1], reduced, out);
    }
    buf_puts(out, "\n");
    ask_put_count(out, e->terms);
    buf_printf(out, " term%s, the largest first%s:\n", e->terms == 1 ? "" : "s",
               n->op == OP_MAX ? "" : " (the engine adds them in its own order)");
    for (size_t i = 0; i < e->line_count; i++) {
        const ExplainLine *l = &e->lines[i];
        buf_printf(out, "  %-10s", term_label(g, reduced, l->term, label));
        if (n->op == OP_CONTRACT)
            buf_printf(out, " %12.6g · %-12.6g =", (double)l->value[0], (double)l->value[1]);
        buf_printf(out, " %12.6g\n", (double)l->contribution);
    }
    if (e->line_count == e->terms)
        return;
    buf_puts(out, "  and ");
    ask_put_count(out, e->terms - e->line_count);
    if (n->op == OP_MAX)
        buf_puts(out, " more, none of them larger\n");
    else
        buf_printf(out, " more, together %.6g\n", (double)e->rest);
}

/* One line per operand; of a choice, which one was taken. */
static void put_operands(const Graph *g, const Explanation *e, Buf *out)
{
    const ExplainLine *l = &e->lines[0];
    bool choice = graph_node(g, e->node)->op == OP_WHERE;
    for (int k = 0; k < l->operands; k++) {
        buf_puts(out, "  ");
        address_put(g, l->ref[k].node, l->ref[k].cell, out);
        buf_puts(out, " = ");
        ask_put_number(out, l->value[k]);
        if (choice && k > 0)
            buf_puts(out, (l->value[0] != 0.0f) == (k == 1) ? "  (taken)" : "  (not taken)");
        buf_putc(out, '\n');
    }
}

static void put_text(const Session *s, const Explanation *e, Buf *out)
{
    const Graph *g = session_graph(s, e->side);
    const Node *n = graph_node(g, e->node);
    const NodeText *t = node_text(n->path);
    address_put(g, e->node, e->cell, out);
    buf_puts(out, " = ");
    ask_put_number(out, e->stored);
    buf_putc(out, '\n');
    if (t)
        buf_printf(out, "%s\n", node_words(g, t->sentence));
    if (n->op == OP_LEAF) {
        buf_puts(out, "Here the arithmetic begins: ");
        ask_put_leaf(s, e->side, e->node, e->cell, out);
        buf_puts(out, ".\n");
        return;
    }
    graph_formula(g, e->node, out);
    buf_putc(out, '\n');
    bool sums = n->op == OP_CONTRACT || n->op == OP_SUM || n->op == OP_MAX;
    if (sums)
        put_sum(g, e, out);
    else if (n->op == OP_SCATTER)
        put_scattered(g, e, out);
    else
        put_operands(g, e, out);
    buf_puts(out, e->equal ? "Worked out again from these terms: equal, bit for bit."
                           : "Worked out again from these terms: DIFFERENT, the engine is wrong.");
    if (n->op == OP_CONTRACT || n->op == OP_SUM)
        buf_printf(out, " In double precision: %.12g.", e->second);
    buf_putc(out, '\n');
}

static void put_json_line(const Graph *g, const Explanation *e, const ExplainLine *l, Buf *out)
{
    char label[LABEL_CELLS];
    json_line(out);
    json_open(out, NULL, '{');
    json_put(out, "term", "%zu", l->term);
    json_put_text(out, "at", term_label(g, graph_reduced(g, e->node), l->term, label));
    json_open(out, "operands", '[');
    for (int k = 0; k < l->operands; k++) {
        json_open(out, NULL, '{');
        ask_json_address(out, "address", g, l->ref[k]);
        json_put_float(out, "value", l->value[k]);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
    json_put_float(out, "contribution", l->contribution);
    buf_putc(out, '}');
}

static void put_json(const Session *s, const Explanation *e, Buf *out)
{
    const Graph *g = session_graph(s, e->side);
    const Node *n = graph_node(g, e->node);
    Buf formula = {0}, given = {0};
    graph_formula(g, e->node, &formula);
    if (n->op == OP_LEAF)
        ask_put_leaf(s, e->side, e->node, e->cell, &given);
    json_open(out, NULL, '{');
    ask_json_address(out, "address", g, session_ref(e->side, e->node, e->cell));
    json_put_float(out, "value", e->stored);
    json_put_text(out, "operation", op_word(n->op));
    json_put_text(out, "formula", buf_str(&formula));
    json_put_text(out, "given", buf_str(&given));
    json_put_float(out, "folded", e->folded);
    json_put_bool(out, "equal", e->equal);
    json_put(out, "double", "%.17g", e->second);
    json_put(out, "terms", "%zu", e->terms);
    json_open(out, "largest", '[');
    for (size_t i = 0; i < e->line_count; i++)
        put_json_line(g, e, &e->lines[i], out);
    buf_putc(out, ']');
    json_put_float(out, "rest", e->rest);
    buf_puts(out, "}\n");
    buf_free(&formula);
    buf_free(&given);
}

bool ask_explain_text(Session *s, Side side, const char *path, size_t cell, Buf *out, bool json, Err *err)
{
    side = ask_side(side);
    NodeId n = ask_node(s, side, path, err);
    Explanation e;
    if (n == NO_NODE || !ask_need_inputs(s, side, n, err))
        return false;
    bool there = ask_explain(s, side, n, cell, json ? JSON_LINES : TEXT_LINES, &e);
    REQUIRE(there);
    if (json)
        put_json(s, &e, out);
    else
        put_text(s, &e, out);
    explanation_free(&e);
    return true;
}

/* What was worked out of: another run, node or cell is another question. */
typedef struct Question {
    const Run *run; /* NULL: nothing was */
    NodeId node;
    size_t cell, most;
} Question;

typedef struct Answers {
    Question explained, closed; /* closed: in close-up */
    Explanation explanation;
    Closeup closeup;
} Answers;

struct Explained {
    Answers side[2]; /* B, A */
};

static Answers *answers_of(const Session *s, Side side)
{
    return s->explained ? &s->explained->side[side == SIDE_A] : NULL;
}

static bool same(const Question *q, const Run *run, NodeId n, size_t cell)
{
    return q->run == run && q->node == n && q->cell == cell;
}

static void explain(Session *s, Answers *a, Side side, Question q)
{
    if (same(&a->explained, q.run, q.node, q.cell) && a->explained.most >= q.most)
        return;
    explanation_free(&a->explanation);
    a->explained = ask_explain(s, side, q.node, q.cell, q.most, &a->explanation) ? q : (Question){0};
}

static void close_up(Session *s, Answers *a, Side side, Question q)
{
    if (same(&a->closed, q.run, q.node, q.cell))
        return;
    closeup_free(&a->closeup);
    a->closed = q;
    if (closeup_open(s, side, q.node, q.cell, &a->closeup) && !closeup_values(s, &a->closeup)) {
        closeup_free(&a->closeup);
        a->closed = (Question){0};
    }
}

void explained_make(Session *s, const Need *need)
{
    Side side = ask_side(need->side);
    NodeId n = session_node(s, side, need->path);
    if (need->what == NEED_VALUES || need_of_both(need->what) || n == NO_NODE ||
        need->cell >= graph_cells(session_graph(s, side), n))
        return;
    if (!s->explained)
        s->explained = xcalloc(1, sizeof *s->explained);
    Question q = {session_run(s, side), n, need->cell, need->most};
    if (need->what == NEED_CLOSEUP)
        close_up(s, answers_of(s, side), side, q);
    else
        explain(s, answers_of(s, side), side, q);
}

const Explanation *explained_cell(const Session *s, Side side, NodeId n, size_t cell, size_t most)
{
    side = ask_side(side);
    const Answers *a = answers_of(s, side);
    return a && same(&a->explained, session_run(s, side), n, cell) &&
                   (a->explained.most >= most || a->explanation.line_count == a->explanation.terms)
               ? &a->explanation
               : NULL;
}

bool explained_closeup(const Session *s, Side side, NodeId n, size_t cell, const Closeup **out)
{
    side = ask_side(side);
    const Answers *a = answers_of(s, side);
    bool known = a && same(&a->closed, session_run(s, side), n, cell);
    *out = known && a->closeup.count ? &a->closeup : NULL;
    return known;
}

void explained_drop(Session *s)
{
    for (int i = 0; s->explained && i < 2; i++) {
        explanation_free(&s->explained->side[i].explanation);
        closeup_free(&s->explained->side[i].closeup);
    }
    free(s->explained);
    s->explained = NULL;
}
