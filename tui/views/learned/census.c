/* The head census: how much of the accuracy over many pictures goes when one head is switched off, every block and head
 * in one table, and what is known of the head in focus. The shares are measurements over pictures and in no trace: they
 * carry no Ref. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/ask/ledgers.h"
#include "core/session/learned/measures.h"
#include "core/session/screens/heads.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/heat.h"
#include "tui/views/number.h"
#include "tui/views/shown.h"

enum {
    LABEL = 9,
    LABEL_STACK = 13,
    CELL_LEAST = 6,
    CELL_BARE = 4,   /* without numbers */
    CELL_COLOUR = 3, /* the colour alone, where all heads are seen by that */
    CELL_WIDEST = 26,
    CELL_HIGHEST = 13,
    PANEL = 34,
    PANEL_LEAST = 28,
    PANEL_LINES = 6,
    POINTS_WIDTH = 5
};

typedef struct Census {
    const Measure *measure; /* NULL while there is none */
    const char *why;
    int row, head, rows, heads; /* in focus; of the model. Rows are attentions: of one stack its blocks */
    int label;
    const Graph *g;
    const Session *s;
    bool nats;            /* cells say how much more a decoder's texts surprise it */
    bool here, measuring; /* cells say what this input's answer loses, for want of labelled ones; more are to come */
} Census;

static Census census_open(const Session *s)
{
    Census c = {
        .row = head_words_row(s), .head = session_head(s), .rows = head_words_rows(s), .g = session_base(s), .s = s};
    c.label = session_by_attention(s) ? LABEL_STACK : LABEL;
    int axis = session_role(s, ROLE_HEAD);
    c.heads = axis == AXIS_NONE ? 0 : session_base(s)->axes[axis].n;
    c.measure = session_measure(s, MEASURE_CENSUS, &c.why);
    c.nats = c.measure && c.measure->nats;
    size_t done, total;
    ledger_measured(s, TAKEN_HEADS, &done, &total);
    c.here = c.why && *s->ledger.path && session_ledger(s, SIDE_B);
    c.measuring = c.here && (done < total || !total);
    return c;
}

/* Points of accuracy that go with the head, nats that come, or what the answer loses; NaN while not measured. Less than
 * 0: more pictures are named right without it, or the text surprises less. */
static float points(const Census *c, int block, int head)
{
    const Measure *m = c->measure;
    if (c->here)
        return census_here(c->s, block, head);
    if (c->nats)
        return m->pictures ? (float)m->more[block * m->cols + head].mean : NAN;
    return m ? 100 * (m->base - m->value[block * m->cols + head]) : NAN;
}

typedef struct Layout {
    Rect status, table, panel; /* table: the label column and the header line included; empty where there is no room */
    Rect bar;                  /* what the colours mean */
    int wide, tall, gap;       /* of one head, and lines between blocks */
    int label, first_row, first_head, down, across;
} Layout;

static int between(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}

static Layout layout(const Census *c, Rect r)
{
    Layout l = {.label = c->label};
    if (r.h > 2)
        l.status = rect_cut(&r, 't', 1);
    int least = c->why && !c->here ? CELL_BARE : CELL_LEAST,
        all = c->label + c->heads * least; /* all heads, if they fit somehow */
    bool below = r.w < PANEL + 2 + all && r.w >= all && r.h >= PANEL_LINES + 3 + c->rows;
    if (!below && r.w >= PANEL + c->label + 4 * CELL_LEAST) {
        const int narrow = r.w - 2 - c->label - c->heads * CELL_COLOUR;
        const bool colours = r.w - 2 - PANEL < all && narrow >= PANEL_LEAST;
        least = colours ? CELL_COLOUR : least;
        l.panel = rect_cut(&r, 'r', colours ? between(narrow, PANEL_LEAST, PANEL) : PANEL);
        rect_cut(&r, 'r', 2);
    } else if (below || r.h >= PANEL_LINES + 1 + c->rows || r.h >= 2 * PANEL_LINES)
        l.panel = rect_cut(&r, 'b', PANEL_LINES);
    if (r.h > 12)
        rect_cut(&r, 't', 1);
    if (r.h > c->rows + 3)
        l.bar = rect_cut(&r, 'b', 1);
    l.table = r;
    int rows = r.h - 1, columns = r.w - c->label;
    l.wide = between(c->heads > 0 ? columns / c->heads : 0, least, CELL_WIDEST);
    l.tall = between(rows / (c->rows > 0 ? c->rows : 1), 1, CELL_HIGHEST);
    if (l.tall > 1 && l.tall != 3) /* blank lines keep blocks apart; a number has a middle line to stand in */
        l.gap = 1 + l.tall % 2;
    l.tall -= l.gap;
    l.down = between(rows / (l.tall + l.gap), 0, c->rows);
    l.across = between(columns / l.wide, 0, c->heads);
    const int under = l.table.y + 1 + l.down * (l.tall + l.gap) + (l.gap == 0);
    if (l.bar.h && under < l.bar.y) /* follows the table */
        l.bar.y = under;
    l.first_row = (int)scroll_first((size_t)c->rows, (size_t)c->row, (size_t)l.down);
    l.first_head = (int)scroll_first((size_t)c->heads, (size_t)c->head, (size_t)l.across);
    return l;
}

/* Are its numbers differences of either sign? */
static bool is_signed(const Census *c)
{
    return c->here || c->nats;
}

/* The cells of one head, without the blank column at its right. */
static Rect head_rect(const Layout *l, int block, int head)
{
    return (Rect){l->table.y + 1 + (block - l->first_row) * (l->tall + l->gap),
                  l->table.x + l->label + (head - l->first_head) * l->wide, l->tall, l->wide - 1};
}

static float most_points(const Census *c)
{
    float most = 0;
    for (int b = 0; b < c->rows; b++)
        for (int h = 0; h < c->heads; h++)
            most = fmaxf(most, is_signed(c) ? fabsf(points(c, b, h)) : points(c, b, h)); /* which passes NaN over */
    return most;
}

/* Is it switched off on side B, all of what it gathers? */
static bool is_off(const Session *s, const Census *c, int row, int head)
{
    return shown_attention_off(s, anatomy_attention(c->g, row), head);
}

/* "-0.18", "-.18", or nothing, the colour alone: no number is cut. before: "~" of what may be chance. */
static void loss_text(char *out, size_t n, float x, int digits, const char *before, int room)
{
    const float least = digits == 2 ? 0.005F : 0.0005F;
    utf8_print(out, n, "%s%.*f", before, digits, fabsf(x) < least ? 0.0 : (double)x);
    char *zero = strchr(out, '0');
    if ((int)strlen(out) > room && zero && zero[1] == '.')
        memmove(zero, zero + 1, strlen(zero));
    if ((int)strlen(out) > room)
        *out = '\0';
}

/* "~0.031", with as many digits as there is room for. */
static void nats_text(const Census *c, int block, int head, int room, char *out, size_t n)
{
    const char *before = measure_more_differs(c->measure, block * c->measure->cols + head) ? "" : "~";
    loss_text(out, n, points(c, block, head), 3, before, room);
    if (!*out)
        loss_text(out, n, points(c, block, head), 2, before, room);
}

static void draw_head(const Paint *p, const Census *c, Rect r, const ColourScale *scale, int block, int head)
{
    char text[32];
    float x = points(c, block, head);
    bool here = block == c->row && head == c->head;
    if (!isnan(x))
        for (int i = 0; i < r.h * r.w; i++)
            canvas_pixel(p->c, r.y + i / r.w, r.x + i % r.w, -1, colour_scale_colour(scale, x),
                         colour_scale_level(scale, x), is_signed(c) ? colour_scale_sign(scale, x) : 0, (Ref){0});
    if (isnan(x))
        snprintf(text, sizeof text, "%s", c->why && !c->measuring ? "-" : "…");
    else if (c->here)
        loss_text(text, sizeof text, x, 2, "", r.w - (here ? 2 : 1));
    else if (c->nats)
        nats_text(c, block, head, r.w - (here ? 2 : 1), text, sizeof text);
    else
        utf8_print(text, sizeof text, "%s%.1f",
                   paired_differs(c->measure->pair[block * c->measure->cols + head]) ? "" : "~",
                   fabsf(x) < 0.05F ? 0.0 : (double)x); /* no −0 */
    int y = r.y + (r.h - 1) / 2;
    int middle = (r.w + POINTS_WIDTH) / 2 - 1;
    if (is_signed(c) && !isnan(x))
        canvas_right(p->c, y, r.x, r.w - 1 < middle + 1 ? r.w - 1 : middle + 1, STYLE_STRONG, text);
    else
        canvas_right(p->c, y, r.x + 1, r.w - 2 < middle ? r.w - 2 : middle, STYLE_STRONG, text);
    for (int i = 0; i < r.w && !isnan(x); i++) { /* its colour behind it: a line may be all that a head has */
        Cell *k = canvas_at(p->c, y, r.x + i);
        if (k)
            k->bg = colour_scale_colour(scale, x);
        if (k && word_beside(p, y, r.x + i, r.x, r.x + r.w))
            k->level = 1;
    }
    if (is_off(p->s, c, block, head))
        canvas_text(p->c, r.h > 1 ? r.y + r.h - 1 : y, r.h > 1 ? r.x + 1 : r.x, r.h > 1 ? r.w - 2 : 1, STYLE_EDITED,
                    r.h > 1 ? "off" : "x");
    if (here)
        heat_mark(p, r.y, r.x, r.h, r.w, (Ref){0});
}

static void draw_table(const Paint *p, const Census *c, const Layout *l, bool focus)
{
    const float most = most_points(c);
    ColourScale scale = colour_scale_of_range(p, is_signed(c) ? -most : 0, most);
    scale.root = true; /* one head may cost ten times what all others do */
    if (l->table.h < 2)
        return;
    for (int h = l->first_head; h < l->first_head + l->across; h++) {
        Rect at = head_rect(l, l->first_row, h);
        canvas_printf(p->c, l->table.y, at.x, at.w, h == c->head ? STYLE_STRONG : STYLE_AXIS,
                      at.w >= (c->heads > 10 ? 7 : 6)   ? "head %d"
                      : at.w >= (c->heads > 10 ? 3 : 2) ? "h%d"
                                                        : "%d",
                      h);
    }
    if (l->across < c->heads)
        canvas_printf(p->c, l->table.y, l->table.x, l->label - 1, STYLE_DIM, "of %d:", c->heads);
    else if (l->wide < CELL_BARE && c->heads > 10)
        canvas_text(p->c, l->table.y, l->table.x, l->label - 1, STYLE_DIM, "head");
    for (int b = l->first_row; b < l->first_row + l->down; b++) {
        Rect line = head_rect(l, b, l->first_head);
        char name[ATTENTION_NAME];
        canvas_text(p->c, line.y + (line.h - 1) / 2, l->table.x, l->label - 1, b == c->row ? STYLE_STRONG : STYLE_AXIS,
                    session_attention_name(c->g, anatomy_attention(c->g, b), name));
        for (int h = l->first_head; h < l->first_head + l->across; h++)
            draw_head(p, c, head_rect(l, b, h), &scale, b, h);
    }
    if (l->bar.h && (c->here ? most > 0 : c->measure && !isnan(c->measure->base)))
        colour_scale_bar(p, &scale, l->bar.y, l->bar.x, l->bar.w);
    Rect here = head_rect(l, c->row, c->head);
    focus_cursor(p, focus, here.y + (here.h - 1) / 2, here.x);
}

/* "logits[o=3] − logits[o=5]"; of words, which may be "." and ":", these in quotes and the token behind which they
 * stand: an address has numbers for such words. */
static void put_lead(const Session *s, Buf *out)
{
    const Graph *g = s->now->pass.base;
    const NodeId n = *s->ledger.path ? graph_find(g, s->ledger.path) : NO_NODE;
    const int words = n == NO_NODE ? AXIS_NONE : node_role(g, n, ROLE_ANSWER),
              tokens = n == NO_NODE ? AXIS_NONE : node_role(g, n, ROLE_QUERY);
    if (words == AXIS_NONE || tokens == AXIS_NONE || s->ledger.against == LEDGER_ALONE) {
        ledger_text(s, out);
        return;
    }
    char of[64], less[64], behind[64];
    int row, word, against;
    ledger_class(g, n, s->ledger.against, &row, &against);
    ledger_class(g, n, s->ledger.cell, &row, &word);
    buf_printf(out, "\"%s\" − \"%s\" after %s", axis_label(&g->axes[words], word, of, sizeof of),
               axis_label(&g->axes[words], against, less, sizeof less),
               axis_label(&g->axes[tokens], row, behind, sizeof behind));
}

/* "measuring 40 %  what logits[o=3] − logits[o=5] loses, each head off at every token": a ledger takes a head
 * out at one token. */
static void draw_status_here(const Paint *p, Rect r)
{
    static const char *const WHAT[] = {
        "no labelled inputs are known: what this one's %s loses, each head off at every token",
        "what %s loses, each head off at every token", "lost of %s"};
    Buf of = {0};
    size_t done, total;
    ledger_measured(p->s, TAKEN_HEADS, &done, &total);
    put_lead(p->s, &of);
    int used = done < total || !total ? canvas_printf(p->c, r.y, r.x, r.w, STYLE_STRONG, "measuring %d %%  ",
                                                      total ? (int)(100 * done / total) : 0)
                                      : 0;
    for (int i = 0; i < 3; i++) {
        char text[200];
        utf8_print(text, sizeof text, WHAT[i], buf_str(&of));
        if (i < 2 && utf8_cells(text) > r.w - used)
            continue;
        canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_TEXT, text);
        break;
    }
    buf_free(&of);
}

/* "measuring 40 %  surprise 2.345 ±0.012 nats a token over 12 windows of held.txt; nats more …" */
static void draw_status_nats(const Paint *p, const Measure *m, Rect r)
{
    int used = m->done < m->total ? canvas_printf(p->c, r.y, r.x, r.w, STYLE_STRONG, "measuring %d %%  ",
                                                  (int)(100 * (double)m->done / (double)m->total))
                                  : 0;
    char text[160], margin[24] = "";
    if (!m->pictures)
        return;
    if (m->pictures > 1)
        utf8_print(margin, sizeof margin, " ±%.3f", m->base_nats.margin);
    utf8_print(text, sizeof text, "surprise %.3f%s nats a token, %zu window%s of %s", m->base_nats.mean, margin,
               m->pictures, m->pictures == 1 ? "" : "s", session_texts(p->s));
    used += canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_TEXT, text);
    static const char *const MORE[] = {"; nats more without a head, ~ may be chance", "; ~ may be chance"};
    for (int i = 0; i < 2; i++)
        if (r.w - used >= (int)strlen(MORE[i])) {
            canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, MORE[i]);
            break;
        }
}

static void draw_status(const Paint *p, const Census *c, Rect r)
{
    const Measure *m = c->measure;
    char count[32], share[48];
    if (c->nats) {
        draw_status_nats(p, m, r);
        return;
    }
    if (c->here) {
        draw_status_here(p, r);
        return;
    }
    if (c->why) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, c->why);
        return;
    }
    if (!m) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "measuring…");
        return;
    }
    count_text(count, sizeof count, m->pictures);
    bool measuring = m->done < m->total;
    int used = measuring ? canvas_printf(p->c, r.y, r.x, r.w, STYLE_STRONG, "measuring %d %%  ",
                                         (int)(100 * (double)m->done / (double)m->total))
                         : 0;
    if (!isnan(m->base))
        used += canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_TEXT, "%s of %s held-out %s right",
                              measure_share_text(m->base_right, m->pictures, share, sizeof share), count,
                              session_measured_over(p->s));
    const char *more = "; points lost without a head, ~ may be chance";
    if (r.w - used < (int)strlen(more))
        more = "; ~ may be chance";
    if (r.w - used >= (int)strlen(more))
        canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, more);
}

/* --- the head in focus --- */

typedef struct HeadFigure {
    const char *label;
    Site site;
} HeadFigure;

static const HeadFigure FIGURES[] = {{"looks, in pixels", SITE_DISTANCE},
                                     {"entropy, 0–1", SITE_ENTROPY_SHARE_MEAN},
                                     {"largest weight", SITE_LARGEST_MEAN}};
enum { FIGURE_COUNT = sizeof FIGURES / sizeof *FIGURES, FIGURE_LABEL = 18, FIGURE_WIDTH = 8 };

static const char *figure_path(const Session *s, Side side, const Census *c, int i)
{
    const Graph *g = shown_graph(s, side);
    return session_by_attention(s) ? site_path(g, anatomy_attention(g, c->row), FIGURES[i].site)
                                   : shown_attention(s, side, c->row, FIGURES[i].site);
}

/* The figure in that line, of those that this model has; FIGURE_COUNT: none. */
static int figure_in(const Session *s, Side side, const Census *c, int line)
{
    int i = 0;
    for (; i < FIGURE_COUNT; i++)
        if (session_node(s, side, figure_path(s, side, c, i)) != NO_NODE && line-- == 0)
            break;
    return i;
}

/* How many heads were measured. */
static int measured_of(const Census *c)
{
    int measured = 0;
    for (int b = 0; b < c->rows; b++)
        for (int h = 0; h < c->heads; h++)
            measured += !isnan(points(c, b, h));
    return measured;
}

/* Of a panel so high; two where the rank has a line of its own. */
static int share_lines(int panel_lines)
{
    return panel_lines > PANEL_LINES ? 2 : 1;
}

/* "rank 2 of 16", "rank 5–16 of 16, intervals overlap" where those columns are enough for it. */
static void put_places(char *out, size_t n, int first, int last, int of, int width)
{
    utf8_print(out, n, "rank %d–%d of %d, intervals overlap", first, last, of);
    if (first == last)
        snprintf(out, n, "rank %d of %d", first, of);
    else if (utf8_cells(out) > width)
        utf8_print(out, n, "rank %d–%d of %d", first, last, of);
}

static void draw_share(const Paint *p, const Census *c, Rect line)
{
    float x = points(c, c->row, c->head);
    if (isnan(x) || c->here) {
        char number[32];
        number_text(number, sizeof number, x, 8);
        if (isnan(x))
            canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM,
                        c->here && !census_in_ledger(c->s, c->row) ? "not measured: not in the ledger"
                        : c->why && !c->measuring                  ? "not measured"
                                                                   : "not measured yet");
        else
            canvas_printf(p->c, line.y, line.x, line.w, STYLE_TEXT, "lost without it %s", number);
        return;
    }
    const Measure *m = c->measure;
    int cell = c->row * m->cols + c->head, first, last;
    char places[64];
    measure_places(m, cell, &first, &last);
    put_places(places, sizeof places, first, last, measured_of(c), line.w);
    if (c->nats && m->pictures == 1) { /* no interval, and no rank */
        canvas_printf(p->c, line.y, line.x, line.w, STYLE_TEXT, "without it %+.3f nats a token", m->more[cell].mean);
        return;
    }
    int used = c->nats ? canvas_printf(p->c, line.y, line.x, line.w, STYLE_TEXT, "without it %+.3f ±%.3f nats",
                                       m->more[cell].mean, m->more[cell].margin)
                       : canvas_printf(p->c, line.y, line.x, line.w, STYLE_TEXT, "lost without it %.1f ±%.1f points",
                                       100 * paired_lost(m->pair[cell]), 100 * paired_margin(m->pair[cell]));
    if (line.h > 1)
        canvas_text(p->c, line.y + 1, line.x, line.w, STYLE_DIM, places);
    else if (line.w - used >= utf8_cells(places) + 2)
        canvas_printf(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, ", %s", places);
}

static void draw_figure(const Paint *p, const Census *c, Side side, Rect line, int i)
{
    Shown v;
    if (!shown_open(p->s, side, figure_path(p->s, side, c, i), &v))
        return;
    canvas_text(p->c, line.y, line.x, FIGURE_LABEL - 1, STYLE_DIM, FIGURES[i].label);
    if (!v.values) {
        canvas_text(p->c, line.y, line.x + FIGURE_LABEL, line.w - FIGURE_LABEL, STYLE_DIM, "computing…");
        return;
    }
    int room = line.w - FIGURE_LABEL < FIGURE_WIDTH ? line.w - FIGURE_LABEL : FIGURE_WIDTH;
    if (room < 1)
        return;
    int used = FIGURE_LABEL + shown_number(p, &v, v.cell, line.y, line.x + FIGURE_LABEL, room, STYLE_STRONG);
    Shown all;
    if (i == 0 && line.w - used >= 12 && shown_open(p->s, side, shown_site(p->s, side, SITE_DISTANCE_UNIFORM), &all) &&
        all.values) {
        used += canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, ", even ");
        shown_number(p, &all, 0, line.y, line.x + used, line.w - used < FIGURE_WIDTH ? line.w - used : FIGURE_WIDTH,
                     STYLE_DIM);
    }
}

static void draw_panel(const Paint *p, const Census *c, Side side, Rect r)
{
    Rect line = rect_cut(&r, 't', 1);
    if (!line.h)
        return;
    char name[ATTENTION_NAME];
    bool off = is_off(p->s, c, c->row, c->head);
    int used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_HEADER, "%s, head %d",
                             session_attention_name(c->g, anatomy_attention(c->g, c->row), name), c->head);
    canvas_text(p->c, line.y, line.x + used, line.w - used, off ? STYLE_EDITED : STYLE_DIM, off ? ", off now" : "");
    if (r.h > 0)
        draw_share(p, c, rect_cut(&r, 't', share_lines(r.h + 1)));
    if (r.h > 0)
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM,
                    session_words(p->s, SIDE_B) ? "in this sentence:" : "on this picture:");
    rect_cut(&r, 't', 1);
    for (int k = 0, i; r.h > 0 && (i = figure_in(p->s, side, c, k)) < FIGURE_COUNT; k++)
        draw_figure(p, c, side, rect_cut(&r, 't', 1), i);
    if (r.h <= 3)
        return;
    Buf words = {0};
    if (c->nats)
        buf_printf(&words, "Head %d: ", c->head);
    else
        buf_printf(&words, "Over many %s: ", session_measured_over(p->s));
    head_words_looks(p->s, c->row, c->head, &words);
    rect_cut(&r, 't', 1);
    int rows = canvas_wrap_rows(p->c, r.w, buf_str(&words));
    if (!c->why && rows <= r.h)
        rect_cut(&r, 't', canvas_wrap(p->c, r, STYLE_TEXT, buf_str(&words)) + 1);
    buf_free(&words);
    canvas_wrap(p->c, r, STYLE_DIM,
                off                           ? "x switches it on again; Enter: where it looks."
                : session_words(p->s, SIDE_B) ? "x: off for this sentence; Enter: where it looks."
                                              : "x: off for this picture; Enter: where it looks.");
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Census c = census_open(p->s);
    Layout l = layout(&c, r);
    if (c.why && !c.here && session_words(p->s, side)) { /* no table without a number */
        Buf words = {0};
        buf_printf(&words, "What is lost without each head cannot be measured: %s.", c.why);
        canvas_wrap(p->c, r, STYLE_TEXT, buf_str(&words));
        buf_free(&words);
        return;
    }
    if (l.status.h)
        draw_status(p, &c, l.status);
    draw_table(p, &c, &l, focus);
    if (l.panel.h)
        draw_panel(p, &c, side, l.panel);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    Census c = census_open(s);
    (void)r;
    for (int i = 0; i < FIGURE_COUNT; i++)
        needs_add(out, side, figure_path(s, side, &c, i));
    needs_add(out, side, shown_site(s, side, SITE_DISTANCE_UNIFORM));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    (void)side;
    Census c = census_open(p->s);
    Layout l = layout(&c, r);
    if (l.panel.h && rect_has(l.panel, y, x)) {
        const int line = y - l.panel.y - 2 - share_lines(l.panel.h),
                  i = line < 0 ? FIGURE_COUNT : figure_in(p->s, SIDE_B, &c, line);
        if (i == FIGURE_COUNT)
            return false;
        buf_printf(command, "goto %s", figure_path(p->s, SIDE_B, &c, i));
        return true;
    }
    for (int b = l.first_row; b < l.first_row + l.down; b++)
        for (int h = l.first_head; h < l.first_head + l.across; h++)
            if (rect_has(l.table, y, x) && rect_has(head_rect(&l, b, h), y, x)) {
                if (b == c.row && h == c.head)
                    buf_puts(command, "in");
                else if (session_by_attention(p->s))
                    buf_printf(command, "attention %d; head %d", b, h);
                else
                    buf_printf(command, "block %d; head %d", b, h);
                return true;
            }
    return false;
}

static void title(const Session *s, Side side, Buf *out)
{
    (void)side;
    const Census c = census_open(s);
    if (c.nats)
        buf_puts(out, "head census: more surprise without each head");
    else if (c.here)
        buf_puts(out, "head census: what this answer loses without each head");
    else
        buf_puts(out, session_words(s, SIDE_B) ? "head census: sentences lost without each head"
                                               : "head census: accuracy lost without each head");
}

VIEW_SPEC(CENSUS, .name = "census", .traits = VIEW_WIDE, .sides = SIDES_TOGETHER,
          .sentence = "Each head switched off in turn: what the model loses without it.", .keys = KEYS_OF_HEADS);
