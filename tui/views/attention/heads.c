/* Every head of every block: how far it looks, in pixels, between looking at all patches alike and always at the
 * farthest; how evenly, and how large its largest weight is. Where not all heads have room, the blocks out of focus
 * share one line each. */
#include <math.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/screens/heads.h"
#include "tui/views/attention/heads_words.h"
#include "tui/views/shown.h"

enum {
    BLANK = -2,
    NUMBER = 6,
    UNDER = 18, /* of "+10 under others" */
    BAR_MOST = 24,
    BAR_LONG = 16,
    AXIS_LEAST = 8,
    LEGEND_WIDE = 84,
    NEEDS_MOST = 108,
    LONG_LABEL = 14,
    SHORT_LABEL = 7,
    WIDE = 76,
    NARROW = 44,
    NARROWER = 26,
    WORDS_LEAST = 50,
    WORDS_LINES = 5,
    CLOSE = 2,       /* of that part of the axis do the heads use less */
    AROUND_LIST = 3, /* heading, axis and legend */
    ROOMY = 100
};

typedef enum HeadFigure { DISTANCE, ENTROPY, LARGEST, FIGURES } HeadFigure;
static const Site PROBE[FIGURES] = {SITE_DISTANCE, SITE_ENTROPY_SHARE_MEAN, SITE_LARGEST_MEAN};

typedef struct HeadMap {
    const Session *s;
    Side side;
    int blocks, heads, block, head; /* block, head: in focus */
    Shown uniform, maximal;
    bool lines; /* are there reference lines? */
} HeadMap;

static const char *path_of(const Session *s, Side side, int block, HeadFigure f)
{
    return shown_attention(s, side, block, PROBE[f]);
}

/* One value of a head; false while it is not there. */
static bool open_figure(const HeadMap *m, int block, HeadFigure f, Shown *out)
{
    return shown_open(m->s, m->side, path_of(m->s, m->side, block, f), out) && out->values &&
           out->count == (size_t)m->heads;
}

/* Of that side, in the block of the focus. */
static int heads_of(const Session *s, Side side, int block)
{
    const Graph *g = shown_graph(s, side);
    const char *pattern = shown_attention(s, side, block, SITE_PATTERN);
    int axis = pattern ? node_role(g, graph_find(g, pattern), ROLE_HEAD) : AXIS_NONE;
    return axis == AXIS_NONE ? 0 : g->axes[axis].n;
}

/* The block of the focus; a side that ends before it stands at its last. */
static int block_on(const Session *s, Side side)
{
    int block = session_block(s), last = session_blocks_on(s, side) - 1;
    return block < 0 || last < 0 ? 0 : block < last ? block : last;
}

static bool open_map(const Session *s, Side side, HeadMap *out)
{
    HeadMap m = {.s = s,
                 .side = side,
                 .blocks = session_blocks_on(s, side),
                 .block = block_on(s, side),
                 .head = session_head(s)};
    m.heads = heads_of(s, side, m.block);
    m.head = m.head < m.heads ? m.head : m.heads - 1;
    if (m.heads < 1 || session_node(s, side, path_of(s, side, m.block, DISTANCE)) == NO_NODE)
        return false;
    m.lines = side != SIDE_DIFF && shown_open(s, side, shown_site(s, side, SITE_DISTANCE_UNIFORM), &m.uniform) &&
              shown_open(s, side, shown_site(s, side, SITE_DISTANCE_MAXIMAL), &m.maximal) && m.uniform.values &&
              m.maximal.values;
    *out = m;
    return true;
}

/* One line of the list; head −1: the whole block, BLANK: nothing. */
typedef struct Line {
    int block, head;
} Line;

typedef struct Layout {
    Rect header, list, axis, legend;
    bool all, spaced;              /* every head has its line; a blank one between blocks */
    int open, first_open;          /* blocks whose heads have a line each, around the focus; the first of them */
    bool wide;                     /* "block 3  h2", else "3 h2" */
    int lines, first, here, pitch; /* pitch: lines of the canvas from one to the next */
    int label, plot, bar;          /* columns; bar 0: numbers only */
    int figures;                   /* columns of numbers beside the plot, 0 … 2 */
} Layout;

/* As many as leave a line for each of the others; one at least. */
static int open_blocks(const HeadMap *m, int lines)
{
    int open = 1;
    while (open < m->blocks && m->blocks - (open + 1) + (open + 1) * m->heads <= lines)
        open++;
    return open;
}

static Layout layout(const HeadMap *m, Rect r)
{
    Layout l = {0};
    if (r.h > 2)
        l.header = rect_cut(&r, 't', 1);
    if (r.h > 3)
        l.legend = rect_cut(&r, 'b', 1);
    if (r.h > AXIS_LEAST && r.h != m->blocks * m->heads) /* rather all heads than the axis */
        l.axis = rect_cut(&r, 'b', 1);
    l.list = r;
    l.all = m->blocks * m->heads <= r.h;
    l.spaced = l.all && m->blocks * (m->heads + 1) - 1 <= r.h;
    l.open = l.all ? m->blocks : open_blocks(m, r.h);
    l.first_open = (int)scroll_first((size_t)m->blocks, (size_t)m->block, (size_t)l.open);
    l.lines = m->blocks - l.open + l.open * m->heads + (l.spaced ? m->blocks - 1 : 0);
    l.here = l.all ? m->block * (m->heads + l.spaced) + m->head
                   : l.first_open + (m->block - l.first_open) * m->heads + m->head;
    l.pitch = l.all && 2 * l.lines - 1 <= r.h ? 2 : 1;
    l.first = (int)scroll_first((size_t)l.lines, (size_t)l.here, (size_t)r.h);
    l.wide = r.w >= WIDE;
    l.label = (l.wide ? LONG_LABEL : SHORT_LABEL) + (m->blocks > 10) + (m->heads > 10);
    l.figures = r.w >= NARROW ? FIGURES - 1 : r.w >= NARROWER;
    l.bar = r.w >= WIDE && m->side != SIDE_DIFF ? (r.w - 40) / 6 : 0;
    l.bar = l.bar > BAR_MOST ? BAR_MOST : l.bar;
    l.plot = r.w - l.label - NUMBER - l.figures * (NUMBER + 2 + l.bar + (l.bar > 0)) - 2;
    int unused = r.h - l.lines * l.pitch; /* what explains the list follows it */
    if (unused > 0) {
        l.axis.y -= unused;
        l.legend.y -= unused;
        l.legend.h += l.legend.h > 0;
    }
    return l;
}

static Line line_at(const HeadMap *m, const Layout *l, int i)
{
    int heads = m->heads + l->spaced;
    if (l->all)
        return (Line){i / heads, i % heads < m->heads ? i % heads : BLANK};
    const int k = i - l->first_open;
    if (k < 0)
        return (Line){i, -1};
    if (k < l->open * m->heads)
        return (Line){l->first_open + k / m->heads, k % m->heads};
    return (Line){i - l->open * (m->heads - 1), -1};
}

/* What both ends of the plot stand for: 0 and a little over the farthest; where heads share lines and lie close
 * together there, so that many would share a cell, the smallest and the largest of them and of uniform attention; for a
 * difference the same on both sides of 0. */
static void ends(const HeadMap *m, bool share, float *low, float *high)
{
    float most = m->lines ? m->maximal.values[0] : 0, least = m->lines ? m->uniform.values[0] : INFINITY,
          largest = m->lines ? least : 0;
    for (int b = 0; b < m->blocks; b++) {
        Shown v;
        for (int h = 0; open_figure(m, b, DISTANCE, &v) && h < m->heads; h++) {
            if (!isfinite(v.values[h]))
                continue;
            most = fmaxf(most, fabsf(v.values[h]));
            least = fminf(least, v.values[h]);
            largest = fmaxf(largest, v.values[h]);
        }
    }
    const bool close = share && m->side != SIDE_DIFF && isfinite(least) && largest > least &&
                       CLOSE * (largest - least) < most;
    *high = close ? largest : most > 0 ? most : 1;
    *low = m->side == SIDE_DIFF ? -*high : close ? least : 0;
}

static int column_of(float x, float low, float high, int width)
{
    double at = ((double)x - (double)low) / ((double)high - (double)low) * (width - 1) + 0.5;
    return !(at > 0) ? 0 : at >= width ? width - 1 : (int)at;
}

static void draw_rules(const Paint *p, const HeadMap *m, int y, int x, int width, float low, float high)
{
    for (int k = 0; k < width; k++)
        canvas_glyph(p->c, y, x + k, STYLE_BORDER, 0xB7);
    if (m->side == SIDE_DIFF)
        canvas_glyph(p->c, y, x + column_of(0, low, high, width), STYLE_AXIS, 0x2502);
    if (!m->lines)
        return;
    canvas_glyph(p->c, y, x + column_of(m->uniform.values[0], low, high, width), STYLE_AXIS,
                 p->c->ascii ? ':' : 0x250A);
    if (m->maximal.values[0] <= high)
        canvas_glyph(p->c, y, x + column_of(m->maximal.values[0], low, high, width), STYLE_AXIS, 0x2502);
}

/* The mark of one head; false where it has no distance. */
static bool put_dot(const Paint *p, float value, int y, int x, int width, float low, float high, uint32_t glyph,
                    Style style)
{
    if (isnan(value))
        return false;
    canvas_glyph(p->c, y, x + column_of(value, low, high, width), style, glyph);
    return true;
}

/* A block in one line: its heads by their numbers, no figures. */
static void draw_block(const Paint *p, const HeadMap *m, const Layout *l, int block, int y, float low, float high)
{
    static const char DIGITS[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    Shown v;
    int hidden = 0;
    canvas_printf(p->c, y, l->list.x, l->label - 1, STYLE_AXIS, l->wide ? " block %d h0–%d" : " %d", block,
                  m->heads - 1);
    if (l->plot < 2)
        return;
    draw_rules(p, m, y, l->list.x + l->label, l->plot, low, high);
    if (!open_figure(m, block, DISTANCE, &v))
        return;
    for (int h = 0; h < m->heads; h++) {
        bool under = false;
        for (int k = h + 1; k < m->heads && !isnan(v.values[h]); k++)
            under = under || (!isnan(v.values[k]) &&
                              column_of(v.values[k], low, high, l->plot) == column_of(v.values[h], low, high, l->plot));
        hidden += under;
        put_dot(p, v.values[h], y, l->list.x + l->label, l->plot, low, high, (uint32_t)DIGITS[h % 36], STYLE_TEXT);
    }
    const int x = l->list.x + l->label + l->plot + 1;
    if (hidden && x + NUMBER <= l->list.x + l->list.w)
        canvas_printf(p->c, y, x, l->list.x + l->list.w - x, STYLE_DIM,
                      l->list.x + l->list.w - x >= UNDER ? "+%d under others" : "+%d", hidden);
}

/* A share of 1, in the colours of the sequential map that are seen on any ground. */
static void draw_bar(const Paint *p, const Shown *v, size_t cell, int y, int x, int width, Style style)
{
    float value = isfinite(v->values[cell]) ? v->values[cell] : 0;
    ColourScale scale = colour_scale_of_range(p, 0, 1);
    Colour colour = colour_scale_colour(&scale, 0.35F + 0.4F * value);
    canvas_bar(p->c, y, x, width, (double)value, style, shown_ref(v, cell));
    for (int i = 0; i < width && (p->mode == MODE_256 || p->mode == MODE_TRUE); i++) {
        Cell *k = canvas_at(p->c, y, x + i);
        if (k)
            k->fg = colour;
    }
}

static void draw_head(const Paint *p, const HeadMap *m, const Layout *l, Line line, int y, float low, float high)
{
    bool here = line.block == m->block && line.head == m->head;
    const bool off = m->side != SIDE_A && shown_head_off(p->s, line.block, line.head);
    Style style = here ? STYLE_STRONG : STYLE_TEXT;
    int x = l->list.x;
    Shown v;
    if (here)
        canvas_fill(p->c, (Rect){y, x, 1, l->label - 1}, STYLE_SELECTED, ' ');
    canvas_printf(p->c, y, x, l->label - 1, here ? STYLE_SELECTED : STYLE_AXIS,
                  l->wide ? "%sblock %d  h%d%s" : "%s%d h%d", here ? ">" : " ", line.block, line.head,
                  off ? " off" : "");
    x += l->label;
    bool there = open_figure(m, line.block, DISTANCE, &v);
    if (l->plot > 1) {
        draw_rules(p, m, y, x, l->plot, low, high);
        if (there && put_dot(p, v.values[line.head], y, x, l->plot, low, high, off ? 0xD7 : 0x25CF,
                             here  ? STYLE_CURSOR
                             : off ? STYLE_EDITED
                                   : STYLE_STRONG))
            canvas_ref(p->c, y, x + column_of(v.values[line.head], low, high, l->plot), 1,
                       shown_ref(&v, (size_t)line.head));
        x += l->plot + 1;
    }
    if (x + NUMBER > l->list.x + l->list.w)
        return; /* no part of a number is shown */
    if (there)
        shown_number_right(p, &v, (size_t)line.head, y, x, NUMBER, style);
    else
        canvas_right(p->c, y, x, NUMBER, STYLE_DIM, "…");
    x += NUMBER;
    for (int f = ENTROPY; f < ENTROPY + l->figures; f++) {
        x += 2;
        if (open_figure(m, line.block, (HeadFigure)f, &v)) {
            shown_number_right(p, &v, (size_t)line.head, y, x, NUMBER, style);
            if (l->bar)
                draw_bar(p, &v, (size_t)line.head, y, x + NUMBER + 1, l->bar, style);
        }
        x += NUMBER + l->bar + (l->bar > 0);
    }
}

static void draw_header(const Paint *p, const HeadMap *m, const Layout *l, float low)
{
    static const char *const NAME[][4] = {
        {"entropy, 0–1", "entropy, 0–1", "entropy, 0–1", "entropy"},
        {"row's largest, mean", "row's largest", "largest", "largest"},
    };
    int x = l->header.x + l->label, y = l->header.y;
    canvas_fill(p->c, l->header, STYLE_HEADER, ' ');
    canvas_text(p->c, y, l->header.x + 1, l->label - 2, STYLE_HEADER, "head");
    const char *far = l->plot < 8                ? "pixels"
                      : m->side == SIDE_DIFF     ? "A − B in pixels"
                      : low > 0 && l->plot >= 20 ? "pixels away, not from 0"
                      : l->plot >= 30            ? "how far it looks, in pixels"
                                                 : "pixels away";
    canvas_text(p->c, y, x, l->plot + NUMBER, STYLE_HEADER, far);
    x += (l->plot > 1 ? l->plot + 1 : 0) + NUMBER;
    for (int f = 0; f < l->figures; f++) {
        x += 2;
        const int room = NUMBER + 1 + l->bar;
        int form = l->bar >= BAR_LONG ? 0 : 1;
        while (form < 3 && utf8_cells(NAME[f][form]) > room)
            form++;
        if (l->bar)
            canvas_text(p->c, y, x, room, STYLE_HEADER, NAME[f][form]);
        else
            canvas_right(p->c, y, x - 1, room, STYLE_HEADER, NAME[f][3]); /* a letter longer than the numbers */
        x += NUMBER + l->bar + (l->bar > 0);
    }
}

/* A number with its unit, centred under a column of the plot but inside it, from `used` on and before `free`; returns
 * where it ends. */
static int axis_mark(const Paint *p, const Layout *l, const Shown *v, float value, float low, float high, int used,
                     int *free)
{
    enum { UNIT = 3 };
    char number[32];
    number_text(number, sizeof number, value, NUMBER);
    int wide = (int)strlen(number) + UNIT, at = column_of(value, low, high, l->plot) - (wide - UNIT) / 2;
    at = at > l->plot + 1 - wide ? l->plot + 1 - wide : at < 0 ? 0 : at;
    if (at < used || at + wide >= *free || wide > l->plot)
        return used;
    int x = l->axis.x + l->label + at;
    int end = v ? shown_number(p, v, 0, l->axis.y, x, NUMBER, STYLE_AXIS)
                : canvas_text(p->c, l->axis.y, x, NUMBER, STYLE_AXIS, number);
    canvas_text(p->c, l->axis.y, x + end, UNIT, STYLE_AXIS, " px");
    if (value >= high)
        *free = at;
    return at + wide + 1;
}

/* Both ends first. */
static void draw_axis(const Paint *p, const HeadMap *m, const Layout *l, float low, float high)
{
    int free = l->plot + 2;
    const int used = axis_mark(p, l, NULL, low, low, high, 0, &free);
    const bool far = m->lines && m->maximal.values[0] <= high; /* else it lies beyond */
    axis_mark(p, l, far ? &m->maximal : NULL, far ? m->maximal.values[0] : high, low, high, used, &free);
    if (m->lines)
        axis_mark(p, l, &m->uniform, m->uniform.values[0], low, high, used, &free);
    else if (m->side == SIDE_DIFF)
        axis_mark(p, l, NULL, 0, low, high, used, &free);
}

/* What the two lines in the plot are, with their values. */
static void draw_legend(const Paint *p, const HeadMap *m, const Layout *l, float high)
{
    const Rect r = l->legend;
    if (!m->lines)
        return;
    const struct {
        const Shown *v;
        const char *mark, *word, *brief;
    } rule[] = {{&m->uniform, p->c->ascii ? ":" : "┊", "uniform attention", "uniform"},
                {&m->maximal,
                 m->maximal.values[0] <= high ? "│"
                 : p->c->ascii                ? ">"
                                              : "→",
                 "always looks farthest away", "farthest"}};
    int x = r.x, end = r.x + r.w;
    for (int k = 0; k < 2; k++) {
        if (end - x < NUMBER + 2)
            return;
        x += canvas_printf(p->c, r.y, x, end - x, STYLE_AXIS, "%s ", rule[k].mark);
        x += shown_number(p, rule[k].v, 0, r.y, x, NUMBER, STYLE_TEXT);
        x += canvas_printf(p->c, r.y, x, end - x, STYLE_DIM, " px %s   ",
                           r.w >= LEGEND_WIDE ? rule[k].word : rule[k].brief);
    }
    const char *digits = m->heads > 10 ? "0–9, a = 10 …: heads" : "0–9: heads";
    if (l->all)
        return;
    if (end - x >= utf8_cells(digits))
        canvas_text(p->c, r.y, x, end - x, STYLE_DIM, digits);
    else if (r.h > 1)
        canvas_text(p->c, r.y + 1, r.x, r.w, STYLE_DIM, digits);
}

/* The head in focus in a sentence over many pictures, below the list where that leaves room for the list. */
static Rect words_of(const Paint *p, const HeadMap *m, Rect *r, Buf *out)
{
    if (m->side != session_side(m->s) || r->w < WORDS_LEAST || r->h < m->blocks + m->heads + WORDS_LINES ||
        open_blocks(m, r->h - AROUND_LIST) > open_blocks(m, r->h - AROUND_LIST - WORDS_LINES))
        return (Rect){.h = 0};
    head_words_put(m->s, head_words_row(m->s), m->head, out);
    int rows = canvas_wrap_rows(p->c, r->w, buf_str(out));
    return rect_cut(r, 'b', rows < WORDS_LINES ? rows : WORDS_LINES);
}

/* How many lines have no room, above and below. */
static void draw_hidden(const Paint *p, const Layout *l, int above, int below)
{
    static const char *const BOTH[] = {" %d above, %d more", "%d above, %d more", "%d up, %d more"};
    const int room = l->label - 1;
    char text[48] = "";
    int form = 0;
    if (above > 0 && below > 0)
        while (form < 3 && utf8_print(text, sizeof text, BOTH[form], above, below) > room)
            form++;
    else if (above > 0 || below > 0)
        utf8_print(text, sizeof text, above > 0 ? " %d above" : " %d more", above > 0 ? above : below);
    canvas_text(p->c, l->axis.y, l->list.x, room, STYLE_DIM, text);
}

static void draw_all(const Paint *p, const HeadMap *m, Rect r, bool focus)
{
    Buf words = {0};
    Rect below = words_of(p, m, &r, &words);
    canvas_wrap(p->c, below, STYLE_TEXT, buf_str(&words));
    buf_free(&words);
    Layout l = layout(m, r);
    float low, high;
    ends(m, !l.all, &low, &high);
    if (l.header.h)
        draw_header(p, m, &l, low);
    const int shown = l.list.h / l.pitch + l.list.h % l.pitch, more = l.lines - l.first - shown;
    if (l.axis.h)
        draw_hidden(p, &l, l.first, more);
    for (int i = l.first; i < l.lines && i < l.first + shown; i++) {
        Line line = line_at(m, &l, i);
        int y = l.list.y + (i - l.first) * l.pitch;
        if (line.head == -1)
            draw_block(p, m, &l, line.block, y, low, high);
        else if (line.head >= 0)
            draw_head(p, m, &l, line, y, low, high);
        if (i == l.here)
            focus_cursor(p, focus, y, l.list.x);
    }
    if (l.axis.h)
        draw_axis(p, m, &l, low, high);
    if (l.legend.h)
        draw_legend(p, m, &l, high);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    HeadMap m;
    if (open_map(p->s, side, &m))
        draw_all(p, &m, r, focus);
    else if (side != SIDE_DIFF && session_by_attention(p->s) &&
             session_exhibit(p->s, side)->model == session_exhibit(p->s, SIDE_B)->model)
        heads_words_draw(p, r, focus);
    else
        canvas_wrap(p->c, r, STYLE_TEXT,
                    side == SIDE_DIFF && session_by_attention(p->s) &&
                            session_exhibit(p->s, SIDE_A)->model == session_exhibit(p->s, SIDE_B)->model
                        ? "Heads are measured on texts of random tokens, not on A's and B's: there is no difference."
                    : side == SIDE_DIFF ? "A and B have no heads in common to subtract."
                                        : "On this side no head looks at patches, so none looks any number of pixels "
                                          "far. `view sheet` has every head, `view sentence` draws one between words.");
}

/* The focused block first, then those around it, as many as may be held. */
static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    int block = block_on(s, side), blocks = session_blocks_on(s, side), most = NEEDS_MOST;
    (void)r;
    if (side != SIDE_DIFF) {
        needs_add(out, side, shown_site(s, side, SITE_DISTANCE_UNIFORM));
        needs_add(out, side, shown_site(s, side, SITE_DISTANCE_MAXIMAL));
    }
    for (int i = 0, n = 0; i < 2 * blocks && n + FIGURES <= most; i++) {
        int b = block + (i % 2 ? (i + 1) / 2 : -i / 2);
        if (b < 0 || b >= blocks)
            continue;
        for (int f = 0; f < FIGURES; f++)
            needs_add(out, side, path_of(s, side, b, (HeadFigure)f));
        n += FIGURES;
    }
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    HeadMap m;
    bool map = open_map(p->s, side, &m);
    if (!map && session_by_attention(p->s) && side != SIDE_DIFF)
        return heads_words_click(p, r, y, x, command);
    if (!map)
        return false;
    Buf words = {0};
    words_of(p, &m, &r, &words);
    buf_free(&words);
    Layout l = layout(&m, r);
    int i = l.first + (y - l.list.y) / l.pitch;
    if (!rect_has(l.list, y, x) || i >= l.lines)
        return false;
    Line line = line_at(&m, &l, i);
    if (line.head == BLANK)
        return false;
    if (line.head < 0)
        buf_printf(command, "block %d", line.block);
    else if (line.block == m.block && line.head == m.head)
        buf_puts(command, "in");
    else
        buf_printf(command, "block %d; head %d", line.block, line.head);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    if (session_kinds_apply(s))
        buf_printf(out, "which of %d heads are of a known kind\nkinds of heads\nheads",
                   head_words_rows(s) * session_heads(s));
    else if (session_by_attention(s))
        buf_printf(out, "where %d heads look, over many sentences\nwhere heads look\nheads",
                   head_words_rows(s) * session_heads(s));
    else {
        const int heads = session_blocks_on(s, side) * heads_of(s, side, block_on(s, side));
        buf_printf(out, "how far %d heads look%s\nhow far %d heads look\nhow far heads look\nheads", heads,
                   side == SIDE_DIFF ? "" : " in this picture", heads);
    }
}

/* A line for every head with blank ones between blocks, what stands above and below them, and all columns. */
static void least(const Session *s, Side side, int *h, int *w)
{
    HeadMap m;
    if (session_by_attention(s) || !open_map(s, side, &m))
        return;
    int need = m.blocks * (m.heads + 1) - 1 + AROUND_LIST + WORDS_LINES;
    *h = need < *h ? need : *h;
    *w = ROOMY < *w ? ROOMY : *w;
}

const KeyBinding KEYS_OF_HEADS[] = {{"Up", "move up", "head", "the block before", KEY_COUNTS, 2, NULL},
                                    {"Down", "move down", NULL, "the next block", KEY_COUNTS, 0, NULL},
                                    {"Left", "move left", NULL, "the head before", KEY_COUNTS, 0, NULL},
                                    {"Right", "move right", NULL, "the next head", KEY_COUNTS, 0, NULL},
                                    {.key = NULL}};

VIEW_SPEC(HEADS, .name = "heads", .traits = VIEW_WIDE, .least = least, .beside = &VIEW_ROW,
          .sentence = "What every head looks at: how far and how evenly; of texts also its kind.",
          .keys = KEYS_OF_HEADS);
