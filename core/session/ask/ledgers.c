#include "core/session/ask/ledgers.h"
#include "core/io/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/eval/ablation.h"
#include "core/graph/anatomy.h"
#include "core/graph/explain.h"
#include "core/session/address.h"
#include "core/session/ask/say.h"
#include "core/session/exhibit.h"
#include "core/session/place.h"

enum { SLICE_NS = 50000000 };

bool ledger_set(Session *s, const LedgerTarget *t, Err *err)
{
    exhibit_append(s->now, &s->target, t);
    const LedgerOn *on = &s->now->pass.base_ledger; /* an edit that allows none (rounding) may go again */
    bool ok = !*t->path || on->there;
    Err why = on->why;
    const LedgerTarget *in_force = ok ? t : &s->ledger;
    if (!ok)
        exhibit_append(s->now, &s->target, in_force);
    if (session_pinned(s))
        exhibit_append(s->pinned, &s->target, in_force);
    if (in_force == t)
        s->ledger = *t;
    session_changed(s);
    return ok || err_set(err, "%s", why.text);
}

static const LedgerOn *ledger_on(const Session *s, Side side)
{
    if (ask_side(side) == SIDE_A)
        return session_pinned(s) ? exhibit_ledger(s->pinned) : &s->now->pass.base_ledger;
    return exhibit_ledger(s->now);
}

const Ledger *session_ledger(const Session *s, Side side)
{
    const LedgerOn *on = ledger_on(s, side);
    return on->there ? &on->ledger : NULL;
}

const Ledger *session_ledger_via(const Session *s, Side side, int step)
{
    const LedgerOn *on = ledger_on(s, side);
    return on->there && step < on->steps ? &on->via[step] : NULL;
}

bool ledger_via(const Session *s, Side side, int step, LedgerVia *out)
{
    const Ledger *l = session_ledger_via(s, side, step);
    const Graph *g = session_graph(s, ask_side(side));
    const float *vote = l ? session_peek(s, ask_side(side), graph_node(g, l->value)->path) : NULL;
    *out = (LedgerVia){.entry = NULL};
    for (int i = 0; vote && i < l->count; i++) {
        const LedgerEntry *e = &l->entry[i];
        const float *x = e->kind == LEDGER_HEADS ? session_peek(s, ask_side(side), graph_node(g, e->tokens)->path)
                                                 : NULL,
                    *sum = x ? session_peek(s, ask_side(side), graph_node(g, e->heads)->path) : NULL;
        if (e->kind == LEDGER_HEADS && !sum)
            return false;
        int heads = sum ? (int)graph_cells(g, e->heads) : 0;
        for (int h = 0; h < heads; h++)
            if (!out->entry || (*vote < 0 ? sum[h] < out->wrote : sum[h] > out->wrote))
                *out = (LedgerVia){e, h, 0, *vote, sum[h]};
    }
    if (!out->entry)
        return false;
    const int tokens = g->axes[node_role(g, out->entry->tokens, ROLE_KEY)].n;
    const float *x = session_peek(s, ask_side(side), graph_node(g, out->entry->tokens)->path) + out->head * tokens;
    for (int u = 1; u < tokens; u++)
        if (out->wrote < 0 ? x[u] < x[out->token] : x[u] > x[out->token])
            out->token = u;
    return true;
}

bool ledger_via_tells(const LedgerVia *v)
{
    return fabsf(v->wrote) >= 0.1f * fabsf(v->vote);
}

static int heads_of(const Graph *g, const LedgerEntry *e)
{
    return e->heads == NO_NODE ? 1 : (int)graph_cells(g, e->heads);
}

/* The part of the model that an entry was written by. */
static int part_of(const Graph *g, const LedgerEntry *e)
{
    return anatomy_of(g, graph_node(g, e->part)->path);
}

const LedgerEntry *ledger_heads(const Session *s, Side side, int attention)
{
    const Ledger *l = session_ledger(s, side);
    const Graph *g = session_graph(s, ask_side(side));
    for (int i = 0; l && attention != NO_PART && i < l->count; i++)
        if (l->entry[i].kind == LEDGER_HEADS && part_of(g, &l->entry[i]) == attention)
            return &l->entry[i];
    return NULL;
}

const LedgerEntry *ledger_heads_here(const Session *s, Side side)
{
    return ledger_heads(s, side, ledger_attention(s, side));
}

const LedgerEntry *ledger_mlp(const Session *s, Side side, int attention)
{
    const Ledger *l = session_ledger(s, side);
    const Graph *g = session_graph(s, ask_side(side));
    int block = attention == NO_PART ? NO_PART : anatomy_part(g, attention)->parent;
    if (block == NO_PART || anatomy_next_in(g, attention, PART_ATTENTION, block) != NO_PART)
        return NULL;
    for (int i = 0; l && i < l->count; i++)
        if (l->entry[i].kind == LEDGER_MLP && anatomy_block_of(g, graph_node(g, l->entry[i].part)->path) == block)
            return &l->entry[i];
    return NULL;
}

const LedgerEntry *ledger_mlp_here(const Session *s, Side side)
{
    const Graph *b = session_graph(s, SIDE_B), *g = session_graph(s, ask_side(side));
    int own = anatomy_of(b, s->place.path), attention = ledger_attention(s, side), next = attention;
    if (own == NO_PART || anatomy_part(b, own)->kind != PART_MLP || attention == NO_PART)
        return NULL;
    for (int block = anatomy_part(g, attention)->parent; next != NO_PART && block != NO_PART;
         next = anatomy_next_in(g, next, PART_ATTENTION, block))
        attention = next;
    return ledger_mlp(s, side, attention);
}

bool ledger_tributary(const Graph *g, const Ledger *l, int i, const LedgerEntry **e, int *head)
{
    for (int k = l->count - 1; k >= 0; k--) {
        int heads = ledger_flows(&l->entry[k]) ? heads_of(g, &l->entry[k]) : 0;
        if (i < heads) {
            *e = &l->entry[k];
            *head = (*e)->kind == LEDGER_HEADS ? i : -1;
            return true;
        }
        i -= heads;
    }
    return false;
}

int ledger_here(const Session *s, Side side)
{
    const Ledger *l = session_ledger(s, side);
    const Graph *g = session_graph(s, ask_side(side));
    const LedgerEntry *mlp = ledger_mlp_here(s, side), *heads = mlp ? NULL : ledger_heads_here(s, side), *e;
    int axis = heads ? node_role(g, heads->heads, ROLE_HEAD) : AXIS_NONE, head,
        at = axis == AXIS_NONE ? -1 : session_index_on(s, g, axis);
    for (int i = 0; l && ledger_tributary(g, l, i, &e, &head); i++)
        if (mlp ? e == mlp : e == heads && head == at)
            return i;
    return -1;
}

/* --- the measured effect of its lines: the pass on show computed again without each (core/eval/ablation.h) --- */

/* Lines of a ledger as a table: every head of an entry that has heads, else the whole entry. */
static int line_count(const Graph *g, const Ledger *l)
{
    int count = 0;
    for (int i = 0; i < l->count; i++)
        count += heads_of(g, &l->entry[i]);
    return count;
}

/* Is it among what is taken out, one after the other? */
static bool is_taken(const LedgerEntry *e, LedgerTaken taken)
{
    return taken == TAKEN_LINES || e->kind == LEDGER_HEADS;
}

/* Entry and head (−1: the whole entry) of line i. */
static void line_at(const Graph *g, const Ledger *l, int i, int *entry, int *head)
{
    for (*entry = l->count - 1; *entry > 0 && i >= heads_of(g, &l->entry[*entry]); --*entry)
        i -= heads_of(g, &l->entry[*entry]); /* a ledger begins at the end of the model */
    *head = l->entry[*entry].heads == NO_NODE ? -1 : i;
}

static RemovalRun *begin_lines(const Exhibit *e, const Ledger *l, LedgerTaken taken, Pool *pool)
{
    const Graph *g = exhibit_graph(e);
    int lines = line_count(g, l), count = 0;
    Removal *what = xcalloc((size_t)lines + 1, sizeof *what);
    for (int i = 0; i < lines; i++) {
        line_at(g, l, i, &what[count].entry, &what[count].head);
        what[count].everywhere = taken == TAKEN_HEADS;
        count += is_taken(&l->entry[what[count].entry], taken);
    }
    RemovalRun *r = removal_run_new(g, exhibit_run(e), l, what, (size_t)count, pool);
    free(what);
    return r;
}

bool ledger_step_taken(Session *s, LedgerTaken taken, int64_t deadline_ns)
{
    const LedgerOn *on = exhibit_ledger(s->now);
    RemovalRun **effects = &s->now->pass.effects[taken];
    if (on->there && !*effects)
        *effects = begin_lines(s->now, &on->ledger, taken, s->pool);
    return !on->there || removal_run_step(*effects, deadline_ns);
}

bool ledger_step(Session *s, int64_t deadline_ns)
{
    return ledger_step_taken(s, TAKEN_LINES, deadline_ns);
}

void ledger_measured(const Session *s, LedgerTaken taken, size_t *done, size_t *total)
{
    const RemovalRun *effects = s->now->pass.effects[taken];
    *done = effects ? removal_run_done(effects) : 0;
    *total = effects ? removal_run_count(effects) : 0;
}

double ledger_measured_share(const Session *s)
{
    size_t done = 0, total = 0;
    for (int i = TAKEN_LINES; i <= TAKEN_HEADS && done >= total; i++)
        ledger_measured(s, (LedgerTaken)i, &done, &total);
    return done < total ? (double)done / (double)total : 1;
}

/* Of a line; NaN while it is not measured. */
static float effect_of(const Session *s, LedgerTaken taken, int line)
{
    const RemovalRun *effects = s->now->pass.effects[taken];
    return effects && (size_t)line < removal_run_done(effects) ? removal_run_effect(effects, (size_t)line) : NAN;
}

float session_ledger_effect(const Session *s, Side side, LedgerTaken taken, const LedgerEntry *e, int head)
{
    const Graph *g = session_graph(s, ask_side(side));
    const Ledger *l = session_ledger(s, side);
    if (!l || g != exhibit_graph(s->now))
        return NAN;
    int line = 0, at = l->count - 1; /* in the order of lines */
    for (; at >= 0 && &l->entry[at] != e; at--)
        line += is_taken(&l->entry[at], taken) ? heads_of(g, &l->entry[at]) : 0;
    bool there = at >= 0 && (e->heads == NO_NODE ? head < 0 : head >= 0 && head < heads_of(g, e));
    return there ? effect_of(s, taken, line + (head > 0 ? head : 0)) : NAN;
}

bool ledger_is_path(const char *path)
{
    return strncmp(path, "ledger.", strlen("ledger.")) == 0 || strncmp(path, "direct.", strlen("direct.")) == 0;
}

void ledger_put_command(const Session *s, Buf *out)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = *s->ledger.path ? graph_find(g, s->ledger.path) : NO_NODE;
    buf_puts(out, "ledger ");
    if (n == NO_NODE)
        buf_puts(out, "off");
    else
        address_put(g, n, s->ledger.cell, out);
    if (n != NO_NODE && s->ledger.against != LEDGER_ALONE)
        buf_printf(out, " against=%zu", s->ledger.against);
    const LedgerStep *step = s->ledger.step;
    int steps = 0;
    while (n != NO_NODE && steps < LEDGER_STEPS && *step[steps].via)
        steps++;
    for (int i = 0; i < steps; i++)
        buf_printf(out, "%s%s", i ? "," : " via=", step[i].via);
    for (int i = 0; i < steps; i++)
        buf_printf(out, "%s%d", i ? "," : " head=", step[i].head);
    for (int i = 0; i < steps; i++)
        buf_printf(out, "%s%d", i ? "," : " token=", step[i].token);
    buf_putc(out, '\n');
}

/* The largest of x but `without`. */
static size_t largest_but(const float *x, size_t n, size_t without)
{
    size_t best = without == 0 ? 1 : 0;
    for (size_t i = 0; i < n; i++)
        if (i != without && x[i] > x[best])
            best = i;
    return best;
}

void ledger_class(const Graph *g, NodeId n, size_t cell, int *row, int *o)
{
    size_t classes = (size_t)g->axes[node_role(g, n, ROLE_ANSWER)].n;
    *row = (int)(cell / classes);
    *o = (int)(cell % classes);
}

bool ledger_rivals(Session *s, Side side, int row, int o, LedgerTarget *t, Err *err)
{
    const Graph *g = session_graph(s, ask_side(side));
    NodeId logits = ledger_answers(g);
    int axis = logits == NO_NODE ? AXIS_NONE : node_role(g, logits, ROLE_ANSWER);
    size_t classes = axis == AXIS_NONE ? 0 : (size_t)g->axes[axis].n;
    if (classes < 2)
        return err_set(err, "%s", session_input_words(s, SIDE_B)->no_ledger);
    const float *x = ask_need(s, ask_side(side), logits, err);
    if (!x)
        return false;
    int token = node_role(g, logits, ROLE_QUERY);
    size_t first = token == AXIS_NONE ? 0 : (size_t)(row < 0 ? session_index_on(s, g, token) : row) * classes;
    size_t answer = largest_but(x + first, classes, SIZE_MAX), cell = o < 0 ? answer : (size_t)o;
    *t = (LedgerTarget){.cell = first + cell,
                        .against = first + (cell == answer ? largest_but(x + first, classes, answer) : answer)};
    snprintf(t->path, sizeof t->path, "%s", graph_node(g, logits)->path);
    return true;
}

bool ledger_answer(Session *s, Err *err)
{
    LedgerTarget t;
    return *s->ledger.path || (ledger_rivals(s, SIDE_B, -1, -1, &t, err) && ledger_set(s, &t, err));
}

void ledger_text(const Session *s, Buf *out)
{
    const Graph *g = s->now->pass.base;
    NodeId n = *s->ledger.path ? graph_find(g, s->ledger.path) : NO_NODE;
    if (n == NO_NODE)
        return;
    address_put(g, n, s->ledger.cell, out);
    if (s->ledger.against == LEDGER_ALONE)
        return;
    buf_puts(out, " − ");
    address_put(g, n, s->ledger.against, out);
}

void ledger_text_short(const Session *s, Buf *out)
{
    const Graph *g = s->now->pass.base;
    const NodeId n = *s->ledger.path ? graph_find(g, s->ledger.path) : NO_NODE;
    const int axis = n == NO_NODE ? AXIS_NONE : node_role(g, n, ROLE_ANSWER);
    char label[64];
    int row, o;
    if (axis == AXIS_NONE) {
        ledger_text(s, out);
        return;
    }
    ledger_class(g, n, s->ledger.cell, &row, &o);
    buf_puts(out, axis_label(&g->axes[axis], o, label, sizeof label));
    if (s->ledger.against == LEDGER_ALONE)
        return;
    ledger_class(g, n, s->ledger.against, &row, &o);
    buf_printf(out, " − %s", axis_label(&g->axes[axis], o, label, sizeof label));
}

static int by_size(const void *a, const void *b)
{
    const LedgerLine *x = a, *y = b;
    float p = fabsf(x->value), q = fabsf(y->value);
    if (p != q)
        return p > q ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

LedgerLine *ledger_lines(Session *s, Side side, bool sorted, int *count, Err *err)
{
    side = ask_side(side);
    const Graph *g = session_graph(s, side);
    const Ledger *l = session_ledger(s, side);
    *count = l ? line_count(g, l) : 0;
    LedgerLine *lines = xcalloc((size_t)*count + 1, sizeof *lines);
    Vary vary;
    bool ok = true;
    vary_init(&vary, g);
    for (int i = 0; ok && i < *count; i++) {
        LedgerLine *to = &lines[i];
        line_at(g, l, i, &to->index, &to->head);
        const LedgerEntry *e = to->entry = &l->entry[to->index];
        to->line = i;
        to->node = to->head < 0 ? e->total : e->heads;
        to->cell = to->head < 0 ? 0 : (size_t)to->head;
        to->same = !vary.node[e->part] && e->kind != LEDGER_PUT_IN;
        const float *x = ask_need(s, side, to->node, err);
        ok = x != NULL;
        to->value = ok ? x[to->cell] : 0;
    }
    vary_free(&vary);
    if (!ok) {
        free(lines);
        return NULL;
    }
    if (sorted)
        qsort(lines, (size_t)*count, sizeof *lines, by_size);
    return lines;
}

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

void ledger_part_text(const Graph *g, const LedgerLine *l, Buf *out)
{
    const char *path = graph_node(g, l->entry->part)->path;
    int part = part_of(g, l->entry);
    const char *stack = part == NO_PART ? "" : anatomy_part(g, part)->stack;
    char name[ATTENTION_NAME];
    if (l->entry->kind == LEDGER_HEADS && l->entry->layer >= 0)
        buf_printf(out, "%s ", session_attention_name(g, part, name));
    else if (l->entry->layer >= 0 && *stack)
        buf_printf(out, "%.3s %d ", stack, l->entry->layer);
    else if (l->entry->layer >= 0)
        buf_printf(out, "block %d ", l->entry->layer);
    switch (l->entry->kind) {
    case LEDGER_HEADS:
        if (l->head >= 0)
            buf_printf(out, "head %d", l->head);
        else
            buf_puts(out, "heads");
        return;
    case LEDGER_MLP: buf_puts(out, "MLP"); return;
    case LEDGER_PATCHES: buf_puts(out, "patches"); return;
    case LEDGER_WORDS: buf_puts(out, "the word"); return;
    case LEDGER_POSITIONS: buf_puts(out, *stack ? "its position" : "positions"); return;
    default: break;
    }
    buf_puts(out, l->entry->layer >= 0 ? anatomy_inside_block(g, path) : path);
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

/* Of an MLP with experts those that wrote anything. */
static void put_experts(const Page *p, const LedgerEntry *e, Buf *out)
{
    if (e->kind != LEDGER_MLP || e->experts == NO_NODE)
        return;
    for (size_t x = 0; x < graph_cells(p->g, e->experts); x++) {
        float value = number_of(p, e->experts, x);
        if (value < 0 || value > 0)
            buf_printf(out, "    expert %-11zu %11.5f\n", x, (double)value);
    }
    if (e->shared != NO_NODE)
        buf_printf(out, "    %-18s %11.5f\n", "the shared expert", (double)number_of(p, e->shared, 0));
}

static void put_line(const Page *p, const LedgerLine *l, Buf *out)
{
    Buf part = {0};
    ledger_part_text(p->g, l, &part);
    buf_printf(out, "  %-20s %11.5f", buf_str(&part), (double)l->value);
    if (p->measured)
        buf_printf(out, " %11.5f", (double)effect_of(p->s, TAKEN_LINES, l->line));
    buf_printf(out, "%s\n", l->same ? "  same for all" : "");
    put_experts(p, l->entry, out);
    buf_free(&part);
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
        buf_puts(out, "Beside it how much less the number is in a pass run without the part (of a head or an MLP:\n"
                      "without what it writes into the row that is read).\n\n"
                      "                             wrote        less\n");
    for (int i = 0; i < p->count; i++)
        put_line(p, &p->lines[i], out);
    buf_printf(out, "  %-20s %11.5f\n", "sum", (double)p->sum);
    buf_printf(out, "  %-20s %11.2g  (rounding)\n", "remainder", (double)p->remainder);
    buf_printf(out,
               "\"same for all\": the same for every %s. What a part wrote is not its effect: later parts read "
               "it too, and react.\n",
               input_kind_name(session_input(p->s, p->side)->kind));
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
            json_put_float(out, "taken_out", effect_of(p->s, TAKEN_LINES, l->line));
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

int ledger_attention(const Session *s, Side side)
{
    const Graph *g = session_graph(s, ask_side(side));
    const Ledger *l = session_ledger(s, side);
    int block = session_block(s), blocks = session_blocks_on(s, ask_side(side));
    int part = session_attention(s, g, block < 0 || block >= blocks ? blocks - 1 : block);
    if (part == NO_PART || !*anatomy_part(g, part)->stack || ledger_heads(s, side, part))
        return part;
    for (int i = 0; l && i < l->count; i++)
        if (l->entry[i].kind == LEDGER_HEADS)
            return part_of(g, &l->entry[i]);
    return part;
}
