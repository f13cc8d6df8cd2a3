#include "core/session/ask/ledgers.h"

#include <ctype.h>
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

const LedgerOn *ledger_on(const Session *s, Side side)
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

const Axis *ledger_why_named(const Session *s, Side side, const LedgerEntry **e, int *head, int *token)
{
    const Ledger *l = session_ledger(s, side);
    const Graph *g = session_graph(s, ask_side(side));
    const LedgerStep *first = &s->ledger.step[0];
    for (int i = 0; l && *first->via && i < l->count; i++) {
        *e = &l->entry[i];
        if ((*e)->kind != LEDGER_HEADS || strcmp(graph_node(g, (*e)->total)->path, first->via) != 0)
            continue;
        const Axis *tokens = &g->axes[node_role(g, (*e)->tokens, ROLE_KEY)];
        *head = first->head;
        *token = first->token;
        return *token < tokens->n ? tokens : NULL; /* A may have another text */
    }
    return NULL;
}

int ledger_why_token(const Session *s, Side side, const LedgerEntry *e, int head)
{
    const LedgerEntry *of;
    int spoke, token;
    return e && ledger_why_named(s, side, &of, &spoke, &token) && of == e && spoke == head ? token : -1;
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

bool ledger_asks_row(const Graph *g, const Address *to, size_t cell, int *row)
{
    const NodeId n = graph_find(g, to->path), logits = ledger_answers(g);
    int o, token = AXIS_NONE;
    if (logits == NO_NODE || (n != logits && !site_is(g, to->path, SITE_LOGITS) && !site_is(g, to->path, SITE_PROBS)))
        return false;
    const int answer = node_role(g, n, ROLE_ANSWER), asks = node_role(g, n, ROLE_QUERY);
    for (int i = 0; i < to->cells.n; i++) {
        if (to->cells.range[i].axis == answer)
            return false;
        token = to->cells.range[i].axis == asks ? asks : token;
    }
    ledger_class(g, n, cell, row, &o);
    *row = token == AXIS_NONE ? -1 : *row;
    return true;
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

/* A class by its name; a sign that would be read as one of the sentence in quotes. */
static void put_class(const Axis *axis, int o, Buf *out)
{
    char label[64];
    bool sign = true;
    axis_label(axis, o, label, sizeof label);
    for (const char *c = label; *c; c++)
        sign = sign && ispunct((unsigned char)*c);
    buf_printf(out, sign ? "\"%s\"" : "%s", label);
}

void ledger_text_short(const Session *s, Buf *out)
{
    const Graph *g = s->now->pass.base;
    const NodeId n = *s->ledger.path ? graph_find(g, s->ledger.path) : NO_NODE;
    const int axis = n == NO_NODE ? AXIS_NONE : node_role(g, n, ROLE_ANSWER);
    int row, o;
    if (axis == AXIS_NONE) {
        ledger_text(s, out);
        return;
    }
    ledger_class(g, n, s->ledger.cell, &row, &o);
    put_class(&g->axes[axis], o, out);
    if (s->ledger.against == LEDGER_ALONE)
        return;
    ledger_class(g, n, s->ledger.against, &row, &o);
    buf_puts(out, " − ");
    put_class(&g->axes[axis], o, out);
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
