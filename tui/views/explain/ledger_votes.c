/* Which patches, or words, spoke for the number. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/screens/answer.h"
#include "tui/views/attention/lit.h"
#include "tui/views/explain/ledger_view.h"
#include "tui/views/lattice.h"

enum { WORD = 11, PATCH_MOST = 12, NARROW = 24, VOTES_CELLS = 18, LIT_LEAST = 2 };

typedef struct Votes {
    Shown v;
    size_t first; /* cell of the first patch: of one head's tokens those in front are passed over */
    int cols, prefix;
    int token; /* that the sentence of `why` names, where these are its votes; −1: it names none */
} Votes;

/* Whose votes: of the head in focus where one is and one is asked for. */
static const LedgerEntry *one_head(const LedgerView *v)
{
    return v->s->look.ledger.one_head && !v->mlp ? ledger_heads(v->s, v->side, v->attention) : NULL;
}

static bool votes_open(const LedgerView *v, Votes *out)
{
    const LedgerEntry *e = one_head(v);
    if (!shown_open(v->s, v->side, ledger_view_path(v, e ? e->tokens : v->l->votes), &out->v) || !out->v.values)
        return false;
    const Node *n = graph_node(out->v.graph, out->v.node);
    const Axis *axis = &out->v.graph->axes[n->dims.axis[n->dims.n - 1]];
    out->first = e ? (size_t)v->head * (size_t)axis->n + (size_t)axis->prefix : 0;
    out->cols = axis->cols;
    out->prefix = axis->prefix;
    out->token = ledger_why_token(v->s, v->side, e, v->head);
    return out->cols > 0;
}

/* The largest in what A and B show of them, one scale for both. */
static float votes_most(const LedgerView *v)
{
    float most = 0;
    for (int side = SIDE_A; side <= SIDE_B; side++) {
        const LedgerView of = side == (int)v->side ? *v : ledger_view(v->s, (Side)side);
        Votes t;
        if ((side != (int)v->side && !session_compares(v->s)) || !of.l || !votes_open(&of, &t))
            continue;
        for (int i = 0, n = t.cols * ledger_places(&of, ROLE_PLACE_ROW); i < n; i++)
            most = fmaxf(most, fabsf(t.v.values[t.first + (size_t)i]));
    }
    return most;
}

static float vote(const void *context, int row, int col, Ref *ref)
{
    const Votes *t = context;
    size_t cell = t->first + (size_t)row * (size_t)t->cols + (size_t)col;
    *ref = shown_ref(&t->v, cell);
    return t->v.values[cell];
}

/* "block 3 head 2, r1c4: -1.929", with the token that `why` named and what the head wrote by looking at it, as much of
 * it as there is room for. */
static void put_named(const Paint *p, const LedgerView *v, const LedgerEntry *e, int token, Rect r)
{
    char name[ATTENTION_NAME], label[64], text[ATTENTION_NAME + 96], number[16] = "";
    Shown of;
    const Axis *tokens = &v->g->axes[node_role(v->g, e->tokens, ROLE_KEY)];
    const size_t cell = (size_t)v->head * (size_t)tokens->n + (size_t)token;
    const bool there = shown_open(v->s, v->side, ledger_view_path(v, e->tokens), &of) && of.values;
    session_attention_name(v->g, v->attention, name);
    axis_label(tokens, token, label, sizeof label);
    if (there)
        number_text(number, sizeof number, of.values[cell], 6);
    const int value = there ? 2 + (int)strlen(number) : 0;
    if (utf8_print(text, sizeof text, "%s head %d, %s", name, v->head, label) + value > r.w &&
        utf8_print(text, sizeof text, "%s h%d, %s", name, v->head, label) + value > r.w)
        utf8_print(text, sizeof text, "head %d, %s", v->head, label);
    int used = canvas_text(p->c, r.y, r.x, r.w, STYLE_AXIS, text);
    if (!there || used + value > r.w)
        return;
    used += canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_AXIS, ": ");
    canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_STRONG, number);
    canvas_ref(p->c, r.y, r.x + used, (int)strlen(number), shown_ref(&of, cell));
}

static void put_head(const Paint *p, const LedgerView *v, Rect r)
{
    char name[ATTENTION_NAME];
    const LedgerEntry *e = one_head(v);
    const int token = ledger_why_token(v->s, v->side, e, v->head);
    if (token >= 0)
        put_named(p, v, e, token, r);
    else
        canvas_printf(p->c, r.y, r.x, r.w, STYLE_AXIS, "%s%s head %d", r.w < NARROW ? "" : "votes, ",
                      session_attention_name(v->g, v->attention, name), v->head);
}

/* Where the picture is lit by the votes: beside or below their map, else behind `w` in its place, unless its light
 * would be of few colours, whose hues change with it; k = 0: not at all. */
static LatticeMap lit_map(const Paint *p, Rect r, const LatticeMap *m, bool picture)
{
    const Rect right = {r.y, r.x + m->r.w + 2, r.h, r.w - m->r.w - 2},
               below = {r.y + m->r.h + 1, r.x, r.h - m->r.h - 1, r.w},
               room = right.w >= m->r.w   ? right
                      : below.h >= m->r.h ? below
                                          : r;
    const LatticeMap lit = lattice_map(p, room, m->row + m->rows, m->col + m->cols, PATCH_MOST, 0, 0);
    const bool place = room.x != r.x || room.y != r.y ||
                       (*p->s->ledger.step[0].via && (p->mode == MODE_TRUE || lit_lined(p, &lit)));
    const bool whole = !m->row && !m->col && lit.rows == m->rows && lit.cols == m->cols;
    return picture && place && whole && lit.k >= LIT_LEAST ? lit : (LatticeMap){0};
}

static void mark(const Paint *p, const LatticeMap *m, const Votes *t, int patch)
{
    if (patch >= 0)
        lattice_map_mark(p, m, patch / t->cols, patch % t->cols, "[]!", STYLE_CURSOR,
                         shown_ref(&t->v, t->first + (size_t)patch));
}

/* Whose votes they are and which patch has the mark, which is the cursor elsewhere: as much as there is room for. */
static void put_caption(const Paint *p, const LedgerView *v, const Votes *t, int top, const LatticeMap *m, Rect r)
{
    static const char *const FORMS[] = {"votes of all heads: what each wrote by looking; %s most: %s %s",
                                        "all heads: written by looking, %s most: %s %s",
                                        "all heads by looking, %s most: %s %s",
                                        "all heads, %s most: %s %s",
                                        "all heads: %s %s %s",
                                        "all heads: %s %s"};
    enum { FORMS_N = sizeof FORMS / sizeof *FORMS };
    char text[128], label[32], number[16];
    const bool wide = lattice_map_patch(m, m->row, m->col).w > 1;
    const char *sign = wide ? "[ ]" : m->halves ? "◆" : "!";
    const Dims d = graph_node(t->v.graph, t->v.node)->dims;
    if (one_head(v)) {
        put_head(p, v, r);
        return;
    }
    axis_label(&t->v.graph->axes[d.axis[d.n - 1]], t->prefix + top, label, sizeof label);
    number_text(number, sizeof number, t->v.values[t->first + (size_t)top], 6);
    for (int i = 0; i < FORMS_N; i++)
        if (utf8_print(text, sizeof text, FORMS[i], sign, label, number) <= r.w) {
            canvas_text(p->c, r.y, r.x, r.w, STYLE_AXIS, text);
            return;
        }
    utf8_print(text, sizeof text, wide ? "all heads [%s]" : "all heads %s", label);
    canvas_text(p->c, r.y, r.x, r.w, STYLE_AXIS, text);
}

void ledger_draw_votes(const Paint *p, const LedgerView *v, Rect r)
{
    Votes t;
    int rows = ledger_places(v, ROLE_PLACE_ROW), cols = ledger_places(v, ROLE_PLACE_COL);
    Rect caption = rect_cut(&r, 't', 1), bar = r.h > rows / 2 + 1 ? rect_cut(&r, 'b', 1) : (Rect){0};
    if (!rows || !cols || r.h < 1)
        return;
    if (!votes_open(v, &t)) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, v->l->votes == NO_NODE ? "no patch is read" : "computing…");
        return;
    }
    int top = 0;
    const float *x = t.v.values + t.first;
    for (int i = 1; i < rows * cols; i++)
        top = fabsf(x[i]) > fabsf(x[top]) ? i : top;
    const float most = votes_most(v);
    ColourScale scale = colour_scale_of_range(p, -most, most);
    const int at = t.token < 0 ? top : t.token - t.prefix; /* of the sentence, else the largest; cls has no place */
    LatticeMap m = lattice_map(p, r, rows, cols, PATCH_MOST, (at < 0 ? top : at) / cols, (at < 0 ? top : at) % cols);
    const LatticeMap lit = lit_map(p, r, &m, lit_picture(p->s, v->side) != NULL);
    put_caption(p, v, &t, top, lit.k ? &lit : &m, caption);
    const bool alone = lit.k && lit.r.y == m.r.y && lit.r.x == m.r.x;
    if (!alone) {
        lattice_map_draw(p, &m, &scale, vote, &t);
        mark(p, &m, &t, at);
    }
    const bool lined = lit_lined(p, &lit);
    const Lit picture = {p, &lit, lit_picture(p->s, v->side), vote, &t, most, 0, true, lined ? NULL : &scale};
    if (lit.k) {
        lit_draw(&picture);
        mark(p, &lit, &t, at);
    }
    const bool beside = lit.k && lit.r.x > m.r.x, below = lit.k && lit.r.y > m.r.y;
    bar.y = alone || below ? lit.r.y + lit.r.h : m.r.y + m.r.h;
    if (lined && beside && lit.r.y + lit.r.h > bar.y)
        bar.y = lit.r.y + lit.r.h;
    if (bar.h && lined && (alone || beside || below)) /* alone: no colour of a scale is drawn */
        lit_legend(&picture, alone    ? bar
                             : beside ? (Rect){bar.y, lit.r.x, 1, bar.x + bar.w - lit.r.x}
                                      : (Rect){lit.r.y - 1, bar.x, 1, bar.w});
    if (lined && beside)
        bar.w = lit.r.x - bar.x - 2;
    if (bar.h && !(alone && lined))
        colour_scale_bar(p, &scale, bar.y, bar.x, bar.w);
}

/* --- the words --- */

/* Tokens of one text with what was written by looking at each: x[token] from cell `first` of the node on. */
typedef struct Tokens {
    Shown v;
    const Axis *axis;
    size_t first;
    int named; /* by the sentence of `why`; −1: none of them */
} Tokens;

static bool tokens_open(const LedgerView *v, NodeId n, int head, Tokens *out)
{
    if (!shown_open(v->s, v->side, ledger_view_path(v, n), &out->v))
        return false;
    Dims d = graph_node(out->v.graph, out->v.node)->dims;
    out->axis = &out->v.graph->axes[d.axis[d.n - 1]];
    out->first = (size_t)head * (size_t)out->axis->n;
    out->named = -1;
    return true;
}

static float most_of(const Tokens *t)
{
    float most = 0;
    for (int i = 0; t->v.values && i < t->axis->n; i++)
        most = fmaxf(most, fabsf(t->v.values[t->first + (size_t)i]));
    return most;
}

static void draw_token(const Paint *p, const Tokens *t, int i, Rect line, const ColourScale *scale)
{
    char label[64];
    const size_t cell = t->first + (size_t)i;
    const float x = t->v.values[cell];
    canvas_label(p->c, line.y, line.x, WORD - 1, i == t->named ? STYLE_CURSOR : STYLE_TEXT,
                 axis_label(t->axis, i, label, sizeof label));
    for (int k = 0; k < 2; k++)
        canvas_pixel(p->c, line.y, line.x + WORD + k, -1, colour_scale_colour(scale, x), colour_scale_level(scale, x),
                     0, shown_ref(&t->v, cell));
    shown_number_right(p, &t->v, cell, line.y, line.x + WORD + 3, LEDGER_WIDE, STYLE_TEXT);
}

/* In one column or in two, of a text that has more tokens than lines those that spoke most. Returns the lines that it
 * took. */
static int draw_tokens(const Paint *p, const Tokens *t, Rect r, const ColourScale *scale)
{
    Rect line = rect_cut(&r, 't', 1);
    canvas_text(p->c, line.y, line.x, line.w, STYLE_AXIS,
                t->axis->sequence == SEQUENCE_SOURCE ? "words read" : "words written");
    if (!t->v.values) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "computing…");
        return 2;
    }
    const int n = t->axis->n, columns = r.w >= 2 * WORDS_WIDE + WORDS_GAP && n > r.h ? 2 : 1;
    const int lines = n <= columns * r.h ? (n + columns - 1) / columns : r.h,
              shown = n <= columns * r.h ? n : columns * r.h - 1;
    const Ranking order = {t->v.values + t->first, (size_t)n, true};
    size_t last = shown < n && shown > 0 ? ranking_best(order) : 0; /* the least of those that are shown */
    for (int k = 1; shown < n && k < shown; k++)
        last = ranking_next(order, last);
    int at = 0;
    for (int i = 0; i < n && at < shown; i++) {
        const float own = fabsf(order.v[i]), least = fabsf(order.v[last]);
        if (shown < n && !(own > least || (own == least && (size_t)i <= last)))
            continue;
        draw_token(p, t, i, (Rect){r.y + at % lines, r.x + at / lines * (WORDS_WIDE + WORDS_GAP), 1, WORDS_WIDE},
                   scale);
        at++;
    }
    if (shown < n && lines > 0)
        canvas_printf(p->c, r.y + lines - 1, r.x + (columns - 1) * (WORDS_WIDE + WORDS_GAP), WORDS_WIDE, STYLE_DIM,
                      order.v[ranking_next(order, last)] == 0 ? "%d more, 0" : "%d more, smaller", n - shown);
    return lines + 1;
}

/* Tokens of the texts whose votes are there. */
static int open_texts(const LedgerView *v, Tokens t[2])
{
    const LedgerEntry *e = one_head(v);
    const NodeId node[2] = {e ? e->tokens : v->l->tokens, e ? NO_NODE : v->l->tokens_too};
    int n = 0;
    for (int i = 0; i < 2; i++)
        n += node[i] != NO_NODE && tokens_open(v, node[i], e ? v->head : 0, &t[n]);
    if (n && e)
        t[0].named = ledger_why_token(v->s, v->side, e, v->head);
    return n;
}

/* The same of words. */
static float words_most(const LedgerView *v)
{
    float most = 0;
    for (int side = SIDE_A; side <= SIDE_B; side++) {
        const LedgerView of = side == (int)v->side ? *v : ledger_view(v->s, (Side)side);
        Tokens t[2];
        const int n = (side == (int)v->side || session_compares(v->s)) && of.l ? open_texts(&of, t) : 0;
        for (int i = 0; i < n; i++)
            most = fmaxf(most, most_of(&t[i]));
    }
    return most;
}

int ledger_words_lines(const LedgerView *v)
{
    Tokens t[2];
    int lines = 0;
    const int n = v->l ? open_texts(v, t) : 0;
    for (int i = 0; i < n; i++) {
        const int own = n > 1 ? t[i].axis->n : (t[i].axis->n + 1) / 2;
        lines = own > lines ? own : lines;
    }
    return lines + 2;
}

/* Both texts below each other, or side by side where there is room. */
void ledger_draw_words(const Paint *p, const LedgerView *v, Rect r)
{
    Tokens t[2];
    const int n = open_texts(v, t);
    const float most = words_most(v);
    Rect caption = rect_cut(&r, 't', 1);
    const int said = one_head(v) ? WORDS_WIDE + WORDS_GAP : VOTES_CELLS;
    const bool scaled = n && caption.w >= said + WORDS_WIDE;
    Rect bar = {caption.y, caption.x + said, 1, WORDS_WIDE};
    if (one_head(v) && scaled) /* its name has all that is left */
        bar = rect_cut(&caption, 'r', WORDS_WIDE);
    if (one_head(v))
        put_head(p, v, (Rect){caption.y, caption.x, 1, caption.w - (scaled ? WORDS_GAP : 0)});
    else
        canvas_text(p->c, caption.y, caption.x, caption.w, STYLE_AXIS, n ? "votes, all heads" : "no word is looked at");
    ColourScale scale = colour_scale_of_range(p, -most, most);
    if (scaled)
        colour_scale_bar(p, &scale, bar.y, bar.x, bar.w);
    bool beside = r.w >= 2 * WORDS_WIDE + WORDS_GAP;
    for (int i = 0; i < n; i++) {
        Rect of = r;
        if (beside && n > 1)
            of = (Rect){r.y, r.x + i * (WORDS_WIDE + WORDS_GAP), r.h, WORDS_WIDE};
        else if (n > 1 && i == 0) /* the second one keeps half of them, if it needs that */
            of.h = r.h - 1 - t[1].axis->n < r.h / 2 ? (r.h + 1) / 2 : r.h - 1 - t[1].axis->n;
        int used = draw_tokens(p, &t[i], of, &scale);
        if (!beside)
            rect_cut(&r, 't', used + 1 < r.h ? used + 1 : r.h);
        if (r.h < 2)
            return;
    }
}
