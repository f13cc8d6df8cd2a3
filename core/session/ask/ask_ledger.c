/* A ledger as a page of text or JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/graph/anatomy.h"
#include "core/io/json.h"
#include "core/session/ask/ledgers.h"
#include "core/session/ask/say.h"
#include "core/session/exhibit.h"

enum { SLICE_NS = 50000000 };

/* Measures what taking each line out does; false when it was cancelled. Only of what is on show now. */
static bool measure(Session *s, Err *err)
{
    size_t done, total;
    while (!ledger_step(s, clock_ns() + SLICE_NS)) {
        ledger_measured(s, TAKEN_LINES, &done, &total);
        if (s->progress && !s->progress(s->progress_context, "taking one part out after the other",
                                        (double)done / (double)(total ? total : 1)))
            return err_set(err, "cancelled");
    }
    return true;
}

/* Is it of what a soft cap makes the logits of? */
static bool ledger_capped(const Graph *g, const char *path)
{
    NodeId n = ledger_answers(g);
    return n != NO_NODE && n != site_node_any(g, SITE_LOGITS) && strcmp(graph_node(g, n)->path, path) == 0;
}

/* A number and its unit of the table: what there is to print of one ledger. */
typedef struct Page {
    const Session *s;
    const Graph *g;
    Side side;
    float value, sum, remainder;
    LedgerLine *lines;
    int count;
    bool measured;
} Page;

/* What the number `cell` of a ledger's node is. */
static float number_of(const Page *p, NodeId n, size_t cell)
{
    return session_peek(p->s, p->side, graph_node(p->g, n)->path)[cell];
}

static void put_number(float x, const char *end, Buf *out)
{
    buf_fixed(out, 12, (double)x, 5);
    buf_puts(out, end);
}

/* Of an MLP with experts those that wrote anything. */
static void put_experts(const Page *p, const LedgerEntry *e, Buf *out)
{
    if (e->kind != LEDGER_MLP || e->experts == NO_NODE)
        return;
    for (size_t x = 0; x < graph_cells(p->g, e->experts); x++) {
        float value = number_of(p, e->experts, x);
        if (value < 0 || value > 0) {
            buf_printf(out, "    expert %-11zu", x);
            put_number(value, "\n", out);
        }
    }
    if (e->shared != NO_NODE) {
        buf_printf(out, "    %-18s", "the shared expert");
        put_number(number_of(p, e->shared, 0), "\n", out);
    }
}

static void put_line(const Page *p, const LedgerLine *l, Buf *out)
{
    Buf part = {0};
    ledger_part_text(p->g, l, &part);
    buf_printf(out, "  %-20s", buf_str(&part));
    put_number(l->value, "", out);
    if (p->measured)
        put_number(session_ledger_effect(p->s, p->side, TAKEN_LINES, l->entry, l->head), "", out);
    buf_printf(out, "%s\n", l->same ? "  same for all" : "");
    put_experts(p, l->entry, out);
    buf_free(&part);
}

/* What "less" is of: what is written into the token that is read alone, or all that a part writes (Removal). */
static void put_rule(const Page *p, Buf *out)
{
    const Ledger *l = session_ledger(p->s, p->side);
    bool words = false;
    for (int i = 0; i < l->count; i++)
        words = words || (l->entry[i].kind != LEDGER_MLP && ledger_by_token(p->g, &l->entry[i]));
    buf_puts(out, "Beside it how much less the number is in a pass run without the part:");
    if (l->token < 0)
        buf_puts(out, " without all that\nit writes, at every token.\n\n");
    else
        buf_printf(out,
                   "\n  of a head%s: without what it writes into the row that is read;\n"
                   "  of anything else: without all that it writes, at every token.\n\n",
                   words ? ", an MLP, the word and its position" : " or an MLP");
    buf_puts(out, "                             wrote        less\n");
}

/* Were lines of experts put below an MLP's? */
static bool has_experts(const Page *p)
{
    for (int i = 0; i < p->count; i++)
        if (p->lines[i].entry->kind == LEDGER_MLP && p->lines[i].entry->experts != NO_NODE)
            return true;
    return false;
}

static void put_text(const Page *p, Buf *out)
{
    ledger_text(p->s, out);
    buf_printf(out, " = %.6g\n", p->value == 0 ? 0 : (double)p->value);
    bool rms = site_path_any(session_graph(p->s, p->side), SITE_NORM_MEAN_SQUARE) != NULL;
    buf_printf(out, "What every part wrote into it, with each %s kept as it is in this run.\n",
               rms ? "RMSNorm's 1/rms" : "LayerNorm's 1/σ");
    if (ledger_capped(session_graph(p->s, p->side), p->s->ledger.path))
        buf_puts(out, "It is taken before the soft cap, which makes no sum of it: a larger number is a larger "
                      "logit.\n");
    if (p->measured)
        put_rule(p, out);
    for (int i = 0; i < p->count; i++)
        put_line(p, &p->lines[i], out);
    buf_printf(out, "  %-20s", "sum");
    put_number(p->sum, "\n", out);
    buf_printf(out, "  %-20s %11.2g  (rounding)\n", "remainder", (double)p->remainder);
    buf_printf(out,
               "\"same for all\": the same for every %s. What a part wrote is not what is lost without it: later "
               "parts read it\ntoo, and make up for it or need it.\n",
               input_kind_name(session_input(p->s, p->side)->kind));
    if (p->measured && has_experts(p))
        buf_puts(out, "An expert has no \"less\": what is taken out is its MLP, all experts of it together.\n");
}

static void put_experts_json(const Page *p, const LedgerEntry *e, Buf *out)
{
    if (e->kind != LEDGER_MLP || e->experts == NO_NODE)
        return;
    json_open(out, "experts", '[');
    for (size_t x = 0; x < graph_cells(p->g, e->experts); x++)
        json_put_float(out, NULL, number_of(p, e->experts, x));
    buf_putc(out, ']');
    if (e->shared != NO_NODE)
        json_put_float(out, "shared_expert", number_of(p, e->shared, 0));
}

static void put_json(const Page *p, Buf *out)
{
    Buf text = {0};
    const bool rms = site_path_any(session_graph(p->s, p->side), SITE_NORM_MEAN_SQUARE) != NULL;
    char same[40];
    snprintf(same, sizeof same, "same_for_every_%s", input_kind_name(session_input(p->s, p->side)->kind));
    ledger_text(p->s, &text);
    json_open(out, NULL, '{');
    json_put_text(out, "of", buf_str(&text));
    json_put_float(out, "value", p->value);
    json_put_float(out, "sum", p->sum);
    json_put_float(out, "remainder", p->remainder);
    json_put_bool(out, "before_soft_cap", ledger_capped(session_graph(p->s, p->side), p->s->ledger.path));
    json_put_text(out, "frozen", rms ? "1/rms of every RMSNorm" : "1/sigma of every LayerNorm");
    json_open(out, "entries", '[');
    for (int i = 0; i < p->count; i++) {
        const LedgerLine *l = &p->lines[i];
        buf_clear(&text);
        ledger_part_text(p->g, l, &text);
        json_line(out);
        json_open(out, NULL, '{');
        json_put_text(out, "part", buf_str(&text));
        ask_json_address(out, "address", p->g, session_ref(p->side, l->node, l->cell));
        json_put_float(out, "value", l->value);
        if (p->measured)
            json_put_float(out, "taken_out", session_ledger_effect(p->s, p->side, TAKEN_LINES, l->entry, l->head));
        json_put_bool(out, same, l->same);
        put_experts_json(p, l->entry, out);
        buf_putc(out, '}');
    }
    buf_puts(out, "]}\n");
    buf_free(&text);
}

bool ledger_table(Session *s, Side side, bool measured, Buf *out, bool json, Err *err)
{
    side = ask_side(side);
    const LedgerOn *on = ledger_on(s, side);
    const Ledger *l = session_ledger(s, side);
    Page p = {.s = s, .g = session_graph(s, side), .side = side, .measured = measured};
    if (!l && *on->of.path &&
        *on->why.text) /* of what was asked for: a change rounds it, such as `set precision bf16` */
        return err_set(err, "%s", on->why.text);
    if (!l)
        return err_set(err, "there is no ledger: `ledger` makes one of the answer");
    if (measured && p.g != exhibit_graph(s->now))
        return err_set(err, "effects are measured for B only, and this is A");
    const struct {
        NodeId node;
        float *to;
    } numbers[] = {{l->value, &p.value}, {l->sum, &p.sum}, {l->remainder, &p.remainder}};
    for (int i = 0; i < 3; i++) {
        const float *x = ask_need(s, side, numbers[i].node, err);
        if (!x)
            return false;
        *numbers[i].to = *x;
    }
    p.lines = ledger_lines(s, side, true, &p.count, err);
    bool ok = p.lines && (!measured || measure(s, err));
    for (int i = 0; ok && i < l->count; i++)
        ok = (l->entry[i].experts == NO_NODE || ask_need(s, side, l->entry[i].experts, err)) &&
             (l->entry[i].shared == NO_NODE || ask_need(s, side, l->entry[i].shared, err));
    if (ok && json)
        put_json(&p, out);
    else if (ok)
        put_text(&p, out);
    free(p.lines);
    return ok;
}
